// SPDX-License-Identifier: GPL-2.0
// Which distribution this is, and what installs things there.
#pragma once

#include <string>
#include <string_view>

namespace trapline {

class Distribution {
public:
    enum class Family { debian, ubuntu, fedora, arch, suse, other };

    // From the texts of /etc/os-release and of /proc/version, which tells who built the kernel;
    // empty: that isn't known.
    explicit Distribution(std::string_view os_release, std::string_view kernel_version = {});

    Family family() const { return family_; }

    // What installs the headers that modules for this kernel are built with; empty: no package
    // does, for the kernel isn't the distribution's, or the distribution isn't one that we know.
    std::string headers(std::string_view release) const;

    // What installs this kernel's debug information; for want of a package: how to have it.
    std::string debug_information(std::string_view release) const;

    // What installs a package, of the name it has in each family.
    std::string package(std::string_view debian, std::string_view fedora,
                        std::string_view arch) const;

private:
    Family family_ = Family::other;
    Family kernel_ = Family::other; // whose kernel this is: the same, or other
};

} // namespace trapline
