// SPDX-License-Identifier: GPL-2.0
// Finds in a kernel's log what a crash printed of the rings.
#include "recording/console_log.h"

#include <algorithm>
#include <array>
#include <cctype>
#include <cerrno>
#include <charconv>
#include <fcntl.h>
#include <fmt/format.h>
#include <limits>
#include <optional>
#include <unistd.h>
#include <utility>

#include "shared/console.h"
#include "util/error.h"
#include "util/fd.h"

namespace trapline {

namespace {

constexpr std::string_view mark = TL_CONSOLE_MARK;

constexpr std::uint32_t parts_max = (TL_CONSOLE_ITEM_MAX + TL_CONSOLE_PIECE - 1) / TL_CONSOLE_PIECE;
constexpr std::size_t data_max = TL_CONSOLE_PIECE / 3 * 4;
constexpr std::size_t sum_digits = 8;

// Of a log: more are no crash's work. Each costs some memory, and is looked at for every event.
constexpr std::size_t dumps_max = 256;

// A line of a log that is longer is none: it is looked at in pieces.
constexpr std::size_t line_max = std::size_t{64} << 10;

// Takes the beginning up to a `separator` off, and that too; nothing if there is none.
std::optional<std::string_view> take_word(std::string_view& text, char separator) {
    const std::size_t end = text.find(separator);
    if (end == std::string_view::npos)
        return std::nullopt;
    const std::string_view word = text.substr(0, end);
    text.remove_prefix(end + 1);
    return word;
}

std::optional<std::uint32_t> number(std::optional<std::string_view> text, int base = 10) {
    std::uint32_t value = 0;
    if (!text)
        return std::nullopt;
    const char* end = text->data() + text->size();
    const auto read = std::from_chars(text->data(), end, value, base);
    return read.ec == std::errc() && read.ptr == end ? std::optional(value) : std::nullopt;
}

bool is_tag(std::string_view tag) {
    const auto id = take_word(tag, '.');
    if (!id || id->size() != 8 || !number(*id, 16))
        return false;
    const auto run = take_word(tag, '.');
    return number(tag) && (!run || number(*run));
}

// Of the same run as `tag` names, and begun later.
bool is_begun_anew(std::string_view later, std::string_view tag) {
    return later.size() > tag.size() && later.starts_with(tag) && later[tag.size()] == '.';
}

int digit(char c) {
    if (c >= 'A' && c <= 'Z')
        return c - 'A';
    if (c >= 'a' && c <= 'z')
        return c - 'a' + 26;
    if (c >= '0' && c <= '9')
        return c - '0' + 52;
    return c == '+' ? 62 : c == '/' ? 63 : -1;
}

std::optional<std::string> from_base64(std::string_view text) {
    std::size_t padding = 0;
    while (padding < 2 && text.size() > padding && text[text.size() - 1 - padding] == '=')
        padding++;
    if (text.empty() || text.size() % 4 != 0)
        return std::nullopt;
    std::string bytes;
    std::uint32_t bits = 0;
    for (std::size_t i = 0; i < text.size(); i++) {
        const int value = i < text.size() - padding ? digit(text[i]) : 0;
        if (value < 0)
            return std::nullopt;
        bits = bits << 6 | static_cast<std::uint32_t>(value);
        if (i % 4 != 3)
            continue;
        for (const unsigned shift : {16U, 8U, 0U})
            bytes += static_cast<char>(bits >> shift & 0xff);
        bits = 0;
    }
    bytes.resize(bytes.size() - padding);
    return bytes;
}

} // namespace

void ConsoleLogParser::add(std::string_view piece) {
    while (!piece.empty()) {
        const std::size_t end = piece.find('\n');
        rest_ += piece.substr(0, end);
        if (end == std::string_view::npos && rest_.size() < line_max)
            return;
        take_line(rest_);
        rest_.clear();
        piece.remove_prefix(end == std::string_view::npos ? piece.size() : end + 1);
    }
}

// Two lines may have come into one.
void ConsoleLogParser::take_line(std::string_view line) {
    for (std::size_t at = line.find(mark); at != std::string_view::npos;) {
        const std::size_t begin = at + mark.size();
        at = line.find(mark, begin);
        const std::string_view text =
            line.substr(begin, at == std::string_view::npos ? at : at - begin);
        if (take(text))
            continue;
        damaged_++;
        const auto dump = dumps_.find(text.substr(0, text.find(' ')));
        if (dump != dumps_.end())
            dump->second.damaged++;
    }
}

// What follows the mark, and maybe something else behind it. False if it is not whole.
bool ConsoleLogParser::take(std::string_view text) {
    const std::string_view all = text;
    const auto tag = take_word(text, ' ');
    const auto sequence = number(take_word(text, ' '));
    const auto kind = take_word(text, ' ');
    const auto part = number(take_word(text, '/'));
    const auto parts = number(take_word(text, ' '));
    const auto data = take_word(text, ' ');
    if (!data || data->size() > data_max || text.size() < sum_digits)
        return false;
    const auto sum = number(text.substr(0, sum_digits), 16);
    const auto summed = static_cast<std::uint32_t>(data->data() + data->size() - all.data());
    if (!sum || *sum != tl_checksum(reinterpret_cast<const __u8*>(all.data()), summed))
        return false;
    std::optional<std::string> bytes = from_base64(*data);
    if (!is_tag(*tag) || !sequence || kind->size() != 1 || !part || !parts || *part == 0 ||
        *part > *parts || *parts > parts_max || !bytes)
        return false;

    auto dump = dumps_.find(*tag);
    if (dump == dumps_.end()) {
        if (tags_.size() == dumps_max)
            return false;
        tags_.emplace_back(*tag);
        dump = dumps_.try_emplace(tags_.back()).first;
    }
    Line line{kind->front(), *part, *parts, std::move(*bytes)};
    const auto [there, added] = dump->second.lines.try_emplace(*sequence, line);
    return added || there->second == line; // a log may hold a line twice
}

ConsoleDump ConsoleLogParser::put_together(const std::string& tag, Lines& lines) {
    ConsoleDump dump;
    dump.tag = tag;
    dump.lines = std::uint64_t{lines.rbegin()->first} + 1;
    dump.lost = dump.lines - lines.size();
    dump.ended = lines.rbegin()->second.kind == TL_CONSOLE_END;
    // An item's lines are neighbours: of one that isn't whole, none is taken.
    for (auto at = lines.begin(); at != lines.end();) {
        const std::uint64_t first = at->first;
        const Line& head = at->second;
        ConsoleItem item{head.kind, {}};
        std::uint32_t part = 1;
        for (; at != lines.end() && part <= head.parts; part++, at++) {
            const Line& line = at->second;
            if (at->first != first + part - 1 || line.part != part || line.kind != head.kind ||
                line.parts != head.parts)
                break;
            item.bytes += line.bytes;
        }
        if (part > head.parts)
            dump.items.push_back(std::move(item));
        else if (part == 1)
            at++; // not the first of its item
    }
    return dump;
}

bool ConsoleLogParser::whole(const Lines& lines) {
    const auto& [sequence, last] = *lines.rbegin();
    return last.kind == TL_CONSOLE_END && lines.size() == std::uint64_t{sequence} + 1;
}

ConsoleLog ConsoleLogParser::finish() {
    take_line(rest_);
    rest_.clear();
    ConsoleLog log;
    log.damaged = damaged_;
    for (const std::string& tag : tags_)
        log.dumps.push_back(put_together(tag, dumps_.at(tag).lines));
    // What a panic has printed anew, and whole, needs no beginning of the same.
    std::erase_if(log.dumps, [&](const ConsoleDump& dump) {
        const bool anew = std::any_of(tags_.begin(), tags_.end(), [&](const std::string& tag) {
            return is_begun_anew(tag, dump.tag) && whole(dumps_.at(tag).lines);
        });
        if (anew)
            log.damaged -= dumps_.at(dump.tag).damaged;
        return anew;
    });
    return log;
}

ConsoleLog read_console_log(const std::string& path) {
    const bool standard = path == "-";
    const std::string name = standard ? "standard input" : path;
    const UniqueFd file(standard ? dup(STDIN_FILENO)
                                 : open(path.c_str(), O_RDONLY | O_NOCTTY | O_CLOEXEC));
    if (!file)
        throw errno_error(fmt::format("cannot open {}", name), errno);
    ConsoleLogParser parser;
    std::vector<char> piece(line_max);
    for (;;) {
        const ssize_t got = read(file.get(), piece.data(), piece.size());
        if (got < 0 && errno == EINTR)
            continue;
        if (got < 0)
            throw errno_error(fmt::format("cannot read {}", name), errno);
        if (got == 0)
            return parser.finish();
        parser.add({piece.data(), static_cast<std::size_t>(got)});
    }
}

} // namespace trapline
