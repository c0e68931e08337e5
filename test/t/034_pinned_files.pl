# Index files that 1.0 wrote are searched and changed by every later build.  test/pinned/
# has one for each operator class and kind of design.  They never change.
#
# SIMHASH_PIN=directory writes the files of this build there.  Copy only that of a new operator
# class.  The others should have the same bytes as before, unless CREATE INDEX has changed.

use strict;
use warnings;

use FindBin;
use lib $FindBin::RealBin;
use IndexTest;
use IO::Compress::Gzip qw(gzip);
use IO::Uncompress::Gunzip qw(gunzip);
use PostgreSQL::Test::Cluster;
use PostgreSQL::Test::Utils;
use Test::More;

my %indexes = (
	fingerprint => 'USING simhash (fp)',
	prefix => 'USING simhash (fp) WITH (blocks = 5, prefix = 2)',
	nested => 'USING simhash (fp) WITH (nested = 3)',
	ball => 'USING simhash (ball)',
	signature => 'USING simhash (sig)',
	sketch => 'USING simhash (sk)',
	sketch_balls => 'USING simhash (sketch_ball(sk, 0.25))',
	shingles => 'USING simhash (hashes_of(id))',
	gist_fingerprint => 'USING gist (fp)',
	gist_ball => 'USING gist (ball)');
my %searches = (
	fp => [
		map({ "fp <~> '$_' <= 5" } '6512bd43d9caa6e0', 'c20ad4d76fe97759'), "fp = '6512bd43d9caa6e0'", 'fp IS NULL' ],
	ball => [ "ball =~= '(6512bd43d9caa6e0,7)'", "ball =~= '(c20ad4d76fe97759,2)'", 'ball IS NULL' ],
	sig => [ map { "sig % (SELECT sig_of($_))" } 50, 777 ],
	sk => [
		"sk && '{110,503}'", "sk @> '{111,113}'", "sk <@ '{111,112,113,114,0,1}'", "sk <%>> '{111,112,113}' <= 0.5",
		"sk <%>> '{111}' <= (SELECT 1::float8)", "sk <%> '{111,112,113}'::bigint[] <= 0.5" ],
	sketch_ball => [
		map { "sketch_ball(sk, 0.25) =~= sketch_ball('{111,112,113,114,0}', $_)" } 0.25, 0.6 ],
	hashes_of => [
		map({ "hashes_of(id) <%> hashes_of($_) <= 0.7" } 51, 777), 'hashes_of(id) IS NULL' ]);

# no checksums, since the pages have none
my $node = index_node('pinned', damaged => 1, conf => 'autovacuum = off');

$node->safe_psql('postgres', <<'SQL');
CREATE FUNCTION sig_of(i integer) RETURNS minhash LANGUAGE sql IMMUTABLE
    RETURN to_minhash(ARRAY(SELECT i / 4 % 60 * 1000 + j FROM generate_series(1, 20) AS j) || i % 4, 6, 4);
CREATE FUNCTION hashes_of(i integer) RETURNS bigint[] LANGUAGE sql IMMUTABLE
    RETURN CASE WHEN i % 50 > 0 THEN shingle_hashes(
        (SELECT string_agg((i / 4 % 60 * 10 + j)::text, ' ') FROM generate_series(1, 9) AS j) || ' ' || i % 4) END;
CREATE FUNCTION add_rows(tab regclass, first integer, last integer) RETURNS void LANGUAGE plpgsql AS $$
BEGIN
    EXECUTE format('INSERT INTO %s SELECT i, fp, simhash_ball(fp, i %% 7), sig_of(i),
        CASE WHEN i %% 50 = 1 THEN ''{}''
            ELSE ARRAY(SELECT i / 4 %% 60 * 10 + j FROM generate_series(1, 4) AS j) || i %% 4 END
        FROM generate_series($1, $2) AS i, LATERAL (SELECT CASE WHEN i %% 50 > 0 THEN
            ((''x'' || left(md5((i / 4 %% 60)::text), 16))::bit(64)::bigint # (i %% 4))::simhash END AS fp) AS s', tab)
        USING first, last;
END $$;
SQL
foreach my $index (sort keys %indexes)
{
	$node->safe_psql('postgres', <<"SQL");
CREATE TABLE t_$index (id integer, fp simhash, ball simhash_ball, sig minhash(6, 4, 'hash'), sk bigint[]);
SELECT add_rows('t_$index', 1, 1000);
CREATE INDEX $index ON t_$index $indexes{$index};
SQL
}

# Returns the path of an index's file below the data directory.
sub path_of
{
	my ($index) = @_;

	return $node->safe_psql('postgres', "SELECT pg_relation_filepath('$index')");
}

# Writes the file of an index without LSNs, which belong to a cluster, and without checksums.
sub pin
{
	my ($index) = @_;
	my $data = join '', map { pack('L2', 0, 1) . pack('S', 0) . substr($_, 10) } @{ index_pages($node, $index) };

	gzip(\$data => "$ENV{SIMHASH_PIN}/$index.gz", -Level => 9, -Minimal => 1) or die "cannot write $index";
}

if ($ENV{SIMHASH_PIN})
{
	pin($_) foreach sort keys %indexes;
	plan skip_all => "the files are in $ENV{SIMHASH_PIN}";
}

# A file is only valid on a machine of the same layout, as PostgreSQL's own files are.
my $layout = join ' ', unpack('h*', pack 'S', 1),
  $node->safe_psql('postgres', 'SELECT max_data_alignment, database_block_size FROM pg_control_init()');
if ($layout ne '1000 8|8192')
{
	diag("skipped: the files are for another machine than one of layout $layout");
	plan skip_all => "the files are for another machine than one of layout $layout";
}

# The bytes of values in tables, and the hashes by which hash indexes and partitions place rows
$node->safe_psql('postgres', <<'SQL');
CREATE CAST (minhash AS bytea) WITHOUT FUNCTION;
CREATE CAST (simhash_ball AS point) WITHOUT FUNCTION;
SQL
my $values = $node->safe_psql('postgres', <<'SQL');
SELECT fp::bigint, simhash_hash_extended(fp, 0), simhash_hash_extended(fp, 7) FROM t_ball WHERE id = 11;
SELECT point_send(ball::point), simhash_ball_hash_extended(ball, 0), simhash_ball_hash_extended(ball, 7)
FROM t_ball WHERE id = 11;
SELECT substr(sig::bytea, 1, 12), md5(sig::bytea), minhash_hash_extended(sig, 0), minhash_hash_extended(sig, 7)
FROM t_ball WHERE id = 11;
SQL
is("$values\n", <<'VALUES', 'values and hashes of 1.0');
-4026655064267673760|-911064596140925|8718203209209936317
\xc81e728d9d4c2f600000000000000004|3500526784960221840|3113627709044553949
\x06000000040301003c259e06|814c6db0f555a7e682f2682fb490c19b|3461424274070888320|-138818711736092202
VALUES

my %path = map { $_ => path_of($_) } keys %indexes;
$node->stop;
foreach my $index (sort keys %indexes)
{
	my $data;

	gunzip("$FindBin::RealBin/../pinned/$index.gz" => \$data) or die "cannot read $index";
	write_pages($node, $path{$index}, [$data]);
}
$node->start;

sub sound_files_ok
{
	my ($name) = @_;

	foreach my $index (sort keys %indexes)
	{
		my ($column) = $indexes{$index} =~ /\((\w+)/;

		no_damage_ok($node, $name, $index) unless $indexes{$index} =~ /gist/;
		foreach my $search (@{ $searches{$column} })
		{
			next if $search =~ /IS NULL/ && $indexes{$index} =~ /gist/;
			# GiST returns its keys in index-only scans
			my $what = $indexes{$index} =~ /gist/ ? $column : 'id';
			my $query = "SELECT $what FROM t_$index WHERE $search";
			my ($by_index, $by_bitmap, $rows) =
			  split /\|/, $node->safe_psql('postgres', 'SELECT * FROM differing_by($$' . $query . '$$)');

			is("$by_index $by_bitmap", '0 0', "$name: $index finds $search");
			cmp_ok($rows, '>', 0, "$name: $index, $rows rows");
			is($node->safe_psql('postgres',
					"SET enable_seqscan = off; SELECT count(*) > 0 FROM plan(\$\$$query\$\$, ' (using|on) $index\\M')"),
				't', "$name: $index is used");
		}
	}
}

sound_files_ok('pinned');
$node->safe_psql('postgres', <<"SQL") foreach sort keys %indexes;
SELECT add_rows('t_$_', 1001, 1700);
DELETE FROM t_$_ WHERE id % 3 = 0;
SQL
$node->safe_psql('postgres', 'VACUUM');
$node->safe_psql('postgres', "SELECT add_rows('t_$_', 1701, 2000)") foreach sort keys %indexes;
sound_files_ok('changed');

# Only a newer library can read a file of a later version, so REINDEX is not the advice.
foreach my $later (0, 1)
{
	my $file = path_of('sketch');
	$node->stop;
	my $pages = read_pages($node, $file);
	substr($pages->[0], 28, 4) = pack('L', unpack('x28 L', $pages->[0]) + ($later ? 2 : -1));
	write_pages($node, $file, $pages);
	$node->start;
	my ($status, $stdout, $stderr) =
	  $node->psql('postgres', q{SET enable_seqscan = off; SELECT count(*) FROM t_sketch WHERE sk && '{110}'});
	like($stderr, $later ? qr/format version \d+, but.*HINT:  Install the newer library/s : qr/HINT:  Please REINDEX/,
		$later ? 'a file of a later version' : 'a file of an earlier version');
}

$node->stop;
no_crash_ok($node);
done_testing();
