#!/usr/bin/env python3
"""Prints the tables of docs/minhash.md from what shapes.sh measured.

    shapes.py FOLDER      reads FOLDER/shapes.csv, edits.csv and recall.csv

Nothing but the standard library.
"""
import csv
import sys
from pathlib import Path

KINDS = ["word2", "word3", "word4", "word5", "char5", "char7", "char8", "char9"]
SHAPES = ["20x5", "20x6", "18x7", "16x8", "32x4"]
DEFAULT_KIND, DEFAULT_SHAPE = "word3", "18x7"
RATES = ["0.01", "0.02", "0.05", "0.1", "0.2"]


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


def percent(share):
    return f"{100 * share:.0f}%"


def columns(rows, names, column):
    """Of the rows of one line, one for each name that occurs."""
    found = {row[column]: row for row in rows}
    return [found.get(name) for name in names]


def per_million(row):
    """Candidates that resemble below 0.5, of a query in a million documents."""
    if row is None:
        return ""
    candidates = int(row["below_03"]) + int(row["below_05"])
    return amount(candidates / int(row["queries"]) / int(row["documents"]) * 1e6)


def background(rows, title, names, column, **fixed):
    corpora = list(dict.fromkeys(row["corpus"] for row in rows))
    rows = [row for row in rows if all(row[key] == value for key, value in fixed.items())]
    table(f"candidates that resemble below 0.5, for a query and a million documents; {title}",
          ["corpus"] + names, [
              [corpus] + [per_million(row) for row in
                          columns([r for r in rows if r["corpus"] == corpus], names, column)]
              for corpus in corpora])


def cost(rows, title, names, column, **fixed):
    corpora = list(dict.fromkeys(row["corpus"] for row in rows))
    rows = [row for row in rows if all(row[key] == value for key, value in fixed.items())]
    table(f"microseconds a signature (bytes); {title}", ["corpus"] + names, [
        [corpus] + [f"{amount(float(row['microseconds']))} ({row['bytes']})" for row in
                    columns([r for r in rows if r["corpus"] == corpus], names, column)]
        for corpus in corpora])


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
    table(f"{edit}: share of the texts that are found (their mean resemblance); {title}",
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
    for shape in SHAPES:
        background(shapes, shape, KINDS, "shingles", shape=shape)
    for kind in KINDS:
        background(shapes, kind, SHAPES, "shape", shingles=kind)
    for edit in ("replaced", "inserted", "deleted", "moved", "boilerplate"):
        edits(edited, edit, DEFAULT_SHAPE, KINDS, "shingles", shape=DEFAULT_SHAPE)
        edits(edited, edit, DEFAULT_KIND, SHAPES, "shape", shingles=DEFAULT_KIND)
    for kind in KINDS:
        recall(found, kind)
    cost(shapes, DEFAULT_SHAPE, KINDS, "shingles", shape=DEFAULT_SHAPE)
    cost(shapes, DEFAULT_KIND, SHAPES, "shape", shingles=DEFAULT_KIND)


main()
