# Updates of the extension.  The test makes a version 1.1 of the sources, with one function
# added and one changed.  An update creates the same objects as CREATE EXTENSION, and an older
# library refuses the scripts of a newer version.

use strict;
use warnings;

use File::Path qw(make_path);
use FindBin;
use PostgreSQL::Test::Cluster;
use PostgreSQL::Test::Utils;
use Test::More;

plan skip_all => 'servers refuse to run as root' if $> == 0;

my $root = "$FindBin::RealBin/../..";
my $node = PostgreSQL::Test::Cluster->new('versions');
$node->init;
$node->start;

# Before 18 only Debian's server has a setting for the directory of extensions.
my $has_path = $node->pg_version >= 18;
my $setting = $has_path ? 'extension_control_path' : 'extension_destdir';
plan skip_all => "the server has no $setting"
  unless $node->safe_psql('postgres', "SELECT count(*) FROM pg_settings WHERE name = '$setting'");

# Returns the bytes of the library under test.
sub read_library
{
	my ($libdir) = @_;
	my $where = $node->safe_psql('postgres', 'SHOW ' . ($has_path ? 'dynamic_library_path' : $setting));
	my ($library) = grep { -e } map { "$_/simhash.so" } ($has_path ? split(/:/, $where) : "$where$libdir"), $libdir;

	die "no library in $where or $libdir\n" unless $library;
	open my $f, '<:raw', $library or die "$library: $!";
	local $/;
	return <$f>;
}

# Replaces a file.  Sessions that use the old one keep it.
sub write_file
{
	my ($file, $bytes) = @_;

	unlink $file;
	open my $f, '>:raw', $file or die "$file: $!";
	print $f $bytes;
	close $f;
}

# Substitutes a pattern that must occur once.
sub edited
{
	my ($text, $pattern, $new) = @_;
	my $times = $text =~ s/$pattern/$new/g;

	die "$pattern occurs $times times\n" unless $times == 1;
	return $text;
}

my ($sharedir, $libdir) = map { $node->config_data("--$_") } qw(sharedir pkglibdir);
my $stage = $node->basedir . '/stage';
my $old_library = read_library($libdir);
my $new_library = edited($old_library, qr/(?<![\d.])1\.0\.0(?=\0)/, '1.1.0');

my $check = "SELECT simhash_check_version('1.1'::text);\n";
my $changed = "FUNCTION simhash_within(simhash, simhash, radius bigint) RETURNS boolean\n"
  . "    AS 'MODULE_PATHNAME' LANGUAGE C IMMUTABLE STRICT PARALLEL SAFE LEAKPROOF COST 5;\n";
my $added = "CREATE FUNCTION simhash_added(simhash, simhash) RETURNS integer\n"
  . "    AS 'MODULE_PATHNAME', 'simhash_hamming_distance' LANGUAGE C IMMUTABLE STRICT PARALLEL SAFE;\n"
  . "COMMENT ON FUNCTION simhash_added(simhash, simhash) IS 'added';\n";

my $script = slurp_file("$root/src/sql/simhash--1.0.sql");
my $new_script = edited($script, qr/^SELECT simhash_check_version\('1\.0'::text\);\n/m, $check);
$new_script = edited($new_script, qr/(?<=^CREATE )FUNCTION simhash_within\([^;]*;\n/m, $changed) . $added;

make_path("$stage$sharedir/extension", "$stage$libdir");
write_file("$stage$sharedir/extension/simhash.control", slurp_file("$root/simhash.control"));
write_file("$stage$sharedir/extension/simhash--1.0.sql", $script);
write_file("$stage$sharedir/extension/simhash--1.1.sql", $new_script);
write_file("$stage$sharedir/extension/simhash--1.0--1.1.sql", "${check}CREATE OR REPLACE $changed$added");
write_file("$stage$libdir/simhash.so", $old_library);
$node->append_conf('postgresql.conf', $has_path
	? "extension_control_path = '$stage$sharedir:\$system'\ndynamic_library_path = '$stage$libdir:\$libdir'"
	: "extension_destdir = '$stage'");
$node->restart;

# Returns what a database has of the extension: a hash from the name of an object to its
# definition.  pg_dump writes members of extensions for pg_upgrade only.
sub objects
{
	my ($database) = @_;
	my ($dump) = run_command([ 'pg_dump', '--binary-upgrade', '--schema-only', $node->connstr($database) ]);
	my %objects;

	# OIDs, and a random key
	$dump =~ s/^SELECT pg_catalog\.binary_upgrade_.*?;\n//msg;
	$dump =~ s/^\\(?:un)?restrict .*\n//mg;
	foreach my $part (split /^--\n(?=-- Name: )/m, $dump)
	{
		$objects{$1} .= $part if $part =~ /\A-- Name: (.*)/;
	}
	return \%objects;
}

# Returns the names of the objects that differ.
sub differing
{
	my ($one, $other) = @_;

	return join "\n", grep { ($one->{$_} // '') ne ($other->{$_} // '') } sort keys %{ { %$one, %$other } };
}

sub psql_fails
{
	my ($database, $sql, $error, $name) = @_;
	my ($status, $stdout, $stderr) = $node->psql($database, $sql);

	isnt($status, 0, "$name: fails");
	like($stderr, $error, "$name: says why");
}

my $too_old = qr/ERROR:  version 1\.1 of simhash needs a newer library than 1\.0\.0\n.*HINT:  Install the library/s;

$node->safe_psql('postgres', "CREATE DATABASE $_") foreach qw(old updated fresh);
$node->safe_psql($_, q{CREATE EXTENSION simhash VERSION '1.0'}) foreach qw(old updated);

# a library that is older than the scripts
psql_fails('updated', q{ALTER EXTENSION simhash UPDATE TO '1.1'}, $too_old, 'an update with an older library');
psql_fails('fresh', q{CREATE EXTENSION simhash VERSION '1.1'}, $too_old, 'CREATE EXTENSION with an older library');
is($node->safe_psql('updated', q{SELECT extversion FROM pg_extension WHERE extname = 'simhash'}),
	'1.0', 'the failed update changed nothing');
is(differing(objects('updated'), objects('old')), '', 'and no object');

# a session that has loaded the older library, when the newer one arrives
my $session = $node->background_psql('updated', on_error_stop => 0);
is($session->query('SELECT simhash_version()'), '1.0.0', 'the old library is loaded');
write_file("$stage$libdir/simhash.so", $new_library);
is($node->safe_psql('updated', 'SELECT simhash_version()'), '1.1.0', 'a new session loads the new library');
$session->query(q{ALTER EXTENSION simhash UPDATE TO '1.1'});
like($session->{stderr}, $too_old, 'the old session cannot update');
$session->quit;

$node->safe_psql('updated', q{ALTER EXTENSION simhash UPDATE TO '1.1'});
$node->safe_psql('fresh', q{CREATE EXTENSION simhash VERSION '1.1'});
my %objects = map { $_ => objects($_) } qw(old updated fresh);
cmp_ok(scalar keys %{ $objects{fresh} }, '>', 200, 'the comparison has objects');
is(differing($objects{updated}, $objects{fresh}), '', 'an update creates the same objects as CREATE EXTENSION');
is(differing($objects{old}, $objects{fresh}) =~ s/;.*//mgr,
	join("\n", 'FUNCTION simhash_added(public.simhash, public.simhash)',
		'simhash_added(public.simhash, public.simhash)', 'simhash_within(public.simhash, public.simhash, bigint)'),
	'the comparison sees what 1.1 changes');

# a newer library serves older objects
is($node->safe_psql('old', q{SELECT simhash_within(simhash('a'), simhash('a'), 0)}), 't',
	'a newer library serves 1.0');

SKIP:
{
	skip 'modules have no names before 18', 1 unless $has_path;
	is($node->safe_psql('fresh', <<'SQL'), 'simhash|1.1.0', 'the module has a name and a version');
LOAD 'simhash';
SELECT module_name, version FROM pg_get_loaded_modules() WHERE file_name ~ 'simhash';
SQL
}

done_testing();
