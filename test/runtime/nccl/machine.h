/* The made-up machine, as tests use it. */
#ifndef TPRT_TEST_NCCL_MACHINE_H
#define TPRT_TEST_NCCL_MACHINE_H

#include "fake.h"
#include "harness.h"

/* Loads it, and makes the library find it. */
void machine_start(void);
/* Counts from here; n_devices 4 and version 2.28.9 unless the plan says otherwise. */
void machine_begin(fake_plan plan);
fake_report machine_look(void);
/* Fails the test unless nothing was violated and nothing is left. */
void machine_expect_clean(void);
/* Memory of the device that is `ordinal`, which the host can read and write in this machine. */
void *machine_alloc(int ordinal, size_t bytes);
void machine_free(int ordinal, void *memory);
tprt_config machine_config(void);

#endif
