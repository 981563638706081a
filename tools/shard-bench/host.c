/* Measures the compute and memory rates of one rank while all ranks of this host run the same work.
 * Contractions run as in compiled programs, through the runtime, with the kernels it selects. */
#include "calibrate.h"

#include "tprt/abi.h"

#include <pthread.h>
#include <stdlib.h>

enum {
  N_SITES = 5,
  LARGE = 512,
  MIDDLE = 128,
  SMALL = 4,
  N_TRIES = 7,
  ARRAY_BYTES = 32 << 20,
  CACHED_ELEMENTS = 2048
};

static const struct site_row {
  tprt_dtype dtype;
  int64_t n; /* C[n,n] += A[n,n] * B[n,n] */
  int rate;
} sites[N_SITES] = {{TPRT_F32, LARGE, HOST_F32},
                    {TPRT_F64, LARGE, HOST_F64},
                    {TPRT_BF16, LARGE, HOST_F16},
                    {TPRT_I8, MIDDLE, HOST_I8},
                    {TPRT_F32, SMALL, HOST_LAUNCH}};

enum {
  N_LOOPS = 3,
  EXTRA_WORDS = TPRT_CONTRACT_LOOPS + N_LOOPS * TPRT_LOOP_WORDS,
  TABLE_WORDS = TPRT_ABI_HEADER_WORDS + N_SITES * (TPRT_SITE_WORDS + EXTRA_WORDS)
};

typedef struct rank_work {
  tprt_comm *comm;
  const int64_t *table;
  double round_seconds;
  float *a, *b, *c; /* ARRAY_BYTES each */
  tprt_context *context;
  double values[N_HOST_RATES];
} rank_work;

/* Creates the table of a program that consists of these contractions. */
static void make_table(int n_ranks, int64_t table[TABLE_WORDS]) {
  tprt_abi_header *header = (void *)table;
  tprt_abi_site *of = (void *)(table + TPRT_ABI_HEADER_WORDS);
  memset(table, 0, TABLE_WORDS * sizeof *table);
  *header = (tprt_abi_header){.magic = TPRT_ABI_MAGIC,
                              .version = TPRT_ABI_VERSION,
                              .n_words = TABLE_WORDS,
                              .n_axes = 1,
                              .n_sites = N_SITES,
                              .first_site = TPRT_ABI_HEADER_WORDS};
  for (int i = 0; i < TPRT_MAX_AXES; i++)
    header->sizes[i] = i == 0 ? n_ranks : 1;
  for (int i = 0; i < N_SITES; i++) {
    int64_t n = sites[i].n,
            offset = TPRT_ABI_HEADER_WORDS + N_SITES * TPRT_SITE_WORDS + i * EXTRA_WORDS;
    const tprt_abi_loop loops[N_LOOPS] = {{n, {n, 0, n}}, {n, {0, 1, 1}}, {n, {1, n, 0}}};
    of[i] = (tprt_abi_site){.kind = TPRT_SITE_CONTRACT,
                            .dtype = sites[i].dtype,
                            .extra = offset,
                            .n_extra = EXTRA_WORDS};
    table[offset + TPRT_CONTRACT_N_LOOPS] = N_LOOPS;
    memcpy(table + offset + TPRT_CONTRACT_LOOPS, loops, sizeof loops);
  }
}

/* ---- Timed work ---- */

/* Streams two operands and a result through memory. */
static void add_arrays(rank_work *w, int site) {
  (void)site;
  for (size_t i = 0; i < ARRAY_BYTES / sizeof *w->a; i++)
    w->c[i] = w->a[i] + w->b[i];
}

enum { OPS_PER_ELEMENT = 4 };

static void compute_cached(rank_work *w, int site) {
  (void)site;
  for (int i = 0; i < CACHED_ELEMENTS; i++)
    w->c[i] = (w->a[i] * w->b[i] + 0.5f) * w->a[i] - 0.25f;
  __asm__ volatile("" ::: "memory"); /* prevents the compiler from removing repetitions */
}

static void contract(rank_work *w, int site) {
  if (tprt_abi_contract(w->context, site, w->a, w->b, w->c) != TPRT_OK) {
    complain("%s", tprt_context_error(w->context));
    exit(EXIT_FAILED);
  }
}

/* Returns the seconds per call while all ranks run: the minimum over several tries, then the max
 * over the ranks. */
static double min_seconds(rank_work *w, void (*work)(rank_work *w, int site), int site) {
  double least = 1e30, slowest;
  work(w, site);
  double begin = cli_seconds();
  work(w, site);
  double calls = w->round_seconds / (cli_seconds() - begin + 1e-9);
  int n = calls < 1 ? 1 : calls > 1e6 ? 1000000 : (int)calls;
  for (int i = 0; i < N_TRIES; i++) {
    expect(tprt_barrier(w->comm, NULL, NULL));
    begin = cli_seconds();
    for (int k = 0; k < n; k++)
      work(w, site);
    double seconds = (cli_seconds() - begin) / n;
    least = seconds < least ? seconds : least;
  }
  expect(tprt_all_reduce(w->comm, &least, &slowest, 1, TPRT_F64, TPRT_MAX, NULL, NULL));
  return slowest;
}

static void *play(void *data) {
  rank_work *w = data;
  w->a = calloc(1, ARRAY_BYTES), w->b = calloc(1, ARRAY_BYTES), w->c = calloc(1, ARRAY_BYTES);
  if (!w->a || !w->b || !w->c) {
    complain("no memory for three arrays of %d bytes", ARRAY_BYTES);
    exit(EXIT_FAILED);
  }
  for (size_t i = 0; i < ARRAY_BYTES / sizeof *w->a; i++)
    w->a[i] = w->b[i] = w->c[i] = 0; /* gives each array its own pages */
  expect(tprt_context_create(w->comm, NULL, &w->context));
  expect((tprt_status)tprt_abi_enter(w->context, w->table));
  w->values[HOST_MEMORY] = 3.0 * ARRAY_BYTES / min_seconds(w, add_arrays, 0) * 1e-9;
  w->values[HOST_ELEMENTWISE] =
      (double)OPS_PER_ELEMENT * CACHED_ELEMENTS / min_seconds(w, compute_cached, 0) * 1e-9;
  for (int i = 0; i < N_SITES; i++) {
    double seconds = min_seconds(w, contract, i), n = (double)sites[i].n;
    w->values[sites[i].rate] =
        sites[i].rate == HOST_LAUNCH ? seconds * 1e6 : 2 * n * n * n / seconds * 1e-9;
  }
  tprt_context_destroy(w->context);
  free(w->a), free(w->b), free(w->c);
  return NULL;
}

int host_start(void *data) {
  const host_ranks *host = data;
  static int64_t table[TABLE_WORDS];
  tprt_comm *comms[BENCH_MAX_RANKS];
  pthread_t threads[BENCH_MAX_RANKS];
  static rank_work work[BENCH_MAX_RANKS];
  make_table(host->n_ranks, table);
  expect(tprt_world_create_threads(host->n_ranks, NULL, comms));
  for (int r = 0; r < host->n_ranks; r++) {
    work[r] = (rank_work){.comm = comms[r], .table = table, .round_seconds = host->round_seconds};
    if (pthread_create(&threads[r], NULL, play, &work[r]) != 0) {
      complain("cannot start thread %d of %d", r, host->n_ranks);
      return EXIT_FAILED;
    }
  }
  for (int r = 0; r < host->n_ranks; r++)
    pthread_join(threads[r], NULL);
  for (int r = 0; r < host->n_ranks; r++)
    tprt_comm_destroy(comms[r]);
  for (int i = 0; i < N_HOST_RATES; i++)
    printf("%.6g\n", work[0].values[i]);
  return 0;
}
