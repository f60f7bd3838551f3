// SPDX-License-Identifier: GPL-2.0
// From what was typed to what the module is asked to plant.
#include "command/probe_plan.h"

#include <fmt/format.h>

#include "spec/compile.h"
#include "spec/resolve.h"

namespace trapline {

namespace {

void add(ProbePlan& plan, const ProbeSpec& spec, const ResolvedProbe& resolved, std::uint64_t hz) {
    const auto id = static_cast<std::uint16_t>(plan.requests.size() + 1);
    CompiledProbe compiled = compile_probe(spec, id, hz);
    ProbeRequest request;
    request.event_id = id;
    request.kind = spec.kind;
    request.symbol = resolved.symbol;
    request.offset = resolved.offset;
    if (resolved.address != 0)
        request.address = resolved.address;
    request.entry_program = std::move(compiled.entry);
    request.return_program = std::move(compiled.ret);
    plan.requests.push_back(std::move(request));
    plan.layouts.push_back(std::move(compiled.layout));
    plan.texts.push_back(spec.text);
}

} // namespace

ProbePlan plan_probes(std::span<const ProbeSpec> specs, bool begin, std::uint64_t hz,
                      const Kallsyms& kallsyms, const Blacklist& blacklist) {
    ProbePlan plan;
    std::string wrong;
    std::string hint; // the first one's
    int exit_code = Error::failed;
    for (const ProbeSpec& spec : specs) {
        try {
            const ResolvedProbe resolved = resolve(spec, kallsyms, blacklist);
            if (begin && spec.kind == TRAPLINE_CALL) {
                ProbeSpec entry = spec;
                entry.kind = TRAPLINE_ENTRY;
                add(plan, entry, resolved, hz);
            }
            add(plan, spec, resolved, hz);
        } catch (const Error& error) {
            if (wrong.empty())
                exit_code = error.exit_code();
            wrong += fmt::format("{}{}", wrong.empty() ? "" : "\n", error.what());
            if (hint.empty())
                hint = error.hint();
        }
    }
    if (!wrong.empty())
        throw Error(wrong, hint, exit_code);
    return plan;
}

void plant_probes(Session& session, const ProbePlan& plan, const std::function<bool()>& keep_on) {
    const std::vector<Verdict> verdicts =
        session.add_probes(plan.requests, [&](std::size_t, std::size_t) { return keep_on(); });
    std::string refused;
    for (std::size_t i = 0; i < verdicts.size(); i++) {
        const Verdict& verdict = verdicts[i];
        if (verdict.error == 0)
            continue;
        refused += fmt::format("{}cannot plant {}: {}", refused.empty() ? "" : "\n", plan.texts[i],
                               verdict.text.empty() ? errno_text(verdict.error) : verdict.text);
    }
    if (!refused.empty())
        throw Error(refused, "nothing was traced; leave out what is refused, or choose another "
                             "function or instruction");
}

} // namespace trapline
