#!/bin/bash
# Adds fingerprints and the index to a table in use, as docs/operations.md describes, while
# sessions write to it.  Shows the times.  Runs on a temporary server of its own, with
# fsync off.
#
#   bash test/live.sh              two million rows: ten minutes, 5 GB of disk
#   bash test/live.sh 50000000     another number of rows
set -euo pipefail

# shellcheck source-path=SCRIPTDIR source=lib.sh
. "$(dirname "$0")/lib.sh"

main() {
	local rows=${1:-2000000}
	[[ $rows =~ ^[0-9]{5,}$ ]] || die "at least 10000 rows, not '$rows'"

	prepare libipc-run-perl
	say "building for PostgreSQL $PG_MAJOR"
	build_extension >"$WORK/log/build" 2>&1 || { cat "$WORK/log/build"; die "the build failed"; }
	export TEMP_CONFIG=$WORK/test.conf SIMHASH_ROWS=$rows SIMHASH_REPORT=$WORK/tmp/report
	export PG_TEST_TIMEOUT_DEFAULT=$rows PGCTLTIMEOUT=600 # the test waits for builds and batches
	extension_settings >"$TEMP_CONFIG"
	say "at work on $rows rows"
	extension_make installcheck REGRESS= ISOLATION= PROVE_TESTS=test/t/024_docs_live.pl >"$WORK/log/live" 2>&1 ||
		{ tail -n 60 "$WORK/log/live"; die "something went wrong"; }
	cat "$SIMHASH_REPORT"
}

main "$@"
