/* Accesses of windows in the background, on every backend. */
#include "paths.h"
#include "ranks.h"

#include <stddef.h>
#include <string.h>

enum { N_VALUES = 1000, TOO_LATE_NS = 40000000 };

static int finish(tprt_work *work) {
  int errors = 0;
  CHECK_STATUS(errors, tprt_work_wait(work, 0), TPRT_OK);
  tprt_work_destroy(work);
  return errors;
}

/* Every rank first starts to wait for the signal of its neighbor, then puts and signals: a wait
 * must not hold up signals. The signal arrives behind the data of all puts. */
static int rounds(tprt_comm *comm, tprt_window *window, const int32_t *memory) {
  int errors = 0, n = tprt_comm_size(comm), me = tprt_comm_rank(comm);
  int to = (me + 1) % n, from = (me + n - 1) % n;
  for (int round = 0; round < 5; round++) {
    int32_t values[N_VALUES], read[N_VALUES];
    tprt_work *wait, *put[2], *signal, *get;
    for (int i = 0; i < N_VALUES; i++)
      values[i] = 10000 * round + 100 * me + i;
    CHECK_STATUS(errors, tprt_window_wait_signal_async(window, from, 1, 0, NULL, &wait), TPRT_OK);
    const size_t half = sizeof values / 2;
    for (size_t i = 0; i < 2; i++)
      CHECK_STATUS(errors,
                   tprt_window_put_async(window, to, i * half, (const char *)values + i * half,
                                         half, NULL, &put[i]),
                   TPRT_OK);
    if (round % 2)
      CHECK_STATUS(errors, tprt_window_signal_async(window, to, NULL, &signal), TPRT_OK);
    else /* calls that block come after those in the background */
      CHECK_STATUS(errors, tprt_window_signal(window, to), TPRT_OK);
    CHECK_STATUS(errors, tprt_window_get_async(window, to, 0, read, sizeof read, NULL, &get),
                 TPRT_OK);
    if (errors)
      return errors;
    errors += finish(wait);
    for (int i = 0; i < N_VALUES && !errors; i++)
      CHECK(errors, memory[i] == 10000 * round + 100 * from + i);
    errors += finish(put[0]) + finish(put[1]) + (round % 2 ? finish(signal) : 0) + finish(get);
    CHECK(errors, memcmp(values, read, sizeof read) == 0);
    CHECK_STATUS(errors, tprt_barrier(comm, NULL, NULL), TPRT_OK);
  }
  return errors;
}

/* Structs of other versions, and arguments that are refused without side effects. */
static int refused(tprt_comm *comm, tprt_window *window) {
  int errors = 0, me = tprt_comm_rank(comm), n = tprt_comm_size(comm);
  int32_t value = 0;
  tprt_work *work;
  tprt_access access = tprt_access_of(TPRT_PUT, me);
  access.from = &value;
  access.bytes = sizeof value;
  access.offset = sizeof(int32_t) * N_VALUES;
  CHECK_STATUS(errors, tprt_window_submit(window, &access, &work), TPRT_INVALID_ARGUMENT);
  CHECK(errors, strstr(tprt_last_error(), "window: access to 4 bytes at offset 4000"));
  access.offset = 0;
  access.from = NULL;
  CHECK_STATUS(errors, tprt_window_submit(window, &access, &work), TPRT_INVALID_ARGUMENT);
  CHECK(errors, strstr(tprt_last_error(), "window: put: from is NULL"));
  access.from = &value;
  access.stream = &value;
  CHECK_STATUS(errors, tprt_window_submit(window, &access, &work), TPRT_UNSUPPORTED);
  CHECK(errors, strstr(tprt_last_error(), "takes no stream"));
  access.timeout_ns = -1; /* part of a later version of the struct */
  access.size = offsetof(tprt_access, stream);
  CHECK_STATUS(errors, tprt_window_submit(window, &access, NULL), TPRT_OK);
  access = tprt_access_of((tprt_access_kind)9, me);
  CHECK_STATUS(errors, tprt_window_submit(window, &access, &work), TPRT_INVALID_ARGUMENT);
  CHECK(errors, strstr(tprt_last_error(), "window: 9 is not a kind of access"));
  access.version = 2;
  CHECK_STATUS(errors, tprt_window_submit(window, &access, &work), TPRT_UNSUPPORTED);
  CHECK(errors, strstr(tprt_last_error(), "tprt_access.version is 2; this library knows 1"));
  CHECK_STATUS(errors, tprt_window_signal_async(window, n, NULL, &work), TPRT_INVALID_ARGUMENT);
  access = tprt_access_of(TPRT_WAIT_SIGNAL, me);
  access.timeout_ns = -1;
  CHECK_STATUS(errors, tprt_window_submit(window, &access, &work), TPRT_INVALID_ARGUMENT);
  CHECK_STATUS(errors, tprt_comm_status(comm), TPRT_OK);
  return errors;
}

/* A signal that never comes ends its work at its own timeout, and fails the communicator. */
static int too_late(tprt_comm *comm) {
  int errors = 0;
  tprt_comm *child;
  tprt_window *window;
  tprt_work *work;
  CHECK_STATUS(errors, tprt_comm_split(comm, tprt_comm_rank(comm), 0, &child), TPRT_OK);
  CHECK_STATUS(errors, tprt_window_create(child, NULL, 0, &window), TPRT_OK);
  CHECK_STATUS(errors, tprt_window_wait_signal_async(window, 0, 1, TOO_LATE_NS, NULL, &work),
               TPRT_OK);
  if (errors)
    return errors;
  CHECK_STATUS(errors, tprt_work_wait(work, 0), TPRT_TIMEOUT);
  CHECK(errors, tprt_work_elapsed(work) > 0);
  CHECK_STATUS(errors, tprt_comm_status(child), TPRT_TIMEOUT);
  tprt_work_destroy(work);
  CHECK_STATUS(errors, tprt_window_signal_async(window, 0, NULL, &work), TPRT_TIMEOUT);
  CHECK_STATUS(errors, tprt_window_destroy(window), TPRT_TIMEOUT);
  tprt_comm_destroy(child);
  return errors;
}

int path_accesses(tprt_comm *comm, void *argument) {
  (void)argument;
  int errors = 0;
  void *memory;
  tprt_window *window;
  if (!(tprt_comm_capabilities(comm) & TPRT_CAP_WINDOWS))
    return 0; /* path_windows checks that it is refused */
  CHECK_STATUS(errors, tprt_mem_alloc(comm, N_VALUES * sizeof(int32_t), &memory), TPRT_OK);
  CHECK_STATUS(errors, tprt_window_create(comm, memory, N_VALUES * sizeof(int32_t), &window),
               TPRT_OK);
  if (errors)
    return errors;
  errors += rounds(comm, window, memory);
  errors += refused(comm, window);
  tprt_work *last; /* the window waits for it */
  CHECK_STATUS(errors, tprt_window_get_async(window, 0, 0, (int32_t[1]){0}, 0, NULL, &last),
               TPRT_OK);
  CHECK_STATUS(errors, tprt_window_destroy(window), TPRT_OK);
  CHECK_STATUS(errors, tprt_work_test(last), TPRT_OK);
  tprt_work_destroy(last);
  tprt_mem_free(comm, memory);
  return errors + too_late(comm);
}
