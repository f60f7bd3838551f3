// SPDX-License-Identifier: GPL-2.0
// Which distribution this is, and what installs things there.
#include "util/distribution.h"

#include <fmt/format.h>
#include <sstream>

namespace trapline {

namespace {

// The value of NAME=value, without its quotes.
std::string value_of(std::string_view text, std::string_view name) {
    std::istringstream lines{std::string(text)};
    for (std::string line; std::getline(lines, line);) {
        if (!line.starts_with(name) || line.size() <= name.size() || line[name.size()] != '=')
            continue;
        std::string value = line.substr(name.size() + 1);
        if (value.size() >= 2 && (value[0] == '"' || value[0] == '\'') && value.back() == value[0])
            value = value.substr(1, value.size() - 2);
        return value;
    }
    return {};
}

Distribution::Family family_of(std::string_view name) {
    using Family = Distribution::Family;
    if (name == "ubuntu")
        return Family::ubuntu;
    if (name == "debian")
        return Family::debian;
    if (name == "fedora" || name == "rhel" || name == "centos")
        return Family::fedora;
    if (name == "arch")
        return Family::arch;
    if (name == "suse" || name.starts_with("opensuse") || name.starts_with("sles"))
        return Family::suse;
    return Family::other;
}

// Who builds a distribution's kernels has a name of his own, which /proc/version gives.
std::string_view builder_of(Distribution::Family family) {
    using Family = Distribution::Family;
    switch (family) {
    case Family::debian:
        return "@lists.debian.org)";
    case Family::ubuntu:
        return "(buildd@";
    case Family::fedora:
        return "(mockbuild@";
    case Family::arch:
        return "@archlinux)";
    case Family::suse:
        return "(geeko@";
    case Family::other:
        break;
    }
    return {};
}

// Arch's packages are named after the flavour that its releases end in: 6.6.30-1-lts.
std::string arch_kernel(std::string_view release) {
    for (const std::string_view flavour : {"lts", "zen", "hardened", "rt"}) {
        if (release.ends_with(fmt::format("-{}", flavour)))
            return fmt::format("linux-{}", flavour);
    }
    return "linux";
}

// So do openSUSE's: 5.14.21-150500.55-default.
std::string_view suse_flavour(std::string_view release) {
    const std::size_t dash = release.rfind('-');
    return dash == std::string_view::npos ? "default" : release.substr(dash + 1);
}

} // namespace

Distribution::Distribution(std::string_view os_release, std::string_view kernel_version) {
    // A derivative has a name of its own, and says what it is like, the nearest first.
    std::istringstream names(value_of(os_release, "ID") + ' ' + value_of(os_release, "ID_LIKE"));
    for (std::string name; family_ == Family::other && names >> name;)
        family_ = family_of(name);
    if (kernel_version.empty() ||
        kernel_version.find(builder_of(family_)) != std::string_view::npos)
        kernel_ = family_;
}

std::string Distribution::headers(std::string_view release) const {
    switch (kernel_) {
    case Family::debian:
    case Family::ubuntu:
        return fmt::format("sudo apt install linux-headers-{}", release);
    case Family::fedora:
        return fmt::format("sudo dnf install kernel-devel-{}", release);
    case Family::arch:
        return fmt::format("sudo pacman -S {}-headers", arch_kernel(release));
    case Family::suse:
        return fmt::format("sudo zypper install kernel-{}-devel", suse_flavour(release));
    case Family::other:
        break;
    }
    return {};
}

std::string Distribution::debug_information(std::string_view release) const {
    switch (kernel_) {
    case Family::debian:
        return fmt::format("sudo apt install linux-image-{}-dbg", release);
    case Family::ubuntu:
        return fmt::format("sudo apt install linux-image-{}-dbgsym", release);
    case Family::fedora:
        return fmt::format("sudo dnf debuginfo-install kernel-{}", release);
    case Family::suse:
        return fmt::format("sudo zypper install kernel-{}-debuginfo", suse_flavour(release));
    case Family::arch: // has no such package
    case Family::other:
        break;
    }
    return "build the kernel with CONFIG_DEBUG_INFO_DWARF_TOOLCHAIN_DEFAULT=y";
}

std::string Distribution::package(std::string_view debian, std::string_view fedora,
                                  std::string_view arch) const {
    switch (family_) {
    case Family::debian:
    case Family::ubuntu:
        return fmt::format("sudo apt install {}", debian);
    case Family::fedora:
        return fmt::format("sudo dnf install {}", fedora);
    case Family::suse:
        return fmt::format("sudo zypper install {}", fedora);
    case Family::arch:
        return fmt::format("sudo pacman -S {}", arch);
    case Family::other:
        break;
    }
    return fmt::format("install {}", debian);
}

} // namespace trapline
