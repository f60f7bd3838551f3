/* SPDX-License-Identifier: GPL-2.0 WITH Linux-syscall-note */
/*
 * order.h - the primitives that memory shared with the other side is touched with
 *
 * Everything in ring.h that the other side can see goes through these, so that
 * one header is right in the kernel (LKMM), in the tool (C++ atomics) and in the
 * tests' memory model, which defines TL_ORDER_HEADER to put its own in their
 * place. Nothing else in the project may order memory by other means.
 */
#ifndef TL_ORDER_H
#define TL_ORDER_H

#ifdef TL_ORDER_HEADER
#include TL_ORDER_HEADER
#else

#ifdef __KERNEL__

#include <linux/compiler.h>
#include <asm/barrier.h>

#define tl_load(p)		READ_ONCE(*(p))
#define tl_store(p, v)		WRITE_ONCE(*(p), v)
#define tl_load_acquire(p)	smp_load_acquire(p)
#define tl_store_release(p, v)	smp_store_release(p, v)
/* Counts up what one CPU writes and others read: whole words, no order. */
#define tl_count(p)		((*(p))++)
/* Against an interrupt on the same CPU: only the compiler could reorder. */
#define tl_barrier()		barrier()
/* Stores before the one are seen first by who loads around the other, in turn. */
#define tl_write_barrier()	smp_wmb()
#define tl_read_barrier()	smp_rmb()
#define tl_inline		static __always_inline
#define tl_noinline		static noinline __attribute__((__unused__))
#define tl_unwatched		static noinline __attribute__((__unused__))

#else

#define tl_load(p)		__atomic_load_n(p, __ATOMIC_RELAXED)
#define tl_store(p, v)		__atomic_store_n(p, v, __ATOMIC_RELAXED)
#define tl_load_acquire(p)	__atomic_load_n(p, __ATOMIC_ACQUIRE)
#define tl_store_release(p, v)	__atomic_store_n(p, v, __ATOMIC_RELEASE)
#define tl_count(p)		__atomic_store_n(p, __atomic_load_n(p, __ATOMIC_RELAXED) + 1, \
						 __ATOMIC_RELAXED)
#define tl_barrier()		__atomic_signal_fence(__ATOMIC_SEQ_CST)
#define tl_write_barrier()	__atomic_thread_fence(__ATOMIC_RELEASE)
#define tl_read_barrier()	__atomic_thread_fence(__ATOMIC_ACQUIRE)
#define tl_inline		static inline __attribute__((__always_inline__, __unused__))
#define tl_noinline		static __attribute__((__noinline__, __unused__))
#define tl_unwatched		\
	static __attribute__((__noinline__, __unused__, __no_sanitize__("thread")))

#endif

/*
 * What lies in chunks: at 4-byte alignment but for headers, written once, read only after
 * an acquire of the head that covers them; or copied by tl_copy() first.
 */
#define tl_put_u64(p, v)	do { __u64 tl_v = (v); __builtin_memcpy(p, &tl_v, 8); } while (0)
#define tl_put_u16(p, v)	do { __u16 tl_v = (v); __builtin_memcpy(p, &tl_v, 2); } while (0)
#define tl_put_u32(p, v)	do { __u32 tl_v = (v); __builtin_memcpy(p, &tl_v, 4); } while (0)
#define tl_get_u64(p)		({ __u64 tl_v; __builtin_memcpy(&tl_v, p, 8); tl_v; })
#define tl_get_u32(p)		({ __u32 tl_v; __builtin_memcpy(&tl_v, p, 4); tl_v; })

typedef __u32 __attribute__((__may_alias__)) tl_word;

/*
 * Copies @bytes, a multiple of 4 at 4-byte alignment, that the writer may be writing over:
 * its stores are plain, so this is a race, and ThreadSanitizer isn't asked. Who copies finds
 * out afterwards whether it came to that, and then doesn't look at the copy.
 */
tl_unwatched void tl_copy(void *to, const void *from, __u64 bytes)
{
	const tl_word *word = (const tl_word *)from;
	tl_word *copy = (tl_word *)to;
	__u64 i;

	for (i = 0; i < bytes / 4; i++)
		copy[i] = tl_load(&word[i]);
}

#endif

#ifdef __cplusplus
#define tl_static_assert(c, m)	static_assert(c, m)
#else
#define tl_static_assert(c, m)	_Static_assert(c, m)
#endif

#define tl_likely(x)		__builtin_expect(!!(x), 1)
#define tl_unlikely(x)		__builtin_expect(!!(x), 0)

#endif
