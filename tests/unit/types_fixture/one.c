// SPDX-License-Identifier: GPL-2.0
// Types and lines for the tests of what reads DWARF and BTF. Lines are counted from #line on.
#define apart __attribute__((noinline, noclone))

typedef unsigned int u32;
typedef long ssize;

enum shade { DARK, LIGHT = 7, NEGATIVE = -3 };
enum large { TOP = 0x80000000U };

struct later;

struct point {
    int x;
    int y;
};

struct outer {
    struct point at;
    union {
        int small;
        long wide;
    };
    unsigned low : 3;
    signed high : 29;
    char name[16];
    int grid[2][3];
    int (*call)(struct point *, ...);
    const char *const text;
    struct later *next;
    _Bool flag;
    enum large large;
};

volatile int sink;

#line 100 "drivers/fixture/first.c"
static inline int doubled(int value)
{
    sink = value;
    return 2 * value;
}

apart ssize read_it(struct outer *outer, const char *name, u32 count, enum shade shade)
{
    sink = (int)count;
    sink = outer->at.y;

    // nothing here
    sink = doubled(shade);
    return *name;
}

static apart int twice(int a)
{
    sink = a;
    return a + sink;
}

apart void format(const char *text, ...)
{
    sink = *text;
}

apart _Bool follow(struct later *later, double part, union { long whole; } *many)
{
    sink = later != 0;
    sink = part > 1 && many;
    return sink;
}

int main(void)
{
    struct outer outer = {.name = "x"};
    sink = doubled(3);
    format("%d", twice(1));
    follow(0, 0, 0);
    return (int)read_it(&outer, "y", 1, LIGHT);
}
