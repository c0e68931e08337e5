#!/bin/bash
# What fingerprints cost: prints ratios, medians of pairs in one run, on a
# temporary PostgreSQL of its own.  The queries are in fingerprint.sql.
#
#   bash test/bench/fingerprint.sh
set -euo pipefail

# shellcheck source-path=SCRIPTDIR source=../lib.sh
. "$(dirname "$0")/../lib.sh"

main() {
	# shellcheck disable=SC2119
	prepare
	bash "$ROOT/test/demo.sh" fetch "$WORK/src"
	say "building for PostgreSQL $PG_MAJOR, starting a temporary server"
	build_extension >"$WORK/log/build" 2>&1 || { cat "$WORK/log/build"; die "the build failed"; }
	start_server >"$WORK/log/start" 2>&1 || { cat "$WORK/log/start"; die "no server"; }
	demo_psql -f test/bench/fingerprint.sql
}

main
