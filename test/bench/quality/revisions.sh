# shellcheck shell=bash
# Texts that people revised: the corpora of corpora.sh in several releases of Debian.
# Other scripts source this file after corpora.sh.  apt fetches the releases from its
# mirror, with a configuration of its own, so they need not be this machine's.
#
# shellcheck disable=SC2034 # corpora.sh and quality.sh use these variables

# The last release is compared with each of the others.
read -r -a RELEASES <<<"${RELEASES:-bullseye bookworm trixie}"
REVISED=(descriptions manuals documentation licences chinese polish czech code)
REVISIONS=1500 # pairs of a corpus, at most
EVERY_SOURCE=14 # one of so many small packages is used for its copyright file

# The packages, as regular expressions, because some names contain a version.
REVISED_MANUALS='manpages|manpages-dev|git-man|perl-doc|libssl-doc|tcl8\.6-doc|ncurses-doc'
REVISED_CHINESE='manpages-zh|libreoffice-help-zh-cn|gnome-user-docs'
REVISED_PAGES='postgresql-doc-[0-9]+|debian-policy|developers-reference|debian-faq'
REVISED_CODE='libpython3\.[0-9]+-stdlib|python3-django|perl-modules-5\.[0-9]+|postgresql-server-dev-[0-9]+'

if [ -n "${QUICK:-}" ]; then
	REVISED=(descriptions manuals licences)
	REVISIONS=100 EVERY_SOURCE=200
	REVISED_MANUALS=manpages REVISED_CHINESE=manpages-zh
	REVISED_PAGES=debian-faq REVISED_CODE='postgresql-server-dev-[0-9]+'
fi

# Makes a configuration with which apt knows only this release.  Fails if the mirror
# does not have it.
configure_release() {
	local release=$1 mirror=$2 folder=$WORK/apt/$1
	mkdir -p "$folder/lists/partial" "$folder/cache/archives/partial"
	: >"$folder/status"
	echo "deb $mirror $release main" >"$folder/sources.list"
	cat >"$folder/apt.conf" <<-END
		Dir::Etc::SourceList "$folder/sources.list";
		Dir::Etc::SourceParts "-";
		Dir::State::lists "$folder/lists/";
		Dir::State::status "$folder/status";
		Dir::Cache "$folder/cache/";
		Acquire::Languages "none";
		#clear APT::Update::Post-Invoke;
		#clear APT::Update::Post-Invoke-Success;
	END
	if [ "$(id -u)" = 0 ] && id _apt >/dev/null 2>&1; then
		chown _apt "$folder/lists/partial"
	fi
	APT_CONFIG=$folder/apt.conf apt-get -qq update
}

packages_like() {
	apt-cache dumpavail | sed -n 's/^Package: //p' | grep -Ex "$1" | sort -u
}

# Prints the first package of one of so many sources, among the packages that are small.
small_packages() {
	apt-cache dumpavail | awk '
		/^Package:/ { package = source = $2 }
		/^Source:/ { source = $2 }
		/^Size:/ && $2 <= 20000 { print source, package }' |
		sort -u -k 1,1 |
		perl -ane "print \"\$F[1]\\n\" if unpack('%32C*', \$F[0]) % $EVERY_SOURCE == 0"
}

get_release() {
	export APT_CONFIG=$WORK/apt/$1/apt.conf
	mapfile -t MAN_PAGES < <(packages_like "$REVISED_MANUALS")
	mapfile -t CHINESE < <(packages_like "$REVISED_CHINESE")
	mapfile -t PAGES < <(packages_like "$REVISED_PAGES")
	mapfile -t CODE < <(packages_like "$REVISED_CODE")
	mapfile -t LICENSED < <(small_packages)
	EDITIONS=() COPYRIGHTS=()
	get_documents_of "$1"
}

# Fetches the documents into $WORK/src/documents/RELEASE.  Removes unavailable releases
# from RELEASES.
get_revisions() {
	local mirror release there=()
	mirror=$(mirror_of Debian)
	[ -n "$mirror" ] || die "apt knows no mirror of Debian"
	for release in "${RELEASES[@]}"; do
		say "$release"
		if configure_release "$release" "$mirror"; then
			(get_release "$release")
			there+=("$release")
		else
			say "  no release $release, going on without it"
		fi
	done
	[ ${#there[@]} -gt 1 ] || die "revisions take two releases: ${RELEASES[*]}"
	RELEASES=("${there[@]}")
}

# Loads a corpus of a release into a schema.
load_release() {
	run_sql documents.sql -v corpus="$1" -v rows=0 -v every=1 \
		-v ideographs="${IDEOGRAPHS[$2]:-0}" -v csv="$WORK/src/documents/$3/$2.csv"
}
