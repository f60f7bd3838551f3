// SPDX-License-Identifier: GPL-2.0
// A generic netlink socket bound to the module's family.
#include "control/channel.h"

#include <cerrno>
#include <fmt/format.h>
#include <linux/netlink.h>
#include <netlink/errno.h>
#include <netlink/genl/ctrl.h>
#include <netlink/genl/genl.h>
#include <netlink/msg.h>
#include <netlink/socket.h>
#include <sys/socket.h>

namespace trapline {

namespace {

constexpr int socket_buffer = 1 << 20; // bytes; the kernel caps it at its limits
constexpr std::size_t receive_buffer = std::size_t{128} << 10;
constexpr int dump_attempts = 16;

void set_option(int fd, int option) {
    const int on = 1;
    // Older kernels know neither; then messages just lack the module's own words.
    setsockopt(fd, SOL_NETLINK, option, &on, sizeof(on));
}

// Waits for the next datagram and takes it whole, into a buffer that grows as needed.
std::span<const std::byte> receive(int fd, std::vector<std::byte>& buffer, std::string_view what) {
    for (;;) {
        ssize_t length = recv(fd, buffer.data(), buffer.size(), MSG_PEEK | MSG_TRUNC);
        if (length >= 0 && static_cast<std::size_t>(length) > buffer.size()) {
            buffer.resize(static_cast<std::size_t>(length));
            continue;
        }
        sockaddr_nl from{};
        socklen_t from_length = sizeof(from);
        if (length >= 0)
            length = recvfrom(fd, buffer.data(), buffer.size(), 0,
                              reinterpret_cast<sockaddr*>(&from), &from_length);
        if (length < 0 && errno == EINTR)
            continue;
        if (length < 0 && errno == ENOBUFS)
            throw Error(fmt::format("cannot {}: the kernel's answer was lost, for the socket's "
                                    "buffer was full",
                                    what),
                        "try again; 'trapline status' tells what the session holds");
        if (length < 0)
            throw errno_error(fmt::format("cannot {}: receiving the kernel's answer", what), errno);
        // Other processes can send to our port, too.
        if (from.nl_pid == 0)
            return {buffer.data(), static_cast<std::size_t>(length)};
    }
}

[[noreturn]] void refuse(const Exchange& exchange, const nl_msg* message, std::string_view what) {
    std::string_view attribute;
    if (exchange.offset())
        attribute = attribute_at(nlmsg_hdr(const_cast<nl_msg*>(message)), *exchange.offset());
    throw ControlError(exchange.code(), exchange.text(), std::string(what), attribute);
}

} // namespace

void Channel::SocketDeleter::operator()(nl_sock* socket) const noexcept {
    nl_socket_free(socket); // closes it, too
}

Channel::Channel() : socket_(nl_socket_alloc()) {
    if (!socket_)
        throw Error("cannot make a netlink socket: out of memory");
    if (const int error = genl_connect(socket_.get()); error < 0)
        throw Error(fmt::format("cannot open a generic netlink socket: {}", nl_geterror(error)));
    nl_socket_set_buffer_size(socket_.get(), socket_buffer, socket_buffer);

    family_ = genl_ctrl_resolve(socket_.get(), TRAPLINE_FAMILY);
    if (family_ < 0)
        throw Error(fmt::format("cannot find the netlink family '{}': {}", TRAPLINE_FAMILY,
                                nl_geterror(family_)),
                    "is the module loaded? 'lsmod' lists it; sudo modprobe trapline");

    const int fd = nl_socket_get_fd(socket_.get());
    set_option(fd, NETLINK_EXT_ACK);
    // A refusal needs no copy of a request that may have 64 KiB: we still have it.
    set_option(fd, NETLINK_CAP_ACK);
}

Answer Channel::request(Message message, std::string_view what) {
    Exchange done = exchange(message.get(), what, false);
    if (done.state() == Exchange::State::refused)
        refuse(done, message.get(), what);
    return done.answers().empty() ? Answer() : std::move(done.answers().front());
}

std::vector<Answer> Channel::dump(Message message, std::string_view what) {
    for (int attempt = 0; attempt < dump_attempts; attempt++) {
        Exchange done = exchange(message.get(), what, true);
        if (done.state() == Exchange::State::refused)
            refuse(done, message.get(), what);
        if (done.state() == Exchange::State::done)
            return std::move(done.answers());
    }
    throw Error(fmt::format("cannot {}: the list changed while it was read, {} times in a row",
                            what, dump_attempts),
                "try again");
}

Exchange Channel::exchange(nl_msg* message, std::string_view what, bool dump) {
    const std::lock_guard lock(*mutex_);
    nlmsghdr* header = nlmsg_hdr(message);
    header->nlmsg_pid = nl_socket_get_local_port(socket_.get());
    header->nlmsg_seq = nl_socket_use_seq(socket_.get());
    header->nlmsg_flags =
        static_cast<std::uint16_t>(NLM_F_REQUEST | (dump ? NLM_F_DUMP : NLM_F_ACK));
    send(message, what);

    Exchange exchange(header->nlmsg_seq, dump);
    std::vector<std::byte> buffer(receive_buffer);
    while (exchange.state() == Exchange::State::waiting)
        exchange.feed(receive(nl_socket_get_fd(socket_.get()), buffer, what));
    return exchange;
}

void Channel::send(nl_msg* message, std::string_view what) {
    const nlmsghdr* header = nlmsg_hdr(message);
    sockaddr_nl kernel{};
    kernel.nl_family = AF_NETLINK;
    // Not nl_send(): it doesn't try again after a signal, and hides the errno.
    ssize_t sent = -1;
    do {
        sent = sendto(nl_socket_get_fd(socket_.get()), header, header->nlmsg_len, 0,
                      reinterpret_cast<const sockaddr*>(&kernel), sizeof(kernel));
    } while (sent < 0 && errno == EINTR);
    if (sent < 0)
        throw errno_error(
            fmt::format("cannot {}: sending {} bytes to the module", what, header->nlmsg_len),
            errno);
}

} // namespace trapline
