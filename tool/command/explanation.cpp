// SPDX-License-Identifier: GPL-2.0
// The text of `trapline explain`.
#include "command/explanation.h"

#include <algorithm>
#include <fmt/format.h>
#include <map>
#include <span>

#include "disassembly/trap.h"
#include "spec/registers.h"

namespace trapline {

namespace {

std::size_t widest_label(const std::vector<SiteState>& states) {
    std::size_t width = 0;
    for (const SiteState& state : states)
        width = std::max(width, state.when.size());
    return width;
}

// "[e8 1b 96]ec[3e]41": in brackets what differs; a byte is in the same column whatever does.
std::string marked_bytes(std::span<const std::byte> bytes, std::span<const std::byte> before) {
    std::string text;
    bool marked = false;
    for (std::size_t i = 0; i < bytes.size(); i++) {
        const bool differs = i >= before.size() || bytes[i] != before[i];
        const char* between = differs == marked ? " " : differs ? "[" : "]";
        text += fmt::format("{}{:02x}", between, static_cast<unsigned>(bytes[i]));
        marked = differs;
    }
    return text + (marked ? "]" : "");
}

// One state's instructions, by their offset from the site.
using Listing = std::map<std::size_t, std::string>;

class Code {
public:
    Code(const Disassembler& disassembler, std::uint64_t address,
         const std::vector<std::byte>& before)
        : disassembler_(disassembler), address_(address), before_(before),
          original_(list(before, 0)) {}

    // A trap leaves rests of what it lies on, which are never executed: the listing goes on where
    // an instruction of before begins.
    Listing of(const std::vector<std::byte>& bytes) const {
        if (bytes == before_)
            return original_;
        Listing listing;
        const auto trap = at(bytes, 0);
        if (!trap)
            return listing;
        listing[0] = trap->text;
        const auto next = original_.lower_bound(trap->size);
        if (next != original_.end())
            listing.merge(list(bytes, next->first));
        return listing;
    }

private:
    std::optional<Instruction> at(const std::vector<std::byte>& bytes, std::size_t offset) const {
        return disassembler_.first(address_ + offset, std::span(bytes).subspan(offset));
    }

    Listing list(const std::vector<std::byte>& bytes, std::size_t offset) const {
        Listing listing;
        while (offset < bytes.size()) {
            const auto instruction = at(bytes, offset);
            if (!instruction)
                break;
            listing[offset] = instruction->text;
            offset += instruction->size;
        }
        return listing;
    }

    const Disassembler& disassembler_;
    std::uint64_t address_;
    const std::vector<std::byte>& before_;
    Listing original_;
};

std::string without_trailing_blanks(std::string line) {
    line.erase(line.find_last_not_of(' ') + 1);
    return line;
}

// A column for each state, a row for each place where an instruction begins in one of them.
std::string instruction_table(const Explanation& explanation, const Disassembler& disassembler) {
    const Code code(disassembler, explanation.address, explanation.before().bytes);
    std::map<std::size_t, std::vector<std::string>> rows;
    const std::size_t columns = explanation.states.size();
    std::vector<std::size_t> widths;
    std::string head(10, ' ');
    for (std::size_t column = 0; column < columns; column++) {
        std::size_t width = explanation.states[column].when.size();
        for (const auto& [offset, instruction] : code.of(explanation.states[column].bytes)) {
            auto& row = rows[offset];
            row.resize(columns);
            row[column] = instruction;
            width = std::max(width, instruction.size());
        }
        widths.push_back(width);
        head += fmt::format("{:<{}}  ", explanation.states[column].when, width);
    }
    std::string text = without_trailing_blanks(head) + '\n';
    for (const auto& [offset, row] : rows) {
        std::string line =
            fmt::format("  {:<8}", fmt::format("+{:#x}", explanation.offset + offset));
        for (std::size_t column = 0; column < columns; column++)
            line += fmt::format("{:<{}}  ", row[column], widths[column]);
        text += without_trailing_blanks(line) + '\n';
    }
    return text;
}

std::string named(const NamedAddress& symbol) {
    return symbol.address == 0 ? fmt::format("{} (its address is hidden)", symbol.name)
                               : fmt::format("{} ({:#x})", symbol.name, symbol.address);
}

class Writer {
public:
    Writer(const Explanation& explanation, const Disassembler* disassembler)
        : e_(explanation), disassembler_(disassembler),
          trap_(read_trap(e_.address, e_.trapped().bytes)) {}

    std::string write() {
        heading();
        bytes();
        technique();
        arguments();
        if (e_.spec.kind != TRAPLINE_ENTRY)
            returns();
        condition();
        return std::move(text_);
    }

private:
    template <class... Arguments>
    void line(fmt::format_string<Arguments...> format, Arguments&&... arguments) {
        text_ += fmt::format(format, std::forward<Arguments>(arguments)...) + '\n';
    }

    bool changed() const { return e_.trapped().bytes != e_.before().bytes; }

    void heading() {
        const std::size_t colon = e_.symbol.find(':');
        const std::string function = e_.symbol.substr(colon == std::string::npos ? 0 : colon + 1);
        const std::string where = colon == std::string::npos
                                      ? std::string("the kernel image")
                                      : fmt::format("the module {}", e_.symbol.substr(0, colon));
        const char* what = e_.spec.offset != 0              ? "an instruction"
                           : e_.spec.kind == TRAPLINE_ENTRY ? "the entry"
                           : e_.spec.kind == TRAPLINE_RETURN
                               ? "the return, which is prepared at the entry,"
                               : "a call, entry and return,";
        line("{}: {} of the function {} in {}", e_.spec.text, what, function, where);
        line("  at {:#x}, {}+{:#x}{}", e_.address, function, e_.offset,
             e_.function_size == 0
                 ? std::string()
                 : fmt::format(" of {:#x} ({}) bytes", e_.function_size, e_.function_size));
        if (e_.addresses_hidden)
            line("  /proc/kallsyms hides addresses (kernel.kptr_restrict): this one is the "
                 "module's word");
        if (e_.spec.offset == 0 && e_.offset != 0)
            line("  it is put {} bytes behind the function's start, where {}", e_.offset,
                 trap_facts.why_behind);
    }

    void bytes() {
        text_ += '\n';
        const std::size_t width = widest_label(e_.states);
        for (const SiteState& state : e_.states)
            line("  {:<{}}  {}", state.when, width, marked_bytes(state.bytes, e_.before().bytes));
        text_ += '\n';
        if (disassembler_)
            text_ += instruction_table(e_, *disassembler_);
        else
            line("  (not disassembled: this tool was built without libcapstone)");
    }

    void technique() {
        text_ += '\n';
        if (!changed()) {
            line(
                "Technique: none to be seen, for the bytes didn't change. Somebody else's trap was "
                "there\n"
                "before and serves this probe too.");
            return;
        }
        switch (trap_.technique) {
        case Technique::breakpoint:
            breakpoint();
            break;
        case Technique::jump:
            line("Technique: an optimised jump (e9). A breakpoint (cc) costs an exception; after a "
                 "while the\n"
                 "kernel replaces it by a jump where no branch leads into the 5 bytes.");
            leads("a buffer of the kernel's for this probe",
                  "It saves the registers, calls the handler, executes what the jump lies on, and "
                  "jumps back\n"
                  "  behind it.");
            break;
        case Technique::call:
            line("Technique: a call of ftrace (e8). At the function's start the compiler left 5 "
                 "bytes for it, a nop\n"
                 "until somebody traces the function.");
            leads("a trampoline that ftrace made",
                  "It saves the registers and calls whoever traces the function: here kprobes, "
                  "which call the handler.");
            break;
        case Technique::none:
            line("Technique: unknown. The bytes changed, but are no trap that kprobes are known "
                 "to set.");
            break;
        }
    }

    void breakpoint() {
        line("Technique: a breakpoint ({}). The CPU that gets there raises an exception; the "
             "kernel looks\n"
             "up the probe by the address, calls the handler, executes what the {} on from a "
             "copy, or\n"
             "emulates it, and goes on behind it.",
             trap_facts.breakpoint, trap_.size == 1 ? "byte lies" : "bytes lie");
        if (e_.exception)
            line("  The exception enters the kernel at {}.", named(*e_.exception));
        switch (e_.optimisation) {
        case Optimisation::off:
            line("  It stays one: the kernel makes no jumps of breakpoints while "
                 "debug.kprobes-optimization is 0.");
            break;
        case Optimisation::on:
            line("  The kernel made no jump of it within {} ms: a jump takes 5 bytes, and it has "
                 "to be sure that\n"
                 "  no branch leads into them and that the instructions there work elsewhere.",
                 e_.optimisation_wait.count());
            break;
        case Optimisation::unknown:
            line("  It stays one: there is no debug.kprobes-optimization, so this kernel makes no "
                 "jumps of them.");
            break;
        }
    }

    void leads(const char* unnamed, const char* what_it_does) {
        const std::uint64_t target = trap_.target.value_or(0);
        if (e_.target)
            line("  It leads to {:#x}, {}.", target, e_.target->text());
        else if (e_.addresses_hidden)
            line("  It leads to {:#x}; what lies there, /proc/kallsyms hides.", target);
        else
            line("  It leads to {:#x}, which lies in no symbol: {}.", target, unnamed);
        line("  {}", what_it_does);
    }

    void arguments() {
        text_ += '\n';
        if (e_.spec.offset != 0)
            line("The handler sees the registers as they are at this instruction (%{}, %{}, ...). "
                 "Arguments have\n"
                 "a known place at the function's entry only:",
                 registers[0].name, registers[1].name);
        else
            line("At the entry the words of the arguments are in");
        std::string row = " ";
        for (unsigned i = 0; i < register_arguments; i++)
            row += fmt::format(" $arg{} %{} ", i + 1, registers[i].name);
        line("{}", without_trailing_blanks(row));
        const unsigned first = 8 * stack_skipped;
        line("  $arg{0} {3}(%{5})  $arg{1} {4}(%{5})  and so on: $argN is at 8*(N-{2})(%{5})",
             register_arguments + 1, register_arguments + 2, register_arguments + 1 - stack_skipped,
             first, first + 8, stack_register.name);
        line("Of a function that takes fewer, the others are whatever was there.");
    }

    void returns() {
        text_ += '\n';
        line("At the entry {} is the return address. The kernel keeps it and writes another in "
             "its place,",
             trap_facts.return_address);
        if (e_.trampoline)
            line("  {}", named(*e_.trampoline));
        else
            line("  that of its trampoline for returns (/proc/kallsyms names none that is known)");
        line("so that the function returns there. The return value is in %{}, the handler is "
             "called, and the\n"
             "trampoline goes on at the address that was kept.",
             result_register.name);
    }

    void condition() {
        const Tested& tested = e_.tested;
        if (!tested.at_entry && !tested.at_return)
            return;
        text_ += '\n';
        line("The condition is tested by the handler, {}: the trap is the same, and every hit "
             "costs.",
             !tested.at_return  ? (e_.spec.offset != 0 ? "at the instruction" : "at the entry")
             : !tested.at_entry ? "at the return"
                                : "at the entry as far as it can be, and at the return");
    }

    const Explanation& e_;
    const Disassembler* disassembler_;
    Trap trap_;
    std::string text_;
};

} // namespace

std::string explanation_text(const Explanation& explanation, const Disassembler* disassembler) {
    return Writer(explanation, disassembler).write();
}

} // namespace trapline
