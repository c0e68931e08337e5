#!/bin/bash
# What planning costs where a condition has many arms, and a table many partitions, beside
# PostgreSQL's own operators: medians of planning times in one run, on a temporary
# PostgreSQL of its own.  The queries are in planning.sql.
#
#   bash test/bench/planning.sh
set -euo pipefail

# shellcheck source-path=SCRIPTDIR source=../lib.sh
. "$(dirname "$0")/../lib.sh"

main() {
	# shellcheck disable=SC2119
	prepare
	build_and_start
	demo_psql -f test/bench/planning.sql
}

main
