# SPDX-License-Identifier: GPL-2.0
# Finds every use of an ordering in ring.h, prints a name for each (function,
# primitive, number within the function) and writes to out/NAME/ring.h a copy in
# which that one is weakened: an acquire or release to relaxed, a barrier to none.
#
#   awk -v out=DIRECTORY -f sites.awk order.h ring.h
#
# Anything that would order memory by other means is printed as "unmodelled ...".

BEGIN {
    weaker["load_acquire"] = "tl_load("
    weaker["store_release"] = "tl_store("
    weaker["barrier"] = weaker["write_barrier"] = weaker["read_barrier"] = "((void)"
    split("load store load_acquire store_release count barrier write_barrier read_barrier copy inline " \
          "noinline unwatched put_u64 put_u32 put_u16 get_u64 get_u32 static_assert likely unlikely", \
          names, " ")
    for (i in names)
        known["tl_" names[i]] = 1
}

# The text without its comments, which become blanks.
function masked(text,    i, two, result) {
    result = ""
    for (i = 1; i <= length(text); i++) {
        two = substr(text, i, 2)
        if (!comment && two == "/*") {
            comment = 1
            result = result "  "
            i++
        } else if (comment && two == "*/") {
            comment = 0
            result = result "  "
            i++
        } else {
            result = result (comment ? " " : substr(text, i, 1))
        }
    }
    return result
}

FNR == 1 {
    file++
    comment = 0
}

file == 1 {
    if (match($0, /^#define[ \t]+tl_[a-z_0-9]+/)) {
        name = $2
        sub(/\(.*/, "", name)
        if (!(name in known))
            print "unmodelled " name
    } else if (/^tl_/ && match($0, /tl_[a-z_0-9]+\(/)) {
        name = substr($0, RSTART, RLENGTH - 1)
        if (!(name in known))
            print "unmodelled " name
    }
    next
}

{
    line[FNR] = $0
    lines = FNR
    code = masked($0)

    if (code ~ /^tl_(inline|noinline)[ \t]/ && match(code, /[a-z_0-9]+\(/))
        current = substr(code, RSTART, RLENGTH - 1)
    rest = code
    gsub(/tl_((read|write)_)?barrier\(/, "", rest)
    if (match(rest, /__atomic[a-z_]*|__sync[a-z_]*|smp_[a-z_]+|READ_ONCE|WRITE_ONCE|[a-z_]*barrier\(|volatile|[a-z_]*fence|asm/))
        print "unmodelled " substr(rest, RSTART, RLENGTH) " in " current

    skipped = 0
    rest = code
    while (match(rest, /tl_(load_acquire|store_release|((read|write)_)?barrier)\(/)) {
        kind = substr(rest, RSTART + 3, RLENGTH - 4)
        name = current "." kind "." (++count[current, kind])
        sites++
        site[sites] = name
        where[sites] = FNR
        column[sites] = skipped + RSTART
        width[sites] = RLENGTH
        by[sites] = weaker[kind]
        if (kind ~ /barrier/)
            width[sites] = RLENGTH + 1
        skipped += RSTART + RLENGTH - 1
        rest = substr(rest, RSTART + RLENGTH)
    }
}

END {
    for (s = 1; s <= sites; s++) {
        print site[s]
        if (out == "")
            continue
        copy = out "/" site[s] "/ring.h"
        system("mkdir -p '" out "/" site[s] "'")
        for (i = 1; i <= lines; i++) {
            text = line[i]
            if (i == where[s])
                text = substr(text, 1, column[s] - 1) by[s] (by[s] ~ /void/ ? "0)" : "") \
                       substr(text, column[s] + width[s])
            print text > copy
        }
        close(copy)
    }
}
