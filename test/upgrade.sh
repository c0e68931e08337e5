#!/bin/bash
# Upgrades a cluster with every kind of index by pg_upgrade, and compares.
#
#   bash test/upgrade.sh 15 19      from 15 to 19
#
# The server and the headers of both releases must be installed (postgresql-15,
# postgresql-server-dev-15, ...).  `bash test/matrix.sh upgrade` makes a system with both.
set -euo pipefail

# shellcheck source-path=SCRIPTDIR source=lib.sh
. "$(dirname "$0")/lib.sh"

PASSED=0
FAILED=0

last_words() { last_line "$1" "$PASSED" "$FAILED"; }

# Sets the variables of lib.sh for one of the two releases, builds, and creates a cluster.
# Argument: the major release.
use_release() {
	PG_MAJOR=$1 STAGE=$WORK/stage_$1 PG_CONFIG=/usr/lib/postgresql/$1/bin/pg_config DATA=$WORK/data_$1
	BIN=$("$PG_CONFIG" --bindir)
	# the headers of 15 are not valid C23, which newer compilers expect
	FLAGS=
	[ "$1" -gt 15 ] || FLAGS=-std=gnu17
}

make_cluster() {
	local options=()
	say "$PG_MAJOR: building, and creating a cluster"
	[ "$PG_MAJOR" -lt 18 ] || options=(--no-data-checksums)
	{
		build_extension &&
			as_builder "$BIN/initdb" -D "$DATA" -U postgres -A trust -N -E UTF8 --locale=C.UTF-8 "${options[@]}"
	} >"$WORK/log/cluster" 2>&1 || { cat "$WORK/log/cluster"; die "no cluster of $PG_MAJOR"; }
	{
		extension_settings
		printf '%s\n' "unix_socket_directories = '$WORK/socket'" "listen_addresses = ''" "jit = off" "autovacuum = off"
	} >>"$DATA/postgresql.conf"
}

# Starts or stops the server.
server() { as_builder "$BIN/pg_ctl" -D "$DATA" -l "$WORK/log/server" -w "$1" >/dev/null; }

sql() { as_builder "$BIN/psql" -XAtq -h "$WORK/socket" -U postgres -d postgres -v ON_ERROR_STOP=1 "$@"; }

# Compares two texts.  Arguments: what is compared, the expected text, the text.
expect() {
	if [ "$2" = "$3" ]; then
		echo "ok $1"
		count 1 0
	else
		printf 'not ok %s\n' "$1"
		diff <(echo "$2") <(echo "$3") || true
		count 0 1
	fi
}

FILES="SELECT relname, pg_relation_filenode(oid) FROM pg_class
	WHERE relkind = 'i' AND relnamespace = 'public'::regnamespace ORDER BY relname COLLATE \"C\""
CHANGES="INSERT INTO docs (id, body) SELECT id + 1000, text_of(id + 1000) FROM docs;
	UPDATE docs SET body = text_of(id + 3000) WHERE id % 9 = 0;
	INSERT INTO fps SELECT id, fp, ball FROM docs WHERE id > 1000;
	DELETE FROM docs WHERE id % 7 = 1"

main() {
	local rows files
	[ $# = 2 ] || die "which releases? for example: bash test/upgrade.sh 15 19"
	PG_MAJOR=$1 prepare "postgresql-$2" "postgresql-server-dev-$2"

	use_release "$1"
	make_cluster
	server start
	sql -c 'CREATE EXTENSION simhash' -f sql/setup.sql -f test/moving/tables.sql
	expect "$1: searches" "" "$(sql -c 'SELECT wrong_searches()')"
	rows=$(sql -c 'SELECT all_rows()')
	files=$(sql -c "$FILES")
	server stop

	use_release "$2"
	make_cluster
	if ! TREE=$WORK as_builder "$BIN/pg_upgrade" -b "/usr/lib/postgresql/$1/bin" -B "$BIN" \
		-d "$WORK/data_$1" -D "$DATA" -s "$WORK/socket" -U postgres >"$WORK/log/upgrade" 2>&1; then
		cat "$WORK/log/upgrade" "$DATA"/pg_upgrade_output.d/*/loadable_libraries.txt 2>/dev/null || true
		die "pg_upgrade failed"
	fi
	server start
	expect "$2: the rows of $1" "$rows" "$(sql -c 'SELECT all_rows()')"
	expect "$2: the files of the indexes" "$files" "$(sql -c "$FILES")"
	expect "$2: searches" "" "$(sql -c 'SELECT wrong_searches()')"
	sql -c "$CHANGES" -c 'VACUUM ANALYZE'
	expect "$2: searches after changes" "" "$(sql -c 'SELECT wrong_searches()')"
	sql -c 'REINDEX DATABASE postgres'
	expect "$2: searches after REINDEX" "" "$(sql -c 'SELECT wrong_searches()')"
	server stop
	[ "$FAILED" = 0 ]
}

main "$@"
