#!/usr/bin/env python3
"""All pairs of arrays by SetSimilaritySearch or datasketch, for exact.sh.

    all_pairs.py LIBRARY FILE RESEMBLANCE

FILE has the arrays of bigint, by COPY (FORMAT binary).  Prints the number of pairs, and the
seconds without the reading of the file.  datasketch has the bands of the tables of exact.sql, and
its candidates are verified.
"""
import struct
import sys
from time import perf_counter


def read(path):
    """Returns the arrays: each follows 26 bytes of lengths, and each element its own length."""
    with open(path, "rb") as file:
        data = file.read()
    sets, at = [], 19
    while data[at:at + 2] == b"\0\1":
        n = int.from_bytes(data[at + 18:at + 22], "big")
        sets.append(struct.unpack_from(">" + "4xq" * n, data, at + 26))
        at += 26 + 12 * n
    return sets


def by_prefixes(sets, resemblance):
    from SetSimilaritySearch import all_pairs
    return sum(1 for _ in all_pairs(sets, "jaccard", resemblance))


def by_bands(sets, resemblance):
    from datasketch import MinHash, MinHashLSH
    bands, rows = (18, 7) if resemblance == 0.8 else (47, 4)
    lsh = MinHashLSH(num_perm=bands * rows, params=(bands, rows))
    encoded = ([x.to_bytes(8, "little", signed=True) for x in s] for s in sets)
    found = 0
    for i, signature in enumerate(MinHash.generator(encoded, num_perm=bands * rows)):
        mine = set(sets[i])
        for j in lsh.query(signature):
            shared = len(mine.intersection(sets[j]))
            found += shared / (len(mine) + len(sets[j]) - shared) >= resemblance
        lsh.insert(i, signature)
    return found


def main():
    library, path, resemblance = sys.argv[1:]
    sets = read(path)
    started = perf_counter()
    pairs = {"SetSimilaritySearch": by_prefixes, "datasketch": by_bands}[library](sets, float(resemblance))
    print(pairs, round(perf_counter() - started, 2))


main()
