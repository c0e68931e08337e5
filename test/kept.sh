# shellcheck shell=bash
# Keeps the objects of a build for the next one, in a folder of the user's.  lib.sh and
# build.sh source this file.

# Prints the file that keeps the objects of a build.  The input is all that an object
# depends on besides its sources.  Fails if the user has no place for the file.
kept_file() {
	local cache=${XDG_CACHE_HOME:-${HOME:+$HOME/.cache}} key
	[ -n "$cache" ] || return
	key=$(sha256sum | cut -c 1-16)
	mkdir -p "$cache/simhash" 2>/dev/null && echo "$cache/simhash/objects-$key.tar"
}

# Copies the objects from a file to a tree.  A source that is as it was when they were made
# gets its time of then.  Any other source is new, so make compiles what includes it.
# Arguments: the file, the tree.
recall_objects() {
	local kept=$2/kept
	[ -f "$1" ] || return 0
	mkdir "$kept"
	if tar -C "$kept" --no-same-owner -xf "$1"; then
		find "$2/Makefile" "$2/src" -type f -exec touch {} +
		(cd "$kept" && find Makefile src -type f ! -name '*.[od]' -exec sha256sum {} +) |
			(cd "$2" && sha256sum --check --quiet 2>/dev/null) |
			sed -n 's/: FAILED.*//p' | (cd "$kept" && xargs -r rm)
		cp -a "$kept/." "$2"
	fi
	rm -rf "$kept"
}

# Keeps the sources and objects of a tree, and removes what was not used for a month.
# Arguments: the file, the tree.
keep_objects() {
	tar -C "$2" -cf "$1.$$" Makefile .built-for src && mv "$1.$$" "$1"
	find "${1%/*}" -name 'objects-*' -mtime +30 -delete
}
