#!/bin/bash
# Builds the Debian package twice, and installs, tests and purges it.  It needs root and a
# Debian that may be changed: it installs packages, to stay.  matrix.sh runs it in clean
# systems of Debian 12 and 13.
#
#   bash test/matrix.sh bookworm trixie
set -euo pipefail

# shellcheck source-path=SCRIPTDIR source=lib.sh
. "$(dirname "$0")/lib.sh"
# shellcheck source-path=SCRIPTDIR source=verdict.sh
. "$(dirname "$0")/verdict.sh"

# Builds the source and binary packages, and moves them to a folder.  Both builds use the
# same path, because bitcode contains it.  The second build runs the tests, by a user other
# than root.
build_package() {
	local version source=$WORK/build/pg-simhash command=(dpkg-buildpackage -us -uc)
	if [ "$1" = first ]; then
		command=(env DEB_BUILD_OPTIONS="nocheck parallel=$(nproc)" "${command[@]}" -Pnocheck)
	else
		command=(as_builder "${command[@]}" -d)
	fi
	version=$(sed -n '1s/.*(\(.*\)-.*/\1/p' "$ROOT/debian/changelog")
	mkdir -p "$source" &&
		tar -C "$ROOT" --exclude-vcs --exclude='*.[od]' --exclude='*.so' --exclude='*.bc' \
			--exclude=.built-for -cf - . | tar -C "$source" --no-same-owner -xf - &&
		tar -C "$source" --exclude=./debian -czf "$WORK/build/pg-simhash_$version.orig.tar.gz" . &&
		chown -R "$BUILDER:" "$WORK/build" "$WORK/tmp" &&
		(
			cd "$source" && TREE=$source && pg_buildext updatecontrol && "${command[@]}"
		) >"$WORK/log/build" 2>&1 || { tail -n 30 "$WORK/log/build"; return 1; }
	mv "$WORK/build" "$WORK/$1"
}

same_packages() {
	local deb
	for deb in "$WORK"/first/*.deb; do
		cmp "$deb" "$WORK/second/${deb##*/}" || return
	done
}

install_package() {
	apt_get install -y --no-install-recommends "$(echo "$WORK"/first/postgresql-*-simhash_*.deb)"
}

# Runs debian/tests of the source package, with the binary package.
test_package() {
	autopkgtest --no-built-binaries "$WORK"/first/*.deb "$WORK"/first/*.dsc -- null
}

purge_package() {
	dpkg --purge "$(basename "$WORK"/first/postgresql-*-simhash_*.deb | sed 's/_.*//')"
}

# Prints and refuses files that the purge left.
nothing_left() {
	! find /etc /usr /var/lib/postgresql -iname '*simhash*' | grep .
}

last_words() { last_line "$1" "$PASSED" "$FAILED"; }

make_workspace
need_root debhelper
update_lists
apt_get install -y --no-install-recommends autopkgtest build-essential debhelper lintian libxxhash-dev \
	postgresql postgresql-server-dev-all || die "could not install what builds the package"
choose_builder
verdict 'builds' build_package first
verdict 'builds again, with its tests' build_package second
verdict 'both builds have the same bytes' same_packages
# The package closes no bug of Debian's, since Debian does not have it.
verdict 'lintian finds nothing' lintian --fail-on error,warning \
	--suppress-tags initial-upload-closes-no-bugs "$(echo "$WORK"/first/*.changes)"
verdict 'installs' install_package
verdict 'passes the tests' test_package
verdict 'is purged' purge_package
verdict 'leaves no file' nothing_left
[ "$FAILED" = 0 ]
