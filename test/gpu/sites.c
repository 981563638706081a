/* Tests sites of compiled programs between GPUs: sites threads|processes N_RANKS. Covers reductions
 * of rows, given or computed by GEMMs, and all-gathers followed by GEMMs, on ranks with one peer
 * GPU each: every layout, norm and type against sums in f64. Exit status and output as in fused; 77
 * with fewer GPUs, or if they are not peers. */
#include "launch.h"
#include "test/runtime/cuda/program/gathering_cases.h"
#include "test/runtime/cuda/program/rows_cases.h"
#include "test/runtime/harness/device.h"

#include <stdio.h>
#include <string.h>

/* Returns true if the sites use peer-to-peer kernels, or have a reason of their own not to. */
static bool reaches_others(const tprt_context *context, int n_sites, const char *wanted) {
  int n = 0;
  for (int i = 0; i < n_sites; i++) {
    const char *why, *way = tprt_context_rows(context, i, &why);
    n += strcmp(way, wanted) == 0;
    if (*why && n == 0)
      fprintf(stderr, "%s: %s\n", way, why);
  }
  return n > 0;
}

static int enter(tprt_context *context, const test_table *program) {
  if (context && tprt_abi_enter(context, program->words) == TPRT_OK)
    return 0;
  fprintf(stderr, "wrong: %s\n", context ? tprt_context_error(context) : tprt_last_error());
  return RANKS_GIVEN_UP;
}

static int play(tprt_comm *comm, void *user) {
  enum { TURNS = 5 };
  int n = tprt_comm_size(comm), errors = 0;
  test_table rows = make_program(n), gathers = make_gather_program(n);
  cuda_context device_of_rank;
  DO(context_retain, &device_of_rank, tprt_comm_rank(comm));
  DO(context_set, device_of_rank);
  tprt_context *context = make_context(comm);
  int status = enter(context, &gathers);
  gather_program = &gathers;
  if (!status && !reaches_others(context, n_gather_cases,
                                 "matmuls in slices, which each GPU copies from the others"))
    status = RANKS_SKIPPED;
  for (int i = 0; i < n_gather_cases && !status; i++)
    errors += run_gather_case(context, comm, i, TURNS, NULL, NULL);
  if (!status)
    status = enter(context, &rows);
  if (!status &&
      !reaches_others(context, n_shape_cases, "a kernel on each GPU that accesses the other GPUs"))
    status = RANKS_SKIPPED;
  for (int i = 0; i < n_shape_cases && !status; i++)
    errors += run_case(context, comm, i, NULL);
  (void)tprt_barrier(comm, NULL, NULL);
  tprt_context_destroy(context);
  table_free(&gathers);
  table_free(&rows);
  int32_t all = errors;
  if (!status && tprt_all_reduce(comm, &all, &all, 1, TPRT_I32, TPRT_SUM, NULL, NULL) != TPRT_OK)
    status = RANKS_GIVEN_UP;
  if (!status && tprt_comm_rank(comm) == 0)
    printf("{\"test\": \"%s\", \"ranks\": %d, \"calls\": %d, \"errors\": %d}\n", (const char *)user,
           n, TURNS * n_gather_cases + 2 * n_shape_cases, (int)all);
  return status ? status : all != 0;
}

int main(int argc, char **argv) {
  enum { WORDS = 3 };
  char threads[] = "sites", processes[] = "sites-processes";
  int status = ranks_run(argc, argv, WORDS, play,
                         argc > 1 && strcmp(argv[1], "processes") == 0 ? processes : threads);
  if (status >= 0)
    return status;
  fprintf(stderr, "usage: sites threads|processes N_RANKS\n");
  return 2;
}
