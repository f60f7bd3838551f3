// SPDX-License-Identifier: GPL-2.0
// From a ring's bytes to events.
#include "ring/decoder.h"

#include <algorithm>
#include <cstring>
#include <fmt/format.h>
#include <string>

#include "trace/fields.h"

namespace trapline {

namespace {

template <class T>
T load(const std::byte* at) {
    T value{};
    std::memcpy(&value, at, sizeof(value));
    return value;
}

bool varies(const Field& field) {
    return field.type == FieldType::string || field.type == FieldType::bytes ||
           field.type == FieldType::stack;
}

// Nothing if it depends on what is in them.
std::optional<std::uint32_t> fixed_size(const EventLayout& layout) {
    if (std::any_of(layout.entry_fields.begin(), layout.entry_fields.end(), varies) ||
        std::any_of(layout.return_fields.begin(), layout.return_fields.end(), varies))
        return std::nullopt;
    // Any bytes will do: none is looked at.
    static const std::vector<std::byte> zeros(TL_FIELDS_MAX);
    const std::optional<std::size_t> size = fields_size(layout, zeros);
    if (!size)
        throw Error(
            fmt::format("the fields of {} take more than {} bytes", layout.name, TL_FIELDS_MAX));
    return static_cast<std::uint32_t>(*size);
}

} // namespace

DecodeError::DecodeError(std::uint32_t cpu, std::uint64_t packet, std::size_t offset,
                         std::string why)
    : Error(fmt::format("the ring of CPU {} contradicts itself in packet {} at offset {}: {}", cpu,
                        packet, offset, why),
            "this is a bug in trapline, or its memory was overwritten: please report it"),
      offset_(offset), why_(std::move(why)) {}

RecordDecoder::RecordDecoder(std::uint32_t cpu, std::span<const EventLayout> layouts)
    : cpu_(cpu), mark_{&mark_layout(), std::nullopt} {
    for (const EventLayout& layout : layouts) {
        if (layout.id == TL_ID_TASK || layout.id > TL_ID_MAX)
            throw Error(
                fmt::format("{} can't have event id {}: it is reserved", layout.name, layout.id));
        if (layout.id >= known_.size())
            known_.resize(layout.id + std::size_t{1});
        known_[layout.id] = {&layout, fixed_size(layout)};
    }
}

void RecordDecoder::decode(const tl_ring_span& span, Batch& batch) {
    const auto first = static_cast<std::size_t>(span.start - span.packet);
    if (first == TL_PACKET_SIZE) {
        begin_packet(span.packet);
    } else if (!any_) {
        // Another reader stopped here: what it knew by now stands in the records before,
        // which lie there still, for their chunk was not given back.
        Batch scrap;
        decode({span.packet, span.packet + TL_PACKET_SIZE, first - TL_PACKET_SIZE, 0}, scrap);
        events_ = 0;
    }
    const std::span<const std::byte> bytes =
        batch.append({reinterpret_cast<const std::byte*>(span.start), span.length});
    std::size_t at = 0;
    while (at < bytes.size())
        at += take(bytes.subspan(at), first + at, batch);
}

void RecordDecoder::restart(std::uint64_t latest) {
    any_ = false;
    last_ = 0;
    latest_ = latest;
}

// Takes the record that `bytes`, `offset` bytes into its packet, begin with; returns its size.
std::size_t RecordDecoder::take(std::span<const std::byte> bytes, std::size_t offset,
                                Batch& batch) {
    if (bytes.size() < TL_COMPACT_SIZE)
        fail(offset, fmt::format("{} bytes are no header", bytes.size()));

    std::size_t header = TL_COMPACT_SIZE;
    std::uint64_t time = 0;
    std::uint32_t id = load<std::uint16_t>(bytes.data());
    if (id != TL_ID_EXTENDED) {
        // Less than 2^32 ticks since the record before, so the low half says it all.
        time = last_ + static_cast<std::uint32_t>(load<std::uint32_t>(bytes.data() + 2) -
                                                  static_cast<std::uint32_t>(last_));
    } else {
        header = TL_EXTENDED_SIZE;
        if (bytes.size() < header)
            fail(offset, fmt::format("{} bytes are no extended header", bytes.size()));
        id = load<std::uint32_t>(bytes.data() + 2);
        time = load<std::uint64_t>(bytes.data() + 6);
    }
    if (time < last_)
        fail(offset, fmt::format("its time {} is before {}", time, last_));
    if (time > latest_)
        fail(offset, fmt::format("its time {} is after the packet's end, {}", time, latest_));
    const auto flags = load<std::uint16_t>(bytes.data() + header - 6);
    const auto tid = load<std::uint32_t>(bytes.data() + header - 4);
    const std::span<const std::byte> rest = bytes.subspan(header);

    if (id == TL_ID_TASK) {
        if (rest.size() < TL_TASK_FIELDS)
            fail(offset, "a task's name runs past the end");
        last_ = time;
        tgid_ = load<std::uint32_t>(rest.data());
        std::memcpy(comm_.data(), rest.data() + 4, comm_.size());
        return header + TL_TASK_FIELDS;
    }
    const Known* found_known = find(id);
    if (!found_known)
        fail(offset, fmt::format("event id {} is unknown", id));
    const Known& known = *found_known;
    std::size_t size = 0;
    if (known.size && *known.size <= rest.size()) {
        size = *known.size;
    } else if (const auto found = known.size ? std::nullopt : fields_size(*known.layout, rest)) {
        size = *found;
    } else {
        fail(offset,
             fmt::format("a record of {} runs past the end, or is malformed", known.layout->name));
    }

    last_ = time;
    Event& event = batch.events.emplace_back();
    event.ticks = time;
    event.cpu = cpu_;
    event.tid = tid;
    event.tgid = tgid_;
    event.id = static_cast<std::uint16_t>(id);
    event.flags = flags;
    event.comm = comm_;
    event.fields = rest.first(size);
    events_++;
    return header + size;
}

const RecordDecoder::Known* RecordDecoder::find(std::uint32_t id) const {
    if (id == TL_ID_MARK)
        return &mark_;
    return id < known_.size() && known_[id].layout != nullptr ? &known_[id] : nullptr;
}

void RecordDecoder::begin_packet(const std::uint8_t* at) {
    tl_packet packet{};
    std::memcpy(&packet, at, sizeof(packet));
    const std::uint64_t begin = packet.timestamp_begin;
    const std::uint32_t cpu = packet.cpu_id;
    const bool next = !any_ || packet.packet_seq_num == sequence_ + 1;
    const std::uint64_t expected = sequence_ + 1;
    sequence_ = packet.packet_seq_num;
    if (packet.magic != TL_CTF_MAGIC || packet.stream_id != TL_STREAM_ID)
        fail(0, "no packet begins here");
    if (cpu != cpu_)
        fail(0, fmt::format("the packet is of CPU {}", cpu));
    if (!next)
        fail(0, fmt::format("packet {} was expected", expected));
    if (begin < last_)
        fail(0, fmt::format("its time {} is before {}", begin, last_));
    any_ = true;
    last_ = begin;
    tgid_ = 0;
    comm_ = {};
}

void RecordDecoder::fail(std::size_t offset, const std::string& why) const {
    throw DecodeError(cpu_, sequence_, offset, why);
}

Drained drain(RingReader& reader, RecordDecoder& decoder, Batch& batch, std::size_t max_bytes) {
    Drained drained;
    tl_ring_span span{};
    while (drained.bytes < max_bytes) {
        if (!reader.peek(span))
            return drained;
        decoder.decode(span, batch);
        reader.release(span);
        drained.bytes += span.length;
    }
    drained.more = reader.unread() != 0;
    return drained;
}

} // namespace trapline
