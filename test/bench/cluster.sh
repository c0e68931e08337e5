#!/bin/bash
# Measures the cost of simhash_cluster.  Prints ratios, medians of pairs in one run.
# Runs on a temporary PostgreSQL server of its own with default settings.  The queries
# are in cluster.sql.
#
#   bash test/bench/cluster.sh              1 million rows
#   ROWS=10000000 bash test/bench/cluster.sh
set -euo pipefail

# shellcheck source-path=SCRIPTDIR source=../lib.sh
. "$(dirname "$0")/../lib.sh"

main() {
	# shellcheck disable=SC2119
	prepare
	build_and_start
	demo_psql -v rows="${ROWS:-1000000}" -f test/bench/cluster.sql
}

main
