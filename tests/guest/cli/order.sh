# shellcheck shell=dash
# SPDX-License-Identifier: GPL-2.0
# Lines appear within 200 ms, in time order across the CPUs.

# stamped ARGUMENT...: a trace through a pipe to tl-stamp, which judges each line.
stamped() {
	# shellcheck disable=SC2046 # or no word
	{ timeout -s KILL 120 trapline trace $(entry_option "$@") "$@" 2>err; } | tl-stamp >out
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

file_latency() {
	mkfifo lines
	tl-stamp <lines >stamped &
	trace -o lines --entry read_zero -- tl-calls 20 --every 50000
	wait
	say "measured: $(cat stamped)"
	expect_in stamped '^lines 20 late 0 '
}
t "... also through -o FIFO" file_latency

stress_order() {
	trace -b 4M -o events read_zero -- sh -c 'for c in 0 1 2 3; do tl-calls 3000 --cpu $c >/dev/null & done; wait'
	expect_status 0
	expect_sums
	expect_is "recorded" "$(account read_zero recorded)" 12000
	expect_not_in events '\[late\]'
	expect_not_in err 'too late'
	# Columns: task, [cpu], flags, seconds.micros: ...
	awk '
		{ time = $4; sub(/:$/, "", time); cpus[$2]++ }
		time + 0 < last { print "line " NR ": " time " after " last; bad = 1; exit }
		{ last = time + 0 }
		END { for (c = 0; c < 4; c++) if (cpus["[00" c "]"] != 3000) { print "CPU " c ": " cpus["[00" c "]"]; bad = 1 }
			exit bad }' events || fail "time goes back, or lines are missing"
}
t "12000 calls from 4 CPUs are in order, none [late], none lost" stress_order
