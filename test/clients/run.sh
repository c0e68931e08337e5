#!/bin/bash
# Runs the programs that docs/applications.md quotes, on a temporary server.
#
#   bash test/clients/run.sh              all
#   bash test/clients/run.sh dbd_pg.pl    some of them
#
# A program whose driver is missing is skipped.  NODE_PATH says where npm's packages are.
# Each program runs on the tables of the page, in a database of its own.  It prints the
# lines of expected.out.  Each line is a test.  test/t/004_docs.pl tests the quotations.
set -euo pipefail

# shellcheck source-path=SCRIPTDIR source=../lib.sh
. "$(dirname "$0")/../lib.sh"

CLIENTS=$ROOT/test/clients
PAGE=$ROOT/docs/applications.md
PASSED=0 FAILED=0 SKIPPED=()

last_words() {
	[ ${#SKIPPED[@]} = 0 ] || printf 'SKIPPED: %s\n' "${SKIPPED[@]}"
	last_line "$1" "$PASSED" "$FAILED"
}

# Prints the command that checks whether a program's driver is there.
driver_test() {
	case $1 in
	psycopg3.py) say 'python3 -c "import psycopg"' ;;
	sqlalchemy_orm.py) say 'python3 -c "import sqlalchemy, psycopg2"' ;;
	dbd_pg.pl) say 'perl -MDBD::Pg -e 1' ;;
	node_postgres.js) say "node -e \"require('pg')\"" ;;
	ruby_pg.rb) say 'ruby -rpg -e 1' ;;
	pdo.php) say 'php -r "exit(extension_loaded(\"pdo_pgsql\") ? 0 : 1);"' ;;
	*) die "no driver is known for $1" ;;
	esac
}

# Prints the interpreter of a program.
interpreter() {
	case $1 in
	*.py) say python3 ;;
	*.pl) say perl ;;
	*.js) say node ;;
	*.rb) say ruby ;;
	*.php) say php ;;
	esac
}

# Runs a program in a database of its own, and compares each line of its output.
run_client() {
	local client=$1 database=${1%.*} i expected got
	if ! as_builder bash -c "$(driver_test "$client")" >/dev/null 2>&1; then
		skip "$client: no driver"
		return
	fi
	demo_psql -c "CREATE DATABASE $database"
	demo_psql -d "$database" -f "$WORK/tmp/tables.sql"
	as_builder env PGHOST="$WORK/socket" PGUSER=postgres PGDATABASE="$database" NODE_PATH="${NODE_PATH:-}" \
		"$(interpreter "$client")" "test/clients/$client" >"$WORK/log/$client" 2>&1 ||
		echo "exit status $?" >>"$WORK/log/$client"
	mapfile -t expected <"$CLIENTS/expected.out"
	mapfile -t got <"$WORK/log/$client"
	for i in "${!expected[@]}"; do
		if [ "${got[i]:-}" = "${expected[i]}" ]; then
			count 1 0
		else
			say "$client: not '${expected[i]}' but '${got[i]:-}'"
			count 0 1
		fi
	done
	[ ${#got[@]} -le ${#expected[@]} ] || { cat "$WORK/log/$client"; count 0 1; }
}

main() {
	local client
	prepare
	build_and_start
	# The blocks of SQL on the page create the tables.
	awk '/^```/ { inside = $0 == "```sql"; next } inside' "$PAGE" >"$WORK/tmp/tables.sql"
	chmod 644 "$WORK/tmp/tables.sql"
	[ $# != 0 ] || set -- dbd_pg.pl node_postgres.js pdo.php psycopg3.py ruby_pg.rb sqlalchemy_orm.py
	for client; do
		run_client "$client"
	done
	[ "$FAILED" = 0 ] && [ "$PASSED" != 0 ]
}

main "$@"
