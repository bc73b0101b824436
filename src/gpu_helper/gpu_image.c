/* SPDX-License-Identifier: MIT */
/* gpu_image: embeds the compiled kernels in the program, if it is built with nvcc. */
#include "gpu_helper/gpu_image.h"

#include <stddef.h>

#ifdef GPU_IMAGE
/* The build sets this, for example to " for sm_75 sm_90, and PTX of 75 for others (CUDA 13.0)". */
#ifndef GPU_FACTS
#define GPU_FACTS ""
#endif
/* The assembler includes the file named by the build. A fatbin must be aligned to 8 bytes. */
__asm__(".section .rodata\n"
	".balign 64\n"
	"gpu_image_start:\n"
	".incbin \"" GPU_IMAGE
	"\"\n"
	".byte 0\n"
	".previous\n");
extern const unsigned char gpu_image_start[] __attribute__((visibility("hidden")));
const void *const kernel_image = gpu_image_start;
const char kernel_facts[] = "kernels" GPU_FACTS;
#else
const void *const kernel_image = NULL;
const char kernel_facts[] = "no kernels (built without nvcc)";
#endif
