// SPDX-License-Identifier: GPL-2.0
// A session from the first probe to the accounting, whatever is done with its records.
#include "command/run.h"

#include <algorithm>
#include <cerrno>
#include <csignal>
#include <cstdio>
#include <fmt/format.h>
#include <fstream>
#include <poll.h>
#include <unistd.h>

#include "command/kernel_symbols.h"
#include "command/open_session.h"
#include "output/accounting.h"
#include "trace/ctf_metadata.h"
#include "types/type_files.h"
#include "util/escape.h"
#include "util/kernel_name.h"
#include "util/size.h"

namespace trapline {

namespace {

KernelIdentity running_kernel() {
    const utsname name = kernel_name();
    KernelIdentity kernel = {name.sysname, name.release,  name.version,
                             name.machine, name.nodename, {}};
    std::ifstream("/proc/sys/kernel/random/boot_id") >> kernel.boot_id;
    return kernel;
}

std::string signal_name(int number) {
    const char* name = sigabbrev_np(number);
    return name ? fmt::format("SIG{}", name) : fmt::format("signal {}", number);
}

void say_notes(const std::vector<std::string>& notes) {
    for (const std::string& note : notes)
        say(fmt::format("trapline: {}\n", without_controls(note)));
}

} // namespace

void say(std::string_view text) {
    std::fwrite(text.data(), 1, text.size(), stderr);
}

Run::Run(const RunOptions& options, RunPlan plan, std::span<const int> more_signals)
    : options_(options), wanted_(std::move(plan)), signals_(more_signals), watched_(options.pids) {}

SessionConfig Run::session_config(const FoundFilter& filter) const {
    SessionConfig config;
    config.ring_size = options_.buffer_size;
    config.maxactive = options_.maxactive;
    config.overwrite = wanted_.overwrite;
    config.wake_chunks = wanted_.wake_chunks;
    config.exclude_tgid = static_cast<std::uint32_t>(getpid());
    config.tgids = options_.pids;
    if (child_ && !options_.all)
        config.tgids.push_back(static_cast<std::uint32_t>(child_->pid()));
    config.follow = !config.tgids.empty();
    config.limit = options_.limit;
    config.guard = options_.guard ? guard_percent : 0;
    filter.put_into(config);
    return config;
}

void Run::check_buffer_size() const {
    const std::uint64_t most = session_->info().ring_max;
    if (options_.buffer_size > most)
        throw Error(fmt::format("--buffer-size: {} for each CPU would take more than 1/16 of RAM",
                                format_size(options_.buffer_size)),
                    fmt::format("at most {} here", format_size(most)));
}

// The set's, which is the kernel's that it was compiled for.
std::unique_ptr<TypeSource> Run::type_source() const {
    if (!options_.set)
        return types_of_files(options_.types);
    if (!options_.force)
        check_set(options_.set->set, options_.set->path);
    return std::make_unique<SavedSource>(options_.set->set.images);
}

void Run::prepare() {
    // What was typed wrongly is told before a module is loaded.
    const FoundFilter filter(options_.only, [](std::string_view line) {
        say(fmt::format("trapline: {}\n", without_controls(line)));
    });
    const std::unique_ptr<TypeSource> types = type_source();
    session_.emplace(open_session([](std::string_view text) { say(fmt::format("{}\n", text)); }));
    check_buffer_size();
    Kallsyms kallsyms = kernel_symbols(
        options_.system_map, [](std::string_view text) { say(fmt::format("{}\n", text)); });
    plan_ = plan_probes(options_.probes, wanted_.triggers, options_.begin,
                        options_.all ? Names::all : Names::distinct, session_->info().clock_hz,
                        kallsyms, Blacklist(), *types);
    if (std::any_of(plan_.layouts.begin(), plan_.layouts.end(), has_addresses))
        callers_.emplace(std::move(kallsyms));
    for (ProbeRequest& request : plan_.requests)
        if (request.trigger == TRAPLINE_TRIGGER_NONE)
            request.max_rate = options_.max_rate;
    say_notes(plan_.notes);
    if (!options_.command.empty())
        child_.emplace(options_.command, options_.user, wanted_.stdout_to_stderr, signals_);
    const SessionGeometry geometry = session_->configure(session_config(filter));
    cpus_ = geometry.cpus;
    description_.chunk_size = static_cast<std::uint32_t>(geometry.chunk_size);
    describe();
    session_->metadata(ctf_metadata(description_));
    say_notes(plant_probes(*session_, plan_, [this] {
        const auto signal = signals_.next();
        if (signal)
            throw Error("interrupted while planting", {}, 128 + signal->number);
        return true;
    }));
}

// All but what is known only once the probes are planted.
void Run::describe() {
    description_.version = TRAPLINE_VERSION;
    description_.kernel = running_kernel();
    description_.clock = {session_->info().clock_name, session_->info().clock_hz, std::nullopt};
    description_.overwrite = wanted_.overwrite;
    description_.command = options_.command;
    description_.layouts = plan_.layouts;
}

ClockAnchor Run::start() {
    for (const ProbeReport& report : session_->probes()) {
        const std::size_t at = report.event_id - std::size_t{1}; // as the plan gave them
        description_.probes.push_back({report.event_id, plan_.texts.at(at), report.symbol,
                                       report.offset, report.address, report.maxactive,
                                       plan_.requests.at(at).trigger});
        if (!report.symbol.empty() && report.address != 0)
            description_.symbols.push_back({report.address - report.offset, report.symbol});
    }
    const ClockAnchor anchor = session_->start();
    description_.clock.anchor = anchor;
    return anchor;
}

void Run::let_go(std::string_view doing) {
    deadline_.emplace(options_.duration);
    if (child_)
        child_->let_go();
    else
        say(fmt::format("trapline: {} {}; Ctrl-C ends\n", doing,
                        options_.probes.size() == 1
                            ? options_.probes.front().text
                            : fmt::format("{} probes", options_.probes.size())));
}

void Run::command_ended(Ending& ending) {
    ending.status = child_->ended();
    if (ending.status)
        ending.cause = fmt::format("COMMAND (status {})", *ending.status);
}

// Ours to hand on, unless the terminal gave it to COMMAND too. The second one ends us
// whatever COMMAND does. Whether it ends the run.
bool Run::take_signal(Ending& ending) {
    const auto signal = signals_.next();
    if (!signal)
        return false;
    const SignalUse use = on_signal ? on_signal(signal->number) : SignalUse::usual;
    if (use == SignalUse::handled)
        return false;
    ending.cause = signal_name(signal->number);
    if (use == SignalUse::ends)
        return true;
    const bool second = ending.signal.has_value();
    ending.signal = signal->number;
    if (child_ && !second) {
        if (!signal->from_terminal)
            child_->signal(signal->number);
        return wanted_.stop_at_signal;
    }
    if (child_)
        ending.status = child_->ended();
    if (!ending.status)
        ending.status = child_ ? 128 + signal->number : 0;
    return true;
}

Ending Run::wait(std::span<const Watch> watches, const Tick& tick) {
    Ending ending;
    while (true) {
        std::vector<pollfd> fds = {{signals_.fd(), POLLIN, 0},
                                   {child_ && child_->running() ? child_->pidfd() : -1, POLLIN, 0},
                                   {deadline_->fd(), POLLIN, 0}};
        const std::size_t first_watch = fds.size();
        for (const Watch& watch : watches)
            fds.push_back({watch.fd, watch.events, 0});
        const std::size_t first_watched = fds.size();
        for (const UniqueFd& fd : watched_.fds())
            fds.push_back({fd.get(), POLLIN, 0});
        const int wait_ms = tick.due ? static_cast<int>(tick.interval.count()) : -1;
        if (poll(fds.data(), fds.size(), wait_ms) < 0 && errno != EINTR)
            throw errno_error("wait for events", errno);

        for (std::size_t i = 0; i < watches.size(); i++) {
            const short revents = fds[first_watch + i].revents;
            if (revents && watches[i].came(ending, revents))
                return ending;
        }
        if (tick.due)
            tick.due();
        if (fds[0].revents && take_signal(ending))
            return ending;
        if (fds[1].revents) {
            command_ended(ending);
            ending.by_command = true;
            return ending;
        }
        if (fds[2].revents) {
            ending.cause = "--duration";
            return ending;
        }
        for (std::size_t i = first_watched; i < fds.size(); i++)
            if (fds[i].revents)
                watched_.drop(fds[i].fd);
        if (!child_ && !options_.pids.empty() && watched_.empty()) {
            ending.cause = "the end of the traced processes";
            return ending;
        }
    }
}

bool Run::take_late_signal(Ending& ending) {
    const auto signal = signals_.next();
    if (!signal)
        return false;
    if (child_ && !signal->from_terminal)
        child_->signal(signal->number);
    ending.signal = signal->number;
    return true;
}

bool Run::ended(Ending& ending) {
    for (const SessionReport& session : session_->sessions()) {
        if (!session.own || session.ended == TRAPLINE_ENDED_NOT)
            continue;
        if (session.ended == TRAPLINE_ENDED_GUARD)
            ending.too_much = fmt::format(
                "the guard has ended it: probes took {} % of CPU {}, and {} are the most",
                session.load_percent, session.load_cpu, guard_percent);
        ending.cause = session.ended == TRAPLINE_ENDED_TRIGGER ? "--until"
                       : session.ended == TRAPLINE_ENDED_LIMIT ? limit_cause
                                                               : guard_cause;
        return true;
    }
    return false;
}

ClockAnchor Run::stop() {
    const ClockAnchor anchor = session_->stop();
    reports_ = session_->probes(true);
    for (const SessionReport& session : session_->sessions()) {
        if (!session.own)
            continue;
        ring_losses_ = session.lost;
        // What the module has lifted itself isn't gone.
        if (session.ended == TRAPLINE_ENDED_GUARD)
            for (ProbeReport& report : reports_)
                report.lifted = false;
        silenced_ns_ = session.silenced_ns;
    }
    session_->delete_probe();
    return anchor;
}

// A ring counts all that it drops, and the probes what was theirs.
std::uint64_t Run::lost_marks() const {
    std::uint64_t hits = 0;
    for (const ProbeReport& report : reports_)
        hits += lost_records(report.counters);
    return ring_losses_ > hits ? ring_losses_ - hits : 0;
}

bool Run::account() const {
    std::vector<ProbeAccount> accounts;
    std::string gone;
    bool lost = lost_marks() != 0 || silenced_ns_;
    for (const ProbeReport& report : reports_) {
        ProbeAccount account;
        account.name = plan_.layouts.at(report.event_id - std::size_t{1}).name;
        account.kind = report.kind;
        account.counters = report.counters;
        account.maxactive = report.maxactive;
        account.pending = report.pending;
        account.pending_known = report.pending_known;
        if (report.lifted)
            gone += gone_text(account.name);
        lost = lost || report.lifted || lost_records(report.counters) != 0 ||
               report.counters.missed_recursion != 0 || report.counters.missed_maxactive != 0;
        accounts.push_back(std::move(account));
    }
    say(accounting_text(accounts) + gone);
    if (lost_marks() != 0)
        say(fmt::format("trapline: {} marks were dropped: there was no room (raise "
                        "--buffer-size)\n",
                        lost_marks()));
    if (silenced_ns_)
        say(fmt::format("trapline: {}\n", silenced_text(*silenced_ns_)));
    return lost;
}

// After a time-out COMMAND goes on untraced, and its status is ours all the same.
int Run::finish(Ending& ending, bool lost) {
    while (child_ && !ending.status) {
        pollfd fds[] = {{signals_.fd(), POLLIN, 0}, {child_->pidfd(), POLLIN, 0}};
        poll(fds, 2, -1);
        if (fds[0].revents)
            take_signal(ending);
        if (fds[1].revents)
            command_ended(ending);
    }
    const int status = ending.status.value_or(0);
    return lost && options_.strict ? lost_status : status;
}

void Run::say_command_goes_on() const {
    if (child_ && child_->running())
        say(fmt::format("trapline: the trace fails; {} (pid {}) goes on, untraced\n",
                        options_.command.front(), child_->pid()));
}

} // namespace trapline
