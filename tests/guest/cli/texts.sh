# shellcheck shell=dash
# SPDX-License-Identifier: GPL-2.0
# Long texts: up to 4 KiB of them, and those that end where the memory does.

# A path of 4000 characters, all of it there or not.
long_path() { printf "/%1999s/%1999s" '' '' | tr ' ' d; }

long_user_texts() {
	needs_types
	path=$(long_path)
	trace 'kprobe:do_sys_openat2(filename:str[4096])' -- cat "$path"
	expect_status 1
	expect_in out "filename=\"$path\"\)"
	trace 'do_sys_openat2(filename:str[4000])' -- cat "$path"
	expect_in out "filename=\"$path\"\)$(returns ' = -[0-9]+ ')"
	trace 'do_sys_openat2(filename)' -- cat "$path"
	expect_in out "filename=\"$(echo "$path" | cut -c1-128)\"\.\.\.\)"
	trapline record -o rec 'kprobe:do_sys_openat2(filename:str[4096])' -- cat "$path" >out 2>err </dev/null
	trapline report rec >report 2>/dev/null
	expect_in report "filename=\"$path\"\)"
}
t "texts: 4096 bytes of a path, of an entry and of a call; 128 unless asked for" long_user_texts

kernel_texts() {
	modprobe tlpage || fail "no tlpage"
	trace 'kprobe:tlpage:tlpage_take($arg1:str[4096])' -- sh -c \
		'for n in 0 1 63 64 4095 4096 4097; do echo $n >/sys/module/tlpage/parameters/take; done'
	rmmod tlpage
	expect_status 0
	expect_is lines "$(wc -l <out)" 7
	for n in 0 1 63 64 4095 4096; do
		k=$(printf "%${n}s" '' | tr ' ' k)
		[ $n != 0 ] || k=
		expect_in out "=\"$k\"\)"
	done
	expect_is "cut ones" "$(lines out '"\.\.\.\)')" 1
}
t "texts: one that ends on the last byte before unmapped memory is whole" kernel_texts

too_long() {
	needs_types
	if [ -z "$entries" ]; then
		trace 'do_sys_openat2(filename:str[4096])' -- touch ran
		expect_status 125
		expect_in err 'cannot plant .*: a call can keep at most [0-9]+ bytes .*, not 4100: record less, or the entry alone'
	fi
	trace 'kprobe:do_sys_openat2(filename:str[4097])' -- touch ran
	expect_status 2
	expect_in err '1 to 4096 bytes can be recorded'
	[ ! -e ran ] || fail "COMMAND ran"
}
t "texts: what is too long, and the way out" too_long
