/* Control functions of the fake driver and the fake cuBLASLt, for tests with several GPUs. */
#ifndef TPRT_TEST_CUDA_ACROSS_FAKES_H
#define TPRT_TEST_CUDA_ACROSS_FAKES_H

#include "fake_blaslt.h"
#include "fake_driver.h"
#include "fake_stream.h"

#include <stddef.h>

extern fake_streams_of_thread_fn *streams_of_thread;
extern fake_set_mode_fn *set_mode;
extern size_t (*allocated)(void);
extern fake_blaslt_begin_fn *blaslt_begin;
extern fake_blaslt_look_fn *blaslt_look;

/* Looks up the functions, once per process; ends the process if one is missing. */
void open_libraries(void);

#endif
