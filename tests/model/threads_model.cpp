// SPDX-License-Identifier: GPL-2.0
// One writer thread and one reader thread run the real ring.h under a weak memory
// model; every execution of the scenarios below is tried and checked. Discard mode:
// the other is overwrite_model.cpp's.
//
// The model is axiomatic: C11's, with nothing said against cycles of program order
// and reads-from, so that neither a data nor a control dependency orders anything.
// A load may return any store to its location, also one that comes later, unless
//
//   - it would have to happen before that store, or the load (coherence), where
//     only program order and an acquire that read a release make "before";
//   - a store in between happened before the load;
//   - the same thread read a later one already.
//
// As each location has one thread that stores to it, its modification order is
// that thread's program order, and no interleaving needs to be chosen: first the
// writer runs alone and picks, for each load of the tail, any position it may
// find there; then the reader runs against all that the writer ever stored, and
// picks. The execution counts if the reader did store what the writer had picked.
#include "choices.h"
#include "workload.h"

#include <algorithm>
#include <cstdio>
#include <cstring>
#include <limits>
#include <string>
#include <vector>

namespace {

constexpr unsigned piece = 2; // bytes that are read and written at once

constexpr __u64 never = std::numeric_limits<__u64>::max();

// This is no execution of the model.
struct Abandoned {};
// The tail is stored without release: search again, without what that excluded.
struct TailRelaxed {};

struct Scenario {
    const char* name;
    __u32 chunk_size;
    __u32 chunks;
    std::vector<Step> steps;
};

class Model {
public:
    explicit Model(const Scenario& scenario) : scenario_(scenario) {
        size_ = scenario.chunk_size * scenario.chunks;
        data_.resize(size_ / piece);
        memory_.resize(size_ / 8);
        last_read_.resize(size_ / piece);
    }

    // Explores everything, or up to the first violation; false for that.
    bool explore();

    __u64 load(const void* at, unsigned size, bool acquire);
    void store(void* at, unsigned size, __u64 value, bool release);
    void put(void* at, unsigned size, __u64 value);
    __u64 get(const void* at, unsigned size);

    std::string violation;
    __u64 writers = 0;    // runs of the writer
    __u64 executions = 0; // complete and possible
    __u64 abandoned = 0;
    __u64 races = 0; // reads of data with a choice
    __u64 records = 0;
    __u64 lost = 0;

private:
    struct Store {
        __u64 value;
        __u64 when; // the writer's clock
        bool release;
    };
    struct TailLoad {
        __u64 value;
        __u64 when;
        bool acquire;
    };
    struct Closed {
        __u64 discarded;
        bool known;
    };

    void run_writer();
    void run_reader();
    void check_packet(const tl_ring_span& span);
    void complain(const char* text, __u64 detail = 0);
    void set_horizon();
    __u64 load_tail(bool acquire);
    __u64 load_head(bool acquire);
    void store_tail(__u64 value, bool release);
    __u16 load_piece(std::size_t place);
    std::size_t piece_of(const void* at) const;

    const Scenario& scenario_;
    __u32 size_;
    tl_ring_control control_ = {};
    tl_ring_consumer consumer_ = {};
    std::vector<__u64> memory_; // gives addresses, and holds nothing
    bool reading_ = false;
    bool tail_released_ = true;
    Choices choices_[2];

    // What the writer did.
    std::vector<std::vector<Store>> data_;
    std::vector<Store> head_;
    std::vector<TailLoad> tails_;
    std::vector<__u64> ends_; // positions a reader may stop at
    std::vector<Attempt> recorded_;
    std::vector<Closed> closed_;
    __u64 clock_ = 0;
    __u64 dropped_ = 0;

    // What the reader did.
    tl_ring_reader reader_ = {};
    std::vector<std::size_t> last_read_;
    std::size_t head_read_ = 0;
    __u64 known_ = 0;    // the writer's clock up to which all happened before
    __u64 furthest_ = 0; // the latest store that was read
    __u64 tail_ = 0;
    __u64 horizon_ = never;          // stores from here on are after a tail to come
    __u64 acquired_horizon_ = never; // and also ordered so
    __u64 read_ = 0;
    __u64 task_records_ = 0;
    Parser parser_;
};

Model* model;

std::size_t Model::piece_of(const void* at) const {
    const auto offset = static_cast<const __u8*>(at) - reinterpret_cast<const __u8*>(&memory_[0]);

    if (offset < 0 || offset >= static_cast<std::ptrdiff_t>(size_) || offset % piece)
        return data_.size();
    return static_cast<std::size_t>(offset) / piece;
}

void Model::complain(const char* text, __u64 detail) {
    if (violation.empty())
        violation = std::string(text) + " (record " + std::to_string(read_) + ", position " +
                    std::to_string(reader_.pos) + ", " + std::to_string(detail) + ")";
}

__u64 Model::load(const void* at, unsigned size, bool acquire) {
    __u64 value = 0;

    if (at == &consumer_.tail && !reading_)
        return load_tail(acquire);
    if (at == &control_.head && reading_)
        return load_head(acquire);
    std::memcpy(&value, at, size); // its own
    return value;
}

void Model::store(void* at, unsigned size, __u64 value, bool release) {
    if (at == &consumer_.tail && reading_) {
        store_tail(value, release);
        return;
    }
    if (at == &control_.head) {
        head_.push_back({value, ++clock_, release});
        ends_.push_back(value);
    }
    std::memcpy(at, &value, size);
}

void Model::put(void* at, unsigned size, __u64 value) {
    const std::size_t first = piece_of(at);

    if (first + size / piece > data_.size()) {
        complain("the writer writes outside");
        return;
    }
    for (unsigned i = 0; i < size / piece; i++)
        data_[first + i].push_back({static_cast<__u16>(value >> 16 * i), ++clock_, false});
}

__u64 Model::get(const void* at, unsigned size) {
    const std::size_t first = piece_of(at);
    __u64 value = 0;

    if (first + size / piece > data_.size()) {
        complain("the reader reads outside");
        return 0;
    }
    for (unsigned i = 0; i < size / piece; i++)
        value |= static_cast<__u64>(load_piece(first + i)) << 16 * i;
    return value;
}

// The tail: nothing, or where a chunk or a record ended that was published.
__u64 Model::load_tail(bool acquire) {
    const __u64 least = tails_.empty() ? 0 : tails_.back().value;
    std::vector<__u64> values = {least};

    for (__u64 end : ends_) {
        if (end > values.back())
            values.push_back(end);
        // Passing a boundary, a reader stops there too.
        const __u64 boundary = end & ~static_cast<__u64>(scenario_.chunk_size - 1);
        if (boundary > least)
            values.push_back(boundary);
    }
    std::sort(values.begin(), values.end());
    values.erase(std::unique(values.begin(), values.end()), values.end());

    const __u64 value = values[choices_[0].pick(static_cast<unsigned>(values.size()))];
    tails_.push_back({value, ++clock_, acquire});
    return value;
}

void Model::set_horizon() {
    horizon_ = never;
    acquired_horizon_ = never;
    for (const TailLoad& t : tails_) {
        if (t.value <= tail_)
            continue;
        horizon_ = std::min(horizon_, t.when);
        if (t.acquire && tail_released_)
            acquired_horizon_ = std::min(acquired_horizon_, t.when);
    }
}

__u64 Model::load_head(bool acquire) {
    std::size_t from = head_read_;
    std::size_t to = from;

    while (from + 1 < head_.size() && head_[from + 1].when <= known_)
        from++;
    // Finding the same again, with all of it read, is no new execution.
    if (head_[from].value == reader_.pos && from + 1 < head_.size())
        from++;
    to = from;
    while (to + 1 < head_.size() && head_[to + 1].when < acquired_horizon_ &&
           !(acquire && head_[to + 1].release && head_[to + 1].when > horizon_))
        to++;
    if (head_[from].when > acquired_horizon_ ||
        (acquire && head_[from].release && head_[from].when > horizon_))
        throw Abandoned(); // waits for what waits for it
    head_read_ = from + choices_[1].pick(static_cast<unsigned>(to - from + 1));

    const Store& head = head_[head_read_];
    furthest_ = std::max(furthest_, head.when);
    if (acquire && head.release)
        known_ = std::max(known_, head.when);
    return head.value;
}

void Model::store_tail(__u64 value, bool release) {
    if (value <= tail_) {
        complain("the tail does not go forward", value);
        return;
    }
    if (!release && tail_released_)
        throw TailRelaxed();
    for (const TailLoad& t : tails_) {
        if (t.value <= tail_)
            continue;
        if (t.value < value)
            throw Abandoned(); // the writer read what nobody stored
        if (t.value == value) {
            if (known_ > t.when)
                throw Abandoned(); // from the future
            if (t.acquire && release && furthest_ > t.when)
                throw Abandoned();
        }
    }
    tail_ = value;
    set_horizon();
}

__u16 Model::load_piece(std::size_t place) {
    const std::vector<Store>& stores = data_[place];
    std::size_t from = last_read_[place];
    std::size_t to;
    std::size_t natural;

    while (from + 1 < stores.size() && stores[from + 1].when <= known_)
        from++;
    to = from;
    while (to + 1 < stores.size() && stores[to + 1].when < acquired_horizon_)
        to++;
    natural = from;
    while (natural < to && stores[natural + 1].when <= head_[head_read_].when)
        natural++;
    races += from != to;

    // First as it were on a quiet machine, then all the others.
    std::size_t taken = choices_[1].pick(static_cast<unsigned>(to - from + 1));
    taken = taken == 0 ? natural : from + taken - (from + taken <= natural);
    last_read_[place] = taken;
    furthest_ = std::max(furthest_, stores[taken].when);
    return static_cast<__u16>(stores[taken].value);
}

void Model::run_writer() {
    tl_ring_writer w;

    reading_ = false;
    control_ = {};
    control_.size = size_;
    control_.chunk_size = scenario_.chunk_size;
    control_.cpu = 3;
    for (auto& stores : data_)
        stores.assign(1, {0, 0, false});
    head_.assign(1, {0, 0, false});
    tails_.clear();
    ends_.clear();
    recorded_.clear();
    closed_.clear();
    clock_ = 0;
    dropped_ = 0;

    tl_ring_writer_init(&w, &control_, &consumer_, &memory_[0]);
    for (const Step& step : scenario_.steps) {
        const bool open = w.cur != w.limit;
        const __u64 next = w.next;
        const __u64 dropped = dropped_;

        if (step.finish) {
            tl_ring_finish(&w, step.attempt.now);
        } else if (write_record(&w, step.attempt) == TL_DROP_NONE) {
            recorded_.push_back(step.attempt);
        } else {
            dropped_++;
            if (w.cur != w.limit || head_.back().value != w.next)
                complain("a record was dropped with a chunk open", w.next);
        }
        // Which chunk that closed: the open one (also where no other could be opened, and
        // then the loss is none of its own), or the one that finish made.
        if ((open && (w.cur == w.limit || w.next != next)) || (step.finish && w.next != next)) {
            closed_.resize((open ? next : w.next) / scenario_.chunk_size);
            closed_.back() = {dropped, true};
        }
    }
    if (control_.written != recorded_.size())
        complain("the count of records is wrong", control_.written);
    if (control_.lost_full + control_.lost_nested + control_.lost_too_big != dropped_)
        complain("the count of losses is wrong", control_.lost_full);
}

// Whoever finds a chunk's end published finds its header complete.
void Model::check_packet(const tl_ring_span& span) {
    const auto* p = reinterpret_cast<const tl_packet*>(span.packet);
    const __u64 number = reader_.pos / scenario_.chunk_size;

    if (tl_get_u32(&p->magic) != TL_CTF_MAGIC || tl_get_u32(&p->stream_id) != TL_STREAM_ID ||
        tl_get_u64(&p->packet_size) != scenario_.chunk_size * 8ULL ||
        tl_get_u64(&p->packet_seq_num) != number || tl_get_u32(&p->cpu_id) != 3)
        complain("a packet's header is wrong", number);
    if (reader_.pos % scenario_.chunk_size == 0 && tl_get_u64(&p->first_event) != read_)
        complain("a packet's first event is wrong", number);
}

void Model::run_reader() {
    tl_ring_span span;

    reading_ = true;
    consumer_ = {};
    std::fill(last_read_.begin(), last_read_.end(), 0);
    head_read_ = 0;
    known_ = 0;
    furthest_ = 0;
    tail_ = 0;
    read_ = 0;
    parser_ = {};
    set_horizon();

    tl_ring_reader_init(&reader_, &control_, &consumer_, &memory_[0]);
    for (std::size_t round = 0;; round++) {
        const int got = tl_ring_peek(&reader_, &span);

        if (got == 0)
            break;
        if (round > 3 * scenario_.steps.size()) {
            complain("the reader goes on forever");
            break;
        }
        if (got < 0) {
            complain("the ring contradicts itself");
            break;
        }
        check_packet(span);
        const char* wrong = parser_.span(span, [this](const Seen& seen) {
            if (read_ == recorded_.size())
                return "a record too many";
            return compare(seen, recorded_[read_++]);
        });
        if (wrong)
            complain(wrong);
        if (span.next % scenario_.chunk_size == 0) {
            const auto* p = reinterpret_cast<const tl_packet*>(span.packet);
            const __u64 number = span.next / scenario_.chunk_size - 1;

            if (tl_get_u64(&p->timestamp_end) != parser_.time())
                complain("a packet's end time is wrong", number);
            if (number >= closed_.size() || !closed_[number].known ||
                tl_get_u64(&p->events_discarded) != closed_[number].discarded)
                complain("a packet's count of losses is wrong", number);
            if (tl_get_u64(&p->content_size) !=
                8ULL * static_cast<__u64>(span.start + span.length - span.packet))
                complain("a packet's content size is wrong", number);
        }
        tl_ring_release(&reader_, &span);
    }
    for (const TailLoad& t : tails_) {
        if (t.value > tail_)
            throw Abandoned();
    }
    if (read_ != recorded_.size() || reader_.pos != head_.back().value)
        complain("records were skipped", recorded_.size());
    if (read_ + dropped_ +
            static_cast<__u64>(std::count_if(scenario_.steps.begin(), scenario_.steps.end(),
                                             [](const Step& s) { return s.finish; })) !=
        scenario_.steps.size())
        complain("read + lost is not what was tried");
    executions++;
    records += read_;
    lost += dropped_;
}

bool Model::explore() {
    model = this;
    for (;;) {
        try {
            choices_[0] = {};
            do {
                run_writer();
                writers++;
                if (!violation.empty())
                    return false;
                choices_[1] = {};
                do {
                    try {
                        run_reader();
                        if (!violation.empty())
                            return false;
                    } catch (const Abandoned&) {
                        violation.clear(); // it never happened
                        abandoned++;
                    }
                } while (choices_[1].next());
            } while (choices_[0].next());
            return true;
        } catch (const TailRelaxed&) {
            tail_released_ = false;
        }
    }
}

} // namespace

__u64 model_load(const void* at, unsigned size, bool acquire) {
    return model->load(at, size, acquire);
}

void model_store(void* at, unsigned size, __u64 value, bool release) {
    model->store(at, size, value, release);
}

void model_put(void* at, unsigned size, __u64 value) {
    model->put(at, size, value);
}

__u64 model_get(const void* at, unsigned size) {
    return model->get(at, size);
}

void model_barrier() {}       // orders nothing between two threads
void model_write_barrier() {} // only stands where overwrite mode goes

// clean: nothing may go wrong, everything is tried. broken: something must.
int main(int argc, char** argv) {
    const bool broken = argc == 2 && std::strcmp(argv[1], "broken") == 0;
    // A chunk of 128 bytes has 60 for records: 44 for the first and its task.
    const std::vector<Scenario> scenarios = {
        {"2 chunks, a record each", 128, 2, steps({1, 3, 2, 1, 0, 3, 1, -1})},
        {"2 chunks, two records each", 128, 2, steps({0, 0, 0, 0, 0, 0, 0, 0, 0, -1})},
        {"2 chunks, stopped and started", 128, 2, steps({1, 1, -1, 1, -1, 1, 1, -1})},
        {"2 chunks, two tasks", 256, 2, steps({2, 0, 5, 1, 7, 0, 2, 4, 9, -1}, 2)},
        {"4 chunks, a record each", 128, 4, steps({1, 2, 3, 1, 2, 3, 1, -1})},
        {"2 chunks, long silences", 128, 2, steps({0, 1, 2, 1, 0, 1, -1}, 1, 0x180000000ULL)},
    };
    bool caught = false;

    if (!broken && !(argc == 2 && std::strcmp(argv[1], "clean") == 0)) {
        std::fprintf(stderr, "usage: %s clean|broken\n", argv[0]);
        return 2;
    }
    for (const Scenario& s : scenarios) {
        Model m(s);
        const bool fine = m.explore();

        std::printf("%s: %llu writer runs, %llu executions, %llu abandoned, %llu records, "
                    "%llu lost, %llu racy reads\n",
                    s.name, m.writers, m.executions, m.abandoned, m.records, m.lost, m.races);
        if (fine && m.races == 0 && !broken && (m.records == 0 || m.lost == 0)) {
            std::printf("the scenario is too small: nothing was lost, or nothing read\n");
            return 1;
        }
        if (!fine)
            std::printf("VIOLATION: %s\n", m.violation.c_str());
        else if (m.races != 0 && !broken)
            std::printf("VIOLATION: data were read that are not ordered\n");
        caught = caught || !fine;
        if (!broken && (!fine || m.races != 0))
            return 1;
        if (broken && caught)
            return 0;
    }
    return broken ? 1 : 0;
}
