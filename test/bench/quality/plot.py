#!/usr/bin/env python3
"""Makes the pictures of docs/evaluation.md from its CSV files.

    plot.py FOLDER PICTURES      reads FOLDER/*.csv, writes PICTURES/*.svg

Uses the standard library alone.
"""
import csv
import sys
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parent.parent))
from chart import COLOURS, Panel, legend, write_svg  # noqa: E402


def rows_of(folder, name):
    with open(folder / f"{name}.csv", newline="") as file:
        return list(csv.DictReader(file))


# --- recall and precision against k -------------------------------------------

KINDS = [("word1", "word 1"), ("word2", "word 2"), ("word3", "word 3"), ("word4", "word 4"),
         ("char3", "char 3"), ("char5", "char 5"), ("char8", "char 8"),
         ("word2c", "word 2, counted")]
TITLES = {"descriptions": "short English: package descriptions",
          "manuals": "long English: manuals",
          "documentation": "long pages: documentation", "licences": "long English: licences",
          "chinese": "Chinese",
          "ideographs": "Chinese, 85% ideographs"}


def curve_panel(rows, column, title, left):
    panel = Panel(left, 40, 300, 250, (0, 16), (0, 1))
    panel.frame(title, "radius k (bits)", [(k, k) for k in range(0, 17, 2)],
                [(v / 5, f"{v * 20}%") for v in range(6)])
    for colour, (kind, _) in zip(COLOURS, KINDS):
        points = [(int(r["k"]), float(r[column])) for r in rows
                  if r["shingles"] == kind and r[column]]
        if points:
            panel.line(points, colour)
    return panel


def plot_curves(pictures, curves):
    for corpus in {r["corpus"] for r in curves}:
        rows = [r for r in curves if (r["corpus"], r["truth_by"], r["threshold"], r["tokens"])
                == (corpus, "word3", "0.8", "all")]
        title = TITLES.get(corpus, corpus)
        write_svg(pictures / f"curves-{corpus}.svg", 860, 345, [
            curve_panel(rows, "doc_recall", f"Recall, {title}", 50),
            curve_panel(rows, "doc_precision", f"Precision, {title}", 405),
            legend(725, 60, [(c, words) for c, (_, words) in zip(COLOURS, KINDS)])])


# --- distance against edit rate -----------------------------------------------

EDITS = [("replaced", "words replaced"), ("inserted", "words inserted"),
         ("deleted", "words deleted"), ("moved", "sentences moved"),
         ("boilerplate", "boilerplate added")]


def edit_panel(rows, edit, title, place, lengths):
    panel = Panel(50 + 290 * (place % 3), 40 + 285 * (place // 3), 230, 200, (0.0043, 0.46), (0, 32),
                  log_x=True)
    panel.frame(title, "share of the text", [(v, f"{100 * v:g}%") for v in
                (0.005, 0.01, 0.02, 0.05, 0.1, 0.2, 0.4)], [(v, v) for v in range(0, 33, 8)])
    rows = [r for r in rows if r["edit"] == edit and r["shingles"] == "word2"]
    for i, (colour, length) in enumerate(zip(COLOURS, lengths)):
        own = [r for r in rows if r["length"] == length]
        shift = 1.05 ** (i - 1.5)   # side by side
        panel.dots([(float(r["rate"]) * shift, float(r["mean"]), float(r["p5"]),
                     min(32, float(r["p95"]))) for r in own], colour)
        panel.line([(float(r["rate"]), float(r["theory_of_sets"])) for r in own], colour, "theory")
    simple = [(float(r["rate"]), float(r["theory"])) for r in rows if r["length"] == lengths[-1]]
    panel.line(simple, "#888")
    return panel


def plot_edits(pictures, edits):
    for language in {r["language"] for r in edits}:
        rows = [r for r in edits if r["language"] == language]
        lengths = sorted({r["length"] for r in rows}, key=int)
        panels = [edit_panel(rows, edit, title, i, lengths) for i, (edit, title) in enumerate(EDITS)]
        key = legend(645, 360, [(c, f"texts of {n} tokens") for c, n in zip(COLOURS, lengths)]
                     + [("#888", "64/π·arccos, no shingle twice")])
        y = 360 + 17 * (len(lengths) + 1)
        for words in ("dashed: 64/π·arccos of the actual", "sets; dots: mean measured, 5% to 95%",
                      f"({language}, shingles of two words;", "vertical: bits that differ)"):
            key.text(645, y + 4, words, "start")
            y += 17
        write_svg(pictures / f"edits-{language}.svg", 900, 590, panels + [key])


def main():
    folder, pictures = map(Path, sys.argv[1:])
    plot_curves(pictures, rows_of(folder, "curves"))
    plot_edits(pictures, rows_of(folder, "edits"))


main()
