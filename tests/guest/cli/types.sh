# shellcheck shell=dash
# SPDX-License-Identifier: GPL-2.0
# Types from the kernel's BTF: names, numbers, texts, and the same in every form of output.

user_text() {
	if [ -z "$typed" ]; then
		trace -o events 'do_sys_openat2($arg2:ustr)' -- cat /nonexistent
		expect_in events ': do_sys_openat2\(.*="/nonexistent"\) = -2 ENOENT <'
		return
	fi
	trace -o events do_sys_openat2 -- cat /nonexistent
	expect_in events ': do_sys_openat2\(dfd=-100, filename="/nonexistent", how='"$hex\)$(returns ' = -2 ENOENT <')"
	trace --json -o events do_sys_openat2 -- cat /nonexistent
	tl-json event return errno <events >fields || fail "not JSON: $(cat fields)"
	[ -n "$entries" ] || expect_in fields '^"do_sys_openat2"	-2	"ENOENT"$'
	expect_in events '"args":\{"dfd":-100,"filename":"/nonexistent","how":"0x[0-9a-f]+"\}'
}
t "text in user memory, signed numbers, errors" user_text

kernel_text() {
	if [ -z "$typed" ]; then
		trace -o events 'get_fs_type($arg1:str)' -- busybox mount -t nosuchfs none /tmp
		expect_in events ': get_fs_type\(.*="nosuchfs"\) = 0x0 <'
		return
	fi
	trace -o events get_fs_type -- busybox mount -t nosuchfs none /tmp
	expect_in events ': get_fs_type\(name="nosuchfs"\)'"$(returns ' = 0x0 <')"
}
t "text in kernel memory, a returned pointer" kernel_text

enums() {
	needs_types
	trace -o events hrtimer_nanosleep -- usleep 2000
	expect_every events "$head_re"'hrtimer_nanosleep\(rqtp=2000000, mode=HRTIMER_MODE_(REL|ABS), clockid=[01]\)'"$(returns " = 0 $took")"'$'
}
t "an enum's name" enums

void_functions() {
	needs_types
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
	if [ -n "$typed" ]; then
		expect_in err '^trapline: the module trapline has no BTF: no types, arguments are raw, of tl_device_poll, tl_device_mmap$'
	else
		expect_in err '^trapline: this kernel has no BTF: no types, arguments are raw, of tl_device_poll, tl_device_mmap, vfs_read$'
	fi
}
t "no types are said once, with the reason" untyped_functions

# Words without names: in text, CSV and JSON.
raw_alike() {
	expect_in events ": do_sys_openat2\\(0x(ffffffff)?ffffff9c(, $hex){5}\\) = -2 ENOENT <"
	expect_in events ": hrtimer_nanosleep\\(0x1e8480(, $hex){5}\\) = 0x0 <"
	timeout -s KILL 40 trapline report --csv rec >events 2>told
	expect_in events ',do_sys_openat2,call,0x(ffffffff)?ffffff9c,.*,0xfffffffffffffffe,ENOENT,[0-9]+$'
	timeout -s KILL 40 trapline report --json rec >events 2>told
	expect_in events '"event":"hrtimer_nanosleep".*"0x1e8480".*"return":"0x0",'
}

reported_alike() {
	needs_returns
	timeout -s KILL 40 trapline record -o rec do_sys_openat2 hrtimer_nanosleep read_zero -- \
		sh -c 'cat /nonexistent; usleep 2000; tl-calls 3' >out 2>err </dev/null
	timeout -s KILL 40 trapline report rec >events 2>told
	if [ -z "$typed" ]; then
		raw_alike
		return
	fi
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

module_file=/usr/lib/debug/trapline.ko
needs_dwarf() {
	[ -z "$reads_dwarf" ] || grep -q '[.]debug_info' "$module_file" || skip "this kernel's modules have no debug information"
}

# Everybody but us calls it: another trapline, as COMMAND.
dwarf_types() {
	needs_dwarf
	trace --vmlinux "$module_file" -o events trapline:tl_device_open -- trapline mark here
	[ "$reads_dwarf" ] || { expect_status 125 && expect_in err 'made without libdw' && return; }
	expect_status 0
	expect_in events "$head_re"'trapline:tl_device_open\(inode='"$hex, file=$hex"'\) = 0 '"$took"'$'
	trace --vmlinux "$module_file" -o events 'trapline:tl_device_open(file->f_mode, (u32)$arg1)' -- trapline mark here
	expect_in events 'tl_device_open\(file->f_mode='"$hex"', \(u32\)\$arg1=[0-9]+\) = 0 '
	trapline list --args --vmlinux "$module_file" trapline:tl_device_open >out 2>err || fail "status $?"
	expect_in out '^int tl_device_open\(struct inode \*inode, struct file \*file\)	trapline	0x'
}
t "types of a module's DWARF" dwarf_types

source_places() {
	needs_libdw
	needs_dwarf
	trace --vmlinux "$module_file" -o events tl_device_open@device.c trapline:tl_device_release:2 -- trapline mark here
	expect_status 0
	expect_in events ': tl_device_open@device.c\(inode='"$hex"', file='
	expect_in events ': trapline:tl_device_release:2: '
	trace tl_device_release:2 -- true
	expect_status 125
	expect_in err "^trapline: probe 'tl_device_release:2': files and lines of the source are known from DWARF alone$"
	trace --vmlinux "$module_file" tl_device_open@nowhere.c -- true
	expect_status 125
	expect_in err 'nowhere.c defines no function tl_device_open$'
}
t "places by file and line" source_places

compiled_probes() {
	needs_types
	trapline compile --btf /sys/kernel/btf/vmlinux -o set.tlp 'get_fs_type if name == "nosuchfs"' >out 2>err || fail "status $?"
	expect_in err '^trapline: 1 probe in set.tlp, for the kernel '
	trace @set.tlp -- busybox mount -t nosuchfs none /tmp
	expect_status 125
	expect_in err "^trapline: set.tlp: of which kernel it was compiled for nothing is known"
	trace --force -o events @set.tlp -- busybox mount -t nosuchfs none /tmp
	expect_every events ': get_fs_type\(name="nosuchfs"\)'"$(returns ' = 0x0 <')"
	# shellcheck disable=SC2086 # or no word
	timeout -s KILL 40 trapline record --force $entries -o rec @set.tlp -- busybox mount -t nosuchfs none /tmp >out 2>err </dev/null
	timeout -s KILL 40 trapline report rec >events 2>told
	expect_in events ': get_fs_type\(name="nosuchfs"\)'"$(returns ' = 0x0 <')"
	trace @set.tlp vfs_read -- true
	expect_status 2
	expect_in err '^trapline: @set.tlp stands alone'
	head -c 300 set.tlp >cut.tlp
	trace @cut.tlp -- true
	expect_status 125
	expect_in err '^trapline: cut.tlp: damaged'
	trace @nothing.tlp -- true
	expect_status 125
	expect_in err '^trapline: cannot open nothing.tlp: '
}
t "compiled probes" compiled_probes

compiled_by_dwarf() {
	needs_libdw
	needs_dwarf
	trapline compile --vmlinux "$module_file" -o set.tlp 'trapline:tl_device_open(file->f_mode)' \
		trapline:tl_device_release:2 tl_device_open@device.c >out 2>err || fail "status $?: $(cat err)"
	trace -o events @set.tlp -- trapline mark here
	expect_status 0
	expect_in events ': trapline:tl_device_open\(file->f_mode='"$hex"'\) = 0 '
	expect_in events ': tl_device_open@device.c\(inode='"$hex"', file='"$hex"'\) = 0 '
	expect_in events ': trapline:tl_device_release:2: '
}
t "compiled probes, by DWARF" compiled_by_dwarf

not_types() {
	needs_types
	trace --btf /sys/kernel/btf/vmlinux -o events get_fs_type -- busybox mount -t nosuchfs none /tmp
	expect_every events ': get_fs_type\(name="nosuchfs"\)'"$(returns ' = 0x0 <')"
	echo nothing >text
	trace --btf text get_fs_type -- true
	expect_status 125
	expect_in err '^trapline: text: no BTF, and no ELF file that has a section .BTF$'
}
t "types of no file of types are refused" not_types

# The same file but for its build id.
another_build() {
	needs_libdw
	needs_dwarf
	cp "$module_file" other.ko
	# Behind the name of the note of that type, 3.
	strings -n 3 -t d "$module_file" | awk 'NF == 2 && $2 == "GNU" { print $1 }' | while read -r name; do
		[ "$(dd if="$module_file" bs=1 skip=$((name - 4)) count=1 2>/dev/null | hexdump -e '"%d"')" != 3 ] ||
			printf '\377\377\377' | dd of=other.ko bs=1 seek=$((name + 4)) conv=notrunc 2>/dev/null
	done
	trace --vmlinux other.ko trapline:tl_device_open -- true
	expect_status 125
	expect_in err '^trapline: other.ko is not of the module trapline that runs: it is of another build \(build id '
	trace --vmlinux other.ko --btf /sys/kernel/btf/vmlinux vfs_read -- true
	expect_status 2
}
t "types of another build are refused" another_build
