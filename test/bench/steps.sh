# Steps of a benchmark, each with its time and the server's memory.  Sourced after
# test/lib.sh.
# shellcheck shell=bash

# Samples the memory of the server's sessions and workers, without shared memory, and
# writes the maximum in kB to a file.  Runs until it is stopped.
watch_memory() {
	local server pids size now most=0 ending=
	trap 'ending=yes' TERM
	server=$(head -n 1 "$WORK/data/postmaster.pid")
	until [ -n "$ending" ]; do
		read -ra pids <"/proc/$server/task/$server/children" || true
		now=0
		while read -r _ size _; do
			now=$((now + size))
		done < <(grep -hs '^RssAnon' $(printf "/proc/%s/status " "${pids[@]}") || true)
		[ "$now" -le "$most" ] || most=$now
		sleep 0.1
	done
	echo "$most" >"$WORK/log/memory"
}

# Runs a command.  Sets SECONDS_TAKEN and KILOBYTES.
measure() {
	local started watcher
	watch_memory &
	watcher=$!
	started=$EPOCHREALTIME
	"$@"
	SECONDS_TAKEN=$(awk "BEGIN { print $EPOCHREALTIME - $started }")
	kill "$watcher"
	wait "$watcher" || true
	KILOBYTES=$(cat "$WORK/log/memory")
}
