#!/bin/bash
# Measures the similarity join against an index search for each row, and against clusters.
# Prints ratios, medians of pairs in one run.  Runs on a temporary PostgreSQL server of its
# own.  The queries are in join.sql.
#
#   bash test/bench/join.sh                1 million rows
#   ROWS=100000 bash test/bench/join.sh
#   ROWS=10000000 bash test/bench/join.sh  fewer queries, each once: some 10 minutes
set -euo pipefail

# shellcheck source-path=SCRIPTDIR source=../lib.sh
. "$(dirname "$0")/../lib.sh"

main() {
	# shellcheck disable=SC2119
	prepare
	SHARED_BUFFERS=${SHARED_BUFFERS:-2GB} build_and_start
	demo_psql -v rows="${ROWS:-1000000}" -f test/bench/join.sql
}

main
