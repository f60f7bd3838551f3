// SPDX-License-Identifier: GPL-2.0
// The commands that put things right, in one place: what a command that failed suggests is what
// `trapline doctor` suggests.
#pragma once

#include <string>
#include <string_view>

namespace trapline::remedy {

inline constexpr std::string_view as_root = "sudo trapline ...";
inline constexpr std::string_view load = "sudo modprobe trapline";
inline constexpr std::string_view reload = "sudo rmmod trapline && sudo modprobe trapline";
inline constexpr std::string_view show_addresses = "sudo sysctl kernel.kptr_restrict=1";

// Builds and installs the module for the running kernel.
std::string install(std::string_view release);

// The same where one is there that doesn't fit.
std::string rebuild(std::string_view release);

// What to do where the kernel demands signatures: several lines.
std::string sign(std::string_view release);

// Makes the device's node.
std::string make_node(unsigned minor);

} // namespace trapline::remedy
