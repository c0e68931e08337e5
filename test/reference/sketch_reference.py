#!/usr/bin/python3
"""Sketches, made a second time, for tests only.

Written from docs/passages.md, on the shingles of simhash_reference.py.

Reads one JSON object a line and prints one a line.  The input has one of

    {"text": "...", "width": 8, "unit": "word"}     width and unit optional
    {"tokens": ["..."], "width": 8}                 width optional

and may have "modulus", "size", "guarantee", and an "id", which is copied.  The output has
"sketch", if there is a modulus; "sketch_min", if there is a size; and "winnow".
"""

import json
import sys

from simhash_reference import CLASSES, normalise, shingle, shingles, tokenise, xxh3

WIDTH = {'word': 8, 'char': 48}


def as_array(hashes):
    """Each once, as signed numbers, in their order."""
    return sorted(h - 2 ** 64 if h >= 2 ** 63 else h for h in set(hashes))


def hashes_of(request):
    """Of all shingles, in order; and how wide they are."""
    unit = request.get('unit', 'word')
    width = request.get('width', WIDTH[unit])
    if 'tokens' in request:
        found = shingle(request['tokens'], width, ' ')
    else:
        found = shingles(tokenise(normalise(request['text']), CLASSES), width, unit)
    return [xxh3(s) for s in found], request.get('guarantee', 3 * width) - width + 1


def smallest_of_windows(hashes, window):
    """A text shorter than a window is one."""
    last = max(len(hashes) - window, 0)
    return {min(hashes[i:i + window]) for i in range(last + 1)} if hashes else set()


def sketches(request):
    hashes, window = hashes_of(request)
    reply = {'winnow': as_array(smallest_of_windows(hashes, window))}
    if 'modulus' in request:
        reply['sketch'] = as_array(h for h in hashes if h % request['modulus'] == 0)
    if 'size' in request:
        reply['sketch_min'] = as_array(sorted(set(hashes))[:request['size']])
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
