/* Measures the compute and memory rates of one rank while all ranks of this host run the same work.
 * Contractions run as in compiled programs, through the runtime, with the kernels it selects. */
#include "calibrate.h"

#include "tprt/abi.h"

#include <pthread.h>
#include <stdlib.h>
#include <time.h>

enum {
  N_SITES = 7,
  LARGE = 512,
  MIDDLE = 128,
  SMALL = 4,
  WIDE = 2048,
  FEW_ROWS = 8,
  SOME_ROWS = 64,
  MIN_TRIES = 8,
  N_AGREEING = 4,         /* see agreement */
  ARRAY_BYTES = 64 << 20, /* larger than the share of a rank in any cache */
  N_MATRICES = ARRAY_BYTES / (WIDE * WIDE * 4),
  CACHED_ELEMENTS = 2048
};

/* A measurement ends when its N_AGREEING shortest times differ by less than this. */
static const double agreement = 0.01;

/* The last two sites multiply few rows by matrices from memory. With FEW_ROWS reading them takes
 * longest; with SOME_ROWS computing does. */
enum { FEW_SITE = N_SITES - 2, SOME_SITE };

static const struct site_row {
  tprt_dtype dtype;
  int64_t m, n; /* C[m,n] += A[m,n] * B[n,n] */
  int rate;     /* -1: see fit_contractions */
} sites[N_SITES] = {{TPRT_F32, LARGE, LARGE, HOST_F32},    {TPRT_F64, LARGE, LARGE, HOST_F64},
                    {TPRT_BF16, LARGE, LARGE, HOST_F16},   {TPRT_I8, MIDDLE, MIDDLE, HOST_I8},
                    {TPRT_F32, SMALL, SMALL, HOST_LAUNCH}, {TPRT_F32, FEW_ROWS, WIDE, -1},
                    {TPRT_F32, SOME_ROWS, WIDE, -1}};

enum {
  N_LOOPS = 3,
  EXTRA_WORDS = TPRT_CONTRACT_LOOPS + N_LOOPS * TPRT_LOOP_WORDS,
  TABLE_WORDS = TPRT_ABI_HEADER_WORDS + N_SITES * (TPRT_SITE_WORDS + EXTRA_WORDS)
};

typedef struct rank_work {
  tprt_comm *comm;
  const int64_t *table;
  double round_seconds;
  int max_tries;
  float *a, *b, *c; /* ARRAY_BYTES each */
  tprt_context *context;
  unsigned n_products; /* of contract_from_memory */
  double busy, passed; /* seconds of the processor and of the clock in timed loops */
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
    int64_t m = sites[i].m, n = sites[i].n,
            offset = TPRT_ABI_HEADER_WORDS + N_SITES * TPRT_SITE_WORDS + i * EXTRA_WORDS;
    const tprt_abi_loop loops[N_LOOPS] = {{m, {n, 0, n}}, {n, {0, 1, 1}}, {n, {1, n, 0}}};
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

static void fill_array(rank_work *w, int site) {
  (void)site;
  for (size_t i = 0; i < ARRAY_BYTES / sizeof *w->a; i++)
    w->c[i] = 1;
  __asm__ volatile("" ::: "memory"); /* keeps the loop, and the compiler from calling memset once */
}

enum { OPS_PER_ELEMENT = 4 };

static void compute_cached(rank_work *w, int site) {
  (void)site;
  for (int i = 0; i < CACHED_ELEMENTS; i++)
    w->c[i] = (w->a[i] * w->b[i] + 0.5f) * w->a[i] - 0.25f;
  __asm__ volatile("" ::: "memory"); /* prevents the compiler from removing repetitions */
}

static void multiply(rank_work *w, int site, const float *a, const float *b) {
  if (tprt_abi_contract(w->context, site, a, b, w->c) != TPRT_OK) {
    complain("%s", tprt_context_error(w->context));
    exit(EXIT_FAILED);
  }
}

static void contract(rank_work *w, int site) { multiply(w, site, w->a, w->b); }

/* Takes another matrix each time, so that none is in a cache. */
static void contract_from_memory(rank_work *w, int site) {
  unsigned i = w->n_products++ % (2 * N_MATRICES);
  const float *array = i < N_MATRICES ? w->a : w->b;
  multiply(w, site, w->c + WIDE * WIDE, array + (size_t)(i % N_MATRICES) * WIDE * WIDE);
}

static double processor_seconds(void) {
  struct timespec now;
  clock_gettime(CLOCK_THREAD_CPUTIME_ID, &now);
  return (double)now.tv_sec + 1e-9 * (double)now.tv_nsec;
}

/* The shortest times so far of one measurement, the shortest one first. */
typedef struct best_times {
  double seconds[N_AGREEING];
  int n_tries;
} best_times;

static void add_time(best_times *best, double seconds) {
  int at = best->n_tries < N_AGREEING ? best->n_tries : N_AGREEING - 1;
  if (best->n_tries++ >= N_AGREEING && seconds >= best->seconds[at])
    return;
  for (; at > 0 && best->seconds[at - 1] > seconds; at--)
    best->seconds[at] = best->seconds[at - 1];
  best->seconds[at] = seconds;
}

/* True if the shortest times are nearly equal: then it is not chance that nothing else ran. */
static bool agree(const best_times *best) {
  return best->n_tries >= MIN_TRIES &&
         best->seconds[N_AGREEING - 1] <= (1 + agreement) * best->seconds[0];
}

/* Returns the seconds per call while all ranks run: the minimum over many short tries, some of
 * which the scheduler leaves alone, then the max over the ranks. */
static double min_seconds(rank_work *w, void (*work)(rank_work *w, int site), int site) {
  double slowest;
  best_times best = {.n_tries = 0};
  work(w, site);
  double begin = cli_seconds();
  work(w, site);
  double calls = w->round_seconds / (cli_seconds() - begin + 1e-9);
  int n = calls < 1 ? 1 : calls > 1e6 ? 1000000 : (int)calls;
  for (int is_noisy = 1; is_noisy && best.n_tries < w->max_tries;) {
    /* This is a barrier, too. Ranks go on as long as the times of one differ. */
    int is_mine = !agree(&best);
    expect(tprt_all_reduce(w->comm, &is_mine, &is_noisy, 1, TPRT_I32, TPRT_MAX, NULL, NULL));
    begin = cli_seconds();
    double busy = processor_seconds();
    for (int k = 0; k < n; k++)
      work(w, site);
    double seconds = cli_seconds() - begin;
    w->busy += processor_seconds() - busy;
    w->passed += seconds;
    add_time(&best, seconds / n);
  }
  expect(tprt_all_reduce(w->comm, best.seconds, &slowest, 1, TPRT_F64, TPRT_MAX, NULL, NULL));
  return slowest;
}

/* Finds the rate at which contractions read matrices, and what of the shorter of reading and
 * computing is not hidden: two unknowns of two measured times, by iteration. */
static void fit_contractions(double few, double some, double *values) {
  enum { N_STEPS = 20 };
  double bytes = (double)WIDE * WIDE * sizeof(float), flops = 2.0 * WIDE * WIDE;
  double computing_few = flops * FEW_ROWS / (values[HOST_F32] * 1e9),
         computing = flops * SOME_ROWS / (values[HOST_F32] * 1e9), reading = few, exposed = 0;
  for (int i = 0; i < N_STEPS; i++) {
    double longer = reading > computing ? reading : computing,
           shorter = reading > computing ? computing : reading;
    exposed = (some - longer) / shorter;
    exposed = exposed < 0 ? 0 : exposed > 1 ? 1 : exposed;
    reading = few - exposed * computing_few;
    reading = reading < few / 2 ? few / 2 : reading;
  }
  values[HOST_CONTRACTION] = bytes / reading * 1e-9;
  values[HOST_EXPOSED] = exposed;
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
  w->values[HOST_STORE] = 1.0 * ARRAY_BYTES / min_seconds(w, fill_array, 0) * 1e-9;
  w->values[HOST_ELEMENTWISE] =
      (double)OPS_PER_ELEMENT * CACHED_ELEMENTS / min_seconds(w, compute_cached, 0) * 1e-9;
  for (int i = 0; i < FEW_SITE; i++) {
    double seconds = min_seconds(w, contract, i), n = (double)sites[i].n;
    w->values[sites[i].rate] =
        sites[i].rate == HOST_LAUNCH ? seconds * 1e6 : 2 * n * n * n / seconds * 1e-9;
  }
  double few = min_seconds(w, contract_from_memory, FEW_SITE);
  fit_contractions(few, min_seconds(w, contract_from_memory, SOME_SITE), w->values);
  double share = w->busy / w->passed;
  expect(
      tprt_all_reduce(w->comm, &share, &w->values[HOST_SHARE], 1, TPRT_F64, TPRT_MIN, NULL, NULL));
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
  /* threads, whatever backend the environment names for the ranks of a launcher */
  const tprt_config config = {.size = sizeof config, .backend = "shm"};
  expect(tprt_world_create_threads(host->n_ranks, &config, comms));
  for (int r = 0; r < host->n_ranks; r++) {
    work[r] = (rank_work){.comm = comms[r],
                          .table = table,
                          .round_seconds = host->round_seconds,
                          .max_tries = host->n_rounds < MIN_TRIES ? MIN_TRIES : host->n_rounds};
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
