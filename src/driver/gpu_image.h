/* SPDX-License-Identifier: MIT */
/* gpu_image: the kernels that are in this program. */
#ifndef GPUHIST_GPU_IMAGE_H
#define GPUHIST_GPU_IMAGE_H

/* The fatbin that was built in; NULL in a program that was built without nvcc. */
extern const void *const kernel_image;
/* Which devices it is for, or that there is none: for -V. */
extern const char kernel_facts[];

#endif
