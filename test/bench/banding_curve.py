#!/usr/bin/env python3
"""Makes the picture of docs/minhash.md from the results of banding_curve.sh.

    banding_curve.py FOLDER PICTURES      reads FOLDER/banding.csv, writes
                                          PICTURES/banding.svg, prints how far the
                                          points are from theory

Nothing but the standard library.
"""
import csv
import math
import sys
from pathlib import Path

from chart import COLOURS, Panel, legend, write_svg


def theory(s, bands, rows):
    return 1 - (1 - s ** rows) ** bands


def standard_error(row):
    p = theory(float(row["s"]), int(row["bands"]), int(row["rows"]))
    return math.sqrt(p * (1 - p) / int(row["pairs"]))


def print_distances(points):
    """Skips points where nearly no or nearly all pairs share a band: errors there are not normal."""
    errors = [abs(int(r["found"]) / int(r["pairs"]) - theory(float(r["s"]), int(r["bands"]), int(r["rows"])))
              / standard_error(r) for r in points
              if 5 < theory(float(r["s"]), int(r["bands"]), int(r["rows"])) * int(r["pairs"])
              < int(r["pairs"]) - 5]
    print(f"{len(errors)} points, {sum(e > 1 for e in errors)} beyond one standard error, "
          f"{sum(e > 2 for e in errors)} beyond two, {sum(e > 3 for e in errors)} beyond three")


def plot(points, path):
    panel = Panel(60, 40, 520, 330, (0, 1), (0, 1))
    panel.frame("Fraction of the pairs that share a band", "resemblance",
                [(i / 10, f"0.{i}" if i < 10 else "1") for i in range(11)],
                [(i / 5, f"{i * 20}%") for i in range(6)])
    shapes = list(dict.fromkeys((r["bands"], r["rows"]) for r in points))
    for colour, (bands, rows) in zip(COLOURS, shapes):
        panel.line([(i / 200, theory(i / 200, int(bands), int(rows))) for i in range(201)],
                   colour, "theory")
        panel.dots([(float(r["s"]), fraction, max(0, fraction - 3 * standard_error(r)),
                     min(1, fraction + 3 * standard_error(r)))
                    for r in points if (r["bands"], r["rows"]) == (bands, rows)
                    for fraction in [int(r["found"]) / int(r["pairs"])]], colour)
    key = legend(605, 60, [(c, f"{b} bands of {r} rows") for c, (b, r) in zip(COLOURS, shapes)])
    for i, words in enumerate(("dashed: 1 - (1 - s^rows)^bands;", "dots: measured,",
                               f"{int(points[0]['pairs']):,} pairs each;",
                               "bars: three standard errors")):
        key.text(605, 72 + 17 * (len(shapes) + i), words, "start")
    write_svg(path, 830, 420, [panel, key])


def main():
    folder, pictures = map(Path, sys.argv[1:])
    with open(folder / "banding.csv", newline="") as file:
        points = list(csv.DictReader(file))
    print_distances(points)
    plot(points, pictures / "banding.svg")


main()
