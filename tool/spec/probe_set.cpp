// SPDX-License-Identifier: GPL-2.0
// Compiled probes: what types and lines say about them.
#include "spec/probe_set.h"

#include <algorithm>
#include <fmt/format.h>

#include "spec/caret.h"
#include "spec/compile.h"
#include "spec/function_types.h"
#include "spec/source_finder.h"
#include "util/edit_distance.h"
#include "util/error.h"
#include "util/kernel_name.h"

namespace trapline {

namespace {

constexpr std::uint64_t any_hz = 1'000'000'000; // the target's clock is its own

// Asks all that whoever plants the probe will ask.
class SetCompiler {
public:
    SetCompiler(SavingSource& source, const std::vector<KernelBuild>& builds)
        : source_(source), builds_(builds) {}

    void compile(const std::string& text) {
        ProbeSpec spec = parse_probe(text);
        if (spec.pattern || spec.address)
            throw UsageError(fmt::format("probe '{}': {} can't be compiled", brief(text),
                                         spec.pattern ? "a pattern" : "an address"),
                             "only the kernel that runs knows which functions that is: name them");
        const SourceFinder finder(spec, &source_);
        if (spec.is_of_source()) {
            const PlaceInFile found = finder.find();
            note_place(finder, found);
            spec.offset += found.place.offset;
            return compile_at(spec, found);
        }
        std::vector<PlaceInFile> places = finder.functions(spec.function);
        if (places.empty() && !spec.has_offset && spec.number == 0)
            places = clones(finder, spec);
        if (places.empty() && !source_.modules_with_lines().empty()) {
            finder.fail_if_cloned(spec.function);
            finder.fail_if_inlined(spec.function);
            throw Error(fmt::format("probe '{}': there is no function {} in what --vmlinux names",
                                    brief(text), spec.function),
                        "a function of a module is in the module's own file");
        }
        if (places.empty()) {
            check_kind(spec);
            for (const std::string& module : modules(spec))
                places.push_back({module, {.function = spec.function, .file = {}}});
        }
        for (const PlaceInFile& place : places) {
            if (place.place.address != 0)
                note_place(finder, place);
            compile_at(spec, place);
        }
    }

    std::vector<std::string> notes;

private:
    // They are traced in its stead.
    std::vector<PlaceInFile> clones(const SourceFinder& finder, const ProbeSpec& spec) {
        std::vector<PlaceInFile> places;
        const std::vector<std::string> made = finder.clones(spec.function);
        for (const std::string& clone : made)
            for (PlaceInFile& place : finder.functions(clone))
                places.push_back(std::move(place));
        if (!places.empty())
            notes.push_back(fmt::format("{}: the compiler made {} of it, traced instead: "
                                        "parameters may be others",
                                        spec.text, fmt::join(made, ", ")));
        return places;
    }

    // That may have the function.
    std::vector<std::string> modules(const ProbeSpec& spec) {
        if (!spec.module.empty())
            return {module_of(spec)};
        std::vector<std::string> having;
        std::string why;
        for (const KernelBuild& build : builds_) {
            const Types* types = source_.types_of(build.module, why);
            if (types != nullptr && types->function(spec.function))
                having.push_back(build.module);
        }
        return having.empty() ? std::vector<std::string>{""} : having;
    }

    static std::string module_of(const ProbeSpec& spec) {
        std::string module = spec.module == "kernel" || spec.module == "vmlinux" ? "" : spec.module;
        std::replace(module.begin(), module.end(), '-', '_');
        return module;
    }

    bool is_named(const std::string& module) const {
        return std::any_of(builds_.begin(), builds_.end(),
                           [&](const KernelBuild& build) { return build.module == module; });
    }

    // "kprobes:" is no module.
    void check_kind(const ProbeSpec& spec) const {
        constexpr unsigned slip = 2; // two letters that changed places
        for (const std::string_view kind : {"kprobe", "kretprobe"})
            if (!is_named(module_of(spec)) && edit_distance(spec.module, kind, slip))
                throw Error(fmt::format("probe '{}': of no module {} types were named",
                                        brief(spec.text), spec.module),
                            fmt::format("did you mean {}:{}?", kind, spec.function));
    }

    void note_place(const SourceFinder& finder, const PlaceInFile& place) {
        std::string why;
        if (const SourceLines* lines = source_.lines_of(place.module, why))
            lines->anchors(place.place.address);
        finder.functions(place.place.function);
    }

    // Whether it will be the only one of its name is known only there.
    void compile_at(const ProbeSpec& spec, const PlaceInFile& place) {
        const std::string& function = place.place.function;
        KnownTypes known = function_types(source_, place.module, function, true, std::nullopt);
        const std::string unknown =
            known.function || place.place.address != 0 ? "" : not_among_types(spec, place.module);
        if (!unknown.empty())
            known.why_none = unknown;
        if (place.place.address != 0) {
            KnownTypes there =
                function_types(source_, place.module, function, false, place.place.address);
            // A clone's parameters may be others than its source's.
            if (there.function && function.find('.') == function.npos)
                known = there;
        }
        if (!unknown.empty())
            notes.push_back(fmt::format("{}: {}: its arguments are raw, and whether there is one "
                                        "is found out where it is traced",
                                        brief(spec.text), unknown));
        else if (!known.function && spec.offset == 0)
            notes.push_back(
                fmt::format("{}: no types, arguments are raw, of {}", known.why_none, function));
        if (spec.offset != 0)
            known.function = std::nullopt;
        compile_probe(spec, 1, any_hz, known, fields_);
    }

    // That a function, of which no lines are known, may not even be there; empty where no types
    // are.
    std::string not_among_types(const ProbeSpec& spec, const std::string& module) {
        std::string why;
        const Types* types = source_.types_of(module, why);
        const Types* kernel = source_.types_of("", why);
        if (!module.empty() && kernel != nullptr && kernel->function(spec.function))
            return fmt::format("of {} there are no types of it; without '{}:' it is the kernel's "
                               "own function",
                               module, spec.module);
        if (types == nullptr)
            return {};
        std::vector<std::string> similar = types->similar(TypeKind::function, spec.function);
        for (const KernelBuild& build : builds_)
            if (const Types* other = source_.types_of(build.module, why);
                spec.module.empty() && other != nullptr && other != types)
                for (const std::string& name : other->similar(TypeKind::function, spec.function))
                    similar.push_back(fmt::format("{}:{}", build.module, name));
        return fmt::format(
            "{}these types have no function of this name",
            similar.empty() ? "" : fmt::format("did you mean {}? ", fmt::join(similar, ", ")));
    }

    SavingSource& source_;
    const std::vector<KernelBuild>& builds_;
    TypedFields fields_;
};

} // namespace

CompiledSet compile_set(const std::vector<std::string>& probes, FileTypes& types) {
    CompiledSet compiled;
    compiled.set.probes = probes;
    compiled.set.builds = types.builds();
    SavingSource source(types);
    SetCompiler compiler(source, compiled.set.builds);
    for (const std::string& probe : probes)
        compiler.compile(probe);
    compiled.set.images = source.take();
    compiled.notes = std::move(compiler.notes);
    return compiled;
}

void check_set(const ProbeSet& set, const std::string& name, const std::string& sys) {
    for (const KernelBuild& build : set.builds) {
        const KernelBuild running = running_build(build.module, sys);
        const std::string what = build.module.empty() ? "kernel" : "module " + build.module;
        if (!build.module.empty() && running.id.empty())
            continue; // not loaded, or built without one
        if (build.id.empty())
            throw Error(fmt::format("{}: of which {} it was compiled for nothing is known: the "
                                    "file that its types came from didn't say",
                                    name, what),
                        "if it was this one: --force");
        if (running.id == build.id)
            continue;
        throw Error(
            fmt::format("{} was compiled for another {}: {} (build id {}), and this is {} ({})",
                        name, what, build.release.empty() ? "(unknown)" : build.release, build.id,
                        running.release, running.id.empty() ? "unknown" : running.id),
            "compile it with this one's vmlinux; places and types may be wrong with --force");
    }
}

} // namespace trapline
