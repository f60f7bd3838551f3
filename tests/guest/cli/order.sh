# shellcheck shell=dash
# SPDX-License-Identifier: GPL-2.0
# Lines appear within 200 ms, in time order across the CPUs.

# idle_latency PROBE-ARGUMENTS...: through a pipe, with an event now and then.
stamped() {
	{ timeout -s KILL 40 trapline trace "$@" 2>err; } | tl-stamp >out
	echo $? >status
	say "measured: $(cat out)"
	expect_status 0
}

idle_latency() {
	stamped --entry read_zero -- sh -c 'tl-calls 40 --every 50000 >/dev/null'
	expect_in out '^lines 40 late 0 '
}
t "a line comes within 200 ms, through a pipe, in an idle guest" idle_latency

# At a moderate rate from all CPUs: 4 x 200 calls a second.
busy_latency() {
	stamped read_zero -- sh -c 'for c in 0 1 2 3; do tl-calls 500 --cpu $c --every 5000 >/dev/null & done; wait'
	expect_in out '^lines 2000 late 0 .* disorder 0 marked 0 '
	expect_not_in err 'too late'
}
t "... and with calls from 4 CPUs at once, in order" busy_latency

# Whoever reads a file while it grows waits no longer.
file_latency() {
	mkfifo events
	tl-stamp <events >out &
	trace -o events --json --entry read_zero -- true
	expect_status 0
	wait
	mkfifo lines
	tl-stamp <lines >stamped &
	trace -o lines --entry read_zero -- tl-calls 20 --every 50000
	wait
	say "measured: $(cat stamped)"
	expect_in stamped '^lines 20 late 0 '
}
t "... also through -o FIFO" file_latency

stress_order() {
	trace -b 4M -o events read_zero -- sh -c 'for c in 0 1 2 3; do tl-calls 5000 --cpu $c >/dev/null & done; wait'
	expect_status 0
	expect_sums
	expect_is "recorded" "$(account read_zero recorded)" 20000
	expect_is "lines" "$(lines events .)" 20000
	expect_not_in events '\[late\]'
	expect_not_in err 'too late'
	for cpu in 0 1 2 3; do
		expect_is "lines of CPU $cpu" "$(lines events "\\[00$cpu\\]")" 5000
	done
	sed -E 's/.*\] [^ ]+ +([0-9]+)\.([0-9]{6}): .*/\1\2/' events >times
	awk '$1 < last { print "line " NR ": " $1 " after " last; exit 1 } { last = $1 }' times || fail "time goes back"
}
t "20000 calls from 4 CPUs are in order, none [late], none lost" stress_order
