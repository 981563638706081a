/* Test cases of special data paths. */
#include "paths.h"

#include "harness.h"
#include "scenario.h"

#include <stdlib.h>

/* Some ranks have registered buffers, some not: all must choose the same path. */
int path_mixed_placement(tprt_comm *comm, void *argument) {
  (void)argument;
  int errors = 0, n = tprt_comm_size(comm);
  for (int kind = TPRT_OP_ALL_REDUCE; kind < TPRT_N_OP_KINDS; kind++) {
    if (!scenario_is_collective((tprt_op_kind)kind))
      continue;
    for (int odd = 0; odd < 2; odd++) {
      scenario s = {.kind = (tprt_op_kind)kind,
                    .dtype = TPRT_I32,
                    .outer = 1,
                    .width = 105 * n,
                    .inner = 11,
                    .registered = tprt_comm_rank(comm) % 2 == odd};
      if (scenario_reduces(s.kind))
        s.reduction = TPRT_SUM;
      errors += scenario_run(comm, &s);
    }
  }
  return errors;
}

/* Gathers into, and scatters out of, the rank's own position. */
int path_own_place(tprt_comm *comm, void *argument) {
  (void)argument;
  enum { COUNT = 5003 };
  int n = tprt_comm_size(comm), me = tprt_comm_rank(comm), errors = 0;
  static const int none = 0;
  for (int registered = 0; registered < 2; registered++) {
    scenario s = {.registered = registered != none};
    void *block;
    int32_t *all = scenario_take(comm, &s, sizeof(int32_t) * COUNT * (size_t)n, &block);
    for (int i = 0; i < COUNT; i++)
      all[me * COUNT + i] = me * COUNT + i;
    CHECK_STATUS(errors, tprt_all_gather(comm, all + me * COUNT, all, COUNT, TPRT_I32, NULL, NULL),
                 TPRT_OK);
    for (int i = 0; i < COUNT * n; i++)
      errors += all[i] != i;
    CHECK_STATUS(errors, tprt_barrier(comm, NULL, NULL), TPRT_OK);
    CHECK_STATUS(
        errors,
        tprt_reduce_scatter(comm, all, all + me * COUNT, COUNT, TPRT_I32, TPRT_SUM, NULL, NULL),
        TPRT_OK);
    for (int i = me * COUNT; i < (me + 1) * COUNT; i++)
      errors += all[i] != i * n;
    CHECK_STATUS(errors, tprt_barrier(comm, NULL, NULL), TPRT_OK);
    scenario_give(comm, &s, block);
  }
  return errors;
}

/* Permutes that are not permutations: a rank sends to itself, to several, to none; some receive
 * nothing. */
int path_odd_permutes(tprt_comm *comm, void *argument) {
  (void)argument;
  static const int32_t counts[] = {0, 1, 700, 9001};
  int n = tprt_comm_size(comm), me = tprt_comm_rank(comm), errors = 0;
  for (int turn = 0; turn < 16; turn++) {
    scenario s = {.registered = turn & 4};
    int32_t count = counts[turn % 4];
    tprt_pair pairs[64];
    size_t n_pairs = 0;
    int source = -1;
    for (int to = 0; to < n && turn / 8; to++) {
      /* from the middle to all except rank 0; first no pairs at all */
      if (to > 0 || n == 1)
        pairs[n_pairs++] = (tprt_pair){n / 2, to};
    }
    if (n_pairs && (me > 0 || n == 1))
      source = n / 2;
    void *blocks[2];
    int32_t *send = scenario_take(comm, &s, sizeof *send * (size_t)count, &blocks[0]);
    int32_t *recv = scenario_take(comm, &s, sizeof *recv * (size_t)count, &blocks[1]);
    for (int i = 0; i < count; i++) {
      send[i] = me * 100000 + i + 1;
      recv[i] = -1;
    }
    CHECK_STATUS(errors,
                 tprt_permute(comm, send, recv, count, TPRT_I32, n_pairs ? pairs : NULL, n_pairs,
                              NULL, NULL),
                 TPRT_OK);
    for (int i = 0; i < count; i++)
      errors += recv[i] != (source < 0 ? 0 : source * 100000 + i + 1);
    scenario_give(comm, &s, blocks[0]);
    scenario_give(comm, &s, blocks[1]);
  }
  CHECK(errors, errors == 0);
  return errors;
}

/* All-to-all over every pair of dimensions of a rank-4 tensor; element values encode (rank,
 * index). */
int path_all_to_all_dims(tprt_comm *comm, void *argument) {
  (void)argument;
  int n = tprt_comm_size(comm), me = tprt_comm_rank(comm), errors = 0;
  for (int pair = 0; pair < 16; pair++) {
    int split = pair / 4, join = pair % 4;
    tprt_op op = {.size = sizeof op,
                  .kind = TPRT_OP_ALL_TO_ALL,
                  .dtype = TPRT_I32,
                  .n_dims = 4,
                  .dim = join,
                  .split_dim = split,
                  .shape = {2, 3, 4, 5}};
    op.shape[split] *= n;
    int64_t total = 120 * n, out_shape[4];
    for (int d = 0; d < 4; d++)
      out_shape[d] = op.shape[d];
    out_shape[split] /= n;
    out_shape[join] *= n;
    int32_t *send = malloc((size_t)total * 4), *recv = malloc((size_t)total * 4);
    for (int64_t i = 0; i < total; i++)
      send[i] = (int32_t)(me * total + i);
    op.send = send;
    op.recv = recv;
    CHECK_STATUS(errors, tprt_submit(comm, &op, NULL), TPRT_OK);
    for (int64_t e = 0; e < total; e++) {
      int64_t at[4], rest = e, source = 0;
      for (int d = 3; d >= 0; d--) {
        at[d] = rest % out_shape[d];
        rest /= out_shape[d];
      }
      int64_t piece = op.shape[join] / (join == split ? n : 1);
      int64_t from = at[join] / piece;
      at[join] %= piece;
      at[split] += me * (op.shape[split] / n);
      for (int d = 0; d < 4; d++)
        source = source * op.shape[d] + at[d];
      errors += recv[e] != (int32_t)(from * total + source);
    }
    free(send);
    free(recv);
  }
  CHECK(errors, errors == 0);
  return errors;
}

/* The capability table and the backend agree: supported, or rejected with a reason. */
int path_capabilities(tprt_comm *comm, void *argument) {
  (void)argument;
  int errors = 0, me = tprt_comm_rank(comm), n = tprt_comm_size(comm);
  int32_t send = me, recv = 0, mark;
  int64_t counts[64];
  void *memory = NULL;
  tprt_window *window = NULL;
  for (int i = 0; i < n; i++)
    counts[i] = i == 0;
  tprt_op streamed = tprt_op_flat(TPRT_OP_BROADCAST, &send, &recv, 1, TPRT_I32, &mark);
  tprt_op swap[] = {tprt_op_send(&send, 1, TPRT_I32, (me + 1) % n, 0),
                    tprt_op_recv(&recv, 1, TPRT_I32, (me + n - 1) % n, 0)};
  tprt_op tagged[] = {tprt_op_send(&send, 1, TPRT_I32, (me + 1) % n, 8),
                      tprt_op_recv(&recv, 1, TPRT_I32, (me + n - 1) % n, 8)};
  const struct {
    tprt_capability bit;
    tprt_status got;
  } rows[] = {
      {TPRT_CAP_COLLECTIVES,
       tprt_all_reduce(comm, &send, &recv, 1, TPRT_I32, TPRT_MAX, NULL, NULL)},
      {TPRT_CAP_PIECES, tprt_gather_v(comm, &send, &recv, counts, NULL, TPRT_I32, 0, NULL, NULL)},
      {TPRT_CAP_TRANSFERS, tprt_submit_batch(comm, swap, 2, NULL)},
      {TPRT_CAP_TAGS, tprt_submit_batch(comm, tagged, 2, NULL)},
      {TPRT_CAP_REGISTERED, tprt_mem_alloc(comm, 64, &memory)},
      {TPRT_CAP_WINDOWS, tprt_window_create(comm, memory, 64, &window)},
      {TPRT_CAP_USER_MEMORY, tprt_mem_register(comm, &mark, sizeof mark)},
      {TPRT_CAP_STREAMS, tprt_submit(comm, &streamed, NULL)},
  };
  for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
    bool can = tprt_comm_capabilities(comm) & rows[i].bit;
    CHECK(errors, rows[i].got == (can ? TPRT_OK : TPRT_UNSUPPORTED));
    const char *help;
    CHECK(errors, tprt_capability_name(__builtin_ctz(rows[i].bit), &help) && *help);
  }
  CHECK(errors, tprt_capability_name(-1, NULL) == NULL &&
                    tprt_capability_name(__builtin_ctz(TPRT_CAP_ELASTIC) + 1, NULL) == NULL);
  CHECK_STATUS(errors, tprt_window_destroy(window), TPRT_OK);
  tprt_mem_free(comm, memory);
  return errors;
}
