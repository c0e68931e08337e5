#!/usr/bin/python3
"""Writes known_answers.json: texts, and every digest of them, by these programs alone.

    python3 test/reference/known_answers.py >test/reference/known_answers.json

The file is for programs in other languages that make the same digests.  Its answers never
change; texts may be added at the end.  test/t/002_reference.pl compares it with what this
program writes, and with a server.  The file's "about" explains its parts.
"""

import json
import sys

import minhash_reference
import simhash_reference
import sketch_reference

ABOUT = [
    'Digests of simhash for PostgreSQL, made by the programs of test/reference/, not by the extension.',
    'An input is a text, in UTF-8; or {"repeat": s, "times": n}, s written n times; or {"count": n}, the numbers',
    'from 1 to n in decimal, with a space between two; or tokens, features or hashes, as the functions take them.',
    'Each answer has the name of a function of docs/reference.md, its parameters and its result.',
    'Numbers of 64 bits are strings: in hexadecimal as simhash writes them, else signed decimal.',
    'minhash_bands has the parameters of the signature that it is called with.',
]

TEXTS = [
    ('Latin',
     'Beat four eggs with a pinch of salt, melt a spoon of '
     'butter in a hot pan, pour in the eggs and stir slowly.'),
    ('Latin, other case and punctuation',
     'BEAT FOUR EGGS with a pinch of salt; melt a spoon of butter in a hot pan; pour in the eggs and stir slowly!'),
    ('Latin, composed', 'La crème brûlée n’a pas été servie à Noël.'),
    ('Latin, decomposed',
     'La cre\u0300me bru\u0302le\u0301e n\u2019a pas e\u0301te\u0301 servie a\u0300 Noe\u0308l.'),
    ('Latin, letters that fold to two', 'Straße STRASSE ẞ İstanbul ﬁnal ŉ ǰ.'),
    ('Vietnamese, marks in two orders', 'Vi\u1ec7t Vie\u0302\u0323t Vie\u0323\u0302t t\u1eeb \u0111i\u1ec3n'),
    ('Greek',
     '\u039f\u03b4\u03c5\u03c3\u03c3\u03b5\u03cd\u03c2 \u1f08\u03c1\u03b5\u03c4\u1fc7 '
     '\u039f\u0394\u03a5\u03a3\u03a3\u0395\u03a5\u03a3, \u1fb3\u0345 \u1f80'),
    ('Cyrillic', 'Четыре яйца, щепотка соли и Ёлка.'),
    ('Armenian', '\u0549\u0578\u0580\u057d \u0571\u0578\u0582, \u0587 \ufb13 \u0561\u0572'),
    ('Georgian', 'ოთხი კვერცხი ᲝᲗᲮᲘ'),
    ('Hebrew',
     '\u05d1\u05bc\u05b0\u05e8\u05b5\u05d0\u05e9\u05c1\u05b4\u05d9\u05ea '
     '\u05d1\u05b8\u05bc\u05e8\u05b8\u05d0 \u05d0\u05f4\u05d1'),
    ('Arabic',
     '\u0623\u064e\u0631\u0652\u0628\u064e\u0639 '
     '\u0628\u064e\u064a\u0652\u0636\u0627\u062a\u060c \ufefb \u0665\u0666'),
    ('Devanagari', 'च\u093eर अ\u0902ड\u0947 और नमक क\u094dष \u0958'),
    ('Tamil', 'ந\u0bbeன\u0bcdக\u0bc1 ம\u0bc1ட\u0bcdட\u0bc8கள\u0bcd, க\u0bca க\u0bc6\u0bbe'),
    ('Thai', 'ไข\u0e48ส\u0e35\u0e48ฟอง เกล\u0e37อ'),
    ('Khmer', 'ពងម\u17b6ន\u17cb ប\u17bdន'),
    ('Ethiopic', 'አራት እንቁላል። ፩፻'),
    ('Han', '將四個雞蛋打散，加入少許鹽。\uf900 𠀀 \U0002f800 㐀〇'),
    ('Japanese',
     '\u5375\u3092\u56db\u3064\u5272\u308a\u3001\u30d5\u30e9\u30a4\u30d1\u30f3\u3067 '
     '\uff8c\uff97\uff72\uff8a\uff9f\uff9d \u304b\u3099\u30fc'),
    ('Hangul, syllables', '달걀 네 개를 풀어요'),
    ('Hangul, jamo',
     '\u1103\u1161\u11af\u1100\u1163\u11af \u1102\u1166 '
     '\u1100\u1162\u1105\u1173\u11af \u1111\u116e\u11af\u110b\u1165\u110b\u116d'),
    ('Deseret and Adlam', '𐐀𐐨 𐐔𐐽 𞤀𞤢\U0001e94a'),
    ('full width, squared, circled', 'ＡＢＣ１２ ㎡ ① ℂ 𝐀'),
    ('invisible characters within words',
     'co\u00adoper\u200bate zero\u200dwidth \ufefftext \u034f\ufe0f \u0635\u200c\u0641'),
    ('lines, tabs and spaces', 'one\r\ntwo\tthree\u00a0four\u3000five\u2028six\u0085seven\u200aeight'),
    ('numbers and underscores', 'v1.2.3 snake_case 3.14 1,000 x² ½ १२ e-mail@example.org'),
    ('symbols only', '!? ★ 😀🏽 ©\ufe0f +++'),
    ('marks only', '\u0301\u0323 \u20dd'),
    ('private, unassigned, the last code point', '\ue000\uf8ff \u0378 \U000e0fff \U0010ffff'),
    ('31 marks on a letter', 'a' + '\u0301' * 31 + ' b' + '\u0345' * 31 + '\u0323'),
    ('one token', 'Word'),
    ('fewer characters than a shingle', 'ab c'),
    ('the same words again', 'again and again and again and again and again'),
    ('empty', ''),
    ('blank', ' \t\n\u3000\u200b'),
    ('1,025 letters', {'repeat': 'a', 'times': 1025}),
    ('3,000 letters of two bytes', {'repeat': 'é', 'times': 3000}),
    ('2,000 ideographs', {'repeat': '雞蛋四個', 'times': 500}),
]

# The lists of shingles and of their hashes, for texts that are not long.
SHORT = [('shingles', {'width': 2, 'unit': 'word'}), ('shingles', {'width': 8, 'unit': 'char'}),
         ('shingle_hashes', {'width': 3, 'unit': 'word'}), ('shingle_hashes', {'width': 8, 'unit': 'char'})]

# The defaults, then others.
DIGESTS = [('simhash', {'width': 2, 'unit': 'word'}), ('simhash', {'width': 8, 'unit': 'char'}),
           ('simhash', {'width': 1, 'unit': 'word'}),
           ('to_minhash', {'bands': 18, 'rows': 7, 'width': 3, 'unit': 'word'}),
           ('to_minhash', {'bands': 3, 'rows': 2, 'width': 8, 'unit': 'char'}),
           ('minhash_bands', {'bands': 3, 'rows': 2, 'width': 8, 'unit': 'char'}),
           ('winnow', {'guarantee': 24, 'width': 8, 'unit': 'word'}),
           ('winnow', {'guarantee': 6, 'width': 2, 'unit': 'word'}),
           ('winnow', {'guarantee': 12, 'width': 4, 'unit': 'char'}),
           ('sketch', {'modulus': 4, 'width': 2, 'unit': 'word'})]

OTHERS = [
    ('tokens that a caller cut', {'tokens': ['New York', 'is', '', '\u5927', 'Is']},
     [('simhash', {'width': 2}), ('to_minhash', {'bands': 3, 'rows': 2, 'width': 2}),
      ('shingle_hashes', {'width': 2}), ('winnow', {'guarantee': 3, 'width': 2})]),
    ('features with weights', {'features': ['cat', 'dog', '', '\u96de'], 'weights': [1.5, -0.25, 3, 1e-7]},
     [('simhash', {})]),
    ('numbers with weights',
     {'hashes': ['-1', '4611686018427387904', '81985529216486895'], 'weights': [1, 0.5, 0.1]},
     [('simhash', {})]),
    ('numbers', {'hashes': ['0', '1', '-1', '9223372036854775807']},
     [('to_minhash', {'bands': 3, 'rows': 2}), ('minhash_bands', {'bands': 64, 'rows': 64})]),
    ('3,000 words', {'count': 3000}, [DIGESTS[i] for i in (0, 1, 3, 4)]),
    ('more than 2^20 features, of which some are left out', {'count': 1100000},
     [('simhash', {'width': 1, 'unit': 'word'})]),
    ('numbers of a scope', {'hashes': ['0', '1', '-1', '9223372036854775807', '-9223372036854775808', '1']},
     [('scoped_hashes', {'scope': scope}) for scope in (
         '7', '07', '0', '-9223372036854775808', '', 'Tenant', 'tenant', 'Gr\u00f6\u00dfe', '\U0001f95a', 'x' * 1025)]),
]


def written_out(given):
    """Returns a reference's request for an input."""
    if 'repeat' in given:
        return {'text': given['repeat'] * given['times']}
    if 'count' in given:
        return {'text': ' '.join(map(str, range(1, given['count'] + 1)))}
    if 'hashes' in given:
        return {**given, 'hashes': list(map(int, given['hashes']))}
    return given


def answer(function, request):
    if function in ('simhash', 'shingles'):
        value, found = simhash_reference.fingerprint(request)
        return found if function == 'shingles' else value if value is None else f'{value:016x}'
    if function == 'to_minhash':
        return minhash_reference.signature(request)['minhash']
    if function == 'minhash_bands':
        found = minhash_reference.signature(request)['bands']
    elif function == 'shingle_hashes':
        found = sketch_reference.sketches({**request, 'modulus': 1})['sketch']
    else:
        found = sketch_reference.sketches(request)[function]
    return found if found is None else list(map(str, found))


def written(name, given, calls):
    request = written_out(given)
    answers = [json.dumps({'function': function, **parameters,
                           'result': answer(function, {**request, **parameters})})
               for function, parameters in calls]
    return '{"name": %s, "input": %s, "answers": [\n  %s]}' % (
        json.dumps(name), json.dumps(given), ',\n  '.join(answers))


def main():
    inputs = [(name, {'text': text}, SHORT + DIGESTS) if isinstance(text, str) else (name, text, DIGESTS)
              for name, text in TEXTS] + OTHERS
    sys.stdout.write('{"about": %s,\n"inputs": [\n%s]}\n' % (
        json.dumps(ABOUT, indent=1), ',\n'.join(written(*given) for given in inputs)))


if __name__ == '__main__':
    main()
