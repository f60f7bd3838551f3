// SPDX-License-Identifier: GPL-2.0
// A ring in user memory, with a page before and behind its data that traps.
#ifndef MODEL_TEST_RING_H
#define MODEL_TEST_RING_H

#include "workload.h"

#include <sys/mman.h>

#include <new>

namespace {

class TestRing {
public:
    TestRing(__u64 size, __u32 chunk_size, __u32 cpu = 0, bool overwrite = false)
        : room_(size < page ? page : size) {
        map_ = static_cast<__u8*>(mmap(nullptr, room_ + 2 * page, PROT_NONE,
                                       MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0));
        if (map_ == MAP_FAILED || mprotect(map_ + page, room_, PROT_READ | PROT_WRITE) != 0)
            throw std::bad_alloc();
        // A ring smaller than a page ends where the page does.
        data = map_ + page + (room_ - size);
        control.page.magic = TL_RING_MAGIC;
        control.page.version = TL_LAYOUT_VERSION;
        control.page.kind = TL_PAGE_RING;
        control.size = size;
        control.chunk_size = chunk_size;
        control.cpu = cpu;
        control.overwrite = overwrite;
        tl_ring_writer_init(&writer, &control, &consumer, data);
        tl_ring_reader_init(&reader, &control, &consumer, data);
    }
    ~TestRing() { munmap(map_, room_ + 2 * page); }
    TestRing(const TestRing&) = delete;
    TestRing& operator=(const TestRing&) = delete;

    __u64 lost() const {
        return tl_load(&control.lost_full) + tl_load(&control.lost_nested) +
               tl_load(&control.lost_too_big);
    }

    // Reads and releases all that is published; nullptr, or what is wrong.
    template <class Event>
    const char* drain(Parser& parser, Event&& event) {
        tl_ring_span span;
        int got;

        while ((got = tl_ring_peek(&reader, &span)) == 1) {
            if (const char* wrong = parser.span(span, event))
                return wrong;
            tl_ring_release(&reader, &span);
        }
        return got < 0 ? "the ring contradicts itself" : nullptr;
    }

    tl_ring_control control = {};
    tl_ring_consumer consumer = {};
    tl_ring_writer writer = {};
    tl_ring_reader reader = {};
    __u8* data;

private:
    static constexpr __u64 page = 4096;
    __u64 room_;
    __u8* map_;
};

} // namespace

#endif
