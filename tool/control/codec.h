// SPDX-License-Identifier: GPL-2.0
// Building the requests of shared/trapline.h and reading their answers. Nothing here
// touches a socket.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "shared/program.h"
#include "shared/trapline.h"
#include "trace/clock.h"
#include "util/error.h"

struct nl_msg;
struct nlmsghdr;

namespace trapline {

struct MessageDeleter {
    void operator()(nl_msg* message) const noexcept;
};
using Message = std::unique_ptr<nl_msg, MessageDeleter>;

// What CONFIGURE is asked for.
struct SessionConfig {
    std::uint64_t ring_size = 0;      // bytes per possible CPU, a power of two; 0: the default
    std::uint32_t maxactive = 0;      // calls inside at once; 0: the module's choice
    std::vector<std::uint32_t> tgids; // record only these thread groups; none: all
    bool follow = false;              // and their descendants
    std::optional<std::uint32_t> exclude_tgid;
    // Only hits on these CPUs, and of tasks with these users, names and cgroups (descriptors of
    // their directories); none: all.
    std::vector<std::uint32_t> only_cpus;
    std::vector<std::uint32_t> only_uids;
    std::vector<std::string> only_comms; // of 15 bytes at most
    std::vector<std::uint32_t> only_cgroups;
    bool overwrite = false;   // a flight recorder: the oldest chunk gives way to the newest
    bool wake_chunks = false; // poll() says POLLIN only when a chunk is finished
    std::uint32_t guard = 0;  // percent of a CPU that hits may take over a second; 0: no limit
    std::uint64_t limit = 0;  // records, after which a run ends; 0: none
};

// What CONFIGURE gave.
struct SessionGeometry {
    std::uint64_t ring_size = 0;  // bytes per CPU
    std::uint64_t chunk_size = 0; // bytes
    std::uint32_t cpus = 0;       // possible CPUs: ids are 0 to cpus - 1
    std::uint32_t maxactive = 0;
};

struct ModuleInfo {
    std::uint32_t abi = 0;
    std::string version;
    std::uint32_t cpus = 0;
    std::uint64_t ring_min = 0; // bytes per CPU
    std::uint64_t ring_max = 0;
    std::uint64_t ring_default = 0;
    std::uint32_t record_max = 0; // bytes of fields
    std::uint32_t insns_max = 0;
    std::uint32_t maxactive = 0;
    std::uint32_t maxactive_max = 0;
    std::string clock_name; // "tsc" or "mono"
    std::uint64_t clock_hz = 0;
};

// A probe to be planted: by address, or by symbol and offset.
struct ProbeRequest {
    std::uint16_t event_id = 0; // 1 to TL_ID_MAX, never used twice in a session
    trapline_probe_kind kind = TRAPLINE_CALL;
    std::string symbol; // "symbol" or "module:symbol"; with an address: its name, or empty
    std::uint64_t offset = 0;
    std::optional<std::uint64_t> address; // where the trap goes, the offset included
    std::uint32_t maxactive = 0;          // 0: the session's
    std::vector<tl_insn> entry_program;
    std::vector<tl_insn> return_program;
    trapline_trigger trigger = TRAPLINE_TRIGGER_NONE;
    std::string label;          // for a dump at a crash: the event's layout_json(); may be empty
    std::uint32_t max_rate = 0; // records in each second; 0: no limit
};

// What became of a ProbeRequest.
struct Verdict {
    std::uint16_t event_id = 0;
    int error = 0; // 0, or a positive errno
    std::uint64_t address = 0;
    std::string text; // the module's own words, if any
};

struct ProbeReport {
    std::uint16_t event_id = 0;
    trapline_probe_kind kind = TRAPLINE_CALL;
    std::string symbol; // empty if it was planted by address alone
    std::uint64_t offset = 0;
    std::uint64_t address = 0;
    bool lifted = false;
    trapline_technique technique = TRAPLINE_NO_TRAP;
    std::uint32_t maxactive = 0;
    trapline_counters counters{};
    std::vector<trapline_pending> pending; // at most TRAPLINE_PENDING_MAX
    bool pending_known = true;             // false: asked for, and the kernel can't tell
};

// The text of the kernel where a trap is or was: TRAPLINE_SITE_BYTES, or fewer where the
// text ends before.
struct SiteBytes {
    std::uint64_t address = 0;
    std::vector<std::byte> before; // as found when the probe was added
    std::vector<std::byte> now;    // none: unreadable, its module is gone

    bool restored() const { return !now.empty() && before == now; }
};

struct SessionReport {
    std::uint32_t number = 0; // from 1, never used again
    std::uint32_t tgid = 0;   // who opened it
    std::string comm;
    std::uint32_t uid = 0;
    bool started = false;
    std::uint32_t probes = 0;    // planted now
    std::uint64_t ring_size = 0; // bytes per CPU; 0: not configured
    std::uint64_t recorded = 0;
    std::uint64_t lost = 0;
    bool own = false; // the asker's
    bool overwrite = false;
    trapline_ended ended = TRAPLINE_ENDED_NOT; // its run, before STOP
    std::uint64_t spent_ns = 0;                // that hits took on all CPUs; with a guard only
    std::uint32_t load_percent = 0;            // what the guard found too much
    std::uint32_t load_cpu = 0;                // and where
    std::optional<std::uint64_t> silenced_ns;  // CLOCK_MONOTONIC: a crash ended its run then
};

// What became of a mark.
struct MarkReport {
    std::uint32_t marked = 0; // sessions that have it
    std::uint32_t lost = 0;   // that had no room for it
};

// A request of `family`, naming the session by its descriptor; room for `size` bytes.
Message new_request(int family, trapline_command command, int session_fd, std::size_t size = 4096);

void put_configure(nl_msg* message, const SessionConfig& config);
void put_metadata(nl_msg* message, std::uint64_t offset, std::string_view piece);
void put_event_id(nl_msg* message, std::uint16_t id);
void put_pending(nl_msg* message);
void put_session_number(nl_msg* message, std::uint32_t number);
void put_mark(nl_msg* message, std::string_view text);

// As many of `probes` as the message and its 16-bit attribute lengths hold, in order;
// returns how many. Throws if not even the first fits.
std::size_t put_probes(nl_msg* message, std::span<const ProbeRequest* const> probes);

// How large a message to give to put_probes().
inline constexpr std::size_t probes_message_size = std::size_t{68} << 10;

// Each takes a whole message (its nlmsg_len lies inside of the buffer), or null where
// the module acknowledged without answering, and throws Error for what it can't use.
std::uint32_t parse_abi(const nlmsghdr* answer);
ModuleInfo parse_info(const nlmsghdr* answer);
SessionGeometry parse_geometry(const nlmsghdr* answer);
std::vector<Verdict> parse_verdicts(const nlmsghdr* answer);
ClockAnchor parse_clock(const nlmsghdr* answer);
MarkReport parse_mark(const nlmsghdr* answer);
SiteBytes parse_site(const nlmsghdr* answer);
ProbeReport parse_probe(const nlmsghdr* answer);
SessionReport parse_session(const nlmsghdr* answer);

// The loaded module speaks another ABI than we do.
class AbiError : public Error {
public:
    explicit AbiError(std::uint32_t module_abi);

    std::uint32_t module_abi() const { return module_abi_; }

private:
    std::uint32_t module_abi_;
};

// Throws AbiError unless the module speaks our ABI.
void check_abi(std::uint32_t module_abi);

// The attribute of `request` that an extended ack's offset lies in: "RING_SIZE"; empty if
// there is none.
std::string_view attribute_at(const nlmsghdr* request, std::uint32_t offset);

} // namespace trapline
