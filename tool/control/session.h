// SPDX-License-Identifier: GPL-2.0
// A session with the module: the descriptor that owns rings and probes, and the channel
// that commands it. Once configured, its commands may come from several threads.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "control/channel.h"
#include "control/codec.h"
#include "control/planting.h"
#include "ring/memory.h"
#include "util/error.h"
#include "util/fd.h"

namespace trapline {

// Why /dev/trapline could not be opened.
enum class OpenFailure {
    not_loaded,    // no such device: the module, or its node, is not there
    not_permitted, // not root, or root without the capability
    locked_down,   // kernel lockdown forbids kprobes
    busy,
    other,
};

class OpenError : public Error {
public:
    OpenError(OpenFailure failure, int code, const std::string& message, const std::string& hint);

    OpenFailure failure() const { return failure_; }
    int code() const { return code_; } // errno

private:
    OpenFailure failure_;
    int code_;
};

// What open() of the device failing with `code` means, for an effective user id and the
// text of /sys/kernel/security/lockdown (empty if unknown).
OpenError explain_open(int code, unsigned euid, std::string_view lockdown);

// A ring as mapped: stays valid when the session is closed, and keeps it alive.
class RingMapping {
public:
    RingMapping(int session_fd, std::uint32_t cpu, std::uint64_t ring_size);

    std::uint32_t cpu() const { return cpu_; }
    RingMemory memory() const;

private:
    std::uint32_t cpu_;
    std::uint64_t size_;
    std::size_t page_;
    Mapping consumer_;
    Mapping ring_; // control page, then data
};

class Session {
public:
    // Opens the device (OpenError), connects, and compares ABIs.
    Session();

    int fd() const { return device_.get(); } // for poll(), and to hand on
    const ModuleInfo& info() const { return info_; }

    SessionGeometry configure(const SessionConfig& config);

    // The trace's CTF metadata, whole; once, before start().
    void metadata(std::string_view text);

    // Plants all of `probes`, or as many as `progress` lets it. The verdicts are in the
    // order of the probes; those refused are among them, with their errno.
    std::vector<Verdict> add_probes(std::span<const ProbeRequest> probes,
                                    const PlantProgress& progress = {});

    // Lifts one probe, or all.
    void delete_probe(std::optional<std::uint16_t> event_id = std::nullopt);

    ClockAnchor start();
    ClockAnchor stop();
    ClockAnchor sync(); // every record older than its ticks is visible

    // With `pending`, the calls still inside as far as sleeping tasks show them.
    std::vector<ProbeReport> probes(bool pending = false);
    SiteBytes site(std::uint16_t event_id);

    // All that are open, this one among them, the oldest first.
    std::vector<SessionReport> sessions();

    // The probes of any of them. No value: it was closed since.
    std::optional<std::vector<ProbeReport>> probes_of(std::uint32_t session_number);

    // Puts a mark into the stream of every session that is started, this one or others.
    MarkReport mark(std::string_view text);

    RingMapping map_ring(std::uint32_t cpu) const;

private:
    Message request(trapline_command command, std::size_t size = 4096) const;
    ClockAnchor clock(trapline_command command, std::string_view what);
    std::vector<ProbeReport> dump_probes(Message message);

    UniqueFd device_;
    Channel channel_;
    ModuleInfo info_;
    SessionGeometry geometry_;
};

} // namespace trapline
