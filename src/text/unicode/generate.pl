#!/usr/bin/perl
#
# Generate the normalizer's tables from the Unicode Character Database.
#
# Usage: perl generate.pl DIRECTORY >tables.h
#
# DIRECTORY has the files of the database, version 15.0.0, in the layout that
# Unicode publishes.  Debian's package unicode-data of that version installs
# them in /usr/share/unicode.  Statistics go to stderr.
#
# Fingerprints are stored data and depend on these tables.  So the version is
# fixed, and files of any other version raise an error.

use strict;
use warnings;

use Digest::SHA;

my $UNICODE_VERSION = '15.0.0';

# UnicodeData.txt is the only file that does not contain its version.
my $UNICODE_DATA_SHA256 =
  '806e9aed65037197f1ec85e12be6e8cd870fc5608b4de0fffd990f689f376a73';

use constant {
	MAX_CODEPOINT => 0x10FFFF,
	PAGE_SHIFT    => 7,
	PAGE_SIZE     => 128,
	YPOGEGRAMMENI => 0x0345,

	# Table values below this are token classes.
	FIRST_RECORD => 8,

	# The normalizer's buffers have a capacity for mappings of this length.
	MAX_MAPPING => 18,
};

# In the order of the enum in normalize.h
my @CLASS_NAMES =
  qw(TOKEN_SPACE TOKEN_SYMBOL TOKEN_WORD TOKEN_SINGLE TOKEN_MARK);
my ($SPACE, $SYMBOL, $WORD, $SINGLE, $MARK) = (0 .. $#CLASS_NAMES);

# By code point.  Absent code points have the defaults: category Cn, class 0,
# no decomposition, NFKC_CF itself.
my (@category, %ccc, %decomposition, %nfkc_cf);

# By name or value of the property, then by code point.
my ($normalization, $property, $script, $script_extensions, $line_break);

# All mappings, one after another and overlapping where possible, as a string
# of Perl characters; and the offset of each mapping in it.
my $mapping_pool   = '';
my %mapping_offset = ('' => 0);

my $total_bytes = 0;

die "usage: $0 DIRECTORY >tables.h\n" if @ARGV != 1;
main($ARGV[0]);

sub main
{
	my ($directory) = @_;

	read_database($directory);
	check_assumptions();

	my ($info, $decompositions) = describe_codepoints();
	my $compositions = list_compositions();

	pack_mappings(
		(map { $_->{mapping} } grep { ref } @$info),
		(map { $_->[1] } @$decompositions));
	my ($values,     $records) = number_records($info);
	my ($page_index, $pages)   = split_pages($values);

	print_head();
	print_pages($page_index, $pages);
	print "\n";
	print_array('UnicodeRecord', 'unicode_record', 6, @$records);
	print_mappings();
	print_pairs($decompositions, $compositions);
	print "\n#endif\t\t\t\t\t\t\t/* UNICODE_TABLES_H */\n";
	printf STDERR "%-22s %22d bytes\n", 'total', $total_bytes;
}

#
# Reading the database
#

sub read_database
{
	my ($directory) = @_;

	read_unicode_data($directory);

	$normalization = read_properties($directory, 'DerivedNormalizationProps');
	$property      = read_properties($directory, 'PropList');
	$script        = read_properties($directory, 'Scripts');
	$script_extensions = read_properties($directory, 'ScriptExtensions');
	$line_break        = read_properties($directory, 'LineBreak');

	foreach my $cp (keys %{ $normalization->{NFKC_CF} })
	{
		$nfkc_cf{$cp} =
		  [ map { hex } split ' ', $normalization->{NFKC_CF}{$cp} ];
	}
}

# Read general category, combining class and canonical decomposition.
sub read_unicode_data
{
	my ($directory) = @_;
	my $file = "$directory/UnicodeData.txt";
	my $range_start;

	open(my $fh, '<', $file) or die "could not open \"$file\": $!\n";
	my $digest = Digest::SHA->new(256)->addfile($fh)->hexdigest;
	$digest eq $UNICODE_DATA_SHA256
	  or die "\"$file\" is not that of Unicode $UNICODE_VERSION: "
	  . "its SHA-256 is $digest\n";

	seek($fh, 0, 0);
	while (my $line = <$fh>)
	{
		my ($code, $name, $gc, $class, undef, $mapping) = split /;/, $line;
		my $cp = hex $code;

		# A large uniform block has only its first and last code points here.
		if ($name =~ /, First>$/)
		{
			$range_start = $cp;
			next;
		}
		foreach my $member (($range_start // $cp) .. $cp)
		{
			$category[$member] = $gc;
			$ccc{$member} = $class if $class != 0;
		}
		undef $range_start;

		# A tag in angle brackets marks a compatibility decomposition.
		$decomposition{$cp} = [ map { hex } split ' ', $mapping ]
		  if $mapping =~ /^[0-9A-F]/;
	}
	close($fh);
}

# Read a file of lines "range ; property or value [; value] # comment".
sub read_properties
{
	my ($directory, $name) = @_;
	my $file = "$directory/$name.txt";
	my %result;

	open(my $fh, '<', $file) or die "could not open \"$file\": $!\n";
	my $title = "# $name-$UNICODE_VERSION.txt";
	(<$fh> // '') =~ /^\Q$title\E\s*$/
	  or die "\"$file\" is not that of Unicode $UNICODE_VERSION: "
	  . "its first line is not \"$title\"\n";

	while (my $line = <$fh>)
	{
		$line =~ s/\s*(#.*)?$//s;
		next if $line eq '';
		my ($range, $key, $value) = split /\s*;\s*/, $line, -1;
		$range =~ /^([0-9A-F]+)(?:\.\.([0-9A-F]+))?$/
		  or die "unexpected line in \"$file\": $line\n";
		foreach my $cp (hex($1) .. hex($2 // $1))
		{
			$result{$key}{$cp} = $value // '';
		}
	}
	close($fh);
	return \%result;
}

#
# Properties of one code point
#

# Return the token class of a code point.
sub token_class
{
	my ($cp) = @_;
	my $gc = $category[$cp] // 'Cn';

	return $SPACE if exists $property->{White_Space}{$cp};
	return $MARK  if $gc =~ /^M/;

	# Code points unassigned in this version, or for private use, are more
	# likely letters than anything else.
	return $WORD   if $gc eq 'Cn' || $gc eq 'Co';
	return $SYMBOL if $gc !~ /^[LN]/;

	return $SINGLE
	  if exists $property->{Ideographic}{$cp} || exists $script->{Han}{$cp};
	return $WORD if $gc !~ /^L/;

	# Kana, and letters shared by kana and ideographs only, such as the
	# prolonged sound mark
	return $SINGLE
	  if exists $script->{Hiragana}{$cp} || exists $script->{Katakana}{$cp};
	return $SINGLE
	  if exists $script->{Common}{$cp}
	  && grep { exists $script_extensions->{$_}{$cp} }
	  ('Hani', 'Hira Kana', 'Hani Hira Kana');

	# SA ("complex context"): South-East Asian scripts without spaces
	return exists $line_break->{SA}{$cp} ? $SINGLE : $WORD;
}

# Return the full canonical decomposition of a list of code points, in
# canonical order.
sub nfd
{
	my @result = map { decompose($_) } @_;

	for (my $i = 1; $i < @result; $i++)
	{
		my $class = $ccc{ $result[$i] } // next;
		for (my $j = $i; $j > 0; $j--)
		{
			last if ($ccc{ $result[ $j - 1 ] } // 0) <= $class;
			@result[ $j - 1, $j ] = @result[ $j, $j - 1 ];
		}
	}
	return @result;
}

# Return the full canonical decomposition of a code point.
sub decompose
{
	my ($cp) = @_;

	# Hangul syllables, by arithmetic: section 3.12 of the Unicode Standard
	if ($cp >= 0xAC00 && $cp <= 0xD7A3)
	{
		my $index = $cp - 0xAC00;
		my $final = $index % 28;

		return (
			0x1100 + int($index / (21 * 28)),
			0x1161 + int($index / 28) % 21,
			$final != 0 ? 0x11A7 + $final : ());
	}
	return $cp if !defined $decomposition{$cp};
	return map { decompose($_) } @{ $decomposition{$cp} };
}

# Return the mapping of a code point: every character of its canonical
# decomposition, case-folded and decomposed again.  This order of steps maps
# canonical equivalents to the same string.  But U+0345 COMBINING GREEK
# YPOGEGRAMMENI folds to a letter, and no mark of its run may be left after
# that letter.  So U+0345 stays, until the normalizer has ordered the marks.
sub mapping
{
	my ($cp) = @_;
	return
	  map { $_ == YPOGEGRAMMENI ? $_ : nfd(@{ $nfkc_cf{$_} // [$_] }) }
	  nfd($cp);
}

sub to_string
{
	return join '', map { chr } @_;
}

#
# Building the tables
#

# Check what the normalizer relies on.  A version of Unicode in which a check
# fails would need another normalizer.
sub check_assumptions
{
	die "U+0345 does not fold to U+03B9\n"
	  if "@{ $nfkc_cf{ +YPOGEGRAMMENI } }" ne 0x03B9;

	foreach my $cp (sort { $a <=> $b } keys %nfkc_cf)
	{
		my $name = sprintf 'U+%04X', $cp;

		die "$name has a combining class, but NFKC_CF changes it\n"
		  if exists $ccc{$cp}
		  && !defined $decomposition{$cp}
		  && $cp != YPOGEGRAMMENI;
		die "NFKC_CF of $name is not stable\n"
		  if grep { defined $nfkc_cf{$_} } @{ $nfkc_cf{$cp} };
	}
}

# Return for each code point its token class or a reference to its record,
# and the list of the canonical decompositions that are not part of a record.
sub describe_codepoints
{
	my (@info, @decompositions);

	foreach my $cp (0 .. MAX_CODEPOINT)
	{
		my $class    = token_class($cp);
		my $ccc      = $ccc{$cp} // 0;
		my $combines = $ccc != 0 || exists $normalization->{NFC_QC}{$cp};

		if ($combines || defined $nfkc_cf{$cp})
		{
			my $mapping = to_string(mapping($cp));

			$info[$cp] = {
				class    => $class,
				ccc      => $ccc,
				combines => $combines,
				mapping  => $mapping eq chr($cp) ? undef : $mapping
			};
			next;
		}

		$info[$cp] = $class;
		if (defined $decomposition{$cp})
		{
			my $mapping = to_string(mapping($cp));

			die sprintf("U+%04X folds differently when decomposed\n", $cp)
			  if $mapping ne to_string(nfd($cp));
			push @decompositions, [ $cp, $mapping ];
		}
	}
	return (\@info, \@decompositions);
}

# Return the primary composites, [ first, second, composite ], in order.
sub list_compositions
{
	my @compositions;

	foreach my $cp (keys %decomposition)
	{
		my @parts = @{ $decomposition{$cp} };
		next if exists $normalization->{Full_Composition_Exclusion}{$cp};
		die sprintf("U+%04X composes of other than two\n", $cp)
		  if @parts != 2;
		push @compositions, [ @parts, $cp ];
	}
	return [ sort { $a->[0] <=> $b->[0] || $a->[1] <=> $b->[1] }
		  @compositions ];
}

# Lay out the mappings, the longest first, so that shorter ones are found
# inside longer ones.
sub pack_mappings
{
	my %distinct = map { $_ => 1 } grep { defined } @_;

	foreach my $mapping (
		sort { length($b) <=> length($a) || $a cmp $b }
		keys %distinct)
	{
		my $offset = index($mapping_pool, $mapping);

		if ($offset < 0)
		{
			# The end of the pool may be the start of this one.
			my $overlap = length($mapping) - 1;
			$overlap--
			  while $overlap > 0
			  && substr($mapping_pool, -$overlap) ne
			  substr($mapping, 0, $overlap);
			$offset = length($mapping_pool) - $overlap;
			$mapping_pool .= substr($mapping, $overlap);
		}
		$mapping_offset{$mapping} = $offset;

		die "a mapping is too long\n" if length($mapping) > MAX_MAPPING;
	}
	die "too many mappings\n" if length($mapping_pool) > 0xFFFF;
}

# Turn token classes and records into the values of the two-stage table.
sub number_records
{
	my ($info) = @_;
	my (@values, @records, %known);

	foreach my $item (@$info)
	{
		if (!ref $item)
		{
			push @values, $item;
			next;
		}
		my $mapping = $item->{mapping};
		my $record  = sprintf '{%s, %d, %s, %s, %d}',
		  $CLASS_NAMES[ $item->{class} ], $item->{ccc},
		  defined $mapping  ? length($mapping) : 'UNICODE_SELF',
		  $item->{combines} ? 'true'           : 'false',
		  $mapping_offset{ $mapping // '' };

		if (!defined $known{$record})
		{
			$known{$record} = @records;
			push @records, $record;
		}
		push @values, FIRST_RECORD + $known{$record};
	}
	die "too many records\n" if FIRST_RECORD + @records > 0x10000;
	return (\@values, \@records);
}

# Return for each page of code points the number of its contents, and the
# list of distinct contents: [ first code point, values ].
sub split_pages
{
	my ($values) = @_;
	my (@page_index, @pages, %known);

	for (my $start = 0; $start <= MAX_CODEPOINT; $start += PAGE_SIZE)
	{
		my @page = @$values[ $start .. $start + PAGE_SIZE - 1 ];
		my $key  = join ',', @page;

		if (!defined $known{$key})
		{
			$known{$key} = @pages;
			push @pages, [ $start, \@page ];
		}
		push @page_index, $known{$key};
	}
	return (\@page_index, \@pages);
}

#
# Output
#

# Print the items of an array, separated by commas, in indented lines of
# limited width.  An item that is a comment has a line of its own.  Prints the
# size of the array to stderr.
sub print_array
{
	my ($type, $name, $width, @items) = @_;
	my $count = grep { !m{^/\*} } @items;
	my $bytes = $count * $width;
	my $line  = '';

	print "static const $type $name\[$count] =\n{\n";
	foreach my $item (@items)
	{
		my $is_comment = $item =~ m{^/\*};

		if ($line ne '' && ($is_comment || length("$line $item,") > 92))
		{
			print "\t$line\n";
			$line = '';
		}
		if ($is_comment)
		{
			print "\t$item\n";
			next;
		}
		$line .= ' ' if $line ne '';
		$line .= "$item,";
	}
	print "\t$line\n};\n";

	printf STDERR "%-22s %6d entries %7d bytes\n", $name, $count, $bytes;
	$total_bytes += $bytes;
}

sub print_head
{
	my $max_mapping = MAX_MAPPING;

	print <<"HEAD";
/*
 * tables.h
 *	  Tables for normalizing and tokenizing text.
 *
 * Generated by generate.pl from the Unicode Character Database, version
 * $UNICODE_VERSION: UnicodeData.txt, DerivedNormalizationProps.txt, PropList.txt,
 * Scripts.txt, ScriptExtensions.txt and LineBreak.txt.  Do not edit.
 *
 * The data these tables are derived from are Copyright (c) 1991-2022 Unicode,
 * Inc., used under the Unicode License of their time (SPDX: Unicode-DFS-2016),
 * provided "as is".  The notice is in debian/copyright.
 *
 * A file that includes this must declare TokenClass, bool, uint8, uint16 and
 * uint32 first.
 */
#ifndef UNICODE_TABLES_H
#define UNICODE_TABLES_H

#define UNICODE_VERSION_STRING "$UNICODE_VERSION"

#define UNICODE_SELF 0xFF		/* in place of a mapping's length */
#define UNICODE_MAX_MAPPING $max_mapping	/* length of the longest mapping */

typedef struct UnicodeRecord
{
	uint8		class;			/* token class of the code point itself */
	uint8		ccc;			/* its canonical combining class */
	uint8		length;			/* length of its mapping: 0 if it is dropped,
								 * UNICODE_SELF if it maps to itself */
	bool		combines;		/* may combine with the code point before it */
	uint16		offset;			/* offset of its mapping in unicode_mapping */
} UnicodeRecord;

/* A canonical decomposition, in full */
typedef struct UnicodeDecomposition
{
	uint32		codepoint;
	uint16		offset;			/* offset in unicode_mapping */
	uint8		length;
} UnicodeDecomposition;

typedef struct UnicodeComposition
{
	uint32		first;
	uint32		second;
	uint32		composite;
} UnicodeComposition;
HEAD
}

sub print_pages
{
	my ($page_index, $pages) = @_;

	printf <<'TEXT', PAGE_SHIFT, PAGE_SIZE, PAGE_SIZE - 1, (FIRST_RECORD) x 2;

/*
 * A code point's value is
 *	unicode_value[unicode_page[cp >> %d] * %d + (cp & %d)]
 *
 * A value below %d is a token class.  Then the code point maps to itself, is a
 * starter, and never combines with the code point before it.  But it may have
 * a canonical decomposition (unicode_decomposition).  Any other value, minus
 * %d, is an index into unicode_record.
 */
TEXT
	print_array('uint16', 'unicode_page', 2, @$page_index);

	my @items;
	foreach my $number (0 .. $#$pages)
	{
		my ($start, $values) = @{ $pages->[$number] };
		push @items,
		  sprintf('/* page %d: first used for U+%04X */', $number, $start),
		  @$values;
	}
	print "\n";
	print_array('uint16', 'unicode_value', 2, @items);
}

sub print_mappings
{
	print <<'TEXT';

/*
 * Mappings of records, and canonical decompositions.  They overlap where
 * possible.  A record's mapping is the code point's canonical decomposition
 * with each character replaced by its NFKC_Casefold mapping, decomposed again.
 * Only U+0345 stays, for the normalizer to fold it after ordering.
 */
TEXT
	print_array('uint32', 'unicode_mapping', 4,
		map { sprintf '0x%04X', ord } split //,
		$mapping_pool);
}

sub print_pairs
{
	my ($decompositions, $compositions) = @_;

	printf <<'TEXT', scalar @$decompositions;

#define UNICODE_NDECOMPOSITIONS %d

/*
 * Canonical decompositions of the code points that have no record, in order.
 * Those of Hangul syllables are computed.
 */
TEXT
	print_array(
		'UnicodeDecomposition',
		'unicode_decomposition',
		8,
		map {
			sprintf '{0x%04X, %d, %d}', $_->[0],
			  $mapping_offset{ $_->[1] },
			  length($_->[1])
		} @$decompositions);

	printf <<'TEXT', scalar @$compositions;

#define UNICODE_NCOMPOSITIONS %d

/*
 * Primary composites, in order of their parts.  Those of Hangul are computed.
 */
TEXT
	print_array('UnicodeComposition', 'unicode_composition', 12,
		map { sprintf '{0x%04X, 0x%04X, 0x%04X}', @$_ } @$compositions);
}
