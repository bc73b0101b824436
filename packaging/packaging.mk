# SPDX-License-Identifier: MIT
# Installing, and packing for other computers.

#: make install          takes PREFIX (/usr/local), DESTDIR, BINDIR, DATADIR, MANDIR, DOCDIR, ZSHDIR; make uninstall
PREFIX ?= /usr/local
BINDIR ?= $(PREFIX)/bin
DATADIR ?= $(PREFIX)/share
MANDIR ?= $(DATADIR)/man
DOCDIR ?= $(DATADIR)/doc/gpuhist
ZSHDIR ?= $(DATADIR)/zsh/site-functions

# FILE:DESTINATION of everything installed but the program. Files that the tree lacks are skipped.
INSTALLED = man/gpuhist.1:$(MANDIR)/man1/gpuhist.1 \
	$(foreach f,gpuhist-inputs.5 gpuhist-json.5 gpuhist-output.5,man/$(f):$(MANDIR)/man5/$(f)) \
	completions/gpuhist.bash:$(DATADIR)/bash-completion/completions/gpuhist \
	completions/_gpuhist:$(ZSHDIR)/_gpuhist \
	completions/gpuhist.fish:$(DATADIR)/fish/vendor_completions.d/gpuhist.fish \
	$(foreach f,README.md LICENSE examples/tour.md docs/cookbook.md docs/python.md docs/bells.svg docs/overlap.svg docs/router.svg $(sort $(wildcard examples/cluster/*.*)),$(f):$(DOCDIR)/$(f))
# The installed README has no links to files that are only in the sources.
UNLINKED  = \(bench\|kernels\|src\|tests\|[A-Z]*\.md\)
from = $(firstword $(subst :, ,$(1)))
to   = "$(DESTDIR)$(lastword $(subst :, ,$(1)))"
define copy
	install -D -m 644 $(from) $(to)

endef

install: $(PROGRAM)
	install -D -m 755 $(PROGRAM) "$(DESTDIR)$(BINDIR)/gpuhist"
	$(foreach f,$(INSTALLED),$(if $(wildcard $(call from,$(f))),$(call copy,$(f))))
	sed -i 's,\[\([^]]*\)\]($(UNLINKED)[^)]*),\1,g' "$(DESTDIR)$(DOCDIR)/README.md"

# Leave directories shared with other programs; remove our own if they are empty.
uninstall:
	rm -f "$(DESTDIR)$(BINDIR)/gpuhist" $(foreach f,$(INSTALLED),$(call to,$(f)))
	for directory in /examples/cluster /examples /docs ''; do \
		rmdir "$(DESTDIR)$(DOCDIR)$$directory" 2>/dev/null || :; done

#: make dist             build/gpuhist-VERSION.tar.gz: the committed sources, or all of a tree without .git
DIST = gpuhist-$(VERSION)
dist:
	$(Q)sh packaging/dist.sh $(DIST) build

# The makes of a script share the jobs of this one, by the +. With -n, -q and -t make runs such a line, too.
dry = $(if $(strip $(foreach f,n q t,$(findstring $(f),$(firstword -$(MAKEFLAGS))))),: )

#: make dist-bin         build/gpuhist-VERSION-linux-MACHINE.tar.gz: an installed tree, for other computers
dist-bin:
	+$(Q)$(dry)sh packaging/binary.sh $(DIST) build tarball

#: make wheel            the same for pip, in build
wheel:
	+$(Q)$(dry)sh packaging/binary.sh $(DIST) build wheel

#: make deb              a Debian package of this tree, in build; DEB_BUILD_OPTIONS=nocheck without the tests
deb:
	$(Q)sh packaging/deb.sh $(DIST) build $(if $(NVCC),pkg.gpuhist.nvcc)

#: make release          every file of a release page, each tried, in build/release; FORMS='source deb': only these
FORMS   = source tarball wheel static deb aarch64-tarball aarch64-wheel
release:
	+$(Q)$(dry)sh packaging/release.sh $(DIST) build/release $(FORMS)

#: make cross ARCH=aarch64    built by Debian's cross compiler, tested under qemu-user
ARCH =
cross:
	$(Q)sh tests/cross.sh $(ARCH)

.PHONY: cross deb dist dist-bin install release uninstall wheel
