// SPDX-License-Identifier: GPL-2.0
// A generic netlink socket bound to the module's family: one request, its answers. May
// be used by several threads: each exchange waits for the one before.
#pragma once

#include <memory>
#include <mutex>
#include <string_view>
#include <vector>

#include "control/codec.h"
#include "control/exchange.h"
#include "util/error.h"

struct nl_sock;

namespace trapline {

class Channel {
public:
    Channel();

    int family() const { return family_; }

    // Sends `message` and waits until it is acknowledged. `what` is being tried: "plant
    // probes", "configure the session". ControlError if the module refuses.
    Answer request(Message message, std::string_view what);

    // The same for a dump; starts over when what is dumped changed meanwhile.
    std::vector<Answer> dump(Message message, std::string_view what);

private:
    struct SocketDeleter {
        void operator()(nl_sock* socket) const noexcept;
    };

    Exchange exchange(nl_msg* message, std::string_view what, bool dump);
    void send(nl_msg* message, std::string_view what);

    std::unique_ptr<nl_sock, SocketDeleter> socket_;
    std::unique_ptr<std::mutex> mutex_ = std::make_unique<std::mutex>(); // an exchange at a time
    int family_ = 0;
};

} // namespace trapline
