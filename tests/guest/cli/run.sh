#!/bin/sh
# SPDX-License-Identifier: GPL-2.0
# The command line's tests, in a guest:
#   qemu/run --smp 4 --share tests/guest/cli -- 'sh $SHARE/run.sh [PATTERN]'
# PATTERN (grep -E) chooses tests by name. TAP lines, then "N passed, N failed".

exec 5>&1 # beyond the tests' own output
here=$(cd "$(dirname "$0")" && pwd)
# shellcheck source=/dev/null
. "$here/lib.sh"
loaded=yes
# Of a kernel that traps no returns, only what is said of that, and what goes without.
parts='forms symbols types errors condition filters expressions texts status limits guard signals output order cpus account record explain list sessions module doctor'
if trapline trace kretprobe:vfs_read -- true 2>&1 | grep -q "can't trap the returns"; then
	parts=entries
fi
for part in $parts; do
	# shellcheck source=/dev/null
	. "$here/$part.sh"
done
summary
