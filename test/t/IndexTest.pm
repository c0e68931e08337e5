# Shared parts of the index's tests: a seed, data, comparisons of index scans with
# sequential scans, damage, crashes, standbys, and recovery up to a WAL record.

package IndexTest;

use strict;
use warnings;

use Cwd qw(abs_path);
use Exporter qw(import);
use File::Basename qw(dirname);
use IPC::Run qw(start finish);
use PostgreSQL::Test::Cluster;
use PostgreSQL::Test::Utils;
use Test::More;

our @EXPORT = qw(random_seed seconds index_node standby_of client running clients_ok
  kill_and_start generic_records recovered_to read_pages write_pages index_pages
  same_rows_ok no_damage_ok sound_ok no_lost_pages_ok no_crash_ok free_pages has_small_pages);

plan skip_all => 'servers refuse to run as root' if $> == 0;

# The helper functions of the pg_regress tests.
my $setup = dirname(dirname(dirname(abs_path(__FILE__)))) . '/sql/setup.sql';

# Sets the random seed.  SIMHASH_SEED repeats a run as far as the interleaving of
# processes allows.
sub random_seed
{
	my $seed = $ENV{SIMHASH_SEED} || int(rand(1_000_000_000)) + 1;

	srand($seed);
	diag("SIMHASH_SEED=$seed");
	return $seed;
}

# Returns the duration of a test under load, in seconds.
sub seconds
{
	my ($default) = @_;

	return $ENV{SIMHASH_SECONDS} || $default;
}

# Starts a server with the helper functions.  damaged: without checksums (the default
# from 18 on), because the test changes its files.
sub index_node
{
	my ($name, %how) = @_;
	my $node = PostgreSQL::Test::Cluster->new($name);
	my @extra = @{ $how{extra} || [] };

	push @extra, '--no-data-checksums' if $how{damaged} && $node->pg_version >= 18;
	$node->init(allows_streaming => $how{streaming} || 0, extra => \@extra);
	$node->append_conf('postgresql.conf', <<"CONF");
jit = off
max_parallel_workers_per_gather = 0
wal_sender_timeout = 0
@{[ $how{conf} // '' ]}
CONF
	$node->start;
	install_helpers($node);
	return $node;
}

# Starts a standby from the current state of a server, which keeps the WAL that the standby
# has not received.  The standby's readers delay the replay, and are not cancelled by it,
# wherever it reads the WAL from.
sub standby_of
{
	my ($primary, %how) = @_;
	my $standby = PostgreSQL::Test::Cluster->new('standby');

	$primary->safe_psql('postgres', q{SELECT pg_create_physical_replication_slot('standby', true)});
	$primary->backup('backup');
	$standby->init_from_backup($primary, 'backup', has_streaming => 1);
	$standby->append_conf('postgresql.conf', <<"CONF");
primary_slot_name = 'standby'
wal_receiver_timeout = 0
max_standby_streaming_delay = -1
max_standby_archive_delay = -1
@{[ $how{conf} // '' ]}
CONF
	$standby->start;
	return $standby;
}

# Creates functions:
# fp_of: uniform, near few centers, and often equal fingerprints; or NULL.
# differing: the missing and surplus rows of index scans and bitmap scans, for balls of
# many radii and for NULL, in one snapshot.
# differing_order: the positions at which an ordered index scan differs from a sort, and
# the rows that it invents, repeats or (if it runs to the end) misses, in one statement.
# All of them also return the number of rows that they have compared.
sub install_helpers
{
	my ($node) = @_;

	$node->safe_psql('postgres', 'CREATE EXTENSION simhash;' . slurp_file($setup) . <<'SQL');
CREATE FUNCTION fp_of(i bigint) RETURNS simhash LANGUAGE sql IMMUTABLE AS $$
    SELECT CASE hashint8extended(i, 1) & 7
        WHEN 0 THEN NULL
        WHEN 1 THEN '0123456789abcdef'
        WHEN 2 THEN flip(random_fp(i % 5), (hashint8extended(i, 2) & 7)::integer, i)
        ELSE random_fp(i) END $$;

CREATE FUNCTION differing_once(tab regclass, condition text, truth text, OUT rows bigint, OUT differing bigint)
LANGUAGE sql SET enable_seqscan = off AS $$
    SELECT * FROM differing(format('SELECT ctid, fp FROM %s WHERE %s', tab, condition),
                            format('SELECT ctid, fp FROM %s WHERE %s', tab, truth)) $$;
CREATE FUNCTION differing_order(tab regclass, seed bigint, times integer, OUT rows bigint, OUT differing bigint)
LANGUAGE plpgsql
SET enable_seqscan = off SET enable_bitmapscan = off SET enable_sort = off SET hash_mem_multiplier = 100 AS $$
DECLARE
    once record;
    query text;
    q text;
    lim text;
    by_index text;
    by_eye text;
BEGIN
    rows := 0;
    differing := 0;
    FOR i IN seed .. seed + times - 1 LOOP
        q := quote_literal(coalesce(fp_of(i), '0123456789abcdef'));
        lim := CASE WHEN i % 7 = 0 THEN 'NULL' ELSE (1 + (hashint8extended(i, 5) & 2047))::text END;
        by_index := 'true';
        by_eye := 'true';
        IF i % 5 = 3 THEN
            by_index := format('fp <@ simhash_ball(%L, 30)', coalesce(fp_of(i + 7), '0123456789abcdef'));
            by_eye := format('(fp <~> %L) + 0 <= 30', coalesce(fp_of(i + 7), '0123456789abcdef'));
        END IF;
        -- sometimes all rows, with so little memory that the distance queue drops some
        PERFORM set_config('work_mem', CASE WHEN i % 2 = 0 THEN '64kB' ELSE '4MB' END, true);
        query := format('SELECT row_number() OVER () AS r, s.* FROM
                (SELECT ctid AS at, fp, fp <~> %1$s AS d FROM %2$s WHERE %3$s ORDER BY fp <~> %1$s LIMIT %4$s) AS s',
            q, tab, by_index, lim);
        ASSERT EXISTS (SELECT FROM plan(query, '^ *Order By: ')), query;
        EXECUTE format('WITH a AS MATERIALIZED (%1$s), b AS MATERIALIZED (
                SELECT row_number() OVER (ORDER BY (fp <~> %2$s) + 0) AS r, ctid AS at, fp, (fp <~> %2$s) + 0 AS d
                FROM %3$s WHERE %4$s)
            SELECT (SELECT count(*) FROM a) AS rows,
                   (SELECT count(*) FROM a FULL JOIN (SELECT * FROM b WHERE r <= coalesce(%5$s, r)) AS b USING (r)
                    WHERE a.d IS DISTINCT FROM b.d OR num_nulls(a.at, b.at) > 0)
                 + (SELECT count(*) FROM (SELECT at, fp, d FROM a EXCEPT ALL SELECT at, fp, d FROM b) AS s)
                   AS differing', query, q, tab, by_eye, lim) INTO once;
        rows := rows + once.rows;
        differing := differing + once.differing;
    END LOOP;
END $$;
CREATE FUNCTION differing(tab regclass, seed bigint, times integer, OUT rows bigint, OUT differing bigint)
LANGUAGE plpgsql
SET enable_seqscan = off SET enable_indexscan = on SET enable_bitmapscan = on AS $$
DECLARE
    once record;
    q simhash;
    k integer;
BEGIN
    SELECT * INTO rows, differing FROM differing_once(tab, 'fp IS NULL', 'num_nulls(fp) = 1');
    FOR i IN seed .. seed + times - 1 LOOP
        PERFORM set_config('enable_indexscan', (i % 2 = 0)::text, true),
                set_config('enable_bitmapscan', (i % 2 = 1)::text, true);
        q := coalesce(fp_of(i), '0123456789abcdef');
        k := CASE WHEN i % 20 = 0 THEN 64 ELSE hashint8extended(i, 3) & 15 END;
        once := differing_once(tab, format('fp <@ %L::simhash_ball', simhash_ball(q, k)),
                               format('(fp <~> %L::simhash) + 0 <= %s', q, k));
        rows := rows + once.rows;
        differing := differing + once.differing;
    END LOOP;
END $$;
SQL
}

# Starts a session of its own for some statements.
sub client
{
	my ($node, @sql) = @_;
	my $run = { name => $node->name . ": $sql[0]", out => '', err => '' };

	$run->{process} = start(
		[ 'psql', '-XAtq', '-v', 'ON_ERROR_STOP=1', (map { ('-c', $_) } @sql), '-d', $node->connstr('postgres') ],
		'>', \$run->{out}, '2>', \$run->{err});
	return $run;
}

# Returns the sessions that have not ended.
sub running
{
	return grep { $_->{process}->pumpable && eval { $_->{process}->pump_nb; 1 } } @_;
}

# Waits for sessions to end, and checks that none failed.
sub clients_ok
{
	foreach my $run (@_)
	{
		finish($run->{process});
		is($run->{process}->result(0), 0, "$run->{name} succeeded") or diag($run->{err});
		note($run->{err}) if $run->{err};
	}
}

# Kills and restarts the server while clients work.  Checks that no client failed
# before.
sub kill_and_start
{
	my ($node, $name, @clients) = @_;
	my @errors;

	$node->stop('immediate');
	foreach my $run (@clients)
	{
		finish($run->{process});
		push @errors, grep { /ERROR|PANIC/ && !/canceling|terminating/ } split /\n/, $run->{err};
	}
	is("@errors", '', "$name: no error before the crash");
	$node->start;
}

# Returns the generic WAL records since an LSN: their LSNs, their blocks, and the output
# of pg_waldump.
sub generic_records
{
	my ($node, $from) = @_;
	my $to = $node->safe_psql('postgres', 'SELECT pg_switch_wal()');
	my ($shown) = run_command(
		[ 'pg_waldump', '-r', 'Generic', '-p', $node->data_dir . '/pg_wal', '-s', $from, '-e', $to ]);

	return map { { lsn => (/lsn: (\S+),/)[0], blocks => [ /blk (\d+)/g ], shown => $_ } }
	  grep { /blkref/ } split /\n/, $shown;
}

# Starts a server that recovers from a backup of another one up to a WAL record, and is
# promoted there.
my $recovered = 0;
sub recovered_to
{
	my ($node, $backup, $lsn) = @_;
	my $restored = PostgreSQL::Test::Cluster->new('restored_' . ++$recovered);
	my $wal = $node->data_dir . '/pg_wal';

	$restored->init_from_backup($node, $backup);
	$restored->append_conf('postgresql.conf', <<"CONF");
restore_command = 'cp "$wal/%f" "%p"'
recovery_target_lsn = '$lsn'
recovery_target_action = 'promote'
CONF
	$restored->set_recovery_mode;
	$restored->start;
	$restored->poll_query_until('postgres', 'SELECT NOT pg_is_in_recovery()');
	return $restored;
}

# Returns the pages of a file, as a reference to a list of them.  An index has one file for
# each GB.
sub read_pages
{
	my ($node, $path) = @_;

	$path = $node->data_dir . "/$path";
	open my $file, '<:raw', $path or die "$path: $!";
	local $/ = \8192;
	return [<$file>];
}

# Writes the pages of a file.  The server must be down.
sub write_pages
{
	my ($node, $path, $pages) = @_;

	$path = $node->data_dir . "/$path";
	open my $file, '>:raw', $path or die "$path: $!";
	print $file join('', @$pages);
	close $file or die "$path: $!";
}

# Returns true for the test build, in which a few hundred rows make a high tree.
sub has_small_pages
{
	my ($node) = @_;

	return $node->safe_psql('postgres',
		q{SELECT count(simhash '0000000000000000') FROM pg_settings WHERE name = 'simhash.pause_level'}) > 0;
}

# Returns the number of free pages of an index.
sub free_pages
{
	my ($node, $index) = @_;

	return $node->safe_psql('postgres', "SELECT pages FROM simhash_index_stats('$index') WHERE level IS NULL");
}

# Returns the pages of an index, from all its files, as a reference to a list of them.
sub index_pages
{
	my ($node, $index) = @_;
	my $path = $node->safe_psql('postgres', "CHECKPOINT; SELECT pg_relation_filepath('$index')");
	my $data = $node->data_dir;
	my @others = map { substr($_, length("$data/")) } glob "$data/$path.*";

	return [ map { @{ read_pages($node, $_) } } $path, sort { length $a <=> length $b || $a cmp $b } @others ];
}

# Returns the number of zero pages of an index.  A crash leaves zero pages where the index
# was extended and the WAL does not contain the new page.
sub zero_pages
{
	my ($node, $index) = @_;

	return scalar grep { !/[^\0]/ } @{ index_pages($node, $index) };
}

# Checks that each page of an index is in a tree, or free, or was never used.
sub no_lost_pages_ok
{
	my ($node, $name, @indexes) = @_;

	foreach my $index (@indexes)
	{
		my $others = $node->safe_psql('postgres', <<"SQL");
SELECT pg_relation_size('$index') / current_setting('block_size')::integer - 1 - sum(pages)
FROM simhash_index_stats('$index')
SQL
		is($others, $others eq '0' ? 0 : zero_pages($node, $index), "$name: $index has lost no pages");
	}
}

# Compares index scans with the rows of a table: near some fingerprints, and all rows.
# The table has rows, except with `may_be_empty`.
sub same_rows_ok
{
	my ($node, $table, $name, %how) = @_;
	my $seed = $how{seed} // int(rand(1_000_000));
	my $times = $how{times} // 60;
	my $ordered = int(($times + 9) / 10);
	my $all = q{$$fp <@ '(0123456789abcdef,64)'$$, 'num_nulls(fp) = 0'};
	my %comparison = (
		'rows of the index are those of the table' => "differing('$table', $seed, $times)",
		'all rows are in the index' => "differing_once('$table', $all)",
		'their order is that of a sort' => "differing_order('$table', $seed, $ordered)");
	my $compared = 0;

	foreach my $what (sort keys %comparison)
	{
		my ($rows, $differing) = split /\|/, $node->safe_psql('postgres', "SELECT * FROM $comparison{$what}");

		is($differing, '0', "$name: $what ($rows, seed $seed)");
		$compared += $rows;
	}
	cmp_ok($compared, $how{may_be_empty} ? '>=' : '>', 0, "$name: $compared rows of $table were compared");
}

# Checks that simhash_index_check finds no damage.
sub no_damage_ok
{
	my ($node, $name, @indexes) = @_;

	foreach my $index (@indexes)
	{
		my ($stdout, $stderr);

		is($node->psql('postgres',
			"SELECT simhash_index_check('$index', true)", stdout => \$stdout, stderr => \$stderr),
			0, "$name: $index is not damaged")
		  or diag($stderr);
	}
}

# Checks a table, and each of its indexes.
sub sound_ok
{
	my ($node, $table, $name, %how) = @_;
	my $indexes = $node->safe_psql('postgres', <<"SQL");
SELECT indexrelid::regclass
FROM pg_index JOIN pg_class AS c ON c.oid = indexrelid JOIN pg_am AS a ON a.oid = relam
WHERE indrelid = '$table'::regclass AND amname = 'simhash'
ORDER BY 1
SQL

	same_rows_ok($node, $table, $name, %how);
	no_damage_ok($node, $name, split /\n/, $indexes);
}

# Checks that a server's log contains no sign of a crash.
sub no_crash_ok
{
	my ($node) = @_;

	unlike(slurp_file($node->logfile), qr/PANIC|TRAP|inconsistent page|terminated by signal/,
		'nothing in the log of ' . $node->name);
}

1;
