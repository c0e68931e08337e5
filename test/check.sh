#!/bin/bash
# Builds the extension and runs every test suite, on a bare Debian.
#
#   bash test/check.sh quick            most of it, in two minutes
#   bash test/check.sh                  everything
#   bash test/check.sh regress unit     the build and these suites
#   PG_MAJOR=17 bash test/check.sh      with this PostgreSQL
#   bash test/check.sh oldest           this build in the oldest minor release
#
# A suite is a function suite_NAME, listed in SUITES.  It works on the copy of the
# sources in $TREE.  Its output goes to $LOG.  It calls `count PASSED FAILED`, or `skip
# WHY` for all or part of it.  A suite that calls neither has failed.  Suites of four lanes
# run at the same time.
# Not in SUITES are `oldest`, which uses a server from npm, or the one in $OLDEST,
# `valgrind`, which needs a server of assertions.sh, `citus`, which needs a server with Citus
# (citus.sh), `joins`, which compares 5,000 random joins, and `soak`, which takes as long as it is
# told (soak.sh).
# shellcheck disable=SC2317 # the suites are called by name
set -euo pipefail

# shellcheck source-path=SCRIPTDIR source=lib.sh
. "$(dirname "$0")/lib.sh"

SUITES=(regress isolation links layout unit build tables tap small)
QUICK=(regress isolation links layout unit)
SHOWN=60 # lines of a failure's log

# A suite that has written nothing for so many seconds hangs, and is killed.  The
# longest statement of the tests takes a hundredth of that.
SILENCE_LIMIT=${SILENCE_LIMIT:-1800}

TOTAL_PASSED=0
TOTAL_FAILED=0
NOT_RUN= # what a shorter run leaves out

# --- lanes of suites -------------------------------------------------------------

# Prints the lane of a suite.  With SERVER there is one: builds take each other's place.
lane_of() {
	case ${SERVER:+one}$1 in
	regress_1 | small | oldest | valgrind | one*) echo 1 ;;
	regress_2) echo 2 ;;
	tap | citus | joins | soak) echo 3 ;;
	*) echo 4 ;;
	esac
}

# Runs the suites, and waits for them.  Returns 1 if a lane ended early.
run_suites() {
	local lane suite lost=0 pids=()
	local -A lanes=()
	for suite; do
		lanes[$(lane_of "$suite")]+=" $suite"
	done
	for lane in "${!lanes[@]}"; do
		# shellcheck disable=SC2086
		run_lane "$lane" ${lanes[$lane]} &
		pids+=($!)
	done
	for lane in "${pids[@]}"; do
		wait "$lane" || lost=1
	done
	return "$lost"
}

# Runs suites one after the other.  Arguments: number of the lane, suites.
run_lane() {
	local suite
	CHILD_FILE=$WORK/child$1
	shift
	trap 'end_child; stop_watching' EXIT
	trap 'exit 143' TERM
	for suite; do
		run_suite "$suite"
	done
}

stop_lanes() {
	local lanes
	read -r -d '' -a lanes <<<"$(jobs -pr)" || true
	[ ${#lanes[@]} -gt 0 ] || return 0
	kill "${lanes[@]}" 2>/dev/null || true
	wait "${lanes[@]}" || true
}

run_suite() {
	local name=$1 started=$SECONDS
	PASSED=0 FAILED=0 SKIPPED=()
	TREE=$WORK/src STAGE=$WORK/stage LOG=$WORK/log/$name
	write_settings
	say "$name ..."
	: >"$LOG"
	watch_suite "$name" &
	WATCHER=$!
	"suite_$name" >"$LOG" 2>&1 || count 0 1
	stop_watching
	if [ $((PASSED + FAILED + ${#SKIPPED[@]})) = 0 ]; then
		echo "no test ran" >>"$LOG"
		FAILED=1
	fi
	echo "$PASSED $FAILED" >>"$WORK/counts"
	# at once, so that no line of another lane is among these
	say "$(
		printf '%-10s %d passed, %d failed (%d s)\n' \
			"$name" "$PASSED" "$FAILED" $((SECONDS - started))
		[ ${#SKIPPED[@]} = 0 ] || printf '           skipped: %s\n' "${SKIPPED[@]}"
		[ "$FAILED" = 0 ] || show_failure "$name"
	)"
}

# Sets the sums of the suites that have ended.
sum_counts() {
	[ ! -s "$WORK/counts" ] || read -r TOTAL_PASSED TOTAL_FAILED < <(
		awk '{ p += $1; f += $2 } END { print p + 0, f + 0 }' "$WORK/counts")
}

# Prints the meaning of a suite's failure.
meaning() {
	case $1 in
	links) say "the library needs more than libc at run time" ;;
	layout) say "circular dependencies, names that stand twice, dead links, or long lines" ;;
	tables) say "the committed Unicode tables differ from the Unicode data" ;;
	unit) say "the result of a C function differs from ICU, or from its definition" ;;
	valgrind) say "the server used undefined or freed memory, or an output differs" ;;
	regress_? | isolation | oldest) say "the output of SQL differs from the expected output:" \
		"lines with - are missing, lines with + are new" ;;
	tap | small | citus | joins | soak) say "a test of a server failed: each line 'not ok' names a check" ;;
	esac
}

# Messages of a machine that lacks disk or memory, which are not the extension's.
SHORTAGE='No space left on device|Cannot allocate memory|out of memory'
SHORTAGE+='|Resource temporarily unavailable|too many open files'

show_failure() {
	local file
	say "           that is: $(meaning "$1")"
	excerpt tail "$LOG"
	case $1 in
	regress_?) excerpt head "$TREE/output_${1#*_}/regression.diffs" ;;
	oldest | valgrind) excerpt head "$TREE/regression.diffs" ;;&
	oldest) excerpt head "$TREE/output_oldest/regression.diffs" ;;&
	isolation | small) excerpt head "$TREE/output_iso/regression.diffs" ;;&
	tap | small | citus | joins | soak)
		for file in "$TREE"/tmp_check/log/regress_log_*; do
			grep -qs '^not ok\|^# *Failed\|died' "$file" && excerpt tail "$file"
		done
		;;
	esac
	logs_with 'PANIC|TRAP|terminated by signal'
	if [ -n "$(logs_with "$SHORTAGE")" ]; then
		say "The machine lacks disk or memory; try again with more:"
		logs_with "$SHORTAGE"
	fi
}

# Prints the first lines that match a pattern in the logs of the servers and the suite.
logs_with() {
	grep -rhsE "$1" "$LOG" "$TREE"/{,output_*/}log \
		"$TREE/tmp_check/log" --include='*.log' --include="${LOG##*/}" |
		head -n 5 || true
}

# Prints the head or tail of a file, if it exists.
excerpt() {
	[ -s "$2" ] || return 0
	echo "---- $1 of ${2#"$WORK"/}"
	"$1" -n "$SHOWN" "$2" | cut -c 1-300
	echo "----"
}

# --- while a suite runs -------------------------------------------------------

# The pattern of a result of one test, or file of tests, in a suite's output.
VERDICT='^(test| ) .*\.\.\. (ok|FAILED|failed)|^(not )?ok |\.pl \.+ '

# Shows the results as they are written, and after a minute without output that the
# suite is still running, until it is stopped.  Kills a suite that writes nothing any
# more.
watch_suite() {
	local name=$1 shown=0 written=0 before silent=0 waited=0 lines ending=
	trap 'ending=yes' TERM
	until [ -n "$ending" ] || ! kill -0 $$ 2>/dev/null; do
		sleep 1 &
		wait $! || true
		mapfile -t -s "$shown" lines < <(grep -sE "$VERDICT" "$LOG")
		if [ ${#lines[@]} -gt 0 ]; then
			printf "    $name: %.90s\n" "${lines[@]##*/}"
			shown=$((shown + ${#lines[@]})) waited=0
		elif [ $((++waited % 60)) = 0 ]; then
			say "    $name: still running $(test_at_work "$name"), $((waited / 60)) min since the last line"
		fi

		before=$written
		written=$(bytes_written "$name")
		if [ "$written" != "$before" ]; then
			silent=0
		elif [ $((++silent)) = "$SILENCE_LIMIT" ]; then
			say "    $name hangs: it has written nothing for $SILENCE_LIMIT s, and is ended"
			end_group "$(cat "$CHILD_FILE")"
		fi
	done
}

# Prints the files that a suite's tests write, without the logs of servers.
written_files() {
	case $1 in
	regress_?) ls -t "$WORK/src/output_${1#*_}"/results/*.out ;;
	oldest | valgrind) ls -t "$WORK"/src/{,output_oldest/}results/*.out ;;
	isolation) ls -t "$WORK"/src/output_iso/results/*.out ;;
	tap) ls -t "$WORK"/src/tmp_check/log/regress_log_* ;;
	*) ls -t "$WORK"/{src,small}/{output_iso/results/*.out,tmp_check/log/regress_log_*} ;;
	esac 2>/dev/null || true
}

# Prints the number of bytes that the suite has written to its log and those of its
# parts.
bytes_written() {
	local files
	mapfile -t files < <(written_files "$1")
	{ du -scb "$LOG" "${files[@]}" 2>/dev/null || true; } | tail -n 1
}

# Prints the test whose file was written last since the suite began, else the suite.
test_at_work() {
	local newest
	newest=$(written_files "$1" | head -n 1)
	[ "$newest" -nt "$TEMP_CONFIG" ] || newest=$LOG
	newest=${newest##*/regress_log_}
	basename "$newest" .out
}

end_group() {
	kill -TERM -- "-$1" 2>/dev/null || return 0
	sleep 10
	kill -KILL -- "-$1" 2>/dev/null || true
}

WATCHER=
stop_watching() {
	[ -n "$WATCHER" ] || return 0
	kill "$WATCHER" 2>/dev/null || true
	wait "$WATCHER" 2>/dev/null || true
	WATCHER=
}

# --- suites -----------------------------------------------------------------

# The Makefile's features beyond an ordinary build.
suite_build() {
	STATUS=0
	as_builder env PG_CONFIG="$PG_CONFIG" bash test/build.sh || STATUS=$?
	count_verdicts
}

# The library needs only libc at run time, and exports only the symbols that it must.
suite_links() {
	local foreign exported plain
	ldd "$TREE/simhash.so" || return
	foreign=$(ldd "$TREE/simhash.so" |
		awk '$1 !~ /^(.*\/)?(linux-vdso|libc\.|ld-linux|statically)[^\/]*$/')
	if [ -z "$foreign" ]; then count 1 0; else count 0 1; fi

	exported=$(nm -D --defined-only "$TREE/simhash.so" | awk '{ print $3 }') || return
	plain=$(grep -vxE '_PG_init|Pg_magic_func|(pg_finfo_)?simhash_.*' <<<"$exported" || true)
	echo "exported names that another library may have too: ${plain:-none}"
	if [ -z "$plain" ]; then count 1 0; else count 0 1; fi
}

# Files have no circular dependencies, names are unique, links lead somewhere, and lines
# are short.
suite_layout() {
	STATUS=0
	as_builder perl test/layout.pl || STATUS=$?
	count_verdicts
}

# The generator produces the committed Unicode tables from the data.
suite_tables() {
	local version
	version=$(dpkg-query -W -f '${Version}' unicode-data)
	if [ "${version%%-*}" != 15.0.0 ]; then
		skip "unicode-data is $version, the tables are of 15.0.0"
	elif as_builder perl src/text/unicode/generate.pl /usr/share/unicode \
		>"$WORK/log/tables.h" && diff "$WORK/log/tables.h" \
		"$TREE/src/text/unicode/tables.h"; then
		count 1 0
	else
		count 0 1
	fi
}

# The C functions alone, without a server.
suite_unit() {
	STATUS=0
	as_builder make -C test/unit check PG_CONFIG="$PG_CONFIG" || STATUS=$?
	count_verdicts
}

# The two lists of the Makefile, each on a server of its own: a snapshot of another session
# would keep dead rows, which index builds count and VACUUM removes.
suite_regress_1() {
	need_tests 'sql/*.sql' || return 0
	extension_make -s --eval="names: ; @echo \$(REGRESS)" names
	count_forgotten 'sql/*.sql'
	regress_list 1 "\$(REGRESS_1)"
}

suite_regress_2() {
	regress_list 2 "setup \$(REGRESS_2)" --load-extension=simhash
}

# Runs a list of pg_regress tests.  Arguments: number, names, options of pg_regress.
regress_list() {
	local OPTIONS="--outputdir=output_$1 ${3:-}"
	pgxs_suite ISOLATION= TAP_TESTS= REGRESS="$2"
	count_pg_regress
}

suite_isolation() {
	need_tests 'test/isolation/specs/*.spec' || return 0
	pgxs_suite REGRESS= TAP_TESTS=
	count_pg_regress
	count_forgotten 'test/isolation/specs/*.spec'
}

# A library built with the newest headers must load in every minor release of the major.
# So it must not call functions that a minor release added.  `nearest` and `jaccard_index` depend on a bug of
# old minor releases, which lose the ctid of rows that the executor reorders.
suite_oldest() {
	local SERVER=${OLDEST:-$WORK/oldest} status=0
	[ -d "$SERVER" ] || fetch_oldest "$PG_MAJOR" "$SERVER" || { skip "npm has no server of $PG_MAJOR"; return 0; }
	"$SERVER/bin/postgres" --version
	ln -sf "$("$PG_CONFIG" --bindir)/psql" "$SERVER/bin"
	cp "$TREE/simhash.so" "$SERVER/lib/postgresql"
	cp "$TREE/simhash.control" "$TREE"/src/sql/*.sql "$SERVER/share/postgresql/extension"
	write_settings
	count_lacking "$SERVER/bin/postgres"
	pgxs_suite ISOLATION= TAP_TESTS= bindir="$SERVER/bin" REGRESS="install setup tour nearest jaccard_index"
	status=$STATUS
	OPTIONS=--load-extension=simhash pgxs_suite ISOLATION= TAP_TESTS= bindir="$SERVER/bin" REGRESS=opclasses \
		REGRESS_OPTS="--inputdir=test/oldest --outputdir=output_oldest --encoding=UTF8 --no-locale"
	[ "$status" = 0 ] || STATUS=$status
	count_pg_regress
}

# Counts it as a failure if a server and its libraries lack symbols that the library needs.
# Those with a version are libc's.
count_lacking() {
	local lacking
	lacking=$(comm -23 \
		<(nm -D --undefined-only "$TREE/simhash.so" | awk '$1 == "U" && $2 !~ /@/ { print $2 }' | sort) \
		<({ echo "$1"; ldd "$1" | grep -o '/[^ ]*'; } | xargs nm -D --defined-only |
			awk '{ sub(/@.*/, "", $3); print $3 }' | sort)) || return
	echo "symbols that the server lacks: ${lacking:-none}"
	if [ -z "$lacking" ]; then count 1 0; else count 0 1; fi
}

# pg_regress with the server in valgrind.  Each error of valgrind is a failure.
suite_valgrind() {
	local postgres=${SERVER:-}/bin/postgres
	[ -n "${SERVER:-}" ] || { skip "only assertions.sh has a server for it"; return 0; }
	as_builder mkdir "$WORK/valgrind"
	as_builder mv "$postgres" "$postgres.native"
	# initdb runs the server with the options that stay native
	cat >"$postgres" <<-END
		#!/bin/sh
		case \$1 in -V | --boot | --check | --single) exec "$postgres.native" "\$@" ;; esac
		exec valgrind --quiet --suppressions="$SERVER/valgrind.supp" --log-file="$WORK/valgrind/%p" \\
			--error-markers=VALGRINDERROR-BEGIN,VALGRINDERROR-END "$postgres.native" "\$@"
	END
	chmod 755 "$postgres"
	pgxs_suite ISOLATION= TAP_TESTS=
	as_builder mv "$postgres.native" "$postgres"
	count_pg_regress
	cat "$WORK"/valgrind/*
	count 0 "$(cat "$WORK"/valgrind/* | grep -c VALGRINDERROR-BEGIN)"
}

suite_tap() {
	need_tests 'test/t/*.pl' || return 0
	pgxs_suite REGRESS= ISOLATION= PROVE_FLAGS="-j $(nproc)"
	count_prove
	note_skipped_files
	count_forgotten 'test/t/*.pl'
}

# The random joins of the suite `tap`, many more of them.
suite_joins() {
	SIMHASH_QUERIES=${SIMHASH_QUERIES:-5000} SIMHASH_FAILURES=${SIMHASH_FAILURES:-100} \
		pgxs_suite REGRESS= ISOLATION= PROVE_TESTS='test/t/037*.pl'
	count_prove
}

# docs/machines.md on Citus, which the server must have (citus.sh).
suite_citus() {
	pgxs_suite REGRESS= ISOLATION= PROVE_TESTS='test/citus/*.pl'
	count_prove
}

# The index with small pages: a few thousand rows make high trees, whose pages are often
# merged and reused.  This build also has a place where tests can pause a session
# (src/index/tree/link.c).  Runs tests of its own, and the other tests that benefit.
suite_small() {
	local specs
	build_small || return
	specs=$(cd "$TREE/test/small/specs" && printf '%s ' *.spec)
	pgxs_suite REGRESS= TAP_TESTS= ISOLATION="${specs//.spec/}" \
		ISOLATION_OPTS="--inputdir=test/small --load-extension=simhash"
	count_pg_regress
	pgxs_suite REGRESS= ISOLATION= PROVE_FLAGS="-j $(nproc)" \
		PROVE_TESTS='test/small/t/*.pl test/t/014*.pl test/t/031*.pl'
	count_prove
	note_skipped_files
	count_forgotten 'test/small/*/*.*'
	[ -z "${SERVER:-}" ] || TREE=$WORK/src build_extension
}

# The random tests of texts, crashes, standbys, full disks, damage and many sessions, again
# and again with new seeds, on ordinary and on small pages, for SOAK_MINUTES.  They run longer
# than in the other suites.
suite_soak() {
	local end=$((SECONDS + ${SOAK_MINUTES:-60} * 60))
	build_small || return
	while [ "$SECONDS" -lt "$end" ]; do
		soak_round src stage \
			'test/t/002*.pl test/t/011*.pl test/t/012*.pl test/t/014*.pl test/t/016*.pl
			test/t/021*.pl test/t/023*.pl test/t/029*.pl test/t/031*.pl test/t/037*.pl'
		soak_round small stage_small 'test/small/t/*.pl test/t/014*.pl test/t/031*.pl'
	done
}

# Runs tests once.  Arguments: tree, its installed files, patterns of tests.
soak_round() {
	local LOG=$WORK/log/round
	TREE=$WORK/$1 STAGE=$WORK/$2
	write_settings
	SIMHASH_SEED=$((RANDOM * 32768 + RANDOM + 1)) SIMHASH_DAMAGES=25 SIMHASH_SECONDS=8 SIMHASH_TEXTS=4000 \
		pgxs_suite REGRESS= ISOLATION= PROVE_TESTS="${3//$'\n'/ }" >"$LOG" 2>&1
	cat "$LOG"
	count_prove
}

# Builds in a tree of its own.  With SERVER, installs the build in place of the other
# one, for this suite.
build_small() {
	TREE=$WORK/small STAGE=$WORK/stage_small
	mkdir "$TREE"
	copy_sources
	write_settings
	FLAGS=-DSIMHASH_TEST_BUILD build_extension
}

need_tests() {
	compgen -G "$TREE/$1" >/dev/null || { skip "no $1"; return 1; }
}

# Runs one of the three suites of PGXS, on a server of its own.  The arguments disable
# the other two.  OPTIONS: further ones of pg_regress.  Keeps the exit status for the
# counts.
pgxs_suite() {
	STATUS=0
	extension_make installcheck "$@" EXTRA_REGRESS_OPTS="--temp-instance=$TREE/tmp_$(basename "$LOG") \
		--temp-config=$TEMP_CONFIG.regress ${OPTIONS:-}" || STATUS=$?
}

# Counts each test that is in the tree but not in the Makefile, and so never runs, as a
# failure.
count_forgotten() {
	local file name
	for file in "$TREE"/$1; do
		name=$(basename "${file%.*}")
		if ! grep -qE "(^|[ /])$name([ .]|\$)" "$LOG"; then
			echo "did not run: $name"
			count 0 1
		fi
	done
}

# --- the run ----------------------------------------------------------------

# Writes the settings of a suite's servers.
write_settings() {
	export TEMP_CONFIG=$WORK/${LOG##*/}.conf
	extension_settings >"$TEMP_CONFIG"
	# pg_regress compares plans, and the output of VACUUM.  A snapshot of autovacuum could
	# change both.
	{ cat "$TEMP_CONFIG"; echo "autovacuum = off"; } >"$TEMP_CONFIG.regress"
}

# Prints the last lines, however the run ends.  Argument: the exit status.
last_words() {
	sum_counts
	if [ "$TOTAL_FAILED" != 0 ]; then
		cat <<-END
			A failure is a defect, or something that this machine lacks: no test depends
			on how fast or how busy it is.  Do not use this build before it is explained;
			please report the lines between ---- with this one:
			$("$PG_CONFIG" --version), $(uname -srm), $(sed -n 's/^PRETTY_NAME=//p' /etc/os-release)
		END
	fi
	[ -z "$NOT_RUN" ] || say "$NOT_RUN"
	last_line "$1" "$TOTAL_PASSED" "$TOTAL_FAILED"
}

# Prints the packages that a suite needs.
packages_of() {
	case $1 in
	unit) echo libicu-dev pkgconf bzip2 unicode-data ;;
	tables) echo unicode-data ;;
	tap | small | citus | joins | soak) echo libipc-run-perl python3-xxhash ;;
	esac
}

main() {
	local suite suites=("$@") packages=()
	if [ "$*" = quick ]; then
		suites=("${QUICK[@]}")
		NOT_RUN="Not run: build, tables, tap, small (bash test/check.sh); the oldest minor release, the
newest major, fuzzing, programs in other languages (.ci/run)."
	fi
	[ $# != 0 ] || suites=("${SUITES[@]}")
	read -r -a suites <<<"${suites[*]/%regress/regress_1 regress_2}"
	for suite in "${suites[@]}"; do
		declare -F "suite_$suite" >/dev/null || die "no suite '$suite': quick ${SUITES[*]}"
		read -r -a packages <<<"${packages[*]} $(packages_of "$suite")"
	done
	prepare "${packages[@]}"
	# timeouts of PostgreSQL's own test programs: for a server, an event, a step
	export PGCTLTIMEOUT=$((SILENCE_LIMIT / 3)) PG_TEST_TIMEOUT_DEFAULT=$((SILENCE_LIMIT / 3))
	say "building for PostgreSQL $PG_MAJOR as $BUILDER"
	LOG=$WORK/log/build
	if ! build_extension >"$LOG" 2>&1; then
		excerpt tail "$LOG"
		die "the build failed"
	fi
	run_suites "${suites[@]}"
	sum_counts
	[ "$TOTAL_FAILED" = 0 ] && [ "$TOTAL_PASSED" != 0 ]
}

main "$@"
