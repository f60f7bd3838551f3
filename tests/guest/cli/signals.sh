# shellcheck shell=dash
# SPDX-License-Identifier: GPL-2.0
# How a trace ends: signals, time, the traced process.

terminal_interrupt() {
	timeout -s KILL 120 tl-pty --at started ^C sh -c 'trap : INT
		trapline trace $entries vfs_read -- sh -c "sleep 60 & echo \$! >sleeper; echo started; wait"
		echo "status $?"' >out
	expect_in out 'status 130'
	expect_in out '^vfs_read +(call|entry) +[0-9]+'
	until_true sh -c '! kill -0 $(cat sleeper) 2>/dev/null'
}
t "Ctrl-C on a terminal ends COMMAND and the trace, with the accounting: 130" terminal_interrupt

group_interrupt() {
	(
		until_true [ -s leader ]
		until_true sh -c '[ "$(pgrep_sleep "$(cat leader)")" ]'
		kill -INT -"$(cat leader)"
	) &
	# In the foreground: background jobs ignore SIGINT, and so would COMMAND.
	timeout -s KILL 120 setsid sh -c 'echo $$ >leader; trap : INT; trapline trace $entries vfs_read -- sleep 60; echo $? >status' >out 2>err
	expect_status 130
	expect_sums
	[ -z "$(pgrep_sleep "$(cat leader)")" ] || fail "sleep goes on"
}
# The `sleep 60` in a process group, once COMMAND is it.
cat >"$work/pgrep_sleep" <<'END'
#!/bin/sh
for stat in /proc/[0-9]*/stat; do
	read -r pid comm state parent group rest <"$stat" || continue
	[ "$comm $group" != "(sleep) $1" ] || echo "$pid"
done 2>/dev/null
END
chmod 755 "$work/pgrep_sleep"
PATH=$PATH:$work
t "SIGINT to the process group ends both: 130" group_interrupt

# Two that come before the tool gets to run are one signal to it: so there is a third.
stubborn() {
	timeout -s KILL 120 tl-pty --at started ^C --at again ^C --at again ^C sh -c 'trap : INT
		trapline trace $entries vfs_read -- sh -c "trap \"echo again\" INT; echo \$\$ >stubborn; echo started; while :; do sleep 1; done"
		echo "status $?"' >out
	expect_in out 'status 130'
	expect_in out '^vfs_read +(call|entry)'
	kill -9 "$(cat stubborn)" 2>/dev/null
	true
}
t "a second Ctrl-C ends the trace of a COMMAND that ignores the first" stubborn

terminated() {
	trace_background vfs_read -- sh -c 'trap "echo got it; exit 42" TERM; echo ready; while :; do usleep 50000; done'
	until_true grep -q ready out
	kill -TERM $tool
	ended
	expect_status 42
	expect_in out 'got it'
	expect_sums
}
t "SIGTERM to the tool alone is handed to COMMAND" terminated

interrupted() {
	local signal
	for signal in INT TERM; do
		trace_background read_zero
		tracing
		tl-calls 5 >/dev/null
		kill -$signal $tool
		ended
		expect_status 0
		expect_is "lines" "$(lines out 'tl-calls-.*: read_zero\(')" 5
		expect_sums
	done
}
t "without COMMAND a signal ends the trace: 0 and the accounting" interrupted

duration() {
	local begin end
	begin=$(cut -d. -f1 /proc/uptime)
	trace -d 1.5 read_zero
	end=$(cut -d. -f1 /proc/uptime)
	expect_status 0
	expect_sums
	[ $((end - begin)) -ge 1 ] && [ $((end - begin)) -le 30 ] || fail "it took $((end - begin)) s"
	# What COMMAND does after its time is not traced; its status counts.
	trace -d 2 -o events read_zero -- sh -c 'tl-calls 5; sleep 4; tl-calls 7; exit 6'
	expect_status 6
	expect_is "lines" "$(lines events .)" 5
}
t "-d ends after so many seconds" duration

process_ends() {
	local one two
	sh -c 'until [ -e go ]; do usleep 50000; done; tl-calls 8; tl-calls 9; touch one' >/dev/null &
	one=$!
	sh -c 'until [ -e one ]; do usleep 50000; done; sleep 0.5; tl-calls 10' >/dev/null &
	two=$!
	trace_background -p $one,$two read_zero
	tracing
	tl-calls 30 >/dev/null
	touch go
	ended
	expect_status 0
	expect_is "lines" "$(lines out ': read_zero\(')" 27
	expect_is "recorded" "$(account read_zero recorded)" 27
	expect_is "filtered" "$(account read_zero filtered)" 30
	expect_sums
}
t "-p PID,PID: these and their children only; ends when both have ended" process_ends

stalled_reader() {
	# Its reader sleeps; the pipe is soon full.
	{ trapline trace kprobe:vfs_write -d 2 2>err & echo $! >tool; wait $!; echo $? >status; } </dev/null | sleep 30 &
	until_true grep -q 'Ctrl-C ends' err
	dd if=/dev/zero of=/dev/null bs=1 count=20000 2>/dev/null
	# After its two seconds nothing is planted any more, whoever reads or doesn't.
	until_true no_traps
	kill -0 "$(cat tool)" || fail "ended already: the reader did not stall it"
	kill -TERM "$(cat tool)"
	until_true [ -s status ]
	expect_status 0
	expect_in err 'events were not shown'
	expect_sums
	kill "$!" 2>/dev/null
	true
}
no_traps() { ! planted | grep -q .; }
t "a reader that stalls delays neither the end nor a signal" stalled_reader

fifo_nobody_opens() {
	mkfifo fifo
	timeout -s KILL 120 trapline trace $entries vfs_read -o fifo 2>err </dev/null &
	tool=$!
	sleep 1
	kill -TERM $tool
	until_true sh -c '! kill -0 '$tool
	no_probes
}
t "a trace into a FIFO that nobody opens can be ended" fifo_nobody_opens

switched_off() {
	needs_debugfs
	echo 0 >/proc/sys/kernel/ftrace_enabled
	trace kprobe:vfs_read+$inside -- touch ran
	echo 1 >/proc/sys/kernel/ftrace_enabled
	expect_status 125
	expect_in err 'ftrace_enabled'
	[ ! -e ran ] || fail "COMMAND ran"
	echo 0 >/sys/kernel/debug/kprobes/enabled
	trace -d 1 vfs_read
	echo 1 >/sys/kernel/debug/kprobes/enabled
	expect_status 125
	expect_in err 'kprobes/enabled'
}
t "kprobes that are switched off are told of, not traced silently" switched_off

switched_off_later() {
	needs_debugfs
	trace --strict read_zero -- sh -c 'tl-calls 3; echo 0 >/sys/kernel/debug/kprobes/enabled; tl-calls 3'
	echo 1 >/sys/kernel/debug/kprobes/enabled
	expect_status 3
	expect_in err 'read_zero: its trap was gone at the end'
}
t "traps that went away during the trace are told of, and a loss" switched_off_later

hundred_writes() {
	{ trapline trace $entries vfs_write 2>err; echo $? >status; } </dev/null | head -100 >out &
	until_true grep -q 'Ctrl-C ends' err
	dd if=/dev/zero of=written bs=1 count=300 2>/dev/null
	until_true [ -s status ]
	expect_status 141
	expect_is lines "$(lines out ': vfs_write\(')" 100
	expect_not_in out 'trapline-'
	no_probes
}
t "trace vfs_write | head -100 ends, and shows none of its own writes" hundred_writes
