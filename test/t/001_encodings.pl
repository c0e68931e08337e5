# A fingerprint or a signature depends on the text, not on the encoding of the server or
# of the client.

use strict;
use warnings;
use utf8;

use Encode qw(encode);
use PostgreSQL::Test::Cluster;
use PostgreSQL::Test::Utils;
use Test::More;

plan skip_all => 'servers refuse to run as root' if $> == 0;

my $western = 'Übermütige Größe: «naïve» café — ½ ª º µ ¹²³ Æsir ÿ ÇA VA? ßtraße';
$western =~ s/—/-/;
my $japanese = 'すべての人間は、ﾊﾝｶｸ生まれながらにして自由 ＡＢＣ１２３ 漢字とPostgreSQLのテスト ㈱①';
$japanese =~ s/[㈱①]//g;
my $chinese = '人人生而自由，在尊严和权利上一律平等。SQL数据库 ＡＢＣ';
my $korean = '모든 인간은 태어날 때부터 자유로우며 그 존엄과 권리에 있어 동등하다';
my $russian = 'Съешь ЕЩЁ этих мягких французских булок, да выпей чаю';
my $czech = 'Příliš žluťoučký kůň ÚPĚL ďábelské ódy';

# The server's encodings, and texts in them.
my %texts = (
	LATIN1 => [$western],
	LATIN2 => [$czech],
	LATIN9 => ['Œuvre à 5 € Šumava'],
	WIN1251 => [$russian],
	KOI8R => [$russian],
	EUC_JP => [$japanese, $russian],
	EUC_JIS_2004 => [$japanese, 'か゚き゚ ｶﾞ'],
	EUC_CN => [$chinese, $russian],
	EUC_KR => [$korean],
	EUC_TW => ['人人生而自由'],
);

my $node = PostgreSQL::Test::Cluster->new('main');
$node->init(extra => [ '--encoding=UTF8', '--no-locale' ]);
$node->start;

sub create
{
	my $encoding = shift;
	my ($rc, $out, $err) = $node->psql('postgres',
		qq(CREATE DATABASE "in_$encoding" ENCODING '$encoding' TEMPLATE template0 LC_COLLATE 'C' LC_CTYPE 'C'));
	return 0 if $rc != 0 && $err =~ /not a valid encoding/;
	die $err if $rc != 0;
	($rc, $out, $err) = $node->psql("in_$encoding", 'CREATE EXTENSION simhash');
	die $err if $rc != 0;
	if ($encoding eq 'SQL_ASCII')
	{
		like($err, qr/WARNING:  database "in_SQL_ASCII" has encoding SQL_ASCII.*^HINT: .* ENCODING 'UTF8'/ms,
			'SQL_ASCII: a warning, and what to do');
	}
	else
	{
		is($err, '', "$encoding: no warning");
	}
	return 1;
}

# Returns the output of psql as bytes, for a client of an encoding.  The input is bytes,
# too.
sub ask
{
	my ($database, $client, $sql) = @_;
	local $ENV{PGCLIENTENCODING} = $client;
	my ($rc, $out, $err) = $node->psql($database, $sql, on_error_stop => 1);
	diag($err) if $rc != 0;
	return $rc == 0 ? $out : "error: $err";
}

sub quoted
{
	my $text = shift;
	$text =~ s/'/''/g;
	return "'$text'";
}

# Returns all features of a text that are fingerprints or signatures.
sub fingerprints_of
{
	my $expression = shift;
	return "SELECT simhash(x), simhash(x, 1), simhash(x, 3), simhash(x, 1, 'char'), simhash(x, 4, 'char'), "
	  . "to_minhash(x, 2, 2), to_minhash(x, 2, 2, 4, 'char'), "
	  . "resemblance(x, x), containment(x, x || ' and more', 1) > 0.5, simhash(x) = simhash(x::varchar) "
	  . "FROM (SELECT $expression) AS t (x)";
}

create('UTF8');

# Servers with other encodings: the client sends UTF-8, and the server converts it.
for my $encoding (sort keys %texts)
{
  SKIP:
	{
		skip "no server encoding $encoding", 1 unless create($encoding);
		my $i = 0;
		for my $text (@{ $texts{$encoding} })
		{
			$i++;
			my $sql = encode('UTF-8', fingerprints_of(quoted($text)));
			my $expected = ask('in_UTF8', 'UTF8', $sql);
			is(ask("in_$encoding", 'UTF8', $sql), $expected, "$encoding: text $i");

			# The server converts a long text in pieces.  One wrong shingle at the boundary of a
			# piece changes the containment.
			$sql = encode('UTF-8',
				"SELECT n, simhash(x), simhash(x, 5, 'char'), containment(x, y), containment(x, y, 3, 'char') "
				  . 'FROM (SELECT ' . quoted("$text $text") . '::text) AS u (y), generate_series(0, 40) AS n, '
				  . 'LATERAL (SELECT repeat(\'x\', n) || repeat('
				  . quoted("$text ")
				  . ', 700)) AS t (x) ORDER BY n');
			is(ask("in_$encoding", 'UTF8', $sql), ask('in_UTF8', 'UTF8', $sql), "$encoding: text $i, long");
		}
	}
}

# Shingles are in the server's encoding.
for my $case (
	[ 'LATIN1', 'Größe CAFÉ naïve' ],
	[ 'EUC_JP', 'ﾊﾝｶｸ 漢字とﾃﾞｰﾀ' ],
	[ 'EUC_KR', $korean ],
	[ 'WIN1251', $russian ])
{
	my ($encoding, $text) = @$case;
	for my $unit ('word', 'char')
	{
		my $sql = encode('UTF-8', 'SELECT shingles(' . quoted($text) . ", 2, '$unit')");
		is(ask("in_$encoding", 'UTF8', $sql), ask('in_UTF8', 'UTF8', $sql), "$encoding: shingles by $unit");
	}
	my $sql = encode('UTF-8',
		'SELECT simhash(x) = simhash(shingles(x), 1), simhash(x) = simhash(shingles(x, 1), 2), '
		  . 'simhash(x) = (SELECT simhash_agg(s) FROM unnest(shingles(x)) AS s), '
		  . 'resemblance(x, x) = resemblance(shingles(x, 1), shingles(x, 1)) FROM (SELECT '
		  . quoted($text)
		  . '::text) AS t (x)');
	is(ask("in_$encoding", 'UTF8', $sql), 't|t|t|t', "$encoding: tokens and features in the server's encoding");
}

# The passages of shingles are characters, whatever their bytes.  (One character of
# EUC_JIS_2004 may be two code points, and the server cannot write the second one
# alone.)
for my $case (
	[ 'LATIN1', 'Größe, «CAFÉ»  naïve', 'start, length', 'word', 'char' ],
	[ 'EUC_JP', 'ﾊﾝｶｸ 漢字、とﾃﾞｰﾀ ＡＢ c', 'start, length', 'word', 'char' ],
	[ 'EUC_KR', $korean, 'start, length', 'word', 'char' ],
	[ 'WIN1251', $russian, 'start, length', 'word', 'char' ],
	[ 'EUC_JIS_2004', 'か゚き゚、 ｶﾞ a か゚', 'start > 1', 'word' ])
{
	my ($encoding, $text, $position, @units) = @$case;
	for my $unit (@units)
	{
		my $sql = encode('UTF-8',
			"SELECT only_in, $position, shingle, substr(x, start, length)
				FROM (SELECT repeat(CAST('x ' || '$text ' AS text), 2)) AS t (x), "
			  . "shingle_difference(x, '', 2, '$unit')");
		my $expected = ask('in_UTF8', 'UTF8', $sql);
		like($expected, qr/^a\|/, "$encoding: differences by $unit");
		is(ask("in_$encoding", 'UTF8', $sql), $expected, "$encoding: shingle_difference by $unit");
	}
}

# Tokens, features and scopes are hashed as UTF-8.
for my $encoding ('LATIN1', 'EUC_JP')
{
	my $token = $encoding eq 'LATIN1' ? 'Größe' : '漢字';
	my $sql = encode('UTF-8',
		"SELECT scoped_hashes('{1,2}', '$token'), "
		  . "simhash(ARRAY['$token', 'b', 'c']), simhash(ARRAY['$token', 'b'], ARRAY[2, 1]), "
		  . "to_minhash(ARRAY['$token', 'b', 'c', 'd']), minhash_agg(f), "
		  . "simhash_agg(f), simhash('$token:1A b'::tsvector) FROM (VALUES ('$token'), ('b')) AS v (f)");
	is(ask("in_$encoding", 'UTF8', $sql), ask('in_UTF8', 'UTF8', $sql), "$encoding: tokens, features, lexemes, scopes");
}

# Every character of LATIN1, alone and between letters.
my $each = "SELECT i, simhash('a' || chr(i) || 'b', 1), simhash(chr(i), 1, 'char')
	FROM generate_series(1, 255) AS i ORDER BY i";
is(ask('in_LATIN1', 'UTF8', $each), ask('in_UTF8', 'UTF8', $each), 'LATIN1: every character');

# Clients with other encodings, including encodings that no server can have.
for my $case ([ 'EUC_CN', 'euc-cn' ], [ 'GBK', 'cp936' ], [ 'GB18030', 'cp936' ], [ 'BIG5', 'big5-eten' ])
{
	my ($client, $perl) = @$case;
	my $text = $client eq 'BIG5' ? '人人生而自由' : $chinese;
	my $sql = fingerprints_of(quoted($text));
	is( ask('in_UTF8', $client, encode($perl, $sql)),
		ask('in_UTF8', 'UTF8', encode('UTF-8', $sql)),
		"$client client of a UTF8 server");
	$sql = 'SELECT shingles(' . quoted($text) . ')';
	is( ask('in_UTF8', $client, encode($perl, $sql)),
		encode($perl, Encode::decode('UTF-8', ask('in_UTF8', 'UTF8', encode('UTF-8', $sql)))),
		"$client client: shingles");
}

# SQL_ASCII: the meaning of bytes above 127 is unknown, so each of them is a letter that
# does not change.
create('SQL_ASCII');
my $ascii = fingerprints_of(q{'The quick (brown) FOX, jumps over 13 lazy dogs!'});
is(ask('in_SQL_ASCII', 'SQL_ASCII', $ascii), ask('in_UTF8', 'UTF8', $ascii), 'SQL_ASCII: ASCII text');
is( ask('in_SQL_ASCII', 'SQL_ASCII', "SELECT shingles('Caf\xe9 \xc0B-\xff', 1) = ARRAY['caf\xe9', '\xc0b', '\xff']"),
	't', 'SQL_ASCII: bytes above 127 are letters, unchanged');
is( ask('in_SQL_ASCII', 'SQL_ASCII',
		"SELECT simhash('Caf\xe9 \xc0B') = simhash(ARRAY['caf\xe9', '\xc0b']),
			simhash('Caf\xe9 x') <> simhash('Caf x')"),
	't|t', 'SQL_ASCII: their hashes are those of the bytes');
is( ask('in_SQL_ASCII', 'SQL_ASCII', "SELECT cardinality(shingles('a\xc3\xa9b', 1, 'char'))"),
	'4', 'SQL_ASCII: each of them is a character');
is( ask('in_SQL_ASCII', 'SQL_ASCII',
		"SELECT start, length FROM shingle_difference('ab \xc3\xa9, c', '', 2)
		UNION ALL SELECT start, length FROM shingle_difference('!?', '', 1)"),
	"1|5\n4|5\n1|1\n2|1", 'SQL_ASCII: each has a position');
is( ask('in_SQL_ASCII', 'SQL_ASCII',
		"SELECT simhash(repeat('\xff\xfe\x80 ', 100000)) IS NOT NULL, simhash('\xf0\x9f') IS NOT NULL,
			resemblance('\xe9', '\xe8')"),
	't|t|0', 'SQL_ASCII: bytes that are no UTF-8');

# An encoding that PostgreSQL cannot convert to UTF-8: ASCII needs no conversion, other
# characters raise an error.
SKIP:
{
	skip 'no server encoding MULE_INTERNAL', 3 unless create('MULE_INTERNAL');
	my $text = quoted('The quick (brown) FOX, jumps over 13 lazy dogs!');
	my $sql = fingerprints_of("CAST($text AS text)")
	  . "; SELECT simhash($text), simhash('!? !'), shingles($text), shingles($text, 5, 'char'), "
	  . "simhash(ARRAY['a', 'b']), simhash(ARRAY['a'], ARRAY[1.0]), simhash('a:1A b'::tsvector), "
	  . "simhash_agg('a'), simhash(repeat($text, 1000))";
	is(ask('in_MULE_INTERNAL', 'MULE_INTERNAL', $sql), ask('in_UTF8', 'UTF8', $sql), 'MULE_INTERNAL: ASCII');
	for my $call ("simhash('caf\x81\xe9')", "simhash(repeat('a ', 10000) || 'caf\x81\xe9')")
	{
		my ($rc, $out, $err);
		{
			local $ENV{PGCLIENTENCODING} = 'MULE_INTERNAL';
			($rc, $out, $err) = $node->psql('in_MULE_INTERNAL', "SELECT $call");
		}
		like($err, qr/default conversion function for encoding "MULE_INTERNAL" to "UTF8" does not exist/,
			'MULE_INTERNAL: anything else is an error');
	}
}

$node->stop;
done_testing();
