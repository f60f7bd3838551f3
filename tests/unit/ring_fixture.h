// SPDX-License-Identifier: GPL-2.0
// A ring in our own memory with the real writer of shared/ring.h, as the module sets it up.
#pragma once

#include <algorithm>
#include <cstdint>
#include <cstdlib>
#include <cstring>
#include <memory>
#include <new>
#include <string>
#include <string_view>
#include <vector>

#include "ring/memory.h"
#include "shared/ring.h"
#include "trace/event.h"

namespace trapline::test {

inline tl_task task(std::uint32_t tid, std::uint32_t tgid, std::string_view comm) {
    tl_task out{};
    out.tid = tid;
    out.tgid = tgid;
    std::memcpy(out.comm, comm.data(), std::min<std::size_t>(comm.size(), TL_COMM_SIZE));
    return out;
}

class TestRing {
public:
    explicit TestRing(std::uint64_t size, std::uint32_t cpu = 0, bool overwrite = false)
        : size_(size) {
        // malloc'ed, so that a sanitizer sees who leaves them.
        control_.reset(allocate<tl_ring_control>(sizeof(tl_ring_control)));
        consumer_.reset(allocate<tl_ring_consumer>(sizeof(tl_ring_consumer)));
        data_.reset(allocate<std::uint8_t>(size));
        control_->page.magic = TL_RING_MAGIC;
        control_->page.version = TL_LAYOUT_VERSION;
        control_->page.kind = TL_PAGE_RING;
        control_->cpu = cpu;
        control_->cpus = cpu + 1;
        control_->size = size;
        control_->overwrite = overwrite ? 1 : 0;
        control_->chunk_size =
            static_cast<std::uint32_t>(std::min<std::uint64_t>(TRAPLINE_CHUNK_MAX, size / 4));
        tl_ring_writer_init(&writer, control_.get(), consumer_.get(), data_.get());
    }

    RingMemory memory() const { return {control_.get(), consumer_.get(), data_.get(), size_}; }
    tl_ring_control& control() { return *control_; }
    tl_ring_consumer& consumer() { return *consumer_; }
    std::uint8_t* data() { return data_.get(); }
    std::uint32_t chunk_size() const { return control_->chunk_size; }

    // False: dropped.
    bool write(std::uint16_t id, std::uint64_t now, const tl_task& who,
               const std::vector<std::uint8_t>& fields, std::uint16_t flags = 0) {
        const auto size = static_cast<std::uint32_t>(fields.size());
        if (tl_ring_enter(&writer) == 0)
            return false;
        std::uint8_t* at = tl_ring_reserve(&writer, &who, id, flags, now, size);
        if (at != nullptr) {
            if (size != 0)
                std::memcpy(at, fields.data(), size);
            tl_ring_commit(&writer, at + size);
        }
        tl_ring_leave(&writer);
        return at != nullptr;
    }

    void finish(std::uint64_t now) { tl_ring_finish(&writer, now); }

    tl_ring_writer writer{};

private:
    struct Free {
        void operator()(void* memory) const { std::free(memory); }
    };

    template <class T>
    static T* allocate(std::size_t bytes) {
        void* memory = std::calloc(1, bytes);
        if (memory == nullptr)
            throw std::bad_alloc();
        return static_cast<T*>(memory);
    }

    std::uint64_t size_;
    std::unique_ptr<tl_ring_control, Free> control_;
    std::unique_ptr<tl_ring_consumer, Free> consumer_;
    std::unique_ptr<std::uint8_t, Free> data_;
};

// A string field as shared/record.h has it.
inline std::vector<std::uint8_t> string_field(std::string_view text, std::uint16_t status = 0) {
    const auto length = static_cast<std::uint16_t>(text.size());
    std::vector<std::uint8_t> out(4 + tl_align4(length));
    std::memcpy(out.data(), &status, 2);
    std::memcpy(out.data() + 2, &length, 2);
    std::copy(text.begin(), text.end(), out.begin() + 4);
    return out;
}

inline std::vector<std::uint8_t> number_field(std::uint64_t value) {
    std::vector<std::uint8_t> out(8);
    std::memcpy(out.data(), &value, 8);
    return out;
}

inline EventLayout layout(std::uint16_t id, trapline_probe_kind kind, std::size_t numbers,
                          bool text = false) {
    EventLayout out;
    out.id = id;
    out.name = "event" + std::to_string(id);
    out.kind = kind;
    for (std::size_t i = 0; i < numbers; i++) {
        Field field;
        field.name = "arg" + std::to_string(i);
        out.entry_fields.push_back(field);
    }
    if (text) {
        Field field;
        field.name = "text";
        field.type = FieldType::string;
        out.entry_fields.push_back(field);
    }
    return out;
}

} // namespace trapline::test
