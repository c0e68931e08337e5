#!/bin/bash
# Measures how the index grows while rows are replaced and their number stays constant.
# Prints its pages after some rounds of several loads, and those of a btree index and of
# fresh indexes on the same rows.  Runs on a temporary PostgreSQL server of its own.
# The loads are in churn.sql.
#
#   bash test/bench/churn.sh                        40,000 rows, 40 rounds: some minutes
#   ROWS=1000000 ROUNDS=8 bash test/bench/churn.sh
set -euo pipefail

# shellcheck source-path=SCRIPTDIR source=../lib.sh
. "$(dirname "$0")/../lib.sh"

ROWS=${ROWS:-40000}
ROUNDS=${ROUNDS:-40}

# Runs two writers that never pause, and VACUUM repeatedly until both have ended.
write_and_vacuum() {
	local load writer writers=()
	for load in hot uniform; do
		demo_psql -c "CALL write('$load', $ROWS, $ROUNDS)" &
		writers+=($!)
	done
	while [ -n "$(jobs -pr)" ]; do
		demo_psql -c "VACUUM (INDEX_CLEANUP on, TRUNCATE off) docs"
	done
	for writer in "${writers[@]}"; do
		wait "$writer" || die "a writer failed"
	done
}

main() {
	# shellcheck disable=SC2119
	prepare
	build_and_start
	demo_psql -v rows="$ROWS" -v rounds="$ROUNDS" -f test/bench/churn.sql
	write_and_vacuum
	demo_psql -P footer=off -P title='writers that never pause' \
		-c "CALL compare()" -c "TABLE growth"
}

main
