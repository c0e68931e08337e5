# Random similarity joins return the rows of nested loops: self-joins and joins of two tables, by
# one process and by several, in memory and with files, after each change of the tables.  Then joins
# fail at random moments: they are cancelled, their processes are killed, they lack disk.  No
# temporary file and no process remains, and the next join returns the right rows.
#
# SIMHASH_QUERIES sets the number of joins, SIMHASH_FAILURES that of failures.  SIMHASH_SEED
# repeats a run, but for the moments of failures.

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
my $queries = $ENV{SIMHASH_QUERIES} // 120;
my $failures = $ENV{SIMHASH_FAILURES} // 20;
my $node = index_node('joins', conf => "autovacuum = off\nrestart_after_crash = on\nlog_line_prefix = '%e '\n");

# --- data ------------------------------------------------------------------------

$node->safe_psql('postgres', <<'SQL');
-- Return rows of a shape: families of near rows, of which a few are large; skewed, with long
-- arrays; or equal.  Some values are NULL or empty, and some rows are wide.
CREATE FUNCTION rows_of(shape text, rows int, seed int)
RETURNS TABLE (fp simhash, sig minhash, sk bigint[], n int, body text) LANGUAGE sql AS $$
    SELECT CASE WHEN h % 19 > 0 THEN
               CASE shape WHEN 'near' THEN flip(random_fp(family), h % 7, i)
                          WHEN 'skewed' THEN fp_of('mixed', i) ELSE fp_of('equal', i) END END,
           CASE WHEN h % 37 > 0 AND sk <> '{}' THEN to_minhash(array_remove(sk, NULL), 6, 2) END,
           sk, CASE WHEN h % 17 > 0 THEN h % 8 * (h / 8 % 8) / 8 END,
           (SELECT string_agg(md5(concat(i, j)), '')
            FROM generate_series(1, CASE WHEN h % 31 = 0 THEN 200 ELSE h % 20 END) AS j)
    FROM (SELECT i, hashint4(i) & 65535 AS h, CASE WHEN hashint4(i) & 3 = 0 THEN i % 5 ELSE i / 3 END AS family
          FROM generate_series(1 + seed, rows + seed) AS i) AS s,
         LATERAL (SELECT CASE WHEN h % 23 = 0 THEN NULL WHEN h % 29 = 0 THEN '{}'
                     WHEN shape = 'near' THEN
                         ARRAY[family, -family, family + 9000, NULL, h % 5, family + 9000, 7, h % 300]
                     WHEN shape = 'equal' THEN '{3,1,2}'
                     ELSE ARRAY(SELECT exp((hashint8extended(i, j) & 1023) / 128.0)::bigint
                                FROM generate_series(1, CASE WHEN h % 97 = 0 THEN 400 ELSE h % 24 END) AS j) END AS sk
                  OFFSET 0) AS a $$;

CREATE TABLE near (id bigserial, fp simhash, sig minhash, sk bigint[], n int, body text);
CREATE TABLE skewed (LIKE near INCLUDING ALL);
CREATE TABLE equal (LIKE near INCLUDING ALL);
CREATE TABLE few (LIKE near INCLUDING ALL);
CREATE TABLE none (LIKE near INCLUDING ALL);
CREATE TABLE parts (LIKE near INCLUDING ALL) PARTITION BY RANGE (id);
CREATE TABLE parts1 PARTITION OF parts FOR VALUES FROM (MINVALUE) TO (150);
CREATE TABLE parts2 (body text, n int, sk bigint[], sig minhash, fp simhash, id bigint NOT NULL);
ALTER TABLE parts ATTACH PARTITION parts2 FOR VALUES FROM (150) TO (900);
CREATE TABLE parts3 PARTITION OF parts DEFAULT;
CREATE TABLE tables AS
    SELECT * FROM (VALUES ('near', 'near', 500), ('skewed', 'skewed', 400), ('equal', 'equal', 90), ('few', 'near', 9),
                          ('parts', 'near', 400), ('none', 'near', 0)) AS t (tab, shape, size);
-- Delete, update and insert rows.
CREATE PROCEDURE change(seed int) LANGUAGE plpgsql AS $$
DECLARE t tables;
BEGIN
    FOR t IN TABLE tables LOOP
        EXECUTE format('DELETE FROM %I WHERE hashint8extended(id, $1) & 7 = 0', t.tab) USING seed;
        EXECUTE format('UPDATE %I SET fp = flip(fp, 2, id), sk = sk[2:] || id %% 9, n = n %% 5 + 1
                        WHERE hashint8extended(id, $1) & 7 = 1', t.tab) USING seed;
        EXECUTE format('INSERT INTO %1$I (fp, sig, sk, n, body)
                        SELECT * FROM rows_of($1, $2 - (SELECT count(*) FROM %1$I)::int, $3)', t.tab)
            USING t.shape, t.size, seed;
    END LOOP;
END $$;
CALL change(0);
DO $$ DECLARE tab text; BEGIN
    FOREACH tab IN ARRAY '{near,skewed,equal,few,none,parts1,parts2,parts3}'::text[] LOOP
        EXECUTE format('ALTER TABLE %I SET (parallel_workers = 4)', tab);
    END LOOP;
END $$;
CREATE VIEW seen AS SELECT ctid AS at, * FROM near WHERE n > 0;
CREATE VIEW barrier WITH (security_barrier) AS SELECT ctid AS at, * FROM skewed WHERE n < 5;
CREATE MATERIALIZED VIEW kept AS SELECT * FROM parts;
ANALYZE;

-- Fetch some rows of a query by a cursor, into the table found.
CREATE PROCEDURE fetch_some(query text, rows int) LANGUAGE plpgsql AS $$
DECLARE
    c refcursor;
    r record;
BEGIN
    EXECUTE format('CREATE TEMP TABLE found AS %s WITH NO DATA', query);
    OPEN c FOR EXECUTE query;
    FOR i IN 1 .. rows LOOP
        FETCH c INTO r;
        EXIT WHEN NOT FOUND;
        EXECUTE 'INSERT INTO found SELECT (jsonb_populate_record(NULL::found, to_jsonb($1))).*' USING r;
    END LOOP;
    CLOSE c;
END $$;
-- Wait for a session with such a name that runs such a statement.
CREATE FUNCTION wait_for(name text, statement text) RETURNS int LANGUAGE plpgsql AS $$
DECLARE p int;
BEGIN
    LOOP
        PERFORM pg_stat_clear_snapshot(), pg_sleep(0.0005);
        SELECT pid INTO p FROM pg_stat_activity WHERE application_name = name AND query ~ statement
            AND backend_type = 'client backend';
        IF p > 0 THEN
            RETURN p;
        END IF;
    END LOOP;
END $$;
-- Cancel the victim so many seconds after it began, or terminate or kill one of its workers
-- so many seconds after it was seen.
CREATE PROCEDURE disturb(how text, delay float8) LANGUAGE plpgsql AS $$
DECLARE
    victim int := wait_for('victim', '^COPY');
    worker int;
BEGIN
    WHILE how <> 'cancel' AND worker IS NULL LOOP
        PERFORM pg_stat_clear_snapshot();
        SELECT pid INTO worker FROM pg_stat_activity WHERE leader_pid = victim ORDER BY random() LIMIT 1;
        EXIT WHEN NOT EXISTS (SELECT FROM pg_stat_activity WHERE pid = victim AND state = 'active');
    END LOOP;
    PERFORM pg_sleep(delay);
    IF how = 'cancel' THEN
        PERFORM pg_cancel_backend(victim);
    ELSIF how = 'terminate' THEN
        PERFORM pg_terminate_backend(worker);
    ELSIF worker > 0 THEN
        EXECUTE format('COPY (SELECT) TO PROGRAM ''cat; kill -KILL %s''', worker);
    END IF;
END $$;
SQL

# --- the generator ----------------------------------------------------------------

sub one_of { return $_[ int(rand(@_)) ] }
sub in_100 { return rand(100) < $_[0] }

# Returns an item of a FROM clause, and its column with the ctid.
sub source
{
	my $table = one_of(qw(near near near skewed skewed parts kept equal few none));

	return one_of([ $table, 'ctid' ], [ $table, 'ctid' ], [ $table, 'ctid' ],
		[ "(SELECT tableoid, ctid, * FROM $table WHERE n > 1)", 'ctid' ],
		[ "(SELECT ctid AS at, * FROM $table OFFSET 0)", 'at' ],
		[ one_of('seen', 'barrier', 'shared'), 'at' ]);
}

# Returns a clause that a method serves.  The radius is random if it is not given.
sub near
{
	my ($radius) = @_;
	my $bits = $radius ? "($radius * 10)::int" : one_of(0 .. 10, 3, 20, '(SELECT 3)', '(SELECT NULL::int)');
	my $part = $radius // one_of(-1, 0, 0.1, 0.2, 0.3, 0.34, 0.5, 0.7,
		map { "(SELECT $_\::float8)" } 0.3, '1.0', 'NULL');

	return one_of("a.fp <~> b.fp <= $bits", "b.fp <~> a.fp < $bits", "simhash_within(a.fp, b.fp, $bits)",
		"a.sk <%> b.sk <= $part", "a.sk <%> b.sk <= $part", "jaccard_within(b.sk, a.sk, $part)",
		one_of('a.sig % b.sig', 'shares_band(b.sig, a.sig)'));
}

my @beside = ('a.id < b.id', 'a.id < b.id', 'a.id > b.id', 'a.id <> b.id', 'a.n = b.n', 'a.n = b.n', 'a.n + 1 = b.n',
	'(a.n, a.id) < (b.n, b.id)', 'a.id < b.id + 3', 'octet_length(a.body) <= octet_length(b.body)',
	'a.id % 2 = b.id % 2', 'a.body < b.body', 'a.sk <%> b.sk < 0.8', 'a.n < 4', 'b.n > 1');

# Returns a join of two inputs, which are the same in half of them.
sub join_of_two
{
	my ($radius) = @_;
	my ($left, $right) = (source(), source());
	my $on = join ' AND ', near($radius), map { one_of(@beside) } 1 .. one_of(0, 0, 1, 1, 2);
	my $more = one_of('', '', ', a.body', ', a::text AS whole', ', a.sk');

	$right = $left if in_100(50);
	my $at = "a.$left->[1] AS a_at, a.id AS a_id";
	my $from = "FROM $left->[0] AS a";
	my $query = in_100(65)
		? "SELECT $at, b.$right->[1] AS b_at, b.id AS b_id$more" . one_of('', ', b.body AS b_body', ', b.sig::text')
			. " $from " . one_of('JOIN', 'JOIN', 'JOIN', 'LEFT JOIN', 'RIGHT JOIN') . " $right->[0] AS b ON $on"
		: "SELECT $at, a.n AS b_id$more $from WHERE " . one_of('', 'NOT ')
			. "EXISTS (SELECT FROM $right->[0] AS b WHERE $on)";
	return $query =~ / shared / ? "WITH shared AS MATERIALIZED (SELECT ctid AS at, * FROM near) $query" : $query;
}

# Returns a query with such joins.  LATERAL ones are rescanned.
sub query
{
	my $join = join_of_two();

	return $join if in_100(60);
	return one_of("SELECT count(*), sum(hashint8(a_id) # b_id) FROM ($join) AS s",
		"SELECT a_id, count(*) FROM ($join) AS s GROUP BY a_id",
		"SELECT a_id, b_id FROM ($join) AS s UNION ALL SELECT a_id, b_id FROM (" . join_of_two() . ') AS t',
		"SELECT s.a_id, s.b_id, e.n FROM ($join) AS s JOIN near AS e ON e.id = s.b_id",
		"SELECT s.a_id, t.b_id FROM ($join) AS s JOIN (" . join_of_two() . ') AS t USING (a_id) WHERE a_id % 7 = 0',
		"SELECT i, a_id, b_id FROM generate_series(1, 3) AS i LEFT JOIN LATERAL ($join OFFSET 0) AS s ON a_id % 3 < i",
		'SELECT r, a_id, b_id FROM (VALUES (0.1::float8), (0.5), (NULL), (0.3)) AS v (r) LEFT JOIN LATERAL ('
			. join_of_two('r') . ' OFFSET 0) AS s ON true');
}

# Returns settings under which a query is likely to use similarity joins, as often as said by several
# processes.
sub settings
{
	my ($query, $percent) = @_;
	my $parallel = $node->pg_version >= 16 ? 'debug_parallel_query' : 'force_parallel_mode';
	my @settings = ('cpu_operator_cost = 1', 'enable_nestloop = off',
		'work_mem = ' . one_of(64, 64, 64, 256, 4096, 102400), 'hash_mem_multiplier = ' . one_of(1, 2),
		'max_parallel_workers_per_gather = ' . one_of(1 .. 4),
		one_of('enable_hashjoin', 'enable_mergejoin') . ' = off', "$parallel = " . one_of('on', 'off', 'off'));

	push @settings, 'parallel_setup_cost = 10', 'parallel_tuple_cost = 0', 'min_parallel_table_scan_size = 0',
		'max_parallel_workers = ' . one_of(8, 8, 8, 1, 0),
		'parallel_leader_participation = ' . one_of('on', 'on', 'off') if in_100($percent);
	push @settings, 'jit = on', 'jit_above_cost = 0' if in_100(5);
	push @settings, 'enable_material = off' if $query =~ /LATERAL/;
	return join '', map { "SET $_;\n" } @settings;
}

# --- the comparison -----------------------------------------------------------------

my %seen;    # in plans and results

# Compares a query with nested loops.  Returns what is wrong.
sub problem
{
	my ($query, $settings) = @_;
	my ($out, $err, $limit) = ('', '', 1e9);
	my $run = "CREATE TEMP TABLE found AS $query;";
	my $way = one_of('all', 'all', 'all', 'prepared', 'limit', 'cursor');

	if ($way eq 'prepared')
	{
		my ($value, $type) = @{ one_of([ '0.2', 'float8' ], [ '3', 'int' ]) };

		($run = $query) =~ s/ <= \Q$value\E\b/ <= \$1/g;
		$run = "PREPARE p ($type) AS $run; SET plan_cache_mode = force_generic_plan;
			EXPLAIN (ANALYZE, COSTS OFF) EXECUTE p(1); CREATE TEMP TABLE found AS EXECUTE p($value);";
	}
	elsif ($way ne 'all')
	{
		$limit = one_of(1, 10, 300);
		$run = $way eq 'limit' ? "CREATE TEMP TABLE found AS SELECT * FROM ($query) AS q LIMIT $limit;"
			: "CALL fetch_some(\$q\$$query\$q\$, $limit);";
	}
	$node->psql('postgres', <<"SQL", stdout => \$out, stderr => \$err);
$settings EXPLAIN (COSTS OFF) $query;
$run
RESET ALL;
SET simhash.enable_join = off;
SET simhash.enable_rewrite = off;
CREATE TEMP TABLE expected AS $query;
SELECT '=', (SELECT count(*) FROM (TABLE found EXCEPT ALL TABLE expected) AS d),
    (SELECT count(*) FROM (TABLE expected EXCEPT ALL TABLE found) AS d)
        - greatest((SELECT count(*) FROM expected) - $limit, 0), (SELECT count(*) FROM expected);
SQL
	$seen{$_} += $out =~ /$_/ foreach 'SimHash Join', 'Parallel Custom Scan', 'Self Join: true', '0\|0\|[1-9]';
	return $out =~ /^=\|0\|0\|\d+$/m && $err eq '' ? '' : "$way: $err$out\n$settings$run\n-- $query";
}

foreach my $i (1 .. $queries)
{
	$node->safe_psql('postgres', 'CALL change(' . int(rand(1e6)) . ')' . one_of('', '; ANALYZE')) if $i % 20 == 0;
	my $query = query();

	is(problem($query, settings($query, 70)), '', "join $i of seed $seed");
}
cmp_ok($seen{$_} * 20, '>=', $queries, "$seen{$_} of $queries joins have $_") foreach sort keys %seen;

# --- failures -------------------------------------------------------------------------

# The messages of each failure.
my %message = (
	cancel => qr/canceling statement due to user request/,
	terminate => qr/terminating (connection|background worker)|lost connection to parallel worker/,
	kill => qr/server closed the connection|terminating connection because of crash|lost connection to parallel worker/,
	'temp_file_limit' => qr/temporary file size exceeds/,
	disk => qr/File too large/,
	clause => qr/division by zero/);

# Limits the size of files, and of shared memory, for the sessions that begin now.
sub limit
{
	my ($bytes) = @_;

	return eval { run_log([ 'prlimit', '--pid', $node->{_pid}, "--fsize=$bytes:" ]) };
}

my @ways = sort grep { $_ ne 'disk' || limit('unlimited') } keys %message;
my $session = q{FROM pg_stat_activity
	WHERE backend_type IN ('client backend', 'parallel worker') AND pid <> pg_backend_pid()};
my $files = $node->data_dir . '/base/pgsql_tmp';
my %failed;

foreach my $i (1 .. $failures)
{
	my ($way, $query) = (one_of(@ways), join_of_two());
	my $settings = settings($query, 95);
	my $copy = "COPY ($query) TO '/dev/null'";
	my ($killer, $timing, @problems);

	# the join's condition is the last one
	$copy =~ s{(.*) (ON|WHERE) }{$1 $2 1 / (hashint8extended(a.id, b.id) & 1023) >= 0 AND } if $way eq 'clause';
	$settings .= 'SET temp_file_limit = ' . int(2**rand(11)) . ';' if $way eq 'temp_file_limit';
	$node->psql('postgres', "$settings\n\\timing on\n$copy", stdout => \$timing);
	my $delay = $timing =~ /Time: (\S+) ms/ ? rand($1) / ($way eq 'cancel' ? 1000 : 2000) : 0;
	limit(int(2**(10 + rand(11)))) if $way eq 'disk';
	$killer = client($node, 'SET application_name = killer', "CALL disturb('$way', $delay)")
	  if $way =~ /cancel|terminate|kill/;
	my $victim = client($node, 'SET application_name = victim', $settings,
		$killer ? "SELECT wait_for('killer', '^CALL')" : (), $copy);
	finish($victim->{process});
	limit('unlimited') if $way eq 'disk';
	$failed{$way}++ if $victim->{err} =~ $message{$way};
	push @problems, $victim->{err} if $victim->{err} =~ /ERROR|FATAL|server/ && $victim->{err} !~ $message{$way};

	# one that came too late still waits for the victim
	$node->psql('postgres', "SELECT pg_terminate_backend(pid) $session AND application_name = 'killer'") if $killer;
	finish($killer->{process}) if $killer;
	push @problems, 'a process is left' if !$node->poll_query_until('postgres', "SELECT count(*) = 0 $session");
	push @problems, "$_ is left" foreach grep { -f } glob("$files/* $files/*/*");
	push @problems, grep { $_ ne '' } problem($query, $settings =~ s/SET temp_file_limit.*//r);
	is(join("\n", @problems), '', "failure $i of seed $seed, $way");
}
note(join ', ', map { "$failed{$_} by $_" } sort keys %failed);
my $log = slurp_file($node->logfile);
unlike($log, qr/PANIC|TRAP|terminated by signal (?!9:)|^XX000 (?!.*File too large)/m, 'the log has no other errors');

$node->stop;
done_testing();
