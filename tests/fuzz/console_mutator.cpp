// SPDX-License-Identifier: GPL-2.0
// Changes what the lines of a dump say, and not their characters: frames, base64 and sums come
// out right again, so that most of what is tried gets as far as the records. For libFuzzer alone.
#include <algorithm>
#include <cstring>
#include <iterator>
#include <string>
#include <utility>
#include <vector>

#include "../unit/console_fixture.h"
#include "console_input.h"
#include "json_values.h"

using namespace trapline;
using namespace trapline::fuzz;

namespace {

constexpr std::size_t half_size = sizeof(std::uint16_t);
constexpr std::size_t record_header = sizeof(tl_console_record) + TL_EXTENDED_SIZE;

template <class T>
T& one_of(std::vector<T>& all, Random& random) {
    return all[random() % all.size()];
}

std::vector<ConsoleDump> dumps_in(const std::string& input) {
    if (input.front() == as_items)
        return {items_in(std::string_view(input).substr(1))};
    ConsoleLogParser parser;
    parser.add(with_sums(std::string_view(input).substr(1)));
    return parser.finish().dumps;
}

// Sizes, flags and ids are halves of words, and small, or differ by one from what is right.
std::uint16_t half_near(std::uint16_t half, Random& random) {
    switch (random() % 4) {
    case 0:
        return static_cast<std::uint16_t>(half + 1);
    case 1:
        return static_cast<std::uint16_t>(half - 1);
    case 2:
        return static_cast<std::uint16_t>(random() % 8);
    default:
        return static_cast<std::uint16_t>(near_or_at_an_edge(half, random));
    }
}

void change_half(std::string& bytes, std::size_t from, Random& random) {
    const std::size_t halves = (bytes.size() - from) / half_size;
    char* at = bytes.data() + from + random() % halves * half_size;
    std::uint16_t half = 0;
    std::memcpy(&half, at, sizeof(half));
    half = half_near(half, random);
    std::memcpy(at, &half, sizeof(half));
}

void change_label(std::string& bytes, Random& random) {
    Json layout = Json::parse(bytes.substr(half_size), nullptr, false);
    if (layout.is_discarded())
        return;
    change_one_value(layout, random);
    bytes = bytes.substr(0, half_size) + text_of(layout, random);
}

void change_bytes(ConsoleItem& item, Random& random) {
    std::string& bytes = item.bytes;
    if (bytes.size() < half_size || random() % 4 == 0) {
        bytes = mutated(std::move(bytes));
    } else if (item.kind == TL_CONSOLE_LABEL && random() % 4 != 0) {
        change_label(bytes, random);
    } else {
        // Most often what the label tells of, and not where it was recorded.
        const bool fields = item.kind == TL_CONSOLE_RECORD &&
                            bytes.size() >= record_header + half_size && random() % 4 != 0;
        change_half(bytes, fields ? record_header : 0, random);
    }
}

template <class T>
void repeat(std::vector<T>& all, typename std::vector<T>::iterator at) {
    T copy = *at; // insert() may move what it is made of
    all.insert(at, std::move(copy));
}

void change_items(std::vector<ConsoleItem>& items, Random& random) {
    constexpr std::string_view kinds = "SLRE?";
    if (items.empty())
        items.push_back({TL_CONSOLE_SESSION, test::TestConsole::session()});
    const auto at = items.begin() + static_cast<std::ptrdiff_t>(random() % items.size());
    switch (random() % 12) {
    case 0:
        items.erase(at);
        break;
    case 1:
        repeat(items, at);
        break;
    case 2:
        std::swap(*at, one_of(items, random));
        break;
    case 3:
        at->kind = kinds[random() % kinds.size()];
        break;
    default:
        change_bytes(*at, random);
    }
}

// What becomes of lines on their way.
void damage_lines(std::vector<std::string>& lines, Random& random) {
    const auto at = lines.begin() + static_cast<std::ptrdiff_t>(random() % lines.size());
    switch (random() % 5) {
    case 0:
        lines.erase(at);
        break;
    case 1:
        repeat(lines, at);
        break;
    case 2:
        std::swap(*at, one_of(lines, random));
        break;
    case 3:
        at->resize(random() % (at->size() + 1));
        break;
    default:
        *at += one_of(lines, random);
    }
}

std::string log_of(const std::vector<ConsoleDump>& dumps, Random& random) {
    std::vector<std::string> lines;
    for (const ConsoleDump& dump : dumps) {
        test::TestConsole console(dump.tag);
        for (const auto& [kind, bytes] : dump.items)
            console.item(kind, bytes);
        // Not insert() of a range: with libstdc++ 12 the sanitizer takes what is there for none.
        std::copy(console.lines.begin(), console.lines.end(), std::back_inserter(lines));
    }
    for (std::string& line : lines)
        line.replace(line.size() - no_sum.size(), no_sum.size(), no_sum);
    if (random() % 4 == 0 && !lines.empty())
        damage_lines(lines, random);
    std::string log(1, as_log);
    for (const std::string& line : lines)
        log += line + '\n';
    return log;
}

} // namespace

extern "C" std::size_t LLVMFuzzerCustomMutator(std::uint8_t* data, std::size_t size,
                                               std::size_t max, unsigned seed) {
    Random random(seed);
    if (size == 0 || random() % 8 == 0)
        return LLVMFuzzerMutate(data, size, max);
    std::vector<ConsoleDump> dumps = dumps_in(std::string(data, data + size));
    if (dumps.empty())
        return LLVMFuzzerMutate(data, size, max);
    for (auto times = random() % 3 + 1; times > 0; times--)
        change_items(one_of(dumps, random).items, random);
    for (ConsoleDump& dump : dumps)
        if (dump.tag.empty())
            dump.tag = "0badcafe.1";
    // Now and then as the other: what was found with the one is tried with the other.
    const bool items = (data[0] == as_items) != (random() % 16 == 0);
    const std::string out = items ? input_of(dumps.front().items) : log_of(dumps, random);
    if (out.size() > max)
        return LLVMFuzzerMutate(data, size, max);
    std::memcpy(data, out.data(), out.size());
    return out.size();
}
