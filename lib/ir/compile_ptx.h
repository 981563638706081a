/* Compiles kernels to PTX, the assembly language of NVIDIA GPUs, with LLVM alone. CUDA is not
 * required. */
#ifndef TP_IR_COMPILE_PTX_H
#define TP_IR_COMPILE_PTX_H

#include "tp/compile.h"

#ifdef __cplusplus
extern "C" {
#endif

/* Compiles a module of kernels in the LLVM dialect for GPUs of compute capability `chip` ("sm_80")
 * and later. The bytes end with a terminating zero, which is counted. Refuses kernels that call
 * functions outside of the module. Errors are diagnostics. */
tp_status tp__compile_ptx(MlirOperation module, const char *chip, tp_bytes *bytes);

#ifdef __cplusplus
}
#endif
#endif
