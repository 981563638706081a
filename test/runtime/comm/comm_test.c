/* Tests successful communicators: launched, with background work, split; and calls with wrong
 * arguments. */
#define _GNU_SOURCE 1
#include "test/runtime/harness/harness.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

/* ---- A launcher: this program again, as workers that read everything from their environment
 * ---- */

static int worker_main(void) {
  tprt_comm *comm;
  int errors = 0, sum = 0;
  CHECK_STATUS(errors, tprt_world_create(0, 0, NULL, &comm), TPRT_OK);
  if (errors)
    return 1;
  int mine = tprt_comm_rank(comm) + 1;
  CHECK_STATUS(errors, tprt_all_reduce(comm, &mine, &sum, 1, TPRT_I32, TPRT_SUM, NULL, NULL),
               TPRT_OK);
  CHECK(errors, sum == 6);
  tprt_comm_destroy(comm);
  return errors;
}

static void test_launcher(void **state) {
  (void)state;
  NEEDS_SHM();
  tprt_config config = test_config();
  int fd;
  pid_t pids[3];
  assert_int_equal(tprt_shm_segment_create(3, &config, &fd), TPRT_OK);
  for (int rank = 0; rank < 3; rank++) {
    pids[rank] = fork();
    assert_true(pids[rank] >= 0);
    if (pids[rank])
      continue;
    char text[16];
    snprintf(text, sizeof text, "%d", dup(fd)); /* a duplicate is not close-on-exec */
    setenv("TPRT_SEGMENT_FD", text, 1);
    snprintf(text, sizeof text, "%d", rank);
    setenv("TPRT_RANK", text, 1);
    setenv("TPRT_SIZE", "3", 1);
    execl("/proc/self/exe", "worker", "worker", (char *)NULL);
    _exit(127);
  }
  close(fd);
  for (int rank = 0; rank < 3; rank++) {
    int status;
    waitpid(pids[rank], &status, 0);
    assert_true(WIFEXITED(status) && WEXITSTATUS(status) == 0);
  }
}

/* ---- Background work ---- */

static int background(tprt_comm *comm, void *argument) {
  (void)argument;
  enum { N = 20, COUNT = 3000 };
  int errors = 0, n = tprt_comm_size(comm);
  static _Thread_local int32_t data[N][COUNT];
  tprt_work *works[N];
  for (int i = 0; i < N; i++) {
    for (int j = 0; j < COUNT; j++)
      data[i][j] = i + j;
    CHECK_STATUS(
        errors, tprt_all_reduce(comm, data[i], data[i], COUNT, TPRT_I32, TPRT_SUM, NULL, &works[i]),
        TPRT_OK);
  }
  int32_t one = 1, sum;
  /* must wait for its turn */
  CHECK_STATUS(errors, tprt_all_reduce(comm, &one, &sum, 1, TPRT_I32, TPRT_SUM, NULL, NULL),
               TPRT_OK);
  CHECK(errors, sum == n);
  for (int i = 0; i < N; i++) {
    CHECK_STATUS(errors, tprt_work_test(works[i]), TPRT_OK); /* so all earlier ones are done */
    CHECK_STATUS(errors, tprt_work_wait(works[i], 0), TPRT_OK);
    tprt_work_destroy(works[i]);
    for (int j = 0; j < COUNT; j++)
      errors += data[i][j] != n * (i + j);
  }
  /* A handle outlives the failure of its communicator and reports it; the other ranks do not take
   * part. */
  tprt_work *work;
  if (tprt_comm_rank(comm) == 0) {
    tprt_op op = {.size = sizeof op, .kind = TPRT_OP_BARRIER, .timeout_ns = 30000000};
    CHECK_STATUS(errors, tprt_submit(comm, &op, &work), TPRT_OK);
    CHECK_STATUS(errors, tprt_work_wait(work, 1000000), TPRT_IN_PROGRESS);
    CHECK_STATUS(errors, tprt_work_wait(work, 0), n > 1 ? TPRT_TIMEOUT : TPRT_OK);
    tprt_work_destroy(work);
  }
  return errors;
}

static void test_background(void **state) {
  (void)state;
  tprt_config config = test_config();
  assert_int_equal(run_threads(2, &config, background, NULL), 0);
  assert_int_equal(run_threads(4, &config, background, NULL), 0);
}

/* ---- Splitting ---- */

static int splits(tprt_comm *comm, void *argument) {
  (void)argument;
  int errors = 0, me = tprt_comm_rank(comm), n = tprt_comm_size(comm);
  for (int round = 0; round < 20; round++) { /* more than can exist at once */
    tprt_comm *child;
    int color = me % 3 == 2 ? -1 : me % 3;
    CHECK_STATUS(errors, tprt_comm_split(comm, color, -me, &child), TPRT_OK);
    CHECK(errors, (child != NULL) == (color >= 0));
    if (!child)
      continue;
    int last = (n - 1 - color) / 3 * 3 + color; /* largest rank of the color is first */
    CHECK(errors, tprt_comm_world_rank(child, 0) == last);
    int32_t all[8], mine = me;
    CHECK_STATUS(errors, tprt_all_gather(child, &mine, all, 1, TPRT_I32, NULL, NULL), TPRT_OK);
    for (int i = 0; i < tprt_comm_size(child); i++)
      CHECK(errors, all[i] == last - 3 * i);
    tprt_comm_destroy(child);
  }
  /* If shm runs out of communicators, the error suggests a remedy, and nothing is broken. */
  tprt_comm *kept[16] = {0};
  int n_kept = 0;
  while (n_kept < 16 && tprt_comm_split(comm, 0, me, &kept[n_kept]) == TPRT_OK)
    n_kept++;
  CHECK(errors,
        !test_on_shm() || (n_kept == 3 && strstr(tprt_last_error(), "TPRT_MAX_COMMS") != NULL));
  while (n_kept)
    tprt_comm_destroy(kept[--n_kept]);
  CHECK_STATUS(errors, tprt_barrier(comm, NULL, NULL), TPRT_OK);
  return errors;
}

/* Groups of a mesh of three axes, adjacent or not. The rank in the group counts in the order of the
 * list. */
static int axes(tprt_comm *comm, void *argument) {
  const int64_t *sizes = argument;
  static const struct {
    int n;
    int32_t axes[3];
  } groups[] = {{0, {0}},    {1, {0}},    {1, {1}},       {1, {2}},
                {2, {0, 2}}, {2, {2, 0}}, {3, {0, 1, 2}}, {2, {1, 2}}};
  int errors = 0, me = tprt_comm_rank(comm), minor = (int)sizes[2], middle = (int)sizes[1];
  int at[3] = {me / minor / middle, me / minor % middle, me % minor};
  for (size_t g = 0; g < sizeof groups / sizeof *groups; g++) {
    tprt_comm *child, *again;
    CHECK_STATUS(errors, tprt_comm_axes(comm, 3, sizes, groups[g].n, groups[g].axes, &child),
                 TPRT_OK);
    if (errors)
      return errors;
    CHECK_STATUS(errors, tprt_comm_axes(comm, 3, sizes, groups[g].n, groups[g].axes, &again),
                 TPRT_OK);
    CHECK(errors, child == again);
    int size = 1, rank = 0, expected = 0;
    for (int i = 0; i < groups[g].n; i++) {
      size *= (int)sizes[groups[g].axes[i]];
      rank = rank * (int)sizes[groups[g].axes[i]] + at[groups[g].axes[i]];
    }
    CHECK(errors, tprt_comm_size(child) == size && tprt_comm_rank(child) == rank);
    CHECK(errors, tprt_comm_world_rank(child, rank) == me);
    for (int i = 0; i < size; i++)
      expected += tprt_comm_world_rank(child, i);
    int sum;
    CHECK_STATUS(errors, tprt_all_reduce(child, &me, &sum, 1, TPRT_I32, TPRT_SUM, NULL, NULL),
                 TPRT_OK);
    CHECK(errors, sum == expected);
  }
  tprt_comm *none;
  static const int64_t wrong[] = {2, 2};
  static const int32_t twice[] = {0, 0};
  CHECK_STATUS(errors, tprt_comm_axes(comm, 2, wrong, 1, twice, &none), TPRT_INVALID_ARGUMENT);
  CHECK_STATUS(errors, tprt_comm_axes(comm, 3, sizes, 2, twice, &none), TPRT_INVALID_ARGUMENT);
  return errors;
}

/* Lists of ranks, in their order; only members take part. */
static int lists(tprt_comm *comm, void *argument) {
  (void)argument;
  int errors = 0, me = tprt_comm_rank(comm), n = tprt_comm_size(comm);
  static const int odd[] = {3, 1}, all[] = {4, 3, 2, 1, 0}, twice[] = {1, 1}, outside[] = {0, 5};
  tprt_comm *child = comm, *other;
  CHECK_STATUS(errors, tprt_comm_split_ranks(comm, NULL, 0, &child), TPRT_OK);
  CHECK(errors, child == NULL);
  CHECK_STATUS(errors, tprt_comm_split_ranks(comm, twice, 2, &child), TPRT_INVALID_ARGUMENT);
  CHECK(errors, strstr(tprt_last_error(), "ranks 0 and 1 of the group are both 1") != NULL);
  CHECK_STATUS(errors, tprt_comm_split_ranks(comm, outside, 2, &child), TPRT_INVALID_ARGUMENT);
  CHECK(errors, strstr(tprt_last_error(), "rank 1 of the group is 5") != NULL);
  CHECK_STATUS(errors, tprt_comm_split_ranks(comm, NULL, 2, &child), TPRT_INVALID_ARGUMENT);
  for (int round = 0; round < 10; round++) { /* more than can exist at once */
    CHECK_STATUS(errors, tprt_comm_split_ranks(comm, odd, 2, &child), TPRT_OK);
    CHECK(errors, (child != NULL) == (me == 1 || me == 3));
    CHECK_STATUS(errors, tprt_comm_split_ranks(comm, all, n, &other), TPRT_OK);
    if (!other)
      return errors + 1;
    CHECK(errors, tprt_comm_rank(other) == n - 1 - me && tprt_comm_world_rank(other, 0) == 4);
    CHECK(errors, tprt_comm_local_rank(other, 1) == 3 && tprt_comm_local_rank(other, 9) == -1);
    if (child) {
      int sum;
      CHECK(errors, tprt_comm_rank(child) == (me == 1) && tprt_comm_local_rank(child, 2) == -1);
      CHECK_STATUS(errors, tprt_all_reduce(child, &me, &sum, 1, TPRT_I32, TPRT_SUM, NULL, NULL),
                   TPRT_OK);
      CHECK(errors, sum == 4);
    }
    tprt_comm_destroy(child);
    CHECK_STATUS(errors, tprt_barrier(other, NULL, NULL), TPRT_OK);
    tprt_comm_destroy(other);
    CHECK_STATUS(errors, tprt_barrier(comm, NULL, NULL), TPRT_OK);
  }
  return errors;
}

static int names(tprt_comm *comm, void *argument) {
  (void)argument;
  int errors = 0, me = tprt_comm_rank(comm);
  static const int pair[] = {0, 2};
  tprt_comm *child, *again;
  char long_name[80];
  memset(long_name, 'x', sizeof long_name);
  long_name[79] = 0;
  CHECK(errors, strcmp(tprt_comm_name(comm), "world") == 0 && tprt_comm_find(comm, "pair") == NULL);
  CHECK_STATUS(errors, tprt_comm_named(comm, "pair", pair, 2, &child), TPRT_OK);
  CHECK_STATUS(errors, tprt_comm_named(comm, "pair", pair, 2, &again), TPRT_OK);
  CHECK(errors, child == again && child == tprt_comm_find(comm, "pair") &&
                    (child != NULL) == (me % 2 == 0));
  CHECK_STATUS(errors, tprt_comm_named(comm, "pair", pair, 1, &again), TPRT_INVALID_ARGUMENT);
  CHECK(errors,
        strstr(tprt_last_error(), "a group \"pair\" of different ranks already exists") != NULL);
  CHECK_STATUS(errors, tprt_comm_named(comm, long_name, pair, 1, &again), TPRT_INVALID_ARGUMENT);
  CHECK_STATUS(errors, tprt_comm_named(comm, "", pair, 1, &again), TPRT_INVALID_ARGUMENT);
  CHECK_STATUS(errors, tprt_barrier(comm, NULL, NULL), TPRT_OK);
  if (!child)
    return errors;
  CHECK(errors, strcmp(tprt_comm_name(child), "pair") == 0);
  CHECK_STATUS(errors, tprt_barrier(child, NULL, NULL), TPRT_OK);
  CHECK_STATUS(errors, tprt_comm_finalize(child), TPRT_OK);
  CHECK_STATUS(errors, tprt_barrier(child, NULL, NULL), TPRT_INVALID_STATE);
  CHECK(errors, strstr(tprt_last_error(),
                       "the communicator pair has already failed: it was finalized") != NULL);
  CHECK_STATUS(errors, tprt_comm_finalize(child), TPRT_INVALID_STATE);
  return errors;
}

/* A 4 x 6 x 2 tensor on a mesh 2 x 3: every sharding is gathered again. */
static int gather_axes(tprt_comm *comm, void *argument) {
  (void)argument;
  static const int64_t sizes[] = {2, 3}, full[] = {12, 12, 2};
  int errors = 0, me = tprt_comm_rank(comm);
  int64_t at[2];
  static _Thread_local int32_t send[288], recv[288];
  CHECK_STATUS(errors, tprt_mesh_coordinates(2, sizes, me, at), TPRT_OK);
  CHECK(errors, at[0] == me / 3 && at[1] == me % 3);
  CHECK_STATUS(errors, tprt_mesh_coordinates(2, sizes, 6, at), TPRT_INVALID_ARGUMENT);
  for (int way = 0; way < 9; way++) {
    const int32_t dims[] = {way % 3 - 1, way / 3 - 1};
    int64_t shape[3], begin[3] = {0}, n = 0;
    memcpy(shape, full, sizeof shape);
    for (int axis = 0; axis < 2; axis++) {
      if (dims[axis] < 0)
        continue;
      shape[dims[axis]] /= sizes[axis];
      begin[dims[axis]] += at[axis] * shape[dims[axis]];
      if (axis == 0)
        continue;
      if (dims[0] == dims[1]) /* the first axis is the major one */
        begin[dims[1]] = at[0] * (full[dims[1]] / 2) + at[1] * shape[dims[1]];
    }
    for (int64_t i = 0; i < shape[0]; i++) {
      for (int64_t j = 0; j < shape[1]; j++) {
        for (int64_t k = 0; k < shape[2]; k++)
          send[n++] = (int32_t)(((begin[0] + i) * full[1] + begin[1] + j) * full[2] + begin[2] + k);
      }
    }
    memset(recv, 0xff, sizeof recv);
    CHECK_STATUS(errors, tprt_gather_all_axes(comm, 2, sizes, dims, send, recv, TPRT_I32, 3, shape),
                 TPRT_OK);
    for (int i = 0; i < 288; i++)
      errors += recv[i] != i;
    CHECK(errors, errors == 0);
  }
  static const int32_t wrong[] = {0, 3};
  CHECK_STATUS(errors, tprt_gather_all_axes(comm, 2, sizes, wrong, send, recv, TPRT_I32, 3, full),
               TPRT_INVALID_ARGUMENT);
  CHECK(errors, strstr(tprt_last_error(),
                       "mesh axis 1 splits dimension 3; the tensor has 3 dimensions") != NULL);
  return errors;
}

static void test_groups(void **state) {
  (void)state;
  tprt_config config = test_config();
  config.max_comms = 4;
  assert_int_equal(run_threads(5, &config, lists, NULL), 0);
  assert_int_equal(run_threads(4, &config, names, NULL), 0);
  config.max_comms = 16;
  assert_int_equal(run_threads(6, &config, gather_axes, NULL), 0);
}

/* Ranks that are in no group get TPRT_OK and NULL, in place of what was there, and do not wait; but
 * not from a communicator that has failed. `argument`: the world has no place for a group. */
static int outsiders(tprt_comm *comm, void *argument) {
  int errors = 0, me = tprt_comm_rank(comm), n = tprt_comm_size(comm);
  bool full = argument != NULL;
  static const int pair[] = {1, 2};
  tprt_comm *child = comm, *named = comm, *none = comm;
  tprt_status expected = full && me ? TPRT_NO_MEMORY : TPRT_OK;
  CHECK_STATUS(errors, tprt_comm_split(comm, me ? 0 : -1, 0, &child), expected);
  CHECK(errors, (child == NULL) == (me == 0));
  if (me && !full) {
    CHECK(errors, tprt_comm_size(child) == n - 1);
    tprt_comm_destroy(child);
  }
  if (me == 0) { /* the members come only after these calls */
    CHECK_STATUS(errors, tprt_comm_split_ranks(comm, pair, 2, &none), TPRT_OK);
    CHECK_STATUS(errors, tprt_comm_named(comm, "pair", pair, 2, &named), TPRT_OK);
    CHECK(errors, none == NULL && named == NULL && tprt_comm_find(comm, "pair") == NULL);
  }
  CHECK_STATUS(errors, tprt_barrier(comm, NULL, NULL), TPRT_OK);
  if (me == 1 || me == 2) {
    expected = full ? TPRT_NO_MEMORY : TPRT_OK;
    CHECK_STATUS(errors, tprt_comm_split_ranks(comm, pair, 2, &child), expected);
    if (!full)
      tprt_comm_destroy(child);
  }
  CHECK_STATUS(errors, tprt_barrier(comm, NULL, NULL), TPRT_OK);
  CHECK_STATUS(errors, tprt_comm_finalize(comm), TPRT_OK);
  none = comm;
  CHECK_STATUS(errors, tprt_comm_split_ranks(comm, pair, 0, &none), TPRT_INVALID_STATE);
  if (me == 0)
    CHECK_STATUS(errors, tprt_comm_split_ranks(comm, pair, 2, &none), TPRT_INVALID_STATE);
  CHECK(errors, none == comm); /* outputs are written only on success */
  return errors;
}

static void test_outsiders(void **state) {
  (void)state;
  tprt_config config = test_config();
  assert_int_equal(run_threads(4, &config, outsiders, NULL), 0);
  NEEDS_SHM();
  assert_int_equal(run_processes(4, &config, outsiders, NULL, NULL), 0);
  config.max_comms = 1;
  assert_int_equal(run_threads(4, &config, outsiders, &config), 0);
}

static void test_split(void **state) {
  (void)state;
  tprt_config config = test_config();
  config.max_comms = 4;
  assert_int_equal(run_threads(6, &config, splits, NULL), 0);
  config.max_comms = 16;
  int64_t flat[] = {2, 1, 3}, cube[] = {2, 2, 2};
  assert_int_equal(run_threads(6, &config, axes, flat), 0);
  assert_int_equal(run_threads(8, &config, axes, cube), 0);
}

/* ---- Arguments ---- */

/* The kinds ..._V on 3 ranks: errors that a rank detects alone. */
static int bad_pieces(tprt_comm *comm) {
  int errors = 0, me = tprt_comm_rank(comm);
  float data[64] = {0};
  int64_t counts[] = {2, 2, 2}, negative[] = {2, -1, 2}, far[] = {0, INT64_C(1) << 51, 0},
          overlapping[] = {0, 1, 4};
  int64_t unequal[] = {2, 2, 2};
  void *list[] = {data, NULL, data + 8};
  const tprt_op good = {.size = sizeof good,
                        .kind = TPRT_OP_ALL_GATHER_V,
                        .dtype = TPRT_F32,
                        .n_dims = 1,
                        .shape = {2},
                        .send = data,
                        .recv = data + 32,
                        .recv_counts = counts};
  unequal[me] = 1;
#define BAD(text, ...)                                                                             \
  do {                                                                                             \
    tprt_op op = good;                                                                             \
    __VA_ARGS__;                                                                                   \
    CHECK_STATUS(errors, tprt_submit(comm, &op, NULL), TPRT_INVALID_ARGUMENT);                     \
    CHECK(errors, strstr(tprt_last_error(), text) != NULL);                                        \
  } while (0)
  BAD("piece of rank 1 has -1 elements", op.recv_counts = negative);
  BAD("from 0 to 2^50", op.recv_offsets = far);
  BAD("pieces of ranks 0 and 1 overlap", op.recv_offsets = overlapping);
  BAD("pieces of ranks", op.send = data + 33);
  BAD("send is NULL", op.send = NULL);
  BAD("recv of the piece of rank 1 is NULL", op.recv_list = list);
  BAD("exclude each other", op.recv_list = list; op.recv_offsets = counts);
  BAD("expects", op.kind = TPRT_OP_ALL_TO_ALL_V; op.send_counts = unequal);
#undef BAD
  return errors;
}

static int bad_transfers(tprt_comm *comm) {
  int errors = 0, me = tprt_comm_rank(comm), n = tprt_comm_size(comm);
  float data[64] = {0};
#define BAD(text, ...)                                                                             \
  do {                                                                                             \
    tprt_op ops[] = {__VA_ARGS__};                                                                 \
    CHECK_STATUS(errors, tprt_submit_batch(comm, ops, sizeof ops / sizeof *ops, NULL),             \
                 TPRT_INVALID_ARGUMENT);                                                           \
    CHECK(errors, strstr(tprt_last_error(), text) != NULL);                                        \
  } while (0)
  BAD("peer is 3; there are 3 ranks", tprt_op_send(data, 1, TPRT_F32, n, 0));
  BAD("tag is -1", tprt_op_recv(data, 1, TPRT_F32, 0, -1));
  BAD("recv is NULL", tprt_op_recv(NULL, 1, TPRT_F32, (me + 1) % n, 0));
  BAD("with tag 4, but no matching recv", tprt_op_send(data, 1, TPRT_F32, me, 4),
      tprt_op_flat(TPRT_OP_BARRIER, 0, 0, 0, 0, 0), tprt_op_recv(data, 1, TPRT_F32, me, 4));
  BAD("with tag 4, but no matching send", tprt_op_send(data, 1, TPRT_F32, me, 3),
      tprt_op_recv(data, 1, TPRT_F32, me, 4));
  BAD("4 bytes of f32", tprt_op_send(data, 1, TPRT_F32, me, 3),
      tprt_op_recv(data, 1, TPRT_I32, me, 3));
  BAD("overlaps the receive buffer", tprt_op_send(data, 2, TPRT_F32, me, 3),
      tprt_op_recv(data + 1, 2, TPRT_F32, me, 3));
  BAD("op 1 of the batch", tprt_op_send(data, 1, TPRT_F32, me, 3),
      tprt_op_recv(data, -1, TPRT_F32, me, 3));
#undef BAD
  CHECK_STATUS(errors, tprt_send(comm, data, 1, TPRT_F32, me, 0, NULL, NULL),
               TPRT_INVALID_ARGUMENT);
  CHECK(errors,
        strstr(tprt_last_error(), "its send and its recv in one tprt_submit_batch") != NULL);
  return errors;
}

static int bad_arguments(tprt_comm *comm, void *argument) {
  (void)argument;
  int errors = 0, n = tprt_comm_size(comm);
  float data[64] = {0};
  const tprt_op good = {.size = sizeof good,
                        .kind = TPRT_OP_ALL_REDUCE,
                        .dtype = TPRT_F32,
                        .reduction = TPRT_SUM,
                        .n_dims = 1,
                        .shape = {8},
                        .send = data,
                        .recv = data + 32};
  const tprt_pair outside[] = {{0, 99}}, doubled[] = {{0, 0}, {1, 0}};
#define BAD(status, ...)                                                                           \
  do {                                                                                             \
    tprt_op op = good;                                                                             \
    __VA_ARGS__;                                                                                   \
    CHECK_STATUS(errors, tprt_submit(comm, &op, NULL), status);                                    \
  } while (0)
  BAD(TPRT_INVALID_ARGUMENT, op.size = 0);
  BAD(TPRT_INVALID_ARGUMENT, op.kind = (tprt_op_kind)0);
  BAD(TPRT_INVALID_ARGUMENT, op.kind = (tprt_op_kind)99);
  BAD(TPRT_INVALID_ARGUMENT, op.dtype = (tprt_dtype)0);
  BAD(TPRT_INVALID_ARGUMENT, op.dtype = (tprt_dtype)77);
  BAD(TPRT_INVALID_ARGUMENT, op.reduction = TPRT_NO_REDUCTION);
  BAD(TPRT_UNSUPPORTED, op.reduction = TPRT_BXOR);
  BAD(TPRT_INVALID_ARGUMENT, op.n_dims = -1);
  BAD(TPRT_INVALID_ARGUMENT, op.n_dims = 15);
  BAD(TPRT_INVALID_ARGUMENT, op.shape[0] = -1);
  BAD(TPRT_INVALID_ARGUMENT, op.n_dims = 2; op.shape[0] = op.shape[1] = INT64_MAX);
  BAD(TPRT_INVALID_ARGUMENT, op.send = NULL);
  BAD(TPRT_INVALID_ARGUMENT, op.recv = NULL);
  BAD(TPRT_INVALID_ARGUMENT, op.recv = data + 1);
  BAD(TPRT_INVALID_ARGUMENT, op.timeout_ns = -1);
  BAD(TPRT_UNSUPPORTED, op.stream = data);
  BAD(TPRT_INVALID_ARGUMENT, op.kind = TPRT_OP_ALL_GATHER); /* invalid with a reduction */
  BAD(TPRT_INVALID_ARGUMENT, op.kind = TPRT_OP_REDUCE_SCATTER; op.dim = 1);
  BAD(TPRT_INVALID_ARGUMENT, op.kind = TPRT_OP_REDUCE_SCATTER; op.shape[0] = 8 * n + 1);
  BAD(TPRT_INVALID_ARGUMENT, op.kind = TPRT_OP_BROADCAST; op.reduction = TPRT_NO_REDUCTION;
      op.root = n);
  BAD(TPRT_INVALID_ARGUMENT, op.kind = TPRT_OP_PERMUTE; op.reduction = TPRT_NO_REDUCTION;
      op.pairs = outside; op.n_pairs = 1);
  BAD(TPRT_INVALID_ARGUMENT, op.kind = TPRT_OP_PERMUTE; op.reduction = TPRT_NO_REDUCTION;
      op.pairs = doubled; op.n_pairs = 2);
  BAD(TPRT_INVALID_ARGUMENT, op.reduction = TPRT_PREMUL_SUM); /* invalid without a scalar */
  BAD(TPRT_INVALID_ARGUMENT, op.kind = TPRT_OP_REDUCE; op.root = -1);
  BAD(TPRT_INVALID_ARGUMENT, op.kind = TPRT_OP_SCATTER; op.reduction = TPRT_NO_REDUCTION;
      op.shape[0] = 8 * n + 1);
#undef BAD
  errors += bad_pieces(comm);
  errors += bad_transfers(comm);
  CHECK_STATUS(errors, tprt_comm_status(comm), TPRT_OK); /* none of these errors is sticky */
  CHECK_STATUS(errors, tprt_submit(comm, &good, NULL), TPRT_OK);
  void *memory;
  CHECK_STATUS(errors, tprt_mem_alloc(comm, SIZE_MAX, &memory), TPRT_NO_MEMORY);
  if (test_on_shm())
    CHECK_STATUS(errors, tprt_mem_alloc(comm, 17 << 20, &memory), TPRT_NO_MEMORY);
  CHECK_STATUS(errors, tprt_mem_alloc(comm, 0, &memory), TPRT_OK);
  CHECK(errors, memory == NULL);
  return errors;
}

static void test_arguments(void **state) {
  (void)state;
  tprt_comm *none;
  setenv("TPRT_SIZE", "2", 1); /* only half of a launcher's variables */
  assert_int_equal(tprt_world_create(0, 0, NULL, &none), TPRT_INVALID_ARGUMENT);
  assert_non_null(strstr(tprt_last_error(), "TPRT_SIZE is set without TPRT_RANK"));
  unsetenv("TPRT_SIZE");
  tprt_config config = test_config();
  assert_int_equal(run_threads(3, &config, bad_arguments, NULL), 0);
  tprt_op op = {.size = sizeof op,
                .kind = TPRT_OP_ALL_REDUCE,
                .dtype = TPRT_BF16,
                .n_dims = 2,
                .shape = {5, 7}};
  static const struct {
    tprt_op_kind kind;
    int64_t bytes;
  } expected[] = {{TPRT_OP_ALL_REDUCE, 2 * 3 * 9 * 2},
                  {TPRT_OP_ALL_GATHER, 3 * 35 * 2},
                  {TPRT_OP_REDUCE_SCATTER, 3 * 9 * 2},
                  {TPRT_OP_ALL_TO_ALL, 3 * 9 * 2},
                  {TPRT_OP_PERMUTE, 70},
                  {TPRT_OP_BROADCAST, 70},
                  {TPRT_OP_BARRIER, 0},
                  {TPRT_OP_REDUCE, 70},
                  {TPRT_OP_GATHER, 70},
                  {TPRT_OP_SCATTER, 3 * 9 * 2},
                  {TPRT_OP_ALL_GATHER_V, 3 * 70},
                  {TPRT_OP_GATHER_V, 70}};
  for (size_t i = 0; i < sizeof expected / sizeof *expected; i++) {
    op.kind = expected[i].kind;
    assert_int_equal(tprt_op_bytes(&op, 4), expected[i].bytes);
  }
}

int main(int argc, char **argv) {
  if (argc == 2 && strcmp(argv[1], "worker") == 0)
    return worker_main();
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(test_launcher),  cmocka_unit_test(test_background),
      cmocka_unit_test(test_split),     cmocka_unit_test(test_groups),
      cmocka_unit_test(test_arguments), cmocka_unit_test(test_outsiders),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
