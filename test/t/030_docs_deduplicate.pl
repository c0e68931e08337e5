# The recipe of docs/deduplicate.md lists each row that resembles a better row that stays,
# and no other, by all shingle hashes and by signatures.  The page's procedure deletes the
# rows of the list.  It deletes no row whose keeper does not stay, and reports the rows that
# it does not delete.

use strict;
use warnings;

use FindBin;
use lib $FindBin::RealBin;
use DocsTest;
use IndexTest;
use PostgreSQL::Test::Cluster;
use PostgreSQL::Test::Utils;
use Test::More;

my $seed = random_seed();
my $node = index_node('deduplicate');

sub answer { return $node->safe_psql('postgres', @_); }

# The page's tables, lists and procedure, without its documents.
my %sql;
foreach my $block (blocks_of('docs/deduplicate.md'))
{
	push @{ $sql{ $block->{section} } }, $block->{sql};
}

# Returns the statements of a section that match.
sub statements
{
	my ($section, $match) = @_;

	return grep { $_ =~ $match } map { split /;\n+(?=(?!END )[A-Z]+ |--|\z)/ } @{ $sql{$section} };
}

sub run_statements
{
	my @statements = statements(@_);

	cmp_ok(scalar @statements, '>', 0, "statements of $_[0]");
	answer("$_;") foreach @statements;
}

# Loads families: a text of 100 words, and six texts with up to ten of them replaced.  Then
# equal texts, and a chain: each text resembles the next one alone.
sub load_documents
{
	answer(<<"SQL");
TRUNCATE docs, comments;
DROP TABLE IF EXISTS ranked, duplicates;
INSERT INTO docs (id, body)
SELECT family * 7 + member, string_agg(
    CASE WHEN (w + family) % 100 < member * 5 / 3 THEN 'changed' || member
         ELSE substr(md5((family * 100 + w + $seed)::text), 1, 6) END, ' ' ORDER BY w)
FROM generate_series(1, 100) AS family, generate_series(0, 6) AS member, generate_series(1, 100) AS w
GROUP BY family, member;
INSERT INTO docs (id, body) VALUES (10001, ''), (10002, NULL);
INSERT INTO docs (id, body)
SELECT 20000 + i, string_agg(substr(md5((i * 8 + w - $seed)::text), 1, 6), ' ' ORDER BY w)
FROM generate_series(1, 10) AS i, generate_series(1, 100) AS w GROUP BY i;
INSERT INTO docs SELECT 30000 + i, 'No page of this name is here.' FROM generate_series(1, 60) AS i;
INSERT INTO comments SELECT id, 'on ' || id FROM docs;
ANALYZE docs;
CREATE TABLE IF NOT EXISTS was (LIKE docs);
TRUNCATE was;
INSERT INTO was SELECT * FROM docs;
CREATE TABLE IF NOT EXISTS listed (id bigint, keeper bigint, n bigint);
SQL
}

# Makes the list of the recipe's steps 1 and 2, or of another section, and its key.
sub list_duplicates
{
	my ($section) = @_;

	run_statements($section // 'Keep one of each', qr/(?:UNLOGGED TABLE|ANALYZE) ranked|TABLE duplicates AS/);
	number_list();
}

# Gives the list its key, and numbers for batches.
sub number_list
{
	run_statements('Delete in batches', qr/^ALTER TABLE duplicates/);
}

# Returns the ids that stay if the documents are added in the recipe's order, each one
# unless it resembles one that is there.
sub kept_one_by_one
{
	answer(<<'SQL');
CREATE TEMP TABLE kept (id bigint, sk bigint[]);
DO $$
DECLARE
    d docs;
BEGIN
    FOR d IN SELECT * FROM docs ORDER BY length(body) DESC, id LOOP
        INSERT INTO kept
        SELECT d.id, shingle_hashes(d.body)
        WHERE NOT EXISTS (SELECT FROM kept WHERE (sk <%> shingle_hashes(d.body)) + 0 <= 0.2);
    END LOOP;
END $$;
SELECT string_agg(id::text, ',' ORDER BY id) FROM kept
SQL
}

# Calls the procedure; returns the notices.
sub delete_listed
{
	my ($batch) = @_;
	my $stderr;

	answer('TRUNCATE listed; INSERT INTO listed SELECT * FROM duplicates');
	is($node->psql('postgres', "CALL delete_duplicates($batch)", stderr => \$stderr), 0,
		"deletion in batches of $batch");
	return join "\n", $stderr =~ /NOTICE: +(.*)/g;
}

# Checks that all rows of the list are deleted, and no others.  The condition is that of
# the list's rule.
sub all_deleted_ok
{
	my ($rule, $condition, $batch) = @_;
	my $listed = answer('SELECT count(*) FROM duplicates');

	cmp_ok($listed, '>', 50, "$rule: a list of $listed");
	is(delete_listed($batch), "$listed deleted", "$rule: reports them");
	is(answer('SELECT (SELECT count(*) FROM was) - (SELECT count(*) FROM docs)'), $listed,
		"$rule: all that are listed are deleted");
	is(answer('SELECT count(*) FROM listed JOIN docs USING (id)'), '0', "$rule: and no others");
	is(answer('SELECT count(*) FROM duplicates'), '0', "$rule: none is left on the list");
	is(answer(<<"SQL"), '0', "$rule: each is a duplicate of one that stays");
SELECT count(*) FROM was d WHERE NOT EXISTS (SELECT FROM docs WHERE docs.id = d.id)
    AND NOT EXISTS (SELECT FROM listed AS l JOIN docs k ON k.id = l.keeper WHERE l.id = d.id AND $condition)
SQL
	is(answer('SELECT count(*) FROM comments JOIN docs ON docs.id = doc'), answer('SELECT count(*) FROM was'),
		"$rule: comments are on what stays");
}

run_statements('Keep one of each', qr/TABLE docs/);
run_statements('Delete in batches', qr/^(?:--.*\n)?CREATE/m);
my $resembles = 'resemblance(d.body, k.body) >= 0.8 AND length(d.body) <= length(k.body)';

load_documents();
list_duplicates();
my $kept = kept_one_by_one();
all_deleted_ok('exact', $resembles, 7);
is(answer(q(SELECT string_agg(id::text, ',' ORDER BY id) FROM docs)), $kept, 'exact: what stays is what comes first');

load_documents();
run_statements('Keep one of each', qr/TABLE ranked/);
my ($equal) = statements('A large corpus', qr/first_value/);
answer("CREATE TABLE duplicates AS $equal");
number_list();
all_deleted_ok('equal texts', 'shingle_hashes(d.body) = shingle_hashes(k.body)', 7);

load_documents();
list_duplicates('A large corpus');
all_deleted_ok('signatures', $resembles, 7);

# Of two callers one waits for the other, and not for rows in another order.
load_documents();
list_duplicates();
my $locker = $node->background_psql('postgres', on_error_stop => 1);
$locker->query_safe('BEGIN; SELECT FROM docs WHERE id = (SELECT max(id) FROM duplicates) FOR UPDATE');
my @callers = map { client($node, "CALL delete_duplicates($_)") } 1000, 900;
ok($node->poll_query_until('postgres',
	q{SELECT count(*) = 1 FROM pg_locks WHERE relation = 'duplicates'::regclass AND NOT granted}),
		'one caller at a time');
$locker->quit;
clients_ok(@callers);
is(answer('SELECT count(*) FROM duplicates'), '0', '... and none is left on the list');

# Rows that are not deleted are reported, and stay on the list.
load_documents();
list_duplicates();
my $listed = answer('SELECT count(*) FROM duplicates');
my ($gone, $anew, $blank, $keeper) = split /\|/, answer(<<'SQL');
SELECT (array_agg(id ORDER BY id))[1], (array_agg(id ORDER BY id))[2], (array_agg(id ORDER BY id))[3], min(keeper)
FROM (SELECT *, min(keeper) OVER () AS first FROM duplicates) AS s WHERE keeper = first
SQL
my $of_keeper =
	answer("SELECT count(*) FROM duplicates WHERE keeper <> $keeper AND keeper = (SELECT max(keeper) FROM duplicates)");
answer(<<"SQL");
DELETE FROM comments WHERE doc IN ($gone, (SELECT max(keeper) FROM duplicates));
DELETE FROM docs WHERE id IN ($gone, (SELECT max(keeper) FROM duplicates));
UPDATE docs SET body = 'Written anew.' WHERE id = $anew;
UPDATE docs SET body = '' WHERE id = $blank;
SQL
is(delete_listed(1), ($listed - $of_keeper - 3) . " deleted\n1 not deleted: gone already\n"
	  . "$of_keeper not deleted: the keeper is gone\n2 not deleted: the texts do not resemble each other",
	'what is not deleted, and why');
is(answer('SELECT count(*) FROM duplicates'), 3 + $of_keeper, 'stays on the list');
is(answer("SELECT count(*) FROM docs WHERE id IN ($anew, $blank)"), '2', 'and in the table');

# An empty list, and lists with rows that must not be deleted.
answer('TRUNCATE duplicates');
is(delete_listed('0'), '0 deleted', 'an empty list');
is(delete_listed('NULL'), '0 deleted', 'an empty list');
foreach my $rows ("($anew, $anew)", "($anew, $blank), ($blank, $keeper)")
{
	my $stderr;

	answer("TRUNCATE duplicates; INSERT INTO duplicates (id, keeper) SELECT a, b FROM (VALUES $rows) AS v (a, b)");
	$node->psql('postgres', 'CALL delete_duplicates(1)', stderr => \$stderr);
	like($stderr, qr/ERROR:  a keeper is on the list/, "a keeper that is listed: $rows");
}

done_testing();
