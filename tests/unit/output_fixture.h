// SPDX-License-Identifier: GPL-2.0
// Events to print, for the tests of the printers.
#pragma once

#include <algorithm>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "output/printer.h"
#include "record_bytes.h"

namespace trapline::test {

inline const Field raw64{"a", FieldType::raw, 8};
inline const Field raw32{"b", FieldType::raw, 4};
inline const Field text_field{"s", FieldType::string, 0};
inline const Field faults_field{"faults", FieldType::faults, 4};

inline const Field signed32{"fd", FieldType::raw, 4, NumberForm::signed_};
inline const Field signed8{"delta", FieldType::raw, 1, NumberForm::signed_};
inline const Field unsigned64{"count", FieldType::raw, 8, NumberForm::unsigned_};
inline const Field hex64{"flags", FieldType::raw, 8, NumberForm::hex};
inline const Field bool8{"on", FieldType::raw, 1, NumberForm::boolean};
inline const Field pointer64{"file", FieldType::raw, 8, NumberForm::pointer};

inline const Field character8{"c", FieldType::raw, 1, NumberForm::character};
inline const Field error32{"e", FieldType::raw, 4, NumberForm::error};
inline const Field ip4{"ip4", FieldType::raw, 4, NumberForm::ip4};
inline const Field hex_bytes{"hex", FieldType::bytes, 8, NumberForm::hex};
inline const Field ip6{"ip6", FieldType::bytes, 8, NumberForm::ip6};
inline const Field mac{"mac", FieldType::bytes, 8, NumberForm::mac};

inline const Field stack_field{"stack", FieldType::stack};

// As RecordBytes has numbers: of the frames 0xffffffff81000010, 0xffffffff81000020, ...
inline RecordBytes& add_stack(RecordBytes& bytes, std::uint16_t status, std::uint16_t length) {
    bytes.number(static_cast<std::uint32_t>(status | length << 16));
    for (std::uint64_t i = 1; i <= length; i++)
        bytes.number(0xffffffff81000000 + 16 * i);
    return bytes;
}

inline const Field symbol64{"func", FieldType::raw, 8, NumberForm::symbol};
inline const Field caller64{"$caller", FieldType::raw, 8, NumberForm::caller};

// The names that the first two have.
inline std::string name_of_caller(std::uint64_t at) {
    return at == 0xffffffff81000010   ? "ksys_read+0x67"
           : at == 0xffffffff81000020 ? "ext4_x+0x1 [ext4]"
                                      : hex_name(at);
}

inline std::string name_of_symbol(std::uint64_t at) {
    return at == 0xffffffff81000010 ? "ext4_ops [ext4]" : hex_name(at);
}

inline const AddressNames some_names{name_of_caller, name_of_symbol};

inline Field enum_field(std::vector<EnumValue> values, bool is_signed = false) {
    return {"mode", FieldType::raw, 4, NumberForm::enumeration,
            std::make_shared<const Enumeration>(Enumeration{"mode", is_signed, std::move(values)})};
}

inline EventLayout make_layout(trapline_probe_kind kind, std::vector<Field> entry,
                               std::vector<Field> ret = {}) {
    return {.id = 1,
            .name = "vfs_read",
            .kind = kind,
            .at_entry = true,
            .named = false,
            .entry_fields = std::move(entry),
            .return_fields = std::move(ret)};
}

// At 12.345678 s on CPU 3, by cat, thread 4711 of group 4710. The clock has 1 GHz.
struct Sample {
    Event event;
    std::vector<std::byte> bytes;
    ClockConversion clock{1'000'000'000, ClockAnchor{}};

    explicit Sample(std::vector<std::byte> fields = {}) : bytes(std::move(fields)) {
        event.ticks = 12'345'678'901;
        event.cpu = 3;
        event.tid = 4711;
        event.tgid = 4710;
        comm("cat");
    }

    Sample& comm(std::string_view name) {
        event.comm = {};
        std::copy_n(name.begin(), std::min<std::size_t>(name.size(), event.comm.size()),
                    event.comm.begin());
        return *this;
    }

    std::string print(Printer& printer, const EventLayout& layout) {
        std::string out;
        event.fields = bytes;
        printer.print(event, layout, clock, out);
        return out;
    }
};

} // namespace trapline::test
