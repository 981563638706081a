/* Runs many calls of all kinds on an emulated machine; a hash decides their order and numbers of
 * CTAs. Usage: emulation N_RANKS N_TURNS [SKEW_NS]. On some turns every result is compared with an
 * oracle; on all turns results must be bitwise equal between the ranks; and two runs with different
 * numbers of CTAs and delays must be bitwise equal. The counters of calls wrap around on the way.
 * Exit status 1 and "wrong" on stderr on a failure. */
#include "cases.h"
#include "machine.h"

#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { CTAS = 3, ORACLE_EVERY = 7 };

typedef struct run {
  int n_ranks, most_ctas;
  uint64_t n_turns, skew_ns;
  unsigned char *base[FUSED_RANKS];
  unsigned char *constants; /* of all cases */
  size_t buffer_bytes;
  fused_launch *launches; /* by case, then by number of CTAs */
  uint64_t *digests;      /* by turn, then rank */
  atomic_int errors;
} run;

static const fused_launch *launch_of(void *user, uint64_t turn) {
  const run *r = user;
  uint32_t n_ctas = (case_mixed(turn) >> 16) % (uint32_t)r->most_ctas;
  return &r->launches[case_of_turn(turn) * CTAS + (int)n_ctas];
}

static void before(void *user, int rank, uint64_t turn) {
  run *r = user;
  case_fill(&fused_cases[case_of_turn(turn)], r->n_ranks, rank, turn, r->base[rank],
            r->buffer_bytes);
}

static void after(void *user, int rank, uint64_t turn) {
  run *r = user;
  const fused_case *c = &fused_cases[case_of_turn(turn)];
  r->digests[turn * FUSED_RANKS + (uint64_t)rank] =
      case_digest(c, r->n_ranks, r->base[rank], r->buffer_bytes);
  if (turn % ORACLE_EVERY == 0 || turn < (uint64_t)n_fused_cases)
    r->errors += case_check(c, r->n_ranks, rank, turn, r->base[rank], r->buffer_bytes);
}

static void *zeroed(size_t bytes) {
  void *memory = aligned_alloc(64, (bytes + 63) / 64 * 64);
  if (!memory)
    abort();
  return memset(memory, 0, (bytes + 63) / 64 * 64);
}

static void plan_all(run *r, const tprt_cuda_group_config *config) {
  r->launches = zeroed((size_t)(n_fused_cases * CTAS) * sizeof *r->launches);
  for (int i = 0; i < n_fused_cases * CTAS; i++) {
    fused_group group = {.config = *config};
    unsigned char *constants = r->constants + (size_t)(i / CTAS * N_CONSTANTS) * r->buffer_bytes;
    for (int k = 0; k < FUSED_N_KERNELS; k++)
      group.n_ctas[k] = 1 + i % CTAS;
    case_constants(&fused_cases[i / CTAS], constants, r->buffer_bytes);
    case_arguments arguments =
        case_arguments_of(&fused_cases[i / CTAS], r->n_ranks, r->base, constants, r->buffer_bytes);
    if (case_plan(&fused_cases[i / CTAS], &group, &arguments, &r->launches[i]) != TPRT_OK) {
      fprintf(stderr, "wrong: case %d: %s\n", i / CTAS, tprt_last_error());
      exit(1);
    }
  }
}

/* Returns the digests of a run; the caller frees them. */
static uint64_t *run_once(run *r) {
  tprt_cuda_group_config config = {.size = sizeof config,
                                   .n_ranks = r->n_ranks,
                                   .rank = TPRT_CUDA_ALL_RANKS,
                                   .skew_ns = (uint32_t)r->skew_ns};
  for (int i = 0; i < n_fused_cases; i++) {
    size_t buffer = (case_buffer_bytes(&fused_cases[i], r->n_ranks) + 63) / 64 * 64;
    size_t staging = case_staging_bytes(&fused_cases[i], r->n_ranks);
    r->buffer_bytes = buffer > r->buffer_bytes ? buffer : r->buffer_bytes;
    config.staging_bytes = staging > config.staging_bytes ? staging : config.staging_bytes;
  }
  for (int rank = 0; rank < r->n_ranks; rank++) {
    fused_signals *signals = config.signals[rank] = zeroed(sizeof *signals);
    config.staging[rank] = zeroed(config.staging_bytes);
    r->base[rank] = zeroed(N_BUFFERS * r->buffer_bytes);
    for (int i = 0; i < FUSED_CTAS; i++) /* the counters wrap around after half of the turns */
      signals->epoch[i] = (uint32_t)0 - (uint32_t)(r->n_turns / 2);
    for (int stage = 0; stage < FUSED_STAGES; stage++)
      for (int i = 0; i < FUSED_CTAS * FUSED_RANKS; i++)
        signals->flag[stage][i / FUSED_RANKS][i % FUSED_RANKS] = signals->epoch[0];
  }
  r->constants = zeroed((size_t)(n_fused_cases * N_CONSTANTS) * r->buffer_bytes);
  plan_all(r, &config);
  r->digests = zeroed(r->n_turns * FUSED_RANKS * sizeof *r->digests);
  machine_program program = {
      .n_turns = r->n_turns, .launch = launch_of, .before = before, .after = after, .user = r};
  machine_run(r->n_ranks, CTAS, &program);
  for (uint64_t i = 0; i < r->n_turns * FUSED_RANKS; i++)
    if ((int)(i % FUSED_RANKS) < r->n_ranks &&
        r->digests[i] != r->digests[i / FUSED_RANKS * FUSED_RANKS]) {
      fprintf(stderr, "wrong: turn %d: rank %d has other bits than rank 0\n",
              (int)(i / FUSED_RANKS), (int)(i % FUSED_RANKS));
      r->errors++;
    }
  for (int rank = 0; rank < r->n_ranks; rank++) {
    free(config.signals[rank]);
    free(config.staging[rank]);
    free(r->base[rank]);
  }
  free(r->launches);
  free(r->constants);
  return r->digests;
}

int main(int argc, char **argv) {
  if (argc < 3) {
    fprintf(stderr, "usage: emulation N_RANKS N_TURNS [SKEW_NS]\n");
    return 2;
  }
  run first = {.n_ranks = atoi(argv[1]), .most_ctas = CTAS, .n_turns = (uint64_t)atoll(argv[2])};
  run second = first;
  first.skew_ns = argc > 3 ? (uint64_t)atoll(argv[3]) : 0;
  second.most_ctas = 2;
  uint64_t *one = run_once(&first), *other = run_once(&second);
  int errors = first.errors + second.errors;
  if (memcmp(one, other, first.n_turns * FUSED_RANKS * sizeof *one) != 0) {
    fprintf(stderr, "wrong: two runs differ\n");
    errors++;
  }
  free(one);
  free(other);
  printf("%d ranks, 2 runs of %llu calls: %d errors\n", first.n_ranks,
         (unsigned long long)first.n_turns, errors);
  return errors != 0;
}
