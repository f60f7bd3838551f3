// SPDX-License-Identifier: GPL-2.0
// `trapline trace`: plants probes, runs COMMAND, shows events, accounts for every hit.
#include "command/trace.h"

#include <cstdio>
#include <fmt/format.h>
#include <memory>
#include <poll.h>
#include <utility>

#include "command/collector.h"
#include "command/run.h"
#include "command/shower.h"
#include "command/trace_options.h"
#include "output/json.h"
#include "output/output_file.h"
#include "output/text.h"
#include "util/alarm.h"

namespace trapline {

namespace {

class Trace {
public:
    explicit Trace(const TraceOptions& options)
        : options_(options), output_(options.output), run_(options.run, run_plan(options)) {}

    int run();

private:
    static RunPlan run_plan(const TraceOptions& options);
    std::unique_ptr<Printer> printer();
    Ending wait();
    void wait_until_shown(Ending& ending);

    const TraceOptions& options_;
    OutputFile output_; // before the signals: opening a FIFO waits, and can be interrupted
    Run run_;
    Alarm shown_; // the thread that shows has ended
    bool output_closed_ = false;
};

RunPlan Trace::run_plan(const TraceOptions& options) {
    RunPlan plan;
    plan.stdout_to_stderr = options.json;
    return plan;
}

std::unique_ptr<Printer> Trace::printer() {
    AddressNames names;
    if (Callers* callers = run_.callers()) {
        names.caller = [callers](std::uint64_t at) { return callers->name(at); };
        names.symbol = [callers](std::uint64_t at) { return callers->symbol_name(at); };
    }
    if (options_.json)
        return std::make_unique<JsonPrinter>(std::string(), std::move(names));
    return std::make_unique<TextPrinter>(output_.terminal(), std::string(), std::move(names));
}

Ending Trace::wait() {
    const Watch watches[] = {
        // Nothing asked for: only that its reader has gone.
        {output_.fd(), 0,
         [this](Ending&, short) {
             output_closed_ = true;
             return true;
         }},
        {shown_.fd(), POLLIN, [](Ending&, short) { return true; }},
        {run_.session().fd(), POLLPRI,
         [this](Ending& ending, short) { return run_.ended(ending); }},
    };
    return run_.wait(watches);
}

// The traps are lifted; what was recorded is still being shown, as fast as its reader
// takes it. A signal now means: no more of that.
void Trace::wait_until_shown(Ending& ending) {
    while (true) {
        pollfd fds[] = {{run_.signals_fd(), POLLIN, 0}, {shown_.fd(), POLLIN, 0}};
        poll(fds, 2, -1);
        if (fds[1].revents)
            return;
        if (fds[0].revents && run_.take_late_signal(ending))
            output_.cancel();
    }
}

int Trace::run() {
    run_.prepare();
    Session& session = run_.session();
    Collector collector(session, run_.cpus(), run_.layouts());
    const ClockAnchor start = run_.start();
    Shower shower(session, collector, run_.cpus(), run_.layouts(),
                  ClockConversion(session.info().clock_hz, start), printer(), output_);
    Ending ending;
    bool cancelled = false;
    try {
        collector.begin();
        shower.begin(shown_);
        run_.let_go("tracing");
        ending = wait();
        shower.finish(run_.stop());
        if (output_closed_)
            output_.cancel();
        wait_until_shown(ending);
        shower.join();
    } catch (const OutputClosed&) {
        output_closed_ = true;
    } catch (const OutputCancelled&) {
        cancelled = true;
    } catch (...) {
        output_.cancel(); // or the thread that shows may never end
        run_.say_command_goes_on();
        throw;
    }
    collector.end();
    if (output_closed_)
        die_of_closed_output();
    const bool lost = run_.account();
    if (ending.cause == limit_cause)
        say(fmt::format("trapline: ended by --limit: {} events\n", options_.run.limit));
    if (cancelled)
        say(fmt::format("trapline: interrupted: at least {} events were not shown\n",
                        shower.unshown()));
    if (shower.stragglers() != 0)
        say(fmt::format("trapline: {} events came too late to be shown in their place; they are "
                        "marked [late]\n",
                        shower.stragglers()));
    if (lost)
        say("trapline: warning: events were lost\n");
    if (!ending.too_much.empty()) {
        run_.say_command_goes_on();
        throw Error(ending.too_much, std::string(guard_hint));
    }
    return run_.finish(ending, lost);
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
