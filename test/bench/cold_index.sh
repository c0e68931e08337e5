#!/bin/bash
# Searches of an index that is not in memory, with and without looking ahead: on a
# temporary PostgreSQL of its own, with small shared buffers; before each
# measurement the operating system is asked to forget the index.  The queries are
# in cold_index.sql.
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
