#!/bin/sh
# shellcheck shell=dash
# SPDX-License-Identifier: GPL-2.0
# The lab's pages (docs/lab), followed in a guest as a student does, from the top:
#   qemu/run --smp 2 --share . -- 'sh $SHARE/tests/guest/lab/run.sh [PATTERN]'
# PATTERN (grep -E) chooses pages by name. What a command prints must be what the page
# shows, by the rule in docs/lab/README.md. TAP lines, then "N passed, N failed".

here=$(cd "$(dirname "$0")" && pwd)
pages=$(cd "$here/../../../docs/lab" && pwd)
# shellcheck source=/dev/null
. "$here/../cli/lib.sh"

# follow PAGE: all of its commands, in one shell; false if one prints something else.
follow() {
	local step
	mkdir steps home
	awk -v directory=steps -f "$here/steps.awk" "$1" || return 1
	(
		cd home || exit 1
		last=0
		for step in ../steps/*.command; do
			text=$(cat "$step")
			(exit $last) # what $? is for this command
			eval "$text" >"${step%.command}.printed" 2>&1 </dev/null
			last=$?
		done
	)
	different=0
	for step in steps/*.command; do
		step=${step%.command}
		awk -f "$here/compare.awk" "$step.shown" "$step.printed" && continue
		different=$((different + 1))
		say "${1##*/}:$(cat "$step.line"): guest# $(cat "$step.command")"
		sed 's/^/    /' "$step.printed"
	done
	[ $different = 0 ]
}

page() { follow "$pages/$name"; }

# told NAME SHOWN PRINTED: whether a page that shows SHOWN is taken where PRINTED comes.
told() {
	mkdir "$1"
	# shellcheck disable=SC2016 # the backquotes are a page's
	printf '```console\nguest# printf %%s "%s"\n%s\n```\n' "$(echo "$3" | sed '2,$s/^/> /')" "$2" >"$1/page.md"
	(cd "$1" && follow page.md)
}

event() { echo "      cat-$1    [00$2] $3   9.$4: vfs_read(0xffff888$5, 0x40, 0x0) = $6 <$7>"; }

rule() {
	local good
	good=$(event 99 0 .... 119394 01ef15a00 0x40 '7.2 us')
	told same "$good" "$good" || fail "a page that shows what comes is refused"
	told forms "$good" "$(event 7 1 d.h1 000001 99f15a00 0x40 '1.2 ms')" || fail "what always differs is held against a page"
	told table 'vfs_read  call  5  3  2  0  1' 'vfs_read    call  4  3  1  0  1' || fail "others' calls are counted"
	! told recorded 'vfs_read  call  5  3  2  0  1' 'vfs_read  call  5  4  1  0  1' || fail "another number of recorded ones is taken"
	! told inside 'total  5  3  2  0  1' 'total  5  3  2  0  0' || fail "another number of those inside is taken"
	told dots 'a ... c' 'a bb c' || fail "... isn't anything"
	told lines "$(printf 'a\n...\nc')" "$(printf 'a\nb\nb\nc')" || fail "... alone isn't any lines"
	told none "$(printf 'a\n...\nc')" "$(printf 'a\nc')" || fail "... alone isn't no lines"
	! told word 'a b c' 'a d c' || fail "another word is taken"
	! told value "$good" "$(event 99 0 .... 119394 01ef15a00 0x3f '7.2 us')" || fail "another value is taken"
	! told long "$good" "$(event 99 0 .... 119394 01ef15a00 0x40 '7.2 s')" || fail "seconds are taken for less"
	! told more 'a' "$(printf 'a\nb')" || fail "a line too many is taken"
	! told fewer "$(printf 'a\nb')" 'a' || fail "a missing line is taken"
	! told after 'a ... c' 'a b c d' || fail "more than is shown is taken"
	! told between "$(printf 'a\n...\nc')" "$(printf 'a\nb\nd')" || fail "another last line is taken"
	echo 'no command' >empty.md
	! (mkdir empty && cd empty && follow ../empty.md) || fail "a page without a command is taken"
}
t "the rule: a page is told from what comes, and what may differ isn't held against it" rule

for file in "$pages"/*.md; do
	grep -q '^```console$' "$file" || continue
	name=${file##*/}
	t "$name" page
done
summary
