#!/bin/bash
# Runs the programs that docs/applications.md quotes, on a temporary server.
#
#   bash test/clients/run.sh              all
#   bash test/clients/run.sh dbd_pg.pl    some of them, with Debian's packages of the drivers
#
# A program whose driver is missing is skipped.  NODE_PATH says where npm's packages are.
# Each program runs on the tables of the page, in a database of its own.  It prints the
# lines of expected.out, or of a file of its own.  Each line is a test.
# test/t/004_docs.pl tests the quotations.
set -euo pipefail

# shellcheck source-path=SCRIPTDIR source=../lib.sh
. "$(dirname "$0")/../lib.sh"

CLIENTS=$ROOT/test/clients
PAGE=$ROOT/docs/applications.md
PROGRAMS=(Jdbc.java alembic_migration.py dbd_pg.pl django_orm.py drizzle_orm.js knex_orm.js lib_pq.go
	node_postgres.js pdo.php pgx.go psycopg3.py ruby_pg.rb sqlalchemy_orm.py)
JARS=/usr/share/java/postgresql.jar:/usr/share/java/junixsocket-common.jar
PASSED=0 FAILED=0 SKIPPED=()

last_words() {
	[ ${#SKIPPED[@]} = 0 ] || printf 'SKIPPED: %s\n' "${SKIPPED[@]}"
	last_line "$1" "$PASSED" "$FAILED"
}

# Sets what a program needs: PACKAGES of Debian, a command that CHECKs whether the driver is
# there, and the command that RUNs it.
describe() {
	PACKAGES=()
	case $1 in
	psycopg3.py) PACKAGES=(python3-psycopg) CHECK='python3 -c "import psycopg"' ;;
	sqlalchemy_orm.py)
		PACKAGES=(python3-sqlalchemy python3-psycopg2)
		CHECK='python3 -c "import sqlalchemy, psycopg2"'
		;;
	alembic_migration.py)
		PACKAGES=(python3-alembic python3-psycopg2)
		CHECK='python3 -c "import alembic, psycopg2"'
		;;
	django_orm.py)
		PACKAGES=(python3-django python3-psycopg2)
		CHECK='python3 -c "import django, psycopg2"'
		;;
	dbd_pg.pl) PACKAGES=(libdbd-pg-perl) CHECK='perl -MDBD::Pg -e 1' ;;
	node_postgres.js) CHECK="node -e \"require('pg')\"" ;;
	knex_orm.js) CHECK="node -e \"require('knex'), require('pg')\"" ;;
	drizzle_orm.js) CHECK="node -e \"require('drizzle-orm'), require('pg')\"" ;;
	ruby_pg.rb) PACKAGES=(ruby-pg) CHECK='ruby -rpg -e 1' ;;
	pdo.php)
		PACKAGES=(php-cli php-pgsql)
		CHECK='php -r "exit(extension_loaded(\"pdo_pgsql\") ? 0 : 1);"'
		;;
	lib_pq.go)
		PACKAGES=(golang-go golang-github-lib-pq-dev)
		CHECK='go version && ls /usr/share/gocode/src/github.com/lib/pq'
		;;
	pgx.go)
		PACKAGES=(golang-go golang-github-jackc-pgx-v4-dev)
		CHECK='go version && ls /usr/share/gocode/src/github.com/jackc/pgx/v4'
		;;
	Jdbc.java)
		PACKAGES=(default-jdk-headless libpostgresql-jdbc-java libjunixsocket-java libjunixsocket-jni)
		CHECK="javac -version && ls ${JARS//:/ }"
		;;
	*) die "no program '$1': ${PROGRAMS[*]}" ;;
	esac
	case $1 in
	*.py) RUN=(python3 -W ignore) ;;
	*.pl) RUN=(perl) ;;
	*.js) RUN=(node) ;;
	*.rb) RUN=(ruby) ;;
	*.php) RUN=(php) ;;
	*.go) RUN=(env GO111MODULE=off GOPATH=/usr/share/gocode GOCACHE="$WORK/tmp/go" go run) ;;
	*.java) RUN=(java -cp "$JARS") ;;
	esac
}

# Runs a program in a database of its own, and compares each line of its output.
run_client() {
	local client=$1 database i expected got file=$CLIENTS/${1%.*}.out
	database=$(tr '[:upper:]' '[:lower:]' <<<"${1%.*}")
	[ -e "$file" ] || file=$CLIENTS/expected.out
	describe "$client"
	if ! as_builder bash -c "$CHECK" >/dev/null 2>&1; then
		skip "$client: no driver"
		return
	fi
	demo_psql -c "CREATE DATABASE $database"
	demo_psql -d "$database" -f "$WORK/tmp/tables.sql"
	as_builder env PGHOST="$WORK/socket" PGUSER=postgres PGDATABASE="$database" NODE_PATH="${NODE_PATH:-}" \
		"${RUN[@]}" "test/clients/$client" >"$WORK/log/$client" 2>&1 ||
		echo "exit status $?" >>"$WORK/log/$client"
	mapfile -t expected <"$file"
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
	local client wanted=()
	for client; do
		describe "$client"
		wanted+=("${PACKAGES[@]}")
	done
	prepare "${wanted[@]}"
	build_and_start
	# The blocks of SQL on the page create the tables.
	awk '/^```/ { inside = $0 == "```sql"; next } inside' "$PAGE" >"$WORK/tmp/tables.sql"
	chmod 644 "$WORK/tmp/tables.sql"
	[ $# != 0 ] || set -- "${PROGRAMS[@]}"
	for client; do
		run_client "$client"
	done
	[ "$FAILED" = 0 ] && [ "$PASSED" != 0 ]
}

main "$@"
