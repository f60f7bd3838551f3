# SPDX-License-Identifier: GPL-2.0
# shellcheck shell=bash
# Packages of any Debian suite and architecture, downloaded by an apt with a state of its own,
# which checks every signature. It never installs anything, never touches the system's apt
# state, and knows no mirror: that comes from this machine's apt sources. For scripts that
# have sourced lib.sh.

host_arch=$(dpkg --print-architecture 2>/dev/null || echo amd64)

# private_apt_begin SUITE ARCH STATE: packages of that architecture, and of this machine's
# where they are asked for as NAME:$host_arch. The caller removes the directory STATE.
private_apt_begin() {
	apt_suite=$1 apt_arch=$2 state=$3
	apt_archs=$apt_arch
	[ "$apt_arch" = "$host_arch" ] || apt_archs+=,$host_arch
	command -v apt-get >/dev/null ||
		die "Debian's packages are fetched with apt; without it give a built kernel tree: --kernel DIR"
	plain=$(archive plain)
	security=$(archive security)
	case $apt_suite in sid | *-backports) security='' ;; esac
	[ -n "$plain" ] || die "apt on this machine has no Debian archive among its sources; give a built kernel tree: --kernel DIR"
	mkdir -p "$state"/{lists/partial,cache/archives/partial,debs}
	: >"$state/status"
}

private_apt_sources() {
	local keyring=/usr/share/keyrings/debian-archive-keyring.gpg by=
	[ ! -r $keyring ] || by="signed-by=$keyring"
	echo "deb [arch=$apt_archs $by] $plain $apt_suite main"
	[ "$1" = plain ] || [ -z "$security" ] || echo "deb [arch=$apt_archs $by] $security $apt_suite-security main"
}

private_apt() {
	(cd "$state/debs" && apt-get -qq \
		-o Dir::State="$state" -o Dir::State::Lists="$state/lists" \
		-o Dir::State::status="$state/status" -o Dir::Cache="$state/cache" \
		-o Dir::Etc::SourceList="$state/sources.list" -o Dir::Etc::SourceParts=/dev/null \
		-o Dir::Etc::Preferences=/dev/null -o Dir::Etc::PreferencesParts=/dev/null \
		-o APT::Architecture="$apt_arch" -o APT::Architectures="$apt_archs" -o APT::Sandbox::User=root \
		-o APT::Update::Error-Mode=any -o Acquire::Languages=none -o Acquire::Retries=2 "$@")
}

# needed_by PACKAGE...: those and all that they need, one a line. (With an empty status apt
# lists all of it.)
needed_by() {
	private_apt -q=1 -s --no-install-recommends install "$@" | awk '/^Inst / { print $2 }' | sort -u
}

# try_downloads WHAT COMMAND: COMMAND downloads, after an update from the archives. A mirror in
# the middle of an update gives mismatching files for a while; the last tries do without the
# security archive, never without the check.
try_downloads() {
	local try what=$1
	shift
	for try in security security security plain plain; do
		private_apt_sources $try >"$state/sources.list"
		if { private_apt update && "$@"; } 2>"$state/log"; then return; fi
		say "downloading $what failed: $(grep -m1 '^E:' "$state/log" || tail -n1 "$state/log")"
		sleep 5
	done
	cat "$state/log" >&2 && die "could not download $what (see above)"
}

# unpack_into DIR: what was downloaded, which is removed.
unpack_into() {
	local deb
	mkdir -p "$1"
	for deb in "$state"/debs/*.deb; do dpkg-deb -x "$deb" "$1"; done
	rm -f "$state"/debs/*
}

# own_libraries DIR PACKAGE: the libraries that this machine's PACKAGE needs, into DIR.
own_libraries() {
	local packages
	packages=$(needed_by "$2" | grep -E '^(lib.*|zlib1g)(:.*)?$')
	[ "$apt_arch" = "$host_arch" ] || packages=$(grep ":$host_arch\$" <<<"$packages")
	# shellcheck disable=SC2086 # one word each
	private_apt download $packages || die "could not download the libraries of $apt_suite"
	unpack_into "$1"
	[ -e "$1/lib64" ] || ln -s usr/lib64 "$1/lib64"
}

# own_loader DIR PROGRAM...: each PROGRAM is started by the loader of DIR then, with its
# libraries, from wherever all that is moved to.
own_loader() {
	local libraries=$1 file up
	shift
	for file; do
		up=$(realpath -m --relative-to="${file%/*}" "$libraries")
		mv "$file" "$file.elf"
		cat >"$file" <<-EOF
			#!/bin/sh
			here=\${0%/*}
			exec "\$here/$up/lib64/ld-linux-x86-64.so.2" --library-path \\
				"\$here/$up/usr/lib/x86_64-linux-gnu:\$here/$up/lib/x86_64-linux-gnu" "\$here/${file##*/}.elf" "\$@"
		EOF
		chmod 755 "$file"
	done
}
