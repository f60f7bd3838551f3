// SPDX-License-Identifier: GPL-2.0
// `trapline trace`: plants probes, runs COMMAND, shows events, accounts for every hit.
#include "command/trace.h"

#include <algorithm>
#include <cerrno>
#include <cstdio>
#include <fmt/format.h>
#include <memory>
#include <optional>
#include <poll.h>
#include <unistd.h>

#include "command/child.h"
#include "command/collector.h"
#include "command/events.h"
#include "command/open_session.h"
#include "command/probe_plan.h"
#include "command/shower.h"
#include "command/trace_options.h"
#include "output/accounting.h"
#include "output/json.h"
#include "output/output_file.h"
#include "output/text.h"
#include "trace/ctf_metadata.h"
#include "util/size.h"

namespace trapline {

namespace {

constexpr int lost_status = 3;

void say(const std::string& text) {
    std::fputs(text.c_str(), stderr);
}

// How a trace came to its end.
struct Ending {
    std::optional<int> status;  // COMMAND's
    std::optional<int> signal;  // that ended us while COMMAND went on
    bool output_closed = false; // nobody reads our events any more
};

class Trace {
public:
    explicit Trace(const TraceOptions& options)
        : options_(options), output_(options.output), watched_(options.pids) {}

    int run();

private:
    void prepare();
    void check_buffer_size() const;
    SessionConfig session_config() const;
    std::unique_ptr<Printer> printer() const;
    Ending wait();
    void take_signal(Ending& ending);
    bool account(std::vector<ProbeReport> reports) const;
    void wait_until_shown(Ending& ending);
    int finish_command(Ending& ending);

    const TraceOptions& options_;
    OutputFile output_; // before the signals: opening a FIFO waits, and can be interrupted
    Signals signals_;
    Watched watched_;
    Alarm shown_; // the thread that shows has ended
    std::optional<Session> session_;
    std::optional<Child> child_;
    std::uint32_t cpus_ = 0;
    ProbePlan plan_;
};

SessionConfig Trace::session_config() const {
    SessionConfig config;
    config.ring_size = options_.buffer_size;
    config.maxactive = options_.maxactive;
    config.exclude_tgid = static_cast<std::uint32_t>(getpid());
    config.tgids = options_.pids;
    if (child_ && !options_.all)
        config.tgids.push_back(static_cast<std::uint32_t>(child_->pid()));
    config.follow = !config.tgids.empty();
    return config;
}

void Trace::check_buffer_size() const {
    const std::uint64_t most = session_->info().ring_max;
    if (options_.buffer_size > most)
        throw Error(fmt::format("--buffer-size: {} for each CPU would take more than 1/16 of RAM",
                                format_size(options_.buffer_size)),
                    fmt::format("at most {} here", format_size(most)));
}

// Everything but the start: if it throws, COMMAND has not run and no probe stays.
void Trace::prepare() {
    session_.emplace(open_session([](std::string_view text) { say(fmt::format("{}\n", text)); }));
    check_buffer_size();
    plan_ = plan_probes(options_.probes, options_.begin, Kallsyms(), Blacklist());
    if (!options_.command.empty())
        child_.emplace(options_.command, options_.user, options_.json, signals_);
    cpus_ = session_->configure(session_config()).cpus;
    TraceDescription description;
    description.layouts = plan_.layouts;
    description.clock = {session_->info().clock_name, session_->info().clock_hz, std::nullopt};
    session_->metadata(ctf_metadata(description));
    plant_probes(*session_, plan_, [this] {
        const auto signal = signals_.next();
        if (signal)
            throw Error("interrupted while planting", {}, 128 + signal->number);
        return true;
    });
}

std::unique_ptr<Printer> Trace::printer() const {
    if (options_.json)
        return std::make_unique<JsonPrinter>();
    return std::make_unique<TextPrinter>(output_.terminal());
}

// Ours to hand on, unless the terminal gave it to COMMAND too. The second one ends us
// whatever COMMAND does.
void Trace::take_signal(Ending& ending) {
    const auto signal = signals_.next();
    if (!signal)
        return;
    if (!child_ || ending.signal) {
        ending.signal = signal->number;
        ending.status = child_ ? child_->ended() : std::nullopt;
        if (!ending.status)
            ending.status = child_ ? 128 + signal->number : 0;
        return;
    }
    ending.signal = signal->number;
    if (!signal->from_terminal)
        child_->signal(signal->number);
}

Ending Trace::wait() {
    const Deadline deadline(options_.duration);
    Ending ending;
    while (true) {
        std::vector<pollfd> fds = {{signals_.fd(), POLLIN, 0},
                                   {shown_.fd(), POLLIN, 0},
                                   {deadline.fd(), POLLIN, 0},
                                   {child_ ? child_->pidfd() : -1, POLLIN, 0},
                                   // Nothing asked for: only that its reader has gone.
                                   {output_.fd(), 0, 0}};
        for (const UniqueFd& fd : watched_.fds())
            fds.push_back({fd.get(), POLLIN, 0});
        if (poll(fds.data(), fds.size(), -1) < 0 && errno != EINTR)
            throw errno_error("wait for events", errno);

        if (fds[4].revents & (POLLERR | POLLHUP | POLLNVAL)) {
            ending.output_closed = true;
            return ending;
        }
        if (fds[0].revents)
            take_signal(ending);
        if (ending.status || fds[1].revents || fds[2].revents)
            return ending;
        if (fds[3].revents) {
            ending.status = child_->ended();
            return ending;
        }
        for (std::size_t i = 5; i < fds.size(); i++)
            if (fds[i].revents)
                watched_.drop(fds[i].fd);
        if (!child_ && !options_.pids.empty() && watched_.empty())
            return ending;
    }
}

// Says what became of every hit, by `reports` from after the stop. Returns whether any
// event was lost.
bool Trace::account(std::vector<ProbeReport> reports) const {
    std::vector<ProbeAccount> accounts;
    std::string gone;
    bool lost = false;
    for (ProbeReport& report : reports) {
        const auto layout =
            std::find_if(plan_.layouts.begin(), plan_.layouts.end(),
                         [&](const EventLayout& known) { return known.id == report.event_id; });
        ProbeAccount account;
        account.name = layout == plan_.layouts.end() ? report.symbol : layout->name;
        account.kind = report.kind;
        account.counters = report.counters;
        account.maxactive = report.maxactive;
        account.pending = std::move(report.pending);
        if (report.lifted)
            gone += gone_text(account.name);
        lost = lost || report.lifted || lost_records(report.counters) != 0 ||
               report.counters.missed_recursion != 0 || report.counters.missed_maxactive != 0;
        accounts.push_back(std::move(account));
    }
    say(accounting_text(accounts) + gone);
    return lost;
}

// The traps are lifted; what was recorded is still being shown, as fast as its reader
// takes it. A signal now means: no more of that.
void Trace::wait_until_shown(Ending& ending) {
    while (true) {
        pollfd fds[] = {{signals_.fd(), POLLIN, 0}, {shown_.fd(), POLLIN, 0}};
        poll(fds, 2, -1);
        if (fds[1].revents)
            return;
        if (!fds[0].revents)
            continue;
        if (const auto signal = signals_.next()) {
            if (child_ && !signal->from_terminal)
                child_->signal(signal->number);
            ending.signal = signal->number;
            output_.cancel();
        }
    }
}

// After a time-out COMMAND goes on untraced, and its status is ours all the same.
int Trace::finish_command(Ending& ending) {
    while (!ending.status) {
        pollfd fds[] = {{signals_.fd(), POLLIN, 0}, {child_->pidfd(), POLLIN, 0}};
        poll(fds, 2, -1);
        if (fds[0].revents)
            take_signal(ending);
        if (fds[1].revents)
            ending.status = child_->ended();
    }
    return *ending.status;
}

int Trace::run() {
    prepare();
    Collector collector(*session_, cpus_, plan_.layouts);
    const ClockAnchor start = session_->start();
    Shower shower(*session_, collector, cpus_, plan_.layouts,
                  ClockConversion(session_->info().clock_hz, start), printer(), output_);
    Ending ending;
    std::vector<ProbeReport> reports;
    bool cancelled = false;
    try {
        collector.begin();
        shower.begin(shown_);
        if (child_)
            child_->let_go();
        else
            say(fmt::format("trapline: tracing {}; Ctrl-C ends\n",
                            options_.probes.size() == 1
                                ? options_.probes.front().text
                                : fmt::format("{} probes", options_.probes.size())));
        ending = wait();
        // First of all, however long the rest may take.
        const ClockAnchor stop = session_->stop();
        reports = session_->probes(true);
        session_->delete_probe();
        shower.finish(stop);
        if (ending.output_closed)
            output_.cancel();
        wait_until_shown(ending);
        shower.join();
    } catch (const OutputClosed&) {
        ending.output_closed = true;
    } catch (const OutputCancelled&) {
        cancelled = true;
    } catch (...) {
        output_.cancel(); // or the thread that shows may never end
        if (child_ && child_->running())
            say(fmt::format("trapline: the trace fails; {} (pid {}) goes on, untraced\n",
                            options_.command.front(), child_->pid()));
        throw;
    }
    collector.end();
    if (ending.output_closed)
        die_of_closed_output(); // the probes are lifted by now
    const bool lost = account(std::move(reports));
    if (cancelled)
        say(fmt::format("trapline: interrupted: at least {} events were not shown\n",
                        shower.unshown()));
    if (shower.stragglers() != 0)
        say(fmt::format("trapline: {} events came too late to be shown in their place; they are "
                        "marked [late]\n",
                        shower.stragglers()));
    if (lost)
        say("trapline: warning: events were lost\n");
    const int command_status = child_ ? finish_command(ending) : ending.status.value_or(0);
    return lost && options_.strict ? lost_status : command_status;
}

} // namespace

int trace_command(const std::vector<std::string>& arguments) {
    const TraceOptions options = parse_trace_options(arguments);
    if (options.help) {
        std::fputs(trace_help().c_str(), stdout);
        return 0;
    }
    return Trace(options).run();
}

} // namespace trapline
