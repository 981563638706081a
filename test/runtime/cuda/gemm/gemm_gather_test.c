/* Tests all-gathers of rows followed by GEMMs, with the fake driver and the fake cuBLASLt: virtual
 * ranks and one thread per rank, with stream work in every order that events allow; each event is
 * shown to be needed; failing calls; rejected arguments. */
#define _GNU_SOURCE 1
#include "gemm_blas.h"
#include "test/runtime/cuda/fake/fake_stream.h"

#include "tprt/cuda_gemm.h"
#include "tprt/tprt.h"

#include <dlfcn.h>
#include <math.h>
#include <pthread.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include <cmocka.h>

enum { MOST_RANKS = 4, N = 12, ROW_OUT = 24, WIDTH = 8, MOST_GEMMS = 2, WORKSPACE = 1024 };

static device_calls driver;
static fake_streams_of_thread_fn *streams_of_thread;

/* ---- A world: rows that the stream writes, and their expected results ---- */

typedef struct world {
  int n_ranks, n_gemms;
  int64_t tokens, slice, blocks; /* slice: rows of a rank, over all blocks */
  tprt_dtype dtype, out_dtype;
  bool in_place;
  tprt_cuda_group_config config;
  tprt_cuda_gather rows;
  tprt_cuda_gemm gemms[MOST_RANKS * MOST_GEMMS];
} world;

static void *nothing(size_t bytes) {
  size_t whole = (bytes + 255) / 256 * 256;
  void *memory = aligned_alloc(256, whole ? whole : 256);
  assert_non_null(memory);
  return memset(memory, 0xff, whole ? whole : 256); /* NaN in every type */
}

static float load(tprt_dtype dtype, const void *from, int64_t i) {
  return dtype == TPRT_F32 ? ((const float *)from)[i]
                           : tprt_bf16_to_f32(((const uint16_t *)from)[i]);
}

static void store(tprt_dtype dtype, void *to, int64_t i, float x) {
  if (dtype == TPRT_F32)
    ((float *)to)[i] = x;
  else
    ((uint16_t *)to)[i] = tprt_f32_to_bf16(x);
}

/* Returns element i of the rows in a turn. */
static float row_value(int64_t i, int turn) {
  return (float)((i * 5 + turn * 11 + i / 13) % 19 - 9) / 8;
}

static void *numbers(tprt_dtype dtype, int64_t n, int seed) {
  void *memory = nothing((size_t)n * tprt_dtype_size(dtype));
  for (int64_t i = 0; i < n; i++)
    store(dtype, memory, i, (float)((i * 7 + seed * 3 + i / 11) % 17 - 8) / 8);
  return memory;
}

/* Returns the global index of row i of a rank. */
static int64_t row_of(const world *w, int rank, int64_t i) {
  int64_t each = w->slice / w->blocks;
  return each ? i / each * (w->tokens / w->blocks) + rank * each + i % each : 0;
}

static world make_world(int n_ranks, int64_t tokens, int64_t blocks, tprt_dtype dtype,
                        tprt_dtype out_dtype, int n_gemms, bool in_place) {
  world w = {.n_ranks = n_ranks,
             .blocks = blocks,
             .n_gemms = n_gemms,
             .tokens = tokens,
             .slice = (tokens + n_ranks - 1) / n_ranks,
             .dtype = dtype,
             .out_dtype = out_dtype,
             .in_place = in_place};
  size_t slice_bytes = (size_t)(w.slice * WIDTH) * tprt_dtype_size(dtype);
  w.config = (tprt_cuda_group_config){.size = sizeof w.config,
                                      .n_ranks = n_ranks,
                                      .rank = TPRT_CUDA_ALL_RANKS,
                                      .max_ctas = 2,
                                      .spin_limit = 1u << 24};
  w.rows = (tprt_cuda_gather){
      .size = sizeof w.rows, .dtype = dtype, .tokens = tokens, .width = WIDTH, .blocks = blocks};
  for (int r = 0; r < n_ranks; r++) {
    w.config.signals[r] = memset(nothing(tprt_cuda_signal_bytes()), 0, tprt_cuda_signal_bytes());
    w.rows.gathered[r] = nothing((size_t)n_ranks * slice_bytes);
    w.rows.input[r] =
        in_place ? (char *)w.rows.gathered[r] + (size_t)r * slice_bytes : nothing(slice_bytes);
    for (int j = 0; j < n_gemms; j++)
      w.gemms[r * n_gemms + j] =
          (tprt_cuda_gemm){.size = sizeof *w.gemms,
                           .dtype = dtype,
                           .out_dtype = out_dtype,
                           .m = tokens,
                           .n = N,
                           .k = WIDTH,
                           .row_out = ROW_OUT,
                           .alpha = 1,
                           .transpose_b = j % 2,
                           .epilogue = j % 2 ? TPRT_CUDA_RELU : TPRT_CUDA_NOTHING,
                           /* the same on all ranks */
                           .b = numbers(dtype, WIDTH * N, 10 * j),
                           .bias = numbers(out_dtype, N, r),
                           .aux = j % 2 ? nothing((size_t)tokens * 16) : NULL,
                           .out = nothing((size_t)(tokens * ROW_OUT) * tprt_dtype_size(out_dtype))};
  }
  return w;
}

static void free_world(world *w) {
  for (int r = 0; r < w->n_ranks; r++) {
    free(w->config.signals[r]);
    free(w->rows.gathered[r]);
    free(w->in_place ? NULL : (void *)(uintptr_t)w->rows.input[r]);
    for (int j = 0; j < w->n_gemms; j++) {
      const tprt_cuda_gemm *g = &w->gemms[r * w->n_gemms + j];
      const void *all[] = {g->b, g->bias, g->aux, g->out};
      for (size_t i = 0; i < sizeof all / sizeof *all; i++)
        free((void *)(uintptr_t)all[i]);
    }
  }
}

/* Writes a rank's rows of a turn in its stream, after a delay. */
typedef struct writing {
  const world *w;
  int rank, turn;
  long late_us;
} writing;

static void write_rows(void *data) {
  const writing *to = data;
  const world *w = to->w;
  nanosleep(&(struct timespec){.tv_nsec = to->late_us * 1000}, NULL);
  for (int64_t i = 0; i < w->slice * WIDTH; i++)
    if (row_of(w, to->rank, i / WIDTH) < w->tokens)
      store(w->dtype, (void *)(uintptr_t)w->rows.input[to->rank], i,
            row_value(row_of(w, to->rank, i / WIDTH) * WIDTH + i % WIDTH, to->turn));
  free(data);
}

static void enqueue_rows(const world *w, int rank, int turn, long late_us, cuda_stream stream) {
  writing *data = malloc(sizeof *data);
  assert_non_null(data);
  *data = (writing){.w = w, .rank = rank, .turn = turn, .late_us = late_us};
  assert_int_equal(driver.host_call(stream, write_rows, data), 0);
}

/* Returns the number of differences from the oracle in a rank's results. `says`: prints the first
 * one on stderr. */
static int errors_of(const world *w, int rank, int turn, bool says) {
  int errors = 0;
  for (int64_t i = 0; i < w->tokens * WIDTH; i++)
    errors += !(load(w->dtype, w->rows.gathered[rank], i) == row_value(i, turn));
  if (errors && says)
    fprintf(stderr, "wrong: rank %d of %d: %d elements of the gathered rows\n", rank, w->n_ranks,
            errors);
  for (int j = 0; j < w->n_gemms; j++) {
    const tprt_cuda_gemm *g = &w->gemms[rank * w->n_gemms + j];
    double unit = w->out_dtype == TPRT_BF16 ? 0x1p-8 : 0x1p-20;
    for (int64_t t = 0; t < w->tokens; t++)
      for (int64_t n = 0; n < N; n++) {
        double x = (double)load(w->out_dtype, g->bias, n), size = fabs(x);
        for (int64_t k = 0; k < WIDTH; k++) {
          double b = (double)load(w->dtype, g->b, g->transpose_b ? n * WIDTH + k : k * N + n);
          x += (double)row_value(t * WIDTH + k, turn) * b;
          size += fabs((double)row_value(t * WIDTH + k, turn) * b);
        }
        double wanted = g->epilogue && x < 0 ? 0 : x,
               got = (double)load(w->out_dtype, g->out, t * ROW_OUT + n);
        bool bit = g->aux ? ((const unsigned char *)g->aux)[t * 16 + n / 8] >> n % 8 & 1 : x > 0;
        if (fabs(got - wanted) <= unit * size && (fabs(x) <= unit * size || bit == (x > 0)))
          continue;
        if (errors++ == 0 && says)
          fprintf(stderr, "wrong: rank %d of %d, product %d: [%lld, %lld] is %g, expected %g\n",
                  rank, w->n_ranks, j, (long long)t, (long long)n, got, wanted);
      }
  }
  return errors;
}

/* State of a process. */
typedef struct player {
  tprt_cuda_group *group;
  tprt_cuda_copier *copier;
  tprt_cuda_blas *blas;
  void *workspace;
} player;

static bool begin_player(player *p, const tprt_cuda_group_config *config) {
  *p = (player){.workspace = nothing(WORKSPACE)};
  p->blas = make_blas(p->workspace, WORKSPACE);
  bool fine = p->blas && tprt_cuda_group_create(config, &p->group) == TPRT_OK &&
              tprt_cuda_copier_create(&p->copier) == TPRT_OK;
  if (!fine)
    fprintf(stderr, "wrong: %s\n", tprt_last_error());
  return fine;
}

static void end_player(player *p) {
  tprt_cuda_copier_destroy(p->copier);
  tprt_cuda_group_destroy(p->group);
  tprt_cuda_blas_destroy(p->blas);
  free(p->workspace);
}

/* ---- Virtual ranks ---- */

static const struct {
  int64_t tokens;
  tprt_dtype dtype, out_dtype;
  int n_gemms;
  bool in_place;
  int64_t blocks; /* each has a number of tokens that every number of ranks divides */
} shapes[] = {{8, TPRT_F32, TPRT_F32, 1, false, 1},   {9, TPRT_BF16, TPRT_F32, 2, true, 1},
              {6, TPRT_BF16, TPRT_BF16, 1, false, 1}, {5, TPRT_F32, TPRT_F32, 2, false, 1},
              {1, TPRT_F32, TPRT_F32, 1, true, 1},    {0, TPRT_F32, TPRT_F32, 1, false, 1},
              {24, TPRT_F32, TPRT_F32, 1, false, 2},  {36, TPRT_BF16, TPRT_BF16, 1, false, 3}};

/* Enqueues writing and multiplying all ranks' rows in one stream. */
static void enqueue_all(world *w, player *p, int turn, cuda_stream stream) {
  for (int r = 0; r < w->n_ranks; r++)
    enqueue_rows(w, r, turn, 0, stream);
  if (tprt_cuda_gather_multiply(p->group, p->copier, p->blas, &w->rows, w->gemms, w->n_gemms,
                                stream) != TPRT_OK)
    fail_msg("%s", tprt_last_error());
}

/* Returns the number of copies: one per rank's rows, regardless of blocks; a rank's own rows may be
 * in place. */
static long copies_of(const world *w) {
  int64_t block = w->tokens / w->blocks, each = w->slice / w->blocks;
  long n_owners = 0;
  for (int r = 0; r < w->n_ranks; r++)
    n_owners += r * each < block;
  return n_owners * (w->n_ranks - w->in_place);
}

static void test_virtual_ranks(void **state) {
  static const char *const late[] = {"0", "1", "2", "3"};
  (void)state;
  for (int l = 0; l < 4; l++)
    for (int n = 1; n <= MOST_RANKS; n++)
      for (size_t i = 0; i < sizeof shapes / sizeof *shapes; i++) {
        setenv("FAKE_LATE", late[l], 1);
        world w = make_world(n, shapes[i].tokens, shapes[i].blocks, shapes[i].dtype,
                             shapes[i].out_dtype, shapes[i].n_gemms, shapes[i].in_place);
        player p;
        cuda_stream stream;
        assert_true(begin_player(&p, &w.config));
        assert_int_equal(driver.stream_create(&stream, CUDA_STREAM_NON_BLOCKING), 0);
        for (int turn = 0; turn < 2; turn++) {
          streams_of_thread()->n_copies = 0;
          enqueue_all(&w, &p, turn, stream);
          assert_int_equal(streams_of_thread()->n_copies, copies_of(&w));
          assert_int_equal(tprt_cuda_group_check(p.group, stream), TPRT_OK);
          for (int r = 0; r < n; r++)
            assert_int_equal(errors_of(&w, r, turn, true), 0);
        }
        assert_int_equal(driver.stream_destroy(stream), 0);
        end_player(&p);
        free_world(&w);
      }
  setenv("FAKE_LATE", "0", 1);
}

/* Equal operands give bitwise equal results on all ranks, for the slices of any rank. */
static void test_same_bits(void **state) {
  world w = make_world(3, 7, 1, TPRT_F32, TPRT_F32, 1, false);
  player p;
  (void)state;
  for (int r = 0; r < 3; r++) {
    free((void *)(uintptr_t)w.gemms[r].bias);
    w.gemms[r].bias = NULL;
  }
  assert_true(begin_player(&p, &w.config));
  enqueue_all(&w, &p, 0, NULL);
  for (int r = 1; r < 3; r++)
    assert_memory_equal(w.gemms[r].out, w.gemms[0].out, 7 * ROW_OUT * sizeof(float));
  end_player(&p);
  free_world(&w);
}

/* Captured once and replayed with other rows: the graph contains the waits. */
static void test_graph(void **state) {
  world w = make_world(3, 9, 1, TPRT_F32, TPRT_F32, 2, false);
  player p;
  cuda_stream stream;
  cuda_graph graph;
  cuda_program program;
  (void)state;
  assert_true(begin_player(&p, &w.config));
  assert_int_equal(driver.stream_create(&stream, CUDA_STREAM_NON_BLOCKING), 0);
  assert_int_equal(driver.capture_begin(stream, 0), 0);
  if (tprt_cuda_gather_multiply(p.group, p.copier, p.blas, &w.rows, w.gemms, 2, stream) != TPRT_OK)
    fail_msg("%s", tprt_last_error());
  assert_int_equal(driver.capture_end(stream, &graph), 0);
  assert_int_equal(driver.instantiate(&program, graph, 0), 0);
  for (int turn = 0; turn < 3; turn++) {
    for (int r = 0; r < 3; r++)
      enqueue_rows(&w, r, turn, 0, stream);
    assert_int_equal(driver.replay(program, stream), 0);
    assert_int_equal(driver.stream_wait(stream), 0);
    for (int r = 0; r < 3; r++)
      assert_int_equal(errors_of(&w, r, turn, true), 0);
  }
  /* After a failed call, the capture can still be ended. */
  setenv("FAKE_CUDA", "copy of rows", 1);
  cuda_graph failed;
  assert_int_equal(driver.capture_begin(stream, 0), 0);
  assert_int_equal(
      tprt_cuda_gather_multiply(p.group, p.copier, p.blas, &w.rows, w.gemms, 2, stream),
      TPRT_DEVICE);
  assert_int_equal(driver.capture_end(stream, &failed), 0);
  setenv("FAKE_CUDA", "", 1);
  assert_int_equal(driver.graph_destroy(failed), 0);
  assert_int_equal(driver.program_destroy(program), 0);
  assert_int_equal(driver.graph_destroy(graph), 0);
  assert_int_equal(driver.stream_destroy(stream), 0);
  end_player(&p);
  free_world(&w);
}

/* ---- Missing waits are detected ---- */

/* Runs two calls in sequence on a default stream; returns the errors in the results of the
 * second. */
static int errors_without_wait(long lost, const char *late, long *n_waits) {
  fake_stream_plan *plan = streams_of_thread();
  setenv("FAKE_LATE", late, 1);
  world w = make_world(3, 9, 1, TPRT_F32, TPRT_F32, 1, false);
  player p;
  int errors = 0;
  assert_true(begin_player(&p, &w.config));
  enqueue_all(&w, &p, 0, NULL);
  *plan = (fake_stream_plan){.lose_wait = lost};
  enqueue_all(&w, &p, 1, NULL);
  *n_waits = plan->n_waits;
  *plan = (fake_stream_plan){.lose_wait = 0};
  assert_int_equal(driver.stream_wait(NULL), 0);
  for (int r = 0; r < 3; r++)
    errors += errors_of(&w, r, 1, false);
  end_player(&p);
  free_world(&w);
  setenv("FAKE_LATE", "0", 1);
  return errors;
}

static void test_waits(void **state) {
  static const char *const late[] = {"1", "2", "3"};
  long n_waits;
  (void)state;
  assert_int_equal(errors_without_wait(0, "2", &n_waits), 0);
  /* the copier waits for the stream; the stream waits for each copy, and at the end */
  assert_int_equal(n_waits, 1 + 2 + 1);
  for (long lost = 1; lost <= n_waits; lost++) {
    int errors = 0;
    long n;
    for (int l = 0; l < 3; l++)
      errors += errors_without_wait(lost, late[l], &n);
    if (errors == 0)
      fail_msg("wait %ld of %ld may be missing, and nobody sees it", lost, n_waits);
  }
}

/* ---- One thread per rank ---- */

typedef struct part {
  world *w;
  pthread_barrier_t *all;
  int rank, n_turns, errors;
  long lose_launch; /* in every call */
} part;

enum { LATE_US = 20000 };

/* The rows and copies of the first rank are late. */
static void *play(void *argument) {
  part *own = argument;
  world *w = own->w;
  fake_stream_plan *plan = streams_of_thread();
  tprt_cuda_group_config config = w->config;
  player p;
  config.rank = own->rank;
  config.max_ctas = 1;
  own->errors = !begin_player(&p, &config);
  pthread_barrier_wait(own->all);
  for (int turn = 0; turn < own->n_turns; turn++) {
    *plan = (fake_stream_plan){.lose_launch = own->lose_launch,
                               .copy_us = own->rank == 0 ? LATE_US : 0};
    enqueue_rows(w, own->rank, turn, own->rank == 0 ? LATE_US : 0, NULL);
    if (tprt_cuda_gather_multiply(p.group, p.copier, p.blas, &w->rows,
                                  &w->gemms[own->rank * w->n_gemms], w->n_gemms, NULL)) {
      fprintf(stderr, "wrong: %s\n", tprt_last_error());
      own->errors++;
    }
    own->errors += tprt_cuda_group_check(p.group, NULL) != TPRT_OK;
    own->errors += errors_of(w, own->rank, turn, own->lose_launch == 0);
  }
  *plan = (fake_stream_plan){.lose_launch = 0};
  pthread_barrier_wait(own->all); /* the memory must live until the others are done */
  end_player(&p);
  return NULL;
}

static int play_all(int n_ranks, long lose_launch) {
  world w = make_world(n_ranks, 9, 1, TPRT_F32, TPRT_F32, 2, n_ranks % 2);
  pthread_t threads[MOST_RANKS];
  pthread_barrier_t all;
  part parts[MOST_RANKS];
  int errors = 0;
  assert_int_equal(pthread_barrier_init(&all, NULL, (unsigned)n_ranks), 0);
  for (int r = 0; r < n_ranks; r++) {
    parts[r] = (part){.w = &w, .all = &all, .rank = r, .n_turns = 3, .lose_launch = lose_launch};
    assert_int_equal(pthread_create(&threads[r], NULL, play, &parts[r]), 0);
  }
  for (int r = 0; r < n_ranks; r++) {
    pthread_join(threads[r], NULL);
    errors += parts[r].errors;
  }
  pthread_barrier_destroy(&all);
  free_world(&w);
  return errors;
}

static void test_grid_per_rank(void **state) {
  static const char *const late[] = {"0", "2"};
  (void)state;
  for (int l = 0; l < 2; l++)
    for (int n = 2; n <= MOST_RANKS; n++) {
      setenv("FAKE_LATE", late[l], 1);
      assert_int_equal(play_all(n, 0), 0);
    }
  setenv("FAKE_LATE", "0", 1);
}

/* Without synchronization, ranks eventually read data that is not there yet, or overwrite data that
 * others still read. */
static void test_meetings(void **state) {
  enum { MOST_TRIES = 50 };
  (void)state;
#if defined(__SANITIZE_THREAD__) /* ThreadSanitizer would report this intended race */
  skip();
#endif
  for (long lost = 1; lost <= 2; lost++) {
    int tries = 0;
    while (play_all(2, lost) == 0 && tries < MOST_TRIES)
      tries++;
    assert_in_range(tries, 0, MOST_TRIES - 1);
  }
}

/* ---- Failures and rejected arguments ---- */

static void expect(tprt_status got, tprt_status status, const char *text) {
  if (got != status || !strstr(tprt_last_error(), text))
    fail_msg("%s: \"%s\"; expected %s: \"%s\"", tprt_status_name(got), tprt_last_error(),
             tprt_status_name(status), text);
}

static void test_failures(void **state) {
  world w = make_world(2, 8, 1, TPRT_F32, TPRT_F32, 1, false);
  player p;
  tprt_cuda_copier *none = NULL;
  (void)state;
  static const struct {
    const char *mode, *text;
  } creation[] = {{"stream", "a stream for copies"}, {"event", "an event for copies"}},
    calls[] = {
        {"record", "an event between streams"},
        {"wait", "a stream that waits for another"},
        {"launch", "tprt_exchange"},
        {"copy of rows", "a copy of rows"},
    };
  for (size_t i = 0; i < sizeof creation / sizeof *creation; i++) {
    setenv("FAKE_CUDA", creation[i].mode, 1);
    expect(tprt_cuda_copier_create(&none), TPRT_DEVICE, creation[i].text);
    assert_null(none);
  }
  setenv("FAKE_CUDA", "", 1);
  assert_true(begin_player(&p, &w.config));
  for (size_t i = 0; i < sizeof calls / sizeof *calls; i++) {
    setenv("FAKE_CUDA", calls[i].mode, 1);
    expect(tprt_cuda_gather_multiply(p.group, p.copier, p.blas, &w.rows, w.gemms, 1, NULL),
           TPRT_DEVICE, calls[i].text);
    setenv("FAKE_CUDA", "", 1);
    enqueue_all(&w, &p, (int)i, NULL); /* and ignores the failure */
    assert_int_equal(errors_of(&w, 0, (int)i, true) + errors_of(&w, 1, (int)i, true), 0);
  }
  tprt_cuda_copier_destroy(NULL);
  end_player(&p);
  free_world(&w);
}

static void test_refused(void **state) {
  world w = make_world(2, 8, 1, TPRT_F32, TPRT_F32, 1, false);
  fake_stream_plan *plan = streams_of_thread();
  player p;
  (void)state;
  assert_true(begin_player(&p, &w.config));
  *plan = (fake_stream_plan){.lose_wait = 0};
#define REFUSED(change, status, text)                                                              \
  do {                                                                                             \
    tprt_cuda_gemm gemms[2] = {w.gemms[0], w.gemms[1]}, *g = &gemms[1];                            \
    tprt_cuda_gather rows = w.rows;                                                                \
    int n_gemms = 1;                                                                               \
    (void)g;                                                                                       \
    change;                                                                                        \
    expect(tprt_cuda_gather_multiply(p.group, p.copier, p.blas, &rows, gemms, n_gemms, NULL),      \
           status, text);                                                                          \
  } while (0)
  REFUSED(rows.size = 1, TPRT_INVALID_ARGUMENT, "tprt_cuda_gather.size is 1");
  REFUSED(g->size = 1, TPRT_INVALID_ARGUMENT, "tprt_cuda_gemm.size is 1");
  REFUSED(n_gemms = 0, TPRT_INVALID_ARGUMENT, "0 matmuls with gathered rows; 1 to 4 are supported");
  REFUSED(n_gemms = 5, TPRT_INVALID_ARGUMENT, "5 matmuls with gathered rows");
  REFUSED(rows.dtype = TPRT_F64, TPRT_UNSUPPORTED, "rows of f64 cannot be gathered for matmuls");
  REFUSED(rows.tokens = -1, TPRT_INVALID_ARGUMENT, "-1 rows of 8 elements cannot be gathered");
  REFUSED(rows.tokens = INT64_MAX, TPRT_INVALID_ARGUMENT, "9223372036854775807 rows of 8 elements");
  REFUSED(rows.width = 0, TPRT_INVALID_ARGUMENT, "8 rows of 0 elements");
  REFUSED(rows.width = INT64_C(1) << 56, TPRT_INVALID_ARGUMENT,
          "8 rows of 72057594037927936 elements");
  REFUSED((rows.tokens = 6, rows.width = 5), TPRT_UNSUPPORTED,
          "the 3 rows of a rank, of 5 elements of f32, are not a multiple");
  REFUSED(rows.input[1] = NULL, TPRT_INVALID_ARGUMENT, "input is set for 1 of 2 ranks");
  REFUSED(rows.gathered[1] = NULL, TPRT_INVALID_ARGUMENT, "gathered is set for 1 of 2 ranks");
  REFUSED(g->m = 7, TPRT_INVALID_ARGUMENT,
          "matmul of rank 1 with gathered rows does not have the shape of the rows");
  REFUSED(g->k = 7, TPRT_INVALID_ARGUMENT, "does not have the shape of the rows");
  REFUSED(g->dtype = TPRT_BF16, TPRT_INVALID_ARGUMENT, "has a different dtype than the rows");
  REFUSED(rows.blocks = 8, TPRT_INVALID_ARGUMENT,
          "8 rows in 8 blocks cannot be gathered from 2 ranks");
  REFUSED(rows.blocks = INT64_MAX, TPRT_INVALID_ARGUMENT, "8 rows in 9223372036854775807 blocks");
  REFUSED(rows.blocks = -1, TPRT_INVALID_ARGUMENT, "8 rows in -1 blocks");
  REFUSED((rows.blocks = 2, g->epilogue = TPRT_CUDA_RELU, g->aux = g->out), TPRT_INVALID_ARGUMENT,
          "has aux, which is not supported for rows in blocks");
  REFUSED(g->batch = 2, TPRT_INVALID_ARGUMENT, "has a batch or a transposed a");
  REFUSED(g->transpose_a = true, TPRT_INVALID_ARGUMENT, "has a batch or a transposed a");
  REFUSED(g->a = g->b, TPRT_INVALID_ARGUMENT, "sets a or row_a");
  REFUSED(g->row_a = 8, TPRT_INVALID_ARGUMENT, "sets a or row_a");
  REFUSED(g->row_out = INT64_MAX / 4, TPRT_INVALID_ARGUMENT, "has rows of out that are too large");
  REFUSED(g->n = -1, TPRT_INVALID_ARGUMENT, "has rows of out that are too large");
  REFUSED(g->bias_gradient = g->out, TPRT_INVALID_ARGUMENT, "has a bias_gradient");
  REFUSED((rows.tokens = gemms[0].m = g->m = 6, gemms[0].row_out = 25), TPRT_INVALID_ARGUMENT,
          "has slices of out that do not begin at multiples of 16 bytes");
  REFUSED(g->b = NULL, TPRT_INVALID_ARGUMENT, "cuBLASLt: b is NULL");
  expect(tprt_cuda_gather_multiply(p.group, p.copier, p.blas, NULL, w.gemms, 1, NULL),
         TPRT_INVALID_ARGUMENT, "tprt_cuda_gather_multiply: rows is NULL");
  expect(tprt_cuda_gather_multiply(p.group, NULL, p.blas, &w.rows, w.gemms, 1, NULL),
         TPRT_INVALID_ARGUMENT, "tprt_cuda_gather_multiply: copier is NULL");
  /* Nothing was enqueued. */
  assert_int_equal(plan->n_waits, 0);
  assert_int_equal(plan->n_launches, 0);
  end_player(&p);
  free_world(&w);
}

static bool find_driver(void) {
  static const struct {
    const char *name;
    void *slot;
  } symbols[] = {
#define ROW(member, symbol, parameters) {symbol, &driver.member},
      DEVICE_CALLS(ROW)
#undef ROW
          {"fake_streams_of_thread", &streams_of_thread}};
  void *library = dlopen(FAKE_DRIVER, RTLD_NOW | RTLD_LOCAL);
  for (size_t i = 0; i < sizeof symbols / sizeof *symbols && library; i++) {
    void *found = dlsym(library, symbols[i].name);
    memcpy(symbols[i].slot, &found, sizeof found);
  }
  return streams_of_thread != NULL;
}

int main(void) {
  setenv("TPRT_CUDA_LIBRARY", FAKE_DRIVER, 1);
  setenv("TPRT_BLASLT_LIBRARY", FAKE_BLASLT, 1);
  if (!find_driver())
    return 1;
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(test_virtual_ranks), cmocka_unit_test(test_same_bits),
      cmocka_unit_test(test_graph),         cmocka_unit_test(test_waits),
      cmocka_unit_test(test_grid_per_rank), cmocka_unit_test(test_meetings),
      cmocka_unit_test(test_failures),      cmocka_unit_test(test_refused)};
  return cmocka_run_group_tests(tests, NULL, NULL);
}
