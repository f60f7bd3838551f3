# shellcheck shell=dash
# SPDX-License-Identifier: GPL-2.0
# --limit and --max-rate: how much is shown or recorded at most, and what is said of the rest.

limited_trace() {
	trace --limit 25 'read_zero($arg3)' -- sh -c 'tl-calls 100 --size 100 >&2; exit 7'
	expect_status 7
	expect_is lines "$(wc -l <out)" 25
	expect_every out 'read_zero.*=(100|0x64)\)'
	expect_is recorded "$(account read_zero recorded)" 25
	expect_sums
	expect_in err '^trapline: ended by --limit: 25 events$'
	expect_not_in err 'lost'
	# As many as there are is no end.
	trace --limit 200 read_zero -- tl-calls 50
	expect_is lines "$(lines out 'read_zero')" 50
	expect_not_in err 'ended by'
}
t "--limit: the Nth event is the last, and COMMAND goes on" limited_trace

limited_everywhere() {
	trace --limit 1000 read_zero -- sh -c 'tl-calls 2000 --cpu 0 & tl-calls 2000 --cpu 1 & wait'
	expect_status 0
	expect_is lines "$(lines out 'read_zero')" 1000
	expect_sums
}
t "--limit: exactly so many on several CPUs" limited_everywhere

limited_alone() {
	trace_background --limit 10 --comm tl-calls read_zero
	tracing
	tl-calls 100 >calls
	ended
	expect_status 0
	expect_is lines "$(wc -l <out)" 10
}
t "--limit: ends a trace without COMMAND" limited_alone

limited_record() {
	for overwrite in '' --overwrite; do
		rm -rf rec
		# shellcheck disable=SC2086 # none or one word
		trapline record $entries $overwrite --limit 30 -o rec read_zero -- tl-calls 100 >out 2>err </dev/null
		expect_is status $? 0
		expect_in err '30 events in rec .*, ended by --limit'
		expect_is lines "$(trapline report rec 2>/dev/null | wc -l)" 30
		expect_in rec/metadata '"ended_by": ?"--limit"'
	done
}
t "--limit: of a recording, and of a flight recorder" limited_record

limited_rate() {
	trapline record $entries --max-rate 50/s -o rec read_zero -- sh -c 'for i in 1 2 3; do tl-calls 400; sleep 0.5; done' >out 2>err </dev/null
	echo $? >status
	expect_status 0
	expect_sums
	recorded=$(account read_zero recorded)
	[ "$recorded" -ge 50 ] || fail "only $recorded events"
	expect_is "recorded and limited" "$((recorded + $(account read_zero limited)))" 1200
	expect_in err "^read_zero: [0-9]+ limited: beyond --max-rate"
	expect_is lines "$(trapline report rec 2>report_err | wc -l)" "$recorded"
	expect_in report_err ' limited '
	expect_in rec/metadata "\"limited\": ?$(account read_zero limited)"
	expect_not_in err 'warning'
}
t "--max-rate: what is beyond is counted as such, also in the recording" limited_rate

limited_status() {
	rm -f ready go
	trace_background --max-rate 5 read_zero -- sh -c "tl-calls 1000; $wait_for_go"
	until_true test -e ready
	trapline status >shown
	touch go
	ended
	expect_status 0
	expect_in shown ' limited '
	expect_in shown 'session [0-9]+, read_zero: [0-9]+ limited: beyond'
	expect_is "of COMMAND" "$(($(account read_zero recorded) + $(account read_zero limited)))" 1000
}
t "--max-rate: in the status" limited_status

bad_limits() {
	for bad in '--limit 0' '--limit many' '--max-rate 0' '--max-rate 5/m'; do
		# shellcheck disable=SC2086 # two words
		trace $bad read_zero -- touch ran
		expect_status 2
		expect_in err "^trapline: .*${bad%% *}: '.*' is (not a number from 1|no number of events in a second)"
	done
	[ ! -e ran ] || fail "COMMAND ran"
}
t "limits: what is none" bad_limits
