// SPDX-License-Identifier: GPL-2.0
// Building the requests of shared/trapline.h and reading their answers.
#include "control/codec.h"

#include <array>
#include <cstring>
#include <fmt/format.h>
#include <linux/genetlink.h>
#include <netlink/attr.h>
#include <netlink/errno.h>
#include <netlink/genl/genl.h>
#include <netlink/msg.h>
#include <type_traits>

#include "shared/record.h"
#include "util/error.h"
#include "util/remedy.h"

namespace trapline {

namespace {

// Attribute names as trapline.h has them, for whoever has to find out who was wrong.
constexpr auto main_names =
    std::to_array<std::string_view>({"UNSPEC",       "PAD",         "FD",
                                     "ABI",          "VERSION",     "CPUS",
                                     "RING_MIN",     "RING_MAX",    "RING_DEFAULT",
                                     "RING_SIZE",    "CHUNK_SIZE",  "RECORD_MAX",
                                     "INSNS_MAX",    "MAXACTIVE",   "MAXACTIVE_MAX",
                                     "CLOCK_NAME",   "CLOCK_HZ",    "TGIDS",
                                     "TGID",         "FOLLOW",      "EXCLUDE_TGID",
                                     "OFFSET",       "DATA",        "PROBES",
                                     "PROBE",        "VERDICTS",    "VERDICT",
                                     "EVENT_ID",     "TICKS",       "MONOTONIC",
                                     "REALTIME",     "PENDING",     "ADDRESS",
                                     "BYTES_BEFORE", "BYTES_NOW",   "SESSION",
                                     "OVERWRITE",    "WAKE_CHUNKS", "TEXT",
                                     "MARKED",       "LOST",        "SESSION_NUMBER",
                                     "ONLY_CPUS",    "ONLY_UIDS",   "ONLY_COMMS",
                                     "ONLY_CGROUPS", "LIMIT",       "GUARD"});
static_assert(main_names.size() == TRAPLINE_A_MAX + 1);

constexpr auto probe_names = std::to_array<std::string_view>(
    {"UNSPEC", "PAD", "KIND", "EVENT_ID", "SYMBOL", "OFFSET", "ADDRESS", "MAXACTIVE",
     "ENTRY_PROGRAM", "RETURN_PROGRAM", "ERROR", "TEXT", "LIFTED", "COUNTERS", "PENDING_CALLS",
     "TRIGGER", "TECHNIQUE", "LABEL", "MAX_RATE"});
static_assert(probe_names.size() == TRAPLINE_P_MAX + 1);

constexpr auto session_names = std::to_array<std::string_view>(
    {"UNSPEC", "PAD", "TGID", "COMM", "UID", "STARTED", "PROBES", "RING_SIZE", "RECORDED", "LOST",
     "OWN", "OVERWRITE", "NUMBER", "SILENCED", "ENDED", "SPENT", "LOAD", "LOAD_CPU"});
static_assert(session_names.size() == TRAPLINE_S_MAX + 1);

constexpr std::string_view mismatch_hint =
    "the module and this tool don't fit together: install both from the same sources, then\n"
    "sudo rmmod trapline && sudo modprobe trapline";

Error bad_answer(const std::string& what) {
    return Error("the module's answer " + what, std::string(mismatch_hint));
}

// The attributes of a message or a nest. What is not understood is skipped, what is asked
// for and is not there as it must be is an Error.
class Attributes {
public:
    Attributes(std::span<const std::string_view> names, const nlattr* head, int length)
        : names_(names), found_(names.size()) {
        // Not nla_parse(): it takes no const, and it wants a policy to tell what is wrong.
        const nlattr* at = head;
        int rest = length;
        while (nla_ok(at, rest) != 0) {
            const auto type = static_cast<std::size_t>(nla_type(at));
            if (type < found_.size())
                found_[type] = at;
            at = nla_next(at, &rest);
        }
    }

    explicit Attributes(std::span<const std::string_view> names, const nlattr* nest)
        : Attributes(names, static_cast<const nlattr*>(nla_data(nest)), nla_len(nest)) {}

    bool has(int type) const { return found_[static_cast<std::size_t>(type)] != nullptr; }

    const nlattr* get(int type) const {
        const nlattr* attribute = found_[static_cast<std::size_t>(type)];
        if (attribute == nullptr)
            throw bad_answer(fmt::format("lacks {}", names_[static_cast<std::size_t>(type)]));
        return attribute;
    }

    template <class T>
    T value(int type) const {
        static_assert(std::is_trivially_copyable_v<T>);
        T value{};
        const std::span<const std::byte> bytes = data(type);
        if (bytes.size() != sizeof(value))
            throw bad_answer(fmt::format("has a {} of {} bytes instead of {}",
                                         names_[static_cast<std::size_t>(type)], bytes.size(),
                                         sizeof(value)));
        std::memcpy(&value, bytes.data(), sizeof(value));
        return value;
    }

    template <class T>
    T value_or(int type, T otherwise) const {
        return has(type) ? value<T>(type) : otherwise;
    }

    template <class T>
    std::vector<T> array(int type) const {
        static_assert(std::is_trivially_copyable_v<T>);
        const std::span<const std::byte> bytes = data(type);
        if (bytes.size() % sizeof(T) != 0)
            throw bad_answer(fmt::format("has a {} of {} bytes, not a multiple of {}",
                                         names_[static_cast<std::size_t>(type)], bytes.size(),
                                         sizeof(T)));
        std::vector<T> values(bytes.size() / sizeof(T));
        if (!values.empty())
            std::memcpy(values.data(), bytes.data(), bytes.size());
        return values;
    }

    std::string text(int type) const {
        const std::span<const std::byte> bytes = data(type);
        const auto* begin = reinterpret_cast<const char*>(bytes.data());
        return {begin, strnlen(begin, bytes.size())};
    }

    std::string text_or_empty(int type) const { return has(type) ? text(type) : std::string(); }

private:
    std::span<const std::byte> data(int type) const {
        const nlattr* attribute = get(type);
        return {static_cast<const std::byte*>(nla_data(attribute)),
                static_cast<std::size_t>(nla_len(attribute))};
    }

    std::span<const std::string_view> names_;
    std::vector<const nlattr*> found_;
};

Attributes attributes_of(const nlmsghdr* answer) {
    if (answer == nullptr)
        throw bad_answer("is empty");
    constexpr int headers = NLMSG_HDRLEN + GENL_HDRLEN;
    if (answer->nlmsg_len < headers)
        throw bad_answer("is shorter than its header");
    const auto* first =
        reinterpret_cast<const nlattr*>(reinterpret_cast<const char*>(answer) + headers);
    return {main_names, first, static_cast<int>(answer->nlmsg_len) - headers};
}

// Visits the attributes of `type` in a nest.
template <class Visitor>
void for_each(const nlattr* nest, int type, Visitor&& visit) {
    const auto* at = static_cast<const nlattr*>(nla_data(nest));
    int rest = nla_len(nest);
    while (nla_ok(at, rest) != 0) {
        if (nla_type(at) == type)
            visit(at);
        at = nla_next(at, &rest);
    }
}

trapline_probe_kind kind_of(const Attributes& probe) {
    const auto kind = probe.value<std::uint8_t>(TRAPLINE_P_KIND);
    if (kind >= TRAPLINE_KINDS)
        throw bad_answer(fmt::format("has a probe of kind {}, which is unknown here", kind));
    return static_cast<trapline_probe_kind>(kind);
}

trapline_technique technique_of(const Attributes& probe) {
    const auto technique = probe.value<std::uint8_t>(TRAPLINE_P_TECHNIQUE);
    if (technique >= TRAPLINE_TECHNIQUES)
        throw bad_answer(
            fmt::format("has a probe of technique {}, which is unknown here", technique));
    return static_cast<trapline_technique>(technique);
}

trapline_ended ended_of(const Attributes& session) {
    const auto ended = session.value_or<std::uint32_t>(TRAPLINE_S_ENDED, TRAPLINE_ENDED_NOT);
    if (ended >= TRAPLINE_ENDS)
        throw bad_answer(fmt::format("has a run ended by {}, which is unknown here", ended));
    return static_cast<trapline_ended>(ended);
}

std::vector<std::byte> site_bytes(const Attributes& attributes, int type) {
    std::vector<std::byte> bytes = attributes.array<std::byte>(type);
    if (bytes.size() > TRAPLINE_SITE_BYTES)
        throw bad_answer(
            fmt::format("has {} bytes of a site instead of {}", bytes.size(), TRAPLINE_SITE_BYTES));
    return bytes;
}

// For attributes that fit by construction.
void must_fit(int result, std::string_view what) {
    if (result < 0)
        throw Error(fmt::format("cannot put {} into a request to the module: {}", what,
                                nl_geterror(result)));
}

template <class T>
int put(nl_msg* message, int type, const T& value) {
    static_assert(std::is_integral_v<T>);
    return nla_put(message, type, sizeof(value), &value);
}

nlattr* begin_nest(nl_msg* message, int type) {
    // Strict policies refuse a nest that is not marked as one.
    return nla_nest_start(message, NLA_F_NESTED | type);
}

// Names, each with NULs behind it up to what a task's takes.
std::string comm_array(const std::vector<std::string>& names) {
    std::string array;
    for (const std::string& name : names) {
        array += name.substr(0, TL_COMM_SIZE - 1);
        array.resize((array.size() / TL_COMM_SIZE + 1) * TL_COMM_SIZE);
    }
    return array;
}

void put_only(nl_msg* message, int type, const void* data, std::size_t bytes) {
    if (bytes != 0)
        must_fit(nla_put(message, type, static_cast<int>(bytes), data), "a filter");
}

void put_only(nl_msg* message, int type, const std::vector<std::uint32_t>& numbers) {
    put_only(message, type, numbers.data(), numbers.size() * sizeof(numbers.front()));
}

void put_only(nl_msg* message, const SessionConfig& config) {
    for (const std::size_t count :
         {config.only_uids.size(), config.only_comms.size(), config.only_cgroups.size()})
        if (count > TRAPLINE_ONLY_MAX)
            throw Error(fmt::format("cannot filter for {} users, names or cgroups: {} of each at "
                                    "most",
                                    count, TRAPLINE_ONLY_MAX),
                        "name fewer");
    put_only(message, TRAPLINE_A_ONLY_CPUS, config.only_cpus);
    put_only(message, TRAPLINE_A_ONLY_UIDS, config.only_uids);
    const std::string comms = comm_array(config.only_comms);
    put_only(message, TRAPLINE_A_ONLY_COMMS, comms.data(), comms.size());
    put_only(message, TRAPLINE_A_ONLY_CGROUPS, config.only_cgroups);
}

int put_program(nl_msg* message, int type, const std::vector<tl_insn>& program) {
    if (program.empty())
        return 0;
    return nla_put(message, type, static_cast<int>(program.size() * sizeof(tl_insn)),
                   program.data());
}

// False if the message has no room for all of it; then it may hold a part.
bool put_probe_attributes(nl_msg* message, const ProbeRequest& probe) {
    if (put(message, TRAPLINE_P_KIND, static_cast<std::uint8_t>(probe.kind)) < 0 ||
        put(message, TRAPLINE_P_EVENT_ID, probe.event_id) < 0)
        return false;
    if (!probe.symbol.empty() && nla_put_string(message, TRAPLINE_P_SYMBOL, probe.symbol.c_str()))
        return false;
    if (probe.offset != 0 && put(message, TRAPLINE_P_OFFSET, probe.offset) < 0)
        return false;
    if (probe.address && put(message, TRAPLINE_P_ADDRESS, *probe.address) < 0)
        return false;
    if (probe.maxactive != 0 && put(message, TRAPLINE_P_MAXACTIVE, probe.maxactive) < 0)
        return false;
    if (probe.trigger != TRAPLINE_TRIGGER_NONE &&
        put(message, TRAPLINE_P_TRIGGER, static_cast<std::uint8_t>(probe.trigger)) < 0)
        return false;
    if (!probe.label.empty() && nla_put(message, TRAPLINE_P_LABEL,
                                        static_cast<int>(probe.label.size()), probe.label.data()))
        return false;
    if (probe.max_rate != 0 && put(message, TRAPLINE_P_MAX_RATE, probe.max_rate) < 0)
        return false;
    return put_program(message, TRAPLINE_P_ENTRY_PROGRAM, probe.entry_program) >= 0 &&
           put_program(message, TRAPLINE_P_RETURN_PROGRAM, probe.return_program) >= 0;
}

bool put_probe(nl_msg* message, const ProbeRequest& probe) {
    nlattr* nest = begin_nest(message, TRAPLINE_A_PROBE);
    if (nest == nullptr)
        return false;
    if (!put_probe_attributes(message, probe)) {
        nla_nest_cancel(message, nest);
        return false;
    }
    return nla_nest_end(message, nest) >= 0;
}

} // namespace

void MessageDeleter::operator()(nl_msg* message) const noexcept {
    nlmsg_free(message);
}

Message new_request(int family, trapline_command command, int session_fd, std::size_t size) {
    Message message(nlmsg_alloc_size(size));
    if (!message ||
        genlmsg_put(message.get(), NL_AUTO_PORT, NL_AUTO_SEQ, family, 0, 0,
                    static_cast<std::uint8_t>(command), TRAPLINE_FAMILY_VERSION) == nullptr)
        throw Error(fmt::format("cannot make a netlink message of {} bytes: out of memory", size));
    must_fit(put(message.get(), TRAPLINE_A_FD, static_cast<std::uint32_t>(session_fd)),
             "the session");
    return message;
}

void put_configure(nl_msg* message, const SessionConfig& config) {
    if (config.tgids.size() > TRAPLINE_TGIDS_MAX)
        throw Error(fmt::format("cannot trace {} processes: a session filters for at most {}",
                                config.tgids.size(), TRAPLINE_TGIDS_MAX),
                    "name fewer, or trace all of them with --all");
    if (config.ring_size != 0)
        must_fit(put(message, TRAPLINE_A_RING_SIZE, config.ring_size), "the ring size");
    if (config.maxactive != 0)
        must_fit(put(message, TRAPLINE_A_MAXACTIVE, config.maxactive), "maxactive");
    if (!config.tgids.empty()) {
        nlattr* nest = begin_nest(message, TRAPLINE_A_TGIDS);
        must_fit(nest == nullptr ? -NLE_NOMEM : 0, "the process ids");
        for (const std::uint32_t tgid : config.tgids)
            must_fit(put(message, TRAPLINE_A_TGID, tgid), "the process ids");
        must_fit(nla_nest_end(message, nest), "the process ids");
    }
    if (config.follow)
        must_fit(nla_put_flag(message, TRAPLINE_A_FOLLOW), "a flag");
    if (config.exclude_tgid)
        must_fit(put(message, TRAPLINE_A_EXCLUDE_TGID, *config.exclude_tgid), "a process id");
    if (config.overwrite)
        must_fit(nla_put_flag(message, TRAPLINE_A_OVERWRITE), "a flag");
    if (config.wake_chunks)
        must_fit(nla_put_flag(message, TRAPLINE_A_WAKE_CHUNKS), "a flag");
    if (config.limit != 0)
        must_fit(put(message, TRAPLINE_A_LIMIT, config.limit), "a limit");
    if (config.guard != 0)
        must_fit(put(message, TRAPLINE_A_GUARD, config.guard), "a guard");
    put_only(message, config);
}

void put_metadata(nl_msg* message, std::uint64_t offset, std::string_view piece) {
    must_fit(put(message, TRAPLINE_A_OFFSET, offset), "an offset");
    must_fit(nla_put(message, TRAPLINE_A_DATA, static_cast<int>(piece.size()), piece.data()),
             "a piece of metadata");
}

void put_event_id(nl_msg* message, std::uint16_t id) {
    must_fit(put(message, TRAPLINE_A_EVENT_ID, id), "an event id");
}

void put_pending(nl_msg* message) {
    must_fit(nla_put_flag(message, TRAPLINE_A_PENDING), "a flag");
}

void put_session_number(nl_msg* message, std::uint32_t number) {
    must_fit(put(message, TRAPLINE_A_SESSION_NUMBER, number), "a session's number");
}

void put_mark(nl_msg* message, std::string_view text) {
    must_fit(nla_put(message, TRAPLINE_A_TEXT, static_cast<int>(text.size()), text.data()),
             "a mark");
}

std::size_t put_probes(nl_msg* message, std::span<const ProbeRequest* const> probes) {
    constexpr std::ptrdiff_t nest_max = 0xffff; // nla_len has 16 bits
    nlattr* nest = begin_nest(message, TRAPLINE_A_PROBES);
    must_fit(nest == nullptr ? -NLE_NOMEM : 0, "probes");

    std::size_t count = 0;
    while (count < probes.size() && count < TRAPLINE_BATCH_MAX) {
        auto* before = static_cast<nlattr*>(nlmsg_tail(nlmsg_hdr(message)));
        if (!put_probe(message, *probes[count]))
            break;
        const auto* after = static_cast<const char*>(nlmsg_tail(nlmsg_hdr(message)));
        if (after - reinterpret_cast<const char*>(nest) > nest_max) {
            nla_nest_cancel(message, before);
            break;
        }
        count++;
    }
    if (count == 0 && !probes.empty())
        throw Error(
            fmt::format("cannot plant the probe on {}: it does not fit into a netlink "
                        "message, with {} and {} instructions",
                        probes.front()->symbol.empty() ? "an address" : probes.front()->symbol,
                        probes.front()->entry_program.size(),
                        probes.front()->return_program.size()),
            "ask for fewer fields");
    must_fit(nla_nest_end(message, nest), "probes");
    return count;
}

std::uint32_t parse_abi(const nlmsghdr* answer) {
    return attributes_of(answer).value<std::uint32_t>(TRAPLINE_A_ABI);
}

ModuleInfo parse_info(const nlmsghdr* answer) {
    const Attributes in = attributes_of(answer);
    ModuleInfo info;
    info.abi = in.value<std::uint32_t>(TRAPLINE_A_ABI);
    info.version = in.text(TRAPLINE_A_VERSION);
    info.cpus = in.value<std::uint32_t>(TRAPLINE_A_CPUS);
    info.ring_min = in.value<std::uint64_t>(TRAPLINE_A_RING_MIN);
    info.ring_max = in.value<std::uint64_t>(TRAPLINE_A_RING_MAX);
    info.ring_default = in.value<std::uint64_t>(TRAPLINE_A_RING_DEFAULT);
    info.record_max = in.value<std::uint32_t>(TRAPLINE_A_RECORD_MAX);
    info.insns_max = in.value<std::uint32_t>(TRAPLINE_A_INSNS_MAX);
    info.maxactive = in.value<std::uint32_t>(TRAPLINE_A_MAXACTIVE);
    info.maxactive_max = in.value<std::uint32_t>(TRAPLINE_A_MAXACTIVE_MAX);
    info.clock_name = in.text(TRAPLINE_A_CLOCK_NAME);
    info.clock_hz = in.value<std::uint64_t>(TRAPLINE_A_CLOCK_HZ);
    return info;
}

SessionGeometry parse_geometry(const nlmsghdr* answer) {
    const Attributes in = attributes_of(answer);
    SessionGeometry geometry;
    geometry.ring_size = in.value<std::uint64_t>(TRAPLINE_A_RING_SIZE);
    geometry.chunk_size = in.value<std::uint64_t>(TRAPLINE_A_CHUNK_SIZE);
    geometry.cpus = in.value<std::uint32_t>(TRAPLINE_A_CPUS);
    geometry.maxactive = in.value<std::uint32_t>(TRAPLINE_A_MAXACTIVE);
    return geometry;
}

std::vector<Verdict> parse_verdicts(const nlmsghdr* answer) {
    const Attributes in = attributes_of(answer);
    std::vector<Verdict> verdicts;
    for_each(in.get(TRAPLINE_A_VERDICTS), TRAPLINE_A_VERDICT, [&](const nlattr* nest) {
        const Attributes one(probe_names, nest);
        Verdict verdict;
        verdict.event_id = one.value<std::uint16_t>(TRAPLINE_P_EVENT_ID);
        const auto error = one.value<std::uint32_t>(TRAPLINE_P_ERROR);
        if (error > 4095) // the kernel's MAX_ERRNO
            throw bad_answer(fmt::format("has {} for an error number", error));
        verdict.error = static_cast<int>(error);
        // What could not be found has no address.
        verdict.address = error == 0 ? one.value<std::uint64_t>(TRAPLINE_P_ADDRESS)
                                     : one.value_or<std::uint64_t>(TRAPLINE_P_ADDRESS, 0);
        verdict.text = one.text_or_empty(TRAPLINE_P_TEXT);
        verdicts.push_back(std::move(verdict));
    });
    return verdicts;
}

ClockAnchor parse_clock(const nlmsghdr* answer) {
    const Attributes in = attributes_of(answer);
    ClockAnchor clock;
    clock.ticks = in.value<std::uint64_t>(TRAPLINE_A_TICKS);
    clock.monotonic_ns = in.value<std::uint64_t>(TRAPLINE_A_MONOTONIC);
    clock.realtime_ns = in.value<std::uint64_t>(TRAPLINE_A_REALTIME);
    return clock;
}

MarkReport parse_mark(const nlmsghdr* answer) {
    const Attributes in = attributes_of(answer);
    MarkReport report;
    report.marked = in.value<std::uint32_t>(TRAPLINE_A_MARKED);
    report.lost = in.value<std::uint32_t>(TRAPLINE_A_LOST);
    return report;
}

SiteBytes parse_site(const nlmsghdr* answer) {
    const Attributes in = attributes_of(answer);
    SiteBytes site;
    site.address = in.value<std::uint64_t>(TRAPLINE_A_ADDRESS);
    site.before = site_bytes(in, TRAPLINE_A_BYTES_BEFORE);
    site.now = site_bytes(in, TRAPLINE_A_BYTES_NOW);
    return site;
}

ProbeReport parse_probe(const nlmsghdr* answer) {
    const Attributes in(probe_names, attributes_of(answer).get(TRAPLINE_A_PROBE));
    ProbeReport report;
    report.event_id = in.value<std::uint16_t>(TRAPLINE_P_EVENT_ID);
    report.kind = kind_of(in);
    report.symbol = in.text_or_empty(TRAPLINE_P_SYMBOL);
    report.offset = in.value_or<std::uint64_t>(TRAPLINE_P_OFFSET, 0);
    report.address = in.value<std::uint64_t>(TRAPLINE_P_ADDRESS);
    report.lifted = in.has(TRAPLINE_P_LIFTED);
    report.technique = technique_of(in);
    // Entry probes have none.
    report.maxactive = in.value_or<std::uint32_t>(TRAPLINE_P_MAXACTIVE, 0);
    report.counters = in.value<trapline_counters>(TRAPLINE_P_COUNTERS);
    if (in.has(TRAPLINE_P_PENDING_CALLS))
        report.pending = in.array<trapline_pending>(TRAPLINE_P_PENDING_CALLS);
    return report;
}

SessionReport parse_session(const nlmsghdr* answer) {
    const Attributes in(session_names, attributes_of(answer).get(TRAPLINE_A_SESSION));
    SessionReport report;
    report.number = in.value<std::uint32_t>(TRAPLINE_S_NUMBER);
    report.tgid = in.value<std::uint32_t>(TRAPLINE_S_TGID);
    report.comm = in.text(TRAPLINE_S_COMM);
    report.uid = in.value<std::uint32_t>(TRAPLINE_S_UID);
    report.started = in.has(TRAPLINE_S_STARTED);
    report.probes = in.value<std::uint32_t>(TRAPLINE_S_PROBES);
    report.ring_size = in.value<std::uint64_t>(TRAPLINE_S_RING_SIZE);
    report.recorded = in.value<std::uint64_t>(TRAPLINE_S_RECORDED);
    report.lost = in.value<std::uint64_t>(TRAPLINE_S_LOST);
    report.own = in.has(TRAPLINE_S_OWN);
    report.overwrite = in.has(TRAPLINE_S_OVERWRITE);
    report.ended = ended_of(in);
    report.spent_ns = in.value_or<std::uint64_t>(TRAPLINE_S_SPENT, 0);
    report.load_percent = in.value_or<std::uint32_t>(TRAPLINE_S_LOAD, 0);
    report.load_cpu = in.value_or<std::uint32_t>(TRAPLINE_S_LOAD_CPU, 0);
    if (in.has(TRAPLINE_S_SILENCED))
        report.silenced_ns = in.value<std::uint64_t>(TRAPLINE_S_SILENCED);
    return report;
}

AbiError::AbiError(std::uint32_t module_abi)
    : Error(fmt::format("this tool speaks ABI {}, the loaded module ABI {}", TRAPLINE_ABI,
                        module_abi),
            fmt::format("reload the module: {}; where that doesn't help: trapline doctor",
                        remedy::reload_installed)),
      module_abi_(module_abi) {}

void check_abi(std::uint32_t module_abi) {
    if (module_abi == TRAPLINE_ABI)
        return;
    throw AbiError(module_abi);
}

std::string_view attribute_at(const nlmsghdr* request, std::uint32_t offset) {
    constexpr std::uint32_t headers = NLMSG_HDRLEN + GENL_HDRLEN;
    if (request->nlmsg_len < headers || offset < headers)
        return {};
    const auto* base = reinterpret_cast<const char*>(request);
    const auto* at = reinterpret_cast<const nlattr*>(base + headers);
    int rest = static_cast<int>(request->nlmsg_len - headers);
    while (nla_ok(at, rest) != 0) {
        const auto start = static_cast<std::uint32_t>(reinterpret_cast<const char*>(at) - base);
        const auto type = static_cast<std::size_t>(nla_type(at));
        if (offset >= start && offset < start + at->nla_len)
            return type < main_names.size() ? main_names[type] : std::string_view();
        at = nla_next(at, &rest);
    }
    return {};
}

} // namespace trapline
