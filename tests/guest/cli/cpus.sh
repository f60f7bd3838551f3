# shellcheck shell=dash
# SPDX-License-Identifier: GPL-2.0
# CPUs that go offline and come back, and such as are possible and never there.

offline() { echo 0 >"/sys/devices/system/cpu/cpu$1/online" || fail "CPU $1 can't go offline"; }
online() { echo 1 >"/sys/devices/system/cpu/cpu$1/online" || fail "CPU $1 can't come back"; }
# The last CPU of this guest; a script's descendants have it too.
last=$(($(grep -c '^processor' /proc/cpuinfo) - 1))
export last

# per_cpu FILE: the events of each CPU, as "CPU COUNT" lines.
per_cpu() { awk '{ count[$2]++ } END { for (cpu in count) print substr(cpu, 2, 3) + 0, count[cpu] }' "$1" | sort -n; }

goes_offline() {
	# shellcheck disable=SC2016 # for COMMAND's shell
	trace -b 4M -o events read_zero -- sh -e -c '
		tl-calls 300 --cpu $last >/dev/null
		tl-calls 4000 --cpu 0 --every 200 >/dev/null &
		for i in 1 2 3; do
			echo 0 >/sys/devices/system/cpu/cpu$last/online
			! tl-calls 1 --cpu $last >/dev/null 2>&1
			echo 1 >/sys/devices/system/cpu/cpu$last/online
			tl-calls 300 --cpu $last >/dev/null
		done
		wait'
	expect_status 0
	expect_sums
	expect_is "recorded" "$(account read_zero recorded)" 5200
	expect_is "dropped" "$(account read_zero dropped)" 0
	expect_is "events a CPU" "$(per_cpu events | tr '\n' ' ')" "0 4000 $last 1200 "
	expect_not_in events '\[late\]'
	awk '{ time = $4; sub(/:$/, "", time); if (time + 0 < last) exit 1; last = time + 0 }' events ||
		fail "time goes back"
}
t "CPUs: one goes offline and comes back, three times: nothing is lost" goes_offline

comes_later() {
	offline "$last"
	# shellcheck disable=SC2016
	trace -o events read_zero -- sh -e -c '
		tl-calls 10 --cpu 0 >/dev/null
		echo 1 >/sys/devices/system/cpu/cpu$last/online
		tl-calls 20 --cpu $last >/dev/null'
	online "$last"
	expect_status 0
	expect_sums
	expect_is "events a CPU" "$(per_cpu events | tr '\n' ' ')" "0 10 $last 20 "
}
t "CPUs: one that was offline at the start comes and is traced" comes_later

# What it wrote is there when it has gone; also what was being called when it went.
recorded_and_gone() {
	# shellcheck disable=SC2016
	timeout -s KILL 120 trapline record $entries --overwrite -o flight read_zero -- sh -c '
		tl-calls 50 --cpu $last >/dev/null
		echo 0 >/sys/devices/system/cpu/cpu$last/online
		tl-calls 30 --cpu 0 >/dev/null
		exit 5' >out 2>err </dev/null
	echo $? >status
	online "$last"
	expect_status 5
	trapline report flight >events 2>told || fail "report: $(cat told)"
	expect_is "events a CPU" "$(per_cpu events | tr '\n' ' ')" "0 30 $last 50 "
	expect_not_in told '^trapline:'
}
t "CPUs: the flight recorder has the events of one that has gone offline" recorded_and_gone

ends_offline() {
	trace_background read_zero
	tracing
	tl-calls 20 --cpu "$last" >/dev/null
	offline "$last"
	tl-calls 10 --cpu 0 >/dev/null
	kill -INT "$tool"
	ended
	online "$last"
	expect_status 0
	expect_sums
	expect_is "lines" "$(lines out 'tl-calls')" 30
	trapline explain ${call}read_zero >explained || fail "explain afterwards"
	trace read_zero -- tl-calls 3 --cpu "$last"
	expect_is "recorded" "$(account read_zero recorded)" 3
}
t "CPUs: a trace that ends while one is offline; the next has it" ends_offline

# Which there are: qemu/run --smp 2,maxcpus=6, and POSSIBLE=6.
never_there() {
	[ "$POSSIBLE" ] || skip "all possible CPUs are there"
	possible=$(cat /sys/devices/system/cpu/possible)
	expect_is "what is possible" "$possible" "0-$((POSSIBLE - 1))"
	say "measured: possible $possible, present $(cat /sys/devices/system/cpu/present)"
	trace -b 64K read_zero -- tl-calls 100 --cpu "$last"
	expect_status 0
	expect_is "recorded" "$(account read_zero recorded)" 100
	timeout -s KILL 120 trapline record $entries --overwrite -o all read_zero -- sh -c 'tl-calls 7 >/dev/null; exit 5' 2>err
	trapline report all >out || fail "report"
	expect_is "lines" "$(wc -l <out)" 7
	trapline status >out || fail "status"
}
t "CPUs: such as are possible and never there do no harm" never_there
