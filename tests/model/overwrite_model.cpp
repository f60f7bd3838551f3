// SPDX-License-Identifier: GPL-2.0
// Overwrite mode under the weak memory model of threads_model.cpp: a writer thread,
// which looks at nothing, and a reader thread, which copies, run the real ring.h;
// every execution of the scenarios below is tried and checked.
//
// The writer does the same in all of them. So it runs once, and then the reader
// runs against all that the writer ever stored, and picks. "Before" is made here
// also by a write barrier, between the stores around it, and a read barrier,
// between the loads; nothing more, as the kernel's are: C++'s fences order more.
//
// What a copied word holds is picked when somebody looks at it, of what the copying
// may have found in view of the loads that came after. So copies that are thrown
// away unseen need no picking.
#include "choices.h"
#include "workload.h"

#include <algorithm>
#include <cstdio>
#include <cstring>
#include <string>
#include <vector>

namespace {

constexpr unsigned piece = 2; // bytes that are read and written at once

constexpr __u64 nowhere = ~0ULL; // no chunk's position

struct Scenario {
    const char* name;
    __u32 chunk_size;
    __u32 chunks;
    unsigned copies; // while the writer runs; then all the rest
    std::vector<Step> steps;
};

class Model {
public:
    explicit Model(const Scenario& scenario) : scenario_(scenario) {
        size_ = scenario.chunk_size * scenario.chunks;
        memory_.resize(size_ / 8);
        buffer_.resize(scenario.chunk_size / 8);
        copied_.resize(scenario.chunk_size / piece);
    }

    // Explores everything, or up to the first violation; false for that.
    bool explore();

    __u64 load(const void* at, bool acquire, unsigned size);
    void store(void* at, unsigned size, __u64 value, bool release);
    void put(void* at, unsigned size, __u64 value);
    __u64 get(const void* at, unsigned size);
    void copy(void* to, const void* from, __u64 bytes);
    void write_barrier() { barriers_.push_back(++clock_); }
    void read_barrier();

    std::string violation;
    __u64 executions = 0;
    __u64 races = 0; // looks at data with a choice
    __u64 records = 0;
    __u64 overwritten = 0;
    __u64 thrown_away = 0; // copies
    __u64 replaced = 0;    // chunks that were copied before they were finished, and again

private:
    struct Store {
        __u64 value;
        __u64 when; // the writer's clock
        bool release;
    };
    // A location: what was stored to it, and which of that the reader saw last.
    struct Place {
        std::vector<Store> stores;
        std::size_t read;
    };
    struct Copied {
        Place* place;
        std::size_t least; // of the stores that it may have found
        bool looked_at;
        __u16 value;
    };
    struct Load {
        const Place* place;
        std::size_t read;
    };
    struct Chunk {
        __u64 records;
        __u64 discarded;
        bool closed;
    };

    void run_writer();
    void run_reader();
    bool look();
    __u64 check_copy(const tl_ring_copied& copy);
    void check_closed(const tl_ring_copied& copy, __u64 time);
    void account(const tl_ring_copied& copy, __u64 first, __u64 count);
    void complain(const char* text, __u64 detail = 0);
    Place* place_of(const void* at);
    std::size_t least(const Place& place) const;
    std::size_t most(const Place& place, std::size_t from) const;
    __u64 barrier_before(__u64 when) const;
    void found(const Store& store);
    __u64 load_place(Place& place, bool acquire);
    __u16 look_at(Copied& word);

    const Scenario& scenario_;
    __u32 size_;
    tl_ring_control control_ = {};
    tl_ring_consumer consumer_ = {};
    std::vector<__u64> memory_; // gives addresses, and holds nothing
    std::vector<__u64> buffer_; // so does this
    bool reading_ = false;
    Choices choices_;

    // What the writer did.
    Place head_;
    Place floor_;
    Place written_;
    std::vector<Place> data_;
    std::vector<__u64> barriers_; // when
    std::vector<Attempt> recorded_;
    std::vector<__u64> published_; // records, by stores of the head
    std::vector<Chunk> chunks_;
    __u64 clock_ = 0;

    // What the reader did.
    tl_ring_reader reader_ = {};
    std::vector<Copied> copied_;
    std::vector<Load> since_;    // the last read barrier
    bool fenced_ = false;        // one came after the copying
    __u64 known_ = 0;            // the writer's clock up to which all happened before
    __u64 furthest_ = 0;         // the latest store that was read,
    __u64 furthest_release_ = 0; // and of those that release
    unsigned copies_ = 0;        // begun
    std::vector<bool> read_;     // by record
    __u64 kept_ = 0;             // records of chunks that will not be copied again
    __u64 open_ = 0;             // and of the last, which was not finished
    __u64 open_position_ = nowhere;
    __u64 skipped_ = 0;
};

Model* model;

void Model::complain(const char* text, __u64 detail) {
    if (violation.empty())
        violation = std::string(text) + " (position " + std::to_string(reader_.pos) + ", " +
                    std::to_string(detail) + ")";
}

Model::Place* Model::place_of(const void* at) {
    if (at == &control_.head)
        return &head_;
    if (at == &control_.floor)
        return &floor_;
    if (at == &control_.written)
        return &written_;
    return nullptr;
}

__u64 Model::load(const void* at, bool acquire, unsigned size) {
    __u64 value = 0;

    if (Place* place = reading_ ? place_of(at) : nullptr)
        return load_place(*place, acquire);
    std::memcpy(&value, at, size); // its own
    return value;
}

void Model::store(void* at, unsigned size, __u64 value, bool release) {
    if (Place* place = place_of(at))
        place->stores.push_back({value, ++clock_, release});
    if (at == &control_.head)
        published_.push_back(control_.written);
    std::memcpy(at, &value, size);
}

void Model::put(void* at, unsigned size, __u64 value) {
    const auto offset = static_cast<__u8*>(at) - reinterpret_cast<__u8*>(&memory_[0]);

    if (offset < 0 || static_cast<__u64>(offset) + size > size_ || offset % piece) {
        complain("the writer writes outside");
        return;
    }
    for (unsigned i = 0; i < size / piece; i++)
        data_[static_cast<std::size_t>(offset) / piece + i].stores.push_back(
            {static_cast<__u16>(value >> 16 * i), ++clock_, false});
}

// The last write barrier before that.
__u64 Model::barrier_before(__u64 when) const {
    const auto after = std::upper_bound(barriers_.begin(), barriers_.end(), when);

    return after == barriers_.begin() ? 0 : after[-1];
}

// The earliest store that a load may find now.
std::size_t Model::least(const Place& place) const {
    std::size_t from = place.read;

    while (from + 1 < place.stores.size() && place.stores[from + 1].when <= known_)
        from++;
    return from;
}

void Model::found(const Store& store) {
    furthest_ = std::max(furthest_, store.when);
    if (store.release)
        furthest_release_ = std::max(furthest_release_, store.when);
}

__u64 Model::load_place(Place& place, bool acquire) {
    const std::size_t from = least(place);

    place.read = from + choices_.pick(static_cast<unsigned>(place.stores.size() - from));
    const Store& store = place.stores[place.read];
    found(store);
    if (acquire)
        known_ = std::max(known_, store.release ? store.when : barrier_before(store.when));
    since_.push_back({&place, place.read});
    return store.value;
}

void Model::read_barrier() {
    known_ = std::max({known_, furthest_release_, barrier_before(furthest_)});
    since_.clear();
    fenced_ = true;
}

void Model::copy(void* to, const void* from, __u64 bytes) {
    const auto offset = static_cast<const __u8*>(from) - reinterpret_cast<__u8*>(&memory_[0]);

    copies_++;
    fenced_ = false;
    if (to != &buffer_[0] || bytes > scenario_.chunk_size || bytes % 4) {
        complain("the copy goes outside");
        return;
    }
    if (offset < 0 || static_cast<__u64>(offset) + bytes > size_) {
        complain("the reader reads outside");
        return;
    }
    for (std::size_t i = 0; i < bytes / piece; i++) {
        Place& place = data_[static_cast<std::size_t>(offset) / piece + i];
        copied_[i] = {&place, least(place), false, 0};
    }
}

// The latest store that the copying may have found: none that stands behind a write barrier
// behind which the loads after the read barrier were not.
std::size_t Model::most(const Place& place, std::size_t from) const {
    std::size_t to = from;

    for (; to + 1 < place.stores.size(); to++) {
        const __u64 barrier = barrier_before(place.stores[to + 1].when);
        const auto older = [barrier](const Load& load) {
            const auto& stores = load.place->stores;
            return load.read + 1 < stores.size() && stores[load.read + 1].when < barrier;
        };

        if (fenced_ && std::any_of(since_.begin(), since_.end(), older))
            break;
    }
    return to;
}

__u16 Model::look_at(Copied& word) {
    if (word.looked_at)
        return word.value;
    Place& place = *word.place;
    const std::size_t from = std::max(word.least, place.read);
    const std::size_t to = most(place, from);
    std::size_t natural = from;

    while (natural < to && place.stores[natural + 1].when <= head_.stores[head_.read].when)
        natural++;
    races += from != to;

    // First as it were on a quiet machine, then all the others.
    std::size_t taken = choices_.pick(static_cast<unsigned>(to - from + 1));
    taken = taken == 0 ? natural : from + taken - (from + taken <= natural);
    place.read = taken;
    found(place.stores[taken]);
    if (fenced_)
        known_ = std::max(known_, barrier_before(place.stores[taken].when));
    word.looked_at = true;
    word.value = static_cast<__u16>(place.stores[taken].value);
    return word.value;
}

__u64 Model::get(const void* at, unsigned size) {
    const auto offset = static_cast<const __u8*>(at) - reinterpret_cast<__u8*>(&buffer_[0]);
    __u64 value = 0;

    if (offset < 0 || static_cast<__u64>(offset) + size > scenario_.chunk_size) {
        complain("the reader looks at what is no copy");
        return 0;
    }
    for (unsigned i = 0; i < size / piece; i++)
        value |= static_cast<__u64>(look_at(copied_[static_cast<std::size_t>(offset) / piece + i]))
                 << 16 * i;
    return value;
}

void Model::run_writer() {
    tl_ring_writer w;

    reading_ = false;
    control_.size = size_;
    control_.chunk_size = scenario_.chunk_size;
    control_.cpu = 3;
    control_.overwrite = 1;
    for (Place* place : {&head_, &floor_, &written_})
        *place = {{{0, 0, false}}, 0};
    data_.assign(size_ / piece, {{{0, 0, false}}, 0});
    published_ = {0};

    tl_ring_writer_init(&w, &control_, &consumer_, &memory_[0]);
    for (const Step& step : scenario_.steps) {
        const bool open = w.cur != w.limit;
        const __u64 next = w.next;
        const __u64 discarded = tl_ring_discarded(&w);

        if (step.finish)
            tl_ring_finish(&w, step.attempt.now);
        else if (write_record(&w, step.attempt) == TL_DROP_NONE)
            recorded_.push_back(step.attempt);
        else if (w.drop != TL_DROP_TOO_BIG)
            complain("a record was dropped");
        chunks_.resize(w.next / scenario_.chunk_size);
        // Which chunk that closed: the open one, or the one that finish made.
        if ((open && (w.cur == w.limit || w.next != next)) || (step.finish && w.next != next)) {
            Chunk& closed = chunks_[(open ? next : w.next) / scenario_.chunk_size - 1];
            closed.discarded = discarded;
            closed.closed = true;
        }
        if (!step.finish && !recorded_.empty() && recorded_.back().seq == step.attempt.seq)
            chunks_.back().records++;
    }
    if (control_.written != recorded_.size())
        complain("the count of records is wrong", control_.written);
}

// Whoever finds a chunk's end published finds its header complete.
void Model::check_closed(const tl_ring_copied& copy, __u64 time) {
    const auto* p = reinterpret_cast<const tl_packet*>(&buffer_[0]);
    const Chunk& chunk = chunks_[copy.position / scenario_.chunk_size];

    if (tl_get_u64(&p->timestamp_end) != time)
        complain("a packet's end time is wrong");
    if (!chunk.closed || tl_get_u64(&p->events_discarded) != chunk.discarded)
        complain("a packet's count of losses is wrong");
    if (tl_get_u64(&p->content_size) != 8ULL * copy.length)
        complain("a packet's content size is wrong");
}

// Returns the number of records in it, each as it was written.
__u64 Model::check_copy(const tl_ring_copied& copy) {
    const auto* p = reinterpret_cast<const tl_packet*>(&buffer_[0]);
    const auto* packet = reinterpret_cast<const __u8*>(&buffer_[0]);
    const __u64 number = copy.position / scenario_.chunk_size;
    const __u64 first = tl_get_u64(&p->first_event);
    __u64 count = 0;
    Parser parser;

    if (copy.position % scenario_.chunk_size || number >= chunks_.size()) {
        complain("that is no chunk's position", copy.position);
        return 0;
    }
    if (tl_get_u32(&p->magic) != TL_CTF_MAGIC || tl_get_u32(&p->stream_id) != TL_STREAM_ID ||
        tl_get_u64(&p->packet_size) != scenario_.chunk_size * 8ULL ||
        tl_get_u64(&p->packet_seq_num) != number || tl_get_u32(&p->cpu_id) != 3)
        complain("a packet's header is wrong", number);
    const tl_ring_span span = {packet, packet + TL_PACKET_SIZE, copy.length - TL_PACKET_SIZE, 0};
    const char* wrong = parser.span(span, [&](const Seen& seen) {
        if (first + count >= recorded_.size())
            return "a record too many";
        return compare(seen, recorded_[first + count++]);
    });
    if (wrong)
        complain(wrong, number);
    if (copy.finished)
        check_closed(copy, parser.time());
    if (count != (copy.finished ? chunks_[number].records : published_[head_.read] - first))
        complain("a chunk's copy holds more or less than was published", count);
    return count;
}

// As who reads does it, see tool/ring/snapshot_reader.h.
void Model::account(const tl_ring_copied& copy, __u64 first, __u64 count) {
    if (copy.position != open_position_) {
        kept_ += open_;
        open_ = 0;
    } else {
        replaced++;
        if (count < open_)
            complain("a chunk's later copy holds less", count);
    }
    if (first < kept_)
        complain("a record was read twice", first);
    skipped_ = first - kept_;
    if (written_.stores[least(written_)].value < first + count)
        complain("more was read than written", first + count);
    for (__u64 i = first; i < first + count; i++)
        read_.at(i) = true;
    (copy.finished ? kept_ : open_) = (copy.finished ? kept_ : 0) + count;
    if (copy.finished)
        open_ = 0;
    open_position_ = copy.finished ? nowhere : copy.position;
}

// Copies once; false: there is nothing more.
bool Model::look() {
    tl_ring_copied copy;
    const unsigned before = copies_;
    const int got = tl_ring_copy(&reader_, &buffer_[0], scenario_.chunk_size, &copy);

    if (got < 0)
        complain("the ring contradicts itself");
    thrown_away += copies_ - before - (got == 1);
    if (got != 1)
        return false;
    const auto* p = reinterpret_cast<const tl_packet*>(&buffer_[0]);
    const __u64 count = check_copy(copy);
    if (!violation.empty())
        return false;
    account(copy, tl_get_u64(&p->first_event), count);
    tl_ring_pass(&reader_, &copy);
    return copy.finished;
}

void Model::run_reader() {
    reading_ = true;
    consumer_ = {};
    for (Place* place : {&head_, &floor_, &written_})
        place->read = 0;
    for (Place& place : data_)
        place.read = 0;
    since_.clear();
    known_ = furthest_ = furthest_release_ = 0;
    read_.assign(recorded_.size(), false);
    kept_ = open_ = skipped_ = 0;
    open_position_ = nowhere;

    tl_ring_reader_init(&reader_, &control_, &consumer_, &memory_[0]);
    for (unsigned i = 0; i < scenario_.copies; i++)
        look();
    known_ = clock_; // it was waited for
    while (look())
        ;

    const auto read = static_cast<__u64>(std::count(read_.begin(), read_.end(), true));
    if (kept_ + open_ != read)
        complain("a record was counted twice, or not at all", kept_ + open_);
    if (read + skipped_ != recorded_.size())
        complain("read + overwritten is not what was written", skipped_);
    if (consumer_.tail != reader_.pos)
        complain("the position was not noted", consumer_.tail);
    executions++;
    records += read;
    overwritten += skipped_;
}

bool Model::explore() {
    model = this;
    run_writer();
    do {
        run_reader();
        if (!violation.empty())
            return false;
    } while (choices_.next());
    return true;
}

} // namespace

__u64 model_load(const void* at, unsigned size, bool acquire) {
    return model->load(at, acquire, size);
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

void model_copy(void* to, const void* from, __u64 bytes) {
    model->copy(to, from, bytes);
}

void model_barrier() {} // orders nothing between two threads

void model_write_barrier() {
    model->write_barrier();
}

void model_read_barrier() {
    model->read_barrier();
}

// clean: nothing may go wrong, everything is tried. broken: something must.
int main(int argc, char** argv) {
    const bool broken = argc == 2 && std::strcmp(argv[1], "broken") == 0;
    // A chunk of 128 bytes has 60 for records: 44 for the first and its task.
    const std::vector<Scenario> scenarios = {
        {"2 chunks, a record each", 128, 2, 3, steps({1, 3, 2, 1, 3, 1, -1})},
        {"2 chunks, two records each", 128, 2, 4, steps({0, 0, 0, 0, 0, 0, 0, 0, 0})},
        {"2 chunks, stopped and started", 128, 2, 4, steps({1, 1, -1, 1, -1, 40, -1, 1})},
        {"2 chunks, two tasks", 256, 2, 4, steps({2, 0, 5, 1, 7, 0, 2, 4, 9, -1}, 2)},
        {"4 chunks, a record each", 128, 4, 3, steps({1, 2, 3, 1, 2, 3, 1, -1})},
        {"2 chunks, long silences", 256, 2, 4, steps({9, 9, 40, 9, 9, 9, 9}, 1, 0x180000000ULL)},
    };

    if (!broken && !(argc == 2 && std::strcmp(argv[1], "clean") == 0)) {
        std::fprintf(stderr, "usage: %s clean|broken\n", argv[0]);
        return 2;
    }
    for (const Scenario& s : scenarios) {
        Model m(s);
        const bool fine = m.explore();

        std::printf("%s: %llu executions, %llu records, %llu overwritten, %llu copies thrown away, "
                    "%llu replaced, %llu racy looks\n",
                    s.name, m.executions, m.records, m.overwritten, m.thrown_away, m.replaced,
                    m.races);
        if (!fine)
            std::printf("VIOLATION: %s\n", m.violation.c_str());
        else if (m.races != 0 && !broken)
            std::printf("VIOLATION: data were looked at that are not ordered\n");
        if (broken && !fine)
            return 0;
        if (!broken && (!fine || m.races != 0))
            return 1;
        if (!broken && (m.records == 0 || m.overwritten == 0 || m.thrown_away == 0)) {
            std::printf("the scenario is too small: nothing was overwritten, or nothing read\n");
            return 1;
        }
    }
    return broken ? 1 : 0;
}
