# A session waits between the reading of a link and the following of it, while others
# split, merge and use again the pages of the index, the one that the link leads to
# among them: in the same tree, in another one, on another level.  Whoever waited, a
# reader, a writer, vacuum, a concurrent build, the check, finds and leaves what is right.
#
# SIMHASH_PAUSES sets how often.

use strict;
use warnings;

use FindBin;
use lib "$FindBin::RealBin/../../t";
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

-- What may be the next row; n: of how many.
CREATE FUNCTION fp_like(kind text, n bigint) RETURNS simhash LANGUAGE sql AS $$
    SELECT CASE kind WHEN 'equal' THEN '0123456789abcdef'
        -- one key in all trees, that of NULLs among them
        WHEN 'zero' THEN '0000000000000000'
        WHEN 'null' THEN NULL
        WHEN 'ascending' THEN (nextval('ascending') << 24)::simhash
        WHEN 'near' THEN flip('0123456789abcdef', (n % 5)::integer, n)
        ELSE hashint8extended(n, 0)::simhash END $$;
CREATE PROCEDURE add(kind text, n integer) LANGUAGE sql AS $$
    INSERT INTO docs (fp) SELECT fp_like(kind, last_value + i) FROM docs_id_seq, generate_series(1, n) AS i $$;
-- Leaves entries that any vacuum may remove, whoever has a snapshot.
CREATE PROCEDURE add_and_roll_back(kind text, n integer) LANGUAGE plpgsql AS $$
BEGIN
    CALL add(kind, n);
    ROLLBACK;
END $$;

-- A cursor that has read some rows before the pause.
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

# Sends a statement without waiting for its end.
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

# What a statement that has ended gave, and said.
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

# What a statement gives that must not fail.
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

# Whether the actor waits at the gate, or has ended without.
sub paused
{
	until (ended($actor))
	{
		return 1 if ask($guard,
			"SELECT count(*) FROM pg_locks WHERE pid = $actor->{pid} AND locktype = 'advisory' AND NOT granted") eq '1';
	}
	return 0;
}

# The worker does something.  Where it has to wait for a page of the actor's, that goes on.
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

# --- what the worker does ------------------------------------------------------------

sub any { return $_[ int(rand(scalar @_)) ]; }
sub kind { return any(qw(equal zero zero null ascending ascending near uniform uniform)); }

my $merged = 0;
sub vacuum
{
	my $said = work('VACUUM (VERBOSE, INDEX_CLEANUP on, TRUNCATE off) docs');

	$merged += $1 while $said =~ /index "docs_fp": pages: \d+ in total, (\d+) newly deleted/g;
}

# There are not too many rows, and many have gone.
sub prepare
{
	work(sprintf q{CALL add('%s', %d)}, kind(), 50 + int(rand(300))) for 1 .. 1 + int(rand(3));
	work(any('DELETE FROM docs WHERE id % 9 <> 0 AND random() < 0.9',
		'DELETE FROM docs WHERE id < (SELECT max(id) FROM docs) - 300',
		'DELETE FROM docs WHERE fp < hashint8extended(' . int(rand(1000)) . ', 0)::simhash',
		"DELETE FROM docs WHERE fp = '0123456789abcdef' OR fp = '0000000000000000' OR fp IS NULL"));
	work('DELETE FROM docs WHERE id < (SELECT max(id) FROM docs) - 1500');
}

sub disturb
{
	my ($who) = @_;

	vacuum() if !$who->{excludes_vacuum} && rand() < 0.8;
	for (1 .. int(rand(4)))
	{
		work(sprintf q{CALL %s('%s', %d)}, any('add', 'add_and_roll_back', 'add_and_roll_back'), kind(),
			20 + int(rand(400)));
		vacuum() if !$who->{excludes_vacuum} && rand() < 0.6;
	}
}

# The same for pages of other trees and levels, but with the same bounds: the key 0, and the
# TIDs of rows that have gone, all in one page of the table.
sub prepare_bounds
{
	my ($kind) = @_;
	my $n = 40 + int(rand(100));

	work('TRUNCATE docs RESTART IDENTITY');
	work(sprintf q{CALL add('%s', %d)}, $kind, $n + 25);
	work("DELETE FROM docs WHERE id <= $n");
}

sub disturb_bounds
{
	my ($kind) = @_;

	vacuum();
	for (1 .. int(rand(3)))
	{
		work(sprintf q{CALL add_and_roll_back('%s', %d)}, any('zero', 'null'), 20 + int(rand(130)));
		vacuum();
	}
	work(sprintf q{CALL add('%s', %d)}, $kind eq 'null' ? 'zero' : any('null', 'zero'), 60 + int(rand(90)));
}

# --- who waits ------------------------------------------------------------------------

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

# These hold no pin of the table's page, on which vacuum is to remove rows.
my %equal_bounds = (
	null => { name => 'bitmap scan of NULLs with equal bounds', says => 0,
		does => sub { return nulls($bitmap_scan); } },
	zero => { name => 'bitmap scan with equal bounds', says => 0, does => sub {
		return ($bitmap_scan,
			q{SELECT differing FROM differing_once('docs', 'fp = ''0000000000000000''', 'fp::bigint = 0')}); } });
my @actors = (
	{ name => 'index scan', says => 0, does => ball($index_scan, 0, 0, 3, 8) },
	{ name => 'index scan of everything', says => 0, does => ball($index_scan, 64) },
	{ name => 'bitmap scan', says => 0, does => ball($bitmap_scan, 0, 3, 8, 64) },
	{ name => 'scan of NULLs', says => 0, does => sub { return nulls($index_scan); } },
	{ name => 'nearest first', says => 0, does => sub {
		return ($index_scan, sprintf q{SELECT differing FROM differing_order('docs', %d, 1)}, rand(1000)); } },
	{ name => 'lateral joins', says => 0, does => sub {
		return ($index_scan, sprintf q{SELECT differing FROM differing_join('docs', %d)}, rand(1000)); } },
	{ name => 'cursor', says => 0, does => sub {
		my ($skip, $level) = @_;
		my ($q, $k, $n) = (any(@query), any(0, 5, 64), int(rand(60)));
		return ($cursor,
			"SELECT differing FROM differing_cursor(
			format('SELECT ctid FROM docs WHERE fp <\@ simhash_ball(%L, $k)', $q),
			format('SELECT ctid FROM docs WHERE (fp <~> %L) + 0 <= $k', $q), $n, $skip, $level)"); } },
	{ name => 'cursor on NULLs', says => 0, does => sub {
		my ($skip, $level) = @_;
		my $n = int(rand(60));
		return ($cursor,
			"SELECT differing FROM differing_cursor('SELECT ctid FROM docs WHERE fp IS NULL',
			'SELECT ctid FROM docs WHERE num_nulls(fp) = 1', $n, $skip, $level)"); } },
	{ name => 'insertion', does => sub {
		return ($index_scan, sprintf q{CALL add('%s', %d)}, kind(), any(1, 5, 100)); } },
	{ name => 'check', does => sub {
		return ($index_scan, q{SELECT simhash_index_check('docs_fp', } . any('true', 'false') . ')'); } },
	{ name => 'statistics', does => sub { return ($index_scan, q{SELECT 1 FROM simhash_index_stats('docs_fp')}); } },
	{ name => 'vacuum', excludes_vacuum => 1, does => sub { return ($index_scan, 'VACUUM (INDEX_CLEANUP on) docs'); } },
	{ name => 'build', excludes_vacuum => 1, does => sub {
		return ($index_scan, 'CREATE INDEX CONCURRENTLY built ON docs USING simhash (fp) WITH (blocks = 3)'); },
		after => [ q{SELECT simhash_index_check('built', true)}, 'DROP INDEX built' ] },
);

# --- one pause after the other -----------------------------------------------------------

my %most;
my %waited;
my %wrong;
my $compared = 0;

ask($worker, "SELECT setseed(" . rand() . "), nextval('ascending')");
ask($actor, q{SELECT nextval('ascending')});
foreach my $n (1 .. $pauses)
{
	my $kind = rand() < 0.3 ? any(sort keys %equal_bounds) : undef;
	my $who = $kind ? $equal_bounds{$kind} : any(@actors);
	my $level = any($kind ? 0 : (0, 0, 0, 1, 1, 2));
	my $where = "$who->{name} before a page of level $level";
	my $skip = int(rand($most{$where} //= 12));

	$kind ? prepare_bounds($kind) : prepare();
	my ($settings, $statement) = $who->{does}->($skip, $level);
	ask($actor, "$settings; SET simhash.pause_skip = $skip; SET simhash.pause_level = $level");
	close_gate();
	begin($actor, $statement);
	if (paused())
	{
		$waited{$where}++;
		$most{$where} = $skip + 12 if $skip + 12 > $most{$where} && $most{$where} < 200;
		$kind ? disturb_bounds($kind) : disturb($who);
	}
	else
	{
		$most{$where} = $skip || 1;
	}
	open_gate();
	$actor->{psql}->{run}->pump until ended($actor);
	my ($out, $err) = result($actor);
	my @wrong = ($err);
	push @wrong, "$out rows differ" if defined $who->{says} && $out ne $who->{says};
	push @wrong, (run_in($worker, $_))[1] foreach @{ $who->{after} // [] },
		q{SELECT simhash_index_check('docs_fp', true)};
	my ($rows, $differing) = split /\|/, (run_in($worker, "SELECT * FROM differing('docs', $n, 3)"))[0];
	push @wrong, "$differing of $rows rows differ afterwards" if $differing ne '0';
	$compared += $rows;
	if (my @said = grep { $_ } @wrong)
	{
		my $said = join("\n", "pause $n, after $skip links: $statement", @said);

		diag("$where: $said");
		push @{ $wrong{$where} }, $said;
		# what is damaged is not damage of the next one's
		run_in($worker, 'REINDEX TABLE docs');
	}
}
foreach my $where (sort keys %most)
{
	is(join("\n", @{ $wrong{$where} // [] }), '',
		"$where: right" . ($waited{$where} ? ", $waited{$where} times" : ', but never waited'));
}
cmp_ok($compared, '>', 0, "$compared rows were compared afterwards");
ok((keys %waited) > 20, (keys %waited) . ' kinds of pauses');
cmp_ok($merged, '>', $pauses, "$merged pages were merged");
sound_ok($node, 'docs', 'after all');
no_lost_pages_ok($node, 'after all', 'docs_fp');
note($node->safe_psql('postgres', q{SELECT pg_relation_size('docs_fp') / 8192 || ' pages'}));
no_crash_ok($node);
$_->{psql}->quit foreach $actor, $worker, $guard;
$node->stop;
done_testing();
