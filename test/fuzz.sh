#!/bin/bash
# Fuzzes the extension with libFuzzer, AddressSanitizer and UndefinedBehaviorSanitizer: text
# in several encodings, arrays, input and received values, states of aggregates, and damaged
# pages.  A target is a statement (fuzz/targets.txt), whose parameters libFuzzer chooses.
#
#   bash test/fuzz.sh 60                  an hour for all targets, on each core
#   bash test/fuzz.sh 5 page_check state  these targets
#   CORPUS=FOLDER ...                     keeps the inputs in FOLDER, and begins with those there
#   COVERAGE=yes ...                      ends with the lines covered, by all targets together
#
# A finding is a report of a sanitizer, an internal error, a false assertion, or 30 seconds
# without an end.  Its input is kept in FINDINGS (default: the temporary directory).  The
# last line is the total of targets.
set -euo pipefail

# shellcheck source-path=SCRIPTDIR source=lib.sh
. "$(dirname "$0")/lib.sh"

ENCODINGS=(UTF8 LATIN1 EUC_JP SQL_ASCII)
FINDINGS=${FINDINGS:-$(mktemp -d --tmpdir simhash-findings.XXXXXX)}
SANITIZERS="-O1 -g -fsanitize=fuzzer-no-link,address,undefined -fno-sanitize-recover=undefined -shared-libasan"
PASSED=0 FAILED=0

# Links libFuzzer without its main() to a library.  It is loaded before the sanitizers'
# library, which has empty functions of the same names.
build_runtime() {
	local archive
	archive=$(clang -print-file-name="libclang_rt.fuzzer_no_main-$(uname -m).a")
	[ -f "$archive" ] || return 1
	as_builder clang -shared -fPIC test/fuzz/quiet.c -o "$WORK/quiet.so" &&
		as_builder clang++ -shared -Wl,--whole-archive "$archive" -Wl,--no-whole-archive -lpthread \
			-o "$WORK/runtime.so" &&
		as_builder clang -g -O1 -fPIC -shared -Wno-everything \
			"-I$("$PG_CONFIG" --includedir-server)" test/fuzz/fuzz.c -o "$WORK/fuzz.so"
}

build_with_sanitizers() {
	local target
	for target in all install; do
		extension_make -s -j "$CORES" CC=clang PG_LDFLAGS="-fsanitize=address,undefined -shared-libasan $PROFILE" \
			DESTDIR="$STAGE" "$target" || return
	done
	build_runtime
}

# Reads statements in single-user mode.  Arguments: data directory, database.
run_single() {
	local data=$1 database=$2
	as_builder env \
		LD_PRELOAD="$WORK/runtime.so $(clang -print-runtime-dir)/libclang_rt.asan-$(uname -m).so $WORK/quiet.so" \
		ASAN_OPTIONS=verify_asan_link_order=0:detect_leaks=0:abort_on_error=1:detect_stack_use_after_return=0 \
		UBSAN_OPTIONS=print_stacktrace=1 LLVM_PROFILE_FILE="$WORK/profiles/%p" \
		sh -c "exec '$("$PG_CONFIG" --bindir)/postgres' --single -D '$data' '$database' <'$data.sql'"
}

# Makes a cluster with a database for each encoding.
make_cluster() {
	local encoding
	as_builder "$("$PG_CONFIG" --bindir)/initdb" -D "$WORK/data" -E UTF8 --no-locale -A trust -N
	{
		extension_settings
		printf '%s\n' "shared_preload_libraries = '$WORK/fuzz, $STAGE$("$PG_CONFIG" --pkglibdir)/simhash'" \
			"fsync = off" "jit = off" "enable_seqscan = off" "enable_sort = off" "log_checkpoints = off"
	} >>"$WORK/data/postgresql.conf"
	for encoding in "${ENCODINGS[@]}"; do
		echo "CREATE DATABASE \"$encoding\" ENCODING '$encoding' LOCALE 'C' TEMPLATE template0"
	done >"$WORK/data.sql"
	run_single "$WORK/data" postgres
	sed "s|MODULE|$WORK/fuzz|" test/fuzz/setup.sql >"$WORK/data.sql"
	for encoding in "${ENCODINGS[@]}"; do
		run_single "$WORK/data" "$encoding"
	done
}

# Prints name, encoding, types and statement of each target, separated by tabs.
list_targets() {
	local name types statement encoding encodings
	while IFS=: read -r name types statement; do
		[[ $# = 0 || " $* " = *" $name "* ]] || continue
		encodings=("${ENCODINGS[0]}")
		[[ $name != text_* ]] || encodings=("${ENCODINGS[@]}")
		for encoding in "${encodings[@]}"; do
			printf '%s\t%s\t%s\t%s\n' "$name" "$encoding" "${types// /}" "${statement//\'/\'\'}"
		done
	done < <(grep -v '^#' test/fuzz/targets.txt)
}

# Runs every nth target of the list, each on a new copy of the cluster.  Arguments: number
# of this process, seconds for each.
run_targets() {
	local name encoding types statement n=0 corpus log options
	while IFS=$'\t' read -r name encoding types statement; do
		[ $((n++ % CORES)) = "$1" ] || continue
		corpus=$CORPUS/$name log=$WORK/log/$name.$encoding
		rm -rf "$WORK/data$1"
		cp -a "$WORK/data" "$WORK/data$1"
		options="-max_total_time=$2,-max_len=2048,-timeout=30,-rss_limit_mb=4096"
		options+=",-artifact_prefix=$WORK/findings/$name.$encoding-,$corpus"
		echo "SELECT fuzz('$statement', '{$types}', '{$options}')" >"$WORK/data$1.sql"
		if run_single "$WORK/data$1" "$encoding" >"$log" 2>&1 && grep -q 'DONE' "$log"; then
			echo passed >"$log.verdict"
		else
			echo failed >"$log.verdict"
		fi
	done <"$WORK/targets"
}

# Unpacks the seeds: lines of a target and bytes in hexadecimal.
unpack_seeds() {
	local name bytes n=0
	while read -r name bytes; do
		mkdir -p "$CORPUS/$name"
		n=$((n + 1))
		perl -e 'print pack "H*", $ARGV[0]' "$bytes" >"$CORPUS/$name/seed$n"
	done <test/fuzz/seeds.txt
	cut -f1 "$WORK/targets" | sed "s|^|$CORPUS/|" | xargs mkdir -p
	chown -R "$BUILDER" "$CORPUS"
}

show_verdicts() {
	local name encoding log done='s/^#\([0-9]*\)\tDONE *cov: \([0-9]*\).*/\1 runs, \2 edges covered/p'
	while IFS=$'\t' read -r name encoding _; do
		log=$WORK/log/$name.$encoding
		printf '%-18s %-9s %s\n' "$name" "$encoding" "$(sed -n "$done" "$log")"
		if [ "$(cat "$log.verdict" 2>/dev/null)" = passed ]; then
			PASSED=$((PASSED + 1))
		else
			FAILED=$((FAILED + 1))
			grep -aE -A 12 'finding:|ERROR: |runtime error' "$log" | head -n 30 || tail -n 20 "$log"
		fi
	done <"$WORK/targets"
	if [ -n "$(ls -A "$WORK/findings")" ]; then
		mkdir -p "$FINDINGS"
		cp "$WORK/findings"/* "$FINDINGS"
		say "inputs: $FINDINGS"
	fi
	say "of $(sed -n 's/.*Loaded 1 modules *(\([0-9]*\) inline.*/\1/p' "$WORK"/log/*.UTF8 | head -n 1) edges"
}

show_coverage() {
	local tools
	tools=$(dirname "$(realpath "$(command -v clang)")")
	"$tools/llvm-profdata" merge -o "$WORK/profile" "$WORK"/profiles/* &&
		"$tools/llvm-cov" report "$TREE/simhash.so" -instr-profile="$WORK/profile" \
			-show-region-summary=false -show-branch-summary=false "$TREE/src"
}

last_words() {
	rmdir "$FINDINGS" 2>/dev/null || true # nothing was found
	last_line "$1" "$PASSED" "$FAILED"
}

main() {
	local minutes=$1 i targets
	shift
	make_workspace
	need_packages clang
	need_packages clang "libclang-rt-$(clang -dumpversion | cut -d. -f1)-dev"
	choose_builder
	copy_sources
	CORES=$(nproc) CORPUS=${CORPUS:-$WORK/corpus}
	mkdir -p "$WORK/findings" "$CORPUS"
	chown "$BUILDER" "$WORK/findings" "$WORK"
	WARNINGS="-Wno-everything" # those of gcc are seen to by check.sh
	say "building with sanitizers"
	PROFILE=${COVERAGE:+-fprofile-instr-generate -fcoverage-mapping}
	FLAGS="$SANITIZERS $PROFILE"
	build_with_sanitizers >"$WORK/log/build" 2>&1 || { tail -n 20 "$WORK/log/build"; die "the build failed"; }
	make_cluster >"$WORK/log/cluster" 2>&1 || { tail -n 20 "$WORK/log/cluster"; die "no server"; }
	list_targets "$@" >"$WORK/targets"
	targets=$(wc -l <"$WORK/targets")
	unpack_seeds
	say "fuzzing $targets targets"
	for ((i = 0; i < CORES; i++)); do
		run_targets "$i" $((minutes * 60 * CORES / targets + 1)) &
	done
	wait
	show_verdicts
	[ -z "$PROFILE" ] || show_coverage
	[ "$FAILED" = 0 ]
}

main "${@:-1}"
