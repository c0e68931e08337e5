#!/usr/bin/python3
"""A second implementation of sketches, for tests only.

Written from docs/specification.md, with the shingles of simhash_reference.py.

Reads one JSON object a line and prints one a line.  The input has one of

    {"text": "...", "width": 8, "unit": "word"}     width and unit optional
    {"tokens": ["..."], "width": 8}                 width optional
    {"hashes": [-1], "scope": "..."}

and may have "modulus", "guarantee", and an "id", which is copied.  The output has "scoped_hashes"
of hashes, else "sketch", if there is a modulus, and "winnow".
"""

import json
import sys

from xxhash import xxh3_64_intdigest

from simhash_reference import CLASSES, normalise, shingle, shingles, tokenise, xxh3

WIDTH = {'word': 8, 'char': 48}


def as_array(hashes):
    """Returns the distinct hashes as signed numbers, in order."""
    return sorted(h - 2 ** 64 if h >= 2 ** 63 else h for h in set(hashes))


def hashes_of(request):
    """Returns the hashes of all shingles, in order, and the width of shingles."""
    unit = request.get('unit', 'word')
    width = request.get('width', WIDTH[unit])
    if 'tokens' in request:
        found = shingle(request['tokens'], width, ' ')
    else:
        found = shingles(tokenise(normalise(request['text']), CLASSES), width, unit)
    return [xxh3(s) for s in found], request.get('guarantee', 3 * width) - width + 1


def smallest_of_windows(hashes, window):
    """Returns the distinct minima of all windows.  A text shorter than a window is one window."""
    last = max(len(hashes) - window, 0)
    return {min(hashes[i:i + window]) for i in range(last + 1)} if hashes else set()


def scoped(hashes, scope):
    """Returns the hash of each element XOR the hash of the scope."""
    return as_array(xxh3_64_intdigest((h % 2 ** 64 ^ xxh3(scope)).to_bytes(8, 'little')) for h in hashes)


def sketches(request):
    if 'hashes' in request:
        return {'scoped_hashes': scoped(request['hashes'], request['scope'])}
    hashes, window = hashes_of(request)
    reply = {'winnow': as_array(smallest_of_windows(hashes, window))}
    if 'modulus' in request:
        reply['sketch'] = as_array(h for h in hashes if h % request['modulus'] == 0)
    return reply


def main():
    for line in sys.stdin:
        request = json.loads(line)
        reply = sketches(request)
        if 'id' in request:
            reply['id'] = request['id']
        print(json.dumps(reply))


if __name__ == '__main__':
    main()
