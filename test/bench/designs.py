#!/usr/bin/env python3
"""Makes tables of designs and pictures of docs/performance.md from the output of designs.sh.

    designs.py FOLDER PICTURES      reads FOLDER/*.csv, prints tables, writes
                                    PICTURES/latency.svg and rows.svg

Uses the standard library alone.
"""
import csv
import math
import sys
from pathlib import Path

from chart import COLOURS, Panel, legend, write_svg


def read_results(folder):
    rows = []
    for path in folder.glob("*.csv"):
        with open(path, newline="") as file:
            rows += csv.DictReader(file)
    return sorted(rows, key=lambda r: int(r["rows"]))


def millions(rows):
    return f"{round(int(rows) / 1e6)} M"


def options(row):
    """Returns the options as in CREATE INDEX, without defaults."""
    words = [f"{name}={row[name]}" for name, default in
             (("blocks", None), ("prefix", "1"), ("nested", "1")) if row[name] != default]
    return ", ".join(words)


def design(row):
    return row["blocks"], row["prefix"], row["nested"]


def number(text):
    value = float(text)
    if value == 0:
        return "0"
    if value < 0.1:
        return f"{value:.1g}"
    return f"{value:,.1f}" if value < 10 else f"{value:,.0f}"


def print_sizes(results):
    """Prints one line for each design: its size and the time to build and fill it."""
    sizes = sorted({r["rows"] for r in results}, key=int)
    print("| design | tables | bytes a row | " +
          " | ".join(f"build, {millions(s)}" for s in sizes) + " | " +
          " | ".join(f"insertion, {millions(s)}" for s in sizes) + " |")
    print("|---|" + "---|" * (2 + 2 * len(sizes)))
    for key in dict.fromkeys(map(design, results)):
        own = {r["rows"]: r for r in results if design(r) == key}
        row = own[sizes[0]]
        print(f"| {options(row)} | {row['tables']} | {number(row['bytes_per_row'])} | " +
              " | ".join(f"{number(own[s]['build_s'])} s" if s in own else "" for s in sizes) + " | " +
              " | ".join(f"{number(own[s]['insert_us'])} µs" if s in own else "" for s in sizes) + " |")


def print_ratios(results, rows):
    """Prints one line for each design: its times as multiples of the default design's."""
    print(f"\n**{millions(rows)} rows, times as long as blocks=4**\n")
    print("| design | permuted tables | bytes a row | build | insertion | k = 3 | k = 8 | k = 12 |")
    print("|---|---|---|---|---|---|---|---|")
    own = {(design(r), r["k"]): r for r in results if r["rows"] == rows}
    for key in dict.fromkeys(key for key, _ in own):
        row = own[key, "3"]
        times = [(row, own[("4", "1", "1"), "3"], column) for column in ("build_s", "insert_us")]
        times += [(own[key, k], own[("4", "1", "1"), k], "us") for k in ("3", "8", "12")]
        print(f"| {options(row)} | {row['tables']} | {number(row['bytes_per_row'])} | " +
              " | ".join(ratio(float(a[column]) / float(b[column])) for a, b, column in times) + " |")


def ratio(value):
    return f"{value:.2g}" if value < 10 else f"{value:,.0f}"


def print_searches(results, rows, k):
    own = [r for r in results if (r["rows"], r["k"]) == (rows, k)]
    print(f"\n**{millions(rows)} rows, k = {k}** (sequential scan: "
          f"{float(own[0]['seqscan_us']) / 1000:,.0f} ms)\n")
    print("| design | µs | prefix bits used | probes | leaves | candidates | one probe a table would have |")
    print("|---|---|---|---|---|---|---|")
    for r in own:
        bits = r["prefix_bits"] if r["prefix_bits"] != "0" else "reads a table through"
        print(f"| {options(r)} | {number(r['us'])} | {bits} | {number(r['probes'])} | {number(r['pages'])} "
              f"| {number(r['candidates'])} | {number(r['expected_candidates'])} |")


def plot(results, path):
    panels = []
    sizes = sorted({r["rows"] for r in results}, key=int)
    for place, k in enumerate(("3", "8", "12")):
        own = [r for r in results if r["k"] == k]
        panel = Panel(80 + 295 * place, 40, 230, 330, (1.6, 24), (0, 5), log_x=True)
        panel.frame(f"k = {k}", "tables (one: 16 bytes a row)",
                    [(n, n) for n in (2, 3, 4, 6, 8, 10, 16, 20)],
                    [(p, f"{10 ** p:,} µs") for p in range(6)])
        for colour, size in zip(COLOURS, sizes):
            points = [(int(r["tables"]) * (1.04 if r["prefix"] != "1" or r["nested"] != "1" else 1),
                       math.log10(float(r["us"])), r) for r in own if r["rows"] == size]
            plain = [(x, y) for x, y, r in points if r["prefix"] == r["nested"] == "1"]
            panel.line(plain, colour)
            panel.dots([(x, y, y, y) for x, y, r in points], colour)
        panels.append(panel)
    key = legend(80, 425, [(c, f"{millions(s)} rows") for c, s in zip(COLOURS, sizes)])
    key.text(190, 429, "lines: blocks = 2, 3, 4, 5, 6, 8, 16; dots without a line: blocks = 5, prefix = 2 (10 tables);"
             " nested = 4 (16); blocks = 6, prefix = 3 (20)", "start")
    panels.append(key)
    write_svg(path, 960, 430 + 17 * len(sizes), panels)


def plot_rows(results, path):
    """Plots the searches of the default design, and the sequential scan, by rows."""
    own = sorted((r for r in results if design(r) == ("4", "1", "1")), key=lambda r: int(r["rows"]))
    panel = Panel(75, 35, 430, 260, (0.8e6, 60e6), (0, 7), log_x=True)
    panel.frame("Time of a search, by rows of the table", "rows",
                [(int(r["rows"]), millions(r["rows"])) for r in own if r["k"] == "3"],
                list(enumerate(("1 µs", "10 µs", "100 µs", "1 ms", "10 ms", "100 ms", "1 s", "10 s"))))
    lines = [(f"within {k} bits", k, "us") for k in ("3", "8", "12")] + [("sequential scan", "3", "seqscan_us")]
    for colour, (_, k, column) in zip(COLOURS, lines):
        points = [(int(r["rows"]), math.log10(float(r[column]))) for r in own if r["k"] == k]
        panel.line(points, colour)
        panel.dots([(x, y, y, y) for x, y in points], colour)
    key = legend(530, 60, [(colour, words) for colour, (words, _, _) in zip(COLOURS, lines)])
    write_svg(path, 680, 345, [panel, key])


def main():
    folder, pictures = map(Path, sys.argv[1:])
    results = read_results(folder)
    print_sizes(results)
    print_ratios(results, "10000000")
    for rows in sorted({r["rows"] for r in results}, key=int):
        for k in ("3", "8", "12"):
            print_searches(results, rows, k)
    plot(results, pictures / "latency.svg")
    plot_rows(results, pictures / "rows.svg")


main()
