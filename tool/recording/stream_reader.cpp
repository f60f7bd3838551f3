// SPDX-License-Identifier: GPL-2.0
// One stream of a recording, read packet by packet.
#include "recording/stream_reader.h"

#include <algorithm>
#include <array>
#include <cerrno>
#include <charconv>
#include <cstring>
#include <fmt/format.h>
#include <string_view>
#include <sys/stat.h>
#include <unistd.h>

#include "shared/ring.h"
#include "util/error.h"

namespace trapline {

StreamReader::StreamReader(UniqueFd file, std::string name, std::span<const EventLayout> layouts,
                           Damage damage)
    : file_(std::move(file)), name_(std::move(name)), damage_(std::move(damage)),
      layouts_(layouts) {
    struct stat status {};
    if (fstat(file_.get(), &status) != 0)
        throw errno_error(fmt::format("cannot look at {}", name_), errno);
    size_ = static_cast<std::uint64_t>(status.st_size);
    found_ = find_packet();
    if (!found_)
        return;
    cpu_ = whose();
    decoder_.emplace(cpu_, layouts_);
}

// The first packet's CPU; but the name's, if it is that alone which contradicts it.
std::uint32_t StreamReader::whose() {
    constexpr std::string_view prefix = "cpu_";
    std::uint32_t named = 0;
    PacketHeader second;
    std::string why;
    const char* end = name_.data() + name_.size();
    if (!name_.starts_with(prefix) ||
        std::from_chars(name_.data() + prefix.size(), end, named).ptr != end ||
        named == header_.cpu)
        return header_.cpu;
    return read_header(position_ + header_.packet_size, second, why) && second.cpu == named
               ? named
               : header_.cpu;
}

const Event* StreamReader::next() {
    while (at_ == batch_.events.size()) {
        if (!next_packet())
            return nullptr;
    }
    events_++;
    return &batch_.events[at_++];
}

bool StreamReader::next_packet() {
    batch_.clear();
    at_ = 0;
    if (!found_ && !find_packet())
        return false;
    found_ = false;
    if (header_.cpu != cpu_) {
        damaged(fmt::format("it is of CPU {}, and the stream of CPU {}", header_.cpu, cpu_));
        position_ += header_.packet_size;
        return true;
    }
    if (!read_packet())
        return false;
    compare();
    position_ += header_.packet_size;
    return true;
}

bool StreamReader::find_packet() {
    if (position_ >= size_)
        return false;
    std::string why;
    if (read_header(position_, header_, why))
        return true;
    const std::optional<std::uint64_t> next = scan(position_ + 1);
    damaged(next ? fmt::format("{}; the next one is at byte {}", why, *next)
                 : fmt::format("{}; none follows", why));
    known_.exact = false;
    position_ = next.value_or(size_);
    return next.has_value();
}

bool StreamReader::read_header(std::uint64_t at, PacketHeader& header, std::string& why) {
    EmptyPacket bytes;
    const std::size_t got = read_at(at, bytes);
    return parse_packet(std::span(bytes).first(got), header, why);
}

// The first place from `from` on where a packet of this stream may begin; sets header_.
std::optional<std::uint64_t> StreamReader::scan(std::uint64_t from) {
    const std::uint32_t magic = TL_CTF_MAGIC;
    std::string why;
    packet_.resize(std::min<std::uint64_t>(TRAPLINE_CHUNK_MAX, size_ - std::min(from, size_)));
    for (;;) {
        // Over holes: there may be nothing else for terabytes.
        const off_t data = lseek(file_.get(), static_cast<off_t>(from), SEEK_DATA);
        if (data < 0 && errno == ENXIO)
            return std::nullopt;
        from = std::max(from, data < 0 ? from : static_cast<std::uint64_t>(data));
        const std::size_t got = read_at(from, packet_);
        if (got < sizeof(magic))
            return std::nullopt;
        std::size_t at = 0;
        while (const void* found = memmem(packet_.data() + at, got - at, &magic, sizeof(magic))) {
            at = static_cast<std::size_t>(static_cast<const std::byte*>(found) - packet_.data());
            if (read_header(from + at, header_, why) && (!any() || header_.cpu == cpu_))
                return from + at;
            at++;
        }
        from += got - (sizeof(magic) - 1); // it may lie across the end of what was read
    }
}

// False if the file can't be read.
bool StreamReader::read_packet() {
    packet_.resize(header_.content_size);
    const std::size_t got = read_at(position_, packet_);
    if (got < TL_PACKET_SIZE) // it was there when its header was read
        return false;
    whole_ = got == packet_.size();
    const std::uint64_t there = size_ - position_;
    // If only what is behind the content is missing, nothing is.
    const std::string cut = there < header_.content_size ? fmt::format("truncated: {} of {} bytes",
                                                                       there, header_.packet_size)
                                                         : std::string();
    const auto* start = reinterpret_cast<const std::uint8_t*>(packet_.data());
    decoder_->restart(header_.end);
    try {
        decoder_->decode({start, start + TL_PACKET_SIZE, got - TL_PACKET_SIZE, 0}, batch_);
        if (!cut.empty())
            damaged(cut);
    } catch (const DecodeError& error) {
        if (cut.empty())
            damage_(fmt::format("{}: packet at byte {}, offset {}: {}", name_, position_,
                                error.offset(), error.why()));
        else
            damaged(fmt::format("{}, can be read to offset {}", cut, error.offset()));
        whole_ = false;
    }
    return true;
}

// The packet with those before it, by what its header says; and its events' times with theirs.
void StreamReader::compare() {
    std::uint64_t dropped = 0;
    std::uint64_t overwritten = 0;
    if (header_.begin < known_.end)
        damaged(fmt::format("its begin, {}, is before the end of the one before, {}", header_.begin,
                            known_.end));
    if (header_.events_discarded < known_.discarded)
        damaged(fmt::format("{} events were discarded until it, and {} before",
                            header_.events_discarded, known_.discarded));
    else
        dropped = header_.events_discarded - known_.discarded;
    if (known_.exact && header_.first_event < known_.events)
        damaged(fmt::format("it begins with event {}, and {} are before it", header_.first_event,
                            known_.events));
    else if (known_.exact)
        overwritten = header_.first_event - known_.events;
    if (dropped != 0 || overwritten != 0)
        note(dropped, overwritten);

    known_.discarded = header_.events_discarded;
    known_.events = header_.first_event + batch_.events.size();
    known_.exact = whole_;
    known_.end = header_.end;
    for (Event& event : batch_.events) {
        event.straggler = event.ticks < newest_;
        newest_ = std::max(newest_, event.ticks);
    }
    if (!batch_.empty())
        last_event_ = batch_.events.back().ticks;
}

void StreamReader::note(std::uint64_t dropped, std::uint64_t overwritten) {
    if (gaps_.size() < gaps_max)
        gaps_.push_back({.from = last_event_});
    Gap& gap = gaps_.back();
    gap.to = header_.end;
    gap.dropped += dropped;
    gap.overwritten += overwritten;
}

// As much as there is; what can't be read is not there.
std::size_t StreamReader::read_at(std::uint64_t at, std::span<std::byte> into) {
    std::size_t done = 0;
    while (done < into.size() && at + done < size_) {
        const ssize_t got = pread(file_.get(), into.data() + done, into.size() - done,
                                  static_cast<off_t>(at + done));
        if (got < 0 && errno == EINTR)
            continue;
        if (got < 0)
            damage_(
                fmt::format("{}: cannot read at byte {}: {}", name_, at + done, errno_text(errno)));
        if (got <= 0) {
            size_ = at + done;
            break;
        }
        done += static_cast<std::size_t>(got);
    }
    return done;
}

void StreamReader::damaged(const std::string& what) const {
    damage_(fmt::format("{}: packet at byte {}: {}", name_, position_, what));
}

} // namespace trapline
