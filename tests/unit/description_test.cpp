// SPDX-License-Identifier: GPL-2.0
// A trace's description: there and back, and what is refused.
#include "trace/description.h"

#include <chrono>
#include <cstring>
#include <gtest/gtest.h>
#include <nlohmann/json.hpp>

#include "recording_fixture.h"

using namespace trapline;
using namespace trapline::test;
using Json = nlohmann::ordered_json;

namespace {

TraceDescription full_description() {
    TraceDescription out;
    out.version = "9.8.7";
    out.kernel = {"Linux", "6.1.0-13-amd64", "#1 SMP", "x86_64", "host", "b-o-o-t"};
    out.clock = {"tsc", 2'999'999'999, ClockAnchor{1, ~0ULL, 1'700'000'000'123'456'789}};
    out.overwrite = true;
    out.chunk_size = 65536;
    out.command = {"cat", "/etc/hostname", "a\"b\\c\n", "*/ /* trapline: ", ""};
    EventLayout every = layout(1, TRAPLINE_CALL, 2, true);
    every.at_entry = false;
    every.entry_fields.push_back({"small", FieldType::raw, 2});
    every.entry_fields.push_back({"faults", FieldType::faults, 4});
    every.return_fields.push_back({"return", FieldType::raw, 8});
    const auto mode = std::make_shared<const Enumeration>(
        Enumeration{"mode", false, {{"OFF", 0}, {"ALL", ~0ULL}}});
    const auto error = std::make_shared<const Enumeration>(
        Enumeration{"", true, {{"BAD", -std::uint64_t{1}}, {"GOOD", 0}}});
    every.named = true;
    every.return_fields.push_back({"fd", FieldType::raw, 4, NumberForm::signed_});
    every.return_fields.push_back({"file", FieldType::raw, 8, NumberForm::pointer});
    every.return_fields.push_back({"mode", FieldType::raw, 8, NumberForm::enumeration, mode});
    every.return_fields.push_back({"error", FieldType::raw, 2, NumberForm::enumeration, error});
    every.return_fields.push_back({"again", FieldType::raw, 8, NumberForm::enumeration, mode});
    every.return_fields.push_back({"stack", FieldType::stack});
    EventLayout ret = layout(TL_ID_MAX, TRAPLINE_RETURN, 0);
    ret.return_fields.push_back({"return", FieldType::raw, 8});
    out.layouts = {every, layout(7, TRAPLINE_ENTRY, 1), ret};
    out.probes = {
        {1, "vfs_read+0x10", "vfs_read", 16, 0xffffffff81234567, 4, TRAPLINE_TRIGGER_STOP},
        {7, "0xffff", "", 0, ~0ULL, 0, TRAPLINE_TRIGGER_ANNOUNCE},
        {TL_ID_MAX, "r:ext4:x", "ext4:x", 0, 0, 0, TRAPLINE_TRIGGER_NONE}};
    out.symbols = {{0xffffffff81000000, "_stext"}, {1, "ext4:x", 16}};
    TraceTotals& totals = out.totals.emplace();
    totals.stop = {~0ULL, 3, 4};
    totals.ended_by = "SIGINT";
    ProbeTotals probe;
    probe.id = 7;
    probe.gone = true;
    probe.counters = {1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, ~0ULL};
    trapline_pending call{.tid = 5, .tgid = 4, .age = 1ULL << 60, .comm = {}};
    std::strcpy(call.comm, "fifteen_letters");
    probe.pending = {call};
    totals.probes = {probe};
    totals.rings = {{0, 1, 2, 3, 4, 5, 6, 7}, {trace_cpus_max - 1, ~0ULL, 0, 0, 0, 0, 0, 0}};
    return out;
}

void expect_equal(const std::vector<Field>& a, const std::vector<Field>& b) {
    ASSERT_EQ(a.size(), b.size());
    for (std::size_t i = 0; i < a.size(); i++) {
        EXPECT_EQ(a[i].name, b[i].name);
        EXPECT_EQ(a[i].type, b[i].type);
        EXPECT_TRUE(a[i].type != FieldType::raw || a[i].size == b[i].size);
        EXPECT_EQ(a[i].form, b[i].form);
        ASSERT_EQ(a[i].enumeration == nullptr, b[i].enumeration == nullptr);
        if (!a[i].enumeration)
            continue;
        EXPECT_EQ(a[i].enumeration->name, b[i].enumeration->name);
        EXPECT_EQ(a[i].enumeration->is_signed, b[i].enumeration->is_signed);
        ASSERT_EQ(a[i].enumeration->values.size(), b[i].enumeration->values.size());
        for (std::size_t n = 0; n < a[i].enumeration->values.size(); n++) {
            EXPECT_EQ(a[i].enumeration->values[n].name, b[i].enumeration->values[n].name);
            EXPECT_EQ(a[i].enumeration->values[n].value, b[i].enumeration->values[n].value);
        }
    }
}

void expect_equal(const ClockAnchor& a, const ClockAnchor& b) {
    EXPECT_EQ(a.ticks, b.ticks);
    EXPECT_EQ(a.monotonic_ns, b.monotonic_ns);
    EXPECT_EQ(a.realtime_ns, b.realtime_ns);
}

TEST(Description, ThereAndBack) {
    const TraceDescription in = full_description();
    const TraceDescription out = parse_description(description_json(in));
    EXPECT_EQ(out.version, in.version);
    EXPECT_EQ(out.kernel.sysname, in.kernel.sysname);
    EXPECT_EQ(out.kernel.release, in.kernel.release);
    EXPECT_EQ(out.kernel.version, in.kernel.version);
    EXPECT_EQ(out.kernel.machine, in.kernel.machine);
    EXPECT_EQ(out.kernel.nodename, in.kernel.nodename);
    EXPECT_EQ(out.kernel.boot_id, in.kernel.boot_id);
    EXPECT_EQ(out.clock.name, in.clock.name);
    EXPECT_EQ(out.clock.hz, in.clock.hz);
    expect_equal(out.clock.anchor.value(), in.clock.anchor.value());
    EXPECT_EQ(out.overwrite, in.overwrite);
    EXPECT_EQ(out.chunk_size, in.chunk_size);
    EXPECT_EQ(out.command, in.command);
    ASSERT_EQ(out.layouts.size(), in.layouts.size());
    for (std::size_t i = 0; i < in.layouts.size(); i++) {
        EXPECT_EQ(out.layouts[i].id, in.layouts[i].id);
        EXPECT_EQ(out.layouts[i].name, in.layouts[i].name);
        EXPECT_EQ(out.layouts[i].kind, in.layouts[i].kind);
        EXPECT_EQ(out.layouts[i].at_entry, in.layouts[i].at_entry);
        EXPECT_EQ(out.layouts[i].named, in.layouts[i].named);
        expect_equal(out.layouts[i].entry_fields, in.layouts[i].entry_fields);
        expect_equal(out.layouts[i].return_fields, in.layouts[i].return_fields);
    }
    ASSERT_EQ(out.probes.size(), in.probes.size());
    for (std::size_t i = 0; i < in.probes.size(); i++) {
        EXPECT_EQ(out.probes[i].id, in.probes[i].id);
        EXPECT_EQ(out.probes[i].text, in.probes[i].text);
        EXPECT_EQ(out.probes[i].symbol, in.probes[i].symbol);
        EXPECT_EQ(out.probes[i].offset, in.probes[i].offset);
        EXPECT_EQ(out.probes[i].address, in.probes[i].address);
        EXPECT_EQ(out.probes[i].maxactive, in.probes[i].maxactive);
        EXPECT_EQ(out.probes[i].trigger, in.probes[i].trigger);
    }
    ASSERT_EQ(out.symbols.size(), 2U);
    EXPECT_EQ(out.symbols[0].address, 0xffffffff81000000U);
    EXPECT_EQ(out.symbols[0].size, 0U);
    EXPECT_EQ(out.symbols[1].name, "ext4:x");
    EXPECT_EQ(out.symbols[1].size, 16U);
    ASSERT_TRUE(out.totals);
    expect_equal(out.totals->stop, in.totals->stop);
    EXPECT_EQ(out.totals->ended_by, "SIGINT");
    ASSERT_EQ(out.totals->probes.size(), 1U);
    EXPECT_EQ(out.totals->probes[0].id, 7);
    EXPECT_TRUE(out.totals->probes[0].gone);
    EXPECT_EQ(std::memcmp(&out.totals->probes[0].counters, &in.totals->probes[0].counters,
                          sizeof(trapline_counters)),
              0);
    ASSERT_EQ(out.totals->probes[0].pending.size(), 1U);
    EXPECT_EQ(std::memcmp(&out.totals->probes[0].pending[0], &in.totals->probes[0].pending[0],
                          sizeof(trapline_pending)),
              0);
    EXPECT_TRUE(out.totals->probes[0].pending_known);
    ASSERT_EQ(out.totals->rings.size(), 2U);
    EXPECT_EQ(
        std::memcmp(out.totals->rings.data(), in.totals->rings.data(), 2 * sizeof(RingTotals)), 0);
}

TEST(Description, FormsOfListsThereAndBack) {
    EventLayout layout{.id = 1,
                       .name = "f",
                       .kind = TRAPLINE_ENTRY,
                       .at_entry = true,
                       .named = true,
                       .entry_fields = {{"a->b[0:4]", FieldType::bytes, 8, NumberForm::hex},
                                        {"ip6", FieldType::bytes, 8, NumberForm::ip6},
                                        {"mac", FieldType::bytes, 8, NumberForm::mac},
                                        {"ip4", FieldType::raw, 4, NumberForm::ip4},
                                        {"c", FieldType::raw, 1, NumberForm::character},
                                        {"e", FieldType::raw, 8, NumberForm::error},
                                        {"at", FieldType::raw, 8, NumberForm::symbol},
                                        {"by", FieldType::raw, 8, NumberForm::caller}},
                       .return_fields = {}};
    expect_equal(parse_layout(layout_json(layout)).entry_fields, layout.entry_fields);
    // Each has its own.
    const auto refused = [](Field field) {
        const EventLayout one{.id = 1, .name = "f", .entry_fields = {field}, .return_fields = {}};
        EventLayout entry = one;
        entry.kind = TRAPLINE_ENTRY;
        try {
            parse_layout(layout_json(entry));
        } catch (const Error& error) {
            return std::string(error.what());
        }
        return std::string();
    };
    EXPECT_TRUE(refused({"a", FieldType::raw, 8, NumberForm::ip6})
                    .ends_with("entry[0].form is a form of bytes, and this is a number"));
    EXPECT_TRUE(refused({"a", FieldType::bytes, 8, NumberForm::ip4})
                    .ends_with("entry[0].form is a form of numbers, and these are bytes"));
}

TEST(Description, WhatIsNotKnownStaysUnknown) {
    const TraceDescription out = parse_description(description_json({}));
    EXPECT_FALSE(out.clock.anchor);
    EXPECT_FALSE(out.totals);
    EXPECT_EQ(out.version, TRAPLINE_VERSION);
    EXPECT_TRUE(out.layouts.empty());

    TraceDescription in = full_description();
    in.totals->probes[0].pending_known = false;
    const TraceDescription untold = parse_description(description_json(in));
    EXPECT_FALSE(untold.totals->probes[0].pending_known);
    EXPECT_TRUE(untold.totals->probes[0].pending.empty());
}

TEST(Description, IsOneLineOfAscii) {
    TraceDescription in;
    in.command = {"caf\xc3\xa9", "no \xff utf-8", "\033[31m\n"};
    const std::string json = description_json(in);
    EXPECT_TRUE(std::all_of(json.begin(), json.end(), [](char c) { return c >= ' ' && c <= '~'; }));
    const TraceDescription out = parse_description(json);
    EXPECT_EQ(out.command[0], in.command[0]);
    EXPECT_EQ(out.command[1], "no \xef\xbf\xbd utf-8");
    EXPECT_EQ(out.command[2], in.command[2]);
}

// A command's name may be any bytes; as U+FFFD they take more room than the kernel has.
TEST(Description, ATasksNameThatIsNoText) {
    TraceDescription in = full_description();
    std::memset(in.totals->probes[0].pending[0].comm, 0xff, 15);
    const TraceDescription out = parse_description(description_json(in));
    EXPECT_EQ(std::string(out.totals->probes[0].pending[0].comm).substr(0, 3), "\xef\xbf\xbd");
    EXPECT_EQ(out.totals->probes[0].pending[0].comm[15], '\0');
}

// Two fields of one enum: its names are there once, and theirs again afterwards.
TEST(Description, EnumsAreShared) {
    const std::string text = description_json(full_description());
    EXPECT_EQ(text.find("\"ALL\""), text.rfind("\"ALL\""));
    const TraceDescription out = parse_description(text);
    const std::vector<Field>& fields = out.layouts[0].return_fields;
    EXPECT_EQ(fields[3].enumeration, fields[5].enumeration);
}

struct Refusal {
    const char* place; // a JSON pointer
    Json value;
    const char* error; // behind "the trace's description can't be used: "
};

std::string refusal(const Json& document) {
    const std::string begin = "the trace's description can't be used: ";
    const std::string error = error_of([&] { parse_description(document.dump()); });
    EXPECT_TRUE(error.starts_with(begin) || error.empty()) << error;
    return error.substr(std::min(begin.size(), error.size()));
}

TEST(Description, EveryFieldIsChecked) {
    const std::string long_name(2000, 'x');
    const std::vector<Refusal> refusals = {
        {"/format", 2, "format is 2, and must be 1 to 1"},
        {"/version", 1, "version is no string"},
        {"/version", std::string("a\0b", 3), "version has a NUL in it"},
        {"/version", long_name, "version has 2000 bytes, and 256 are the most"},
        {"/kernel", Json::array(), "kernel is no object"},
        {"/kernel/release", nullptr, "kernel.release is no string"},
        {"/clock/name", "", "clock.name is empty"},
        {"/clock/hz", 0, "clock.hz is 0, and must be 1 to 18446744073709551615"},
        {"/clock/hz", -1, "clock.hz is no whole number"},
        {"/clock/hz", 1.5, "clock.hz is no whole number"},
        {"/clock/start/ticks", "1", "clock.start.ticks is no whole number"},
        {"/overwrite", 1, "overwrite is neither true nor false"},
        {"/chunk_size", 65537, "chunk_size is 65537, and must be 0 to 65536"},
        {"/command", "cat", "command is no array"},
        {"/command/1", 7, "command[1] is no string"},
        {"/events", Json::object(), "events is no array"},
        {"/events/0/id", 0, "events[0].id is 0, and must be 1 to 65533"},
        {"/events/0/id", TL_ID_MARK, "events[0].id is 65534, and must be 1 to 65533"},
        {"/events/1/id", 1, "events[1].id is 1, as one before"},
        {"/events/0/name", "", "events[0].name is empty"},
        {"/events/0/name", "\033[2J", "events[0].name has characters that are not printable ASCII"},
        {"/events/0/name", long_name, "events[0].name has 2000 bytes, and 1024 are the most"},
        {"/events/0/kind", "jump", "events[0].kind is none of entry, return, call"},
        {"/events/0/at_entry", 1, "events[0].at_entry is neither true nor false"},
        {"/events/0/entry/0", "", "events[0].entry[0] is empty"},
        {"/events/0/entry/0", 5, "events[0].entry[0] is no object"},
        {"/events/0/entry/3/size", 3, "events[0].entry[3].size is 3, and must be 1, 2, 4 or 8"},
        {"/events/0/entry/3/size", 264, "events[0].entry[3].size is 264, and must be 0 to 255"},
        {"/events/0/named", "yes", "events[0].named is neither true nor false"},
        {"/events/0/return/1/form", "octal",
         "events[0].return[1].form is none of raw, hex, unsigned, signed, bool, pointer, enum, "
         "char, errno, ip4, ip6, mac, symbol, caller"},
        {"/events/0/return/3/enum", 2, "events[0].return[3].enum is 2, and there are 2"},
        {"/events/0/return/3/enum", -1, "events[0].return[3].enum is no whole number"},
        {"/enums", 1, "enums is no array"},
        {"/enums/0/name", "\033", "enums[0].name has characters that are not printable ASCII"},
        {"/enums/1/signed", 1, "enums[1].signed is neither true nor false"},
        {"/enums/0/values/1/name", "", "enums[0].values[1].name is empty"},
        {"/enums/0/values/1/value", 1.5, "enums[0].values[1].value is no whole number"},
        {"/events/0/entry/3/type", "float",
         "events[0].entry[3].type is none of number, string, bytes, faults, stack"},
        {"/events/1/entry", std::vector<std::string>(1001, "a"),
         "events[1] has fields of 8008 bytes, and 8000 are the most"},
        {"/events/1/entry", std::vector<std::string>(2001, "a"),
         "events[1].entry has 2001 elements, and 2000 are the most"},
        {"/events/1/return", {"a"}, "events[1].return has 1 elements, and 0 are the most"},
        {"/probes/0/id", 2, "probes[0].id is 2, and no event has that"},
        {"/probes/1/id", 1, "probes[1].id is 1, as one before"},
        {"/probes/0/text", 1, "probes[0].text is no string"},
        {"/probes/0/symbol", "a\nb",
         "probes[0].symbol has characters that are not printable ASCII"},
        {"/probes/0/offset", -5, "probes[0].offset is no whole number"},
        {"/probes/0/address", 5, "probes[0].address is no string"},
        {"/probes/0/address", "ff",
         "probes[0].address is no address, such as \"0xffffffff81000000\""},
        {"/probes/0/address", "0x",
         "probes[0].address is no address, such as \"0xffffffff81000000\""},
        {"/probes/0/address", "0x12x",
         "probes[0].address is no address, such as \"0xffffffff81000000\""},
        {"/probes/0/maxactive", 1ULL << 32,
         "probes[0].maxactive is 4294967296, and must be 0 to 4294967295"},
        {"/probes/0/trigger", "no", "probes[0].trigger is none of none, announce, stop"},
        {"/symbols/0/name", "", "symbols[0].name is empty"},
        {"/symbols/1/size", -1, "symbols[1].size is no whole number"},
        {"/symbols/0/address", nullptr, "symbols[0].address is no string"},
        {"/totals/stop", nullptr, "totals.stop is no object"},
        {"/totals/ended_by", false, "totals.ended_by is no string"},
        {"/totals/probes/0/id", 8, "totals.probes[0].id is 8, and no event has that"},
        {"/totals/probes/0/gone", 0, "totals.probes[0].gone is neither true nor false"},
        {"/totals/probes/0/counters/stale", -1,
         "totals.probes[0].counters.stale is no whole number"},
        {"/totals/probes/0/pending/0/tid", 1ULL << 32,
         "totals.probes[0].pending[0].tid is 4294967296, and must be 0 to 4294967295"},
        {"/totals/probes/0/pending/0/comm", long_name,
         "totals.probes[0].pending[0].comm has 2000 bytes, and 48 are the most"},
        {"/totals/probes/0/pending", std::vector<int>(65, 0),
         "totals.probes[0].pending has 65 elements, and 64 are the most"},
        {"/totals/rings/0/cpu", 65536, "totals.rings[0].cpu is 65536, and must be 0 to 65535"},
        {"/totals/rings/0/cpu", 65535, "totals.rings[1].cpu is 65535, as one before"},
        {"/totals/rings/0/unread", "", "totals.rings[0].unread is no whole number"},
    };
    const Json good = Json::parse(description_json(full_description()));
    ASSERT_EQ(refusal(good), "");
    for (const Refusal& one : refusals) {
        Json document = good;
        document.at(Json::json_pointer(one.place)) = one.value;
        EXPECT_EQ(refusal(document), one.error) << one.place;
    }
}

// Removes each key of each object in turn: those that may be missing are known.
void without_each(Json& document, Json& at, const std::string& path, std::string& accepted) {
    if (at.is_array()) {
        for (std::size_t i = 0; i < at.size(); i++)
            without_each(document, at[i], path + "[" + std::to_string(i) + "]", accepted);
        return;
    }
    if (!at.is_object())
        return;
    const Json all = at;
    for (const auto& entry : all.items()) {
        const std::string place = (path.empty() ? "" : path + ".") + entry.key();
        at.erase(entry.key());
        const std::string error = refusal(document);
        if (error.empty())
            accepted += place + "\n";
        else if (place == "enums") // older ones have none; but fields that refer to them
            EXPECT_EQ(error, "events[0].return[3].enum is 0, and there are 0");
        else
            EXPECT_EQ(error, place + " is missing");
        at = all;
        without_each(document, at[entry.key()], place, accepted);
    }
}

TEST(Description, WhatIsMissingIsNamed) {
    Json document = Json::parse(description_json(full_description()));
    std::string accepted;
    without_each(document, document, "", accepted);
    EXPECT_EQ(accepted, "clock.start\n"
                        "events[0].return[1].form\n"
                        "events[0].return[2].form\n"
                        "events[0].return[3].form\n"
                        "events[0].return[4].form\n"
                        "events[0].return[5].form\n"
                        "events[0].named\n"
                        "symbols[1].size\n"
                        "totals\n"
                        "totals.probes[0].counters.limited\n");
}

TEST(Description, WhatIsUnknownIsPassedOver) {
    Json document = Json::parse(description_json(full_description()));
    document["later"] = {{"more", {1, 2, 3}}};
    document["events"][0]["colour"] = "red";
    EXPECT_EQ(refusal(document), "");
}

std::string parse_error(const std::string& text) {
    return error_of([&] { parse_description(text); });
}

TEST(Description, WhatIsNoJson) {
    const std::string begin = "the trace's description can't be used: ";
    EXPECT_EQ(parse_error(""), begin + "it is no JSON at byte 1");
    EXPECT_EQ(parse_error("{\"format\":1,}"), begin + "it is no JSON at byte 13");
    EXPECT_EQ(parse_error("{} {}"), begin + "it is no JSON at byte 4");
    EXPECT_EQ(parse_error("\"\xff\""), begin + "it is no JSON at byte 2");
    EXPECT_EQ(parse_error("1e999"), begin + "it is no JSON");
    EXPECT_EQ(parse_error("[]"), begin + "it is no object");
    EXPECT_EQ(parse_error("{}"), begin + "format is missing");
}

TEST(Description, NeitherDepthNorNumberTakesItDown) {
    const std::string begin = "the trace's description can't be used: ";
    const std::string deep = begin + "it is nested deeper than 16 levels";
    EXPECT_EQ(parse_error(std::string(10'000'000, '[')), deep);
    std::string objects;
    for (int i = 0; i < 100'000; i++)
        objects += "{\"a\":";
    EXPECT_EQ(parse_error(objects), deep);
    EXPECT_EQ(parse_error("[\"\\\"" + std::string(100, '[') + "\"]"), begin + "it is no object")
        << "in a string they are none";
    const std::string flat = std::string(100, '[').insert(0, "\"\\\\\",");
    EXPECT_EQ(parse_error("[" + flat), deep) << "behind a string";
    // Members that nobody asked for are not compared with each other.
    std::string members = "{\"format\":1";
    for (int i = 0; i < 300'000; i++)
        members += ",\"" + std::to_string(i) + "\":0";
    const auto begun = std::chrono::steady_clock::now();
    EXPECT_NE(parse_error(members + "}"), "");
    EXPECT_LT(std::chrono::steady_clock::now() - begun, std::chrono::seconds(20));
    std::string many = "[0";
    for (int i = 0; i < 8'388'608; i++)
        many += ",0";
    EXPECT_EQ(parse_error(many + "]"), begin + "it has more than 8388608 values");
}

} // namespace
