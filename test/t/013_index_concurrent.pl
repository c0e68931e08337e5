# Two sessions write, two compare index with table inside one snapshot, one
# vacuums, for as long as SIMHASH_SECONDS says, and until each way of reading had
# its turn: no error, no deadlock, no row too few or too many, and nearest first
# none out of order.

use strict;
use warnings;

use FindBin;
use lib $FindBin::RealBin;
use IndexTest;
use IPC::Run qw(start finish);
use PostgreSQL::Test::Cluster;
use PostgreSQL::Test::Utils;
use Test::More;

plan skip_all => 'servers refuse to run as root' if $> == 0;

my $seed = random_seed();
my $seconds = seconds(12);
my $node = index_node('concurrent', conf => "autovacuum = off\ndeadlock_timeout = 100ms\nlog_lock_waits = on\n");

$node->safe_psql('postgres', <<'SQL');
CREATE TABLE docs (id bigserial, fp simhash);
INSERT INTO docs (fp) SELECT fp_of(i) FROM generate_series(1, 20000) AS i;
CREATE INDEX docs_fp ON docs USING simhash (fp);
CREATE INDEX docs_fp_3 ON docs USING simhash (fp) WITH (blocks = 3);
CREATE INDEX docs_fp_5_2 ON docs USING simhash (fp) WITH (blocks = 5, prefix = 2);
CREATE INDEX ON docs USING btree (id);

CREATE PROCEDURE write(seed bigint, until timestamptz) LANGUAGE plpgsql AS $$
DECLARE
    i bigint := seed;
    low bigint;
BEGIN
    WHILE clock_timestamp() < until LOOP
        i := i + 1;
        CASE hashint8(i) & 15
            WHEN 0 THEN
                INSERT INTO docs (fp) SELECT '0123456789abcdef' FROM generate_series(1, 40);
            WHEN 1 THEN
                SELECT min(id) + (hashint8extended(i, 4) & 8191) INTO low FROM docs;
                DELETE FROM docs WHERE id BETWEEN low AND low + 150;
            WHEN 2 THEN
                BEGIN
                    INSERT INTO docs (fp) SELECT fp_of(i + j) FROM generate_series(1, 20) AS j;
                    RAISE division_by_zero;
                EXCEPTION WHEN division_by_zero THEN NULL;
                END;
            WHEN 3 THEN
                SELECT min(id) + (hashint8extended(i, 4) & 8191) INTO low FROM docs;
                UPDATE docs SET fp = fp_of(i) WHERE id IN (SELECT id FROM docs WHERE id BETWEEN low AND low + 20 FOR UPDATE SKIP LOCKED);
            ELSE
                INSERT INTO docs (fp) SELECT fp_of(i * 7 + j) FROM generate_series(1, 12) AS j;
        END CASE;
        COMMIT;
    END LOOP;
END $$;

-- A cursor that dwells on its pages, then the same rows by eye.
CREATE FUNCTION read_slowly(seed bigint) RETURNS bigint LANGUAGE plpgsql
SET enable_seqscan = off SET enable_bitmapscan = off AS $$
DECLARE
    q simhash := coalesce(fp_of(seed), '0123456789abcdef');
    k integer := CASE WHEN seed % 3 = 0 THEN 64 ELSE hashint8extended(seed, 3) & 15 END;
    c refcursor;
    r record;
    n integer := 0;
    seen tid[] := '{}';
    differing bigint;
BEGIN
    OPEN c FOR EXECUTE format('SELECT ctid FROM docs WHERE fp <@ %L::simhash_ball', simhash_ball(q, k));
    LOOP
        FETCH c INTO r;
        EXIT WHEN NOT FOUND;
        seen := seen || r.ctid;
        n := n + 1;
        IF n % 2000 = 3 THEN
            PERFORM pg_sleep(0.02);
        END IF;
        EXIT WHEN n > 30000;
    END LOOP;
    CLOSE c;
    WITH a AS MATERIALIZED (SELECT unnest(seen)), b AS MATERIALIZED (SELECT ctid FROM docs WHERE (fp <~> q) + 0 <= k)
    SELECT count(*) INTO differing FROM ((TABLE a EXCEPT ALL TABLE b) UNION ALL
        (SELECT * FROM ((TABLE b EXCEPT ALL TABLE a)) AS m WHERE n <= 30000)) AS d;
    RETURN differing;
END $$;

-- The same for a cursor that goes nearest first; it may be left early.
CREATE FUNCTION read_nearest_slowly(seed bigint) RETURNS bigint LANGUAGE plpgsql
SET enable_seqscan = off SET enable_bitmapscan = off SET enable_sort = off AS $$
#variable_conflict use_column
DECLARE
    q simhash := coalesce(fp_of(seed), '0123456789abcdef');
    c refcursor;
    r record;
    n integer := 0;
    seen tid[] := '{}';
    distances integer[] := '{}';
    most integer := CASE WHEN seed % 2 = 0 THEN 30000 ELSE 1 + (hashint8extended(seed, 3) & 8191) END;
    differing bigint;
BEGIN
    PERFORM set_config('work_mem', CASE WHEN seed % 3 = 0 THEN '4MB' ELSE '64kB' END, true);
    OPEN c FOR EXECUTE format('SELECT ctid, fp <~> %1$L AS d FROM docs ORDER BY fp <~> %1$L', q);
    LOOP
        FETCH c INTO r;
        EXIT WHEN NOT FOUND;
        seen := seen || r.ctid;
        distances := distances || r.d;
        n := n + 1;
        IF n % 2000 = 3 THEN
            PERFORM pg_sleep(0.02);
        END IF;
        EXIT WHEN n >= most;
    END LOOP;
    CLOSE c;
    SET enable_sort = on;
    WITH a AS MATERIALIZED (SELECT * FROM unnest(seen, distances) WITH ORDINALITY AS a (at, d, r)),
        b AS MATERIALIZED (SELECT ctid AS at, (fp <~> q) + 0 AS d, row_number() OVER (ORDER BY (fp <~> q) + 0) AS r FROM docs)
    SELECT (SELECT count(*) FROM a FULL JOIN (SELECT * FROM b WHERE r <= most) AS b USING (r)
            WHERE a.d IS DISTINCT FROM b.d OR num_nulls(a.at, b.at) > 0)
         + (SELECT count(*) FROM (SELECT at, d FROM a EXCEPT ALL SELECT at, d FROM b) AS s)
    INTO differing;
    RETURN differing;
END $$;

CREATE PROCEDURE read(seed bigint, until timestamptz) LANGUAGE plpgsql AS $$
DECLARE
    i bigint := seed;
    n bigint;
    rounds integer := 0;
BEGIN
    WHILE clock_timestamp() < until OR rounds < 4 LOOP
        i := i + 1;
        COMMIT;
        SET TRANSACTION ISOLATION LEVEL REPEATABLE READ;
        n := CASE i % 4 WHEN 0 THEN differing('docs', i, 4) WHEN 1 THEN differing_order('docs', i, 3)
            WHEN 2 THEN read_slowly(i) ELSE read_nearest_slowly(i) END;
        IF n <> 0 THEN
            RAISE EXCEPTION '% rows differ with seed %', n, i;
        END IF;
        rounds := rounds + 1;
    END LOOP;
    RAISE NOTICE '% rounds', rounds;
END $$;
SQL

my $until = $node->safe_psql('postgres', "SELECT clock_timestamp() + '$seconds s'");
my %session = map { my $n = $_; map { ("$_ $n" => "CALL $_($seed + $n * 1000000, '$until')") } qw(write read) } 1, 2;
my %run;

foreach my $name (sort keys %session)
{
	my $run = $run{$name} = { out => '', err => '' };

	$run->{process} = start(
		[ 'psql', '-XAtq', '-v', 'ON_ERROR_STOP=1', '-c', $session{$name}, '-d', $node->connstr('postgres') ],
		'>', \$run->{out}, '2>', \$run->{err});
}
my $vacuums = 0;
do
{
	$node->safe_psql('postgres', 'VACUUM docs');
	$vacuums++;
} while ($node->safe_psql('postgres', "SELECT clock_timestamp() < '$until'") eq 't');
note("$vacuums times vacuumed");
foreach my $name (sort keys %run)
{
	my $run = $run{$name};

	finish($run->{process});
	is($run->{process}->result(0), 0, "$name went through") or diag($run->{err});
	note("$name: $run->{err}") if $run->{err};
}
unlike(slurp_file($node->logfile), qr/(ERROR|FATAL|PANIC|deadlock detected)/, 'nothing went wrong');

for my $round ('after the load', 'after another vacuum')
{
	same_rows_ok($node, 'docs', $round, times => 30);
	no_damage_ok($node, $round, 'docs_fp', 'docs_fp_3', 'docs_fp_5_2');
	$node->safe_psql('postgres', 'VACUUM docs');
}
note($node->safe_psql('postgres', q{SELECT count(*) || ' rows, ' || pg_relation_size('docs_fp') || ' bytes' FROM docs}));
$node->stop;
done_testing();
