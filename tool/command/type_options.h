// SPDX-License-Identifier: GPL-2.0
// The part of command lines that says where types are taken from.
#pragma once

#include <boost/program_options.hpp>
#include <string>

#include "types/type_files.h"

namespace trapline {

void add_type_options(boost::program_options::options_description& options);

// UsageError for what can't be together.
TypeFiles type_files(const boost::program_options::variables_map& given,
                     const std::string& see_help);

} // namespace trapline
