# shellcheck shell=dash
# SPDX-License-Identifier: GPL-2.0
# Where returns can't be trapped: what can't be done is said, and what entries have there.

refusal_of_returns() {
	entries=''
	local probe
	for probe in vfs_read kretprobe:vfs_read; do
		trace "$probe" -- touch ran
		expect_status 125
		expect_in err "cannot plant $probe: this kernel can't trap the returns of functions that ftrace patches, only entries: kprobe:FUNC"
		[ ! -e ran ] || fail "COMMAND ran"
	done
}
t "a call or a return is refused, and the entry offered" refusal_of_returns

conditions() {
	# All of these reads are of 6969 bytes.
	trace -o events 'kprobe:read_zero if $arg3 == 6969' "kprobe:vfs_read+$inside if $arg3 == 6969" -- tl-calls 50
	expect_status 0
	expect_is "entries" "$(lines events 'read_zero\(.*count=6969')" 50
	expect_is "hits inside" "$(lines events "vfs_read\\+$inside: .*0x1b39")" 50
	expect_sums
	trace -o events 'kprobe:read_zero if $arg3 != 6969' -- tl-calls 50
	expect_empty events
	expect_is "filtered" "$(account read_zero filtered)" 50
}
t "conditions at an entry and at an offset" conditions

inside_ftrace() {
	trace vfs_open+$within -- true
	expect_status 125
	expect_in err "cannot plant vfs_open\\+$within: it lies inside the 8 bytes .* that ftrace patches; \\+$inside is the first place behind them"
}
t "what ftrace patches is never trapped, and the first place behind it is named" inside_ftrace

recordings() {
	trapline record -o rec kprobe:read_zero -- tl-calls 40 >out 2>err || fail "status $?"
	trapline report rec >events 2>told || fail "status $?"
	expect_is "lines" "$(lines events ' tl-calls-')" 40
	trapline report --summary rec >summary || fail "status $?"
	expect_in summary "kernel .* $(uname -m)"
}
t "a recording of entries, and its report" recordings

explained_entry() {
	trapline explain kprobe:vfs_read >out 2>err || fail "status $?"
	expect_in out "vfs_read\\+$entry of 0x"
	expect_in out 'it is put 8 bytes behind the function.s start, where ftrace patches the instructions before'
	expect_in out "^  trap set +\\[$trap_bytes\\]"
	expect_in out '^Technique: a breakpoint \(EBREAK\)'
	expect_in out "\\\$arg1 $arg1  \\\$arg2 $arg2"
	expect_not_in out 'return value'
}
t "explain: an entry behind ftrace's site" explained_entry
