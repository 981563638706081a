/* The compiled kernels, in the library: what cuModuleLoadData takes. */
#ifndef TPRT_RUNTIME_CUDA_IMAGE_H
#define TPRT_RUNTIME_CUDA_IMAGE_H

/* PTX, ended by a zero byte, or a fat binary. */
extern const char tprt__fused_image[] __attribute__((visibility("hidden")));
/* PTX, ended by a zero byte. */
extern const char tprt__site_image[] __attribute__((visibility("hidden")));

#endif
