/* Every backend, operation, dtype, reduction, a range of counts and of ranks, in place and not, aligned and not, staged and
 * registered, threads and processes: against an oracle that works on one element at a time, in another way than the
 * library does. */
#include "harness.h"
#include "oracle.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* ---- One case on one rank ---- */

typedef struct layout { /* the send tensor is outer x width x inner, dim 1 is worked on */
  int64_t outer, width, inner;
} layout;

typedef struct scenario {
  tprt_op_kind kind;
  tprt_dtype dtype;
  tprt_reduction reduction;
  layout shape;
  bool in_place, misaligned, registered;
} scenario;

static uint64_t seed_of(const scenario *s, int rank) {
  return (uint64_t)s->kind * 1000003 + (uint64_t)s->dtype * 10007 + (uint64_t)(s->shape.width * 31 + s->shape.inner) +
         (uint64_t)rank * 7919;
}

/* Where element e of rank `me`'s result comes from: rank and element there. Reductions: the element in all inputs. */
static size_t origin(const scenario *s, int n, int me, int64_t e, int *rank) {
  int64_t inner = s->shape.inner, width = s->shape.width;
  int64_t i = e % inner, w, o;
  *rank = me;
  switch (s->kind) {
  case TPRT_OP_ALL_GATHER:
    w = e / inner % (width * n), o = e / inner / (width * n);
    *rank = (int)(w / width);
    return (size_t)((o * width + w % width) * inner + i);
  case TPRT_OP_REDUCE_SCATTER:
    w = e / inner % (width / n), o = e / inner / (width / n);
    return (size_t)((o * width + me * (width / n) + w) * inner + i);
  case TPRT_OP_ALL_TO_ALL: /* split dim 1, joined along dim 0 */
    w = e / inner % (width / n), o = e / inner / (width / n);
    *rank = (int)(o / s->shape.outer);
    return (size_t)((o % s->shape.outer * width + me * (width / n) + w) * inner + i);
  default:
    return (size_t)e;
  }
}

static int permute_source(int n, int me) {
  return me == n - 1 && n > 1 ? -1 : (me + 1) % n;
} /* to the left; none to the last */

static int check_result(const scenario *s, tprt_comm *comm, unsigned char *const *inputs, const unsigned char *recv,
                        int64_t count) {
  int n = tprt_comm_size(comm), me = tprt_comm_rank(comm);
  size_t size = tprt_dtype_size(s->dtype);
  for (int64_t e = 0; e < count; e++) {
    unsigned char expected[16] = {0};
    int rank;
    size_t at = origin(s, n, me, e, &rank);
    if (s->reduction) {
      oracle_reduce(s->dtype, s->reduction, inputs, n, at, expected);
    } else {
      if (s->kind == TPRT_OP_BROADCAST)
        rank = n - 1;
      if (s->kind == TPRT_OP_PERMUTE)
        rank = permute_source(n, me);
      if (rank >= 0)
        oracle_copy(s->dtype, expected, inputs[rank] + at * size);
    }
    if (!oracle_same(s->dtype, expected, recv + (size_t)e * size)) {
      print_error("%s %s %s %lldx%lldx%lld%s%s%s on %d ranks of %s: rank %d has element %lld wrong\n",
                  tprt_op_kind_name(s->kind), tprt_dtype_name(s->dtype), tprt_reduction_name(s->reduction),
                  (long long)s->shape.outer, (long long)s->shape.width, (long long)s->shape.inner,
                  s->in_place ? " in place" : "", s->misaligned ? " misaligned" : "", s->registered ? " registered" : "", n,
                  tprt_comm_backend(comm), me, (long long)e);
      return 1;
    }
  }
  return 0;
}

/* The result's bits have to be equal on all ranks, NaNs included: gather a hash and compare. */
static int check_identity(tprt_comm *comm, const void *recv, size_t bytes) {
  uint64_t hash = 1469598103934665603u, all[64];
  for (size_t i = 0; i < bytes; i++)
    hash = (hash ^ ((const unsigned char *)recv)[i]) * 1099511628211u;
  int errors = 0;
  CHECK_STATUS(errors, tprt_all_gather(comm, &hash, all, 1, TPRT_U64, NULL, NULL), TPRT_OK);
  for (int i = 0; i < tprt_comm_size(comm); i++)
    CHECK(errors, all[i] == hash);
  return errors;
}

static void *take(tprt_comm *comm, const scenario *s, size_t bytes, void **block) {
  *block = NULL;
  if (s->registered) {
    if (tprt_mem_alloc(comm, bytes + 64, block))
      return NULL;
  } else {
    *block = malloc(bytes + 64);
  }
  return *block ? (unsigned char *)*block + (s->misaligned ? 1 : 0) : NULL;
}

static void give(tprt_comm *comm, const scenario *s, void *block) {
  if (s->registered)
    tprt_mem_free(comm, block);
  else
    free(block);
}

static int run_scenario(tprt_comm *comm, const scenario *s) {
  int n = tprt_comm_size(comm), me = tprt_comm_rank(comm), errors = 0;
  size_t size = tprt_dtype_size(s->dtype);
  /* Where all ranks get the same, one looks at the numbers and the identity of bits speaks for the others. */
  bool same = s->kind == TPRT_OP_ALL_REDUCE || s->kind == TPRT_OP_BROADCAST, looks = !same || me == 0;
  int64_t sent = s->shape.outer * s->shape.width * s->shape.inner;
  int64_t received = s->kind == TPRT_OP_ALL_GATHER ? sent * n : s->kind == TPRT_OP_REDUCE_SCATTER ? sent / n : sent;
  unsigned char *inputs[64] = {NULL};
  for (int i = 0; i < n; i++) {
    if (!looks && i != me)
      continue;
    inputs[i] = malloc((size_t)sent * size + 1);
    oracle_fill(s->dtype, s->reduction, inputs[i], sent, seed_of(s, i));
  }
  void *send_block, *recv_block = NULL;
  unsigned char *send = take(comm, s, (size_t)sent * size, &send_block);
  unsigned char *recv = s->in_place ? send : take(comm, s, (size_t)received * size, &recv_block);
  CHECK(errors, send && recv);
  if (!errors) {
    tprt_pair pairs[64];
    size_t n_pairs = 0;
    for (int i = 0; i < n; i++) {
      if (permute_source(n, i) >= 0)
        pairs[n_pairs++] = (tprt_pair){permute_source(n, i), i};
    }
    memcpy(send, inputs[me], (size_t)sent * size);
    if (!s->in_place)
      memset(recv, 0xa5, (size_t)received * size);
    tprt_op op = {
        .size = sizeof op,
        .kind = s->kind,
        .dtype = s->dtype,
        .reduction = s->reduction,
        .n_dims = 3,
        .dim = s->kind == TPRT_OP_ALL_TO_ALL ? 0 : 1,
        .split_dim = 1,
        .root = n - 1,
        .shape = {s->shape.outer, s->shape.width, s->shape.inner},
        .send = send,
        .recv = recv,
        .pairs = pairs,
        .n_pairs = n_pairs,
    };
    CHECK_STATUS(errors, tprt_submit(comm, &op, NULL), TPRT_OK);
    if (!errors && looks)
      errors += check_result(s, comm, inputs, recv, received);
    if (!errors && !s->in_place)
      CHECK(errors, memcmp(send, inputs[me], (size_t)sent * size) == 0);
    if (same)
      errors += check_identity(comm, recv, (size_t)received * size);
  }
  give(comm, s, send_block);
  if (recv_block)
    give(comm, s, recv_block);
  for (int i = 0; i < n; i++)
    free(inputs[i]);
  return errors;
}

/* ---- The matrix ---- */

static bool cuts(tprt_op_kind kind) { return kind == TPRT_OP_REDUCE_SCATTER || kind == TPRT_OP_ALL_TO_ALL; }

/* All reductions that the type knows, or none for operations without. */
static int run_reductions(tprt_comm *comm, scenario s) {
  if (s.kind != TPRT_OP_ALL_REDUCE && s.kind != TPRT_OP_REDUCE_SCATTER)
    return run_scenario(comm, &s);
  int errors = 0;
  for (int r = 1; r < TPRT_N_REDUCTIONS; r++) {
    s.reduction = (tprt_reduction)r;
    if (tprt_reduction_supports(s.reduction, s.dtype))
      errors += run_scenario(comm, &s);
  }
  return errors;
}

/* Every dtype and reduction on small shapes. */
static int small_matrix(tprt_comm *comm, void *argument) {
  (void)argument;
  static const layout shapes[] = {{1, 0, 1}, {1, 1, 1}, {3, 2, 5}, {1, 31, 1}, {2, 1, 257}};
  int errors = 0, n = tprt_comm_size(comm), turn = 0;
  for (int kind = TPRT_OP_ALL_REDUCE; kind <= TPRT_OP_BROADCAST; kind++) {
    for (int t = 1; t < TPRT_N_DTYPES && !errors; t++) {
      for (size_t i = 0; i < sizeof shapes / sizeof *shapes; i++, turn++) {
        scenario s = {.kind = (tprt_op_kind)kind, .dtype = (tprt_dtype)t, .shape = shapes[i]};
        if (cuts(s.kind))
          s.shape.width *= n;
        s.in_place = (kind == TPRT_OP_ALL_REDUCE || kind == TPRT_OP_BROADCAST) && turn % 2;
        s.misaligned = turn % 3 == 0;
        errors += run_reductions(comm, s);
      }
    }
  }
  return errors;
}

/* Every path of the engine: sizes around chunk and threshold, in all placements, for a type of each width class. */
static int large_matrix(tprt_comm *comm, void *argument) {
  (void)argument;
  static const struct {
    tprt_dtype dtype;
    tprt_reduction reduction;
  } types[] = {{TPRT_F32, TPRT_SUM}, {TPRT_BF16, TPRT_AVG}, {TPRT_F64, TPRT_MAX}, {TPRT_U8, TPRT_BXOR}};
  static const layout shapes[] = {{1, 1, 4095},  {1, 4097, 1}, {7, 3, 331},  {509, 4, 5},
                                  {1, 1, 20011}, {5, 2, 2048}, {1, 3, 14983}};
  int errors = 0, n = tprt_comm_size(comm);
  for (int kind = TPRT_OP_ALL_REDUCE; kind <= TPRT_OP_BROADCAST && !errors; kind++) {
    for (size_t t = 0; t < sizeof types / sizeof *types; t++) {
      for (size_t i = 0; i < sizeof shapes / sizeof *shapes; i++) {
        for (int place = 0; place < 8; place++) {
          scenario s = {.kind = (tprt_op_kind)kind,
                        .dtype = types[t].dtype,
                        .shape = shapes[i],
                        .in_place = place & 1,
                        .misaligned = place & 2,
                        .registered = place & 4};
          if ((size_t)place % 4 != (t + i) % 4)
            continue; /* a quarter of the placements for each shape */
          if (n > 3 && t > 0 && (cuts(s.kind) || s.shape.inner > 10000))
            continue; /* the oracle's time grows with n * n */
          if (cuts(s.kind))
            s.shape.width *= n;
          if (kind == TPRT_OP_ALL_REDUCE || kind == TPRT_OP_REDUCE_SCATTER)
            s.reduction = types[t].reduction;
          if (kind != TPRT_OP_ALL_REDUCE && kind != TPRT_OP_BROADCAST)
            s.in_place = false;
          errors += run_scenario(comm, &s);
        }
      }
    }
  }
  return errors;
}

/* Some ranks have registered buffers, some not: all must come to the same path. */
static int mixed_placement(tprt_comm *comm, void *argument) {
  (void)argument;
  int errors = 0;
  for (int kind = TPRT_OP_ALL_REDUCE; kind <= TPRT_OP_BROADCAST; kind++) {
    for (int odd = 0; odd < 2; odd++) {
      scenario s = {
          .kind = (tprt_op_kind)kind, .dtype = TPRT_I32, .shape = {1, 840, 11}, .registered = tprt_comm_rank(comm) % 2 == odd};
      if (kind == TPRT_OP_ALL_REDUCE || kind == TPRT_OP_REDUCE_SCATTER)
        s.reduction = TPRT_SUM;
      errors += run_scenario(comm, &s);
    }
  }
  return errors;
}

/* Gathering into, and scattering out of, the rank's own place. */
static int own_place(tprt_comm *comm, void *argument) {
  (void)argument;
  enum { COUNT = 5003 };
  int n = tprt_comm_size(comm), me = tprt_comm_rank(comm), errors = 0;
  static const int none = 0;
  for (int registered = 0; registered < 2; registered++) {
    scenario s = {.registered = registered != none};
    void *block;
    int32_t *all = take(comm, &s, sizeof(int32_t) * COUNT * (size_t)n, &block);
    for (int i = 0; i < COUNT; i++)
      all[me * COUNT + i] = me * COUNT + i;
    CHECK_STATUS(errors, tprt_all_gather(comm, all + me * COUNT, all, COUNT, TPRT_I32, NULL, NULL), TPRT_OK);
    for (int i = 0; i < COUNT * n; i++)
      errors += all[i] != i;
    CHECK_STATUS(errors, tprt_barrier(comm, NULL, NULL), TPRT_OK);
    CHECK_STATUS(errors, tprt_reduce_scatter(comm, all, all + me * COUNT, COUNT, TPRT_I32, TPRT_SUM, NULL, NULL), TPRT_OK);
    for (int i = me * COUNT; i < (me + 1) * COUNT; i++)
      errors += all[i] != i * n;
    CHECK_STATUS(errors, tprt_barrier(comm, NULL, NULL), TPRT_OK);
    give(comm, &s, block);
  }
  return errors;
}

/* Permutations that are none: a rank sends to itself, to several, to nobody; some get nothing. */
static int odd_permutes(tprt_comm *comm, void *argument) {
  (void)argument;
  static const int32_t counts[] = {0, 1, 700, 9001};
  int n = tprt_comm_size(comm), me = tprt_comm_rank(comm), errors = 0;
  for (int turn = 0; turn < 16; turn++) {
    scenario s = {.registered = turn & 4};
    int32_t count = counts[turn % 4];
    tprt_pair pairs[64];
    size_t n_pairs = 0;
    int source = -1;
    for (int to = 0; to < n && turn / 8; to++) { /* all from the middle to all but rank 0; at first no pairs at all */
      if (to > 0 || n == 1)
        pairs[n_pairs++] = (tprt_pair){n / 2, to};
    }
    if (n_pairs && (me > 0 || n == 1))
      source = n / 2;
    void *blocks[2];
    int32_t *send = take(comm, &s, sizeof *send * (size_t)count, &blocks[0]);
    int32_t *recv = take(comm, &s, sizeof *recv * (size_t)count, &blocks[1]);
    for (int i = 0; i < count; i++) {
      send[i] = me * 100000 + i + 1;
      recv[i] = -1;
    }
    CHECK_STATUS(errors, tprt_permute(comm, send, recv, count, TPRT_I32, n_pairs ? pairs : NULL, n_pairs, NULL, NULL), TPRT_OK);
    for (int i = 0; i < count; i++)
      errors += recv[i] != (source < 0 ? 0 : source * 100000 + i + 1);
    give(comm, &s, blocks[0]);
    give(comm, &s, blocks[1]);
  }
  CHECK(errors, errors == 0);
  return errors;
}

/* All-to-all over every pair of dimensions of a rank-4 tensor; element values name (rank, index). */
static int all_to_all_dims(tprt_comm *comm, void *argument) {
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

/* All paths of data, with the few types that large_matrix has. */
static int all_paths(tprt_comm *comm, void *argument) {
  int errors = large_matrix(comm, argument);
  if (!errors)
    errors = mixed_placement(comm, argument);
  if (!errors)
    errors = own_place(comm, argument);
  if (!errors)
    errors = all_to_all_dims(comm, argument);
  return errors ? errors : odd_permutes(comm, argument);
}

static int everything(tprt_comm *comm, void *argument) {
  int errors = small_matrix(comm, argument);
  return errors ? errors : all_paths(comm, argument);
}

#if defined(__SANITIZE_THREAD__)
#define WATCHED 1
#elif defined(__has_feature)
#if __has_feature(thread_sanitizer)
#define WATCHED 1
#endif
#endif
#ifndef WATCHED
#define WATCHED 0
#endif

/* What races is the paths, not the arithmetic of types: watched, many ranks go through the former only. */
static rank_fn *much(void) {
  if (WATCHED)
    print_message("with ThreadSanitizer: more than 3 ranks run 4 of the types\n");
  return WATCHED ? all_paths : everything;
}

static void test_processes(void **state) { /* first: fork wants a process without threads */
  (void)state;
  tprt_config config = test_config();
  assert_int_equal(run_processes(2, &config, everything, NULL, NULL), 0);
  assert_int_equal(run_processes(5, &config, much(), NULL, NULL), 0);
}

static void test_self(void **state) {
  (void)state;
  tprt_config config = test_config();
  config.backend = "Self";
  assert_int_equal(run_threads(1, &config, everything, NULL), 0);
}

static void test_threads(void **state) {
  (void)state;
  tprt_config config = test_config();
  for (int n = 1; n <= 8; n++)
    assert_int_equal(run_threads(n, &config, n < 4 ? everything : n == 8 ? much() : large_matrix, NULL), 0);
}

/* Chunks of 4 KiB and chunks larger than the message: the same bits. */
static uint64_t chunk_hashes[2];
static int hash_sum(tprt_comm *comm, void *argument) {
  enum { COUNT = 30011 };
  int errors = 0;
  unsigned char *data = malloc(COUNT * 2);
  oracle_fill(TPRT_BF16, TPRT_SUM, data, COUNT, (uint64_t)tprt_comm_rank(comm));
  CHECK_STATUS(errors, tprt_all_reduce(comm, data, data, COUNT, TPRT_BF16, TPRT_SUM, NULL, NULL), TPRT_OK);
  uint64_t hash = 1;
  for (int i = 0; i < COUNT * 2; i++)
    hash = hash * 31 + data[i];
  if (tprt_comm_rank(comm) == 0)
    *(uint64_t *)argument = hash;
  free(data);
  return errors;
}

static void test_chunking(void **state) {
  (void)state;
  for (int i = 0; i < 2; i++) {
    tprt_config config = test_config();
    config.slot_bytes = i ? 1 << 20 : 4096;
    assert_int_equal(run_threads(3, &config, hash_sum, &chunk_hashes[i]), 0);
  }
  assert_int_equal(chunk_hashes[0], chunk_hashes[1]);
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(test_processes),
      cmocka_unit_test(test_self),
      cmocka_unit_test(test_threads),
      cmocka_unit_test(test_chunking),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
