// SPDX-License-Identifier: GPL-2.0
// All that is known of a trace besides its records, as JSON, and read back from JSON that
// anybody may have written.
#include "trace/description.h"

#include <algorithm>
#include <array>
#include <charconv>
#include <fmt/format.h>
#include <iterator>
#include <limits>
#include <map>
#include <nlohmann/json.hpp>
#include <type_traits>
#include <utility>

#include "util/error.h"

namespace trapline {

namespace {

using Json = nlohmann::ordered_json; // written as it is to be read
using Parsed = nlohmann::json;       // which finds members without looking at all of them

// Raised when old readers would misread something; what they don't know, they pass over.
constexpr std::uint64_t format_number = 1;

constexpr std::array<std::string_view, TRAPLINE_KINDS> kind_names{"entry", "return", "call"};
constexpr std::array<std::string_view, TRAPLINE_TRIGGERS> trigger_names{"none", "announce", "stop"};
constexpr std::array<std::string_view, 5> type_names{"number", "string", "bytes", "faults",
                                                     "stack"};
constexpr std::array<std::string_view, 14> form_names{
    "raw",  "hex",   "unsigned", "signed", "bool", "pointer", "enum",
    "char", "errno", "ip4",      "ip6",    "mac",  "symbol",  "caller"};

struct Counter {
    std::string_view name;
    __u64 trapline_counters::*member;
};

constexpr std::array<Counter, 13> counters{{
    {"hits", &trapline_counters::hits},
    {"recorded", &trapline_counters::recorded},
    {"filtered", &trapline_counters::filtered},
    {"lost_full", &trapline_counters::lost_full},
    {"lost_nested", &trapline_counters::lost_nested},
    {"lost_too_big", &trapline_counters::lost_too_big},
    {"entered", &trapline_counters::entered},
    {"returned", &trapline_counters::returned},
    {"late", &trapline_counters::late},
    {"stale", &trapline_counters::stale},
    {"missed_recursion", &trapline_counters::missed_recursion},
    {"missed_maxactive", &trapline_counters::missed_maxactive},
    {"limited", &trapline_counters::limited},
}};
static_assert(sizeof(trapline_counters) == counters.size() * sizeof(__u64));

// Longest texts, in bytes.
constexpr std::size_t name_max = 1024;       // of events: a symbol with an offset
constexpr std::size_t field_name_max = 512;  // of fields, and the clock
constexpr std::size_t text_max = 4096;       // a probe as typed
constexpr std::size_t argument_max = 393216; // the kernel's limit of one, with 3 bytes for each
constexpr std::size_t identity_max = 256;    // what uname tells has 64

// Most elements.
constexpr std::size_t enums_max = 65535;
constexpr std::size_t enumerators_max = 65536; // of one
constexpr std::size_t arguments_max = std::size_t{1} << 20;
constexpr std::size_t symbols_max = std::size_t{1} << 20;
constexpr std::size_t values_max = std::size_t{1} << 23; // of all kinds, which take memory

// ---- to JSON

// As text: most readers of JSON lose what is beyond 2^53.
std::string address_text(std::uint64_t address) {
    return fmt::format("{:#x}", address);
}

Json to_json(const ClockAnchor& anchor) {
    return {{"ticks", anchor.ticks},
            {"monotonic_ns", anchor.monotonic_ns},
            {"realtime_ns", anchor.realtime_ns}};
}

Json to_json(const KernelIdentity& kernel) {
    return {{"sysname", kernel.sysname},   {"release", kernel.release},
            {"version", kernel.version},   {"machine", kernel.machine},
            {"nodename", kernel.nodename}, {"boot_id", kernel.boot_id}};
}

Json to_json(const ClockDescription& clock) {
    Json object = {{"name", clock.name}, {"hz", clock.hz}};
    if (clock.anchor)
        object["start"] = to_json(*clock.anchor);
    return object;
}

template <class T>
Json to_array(const std::vector<T>& elements, Json (*convert)(const std::type_identity_t<T>&)) {
    Json array = Json::array();
    for (const T& element : elements)
        array.push_back(convert(element));
    return array;
}

// Fields share enumerations, which may have thousands of names.
class LayoutWriter {
public:
    Json events(const std::vector<EventLayout>& layouts) {
        Json array = Json::array();
        for (const EventLayout& layout : layouts)
            array.push_back(event(layout));
        return array;
    }

    // Those of the events so far.
    Json enums() const {
        Json array = Json::array();
        for (const Enumeration* enumeration : enums_) {
            Json values = Json::array();
            for (const EnumValue& value : enumeration->values)
                values.push_back(
                    Json{{"name", value.name}, {"value", number(value, *enumeration)}});
            array.push_back(Json{{"name", enumeration->name},
                                 {"signed", enumeration->is_signed},
                                 {"values", std::move(values)}});
        }
        return array;
    }

private:
    static Json number(const EnumValue& value, const Enumeration& enumeration) {
        if (enumeration.is_signed)
            return static_cast<std::int64_t>(value.value);
        return value.value;
    }

    Json event(const EventLayout& layout) {
        Json object = {{"id", layout.id},
                       {"name", layout.name},
                       {"kind", kind_names.at(layout.kind)},
                       {"at_entry", layout.at_entry},
                       {"entry", fields(layout.entry_fields)},
                       {"return", fields(layout.return_fields)}};
        if (layout.named)
            object["named"] = true;
        return object;
    }

    Json fields(const std::vector<Field>& all) {
        Json array = Json::array();
        for (const Field& one : all)
            array.push_back(field(one));
        return array;
    }

    // Most are numbers of 8 bytes: those are just their name, for a trace has thousands.
    Json field(const Field& field) {
        if (field.type == FieldType::raw && field.size == 8 && field.form == NumberForm::raw)
            return field.name;
        Json object = {{"name", field.name},
                       {"type", type_names.at(static_cast<std::size_t>(field.type))}};
        if (field.type == FieldType::bytes)
            object["form"] = form_names.at(static_cast<std::size_t>(field.form));
        if (field.type != FieldType::raw)
            return object;
        object["size"] = field.size;
        if (field.form != NumberForm::raw)
            object["form"] = form_names.at(static_cast<std::size_t>(field.form));
        if (field.form == NumberForm::enumeration && field.enumeration)
            object["enum"] = place(field.enumeration.get());
        return object;
    }

    std::size_t place(const Enumeration* enumeration) {
        const auto [known, added] = places_.emplace(enumeration, enums_.size());
        if (added)
            enums_.push_back(enumeration);
        return known->second;
    }

    std::vector<const Enumeration*> enums_;
    std::map<const Enumeration*, std::size_t> places_;
};

Json to_json(const ProbeDescription& probe) {
    return {{"id", probe.id},
            {"text", probe.text.substr(0, text_max)},
            {"symbol", probe.symbol},
            {"offset", probe.offset},
            {"address", address_text(probe.address)},
            {"maxactive", probe.maxactive},
            {"trigger", trigger_names.at(probe.trigger)}};
}

Json to_json(const SymbolDescription& symbol) {
    Json object = {{"address", address_text(symbol.address)}, {"name", symbol.name}};
    if (symbol.size != 0)
        object["size"] = symbol.size;
    return object;
}

Json to_json(const trapline_pending& call) {
    const std::string_view comm(call.comm, sizeof(call.comm));
    return {{"tid", call.tid},
            {"tgid", call.tgid},
            {"age_ns", call.age},
            {"comm", comm.substr(0, comm.find('\0'))}};
}

Json to_json(const ProbeTotals& probe) {
    Json counts = Json::object();
    for (const Counter& counter : counters)
        counts[std::string(counter.name)] = probe.counters.*counter.member;
    return {{"id", probe.id},
            {"gone", probe.gone},
            {"counters", std::move(counts)},
            {"pending", probe.pending_known ? to_array(probe.pending, to_json) : Json()}};
}

Json to_json(const RingTotals& ring) {
    return {{"cpu", ring.cpu},
            {"written", ring.written},
            {"lost_full", ring.lost_full},
            {"lost_nested", ring.lost_nested},
            {"lost_too_big", ring.lost_too_big},
            {"read", ring.read},
            {"overwritten", ring.overwritten},
            {"unread", ring.unread}};
}

Json to_json(const TraceTotals& totals) {
    return {{"stop", to_json(totals.stop)},
            {"ended_by", totals.ended_by.substr(0, text_max)},
            {"probes", to_array(totals.probes, to_json)},
            {"rings", to_array(totals.rings, to_json)}};
}

// ---- from JSON

// A value and its place, which errors name: "events[3].entry[0].size".
class Value {
public:
    explicit Value(const Parsed& json) : json_(json) {}

    Value at(const char* key) const {
        const std::optional<Value> value = find(key);
        if (!value)
            Value(json_, this, key, 0).fail("is missing");
        return *value;
    }

    std::optional<Value> find(const char* key) const {
        if (!json_.is_object())
            fail("is no object");
        const auto found = json_.find(key);
        if (found == json_.end())
            return std::nullopt;
        return Value(*found, this, key, 0);
    }

    template <class Visitor>
    void each(std::size_t most, Visitor&& visit) const {
        if (!json_.is_array())
            fail("is no array");
        if (json_.size() > most)
            fail(fmt::format("has {} elements, and {} are the most", json_.size(), most));
        for (std::size_t i = 0; i < json_.size(); i++)
            visit(Value(json_[i], this, nullptr, i));
    }

    template <class T = std::uint64_t>
    T number(std::uint64_t least = 0, std::uint64_t most = std::numeric_limits<T>::max()) const {
        if (!json_.is_number_unsigned())
            fail("is no whole number");
        const auto value = json_.get<std::uint64_t>();
        if (value < least || value > most)
            fail(fmt::format("is {}, and must be {} to {}", value, least, most));
        return static_cast<T>(value);
    }

    // Two's complement.
    std::uint64_t integer() const {
        if (!json_.is_number_integer())
            fail("is no whole number");
        return json_.is_number_unsigned() ? json_.get<std::uint64_t>()
                                          : static_cast<std::uint64_t>(json_.get<std::int64_t>());
    }

    bool flag() const {
        if (!json_.is_boolean())
            fail("is neither true nor false");
        return json_.get<bool>();
    }

    bool is_text() const { return json_.is_string(); }
    bool is_null() const { return json_.is_null(); }

    const std::string& text(std::size_t most) const {
        if (!json_.is_string())
            fail("is no string");
        const auto& value = json_.get_ref<const std::string&>();
        if (value.size() > most)
            fail(fmt::format("has {} bytes, and {} are the most", value.size(), most));
        if (value.find('\0') != std::string::npos)
            fail("has a NUL in it");
        return value;
    }

    // What is shown as it is: no terminal may obey it.
    const std::string& printable(std::size_t most) const {
        const std::string& value = text(most);
        if (!std::all_of(value.begin(), value.end(), [](char c) { return c >= ' ' && c <= '~'; }))
            fail("has characters that are not printable ASCII");
        return value;
    }

    const std::string& name(std::size_t most) const {
        const std::string& value = printable(most);
        if (value.empty())
            fail("is empty");
        return value;
    }

    std::uint64_t address() const {
        const std::string& value = text(18);
        std::uint64_t number = 0;
        const char* end = value.data() + value.size();
        if (value.starts_with("0x")) {
            const auto read = std::from_chars(value.data() + 2, end, number, 16);
            if (read.ec == std::errc() && read.ptr == end)
                return number;
        }
        fail("is no address, such as \"0xffffffff81000000\"");
    }

    // The place of a text among `names`.
    template <std::size_t n>
    std::size_t one_of(const std::array<std::string_view, n>& names) const {
        const std::string& value = text(name_max);
        const auto found = std::find(names.begin(), names.end(), value);
        if (found == names.end())
            fail(fmt::format("is none of {}", fmt::join(names, ", ")));
        return static_cast<std::size_t>(found - names.begin());
    }

    [[noreturn]] void fail(std::string_view why) const {
        const std::string place = path();
        throw Error(fmt::format("the trace's description can't be used: {} {}",
                                place.empty() ? "it" : place, why),
                    "it was damaged, or made by another version of trapline");
    }

private:
    Value(const Parsed& json, const Value* parent, const char* key, std::size_t index)
        : json_(json), parent_(parent), key_(key), index_(index) {}

    std::string path() const {
        if (parent_ == nullptr)
            return {};
        const std::string before = parent_->path();
        if (key_ == nullptr)
            return fmt::format("{}[{}]", before, index_);
        return before.empty() ? key_ : fmt::format("{}.{}", before, key_);
    }

    const Parsed& json_;
    const Value* parent_ = nullptr; // outlives it
    const char* key_ = nullptr;     // null: an array's element
    std::size_t index_ = 0;
};

// Each id once, and only those that are allowed.
class Ids {
public:
    explicit Ids(std::size_t count) : seen_(count) {}

    template <class T>
    void claim(T id, const Value& value) {
        if (seen_.at(id))
            value.fail(fmt::format("is {}, as one before", id));
        seen_[id] = true;
    }

    bool has(std::size_t id) const { return seen_[id]; }

private:
    std::vector<bool> seen_;
};

ClockAnchor parse_anchor(const Value& value) {
    ClockAnchor anchor;
    anchor.ticks = value.at("ticks").number();
    anchor.monotonic_ns = value.at("monotonic_ns").number();
    anchor.realtime_ns = value.at("realtime_ns").number();
    return anchor;
}

KernelIdentity parse_kernel(const Value& value) {
    KernelIdentity kernel;
    kernel.sysname = value.at("sysname").text(identity_max);
    kernel.release = value.at("release").text(identity_max);
    kernel.version = value.at("version").text(identity_max);
    kernel.machine = value.at("machine").text(identity_max);
    kernel.nodename = value.at("nodename").text(identity_max);
    kernel.boot_id = value.at("boot_id").text(identity_max);
    return kernel;
}

ClockDescription parse_clock(const Value& value) {
    ClockDescription clock;
    clock.name = value.at("name").name(field_name_max);
    clock.hz = value.at("hz").number(1);
    if (const auto start = value.find("start"))
        clock.anchor = parse_anchor(*start);
    return clock;
}

using Enums = std::vector<std::shared_ptr<const Enumeration>>;

std::shared_ptr<const Enumeration> parse_enum(const Value& value) {
    auto enumeration = std::make_shared<Enumeration>();
    enumeration->name = value.at("name").printable(field_name_max);
    enumeration->is_signed = value.at("signed").flag();
    value.at("values").each(enumerators_max, [&](const Value& element) {
        enumeration->values.push_back(
            {element.at("name").name(field_name_max), element.at("value").integer()});
    });
    return enumeration;
}

// Recordings from before there were types have none.
Enums parse_enums(const Value& value) {
    Enums enums;
    if (const auto all = value.find("enums"))
        all->each(enums_max, [&](const Value& element) { enums.push_back(parse_enum(element)); });
    return enums;
}

bool is_of_bytes(NumberForm form) {
    return form == NumberForm::ip6 || form == NumberForm::mac;
}

NumberForm parse_number_form(const Value& value) {
    const auto form = static_cast<NumberForm>(value.one_of(form_names));
    if (is_of_bytes(form))
        value.fail("is a form of bytes, and this is a number");
    return form;
}

NumberForm parse_bytes_form(const Value& value) {
    const auto form = static_cast<NumberForm>(value.one_of(form_names));
    if (!is_of_bytes(form) && form != NumberForm::hex)
        value.fail("is a form of numbers, and these are bytes");
    return form;
}

Field parse_field(const Value& value, const Enums& enums) {
    Field field;
    if (value.is_text()) {
        field.name = value.name(field_name_max);
        return field;
    }
    field.name = value.at("name").name(field_name_max);
    field.type = static_cast<FieldType>(value.at("type").one_of(type_names));
    if (field.type == FieldType::bytes)
        field.form = parse_bytes_form(value.at("form"));
    if (field.type != FieldType::raw)
        return field;
    const Value size = value.at("size");
    field.size = size.number<std::uint8_t>();
    if (field.size != 1 && field.size != 2 && field.size != 4 && field.size != 8)
        size.fail(fmt::format("is {}, and must be 1, 2, 4 or 8", field.size));
    // Recordings from before there were types have none.
    if (const auto form = value.find("form"))
        field.form = parse_number_form(*form);
    if (field.form != NumberForm::enumeration)
        return field;
    const Value place = value.at("enum");
    const auto at = place.number<std::size_t>();
    if (at >= enums.size())
        place.fail(fmt::format("is {}, and there are {}", at, enums.size()));
    field.enumeration = enums[at];
    return field;
}

// Bytes in a record, at least.
std::size_t least_size(const Field& field) {
    return field.type == FieldType::raw && field.size == 8 ? 8 : 4;
}

std::vector<Field> parse_fields(const Value& value, bool may_be, const Enums& enums,
                                std::size_t& size) {
    std::vector<Field> fields;
    value.each(may_be ? TL_FIELDS_MAX / 4 : 0, [&](const Value& element) {
        fields.push_back(parse_field(element, enums));
        size += least_size(fields.back());
    });
    return fields;
}

EventLayout parse_layout(const Value& value, const Enums& enums, Ids& ids) {
    EventLayout layout;
    const Value id = value.at("id");
    layout.id = id.number<std::uint16_t>(1, TL_ID_MAX);
    ids.claim(layout.id, id);
    layout.name = value.at("name").name(name_max);
    layout.kind = static_cast<trapline_probe_kind>(value.at("kind").one_of(kind_names));
    layout.at_entry = value.at("at_entry").flag();
    std::size_t size = layout.kind == TRAPLINE_CALL ? sizeof(std::uint64_t) : 0;
    if (const auto named = value.find("named"))
        layout.named = named->flag();
    layout.entry_fields = parse_fields(value.at("entry"), true, enums, size);
    layout.return_fields =
        parse_fields(value.at("return"), layout.kind != TRAPLINE_ENTRY, enums, size);
    if (size > TL_FIELDS_MAX)
        value.fail(fmt::format("has fields of {} bytes, and {} are the most", size, TL_FIELDS_MAX));
    return layout;
}

// An id that has a layout.
std::uint16_t parse_id(const Value& value, Ids& ids, const Ids& layouts) {
    const auto id = value.number<std::uint16_t>(1, TL_ID_MAX);
    ids.claim(id, value);
    if (!layouts.has(id))
        value.fail(fmt::format("is {}, and no event has that", id));
    return id;
}

ProbeDescription parse_probe(const Value& value, Ids& ids, const Ids& layouts) {
    ProbeDescription probe;
    probe.id = parse_id(value.at("id"), ids, layouts);
    probe.text = value.at("text").text(text_max);
    probe.symbol = value.at("symbol").printable(TRAPLINE_SYMBOL_MAX);
    probe.offset = value.at("offset").number();
    probe.address = value.at("address").address();
    probe.maxactive = value.at("maxactive").number<std::uint32_t>();
    probe.trigger = static_cast<trapline_trigger>(value.at("trigger").one_of(trigger_names));
    return probe;
}

trapline_pending parse_pending(const Value& value) {
    trapline_pending call{};
    call.tid = value.at("tid").number<std::uint32_t>();
    call.tgid = value.at("tgid").number<std::uint32_t>();
    call.age = value.at("age_ns").number();
    // Longer than it was in the kernel where bytes of it were no UTF-8.
    const std::string& comm = value.at("comm").text(3 * sizeof(call.comm));
    std::copy_n(comm.begin(), std::min(comm.size(), sizeof(call.comm) - 1), std::begin(call.comm));
    return call;
}

ProbeTotals parse_probe_totals(const Value& value, Ids& ids, const Ids& layouts) {
    ProbeTotals probe;
    probe.id = parse_id(value.at("id"), ids, layouts);
    probe.gone = value.at("gone").flag();
    const Value counts = value.at("counters");
    for (const Counter& counter : counters) {
        // Older recordings had no limits.
        const bool may_miss = counter.member == &trapline_counters::limited;
        if (!may_miss || counts.find(counter.name.data()))
            probe.counters.*counter.member = counts.at(counter.name.data()).number();
    }
    const Value pending = value.at("pending");
    probe.pending_known = !pending.is_null();
    if (probe.pending_known)
        pending.each(TRAPLINE_PENDING_MAX, [&](const Value& element) {
            probe.pending.push_back(parse_pending(element));
        });
    return probe;
}

RingTotals parse_ring_totals(const Value& value, Ids& cpus) {
    RingTotals ring;
    const Value cpu = value.at("cpu");
    ring.cpu = cpu.number<std::uint32_t>(0, trace_cpus_max - 1);
    cpus.claim(ring.cpu, cpu);
    ring.written = value.at("written").number();
    ring.lost_full = value.at("lost_full").number();
    ring.lost_nested = value.at("lost_nested").number();
    ring.lost_too_big = value.at("lost_too_big").number();
    ring.read = value.at("read").number();
    ring.overwritten = value.at("overwritten").number();
    ring.unread = value.at("unread").number();
    return ring;
}

TraceTotals parse_totals(const Value& value, const Ids& layouts) {
    TraceTotals totals;
    totals.stop = parse_anchor(value.at("stop"));
    totals.ended_by = value.at("ended_by").text(text_max);
    Ids ids(TL_ID_MAX + 1);
    value.at("probes").each(TL_ID_MAX, [&](const Value& element) {
        totals.probes.push_back(parse_probe_totals(element, ids, layouts));
    });
    Ids cpus(trace_cpus_max);
    value.at("rings").each(trace_cpus_max, [&](const Value& element) {
        totals.rings.push_back(parse_ring_totals(element, cpus));
    });
    return totals;
}

// Refuses what is deeper or more than a description is before it takes stack or memory. As far
// as the text is JSON, brackets and commas outside of strings tell; further it is not parsed.
void check_extent(std::string_view text) {
    constexpr std::size_t depth_max = 16;
    std::size_t depth = 0;
    std::size_t values = 1;
    bool in_string = false;
    for (std::size_t i = 0; i < text.size(); i++) {
        const char c = text[i];
        if (in_string && c == '\\') {
            i++;
        } else if (c == '"') {
            in_string = !in_string;
        } else if (!in_string && (c == '[' || c == '{')) {
            depth++;
            values++;
        } else if (!in_string && (c == ']' || c == '}')) {
            depth -= depth == 0 ? 0 : 1;
        } else if (!in_string && c == ',') {
            values++;
        }
        if (depth > depth_max)
            throw Error(fmt::format("the trace's description can't be used: it is nested deeper "
                                    "than {} levels",
                                    depth_max));
        if (values > values_max)
            throw Error(fmt::format("the trace's description can't be used: it has more than {} "
                                    "values",
                                    values_max));
    }
}

Parsed parse_text(std::string_view text) {
    check_extent(text);
    try {
        return Parsed::parse(text.begin(), text.end());
    } catch (const Parsed::parse_error& error) {
        throw Error(fmt::format("the trace's description can't be used: it is no JSON at byte {}",
                                error.byte));
    } catch (const Parsed::exception&) { // a number that is too large
        throw Error("the trace's description can't be used: it is no JSON");
    }
}

} // namespace

std::string description_json(const TraceDescription& description) {
    LayoutWriter writer;
    Json events = writer.events(description.layouts);
    Json object = {{"format", format_number},
                   {"version", description.version},
                   {"kernel", to_json(description.kernel)},
                   {"clock", to_json(description.clock)},
                   {"overwrite", description.overwrite},
                   {"chunk_size", description.chunk_size},
                   {"command", description.command},
                   {"enums", writer.enums()},
                   {"events", std::move(events)},
                   {"probes", to_array(description.probes, to_json)},
                   {"symbols", to_array(description.symbols, to_json)}};
    if (description.totals)
        object["totals"] = to_json(*description.totals);
    return object.dump(-1, ' ', true, Json::error_handler_t::replace);
}

TraceDescription parse_description(std::string_view json) {
    const Parsed document = parse_text(json);
    const Value root(document);
    TraceDescription out;

    root.at("format").number(format_number, format_number);
    out.version = root.at("version").text(identity_max);
    out.kernel = parse_kernel(root.at("kernel"));
    out.clock = parse_clock(root.at("clock"));
    out.overwrite = root.at("overwrite").flag();
    out.chunk_size = root.at("chunk_size").number<std::uint32_t>(0, TRAPLINE_CHUNK_MAX);
    root.at("command").each(arguments_max, [&](const Value& element) {
        out.command.push_back(element.text(argument_max));
    });
    const Enums enums = parse_enums(root);
    Ids layouts(TL_ID_MAX + 1);
    root.at("events").each(TL_ID_MAX, [&](const Value& element) {
        out.layouts.push_back(parse_layout(element, enums, layouts));
    });
    Ids probes(TL_ID_MAX + 1);
    root.at("probes").each(TL_ID_MAX, [&](const Value& element) {
        out.probes.push_back(parse_probe(element, probes, layouts));
    });
    root.at("symbols").each(symbols_max, [&](const Value& element) {
        SymbolDescription& symbol = out.symbols.emplace_back();
        symbol.address = element.at("address").address();
        symbol.name = element.at("name").name(name_max);
        if (const auto size = element.find("size"))
            symbol.size = size->number();
    });
    if (const auto totals = root.find("totals"))
        out.totals = parse_totals(*totals, layouts);
    return out;
}

std::string layout_json(const EventLayout& layout) {
    LayoutWriter writer;
    Json object = writer.events({layout}).front();
    if (Json enums = writer.enums(); !enums.empty())
        object["enums"] = std::move(enums);
    return object.dump(-1, ' ', true, Json::error_handler_t::replace);
}

EventLayout parse_layout(std::string_view json) {
    const Parsed document = parse_text(json);
    const Value root(document);
    Ids ids(TL_ID_MAX + 1);
    return parse_layout(root, parse_enums(root), ids);
}

} // namespace trapline
