#!/bin/bash
# Measures the time to deduplicate a corpus, from COPY to the remaining rows.  The
# corpus has a million rows: real documents, and copies with known edits.  Runs on a
# temporary PostgreSQL server of its own.  The SQL is in corpus.sql.
#
#   bash test/bench/corpus.sh
#   ROWS=100000 RADIUS=3 bash test/bench/corpus.sh
#   RUNS=5 ...                   medians of so many runs (default: 3)
#   SEED=7 ...                   other random edits
#   DOCUMENTS=FOLDER ...         keeps the documents in FOLDER, and uses those already
#                                there (like test/bench/quality.sh)
set -euo pipefail

# shellcheck source-path=SCRIPTDIR source=../lib.sh
. "$(dirname "$0")/../lib.sh"
# shellcheck source-path=SCRIPTDIR source=quality/corpora.sh
. "$(dirname "$0")/quality/corpora.sh"

ROWS=${ROWS:-1000000}
RADIUS=${RADIUS:-8}
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
	local name=$1 file=$WORK/src/${1// /_}.sql
	shift
	sed -n "/^-- step: $name\$/,/^-- step: /p" test/bench/corpus.sql >"$file"
	demo_psql -v radius="$RADIUS" -v rows="$ROWS" "$@" -f "$file"
}

copy_in() {
	local file copy copies=()
	for file in "$WORK"/src/rows.?; do
		run_part COPY -v file="$file" &
		copies+=($!)
	done
	for copy in "${copies[@]}"; do
		wait "$copy"
	done
}

# Samples the memory of the server's sessions and workers, without shared memory, and
# writes the maximum in kB to a file.  Runs until it is stopped.
watch_memory() {
	local server pids size now most=0 ending=
	trap 'ending=yes' TERM
	server=$(head -n 1 "$WORK/data/postmaster.pid")
	until [ -n "$ending" ]; do
		read -ra pids <"/proc/$server/task/$server/children" || true
		now=0
		while read -r _ size _; do
			now=$((now + size))
		done < <(grep -hs '^RssAnon' $(printf "/proc/%s/status " "${pids[@]}") || true)
		[ "$now" -le "$most" ] || most=$now
		sleep 0.1
	done
	echo "$most" >"$WORK/log/memory"
}

# Runs a command, and writes the step's name, seconds and memory.
step() {
	local name=$1 started watcher seconds
	shift
	watch_memory &
	watcher=$!
	started=$EPOCHREALTIME
	"$@"
	seconds=$(awk "BEGIN { print $EPOCHREALTIME - $started }")
	kill "$watcher"
	wait "$watcher" || true
	printf '%s\t%s\t%s\t%s\n' "$RUN" "$name" "$seconds" "$(cat "$WORK/log/memory")" >>"$WORK/src/steps"
}

run_corpus() {
	local name
	demo_psql -c 'SET client_min_messages = error' -c 'DROP EXTENSION IF EXISTS simhash CASCADE' \
		-c 'DROP TABLE IF EXISTS docs, candidates, duplicates' -c CHECKPOINT
	run_part 'a table'
	step COPY copy_in
	for name in index 'VACUUM ANALYZE' 'fingerprints alone' clusters verification deletion; do
		step "$name" run_part "$name" >"$WORK/log/part"
	done
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
