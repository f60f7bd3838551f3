// SPDX-License-Identifier: GPL-2.0
// All that is known of a trace besides its records. It travels in the CTF metadata, as JSON
// in a comment, so that whoever has that text can read the trace, on any machine.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "shared/trapline.h"
#include "trace/clock.h"
#include "trace/event.h"

namespace trapline {

// No trace has more, so that whoever keeps something per CPU needs little memory for it.
constexpr std::uint32_t trace_cpus_max = 65536;

// Which kernel it was, as uname tells.
struct KernelIdentity {
    std::string sysname;
    std::string release;
    std::string version;
    std::string machine;
    std::string nodename;
    std::string boot_id; // empty: unknown
};

// Where a probe was planted.
struct ProbeDescription {
    std::uint16_t id = 0; // its layout's
    std::string text;     // as typed
    std::string symbol;   // "symbol" or "module:symbol"; empty: by address alone
    std::uint64_t offset = 0;
    std::uint64_t address = 0; // 0: hidden
    std::uint32_t maxactive = 0;
    trapline_trigger trigger = TRAPLINE_TRIGGER_NONE;
};

struct SymbolDescription {
    std::uint64_t address = 0;
    std::string name;       // "symbol" or "module:symbol"
    std::uint64_t size = 0; // bytes; 0: unknown
};

// A probe's counters at the end, as PROBE_DUMP gave them.
struct ProbeTotals {
    std::uint16_t id = 0;
    bool gone = false; // its trap was not in place at the end
    trapline_counters counters{};
    std::vector<trapline_pending> pending;
    bool pending_known = true;
};

// A ring's counters at the end, in records. In discard mode overwritten is 0:
// written = read + overwritten + unread.
struct RingTotals {
    std::uint32_t cpu = 0;
    std::uint64_t written = 0;
    std::uint64_t lost_full = 0;
    std::uint64_t lost_nested = 0;
    std::uint64_t lost_too_big = 0;
    std::uint64_t read = 0; // in the trace's files
    std::uint64_t overwritten = 0;
    std::uint64_t unread = 0; // recorded, and not written to a file
};

// Known once the trace has ended.
struct TraceTotals {
    ClockAnchor stop;
    std::string ended_by; // as Ending::cause: "SIGINT", "COMMAND (status 0)", ...
    std::vector<ProbeTotals> probes;
    std::vector<RingTotals> rings;
};

struct TraceDescription {
    std::string version = TRAPLINE_VERSION; // of the tool
    KernelIdentity kernel;
    ClockDescription clock; // its anchor is the start's
    bool overwrite = false;
    std::uint32_t chunk_size = 0;     // bytes
    std::vector<std::string> command; // empty: none
    std::vector<EventLayout> layouts; // those of probes: mark_layout() is understood
    std::vector<ProbeDescription> probes;
    std::vector<SymbolDescription> symbols; // that appear in it
    std::optional<TraceTotals> totals;      // none: the recording was killed
};

// The JSON text (ASCII, one line; bytes that are no UTF-8 come back as U+FFFD), and back. Error
// naming what is missing or wrong for a text that is no description; what it returns is safe to
// use whoever wrote the text: ids are valid and differ, probes and totals have layouts, sizes
// and kinds are known ones, records can hold the fields, and names of events, fields, symbols
// and the clock are not empty, and printable ASCII.
std::string description_json(const TraceDescription& description);
TraceDescription parse_description(std::string_view json);

// The same of one event alone.
std::string layout_json(const EventLayout& layout);
EventLayout parse_layout(std::string_view json);

} // namespace trapline
