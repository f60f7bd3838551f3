// SPDX-License-Identifier: GPL-2.0
// Types as C writes them.
#include "types/declaration.h"

#include <gtest/gtest.h>

#include "made_btf.h"

namespace {

using namespace trapline;
using namespace trapline::test;

TEST(Declaration, AsCWritesIt) {
    const SmallKernel made;
    btf* raw = made.get();
    const int anything = made.pointer(0);
    const int callback = btf__add_func_proto(raw, made.int_);
    btf__add_func_param(raw, "data", anything);
    const int variadic = btf__add_func_proto(raw, 0);
    btf__add_func_param(raw, "text", made.text);
    btf__add_func_param(raw, nullptr, 0);
    const int none = btf__add_func_proto(raw, made.ssize_t_);
    const int array = btf__add_array(raw, made.int_, made.short_, 6);
    const int nested = btf__add_array(raw, made.int_, array, 3);
    const int open = btf__add_array(raw, made.int_, made.file_pointer, 0);
    const int mode = btf__add_enum(raw, "mode", 4);
    const int unnamed = btf__add_struct(raw, nullptr, 4);
    const int ahead = btf__add_fwd(raw, "later", BTF_FWD_STRUCT);
    const int pointer_to_callback = made.pointer(callback);
    const int callbacks = btf__add_array(raw, made.int_, pointer_to_callback, 2);
    const int returning = btf__add_func_proto(raw, pointer_to_callback);
    const int fixed = made.constant(made.buffer);
    const auto types = made.types();
    const auto text = [&](int id, const char* name) {
        return declaration(*types, static_cast<TypeId>(id), name);
    };

    EXPECT_EQ(text(made.file_pointer, "file"), "struct file *file");
    EXPECT_EQ(text(made.text, "text"), "const char *text");
    EXPECT_EQ(text(fixed, "text"), "char *const text");
    EXPECT_EQ(text(callback, "run"), "int run(void *data)");
    EXPECT_EQ(text(pointer_to_callback, "run"), "int (*run)(void *data)");
    EXPECT_EQ(text(callbacks, "run"), "int (*run[2])(void *data)");
    EXPECT_EQ(text(returning, "find"), "int (*find(void))(void *data)");
    EXPECT_EQ(text(variadic, "print"), "void print(const char *text, ...)");
    EXPECT_EQ(text(none, "f"), "ssize_t f(void)");
    EXPECT_EQ(text(nested, "grid"), "short int grid[3][6]");
    EXPECT_EQ(text(open, "files"), "struct file *files[]");
    EXPECT_EQ(text(mode, ""), "enum mode");
    EXPECT_EQ(text(unnamed, "x"), "struct {...} x");
    EXPECT_EQ(text(ahead, "x"), "struct later x");
    EXPECT_EQ(text(0, ""), "void");
    EXPECT_EQ(text(anything, "p"), "void *p");
}

} // namespace
