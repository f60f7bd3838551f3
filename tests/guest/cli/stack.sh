# shellcheck shell=dash
# SPDX-License-Identifier: GPL-2.0
# --stack: who called, whatever else has its hands on the function's return address.

tracefs=/sys/kernel/tracing
[ -e $tracefs/trace ] || tracefs=/sys/kernel/debug/tracing

# Before 5.15 nobody tells whose a return probe's address on the stack is: an entry that comes
# behind one on the same function, and what is further up, shows no more than that.
told=yes
case $(uname -r) in 5.10.*) told='' ;; esac
probes='read_zero kretprobe:read_zero' events=10
[ -z "$told" ] || probes="kprobe:read_zero $probes" events=15 # whose handler runs last

# What every stack of a read by a system call begins with, and ends in.
read_stack='	vfs_read\+0x[0-9a-f]+ 	((ksys|__[a-z0-9]+_sys)_read\+0x[0-9a-f]+ 	)+.*'
entered='	(entry_SYSCALL_64_after_hwframe|el0t_64_sync|handle_exception)\+0x[0-9a-f]+ $'

# The stacks in FILE, each a line.
stacks() {
	awk '/^[0-9]+$/ { next } /^\t/ { stack = stack $0 " "; next } { if (seen++) print stack; stack = "" } END { print stack }' "$1"
}

# The events of NAME in FILE, with their stacks.
only() { awk -v name=": $1(" '!/^\t/ { on = index($0, name) } on' "$2"; }

# Every event in FILE, N of them, has a whole stack of a read that is the same as the others'.
expect_reads() { # FILE N
	stacks "$1" >stacks
	expect_is "events" "$(wc -l <stacks)" "$2"
	expect_every stacks "^$read_stack$entered"
	expect_not_in stacks 'trampoline|return_to_handler|read_zero|fault|kprobe|rethook'
	expect_is "different stacks" "$(sort -u stacks | wc -l)" 1
}

# The program reads at one place: whichever end is looked at, the same functions have called.
one_kind() { # PROBE
	trace --stack "$1" -- tl-calls 5
	expect_status 0
	expect_sums
	expect_is recorded "$(account read_zero recorded)" 5
	expect_reads out 5
	sort -u stacks >"kind.$(echo "$1" | tr -d :)"
}

three_kinds() {
	needs_returns
	one_kind kprobe:read_zero
	one_kind kretprobe:read_zero
	one_kind read_zero
	expect_is "different stacks of the three" "$(cat kind.* | sort -u | wc -l)" 1
	[ -n "$told" ] || return 0
	trace --stack --begin read_zero -- tl-calls 5
	expect_reads out 10
}
t "stack: the same callers at the entry, at the return and of the call" three_kinds

inside() {
	trace --stack "kprobe:vfs_read+$inside" -- tl-calls 3
	expect_status 0
	expect_sums
	stacks out >stacks
	expect_in stacks "^	(ksys|__[a-z0-9]+_sys)_read\\+$hex "
	expect_not_in stacks 'fault|vfs_read'
}
[ "$machine" != x86_64 ] || t "stack: at an instruction inside of a function" inside

limited() {
	trace --stack=2 read_zero -- tl-calls 3
	expect_status 0
	stacks out >stacks
	expect_is events "$(wc -l <stacks)" 3
	expect_every stacks '^	vfs_read\+0x[0-9a-f]+ 	[a-z0-9_]*sys_read\+0x[0-9a-f]+ 	\.\.\. $'
	trace --stack=0 read_zero -- true
	expect_status 2
	expect_in err "^trapline: --stack: '0' is not a number from 1 to 127"
	trace --stack=128 read_zero -- true
	expect_status 2
	trace --stack= read_zero -- true
	expect_status 2
}
t "stack: N frames at most" limited

rejected() {
	needs_returns
	trace --stack 'read_zero if $retval < 0' 'kprobe:read_zero if $arg3 > 0' -- tl-calls 4
	expect_status 0
	expect_sums
	expect_is filtered "$(account read_zero filtered call)" 4
	expect_reads out 4
}
t "stack: only of what its condition lets pass" rejected

json() {
	needs_returns
	trace --json --stack=1 kretprobe:read_zero -- tl-calls 2
	expect_status 0
	expect_every out '"return":.*"stack":\["vfs_read\+0x[0-9a-f]+"\],"stack_status":"cut"\}$'
	trace --json --stack kprobe:read_zero -- tl-calls 2
	expect_every out '"stack":\["vfs_read\+0x[0-9a-f]+","[^]]*"\]\}$'
}
t "stack: in JSON" json

# ---- others on the same function

beside_own() {
	needs_returns
	trace_background --all read_zero -- sh -c 'touch ready; until [ -e go ]; do sleep 0.05; done'
	until_true test -e ready
	mv out others_out
	# shellcheck disable=SC2086 # one word each
	timeout -s KILL 120 trapline trace --stack $probes -- \
		tl-calls 5 >second_out 2>second_err </dev/null || fail "the second: $(cat second_err)"
	touch go
	ended
	expect_status 0
	expect_reads second_out $events
	expect_sums
}
t "stack: three probes on one function, and another session's" beside_own

# Their probes were there before ours, or came later; the later one's handlers run last.
kprobe_events() { # ORDER
	echo 'r:tl_theirs read_zero' >$tracefs/kprobe_events || fail "no kprobe_events"
	rm -f ready go
	[ "$1" = later ] || echo 1 >$tracefs/events/kprobes/tl_theirs/enable
	# shellcheck disable=SC2086 # one word each
	timeout -s KILL 120 trapline trace --stack $probes -- \
		sh -c "[ $1 = before ] || echo 1 >$tracefs/events/kprobes/tl_theirs/enable; exec tl-calls 5" \
		>out 2>err </dev/null
	echo $? >status
	echo 0 >$tracefs/events/kprobes/tl_theirs/enable
	grep -c tl_theirs: $tracefs/trace >theirs
	echo >$tracefs/kprobe_events
	echo >$tracefs/trace
	expect_status 0
	expect_sums
	expect_reads out $events
	[ "$(cat theirs)" -ge 5 ] || fail "theirs has seen $(cat theirs)"
}

beside_kprobe_events() {
	needs_returns
	kprobe_events before
	kprobe_events later
}
[ ! -e $tracefs/kprobe_events ] || t "stack: beside a return probe of ftrace's, there before or later" beside_kprobe_events

function_graph() { # ORDER
	echo read_zero >$tracefs/set_ftrace_filter
	[ "$1" = later ] || echo function_graph >$tracefs/current_tracer
	# shellcheck disable=SC2086 # one word each
	timeout -s KILL 120 trapline trace --stack $probes -- \
		sh -c "[ $1 = before ] || echo function_graph >$tracefs/current_tracer; exec tl-calls 5" \
		>out 2>err </dev/null
	echo $? >status
	grep -c read_zero $tracefs/trace >theirs
	echo nop >$tracefs/current_tracer
	echo >$tracefs/set_ftrace_filter
	expect_status 0
	expect_sums
	expect_reads out $events
	[ "$(cat theirs)" -ge 5 ] || fail "theirs has seen $(cat theirs)"
}

beside_function_graph() {
	needs_returns
	function_graph before
	function_graph later
}
! grep -qs function_graph $tracefs/available_tracers ||
	t "stack: beside the function graph tracer, there before or later" beside_function_graph

# Return addresses of functions further up are taken too.
further_up() {
	trace --stack read_zero vfs_read -- tl-calls 5
	expect_status 0
	expect_sums
	only read_zero out >reads
	[ -z "$told" ] || { expect_reads reads 5 && return; }
	stacks reads >stacks
	expect_is events "$(wc -l <stacks)" 5
	expect_every stacks '^	vfs_read\+0x[0-9a-f]+ 	\(fault\) $'
}
t "stack: of a function whose caller returns to a return probe" further_up

# ---- a module's functions, and recursion

# Each call of tlstack_again() is below those that it came from.
recursion() {
	modprobe tlstack || fail "no tlstack"
	trace --stack --entry tlstack_again tlstack_last -- sh -c 'echo 3 >/sys/module/tlstack/parameters/again'
	expect_status 0
	expect_sums
	stacks out >stacks
	again='	tlstack_again\+0x[0-9a-f]+ \[tlstack\] ' set='	tlstack_set\+0x[0-9a-f]+ \[tlstack\] 	param_attr_store\+'
	expect_is stacks "$(wc -l <stacks)" 5
	for depth in 0 1 2 3 4; do
		sed -n "$((depth + 1))p" stacks >one
		expect_in one "^($again){$depth}$set"
	done
	expect_not_in stacks fault
	# Calls return the other way round; their own return probes are on the stack.
	[ -n "$told" ] && [ -z "$entries" ] || { rmmod tlstack && return; }
	trace --stack tlstack_again tlstack_last -- sh -c 'echo 3 >/sys/module/tlstack/parameters/again'
	expect_sums
	stacks out >stacks
	expect_is stacks "$(wc -l <stacks)" 5
	for depth in 4 3 2 1 0; do
		sed -n "$((5 - depth))p" stacks >one
		expect_in one "^($again){$depth}$set"
	done
	expect_not_in stacks 'fault|trampoline'
	rmmod tlstack
}
t "stack: of a recursive function, in a module" recursion

# ---- recordings

recorded() {
	needs_returns
	modprobe tlstack || fail "no tlstack"
	trapline record --stack -o rec read_zero kprobe:tlstack_last -- \
		sh -c 'tl-calls 5 && echo 0 >/sys/module/tlstack/parameters/again' >out 2>err || fail "record: $?"
	rmmod tlstack
	expect_sums
	trapline report rec >report 2>err || fail "report: $?"
	only read_zero report >reads
	expect_reads reads 5
	only tlstack_last report >last
	stacks last >stacks
	expect_every stacks '^	tlstack_again\+0x[0-9a-f]+ \[tlstack\] 	tlstack_set\+0x[0-9a-f]+ \[tlstack\] 	param_attr_store\+'
	# Those that appear, and no others: the probes' functions have no size.
	names=$(grep -o '"name":"[^"]*","size"' rec/metadata | sort -u | wc -l)
	callers=$(grep '^	' report | sed 's/+.*//' | sort -u | wc -l)
	expect_is "names in the recording" "$names" "$callers"
	trapline report --csv rec >csv 2>err || fail "report --csv: $?"
	expect_in csv ',call,.*,vfs_read\+0x[0-9a-f]+;[^,]*;[a-zA-Z0-9_]+\+0x[0-9a-f]+,.*,[0-9]+$'
	expect_is "header" "$(head -n 1 csv | tr , '\n' | grep -cx stack)" 1
	trapline report --json rec >json 2>err || fail "report --json: $?"
	expect_in json '"stack":\["vfs_read\+0x'
	trapline report --summary rec >summary 2>err || fail "report --summary: $?"
	expect_in summary '^read_zero +call +5 '
}
t "stack: in a recording, with the names of the functions in it" recorded

recorded_flight() {
	needs_returns
	trapline record --stack --overwrite -b 64K -o rec read_zero -- sh -c 'tl-calls 3000; exit 5' >out 2>err
	expect_is status $? 5
	expect_sums
	trapline report rec >report 2>err || fail "report: $?"
	expect_reads report "$(lines report ': read_zero\(')"
}
t "stack: in a flight recorder's recording" recorded_flight

small() {
	needs_returns
	trapline record --stack --max-size 128K -o rec read_zero -- tl-calls 5000 >out 2>err
	expect_is status $? 0
	[ "$(du -sb rec | cut -f1)" -le $((131072 + 4096)) ] || fail "$(du -sb rec)"
	trapline report rec >report 2>err || fail "report: $?"
	expect_reads report "$(lines report ': read_zero\(')"
}
t "stack: the names are part of --max-size" small
