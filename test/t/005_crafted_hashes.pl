# Tokens crafted so that their hashes have equal ends or equal beginnings.  XXH3 is
# public, and for eight bytes it can be inverted.  Comparisons and fingerprints of these
# tokens must cost no more than those of other tokens of eight bytes.
#
# test/unit/crafted.c counts the steps in the tables of shingles.  This test sees whether
# anything else takes more time.

use strict;
use warnings;
no warnings 'portable';

use PostgreSQL::Test::Cluster;
use PostgreSQL::Test::Utils;
use Test::More;

plan skip_all => 'servers refuse to run as root' if $> == 0;
plan skip_all => 'processor time is read from /proc/self/schedstat' unless -r "/proc/$$/schedstat";

my $tokens = 10_000;

sub product
{
	use integer;
	return $_[0] * $_[1];
}

sub rotated
{
	my ($x, $bits) = @_;
	return ($x << $bits) | ($x >> (64 - $bits));
}

# Returns the eight bytes, as two numbers, whose XXH3 is the argument.  It runs the
# steps of the hash backwards.
my $factor = 0x9FB21C651E98DF25;
my $inverse = $factor;
$inverse = product($inverse, 2 - product($factor, $inverse)) for 1 .. 6;
sub preimage
{
	my ($x) = @_;
	$x ^= $x >> 28;
	$x ^= $x >> 56;
	$x = product($x, $inverse) & ~0;
	$x ^= ($x >> 35) + 8;
	$x = product($x, $inverse) & ~0;
	# 64 of these steps return to x
	$x = $x ^ rotated($x, 49) ^ rotated($x, 24) for 1 .. 63;
	$x ^= 0xC73AB174C5ECD5A2;
	return ($x >> 32, $x & 0xFFFFFFFF);
}

# Returns tokens, in hexadecimal digits, with the hashes that the function computes of
# 1, 2, ...
sub crafted
{
	my ($hash_of) = @_;
	my @crafted;
	for (my $i = 1; @crafted < $tokens; $i++)
	{
		my $hex = unpack('H*', pack('V2', preimage($hash_of->(product($i, 0x9E3779B9) & 0xFFFFFFFF))));
		push @crafted, $hex unless $hex =~ /^(..)*00/;
	}
	return join(',', @crafted);
}
my $end_alike = crafted(sub { $_[0] << 32 | 0x12345678 });
my $begin_alike = crafted(sub { 0x12345678 << 32 | $_[0] });
my $plain = crafted(sub { product($_[0], 0x9E3779B97F4A7C15) });

# Any bytes except zero are text in SQL_ASCII.
my $node = PostgreSQL::Test::Cluster->new('main');
$node->init(extra => [ '--encoding=SQL_ASCII', '--no-locale' ]);
$node->start;
$node->safe_psql('postgres',
	q{CREATE EXTENSION simhash;
	  CREATE FUNCTION processor_time() RETURNS bigint LANGUAGE sql AS $$
		SELECT split_part(pg_read_file('/proc/self/schedstat'), ' ', 1)::bigint $$;
	  CREATE FUNCTION tokens(hex text) RETURNS text[] LANGUAGE sql RETURN
		(SELECT array_agg(convert_from(decode(h, 'hex'), 'SQL_ASCII')) FROM string_to_table(hex, ',') AS h);
	  CREATE TABLE tokens (end_alike text[], begin_alike text[], plain text[]);
	  ALTER TABLE tokens ALTER end_alike SET STORAGE external, ALTER begin_alike SET STORAGE external,
		ALTER plain SET STORAGE external;
	  INSERT INTO tokens VALUES (} . join(', ', map { "tokens('$_')" } $end_alike, $begin_alike, $plain) . q{);
	  -- The least processor time of each of two queries, as a ratio.  The kernel counts it in
	  -- ticks of some milliseconds, so the queries call the function many times.
	  CREATE FUNCTION ratio(query text, other text) RETURNS float8 LANGUAGE plpgsql AS $$
	  DECLARE
		times float8[] := '{infinity,infinity}';
		started bigint;
		result text;
	  BEGIN
		FOR i IN 1 .. 8 LOOP
			FOR j IN 1 .. 2 LOOP
				started := processor_time();
				EXECUTE CASE j WHEN 1 THEN query ELSE other END INTO result;
				times[j] := least(times[j], processor_time() - started);
			END LOOP;
		END LOOP;
		RETURN times[1] / times[2];
	  END $$});

is($node->safe_psql('postgres',
		"SELECT count(DISTINCT t), count(DISTINCT simhash(ARRAY[t], 1)::bigint & 4294967295)
			FROM tokens, unnest(end_alike) AS t"),
	"$tokens|1", 'hashes end alike');
is($node->safe_psql('postgres',
		"SELECT count(DISTINCT t), count(DISTINCT simhash(ARRAY[t], 1)::bigint >> 32)
			FROM tokens, unnest(begin_alike) AS t"),
	"$tokens|1", 'hashes begin alike');
for my $crafted ('end_alike', 'begin_alike')
{
	is($node->safe_psql('postgres',
			"SELECT resemblance($crafted, $crafted\[2:] || plain[1], 1) * " . ($tokens + 1) . ' FROM tokens'),
		$tokens - 1, "$crafted: they differ");
	for my $use ('resemblance(TOKENS, TOKENS[2:], 1)', 'simhash(TOKENS, 1)')
	{
		my $query = "SELECT count($use) FROM tokens, generate_series(1, 100)";
		my ($theirs, $others) = map { $query =~ s/TOKENS/$_/gr } $crafted, 'plain';
		my $ratio = $node->safe_psql('postgres', "SELECT ratio('$theirs', '$others')");
		note("$crafted / plain: $ratio");
		cmp_ok($ratio, '<', 1.5, "$crafted: $use costs as much as of others");
	}
}

$node->stop;
done_testing();
