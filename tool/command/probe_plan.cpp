// SPDX-License-Identifier: GPL-2.0
// From what was typed to what the module is asked to plant.
#include "command/probe_plan.h"

#include <fmt/format.h>

#include "spec/compile.h"
#include "spec/resolve.h"
#include "trace/description.h"

namespace trapline {

namespace {

class Planner {
public:
    Planner(std::uint64_t hz, const Kallsyms& kallsyms, const Blacklist& blacklist)
        : hz_(hz), kallsyms_(kallsyms), blacklist_(blacklist) {}

    // With `begin`, a call's entry besides.
    void plan(const ProbeSpec& spec, bool begin, const TriggerSpec* trigger) {
        try {
            const ResolvedProbe resolved = resolve(spec, kallsyms_, blacklist_);
            if (begin && spec.kind == TRAPLINE_CALL) {
                ProbeSpec entry = spec;
                entry.kind = TRAPLINE_ENTRY;
                add(entry, resolved, nullptr);
            }
            add(spec, resolved, trigger);
        } catch (const Error& error) {
            if (wrong_.empty())
                exit_code_ = error.exit_code();
            wrong_ += fmt::format("{}{}", wrong_.empty() ? "" : "\n", error.what());
            if (hint_.empty())
                hint_ = error.hint();
        }
    }

    ProbePlan finish() {
        if (!wrong_.empty())
            throw Error(wrong_, hint_, exit_code_);
        return std::move(plan_);
    }

private:
    void add(const ProbeSpec& spec, const ResolvedProbe& resolved, const TriggerSpec* trigger) {
        const auto id = static_cast<std::uint16_t>(plan_.requests.size() + 1);
        CompiledProbe compiled = compile_probe(spec, id, hz_);
        ProbeRequest request;
        request.event_id = id;
        request.kind = spec.kind;
        request.symbol = resolved.symbol;
        request.offset = resolved.offset;
        if (resolved.address != 0)
            request.address = resolved.address;
        request.entry_program = std::move(compiled.entry);
        request.return_program = std::move(compiled.ret);
        if (trigger) {
            request.trigger = trigger->trigger;
            compiled.layout.name = fmt::format("{}:{}", trigger->name, compiled.layout.name);
        }
        request.label = layout_json(compiled.layout);
        if (request.label.size() > TRAPLINE_LABEL_MAX)
            request.label.clear(); // nothing but a dump at a crash is the worse for it
        plan_.requests.push_back(std::move(request));
        plan_.layouts.push_back(std::move(compiled.layout));
        plan_.texts.push_back(spec.text);
    }

    std::uint64_t hz_;
    const Kallsyms& kallsyms_;
    const Blacklist& blacklist_;
    ProbePlan plan_;
    std::string wrong_;
    std::string hint_;              // the first one's
    int exit_code_ = Error::failed; // the same
};

} // namespace

ProbePlan plan_probes(std::span<const ProbeSpec> specs, std::span<const TriggerSpec> triggers,
                      bool begin, std::uint64_t hz, const Kallsyms& kallsyms,
                      const Blacklist& blacklist) {
    Planner planner(hz, kallsyms, blacklist);
    for (const ProbeSpec& spec : specs)
        planner.plan(spec, begin, nullptr);
    for (const TriggerSpec& trigger : triggers)
        planner.plan(trigger.spec, false, &trigger);
    return planner.finish();
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
