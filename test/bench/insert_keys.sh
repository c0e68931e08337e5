#!/bin/bash
# Measures insertions of rows with 18 keys, the number of bands of a default signature,
# against GIN on the same arrays.  Prints ratios, medians of pairs in one run.  Runs on
# a temporary PostgreSQL server of its own.  The queries are in insert_keys.sql.
#
#   bash test/bench/insert_keys.sh              1 million rows
#   ROWS=100000 bash test/bench/insert_keys.sh
set -euo pipefail

# shellcheck source-path=SCRIPTDIR source=../lib.sh
. "$(dirname "$0")/../lib.sh"

main() {
	# shellcheck disable=SC2119
	prepare
	SHARED_BUFFERS=${SHARED_BUFFERS:-4GB} build_and_start
	demo_psql -v rows="${ROWS:-1000000}" -f test/bench/insert_keys.sql
}

main
