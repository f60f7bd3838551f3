// SPDX-License-Identifier: GPL-2.0
// Compiled probes as text, and back from text that anybody may have written.
#include <algorithm>
#include <array>
#include <boost/crc.hpp>
#include <cerrno>
#include <filesystem>
#include <fmt/format.h>
#include <fstream>
#include <iterator>
#include <nlohmann/json.hpp>

#include "shared/trapline.h"
#include "spec/probe_set.h"
#include "util/error.h"

namespace trapline {

namespace {

using Json = nlohmann::json;

// Raised when what is there means something else.
constexpr unsigned format_number = 1;
constexpr std::string_view mark = "compiled probes";

constexpr std::array<std::string_view, 13> kind_names{
    "none",  "integer",     "boolean",  "floating", "pointer",   "array",  "structure",
    "union", "enumeration", "function", "alias",    "qualifier", "forward"};
constexpr std::array<std::string_view, 3> qualifier_names{"other", "constant", "user"};

[[noreturn]] void fail(std::string_view why) {
    throw Error(std::string(why));
}

std::string sum_of(const std::string& text) {
    boost::crc_32_type crc;
    crc.process_bytes(text.data(), text.size());
    return fmt::format("{:08x}", crc.checksum());
}

// ---- to JSON

Json to_json(const std::optional<TypeId>& id) {
    return id ? Json(*id) : Json();
}

Json to_json(const Type& type) {
    Json json = {{"kind", kind_names.at(static_cast<std::size_t>(type.kind))},
                 {"name", type.name},
                 {"size", type.size},
                 {"signed", type.is_signed},
                 {"qualifier", qualifier_names.at(static_cast<std::size_t>(type.qualifier))},
                 {"target", type.target},
                 {"count", type.count},
                 {"variadic", type.variadic}};
    for (const Member& member : type.members)
        json["members"].push_back(
            Json::array({member.name, member.type, member.bit_offset, member.bits}));
    for (const Enumerator& enumerator : type.enumerators)
        json["values"].push_back(Json::array({enumerator.name, enumerator.value}));
    for (const Parameter& parameter : type.parameters)
        json["parameters"].push_back(Json::array({parameter.name, parameter.type}));
    return json;
}

Json to_json(const SavedTypes& types) {
    Json json = {{"types", Json::array()},
                 {"functions", Json::array()},
                 {"functions_at", Json::array()},
                 {"found", Json::array()}};
    for (const auto& [id, type] : types.types)
        json["types"].push_back(Json::array({id, to_json(type)}));
    for (const auto& [name, id] : types.functions)
        json["functions"].push_back(Json::array({name, to_json(id)}));
    for (const auto& [address, id] : types.functions_at)
        json["functions_at"].push_back(Json::array({address, to_json(id)}));
    for (const auto& [wanted, id] : types.found)
        json["found"].push_back(
            Json::array({kind_names.at(static_cast<std::size_t>(std::get<0>(wanted))),
                         std::get<1>(wanted), std::get<2>(wanted), to_json(id)}));
    return json;
}

Json to_json(const SavedLines::Places& places) {
    Json json = Json::array();
    for (const SourcePlace& place : places)
        json.push_back(
            Json::array({place.function, place.address, place.offset, place.file, place.line}));
    return json;
}

Json to_json(const SavedLines& lines) {
    Json json = {{"by_name", Json::array()},
                 {"by_file", Json::array()},
                 {"by_function", Json::array()},
                 {"anchors", Json::array()}};
    for (const auto& [name, places] : lines.by_name)
        json["by_name"].push_back(Json::array({name, to_json(places)}));
    for (const auto& [key, places] : lines.by_file)
        json["by_file"].push_back(Json::array({key.first, key.second, to_json(places)}));
    for (const auto& [key, places] : lines.by_function)
        json["by_function"].push_back(Json::array({key.first, key.second, to_json(places)}));
    for (const auto& [address, anchors] : lines.anchored) {
        Json list = Json::array();
        for (const SourceAnchor& anchor : anchors)
            list.push_back(Json::array({anchor.symbol, anchor.address}));
        json["anchors"].push_back(Json::array({address, list}));
    }
    return json;
}

Json to_json(const ProbeSet& set) {
    Json json = {{"made_by", TRAPLINE_VERSION},
                 {"probes", set.probes},
                 {"kernels", Json::array()},
                 {"images", Json::array()}};
    for (const KernelBuild& build : set.builds)
        json["kernels"].push_back(
            {{"module", build.module}, {"release", build.release}, {"build_id", build.id}});
    for (const auto& [module, image] : set.images)
        json["images"].push_back({{"module", module},
                                  {"types", to_json(image.types)},
                                  {"lines", image.lines ? to_json(*image.lines) : Json()}});
    return json;
}

// ---- from JSON: what is missing or of another kind, the library throws

std::uint64_t number(const Json& json, std::uint64_t most) {
    if (!json.is_number_unsigned() || json.get<std::uint64_t>() > most)
        fail("a number is wrong");
    return json.get<std::uint64_t>();
}

std::uint64_t word(const Json& json) {
    return number(json, UINT64_MAX);
}

std::uint32_t half(const Json& json) {
    return static_cast<std::uint32_t>(number(json, UINT32_MAX));
}

// Of what is printed, and asked for.
std::string name(const Json& json) {
    const auto& text = json.get_ref<const std::string&>();
    if (text.size() > 4096 ||
        !std::all_of(text.begin(), text.end(), [](char c) { return c >= ' ' && c <= '~'; }))
        fail("a name is wrong");
    return text;
}

std::optional<TypeId> type_id(const Json& json) {
    return json.is_null() ? std::nullopt : std::optional(half(json));
}

template <std::size_t n>
std::size_t one_of(const Json& json, const std::array<std::string_view, n>& names) {
    const auto found = std::find(names.begin(), names.end(), json.get_ref<const std::string&>());
    if (found == names.end())
        fail("a kind of type is wrong");
    return static_cast<std::size_t>(found - names.begin());
}

template <class Visit>
void each(const Json& json, const char* key, Visit&& visit) {
    const auto found = json.find(key);
    if (found == json.end())
        return;
    for (const Json& one : found->get_ref<const Json::array_t&>())
        visit(one);
}

Type parse_type(const Json& json) {
    Type type;
    type.kind = static_cast<TypeKind>(one_of(json.at("kind"), kind_names));
    type.name = name(json.at("name"));
    type.size = number(json.at("size"), UINT32_MAX);
    type.is_signed = json.at("signed").get<bool>();
    type.qualifier = static_cast<Qualifier>(one_of(json.at("qualifier"), qualifier_names));
    type.target = half(json.at("target"));
    type.count = half(json.at("count"));
    type.variadic = json.at("variadic").get<bool>();
    each(json, "members", [&](const Json& one) {
        type.members.push_back(
            {name(one.at(0)), half(one.at(1)), word(one.at(2)), half(one.at(3))});
        const Member& added = type.members.back();
        if (added.bits > 64 || added.bit_offset > type.size * 8 ||
            added.bit_offset + added.bits > type.size * 8)
            fail("a member is outside of its structure");
    });
    each(json, "values", [&](const Json& one) {
        type.enumerators.push_back({name(one.at(0)), word(one.at(1))});
    });
    each(json, "parameters", [&](const Json& one) {
        type.parameters.push_back({name(one.at(0)), half(one.at(1))});
    });
    return type;
}

void parse_types(const Json& json, SavedTypes& types) {
    each(json, "types",
         [&](const Json& one) { types.types[half(one.at(0))] = parse_type(one.at(1)); });
    each(json, "functions",
         [&](const Json& one) { types.functions[name(one.at(0))] = type_id(one.at(1)); });
    each(json, "functions_at",
         [&](const Json& one) { types.functions_at[word(one.at(0))] = type_id(one.at(1)); });
    each(json, "found", [&](const Json& one) {
        const auto kind = static_cast<TypeKind>(one_of(one.at(0), kind_names));
        types.found[{kind, name(one.at(1)), half(one.at(2))}] = type_id(one.at(3));
    });
    const auto check = [&](const std::map<std::string, std::optional<TypeId>, std::less<>>& all) {
        for (const auto& [function, id] : all)
            if (id && types.at(*id).kind != TypeKind::function)
                fail(function + " is no function");
    };
    check(types.functions);
    for (const auto& [address, id] : types.functions_at)
        if (id && types.at(*id).kind != TypeKind::function)
            fail("a function is none");
}

SavedLines::Places parse_places(const Json& json) {
    SavedLines::Places places;
    for (const Json& one : json.get_ref<const Json::array_t&>())
        places.push_back(
            {name(one.at(0)), word(one.at(1)), word(one.at(2)), name(one.at(3)), half(one.at(4))});
    return places;
}

std::shared_ptr<const SavedLines> parse_lines(const Json& json) {
    if (json.is_null())
        return nullptr;
    auto lines = std::make_shared<SavedLines>();
    each(json, "by_name",
         [&](const Json& one) { lines->by_name[name(one.at(0))] = parse_places(one.at(1)); });
    each(json, "by_file", [&](const Json& one) {
        lines->by_file[{name(one.at(0)), half(one.at(1))}] = parse_places(one.at(2));
    });
    each(json, "by_function", [&](const Json& one) {
        lines->by_function[{word(one.at(0)), half(one.at(1))}] = parse_places(one.at(2));
    });
    each(json, "anchors", [&](const Json& one) {
        for (const Json& anchor : one.at(1).get_ref<const Json::array_t&>())
            lines->anchored[word(one.at(0))].push_back({name(anchor.at(0)), word(anchor.at(1))});
    });
    return lines;
}

ProbeSet parse_body(const Json& json) {
    ProbeSet set;
    for (const Json& probe : json.at("probes").get_ref<const Json::array_t&>())
        set.probes.push_back(probe.get<std::string>());
    if (set.probes.empty())
        fail("there is no probe in it");
    each(json, "kernels", [&](const Json& one) {
        set.builds.push_back(
            {name(one.at("module")), name(one.at("release")), name(one.at("build_id"))});
    });
    if (set.builds.empty())
        fail("it says of no kernel");
    each(json, "images", [&](const Json& one) {
        SavedImage& image = set.images[name(one.at("module"))];
        parse_types(one.at("types"), image.types);
        image.lines = parse_lines(one.at("lines"));
    });
    return set;
}

} // namespace

std::string set_text(const ProbeSet& set) {
    const std::string body = to_json(set).dump(-1, ' ', true, Json::error_handler_t::replace);
    return fmt::format("{{\"trapline\":\"{}\",\"format\":{},\"sum\":\"{}\",\"body\":\n{}\n}}\n",
                       mark, format_number, sum_of(body), body);
}

ProbeSet parse_set(std::string_view text, const std::string& name) {
    constexpr const char* again = "compile it once more: trapline compile --vmlinux FILE -o SET "
                                  "PROBE...";
    const std::string begin = fmt::format("{{\"trapline\":\"{}\",\"format\":", mark);
    if (!text.starts_with(begin))
        throw Error(name + ": no compiled probes", again);
    try {
        const Json json = Json::parse(text);
        if (json.at("format") != format_number)
            throw Error(fmt::format("{}: compiled by a version of trapline that does it otherwise "
                                    "(format {}, not {})",
                                    name, json.at("format").dump(), format_number),
                        again);
        const std::size_t from = text.find('\n') + 1;
        const std::size_t end = text.rfind('\n', text.size() - 2);
        if (from > end || json.at("sum") != sum_of(std::string(text.substr(from, end - from))))
            throw Error(name + ": damaged: its sum is wrong", again);
        return parse_body(json.at("body"));
    } catch (const Json::exception&) {
        throw Error(name + ": damaged", again);
    } catch (const Error& error) {
        if (std::string_view(error.what()).starts_with(name))
            throw;
        throw Error(fmt::format("{}: damaged: {}", name, error.what()), again);
    }
}

ProbeSet read_set(const std::string& path) {
    std::ifstream file(path, std::ios::binary);
    if (!file)
        throw errno_error("cannot open " + path, errno);
    if (!std::filesystem::is_regular_file(path))
        throw Error(path + " is no regular file", "@SET names one that trapline compile wrote");
    const std::string text((std::istreambuf_iterator<char>(file)),
                           std::istreambuf_iterator<char>());
    return parse_set(text, path);
}

} // namespace trapline
