// SPDX-License-Identifier: GPL-2.0
// `trapline report` as a user has it: its status, and what it says where.
#pragma once

#include <string>
#include <vector>

#include <gtest/gtest.h>

#include "report/report.h"
#include "util/error.h"

namespace trapline::test {

class ReportRun : public testing::Test {
protected:
    // The exit status.
    int run(const std::vector<std::string>& words) {
        testing::internal::CaptureStdout();
        testing::internal::CaptureStderr();
        int status = -1;
        try {
            status = report_command(words);
        } catch (const Error& error) {
            status = error.exit_code();
            failure = error.what();
            hint = error.hint();
            EXPECT_FALSE(hint.empty()) << failure;
        }
        out = testing::internal::GetCapturedStdout();
        err = testing::internal::GetCapturedStderr();
        return status;
    }

    std::string out, err;
    std::string failure, hint; // of the last that failed
};

} // namespace trapline::test
