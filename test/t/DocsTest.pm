# The SQL of the documentation.

package DocsTest;

use strict;
use warnings;

use Cwd qw(abs_path);
use Exporter qw(import);
use File::Basename qw(dirname);
use PostgreSQL::Test::Utils;

our @EXPORT = qw(docs_file pages blocks_of);

my $root = dirname(dirname(dirname(abs_path(__FILE__))));

# Returns a file of the sources, as text.
sub docs_file
{
	my ($file) = @_;

	return slurp_file("$root/$file");
}

# Returns the names of the pages of docs/.
sub pages
{
	return map { s{.*/}{docs/}r } sort glob("$root/docs/*.md");
}

# Returns the blocks of a file that are marked "sql", or "sql" and a tag: the heading of
# their section, the line where they begin, and the expected output if a block marked
# "text" follows.
sub blocks_of
{
	my ($file, $tag) = @_;
	my $text = docs_file($file);
	my $info = defined $tag ? "sql $tag" : 'sql';
	my @blocks;

	while ($text =~ /^```$info\n(.*?)^```\n(?:```text\n(.*?)^```\n)?/msg)
	{
		my ($sql, $expected, $before) = ($1, $2, substr($text, 0, $-[0]));
		my @headings = $before =~ /^#+ (.*)$/mg;

		push @blocks,
		  { line => 1 + ($before =~ tr/\n//), section => $headings[-1], sql => $sql, expected => $expected };
	}
	return @blocks;
}

1;
