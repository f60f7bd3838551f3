# shellcheck shell=dash
# SPDX-License-Identifier: GPL-2.0
# `trapline list`: held against /proc/kallsyms, and against what the kernel takes.

list_functions() { # ARGUMENT...: into status, out and err
	timeout -s KILL 120 trapline list "$@" >out 2>err </dev/null
	echo $? >status
}

# Nothing is said, but where the kernel lists no forbidden functions: that they are among these.
expect_no_warning() {
	if [ -n "$debugfs" ]; then
		expect_empty err
	else
		expect_every err '^trapline: .*blacklist can.t be read|^  this kernel has no debugfs'
	fi
}

tab=$(printf '\t')

# kallsyms PATTERN [MODULE]: "name address" of its functions, each place once, by address. ($x and the
# like are marks between code and data.)
kallsyms() {
	awk -v pattern="$1" -v module="[$2]" '
		$2 ~ /^[tTwW]$/ && $3 !~ /^([$]|[.]L)/ && $3 ~ pattern && (module == "[]" ? NF == 3 : $4 == module) { print $3, "0x" $1 }' \
		/proc/kallsyms | sort -u | sort -k 2
}

as_kallsyms_has_it() {
	list_functions 'vfs_*'
	expect_status 0
	expect_no_warning
	# What ran at boot lies behind the rest of the text. Compared as strings.
	kallsyms '^vfs_' | grep -v '\.cold' |
		awk -v end="$(awk '$3 == "_etext" { print "0x" $1 }' /proc/kallsyms)" '($2 "") < (end "")' >expected
	[ "$(wc -l <expected)" -gt 20 ] || fail "this kernel has no vfs_ functions"
	awk -F "$tab" 'NF == 3 && $2 == "" { sub(/#.*/, "", $1); print $1, $3 }' out | sort -k 2 >listed
	cmp expected listed || fail "lists differ: $(diff expected listed | head -4)"
	list_functions vfs_read
	expect_is "the line" "$(cat out)" "vfs_read$tab${tab}0x$(awk '$3 == "vfs_read" { print $1 }' /proc/kallsyms)"
}
t "list GLOB: name, module, address, as /proc/kallsyms has them" as_kallsyms_has_it

of_a_module() {
	list_functions --all 'trapline:*'
	expect_status 0
	kallsyms . trapline >expected
	expect_is "functions" "$(wc -l <out)" "$(wc -l <expected)"
	expect_every out "^[^$tab]+${tab}trapline${tab}0x[0-9a-f]{16}($tab.+)?\$"
	[ -n "$debugfs" ] || return 0 # what is blacklisted isn't known
	expect_in out "^tl_entry_general${tab}trapline$tab.*${tab}blacklisted: "
	list_functions 'trapline:*'
	expect_not_in out blacklisted
	[ "$(wc -l <out)" -lt "$(wc -l <expected)" ] || fail "the blacklisted ones are listed"
	expect_in out "^tl_probe_plant$tab"
}
t "list MODULE:GLOB: a module's, and of them those that can be probed" of_a_module

# The same lines, but for the names: the module under test is built without BTF.
prototypes() {
	list_functions --args 'vfs_rea*'
	expect_status 0
	cp out prototypes
	if [ -n "$typed" ]; then
		expect_no_warning
		expect_in prototypes "^ssize_t vfs_read\\(struct file \\*file, char \\*buf, size_t count, loff_t \\*pos\\)$tab${tab}0x"
		expect_every prototypes "^([a-z].* \\*?vfs_rea[^ ]*\\(.*\\)|vfs_rea[^ ]*\\(\\?\\))$tab${tab}0x[0-9a-f]+\$"
	else
		expect_in err "^trapline: the kernel's types aren't known: this kernel has no BTF"
		expect_every prototypes "^vfs_rea[^ ]*\\(\\?\\)$tab${tab}0x[0-9a-f]+\$"
	fi
	list_functions 'vfs_rea*'
	[ "$(lines out .)" -gt 1 ] || fail "there is but one"
	expect_is functions "$(sed -E 's/^([^(]*[ *])?([^ (]*)\(.*\)'"$tab"'/\2'"$tab"'/' prototypes)" "$(cat out)"
	list_functions --args trapline:tl_device_poll
	expect_status 0
	expect_in out "^tl_device_poll\\(\\?\\)${tab}trapline${tab}0x"
}
t "list --args GLOB: prototypes, and NAME(?) where types aren't known" prototypes

# What is listed is taken, what is refused isn't.
true_to_the_kernel() {
	list_functions 'ksys_*'
	expect_status 0
	cut -f 1 out >names
	[ "$(wc -l <names)" -gt 10 ] || fail "this kernel has no ksys_ functions"
	# A place that the kernel alone knows to be bad may be among them.
	# shellcheck disable=SC2046 # one word each
	trace $(cat names) -- true
	if [ "$(cat status)" != 0 ]; then
		bad=$(sed -n "s/^trapline: probe '\([^']*\)'.*/\1/p" err)
		[ "$(echo "$bad" | wc -w)" = 1 ] || fail "more than one is refused"
		# shellcheck disable=SC2046
		trace $(grep -vxF "$bad" names) -- true
	fi
	expect_status 0
	list_functions --all '*'
	expect_status 0
	cp out all
	[ -z "$debugfs" ] || expect_in all "${tab}blacklisted"
	expect_in all "${tab}ran at boot"
	# Of those before the first of modules': a spread.
	awk -F "$tab" '$2 == "" && $4 ~ /^(blacklisted|ran at boot)/ && NR % 97 == 0 { print $1 }' all | head -n 6 >refused
	[ "$(wc -l <refused)" = 6 ] || fail "too few are refused"
	while read -r function; do
		trace "$function" -- touch ran
		expect_status 125
		[ ! -e ran ] || fail "$function: COMMAND ran"
	done <refused
	list_functions
	awk -F "$tab" 'NF == 3' all >probed
	cmp out probed || fail "without --all it isn't what --all gives no reason for"
}
t "what is listed can be probed, what --all refuses can't" true_to_the_kernel

# Not a call, but a place: nothing returns from there.
cold_parts() {
	local cold
	grep -qE ' [tT] [^ ]+\.cold(\.[0-9]+)?$' /proc/kallsyms || skip "this kernel's functions have no cold parts"
	list_functions --all '*'
	cold=$(awk -F "$tab" '$4 ~ /^cold part/ && $1 !~ /#/ { print $1; exit }' out)
	entries='' # of calls
	trace "$cold" -- touch ran
	expect_status 125
	expect_in err 'no return that belongs to it'
	[ ! -e ran ] || fail "$cold: COMMAND ran"
	trace "kprobe:$cold" -- true
	expect_status 0
}
t "a function's cold part can have an entry probe, and no other" cold_parts

# The function that the kernel's only kprobe is on.
listed() {
	local at place
	planted >planted
	read -r at _ place _ <planted
	printf '0x%x' $((0x$at - 0${place:+x${place##*+0x}}))
}

namesakes() {
	list_functions '*'
	function=$(awk -F "$tab" '$1 ~ /#2$/ && $2 == "" { sub(/#2$/, "", $1); print $1; exit }' out)
	[ -n "$function" ] || fail "no functions share a name"
	awk -F "$tab" -v name="$function" 'index($1, name "#") == 1 && $2 == "" { print $1, $3 }' out | head -n 2 >same
	expect_is "the first two" "$(cut -d ' ' -f 1 same | tr '\n' ' ')" "$function#1 $function#2 "
	while read -r name address; do
		trace_background "$name"
		tracing
		expect_is "the function probed" "$(listed)" "$address"
		kill -INT $tool
		ended
		expect_status 0
	done <same
}
t "functions of one name have the numbers that trace takes" namesakes

# A number is the same behind a module's name: of a function that the kernel image has too.
namesakes_in_modules() {
	local function module name number address
	list_functions '*'
	awk -F "$tab" '$1 ~ /#/ { split($1, at, "#"); if ($2 == "") image[at[1]] = 1; else if (at[1] in image) { print at[1], at[2], $2, $3; exit } }' out >same
	read -r name number module address <same
	[ -n "$module" ] || skip "no module has a function of a name that the kernel image has"
	for function in "$name#$number" "$module:$name#$number"; do
		trace_background "kprobe:$function"
		tracing
		expect_is "the function probed" "$(listed)" "$address"
		kill -INT $tool
		ended
		expect_status 0
		trapline explain "kprobe:$function" >out 2>err || fail "explain $function: $(cat err)"
		expect_in out "${address#0x}|$(printf %x $((address + entry)))"
	done
	trace "$module:$name#1" -- true
	expect_status 125
	expect_in err "$name#1 is not in $module: it is $name"
}
t "a number is the same behind a module's name, for list, trace and explain" namesakes_in_modules

nothing() {
	list_functions vfs_raed
	expect_status 1
	expect_empty out
	expect_in err "^trapline: no function matches 'vfs_raed'"
	expect_in err '^  did you mean .*vfs_read'
	if [ -n "$debugfs" ]; then
		list_functions "$(blacklisted_function)"
		expect_status 1
		expect_empty out
		expect_in err "can be probed$"
	fi
	list_functions 'no_such_module:*'
	expect_status 1
	expect_in err 'no_such_module is not loaded'
	list_functions vfs_read vfs_write
	expect_status 2
	list_functions --nonsense
	expect_status 2
	expect_empty out
}
t "nothing matches: 1, and what may have been meant; wrong usage: 2" nothing

hidden() {
	su nobody -c "trapline list 'vfs_rea*'" >out 2>err </dev/null || fail "status $?"
	expect_in out "^vfs_read$tab${tab}hidden\$"
	expect_is "warnings" "$(lines err '^trapline: ')" 2
	expect_in err 'blacklist can.t be read'
	expect_in err '^trapline: addresses are hidden'
	echo 2 >/proc/sys/kernel/kptr_restrict
	list_functions 'vfs_rea*'
	cp out visible
	list_functions --all "$(blacklisted_function)"
	echo 0 >/proc/sys/kernel/kptr_restrict
	expect_in visible "^vfs_read$tab${tab}hidden\$"
	expect_in err '^  run as root, with kernel.kptr_restrict at most 1'
	[ -n "$debugfs" ] || return 0
	expect_not_in err 'blacklist can.t be read'
	expect_every out "${tab}hidden${tab}blacklisted"
}
t "hidden addresses, an ordinary user: names, and what isn't known is said" hidden

closed_pipe() {
	(timeout -s KILL 120 trapline list 2>err; echo $? >status) | head -n 1 >out
	expect_is lines "$(wc -l <out)" 1
	expect_status 141
	expect_no_warning
	(trap '' PIPE; timeout -s KILL 120 trapline list 2>err; echo $? >status) | head -n 1 >out
	expect_status 141
	expect_no_warning
	timeout -s KILL 120 trapline list >/dev/full 2>err
	expect_is status $? 125
	expect_in err 'standard output.*No space left'
}
t "list ends quietly when its reader goes, and not on a full disk" closed_pipe
