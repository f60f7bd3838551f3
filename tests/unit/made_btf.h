// SPDX-License-Identifier: GPL-2.0
// BTF made by the test: a small kernel.
#pragma once

#include <bpf/btf.h>
#include <cstddef>
#include <initializer_list>
#include <memory>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include "types/btf.h"

namespace trapline::test {

// What btf__add_*() return for types is their id.
class MadeBtf {
public:
    using Named = std::pair<const char*, int>; // a name and a type's id

    MadeBtf() : btf_(btf__new_empty(), btf__free) {}
    explicit MadeBtf(const MadeBtf& base)
        : btf_(btf__new_empty_split(base.btf_.get()), btf__free) {}

    btf* get() const { return btf_.get(); }

    int pointer(int to) const { return btf__add_ptr(get(), to); }
    int constant(int of) const { return btf__add_const(get(), of); }
    int alias(const char* name, int of) const { return btf__add_typedef(get(), name, of); }

    // Members one behind the other, each of 8 bytes.
    int structure(const char* name, std::initializer_list<Named> members, unsigned size) const {
        const int id = btf__add_struct(get(), name, size);
        unsigned at = 0;
        for (const auto& [member, type] : members) {
            btf__add_field(get(), member, type, at, 0);
            at += 64;
        }
        return id;
    }

    int function(const char* name, int result, std::initializer_list<Named> parameters) const {
        const int id = btf__add_func_proto(get(), result);
        for (const auto& [parameter, type] : parameters)
            btf__add_func_param(get(), parameter, type);
        btf__add_func(get(), name, BTF_FUNC_STATIC, id);
        return id;
    }

    std::vector<std::byte> bytes() const {
        __u32 size = 0;
        const auto* data = static_cast<const std::byte*>(btf__raw_data(get(), &size));
        return {data, data + size};
    }

    std::unique_ptr<BtfTypes> types(const BtfTypes* base = nullptr) const {
        return std::make_unique<BtfTypes>(bytes(), base, "made");
    }

private:
    std::unique_ptr<btf, decltype(&btf__free)> btf_;
};

// With the types that most tests need.
struct SmallKernel : MadeBtf {
    int int_ = btf__add_int(get(), "int", 4, BTF_INT_SIGNED);
    int unsigned_ = btf__add_int(get(), "unsigned int", 4, 0);
    int long_ = btf__add_int(get(), "long int", 8, BTF_INT_SIGNED);
    int unsigned_long = btf__add_int(get(), "long unsigned int", 8, 0);
    int char_ = btf__add_int(get(), "char", 1, BTF_INT_SIGNED);
    int unsigned_char = btf__add_int(get(), "unsigned char", 1, 0);
    int short_ = btf__add_int(get(), "short int", 2, BTF_INT_SIGNED);
    int bool_ = btf__add_int(get(), "_Bool", 1, BTF_INT_BOOL);
    int double_ = btf__add_float(get(), "double", 8);
    int size_t_ = alias("size_t", unsigned_long);
    int ssize_t_ = alias("ssize_t", long_);
    int u8 = alias("u8", unsigned_char);
    int const_char = constant(char_);
    int text = pointer(const_char); // const char *
    int buffer = pointer(char_);    // char *
    int file = structure("file", {{"f_mode", unsigned_}, {"f_pos", long_}}, 16);
    int file_pointer = pointer(file);
};

} // namespace trapline::test
