#!/usr/bin/perl
# Prints the texts of a CSV file of package descriptions (name, title, text) in so many
# variants, as CSV: id, text.
#
#   variants.pl FILE VARIANTS
#
# From the second variant on, words get a suffix of the variant, except most of the three
# thousand most frequent ones.  So variants share frequent shingles, as unrelated documents
# do.  One in so many frequent words gets the suffix too.  Otherwise a text of a
# template, which has only frequent words, would be in all variants.
use strict;
use warnings;
use Digest::MD5 qw(md5);

my ($file, $variants) = @ARGV;
my $frequent = 3000;
my $changed = 4;

my $all = do { local $/; open my $csv, '<:raw', $file or die "$file: $!"; <$csv> };
my (@texts, %count);
push @texts, $1 while $all =~ /\G"(?:[^"]++|"")*+","(?:[^"]++|"")*+","((?:[^"]++|"")*+)"\n/g;
foreach (@texts) { $count{ lc $_ }++ for /\w+/g }
my @words = grep { defined } (sort { $count{$b} <=> $count{$a} || $a cmp $b } keys %count)[ 0 .. $frequent - 1 ];

my $id = 0;
foreach my $variant (0 .. $variants - 1)
{
	my %shared = map { $_ => 1 } grep { unpack('N', md5("$_ $variant")) % $changed } @words;
	foreach my $text (@texts)
	{
		my $copy = $text;
		$copy =~ s/(\w+)/$shared{lc $1} ? $1 : "$1q$variant"/ge if $variant;
		print ++$id, ",\"$copy\"\n";
	}
}
