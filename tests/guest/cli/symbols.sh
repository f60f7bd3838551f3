# shellcheck shell=dash
# SPDX-License-Identifier: GPL-2.0
# Names that mean several functions, none, or a place without a name.

call_places() { echo 'echo 5 >/sys/module/tlplaces/parameters/call'; }

# tp NAME FUNCTION: a test with the module tlplaces.
tp() {
	places_test=$2
	t "$1" in_places
}
in_places() {
	modprobe tlplaces || return
	("$places_test")
	local status=$?
	rmmod tlplaces
	return $status
}

twins() {
	trace tlp_twin -- true
	expect_status 125
	expect_in err '2 functions have this name'
	trace --all tlp_twin -- sh -c "$(call_places)"
	expect_status 0
	expect_is calls "$(lines out ': tlp_twin#1\(')" 1
	expect_is calls "$(lines out ': tlp_twin#2\(')" 1
	expect_in err '^trapline: tlp_twin: 2 functions have this name, all are traced$'
	expect_sums
	trace tlp_twin#2 -- sh -c "$(call_places)"
	expect_is calls "$(lines out ': tlp_twin#2\(')" 1
	expect_is events "$(lines out .)" 1
}
tp "several functions of one name: --all takes all, #N one" twins

# The compiler keeps the number alone: 5, then 6.
clones() {
	grep -q ' tlp_cloned[.]' /proc/kallsyms || fail "the compiler made no clone"
	trace 'tlp_cloned if $arg1 == 6' -- sh -c "$(call_places)"
	expect_status 0
	expect_is events "$(lines out .)" 1
	expect_in out ': tlp_cloned\.(constprop|isra)[.a-z0-9]*\(0x6, '
	expect_in err 'the compiler made tlp_cloned\.(constprop|isra)[.a-z0-9]* of it, traced instead'
	expect_in err 'arguments are raw, of tlp_cloned\.'
	expect_is filtered "$(account "$(sed -n 's/.*: \(tlp_cloned[^(]*\)(.*/\1/p' out)" filtered)" 1
	expect_sums
	trapline explain tlp_cloned >out 2>err
	echo $? >status
	expect_status 125
	expect_in err 'probe tlplaces:tlp_cloned\.(constprop|isra)[.a-z0-9]* instead'
}
tp "a clone is traced by its base name, raw, and that is said" clones

patterns() {
	trace 'tlp_*' -- sh -c "$(call_places)"
	expect_status 0
	for name in 'tlp_twin#1' 'tlp_twin#2' tlp_call_twin tlp_switched; do
		expect_is "calls of $name" "$(lines out ": $name\\(")" 1
	done
	expect_is "calls of the clone" "$(lines out ': tlp_cloned[.]')" 2
	expect_sums
	trace 'tlplaces:tlp_tw?n' -- sh -c "$(call_places)"
	expect_is events "$(lines out .)" 2
	if [ -n "$typed" ]; then
		trace 'vfs_re[a]d*(count)' -- dd if=/proc/version of=/dev/null
		expect_status 0
		expect_in out ': vfs_read\(count=[0-9]+\)'"$(returns ' = ')"
		expect_in err '^trapline: vfs_re\[a\]d\*\(count\): left out, .*vfs_readlink'
	fi
	trace 'tlp_nothing_*' -- touch ran
	expect_status 125
	expect_in err "probe 'tlp_nothing_\*': no function matches"
	# The handlers of x86's exceptions are blacklisted, where that is known.
	if [ "$machine" = x86_64 ] && [ -n "$debugfs" ]; then
		trace 'exc_*' -- touch ran
		expect_status 125
		expect_in err 'none of the [0-9]+ functions that match can be probed'
		expect_in err "^  see why: trapline list --all 'exc_\*'"
	fi
	[ ! -e ran ] || fail "COMMAND ran"
}
tp "a pattern: all that match, and what is left out is counted" patterns

addresses() {
	local address
	address=$(awk '$3 == "tlp_switched" { print $1; exit }' /proc/kallsyms)
	trace "0x$address" -- sh -c "$(call_places)"
	expect_status 0
	expect_is events "$(lines out ': tlp_switched\(')" 1
	trace 0xffffffff00000001 -- true
	expect_status 125
	expect_in err 'there is no function .* at that address'
	trace 0x -- true
	expect_status 2
}
tp "an address is the function there" addresses

# Each offset before the jump label is an instruction's, or is refused for being none.
jump_labels() {
	grep -q ' jump_label_lock$' /proc/kallsyms || skip "this kernel has no jump labels"
	local offset start size
	start=$(awk '$3 == "tlp_switched" { print $1; exit }' /proc/kallsyms)
	size=$(sort /proc/kallsyms | grep -A1 " tlp_switched" | awk '{ print "0x" $1 }' | tail -n 1)
	size=$((size - 0x$start))
	[ $size -gt 8 ] && [ $size -lt 256 ] || fail "tlp_switched is $size bytes?"
	for offset in $(seq 5 $((size - 1))); do
		trapline trace "kprobe:tlp_switched+$offset" -- true >out 2>err && continue
		expect_in err 'a jump label is there|no instruction starts there|outside|ftrace patches|code that it patches itself'
		! grep -q 'a jump label is there, a branch that the kernel switches' err || return 0
	done
	fail "no jump label is found"
}
tp "where a jump label is, it says so" jump_labels
