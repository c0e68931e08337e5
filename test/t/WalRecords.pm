# Generic WAL records, read from the WAL itself, and their redo in Perl, as generic_xlog.c
# does it.  Numbers have the byte order of this machine.

package WalRecords;

use strict;
use warnings;

use Exporter qw(import);
use IndexTest;
use PostgreSQL::Test::Cluster;
use PostgreSQL::Test::Utils;

our @EXPORT = qw(records_since replay page_lower page_upper page_lsn hole_is_zero);

use constant {
	PAGE_SIZE => 8192,

	# XLogRecord, XLogRecordBlockHeader (xlogrecord.h)
	RECORD_HEADER => 24,
	MAX_BLOCK_ID => 32,
	BLOCK_HAS_IMAGE => 0x10,
	BLOCK_SAME_REL => 0x80,
	IMAGE_HAS_HOLE => 0x01,
	IMAGE_APPLY => 0x02,

	# XLogPageHeaderData, XLogLongPageHeaderData (xlog_internal.h)
	WAL_PAGE_HEADER => 24,
	WAL_LONG_PAGE_HEADER => 40 };

# Returns an LSN as a number.
sub lsn_number
{
	my ($high, $low) = map { hex } split m{/}, $_[0];

	return $high << 32 | $low;
}

# Returns bytes of the WAL from an LSN on, without the headers of its pages.
sub read_wal
{
	my ($node, $segment_size, $lsn, $length) = @_;
	my $per_id = 2**32 / $segment_size;
	my $bytes = '';

	while ($length > 0)
	{
		my $segment = int($lsn / $segment_size);
		my $header = $lsn % $segment_size == 0 ? WAL_LONG_PAGE_HEADER : WAL_PAGE_HEADER;
		my $path = sprintf '%s/pg_wal/%08X%08X%08X', $node->data_dir, 1, $segment / $per_id, $segment % $per_id;

		$lsn += $header if $lsn % PAGE_SIZE == 0;
		my $part = PAGE_SIZE - $lsn % PAGE_SIZE;
		$part = $length if $part > $length;
		open my $file, '<:raw', $path or die "$path: $!";
		seek $file, $lsn % $segment_size, 0;
		read($file, my $read, $part) == $part or die "$path ends too early";
		close $file;
		$bytes .= $read;
		$lsn += $part;
		$length -= $part;
	}
	return $bytes;
}

# Returns the page of an image of a block, which may lack the hole.
sub restore
{
	my ($image, $hole_offset) = @_;

	return substr($image, 0, $hole_offset) . "\0" x (PAGE_SIZE - length $image) . substr($image, $hole_offset);
}

# Returns the blocks of a record: relfilenumber, block number, data (the fragments), and the
# image that replaces them, if there is one.
sub blocks_of
{
	my ($record) = @_;
	my $at = RECORD_HEADER;
	my (@blocks, $relation);
	my $next = sub {
		my ($template, $size) = @_;

		$at += $size;
		return unpack $template, substr($record, $at - $size, $size);
	};

	while ($at < length($record) - sum_of_sizes(@blocks))
	{
		my ($id, $flags, $length) = $next->('CCS', 4);
		my %block = (data_size => $length, image_size => 0, hole_offset => 0, apply => 0);

		die "the record contains more than blocks ($id)" if $id > MAX_BLOCK_ID;
		if ($flags & BLOCK_HAS_IMAGE)
		{
			(my $info, @block{qw(image_size hole_offset)}) = (0, $next->('SS', 4));
			($info) = $next->('C', 1);
			die 'the image is compressed' if $info & ~(IMAGE_HAS_HOLE | IMAGE_APPLY);
			$block{apply} = $info & IMAGE_APPLY;
		}
		(undef, undef, $relation) = $next->('L3', 12) unless $flags & BLOCK_SAME_REL;
		$block{relation} = $relation;
		($block{block}) = $next->('L', 4);
		push @blocks, \%block;
	}
	foreach my $block (@blocks)
	{
		my ($image) = $next->('a*', $block->{image_size});

		($block->{data}) = $next->('a*', $block->{data_size});
		$block->{image} = restore($image, $block->{hole_offset}) if $block->{apply};
	}
	return \@blocks;
}

sub sum_of_sizes
{
	my $sum = 0;

	$sum += $_->{data_size} + $_->{image_size} foreach @_;
	return $sum;
}

# Returns the generic WAL records since an LSN: their LSNs, as text and as numbers, and
# their blocks.
sub records_since
{
	my ($node, $from) = @_;
	my $segment_size = $node->safe_psql('postgres', q{SELECT setting FROM pg_settings WHERE name = 'wal_segment_size'});

	return map {
		my $start = lsn_number($_->{lsn});
		my $length = unpack 'L', read_wal($node, $segment_size, $start, 4);

		{ lsn => $_->{lsn}, start => $start, blocks => blocks_of(read_wal($node, $segment_size, $start, $length)) }
	} generic_records($node, $from);
}

# Replays a block of a record.  Returns the page after it.
sub replay
{
	my ($page, $block) = @_;

	return $block->{image} if defined $block->{image};
	for (my $at = 0; $at < length $block->{data};)
	{
		my ($offset, $length) = unpack 'SS', substr($block->{data}, $at, 4);

		substr($page, $offset, $length) = substr($block->{data}, $at + 4, $length);
		$at += 4 + $length;
	}
	my $hole = page_upper($page) - page_lower($page);
	substr($page, page_lower($page), $hole) = "\0" x $hole;
	return $page;
}

# Fields of a page header.
sub page_lower { return unpack 'S', substr($_[0], 12, 2) }
sub page_upper { return unpack 'S', substr($_[0], 14, 2) }

sub page_lsn
{
	my ($high, $low) = unpack 'LL', substr($_[0], 0, 8);

	return $high << 32 | $low;
}

# Returns true if the hole of a page is zero.
sub hole_is_zero
{
	my ($page) = @_;

	return substr($page, page_lower($page), page_upper($page) - page_lower($page)) !~ /[^\0]/;
}

1;
