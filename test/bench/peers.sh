#!/bin/bash
# Compares the index with other tools on one corpus whose copies are known: pg_trgm, GIN
# and B-trees, pgvector, smlar, the BK-tree of pg-spgist_hamming, datasketch.  Prints recall,
# precision, latency, build time and size.  The SQL is in peers.sql, datasketch's part in
# peers.py.
#
#   bash test/bench/peers.sh
#   ROWS=1000000 ...          documents (default: 100,000)
#   SEARCHES=500 ...          searches of each method (default: 300)
#   SECONDS_EACH=60 ...       stops the searches of a method after so long (default: 20)
#   METHODS='simhash|GIN' ... methods whose name matches (default: all)
#   SEED=7 ...                other edits and searches
#   DOCUMENTS=FOLDER ...      keeps the documents in FOLDER, and uses those already there
#                             (like test/bench/quality.sh)
#
#   OTHERS='FOLDER FOLDER'... sources of extensions, which are built and used: pgvector's,
#                             the folder bktree of pg-spgist_hamming, and smlar
#
# pgvector is else the package of the release, which Debian has from 13 on.  datasketch is
# whatever python3 imports: neither Debian nor npm has it.  PYTHONPATH may say where it is.
# smlar is in https://github.com/jirutka/smlar.  6259352 was measured.
set -euo pipefail

# shellcheck source-path=SCRIPTDIR source=../lib.sh
. "$(dirname "$0")/../lib.sh"
# shellcheck source-path=SCRIPTDIR source=quality/corpora.sh
. "$(dirname "$0")/quality/corpora.sh"

ROWS=${ROWS:-100000}
SEED=${SEED:-1}
METHODS=${METHODS:-.}
SKIPPED=()

last_words() {
	[ ${#SKIPPED[@]} = 0 ] || printf 'SKIPPED: %s\n' "${SKIPPED[@]}"
}

# Succeeds if datasketch is wanted and there.
has_datasketch() {
	[[ datasketch =~ $METHODS ]] || return 1
	python3 -c 'import datasketch' 2>"$WORK/log/datasketch" && return
	skip "datasketch: $(tail -n 1 "$WORK/log/datasketch")"
	return 1
}

# Builds the extensions in OTHERS, and installs them beside ours.
build_others() {
	local folder name
	for folder in ${OTHERS:-}; do
		name=$(basename "$folder")
		say "building $name"
		cp -r "$folder" "$WORK/src/$name"
		chown -R "$BUILDER:" "$WORK/src/$name"
		as_builder make -s -C "$WORK/src/$name" USE_PGXS=1 PG_CONFIG="$PG_CONFIG" with_llvm=no \
			DESTDIR="$STAGE" all install \
			>"$WORK/log/$name" 2>&1 || skip "$name: does not build, $(grep -m 1 error "$WORK/log/$name" || true)"
	done
}

has_extension() {
	local folder
	folder=$("$PG_CONFIG" --sharedir)/extension
	[ -e "$folder/$1.control" ] || [ -e "$STAGE$folder/$1.control" ]
}

main() {
	local pgvector folder has_pgvector=false has_bktree=false has_smlar=false datasketch=false
	make_workspace
	need_packages mandoc python3
	pgvector=postgresql-$PG_MAJOR-pgvector
	[[ ${OTHERS:-} = *pgvector* ]] || ! available "$pgvector" || need_packages "$pgvector"
	choose_builder
	copy_sources
	build_others
	! has_extension vector || has_pgvector=true
	! has_extension bktree || has_bktree=true
	! has_extension smlar || has_smlar=true
	"$has_pgvector" || skip "pgvector: neither an apt package $pgvector nor a folder in OTHERS"
	"$has_bktree" || skip "pg-spgist_hamming: no folder bktree in OTHERS"
	"$has_smlar" || skip "smlar: no folder smlar in OTHERS"
	! has_datasketch || datasketch=true
	get_documents
	folder=$WORK/src/documents
	say "making $ROWS documents, seed $SEED"
	perl test/bench/corpus/documents.pl "$ROWS" "$SEED" \
		"$folder"/{descriptions,manuals,documentation}.csv 3>"$WORK/src/truth" >"$WORK/src/rows"
	SHARED_BUFFERS=${SHARED_BUFFERS:-4GB} build_and_start
	demo_psql -f test/bench/peers.sql -v rows="$ROWS" -v seed="$SEED" -v methods="$METHODS" \
		-v searches="${SEARCHES:-300}" -v seconds="${SECONDS_EACH:-20}" -v has_datasketch="$datasketch" \
		-v has_pgvector="$has_pgvector" -v has_bktree="$has_bktree" -v has_smlar="$has_smlar" \
		-v file="$WORK/src/rows" -v truth="$WORK/src/truth" -v queries="$WORK/src/queries" \
		-v results="$WORK/src/results" -v sizes="$WORK/src/sizes"
	say "($((SECONDS / 60)) minutes)"
}

main
