# SPDX-License-Identifier: MIT
# The kernels: machine code for one architecture of each family that this nvcc knows, and PTX for the oldest, which the driver
# compiles for any other device. Each is a separate file, so that -j builds them in parallel, in one directory for all builds.
# GPU_ARCHS=native builds them for this machine's GPUs; NVCC= leaves the GPU out.

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
KERNELS    = build/kernels.fatbin
CUBINS     = $(GPU_ARCHS:%=build/kernels/sm_%.cubin)
PTX        = build/kernels/compute_$(GPU_PTX).ptx
# nvcc lists architectures from old to new, without names such as 90a.
GPU_PTX    = $(firstword $(filter $(GPU_ARCHS),$(NVCC_KNOWS)) $(GPU_ARCHS))
# fatbinary is next to nvcc, which may be a link or a name in PATH.
FATBINARY := $(shell PATH="$$PATH:$$(dirname "$$(readlink -f "$$(command -v $(lastword $(NVCC)))")")"; command -v fatbinary)
# What -V reports about the kernels.
TOOLKIT   := $(shell $(NVCC) --version | sed -n 's/.*release \([0-9.]*\).*/\1/p')
GPU_FACTS  = -DGPU_FACTS='" for $(addprefix sm_,$(GPU_ARCHS)), and PTX of $(GPU_PTX) for others (CUDA $(TOOLKIT))"'
NEEDS_DRIVER = for a GPU a driver of CUDA $(TOOLKIT) or later
GPU_IMAGE  = -DGPU_IMAGE='"$(KERNELS)"'
NVCCFLAGS ?= -O3
# With -MMD, nvcc names the headers: a list of ours could lack one, and an old kernel would then count wrong.
ALL_NVCCFLAGS = -std=c++17 -Isrc -MMD -MP $(NVCCFLAGS)
DEPS_OF = -MF $(basename $@).d -MT $@

KERNEL_FLAGS := $(call version,$(NVCC),'$$p') $(NVCC) $(ALL_NVCCFLAGS)
$(eval $(call stamp,build/kernels/flags,KERNEL_FLAGS,$(FLAGS)))
$(eval $(call stamp,build/kernels/archs,GPU_ARCHS,$(FLAGS)))

# Each takes 5 s of CPU time; if there are several, the first prints a note.
NVCC_NOTE = $(if $(filter $(firstword $(CUBINS)),$@),$(if $(word 2,$(CUBINS)), (one of $(words $(CUBINS)): 30 s of CPU time in all; GPU_ARCHS=native: this machine; NVCC=: none)))
$(CUBINS): build/kernels/sm_%.cubin: kernels/kernels.cu build/kernels/flags
	$(call say,NVCC,$(NVCC_NOTE))
	$(Q)$(NVCC) $(ALL_NVCCFLAGS) -gencode arch=compute_$*,code=sm_$* -cubin -o $@ $(DEPS_OF) $<

$(PTX): kernels/kernels.cu build/kernels/flags
	$(call say,NVCC)
	$(Q)$(NVCC) $(ALL_NVCCFLAGS) -gencode arch=compute_$(GPU_PTX),code=compute_$(GPU_PTX) -ptx -o $@ $(DEPS_OF) $<

$(KERNELS): $(CUBINS) $(PTX) build/kernels/archs
	$(call say,FAT)
	$(Q)$(or $(FATBINARY),fatbinary) -64 -compress-all --create=$@ $(foreach a,$(GPU_ARCHS),--image3=kind=elf,sm=$(a),file=build/kernels/sm_$(a).cubin) \
		--image3=kind=ptx,sm=$(GPU_PTX),file=$(PTX)

# Somebody else's program with one of the kernels: `make` compiles it, `make check-gpu` compares it with the program.
all: build/stream.o
check-programs: build/stream
build/stream.o: examples/stream.cu build/kernels/flags
	$(call say,NVCC)
	$(Q)$(NVCC) $(ALL_NVCCFLAGS) -Ikernels $(foreach a,$(GPU_ARCHS),-gencode arch=compute_$(a),code=sm_$(a)) $(DEPS_OF) -o $@ -c $<

build/stream: build/stream.o
	$(call say,LINK)
	$(Q)$(NVCC) -o $@ $<

# The benchmark of the kernels with CUB, which comes with most toolkits.
CUB := $(firstword $(wildcard $(addprefix $(dir $(FATBINARY))../include/,cub cccl/cub)))
build/cub.o: bench/cub.cu build/kernels/flags
	$(call say,NVCC)
	$(Q)$(NVCC) $(ALL_NVCCFLAGS) $(foreach a,$(GPU_ARCHS),-gencode arch=compute_$(a),code=sm_$(a)) $(DEPS_OF) -o $@ -c $<

build/bench_cub: build/cub.o
	$(call say,LINK)
	$(Q)$(NVCC) -o $@ $(filter %.o,$^) $(ALL_LDLIBS) -lpthread

-include $(wildcard build/kernels/*.d build/stream.d build/cub.d)

else ifeq ($(filter help clean uninstall dist dist-bin wheel deb release cross,$(MAKECMDGOALS))$(FUZZ),)
$(info no nvcc: the GPU engine is left out of this build)
endif
