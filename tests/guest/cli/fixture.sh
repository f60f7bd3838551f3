# shellcheck shell=dash
# SPDX-License-Identifier: GPL-2.0
# Values of every kind of type, which the module tltypes has: each is shown as what it is known to
# be, and to the byte the same wherever its types come from.

types_file=/usr/lib/debug/tltypes.ko

# Where types come from, as far as they are to be had: the kernel itself, files of BTF, DWARF.
type_sources=''
modprobe tltypes
[ ! -e /sys/kernel/btf/tltypes ] || type_sources=kernel
! trapline list --args --btf /sys/kernel/btf/vmlinux --btf $types_file tlt_look 2>/dev/null | grep -q 'struct tlt_data' ||
	type_sources="$type_sources btf"
[ ! "$reads_dwarf" ] || type_sources="$type_sources dwarf"
type_sources=${type_sources# }
rmmod tltypes

options_of() { # SOURCE
	case $1 in
	btf) echo "--btf /sys/kernel/btf/vmlinux --btf $types_file" ;;
	dwarf) echo "--vmlinux $types_file" ;;
	esac
}

# tf NAME FUNCTION: a test with the module tltypes.
tf() {
	fixture_test=$2
	t "$1" in_fixture
}
# What still waits there holds it.
wake_all() { saying wake | sh; }
in_fixture() { with_module tltypes "$fixture_test" wake_all; }

# Else "the same for all sources" would be said of fewer than there are. Modules' BTF is known to
# kernels from 5.11 on.
sources_of_types() {
	local expected=dwarf
	[ "$machine" = x86_64 ] || skip "which there should be is known of x86-64 alone"
	if [ -n "$typed" ]; then
		expected='btf dwarf'
		case $(uname -r) in 5.10.*) ;; *) expected="kernel $expected" ;; esac
	fi
	expect_is "sources of types" "$type_sources" "$expected"
}
t "fixture: the sources of types that there are" sources_of_types

needs_sources() { [ -n "$type_sources" ] || skip "neither BTF of tltypes nor libdw is to be had"; }

# What calls functions of tltypes.
saying() { echo "for word in $*; do echo \$word >/proc/tltypes; done"; }

# same_events SOURCE: what is in `lines`, without heads and durations, is in `events`: as it was
# with the sources before.
same_events() {
	sed -E "s/$head_re//; s/ $took\$//" lines >"events.$1"
	[ -e events ] || cp "events.$1" events
	cmp -s events "events.$1" || fail "by $1 they are shown otherwise: $(diff events "events.$1")"
}

# shown WORDS PROBE...: what is shown of these words' functions is in `events`, and the same for
# all sources of types.
shown() {
	local source words=$1
	shift
	needs_returns
	needs_sources
	rm -f events
	for source in $type_sources; do
		# shellcheck disable=SC2046 # several words
		trace $(options_of "$source") -o lines "$@" -- sh -c "$(saying "$words")"
		expect_status 0
		expect_sums
		same_events "$source"
	done
}

# expect_lines LINE...: these and no others are in `events`, in whatever order, once addresses are @.
expect_lines() {
	printf '%s\n' "$@" | sort >expected
	sed -E 's/0xffff[0-9a-f]{12}/@/g' events | sort >found
	cmp -s expected found || fail "$(diff expected found)"
}

parameters() {
	shown 'look say paint add move fail' tlt_look tlt_say tlt_paint tlt_add tlt_move tlt_fail tlt_fail_pointer
	expect_lines \
		'tlt_look(data=@, none=0x0, number=3) = 862362060' \
		'tlt_say(text="a \"quoted\" text\n", room=@, empty="", lost=(fault), nothing=(null))' \
		'tlt_paint(color=TLT_GREEN, flags=TLT_READ|TLT_SYNC, both=TLT_BOTH, more=TLT_WRITE|0x40, wet=false) = TLT_GREEN' \
		'tlt_paint(color=TLT_NONE, flags=0, both=TLT_WRITE, more=TLT_SYNC, wet=true) = TLT_NONE' \
		'tlt_paint(color=9, flags=0x40, both=0, more=0, wet=true) = TLT_NONE' \
		'tlt_add(a=-1, b=255, c=-32768, d=65535, e=-2147483648, f=4294967295, g=-9223372036854775808, h=0x8000000000000001, i=-7, j=200) = 2147516862' \
		'tlt_move(point=0x3c00000005, by=7) = 0x350000000c' \
		'tlt_fail(error=2) = -2 ENOENT' \
		'tlt_fail(error=0) = 0' \
		'tlt_fail_pointer(error=22) = -22 EINVAL' \
		'tlt_fail_pointer(error=0) = 0x0'
	shown 'add move' 'tlt_add($arg1, $arg3:x, $arg6, $arg6:x, i:u, j:x) = $retval:x' 'tlt_move(point.x, point.y, by:c) = $retval.y'
	expect_lines \
		'tlt_add($arg1=-1, $arg3=0x8000, $arg6=4294967295, $arg6:x=0xffffffff, i=18446744073709551609, j=0xc8) = 0x800081be' \
		"tlt_move(point.x=5, point.y=60, by='\\a') = 53"
}
tf "fixture: parameters and results of every kind of type" parameters

# What an unqualified look at data shows: its unnamed members, and the others that are simple.
unnamed_members='data->word=4294836482, data->tiny=-5, data->yes=true, data->letter=1'
simple_members='data->name="fixture", data->full="full", data->text="a \"quoted\" text\n", data->room="room", data->empty="", data->lost=(fault), data->nothing=(null), data->point=@, data->next=@, data->gone=@, data->none=0x0, data->tail=@, data->color=TLT_GREEN, data->flags=TLT_READ|TLT_SYNC, data->both=TLT_BOTH, data->more=TLT_WRITE|0x40, data->mask=0xf0f0, data->count=18000000000000000000, data->debt=-9000000000000000000'
bit_members='data->bits.first=1, data->bits.across=4660, data->bits.negative=-9, data->bits.last=341, data->bits.wide=-123456789012, data->bits.rest=11259375, data->bits.flags=TLT_READ|TLT_SYNC, data->bits.yes=true, data->bits.no=false'

structures() {
	shown look 'tlt_look(*data)' 'kprobe:tlt_look(*data:depth[4])' \
		'kprobe:tlt_look(data->box.to.y, data->box.from, (*data).box.to.x, data->next->word, data->next->name)' \
		'kprobe:tlt_look(data->box:depth[2])' \
		'kprobe:tlt_look(data->word, data->bytes, data->halves, data->tiny, data->yes, data->letter:c)' \
		'kprobe:tlt_look(data->any, data->any.bytes, data->any.point, data->any.bytes[7])'
	expect_lines \
		"tlt_look($unnamed_members, $simple_members) = 862362060" \
		"tlt_look(data->box.from.x=1, data->box.from.y=-2, data->box.to.x=30, data->box.to.y=40, $unnamed_members, data->any.number=-4007513276, data->any.point.x=287454020, data->any.point.y=-1, $bit_members, $simple_members)" \
		'tlt_look(data->box.to.y=40, data->box.from.x=1, data->box.from.y=-2, (*data).box.to.x=30, data->next->word=77, data->next->name="next")' \
		'tlt_look(data->box.from.x=1, data->box.from.y=-2, data->box.to.x=30, data->box.to.y=40)' \
		"tlt_look(data->word=4294836482, data->bytes=0201feff, data->halves[0]=258, data->halves[1]=-2, data->tiny=-5, data->yes=true, data->letter='\\001')" \
		'tlt_look(data->any.number=-4007513276, data->any.bytes=44332211ffffffff, data->any.point.x=287454020, data->any.point.y=-1, data->any.bytes[7]=255)'
}
tf "fixture: structures, nested, unnamed, unions" structures

# Of data->tail, nothing that lies behind it is there to be read.
bitfields() {
	shown look 'kprobe:tlt_look(data->bits)' 'kprobe:tlt_look(*data->tail)' \
		'kprobe:tlt_look(data->bits.wide:u, data->bits.negative:u, data->bits.across + 1, data->bits.negative - 8, data->bits.last << 1, data->bits.rest >> 4, data->bits.negative >> 1, data->bits.flags:d)' \
		'kprobe:tlt_look(number + 1) if data->bits.negative == -9 && data->bits.across == 0x1234 && data->tail->high > 624484 && data->bits.yes == true' \
		'kprobe:tlt_look(number + 2) if data->bits.first == 0 || data->bits.negative > 0 || data->bits.last != 0x155 || data->bits.no == true'
	expect_lines "tlt_look($bit_members)" 'tlt_look(data->tail->low=3, data->tail->high=624485)' \
		'tlt_look(data->bits.wide=18446743950252762604, data->bits.negative=4294967287, data->bits.across + 1=4661, data->bits.negative - 8=-17, data->bits.last << 1=682, data->bits.rest >> 4=703710, data->bits.negative >> 1=-5, data->bits.flags=9)' \
		'tlt_look(number + 1=4)'
}
tf "fixture: bitfields, the first, the last, across bytes, at the memory's end" bitfields

arrays() {
	shown look 'kprobe:tlt_look(data->points, data->box.weights)' \
		'kprobe:tlt_look(data->points[1:3], data->points[0].y, data->box.weights[1:3])' \
		'kprobe:tlt_look(data->point->x, (data->point + 1)->x, (data->point - 1)->y, data->point[1].y, (&data->points[2])->x, (&data->points[0] + 1)->y)' \
		'kprobe:tlt_look(*(data->point - 1), data->point[0:2])' \
		'kprobe:tlt_look(number + 1) if data->point == &data->points[1] && data + 1 != data && &data->next->word != &data->word' \
		'kprobe:tlt_look(number + 2) if data->point + 1 == &data->points[1]'
	expect_lines \
		'tlt_look(data->points[0].x=10, data->points[0].y=11, data->points[1].x=20, data->points[1].y=21, data->points[2].x=30, data->points[2].y=31, data->box.weights[0]=7, data->box.weights[1]=-8, data->box.weights[2]=9)' \
		'tlt_look(data->points[1].x=20, data->points[1].y=21, data->points[2].x=30, data->points[2].y=31, data->points[0].y=11, data->box.weights[1]=-8, data->box.weights[2]=9)' \
		'tlt_look(data->point->x=20, (data->point + 1)->x=30, (data->point - 1)->y=11, data->point[1].y=31, (&data->points[2])->x=30, (&data->points[0] + 1)->y=21)' \
		'tlt_look((data->point - 1)->x=10, (data->point - 1)->y=11, data->point[0].x=20, data->point[0].y=21, data->point[1].x=30, data->point[1].y=31)' \
		'tlt_look(number + 1=4)'
}
tf "fixture: arrays, slices, pointers that are moved" arrays

# BTF that pahole makes has all elements in one dimension.
dimensions() {
	local source
	needs_sources
	for source in $type_sources; do
		rm -f events
		if [ "$source" = dwarf ]; then
			set -- 'kprobe:tlt_look(data->grid)' 'kprobe:tlt_look(data->grid[1], data->grid[0][2], data->grid[0][0:2])' \
				'tlt_look(data->grid[0][0]=1, data->grid[0][1]=2, data->grid[0][2]=3, data->grid[1][0]=4, data->grid[1][1]=-5, data->grid[1][2]=6)' \
				'tlt_look(data->grid[1][0]=4, data->grid[1][1]=-5, data->grid[1][2]=6, data->grid[0][2]=3, data->grid[0][0]=1, data->grid[0][1]=2)'
		else
			set -- 'kprobe:tlt_look(data->grid)' 'kprobe:tlt_look(data->grid[3:6], data->grid[2], data->grid[0:2])' \
				'tlt_look(data->grid[0]=1, data->grid[1]=2, data->grid[2]=3, data->grid[3]=4, data->grid[4]=-5, data->grid[5]=6)' \
				'tlt_look(data->grid[3]=4, data->grid[4]=-5, data->grid[5]=6, data->grid[2]=3, data->grid[0]=1, data->grid[1]=2)'
		fi
		# shellcheck disable=SC2046
		trace $(options_of "$source") -o lines "$1" "$2" -- sh -c "$(saying look)"
		same_events "$source"
		expect_lines "$3" "$4"
	done
}
tf "fixture: an array of arrays" dimensions

texts() {
	shown look 'kprobe:tlt_look(data->name, data->name[0:3], data->full, data->full[1:3], data->full:str[2], data->text:str[4], data->room, data->room:hex[4], data->empty)' \
		'kprobe:tlt_look(data->name[1]:c, data->text[3]:c, *data->text:c, data->name:hex[3], data->name[2:4]:hex, data->empty:hex[1], data->full:hex)' \
		'kprobe:tlt_look(data->mac, data->mac:mac, data->mac[2:4], data->ip4:ip4, data->ip6:ip6, data->ip6, data->bytes:hex, data->word:ip4, data->word:be32, *(u16 *)data->mac:be16)'
	expect_lines \
		'tlt_look(data->name="fixture", data->name[0:3]="fix", data->full="full", data->full[1:3]="ul", data->full:str[2]="fu"..., data->text="a \"q"..., data->room="room", data->room:hex[4]=726f6f6d, data->empty="")' \
		"tlt_look(data->name[1]='i', data->text[3]='q', *data->text='a', data->name=666978, data->name[2:4]=7874, data->empty=00, data->full=66756c6c)" \
		'tlt_look(data->mac=02000a0b0cff, data->mac:mac=02:00:0a:0b:0c:ff, data->mac[2:4]=0a0b, data->ip4=192.0.2.1, data->ip6:ip6=2001:db8::42, data->ip6=20010db8000000000000000000000042, data->bytes=0201feff, data->word:ip4=2.1.254.255, data->word:be32=33685247, *(u16 *)data->mac=512)'
}
tf "fixture: texts, in arrays and behind pointers, and bytes" texts

casts() {
	shown look 'kprobe:tlt_look(((struct tlt_data *)$arg1)->word, (u8)data->word, (s16)data->halves[1], $arg3, number + 1, number << 4, number >> 1, number & 2, number:x, number:c)' \
		'kprobe:tlt_look((enum tlt_flags)number, (enum tlt_color)data->box.weights[1], *(u32 *)data->bytes, ((struct tlt_point *)data->point)->x, (long)data->tiny, (struct tlt_point *)number, data->tiny:x, data->word:d, data->debt:x, (u64)data->debt)' \
		'kprobe:tlt_look(((union tlt_any *)data->point)->point.y, ((const struct tlt_point *)data->point)->x, ((volatile struct tlt_data *)data->next)->word, *(char **)&data->text, (void *)data->next, data->halves[1]:errno, data->tiny:errno, number:errno)'
	expect_lines \
		"tlt_look(((struct tlt_data *)\$arg1)->word=4294836482, (u8)data->word=2, (s16)data->halves[1]=-2, \$arg3=3, number + 1=4, number << 4=48, number >> 1=1, number & 2=2, number:x=0x3, number:c='\\003')" \
		'tlt_look((enum tlt_flags)number=TLT_BOTH, (enum tlt_color)data->box.weights[1]=-8, *(u32 *)data->bytes=4294836482, ((struct tlt_point *)data->point)->x=20, (long)data->tiny=-5, (struct tlt_point *)number=0x3, data->tiny=0xfb, data->word=-130814, data->debt=0x831993af1d7c0000, (u64)data->debt=9446744073709551616)' \
		'tlt_look(((union tlt_any *)data->point)->point.y=21, ((const struct tlt_point *)data->point)->x=20, ((volatile struct tlt_data *)data->next)->word=77, *(char **)&data->text="a \"quoted\" text\n", (void *)data->next=@, data->halves[1]=-2 ENOENT, data->tiny=-5 EIO, number=3)'
}
tf "fixture: casts, calculations, formats" casts

conditions() {
	shown look 'kprobe:tlt_look(number + 1) if data->name == "fixture" && data->full == "full" && data->empty == "" && data->text != "other"' \
		'kprobe:tlt_look(number + 2) if data->color == TLT_GREEN && data->flags != TLT_SYNC && (data->flags & 8) == 8' \
		'kprobe:tlt_look(number + 3) if data->count > 17000000000000000000 && data->debt < 0 && data->tiny < 0 && data->mac[5] == 255' \
		'kprobe:tlt_look(number + 4) if data->none == NULL && !(none != NULL) && data->halves[1] == -2' \
		'kprobe:tlt_look(number + 5) if data->name == "fixtur" || data->name == "fixture " || data->full == "ful"' \
		'kprobe:tlt_look(number + 6) if data->gone->word == 0 || data->gone->word != 0 || !(none->word == 0)' \
		'kprobe:tlt_look(number + 7) if data->lost == "" || data->lost != "" || data->nothing == "" || data->nothing != "x"' \
		'tlt_look(number + 8) if $retval == 862362060 && data->any.point.x == 0x11223344'
	expect_lines 'tlt_look(number + 1=4)' 'tlt_look(number + 2=5)' 'tlt_look(number + 3=6)' 'tlt_look(number + 4=7)' \
		'tlt_look(number + 8=11) = 862362060'
	shown paint 'tlt_paint(color) if $retval == TLT_NONE' 'kprobe:tlt_paint(flags) if flags == 64'
	expect_lines 'tlt_paint(color=TLT_NONE) = TLT_NONE' 'tlt_paint(color=9) = TLT_NONE' 'tlt_paint(flags=0x40)'
	shown fail 'tlt_fail(error) if $retval < 0' 'tlt_fail(error:x) if $retval == -2 && !($retval == error)' \
		'tlt_fail_pointer(error) if $retval < 0' 'tlt_fail_pointer(error + 1) if $retval >= 0'
	expect_lines 'tlt_fail(error=2) = -2 ENOENT' 'tlt_fail(error=0x2) = -2 ENOENT' \
		'tlt_fail_pointer(error=22) = -22 EINVAL' 'tlt_fail_pointer(error + 1=1) = 0x0'
}
tf "fixture: conditions on all that" conditions

faults() {
	shown look 'kprobe:tlt_look(data->gone->word, none->word, data->lost, data->nothing, data->empty, data->none->next->word, data->gone->next->next->word, none->name, data->gone->bits.wide, *data->gone->text, none->points)' \
		'kprobe:tlt_look(data->nothing:hex[4], data->gone:hex[4], data->lost:str, data->nothing:str, none->full, data->none, number)'
	expect_lines \
		'tlt_look(data->gone->word=(fault), none->word=(fault), data->lost=(fault), data->nothing=(null), data->empty="", data->none->next->word=(fault), data->gone->next->next->word=(fault), none->name=(fault), data->gone->bits.wide=(fault), *data->gone->text=(fault), none->points[0].x=(fault), none->points[0].y=(fault), none->points[1].x=(fault), none->points[1].y=(fault), none->points[2].x=(fault), none->points[2].y=(fault))' \
		'tlt_look(data->nothing:hex[4]=(null), data->gone=(fault), data->lost=(fault), data->nothing:str=(null), none->full=(fault), data->none=0x0, number=3)'
}
tf "fixture: what leads nowhere, null pointers, empty texts" faults

# From the inside out, and each takes longer than what it calls.
recursion() {
	local source
	shown deep tlt_deep 'tlt_deep() if depth == 2' 'kprobe:tlt_deep(depth + 10)'
	expect_lines 'tlt_deep(depth=0) = 0' 'tlt_deep(depth=1) = 1' 'tlt_deep(depth=2) = 3' 'tlt_deep(depth=3) = 6' \
		'tlt_deep() = 3' 'tlt_deep(depth + 10=10)' 'tlt_deep(depth + 10=11)' 'tlt_deep(depth + 10=12)' 'tlt_deep(depth + 10=13)'
	trapline record -o rec tlt_deep -- sh -c "$(saying deep)" >out 2>err </dev/null || fail "status $?"
	trapline report --csv rec 2>/dev/null | sed -nE 's/.*,tlt_deep,call,.*,([0-9]+)$/\1/p' >took
	expect_is calls "$(lines took .)" 4
	sort -n took | cmp -s - took || fail "what is called takes longer"
	source=${type_sources##* }
	# shellcheck disable=SC2046
	trace $(options_of "$source") --begin tlt_deep -- sh -c "$(saying deep)"
	sed -E "s/$head_re//; s/\\) (.*)$/)/; s/[^0-9]//g" out | tr -d '\n' >order
	expect_is "the order" "$(cat order)" 32100123
}
tf "fixture: a function that calls itself" recursion

waiting() { until_true grep -qx "$1" /sys/module/tltypes/parameters/waiting; }

# The first sleeps while others go through, and is interrupted; two sleep, and are woken.
sleeping() {
	local one two three
	needs_returns
	needs_sources
	# shellcheck disable=SC2046
	trace_background $(options_of "${type_sources##* }") -o lines tlt_wait
	tracing
	sh -c 'echo wait >/proc/tltypes' 2>/dev/null &
	one=$!
	waiting 1
	sh -c "$(saying pass pass pass)"
	kill $one
	wait $one
	sh -c 'echo wait >/proc/tltypes' &
	two=$!
	sh -c 'echo wait >/proc/tltypes' &
	three=$!
	waiting 2
	sh -c "$(saying pass wake)"
	wait $two $three
	kill -INT "$tool"
	ended
	expect_status 0
	expect_sums
	rm -f events
	same_events sleeping
	expect_lines 'tlt_wait(whom=0) = 100' 'tlt_wait(whom=0) = 100' 'tlt_wait(whom=0) = 100' 'tlt_wait(whom=1) = -4 EINTR' \
		'tlt_wait(whom=0) = 100' 'tlt_wait(whom=1) = 101' 'tlt_wait(whom=1) = 101'
	expect_is "the order" "$(sed -E 's/.*whom=([0-9]).*/\1/' events | tr -d '\n')" 0001011
	for pid in $one $two $three; do
		expect_is "lines of $pid" "$(lines lines "^ *sh-$pid .*whom=1")" 1
	done
}
tf "fixture: calls that sleep while others go through" sleeping

# DWARF alone tells functions of one name apart; a clone's parameters nobody knows.
names() {
	local source
	needs_returns
	needs_sources
	for source in $type_sources; do
		# shellcheck disable=SC2046
		trace $(options_of "$source") --all tlt_twin tlt_call_twin tlt_cloned -- sh -c "$(saying twins cloned)"
		expect_status 0
		expect_sums
		expect_in out ': tlt_call_twin\(point=0xffff[0-9a-f]{12}\) = 42 <'
		expect_is "clones" "$(lines out ': tlt_cloned[.](constprop|isra)[.0-9a-z]*\(0x[56], ')" 2
		if [ "$source" = dwarf ]; then
			expect_in out ': tlt_twin#1\(number=41\) = 42 <'
			expect_in out ': tlt_twin#2\(point=0xffff[0-9a-f]{12}, twice=true\) = 42 <'
			expect_in err 'arguments are raw, of tlt_cloned[.]'
		else
			expect_in out ': tlt_twin#1\(0x29, '
			expect_in out ': tlt_twin#2\(0xffff[0-9a-f]{12}, 0x1, '
			expect_in err 'arguments are raw, of tlt_twin$'
		fi
	done
	[ "$source" = dwarf ] || return 0
	trace --vmlinux $types_file 'tlt_twin@types_twin.c(point->y, twice)' 'tltypes:tlt_twin@types.c(number)' -- sh -c "$(saying twins)"
	expect_in out 'tlt_twin@types_twin.c\(point->y=21, twice=true\) = 42 <'
	expect_in out 'tlt_twin@types.c\(number=41\) = 42 <'
}
tf "fixture: functions of one name, and a clone" names

# In every form of output, straight, from a recording, and by probes that were compiled before.
outputs() {
	local source form
	needs_returns
	needs_sources
	rm -f events
	for source in $type_sources; do
		set -- 'tlt_look(data->bits.negative, data->text, data->lost, data->nothing, data->color, data->more, data->yes, data->count, data->mac:mac, data->point->x)' \
			tlt_paint tlt_fail
		# shellcheck disable=SC2046
		trapline record $(options_of "$source") -o "rec.$source" "$@" -- sh -c "$(saying look paint fail)" >out 2>err </dev/null ||
			fail "status $?"
		trapline report "rec.$source" >lines 2>/dev/null
		same_events "$source"
		for form in json csv; do
			trapline report --$form "rec.$source" 2>/dev/null |
				sed -E 's/"(time_ns|cpu|pid|tid|duration_ns)":[0-9]+,?//g; s/^[0-9]+,[0-9]+,[0-9]+,[0-9]+,/,/; s/,[0-9]+$//; s/"flags":"[dDb.][N.][hsHzZ.][0-9a-f.]",//; s/^,sh,[dDb.][N.][hsHzZ.][0-9a-f.],/,sh,/' >"$form.$source"
			cmp -s "$form.$source" "$form.${type_sources%% *}" || fail "another $form: $(diff "$form.$source" "$form.${type_sources%% *}")"
		done
		[ "$source" != kernel ] || continue # that is no file
		# shellcheck disable=SC2046
		trapline compile $(options_of "$source") -o "$source.tlp" "$@" >out 2>err || fail "status $?"
		trace --force -o lines "@$source.tlp" -- sh -c "$(saying look paint fail)"
		same_events "$source.tlp"
	done
	expect_lines \
		'tlt_look(data->bits.negative=-9, data->text="a \"quoted\" text\n", data->lost=(fault), data->nothing=(null), data->color=TLT_GREEN, data->more=TLT_WRITE|0x40, data->yes=true, data->count=18000000000000000000, data->mac=02:00:0a:0b:0c:ff, data->point->x=20) = 862362060' \
		'tlt_paint(color=TLT_GREEN, flags=TLT_READ|TLT_SYNC, both=TLT_BOTH, more=TLT_WRITE|0x40, wet=false) = TLT_GREEN' \
		'tlt_paint(color=TLT_NONE, flags=0, both=TLT_WRITE, more=TLT_SYNC, wet=true) = TLT_NONE' \
		'tlt_paint(color=9, flags=0x40, both=0, more=0, wet=true) = TLT_NONE' \
		'tlt_fail(error=2) = -2 ENOENT' \
		'tlt_fail(error=0) = 0'
	expect_in "json.$source" '"data->bits.negative":-9,"data->text":"a \\"quoted\\" text\\n","data->lost":[{]("text":""|"status":"fault"|,){3}[}],"data->nothing":null,"data->color":"TLT_GREEN","data->more":"TLT_WRITE\|0x40","data->yes":true,"data->count":18000000000000000000,"data->mac":"02:00:0a:0b:0c:ff","data->point->x":20[}],"return":862362060'
	expect_in "csv.$source" ',tlt_fail,call,.*,-2,ENOENT$'
}
tf "fixture: the same in every form, recorded, and compiled before" outputs

# The calling convention, which no type is needed for: x86-64 has six arguments in registers, the
# others eight. Of narrow ones the upper bits are anything.
argument_words() {
	trace 'kprobe:tlt_add($arg5:x, $arg6:x, $arg7:x, $arg8:x, $arg9:x, $arg10:x)' -o events -- sh -c "$(saying add)"
	expect_status 0
	expect_in events 'tlt_add\(\$arg5=0x(ffffffff)?80000000, \$arg6=0x(ffffffff)?ffffffff, \$arg7=0x8000000000000000, \$arg8=0x8000000000000001, \$arg9=0xfffffffffffffff9, \$arg10=0x[0-9a-f]*c8\)$'
}
tf "fixture: arguments in registers and on the stack, whatever types are known" argument_words

result_words() {
	needs_returns
	trace 'kretprobe:tlt_add() = $retval:d' kretprobe:tlt_fail kretprobe:tlt_fail_pointer kretprobe:tlt_say \
		-o events -- sh -c "$(saying add fail say)"
	expect_status 0
	expect_in events 'tlt_add.* = 2147516862'
	expect_in events 'tlt_fail\>.* = -2 ENOENT'
	expect_in events 'tlt_fail_pointer.* = -22 EINVAL'
	expect_is "returns of void functions" "$(lines events tlt_say)" 1
}
tf "fixture: results in registers, whatever types are known" result_words
