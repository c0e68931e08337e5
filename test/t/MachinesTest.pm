# Servers that answer together, compared with one table: shared parts of the tests of
# docs/machines.md.

package MachinesTest;

use strict;
use warnings;

use Exporter qw(import);
use PostgreSQL::Test::Cluster;
use PostgreSQL::Test::Utils;
use Test::More;

our @EXPORT = qw(server said rows_of load_documents same_rows_as_one_table);

my $text;    # the query text, as :'text'

sub server
{
	my ($name, $conf) = @_;
	my $node = PostgreSQL::Test::Cluster->new($name);

	$node->init(extra => [ '--encoding=UTF8', '--locale=C' ]);
	$node->append_conf('postgresql.conf', "jit = off\n" . ($conf // ''));
	$node->start;
	return $node;
}

# Returns the output of a statement, and its messages.
sub said
{
	my ($node, $sql) = @_;
	my ($stdout, $stderr);
	my $status = $node->psql('postgres', $sql,
		stdout => \$stdout, stderr => \$stderr, extra_params => [ '-v', 'text=' . ($text // '') ]);

	return ($stdout, $status == 0 ? '' : $stderr || 'failed');
}

# Loads families of documents into whole.docs, and from there into docs: a text of 150 words,
# the same with one word replaced, with other punctuation, with two words replaced, with ten;
# and some without a fingerprint.  The schema whole gets the one table of each query.
# Chooses the query text.
sub load_documents
{
	my ($coordinator, $seed) = @_;

	$coordinator->safe_psql('postgres', <<"SQL");
CREATE SCHEMA whole;
CREATE TABLE whole.docs (LIKE docs INCLUDING GENERATED);
INSERT INTO whole.docs (id, body)
SELECT family * 5 + member, string_agg(
    CASE WHEN (w + family) % 150 < ('{0,1,0,2,10}'::integer[])[member + 1] THEN 'changed' || member
         ELSE substr(md5((hashint8extended(family * 150 + w, $seed) & 4095)::text), 1, 6) END,
    CASE member WHEN 2 THEN ', ' ELSE ' ' END ORDER BY w)
FROM generate_series(1, 400) AS family, generate_series(0, 4) AS member, generate_series(1, 150) AS w
GROUP BY family, member;
INSERT INTO whole.docs (id, body)
SELECT i, CASE WHEN i % 2 = 0 THEN ' ' END FROM generate_series(10001, 10020) AS i;
ANALYZE whole.docs;
INSERT INTO docs (id, body) SELECT id, body FROM whole.docs;
SQL

	# A text with neighbours, of which the tenth is nearer than the eleventh.
	$text = $coordinator->safe_psql('postgres', <<"SQL");
SELECT body FROM whole.docs AS q,
    LATERAL (SELECT array_agg(fp <~> q.fp ORDER BY fp <~> q.fp) AS bits FROM whole.docs) AS s
WHERE id % 5 = 0 AND bits[3] <= 3 AND bits[10] < bits[11]
ORDER BY hashint8extended(id, $seed) LIMIT 1
SQL
	isnt($text, '', 'a text to search for');
}

# Returns the rows of a query, sorted.
sub rows_of
{
	my ($node, $sql) = @_;
	my ($rows) = said($node, $sql);

	return join "\n", sort split /\n/, $rows;
}

# Checks that a query returns the same rows on the shards as in one table.
sub same_rows_as_one_table
{
	my ($coordinator, $query, $name) = @_;
	my ($rows, $complaint) = said($coordinator, $query);
	my $by_one = rows_of($coordinator, "SET search_path = whole, public;\n" . $query);

	is($complaint, '', "$name: runs");
	isnt($by_one, '', "$name: finds something");
	is(join("\n", sort split /\n/, $rows), $by_one, "$name: rows as of one table");
}

1;
