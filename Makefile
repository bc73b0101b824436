# SPDX-License-Identifier: MIT
# gpuhist: `make` builds ./gpuhist with any C11 compiler and no configure step; `make help` lists the rest.
# CC, CFLAGS, CPPFLAGS, LDFLAGS, LDLIBS, CXX, CXXFLAGS, NVCC, NVCCFLAGS, DESTDIR, PREFIX and the directories below it belong
# to the user, on the command line or in the environment. The build keeps the flags that it needs in other variables.

VERSION = 0.5.0

# make's own defaults for these two are not the user's choice.
CC     := $(if $(filter default,$(origin CC)),cc,$(CC))
CXX    := $(if $(filter default,$(origin CXX)),g++,$(CXX))
BUILD   = build
PROGRAM = $(if $(MODE),$(BUILD)/)gpuhist

# Short lines while building; V=1 shows the commands, make -s shows neither.
Q       = $(if $(filter 1,$(V)),,@)
say     = $(if $(filter 1,$(V))$(findstring s,$(firstword -$(MAKEFLAGS))),,@printf '  %-4s %s%s\n' $(1) $@ '$(2)')

#: make                  builds ./gpuhist
#: make SAN=address,undefined check   instrumented, checks owners of locks too, in its own directory; also SAN=thread
#: make DEBUG=1          for a debugger: barely optimised, asserts on, checks owners of locks, in build/debug
#: make V=1              shows the commands; GPU_ARCHS=native (or 90) makes kernels only for this machine's GPUs, NVCC= none
# Each mode has its own directory. MODE holds its flags, which remain if the user sets CFLAGS.
comma   = ,
ifdef SAN
BUILD   = build/san-$(firstword $(subst $(comma), ,$(SAN)))
CFLAGS ?= -O1 -g1
MODE    = -fsanitize=$(SAN)$(if $(findstring undefined,$(SAN)),$(comma)float-cast-overflow) -fno-sanitize-recover=all -fno-omit-frame-pointer $(if $(findstring thread,$(SAN)),,-DLOCKS_CHECKED)
TORTURE_CPPFLAGS = -DTORTURE_NO_ALLOCATOR
else ifdef FUZZ
# For `make fuzz`, with clang: no kernels, no hardening.
BUILD   = build/fuzz
CFLAGS ?= -O1 -g1
MODE    = -DSMALL_JOBS -fsanitize=fuzzer-no-link,address,undefined,float-cast-overflow -fno-sanitize-recover=all -fno-omit-frame-pointer
override NVCC =
else ifdef SCHED
# Threads under the tests' scheduler (tests/sched/schedule.h), without kernels.
BUILD   = build/sched
CFLAGS  = -O1 -g
MODE    = -include tests/sched/points.h -DSMALL_JOBS -DSTREAM_PIECE=8192 -DBLOCK_BYTES=8192 -DTEXT_PIECE_FROM='"GPUHIST_TEXT_PIECE"'
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
CFLAGS   ?= -O2 -g
CXXFLAGS ?= -O2 -g
all: $(PROGRAM)

# Warnings and hardening come first, so that CFLAGS and LDFLAGS can undo them. _FORTIFY_SOURCE needs -O.
WARN    = -Wall -Wextra -Wpedantic -Wshadow -Wconversion
FORTIFY = $(if $(findstring _FORTIFY_SOURCE,$(CPPFLAGS) $(CFLAGS)),,\
	  $(if $(filter-out -O0,$(lastword $(filter -O%,$(CFLAGS)))),-U_FORTIFY_SOURCE -D_FORTIFY_SOURCE=2))
HARDEN ?= -fPIE $(if $(MODE),,-fstack-protector-strong $(FORTIFY))
LINK    = -pie -Wl,-z,relro,-z,now
ALL_CPPFLAGS = -D_GNU_SOURCE -DGPUHIST_VERSION='"$(VERSION)"' $(if $(SCHED),-Itests/sched -Itests) -Isrc $(if $(X86),-DHAVE_X86_LOOPS) $(CPPFLAGS)
ALL_CFLAGS   = -std=c11 $(WARN) $(HARDEN) -ffp-contract=off -pthread $(CFLAGS) $(MODE)
ALL_LDFLAGS  = $(LINK) -pthread $(CFLAGS) $(MODE) $(LDFLAGS)
ALL_LDLIBS   = $(LDLIBS) $(ZSTD) -lm -ldl
# ZSTD=-l:libzstd.a links the library statically.
ZSTD    = -lzstd
# Tools of the tests and benchmarks are not under test themselves: they are fast in instrumented builds, too.
TOOL_FLAGS   = -std=c11 -D_GNU_SOURCE $(WARN) -O2 -g -pthread $(CPPFLAGS)

# ---- flags are a dependency ----
# $(eval $(call stamp,FILE,VARIABLE,AFTER,COMMAND)): FILE holds the variable's text, and everything built with the variable
# depends on FILE. FILE is written only if the text has changed and COMMAND succeeds. So a second make does nothing.
quoted  = '$(subst ','\'',$(strip $(1)))'
was     = $(strip $(file <$(1)))
differs = $(if $(and $(findstring $(strip $(2)),$(was)),$(findstring $(was),$(strip $(2)))),,FORCE)
version = $(shell $(1) --version 2>/dev/null | tr -d '"\\' | sed -n $(2))
define stamp
$(1): $$(call differs,$(1),$$($(2))) | $(3)
	@mkdir -p $$(@D)$(4)
	@printf '%s\n' $$(call quoted,$$($(2))) >$$@
endef
FORCE:
FLAGS = $(BUILD)/flags
include kernels/kernels.mk

# The loops that count, add to statistics and decode zstd are compiled for each instruction set; a run chooses one.
X86  := $(filter x86_64% amd64%,$(shell $(CC) -dumpmachine 2>/dev/null))
LOOPS = base $(if $(X86),avx2 avx512)
FLAGS_avx2   = -mavx2 -mbmi2 -mfma
FLAGS_avx512 = -mavx512f -mavx512dq -mavx512bw -mavx512vl -mbmi2 -mfma
# Short loops of wide instructions lose 5% if they cross a cache line; without this, the linker decides.
LOOPS_ALIGN  = -falign-functions=64 -falign-loops=64
# No floating-point trap is ever enabled. If the compiler has to allow for one, it computes floors one by one.
LOOPS_FLAGS  = $(if $(DEBUG)$(COVERAGE),,-O3) -fno-trapping-math $(LOOPS_ALIGN)
FLAGS_TEXT := $(call version,$(CC),1p) $(CC) $(ALL_CPPFLAGS) $(ALL_CFLAGS) $(ALL_LDFLAGS) $(ALL_LDLIBS) \
	      $(GPU_IMAGE) $(LOOPS_FLAGS) $(foreach l,$(LOOPS),$(FLAGS_$(l))) $(TOOL_FLAGS)
# Checked first: without zstd.h, every file would give the same error.
$(eval $(call stamp,$(FLAGS),FLAGS_TEXT,,; $$(CC) $$(ALL_CPPFLAGS) $$(CFLAGS) -E packaging/needs.c >/dev/null))

# -V prints these: the kind of package and the versions that it needs on other computers, which the packaging sets, and the
# commit of a development build.
COMMIT    := $(if $(filter %-dev,$(VERSION)),$(shell git --git-dir=.git rev-parse --short HEAD 2>/dev/null))
FORM_FLAGS = $(if $(COMMIT),-DCOMMIT='" ($(COMMIT))"') $(if $(FORM),-DFORM='"$(FORM)"') \
	$(if $(NEEDS),-DNEEDS='"needs: $(NEEDS)\n"')
NEEDS = $(if $(NEEDS_GLIBC),glibc $(NEEDS_GLIBC) or later$(if $(NEEDS_DRIVER),; ))$(if $(FORM),$(NEEDS_DRIVER))
FORM_TEXT := flags $(FORM_FLAGS)
$(eval $(call stamp,$(BUILD)/form,FORM_TEXT,$(FLAGS)))

# ---- one rule to compile, one to link ----
SOURCES   = $(wildcard src/*.c src/*/*.c)
LOOPS_SRC = $(filter %_loops.c,$(SOURCES))
OBJ_DIR   = $(BUILD)/obj
objects   = $(patsubst %.c,$(OBJ_DIR)/%.o,$(1))
LOOPS_OBJ = $(filter-out %/block_avx512.o %/text_avx512.o,$(foreach s,$(LOOPS_SRC:%_loops.c=%),$(LOOPS:%=$(OBJ_DIR)/$(s)_%.o)))
OBJ       = $(call objects,$(filter-out $(LOOPS_SRC),$(SOURCES))) $(LOOPS_OBJ)
LIB_OBJ   = $(filter-out $(OBJ_DIR)/src/main.o,$(OBJ))
# OWN holds the additional flags of one file.
COMPILE = $(ALL_CPPFLAGS) $(ALL_CFLAGS) $(OWN)
define compile
	@mkdir -p $(@D)
	$(call say,CC)
	$(Q)$(CC) $(COMPILE) -MMD -MP -c -o $@ $<
endef
$(OBJ_DIR)/%.o: %.c $(FLAGS)
	$(compile)
define loops
$(OBJ_DIR)/%_$(1).o: %_loops.c $(FLAGS)
	$$(compile)
$(OBJ_DIR)/%_$(1).o: OWN = $(LOOPS_FLAGS) $(FLAGS_$(1)) -DISA=$(1)
endef
$(foreach l,$(LOOPS),$(eval $(call loops,$(l))))
# Incrementing a counter took 1.5 times as long if the loop happened to cross a cache line.
$(addprefix $(OBJ_DIR)/src/count/,count_bins.o count_small.o count_keys.o): OWN = $(LOOPS_ALIGN)
$(OBJ_DIR)/src/gpu_helper/gpu_image.o: OWN = $(GPU_IMAGE) $(GPU_FACTS)
$(OBJ_DIR)/src/gpu_helper/gpu_image.o: $(KERNELS)
$(OBJ_DIR)/src/cli/help.o: OWN = $(FORM_FLAGS)
$(OBJ_DIR)/src/cli/help.o: $(BUILD)/form
# The oracle, its driver and the torture share nothing with src.
$(OBJ_DIR)/tests/oracle/%.o $(OBJ_DIR)/tests/jobs/%.o $(OBJ_DIR)/tests/torture/%.o: COMPILE = $(TOOL_FLAGS) $(OWN)
$(OBJ_DIR)/tests/sched/schedule.o $(OBJ_DIR)/tests/well_formed.o: COMPILE = $(TOOL_FLAGS)
$(OBJ_DIR)/tests/torture/preload.o: OWN = $(TORTURE_CPPFLAGS) -fPIC
$(OBJ_DIR)/bench/bench.o $(OBJ_DIR)/bench/sample.o: COMPILE = $(TOOL_FLAGS) -O3

# Each tests/test_X.c, fuzzer, kernel check and kernel benchmark is a program of its own, linked with everything but main.
# The thread sanitizer needs only those with several threads.
THREADS   = 'pthread|source_open|run_job|watch_start|snapshot'
TEST_SRC := $(if $(findstring thread,$(SAN)),$(shell grep -lE $(THREADS) tests/test_*.c),$(wildcard tests/test_*.c))
TESTS     = $(patsubst tests/%.c,$(BUILD)/%,$(TEST_SRC))
FUZZERS   = $(patsubst tests/fuzz/%.c,$(BUILD)/%,$(wildcard tests/fuzz/fuzz_*.c))
GPU_CHECK = $(BUILD)/gpu_check $(BUILD)/unpack_check
CHECKS    = $(GPU_CHECK) $(BUILD)/uhi_documents
BENCH_GPU = $(BUILD)/bench_kernels $(BUILD)/overlap
WELL_FORMED = $(BUILD)/well_formed
TOOLS     = $(BUILD)/oracle $(BUILD)/random_jobs $(WELL_FORMED)
BLOCKS    = $(BUILD)/gpuhist_blocks
SOURCE_JOBS = $(BUILD)/source_jobs
TORTURE   = $(BUILD)/torture $(BUILD)/torture_preload.so
BENCHES   = $(BUILD)/bench $(BUILD)/sample
LINKED = $(CC) $(ALL_LDFLAGS)
$(PROGRAM) $(BLOCKS) $(TESTS) $(SOURCE_JOBS) $(BUILD)/schedules $(FUZZERS) $(CHECKS) $(BENCH_GPU) $(TOOLS) $(TORTURE) $(BENCHES):
	$(call say,LINK)
	$(Q)$(LINKED) -o $@ $(filter %.o,$^) $(ALL_LDLIBS)
$(TOOLS) $(TORTURE) $(BENCHES): LINKED = $(CC) -pthread $(LDFLAGS)
$(BUILD)/torture_preload.so: LINKED += -shared
# packaging/oss-fuzz links another engine, with a C++ compiler.
FUZZ_LINK   = $(CC)
FUZZ_ENGINE = -fsanitize=fuzzer
$(FUZZERS): LINKED = $(FUZZ_LINK) $(ALL_LDFLAGS) $(FUZZ_ENGINE)
$(PROGRAM): $(OBJ)
$(TESTS) $(BUILD)/uhi_documents: $(BUILD)/%: $(OBJ_DIR)/tests/%.o $(LIB_OBJ)
# On a slow or busy machine a simulated device may take a minute for a chunk.
$(OBJ_DIR)/tests/gpu_link.o: src/gpu/gpu_link.c $(FLAGS)
	$(compile)
$(OBJ_DIR)/tests/gpu_link.o: OWN = -DANSWER_LOOKS=600u
$(GPU_CHECK): $(BUILD)/%: $(OBJ_DIR)/tests/%.o $(OBJ_DIR)/tests/gpu_link.o $(filter-out %/gpu_link.o,$(LIB_OBJ))
$(SOURCE_JOBS): $(call objects,$(wildcard tests/source/*.c) $(if $(SCHED),tests/sched/schedule.c)) $(LIB_OBJ)
$(BUILD)/schedules: $(call objects,$(wildcard tests/sched/*.c)) $(LIB_OBJ)
$(FUZZERS): $(BUILD)/%: $(OBJ_DIR)/tests/fuzz/%.o $(LIB_OBJ)
$(BUILD)/fuzz_source: $(call objects,$(filter-out %/source_jobs.c,$(wildcard tests/source/*.c)))
$(BUILD)/bench_kernels: $(OBJ_DIR)/bench/kernels.o $(LIB_OBJ)
build/bench_cub: $(OBJ_DIR)/bench/kernels.o $(LIB_OBJ)
$(BUILD)/overlap: $(OBJ_DIR)/bench/overlap.o $(LIB_OBJ)
$(BENCHES): $(BUILD)/%: $(OBJ_DIR)/bench/%.o
# The program, with the size of a block of text set by an environment variable.
$(OBJ_DIR)/tests/source_text.o: src/input/source_text.c $(FLAGS)
	$(compile)
$(OBJ_DIR)/tests/source_text.o: OWN = -DTEXT_PIECE_FROM='"GPUHIST_TEXT_PIECE"'
$(BUILD)/gpuhist_blocks: $(filter-out %/source_text.o,$(OBJ)) $(OBJ_DIR)/tests/source_text.o
$(BUILD)/oracle: $(call objects,$(wildcard tests/oracle/*.c))
$(BUILD)/random_jobs: $(call objects,$(wildcard tests/jobs/*.c))
$(WELL_FORMED): $(OBJ_DIR)/tests/well_formed.o
# The test's plain C versions of the instructions replace the compiler's headers.
$(OBJ_DIR)/tests/test_positional.o: OWN = -Itests/soft
# A library between the program and libc that makes calls fail, and the program that plans the failures.
$(BUILD)/torture: $(call objects,$(filter-out %/preload.c,$(wildcard tests/torture/*.c)))
$(BUILD)/torture_preload.so: $(OBJ_DIR)/tests/torture/preload.o

include tests/fakecuda/fakecuda.mk

# ---- tests; SEED, JOBS and SECONDS are for the random jobs ----
SEED     ?= 1
JOBS      = 2500
SECONDS   = 20
#: make test             unit tests and transcripts, without the slow ones
test: $(PROGRAM) $(TESTS) $(WELL_FORMED)
	$(Q)sh tests/run.sh --quick $(PROGRAM) $(BUILD)

#: make check            all tests, two minutes; SEED, JOBS and SECONDS are for the random jobs
check-programs: $(PROGRAM) $(BLOCKS) $(TESTS) $(SOURCE_JOBS) $(TOOLS) $(TORTURE) $(BUILD)/uhi_documents $(if $(NVCC),$(FAKE) $(FAKE_OLD) $(GPU_CHECK)) \
	$(if $(MODE),,$(BENCHES) $(BENCH_GPU))
check: check-programs $(if $(MODE),,schedules)
	$(Q)sh tests/run.sh $(PROGRAM) $(BUILD) $(SEED) $(JOBS) $(SECONDS)

schedules:
	$(Q)$(MAKE) SCHED=1 build/sched/schedules build/sched/source_jobs

#: make torture          the long run of failing calls and signals, and valgrind; `make check` does the short one
torture: SECONDS = 300
torture: $(PROGRAM) $(TORTURE)
	$(BUILD)/torture $(PROGRAM) $(BUILD)/torture_preload.so
	$(BUILD)/torture $(PROGRAM) $(BUILD)/torture_preload.so $(SEED) $(SECONDS)
	sh tests/valgrind.sh $(PROGRAM)

#: make fuzz             every fuzzer for FUZZ_SECONDS (60), by clang
FUZZ_CC      = clang
FUZZ_SECONDS ?= 60
fuzz:
	$(MAKE) FUZZ=1 CC=$(FUZZ_CC) fuzzers
	sh tests/fuzz/run.sh build/fuzz $(FUZZ_SECONDS) $(SEED)
fuzzers: $(FUZZERS)

# Compile only, for the warnings of another compiler.
compiled: $(OBJ) $(TEST_SRC:%.c=$(OBJ_DIR)/%.o)

#: make coverage         lines that `make test` runs, by file and directory; TIER=check: that `make check` runs (gcc)
TIER    = test
coverage:
	$(MAKE) COVERAGE=1 coverage-programs
	find build/coverage -name '*.gcda' -exec rm {} +
	$(MAKE) COVERAGE=1 $(TIER)
	sh tests/coverage.sh build/coverage
coverage-programs: $(if $(filter check,$(TIER)),check-programs,$(PROGRAM) $(TESTS) $(WELL_FORMED))

#: make check-gpu        on a machine with a GPU: every kernel against the CPU engine, then whole runs
GPU_JOBS = 200
check-gpu: $(PROGRAM) $(GPU_CHECK) $(TOOLS) build/stream
	$(BUILD)/gpu_check $(SEED) $(GPU_JOBS)
	$(BUILD)/unpack_check $(SEED) 400 8000
	$(BUILD)/random_jobs $(PROGRAM) $(BUILD)/oracle $(SEED) 100 40 -- --device=gpu
	sh tests/stream.sh $(PROGRAM) build/stream

# ---- measuring ----
#: make demo             a picture of the bytes of /bin/sh, and the rate for 256 MiB of samples like a 10-bit ADC's
demo: $(PROGRAM) $(BUILD)/sample
	./$(PROGRAM) -t u8 -f plot /bin/sh
	$(BUILD)/sample 256 > $(BUILD)/sample.u32
	./$(PROGRAM) -v -b 1024 -o $(BUILD)/sample.csv $(BUILD)/sample.u32

#: make pictures         every kind of picture on one page for the eye, build/pictures/index.html
pictures: $(PROGRAM)
	sh tests/pictures.sh $(PROGRAM) $(BUILD)/pictures

#: make bench            whole runs compared with ceilings and other programs; a few minutes
#: make bench-loops      one worker on every type, repeated samples and noise, compared with reading and OTHER=PROGRAM
#: make bench-readme     the table of README.md; needs Python with NumPy, and other programs as far as they are installed
#: make bench-sweep      every type, channels, bins, rows, keys and threads, for what is slower than a third of its neighbour
#: make bench-gpu        on a machine with a GPU: the kernels alone, then the engines side by side
GIB     = 1
RUNS    = 5
OTHER   =
bench-loops: GIB = 0.25
bench-loops: RUNS = 9
bench-gpu: GIB = 8
bench-gpu: RUNS = 2
bench-readme: RUNS = 9
bench bench-loops bench-readme: $(PROGRAM) $(BUILD)/bench
bench bench-loops:
	$(BUILD)/bench $(PROGRAM) $(GIB) $(RUNS) $(patsubst bench%,%,$(@:bench-%=%)) $(OTHER)
bench-readme:
	"$${PYTHON:-python3}" bench/readme.py $(PROGRAM) $(BUILD)/bench $(GIB) $(RUNS)
bench-sweep: GIB = 0.5
bench-sweep: $(PROGRAM)
	"$${PYTHON:-python3}" bench/sweep.py $(PROGRAM) $(GIB)
#: make bench-kernels    on a machine with a GPU: the kernels alone, and CUB's DeviceHistogram, if the toolkit has it
bench-kernels: $(if $(CUB),build/bench_cub,$(BUILD)/bench_kernels)
	$<
#: make bench-overlap    on a machine with a GPU: when copies and kernels ran, as a picture (docs/overlap.svg)
bench-overlap: $(BUILD)/overlap
	$(BUILD)/overlap docs/overlap.svg
bench-gpu: $(PROGRAM) $(BUILD)/bench $(BENCH_GPU)
	$(BUILD)/bench_kernels
	$(BUILD)/bench $(PROGRAM) $(GIB) $(RUNS) gpu

include packaging/packaging.mk
#: make clean            removes everything that was built
clean:
	rm -rf build gpuhist
help:
	@sed -n 's/^#: //p' Makefile packaging/packaging.mk

-include $(wildcard $(addsuffix /*.d,$(sort $(dir $(OBJ))) $(addprefix $(OBJ_DIR)/,tests tests/* bench) build/fake))

.PHONY: all schedules bench bench-gpu bench-kernels bench-loops bench-overlap bench-readme bench-sweep check check-gpu check-programs clean compiled coverage coverage-programs demo FORCE \
	fuzz fuzzers help pictures test torture
