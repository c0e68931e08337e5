#!/usr/bin/perl
# Makes a corpus of real documents in which all near-duplicates are known.
#
#   documents.pl ROWS SEED FILE.csv... >corpus 3>truth
#
# The files have name, title and text.  Long texts are split into passages of about 350
# bytes.  Originals are passages that have almost nothing in common with others.  Some
# of them have edited copies, so that a family has 1 to 50 members.  Writes the rows for
# COPY, id and body, in random order.  Writes the truth: id, family, edit.
use strict;
use warnings;
use Digest::MD5 qw(md5);
use List::Util qw(min shuffle);

my ($rows, $seed, @files) = @ARGV;
die "usage: documents.pl ROWS SEED FILE.csv...\n" unless @files;
srand($seed);
binmode(STDOUT, ':raw');
open(my $truth, '>&=', 3) or die "no file 3 for the truth: $!\n";

# --- originals -----------------------------------------------------------------

sub texts
{
	my ($name) = @_;
	open(my $file, '<:raw', $name) or die "$name: $!\n";
	local $/;
	my $csv = <$file>;
	my @texts;

	while ($csv =~ /\G"(?:[^"]++|"")*+","(?:[^"]++|"")*+","((?:[^"]++|"")*+)"\n/g)
	{
		push @texts, $1 =~ s/""/"/gr;
	}
	return @texts;
}

# Returns passages of whole lines, of 200 to 500 bytes.
sub passages
{
	my ($text) = @_;
	my @passages = ('');
	my $size = 200 + int(rand(300));

	return $text if length($text) <= 700;
	foreach my $line (split /\n/, $text)
	{
		$line =~ s/\s+/ /g;
		next if $line !~ /\w/;
		if (length($passages[-1]) > 0 && length($passages[-1]) + length($line) > $size)
		{
			push @passages, '';
			$size = 200 + int(rand(300));
		}
		$passages[-1] .= "$line\n";
	}
	return grep { length($_) >= 100 && length($_) <= 1000 } @passages;
}

# A text is new if less than a fifth of its shingles of four words occur in earlier
# ones.  Only shingles that begin with a long word are compared.  Each sets a bit of a
# filter, with false positives of one in a hundred.
my $bits = 2**30;
my $seen = '';
vec($seen, $bits - 1, 1) = 0;
sub is_new
{
	my @words = split /\W+/, lc($_[0]);
	my @places = map { unpack('L', md5("@words[$_ .. $_ + 3]")) % $bits }
	  grep { length($words[$_]) > 5 } 0 .. @words - 4;
	my $known = grep { vec($seen, $_, 1) } @places;

	return 0 if @places < 4;
	vec($seen, $_, 1) = 1 foreach @places;
	return $known < @places / 5;
}

my @originals = grep { is_new($_) } shuffle(map { passages($_) } map { texts($_) } @files);

# --- edits -----------------------------------------------------------------------

my @vocabulary = map { $_->[0] } map { [ /(\w{3,})/ ] } @originals[0 .. 9999];
sub some_word { return $vocabulary[ rand @vocabulary ] // 'another' }

# Returns a random position of a word, in a list that alternates words and separators.
sub some_place { return 2 * int(rand(@{ $_[0] } / 2)) }

# Replaces, removes or adds a fraction of a text's words, at least one.
sub change
{
	my ($text, $share, $what) = @_;
	my @parts = split /(\W+)/, $text;

	foreach (1 .. 1 + int($share * @parts / 2))
	{
		my $place = some_place(\@parts);

		if ($what eq 'replaced') { $parts[$place] = some_word() }
		elsif ($what eq 'removed') { splice(@parts, $place, 2) }
		else { splice(@parts, $place, 0, some_word(), ' ') }
	}
	return join('', grep { defined } @parts);
}

my %edits = (
	'as it is' => sub { $_[0] },
	'case, punctuation, line breaks' => sub { uc($_[0]) =~ s/[.,;:]?\s+/rand(3) < 1 ? "\n" : ' - '/ger },
	'a word replaced' => sub { change($_[0], 0, 'replaced') },
	'2% to 4% of the words replaced' => sub { change($_[0], 0.02 + rand(0.02), 'replaced') },
	'up to 4% of the words removed' => sub { change($_[0], rand(0.04), 'removed') },
	'up to 4% of words inserted' => sub { change($_[0], rand(0.04), 'inserted') },
	'a line moved to the end' => sub {
		my @lines = split /\n/, $_[0];
		push @lines, splice(@lines, rand(@lines), 1);
		join("\n", @lines);
	},
	'a notice of 5 words added' => sub { "$_[0] " . join(' ', map { some_word() } 1 .. 5) });
my @kinds = sort keys %edits;

# Returns a random size of a family.  Half of the originals have no copies.
sub family_size { return rand() < 0.5 ? 1 : 2 + int(49 * rand()**4) }

my @documents;
my $family = 0;
while (@documents < $rows)
{
	my $original = $originals[ $family++ ] // die "only " . @documents . " rows: too few documents\n";

	push @documents, [ $original, $family, 'original' ];
	foreach (2 .. min(family_size(), $rows - @documents + 1))
	{
		my $kind = $kinds[ rand @kinds ];

		push @documents, [ $edits{$kind}->($original), $family, $kind ];
	}
}

my %escape = ("\\" => '\\\\', "\n" => '\n', "\r" => '\r', "\t" => '\t');
my $id = 0;
foreach my $document (shuffle @documents)
{
	my ($body, @known) = @$document;

	$id++;
	print "$id\t", $body =~ s/([\\\n\r\t])/$escape{$1}/gr, "\n";
	print $truth join("\t", $id, @known), "\n";
}
