# shellcheck shell=bash
# The documents of measurements.  Writes descriptions.csv, manuals.csv,
# documentation.csv, licences.csv, chinese.csv, polish.csv, czech.csv and code.csv (name,
# title, text) into a folder, and loads them.  Other scripts source this file after
# test/lib.sh.  apt fetches all packages, which are unpacked in the workspace and not
# installed.

# SOURCE: the documents of a corpus with another name.  IDEOGRAPHS: the minimum fraction
# of ideographs among a document's tokens.  EVERY: the corpus uses one of so many
# documents.
declare -A SOURCE=([ideographs]=chinese) IDEOGRAPHS=([chinese]=0.5 [ideographs]=0.85)
declare -A EVERY=([documentation]=8 [code]=2)
CORPUS_ROWS=0 # documents of a corpus; 0 for all

# Packages that a release does not have are omitted.
MAN_PAGES=(manpages manpages-dev freebsd-manpages perl-doc libssl-doc libxcb-doc
	tcl8.6-doc tk8.6-doc erlang-manpages openmpi-doc git-man ncurses-doc)
CHINESE=(manpages-zh libreoffice-help-zh-cn gnome-user-docs)
SLAVIC=(manpages-pl manpages-cs)
# The same books for several architectures and of several releases.
EDITIONS=(installation-guide-{amd64,arm64,i386} clang-{13..19}-doc)
# Long pages, with sidebars, tables and licence headers; the handbook in 26 languages.
PAGES=(linux-doc-6.1 qtbase5-doc-html erlang-doc openjdk-17-doc python3.11-doc debian-handbook)
# Source files in Go, Python, Perl and C.
CODE=(golang-1.19-src libpython3.11-stdlib python3-django perl-modules-5.36
	postgresql-server-dev-15)
# Unpacked only for their copyright files, in addition to those of this machine.
LICENSED=()
COPYRIGHTS=(/usr/share/doc/*/copyright)

if [ -n "${QUICK:-}" ]; then
	MAN_PAGES=(manpages tk8.6-doc)
	CHINESE=(manpages-zh)
	SLAVIC=()
	EDITIONS=()
	PAGES=(python3.11-doc)
	CODE=(libpython3.11-stdlib)
fi

available() {
	apt-cache show --no-all-versions "$1" >/dev/null 2>&1
}

fetch_packages() {
	local package there=()
	say "fetching manuals, in four languages, and source files"
	available "${MAN_PAGES[0]}" || update_lists
	for package in "${MAN_PAGES[@]}" "${CHINESE[@]}" "${SLAVIC[@]}" "${EDITIONS[@]}" "${PAGES[@]}" "${CODE[@]}"; do
		if available "$package"; then
			there+=("$package")
		else
			say "  no package $package, going on without it"
		fi
	done
	unpack_packages "$1" "${there[@]}" "${LICENSED[@]}"
}

# Prints the documents of a type (see documents.pl) in folders of the unpacked packages.
# Their names are relative to the current folder.
documents() {
	local kind=$1 path
	shift
	for path; do
		[ ! -e "$path" ] || perl "$ROOT/test/bench/quality/documents.pl" "$kind" "$path"
	done
}

manuals() {
	documents man ./*/usr/share/man/man*
	documents html ./*/usr/share/doc/installation-guide-*/en ./*/usr/share/doc/clang-*/html
}

documentation() {
	local package
	for package in "${PAGES[@]}"; do
		documents page "./$package/usr/share/doc"
	done
}

chinese() {
	cat "$1/packages_zh.csv"
	documents man ./*/usr/share/man/zh_*
	documents html ./*/usr/share/libreoffice/help/zh-CN/text ./*/usr/share/help/zh_CN \
		./*/usr/share/doc/installation-guide-*/zh_CN
}

licences() {
	documents plain "${COPYRIGHTS[@]}" ./*/usr/share/doc/*/copyright
}

code() {
	local package
	for package in "${CODE[@]}"; do
		[ -e "./$package" ] || continue
		find "./$package" -type f -regex '.*\.\(go\|py\|pm\|c\|h\)' -print0 | sort -z |
			xargs -0 perl "$ROOT/test/bench/quality/documents.pl" plain
	done
}

# Writes every corpus into a folder, from packages that it unpacks in another one.
fetch_corpora() {
	bash "$ROOT/test/demo.sh" fetch "$1"
	mv "$1/packages.csv" "$1/descriptions.csv"
	fetch_packages "$2"
	(
		cd "$2" || exit
		manuals >"$1/manuals.csv"
		documentation >"$1/documentation.csv"
		chinese "$1" >"$1/chinese.csv"
		documents man ./*/usr/share/man/pl >"$1/polish.csv"
		documents man ./*/usr/share/man/cs >"$1/czech.csv"
		licences >"$1/licences.csv"
		code >"$1/code.csv"
	)
}

# Writes the documents into a folder of $WORK/src/documents.  Copies them from that
# folder of DOCUMENTS if it has them, else also stores them there.
get_documents_of() {
	local folder=$WORK/src/documents/$1 kept=${DOCUMENTS:+$DOCUMENTS/$1}
	mkdir -p "$folder"
	if [ -n "$kept" ] && [ -e "$kept/code.csv" ]; then
		say "taking the documents in $kept"
		cp "$kept"/*.csv "$folder"
		return
	fi
	fetch_corpora "$folder" "$WORK/packages/$1"
	if [ -n "$kept" ]; then
		mkdir -p "$kept"
		cp "$folder"/*.csv "$kept"
	fi
}

get_documents() {
	get_documents_of .
}

run_sql() {
	local script=$1
	shift
	demo_psql -At "$@" -f "test/bench/quality/$script"
}

load_corpus() {
	run_sql documents.sql -v corpus="$1" -v rows="$CORPUS_ROWS" \
		-v every="${EVERY[$1]:-1}" -v ideographs="${IDEOGRAPHS[$1]:-0}" \
		-v csv="$WORK/src/documents/${SOURCE[$1]:-$1}.csv"
}
