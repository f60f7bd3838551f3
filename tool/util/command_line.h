// SPDX-License-Identifier: GPL-2.0
// A command's words, taken apart by its options.
#pragma once

#include <boost/program_options.hpp>
#include <string>
#include <vector>

namespace trapline {

// `options`: all that there are. What is none of them is a value of `positional`, a vector of
// strings. Long options can't be shortened. UsageError with `see_help` as its hint.
boost::program_options::variables_map
parse_command_line(const std::vector<std::string>& words,
                   const boost::program_options::options_description& options,
                   const char* positional, const std::string& see_help);

} // namespace trapline
