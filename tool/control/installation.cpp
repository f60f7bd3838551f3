// SPDX-License-Identifier: GPL-2.0
// Where the module is installed for the running kernel, and by whom.
#include "control/installation.h"

#include <filesystem>
#include <system_error>

#include "shared/trapline.h"
#include "util/distribution.h"
#include "util/text_file.h"

namespace trapline {

namespace {

namespace fs = std::filesystem;

bool exists(const std::string& path) {
    std::error_code error;
    return fs::exists(path, error);
}

// Of Debian's packages dpkg keeps a list.
bool from_package(const std::string& root) {
    return exists(root + "/var/lib/dpkg/info/" TRAPLINE_DEVICE ".list");
}

void find_headers(Installation& found, const std::string& root) {
    found.headers =
        exists(root + headers_folder(found.release) + "/include/generated/utsrelease.h");
    found.headers_package =
        Distribution(read_text(root + "/etc/os-release"), read_text(root + "/proc/version"))
            .headers(found.release);
}

// DKMS keeps a folder of each version of what it was told of, and its source in /usr/src.
void find_dkms(Installation& found, const std::string& root) {
    const bool source = exists(root + "/usr/src/trapline-" TRAPLINE_VERSION "/dkms.conf");
    found.packaged = from_package(root);
    if (!source && !found.packaged && !exists(root + "/var/lib/dkms/trapline"))
        return;
    found.dkms = TRAPLINE_VERSION; // another's would not fit this tool
    found.dkms_source = source;
    // Ubuntu's has one that the whole machine shares.
    const std::string shared = "/var/lib/shim-signed/mok/MOK.der";
    if (!exists(root + found.dkms_key) && exists(root + shared))
        found.dkms_key = shared;
}

} // namespace

std::string headers_folder(const std::string& release) {
    return "/lib/modules/" + release + "/build";
}

std::string listed_module(std::string_view dependencies, std::string_view folder) {
    const std::size_t name = dependencies.find("/" TRAPLINE_DEVICE ".ko");
    if (name == std::string_view::npos)
        return {};
    const std::size_t line = dependencies.rfind('\n', name) + 1; // npos + 1 is 0
    const std::string path(dependencies.substr(line, dependencies.find(':', name) - line));
    return path.starts_with('/') ? path : std::string(folder) + path;
}

Installation find_installation(const std::string& release, const std::string& root) {
    Installation found;
    found.release = release;
    const std::string folder = "/lib/modules/" + release + "/";
    const std::string path = listed_module(read_text(root + folder + "modules.dep"), folder);
    found.gone = !path.empty() && !exists(root + path);
    if (!found.gone)
        found.file = path;
    find_dkms(found, root);
    find_headers(found, root);
    return found;
}

} // namespace trapline
