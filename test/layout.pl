#!/usr/bin/perl
# Checks the layout of the sources.
#
#   perl test/layout.pl
#
# Run it at the top of the tree.  A module is a .c file and the .h file of its name.  It
# uses the modules whose headers it includes, and those whose functions it calls.
#
# - Modules have no circular dependencies, and neither have folders.  Not counted in
#   folders are module.c, which initializes all the others, and headers of src/index/ without a
#   .c file, which declare functions that its folders define.
# - No two modules have the same base name, and no two static functions or types have the
#   same name: the LOCATION of an error is a file's base name and a function.
# - Links of the documentation lead to a file, and to a heading of it.  README.md links
#   to every page of docs/.
# - README.md has at most 150 lines, and its figures of costs are those of docs/.
# - META.json, simhash.control, the Makefile and debian/changelog name the version of
#   src/module.c.
# - No line of sources and tests is longer than 120 characters, with tabs of 4.
#   Exceptions are generated lines, and messages, which PostgreSQL keeps in one piece.

use strict;
use warnings;
use utf8;
use open qw(:std :encoding(UTF-8));

my (%text, %module, %uses, %owner, %places);

sub read_sources
{
	foreach my $file (grep { !m{/unicode/} } split /\n/, `find src -name '*.[ch]' | sort`)
	{
		open my $f, '<', $file or die "$file: $!";
		local $/;
		my $text = <$f>;
		$text =~ s{/\*.*?\*/}{}gs;
		$text = join "\n", map { /^#include/ ? $_ : s{"(?:[^"\\]|\\.)*"}{}gr } split /\n/, $text;
		$text{$file} = $text;
		($module{$file} = $file) =~ s{^src/(.*)\.[ch]$}{$1};
	}
	die "no sources: run at the top of the tree\n" unless %text;
}

# Records the positions of each name, and the module of each extern function.
sub find_names
{
	while (my ($file, $text) = each %text)
	{
		my $module = $module{$file};
		$places{'base name'}{ $module =~ s{.*/}{}r }{$module} = 1;
		while ($text =~ /^([^\n]*)\n([A-Za-z_]\w*)\([^;{}]*\)\n\{/mg)
		{
			my ($before, $name) = ($1, $2);
			if ($before =~ /\bstatic\b/) { $places{'static function'}{$name}{$module} = 1 }
			elsif ($file =~ /\.c$/) { $owner{$name} = $module }
		}
		$places{type}{$1}{$module} = 1
		  while $text =~ /^(?:typedef )?(?:struct|union|enum) (\w+)\s*\n\{/mg;
		$places{type}{$1}{$module} = 1 while $text =~ /^\} (\w+);/mg;
	}
	$places{'static function'}{$_}{ $owner{$_} } = 1
	  foreach grep { $places{'static function'}{$_} } keys %owner;
}

sub find_uses
{
	while (my ($file, $text) = each %text)
	{
		my $user = $module{$file};
		while ($text =~ /#include "([^"]+\.h)"/g)
		{
			my $used = $module{"src/$1"} or next;
			$uses{$user}{$used} .= ' includes' if $used ne $user;
		}
		next if $file =~ /\.h$/;
		while ($text =~ /\b([A-Za-z_]\w*)\b/g)
		{
			my $used = $owner{$1};
			$uses{$user}{$used} .= " $1" if $used && $used ne $user;
		}
	}
}

# Returns the rest of a graph after nodes that use no others, and nodes that no others
# use, have been removed repeatedly.
sub circles
{
	my %graph = map { my $from = $_; ($from => { %{ $_[0]{$from} } }) } keys %{ $_[0] };
	my $before;
	do
	{
		my %used = map { %$_ } values %graph;
		$before = join ' ', map { ($_, keys %{ $graph{$_} }) } sort keys %graph;
		foreach my $node (keys %graph)
		{
			delete @{ $graph{$node} }{ grep { !$graph{$_} } keys %{ $graph{$node} } };
			delete $graph{$node} if !%{ $graph{$node} } || !$used{$node};
		}
	} until $before eq join ' ', map { ($_, keys %{ $graph{$_} }) } sort keys %graph;
	return \%graph;
}

# Returns true for a module that may use folders that use its own folder.
sub exempt
{
	my ($module) = @_;
	return $module eq 'module' || $module =~ m{^index/[^/]*$} && !$text{"src/$module.c"};
}

sub folders
{
	my %graph;
	foreach my $user (keys %uses)
	{
		my $from = $user =~ s{/?[^/]*$}{}r;
		foreach my $used (keys %{ $uses{$user} })
		{
			my $to = $used =~ s{/?[^/]*$}{}r;
			next if $from eq $to || grep { exempt($_) } $user, $used;
			$graph{$from}{$to} .= "\n\t\t$user ->$uses{$user}{$used}";
		}
	}
	return \%graph;
}

sub long_lines
{
	my @long;
	foreach my $file (grep { /\.([ch]|sql|p[lmy]|sh|spec)$/ && !m{/unicode/tables\.h$} }
		split /\n/, `find src sql test -type f | sort`)
	{
		open my $f, '<', $file or die "$file: $!";
		while (<$f>)
		{
			chomp;
			1 while s/\t/' ' x (4 - $-[0] % 4)/e;
			push @long, "$file:$.: $_"
			  if length > 120 && !/err(msg|hint|detail)|gettext_noop/;
		}
	}
	return @long;
}

sub read_page
{
	my ($file) = @_;
	open my $f, '<', $file or die "$file: $!";
	local $/;
	return <$f> =~ s/^ *```.*?^ *```$//msgr =~ s/^    .*$//mgr;
}

# Returns the anchors that GitHub makes of a page's headings.
sub anchors
{
	my %seen;
	return map
	{
		my $anchor = lc s/\[([^]]*)\]\([^)]*\)/$1/gr;
		$anchor =~ s/[^\w\- ]//g;
		$anchor =~ tr/ /-/;
		my $n = $seen{$anchor}++;
		($n ? "$anchor-$n" : $anchor) => 1;
	} $_[0] =~ /^#+ (.*)$/mg;
}

sub dead_links
{
	my (%anchors, @dead);
	my @files = split /\n/, `find *.md docs src test -name '*.md' | sort`;
	$anchors{$_} = { anchors(read_page($_)) } foreach @files;
	foreach my $file (@files)
	{
		my $text = read_page($file);
		while ($text =~ /\]\((?!\w+:)([^)#]*)(?:#([^)]*))?\)/g)
		{
			my ($path, $anchor) = ($1, $2);
			my $target = $path eq '' ? $file : $file =~ s{[^/]*$}{}r . $path;
			1 while $target =~ s{(^|/)(?!\.\./)[^/]+/\.\./}{$1};
			push @dead, "$file: $path" . (defined $anchor ? "#$anchor" : '')
			  unless -e $target && (!defined $anchor || $anchors{$target}{$anchor});
		}
	}
	my $readme = read_page('README.md');
	push @dead, map { "README.md: no link to $_" }
	  grep { m{^docs/} && index($readme, "($_)") < 0 } @files;
	return @dead;
}

# Returns figures of README.md that no page of measurements has.
sub other_figures
{
	my ($costs) = read_page('README.md') =~ /^## What it costs\n(.*?)^## /ms;
	my $measured = join '', map { read_page("docs/$_.md") } qw(performance index evaluation resemblance);
	return grep { $measured !~ /(?<![\d.,])\Q$_\E/ } $costs =~ /\d[\d.,]* (?:µs|ms|s|times)\b/g;
}

# Returns the versions that differ from that of src/module.c.  The extension's version is
# the first two numbers.
sub other_versions
{
	my %text = map { $_ => do { local (@ARGV, $/) = $_; <> } }
	  qw(src/module.c META.json simhash.control Makefile debian/changelog);
	my ($version) = $text{'src/module.c'} =~ /^#define SIMHASH_VERSION\s+"(\d+\.\d+\.\d+)"$/m;
	my $script = $version =~ s/\.\d+$//r;
	my $file = "src/sql/simhash--$script.sql";
	my $meta = $text{'META.json'};
	my @named = (
		[ 'META.json', $version, $meta =~ /^    "version": "(.*)"/mg ],
		[ 'META.json, provides', $version, $meta =~ /^ {12}"version": "(.*)"/mg ],
		[ 'META.json, file', $file, $meta =~ /"file": "(.*)"/g ],
		[ 'simhash.control', $script, $text{'simhash.control'} =~ /^default_version = '(.*)'/mg ],
		[ 'debian/changelog', $version, $text{'debian/changelog'} =~ /\A\S+ \((.*)-/ ],
		[ 'Makefile', $file, $text{Makefile} =~ m{^DATA = .*?(\Q$file\E)}mg ]);
	return map { "$_->[0]: @$_[2 .. $#$_], not $_->[1]" } grep { @$_ != 3 || $_->[1] ne $_->[2] } @named;
}

my ($passed, $failed) = (0, 0);

sub check
{
	my ($what, @complaints) = @_;
	print @complaints ? "not ok" : "ok", " $what\n", map { "\t$_\n" } @complaints;
	@complaints ? $failed++ : $passed++;
}

sub check_circles
{
	my ($what, $graph) = @_;
	my $circles = circles($graph);
	check($what, map
		{
			my $from = $_;
			map { "$from -> $_:$circles->{$from}{$_}" } sort keys %{ $circles->{$from} }
		} sort keys %$circles);
}

read_sources();
find_names();
find_uses();
check_circles('modules use no others in a circle', \%uses);
check_circles('folders use no others in a circle', folders());
foreach my $what (sort keys %places)
{
	my $names = $places{$what};
	check("no $what stands twice", map { "$_: @{[sort keys %{ $names->{$_} }]}" }
		grep { keys %{ $names->{$_} } > 1 } sort keys %$names);
}
check('links lead somewhere', dead_links());
check('README.md has at most 150 lines', grep { $_ > 150 } `wc -l <README.md` + 0);
check('figures of README.md are those of docs/', other_figures());
check('there is one version', other_versions());
check('no line is too long', long_lines());
print "$passed passed, $failed failed\n";
exit($failed != 0);
