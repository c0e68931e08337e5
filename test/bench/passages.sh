#!/bin/bash
# Measures how often sketches find the document of a snippet, by the snippet's length,
# by its fraction of replaced words, and by the guarantee, and the document of a copy whose
# words were replaced.  Also measures the length of sketches.  Writes the points and the
# picture of docs/passages.md, and the points of docs/evaluation.md.  passages.sql makes the
# snippets.
#
#   bash test/bench/passages.sh           writes test/bench/passages/*.csv and
#                                         docs/pictures/recall.svg
#   bash test/bench/passages.sh FOLDER    writes them into FOLDER
#   SEED=7 ...                            other snippets
#   DOCUMENTS=FOLDER ...                  keeps the documents in FOLDER, and uses those
#                                         already there (like test/bench/quality.sh)
set -euo pipefail

# shellcheck source-path=SCRIPTDIR source=../lib.sh
. "$(dirname "$0")/../lib.sh"
# shellcheck source-path=SCRIPTDIR source=quality/corpora.sh
. "$(dirname "$0")/quality/corpora.sh"

main() {
	local target=${1:-$ROOT/test/bench/passages} pictures=${1:-$ROOT/docs/pictures} corpus
	prepare python3
	get_documents
	build_and_start
	demo_psql -c 'CREATE EXTENSION simhash'
	mkdir -p "$target" "$pictures"
	echo corpus,words,replaced,guarantee,width,snippets,found,share >"$target/recall.csv"
	printf '%s%s\n' corpus,words,replaced,searches,containment,overlap,within_90,within_70,within_50, \
		others,others_90,others_70,others_50 >"$target/edited.csv"
	echo corpus,guarantee,width,tokens,elements,density,theory >"$target/density.csv"
	for corpus in manuals chinese; do
		say "$corpus"
		demo_psql -At -v corpus="$corpus" -v seed="${SEED:-1}" \
			-v csv="$WORK/src/documents/$corpus.csv" -f test/bench/passages.sql \
			-v recall="$WORK/src/recall" -v edited="$WORK/src/edited" -v density="$WORK/src/density"
		cat "$WORK/src/recall" >>"$target/recall.csv"
		cat "$WORK/src/edited" >>"$target/edited.csv"
		cat "$WORK/src/density" >>"$target/density.csv"
	done
	python3 "$ROOT/test/bench/passages.py" "$target" "$pictures"
	say "wrote $target and $pictures"
}

main "$@"
