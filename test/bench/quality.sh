#!/bin/bash
# Measures how well fingerprints find near-duplicates, and how far an edit moves them,
# on real documents.  Prints the tables of docs/evaluation.md, which describes the
# measurements.  The parts are in test/bench/quality/.
#
#   bash test/bench/quality.sh           writes test/bench/quality/*.csv and docs/pictures
#   bash test/bench/quality.sh FOLDER    writes them into FOLDER
#   QUICK=1 ...                          small samples, as a trial; keeps the results
#                                        only if FOLDER is named
#   SEED=7 ...                           other random edits
#   DOCUMENTS=FOLDER ...                 keeps the documents in FOLDER, and uses those
#                                        already there
#   PARTS=revisions ...                  only texts that people revised
#   PARTS=corpora ...                    all other parts
#   RELEASES="bookworm trixie" ...       revisions between these releases of Debian
#
# Writes these files.  The tree has the four smallest.
#
#   corpora.csv                documents and true pairs
#   curves.csv                 candidates, recall and precision, for each corpus, truth,
#                              length, shingles and k
#   best.csv, luck.csv         best F1 of each of these and its k, and how that varies with
#                              the hash
#   radius.csv                 radius for a recall of 50%, 80%, 90%, and what is false there
#   collapse.csv               pairs within 3 bits, and how little they resemble
#   revised.csv, revision.csv  known pairs of revised texts, and what each search finds of
#                              them, by length and resemblance
#
# There word2 is simhash(body, 2) and char8 simhash(body, 8, 'char').  word2c counts
# shingles as often as they occur, and word2l damps the counts.  minhash3 is
# to_minhash(body), where k is the number of fortieths of the minima that differ, and
# minhash3% pairs that share a band.
#
# Runs on a bare Debian, like test/demo.sh: installs missing packages, and uses a
# temporary PostgreSQL server of its own.
set -euo pipefail

# shellcheck source-path=SCRIPTDIR source=../lib.sh
. "$(dirname "$0")/../lib.sh"
# shellcheck source-path=SCRIPTDIR source=quality/corpora.sh
. "$(dirname "$0")/quality/corpora.sh"
# shellcheck source-path=SCRIPTDIR source=quality/revisions.sh
. "$(dirname "$0")/quality/revisions.sh"

CORPORA=(licences chinese ideographs manuals documentation descriptions)
declare -A EDITED=([english]=manuals [chinese]=chinese)
SEED=${SEED:-1}
SALTS=3     # number of other hashes, which show the effect of luck
SAMPLE=6e7  # size of the exhaustive check, in tokens compared
TEXTS=300   # number of edited texts of each length
LENGTHS='{50,200,1000,5000}'

if [ -n "${QUICK:-}" ]; then
	CORPORA=(chinese manuals documentation descriptions)
	SALTS=1 CORPUS_ROWS=1000 SAMPLE=2e6 TEXTS=20 LENGTHS='{50,200}'
fi

# Appends the curves of one file of fingerprints.
run_pairs() {
	as_builder "$WORK/src/pairs" "$1" "$2" "$FILES/truth" >>"$3"
}

# Measures one corpus: its documents, true pairs and curves.
measure_corpus() {
	local corpus=$1 salt
	say "$corpus"
	load_corpus "$corpus"
	run_sql truth.sql -v corpus="$corpus" -v sample="$SAMPLE"
	run_sql fingerprints.sql -v corpus="$corpus" \
		-v fingerprints="$FILES/fingerprints" -v truth="$FILES/truth"
	run_pairs "$corpus" "$FILES/fingerprints" "$RESULTS/curves.csv"
	run_sql collapse.sql -v corpus="$corpus" -v out="$FILES/collapse"
	cat "$FILES/collapse" >>"$RESULTS/collapse.csv"
	for ((salt = 1; salt <= SALTS; salt++)); do
		run_sql luck.sql -v corpus="$corpus" -v salt="$salt" -v fingerprints="$FILES/salted"
		run_pairs "$corpus/$salt" "$FILES/salted" "$FILES/luck.csv"
	done
}

measure_corpora() {
	local corpus file
	for file in "$RESULTS/curves.csv" "$FILES/luck.csv"; do
		echo corpus,truth_by,threshold,tokens,shingles,k,candidates,found,truth,doc_recall,doc_precision >"$file"
	done
	echo corpus,shingles,documents,pairs,below_08,below_03 >"$RESULTS/collapse.csv"
	for corpus in "${CORPORA[@]}"; do
		measure_corpus "$corpus"
	done
}

measure_edits() {
	local language file=$RESULTS/edits.csv
	say "edited texts, seed $SEED"
	for language in english chinese; do
		say "  $language"
		run_sql edits.sql -v language="$language" -v corpus="${EDITED[$language]}" \
			-v texts="$TEXTS" -v lengths="$LENGTHS" -v seed="$SEED" -v out="$FILES/edits-$language"
	done
	cat "$FILES/edits-english" >"$file"
	tail -n +2 "$FILES/edits-chinese" >>"$file"
}

measure_revisions() {
	local corpus earlier later=${RELEASES[-1]}
	echo releases,corpus,earlier,later,known,changed,searched >"$RESULTS/revised.csv"
	echo releases,corpus,truth_by,resemblance,tokens,search,pairs,found,recall,candidates,false \
		>"$RESULTS/revision.csv"
	for earlier in "${RELEASES[@]:0:${#RELEASES[@]}-1}"; do
		for corpus in "${REVISED[@]}"; do
			# bullseye has no Czech manual pages
			[ -s "$WORK/src/documents/$earlier/$corpus.csv" ] || continue
			say "$corpus of $earlier and $later"
			load_release earlier "$corpus" "$earlier"
			load_release later "$corpus" "$later"
			run_sql revisions.sql -v releases="$earlier to $later" -v corpus="$corpus" \
				-v revisions="$REVISIONS" -v seed="$SEED" \
				-v revised="$FILES/revised" -v revision="$FILES/revision"
			cat "$FILES/revised" >>"$RESULTS/revised.csv"
			cat "$FILES/revision" >>"$RESULTS/revision.csv"
		done
	done
}

# Succeeds if a part is to be measured.
wanted() {
	[[ " ${PARTS:-corpora revisions} " = *" $1 "* ]]
}

main() {
	local target=${1:-$ROOT/test/bench/quality} pictures=${1:-$ROOT/docs/pictures}
	prepare mandoc python3
	[ -z "${QUICK:-}" ] || target=${1:-$WORK/quick} pictures=${1:-$WORK/quick}
	mkdir -p "$target" "$pictures"
	FILES=$WORK/src/scratch RESULTS=$WORK/src/out
	as_builder mkdir "$FILES" "$RESULTS"
	! wanted corpora || get_documents
	! wanted revisions || get_revisions

	build_and_start
	demo_psql -c "CREATE EXTENSION simhash"
	if wanted corpora; then
		as_builder gcc -O3 -march=native -Wall -o "$WORK/src/pairs" test/bench/quality/pairs.c
		measure_corpora
		measure_edits
		run_sql results.sql -v folder="$RESULTS" -v luck="$FILES/luck.csv"
	fi
	! wanted revisions || measure_revisions
	cp "$RESULTS"/* "$target"
	! wanted corpora || python3 "$ROOT/test/bench/quality/plot.py" "$target" "$pictures"
	python3 "$ROOT/test/bench/quality/tables.py" "$target"
	say "wrote $target ($((SECONDS / 60)) minutes)"
}

main "$@"
