#!/bin/bash
# Measures the addition of crawls to records that are deduplicated already: the function
# add_crawl() of docs/stream.md, sizes and times.  A crawl has a fiftieth of the records.
# Runs on a temporary PostgreSQL server of its own.  The queries are in crawl.sql.
#
#   bash test/bench/crawl.sh                10 million records
#   ROWS=1000000 bash test/bench/crawl.sh
set -euo pipefail

# shellcheck source-path=SCRIPTDIR source=../lib.sh
. "$(dirname "$0")/../lib.sh"

main() {
	# shellcheck disable=SC2119
	prepare
	SHARED_BUFFERS=${SHARED_BUFFERS:-2GB} build_and_start
	# shellcheck disable=SC2016
	sed -n '/^CREATE TABLE records/,/^```$/{/^```$/!p}' docs/stream.md >"$WORK/src/add_crawl.sql"
	demo_psql -v rows="${ROWS:-10000000}" -v add_crawl="$WORK/src/add_crawl.sql" -f test/bench/crawl.sql
}

main
