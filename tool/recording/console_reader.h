// SPDX-License-Identifier: GPL-2.0
// Reads what a crash printed of a session's rings as a trace.
#pragma once

#include <cstddef>
#include <cstdint>
#include <set>
#include <string>
#include <string_view>
#include <vector>

#include "recording/console_log.h"
#include "recording/event_reader.h"

namespace trapline {

class ConsoleReader : public EventReader {
public:
    // `path`: the log's, for messages, and `dump` of it. What is missing or can't be read is
    // damage.
    ConsoleReader(std::string path, ConsoleDump dump, Damage damage);

    const Event* next() override;
    std::string notes() const override;

private:
    void take_session(std::string_view bytes, TraceDescription& description);
    void take_label(std::string_view bytes, TraceDescription& description);
    bool take_record(std::string_view bytes);
    void report_missing(std::uint64_t expected);

    ConsoleDump dump_;
    std::set<std::uint16_t> labelled_; // event ids
    std::vector<Event> events_;        // by time; their fields lie in dump_
    std::size_t at_ = 0;
    bool session_known_ = false;
    std::uint64_t recorded_ = 0; // by the session
    std::uint64_t dropped_ = 0;
    std::uint64_t unknown_ = 0; // records that can't be read
};

} // namespace trapline
