# shellcheck shell=dash
# SPDX-License-Identifier: GPL-2.0
# Types from the kernel's BTF: names, numbers, texts, and the same in every form of output.

user_text() {
	trace -o events do_sys_openat2 -- cat /nonexistent
	expect_in events ': do_sys_openat2\(dfd=-100, filename="/nonexistent", how='"$hex\)$(returns ' = -2 ENOENT <')"
	trace --json -o events do_sys_openat2 -- cat /nonexistent
	tl-json event return errno <events >fields || fail "not JSON: $(cat fields)"
	[ -n "$entries" ] || expect_in fields '^"do_sys_openat2"	-2	"ENOENT"$'
	expect_in events '"args":\{"dfd":-100,"filename":"/nonexistent","how":"0x[0-9a-f]+"\}'
}
t "text in user memory, signed numbers, errors" user_text

kernel_text() {
	trace -o events get_fs_type -- busybox mount -t nosuchfs none /tmp
	expect_in events ': get_fs_type\(name="nosuchfs"\)'"$(returns ' = 0x0 <')"
}
t "text in kernel memory, a returned pointer" kernel_text

enums() {
	trace -o events hrtimer_nanosleep -- usleep 2000
	expect_every events "$head_re"'hrtimer_nanosleep\(rqtp=2000000, mode=HRTIMER_MODE_(REL|ABS), clockid=[01]\)'"$(returns " = 0 $took")"'$'
}
t "an enum's name" enums

void_functions() {
	trace -o events fput -- cat /etc/hostname
	expect_every events "$head_re"'fput\(file=0x[0-9a-f]+\)'"$(returns " $took")"'$'
	trace --json -o events fput -- cat /etc/hostname
	expect_in events '"args":\{"file":"0x[0-9a-f]+"\}'"$(returns ',"duration_ns"')"
}
t "a void function has no return value" void_functions

# The module under test is built without BTF.
untyped_functions() {
	# shellcheck disable=SC2046 # or no word
	trace -d 1 kprobe:trapline:tl_device_poll $(returns kretprobe:trapline:tl_device_poll) trapline:tl_device_mmap vfs_read
	expect_status 0
	expect_is "what is said" "$(grep -c 'no types' err)" 1
	expect_in err '^trapline: the module trapline has no BTF: no types, arguments are raw, of tl_device_poll, tl_device_mmap$'
}
t "no types are said once, with the reason" untyped_functions

reported_alike() {
	needs_returns
	timeout -s KILL 40 trapline record -o rec do_sys_openat2 hrtimer_nanosleep read_zero -- \
		sh -c 'cat /nonexistent; usleep 2000; tl-calls 3' >out 2>err </dev/null
	timeout -s KILL 40 trapline report rec >events 2>told
	expect_in events ': do_sys_openat2\(dfd=-100, filename="/nonexistent", how='"$hex"'\) = -2 ENOENT <'
	expect_in events 'mode=HRTIMER_MODE_(REL|ABS), clockid=[01]\) = 0 <'
	expect_in events ': read_zero\('"$read_args"'\) = '"$read_size <"
	timeout -s KILL 40 trapline report --csv rec >events 2>told
	expect_in events '^time_ns,.*,kind,dfd,filename,how,rqtp,mode,clockid,'"${zero_typed:+file,buf,count,}"'.*,return,errno,duration_ns$'
	expect_in events ',do_sys_openat2,call,-100,/nonexistent,0x[0-9a-f]+,.*,-2,ENOENT,[0-9]+$'
	timeout -s KILL 40 trapline report --json rec >events 2>told
	expect_in events '"args":\{"rqtp":2000000,"mode":"HRTIMER_MODE_(REL|ABS)","clockid":[01]\},"return":0,'
}
t "a recording keeps types: the same in text, CSV and JSON" reported_alike
