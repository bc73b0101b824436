/* SPDX-License-Identifier: MIT */
/* gpu_image: the kernels embedded in this program. */
#ifndef GPUHIST_GPU_IMAGE_H
#define GPUHIST_GPU_IMAGE_H

/* The fatbin; NULL in a program built without nvcc. */
extern const void *const kernel_image;
/* For -V: the devices that it supports, or that there are no kernels. */
extern const char kernel_facts[];

#endif
