// SPDX-License-Identifier: GPL-2.0
// The running kernel's symbols: /proc/kallsyms, or another file of that form.
#include "symbols/kallsyms.h"

#include <algorithm>
#include <bit>
#include <cerrno>
#include <cstring>
#include <fcntl.h>
#include <fmt/format.h>
#include <istream>
#include <iterator>
#include <limits>
#include <numeric>
#include <tuple>
#include <unistd.h>

#include "util/edit_distance.h"
#include "util/error.h"
#include "util/fd.h"

namespace trapline {

namespace {

constexpr std::uint32_t no_entry = std::numeric_limits<std::uint32_t>::max();
constexpr std::size_t read_piece = 1 << 16;
constexpr std::uint64_t page_size = 4096;

// What a large kernel needs; not touched before it is used, and growing would copy it all.
constexpr std::size_t usual_symbols = 250'000;
constexpr std::size_t usual_names = usual_symbols * 24;

// Cuts what a file holds into lines, piece by piece: most of /proc/kallsyms isn't worth keeping,
// and touching memory for it would take longer than parsing it.
template <typename Read, typename Take>
void for_each_line(Read read_some, Take take) {
    std::vector<char> piece(read_piece);
    std::size_t used = 0;
    for (;;) {
        if (used == piece.size())
            piece.resize(2 * piece.size());
        const std::size_t n = read_some(piece.data() + used, piece.size() - used);
        if (n == 0)
            break;
        used += n;
        const char* at = piece.data();
        const char* end = at + used;
        while (const void* found = std::memchr(at, '\n', static_cast<std::size_t>(end - at))) {
            const char* eol = static_cast<const char*>(found);
            take(at, eol);
            at = eol + 1;
        }
        used = static_cast<std::size_t>(end - at);
        std::memmove(piece.data(), at, used);
    }
    take(piece.data(), piece.data() + used);
}

std::size_t read_some(int fd, const std::string& path, char* to, std::size_t room) {
    for (;;) {
        const ssize_t n = read(fd, to, room);
        if (n >= 0)
            return static_cast<std::size_t>(n);
        if (errno != EINTR)
            throw errno_error("cannot read the kernel's symbols from " + path, errno);
    }
}

int hex_digit(char c) {
    if (c >= '0' && c <= '9')
        return c - '0';
    if (c >= 'a' && c <= 'f')
        return c - 'a' + 10;
    if (c >= 'A' && c <= 'F')
        return c - 'A' + 10;
    return -1;
}

// "ffffffff81000000 T name\t[module]"
struct Line {
    std::uint64_t address = 0;
    char type = '?';
    std::string_view name;
    std::string_view module;
};

bool parse_line(const char* at, const char* end, Line& line) {
    const char* start = at;
    line.address = 0;
    for (int digit; at < end && (digit = hex_digit(*at)) >= 0; at++)
        line.address = line.address << 4 | static_cast<unsigned>(digit);
    if (at == start || end - at < 4 || at[0] != ' ' || at[2] != ' ')
        return false;
    line.type = at[1];
    at += 3;
    const char* name = at;
    while (at < end && *at != ' ' && *at != '\t')
        at++;
    line.name = {name, static_cast<std::size_t>(at - name)};
    while (at < end && (*at == ' ' || *at == '\t'))
        at++;
    line.module = {};
    if (end - at > 2 && *at == '[' && end[-1] == ']')
        line.module = {at + 1, static_cast<std::size_t>(end - at - 2)};
    return !line.name.empty() && line.name.size() <= std::numeric_limits<std::uint16_t>::max();
}

// What is lower isn't the kernel's: offsets of per-CPU variables, and other absolute symbols.
bool is_kernel_address(std::uint64_t address) {
    return address >> 63 != 0;
}

bool is_text(char type) {
    return type == 't' || type == 'T' || type == 'w' || type == 'W';
}

// What the kernel makes at run time and lists like modules: nothing to be probed there.
bool is_generated(std::string_view module) {
    return module == "bpf" || module == "__builtin__ftrace" || module == "__builtin__kprobes";
}

// FNV-1a: names are short.
std::uint32_t hash_name(std::string_view name) {
    std::uint32_t hash = 2166136261U;
    for (const char c : name)
        hash = (hash ^ static_cast<unsigned char>(c)) * 16777619U;
    return hash;
}

bool is_kernel_image(std::string_view module) {
    return module == "kernel" || module == "vmlinux";
}

bool same_module(std::string_view a, std::string_view b) {
    const auto plain = [](char c) { return c == '-' ? '_' : c; };
    return std::equal(a.begin(), a.end(), b.begin(), b.end(),
                      [&](char x, char y) { return plain(x) == plain(y); });
}

// The bytes before a function, which compilers give names of their own.
bool is_padding(std::string_view name) {
    return name.starts_with("__pfx_") || name.starts_with("__cfi_");
}

bool is_clone_suffix(std::string_view suffix) {
    for (const std::string_view kind : {".isra.", ".constprop.", ".part.", ".cold", ".llvm."}) {
        if (suffix.starts_with(kind))
            return true;
    }
    return false;
}

// The less, the more alike; no value: not alike.
std::optional<unsigned> unlikeness(std::string_view wanted, std::string_view name) {
    constexpr std::size_t telling = 4; // shorter names are part of too many others
    if (wanted.size() >= telling && name.size() > wanted.size() && name.ends_with(wanted) &&
        name[name.size() - wanted.size() - 1] == '_')
        return 4; // __x64_sys_read for sys_read
    const auto limit = static_cast<unsigned>(std::min<std::size_t>(1 + wanted.size() / 5, 4));
    if (const auto distance = edit_distance(wanted, name, limit))
        return *distance * 4;
    const bool within = wanted.size() >= telling && name.find(wanted) != std::string_view::npos;
    const bool around = name.size() >= 2 * telling && wanted.find(name) != std::string_view::npos;
    if (!within && !around)
        return std::nullopt;
    const std::size_t apart =
        std::max(wanted.size(), name.size()) - std::min(wanted.size(), name.size());
    return static_cast<unsigned>(6 + apart);
}

} // namespace

bool is_mark(std::string_view name) {
    return name.starts_with("$x") || name.starts_with("$d") || name.starts_with(".L");
}

bool Symbol::is_padding() const {
    return trapline::is_padding(name);
}

bool Symbol::is_cold_part() const {
    constexpr std::string_view cold = ".cold";
    const std::size_t at = name.find(cold);
    if (at == std::string_view::npos)
        return false;
    const std::string_view rest = name.substr(at + cold.size());
    return rest.empty() || rest.front() == '.';
}

Kallsyms::Kallsyms(const std::string& path) {
    reserve();
    read_file(path, nullptr);
    link_names();
    modules_hidden_ = hidden_;
    if (!hidden_)
        link_addresses();
}

Kallsyms::Kallsyms(const std::string& path, const Wanted& wanted) {
    read_file(path, &wanted);
    link_names();
    modules_hidden_ = hidden_;
}

Kallsyms::Kallsyms(std::istream& from) {
    bool seen = false;
    for_each_line(
        [&](char* to, std::size_t room) {
            from.read(to, static_cast<std::streamsize>(room));
            return static_cast<std::size_t>(from.gcount());
        },
        [&](const char* at, const char* end) { seen = add_line(at, end, nullptr) || seen; });
    hidden_ = hidden_ && seen;
    link_names();
    modules_hidden_ = hidden_;
    if (!hidden_)
        link_addresses();
}

void Kallsyms::reserve() {
    symbols_.reserve(usual_symbols);
    names_.reserve(usual_names);
}

void Kallsyms::read_file(const std::string& path, const Wanted* wanted) {
    const UniqueFd fd(open(path.c_str(), O_RDONLY | O_CLOEXEC));
    if (!fd)
        throw errno_error("cannot read the kernel's symbols from " + path, errno,
                          path == "/proc/kallsyms"
                              ? "mount /proc, or build the kernel with CONFIG_KALLSYMS=y"
                              : "");
    bool seen = false;
    for_each_line(
        [&](char* to, std::size_t room) { return read_some(fd.get(), path, to, room); },
        [&](const char* at, const char* end) { seen = add_line(at, end, wanted) || seen; });
    if (!seen)
        throw Error(path + " holds no symbols",
                    "give the kernel CONFIG_KALLSYMS=y; a System.map of this kernel does as well");
}

// Returns whether it is a symbol.
bool Kallsyms::add_line(const char* at, const char* end, const Wanted* wanted) {
    Line line;
    if (!parse_line(at, end, line) || is_generated(line.module) || is_mark(line.name))
        return false;
    hidden_ = hidden_ && line.address == 0;
    if (wanted && !(*wanted)(line.name))
        return true;
    // A module's symbols come in one run, so the last one's module is mostly the next one's.
    const std::uint16_t last = symbols_.empty() ? 0 : symbols_.back().module;
    const std::uint16_t module = line.module == modules_[last] ? last : intern_module(line.module);
    symbols_.push_back({.address = line.address,
                        .name = static_cast<std::uint32_t>(names_.size()),
                        .next = no_entry,
                        .after = no_entry,
                        .length = static_cast<std::uint16_t>(line.name.size()),
                        .module = module,
                        .type = line.type});
    names_.insert(names_.end(), line.name.begin(), line.name.end());
    return true;
}

std::uint16_t Kallsyms::intern_module(std::string_view name) {
    const auto known = std::find(modules_.begin(), modules_.end(), name);
    if (known == modules_.end())
        return modules_.emplace_back(name), static_cast<std::uint16_t>(modules_.size() - 1);
    return static_cast<std::uint16_t>(known - modules_.begin());
}

void Kallsyms::link_names() {
    heads_.assign(std::bit_ceil(symbols_.size() + 1), no_entry);
    for (std::uint32_t i = 0; i < symbols_.size(); i++) {
        std::uint32_t& head = heads_[hash_name(name_of(symbols_[i])) & (heads_.size() - 1)];
        symbols_[i].next = head;
        head = i;
    }
}

void Kallsyms::link_addresses() {
    std::vector<std::uint32_t> order(symbols_.size());
    std::iota(order.begin(), order.end(), 0U);
    const auto before = [&](std::uint32_t a, std::uint32_t b) {
        const Entry& x = symbols_[a];
        const Entry& y = symbols_[b];
        return x.module != y.module ? x.module < y.module : x.address < y.address;
    };
    if (!std::is_sorted(order.begin(), order.end(), before))
        std::sort(order.begin(), order.end(), before);

    for (std::size_t i = order.size(); i-- > 1;) {
        const Entry& next = symbols_[order[i]];
        Entry& entry = symbols_[order[i - 1]];
        if (entry.module == next.module)
            entry.after = entry.address == next.address ? next.after : order[i];
    }
}

// By name: the Nth function of that name here is the Nth there, for both are listed by address; so
// is what is no function. Where there are more or fewer of them there it can't be told, 0.
std::vector<std::uint64_t> Kallsyms::addresses_in(const Kallsyms& map) const {
    std::vector<std::uint64_t> all(symbols_.size());
    std::vector<bool> done(symbols_.size());
    std::vector<std::string_view> missing;
    for (std::uint32_t i = 0; i < symbols_.size(); i++) {
        if (symbols_[i].module != 0 || done[i])
            continue;
        const std::string_view name = name_of(symbols_[i]);
        const bool text = is_text(symbols_[i].type);
        std::vector<std::uint32_t> here;
        for (std::uint32_t at = heads_[hash_name(name) & (heads_.size() - 1)]; at != no_entry;
             at = symbols_[at].next)
            if (symbols_[at].module == 0 && is_text(symbols_[at].type) == text &&
                name_of(symbols_[at]) == name)
                here.push_back(at);
        std::reverse(here.begin(), here.end()); // the chains run backwards
        std::vector<Symbol> there = map.find(name, "kernel");
        std::erase_if(there, [&](const Symbol& symbol) { return is_text(symbol.type) != text; });
        if (text && there.size() < here.size())
            missing.push_back(name);
        for (std::size_t n = 0; n < here.size(); n++) {
            done[here[n]] = true;
            if (there.size() == here.size())
                all[here[n]] = there[n].address;
        }
    }
    if (!missing.empty())
        throw Error(fmt::format("the kernel that runs has {} functions that are not in it, such as "
                                "{}",
                                missing.size(), missing.front()));
    std::uint64_t last = 0;
    for (std::uint32_t i = 0; i < symbols_.size(); i++) {
        if (all[i] == 0 || symbols_[i].module != 0 || !is_text(symbols_[i].type))
            continue;
        if (all[i] < last)
            throw Error(
                fmt::format("in the kernel that runs {} is further up", name_of(symbols_[i])));
        last = all[i];
    }
    return all;
}

void Kallsyms::take_addresses(const Kallsyms& map, std::uint64_t slide) {
    if (!hidden_)
        return;
    const std::vector<std::uint64_t> addresses = addresses_in(map);
    for (std::uint32_t i = 0; i < symbols_.size(); i++)
        if (is_kernel_address(addresses[i]))
            symbols_[i].address = addresses[i] + slide;
    hidden_ = false;
    by_address_.clear();
    link_addresses();
}

std::string_view Kallsyms::name_of(const Entry& entry) const {
    return {names_.data() + entry.name, entry.length};
}

Symbol Kallsyms::symbol_of(const Entry& entry) const {
    Symbol symbol{.address = entry.address,
                  .name = name_of(entry),
                  .module = modules_[entry.module],
                  .size = 0,
                  .type = entry.type};
    if (entry.after == no_entry || entry.address == 0)
        return symbol;
    const Entry& next = symbols_[entry.after];
    // A module's text and its data are apart, either of them first.
    const bool same_section = entry.module == 0 || is_text(entry.type) == is_text(next.type);
    if (same_section)
        symbol.size = next.address - entry.address;
    return symbol;
}

bool Kallsyms::in_module(const Entry& entry, std::string_view module) const {
    if (module.empty())
        return true;
    if (is_kernel_image(module))
        return entry.module == 0;
    return entry.module != 0 && same_module(modules_[entry.module], module);
}

std::vector<Symbol> Kallsyms::find(std::string_view name, std::string_view module) const {
    std::vector<Symbol> found;
    std::uint32_t at = heads_[hash_name(name) & (heads_.size() - 1)];
    for (; at != no_entry; at = symbols_[at].next) {
        if (name_of(symbols_[at]) == name && in_module(symbols_[at], module))
            found.push_back(symbol_of(symbols_[at]));
    }
    // The chains run backwards.
    std::reverse(found.begin(), found.end());
    std::stable_sort(found.begin(), found.end(),
                     [](const Symbol& a, const Symbol& b) { return a.address < b.address; });
    return found;
}

std::optional<Symbol> Kallsyms::function_at(std::uint64_t address) const {
    const Entry* nearest = nullptr;
    for (const Entry& entry : symbols_)
        if (is_text(entry.type) && entry.address <= address &&
            (nearest == nullptr || entry.address > nearest->address))
            nearest = &entry;
    if (nearest == nullptr)
        return std::nullopt;
    const Symbol symbol = symbol_of(*nearest);
    if (address - symbol.address >= symbol.size)
        return std::nullopt;
    return symbol;
}

const std::vector<std::uint32_t>& Kallsyms::all_by_address() const {
    if (!by_address_.empty())
        return by_address_;
    for (std::uint32_t i = 0; i < symbols_.size(); i++) {
        if (is_kernel_address(symbols_[i].address))
            by_address_.push_back(i);
    }
    std::stable_sort(by_address_.begin(), by_address_.end(), [&](std::uint32_t a, std::uint32_t b) {
        return symbols_[a].address < symbols_[b].address;
    });
    return by_address_;
}

std::optional<Symbol> Kallsyms::symbol_at(std::uint64_t address) const {
    if (!is_kernel_address(address))
        return std::nullopt;
    const std::vector<std::uint32_t>& all = all_by_address();
    const auto above = std::upper_bound(
        all.begin(), all.end(), address,
        [&](std::uint64_t wanted, std::uint32_t i) { return wanted < symbols_[i].address; });
    if (above == all.begin())
        return std::nullopt;
    const std::uint64_t nearest = symbols_[*std::prev(above)].address;
    const auto first =
        std::lower_bound(all.begin(), above, nearest, [&](std::uint32_t i, std::uint64_t wanted) {
            return symbols_[i].address < wanted;
        });
    // A kernel without CONFIG_KALLSYMS_ALL lists no data: what follows its text is in no function.
    const bool behind_text = nearest != address && std::any_of(first, above, [&](std::uint32_t i) {
                                 return symbols_[i].module == 0 && name_of(symbols_[i]) == "_etext";
                             });
    const Entry* chosen = nullptr;
    for (auto at = above; at != first;) {
        const Entry& entry = symbols_[*--at];
        if (behind_text && is_text(entry.type))
            continue;
        if (chosen == nullptr || is_text(entry.type) || !is_text(chosen->type))
            chosen = &entry;
    }
    if (chosen == nullptr)
        return std::nullopt;
    const Symbol symbol = symbol_of(*chosen);
    std::uint64_t size = std::max<std::uint64_t>(symbol.size, 1);
    if (symbol.size == 0 && !symbol.module.empty()) {
        if (chosen->after != no_entry)
            size = std::min(symbols_[chosen->after].address - symbol.address, page_size);
        else if (symbol.is_function())
            size = page_size;
    }
    return address - symbol.address < size ? std::optional(symbol) : std::nullopt;
}

// One entry for all of a name.
std::uint32_t Kallsyms::first_of_name(const Entry& entry) const {
    const std::string_view name = name_of(entry);
    std::uint32_t at = heads_[hash_name(name) & (heads_.size() - 1)];
    while (name_of(symbols_[at]) != name)
        at = symbols_[at].next;
    return at;
}

std::vector<std::uint32_t>
Kallsyms::functions_by_address(const std::function<bool(std::string_view name)>& wanted) const {
    std::vector<std::uint32_t> order;
    for (std::uint32_t i = 0; i < symbols_.size(); i++) {
        if (is_text(symbols_[i].type) && wanted(name_of(symbols_[i])))
            order.push_back(i);
    }
    const auto before = [&](std::uint32_t a, std::uint32_t b) {
        return symbols_[a].address < symbols_[b].address;
    };
    if (!hidden_ && !std::is_sorted(order.begin(), order.end(), before))
        std::stable_sort(order.begin(), order.end(), before);
    return order;
}

// Whoever shares a wanted name is wanted, so that numbers need no others.
void Kallsyms::for_each_function(std::string_view module, const Wanted& wanted,
                                 const std::function<void(const NumberedFunction&)>& visit) const {
    struct Name {
        std::uint64_t last = 0;
        unsigned places = 0;
        unsigned visited = 0;
        bool hidden = false; // the address of one of them
    };
    struct Place {
        std::uint32_t symbol;
        std::uint32_t name;
    };
    std::vector<Name> names;
    std::vector<Place> places;
    std::vector<std::uint32_t> name_at(symbols_.size(), no_entry); // by the name's first symbol
    for (const std::uint32_t symbol : functions_by_address(wanted)) {
        const Entry& entry = symbols_[symbol];
        std::uint32_t& known = name_at[first_of_name(entry)];
        if (known == no_entry) {
            known = static_cast<std::uint32_t>(names.size());
            names.emplace_back();
        }
        Name& name = names[known];
        name.hidden = name.hidden || entry.address == 0;
        if (name.places != 0 && entry.address != 0 && name.last == entry.address)
            continue;
        name.last = entry.address;
        name.places++;
        places.push_back({symbol, known});
    }
    for (const Place& place : places) {
        Name& name = names[place.name];
        name.visited++;
        const Entry& entry = symbols_[place.symbol];
        if (in_module(entry, module))
            visit({symbol_of(entry), name.places > 1 && !name.hidden ? name.visited : 0});
    }
}

std::optional<NumberedFunction> Kallsyms::numbered_function_at(std::uint64_t address) const {
    const auto symbol = function_at(address);
    std::optional<NumberedFunction> found;
    if (!symbol)
        return found;
    for_each_function(
        {}, [&](std::string_view name) { return name == symbol->name; },
        [&](const NumberedFunction& function) {
            if (function.symbol.address == symbol->address)
                found = function;
        });
    return found;
}

std::vector<Symbol> Kallsyms::clones(std::string_view name, std::string_view module) const {
    std::vector<Symbol> found;
    for (const Entry& entry : symbols_) {
        const std::string_view full = name_of(entry);
        if (is_text(entry.type) && full.size() > name.size() && full[name.size()] == '.' &&
            full.starts_with(name) && is_clone_suffix(full.substr(name.size())) &&
            in_module(entry, module))
            found.push_back(symbol_of(entry));
    }
    return found;
}

std::vector<std::string_view> Kallsyms::similar(std::string_view name, std::string_view module,
                                                std::size_t most) const {
    struct Candidate {
        unsigned unlikeness;
        std::string_view name;
        bool operator<(const Candidate& other) const {
            return std::tie(unlikeness, name) < std::tie(other.unlikeness, other.name);
        }
    };
    std::vector<Candidate> best;
    for (const Entry& entry : symbols_) {
        const std::string_view other = name_of(entry);
        if (!is_text(entry.type) || is_padding(other) || !in_module(entry, module))
            continue;
        const auto score = unlikeness(name, other);
        if (!score)
            continue;
        const Candidate candidate{*score, other};
        const auto at = std::lower_bound(best.begin(), best.end(), candidate);
        if (at != best.end() && at->name == other)
            continue; // another function of that name
        best.insert(at, candidate);
        if (best.size() > most)
            best.pop_back();
    }
    std::vector<std::string_view> names;
    names.reserve(best.size());
    for (const Candidate& candidate : best)
        names.push_back(candidate.name);
    return names;
}

std::vector<std::string_view> Kallsyms::similar_modules(std::string_view name) const {
    std::vector<std::string_view> similar;
    for (std::size_t i = 1; i < modules_.size(); i++)
        if (edit_distance(name, modules_[i], 1 + static_cast<unsigned>(name.size() / 5)))
            similar.push_back(modules_[i]);
    return similar;
}

bool Kallsyms::has_module(std::string_view module) const {
    if (is_kernel_image(module))
        return true;
    return std::any_of(modules_.begin() + 1, modules_.end(),
                       [&](const std::string& name) { return same_module(name, module); });
}

} // namespace trapline
