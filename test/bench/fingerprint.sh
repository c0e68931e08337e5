#!/bin/bash
# Measures the cost of fingerprints and signatures.  Prints ratios, medians of pairs in
# one run.  Runs on a temporary PostgreSQL server of its own.  The queries are in
# fingerprint.sql.
#
#   bash test/bench/fingerprint.sh
#
# Where the time goes, by perf record on the backend, for SELECT count(simhash(body)) of the
# English descriptions (350 bytes on average):
#
#   26%  tokenize_bytes    finds words by bit masks, copies them into the window
#   20%  hash_feature      computes XXH3 of each shingle, 12 bytes on average
#   17%  hash_set_*        finds the shingles that are new: a salted slot, one branch
#   10%  ascii_*           makes lower case and the word mask of 64 bytes, vectorised
#   7%  accumulator_*     counts, bit-sliced: five operations a shingle
#   20%  the rest          detoasting, the executor
#
# In Chinese, a shingle of 7 bytes takes 19% for XXH3, and 32% go to decoding UTF-8 with the
# check that keeps damaged data harmless (18%) and to one token for each code point (14%).  So
# the hash is what remains, and its definition is frozen.
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
