#!/bin/bash
# Which bands, rows and shingles signatures should have: what shapes and widths find of
# edited texts, and how much else, on real documents and source files.  Prints the tables
# of docs/minhash.md.
#
#   bash test/bench/signature_shapes.sh           writes docs/minhash/*.csv
#   bash test/bench/signature_shapes.sh FOLDER    writes them there
#   QUICK=1 ...                                   small samples, to see that it works;
#                                                 kept only in a FOLDER that is named
#   SEED=7 ...                                    other queries, and other random edits
#   DOCUMENTS=FOLDER ...                          keeps the documents there, and takes
#                                                 those it finds there
#
# From a bare Debian on, as test/demo.sh: installs what is missing, and works on
# a temporary PostgreSQL of its own.
set -euo pipefail

# shellcheck source-path=SCRIPTDIR source=../lib.sh
. "$(dirname "$0")/../lib.sh"
# shellcheck source-path=SCRIPTDIR source=quality/corpora.sh
. "$(dirname "$0")/quality/corpora.sh"

CORPORA=(descriptions manuals documentation licences chinese code)
declare -A EDITED=([english]=manuals [chinese]=chinese)
SEED=${SEED:-1}
QUERIES=500 # documents of each corpus whose candidates are counted
TEXTS=100   # edited, of each length
LENGTHS='{50,200,1000}'

if [ -n "${QUICK:-}" ]; then
	CORPORA=(manuals chinese code)
	CORPUS_ROWS=500 QUERIES=50 TEXTS=10 LENGTHS='{50,200}'
fi

write_table() {
	demo_psql -c "COPY (SELECT * FROM shapes.$1 ORDER BY $2) TO STDOUT CSV HEADER" >"$3"
}

main() {
	local target=${1:-$ROOT/docs/minhash} corpus language
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
