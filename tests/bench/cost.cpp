// SPDX-License-Identifier: GPL-2.0
// What a hit costs, in a guest whose nanoseconds are instructions (qemu/run --icount).
//
// The workload reads a byte of /dev/zero, so that vfs_read is hit once a turn; the cost of
// a hit is its CPU time a turn less that without any probe. Floors (empty handlers) and
// ftrace's own kprobe events are measured in the same run. Exits with 1 when a budget is
// broken.
#include <array>
#include <cmath>
#include <cstdio>
#include <cstdlib>
#include <ctime>
#include <fcntl.h>
#include <fmt/format.h>
#include <functional>
#include <string>
#include <sys/syscall.h>
#include <tuple>
#include <unistd.h>

#include "command/collector.h"
#include "control/session.h"
#include "recorder.h"
#include "shared/program.h"
#include "spec/compile.h"

using namespace trapline;

namespace {

constexpr long turns = 20000;
constexpr int repetitions = 3;

double cpu_ns() {
    timespec time{};
    clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &time);
    return static_cast<double>(time.tv_sec) * 1e9 + static_cast<double>(time.tv_nsec);
}

// One turn's CPU time, the least of some repetitions; `between` is called after each.
double measure(const std::function<void()>& between = [] {}) {
    const int zero = open("/dev/zero", O_RDONLY | O_CLOEXEC);
    char byte = 0;
    double best = HUGE_VAL;
    sleep(1); // the kernel makes jumps of breakpoints when no task is in their way
    for (int repetition = -1; repetition < repetitions; repetition++) {
        const double begun = cpu_ns();
        for (long turn = 0; turn < turns; turn++)
            syscall(SYS_read, zero, &byte, 1);
        const double turn_ns = (cpu_ns() - begun) / turns;
        if (repetition >= 0 && turn_ns < best) // the first warms up
            best = turn_ns;
        between();
    }
    close(zero);
    return best;
}

void run(const std::string& command) {
    if (std::system(command.c_str()) != 0) { // NOLINT(cert-env33-c,concurrency-mt-unsafe)
        std::fprintf(stderr, "cost: failed: %s\n", command.c_str());
        std::exit(1); // NOLINT(concurrency-mt-unsafe)
    }
}

double floor_of(const std::string& kind) {
    run("insmod /lib/modules/$(uname -r)/updates/tlfloor.ko kind=" + kind);
    const double cost = measure();
    run("rmmod tlfloor");
    return cost;
}

struct Measured {
    double cost = 0;
    double guessed = 0;      // a hit, by the guard
    std::uint64_t bytes = 0; // a record
};

std::vector<tl_insn> store_arguments(int count) {
    std::vector<tl_insn> insns;
    for (int n = 0; n < count; n++) {
        tl_insn load{};
        load.op = TL_OP_ARG;
        load.dst = static_cast<std::uint8_t>(n);
        load.imm = static_cast<std::uint64_t>(n);
        tl_insn put{};
        put.op = TL_OP_PUT;
        put.a = load.dst;
        put.size = 8;
        insns.push_back(load);
        insns.push_back(put);
    }
    insns.push_back(tl_insn{}); // TL_OP_ACCEPT
    return insns;
}

// Behind what `program` stores.
void store_stack(std::vector<tl_insn>& program, std::vector<Field>& fields, std::uint8_t flags) {
    tl_insn stack{};
    stack.op = TL_OP_STACK;
    stack.flags = flags;
    stack.imm = TL_STACK_MAX;
    program.insert(program.end() - 1, stack);
    fields.push_back({.name = "stack", .type = FieldType::stack});
}

Measured trapline_cost(trapline_probe_kind kind, int arguments, std::uint32_t guard = 0,
                       bool with_stack = false) {
    Session session;
    SessionConfig config;
    config.guard = guard;
    config.ring_size = 4U << 20;
    config.exclude_tgid = 1; // the tool excludes itself: somebody must be excluded
    const SessionGeometry geometry = session.configure(config);

    ProbeRequest request;
    request.event_id = 1;
    request.kind = kind;
    request.symbol = "vfs_read";
    request.entry_program = store_arguments(arguments);
    EventLayout layout;
    layout.id = 1;
    layout.kind = kind;
    layout.entry_fields.resize(static_cast<std::size_t>(arguments));
    if (kind == TRAPLINE_CALL) {
        tl_insn load{};
        load.op = TL_OP_RETVAL;
        tl_insn put{};
        put.op = TL_OP_PUT;
        put.size = 8;
        request.return_program = {load, put, tl_insn{}};
        layout.return_fields.resize(1);
    }
    if (with_stack && kind == TRAPLINE_CALL)
        store_stack(request.return_program, layout.return_fields, TL_INSN_AT_RETURN);
    else if (with_stack)
        store_stack(request.entry_program, layout.entry_fields, TL_INSN_AT_ENTRY);
    const auto verdicts = session.add_probes({&request, 1});
    if (verdicts.front().error != 0) {
        std::fprintf(stderr, "cost: %s\n", verdicts.front().text.c_str());
        std::exit(1); // NOLINT(concurrency-mt-unsafe)
    }
    const std::array layouts{layout};
    Collector collector(session, geometry.cpus, layouts);
    session.start();

    Measured result;
    result.cost = measure([&] {
        Merger merger(geometry.cpus);
        collector.collect(merger);
        merger.flush(
            [&](const Event& event) { result.bytes = TL_COMPACT_SIZE + event.fields.size(); });
    });
    session.stop();
    const trapline_counters counters = session.probes().front().counters;
    result.guessed = static_cast<double>(session.sessions().front().spent_ns) /
                     static_cast<double>(counters.hits);
    if (counters.recorded < turns * (repetitions + 1) || counters.lost_full != 0) {
        std::fprintf(stderr, "cost: the workload was not recorded whole\n");
        std::exit(1); // NOLINT(concurrency-mt-unsafe)
    }
    session.delete_probe();
    return result;
}

// A hit of one that is rejected, by `config` or by the probe.
double filtered_cost(trapline_probe_kind kind, const char* probe, SessionConfig config = {}) {
    Session session;
    config.ring_size = 4U << 20;
    config.exclude_tgid = 1;
    session.configure(config);

    const ProbeSpec spec = [&] {
        ProbeSpec made = parse_probe(probe);
        made.kind = kind;
        return made;
    }();
    CompiledProbe compiled = compile_probe(spec, 1, session.info().clock_hz);
    ProbeRequest request;
    request.event_id = 1;
    request.kind = kind;
    request.symbol = "vfs_read";
    request.entry_program = std::move(compiled.entry);
    request.return_program = std::move(compiled.ret);
    const auto verdicts = session.add_probes({&request, 1});
    if (verdicts.front().error != 0) {
        std::fprintf(stderr, "cost: %s\n", verdicts.front().text.c_str());
        std::exit(1); // NOLINT(concurrency-mt-unsafe)
    }
    session.start();
    const double cost = measure();
    session.stop();
    const trapline_counters counters = session.probes().front().counters;
    if (counters.filtered < turns * (repetitions + 1) || counters.recorded != 0) {
        std::fprintf(stderr, "cost: the workload was not filtered whole\n");
        std::exit(1); // NOLINT(concurrency-mt-unsafe)
    }
    session.delete_probe();
    return cost;
}

// Each of which rejects every hit; the workload is root's, on CPU 0, in the top cgroup.
std::vector<std::pair<std::string, SessionConfig>> filters() {
    std::vector<std::pair<std::string, SessionConfig>> all{
        {"name", {}}, {"CPU, and name", {}}, {"user", {}}};
    all[0].second.only_comms = {"nobody"};
    all[1].second.only_cpus = {0}; // there is no other to be rejected on
    all[1].second.only_comms = {"nobody"};
    all[2].second.only_uids = {1};
    run("mkdir -p /tmp/cgroup2; mount -t cgroup2 none /tmp/cgroup2; mkdir /tmp/cgroup2/tl");
    static const int fd = open("/tmp/cgroup2/tl", O_RDONLY | O_DIRECTORY | O_CLOEXEC);
    if (fd >= 0) { // not every kernel has them
        all.emplace_back("cgroup", SessionConfig{});
        all.back().second.only_cgroups = {static_cast<std::uint32_t>(fd)};
    }
    return all;
}

void put(const std::string& file, const std::string& text, int flags = O_TRUNC) {
    const std::string path = "/sys/kernel/tracing/" + file;
    const int fd = open(path.c_str(), O_WRONLY | O_CLOEXEC | flags);
    if (fd < 0 || write(fd, text.data(), text.size()) != static_cast<ssize_t>(text.size())) {
        std::perror(path.c_str());
        std::exit(1); // NOLINT(concurrency-mt-unsafe)
    }
    close(fd);
}

double ftrace_cost(bool both_ends) {
    put("kprobe_events", "p:tlbench/entry vfs_read a0=%di a1=%si a2=%dx\n", O_APPEND);
    if (both_ends)
        put("kprobe_events", "r:tlbench/return vfs_read ret=$retval\n", O_APPEND);
    put("events/tlbench/enable", "1");
    const double cost = measure();
    put("events/tlbench/enable", "0");
    put("kprobe_events", "\n");
    return cost;
}

class Report {
public:
    explicit Report(double base) : base_(base) {
        fmt::print("{:<44} {:>8.1f} instructions a turn\n", "no probe", base);
    }

    void line(const std::string& name, double cost) const {
        fmt::print("{:<44} {:>8.1f} a hit\n", name, cost - base_);
    }

    void budget(const std::string& name, double cost, double floor, double allowed) {
        const double over = cost - floor;
        const bool holds = over <= allowed;
        fmt::print("{:<44} {:>8.1f} a hit, floor + {:.1f} (budget {:.0f}){}\n", name, cost - base_,
                   over, allowed, holds ? "" : "  BROKEN");
        broken_ = broken_ || !holds;
    }

    void require(const std::string& name, bool holds) {
        fmt::print("{:<44} {}\n", name, holds ? "yes" : "NO  BROKEN");
        broken_ = broken_ || !holds;
    }

    bool broken() const { return broken_; }

private:
    double base_;
    bool broken_ = false;
};

} // namespace

int main() {
    const double base = measure();
    Report report(base);
    const double entry_floor = floor_of("kprobe");
    const double call_floor = floor_of("kretprobe");
    report.line("floor: an empty kprobe", entry_floor);
    report.line("floor: an empty kretprobe, both ends, data", call_floor);

    // A real-time kernel keeps part of the context in the task, which is looked at too.
    const double entry_budget = access("/sys/kernel/realtime", F_OK) == 0 ? 100 : 90;
    const Measured entry = trapline_cost(TRAPLINE_ENTRY, 3);
    report.budget("trapline: entry, 3 arguments", entry.cost, entry_floor, entry_budget);
    const Measured call = trapline_cost(TRAPLINE_CALL, 3);
    report.budget("trapline: call, 3 arguments, return, duration", call.cost, call_floor, 160);
    // The same while the guard looks; and what it takes a hit for.
    for (const auto& [name, kind, floor, allowed] :
         {std::tuple("entry", TRAPLINE_ENTRY, entry_floor, entry_budget),
          std::tuple("call", TRAPLINE_CALL, call_floor, 160.0)}) {
        const Measured watched = trapline_cost(kind, 3, 100);
        report.budget(fmt::format("trapline: {}, with the guard", name), watched.cost, floor,
                      allowed);
        const double factor = watched.guessed / (watched.cost - base);
        report.require(fmt::format("the guard takes it for {:.0f}: factor {:.2f}, 1.5 at most",
                                   watched.guessed, factor),
                       factor < 1.5 && factor > 1 / 1.5);
    }
    report.line("trapline: call, 6 arguments, return, duration",
                trapline_cost(TRAPLINE_CALL, 6).cost);
    fmt::print("{:<44} {:>8} and {} bytes\n", "trapline: a record of these", entry.bytes,
               call.bytes);
    report.require("an entry record takes 36 bytes", entry.bytes == 36);

    const Measured stack = trapline_cost(TRAPLINE_ENTRY, 3, 0, true);
    report.line(fmt::format("trapline: entry, with a stack of {} frames",
                            (stack.bytes - entry.bytes - 4) / sizeof(std::uint64_t)),
                stack.cost);
    report.line("trapline: call, with the same stack",
                trapline_cost(TRAPLINE_CALL, 3, 0, true).cost);

    const double rejected_floor = floor_of("rejected");
    report.line("floor: an empty kretprobe, given up at once", rejected_floor);
    // `count`, the third parameter, is 1 here.
    constexpr const char* by_parameter = "vfs_read if $arg3 > 4KiB";
    report.budget("trapline: entry, filtered by a parameter",
                  filtered_cost(TRAPLINE_ENTRY, by_parameter), entry_floor, 40);
    report.budget("trapline: call, filtered by a parameter",
                  filtered_cost(TRAPLINE_CALL, by_parameter), rejected_floor, 40);
    for (const char* condition : {"$pid == 1", "$uid == 1", "$cpu == 1", "comm == \"nobody\""}) {
        const std::string probe = fmt::format("vfs_read if {}", condition);
        report.budget(fmt::format("trapline: entry, if {}", condition),
                      filtered_cost(TRAPLINE_ENTRY, probe.c_str()), entry_floor, 40);
        report.budget(fmt::format("trapline: call, if {}", condition),
                      filtered_cost(TRAPLINE_CALL, probe.c_str()), rejected_floor, 40);
    }
    // Two hits: the entry has to be put down before its return can be rejected.
    for (const char* condition : {"$retval < 0", "$duration > 1s"})
        report.budget(
            fmt::format("trapline: call, if {}", condition),
            filtered_cost(TRAPLINE_CALL,
                          fmt::format("vfs_read($arg1, $arg2, $arg3) if {}", condition).c_str()),
            call_floor, 85);
    for (const auto& [name, config] : filters()) {
        const double budget = name == "cgroup" ? 50 : 40; // what is above it is looked at too
        report.budget("trapline: entry, filtered by " + name,
                      filtered_cost(TRAPLINE_ENTRY, "vfs_read", config), entry_floor, budget);
        report.budget("trapline: call, filtered by " + name,
                      filtered_cost(TRAPLINE_CALL, "vfs_read", config), rejected_floor, budget);
    }

    if (access("/sys/kernel/tracing/kprobe_events", F_OK) == 0) {
        report.line("ftrace kprobe event: entry, 3 arguments", ftrace_cost(false));
        report.line("ftrace kprobe events: entry and return", ftrace_cost(true));
    }

    const bench::RecorderCost recorder = bench::recorder_cost();
    fmt::print(
        "{:<44} {:>8.1f} of the tool's an event ({} events to a tmpfs; {:.1f} are write()'s)\n",
        "trapline record: instructions", recorder.per_event, recorder.events, recorder.by_write);
    report.require("that is write()'s and 15 at most",
                   recorder.per_event <= recorder.by_write + 15);

    const double after = measure();
    report.require("lifted: the baseline again, to 0.1 %", std::abs(after - base) <= base / 1000);
    return report.broken() ? 1 : 0;
}
