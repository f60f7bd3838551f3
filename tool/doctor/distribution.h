// SPDX-License-Identifier: GPL-2.0
// Which distribution this is, and what installs things there.
#pragma once

#include <string>
#include <string_view>

namespace trapline {

class Distribution {
public:
    enum class Family { debian, ubuntu, fedora, arch, suse, other };

    // From the text of /etc/os-release.
    explicit Distribution(std::string_view os_release);

    Family family() const { return family_; }

    // What installs the headers that modules for this kernel are built with; for a kernel or a
    // distribution that we don't know: what to do instead.
    std::string headers(std::string_view release) const;

    // What installs this kernel's debug information.
    std::string debug_information(std::string_view release) const;

    // What installs a package, of the name it has in each family.
    std::string package(std::string_view debian, std::string_view fedora,
                        std::string_view arch) const;

private:
    Family family_ = Family::other;
};

} // namespace trapline
