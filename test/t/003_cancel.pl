# Huge texts and many rows: a query ends soon after it is cancelled, at any point.
# Memory is limited, too: simhash() needs little more than the text itself, clusters
# need a constant per row, connected_component() and keeper() little for each distinct id.
#
# Time is processor time of the backend, as a fraction of the whole query's.  So the
# result is the same on a slow or busy machine.
#
# A module sets InterruptPending at each tick of a timer while the whole query runs, and
# sees when the next CHECK_FOR_INTERRUPTS clears it.  So every loop is watched.  Then one
# query is really cancelled, and must end.  Its backend is stopped between the measurement
# and the cancel, so that it uses no time there.

use strict;
use warnings;

use Cwd qw(abs_path);
use File::Basename qw(dirname);
use File::Copy qw(copy);
use IPC::Run;
use PostgreSQL::Test::Cluster;
use PostgreSQL::Test::Utils;
use Test::More;
use Time::HiRes qw(usleep);

plan skip_all => 'servers refuse to run as root' if $> == 0;
plan skip_all => 'processor time is read from /proc/PID/schedstat' unless proc($$, 'schedstat') =~ /^[1-9]/;

my $megabytes = 25;       # of each text
my $soon = 1 / 3;         # fraction of the whole; to free the memory takes longest
my $array_soon = 0.6;     # where PostgreSQL reads or builds an array without interrupts
my $longest = 0.08;       # fraction of the whole between two checks for interrupts
my $few = 3;              # ticks, of some milliseconds each, that are not noticed
my $slack = 16 * 1024;    # kB of memory beyond the text's

# Compile the module.
chomp(my $compiler = `pg_config --cc`);
plan skip_all => "no compiler '$compiler'" if system("$compiler --version >/dev/null 2>&1") != 0;
my $module = PostgreSQL::Test::Utils::tempdir();
for my $file ('Makefile', 'watch_interrupts.c')
{
	my $from = dirname(dirname(abs_path(__FILE__))) . "/hook/$file";
	copy($from, $module) or die "$from: $!";
}
command_ok([ 'make', '-s', '-C', $module, 'MODULES=watch_interrupts', 'with_llvm=no', 'all' ], 'the module compiles');

my $node = PostgreSQL::Test::Cluster->new('main');
$node->init(extra => [ '--encoding=UTF8', '--no-locale' ]);
$node->append_conf('postgresql.conf', "shared_buffers = 16MB\nmax_parallel_workers_per_gather = 0\njit = off\n");
$node->start;
for my $encoding ('UTF8', 'LATIN1', 'SQL_ASCII')
{
	$node->safe_psql('postgres',
		"CREATE DATABASE in_\L$encoding\E ENCODING '$encoding' TEMPLATE template0 LC_COLLATE 'C' LC_CTYPE 'C'");
	# Compute the text `make`, and run the expression `use` on it.  Returns the outcome,
	# the processor time of `use` in ns, that of the session at the end, and the growth of
	# the memory's peak by `use` in kB.  Shared buffers are left out, because how many of
	# them a session touches depends on others.  If `watched`, also returns the longest time
	# between two checks for interrupts by `use`, and its whole time, in ticks.
	$node->safe_psql("in_\L$encoding\E", qq{
		CREATE FUNCTION watch_interrupts() RETURNS void AS '$module/watch_interrupts' LANGUAGE C;
		CREATE FUNCTION ticks(OUT longest integer, OUT ticks integer) AS '$module/watch_interrupts', 'watched_ticks'
			LANGUAGE C});
	$node->safe_psql("in_\L$encoding\E", q{
		CREATE EXTENSION simhash;
		CREATE FUNCTION status(what text) RETURNS bigint LANGUAGE sql AS $$
			SELECT substring(pg_read_file('/proc/self/status') FROM what || ':\s*(\d+) kB')::bigint $$;
		CREATE FUNCTION peak() RETURNS bigint LANGUAGE sql AS $$
			SELECT status('VmHWM') - status('RssShmem') $$;
		CREATE FUNCTION processor_time() RETURNS bigint LANGUAGE sql AS $$
			SELECT split_part(pg_read_file('/proc/self/schedstat'), ' ', 1)::bigint $$;
		CREATE FUNCTION try(make text, use text, watched boolean) RETURNS text LANGUAGE plpgsql AS $$
		DECLARE
			body text;
			made bigint;
			memory bigint;
			outcome text := 'finished';
			waits record;
		BEGIN
			EXECUTE 'SELECT ' || make INTO body;
			SELECT * INTO waits FROM ticks();
			memory := peak();
			made := processor_time();
			RAISE NOTICE 'process % has used % ns', pg_backend_pid(), made;
			IF watched THEN
				PERFORM watch_interrupts();
			END IF;
			BEGIN
				EXECUTE 'SELECT (' || use || ') IS NULL' USING body;
			EXCEPTION
				WHEN query_canceled THEN outcome := 'cancelled';
				WHEN OTHERS THEN outcome := SQLSTATE;
			END;
			SELECT * INTO waits FROM ticks();
			RETURN concat_ws(' ', outcome, processor_time() - made, processor_time(), peak() - memory, waits.longest,
				waits.ticks);
		END $$;
	});
}

# Returns an expression for a text of a size in megabytes.
sub megabytes_of
{
	my ($piece, $bytes, $megabytes) = @_;
	return "repeat($piece, " . int($megabytes * 1_000_000 / $bytes) . ')';
}

# Returns a file of /proc for a process, or an empty text if it has ended.
sub proc
{
	my ($pid, $what) = @_;
	open my $file, '<', "/proc/$pid/$what" or return '';
	return <$file> // '';
}

# Lets the process run until it has used a processor time, then cancels it.  Returns the
# time that it had used, or nothing if it ended before.
sub cancel_at
{
	my ($pid, $at) = @_;
	while ((proc($pid, 'schedstat') || return) =~ /^(\d+)/ && $1 < $at)
	{
		usleep(1000);
	}
	kill STOP => $pid;
	until ((proc($pid, 'stat') || return) =~ /\) T /)
	{
		usleep(100);
	}
	my ($used) = proc($pid, 'schedstat') =~ /^(\d+)/;
	kill INT => $pid;
	kill CONT => $pid;
	return $used;
}

# Runs make and use.  If $at is defined, cancels use after this processor time.  Otherwise
# watches its checks for interrupts.
sub try
{
	my ($database, $make, $use, $at) = @_;
	my ($out, $err, $cancelled) = ('', '');
	my $watched = defined $at ? 'false' : 'true';
	my $run = IPC::Run::start(
		[ 'psql', '-XAtq', '-d', $node->connstr($database), '-c',
			"SELECT try(\$make\$$make\$make\$, \$use\$$use\$use\$, $watched)" ],
		'>', \$out, '2>', \$err);
	if (defined $at)
	{
		my $ready = qr/process (\d+) has used (\d+) ns/;
		$run->pump until $err =~ $ready || !$run->pumpable;
		$cancelled = cancel_at($1, $2 + $at) if $err =~ $ready;
	}
	$run->finish;
	return { outcome => 'too late' } if $err =~ /ERROR:  canceling statement/;
	die $err if $run->result(0) != 0;
	my ($outcome, $used, $end, $memory, $wait, $ticks) = split / /, $out =~ s/\n//r;
	return { outcome => $outcome, used => $used, memory => $memory, after => $end - ($cancelled // $end),
		wait => $wait, ticks => $ticks };
}

# Returns a run of what PostgreSQL itself does for the query, to read the text or the array,
# or to compare conditions of an index.  Queries that read the same share the run.
my %own_runs;
sub own_run
{
	my ($database, $make, $use) = @_;
	my $read = $use =~ /^\w+\(([^,()]*\$1)/ ? "octet_length($1)" : 'octet_length($1)';
	$read = "SELECT cardinality($1) FROM $2" if $use =~ /^SELECT \w+\((\w+).*\) FROM (many|numbers)$/;
	$read = q{plan_of_many('fp <@ simhash_ball(%L, 3)')} if $use =~ /^plan_of_many/;
	return $own_runs{"$database $make $read"} //= try($database, $make, $read);
}

# Checks that the query checks for interrupts all the time, but for what PostgreSQL itself
# does without checks.  The least of up to three runs counts.
sub checks_often
{
	my ($name, $database, $make, $use, $tried) = @_;
	my $limit = $use =~ /FROM many|shingles/ ? $array_soon : $longest;
	my $own = own_run($database, $make, $use)->{wait};
	my $over;
	for my $again (0 .. 2)
	{
		$tried = try($database, $make, $use) if $again;
		note("$name: waits $tried->{wait} of $tried->{ticks} ticks, $own of them to read");
		$over = $tried->{wait} - $own - $limit * $tried->{ticks};
		last if $over < $few;
	}
	cmp_ok($over, '<', $few, "$name: checks for interrupts all the time");
}

# Cancels the query, and checks that it ends at once.
#
# A run that ends before it is cancelled is repeated with an earlier cancel.  PostgreSQL
# builds and reads arrays without a check for interrupts, so these have a higher limit.
# A run that ends late is repeated up to twice: on a virtual machine processor time
# includes time that other machines used.
sub ends_soon
{
	my ($name, $database, $make, $use, $whole) = @_;
	my $array = $use =~ /FROM many|shingles/;
	my $limit = $whole * ($array ? $array_soon : $soon);
	for my $part (0.2)
	{
		my $tried;
		my ($over, $late) = (0, 0);
		while ($over < 10 && $late < 3)
		{
			$tried = try($database, $make, $use, $part * $whole / ($over + 1));
			if ($tried->{outcome} ne 'cancelled') { $over++ }
			elsif ($tried->{after} >= $limit) { $late++ }
			else { last }
		}
		is($tried->{outcome}, 'cancelled', "$name: is cancelled after $part of the time") or next;
		cmp_ok($tried->{after}, '<', $limit, "$name: ends soon");
		note(sprintf '%s: %.3f of the whole', $name, $tried->{after} / $whole);
	}
}

# Checks that the query ends as expected, and soon if cancelled.  Returns the full run.
sub check
{
	my ($name, $database, $make, $use, $expected) = @_;
	my $tried = try($database, $make, $use);
	is($tried->{outcome}, $expected // 'finished', "$name: ends as expected");
	note(sprintf '%s: %.2f s', $name, $tried->{used} / 1e9);
	checks_often($name, $database, $make, $use, $tried);
	ends_soon($name, $database, $make, $use, $tried->{used});
	return $tried;
}

my $words = q{'the quick brown fox jumps over the lazy dog '};
my @huge = (
	# name, database, piece, the piece's bytes, use
	[ 'ASCII words', 'in_utf8', $words, 44, 'simhash($1)' ],
	[ 'one word', 'in_utf8', q{'x'}, 1, 'simhash($1)' ],
	[ 'one word that is not ASCII', 'in_utf8', q{U&'\00E9'}, 2, 'simhash($1)' ],
	[ 'equal marks', 'in_utf8', q{U&'\0301'}, 2, 'simhash($1)' ],
	[ 'marks to be ordered', 'in_utf8', q{U&'\0301\0323'}, 4, q{simhash('a' || $1)} ],
	[ 'marks to be composed', 'in_utf8', q{U&'a\0302\0323'}, 5, 'simhash($1)' ],
	[ 'Chinese', 'in_utf8', q{U&'\6211\7231\5317\4EAC'}, 12, 'simhash($1)' ],
	[ 'Thai', 'in_utf8', q{U&'\0E17\0E35\0E48'}, 9, 'simhash($1)' ],
	[ 'Hangul, decomposed', 'in_utf8', q{U&'\1112\1161\11AB '}, 10, 'simhash($1)' ],
	[ 'symbols', 'in_utf8', q{'!? '}, 3, 'simhash($1)' ],
	[ 'spaces', 'in_utf8', q{' '}, 1, 'simhash($1)' ],
	[ 'nothing visible', 'in_utf8', q{U&'\200B'}, 3, 'simhash($1)' ],
	[ 'expanding', 'in_utf8', q{U&'\FDFA'}, 3, 'simhash($1)' ],
	[ 'characters', 'in_utf8', $words, 44, q{simhash($1, 5, 'char')} ],
	[ 'characters, wide', 'in_utf8', $words, 44, q{simhash($1, 256, 'char')} ],
	[ 'words, wide', 'in_utf8', $words, 44, 'simhash($1, 256)' ],
	[ 'long words, wide', 'in_utf8', q{'x'}, 1, 'simhash($1, 256)' ],
	[ 'LATIN1, words', 'in_latin1', $words, 44, 'simhash($1)' ],
	[ 'LATIN1, not ASCII', 'in_latin1', q{chr(233) || chr(224) || ' '}, 3, 'simhash($1)' ],
	[ 'SQL_ASCII', 'in_sql_ascii', q{chr(233) || chr(224) || ' '}, 3, 'simhash($1)' ],
	[ 'winnowed words', 'in_utf8', $words, 44, 'winnow($1)' ],
	[ 'winnowed words, wide windows', 'in_utf8', $words, 44, 'winnow($1, 65536)' ],
);
for my $case (@huge)
{
	my ($name, $database, $piece, $bytes, $use) = @$case;
	my $make = megabytes_of($piece, $bytes, $megabytes);
	my $tried = check($name, $database, $make, $use);
	# the memory of the text as an argument of any function
	my $anyway = own_run($database, $make, $use);
	cmp_ok($tried->{memory}, '<', $anyway->{memory} + $slack, "$name: within memory");
}

# The hashes of distinct shingles, more than the limit of 2^20.
my $numbers = q{(SELECT string_agg(i::text, ' ') FROM generate_series(1, 3000000) AS i)};
my $distinct = check('many shingles', 'in_utf8', $numbers, 'simhash($1, 1)');
my $anyway = own_run('in_utf8', $numbers, 'simhash($1, 1)');
cmp_ok($distinct->{memory}, '<', $anyway->{memory} + 50 * 1024, 'many shingles: within memory');

# The sets of both texts: the number of distinct shingles bounds them.
for my $case (
	[ 'resemblance, few shingles', $words, 44, 'resemblance($1, $1)' ],
	[ 'containment, characters', $words, 44, q{containment($1, $1, 9, 'char')} ],
	[ 'resemblance, Chinese', q{U&'\6211\7231\5317\4EAC'}, 12, 'resemblance($1, $1)' ])
{
	my ($name, $piece, $bytes, $use) = @$case;
	check($name, 'in_utf8', megabytes_of($piece, $bytes, $megabytes), $use);
}
check('resemblance, many shingles', 'in_utf8', $numbers, q{resemblance($1, $1 || ' more')});

# The set of one text, and result rows, which spill to a file.
for my $case (
	[ 'difference, few shingles', $words, 44, q{'', $1} ],
	[ 'difference of Chinese', q{U&'\6211\7231\5317\4EAC'}, 12, '$1, $1' ],
	[ 'difference, characters', $words, 44, q{$1, 'the quick', 9, 'char'} ])
{
	my ($name, $piece, $bytes, $arguments) = @$case;
	my $tried = check($name,
		'in_utf8', megabytes_of($piece, $bytes, 5), "SELECT count(*) FROM shingle_difference($arguments)");
	cmp_ok($tried->{memory}, '<', $slack, "$name: within memory");
}

# Passages and pieces, which spill to a file, too.
for my $case (
	[ 'passages of words', $words, 44, 2, 'common_passages($1, $1)' ],
	[ 'passages of characters', $words, 44, 1, q{common_passages($1, 'jumps over the quick brown fox', 5, 'char')} ],
	[ 'edited passages', $words, 44, 1, q{edited_passages($1, replace($1, 'fox', 'cat'), 1, 1000)} ])
{
	my ($name, $piece, $bytes, $size, $call) = @$case;
	check($name, 'in_utf8', megabytes_of($piece, $bytes, $size), "SELECT count(*) FROM $call");
}
for my $unit (qw(word sentence))
{
	my $tried = check(
		"pieces by $unit", 'in_utf8', megabytes_of(q{E'A line. And what follows it.\n\n'}, 30, 10),
		"SELECT count(*) FROM text_windows(\$1, unit => '$unit')");
	cmp_ok($tried->{memory}, '<', 2 * $slack, "pieces by $unit: within memory");
}

# Searches for many hashes, by merge and by hit counter.
$node->safe_psql('in_utf8', q{
	CREATE TABLE sketches AS
	    SELECT ARRAY(SELECT (hashint8(i * 20 + j) & 4095)::bigint FROM generate_series(1, 10) AS j) AS sk
	    FROM generate_series(1::bigint, 200000) AS i;
	CREATE INDEX ON sketches USING simhash (sk);
	CREATE FUNCTION near(passage bigint[], radius float8)
	    RETURNS bigint LANGUAGE sql SET enable_seqscan = off SET enable_bitmapscan = off
		RETURN (SELECT count(*) FROM sketches WHERE sk <%>> passage <= radius);
	CREATE FUNCTION nearest(passage bigint[]) RETURNS float8 LANGUAGE sql SET enable_seqscan = off SET enable_sort = off
		RETURN (SELECT max(d)
		        FROM (SELECT sk <%>> passage AS d
		              FROM sketches WHERE sk IS NOT NULL ORDER BY sk <%>> passage LIMIT 100000) AS s);
	CREATE FUNCTION resembling(hashes bigint[])
	    RETURNS float8 LANGUAGE sql SET enable_seqscan = off SET enable_sort = off
		RETURN (SELECT max(d) FROM (SELECT sk <%> hashes AS d FROM sketches ORDER BY sk <%> hashes LIMIT 1000) AS s)});
for my $case (
	[ 'at least five of many hashes', 'near(%s, 1 - 5 / 4096.0)' ],
	[ 'at least one of many hashes', 'near(%s, 1 - 1 / 4096.0)' ],
	[ 'the most of many hashes', 'nearest(%s)' ],
	[ 'the nearest to many hashes', 'resembling(%s)' ])
{
	my ($name, $use) = @$case;
	my $tried = check($name, 'in_utf8', q{''}, sprintf($use, 'ARRAY(SELECT generate_series(0::bigint, 4095))'));
	cmp_ok($tried->{memory}, '<', 2 * $slack, "$name: within memory");
}

# Sets of up to 1 GB: they do not exceed this limit while they grow, either.
for my $case (
	[ 'many short shingles', q{string_agg(md5(i::text), '') FROM generate_series(1, 500000)},
		q{resemblance($1, 'x', 8, 'char')}, 'finished' ],
	[ 'long shingles', q{string_agg(md5(i::text), '') FROM generate_series(1, 140000)},
		q{containment('x', $1, 256, 'char')}, '54000' ],
	[ 'long shingles of tokens', q{string_agg(repeat(md5(i::text), 8), ' ') FROM generate_series(1, 20000)},
		q{resemblance(string_to_array($1, ' '), ARRAY['x'], 256)}, '54000' ],
	[ 'long shingles of a difference', q{string_agg(md5(i::text), '') FROM generate_series(1, 140000)},
		q{SELECT count(*) FROM shingle_difference('x', $1, 256, 'char')}, '54000' ])
{
	my ($name, $make, $use, $expected) = @$case;
	my $tried = try('in_utf8', "(SELECT $make AS i)", $use);
	is($tried->{outcome}, $expected, "sets, $name: $expected");
	cmp_ok($tried->{memory}, '<', 1024 * 1024 + $slack, "sets, $name: within memory");
}

# Arrays of many elements, in a table, so that the time to parse them as text is not
# measured.
$node->safe_psql('in_utf8', q{
	CREATE TABLE many AS SELECT array_fill('token'::text, ARRAY[5000000]) AS tokens,
		array_fill(0.5::float8, ARRAY[5000000]) AS weights, array_fill(5::bigint, ARRAY[20000000]) AS hashes});
for my $case (
	[ 'many tokens', 'simhash(tokens)' ],
	[ 'many features', 'simhash(tokens, weights)' ],
	[ 'many hashes', 'simhash(hashes)' ])
{
	my ($name, $use) = @$case;
	check($name, 'in_utf8', q{''}, "SELECT $use FROM many");
}

# The elements of two long arrays are compared after both have been read and sorted.  The
# arrays are sorted and not compressed, so that comparing takes half of the time.
$node->safe_psql('in_utf8', q{
	CREATE TABLE sets (a bigint[], b bigint[]);
	ALTER TABLE sets ALTER a SET STORAGE external, ALTER b SET STORAGE external;
	INSERT INTO sets SELECT array_agg(i * 7), array_agg(i * 11) FROM generate_series(1::bigint, 5000000) AS i});
check('distance of long arrays', 'in_utf8', q{''}, 'SELECT a <%>> b FROM sets');

# Signatures of the maximal length, which cost some hundred times as much as others.
$node->safe_psql('in_utf8', 'CREATE TABLE numbers AS SELECT array_fill(5::bigint, ARRAY[500000]) AS hashes');
for my $case (
	[ 'signature of words', megabytes_of($words, 44, 2), 'to_minhash($1, 1024, 4)' ],
	[ 'signature of tokens', megabytes_of($words, 44, 2), q{to_minhash(string_to_array($1, ' '), 1024, 4)} ],
	[ 'signature of numbers', q{''}, 'SELECT to_minhash(hashes, 1024, 4) FROM numbers' ])
{
	my ($name, $make, $use) = @$case;
	my $tried = check($name, 'in_utf8', $make, $use);
	cmp_ok($tried->{memory}, '<', 2 * $slack, "$name: within memory");
}

# Short signatures have a short header in rows, and are compared as copies.
my $sorted = try('in_utf8', q{''},
	'SELECT max(n) FROM (SELECT row_number() OVER (ORDER BY to_minhash(ARRAY[i], 3, 2)) AS n
		FROM generate_series(1, 200000) AS i) AS s');
is($sorted->{outcome}, 'finished', 'signatures are sorted');
cmp_ok($sorted->{memory}, '<', $slack, 'signatures are sorted: within memory');

# Edges, of few vertices and of many, whose expressions allocate memory.
for my $ids (1000, 500000)
{
	my $edges = check("components of $ids vertices", 'in_utf8', q{''},
		"SELECT count(c) FROM (SELECT connected_component(numeric_inc(i % $ids)::bigint, i % $ids) OVER () AS c "
		  . 'FROM generate_series(1, 1000000) AS i) AS s');
	cmp_ok($edges->{memory}, '<', 60 * $ids / 1024 + $slack, "components of $ids vertices: within memory");
	$edges = check("keepers of $ids vertices", 'in_utf8', q{''},
		"SELECT count(k) FROM (SELECT keeper(numeric_inc(i / 2)::bigint, 1000000 + i % $ids) "
		  . 'OVER (ORDER BY i / 2) AS k FROM generate_series(1, 1000000) AS i) AS s');
	cmp_ok($edges->{memory}, '<', 60 * (500000 + $ids) / 1024 + $slack, "keepers of $ids vertices: within memory");
}

# shingles() builds an array, whose limit is 1 GB: it ends in acceptable time there, and
# sooner if cancelled.
for my $case (
	[ 'shingles', $words, 44, 20, 'shingles($1)', 'finished' ],
	[ 'shingles of characters', q{'x'}, 1, 2, q{shingles($1, 100, 'char')}, 'finished' ],
	[ 'shingles beyond the limit', q{'x'}, 1, 8, q{shingles($1, 256, 'char')}, '54000' ],
	[ 'shingles of words beyond the limit', $words, 44, 8, 'shingles($1, 256)', '54000' ])
{
	my ($name, $piece, $bytes, $size, $use, $expected) = @$case;
	my $tried = check($name, 'in_utf8', megabytes_of($piece, $bytes, $size), $use, $expected);
	cmp_ok($tried->{memory}, '<', 2_500_000, "$name: within memory") if $expected ne 'finished';
}

# Clusters: of rows around planted centers, where many pairs are compared, and of rows
# that are all in one cluster.  Memory is measured per row, beyond that of any window
# function that reads the whole partition.
my $rows = 500_000;
$node->safe_psql('in_utf8', qq{
	CREATE TABLE planted AS
	    SELECT (hashint8extended(i / 20, 0) # (1::bigint << (i * 7 % 64)::integer) # (
	        1::bigint << (i * 11 % 64)::integer))::simhash AS fp
		FROM generate_series(1::bigint, $rows) AS i;
	CREATE TABLE joined AS SELECT i::simhash AS fp FROM generate_series(1::bigint, $rows) AS i});
for my $case (
	[ 'single linkage, planted', 'planted', 8, 'single', 24 ],
	[ 'single linkage, one component', 'joined', 3, 'single', 24 ],
	[ 'leaders, planted', 'planted', 8, 'leader', 40 ],
	[ 'leaders, one component', 'joined', 3, 'leader', 40 ])
{
	my ($name, $table, $radius, $method, $bytes) = @$case;
	my $over = "OVER () AS c FROM $table) AS s)";
	my $tried = check($name,
		'in_utf8', q{''}, "(SELECT max(c) FROM (SELECT simhash_cluster(fp, $radius, '$method') $over");
	my $anyway = try('in_utf8', q{''}, "(SELECT max(c) FROM (SELECT count(fp) $over");
	my $memory = ($tried->{memory} - $anyway->{memory}) * 1024 / $rows;
	note("$name: $memory bytes a row");
	cmp_ok($memory, '<', $bytes + 4, "$name: within memory");
}

# The planner compares the conditions of a query with each other.
$node->safe_psql('in_utf8', q{
	CREATE TABLE few (fp simhash);
	CREATE INDEX ON few USING simhash (fp);
	CREATE FUNCTION plan_of_many(condition text) RETURNS text LANGUAGE plpgsql AS $$
	DECLARE
		line text;
	BEGIN
		EXECUTE (SELECT 'EXPLAIN SELECT FROM few WHERE ' || string_agg(format(condition, i::simhash), ' AND ')
		         FROM generate_series(1, 3000) AS i) INTO line;
		RETURN line;
	END $$});
check('many conditions', 'in_utf8', q{''}, q{plan_of_many('fp <~> %L <= 3.5')});

$node->stop;
done_testing();
