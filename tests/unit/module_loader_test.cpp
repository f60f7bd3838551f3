// SPDX-License-Identifier: GPL-2.0
// What modprobe says, and what we make of it.
#include "control/module_loader.h"

#include <gtest/gtest.h>

namespace trapline {
namespace {

ModprobeOutcome outcome(std::string words) {
    ModprobeOutcome out;
    out.words = std::move(words);
    out.at.release = "6.1.0-18-amd64";
    return out;
}

LoadFailure failure(const std::string& words) {
    return explain_modprobe(outcome(words)).failure();
}

TEST(Modprobe, NotInstalled) {
    const LoadError error = explain_modprobe(outcome(
        "modprobe: FATAL: Module trapline not found in directory /lib/modules/6.1.0-18-amd64\n"));
    EXPECT_EQ(error.failure(), LoadFailure::not_installed);
    EXPECT_STREQ(error.what(), "cannot load the trapline module: it is not installed for the "
                               "running kernel 6.1.0-18-amd64");
    EXPECT_EQ(error.hint(), "make KDIR=/lib/modules/6.1.0-18-amd64/build && sudo make install");
    // No /lib/modules at all, then busybox.
    EXPECT_EQ(failure("modprobe: ERROR: ../libkmod/libkmod.c:586 kmod_search_moddep() could not "
                      "open moddep file '/lib/modules/6.1.0-18-amd64/modules.dep.bin'\n"
                      "modprobe: FATAL: Module trapline not found in directory "
                      "/lib/modules/6.1.0-18-amd64\n"),
              LoadFailure::not_installed);
    EXPECT_EQ(failure("modprobe: module trapline not found in modules.dep\n"),
              LoadFailure::not_installed);
    EXPECT_EQ(failure("modprobe: can't change directory to '/lib/modules': No such file or "
                      "directory\n"),
              LoadFailure::not_installed);
}

TEST(Modprobe, BuiltForAnotherKernel) {
    const LoadError error = explain_modprobe(
        outcome("modprobe: ERROR: could not insert 'trapline': Exec format error\n"));
    EXPECT_EQ(error.failure(), LoadFailure::wrong_kernel);
    EXPECT_EQ(error.hint(),
              "make clean && make KDIR=/lib/modules/6.1.0-18-amd64/build && sudo make install");
    EXPECT_EQ(failure("modprobe: can't load module trapline (extra/trapline.ko): invalid module "
                      "format\n"),
              LoadFailure::wrong_kernel);
}

TEST(Modprobe, Signatures) {
    const LoadError rejected = explain_modprobe(
        outcome("modprobe: ERROR: could not insert 'trapline': Key was rejected by service\n"));
    const LoadError missing = explain_modprobe(
        outcome("modprobe: ERROR: could not insert 'trapline': Required key not available\n"));
    EXPECT_EQ(rejected.failure(), LoadFailure::key_rejected);
    EXPECT_EQ(missing.failure(), LoadFailure::key_rejected);
    EXPECT_STRNE(rejected.what(), missing.what());
    EXPECT_NE(rejected.hint().find("/lib/modules/6.1.0-18-amd64/build/scripts/sign-file"),
              std::string::npos);
}

TEST(Modprobe, NotPermitted) {
    const std::string words =
        "modprobe: ERROR: could not insert 'trapline': Operation not permitted\n";
    ModprobeOutcome plain = outcome(words);
    plain.lockdown = "[none] integrity confidentiality\n";
    EXPECT_EQ(explain_modprobe(plain).failure(), LoadFailure::other);
    EXPECT_NE(std::string(explain_modprobe(plain).what()).find("Operation not permitted"),
              std::string::npos);

    ModprobeOutcome locked = outcome(words);
    locked.lockdown = "none [integrity] confidentiality\n";
    EXPECT_EQ(explain_modprobe(locked).failure(), LoadFailure::locked_down);

    ModprobeOutcome disabled = outcome(words);
    disabled.disabled = true;
    EXPECT_EQ(explain_modprobe(disabled).failure(), LoadFailure::loading_disabled);
}

TEST(Modprobe, KernelsThatCannot) {
    EXPECT_EQ(failure("modprobe: ERROR: could not insert 'trapline': Unknown symbol in module, or "
                      "unknown parameter (see dmesg)\n"),
              LoadFailure::missing_symbols);
    EXPECT_EQ(failure("modprobe: can't load module trapline (extra/trapline.ko): unknown symbol "
                      "in module, or unknown parameter\n"),
              LoadFailure::missing_symbols);
    EXPECT_EQ(failure("modprobe: ERROR: could not insert 'trapline': Function not implemented\n"),
              LoadFailure::no_modules);
    ModprobeOutcome out = outcome("modprobe: FATAL: Module trapline not found in directory /x\n");
    out.modules = false;
    EXPECT_EQ(explain_modprobe(out).failure(), LoadFailure::no_modules);
}

TEST(Modprobe, FileThatIsGone) {
    ModprobeOutcome out = outcome("modprobe: ERROR: could not insert 'trapline': Unknown symbol in "
                                  "module, or unknown parameter (see dmesg)\n");
    out.at.gone = true;
    EXPECT_EQ(explain_modprobe(out).failure(), LoadFailure::not_installed);
}

TEST(Modprobe, MissingItself) {
    ModprobeOutcome out = outcome("");
    out.status = 127;
    EXPECT_EQ(explain_modprobe(out).failure(), LoadFailure::no_modprobe);
}

TEST(Modprobe, AnythingElseInItsOwnWords) {
    const LoadError error = explain_modprobe(
        outcome("modprobe: ERROR: could not insert 'trapline': Cannot allocate memory\n"));
    EXPECT_EQ(error.failure(), LoadFailure::other);
    EXPECT_STREQ(error.what(),
                 "cannot load the trapline module: modprobe says: modprobe: ERROR: could not "
                 "insert 'trapline': Cannot allocate memory");
    ModprobeOutcome silent = outcome("");
    silent.status = 139;
    EXPECT_STREQ(explain_modprobe(silent).what(),
                 "cannot load the trapline module: modprobe failed with exit status 139");
    silent.status = 1;
    EXPECT_STREQ(
        explain_modprobe(silent).what(),
        "cannot load the trapline module: modprobe failed with exit status 1, silently: is "
        "there an install line for it in /etc/modprobe.d?");
}

TEST(ProcMisc, MinorOfOurDevice) {
    const std::string text = "124 trapline2\n 61 trapline\n235 autofs\n  1 psaux\n";
    EXPECT_EQ(misc_minor(text, "trapline"), 61U);
    EXPECT_EQ(misc_minor(text, "psaux"), 1U);
    EXPECT_EQ(misc_minor(text, "autofs"), 235U);
    EXPECT_EQ(misc_minor(text, "auto"), std::nullopt);
    EXPECT_EQ(misc_minor("", "trapline"), std::nullopt);
    EXPECT_EQ(misc_minor("  \n\ntrapline\n12\n 12", "trapline"), std::nullopt);
    EXPECT_EQ(misc_minor(" 12 trapline", "trapline"), 12U); // without a newline
}

TEST(Lockdown, TheModeInForceStandsInBrackets) {
    EXPECT_EQ(lockdown_mode("[none] integrity confidentiality\n"), "none");
    EXPECT_EQ(lockdown_mode("none [integrity] confidentiality\n"), "integrity");
    EXPECT_EQ(lockdown_mode("none integrity [confidentiality]\n"), "confidentiality");
    EXPECT_EQ(lockdown_mode(""), "");
    EXPECT_EQ(lockdown_mode("none [integrity"), "");
}

} // namespace
} // namespace trapline
