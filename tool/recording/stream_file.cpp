// SPDX-License-Identifier: GPL-2.0
// One CPU's stream in a recording being written: packets, one behind the other.
#include "recording/stream_file.h"

#include <cerrno>
#include <fmt/format.h>
#include <sys/stat.h>
#include <unistd.h>

#include "recording/packet.h"
#include "util/error.h"

namespace trapline {

namespace {

constexpr const char* recorder_hint = "this is a bug in trapline: please report it";

Error write_error(const std::string& name, int number) {
    std::string hint;
    if (number == ENOSPC || number == EDQUOT)
        hint = "the recording holds what was written before; make room, or record elsewhere";
    return errno_error(fmt::format("cannot write to {}", name), number, std::move(hint));
}

} // namespace

StreamFile::StreamFile(UniqueFd file, std::uint32_t cpu, std::string name)
    : file_(std::move(file)), cpu_(cpu), name_(std::move(name)) {}

StreamFile::Shape StreamFile::shape(std::span<const std::byte> packets) const {
    Shape shape;
    PacketHeader header;
    std::string why;
    std::size_t at = 0;
    while (at < packets.size()) {
        if (!parse_packet(packets.subspan(at), header, why))
            throw Error(fmt::format("what is to be written to {} is no packet: {}", name_, why),
                        recorder_hint);
        if (header.packet_size > packets.size() - at || header.cpu != cpu_)
            throw Error(fmt::format("what is to be written to {} is no whole packet of CPU {}",
                                    name_, cpu_),
                        recorder_hint);
        shape.last = at;
        at += header.packet_size;
    }
    const bool little = header.content_size * 2 < header.packet_size;
    shape.stored = little ? shape.last + header.content_size : packets.size();
    return shape;
}

void StreamFile::append(std::span<const std::byte> packets) {
    if (packets.empty())
        return;
    const Shape all = shape(packets);
    try {
        write_at(packets.first(all.stored), size_);
        if (all.stored < packets.size())
            set_end(size_ + packets.size());
    } catch (const Error&) {
        // If that fails too, the next append writes over it, and a reader passes over it.
        (void)ftruncate(file_.get(), static_cast<off_t>(size_));
        throw;
    }
    size_ += packets.size();
}

void StreamFile::append_open(std::span<const std::byte> packet) {
    const std::uint64_t at = size_;
    if (packet.empty() || shape(packet).last != 0)
        throw Error(fmt::format("what is to be written to {} is not one packet", name_),
                    recorder_hint);
    append(packet);
    open_at_ = at;
    open_size_ = packet.size();
}

void StreamFile::replace_open(std::span<const std::byte> packet) {
    if (packet.empty() || packet.size() != open_size_ || shape(packet).last != 0)
        throw Error(fmt::format("what is to be written to {} is no copy of its open packet", name_),
                    recorder_hint);
    // Its records are those that are there and some behind them, so the copy there stays what it
    // is until its header changes.
    const std::size_t stored = shape(packet).stored;
    write_at(packet.subspan(TL_PACKET_SIZE, stored - TL_PACKET_SIZE), open_at_ + TL_PACKET_SIZE);
    write_at(packet.first(TL_PACKET_SIZE), open_at_);
}

void StreamFile::write_at(std::span<const std::byte> bytes, std::uint64_t at) {
    while (!bytes.empty()) {
        const ssize_t done =
            pwrite(file_.get(), bytes.data(), bytes.size(), static_cast<off_t>(at));
        if (done < 0 && errno == EINTR)
            continue;
        if (done <= 0)
            throw write_error(name_, done < 0 ? errno : EIO);
        bytes = bytes.subspan(static_cast<std::size_t>(done));
        at += static_cast<std::uint64_t>(done);
    }
}

void StreamFile::set_end(std::uint64_t size) {
    if (ftruncate(file_.get(), static_cast<off_t>(size)) != 0)
        throw write_error(name_, errno);
}

void StreamFile::check_present() const {
    struct stat status {};
    if (fstat(file_.get(), &status) != 0)
        throw errno_error(fmt::format("cannot look at {}", name_), errno);
    if (status.st_nlink == 0)
        throw Error(fmt::format("{} is not there any more", name_),
                    "something deleted it while it was being written");
}

} // namespace trapline
