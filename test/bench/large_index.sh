#!/bin/bash
# Measures the life of a large table and its index: insertion, build, VACUUM, searches
# with everything in memory and with nothing in memory, clusters.  Each is measured once.
# Runs on a temporary PostgreSQL server of its own.  The queries are in large_index.sql.
#
#   bash test/bench/large_index.sh                  100 million rows, 24 GB of memory,
#                                                   40 GB of disk
#   ROWS=10000000 SHARED_BUFFERS=2GB bash test/bench/large_index.sh
set -euo pipefail

# shellcheck source-path=SCRIPTDIR source=../lib.sh
. "$(dirname "$0")/../lib.sh"
# shellcheck source-path=SCRIPTDIR source=steps.sh
. "$(dirname "$0")/steps.sh"

ROWS=${ROWS:-100000000}

# Runs a part of large_index.sql.
run_part() {
	local name=$1 file=$WORK/src/${1// /_}.$BASHPID.sql
	shift
	sed -n "/^-- step: $name\$/,/^-- step: /p" test/bench/large_index.sql >"$file"
	demo_psql -v rows="$ROWS" "$@" -f "$file"
}

# Returns the bytes of WAL, and those of temporary files, since the server's start.
written() {
	demo_psql -At -F ' ' -c "SELECT pg_current_wal_insert_lsn() - '0/0', temp_bytes
		FROM pg_stat_database WHERE datname = current_database()"
}

# Runs a command, and prints the step's name, seconds, memory, WAL and temporary files.
step() {
	local name=$1 wal temp wal_before temp_before
	shift
	read -r wal_before temp_before < <(written)
	measure "$@"
	sleep 1 # the statistics of temporary files are sent after the session's end
	read -r wal temp < <(written)
	awk -v name="$name" -v s="$SECONDS_TAKEN" -v kb="$KILOBYTES" -v wal=$((wal - wal_before)) \
		-v temp=$((temp - temp_before)) 'BEGIN {
			printf "%-40s %8.1f s %8.0f MB of memory %8.0f MB of WAL %8.0f MB of temporary files\n",
				name, s, kb / 1024, wal / 1e6, temp / 1e6 }'
}

# Inserts the rows in two sessions.
insert_rows() {
	local half=$((ROWS / 2)) session sessions=()
	run_part 'insertion' -v first=1 -v last="$half" &
	sessions+=($!)
	run_part 'insertion' -v first=$((half + 1)) -v last="$ROWS" &
	sessions+=($!)
	for session in "${sessions[@]}"; do
		wait "$session"
	done
}

# Restarts the server, and lets the operating system evict the table and the index.
forget_everything() {
	local file part files
	mapfile -t files < <(run_part files -At)
	as_builder "$("$PG_CONFIG" --bindir)/pg_ctl" -D "$WORK/data" -l "$WORK/log/server" -m fast -w restart \
		>"$WORK/log/restart"
	for file in "${files[@]}"; do
		for part in "$file"*; do
			dd if="$part" iflag=nocache count=0 status=none
		done
	done
}

main() {
	# shellcheck disable=SC2119
	prepare
	SHARED_BUFFERS=${SHARED_BUFFERS:-10GB} build_and_start
	demo_psql -f test/bench/timing.sql
	run_part 'a table'
	step 'insertion, two sessions, no index' insert_rows
	step 'VACUUM ANALYZE' run_part vacuum
	step 'index, one worker' run_part index
	run_part 'searches in memory'
	step 'insertion of 100,000 rows' run_part 'insertion of 100,000 rows'
	step 'deletion of a hundredth of the rows' run_part deletion
	step 'VACUUM after it' run_part vacuum
	forget_everything
	run_part 'searches from disk'
	step 'clusters within 3 bits of a fifth of the rows' run_part clusters
	run_part 'structure'
}

main
