// SPDX-License-Identifier: GPL-2.0
// The running kernel's configuration.
#include "doctor/kernel_config.h"

#include <fmt/format.h>

namespace trapline {

namespace {

bool is_configuration(std::string_view text) {
    return text.starts_with("CONFIG_") || text.find("\nCONFIG_") != std::string_view::npos;
}

} // namespace

KernelConfig::KernelConfig(const System& system, const std::string& release) {
    const auto take = [&](const std::string& path, std::string text) {
        if (known() || !is_configuration(text))
            return;
        source_ = path;
        text_ = std::move(text);
    };
    // The kernel's own word first; then distributions', then its build tree's.
    const std::string own = "/proc/config.gz";
    if (system.exists(own))
        take(own, system.unzipped(own));
    const std::string modules = "/lib/modules/" + release;
    for (const std::string& path :
         {"/boot/config-" + release, modules + "/config", modules + "/build/.config",
          modules + "/build/include/config/auto.conf"}) {
        if (!known())
            take(path, system.read(path).text);
    }
}

std::string_view KernelConfig::value(std::string_view option) const {
    const std::string begin = fmt::format("CONFIG_{}=", option);
    std::size_t at = text_.starts_with(begin) ? 0 : text_.find("\n" + begin);
    if (at == std::string::npos)
        return {};
    at = text_.find('=', at) + 1;
    return std::string_view(text_).substr(at, text_.find('\n', at) - at);
}

std::string KernelConfig::words(std::string_view option) const {
    const std::string_view set = value(option);
    return set.empty() ? fmt::format("CONFIG_{} is not set ({})", option, source_)
                       : fmt::format("CONFIG_{}={} ({})", option, set, source_);
}

} // namespace trapline
