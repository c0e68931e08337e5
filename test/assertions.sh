#!/bin/bash
# Runs the test suites on a PostgreSQL with assertions.  It is built from Debian's
# source package, or from POSTGRES_SOURCE, a directory of clean sources.  Needs about
# ten minutes and 2 GB below /tmp.
#
#   bash test/assertions.sh              every suite
#   bash test/assertions.sh regress tap  these suites
#   bash test/assertions.sh valgrind     pg_regress in valgrind; takes hours
set -euo pipefail

# shellcheck source-path=SCRIPTDIR source=lib.sh
. "$(dirname "$0")/lib.sh"

# Writes apt's list of sources to a file of our own.
source_apt() {
	mkdir -p "$WORK/apt/lists/partial" "$WORK/apt/parts"
	sed 's/^Types:.*/Types: deb-src/' /etc/apt/sources.list.d/*.sources \
		>"$WORK/apt/parts/all.sources" 2>/dev/null || true
	sed -n 's/^deb /deb-src /p' /etc/apt/sources.list /etc/apt/sources.list.d/*.list \
		>"$WORK/apt/parts/all.list" 2>/dev/null || true
	cat >"$WORK/apt/conf" <<-END
		Dir::State::lists "$WORK/apt/lists/";
		Dir::Etc::sourcelist "/dev/null";
		Dir::Etc::sourceparts "$WORK/apt/parts";
		APT::Sandbox::User "root";
	END
	apt-get -c "$WORK/apt/conf" -qq update
}

# Fetches the newest available source, without Debian's patches, which would install it
# in the place of the system's PostgreSQL.
fetch_source() {
	local version
	cd "$WORK/src"
	for version in $(apt-cache -c "$WORK/apt/conf" showsrc "postgresql-$PG_MAJOR" |
		sed -n 's/^Version: //p' | sort -rVu); do
		apt-get -c "$WORK/apt/conf" -qq source --download-only \
			"postgresql-$PG_MAJOR=$version" || continue
		mkdir postgresql
		tar -C postgresql --strip-components=1 -xf "postgresql-${PG_MAJOR}"_*.orig.tar.*[!c]
		return
	done
	return 1
}

take_source() {
	if [ -z "${POSTGRES_SOURCE:-}" ]; then
		source_apt && fetch_source
	else
		mkdir "$WORK/src/postgresql" && tar -C "$POSTGRES_SOURCE" --exclude-vcs -cf - . |
			tar -C "$WORK/src/postgresql" --no-same-owner -xf -
	fi
}

# calc_distr() of PostgreSQL does not write the end of its result if the array of a query
# has more elements than the statistics.  Estimates of <@ read it, which valgrind would report.
fill_distribution() {
	sed -i 's/palloc(\((m + 1) \* sizeof(float))\)/palloc0(\1/' \
		"$WORK/src/postgresql/src/backend/utils/adt/array_selfuncs.c"
}

# USE_VALGRIND wipes memory contexts, so that uses of freed memory are detected, and tells
# valgrind of them.
build_server() {
	as_builder sh -c "cd postgresql && ./configure --prefix=$WORK/pgsql \
		--enable-cassert --enable-debug --enable-tap-tests --without-icu \
		--without-readline --without-zlib CPPFLAGS=-DUSE_VALGRIND \
		CFLAGS='-O1 -g' &&
		make -s -j$(nproc) && make -s install &&
		make -s -C contrib install && make -s -C src/test/isolation install &&
		cp src/tools/valgrind.supp $WORK/pgsql"
}

main() {
	make_workspace
	export PG_MAJOR SERVER=$WORK/pgsql
	[ -z "${POSTGRES_SOURCE:-}" ] ||
		PG_MAJOR=$(sed -n "s/^PACKAGE_VERSION='\([0-9]*\).*/\1/p" "$POSTGRES_SOURCE/configure")
	need_packages bison flex dpkg-dev libipc-run-perl valgrind
	choose_builder
	say "taking the source of PostgreSQL $PG_MAJOR"
	(take_source) >"$WORK/log/source" 2>&1 || { tail -n 20 "$WORK/log/source"; die "no source"; }
	fill_distribution
	chown -R "$BUILDER:" "$WORK"
	say "building it with assertions"
	build_server >"$WORK/log/server" 2>&1 || { tail -n 40 "$WORK/log/server"; die "the build failed"; }
	# one statement of jaccard_index takes half an hour in valgrind on a busy machine
	[[ " $* " != *" valgrind "* ]] || export SILENCE_LIMIT=${SILENCE_LIMIT:-14400}
	bash "$ROOT/test/check.sh" "$@"
}

main "$@"
