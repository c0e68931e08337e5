#!/usr/bin/python3
"""A second implementation of signatures, for tests only.

Written from docs/specification.md, with the shingles of simhash_reference.py.

Reads one JSON object a line and prints one a line.  The input has one of

    {"text": "...", "width": 3, "unit": "word"}     width and unit optional
    {"tokens": ["..."], "width": 3}                 width optional
    {"features": ["..."]}
    {"hashes": [-1]}

and may have "bands", "rows", and an "id", which is copied.  The output has "minhash"
(the text form, or null) and "bands" (the hash of each, signed).
"""

import json
import struct
import sys

from xxhash import xxh3_64_intdigest

from simhash_reference import CLASSES, normalise, shingle, shingles, tokenise, xxh3

MASK = 2 ** 64 - 1
BANDS, ROWS = 18, 7
WIDTH = {'word': 3, 'char': 8}


def multiplier(i):
    x = (i + 1) * 0x9E3779B97F4A7C15 & MASK
    x = (x ^ x >> 30) * 0xBF58476D1CE4E5B9 & MASK
    x = (x ^ x >> 27) * 0x94D049BB133111EB & MASK
    return x ^ x >> 31 | 1


MULTIPLIERS = [multiplier(i) for i in range(4096)]


def minima(hashes, places):
    """Returns the minima.  The smallest product has the smallest upper half."""
    return [min([a * h & MASK for h in hashes]) >> 32 for a in MULTIPLIERS[:places]]


def hash_of_number(number):
    return xxh3_64_intdigest(struct.pack('<q', number))


def hash_of_band(number, band):
    digest = xxh3_64_intdigest(struct.pack(f'<{1 + len(band)}I', number, *band))
    return digest - 2 ** 64 if digest >= 2 ** 63 else digest


def features(request):
    """Returns the name of the features, and the hashes of the set's elements."""
    if 'features' in request:
        return 'feature', map(xxh3, request['features'])
    if 'hashes' in request:
        return 'hash', map(hash_of_number, request['hashes'])
    unit = request.get('unit', 'word')
    width = request.get('width', WIDTH[unit])
    if 'tokens' in request:
        found = shingle(request['tokens'], width, ' ')
    else:
        found = shingles(tokenise(normalise(request['text']), CLASSES), width, unit)
    return f'{unit}{width}', map(xxh3, found)


def signature(request):
    bands, rows = request.get('bands', BANDS), request.get('rows', ROWS)
    name, hashes = features(request)
    hashes = set(hashes)
    if not hashes:
        return {'minhash': None, 'bands': None}
    numbers = minima(hashes, bands * rows)
    cut = [numbers[i * rows:(i + 1) * rows] for i in range(bands)]
    written = '-'.join(''.join(f'{number:08x}' for number in band) for band in cut)
    return {'minhash': f'{bands}x{rows}:{name}:{written}',
            'bands': [hash_of_band(i, band) for i, band in enumerate(cut)]}


def main():
    for line in sys.stdin:
        request = json.loads(line)
        reply = signature(request)
        if 'id' in request:
            reply['id'] = request['id']
        print(json.dumps(reply))


if __name__ == '__main__':
    main()
