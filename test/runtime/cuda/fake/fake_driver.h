/* Functions that the parts of the fake driver share. */
#ifndef TPRT_TEST_CUDA_FAKE_DRIVER_H
#define TPRT_TEST_CUDA_FAKE_DRIVER_H

#include "cuda/fused/launch.h"
#include "fake_module.h"
#include "test/runtime/harness/device.h"

/* Results of cuda.h that the tests check. */
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
  X(CAPTURE_UNSUPPORTED, 900, "CUDA_ERROR_STREAM_CAPTURE_UNSUPPORTED")                             \
  X(CAPTURE_INVALID, 901, "CUDA_ERROR_STREAM_CAPTURE_INVALIDATED")                                 \
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
/* its functions that other files use too are defined under their names */
DEVICE_CALLS(EXPORT)
#undef EXPORT

/* Overrides FAKE_CUDA for the calling thread; NULL: use the environment. Looked up with dlsym as
 * fake_set_mode. */
typedef void fake_set_mode_fn(const char *mode);

/* Returns true if FAKE_CUDA is `mode`; the failure in that case. */
bool fake_mode_is(const char *mode);
cuda_result fake_fails_at(const char *mode);

/* Counts the copies to the host that a thread requests between its first and last launch; at the
 * end the number is written to the file FAKE_COPIES. */
void fake_note_copy(void);
void fake_note_launch(void);

/* fake_memory.c: finds the allocation that contains an address, for the PTX machine. */
bool fake_find_memory(void *user, uint64_t address, uint64_t *begin, uint64_t *end);
/* Tracks allocations: adds one; removes one, false if none begins there; returns the file of one,
 * or its origin. */
enum { FAKE_OPENED = -2 /* opened from another process */ };
void fake_note_memory(cuda_address memory, uint64_t bytes, int file);
bool fake_forget_memory(cuda_address memory);
int fake_file_of(cuda_address memory);
int fake_export(cuda_address memory); /* the same; other processes may map the file */

/* Returns the device of the thread's current context; makes a context current, false if it is
 * invalid. */
int fake_current_device(void);
bool fake_set_current(cuda_context context);
/* fake_program.c: true if the thread has pushed a context. */
bool fake_has_pushed(void);

#endif
