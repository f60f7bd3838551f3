#!/bin/sh
# SPDX-License-Identifier: GPL-2.0
# A kernel at a random address, with a vmlinux for it beside this: see moved_kernel in tests/guest/all

exec 5>&1 # beyond the tests' own output
here=$(cd "$(dirname "$0")" && pwd)
# shellcheck source=/dev/null
. "$here/lib.sh"
loaded=yes # for lib.sh

address_of() { awk -v name="$1" '$3 == name { print $1; exit }' /proc/kallsyms; }

moved() {
	linked=ffffffff81000000
	say "measured: _text is at $(address_of _text), linked at $linked"
	[ "$(address_of _text)" != $linked ] || fail "the kernel is where it was linked"
}
t "KASLR: the kernel is somewhere else" moved

calls() {
	trace read_zero -- tl-calls 5
	expect_status 0
	expect_is "recorded" "$(account read_zero recorded)" 5
	trapline explain read_zero >explained || fail "explain"
	# Behind its ENDBR, if it has one.
	begin=$((0x$(address_of read_zero)))
	expect_in explained "$(printf '0x(%x|%x)' $begin $((begin + 4)))"
	trapline list read_zero >listed || fail "list"
	expect_in listed "0x$(address_of read_zero)"
}
t "KASLR: a function is found and shown where it is" calls

carried() {
	timeout -s KILL 120 trapline record -o here read_zero -- tl-calls 3 >/dev/null 2>err || fail "record"
	trapline report here >out 2>/dev/null || fail "report"
	expect_is "lines" "$(wc -l <out)" 3
	expect_in here/metadata "$(address_of read_zero)"
}
t "KASLR: a recording has its addresses" carried

# Of debug information that says where the kernel would be if it hadn't moved.
described() {
	trace --vmlinux "$here/vmlinux" -o events 'read_zero(count, ppos)' -- tl-calls 5
	expect_status 0
	expect_is "calls with types" "$(lines events 'read_zero\(count=6969, ppos='"$hex")" 5
	for place in mem.c:701 read_zero@drivers/char/mem.c; do
		trace --vmlinux "$here/vmlinux" -o events "$place" -- tl-calls 5
		expect_status 0
		expect_is "hits of $place" "$(lines events " $place")" 5
	done
}
t "KASLR: types and lines of a vmlinux with debug information" described
summary
