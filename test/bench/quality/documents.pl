#!/usr/bin/perl
# Prints the documents below a folder as CSV (name, title, text), the format of
# descriptions in test/demo.sh.
#
#   documents.pl man FOLDER        manual pages, rendered by mandoc
#   documents.pl html FOLDER       web and help pages, without their markup
#   documents.pl page FOLDER       the same with the frame that every page has: menus,
#                                  sidebars, footers
#   documents.pl plain FILE        a text as it is
#
# Compressed files must be unpacked before.
use strict;
use warnings;
no warnings 'nonchar';    # they occur in sources of programs that handle Unicode
use File::Find;

my %entity = (lt => '<', gt => '>', quot => '"', apos => "'", nbsp => ' ', amp => '&');

sub slurp
{
	my ($name) = @_;
	open(my $file, '<:raw', $name) or die "$name: $!\n";
	local $/;
	my $content = <$file>;
	utf8::decode($content);    # bytes that are not UTF-8 stay Latin-1
	return $content;
}

# Renders a manual page.  mandoc overstrikes bold and underlined characters: x,
# backspace, x.
sub man
{
	my ($name) = @_;
	return '' if slurp($name) =~ /\A(?:['.]\\".*\n)*\.so /;    # only a reference
	open(my $pipe, '-|', 'mandoc', '-T', 'utf8', $name) or die "mandoc: $!\n";
	binmode($pipe, ':utf8');
	local $/;
	my $text = <$pipe> // '';
	close($pipe);
	$text =~ s/.\x08//g;
	return $text;
}

# Returns the content of a page, without the frame that every page has.
sub html
{
	my $text = slurp($_[0]);
	$text =~ s/.*?(?=<body\b)//s;
	$text =~ s/.*<div id="DisplayArea"//s;                     # LibreOffice
	$text =~ s/<footer\b.*//s;
	$text =~ s/<info>.*?<\/info>//s;                           # GNOME
	$text =~ s/<div class="nav(?:header|footer)">.*?<\/table>//gs;    # DocBook
	$text =~ s/\A[^<]*>//;
	return without_markup($text);
}

sub page
{
	return without_markup(slurp($_[0]));
}

sub without_markup
{
	my ($text) = @_;
	$text =~ s/<(script|style)\b.*?<\/\1>//gs;
	$text =~ s/<!--.*?-->//gs;
	$text =~ s/<\/?(?:p|div|h\d|li|tr|td|th|dt|dd|br|pre|title|item|section)\b[^>]*>/\n/g;
	$text =~ s/<[^>]*>//g;
	$text =~ s/&#(\d+);/chr($1)/ge;
	$text =~ s/&(\w+);/$entity{$1} \/\/ ' '/ge;
	return $text;
}

sub print_document
{
	my ($name, $text) = @_;
	return if $text !~ /\w/;
	$text =~ s/\s+\z//;
	$text =~ tr/\0//d;
	print join(',', map { s/"/""/gr =~ s/(.*)/"$1"/sr } $name, '', $text), "\n";
}

sub files_below
{
	my ($folder, $pattern) = @_;
	my @files;
	find({ no_chdir => 1,
			wanted => sub { push @files, $_ if -f && !-l && m{$pattern} } }, $folder);
	return sort @files;
}

my %kinds = (
	man => [\&man, sub { files_below($_[0], qr{/man/.*\.\d\w*$}) }],
	html => [\&html, sub { files_below($_[0], qr{\.(?:html|page)$}) }],
	page => [\&page, sub { files_below($_[0], qr{\.html$}) }],
	plain => [\&slurp, sub { @_ }]);

my ($kind, @where) = @ARGV;
die "usage: documents.pl man|html|page|plain WHERE\n" unless $kinds{ $kind // '' };
binmode(STDOUT, ':utf8');
my ($to_text, $list) = @{ $kinds{$kind} };
print_document($_, $to_text->($_)) for $list->(@where);
