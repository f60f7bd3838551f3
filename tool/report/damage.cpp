// SPDX-License-Identifier: GPL-2.0
// Reports of damage in a recording: the first ones of each stream, the others counted.
#include "report/damage.h"

#include <fmt/format.h>
#include <utility>

#include "util/escape.h"

namespace trapline {

namespace {

constexpr std::size_t reports_shown = 20; // of one file

} // namespace

DamageLog::DamageLog(std::string path, std::function<void(const std::string&)> say)
    : path_(std::move(path)), say_(std::move(say)) {}

void DamageLog::report(const std::string& text) {
    // The path may have colons of its own.
    const bool named = text.starts_with(path_ + ':') || text.find(path_ + '/') != std::string::npos;
    const std::string whole = named ? text : path_ + '/' + text;
    const std::size_t from = whole.starts_with(path_) ? path_.size() : 0;
    if (++reports_[whole.substr(0, whole.find(':', from))] <= reports_shown)
        say_(fmt::format("trapline: {}\n", escaped(whole)));
}

void DamageLog::finish() const {
    for (const auto& [file, count] : reports_)
        if (count > reports_shown)
            say_(fmt::format("trapline: {}: {} more pieces of damage\n", escaped(file),
                             count - reports_shown));
}

} // namespace trapline
