#!/usr/bin/env python3
"""Makes the picture of docs/passages.md from the results of passages.sh.

    passages.py FOLDER PICTURES     reads FOLDER/recall.csv, writes PICTURES/recall.svg

Uses the standard library alone.
"""
import csv
import sys
from pathlib import Path

from chart import COLOURS, Panel, legend, write_svg

SHAPES = [("13", "5"), ("13", "8"), ("24", "8"), ("50", "8"), ("100", "8")]
REPLACED = [("0", "as they were"), ("0.05", "5% replaced"), ("0.1", "10% replaced")]
NAMES = {"manuals": "English manuals", "chinese": "Chinese manuals"}


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


def main():
    folder, pictures = map(Path, sys.argv[1:])
    with open(folder / "recall.csv", newline="") as file:
        points = list(csv.DictReader(file))
    panels = [plot_panel(points, corpus, replaced, words, 55 + 320 * i, 40 + 280 * j)
              for j, corpus in enumerate(NAMES) for i, (replaced, words) in enumerate(REPLACED)]
    key = legend(975, 60, [(c, f"guarantee {g}, width {w}") for c, (g, w) in zip(COLOURS, SHAPES)])
    write_svg(pictures / "recall.svg", 1140, 600, panels + [key])


main()
