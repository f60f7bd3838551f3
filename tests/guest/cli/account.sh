# shellcheck shell=dash
# SPDX-License-Identifier: GPL-2.0
# The accounting at the end.

blocked_reader() {
	mkfifo pipe
	# Opens at once, reads late: what is not shown meanwhile must be kept or counted.
	(exec 4<pipe; sleep 3; cat <&4 >lines) &
	timeout -s KILL 120 trapline trace --no-guard $entries -b 64K read_zero >pipe 2>err -- sh -c 'tl-calls 100000 >&2'
	echo $? >status
	wait
	expect_status 0
	expect_in err '^100000$'
	expect_is "hits" "$(account read_zero hits)" 100000
	expect_sums
	expect_is "lines" "$(lines lines .)" "$(account read_zero recorded)"
	say "measured: of 100000 calls $(account read_zero dropped) dropped"
	if [ "$(account read_zero dropped)" -gt 0 ]; then expect_in err 'warning: .*lost'; fi
}
t "a burst of 100000 with a reader that sleeps, 64K: every hit is accounted for" blocked_reader

# What it advises must be an option.
advice() {
	local option
	trapline trace --help >help
	cp "$work/losses" err || fail "the test of losses did not come so far"
	expect_in err 'dropped: .*ring full'
	for option in $(grep -oE -e '--[a-z-]+' err | sort -u); do
		grep -qE -e "(^|[ /,])$option" help || fail "it advises $option, which is no option"
	done
}
t "the advice about losses names a real option" advice

# What reads from a FIFO; newer kernels tell it from an anonymous pipe.
pipe_read=pipe_read
! grep -q ' fifo_pipe_read$' /proc/kallsyms || pipe_read=fifo_pipe_read

maxactive() {
	needs_returns
	mkfifo fifo
	exec 3<>fifo
	trace_background --maxactive 1 -d 20 -o events $pipe_read -- sh -c 'for i in 1 2 3 4; do cat fifo & done; touch ready; wait'
	until_true [ -e ready ]
	sleep 1
	kill -TERM $tool # to COMMAND's shell
	ended
	expect_status 143
	expect_sums
	expect_in err "^$pipe_read: at least [0-9]+ missed: .*maxactive=1 .*--maxactive"
	expect_in err 'warning'
	for _ in 1 2 3 4; do echo x >&3; done
	killall_here
}
# The cats of this test's fifo.
killall_here() {
	local pid
	for pid in /proc/[0-9]*; do
		[ "$(readlink "$pid/cwd")" != "$PWD" ] || [ "$(cat "$pid/comm")" != cat ] || kill "${pid#/proc/}"
	done 2>/dev/null
	true
}
t "more calls inside than --maxactive are shown as missed" maxactive

never_returns() {
	needs_returns
	mkfifo fifo
	exec 3<>fifo
	# Long after the trace is over, also on a busy machine.
	(sleep 25; echo >fifo) &
	trace --begin -d 4 -o events $pipe_read -- sh -c 'echo $$ >pid; exec dd if=fifo bs=1 count=1'
	expect_status 0
	expect_is "lines" "$(lines events .)" 1
	local args="iocb=$hex, to=$hex"
	[ -n "$typed" ] || args="$hex(, $hex){5}"
	expect_every events " dd-$(cat pid) .*: $pipe_read\\($args\\)\$"
	expect_is "inside" "$(account $pipe_read inside call)" 1
	expect_in err "^$pipe_read: 1 call still inside"
	expect_in err "^ +$pipe_read +dd-$(cat pid) +entered ([1-9][0-9]*\\.[0-9] s|[0-9.]+ ms) ago"
	expect_sums
}
t "--begin shows the entry of a call that never returns; it is listed with tid and age" never_returns

begin_pairs() {
	needs_returns
	trace --begin -o events read_zero -- tl-calls 4
	expect_is "lines" "$(lines events .)" 8
	expect_is "entries" "$(lines events "read_zero\\($read_args\\)\$")" 4
	expect_is "order" "$(sed -E 's/.*\)( = .*)?$/\1/; s/ = .*/r/; s/^$/e/' events | tr -d '\n')" erererer
	expect_sums
}
t "--begin shows both ends of the others" begin_pairs
