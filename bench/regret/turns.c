/* Runs compiled programs of one world in turns, and prints the time of each execution.
 *
 *   turns RANKS TURNS REPEATS SEED LIBRARY:FUNCTION:ARGUMENT_BYTES:RESULT_BYTES...
 *
 * A program is a library of shard-run --emit=so; the bytes are lists with commas. Ranks are threads
 * of this process. A turn runs every program in an order drawn from the seed: once to warm up, then
 * REPEATS times from a barrier on, again where other work interrupts a rank. A line of the output
 * is a turn, the number of a program, and the seconds of each of its executions on the slowest
 * rank. */
#include <tprt/abi.h>
#include <tprt/tprt.h>

#include <dlfcn.h>
#include <pthread.h>
#include <sched.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <time.h>

enum { MAX_VALUES = 64, MAX_RANKS = 64, ALIGNMENT = 4096 };

typedef int32_t entry(tprt_context *context, void *const *inputs, void *const *outputs);

typedef struct program {
  entry *run;
  int n_arguments, n_results;
  size_t argument_bytes[MAX_VALUES], result_bytes[MAX_VALUES];
} program;

/* A program of one rank. */
typedef struct instance {
  tprt_context *context;
  void *inputs[MAX_VALUES], *outputs[MAX_VALUES];
} instance;

static program *programs;
static int n_programs, n_turns, n_repeats;
static bool shares; /* there are fewer processors than ranks */
static uint64_t seed;

static void stop(const char *what, const char *why) {
  fprintf(stderr, "turns: %s: %s\n", what, why);
  exit(1);
}

static void expect(tprt_status status) {
  if (status != TPRT_OK)
    stop(tprt_status_name(status), tprt_last_error());
}

static double seconds(void) {
  struct timespec now;
  clock_gettime(CLOCK_MONOTONIC, &now);
  return (double)now.tv_sec + 1e-9 * (double)now.tv_nsec;
}

/* xorshift64* of Marsaglia and Vigna. */
static uint64_t draw(uint64_t *state) {
  *state ^= *state >> 12;
  *state ^= *state << 25;
  *state ^= *state >> 27;
  return *state * UINT64_C(2685821657736338717);
}

static int read_sizes(char *text, size_t sizes[MAX_VALUES]) {
  int n = 0;
  for (char *at = strtok(text, ","); at; at = strtok(NULL, ",")) {
    if (n == MAX_VALUES)
      stop(text, "has too many values");
    sizes[n++] = strtoull(at, NULL, 10);
  }
  return n;
}

static void load(char *text, program *p) {
  char *parts[4] = {text};
  for (int i = 1; i < 4; i++) {
    char *colon = strchr(parts[i - 1], ':');
    if (!colon)
      stop(text, "is not LIBRARY:FUNCTION:ARGUMENT_BYTES:RESULT_BYTES");
    *colon = 0;
    parts[i] = colon + 1;
  }
  void *library = dlopen(parts[0], RTLD_NOW | RTLD_LOCAL);
  void *symbol = library ? dlsym(library, parts[1]) : NULL;
  if (!symbol)
    stop(parts[0], dlerror());
  memcpy(&p->run, &symbol, sizeof symbol);
  p->n_arguments = read_sizes(parts[2], p->argument_bytes);
  p->n_results = read_sizes(parts[3], p->result_bytes);
}

static void *allocate(size_t bytes) {
  void *data = aligned_alloc(ALIGNMENT, (bytes / ALIGNMENT + 1) * ALIGNMENT);
  if (!data)
    stop("turns", "memory ran out");
  memset(data, 0, bytes);
  return data;
}

static void fill(float *values, size_t n, uint64_t *state) {
  for (size_t i = 0; i < n; i++)
    values[i] = (float)((double)(draw(state) >> 40) * 0x1p-24 - 0.5) * 0.1f;
}

static void create(tprt_comm *world, const program *p, instance *made) {
  uint64_t state = seed * 2 + 1;
  expect(tprt_context_create(world, NULL, &made->context));
  for (int i = 0; i < p->n_arguments; i++) {
    made->inputs[i] = allocate(p->argument_bytes[i]);
    fill(made->inputs[i], p->argument_bytes[i] / sizeof(float), &state);
  }
  for (int i = 0; i < p->n_results; i++)
    made->outputs[i] = allocate(p->result_bytes[i]);
}

/* The number of times that this thread lost its processor to another. */
static double interruptions(void) {
  struct rusage usage;
  return getrusage(RUSAGE_THREAD, &usage) == 0 ? (double)usage.ru_nivcsw : 0;
}

/* Runs once; returns the seconds of the slowest rank, and whether another thread interrupted a
 * rank. */
static double execute(tprt_comm *world, const program *p, const instance *on, bool *interrupted) {
  double own[2], most[2]; /* seconds, interruptions */
  expect(tprt_barrier(world, NULL, NULL));
  own[1] = -interruptions();
  own[0] = -seconds();
  if (p->run(on->context, on->inputs, on->outputs) != TPRT_OK)
    stop("a program failed", tprt_context_error(on->context));
  own[0] += seconds();
  own[1] += interruptions();
  expect(tprt_all_reduce(world, own, most, 2, TPRT_F64, TPRT_MAX, NULL, NULL));
  *interrupted = most[1] > 0;
  return most[0];
}

/* Runs until no rank was interrupted, a few times at most; returns the least seconds. Ranks that
 * share processors interrupt each other all the time. */
static double execute_quietly(tprt_comm *world, const program *p, const instance *on) {
  enum { N_TRIES = 4 };
  bool interrupted = true;
  double least = execute(world, p, on, &interrupted);
  for (int i = 1; i < N_TRIES && interrupted && !shares; i++) {
    double took = execute(world, p, on, &interrupted);
    least = took < least ? took : least;
  }
  return least;
}

static void shuffle(int *order, uint64_t *state) {
  for (int i = n_programs - 1; i > 0; i--) {
    int k = (int)(draw(state) % (uint64_t)(i + 1)), kept = order[i];
    order[i] = order[k];
    order[k] = kept;
  }
}

static void *play(void *data) {
  tprt_comm *world = data;
  instance *instances = calloc((size_t)n_programs, sizeof *instances);
  int *order = calloc((size_t)n_programs, sizeof *order);
  bool interrupted;
  uint64_t state = seed * 2 + 1; /* the same on all ranks, so that all have one order */
  if (!instances || !order)
    stop("turns", "memory ran out");
  for (int i = 0; i < n_programs; i++) {
    order[i] = i;
    create(world, &programs[i], &instances[i]);
    execute(world, &programs[i], &instances[i], &interrupted);
  }
  for (int turn = 0; turn < n_turns; turn++) {
    shuffle(order, &state);
    for (int i = 0; i < n_programs; i++) {
      int at = order[i];
      bool speaks = tprt_comm_rank(world) == 0;
      execute(world, &programs[at], &instances[at], &interrupted);
      if (speaks)
        printf("%d %d", turn, at);
      for (int k = 0; k < n_repeats; k++) {
        double took = execute_quietly(world, &programs[at], &instances[at]);
        if (speaks)
          printf(" %.9f", took);
      }
      if (speaks)
        printf("\n");
    }
  }
  expect(tprt_barrier(world, NULL, NULL));
  for (int i = 0; i < n_programs; i++)
    tprt_context_destroy(instances[i].context);
  return NULL;
}

int main(int argc, char **argv) {
  tprt_comm *worlds[MAX_RANKS];
  pthread_t threads[MAX_RANKS];
  if (argc < 6)
    stop("usage", "turns RANKS TURNS REPEATS SEED LIBRARY:FUNCTION:ARGUMENT_BYTES:RESULT_BYTES...");
  int n_ranks = atoi(argv[1]);
  n_turns = atoi(argv[2]);
  n_repeats = atoi(argv[3]);
  seed = strtoull(argv[4], NULL, 10);
  cpu_set_t set;
  shares = sched_getaffinity(0, sizeof set, &set) != 0 || CPU_COUNT(&set) < n_ranks;
  n_programs = argc - 5;
  programs = calloc((size_t)n_programs, sizeof *programs);
  if (n_ranks < 1 || n_ranks > MAX_RANKS || !programs)
    stop(argv[1], "is not a number of ranks");
  for (int i = 0; i < n_programs; i++)
    load(argv[5 + i], &programs[i]);
  expect(tprt_world_create_threads(n_ranks, NULL, worlds));
  for (int r = 0; r < n_ranks; r++)
    if (pthread_create(&threads[r], NULL, play, worlds[r]) != 0)
      stop("turns", "a thread cannot be started");
  for (int r = 0; r < n_ranks; r++)
    pthread_join(threads[r], NULL);
  for (int r = 0; r < n_ranks; r++)
    tprt_comm_destroy(worlds[r]);
  return 0;
}
