# SPDX-License-Identifier: GPL-2.0
# Trapline's front door. The two commands: make demo, make test.
#
#   make              the module for the running kernel, and the tool
#   make kmod KDIR=…  the module for a configured kernel tree or headers package
#   make tool         the tool: build/bin/trapline
#   make demo         boots a kernel in QEMU and traces vfs_read in it
#   make test         every check and test there is
#   make bench        what a hit costs, in instructions, against an empty handler
#   make install      module (for KDIR) and tool, on this machine

MAKEFLAGS += --no-print-directory
KDIR ?= /lib/modules/$(shell uname -r)/build
B := build
KREL = $(shell sed -n 's/.*UTS_RELEASE "\(.*\)".*/\1/p' $(KDIR)/include/generated/utsrelease.h 2>/dev/null)

.PHONY: all kmod tool guest-kmod guest-programs demo test bench install clean check unit guest
all: kmod tool

# The module is built in a folder of its kernel's own, from links to the sources.
kmod:
	@[ -n "$(KREL)" ] || { echo "make: KDIR=$(KDIR) is no configured and built kernel tree" \
		"or headers package (no include/generated/utsrelease.h); give another:" \
		"make kmod KDIR=\$$HOME/linux" >&2; exit 2; }
	@mkdir -p $(B)/kmod/$(KREL)
	@cp -rsf $(CURDIR)/kmod/. $(CURDIR)/shared $(B)/kmod/$(KREL)/
	@$(MAKE) -C $(KDIR) M=$(CURDIR)/$(B)/kmod/$(KREL) $(KMOD_FLAGS) modules

# The same way for test modules: into build/guest-kmod/RELEASE, where qemu/run finds them.
TEST_KMODS := tests/guest/kmod tests/bench/kmod
guest-kmod:
	@mkdir -p $(B)/guest-kmod/$(KREL)
	@for d in $(TEST_KMODS); do b=$(CURDIR)/$(B)/guest-kmod/$(KREL)/build-$$(echo $$d | tr / -); \
		mkdir -p $$b && cp -rsf $(CURDIR)/$$d/. $$b/ && \
		$(MAKE) -C $(KDIR) M=$$b $(KMOD_FLAGS) modules && \
		cp $$b/*.ko $(B)/guest-kmod/$(KREL)/ || exit 1; done

$(B)/tool/CMakeCache.txt:
	@cmake -S . -B $(B)/tool -DCMAKE_BUILD_TYPE=RelWithDebInfo -DTRAPLINE_WERROR=ON >/dev/null

tool: $(B)/tool/CMakeCache.txt
	@cmake --build $(B)/tool --target trapline -- --no-print-directory
	@mkdir -p $(B)/bin
	@ln -sf ../tool/bin/trapline $(B)/bin/trapline

guest-programs: $(B)/tool/CMakeCache.txt
	@cmake --build $(B)/tool --target guest_programs -- --no-print-directory
	@ln -sfn tool/guest $(B)/guest

clean:
	rm -rf $(B)
