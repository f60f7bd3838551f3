// SPDX-License-Identifier: GPL-2.0
// What a PROBE says is to be recorded, taken apart.
#include "spec/argument_list.h"

#include <algorithm>
#include <array>
#include <fmt/format.h>

#include "shared/program.h"
#include "util/edit_distance.h"
#include "util/escape.h"

namespace trapline {

namespace {

constexpr std::string_view list_hint =
    "as in 'vfs_read(file->f_path.dentry->d_name.name, count)', or '()' for none";

constexpr std::string_view format_hint =
    "formats are :x :d :u :c :str :ustr :hex[n] :be16 :be32 :ip4 :ip6 :mac :errno :sym and\n"
    ":depth[n]";

constexpr std::uint64_t depth_max = 8;

struct FormatName {
    std::string_view name;
    Format format;
};

constexpr std::array format_names = std::to_array<FormatName>({
    {"x", Format::hex},
    {"d", Format::signed_},
    {"u", Format::unsigned_},
    {"c", Format::character},
    {"str", Format::text},
    {"ustr", Format::user_text},
    {"hex", Format::bytes},
    {"be16", Format::be16},
    {"be32", Format::be32},
    {"ip4", Format::ip4},
    {"ip6", Format::ip6},
    {"mac", Format::mac},
    {"errno", Format::error},
    {"sym", Format::symbol},
    {"depth", Format::depth},
});

// "did you mean", or nothing.
std::string similar_formats(std::string_view name) {
    std::vector<std::string> similar;
    for (const FormatName& known : format_names)
        if (known.name.starts_with(name) || name.starts_with(known.name) ||
            edit_distance(known.name, name, 1))
            similar.push_back(fmt::format(":{}", known.name));
    // Of one letter there is nothing to be alike but the beginning.
    if (name.size() == 1)
        std::erase_if(similar, [&](const std::string& one) { return one[1] != name[0]; });
    return similar.empty() ? "" : fmt::format("did you mean {}?\n", fmt::join(similar, " or "));
}

bool has_size(Format format) {
    return format == Format::text || format == Format::user_text || format == Format::bytes ||
           format == Format::depth;
}

class Parser {
public:
    explicit Parser(TokenReader& tokens) : tokens_(tokens) {}

    ArgumentList parse() {
        ArgumentList list;
        tokens_.take(Token::Kind::open);
        if (!tokens_.take(Token::Kind::close)) {
            do
                list.items.push_back(parse_item());
            while (tokens_.take(','));
            if (!tokens_.take(Token::Kind::close))
                tokens_.fail("',' or ')' is expected here", list_hint);
        }
        if (tokens_.take('='))
            list.result = parse_item();
        return list;
    }

private:
    ListItem parse_item() {
        ListItem item;
        item.value = parse_expression(tokens_, true);
        if (tokens_.token().kind == Token::Kind::relation)
            tokens_.fail("a comparison is no value to be recorded",
                         "a condition stands behind the list: 'FUNC(...) if CONDITION'");
        if (tokens_.take(':'))
            parse_format(item);
        return item;
    }

    void parse_format(ListItem& item) {
        const Token token = tokens_.token();
        const auto known =
            std::find_if(format_names.begin(), format_names.end(),
                         [&](const FormatName& name) { return name.name == token.text; });
        if (known == format_names.end())
            tokens_.fail(token.kind == Token::Kind::name
                             ? fmt::format("there is no format {}", escaped(token.text))
                             : "a format is expected behind ':'",
                         token.kind == Token::Kind::name
                             ? similar_formats(token.text) + std::string(format_hint)
                             : std::string(format_hint));
        item.format = known->format;
        item.format_position = token.position;
        std::size_t end = tokens_.take().end();
        if (has_size(item.format) && tokens_.take('[')) {
            const Expression size = parse_expression(tokens_, true);
            const bool depth = item.format == Format::depth;
            const std::uint64_t most = depth ? depth_max : TL_STR_MAX;
            if (size.kind != Expression::Kind::number || size.number.bits == 0 ||
                size.number.bits > most)
                tokens_.fail(size.position,
                             depth ? fmt::format("a depth is 1 to {}", most)
                                   : fmt::format("1 to {} bytes can be recorded", most),
                             format_hint);
            item.size = size.number.bits;
            end = tokens_.token().end();
            if (!tokens_.take(']'))
                tokens_.fail("']' is expected here", format_hint);
        }
        item.format_text = tokens_.text().substr(token.position, end - token.position);
    }

    TokenReader& tokens_;
};

} // namespace

ArgumentList parse_argument_list(TokenReader& tokens) {
    return Parser(tokens).parse();
}

} // namespace trapline
