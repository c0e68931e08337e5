#!/bin/bash
# Compiles the extension for another machine, and runs the unit tests and pg_regress in an
# emulator.  matrix.sh runs this, as root, in a system that has the machine's system below
# /machine.
#
#   bash test/machine.sh s390x-linux-gnu
set -euo pipefail

# shellcheck source-path=SCRIPTDIR source=lib.sh
. "$(dirname "$0")/lib.sh"

MACHINE=/machine
QEMU=qemu-${1%%-*}
COMPILER="$1-gcc --sysroot=$MACHINE"
SERVER=$MACHINE/usr/lib/postgresql/17
PG_CONFIG=$SERVER/bin/pg_config
PASSED=0
FAILED=0

# Replaces each program of the server, and of its tests, by a script that runs it in the
# emulator.
emulate_programs() {
	local program
	ln -s usr/lib usr/bin "$MACHINE"
	for program in "$SERVER"/bin/* "$SERVER"/lib/pgxs/src/test/*/*; do
		[ -f "$program" ] || continue
		[ "$(head -c 4 "$program" | tr -d '\0')" = $'\x7fELF' ] || continue
		mv "$program" "$program.emulated"
		# shellcheck disable=SC2016 # the program expands these
		printf '#!/bin/sh\nexec %s -L %s -0 "$0" "$0.emulated" "$@"\n' "$QEMU" "$MACHINE" >"$program"
		chmod 755 "$program"
	done
	sed -i "s|^CC = .*|CC = $COMPILER|" "$SERVER/lib/pgxs/src/Makefile.global"
}

# step NAME COUNT COMMAND...: runs a test.  COUNT is the function that reads its log.
step() {
	local name=$1 reader=$2 passed=$PASSED failed=$FAILED
	shift 2
	LOG=$WORK/log/$name STATUS=0
	say "$name ..."
	as_builder "$@" >"$LOG" 2>&1 || STATUS=$?
	"$reader" >>"$LOG"
	say "$name: $((PASSED - passed)) passed, $((FAILED - failed)) failed"
	[ "$FAILED" = "$failed" ] || tail -n 60 "$LOG" "$TREE"/regression.diff[s] || true
}

count_build() {
	count_with_status $((STATUS == 0)) 0
}

last_words() {
	last_line "$1" "$PASSED" "$FAILED"
}

make_workspace
choose_builder
copy_sources
emulate_programs
export PKG_CONFIG_SYSROOT_DIR=$MACHINE PKG_CONFIG_LIBDIR=$MACHINE/usr/lib/$1/pkgconfig
chown -R "$BUILDER:" "$SERVER/lib" "$MACHINE/usr/share/postgresql"
echo "autovacuum = off" >"$WORK/regress.conf" # a snapshot of it could change plans
step build count_build make -s -j "$(nproc)" all install \
	PG_CONFIG="$PG_CONFIG" with_llvm=no PG_CFLAGS="$WARNINGS"
step unit count_verdicts make -s -C test/unit check \
	PG_CONFIG="$PG_CONFIG" CC="$COMPILER" RUN="$QEMU -L $MACHINE"
step regress count_pg_regress make -s installcheck \
	PG_CONFIG="$PG_CONFIG" ISOLATION= TAP_TESTS= \
	EXTRA_REGRESS_OPTS="--temp-instance=$TREE/tmp_regress --temp-config=$WORK/regress.conf"
[ "$FAILED" = 0 ]
