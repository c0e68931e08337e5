# The documentation's SQL produces the output that the documentation shows.
#
# For each page with SQL, the test runs every block marked "sql", in order, in a
# database of the page's own.  (026_docs_machines.pl runs machines.md.)  A block marked
# "text" that follows is the expected output, notices first.  On another server, all
# blocks of a page run in one session, as a reader types them.  README's blocks are in
# sql/tour.sql.
#
# In the last cell of a table's row, "`expression` is `value`" is an example.
use strict;
use warnings;

use FindBin;
use lib $FindBin::RealBin;
use DocsTest;
use PostgreSQL::Test::Cluster;
use PostgreSQL::Test::Utils;
use Test::More;

my @files = grep { $_ ne 'docs/machines.md' && blocks_of($_) } 'README.md', pages();

# Returns output without whitespace that an editor may change.
sub trimmed
{
	my ($output) = @_;

	$output =~ s/[ \t]+$//mg;
	$output =~ s/\n+\z//;
	return $output;
}

# Returns the examples in a file's tables: expressions, and their values as text.
sub examples_of
{
	my ($file) = @_;

	return docs_file($file) =~ /^\|.*\| `([^`]+)` is `([^`]+)` \|$/mg;
}

my $node = PostgreSQL::Test::Cluster->new('docs');
my $reader = PostgreSQL::Test::Cluster->new('reader');
foreach ($node, $reader)
{
	$_->init(extra => [ '--encoding=UTF8', '--locale=C' ]);
	# autovacuum could change plans
	$_->append_conf('postgresql.conf', 'autovacuum = off');
	$_->start;
}

cmp_ok(scalar @files, '>=', 9, 'pages with SQL');
foreach my $file (@files)
{
	my @blocks = blocks_of($file);
	(my $database = $file) =~ tr/a-z/_/c;

	$_->safe_psql('postgres', "CREATE DATABASE $database") foreach $node, $reader;
	my $errors;
	my $ended = $reader->psql($database, join('', map { $_->{sql} } @blocks), stderr => \$errors);
	is($ended, 0, "$file: runs in one session") or diag($errors);
	foreach my $block (@blocks)
	{
		my ($line, $sql, $expected) = @$block{qw(line sql expected)};
		my ($stdout, $stderr);
		my $status = $node->psql(
			$database, $sql,
			stdout => \$stdout,
			stderr => \$stderr,
			extra_params => [
				'-P', 'format=aligned', '-P', 'tuples_only=off', '-P', 'footer=off'
			]);

		is($status, 0, "$file, line $line: runs") or diag($stderr);
		$stderr =~ s/^psql:<stdin>:\d+: //mg;
		is(trimmed(join("\n", grep { $_ ne '' } $stderr, $stdout)), trimmed($expected // ''),
			"$file, line $line: output");
	}
	my @examples = examples_of($file);
	while (my ($expression, $value) = splice @examples, 0, 2)
	{
		is($node->safe_psql($database, "SELECT ($expression)::text"), $value, "$file: $expression");
	}
}

# The reference has each function that is not a part of a type, operator or operator
# class: those have no names of arguments.
my @names = split /\n/, $node->safe_psql('docs_reference_md', <<'SQL');
SELECT DISTINCT proname FROM pg_depend JOIN pg_proc AS p ON classid = 'pg_proc'::regclass AND objid = p.oid
WHERE deptype = 'e' AND refobjid = (SELECT oid FROM pg_extension WHERE extname = 'simhash')
    AND (proargnames IS NOT NULL OR prokind IN ('a', 'w'))
SQL
cmp_ok(scalar @names, '>', 30, 'functions');
is(join(' ', grep { docs_file('docs/reference.md') !~ /`.*\b$_\b.*`/ } @names), '', 'functions not in reference.md');

foreach my $block (blocks_of('README.md'))
{
	my $sql = $block->{sql} =~ s/^CREATE EXTENSION simhash;\n//r;
	ok(index(docs_file('sql/tour.sql'), $sql) >= 0, "README, line $block->{line}: sql/tour.sql has the same");
}

# A block marked "perl FILE", or with another language, is a part of that file of
# test/clients.
my $quotations = 0;
my $applications = docs_file('docs/applications.md');
while ($applications =~ /^```\w+ ([\w\/]+\.\w+)\n(.*?)^```$/msg)
{
	my ($file, $quotation) = ($1, $2);

	$quotations++;
	ok(index(docs_file("test/clients/$file"), $quotation) >= 0, "applications.md quotes $file")
	  or diag($quotation);
}
cmp_ok($quotations, '>', 10, 'quotations in applications.md');

# Functions in the specs of isolation tests are copies of those on a page.
foreach my $spec (glob("$FindBin::RealBin/../isolation/specs/*.spec"))
{
	my $text = slurp_file($spec);
	my ($file) = $text =~ m{(docs/\w+\.md)} or next;
	my @functions = $text =~ /^\t(CREATE (?:OR REPLACE )?FUNCTION .*?^\tEND \$\$;\n)/msg;

	cmp_ok(scalar @functions, '>', 0, "$spec has functions of $file");
	foreach my $function (@functions)
	{
		$function =~ s/^\t//mg;
		my ($name) = $function =~ /FUNCTION (\w+)/;
		ok(index(docs_file($file), $function) >= 0, "$spec: $name is the same as in $file");
	}
}

done_testing();
