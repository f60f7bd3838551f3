# shellcheck shell=dash
# SPDX-License-Identifier: GPL-2.0
# What stands in the way, made to stand there: the doctor's lines, remedies and exit status.
# Those that a kernel command line makes are in doctor-boot.sh.
# shellcheck disable=SC2154 # ko: module.sh, doctor-boot.sh

doctor() { # into status, out and err
	timeout -s KILL 120 trapline doctor >out 2>err </dev/null
	echo $? >status
	expect_empty err
	expect_every out '^(ok     |note   |problem|unknown)  [a-zA-Z ]{17}  [^ ]|^         [^ ]'
}

# expect_check LEVEL CHECK FOUND [REMEDY]: regexes; "": no remedy
expect_check() {
	awk -v check="  $2  " 'index($0, check) == 8 { print; on = 1; next } /^[^ ]/ { on = 0 } on' out >check
	[ -s check ] || fail "no check '$2'"
	[ "$(sed -n '1s/ .*//p' check)" = "$1" ] || fail "'$2' is not $1: $(cat check)"
	sed -n 1p check | grep -qE -e "$3" || fail "'$2' has not found: $3: $(cat check)"
	if [ -n "$4" ]; then
		sed 1d check | grep -qE -e "^ {9}$4" || fail "'$2' has no remedy: $4: $(cat check)"
	else
		expect_is "the lines of '$2'" "$(wc -l <check)" 1
	fi
}

problems() { grep -c '^problem' out; }

healthy() {
	mount -t securityfs securityfs /sys/kernel/security 2>/dev/null
	doctor
	umount /sys/kernel/security 2>/dev/null
	expect_status 0
	expect_is problems "$(problems)" 0
	expect_check ok 'permissions      ' 'can be opened' ''
	expect_check ok 'loadable modules ' 'CONFIG_MODULES=y' ''
	expect_check note 'headers package  ' "no /lib/modules/$release/build" '.*'
	expect_check ok 'module installed ' "/lib/modules/$release/updates/trapline.ko" ''
	expect_check ok 'vermagic         ' "  $release " ''
	expect_check ok 'signature        ' 'demands none' ''
	expect_check ok 'module loaded    ' 'version [0-9]' ''
	expect_check ok 'ABI match        ' '  [0-9]+$' ''
	expect_check ok 'kprobes          ' 'register_kprobe' ''
	expect_check ok 'kprobes enabled  ' 'switched on' ''
	expect_check ok 'lockdown         ' '  none($|: this kernel has no lockdown$)' ''
	expect_check ok 'kallsyms         ' '[0-9]{5,} symbols, with addresses' ''
	if [ -n "$debugfs" ]; then
		expect_check ok 'blacklist        ' '/sys/kernel/debug/kprobes/blacklist' ''
	else
		expect_check note 'blacklist        ' 'this kernel has no debugfs' ''
	fi
	if [ -n "$typed" ]; then
		expect_check ok 'BTF              ' '/sys/kernel/btf/vmlinux' ''
	else
		expect_check note 'BTF              ' 'there is no /sys/kernel/btf/vmlinux' 'boot a kernel with CONFIG_DEBUG_INFO_BTF=y'
	fi
	expect_check note 'debug information' 'no source lines' '.*'
	trace read_zero -- true
	expect_status 0
}
t "doctor: a guest that can trace has no problem" healthy

no_securityfs() {
	grep -q securityfs /proc/filesystems || skip "this kernel has no securityfs"
	doctor
	expect_status 0
	expect_check unknown 'lockdown         ' 'securityfs is not mounted' 'sudo mount -t securityfs'
	sed -n 's/^ *sudo \(mount\)/\1/p' out >remedy
	sh -e remedy || fail "the remedy fails"
	doctor
	umount /sys/kernel/security
	expect_check ok 'lockdown         ' '  none$' ''
}
t "doctor: lockdown can't be seen; and the remedy" no_securityfs

configuration() {
	printf '# CONFIG_KPROBES is not set\n' >"/lib/modules/$(uname -r)/config"
	doctor
	expect_check ok 'kprobes          ' 'CONFIG_KPROBES=y .*register_kprobe' ''
	printf 'CONFIG_MODULES=y\nCONFIG_KPROBES=y\n' >"/lib/modules/$(uname -r)/config"
	doctor
	rm "/lib/modules/$(uname -r)/config"
	expect_check ok 'kprobes          ' "CONFIG_KPROBES=y \\(/lib/modules/$release/config\\)" ''
}
t "doctor: the configuration is named, and the running kernel believed" configuration

headers() {
	mkdir -p "/lib/modules/$(uname -r)/build/include/generated"
	touch "/lib/modules/$(uname -r)/build/include/generated/utsrelease.h"
	doctor
	rm -r "/lib/modules/$(uname -r)/build"
	expect_check ok 'headers package  ' "/lib/modules/$release/build" ''
	printf 'ID=debian\n' >/etc/os-release
	doctor
	rm /etc/os-release
	if grep -q 'lists\.debian\.org' /proc/version; then
		expect_check note 'headers package  ' 'there is no' "sudo apt install linux-headers-$release"
	else # a kernel that was built by hand
		expect_check note 'headers package  ' 'there is no' 'make KDIR=[$]HOME/linux '
	fi
}
t "doctor: headers" headers

# What tells whether the machine can trace tells it: by the same remedy.
unloaded() {
	rmmod trapline
	doctor
	expect_status 0
	expect_check note 'module loaded    ' 'not yet' 'sudo modprobe trapline'
	expect_check ok 'ABI match        ' 'as the module that is installed' ''
	expect_check ok 'permissions      ' '  root$' ''
	! grep -q '^trapline ' /proc/modules || fail "the doctor loaded it"
	trace read_zero -- true
	expect_status 0
}
t "doctor: not loaded is no problem, and it doesn't load it" unloaded

uninstalled() {
	rmmod trapline
	mv "$ko" trapline.ko
	depmod 2>/dev/null
	mv trapline.ko "$ko"
	doctor
	cp out said
	cp status ended
	trace read_zero -- true # loads it all the same
	expect_status 0
	expect_in err 'loaded /lib/modules/.*/updates/trapline.ko'
	depmod 2>/dev/null
	mv said out
	mv ended status
	expect_status 0
	expect_check note 'module installed ' 'modprobe doesn.t know' "sudo depmod $release"
	expect_check note 'module loaded    ' 'not yet' 'sudo insmod /lib/modules/.*/updates/trapline.ko'
	rmmod trapline
	doctor
	expect_status 0
	expect_check note 'module loaded    ' 'not yet' 'sudo modprobe trapline'
	modprobe trapline
}
t "doctor: a module that depmod doesn't know" uninstalled

not_there() {
	rmmod trapline
	mv "$ko" trapline.ko
	depmod 2>/dev/null
	doctor
	cp out said
	cp status ended
	trace read_zero -- true
	mv said out
	mv ended status
	mv trapline.ko "$ko"
	depmod 2>/dev/null
	modprobe trapline
	expect_status 1
	expect_check problem 'module built     ' 'no ' 'make KDIR='
	expect_check problem 'module installed ' "no trapline.ko for the running kernel $release" 'make KDIR='
	sed -n 's/^ *\(make KDIR=\)/  \1/p' check >remedy
	expect_check problem 'module loaded    ' 'none that could be' ''
	expect_check problem 'headers package  ' 'there is no' '.*'
	grep -qxF -f remedy err || fail "trace suggests another remedy"
}
t "doctor: nothing is installed, and trace suggests the same" not_there

# As a static tool has it, in an initramfs.
beside_the_tool() {
	mkdir beside
	cp "$(command -v trapline)" beside/trapline
	rmmod trapline
	mv "$ko" beside/trapline.ko
	depmod 2>/dev/null
	PATH=$PWD/beside:$PATH
	doctor
	cp out said
	cp status ended
	sed -n 's/^ *sudo \(insmod\)/\1/p' out >remedy
	sh -e remedy && rmmod trapline || echo fails >>remedy
	trace read_zero -- true
	mv status traced
	mv beside/trapline.ko "$ko"
	depmod 2>/dev/null
	expect_in err "loaded $PWD/beside/trapline.ko"
	mv said out
	mv ended status
	expect_status 0
	expect_check ok 'module installed ' "$PWD/beside/trapline.ko, which is loaded" ''
	expect_check ok 'vermagic         ' "  $release " ''
	expect_check note 'module loaded    ' 'not yet' "sudo insmod $PWD/beside/trapline.ko"
	expect_check ok 'ABI match        ' "as $PWD/beside/trapline.ko" ''
	expect_not_in remedy fails
	mv traced status
	expect_status 0
}
t "doctor: the module lies beside the tool; and the remedy" beside_the_tool

gone() {
	rmmod trapline
	mv "$ko" trapline.ko
	doctor
	mv trapline.ko "$ko"
	modprobe trapline
	expect_status 1
	expect_check problem 'module installed ' 'is gone' 'make KDIR='
}
t "doctor: modules.dep names a file that is gone" gone

# edit STRING OFFSET TEXT: writes TEXT at OFFSET behind STRING's begin in the installed module.
edit() {
	at=$(strings -t d "$ko" | sed -n "s/^ *\([0-9]*\) $1.*/\1/p" | head -n 1)
	[ -n "$at" ] || fail "no $1 in $ko"
	printf %s "$3" | dd of="$ko" bs=1 seek=$((at + $2)) conv=notrunc 2>/dev/null
}

wrong_vermagic() {
	rmmod trapline
	cp "$ko" whole.ko
	where=$((9 + $(uname -r | wc -c)))
	edit vermagic= $where XMP # SMP
	doctor
	cp out said
	cp status ended
	trace read_zero -- true
	[ "$(cat status)" = 125 ] || { cp whole.ko "$ko"; modprobe trapline; fail "it was loaded"; }
	sed -n 's/^  //p' err >hint
	doctor
	cp whole.ko "$ko"
	expect_check problem 'vermagic         ' 'the kernel refused it: trapline: version magic .*XMP' 'make clean && make KDIR='
	mv said out
	mv ended status
	if grep -q '^kernel/' "/lib/modules/$(uname -r)/modules.dep"; then
		expect_status 1
		expect_check problem 'vermagic         ' "XMP .*, the running kernel wants '$release SMP" "$(sed '1!d;s/[$()+.]/[&]/g' hint)"
	else # there is no other module to compare it with
		expect_status 0
		expect_check ok 'vermagic         ' "  $release XMP " ''
	fi
	cp whole.ko "$ko"
	doctor
	modprobe trapline
	expect_check ok 'vermagic         ' "  $release " ''
}
t "doctor: a module of another vermagic, before and after the kernel refused it" wrong_vermagic

other_release() {
	rmmod trapline
	cp "$ko" whole.ko
	edit vermagic= 9 9
	doctor
	cp whole.ko "$ko"
	modprobe trapline
	# The kernel compares versions of symbols instead, where it has them.
	if strings whole.ko | grep -q '^vermagic=.*modversions'; then
		expect_status 0
		expect_check note 'vermagic         ' "built for 9.*, and may not fit" 'make clean && make'
	else
		expect_status 1
		expect_check problem 'vermagic         ' "built for 9.*, not for $release" 'make clean && make'
	fi
}
t "doctor: a module that was built for another release" other_release

other_abi_installed() {
	rmmod trapline
	cp "$ko" whole.ko
	edit trapline_abi= 13 7
	doctor
	cp whole.ko "$ko"
	modprobe trapline
	expect_status 1
	expect_check problem 'ABI match        ' 'the module that is installed ABI 7' 'make clean && make'
}
t "doctor: a module of another ABI is installed" other_abi_installed

other_abi_loaded() {
	rmmod trapline
	modprobe tlabi abi=77
	doctor
	cp out said
	cp status ended
	trace read_zero -- true
	rmmod tlabi
	modprobe trapline
	expect_status 125
	mv said out
	mv ended status
	expect_status 1
	expect_check problem 'ABI match        ' 'the loaded module ABI 77' 'sudo rmmod trapline && sudo modprobe trapline'
	expect_in err 'the loaded module ABI 77'
	expect_in err '^  .*sudo rmmod trapline && sudo modprobe trapline'
}
t "doctor: a module of another ABI is loaded" other_abi_loaded

switched_off_too() {
	needs_debugfs
	echo 0 >/sys/kernel/debug/kprobes/enabled
	doctor
	echo 1 >/sys/kernel/debug/kprobes/enabled
	expect_status 1
	expect_check problem 'kprobes enabled  ' 'kprobes are switched off' 'echo 1 . sudo tee /sys/kernel/debug/kprobes/enabled'
	echo 0 >/proc/sys/kernel/ftrace_enabled
	doctor
	echo 1 >/proc/sys/kernel/ftrace_enabled
	expect_status 1
	expect_check problem 'kprobes enabled  ' 'ftrace is switched off' 'sudo sysctl kernel.ftrace_enabled=1'
}
t "doctor: kprobes or ftrace switched off" switched_off_too

hidden_addresses() {
	old=$(cat /proc/sys/kernel/kptr_restrict)
	echo 2 >/proc/sys/kernel/kptr_restrict
	doctor
	echo "$old" >/proc/sys/kernel/kptr_restrict
	expect_status 0
	expect_check note 'kallsyms         ' 'kernel.kptr_restrict=2 hides' 'sudo sysctl kernel.kptr_restrict=1'
	expect_check ok 'kprobes          ' 'register_kprobe' ''
}
t "doctor: kernel.kptr_restrict=2" hidden_addresses

no_debugfs() {
	needs_debugfs
	umount /sys/kernel/debug || fail "debugfs is in use"
	doctor
	mount -t debugfs debug /sys/kernel/debug
	expect_status 0
	expect_check unknown 'kprobes enabled  ' 'debugfs is not mounted' 'sudo mount -t debugfs debugfs /sys/kernel/debug'
	expect_check note 'blacklist        ' 'debugfs is not mounted' 'sudo mount -t debugfs debugfs /sys/kernel/debug'
}
t "doctor: debugfs is not mounted" no_debugfs

as_nobody_too() {
	su nobody -c 'trapline doctor' >out 2>err </dev/null
	echo $? >status
	expect_status 1
	expect_is problems "$(problems)" 1
	expect_check problem 'permissions      ' 'only root' 'sudo trapline doctor'
	expect_check unknown 'ABI match        ' 'Permission denied' 'sudo trapline doctor'
	if [ -n "$debugfs" ]; then
		expect_check unknown 'kprobes enabled  ' 'Permission denied' 'sudo trapline doctor'
		expect_check unknown 'blacklist        ' 'Permission denied' 'sudo trapline doctor'
	else
		expect_check ok 'kprobes enabled  ' 'switched on' ''
		expect_check note 'blacklist        ' 'this kernel has no debugfs' ''
	fi
	# A kernel may show addresses to everybody.
	echo 1 >/proc/sys/kernel/kptr_restrict
	su nobody -c 'trapline doctor' >out 2>err </dev/null
	echo 0 >/proc/sys/kernel/kptr_restrict
	expect_check unknown 'kallsyms         ' 'to root only' 'sudo trapline doctor'
}
t "doctor: not root" as_nobody_too

no_node() {
	numbers=$(stat -c '%t %T' /dev/trapline)
	rm /dev/trapline
	doctor
	expect_check problem 'module loaded    ' '/dev/trapline is not there' 'sudo mknod -m 600 /dev/trapline c 10 [0-9]+'
	expect_status 1
	sed -n 's/^ *sudo \(mknod\)/\1/p' out >remedy
	sh -e remedy || fail "the remedy fails"
	expect_is node "$(stat -c '%t %T' /dev/trapline)" "$numbers"
	doctor
	expect_status 0
}
t "doctor: no node; and the remedy" no_node

# Another device's, a directory, a file: whatever is there, it isn't taken for ours.
other_node() {
	for command in 'mknod /dev/trapline c 10 125' 'mkdir /dev/trapline' 'touch /dev/trapline'; do
		rm /dev/trapline
		$command
		doctor
		expect_status 1
		expect_check problem 'module loaded    ' '/dev/trapline is not its device' 'sudo rm -r /dev/trapline && sudo mknod '
		trace read_zero -- touch ran
		expect_status 125
		expect_in err "/dev/trapline is not the trapline module's device"
		sed -n 's/^  //p' err | sed 's/sudo //g' >remedy
		sh -e remedy || fail "the remedy fails: $(cat remedy)"
		[ ! -e ran ] || fail "COMMAND ran"
		trapline status >out 2>&1 || fail "status: $(cat out)"
	done
	doctor
	expect_status 0
	trace read_zero -- true
	expect_status 0
}
t "doctor: a node that isn't the module's; and the remedy" other_node

doctors_usage() {
	trapline doctor --help >out 2>err || fail "--help fails"
	expect_in out '^Usage: trapline doctor'
	trapline doctor kprobes >out 2>err
	expect_is "status of doctor kprobes" $? 2
	expect_in err "'kprobes'.*no arguments"
	trapline doctor >/dev/full 2>err
	expect_is "status of doctor >/dev/full" $? 125
	expect_in err 'No space left'
}
t "doctor: usage" doctors_usage
