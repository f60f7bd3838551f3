// SPDX-License-Identifier: GPL-2.0
// Programs as the kernel runs them: memory of the kernel's and of the user's, strings, faults,
// arguments on the stack, conditions, also those that the tool makes of text.
#include <cerrno>
#include <cstring>
#include <fcntl.h>
#include <fmt/format.h>
#include <gtest/gtest.h>
#include <sys/eventfd.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "entry.h"
#include "guest.h"
#include "machine.h"
#include "spec/compile.h"
#include "workload.h"

using namespace trapline;
using namespace trapline::guest;

namespace {

// Memory of ours behind which there is none.
const std::size_t page = static_cast<std::size_t>(sysconf(_SC_PAGESIZE));

class Pages {
public:
    explicit Pages(std::size_t count)
        : size_(count * page),
          start_(static_cast<char*>(mmap(nullptr, size_ + page, PROT_READ | PROT_WRITE,
                                         MAP_PRIVATE | MAP_ANONYMOUS, -1, 0))) {
        // Still there, so that nothing else takes its place.
        mprotect(start_ + size_, page, PROT_NONE);
    }
    Pages(const Pages&) = delete;
    Pages& operator=(const Pages&) = delete;
    ~Pages() { munmap(start_, size_ + page); }

    void fill(char c, bool nul_last) {
        std::memset(start_, c, size_);
        if (nul_last)
            start_[size_ - 1] = 0;
    }
    const char* end() const { return start_ + size_; }

private:
    std::size_t size_;
    char* start_;
};

using State = FieldValue::State;

// The fields that `program` stores on one write to /dev/null.
FieldValues fields_at_write(const Program& program) {
    Traced traced;
    traced.add(entry_of(1, "write_null", program));
    traced.start();
    NullWriter writer;
    writer.write(1);
    traced.stop();
    traced.drain();
    traced.expect_exact();
    const std::vector<Event> events = traced.events();
    if (events.size() != 1)
        throw Error("not one record");
    FieldValues values = traced.fields(events.front());
    // The text lies in the rings' batch, which is about to go.
    static std::vector<std::string> kept;
    kept.clear();
    kept.reserve(values.entry.size());
    for (FieldValue& value : values.entry) {
        kept.emplace_back(value.text);
        value.text = kept.back();
    }
    return values;
}

TEST(Programs, ReadKernelMemory) {
    // "Linux version 6..."
    const std::uint64_t banner = address_of("linux_banner");
    const FieldValues values = fields_at_write({
        imm(0, banner),
        load_kernel(1, 0, 8),
        put(1),
        load_kernel(1, 0, 4),
        put(1, 4),
        load_kernel(1, 0, 2, 1),
        put(1, 2),
        load_kernel(1, 0, 1),
        put(1, 1),
        imm(0, banner + 6),
        load_kernel(1, 0, 8, -6),
        put(1),
        imm(0, banner),
        str_kernel(0, 13),
        str_kernel(0, 1024),
        put_faults(),
        accept(),
    });
    ASSERT_EQ(values.entry.size(), 8U);
    std::uint64_t word = 0;
    std::memcpy(&word, "Linux ve", sizeof(word));
    EXPECT_EQ(values.entry[0].number, word);
    EXPECT_EQ(values.entry[1].number, word & 0xffffffff);
    EXPECT_EQ(values.entry[2].number, word >> 8 & 0xffff);
    EXPECT_EQ(values.entry[3].number, word & 0xff);
    EXPECT_EQ(values.entry[4].number, word);
    EXPECT_EQ(values.entry[5].state, State::cut);
    EXPECT_EQ(values.entry[5].text, "Linux version");
    EXPECT_EQ(values.entry[6].state, State::whole);
    EXPECT_EQ(values.entry[6].text, read_file("/proc/version"));
    EXPECT_EQ(values.entry[7].number, 0U);
}

TEST(Programs, MarkWhatCannotBeRead) {
    const FieldValues values = fields_at_write({
        imm(0, 0),                  // a null pointer
        imm(1, 0xfffffffffffff000), // nothing there: errors look so
        imm(2, 0x4141414141414141), // no address at all
        load_kernel(3, 0, 8),
        put(3), // 0: fault
        imm(3, 5),
        put(3), // 1: fine
        load_kernel(4, 1, 4),
        put(4, 4), // 2: fault
        load_kernel(5, 4, 8, 16),
        put(5), // 3: through a faulted slot
        load_kernel(6, 2, 1),
        put(6, 1), // 4: fault
        str_kernel(0, 32),
        str_kernel(1, 32),
        str_kernel(2, 32),
        str_user(0, 32),
        str_user(2, 32),
        str_kernel(4, 32), // from a faulted slot
        put_faults(),
        accept(),
    });
    ASSERT_EQ(values.entry.size(), 12U);
    for (const std::size_t n : {0, 2, 3, 4}) {
        EXPECT_EQ(values.entry[n].state, State::number_fault) << n;
        EXPECT_EQ(values.entry[n].number, 0U) << n;
    }
    EXPECT_EQ(values.entry[1].state, State::number);
    EXPECT_EQ(values.entry[1].number, 5U);
    EXPECT_EQ(values.entry[5].state, State::null);
    EXPECT_EQ(values.entry[6].state, State::fault);
    EXPECT_EQ(values.entry[7].state, State::fault);
    EXPECT_EQ(values.entry[8].state, State::null);
    EXPECT_EQ(values.entry[9].state, State::fault);
    EXPECT_EQ(values.entry[10].state, State::fault);
    EXPECT_EQ(values.entry[11].number, 0b11101U);
}

TEST(Programs, ReadUserStrings) {
    SessionConfig config;
    config.tgids = {static_cast<std::uint32_t>(getpid())};
    Traced traced(config);
    // do_sys_openat2(dfd, filename, how)
    traced.add(call_or_entry_of(1, "do_sys_openat2",
                                {arg(0, 1), str_user(0, 16), load_user(1, 0, 1), put(1, 1),
                                 arg(2, 2), load_kernel(2, 2, 8), put(2), put_faults(), accept()}));
    // The name's last byte is the last before a page that is not there.
    auto* memory = static_cast<char*>(
        mmap(nullptr, 2 * page, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0));
    ASSERT_NE(memory, MAP_FAILED);
    ASSERT_EQ(mprotect(memory + page, page, PROT_NONE), 0);
    char* cut_off = memory + page - 5;
    std::memcpy(cut_off, "/abcd", 5);
    char* whole = memory + page - 300;
    std::strcpy(whole, "/nowhere");
    const struct {
        const char* name;
        State state;
        const char* text;
    } cases[] = {
        {whole, State::whole, "/nowhere"},
        {"/sixteen-bytes.x", State::whole, "/sixteen-bytes.x"},
        {"/seventeen-bytes.", State::cut, "/seventeen-bytes"},
        {"", State::whole, ""},
        {nullptr, State::null, ""},
        {cut_off, State::fault, nullptr}, // some of it, or nothing
        {memory + page, State::fault, ""},
        {reinterpret_cast<const char*>(0x4141414141414141), State::fault, ""},
        // The kernel's memory is no user's.
        {reinterpret_cast<const char*>(address_of("linux_banner")), State::fault, ""},
    };
    traced.start();
    for (const auto& test : cases)
        EXPECT_LT(syscall(SYS_openat, AT_FDCWD, test.name, O_RDONLY | O_CLOEXEC), 0);
    traced.stop();
    traced.drain();
    traced.expect_exact();
    const std::vector<Event> events = traced.events();
    ASSERT_EQ(events.size(), std::size(cases));
    for (std::size_t n = 0; n < events.size(); n++) {
        SCOPED_TRACE(n);
        const FieldValues values = traced.fields(events[n]);
        EXPECT_EQ(values.entry[0].state, cases[n].state);
        if (cases[n].text != nullptr) {
            EXPECT_EQ(values.entry[0].text, cases[n].text);
        } else {
            EXPECT_TRUE(std::string_view("/abcd").starts_with(values.entry[0].text));
        }
        const bool readable = cases[n].name != nullptr && (n < 4 || n == 5);
        EXPECT_EQ(values.entry[1].state, readable ? State::number : State::number_fault);
        if (readable) {
            EXPECT_EQ(values.entry[1].number, static_cast<unsigned char>(*cases[n].name));
        }
        EXPECT_EQ(values.entry[2].number, O_CLOEXEC | kernel_largefile);
        if (values.ret.empty())
            continue;
        // A long; an int in newer kernels.
        EXPECT_GE(static_cast<std::int32_t>(values.ret[0].number), -4095);
        EXPECT_LT(static_cast<std::int32_t>(values.ret[0].number), 0);
    }
    munmap(memory, 2 * page);
}

// do_mmap(file, addr, len, prot, flags, pgoff, *populate, *uf); newer kernels have vm_flags
// before pgoff, and both are 0 here.
TEST(Programs, ReadArgumentsOnTheStack) {
    SessionConfig config;
    config.tgids = {static_cast<std::uint32_t>(getpid())};
    Traced traced(config);
    const std::vector<unsigned> all = {0, 1, 2, 3, 4, 5, 6, 7, 8};
    traced.add(entry_of(1, "do_mmap", store_args(all)));
    traced.add(call_or_entry_of(2, "do_mmap", store_args(all)));
    traced.start();
    void* at = mmap(nullptr, 5 * page, PROT_READ, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    traced.stop();
    traced.drain();
    traced.expect_exact();
    munmap(at, 5 * page);
    for (std::uint16_t id = 1; id <= 2; id++) {
        SCOPED_TRACE(id);
        const std::vector<Event> events = traced.events(id);
        ASSERT_EQ(events.size(), 1U);
        const FieldValues values = traced.fields(events.front());
        ASSERT_EQ(values.entry.size(), all.size());
        EXPECT_EQ(values.entry[0].number, 0U);
        EXPECT_EQ(values.entry[2].number, 5 * page);
        EXPECT_EQ(values.entry[3].number, static_cast<std::uint64_t>(PROT_READ));
        // Both point into vm_mmap_pgoff()'s frame, on the same kernel stack.
        const std::size_t populate = values.entry[6].number == 0 ? 7 : 6;
        const std::uint64_t pointers[] = {values.entry[populate].number,
                                          values.entry[populate + 1].number};
        EXPECT_EQ(values.entry[populate - 1].number, 0U);
        EXPECT_GE(pointers[0], kernel_begin);
        EXPECT_GE(pointers[1], kernel_begin);
        EXPECT_LT(pointers[0] ^ pointers[1], 4096U);
        EXPECT_NE(pointers[0], pointers[1]);
        if (!values.ret.empty()) {
            EXPECT_EQ(values.ret[0].number, reinterpret_cast<std::uint64_t>(at));
        }
    }
}

TEST(Programs, RejectWhatTheirConditionsSayAndCountIt) {
    struct Case {
        tl_op op;
        std::uint64_t right;
        std::uint64_t wanted; // of the calls with lengths 1 to 100
    };
    const Case cases[] = {
        {TL_OP_JEQ, 17, 1},
        {TL_OP_JNE, 17, 99},
        {TL_OP_JLT, 17, 16},
        {TL_OP_JLE, 17, 17},
        {TL_OP_JSLT, std::uint64_t(-1), 0},
        {TL_OP_JLT, std::uint64_t(-1), 100},
        {TL_OP_JSLE, 100, 100},
    };
    Traced traced;
    std::uint16_t id = 0;
    for (const Case& test : cases) {
        const Program program = {arg(0, 2), imm(1, test.right), jump(test.op, 0, 1, 1),
                                 reject(),  put(0, 4),          accept()};
        traced.add(entry_of(++id, "write_null", program));
        traced.add(call_of(static_cast<std::uint16_t>(100 + id), "write_null", program));
        // The return's own condition.
        traced.add(call_of(static_cast<std::uint16_t>(200 + id), "write_null", {},
                           {retval(0), imm(1, test.right), jump(test.op, 0, 1, 1), reject(),
                            put(0, 4), accept()}));
    }
    traced.start();
    NullWriter writer;
    writer.write(100);
    traced.stop();
    traced.drain();
    traced.expect_exact();
    id = 0;
    for (const Case& test : cases) {
        id++;
        for (const unsigned base : {0U, 100U, 200U}) {
            SCOPED_TRACE(base + id);
            const trapline_counters counts = traced.counters(static_cast<std::uint16_t>(base + id));
            EXPECT_EQ(counts.hits, 100U);
            EXPECT_EQ(counts.recorded, test.wanted);
            EXPECT_EQ(counts.filtered, 100 - test.wanted);
            EXPECT_EQ(counts.entered, base == 0 ? 0 : base == 100 ? test.wanted : 100);
        }
    }
}

tl_insn duration(unsigned dst) {
    tl_insn made = imm(dst, 0);
    made.op = TL_OP_DURATION;
    return made;
}

tl_insn field(unsigned dst, std::uint64_t at) {
    tl_insn made = imm(dst, at);
    made.op = TL_OP_FIELD;
    return made;
}

TEST(Programs, KnowAtACallsReturnItsDurationAndItsEntrysFields) {
    Traced traced;
    const Program entry = store_args({0, 1, 2});
    traced.add(call_of(1, "write_null", entry,
                       {duration(0), put(0), field(1, 16), put(1), field(2, 0), put(2), retval(3),
                        put(3), accept()}));
    traced.start();
    NullWriter writer;
    writer.write(50);
    traced.stop();
    traced.drain();
    traced.expect_exact();
    const std::vector<Event> events = traced.events();
    ASSERT_EQ(events.size(), 50U);
    std::uint64_t number = 0;
    for (const Event& event : events) {
        const FieldValues values = traced.fields(event);
        EXPECT_EQ(values.ret[0].number, values.duration);
        EXPECT_GT(values.duration, 0U);
        EXPECT_EQ(values.ret[1].number, ++number);
        EXPECT_EQ(values.ret[2].number, values.entry[0].number);
        EXPECT_EQ(values.ret[3].number, number);
    }
}

// Registers in part, as types have them: what stores nothing else isn't interpreted, and must
// store the same. write_null(file, buf, count, pos) returns count.
TEST(Programs, StoreRegistersInPart) {
    const Program parts = {arg(0, 2), put(0, 4), arg(1, 2), put(1, 1), arg(2, 2),
                           put(2, 8), arg(3, 0), put(3, 2), accept()};
    // With a comparison, the same by the interpreter.
    Program interpreted = {imm(4, 1), jump(TL_OP_JEQ, 4, 4, 1), reject()};
    interpreted.insert(interpreted.end(), parts.begin(), parts.end());
    const Program low_half = {retval(0), put(0, 4), accept()};
    const Program two = {retval(0), put(0, 1), reg(1, result_register.word), put(1, 8), accept()};
    Traced traced;
    traced.add(entry_of(1, "write_null", parts));
    traced.add(entry_of(2, "write_null", interpreted));
    traced.add(call_of(3, "write_null", parts, low_half));
    traced.add(call_of(4, "write_null", interpreted, two));
    traced.add(call_of(5, "write_null", store_args({0, 1, 2}), low_half));
    traced.add(call_of(6, "write_null", parts, {})); // void
    traced.add(call_of(7, "write_null", store_args({2, 1}), two));
    traced.add(return_of(8, "write_null", low_half));
    traced.start();
    NullWriter writer;
    writer.write(300);
    traced.stop();
    traced.drain();
    traced.expect_exact();
    for (std::uint16_t id = 1; id <= 8; id++) {
        SCOPED_TRACE(id);
        const std::vector<Event> events = traced.events(id);
        ASSERT_EQ(events.size(), 300U);
        std::uint64_t count = 0;
        for (const Event& event : events) {
            const FieldValues values = traced.fields(event);
            count++;
            if (id == 7) {
                EXPECT_EQ(values.entry[0].number, count);
            } else if (id == 5) {
                EXPECT_EQ(values.entry[2].number, count);
            } else if (id != 8) {
                EXPECT_EQ(values.entry[0].number, count);
                EXPECT_EQ(values.entry[1].number, count & 0xff);
                EXPECT_EQ(values.entry[2].number, count);
                EXPECT_LE(values.entry[3].number, 0xffffU);
            }
            if (id == 4 || id == 7) {
                EXPECT_EQ(values.ret[0].number, count & 0xff);
                EXPECT_EQ(values.ret[1].number, count);
            } else if (id == 3 || id == 5 || id == 8) {
                EXPECT_EQ(values.ret[0].number, count);
            }
        }
    }
    const auto third = [&](std::uint16_t id) {
        return traced.fields(traced.events(id).front()).entry[3].number;
    };
    EXPECT_EQ(third(1), third(2));
    EXPECT_EQ(third(1), third(3));
}

TEST(Programs, KnowNothingOfAnEntryThatWasNotSeen) {
    const auto refused = [](const ProbeRequest& request) -> std::string {
        Traced traced;
        try {
            traced.add(request);
        } catch (const Error& error) {
            return error.what();
        }
        return "accepted";
    };
    const Program with_duration = {duration(0), put(0), accept()};
    const Program with_field = {field(0, 8), put(0), accept()};
    EXPECT_NE(refused(return_of(1, "write_null", with_duration)).find("call's return only"),
              std::string::npos);
    EXPECT_NE(refused(return_of(1, "write_null", with_field)).find("call's return only"),
              std::string::npos);
    EXPECT_NE(refused(entry_of(1, "write_null", with_duration)).find("call's return only"),
              std::string::npos);
    // One word is stored; and sometimes none.
    const char* not_stored = "the entry may not have stored that field";
    EXPECT_NE(refused(call_of(1, "write_null", store_args({0}), with_field)).find(not_stored),
              std::string::npos);
    EXPECT_NE(refused(call_of(1, "write_null", {}, with_field)).find(not_stored),
              std::string::npos);
    EXPECT_NE(refused(call_of(1, "write_null",
                              {arg(0, 2), jump(TL_OP_JEQ, 0, 0, 2), put(0), put(0), accept()},
                              with_field))
                  .find(not_stored),
              std::string::npos);
}

// What the command line's PROBE becomes.
ProbeRequest asked(std::uint16_t id, const std::string& text, Session& session) {
    const ProbeSpec spec = parse_probe(text);
    CompiledProbe compiled = compile_probe(spec, id, session.info().clock_hz);
    ProbeRequest request = entry_of(id, spec.function, std::move(compiled.entry));
    request.kind = spec.kind;
    request.offset = spec.offset;
    request.return_program = std::move(compiled.ret);
    return request;
}

TEST(Conditions, FilterExactly) {
    struct Case {
        std::string text;
        std::uint64_t entered; // of the calls with lengths 1 to 100, which are written whole
        std::uint64_t wanted;
    };
    const std::string third(registers[2].name); // that has the length
    const Case cases[] = {
        {"write_null if $retval > 40", 100, 60},
        {"write_null if $retval < 0", 100, 0},
        {"write_null if $retval >= 0 && $retval < 0x100000000", 100, 100},
        {"write_null if $arg3 <= 17 && $retval >= 5", 17, 13},
        {"write_null if $retval == 7 || $arg3 == 9", 100, 2},
        {"write_null if $retval == $arg3", 100, 100},
        {"write_null if $retval < $arg3", 100, 0},
        {"write_null if !($arg3 > 10 || $retval == 3)", 10, 9},
        {fmt::format("write_null if %{} > 98", third), 2, 2},
        {"write_null if $duration >= 1ns", 100, 100},
        {"write_null if $duration > 1000s", 100, 0},
        {"write_null if $duration < 1000s && $arg3 == 50", 1, 1},
        {"kprobe:write_null if $arg3 == 1 || $arg3 > 90", 0, 11},
        {"kretprobe:write_null if $retval <= 30", 0, 30},
        {fmt::format("write_null+{0} if %{1} != 1 && %{1} != 2", behind_entry("write_null"), third),
         0, 98},
    };
    Traced traced;
    std::uint16_t id = 0;
    for (const Case& test : cases)
        traced.add(asked(++id, test.text, traced.session()));
    traced.start();
    NullWriter writer;
    writer.write(100);
    traced.stop();
    traced.drain();
    traced.expect_exact();
    id = 0;
    for (const Case& test : cases) {
        SCOPED_TRACE(test.text);
        const trapline_counters counts = traced.counters(++id);
        EXPECT_EQ(counts.hits, 100U);
        EXPECT_EQ(counts.entered, test.entered);
        EXPECT_EQ(counts.returned, test.entered);
        EXPECT_EQ(counts.recorded, test.wanted);
        EXPECT_EQ(counts.filtered, 100 - test.wanted);
        EXPECT_EQ(traced.events(id).size(), test.wanted);
    }
    for (const Event& event : traced.events(1))
        EXPECT_GT(traced.fields(event).ret[0].number, 40U);
}

// What has the return address at an entry.
constexpr bool caller_on_stack = caller_register.word == stack_register.word;
std::string caller_at_entry() {
    return caller_on_stack ? "$stack0" : "%" + std::string(caller_register.name);
}

// What lists record of the task is what the record's own head has; what conditions say of it holds.
TEST(Programs, KnowTheTask) {
    std::string comm = read_file("/proc/self/comm");
    comm.pop_back();
    const std::string list =
        fmt::format("($pid, $tid, $uid, $cpu, $comm, $caller, {})", caller_at_entry());
    Traced traced;
    traced.add(asked(1, "kprobe:write_null" + list, traced.session()));
    traced.add(
        asked(2, "kprobe:write_null" + list + " if comm == \"" + comm + "\"", traced.session()));
    traced.add(asked(3, "kprobe:write_null() if comm != \"" + comm + "\"", traced.session()));
    traced.add(
        asked(4, "kprobe:write_null() if $comm == \"" + comm.substr(1) + "\"", traced.session()));
    traced.start();
    NullWriter writer;
    writer.write(10);
    traced.stop();
    traced.drain();
    traced.expect_exact();
    EXPECT_EQ(traced.counters(1).recorded, 10U);
    EXPECT_EQ(traced.counters(2).recorded, 10U);
    EXPECT_EQ(traced.counters(3).filtered, 10U);
    EXPECT_EQ(traced.counters(4).filtered, 10U);
    for (const Event& event : traced.events(2)) {
        const FieldValues values = traced.fields(event);
        ASSERT_EQ(values.entry.size(), caller_on_stack ? 8U : 7U);
        EXPECT_EQ(values.entry[0].number, event.tgid);
        EXPECT_EQ(values.entry[1].number, event.tid);
        EXPECT_EQ(values.entry[2].number, getuid());
        EXPECT_EQ(values.entry[3].number, event.cpu);
        EXPECT_EQ(values.entry[4].text, comm);
        EXPECT_EQ(values.entry[4].state, State::whole);
        EXPECT_EQ(values.entry[5].number, values.entry[6].number);
        EXPECT_GE(values.entry[5].number, std::uint64_t{1} << 63) << "in the kernel";
        if (caller_on_stack) {
            EXPECT_EQ(values.entry[7].number, 0U) << "the stack could be read";
        }
    }
}

TEST(Programs, KnowTheTaskOfACall) {
    std::string comm = read_file("/proc/self/comm");
    comm.pop_back();
    Traced traced;
    traced.add(asked(1, fmt::format("write_null() if $pid == {} && $retval == 3", getpid()),
                     traced.session()));
    traced.add(asked(2, "write_null() if comm != \"" + comm + "\"", traced.session()));
    traced.start();
    NullWriter writer;
    writer.write(10);
    traced.stop();
    traced.drain();
    traced.expect_exact();
    EXPECT_EQ(traced.counters(1).recorded, 1U);
    EXPECT_EQ(traced.counters(2).filtered, 10U);
}

TEST(Conditions, OfDurationsTellLongCallsFromShortOnes) {
    constexpr unsigned long_calls = 6;
    constexpr unsigned short_calls = 50;
    Traced traced;
    traced.add(asked(1, "eventfd_read if $duration >= 400ms", traced.session()));
    traced.add(asked(2, "eventfd_read if $duration < 400ms", traced.session()));
    traced.start();
    {
        Sleepers sleepers(long_calls);
        ASSERT_TRUE(sleepers.asleep());
        const int fd = eventfd(short_calls, EFD_SEMAPHORE | EFD_CLOEXEC);
        ASSERT_GE(fd, 0);
        std::uint64_t value = 0;
        for (unsigned n = 0; n < short_calls; n++)
            ASSERT_EQ(read(fd, &value, sizeof(value)), 8);
        close(fd);
        usleep(800'000);
    }
    traced.stop();
    traced.drain();
    traced.expect_exact();
    EXPECT_EQ(traced.counters(1).recorded, long_calls);
    EXPECT_EQ(traced.counters(1).filtered, short_calls);
    EXPECT_EQ(traced.counters(2).recorded, short_calls);
    EXPECT_EQ(traced.counters(2).filtered, long_calls);
    for (const Event& event : traced.events(1))
        EXPECT_GE(traced.milliseconds(traced.fields(event).duration), 399.9);
    for (const Event& event : traced.events(2))
        EXPECT_LT(traced.milliseconds(traced.fields(event).duration), 400.1);
}

TEST(Programs, MayStoreAsMuchAsARecordHolds) {
    // 8000 bytes: a string of 4100, two of 1496, 113 words, 4 bytes.
    const std::uint64_t banner = address_of("linux_banner");
    Program program = {imm(0, banner), str_kernel(0, 4096), str_kernel(0, 1492),
                       str_kernel(0, 1492)};
    for (int n = 0; n < 113; n++)
        program.push_back(put(0));
    program.push_back(put(0, 4));
    program.push_back(accept());
    const FieldValues values = fields_at_write(program);
    ASSERT_EQ(values.entry.size(), 117U);
    EXPECT_EQ(values.entry[2].text, read_file("/proc/version"));
    EXPECT_EQ(values.entry[115].number, banner);
}

// What a page's end does to a text that ends there, or doesn't.
TEST(Programs, ReadTextsOf4KiBUpToAPagesEnd) {
    constexpr std::size_t room = 4096; // of the text, and a page
    Pages pages(2);
    const char* end = pages.end();
    Traced traced;
    traced.add(entry_of(1, "write_null", {arg(0, 1), str_user(0, 4096), accept()}));
    traced.start();
    const int null = open("/dev/null", O_WRONLY | O_CLOEXEC);
    const auto write_at = [&](const char* text) { EXPECT_EQ(write(null, text, 1), 1); };
    pages.fill('p', true);
    write_at(end - room);     // 4095 bytes and the NUL
    write_at(end - room - 1); // 4096, which fill the room, and the NUL
    write_at(end - room - 2); // one more
    write_at(end - 1);        // the NUL alone
    write_at(end - 65);       // a whole piece, and the NUL in the next
    pages.fill('q', false);
    write_at(end - 100);  // no NUL
    write_at(end - room); // as much as there is room for, and nothing behind it
    close(null);
    traced.stop();
    traced.drain();
    traced.expect_exact();
    const struct {
        State state;
        std::string text;
    } expected[] = {{State::whole, std::string(4095, 'p')}, {State::whole, std::string(4096, 'p')},
                    {State::cut, std::string(4096, 'p')},   {State::whole, ""},
                    {State::whole, std::string(64, 'p')},   {State::fault, std::string(100, 'q')},
                    {State::cut, std::string(4096, 'q')}};
    const std::vector<Event> events = traced.events();
    ASSERT_EQ(events.size(), std::size(expected));
    for (std::size_t i = 0; i < events.size(); i++) {
        const FieldValues values = traced.fields(events[i]);
        EXPECT_EQ(values.entry.at(0).state, expected[i].state) << i;
        EXPECT_EQ(values.entry.at(0).text, expected[i].text) << i;
    }
}

// Within what a call can keep until its return: 4096 bytes, with what it keeps besides.
TEST(Programs, KeepLongTextsOfACall) {
    if (!traps_returns())
        GTEST_SKIP() << "this kernel traps no returns of functions that ftrace patches";
    Pages pages(1);
    pages.fill('p', true);
    Traced traced;
    traced.add(call_of(1, "write_null", {arg(0, 1), str_user(0, 4032), accept()}));
    traced.start();
    const int null = open("/dev/null", O_WRONLY | O_CLOEXEC);
    EXPECT_EQ(write(null, pages.end() - 4033, 1), 1);
    close(null);
    traced.stop();
    traced.drain();
    traced.expect_exact();
    ASSERT_EQ(traced.events().size(), 1U);
    const FieldValues values = traced.fields(traced.events().front());
    EXPECT_EQ(values.entry.at(0).state, State::whole);
    EXPECT_EQ(values.entry.at(0).text, std::string(4032, 'p'));
    EXPECT_EQ(values.ret.at(0).number, 1U);
}

TEST(Programs, SeeRegistersInsideAFunction) {
    Traced traced;
    // Past what ftrace patches the registers are as they were.
    ProbeRequest request = entry_of(
        1, "write_null", {reg(0, argument_word(2)), put(0), reg(1, place_word), put(1), accept()});
    request.offset = behind_entry("write_null");
    traced.add(request);
    traced.start();
    NullWriter writer;
    writer.write(20);
    traced.stop();
    traced.drain();
    traced.expect_exact();
    const std::vector<Event> events = traced.events();
    ASSERT_EQ(events.size(), 20U);
    std::uint64_t number = 0;
    for (const Event& event : events) {
        const FieldValues values = traced.fields(event);
        EXPECT_EQ(values.entry[0].number, ++number);
        // The instruction pointer: there, or behind the breakpoint.
        EXPECT_LE(values.entry[1].number - (address_of("write_null") + request.offset), 1U);
        EXPECT_EQ(event.flags & ~TL_NEED_RESCHED, 0);
    }
}

} // namespace
