# shellcheck shell=dash
# SPDX-License-Identifier: GPL-2.0
# FUNC(EXPRESSION, ...): what is recorded is what the kernel has there, in every form of output.

name='file->f_path.dentry->d_name.name'

listed() {
	if [ -n "$typed" ]; then
		trace -o events "vfs_read($name, count) if $name == \"zero\"" -- tl-calls 30 --size 100
		expect_status 0
		expect_every events "$head_re"'vfs_read\(file->f_path\.dentry->d_name\.name="zero", count=100\)'"$(returns " = 100 $took")\$"
		expect_is "lines" "$(lines events .)" 30
		expect_sums
	fi
	trace -o events 'read_zero()' 'kprobe:read_zero(iocb)' -- tl-calls 3
	expect_status 2
	expect_in err 'there is no (parameter )?iocb'
}
t "a list says what is recorded, or nothing" listed

listed_results() {
	needs_returns
	trace -o events 'read_zero()' 'kretprobe:read_zero() = $retval:x' -- tl-calls 3
	expect_is "calls" "$(lines events "$head_re""read_zero\\(\\) = $read_size $took\$")" 3
	expect_is "returns" "$(lines events "$head_re"'read_zero\(\) = 0x1b39$')" 3
}
t "a list of a call, or of a return" listed_results

returning_task() {
	needs_returns
	trace -o events 'kretprobe:read_zero($pid, $tid, $comm, $uid, $cpu) if $tid == $pid && $comm == "tl-calls" && $uid == 0' -- tl-calls 20
	expect_status 0
	expect_sums
	expect_is "lines" "$(lines events "$head_re"'read_zero\(\$pid=([0-9]+), \$tid=\1, \$comm="tl-calls", \$uid=0, \$cpu=[0-9]+\) = '"$read_size\$")" 20
	expect_is "lines with another pid or CPU than their heads say" "$(sed -E 's/^.*-([0-9]+) +\[0*([0-9]+)\].*pid=([0-9]+), .*cpu=([0-9]+)\) .*$/\1 \2 \3 \4/' events |
		awk '$1 != $3 || $2 != $4' | wc -l)" 0
	trace -o events 'kretprobe:read_zero($comm) if $comm != "tl-calls"' -- tl-calls 3
	expect_empty events
	expect_is filtered "$(account read_zero filtered)" 3
	trapline record -o rec 'kretprobe:read_zero($comm, $uid) = $retval:u' -- tl-calls 3 >out 2>err || fail "record: $?"
	trapline report rec >report 2>err || fail "report: $?"
	expect_is "lines" "$(lines report 'read_zero\(\$comm="tl-calls", \$uid=0\) = 6969$')" 3
	trapline report --json rec >json 2>err || fail "report --json: $?"
	expect_is "lines" "$(lines json '"kind":"return","args":\{"\$comm":"tl-calls","\$uid":0\},"return":6969')" 3
	trapline report --csv rec >csv 2>err || fail "report --csv: $?"
	expect_is "lines" "$(lines csv ',return,tl-calls,0,,6969,,')" 3
}
t "a return's list and condition: the task that returns" returning_task

inode() {
	needs_types
	local number
	echo text >"a file"
	number=$(stat -c %i "a file")
	trace -o events "vfs_open(path->dentry->d_inode->i_ino:u, path->dentry->d_name.len, path->dentry->d_sb->s_id[0:3], file->f_flags:x) if path->dentry->d_inode->i_ino == $number" -- cat "a file"
	expect_status 0
	expect_is "lines" "$(lines events .)" 1
	expect_in events "i_ino=$number, path->dentry->d_name\\.len=6, path->dentry->d_sb->s_id\\[0:3\\]=\"tmp\", file->f_flags=${largefile}[0-9]*\\)$(returns " = 0 ")"
}
t "members of what members lead to, unions and slices: a file's own number" inode

builtins() {
	trace -o events 'read_zero($pid, $tid, $comm, $uid, $cpu, $caller, '"$arg3"', $arg3)' -- tl-calls 20
	expect_every events '\(\$pid=([0-9]+), \$tid=\1, \$comm="tl-calls", \$uid=0, \$cpu=[0-9]+, \$caller='"$hex"', '"$arg3"'=0x1b39, \$arg3=(6969|0x1b39)\)'"$(returns " = $read_size")"
	# The head says the same.
	expect_is "lines with another pid or CPU than their heads say" "$(sed -E 's/^.*-([0-9]+) +\[0*([0-9]+)\].*pid=([0-9]+), .*cpu=([0-9]+), .*$/\1 \2 \3 \4/' events |
		awk '$1 != $3 || $2 != $4' | wc -l)" 0
	# vfs_read() calls it, or what that calls.
	local caller start
	caller=$(sed -nE '1s/.*caller=(0x[0-9a-f]+).*/\1/p' events)
	start=0x$(grep -E ' [tT] vfs_read$' /proc/kallsyms | cut -d' ' -f1)
	[ $((caller - start)) -gt 0 ] && [ $((caller - start)) -lt 2048 ] ||
		fail "the caller $caller is not in vfs_read, which begins at $start"
	trace --user nobody -o events 'read_zero(uid)' -- tl-calls 2
	expect_every events 'read_zero\(uid=65534\)'
}
t "what is known of the task, the caller, registers" builtins

# In text, and the same in JSON and in a recording, which another machine shows.
symbols() {
	modprobe tlstack || fail "no tlstack"
	local list="kprobe:read_zero(\$caller:sym, \$arg3:sym)" shown='\$caller=vfs_read\+0x[0-9a-f]+, \$arg3=0x1b39\)$'
	trace -o events "$list" -- tl-calls 3
	expect_every events "read_zero\\($shown"
	trace --json -o events "$list" -- tl-calls 3
	expect_every events '"args":\{"\$caller":"vfs_read\+0x[0-9a-f]+","\$arg3":"0x1b39"\}'
	trace -o events 'kprobe:tlstack_last($caller:sym)' -- sh -c 'echo 0 >/sys/module/tlstack/parameters/again'
	expect_every events 'tlstack_last\(\$caller=tlstack_again\+0x[0-9a-f]+ \[tlstack\]\)$'
	trapline record -o rec "$list" 'kprobe:tlstack_last($caller:sym)' -- \
		sh -c 'tl-calls 3 && echo 0 >/sys/module/tlstack/parameters/again' >out 2>err || fail "record: $?"
	rmmod tlstack
	trapline report rec >report 2>err || fail "report: $?"
	expect_is "lines" "$(lines report "read_zero\\($shown")" 3
	expect_is "lines" "$(lines report 'tlstack_last\(\$caller=tlstack_again\+0x[0-9a-f]+ \[tlstack\]\)$')" 1
	trapline report --csv rec >csv 2>err || fail "report --csv: $?"
	expect_in csv ',read_zero,entry,vfs_read\+0x[0-9a-f]+,0x1b39,'
	expect_in csv ',tlstack_last,entry,tlstack_again\+0x[0-9a-f]+ \[tlstack\],'
	expect_is "names in the recording" "$(grep -o '"name":"[^"]*","size"' rec/metadata | sort -u | wc -l)" 2
}
t "symbols of addresses: of functions, modules, in a recording" symbols

symbols_of_data() {
	needs_types
	grep -q ' zero_fops$' /proc/kallsyms || skip "this kernel's symbols are those of functions alone"
	trace -o events 'vfs_read(file->f_op:sym, file->f_op->read_iter:sym, file:sym) if count == 77' -- tl-calls 2 --size 77
	expect_status 0
	expect_every events "vfs_read\\(file->f_op=zero_fops, file->f_op->read_iter=[a-z0-9_]+, file=$hex\\)"
	expect_is "lines" "$(lines events .)" 2
	iter=$(sed -nE '1s/.*read_iter=([a-z0-9_]+),.*/\1/p' events)
	expect_in /proc/kallsyms " [tT] $iter\$"
	trace -o events 'vfs_read(count:sym, (u32)count:sym)' -- true
	expect_status 2
	expect_in err 'has 4 bytes, and an address 8'
}
t "symbols of addresses: tables and what is in them" symbols_of_data

user_memory() {
	needs_types
	local sin='((struct sockaddr_in *)uservaddr)'
	ifconfig lo 127.0.0.1 up 2>/dev/null
	trace -o events "__sys_connect($sin->sin_family, $sin->sin_port:be16, $sin->sin_addr:ip4, uservaddr:hex[8])" -- nc 127.0.0.1 4321
	expect_in events 'sin_family=2, .*sin_port=4321, .*sin_addr=127\.0\.0\.1, uservaddr=020010e17f000001\)'"$(returns ' = -111 ECONNREFUSED')"
	trace -o events "__sys_connect if $sin->sin_port:be16 == 4321" -- true
	expect_status 2
	trace -o events '__sys_connect(*(struct sockaddr_in *)uservaddr)' -- nc 127.0.0.1 4321
	expect_in events 'sin_family=2, '
}
t "a structure in the task's memory, as what it is cast to" user_memory

faults() {
	if [ -z "$typed" ]; then
		trace -o events 'read_zero($arg3:str, $arg3:x)' -- tl-calls 3
		expect_every events '\(fault\), .*=0x1b39\) = 0x1b39'
		expect_is "lines" "$(lines events .)" 3
		return
	fi
	trace -o events 'read_zero(((struct file *)0x10)->f_flags, count, (char *)0x20, ((struct file *)$arg3)->f_path.dentry)' -- tl-calls 3
	expect_status 2
	trace -o events "read_zero(((struct file *)$zero_count)->f_flags, $zero_count, (char *)$zero_count, ((struct file *)$zero_count)->f_path.dentry->d_sb->s_id)" -- tl-calls 3
	expect_every events 'f_flags=\(fault\), (count=6969|.arg3=0x1b39), \(char \*\)(count|.arg3)=\(fault\), .*s_id=\(fault\)\)'"$(returns " = $read_size")"
	expect_is "lines" "$(lines events .)" 3
	trace --json -o events "read_zero(((struct file *)$zero_count)->f_flags, $zero_count)" -- tl-calls 1
	expect_in events '"args":\{"\(\(struct file \*\)(count|.arg3)\)->f_flags":\{"status":"fault"\},"(count":6969|.arg3":"0x1b39")\}'
}
t "what can't be read is shown as that" faults

structures() {
	needs_types
	trace -o events "vfs_read(*file, file->f_path)$(returns ' = $retval') if count == 77" -- tl-calls 2 --size 77
	expect_status 0
	expect_is "lines" "$(lines events .)" 2
	expect_every events 'file->f_inode='"$hex"', .*file->f_flags=[0-9]+, .*file->f_path\.dentry='"$hex.*\\)$(returns ' = 77')"
	trace -o events "vfs_open(*path->dentry->d_sb)$(returns ' = $retval')" -- tl-calls 1
	expect_in events 'path->dentry->d_sb->s_id="devtmpfs"'
}
t "a whole structure is its members" structures

counted() { # COUNT PROBE: of these readers
	trace -o events "$2" -- sh -c 'tl-calls 30 --size 100; tl-calls 20 --size 5000'
	expect_status 0
	expect_is "lines of '$2'" "$(lines events .)" "$1"
	expect_sums
}

conditions() {
	needs_types
	counted 20 'vfs_read(count) if count > 4KiB && comm == "tl-calls" && count == 5000'
	counted 30 "read_zero if $zero_count == 100 && \$comm == \"tl-calls\""
	counted 0 'read_zero if comm != "tl-calls"'
	counted 30 "read_zero($zero_count) /$zero_count < 10000 div 4 && ($zero_count & 4) != 0/"
	counted 20 "read_zero($zero_count) /$zero_count >= 10000 / 2/"
	counted 50 "read_zero if $zero_file${name#file} == \"zero\" && $zero_file->f_path.dentry->d_sb->s_id == \"devtmpfs\""
	counted 0 "read_zero if $zero_file${name#file} == \"zeroes\""
	counted 50 "read_zero if $zero_file->f_pos >= 0"
	counted 0 "read_zero if ((struct file *)$zero_count)->f_flags == 0"
	counted 0 "read_zero if ((struct file *)$zero_count)->f_flags != 0"
	trace -o events 'hrtimer_nanosleep(mode) if mode == HRTIMER_MODE_REL' -- usleep 2000
	expect_every events 'hrtimer_nanosleep\(mode=HRTIMER_MODE_REL\)'
}
t "conditions on the same expressions" conditions

conditions_on_results() {
	needs_returns
	counted 50 "read_zero($zero_count) if \$retval == $zero_count"
	counted 20 "read_zero($zero_count) if \$retval > 1KiB || $zero_count == 5000"
}
t "conditions on the return value and expressions" conditions_on_results

reported() {
	needs_types
	timeout -s KILL 60 trapline record $entries -o rec "vfs_read($name, count:x, \$comm) if count == 6969" -- tl-calls 3 >out 2>err </dev/null
	timeout -s KILL 60 trapline report rec >events 2>told
	expect_every events 'vfs_read\(file->f_path\.dentry->d_name\.name="zero", count=0x1b39, \$comm="tl-calls"\)'"$(returns ' = 6969')"
	timeout -s KILL 60 trapline report --csv rec >events 2>told
	expect_in events ',kind,file->f_path\.dentry->d_name\.name,count,\$comm,text,'"$(returns return,)"
	expect_in events ',vfs_read,(call,zero,0x1b39,tl-calls,,6969,,[0-9]+|entry,zero,0x1b39,tl-calls,.*)$'
	timeout -s KILL 60 trapline report --json rec >events 2>told
	tl-json event return <events >fields || fail "not JSON: $(cat fields)"
	expect_in events '"args":\{"file->f_path.dentry->d_name.name":"zero","count":"0x1b39","\$comm":"tl-calls"\}'
	grep -a -q '_file__f_path_dentry__d_name_name;' rec/metadata || fail "the metadata has no such field"
}
t "a recording keeps the expressions for names" reported

mistakes() {
	entries='' # of calls
	refused 2 "a member's name is expected behind '->'" 'single quotes' 'vfs_read(file->)'
	refused 2 "a value is expected here" 'single quotes' 'vfs_read(count) = '
	refused 2 "' ' is not expected here" 'FUNC' 'vfs_read (count)'
	refused 125 "there is no function vfs_reda" 'did you mean vfs_read' 'vfs_reda(count)'
	refused 2 "there is no file to be had" 'no parameters are known' 'trapline:tl_device_mmap(file)'
	if [ -z "$typed" ]; then
		refused 2 'there is no count to be had' 'this kernel has no BTF.*: .arg1 is the first' 'vfs_read if count == 1'
		refused 2 'no types are known' 'this kernel has no BTF' 'vfs_read(((struct file *)$arg1)->f_pos)'
		return
	fi
	refused 2 'struct file has no member f_dentry' 'it has f_' 'vfs_read(file->f_dentry)'
	expect_is "the caret" "$(grep -n '^ *^$' err)" "3:$(printf '%*s' $((4 + 15)) '')^"
	refused 2 'there is no parameter cuont' 'the parameters are count' 'vfs_read(cuont)'
	refused 2 "there is no type fle" 'did you mean struct file[,?]' 'vfs_read(((struct fle *)buf)->f_pos)'
}
t "a mistake in a list: a caret shows where, and a way out" mistakes

untyped() {
	needs_types
	trace -d 1 -o events 'kprobe:trapline:tl_device_poll($arg1, ((struct file *)$arg1)->f_flags:x, pid)'
	expect_status 0
	expect_in err 'no types, arguments are raw, of tl_device_poll$'
}
t "a function without types: casts to the kernel's" untyped
