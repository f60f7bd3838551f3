# shellcheck shell=dash
# SPDX-License-Identifier: GPL-2.0
# PROBE if CONDITION: exactly what fulfils it is shown, the rest is counted as filtered.

# shown COUNT ARGUMENT...: so many lines of 30 reads of 100 bytes and 20 of 5000.
shown() {
	local count=$1
	shift
	trace -o events "$@" -- sh -c 'tl-calls 30 --size 100; tl-calls 20 --size 5000'
	expect_status 0
	expect_is "the readers' own counts" "$(tr '\n' ' ' <out)" '30 20 '
	expect_is "lines of '$*'" "$(lines events .)" "$count"
	expect_sums
}

entry_conditions() {
	shown 30 'vfs_read if $arg3 == 100'
	expect_every events "$head_re$(vfs_read_of 100)\$"
	shown 20 'read_zero if $arg3 > 4KiB'
	shown 50 'read_zero if arg3 == 0x64 || arg3 == 5000'
	shown 0 'read_zero if $arg3 == 100 && $arg3 == 5000'
	expect_is "hits" "$(account read_zero hits)" 50
	expect_is "filtered" "$(account read_zero filtered)" 50
	shown 30 'kprobe:read_zero if !($arg3 > 4KiB)'
	shown 30 "kprobe:vfs_read+$inside if $arg3 == 100"
	shown 20 'vfs_read /$arg3 == 5000/'
	shown 20 "vfs_read+0x0 if $arg3 == 5000 && \$arg2 > 0x1000"
}
t "a condition on arguments, in each form" entry_conditions

return_conditions() {
	needs_returns
	shown 30 'read_zero if $retval == 100'
	expect_is "hits" "$(account read_zero hits)" 50
	expect_is "filtered" "$(account read_zero filtered)" 20
	shown 20 'kretprobe:read_zero if $ret > 100'
	shown 20 'read_zero if $retval > 100 && $arg3 != 100'
	shown 50 'read_zero if $retval > 100 || $arg3 == 100'
	shown 50 'read_zero if $retval == $arg3'
	shown 0 'read_zero if $retval < $arg3'
	shown 0 'read_zero if $retval < 0'
}
t "a condition on the return value, and with arguments" return_conditions

# filename_lookup() is an int function: its errors have an upper half of zeros.
errors_only() {
	needs_returns
	local probe errors
	for probe in do_sys_openat2 filename_lookup; do
		trace -o events $probe -- ls -l /etc/passwd /nonexistent
		errors=$(lines events '= -[0-9]+ E[A-Z]+ <')
		if [ "$errors" = 0 ] || [ "$errors" = "$(lines events .)" ]; then
			fail "$probe: $errors errors of $(lines events .) calls prove nothing"
		fi
		expect_in events "$probe.* = -2 ENOENT <"
		cp events all
		trace -o events "$probe if \$retval < 0" -- ls -l /etc/passwd /nonexistent
		expect_is "errors of $probe" "$(lines events .)" "$errors"
		expect_every events '= -[0-9]+ E[A-Z]+ <'
		expect_sums
		trace -o events "$probe if \$retval == -ENOENT" -- ls -l /etc/passwd /nonexistent
		expect_is "ENOENTs of $probe" "$(lines events .)" "$(lines all '= -2 ENOENT')"
		expect_every events '= -2 ENOENT <'
		trace -o events "$probe if !(\$retval < 0)" -- ls -l /etc/passwd /nonexistent
		expect_is "successes of $probe" "$(lines events .)" "$(($(lines all .) - errors))"
		expect_not_in events '= -'
	done
}
t "a condition on errors: of long and of int functions" errors_only

# A struct file is in the half of the addresses that are negative numbers.
pointers() {
	needs_returns
	needs_types
	local errors opener=do_filp_open
	grep -q " $opener\$" /proc/kallsyms || opener=do_file_open # newer kernels'
	trace -o events "$opener()" -- ls -l /etc/passwd /nonexistent
	errors=$(lines events '= -[0-9]+ E[A-Z]+ <')
	expect_in events '= -2 ENOENT <'
	expect_in events '= 0xff[0-9a-f]{14} <'
	trace -o events "$opener() if \$retval < 0" -- ls -l /etc/passwd /nonexistent
	expect_is "errors" "$(lines events .)" "$errors"
	expect_every events '= -[0-9]+ E[A-Z]+ <'
	expect_sums
	trace -o events "$opener() if \$retval > 0" -- ls -l /etc/passwd /nonexistent
	expect_every events '= 0xff[0-9a-f]{14} <'
}
t "a condition on errors in pointers" pointers

durations() {
	needs_returns
	local sleeps='for i in 1 2 3 4 5; do usleep 1000; done; sleep 1.5; usleep 1000'
	trace -o events 'hrtimer_nanosleep if $duration >= 700ms' -- sh -c "$sleeps"
	expect_status 0
	expect_is "long sleeps" "$(lines events .)" 1
	expect_every events 'hrtimer_nanosleep\(.* <1\.[5-9] s>$'
	[ "$(account hrtimer_nanosleep filtered)" -ge 6 ] || fail "the short sleeps were not counted as filtered"
	expect_sums
	trace -o events 'hrtimer_nanosleep if $duration < 700ms' -- sh -c "$sleeps"
	expect_is "short sleeps" "$(lines events .)" 6
	expect_every events 'hrtimer_nanosleep\(.* <[0-9.]+ (us|ms)>$'
	expect_sums
}
t "a condition on the duration" durations

# The entry probe that --begin adds can test only what is known there.
begins() {
	needs_returns
	shown 30 --begin 'read_zero if $arg3 == 100 && $retval < 0'
	expect_every events "$head_re"'read_zero\('"$read_args\)\$"
	expect_is "recorded calls" "$(account read_zero recorded call)" 0
	shown 80 --begin 'read_zero if $retval == 100'
	expect_is "recorded entries" "$(account read_zero recorded entry)" 50
}
t "a condition with --begin" begins

both_at_once() {
	shown 50 'read_zero if $arg3 == 100' 'read_zero if $arg3 == 5000'
	trace --json -o events 'read_zero if $arg3 == 100' -- tl-calls 3 --size 100
	expect_every events '"event":"read_zero"'
}
t "two conditions on one function, which keeps its name" both_at_once

# bad COLUMN MESSAGE HINT PROBE: status 2, and the caret under the right character.
bad() {
	local column=$1
	shift
	refused 2 "bad probe: .*$1" "$2" "$3"
	expect_is "the caret of '$3'" "$(grep -n '^ *^$' err)" "3:$(printf '%*s' $((4 + column)) '')^"
}

bad_conditions() {
	entries='' # of calls
	bad 13 'a value is expected' 'single quotes' "vfs_read if  < 0"
	bad 12 'there is no .retvla' 'did you mean .retval\?' 'vfs_read if $retvla < 0'
	bad 24 '.duration is compared with a time' '10us' 'vfs_read if $duration > 5'
	bad 19 'at the entry there is no .retval' 'trace the call' 'kprobe:vfs_read if $retval < 0'
	bad 22 'sees no entry, so there is no .arg1' 'trace the call' 'kretprobe:vfs_read if $arg1 == 1'
	bad 16 'inside a function' "$arg1" "vfs_read+$inside if \$arg1 == 1"
	bad 32 ".${on_stack#?} isn.t kept" 'at the entry' "vfs_read if \$retval < 0 || 5 == $on_stack"
	bad 24 "'/' is expected" 'if CONDITION' 'vfs_read /$arg1 == 1 && '
	bad 13 "'&' is not expected" 'single quotes' 'vfs_read if  & 3 == 1'
	bad 20 'comm is never that: it has room for 15 bytes' '"systemd-journal"' 'vfs_read if comm == "systemd-journald"'
}
t "a malformed condition: a caret shows where, and a way out" bad_conditions

too_long() {
	local text='vfs_read if $arg1 == 1' i
	for i in $(seq 100); do text="$text || \$arg1 == $i"; done
	refused 2 'the condition is too long' 'several probes' "$text"
}
t "a condition too long for a program" too_long
