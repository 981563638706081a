/* Compiles the LLVM dialect to machine code, and loads machine code into this process.
 *
 * A compiled program is a position-independent object for this machine that needs only libtprt and
 * libm. For each public function NAME of the source it exports the function NAME, a tp_entry, and
 * the constant table NAME.tprt (tprt/abi.h). If generated code may refer to another function called
 * NAME (a function of libm or of the C library such as sin or memcpy, or a name of the compiler or
 * the runtime), the exported function is called tp.entry.NAME instead; tp_program_find knows this.
 *
 * Thread rule: compiling uses the module's context, so one thread at a time per context. A loaded
 * program may be called by any number of threads at once, each with a runtime context of its
 * own. */
#ifndef TP_COMPILE_H
#define TP_COMPILE_H

#include "tp/status.h"

#include <mlir-c/IR.h>
#include <stddef.h>
#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

typedef struct tp_compile_options {
  size_t size; /* sizeof(tp_compile_options), set by the caller; zeroed fields mean defaults */
  /* 1 (quick to compile, slow to run) to 3; 0: that of the environment variable TP_OPT_LEVEL, else
   * 2 */
  int opt_level;
  /* 1: code for any machine of this architecture; 0: code for exactly this machine */
  int generic;
} tp_compile_options;

typedef enum tp_emit {
  TP_EMIT_OBJECT, /* "obj": a relocatable object file */
  TP_EMIT_LLVM,   /* "llvm": optimized LLVM IR as text */
  /* "ptx": the kernels of a GPU program as NVIDIA PTX text, as tp-embed-kernels created them */
  TP_EMIT_PTX,
} tp_emit;

/* Bytes owned by the caller, freed by tp_bytes_clear. */
typedef struct tp_bytes {
  void *data;
  size_t size;
} tp_bytes;
TP_API void tp_bytes_clear(tp_bytes *bytes);

/* Compiles a module in the LLVM dialect, the output of the pipeline tp-to-runtime. Only reads the
 * module. Errors are diagnostics on its context. `options` may be NULL. */
TP_API tp_status tp_compile(MlirModule module, const tp_compile_options *options, tp_emit emit,
                            tp_bytes *bytes);

/* The entry point of a compiled function. `context` is a tprt_context. `inputs` and `outputs` have
 * one pointer per argument and result of the source function. Each points to dense row-major data
 * with the natural alignment of its elements (scalars too; i1 is a byte). Inputs are only read, and
 * no output overlaps another buffer. Returns a tprt_status. */
typedef int32_t (*tp_entry)(void *context, void *const *inputs, void *const *outputs);

typedef struct tp_program tp_program;

/* Loads an object into this process. Undefined symbols (those of the runtime) are resolved in the
 * process, which must be linked with libtprt: TP_NOT_FOUND if it is not. On failure `why` (may be
 * NULL, else why_size bytes) receives a message. The object's bytes are copied. */
TP_API tp_status tp_program_load(const void *object, size_t size, char *why, size_t why_size,
                                 tp_program **program);
/* Returns the entry point of function `name` and its table. TP_NOT_FOUND if the program has no such
 * function. Both live as long as the program. */
TP_API tp_status tp_program_find(tp_program *program, const char *name, tp_entry *entry,
                                 const int64_t **table);
/* Returns 1 if a function of this name is exported as tp.entry.NAME, else 0. */
TP_API int tp_is_reserved_symbol(const char *name);
TP_API void tp_program_unload(tp_program *program);

#ifdef __cplusplus
}
#endif
#endif
