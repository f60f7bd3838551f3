// SPDX-License-Identifier: GPL-2.0
// Why a session could not be opened. All else about sessions needs the module: see tests/guest.
#include "control/session.h"

#include <cerrno>
#include <gtest/gtest.h>

namespace trapline {
namespace {

constexpr std::string_view none = "[none] integrity confidentiality\n";
constexpr std::string_view integrity = "none [integrity] confidentiality\n";
constexpr std::string_view confidentiality = "none integrity [confidentiality]\n";

TEST(OpenFailures, AreToldApart) {
    EXPECT_EQ(explain_open(ENOENT, 0, none).failure(), OpenFailure::not_loaded);
    EXPECT_EQ(explain_open(ENXIO, 0, none).failure(), OpenFailure::not_loaded);
    EXPECT_EQ(explain_open(ENODEV, 1000, none).failure(), OpenFailure::not_loaded);
    EXPECT_EQ(explain_open(EACCES, 1000, none).failure(), OpenFailure::not_permitted);
    EXPECT_EQ(explain_open(EPERM, 0, none).failure(), OpenFailure::not_permitted);
    EXPECT_EQ(explain_open(EPERM, 0, "").failure(), OpenFailure::not_permitted);
    EXPECT_EQ(explain_open(EPERM, 0, confidentiality).failure(), OpenFailure::locked_down);
    EXPECT_EQ(explain_open(EBUSY, 0, none).failure(), OpenFailure::busy);
    EXPECT_EQ(explain_open(ENOMEM, 0, none).failure(), OpenFailure::other);
}

TEST(OpenFailures, IntegrityModeDoesNotForbidKprobes) {
    EXPECT_EQ(explain_open(EPERM, 0, integrity).failure(), OpenFailure::not_permitted);
}

// Lockdown is not the reason that an ordinary user is refused.
TEST(OpenFailures, WithoutRootTheHintIsRoot) {
    const OpenError error = explain_open(EACCES, 1000, confidentiality);
    EXPECT_EQ(error.failure(), OpenFailure::not_permitted);
    EXPECT_EQ(error.hint(), "run as root: sudo trapline ...");
    EXPECT_EQ(error.code(), EACCES);
}

TEST(OpenFailures, EachNamesTheDeviceAndAWayOut) {
    for (const int code : {ENOENT, ENXIO, EACCES, EPERM, EBUSY, ENOMEM, EMFILE}) {
        const OpenError error = explain_open(code, 0, none);
        EXPECT_TRUE(std::string(error.what()).starts_with("cannot open /dev/trapline: "));
        EXPECT_FALSE(error.hint().empty());
    }
}

} // namespace
} // namespace trapline
