# shellcheck shell=dash
# SPDX-License-Identifier: GPL-2.0
# Loading the module, and what stands in the way.

ko=$(find "/lib/modules/$(uname -r)" -name trapline.ko)

as_nobody() { su nobody -c "trapline trace vfs_read -- true" >out 2>err </dev/null; echo $? >status; }

not_root_loaded() {
	as_nobody
	expect_status 125
	expect_in err 'root'
	expect_in err '^  .*sudo'
	expect_not_in err 'not loaded|modprobe'
}
t "not root: says so, and not that the module is missing" not_root_loaded

loads() {
	rmmod trapline || fail "rmmod does not work"
	as_nobody
	expect_status 125
	expect_in err 'not loaded.*only root may load'
	trace read_zero -- true
	expect_status 0
	expect_in err 'loaded the trapline module'
	trace read_zero -- true
	expect_not_in err 'loaded the trapline module'
}
t "an installed module is loaded, and it says so" loads

not_installed() {
	rmmod trapline
	mv "$ko" trapline.ko
	depmod 2>/dev/null
	trace read_zero -- touch ran
	mv trapline.ko "$ko"
	depmod 2>/dev/null
	expect_status 125
	expect_in err "not installed for the running kernel $release"
	expect_in err '^  make KDIR=[$]HOME/linux && sudo make KDIR=[$]HOME/linux install  .*the tree'
	[ ! -e ran ] || fail "COMMAND ran"
}
t "a module that is not installed: the command that installs it" not_installed

# As a package half removed leaves it: modules.dep still names it.
file_gone() {
	rmmod trapline 2>/dev/null
	mv "$ko" trapline.ko
	trace read_zero -- touch ran
	mv trapline.ko "$ko"
	expect_status 125
	expect_in err 'not installed|not there|gone|missing'
	expect_in err 'sudo make KDIR=[$]HOME/linux install|depmod'
	expect_not_in err 'CONFIG_KPROBES'
	[ ! -e ran ] || fail "COMMAND ran"
}
t "a module whose file has gone: that is what it says" file_gone

held() {
	modprobe trapline
	trace_background read_zero
	tracing
	! rmmod trapline 2>rmmod || fail "rmmod under a session"
	kill -INT $tool
	ended
	expect_status 0
	rmmod trapline || fail "rmmod after it"
	modprobe trapline
}
t "rmmod is refused under a trace, and works after it" held

dump_parameter() {
	modprobe trapline
	local parameter=/sys/module/trapline/parameters/dump_on_oops
	expect_is "at first" "$(cat $parameter)" 0
	for good in 1 65536 200 0; do
		echo $good >$parameter || fail "$good is refused"
		expect_is "it" "$(cat $parameter)" $good
	done
	echo 9 >$parameter
	for bad in 65537 -1 many; do
		! echo $bad 2>/dev/null >$parameter || fail "$bad is taken"
		expect_is "after $bad" "$(cat $parameter)" 9
	done
	rmmod trapline
	! modprobe trapline dump_on_oops=65537 2>/dev/null || fail "loaded with 65537"
	modprobe trapline dump_on_oops=7 || fail "not loaded with 7"
	expect_is "as loaded" "$(cat $parameter)" 7
	rmmod trapline
	modprobe trapline
}
t "dump_on_oops is 0 to 65536, at loading and later" dump_parameter

clean() {
	planted >planted
	expect_empty planted
	rmmod trapline || fail "rmmod does not work"
	logged=0
	clean_log || exit 1
	modprobe trapline
}
t "after all of it: no probe, rmmod works, the log is clean" clean
