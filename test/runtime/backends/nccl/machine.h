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
/* Captures a stream; when the capture ends, the captured work runs once. */
void machine_capture(void *stream, bool begins);
/* The same in a capture mode of cuda.h. The end returns the graph, or NULL if the capture was
 * broken. */
enum { MACHINE_GLOBAL, MACHINE_THREAD_LOCAL, MACHINE_RELAXED };
void machine_capture_begin(void *stream, int mode);
void *machine_capture_end(void *stream);
void machine_replay(void *graph, void *stream);
void machine_graph_free(void *graph);
/* Waits until a stream is empty. */
void machine_synchronize(void *stream);
/* Enqueues work that takes this time. */
void machine_delay(void *stream, int ms);
tprt_config machine_config(void);

#endif
