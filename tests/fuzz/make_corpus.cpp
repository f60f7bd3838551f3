// SPDX-License-Identifier: GPL-2.0
// Makes the fuzzers' seeds, with the real writers; or checks that those there are still what
// it would make, for seeds of an older form are soon refused, and lead a fuzzer nowhere.
//
//   make_corpus [--check] KIND DIRECTORY
//
// KIND: recording, metadata, console, probe, program, btf, dwarf
#include <filesystem>
#include <fstream>
#include <iterator>
#include <map>
#include <string>
#include <vector>

#include "../unit/console_fixture.h"
#include "../unit/made_btf.h"
#include "../unit/ring_fixture.h"
#include "console_input.h"
#include "fuzz.h"
#ifdef TRAPLINE_LIBDW
#include "made_dwarf.h"
#endif
#include "recording/packet.h"
#include "spec/compile.h"
#include "stream_layouts.h"
#include "trace/ctf_metadata.h"

using namespace trapline;
using test::number_field;
using test::string_field;
using test::task;
using test::TestConsole;
using test::TestRing;

namespace {

using Seeds = std::map<std::string, std::string>;
using Bytes = std::vector<std::uint8_t>;

constexpr std::uint64_t ring_size = 1024; // chunks of 256 bytes: fuzzers like small inputs

Bytes operator+(Bytes a, const Bytes& b) {
    a.insert(a.end(), b.begin(), b.end());
    return a;
}

// The whole of a ring that was never read, behind the byte that chooses the layouts.
std::string stream(char layouts, TestRing& ring) {
    if (ring.writer.cur != ring.writer.limit)
        ring.finish(ring.writer.last);
    return layouts + std::string(reinterpret_cast<const char*>(ring.data()), ring.writer.next);
}

std::string numbers_and_texts() {
    TestRing ring(ring_size, 1);
    for (std::uint64_t i = 0; i < 8; i++) {
        ring.write(1, 1000 + i, task(7, 6, "cat"), number_field(i));
        ring.write(2, 1000 + i, task(8, 6, "dog"), string_field("text" + std::to_string(i)));
    }
    return stream(1, ring);
}

std::string calls() {
    TestRing ring(ring_size, 2);
    const Bytes fields = number_field(5) + Bytes{1, 0, 0, 0, 1, 0, 0, 0} + number_field(100) +
                         Bytes{9, 0, 0, 0} + string_field("one") + string_field("", TL_STR_NULL);
    ring.write(1, 1000, task(7, 6, "cat"), fields, TL_IRQS_OFF);
    ring.write(300, 1000 + (5ULL << 32), task(7, 6, "cat"), {2, 1, 0, 0});
    ring.write(301, 1001 + (5ULL << 32), task(7, 6, "cat"), {});
    return stream(2, ring);
}

std::string marks() {
    TestRing ring(ring_size, 0);
    ring.write(TL_ID_MARK, 1ULL << 50, task(7, 6, "sh"), string_field("here it is"));
    ring.write(TL_ID_MARK, 1ULL << 51, task(7, 6, "sh"), string_field("four", TL_STR_CUT));
    return stream(0, ring);
}

std::string stacks() {
    TestRing ring(ring_size, 1);
    ring.write(4, 1000, task(7, 6, "cat"),
               Bytes{TL_STACK_CUT, 0, 2, 0} + number_field(0xffffffff81000010) +
                   number_field(0xffffffffc0000020));
    ring.write(4, 1001, task(7, 6, "cat"), {TL_STACK_FAULT, 0, 0, 0});
    ring.write(4, 1002, task(7, 6, "cat"), Bytes{0, 0, 1, 0} + number_field(1));
    return stream(1, ring);
}

std::string losses() {
    std::string bytes = numbers_and_texts();
    const EmptyPacket end = empty_packet({.begin = 5000,
                                          .end = 6000,
                                          .events_discarded = 7,
                                          .sequence = 4,
                                          .first_event = 20,
                                          .cpu = 1});
    return bytes.append(reinterpret_cast<const char*>(end.data()), end.size());
}

Seeds recording_seeds() {
    Seeds seeds;
    seeds["numbers_and_texts"] = numbers_and_texts();
    seeds["calls"] = calls();
    seeds["marks"] = marks();
    seeds["losses"] = losses();
    seeds["stacks"] = stacks();
    seeds["truncated"] = numbers_and_texts().substr(0, 400);
    seeds["garbage_first"] = numbers_and_texts().insert(1, "0123456789abcdef");
    return seeds;
}

TraceDescription small() {
    TraceDescription description;
    description.version = "1.2.3";
    description.clock = {"tsc", 2'000'000'000,
                         ClockAnchor{.ticks = 1, .monotonic_ns = 2, .realtime_ns = 3}};
    return description;
}

TraceDescription full() {
    TraceDescription description = small();
    description.kernel = {"Linux", "6.1", "#1", "x86_64", "host", "boot"};
    description.command = {"cat", "*/", "caf\xc3\xa9"};
    description.layouts = fuzz::stream_layouts()[1];
    description.layouts.push_back(fuzz::make_layout(
        3, "call", TRAPLINE_CALL, {{"half", FieldType::raw, 2}, {"faults", FieldType::faults, 4}},
        {{"return", FieldType::raw, 8}}));
    description.probes = {{1, "f", "f", 0, 0xffffffff81000000, 0, TRAPLINE_TRIGGER_NONE},
                          {3, "g+4", "g", 4, 0, 7, TRAPLINE_TRIGGER_STOP}};
    description.symbols = {{0xffffffff81000000, "f"}, {0xffffffffc0000000, "m:g", 64}};
    TraceTotals& totals = description.totals.emplace();
    totals.stop = {3'000'000'000, 1'500'000'002, 4};
    totals.ended_by = "SIGINT";
    ProbeTotals probe;
    probe.id = 3;
    probe.pending = {{.tid = 1, .tgid = 2, .age = 3, .comm = "cat"}};
    totals.probes = {probe};
    totals.rings.resize(1);
    totals.rings[0].written = 5;
    return description;
}

std::string only_description(const TraceDescription& description) {
    const std::string text = ctf_metadata(description);
    return text.substr(text.find("\n/* trapline: "));
}

Seeds metadata_seeds() {
    TraceDescription returns = small();
    returns.layouts = {
        fuzz::make_layout(2, "return", TRAPLINE_RETURN, {}, {{"return", FieldType::raw, 8}})};
    Seeds seeds;
    seeds["small"] = only_description(small());
    seeds["full"] = only_description(full());
    seeds["returns"] = only_description(returns);
    seeds["whole_file"] = ctf_metadata(small());
    return seeds;
}

std::vector<ConsoleItem> dump_items() {
    const std::vector<EventLayout> layouts = fuzz::stream_layouts()[2];
    const Bytes call = number_field(5) + Bytes{1, 0, 0, 0, 1, 0, 0, 0} + number_field(100) +
                       Bytes{9, 0, 0, 0} + string_field("one") + string_field("", TL_STR_NULL);
    return {{'S', TestConsole::session()},
            {'L', TestConsole::label(layouts[0])},
            {'L', TestConsole::label(layouts[1])},
            {'R', TestConsole::record(3, 1, 1000, task(7, 6, "cat"), call, TL_IRQS_OFF)},
            {'R', TestConsole::record(0, 300, 5ULL << 32, task(8, 8, "dog"), {2, 1, 0, 0})},
            {'R', TestConsole::record(0, TL_ID_MARK, 6ULL << 32, task(9, 9, "sh"),
                                      string_field("here it is"))},
            {'E', TestConsole::end(3)}};
}

std::string dump_log(bool dashes) {
    TestConsole console;
    for (const auto& [kind, bytes] : dump_items())
        console.item(kind, bytes);
    console.item('R', std::string(TL_CONSOLE_PIECE + 1, 'x'));
    std::string text(1, fuzz::as_log);
    for (std::string& line : console.lines) {
        if (dashes)
            line.replace(line.size() - fuzz::no_sum.size(), fuzz::no_sum.size(), fuzz::no_sum);
        text += "[    1.234567] " + line + "\r\n";
    }
    return text;
}

Seeds console_seeds() {
    Seeds seeds;
    seeds["log"] = dump_log(false);
    seeds["dashes"] = dump_log(true);
    seeds["cut"] = dump_log(true).substr(0, 900);
    seeds["items"] = fuzz::input_of(dump_items());
    return seeds;
}

// Of each form that a PROBE has.
Seeds probe_seeds() {
    return {
        {"call", "vfs_read"},
        {"entry", "kprobe:vfs_read+0x1c"},
        {"return", "kretprobe:ext4:f#2 if $retval < 0"},
        {"oops", "vfs_read+0x1c/0x80 [ext4]"},
        {"pattern", "kernel:vfs_[rw]*(count)"},
        {"address", "0xffffffff81000010(%rdi, $stack0)"},
        {"members", "f(dentry->name, dentry->d_iname, dentry->inode->i_ino, file->f_pos:x)"},
        {"structure", "f(*dentry, *file, dentry->numbers[0:2], $comm) = $retval->mode"},
        {"casts", "f(((struct inode *)$arg2)->mode:d, (u8)count, count + 4, (mode & 3):u)"},
        {"formats", "f(name:str[8], name:ustr, file:hex[4], seventh:c, $arg9:errno, dentry:sym)"},
        {"network", "f((u32)count:be32, *dentry->inode:ip6, file:ip4, file:mac)"},
        {"condition", "f(count) if count > 4KiB && comm == \"dd\" || !(flag)"},
        {"slashes", "f /$retval == -ENOENT && $duration > 1ms div 2/"},
        {"enum", "f if mode == MODE_READ && low != 3"},
        {"text", "f(count) if dentry->name == \"names\" || whole.name != \"\""}};
}

// A site, the fields' words, and the instructions of what these compile to without types.
Seeds program_seeds() {
    const std::map<std::string, std::string> probes{
        {"call", "f if $retval < 0 && $arg1 > 3"},
        {"entry", "kprobe:f($arg1:str, $pid, $arg2:hex[4], $arg8) if $comm == \"dd\""},
        {"inside", "kprobe:f+4(%rdi, $stack0) if %rsi != 0 || %rdx > 4096"},
        {"return", "kretprobe:f if $retval >= 4KiB"}};
    Seeds seeds;
    for (const auto& [name, text] : probes) {
        const ProbeSpec spec = parse_probe(text);
        const CompiledProbe probe = compile_probe(spec, 1, 1'000'000'000);
        const auto add = [&](const char* end, tl_site site, const std::vector<tl_insn>& program) {
            std::string bytes{static_cast<char>(site), 12};
            bytes.append(reinterpret_cast<const char*>(program.data()),
                         program.size() * sizeof(tl_insn));
            if (!program.empty())
                seeds[name + end] = bytes;
        };
        add("_entry", spec.offset != 0 ? TL_AT_OFFSET : TL_AT_ENTRY, probe.entry);
        add("_return", spec.kind == TRAPLINE_CALL ? TL_AT_CALL_RETURN : TL_AT_RETURN, probe.ret);
    }
    return seeds;
}

Seeds btf_seeds() {
    test::SmallKernel made;
    btf* raw = made.get();
    const int mode = btf__add_enum(raw, "mode", 4);
    btf__add_enum_value(raw, "OFF", 0);
    btf__add_enum_value(raw, "ALL", -1);
    const int array = btf__add_array(raw, made.int_, made.short_, 6);
    const int bits = btf__add_struct(raw, "bits", 8);
    btf__add_field(raw, "low", made.unsigned_, 0, 3);
    btf__add_field(raw, "high", made.unsigned_, 3, 5);
    btf__add_field(raw, "list", array, 32, 0);
    made.function("opened", made.ssize_t_,
                  {{"file", made.file_pointer}, {"name", made.text}, {"mode", mode}, {"b", bits}});
    const auto text = [](const test::MadeBtf& btf) {
        const auto bytes = btf.bytes();
        return std::string(reinterpret_cast<const char*>(bytes.data()), bytes.size());
    };
    Seeds seeds;
    seeds["small"] = text(made);
    seeds["cut"] = seeds["small"].substr(0, seeds["small"].size() - 9);
    test::MadeBtf empty;
    seeds["empty"] = text(empty);
    return seeds;
}

#ifdef TRAPLINE_LIBDW
Seeds dwarf_seeds() {
    using fuzz::MadeDwarf;
    const auto text = MadeDwarf::text;
    const auto bytes = MadeDwarf::bytes;
    MadeDwarf made;
    const auto integer = made.entry(DW_TAG_base_type, false,
                                    {{DW_AT_name, DW_FORM_string},
                                     {DW_AT_byte_size, DW_FORM_data1},
                                     {DW_AT_encoding, DW_FORM_data1}},
                                    text("int") + bytes(4, 1) + bytes(DW_ATE_signed, 1));
    const auto file = made.entry(DW_TAG_structure_type, true,
                                 {{DW_AT_name, DW_FORM_string}, {DW_AT_byte_size, DW_FORM_data1}},
                                 text("file") + bytes(16, 1));
    made.entry(DW_TAG_member, false,
               {{DW_AT_name, DW_FORM_string},
                {DW_AT_type, DW_FORM_ref4},
                {DW_AT_data_member_location, DW_FORM_data1}},
               text("whole") + bytes(integer, 4) + bytes(8, 1));
    made.entry(DW_TAG_member, false,
               {{DW_AT_name, DW_FORM_string},
                {DW_AT_type, DW_FORM_ref4},
                {DW_AT_data_bit_offset, DW_FORM_data1},
                {DW_AT_bit_size, DW_FORM_data1}},
               text("bits") + bytes(integer, 4) + bytes(3, 1) + bytes(5, 1));
    made.end();
    const auto pointer =
        made.entry(DW_TAG_pointer_type, false, {{DW_AT_type, DW_FORM_ref4}}, bytes(file, 4));
    const auto mode = made.entry(DW_TAG_enumeration_type, true,
                                 {{DW_AT_name, DW_FORM_string}, {DW_AT_byte_size, DW_FORM_data1}},
                                 text("mode") + bytes(4, 1));
    made.entry(DW_TAG_enumerator, false,
               {{DW_AT_name, DW_FORM_string}, {DW_AT_const_value, DW_FORM_sdata}},
               text("ALL") + bytes(0x7f, 1));
    made.end();
    const auto grid =
        made.entry(DW_TAG_array_type, true, {{DW_AT_type, DW_FORM_ref4}}, bytes(integer, 4));
    made.entry(DW_TAG_subrange_type, false, {{DW_AT_upper_bound, DW_FORM_data1}}, bytes(2, 1));
    made.entry(DW_TAG_subrange_type, false, {{DW_AT_count, DW_FORM_data1}}, bytes(3, 1));
    made.end();
    made.entry(DW_TAG_subprogram, true,
               {{DW_AT_name, DW_FORM_string},
                {DW_AT_decl_file, DW_FORM_data1},
                {DW_AT_decl_line, DW_FORM_data1},
                {DW_AT_type, DW_FORM_ref4},
                {DW_AT_low_pc, DW_FORM_addr},
                {DW_AT_high_pc, DW_FORM_data4}},
               text("opened") + bytes(1, 1) + bytes(2, 1) + bytes(integer, 4) +
                   bytes(fuzz::text_address, 8) + bytes(fuzz::text_size, 4));
    for (const std::uint32_t type : {pointer, mode, grid})
        made.entry(DW_TAG_formal_parameter, false,
                   {{DW_AT_name, DW_FORM_string}, {DW_AT_type, DW_FORM_ref4}},
                   text("p") + bytes(type, 4));
    made.end();
    Seeds seeds;
    seeds["small"] = made.input();
    seeds["cut"] = seeds["small"].substr(0, seeds["small"].size() / 2);
    return seeds;
}
#else
Seeds dwarf_seeds() {
    return {};
}
#endif

Seeds seeds_of(const std::string& kind) {
    return kind == "recording"  ? recording_seeds()
           : kind == "btf"      ? btf_seeds()
           : kind == "dwarf"    ? dwarf_seeds()
           : kind == "metadata" ? metadata_seeds()
           : kind == "console"  ? console_seeds()
           : kind == "probe"    ? probe_seeds()
                                : program_seeds();
}

std::string read_file(const std::filesystem::path& path) {
    std::ifstream file(path, std::ios::binary);
    return {std::istreambuf_iterator<char>(file), {}};
}

} // namespace

int main(int argc, char** argv) {
    const std::vector<std::string> arguments(argv + 1, argv + argc);
    const bool check = !arguments.empty() && arguments.front() == "--check";
    MUST(arguments.size() == (check ? 3 : 2));
    const std::string& kind = arguments[arguments.size() - 2];
    const std::filesystem::path directory = arguments.back();
    MUST(kind == "recording" || kind == "metadata" || kind == "console" || kind == "probe" ||
         kind == "program" || kind == "btf" || kind == "dwarf");

    int wrong = 0;
    for (const auto& [name, bytes] : seeds_of(kind)) {
        if (!check) {
            std::ofstream(directory / name, std::ios::binary) << bytes;
        } else if (read_file(directory / name) != bytes) {
            std::fprintf(stderr, "%s is not what make_corpus makes now: run it on %s\n",
                         name.c_str(), directory.c_str());
            wrong = 1;
        }
    }
    return wrong;
}
