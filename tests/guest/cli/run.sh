#!/bin/sh
# SPDX-License-Identifier: GPL-2.0
# The command line's tests, in a guest:
#   qemu/run --smp 4 --share tests/guest/cli -- 'sh $SHARE/run.sh [PATTERN]'
# PATTERN (grep -E) chooses tests by name, $PARTS their files. TAP lines, then "N passed, N failed".

exec 5>&1 # beyond the tests' own output
here=$(cd "$(dirname "$0")" && pwd)
# shellcheck source=/dev/null
. "$here/lib.sh"
loaded=yes
parts=${PARTS:-'forms symbols types errors condition filters expressions fixture stack texts status limits guard signals output order cpus account record explain list sessions module doctor'}
[ -z "$entries" ] || parts="$parts entries"
for part in $parts; do
	# shellcheck source=/dev/null
	. "$here/$part.sh"
done
summary
