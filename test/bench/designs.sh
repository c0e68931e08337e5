#!/bin/bash
# Measures the costs and benefits of every design of the index.  Prints CSV, from which
# designs.py makes the tables and the picture of docs/performance.md.  Runs on a temporary
# PostgreSQL server of its own.  The queries are in designs.sql.
#
#   bash test/bench/designs.sh >designs.csv           1 million rows, some minutes
#   ROWS=50000000 bash test/bench/designs.sh          needs 24 GB of disk and an hour
set -euo pipefail

# shellcheck source-path=SCRIPTDIR source=../lib.sh
. "$(dirname "$0")/../lib.sh"

main() {
	# shellcheck disable=SC2119
	prepare >&2
	SHARED_BUFFERS=${SHARED_BUFFERS:-8GB} build_and_start >&2
	demo_psql -v rows="${ROWS:-1000000}" -f test/bench/designs.sql
}

main
