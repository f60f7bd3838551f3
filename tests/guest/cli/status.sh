# shellcheck shell=dash
# SPDX-License-Identifier: GPL-2.0
# Exit statuses, and what COMMAND runs as.

own_status() {
	local n
	for n in 1 77; do
		trace --strict do_exit -- sh -c "exit $n"
		expect_status $n
		expect_sums
		expect_not_in err warning
	done
}
t "COMMAND's own status, with --strict too when nothing is lost" own_status

killed() {
	trace vfs_open -- sh -c 'kill -9 $$'
	expect_status 137
	trace vfs_open -- sh -c 'kill -SEGV $$'
	expect_status 139
	expect_sums
}
t "128+n when a signal killed COMMAND" killed

not_executable() {
	echo data >file
	mkdir directory
	trace vfs_open -- ./file
	expect_status 126
	expect_in err '^trapline: \./file: '
	trace vfs_open -- ./directory
	expect_status 126
	expect_in err '^trapline: \./directory: '
	expect_not_in err 'core|terminate'
}
t "126: a file that is not executable, a directory" not_executable

not_found() {
	printf '#!/no/such/interpreter\n' >script
	chmod 755 script
	trace vfs_open -- tl-nosuch
	expect_status 127
	expect_in err '^trapline: tl-nosuch: '
	trace vfs_open -- ./nosuch
	expect_status 127
	expect_in err '^trapline: \./nosuch: '
	trace vfs_open -- ./script
	expect_status 127
	expect_in err '^trapline: \./script: '
}
t "127: no such command, no such file, no such interpreter" not_found

plain_script() {
	printf 'echo "$0 $1"\nexit 5\n' >script
	chmod 755 script
	trace -o events bprm_execve -- ./script argument
	expect_status 5
	expect_is "output" "$(cat out)" "./script argument"
}
t "a script without #! runs in sh" plain_script

# The tool is stopped during the burst, so that its rings must overflow.
burst='kill -STOP $PPID; tl-calls 20000 --cpu 1; kill -CONT $PPID'

strict() {
	trace --no-guard --strict -b 64K -o events read_zero -- sh -c "$burst; exit 9"
	expect_status 3
	expect_in err 'warning: .*lost'
	[ "$(account read_zero dropped)" -gt 0 ] || fail "nothing was dropped"
	expect_sums
}
t "--strict makes losses 3" strict

not_strict() {
	trace --no-guard -b 64K -o events read_zero -- sh -c "$burst; exit 9"
	expect_status 9
	expect_in err 'warning: .*lost'
	expect_sums
	expect_is "lines" "$(lines events .)" "$(account read_zero recorded)"
	expect_is "hits" "$(account read_zero hits)" 20000
	cp err "$work/losses"
}
t "losses warn, and the status stays COMMAND's" not_strict

as_user() {
	trace --user nobody -o events do_exit -- sh -c 'id -u; id -g; id -G; echo "$HOME $USER $LOGNAME"; cat /dev/trapline'
	[ "$(cat status)" != 0 ] || fail "it could open /dev/trapline"
	expect_is "uid, gid, groups and environment" "$(tr '\n' ' ' <out)" "65534 65534 65534 / nobody nobody "
	expect_in err 'Permission denied'
	expect_sums
	mkdir -m 700 closed
	cp /bin/busybox closed/true
	trace --user nobody vfs_open -- ./closed/true
	expect_status 126
}
t "--user: uid, gid, groups and HOME" as_user
