# shellcheck shell=dash
# SPDX-License-Identifier: GPL-2.0
# Where what goes: events, the tool's own words, COMMAND's output.

streams() {
	trace read_zero -- sh -c 'tl-calls 3; echo to-stderr >&2'
	expect_is "event lines on stdout" "$(lines out ': read_zero\(')" 3
	expect_is "others on stdout are COMMAND's" "$(grep -v ': read_zero(' out)" 3
	expect_in err '^to-stderr$'
	expect_in err '^read_zero +(call|entry)'
	expect_not_in err ': read_zero\('
	trace -o events read_zero -- tl-calls 3
	expect_is stdout "$(cat out)" 3
	expect_every events ': read_zero\('
	expect_is "lines of the file" "$(lines events .)" 3
}
t "events on stdout, everything else on stderr; -o: events alone" streams

json_lines() {
	needs_returns
	trace --json read_zero kprobe:vfs_read+$inside kretprobe:vfs_open kprobe:vfs_open do_sys_openat2 -- sh -c 'tl-calls 3; cat /nonexistent'
	expect_in err '^3$' # tl-calls' own, which went to stderr
	tl-json event kind '(keys)' <out >fields || fail "not JSON: $(cat fields)"
	expect_in fields '^"read_zero"	"call"	time_ns,cpu,pid,tid,comm,flags,event,kind,args,return,duration_ns$'
	expect_in fields "^\"vfs_read\+$inside\"	"'"entry"	time_ns,cpu,pid,tid,comm,flags,event,kind,registers$'
	expect_in fields '^"vfs_open"	"entry"	time_ns,cpu,pid,tid,comm,flags,event,kind,args$'
	expect_in fields '^"vfs_open"	"return"	time_ns,cpu,pid,tid,comm,flags,event,kind,return$'
	expect_in fields '^"do_sys_openat2"	"call"	time_ns,cpu,pid,tid,comm,flags,event,kind,args,return,errno,duration_ns$'
	tl-json event comm return errno <out >fields
	expect_in fields "^\"read_zero\"	\"tl-calls\"	\"?$read_size\"?	-\$"
	expect_in fields '^"do_sys_openat2"	"cat"	.*"ENOENT"$'
}
t "--json: each line is an object with these keys; COMMAND's stdout goes to stderr" json_lines

json_file() {
	trace --json -o events read_zero -- tl-calls 3
	tl-json event <events >fields || fail "not JSON: $(cat fields)"
	expect_is "lines" "$(lines fields '"read_zero"')" 3
	expect_in err '^read_zero +(call|entry)'
	# The issue: "--json (then COMMAND's stdout goes to stderr)", without a condition.
	expect_in err '^3$'
	expect_empty out
}
t "--json -o FILE: the objects alone in the file, COMMAND's stdout on stderr" json_file

hostile_names() {
	trace --json -o events read_zero -- tl-comm
	expect_status 0
	tl-json comm <events >fields || fail "not JSON: $(cat fields)"
	names=$(grep -hx '[0-9]*' out err)
	expect_is "lines" "$(lines fields .)" "$names"
	grep -qF '"q\"quote\\slash"' fields || fail "no quotes"
	grep -qF '"esc\u001b[31mred"' fields || fail "no escape"
	grep -qF '"new\nline"' fields || fail "no newline"
	grep -qF '"c1\u009b31mcsi"' fields || fail "no C1 control"
	grep -qF '"bad\ufffd' fields || fail "no invalid UTF-8"
	grep -qFx '""' fields || fail "no empty name"

	trace -o events read_zero -- tl-comm
	expect_is "lines of text" "$(wc -l <events)" "$names"
	[ -z "$(tr -d '\n -~' <events)" ] || fail "raw bytes: $(tr -d '\n -~' <events | xxd)"
	grep -qF 'esc\033[31mred-' events || fail "no escape"
	grep -qF 'new\nline-' events || fail "no newline"
	grep -qF '<...>-' events || fail "no empty name"
}
t "hostile names: valid JSON, nothing raw in text" hostile_names

hostile_terminal() {
	timeout -s KILL 120 tl-pty trapline trace $entries read_zero -- tl-comm >out
	# Without our own colours no escape is left.
	sed -E "s/$(printf '\033')\\[[0-9;]*m//g" out | tr -d '\r' >plain
	[ "$(grep -c "$(printf '\033')" plain)" = 0 ] || fail "an escape sequence reached the terminal"
	grep -qF 'esc\033[31mred-' plain || fail "no escaped name"
	grep -q "$(printf '\033')\\[1mread_zero" out || fail "no colour on a terminal"
	trace read_zero -- tl-comm
	[ "$(grep -c "$(printf '\033')" out err)" = "$(printf 'out:0\nerr:0')" ] || fail "colour without a terminal"
}
t "colour on a terminal only, and no escape sequence of a name" hostile_terminal


pipe_closed() {
	local begin end
	begin=$(cut -d. -f1 /proc/uptime)
	{
		timeout -s KILL 120 trapline trace $entries vfs_write 2>err
		echo $? >status
	} | head -n 5 >out &
	until_true grep -q 'Ctrl-C ends' err
	# Something must happen in an idle guest; what nobody reads ends the tool.
	for _ in 1 2 3 4 5 6; do echo x >x; done
	wait
	end=$(cut -d. -f1 /proc/uptime)
	[ $((end - begin)) -lt 35 ] || fail "it took $((end - begin)) s"
	expect_is "lines" "$(lines out ': vfs_write\(')" 5
	expect_status 141
	expect_is "what it said" "$(grep -v 'this kernel has no BTF' err)" "trapline: tracing vfs_write; Ctrl-C ends"
	planted >planted
	expect_empty planted
}
t "SIGPIPE: | head ends quietly, with the probes lifted" pipe_closed

# Nothing more happens, so only the closed pipe itself can tell.
pipe_closed_idle() {
	{
		timeout -s KILL 120 trapline trace $entries read_zero 2>err
		echo $? >status
	} | sleep 2
	until_true [ -s status ]
	expect_status 141
}
t "SIGPIPE: the reader's going is enough, no event is needed" pipe_closed_idle

own_writes() {
	trace -d 2 vfs_write vfs_read
	expect_status 0
	expect_not_in out ' trapline-'
	[ "$(lines out .)" -lt 200 ] || fail "$(lines out .) lines in an idle guest"
}
t "the tool's own reads and writes are not traced" own_writes

# Descriptor 1 must not become one of the tool's own.
no_stdout() {
	timeout -s KILL 120 trapline trace $entries read_zero >&- 2>err -- tl-calls 3
	echo $? >status
	expect_not_in err 'Invalid argument'
	timeout -s KILL 120 trapline trace $entries -o events read_zero >&- 2>err -- tl-calls 3
	expect_is "lines" "$(lines events .)" 3
	expect_sums
}
t "without a stdout at all, events do not go into a descriptor of the tool's own" no_stdout

disk_full() {
	trace -o /dev/full read_zero -- sh -c 'tl-calls 3; sleep 20 & echo $! >sleeper; wait'
	expect_status 125
	expect_in err '^trapline: .*/dev/full: No space left'
	kill "$(cat sleeper)" 2>/dev/null
	true
}
t "a full disk is an error that names the file: 125" disk_full
