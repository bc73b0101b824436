# SPDX-License-Identifier: MIT
# gpuhist: `make` builds ./gpuhist with any C11 compiler and no configure step; `make help` lists the rest.
# CC, CFLAGS, CPPFLAGS, LDFLAGS, LDLIBS, CXX, CXXFLAGS, NVCC, NVCCFLAGS, PREFIX with the folders below it and DESTDIR
# are the user's, by the command line or the environment: what the build cannot do without is in other variables and
# is never lost.

VERSION = 0.2.0

# make's own defaults for these two are no choice of the user's.
ifeq ($(origin CC),default)
CC      = cc
endif
ifeq ($(origin CXX),default)
CXX     = g++
endif
PREFIX ?= /usr/local
BINDIR ?= $(PREFIX)/bin
DATADIR ?= $(PREFIX)/share
MANDIR ?= $(DATADIR)/man
DOCDIR ?= $(DATADIR)/doc/gpuhist
ZSHDIR ?= $(DATADIR)/zsh/site-functions
BUILD   = build
PROGRAM = gpuhist

# Short lines while building; V=1 shows the commands. With -s neither.
ifeq ($(V),1)
Q       =
say     =
else
Q       = @
say     = $(if $(findstring s,$(firstword -$(MAKEFLAGS))),,@printf '  %-4s %s%s\n' $(1) $@ '$(2)')
endif

#: make                  builds ./gpuhist
#: make SAN=address,undefined check   instrumented, owners of locks checked too, in a folder of its own; also SAN=thread
#: make DEBUG=1          for a debugger: little optimised, asserts on, owners of locks checked, in build/debug
#: make V=1              shows the commands; GPU_ARCHS=native (or 90) makes kernels for this machine's GPUs alone, NVCC= none
# Each mode has a folder of its own. MODE is what makes it one, and stays where the user sets CFLAGS.
ifdef SAN
BUILD   = build/san-$(firstword $(subst $(comma), ,$(SAN)))
CFLAGS ?= -O1 -g1
MODE    = -fsanitize=$(SAN) -fno-sanitize-recover=all -fno-omit-frame-pointer $(if $(findstring thread,$(SAN)),,-DLOCKS_CHECKED)
TORTURE_CPPFLAGS = -DTORTURE_NO_ALLOCATOR
else ifdef FUZZ
# What `make fuzz` builds, by clang alone: no kernels, nothing to harden.
BUILD   = build/fuzz
CFLAGS ?= -O1 -g1
MODE    = -fsanitize=fuzzer-no-link,address,undefined -fno-sanitize-recover=all -fno-omit-frame-pointer
override NVCC =
else ifdef DEBUG
BUILD   = build/debug
CFLAGS ?= -Og -g3
MODE    = -UNDEBUG -DLOCKS_CHECKED
else ifdef COVERAGE
BUILD   = build/coverage
CFLAGS ?= -O0 -g
MODE    = --coverage -fprofile-update=atomic
endif
ifdef MODE
PROGRAM = $(BUILD)/gpuhist
HARDEN ?= -fPIE
endif
comma   = ,

CFLAGS   ?= -O2 -g
CXXFLAGS ?= -O2 -g

# Warnings and hardening come first, so that CFLAGS and LDFLAGS can undo them. _FORTIFY_SOURCE is
# left to the user who sets it, and means nothing without optimisation.
WARN    = -Wall -Wextra -Wpedantic -Wshadow -Wconversion
FORTIFY = $(if $(findstring _FORTIFY_SOURCE,$(CPPFLAGS) $(CFLAGS)),,\
	  $(if $(filter-out -O0,$(lastword $(filter -O%,$(CFLAGS)))),-U_FORTIFY_SOURCE -D_FORTIFY_SOURCE=2))
HARDEN ?= -fPIE -fstack-protector-strong $(FORTIFY)
LINK    = -pie -Wl,-z,relro,-z,now
ALL_CPPFLAGS = -D_GNU_SOURCE -DGPUHIST_VERSION='"$(VERSION)"' -Isrc $(ISA_CPPFLAGS) $(CPPFLAGS)
ALL_CFLAGS   = -std=c11 $(WARN) $(HARDEN) -ffp-contract=off -pthread $(CFLAGS) $(MODE)
ALL_LDFLAGS  = $(LINK) -pthread $(CFLAGS) $(MODE) $(LDFLAGS)
ALL_LDLIBS   = $(LDLIBS) $(ZSTD) -lm -ldl
# ZSTD=-l:libzstd.a has the library in the program.
ZSTD    = -lzstd

# Helpers of the tests and benches: as fast in an instrumented build, where they are not what is tested.
TOOL_FLAGS   = -std=c11 -D_GNU_SOURCE $(WARN) -O2 -g -pthread $(CPPFLAGS)

# ---- what is compiled: all of src but four files as they are ----

SOURCES   = $(wildcard src/*.c src/*/*.c)
LOOPS_SRC = $(filter %/cells_loops.c,$(SOURCES))
BLOCK_SRC = $(filter %/block_loops.c,$(SOURCES))
STATS_SRC = $(filter %/stats_loops.c,$(SOURCES))
IMAGE_SRC = $(filter %/gpu_image.c,$(SOURCES))
OBJ_DIR   = $(BUILD)/obj

# The loops that count, that add to statistics and that decode zstd, once for each instruction set that is chosen at run time.
LOOPS = base $(X86_LOOPS)
FLAGS_base   =
FLAGS_avx2   = -mavx2 -mbmi2 -mfma
FLAGS_avx512 = -mavx512f -mavx512dq -mavx512bw -mavx512vl -mbmi2 -mfma
# Short loops of wide instructions lose 5% where they cross a line; without this the linker decides.
LOOPS_ALIGN  = -falign-functions=64 -falign-loops=64
# No trap of floating point is ever enabled. While the compiler must allow for one it computes floors one at a time.
LOOPS_MATH   = -fno-trapping-math
LOOPS_O      = $(if $(DEBUG)$(COVERAGE),,-O3)

ifneq ($(filter x86_64% amd64%,$(shell $(CC) -dumpmachine 2>/dev/null)),)
X86_LOOPS    = avx2 avx512
ISA_CPPFLAGS = -DHAVE_X86_LOOPS
endif

LOOPS_OBJ = $(LOOPS:%=$(OBJ_DIR)/$(dir $(LOOPS_SRC))cells_%.o)
BLOCK_OBJ = $(patsubst %,$(OBJ_DIR)/$(dir $(BLOCK_SRC))block_%.o,$(filter-out avx512,$(LOOPS)))
STATS_OBJ = $(LOOPS:%=$(OBJ_DIR)/$(dir $(STATS_SRC))stats_%.o)
IMAGE_OBJ = $(IMAGE_SRC:%.c=$(OBJ_DIR)/%.o)
OBJ       = $(patsubst %.c,$(OBJ_DIR)/%.o,$(filter-out $(LOOPS_SRC) $(BLOCK_SRC) $(STATS_SRC),$(SOURCES))) $(LOOPS_OBJ) $(BLOCK_OBJ) $(STATS_OBJ)
LIB_OBJ   = $(filter-out $(OBJ_DIR)/src/main.o,$(OBJ))

# The kernels: machine code for one architecture of each family, which runs on all of it, and PTX of the
# oldest, from which the driver of any other device compiles its own; as far as this nvcc can. Each is a
# file of its own, so that -j makes them side by side. GPU_ARCHS=native makes them for the GPUs of this
# machine; NVCC= leaves the GPU out.
ifeq ($(origin NVCC),undefined)
NVCC      := $(shell command -v nvcc || ls /usr/local/cuda/bin/nvcc 2>/dev/null)
endif
ifneq ($(NVCC),)
NVCC_KNOWS := $(patsubst compute_%,%,$(shell $(NVCC) --list-gpu-arch))
ifndef GPU_ARCHS
override GPU_ARCHS := $(filter $(NVCC_KNOWS),75 80 90 100 120)
else ifeq ($(GPU_ARCHS),native)
override GPU_ARCHS := $(filter $(NVCC_KNOWS),$(sort $(subst .,,$(shell nvidia-smi --query-gpu=compute_cap --format=csv,noheader 2>/dev/null))))
ifeq ($(GPU_ARCHS),)
$(error GPU_ARCHS=native: nvidia-smi finds no GPU here that this nvcc knows: name an architecture, as in GPU_ARCHS=90, or leave the GPU out by NVCC=)
endif
endif
# In one place for all builds: the sanitizers and clang do not touch it.
KERNELS    = build/kernels.fatbin
CUBINS     = $(GPU_ARCHS:%=build/kernels/sm_%.cubin)
PTX        = build/kernels/compute_$(GPU_PTX).ptx
# Beside nvcc, which may be a link or a name in PATH.
FATBINARY := $(shell PATH="$$PATH:$$(dirname "$$(readlink -f "$$(command -v $(lastword $(NVCC)))")")"; command -v fatbinary)
# What -V says of them.
TOOLKIT   := $(shell $(NVCC) --version | sed -n 's/.*release \([0-9.]*\).*/\1/p')
GPU_FACTS  = -DGPU_FACTS='" for $(addprefix sm_,$(GPU_ARCHS)), and PTX of $(GPU_PTX) for others (CUDA $(TOOLKIT))"'
NEEDS_DRIVER = ; for a GPU a driver of CUDA $(TOOLKIT) or later
GPU_IMAGE  = -DGPU_IMAGE='"$(KERNELS)"'
endif
NVCCFLAGS ?= -O3
# nvcc lists what it knows from old to new, but not names such as 90a.
GPU_PTX    = $(firstword $(filter $(GPU_ARCHS),$(NVCC_KNOWS)) $(GPU_ARCHS))
ALL_NVCCFLAGS = -std=c++17 -Isrc $(NVCCFLAGS)
KERNEL_TEXT = kernels/count.cu $(wildcard kernels/*.cuh kernels/*.h) \
	$(filter %/binning.h %/wide.h,$(wildcard src/*.h src/*/*.h))

# Each tests/test_X.c is a program of its own, linked with all rooms but main; so is each harness of
# the fuzzers, and what measures or checks the kernels.
# The thread sanitizer has nothing to see where there is one thread.
THREADS   = 'pthread|readers\.h|source_open|run_job|tee_start|watch_start|snapshot'
TEST_SRC := $(if $(findstring thread,$(SAN)),$(shell grep -lE $(THREADS) tests/test_*.c),$(wildcard tests/test_*.c))
TESTS     = $(patsubst tests/%.c,$(BUILD)/%,$(TEST_SRC))
FUZZERS   = $(patsubst tests/fuzz/%.c,$(BUILD)/%,$(wildcard tests/fuzz/fuzz_*.c))
BENCH_GPU = $(BUILD)/bench_kernels
GPU_CHECK = $(BUILD)/gpu_check $(BUILD)/unpack_check
DOCUMENTS = $(BUILD)/uhi_documents
TOOLS     = $(BUILD)/oracle $(BUILD)/random_jobs
TORTURE   = $(BUILD)/torture $(BUILD)/torture_preload.so
BENCHES   = $(BUILD)/bench $(BUILD)/sample
# What `make check` asks of the random jobs.
SEED      = 1
JOBS      = 2500
SECONDS   = 60

all: $(PROGRAM)

# ---- flags are a dependency ----

# A file with the compiler and its flags, from which all that is made with them depends. It is
# written only where they are others than last time, so that a second make does nothing.
# $(call differs,FILE,TEXT) is its prerequisite: FORCE where FILE says otherwise, else none.
quoted  = '$(subst ','\'',$(strip $(1)))'
differs = $(if $(and $(findstring $(strip $(2)),$(was)),$(findstring $(was),$(strip $(2)))),,FORCE)
was     = $(strip $(shell cat $(1) 2>/dev/null))
version = $(shell $(1) --version 2>/dev/null | tr -d '"\\' | sed -n $(2))

FLAGS       = $(BUILD)/flags
FLAGS_TEXT := $(call version,$(CC),1p) $(CC) $(ALL_CPPFLAGS) $(ALL_CFLAGS) $(ALL_LDFLAGS) $(ALL_LDLIBS) \
	      $(GPU_IMAGE) $(LOOPS_ALIGN) $(foreach l,$(LOOPS),$(LOOPS_O) $(LOOPS_MATH) $(FLAGS_$(l))) $(TOOL_FLAGS)
KERNEL_FLAGS       = build/kernels/flags
KERNEL_FLAGS_TEXT := $(if $(NVCC),$(call version,$(NVCC),'$$p') $(NVCC) $(ALL_NVCCFLAGS))
KERNEL_ARCHS       = build/kernels/archs

# A compiler without zstd.h says so a hundred times over; this says it once and first. The functions
# that we call are in the library's stable part since 1.4.0.
ZSTD_PROBE = try() { $(CC) $(ALL_CPPFLAGS) $(CFLAGS) -E -x c - >/dev/null 2>&1; }; \
	if ! printf '\043include <stdio.h>\n' | try || { printf '\043include <%s.h>\n' zstd zstd_errors; \
	printf '\043if ZSTD_VERSION_NUMBER < 10400\n\043error\n\043endif\n'; } | try; then echo yes; fi
ZSTD_MISSING = zstd.h of zstd 1.4.0 or later was not found: install libzstd-dev (Debian, Ubuntu) or libzstd-devel (Fedora)

# 32-bit compilers have no __int128, which edges, sums and products of samples need.
WIDE_PROBE = printf '\043ifndef __SIZEOF_INT128__\n\043error\n\043endif\n' | \
	$(CC) $(ALL_CPPFLAGS) $(CFLAGS) -E -x c - >/dev/null 2>&1 && echo yes || \
	{ $(CC) -E -x c /dev/null >/dev/null 2>&1 || echo unknown; }
WIDE_MISSING = $(CC) has no 128-bit integers: gpuhist is for 64-bit systems

$(FLAGS): $(call differs,$(FLAGS),$(FLAGS_TEXT))
	$(if $(shell $(WIDE_PROBE)),,$(error $(WIDE_MISSING)))
	$(if $(shell $(ZSTD_PROBE)),,$(error $(ZSTD_MISSING)))
	@mkdir -p $(@D)
	@printf '%s\n' $(call quoted,$(FLAGS_TEXT)) >$@

$(KERNEL_FLAGS): $(call differs,$(KERNEL_FLAGS),$(KERNEL_FLAGS_TEXT)) | $(FLAGS)
	@mkdir -p $(@D)
	@printf '%s\n' $(call quoted,$(KERNEL_FLAGS_TEXT)) >$@

$(KERNEL_ARCHS): $(call differs,$(KERNEL_ARCHS),$(GPU_ARCHS)) | $(FLAGS)
	@mkdir -p $(@D)
	@printf '%s\n' '$(GPU_ARCHS)' >$@

FORCE:

# ---- one rule to compile, one to link ----

COMPILE = $(ALL_CPPFLAGS) $(ALL_CFLAGS) $(OWN)

define compile
	@mkdir -p $(@D)
	$(call say,CC)
	$(Q)$(CC) $(COMPILE) -MMD -MP -c -o $@ $<
endef

$(OBJ_DIR)/%.o: %.c $(FLAGS)
	$(compile)

# OWN is what one file wants beside the flags of all.
$(LOOPS_OBJ): $(OBJ_DIR)/$(dir $(LOOPS_SRC))cells_%.o: $(LOOPS_SRC) $(FLAGS)
	$(compile)
$(BLOCK_OBJ): $(OBJ_DIR)/$(dir $(BLOCK_SRC))block_%.o: $(BLOCK_SRC) $(FLAGS)
	$(compile)
$(STATS_OBJ): $(OBJ_DIR)/$(dir $(STATS_SRC))stats_%.o: $(STATS_SRC) $(FLAGS)
	$(compile)
$(LOOPS_OBJ) $(BLOCK_OBJ) $(STATS_OBJ): OWN = $(LOOPS_O) $(LOOPS_MATH) $(LOOPS_ALIGN) $(FLAGS_$*) -DISA=$*
# The increment of a table's entry took 1.5 times as long where it happened to cross a line.
$(OBJ_DIR)/src/count/count.o: OWN = $(LOOPS_ALIGN)
$(IMAGE_OBJ): OWN = $(GPU_IMAGE) $(GPU_FACTS)
$(IMAGE_OBJ): $(KERNELS)
# What -V says of the form that the packaging makes, and of what a program for other computers needs.
FORM_FLAGS  = $(if $(FORM),-DFORM='"$(FORM)"') \
	$(if $(NEEDS_GLIBC),-DNEEDS='"needs: glibc $(NEEDS_GLIBC) or later$(NEEDS_DRIVER)\n"')
HELP_OBJ    = $(OBJ_DIR)/src/cli/help.o
$(HELP_OBJ): OWN = $(FORM_FLAGS)
$(HELP_OBJ): $(BUILD)/form
$(BUILD)/form: $(call differs,$(BUILD)/form,flags $(FORM_FLAGS)) | $(FLAGS)
	@printf '%s\n' $(call quoted,flags $(FORM_FLAGS)) >$@

# The oracle shares nothing with src, nor does its driver, nor what makes the world fail.
$(OBJ_DIR)/tests/oracle/%.o $(OBJ_DIR)/tests/jobs/%.o $(OBJ_DIR)/tests/torture/%.o: COMPILE = $(TOOL_FLAGS) $(OWN)
$(OBJ_DIR)/tests/torture/preload.o: OWN = $(TORTURE_CPPFLAGS) -fPIC
$(BENCHES:$(BUILD)/%=$(OBJ_DIR)/bench/%.o): COMPILE = $(TOOL_FLAGS) -O3

LINKED = $(CC) $(ALL_LDFLAGS)
$(PROGRAM) $(TESTS) $(FUZZERS) $(GPU_CHECK) $(DOCUMENTS) $(BENCH_GPU) $(TOOLS) $(TORTURE) $(BENCHES):
	$(call say,LINK)
	$(Q)$(LINKED) -o $@ $(filter %.o,$^) $(ALL_LDLIBS)

$(TOOLS) $(TORTURE) $(BENCHES): LINKED = $(CC) -pthread $(LDFLAGS)
$(BUILD)/torture_preload.so: LINKED += -shared
$(FUZZERS): LINKED += -fsanitize=fuzzer

objects = $(patsubst %.c,$(OBJ_DIR)/%.o,$(1))
$(PROGRAM): $(OBJ)
$(TESTS): $(BUILD)/%: $(OBJ_DIR)/tests/%.o $(LIB_OBJ)
$(FUZZERS): $(BUILD)/%: $(OBJ_DIR)/tests/fuzz/%.o $(LIB_OBJ)
$(GPU_CHECK): $(BUILD)/%: $(OBJ_DIR)/tests/%.o $(LIB_OBJ)
$(DOCUMENTS): $(OBJ_DIR)/tests/uhi_documents.o $(LIB_OBJ)
$(BENCH_GPU): $(BUILD)/bench_%: $(OBJ_DIR)/bench/%.o $(LIB_OBJ)
$(BUILD)/oracle: $(call objects,$(wildcard tests/oracle/*.c))
$(BUILD)/random_jobs: $(call objects,$(wildcard tests/jobs/*.c))
# A library between the program and libc that makes calls fail, and what gives it its plans.
$(BUILD)/torture: $(call objects,$(filter-out %/preload.c,$(wildcard tests/torture/*.c)))
$(BUILD)/torture_preload.so: $(OBJ_DIR)/tests/torture/preload.o
$(BENCHES): $(BUILD)/%: $(OBJ_DIR)/bench/%.o

ifneq ($(NVCC),)
# Each takes five seconds of a processor; where there are several, the first says so.
$(CUBINS): build/kernels/sm_%.cubin: $(KERNEL_TEXT) $(KERNEL_FLAGS)
	$(call say,NVCC,$(if $(filter $(firstword $(CUBINS)),$@),$(if $(word 2,$(CUBINS)), (one of $(words $(CUBINS)): half a minute of a processor in all; GPU_ARCHS=native: this machine; NVCC=: none))))
	$(Q)$(NVCC) $(ALL_NVCCFLAGS) -gencode arch=compute_$*,code=sm_$* -cubin -o $@ kernels/count.cu

$(PTX): $(KERNEL_TEXT) $(KERNEL_FLAGS)
	$(call say,NVCC)
	$(Q)$(NVCC) $(ALL_NVCCFLAGS) -gencode arch=compute_$(GPU_PTX),code=compute_$(GPU_PTX) -ptx -o $@ kernels/count.cu

$(KERNELS): $(CUBINS) $(PTX) $(KERNEL_ARCHS)
	$(call say,FAT)
	$(Q)$(or $(FATBINARY),fatbinary) -64 -compress-all --create=$@ $(foreach a,$(GPU_ARCHS),--image3=kind=elf,sm=$(a),file=build/kernels/sm_$(a).cubin) \
		--image3=kind=ptx,sm=$(GPU_PTX),file=$(PTX)

else ifeq ($(filter help clean uninstall dist dist-bin wheel deb release cross,$(MAKECMDGOALS))$(FUZZ),)
$(info no nvcc: the GPU engine is left out of this build)
endif

# ---- a simulated driver, found by its soname: the GPU engine's tests where there is no GPU ----

# It runs the kernels' own text, compiled for the host, and is the same for every build: no sanitizer.
FAKE       = build/fake/libcuda.so.1
FAKE_OLD   = build/fake/old/libcuda.so.1
FAKE_OBJ   = $(patsubst tests/fakecuda/%.c,build/fake/%.o,$(wildcard tests/fakecuda/*.c)) build/fake/kernels.o
FAKE_FLAGS = build/fake/flags
FAKE_CXX   = -std=c++17 -D_GNU_SOURCE -Isrc -Wall -Wextra -Wshadow $(CPPFLAGS) $(CXXFLAGS) -Wno-unknown-pragmas \
	     -ffp-contract=off -fno-strict-aliasing -fno-extern-tls-init -fPIC
FAKE_TEXT := $(call version,$(CC),1p) $(CC) $(TOOL_FLAGS) $(call version,$(CXX),1p) $(CXX) $(FAKE_CXX) $(LDFLAGS)

$(FAKE_FLAGS): $(call differs,$(FAKE_FLAGS),$(FAKE_TEXT)) | $(FLAGS)
	@mkdir -p build/fake/old
	@printf '%s\n' $(call quoted,$(FAKE_TEXT)) >$@

build/fake/%.o: tests/fakecuda/%.c $(FAKE_FLAGS)
	$(compile)
build/fake/%.o: COMPILE = $(TOOL_FLAGS) -Isrc -fPIC

build/fake/kernels.o: tests/fakecuda/kernels.cpp $(FAKE_FLAGS)
	$(call say,CXX)
	$(Q)$(CXX) $(FAKE_CXX) -MMD -MP -c -o $@ $(filter %.cpp,$^)

$(FAKE) $(FAKE_OLD): $(FAKE_OBJ)
	$(call say,LINK)
	$(Q)$(CXX) -shared -pthread $(FAKE_LINK) $(LDFLAGS) -o $@ $(FAKE_OBJ) -lm -ldl
$(FAKE): FAKE_LINK = -Wl,-z,defs
$(FAKE_OLD): FAKE_LINK = -Wl,--version-script=tests/fakecuda/old.map
$(FAKE_OLD): tests/fakecuda/old.map

# ---- tests ----

#: make test             unit tests and transcripts, some seconds
test: $(PROGRAM) $(TESTS)
	$(Q)sh tests/run.sh --quick $(PROGRAM) $(BUILD)

#: make check            all tests, some minutes; SEED, JOBS and SECONDS are of the random jobs
check-programs: $(PROGRAM) $(TESTS) $(TOOLS) $(TORTURE) $(DOCUMENTS) $(if $(NVCC),$(FAKE) $(FAKE_OLD) $(GPU_CHECK)) \
	$(if $(MODE),,$(BENCHES) $(BENCH_GPU))
check: check-programs
	$(Q)sh tests/run.sh $(PROGRAM) $(BUILD) $(SEED) $(JOBS) $(SECONDS)

#: make torture          the long run of failing calls and signals, and valgrind; `make check` does the short one
torture: SECONDS = 300
torture: $(PROGRAM) $(TORTURE)
	$(BUILD)/torture $(PROGRAM) $(BUILD)/torture_preload.so
	$(BUILD)/torture $(PROGRAM) $(BUILD)/torture_preload.so $(SEED) $(SECONDS)
	sh tests/valgrind.sh $(PROGRAM)

#: make fuzz             every harness for FUZZ_SECONDS (60), by clang
# Each tests/fuzz/fuzz_X.c is a harness of clang's libFuzzer; run.sh gives each so many seconds.
FUZZ_CC      = clang
FUZZ_SECONDS ?= 60
fuzz:
	$(MAKE) FUZZ=1 CC=$(FUZZ_CC) fuzzers
	sh tests/fuzz/run.sh build/fuzz $(FUZZ_SECONDS) $(SEED)

fuzzers: $(FUZZERS)

# Only what is compiled, for a compiler that is asked for its warnings alone.
compiled: $(OBJ) $(TEST_SRC:%.c=$(OBJ_DIR)/%.o)

#: make coverage         which lines `make test` runs, by file and folder; TIER=check: which `make check` runs (gcc)
TIER    = test
coverage:
	$(MAKE) COVERAGE=1 coverage-programs
	find build/coverage -name '*.gcda' -exec rm {} +
	$(MAKE) COVERAGE=1 $(TIER)
	sh tests/coverage.sh build/coverage

coverage-programs: $(if $(filter check,$(TIER)),check-programs,$(PROGRAM) $(TESTS))

#: make check-gpu        on a machine with a GPU: every kernel against the CPU engine, then whole runs
GPU_JOBS = 200
check-gpu: $(PROGRAM) $(GPU_CHECK) $(TOOLS)
	$(BUILD)/gpu_check $(SEED) $(GPU_JOBS)
	$(BUILD)/unpack_check $(SEED) 400 8000
	$(BUILD)/random_jobs $(PROGRAM) $(BUILD)/oracle $(SEED) 100 40 -- --device=gpu

# ---- measuring ----

#: make demo             the bytes of /bin/sh as a picture, and the rate of a count: 256 MiB as a 10-bit converter makes them
demo: $(PROGRAM) $(BUILD)/sample
	./$(PROGRAM) -t u8 -f plot /bin/sh
	$(BUILD)/sample 256 > $(BUILD)/sample.u32
	./$(PROGRAM) -v -b 1024 -o $(BUILD)/sample.csv $(BUILD)/sample.u32

#: make bench            whole runs beside their ceilings and peers; a few minutes
GIB     = 1
RUNS    = 5
bench: $(PROGRAM) $(BUILD)/bench
	$(BUILD)/bench $(PROGRAM) $(GIB) $(RUNS)

#: make bench-loops      one worker on every type, samples that repeat and noise, beside reading and OTHER=PROGRAM
OTHER   =
bench-loops: GIB = 0.25
bench-loops: RUNS = 9
bench-loops: $(PROGRAM) $(BUILD)/bench
	$(BUILD)/bench $(PROGRAM) $(GIB) $(RUNS) loops $(OTHER)

#: make bench-gpu        on a machine with a GPU: the kernels alone, then the engines side by side
bench-gpu: GIB = 8
bench-gpu: RUNS = 2
bench-gpu: $(PROGRAM) $(BUILD)/bench $(BENCH_GPU)
	$(BUILD)/bench_kernels
	$(BUILD)/bench $(PROGRAM) $(GIB) $(RUNS) gpu

# ---- the rest ----

#: make install          takes PREFIX (/usr/local), DESTDIR, BINDIR, DATADIR, MANDIR, DOCDIR, ZSHDIR; make uninstall
# FILE:WHERE of all that is installed beside the program; of these only what the tree has.
INSTALLED = man/gpuhist.1:$(MANDIR)/man1/gpuhist.1 \
	completions/gpuhist.bash:$(DATADIR)/bash-completion/completions/gpuhist \
	completions/_gpuhist:$(ZSHDIR)/_gpuhist \
	completions/gpuhist.fish:$(DATADIR)/fish/vendor_completions.d/gpuhist.fish \
	README.md:$(DOCDIR)/README.md \
	LICENSE:$(DOCDIR)/LICENSE \
	examples/tour.md:$(DOCDIR)/examples/tour.md \
	docs/bells.svg:$(DOCDIR)/docs/bells.svg \
	docs/router.svg:$(DOCDIR)/docs/router.svg \
	$(foreach f,$(sort $(wildcard examples/cluster/*.*)),$(f):$(DOCDIR)/$(f))
# What README says of other files of the sources is no link in its copy.
UNLINKED  = \(bench\|src\|tests\|[A-Z]*\.md\)
from = $(firstword $(subst :, ,$(1)))
to   = "$(DESTDIR)$(lastword $(subst :, ,$(1)))"
define copy
	install -D -m 644 $(from) $(to)

endef

install: $(PROGRAM)
	install -D -m 755 $(PROGRAM) "$(DESTDIR)$(BINDIR)/gpuhist"
	$(foreach f,$(INSTALLED),$(if $(wildcard $(call from,$(f))),$(call copy,$(f))))
	sed -i 's,\[\([^]]*\)\]($(UNLINKED)[^)]*),\1,g' "$(DESTDIR)$(DOCDIR)/README.md"

# Folders that other programs share stay; those of the documents go if nothing else is in them.
uninstall:
	rm -f "$(DESTDIR)$(BINDIR)/gpuhist" $(foreach f,$(INSTALLED),$(call to,$(f)))
	for folder in /examples/cluster /examples /docs ''; do \
		rmdir "$(DESTDIR)$(DOCDIR)$$folder" 2>/dev/null || :; done

#: make dist             build/gpuhist-VERSION.tar.gz: what is committed, or all of a tree that has no .git
DIST = gpuhist-$(VERSION)
dist:
	$(Q)sh packaging/dist.sh $(DIST) build

#: make dist-bin         build/gpuhist-VERSION-linux-MACHINE.tar.gz: what is installed, for other computers
dist-bin:
	+$(Q)sh packaging/binary.sh $(DIST) build tarball

#: make wheel            the same for pip, in build
wheel:
	+$(Q)sh packaging/binary.sh $(DIST) build wheel

#: make deb              a Debian package of this tree, in build; DEB_BUILD_OPTIONS=nocheck without the tests
deb:
	$(Q)sh packaging/deb.sh $(DIST) build $(if $(NVCC),pkg.gpuhist.nvcc)

#: make release          all that a release page holds, each tried, in build/release; FORMS='source deb' makes these alone
FORMS   = source tarball wheel static deb aarch64-tarball aarch64-wheel
release:
	+$(Q)sh packaging/release.sh $(DIST) build/release $(FORMS)

#: make cross ARCH=aarch64    built by Debian's cross compiler, tested under qemu-user
ARCH =
cross:
	$(Q)sh tests/cross.sh $(ARCH)

#: make clean            removes all that was built
clean:
	rm -rf build gpuhist

help:
	@sed -n 's/^#: //p' Makefile

-include $(wildcard $(addsuffix /*.d,$(sort $(dir $(OBJ))) \
	$(addprefix $(OBJ_DIR)/,tests tests/fuzz tests/jobs tests/oracle tests/torture bench) build/fake))

.PHONY: all bench bench-gpu bench-loops check check-gpu check-programs clean compiled coverage coverage-programs \
	cross deb demo dist dist-bin FORCE fuzz fuzzers help install release test torture uninstall wheel
