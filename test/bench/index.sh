#!/bin/bash
# What the index costs, and saves: prints ratios, medians of pairs in one run,
# on a temporary PostgreSQL of its own.  The queries are in index.sql.
#
#   bash test/bench/index.sh              1 million rows
#   ROWS=10000000 bash test/bench/index.sh
set -euo pipefail

# shellcheck source-path=SCRIPTDIR source=../lib.sh
. "$(dirname "$0")/../lib.sh"

main() {
	# shellcheck disable=SC2119
	prepare
	say "building for PostgreSQL $PG_MAJOR, starting a temporary server"
	build_extension >"$WORK/log/build" 2>&1 || { cat "$WORK/log/build"; die "the build failed"; }
	SHARED_BUFFERS=${SHARED_BUFFERS:-4GB} start_server >"$WORK/log/start" 2>&1 ||
		{ cat "$WORK/log/start"; die "no server"; }
	demo_psql -v rows="${ROWS:-1000000}" -f test/bench/index.sql
}

main
