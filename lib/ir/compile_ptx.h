/* PTX, the assembly language of NVIDIA GPUs, by LLVM: no CUDA is needed. */
#ifndef TP_IR_COMPILE_PTX_H
#define TP_IR_COMPILE_PTX_H

#include "tp/compile.h"

#ifdef __cplusplus
extern "C" {
#endif

/* Compiles a module of kernels in the LLVM dialect for GPUs of compute capability `chip` ("sm_80")
 * and later; the bytes end in a zero, which counts. Refuses kernels that call functions that the
 * module does not have. Errors are diagnostics. */
tp_status tp__compile_ptx(MlirOperation module, const char *chip, tp_bytes *bytes);

#ifdef __cplusplus
}
#endif
#endif
