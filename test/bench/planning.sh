#!/bin/bash
# Measures planning times of many conditions joined by OR or AND, and of tables with many
# partitions, compared with PostgreSQL's own operators.  Prints medians in one run.
# Runs on a temporary PostgreSQL server of its own.  The queries are in planning.sql.
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
