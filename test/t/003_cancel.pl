# Huge texts: a query on one ends soon after it is cancelled, whatever it is
# doing, and simhash() needs no more memory than the text itself.

use strict;
use warnings;

use IPC::Run;
use PostgreSQL::Test::Cluster;
use PostgreSQL::Test::Utils;
use Test::More;
use Time::HiRes qw(time);

plan skip_all => 'servers refuse to run as root' if $> == 0;

my $megabytes = 100;      # of each text
my $soon = 5;             # seconds; a second is the aim, but machines are noisy
my $slack = 32 * 1024;    # kB of memory beyond what the text itself takes

my $node = PostgreSQL::Test::Cluster->new('main');
$node->init(extra => [ '--encoding=UTF8', '--no-locale' ]);
$node->append_conf('postgresql.conf', "shared_buffers = 16MB\nmax_parallel_workers_per_gather = 0\n");
$node->start;
for my $encoding ('UTF8', 'LATIN1', 'SQL_ASCII')
{
	$node->safe_psql('postgres',
		"CREATE DATABASE in_\L$encoding\E ENCODING '$encoding' TEMPLATE template0 LC_COLLATE 'C' LC_CTYPE 'C'");
	# Make something, use it, and say how that ended, how long each took, and
	# how much memory the use added to the most there had been before.
	$node->safe_psql("in_\L$encoding\E", q{
		CREATE EXTENSION simhash;
		CREATE FUNCTION status(what text) RETURNS bigint LANGUAGE plpgsql AS $$
		BEGIN
			RETURN substring(pg_read_file('/proc/self/status') FROM what || ':\s*(\d+) kB');
		EXCEPTION WHEN OTHERS THEN
			RETURN NULL;
		END $$;
		CREATE FUNCTION try(make text, use text) RETURNS text LANGUAGE plpgsql AS $$
		DECLARE
			body text;
			before timestamptz := clock_timestamp();
			made timestamptz;
			memory bigint;
			outcome text := 'finished';
		BEGIN
			EXECUTE 'SELECT ' || make INTO body;
			memory := status('VmHWM');
			made := clock_timestamp();
			BEGIN
				EXECUTE 'SELECT (' || use || ') IS NULL' USING body;
			EXCEPTION
				WHEN query_canceled THEN outcome := 'cancelled';
				WHEN OTHERS THEN outcome := SQLSTATE;
			END;
			RETURN format('%s %s %s %s', outcome, extract(epoch FROM made - before)::float8,
			              extract(epoch FROM clock_timestamp() - made)::float8, status('VmHWM') - memory);
		END $$;
	});
}

# A text of so many megabytes, as an expression
sub megabytes_of
{
	my ($piece, $bytes, $megabytes) = @_;
	return "repeat($piece, " . int($megabytes * 1_000_000 / $bytes) . ')';
}

sub try
{
	my ($database, $make, $use, $timeout) = @_;
	my ($rc, $out, $err) = $node->psql($database,
		'SET statement_timeout = ' . int(($timeout // 0) * 1000) . ';'
		  . "SELECT try(\$make\$$make\$make\$, \$use\$$use\$use\$)");
	# a text that was not even made in time
	return ('too early', 0, 0, 0) if $rc != 0 && $err =~ /canceling statement/;
	die $err if $rc != 0;
	return split / /, $out;
}

# Cancelled in the middle of the time that it takes, in which all of its stages
# take turns, it ends at once.  Machines are noisy: what was slow a moment ago may
# be over before it is cancelled now, so it is tried again, earlier.
sub ends_soon
{
	my ($name, $database, $make, $use, $make_time, $use_time) = @_;
	my ($outcome, $made, $used);
	for my $attempt (2 .. 7)
	{
		($outcome, $made, $used) = try($database, $make, $use, $make_time + $use_time / $attempt);
		last if $outcome eq 'cancelled';
	}
	# what takes no time at all may be over by then
	is($outcome, 'cancelled', "$name: is cancelled") if $use_time >= 0.5;
	cmp_ok($used, '<', $soon, "$name: ends soon");
}

my $words = q{'the quick brown fox jumps over the lazy dog '};
my @huge = (
	# what, database, piece, its bytes, use
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
);
for my $case (@huge)
{
	my ($name, $database, $piece, $bytes, $use) = @$case;
	my $make = megabytes_of($piece, $bytes, $megabytes);
	my ($outcome, $made, $used, $memory) = try($database, $make, $use);
	is($outcome, 'finished', "$name: is done in the end");
	note(sprintf '%s: %.2f s', $name, $used);
  SKIP:
	{
		skip 'no /proc', 1 unless defined $memory && $memory ne '';
		# what it takes to hand the text to any function
		my (undef, undef, undef, $anyway) = try($database, $make, $use =~ s/^simhash\(([^,)]*).*/octet_length($1)/r);
		cmp_ok($memory, '<', $anyway + $slack, "$name: within memory");
	}
	ends_soon($name, $database, $make, $use, $made, $used);
}

# The sets of both texts: bounded by the number of distinct shingles.
for my $case (
	[ 'resemblance, few shingles', $words, 44, 'resemblance($1, $1)' ],
	[ 'containment, characters', $words, 44, q{containment($1, $1, 9, 'char')} ],
	[ 'resemblance, Chinese', q{U&'\6211\7231\5317\4EAC'}, 12, 'resemblance($1, $1)' ])
{
	my ($name, $piece, $bytes, $use) = @$case;
	my $make = megabytes_of($piece, $bytes, $megabytes);
	my ($outcome, $made, $used) = try('in_utf8', $make, $use);
	is($outcome, 'finished', "$name: is done in the end");
	note(sprintf '%s: %.2f s', $name, $used);
	ends_soon($name, 'in_utf8', $make, $use, $made, $used);
}
my $numbers = q{(SELECT string_agg(i::text, ' ') FROM generate_series(1, 3000000) AS i)};
my ($outcome, $made, $used) = try('in_utf8', $numbers, q{resemblance($1, $1 || ' more')});
is($outcome, 'finished', 'resemblance, many shingles: is done in the end');
note(sprintf 'resemblance, many shingles: %.2f s', $used);
ends_soon('resemblance, many shingles', 'in_utf8', $numbers, q{resemblance($1, $1 || ' more')}, $made, $used);

# Arrays of many elements
for my $case (
	[ 'many tokens', q{array_fill('token'::text, ARRAY[5000000])}, 'simhash($1::text[])' ],
	[ 'many features', q{array_fill('token'::text, ARRAY[3000000])}, 'simhash($1::text[], array_fill(0.5::float8, ARRAY[3000000]))' ],
	[ 'many hashes', q{array_fill(5, ARRAY[5000000])}, 'simhash($1::bigint[])' ])
{
	my ($name, $make, $use) = @$case;
	my ($outcome, $made, $used) = try('in_utf8', $make, $use);
	is($outcome, 'finished', "$name: is done in the end");
	note(sprintf '%s: %.2f s', $name, $used);
	ends_soon($name, 'in_utf8', $make, $use, $made, $used);
}

# shingles() makes an array, for which there is a limit of 1 GB: it ends in good
# time there, and sooner when cancelled.
for my $case (
	[ 'shingles', $words, 44, 20, 'shingles($1)', 'finished' ],
	[ 'shingles of characters', q{'x'}, 1, 2, q{shingles($1, 100, 'char')}, 'finished' ],
	[ 'shingles beyond the limit', q{'x'}, 1, 8, q{shingles($1, 256, 'char')}, '54000' ],
	[ 'shingles of words beyond the limit', $words, 44, 8, 'shingles($1, 256)', '54000' ])
{
	my ($name, $piece, $bytes, $size, $use, $expected) = @$case;
	my $make = megabytes_of($piece, $bytes, $size);
	my ($outcome, $made, $used, $memory) = try('in_utf8', $make, $use);
	is($outcome, $expected, "$name: $expected");
	note(sprintf '%s: %.2f s', $name, $used);
	cmp_ok($memory, '<', 2_500_000, "$name: within memory") if $memory && $expected ne 'finished';
	ends_soon($name, 'in_utf8', $make, $use, $made, $used);
}

# Cancelled by another session
{
	my $sql = 'SELECT pg_sleep(0.01); SELECT simhash(' . megabytes_of($words, 44, 400) . q{, 256, 'char')};
	my ($out, $err) = ('', '');
	my $victim = IPC::Run::start(
		[ 'psql', '-XAtq', '-d', $node->connstr('in_utf8') . ' application_name=victim', '-c', $sql ],
		'>', \$out, '2>', \$err);
	my $running = "FROM pg_stat_activity WHERE application_name = 'victim' AND query ~ 'simhash' AND state = 'active'";
	$node->poll_query_until('in_utf8', "SELECT count(*) = 1 $running AND query_start < now() - interval '1 second'")
	  or die 'no victim';
	my $since = time;
	is($node->safe_psql('in_utf8', "SELECT pg_cancel_backend(pid) $running"), 't', 'pg_cancel_backend: sent');
	$victim->finish;
	cmp_ok(time - $since, '<', $soon, 'pg_cancel_backend: ends soon');
	like($err, qr/canceling statement due to user request/, 'pg_cancel_backend: is cancelled');
}

$node->stop;
done_testing();
