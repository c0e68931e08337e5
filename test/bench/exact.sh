#!/bin/bash
# Measures exact resemblance: arrays of all shingle hashes, their index and their join,
# against signatures whose candidates resemblance() verifies.  The documents are the
# descriptions of all packages of Debian.  Prints processor times, and ratios of pairs in
# one run.  Runs on a temporary PostgreSQL server of its own.  The queries are in exact.sql.
#
#   bash test/bench/exact.sh                some 64,000 documents
#   VARIANTS=16 bash test/bench/exact.sh    a million: 15 more variants of each document
#   ROUNDS=3 ...                            pairs of a median, 5 by default
#   DOCUMENTS=FOLDER ...                    keeps the documents in FOLDER, and uses those
#                                           already there
set -euo pipefail

# shellcheck source-path=SCRIPTDIR source=../lib.sh
. "$(dirname "$0")/../lib.sh"

# Prints the texts of a CSV file in so many variants: id, text.  From the second variant
# on, all words but the thousand most frequent ones get a suffix.  So variants share their
# frequent shingles only, as unrelated documents do.
variants() {
	perl -e '
		my ($file, $variants) = @ARGV;
		local $/;
		open my $csv, "<:raw", $file or die;
		my $all = <$csv>;
		my (@texts, %count, $id);
		while ($all =~ /\G"(?:[^"]++|"")*+","(?:[^"]++|"")*+","((?:[^"]++|"")*+)"\n/g) {
			push @texts, $1;
		}
		foreach (@texts) { $count{lc $_}++ for /\w+/g; }
		my %frequent = map { $_ => 1 }
			grep { defined } (sort { $count{$b} <=> $count{$a} || $a cmp $b } keys %count)[0 .. 999];
		foreach my $variant (0 .. $variants - 1) {
			foreach my $text (@texts) {
				my $copy = $text;
				$copy =~ s/(\w+)/$frequent{lc $1} ? $1 : "$1q$variant"/ge if $variant;
				print ++$id, ",\"$copy\"\n";
			}
		}' "$1" "$2"
}

get_descriptions() {
	local folder=${DOCUMENTS:-$WORK/src}
	mkdir -p "$folder"
	[ -e "$folder/packages.csv" ] || bash "$ROOT/test/demo.sh" fetch "$folder"
	variants "$folder/packages.csv" "${VARIANTS:-1}" >"$WORK/src/variants.csv"
}

main() {
	# shellcheck disable=SC2119
	prepare
	get_descriptions
	SHARED_BUFFERS=${SHARED_BUFFERS:-4GB} build_and_start
	demo_psql -v rounds="${ROUNDS:-5}" -v csv="$WORK/src/variants.csv" -f test/bench/exact.sql
}

main
