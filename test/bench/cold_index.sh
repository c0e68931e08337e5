#!/bin/bash
# Measures searches of an index that is not in memory, with and without prefetch.  Runs
# on a temporary PostgreSQL server of its own, with small shared buffers.  Before each
# measurement the operating system evicts the index from its cache.  The queries are in
# cold_index.sql.
#
#   bash test/bench/cold_index.sh                    10 million rows
#   ROWS=50000000 bash test/bench/cold_index.sh      needs 10 GB of disk
set -euo pipefail

# shellcheck source-path=SCRIPTDIR source=../lib.sh
. "$(dirname "$0")/../lib.sh"

main() {
	# shellcheck disable=SC2119
	prepare
	SHARED_BUFFERS=${SHARED_BUFFERS:-64MB} build_and_start
	demo_psql -v rows="${ROWS:-10000000}" -f test/bench/cold_index.sql
}

main
