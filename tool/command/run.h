// SPDX-License-Identifier: GPL-2.0
// A session from the first probe to the accounting, whatever is done with its records: probes,
// COMMAND, signals, what ends it.
#pragma once

#include <chrono>
#include <functional>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "command/child.h"
#include "command/events.h"
#include "command/probe_plan.h"
#include "command/run_options.h"
#include "control/session.h"
#include "symbols/caller.h"
#include "trace/description.h"

namespace trapline {

constexpr int lost_status = 3; // events were lost, and --strict

// What a hit's probes may take of a CPU over a second.
constexpr std::uint32_t guard_percent = 25;

// Of an Ending.
constexpr std::string_view limit_cause = "--limit";
constexpr std::string_view guard_cause = "the guard";
constexpr std::string_view guard_hint =
    "trace fewer or rarer functions, or fewer of their hits; --no-guard goes on at any cost";

// To standard error.
void say(std::string_view text);

// How a run came to its end.
struct Ending {
    std::optional<int> status; // ours to exit with: COMMAND's, if there is one
    std::optional<int> signal; // that ended it while COMMAND went on
    bool by_command = false;   // COMMAND ended, and with it the run
    std::string too_much;      // what the guard has to say, if that ended it
    std::string cause;         // "COMMAND (status 0)", "SIGINT", "--duration", ...
};

// Something besides that a run waits for. `came` says whether the run ends of it.
struct Watch {
    int fd = -1;
    short events = 0; // of poll(); 0: errors only
    std::function<bool(Ending& ending, short revents)> came;
};

// Something to be done at least so often.
struct Tick {
    std::chrono::milliseconds interval{};
    std::function<void()> due; // empty: nothing
};

// What a command wants besides its PROBEs.
struct RunPlan {
    std::vector<TriggerSpec> triggers;
    bool overwrite = false;
    bool wake_chunks = false;      // see SessionConfig
    bool stdout_to_stderr = false; // COMMAND's
    bool stop_at_signal = false;   // without waiting for COMMAND to end of it
};

class Run {
public:
    // From now on signals are ours: SIGINT and its like, and `more`.
    Run(const RunOptions& options, RunPlan plan, std::span<const int> more_signals = {});

    // Everything but the start: if it throws, COMMAND has not run and no probe stays.
    void prepare();

    Session& session() { return *session_; }
    std::uint32_t cpus() const { return cpus_; } // possible ones
    std::span<const EventLayout> layouts() const { return plan_.layouts; }
    // Names of what is in stacks; null: none are recorded. From prepare() on.
    Callers* callers() { return callers_ ? &*callers_ : nullptr; }
    const Child* child() const { return child_ ? &*child_ : nullptr; }

    // What is known of the trace so far.
    const TraceDescription& description() const { return description_; }

    ClockAnchor start();

    // COMMAND runs. Without one, says that we are `doing` it: "tracing".
    void let_go(std::string_view doing);

    // What a signal is to be: nobody's business but the caller's, or the end of the run, which
    // COMMAND isn't told of; or the usual: handed on to COMMAND, or the end of a run without.
    enum class SignalUse : std::uint8_t { usual, handled, ends };
    std::function<SignalUse(int number)> on_signal;

    // Until the run ends; may be called again, and then goes on.
    Ending wait(std::span<const Watch> watches, const Tick& tick = {});

    // After that: whether there was a signal, which was handed on to COMMAND unless the terminal
    // did.
    bool take_late_signal(Ending& ending);
    int signals_fd() const { return signals_.fd(); }

    // Whether the module has ended the run, and why; the session's descriptor reports POLLPRI then.
    bool ended(Ending& ending);

    // STOP, first of all, however long the rest may take; then all traps are lifted.
    ClockAnchor stop();
    const std::vector<ProbeReport>& reports() const { return reports_; } // from then
    // When a crash of the kernel ended the run before, by CLOCK_MONOTONIC.
    std::optional<std::uint64_t> silenced_ns() const { return silenced_ns_; }

    // Says what became of every hit; whether any event was lost.
    bool account() const;

    // What to exit with: waits for COMMAND if it goes on, untraced.
    int finish(Ending& ending, bool lost);

    // When we fail while COMMAND runs.
    void say_command_goes_on() const;

private:
    void check_buffer_size() const;
    SessionConfig session_config(const FoundFilter& filter) const;
    std::unique_ptr<TypeSource> type_source() const;
    void describe();
    bool take_signal(Ending& ending);
    std::uint64_t lost_marks() const;
    void command_ended(Ending& ending);

    const RunOptions& options_;
    RunPlan wanted_;
    Signals signals_;
    Watched watched_;
    std::optional<Deadline> deadline_;
    std::optional<Session> session_;
    std::optional<Child> child_;
    std::uint32_t cpus_ = 0;
    ProbePlan plan_;
    std::optional<Callers> callers_;
    TraceDescription description_;
    std::vector<ProbeReport> reports_;
    std::uint64_t ring_losses_ = 0; // records that rings dropped, marks among them
    std::optional<std::uint64_t> silenced_ns_;
};

} // namespace trapline
