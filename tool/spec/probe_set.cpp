// SPDX-License-Identifier: GPL-2.0
// Compiled probes: what types and lines say about them.
#include "spec/probe_set.h"

#include <algorithm>
#include <fmt/format.h>

#include "spec/compile.h"
#include "spec/function_types.h"
#include "spec/source_finder.h"
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
            throw UsageError(fmt::format("probe '{}': {} can't be compiled", text,
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
                                    text, spec.function),
                        "a function of a module is in the module's own file");
        }
        if (places.empty())
            for (const std::string& module : modules(spec))
                places.push_back({module, {.function = spec.function, .file = {}}});
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
        std::string module = spec.module == "kernel" || spec.module == "vmlinux" ? "" : spec.module;
        std::replace(module.begin(), module.end(), '-', '_');
        if (!spec.module.empty())
            return {module};
        std::vector<std::string> having;
        std::string why;
        for (const KernelBuild& build : builds_) {
            const Types* types = source_.types_of(build.module, why);
            if (types != nullptr && types->function(spec.function))
                having.push_back(build.module);
        }
        return having.empty() ? std::vector<std::string>{""} : having;
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
        if (place.place.address != 0) {
            KnownTypes there =
                function_types(source_, place.module, function, false, place.place.address);
            // A clone's parameters may be others than its source's.
            if (there.function && function.find('.') == function.npos)
                known = there;
        }
        if (spec.offset != 0)
            known.function = std::nullopt;
        else if (!known.function)
            notes.push_back(
                fmt::format("{}: no types, arguments are raw, of {}", known.why_none, function));
        compile_probe(spec, 1, any_hz, known, fields_);
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
