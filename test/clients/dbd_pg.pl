# DBD::Pg (Debian: libdbd-pg-perl).  PGHOST and the like say which server.
use strict;
use warnings;
use DBI;

my $db = DBI->connect('dbi:Pg:', undef, undef, { RaiseError => 1, PrintError => 0, AutoCommit => 1 });

my ($text, $radius) = ('The bridge was opened by the mayor on Monday!', 3);
my $rows = $db->selectcol_arrayref('SELECT id FROM docs WHERE sk <%> shingle_hashes(?) <= ?', undef, $text, 0.2);
print "resembles @$rows\n";

$rows = $db->selectcol_arrayref('SELECT id FROM docs WHERE fp <~> to_simhash(?) <= ? ORDER BY id',
	undef, $text, $radius);
print "within @$rows\n";

$rows = $db->selectcol_arrayref('SELECT id FROM docs ORDER BY fp <~> to_simhash(?) LIMIT ?', undef, $text, 1);
print "nearest @$rows\n";

# A fingerprint is a string of 16 hexadecimal digits.
my ($fp) = $db->selectrow_array('SELECT fp FROM docs WHERE id = 1');
$rows = $db->selectcol_arrayref('SELECT id FROM docs WHERE fp = ?', undef, $fp);
print "fingerprint @$rows\n";

$rows = $db->selectcol_arrayref('SELECT id FROM docs WHERE fp IS NOT DISTINCT FROM ?', undef, undef);
print "null @$rows\n";

eval { $db->selectcol_arrayref('SELECT id FROM docs WHERE fp = ?', undef, 'no fingerprint') };
print 'wrong input ', $db->state, "\n";

eval { $db->do('INSERT INTO docs (body) VALUES (?)', undef, $text) };
print 'duplicate ', $db->state, "\n";

$db->do('SET plan_cache_mode = force_generic_plan');
$rows = $db->selectcol_arrayref('EXPLAIN SELECT id FROM docs WHERE fp <~> to_simhash(?) <= ?', undef, $text, $radius);
print "plan uses the index\n" if grep { /docs_fp/ } @$rows;

my ($sig, $sk) = $db->selectrow_array('SELECT sig, sk FROM docs WHERE id = 1');
$rows = $db->selectcol_arrayref('SELECT id FROM docs WHERE sig % ? ORDER BY id', undef, $sig);
print "signatures @$rows\n";

# An array of bigint is an array of Perl.
$rows = $db->selectcol_arrayref('SELECT id FROM docs WHERE sk && ? ORDER BY id', undef, $sk);
print "sketches @$rows\n";
