# shellcheck shell=dash
# SPDX-License-Identifier: GPL-2.0
# Recordings: made, read back, ended in every way.

# record ARGUMENT...: into status, out and err.
record() {
	# shellcheck disable=SC2046 # or no word
	timeout -s KILL 300 trapline record --no-guard $(entry_option "$@") "$@" >out 2>err </dev/null
	echo $? >status
}

record_background() { # as trace_background
	: >out >err
	# shellcheck disable=SC2046 # or no word
	timeout -s KILL 120 trapline record --no-guard $(entry_option "$@") "$@" >out 2>err </dev/null &
	tool=$!
}

recording() { until_true grep -qE 'trapline: recording .*Ctrl-C ends' err; }

# report ARGUMENT...: into events and told; its status must be that of a whole recording.
report() {
	timeout -s KILL 120 trapline report "$@" >events 2>told </dev/null || fail "report: status $?: $(cat told)"
}

# ring_total TERM [DIR]: of the rings' totals in the metadata, summed.
ring_total() {
	sed -n 's/^.* trapline: *\({.*}\).*$/\1/p; s/^\/\* trapline: *\({.*}\).*$/\1/p' "${2:-trapline-data}/metadata" |
		tail -n 1 | grep -oE '"rings":\[[^]]*\]' | grep -oE "\"$1\":[0-9]+" | cut -d: -f2 |
		awk '{ sum += $1 } END { print sum + 0 }'
}

plain() {
	record read_zero -- sh -c 'tl-calls 1000; exit 7'
	expect_status 7
	expect_in out '^1000$'
	expect_is recorded "$(account read_zero recorded)" 1000
	expect_sums
	expect_in err '^trapline: 1000 events in trapline-data \([0-9.]+ MiB\), ended by COMMAND \(status 7\)$'
	report
	expect_is "lines" "$(lines events .)" 1000
	expect_every events "$head_re"'read_zero\('"$read_args"'\)'"$(returns " = $read_size $took")"'$'
	expect_is "the accounting" "$(grep '^read_zero' told)" "$(grep '^read_zero' err)"
	expect_is "written" "$(ring_total written)" 1000
	expect_is "read" "$(ring_total read)" 1000
	expect_is "mode" "$(stat -c %a trapline-data) $(stat -c %a trapline-data/metadata)" "700 600"
}
t "record, report: the same lines, COMMAND's status, the accounting" plain

same_text() {
	# Both at once see the same calls; only durations may differ.
	timeout -s KILL 120 trapline record $entries -o rec read_zero >/dev/null 2>rec_err </dev/null &
	recorder=$!
	until_true grep -q 'Ctrl-C ends' rec_err
	trace -o traced read_zero -- tl-calls 200
	kill -INT $recorder
	wait $recorder || fail "record: status $?"
	report --comm tl-calls rec
	sed -E 's/ +[0-9.]+: / /; s/ <.*//' traced >one
	sed -E 's/ +[0-9.]+: / /; s/ <.*//' events >two
	cmp one two || fail "the texts differ: $(diff one two | head -4)"
	awk 'NR == FNR { t[FNR] = $4; next } { d = $4 - t[FNR]; if (d > 0.1 || d < -0.1) bad++ } END { exit bad > 0 }' traced events ||
		fail "the times differ"
}
t "report prints what trace prints" same_text

all_cpus() {
	record -b 4M read_zero -- sh -c 'for c in 0 1 2 3; do tl-calls 20000 --cpu $c >/dev/null & done; wait'
	expect_status 0
	expect_is recorded "$(account read_zero recorded)" 80000
	report
	expect_is lines "$(lines events .)" 80000
	awk '{ time = $4 + 0; if (time < last) exit 1; last = time; cpus[$2]++ }
		END { for (c = 0; c < 4; c++) if (cpus["[00" c "]"] != 20000) exit 1 }' events || fail "out of order, or missing"
	[ "$(ls trapline-data | grep -c '^cpu_')" -ge 4 ] || fail "streams: $(ls trapline-data)"
}
t "80000 calls from 4 CPUs: all there, in order" all_cpus

older() {
	record read_zero -- tl-calls 1
	record read_zero -- tl-calls 2
	record read_zero -- tl-calls 3
	report
	expect_is "the newest" "$(lines events .)" 3
	report trapline-data.old
	expect_is "the one before" "$(lines events .)" 2
	expect_is "directories" "$(echo trapline*)" "trapline-data trapline-data.old"
	record -o there/ read_zero -- tl-calls 4
	expect_status 0
	report there
	expect_is "-o" "$(lines events .)" 4
}
t "an older recording becomes .old, and only one of them" older

in_the_way() {
	mkdir dir && touch dir/precious
	record -o dir read_zero -- touch ran
	expect_status 125
	expect_in err 'dir'
	[ -e dir/precious ] && [ ! -e ran ] || fail "it was touched, or COMMAND ran"
	echo mine >file
	record -o file read_zero -- touch ran
	expect_status 125
	expect_is "the file" "$(cat file)" mine
	record -o good read_zero -- true
	mkdir good.old && touch good.old/precious
	record -o good read_zero -- touch ran
	expect_status 125
	[ -e good.old/precious ] && [ ! -e ran ] || fail ".old was touched, or COMMAND ran"
	record -o no/such/dir read_zero -- touch ran
	expect_status 125
	expect_in err 'no/such'
	mkdir empty
	record -o empty read_zero -- tl-calls 2
	expect_status 0
}
t "what is no recording is never moved or removed" in_the_way

options_hold() {
	record --strict -d 2 --entry read_zero vfs_open -- sh -c 'tl-calls 5; sleep 4; tl-calls 7; exit 6'
	expect_status 6
	report --probe read_zero
	expect_is "until -d" "$(lines events ': read_zero\(')" 5
	expect_in err 'ended by --duration'
	if [ -z "$entries" ]; then
		record --begin read_zero -- tl-calls 3
		report
		expect_is "entries and calls" "$(lines events .)" 6
	fi
	record no_such_function -- touch ran
	expect_status 125
	record read_zero -- /no/such/command
	expect_status 127
	record -a -p 1 read_zero -- touch ran
	expect_status 2
	record --snapshot-on SIGUSR1 read_zero
	expect_status 2
	record --max-size 1 read_zero
	expect_status 2
	record
	expect_status 2
	[ ! -e ran ] || fail "COMMAND ran"
	record --user nobody read_zero -- tl-calls 1
	expect_status 0
}
many_probes() {
	# Several thousand, whose description is larger than a mebibyte.
	local i=0
	while [ $i -lt 1100 ]; do echo "kprobe:read_zero kprobe:vfs_read kprobe:read_null"; i=$((i + 1)); done >probes
	# shellcheck disable=SC2046 # one word each
	record -b 4M $(cat probes) -- tl-calls 1
	expect_status 0
	report --probe read_zero
	expect_is lines "$(lines events 'tl-calls-.*: read_zero\(.*(count=6969|0x1b39)')" 1100
}
t "3300 probes, most at one place" many_probes

t "record takes trace's options, and refuses as it does" options_hold

ctrl_c() {
	timeout -s KILL 120 tl-pty --at started ^C sh -c 'trap : INT
		trapline record $entries read_zero -- sh -c "tl-calls 12; echo started; sleep 60"
		echo "status $?"' >out
	expect_in out 'status 130'
	report
	expect_is lines "$(lines events .)" 12
	record_background read_zero
	recording
	tl-calls 9 >/dev/null
	kill -USR1 $tool
	ended
	expect_status 0
	expect_in err 'ended by SIGUSR1'
	report
	expect_is lines "$(lines events .)" 9
}
t "Ctrl-C ends COMMAND and the recording; SIGUSR1 ends the recording" ctrl_c

max_size() {
	record --max-size 300K read_zero -- sh -c 'tl-calls 50000; exit 9'
	expect_status 9
	expect_in err 'recorded events were not written: --max-size was reached'
	size=$(cat trapline-data/* | wc -c)
	[ "$size" -le 307200 ] || fail "it has $size bytes"
	[ "$size" -gt 200000 ] || fail "it has only $size bytes"
	report
	expect_is "lines" "$(lines events .)" "$(ring_total read)"
	expect_is "recorded" "$(account read_zero recorded)" "$(($(ring_total read) + $(ring_total unread)))"
	expect_in out '^50000$'
	record --strict --max-size 300K read_zero -- tl-calls 50000
	expect_status 3
}
t "--max-size ends the recording, and what isn't written is counted" max_size

full_disk() {
	mkdir disk
	mount -t tmpfs -o size=1M tmpfs disk
	record -b 4M -o disk/rec read_zero -- sh -c 'tl-calls 60000; touch ran'
	expect_status 125
	expect_in err 'No space left on device'
	expect_sums
	until_true [ -e ran ]
	trapline report disk/rec >events 2>told
	said=$(sed -n 's/^trapline: \([0-9]*\) events in .*/\1/p' err)
	expect_is "lines" "$(lines events .)" "$said"
	[ "$said" -gt 1000 ] || fail "only $said events"
	expect_in err "^trapline: $(($(account read_zero recorded) - said)) recorded events were not written"
	umount disk
}
t "a full disk: 125, what is whole is kept, the rest is counted" full_disk

vanished() {
	record_background -o gone read_zero
	recording
	tl-calls 100 >/dev/null
	rm -r gone
	until_true sh -c "! kill -0 $tool"
	ended
	expect_status 125
	expect_in err 'gone.* not there any more'
	expect_sums
}
t "a vanished directory ends the recording: 125" vanished

killed() {
	record_background -b 64K read_zero
	recording
	tl-calls 20000 --every 20 >/dev/null
	kill -KILL "$(pidof trapline)"
	wait $tool
	trapline report >events 2>told
	expect_is "report's status" $? 0
	# More than a ring holds; a slow machine's recorder drops some.
	[ "$(lines events ': read_zero\(')" -gt 2500 ] || fail "only $(lines events .) lines"
	expect_in told 'killed'
	no_probes
}
t "a recorder that is killed leaves what it has written" killed

# The whole tool stands still while the rings fill up.
stall() { # trace|record ARGUMENT...
	rm -f go
	timeout -s KILL 120 trapline "$@" --no-guard $entries -b 64K read_zero >out 2>err </dev/null -- \
		sh -c 'touch ready; until [ -e go ]; do usleep 20000; done; tl-calls 60000 >&2; touch done; until [ -e end ]; do usleep 20000; done; tl-calls 100 >&2' &
	tool=$!
	until_true [ -e ready ]
	kill -STOP "$(pidof trapline)"
	touch go
	until_true [ -e done ]
	sleep 1
	kill -CONT "$(pidof trapline)"
	sleep 1
	touch end
	ended
	rm -f ready done end
	expect_status 0
	expect_is hits "$(account read_zero hits)" 60100
	expect_sums
	[ "$(account read_zero dropped)" -gt 10000 ] || fail "only $(account read_zero dropped) dropped"
}

stalled_record() {
	stall record
	report
	expect_is lines "$(lines events .)" "$(account read_zero recorded)"
	report --summary
	expect_is "dropped, by the packets' headers" \
		"$(sed -n 's/^.*CPU [0-9]*: \([0-9]*\) events\{0,1\} dropped .*/\1/p' events | awk '{ n += $1 } END { print n + 0 }')" \
		"$(account read_zero dropped)"
}
t "a recorder that stalls for seconds: dropped to the last one, and where" stalled_record

stalled_trace() {
	stall trace -o events
	expect_is lines "$(lines events .)" "$(account read_zero recorded)"
}
t "a trace that stalls for seconds: dropped to the last one" stalled_trace

# recorded = read + overwritten + unread, and the lines are those read.
expect_identity() {
	expect_is "recorded" "$(account read_zero recorded)" "$(ring_total written)"
	expect_is "read + overwritten + unread" \
		"$(($(ring_total read) + $(ring_total overwritten) + $(ring_total unread)))" "$(ring_total written)"
	report --probe read_zero
	expect_is lines "$(lines events .)" "$(ring_total read)"
}

flight_failure() {
	record --overwrite -b 64K read_zero -- sh -c 'tl-calls 30000; dd if=/dev/zero of=/dev/null bs=77 count=1 2>/dev/null; exit 5'
	expect_status 5
	expect_is dropped "$(account read_zero dropped)" 0
	[ "$(ring_total overwritten)" -gt 20000 ] || fail "only $(ring_total overwritten) overwritten"
	expect_identity
	expect_in err 'older ones were overwritten'
	[ "$(lines events .)" -gt 500 ] || fail "only $(lines events .) lines"
	tail -n 1 events | grep -q 'dd-' || fail "the last event is not there: $(tail -n 1 events)"
}
t "a flight recorder writes the last events when COMMAND fails" flight_failure

flight_success() {
	record --overwrite read_zero -- tl-calls 100
	expect_status 0
	expect_in err 'nothing was written: COMMAND succeeded'
	[ ! -e trapline-data ] || fail "something was written"
	expect_sums
	expect_not_in err 'lost'
	record --strict --overwrite read_zero -- tl-calls 100
	expect_status 0
}
t "... and nothing when COMMAND succeeds" flight_success

flight_signals() {
	local signal
	for signal in INT USR1 TERM; do
		record_background --overwrite -b 64K read_zero
		recording
		tl-calls 20000 >/dev/null
		kill -$signal $tool
		ended
		expect_status 0
		expect_in err "ended by SIG$signal"
		expect_identity
		[ "$(ring_total written)" = 20000 ] || fail "recorded $(ring_total written)"
	done
	record_background --overwrite read_zero -- sh -c 'trap "" INT; tl-calls 50 >/dev/null; touch ready; until [ -e go ]; do usleep 20000; done; tl-calls 70; exit 4'
	until_true [ -e ready ]
	kill -USR1 $tool
	until_true grep -q . trapline-data/metadata
	touch go
	ended
	expect_status 4
	expect_identity
	expect_is lines "$(lines events .)" 50
}
t "... at Ctrl-C, SIGUSR1 and SIGTERM, at that moment" flight_signals

flight_until() {
	record --overwrite -b 64K --until 'read_null' read_zero -- sh -c 'tl-calls 20000; cat /dev/null; tl-calls 500; exit 3'
	expect_status 3
	expect_in err 'ended by --until'
	expect_is "recorded" "$(ring_total written)" 20001
	expect_is "read + overwritten" "$(($(ring_total read) + $(ring_total overwritten)))" 20001
	report
	expect_is lines "$(lines events .)" "$(ring_total read)"
	tail -n 1 events | grep -q ': until:read_null(' || fail "the last is $(tail -n 1 events)"
	# A condition that is not met ends nothing.
	record --until 'read_zero if $arg3 == 77' read_zero -- sh -c 'tl-calls 10; dd if=/dev/zero of=/dev/null bs=77 count=1 2>/dev/null; tl-calls 10; exit 2'
	expect_status 2
	expect_in err 'ended by --until'
	report
	expect_is "lines" "$(lines events ': until:read_zero\(')" 1
	# Of entries the one that ends it comes first.
	expect_is "lines" "$(lines events ': read_zero\(')" "$([ -n "$entries" ] && echo 10 || echo 11)"
	record --until 'read_zero if $arg3 == 78' read_zero -- tl-calls 10
	expect_in err 'ended by COMMAND'
	expect_is "filtered" "$(account until:read_zero filtered)" 10
}
t "--until stops in the handler of the hit; the hit is the last event" flight_until

snapshots() {
	record_background --overwrite -b 64K --snapshot-on SIGUSR1 --snapshot-on 'read_null' read_zero
	recording
	tl-calls 100 >/dev/null
	kill -USR1 $tool
	until_true grep -q 'snapshot in .*SIGUSR1' err
	report
	expect_is "after the first" "$(lines events .)" 100
	tl-calls 40 >/dev/null
	cat /dev/null
	until_true grep -q 'snapshot in .*--snapshot-on' err
	report
	expect_is "after the second" "$(lines events ': read_zero\(')" 140
	tl-calls 20000 --cpu 0 >/dev/null
	kill -INT $tool
	ended
	expect_status 0
	expect_is "all" "$(account read_zero recorded)" 20140
	expect_is "read + overwritten + unread" \
		"$(($(ring_total read) + $(ring_total overwritten) + $(ring_total unread)))" "$(ring_total written)"
	report
	expect_is lines "$(lines events .)" "$(ring_total read)"
	report --summary
	expect_in events 'overwritten'
}
t "--snapshot-on writes and goes on; each event once" snapshots

snapshots_under_load() {
	local n=0
	record_background --overwrite -b 64K --snapshot-on SIGUSR1 read_zero -- \
		sh -c 'for c in 0 1 2 3; do tl-calls 40000 --cpu $c >/dev/null & done; wait; exit 1'
	until_true pidof tl-calls
	while [ $n -lt 10 ] && kill -USR1 $tool 2>/dev/null; do n=$((n + 1)); usleep 150000; done
	ended
	expect_status 1
	expect_is "hits" "$(account read_zero recorded)" 160000
	expect_identity
	say "measured: $(grep -c 'snapshot in' err) snapshots under load, $(ring_total read) read, $(ring_total overwritten) overwritten"
}
t "snapshots while 4 CPUs write: recorded = read + overwritten + unread" snapshots_under_load

# The hit that ends the run comes while a snapshot is made, again and again.
until_among_snapshots() {
	local n=0
	while [ $n -lt 15 ]; do
		n=$((n + 1))
		rm -f ready
		record_background --overwrite -b 64K --snapshot-on read_zero --until read_null -d 20 vfs_fsync
		recording
		tl-calls 2000 --every 100 >/dev/null &
		usleep $((100000 + n * 7000))
		cat /dev/null
		ended
		expect_status 0
		expect_in err 'ended by --until'
		wait
	done
}
t "--until is not lost among snapshots" until_among_snapshots

after_the_end() {
	record_background --overwrite --snapshot-on SIGINT --snapshot-on SIGUSR1 -d 1 read_zero -- sh -c 'tl-calls 5 >/dev/null; trap "exit 9" TERM; touch ready; while :; do usleep 50000; done'
	until_true [ -e ready ]
	sleep 2
	kill -USR1 $tool
	kill -TERM $tool
	ended
	expect_status 9
	expect_not_in err 'snapshot in'
	expect_is "lines" "$(report; lines events .)" 5
}
t "after the end a signal makes no snapshot, and COMMAND gets it" after_the_end

size_limit() {
	(ulimit -f 200; record read_zero -- sh -c 'tl-calls 20000 >/dev/null; touch ran')
	expect_status 125
	expect_in err 'File too large'
	expect_sums
	trapline report >events 2>told
	expect_is "lines" "$(lines events .)" "$(sed -n 's/^trapline: \([0-9]*\) events in .*/\1/p' err)"
}
t "a limit of the files' size is a failure as a full disk is" size_limit

max_size_exactly() {
	local size=131072
	while [ $size -lt 220000 ]; do
		record -b 64K --max-size $size read_zero -- tl-calls 20000
		[ "$(cat trapline-data/* | wc -c)" -le $size ] || fail "$(cat trapline-data/* | wc -c) bytes, allowed $size"
		size=$((size + 7919))
	done
}
t "no recording is larger than --max-size, the metadata included" max_size_exactly

flight_size() {
	record --overwrite -b 64K --max-size 200000 read_zero -- touch ran
	expect_status 125
	expect_in err 'less than the rings hold'
	[ ! -e ran ] || fail "COMMAND ran"
	# Ends with the snapshot behind which there is no room for another.
	record --overwrite -b 64K --max-size 400000 --snapshot-on read_null read_zero -- \
		sh -c 'for i in 1 2 3 4 5 6 7 8; do tl-calls 3000 >/dev/null; cat /dev/null; sleep 0.3; done; exit 3'
	expect_status 3
	expect_in err 'ended by --max-size'
	[ "$(cat trapline-data/* | wc -c)" -le 400000 ] || fail "$(cat trapline-data/* | wc -c) bytes"
	report
	expect_is "lines" "$(lines events .)" "$(ring_total read)"
	expect_in events ': snapshot-on:read_null\('
	# A signal's snapshot is no other; and the recording itself says what ended it.
	# shellcheck disable=SC2016 # for COMMAND's shell
	record --overwrite -b 64K --max-size 400000 --snapshot-on SIGUSR1 read_zero -- \
		sh -c 'for i in 1 2 3 4 5 6 7 8; do tl-calls 3000 >/dev/null; kill -USR1 $PPID; sleep 0.3; done; exit 3'
	expect_in err 'ended by --max-size'
	expect_is "ended by" "$(grep -o '"ended_by": *"[^"]*"' trapline-data/metadata)" '"ended_by":"--max-size"'
}
t "a flight recorder always has room for all rings, or ends" flight_size

# What fails must not cost what was there.
failing_commands() {
	record read_zero -- tl-calls 1
	record read_zero -- tl-calls 2
	mkdir there
	printf '#!/no/such/interpreter\n' >script
	chmod 755 script
	for command in /etc/passwd there ./script; do
		record read_zero -- $command
		case $(cat status) in 126 | 127) ;; *) fail "$command: status $(cat status)" ;; esac
	done
	report
	expect_is "the newest" "$(lines events .)" 2
}
t "a COMMAND that can't be run leaves the older recording where it was" failing_commands

two_recorders() {
	record_background -o one read_zero
	recording
	timeout 20 trapline record $entries -o one read_zero -- touch ran 2>second
	expect_is "the second's status" $? 125
	expect_in second 'is being recorded just now'
	tl-calls 7 >/dev/null
	kill -INT $tool
	ended
	expect_status 0
	[ ! -e ran ] || fail "COMMAND ran"
	report one
	expect_is lines "$(lines events .)" 7
	record -o one/. read_zero
	expect_status 125
	record --snapshot-on sigusr1 --overwrite read_zero
	expect_status 2
}
t "two recorders don't take each other's directory" two_recorders

missing_stream() {
	record read_zero -- sh -c 'tl-calls 20 --cpu 0; tl-calls 30 --cpu 1'
	rm trapline-data/cpu_1
	trapline report >events 2>told
	expect_is status $? 125
	expect_in told 'cpu_1: it has 0 events, and [0-9]+ were recorded in it'
}
t "a stream that is gone is told of" missing_stream

snapshot_failure() {
	record_background --overwrite --all --snapshot-on failure read_zero -- sh -c 'tl-calls 30 >/dev/null; exit 8'
	until_true grep -q 'snapshot in' err
	tl-calls 12 >/dev/null
	kill -TERM $tool
	ended
	expect_status 8
	report
	expect_is lines "$(lines events .)" 42
}
t "--snapshot-on failure: the recording goes on after COMMAND" snapshot_failure

marks() {
	record read_zero -- sh -c 'tl-calls 3; trapline mark step 1 "done"; tl-calls 2'
	expect_status 0
	report
	expect_in events ' trapline-[0-9]+ .*: mark: step 1 done$'
	expect_is "order" "$(sed -E 's/.*: (mark|read_zero).*/\1/' events | tr '\n' ' ')" \
		"read_zero read_zero read_zero mark read_zero read_zero "
	trace read_zero -- sh -c 'tl-calls 1 >&2; trapline mark hello'
	expect_in out ': mark: hello$'
	record_background -o one read_zero
	recording
	trace -o two read_zero -- trapline mark twice
	kill -INT $tool
	ended
	expect_in two ': mark: twice$'
	report one
	expect_in events ': mark: twice$'
	trapline mark nobody 2>err
	expect_is "status without a trace" $? 125
	expect_in err 'nothing is being traced'
	trapline mark 2>err
	expect_is "status without a text" $? 2
}
t "trapline mark: in every stream that runs, in its place" marks

mark_no_room() {
	timeout -s KILL 120 trapline record $entries -b 64K read_zero >out 2>err </dev/null &
	tool=$!
	recording
	kill -STOP "$(pidof trapline)"
	tl-calls 20000 --cpu 0 >/dev/null
	taskset 1 trapline mark full 2>mark_err
	echo $? >mark_status
	kill -CONT "$(pidof trapline)"
	kill -INT $tool
	ended
	expect_is "mark's status" "$(cat mark_status)" 125
	expect_in mark_err 'dropped in 1 of 1'
	expect_in err '1 marks were dropped'
	expect_in err 'events were lost'
	report
	expect_is lines "$(lines events .)" "$(account read_zero recorded)"
}
t "a mark that finds no room says so, and is counted" mark_no_room

damaged() {
	record -b 256K read_zero -- tl-calls 3000 --cpu 0 # room for all
	report
	all=$(lines events .)
	# Cut in the middle of a packet.
	truncate -s 100000 trapline-data/cpu_0
	trapline report >events 2>told
	expect_is "status" $? 125
	expect_in told 'cpu_0: .*byte [0-9]+'
	[ "$(lines events .)" -gt 500 ] && [ "$(lines events .)" -lt "$all" ] || fail "$(lines events .) lines of $all"
	# Overwritten with noise.
	dd if=/dev/urandom of=trapline-data/cpu_0 bs=1 seek=20000 count=64 conv=notrunc 2>/dev/null
	trapline report >events 2>told
	expect_is "status" $? 125
	expect_in told 'cpu_0: .*byte [0-9]+.*offset'
	: >trapline-data/metadata
	trapline report >events 2>told
	expect_is "status" $? 125
	expect_in told 'metadata'
	trapline report no-such-dir 2>told
	expect_is "status" $? 125
	expect_in told 'no-such-dir'
}
t "damage is told with stream and place; the rest is read" damaged
