# The SQL of the documentation.

package DocsTest;

use strict;
use warnings;

use Cwd qw(abs_path);
use Exporter qw(import);
use File::Basename qw(dirname);
use PostgreSQL::Test::Utils;

our @EXPORT = qw(docs_file blocks_of);

my $root = dirname(dirname(dirname(abs_path(__FILE__))));

# A file of the sources, as text.
sub docs_file
{
	my ($file) = @_;

	return slurp_file("$root/$file");
}

# The blocks of a file that are marked "sql", or "sql" and a word: the heading of their
# section, where they begin, and what has to come out, if a block marked "text" follows.
sub blocks_of
{
	my ($file, $word) = @_;
	my $text = docs_file($file);
	my $mark = defined $word ? "sql $word" : 'sql';
	my @blocks;

	while ($text =~ /^```$mark\n(.*?)^```\n(?:```text\n(.*?)^```\n)?/msg)
	{
		my ($sql, $expected, $before) = ($1, $2, substr($text, 0, $-[0]));
		my @headings = $before =~ /^#+ (.*)$/mg;

		push @blocks,
		  { line => 1 + ($before =~ tr/\n//), section => $headings[-1], sql => $sql, expected => $expected };
	}
	return @blocks;
}

1;
