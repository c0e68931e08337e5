# Two sessions write, one vacuums, and others compare the index with the table inside one
# snapshot, on the primary and on a standby.  The standby compares its pages with those of
# the primary, and is promoted.  The test expects no error, no deadlock, no missing or
# surplus row, and no row out of order in an ordered scan.

use strict;
use warnings;

use FindBin;
use lib $FindBin::RealBin;
use DocsTest;
use IndexLoad;
use IndexTest;
use IPC::Run qw(start finish);
use PostgreSQL::Test::Cluster;
use PostgreSQL::Test::Utils;
use Test::More;

my $seed = random_seed();
my $seconds = seconds(4);
my $primary = index_node('primary', streaming => 1, conf => <<'CONF');
autovacuum = off
wal_consistency_checking = 'generic'
deadlock_timeout = 100ms
log_lock_waits = on
max_wal_size = 2GB
CONF

$primary->safe_psql('postgres', <<'SQL');
CREATE TABLE docs (id bigserial, fp simhash);
INSERT INTO docs (fp) SELECT fp_of(i) FROM generate_series(1, 10000) AS i;
CREATE INDEX docs_fp ON docs USING simhash (fp);
CREATE INDEX ON docs USING btree (id);
CREATE INDEX docs_fp_10 ON docs USING simhash (fp) WITH (blocks = 10);
CREATE INDEX docs_fp_5_2 ON docs USING simhash (fp) WITH (blocks = 5, prefix = 2);
CREATE UNLOGGED TABLE lost (id integer, fp simhash);
INSERT INTO lost SELECT i, fp_of(i) FROM generate_series(1, 2000) AS i;
CREATE INDEX lost_fp ON lost USING simhash (fp);
SQL
install_load($primary, steps => 3);

my $standby = standby_of($primary);

# --- under load -----------------------------------------------------------------

my $until = $primary->safe_psql('postgres', "SELECT clock_timestamp() + '$seconds s'");
my @writers = map { client($primary, "CALL write('docs', $seed + ${_}::bigint * 1000000000, 20000)") } 1, 2;
my @readers = (
	client($primary, "CALL read('docs', $seed, 3, '$until')"),
	(map { client($standby, "CALL read('docs', $seed + $_ * 1000000, 2, '$until')") } 1, 2));
my $vacuums = 0;
while (running(@readers))
{
	$primary->safe_psql('postgres', 'VACUUM docs');
	$vacuums++;
	$primary->safe_psql('postgres', 'CHECKPOINT') if $vacuums % 20 == 0;
}
$primary->safe_psql('postgres', 'DELETE FROM load');
clients_ok(@readers, @writers);
unlike(slurp_file($primary->logfile), qr/(ERROR|FATAL|PANIC|deadlock detected)/, 'nothing went wrong');
$primary->wait_for_catchup($standby);
foreach my $node ($primary, $standby)
{
	my $name = $node->name . ' after the load';

	sound_ok($node, 'docs', $name, times => 30, seed => $seed % 1000);
}
note($primary->safe_psql('postgres',
	q{SELECT count(*) || ' rows, ' || pg_relation_size('docs_fp') || ' bytes' FROM docs})
		. ", $vacuums times vacuumed");

# --- counts, while the primary vacuums ----------------------------------------------

# Replay does not wait for pins.  So a scan that consults the visibility map instead of
# the heap counts rows that were dead for its snapshot, and were removed after it read
# their entries.
$primary->safe_psql('postgres', <<'SQL');
CREATE TABLE wide (id integer, fp simhash, body text);
ALTER TABLE wide ALTER body SET STORAGE PLAIN;
INSERT INTO wide SELECT i, hashint8extended(i, 0)::simhash, repeat('x', 1500) FROM generate_series(1, 20000) AS i;
CREATE INDEX wide_fp ON wide USING simhash (fp);
VACUUM ANALYZE wide;
CREATE FUNCTION remaining(c refcursor) RETURNS integer LANGUAGE plpgsql AS $$
DECLARE
    r record;
    n integer := 0;
BEGIN
    LOOP
        FETCH c INTO r;
        IF NOT FOUND THEN
            RETURN n;
        END IF;
        n := n + 1;
    END LOOP;
END $$;
UPDATE wide SET body = repeat('y', 1500) WHERE id % 20 = 0;
SQL
$primary->wait_for_catchup($standby);
my $counting = $standby->background_psql('postgres');
$counting->query_safe(
	"SET enable_seqscan = off; SET enable_bitmapscan = off; BEGIN; DECLARE c CURSOR FOR SELECT 1 FROM wide");
is($counting->query_safe('FETCH c'), '1', 'a cursor on the standby is on a leaf');
$primary->safe_psql('postgres', 'VACUUM wide');
$primary->wait_for_catchup($standby);
is($counting->query_safe(q{SELECT remaining('c')}), '19999', 'it counts no removed row');
$counting->quit;

# The same for counts, planned with default settings.
my $counts = client($standby, <<'SQL');
DO $$
DECLARE
    n bigint;
BEGIN
    FOR i IN 1 .. 100 LOOP
        SELECT count(*) INTO n FROM wide;
        ASSERT n = 20000, n;
        COMMIT;
    END LOOP;
END $$
SQL
for (my $i = 1; $counts->{process}->pumpable && $i < 1000; $i++)
{
	$primary->safe_psql('postgres', "UPDATE wide SET body = body WHERE id % 20 = $i % 20");
	$primary->safe_psql('postgres', 'VACUUM wide');
	$counts->{process}->pump_nb;
}
finish($counts->{process});
is($counts->{err}, '', 'counts on the standby are right');
$primary->wait_for_catchup($standby);

# --- a similarity join, which writes temporary files ---------------------------------

# of rows that no writer deleted
my $last = $primary->safe_psql('postgres', 'SELECT max(id) FROM docs');
$primary->safe_psql('postgres', 'INSERT INTO docs (fp) SELECT fp_of(i) FROM generate_series(1, 5000) AS i');
$primary->wait_for_catchup($standby);
my $pairs = "SELECT a.id, b.id FROM docs a JOIN docs b ON a.fp <~> b.fp <= 4 WHERE a.id > $last AND b.id > $last";
my %pairs = map
{
	$_ => $standby->safe_psql('postgres',
		"SET work_mem = '64kB'; SET enable_nestloop = $_; SET simhash.enable_join = "
		  . ($_ eq 'on' ? 'off' : "on; EXPLAIN (ANALYZE, BUFFERS) $pairs") . "; $pairs ORDER BY 1, 2")
} qw(on off);
like($pairs{off}, qr/^Custom Scan \(SimHash Join\).*?\n  Buffers: .*temp read=\d+ written=\d+/s,
	'a similarity join on the standby writes temporary files');
$pairs{off} =~ s/.*Execution Time: [^\n]*\n//s;
ok($pairs{off} eq $pairs{on}, 'and returns the rows of a nested loop');
cmp_ok(($pairs{on} =~ tr/\n//), '>', 4000, 'which are many');

# --- a snapshot on the standby protects rows that the primary removes ---------------

$primary->safe_psql('postgres', 'CHECKPOINT');
$standby->append_conf('postgresql.conf', "hot_standby_feedback = off\n");
$standby->reload;
my $count = $primary->safe_psql('postgres', q{SELECT count(*) FROM docs WHERE fp = '0123456789abcdef'});
my ($in, $out, $err) = (<<'SQL', '', '');
BEGIN ISOLATION LEVEL REPEATABLE READ;
SET enable_seqscan = off;
SET enable_bitmapscan = off;
DECLARE c CURSOR FOR SELECT id FROM docs WHERE fp <@ '(0123456789abcdef,0)';
MOVE 10 IN c;
\echo dwelling
SQL
my $dwelling = start([ 'psql', '-XAtq', '-v', 'ON_ERROR_STOP=1', '-d', $standby->connstr('postgres') ],
	'<', \$in, '>', \$out, '2>', \$err);
$dwelling->pump until $out =~ /dwelling/ || !$dwelling->pumpable;
$primary->safe_psql('postgres', q{DELETE FROM docs WHERE fp = '0123456789abcdef'});
$primary->safe_psql('postgres', 'VACUUM docs');
$primary->safe_psql('postgres', q{INSERT INTO docs (fp) SELECT '0123456789abcdef' FROM generate_series(1, 3000)});
# the standby replays up to this point, or to the record that conflicts with the cursor
my $lsn = $primary->safe_psql('postgres', 'SELECT pg_current_wal_lsn()');
$standby->poll_query_until('postgres', "SELECT pg_last_wal_replay_lsn() >= '$lsn' OR EXISTS
	(SELECT FROM pg_stat_activity WHERE backend_type = 'startup' AND wait_event LIKE 'RecoveryConflict%')")
  or die 'the standby stands still';
$in .= <<'SQL';
DO $$
DECLARE
    c refcursor := 'c';
    n integer := 10;
    r record;
BEGIN
    LOOP
        FETCH c INTO r;
        EXIT WHEN NOT FOUND;
        n := n + 1;
    END LOOP;
    RAISE NOTICE 'fetched %', n;
END $$;
COMMIT;
SQL
finish($dwelling);
like($err, qr/fetched $count$/, 'a cursor on the standby sees what its snapshot saw');
$primary->wait_for_catchup($standby);
sound_ok($standby, 'docs', 'standby after the cursor');

# A standby has no unlogged index.  It raises an error that says so.
foreach my $call (
	q{simhash_index_stats('lost_fp')}, q{simhash_index_explain('lost_fp', '0123456789abcdef', 3)},
	q{simhash_index_check('lost_fp')})
{
	$standby->psql('postgres', "SELECT $call", stdout => \my $stdout, stderr => \my $stderr);
	like($stderr, qr/cannot access temporary or unlogged relations during recovery/, "standby: $call");
}

# The view of operations.md passes over indexes that raise an error.
my ($view) = map { $_->{sql} =~ /^(CREATE VIEW simhash_bloat .*?;\n)/ms } blocks_of('docs/operations.md');
$primary->safe_psql('postgres', $view);
$primary->psql('postgres',
	'CREATE INDEX CONCURRENTLY invalid ON docs USING simhash (fp) WHERE 1 / (id - id) > 0');
my $other = $primary->background_psql('postgres');
$other->query_safe('CREATE TEMP TABLE own (fp simhash); CREATE INDEX own_fp ON own USING simhash (fp)');
$primary->wait_for_catchup($standby);
is($_->safe_psql('postgres', q{SELECT string_agg(index::text, ' ' ORDER BY index::text) FROM simhash_bloat}),
	'docs_fp docs_fp_10 docs_fp_5_2 wide_fp', 'the view of bloat on the ' . $_->name)
  foreach $primary, $standby;
$other->quit;
$primary->safe_psql('postgres', 'DROP INDEX invalid');

# --- promotion of the standby ---------------------------------------------------------

my $before = $primary->safe_psql('postgres', 'SELECT last_value FROM docs_id_seq');
$primary->safe_psql('postgres', 'INSERT INTO load VALUES (true)');
my $lost = client($primary, "CALL write('docs', $seed + 5000000000, 20000)");
$primary->poll_query_until('postgres', "SELECT last_value > $before + 1000 FROM docs_id_seq")
	or die 'nothing is written';
$primary->stop('immediate');
finish($lost->{process});
same_rows_ok($standby, 'docs', 'standby alone');
$standby->promote;
sound_ok($standby, 'docs', 'promoted');
sound_ok($standby, 'lost', 'promoted', may_be_empty => 1);
$standby->safe_psql('postgres', <<'SQL');
INSERT INTO docs (fp) SELECT fp_of(i) FROM generate_series(1, 5000) AS i;
DELETE FROM docs WHERE id % 3 = 0;
VACUUM docs;
INSERT INTO docs (fp) SELECT fp_of(i) FROM generate_series(1, 5000) AS i;
INSERT INTO lost SELECT i, fp_of(i) FROM generate_series(1, 2000) AS i;
SQL
sound_ok($standby, $_, 'promoted and written') foreach qw(docs lost);
is($standby->safe_psql('postgres', 'SELECT count(*) FROM lost'), '2000', 'an unlogged table starts empty');

unlike(slurp_file($standby->logfile),
	qr/PANIC|ERROR(?!:  cannot access temporary or unlogged relations)|TRAP|inconsistent page|terminated by signal/,
	'nothing else in the log of the standby');
$standby->stop;
done_testing();
