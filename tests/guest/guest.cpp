// SPDX-License-Identifier: GPL-2.0
// What the guest tests have in common.
#include "guest.h"

#include <algorithm>
#include <cerrno>
#include <chrono>
#include <csignal>
#include <cstdlib>
#include <cstring>
#include <fcntl.h>
#include <fmt/format.h>
#include <fstream>
#include <gtest/gtest.h>
#include <iterator>
#include <poll.h>
#include <sstream>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <thread>
#include <unistd.h>

#include "kernel_text.h"
#include "symbols/kallsyms.h"
#include "symbols/place.h"

namespace trapline::guest {

namespace {

// What the module says where returns can't be trapped.
constexpr std::string_view no_returns = "can't trap the returns";

// Ends the test, from wherever in it.
[[noreturn]] void skip_for_returns() {
    const auto skip = [] {
        GTEST_SKIP() << "this kernel traps no returns of functions that ftrace patches";
    };
    skip();
    throw testing::AssertionException(
        testing::TestPartResult(testing::TestPartResult::kSkip, __FILE__, __LINE__, ""));
}

tl_insn insn(tl_op op) {
    tl_insn made{};
    made.op = static_cast<std::uint8_t>(op);
    return made;
}

tl_insn loading(tl_op op, unsigned dst, std::uint64_t value) {
    tl_insn made = insn(op);
    made.dst = static_cast<std::uint8_t>(dst);
    made.imm = value;
    return made;
}

tl_insn load(tl_op op, unsigned dst, unsigned a, unsigned size, std::int64_t offset) {
    tl_insn made = loading(op, dst, static_cast<std::uint64_t>(offset));
    made.a = static_cast<std::uint8_t>(a);
    made.size = static_cast<std::uint8_t>(size);
    return made;
}

tl_insn string(tl_op op, unsigned a, std::uint64_t max) {
    tl_insn made = insn(op);
    made.a = static_cast<std::uint8_t>(a);
    made.imm = max;
    return made;
}

} // namespace

tl_insn imm(unsigned dst, std::uint64_t value) {
    return loading(TL_OP_IMM, dst, value);
}
tl_insn reg(unsigned dst, std::uint64_t word) {
    return loading(TL_OP_REG, dst, word);
}
tl_insn arg(unsigned dst, std::uint64_t n) {
    return loading(TL_OP_ARG, dst, n);
}
tl_insn retval(unsigned dst) {
    return loading(TL_OP_RETVAL, dst, 0);
}
tl_insn load_kernel(unsigned dst, unsigned a, unsigned size, std::int64_t offset) {
    return load(TL_OP_LOAD_KERNEL, dst, a, size, offset);
}
tl_insn load_user(unsigned dst, unsigned a, unsigned size, std::int64_t offset) {
    return load(TL_OP_LOAD_USER, dst, a, size, offset);
}
tl_insn jump(tl_op op, unsigned a, unsigned b, unsigned skip) {
    tl_insn made = insn(op);
    made.a = static_cast<std::uint8_t>(a);
    made.b = static_cast<std::uint8_t>(b);
    made.jump = static_cast<std::uint16_t>(skip);
    return made;
}
tl_insn put(unsigned a, unsigned size) {
    tl_insn made = insn(TL_OP_PUT);
    made.a = static_cast<std::uint8_t>(a);
    made.size = static_cast<std::uint8_t>(size);
    return made;
}
tl_insn put_faults() {
    return insn(TL_OP_PUT_FAULTS);
}
tl_insn str_kernel(unsigned a, std::uint64_t max) {
    return string(TL_OP_STR_KERNEL, a, max);
}
tl_insn str_user(unsigned a, std::uint64_t max) {
    return string(TL_OP_STR_USER, a, max);
}
tl_insn accept() {
    return insn(TL_OP_ACCEPT);
}
tl_insn reject() {
    return insn(TL_OP_REJECT);
}

Program store_args(const std::vector<unsigned>& which) {
    Program program;
    for (const unsigned n : which) {
        program.push_back(arg(0, n));
        program.push_back(put(0));
    }
    program.push_back(accept());
    return program;
}

Program store_return() {
    return {retval(0), put(0), accept()};
}

ProbeRequest entry_of(std::uint16_t id, const std::string& symbol, Program program) {
    ProbeRequest request;
    request.event_id = id;
    request.kind = TRAPLINE_ENTRY;
    request.symbol = symbol;
    request.entry_program = std::move(program);
    return request;
}

ProbeRequest call_of(std::uint16_t id, const std::string& symbol, Program program, Program ret) {
    ProbeRequest request = entry_of(id, symbol, std::move(program));
    request.kind = TRAPLINE_CALL;
    request.return_program = std::move(ret);
    return request;
}

ProbeRequest return_of(std::uint16_t id, const std::string& symbol, Program ret) {
    ProbeRequest request = entry_of(id, symbol);
    request.kind = TRAPLINE_RETURN;
    request.return_program = std::move(ret);
    return request;
}

ProbeRequest call_or_entry_of(std::uint16_t id, const std::string& symbol, Program program,
                              Program ret) {
    static const bool returns = traps_returns();
    return returns ? call_of(id, symbol, std::move(program), std::move(ret))
                   : entry_of(id, symbol, std::move(program));
}

std::vector<ProbeRequest> many_probes(std::size_t count) {
    std::vector<ProbeRequest> requests;
    const Kallsyms kallsyms;
    kallsyms.for_each_function(
        "kernel",
        [](std::string_view name) {
            return name.starts_with(many_prefix) && name.find('.') == std::string_view::npos;
        },
        [&](const NumberedFunction& function) {
            if (requests.size() >= count || function.number != 0)
                return;
            const std::string name(function.symbol.name);
            const auto id = static_cast<std::uint16_t>(100 + requests.size());
            requests.push_back(id % 2 != 0 ? entry_of(id, name) : call_or_entry_of(id, name));
        });
    return requests;
}

std::vector<Field> fields_of(const Program& program) {
    std::vector<Field> fields;
    for (const tl_insn& at : program) {
        if (at.op == TL_OP_PUT)
            fields.push_back({"number", FieldType::raw, at.size});
        else if (at.op == TL_OP_PUT_FAULTS)
            fields.push_back({"faults", FieldType::faults, 4});
        else if (tl_insn_stores(&at) != 0)
            fields.push_back({"string", FieldType::string, 0});
    }
    return fields;
}

unsigned online_cpus() {
    return static_cast<unsigned>(sysconf(_SC_NPROCESSORS_ONLN));
}

void pin(unsigned cpu) {
    cpu_set_t set;
    CPU_ZERO(&set);
    CPU_SET(cpu, &set);
    if (sched_setaffinity(0, sizeof(set), &set) != 0)
        throw errno_error("cannot pin a thread", errno);
}

Pinned::Pinned(unsigned cpu) {
    if (sched_getaffinity(0, sizeof(before_), &before_) != 0)
        throw errno_error("cannot tell a thread's CPUs", errno);
    pin(cpu);
}

std::string read_file(const std::string& path) {
    std::ifstream file(path);
    return {std::istreambuf_iterator<char>(file), {}};
}

bool write_file(const std::string& path, std::string_view text, int flags) {
    const UniqueFd fd(open(path.c_str(), O_WRONLY | O_CLOEXEC | flags));
    return fd && write(fd.get(), text.data(), text.size()) == static_cast<ssize_t>(text.size());
}

namespace {

constexpr const char* kprobes_list = "/sys/kernel/debug/kprobes/list";
constexpr const char* kprobes_switch = "/sys/kernel/debug/kprobes/enabled";

// The kernel's instructions before the first test, where it lists no kprobes.
class Pristine : public testing::Environment {
public:
    void SetUp() override {
        if (access(kprobes_list, F_OK) != 0)
            text() = read_kernel_text();
    }
    static KernelText& text() {
        static KernelText before;
        return before;
    }
};

const testing::Environment* const pristine = testing::AddGlobalTestEnvironment(new Pristine);

// As the list has it.
std::string named_place(std::uint64_t address) {
    const std::optional<Place> place = find_place(address);
    return place ? fmt::format("{:x}  k  {}+{:#x}", address, place->symbol, place->offset)
                 : fmt::format("{:x}  k  ?", address);
}

std::vector<std::string> changed_instructions() {
    std::vector<std::string> lines;
    for (const std::uint64_t place : changed_places(Pristine::text(), read_kernel_text()))
        lines.push_back(named_place(place));
    return lines;
}

} // namespace

std::vector<std::string> planted() {
    if (!Pristine::text().bytes.empty())
        return changed_instructions();
    std::istringstream list(read_file(kprobes_list));
    std::vector<std::string> lines;
    for (std::string line; std::getline(list, line);)
        lines.push_back(line);
    return lines;
}

std::size_t listed(std::size_t probes, std::size_t places) {
    return Pristine::text().bytes.empty() ? probes : places;
}

bool none_planted() {
    return wait_for([] { return planted().empty(); }, Pristine::text().bytes.empty() ? 0 : 1000);
}

bool has_kprobes_switch() {
    return access(kprobes_switch, F_OK) == 0;
}

bool switch_kprobes(bool on) {
    return write_file(kprobes_switch, on ? "1" : "0");
}

bool kernel_has(std::string_view symbol) {
    return read_file("/proc/kallsyms").find(fmt::format(" {}\n", symbol)) != std::string::npos;
}

std::uint64_t address_of(const std::string& symbol) {
    static const std::map<std::string, std::uint64_t> symbols = [] {
        std::map<std::string, std::uint64_t> all;
        std::ifstream file("/proc/kallsyms");
        std::uint64_t address = 0;
        std::string type;
        std::string name;
        while (file >> std::hex >> address >> type >> name) {
            all.emplace(name, address);
            file.ignore(1000, '\n');
        }
        return all;
    }();
    const auto found = symbols.find(symbol);
    if (found == symbols.end())
        throw Error("the kernel has no " + symbol);
    return found->second;
}

bool wait_for(const std::function<bool()>& condition, int milliseconds) {
    using Clock = std::chrono::steady_clock;
    const auto end = Clock::now() + std::chrono::milliseconds(milliseconds);
    while (!condition()) {
        if (Clock::now() > end)
            return false;
        std::this_thread::sleep_for(std::chrono::milliseconds(5));
    }
    return true;
}

short polled(const Session& session, short events, int milliseconds) {
    pollfd waiting = {session.fd(), events, 0};
    if (poll(&waiting, 1, milliseconds) < 0)
        throw errno_error("cannot poll", errno);
    return waiting.revents;
}

Child::Child(const std::function<int()>& body) : pid_(fork()) {
    if (pid_ < 0)
        throw errno_error("cannot fork", errno);
    if (pid_ > 0)
        return;
    prctl(PR_SET_PDEATHSIG, SIGKILL);
    int status = 99;
    try {
        status = body();
    } catch (const std::exception& error) {
        std::fprintf(stderr, "child: %s\n", error.what());
    }
    _exit(status);
}

Child::~Child() {
    if (pid_ > 0)
        kill(SIGKILL);
}

int Child::wait() {
    int status = 0;
    while (waitpid(pid_, &status, 0) < 0 && errno == EINTR)
        ;
    pid_ = 0;
    return WIFSIGNALED(status) ? 128 + WTERMSIG(status) : WEXITSTATUS(status);
}

int Child::kill(int signal) {
    ::kill(pid_, signal);
    return wait();
}

Gate::Gate() {
    if (pipe2(ends_, O_CLOEXEC) != 0)
        throw errno_error("cannot make a pipe", errno);
}

Gate::~Gate() {
    close(ends_[0]);
    close(ends_[1]);
}

void Gate::give(std::uint32_t value) const {
    if (write(ends_[1], &value, sizeof(value)) != sizeof(value))
        throw errno_error("cannot write to a pipe", errno);
}

std::uint32_t Gate::take() const {
    std::uint32_t value = 0;
    if (read(ends_[0], &value, sizeof(value)) != sizeof(value))
        throw errno_error("cannot read from a pipe", errno);
    return value;
}

Traced::Traced(const SessionConfig& config) : geometry_(session_.configure(config)) {}

bool traps_returns() {
    Session session;
    SessionConfig config;
    config.ring_size = TRAPLINE_RING_MIN;
    session.configure(config);
    const ProbeRequest request = return_of(1, "write_null");
    return session.add_probes({&request, 1}).front().text.find(no_returns) == std::string::npos;
}

void Traced::add(const ProbeRequest& request) {
    const Verdict verdict = session_.add_probes({&request, 1}).front();
    if (verdict.text.find(no_returns) != std::string::npos)
        skip_for_returns();
    if (verdict.error != 0)
        throw Error(fmt::format("no probe on {}: {} ({})", request.symbol, verdict.text,
                                errno_text(verdict.error)));
    EventLayout layout;
    layout.id = request.event_id;
    layout.name = request.symbol;
    layout.kind = request.kind;
    layout.entry_fields = fields_of(request.entry_program);
    layout.return_fields = fields_of(request.return_program);
    layouts_.push_back(std::move(layout));
}

std::vector<Traced::Ring>& Traced::rings() {
    while (rings_.size() < geometry_.cpus) {
        const auto cpu = static_cast<std::uint32_t>(rings_.size());
        RingMapping mapping = session_.map_ring(cpu);
        const RingMemory memory = mapping.memory();
        rings_.push_back(Ring{
            std::move(mapping), RingReader(memory, cpu), RecordDecoder(cpu, layouts_), {}, {}});
    }
    return rings_;
}

void Traced::start() {
    rings();
    session_.start();
}

void Traced::stop() {
    session_.stop();
}

void Traced::begin_at_floor(Ring& ring) const {
    const RingMemory memory = ring.mapping.memory();
    tl_store(&memory.consumer->tail, tl_load(&memory.control->floor));
    ring.reader = RingReader(memory, ring.reader.cpu());
    ring.decoder = RecordDecoder(ring.reader.cpu(), layouts_);
    ring.batch = {};
    ring.packets.clear();
}

void Traced::drain(std::size_t max_bytes) {
    for (Ring& ring : rings()) {
        if (ring.mapping.memory().control->overwrite != 0)
            begin_at_floor(ring);
        std::size_t taken = 0;
        tl_ring_span span{};
        while (taken < max_bytes && ring.reader.peek(span)) {
            const std::size_t before = ring.batch.events.size();
            ring.decoder.decode(span, ring.batch);
            if (span.start == span.packet + TL_PACKET_SIZE &&
                (ring.packets.empty() || ring.packets.back().closed))
                ring.packets.emplace_back();
            Packet& packet = ring.packets.back();
            const std::size_t came = ring.batch.events.size() - before;
            if (came != 0) {
                if (packet.records == 0)
                    packet.first_ticks = ring.batch.events[before].ticks;
                packet.last_ticks = ring.batch.events.back().ticks;
            }
            packet.records += came;
            if (span.next % geometry_.chunk_size == 0) {
                std::memcpy(&packet.header, span.packet, sizeof(packet.header));
                packet.closed = true;
            }
            taken += span.length;
            ring.reader.release(span);
        }
    }
}

trapline_counters Traced::counters(std::uint16_t id) {
    for (const ProbeReport& report : session_.probes())
        if (report.event_id == id)
            return report.counters;
    throw Error(fmt::format("the session has no probe {}", id));
}

std::vector<Event> Traced::events(std::uint16_t id) const {
    std::vector<Event> all;
    for (const Ring& ring : rings_)
        for (const Event& event : ring.batch.events)
            if (id == 0 || event.id == id)
                all.push_back(event);
    std::stable_sort(all.begin(), all.end(),
                     [](const Event& a, const Event& b) { return a.ticks < b.ticks; });
    return all;
}

FieldValues Traced::fields(const Event& event) const {
    FieldValues values;
    for (const EventLayout& layout : layouts_)
        if (layout.id == event.id && !decode_fields(layout, event.fields, values))
            throw Error("a record is malformed");
    return values;
}

std::vector<std::string> Traced::marks() const {
    std::vector<std::string> texts;
    for (const Event& event : events(TL_ID_MARK)) {
        FieldValues values;
        if (!decode_fields(mark_layout(), event.fields, values))
            throw Error("a mark is malformed");
        texts.emplace_back(values.entry.at(0).text);
    }
    return texts;
}

double Traced::milliseconds(std::uint64_t ticks) const {
    return static_cast<double>(ticks) * 1e3 / static_cast<double>(session_.info().clock_hz);
}

std::uint64_t Traced::written() const {
    std::uint64_t sum = 0;
    for (const Ring& ring : rings_)
        sum += ring.reader.written();
    return sum;
}

std::uint64_t Traced::lost() const {
    std::uint64_t sum = 0;
    for (const Ring& ring : rings_)
        sum += ring.reader.lost();
    return sum;
}

void Traced::expect_packets(const Ring& ring) const {
    SCOPED_TRACE(fmt::format("CPU {}", ring.reader.cpu()));
    std::uint64_t records = 0;
    std::uint64_t discarded = 0;
    std::uint64_t last = 0;
    std::uint64_t number = 0;
    if (ring.mapping.memory().control->overwrite != 0 && !ring.packets.empty()) {
        records = ring.packets.front().header.first_event; // written over
        number = ring.packets.front().header.packet_seq_num;
        EXPECT_EQ(number * geometry_.chunk_size, ring.mapping.memory().control->floor);
    }
    for (const Packet& packet : ring.packets) {
        SCOPED_TRACE(fmt::format("packet {}", number));
        const tl_packet header = packet.header;
        ASSERT_TRUE(packet.closed);
        EXPECT_EQ(std::uint32_t{header.magic}, TL_CTF_MAGIC);
        EXPECT_EQ(std::uint32_t{header.stream_id}, TL_STREAM_ID);
        EXPECT_EQ(std::uint32_t{header.cpu_id}, ring.reader.cpu());
        EXPECT_EQ(std::uint64_t{header.packet_seq_num}, number);
        EXPECT_EQ(std::uint64_t{header.first_event}, records);
        EXPECT_EQ(std::uint64_t{header.packet_size}, geometry_.chunk_size * 8);
        EXPECT_GE(std::uint64_t{header.content_size}, TL_PACKET_SIZE * 8U);
        EXPECT_LE(std::uint64_t{header.content_size}, std::uint64_t{header.packet_size});
        EXPECT_GE(std::uint64_t{header.events_discarded}, discarded);
        EXPECT_GE(std::uint64_t{header.timestamp_begin}, last);
        EXPECT_GE(std::uint64_t{header.timestamp_end}, std::uint64_t{header.timestamp_begin});
        if (packet.records != 0) {
            EXPECT_EQ(std::uint64_t{header.timestamp_begin}, packet.first_ticks);
            EXPECT_EQ(std::uint64_t{header.timestamp_end}, packet.last_ticks);
        }
        records += packet.records;
        discarded = header.events_discarded;
        last = header.timestamp_end;
        number++;
    }
    EXPECT_EQ(records, ring.reader.written());
    // What was dropped after the last packet, for want of room, no packet tells of.
    if (ring.reader.lost_full() == 0)
        EXPECT_EQ(discarded, ring.reader.lost());
    else
        EXPECT_LE(discarded, ring.reader.lost());
    for (std::size_t i = 1; i < ring.batch.events.size(); i++)
        ASSERT_GE(ring.batch.events[i].ticks, ring.batch.events[i - 1].ticks);
}

void Traced::expect_exact(bool missed, std::uint64_t marks_lost) {
    std::map<std::uint16_t, std::uint64_t> read;
    for (const Event& event : events())
        read[event.id]++;
    std::uint64_t overwritten = 0;
    for (const Ring& ring : rings())
        if (!ring.packets.empty())
            overwritten += ring.packets.front().header.first_event;

    trapline_counters sum{};
    for (const ProbeReport& report : session_.probes()) {
        SCOPED_TRACE(fmt::format("probe {} on {}", report.event_id, report.symbol));
        const trapline_counters& counts = report.counters;
        const std::uint64_t pending = counts.entered - counts.returned;
        EXPECT_EQ(counts.hits, counts.recorded + counts.filtered + counts.limited +
                                   counts.lost_full + counts.lost_nested + counts.lost_too_big +
                                   pending);
        if (report.kind != TRAPLINE_CALL) {
            EXPECT_EQ(counts.entered, 0U);
            EXPECT_EQ(counts.returned, 0U);
            EXPECT_EQ(counts.late, 0U);
            EXPECT_EQ(counts.stale, 0U);
        } else {
            EXPECT_GE(counts.entered, counts.returned + counts.late + counts.stale);
        }
        if (overwritten == 0) {
            EXPECT_EQ(counts.recorded, read[report.event_id]);
        } else {
            EXPECT_GE(counts.recorded, read[report.event_id]);
        }
        if (!missed) {
            EXPECT_EQ(counts.missed_recursion, 0U);
            EXPECT_EQ(counts.missed_maxactive, 0U);
        }
        sum.recorded += counts.recorded;
        sum.lost_full += counts.lost_full;
        sum.lost_nested += counts.lost_nested;
        sum.lost_too_big += counts.lost_too_big;
    }
    std::uint64_t full = 0;
    std::uint64_t nested = 0;
    std::uint64_t too_big = 0;
    for (const Ring& ring : rings()) {
        EXPECT_EQ(ring.reader.unread(), 0U);
        full += ring.reader.lost_full();
        nested += ring.reader.lost_nested();
        too_big += ring.reader.lost_too_big();
        expect_packets(ring);
    }
    EXPECT_EQ(sum.recorded + read[TL_ID_MARK], written());
    EXPECT_EQ(events().size() + overwritten, written());
    EXPECT_EQ(sum.lost_full + marks_lost, full);
    EXPECT_EQ(sum.lost_nested, nested);
    EXPECT_EQ(sum.lost_too_big, too_big);
    EXPECT_EQ(nested, 0U);
}

Refusal refusal(const std::function<void()>& request) {
    try {
        request();
        return {};
    } catch (const ControlError& error) {
        return {error.code(), error.text()};
    }
}

Refusal refusal(Channel& channel, Message message) {
    return refusal([&] { channel.request(std::move(message), "test"); });
}

} // namespace trapline::guest
