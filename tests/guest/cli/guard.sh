# shellcheck shell=dash
# SPDX-License-Identifier: GPL-2.0
# The guard: what takes too much of a CPU is stopped and lifted, unless --no-guard lets it.

burst='exec timeout 30 tl-calls 1000000000 --size 1 --cpu 0'

guard_trips() {
	trace -b 4M read_zero vfs_read 'kprobe:vfs_read if $arg3 == 1' -- sh -c "$burst"
	expect_status 125
	expect_in err '^trapline: the guard has ended it: probes took [0-9]+ % of CPU 0, and 25 are the most'
	expect_in err '^  .*--no-guard'
	expect_in err 'goes on, untraced'
	expect_not_in err 'its trap was gone'
	killall tl-calls
	no_probes || exit 1
	[ -s out ] || fail "nothing was shown"
}
t "guard: a burst is stopped, its probes lifted, and the status is 125" guard_trips

guard_trips_record() {
	for overwrite in '' --overwrite; do
		rm -rf rec
		# shellcheck disable=SC2086 # none or one word
		timeout -s KILL 120 trapline record $entries $overwrite -o rec read_zero vfs_read 'kprobe:vfs_read if $arg3 == 1' -- \
			sh -c "$burst" >out 2>err </dev/null
		expect_is status $? 125
		expect_in err '^trapline: the guard has ended it'
		expect_in rec/metadata '"ended_by": ?"the guard"'
		trapline report rec >report 2>/dev/null
		[ -s report ] || fail "the recording is empty"
		killall tl-calls
	done
}
t "guard: a recording is kept, up to there" guard_trips_record

guard_quiet() {
	trace read_zero -- tl-calls 400 --every 5000
	expect_status 0
	expect_is recorded "$(account read_zero recorded)" 400
	expect_not_in err guard
}
t "guard: a usual load is left alone" guard_quiet

guard_off() {
	trace --no-guard -d 4 -o /dev/null read_zero vfs_read 'kprobe:vfs_read if $arg3 == 1' -- \
		timeout 6 tl-calls 1000000000 --size 1 --cpu 0
	expect_not_in err guard
	[ "$(cat status)" != 125 ] || fail "status 125"
}
t "guard: --no-guard goes on at any cost" guard_off
