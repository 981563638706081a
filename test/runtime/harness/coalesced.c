/* Batches of independent collectives, beside the same collectives one by one. */
#include "paths.h"

#include "harness.h"

#include <stdlib.h>
#include <string.h>

enum { N_OPS = 24 };

static const tprt_hint independent = {"independent", "1"};

/* An operation and its tensors. */
typedef struct drawn {
  tprt_op op;
  char *send, *batch, *single; /* send is the same on both ways; recv of the batch, and of one */
  size_t send_bytes, recv_bytes;
} drawn;

/* All ranks draw the same. Some have another type, reduction or root than their neighbors, some are
 * large, and some have no hint. */
static bool draw(drawn *d, int n, int me, uint64_t *seed) {
  static const tprt_op_kind kinds[] = {TPRT_OP_ALL_REDUCE, TPRT_OP_ALL_GATHER,
                                       TPRT_OP_REDUCE_SCATTER, TPRT_OP_ALL_TO_ALL,
                                       TPRT_OP_BROADCAST};
  static const int64_t counts[] = {0, 1, 3, 8, 65, 700, 6000};
  uint64_t bits = test_random(seed);
  tprt_op_kind kind = kinds[bits / 3 % 5];
  int64_t count = counts[bits / 64 % (n > 4 ? 5 : 7)];
  int dim = (int)(bits / 512 % 2), split = (int)(bits / 1024 % 2);
  d->op = tprt_op_flat(kind, NULL, NULL, n, bits / 2048 % 4 ? TPRT_F32 : TPRT_I64, NULL);
  d->op.n_dims = 3;
  d->op.shape[0] = n;
  d->op.shape[1] = n;
  d->op.shape[2] = count;
  d->op.dim = dim;
  d->op.split_dim = split;
  if (kind == TPRT_OP_ALL_REDUCE || kind == TPRT_OP_REDUCE_SCATTER)
    d->op.reduction = bits / 8192 % 4 ? TPRT_SUM : TPRT_MAX;
  d->op.root = (int)(bits / 32768 % 8 ? 0 : n - 1);
  if (bits / 262144 % 8) {
    d->op.hints = &independent;
    d->op.n_hints = 1;
  }
  size_t size = d->op.dtype == TPRT_F32 ? 4 : 8;
  d->send_bytes = (size_t)(n * n * count) * size;
  d->recv_bytes = kind == TPRT_OP_ALL_GATHER       ? d->send_bytes * (size_t)n
                  : kind == TPRT_OP_REDUCE_SCATTER ? d->send_bytes / (size_t)n
                                                   : d->send_bytes;
  d->send = malloc(d->send_bytes + 1);
  d->batch = calloc(1, d->recv_bytes + 1);
  d->single = calloc(1, d->recv_bytes + 1);
  for (size_t i = 0; d->send && i < d->send_bytes / size; i++) {
    int value = (int)((i * 7 + (size_t)me * 13 + bits % 101) % 97);
    if (size == 4)
      ((float *)d->send)[i] = (float)value;
    else
      ((int64_t *)d->send)[i] = value;
  }
  return d->send && d->batch && d->single;
}

static int round_of(tprt_comm *comm, bool background, uint64_t *seed) {
  int errors = 0, n = tprt_comm_size(comm), me = tprt_comm_rank(comm);
  drawn all[N_OPS] = {0};
  tprt_op ops[N_OPS];
  for (int i = 0; i < N_OPS; i++) {
    bool drew = draw(&all[i], n, me, seed);
    CHECK(errors, drew);
    ops[i] = all[i].op;
    ops[i].send = all[i].send;
    ops[i].recv = all[i].batch;
  }
  tprt_work *work = NULL;
  CHECK_STATUS(errors, tprt_submit_batch(comm, ops, N_OPS, background ? &work : NULL), TPRT_OK);
  if (background)
    CHECK_STATUS(errors, tprt_work_wait(work, 0), TPRT_OK);
  tprt_work_destroy(work);
  for (int i = 0; i < N_OPS; i++) {
    ops[i].recv = all[i].single;
    ops[i].n_hints = 0;
    CHECK_STATUS(errors, tprt_submit(comm, &ops[i], NULL), TPRT_OK);
    CHECK(errors, memcmp(all[i].batch, all[i].single, all[i].recv_bytes) == 0);
    free(all[i].send);
    free(all[i].batch);
    free(all[i].single);
  }
  return errors;
}

/* A batch has the same results, bit for bit, as its operations submitted one by one, also where
 * send and recv are the same buffer. */
int path_coalesced(tprt_comm *comm, void *argument) {
  (void)argument;
  int errors = 0, n = tprt_comm_size(comm);
  uint64_t seed = 17;
  for (int round = 0; round < (n > 4 ? 2 : 8) && !errors; round++)
    errors += round_of(comm, round % 2, &seed);
  int32_t values[3] = {1, 2, 3};
  tprt_op in_place[3];
  for (int i = 0; i < 3; i++) {
    in_place[i] = tprt_op_flat(TPRT_OP_ALL_REDUCE, &values[i], &values[i], 1, TPRT_I32, NULL);
    in_place[i].reduction = TPRT_SUM;
    in_place[i].hints = &independent;
    in_place[i].n_hints = 1;
  }
  CHECK_STATUS(errors, tprt_submit_batch(comm, in_place, 3, NULL), TPRT_OK);
  CHECK(errors, values[0] == n && values[1] == 2 * n && values[2] == 3 * n);
  return errors;
}
