// SPDX-License-Identifier: GPL-2.0
// Records whose every word follows from their number, and a reader that proves
// it. For all tests of the ring; TL_RING_HEADER may name a copy of ring.h.
#ifndef MODEL_WORKLOAD_H
#define MODEL_WORKLOAD_H

#ifdef TL_RING_HEADER
#include TL_RING_HEADER
#else
#include "shared/ring.h"
#endif

#include <vector>

// In this file alone, so that tests linked into one program do not meet.
namespace {

// Attempt number seq to write a record of so many words of fields.
struct Attempt {
    __u32 seq;
    __u32 words;
    __u32 tid;
    __u64 now;
};

// Never 0: memory that nobody wrote is never right.
inline __u32 field_word(__u32 seq, __u32 word) {
    __u32 x = (seq + 1) * 2654435761U ^ (word + 1) * 0x9e3779b9U;

    return (x ^ x >> 15) | 1;
}

inline tl_task task_of(__u32 tid) {
    tl_task task = {};

    task.comm[0] = 0x2d6b736174ULL | static_cast<__u64>(tid & 0xffffff) << 40;
    task.comm[1] = tid * 3ULL;
    task.tid = tid;
    task.tgid = tid + 1000;
    return task;
}

// The id tells the size of the fields, the flags the low half of seq.
inline __u16 id_of(const Attempt& a) {
    return static_cast<__u16>(1 + a.words);
}

// Between enter and leave.
inline __u32 write_entered(tl_ring_writer* w, const Attempt& a) {
    const tl_task task = task_of(a.tid);
    __u8* at = tl_ring_reserve(w, &task, id_of(a), static_cast<__u16>(a.seq), a.now, 4 * a.words);

    if (!at)
        return w->drop;
    for (__u32 i = 0; i < a.words; i++, at += 4)
        tl_put_u32(at, field_word(a.seq, i));
    tl_ring_commit(w, at);
    return TL_DROP_NONE;
}

inline __u32 write_record(tl_ring_writer* w, const Attempt& a) {
    if (!tl_ring_enter(w))
        return TL_DROP_NESTED;
    const __u32 drop = write_entered(w, a);
    tl_ring_leave(w);
    return drop;
}

// What a writer does: an attempt, or a finish at the attempt's time.
struct Step {
    Attempt attempt;
    bool finish;
};

// Attempts with these sizes in words, a tick apart; -1 stands for a finish.
inline std::vector<Step> steps(const std::vector<int>& sizes, __u32 tasks = 1, __u64 tick = 1) {
    std::vector<Step> all;
    __u64 now = 1000;
    __u32 seq = 0;

    for (int words : sizes) {
        now += tick;
        if (words < 0) {
            all.push_back({{0, 0, 0, now}, true});
            continue;
        }
        all.push_back({{seq, static_cast<__u32>(words), 40 + seq % tasks, now}, false});
        seq++;
    }
    return all;
}

// A record as it was read.
struct Seen {
    __u16 id;
    __u16 flags;
    __u32 tid;
    __u64 time;
    __u32 words;
    const __u8* fields;
    bool extended;
};

// Reads spans in their order; every complaint is a static text.
class Parser {
public:
    // Calls event(Seen) for each record; returns what is wrong, or nullptr. The
    // event's own complaint ends the span.
    template <class Event>
    const char* span(const tl_ring_span& s, Event&& event) {
        const auto* packet = reinterpret_cast<const tl_packet*>(s.packet);
        const __u8* at = s.start;
        const __u8* const end = s.start + s.length;

        if (s.start == s.packet + TL_PACKET_SIZE) {
            const __u64 begin = tl_get_u64(&packet->timestamp_begin);

            if (begin < time_)
                return "a packet begins before the last record";
            time_ = begin;
            named_ = false;
            first_ = true;
        }
        while (at != end) {
            Seen seen = {};
            const __u64 before = time_;
            const char* wrong = header(at, end, seen);

            if (wrong)
                return wrong;
            if (first_ && time_ != before)
                return "the packet does not begin with its first record's time";
            first_ = false;
            if (seen.id == TL_ID_TASK) {
                const tl_task task = task_of(seen.tid);

                if (end - at < TL_TASK_FIELDS)
                    return "a task record is cut";
                if (tl_get_u32(at) != task.tgid || tl_get_u64(at + 4) != task.comm[0] ||
                    tl_get_u64(at + 12) != task.comm[1])
                    return "a task record is wrong";
                if (named_ && tid_ == seen.tid)
                    return "a task was named again";
                at += TL_TASK_FIELDS;
                named_ = true;
                tid_ = seen.tid;
                tasks_++;
                continue;
            }
            if (!named_ || tid_ != seen.tid)
                return "a record's task was not named";
            seen.words = seen.id - 1U;
            seen.fields = at;
            if (static_cast<__u64>(end - at) < 4ULL * seen.words)
                return "a record is cut";
            at += 4 * seen.words;
            wrong = event(seen);
            if (wrong)
                return wrong;
        }
        return nullptr;
    }

    __u64 time() const { return time_; }
    __u64 tasks() const { return tasks_; }

private:
    const char* header(const __u8*& at, const __u8* end, Seen& seen) {
        if (end - at < TL_COMPACT_SIZE)
            return "a record's header is cut";
        const __u64 word = tl_get_u64(at);

        seen.id = static_cast<__u16>(word);
        if (seen.id == TL_ID_EXTENDED) {
            if (end - at < TL_EXTENDED_SIZE)
                return "an extended header is cut";
            const __u64 high = tl_get_u64(at + 8);

            if (static_cast<__u16>(word >> 32))
                return "an id is larger than 16 bits";
            seen.extended = true;
            seen.id = static_cast<__u16>(word >> 16);
            seen.flags = static_cast<__u16>(high >> 48);
            seen.time = high << 16 | word >> 48;
            seen.tid = tl_get_u32(at + 16);
            if (seen.time < time_)
                return "time goes back";
            at += TL_EXTENDED_SIZE;
        } else {
            const __u32 low = static_cast<__u32>(word >> 16);

            seen.flags = static_cast<__u16>(word >> 48);
            seen.time = time_ + static_cast<__u32>(low - static_cast<__u32>(time_));
            seen.tid = tl_get_u32(at + 8);
            at += TL_COMPACT_SIZE;
        }
        time_ = seen.time;
        return nullptr;
    }

    __u64 time_ = 0;
    __u64 tasks_ = 0;
    __u32 tid_ = 0;
    bool named_ = false;
    bool first_ = true;
};

// What is wrong with a record that should be the attempt's, but for the time.
inline const char* compare_fields(const Seen& seen, const Attempt& a) {
    if (seen.flags != static_cast<__u16>(a.seq))
        return "not the record that was to come";
    if (seen.id != id_of(a) || seen.tid != a.tid)
        return "a record's header is wrong";
    for (__u32 i = 0; i < a.words; i++) {
        if (tl_get_u32(seen.fields + 4 * i) != field_word(a.seq, i))
            return "a record's field is wrong";
    }
    return nullptr;
}

inline const char* compare(const Seen& seen, const Attempt& a) {
    const char* wrong = compare_fields(seen, a);

    if (!wrong && seen.time != a.now)
        wrong = "a record's time is wrong";
    return wrong;
}

} // namespace

#endif
