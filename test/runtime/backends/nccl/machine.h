/* The emulated machine, as tests use it. */
#ifndef TPRT_TEST_NCCL_MACHINE_H
#define TPRT_TEST_NCCL_MACHINE_H

#include "test/runtime/backends/nccl/fake/fake.h"
#include "test/runtime/harness/harness.h"

/* Loads the machine and makes the library find it. */
void machine_start(void);
/* Resets the counters. Defaults: n_devices 4 and version 2.28.9 (FAKE_NCCL_VERSION: another). */
void machine_begin(fake_plan plan);
fake_report machine_look(void);
/* Fails the test if there was a violation or an object is left. */
void machine_expect_clean(void);
/* Allocates memory of device `ordinal`; on this machine the host can access it. */
void *machine_alloc(int ordinal, size_t bytes);
void machine_free(int ordinal, void *memory);
/* Creates a stream of a device, like a user would. */
void *machine_stream(int ordinal);
void machine_stream_destroy(int ordinal, void *stream);
void machine_capture(void *stream, bool begins);
/* Enqueues work that takes this time. */
void machine_delay(void *stream, int ms);
tprt_config machine_config(void);

#endif
