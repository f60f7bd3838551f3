// SPDX-License-Identifier: GPL-2.0
// From what was typed to what the module is asked to plant.
#pragma once

#include <span>
#include <string>
#include <vector>

#include "control/session.h"
#include "spec/compile.h"
#include "spec/probe_spec.h"
#include "spec/selection.h"
#include "symbols/blacklist.h"
#include "symbols/kallsyms.h"
#include "trace/event.h"
#include "types/type.h"

namespace trapline {

struct ProbePlan {
    std::vector<ProbeRequest> requests;
    std::vector<EventLayout> layouts; // the events of the requests, in order
    std::vector<Tested> tested;       // their conditions
    std::vector<std::string> texts;   // as typed, for messages
    std::vector<std::string> notes;   // lines: whose types aren't known, what is left out, ...
    std::vector<Need> needs;          // what if the kernel refuses it
};

// A probe that does something besides recording.
struct TriggerSpec {
    ProbeSpec spec;
    trapline_trigger trigger = TRAPLINE_TRIGGER_STOP;
    std::string name; // before its events' name: "until:vfs_read"
};

// With `begin`, each call gets an entry probe of its own too. `names`: what a name means.
// `hz`: of the session's clock. Where no types are known, arguments are raw. Error for what can't
// be.
ProbePlan plan_probes(std::span<const ProbeSpec> specs, std::span<const TriggerSpec> triggers,
                      bool begin, Names names, std::uint64_t hz, const Kallsyms& kallsyms,
                      const Blacklist& blacklist, TypeSource& types);

// Plants them all, or throws saying which were refused and why; what was planted goes with
// the session. `keep_on` false: gives up. Returns lines about those that were left out.
std::vector<std::string> plant_probes(Session& session, const ProbePlan& plan,
                                      const std::function<bool()>& keep_on);

// What is to be said of `verdicts`, those of the plan's requests in order; throws as plant_probes()
// does.
std::vector<std::string> refusals(const ProbePlan& plan, std::span<const Verdict> verdicts);

} // namespace trapline
