// SPDX-License-Identifier: GPL-2.0
// Makes bytes from anywhere safe to show on a terminal, and unambiguous.
#include "util/escape.h"

namespace trapline {

namespace {

char short_escape(char c) {
    switch (c) {
    case '\a':
        return 'a';
    case '\b':
        return 'b';
    case '\t':
        return 't';
    case '\n':
        return 'n';
    case '\v':
        return 'v';
    case '\f':
        return 'f';
    case '\r':
        return 'r';
    default:
        return '\0';
    }
}

bool is_plain(char c, char quote) {
    return c >= ' ' && c <= '~' && c != '\\' && (quote == '\0' || c != quote);
}

void append_escape(std::string& out, char c) {
    out += '\\';
    if (c >= ' ' && c <= '~') {
        out += c;
    } else if (const char letter = short_escape(c); letter != '\0') {
        out += letter;
    } else {
        const auto byte = static_cast<unsigned char>(c);
        out += static_cast<char>('0' + (byte >> 6));
        out += static_cast<char>('0' + (byte >> 3 & 7));
        out += static_cast<char>('0' + (byte & 7));
    }
}

} // namespace

void append_escaped(std::string& out, std::string_view bytes, char quote) {
    // Most bytes are plain: copied in runs.
    std::size_t from = 0;
    for (std::size_t i = 0; i < bytes.size(); i++) {
        if (is_plain(bytes[i], quote))
            continue;
        out.append(bytes, from, i - from);
        append_escape(out, bytes[i]);
        from = i + 1;
    }
    out.append(bytes, from, bytes.size() - from);
}

std::string without_controls(std::string_view text) {
    std::string out;
    for (std::size_t i = 0; i < text.size(); i++) {
        const auto byte = static_cast<unsigned char>(text[i]);
        // The second kind of control characters are two bytes in UTF-8.
        const bool pair = byte == 0xc2 && i + 1 < text.size() &&
                          (static_cast<unsigned char>(text[i + 1]) & 0xe0) == 0x80;
        if ((byte < ' ' && byte != '\n') || byte == 0x7f || pair)
            append_escape(out, text[i]);
        else
            out += text[i];
    }
    return out;
}

std::string escaped(std::string_view bytes, char quote) {
    std::string out;
    append_escaped(out, bytes, quote);
    return out;
}

} // namespace trapline
