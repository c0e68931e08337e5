#!/bin/bash
# Measures GiST against the access method, and against a btree index of the other
# column.  Prints medians in one run.  Runs on a temporary PostgreSQL server of its own.
# The queries are in gist.sql.  Needs btree_gist from PostgreSQL's contrib modules.
#
#   bash test/bench/gist.sh               the largest tenant has 1 million rows
#   ROWS=100000 bash test/bench/gist.sh
set -euo pipefail

# shellcheck source-path=SCRIPTDIR source=../lib.sh
. "$(dirname "$0")/../lib.sh"

main() {
	# shellcheck disable=SC2119
	prepare
	SHARED_BUFFERS=${SHARED_BUFFERS:-2GB} build_and_start
	demo_psql -v rows="${ROWS:-1000000}" -f test/bench/gist.sql
}

main
