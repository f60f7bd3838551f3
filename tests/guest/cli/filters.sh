# shellcheck shell=dash
# SPDX-License-Identifier: GPL-2.0
# --comm, --cpu, --uid and --cgroup: which tasks' calls are recorded, and what there isn't.

by_name() {
	trace --comm tl-calls --comm nosuch read_zero -- sh -c 'tl-calls 30 >&2; dd if=/dev/zero of=/dev/null bs=1 count=5'
	expect_status 0
	expect_is recorded "$(account read_zero recorded)" 30
	[ "$(account read_zero filtered)" -ge 5 ] || fail "dd was not filtered"
	expect_sums
	expect_every out ' tl-calls-'
}
t "--comm: tasks of these names only" by_name

long_name() {
	cp "$(command -v tl-calls)" a-name-of-twenty-let
	trace --comm a-name-of-twenty-let read_zero -- ./a-name-of-twenty-let 7
	expect_status 0
	expect_in err "^trapline: warning: --comm: .*15 bytes.*'a-name-of-twenty-let' is taken for 'a-name-of-twent'"
	expect_is recorded "$(account read_zero recorded)" 7
}
t "--comm: a name that is too long is cut, and that is said" long_name

by_cpu() {
	trace --cpu 1 read_zero -- sh -c 'tl-calls 20 --cpu 0 >&2; tl-calls 30 --cpu 1 >&2'
	expect_status 0
	expect_is recorded "$(account read_zero recorded)" 30
	expect_sums
	expect_every out '\[001\]'
	trace --cpu 0-1 read_zero -- sh -c 'tl-calls 20 --cpu 0; tl-calls 30 --cpu 1'
	expect_is recorded "$(account read_zero recorded)" 50
}
t "--cpu: these CPUs only" by_cpu

by_user() {
	for user in nobody 65534 1,nobody; do
		trace --uid $user read_zero -- sh -c 'tl-calls 20; su nobody -c "tl-calls 30"'
		expect_status 0
		expect_is "recorded of $user" "$(account read_zero recorded)" 30
		expect_sums
	done
	# Not only COMMAND's.
	trace --all --uid nobody read_zero -- su nobody -c 'tl-calls 10'
	expect_is recorded "$(account read_zero recorded)" 10
}
t "--uid: tasks of these users only, by number or name" by_user

by_cgroup() {
	grep -q cgroup2 /proc/filesystems || skip "this kernel has no cgroup v2"
	mkdir -p cgroups
	mount -t cgroup2 none cgroups || fail "no cgroup v2"
	mkdir -p cgroups/tl/below cgroups/other
	in_it='for c in tl tl/below other; do (echo 0 >cgroups/$c/cgroup.procs && exec tl-calls 10); done; tl-calls 10'
	for path in "$PWD/cgroups/tl" tl /tl; do
		trace --cgroup "$path" read_zero -- sh -c "$in_it"
		expect_status 0
		expect_is "recorded of $path" "$(account read_zero recorded)" 20
		expect_is "filtered of $path" "$(($(account read_zero filtered) >= 20))" 1
		expect_sums
	done
	trace --cgroup other --cgroup tl/below read_zero -- sh -c "$in_it"
	expect_is recorded "$(account read_zero recorded)" 20
	trace --cgroup nosuch read_zero -- touch ran
	expect_status 125
	expect_in err '^trapline: --cgroup: nosuch: there is no such directory'
	trace --cgroup "$PWD" read_zero -- touch ran
	expect_status 125
	[ ! -e ran ] || fail "COMMAND ran"
	rmdir cgroups/tl/below cgroups/tl cgroups/other
	umount cgroups
	trace --cgroup tl read_zero -- touch ran
	expect_status 125
	expect_in err '^trapline: --cgroup: no cgroup v2 is mounted'
	expect_in err '^  mount -t cgroup2'
}
t "--cgroup: tasks in it and below, by its directory or by that below the mount" by_cgroup

all_together() {
	trapline record $entries -o rec --comm tl-calls --cpu 1 --uid 0 'read_zero if $arg3 == 100' -- sh -c \
		'tl-calls 10 --size 100 --cpu 1; tl-calls 5 --cpu 1; tl-calls 5 --size 100 --cpu 0; su nobody -c "tl-calls 5 --size 100 --cpu 1"' \
		>out 2>err </dev/null
	echo $? >status
	expect_status 0
	expect_is recorded "$(account read_zero recorded)" 10
	expect_sums
	expect_is lines "$(trapline report rec | wc -l)" 10
}
t "filters and a condition together: each must hold; record" all_together

bad_filters() {
	for bad in '--cpu 64000:there is no CPU 64000' '--uid nosuchuser:there is no user .nosuchuser'; do
		# shellcheck disable=SC2086 # two words
		trace ${bad%%:*} read_zero -- touch ran
		expect_status 125
		expect_in err "^trapline: .*${bad#*:}"
	done
	trace --cpu 0-x read_zero -- touch ran
	expect_status 2
	expect_in err "^trapline: --cpu: '0-x' is not a list of CPUs"
	trace --uid 1, read_zero -- touch ran
	expect_status 2
	[ ! -e ran ] || fail "COMMAND ran"
}
t "filters: what there isn't is named" bad_filters

# In a pid namespace, process 2 and the one of the number that has another one outside: those, their
# threads and descendants are traced. `gate` holds all back, and takes no number meanwhile.
namespaces() {
	local same outer inner last
	[ -e /proc/sys/kernel/ns_last_pid ] || skip "this kernel has no pid namespaces, or lets nobody choose a pid"
	mkfifo gate
	sh -c 'read _ <gate; exec tl-calls 11' >/dev/null &
	same=$!
	cat >inside <<-EOF
		exec >/dev/null
		sh -c 'read _ <gate; tl-calls 20 --threads 3; exec tl-calls 5' &
		trapline trace -p $same read_zero >refused 2>&1
		echo \$? >>refused
		echo $((same - 1)) >/proc/sys/kernel/ns_last_pid
		sh -c 'read _ <gate; tl-calls 7 --threads 3; exec tl-calls 2' &
		[ \$! = $same ] || exit
		for pid in 2 $same; do
			trapline trace $entries -p \$pid -o events.\$pid 'read_zero(pid, tid)' 2>err.\$pid </dev/null &
		done
		until grep -q 'Ctrl-C ends' err.2 && grep -q 'Ctrl-C ends' err.$same; do sleep 0.05; done
		touch ready
		wait
	EOF
	timeout -s KILL 120 unshare -p -f --mount-proc sh inside &
	until_true [ -e ready ]
	expect_in refused "^trapline: --pid: there is no process $same\$"
	expect_in refused '^125$'
	for inner in 2 "$same"; do
		awk -v inner="$inner" '/^NSpid:/ && NF == 3 && $3 == inner { print $2 }' /proc/[0-9]*/status >"outer.$inner"
	done
	echo >gate
	wait
	for inner in 2 "$same"; do
		cp "err.$inner" err
		expect_sums
		outer=$(cat "outer.$inner")
		expect_is "calls of $inner itself" "$(lines "events.$inner" "-$outer .*\\(pid=$outer, tid=$outer\\)")" \
			$((inner == 2 ? 5 : 2))
		expect_is "calls of all" "$(lines "events.$inner" .)" $((inner == 2 ? 65 : 23))
		expect_is "threads" "$(sed 's/.*, tid=\([0-9]*\).*/\1/' "events.$inner" | sort -u | wc -l)" 4
		expect_not_in "events.$inner" "pid=$same,"
		[ "$(account read_zero filtered)" -ge 11 ] || fail "the others are not filtered"
	done

	# With /proc of the namespace outside, which has no such process.
	last=$(($(cat /proc/sys/kernel/pid_max) - 10))
	cat >inside <<-EOF
		echo $((last - 1)) >/proc/sys/kernel/ns_last_pid
		sh -c 'read _ <gate; exec tl-calls 3' >/dev/null &
		(until grep -q 'Ctrl-C ends' err; do sleep 0.05; done; echo >gate) &
		exec trapline trace $entries -p $last read_zero >out 2>err </dev/null
	EOF
	timeout -s KILL 120 unshare -p -f sh inside
	echo $? >status
	expect_status 0
	expect_is "calls" "$(account read_zero recorded)" 3
}
t "-p: in a pid namespace its numbers count" namespaces
