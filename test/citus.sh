#!/bin/bash
# Runs docs/machines.md's section on Citus, on a temporary coordinator and two workers, and
# compares the rows with those of one table.
#
#   PG_CONFIG=/usr/lib/postgresql/16/bin/pg_config bash test/citus.sh
#
# The server must have Citus and PostgreSQL's modules for TAP tests.  Into a server that is
# not Debian's the extension is installed, by the user that runs the tests, for root postgres.
set -euo pipefail

pg_config=${PG_CONFIG:-pg_config}
server=$(dirname "$("$pg_config" --bindir)")
PG_MAJOR=$("$pg_config" --version | sed 's/^PostgreSQL \([0-9]*\).*/\1/')
export PG_MAJOR

if [ ! -e "$("$pg_config" --sharedir)/extension/citus.control" ]; then
	echo "skipped: no Citus in $server"
	echo "0 passed, 0 failed"
	exit
fi
[ "$server" = "/usr/lib/postgresql/$PG_MAJOR" ] || export SERVER=$server
exec bash "$(dirname "$0")/check.sh" citus
