// SPDX-License-Identifier: GPL-2.0
// From what was typed to what the module is asked to plant.
#include "command/probe_plan.h"

#include <algorithm>
#include <cerrno>
#include <fmt/format.h>
#include <utility>

#include "spec/caret.h"
#include "spec/function_types.h"
#include "spec/resolve.h"
#include "trace/description.h"
#include "util/error.h"
#include "util/remedy.h"

namespace trapline {

namespace {

// What a dump at a crash knows of the event. Where it is too long the enums have no names in
// it, or it isn't there; nothing but such a dump is the worse for it.
std::string label_of(EventLayout layout) {
    std::string label = layout_json(layout);
    if (label.size() <= TRAPLINE_LABEL_MAX)
        return label;
    for (std::vector<Field>* fields : {&layout.entry_fields, &layout.return_fields}) {
        for (Field& field : *fields) {
            if (field.form == NumberForm::enumeration)
                field.form = NumberForm::signed_;
        }
    }
    label = layout_json(layout);
    return label.size() <= TRAPLINE_LABEL_MAX ? label : std::string();
}

// Why types aren't known, and of which functions: each reason is said once.
class UntypedNotes {
public:
    void add(const std::string& why, const std::string& function) {
        auto known = std::find_if(reasons_.begin(), reasons_.end(),
                                  [&](const Reason& reason) { return reason.why == why; });
        if (known == reasons_.end())
            known = reasons_.insert(reasons_.end(), Reason{why, {}});
        std::vector<std::string>& names = known->functions;
        if (std::find(names.begin(), names.end(), function) == names.end())
            names.push_back(function);
    }

    std::vector<std::string> lines() const {
        std::vector<std::string> all;
        for (const Reason& reason : reasons_)
            all.push_back(fmt::format("{}: no types, arguments are raw, of {}", reason.why,
                                      few_names(reason.functions)));
        return all;
    }

private:
    struct Reason {
        std::string why;
        std::vector<std::string> functions;
    };

    std::vector<Reason> reasons_;
};

class Planner {
public:
    Planner(Names names, std::uint64_t hz, const Kallsyms& kallsyms, const Blacklist& blacklist,
            TypeSource& types)
        : names_(names), hz_(hz), kallsyms_(kallsyms), blacklist_(blacklist), types_(types) {}

    // With `begin`, a call's entry besides.
    void plan(const ProbeSpec& spec, bool begin, const TriggerSpec* trigger) {
        try {
            const Selection selection = select_probes(spec, kallsyms_, blacklist_, names_, &types_);
            plan_.notes.insert(plan_.notes.end(), selection.notes.begin(), selection.notes.end());
            note_empty(spec);
            const std::size_t before = plan_.requests.size();
            if (before + selection.probes.size() * (begin ? 2 : 1) > TRAPLINE_PROBES_MAX)
                throw UsageError(
                    fmt::format("too many probes: a session has at most {}", TRAPLINE_PROBES_MAX),
                    "ask for fewer functions");
            std::vector<std::string> left_out;
            std::optional<Error> first;
            for (const SelectedProbe& probe : selection.probes) {
                const std::size_t planned = plan_.requests.size();
                try {
                    add_both(probe, begin, trigger);
                } catch (const Error& error) {
                    if (probe.need == Need::must)
                        throw;
                    forget(planned);
                    left_out.push_back(probe.place.function);
                    if (!first)
                        first = error;
                }
            }
            if (plan_.requests.size() == before && first)
                throw Error(*first);
            if (first)
                plan_.notes.push_back(fmt::format("{}: left out, for want of what is asked for: {}",
                                                  brief(spec.text), few_names(left_out)));
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
        for (std::string& line : untyped_.lines())
            plan_.notes.push_back(std::move(line));
        return std::move(plan_);
    }

private:
    // The same may be true of many functions, and of a call's entry besides.
    void note_once(std::string note) {
        if (std::find(plan_.notes.begin(), plan_.notes.end(), note) == plan_.notes.end())
            plan_.notes.push_back(std::move(note));
    }

    void note_empty(const ProbeSpec& spec) {
        if (spec.arguments && spec.arguments->items.empty() && !spec.arguments->result)
            plan_.notes.push_back(fmt::format("{}: its list is empty, so nothing of the entry is "
                                              "recorded; a $name in double quotes is the shell's",
                                              brief(spec.text)));
    }

    // All requests but the first `count`.
    void forget(std::size_t count) {
        plan_.requests.resize(count);
        plan_.layouts.resize(count);
        plan_.tested.resize(count);
        plan_.texts.resize(count);
        plan_.needs.resize(count);
    }

    void add_both(const SelectedProbe& probe, bool begin, const TriggerSpec* trigger) {
        if (begin && probe.spec.kind == TRAPLINE_CALL) {
            SelectedProbe entry = probe;
            entry.spec.kind = TRAPLINE_ENTRY;
            entry.spec.begins_call = true;
            add(entry, nullptr);
        }
        add(probe, trigger);
    }

    static bool needs_types(const ProbeSpec& spec) {
        return spec.offset == 0 || spec.arguments || spec.condition;
    }

    CompiledProbe compile(const ProbeSpec& spec, const ResolvedProbe& resolved, std::uint16_t id) {
        if (!needs_types(spec))
            return compile_probe(spec, id, hz_);
        try {
            KnownTypes known = function_types(types_, resolved.module, resolved.function,
                                              resolved.only, resolved.file_address);
            if (spec.offset != 0)
                known.function = std::nullopt; // what is where inside isn't known
            CompiledProbe compiled = compile_probe(spec, id, hz_, known, fields_);
            if (!known.function && spec.offset == 0)
                untyped_.add(known.why_none, resolved.function);
            for (const std::string& name : compiled.left_out)
                plan_.notes.push_back(fmt::format("{} of {} isn't shown: it is a structure in "
                                                  "memory, or in no register that is saved",
                                                  name, resolved.function));
            if (!compiled.members_left_out.empty())
                note_once(fmt::format("{}: left out, being no numbers and no text: {}; name what "
                                      "is in them, or of structures how deep, as in :depth[2]",
                                      brief(spec.text), few_names(compiled.members_left_out)));
            return compiled;
        } catch (const UsageError&) {
            throw;
        } catch (const Error& damaged) {
            if (spec.arguments)
                throw;
            untyped_.add(damaged.what(), resolved.function);
        }
        return compile_probe(spec, id, hz_);
    }

    void add(const SelectedProbe& probe, const TriggerSpec* trigger) {
        const ProbeSpec& spec = probe.spec;
        const ResolvedProbe& resolved = probe.place;
        const auto id = static_cast<std::uint16_t>(plan_.requests.size() + 1);
        CompiledProbe compiled = compile(spec, resolved, id);
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
        request.label = label_of(compiled.layout);
        plan_.requests.push_back(std::move(request));
        plan_.layouts.push_back(std::move(compiled.layout));
        plan_.tested.push_back(compiled.tested);
        plan_.texts.push_back(spec.text);
        plan_.needs.push_back(probe.need);
    }

    Names names_;
    std::uint64_t hz_;
    const Kallsyms& kallsyms_;
    const Blacklist& blacklist_;
    TypeSource& types_;
    TypedFields fields_;
    UntypedNotes untyped_;
    ProbePlan plan_;
    std::string wrong_;
    std::string hint_;              // the first one's
    int exit_code_ = Error::failed; // the same
};

} // namespace

ProbePlan plan_probes(std::span<const ProbeSpec> specs, std::span<const TriggerSpec> triggers,
                      bool begin, Names names, std::uint64_t hz, const Kallsyms& kallsyms,
                      const Blacklist& blacklist, TypeSource& types) {
    Planner planner(names, hz, kallsyms, blacklist, types);
    for (const ProbeSpec& spec : specs)
        planner.plan(spec, begin, nullptr);
    for (const TriggerSpec& trigger : triggers)
        planner.plan(trigger.spec, false, &trigger);
    return planner.finish();
}

namespace {

// Those of one PROBE, of which some may be left out.
struct Group {
    std::string text;
    bool some_needed = false;
    std::size_t all = 0;
    std::vector<std::string> refused; // names of functions
    std::string why;                  // the first one's
};

// What the kernel says of a place, and not of what there is too little of or what is switched off.
bool is_about_the_place(int error) {
    return error == EINVAL || error == EILSEQ || error == ENOENT || error == ERANGE;
}

std::string verdict_text(const Verdict& verdict) {
    return verdict.text.empty() ? errno_text(verdict.error) : verdict.text;
}

} // namespace

std::vector<std::string> refusals(const ProbePlan& plan, std::span<const Verdict> verdicts) {
    std::vector<Group> groups;
    std::string refused;
    const auto refuse = [&](const std::string& text, const std::string& why) {
        refused += fmt::format("{}cannot plant {}: {}", refused.empty() ? "" : "\n", text, why);
    };
    for (std::size_t i = 0; i < verdicts.size(); i++) {
        const Verdict& verdict = verdicts[i];
        if (plan.needs[i] == Need::must) {
            if (verdict.error != 0)
                refuse(plan.texts[i], verdict_text(verdict));
            continue;
        }
        if (groups.empty() || groups.back().text != plan.texts[i])
            groups.push_back({plan.texts[i], plan.needs[i] == Need::some, 0, {}, {}});
        Group& group = groups.back();
        group.all++;
        if (verdict.error == 0)
            continue;
        const std::string& name = plan.layouts[i].name;
        if (!is_about_the_place(verdict.error)) {
            refuse(fmt::format("{} ({})", plan.texts[i], name), verdict_text(verdict));
            break;
        }
        if (group.refused.empty())
            group.why = verdict_text(verdict);
        group.refused.push_back(name);
    }
    std::vector<std::string> notes;
    for (const Group& group : groups) {
        if (group.refused.empty())
            continue;
        const std::string what = fmt::format("{} ({})", few_names(group.refused), group.why);
        if (group.some_needed && group.refused.size() == group.all)
            refuse(group.text, what);
        else
            notes.push_back(fmt::format("{}: left out, {} of {} probes: {}", group.text,
                                        group.refused.size(), group.all, what));
    }
    if (refused.empty())
        return notes;
    const bool switched_off =
        std::all_of(verdicts.begin(), verdicts.end(),
                    [](const Verdict& verdict) { return verdict.error == EOPNOTSUPP; });
    throw Error(refused, switched_off
                             ? fmt::format("nothing was traced; switch them on: {} && {}",
                                           remedy::enable_kprobes, remedy::enable_ftrace)
                             : "nothing was traced; leave out what is refused, or choose another "
                               "function or instruction");
}

std::vector<std::string> plant_probes(Session& session, const ProbePlan& plan,
                                      const std::function<bool()>& keep_on) {
    return refusals(plan, session.add_probes(plan.requests,
                                             [&](std::size_t, std::size_t) { return keep_on(); }));
}

} // namespace trapline
