/* The made-up machine, as tests use it. */
#ifndef TPRT_TEST_NCCL_MACHINE_H
#define TPRT_TEST_NCCL_MACHINE_H

#include "fake.h"
#include "harness.h"

/* Loads it, and makes the library find it. */
void machine_start(void);
/* Counts from here; n_devices 4 and version 2.28.9 (FAKE_NCCL_VERSION: another) unless the plan
 * says otherwise. */
void machine_begin(fake_plan plan);
fake_report machine_look(void);
/* Fails the test unless nothing was violated and nothing is left. */
void machine_expect_clean(void);
/* Memory of the device that is `ordinal`, which the host can read and write in this machine. */
void *machine_alloc(int ordinal, size_t bytes);
void machine_free(int ordinal, void *memory);
/* A stream of a device, as a user has it. */
void *machine_stream(int ordinal);
void machine_stream_destroy(int ordinal, void *stream);
void machine_capture(void *stream, bool begins);
/* Work in a stream that takes so long before what follows. */
void machine_delay(void *stream, int ms);
tprt_config machine_config(void);

#endif
