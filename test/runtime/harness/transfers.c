/* Sends and recvs: all ranks draw the same list of messages. Each submits its sends and recvs in
 * its own order, which preserves only the order of messages with the same ranks and tag, as the
 * matching rule requires. */
#include "paths.h"

#include "harness.h"
#include "long.h"
#include "scenario.h"

#include <stdlib.h>
#include <string.h>

enum { N_MESSAGES = 40, N_TAGS = 3 };

typedef struct message {
  int source, destination, tag;
  tprt_dtype dtype;
  int64_t count;
  bool from_arena, to_arena;
  uint64_t seed;
} message;

static void draw_messages(message *messages, int n_ranks, uint64_t seed) {
  static const int64_t counts[] = {0, 1, 7, 513, 2049, 4096, 16383, 16385, 50021};
  for (int i = 0; i < N_MESSAGES; i++) {
    uint64_t bits = test_random(&seed);
    messages[i] = (message){.source = (int)(bits % (uint64_t)n_ranks),
                            .destination = (int)(bits / 64 % (uint64_t)n_ranks),
                            .tag = (int)(bits / 4096 % N_TAGS) * 1000003,
                            .dtype = (tprt_dtype)(1 + bits / 65536 % (TPRT_N_DTYPES - 1)),
                            .count = counts[bits / 1048576 % (sizeof counts / sizeof *counts)],
                            .from_arena = bits >> 40 & 1,
                            .to_arena = bits >> 41 & 1,
                            .seed = bits};
  }
}

static unsigned char byte_at(const message *m, size_t i) {
  return (unsigned char)(m->seed + i * 31 + i / 251);
}

typedef struct end {
  const message *message;
  bool sends;
  unsigned char *buffer;
  void *block;
} end;

static bool keep_order(const end *a, const end *b) {
  const message *x = a->message, *y = b->message;
  return a->sends == b->sends && x->source == y->source && x->destination == y->destination &&
         x->tag == y->tag;
}

/* Swaps random neighbors, unless the matching rule applies to them. */
static void shuffle(end *ends, int n, uint64_t seed) {
  for (int round = 0; round < 200 && n > 1; round++) {
    int at = (int)(test_random(&seed) % (uint64_t)(n - 1));
    if (keep_order(&ends[at], &ends[at + 1]))
      continue;
    end kept = ends[at];
    ends[at] = ends[at + 1];
    ends[at + 1] = kept;
  }
}

static int run_batch(tprt_comm *comm, uint64_t seed, bool background) {
  message messages[N_MESSAGES];
  end ends[2 * N_MESSAGES];
  tprt_op ops[2 * N_MESSAGES];
  int errors = 0, n = 0, me = tprt_comm_rank(comm);
  draw_messages(messages, tprt_comm_size(comm), seed);
  for (int i = 0; i < 2 * N_MESSAGES; i++) {
    const message *m = &messages[i / 2];
    bool sends = i % 2 == 0;
    if ((sends ? m->source : m->destination) != me)
      continue;
    size_t bytes = (size_t)m->count * tprt_dtype_size(m->dtype);
    scenario place = {.misaligned = m->seed >> 42 & 1,
                      .registered = sends ? m->from_arena : m->to_arena};
    ends[n] = (end){.message = m, .sends = sends};
    ends[n].buffer = scenario_take(comm, &place, bytes, &ends[n].block);
    for (size_t b = 0; b < bytes; b++)
      ends[n].buffer[b] = sends ? byte_at(m, b) : 0;
    n++;
  }
  shuffle(ends, n, seed * 31 + (uint64_t)me);
  for (int i = 0; i < n; i++) {
    const message *m = ends[i].message;
    ops[i] = ends[i].sends
                 ? tprt_op_send(ends[i].buffer, m->count, m->dtype, m->destination, m->tag)
                 : tprt_op_recv(ends[i].buffer, m->count, m->dtype, m->source, m->tag);
  }
  tprt_work *work = NULL;
  CHECK_STATUS(errors, tprt_submit_batch(comm, ops, (size_t)n, background ? &work : NULL), TPRT_OK);
  if (work)
    CHECK_STATUS(errors, tprt_work_wait(work, 0), TPRT_OK);
  tprt_work_destroy(work);
  for (int i = 0; i < n; i++) {
    const message *m = ends[i].message;
    size_t bytes = (size_t)m->count * tprt_dtype_size(m->dtype), wrong = 0;
    for (size_t b = 0; b < bytes; b++)
      wrong += ends[i].buffer[b] != byte_at(m, b);
    CHECK(errors, wrong == 0);
    scenario place = {.registered = ends[i].sends ? m->from_arena : m->to_arena};
    scenario_give(comm, &place, ends[i].block);
  }
  return errors;
}

int path_random_transfers(tprt_comm *comm, void *argument) {
  (void)argument;
  int errors = 0;
  for (uint64_t seed = 1; seed <= 6 && !errors; seed++)
    errors = run_batch(comm, seed * 1000 + (uint64_t)tprt_comm_size(comm), seed % 2);
  return errors;
}

/* Sends one message at a time around a ring, with collectives in between. */
static int ring(tprt_comm *comm) {
  int errors = 0, n = tprt_comm_size(comm), me = tprt_comm_rank(comm);
  int32_t token = 0, sum = me;
  for (int round = 0; round < 3 && n > 1; round++) {
    if (me > 0 || round > 0)
      CHECK_STATUS(errors, tprt_recv(comm, &token, 1, TPRT_I32, (me + n - 1) % n, 7, NULL, NULL),
                   TPRT_OK);
    CHECK(errors, token == (me || round ? round * n + me : 0));
    token++;
    if (me < n - 1 || round < 2)
      CHECK_STATUS(errors, tprt_send(comm, &token, 1, TPRT_I32, (me + 1) % n, 7, NULL, NULL),
                   TPRT_OK);
  }
  CHECK_STATUS(errors, tprt_all_reduce(comm, &sum, &sum, 1, TPRT_I32, TPRT_SUM, NULL, NULL),
               TPRT_OK);
  CHECK(errors, sum == n * (n - 1) / 2);
  return errors;
}

/* Sends many messages to one receiver that receives in the opposite order of tags, more than a pipe
 * has requests for; and a batch with a collective in the middle. */
int path_tags(tprt_comm *comm, void *argument) {
  (void)argument;
  enum { N = 100 };
  int errors = ring(comm), n = tprt_comm_size(comm), me = tprt_comm_rank(comm), from = n - 1;
  int32_t values[2 * N] = {0}, sum = 0;
  tprt_op ops[2 * N + 2];
  size_t n_ops = 0;
  for (int i = 0; i < N; i++) {
    values[i] = me * 1000 + i;
    if (me == from)
      ops[n_ops++] = tprt_op_send(&values[i], 1, TPRT_I32, 0, i);
  }
  for (int i = 0; i < N && me == 0; i++)
    ops[n_ops++] = tprt_op_recv(&values[N + i], 1, TPRT_I32, from, N - 1 - i);
  ops[n_ops] = tprt_op_flat(TPRT_OP_ALL_REDUCE, &values[1], &sum, 1, TPRT_I32, NULL);
  ops[n_ops++].reduction = TPRT_SUM;
  ops[n_ops++] =
      me == 0 ? tprt_op_send(&sum, 1, TPRT_I32, n - 1, 5) : tprt_op_recv(&sum, 1, TPRT_I32, 0, 5);
  if (n == 1 || (me && me < n - 1))
    n_ops--;
  CHECK_STATUS(errors, tprt_submit_batch(comm, ops, n_ops, NULL), TPRT_OK);
  for (int i = 0; i < N && me == 0; i++)
    errors += values[N + i] != from * 1000 + N - 1 - i;
  CHECK(errors, errors == 0 && sum == n + 1000 * n * (n - 1) / 2);
  CHECK_STATUS(errors, tprt_submit_batch(comm, NULL, 0, NULL), TPRT_OK);
  return errors;
}

/* Sends batches of messages with one tag and different sizes, repeatedly: at any moment, the sender
 * must see an older request before a newer one. The size of each recv identifies its message. */
int path_same_tag(tprt_comm *comm, void *argument) {
  (void)argument;
  enum { N = 24 };
  int n_rounds = test_is_long() ? 4000 : 1000, errors = 0, n = tprt_comm_size(comm),
      me = tprt_comm_rank(comm), peer = me ^ 1;
  static const unsigned char data[N];
  if (peer >= n)
    return 0;
  for (int round = 0; round < n_rounds && !errors; round++) {
    unsigned char received[N];
    tprt_op ops[N];
    for (int i = 0; i < N; i++)
      ops[i] = me & 1 ? tprt_op_send(data, 1 + (i * 7 + round) % N, TPRT_U8, peer, 3)
                      : tprt_op_recv(received, 1 + (i * 7 + round) % N, TPRT_U8, peer, 3);
    CHECK_STATUS(errors, tprt_submit_batch(comm, ops, N, NULL), TPRT_OK);
  }
  return errors;
}
