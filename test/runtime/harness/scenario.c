/* Runs one operation on one rank and checks every element of the result. */
#define _GNU_SOURCE 1
#include "scenario.h"

#include "oracle.h"
#include "ranks.h"

#include <pthread.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>

enum { MAX_RANKS = 64 };

bool scenario_is_collective(tprt_op_kind kind) {
  return kind != TPRT_OP_BARRIER && kind != TPRT_OP_SEND && kind != TPRT_OP_RECV;
}
bool scenario_reduces(tprt_op_kind kind) {
  return kind == TPRT_OP_ALL_REDUCE || kind == TPRT_OP_REDUCE || kind == TPRT_OP_REDUCE_SCATTER ||
         kind == TPRT_OP_REDUCE_SCATTER_V;
}
bool scenario_cuts(tprt_op_kind kind) {
  return kind == TPRT_OP_REDUCE_SCATTER || kind == TPRT_OP_ALL_TO_ALL || kind == TPRT_OP_SCATTER;
}
bool scenario_in_pieces(tprt_op_kind kind) {
  return kind >= TPRT_OP_ALL_GATHER_V && kind <= TPRT_OP_SCATTER_V;
}
static bool sends_pieces(tprt_op_kind kind) {
  return kind == TPRT_OP_REDUCE_SCATTER_V || kind == TPRT_OP_ALL_TO_ALL_V ||
         kind == TPRT_OP_SCATTER_V;
}
static bool receives_pieces(tprt_op_kind kind) {
  return kind == TPRT_OP_ALL_GATHER_V || kind == TPRT_OP_ALL_TO_ALL_V || kind == TPRT_OP_GATHER_V;
}
static bool root_sends(tprt_op_kind kind) {
  return kind == TPRT_OP_BROADCAST || kind == TPRT_OP_SCATTER || kind == TPRT_OP_SCATTER_V;
}
static bool root_receives(tprt_op_kind kind) {
  return kind == TPRT_OP_REDUCE || kind == TPRT_OP_GATHER || kind == TPRT_OP_GATHER_V;
}
bool scenario_has_root(tprt_op_kind kind) { return root_sends(kind) || root_receives(kind); }
bool scenario_in_place(tprt_op_kind kind) {
  return kind == TPRT_OP_ALL_REDUCE || kind == TPRT_OP_BROADCAST || kind == TPRT_OP_REDUCE;
}

/* ---- Counting ---- */

static _Atomic long *n_cases; /* shared with the forked processes of tests */

__attribute__((constructor)) static void make_counter(void) {
  void *page =
      mmap(NULL, sizeof *n_cases, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
  if (page == MAP_FAILED)
    abort();
  n_cases = page;
}

long scenario_count(void) { return atomic_load(n_cases); }

/* ---- Element positions ---- */

/* Returns the number of elements that rank i sends to rank j, or that all ranks get from rank i (j
 * == i), or that rank i gets. Some are 0. */
static int64_t piece_count(const scenario *s, int i, int j) {
  if (s->style == IN_LIST)
    return s->width * s->inner;
  if (s->kind == TPRT_OP_ALL_TO_ALL_V)
    return (i * 3 + j * 5 + s->width) % 4 * s->inner;
  return i % 3 == 1 ? 0 : s->width * s->inner + i;
}

/* Computes the layout of the pieces of one side on rank `me`: counts, and offsets of the first
 * elements. Returns the span of the side in elements. */
static int64_t lay_out(const scenario *s, int n, int me, bool send, int64_t *counts,
                       int64_t *offsets) {
  int64_t end = 0;
  for (int k = 0; k < n; k++) {
    int i = s->style == PACKED ? k : n - 1 - k; /* else in reverse order, with gaps */
    bool pairs = s->kind == TPRT_OP_ALL_TO_ALL_V;
    counts[i] =
        pairs ? (send ? piece_count(s, me, i) : piece_count(s, i, me)) : piece_count(s, i, i);
    offsets[i] = end;
    end += counts[i] + (s->style == PACKED ? 0 : 2);
  }
  return end;
}

typedef struct side {
  int64_t counts[MAX_RANKS], offsets[MAX_RANKS];
  bool pieces;
  int64_t span; /* elements in the buffer */
} side;

static side make_side(const scenario *s, int n, int me, bool send) {
  side made = {.pieces = send ? sends_pieces(s->kind) : receives_pieces(s->kind)};
  int64_t whole = s->outer * s->width * s->inner;
  if (made.pieces) {
    made.span = lay_out(s, n, me, send, made.counts, made.offsets);
  } else if (scenario_in_pieces(s->kind)) {
    made.span = piece_count(s, me, me);
  } else if (send || s->kind == TPRT_OP_ALL_REDUCE) {
    made.span = whole;
  } else if (s->kind == TPRT_OP_ALL_GATHER || s->kind == TPRT_OP_GATHER) {
    made.span = whole * n;
  } else {
    made.span = s->kind == TPRT_OP_REDUCE_SCATTER || s->kind == TPRT_OP_SCATTER ? whole / n : whole;
  }
  return made;
}

static int permute_source(int n, int me) {
  return me == n - 1 && n > 1 ? -1 : (me + 1) % n;
} /* to the left neighbor; the last rank gets nothing */

/* Returns the source of element e of rank `me`'s result: the index in that rank's send buffer. -1:
 * no source. Reductions: the index in all inputs. */
static int64_t origin(const scenario *s, int n, int me, int64_t e, int *rank) {
  int64_t inner = s->inner, width = s->width, part = width / n;
  int64_t i = e % inner, w, o;
  *rank = root_sends(s->kind) ? s->root : me;
  switch (s->kind) {
  case TPRT_OP_ALL_GATHER:
  case TPRT_OP_GATHER:
    w = e / inner % (width * n), o = e / inner / (width * n);
    *rank = (int)(w / width);
    return (o * width + w % width) * inner + i;
  case TPRT_OP_REDUCE_SCATTER:
  case TPRT_OP_SCATTER:
    w = e / inner % part, o = e / inner / part;
    return (o * width + me * part + w) * inner + i;
  case TPRT_OP_ALL_TO_ALL: /* split along dim 1, joined along dim 0 */
    w = e / inner % part, o = e / inner / part;
    *rank = (int)(o / s->outer);
    return (o % s->outer * width + me * part + w) * inner + i;
  case TPRT_OP_PERMUTE:
    *rank = permute_source(n, me);
    return *rank < 0 ? -1 : e;
  default:
    return e;
  }
}

/* The same for the kinds ..._V: the first element of the piece with rank `peer`. */
static int64_t origin_in_pieces(const scenario *s, int n, int me, int peer, int *rank) {
  *rank = root_sends(s->kind) ? s->root : peer;
  return sends_pieces(s->kind) ? make_side(s, n, *rank, true).offsets[me] : 0;
}

/* ---- Buffer memory ---- */

static void *take_host(tprt_comm *comm, size_t bytes) {
  (void)comm;
  return malloc(bytes);
}

static void give_host(tprt_comm *comm, void *block) {
  (void)comm;
  free(block);
}

static void copy_host(tprt_comm *comm, void *to, const void *from, size_t bytes) {
  (void)comm;
  memcpy(to, from, bytes);
}

static scenario_place place = {take_host, give_host, copy_host, copy_host};

void scenario_set_place(const scenario_place *wanted) { place = *wanted; }

void *scenario_take(tprt_comm *comm, const scenario *s, size_t bytes, void **block) {
  *block = NULL;
  if (s->registered) {
    if (tprt_mem_alloc(comm, bytes + 64, block))
      return NULL;
  } else {
    *block = place.take(comm, bytes + 64);
  }
  return *block ? (unsigned char *)*block + (s->misaligned ? 1 : 0) : NULL;
}

void scenario_give(tprt_comm *comm, const scenario *s, void *block) {
  if (s->registered)
    tprt_mem_free(comm, block);
  else
    place.give(comm, block);
}

/* ---- Checking ---- */

static uint64_t seed_of(const scenario *s, int rank) {
  return (uint64_t)s->kind * 1000003 + (uint64_t)s->dtype * 10007 +
         (uint64_t)(s->width * 31 + s->inner) + (uint64_t)rank * 7919;
}

/* What a rank sends. Ranks that are threads share it, since each looks at what all of them send: of
 * 16 ranks, each one would make 16. */
typedef struct input {
  struct input *next;
  uint64_t seed;
  tprt_dtype dtype;
  tprt_reduction reduction;
  int64_t count;
  int n_users;
  bool is_filled;
  unsigned char *data;
} input;

static input *shared_inputs;
static pthread_mutex_t inputs_lock = PTHREAD_MUTEX_INITIALIZER;
static pthread_cond_t input_filled = PTHREAD_COND_INITIALIZER;

static input *take_input(const scenario *s, int rank, int64_t count) {
  uint64_t seed = seed_of(s, rank);
  pthread_mutex_lock(&inputs_lock);
  input *i = shared_inputs;
  while (i && !(i->seed == seed && i->dtype == s->dtype && i->reduction == s->reduction &&
                i->count == count))
    i = i->next;
  if (i) {
    i->n_users++;
    while (!i->is_filled)
      pthread_cond_wait(&input_filled, &inputs_lock);
    pthread_mutex_unlock(&inputs_lock);
    return i;
  }
  i = malloc(sizeof *i);
  unsigned char *data = malloc((size_t)count * tprt_dtype_size(s->dtype) + 1);
  if (!i || !data)
    abort();
  *i = (input){shared_inputs, seed, s->dtype, s->reduction, count, 1, false, data};
  shared_inputs = i;
  pthread_mutex_unlock(&inputs_lock);
  oracle_fill(s->dtype, s->reduction, data, count, seed);
  pthread_mutex_lock(&inputs_lock);
  i->is_filled = true;
  pthread_cond_broadcast(&input_filled);
  pthread_mutex_unlock(&inputs_lock);
  return i;
}

static void give_input(input *i) {
  pthread_mutex_lock(&inputs_lock);
  bool is_last = --i->n_users == 0;
  input **at = &shared_inputs;
  while (is_last && *at != i)
    at = &(*at)->next;
  if (is_last)
    *at = i->next;
  pthread_mutex_unlock(&inputs_lock);
  if (is_last) {
    free(i->data);
    free(i);
  }
}

static int complain(const scenario *s, tprt_comm *comm, const char *what, int64_t element) {
  fprintf(stderr,
          "%s %s %s %lldx%lldx%lld root %d style %d%s%s%s on %d ranks of %s: rank %d: %s %lld\n",
          tprt_op_kind_name(s->kind), tprt_dtype_name(s->dtype), tprt_reduction_name(s->reduction),
          (long long)s->outer, (long long)s->width, (long long)s->inner, s->root, (int)s->style,
          s->in_place ? " in place" : "", s->misaligned ? " misaligned" : "",
          s->registered ? " registered" : "", tprt_comm_size(comm), tprt_comm_backend(comm),
          tprt_comm_rank(comm), what, (long long)element);
  return 1;
}

/* Writes an element as a hexadecimal number; floats of 32 and 64 bits as C does. */
static void write_element(tprt_dtype dtype, const unsigned char *at, char *text, size_t bytes) {
  size_t size = tprt_dtype_size(dtype);
  float single;
  double all;
  if (dtype == TPRT_F32) {
    memcpy(&single, at, size);
    snprintf(text, bytes, "%a", (double)single);
  } else if (dtype == TPRT_F64) {
    memcpy(&all, at, size);
    snprintf(text, bytes, "%a", all);
  } else {
    char *end = stpcpy(text, "0x");
    for (size_t i = size; i-- > 0;)
      end += sprintf(end, "%02x", at[i]);
  }
}

static const int *hosts;

void scenario_set_hosts(const int *wanted) { hosts = wanted; }

static void expect_reduction(const scenario *s, tprt_comm *comm, unsigned char *const *inputs,
                             int64_t at, void *expected) {
  int hosts_here[MAX_RANKS], n = tprt_comm_size(comm);
  for (int i = 0; i < n && hosts; i++)
    hosts_here[i] = hosts[tprt_comm_world_rank(comm, i)];
  oracle_reduce(s->dtype, s->reduction, inputs, n, hosts ? hosts_here : NULL, (size_t)at, expected);
}

/* Checks one element, whose source is `at` in the inputs (of `rank`, unless it is reduced). Returns
 * 1, with a message that begins with `what`, if it is wrong. */
static int check_element(const scenario *s, tprt_comm *comm, unsigned char *const *inputs, int rank,
                         int64_t at, const unsigned char *got, const char *what, int64_t element) {
  enum { TEXT_BYTES = 40 };
  unsigned char expected[16] = {0};
  char texts[2][TEXT_BYTES];
  size_t size = tprt_dtype_size(s->dtype);
  if (s->reduction)
    expect_reduction(s, comm, inputs, at, expected);
  else if (at >= 0)
    oracle_copy(s->dtype, expected, inputs[rank] + (size_t)at * size);
  if (oracle_same(s->dtype, expected, got))
    return 0;
  complain(s, comm, what, element);
  write_element(s->dtype, expected, texts[0], TEXT_BYTES);
  write_element(s->dtype, got, texts[1], TEXT_BYTES);
  fprintf(stderr, "  expected %s, got %s\n", texts[0], texts[1]);
  return 1;
}

static int check_result(const scenario *s, tprt_comm *comm, unsigned char *const *inputs,
                        const unsigned char *recv, const side *received) {
  int n = tprt_comm_size(comm), me = tprt_comm_rank(comm), rank;
  size_t size = tprt_dtype_size(s->dtype);
  if (!scenario_in_pieces(s->kind)) {
    for (int64_t e = 0; e < received->span; e++) {
      int64_t at = origin(s, n, me, e, &rank);
      if (check_element(s, comm, inputs, rank, at, recv + (size_t)e * size, "wrong element", e))
        return 1;
    }
    return 0;
  }
  for (int peer = 0; peer < (received->pieces ? n : 1); peer++) {
    int64_t offset = received->pieces ? received->offsets[peer] : 0;
    int64_t count = received->pieces ? received->counts[peer] : received->span;
    int64_t first = origin_in_pieces(s, n, me, peer, &rank);
    for (int64_t e = 0; e < count; e++) {
      if (check_element(s, comm, inputs, rank, first + e, recv + (size_t)(offset + e) * size,
                        "wrong element of a piece", e))
        return 1;
    }
    for (size_t gap = 0; gap < (received->pieces && s->style != PACKED ? 2 * size : 0); gap++) {
      if (recv[(size_t)(offset + count) * size + gap] != 0xa5)
        return complain(s, comm, "written behind piece", peer);
    }
  }
  return 0;
}

/* Checks that results are bitwise equal on all ranks, including NaNs: gathers and compares a
 * hash. */
static int check_identity(tprt_comm *comm, const void *recv, size_t bytes) {
  const scenario plain = {.kind = TPRT_OP_ALL_GATHER};
  void *blocks[2];
  uint64_t hash = 1469598103934665603u;
  uint64_t *mine = scenario_take(comm, &plain, sizeof hash, &blocks[0]);
  uint64_t *all = scenario_take(comm, &plain, MAX_RANKS * sizeof hash, &blocks[1]);
  for (size_t i = 0; i < bytes; i++)
    hash = (hash ^ ((const unsigned char *)recv)[i]) * 1099511628211u;
  uint64_t hashes[MAX_RANKS];
  int errors = 0, n = tprt_comm_size(comm);
  place.write(comm, mine, &hash, sizeof hash);
  CHECK_STATUS(errors, tprt_all_gather(comm, mine, all, 1, TPRT_U64, NULL, NULL), TPRT_OK);
  place.read(comm, hashes, all, (size_t)n * sizeof hash);
  for (int i = 0; i < n; i++)
    CHECK(errors, hashes[i] == hash);
  scenario_give(comm, &plain, blocks[0]);
  scenario_give(comm, &plain, blocks[1]);
  return errors;
}

/* ---- Running ---- */

/* Creates the op without buffers, for operations with one piece per side. */
static tprt_op describe(const scenario *s, int n, const tprt_pair *pairs) {
  return (tprt_op){
      .size = sizeof(tprt_op),
      .kind = s->kind,
      .dtype = s->dtype,
      .reduction = s->reduction,
      .n_dims = scenario_in_pieces(s->kind) ? 2 : 3,
      .dim = s->kind == TPRT_OP_ALL_TO_ALL ? 0 : 1,
      .split_dim = 1,
      .root = s->root,
      .shape = {scenario_in_pieces(s->kind) ? s->width : s->outer,
                scenario_in_pieces(s->kind) ? s->inner : s->width, s->inner},
      .pairs = pairs,
      .n_pairs = (size_t)(n > 1 ? n - 1 : 1),
  };
}

static int submit(tprt_comm *comm, const scenario *s, unsigned char *send, unsigned char *recv,
                  const side *sides) {
  int n = tprt_comm_size(comm), me = tprt_comm_rank(comm), errors = 0;
  size_t size = tprt_dtype_size(s->dtype), n_pairs = 0;
  tprt_pair pairs[MAX_RANKS];
  const void *sends[MAX_RANKS];
  void *recvs[MAX_RANKS];
  unsigned char scalar[16];
  for (int i = 0; i < n; i++) {
    if (permute_source(n, i) >= 0)
      pairs[n_pairs++] = (tprt_pair){permute_source(n, i), i};
    sends[i] = send + (size_t)sides[0].offsets[i] * size;
    recvs[i] = recv + (size_t)sides[1].offsets[i] * size;
  }
  tprt_op op = describe(s, n, pairs);
  if (s->reduction == TPRT_PREMUL_SUM) {
    oracle_scalar(s->dtype, me, scalar);
    op.scalar = scalar;
  }
  op.send = root_sends(s->kind) && me != s->root && !s->in_place ? NULL : send;
  op.recv = root_receives(s->kind) && me != s->root ? NULL : recv;
  if (s->style == IN_LIST) {
    op.send_list = sends;
    op.recv_list = recvs;
  } else {
    op.send_counts = sides[0].counts;
    op.recv_counts = sides[1].counts;
    op.send_offsets = s->style == PACKED ? NULL : sides[0].offsets;
    op.recv_offsets = s->style == PACKED ? NULL : sides[1].offsets;
  }
  CHECK_STATUS(errors, tprt_submit(comm, &op, NULL), TPRT_OK);
  return errors;
}

int scenario_run(tprt_comm *comm, const scenario *s) {
  int n = tprt_comm_size(comm), me = tprt_comm_rank(comm), errors = 0;
  size_t size = tprt_dtype_size(s->dtype);
  /* If all ranks get the same result, one rank checks the values, and the bitwise comparison covers
   * the others. */
  bool same = s->kind == TPRT_OP_ALL_REDUCE || s->kind == TPRT_OP_BROADCAST;
  bool receives = !root_receives(s->kind) || me == s->root, looks = receives && (!same || me == 0);
  side sides[2] = {make_side(s, n, me, true), make_side(s, n, me, false)};
  input *taken[MAX_RANKS] = {NULL};
  unsigned char *inputs[MAX_RANKS] = {NULL};
  if (me == 0)
    atomic_fetch_add(n_cases, 1);
  for (int i = 0; i < n; i++) {
    if (!looks && i != me)
      continue;
    taken[i] = take_input(s, i, make_side(s, n, i, true).span);
    inputs[i] = taken[i]->data;
  }
  size_t sent = (size_t)sides[0].span * size, received = (size_t)sides[1].span * size;
  void *send_block, *recv_block = NULL;
  unsigned char *send = scenario_take(comm, s, sent, &send_block);
  unsigned char *recv = s->in_place ? send : scenario_take(comm, s, received, &recv_block);
  /* copies on the host */
  unsigned char *sent_here = malloc(sent + 1), *received_here = malloc(received + 1);
  CHECK(errors, send && recv && sent_here && received_here);
  if (!errors) {
    place.write(comm, send, inputs[me], sent);
    memset(received_here, 0xa5, received);
    if (!s->in_place)
      place.write(comm, recv, received_here, received);
    errors = submit(comm, s, send, recv, sides);
    place.read(comm, sent_here, send, sent);
    place.read(comm, received_here, recv, received);
    if (!errors && looks)
      errors += check_result(s, comm, inputs, received_here, &sides[1]);
    if (!errors && (!s->in_place || !receives))
      CHECK(errors, memcmp(sent_here, inputs[me], sent) == 0);
    if (same)
      errors += check_identity(comm, received_here, received);
  }
  free(sent_here);
  free(received_here);
  scenario_give(comm, s, send_block);
  if (recv_block)
    scenario_give(comm, s, recv_block);
  for (int i = 0; i < n; i++)
    if (taken[i])
      give_input(taken[i]);
  return errors;
}
