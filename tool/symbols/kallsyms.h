// SPDX-License-Identifier: GPL-2.0
// The running kernel's symbols: /proc/kallsyms, or another file of that form.
#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <iosfwd>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace trapline {

// Its text lies in the Kallsyms that gave it.
struct Symbol {
    std::uint64_t address = 0; // 0 if the kernel hides addresses
    std::string_view name;
    std::string_view module; // empty: the kernel image
    std::uint64_t size = 0;  // to the next symbol, as the kernel itself reckons; 0: unknown
    char type = '?';

    bool is_function() const { return type == 't' || type == 'T' || type == 'w' || type == 'W'; }
    bool is_padding() const;   // the bytes before a function, which compilers give a name
    bool is_cold_part() const; // what the compiler moved out of a function: NAME.cold
};

// Whether that's no symbol of the source: what tells code from data in modules of arm64 and
// riscv64, and the assembler's own labels.
bool is_mark(std::string_view name);

// A function, told from others of its name.
struct NumberedFunction {
    Symbol symbol;
    unsigned number = 0; // which of its name by address, from 1; 0: the only one, or unknown
};

class Kallsyms {
public:
    // Throws Error if the file can't be read or holds no symbols.
    explicit Kallsyms(const std::string& path = "/proc/kallsyms");
    explicit Kallsyms(std::istream& from);

    // Of the names that are `wanted` only, and without sizes: for who is in a hurry.
    using Wanted = std::function<bool(std::string_view name)>;
    Kallsyms(const std::string& path, const Wanted& wanted);

    Kallsyms(Kallsyms&&) = default;
    Kallsyms& operator=(Kallsyms&&) = default;
    // Its views point into its own buffer.
    Kallsyms(const Kallsyms&) = delete;
    Kallsyms& operator=(const Kallsyms&) = delete;
    ~Kallsyms() = default;

    // Every address reads as 0: kptr_restrict, or no privilege.
    bool addresses_hidden() const { return hidden_; }

    // Those of modules do, at least: the kernel image's may have come from its System.map.
    bool modules_hidden() const { return modules_hidden_; }

    // Where addresses are hidden: takes the kernel image's from `map`, which is its System.map,
    // moved by `slide`. Error, and nothing is taken, if it has not the functions that are here, in
    // the order that they are in here. What isn't told apart by its name and its number stays
    // hidden.
    void take_addresses(const Kallsyms& map, std::uint64_t slide);
    std::size_t size() const { return symbols_.size(); }

    // All symbols of that name, functions or not, by address. `module`: empty for everywhere,
    // "kernel" or "vmlinux" for the kernel image; '-' and '_' are the same in it.
    std::vector<Symbol> find(std::string_view name, std::string_view module = {}) const;

    // The function that has `address` in it; the first of several names. None too where addresses
    // are hidden, or it isn't known where a function ends.
    std::optional<Symbol> function_at(std::uint64_t address) const;

    // The symbol that `address` is in, function or data; of several at one place the first
    // function's, or the first. Whose end isn't known, that of a module's last function, or of
    // what its text or data ends with, ends with a page. None for what isn't in the upper half, or
    // is behind the kernel image's text, where no data is listed.
    std::optional<Symbol> symbol_at(std::uint64_t address) const;

    // Visits the functions of `module`, as for find(), whose names are `wanted`, by address; if
    // addresses are hidden, in the order of the file. A place that is listed twice under one name
    // is visited once. The numbers are those among all functions of the name, wherever they are.
    void for_each_function(std::string_view module, const Wanted& wanted,
                           const std::function<void(const NumberedFunction&)>& visit) const;

    // function_at(), told from others of its name.
    std::optional<NumberedFunction> numbered_function_at(std::uint64_t address) const;

    // What the compiler made of a function: NAME.isra.0, NAME.constprop.0, NAME.part.0, NAME.cold.
    std::vector<Symbol> clones(std::string_view name, std::string_view module = {}) const;

    // The functions whose names are most like `name`, best first, `most` of them at most.
    std::vector<std::string_view> similar(std::string_view name, std::string_view module = {},
                                          std::size_t most = 3) const;

    // Loaded modules whose names are spelled almost like it.
    std::vector<std::string_view> similar_modules(std::string_view name) const;

    bool has_module(std::string_view module) const;

private:
    // 32 bytes each: there are some 200,000.
    struct Entry {
        std::uint64_t address;
        std::uint32_t name;  // offset in names_
        std::uint32_t next;  // in the chain of its hash, none: no_entry
        std::uint32_t after; // the next higher in the same image, none: no_entry
        std::uint16_t length;
        std::uint16_t module; // index of modules_
        char type;
    };

    void reserve();
    void read_file(const std::string& path, const Wanted* wanted);
    bool add_line(const char* at, const char* end, const Wanted* wanted);
    std::uint16_t intern_module(std::string_view name);
    void link_names();
    void link_addresses();
    std::string_view name_of(const Entry& entry) const;
    Symbol symbol_of(const Entry& entry) const;
    bool in_module(const Entry& entry, std::string_view module) const;
    std::uint32_t first_of_name(const Entry& entry) const;
    std::vector<std::uint32_t> functions_by_address(const Wanted& wanted) const;
    const std::vector<std::uint32_t>& all_by_address() const;
    std::vector<std::uint64_t> addresses_in(const Kallsyms& map) const;

    std::vector<char> names_;
    std::vector<Entry> symbols_;
    std::vector<std::string> modules_{""};          // the first is the kernel image
    std::vector<std::uint32_t> heads_;              // hash chains
    mutable std::vector<std::uint32_t> by_address_; // those of the upper half, once asked for
    bool hidden_ = true;
    bool modules_hidden_ = false;
};

} // namespace trapline
