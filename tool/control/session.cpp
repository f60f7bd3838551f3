// SPDX-License-Identifier: GPL-2.0
// A session with the module.
#include "control/session.h"

#include <cerrno>
#include <fcntl.h>
#include <fmt/format.h>
#include <sys/mman.h>
#include <unistd.h>

#include "control/module_loader.h"
#include "util/remedy.h"

namespace trapline {

namespace {

constexpr const char* device_path = "/dev/" TRAPLINE_DEVICE;

UniqueFd open_device() {
    for (;;) {
        UniqueFd device(open(device_path, O_RDWR | O_CLOEXEC));
        if (device)
            return device;
        if (errno != EINTR)
            break;
    }
    const int code = errno; // before anything else is looked at
    throw explain_open(code, geteuid(), read_lockdown());
}

std::size_t page_size() {
    return static_cast<std::size_t>(sysconf(_SC_PAGESIZE));
}

Mapping map_part(int fd, std::uint64_t offset, std::size_t length, int protection,
                 std::string_view part, std::uint32_t cpu) {
    const std::string what = fmt::format("the {} of CPU {}", part, cpu);
    return {fd, static_cast<off_t>(offset), length, protection, MAP_SHARED, what.c_str()};
}

} // namespace

OpenError::OpenError(OpenFailure failure, int code, const std::string& message,
                     const std::string& hint)
    : Error(message, hint), failure_(failure), code_(code) {}

OpenError explain_open(int code, unsigned euid, std::string_view lockdown) {
    const std::string failed = fmt::format("cannot open {}: ", device_path);
    switch (code) {
    case ENOENT:
        return {OpenFailure::not_loaded, code, failed + "the trapline module is not loaded",
                std::string(remedy::load_installed)};
    case ENXIO:
    case ENODEV:
        return {OpenFailure::not_loaded, code,
                failed + "the node is there, but the trapline module behind it is not loaded",
                std::string(remedy::load_installed)};
    case EACCES:
    case EPERM:
        if (euid != 0)
            return {OpenFailure::not_permitted, code, failed + "only root may trace the kernel",
                    fmt::format("run as root: {}", remedy::as_root)};
        // Of the two modes only this one forbids kprobes (LOCKDOWN_KPROBES).
        if (lockdown_mode(lockdown) == "confidentiality")
            return {OpenFailure::locked_down, code,
                    failed + "the kernel is locked down (mode confidentiality), which forbids "
                             "kprobes",
                    "boot with lockdown=integrity or lockdown=none on the kernel command line"};
        return {
            OpenFailure::not_permitted, code,
            failed + fmt::format("root is not permitted to trace here: {}", errno_text(code)),
            "it lacks CAP_PERFMON: in a container? run trapline on the host, or give the container "
            "--privileged"};
    case EBUSY:
        return {OpenFailure::busy, code, failed + errno_text(code),
                "the module is coming or going: try again; sudo dmesg | tail may tell more"};
    default:
        return {OpenFailure::other, code, failed + errno_text(code),
                "sudo dmesg | tail may tell more"};
    }
}

RingMapping::RingMapping(int session_fd, std::uint32_t cpu, std::uint64_t ring_size)
    : cpu_(cpu), size_(ring_size), page_(page_size()),
      consumer_(map_part(session_fd, cpu * TRAPLINE_MMAP_STRIDE, page_, PROT_READ | PROT_WRITE,
                         "consumer page", cpu)),
      ring_(map_part(session_fd, cpu * TRAPLINE_MMAP_STRIDE + page_, page_ + ring_size, PROT_READ,
                     "ring", cpu)) {}

RingMemory RingMapping::memory() const {
    RingMemory memory;
    memory.control = reinterpret_cast<const tl_ring_control*>(ring_.data());
    memory.consumer = reinterpret_cast<tl_ring_consumer*>(consumer_.data());
    memory.data = reinterpret_cast<const std::uint8_t*>(ring_.data() + page_);
    memory.size = size_;
    return memory;
}

Session::Session() : device_(open_device()) {
    const Answer answer = channel_.request(request(TRAPLINE_C_INFO), "ask for the module's limits");
    // Before all else: the rest of another ABI's answer may mean something else.
    check_abi(parse_abi(answer.header()));
    info_ = parse_info(answer.header());
}

Message Session::request(trapline_command command, std::size_t size) const {
    return new_request(channel_.family(), command, device_.get(), size);
}

SessionGeometry Session::configure(const SessionConfig& config) {
    constexpr std::size_t per_tgid = 8;
    Message message = request(TRAPLINE_C_CONFIGURE,
                              8192 + config.tgids.size() * per_tgid +
                                  config.only_cpus.size() * sizeof(config.only_cpus.front()));
    put_configure(message.get(), config);
    geometry_ =
        parse_geometry(channel_.request(std::move(message), "configure the session").header());
    return geometry_;
}

void Session::metadata(std::string_view text) {
    std::size_t offset = 0;
    while (offset < text.size()) {
        const std::string_view piece = text.substr(offset, TRAPLINE_METADATA_PIECE);
        Message message = request(TRAPLINE_C_METADATA, 4096 + piece.size());
        put_metadata(message.get(), offset, piece);
        channel_.request(std::move(message), "store the trace's metadata");
        offset += piece.size();
    }
}

std::vector<Verdict> Session::add_probes(std::span<const ProbeRequest> probes,
                                         const PlantProgress& progress) {
    return plant(
        probes,
        [this](std::span<const ProbeRequest* const> offered) {
            Message message = request(TRAPLINE_C_PROBE_ADD, probes_message_size);
            put_probes(message.get(), offered);
            return parse_verdicts(channel_.request(std::move(message), "plant probes").header());
        },
        progress);
}

void Session::delete_probe(std::optional<std::uint16_t> event_id) {
    for (;;) {
        Message message = request(TRAPLINE_C_PROBE_DELETE);
        if (event_id)
            put_event_id(message.get(), *event_id);
        try {
            channel_.request(std::move(message), event_id ? "lift a probe" : "lift the probes");
            return;
        } catch (const ControlError& error) {
            if (error.code() != EAGAIN) // else its time was up, and more are planted
                throw;
        }
    }
}

ClockAnchor Session::clock(trapline_command command, std::string_view what) {
    return parse_clock(channel_.request(request(command), what).header());
}

ClockAnchor Session::start() {
    return clock(TRAPLINE_C_START, "start the session");
}

ClockAnchor Session::stop() {
    return clock(TRAPLINE_C_STOP, "stop the session");
}

ClockAnchor Session::sync() {
    return clock(TRAPLINE_C_SYNC, "synchronise with the rings' writers");
}

std::vector<ProbeReport> Session::dump_probes(Message message) {
    std::vector<ProbeReport> reports;
    for (const Answer& answer : channel_.dump(std::move(message), "list the probes"))
        reports.push_back(parse_probe(answer.header()));
    return reports;
}

std::vector<ProbeReport> Session::probes(bool pending) {
    if (!pending)
        return dump_probes(request(TRAPLINE_C_PROBE_DUMP));
    Message message = request(TRAPLINE_C_PROBE_DUMP);
    put_pending(message.get());
    try {
        return dump_probes(std::move(message));
    } catch (const ControlError& error) {
        if (error.code() != EOPNOTSUPP)
            throw;
    }
    std::vector<ProbeReport> reports = probes();
    for (ProbeReport& report : reports)
        report.pending_known = false;
    return reports;
}

std::optional<std::vector<ProbeReport>> Session::probes_of(std::uint32_t session_number) {
    Message message = request(TRAPLINE_C_PROBE_DUMP);
    put_session_number(message.get(), session_number);
    try {
        return dump_probes(std::move(message));
    } catch (const ControlError& error) {
        if (error.code() != ESRCH)
            throw;
        return std::nullopt;
    }
}

SiteBytes Session::site(std::uint16_t event_id) {
    Message message = request(TRAPLINE_C_SITE_READ);
    put_event_id(message.get(), event_id);
    return parse_site(
        channel_.request(std::move(message), "read the bytes at a probe's site").header());
}

std::vector<SessionReport> Session::sessions() {
    std::vector<SessionReport> reports;
    for (const Answer& answer :
         channel_.dump(request(TRAPLINE_C_SESSION_LIST), "list the sessions"))
        reports.push_back(parse_session(answer.header()));
    return reports;
}

MarkReport Session::mark(std::string_view text) {
    if (text.empty() || text.size() > TRAPLINE_MARK_MAX)
        throw Error(
            fmt::format("a mark has 1 to {} bytes, not {}", TRAPLINE_MARK_MAX, text.size()));
    Message message = request(TRAPLINE_C_MARK, 4096 + text.size());
    put_mark(message.get(), text);
    return parse_mark(channel_.request(std::move(message), "put a mark").header());
}

RingMapping Session::map_ring(std::uint32_t cpu) const {
    if (cpu >= geometry_.cpus)
        throw Error(fmt::format("cannot map the ring of CPU {}: the session has {} rings", cpu,
                                geometry_.cpus));
    return {device_.get(), cpu, geometry_.ring_size};
}

} // namespace trapline
