// SPDX-License-Identifier: GPL-2.0
// `trapline record`: plants probes, runs COMMAND, writes what the rings hold to disk.
#include "command/record.h"

#include <algorithm>
#include <array>
#include <csignal>
#include <cstdio>
#include <cstring>
#include <fmt/format.h>
#include <limits>
#include <map>
#include <poll.h>
#include <set>
#include <utility>

#include "command/map_rings.h"
#include "command/record_options.h"
#include "command/run.h"
#include "output/accounting.h"
#include "recording/chunk_writer.h"
#include "recording/flight_recorder.h"
#include "recording/trace_reader.h"
#include "trace/ctf_metadata.h"
#include "trace/fields.h"
#include "util/size.h"

namespace trapline {

namespace {

using namespace std::chrono_literals;

// How often it is looked whether the directory is still there.
constexpr auto presence_interval = 500ms;

// Of what ended a recording, in its metadata: bytes.
constexpr std::size_t cause_max = 256;

constexpr std::array more_signals{SIGUSR1};

RunPlan run_plan(const RecordOptions& options) {
    RunPlan plan;
    plan.triggers = options.triggers;
    plan.overwrite = options.overwrite;
    plan.wake_chunks = !options.overwrite;
    // What led to the signal is what a flight recorder is for.
    plan.stop_at_signal = options.overwrite;
    return plan;
}

std::uint64_t sum(std::span<const RingTotals> rings, std::uint64_t RingTotals::*term) {
    std::uint64_t total = 0;
    for (const RingTotals& ring : rings)
        total += ring.*term;
    return total;
}

// How much the metadata grows at the end, at most: every number at its longest, no call that
// is still inside.
std::uint64_t metadata_growth(TraceDescription description, std::size_t rings) {
    const std::size_t before = ctf_metadata(description).size();
    constexpr std::uint64_t most = std::numeric_limits<std::uint64_t>::max();
    TraceTotals& totals = description.totals.emplace();
    totals.stop = {most, most, most};
    totals.ended_by = std::string(cause_max, 'x');
    trapline_counters counters{};
    std::memset(&counters, 0xff, sizeof(counters));
    for (const ProbeDescription& probe : description.probes)
        totals.probes.push_back({probe.id, false, counters, {}});
    totals.rings.assign(rings, {std::numeric_limits<std::uint32_t>::max(), most, most, most, most,
                                most, most, most});
    return ctf_metadata(description).size() - before;
}

// What is held for the names of addresses, of which nobody knows how many there will be.
constexpr std::uint64_t names_room = 64 << 10;

// Those to be named.
struct Addresses {
    std::set<std::uint64_t> returned_to; // in stacks, for the most part
    std::set<std::uint64_t> others;
};

// All in what was written.
Addresses recorded_addresses(const std::string& path) {
    TraceReader reader(path, [](const std::string&) {});
    FieldValues values;
    Addresses all;
    while (const Event* event = reader.next()) {
        const EventLayout* layout = reader.layout(event->id);
        if (!decode_fields(*layout, event->fields, values))
            continue;
        if (const FieldValue* stack = stack_of(values))
            for (const std::uint64_t frame : stack_frames(*stack))
                all.returned_to.insert(frame);
        for (const std::vector<FieldValue>* half : {&values.entry, &values.ret})
            for (const FieldValue& value : *half)
                if (value.state == FieldValue::State::number && is_symbolic(*value.field))
                    (value.field->form == NumberForm::caller ? all.returned_to : all.others)
                        .insert(value.number);
    }
    return all;
}

// A recording in either mode; what differs is below.
class Record {
public:
    explicit Record(const RecordOptions& options)
        : options_(options), directory_(options.directory),
          run_(options.run, run_plan(options), more_signals) {
        run_.on_signal = [this](int number) { return use_of(number); };
    }
    Record(const Record&) = delete;
    Record& operator=(const Record&) = delete;
    virtual ~Record() = default;

    int run();

protected:
    virtual void begin() = 0; // before COMMAND runs
    virtual Ending wait() = 0;
    virtual Run::SignalUse use_of(int number) = 0;
    // After STOP: writes the rest, as far as it is to be written.
    virtual void write_rest(const Ending& ending, const ClockAnchor& stop) = 0;
    virtual bool wanted(const Ending&) const { return true; } // is the rest to be written?
    virtual std::vector<RingTotals> totals() = 0;

    // Whether something may end the run in the module, or announce itself.
    bool may_end() const {
        return !options_.triggers.empty() || options_.run.limit != 0 || options_.run.guard;
    }
    std::uint64_t size_limit() const; // of streams and the first metadata; 0: none
    void create();

    const RecordOptions& options_;
    RecordingDirectory directory_;
    Run run_;
    std::vector<RingMapping> rings_;
    std::uint64_t growth_ = 0; // bytes that the metadata may still grow by
    bool full_ = false;        // --max-size was reached

private:
    void conclude(Ending& ending, const ClockAnchor& stop, bool failed);
    void name_addresses(TraceDescription& description);
    bool too_large(const TraceDescription& description) const;
    void say_what_was_written(const Ending& ending, std::span<const RingTotals> rings) const;
};

// The directory, with room for the accounting that it is to hold.
void Record::create() {
    directory_.create();
    directory_.write_metadata(run_.description());
    directory_.reserve_metadata(directory_.size() + growth_);
}

std::uint64_t Record::size_limit() const {
    if (options_.max_size == 0)
        return 0;
    return options_.max_size > growth_ ? options_.max_size - growth_ : 1;
}

void Record::say_what_was_written(const Ending& ending, std::span<const RingTotals> rings) const {
    const std::uint64_t read = sum(rings, &RingTotals::read);
    const std::uint64_t overwritten = sum(rings, &RingTotals::overwritten);
    const std::uint64_t unread = sum(rings, &RingTotals::unread);
    if (!directory_.created()) {
        say(wanted(ending)
                ? fmt::format("trapline: nothing was written, {} recorded events are lost\n",
                              unread)
                : "trapline: nothing was written: COMMAND succeeded\n");
        return;
    }
    say(fmt::format("trapline: {}{} events in {} ({:.1f} MiB){}{}\n",
                    options_.overwrite ? "the last " : "", read, directory_.path(),
                    static_cast<double>(directory_.size()) / (1 << 20),
                    ending.cause.empty() ? "" : ", ended by ", ending.cause));
    if (overwritten != 0)
        say(fmt::format("trapline: {} older ones were overwritten\n", overwritten));
    if (unread != 0 && wanted(ending))
        say(fmt::format("trapline: {} recorded events were not written{}\n", unread,
                        full_ ? ": --max-size was reached" : ""));
}

bool Record::too_large(const TraceDescription& description) const {
    return options_.max_size != 0 &&
           directory_.streams_size() + ctf_metadata(description).size() > options_.max_size;
}

// The symbols that addresses are in, for who reads them elsewhere.
void Record::name_addresses(TraceDescription& description) {
    std::map<std::uint64_t, SymbolDescription> symbols;
    const auto add = [&](std::uint64_t address, const std::optional<Caller>& found) {
        if (!found)
            return;
        const Place& place = found->place;
        SymbolDescription& symbol = symbols[address - place.offset];
        symbol.address = address - place.offset;
        symbol.name =
            place.module.empty() ? place.symbol : fmt::format("{}:{}", place.module, place.symbol);
        symbol.size = std::max(symbol.size, found->size);
    };
    const Addresses addresses = recorded_addresses(directory_.path());
    for (const std::uint64_t address : addresses.others)
        add(address, run_.callers()->find_symbol(address));
    for (const std::uint64_t address : addresses.returned_to)
        add(address, run_.callers()->find(address));
    const std::size_t before = description.symbols.size();
    for (auto& [address, symbol] : symbols)
        description.symbols.push_back(std::move(symbol));
    if (too_large(description)) {
        description.symbols.resize(before);
        say("trapline: --max-size leaves no room for the names of addresses: they are shown as "
            "numbers\n");
    }
}

// Everything is lifted by now.
void Record::conclude(Ending& ending, const ClockAnchor& stop, bool failed) {
    if (!failed)
        write_rest(ending, stop);
    if (full_)
        ending.cause = "--max-size";
    if (!directory_.created())
        return;
    TraceDescription description = run_.description();
    TraceTotals& totals = description.totals.emplace();
    totals.stop = stop;
    totals.ended_by = ending.cause;
    if (run_.silenced_ns())
        totals.ended_by =
            fmt::format("{}; {}", silenced_text(*run_.silenced_ns()), totals.ended_by);
    totals.ended_by.resize(std::min(totals.ended_by.size(), cause_max));
    totals.rings = this->totals();
    for (const ProbeReport& report : run_.reports())
        totals.probes.push_back({report.event_id, report.lifted, report.counters, report.pending,
                                 report.pending_known});
    // For so many calls inside there is no room in --max-size; they are printed all the same.
    if (too_large(description))
        for (ProbeTotals& probe : totals.probes)
            probe.pending.clear();
    if (run_.callers() != nullptr)
        name_addresses(description);
    directory_.write_metadata(description);
}

void say_error(const Error& error) {
    say(complaint(error.what(), error.hint()));
}

int Record::run() {
    run_.prepare();
    run_.start();
    rings_ = map_rings(run_.session(), run_.cpus());
    growth_ = metadata_growth(run_.description(), rings_.size());
    if (run_.callers() != nullptr)
        growth_ +=
            options_.max_size == 0 ? names_room : std::min(names_room, options_.max_size / 4);
    begin();
    Ending ending;
    bool failed = false;
    try {
        run_.let_go("recording");
        ending = wait();
    } catch (const CommandError&) {
        if (directory_.created())
            directory_.withdraw();
        throw;
    } catch (const Error& error) {
        say_error(error);
        ending.cause = error.what();
        failed = true;
    }
    try {
        const ClockAnchor stop = run_.stop();
        // What it would have done is done.
        run_.on_signal = [](int number) {
            return number == SIGUSR1 ? Run::SignalUse::handled : Run::SignalUse::usual;
        };
        conclude(ending, stop, failed);
    } catch (const Error& error) {
        say_error(error);
        failed = true;
    }
    const std::vector<RingTotals> rings = totals();
    const bool unread = sum(rings, &RingTotals::unread) != 0 && wanted(ending);
    const bool lost = run_.account() || unread;
    say_what_was_written(ending, rings);
    if (failed) {
        run_.say_command_goes_on();
        return Error::failed;
    }
    if (lost)
        say("trapline: warning: events were lost\n");
    if (!ending.too_much.empty()) {
        run_.say_command_goes_on();
        throw Error(ending.too_much, std::string(guard_hint));
    }
    return run_.finish(ending, lost);
}

// Every record goes to disk, as soon as its chunk is finished.
class Continuous : public Record {
public:
    using Record::Record;

private:
    void begin() override {
        create();
        writer_.emplace(memory_of(rings_), directory_, size_limit());
    }

    Ending wait() override {
        const Watch session{
            run_.session().fd(), POLLIN | POLLPRI,
            [this](Ending& ending, short revents) { return records_came(ending, revents); }};
        return run_.wait({&session, 1},
                         {presence_interval, [this] { directory_.check_present(); }});
    }

    bool records_came(Ending& ending, short revents) {
        if (!writer_->write_finished()) {
            full_ = true;
            return true;
        }
        return (revents & POLLPRI) != 0 && run_.ended(ending);
    }

    Run::SignalUse use_of(int number) override {
        return number == SIGUSR1 ? Run::SignalUse::ends : Run::SignalUse::usual;
    }

    void write_rest(const Ending&, const ClockAnchor& stop) override {
        if (!writer_->write_rest(stop))
            full_ = true;
    }

    std::vector<RingTotals> totals() override { return writer_->totals(); }

    std::optional<ChunkWriter> writer_;
};

// The last events of every CPU, when something makes them worth having.
class Flight : public Record {
public:
    using Record::Record;

private:
    void begin() override {
        recorder_.emplace(memory_of(rings_), run_.layouts(), directory_, size_limit());
        // The last events are those of every ring, or they are not the last.
        if (!has_room(ctf_metadata(run_.description()).size()))
            throw Error(fmt::format("--max-size: {} is less than the rings hold: {} of {}",
                                    format_size(options_.max_size), rings_.size(),
                                    format_size(rings_.front().memory().size)),
                        "allow more, or take a smaller --buffer-size");
    }

    // For all that the rings can hold, behind `size` bytes.
    bool has_room(std::uint64_t size) const {
        return options_.max_size == 0 ||
               size + rings_.size() * rings_.front().memory().size <= size_limit();
    }

    Ending wait() override {
        std::vector<Watch> watches;
        if (may_end()) // else its timer would run for nothing
            watches.push_back({run_.session().fd(), POLLPRI,
                               [this](Ending& ending, short) { return trigger_hit(ending); }});
        for (;;) {
            Ending ending = run_.wait(watches, {presence_interval, [this] {
                                                    if (directory_.created())
                                                        directory_.check_present();
                                                }});
            if (!ending.by_command || ending.status == 0 || !options_.snapshot_on_failure)
                return ending;
            if (!snapshot(ending.cause))
                return ending;
            say("trapline: COMMAND failed; the recording goes on; Ctrl-C ends\n");
        }
    }

    bool trigger_hit(Ending& ending) {
        if (run_.ended(ending))
            return true;
        return !snapshot("--snapshot-on");
    }

    // False: the recording would be larger than it may.
    bool snapshot(std::string_view cause) {
        run_.session().sync();
        if (!write_new())
            return false;
        say(fmt::format("trapline: snapshot in {}: {}\n", directory_.path(), cause));
        full_ = !has_room(directory_.size());
        return !full_;
    }

    bool write_new() {
        if (!directory_.created())
            create();
        if (!recorder_->write_new())
            full_ = true;
        return !full_;
    }

    Run::SignalUse use_of(int number) override {
        const bool wanted = (number == SIGINT && options_.snapshot_on_interrupt) ||
                            (number == SIGUSR1 && options_.snapshot_on_usr1);
        if (wanted)
            return snapshot(number == SIGINT ? "SIGINT" : "SIGUSR1") ? Run::SignalUse::handled
                                                                     : Run::SignalUse::ends;
        return number == SIGUSR1 ? Run::SignalUse::ends : Run::SignalUse::usual;
    }

    // COMMAND that did what it should is no reason.
    bool wanted(const Ending& ending) const override {
        return !(ending.by_command && ending.status == 0);
    }

    void write_rest(const Ending& ending, const ClockAnchor&) override {
        if (wanted(ending))
            write_new();
    }

    std::vector<RingTotals> totals() override { return recorder_->totals(); }

    std::optional<FlightRecorder> recorder_;
};

} // namespace

int record_command(const std::vector<std::string>& arguments) {
    const RecordOptions options = parse_record_options(arguments);
    if (options.help) {
        std::fputs(record_help().c_str(), stdout);
        return 0;
    }
    if (options.overwrite)
        return Flight(options).run();
    return Continuous(options).run();
}

} // namespace trapline
