/* What the parts of the driver that is none have of each other. */
#ifndef TPRT_TEST_CUDA_FAKE_DRIVER_H
#define TPRT_TEST_CUDA_FAKE_DRIVER_H

#include "cuda/fused/launch.h"
#include "device.h"
#include "fake_module.h"

/* Results of cuda.h that the tests see. */
#define FAKE_RESULTS(X)                                                                            \
  X(INVALID_VALUE, 1, "CUDA_ERROR_INVALID_VALUE")                                                  \
  X(OUT_OF_MEMORY, 2, "CUDA_ERROR_OUT_OF_MEMORY")                                                  \
  X(STUB_LIBRARY, 34, "CUDA_ERROR_STUB_LIBRARY")                                                   \
  X(INVALID_IMAGE, 200, "CUDA_ERROR_INVALID_IMAGE")                                                \
  X(INVALID_PTX, 218, "CUDA_ERROR_INVALID_PTX")                                                    \
  X(NOT_FOUND, 500, "CUDA_ERROR_NOT_FOUND")                                                        \
  X(ILLEGAL_ADDRESS, 700, "CUDA_ERROR_ILLEGAL_ADDRESS")                                            \
  X(MISALIGNED_ADDRESS, 716, "CUDA_ERROR_MISALIGNED_ADDRESS")                                      \
  X(LAUNCH_FAILED, 719, "CUDA_ERROR_LAUNCH_FAILED")                                                \
  X(TOO_LARGE, 720, "CUDA_ERROR_COOPERATIVE_LAUNCH_TOO_LARGE")                                     \
  X(UNJOINED, 904, "CUDA_ERROR_STREAM_CAPTURE_UNJOINED")                                           \
  X(ISOLATION, 905, "CUDA_ERROR_STREAM_CAPTURE_ISOLATION")
enum {
#define MEMBER(constant, number, name) FAKE_##constant = number,
  FAKE_RESULTS(MEMBER)
#undef MEMBER
};

#define EXPORT(member, symbol, parameters)                                                         \
  extern cuda_result fake_##member parameters __asm__(symbol) TPRT_API;
TPRT_CUDA_CALLS(EXPORT)
LAUNCH_CALLS(EXPORT)
/* those of its functions that the others have too are defined under their names */
DEVICE_CALLS(EXPORT)
#undef EXPORT

/* What FAKE_CUDA is for the calling thread alone, NULL for what the environment says; found with
 * dlsym as fake_set_mode. */
typedef void fake_set_mode_fn(const char *mode);

/* Whether FAKE_CUDA is `mode`; a failure then. */
bool fake_mode_is(const char *mode);
cuda_result fake_fails_at(const char *mode);

/* Copies to the host that a thread asks for between its first and its last launch: their number
 * stands in the file FAKE_COPIES in the end. */
void fake_note_copy(void);
void fake_note_launch(void);

/* fake_memory.c: the allocation around an address, for the PTX machine. */
bool fake_find_memory(void *user, uint64_t address, uint64_t *begin, uint64_t *end);
/* What allocations are known: another one; one less, false if nothing begins there; the file that
 * holds one, or how it came here. */
enum { FAKE_OPENED = -2 /* it is another process's */ };
void fake_note_memory(cuda_address memory, uint64_t bytes, int file);
bool fake_forget_memory(cuda_address memory);
int fake_file_of(cuda_address memory);

/* The device of the thread's current context; makes a context current, false if it is none. */
int fake_current_device(void);
bool fake_set_current(cuda_context context);
/* fake_program.c: whether the thread has pushed a context. */
bool fake_has_pushed(void);

#endif
