# SPDX-License-Identifier: GPL-2.0
# Trapline's front door. The two commands: make demo, make test.
#
#   make              the module for the running kernel (or KDIR=...), and the tool
#   make kmod KDIR=.. the module for a configured and built kernel tree, or headers
#   make tool         the tool: build/bin/trapline
#   make install      module and tool, onto this machine (uninstall takes them away)
#   make demo         boots a Debian kernel in QEMU and traces vfs_read in it
#   make lab          a shell in that guest, for the exercises in docs/lab
#   make test         every check and test there is: check, unit, guest
#   make fuzz         looks for input that the readers of recordings can't take, for
#                     FUZZ_SECONDS each; fuzz-proof: that it finds bugs planted in them
#   make bench        what a hit costs, in instructions, next to an empty handler
#   make clean
#
# GUEST=WHICH chooses the kernel of demo, lab, test and bench: see qemu/kernel.

MAKEFLAGS += --no-print-directory
SHELL := /bin/bash
KDIR ?= /lib/modules/$(shell uname -r)/build
GUEST ?= 6.1
PREFIX ?= /usr/local
# The tool's warnings are errors where the compiler is the one it is written with.
WERROR ?= OFF
B := build
release = $(shell sed -n 's/.*UTS_RELEASE "\(.*\)".*/\1/p' $(1)/include/generated/utsrelease.h 2>/dev/null)

.PHONY: all kmod tool install uninstall demo test check unit guest bench clean fuzz fuzz-proof
.PHONY: guest-kmod demo-program guest-programs guest-kernel configure
all: kmod tool pages

# Kernel modules are built in folders of their kernel's own, from links to the sources.
# $(1): that folder; $(2): what to link there. Warnings are errors, but not objtool's
# and modpost's words about the kernel's own build.
define build-modules
	@[ -n "$(KREL)" ] || { echo "make: $(KDIR) is no configured and built kernel tree or headers" \
		"package (it has no include/generated/utsrelease.h)." >&2; \
		echo "Name one: make $@ KDIR=\$$HOME/linux; or install this kernel's headers" \
		"(Debian: apt install linux-headers-$$(uname -r))" >&2; exit 2; }
	@mkdir -p $(1) && cp -rsf $(2) $(1)/
	@$(MAKE) -C $(KDIR) M=$(1) modules
endef
KREL = $(call release,$(KDIR))

kmod:
	$(call build-modules,$(CURDIR)/$(B)/kmod/$(KREL),$(CURDIR)/kmod/. $(CURDIR)/shared)

# The same for test modules: into build/guest-kmod/RELEASE, where qemu/run finds them.
guest-kmod:
	$(call build-modules,$(CURDIR)/$(B)/guest-kmod/$(KREL)/guest,$(CURDIR)/tests/guest/kmod/.)
	$(call build-modules,$(CURDIR)/$(B)/guest-kmod/$(KREL)/bench,$(CURDIR)/tests/bench/kmod/.)
	$(call build-modules,$(CURDIR)/$(B)/guest-kmod/$(KREL)/lab,$(CURDIR)/docs/lab/driver/.)
	@cp $(addprefix $(B)/guest-kmod/$(KREL)/,guest/tlwarn.ko bench/tlfloor.ko lab/tlbuggy.ko) $(B)/guest-kmod/$(KREL)/

# Each time: what was missing before may be there now.
configure:
	@mkdir -p $(B)
	@cmake -S . -B $(B)/tool -DCMAKE_BUILD_TYPE=RelWithDebInfo -DTRAPLINE_WERROR=$(WERROR) >/dev/null

BUILD = cmake --build $(B)/tool -j$(shell nproc) --target
tool:
	@qemu/deps build
	@$(MAKE) configure
	@$(BUILD) trapline
	@mkdir -p $(B)/bin && ln -sf ../tool/bin/trapline $(B)/bin/trapline

demo-program guest-programs: configure
	@$(BUILD) $(if $(filter demo%,$@),tl-demo,tl-demo guest_programs)
	@ln -sfn tool/guest $(B)/guest

# The guest's kernel, and our module and the test modules for it.
guest-kernel:
	@made=$$(qemu/kernel $(GUEST)) && eval "$$made" && \
		$(MAKE) kmod guest-kmod KDIR="$$KDIR" >$(B)/kmod.log 2>&1 || { cat $(B)/kmod.log >&2; exit 1; }
	@if grep -n 'warning:' $(B)/kmod.log; then echo "make: the modules compile with warnings" >&2; exit 1; fi

# Manual pages: from scdoc, and in roff.
SCD := $(patsubst docs/%.8.scd,%,$(wildcard docs/*.8.scd))
ROFF := $(patsubst docs/%.8,%,$(wildcard docs/*.8))
PAGES := $(SCD) $(ROFF)
MAN8 = $(DESTDIR)$(PREFIX)/share/man/man8

.PHONY: pages
pages: $(SCD:%=$(B)/man/%.8)
$(B)/man/%.8: docs/%.8.scd
	@mkdir -p $(@D)
	scdoc <$< >$@.new && mv $@.new $@

install: pages
	install -D -m 0755 $(B)/bin/trapline $(DESTDIR)$(PREFIX)/sbin/trapline
	install -d $(MAN8)
	install -m 0644 $(SCD:%=$(B)/man/%.8) $(ROFF:%=docs/%.8) $(MAN8)
	install -D -m 0644 $(B)/kmod/$(KREL)/trapline.ko $(DESTDIR)/lib/modules/$(KREL)/updates/trapline.ko
	[ -n "$(DESTDIR)" ] || PATH=$$PATH:/sbin:/usr/sbin depmod $(KREL)

uninstall:
	rm -f $(DESTDIR)$(PREFIX)/sbin/trapline $(PAGES:%=$(MAN8)/%.8) \
		$(DESTDIR)/lib/modules/$(KREL)/updates/trapline.ko
	[ -n "$(DESTDIR)" ] || PATH=$$PATH:/sbin:/usr/sbin depmod $(KREL)

.PHONY: lab demo-built
demo-built:
	@qemu/deps demo
	@mkdir -p $(B)
	@echo "Building the tool, and the module for the guest's kernel ..."
	@$(MAKE) tool demo-program >$(B)/tool.log 2>&1 || { cat $(B)/tool.log >&2; exit 1; }
	@$(MAKE) guest-kernel
	@echo "Booting it in QEMU ..."

demo: demo-built
	@qemu/run --kernel $(GUEST) -- tl-demo

lab: demo-built
	@qemu/run --kernel $(GUEST) --smp 2

test: deps-test check unit guest
	@echo "make test: all passed"

.PHONY: deps-test
deps-test:
	@qemu/deps test
	@mkdir -p $(B)

check: deps-test
	@tests/checks/include-directions
	@tests/checks/format
	@tests/checks/checkpatch

unit: deps-test configure
	@$(BUILD) all
	@ctest --test-dir $(B)/tool --output-on-failure -j$(shell nproc)

guest: deps-test tool guest-programs guest-kernel
	@tests/guest/all $(GUEST)

# By libFuzzer, which comes with clang.
FUZZ_SECONDS ?= 600
.PHONY: fuzzers
fuzzers: deps-test
	@command -v clang++ >/dev/null || { echo "make: fuzzing needs clang and its libFuzzer" \
		"(Debian: apt install clang)" >&2; exit 2; }
	@mkdir -p $(B)/fuzz
	@cmake -S . -B $(B)/fuzz -DCMAKE_BUILD_TYPE=RelWithDebInfo -DTRAPLINE_FUZZ=ON \
		-DCMAKE_C_COMPILER=clang -DCMAKE_CXX_COMPILER=clang++ >/dev/null
	@cmake --build $(B)/fuzz -j$(shell nproc) --target fuzzers

fuzz: fuzzers
	@tests/fuzz/run $(CURDIR)/$(B)/fuzz $(FUZZ_SECONDS)

fuzz-proof: fuzzers
	@tests/fuzz/prove $(CURDIR)/$(B)/fuzz

bench: deps-test tool guest-programs guest-kernel
	@qemu/run --kernel $(GUEST) --icount --mem 1024 -- tl-cost

clean:
	rm -rf $(B)
