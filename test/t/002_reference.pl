# Random texts in many scripts: the server and the independent implementation
# in test/reference must agree on shingles and fingerprints.
#
# SIMHASH_SEED repeats a run, SIMHASH_TEXTS sets the number of texts.

use strict;
use warnings;

use File::Basename qw(dirname);
use IPC::Run qw(run);
use JSON::PP;
use PostgreSQL::Test::Cluster;
use PostgreSQL::Test::Utils;
use Test::More;

plan skip_all => 'servers refuse to run as root' if $> == 0;
my $python = '/usr/bin/python3';
my $reference = dirname(__FILE__) . '/../reference/simhash_reference.py';
plan skip_all => 'needs python3-xxhash'
  unless -x $python && run([ $python, '-c', 'import xxhash; xxhash.xxh3_64_intdigest' ], '>', \my $o, '2>', \my $e);

my $seed = $ENV{SIMHASH_SEED} || int(rand(1_000_000_000)) + 1;
my $texts = $ENV{SIMHASH_TEXTS} || 2000;
srand($seed);
diag("SIMHASH_SEED=$seed");

# Ranges from which characters are taken.  Code points that Unicode 9.0 does
# not assign are left out, so that every version of Perl and Python knows them.
my %alphabet = (
	ascii => [ [ 0x01, 0x7F ] ],
	words => [ [ 0x61, 0x65 ], [ 0x20, 0x20 ], [ 0x41, 0x43 ] ],
	latin => [ [ 0xA0, 0x24F ], [ 0x1E00, 0x1EFF ], [ 0x20, 0x7E ] ],
	marks => [ [ 0x61, 0x64 ], [ 0x300, 0x34E ], [ 0x350, 0x36F ], [ 0x1DC0, 0x1DF5 ], [ 0x20D0, 0x20F0 ] ],
	ipa => [ [ 0x250, 0x2FF ] ],
	greek => [ [ 0x370, 0x3FF ], [ 0x1F00, 0x1FFF ] ],
	cyrillic => [ [ 0x400, 0x52F ], [ 0x483, 0x489 ] ],
	armenian => [ [ 0x531, 0x58F ], [ 0xFB13, 0xFB17 ] ],
	hebrew => [ [ 0x591, 0x5F4 ], [ 0xFB1D, 0xFB4F ] ],
	arabic => [ [ 0x600, 0x6FF ], [ 0xFB50, 0xFBC1 ], [ 0xFE70, 0xFEFC ], [ 0xFDF0, 0xFDFC ] ],
	indic => [ [ 0x900, 0xDFF ] ],
	thai => [ [ 0xE01, 0xE5B ], [ 0x20, 0x20 ] ],
	lao => [ [ 0xE81, 0xEDF ], [ 0x20, 0x20 ] ],
	myanmar => [ [ 0x1000, 0x109F ], [ 0xA9E0, 0xA9FE ], [ 0xAA60, 0xAA7F ] ],
	khmer => [ [ 0x1780, 0x17F9 ] ],
	georgian => [ [ 0x10A0, 0x10FF ], [ 0x2D00, 0x2D2D ] ],
	ethiopic => [ [ 0x1200, 0x137C ] ],
	cherokee => [ [ 0x13A0, 0x13FD ], [ 0xAB70, 0xABBF ] ],
	mongolian => [ [ 0x1800, 0x18AA ] ],
	jamo => [ [ 0x1100, 0x1112 ], [ 0x1161, 0x1175 ], [ 0x11A8, 0x11C2 ] ],
	hangul => [ [ 0xAC00, 0xD7A3 ], [ 0x20, 0x20 ], [ 0x3131, 0x318E ], [ 0xFFA0, 0xFFDC ] ],
	kana => [ [ 0x3041, 0x30FF ], [ 0xFF65, 0xFF9F ], [ 0x3001, 0x3002 ] ],
	ideographs => [ [ 0x4E00, 0x9FA5 ], [ 0x3000, 0x3002 ], [ 0x3005, 0x3007 ] ],
	rare => [ [ 0x3400, 0x4DB5 ], [ 0xF900, 0xFAD9 ], [ 0x2F00, 0x2FD5 ], [ 0x20000, 0x2A6D6 ], [ 0x2F800, 0x2FA1D ] ],
	squared => [ [ 0x2460, 0x24FF ], [ 0x3220, 0x33FF ], [ 0x2100, 0x218B ], [ 0x2070, 0x209C ] ],
	fullwidth => [ [ 0xFF01, 0xFF5E ], [ 0xFFE0, 0xFFE6 ] ],
	mathematical => [ [ 0x1D400, 0x1D7FF ], [ 0x1D15E, 0x1D172 ], [ 0x1D1BB, 0x1D1C0 ] ],
	deseret => [ [ 0x10400, 0x1044F ], [ 0x1E900, 0x1E94A ] ],
	symbols => [ [ 0x2190, 0x23FF ], [ 0x2600, 0x27BF ], [ 0x1F300, 0x1F64F ], [ 0x2010, 0x205E ] ],
	emoji => [ [ 0x1F600, 0x1F64F ], [ 0x200D, 0x200D ], [ 0xFE0F, 0xFE0F ], [ 0x1F1E6, 0x1F1FF ], [ 0x1F3FB, 0x1F3FF ] ],
	invisible => [ [ 0x200B, 0x200F ], [ 0xAD, 0xAD ], [ 0xFE00, 0xFE0F ], [ 0x34F, 0x34F ], [ 0x2060, 0x2064 ], [ 0xE0061, 0xE0065 ] ],
	spaces => [ [ 0x2000, 0x200A ], [ 0x20, 0x20 ], [ 0x9, 0xD ], [ 0x85, 0x85 ], [ 0xA0, 0xA0 ], [ 0x2028, 0x2029 ], [ 0x3000, 0x3000 ] ],
);

my %letters;
for my $name (sort keys %alphabet)
{
	my @all = map { my ($from, $to) = @$_; ($from .. $to) } @{ $alphabet{$name} };
	$letters{$name} = [ grep { chr($_) =~ /\p{Present_In: 9.0}/ && chr($_) !~ /\p{Unassigned}/ } @all ];
	die "no letters in $name" unless @{ $letters{$name} };
}
my @names = sort keys %letters;

sub one_of { return $_[ int(rand(scalar @_)) ]; }

# A text of a few alphabets, some of it repeated, with separators at random.
sub random_text
{
	my @mix = map { one_of(@names) } 1 .. 1 + int(rand(4));
	my $length = int(exp(rand(7)));
	my $spaced = rand() < 0.6;
	my $text = '';
	while (length($text) < $length)
	{
		my $alphabet = $letters{ one_of(@mix) };
		my $run = join('', map { chr(one_of(@$alphabet)) } 1 .. 1 + int(rand(12)));
		$text .= $run;
		$text .= one_of(' ', ' ', ' ', ', ', "\n", '-', '. ', "\x{3000}", "\x{200B}") if $spaced;
		$text .= $run if rand() < 0.1;
		$text .= substr($text, 0, int(rand(40))) if rand() < 0.05;
	}
	return $text;
}

my $json = JSON::PP->new->ascii->canonical->allow_nonref;

# What the reference answers to lines of JSON, as lines of JSON.
sub answers_to
{
	my $input = join('', map { "$_\n" } @_);
	my ($output, $errors) = ('', '');
	run([ $python, $reference ], '<', \$input, '>', \$output, '2>', \$errors) or die "reference: $errors";
	return split /\n/, $output;
}

# Questions and answers, for COPY.
sub load
{
	my ($node, $table, $requests, $replies) = @_;
	is(scalar @$replies, scalar @$requests, 'the reference answers every request');
	my $copy = "CREATE TABLE $table (request jsonb, reply jsonb);\nCOPY $table FROM STDIN;\n";
	for my $i (0 .. $#$requests)
	{
		$copy .= join("\t", map { s/\\/\\\\/gr } $requests->[$i], $replies->[$i]) . "\n";
	}
	$node->safe_psql('postgres', "$copy\\.\n");
	is($node->safe_psql('postgres', "SELECT count(*) FROM $table WHERE request -> 'id' = reply -> 'id'"),
		scalar @$requests, 'all of it arrives');
}

my $node = PostgreSQL::Test::Cluster->new('main');
$node->init(extra => [ '--encoding=UTF8', '--no-locale' ]);
$node->start;
$node->safe_psql('postgres', 'CREATE EXTENSION simhash');

# Now and then a special one: words about as long as the longest, and much text.
my @requests;
for my $id (1 .. $texts)
{
	my $text = $json->encode(
	    $id % 1000 == 1 ? join(' ', map { chr(97 + $_ % 5) x (1020 + $_) } 0 .. 10)
	  : $id % 1000 == 2 ? join('', map { random_text() } 1 .. 100)
	  : random_text());
	for my $width (1, 2, 3, 5)
	{
		push @requests, map { qq({"id": $id, "width": $width, "unit": "$_", "text": $text}) } 'word', 'char';
	}
}
load($node, 'asked', \@requests, [ answers_to(@requests) ]);
$node->safe_psql('postgres', q{
	CREATE TABLE answers AS
	SELECT (request ->> 'id')::int AS id, (request ->> 'width')::int AS width, request ->> 'unit' AS unit,
	       (reply ->> 'simhash')::simhash AS fp, reply -> 'shingles' AS shingles, request ->> 'text' AS body
	FROM asked WHERE NOT reply ? 'error'});
my $refused = $node->safe_psql('postgres',
	"SELECT count(*) || ' x ' || (reply ->> 'error') FROM asked WHERE reply ? 'error' GROUP BY reply ->> 'error'");
diag("refused by the reference: $refused") if $refused ne '';
is($node->safe_psql('postgres', 'SELECT (SELECT count(*) FROM answers) > 0.95 * (SELECT count(*) FROM asked)'),
	't', 'the reference knows most of them');
my $show = "left(to_json(body)::text, 300)";
is( $node->safe_psql('postgres',
		"SELECT id, width, unit, $show FROM answers WHERE to_jsonb(shingles(body, width, unit)) <> shingles ORDER BY 1, 2, 3 LIMIT 5"),
	'', 'shingles');
is( $node->safe_psql('postgres',
		"SELECT id, width, unit, fp, simhash(body, width, unit), $show FROM answers WHERE simhash(body, width, unit) IS DISTINCT FROM fp ORDER BY 1, 2, 3 LIMIT 5"),
	'', 'fingerprints');
is( $node->safe_psql('postgres',
		"SELECT id, width, unit, $show FROM answers WHERE simhash(array(SELECT jsonb_array_elements_text(shingles)), 1) IS DISTINCT FROM fp ORDER BY 1, 2, 3 LIMIT 5"),
	'', 'fingerprints of the shingles as tokens');
is( $node->safe_psql('postgres',
		"SELECT id, $show FROM answers WHERE width = 2 AND unit = 'word' AND simhash(normalize(body, NFD)) IS DISTINCT FROM fp ORDER BY 1 LIMIT 5"),
	'', 'fingerprints of NFD');
is( $node->safe_psql('postgres',
		"SELECT id, $show FROM answers AS a, jsonb_array_length(shingles) AS n WHERE (n = 0) <> (fp IS NULL) OR resemblance(body, body, width, unit) IS DISTINCT FROM CASE WHEN n > 0 THEN 1 END ORDER BY 1 LIMIT 5"),
	'', 'resemblance to itself');

# All of them in one text, composed, decomposed and shifted: the server works on
# it in pieces, and one wrong shingle at a boundary shows in the resemblance.
$node->safe_psql('postgres',
	"CREATE TABLE whole AS SELECT string_agg(body, ' . ' ORDER BY id) AS body FROM answers WHERE width = 1 AND unit = 'word'");
is( $node->safe_psql('postgres',
		"SELECT resemblance(body, normalize(body, NFC)), resemblance(body, normalize(body, NFD)), resemblance(body, normalize(body, NFD), 4, 'char') FROM whole"),
	'1|1|1', 'a long text, composed and decomposed');
is( $node->safe_psql('postgres',
		"SELECT DISTINCT resemblance(body, repeat(U&'\\200B', n % 7) || repeat('. ', n) || body) FROM whole, generate_series(1, 20) AS n"),
	'1', 'a long text, shifted');

# Weighted features and ready hashes, with weights as binary fractions and not.
@requests = ();
for my $id (1 .. 300)
{
	my $n = 1 + int(rand(20));
	my @weights = map { one_of(int(rand(5)), rand(10) - 2, rand() / 2**20, 0.1, -1, rand(2**20), 2**-26, 3 * 2**-25) } 1 .. $n;
	my @hashes = map { unpack('q', pack('L2', int(rand(2**32)), int(rand(2**32)))) } 1 .. $n;
	my @features = map { random_text() } 1 .. $n;
	push @requests, map { $json->encode($_) }
	  { id => $id, features => \@features, weights => \@weights }, { id => $id, hashes => \@hashes, weights => \@weights };
}
load($node, 'weighed', \@requests, [ answers_to(@requests) ]);
$node->safe_psql('postgres',
	q{CREATE TABLE weighted AS SELECT request ->> 'id' AS id, (reply ->> 'simhash')::simhash AS fp, request FROM weighed});
my $array = "ARRAY(SELECT x FROM jsonb_array_elements_text(request -> '%s') WITH ORDINALITY AS e (x, i) ORDER BY i)";
my ($features, $hashes, $weights) = map { sprintf $array, $_ } 'features', 'hashes', 'weights';
is( $node->safe_psql('postgres',
		"SELECT id, fp FROM weighted WHERE request ? 'features' AND simhash($features, ($weights)::float8[]) IS DISTINCT FROM fp ORDER BY id"),
	'', 'weighted features');
is( $node->safe_psql('postgres',
		"SELECT id, fp FROM weighted WHERE request ? 'hashes' AND simhash(($hashes)::bigint[], ($weights)::float8[]) IS DISTINCT FROM fp ORDER BY id"),
	'', 'weighted hashes');
is( $node->safe_psql('postgres',
		"SELECT id, fp FROM weighted WHERE request ? 'features' AND fp IS DISTINCT FROM (SELECT simhash_agg(f, w::float8) FROM unnest($features, $weights) AS u (f, w)) ORDER BY id"),
	'', 'weighted features in rows');

$node->stop;
done_testing();
