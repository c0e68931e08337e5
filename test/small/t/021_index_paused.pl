# A session pauses after it has read a link, before it follows the link.  Meanwhile
# other sessions split, merge and reuse pages of the index, including the page of the
# link: in the same tree, in another tree, or on another level.  The session is a
# reader, a writer, vacuum, a concurrent build, or the check.  Its results and its
# changes must be right.
#
# SIMHASH_PAUSES sets the number of pauses.

use strict;
use warnings;

use FindBin;
use lib "$FindBin::RealBin/../../t";
use IndexLoad;
use IndexTest;
use PostgreSQL::Test::Cluster;
use PostgreSQL::Test::Utils;
use Test::More;

my $seed = random_seed();
my $pauses = $ENV{SIMHASH_PAUSES} || 400;
my $node = index_node('paused', conf => "autovacuum = off\n");

install_load($node);
$node->safe_psql('postgres', <<'SQL');
CREATE TABLE docs (id bigserial, fp simhash);
CREATE INDEX docs_fp ON docs USING simhash (fp) WITH (blocks = 2);
CREATE SEQUENCE ascending;

-- Return a fingerprint for the next row; n is the number of rows so far.
CREATE FUNCTION fp_like(shape text, n bigint) RETURNS simhash LANGUAGE sql AS $$
    SELECT CASE shape WHEN 'equal' THEN '0123456789abcdef'
        -- one key in all trees, including that of NULLs
        WHEN 'zero' THEN '0000000000000000'
        WHEN 'null' THEN NULL
        WHEN 'ascending' THEN (nextval('ascending') << 24)::simhash
        WHEN 'near' THEN flip('0123456789abcdef', (n % 5)::integer, n)
        ELSE hashint8extended(n, 0)::simhash END $$;
CREATE PROCEDURE add(shape text, n integer) LANGUAGE sql AS $$
    INSERT INTO docs (fp) SELECT fp_like(shape, last_value + i) FROM docs_id_seq, generate_series(1, n) AS i $$;
-- Leave entries that vacuum may remove, whatever snapshots exist.
CREATE PROCEDURE add_and_roll_back(shape text, n integer) LANGUAGE plpgsql AS $$
BEGIN
    CALL add(shape, n);
    ROLLBACK;
END $$;

-- Compare a cursor that has fetched some rows before the pause.
CREATE FUNCTION differing_cursor(
    query text, truth text, before integer, skip integer, level integer, OUT rows bigint, OUT differing bigint)
LANGUAGE plpgsql AS $$
DECLARE
    c refcursor;
    r record;
    seen tid[] := '{}';
BEGIN
    PERFORM set_config('simhash.pause_level', '-1', false);
    OPEN c FOR EXECUTE query;
    FOR i IN 1 .. 100000 LOOP
        IF i = before + 1 THEN
            PERFORM set_config('simhash.pause_skip', skip::text, false),
                    set_config('simhash.pause_level', level::text, false);
        END IF;
        FETCH c INTO r;
        EXIT WHEN NOT FOUND;
        seen := seen || r.ctid;
    END LOOP;
    SELECT * INTO rows, differing FROM differing(format('SELECT unnest(%L::tid[])', seen), truth);
END $$;
SQL

# --- sessions ---------------------------------------------------------------------

my ($actor, $worker, $guard) = map {
	my $psql = $node->background_psql('postgres', on_error_stop => 0, timeout => 1_000_000);

	{ psql => $psql, pid => $psql->query_safe('SELECT pg_backend_pid()'), n => 0 };
} 1 .. 3;

# Sends a statement, and does not wait for its end.
sub begin
{
	my ($session, $statement) = @_;

	$session->{n}++;
	$session->{psql}->{$_} = '' foreach qw(stdout stderr);
	$session->{psql}->{stdin} .= "$statement;\n\\echo 'ended $session->{n}'\n\\warn 'ended $session->{n}'\n";
}

sub ended
{
	my ($session) = @_;

	$session->{psql}->{run}->pump_nb;
	return !grep { $session->{psql}->{$_} !~ /ended $session->{n}\n/ } qw(stdout stderr);
}

# Returns the output and the messages of a statement that has ended.
sub result
{
	my ($session) = @_;
	my @result = map { $session->{psql}->{$_} =~ s/ended $session->{n}\n//r } qw(stdout stderr);

	$session->{psql}->{$_} = '' foreach qw(stdout stderr);
	chomp(@result);
	return @result;
}

sub run_in
{
	my ($session, $statement) = @_;

	begin($session, $statement);
	$session->{psql}->{run}->pump until ended($session);
	return result($session);
}

# Runs a statement that must not fail, and returns its output.
sub ask
{
	my ($session, $statement) = @_;
	my ($out, $err) = run_in($session, $statement);

	die "$statement: $err" if $err =~ /ERROR|FATAL/;
	return $out;
}

my $closed = 0;
sub close_gate { ask($guard, 'SELECT pg_advisory_lock(19)') unless $closed; $closed = 1; }
sub open_gate { ask($guard, 'SELECT pg_advisory_unlock(19)') if $closed; $closed = 0; }

# Waits until the actor pauses at the gate or has ended.  Returns true if it pauses.
sub paused
{
	until (ended($actor))
	{
		return 1 if ask($guard,
			"SELECT count(*) FROM pg_locks WHERE pid = $actor->{pid} AND locktype = 'advisory' AND NOT granted") eq '1';
	}
	return 0;
}

# Runs a statement in the worker session.  If the worker waits for a page that the actor
# has locked or pinned, opens the gate, so that the actor goes on.
sub work
{
	my ($statement) = @_;

	begin($worker, $statement);
	until (ended($worker))
	{
		open_gate() if $closed && ask($guard,
			"SELECT wait_event IN ('BufferPin', 'BufferCleanup', 'BufferContent') FROM pg_stat_activity
				WHERE pid = $worker->{pid}") eq 't';
	}
	my ($out, $err) = result($worker);
	die "$statement: $err" if $err =~ /ERROR|FATAL/;
	return $err;
}

# --- statements of the worker ---------------------------------------------------------

sub any { return $_[ int(rand(scalar @_)) ]; }
sub shape { return any(qw(equal zero zero null ascending ascending near uniform uniform)); }

my $merged = 0;
sub vacuum
{
	my $said = work('VACUUM (VERBOSE, INDEX_CLEANUP on, TRUNCATE off) docs');

	$merged += $1 while $said =~ /index "docs_fp": pages: \d+ in total, (\d+) newly deleted/g;
}

# Inserts rows and deletes many of them.  The number of rows stays small.
sub prepare
{
	work(sprintf q{CALL add('%s', %d)}, shape(), 50 + int(rand(300))) for 1 .. 1 + int(rand(3));
	work(any('DELETE FROM docs WHERE id % 9 <> 0 AND random() < 0.9',
		'DELETE FROM docs WHERE id < (SELECT max(id) FROM docs) - 300',
		'DELETE FROM docs WHERE fp < hashint8extended(' . int(rand(1000)) . ', 0)::simhash',
		"DELETE FROM docs WHERE fp = '0123456789abcdef' OR fp = '0000000000000000' OR fp IS NULL"));
	work('DELETE FROM docs WHERE id < (SELECT max(id) FROM docs) - 1500');
}

sub disturb
{
	my ($actor_type) = @_;

	vacuum() if !$actor_type->{excludes_vacuum} && rand() < 0.8;
	for (1 .. int(rand(4)))
	{
		work(sprintf q{CALL %s('%s', %d)}, any('add', 'add_and_roll_back', 'add_and_roll_back'), shape(),
			20 + int(rand(400)));
		vacuum() if !$actor_type->{excludes_vacuum} && rand() < 0.6;
	}
}

# The same for pages of other trees and levels, but with equal bounds: the key 0, and
# TIDs of deleted rows, all on one heap page.
sub prepare_bounds
{
	my ($shape) = @_;
	my $n = 40 + int(rand(100));

	work('TRUNCATE docs RESTART IDENTITY');
	work(sprintf q{CALL add('%s', %d)}, $shape, $n + 25);
	work("DELETE FROM docs WHERE id <= $n");
}

sub disturb_bounds
{
	my ($shape) = @_;

	vacuum();
	for (1 .. int(rand(3)))
	{
		work(sprintf q{CALL add_and_roll_back('%s', %d)}, any('zero', 'null'), 20 + int(rand(130)));
		vacuum();
	}
	work(sprintf q{CALL add('%s', %d)}, $shape eq 'null' ? 'zero' : any('null', 'zero'), 60 + int(rand(90)));
}

# --- actors: the sessions that pause ----------------------------------------------------

my @query = (q{'0123456789abcdef'::simhash}, q{fp_of(11)}, q{fp_of(77)}, q{'0000000000000000'::simhash},
	q{(currval('ascending') << 24)::simhash});
my ($index_scan, $bitmap_scan) = map {
	'RESET default_transaction_isolation; SET enable_seqscan = off; SET enable_sort = off; '
	  . "SET enable_indexscan = $_->[0]; SET enable_bitmapscan = $_->[1]"
} [ 'on', 'off' ], [ 'off', 'on' ];
my $cursor = "$index_scan; SET default_transaction_isolation = 'repeatable read'";

sub ball
{
	my ($how, @radii) = @_;

	return sub {
		my ($q, $k) = (any(@query), any(@radii));
		return ($how, "SELECT differing FROM differing_once('docs',
			format('fp <\@ simhash_ball(%L, $k)', $q), format('(fp <~> %L) + 0 <= $k', $q))");
	};
}

sub nulls
{
	return ($_[0], q{SELECT differing FROM differing_once('docs', 'fp IS NULL', 'num_nulls(fp) = 1')});
}

# These scans hold no pin of the heap page from which vacuum removes rows.
my %equal_bounds = (
	null => { name => 'bitmap scan of NULLs with equal bounds', expected => 0,
		does => sub { return nulls($bitmap_scan); } },
	zero => { name => 'bitmap scan with equal bounds', expected => 0, does => sub {
		return ($bitmap_scan,
			q{SELECT differing FROM differing_once('docs', 'fp = ''0000000000000000''', 'fp::bigint = 0')}); } });
my @actors = (
	{ name => 'index scan', expected => 0, does => ball($index_scan, 0, 0, 3, 8) },
	{ name => 'index scan of everything', expected => 0, does => ball($index_scan, 64) },
	{ name => 'bitmap scan', expected => 0, does => ball($bitmap_scan, 0, 3, 8, 64) },
	{ name => 'scan of NULLs', expected => 0, does => sub { return nulls($index_scan); } },
	{ name => 'nearest first', expected => 0, does => sub {
		return ($index_scan, sprintf q{SELECT differing FROM differing_order('docs', %d, 1)}, rand(1000)); } },
	{ name => 'lateral joins', expected => 0, does => sub {
		return ($index_scan, sprintf q{SELECT differing FROM differing_join('docs', %d)}, rand(1000)); } },
	{ name => 'cursor', expected => 0, does => sub {
		my ($skip, $level) = @_;
		my ($q, $k, $n) = (any(@query), any(0, 5, 64), int(rand(60)));
		return ($cursor,
			"SELECT differing FROM differing_cursor(
			format('SELECT ctid FROM docs WHERE fp <\@ simhash_ball(%L, $k)', $q),
			format('SELECT ctid FROM docs WHERE (fp <~> %L) + 0 <= $k', $q), $n, $skip, $level)"); } },
	{ name => 'cursor on NULLs', expected => 0, does => sub {
		my ($skip, $level) = @_;
		my $n = int(rand(60));
		return ($cursor,
			"SELECT differing FROM differing_cursor('SELECT ctid FROM docs WHERE fp IS NULL',
			'SELECT ctid FROM docs WHERE num_nulls(fp) = 1', $n, $skip, $level)"); } },
	{ name => 'insertion', does => sub {
		return ($index_scan, sprintf q{CALL add('%s', %d)}, shape(), any(1, 5, 100)); } },
	{ name => 'check', does => sub {
		return ($index_scan, q{SELECT simhash_index_check('docs_fp', } . any('true', 'false') . ')'); } },
	{ name => 'statistics', does => sub { return ($index_scan, q{SELECT 1 FROM simhash_index_stats('docs_fp')}); } },
	{ name => 'vacuum', excludes_vacuum => 1, does => sub { return ($index_scan, 'VACUUM (INDEX_CLEANUP on) docs'); } },
	{ name => 'build', excludes_vacuum => 1, does => sub {
		return ($index_scan, 'CREATE INDEX CONCURRENTLY built ON docs USING simhash (fp) WITH (blocks = 3)'); },
		after => [ q{SELECT simhash_index_check('built', true)}, 'DROP INDEX built' ] },
);

# --- one pause after the other -----------------------------------------------------------

my %max_skip;
my %waited;
my %wrong;
my $compared = 0;

ask($worker, "SELECT setseed(" . rand() . "), nextval('ascending')");
ask($actor, q{SELECT nextval('ascending')});
foreach my $n (1 .. $pauses)
{
	my $shape = rand() < 0.3 ? any(sort keys %equal_bounds) : undef;
	my $actor_type = $shape ? $equal_bounds{$shape} : any(@actors);
	my $level = any($shape ? 0 : (0, 0, 0, 1, 1, 2));
	my $where = "$actor_type->{name} before a page of level $level";
	my $skip = int(rand($max_skip{$where} //= 12));

	$shape ? prepare_bounds($shape) : prepare();
	my ($settings, $statement) = $actor_type->{does}->($skip, $level);
	ask($actor, "$settings; SET simhash.pause_skip = $skip; SET simhash.pause_level = $level");
	close_gate();
	begin($actor, $statement);
	if (paused())
	{
		$waited{$where}++;
		$max_skip{$where} = $skip + 12 if $skip + 12 > $max_skip{$where} && $max_skip{$where} < 200;
		$shape ? disturb_bounds($shape) : disturb($actor_type);
	}
	else
	{
		$max_skip{$where} = $skip || 1;
	}
	open_gate();
	$actor->{psql}->{run}->pump until ended($actor);
	my ($out, $err) = result($actor);
	my @wrong = ($err);
	push @wrong, "$out rows differ" if defined $actor_type->{expected} && $out ne $actor_type->{expected};
	push @wrong, (run_in($worker, $_))[1] foreach @{ $actor_type->{after} // [] },
		q{SELECT simhash_index_check('docs_fp', true)};
	my ($rows, $differing) = split /\|/, (run_in($worker, "SELECT * FROM differing('docs', $n, 3)"))[0];
	push @wrong, "$differing of $rows rows differ afterwards" if $differing ne '0';
	$compared += $rows;
	if (my @said = grep { $_ } @wrong)
	{
		my $said = join("\n", "pause $n, after $skip links: $statement", @said);

		diag("$where: $said");
		push @{ $wrong{$where} }, $said;
		# a damaged index must not affect the next pauses
		run_in($worker, 'REINDEX TABLE docs');
	}
}
foreach my $where (sort keys %max_skip)
{
	is(join("\n", @{ $wrong{$where} // [] }), '',
		"$where: right" . ($waited{$where} ? ", $waited{$where} times" : ', but never waited'));
}
cmp_ok($compared, '>', 0, "$compared rows were compared afterwards");
ok((keys %waited) > 20, (keys %waited) . ' different pauses');
cmp_ok($merged, '>', $pauses, "$merged pages were merged");
# the last pause may have left no rows
work(q{CALL add('uniform', 100)});
sound_ok($node, 'docs', 'after all');
no_lost_pages_ok($node, 'after all', 'docs_fp');
note($node->safe_psql('postgres', q{SELECT pg_relation_size('docs_fp') / 8192 || ' pages'}));
no_crash_ok($node);
$_->{psql}->quit foreach $actor, $worker, $guard;
$node->stop;
done_testing();
