# SPDX-License-Identifier: GPL-2.0
# shellcheck shell=bash
# Shared by the host scripts of qemu/: error messages and where things are.
# Sourced, never run; it changes nothing but PATH.

me=${0##*/}
top=$(cd "$(dirname "${BASH_SOURCE[0]}")/.." && pwd)
cache=${TRAPLINE_CACHE:-${XDG_CACHE_HOME:-$HOME/.cache}/trapline}
readonly me top cache
# Debian's users have no depmod, modprobe otherwise.
PATH=$PATH:/usr/sbin:/sbin

say() { printf '%s: %s\n' "$me" "$*" >&2; }
die() { say "$@"; exit "${die_status:-1}"; }

# config_get FILE OPTION prints y, m, a number, or nothing when it is not set.
config_get() { sed -n "s/^CONFIG_$2=//p" "$1"; }

# Prints the address of the main (plain) or security archive apt already uses.
# Origin is known once apt has its lists; before that only the address is.
# shellcheck disable=SC2016 # the format is for apt
archive() {
	apt-get indextargets --format '$(REPO_URI)|$(ORIGIN)|$(RELEASE)' 'Created-By: Packages' |
		awk -F'|' -v want="$1" '
		$2 != "Debian" && !($2 == "" && $1 ~ /debian/) { next }
		(($3 ~ /-security|\/updates/) ? "security" : "plain") == want && !found++ { print $1 }'
}
