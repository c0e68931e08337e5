#!/bin/bash
# Measures the cost of fingerprints and signatures.  Prints ratios, medians of pairs in
# one run.  Runs on a temporary PostgreSQL server of its own.  The queries are in
# fingerprint.sql.
#
#   bash test/bench/fingerprint.sh
set -euo pipefail

# shellcheck source-path=SCRIPTDIR source=../lib.sh
. "$(dirname "$0")/../lib.sh"

main() {
	# shellcheck disable=SC2119
	prepare
	bash "$ROOT/test/demo.sh" fetch "$WORK/src"
	build_and_start
	demo_psql -f test/bench/fingerprint.sql
}

main
