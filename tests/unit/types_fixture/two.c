// SPDX-License-Identifier: GPL-2.0
// Another unit: a function of a name that the first has too, and what is only declared there.
#define apart __attribute__((noinline, noclone))

struct later {
    long before;
    int inside;
};

volatile long other_sink;

#line 200 "drivers/fixture/second.c"
static apart long twice(long b, struct later *later)
{
    other_sink = b;
    return b + later->inside;
}

apart long use_later(struct later *later)
{
    return twice(later->before, later) + 1;
}

// As a compiler names what it has made of a function.
apart int cloned(int a) __asm__("cloned.isra.0");
apart int cloned(int a)
{
    other_sink = a;
    return a;
}
