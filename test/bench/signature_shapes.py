#!/usr/bin/env python3
"""Prints the tables of docs/minhash.md from the results of signature_shapes.sh.

    signature_shapes.py FOLDER      reads FOLDER/shapes.csv, edits.csv and recall.csv

Uses the standard library alone.
"""
import csv
import sys
from pathlib import Path

KINDS = ["word2", "word3", "word4", "word5", "char8"]
SHAPES = ["20x5", "20x6", "18x7", "16x8", "32x4"]
DEFAULT_KIND, DEFAULT_SHAPE = "word3", "18x7"
RATES = ["0.01", "0.02", "0.05", "0.1", "0.2"]
LOW = ["below_03", "below_05"]
ALL = LOW + ["below_07", "below_08", "above_08"]


def read(folder, name):
    with open(folder / f"{name}.csv", newline="") as file:
        rows = list(csv.DictReader(file))
    for row in rows:
        row["shape"] = f"{row['bands']}x{row['rows']}"
    return rows


def table(title, head, rows):
    print(f"\n{title}\n")
    print("| " + " | ".join(head) + " |")
    print("|---" * len(head) + "|")
    for row in rows:
        print("| " + " | ".join(str(cell) for cell in row) + " |")


def amount(number):
    return f"{number:,.0f}" if number >= 10 else f"{number:.2g}"


def percent(fraction):
    return f"{100 * fraction:.0f}%"


def per_million(row, columns_):
    """Returns the candidates in these columns, for one query and a million documents."""
    candidates = sum(int(row[name]) for name in columns_)
    return amount(candidates / int(row["queries"]) / int(row["documents"]) * 1e6)


def fraction_found(rows, kind, shape, rate):
    """Returns the fraction that is found of the texts with this rate of replaced words."""
    own = [row for row in rows if (row["edit"], row["rate"], row["shingles"], row["shape"])
           == ("replaced", rate, kind, shape)]
    return percent(sum(int(row["found"]) for row in own) / sum(int(row["texts"]) for row in own))


def choice(background, edited):
    """Prints the fraction of edited texts that each shape finds, and its other candidates."""
    corpora = list(dict.fromkeys(row["corpus"] for row in background))
    lines = []
    for kind in KINDS:
        for shape in SHAPES:
            own = {row["corpus"]: row for row in background
                   if (row["shingles"], row["shape"]) == (kind, shape)}
            lines.append([kind, shape] + [fraction_found(edited, kind, shape, rate) for rate in ("0.02", "0.05", "0.1")]
                         + [f"{per_million(own[corpus], LOW)} / {per_million(own[corpus], ALL)}"
                            for corpus in corpora])
    table("texts found with so many of their words replaced; candidates for a query and a million "
          "documents, that resemble below 0.5 / all", ["shingles", "shape", "2%", "5%", "10%"] + corpora, lines)


def cost(rows, title, names, column, **fixed):
    corpora = list(dict.fromkeys(row["corpus"] for row in rows))
    rows = [row for row in rows if all(row[key] == value for key, value in fixed.items())]
    lines = []
    for corpus in corpora:
        own = {row[column]: row for row in rows if row["corpus"] == corpus}
        lines.append([corpus] + [f"{amount(float(own[name]['microseconds']))} ({own[name]['bytes']})"
                                 for name in names])
    table(f"microseconds a signature (bytes); {title}", ["corpus"] + names, lines)


def edits(rows, edit, title, names, column, **fixed):
    rows = [row for row in rows if row["edit"] == edit
            and all(row[key] == value for key, value in fixed.items())]
    lines = []
    for language in dict.fromkeys(row["language"] for row in rows):
        for rate in RATES:
            cells = []
            for name in names:
                own = [row for row in rows if (row["language"], row["rate"], row[column])
                       == (language, rate, name)]
                texts = sum(int(row["texts"]) for row in own)
                cells.append(f"{percent(sum(int(row['found']) for row in own) / texts)} "
                             f"({sum(float(row['resemblance']) * int(row['texts']) for row in own) / texts:.2f})"
                             if own else "")
            lines.append([language, percent(float(rate))] + cells)
    table(f"{edit}: fraction of the texts that are found (their mean resemblance); {title}",
          ["texts", edit] + names, lines)


def recall(rows, kind):
    lines = []
    for shape in SHAPES:
        cells = []
        for resemblance in ("0.7", "0.8", "0.9"):
            own = [row for row in rows if (row["shape"], row["shingles"], row["resemblance"])
                   == (shape, kind, resemblance)]
            texts = sum(int(row["texts"]) for row in own)
            found = sum(int(row["found"]) for row in own)
            expected = sum(float(row["expected"]) for row in own)
            cells.append(f"{found / texts:.3f} ({expected / texts:.3f}; {texts:,})" if texts else "")
        lines.append([shape] + cells)
    table(f"recall of edited texts by resemblance (theory; texts); {kind}",
          ["shape", "0.7", "0.8", "0.9"], lines)


def main():
    folder = Path(sys.argv[1])
    shapes = read(folder, "shapes")
    edited = read(folder, "edits")
    found = read(folder, "recall")
    choice(shapes, edited)
    for edit in ("replaced", "inserted", "deleted", "moved", "boilerplate"):
        edits(edited, edit, DEFAULT_SHAPE, KINDS, "shingles", shape=DEFAULT_SHAPE)
        edits(edited, edit, DEFAULT_KIND, SHAPES, "shape", shingles=DEFAULT_KIND)
    for kind in KINDS:
        recall(found, kind)
    cost(shapes, DEFAULT_SHAPE, KINDS, "shingles", shape=DEFAULT_SHAPE)
    cost(shapes, DEFAULT_KIND, SHAPES, "shape", shingles=DEFAULT_KIND)


main()
