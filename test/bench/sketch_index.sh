#!/bin/bash
# Measures the costs and benefits of an index of sketches, against GIN on the same
# arrays, and against a look-up of one row by a B-tree.  The data are random documents
# of 60 elements, package descriptions, and Chinese manuals in pieces.  Prints ratios,
# medians of pairs in one run.  Runs on a temporary PostgreSQL server of its own.  The
# queries are in sketch_index.sql.
#
#   bash test/bench/sketch_index.sh             1 million random documents
#   ROWS=100000 bash test/bench/sketch_index.sh
#   DOCUMENTS=FOLDER ...                        keeps the real documents in FOLDER, and
#                                               uses those already there (like
#                                               test/bench/quality.sh)
set -euo pipefail

# shellcheck source-path=SCRIPTDIR source=../lib.sh
. "$(dirname "$0")/../lib.sh"
# shellcheck source-path=SCRIPTDIR source=quality/corpora.sh
. "$(dirname "$0")/quality/corpora.sh"

main() {
	# shellcheck disable=SC2119
	prepare
	get_documents
	SHARED_BUFFERS=${SHARED_BUFFERS:-4GB} build_and_start
	demo_psql -v rows="${ROWS:-1000000}" -v documents="$WORK/src/documents" -f test/bench/sketch_index.sql
}

main
