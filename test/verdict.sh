# shellcheck shell=bash
# Counts the tests of a script: build.sh and package.sh source this file.
PASSED=0 FAILED=0

# verdict NAME COMMAND...: the test passes if the command succeeds.
verdict() {
	local name=$1
	shift
	if "$@"; then
		echo "ok - $name"
		PASSED=$((PASSED + 1))
	else
		echo "not ok - $name"
		FAILED=$((FAILED + 1))
	fi
}
