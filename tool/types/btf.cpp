// SPDX-License-Identifier: GPL-2.0
// Types from BTF, which the kernel carries for itself and its modules. libbpf finds the records
// and strings, and holds them inside of what was read; what they say is checked here.
#include "types/btf.h"

#include <algorithm>
#include <bpf/btf.h>
#include <bpf/libbpf.h>
#include <cerrno>
#include <cstring>
#include <fcntl.h>
#include <fmt/format.h>
#include <iterator>
#include <limits>
#include <set>
#include <sys/mman.h>
#include <unistd.h>
#include <utility>
#include <vector>

#include "util/edit_distance.h"
#include "util/error.h"
#include "util/fd.h"

namespace trapline {

namespace {

constexpr std::size_t bytes_max = std::size_t{1} << 30;

// libbpf declares btf__new_split(), and its library lacks it: a module's are read from a file.
btf* parse_split(std::span<const std::byte> bytes, btf* base) {
    const UniqueFd file(memfd_create("btf", MFD_CLOEXEC));
    if (!file ||
        write(file.get(), bytes.data(), bytes.size()) != static_cast<ssize_t>(bytes.size()))
        return nullptr;
    return btf__parse_raw_split(fmt::format("/proc/self/fd/{}", file.get()).c_str(), base);
}

// What it prints is said by us, in other words.
btf* parse(std::span<const std::byte> bytes, btf* base) {
    const libbpf_print_fn_t before = libbpf_set_print(nullptr);
    btf* graph = base ? parse_split(bytes, base)
                      : btf__new(bytes.data(), static_cast<std::uint32_t>(bytes.size()));
    const int error = errno;
    libbpf_set_print(before);
    errno = error;
    return graph;
}

// Records are read as words where they lie.
bool has_odd_header(std::span<const std::byte> bytes) {
    btf_header header{};
    if (bytes.size() < sizeof(header))
        return false; // refused as too short
    std::memcpy(&header, bytes.data(), sizeof(header));
    return header.magic == BTF_MAGIC && header.hdr_len % 4 != 0;
}

// A file of sysfs, whole. Empty: it is not there.
std::vector<std::byte> read_file(const std::string& path) {
    const UniqueFd file(open(path.c_str(), O_RDONLY | O_CLOEXEC));
    std::vector<std::byte> bytes;
    if (!file) {
        if (errno == ENOENT)
            return bytes;
        throw errno_error("cannot open " + path, errno);
    }
    std::size_t size = 0;
    for (;;) {
        bytes.resize(size + (std::size_t{1} << 20));
        const ssize_t got = read(file.get(), bytes.data() + size, bytes.size() - size);
        if (got < 0)
            throw errno_error("cannot read " + path, errno);
        if (got == 0)
            break;
        size += static_cast<std::size_t>(got);
        if (size > bytes_max)
            throw Error(path + ": too large to be BTF");
    }
    bytes.resize(size);
    return bytes;
}

// All but the enumerators, which have 4 or 8 bytes.
void decode_enumeration(Type& type, const btf_type& record) {
    type.kind = TypeKind::enumeration;
    type.size = record.size;
    type.is_signed = btf_kflag(&record);
}

// Of a kind that find() takes, or of functions; an enumeration may be BTF_KIND_ENUM64 too.
unsigned record_kind(TypeKind kind) {
    switch (kind) {
    case TypeKind::structure:
        return BTF_KIND_STRUCT;
    case TypeKind::union_:
        return BTF_KIND_UNION;
    case TypeKind::enumeration:
        return BTF_KIND_ENUM;
    case TypeKind::integer:
        return BTF_KIND_INT;
    case TypeKind::function:
        return BTF_KIND_FUNC;
    default:
        return BTF_KIND_TYPEDEF;
    }
}

bool is_of_kind(const btf_type& record, TypeKind kind) {
    const unsigned wanted = record_kind(kind);
    return btf_kind(&record) == wanted ||
           (wanted == BTF_KIND_ENUM && btf_kind(&record) == BTF_KIND_ENUM64);
}

Qualifier tag_qualifier(std::string_view name) {
    return name == "user" ? Qualifier::user : Qualifier::other;
}

} // namespace

void BtfTypes::Free::operator()(btf* graph) const {
    btf__free(graph);
}

BtfTypes::BtfTypes(std::span<const std::byte> bytes, const BtfTypes* base, std::string name)
    : name_(std::move(name)), base_(base) {
    if (bytes.size() > bytes_max || has_odd_header(bytes))
        throw Error(name_ + ": no BTF, or damaged");
    btf_.reset(parse(bytes, base ? base->btf_.get() : nullptr));
    if (!btf_)
        throw Error(fmt::format("{}: no BTF, or damaged, or newer than is understood ({})", name_,
                                errno_text(errno)));
    if (base)
        first_ = btf__type_cnt(base->btf_.get());
}

void BtfTypes::fail(TypeId id, std::string_view why) const {
    throw Error(fmt::format("{} is damaged: type {} {}", name_, id, why));
}

std::string BtfTypes::name_at(std::uint32_t offset) const {
    const char* text = btf__name_by_offset(btf_.get(), offset);
    if (text == nullptr)
        return {};
    // A name from anywhere is printed, and written into metadata.
    std::string name(text);
    for (char& c : name)
        if (c < ' ' || c > '~')
            c = '?';
    return name;
}

const Type& BtfTypes::at(TypeId id) const {
    if (base_ != nullptr && id < first_)
        return base_->at(id);
    const auto known = decoded_.find(id);
    if (known != decoded_.end())
        return known->second;
    return decoded_.emplace(id, decode(id)).first->second;
}

Type BtfTypes::decode(TypeId id) const {
    Type type;
    if (id == void_type)
        return type;
    const btf_type* record = btf__type_by_id(btf_.get(), id);
    if (record == nullptr)
        fail(id, "is referred to, and is not there");
    type.name = name_at(record->name_off);
    const std::uint32_t length = btf_vlen(record);
    switch (btf_kind(record)) {
    case BTF_KIND_INT:
        type.kind =
            (btf_int_encoding(record) & BTF_INT_BOOL) != 0 ? TypeKind::boolean : TypeKind::integer;
        type.size = record->size;
        type.is_signed = (btf_int_encoding(record) & BTF_INT_SIGNED) != 0;
        break;
    case BTF_KIND_FLOAT:
        type.kind = TypeKind::floating;
        type.size = record->size;
        break;
    case BTF_KIND_PTR:
        type.kind = TypeKind::pointer;
        type.size = 8;
        type.target = record->type;
        break;
    case BTF_KIND_ARRAY:
        type.kind = TypeKind::array;
        type.target = btf_array(record)->type;
        type.count = btf_array(record)->nelems;
        break;
    case BTF_KIND_STRUCT:
    case BTF_KIND_UNION:
        type.kind = btf_kind(record) == BTF_KIND_STRUCT ? TypeKind::structure : TypeKind::union_;
        type.size = record->size;
        for (std::uint32_t i = 0; i < length; i++) {
            const btf_member& member = btf_members(record)[i];
            type.members.push_back({name_at(member.name_off), member.type,
                                    btf_member_bit_offset(record, i),
                                    btf_member_bitfield_size(record, i)});
            const Member& added = type.members.back();
            if (added.bit_offset + added.bits > type.size * 8 || added.bits > 64)
                fail(id, "has a member outside of itself");
        }
        break;
    case BTF_KIND_ENUM:
        decode_enumeration(type, *record);
        for (std::uint32_t i = 0; i < length; i++) {
            const struct btf_enum& value = btf_enum(record)[i];
            // Before there was a flag for signs, it wasn't known: their bits are the same.
            type.enumerators.push_back(
                {name_at(value.name_off), static_cast<std::uint64_t>(std::int64_t{value.val})});
        }
        if (!type.is_signed)
            for (Enumerator& enumerator : type.enumerators)
                enumerator.value &= std::numeric_limits<std::uint32_t>::max();
        break;
    case BTF_KIND_ENUM64:
        decode_enumeration(type, *record);
        for (std::uint32_t i = 0; i < length; i++) {
            const struct btf_enum64& value = btf_enum64(record)[i];
            type.enumerators.push_back({name_at(value.name_off), btf_enum64_value(&value)});
        }
        break;
    case BTF_KIND_FWD:
        type.kind = TypeKind::forward;
        break;
    case BTF_KIND_TYPEDEF:
        type.kind = TypeKind::alias;
        type.target = record->type;
        break;
    case BTF_KIND_CONST:
    case BTF_KIND_VOLATILE:
    case BTF_KIND_RESTRICT:
        type.kind = TypeKind::qualifier;
        type.qualifier =
            btf_kind(record) == BTF_KIND_CONST ? Qualifier::constant : Qualifier::other;
        type.target = record->type;
        break;
    case BTF_KIND_TYPE_TAG:
        type.kind = TypeKind::qualifier;
        type.qualifier = tag_qualifier(type.name);
        type.target = record->type;
        break;
    case BTF_KIND_FUNC_PROTO:
        type.kind = TypeKind::function;
        type.target = record->type;
        for (std::uint32_t i = 0; i < length; i++) {
            const btf_param& parameter = btf_params(record)[i];
            type.variadic = i + 1 == length && parameter.type == 0;
            if (!type.variadic)
                type.parameters.push_back({name_at(parameter.name_off), parameter.type});
        }
        break;
    default: // functions, variables and their like, which no type refers to
        fail(id, "is no type");
    }
    return type;
}

void BtfTypes::index_functions() const {
    const TypeId end = btf__type_cnt(btf_.get());
    for (TypeId id = first_; id < end; id++) {
        const btf_type* record = btf__type_by_id(btf_.get(), id);
        if (record == nullptr || btf_kind(record) != BTF_KIND_FUNC)
            continue;
        const char* name = btf__name_by_offset(btf_.get(), record->name_off);
        if (name == nullptr)
            continue;
        const auto [known, added] = functions_.emplace(name, record->type);
        if (!added && known->second != record->type)
            known->second = void_type;
    }
    indexed_ = true;
}

std::optional<TypeId> BtfTypes::function(std::string_view name) const {
    if (!indexed_)
        index_functions();
    const auto found = functions_.find(name);
    if (found == functions_.end() || found->second == void_type)
        return std::nullopt;
    if (at(found->second).kind != TypeKind::function)
        fail(found->second, fmt::format("is that of {}, and no function's", name));
    return found->second;
}

std::optional<TypeId> BtfTypes::find(TypeKind kind, std::string_view name, TypeId /*near*/) const {
    const unsigned wanted = record_kind(kind);
    const std::string text(name);
    std::int32_t id = btf__find_by_name_kind(btf_.get(), text.c_str(), wanted);
    if (id < 0 && wanted == BTF_KIND_ENUM)
        id = btf__find_by_name_kind(btf_.get(), text.c_str(), BTF_KIND_ENUM64);
    return id > 0 ? std::optional(static_cast<TypeId>(id)) : std::nullopt;
}

std::vector<std::string> BtfTypes::similar(TypeKind kind, std::string_view name) const {
    constexpr std::size_t most = 3;
    const auto limit = static_cast<unsigned>(std::min<std::size_t>(1 + name.size() / 5, 3));
    std::set<std::pair<unsigned, std::string>> best;
    const TypeId end = btf__type_cnt(btf_.get());
    // A module refers to the kernel's types, and has its own functions.
    for (TypeId id = kind == TypeKind::function ? first_ : 1; id < end; id++) {
        const btf_type* record = btf__type_by_id(btf_.get(), id);
        if (record == nullptr || !is_of_kind(*record, kind))
            continue;
        std::string known = name_at(record->name_off);
        if (known.empty())
            continue;
        const auto distance = edit_distance(name, known, limit);
        if (distance)
            best.emplace(*distance, std::move(known));
        if (best.size() > most)
            best.erase(std::prev(best.end()));
    }
    std::vector<std::string> names;
    for (const auto& [distance, known] : best)
        names.push_back(known);
    return names;
}

KernelBtf::KernelBtf(std::string directory) : directory_(std::move(directory)) {}

const KernelBtf::File& KernelBtf::file(const std::string& name, const BtfTypes* base) {
    const auto [found, fresh] = files_.try_emplace(name);
    File& file = found->second;
    if (!fresh)
        return file;
    const std::string path = directory_ + "/" + name;
    try {
        const std::vector<std::byte> bytes = read_file(path);
        if (!bytes.empty())
            file.types = std::make_unique<BtfTypes>(bytes, base, path);
        else if (base == nullptr)
            file.why_none = "this kernel has no BTF";
        else
            file.why_none = fmt::format("the module {} has no BTF", name);
    } catch (const Error& error) {
        file.why_none = error.what();
    }
    return file;
}

const Types* KernelBtf::types_of(const std::string& module, std::string& why_none) {
    const File* known = &file("vmlinux", nullptr);
    if (known->types && !module.empty())
        known = &file(module, known->types.get());
    why_none = known->why_none;
    return known->types.get();
}

} // namespace trapline
