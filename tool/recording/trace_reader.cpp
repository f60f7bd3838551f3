// SPDX-License-Identifier: GPL-2.0
// Reads a recording: its events, in time order across the CPUs.
#include "recording/trace_reader.h"

#include <algorithm>
#include <fmt/format.h>
#include <unistd.h>

#include "recording/contents.h"
#include "trace/ctf_metadata.h"
#include "util/error.h"
#include "util/escape.h"

namespace trapline {

namespace {

TraceDescription read_description(int directory, const std::string& path) {
    const std::string text = read_metadata(directory, path);
    try {
        return description_in_metadata(text);
    } catch (const Error& error) {
        throw Error(fmt::format("cannot read the trace in {}: {}", path, error.what()),
                    error.hint());
    }
}

} // namespace

TraceReader::TraceReader(const std::string& path, Damage damage)
    : EventReader(path, std::move(damage)) {
    const UniqueFd directory = open_directory(path);
    describe(read_description(directory.get(), path));
    open_streams(directory.get());
    for (std::size_t stream = 0; stream < streams_.size(); stream++)
        push_next(stream);
}

void TraceReader::open_streams(int directory) {
    for (const std::string& name : entry_names(directory, path())) {
        if (name == metadata_name || name.starts_with('.'))
            continue;
        try {
            add_stream(open_file(directory, path(), name), name);
        } catch (const Error& error) {
            report(error.what());
        }
    }
    std::stable_sort(streams_.begin(), streams_.end(),
                     [](const auto& a, const auto& b) { return a->cpu() < b->cpu(); });
    for (std::size_t i = 1; i < streams_.size(); i++) {
        if (streams_[i]->cpu() == streams_[i - 1]->cpu())
            report(
                fmt::format("{}: more than one stream is of CPU {}", path(), streams_[i]->cpu()));
    }
}

void TraceReader::add_stream(UniqueFd file, const std::string& name) {
    if (lseek(file.get(), 0, SEEK_END) == 0)
        return; // nothing was written to it, which is no damage
    auto stream =
        std::make_unique<StreamReader>(std::move(file), escaped(name), description().layouts,
                                       [this](const std::string& text) { report(text); });
    if (stream->any())
        streams_.push_back(std::move(stream));
}

const std::vector<Gap>& TraceReader::gaps(std::size_t stream) const {
    return streams_.at(stream)->gaps();
}

std::uint32_t TraceReader::cpu(std::size_t stream) const {
    return streams_.at(stream)->cpu();
}

std::vector<CpuGaps> TraceReader::gaps_by_cpu() const {
    std::vector<CpuGaps> all;
    for (const auto& stream : streams_)
        all.push_back({stream->cpu(), stream->gaps()});
    return all;
}

bool TraceReader::after(const Entry& a, const Entry& b) {
    return a.event->ticks != b.event->ticks ? a.event->ticks > b.event->ticks : a.stream > b.stream;
}

void TraceReader::push_next(std::size_t stream) {
    if (const Event* event = streams_[stream]->next()) {
        heap_.push_back({event, stream});
        std::push_heap(heap_.begin(), heap_.end(), after);
    }
}

// A stream that is gone, or cut between two packets, shows in the totals alone.
void TraceReader::check_totals() {
    if (damaged() || !description().totals)
        return;
    for (const RingTotals& ring : description().totals->rings) {
        std::uint64_t read = 0;
        for (const auto& stream : streams_)
            read += stream->cpu() == ring.cpu ? stream->events() : 0;
        if (read != ring.read)
            report(fmt::format("cpu_{}: it has {} events, and {} were recorded in it", ring.cpu,
                               read, ring.read));
    }
}

// An event lies in its stream's memory until the stream is asked for the next one.
const Event* TraceReader::next() {
    if (handed_)
        push_next(*handed_);
    handed_.reset();
    if (heap_.empty()) {
        check_totals();
        return nullptr;
    }
    std::pop_heap(heap_.begin(), heap_.end(), after);
    const Entry first = heap_.back();
    heap_.pop_back();
    handed_ = first.stream;
    return first.event;
}

} // namespace trapline
