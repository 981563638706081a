/* What every backend has to do, against an oracle that works on one element at a time, in another way than the library does:
 * operations, dtypes, reductions, counts, roots, ranks, in place and not, aligned and not, staged and registered, groups,
 * threads and processes. A backend is a row of a table. TP_LONG=1: many more of the cases. */
#include "harness.h"
#include "paths.h"
#include "scenario.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

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

static bool is_long(void) {
  const char *text = getenv("TP_LONG");
  return text && *text;
}

/* ---- Tables of cases; each is what a rank does ---- */

/* One of `stride` cases, spread evenly; equal on all ranks. */
typedef struct sampler {
  uint64_t state;
  uint64_t stride;
} sampler;

static bool draw(sampler *s) { return test_random(&s->state) % s->stride == 0; }

static scenario base_case(tprt_op_kind kind, int dtype, int n, int64_t outer, int64_t width, int64_t inner) {
  scenario s = {.kind = kind, .dtype = (tprt_dtype)dtype, .outer = outer, .width = width, .inner = inner, .root = n - 1};
  if (scenario_cuts(kind))
    s.width *= n;
  return s;
}

/* Every operation, dtype and reduction on small shapes; `argument` is how many cases one stands for. */
static int types(tprt_comm *comm, void *argument) {
  static const int64_t shapes[][3] = {{1, 0, 1}, {1, 1, 1}, {3, 2, 5}, {1, 31, 1}, {2, 1, 257}, {1, 127, 1}, {1, 1, 1021}};
  int errors = 0, n = tprt_comm_size(comm);
  sampler sample = {.state = (uint64_t)n, .stride = *(const uint64_t *)argument};
  for (int kind = 1; kind < TPRT_N_OP_KINDS; kind++) {
    for (int t = 1; t < TPRT_N_DTYPES && scenario_is_collective((tprt_op_kind)kind); t++) {
      for (int r = 0; r < TPRT_N_REDUCTIONS && !errors; r++) {
        if (scenario_reduces((tprt_op_kind)kind) ? !tprt_reduction_supports((tprt_reduction)r, (tprt_dtype)t) : r > 0)
          continue;
        for (size_t i = 0; i < sizeof shapes / sizeof *shapes; i++) {
          scenario s = base_case((tprt_op_kind)kind, t, n, shapes[i][0], shapes[i][1], shapes[i][2]);
          uint64_t bits = test_random(&sample.state);
          s.reduction = (tprt_reduction)r;
          s.in_place = bits & 1 && scenario_in_place(s.kind);
          s.misaligned = bits >> 1 & 1;
          s.registered = bits >> 2 & 1;
          s.root = (int)((bits >> 8) % (uint64_t)n);
          s.style = (piece_style)((bits >> 16) % N_PIECE_STYLES);
          if (draw(&sample))
            errors += scenario_run(comm, &s);
        }
      }
    }
  }
  return errors;
}

/* Every path of data: sizes around chunk and threshold, in all placements, every root, for a type of each width class. */
static int sizes(tprt_comm *comm, void *argument) {
  static const struct {
    tprt_dtype dtype;
    tprt_reduction reduction;
  } kinds_of[] = {{TPRT_F32, TPRT_SUM}, {TPRT_BF16, TPRT_AVG}, {TPRT_F64, TPRT_PREMUL_SUM}, {TPRT_U8, TPRT_BXOR}};
  static const int64_t shapes[][3] = {{1, 1, 4095}, {1, 4097, 1},  {7, 3, 331},  {509, 4, 5}, {1, 1, 20011},
                                      {5, 2, 2048}, {1, 3, 14983}, {1, 1, 8191}, {2, 4099, 1}};
  int errors = 0, n = tprt_comm_size(comm);
  sampler sample = {.state = (uint64_t)n + 99, .stride = *(const uint64_t *)argument};
  for (int kind = 1; kind < TPRT_N_OP_KINDS; kind++) {
    int n_roots = scenario_has_root((tprt_op_kind)kind) ? n : 1;
    for (size_t t = 0; t < sizeof kinds_of / sizeof *kinds_of && scenario_is_collective((tprt_op_kind)kind); t++) {
      for (size_t i = 0; i < sizeof shapes / sizeof *shapes; i++) {
        for (int place = 0; place < 8 * n_roots && !errors; place++) {
          scenario s = base_case((tprt_op_kind)kind, kinds_of[t].dtype, n, shapes[i][0], shapes[i][1], shapes[i][2]);
          s.reduction = scenario_reduces(s.kind) ? kinds_of[t].reduction : TPRT_NO_REDUCTION;
          s.in_place = place & 1 && scenario_in_place(s.kind);
          s.misaligned = place & 2;
          s.registered = place & 4;
          s.root = n_roots > 1 ? place / 8 : 0;
          s.style = (piece_style)(place % N_PIECE_STYLES);
          if (draw(&sample))
            errors += scenario_run(comm, &s);
        }
      }
    }
  }
  return errors;
}

/* The same paths on a part of the world, while the rest does the same. */
static int groups(tprt_comm *comm, void *argument) {
  int errors = 0, me = tprt_comm_rank(comm);
  tprt_comm *child;
  uint64_t stride = 16 * *(const uint64_t *)argument;
  CHECK_STATUS(errors, tprt_comm_split(comm, me % 2, -me, &child), TPRT_OK);
  if (errors)
    return errors;
  errors = sizes(child, &stride);
  tprt_comm_destroy(child);
  return errors;
}

static const struct {
  rank_fn *run;
  bool only_once; /* not for every number of ranks */
} tables[] = {{types, false},
              {sizes, false},
              {groups, false},
              {path_mixed_placement, true},
              {path_own_place, true},
              {path_all_to_all_dims, true},
              {path_odd_permutes, true},
              {path_random_transfers, false},
              {path_tags, true},
              {path_same_tag, true},
              {path_windows, false},
              {path_capabilities, false}};

/* ---- Backends ---- */

typedef int world_fn(int n_ranks, const tprt_config *config, rank_fn *fn, void *argument);

static int run_apart(int n_ranks, const tprt_config *config, rank_fn *fn, void *argument) {
  return run_processes(n_ranks, config, fn, argument, NULL);
}

typedef struct backend_row {
  const char *title, *name;
  world_fn *run;
  int n_sizes, ranks[16]; /* worlds */
  int n_short, n_full;    /* how many of them run in the short tests, and how many run every table there */
} backend_row;

static const backend_row backends[] = {
    /* Processes first: fork wants a process without threads. */
    {"shm, processes", "shm", run_apart, 4, {2, 5, 3, 16}, 2, 2},
    {"self", "Self", run_threads, 1, {1}, 1, 1},
    {"loopback", "loopback", run_threads, 16, {4, 3, 7, 1, 2, 16, 5, 8, 6, 9, 10, 11, 12, 13, 14, 15}, 6, 2},
    {"plug-in", MAILBOX_BACKEND, run_threads, 16, {2, 3, 5, 1, 4, 16, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15}, 5, 2},
    {"shm, threads", "shm", run_threads, 16, {3, 8, 2, 1, 5, 16, 4, 6, 7, 9, 10, 11, 12, 13, 14, 15}, 6, 2},
};

/* How many cases of a table one stands for: the oracle's time grows with the square of the ranks. */
static uint64_t stride_of(int n) {
  uint64_t stride = (uint64_t)(n * n + 8) * (WATCHED ? 64 : 16);
  return is_long() ? (stride + 31) / 32 : stride;
}

static void run_backend(const backend_row *backend) {
  long before = scenario_count();
  for (int i = 0; i < (is_long() ? backend->n_sizes : backend->n_short); i++) {
    tprt_config config = test_config();
    config.backend = backend->name;
    config.timeout_ns = INT64_C(120000000000); /* many ranks share few processors, and wait for each other's oracle */
    uint64_t stride = stride_of(backend->ranks[i]);
    for (size_t t = 0; t < sizeof tables / sizeof *tables; t++) {
      if (!tables[t].only_once || i < backend->n_full || is_long())
        assert_int_equal(backend->run(backend->ranks[i], &config, tables[t].run, &stride), 0);
    }
  }
  print_message("%s: %ld cases\n", backend->title, scenario_count() - before);
}

static void test_backend(void **state) { run_backend(*state); }

/* Chunks of 4 KiB, chunks larger than the message, other backends: the same bits. */
static uint64_t bits_hashes[4];
static int hash_sum(tprt_comm *comm, void *argument) {
  enum { COUNT = 30011 };
  int errors = 0;
  uint16_t *data = malloc(COUNT * 2);
  uint64_t seed = (uint64_t)tprt_comm_rank(comm), hash = 1;
  for (int i = 0; i < COUNT; i++)
    data[i] = tprt_f32_to_bf16((float)(test_random(&seed) % 10007) * 0.37f);
  CHECK_STATUS(errors, tprt_all_reduce(comm, data, data, COUNT, TPRT_BF16, TPRT_SUM, NULL, NULL), TPRT_OK);
  for (int i = 0; i < COUNT; i++)
    hash = hash * 31 + data[i];
  if (tprt_comm_rank(comm) == 0)
    *(uint64_t *)argument = hash;
  free(data);
  return errors;
}

static void test_bits(void **state) {
  (void)state;
  for (int i = 0; i < 4; i++) {
    tprt_config config = test_config();
    config.backend = i < 2 ? "shm" : i == 2 ? "loopback" : MAILBOX_BACKEND;
    config.slot_bytes = i ? 1 << 20 : 4096;
    assert_int_equal(run_threads(3, &config, hash_sum, &bits_hashes[i]), 0);
    assert_int_equal(bits_hashes[i], bits_hashes[0]);
  }
}

/* More than 2^31 elements and bytes, in place, so that it fits: every 4096th byte is looked at. */
static int huge(tprt_comm *comm, void *argument) {
  (void)argument;
  const size_t count = ((size_t)1 << 31) + 4097;
  int errors = 0, me = tprt_comm_rank(comm), n = tprt_comm_size(comm);
  unsigned char *data = malloc(count);
  CHECK(errors, data != NULL);
  if (!data)
    return errors;
  for (size_t i = 0; i < count; i++)
    data[i] = (unsigned char)((i >> 12) * (unsigned)(me + 1));
  CHECK_STATUS(errors, tprt_all_reduce(comm, data, data, (int64_t)count, TPRT_U8, TPRT_SUM, NULL, NULL), TPRT_OK);
  int64_t wrong = 0;
  for (size_t i = 0; i < count; i += 1021)
    wrong += data[i] != (unsigned char)((i >> 12) * (unsigned)(n * (n + 1) / 2));
  CHECK(errors, wrong == 0);
  free(data);
  return errors;
}

static void test_huge(void **state) {
  (void)state;
  tprt_config config = test_config();
  config.timeout_ns = INT64_C(600000000000);
  config.slot_bytes = 1 << 20;
  if (is_long() && !WATCHED)
    assert_int_equal(run_threads(2, &config, huge, NULL), 0);
}

static void test_count(void **state) { /* last */
  (void)state;
  print_message("%ld cases\n", scenario_count());
  assert_true(scenario_count() > 100);
}

/* As one rank of a world that a launcher started: every table on it, and nothing else. */
static int run_attached(const char *backend) {
  int errors = 0;
  tprt_config config = {.size = sizeof config, .backend = backend, .timeout_ns = INT64_C(120000000000)};
  tprt_comm *comm;
  int n_ranks, rank;
  attached_place(&n_ranks, &rank);
  CHECK_STATUS(errors, tprt_world_create(n_ranks, rank, &config, &comm), TPRT_OK);
  if (errors)
    return 1;
  uint64_t stride = stride_of(n_ranks);
  for (size_t t = 0; t < sizeof tables / sizeof *tables && !errors; t++)
    errors += tables[t].run(comm, &stride);
  if (is_long() && !errors)
    errors += huge(comm, NULL);
  if (rank == 0 && !errors)
    print_message("%s, %d attached ranks: %ld cases\n", backend, n_ranks, scenario_count());
  if (errors)
    tprt_comm_abort(comm);
  tprt_comm_destroy(comm);
  return errors > 0;
}

int main(int argc, char **argv) {
  if (argc == 3 && strcmp(argv[1], "--attached") == 0)
    return run_attached(argv[2]);
  enum { N_BACKENDS = sizeof backends / sizeof *backends };
  struct CMUnitTest tests[N_BACKENDS + 3];
  for (size_t i = 0; i < N_BACKENDS; i++)
    tests[i] = (struct CMUnitTest){
        .name = backends[i].title, .test_func = test_backend, .initial_state = (void *)(uintptr_t)&backends[i]};
  tests[N_BACKENDS] = (struct CMUnitTest)cmocka_unit_test(test_bits);
  tests[N_BACKENDS + 1] = (struct CMUnitTest)cmocka_unit_test(test_huge);
  tests[N_BACKENDS + 2] = (struct CMUnitTest)cmocka_unit_test(test_count);
  return cmocka_run_group_tests(tests, NULL, NULL);
}
