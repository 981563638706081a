/* Conformance test of all backends, against an oracle that processes one element at a time, by a
 * different method than the library: operations, dtypes, reductions, counts, roots, ranks, in place
 * and not, aligned and not, staged and registered, groups, threads and processes. A backend is a
 * row of a table. TP_LONG=1: many more cases. */
#include "test/runtime/harness/cases.h"
#include "test/runtime/harness/harness.h"
#include "test/runtime/harness/paths.h"
#include "test/runtime/harness/scenario.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static const struct {
  rank_fn *run;
  bool only_once; /* not for every number of ranks */
} tables[] = {
    {cases_types, false},         {cases_sizes, false},           {cases_groups, false},
    {path_mixed_placement, true}, {path_own_place, true},         {path_all_to_all_dims, true},
    {path_odd_permutes, true},    {path_random_transfers, false}, {path_tags, true},
    {path_same_tag, true},        {path_windows, false},          {path_capabilities, false},
    {path_accesses, false},       {path_coalesced, false}};

/* ---- Backends ---- */

typedef int world_fn(int n_ranks, const tprt_config *config, rank_fn *fn, void *argument);

static int run_apart(int n_ranks, const tprt_config *config, rank_fn *fn, void *argument) {
  return run_processes(n_ranks, config, fn, argument, NULL);
}

typedef struct backend_row {
  const char *title, *name;
  world_fn *run;
  int n_sizes, ranks[16]; /* numbers of ranks */
  /* number of worlds in the short tests, and of those that run every table */
  int n_short, n_full;
} backend_row;

static const backend_row backends[] = {
    /* Processes first, because fork requires a process without threads. */
    {"shm, processes", "shm", run_apart, 4, {2, 5, 3, 16}, 2, 2},
    {"self", "Self", run_threads, 1, {1}, 1, 1},
    {"loopback",
     "loopback",
     run_threads,
     16,
     {4, 3, 7, 1, 2, 16, 5, 8, 6, 9, 10, 11, 12, 13, 14, 15},
     6,
     2},
    {"plug-in",
     MAILBOX_BACKEND,
     run_threads,
     16,
     {2, 3, 5, 1, 4, 16, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15},
     5,
     2},
    {"shm, threads",
     "shm",
     run_threads,
     16,
     {3, 8, 2, 1, 5, 16, 4, 6, 7, 9, 10, 11, 12, 13, 14, 15},
     6,
     2},
};

static void run_backend(const backend_row *backend) {
  long before = scenario_count();
  for (int i = 0; i < (cases_are_long() ? backend->n_sizes : backend->n_short); i++) {
    tprt_config config = test_config();
    config.backend = backend->name;
    /* many ranks share few processors, and wait for each other's oracle */
    config.timeout_ns = INT64_C(120000000000);
    uint64_t stride = cases_stride(backend->ranks[i]);
    for (size_t t = 0; t < sizeof tables / sizeof *tables; t++) {
      if (!tables[t].only_once || i < backend->n_full || cases_are_long())
        assert_int_equal(backend->run(backend->ranks[i], &config, tables[t].run, &stride), 0);
    }
  }
  print_message("%s: %ld cases\n", backend->title, scenario_count() - before);
}

static void test_backend(void **state) { run_backend(*state); }

/* Chunks of 4 KiB, chunks larger than the message, and other backends give bitwise equal
 * results. */
static uint64_t bits_hashes[4];
static int hash_sum(tprt_comm *comm, void *argument) {
  enum { COUNT = 30011 };
  int errors = 0;
  uint16_t *data = malloc(COUNT * 2);
  uint64_t seed = (uint64_t)tprt_comm_rank(comm), hash = 1;
  for (int i = 0; i < COUNT; i++)
    data[i] = tprt_f32_to_bf16((float)(test_random(&seed) % 10007) * 0.37f);
  CHECK_STATUS(errors, tprt_all_reduce(comm, data, data, COUNT, TPRT_BF16, TPRT_SUM, NULL, NULL),
               TPRT_OK);
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

/* More than 2^31 elements and bytes, in place to save memory: checks every 4096th byte. */
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
  CHECK_STATUS(errors,
               tprt_all_reduce(comm, data, data, (int64_t)count, TPRT_U8, TPRT_SUM, NULL, NULL),
               TPRT_OK);
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
  if (cases_are_long() && !CASES_WATCHED)
    assert_int_equal(run_threads(2, &config, huge, NULL), 0);
}

static void test_count(void **state) { /* last test */
  (void)state;
  print_message("%ld cases\n", scenario_count());
  assert_true(scenario_count() > 100);
}

enum { MOST_ATTACHED = 64 };

/* Reads the hosts of the ranks, such as 0,0,1,1. */
static void set_hosts(const char *list) {
  static int hosts[MOST_ATTACHED];
  int n = 0;
  for (const char *at = list; at && n < MOST_ATTACHED; at = strchr(at, ',')) {
    at += *at == ',';
    hosts[n++] = atoi(at);
  }
  if (list)
    scenario_set_hosts(hosts);
}

/* Runs every table as one rank of a world that a launcher started. `hosts`: the sums of the ranks
 * of each host are added. Without them, ranks on several hosts need hint deterministic. */
static int run_attached(const char *backend, bool deterministic, const char *hosts) {
  int errors = 0;
  const tprt_hint hint = {"deterministic", "1"};
  const tprt_comm_config of_comm = {.size = sizeof of_comm,
                                    .version = TPRT_COMM_CONFIG_VERSION,
                                    .hints = &hint,
                                    .n_hints = deterministic};
  tprt_config config = {.size = sizeof config,
                        .backend = backend,
                        .comm = &of_comm,
                        .timeout_ns = INT64_C(120000000000)};
  set_hosts(hosts);
  tprt_comm *comm;
  CHECK_STATUS(errors, tprt_world_create(0, 0, &config, &comm), TPRT_OK);
  if (errors)
    return 1;
  int n_ranks = tprt_comm_size(comm), rank = tprt_comm_rank(comm);
  uint64_t stride = cases_stride(n_ranks);
  for (size_t t = 0; t < sizeof tables / sizeof *tables && !errors; t++)
    errors += tables[t].run(comm, &stride);
  if (cases_are_long() && n_ranks == 2 && !errors) /* each rank has 2 GiB */
    errors += huge(comm, NULL);
  if (rank == 0 && !errors)
    print_message("%s, %d attached ranks: %ld cases\n", backend, n_ranks, scenario_count());
  if (errors)
    tprt_comm_abort(comm);
  tprt_comm_destroy(comm);
  return errors > 0;
}

int main(int argc, char **argv) {
  bool deterministic = argc > 3 && strcmp(argv[3], "deterministic") == 0;
  if (argc >= 3 && strcmp(argv[1], "--attached") == 0)
    return run_attached(argv[2], deterministic, argc > 3 && !deterministic ? argv[3] : NULL);
  enum { N_BACKENDS = sizeof backends / sizeof *backends };
  struct CMUnitTest tests[N_BACKENDS + 3];
  for (size_t i = 0; i < N_BACKENDS; i++)
    tests[i] = (struct CMUnitTest){.name = backends[i].title,
                                   .test_func = test_backend,
                                   .initial_state = (void *)(uintptr_t)&backends[i]};
  tests[N_BACKENDS] = (struct CMUnitTest)cmocka_unit_test(test_bits);
  tests[N_BACKENDS + 1] = (struct CMUnitTest)cmocka_unit_test(test_huge);
  tests[N_BACKENDS + 2] = (struct CMUnitTest)cmocka_unit_test(test_count);
  return cmocka_run_group_tests(tests, NULL, NULL);
}
