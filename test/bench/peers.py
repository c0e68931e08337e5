#!/usr/bin/env python3
"""Searches the corpus of peers.sh by datasketch's MinHashLSH, in one process.

    peers.py DOCUMENTS QUERIES RESULTS SIZES

DOCUMENTS has id and text, in COPY's format.  QUERIES has the ids to search for.  Writes
RESULTS and SIZES in COPY's format, for the tables result and built of peers.sql.
"""
import re
import resource
import sys
from time import perf_counter

from datasketch import MinHash, MinHashLSH

BANDS, ROWS, WIDTH = 18, 7, 3


def shingles(text):
    """Returns the set of shingles of three words, as of to_minhash."""
    words = re.findall(r"\w+", text.lower())
    return {" ".join(words[i:i + WIDTH]).encode() for i in range(max(len(words) - WIDTH, 0) + 1)}


def megabytes():
    return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024


def main():
    documents, queries, results, sizes = sys.argv[1:]
    escapes = {"\\n": "\n", "\\r": "\r", "\\t": "\t", "\\\\": "\\"}
    with open(documents, encoding="utf-8", newline="\n") as file:
        lines = (line.rstrip("\n").split("\t", 1) for line in file)
        texts = {int(key): re.sub(r"\\[nrt\\]", lambda m: escapes[m[0]], body) for key, body in lines}

    started = perf_counter()
    signatures = dict(zip(texts, MinHash.generator(map(shingles, texts.values()), num_perm=BANDS * ROWS)))
    digests = perf_counter() - started

    before, started = megabytes(), perf_counter()
    lsh = MinHashLSH(num_perm=BANDS * ROWS, params=(BANDS, ROWS))
    for key, made in signatures.items():
        lsh.insert(key, made)
    with open(sizes, "w") as file:
        print("datasketch", digests, perf_counter() - started, round((megabytes() - before) * 2**20),
              sep="\t", file=file)

    with open(queries) as file, open(results, "w") as out:
        for key in map(int, file):
            started = perf_counter()
            found = lsh.query(signatures[key])
            took = (perf_counter() - started) * 1000
            print("datasketch", f"{BANDS} bands of {ROWS}", key, took,
                  "{" + ",".join(map(str, found)) + "}", sep="\t", file=out)


main()
