// SPDX-License-Identifier: GPL-2.0
// The models' shim: what order.h gives to ring.h, as calls into a model. Data
// words go through it too, so a model decides what every one of them reads.
#ifndef MODEL_ORDER_H
#define MODEL_ORDER_H

#include <linux/types.h>

#include <type_traits>

__u64 model_load(const void* at, unsigned size, bool acquire);
void model_store(void* at, unsigned size, __u64 value, bool release);
void model_put(void* at, unsigned size, __u64 value);
__u64 model_get(const void* at, unsigned size);
void model_copy(void* to, const void* from, __u64 bytes);
void model_barrier();
void model_write_barrier();
void model_read_barrier();

template <class T>
T model_load_as(const T* at, bool acquire) {
    return static_cast<T>(model_load(at, sizeof(T), acquire));
}

template <class T>
void model_store_as(T* at, std::type_identity_t<T> value, bool release) {
    model_store(at, sizeof(T), value, release);
}

#define tl_load(p) model_load_as(p, false)
#define tl_store(p, v) model_store_as(p, v, false)
#define tl_load_acquire(p) model_load_as(p, true)
#define tl_store_release(p, v) model_store_as(p, v, true)
#define tl_count(p) model_store_as(p, model_load_as(p, false) + 1, false)
#define tl_barrier() model_barrier()
#define tl_write_barrier() model_write_barrier()
#define tl_read_barrier() model_read_barrier()
#define tl_inline static inline __attribute__((__unused__))
#define tl_noinline static __attribute__((__noinline__, __unused__))

#define tl_put_u64(p, v) model_put(p, 8, v)
#define tl_put_u32(p, v) model_put(p, 4, v)
#define tl_put_u16(p, v) model_put(p, 2, v)
#define tl_get_u64(p) model_get(p, 8)
#define tl_get_u32(p) static_cast<__u32>(model_get(p, 4))
#define tl_copy(to, from, bytes) model_copy(to, from, bytes)

#endif
