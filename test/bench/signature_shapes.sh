#!/bin/bash
# Measures bands, rows and shingles of signatures: the fraction of edited texts that
# each shape and width finds, and the number of other candidates, on real documents and
# source files.  Prints the tables of docs/minhash.md.
#
#   bash test/bench/signature_shapes.sh           writes test/bench/minhash/*.csv
#   bash test/bench/signature_shapes.sh FOLDER    writes them into FOLDER
#   QUICK=1 ...                                   small samples, as a trial; keeps the
#                                                 results only if FOLDER is named
#   SEED=7 ...                                    other queries, and other random edits
#   DOCUMENTS=FOLDER ...                          keeps the documents in FOLDER, and
#                                                 uses those already there
#
# Runs on a bare Debian, like test/demo.sh: installs missing packages, and uses a
# temporary PostgreSQL server of its own.
set -euo pipefail

# shellcheck source-path=SCRIPTDIR source=../lib.sh
. "$(dirname "$0")/../lib.sh"
# shellcheck source-path=SCRIPTDIR source=quality/corpora.sh
. "$(dirname "$0")/quality/corpora.sh"

CORPORA=(descriptions manuals documentation licences chinese code)
declare -A EDITED=([english]=manuals [chinese]=chinese)
SEED=${SEED:-1}
QUERIES=500 # documents of each corpus whose candidates are counted
TEXTS=100   # number of edited texts of each length
LENGTHS='{50,200,1000}'

if [ -n "${QUICK:-}" ]; then
	CORPORA=(manuals chinese code)
	CORPUS_ROWS=500 QUERIES=50 TEXTS=10 LENGTHS='{50,200}'
fi

write_table() {
	demo_psql -c "COPY (SELECT * FROM shapes.$1 ORDER BY $2) TO STDOUT CSV HEADER" >"$3"
}

main() {
	local target=${1:-$ROOT/test/bench/minhash} corpus language
	prepare mandoc python3
	[ -z "${QUICK:-}" ] || target=${1:-$WORK/quick}
	mkdir -p "$target"
	get_documents
	build_and_start
	demo_psql -c "CREATE EXTENSION simhash"

	run_sql shapes.sql
	for corpus in "${CORPORA[@]}"; do
		say "$corpus"
		load_corpus "$corpus"
		run_sql shape_candidates.sql -v corpus="$corpus" -v queries="$QUERIES" -v seed="$SEED"
	done
	for language in "${!EDITED[@]}"; do
		say "edited texts, $language, seed $SEED"
		run_sql shape_edits.sql -v language="$language" -v corpus="${EDITED[$language]}" \
			-v texts="$TEXTS" -v lengths="$LENGTHS" -v seed="$SEED"
	done
	write_table background "corpus, n, rows, bands" "$target/shapes.csv"
	write_table edits "language, length, edit, rate, n, rows, bands" "$target/edits.csv"
	write_table recall "language, n, rows, bands, resemblance" "$target/recall.csv"
	python3 "$ROOT/test/bench/signature_shapes.py" "$target"
	say "wrote $target ($((SECONDS / 60)) minutes)"
}

main "$@"
