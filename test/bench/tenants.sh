#!/bin/bash
# Measures searches, insertions and constraints of tenants with the same documents: by
# scoped_hashes(), by a partition for each tenant, and by a filter.  Prints medians, and
# ratios of pairs in one run.  Runs on a temporary PostgreSQL server of its own.  The queries
# are in tenants.sql.
#
#   bash test/bench/tenants.sh            1,000 tenants of 1,000 documents, one of a million
#   TENANTS=100 ROWS=100 bash test/bench/tenants.sh
set -euo pipefail

# shellcheck source-path=SCRIPTDIR source=../lib.sh
. "$(dirname "$0")/../lib.sh"

main() {
	# shellcheck disable=SC2119
	prepare
	SHARED_BUFFERS=${SHARED_BUFFERS:-4GB} build_and_start
	demo_psql -v tenants="${TENANTS:-1000}" -v rows="${ROWS:-1000}" -f test/bench/tenants.sql
}

main
