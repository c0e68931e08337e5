#!/bin/bash
# Runs the tests with every PostgreSQL of a Debian release.  Each runs in a system of
# its own, made from apt's mirror and removed afterwards.  If npm is installed, each
# build also runs in the oldest minor release that npm has.  Also upgrades a cluster from 15
# to 19, and runs on other machines, as far as qemu emulates them.
#
#   bash test/matrix.sh                 everything; takes hours
#   bash test/matrix.sh 17 s390x        these
#   bash test/matrix.sh newest          the newest available PostgreSQL
#   bash test/matrix.sh trixie          the package of this release (package.sh)
#
# SUITES: the suites of check.sh to run (default: unit regress isolation tap oldest).
# UBUNTU_MIRROR: the mirror of a distribution that has 16, if apt has none.
# POSTGRES_SOURCE: a git repository of PostgreSQL, for master, and for 16 without a
# mirror.  They are built with assertions.
# Needs root, 3 GB below /tmp, and apt's network.
set -euo pipefail

# shellcheck source-path=SCRIPTDIR source=lib.sh
. "$(dirname "$0")/lib.sh"

TARGETS=(15 16 17 18 19 master upgrade i386 armhf arm64 s390x bookworm trixie)
TOTAL_PASSED=0
TOTAL_FAILED=0
TABLE=()

# --- systems ------------------------------------------------------------------

# Sets KEYS to Ubuntu's keys, from this system or from a package of Debian's.
find_ubuntu_keys() {
	KEYS=/usr/share/keyrings/ubuntu-archive-keyring.gpg
	[ ! -e "$KEYS" ] || return 0
	make_system "$WORK/keys" extract ubuntu-archive-keyring sid "$DEBIAN"
	KEYS=$WORK/keys$KEYS
}

# Makes a system.  Arguments: directory, variant (see mmdebstrap), packages, release,
# source, and further sources or options of mmdebstrap.
make_system() {
	local root=$1 variant=$2 packages=$3 release=$4 source=$5
	shift 5
	in_group env TMPDIR="$WORK/tmp" unshare --mount mmdebstrap --mode=root --quiet --variant="$variant" \
		--include="$packages" --skip=check/empty \
		--aptopt='Acquire::Check-Valid-Until "false"' \
		--aptopt='Acquire::http::Timeout "60"' "$release" "$root" "$source" "$@"
}

# Runs a command in a system, as root, in namespaces of its own.  When it ends, its
# processes and mounts end, too.
in_system() {
	# shellcheck disable=SC2016
	in_group unshare --mount --pid --fork --kill-child bash -c '
		root=$1
		shift
		trap "exit 143" TERM
		mount --make-rprivate / && mount -t proc proc "$root/proc" &&
			mount --rbind /dev "$root/dev" && mount -t tmpfs tmpfs "$root/dev/shm" || exit
		chroot "$root" "$@" &
		wait $!' bash "$@"
}

# Copies the sources to the directory of the commands in a system.
copy_into() {
	mkdir "$1/simhash" &&
		tar -C "$ROOT" --exclude-vcs --exclude='*.[od]' --exclude='*.so' --exclude='*.bc' \
			--exclude=.built-for -cf - . | tar -C "$1/simhash" --no-same-owner -xf -
}

# Makes a system of the release that has a PostgreSQL.  Prints a reason if there is
# none.
make_version() {
	local major=$1 packages=apt,postgresql-$1,postgresql-server-dev-$1 mirror
	case $major in
	15) make_system "$SYSTEM" minbase "$packages" bookworm "$DEBIAN" ;;
	16)
		mirror=${UBUNTU_MIRROR:-$(mirror_of Ubuntu)}
		[ -n "$mirror" ] || { make_source REL_16_STABLE; return; }
		find_ubuntu_keys || { echo "no keys of Ubuntu"; return 1; }
		make_system "$SYSTEM" minbase "$packages" noble "deb $mirror noble main universe" \
			--keyring="$KEYS"
		;;
	17) make_system "$SYSTEM" minbase "$packages" trixie "$DEBIAN" ;;
	18) make_system "$SYSTEM" minbase "$packages" forky "$DEBIAN" ;;
	19) make_experimental "$packages" ;;
	upgrade)
		packages=apt,postgresql-15,postgresql-server-dev-15,postgresql-19,postgresql-server-dev-19
		make_experimental "$packages" "deb $DEBIAN bookworm main"
		;;
	master) make_source master ;;
	esac
}

# Makes a system of 32 bits, which the processor runs itself.
make_i386() {
	make_system "$SYSTEM" minbase apt,postgresql-15,postgresql-server-dev-15 bookworm "$DEBIAN" \
		--architectures=i386
}

# Makes a clean system of a release.
make_release() {
	make_system "$SYSTEM" minbase apt "$1" "$DEBIAN"
}

# Makes a system with packages of experimental, but only PostgreSQL is from there.
# Arguments: packages, and further sources.
make_experimental() {
	local packages=$1
	shift
	# shellcheck disable=SC2016
	make_system "$SYSTEM" minbase "$packages" sid "deb $DEBIAN sid main" \
		"deb $DEBIAN experimental main" "$@" --setup-hook='
		mkdir -p "$1/etc/apt/preferences.d"
		printf "Package: %s\nPin: release a=experimental\nPin-Priority: 990\n" src:postgresql-19 \
			>"$1/etc/apt/preferences.d/experimental"'
}

# Makes a system with the sources of a branch, of the user or of origin, in /postgresql.
make_source() {
	local branch
	[ -n "${POSTGRES_SOURCE:-}" ] || { echo "no package, and no POSTGRES_SOURCE"; return 1; }
	branch=$(git -C "$POSTGRES_SOURCE" for-each-ref --format '%(refname)' \
		"refs/heads/$1" "refs/remotes/origin/$1" | head -n 1)
	[ -n "$branch" ] || { echo "no branch $1 in $POSTGRES_SOURCE"; return 1; }
	make_system "$SYSTEM" minbase apt trixie "$DEBIAN" && mkdir "$SYSTEM/postgresql" &&
		git -C "$POSTGRES_SOURCE" archive "$branch" | tar -C "$SYSTEM/postgresql" --no-same-owner -xf -
}

# Makes a system with a compiler for another machine.  The libraries, headers and the
# server of that machine are unpacked in it, but not configured.
make_machine() {
	local arch=$1
	make_system "$SYSTEM" minbase \
		"gcc-$(triplet "$arch"),libc6-dev-$arch-cross,qemu-user,make,perl,pkgconf,bzip2,unicode-data" \
		trixie "$DEBIAN" &&
		make_system "$SYSTEM/machine" extract \
			postgresql-17,postgresql-server-dev-17,libicu-dev,libxxhash-dev,libc6-dev \
			trixie "$DEBIAN" --architectures="$arch"
}

triplet() {
	case $1 in
	arm64) echo aarch64-linux-gnu ;;
	armhf) echo arm-linux-gnueabihf ;;
	*) echo "$1-linux-gnu" ;;
	esac
}

# --- the run -------------------------------------------------------------------

# Runs one target, if its system can be made.  Returns 1 if it cannot.
run_target() {
	local target=$1 started=$SECONDS made=make_version why verdict teller status=0
	local run=(env PG_MAJOR="$target" OLDEST=/oldest bash simhash/test/check.sh "${SUITES[@]}")
	SYSTEM=$WORK/system-$target
	LOG=$WORK/log/$target
	if [ "$target" = upgrade ]; then
		run=(bash simhash/test/upgrade.sh 15 19)
	elif [ "$target" = i386 ]; then
		made=make_i386
		run=(env PG_MAJOR=15 bash simhash/test/check.sh "${SUITES[@]}")
	elif [[ $target =~ ^(bookworm|trixie)$ ]]; then
		made=make_release
		run=(bash simhash/test/package.sh)
	elif ! [[ $target =~ ^([0-9]+|master)$ ]]; then
		made=make_machine
		run=(bash simhash/test/machine.sh "$(triplet "$target")")
	fi
	say "$target: making its system"
	if ! "$made" "$target" >"$LOG" 2>&1; then
		why=$(grep -E '^E: |^fatal: |^no ' "$LOG" | head -n 1)
		note_result "$target" "skipped: ${why:-cannot be made}" "$started"
		discard_system
		return 1
	fi
	say "$target: testing"
	copy_into "$SYSTEM"
	if [[ $target =~ ^[0-9]+$ && " ${SUITES[*]} " = *" oldest "* ]]; then
		fetch_oldest "$target" "$SYSTEM/oldest" || true # check.sh reports it
	fi
	[ ! -d "$SYSTEM/postgresql" ] ||
		run=(env OLDEST=/oldest POSTGRES_SOURCE=/postgresql bash simhash/test/assertions.sh "${SUITES[@]}")
	exec 4> >(tee "$LOG" | sed -u 's/^/    /')
	teller=$!
	in_system "$SYSTEM" "${run[@]}" >&4 2>&1 || status=$?
	exec 4>&-
	wait "$teller" || true
	verdict=$(sed -n '$s/^\([0-9]*\) passed, \([0-9]*\) failed$/\1 \2/p' "$LOG")
	read -r PASSED FAILED <<<"${verdict:-0 1}"
	[ "$status" = 0 ] || [ "$FAILED" != 0 ] || FAILED=1
	TOTAL_PASSED=$((TOTAL_PASSED + PASSED)) TOTAL_FAILED=$((TOTAL_FAILED + FAILED))
	note_result "$target" "$PASSED passed, $FAILED failed" "$started"
	discard_system
}

note_result() {
	TABLE+=("$(printf '%-10s %s (%d s)' "$1" "$2" $((SECONDS - $3)))")
	say "${TABLE[-1]}"
}

# No file system is mounted here: mounts end with the namespaces.
discard_system() {
	rm -rf --one-file-system "$SYSTEM"
}

run_newest() {
	local major
	for major in 19 18 17; do
		! run_target "$major" || return 0
	done
}

last_words() {
	say ""
	[ ${#TABLE[@]} = 0 ] || printf '%s\n' "${TABLE[@]}"
	last_line "$1" "$TOTAL_PASSED" "$TOTAL_FAILED"
}

main() {
	local target
	read -r -a SUITES <<<"${SUITES:-unit regress isolation tap oldest}"
	for target; do
		[[ " ${TARGETS[*]} newest " = *" $target "* ]] || die "no target '$target': ${TARGETS[*]} newest"
	done
	make_workspace
	if [ "$(id -u)" != 0 ]; then
		TABLE=("skipped: only root can make systems of their own")
		return
	fi
	# arch-test: mmdebstrap asks it whether the processor runs i386
	lock_packages
	if [ -n "$(missing mmdebstrap arch-test)" ]; then
		update_lists
		say "installing by apt, to stay: mmdebstrap arch-test"
		apt_get install -y --no-install-recommends mmdebstrap arch-test || true
	fi
	unlock_packages
	DEBIAN=$(mirror_of Debian)
	if [ -z "$DEBIAN" ] || ! installed mmdebstrap; then
		TABLE=("skipped: apt knows no mirror of Debian, or has no mmdebstrap")
		return
	fi
	for target in "${@:-${TARGETS[@]}}"; do
		if [ "$target" = newest ]; then run_newest; else run_target "$target" || true; fi
	done
	[ "$TOTAL_FAILED" = 0 ]
}

main "$@"
