# Indexes of signatures, and of their bands as arrays, under writers, on a primary and its
# standby, after a crash; and sessions that settle what make one has at the same time.

use strict;
use warnings;

use FindBin;
use lib $FindBin::RealBin;
use IndexTest;
use IPC::Run qw(finish);
use PostgreSQL::Test::Cluster;
use PostgreSQL::Test::Utils;
use Test::More;

my $seed = random_seed();
my $seconds = seconds(6);
my $primary = index_node('primary', streaming => 1, conf => <<'CONF');
autovacuum = off
wal_consistency_checking = 'generic'
CONF

# Signatures of 6 bands of 4 rows: families of nearly the same set, and sets of everybody.
$primary->safe_psql('postgres', <<'SQL');
CREATE FUNCTION sig_of(i bigint, bands integer DEFAULT 6, rows integer DEFAULT 4) RETURNS minhash LANGUAGE sql IMMUTABLE AS $$
    SELECT CASE hashint8extended(i, 1) & 15
        WHEN 0 THEN NULL
        WHEN 1 THEN to_minhash('{1,2,3}'::bigint[], bands, rows)
        ELSE to_minhash(ARRAY(SELECT i / 9 % 500 * 1000 + j + CASE WHEN j <= (i % 9) * 2 THEN 500 + i % 9 * 20 ELSE 0 END
                              FROM generate_series(1, 40) AS j), bands, rows) END $$;
CREATE TABLE docs (id bigserial, sig minhash, sk bigint[] GENERATED ALWAYS AS (minhash_bands(sig)) STORED);
CREATE INDEX docs_sig ON docs USING simhash (sig);
CREATE INDEX docs_sk ON docs USING simhash (sk);
INSERT INTO docs (sig) SELECT sig_of(i) FROM generate_series(1, 5000) AS i;
CREATE UNLOGGED TABLE lost (id bigserial, sig minhash, sk bigint[] GENERATED ALWAYS AS (minhash_bands(sig)) STORED);
CREATE INDEX lost_sig ON lost USING simhash (sig);
CREATE INDEX lost_sk ON lost USING simhash (sk);
INSERT INTO lost (sig) SELECT sig_of(i) FROM generate_series(1, 100) AS i;

CREATE FUNCTION differing_bands(tab regclass, seed bigint, times integer) RETURNS bigint LANGUAGE plpgsql
SET enable_seqscan = off AS $$
DECLARE
    i bigint;
    sum bigint := 0;
    q minhash;
    t float8;
    bands bigint[];
BEGIN
    FOR n IN 1 .. times LOOP
        i := seed + n;
        q := sig_of(i * 31);
        t := (i % 6) / 24.0::float8;	-- below 1 / rows % loses nothing
        PERFORM set_config('enable_bitmapscan', (i % 2 = 0)::text, true);
        sum := sum + differing(format('SELECT ctid, id FROM %s WHERE sig %% %L', tab, q),
                               format('SELECT ctid, id FROM %s WHERE (sig %% %L) IS TRUE', tab, q))
                   + differing(format('SELECT ctid, id FROM %s WHERE sig %% %L AND sig <%%> %2$L <= %s', tab, q, t),
                               format('SELECT ctid, id FROM %s WHERE (sig <%%> %L) + 0 <= %s', tab, q, t));
        bands := minhash_bands(q);
        t := (i % 6) / 6.0::float8;
        sum := sum + differing(format('SELECT ctid, id FROM %s WHERE sk @> %L', tab, bands[1:1 + i % 4]),
                               format('SELECT ctid, id FROM %s WHERE (sk @> %L) IS TRUE', tab, bands[1:1 + i % 4]))
                   + differing(format('SELECT ctid, id FROM %s WHERE sk <%%>> %L <= %s', tab, bands, t),
                               format('SELECT ctid, id FROM %s WHERE (sk <%%>> %L) + 0 <= %s', tab, bands, t));
    END LOOP;
    RETURN sum;
END $$;
CREATE PROCEDURE write(seed bigint, until timestamptz) LANGUAGE plpgsql AS $$
DECLARE
    i bigint := seed;
BEGIN
    WHILE clock_timestamp() < until LOOP
        i := i + 1;
        INSERT INTO docs (sig) SELECT sig_of(i * 7 + j) FROM generate_series(1, 7) AS j;
        IF i % 11 = 0 THEN
            DELETE FROM docs WHERE id % 97 = i % 97;
        ELSIF i % 13 = 0 THEN
            UPDATE docs SET sig = sig_of(i + id) WHERE id % 199 = i % 199;
        ELSIF i % 29 = 0 THEN
            ROLLBACK;
        END IF;
        COMMIT;
    END LOOP;
END $$;
CREATE PROCEDURE read(seed bigint, until timestamptz) LANGUAGE plpgsql AS $$
DECLARE
    i bigint := seed;
    n bigint;
    rounds integer := 0;
BEGIN
    WHILE clock_timestamp() < until OR rounds < 2 LOOP
        i := i + 1;
        COMMIT;
        SET TRANSACTION ISOLATION LEVEL REPEATABLE READ;
        n := differing_bands('docs', i, 3);
        IF n <> 0 THEN
            RAISE EXCEPTION '% rows differ with seed %', n, i;
        END IF;
        rounds := rounds + 1;
    END LOOP;
    RAISE NOTICE '% rounds', rounds;
END $$;
SQL

my $standby = standby_of($primary, slot => 1);

sub same_bands_ok
{
	my ($node, $name, %how) = @_;
	my $table = $how{table} // 'docs';

	is($node->safe_psql('postgres', "SELECT differing_bands('$table', " . ($seed % 100_000) . ", 60)"),
		'0', "$name: rows of the index are those of the table");
	no_damage_ok($node, $name, "${table}_sig");
	no_damage_ok($node, $name, "${table}_sk");
}

# --- under load --------------------------------------------------------------------

same_bands_ok($primary, 'at first');
my $until = $primary->safe_psql('postgres', "SELECT clock_timestamp() + '$seconds s'");
my @running = (
	(map { client($primary, "CALL write($seed + ${_}::bigint * 1000000000, '$until')") } 1, 2),
	client($primary, "CALL read($seed, '$until')"), client($standby, "CALL read($seed + 7, '$until')"));
$primary->safe_psql('postgres', 'VACUUM docs') while running(@running);
clients_ok(@running);
$primary->wait_for_catchup($standby);
same_bands_ok($primary, 'after the load');
same_bands_ok($standby, 'standby after the load');

# --- a make is settled once ----------------------------------------------------------

$primary->safe_psql('postgres', 'CREATE TABLE raced (sig minhash); CREATE INDEX raced_sig ON raced USING simhash (sig)');
foreach my $round (1 .. 8)
{
	$primary->safe_psql('postgres', 'TRUNCATE raced');
	my @racing = map { client($primary, "INSERT INTO raced SELECT sig_of(16, $_) FROM generate_series(1, 50)") } ('6, 4', '4, 6', '6, 4', '4, 6');
	finish($_->{process}) foreach @racing;
	my @failed = grep { $_->{process}->result(0) != 0 } @racing;
	is(scalar(grep { $_->{err} !~ /is of values of make/ } @failed), 0, "round $round: nothing else fails");
	is(scalar(@failed), 2, "round $round: one make wins");
	is($primary->safe_psql('postgres', 'SELECT count(*) = 100 AND count(DISTINCT left(sig::text, 3)) = 1 FROM raced'),
		't', "round $round: no row of another make");
}
# a session that has looked at the index before it had a make
my ($out, $err) = ('', '');
$primary->safe_psql('postgres', 'TRUNCATE raced');
$primary->wait_for_catchup($standby);
my $early = $standby->background_psql('postgres', on_error_stop => 0);
is($early->query_safe(q{SET enable_seqscan = off; SELECT count(*) FROM raced WHERE sig % sig_of(16, 4, 6)}), '0', 'no make yet');
$primary->safe_psql('postgres', 'INSERT INTO raced VALUES (sig_of(16))');
$primary->wait_for_catchup($standby);
is($early->query_safe(q{SELECT count(*) FROM raced WHERE sig % sig_of(16)}), '1', 'the make that has been settled since');
$early->query(q{SELECT count(*) FROM raced WHERE sig % sig_of(16, 4, 6)});
like($early->{stderr}, qr/is of values of make \(6,4,'hash'\), not \(4,6,'hash'\)/, 'and no other');
$early->quit;

# --- a crash -------------------------------------------------------------------------

my $before = $primary->safe_psql('postgres', 'SELECT last_value FROM docs_id_seq');
my @writers = map { client($primary, "CALL write($seed + ${_}::bigint * 1000000000, 'infinity')") } 3, 4;
$primary->poll_query_until('postgres', "SELECT last_value > $before + 2000 FROM docs_id_seq") or die 'nothing is written';
kill_and_start($primary, 'writers', @writers);
same_bands_ok($primary, 'after the crash');
same_bands_ok($primary, 'unlogged', table => 'lost');
is($primary->safe_psql('postgres', q{INSERT INTO lost (sig) SELECT sig_of(i, 4, 6) FROM generate_series(1, 100) AS i RETURNING 1}) ne '',
	1, 'an unlogged index starts from no make');
$primary->wait_for_catchup($standby);
same_bands_ok($standby, 'standby after the crash');
$standby->promote;
$standby->safe_psql('postgres', 'INSERT INTO docs (sig) SELECT sig_of(i) FROM generate_series(1, 2000) AS i; DELETE FROM docs WHERE id % 3 = 0; VACUUM docs');
same_bands_ok($standby, 'promoted');

no_crash_ok($_) foreach $primary, $standby;
$_->stop foreach $primary, $standby;
done_testing();
