# shellcheck shell=dash
# SPDX-License-Identifier: GPL-2.0
# What trapline explain shows of the running kernel's text, by each technique.

explain() { # ARGUMENT...: into status, out and err
	timeout -s KILL 120 trapline explain "$@" >out 2>err </dev/null
	echo $? >status
}

# The bytes of out's row that begins with REGEX, without marks.
row() { sed -nE "s/^  ($1) *([][ ]([0-9a-f]{2}[][ ]?){5,})\$/\2/p" out | head -n 1 | sed 's/[][]/ /g' | xargs; }

# Explained, and the text is what it was: 16 bytes of it.
explained() {
	explain "$@"
	expect_status 0
	expect_empty err
	expect_is "bytes shown" "$(row before | wc -w)" 16
	[ "$(row before)" != "$(row 'trap set')" ] || fail "the trap changed nothing"
	expect_is "the bytes afterwards" "$(row 'lifted, [0-9]+ ms later')" "$(row before)"
}

# A symbol's address in /proc/kallsyms.
address_of() { awk -v name="$1" '$3 == name { print "0x" $1; exit }' /proc/kallsyms; }
# Where its entry is trapped.
site_of() { printf '0x%x' $(($(address_of "$1") + entry)); }

optimisation=/proc/sys/debug/kprobes-optimization
with_optimisation() { # 0|1 COMMAND...
	local old status
	old=$(cat $optimisation)
	echo "$1" >$optimisation
	shift
	("$@")
	status=$?
	echo "$old" >$optimisation
	return $status
}

ftrace_call() {
	needs_ftrace
	explained vfs_read
	expect_in out '^vfs_read: a call, .* of the function vfs_read in the kernel image$'
	expect_in out "^  at $(site_of vfs_read), vfs_read\\+$entry of 0x"
	expect_in out '^  before +(0f 1f 44 00 00|66 66 66 66 90) ' # as the CPU likes it, before 5.13
	expect_in out '^  trap set +\[e8 ([0-9a-f]{2}[][ ]){4}'
	expect_in out "^  \\+$entry +nop[lw]? .* callq 0xffffffff.* nop"
	expect_in out '^Technique: a call of ftrace \(e8\)'
	# Where the bytes lead is where the disassembler says that they do, and a symbol is there.
	expect_is "the call's target" "$(sed -nE 's/^  It leads to (0x[0-9a-f]+), [a-z].*/\1/p' out)" \
		"$(sed -nE "s/^  \\+$entry .* callq (0x[0-9a-f]+) .*/\\1/p" out)"
	expect_in out 'It leads to .* ftrace_(trampoline|regs_caller|caller)'
	expect_in out '^  \$arg1 %rdi  \$arg2 %rsi  \$arg3 %rdx  \$arg4 %rcx  \$arg5 %r8  \$arg6 %r9$'
	expect_in out "^  (arch_rethook|__kretprobe|kretprobe)_trampoline \\(0xffffffff[0-9a-f]+\\)"
	expect_in out "\\($(address_of "$(sed -nE 's/^  ([a-z_]+_trampoline) \(0x.*/\1/p' out)")\\)"
	expect_in out 'The return value is in %rax'
}
[ "$machine" != x86_64 ] || t "explain: an ftrace site's nop becomes a call and a nop again" ftrace_call

# Without ftrace an entry is like any other instruction.
entry_jump() {
	with_optimisation 1 explained vfs_read
	expect_in out "^  at $(site_of vfs_read), vfs_read\\+0x0 of 0x"
	expect_in out '^  trap set +\[cc\][0-9a-f]{2} '
	expect_in out '^  [0-9]+ ms later +\[e9 '
	expect_in out '^Technique: an optimised jump \(e9\)'
	expect_in out "^  (arch_rethook|__kretprobe|kretprobe)_trampoline \\(0xffffffff[0-9a-f]+\\)"
	expect_in out 'The return value is in %rax'
}
[ "$machine" != x86_64 ] || [ -n "$within" ] || t "explain: an entry's breakpoint becomes a jump without ftrace" entry_jump

# Where entries are trapped by breakpoints, and nobody makes jumps of them.
entry_breakpoint() {
	explained kprobe:vfs_read
	expect_in out "^  at $(site_of vfs_read), vfs_read\\+$entry of 0x"
	expect_in out "^  trap set +\\[$trap_bytes\\]"
	expect_in out '^  \+0x[0-9a-f]+ .* (brk #4|c\.ebreak|ebreak)'
	expect_in out '^Technique: a breakpoint \((BRK 4|EBREAK)\)'
	expect_in out "enters the kernel at [a-z0-9_]+ \\((0xffff[0-9a-f]+)\\)"
	expect_in out 'there is no debug.kprobes-optimization'
	expect_in out "\\\$arg1 $arg1  \\\$arg2 $arg2  \\\$arg3 $arg3  .*\\\$arg8 "
	expect_in out '\$arg9 0\(%sp\)  \$arg10 8\(%sp\)  and so on: \$argN is at 8\*\(N-9\)\(%sp\)$'
	expect_is "the bytes afterwards" "$(row 'lifted, [0-9]+ ms later')" "$(row before)"
}
[ "$machine" = x86_64 ] || t "explain: a breakpoint at the entry" entry_breakpoint

# first_inside FUNCTION: its first instruction behind ftrace's that can be probed; what is none is
# refused.
first_inside() {
	local offset
	for offset in $(seq $((inside)) 40); do
		explain "$1+$offset"
		[ "$(cat status)" != 0 ] || return 0
		expect_status 125
		expect_in err "cannot plant $1\\+[0-9]+: no instruction starts there"
		expect_empty out
	done
	fail "no instruction of $1 can be probed"
}

optimised_jump() {
	with_optimisation 1 first_inside vfs_read || fail "nothing to explain"
	expect_in out '^  trap set +\[cc\][0-9a-f]{2} '
	expect_in out '^  [0-9]+ ms later +\[e9 '
	expect_in out '^ +before +trap set +[0-9]+ ms later +lifted'
	expect_in out '^  \+0x[0-9a-f]+ .* int3 +jmp 0xffffffff'
	expect_in out '^Technique: an optimised jump \(e9\)'
	expect_in out '^  It leads to 0xffffffff[0-9a-f]+, kprobe_optinsn_page(\+0x[0-9a-f]+)? \[__builtin__kprobes\]\.'
	expect_is "the bytes afterwards" "$(row 'lifted, [0-9]+ ms later')" "$(row before)"
	expect_not_in out 'return value'
}
[ "$machine" != x86_64 ] || t "explain: a breakpoint becomes a jump, and the instructions come back" optimised_jump

breakpoint() {
	with_optimisation 0 first_inside vfs_read || fail "nothing to explain"
	expect_in out '^  trap set +\[cc\][0-9a-f]{2} '
	expect_not_in out 'e9|^  [0-9]+ ms later'
	expect_in out '^  \+0x[0-9a-f]+ .* int3 '
	expect_in out '^Technique: a breakpoint \(cc, INT3\)'
	expect_in out "enters the kernel at asm_exc_int3 \\($(address_of asm_exc_int3)\\)"
	expect_in out 'while debug.kprobes-optimization is 0'
	expect_is "the bytes afterwards" "$(row 'lifted, [0-9]+ ms later')" "$(row before)"
}
[ "$machine" != x86_64 ] || t "explain: a breakpoint stays one where jumps are switched off" breakpoint

# It writes to user memory, and where that faults it goes on elsewhere in it.
not_optimised() {
	with_optimisation 1 first_inside filldir64 || fail "nothing to explain"
	expect_in out '^  trap set +\[cc\][0-9a-f]{2} '
	expect_not_in out '^  [0-9]+ ms later'
	expect_in out '^Technique: a breakpoint \(cc, INT3\)'
	expect_in out 'made no jump of it within 2000 ms'
	expect_is "the bytes afterwards" "$(row 'lifted, [0-9]+ ms later')" "$(row before)"
}
[ "$machine" != x86_64 ] || t "explain: a breakpoint that the kernel makes no jump of" not_optimised

entry_alone() {
	explained kprobe:vfs_read
	expect_in out '^kprobe:vfs_read: the entry of the function vfs_read'
	expect_not_in out 'return value'
}
t "explain: an entry" entry_alone

returns_too() {
	needs_returns
	explained kretprobe:vfs_read
	expect_in out '^kretprobe:vfs_read: the return, '
	expect_in out "The return value is in $result"
	explained 'vfs_read if $arg3 > 100 && $retval < 0'
	expect_in out '^The condition is tested by the handler, at the entry as far as it can be, and at the return'
}
t "explain: a return, a condition" returns_too

module_function() {
	explained "$call$function_module:$module_function"
	expect_in out "of the function $module_function in the module $function_module\$"
	expect_in out "^  at $(site_of "$module_function"), $module_function\\+$entry"
	expect_in out "^  trap set +\\[$trap_bytes"
}
t "explain: a function of a module" module_function

# Neither is a trace of the same function disturbed.
shared_site() {
	trace_background read_zero
	tracing
	mkdir other
	(cd other && explain ${call}read_zero && expect_status 0 && expect_in out "^  before +$trap_first" &&
		expect_in out "^Technique: (none to be seen|a call of ftrace|a breakpoint|an optimised jump)" &&
		expect_is "the bytes afterwards" "$(row 'lifted, [0-9]+ ms later')" "$(row before)") || exit 1
	tl-calls 5 >/dev/null
	kill -INT "$tool"
	ended
	expect_status 0
	expect_sums
	[ "$(account read_zero recorded)" -ge 5 ] || fail "the trace missed calls"
}
t "explain: where somebody else's trap is already" shared_site

hidden_addresses() {
	local address old
	address=$(site_of vfs_read)
	old=$(cat /proc/sys/kernel/kptr_restrict)
	echo 2 >/proc/sys/kernel/kptr_restrict
	explain ${call}vfs_read
	echo "$old" >/proc/sys/kernel/kptr_restrict
	expect_status 0
	expect_in out "^  at $address, vfs_read\\+$entry\$"
	expect_in out '/proc/kallsyms hides addresses'
	[ -n "$entries" ] || expect_in out '_trampoline \(its address is hidden\)'
}
t "explain: where addresses are hidden, the session tells" hidden_addresses

# not_explained STATUS REGEX HINT-REGEX ARGUMENT...
not_explained() {
	local status=$1 message=$2 hint=$3
	shift 3
	explain "$@"
	[ "$(cat status)" = "$status" ] || fail "trapline explain $*: status $(cat status), expected $status"
	grep -qE -e "^trapline: .*$message" err || fail "trapline explain $*: the message is not like: $message"
	sed 1d err | grep -qE -e "$hint" || fail "trapline explain $*: no hint like: $hint"
	expect_empty out
	no_probes || exit 1
}

not_to_be_explained() {
	local name
	name=$(blacklisted_function)
	if [ -n "$debugfs" ]; then
		not_explained 125 "'$name'.*blacklisted" 'kprobes/blacklist' "$name"
	else
		not_explained 125 "cannot plant $name: .*blacklisted" '^  ' "$name"
	fi
	[ -z "$within" ] ||
		not_explained 125 "cannot plant vfs_read\\+$within: .*ftrace patches.*; \\+$inside is the first place behind" '^  ' vfs_read+$within
	not_explained 125 "no function vfs_raed" 'did you mean .*vfs_read' vfs_raed
	not_explained 2 "bad probe: .*'!'" '^ +\^$' 'vfs!read'
	not_explained 2 'at the entry there is no .retval' '^ +\^$' 'kprobe:vfs_read if $retval < 0'
	not_explained 2 'no PROBE' 'trapline explain vfs_read'
	not_explained 2 "'vfs_write' is one too many" 'quote' vfs_read vfs_write
	not_explained 2 "'--json'" 'explain --help' --json vfs_read
	trapline explain --help >out 2>err || fail "--help failed"
	expect_in out '^Usage: trapline explain .*PROBE'
}
t "explain: what is refused is named, and a way out" not_to_be_explained

switched_off() {
	needs_debugfs
	echo 0 >/sys/kernel/debug/kprobes/enabled
	explain vfs_read+$inside
	echo 1 >/sys/kernel/debug/kprobes/enabled
	expect_status 125
	expect_in err 'kprobes are switched off'
	expect_empty out
}
t "explain: kprobes that are switched off" switched_off
