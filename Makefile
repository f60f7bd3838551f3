# SPDX-License-Identifier: GPL-2.0
# Trapline's front door. The two commands: make demo, make test.
#
#   make              the module for the running kernel (or KDIR=...), and the tool
#   make kmod KDIR=.. the module for a configured and built kernel tree, or headers; O=, too, if
#                     that was built elsewhere
#   make tool         the tool: build/bin/trapline
#   make static       the tool as one file that needs nothing else, for an initramfs:
#                     build/static/trapline; CAPSTONE=OFF: smaller, without a disassembler;
#                     MACHINE=aarch64 or riscv64: for that, build/MACHINE/static/trapline
#   make man          the manual pages: build/man
#   make install      module, tool, pages, onto this machine or into DESTDIR (uninstall takes
#                     them away); PREFIX=/usr/local; install-tool, install-module: one of them
#   make install-dkms the module's source, for DKMS to build it for each kernel
#   make deb          the Debian packages trapline and trapline-dkms: build/deb
#   make demo         boots a Debian kernel in QEMU and traces vfs_read in it
#   make lab          a shell in that guest, for the exercises in docs/lab
#   make test         every check and test there is: check, unit, guest
#   make test-packages  installs, upgrades and removes the packages in a chroot
#   make fuzz         looks for input that the readers of recordings and types can't take, for
#                     FUZZ_SECONDS each; fuzz-proof: that it finds bugs planted in them
#   make matrix       the guest suite on every kernel of tests/guest/matrix (SUBSET="5.10 6.12"; ci)
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

# Its targets share build/; what they run is parallel.
.NOTPARALLEL:
.PHONY: all kmod tool man install uninstall demo test check unit guest bench clean fuzz fuzz-proof
.PHONY: guest-kmod demo-program guest-programs guest-kernel configure
all: deps-build kmod tool man

VERSION := $(shell sed -n 's/.*define TRAPLINE_VERSION[[:space:]]*"\(.*\)".*/\1/p' shared/trapline.h)

# Kernel modules are built in folders of their kernel's own, from links to the sources.
# $(1): that folder; $(2): what to link there.
define build-modules
	@[ -n "$(KREL)" ] || { echo "make: $(KTREE) is no configured and built kernel tree or headers" \
		"package (it has no include/generated/utsrelease.h)." >&2; \
		echo "Name one: make $@ KDIR=\$$HOME/linux; or install this kernel's headers" \
		"(Debian: apt install linux-headers-$$(uname -r))" >&2; exit 2; }
	@mkdir -p $(1) && cp -rsf $(2) $(1)/
	+@told=$$(kmod/compat/kbuild-arguments $(KDIR) $(KTREE)) && \
		eval "$(MAKE) -C $(KDIR) $(if $(O),O=$(KTREE)) M=$(1) $$(echo $$told) modules"
endef
# With O= the sources are in KDIR, and what was configured and built is there.
KTREE = $(if $(O),$(abspath $(O)),$(KDIR))
KREL = $(call release,$(KTREE))

kmod:
	$(call build-modules,$(CURDIR)/$(B)/kmod/$(KREL),$(CURDIR)/kmod/. $(CURDIR)/shared)

# The same for test modules: into build/guest-kmod/RELEASE, where qemu/run finds them. VMLINUX: the
# kernel itself, for BTF.
guest-kmod:
	$(call build-modules,$(CURDIR)/$(B)/guest-kmod/$(KREL)/guest,$(CURDIR)/tests/guest/kmod/. $(CURDIR)/shared)
	$(call build-modules,$(CURDIR)/$(B)/guest-kmod/$(KREL)/bench,$(CURDIR)/tests/bench/kmod/.)
	$(call build-modules,$(CURDIR)/$(B)/guest-kmod/$(KREL)/lab,$(CURDIR)/docs/lab/driver/.)
	@cp $(B)/guest-kmod/$(KREL)/*/tl*.ko $(B)/guest-kmod/$(KREL)/
	@[ -z "$(VMLINUX)" ] || OBJCOPY=$(CROSS_COMPILE)objcopy tests/guest/encode-btf "$(VMLINUX)" $(B)/guest-kmod/$(KREL)/tltypes.ko

# Each time: what was missing before may be there now.
configure:
	@mkdir -p $(B)
	@cmake -S . -B $(B)/tool -DCMAKE_BUILD_TYPE=RelWithDebInfo -DTRAPLINE_WERROR=$(WERROR) >/dev/null

.PHONY: deps-build
deps-build:
	@qemu/deps build

BUILD = cmake --build $(B)/tool -j$(shell nproc) --target
tool: deps-build
	@$(MAKE) configure
	@$(BUILD) trapline
	@mkdir -p $(B)/bin && ln -sf ../tool/bin/trapline $(B)/bin/trapline

CAPSTONE ?= ON
MACHINE ?=
OF_MACHINE := $(B)$(if $(MACHINE),/$(MACHINE))
.PHONY: static configure-static
configure-static:
	@qemu/deps $(or $(MACHINE),build)
	@$(if $(MACHINE),sysroot=$$(qemu/sysroot $(MACHINE)) &&) \
		cmake -S . -B $(OF_MACHINE)/static-tool -DCMAKE_BUILD_TYPE=MinSizeRel -DTRAPLINE_STATIC=ON \
		-DTRAPLINE_WERROR=$(WERROR) -DBUILD_TESTING=$(if $(MACHINE),ON,OFF) \
		-DTRAPLINE_CAPSTONE=$(CAPSTONE) -DTRAPLINE_LIBDW=OFF $(if $(MACHINE),-DTRAPLINE_MACHINE=$(MACHINE) \
		-DTRAPLINE_SYSROOT="$$sysroot" -DCMAKE_TOOLCHAIN_FILE=$(CURDIR)/qemu/toolchain.cmake) >/dev/null

static: configure-static
	@cmake --build $(OF_MACHINE)/static-tool -j$(shell nproc) --target trapline
	@mkdir -p $(OF_MACHINE)/static && $(if $(MACHINE),$(MACHINE)-linux-gnu-)strip \
		-o $(OF_MACHINE)/static/trapline $(OF_MACHINE)/static-tool/bin/trapline

ifeq ($(MACHINE),)
demo-program guest-programs: configure
	@$(BUILD) $(if $(filter demo%,$@),tl-demo,tl-demo guest_programs)
	@ln -sfn tool/guest $(B)/guest
else
# Of another machine, guests get the static tool, and their programs with it.
guest-programs: configure-static
	@cmake --build $(OF_MACHINE)/static-tool -j$(shell nproc) --target trapline tl-demo guest_programs
	@mkdir -p $(OF_MACHINE)/bin && ln -sf ../static-tool/bin/trapline $(OF_MACHINE)/bin/trapline
	@ln -sfn static-tool/guest $(OF_MACHINE)/guest
endif

# The guest's kernel, and our module and the test modules for it; and the tool and the guest's
# programs, if it isn't a kernel of this machine's kind.
guest-kernel: GUEST_TREE = KDIR="$$KDIR"
# Of Debian's headers one package has the sources, the other what was built: as trees with O= are.
ifeq ($(GUEST),5.10)
guest-kernel: GUEST_TREE = KDIR="$${KDIR%-*}-common" O="$$KDIR"
endif
guest-kernel:
	@mkdir -p $(B)
	@made=$$(qemu/kernel $(GUEST)) || exit; eval "$$made" && \
		{ [ -z "$$CROSS_COMPILE" ] || qemu/deps "$$MACHINE" || exit; } && \
		{ ! grep -q ^CONFIG_CC_IS_CLANG=y "$$CONFIG" || qemu/deps clang || exit; } && \
		$(MAKE) kmod guest-kmod $(GUEST_TREE) VMLINUX="$$VMLINUX" \
			$${CROSS_COMPILE:+ARCH="$$ARCH" CROSS_COMPILE="$$CROSS_COMPILE"} >$(B)/kmod.log 2>&1 || { cat $(B)/kmod.log >&2; exit 1; }
	@made=$$(qemu/kernel $(GUEST)) || exit; eval "$$made" && \
		[ -z "$$CROSS_COMPILE" ] || $(MAKE) guest-programs MACHINE="$$MACHINE"
	@if grep -nE ': warning: |^WARNING: ' $(B)/kmod.log; then echo "make: the modules compile with warnings" >&2; exit 1; fi

PAGES := $(patsubst docs/%.scd,$(B)/man/%,$(wildcard docs/*.8.scd))
man: $(PAGES)

# groff shows a plain - as a hyphen, which no shell takes for one.
$(B)/man/%: docs/%.scd shared/trapline.h
	@command -v scdoc >/dev/null || { echo "make: the manual pages are written for scdoc;" \
		"install it: the package is called scdoc (Debian, Fedora, Arch)" >&2; exit 2; }
	@mkdir -p $(@D)
	@set -o pipefail; sed '1s/"trapline [^"]*"/"trapline $(VERSION)"/' $< | scdoc | \
		sed '/^\.TH/!{/^\\h/!s/-/\\-/g}' >$@.new || { echo "make: $< is not right" >&2; exit 1; }
	@mv $@.new $@

# What is installed, as MODE:FILE:PLACE, which is below PREFIX.
COMPLETIONS := tool/packaging/completions
ZSH_FUNCTIONS ?= share/zsh/site-functions
SBIN ?= sbin
INSTALLED = 755:$(B)/tool/bin/trapline:$(SBIN)/trapline \
	644:tool/packaging/70-trapline.rules:lib/udev/rules.d/70-trapline.rules \
	644:$(COMPLETIONS)/trapline.bash:share/bash-completion/completions/trapline \
	644:$(COMPLETIONS)/_trapline:$(ZSH_FUNCTIONS)/_trapline \
	644:$(COMPLETIONS)/trapline.fish:share/fish/vendor_completions.d/trapline.fish \
	$(foreach page,$(PAGES),644:$(page):share/man/man8/$(notdir $(page)))
MODULE = /lib/modules/$(KREL)/updates/trapline.ko
depmod = $(if $(DESTDIR),,[ ! -d /lib/modules/$(KREL) ] || PATH=$$PATH:/sbin:/usr/sbin depmod $(KREL))
define need-kernel
	@[ -n "$(KREL)" ] || { echo "make: for which kernel? $(KDIR) is no configured and built kernel" \
		"tree or headers package." >&2; echo "Name one: make $@ KDIR=..., or leave" \
		"the module alone: make $@-tool" >&2; exit 2; }
endef

.PHONY: install-tool install-module uninstall-tool
install:
	$(need-kernel)
	@$(MAKE) install-module install-tool

install-tool: man
	@[ -e $(B)/tool/bin/trapline ] || { echo "make: the tool is not built yet: make tool" >&2; exit 2; }
	@for file in $(INSTALLED); do IFS=: read -r mode from to <<<"$$file"; \
		install -v -D -m "$$mode" "$$from" "$(DESTDIR)$(PREFIX)/$$to" || exit; done

install-module:
	@[ -e $(B)/kmod/$(KREL)/trapline.ko ] || { echo "make: the module is not built yet for the kernel of" \
		"$(KDIR): make kmod KDIR=$(KDIR)" >&2; exit 2; }
	install -D -m 0644 $(B)/kmod/$(KREL)/trapline.ko "$(DESTDIR)$(MODULE)"
	$(depmod)

uninstall:
	$(need-kernel)
	@$(MAKE) uninstall-tool
	rm -f "$(DESTDIR)$(MODULE)"
	$(depmod)

uninstall-tool:
	@for file in $(INSTALLED); do rm -fv "$(DESTDIR)$(PREFIX)/$${file##*:}" || exit; done

DKMS_TREE = "$(DESTDIR)/usr/src/trapline-$(VERSION)"
.PHONY: install-dkms uninstall-dkms deb test-packages
install-dkms:
	install -d $(DKMS_TREE)
	cp -R kmod/. shared $(DKMS_TREE)
	sed 's/#MODULE_VERSION#/$(VERSION)/' tool/packaging/dkms.conf >$(DKMS_TREE)/dkms.conf

uninstall-dkms:
	rm -rf $(DKMS_TREE)

# debhelper wants debian/ at the top: packages are built in a copy that has it there.
DEB := $(B)/deb/trapline-$(VERSION)
DEB_BUILD ?= binary # all: trapline-dkms alone
DEBFULLNAME ?= $(or $(shell git config user.name),$(shell id -un))
DEBEMAIL ?= $(or $(shell git config user.email),$(shell id -un)@$(shell hostname -f))
deb: export MAINTAINER = $(DEBFULLNAME) <$(DEBEMAIL)>
deb: deps-build
	@qemu/deps deb
	@rm -rf $(B)/deb && mkdir -p $(DEB)
	@cp -R Makefile CMakeLists.txt COPYING README.md docs kmod qemu shared tool $(DEB)
	@mv $(DEB)/tool/packaging/debian $(DEB)/debian
	@awk '(i = index($$0, "@MAINTAINER@")) { $$0 = substr($$0, 1, i - 1) ENVIRON["MAINTAINER"] } 1' \
		$(DEB)/debian/control >$(B)/control && mv $(B)/control $(DEB)/debian/control
	@printf '%s\n' 'trapline ($(VERSION)) unstable; urgency=medium' '' \
		'  * Version $(VERSION).' '' \
		" -- $$MAINTAINER  $$(date -R -d "@$${SOURCE_DATE_EPOCH:-$$(git log -1 --format=%ct || date +%s)}")" \
		>$(DEB)/debian/changelog
	@echo "Building the packages ..."
	@(cd $(DEB) && dpkg-buildpackage -us -uc --build=$(strip $(DEB_BUILD))) >$(B)/deb.log 2>&1 || { cat $(B)/deb.log >&2; exit 1; }
	@rm -rf $(DEB) && ls $(B)/deb/*.deb

test-packages: deb
	@qemu/deps packages
	@tests/packaging/run

# CMake's percentages, on a terminal.
show-progress = { while read -r line; do [ ! -t 2 ] || case $$line in \
	'['*%*) printf '\r  %s' "$${line%%]*}]" >&2 ;; esac; done; [ ! -t 2 ] || printf '\r        \r' >&2; }

.PHONY: lab demo-built
demo-built:
	@qemu/deps demo
	@mkdir -p $(B)
	@echo "Building the tool, a minute or some, once ..."
	@set -o pipefail; $(MAKE) tool demo-program 2>&1 | tee $(B)/tool.log | $(show-progress) || \
		{ cat $(B)/tool.log >&2; exit 1; }
	@echo "Building the module for the guest's kernel ..."
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

check: deps-test tool man
	@tests/checks/include-directions
	@tests/checks/format
	@tests/checks/deps
	@tests/checks/checkpatch
	@tests/checks/manual $(B)/bin/trapline $(B)/man
	@tests/checks/completions $(B)/bin/trapline
	@tests/checks/install
	@tests/checks/refused-kernels
	@tests/checks/kbuild-arguments

unit: deps-test configure
	@$(BUILD) all
	@ctest --test-dir $(B)/tool --output-on-failure -j$(shell nproc)

guest: deps-test tool guest-programs guest-kernel
	@tests/guest/all $(GUEST)

.PHONY: matrix
matrix: deps-test tool guest-programs
	@tests/guest/matrix $(SUBSET)

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
