# Runs the runbook for a table in use, docs/operations.md, while sessions write.  No step
# takes a lock that excludes others, except the step that is documented to do so.  Each
# step ends, and the indexes have the rows of the table.
#
# SIMHASH_ROWS sets the number of rows.  The file SIMHASH_REPORT receives the times,
# which test/live.sh shows.  The result of the test does not depend on them.

use strict;
use warnings;

use FindBin;
use lib $FindBin::RealBin;
use DocsTest;
use IndexTest;
use IPC::Run qw(start finish);
use PostgreSQL::Test::Cluster;
use PostgreSQL::Test::Utils;
use Test::More;
use Time::HiRes qw(time);

plan skip_all => 'no pgbench' unless eval { run_log([ 'pgbench', '--version' ]) };

my $seed = random_seed();
my $rows = $ENV{SIMHASH_ROWS} || 100_000;
my (@steps, @sizes);

my $node = index_node('live', conf => <<'CONF');
wal_level = replica
max_wal_size = 8GB
shared_buffers = 256MB
maintenance_work_mem = 256MB
autovacuum_naptime = 5s
log_statement = none
CONF

sub answer { return $node->safe_psql('postgres', @_); }

#
# The table: texts of a few hundred bytes, each with a near-duplicate.
#
answer(<<"SQL");
CREATE TABLE sentence AS
SELECT n, string_agg(left(md5(format('%s %s', n, w)), 3 + (n + w) % 6), ' ' ORDER BY w) AS words
FROM generate_series(0, 8191) AS n, generate_series(1, 14) AS w GROUP BY n;
CREATE TABLE docs (id bigint GENERATED ALWAYS AS IDENTITY PRIMARY KEY, body text);
INSERT INTO docs (body)
SELECT concat_ws(' ', a.words, b.words, c.words, i % 2)
FROM generate_series(1, $rows) AS i
JOIN sentence AS a ON a.n = hashint8extended(i / 2, 1) & 8191
JOIN sentence AS b ON b.n = hashint8extended(i / 2, 2) & 8191
JOIN sentence AS c ON c.n = hashint8extended(i / 2, 3) & 8191;
CREATE TABLE load AS SELECT true AS goes_on;
CREATE TABLE step AS SELECT true AS goes_on;
VACUUM ANALYZE;
SQL

#
# Writers run until `load` is empty: then a division by zero ends each of them, and
# pgbench.
#
my $dir = PostgreSQL::Test::Utils::tempdir();
append_to_file("$dir/writer.sql", <<'SQL');
SELECT count(*) AS goes_on FROM load \gset
\if :goes_on
\else
    \set stop 1 / 0
\endif
\set id random(1, :rows)
INSERT INTO docs (body) SELECT body || ' again' FROM docs WHERE id = :id;
\set id random(1, :rows)
UPDATE docs SET body = body || ' edited' WHERE id = :id;
\set id random(1, :rows)
DELETE FROM docs WHERE id = :id;
SQL
my $writers = { out => '', err => '' };
$writers->{process} = start(
	[ 'pgbench', '-n', '-c', 4, '-R', 100, '-T', 1_000_000, '-D', "rows=$rows", "--random-seed=$seed",
		'-l', "--log-prefix=$dir/log", '-f', "$dir/writer.sql", $node->connstr('postgres') ],
	'>', \$writers->{out}, '2>', \$writers->{err});

#
# Runs one step of the runbook, in a session named `step`.  Another session polls its
# locks.  It ends the step if it takes a lock that excludes writers or readers from the
# tables, unless it may.  A guard holds the tables' read locks all the time: a request
# for an exclusive lock alone would wait behind it without end, so that the polling
# session cannot miss it.
#
answer(<<'SQL');
CREATE PROCEDURE watch_locks(brief boolean) LANGUAGE plpgsql AS $$
DECLARE
    polls integer := 0;
    pids integer[];
    seen integer := 0;
    clear timestamptz := clock_timestamp();
    longest interval := '0';
BEGIN
    WHILE EXISTS (SELECT FROM step) LOOP
        pids := ARRAY(SELECT pid FROM pg_locks JOIN pg_stat_activity USING (pid)
            WHERE application_name = 'step' AND locktype = 'relation'
                  AND mode IN ('ShareLock', 'ShareRowExclusiveLock', 'ExclusiveLock', 'AccessExclusiveLock')
                  AND relation = 'docs'::regclass);
        polls := polls + 1;
        IF pids = '{}' THEN
            clear := clock_timestamp();
        ELSE
            seen := seen + 1;
            longest := greatest(longest, clock_timestamp() - clear);
            IF NOT brief THEN
                PERFORM pg_terminate_backend(pid) FROM unnest(pids) AS pid;
            END IF;
        END IF;
        PERFORM pg_sleep(0.005);
        COMMIT;
    END LOOP;
    RAISE NOTICE 'seen %, polls %, longest %', seen, polls, extract(epoch FROM longest);
END $$;
SQL
my $files = 0;

sub start_step
{
	my ($sql) = @_;
	my $file = "$dir/step" . ++$files . '.sql';
	my $step = { name => (split /\n/, $sql)[0], out => '', err => '' };

	append_to_file($file, $sql);
	$step->{process} = start(
		[ 'psql', '-XAtq', '-v', 'ON_ERROR_STOP=1', '-f', $file, '-d',
			$node->connstr('postgres') . ' application_name=step' ],
		'>', \$step->{out}, '2>', \$step->{err});
	return $step;
}

sub run_step
{
	my ($block) = @_;
	my $brief = $block->{sql} =~ /^CALL patiently/ ? 'true' : 'false';
	my $lsn = answer('SELECT pg_current_wal_lsn()');
	my $watcher = client($node, "CALL watch_locks($brief)");
	my $guard = $node->background_psql('postgres', on_error_stop => 1);

	$guard->query_safe('BEGIN; LOCK TABLE docs IN ACCESS SHARE MODE') if $brief eq 'false';
	my $from = time;
	my $step = start_step($block->{sql});
	clients_ok($step);
	$guard->quit;
	answer('DELETE FROM step');
	clients_ok($watcher);
	answer('INSERT INTO step VALUES (true)');
	my ($seen, $longest) = $watcher->{err} =~ /seen (\d+), polls \d+, longest ([\d.]+)/;
	is($seen, 0, "$step->{name}: other sessions could use the table") if $brief eq 'false';
	is(scalar running($writers), 1, '... and the writers went on');

	note_step($step->{name}, $from, $lsn, $longest);
}

sub run_section
{
	my ($section) = @_;

	foreach my $block (grep { $_->{section} eq $section } blocks_of('docs/operations.md'))
	{
		interrupt_backfill($block) if $block->{sql} =~ /^CALL fill_fp/;
		run_step($block);
	}
}

# Returns the modes in which a statement locks the table.
sub modes
{
	my ($sql) = @_;

	return answer(<<"SQL");
BEGIN;
$sql;
SELECT string_agg(mode, ' ' ORDER BY mode) FROM pg_locks
WHERE pid = pg_backend_pid() AND locktype = 'relation' AND relation = 'docs'::regclass;
ROLLBACK;
SQL
}

# A locked row stops the backfill half-way, where the test cancels it.
sub interrupt_backfill
{
	my ($block) = @_;
	my $locker = $node->background_psql('postgres', on_error_stop => 1);
	my ($lsn, $from) = (answer('SELECT pg_current_wal_lsn()'), time);

	$locker->query_safe("BEGIN; SELECT FROM docs WHERE id > $rows / 2 ORDER BY id LIMIT 2 FOR UPDATE");
	my $step = start_step($block->{sql});
	$node->poll_query_until('postgres', <<'SQL') or die 'the backfill does not wait';
SELECT EXISTS (SELECT FROM pg_stat_activity WHERE application_name = 'step' AND pg_blocking_pids(pid) <> '{}'
    AND EXISTS (SELECT FROM backfill WHERE done > 0))
SQL
	answer(q{SELECT pg_cancel_backend(pid) FROM pg_stat_activity WHERE application_name = 'step'});
	finish($step->{process});
	like($step->{err}, qr/canceling statement/, 'the backfill was interrupted');
	$locker->quit;
	is(answer('SELECT done > 0 AND done < until FROM backfill'), 't', '... half-way');
	note_step("$step->{name} -- cancelled half-way", $from, $lsn, 0);
}

# Checks the rows near some queries, and the distances of the nearest: the results of
# the index are those of a sequential scan, in one snapshot.
sub same_answers_ok
{
	my ($table, $fp, $index) = @_;
	my $settings = 'SET enable_seqscan = off; SET enable_bitmapscan = off; SET enable_sort = off;';
	my $all = "(SELECT ctid AS at, $fp AS fp FROM $table WHERE $fp IS NOT NULL OFFSET 0) AS t";
	my @near = (
		"SELECT n, at FROM asked, LATERAL (SELECT ctid AS at FROM $table WHERE $fp <~> q <= k) AS s",
		"SELECT n, at FROM asked JOIN $all ON (t.fp <~> q) + 0 <= k");
	my @nearest = (
		"SELECT n, d FROM asked, LATERAL (SELECT $fp <~> q AS d FROM $table ORDER BY $fp <~> q LIMIT 5) AS s
			WHERE n <= 3",
		"SELECT n, d
			FROM (SELECT n, (t.fp <~> q) + 0 AS d, row_number() OVER (PARTITION BY n ORDER BY (t.fp <~> q) + 0) AS r
			FROM asked, $all WHERE n <= 3) AS s WHERE r <= 5");

	answer(<<"SQL");
DROP TABLE IF EXISTS asked;
CREATE TABLE asked AS SELECT n, flip(fp, 2) AS q, (ARRAY[3, 8, 12])[1 + n % 3] AS k
FROM (SELECT row_number() OVER (ORDER BY hashint8(id)) AS n, $fp AS fp FROM $table WHERE $fp IS NOT NULL) AS s
WHERE n <= 20;
SQL
	cmp_ok(answer("SELECT count(*) FROM ($near[0]) AS s"), '>=', 20, "$index: some rows are near");
	foreach my $queries (\@near, \@nearest)
	{
		my ($by_index, $by_eye) = @$queries;

		like(answer("$settings SELECT whole_plan(\$\$$by_index\$\$)"), qr/Index Scan using $index/, "$index: used");
		is(answer("$settings SELECT rows > 0, differing FROM differing(\$\$$by_index\$\$, \$\$$by_eye\$\$)"),
			't|0', "$index: rows are those of the table");
	}
	no_damage_ok($node, 'under load', $index);
}

# Notes for the report: the start of a step, for its time and WAL, and the time in
# seconds for which it excluded others from a table.
sub note_step
{
	my ($name, $from, $lsn, $locked) = @_;

	push @steps, { name => $name, from => $from, to => time, locked => $locked,
		wal => answer("SELECT pg_wal_lsn_diff(pg_current_wal_lsn(), '$lsn')") };
}

# Notes the sizes.
sub note_sizes
{
	my ($when, @relations) = @_;

	push @sizes, "$when: " . join ', ', map { "$_ " . answer("SELECT pg_size_pretty(pg_table_size('$_'))") } @relations;
}

# Writes the times of the steps, and the longest transaction of the writers meanwhile,
# without the time before its start.
sub report
{
	my $report = sprintf "%-62s %7s %9s %9s %10s\n", "$rows rows", 'seconds', 'WAL', 'locked', 'writers';
	my @transactions;

	foreach my $line (map { split /\n/, slurp_file($_) } glob("$dir/log.*"))
	{
		my (undef, undef, $micros, undef, $epoch, $fraction, $lag) = split / /, $line;
		my $end = $epoch + $fraction / 1e6;
		push @transactions, { from => $end - ($micros - $lag) / 1e6, to => $end };
	}
	foreach my $step (grep { $_->{name} =~ /^CREATE INDEX|^CALL/ } @steps)
	{
		my $longest = 0;
		foreach my $other (@transactions)
		{
			my $took = $other->{to} - $other->{from};
			$longest = $took if $took > $longest && $other->{from} < $step->{to} && $other->{to} > $step->{from};
		}
		$report .= sprintf "%-62.62s %7.1f %6d MB %6d ms %7d ms\n", $step->{name}, $step->{to} - $step->{from},
		  $step->{wal} / 1048576, 1000 * $step->{locked}, 1000 * $longest;
	}
	return join "\n", $report, @sizes, scalar(@transactions) . ' transactions of the writers', '';
}

is(modes('ALTER TABLE docs ADD COLUMN fp simhash'), 'AccessExclusiveLock', 'ADD COLUMN locks as the page says');
is(modes('CREATE TRIGGER t BEFORE INSERT ON docs FOR EACH ROW EXECUTE FUNCTION suppress_redundant_updates_trigger()'),
	'ShareRowExclusiveLock', '... CREATE TRIGGER, too');

my $file = answer(q{SELECT pg_relation_filenode('docs')});
note_sizes('before', 'docs');
run_section('An index of the expression');
note_sizes('with indexes of expressions', 'docs', 'docs_near');
same_answers_ok('docs', 'simhash(body)', 'docs_near');
# the other procedure, for a table without this index
answer('DROP INDEX CONCURRENTLY docs_near');
run_section('A column, filled in batches');
note_sizes('with a column', 'docs', 'docs_fp');
same_answers_ok('docs', 'fp', 'docs_fp');
is(answer(q{SELECT pg_relation_filenode('docs')}), $file, 'the table was never rewritten');

# a batch of 0 does not end the backfill
answer(q{UPDATE backfill SET done = until - 3; CALL fill_fp(0)});
is(answer('SELECT count(*) FROM backfill WHERE done = until OR NOT EXISTS (SELECT FROM docs
	WHERE id > done AND id <= until)'), '1',
	'batches of 0 rows end, too, when all is filled');

answer('DELETE FROM load');
finish($writers->{process});
unlike($writers->{err}, qr/ERROR/, 'none of their statements failed');
note($writers->{out}, $writers->{err});

is(answer('SELECT count(*) FROM docs WHERE fp IS DISTINCT FROM simhash(body)'), '0',
	'the column has the fingerprints of the texts');

append_to_file($ENV{SIMHASH_REPORT}, report()) if $ENV{SIMHASH_REPORT};
done_testing();
