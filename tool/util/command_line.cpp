// SPDX-License-Identifier: GPL-2.0
// A command's words, taken apart by its options.
#include "util/command_line.h"

#include "util/error.h"

namespace trapline {

namespace po = boost::program_options;

po::variables_map parse_command_line(const std::vector<std::string>& words,
                                     const po::options_description& options, const char* positional,
                                     const std::string& see_help) {
    po::options_description all;
    all.add(options).add_options()(positional, po::value<std::vector<std::string>>());
    po::positional_options_description places;
    places.add(positional, -1);
    using namespace po::command_line_style;
    po::variables_map given;
    try {
        po::store(po::command_line_parser(words)
                      .options(all)
                      .positional(places)
                      .style(unix_style & ~allow_guessing)
                      .run(),
                  given);
        po::notify(given);
    } catch (const po::error& error) {
        throw UsageError(error.what(), see_help);
    }
    return given;
}

} // namespace trapline
