// SPDX-License-Identifier: GPL-2.0
// What an address of the kernel's text belongs to.
#include "symbols/place.h"

#include <charconv>
#include <fmt/format.h>
#include <fstream>
#include <string_view>

#include "symbols/kallsyms.h"

namespace trapline {

namespace {

// No symbol says where code ends that is made at run time, or a module's last function, unless its
// data comes behind (before 6.4 it does). It lies in pages of its own.
constexpr std::uint64_t page_size = 4096;

bool is_generated(std::string_view module) {
    return module == "bpf" || module.starts_with("__builtin__");
}

// Cuts "ffffffff81000000 T name\t[module]" into its parts.
std::optional<Place> parse(std::string_view line, std::uint64_t& address, char& type) {
    const char* end = line.data() + line.size();
    const auto [at, error] = std::from_chars(line.data(), end, address, 16);
    if (error != std::errc{} || end - at < 4)
        return std::nullopt;
    const std::string_view names(at + 3, static_cast<std::size_t>(end - at - 3));
    Place place;
    type = at[1];
    place.symbol = names.substr(0, names.find_first_of("\t "));
    const std::size_t bracket = names.find('[');
    if (bracket != std::string_view::npos && names.ends_with(']'))
        place.module = names.substr(bracket + 1, names.size() - bracket - 2);
    return place;
}

// The nearest symbol below an address, where one above it shows that its image goes on, or where
// that has text in a page and nothing is known of what follows.
class Search {
public:
    explicit Search(std::uint64_t wanted) : wanted_(wanted) {}

    void look(Place&& place, std::uint64_t address, char type) {
        if (place.module != module_) {
            take();
            module_ = place.module;
        }
        if (address > wanted_) {
            above_ = true;
        } else if (!below_ || wanted_ - address < below_->offset) {
            below_ = std::move(place);
            below_->offset = wanted_ - address;
            near_ = !module_.empty() && (type == 't' || type == 'T') && below_->offset < page_size;
        }
    }

    std::optional<Place> finish() {
        take();
        return std::move(found_);
    }

private:
    // An image's symbols come in one run: this one's is over.
    void take() {
        const bool inside = below_ && (near_ || (above_ && !is_generated(module_)));
        if (inside && (!found_ || below_->offset < found_->offset))
            found_ = std::move(below_);
        below_.reset();
        above_ = near_ = false;
    }

    std::uint64_t wanted_;
    std::string module_;
    std::optional<Place> below_;
    bool above_ = false;
    bool near_ = false;
    std::optional<Place> found_;
};

} // namespace

std::string Place::text() const {
    return fmt::format("{}{}{}", symbol, offset == 0 ? "" : fmt::format("+{:#x}", offset),
                       module.empty() ? "" : fmt::format(" [{}]", module));
}

std::optional<Place> find_place(std::uint64_t address) {
    std::ifstream kallsyms("/proc/kallsyms");
    return find_place(address, kallsyms);
}

std::optional<Place> find_place(std::uint64_t address, std::istream& kallsyms) {
    Search search(address);
    std::string line;
    while (std::getline(kallsyms, line)) {
        std::uint64_t at = 0;
        char type = 0;
        if (auto place = parse(line, at, type); place && !is_mark(place->symbol))
            search.look(std::move(*place), at, type);
    }
    return search.finish();
}

} // namespace trapline
