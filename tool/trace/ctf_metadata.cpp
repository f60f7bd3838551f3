// SPDX-License-Identifier: GPL-2.0
// The CTF 1.8 description (TSDL) of what the rings hold, for babeltrace2 and its like.
#include "trace/ctf_metadata.h"

#include <algorithm>
#include <charconv>
#include <ctime>
#include <fmt/format.h>
#include <iterator>
#include <limits>
#include <map>
#include <optional>
#include <string_view>
#include <utility>

#include "shared/ring.h"
#include "util/error.h"

namespace trapline {

namespace {

// Everything is placed by hand: integers at any byte, events and fields at multiples of 4.
constexpr std::string_view types = R"(
typealias integer { size = 8; align = 8; signed = false; encoding = UTF8; } := tl_char;
typealias integer { size = 8; align = 8; signed = false; base = 16; } := tl_byte;
typealias integer { size = 16; align = 8; signed = false; } := tl_u16;
typealias integer { size = 16; align = 8; signed = false; base = 16; } := tl_x16;
typealias integer { size = 32; align = 8; signed = false; } := tl_u32;
typealias integer { size = 64; align = 8; signed = false; } := tl_u64;
typealias integer { size = 32; align = 32; signed = false; base = 16; } := tl_word;
typealias integer { size = 64; align = 32; signed = false; base = 16; } := tl_long;
typealias integer { size = 64; align = 32; signed = false; } := tl_ticks;
typealias integer { size = 32; align = 32; signed = false; } := tl_unsigned32;
typealias integer { size = 64; align = 32; signed = false; } := tl_unsigned64;
typealias integer { size = 8; align = 32; signed = true; } := tl_signed8;
typealias integer { size = 16; align = 32; signed = true; } := tl_signed16;
typealias integer { size = 32; align = 32; signed = true; } := tl_signed32;
typealias integer { size = 64; align = 32; signed = true; } := tl_signed64;
)";

// shared/record.h says that a record holds no length and that id 65535 has the full time.
constexpr std::string_view stream = R"(
typealias integer {{
	size = 32; align = 8; signed = false; map = clock.{0}.value;
}} := tl_time32;
typealias integer {{
	size = 64; align = 8; signed = false; map = clock.{0}.value;
}} := tl_time64;

struct tl_packet_context {{
	tl_time64 timestamp_begin;
	tl_time64 timestamp_end;
	tl_u64 content_size;
	tl_u64 packet_size;
	tl_u64 events_discarded;
	tl_u64 packet_seq_num;
	tl_u64 first_event;
	tl_u32 cpu_id;
}};

struct tl_event_header {{
	enum : tl_u16 {{ compact = 0 ... {1}, extended = {2} }} id;
	variant <id> {{
		struct {{
			tl_time32 timestamp;
		}} compact;
		struct {{
			tl_u32 id;
			tl_time64 timestamp;
		}} extended;
	}} v;
}} align(32);

struct tl_event_context {{
	tl_x16 _flags;
	tl_u32 _tid;
}};

stream {{
	id = {3};
	packet.context := struct tl_packet_context;
	event.header := struct tl_event_header;
	event.context := struct tl_event_context;
}};

event {{
	name = "task";
	id = {4};
	stream_id = {3};
	fields := struct {{
		tl_u32 _tgid;
		tl_char _comm[{5}];
	}} align(32);
}};
)";

std::string quoted(std::string_view text) {
    std::string out = "\"";
    for (const char c : text) {
        if (c == '"' || c == '\\')
            out += '\\';
        // A control character would end up in other people's terminals.
        out += c >= ' ' && c <= '~' ? c : '?';
    }
    return out + '"';
}

// The leading underscore keeps keywords apart; readers take it off again.
std::string identifier(std::string_view name) {
    std::string out = "_";
    for (const char c : name) {
        const bool plain =
            (c >= '0' && c <= '9') || (c >= 'A' && c <= 'Z') || (c >= 'a' && c <= 'z') || c == '_';
        out += plain ? c : '_';
    }
    return out;
}

constexpr std::uint64_t ns_per_s = 1'000'000'000;

__extension__ using Wide = unsigned __int128;
__extension__ using WideSigned = __int128;

// Other readers know one frequency: for them the measured one, where the time was long enough
// to measure it better than the kernel did.
std::uint64_t frequency(const TraceDescription& description) {
    const std::uint64_t nominal = description.clock.hz;
    if (!description.clock.anchor || !description.totals)
        return nominal;
    const ClockAnchor& start = *description.clock.anchor;
    const ClockAnchor& stop = description.totals->stop;
    if (stop.ticks <= start.ticks || stop.monotonic_ns < start.monotonic_ns ||
        stop.monotonic_ns - start.monotonic_ns < ns_per_s)
        return nominal;
    const std::uint64_t ns = stop.monotonic_ns - start.monotonic_ns;
    const auto hz =
        static_cast<std::uint64_t>((Wide{stop.ticks - start.ticks} * ns_per_s + ns / 2) / ns);
    return hz != 0 ? hz : nominal;
}

// CTF wants to know when the clock was 0, as seconds and ticks since 1970.
struct Offset {
    std::int64_t seconds = 0;
    std::uint64_t ticks = 0;
};

Offset clock_offset(const ClockAnchor& anchor, std::uint64_t hz) {
    // Apart, for their product may need more than 128 bits.
    const std::uint64_t seconds = anchor.realtime_ns / ns_per_s;
    const std::uint64_t ns = anchor.realtime_ns % ns_per_s;
    const auto now = static_cast<WideSigned>(Wide{seconds} * hz + Wide{ns} * hz / ns_per_s);
    const WideSigned zero = now - static_cast<WideSigned>(anchor.ticks);
    WideSigned zero_seconds = zero / static_cast<WideSigned>(hz);
    if (zero % static_cast<WideSigned>(hz) < 0)
        zero_seconds--;
    Offset offset;
    if (zero_seconds < std::numeric_limits<std::int64_t>::min())
        return offset;
    offset.seconds = static_cast<std::int64_t>(zero_seconds);
    offset.ticks = static_cast<std::uint64_t>(zero - zero_seconds * static_cast<WideSigned>(hz));
    return offset;
}

void append_clock(std::string& out, const TraceDescription& description, std::string_view name) {
    const ClockDescription& clock = description.clock;
    const std::uint64_t hz = frequency(description);
    const Offset offset = clock.anchor && hz != 0 ? clock_offset(*clock.anchor, hz) : Offset{};
    fmt::format_to(std::back_inserter(out),
                   "\nclock {{\n"
                   "\tname = {};\n"
                   "\tdescription = {};\n"
                   "\tfreq = {};\n"
                   "\toffset_s = {};\n"
                   "\toffset = {};\n"
                   "\tabsolute = {};\n"
                   "}};\n",
                   name, quoted(clock.name), hz, offset.seconds, offset.ticks,
                   clock.anchor ? "true" : "false");
}

// What readers of LTTng's traces look for, and show.
class EnvironmentWriter {
public:
    explicit EnvironmentWriter(std::string& out) : out_(out) {}

    void write(const TraceDescription& description) {
        out_ += "\nenv {\n";
        text("hostname", description.kernel.nodename);
        text("domain", "kernel");
        text("sysname", description.kernel.sysname);
        text("kernel_release", description.kernel.release);
        text("kernel_version", description.kernel.version);
        text("machine", description.kernel.machine);
        text("tracer_name", "trapline");
        text("tracer_version", description.version);
        version_numbers(description.version);
        if (description.clock.anchor)
            creation_time(description.clock.anchor->realtime_ns);
        out_ += "};\n";
    }

private:
    void text(std::string_view key, std::string_view value) {
        if (!value.empty())
            fmt::format_to(std::back_inserter(out_), "\t{} = {};\n", key, quoted(value));
    }

    void version_numbers(std::string_view version) {
        for (const std::string_view key : {"tracer_major", "tracer_minor", "tracer_patchlevel"}) {
            std::uint32_t number = 0;
            const char* end = version.data() + version.size();
            const auto read = std::from_chars(version.data(), end, number);
            if (read.ec != std::errc())
                return;
            fmt::format_to(std::back_inserter(out_), "\t{} = {};\n", key, number);
            version.remove_prefix(static_cast<std::size_t>(read.ptr - version.data()));
            if (!version.starts_with('.'))
                return;
            version.remove_prefix(1);
        }
    }

    void creation_time(std::uint64_t realtime_ns) {
        const auto seconds = static_cast<std::time_t>(realtime_ns / ns_per_s);
        std::tm utc{};
        if (gmtime_r(&seconds, &utc) != nullptr)
            text("trace_creation_datetime",
                 fmt::format("{:04}{:02}{:02}T{:02}{:02}{:02}+0000", utc.tm_year + 1900,
                             utc.tm_mon + 1, utc.tm_mday, utc.tm_hour, utc.tm_min, utc.tm_sec));
    }

    std::string& out_;
};

bool is_enum(const Field& field) {
    return field.form == NumberForm::enumeration && field.enumeration &&
           !field.enumeration->values.empty();
}

// A number's type, whatever names its values have. Smaller ones are stored with zeros up to 4
// bytes: without a sign they are the same number.
std::string integer_type(const Field& field) {
    if (is_signed(field))
        return fmt::format("tl_signed{}", 8 * field.size);
    if (field.form == NumberForm::raw || field.form == NumberForm::hex ||
        field.form == NumberForm::pointer || field.form == NumberForm::ip4 || is_symbolic(field))
        return field.size == 8 ? "tl_long" : "tl_word";
    return field.size == 8 ? "tl_unsigned64" : "tl_unsigned32";
}

// Each enumeration once, by the names "tl_enum0", ...
class EnumWriter {
public:
    explicit EnumWriter(std::string& out) : out_(out) {}

    void write(std::span<const EventLayout> layouts) {
        for (const EventLayout& layout : layouts)
            for (const std::vector<Field>* fields : {&layout.entry_fields, &layout.return_fields})
                for (const Field& field : *fields)
                    if (is_enum(field))
                        write(field);
    }

    const std::string& name(const Field& field) const {
        return names_.at({field.enumeration.get(), field.size});
    }

private:
    void write(const Field& field) {
        const auto [known, added] = names_.emplace(std::pair(field.enumeration.get(), field.size),
                                                   fmt::format("tl_enum{}", names_.size()));
        if (!added)
            return;
        fmt::format_to(std::back_inserter(out_), "\ntypealias enum : {} {{\n", integer_type(field));
        for (const EnumValue& value : field.enumeration->values)
            fmt::format_to(std::back_inserter(out_), "\t{} = {},\n", quoted(value.name),
                           field.enumeration->is_signed
                               ? fmt::format("{}", static_cast<std::int64_t>(value.value))
                               : fmt::format("{}", value.value));
        fmt::format_to(std::back_inserter(out_), "}} := {};\n", known->second);
    }

    std::string& out_;
    std::map<std::pair<const Enumeration*, std::uint8_t>, std::string> names_;
};

class EventWriter {
public:
    EventWriter(std::string& out, const EventLayout& layout, const EnumWriter& enums)
        : out_(out), layout_(layout), enums_(enums) {}

    void write() {
        fmt::format_to(std::back_inserter(out_),
                       "\nevent {{\n"
                       "\tname = {};\n"
                       "\tid = {};\n"
                       "\tstream_id = {};\n"
                       "\tfields := struct {{\n",
                       quoted(layout_.name), layout_.id, TL_STREAM_ID);
        write_fields(layout_.entry_fields);
        if (layout_.kind == TRAPLINE_CALL)
            append("tl_ticks", unique("duration"));
        if (layout_.kind != TRAPLINE_ENTRY)
            write_fields(layout_.return_fields);
        // The last zeros of a string or a small number belong to the record: the next begins
        // behind them, and so does the end of a packet, which a reader compares with its position.
        if (ends_in_zeros_)
            append("struct { } align(32)", unique("end"));
        out_ += "\t} align(32);\n};\n";
    }

private:
    void write_fields(std::span<const Field> fields) {
        for (const Field& field : fields)
            write_field(field);
    }

    void write_field(const Field& field) {
        const std::string name = unique(field.name);
        ends_in_zeros_ = false;
        switch (field.type) {
        case FieldType::raw:
            append(is_enum(field) ? enums_.name(field) : integer_type(field), name);
            ends_in_zeros_ = is_signed(field) && field.size < 4;
            break;
        case FieldType::faults:
            append("tl_word", name);
            break;
        case FieldType::string:
        case FieldType::bytes:
            append(
                fmt::format("struct {{ enum : tl_u16 {{ whole = {}, cut = {}, fault = {}, "
                            "null = {} }} _status; tl_u16 _length; {}[_length]; "
                            "}} align(32)",
                            TL_STR_WHOLE, TL_STR_CUT, TL_STR_FAULT, TL_STR_NULL,
                            field.type == FieldType::string ? "tl_char _text" : "tl_byte _bytes"),
                name);
            ends_in_zeros_ = true;
            break;
        case FieldType::stack:
            append(fmt::format("struct {{ enum : tl_u16 {{ whole = {}, cut = {}, fault = {} }} "
                               "_status; tl_u16 _length; tl_long _frames[_length]; }} align(32)",
                               TL_STACK_WHOLE, TL_STACK_CUT, TL_STACK_FAULT),
                   name);
            break;
        }
    }

    void append(std::string_view type, std::string_view name) {
        fmt::format_to(std::back_inserter(out_), "\t\t{} {};\n", type, name);
    }

    std::string unique(std::string_view wanted) {
        const std::string base = identifier(wanted);
        std::string name = base;
        for (unsigned n = 2; std::find(names_.begin(), names_.end(), name) != names_.end(); n++)
            name = fmt::format("{}_{}", base, n);
        names_.push_back(name);
        return name;
    }

    std::string& out_;
    const EventLayout& layout_;
    const EnumWriter& enums_;
    std::vector<std::string> names_;
    bool ends_in_zeros_ = false;
};

// Begins a line, which nothing inside of JSON or of a string of TSDL does.
constexpr std::string_view description_begin = "\n/* trapline: ";
constexpr std::string_view comment_end = "*/";

void append_description(std::string& out, const TraceDescription& description) {
    const std::string json = description_json(description);
    out += description_begin;
    char before = '\0';
    for (const char c : json) {
        if (before == '*' && c == '/')
            out += '\\'; // the same character, and no end of the comment
        out += c;
        before = c;
    }
    out += " */\n";
}

} // namespace

std::string ctf_metadata(const TraceDescription& description) {
    const std::string clock_name = "trapline" + identifier(description.clock.name);
    std::string out = "/* CTF 1.8 */\n";
    out += types;
    out += R"(
trace {
	major = 1;
	minor = 8;
	byte_order = le;
	packet.header := struct {
		tl_u32 magic;
		tl_u32 stream_id;
	};
};
)";
    EnvironmentWriter(out).write(description);
    append_clock(out, description, clock_name);
    fmt::format_to(std::back_inserter(out), stream, clock_name, TL_ID_MARK, TL_ID_EXTENDED,
                   TL_STREAM_ID, TL_ID_TASK, TL_COMM_SIZE);
    EnumWriter enums(out);
    enums.write(description.layouts);
    for (const EventLayout& layout : description.layouts)
        EventWriter(out, layout, enums).write();
    EventWriter(out, mark_layout(), enums).write();
    append_description(out, description);
    return out;
}

bool is_our_metadata(std::string_view text) {
    return text.find(description_begin) != std::string_view::npos;
}

TraceDescription description_in_metadata(std::string_view text) {
    const std::size_t begin = text.find(description_begin);
    if (begin == std::string_view::npos)
        throw Error("the metadata has no description of a trace by trapline",
                    "babeltrace2 shows traces that others made");
    text.remove_prefix(begin + description_begin.size());
    const std::size_t end = text.find(comment_end);
    if (end == std::string_view::npos)
        throw Error("the trace's description can't be used: it is cut off");
    return parse_description(text.substr(0, end));
}

} // namespace trapline
