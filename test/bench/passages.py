#!/usr/bin/env python3
"""Makes the pictures and the table of edited copies from the results of passages.sh.

    passages.py FOLDER PICTURES     reads FOLDER/recall.csv and edited.csv, writes
                                    PICTURES/recall.svg and edited.svg, prints the table

Uses the standard library alone.
"""
import csv
import sys
from pathlib import Path

from chart import COLOURS, Panel, legend, write_svg

SHAPES = [("13", "5"), ("13", "8"), ("24", "8"), ("50", "8"), ("100", "8")]
REPLACED = [("0", "as they were"), ("0.05", "5% replaced"), ("0.1", "10% replaced")]
NAMES = {"manuals": "English manuals", "chinese": "Chinese manuals"}
COPIES = {"50": "50 words", "100": "100 words", "200": "200 words", "0": "whole documents"}
SEARCHES = [("overlap", "others", "&amp;&amp;"), ("within_90", "others_90", "<%>> q <= 0.9"),
            ("within_70", "others_70", "<%>> q <= 0.7"), ("within_50", "others_50", "<%>> q <= 0.5")]


def plot_panel(points, corpus, replaced, words, left, top):
    panel = Panel(left, top, 250, 200, (10, 200), (0, 1), log_x=True)
    panel.frame(f"{NAMES[corpus]}: {words}", "words of the snippet",
                [(n, str(n)) for n in (10, 13, 24, 50, 100, 200)],
                [(i / 5, f"{i * 20}%") for i in range(6)])
    for colour, shape in zip(COLOURS, SHAPES):
        panel.line([(int(p["words"]), float(p["share"])) for p in points
                    if (p["corpus"], p["replaced"]) == (corpus, replaced)
                    and (p["guarantee"], p["width"]) == shape], colour)
    return panel


def read_points(path):
    with open(path, newline="") as file:
        return list(csv.DictReader(file))


def plot_edited(points, corpus, words, left, top):
    points = [p for p in points if (p["corpus"], p["words"]) == (corpus, words)]
    panel = Panel(left, top, 200, 180, (0, 0.5), (0, 1))
    panel.frame(f"{NAMES[corpus]}: {COPIES[words]}", "words replaced",
                [(i / 10, f"{i * 10}%") for i in range(6)], [(i / 5, f"{i * 20}%") for i in range(6)])
    for colour, (column, _, _) in zip(COLOURS, SEARCHES):
        panel.line([(float(p["replaced"]), float(p[column])) for p in points], colour)
    panel.line([(float(p["replaced"]), float(p["containment"])) for p in points], "#888", "theory")
    return panel


def number(text):
    value = float(text)
    return f"{value:.0f}" if value >= 10 else f"{value:.2g}"


def print_edited(points):
    print("| corpus | copy of | replaced | containment | `&&` | `<%>> q <= 0.9` | `<= 0.7` | `<= 0.5` |")
    print("|---" * 8 + "|")
    for p in points:
        cells = [f'{float(p[found]):.2f}, {number(p[others])}' for found, others, _ in SEARCHES]
        print(f'| {p["corpus"]} | {COPIES[p["words"]]} | {float(p["replaced"]):.0%} | '
              f'{float(p["containment"]):.2f} | {" | ".join(cells)} |')


def write_edited(points, path):
    panels = [plot_edited(points, corpus, words, 55 + 265 * i, 40 + 260 * j)
              for j, corpus in enumerate(NAMES) for i, words in enumerate(COPIES)]
    entries = [(c, name.replace("<", "&lt;").replace(">", "&gt;")) for c, (_, _, name) in zip(COLOURS, SEARCHES)]
    write_svg(path, 1270, 540, panels + [legend(1110, 60, entries + [("#888", "exact containment")])])


def main():
    folder, pictures = map(Path, sys.argv[1:])
    points = read_points(folder / "recall.csv")
    panels = [plot_panel(points, corpus, replaced, words, 55 + 320 * i, 40 + 280 * j)
              for j, corpus in enumerate(NAMES) for i, (replaced, words) in enumerate(REPLACED)]
    key = legend(975, 60, [(c, f"guarantee {g}, width {w}") for c, (g, w) in zip(COLOURS, SHAPES)])
    write_svg(pictures / "recall.svg", 1140, 600, panels + [key])
    edited = read_points(folder / "edited.csv")
    write_edited(edited, pictures / "edited.svg")
    print_edited(edited)


main()
