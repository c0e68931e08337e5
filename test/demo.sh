#!/bin/bash
# Shows the extension with the descriptions of all Debian packages, on a temporary
# PostgreSQL server of its own.  The statements are in demo.sql.
#
#   bash test/demo.sh              everything, including the installation of packages
#   bash test/demo.sh fetch DIR    only writes the documents into DIR, for
#                                  demo.sql in a database of your own
set -euo pipefail

# shellcheck source-path=SCRIPTDIR source=lib.sh
. "$(dirname "$0")/lib.sh"

# apt keeps descriptions in one file for each language.  A private configuration and
# state fetch them without root, whatever languages apt is configured to fetch.  apt's
# own lists do not change.
private_apt() {
	cat >"$WORK/apt.conf" <<-END
		Dir::State::lists "$WORK/lists/";
		Dir::Cache "$WORK/cache/";
		#clear Acquire::Languages;
		Acquire::Languages { "en"; "zh_CN"; };
		Acquire::IndexTargets::deb::Packages::DefaultEnabled "false";
		#clear APT::Update::Post-Invoke;
		#clear APT::Update::Post-Invoke-Success;
	END
	mkdir -p "$WORK/lists/partial" "$WORK/cache/archives/partial"
	# If root runs apt, this user does its downloads.
	if [ "$(id -u)" = 0 ] && id _apt >/dev/null 2>&1; then
		chown _apt "$WORK/lists/partial"
	fi
	apt-get -c "$WORK/apt.conf" -qq update
}

# Prints the description files of a language, one after the other.
descriptions() {
	local file
	# shellcheck disable=SC2016
	apt-get -c "$WORK/apt.conf" indextargets \
		--format '$(CREATED_BY) $(LANGUAGE) $(FILENAME)' |
		sed -n "s/^Translations $1 //p" |
		while read -r file; do
			[ ! -e "$file" ] || /usr/lib/apt/apt-helper cat-file "$file"
		done
}

# Converts "Package: / Description-md5: / Description-xx: title and long text" to CSV:
# name, title, text.  The long text is indented by a space, and " ." is an empty line.
# Repositories may repeat a description.
to_csv() {
	perl -e '
		$/ = "";
		while (<>) {
			my ($name) = /^Package: (.*)/m or next;
			my ($md5) = /^Description-md5: (.*)/m or next;
			my ($title, $body) = /^Description-\w\w(?:_\w\w)?: (.*)\n((?: .*\n?)+)/m or next;
			next if $seen{"$name $md5"}++;
			$body =~ s/^ \.?$//mg;
			$body =~ s/^ //mg;
			$body =~ s/\s+\z//;
			print join(",", map { s/"/""/g; "\"$_\"" } $name, $title, $body), "\n";
		}'
}

fetch() {
	say "fetching the descriptions of all packages, in English and Chinese (about 10 MB)"
	private_apt
	descriptions en | to_csv >"$1/packages.csv"
	descriptions zh_CN | to_csv >"$1/packages_zh.csv"
	[ -s "$1/packages.csv" ] || die "the sources that apt is set up with have no descriptions"
	say "    $(du -h --apparent-size "$1/packages.csv" | cut -f 1) of English text," \
		"$(du -h --apparent-size "$1/packages_zh.csv" | cut -f 1) of Chinese"
}

# psql drops the empty lines of a script that it echoes.  Inserts some, after each query
# and each heading.
space_out() {
	sed -u -e 's/^Time: .*/&\n/' -e '/^-- [0-9I]/,/^-- --/s/^-- --.*/&\n/' \
		-e '/^\\timing off/d'
}

main() {
	local spacing
	if [ "${1:-}" = fetch ]; then
		[ -d "${2:-}" ] || die "usage: demo.sh fetch DIRECTORY"
		make_workspace
		fetch "$2"
		return
	fi

	# shellcheck disable=SC2119
	UNPACK_HEADERS=yes prepare
	fetch "$WORK/src"

	build_and_start

	# not in a pipeline: the shell would wait for its end before it handles a signal
	exec 4> >(space_out)
	spacing=$!
	demo_psql -f test/demo.sql >&4 2>&1
	exec 4>&-
	wait "$spacing"
	say_how_to_install
}

# Prints the commands that install the extension into the system's PostgreSQL.  Root may
# have no sudo.
say_how_to_install() {
	local sudo='sudo ' as_postgres='sudo -u postgres'
	[ "$(id -u)" != 0 ] || sudo='' as_postgres='runuser -u postgres --'
	say "This server goes away now.  To have the extension in yours:"
	installed "postgresql-server-dev-$PG_MAJOR" ||
		say "    ${sudo}apt-get install postgresql-server-dev-$PG_MAJOR"
	say "    make && ${sudo}make install"
	if [ -z "$(pg_lsclusters -h)" ]; then
		say "There is no database server here yet, only its programs.  To make one and start it:"
		say "    ${sudo}pg_createcluster $PG_MAJOR main --locale C.UTF-8 --start"
	fi
	say "and then, for each database that is to have it:"
	say "    $as_postgres psql -c 'CREATE EXTENSION simhash' DATABASE"
}

main "$@"
