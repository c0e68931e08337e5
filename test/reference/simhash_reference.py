#!/usr/bin/python3
"""The path from text to fingerprint, written a second time, for tests only.

It shares nothing with the C code: normal forms and categories come from
Python's unicodedata, hashes from python3-xxhash.  It knows the code points
that this Python's Unicode version assigns, and refuses others.

Reads one JSON object a line and prints one a line.  The input has one of

    {"text": "...", "width": 2, "unit": "word"}     width and unit optional
    {"tokens": ["..."], "width": 2}
    {"features": ["..."], "weights": [1.5]}         weights optional
    {"hashes": [-1], "weights": [1.5]}              weights optional

and may have an "id", which is copied.  The output has "simhash" (16 hex
digits or null) and, for texts and tokens, "shingles".

With --nfkc-cf FILE it compares its case folding with the NFKC_CF property
of a DerivedNormalizationProps.txt instead.
"""

import json
import sys
import unicodedata

import xxhash

LONGEST_TOKEN = 1024
MOST_MARKS = 30

DEFAULT_IGNORABLE = [
    (0x00AD, 0x00AD), (0x034F, 0x034F), (0x061C, 0x061C), (0x115F, 0x1160),
    (0x17B4, 0x17B5), (0x180B, 0x180F), (0x200B, 0x200F), (0x202A, 0x202E),
    (0x2060, 0x206F), (0x3164, 0x3164), (0xFE00, 0xFE0F), (0xFEFF, 0xFEFF),
    (0xFFA0, 0xFFA0), (0xFFF0, 0xFFF8), (0x1BCA0, 0x1BCA3),
    (0x1D173, 0x1D17A), (0xE0000, 0xE0FFF),
]

WHITE_SPACE = set(
    [*range(0x09, 0x0E), 0x20, 0x85, 0xA0, 0x1680, *range(0x2000, 0x200B),
     0x2028, 0x2029, 0x202F, 0x205F, 0x3000])

# How the names of the letters begin that are a token each.
SINGLE = (
    "CJK UNIFIED IDEOGRAPH", "CJK COMPATIBILITY IDEOGRAPH", "IDEOGRAPHIC",
    "HIRAGANA", "KATAKANA", "THAI", "LAO", "KHMER", "MYANMAR",
)


class Unknown(Exception):
    """A code point that this Python's Unicode version does not assign."""


# ---- normalise ----

def is_ignorable(char):
    return any(low <= ord(char) <= high for low, high in DEFAULT_IGNORABLE)


def without_ignorables(text):
    return "".join(c for c in text if not is_ignorable(c))


_nfkc_cf = {}


def nfkc_cf(char):
    """The NFKC_CF property of a code point: fold until nothing changes."""
    if char not in _nfkc_cf:
        before, now = None, char
        while now != before:
            before = now
            now = unicodedata.normalize("NFKC", without_ignorables(before).casefold())
        _nfkc_cf[char] = now
    return _nfkc_cf[char]


def longest_run_of_marks(text):
    longest = run = 0
    for char in unicodedata.normalize("NFKD", text):
        run = run + 1 if unicodedata.combining(char) else 0
        longest = max(longest, run)
    return longest


def normalise(text):
    for char in text:
        if unicodedata.category(char) in ("Cn", "Cs") and not is_ignorable(char):
            raise Unknown(f"U+{ord(char):04X}")
    text = without_ignorables(text)
    if longest_run_of_marks(text) > MOST_MARKS:
        raise Unknown("too many marks in a row")
    decomposed = unicodedata.normalize("NFD", text)
    folded = "".join(nfkc_cf(char) for char in decomposed)
    return unicodedata.normalize("NFC", folded)


# ---- tokenise ----

def kind(char):
    """'single' and 'run' letters and digits, 'mark', or 'separator'."""
    category = unicodedata.category(char)
    if category[0] == "M":
        return "mark"
    if category[0] == "L" or category == "Nl":
        if unicodedata.name(char, "").startswith(SINGLE):
            return "single"
        return "run"
    if category == "Nd" or category == "No" or category == "Co":
        return "run"
    return "separator"


def tokenise(text):
    """List of (kind, token) of a normalised text."""
    tokens = []
    attached = False            # does the last token go on at this character?
    for char in text:
        what = kind(char)
        if what == "separator":
            attached = False
        elif what == "mark":
            if attached:
                tokens[-1] = (tokens[-1][0], tokens[-1][1] + char)
        elif what == "run" and attached and tokens[-1][0] == "run":
            tokens[-1] = ("run", tokens[-1][1] + char)
        else:
            tokens.append((what, char))
            attached = True
    if not tokens:
        tokens = [("symbol", char) for char in text if ord(char) not in WHITE_SPACE]
    return tokens


# ---- shingle ----

def words(tokens):
    return [token[start:start + LONGEST_TOKEN]
            for _, token in tokens
            for start in range(0, len(token), LONGEST_TOKEN)]


def characters(tokens):
    return list(" ".join(token for _, token in tokens))


def windows(units, width, glue):
    if not units:
        return []
    count = max(1, len(units) - width + 1)
    return [glue.join(units[i:i + width]) for i in range(count)]


def text_shingles(text, width=2, unit="word"):
    tokens = tokenise(normalise(text))
    if unit == "word":
        return windows(words(tokens), width, " ")
    return windows(characters(tokens), width, "")


# ---- hash, add up, take signs ----

def hash64(feature):
    return xxhash.xxh3_64_intdigest(feature.encode("utf-8"), seed=0)


def majority(hashes, weights=None):
    """The fingerprint as hex, or None where nothing weighs anything."""
    weights = [1.0] * len(hashes) if weights is None else weights
    fixed = [round(weight * 2 ** 24) for weight in weights]
    if not any(fixed):
        return None
    bits = 0
    for bit in range(64):
        counter = sum(w if h >> bit & 1 else -w for h, w in zip(hashes, fixed))
        if counter > 0:
            bits |= 1 << bit
    return f"{bits:016x}"


def answer(request):
    reply = {"id": request["id"]} if "id" in request else {}
    weights = request.get("weights")
    try:
        if "hashes" in request:
            hashes = [h % 2 ** 64 for h in request["hashes"]]
        elif "features" in request:
            hashes = [hash64(feature) for feature in request["features"]]
        else:
            unit = request.get("unit", "word")
            width = request.get("width", 2 if unit == "word" else 8)
            if "tokens" in request:
                reply["shingles"] = windows(request["tokens"], width, " ")
            else:
                reply["shingles"] = text_shingles(
                    request["text"], width, unit)
            hashes = [hash64(shingle) for shingle in reply["shingles"]]
    except Unknown as unknown:
        return {**reply, "error": str(unknown)}
    reply["simhash"] = majority(hashes, weights)
    return reply


# ---- the programme ----

def compare_nfkc_cf(path):
    """Compare nfkc_cf() with Unicode's own table; print differences."""
    table = {}
    with open(path, encoding="utf-8") as lines:
        for line in lines:
            fields = [f.strip() for f in line.split("#")[0].split(";")]
            if len(fields) == 3 and fields[1] == "NFKC_CF":
                first, _, last = fields[0].partition("..")
                text = "".join(chr(int(c, 16)) for c in fields[2].split())
                for code in range(int(first, 16), int(last or first, 16) + 1):
                    table[code] = text
    wrong = 0
    for code in range(0x110000):
        if unicodedata.category(chr(code)) in ("Cn", "Cs"):
            continue
        if nfkc_cf(chr(code)) != table.get(code, chr(code)):
            wrong += 1
            print(f"U+{code:04X}: {nfkc_cf(chr(code))!a} is {table.get(code, chr(code))!a}")
    print(f"{wrong} differences")
    return 1 if wrong else 0


def main():
    if len(sys.argv) == 3 and sys.argv[1] == "--nfkc-cf":
        return compare_nfkc_cf(sys.argv[2])
    for line in sys.stdin.buffer:
        print(json.dumps(answer(json.loads(line.decode("utf-8")))), flush=False)
    return 0


if __name__ == "__main__":
    sys.exit(main())
