// SPDX-License-Identifier: GPL-2.0
// tl-json [FIELD...] < LINES: holds that each line is one JSON object in printable ASCII
// without a key twice, and prints the FIELDs' values, a line each with tabs between; "(keys)"
// is all keys, "-" an absent one. Names the first bad line and exits with 1.
#include <algorithm>
#include <cstdio>
#include <iostream>
#include <nlohmann/json.hpp>
#include <set>
#include <stdexcept>
#include <string>

namespace {

using Json = nlohmann::ordered_json;

Json parse(const std::string& line) {
    const auto printable = [](char c) { return c >= ' ' && c <= '~'; };
    if (!std::all_of(line.begin(), line.end(), printable))
        throw std::runtime_error("a byte that is not printable ASCII");
    std::set<std::string> keys;
    const auto once = [&](int depth, Json::parse_event_t event, Json& parsed) {
        if (event == Json::parse_event_t::key && depth == 1 &&
            !keys.insert(parsed.get<std::string>()).second)
            throw std::runtime_error("a key twice: " + parsed.get<std::string>());
        return true;
    };
    Json object = Json::parse(line, once);
    if (!object.is_object())
        throw std::runtime_error("not an object");
    return object;
}

std::string field(const Json& object, const std::string& name) {
    if (name == "(keys)") {
        std::string keys;
        for (const auto& [key, value] : object.items())
            keys += (keys.empty() ? "" : ",") + key;
        return keys;
    }
    return object.contains(name) ? object[name].dump(-1, ' ', true) : "-";
}

} // namespace

int main(int argc, char** argv) {
    std::string line;
    for (long number = 1; std::getline(std::cin, line); number++) {
        try {
            const Json object = parse(line);
            for (int i = 1; i < argc; i++)
                std::cout << (i == 1 ? "" : "\t") << field(object, argv[i]);
        } catch (const std::exception& error) {
            std::cout << "line " << number << ": " << error.what() << ": " << line << '\n';
            return 1;
        }
        if (argc > 1)
            std::cout << '\n';
    }
    return 0;
}
