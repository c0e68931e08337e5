#!/bin/bash
# Measures the costs and benefits of the index.  Prints ratios, medians of pairs in one
# run.  Runs on a temporary PostgreSQL server of its own.  The queries are in
# fingerprint_index.sql.
#
#   bash test/bench/fingerprint_index.sh              1 million rows
#   ROWS=10000000 bash test/bench/fingerprint_index.sh
set -euo pipefail

# shellcheck source-path=SCRIPTDIR source=../lib.sh
. "$(dirname "$0")/../lib.sh"

main() {
	# shellcheck disable=SC2119
	prepare
	SHARED_BUFFERS=${SHARED_BUFFERS:-4GB} build_and_start
	demo_psql -v rows="${ROWS:-1000000}" -f test/bench/fingerprint_index.sql
}

main
