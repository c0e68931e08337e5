# The recipes of the documentation, beyond what 004_docs.pl compares.
#
# What a page makes can be moved: functions, triggers, tables, indexes of expressions.  Each
# page runs in a database whose extension has a schema of its own.  A dump restores the same
# rows, whole, and the data alone into the tables, where triggers fire.  ANALYZE computes the
# indexes' expressions.  All of these have an empty search_path, as a subscriber's apply
# worker has.  SIMHASH_PAGES=all moves all pages, not only those with triggers or functions
# in generated columns.
#
# Functions return the right results for other arguments than the pages', and take time in
# proportion to a text's length.
use strict;
use warnings;

use FindBin;
use lib $FindBin::RealBin;
use DocsTest;
use PostgreSQL::Test::Cluster;
use PostgreSQL::Test::Utils;
use Test::More;

plan skip_all => 'servers refuse to run as root' if $> == 0;

# Functions on the pages find tables and the extension with an empty search_path.
foreach my $file ('README.md', pages())
{
	my @functions =
	  docs_file($file) =~ /^ {0,4}(CREATE (?:OR REPLACE )?FUNCTION .*?(?:AS \$\$|BEGIN ATOMIC|RETURN .*?)$)/msg;

	is(scalar @functions, scalar(() = docs_file($file) =~ /^\s*CREATE (?:OR REPLACE )?FUNCTION/mg),
		"$file: functions are recognised")
	  if docs_file($file) =~ /CREATE (?:OR REPLACE )?FUNCTION/;
	foreach my $function (@functions)
	{
		my ($name) = $function =~ /FUNCTION (\w+)/;

		like($function, qr/LANGUAGE sql\b.*\s(?:RETURN\b|BEGIN ATOMIC)|LANGUAGE plpgsql\b.*\sSET search_path\b/s,
			"$file: $name has a parsed body or a search_path");
	}
}

my @files = grep { $_ ne 'docs/machines.md' && blocks_of($_) } 'README.md', pages();
@files = grep { docs_file($_) =~ /CREATE TRIGGER|FUNCTION code_tokens/ } @files
  unless ($ENV{SIMHASH_PAGES} // '') eq 'all';

# Tables that triggers of another table fill.
my %filled = ('docs/stream.md' => ['label']);

my $node = PostgreSQL::Test::Cluster->new('moved');
$node->init(extra => [ '--encoding=UTF8', '--locale=C' ]);
$node->append_conf('postgresql.conf', "autovacuum = off\nfsync = off\n");
$node->start;

# Runs SQL without a search_path.
sub without_path
{
	my ($database, $sql) = @_;

	return $node->safe_psql($database, "SET search_path = '';\n$sql");
}

# Returns the rows of each table, and the indexes, with their validity.
sub contents
{
	my ($database) = @_;
	my $queries = without_path($database, <<'SQL');
SELECT string_agg(format($f$SELECT %L, count(*)::text, md5(string_agg(t::text, ',' ORDER BY t::text)) FROM %s AS t$f$,
                         oid::regclass, oid::regclass), ' UNION ALL ' ORDER BY oid::regclass::text)
FROM pg_class WHERE relkind IN ('r', 'm') AND relnamespace = 'public'::regnamespace
SQL
	return ($queries eq '' ? '' : without_path($database, "$queries ORDER BY 1")) . "\n"
	  . without_path($database, <<'SQL');
SELECT pg_get_indexdef(indexrelid), indisvalid FROM pg_index AS i JOIN pg_class AS c ON c.oid = indrelid
WHERE relnamespace = 'public'::regnamespace ORDER BY 1
SQL
}

# Dumps a database and restores it into another one.
sub move
{
	my ($from, $to, @options) = @_;
	my $file = $node->basedir . "/$to";

	$node->command_ok([ 'pg_dump', '-f', $file, @options, $from ], "$from: dumped (@options)");
	$node->command_ok([ 'psql', '-Xq', '-v', 'ON_ERROR_STOP=1', '-d', $to, '-f', $file ], '... and restored');
}

# Empties the tables of a database.
sub empty
{
	my ($database) = @_;

	without_path($database, without_path($database, <<'SQL'));
SELECT 'TRUNCATE ' || string_agg(oid::regclass::text, ', ') FROM pg_class
WHERE relkind = 'r' AND relnamespace = 'public'::regnamespace
SQL
}

my $moved = 0;
foreach my $file (@files)
{
	(my $database = lc $file =~ s{^docs/|\.md$}{}gr) =~ tr/a-z/_/c;
	my $sql = join '', map { $_->{sql} } blocks_of($file);

	$sql =~ s/^CREATE EXTENSION simhash;$//mg;
	$node->safe_psql('postgres', "CREATE DATABASE $database; ALTER DATABASE $database SET search_path = public, near");
	$node->safe_psql($database, <<'SQL');
CREATE SCHEMA near;
GRANT USAGE ON SCHEMA near TO PUBLIC;
CREATE EXTENSION simhash SCHEMA near;
SQL
	my $errors;
	is($node->psql($database, $sql, stderr => \$errors, on_error_stop => 1), 0, "$file: runs") or diag($errors);
	my $contents = contents($database);
	$moved += () = $contents =~ /\|[1-9]\d*\|/g;

	my $copy = "${database}_copy";
	$node->safe_psql('postgres', "CREATE DATABASE $copy");
	move($database, $copy);
	is(contents($copy), $contents, "$file: a dump restores the rows and indexes");
	without_path($copy, 'ANALYZE');
	next unless $contents =~ /\|\d+\|/;

	my @omitted = map { ('-T', $_) } @{ $filled{$file} // [] };
	empty($copy);
	move($database, $copy, '--data-only', @omitted);
	is(contents($copy), $contents, "$file: the data alone, with triggers");
	next unless @omitted;
	empty($copy);
	move($database, $copy, '--data-only', '--disable-triggers');
	is(contents($copy), $contents, "$file: the data alone, without triggers");
}
cmp_ok($moved, '>', 20, "$moved tables with rows");

# Makes the functions of some blocks.
$node->safe_psql('postgres', 'CREATE EXTENSION simhash');
foreach my $name (qw(code_tokens page_text python_simhash undisguised unpointed must_agree))
{
	my ($sql) = grep { /FUNCTION $name\(/ } map { $_->{sql} } map { blocks_of($_) } pages();

	$node->safe_psql('postgres', $sql =~ s/^CREATE EXTENSION simhash;$//mr =~ s/^(?:SELECT|CREATE TABLE).*//msr);
}

sub value { return $node->safe_psql('postgres', "SET client_min_messages = error; SELECT $_[0]"); }

# Names are replaced in each language.
my %code = (map({ $_ => 'int v = v + 1 ;' } qw(c java)), map({ $_ => 'v v = v + 1 ;' } qw(python javascript)));
is(value(qq{array_to_string(code_tokens('$_', 'int total = price + 1;'), ' ')}), $code{$_}, "code in $_")
  foreach sort keys %code;
is(value(q{array_to_string(code_tokens('java', 'return null == _a1;'), ' ')}),
	'return null = = v ;', 'null is a keyword');
foreach my $language (q('perl'), 'NULL')
{
	my $stderr;

	$node->psql('postgres', "SELECT code_tokens($language, 'a')", stderr => \$stderr);
	like($stderr, qr/ERROR:  no keywords of the language/, "code in $language: an error");
}

# Markup, as browsers read it.
my @pages = (
	'<!-- a -->one<!-- b -->two' => ' one two',
	'<SCRIPT src="x">a</SCRIPT >one<script>b</script>two' => ' one two',
	'<script>"<!--" + "</p>" + (a < b)</script>one<!-- c -->two' => ' one two',
	'<scripture>one</scripture>' => ' one ',
	'<style>a<style>b</style>one' => ' one',
	'one<script>a' => 'one ',
	'one<!-- a' => 'one ',
	'one<a title="two' => 'one ',
	q(<a title="x > y" lang='>'>one</a >two) => ' one two',
	q(<p title = it's>one<br/>two) => ' one two',
	'<!DOCTYPE html><?xml version="1.0"?>one' => '  one',
	'one < two > three <3' => 'one < two > three <3',
	'one&amp;two &#65;&#x42; &eacute;t&eacute; &x y; &' => "one two AB \x{e9}t\x{e9} &x y; &",
	'&&amp;;&' => '& ;&');
while (my ($html, $text) = splice @pages, 0, 2)
{
	utf8::encode($text);
	is(value("page_text(\$\$$html\$\$)"), $text, "page_text: $html");
}

# A text that is made to take long takes a second.  In quadratic time it takes minutes.
foreach my $call (
	map({ "page_text($_)" } map({ "repeat('$_', 50000)" } '<', 'a', ' ', '&', '~/', 'a_', './', '<a ', '<a =', '<a b="',
			'<!--', '<script '),
		q(repeat('<script ', 10000) || '<!-- -->'), q(repeat('<style>', 10000) || '<script></script>')),
	map({ "code_tokens('c', repeat('$_', 50000))" } 'a', ' ', '_1', '+'),
	q(python_simhash(repeat('a', 30000))),
	q(unpointed(repeat(U&'\064B\0650', 30000))),
	q(must_agree(repeat('-', 100000) || '1')),
	map({ "undisguised(repeat($_, 30000))" } q(U&'\0315\0300'), q(U&'\064B\0650'), q('a.'), q(' '), q('.')))
{
	is($node->psql('postgres', "SET statement_timeout = '1min'; SELECT ($call) IS NULL"), 0, $call);
}

done_testing();
