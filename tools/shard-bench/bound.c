/* --bound: measures a lower bound from memory bandwidth. The ranks do only the data movement of the
 * operation, between two barriers: each rank reads its operands in place and writes the result to
 * its destination, in a plain loop over cache lines. One measurement uses ordinary stores, the
 * other non-temporal stores; for each size the faster one is the bound. */
#include "bench.h"

#include <errno.h>
#include <sched.h>
#include <signal.h>
#include <stdatomic.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <unistd.h>

#if defined(__x86_64__) && defined(__GNUC__)
#include <immintrin.h>
#define WIDE __attribute__((target("avx512f")))
#define MIDDLE __attribute__((target("avx2")))
#endif

enum { LINE = 64, LINE_FLOATS = LINE / sizeof(float), N_SPINS = 1000 };

/* Memory shared by all ranks. */
typedef struct shared {
  _Alignas(LINE) _Atomic int n_come;
  _Alignas(LINE) _Atomic int round;
  double values[BENCH_MAX_RANKS];
} shared;

typedef struct bound_rank {
  const bound_ranks *ranks;
  shared *shared;
  int rank;
  int n_taken; /* buffers given out: first the send buffer, then the recv buffer */
  size_t buffer_bytes;
  unsigned char *memory; /* n_ranks times two buffers */
} bound_rank;

static unsigned char *buffer_of(const bound_rank *r, int rank, int which) {
  return r->memory + ((size_t)rank * 2 + (size_t)which) * r->buffer_bytes;
}

static void meet(const bound_rank *r) {
  shared *s = r->shared;
  int round = atomic_load(&s->round);
  if (atomic_fetch_add(&s->n_come, 1) == r->ranks->job->n_ranks - 1) {
    atomic_store(&s->n_come, 0);
    atomic_store(&s->round, round + 1);
    return;
  }
  for (int i = 0; atomic_load(&s->round) == round; i++) {
    if (i >= N_SPINS)
      sched_yield();
  }
}

/* ---- Data movement ---- */

/* Adds n_from arrays (or copies a single one) and stores the result in n_to arrays. All arrays
 * start at a cache line and consist of whole lines. */
typedef struct move {
  const float *from[BENCH_MAX_RANKS];
  float *to[BENCH_MAX_RANKS];
  int n_from, n_to;
  size_t bytes;
} move;

typedef float line __attribute__((vector_size(LINE), may_alias));

/* Defines a loop that runs a move; `store` writes a line. The case of two sources and two
 * destinations determines the bound for two ranks, so it has no inner loops. */
#define DEFINE_RUN(name, target, store)                                                            \
  target static void name(const move *m) {                                                         \
    size_t n = m->bytes / sizeof(float);                                                           \
    const float *a = m->from[0], *b = m->from[1];                                                  \
    if (m->n_from == 2 && m->n_to == 2) {                                                          \
      float *c = m->to[0], *d = m->to[1];                                                          \
      for (size_t i = 0; i < n; i += LINE_FLOATS) {                                                \
        line sum = *(const line *)(a + i) + *(const line *)(b + i);                                \
        store(c + i, sum);                                                                         \
        store(d + i, sum);                                                                         \
      }                                                                                            \
      return;                                                                                      \
    }                                                                                              \
    for (size_t i = 0; i < n; i += LINE_FLOATS) {                                                  \
      line sum = *(const line *)(a + i);                                                           \
      for (int s = 1; s < m->n_from; s++)                                                          \
        sum += *(const line *)(m->from[s] + i);                                                    \
      for (int t = 0; t < m->n_to; t++)                                                            \
        store(m->to[t] + i, sum);                                                                  \
    }                                                                                              \
  }

#define STORE(at, value) (*(line *)(at) = (value))
DEFINE_RUN(run_plain, , STORE)

#ifdef WIDE
#define STREAM_WIDE(at, value) _mm512_stream_ps(at, (__m512)(value))
#define STREAM_MIDDLE(at, value)                                                                   \
  do {                                                                                             \
    line whole_ = (value);                                                                         \
    _mm256_stream_ps(at, ((const __m256 *)&whole_)[0]);                                            \
    _mm256_stream_ps((at) + LINE_FLOATS / 2, ((const __m256 *)&whole_)[1]);                        \
  } while (0)
#define STREAM_NARROW(at, value)                                                                   \
  do {                                                                                             \
    line whole_ = (value);                                                                         \
    for (int part_ = 0; part_ < 4; part_++)                                                        \
      _mm_stream_ps((at) + 4 * part_, ((const __m128 *)&whole_)[part_]);                           \
  } while (0)
DEFINE_RUN(run_wide, WIDE, STORE)
DEFINE_RUN(run_middle, MIDDLE, STORE)
DEFINE_RUN(stream_wide, WIDE, STREAM_WIDE)
DEFINE_RUN(stream_middle, MIDDLE, STREAM_MIDDLE)
DEFINE_RUN(stream_narrow, , STREAM_NARROW)

static void run_move(const move *m, bool stream) {
  if (__builtin_cpu_supports("avx512f"))
    (stream ? stream_wide : run_wide)(m);
  else if (__builtin_cpu_supports("avx2"))
    (stream ? stream_middle : run_middle)(m);
  else
    (stream ? stream_narrow : run_plain)(m);
  if (stream)
    _mm_sfence();
}
#else
static void run_move(const move *m, bool stream) {
  (void)stream;
  run_plain(m);
}
#endif

static void copy(const bound_rank *r, const void *from, void *to, size_t bytes) {
  move m = {.from = {from}, .to = {to}, .n_from = 1, .n_to = 1, .bytes = bytes};
  run_move(&m, r->ranks->stream);
}

/* Adds `bytes` bytes at offset `at` of all send buffers. Stores the sum at the same offset of all
 * recv buffers, or at the start of this rank's recv buffer. */
static void sum(const bound_rank *r, size_t at, size_t bytes, bool to_all) {
  const bench_job *job = r->ranks->job;
  move m = {.n_from = job->n_ranks, .n_to = to_all ? job->n_ranks : 1, .bytes = bytes};
  int received = job->in_place ? 0 : 1;
  for (int i = 0; i < job->n_ranks; i++) {
    m.from[i] = (const float *)(const void *)(buffer_of(r, i, 0) + at);
    m.to[i] = (float *)(void *)(to_all ? buffer_of(r, i, received) + at
                                       : buffer_of(r, r->rank, received));
  }
  run_move(&m, r->ranks->stream);
}

static void run(void *state, const bench_job *job, const void *send, void *recv, int64_t elements) {
  const bound_rank *r = state;
  int n = job->n_ranks;
  size_t size = tprt_dtype_size(job->dtype), whole = (size_t)elements * size,
         piece = whole / (size_t)n;
  size_t lines = whole / LINE, begin = lines * (size_t)r->rank / (size_t)n,
         end = lines * (size_t)(r->rank + 1) / (size_t)n;
  meet(r);
  switch (job->kind) {
  case TPRT_OP_ALL_REDUCE:
    sum(r, begin * LINE, (end - begin) * LINE, true);
    break;
  case TPRT_OP_REDUCE_SCATTER:
    sum(r, (size_t)r->rank * piece, piece, false);
    break;
  case TPRT_OP_ALL_GATHER:
  case TPRT_OP_ALL_TO_ALL:
    for (int i = 0; i < n; i++)
      copy(r, buffer_of(r, i, 0) + (job->kind == TPRT_OP_ALL_TO_ALL ? (size_t)r->rank * piece : 0),
           (char *)recv + (size_t)i * piece, piece);
    break;
  case TPRT_OP_BROADCAST:
    if (buffer_of(r, 0, 0) != recv)
      copy(r, buffer_of(r, 0, 0), recv, whole);
    break;
  default:
    copy(r, buffer_of(r, (r->rank + n - 1) % n, 0), recv, whole);
  }
  (void)send;
  meet(r);
}

/* ---- Ranks ---- */

static double largest(void *state, double value) {
  const bound_rank *r = state;
  r->shared->values[r->rank] = value;
  meet(r);
  double most = value;
  for (int i = 0; i < r->ranks->job->n_ranks; i++)
    most = r->shared->values[i] > most ? r->shared->values[i] : most;
  meet(r);
  return most;
}

static void *take(void *state, size_t bytes) {
  bound_rank *r = state;
  unsigned char *buffer = buffer_of(r, r->rank, r->n_taken++);
  memset(buffer, 0, bytes); /* populates its pages contiguously */
  return buffer;
}

/* No-op: all buffers are parts of one mapping. */
static void give(void *state, void *buffer) { (void)state, (void)buffer; }

static void play(bound_rank *r) {
  bench_rank rank = {
      .state = r, .rank = r->rank, .run = run, .largest = largest, .take = take, .give = give};
  prctl(PR_SET_PDEATHSIG, SIGKILL);
  bench_measure(r->ranks->job, &rank);
  exit(0);
}

bool bound_ready(const bench_job *job) {
  bool sums = job->kind == TPRT_OP_ALL_REDUCE || job->kind == TPRT_OP_REDUCE_SCATTER;
  if (sums && job->dtype != TPRT_F32) {
    complain("--bound reduces f32 only; use --dtype=f32, or omit %s", tprt_op_kind_name(job->kind));
    return false;
  }
  for (int i = 0; i < job->n_sizes; i++) {
    int64_t piece = bench_elements(job, i) / job->n_ranks * (int64_t)tprt_dtype_size(job->dtype);
    if (piece % LINE != 0) {
      complain("--bound needs pieces of whole cache lines of %d bytes, but %lld bytes for %d ranks "
               "give pieces of %lld bytes",
               LINE, (long long)job->sizes[i], job->n_ranks, (long long)piece);
      return false;
    }
  }
  return true;
}

int bound_start(void *data) {
  const bound_ranks *ranks = data;
  const bench_job *job = ranks->job;
  bound_rank r = {.ranks = ranks};
  for (int i = 0; i < job->n_sizes; i++) {
    size_t bytes = (size_t)bench_elements(job, i) * tprt_dtype_size(job->dtype);
    r.buffer_bytes = bytes > r.buffer_bytes ? bytes : r.buffer_bytes;
  }
  r.buffer_bytes = (r.buffer_bytes + 4095) / 4096 * 4096; /* whole pages */
  size_t total = (size_t)job->n_ranks * 2 * r.buffer_bytes;
  int flags = MAP_SHARED | MAP_ANONYMOUS | MAP_NORESERVE;
  r.shared = mmap(NULL, sizeof(shared), PROT_READ | PROT_WRITE, flags, -1, 0);
  r.memory = mmap(NULL, total, PROT_READ | PROT_WRITE, flags, -1, 0);
  if ((void *)r.shared == MAP_FAILED || (void *)r.memory == MAP_FAILED) {
    complain("cannot map %zu bytes for --bound: %s", total, strerror(errno));
    return EXIT_FAILED;
  }
  int failed = 0;
  for (r.rank = 0; r.rank < job->n_ranks; r.rank++) {
    pid_t child = fork();
    if (child == 0)
      play(&r);
    if (child < 0) {
      complain("cannot start process %d of %d", r.rank, job->n_ranks);
      return EXIT_FAILED; /* the children die with this process */
    }
  }
  for (int status; wait(&status) > 0;)
    failed |= status != 0;
  return failed ? EXIT_FAILED : 0;
}
