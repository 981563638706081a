/* Tests windows: puts, gets, signals, mapped memory, and rejected calls. */
#include "paths.h"

#include "harness.h"

#include <stdlib.h>
#include <string.h>

/* Every rank writes its number into its slot of all other parts, for several rounds; a rank reads
 * after it was signaled. */
static int exchange(tprt_comm *comm, tprt_window *window, const int32_t *own) {
  int errors = 0, me = tprt_comm_rank(comm), n = tprt_comm_size(comm);
  for (int32_t round = 1; round <= 5; round++) {
    int32_t value = round * 100 + me;
    for (int to = 0; to < n; to++) {
      CHECK_STATUS(errors,
                   tprt_window_put(window, to, sizeof value * (size_t)me, &value, sizeof value),
                   TPRT_OK);
      CHECK_STATUS(errors, tprt_window_signal(window, to), TPRT_OK);
    }
    for (int from = 0; from < n; from++) {
      CHECK_STATUS(errors, tprt_window_wait_signal(window, from, 1, 0), TPRT_OK);
      CHECK(errors, own[from] == round * 100 + from);
    }
    CHECK_STATUS(errors, tprt_barrier(comm, NULL, NULL), TPRT_OK); /* all have read */
  }
  /* Two signals at once. */
  CHECK_STATUS(errors, tprt_window_signal(window, (me + 1) % n), TPRT_OK);
  CHECK_STATUS(errors, tprt_window_signal(window, (me + 1) % n), TPRT_OK);
  CHECK_STATUS(errors, tprt_window_wait_signal(window, (me + n - 1) % n, 2, 0), TPRT_OK);
  return errors;
}

static int refused(tprt_comm *comm, tprt_window *window) {
  int errors = 0, n = tprt_comm_size(comm);
  char byte = 0;
  CHECK_STATUS(errors, tprt_window_put(window, n, 0, &byte, 1), TPRT_INVALID_ARGUMENT);
  CHECK(errors, strstr(tprt_last_error(), "window: rank ") != NULL);
  size_t size = (size_t)tprt_window_bytes(window, 0);
  CHECK_STATUS(errors, tprt_window_get(window, 0, size, &byte, 1), TPRT_INVALID_ARGUMENT);
  CHECK(errors, strstr(tprt_last_error(), "the part of rank 0 has ") != NULL);
  CHECK_STATUS(errors, tprt_window_get(window, 0, SIZE_MAX, &byte, 2), TPRT_INVALID_ARGUMENT);
  CHECK_STATUS(errors, tprt_window_signal(window, -1), TPRT_INVALID_ARGUMENT);
  CHECK_STATUS(errors, tprt_window_wait_signal(window, 0, 1, -1), TPRT_INVALID_ARGUMENT);
  CHECK(errors, tprt_window_bytes(window, n) == -1);
  CHECK_STATUS(errors, tprt_mem_register(comm, NULL, 1), TPRT_INVALID_ARGUMENT);
  CHECK_STATUS(errors, tprt_mem_deregister(comm, NULL), TPRT_INVALID_ARGUMENT);
  return errors;
}

/* Memory from the heap, on the last rank only: all ranks get the same error. */
static int private_memory(tprt_comm *comm) {
  int errors = 0, me = tprt_comm_rank(comm), n = tprt_comm_size(comm);
  void *shared, *heap = malloc(64);
  tprt_window *window = NULL;
  CHECK_STATUS(errors, tprt_mem_alloc(comm, 64, &shared), TPRT_OK);
  tprt_status status = tprt_window_create(comm, me == n - 1 ? heap : shared, 64, &window);
  if (tprt_comm_capabilities(comm) & TPRT_CAP_USER_MEMORY) {
    CHECK_STATUS(errors, status, TPRT_OK);
    CHECK_STATUS(errors, tprt_mem_register(comm, heap, 64), TPRT_OK);
    CHECK_STATUS(errors, tprt_mem_deregister(comm, heap), TPRT_OK);
    CHECK_STATUS(errors, tprt_mem_register_all(comm, heap, 64), TPRT_OK);
    CHECK_STATUS(errors, tprt_mem_deregister(comm, heap), TPRT_OK);
    CHECK_STATUS(errors, tprt_window_destroy(window), TPRT_OK);
  } else {
    CHECK_STATUS(errors, status, TPRT_UNSUPPORTED);
    CHECK(errors,
          strstr(tprt_last_error(),
                 "passed memory that peers cannot access; allocate it with tprt_mem_alloc") !=
              NULL);
    /* only a part of it was allocated */
    CHECK_STATUS(errors, tprt_window_create(comm, shared, me == n - 1 ? 65 : 64, &window),
                 TPRT_UNSUPPORTED);
    CHECK_STATUS(errors, tprt_mem_register_all(comm, shared, 65), TPRT_UNSUPPORTED);
    CHECK_STATUS(errors, tprt_mem_register(comm, shared, 1 << 20), TPRT_UNSUPPORTED);
    CHECK_STATUS(errors, tprt_mem_register(comm, heap, 64), TPRT_UNSUPPORTED);
    CHECK(errors,
          strstr(tprt_last_error(), "peers can access only memory from tprt_mem_alloc") != NULL);
    CHECK_STATUS(errors, tprt_mem_register(comm, shared, 64), TPRT_OK);
    CHECK_STATUS(errors, tprt_mem_register_all(comm, me == n - 1 ? heap : shared, 64),
                 TPRT_UNSUPPORTED);
    CHECK(errors,
          me == n - 1 || strstr(tprt_last_error(), "could not register its memory") != NULL);
    CHECK_STATUS(errors, tprt_mem_register_all(comm, shared, 64), TPRT_OK);
  }
  if (n > 1)
    CHECK_STATUS(errors, tprt_mem_register_all(comm, shared, me == 1 ? 32 : 64), TPRT_MISMATCH);
  CHECK_STATUS(errors, tprt_mem_register_all(comm, shared, 0), TPRT_INVALID_ARGUMENT);
  CHECK_STATUS(errors, tprt_comm_status(comm), TPRT_OK);
  tprt_mem_free(comm, shared);
  free(heap);
  return errors;
}

/* Reads the last put through the mapped address. */
static int check_map(tprt_comm *comm, tprt_window *window) {
  int errors = 0, me = tprt_comm_rank(comm), n = tprt_comm_size(comm);
  void *mapped = NULL;
  CHECK_STATUS(errors, tprt_window_map(window, me, &mapped), TPRT_OK);
  CHECK(errors, mapped && ((const int32_t *)mapped)[me] == 500 + me);
  tprt_status status = tprt_window_map(window, (me + 1) % n, &mapped);
  if (n == 1 || tprt_comm_capabilities(comm) & TPRT_CAP_MAPPED) {
    CHECK_STATUS(errors, status, TPRT_OK);
    CHECK(errors, ((const int32_t *)mapped)[me] == 500 + me);
  } else {
    CHECK_STATUS(errors, status, TPRT_UNSUPPORTED);
    CHECK(errors, strstr(tprt_last_error(),
                         "cannot be mapped; use tprt_window_get and tprt_window_put") != NULL);
  }
  return errors;
}

/* Reads a word that a peer writes concurrently: an intended race. */
__attribute__((no_sanitize("thread"))) static int32_t look(const void *word) {
  return *(const volatile int32_t *)word;
}

/* A peer accesses parts while their owner is not in a library call. */
static int unattended(tprt_comm *comm, int64_t count) {
  int errors = 0, me = tprt_comm_rank(comm), n = tprt_comm_size(comm), to = (me + 1) % n;
  size_t bytes = (size_t)count * sizeof(int32_t);
  void *memory, *flag;
  tprt_window *window, *flags;
  CHECK_STATUS(errors, tprt_mem_alloc(comm, bytes, &memory), TPRT_OK);
  CHECK_STATUS(errors, tprt_mem_alloc(comm, sizeof(int32_t), &flag), TPRT_OK);
  CHECK_STATUS(errors, tprt_window_create(comm, memory, bytes, &window), TPRT_OK);
  CHECK_STATUS(errors, tprt_window_create(comm, flag, sizeof(int32_t), &flags), TPRT_OK);
  int32_t *data = malloc(bytes), one = 1, seen = 0;
  CHECK(errors, data != NULL);
  if (errors)
    return errors;
  for (int64_t i = 0; i < count; i++)
    data[i] = (int32_t)(i * 7 + me);
  CHECK_STATUS(errors, tprt_window_put(window, to, 0, data, bytes), TPRT_OK);
  memset(data, 0, bytes);
  CHECK_STATUS(errors, tprt_window_get(window, to, 0, data, bytes), TPRT_OK);
  for (int64_t i = 0; i < count && !errors; i++)
    CHECK(errors, data[i] == (int32_t)(i * 7 + me));
  /* A peer signals completion by a word, which this rank polls without a call. */
  CHECK_STATUS(errors, tprt_window_put(flags, to, 0, &one, sizeof one), TPRT_OK);
  double end = test_seconds() + 20;
  while (!seen && test_seconds() < end)
    seen = look(flag);
  CHECK(errors, seen == 1);
  CHECK_STATUS(errors, tprt_window_signal(window, to), TPRT_OK);
  CHECK_STATUS(errors, tprt_window_wait_signal(window, (me + n - 1) % n, 1, 0), TPRT_OK);
  const int32_t *own = memory;
  for (int64_t i = 0; i < count && !errors; i++)
    CHECK(errors, own[i] == (int32_t)(i * 7 + (me + n - 1) % n));
  CHECK_STATUS(errors, tprt_window_destroy(flags), TPRT_OK);
  CHECK_STATUS(errors, tprt_window_destroy(window), TPRT_OK);
  free(data);
  tprt_mem_free(comm, flag);
  tprt_mem_free(comm, memory);
  return errors;
}

int path_windows(tprt_comm *comm, void *argument) {
  (void)argument;
  int errors = 0, me = tprt_comm_rank(comm), n = tprt_comm_size(comm);
  size_t bytes = (size_t)n * sizeof(int32_t) + (size_t)me * 64; /* sizes may differ */
  void *memory;
  tprt_window *window, *empty;
  if (!(tprt_comm_capabilities(comm) & TPRT_CAP_WINDOWS)) {
    CHECK_STATUS(errors, tprt_window_create(comm, NULL, 0, &window), TPRT_UNSUPPORTED);
    CHECK(errors, strstr(tprt_last_error(), "does not support windows") != NULL);
    return errors;
  }
  CHECK_STATUS(errors, tprt_mem_alloc(comm, bytes, &memory), TPRT_OK);
  CHECK_STATUS(errors, tprt_window_create(comm, memory, bytes, &window), TPRT_OK);
  CHECK_STATUS(errors, tprt_window_create(comm, NULL, 0, &empty), TPRT_OK);
  if (errors)
    return errors;
  for (int i = 0; i < n; i++)
    CHECK(errors,
          tprt_window_bytes(window, i) == (int64_t)((size_t)n * sizeof(int32_t) + (size_t)i * 64));
  errors += exchange(comm, window, memory);
  errors += check_map(comm, window);
  int32_t value = 0;
  CHECK_STATUS(
      errors,
      tprt_window_get(window, (me + 1) % n, sizeof value * (size_t)me, &value, sizeof value),
      TPRT_OK);
  CHECK(errors, value == 500 + me);
  errors += refused(comm, window);
  CHECK_STATUS(errors, tprt_window_destroy(empty), TPRT_OK);
  CHECK_STATUS(errors, tprt_window_destroy(window), TPRT_OK);
  CHECK_STATUS(errors, tprt_window_destroy(NULL), TPRT_OK);
  tprt_mem_free(comm, memory);
  errors += unattended(comm, 1) + unattended(comm, 50021);
  return errors + private_memory(comm);
}
