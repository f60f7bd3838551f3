# shellcheck shell=dash
# SPDX-License-Identifier: GPL-2.0
# Names that mean several functions, none, or a place without a name.

call_places() { echo 'echo 5 >/sys/module/tlplaces/parameters/call'; }

# tp NAME FUNCTION: a test with the module tlplaces.
tp() {
	places_test=$2
	t "$1" in_places
}
in_places() { with_module tlplaces "$places_test"; }

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
	for name in 'tlp_twin#1' 'tlp_twin#2' tlp_call_twin tlp_switched tlp_calls_set tlp_target; do
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

# The last function of a module. Some kernels would read behind it, where nothing may be mapped.
last_of_module() {
	for probe in tlplaces:tlp_exit kprobe:tlplaces:tlp_exit; do
		rm -f ran
		trace "$probe" -- touch ran
		[ "$(cat status)" = 0 ] || expect_in err "cannot plant $probe: it is in the last function of a module"
		[ "$(cat status)" = 0 ] || [ ! -e ran ] || fail "COMMAND ran"
	done
}
tp "the last function of a module is traced, or refused with the reason" last_of_module

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

# find_patched FUNCTION WORDS: the first offset in it that is refused with these words: `offset`.
# Each before that is an instruction's, or is refused for being none.
find_patched() {
	local start size
	start=$(awk -v name="$1" '$3 == name { print $1; exit }' /proc/kallsyms)
	size=$(grep -v ' [$.]' /proc/kallsyms | sort | grep -A1 " $1" | awk '{ print "0x" $1 }' | tail -n 1)
	size=$((size - 0x$start))
	[ $size -gt 8 ] && [ $size -lt 256 ] || fail "$1 is $size bytes?"
	for offset in $(seq $((size - 1))); do
		trapline trace "kprobe:$1+$offset" -- true >out 2>err && continue
		! grep -q "$2" err || return 0
		expect_in err 'no instruction starts there|outside|ftrace patches|code that it patches itself'
	done
	fail "no offset in $1 is refused with: $2"
}

jump_labels() {
	grep -q ' jump_label_lock$' /proc/kallsyms || skip "this kernel has no jump labels"
	local offset
	find_patched tlp_switched 'a jump label or a static call is there, code that the kernel switches'
	# It may look like what ftrace patches, which is nowhere but at the function's start.
	trace "kprobe:tlp_switched+$((offset + 1))" -- true
	expect_in err 'no instruction starts there|code that it patches itself'
}
tp "where a jump label is, it says so" jump_labels

static_calls() {
	grep -q ' __SCT__tlp_set' /proc/kallsyms || skip "this machine's kernels patch no static calls"
	local offset
	find_patched tlp_calls_set 'a static call is there, whose target the kernel sets by patching it'
	# The instruction behind it is one like any other.
	trace "kprobe:tlp_calls_set+$((offset + 5))" -- sh -c "$(call_places)"
	expect_status 0
	expect_is events "$(lines out .)" 1
}
tp "where a static call is, it says so" static_calls

# ---- hidden addresses, and the kernel's System.map. Here that is what kallsyms has, moved back a bit as KASLR moves forth: on
# x86-64 alone its digits are known to be enough.
make_map() {
	moved=''
	[ "$machine" != x86_64 ] || moved='s/^(ffffffff)8/\17/; t; s/^(ffffffff)9/\18/; t; s/^(ffffffff)a/\19/; t; s/^(ffffffff)b/\1a/; t; s/^(ffffffff)c/\1b/'
	awk 'NF == 3' /proc/kallsyms | sed -E "$moved" >map
}

# hidden COMMAND...: with hidden addresses.
hidden() {
	local old status
	old=$(cat /proc/sys/kernel/kptr_restrict)
	echo 2 >/proc/sys/kernel/kptr_restrict
	"$@"
	status=$?
	echo "$old" >/proc/sys/kernel/kptr_restrict
	return $status
}

# A function that has two of its name in the kernel image, none elsewhere, that can be probed.
two_of_one_name() {
	local name
	awk 'NF == 3 && $2 ~ /[tT]/ { count[$3]++ } NF == 4 { count[$3] = 9 } END { for (name in count) if (count[name] == 2) print name }' /proc/kallsyms |
		grep -vE '[.]|^__|_init|^init|entry|exit' | sort | while read -r name; do
		if [ "$(trapline list "$name" 2>/dev/null | wc -l)" = 2 ] && trapline trace "kprobe:$name#2" -- true >/dev/null 2>&1; then
			echo "$name"
			break
		fi
	done
}

system_map() {
	local address twice second
	make_map
	address=0x$(awk '$3 == "vfs_read" { print $1; exit }' /proc/kallsyms)
	hidden trace --system-map map --stack "kprobe:$address($arg3:x, \$caller:sym)" -- tl-calls 3
	expect_status 0
	expect_in out "vfs_read\\($arg3=$hex, .caller=[a-z0-9_]*sys_read\\+$hex\\)"
	expect_in out "^	[a-z0-9_]*sys_read\\+$hex\$"
	expect_sums
	hidden trace "kprobe:$address" -- true
	expect_status 125
	expect_in err 'name the kernel.s System.map: --system-map FILE'
	hidden trapline record --system-map map --stack -o rec kprobe:read_zero -- tl-calls 3 >out 2>err || fail "record: $?"
	trapline report rec >report 2>err || fail "report: $?"
	expect_in report "^	vfs_read\\+$hex\$"
	trace --system-map map kprobe:read_zero -- tl-calls 3
	expect_status 0
	expect_in err "System.map|--system-map map isn't needed"
	twice=$(two_of_one_name)
	[ -n "$twice" ] || fail "no two functions of one name"
	second=$(awk -v name="$twice" '$3 == name { at = $1 } END { print at }' /proc/kallsyms)
	hidden trapline explain --system-map map "kprobe:$twice#2" >out 2>err || fail "explain $twice#2: $? $(cat err)"
	expect_in out "^  at 0x$(echo "$second" | sed 's/.$//')[0-9a-f], $twice\\+"
	hidden trapline explain "kprobe:$twice#2" >out 2>err
	expect_is status $? 125
	expect_in err 'hides the addresses'
}
t "hidden addresses: a System.map gives them back" system_map

wrong_map() {
	make_map
	refused() { # REGEX
		hidden trace --system-map wrong kprobe:read_zero -- touch ran
		expect_status 125
		expect_in err "^trapline: --system-map: wrong is not that of the running kernel: $1"
		[ ! -e ran ] || fail "COMMAND ran"
	}
	grep -v ' vfs_read$' map >wrong
	refused 'the kernel that runs has 1 functions that are not in it, such as vfs_read'
	awk '$3 == "vfs_read" { behind = 1 } { print behind && $2 ~ /[tT]/ ? substr($1, 1, 12) "0000" substr($0, 17) : $0 }' map >wrong
	refused '(from [^ ]+ to [^ ]+ it is|in the kernel that runs [^ ]+ is further up)'
	hidden trace --system-map none kprobe:read_zero -- true
	expect_status 125
	expect_in err "cannot read the kernel's symbols from none"
}
t "hidden addresses: a System.map of another kernel is refused" wrong_map
