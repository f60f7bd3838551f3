# shellcheck shell=dash
# SPDX-License-Identifier: GPL-2.0
# What the tests are made of. Each is a function that runs in a shell and a
# directory of its own; the first `expect` that does not hold ends it.

only=${1:-}
work=$(mktemp -d /tmp/cli.XXXXXX)
chmod 755 "$work"
passed=0
failed=0
skipped=0

debugfs=yes typed=yes
[ -e /sys/kernel/debug/kprobes ] || debugfs=''
[ -e /sys/kernel/btf/vmlinux ] || typed=''

# The kernel's list of kprobes; where there is none, what its instructions differ by since now.
planted() {
	if [ -n "$debugfs" ]; then
		cat /sys/kernel/debug/kprobes/list
	else
		tl-text "$work/text"
	fi
}
planted >/dev/null

# The kernel's, as a regular expression.
# shellcheck disable=SC2034
release=$(uname -r | sed 's/[.+]/[&]/g')

say() { echo "$*"; }

# t NAME FUNCTION: one test, with the module loaded if $loaded says so. No probe may be left behind, whatever became of it, and
# nothing new in the kernel's log that qemu/complaints knows.
t() {
	if [ -n "$only" ] && ! echo "$1" | grep -qE "$only"; then return; fi
	number=$((passed + failed + skipped + 1))
	mkdir "$work/$number"
	[ -z "$loaded" ] || modprobe trapline # one test may have left it unloaded
	rm -f "$work/skipped"
	if (cd "$work/$number" && "$2" && no_probes && clean_log) >"$work/diagnostics" 2>&1; then
		passed=$((passed + 1))
		say "ok $number - $1"
		grep '^measured:' "$work/diagnostics" | sed 's/^/# /'
	elif [ -e "$work/skipped" ]; then
		skipped=$((skipped + 1))
		say "ok $number - $1 # SKIP $(cat "$work/skipped")"
	else
		failed=$((failed + 1))
		say "not ok $number - $1"
		head -n 60 "$work/diagnostics" | cat -v | sed 's/^/# /'
		killall -q -KILL trapline # what it left running would fail the next
	fi
	logged=$(dmesg | wc -l)
	[ -z "$CLI_TIMES" ] || echo "# up $(cut -d' ' -f1 /proc/uptime)"
}

# with_module MODULE FUNCTION [AFTER]: FUNCTION with that module loaded, which it isn't besides;
# AFTER comes before it is removed.
with_module() {
	local status
	modprobe "$1" || return
	("$2")
	status=$?
	${3-}
	rmmod "$1"
	return $status
}

summary() {
	say "$passed passed, $failed failed, $skipped skipped"
	[ "$failed" = 0 ]
	exit
}

# Ends the test, which this kernel can't pass: WHY. tests/guest/skips says which may.
skip() {
	echo "$*" >"$work/skipped"
	exit 1
}
needs_types() { [ -n "$typed" ] || skip "without BTF there are no types"; }
needs_debugfs() { [ -n "$debugfs" ] || skip "this kernel has no debugfs"; }
needs_ftrace() { [ -n "$within" ] || skip "this kernel has no ftrace"; }
needs_returns() { [ -z "$entries" ] || skip "this kernel traps no returns of functions that ftrace patches"; }
needs_libdw() { [ "$reads_dwarf" ] || skip "this tool is made without libdw"; }

# Ends the test, showing the files of its last run.
fail() {
	local file
	say "failed: $*"
	for file in status out err events; do
		[ ! -s $file ] || { say "--- $file" && head -n 12 $file; }
	done
	exit 1
}

# Lifting ends when the tool has: but an unregistered probe may show for a moment.
no_probes() {
	local tries=0
	while planted | grep -q .; do
		tries=$((tries + 1))
		[ $tries -lt 10 ] || { say "probes are left:" && planted && return 1; }
		sleep 0.1
	done
}

# Of the kernel's log, what came since the last test: searching all of it each time takes long.
logged=0
clean_log() {
	dmesg >"$work/log"
	[ "$(wc -l <"$work/log")" -ge "$logged" ] || logged=0
	! tail -n +$((logged + 1)) "$work/log" | grep -E -f /etc/complaints >"$work/complaints" ||
		{ say "the kernel complained:" && cat "$work/complaints" && return 1; }
}

# entry_option ARGUMENT...: what tells trace and record that a FUNC is its entry, where this kernel
# can't trap its return; the arguments may say themselves what it is.
entry_option() {
	case " $* " in *' --entry '* | *' --return '*) ;; *) echo "$entries" ;; esac
}

# What lines have of calls alone: nothing where there are only entries.
returns() { [ -n "$entries" ] || printf %s "$1"; }

# trace ARGUMENT...: into status, out and err. Nothing waits for ever.
trace() {
	# shellcheck disable=SC2046 # or no word
	timeout -s KILL 120 trapline trace $(entry_option "$@") "$@" >out 2>err </dev/null
	echo $? >status
}

# The same in the background; $tool is its process. The files are emptied before it starts:
# what an earlier one said of itself must not be taken for its word.
trace_background() {
	: >out >err
	# shellcheck disable=SC2046
	timeout -s KILL 120 trapline trace $(entry_option "$@") "$@" >out 2>err </dev/null &
	tool=$!
}

# until_true COMMAND...: within ten seconds.
until_true() {
	local tries=0
	until "$@" >/dev/null 2>&1; do
		tries=$((tries + 1))
		[ $tries -lt 200 ] || fail "never happened: $*"
		sleep 0.05
	done
}

tracing() { until_true grep -q 'Ctrl-C ends' err; }

# For COMMAND: it says that it got there, and goes on when it may.
# shellcheck disable=SC2034
wait_for_go='touch ready; until [ -e go ]; do sleep 0.05; done'

ended() { # waits for $tool
	wait "$tool"
	echo $? >status
}

expect_status() {
	[ "$(cat status)" = "$1" ] || fail "status $(cat status), expected $1"
}

expect_is() { # WHAT IS EXPECTED
	[ "$2" = "$3" ] || fail "$1 is '$2', expected '$3'"
}

# expect_in FILE REGEX / expect_not_in FILE REGEX
expect_in() { grep -qE -e "$2" "$1" || fail "$1 has no line like: $2"; }
expect_not_in() { ! grep -qE -e "$2" "$1" || fail "$1 has a line like: $2: $(grep -m1 -E -e "$2" "$1")"; }

expect_every() { # FILE REGEX: and at least one
	[ -s "$1" ] || fail "$1 is empty"
	! grep -qvE -e "$2" "$1" || fail "$1 has a line unlike $2: $(grep -m1 -vE -e "$2" "$1")"
}

expect_empty() { [ ! -s "$1" ] || fail "$1 is not empty"; }

lines() { grep -cE -e "$2" "$1"; } # FILE REGEX

# account PROBE COLUMN [KIND]: a number of the accounting's table in err.
account() {
	awk -v probe="$1" -v column="$2" -v kind="$3" '
		$1 == "probe" && $2 == "kind" { for (i = 1; i <= NF; i++) at[$i] = i; next }
		column in at && $1 == probe && (kind == "" || $2 == kind) { print $(at[column]); exit }' err
}

# Every row of the table adds up; "-" is none.
expect_sums() {
	awk '$1 == "probe" && $2 == "kind" { table = NF; next }
		function adds_up(at,   sum, i) { for (i = at + 1; i <= NF; i++) sum += $i; return $at == sum }
		table && $1 == "total" { rows++; if (!adds_up(2)) { print; bad = 1 }; next }
		table && NF == table && $2 ~ /^(call|entry|return)$/ {
			rows++; if (!adds_up(3)) { print; bad = 1 } }
		END { exit bad || !rows }' err || fail "the accounting does not add up, or is not there"
}

# Offsets in a function that ftrace can trace: of the first instruction behind the entry
# that ftrace patches, of its second byte, of one of ftrace's, and of these themselves, where an
# entry is trapped. An entry with ENDBR is 4 bytes longer. Where there is no ftrace, no offset is
# $within its bytes.
# And the registers of the first, second and third argument and of the result; how an entry is
# trapped; and its trap's bytes, all and the first. And the first digit of O_LARGEFILE.
machine=$(uname -m)
on_stack='$arg9' # the first argument there
largefile=0x8
case $machine in
aarch64)
	inside=0x8 inside_next=0x9 within=0x4 entry=0x0 largefile=0x2
	arg1=%x0 arg2=%x1 arg3=%x2 result=%x0 technique=breakpoint trap_bytes='80 00 20 d4' trap_first=80
	;;
riscv64)
	inside=0x8 inside_next=0x9 within=0x4 entry=0x8
	arg1=%a0 arg2=%a1 arg3=%a2 result=%a0 technique=breakpoint trap_bytes='(02 90|73 00 10 00)' trap_first='(02|73)'
	if ! grep -q ' ftrace_call$' /proc/kallsyms; then
		within='' entry=0x0 inside=0x2 inside_next=0x3
		trapline trace kprobe:vfs_read+2 -- true >/dev/null 2>&1 || inside=0x4 inside_next=0x5
	fi
	;;
*)
	inside=0x5 inside_next=0x6 within=0x2 entry=0x0 on_stack='$arg7'
	arg1=%rdi arg2=%rsi arg3=%rdx result=%rax
	technique=ftrace trap_bytes='e8 ([0-9a-f]{2}[][ ]){4}' trap_first=e8
	if ! grep -q ' kprobe_ftrace_handler$' /proc/kallsyms; then
		technique='(breakpoint|jump)' trap_bytes='(cc[][ ]|e9 ([0-9a-f]{2}[][ ]){4})' trap_first='(cc|e9)'
		within='' entry=0x0 inside=1
		while trapline trace kprobe:vfs_read+$((inside + 1)) -- true >/dev/null 2>&1; do
			inside=$((inside + 1))
		done
		inside_next=$(printf '0x%x' $((inside + 1))) inside=$(printf '0x%x' $inside)
	elif ! trapline trace kprobe:vfs_read+5 -- true >/dev/null 2>&1; then
		inside=0x9 inside_next=0xa within=0x6 entry=0x4
	fi
	# The first instructions there may be of one byte.
	while trapline trace kprobe:vfs_read+$inside_next -- true >/dev/null 2>&1; do
		inside_next=$(printf 0x%x $((inside_next + 1)))
	done
	;;
esac

reads_dwarf=yes
if trapline list --args --vmlinux /dev/null nothing 2>&1 | grep -q 'made without libdw'; then reads_dwarf=''; fi

# --entry where this kernel can't trap the returns of functions that ftrace patches; and what makes
# an entry of a FUNC for explain.
entries='' call=''
if trapline trace kretprobe:vfs_read -- true 2>&1 | grep -q "can't trap the returns"; then
	entries=--entry call=kprobe:
fi
export entries

# A function that the kernel lists as forbidden, and that is the only one of its name.
blacklisted_function() {
	[ "$machine" != x86_64 ] || { echo do_int3 && return; }
	# Without debugfs none is listed; in this one kprobes themselves are.
	[ -e /sys/kernel/debug/kprobes/blacklist ] || { echo kprobe_breakpoint_handler && return; }
	awk '{ print $2 }' /sys/kernel/debug/kprobes/blacklist | while read -r one; do
		[ "$(grep -c " [tT] $one\$" /proc/kallsyms)" != 1 ] || { echo "$one" && break; }
	done
}

# A line's beginning, up to the event's name.
head_re='^ *[^ ].*-[0-9]+ +\[[0-9]{3}\] [dDb.][N.][hsHzZ.][0-9a-f.] +[0-9]+\.[0-9]{6}: '
hex='0x[0-9a-f]+'
# The parameters of vfs_read() and read_zero(), which call the last one differently.
read_args="file=$hex, buf=$hex, count=[0-9]+, [a-z]+=$hex"
# A number as it is shown, and a call of vfs_read() that asks for and gets so much, or its entry
# where there are only entries: without types they are words.
num() { if [ -n "$typed" ]; then echo "$1"; else printf '0x%x' "$1"; fi; }
vfs_read_of() { # COUNT
	if [ -n "$typed" ]; then
		echo "vfs_read\\(file=$hex, buf=$hex, count=$1, pos=$hex\\)$(returns " = $1 $took")"
	else
		echo "vfs_read\\($hex, $hex, $(num "$1")(, $hex){3}\\)$(returns " = $(num "$1") $took")"
	fi
}
# What tl-calls reads, as a result of read_zero(). Not every kernel's BTF knows that: then its
# words are shown as they are. And its parameters in expressions.
read_size=6969 zero_typed=yes zero_file=file zero_count=count
if trapline trace kprobe:read_zero -- true 2>&1 | grep -q 'no types, arguments are raw, of read_zero'; then
	read_args="($read_args|$hex(, $hex){5})" read_size=0x1b39 zero_typed=''
	zero_file='((struct file *)$arg1)' zero_count='$arg3'
fi
took='<([0-9]+ ns|[0-9]+\.[0-9] (us|ms|s))>'

# A module's function that can be called, and the module.
module_function=p9_client_open function_module=9pnet
if [ ! -e /sys/module/9pnet/initstate ]; then
	module_function=tlbuggy_read function_module=tlbuggy
	modprobe tlbuggy
fi
