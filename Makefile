# gpuhist: `make` builds ./gpuhist with any C11 compiler and no configure step.
# Set CC, CFLAGS, CPPFLAGS, LDFLAGS, PREFIX, DESTDIR as usual.

VERSION = 0.1.0

CC      = cc
CFLAGS  = -O2 -g
PREFIX  = /usr/local
BUILD   = build
PROGRAM = gpuhist

# make SAN=address,undefined check: the same in a folder of its own, instrumented.
ifdef SAN
BUILD   = build/san-$(firstword $(subst $(comma), ,$(SAN)))
PROGRAM = $(BUILD)/gpuhist
CFLAGS  = -O1 -g -fsanitize=$(SAN) -fno-sanitize-recover=all -fno-omit-frame-pointer
HARDEN  = -fPIE
TORTURE_CPPFLAGS = -DTORTURE_NO_ALLOCATOR
endif
comma   = ,

# What `make fuzz` builds, by clang alone: no kernels, nothing to harden.
ifdef FUZZ
BUILD   = build/fuzz
PROGRAM = $(BUILD)/gpuhist
CFLAGS  = -O1 -g -fsanitize=fuzzer-no-link,address,undefined -fno-sanitize-recover=all -fno-omit-frame-pointer
HARDEN  = -fPIE
endif

# Warnings and hardening come first, so that CFLAGS and LDFLAGS can undo them.
WARN    = -Wall -Wextra -Wpedantic -Wshadow -Wconversion
HARDEN ?= -fPIE -fstack-protector-strong -D_FORTIFY_SOURCE=2
LINK    = -pie -Wl,-z,relro,-z,now
ALL_CPPFLAGS = -D_GNU_SOURCE -DGPUHIST_VERSION='"$(VERSION)"' -Isrc $(ISA_CPPFLAGS) $(CPPFLAGS)
ALL_CFLAGS   = -std=c11 $(WARN) $(HARDEN) -ffp-contract=off -pthread $(CFLAGS)
ALL_LDFLAGS  = $(LINK) -pthread $(CFLAGS) $(LDFLAGS)
LIBS    = -lzstd -lm -ldl

SRC  = cells count cuda edges fail gpu gpu_group gpu_image gpu_kernel gpu_lane hist main msg number options \
       output publish report run sample source source_file source_stream source_zstd \
       worker worker_cpu worker_gpu write write_json write_raw write_text xxh64 zstd_check zstd_decode \
       zstd_find zstd_frame zstd_give zstd_place
# The counting loops, once for each instruction set that is chosen at run time.
LOOPS = base $(X86_LOOPS)
FLAGS_base   =
FLAGS_avx2   = -mavx2 -mbmi2
FLAGS_avx512 = -mavx512f -mavx512dq -mavx512bw -mavx512vl -mbmi2

ifneq ($(filter x86_64% amd64%,$(shell $(CC) -dumpmachine)),)
X86_LOOPS    = avx2 avx512
ISA_CPPFLAGS = -DHAVE_X86_LOOPS
endif

OBJ     = $(SRC:%=$(BUILD)/%.o) $(LOOPS:%=$(BUILD)/cells_%.o)
LIB_OBJ = $(filter-out $(BUILD)/main.o,$(OBJ))

# The kernels: machine code from Turing to Blackwell and PTX for what comes later, as far as this
# nvcc can. GPU_ARCHS=90 makes one for a quick build; NVCC= leaves the GPU out.
ifndef FUZZ
NVCC      = $(shell command -v nvcc || ls /usr/local/cuda/bin/nvcc 2>/dev/null)
endif
GPU_ARCHS = $(if $(NVCC),$(filter $(patsubst compute_%,%,$(shell $(NVCC) --list-gpu-arch)),75 80 86 89 90 100 120))
GPU_PTX   = $(lastword $(GPU_ARCHS))
NVCCFLAGS = -O3 -std=c++17 --threads 0 --compress-mode=size $(foreach a,$(GPU_ARCHS),-gencode arch=compute_$(a),code=sm_$(a)) \
            -gencode arch=compute_$(GPU_PTX),code=compute_$(GPU_PTX)

KERNEL_TEXT = kernels/count.cu $(wildcard kernels/*.cuh) kernels/rule.h src/binning.h src/wide.h

# Each tests/test_X.c is a program of its own, linked with all rooms but main.
TESTS   = $(patsubst tests/%.c,$(BUILD)/%,$(wildcard tests/test_*.c))
TOOLS   = $(BUILD)/oracle $(BUILD)/random_jobs
# What `make check` asks of the random jobs.
SEED    = 1
JOBS    = 4000
SECONDS = 60

all: $(PROGRAM)

$(PROGRAM): $(OBJ)
	$(CC) $(ALL_LDFLAGS) -o $@ $(OBJ) $(LIBS)

$(BUILD)/%.o: src/%.c Makefile | $(BUILD)
	$(CC) $(ALL_CPPFLAGS) $(ALL_CFLAGS) -MMD -MP -c -o $@ $<

$(LOOPS:%=$(BUILD)/cells_%.o): $(BUILD)/cells_%.o: src/cells_loops.c Makefile | $(BUILD)
	$(CC) $(ALL_CPPFLAGS) $(ALL_CFLAGS) -O3 $(FLAGS_$*) -DISA=$* -MMD -MP -c -o $@ $<

$(BUILD)/test_%.o: tests/test_%.c Makefile | $(BUILD)
	$(CC) $(ALL_CPPFLAGS) $(ALL_CFLAGS) -MMD -MP -c -o $@ $<

$(TESTS): $(BUILD)/test_%: $(BUILD)/test_%.o $(LIB_OBJ)
	$(CC) $(ALL_LDFLAGS) -o $@ $< $(LIB_OBJ) $(LIBS)

# The oracle shares nothing with src, nor does its driver.
$(BUILD)/oracle: tests/oracle.c Makefile | $(BUILD)
	$(CC) -std=c11 -D_GNU_SOURCE -O2 -g $(WARN) -o $@ $< -lm

$(BUILD)/random_jobs: $(wildcard tests/jobs/*.[ch]) tests/pack.h Makefile | $(BUILD)
	$(CC) -std=c11 -D_GNU_SOURCE -O2 -g $(WARN) -o $@ $(filter %.c,$^) -lzstd -lm

$(BUILD):
	mkdir -p $@

# A simulated driver, found by its soname: the GPU engine's tests where there is no GPU. It runs
# the kernels' own text, compiled for the host, and is the same for every build: no sanitizer.
CXX       = g++
FAKE      = build/fake/libcuda.so.1
FAKE_OLD  = build/fake/old/libcuda.so.1
FAKE_OBJ  = $(patsubst %,build/fake/%.o,block driver faults memory stream kernels)
FAKE_WARN = -Wall -Wextra -Wshadow

build/fake/%.o: tests/fakecuda/%.c $(wildcard tests/fakecuda/*.h) src/cuda.h Makefile
	mkdir -p build/fake/old
	$(CC) -std=c11 -D_GNU_SOURCE -O2 -g $(WARN) -fPIC -pthread -c -o $@ $<

build/fake/kernels.o: tests/fakecuda/kernels.cpp $(wildcard tests/fakecuda/*.h) $(KERNEL_TEXT) Makefile
	mkdir -p build/fake/old
	$(CXX) -std=c++17 -D_GNU_SOURCE -O2 -g $(FAKE_WARN) -Wno-unknown-pragmas -ffp-contract=off \
		-fno-strict-aliasing -fno-extern-tls-init -fPIC -c -o $@ $<

$(FAKE): $(FAKE_OBJ)
	$(CXX) -shared -pthread -Wl,-z,defs -o $@ $(FAKE_OBJ) -lm -ldl

$(FAKE_OLD): $(FAKE_OBJ) tests/fakecuda/old.map
	$(CXX) -shared -pthread -Wl,--version-script=tests/fakecuda/old.map -o $@ $(FAKE_OBJ) -lm -ldl

# The world fails: a library that stands between the program and libc, and who gives it its plans.
TORTURE = $(BUILD)/torture $(BUILD)/torture_preload.so
$(BUILD)/torture: $(filter-out %/preload.c,$(wildcard tests/torture/*.[ch])) tests/pack.h Makefile | $(BUILD)
	$(CC) -std=c11 -D_GNU_SOURCE -O2 -g $(WARN) -o $@ $(filter %.c,$^) -lzstd

$(BUILD)/torture_preload.so: tests/torture/preload.c Makefile | $(BUILD)
	$(CC) -std=c11 -D_GNU_SOURCE -O2 -g $(WARN) $(TORTURE_CPPFLAGS) -fPIC -shared -pthread -o $@ $< -ldl

# The long run; `make check` does the short one.
torture: SECONDS = 300
torture: $(PROGRAM) $(TORTURE)
	$(BUILD)/torture $(PROGRAM) $(BUILD)/torture_preload.so
	$(BUILD)/torture $(PROGRAM) $(BUILD)/torture_preload.so $(SEED) $(SECONDS)
	sh tests/valgrind.sh $(PROGRAM)

check: $(PROGRAM) $(TESTS) $(TOOLS) $(TORTURE) $(if $(NVCC),$(FAKE) $(FAKE_OLD) $(BUILD)/gpu_check)
	sh tests/run.sh $(PROGRAM) $(BUILD) $(SEED) $(JOBS) $(SECONDS)

# Each tests/fuzz/fuzz_X.c is a harness of clang's libFuzzer; run.sh gives each so many seconds.
FUZZ_CC      = clang
FUZZ_SECONDS ?= 60
FUZZERS      = $(patsubst tests/fuzz/%.c,$(BUILD)/%,$(wildcard tests/fuzz/fuzz_*.c))

fuzz:
	$(MAKE) FUZZ=1 CC=$(FUZZ_CC) fuzzers
	sh tests/fuzz/run.sh build/fuzz $(FUZZ_SECONDS) $(SEED)

fuzzers: $(FUZZERS)

$(FUZZERS:=.o): $(BUILD)/fuzz_%.o: tests/fuzz/fuzz_%.c Makefile | $(BUILD)
	$(CC) $(ALL_CPPFLAGS) $(ALL_CFLAGS) -MMD -MP -c -o $@ $<

$(FUZZERS): $(BUILD)/fuzz_%: $(BUILD)/fuzz_%.o $(LIB_OBJ)
	$(CC) $(ALL_LDFLAGS) -fsanitize=fuzzer -o $@ $< $(LIB_OBJ) $(LIBS)

# 64 MiB of samples as a 10-bit converter makes them, and the main job on them.
demo: $(PROGRAM) $(BUILD)/sample
	$(BUILD)/sample 64 > $(BUILD)/sample.u32
	cat $(BUILD)/sample.u32 | ./$(PROGRAM) -b 1024 > $(BUILD)/sample.csv
	sed -n '1,4p; 511,515p' $(BUILD)/sample.csv

install: $(PROGRAM)
	install -d $(DESTDIR)$(PREFIX)/bin $(DESTDIR)$(PREFIX)/share/man/man1
	install $(PROGRAM) $(DESTDIR)$(PREFIX)/bin/gpuhist
	install -m 644 man/gpuhist.1 $(DESTDIR)$(PREFIX)/share/man/man1/gpuhist.1

uninstall:
	rm -f $(DESTDIR)$(PREFIX)/bin/gpuhist $(DESTDIR)$(PREFIX)/share/man/man1/gpuhist.1

# A table of whole runs beside their ceilings and peers; a few minutes.
GIB     = 1
RUNS    = 5
bench: $(PROGRAM) $(BUILD)/bench $(BUILD)/bench_zstd
	$(BUILD)/bench $(PROGRAM) $(GIB) $(RUNS)
	$(BUILD)/bench_zstd $(PROGRAM) 256 $(RUNS) 4

# The kernels alone, CUB beside them, then the engines side by side: on a machine with a GPU.
bench-gpu: GIB = 8
bench-gpu: RUNS = 2
bench-gpu: $(PROGRAM) $(BUILD)/bench $(BUILD)/sample $(BUILD)/bench_kernels $(BUILD)/bench_lanes $(BUILD)/bench_cub
	$(BUILD)/bench_kernels
	$(BUILD)/bench_cub
	$(BUILD)/sample 8192 > $(BUILD)/sample.u32
	$(BUILD)/bench_lanes $(BUILD)/sample.u32
	rm $(BUILD)/sample.u32
	$(BUILD)/bench $(PROGRAM) $(GIB) $(RUNS) gpu

$(BUILD)/bench_kernels.o $(BUILD)/bench_lanes.o: $(BUILD)/bench_%.o: bench/%.c Makefile | $(BUILD)
	$(CC) $(ALL_CPPFLAGS) $(ALL_CFLAGS) -MMD -MP -c -o $@ $<

$(BUILD)/bench_kernels $(BUILD)/bench_lanes: $(BUILD)/bench_%: $(BUILD)/bench_%.o $(LIB_OBJ)
	$(CC) $(ALL_LDFLAGS) -o $@ $< $(LIB_OBJ) $(LIBS)

$(BUILD)/bench_cub: bench/cub.cu | $(BUILD)
	$(NVCC) -O3 -std=c++17 -arch=native -o $@ $<

$(BUILD)/bench $(BUILD)/sample: $(BUILD)/%: bench/%.c bench/timing.h Makefile | $(BUILD)
	$(CC) -std=c11 -D_GNU_SOURCE -O3 -g $(WARN) -pthread -o $@ $<

$(BUILD)/bench_zstd: bench/zstd.c bench/timing.h Makefile | $(BUILD)
	$(CC) -std=c11 -D_GNU_SOURCE -O3 -g $(WARN) -pthread -o $@ $< -lzstd

# On a machine with a GPU: every kernel against the CPU engine, then whole runs.
GPU_JOBS = 200
check-gpu: $(PROGRAM) $(BUILD)/gpu_check $(TOOLS)
	$(BUILD)/gpu_check $(SEED) $(GPU_JOBS)
	$(BUILD)/random_jobs $(PROGRAM) $(BUILD)/oracle $(SEED) 100 40 -- --device=gpu

$(BUILD)/gpu_check.o: tests/gpu_check.c Makefile | $(BUILD)
	$(CC) $(ALL_CPPFLAGS) $(ALL_CFLAGS) -MMD -MP -c -o $@ $<

$(BUILD)/gpu_check: $(BUILD)/gpu_check.o $(LIB_OBJ)
	$(CC) $(ALL_LDFLAGS) -o $@ $< $(LIB_OBJ) $(LIBS)

clean:
	rm -rf build gpuhist

ifeq ($(NVCC),)
$(info no nvcc: the GPU engine is left out of this build)
else
# In one place for all builds: the sanitizers and clang do not touch it.
KERNELS   = build/kernels.fatbin
$(BUILD)/gpu_image.o: CPPFLAGS += -DGPU_IMAGE='"$(KERNELS)"'
$(BUILD)/gpu_image.o: $(KERNELS)
$(KERNELS): $(KERNEL_TEXT)
	mkdir -p build
	$(NVCC) $(NVCCFLAGS) -fatbin -o $@ kernels/count.cu
endif

-include $(OBJ:.o=.d) $(TESTS:=.d) $(FUZZERS:=.d)

.PHONY: all bench bench-gpu check check-gpu clean demo fuzz fuzzers install torture uninstall
