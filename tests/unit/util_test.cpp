// SPDX-License-Identifier: GPL-2.0
// Errors, owners of descriptors and mappings, escapes, names of error numbers.
#include <cerrno>
#include <fcntl.h>
#include <gtest/gtest.h>
#include <sys/mman.h>
#include <unistd.h>
#include <utility>

#include "util/errno_name.h"
#include "util/error.h"
#include "util/escape.h"
#include "util/fd.h"
#include "util/filesystems.h"

using namespace trapline;

namespace {

bool is_open(int fd) {
    return fcntl(fd, F_GETFD) >= 0;
}

int open_something() {
    return open("/dev/null", O_RDONLY | O_CLOEXEC);
}

TEST(Error, CarriesHintAndExitCode) {
    const Error error("what", "hint");
    EXPECT_STREQ(error.what(), "what");
    EXPECT_EQ(error.hint(), "hint");
    EXPECT_EQ(error.exit_code(), 125);
    EXPECT_EQ(UsageError("x").exit_code(), 2);
}

TEST(Error, ErrnoText) {
    EXPECT_EQ(errno_text(ENOENT), "No such file or directory");
    const Error error = errno_error("cannot open /x", EACCES, "be root");
    EXPECT_STREQ(error.what(), "cannot open /x: Permission denied");
    EXPECT_EQ(error.hint(), "be root");
}

TEST(UniqueFd, ClosesOnce) {
    const int raw = open_something();
    {
        UniqueFd fd(raw);
        EXPECT_EQ(fd.get(), raw);
        EXPECT_TRUE(fd);
    }
    EXPECT_FALSE(is_open(raw));
    EXPECT_FALSE(UniqueFd());
}

TEST(UniqueFd, MoveLeavesNothingBehind) {
    UniqueFd a(open_something());
    UniqueFd b(open_something());
    const int first = a.get();
    const int second = b.get();
    b = std::move(a);
    EXPECT_EQ(b.get(), first);
    EXPECT_FALSE(is_open(second));
    const UniqueFd c(std::move(b));
    EXPECT_EQ(c.get(), first);
    EXPECT_TRUE(is_open(first));
}

TEST(UniqueFd, ReleaseAndReset) {
    UniqueFd fd(open_something());
    const int raw = fd.release();
    EXPECT_FALSE(fd);
    EXPECT_TRUE(is_open(raw));
    fd.reset(raw);
    fd.reset(raw); // itself: stays open
    EXPECT_TRUE(is_open(raw));
    fd.reset();
    EXPECT_FALSE(is_open(raw));
}

TEST(Mapping, MapsMovesUnmaps) {
    const long page = sysconf(_SC_PAGESIZE);
    Mapping a(-1, 0, static_cast<std::size_t>(page), PROT_READ | PROT_WRITE,
              MAP_PRIVATE | MAP_ANONYMOUS, "memory");
    std::byte* at = a.data();
    at[0] = std::byte{7};
    Mapping b(std::move(a));
    EXPECT_EQ(b.data(), at);
    EXPECT_EQ(b.size(), static_cast<std::size_t>(page));
    EXPECT_EQ(b.bytes()[0], std::byte{7});
    Mapping c;
    EXPECT_FALSE(c);
    c = std::move(b);
    EXPECT_TRUE(c);
    c.reset();
    EXPECT_FALSE(c);
    EXPECT_EQ(msync(at, static_cast<std::size_t>(page), MS_ASYNC), -1);
    EXPECT_EQ(errno, ENOMEM);
}

TEST(Mapping, FailureNamesWhat) {
    try {
        const Mapping mapping(-1, 0, 4096, PROT_READ, MAP_SHARED, "the ring of CPU 3");
        FAIL();
    } catch (const Error& error) {
        EXPECT_STREQ(error.what(), "cannot map the ring of CPU 3: Bad file descriptor");
    }
}

TEST(Escape, LeavesPrintableAsciiAlone) {
    std::string all;
    for (char c = ' '; c <= '~'; c++) {
        if (c != '\\')
            all += c;
    }
    EXPECT_EQ(escaped(all), all);
    EXPECT_EQ(escaped(""), "");
}

TEST(Escape, EverythingElseIsVisible) {
    EXPECT_EQ(escaped("a\nb\tc\rd\ae\bf\vg\fh"), "a\\nb\\tc\\rd\\ae\\bf\\vg\\fh");
    EXPECT_EQ(escaped("\033[2J"), "\\033[2J");
    EXPECT_EQ(without_controls("a\n  \033[2J\\ \xc3\xa4 \xc2\x9b\x7f"),
              "a\n  \\033[2J\\ \xc3\xa4 \\302\x9b\\177");
    EXPECT_EQ(complaint("no \033[31m", "try this\nor that"),
              "trapline: no \\033[31m\n  try this\n  or that\n");
    EXPECT_EQ(escaped("back\\slash"), "back\\\\slash");
    EXPECT_EQ(escaped(std::string_view("\0001", 2)), "\\0001");
    EXPECT_EQ(escaped("\x7f\x80\xff"), "\\177\\200\\377");
    EXPECT_EQ(escaped("\xc2\x9b"), "\\302\\233");
    EXPECT_EQ(escaped("say \"x\""), "say \"x\"");
    EXPECT_EQ(escaped("say \"x\"", '"'), "say \\\"x\\\"");
}

TEST(Errno, NamesThoseOfUserSpace) {
    EXPECT_EQ(errno_name(1), "EPERM");
    EXPECT_EQ(errno_name(2), "ENOENT");
    EXPECT_EQ(errno_name(11), "EAGAIN");
    EXPECT_EQ(errno_name(133), "EHWPOISON");
    for (unsigned n = 1; n <= 133; n++) {
        // The two gaps in the kernel's own numbering.
        EXPECT_EQ(errno_name(n).empty(), n == 41 || n == 58) << n;
    }
    EXPECT_EQ(errno_name(0), "");
    EXPECT_EQ(errno_name(134), "");
    EXPECT_EQ(errno_name(4095), "");
    EXPECT_EQ(errno_name(UINT32_MAX), "");
}

TEST(Errno, NamesTheKernelsOwn) {
    EXPECT_EQ(errno_name(511), "");
    EXPECT_EQ(errno_name(512), "ERESTARTSYS");
    EXPECT_EQ(errno_name(516), "ERESTART_RESTARTBLOCK");
    EXPECT_EQ(errno_name(517), "EPROBE_DEFER");
    EXPECT_EQ(errno_name(520), "");
    EXPECT_EQ(errno_name(524), "ENOTSUPP");
    EXPECT_EQ(errno_name(531), "ENOGRACE");
    EXPECT_EQ(errno_name(532), "");
}

TEST(Errno, AndBack) {
    for (unsigned n = 0; n <= errno_max; n++) {
        if (!errno_name(n).empty()) {
            EXPECT_EQ(errno_number(errno_name(n)), n);
        }
    }
    EXPECT_EQ(errno_number("EWOULDBLOCK"), 11U);
    EXPECT_EQ(errno_number("EDEADLOCK"), 35U);
    EXPECT_EQ(errno_number("ENOTSUP"), 95U);
    EXPECT_EQ(errno_number(""), std::nullopt);
    EXPECT_EQ(errno_number("ENOEN"), std::nullopt);
    EXPECT_EQ(errno_number("enoent"), std::nullopt);
}

TEST(Errno, RuleForRawReturns) {
    EXPECT_EQ(errno_of(0), std::nullopt);
    EXPECT_EQ(errno_of(0x1000), std::nullopt);
    EXPECT_EQ(errno_of(UINT64_MAX), 1U);
    EXPECT_EQ(errno_of(-std::uint64_t{4095}), 4095U);
    EXPECT_EQ(errno_of(-std::uint64_t{4096}), std::nullopt);
    EXPECT_EQ(errno_of(0xffffffff), 1U);
    EXPECT_EQ(errno_of(0xfffff001), 4095U);
    EXPECT_EQ(errno_of(0xfffff000), std::nullopt);
    EXPECT_EQ(errno_of(0x1fffffffe), std::nullopt);
}

TEST(Filesystems, OfAKernel) {
    const std::string text = "nodev\tsysfs\nnodev\tdebugfs\n\text4\nnodev\ttracefs";
    for (const char* there : {"sysfs", "debugfs", "ext4", "tracefs"})
        EXPECT_FALSE(lacks_filesystem(text, there)) << there;
    for (const char* not_there : {"securityfs", "debug", "fs", "ext", "nodev", "nodev\tsysfs"})
        EXPECT_TRUE(lacks_filesystem(text, not_there)) << not_there;
    EXPECT_FALSE(lacks_filesystem("", "debugfs")) << "it isn't known";
}

} // namespace
