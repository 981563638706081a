/* The compiled kernels, embedded in the library, as input of cuModuleLoadData. */
#ifndef TPRT_RUNTIME_CUDA_IMAGE_H
#define TPRT_RUNTIME_CUDA_IMAGE_H

/* PTX with a terminating zero byte, or a fat binary. */
extern const char tprt__fused_image[] __attribute__((visibility("hidden")));
/* PTX with a terminating zero byte. */
extern const char tprt__site_image[] __attribute__((visibility("hidden")));
extern const char tprt__attention_image[] __attribute__((visibility("hidden")));
extern const char tprt__gradient_image[] __attribute__((visibility("hidden")));
extern const char tprt__parts_image[] __attribute__((visibility("hidden")));
extern const char tprt__hopper_image[] __attribute__((visibility("hidden")));

#endif
