# Random texts in many scripts: the server and the independent implementations in
# test/reference must agree on shingles, fingerprints, signatures and sketches.  Both must
# return what test/reference/known_answers.json says.
#
# SIMHASH_SEED repeats a run.  SIMHASH_TEXTS sets the number of texts.  SIMHASH_LARGE
# adds texts of more sizes around and beyond 2^20 words.

use strict;
use warnings;

use File::Basename qw(dirname);
use IPC::Run qw(run);
use JSON::PP;
use PostgreSQL::Test::Cluster;
use PostgreSQL::Test::Utils;
use Test::More;
use Unicode::Normalize qw(NFC NFD getCombinClass);

plan skip_all => 'servers refuse to run as root' if $> == 0;
my $python = '/usr/bin/python3';
my $reference = dirname(__FILE__) . '/../reference/simhash_reference.py';
my $signatures = dirname(__FILE__) . '/../reference/minhash_reference.py';
my $sketches = dirname(__FILE__) . '/../reference/sketch_reference.py';
my $known = dirname(__FILE__) . '/../reference/known_answers';
plan skip_all => 'needs python3-xxhash'
  unless -x $python && run([ $python, '-c', 'import xxhash; xxhash.xxh3_64_intdigest' ], '>', \my $o, '2>', \my $e);
plan skip_all => $1
  if !run([ $python, $reference ], '<', \'', '>', \$o, '2>', \$e) && $e =~ /^(no files of Unicode .*)$/m;

my $seed = $ENV{SIMHASH_SEED} || int(rand(1_000_000_000)) + 1;
my $texts = $ENV{SIMHASH_TEXTS} || 1000;
srand($seed);
diag("SIMHASH_SEED=$seed");

# Ranges of characters, assigned or not.
my %alphabet = (
	ascii => [ [ 0x01, 0x7F ] ],
	words => [ [ 0x61, 0x65 ], [ 0x20, 0x20 ], [ 0x41, 0x43 ] ],
	latin => [ [ 0xA0, 0x24F ], [ 0x1E00, 0x1EFF ], [ 0x20, 0x7E ] ],
	marks => [ [ 0x61, 0x64 ], [ 0x300, 0x36F ], [ 0x1DC0, 0x1DFF ], [ 0x20D0, 0x20F0 ] ],
	ipa => [ [ 0x250, 0x2FF ] ],
	greek => [ [ 0x370, 0x3FF ], [ 0x1F00, 0x1FFF ], [ 0x345, 0x345 ] ],
	cyrillic => [ [ 0x400, 0x52F ], [ 0x483, 0x489 ] ],
	armenian => [ [ 0x531, 0x58F ], [ 0xFB13, 0xFB17 ] ],
	hebrew => [ [ 0x591, 0x5F4 ], [ 0xFB1D, 0xFB4F ] ],
	arabic => [ [ 0x600, 0x6FF ], [ 0xFB50, 0xFBC1 ], [ 0xFE70, 0xFEFC ], [ 0xFDF0, 0xFDFC ] ],
	syriac => [ [ 0x700, 0x74F ], [ 0x20, 0x20 ] ],
	thaana => [ [ 0x780, 0x7BF ], [ 0x20, 0x20 ] ],
	nko => [ [ 0x7C0, 0x7FF ], [ 0x20, 0x20 ] ],
	thai => [ [ 0xE01, 0xE5B ], [ 0x20, 0x20 ] ],
	lao => [ [ 0xE81, 0xEDF ], [ 0x20, 0x20 ] ],
	tibetan => [ [ 0xF00, 0xFDA ] ],
	myanmar => [ [ 0x1000, 0x109F ], [ 0xA9E0, 0xA9FE ], [ 0xAA60, 0xAA7F ] ],
	khmer => [ [ 0x1780, 0x17F9 ] ],
	georgian => [ [ 0x10A0, 0x10FF ], [ 0x1C90, 0x1CBF ], [ 0x2D00, 0x2D2D ] ],
	ethiopic => [ [ 0x1200, 0x137C ] ],
	cherokee => [ [ 0x13A0, 0x13FD ], [ 0xAB70, 0xABBF ] ],
	canadian => [ [ 0x1400, 0x167F ] ],
	ogham_runic => [ [ 0x1680, 0x16F8 ] ],
	mongolian => [ [ 0x1800, 0x18AA ] ],
	tai => [ [ 0x1950, 0x19DF ], [ 0x1A20, 0x1AAD ], [ 0xAA80, 0xAADF ], [ 0x11700, 0x11746 ] ],
	balinese => [ [ 0x1B00, 0x1B7E ] ],
	javanese => [ [ 0xA980, 0xA9DF ] ],
	yi => [ [ 0xA000, 0xA4CF ] ],
	jamo => [ [ 0x1100, 0x1112 ], [ 0x1161, 0x1175 ], [ 0x11A8, 0x11C2 ] ],
	hangul => [ [ 0xAC00, 0xD7A3 ], [ 0x20, 0x20 ], [ 0x3131, 0x318E ], [ 0xFFA0, 0xFFDC ] ],
	syllables => [ [ 0x1100, 0x1112 ], [ 0xAC00, 0xAC1F ], [ 0x1160, 0x1163 ], [ 0x11A6, 0x11AA ] ],
	kana => [ [ 0x3041, 0x30FF ], [ 0xFF65, 0xFF9F ], [ 0x3001, 0x3002 ] ],
	bopomofo => [ [ 0x3105, 0x312F ], [ 0x31A0, 0x31BF ], [ 0x2D9, 0x2D9 ] ],
	ideographs => [ [ 0x4E00, 0x9FFF ], [ 0x3000, 0x303F ] ],
	rare => [ [ 0x3400, 0x4DBF ], [ 0xF900, 0xFAD9 ], [ 0x2F00, 0x2FD5 ], [ 0x20000, 0x323AF ], [ 0x2F800, 0x2FA1D ] ],
	squared => [ [ 0x2460, 0x24FF ], [ 0x3220, 0x33FF ], [ 0x2100, 0x218B ], [ 0x2070, 0x209C ] ],
	fullwidth => [ [ 0xFF01, 0xFF5E ], [ 0xFFE0, 0xFFE6 ] ],
	mathematical => [ [ 0x1D400, 0x1D7FF ], [ 0x1D15E, 0x1D172 ], [ 0x1D1BB, 0x1D1C0 ] ],
	deseret => [ [ 0x10400, 0x1044F ], [ 0x1E900, 0x1E94A ] ],
	symbols => [ [ 0x2190, 0x23FF ], [ 0x2600, 0x27BF ], [ 0x1F300, 0x1F64F ], [ 0x2010, 0x205E ] ],
	emoji => [ [ 0x1F600, 0x1F64F ], [ 0x200D, 0x200D ], [ 0xFE0F, 0xFE0F ], [ 0x1F1E6, 0x1F1FF ],
		[ 0x1F3FB, 0x1F3FF ] ],
	invisible => [ [ 0x200B, 0x200F ], [ 0xAD, 0xAD ], [ 0xFE00, 0xFE0F ], [ 0x34F, 0x34F ], [ 0x2060, 0x206F ],
		[ 0xFFF0, 0xFFFF ], [ 0xE0061, 0xE0065 ] ],
	spaces => [ [ 0x2000, 0x200A ], [ 0x20, 0x20 ], [ 0x9, 0xD ], [ 0x85, 0x85 ], [ 0xA0, 0xA0 ], [ 0x2028, 0x2029 ],
		[ 0x3000, 0x3000 ] ],
	private => [ [ 0xE000, 0xF8FF ], [ 0xFFFF0, 0x10FFFF ] ],
	(map { ("indic$_" => [ [ 0x880 + 0x80 * $_, 0x8FF + 0x80 * $_ ], [ 0x20, 0x20 ] ]) } 1 .. 10),
	# all code points, in pieces: scripts, and unassigned ranges
	(map { (sprintf('at%X', $_) => [ [ $_, $_ + 0xFF ] ]) } map { 0x100 * $_ } 0x01 .. 0xD7, 0xF9 .. 0x1FF, 0x2FA,
		0x323, 0xE00 .. 0xE10),
);
my @names = sort grep { !/^at/ } keys %alphabet;
my @pieces = sort grep { /^at/ } keys %alphabet;

sub one_of { return $_[ int(rand(scalar @_)) ]; }

sub letter
{
	my ($from, $to) = @{ one_of(@{ $_[0] }) };
	return chr($from + int(rand($to - $from + 1)));
}

# Returns a text of a few alphabets with random separators and repetitions.
sub random_text
{
	my @mix = map { $alphabet{ one_of(rand() < 0.8 ? @names : @pieces) } } 1 .. 1 + int(rand(4));
	my $length = int(exp(rand(7)));
	my $spaced = rand() < 0.6;
	my $text = '';
	while (length($text) < $length)
	{
		my $alphabet = one_of(@mix);
		my $run = join('', map { letter($alphabet) } 1 .. 1 + int(rand(12)));
		$text .= $run;
		$text .= one_of(' ', ' ', ' ', ', ', "\n", '-', '. ', "\x{3000}", "\x{200B}") if $spaced;
		$text .= $run if rand() < 0.1;
		$text .= substr($text, 0, int(rand(40))) if rand() < 0.05;
	}
	return $text;
}

# Marks above and below, marks that become letters or were letters, and ignorable code
# points.  Their numbers reach and exceed the limit of marks that are kept.
my @marks = map { chr } 0x300, 0x301, 0x315, 0x323, 0x327, 0x345, 0x345, 0x34F, 0x5B0, 0x64B, 0x93C, 0xE38, 0x3099,
  0xFF9E, 0xFF9F, 0x200D, 0x20DD, 0x1D165, 0x1E94A, 0x2D9, 0x3B9, 0x1FBE;

sub stacked_marks
{
	return join('', map { one_of(@marks) x one_of(1, 1, 1, 2, 5, 14, 15, 16, 29, 30, 31, 40) } 1 .. 1 + int(rand(6)));
}

my @special = (
	sub { return join(
		'', map { one_of('a', "\x{3B1}", "\x{304B}", "\x{4E00}", ' ', '!', '') . stacked_marks() } 1 .. 1 + int(
		rand(4))); },
	sub { return stacked_marks() . one_of('', ' ', '!?', ' ! '); },
	sub { return join(
		'', map { one_of('!', '?', ' ', "\n", "\x{2605}", "\x{1F600}", one_of(@marks)) } 0 .. rand(10)); },
	# words of about the maximal length, with marks and letters of several bytes
	sub {
		return join(one_of(' ', '!', "\x{4E00}"),
			map { one_of('a', "\x{E9}", "a\x{323}\x{301}", "\x{AC01}", "\x{2F800}\x{302A}", "\x{10FFFF}", "\x{378}") x (
				one_of(1, 1, 2) * 1024 / one_of(1, 2, 3) + int(rand(9)) - 4) } 0 .. rand(3));
	},
	sub { return join('', map { random_text() } 1 .. 20); });

# Returns a canonically equivalent text: with marks in another order, and partly
# composed.
sub equivalent
{
	my @codes = split //, NFD($_[0]);
	for (1 .. 3)
	{
		for my $i (1 .. $#codes)
		{
			my ($one, $two) = map { getCombinClass(ord) } @codes[ $i - 1, $i ];
			@codes[ $i - 1, $i ] = @codes[ $i, $i - 1 ] if $one && $two && $one != $two && rand() < 0.5;
		}
	}
	my $text = '';
	while (@codes)
	{
		my $piece = join('', splice(@codes, 0, 1 + int(rand(8))));
		$text .= rand() < 0.5 ? NFC($piece) : $piece;
	}
	return $text;
}

my $json = JSON::PP->new->ascii->canonical->allow_nonref;

# Returns the answers of a reference to lines of JSON, as lines of JSON.
sub answers_of
{
	my ($program, @lines) = @_;
	my $input = join('', map { "$_\n" } @lines);
	my ($output, $errors) = ('', '');
	run([ $python, $program ], '<', \$input, '>', \$output, '2>', \$errors) or die "$program: $errors";
	return split /\n/, $output;
}

sub answers_to { return answers_of($reference, @_); }

# Copies requests and answers into a table.
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
		scalar @$requests, 'all rows are copied');
}

my $node = PostgreSQL::Test::Cluster->new('main');
$node->init(extra => [ '--encoding=UTF8', '--no-locale' ]);
$node->start;
$node->safe_psql('postgres', 'CREATE EXTENSION simhash');

# The known answers: what the program makes now, and what the server returns.
my $known_answers = slurp_file("$known.json");
ok(join("\n", answers_of("$known.py"), '') eq $known_answers, 'the reference gives the known answers');
$node->safe_psql('postgres', q{
	CREATE FUNCTION written_out(input jsonb) RETURNS text LANGUAGE sql AS
		$$SELECT coalesce(input ->> 'text', repeat(input ->> 'repeat', (input ->> 'times')::int),
			(SELECT string_agg(i::text, ' ' ORDER BY i) FROM generate_series(1, (input ->> 'count')::int) AS i))$$;
	CREATE FUNCTION list(a jsonb) RETURNS text[] LANGUAGE sql AS
		$$SELECT array_agg(x ORDER BY i) FROM jsonb_array_elements_text(a) WITH ORDINALITY AS e (x, i)$$;
	CREATE FUNCTION answer(input jsonb, call jsonb, width int, unit text, bands int, rows int)
		RETURNS jsonb LANGUAGE plpgsql AS $$
	DECLARE
		body text = written_out(input);
		tokens text[] = list(input -> 'tokens');
		hashes bigint[] = list(input -> 'hashes')::bigint[];
		weights float8[] = list(input -> 'weights')::float8[];
		guarantee int = call ->> 'guarantee';
		modulus int = call ->> 'modulus';
	BEGIN
		RETURN CASE concat_ws(' of ', call ->> 'function', CASE WHEN body IS NULL THEN
				(SELECT min(k) FROM jsonb_object_keys(input) AS k WHERE k <> 'weights') END)
			WHEN 'shingles' THEN to_jsonb(shingles(body, width, unit))
			WHEN 'shingle_hashes' THEN to_jsonb(shingle_hashes(body, width, unit)::text[])
			WHEN 'simhash' THEN to_jsonb(simhash(body, width, unit)::text)
			WHEN 'to_minhash' THEN to_jsonb(to_minhash(body, bands, rows, width, unit)::text)
			WHEN 'minhash_bands' THEN to_jsonb(minhash_bands(to_minhash(body, bands, rows, width, unit))::text[])
			WHEN 'winnow' THEN to_jsonb(winnow(body, guarantee, width, unit)::text[])
			WHEN 'sketch' THEN to_jsonb(sketch(body, modulus, width, unit)::text[])
			WHEN 'shingle_hashes of tokens' THEN to_jsonb(shingle_hashes(tokens, width)::text[])
			WHEN 'simhash of tokens' THEN to_jsonb(simhash(tokens, width)::text)
			WHEN 'to_minhash of tokens' THEN to_jsonb(to_minhash(tokens, bands, rows, width)::text)
			WHEN 'winnow of tokens' THEN to_jsonb(winnow(tokens, guarantee, width)::text[])
			WHEN 'simhash of features' THEN to_jsonb(simhash(list(input -> 'features'), weights)::text)
			WHEN 'simhash of hashes' THEN to_jsonb(simhash(hashes, weights)::text)
			WHEN 'to_minhash of hashes' THEN to_jsonb(to_minhash(hashes, bands, rows)::text)
			WHEN 'scoped_hashes of hashes' THEN to_jsonb(scoped_hashes(hashes, coalesce(call ->> 'scope', ''))::text[])
			WHEN 'minhash_bands of hashes' THEN to_jsonb(minhash_bands(to_minhash(hashes, bands, rows))::text[])
			END;
	END$$});
is($node->safe_psql('postgres', "CREATE TABLE known AS
		SELECT i ->> 'name' AS name, i -> 'input' AS input, a AS answer
		FROM jsonb_array_elements(\$known\$$known_answers\$known\$::jsonb -> 'inputs') AS i,
		     jsonb_array_elements(i -> 'answers') AS a;
	SELECT count(DISTINCT name) >= 40, count(*) >= 500 FROM known"), 't|t', 'there are many known answers');
is($node->safe_psql('postgres', "SELECT name, answer - 'result' FROM known
		WHERE answer(input, answer, (answer ->> 'width')::int, answer ->> 'unit', (answer ->> 'bands')::int,
		             (answer ->> 'rows')::int) IS DISTINCT FROM nullif(answer -> 'result', 'null')"),
	'', 'the server gives the known answers');

# Returns bands and rows, as JSON.
sub random_shape
{
	return one_of(
		map { sprintf('"bands": %d, "rows": %d', @$_) } [ 18, 7 ], [ 20, 5 ], [ 3, 11 ], [ 1, 64 ], [ 129, 1 ],
		[ 1, 1 ]);
}

# Returns modulus, and a guarantee for shingles of a width, as JSON.
sub random_sketch
{
	my ($width) = @_;
	return sprintf('"modulus": %d, "guarantee": %d', one_of(1, 2, 3, 7, 16, 1000, 2**31 - 1),
		$width + one_of(0, 1, 2, 5, 16, 100, 1000));
}

my @requests;
for my $id (1 .. $texts)
{
	my $text = $id % 5 == 1 ? one_of(@special)->() : random_text();
	my ($body, $variant) = map { $json->encode($_) } $text, equivalent($text);
	for my $unit ('word', 'char')
	{
		my $width = one_of(1, 2, 2, 2, 3, 5, 8, 256);
		my $shape = random_shape() . ', ' . random_sketch($width);
		push @requests, qq({"id": $id, "width": $width, "unit": "$unit", $shape, "text": $body, "variant": $variant});
	}
}
load($node, 'asked', \@requests, [ answers_to(@requests) ]);
$node->safe_psql('postgres', q{
	CREATE TABLE answers AS
	SELECT (request ->> 'id')::int AS id, (request ->> 'width')::int AS width, request ->> 'unit' AS unit,
	       (reply ->> 'simhash')::simhash AS fp, reply -> 'shingles' AS shingles, request ->> 'text' AS body,
	       	request ->> 'variant' AS variant
	FROM asked});
my $show = "left(to_json(body)::text, 300)";
is( $node->safe_psql('postgres',
		"SELECT id, width, unit, $show FROM answers
			WHERE to_jsonb(shingles(body, width, unit)) <> shingles ORDER BY 1, 2, 3 LIMIT 5"),
	'', 'shingles');
is( $node->safe_psql('postgres',
		"SELECT id, width, unit, fp, simhash(body, width, unit), $show FROM answers
			WHERE simhash(body, width, unit) IS DISTINCT FROM fp ORDER BY 1, 2, 3 LIMIT 5"),
	'', 'fingerprints');
is( $node->safe_psql('postgres',
		"SELECT id, width, unit, $show FROM answers
			WHERE simhash(array(SELECT jsonb_array_elements_text(shingles)), 1) IS DISTINCT FROM fp ORDER BY 1, 2,
			3 LIMIT 5"),
	'', 'fingerprints of the shingles as tokens');
is( $node->safe_psql('postgres',
		"SELECT id, width, unit, $show FROM answers WHERE (SELECT simhash_agg(DISTINCT s)
			FROM jsonb_array_elements_text(shingles) AS s) IS DISTINCT FROM fp ORDER BY 1, 2, 3 LIMIT 5"),
	'', 'each distinct shingle counts once');
is( $node->safe_psql('postgres',
		"SELECT id, unit, $show FROM answers WHERE simhash(normalize(body, NFD), width, unit)
			IS DISTINCT FROM fp ORDER BY 1, 2 LIMIT 5"),
	'', 'fingerprints of NFD');
is( $node->safe_psql('postgres',
		"SELECT id, unit, $show, left(to_json(variant)::text, 300) FROM answers
			WHERE simhash(variant, width, unit) IS DISTINCT FROM fp ORDER BY 1, 2 LIMIT 5"),
	'', 'fingerprints of canonically equivalent texts');
is( $node->safe_psql('postgres',
		"SELECT id, $show FROM answers AS a, jsonb_array_length(shingles) AS n
			WHERE (n = 0) <> (fp IS NULL) OR resemblance(
			body, body, width, unit) IS DISTINCT FROM CASE WHEN n > 0 THEN 1 END ORDER BY 1 LIMIT 5"),
	'', 'resemblance to itself');

# Signatures of the same texts.
load($node, 'signed', \@requests, [ answers_of($signatures, @requests) ]);
my $made = "(request ->> 'bands')::int, (request ->> 'rows')::int";
my $of_text = "$made, (request ->> 'width')::int, request ->> 'unit'";
is( $node->safe_psql('postgres',
		"SELECT left(request::text, 300) FROM signed WHERE to_minhash(request ->> 'text', $of_text)
			IS DISTINCT FROM (reply ->> 'minhash')::minhash LIMIT 5"),
	'', 'signatures');
is( $node->safe_psql('postgres',
		"SELECT left(request::text, 300) FROM signed WHERE to_minhash(request ->> 'variant', $of_text)::text
			IS DISTINCT FROM reply ->> 'minhash' LIMIT 5"),
	'', 'signatures of canonically equivalent texts');
is( $node->safe_psql('postgres',
		"SELECT left(request::text, 300) FROM signed
			WHERE to_jsonb(minhash_bands((reply ->> 'minhash')::minhash)) IS DISTINCT FROM nullif(
			reply -> 'bands', 'null') LIMIT 5"),
	'', 'keys of their bands');

# Sketches of the same texts.
load($node, 'sketched', \@requests, [ answers_of($sketches, @requests) ]);
for my $made (
	[ 'winnow', 'guarantee' ],
	[ 'sketch', 'modulus' ])
{
	my ($function, $parameter) = @$made;
	my $of_body = "(request ->> '$parameter')::int, (request ->> 'width')::int, request ->> 'unit'";
	is( $node->safe_psql('postgres',
			"SELECT left(request::text, 300) FROM sketched, unnest(ARRAY['text', 'variant']) AS body
			 WHERE to_jsonb($function(request ->> body, $of_body)) IS DISTINCT FROM reply -> '$function' LIMIT 5"),
		'', "$function of texts, and of canonically equivalent ones");
	is( $node->safe_psql('postgres',
			"SELECT left(request::text, 300) FROM sketched
			 WHERE request ->> 'unit' = 'word'
			    AND to_jsonb($function(shingles(request ->> 'text', 1), (request ->> '$parameter')::int,
			            (request ->> 'width')::int)) IS DISTINCT FROM reply -> '$function' LIMIT 5"),
		'', "$function of tokens");
}

# Signatures of tokens, features and numbers.
@requests = ();
for my $id (1 .. 300)
{
	my $n = int(rand(20));
	my $shape = random_shape();
	my $width = 1 + int(rand(4));
	my $strings = $json->encode([ map { random_text() } 1 .. $n ]);
	my @hashes = map {
		rand() < 0.5 ? int(rand(100)) : unpack('q', pack('L2', int(rand(2**32)), int(rand(2**32)))) } 1 .. $n;
	push @requests, map { qq({"id": $id, $shape, $_}) }
	  qq("width": $width, "tokens": $strings), qq("features": $strings), '"hashes": ' . $json->encode(\@hashes);
}
load($node, 'signed_features', \@requests, [ answers_of($signatures, @requests) ]);
my $array = "ARRAY(SELECT x FROM jsonb_array_elements_text(request -> '%s') WITH ORDINALITY AS e (x, i) ORDER BY i)";
my ($of_tokens, $of_features, $of_hashes) = map { sprintf $array, $_ } 'tokens', 'features', 'hashes';
is( $node->safe_psql('postgres',
		"SELECT left(request::text, 300) FROM signed_features WHERE (reply ->> 'minhash')::minhash IS DISTINCT FROM CASE
			WHEN request ? 'tokens' THEN to_minhash($of_tokens, $made, (request ->> 'width')::int)
			WHEN request ? 'hashes' THEN to_minhash(($of_hashes)::bigint[], $made)
			ELSE (SELECT minhash_agg(f, $made) FROM unnest($of_features) AS f) END LIMIT 5"),
	'', 'signatures of tokens, features and numbers');

# Numbers of scopes: texts, and numbers.
@requests = map {
	my $number = one_of(0, -1, int(rand(1e9)), unpack('q', pack('L2', int(rand(2**32)), int(rand(2**32)))));
	my $scope = $_ % 2 ? random_text() : $number;
	$json->encode({ id => $_, scope => "$scope",
		hashes => [ map { unpack('q', pack('L2', int(rand(2**32)), int(rand(2**32)))) } 1 .. rand(20) ] });
} 1 .. 300;
load($node, 'scoped', \@requests, [ answers_of($sketches, @requests) ]);
is( $node->safe_psql('postgres',
		"SELECT left(request::text, 300) FROM scoped WHERE to_jsonb(scoped_hashes(($of_hashes)::bigint[],
				request ->> 'scope')) IS DISTINCT FROM reply -> 'scoped_hashes'
			OR (request ->> 'id')::int % 2 = 0 AND to_jsonb(scoped_hashes(($of_hashes)::bigint[],
				(request ->> 'scope')::bigint)) IS DISTINCT FROM reply -> 'scoped_hashes' LIMIT 5"),
	'', 'numbers of scopes');

# One text of all texts, composed, decomposed and shifted: the server processes it in
# pieces.  One wrong shingle at a boundary changes the resemblance.  The text has no U+11A7,
# which normalize() of older minor releases (15.18) drops behind a Hangul syllable.
$node->safe_psql('postgres',
	"CREATE TABLE whole AS SELECT replace(string_agg(body, ' . ' ORDER BY id), U&'\\11A7', '') AS body
	 FROM answers WHERE unit = 'word'");
is( $node->safe_psql('postgres',
		"SELECT resemblance(body, normalize(body, NFC)), resemblance(body, normalize(body, NFD)),
			resemblance(body, normalize(body, NFD), 4, 'char') FROM whole"),
	'1|1|1', 'a long text, composed and decomposed');
is( $node->safe_psql('postgres',
		"SELECT DISTINCT resemblance(body, repeat(U&'\\200B', n % 7) || repeat('. ', n) || body)
			FROM whole, generate_series(1, 20) AS n"),
	'1', 'a long text, shifted');

# Weighted features and hashes.  Some weights are binary fractions.
@requests = ();
for my $id (1 .. 300)
{
	my $n = 1 + int(rand(20));
	my @weights = map {
		one_of(int(rand(5)), rand(10) - 2, rand() / 2**20, 0.1, -1, rand(2**20), 2**-26, 3 * 2**-25) } 1 .. $n;
	my @hashes = map { unpack('q', pack('L2', int(rand(2**32)), int(rand(2**32)))) } 1 .. $n;
	my @features = map { random_text() } 1 .. $n;
	push @requests, map { $json->encode($_) }
	  { id => $id, features => \@features, weights => \@weights },
	  { id => $id, hashes => \@hashes, weights => \@weights };

	my %lexemes = map { one_of('a' .. 'z') => join('', map { one_of('A' .. 'D', 'D') } 1 .. rand(6)) } 0 .. rand(8);
	my $document = join(' ', map {
		my ($l, $i) = ($_, 0);
		$l . join(',', map { $i++ ? "$i$_" : ":$i$_" } split(//, $lexemes{$l}))
	} sort keys %lexemes);
	push @requests, $json->encode({ id => $id, document => $document, lexemes => \%lexemes,
		labels => [ map { one_of(-1, 0, 0.1, 0.2, 0.3, 0.7, 1, 2**-25) } 1 .. 4 ] });
}
load($node, 'weighed', \@requests, [ answers_to(@requests) ]);
$node->safe_psql('postgres',
	q{CREATE TABLE weighted AS
		SELECT request ->> 'id' AS id, (reply ->> 'simhash')::simhash AS fp, request FROM weighed});
my ($features, $hashes, $weights) = map { sprintf $array, $_ } 'features', 'hashes', 'weights';
is( $node->safe_psql('postgres',
		"SELECT id, fp FROM weighted WHERE request ? 'features' AND simhash($features, ($weights)::float8[])
			IS DISTINCT FROM fp ORDER BY id"),
	'', 'weighted features');
is( $node->safe_psql('postgres',
		"SELECT id, fp FROM weighted WHERE request ? 'hashes'
			AND simhash(($hashes)::bigint[], ($weights)::float8[]) IS DISTINCT FROM fp ORDER BY id"),
	'', 'weighted hashes');
is( $node->safe_psql('postgres',
		"SELECT id, fp FROM weighted WHERE request ? 'features' AND fp IS DISTINCT FROM
			(SELECT simhash_agg(f, w::float8) FROM unnest($features, $weights) AS u (f, w)) ORDER BY id"),
	'', 'weighted features in rows');
my $labels = sprintf $array, 'labels';
is( $node->safe_psql('postgres',
		"SELECT id, fp, request FROM weighted
			WHERE request ? 'lexemes'
			AND simhash((request ->> 'document')::tsvector, ($labels)::float4[]) IS DISTINCT FROM fp
			ORDER BY id LIMIT 5"),
	'', 'weighted lexemes');

# More distinct words than the limit, in two orders, and all of them twice.
for my $words ($ENV{SIMHASH_LARGE} ? (2**20 - 1, 2**20, 2**20 + 1, 1_700_000, 3_000_000) : (), 1_100_000)
{
	my $expected = $node->safe_psql('postgres', "SELECT DISTINCT answer ->> 'result' FROM known
		WHERE (input ->> 'count')::int = $words") || $json->decode((answers_to(
		$json->encode({ text => join(' ', 1 .. $words), width => 1, shingles => JSON::PP::false })))[0])->{simhash};
	is($node->safe_psql('postgres',
		"SELECT simhash(body, 1), simhash(backwards, 1), simhash(body || ' ' || backwards, 1)
		FROM (SELECT string_agg(i::text, ' ' ORDER BY i) AS body, string_agg(i::text, ' ' ORDER BY -i) AS backwards
		      FROM generate_series(1, $words) AS i) AS t"),
		"$expected|$expected|$expected", "$words distinct words");
}

# Bytes in a database without an encoding.
$node->safe_psql('postgres', "CREATE DATABASE bytes ENCODING 'SQL_ASCII' TEMPLATE template0");
my @bytes;
for my $id (1 .. 500)
{
	my $most = one_of(0x40, 0x7F, 0xFF);
	push @bytes, { id => $id, width => one_of(1, 2, 3), unit => one_of('word', 'char'), shingles => JSON::PP::false,
		bytes => join('', map { rand() < 0.1 ? ' ' : chr(1 + int(rand($most))) } 1 .. exp(rand(8))) };
}
my @replies = map { $json->decode($_)->{simhash} // '\N' } answers_to(map { $json->encode($_) } @bytes);
my $rows = join('', map { my $b = $bytes[$_]; join("\t", $b->{id}, $b->{width}, $b->{unit},
	$b->{bytes} =~ s/(.)/sprintf('\\x%02x', ord($1))/gser, $replies[$_]) . "\n" } 0 .. $#bytes);
is($node->safe_psql('bytes', "CREATE EXTENSION simhash;
	CREATE TABLE answers (id int, width int, unit text, body text, fp simhash);
	COPY answers FROM STDIN;\n$rows\\.
	SELECT count(*) FROM answers;
	SELECT id, width, unit, body::bytea, fp, simhash(body, width, unit)
	FROM answers WHERE simhash(body, width, unit) IS DISTINCT FROM fp LIMIT 5;"),
	scalar @bytes, 'bytes without an encoding');

$node->stop;
done_testing();
