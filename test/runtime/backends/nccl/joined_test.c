/* Tests batches of independent collectives: one group of NCCL calls, with the results of the
 * operations one by one. */
#define _GNU_SOURCE 1
#include "machine.h"

#include <pthread.h>
#include <stdlib.h>
#include <string.h>

/* COUNT elements per rank; tensors of MOST_RANKS times as many. */
enum { N_OPS = 9, COUNT = 12, MOST_RANKS = 4, ROOM = (MOST_RANKS * COUNT + 1) * 8 };

/* What a batch consists of. Each row is one call of NCCL but those from SEPARATE on. */
enum { SEPARATE = 7 };
static const struct row {
  tprt_op_kind kind;
  tprt_dtype dtype;
  tprt_reduction reduction;
  int shift; /* bytes by which tensors are not aligned */
  bool is_empty;
} rows[N_OPS] = {
    {.kind = TPRT_OP_ALL_REDUCE, .dtype = TPRT_F32, .reduction = TPRT_SUM},
    {.kind = TPRT_OP_ALL_REDUCE, .dtype = TPRT_F64, .reduction = TPRT_AVG}, /* divides 3 ranks */
    {.kind = TPRT_OP_REDUCE_SCATTER, .dtype = TPRT_I32, .reduction = TPRT_MAX, .shift = 1},
    {.kind = TPRT_OP_ALL_GATHER, .dtype = TPRT_U8, .shift = 1},
    {.kind = TPRT_OP_ALL_REDUCE, .dtype = TPRT_F32, .reduction = TPRT_SUM, .is_empty = true},
    {.kind = TPRT_OP_BROADCAST, .dtype = TPRT_F16},
    {.kind = TPRT_OP_ALL_REDUCE, .dtype = TPRT_F64, .reduction = TPRT_SUM, .shift = 4},
    /* NCCL computes this minimum differently, and has no such operation */
    {.kind = TPRT_OP_ALL_REDUCE, .dtype = TPRT_F32, .reduction = TPRT_MIN},
    {.kind = TPRT_OP_ALL_REDUCE, .dtype = TPRT_I32, .reduction = TPRT_BXOR},
};

typedef struct habit {
  bool is_in_stream, has_work, is_checked;
  bool spoils_alignment; /* of one rank */
} habit;

typedef struct tensors {
  unsigned char *memory, *send, *together, *alone;
  size_t bytes; /* that are received */
} tensors;

static tprt_op op_of(const struct row *row, int n, void *stream) {
  int64_t count = row->is_empty ? 0 : row->kind == TPRT_OP_REDUCE_SCATTER ? n * COUNT : COUNT;
  tprt_op op = tprt_op_flat(row->kind, NULL, NULL, count, row->dtype, stream);
  op.reduction = row->reduction;
  return op;
}

/* The tensors of operation i; those that are sent hold small numbers. */
static tensors make_tensors(int i, int n, int me, int shift) {
  const struct row *row = &rows[i];
  size_t size = (size_t)tprt_dtype_size(row->dtype);
  int parts = row->is_empty ? 0 : row->kind == TPRT_OP_ALL_GATHER ? n : 1;
  unsigned char *memory = machine_alloc(me, 3 * ROOM);
  memset(memory, 0, 3 * ROOM);
  tensors made = {memory, memory + shift, memory + ROOM + shift, memory + 2 * ROOM + shift,
                  (size_t)(parts * COUNT) * size};
  for (int k = 0; k < MOST_RANKS * COUNT; k++) {
    double value = (k * 5 + me * 3 + i) % 17;
    float single = (float)value;
    int32_t number = (int32_t)value;
    const void *from = row->dtype == TPRT_F64   ? (const void *)&value
                       : row->dtype == TPRT_F32 ? (const void *)&single
                                                : (const void *)&number;
    memcpy(made.send + (size_t)k * size, from, size);
  }
  return made;
}

/* Groups that all ranks have launched, while none launches another. */
static pthread_barrier_t all_ranks;
static long groups_now(void) {
  pthread_barrier_wait(&all_ranks);
  long n = machine_look().n_groups;
  pthread_barrier_wait(&all_ranks);
  return n;
}

static int submit(tprt_comm *comm, const tprt_op *ops, const habit *how, void *stream) {
  int errors = 0;
  tprt_work *work = NULL;
  CHECK_STATUS(errors, tprt_submit_batch(comm, ops, N_OPS, how->has_work ? &work : NULL), TPRT_OK);
  if (work)
    CHECK_STATUS(errors, tprt_work_wait(work, 0), TPRT_OK);
  tprt_work_destroy(work);
  if (stream)
    machine_synchronize(stream);
  return errors;
}

static int run_batch(tprt_comm *comm, void *argument) {
  static const tprt_hint independent = {"independent", "1"};
  const habit *how = argument;
  int errors = 0, n = tprt_comm_size(comm), me = tprt_comm_rank(comm);
  void *stream = how->is_in_stream ? machine_stream(me) : NULL;
  tensors all[N_OPS];
  tprt_op ops[N_OPS];
  for (int i = 0; i < N_OPS; i++) {
    int shift = rows[i].shift + (how->spoils_alignment && me == 0 && rows[i].shift == 0);
    all[i] = make_tensors(i, n, me, shift);
    ops[i] = op_of(&rows[i], n, stream);
    ops[i].send = all[i].send;
    ops[i].recv = all[i].together;
  }
  long groups[2];
  for (int hint = 0; hint < 2; hint++) {
    for (int i = 0; i < N_OPS; i++) {
      ops[i].hints = hint ? &independent : NULL;
      ops[i].n_hints = hint;
    }
    long before = groups_now();
    errors += submit(comm, ops, how, stream);
    groups[hint] = groups_now() - before;
  }
  /* one instead of one for each that is one call and not empty */
  CHECK(errors, groups[0] - groups[1] == (how->is_checked ? 0 : n * (SEPARATE - 1 - 1)));
  for (int i = 0; i < N_OPS; i++) {
    ops[i].recv = all[i].alone;
    ops[i].n_hints = 0;
    CHECK_STATUS(errors, tprt_submit(comm, &ops[i], NULL), TPRT_OK);
  }
  if (stream)
    machine_synchronize(stream);
  for (int i = 0; i < N_OPS; i++) {
    CHECK(errors, memcmp(all[i].together, all[i].alone, all[i].bytes) == 0);
    machine_free(me, all[i].memory);
  }
  if (stream)
    machine_stream_destroy(me, stream);
  return errors;
}

static void run(int n, habit how, int delay_us) {
  const tprt_config config = machine_config();
  pthread_barrier_init(&all_ranks, NULL, (unsigned)n);
  machine_begin((fake_plan){.most_delay_us = delay_us});
  assert_int_equal(run_threads(n, &config, run_batch, &how), 0);
  machine_expect_clean();
  pthread_barrier_destroy(&all_ranks);
}

static void test_groups(void **state) {
  (void)state;
  for (int n = 2; n <= MOST_RANKS; n++)
    for (int delay = 0; delay <= 200; delay += 200) {
      run(n, (habit){0}, delay);
      run(n, (habit){.has_work = true}, delay);
      run(n, (habit){.is_in_stream = true}, delay);
      run(n, (habit){.is_in_stream = true, .has_work = true}, delay);
    }
}

/* Whether operations run together does not depend on addresses, which may differ between ranks. */
static void test_addresses(void **state) {
  (void)state;
  for (int n = 2; n <= MOST_RANKS; n++) {
    run(n, (habit){.spoils_alignment = true}, 50);
    run(n, (habit){.spoils_alignment = true, .is_in_stream = true}, 50);
  }
}

/* With TPRT_NCCL_CHECK each operation is compared, so each is alone. */
static void test_check(void **state) {
  (void)state;
  setenv("TPRT_NCCL_CHECK", "1", 1);
  run(3, (habit){.is_in_stream = true, .has_work = true, .is_checked = true}, 50);
  unsetenv("TPRT_NCCL_CHECK");
}

int main(void) {
  const struct CMUnitTest tests[] = {cmocka_unit_test(test_groups),
                                     cmocka_unit_test(test_addresses),
                                     cmocka_unit_test(test_check)};
  machine_start();
  return cmocka_run_group_tests(tests, NULL, NULL);
}
