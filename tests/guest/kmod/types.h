/* SPDX-License-Identifier: GPL-2.0 */
/* types.h - of tltypes, what its two files share: values of every kind of type */
#ifndef TLT_TYPES_H
#define TLT_TYPES_H

#include <linux/types.h>

enum tlt_color { TLT_RED, TLT_GREEN = 5, TLT_NONE = -1 };

enum tlt_flags { TLT_READ = 1, TLT_WRITE = 2, TLT_SYNC = 8, TLT_BOTH = TLT_READ | TLT_WRITE };

struct tlt_point {
	int x, y;
};

struct tlt_bits {
	u32 first : 1;
	u32 across : 13;
	s32 negative : 5;
	u32:4;
	u32 last : 9;
	s64 wide : 40;
	u64 rest : 24;
	enum tlt_flags flags : 4;
	bool yes : 1;
	bool no : 1;
};

/* 4 bytes, of which high has the last three and a bit of the first. */
struct tlt_tail {
	u32 low : 9;
	u32 high : 20;
};

union tlt_any {
	long number;
	u8 bytes[8];
	struct tlt_point point;
};

struct tlt_data {
	struct {
		struct tlt_point from, to;
		s16 weights[3];
	} box;
	union {
		u32 word;
		u8 bytes[4];
		s16 halves[2];
	};
	struct {
		s8 tiny;
		union {
			bool yes;
			char letter;
		};
	};
	union tlt_any any;
	struct tlt_bits bits;
	int grid[2][3];
	struct tlt_point points[3];
	char name[16];
	char full[4];	/* to its last byte */
	u8 mac[6];
	u8 ip4[4];
	u8 ip6[16];
	const char *text;
	char *room;
	const char *empty;
	const char *lost;	/* leads nowhere */
	const char *nothing;	/* NULL */
	const struct tlt_point *point;	/* the middle one of points */
	struct tlt_data *next;
	struct tlt_data *gone;	/* leads nowhere */
	struct tlt_data *none;	/* NULL */
	const struct tlt_tail *tail;	/* its last byte is the last one that is there */
	enum tlt_color color;
	enum tlt_flags flags, both, more;
	unsigned long mask;
	u64 count;
	s64 debt;
};

long tlt_look(const struct tlt_data *data, const struct tlt_data *none, int number);
void tlt_say(const char *text, char *room, const char *empty, const char *lost,
	     const char *nothing);
enum tlt_color tlt_paint(enum tlt_color color, enum tlt_flags flags, enum tlt_flags both,
			 enum tlt_flags more, bool wet);
long tlt_add(s8 a, u8 b, s16 c, u16 d, int e, unsigned int f, long g, unsigned long h, s64 i, u8 j);
struct tlt_point tlt_move(struct tlt_point point, int by);
int tlt_fail(int error);
void *tlt_fail_pointer(long error);
long tlt_deep(int depth);
int tlt_wait(int whom);
void tlt_user(const char __user *text, size_t size);
int tlt_call_twin(const struct tlt_point *point);

#endif
