// SPDX-License-Identifier: GPL-2.0
// `trapline report`: shows what was recorded. Reads files and writes text: no session, no
// module, no privilege.
#include "report/report.h"

#include <algorithm>
#include <cstdio>
#include <fmt/format.h>
#include <memory>
#include <optional>
#include <span>
#include <utility>

#include "output/csv.h"
#include "output/json.h"
#include "output/output_file.h"
#include "output/summary.h"
#include "output/text.h"
#include "recording/console_reader.h"
#include "recording/trace_reader.h"
#include "report/open_trace.h"
#include "report/report_options.h"
#include "trace/recorded_callers.h"
#include "util/error.h"
#include "util/escape.h"

namespace trapline {

namespace {

// Written in pieces of about this size.
constexpr std::size_t text_piece = std::size_t{64} << 10;

void say(const std::string& text) {
    std::fputs(text.c_str(), stderr);
}

std::unique_ptr<OpenTrace> open_trace(const std::string& path, bool merged, const Wanted& wanted) {
    try {
        const auto make = [&](EventReader::Damage damage) {
            return std::make_unique<TraceReader>(path, std::move(damage));
        };
        return std::make_unique<OpenTrace>(path, make, merged, wanted, say);
    } catch (const Error& error) {
        if (!error.hint().empty())
            throw;
        throw Error(error.what(), "name a directory that trapline record made: trapline report DIR",
                    error.exit_code());
    }
}

struct Crashes {
    std::vector<std::unique_ptr<OpenTrace>> traces;
    bool damaged = false; // more than what the traces know of themselves
};

// What crashes printed into the log, a trace each.
Crashes open_console(const std::string& path, const Wanted& wanted) {
    ConsoleLog log = read_console_log(path);
    const std::string name = path == "-" ? "standard input" : path;
    if (log.damaged != 0)
        say(fmt::format("trapline: {}: {} lines of a dump are damaged\n", escaped(name),
                        log.damaged));
    if (log.dumps.empty())
        throw Error(fmt::format("{}: there is no dump of trapline's in it{}", name,
                                log.damaged == 0 ? "" : " that can be read"),
                    "the module prints one at an oops or a panic, while something is traced, if "
                    "it has its parameter:\n"
                    "echo 200 | sudo tee /sys/module/trapline/parameters/dump_on_oops");
    Crashes crashes;
    crashes.damaged = log.damaged != 0;
    const bool several = log.dumps.size() > 1;
    for (ConsoleDump& dump : log.dumps) {
        const std::string of = several ? fmt::format("{}:{}", name, dump.tag) : name;
        const auto make = [&](EventReader::Damage damage) {
            return std::make_unique<ConsoleReader>(of, std::move(dump), std::move(damage));
        };
        try {
            crashes.traces.push_back(std::make_unique<OpenTrace>(of, make, several, wanted, say));
        } catch (const Error& error) {
            // One that can't be shown together with others must not hide them.
            say(fmt::format("trapline: {}\n", error.what()));
            crashes.damaged = true;
        }
    }
    if (crashes.traces.empty())
        throw Error(fmt::format("{}: none of its dumps can be shown", name),
                    "of one alone the times are shown in ticks: grep '@TAG ' LOG | trapline report "
                    "--console -");
    return crashes;
}

class Report {
public:
    explicit Report(const ReportOptions& options);

    int run();

private:
    struct Shown {
        std::unique_ptr<OpenTrace> trace;
        std::unique_ptr<Printer> printer;
        bool more = false; // it has an event to be shown
    };

    bool merged() const { return shown_.size() > 1; }
    void make_printers();
    void show_events();
    void account() const;
    void show_summary(Shown& shown);
    Shown* earliest();
    void flush();

    const ReportOptions& options_;
    OutputFile output_;
    std::vector<Shown> shown_; // in the order of the arguments
    bool damaged_ = false;     // something besides them
    CsvColumns columns_;
    std::string text_;
};

Report::Report(const ReportOptions& options) : options_(options), output_({}) {
    const bool several = options.directories.size() > 1;
    if (options.console) {
        Crashes crashes = open_console(*options.console, options.wanted);
        damaged_ = crashes.damaged;
        for (std::unique_ptr<OpenTrace>& trace : crashes.traces)
            shown_.emplace_back().trace = std::move(trace);
    }
    for (const std::string& path : options.directories)
        shown_.emplace_back().trace = open_trace(path, several, options.wanted);
    std::vector<std::span<const EventLayout>> layouts;
    for (const Shown& shown : shown_)
        layouts.emplace_back(shown.trace->reader().description().layouts);
    check_globs(options.wanted.probes, layouts);
}

void Report::make_printers() {
    std::size_t width = 0;
    for (const Shown& shown : shown_)
        width = std::max(width, escaped(shown.trace->name()).size());
    for (Shown& shown : shown_) {
        const std::string name = merged() ? shown.trace->name() : std::string();
        const auto callers =
            std::make_shared<RecordedCallers>(shown.trace->reader().description().symbols);
        const AddressNames names{[callers](std::uint64_t at) { return callers->name(at); },
                                 [callers](std::uint64_t at) { return callers->symbol_name(at); }};
        switch (options_.form) {
        case ReportOptions::Form::json:
            shown.printer = std::make_unique<JsonPrinter>(name, names);
            break;
        case ReportOptions::Form::csv:
            shown.printer = std::make_unique<CsvPrinter>(
                columns_, shown.trace->reader().description().layouts, name, names);
            break;
        case ReportOptions::Form::text:
            shown.printer = std::make_unique<TextPrinter>(
                output_.terminal(),
                merged() ? fmt::format("{:<{}}: ", escaped(name), width) : std::string(), names);
            break;
        }
    }
    if (options_.form == ReportOptions::Form::csv)
        text_ += columns_.header(merged());
}

// The one whose event is next; of several at the same time the first. They are few: looking
// at all is as quick as a heap.
Report::Shown* Report::earliest() {
    Shown* first = nullptr;
    for (Shown& shown : shown_)
        if (shown.more && (first == nullptr || shown.trace->shown_ns() < first->trace->shown_ns()))
            first = &shown;
    return first;
}

void Report::show_events() {
    make_printers();
    for (Shown& shown : shown_)
        shown.more = shown.trace->advance();
    while (Shown* shown = earliest()) {
        OpenTrace& trace = *shown->trace;
        shown->printer->print(trace.event(), trace.layout(), trace.reader().clock(), text_);
        if (text_.size() >= text_piece)
            flush();
        shown->more = trace.advance();
    }
    flush();
}

void Report::flush() {
    output_.write(text_);
    text_.clear();
}

// What became of every hit, on standard error, as at the end of `trapline trace`.
void Report::account() const {
    for (const Shown& shown : shown_) {
        const OpenTrace& trace = *shown.trace;
        if (merged())
            say(fmt::format("{}:\n", escaped(trace.name())));
        say(trace.accounting() + trace.losses() + trace.reader().notes());
        const std::optional<TraceTotals>& totals = trace.reader().description().totals;
        if (!totals) {
            say(fmt::format("trapline: {}: the recording has not ended, or was killed: what it had "
                            "not saved by then is missing, and there is no accounting\n",
                            escaped(trace.name())));
            continue;
        }
        std::uint64_t unread = 0;
        for (const RingTotals& ring : totals->rings)
            unread += ring.unread;
        if (unread != 0)
            say(fmt::format("trapline: {} recorded events were not saved: the recording was ended "
                            "by {}\n",
                            unread, escaped(totals->ended_by)));
    }
}

void Report::show_summary(Shown& shown) {
    OpenTrace& trace = *shown.trace;
    const TraceDescription& description = trace.reader().description();
    std::vector<const EventLayout*> layouts;
    for (const EventLayout& layout : description.layouts)
        if (trace.filter().wants(layout.id))
            layouts.push_back(&layout);
    EventSummary events(layouts);
    while (trace.advance())
        events.add(trace.event(), trace.layout(), trace.reader().clock());

    text_ += fmt::format("{}\n{}\n{}", escaped(trace.name()),
                         description_text(description, trace.last_monotonic_ns()), events.text());
    const std::string rings = description.totals ? rings_text(description.totals->rings) : "";
    for (const std::string& part :
         {trace.accounting(), rings, trace.gaps(), trace.reader().notes()})
        if (!part.empty())
            text_ += "\n" + part;
}

int Report::run() {
    if (options_.summary) {
        for (Shown& shown : shown_) {
            if (&shown != &shown_.front())
                text_ += '\n';
            show_summary(shown);
            flush();
        }
    } else {
        show_events();
        account();
    }
    int status = damaged_ ? Error::failed : 0;
    for (const Shown& shown : shown_) {
        if (!shown.trace->reader().damaged())
            continue;
        shown.trace->finish_damage();
        say(fmt::format("trapline: {} is damaged: what can be read was read\n",
                        escaped(shown.trace->name())));
        status = Error::failed;
    }
    return status;
}

} // namespace

int report_command(const std::vector<std::string>& arguments) {
    const ReportOptions options = parse_report_options(arguments);
    if (options.help) {
        std::fputs(report_help().c_str(), stdout);
        return 0;
    }
    for (const std::string& warning : options.warnings)
        say(fmt::format("trapline: {}\n", warning));
    try {
        return Report(options).run();
    } catch (const OutputClosed&) {
        die_of_closed_output();
        return Error::failed; // only if the signal is blocked for good
    }
}

} // namespace trapline
