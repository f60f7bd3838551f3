#!/bin/sh
# SPDX-License-Identifier: GPL-2.0
# A kernel that is locked down with the module in it, as one that was signed would be:
# qemu/run --share tests/guest/cli -- 'sh $SHARE/lockdown.sh'

exec 5>&1 # beyond the tests' own output
here=$(cd "$(dirname "$0")" && pwd)
# shellcheck source=/dev/null
. "$here/lib.sh"
loaded=yes # for lib.sh
mount -t securityfs securityfs /sys/kernel/security
lock() { echo "$1" >/sys/kernel/security/lockdown || fail "the kernel can't be locked"; }

integrity() {
	lock integrity
	trace read_zero -- tl-calls 5
	expect_status 0
	expect_is "recorded" "$(account read_zero recorded)" 5
}
t "lockdown: in mode integrity calls are traced" integrity

# A session that has begun goes on; no other can begin.
confidentiality() {
	trapline trace -o held read_zero -- sh -c "$wait_for_go; tl-calls 3" 2>held.err &
	holder=$!
	until_true test -e ready
	lock confidentiality
	trace read_zero -- touch ran
	expect_status 125
	[ ! -e ran ] || fail "COMMAND ran"
	expect_in err 'lockdown'
	expect_in err '^  boot with lockdown=integrity'
	touch go
	wait $holder || fail "the session that had begun: status $?"
	expect_is "lines" "$(lines held ' tl-calls-')" 3
}
t "lockdown: in mode confidentiality no session begins, and those that have go on" confidentiality
summary
