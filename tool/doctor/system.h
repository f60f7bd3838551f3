// SPDX-License-Identifier: GPL-2.0
// How the doctor sees a machine: files below a root, and the few questions that no file answers.
// Nothing is changed, and nothing loaded.
#pragma once

#include <cstdint>
#include <optional>
#include <string>

namespace trapline {

struct FileText {
    int error = 0; // errno; the rest is there if it is 0
    std::string text;

    explicit operator bool() const { return error == 0; }
};

// What opening /dev/trapline, and asking what is behind it, came to.
struct DeviceAnswer {
    int error = 0;                    // errno of open()
    std::optional<std::uint32_t> abi; // the module's
    std::string complaint;            // opened, but no answer: why
};

class System {
public:
    // `root` comes before every path; empty: this machine.
    explicit System(std::string root = {}) : root_(std::move(root)) {}
    System(const System&) = delete;
    System& operator=(const System&) = delete;
    virtual ~System() = default;

    std::string place(const std::string& path) const { return root_ + path; }

    virtual FileText read(const std::string& path) const;
    bool exists(const std::string& path) const;
    // Whether it is the node of the misc device `minor`.
    virtual bool is_node(const std::string& path, unsigned minor) const;
    // What gzip makes of it; empty if that fails.
    std::string unzipped(const std::string& path) const;
    // What `modinfo` prints of a module's file, or what we read there ourselves where there is no
    // modinfo; empty if that fails.
    virtual std::string modinfo(const std::string& path) const;

    virtual std::string release() const; // uname -r
    virtual bool has_modprobe() const;
    // What is loaded where modprobe finds nothing; empty: there is none.
    virtual std::string module_file(const std::string& for_release) const;
    virtual unsigned effective_user() const;
    virtual std::string kernel_log() const; // empty: not readable
    virtual DeviceAnswer ask_device() const;
    // Where `make kmod` leaves modules: a folder per kernel, next to this program's build.
    virtual std::string build_folder() const;

private:
    std::string root_;
};

} // namespace trapline
