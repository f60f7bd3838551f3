// SPDX-License-Identifier: GPL-2.0
// What the guest tests have in common: programs, a session with its rings read and checked,
// and looking at the kernel from outside.
#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <map>
#include <sched.h>
#include <string>
#include <string_view>
#include <sys/types.h>
#include <vector>

#include "control/session.h"
#include "ring/decoder.h"
#include "ring/reader.h"
#include "shared/program.h"
#include "trace/batch.h"
#include "trace/event.h"
#include "trace/fields.h"

namespace trapline::guest {

// Instructions.
tl_insn imm(unsigned dst, std::uint64_t value);
tl_insn reg(unsigned dst, std::uint64_t word);
tl_insn arg(unsigned dst, std::uint64_t n);
tl_insn retval(unsigned dst);
tl_insn load_kernel(unsigned dst, unsigned a, unsigned size, std::int64_t offset = 0);
tl_insn load_user(unsigned dst, unsigned a, unsigned size, std::int64_t offset = 0);
tl_insn jump(tl_op op, unsigned a, unsigned b, unsigned skip);
tl_insn put(unsigned a, unsigned size = 8);
tl_insn put_faults();
tl_insn str_kernel(unsigned a, std::uint64_t max);
tl_insn str_user(unsigned a, std::uint64_t max);
tl_insn accept();
tl_insn reject();

using Program = std::vector<tl_insn>;
Program store_args(const std::vector<unsigned>& which);
Program store_return();

ProbeRequest entry_of(std::uint16_t id, const std::string& symbol, Program program = {});
ProbeRequest call_of(std::uint16_t id, const std::string& symbol, Program program = {},
                     Program ret = store_return());
ProbeRequest return_of(std::uint16_t id, const std::string& symbol, Program ret = store_return());
// A call, or its entry where this kernel can't trap returns.
ProbeRequest call_or_entry_of(std::uint16_t id, const std::string& symbol, Program program = {},
                              Program ret = store_return());
// What the names of these begin with: functions that every kernel has, whatever its machine.
inline constexpr std::string_view many_prefix = "pci_";
// Up to `count`, by entry and call in turn, ids from 100 on: nothing calls these now.
std::vector<ProbeRequest> many_probes(std::size_t count);

// The fields of a program that stores the same whichever way it runs.
std::vector<Field> fields_of(const Program& program);

// Looking from outside.
unsigned online_cpus();
bool traps_returns();   // this kernel, of functions that ftrace patches
void pin(unsigned cpu); // the calling thread

// The calling thread stays on a CPU until the end of the block.
class Pinned {
public:
    explicit Pinned(unsigned cpu);
    Pinned(const Pinned&) = delete;
    Pinned& operator=(const Pinned&) = delete;
    ~Pinned() { sched_setaffinity(0, sizeof(before_), &before_); }

private:
    cpu_set_t before_{};
};

std::string read_file(const std::string& path);
bool write_file(const std::string& path, std::string_view text, int flags = 0); // one write()
bool kernel_has(std::string_view symbol);                                       // in /proc/kallsyms

// The kernel's list of kprobes, ours and others'; where it has none, the places of which the
// instructions are others than before the first test.
std::vector<std::string> planted();
std::size_t listed(std::size_t probes, std::size_t places); // how many lines they are there
bool none_planted(); // or none after a moment, for a jump outlives its probe

// Kprobes can be switched off and on as a whole, where there is debugfs.
bool has_kprobes_switch();
bool switch_kprobes(bool on);
std::uint64_t address_of(const std::string& symbol);
bool wait_for(const std::function<bool()>& condition, int milliseconds = 10000);
short polled(const Session& session, short events, int milliseconds); // what poll() reports

// A process of ours. Its body's result is its exit status.
class Child {
public:
    explicit Child(const std::function<int()>& body);
    Child(Child&& other) noexcept : pid_(other.pid_) { other.pid_ = 0; }
    Child(const Child&) = delete;
    Child& operator=(const Child&) = delete;
    Child& operator=(Child&&) = delete;
    ~Child();

    pid_t pid() const { return pid_; }
    int wait(); // its exit status, 128 + n for a signal
    int kill(int signal);

private:
    pid_t pid_;
};

// Processes and threads waiting for one another: each take() waits for a give().
class Gate {
public:
    Gate();
    Gate(const Gate&) = delete;
    Gate& operator=(const Gate&) = delete;
    ~Gate();

    void give(std::uint32_t value = 0) const;
    std::uint32_t take() const;

private:
    int ends_[2] = {-1, -1};
};

// A packet as it was read.
struct Packet {
    tl_packet header{}; // valid if closed
    bool closed = false;
    std::uint64_t records = 0;
    std::uint64_t first_ticks = 0;
    std::uint64_t last_ticks = 0;
};

// A session, its probes and what was read from its rings.
class Traced {
public:
    explicit Traced(const SessionConfig& config = {});

    Session& session() { return session_; }
    const SessionGeometry& geometry() const { return geometry_; }

    void add(const ProbeRequest& request); // before the first start; throws if refused
    void start();
    void stop();

    // Reads the rings, each until it is empty or so many bytes were taken. Where a full ring
    // is written over: once stopped, all that is left, and what was read before is forgotten.
    void drain(std::size_t max_bytes = SIZE_MAX);

    trapline_counters counters(std::uint16_t id = 1);
    std::vector<Event> events(std::uint16_t id = 0) const; // what was read, by time; 0: all
    FieldValues fields(const Event& event) const;
    std::vector<std::string> marks() const; // read, by time
    double milliseconds(std::uint64_t ticks) const;

    std::uint64_t written() const; // records, all rings, as the rings count
    std::uint64_t lost() const;

    struct Ring {
        RingMapping mapping;
        RingReader reader;
        RecordDecoder decoder;
        Batch batch;
        std::vector<Packet> packets;
    };
    std::vector<Ring>& rings();

    // Every equation of the design, for a session that is stopped and read to the end.
    // Checked with EXPECT; misses are checked unless they are `missed`. No probe knows of
    // the marks that found no room, and none may have been written over.
    void expect_exact(bool missed = false, std::uint64_t marks_lost = 0);

private:
    void begin_at_floor(Ring& ring) const;
    void expect_packets(const Ring& ring) const;

    Session session_;
    SessionGeometry geometry_;
    std::vector<EventLayout> layouts_;
    std::vector<Ring> rings_;
};

// What the kernel says of a request: 0 and nothing, or errno and its words.
struct Refusal {
    int code = 0;
    std::string text;
};
Refusal refusal(Channel& channel, Message message);
Refusal refusal(const std::function<void()>& request);

} // namespace trapline::guest
