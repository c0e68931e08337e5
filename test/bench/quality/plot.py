#!/usr/bin/env python3
"""Makes the pictures of docs/quality.md from its CSV files.

    plot.py FOLDER      reads FOLDER/*.csv, writes FOLDER/*.svg

Nothing but the standard library.  Lines and grid take their colour from the
page's text, so that the pictures are readable on light and on dark.
"""
import csv
import math
import sys
from pathlib import Path

COLOURS = ["#0a84c6", "#d9700f", "#1f9e5a", "#c2489c", "#8a6fd1", "#b58900", "#6b7785", "#cf3f3f"]
STYLE = """<style>
text { font: 12px sans-serif; fill: #333 }
.title { font-weight: bold; font-size: 13px }
.grid { stroke: #8888; stroke-width: .5 }
.axis { stroke: #888; fill: none }
.line { fill: none; stroke-width: 1.8 }
.theory { fill: none; stroke-width: 1.4; stroke-dasharray: 5 3 }
.back { fill: #fff }
@media (prefers-color-scheme: dark) { text { fill: #ccc } .back { fill: #161b22 } }
</style>"""


class Panel:
    """A chart with linear or logarithmic x, placed at (left, top)."""

    def __init__(self, left, top, width, height, x_range, y_range, log_x=False):
        self.left, self.top, self.width, self.height = left, top, width, height
        self.x_range, self.y_range, self.log_x = x_range, y_range, log_x
        self.parts = []

    def x(self, value):
        low, high = self.x_range
        if self.log_x:
            value, low, high = math.log(value), math.log(low), math.log(high)
        return self.left + (value - low) / (high - low) * self.width

    def y(self, value):
        low, high = self.y_range
        return self.top + self.height - (value - low) / (high - low) * self.height

    def text(self, x, y, words, anchor="middle", css=""):
        self.parts.append(f'<text x="{x:.0f}" y="{y:.0f}" text-anchor="{anchor}"'
                          f'{f" class={chr(34)}{css}{chr(34)}" if css else ""}>{words}</text>')

    def frame(self, title, x_label, x_ticks, y_ticks):
        right, bottom = self.left + self.width, self.top + self.height
        for value, label in x_ticks:
            x = self.x(value)
            self.parts.append(f'<path class="grid" d="M{x:.1f} {self.top}V{bottom}"/>')
            self.text(x, bottom + 15, label)
        for value, label in y_ticks:
            y = self.y(value)
            self.parts.append(f'<path class="grid" d="M{self.left} {y:.1f}H{right}"/>')
            self.text(self.left - 5, y + 4, label, "end")
        self.parts.append(f'<path class="axis" d="M{self.left} {self.top}V{bottom}H{right}"/>')
        self.text((self.left + right) / 2, self.top - 8, title, css="title")
        self.text((self.left + right) / 2, bottom + 31, x_label)

    def line(self, points, colour, css="line"):
        path = " ".join(f"{self.x(x):.1f},{self.y(y):.1f}" for x, y in points)
        self.parts.append(f'<polyline class="{css}" stroke="{colour}" points="{path}"/>')

    def dots(self, points, colour):
        for x, y, low, high in points:
            self.parts.append(
                f'<path stroke="{colour}" d="M{self.x(x):.1f} {self.y(low):.1f}V{self.y(high):.1f}"/>'
                f'<circle fill="{colour}" cx="{self.x(x):.1f}" cy="{self.y(y):.1f}" r="2.8"/>')


def legend(left, top, entries):
    """Entries are (colour, words), one below the other."""
    panel = Panel(left, top, 1, 1, (0, 1), (0, 1))
    for i, (colour, words) in enumerate(entries):
        y = top + 17 * i
        panel.parts.append(f'<path class="line" stroke="{colour}" d="M{left} {y}h18"/>')
        panel.text(left + 24, y + 4, words, "start")
    return panel


def write_svg(path, width, height, panels):
    body = "\n".join(part for panel in panels for part in panel.parts)
    path.write_text(
        f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {width} {height}" '
        f'width="{width}" height="{height}">\n{STYLE}\n'
        f'<rect class="back" width="{width}" height="{height}"/>\n{body}\n</svg>\n')


def rows_of(folder, name):
    with open(folder / f"{name}.csv", newline="") as file:
        return list(csv.DictReader(file))


# --- recall and precision against k -------------------------------------------

KINDS = [("word1", "word 1"), ("word2", "word 2"), ("word3", "word 3"), ("word4", "word 4"),
         ("char3", "char 3"), ("char5", "char 5"), ("char8", "char 8"),
         ("word2d", "word 2, distinct")]
TITLES = {"descriptions": "short English: package descriptions",
          "manuals": "long English: manuals", "licences": "long English: licences",
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


def plot_curves(folder, curves):
    for corpus in {r["corpus"] for r in curves}:
        rows = [r for r in curves if (r["corpus"], r["truth_by"], r["threshold"], r["tokens"])
                == (corpus, "word3", "0.8", "all")]
        title = TITLES.get(corpus, corpus)
        write_svg(folder / f"curves-{corpus}.svg", 860, 345, [
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
        panel.line([(float(r["rate"]), float(r["theory_of_counts"])) for r in own], colour, "theory")
    simple = [(float(r["rate"]), float(r["theory"])) for r in rows if r["length"] == lengths[-1]]
    panel.line(simple, "#888")
    return panel


def plot_edits(folder, edits):
    for language in {r["language"] for r in edits}:
        rows = [r for r in edits if r["language"] == language]
        lengths = sorted({r["length"] for r in rows}, key=int)
        panels = [edit_panel(rows, edit, title, i, lengths) for i, (edit, title) in enumerate(EDITS)]
        key = legend(645, 360, [(c, f"texts of {n} tokens") for c, n in zip(COLOURS, lengths)]
                     + [("#888", "64/π·arccos, no shingle twice")])
        y = 360 + 17 * (len(lengths) + 1)
        for words in ("dashed: 64/π·arccos of the actual", "counts; dots: mean measured, 5% to 95%",
                      f"({language}, shingles of two words;", "vertical: bits that differ)"):
            key.text(645, y + 4, words, "start")
            y += 17
        write_svg(folder / f"edits-{language}.svg", 900, 590, panels + [key])


def main():
    folder = Path(sys.argv[1])
    plot_curves(folder, rows_of(folder, "curves"))
    plot_edits(folder, rows_of(folder, "edits"))


main()
