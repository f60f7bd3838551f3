# shellcheck shell=dash
# SPDX-License-Identifier: GPL-2.0
# The forms of a probe, the lines they give, and whose calls are shown.

call_lines() {
	needs_returns
	trace -o events read_zero vfs_read -- tl-calls 300
	expect_status 0
	expect_is "tl-calls' own count" "$(cat out)" 300
	expect_every events "$head_re(read_zero|vfs_read)\\($read_args\\) = ([0-9]+|$hex|-[0-9]+ E[A-Z0-9]+) $took\$"
	expect_is "lines of read_zero" "$(lines events ': read_zero\(')" 300
	expect_is "returns of what was asked for" \
		"$(lines events ": $(vfs_read_of 6969)")" 300
	expect_in events '^ +tl-calls-[0-9]+ +\['
	expect_is "recorded" "$(account read_zero recorded)" 300
	expect_sums
}
t "a call line has arguments, return value and duration, one for each call" call_lines

entry_and_return_lines() {
	needs_returns
	trace -o events kprobe:read_zero kretprobe:vfs_read kernel:read_zero+0 -- tl-calls 50
	expect_status 0
	expect_is "entries" "$(lines events "$head_re"'read_zero\('"$read_args"'\)$')" 100
	expect_is "returns" "$(lines events "$head_re"'vfs_read\(\) = '"$(num 6969)\$")" 50
	expect_is "recorded entries" "$(account read_zero recorded entry)" 50
	expect_sums
}
t "kprobe: and kretprobe: show one end each" entry_and_return_lines

whole_command() {
	needs_returns
	trace --entry -o events read_zero -- tl-calls 20
	expect_every events "$head_re""read_zero\\($read_args\\)\$"
	expect_is "entries" "$(lines events .)" 20
	trace --return -o events read_zero -- tl-calls 20
	expect_every events "$head_re""read_zero\\(\\) = $read_size\$"
	expect_is "returns" "$(lines events .)" 20
}
t "--entry and --return hold for the whole command" whole_command

errno_names() {
	needs_returns
	trace -o events do_sys_openat2 -- cat /nonexistent
	expect_status 1
	expect_in events ': do_sys_openat2\(.* = -2 ENOENT <'
}
t "an error has its name" errno_names

offset_lines() {
	local size
	size=$(size_of vfs_read)
	trace -o events kprobe:vfs_read+$inside "vfs_read+$inside/$size" -- tl-calls 20
	expect_status 0
	expect_in events "$head_re""vfs_read\+$inside: "'([a-z0-9]+=0x[0-9a-f]+ ?)+$'
	# Both probes sit there, so the loader's reads count twice as well.
	[ "$(lines events " tl-calls-.*: vfs_read\+$inside: .*0x1b39")" = 40 ] || fail "not 40 lines with the size in a register"
	expect_sums
}
# The next symbol's distance, as an oops prints it.
size_of() {
	grep -E '^[0-9a-f]+ [tT] [^[]*$' /proc/kallsyms | sort | awk -v name="$1" '
		found && $1 != at { print at, $1; exit }
		$3 == name { found = 1; at = $1 }' | {
		read -r begin end
		printf '0x%x' $((0x$end - 0x$begin))
	}
}
t "an offset, also as an oops prints it, shows registers" offset_lines

module_functions() {
	local second=p9_client_clunk
	[ "$function_module" = 9pnet ] || second=tlbuggy_write
	trace_background -d 10 $function_module:$module_function "$second+0x0 [$function_module]" kernel:read_zero
	tracing
	if [ "$function_module" = 9pnet ]; then
		cat "$here/forms.sh" >/dev/null # the shared directory is 9p's
	else
		cat /dev/tlbuggy
		echo text >/dev/tlbuggy
	fi
	until_true grep -q $second out
	kill -INT $tool
	ended
	expect_status 0
	expect_in out ": $function_module:$module_function\\("
	expect_in out ": $function_module:$second\\("
	expect_sums
}
t "functions of a module: MODULE:FUNC and FUNC+0x0 [MODULE]" module_functions

first_call() {
	# Nothing of it may be inlined; compilers differ.
	first=do_open_execat
	grep -q " $first\$" /proc/kallsyms || first=alloc_bprm
	trace -o events $first --entry -- /bin/true
	expect_in events " trapline-[0-9]+ .*: $first\\("
	expect_is "execs" "$(lines events .)" 1
	trace -o events bprm_execve vfs_open -- tl-calls 1
	expect_in events "$([ -z "$entries" ] && echo tl-calls || echo trapline)-[0-9]+ .*: bprm_execve\\(.*\\)$(returns " = $(num 0) <")"
	# execve's own open, the loader's first of the cache or library, then /dev/zero. Of other
	# machines than x86-64 programs are static, and need no loader.
	local least=3
	[ "$machine" = x86_64 ] || least=2
	head -n 1 events | grep -qE 'trapline-[0-9]+ .*: vfs_open\(' || fail "the first line is not the open of the program"
	[ "$(lines events ': vfs_open\(')" -ge $least ] || fail "the loader's opens are not all there"
	expect_is "pid of the first and the last" "$(head -n 1 events | sed -E 's/.*-([0-9]+) +\[.*/\1/')" \
		"$(tail -n 1 events | sed -E 's/.*-([0-9]+) +\[.*/\1/')"
}
t "COMMAND's very first call is caught, in execve itself" first_call

others_filtered() {
	local other
	tl-calls 4000 --every 2000 >/dev/null &
	other=$!
	trace -o events read_zero -- sh -c 'tl-calls 10; sleep 0.3'
	expect_is "lines" "$(lines events .)" 10
	expect_not_in events "tl-calls-$other "
	[ "$(account read_zero filtered)" -ge 10 ] || fail "the other's calls were not counted as filtered"
	expect_is recorded "$(account read_zero recorded)" 10
	expect_sums
	trace -a -o events read_zero -- sh -c 'tl-calls 10; sleep 0.3'
	kill $other
	expect_in events "tl-calls-$other "
	expect_is "own lines" "$(grep -cvE "tl-calls-$other " events)" 10
	expect_sums
}
t "others are filtered and counted; --all shows them" others_filtered

descendants() {
	# The grandchild's parent ends at once, and init has it.
	trace -o events read_zero -- sh -c '
		tl-calls 10; (tl-calls 20); sh -c "(sleep 0.3; tl-calls 30; echo >late) &"
		until [ -e late ]; do usleep 50000; done'
	expect_status 0
	expect_is "lines" "$(lines events .)" 60
	expect_is "processes" "$(sed -E 's/.*-([0-9]+) +\[.*/\1/' events | sort -u | wc -l)" 3
}
t "children, grandchildren and orphans of COMMAND are traced" descendants

two_traces() {
	mkdir a b
	(cd a && trace -o events read_zero -- sh -c 'touch ready; until [ -e ../b/ready ]; do usleep 20000; done; tl-calls 2000; touch done; until [ -e ../b/done ]; do usleep 20000; done') &
	(cd b && trace -o events read_zero -- sh -c 'touch ready; until [ -e ../a/ready ]; do usleep 20000; done; tl-calls 3000; touch done; until [ -e ../a/done ]; do usleep 20000; done')
	wait
	(cd a && expect_status 0 && expect_is "lines of one" "$(lines events .)" 2000 &&
		expect_is "filtered" "$(account read_zero filtered)" 3000 && expect_sums) || exit 1
	(cd b && expect_status 0 && expect_is "lines of the other" "$(lines events .)" 3000 &&
		expect_is "filtered" "$(account read_zero filtered)" 2000 && expect_sums) || exit 1
}
t "two traces of one function each see their own COMMAND" two_traces
