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
		expect_status 2
		expect_in err 'a call keeps up to 4100 bytes until its return, and 4064 are the most'
		expect_in err '^  record less, .*; or the entry alone'
	fi
	trace 'kprobe:do_sys_openat2(filename:str[4097])' -- touch ran
	expect_status 2
	expect_in err '1 to 4096 bytes can be recorded'
	[ ! -e ran ] || fail "COMMAND ran"
}
t "texts: what is too long, and the way out" too_long

page_size=$(awk '$1 == "KernelPageSize:" { print $2 * 1024; exit }' /proc/self/smaps)
across=$((2 * page_size - 2)) # where a text begins that goes on in the next page

# away OFFSET FORMAT PART WHOLE: of a text there, whose last page isn't in memory before the kernel
# reads it, the PART before that page, then the WHOLE.
away() {
	# shellcheck disable=SC2086 # or no word
	trace -o lines "kprobe:tlt_user(\$arg1:$2)" -- tl-away /proc/tltypes file "$1" 5 $swap
	expect_status 0
	expect_sums
	sed -E "s/$head_re//" lines >events
	printf '%s\n' "tlt_user(\$arg1=$3(fault))" "tlt_user(\$arg1=$4)" >expected
	cmp -s expected events || fail "$(diff expected events)"
}

absent() {
	truncate -s $((4 * page_size)) file
	printf 'pass\n' | dd of=file conv=notrunc 2>/dev/null
	printf 'pass\n' | dd of=file bs=1 seek=$across conv=notrunc 2>/dev/null
	away 0 ustr '' '"pass\n"'
	away $across ustr '"pa"' '"pass\n"'
	away $across str '"pa"' '"pass\n"'
	away 0 hex[5] '' 706173730a
	away $across hex[5] 7061 706173730a
}

# What a text begins with can make it unequal for sure.
compared() {
	needs_sources
	truncate -s $((4 * page_size)) file
	printf 'pass\n' | dd of=file bs=1 seek=$across conv=notrunc 2>/dev/null
	# shellcheck disable=SC2046,SC2086 # several words, or none
	trace $(options_of "${type_sources##* }") -o lines tlt_user 'tlt_user(size) if text == "pass\n"' 'tlt_user() if text != "past"' \
		'tlt_user(size:x) if text != "other"' -- tl-away /proc/tltypes file $across 5 $swap
	expect_sums
	rm -f events
	same_events types
	expect_lines 'tlt_user(text="pa"(fault), size=5)' 'tlt_user(text="pass\n", size=5)' 'tlt_user(size=5)' 'tlt_user()' \
		'tlt_user(size=0x5)' 'tlt_user(size=0x5)'
	expect_is "filtered" "$(awk '$1 == "total" { print $4 }' err)" 2
}

dropped() {
	swap=''
	"$1"
}
dropped_text() { dropped absent; }
tf "texts: one in a page that isn't there is a fault" dropped_text
dropped_comparison() { dropped compared; }
tf "texts: one in a page that isn't there is neither equal nor unequal" dropped_comparison

swapped() {
	[ -e /proc/swaps ] || skip "this kernel swaps nothing"
	modprobe brd rd_nr=1 rd_size=8192 2>/dev/null
	[ -b /dev/ram0 ] || skip "this kernel has no disk to swap to"
	mkswap /dev/ram0 >made || fail "mkswap"
	swapon /dev/ram0 || fail "swapon"
	swap=swap
	("$1")
	local status=$?
	swapoff /dev/ram0
	rmmod brd 2>/dev/null
	return $status
}
swapped_text() { swapped absent; }
tf "texts: one that is swapped out is a fault" swapped_text
swapped_comparison() { swapped compared; }
tf "texts: one that is swapped out is neither equal nor unequal" swapped_comparison
