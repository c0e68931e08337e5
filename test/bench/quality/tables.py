#!/usr/bin/env python3
"""Prints the tables of docs/quality.md from its CSV files.

    tables.py FOLDER
"""
import csv
import sys
from pathlib import Path

CORPORA = ["descriptions", "manuals", "licences", "chinese", "ideographs"]
LENGTHS = ["<100", "100-999", ">=1000"]
FOLDER = Path(sys.argv[1])


def read(name):
    with open(FOLDER / f"{name}.csv", newline="") as file:
        return list(csv.DictReader(file))


def table(title, head, rows):
    print(f"\n{title}\n")
    print("| " + " | ".join(head) + " |")
    print("|---" * len(head) + "|")
    for row in rows:
        print("| " + " | ".join(str(cell) for cell in row) + " |")


def index(rows, *keys):
    return {tuple(row[key] for key in keys): row for row in rows}


def percent(text):
    return f"{100 * float(text):.0f}%" if text else ""


def short(text):
    return f"{float(text):.2f}".lstrip("0") if float(text) < 1 else "1"


def amount(number):
    return f"{number:,.0f}" if number >= 10 else f"{number:.2g}"


def corpora():
    rows = [[r["corpus"], r["documents"], f"{int(r['tokens']) / 1e6:.1f} M", r["megabytes"],
             r["median_tokens"], " / ".join((r["short"], r["medium"], r["long"])),
             r["truth_by"], r["threshold"], r["pairs"],
             " / ".join((r["pairs_short"], r["pairs_medium"], r["pairs_long"]))]
            for r in read("corpora")]
    table("corpora", ["corpus", "documents", "tokens", "MB", "median tokens",
                      "documents by length", "truth by", ">=", "true pairs", "by length"], rows)
    table("check", ["corpus", "documents", "pairs", "differences"],
          sorted({(r["corpus"], r["checked_documents"], r["checked_pairs"], r["differences"])
                  for r in read("corpora")}))


def best(truth, threshold):
    found = index(read("best"), "corpus", "truth_by", "threshold", "tokens", "shingles")
    kinds = list(dict.fromkeys(key[4] for key in found))
    rows = []
    for kind in kinds:
        cells = [found.get((c, truth, threshold, "all", kind)) for c in CORPORA]
        rows.append([kind] + [f"{short(r['doc_f1'])} at {r['doc_k']} ({short(r['f1'])} at {r['k']})"
                              if r else "" for r in cells])
    table(f"best F1 by documents (by pairs), {truth} >= {threshold}", ["shingles"] + CORPORA, rows)


def luck(truth, threshold):
    found = index(read("luck"), "corpus", "truth_by", "threshold", "tokens", "shingles")
    rows = []
    for kind in dict.fromkeys(key[4] for key in found):
        cells = [found.get((c, truth, threshold, "all", kind)) for c in CORPORA]
        rows.append([kind] + [f"{short(r['doc_f1_mean'])} ({short(r['doc_f1_min'])} to "
                              f"{short(r['doc_f1_max'])}), k {float(r['doc_k_mean']):.1f}"
                              if r else "" for r in cells])
    table(f"best F1 by documents over {cells[0]['hashes']} hashes, {truth} >= {threshold}",
          ["shingles"] + CORPORA, rows)


def by_length():
    found = index(read("best"), "corpus", "truth_by", "threshold", "tokens", "shingles")
    kinds = ["word1", "word2", "word3", "word4", "char3", "char5", "char8", "word2d", "word3d"]
    rows = []
    for corpus in CORPORA:
        for length in LENGTHS:
            cells = [found.get((corpus, "word3", "0.8", length, kind)) for kind in kinds]
            if any(cells):
                rows.append([corpus, length] + [f"{short(r['doc_f1'])} at {r['doc_k']}" if r else ""
                                                for r in cells])
    table("best F1 by documents and length, word3 >= 0.8", ["corpus", "tokens"] + kinds, rows)


def two_stage(kind):
    curve = index(read("curves"), "corpus", "truth_by", "threshold", "tokens", "shingles", "k")
    rows = []
    for corpus in CORPORA:
        for truth in ("word2", "word3"):
            cells = [curve[corpus, truth, "0.8", "all", kind, str(k)] for k in (3, 6, 8, 10, 12)]
            rows.append([corpus, truth] + [
                f"{percent(r['doc_recall'])} ({percent(float(r['found']) / float(r['truth']))}), "
                f"{float(r['candidates']) / max(1, float(r['found'])):.1f}" for r in cells])
    table(f"two stages: recall by documents (by pairs), candidates per true pair; {kind}",
          ["corpus", "resemblance by"] + [f"k = {k}" for k in (3, 6, 8, 10, 12)], rows)


def radius(kind):
    found = index(read("radius"), "corpus", "truth_by", "threshold", "tokens", "shingles",
                  "recall_wanted")
    curve = index(read("curves"), "corpus", "truth_by", "threshold", "tokens", "shingles", "k")
    rows = []
    for corpus in CORPORA:
        for length in LENGTHS:
            cells = []
            for wanted in ("0.5", "0.8", "0.9"):
                r = found.get((corpus, "word3", "0.8", length, kind, wanted))
                looser = r and curve.get((corpus, "word3", "0.6", length, kind, r["k"]))
                cells.append(f"{r['k']}: {percent(r['doc_false'])}, "
                             f"{percent(1 - float(looser['doc_precision']))}" if r else "over 16")
            rows.append([corpus, length] + cells)
    table(f"radius that finds so much of what resembles 0.8 (word3): share of false, and of those "
          f"below 0.6; {kind}", ["corpus", "tokens", "half", "80%", "90%"], rows)


def chance(kind):
    curve = read("curves")
    sizes = {r["corpus"]: int(r["documents"]) for r in read("corpora")}
    radii = ["3", "6", "8", "10", "12"]
    rows = []
    for corpus in CORPORA:
        found = {r["k"]: int(r["candidates"]) - int(r["found"]) for r in curve
                 if (r["corpus"], r["truth_by"], r["threshold"], r["tokens"], r["shingles"])
                 == (corpus, "word2", "0.6", "all", kind)}
        pairs = sizes[corpus] * (sizes[corpus] - 1) / 2
        rows.append([corpus] + [amount(found[k] / pairs * 1e6) for k in radii])
    table(f"candidates that resemble less than 0.6 (word2), a query and a million documents; {kind}",
          ["corpus"] + radii, rows)


def edits(kind):
    rows = index(read("edits"), "language", "length", "edit", "rate", "shingles")
    rates = ["0.01", "0.02", "0.05", "0.1", "0.2"]
    for edit in ("replaced", "inserted", "deleted", "moved", "boilerplate"):
        table(f"{edit}, {kind}: median, 90% within", ["language", "tokens"] + rates, [
            [language, length] + [f"{float(r['median']):.0f}, {r['p90']}" for r in
                                  (rows[language, length, edit, rate, kind] for rate in rates)]
            for language in ("english", "chinese")
            for length in sorted({key[1] for key in rows}, key=int)
            if (language, length, edit, "0.01", kind) in rows])


def kinds_under_edits():
    rows = index(read("edits"), "language", "length", "edit", "rate", "shingles")
    kinds = list(dict.fromkeys(key[4] for key in rows))
    table("1000 tokens, 5% of the words replaced: mean (theory)", ["language"] + kinds, [
        [language] + [f"{r['mean']} ({r['theory']})" for r in
                      (rows[language, "1000", "replaced", "0.05", kind] for kind in kinds)]
        for language in ("english", "chinese")])


corpora()
for threshold in ("0.8", "0.6"):
    for truth in ("word3", "word2"):
        best(truth, threshold)
        luck(truth, threshold)
by_length()
two_stage("word2")
radius("word2")
radius("word3")
chance("word2")
edits("word2")
kinds_under_edits()
