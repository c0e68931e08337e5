#!/bin/bash
# Measures how often signatures of sets of known resemblance share a band, and compares
# this with theory.  Writes the points and the picture of docs/minhash.md.
# banding_curve.sql makes the sets.  Runs on a temporary PostgreSQL server of its own.
#
#   bash test/bench/banding_curve.sh           writes test/bench/minhash/banding.csv and
#                                              docs/pictures/banding.svg
#   bash test/bench/banding_curve.sh FOLDER    writes them into FOLDER
#   SEED=7 ...                                 other sets
set -euo pipefail

# shellcheck source-path=SCRIPTDIR source=../lib.sh
. "$(dirname "$0")/../lib.sh"

main() {
	local target=${1:-$ROOT/test/bench/minhash} pictures=${1:-$ROOT/docs/pictures}
	prepare python3
	build_and_start
	mkdir -p "$target" "$pictures"
	demo_psql -At -v seed="${SEED:-1}" -f test/bench/banding_curve.sql >"$target/banding.csv"
	python3 "$ROOT/test/bench/banding_curve.py" "$target" "$pictures"
	say "wrote $target and $pictures"
}

main "$@"
