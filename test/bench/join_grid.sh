#!/bin/bash
# Measures whether the planner chooses well among similarity joins, index searches and
# nested loops: over a grid of sizes, radii, shapes, limits, with an index and without.
# Each cell times the chosen plan and the others.  Prints the cells where the chosen plan
# takes more than twice the time of the best one and 10 ms.  Runs on a temporary PostgreSQL
# server of its own.  The queries are in join_grid.sql.
#
#   bash test/bench/join_grid.sh                          up to 1 million rows: hours
#   ROWS='10x10 1000x1000' RADII='0 8' bash test/bench/join_grid.sh
#   KINDS='inner left semi anti' MEMORY=64kB WORKERS=2 bash test/bench/join_grid.sh
set -euo pipefail

# shellcheck source-path=SCRIPTDIR source=../lib.sh
. "$(dirname "$0")/../lib.sh"

main() {
	# shellcheck disable=SC2119
	prepare
	SHARED_BUFFERS=${SHARED_BUFFERS:-2GB} build_and_start
	demo_psql -v sizes="${ROWS:-10x10 1000x1000 30000x30000 1000000x1000000 100x1000000 1000000x100 1000x30000}" \
		-v radii="${RADII:-0 3 8 12 20}" -v shapes="${SHAPES:-uniform families constant}" \
		-v limits="${LIMITS:-1 100 all}" -v kinds="${KINDS:-inner}" -v indexes="${INDEXES:-yes no}" \
		-v memory="${MEMORY:-4MB}" -v workers="${WORKERS:-0}" -v seconds="${SECONDS_MAX:-30}" \
		-f test/bench/join_grid.sql
}

main
