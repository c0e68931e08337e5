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
#   PARTS='load pairs' ...                  all pairs by one process, by the leader and a worker,
#                                           and by other tools, by the clock: leave the machine alone
#   PARTS='load nearest constraint' ...     the ten nearest, and to add a constraint
#   TABLES='exact bands_8 bands_5 fingerprints' ...
#                                           some of the digests.  Joins need the first three
#   KEEP=FOLDER ...                         keeps the loaded tables in FOLDER, and uses those
#                                           already there
#   ROUNDS=3 ...                            pairs of a median, 5 by default
#   MINUTES=10 ...                          stops the joins of one line after so long, 30 by
#                                           default
#   DOCUMENTS=FOLDER ...                    keeps the documents in FOLDER, and uses those
#                                           already there
#   GO_PEER=FOLDER PYTHONPATH=FOLDER:... PARTS='load pairs' ...
#                                           sources of github.com/ekzhu/go-set-similarity-search, and
#                                           where Python finds SetSimilaritySearch and datasketch,
#                                           which need numpy and scipy.  5702c43, 4482dd4 and
#                                           datasketch's 8d4bda1 were run
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

# Runs another tool on the arrays, and keeps the numbers of pairs and seconds that it prints.  Arguments:
# its name, the command, to which the file and the resemblance are added.  The tool gets no more memory
# than there is.
run_other() {
	local name=$1 s took memory
	shift
	memory=$(awk '$1 == "MemAvailable:" { print $2 * 1024 }' OFMT=%.0f /proc/meminfo)
	for s in 0.8 0.5; do
		took=$(as_builder prlimit --as="$memory" timeout "${MINUTES:-30}m" "$@" "$WORK/src/sets" "$s" \
			2>"$WORK/log/other") || {
			say "skipped: $name, $s: $(tail -n 1 "$WORK/log/other")"
			continue
		}
		demo_psql -c "INSERT INTO took (within, method, pairs, \"one process\")
			VALUES ('resemblance $s', '$name', ${took/ /, })"
	done
}

run_others() {
	local library
	if [ -n "${GO_PEER:-}" ]; then
		mkdir -p "$WORK/src/go/src/github.com/ekzhu"
		cp -r "$GO_PEER" "$WORK/src/go/src/github.com/ekzhu/go-set-similarity-search"
		chown -R "$BUILDER:" "$WORK/src/go"
		as_builder env GO111MODULE=off GOPATH="$WORK/src/go" GOCACHE="$WORK/tmp/go" \
			go build -o "$WORK/src/all_pairs" test/bench/exact/all_pairs.go
		run_other 'SetSimilaritySearch in Go' "$WORK/src/all_pairs"
	else
		say "skipped: SetSimilaritySearch in Go, no GO_PEER"
	fi
	for library in SetSimilaritySearch datasketch; do
		if as_builder python3 -c "import $library" 2>"$WORK/log/other"; then
			run_other "$library in Python" python3 test/bench/exact/all_pairs.py "$library"
		else
			say "skipped: $library in Python: $(tail -n 1 "$WORK/log/other")"
		fi
	done
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
			-v sets="$WORK/src/sets" -v part="$part" -f test/bench/exact.sql
		if [ "$part" = pairs ]; then
			run_others
			demo_psql -v part=took -f test/bench/exact.sql
		fi
	done
	[ -z "${KEEP:-}" ] ||
		as_builder "$("$PG_CONFIG" --bindir)/pg_ctl" -D "$CLUSTER" -m fast -w -t 600 stop >"$WORK/log/stop"
}

main
