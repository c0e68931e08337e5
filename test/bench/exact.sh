#!/bin/bash
# Measures exact resemblance: arrays of all shingle hashes, their index and their join,
# against signatures and fingerprints whose candidates resemblance() verifies.  The
# documents are the descriptions of all packages of Debian.  Prints processor times, and
# ratios of pairs in one run.  Runs on a temporary PostgreSQL server of its own.  The
# queries are in exact.sql.
#
#   bash test/bench/exact.sh                some 64,000 documents
#   VARIANTS=16 bash test/bench/exact.sh    a million: 15 more variants of each document
#   VARIANTS=160 KEEP=FOLDER TABLES='exact bands_8 fingerprints' PARTS='load searches' ...
#                                           ten million, 45 GB of disk
#   PARTS='load searches joins long' ...    some parts of it
#   TABLES='exact bands_8 bands_5 fingerprints' ...
#                                           some of the digests.  Joins need the first three
#   KEEP=FOLDER ...                         keeps the loaded tables in FOLDER, and uses those
#                                           already there
#   ROUNDS=3 ...                            pairs of a median, 5 by default
#   MINUTES=10 ...                          stops the joins of one line after so long, 30 by
#                                           default
#   DOCUMENTS=FOLDER ...                    keeps the documents in FOLDER, and uses those
#                                           already there
set -euo pipefail

# shellcheck source-path=SCRIPTDIR source=../lib.sh
. "$(dirname "$0")/../lib.sh"

VARIANTS=${VARIANTS:-1}
if [ "$VARIANTS" = 1 ]; then PARTS=${PARTS:-load searches joins long}; else PARTS=${PARTS:-load searches joins}; fi

# Fetches the documents.
get_descriptions() {
	local folder=${DOCUMENTS:-$WORK/src}
	mkdir -p "$folder"
	[ -e "$folder/packages.csv" ] || bash "$ROOT/test/demo.sh" fetch "$folder"
	[ "$folder" = "$WORK/src" ] || cp "$folder/packages.csv" "$WORK/src/packages.csv"
	chmod 644 "$WORK/src/packages.csv"
}

use_kept_cluster() {
	mkdir -p "$KEEP"
	[ "$(id -un)" = "$BUILDER" ] || chown "$BUILDER:" "$KEEP"
	CLUSTER=$(cd "$KEEP" && pwd)/data
}

main() {
	local part
	# shellcheck disable=SC2119
	prepare
	[ -z "${KEEP:-}" ] || use_kept_cluster
	[ -e "$CLUSTER/PG_VERSION" ] || get_descriptions
	SHARED_BUFFERS=${SHARED_BUFFERS:-4GB} build_and_start
	for part in $PARTS; do
		demo_psql -v rounds="${ROUNDS:-5}" -v minutes="${MINUTES:-30}" \
			-v tables="${TABLES:-exact bands_8 bands_5 fingerprints}" \
			-v program="perl $WORK/src/test/bench/corpus/variants.pl $WORK/src/packages.csv $VARIANTS" \
			-v part="$part" -f test/bench/exact.sql
	done
	[ -z "${KEEP:-}" ] ||
		as_builder "$("$PG_CONFIG" --bindir)/pg_ctl" -D "$CLUSTER" -m fast -w -t 600 stop >"$WORK/log/stop"
}

main
