#!/bin/bash
# Rehearses a table whose index is larger than memory, with live writes: look-ups within
# 3 bits beside insertions of single rows, then a deletion and VACUUM beside both.  Runs
# on a temporary PostgreSQL server of its own, with fsync on.  A control group limits the
# memory of the server, its pages in the operating system's cache included.  That needs
# root.
#
#   bash test/bench/rehearsal.sh                    50 million rows, an hour, 10 GB of disk
#   ROWS=200000 MINUTES=1 MEMORY=64 bash test/bench/rehearsal.sh
#
# MEMORY is in megabytes.
set -euo pipefail

# shellcheck source-path=SCRIPTDIR source=../lib.sh
. "$(dirname "$0")/../lib.sh"

ROWS=${ROWS:-50000000}
MINUTES=${MINUTES:-60}
MEMORY=${MEMORY:-1500}
GROUP=

# Removes the control group.  cleanup() calls this when the server has stopped.
last_words() {
	[ -z "$GROUP" ] || rmdir "$GROUP" || true
}

# Moves the server into a control group with the limit.  Its later sessions belong to it.
limit_memory() {
	local parent=/sys/fs/cgroup file=memory.max pid
	[ ! -d $parent/memory ] || parent=$parent/memory file=memory.limit_in_bytes
	pid=$(head -n 1 "$CLUSTER/postmaster.pid")
	if ! mkdir "$parent/rehearsal.$$" 2>/dev/null; then
		say "no limit of memory: not root, or no control groups"
		return
	fi
	GROUP=$parent/rehearsal.$$
	echo $((MEMORY * 1024 * 1024)) >"$GROUP/$file"
	xargs -n 1 <<<"$pid $(cat "/proc/$pid/task/$pid/children")" | while read -r pid; do
		echo "$pid" >"$GROUP/cgroup.procs"
	done
	say "the server has $MEMORY MB of memory"
}

# Runs a script of pgbench in one session for some seconds.  Logs each transaction.
# Arguments: name, seconds, the statements.
load() {
	local name=$1
	printf '%s\n' "$3" >"$WORK/src/$name.pgbench"
	as_builder "$("$PG_CONFIG" --bindir)/pgbench" -h "$WORK/socket" -U postgres -n -M prepared -T "$2" \
		-l --log-prefix="$WORK/tmp/$name" -f "$WORK/src/$name.pgbench" postgres >"$WORK/log/$name" 2>&1 ||
		{ cat "$WORK/log/$name"; die "$name failed"; }
}

# Prints the count, p50 and p99 of a load's transactions, and their number a second.
latencies() {
	cat "$WORK/tmp/$1".* | sort -n -k 3 | awk -v name="$1" -v seconds="$2" '{ us[NR] = $3 } END {
		printf "%-12s %9d, %8.1f a second, p50 %9.3f ms, p99 %9.3f ms\n", name, NR, NR / seconds,
			us[int((NR + 1) / 2)] / 1000, us[int(NR * 0.99 + 0.99)] / 1000 }'
	rm "$WORK/tmp/$1".*
}

# Runs both loads for some seconds, and beside them a command.  Prints what they did.
rehearse() {
	local seconds=$1 before after started=$EPOCHREALTIME loads=()
	shift
	before=$(demo_psql -Atc "SELECT pg_current_wal_insert_lsn() - '0/0'")
	load look-ups "$seconds" "\\set i random(1, $ROWS)
SELECT id FROM docs WHERE fp <~> (hashint8extended(:i, 0) # 5)::simhash <= 3;" &
	loads+=($!)
	load insertions "$seconds" 'INSERT INTO docs (fp)
VALUES (hashint8extended((random() * 1e15)::bigint, 1)::simhash);' &
	loads+=($!)
	"$@"
	wait "${loads[0]}"
	wait "${loads[1]}"
	after=$(demo_psql -Atc "SELECT pg_current_wal_insert_lsn() - '0/0'")
	latencies look-ups "$seconds"
	latencies insertions "$seconds"
	awk "BEGIN { printf \"WAL %.1f MB a second\\n\", ($after - $before) / 1e6 / ($EPOCHREALTIME - $started) }"
}

# Deletes a hundredth of the rows, and vacuums.  Prints the time.
delete_and_vacuum() {
	local started
	demo_psql -c "DELETE FROM docs WHERE id % 100 = 0"
	started=$EPOCHREALTIME
	demo_psql -c "VACUUM docs"
	awk "BEGIN { printf \"VACUUM of a hundredth of the rows: %.1f s\\n\", $EPOCHREALTIME - $started }"
}

main() {
	local half
	half=$(awk "BEGIN { print int($MINUTES * 30) }")
	# shellcheck disable=SC2119
	prepare
	SHARED_BUFFERS=${SHARED_BUFFERS:-$((MEMORY / 4))MB} build_and_start
	demo_psql -c "ALTER SYSTEM SET fsync = on" -c "ALTER SYSTEM SET autovacuum = off" \
		-c "ALTER SYSTEM SET max_wal_size = '4GB'" -c "SELECT pg_reload_conf()" >"$WORK/log/settings"
	limit_memory
	demo_psql -c "CREATE EXTENSION simhash" \
		-c "CREATE TABLE docs (id bigint GENERATED ALWAYS AS IDENTITY, fp simhash)" \
		-c "INSERT INTO docs (fp) SELECT hashint8extended(i, 0)::simhash
			FROM (SELECT generate_series(1::bigint, $ROWS) AS i) AS s" \
		-c "CREATE INDEX docs_fp ON docs USING simhash (fp)" -c "VACUUM ANALYZE docs" \
		-c "SELECT pg_size_pretty(pg_relation_size('docs')) AS table_size,
			pg_size_pretty(pg_relation_size('docs_fp')) AS index_size"
	say "$half seconds of both loads"
	rehearse "$half" true
	say "$half seconds of both loads, with a deletion and VACUUM"
	rehearse "$half" delete_and_vacuum
}

main
