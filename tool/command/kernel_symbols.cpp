// SPDX-License-Identifier: GPL-2.0
// The running kernel's symbols, with the addresses that /proc/kallsyms may hide.
#include "command/kernel_symbols.h"

#include <algorithm>
#include <cerrno>
#include <fmt/format.h>

#include "control/session.h"
#include "symbols/blacklist.h"
#include "util/error.h"

namespace trapline {

namespace po = boost::program_options;

namespace {

constexpr std::size_t anchors_max = 16;
constexpr std::size_t anchors_least = 3;

constexpr const char* hint =
    "that of the running kernel is /boot/System.map-$(uname -r), or in the tree that it was built "
    "in;\nDebian's in /boot is empty: the package linux-image-$(uname -r)-dbg has the real one";

std::uint64_t address_of(const Kallsyms& map, std::string_view name) {
    const auto found = map.find(name, "kernel");
    return found.empty() ? 0 : found.front().address;
}

Error of_another_kernel(const std::string& system_map, const std::string& why) {
    return Error(
        fmt::format("--system-map: {} is not that of the running kernel: {}", system_map, why),
        hint);
}

// Where the kernel has them; 0: it takes no trap there.
std::vector<std::uint64_t> planted_addresses(std::span<const Anchor> anchors) {
    std::vector<std::uint64_t> addresses(anchors.size());
    if (anchors.size() < anchors_least)
        return addresses; // too few, wherever they are
    Session session;
    SessionConfig config;
    config.ring_size = TRAPLINE_RING_MIN; // nothing is recorded
    session.configure(config);
    std::vector<ProbeRequest> requests;
    for (const Anchor& anchor : anchors) {
        ProbeRequest& request = requests.emplace_back();
        request.event_id = static_cast<std::uint16_t>(requests.size());
        request.kind = TRAPLINE_ENTRY;
        request.symbol = anchor.name;
        request.entry_program.emplace_back().op = TL_OP_ACCEPT;
    }
    for (const Verdict& verdict : session.add_probes(requests))
        if (verdict.error == ENOMEM)
            throw errno_error(fmt::format("--system-map: cannot compare where {} is",
                                          anchors[verdict.event_id - std::size_t{1}].name),
                              verdict.error);
    for (const ProbeReport& report : session.probes())
        addresses.at(report.event_id - std::size_t{1}) = report.address;
    session.delete_probe();
    return addresses;
}

} // namespace

void add_system_map_option(po::options_description& options) {
    options.add_options()("system-map", po::value<std::string>()->value_name("FILE"),
                          "where /proc/kallsyms hides addresses: take them from the kernel's "
                          "System.map");
}

std::string system_map(const po::variables_map& given) {
    return given.count("system-map") != 0 ? given["system-map"].as<std::string>() : std::string();
}

Kallsyms open_system_map(const std::string& path) {
    try {
        return Kallsyms(path);
    } catch (const Error& error) {
        throw Error(fmt::format("--system-map: {}", error.what()), hint);
    }
}

std::vector<Anchor> choose_anchors(const Kallsyms& map, const Kallsyms& kallsyms,
                                   const std::function<bool(std::string_view)>& excluded) {
    const std::uint64_t begin = address_of(map, "_stext");
    const std::uint64_t end = address_of(map, "_etext");
    std::vector<Symbol> functions;
    map.for_each_function(
        "kernel", [](std::string_view) { return true; },
        [&](const NumberedFunction& function) {
            const Symbol& symbol = function.symbol;
            if (symbol.type == 'T' && function.number == 0 && symbol.address > begin &&
                symbol.address < end && !symbol.is_padding() && !symbol.is_cold_part() &&
                !excluded(symbol.name) && kallsyms.find(symbol.name).size() == 1)
                functions.push_back(symbol);
        });
    std::vector<Anchor> anchors;
    const std::size_t count = std::min(functions.size(), anchors_max);
    for (std::size_t i = 0; i < count; i++) {
        const Symbol& chosen = functions[functions.size() * (2 * i + 1) / (2 * count)];
        anchors.push_back({std::string(chosen.name), chosen.address});
    }
    return anchors;
}

std::uint64_t slide_of(std::span<const Anchor> anchors, std::span<const std::uint64_t> addresses) {
    const Anchor* first = nullptr;
    std::uint64_t slide = 0;
    std::size_t known = 0;
    for (std::size_t i = 0; i < anchors.size(); i++) {
        if (addresses[i] == 0)
            continue;
        known++;
        const std::uint64_t own = addresses[i] - anchors[i].address;
        if (first == nullptr) {
            first = &anchors[i];
            slide = own;
        } else if (own != slide) {
            throw Error(fmt::format("from {} to {} it is {:#x}, and in the kernel that runs {:#x}",
                                    first->name, anchors[i].name,
                                    anchors[i].address - first->address,
                                    anchors[i].address - first->address + own - slide));
        }
    }
    if (known < anchors_least)
        throw Error("too few functions were found whose addresses could be compared");
    return slide;
}

Kallsyms kernel_symbols(const std::string& system_map,
                        const std::function<void(std::string_view)>& say) {
    Kallsyms kallsyms;
    if (system_map.empty())
        return kallsyms;
    if (!kallsyms.addresses_hidden()) {
        say(fmt::format("trapline: --system-map {} isn't needed, nor looked at: /proc/kallsyms "
                        "shows addresses",
                        system_map));
        return kallsyms;
    }
    const Kallsyms map = open_system_map(system_map);
    if (map.find("_stext", "kernel").empty())
        throw of_another_kernel(system_map, "it has no functions");
    const Blacklist blacklist;
    const std::vector<Anchor> anchors = choose_anchors(
        map, kallsyms, [&](std::string_view name) { return blacklist.find(0, name).has_value(); });
    const std::vector<std::uint64_t> addresses = planted_addresses(anchors);
    try {
        kallsyms.take_addresses(map, slide_of(anchors, addresses));
    } catch (const Error& error) {
        throw of_another_kernel(system_map, error.what());
    }
    return kallsyms;
}

} // namespace trapline
