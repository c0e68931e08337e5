# Indexes of signatures, and of their bands as arrays, with concurrent writers, on a
# primary and its standby, after a crash; and their parameters, which survive a crash,
# replication and a dump.

use strict;
use warnings;

use FindBin;
use lib $FindBin::RealBin;
use IndexLoad;
use IndexTest;
use PostgreSQL::Test::Cluster;
use PostgreSQL::Test::Utils;
use Test::More;

my $seed = random_seed();
my $seconds = seconds(3);
my $primary = index_node('primary', streaming => 1, conf => <<'CONF');
autovacuum = off
wal_consistency_checking = 'generic'
CONF

# Signatures of 6 bands of 4 rows: families of similar sets, and sets whose bands many
# rows share.
$primary->safe_psql('postgres', <<'SQL');
CREATE FUNCTION sig_of(i bigint, bands integer DEFAULT 6, rows integer DEFAULT 4)
    RETURNS minhash LANGUAGE sql IMMUTABLE AS $$
    SELECT CASE hashint8extended(i, 1) & 15
        WHEN 0 THEN NULL
        WHEN 1 THEN to_minhash('{1,2,3}'::bigint[], bands, rows)
        ELSE to_minhash(
            ARRAY(SELECT i / 9 % 500 * 1000 + j + CASE WHEN j <= (i % 9) * 2 THEN 500 + i % 9 * 20 ELSE 0 END
                              FROM generate_series(1, 40) AS j), bands, rows) END $$;
CREATE TABLE docs (
    id bigserial, sig minhash(6, 4, 'hash'), sk bigint[] GENERATED ALWAYS AS (minhash_bands(sig)) STORED);
CREATE INDEX ON docs USING btree (id);
CREATE INDEX docs_sig ON docs USING simhash (sig);
CREATE INDEX docs_sk ON docs USING simhash (sk);
INSERT INTO docs (sig) SELECT sig_of(i) FROM generate_series(1, 5000) AS i;
CREATE UNLOGGED TABLE lost (
    id bigserial, sig minhash(6, 4, 'hash'), sk bigint[] GENERATED ALWAYS AS (minhash_bands(sig)) STORED);
CREATE INDEX lost_sig ON lost USING simhash (sig);
CREATE INDEX lost_sk ON lost USING simhash (sk);
INSERT INTO lost (sig) SELECT sig_of(i) FROM generate_series(1, 100) AS i;

CREATE FUNCTION differing_bands(tab regclass, seed bigint, times integer, OUT rows bigint, OUT differing bigint)
LANGUAGE plpgsql SET enable_seqscan = off SET enable_sort = off SET enable_incremental_sort = off AS $$
DECLARE
    nearest text;
    i bigint;
    once record;
    q minhash;
    t float8;
    bands bigint[];
    radius float8;
BEGIN
    rows := 0;
    differing := 0;
    FOR n IN 1 .. times LOOP
        i := seed + n;
        q := sig_of(i * 31);
        t := (i % 6) / 24.0::float8;	-- below 1 / rows % loses nothing
        PERFORM set_config('enable_bitmapscan', (i % 2 = 0)::text, true);
        bands := minhash_bands(q);
        radius := (i % 6) / 6.0::float8;
        nearest := 'SELECT row_number() OVER (), d FROM (SELECT %s AS d FROM %s %s ORDER BY 1 LIMIT 9) AS s';
        FOR once IN SELECT d.* FROM (VALUES
            (format('sig %% %L', q), format('(sig %% %L) IS TRUE', q)),
            (format('sig %% %L AND sig <%%> %1$L <= %s', q, t), format('(sig <%%> %L) + 0 <= %s', q, t)),
            (format('sk @> %L', bands[1:1 + i % 4]), format('(sk @> %L) IS TRUE', bands[1:1 + i % 4])),
            (format('sk <%%>> %L <= %s', bands, radius), format('(sk <%%>> %L) + 0 <= %s', bands, radius))
            ) AS v (by_index, by_eye), differing(format('SELECT ctid, id FROM %s WHERE %s', tab, by_index),
                                                 format('SELECT ctid, id FROM %s WHERE %s', tab, by_eye)) AS d
            UNION ALL
            SELECT d.* FROM (VALUES (''), (format('WHERE (sk <%%%%> %L)%%s <= %s', bands, radius))) AS v (condition),
                differing(format(nearest, format('sk <%%> %L', bands), tab, format(condition, '')),
                          format(nearest, format('(sk <%%> %L) + 0', bands), tab, format(condition, ' + 0'))) AS d
        LOOP
            rows := rows + once.rows;
            differing := differing + once.differing;
        END LOOP;
    END LOOP;
END $$;
SQL
install_load($primary, column => 'sig', of => 'sig_of', compare => 'differing_bands(tab, i, 3)');

my $standby = standby_of($primary);

sub same_bands_ok
{
	my ($node, $name, %how) = @_;
	my $table = $how{table} // 'docs';

	my ($rows, $differing) =
	  split /\|/, $node->safe_psql('postgres',
	  	"SELECT * FROM differing_bands('$table', " . ($seed % 100_000) . ", 60)");

	is($differing, '0', "$name: rows of the index are those of the table");
	cmp_ok($rows, $how{may_be_empty} ? '>=' : '>', 0, "$name: $rows rows of $table were compared");
	no_damage_ok($node, $name, "${table}_sig");
	no_damage_ok($node, $name, "${table}_sk");
}

# The executors of old minor releases cannot reorder (sql/jaccard_index.sql).
note($primary->safe_psql('postgres',
	q{SET enable_seqscan = off; SELECT whole_plan($$SELECT FROM docs ORDER BY sk <%> '{1,2}'$$)}));

# --- under load --------------------------------------------------------------------

same_bands_ok($primary, 'at first');
my $until = $primary->safe_psql('postgres', "SELECT clock_timestamp() + '$seconds s'");
my @writers = map { client($primary, "CALL write('docs', $seed + ${_}::bigint * 1000000000, 10000)") } 1, 2;
my @readers = (
	client($primary, "CALL read('docs', $seed, 2, '$until')"),
	client($standby, "CALL read('docs', $seed + 7, 2, '$until')"));
$primary->safe_psql('postgres', 'VACUUM docs') while running(@readers);
$primary->safe_psql('postgres', 'DELETE FROM load');
clients_ok(@readers, @writers);
$primary->wait_for_catchup($standby);
same_bands_ok($primary, 'after the load');
same_bands_ok($standby, 'standby after the load');

# --- scopes --------------------------------------------------------------------------

$primary->safe_psql('postgres', <<'SQL');
CREATE TABLE notes (id bigserial, scope bigint, sk bigint[],
	EXCLUDE USING simhash (sketch_ball(sk, 0.2) WITH =~=));
CREATE INDEX notes_sk ON notes USING simhash (sk);
INSERT INTO notes (scope, sk)
SELECT scope, scoped_hashes(minhash_bands(sig_of(i)), scope)
FROM generate_series(1, 5000) AS i, generate_series(7, 8) AS scope ON CONFLICT DO NOTHING;
DELETE FROM notes WHERE id % 5 = 0;
VACUUM notes;
SQL
$primary->wait_for_catchup($standby);

# Returns pairs of near notes, by the index that serves the condition.
sub near_notes
{
	my ($node, $condition) = @_;

	return $node->safe_psql('postgres', "SET simhash.enable_join = off; SET enable_seqscan = off;
		SELECT q.id, n.id FROM notes AS q JOIN notes AS n ON $condition WHERE q.id < 300 ORDER BY 1, 2");
}

foreach ([ 'sketch_ball(n.sk, 0.2) =~= sketch_ball(q.sk, 0.8)', '(n.sk <%> q.sk) + 0 <= 0.2' ],
	[ 'n.sk <%> q.sk <= 0.8', 'n.scope = q.scope AND (n.sk <%> q.sk) + 0 <= 0.8' ])
{
	my ($by_index, $by_eye) = @$_;
	my $found = near_notes($primary, $by_eye);

	is(near_notes($standby, $by_index), $found, "standby: $by_index");
	like($found, qr/^(\d+)\|(?!\1$)/m, 'some are near') if $by_index =~ /<%>/;
}
no_damage_ok($standby, 'standby', 'notes_sk', 'notes_sketch_ball_excl');

# --- parameters ----------------------------------------------------------------------

# The catalog loses the modifiers.  From here on only the index files contain the
# parameters.
$primary->safe_psql('postgres', <<'SQL');
CREATE TABLE bare (sig minhash(6, 4, 'hash'));
CREATE UNLOGGED TABLE bare_lost (LIKE bare);
INSERT INTO bare SELECT sig_of(i) FROM generate_series(1, 100) AS i;
INSERT INTO bare_lost TABLE bare;
CREATE INDEX bare_sig ON bare USING simhash (sig);
CREATE INDEX bare_lost_sig ON bare_lost USING simhash (sig);
UPDATE pg_attribute SET atttypmod = -1
WHERE attrelid IN ('bare'::regclass, 'bare_sig'::regclass, 'bare_lost'::regclass, 'bare_lost_sig'::regclass)
    AND attname = 'sig';
SQL

# A search for other parameters, or an insertion of them, raises an error that shows
# both.
sub refused_ok
{
	my ($node, $name, $statement) = @_;
	my ($stdout, $stderr);

	isnt($node->psql('postgres', "SET enable_seqscan = off; $statement", stdout => \$stdout, stderr => \$stderr), 0,
		"$name: an error");
	like($stderr, qr/contains signatures with parameters \(6,4,'hash'\), but the value has \(4,6,'hash'\)/,
		"$name: both are named");
}

sub same_parameters_ok
{
	my ($node, $name, $table, %how) = @_;

	refused_ok($node, "$name, search", "SELECT FROM $table WHERE sig % sig_of(16, 4, 6)");
	refused_ok($node, "$name, insertion", "INSERT INTO $table (sig) VALUES (sig_of(16, 4, 6))") unless $how{read_only};
}

$primary->wait_for_catchup($standby);
same_parameters_ok($primary, 'primary', 'bare');
same_parameters_ok($primary, 'unlogged', 'bare_lost');
same_parameters_ok($standby, 'standby', 'bare', read_only => 1);

# --- a crash -------------------------------------------------------------------------

my $before = $primary->safe_psql('postgres', 'SELECT last_value FROM docs_id_seq');
$primary->safe_psql('postgres', 'INSERT INTO load VALUES (true)');
@writers = map { client($primary, "CALL write('docs', $seed + ${_}::bigint * 1000000000, 10000)") } 3, 4;
$primary->poll_query_until('postgres', "SELECT last_value > $before + 2000 FROM docs_id_seq")
	or die 'nothing is written';
kill_and_start($primary, 'writers', @writers);
same_bands_ok($primary, 'after the crash');
same_bands_ok($primary, 'unlogged', table => 'lost', may_be_empty => 1);
same_parameters_ok($primary, 'after the crash', 'bare');
is($primary->safe_psql('postgres', 'SELECT count(*) FROM bare_lost'), '0', 'unlogged, after the crash: no row');
same_parameters_ok($primary, 'unlogged, after the crash', 'bare_lost');
$primary->safe_psql('postgres', 'INSERT INTO bare_lost SELECT sig_of(i) FROM generate_series(1, 100) AS i');
no_damage_ok($primary, 'filled again', 'bare_lost_sig');
$primary->wait_for_catchup($standby);
same_bands_ok($standby, 'standby after the crash');
$standby->promote;
$standby->safe_psql('postgres',
	'INSERT INTO docs (sig) SELECT sig_of(i) FROM generate_series(1, 2000) AS i; DELETE FROM docs
		WHERE id % 3 = 0; VACUUM docs');
same_bands_ok($standby, 'promoted');
same_parameters_ok($standby, 'promoted', 'bare');

# --- a dump --------------------------------------------------------------------------

$primary->safe_psql('postgres', <<'SQL');
CREATE DOMAIN words AS minhash(20, 5, 'word', 2);
CREATE TABLE body (body text, sig minhash(18, 7) GENERATED ALWAYS AS (to_minhash(body)) STORED,
	chars minhash(5, 4, 'char', 9) DEFAULT to_minhash('some text', 5, 4, 9, 'char'), words words);
CREATE INDEX body_sig ON body USING simhash (sig);
CREATE INDEX body_chars ON body USING simhash (chars);
CREATE INDEX body_domain ON body USING simhash (words);
CREATE INDEX body_words ON body USING simhash ((to_minhash(body, 20, 5, 2)::minhash(20, 5, 'word', 2)));
INSERT INTO body VALUES ('some text of five words'), ('another text of five words');
CREATE DATABASE restored;
SQL
$primary->safe_psql('restored', q{CREATE EXTENSION simhash; CREATE DOMAIN words AS minhash(20, 5, 'word', 2)});
my @connection = ('-h', $primary->host, '-p', $primary->port);

sub dump_of
{
	my ($database, $table, $file) = @_;

	command_ok([ 'pg_dump', @connection, '-t', $table, '-f', $file, $database ], "$table of $database is dumped");
	return slurp_file($file) =~ s/^\\(?:un)?restrict .*$//mgr;
}

my $file = $primary->basedir . '/dump';
my @restore = ('psql', '-X', '-q', '-v', 'ON_ERROR_STOP=1', @connection, '-f', $file, 'restored');
my $dump = dump_of('postgres', 'body', $file);
command_ok(\@restore, 'body is restored');
is(dump_of('restored', 'body', "$file.2"), $dump, 'and has the same types and indexes');
like($dump, $_, 'modifiers are dumped') foreach qr/minhash\(18,7\) GENERATED/, qr/minhash\(5,4,'char',9\) DEFAULT/,
	qr/::(?:public\.)?minhash\(20,5,'word',2\)/;
$primary->safe_psql(
	'restored', q{SELECT simhash_index_check(i::regclass, true)
		FROM unnest('{body_sig,body_chars,body_domain,body_words}'::text[]) AS i});

no_crash_ok($_) foreach $primary, $standby;
$_->stop foreach $primary, $standby;
done_testing();
