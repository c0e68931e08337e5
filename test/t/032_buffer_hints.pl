# Buffer hints (src/index/tree/buffer_hint.c) must neither lower the usage count of buffers
# nor hide hits from the statistics.  A page that is read often stays in shared buffers,
# whatever else is read.

use strict;
use warnings;

use FindBin;
use lib $FindBin::RealBin;
use IndexTest;
use PostgreSQL::Test::Cluster;
use PostgreSQL::Test::Utils;
use Test::More;

# The settings allow so few buffers that the table does not fit.
my $node = index_node('hints', conf => <<'CONF');
autovacuum = off
shared_buffers = 2MB
CONF

$node->safe_psql('postgres', <<'SQL');
CREATE TABLE docs AS SELECT i AS id, fp_of(i) AS fp FROM generate_series(1, 200000::bigint) AS i;
CREATE INDEX docs_fp ON docs USING simhash (fp);
-- one fingerprint, over and over, between random rows of the table
CREATE PROCEDURE read_often(times integer) LANGUAGE plpgsql SET enable_seqscan = off AS $$
DECLARE
    q simhash := (SELECT fp FROM docs WHERE ctid = '(500,3)');
    pages integer := pg_relation_size('docs') / current_setting('block_size')::integer;
    n integer;
BEGIN
    ASSERT EXISTS (SELECT FROM plan(
        format('SELECT FROM docs WHERE fp <@ %L::simhash_ball', simhash_ball(q, 2)), 'docs_fp'));
    FOR i IN 1 .. times LOOP
        SELECT count(*) INTO n FROM docs WHERE fp <@ simhash_ball(q, 2);
        ASSERT n > 0;
        PERFORM FROM docs WHERE ctid = format('(%s,1)', (hashint8(i) & 65535) % pages)::tid;
    END LOOP;
END $$;
SQL

# Reads so many times, and sends the statistics.  Without that they could arrive after the
# end of psql.
sub read_often
{
	my ($times) = @_;

	$node->safe_psql('postgres', "CALL read_often($times); SELECT pg_stat_force_next_flush()");
}

my $times = 5000;
read_often(10);
my $counts = q{SELECT idx_blks_hit, idx_blks_read FROM pg_statio_user_indexes WHERE indexrelname = 'docs_fp'};
my @before = split /\|/, $node->safe_psql('postgres', $counts);
read_often($times);
my @after = split /\|/, $node->safe_psql('postgres', $counts);
my ($hits, $reads) = map { $after[$_] - $before[$_] } 0, 1;

# A look-up reads at least a root and a leaf.
cmp_ok($hits, '>=', 2 * $times, "$hits hits are counted");
cmp_ok($reads, '<', $times / 100, "pages that are read often stay in shared buffers ($reads reads)");

no_crash_ok($node);
$node->stop;
done_testing();
