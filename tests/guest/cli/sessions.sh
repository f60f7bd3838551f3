# shellcheck shell=dash
# SPDX-License-Identifier: GPL-2.0
# `trapline status`: sessions that are known exactly, shown while they last.

show_status() { # into status, shown and shown_err: out and err are a running trace's
	timeout -s KILL 120 trapline status "$@" >shown 2>shown_err </dev/null
	echo $? >status
}

no_session() {
	show_status
	expect_status 0
	expect_empty shown_err
	expect_is output "$(cat shown)" "no session: nothing is being traced"
	rmmod trapline || fail "rmmod does not work"
	show_status
	expect_status 0
	expect_empty shown_err
	expect_is output "$(cat shown)" "the trapline module is not loaded: nothing is being traced"
	su nobody -c 'trapline status' >out 2>err </dev/null || fail "status $?, an ordinary user"
	expect_in out '^the trapline module is not loaded'
	! grep -q '^trapline ' /proc/modules || fail "it loaded the module"
	modprobe trapline
}
t "status: no session; no module, and it isn't loaded for it" no_session

one_session() {
	rm -f ready go
	trace_background read_zero vfs_read+$inside -- sh -c "tl-calls 500; $wait_for_go"
	until_true test -e ready
	show_status
	touch go
	ended
	[ "$(cat status)" = 0 ] || fail "trace: status $(cat status)"
	expect_in shown '^[1-9][0-9]* +trapline-[0-9]+ +0 +trapline-[0-9]+ +started +stream +1M +2 +[0-9]+ +0 +-$'
	expect_is "opener and holder" "$(awk 'NR == 2 { print $2 == $4 }' shown)" 1
	expect_in shown "^[0-9]+ +read_zero +(call|entry) +$technique +500 +500 +0 +0 +(0|-) +0\$"
	expect_in shown "^[0-9]+ +vfs_read\\+$inside +entry +(breakpoint|jump) "
	expect_is "lines" "$(wc -l <shown)" 6
	show_status
	expect_in shown '^no session'
}
t "status: a session, its probes' techniques and exact counts, and none after it" one_session

two_sessions() {
	rm -f ready go
	# Stopped, so that its ring must overflow, and nobody changes the counters.
	trace_background --no-guard -b 64K read_zero -- \
		sh -c "kill -STOP \$PPID; tl-calls 20000 --cpu 1; touch ready; until [ -e go ]; do sleep 0.05; done; kill -CONT \$PPID"
	until_true test -e ready
	timeout -s KILL 120 trapline record $entries --overwrite -b 128K -o rec write_null >rec_out 2>rec_err </dev/null &
	recorder=$!
	until_true grep -q 'Ctrl-C ends' rec_err
	show_status
	expect_status 0
	touch go
	kill -INT $recorder
	wait $recorder
	ended
	expect_in shown '^[0-9]+ +trapline-[0-9]+ +0 +trapline-[0-9]+ +started +stream +64K +1 +[0-9]+ +[0-9]+ +-$'
	expect_in shown '^[0-9]+ +trapline-[0-9]+ +0 +trapline-[0-9]+ +started +flight recorder +128K +1 +0 +0 +not known$'
	expect_in shown "^[0-9]+ +write_null +(call|entry) +$technique +0 +0 +0 +0 +(0|-) +0\$"
	# shellcheck disable=SC2046 # one word each
	set -- $(awk '$2 == "read_zero" { print $5, $6, $7, $8, $10 }' shown)
	expect_is hits "$1" 20000
	expect_is "recorded and dropped" "$(($2 + $4))" 20000
	[ "$4" -gt 0 ] || fail "nothing was dropped"
	expect_is "filtered" "$3" 0
	expect_is "missed" "$5" 0
	expect_in shown "^session [0-9]+, read_zero: $4 dropped: $4 with the ring full"
	expect_is "recorded at the end" "$(account read_zero recorded)" "$2"
}
t "status: two sessions, one of them a flight recorder, losses by cause" two_sessions

holders() {
	mkfifo go
	# Opening a FIFO waits, and forks nobody who would hold it too. One of them is another user's.
	sh -c 'exec 9<>/dev/trapline; su nobody -c "exec sleep 100" & echo $! >sleeper; read -r _ <go; kill $(cat sleeper)' &
	holder=$!
	until_true test -s sleeper
	until_true grep -q '^Uid:.65534' "/proc/$(cat sleeper)/status"
	until_true grep -q sleep "/proc/$(cat sleeper)/comm"
	show_status
	echo >go
	wait $holder
	expect_status 0
	expect_in shown "^[0-9]+ +[^ ]+-$holder +0 +[^ ]+-$holder, sleep-$(cat sleeper) +not started +- +- +0 +0 +0 +-\$"
	expect_is lines "$(wc -l <shown)" 2
}
t "status: whoever holds the descriptor, not only who opened it" holders

refused() {
	su nobody -c 'trapline status' >out 2>err </dev/null
	expect_is status $? 125
	expect_in err 'only root'
	show_status 7
	expect_status 2
	show_status --help
	expect_status 0
	expect_in shown '^Usage: trapline status'
}
t "status: not root, wrong usage" refused
