# shellcheck shell=dash
# SPDX-License-Identifier: GPL-2.0
# What can't be: the status, the offending part by name, a way out; and COMMAND never runs.

# refused STATUS REGEX HINT-REGEX ARGUMENT...
refused() {
	local status=$1 message=$2 hint=$3
	shift 3
	trace "$@" -- touch ran
	[ "$(cat status)" = "$status" ] || fail "trapline trace $*: status $(cat status), expected $status"
	grep -qE -e "^trapline: .*$message" err || fail "trapline trace $*: the message is not like: $message"
	[ "$hint" = - ] || sed 1d err | grep -qE -e "$hint" || fail "trapline trace $*: no hint like: $hint"
	[ ! -e ran ] || fail "trapline trace $*: COMMAND ran"
	[ ! -s out ] || fail "trapline trace $*: something on stdout"
	no_probes || exit 1
}

unknown_function() { refused 125 "'vfs_raed'.*no function vfs_raed" '^  did you mean .*vfs_read' vfs_read vfs_raed; }
t "an unknown function: one alike is suggested" unknown_function

unknown_module() { refused 125 "'nosuch:vfs_read'.*module nosuch" '^  .*vfs_read' nosuch:vfs_read; }
t "an unknown module" unknown_module

outside() { refused 125 "vfs_read\\+0x10000.*outside of vfs_read" '^  offsets are less than 0x' vfs_read+0x10000; }
t "an offset outside the function" outside

# After a good one: all or nothing.
bad_sites() {
	refused 125 "cannot plant vfs_read\+$inside_next: no instruction starts there" '^  ' vfs_open vfs_read+$inside_next
	[ -z "$within" ] ||
		refused 125 "cannot plant kprobe:vfs_read\+$within: .*ftrace patches.*; \\+$inside is the first place behind" '^  ' vfs_open kprobe:vfs_read+$within
	trace kprobe:vfs_read+$inside -- true
	expect_status 0
}
t "an offset inside an instruction, or inside the ftrace site" bad_sites

blacklisted() {
	local name
	name=$(blacklisted_function)
	if [ -n "$debugfs" ]; then
		refused 125 "'$name'.*blacklisted" 'kprobes/blacklist' "$name"
	else # the kernel alone knows
		refused 125 "cannot plant $name: .*blacklisted" 'choose another function' "$name"
	fi
}
t "a blacklisted function" blacklisted

oops_size() { refused 125 "vfs_read is 0x[0-9a-f]+ bytes, not 0x13" '^  boot the kernel' vfs_read+0x0/0x13; }
t "an oops from another build" oops_size

bad_probes() {
	entries=''
	refused 2 'bad probe: kretprobe: .*offset' '^  a probe is' kretprobe:vfs_read+4
	refused 2 'bad probe: .*--return.*offset' '^  a probe is' --return vfs_read+4
	refused 2 "bad probe: .*'!'" '^    vfs!read' 'vfs!read'
	refused 2 'bad probe: .*name is expected' '^  a probe is' ''
	refused 2 'no PROBE' '^  for example' --all
}
t "a malformed probe: a caret shows where" bad_probes

bad_options() {
	entries=''
	refused 2 "'--jso'" '^  see: ' --jso vfs_read
	refused 2 "'?-x'?|'--x'" '^  see: ' -x vfs_read
	refused 2 "--entry and --return" '^  see: ' --entry --return vfs_read
	refused 2 "--all, with a COMMAND, and --pid" '^  see: ' --all -p 1 vfs_read
	refused 2 "--duration: 'soon'" '^  see: ' -d soon vfs_read
	refused 2 "--duration: '0'" '^  see: ' -d 0 vfs_read
	refused 2 "--maxactive: '0'" '^  see: ' --maxactive 0 vfs_read
	refused 2 "--json" '^  see: ' --json=yes vfs_read
	trace --user nobody vfs_read
	expect_status 2
	trace vfs_read --
	expect_status 2
	expect_in err 'no COMMAND behind --'
}
t "bad options: named, never guessed" bad_options

bad_pids() {
	refused 2 "--pid: 'xyz'" '^  see: ' -p xyz vfs_read
	refused 2 "--pid: '-1'" '^  see: ' -p -1 vfs_read
	refused 2 "--pid: '0'" '^  see: ' -p 0 vfs_read
	refused 2 "--pid: '1,'" '^  see: ' -p 1, vfs_read
	refused 2 "--pid: '99999999999'" '^  see: ' -p 99999999999 vfs_read
	refused 125 'no process 4000000' '^  see: ps' -p 4000000 vfs_read
}
t "--pid that is no process" bad_pids

bad_rings_words() { refused 2 "--buffer-size: 'abc' is not a size" '64K' -b abc vfs_read; }
t "a ring size that is none" bad_rings_words

bad_rings() {
	local size
	for size in 63K 96K 2G; do
		trace -b $size vfs_read -- touch ran
		case $(cat status) in 2 | 125) ;; *) fail "-b $size: status $(cat status)" ;; esac
		[ ! -e ran ] || fail "-b $size: COMMAND ran"
		expect_in err '64 ?K(iB)?.*1 ?G(iB)?'
	done
}
t "a ring size beyond the limits: they are named" bad_rings

# 0 is the netlink ABI's word for "the default", not a user's.
no_ring() {
	trace -b 0 vfs_read -- touch ran
	[ "$(cat status)" != 0 ] || fail "-b 0 was taken"
	[ ! -e ran ] || fail "COMMAND ran"
}
t "a ring size of 0" no_ring

# What a user reads names what he typed.
ring_words() {
	trace -b 63K vfs_read -- true
	expect_in err '63K|--buffer-size|-b '
	expect_in err '^  '
}
t "a ring size beyond the limits: the option is named, and a way out" ring_words

unknown_user() { refused 2 "no user 'nemo'" - --user nemo vfs_read; }
t "an unknown user" unknown_user

bad_output() {
	refused 125 "/nowhere/file" '^  ' -o /nowhere/file vfs_read
}
t "an output file that can't be" bad_output

front_door() {
	trapline >out 2>err
	expect_is "status of trapline alone" $? 2
	expect_empty out
	expect_in err '^Usage: trapline'
	trapline --help >out 2>err || fail "trapline --help failed"
	expect_in out '^ +trace +'
	expect_empty err
	trapline trace --help >out 2>err || fail "trapline trace --help failed"
	for word in --all --pid --duration --user --entry --return --begin --output --json --strict --buffer-size '126' '127' '125'; do
		expect_in out "$word"
	done
	expect_empty err
	trapline --version >out 2>err || fail "trapline --version failed"
	expect_every out '^trapline [0-9]+\.[0-9.]+'
	trapline trcae >out 2>err
	expect_is "status of an unknown subcommand" $? 2
	expect_in err "'trcae'"
	expect_in err 'trapline --help'
	trapline --jso >out 2>err
	expect_is "status of an unknown option" $? 2
	expect_empty out
}
t "help, version, unknown subcommands" front_door

hidden_offset() {
	old=$(cat /proc/sys/kernel/kptr_restrict)
	echo 2 >/proc/sys/kernel/kptr_restrict
	trace kprobe:vfs_read+0x8000 -- touch ran
	echo "$old" >/proc/sys/kernel/kptr_restrict
	expect_status 125
	expect_in err '[Oo]ffset|OFFSET'
	[ ! -e ran ] || fail "COMMAND ran"
}
t "an offset outside the function is refused also where addresses are hidden" hidden_offset

all_that_is_wrong() {
	trace no_such_one no_such_other vfs_read -- true
	expect_status 125
	expect_in err 'no_such_one'
	expect_in err 'no_such_other'
}
t "of several probes every wrong one is named" all_that_is_wrong
