#!/bin/bash
# Repeats the random tests with new seeds, for some hours: crashes by SIGKILL and at each
# record, standbys, full disks, damaged pages, many sessions, joins.  Each compares the
# index with a sequential scan.  Texts are compared with test/reference.  Runs on ordinary and
# on small pages.
#
#   bash test/soak.sh       1 hour
#   bash test/soak.sh 8     8 hours
#
# The last line is the total.  A failure shows the seed with which to repeat it.
SOAK_MINUTES=$((${1:-1} * 60)) exec bash "$(dirname "$0")/check.sh" soak
