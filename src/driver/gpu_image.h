/* SPDX-License-Identifier: MIT */
/* gpu_image: the kernels that are in this program. */
#ifndef GPUHIST_GPU_IMAGE_H
#define GPUHIST_GPU_IMAGE_H

/* The embedded fatbin; NULL in a program that was built without nvcc. */
extern const void *const kernel_image;
/* For -V: the devices that it is for, or that there is none. */
extern const char kernel_facts[];

#endif
