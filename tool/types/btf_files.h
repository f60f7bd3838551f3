// SPDX-License-Identifier: GPL-2.0
// Types from BTF in files.
#pragma once

#include <map>
#include <memory>
#include <string>
#include <vector>

#include "types/btf.h"
#include "types/type_files.h"

namespace trapline {

class BtfFiles : public FileTypes {
public:
    // As for open_types().
    BtfFiles(const std::vector<std::string>& paths, const std::string& sys);

    const Types* types_of(const std::string& module, std::string& why_none) override;
    std::vector<KernelBuild> builds() const override { return builds_; }

private:
    std::map<std::string, std::unique_ptr<BtfTypes>> types_; // by module
    std::vector<KernelBuild> builds_;
};

} // namespace trapline
