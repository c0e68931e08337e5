#!/usr/bin/python3
"""A second implementation of fingerprints of texts, for tests only.

It was written from docs/specification.md alone, without the C code.  The sections below
are those of that page.  It reads the data of Unicode from the files of version 15.0.0,
whatever the version of this Python.  They are in the directory UNICODE_DATA, or
/usr/share/unicode (Debian's package unicode-data).  python3-xxhash computes the hashes.

Reads one JSON object a line and prints one a line.  The input has one of

    {"text": "...", "width": 2, "unit": "word"}     width and unit optional
    {"bytes": "...", "width": 2, "unit": "word"}    without an encoding, U+0080
                                                    to U+00FF for bytes above 127
    {"tokens": ["..."], "width": 2}
    {"features": ["..."], "weights": [1.5]}         weights optional
    {"hashes": [-1], "weights": [1.5]}              weights optional
    {"lexemes": {"cat": "DA"}, "labels": [0.1, 0.2, 0.4, 1.0]}
                                                    a label for each position;
                                                    labels' weights optional

and may have an "id", which is copied.  The output has "simhash" (16 hex
digits or null) and, for texts and tokens, "shingles" unless the input has
"shingles": false.
"""

import json
import os
import re
import struct
import sys
from array import array
from functools import lru_cache

from xxhash import xxh3_64_intdigest

# --- Unicode data -----------------------------------------------------------

VERSION = '15.0.0'
DIRECTORY = os.environ.get('UNICODE_DATA', '/usr/share/unicode')


def records(name):
    """Returns the fields of a data file's lines."""
    path = os.path.join(DIRECTORY, name)
    with open(path, encoding='utf-8') as lines:
        for line in lines:
            fields = [field.strip() for field in line.partition('#')[0].split(';')]
            if len(fields) > 1:
                yield fields


def is_there():
    """Checks that the files exist, and have the right version."""
    try:
        path = os.path.join(DIRECTORY, 'DerivedNormalizationProps.txt')
        with open(path, encoding='utf-8') as lines:
            return f'-{VERSION}.txt' in lines.readline()
    except FileNotFoundError:
        return False


def code_points(field):
    """Returns the code points of "0041" or "0041..005A"."""
    first, _, last = field.partition('..')
    return range(int(first, 16), int(last or first, 16) + 1)


def values(name):
    """Returns the values of a property, by code point."""
    return {code: record[1] for record in records(name) for code in code_points(record[0])}


def members(name, value):
    """Returns the code points with a property, or with a value of a property."""
    return {code for record in records(name) if record[1] == value
            for code in code_points(record[0])}


def string(field):
    """Returns the text of a field of hexadecimal numbers."""
    return ''.join(chr(int(code, 16)) for code in field.split())


def character_class(codes):
    """Returns the inside of a regular expression's [...] for a set of code points."""
    ranges = []
    for code in sorted(codes):
        if ranges and ranges[-1][1] == code - 1:
            ranges[-1][1] = code
        else:
            ranges.append([code, code])
    return ''.join(rf'\U{first:08x}-\U{last:08x}' for first, last in ranges)


if not is_there():
    sys.exit(f'no files of Unicode {VERSION} in {DIRECTORY}')

CATEGORY = {}   # what is missing: Cn
COMBINING = {}  # canonical combining classes other than 0, by character
CANONICAL = {}  # canonical decomposition mappings
before = None
for number, name, category, combining, _, mapping, *_ in records('UnicodeData.txt'):
    code = int(number, 16)
    first = before if name.endswith(', Last>') else code
    CATEGORY.update(dict.fromkeys(range(first, code + 1), category))
    before = code
    if combining != '0':
        COMBINING[chr(code)] = int(combining)
    if mapping and not mapping.startswith('<'):
        CANONICAL[code] = string(mapping)

# The syllables of Hangul, by arithmetic (The Unicode Standard, section 3.12).
for i in range(19 * 21 * 28):
    lv, t = divmod(i, 28)
    l, v = divmod(lv, 21)
    CANONICAL[0xAC00 + i] = chr(0xAC00 + lv * 28) + chr(0x11A7 + t) if t \
        else chr(0x1100 + l) + chr(0x1161 + v)

EXCLUDED = members('DerivedNormalizationProps.txt', 'Full_Composition_Exclusion')
NFKC_CF = {code: string(record[2]) for record in records('DerivedNormalizationProps.txt')
           if record[1] == 'NFKC_CF' for code in code_points(record[0])}

WHITE_SPACE = members('PropList.txt', 'White_Space')
IDEOGRAPHIC = members('PropList.txt', 'Ideographic')
SCRIPT = values('Scripts.txt')
EXTENSIONS = {code: set(scripts.split())
              for code, scripts in values('ScriptExtensions.txt').items()}
LINE_BREAK = values('LineBreak.txt')

# --- 1. Normalise -----------------------------------------------------------


def decomposition(code):
    if code not in CANONICAL:
        return chr(code)
    return ''.join(decomposition(ord(c)) for c in CANONICAL[code])


DROP = {code: '' for code, folded in NFKC_CF.items() if folded == ''}
DECOMPOSE = {code: decomposition(code) for code in CANONICAL}
COMPOSE = {pair: chr(code) for code, pair in CANONICAL.items() if code not in EXCLUDED}

MARKS = character_class(map(ord, COMBINING))
# Characters that may combine with the one before: marks, and second characters of a
# pair.
JOINING = character_class({ord(pair[1]) for pair in COMPOSE} | set(map(ord, COMBINING)))

RUN = re.compile(f'[{MARKS}]{{2,}}')
LONG_RUN = re.compile(f'([{MARKS}]{{30}})[{MARKS}]+')
LONG_YPOGEGRAMMENI = re.compile('(\u0345{30})\u0345+')
JOINABLE = re.compile(f'[^{JOINING}]?[{JOINING}]+')


def nfd(text):
    return RUN.sub(lambda run: ''.join(sorted(run[0], key=COMBINING.get)),
                   text.translate(DECOMPOSE))


def compose(match):
    """Returns the canonical composition of a decomposed piece of text."""
    result = []
    starter = None  # where it stands in the result
    between = -1    # class of what stands behind it, -1 if nothing does
    for c in match[0]:
        combining = COMBINING.get(c, 0)
        if starter is not None and between < combining and result[starter] + c in COMPOSE:
            result[starter] = COMPOSE[result[starter] + c]
            continue
        if combining == 0:
            starter, between = len(result), -1
        else:
            between = combining
        result.append(c)
    return ''.join(result)


@lru_cache(maxsize=1)  # the same text is asked for by words and by characters
def normalise(text):
    if text.isascii():  # nothing to order or to join, and long texts are faster
        return text.translate(NFKC_CF)
    text = nfd(text.translate(DROP))
    text = LONG_YPOGEGRAMMENI.sub(r'\1', text)
    text = nfd(text.translate(NFKC_CF))
    text = LONG_RUN.sub(r'\1', text)
    return JOINABLE.sub(compose, text)


# --- 2. Tokenise ------------------------------------------------------------

SPACE, MARK, WORD, SYMBOL, SINGLE = ' mw!1'


def class_of(code):
    category = CATEGORY.get(code, 'Cn')
    if code in WHITE_SPACE:
        return SPACE
    if category[0] == 'M':
        return MARK
    if category in ('Cn', 'Co'):
        return WORD
    if category[0] not in 'LN':
        return SYMBOL
    if code in IDEOGRAPHIC or SCRIPT.get(code) == 'Han':
        return SINGLE
    if category[0] == 'N':
        return WORD
    if SCRIPT.get(code) in ('Hiragana', 'Katakana'):
        return SINGLE
    if SCRIPT.get(code) == 'Common' and \
            EXTENSIONS.get(code) in ({'Hani'}, {'Hira', 'Kana'}, {'Hani', 'Hira', 'Kana'}):
        return SINGLE
    if LINE_BREAK.get(code) == 'SA':
        return SINGLE
    return WORD


class Classes(dict):
    """A cache that computes missing code points."""
    def __missing__(self, code):
        self[code] = class_of(code)
        return self[code]


CLASSES = Classes()
TOKEN = re.compile(f'{WORD}[{WORD}{MARK}]*|{SINGLE}{MARK}*')


def tokenise(text, classes):
    kinds = text.translate(classes)
    return [text[token.start():token.end()] for token in TOKEN.finditer(kinds)] or \
        [c for c, kind in zip(text, kinds) if kind != SPACE]


# --- 3. Shingle -------------------------------------------------------------

LONGEST = 1024
WIDTH = {'word': 2, 'char': 8}


def shingle(units, width, joint):
    if not units:
        return []
    return [joint.join(units[i:i + width]) for i in range(max(len(units) - width, 0) + 1)]


def shingles(tokens, width, unit):
    if unit == 'char':
        return shingle(' '.join(tokens), width, '')
    cut = (token[i:i + LONGEST] for token in tokens for i in range(0, len(token), LONGEST))
    return shingle(list(cut), width, ' ')


# --- 4. Hash ----------------------------------------------------------------


def xxh3(feature, encoding='utf-8'):
    return xxh3_64_intdigest(feature.encode(encoding))


# --- 5. The fingerprint -----------------------------------------------------

MOST = 2 ** 20


def rank(h):
    h = (h ^ h >> 30) * 0xBF58476D1CE4E5B9 % 2 ** 64
    h = (h ^ h >> 27) * 0x94D049BB133111EB % 2 ** 64
    return h ^ h >> 31


def decide(hashes):
    """Counts each bit of all hashes, as every 64th bit of one long number."""
    features = set(hashes)
    if not features:
        return None
    if len(features) > MOST:
        features = sorted(features, key=rank)[:MOST]
    number = int.from_bytes(array('Q', features).tobytes(), sys.byteorder)
    every_64th = int.from_bytes((1).to_bytes(8, 'little') * len(features), 'little')
    return sum(1 << i for i in range(64)
               if 2 * (number >> i & every_64th).bit_count() > len(features))


# --- Features that a caller gives -------------------------------------------

LABELS = [0.1, 0.2, 0.4, 1.0]  # D, C, B, A


def integer(weight):
    """Returns the weight in units of 2^-24, rounded with halves away from zero."""
    scaled = weight * 2.0 ** 24
    whole = int(scaled)
    return whole + (scaled - whole >= 0.5) - (scaled - whole <= -0.5)


def add_up(hashes, weights):
    """Returns the fingerprint of hashes and their weights as integers."""
    if not any(weights):
        return None
    return sum(1 << i for i in range(64)
               if sum(w if h >> i & 1 else -w for h, w in zip(hashes, weights)) > 0)


def weights_of(request, features):
    return list(map(integer, request.get('weights', [1.0] * len(features))))


def lexeme_weight(positions, labels):
    """Returns a lexeme's weight from its positions' labels, and weights for D, C, B, A."""
    chosen = [default if label < 0 else label for label, default in zip(labels, LABELS)]
    float4 = struct.unpack('4f', struct.pack('4f', *chosen))
    return sum(integer(float4['DCBA'.index(label)]) for label in positions or 'D')


# --- Databases without an encoding ------------------------------------------


class ByteClasses(dict):
    def __missing__(self, byte):
        return WORD if byte > 127 else CLASSES[byte]


BYTE_CLASSES = ByteClasses()
BYTE_FOLD = {code: code + 32 for code in range(ord('A'), ord('Z') + 1)}

# ----------------------------------------------------------------------------


def fingerprint(request):
    """Returns the fingerprint and the shingles, or None for an absent one."""
    if 'features' in request:
        hashes = list(map(xxh3, request['features']))
        return add_up(hashes, weights_of(request, hashes)), None
    if 'hashes' in request:
        return add_up(request['hashes'], weights_of(request, request['hashes'])), None
    if 'lexemes' in request:
        labels = request.get('labels', LABELS)
        weights = [lexeme_weight(positions, labels) for positions in request['lexemes'].values()]
        return add_up(list(map(xxh3, request['lexemes'])), weights), None

    unit = request.get('unit', 'word')
    width = request.get('width', WIDTH[unit])
    encoding = 'utf-8'
    if 'tokens' in request:
        found = shingle(request['tokens'], width, ' ')
    elif 'text' in request:
        found = shingles(tokenise(normalise(request['text']), CLASSES), width, unit)
    else:
        encoding = 'latin-1'
        found = shingles(tokenise(request['bytes'].translate(BYTE_FOLD), BYTE_CLASSES), width, unit)
    return decide(xxh3(feature, encoding) for feature in found), found


def main():
    for line in sys.stdin:
        request = json.loads(line)
        value, found = fingerprint(request)
        reply = {'simhash': None if value is None else f'{value:016x}'}
        if found is not None and request.get('shingles', True):
            reply['shingles'] = found
        if 'id' in request:
            reply['id'] = request['id']
        print(json.dumps(reply))


if __name__ == '__main__':
    main()
