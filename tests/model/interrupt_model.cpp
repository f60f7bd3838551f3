// SPDX-License-Identifier: GPL-2.0
// One CPU: interrupts that record too, at every point between the accesses of the
// writer that they interrupt, with the real ring.h. What the compiler may do is
// modelled by the flag alone: where no barrier is in between, its setting may sink
// below the record's accesses, and its clearing rise above them. Interrupts are
// not interrupted themselves.
#include "choices.h"
#include "workload.h"

#include <cstdio>
#include <cstring>
#include <string>
#include <vector>

namespace {

// The flag was cleared early, and then came a barrier: no compiler does that.
struct Abandoned {};

struct Scenario {
    const char* name;
    __u32 chunk_size;
    __u32 chunks;
    unsigned interrupts;      // at most
    std::vector<__u32> words; // of the interrupted writer's records
};

class Model {
public:
    explicit Model(const Scenario& scenario) : scenario_(scenario) {}

    bool explore();

    __u64 load(const void* at, unsigned size);
    void store(void* at, unsigned size, __u64 value);
    void put(void* at, unsigned size, __u64 value);
    void barrier();

    std::string violation;
    __u64 executions = 0;
    __u64 abandoned = 0;
    __u64 records = 0;
    __u64 nested = 0;
    __u64 full = 0;

private:
    void run();
    void check();
    void attempt(__u32 words);
    void access();
    void complain(const char* text) {
        if (violation.empty())
            violation = text;
    }

    const Scenario& scenario_;
    Choices choices_;
    tl_ring_control control_ = {};
    tl_ring_consumer consumer_ = {};
    tl_ring_writer writer_ = {};
    std::vector<__u64> memory_;
    std::vector<Attempt> attempts_;
    std::vector<bool> done_;
    __u64 drops_[4] = {};
    unsigned interrupts_ = 0; // still to come
    bool running_ = false;
    bool interrupted_ = false;
    bool set_later_ = false;     // the flag was to be set, and is not yet
    bool may_clear_ = false;     // it was set
    bool cleared_early_ = false; // and is clear already
};

Model* model;

void Model::attempt(__u32 words) {
    const __u32 seq = static_cast<__u32>(attempts_.size());

    attempts_.push_back({seq, words, 40 + seq % 2, 1000 + seq});
    done_.push_back(false);
    const Attempt a = attempts_.back();
    const __u32 drop = write_record(&writer_, a);
    if (drop == TL_DROP_NONE)
        done_[seq] = true;
    else
        drops_[drop]++;
}

// Before each access of the interrupted writer.
void Model::access() {
    if (!running_ || interrupted_ || interrupts_ == 0)
        return;
    if (set_later_ && choices_.pick(2)) {
        writer_.writing = 1;
        set_later_ = false;
    }
    if (may_clear_ && !cleared_early_ && choices_.pick(2)) {
        writer_.writing = 0;
        set_later_ = false;
        cleared_early_ = true;
    }
    while (interrupts_ != 0 && choices_.pick(2)) {
        interrupts_--;
        interrupted_ = true;
        attempt(1);
        interrupted_ = false;
    }
}

__u64 Model::load(const void* at, unsigned size) {
    __u64 value = 0;

    access();
    if (at == &writer_.writing && set_later_ && !interrupted_)
        return 1;
    std::memcpy(&value, at, size);
    return value;
}

void Model::store(void* at, unsigned size, __u64 value) {
    access();
    if (at == &writer_.writing && !interrupted_) {
        may_clear_ = value != 0;
        set_later_ = value != 0;
        if (value == 0 && !cleared_early_)
            writer_.writing = 0;
        cleared_early_ = false;
        return;
    }
    std::memcpy(at, &value, size);
}

void Model::put(void* at, unsigned size, __u64 value) {
    const auto offset = static_cast<__u8*>(at) - reinterpret_cast<__u8*>(&memory_[0]);

    access();
    if (offset < 0 || static_cast<__u64>(offset) + size > control_.size) {
        complain("the writer writes outside");
        return;
    }
    std::memcpy(at, &value, size);
}

void Model::barrier() {
    if (interrupted_)
        return;
    if (cleared_early_)
        throw Abandoned();
    if (set_later_)
        writer_.writing = 1;
    set_later_ = false;
}

void Model::run() {
    memory_.assign(scenario_.chunk_size * scenario_.chunks / 8, 0);
    control_ = {};
    consumer_ = {};
    control_.chunk_size = scenario_.chunk_size;
    control_.size = scenario_.chunk_size * scenario_.chunks;
    attempts_.clear();
    done_.clear();
    std::memset(drops_, 0, sizeof(drops_));
    interrupts_ = scenario_.interrupts;
    interrupted_ = set_later_ = may_clear_ = cleared_early_ = false;
    tl_ring_writer_init(&writer_, &control_, &consumer_, &memory_[0]);

    running_ = true;
    for (__u32 words : scenario_.words)
        attempt(words);
    running_ = false;
    tl_ring_finish(&writer_, 5000);
}

void Model::check() {
    tl_ring_reader reader;
    tl_ring_span span;
    Parser parser;
    __u64 written = 0;
    __u64 seen_records = 0;
    int got;

    for (bool done : done_)
        written += done;
    if (control_.written != written || control_.lost_nested != drops_[TL_DROP_NESTED] ||
        control_.lost_full != drops_[TL_DROP_FULL] || control_.lost_too_big != 0 ||
        written + drops_[TL_DROP_NESTED] + drops_[TL_DROP_FULL] != attempts_.size())
        complain("recorded + lost is not what was tried");

    tl_ring_reader_init(&reader, &control_, &consumer_, &memory_[0]);
    while ((got = tl_ring_peek(&reader, &span)) == 1) {
        const char* wrong = parser.span(span, [&](const Seen& seen) -> const char* {
            if (seen.flags >= attempts_.size() || !done_[seen.flags])
                return "a record that nobody wrote, or read twice";
            done_[seen.flags] = false;
            seen_records++;
            if (seen.time < attempts_[seen.flags].now || seen.time > 5000)
                return "a record's time is wrong";
            return compare_fields(seen, attempts_[seen.flags]);
        });
        if (wrong)
            complain(wrong);
        tl_ring_release(&reader, &span);
    }
    if (got < 0)
        complain("the ring contradicts itself");
    if (seen_records != written)
        complain("a record is missing");
    records += written;
    nested += drops_[TL_DROP_NESTED];
    full += drops_[TL_DROP_FULL];
}

bool Model::explore() {
    model = this;
    do {
        try {
            run();
            check();
            executions++;
            if (!violation.empty())
                return false;
        } catch (const Abandoned&) {
            running_ = false;
            violation.clear();
            abandoned++;
        }
    } while (choices_.next());
    return true;
}

} // namespace

__u64 model_load(const void* at, unsigned size, bool) {
    return model->load(at, size);
}

void model_store(void* at, unsigned size, __u64 value, bool) {
    model->store(at, size, value);
}

void model_put(void* at, unsigned size, __u64 value) {
    model->put(at, size, value);
}

__u64 model_get(const void* at, unsigned size) {
    __u64 value = 0;

    std::memcpy(&value, at, size);
    return value;
}

void model_barrier() {
    model->barrier();
}

void model_write_barrier() {} // no matter to one CPU

// clean: nothing may go wrong, everything is tried. broken: something must.
int main(int argc, char** argv) {
    const bool broken = argc == 2 && std::strcmp(argv[1], "broken") == 0;
    const std::vector<Scenario> scenarios = {
        {"one chunk", 256, 2, 1, {1, 2, 0}},
        {"new chunks, two interrupts", 128, 4, 2, {1, 2, 1}},
        {"a full ring", 128, 2, 2, {1, 0, 3, 1}},
    };

    if (!broken && !(argc == 2 && std::strcmp(argv[1], "clean") == 0)) {
        std::fprintf(stderr, "usage: %s clean|broken\n", argv[0]);
        return 2;
    }
    for (const Scenario& s : scenarios) {
        Model m(s);
        const bool fine = m.explore();

        std::printf("%s: %llu executions, %llu abandoned, %llu records, %llu lost nested, "
                    "%llu lost full\n",
                    s.name, m.executions, m.abandoned, m.records, m.nested, m.full);
        if (!fine)
            std::printf("VIOLATION: %s\n", m.violation.c_str());
        if (!fine)
            return broken ? 0 : 1;
        if (!broken && (m.records == 0 || m.nested == 0)) {
            std::printf("the scenario is too small: no interrupt came in between\n");
            return 1;
        }
    }
    return broken ? 1 : 0;
}
