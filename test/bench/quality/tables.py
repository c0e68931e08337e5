#!/usr/bin/env python3
"""Prints tables from the CSV files, of which docs/evaluation.md shows a part.

    tables.py FOLDER
"""
import csv
import sys
from pathlib import Path

KINDS = ["word1", "word2", "word3", "word4", "char3", "char4", "char5", "char6", "char8", "char10",
         "char12", "word2c", "word3c", "word2l", "word3l"]
GLUED = ["glued4", "glued8"]
LENGTHS = ["<100", "100-999", ">=1000"]
FOLDER = Path(sys.argv[1])


def read(name):
    """Returns the rows of a file, or none if there is no file: the tree has the small ones alone."""
    file = FOLDER / f"{name}.csv"
    if not file.exists():
        return []
    with open(file, newline="") as lines:
        return list(csv.DictReader(lines))


CORPORA = [c for c in ("descriptions", "manuals", "documentation", "licences", "chinese", "ideographs")
           if c in {row["corpus"] for row in read("corpora")}]


def table(title, head, rows):
    print(f"\n{title}\n")
    print("| " + " | ".join(head) + " |")
    print("|---" * len(head) + "|")
    for row in rows:
        print("| " + " | ".join(str(cell) for cell in row) + " |")


def index(rows, *keys):
    return {tuple(row[key] for key in keys): row for row in rows}


def percent(text):
    return "" if text in ("", None) else f"{100 * float(text):.0f}%"


def short(text):
    return f"{float(text):.2f}".lstrip("0") if float(text) < 1 else "1"


def amount(number):
    return f"{number:,.0f}" if number >= 10 else f"{number:.2g}"


def corpora():
    found = index(read("corpora"), "corpus", "truth_by", "threshold")
    one = {c: found[c, "word3", "0.8"] for c in CORPORA}

    def lengths(r):
        return " / ".join(f"{int(r[name]):,}" for name in ("short", "medium", "long"))

    table("documents", ["corpus", "documents", "tokens", "MB", "median tokens",
                        "below 100 / 100 to 999 / 1,000 and more"],
          [[c, f"{int(r['documents']):,}", f"{int(r['tokens']) / 1e6:.1f} M", r["megabytes"],
            r["median_tokens"], lengths(r)] for c, r in one.items()])
    table("true pairs", ["corpus", "three words, 0.8", "0.6", "two words, 0.8", "0.6"],
          [[c] + [f"{int(found[c, truth, threshold]['pairs']):,}"
                  for truth in ("word3", "word2") for threshold in ("0.8", "0.6")] for c in CORPORA])
    table("compared exhaustively", ["corpus"] + CORPORA,
          [[title] + [f"{int(r[name]):,}" for r in one.values()] for title, name in
           (("documents compared", "checked_documents"), ("true pairs among them", "checked_pairs"),
            ("differences", "differences"))])


def best(truth, threshold):
    found = index(read("best"), "corpus", "truth_by", "threshold", "tokens", "shingles")
    rows = []
    for kind in KINDS + GLUED:
        cells = [found.get((c, truth, threshold, "all", kind)) for c in CORPORA]
        rows.append([kind] + [f"{short(r['doc_f1'])} at {r['doc_k']} ({short(r['f1'])} at {r['k']})"
                              if r else "" for r in cells])
    table(f"best F1 by documents (by pairs), {truth} >= {threshold}", ["shingles"] + CORPORA, rows)


def luck(truth, threshold, kinds, corpora, ranges=False):
    found = index(read("luck"), "corpus", "truth_by", "threshold", "tokens", "shingles")

    def cell(r):
        if not r:
            return ""
        between = f" ({short(r['doc_f1_min'])} to {short(r['doc_f1_max'])})" if ranges else ""
        return f"{short(r['doc_f1_mean'])}{between} at {float(r['doc_k_mean']):.1f}"

    rows = [[kind] + [cell(found.get((c, truth, threshold, "all", kind))) for c in corpora]
            for kind in kinds if (corpora[0], truth, threshold, "all", kind) in found]
    table(f"best F1 by documents, mean of all hashes{' (range)' if ranges else ''}, "
          f"{truth} >= {threshold}", ["shingles"] + corpora, rows)


def by_length():
    found = index(read("best"), "corpus", "truth_by", "threshold", "tokens", "shingles")
    kinds = ["word1", "word2", "word3", "word4", "char4", "char8", "char12", "word2c", "word3c"]
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


def finds_most(kinds):
    found = index(read("radius"), "corpus", "truth_by", "threshold", "tokens", "shingles",
                  "recall_wanted")
    rows = []
    for corpus in CORPORA:
        for length in LENGTHS:
            if corpus == "licences" or (corpus, length) == ("descriptions", ">=1000"):
                continue  # too few pairs
            cells = [found.get((corpus, "word3", "0.8", length, kind, "0.9")) for kind in kinds]
            rows.append([corpus, length] + [f"{r['k']}: {percent(r['doc_false'])}" if r
                                            else "over 16" for r in cells])
    table("radius that finds 90% of what resembles 0.8 (word3), and the share of false ones",
          ["corpus", "tokens"] + kinds, rows)


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
        table(f"{edit}, {kind}: median, 90% within",
              ["language", "tokens"] + [percent(rate) for rate in rates], [
            [language, length] + [f"{float(r['median']):.0f}, {r['p90']}" for r in
                                  (rows[language, length, edit, rate, kind] for rate in rates)]
            for language in ("english", "chinese")
            for length in sorted({key[1] for key in rows}, key=int)
            if (language, length, edit, "0.01", kind) in rows])


def kept_under_edits(kinds):
    rows = index(read("edits"), "language", "length", "edit", "rate", "shingles")
    lengths = sorted({key[1] for key in rows}, key=int)
    table("words replaced: share of the texts that stay within 3, 8, 10 bits",
          ["language", "tokens", "replaced"] + kinds, [
              [language, length, percent(rate)] + [
                  ", ".join(percent(r[f"within_{k}"]) for k in (3, 8, 10)) for r in
                  (rows[language, length, "replaced", rate, kind] for kind in kinds)]
              for language in ("english", "chinese") for length in lengths
              for rate in ("0.01", "0.05") if (language, length, "replaced", rate, kinds[0]) in rows])


def collapse():
    rows = index(read("collapse"), "corpus", "shingles")
    kinds = list(dict.fromkeys(key[1] for key in rows))

    def cell(r):
        if not r:
            return "0"
        per_million = int(r["below_03"]) / int(r["documents"]) * 1e6
        return f"{int(r['pairs']):,}: {percent(int(r['below_08']) / int(r['pairs']))}, {amount(per_million)}"

    table("collapse: pairs within 3 bits, the share of them that resemble below 0.8 (word2), and "
          "those below 0.3 for each million documents", ["corpus"] + kinds,
          [[c] + [cell(rows.get((c, kind))) for kind in kinds] for c in CORPORA])


def minhash_beside(truth, simhash):
    """Prints the best fingerprint and signature, and two stages, by documents."""
    found = index(read("best"), "corpus", "truth_by", "threshold", "tokens", "shingles")
    curve = index(read("curves"), "corpus", "truth_by", "threshold", "tokens", "shingles", "k")

    def stages(key, kind, k):
        r = curve[(*key, kind, k)]
        return f"{percent(r['doc_recall'])}, {float(r['candidates']) / max(1, float(r['found'])):.1f}"

    rows = []
    for corpus in CORPORA:
        for length in ["all"] + LENGTHS:
            key = corpus, truth, "0.8", length
            fingerprint, signature = found.get((*key, simhash)), found.get((*key, "minhash3"))
            if not fingerprint:
                continue
            rows.append([corpus, length] + [
                f"{short(r['doc_f1'])} ({short(r['doc_precision'])}, {short(r['doc_recall'])}) at {at}"
                for r, at in ((fingerprint, fingerprint["doc_k"]),
                              (signature, f"{int(signature['doc_k']) / 40:g}"))]
                + [stages(key, simhash, "10"), stages(key, "minhash3%", "0"),
                   stages(key, "minhash3", "12")])
    table(f"best F1 (precision, recall) by documents, at which distance; and before resemblance: "
          f"recall, candidates per true pair; truth {truth} >= 0.8",
          ["corpus", "tokens", f"{simhash} <~>", "minhash3 <%>", f"{simhash} <~> at 10", "minhash3 %",
           "minhash3 <%> at 0.3"], rows)


def kinds_under_edits():
    rows = index(read("edits"), "language", "length", "edit", "rate", "shingles")
    kinds = list(dict.fromkeys(key[4] for key in rows))
    table("1000 tokens, 5% of the words replaced: mean (theory)", ["language"] + kinds, [
        [language] + [f"{r['mean']} ({r['theory']})" for r in
                      (rows[language, "1000", "replaced", "0.05", kind] for kind in kinds)]
        for language in ("english", "chinese")
        if (language, "1000", "replaced", "0.05", kinds[0]) in rows])


def revised():
    table("known pairs of two releases", ["releases", "corpus", "earlier", "later", "known", "changed",
                                          "searched"],
          [[r["releases"], r["corpus"]] + [f"{int(r[name]):,}" for name in
                            ("earlier", "later", "known", "changed", "searched")] for r in read("revised")])


def revisions(releases, truth, resemblance, lengths, fewest=20):
    """Prints the searches of revised texts.  Omits classes with fewer pairs than `fewest`."""
    rows = index([r for r in read("revision") if (r["releases"], r["truth_by"], r["resemblance"])
                  == (releases, truth, resemblance)], "corpus", "tokens", "search")
    searches = list(dict.fromkeys(key[2] for key in rows))
    lines = []
    for corpus in dict.fromkeys(key[0] for key in rows):
        for length in lengths:
            cells = [rows.get((corpus, length, search)) for search in searches]
            if all(cells) and int(cells[0]["pairs"]) >= fewest:
                lines.append([corpus, length, f"{int(cells[0]['pairs']):,}"] + [
                    f"{short(r['recall'])}, {amount(float(r['false']))}" for r in cells])
    table(f"{releases}, resemblance {resemblance} ({truth}): share that is found, false candidates of a "
          "query", ["corpus", "tokens", "pairs"] + searches, lines)


def of_corpora():
    corpora()
    collapse()
    if not read("curves"):
        return
    for truth in ("word3", "word2"):
        luck(truth, "0.8", KINDS, CORPORA)
    luck("word3", "0.8", GLUED + ["char8"], ["chinese", "ideographs"], ranges=True)
    finds_most(["word2", "word3", "word2c", "word3c", "word2l", "word3l"])
    finds_most(["char6", "char8", "char10"])
    by_length()
    two_stage("word2")
    chance("word2")
    edits("word2")
    edits("word3")
    kept_under_edits(["word2", "word3", "word2c", "word3c"])
    kinds_under_edits()
    for truth in ("word3", "word2"):
        minhash_beside(truth, "word2")

    # More tables, which the page does not show.
    luck("word3", "0.8", KINDS, CORPORA, ranges=True)
    for threshold in ("0.8", "0.6"):
        for truth in ("word3", "word2"):
            best(truth, threshold)
    for kind in ("word2", "word3", "char8"):
        radius(kind)


def of_revisions():
    revised()
    for releases in dict.fromkeys(r["releases"] for r in read("revision")):
        for truth in ("word2", "word3"):
            revisions(releases, truth, ">=0.8", LENGTHS + ["all"])
            for resemblance in ("0.8-0.9", ">=0.9"):
                revisions(releases, truth, resemblance, ["all"])


if CORPORA:
    of_corpora()
if read("revised"):
    of_revisions()
