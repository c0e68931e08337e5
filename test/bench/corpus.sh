#!/bin/bash
# Measures the time to deduplicate a corpus, from COPY to the remaining rows, by clusters
# and by all pairs: of fingerprints, of signatures, of all shingle hashes.  The corpus has
# a million rows: real documents, and copies with known edits.  Runs on a temporary
# PostgreSQL server of its own.  The SQL is in corpus.sql.
#
#   bash test/bench/corpus.sh
#   ROWS=100000 RADIUS=3 bash test/bench/corpus.sh
#   RADIUS=8 ...                 radius of the clusters (default: 8)
#   PAIRS_RADIUS=12 ...          radius of the pairs (default: 10)
#   DISTANCE=0.4 ...             distance of the pairs by all shingle hashes (default: 0.5)
#   RUNS=5 ...                   medians of so many runs (default: 3)
#   SEED=7 ...                   other random edits
#   DOCUMENTS=FOLDER ...         keeps the documents in FOLDER, and uses those already
#                                there (like test/bench/quality.sh)
set -euo pipefail

# shellcheck source-path=SCRIPTDIR source=../lib.sh
. "$(dirname "$0")/../lib.sh"
# shellcheck source-path=SCRIPTDIR source=quality/corpora.sh
. "$(dirname "$0")/quality/corpora.sh"
# shellcheck source-path=SCRIPTDIR source=steps.sh
. "$(dirname "$0")/steps.sh"

ROWS=${ROWS:-1000000}
RADIUS=${RADIUS:-8}
PAIRS_RADIUS=${PAIRS_RADIUS:-10}
DISTANCE=${DISTANCE:-0.5}
RUNS=${RUNS:-3}
SEED=${SEED:-1}

# Makes the rows, in two files, and the known families.
make_corpus() {
	local folder=$WORK/src/documents
	say "making $ROWS documents, seed $SEED"
	perl test/bench/corpus/documents.pl "$ROWS" "$SEED" \
		"$folder"/{descriptions,manuals,documentation}.csv 3>"$WORK/src/truth" |
		split -n r/2 -a 1 - "$WORK/src/rows."
	chmod 644 "$WORK"/src/{truth,rows.*}
	say "    $(cat "$WORK"/src/rows.? | wc -c) bytes," \
		"$(awk -F '\t' '$2 > n { n = $2 } END { print n }' "$WORK/src/truth") families"
}

# Runs a part of corpus.sql.
run_part() {
	local name=$1 file=$WORK/src/${1// /_}.$BASHPID.sql
	shift
	sed -n "/^-- step: $name\$/,/^-- step: /p" test/bench/corpus.sql >"$file"
	demo_psql -v radius="$RADIUS" -v rows="$ROWS" -v recipe="$RECIPE" -v digest="$DIGEST" -v edge="$EDGE" \
		"$@" -f "$file"
}

# Runs a part in several sessions at the same time.  Arguments: the part, the name of a
# variable of psql, and its value in each session.
in_sessions() {
	local part=$1 variable=$2 value session sessions=()
	shift 2
	for value; do
		run_part "$part" -v "$variable=$value" &
		sessions+=($!)
	done
	for session in "${sessions[@]}"; do
		wait "$session"
	done
}

# Runs a command, and writes the step's name, seconds and memory.
step() {
	local name=$1
	shift
	measure "$@"
	printf '%s\t%s\t%s\t%s\t%s\n' "$RUN" "$RECIPE" "$name" "$SECONDS_TAKEN" "$KILOBYTES" >>"$WORK/src/steps"
}

# Loads the documents anew.  Arguments: the recipe, a digest, the condition of an edge.
RECIPE='' DIGEST='' EDGE=''
begin_recipe() {
	RECIPE=$1 DIGEST="$2 GENERATED ALWAYS AS ($3)" EDGE=${4:-}
	demo_psql -c 'SET client_min_messages = error' -c 'DROP EXTENSION IF EXISTS simhash CASCADE' \
		-c 'DROP TABLE IF EXISTS docs, candidates, edges, duplicates' -c CHECKPOINT
	run_part 'a table'
	step COPY in_sessions COPY file "$WORK"/src/rows.?
}

# Runs steps that are one part each.
steps() {
	local name
	for name; do
		step "$name" run_part "$name" >"$WORK/log/part"
	done
}

# Deduplicates by edges.  Arguments: a condition for each session.
by_edges() {
	steps 'VACUUM ANALYZE'
	run_part 'plan of the edges' >"$WORK/log/plan"
	grep -q 'SimHash Join' "$WORK/log/plan" || { cat "$WORK/log/plan"; die "no SimHash Join"; }
	step edges in_sessions edges half "$@"
	steps components deletion
	run_part 'what went by all pairs'
}

run_corpus() {
	local verified='resemblance(a.body, b.body, 2) >= 0.5' half="fp < '8000000000000000'"
	begin_recipe clusters 'fp simhash' 'simhash(body)'
	steps index 'VACUUM ANALYZE' 'fingerprints alone' clusters verification deletion
	run_part 'what went by clusters'

	begin_recipe 'all pairs' 'fp simhash' 'simhash(body)' "a.fp <~> b.fp <= $PAIRS_RADIUS AND $verified"
	by_edges "$half" "NOT $half"
	begin_recipe signatures 'sig minhash(18, 7)' 'to_minhash(body)' "a.sig % b.sig AND $verified"
	by_edges true
	begin_recipe exact 'sk bigint[]' 'shingle_hashes(body)' "a.sk <%> b.sk <= $DISTANCE"
	by_edges true
}

main() {
	prepare mandoc
	get_documents
	make_corpus
	SHARED_BUFFERS=${SHARED_BUFFERS:-4GB} build_and_start
	demo_psql -c "ALTER SYSTEM SET max_wal_size = '8GB'" -c 'SELECT pg_reload_conf()' >"$WORK/log/settings"
	for ((RUN = 1; RUN <= RUNS; RUN++)); do
		say "run $RUN of $RUNS"
		run_corpus
	done
	run_part medians -v file="$WORK/src/steps"
	run_part result -v file="$WORK/src/truth"
}

main
