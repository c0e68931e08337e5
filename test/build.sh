#!/bin/bash
# Tests what the Makefile does beyond an ordinary build.  check.sh runs this, in a copy
# of the sources that contains a build.  PG_CONFIG: the server's.
set -euo pipefail

: "${PG_CONFIG:=pg_config}"
SOURCE=$(cd "$(dirname "${BASH_SOURCE[0]}")/.." && pwd)
SCRATCH=$(mktemp -d)
trap 'rm -rf "$SCRATCH"' EXIT
# shellcheck source-path=SCRIPTDIR source=verdict.sh
. "$(dirname "$0")/verdict.sh"
# shellcheck source-path=SCRIPTDIR source=kept.sh
. "$(dirname "$0")/kept.sh"

# Builds without optimisation, which would only cost time: no built code runs.
build() {
	make -s -f "$SOURCE/Makefile" PG_CONFIG="$PG_CONFIG" PG_CFLAGS=-O0 "$@"
}

# Copies the sources alone: make would find the objects of a build in their directory.
pristine_copy() {
	mkdir "$SCRATCH/source"
	tar -C "$SOURCE" --exclude='*.[od]' --exclude='*.bc' --exclude='*.so' \
		--exclude=.built-for -cf - Makefile simhash.control src |
		tar -C "$SCRATCH/source" -xf -
	SOURCE=$SCRATCH/source
}

builds_elsewhere() {
	mkdir "$SCRATCH/elsewhere" && cd "$SCRATCH/elsewhere" &&
		build -j "$(nproc)" with_llvm=no all &&
		build with_llvm=no install DESTDIR="$SCRATCH/stage" &&
		[ -s "$SCRATCH/stage$("$PG_CONFIG" --pkglibdir)/simhash.so" ] &&
		[ -s "$SCRATCH/stage$("$PG_CONFIG" --sharedir)/extension/simhash--1.0.sql" ]
}

# Prints the objects that make would compile.  Arguments: variables.
stale() {
	build -n with_llvm=no "$@" all | compiled
}

# Prints the objects that commands compile.
compiled() {
	sed -n 's/.* -c -o \([^ ]*\) .*/\1/p' | sort
}

# Succeeds if make would compile nothing.  Arguments: variables.
up_to_date() {
	local objects
	objects=$(stale "$@") && [ -z "$objects" ]
}

# Prints the objects whose sources include a header, by their text.  No base name stands
# twice.
including() {
	local file
	grep -rlE "^#include \"(.*/)?$1\"" "$SOURCE/src" --include='*.[ch]' | while read -r file; do
		if [[ $file = *.c ]]; then
			file=${file#"$SOURCE/"}
			echo "${file%.c}.o"
		else
			including "${file##*/}"
		fi
	done | sort -u
}

# Succeeds if make would compile exactly the objects whose sources include a header that
# changes.  Arguments: the headers.
compiles_what_includes() {
	local header expected
	for header; do
		expected=$(including "$(basename "$header")")
		touch "$SOURCE/$header"
		echo "# $header: $(wc -l <<<"$expected") objects"
		diff <(echo "$expected") <(stale) || return
		touch -d yesterday "$SOURCE/$header"
	done
	up_to_date
}

# Succeeds if make would compile what included a header that is gone.
compiles_without() {
	mv "$SOURCE/$1" "$SCRATCH/gone"
	diff <(including "$(basename "$1")") <(stale) || return
	mv "$SCRATCH/gone" "$SOURCE/$1"
	up_to_date
}

# Succeeds if make would compile every object after a change of a file.
compiles_all_after() {
	touch "$SOURCE/$1"
	diff <(cd "$SOURCE" && find src -name '*.c' | sed 's/c$/o/' | sort) <(stale) || return
	touch -d yesterday "$SOURCE/$1"
}

# Succeeds if another copy of the sources gets the objects that were kept, and make would
# compile only what differs, however old it is.  match.c includes cpu.h.
reuses_objects() {
	local objects=(src/digest/match.o src/digest/winnow.o src/text/hash.o) kept
	kept=$(echo flags | XDG_CACHE_HOME=$SCRATCH/cache kept_file) || return
	mkdir "$SCRATCH/first" "$SCRATCH/second"
	cp -r "$SOURCE"/{Makefile,src} "$SCRATCH/first" && cp -r "$SOURCE"/{Makefile,src} "$SCRATCH/second" &&
		make -s -C "$SCRATCH/first" PG_CONFIG="$PG_CONFIG" PG_CFLAGS=-O0 with_llvm=no "${objects[@]}" &&
		keep_objects "$kept" "$SCRATCH/first" || return
	echo "/* changed */" | tee -a "$SCRATCH"/second/src/{cpu.h,text/hash.c} >/dev/null
	touch -d yesterday "$SCRATCH"/second/src/{cpu.h,text/hash.c,digest/match.h}
	recall_objects "$kept" "$SCRATCH/second"
	make -n -C "$SCRATCH/second" PG_CONFIG="$PG_CONFIG" PG_CFLAGS=-O0 with_llvm=no "${objects[@]}" |
		compiled | diff <(printf '%s\n' src/digest/match.o src/text/hash.o) -
}

# Writes a pg_config that describes the same server with another output.
other_server() {
	cat >"$SCRATCH/pg_config" <<-END
		#!/bin/sh
		[ \$# -gt 0 ] || echo another one
		exec "$(command -v "$PG_CONFIG")" "\$@"
	END
	chmod +x "$SCRATCH/pg_config"
}

compiles_for_other_server() {
	up_to_date && ! up_to_date PG_CONFIG="$SCRATCH/pg_config"
}

# Succeeds if make would build bitcode.  Arguments: variables.
makes_bitcode() {
	local commands
	commands=$(build -n "$@" all) && [[ $commands == *-emit-llvm* ]]
}

makes_no_bitcode() {
	! makes_bitcode "$@"
}

# Succeeds if the server uses bitcode and a compiler for it is installed.
can_make_bitcode() {
	local settings
	settings=$(dirname "$("$PG_CONFIG" --pgxs)")/../Makefile.global
	grep -q '^with_llvm.*yes' "$settings" &&
		command -v "$(sed -n 's/^CLANG *= *//p' "$settings")" >/dev/null
}

pristine_copy
other_server
verdict "builds outside of the source tree" builds_elsewhere
verdict "builds nothing twice" up_to_date
verdict "builds anew what includes a header" compiles_what_includes \
	src/cpu.h src/compat.h src/index/tree/page.h src/text/unicode/tables.h
verdict "builds anew what includes a header that is gone" compiles_without src/cpu.h
verdict "builds anew after a change of the Makefile" compiles_all_after Makefile
verdict "reuses the objects of another copy" reuses_objects
verdict "builds anew for another server" compiles_for_other_server
! can_make_bitcode || verdict "makes bitcode" makes_bitcode
verdict "does without clang" makes_no_bitcode CLANG="$SCRATCH/clang"
verdict "does without LLVM's tools" makes_no_bitcode LLVM_BINPATH="$SCRATCH"
echo "$PASSED passed, $FAILED failed"
[ "$FAILED" = 0 ]
