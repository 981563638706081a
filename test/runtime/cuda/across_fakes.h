/* What tests of GPUs that are apart steer and look at in the libraries that stand in for the driver
 * and cuBLASLt. */
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

/* Finds these, once in a process; ends it if one is missing. */
void open_libraries(void);

#endif
