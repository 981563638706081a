/* Runs a compiled program on the ranks of one GPU, without the compiler. Its input is written by
 * shard-run --emit=so --shards FOLDER -o FOLDER/libNAME.so.
 *
 *   model check FOLDER               runs directly and as a graph, twice each, on the arguments of
 *                                    the folder; compares with its results and checks that all runs
 *                                    are bitwise equal
 *   model time FOLDER GB/s TFLOP/s   times arbitrary arguments, next to the time that its bytes or
 *                                    its arithmetic take
 *
 * Each rank is a thread. Exit status and output as in fused. */
#define _GNU_SOURCE 1
#include "test/runtime/harness/device.h"
#include "tools/shard-run/compare.h"
#include "tprt/abi.h"

#include <dlfcn.h>
#include <pthread.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

enum {
  MAX_VALUES = 256,
  MAX_RANKS = 64,
  WARM = 3,
  TIMED = 20,
  CHECKED = 2,
  REPLAYED = 4 /* the first runs without a graph */
};

typedef struct program {
  const char *folder;
  char name[256];
  int n_ranks, n_arguments, n_results;
  double flops;                                     /* per rank */
  array arguments[MAX_VALUES], results[MAX_VALUES]; /* of one rank, without data */
  tprt_program_fn *entry;
} program;

typedef struct player {
  const program *p;
  int number;
  tprt_comm *world;
  cuda_context gpu;
  bool is_timed;
  int errors, compared;
  char no_graph[256]; /* why there is no graph; "" if there is one */
  tprt_context *context;
  void *inputs[MAX_VALUES], *outputs[MAX_VALUES]; /* on the GPU */
  double call[TIMED], kernels[TIMED];             /* microseconds */
} player;

__attribute__((noreturn, format(printf, 1, 2))) static void die(const char *format, ...) {
  va_list arguments;
  va_start(arguments, format);
  fputs("wrong: ", stderr);
  vfprintf(stderr, format, arguments);
  fputc('\n', stderr);
  va_end(arguments);
  exit(1);
}

static void need(const player *r, tprt_status status) {
  if (status != TPRT_OK)
    die("rank %d: %s: %s %s", r->number, tprt_status_name(status),
        r->context ? tprt_context_error(r->context) : "", tprt_last_error());
}

/* ---- The program ---- */

static void read_value(FILE *file, const char *path, array *values, int *n) {
  char type[64];
  int rank = -1;
  if (*n == MAX_VALUES || fscanf(file, "%63s %d", type, &rank) != 2 || rank < 0 ||
      rank > TP_MAX_RANK || !element_find(type))
    die("%s: value %d cannot be read", path, *n);
  array *a = values + (*n)++;
  *a = (array){.type = element_find(type), .rank = rank};
  for (int d = 0; d < rank; d++) {
    long long size;
    if (fscanf(file, "%lld", &size) != 1)
      die("%s: a shape ends early", path);
    a->shape[d] = size;
  }
}

static void read_description(program *p) {
  char path[4096], word[32];
  snprintf(path, sizeof path, "%s/program.txt", p->folder);
  FILE *file = fopen(path, "r");
  if (!file ||
      fscanf(file, "program %255s devices %d flops %lf", p->name, &p->n_ranks, &p->flops) != 3)
    die("%s: cannot be read", path);
  if (p->n_ranks < 1 || p->n_ranks > MAX_RANKS)
    die("%s: %d devices", path, p->n_ranks);
  while (fscanf(file, "%31s", word) == 1)
    if (strcmp(word, "argument") == 0)
      read_value(file, path, p->arguments, &p->n_arguments);
    else if (strcmp(word, "result") == 0)
      read_value(file, path, p->results, &p->n_results);
    else
      die("%s: unknown word '%s'", path, word);
  fclose(file);
}

static void load_library(program *p) {
  char path[4096], *real;
  if (snprintf(path, sizeof path, "%s/lib%s.so", p->folder, p->name) >= (int)sizeof path)
    die("%s: too long", p->folder);
  real = realpath(path, NULL);
  void *library = real ? dlopen(real, RTLD_NOW) : NULL;
  void *found = library ? dlsym(library, p->name) : NULL;
  if (!found)
    die("%s: %s", path, real ? dlerror() : "there is no such file");
  memcpy(&p->entry, &found, sizeof found);
  free(real);
}

/* ---- Data ---- */

/* Fills an array with small numbers; integers are 0, which is a valid index. The first part is
 * random and is then repeated. */
static void draw(array *a, int rank_number) {
  enum { DRAWN = 1 << 16 };
  size_t bytes = array_bytes(a), done;
  uint32_t state = 12345u + 977u * (uint32_t)rank_number;
  int64_t n = array_numbers(a);
  if (a->type->kind != 'f')
    return;
  for (int64_t i = 0; i < n && i < DRAWN; i++) {
    state = state * 1664525u + 1013904223u;
    array_set(a, i, ((double)(state >> 8) / (1 << 24) - 0.5) * 0.05);
  }
  done = (size_t)DRAWN * (size_t)(a->type->size / a->type->parts);
  while (done < bytes) {
    size_t part = done < bytes - done ? done : bytes - done;
    memcpy((char *)a->data + done, a->data, part);
    done += part;
  }
}

/* Reads a shard with npy_read or npy_read_part; false if the file does not exist. */
static bool read_shard(const player *r, const char *kind, int k,
                       bool (*read)(const char *, array *, char *, size_t), array *a) {
  char path[4096], why[4400];
  snprintf(path, sizeof path, "%s/%s.%d.%d.npy", r->p->folder, kind, k, r->number);
  if (access(path, F_OK) != 0)
    return false;
  if (!read(path, a, why, sizeof why))
    die("%s", why);
  return true;
}

static void place(player *r) {
  const program *p = r->p;
  for (int i = 0; i < p->n_arguments; i++) {
    array a = p->arguments[i];
    if (r->is_timed) {
      if (!array_create(&a, a.type, a.rank, a.shape))
        die("memory ran out");
      draw(&a, r->number);
    } else if (!read_shard(r, "in", i, npy_read, &a)) {
      die("%s has no argument %d of rank %d", p->folder, i, r->number);
    }
    need(r, tprt_context_alloc(r->context, array_bytes(&a), &r->inputs[i]));
    need(r, tprt_context_upload(r->context, r->inputs[i], a.data, array_bytes(&a)));
    array_clear(&a);
  }
  for (int k = 0; k < p->n_results; k++)
    need(r, tprt_context_alloc(r->context, array_bytes(p->results + k), &r->outputs[k]));
}

/* ---- Checking ---- */

/* Poisons the results, so that results of an earlier call are not accepted. */
static void poison(player *r) {
  for (int k = 0; k < r->p->n_results; k++) {
    size_t bytes = array_bytes(r->p->results + k);
    void *bad = malloc(bytes + 1);
    if (!bad)
      die("memory ran out");
    memset(bad, 0xff, bytes);
    need(r, tprt_context_upload(r->context, r->outputs[k], bad, bytes));
    free(bad);
  }
}

/* Compares the valid part with the files KIND. */
static void compare(player *r, const char *kind, int k, const array *whole, bool is_expected) {
  static const int64_t at[TP_MAX_RANK];
  array reference = *whole, part;
  if (!read_shard(r, kind, k, npy_read_part, &reference))
    return;
  if (!array_create(&part, whole->type, whole->rank, reference.shape))
    die("memory ran out");
  array_copy_box(whole, at, &part, at, part.shape);
  comparison c = compare_arrays(&part, &reference, is_expected, 0);
  r->compared++;
  if (!c.ok) {
    fprintf(stderr, "wrong: %s: rank %d, result %d, %s: error %g, at most %g %s\n", r->p->folder,
            r->number, k, is_expected ? "expected" : "of one device", c.error, c.tolerance, c.what);
    r->errors++;
  }
  array_clear(&part);
  array_clear(&reference);
}

static void check_result(player *r, int k, array *before) {
  array a = r->p->results[k];
  if (!array_create(&a, a.type, a.rank, a.shape))
    die("memory ran out");
  need(r, tprt_context_download(r->context, a.data, r->outputs[k], array_bytes(&a)));
  compare(r, "out", k, &a, true);
  compare(r, "one", k, &a, false);
  if (before->data && memcmp(before->data, a.data, array_bytes(&a)) != 0) {
    fprintf(stderr, "wrong: %s: rank %d, result %d: a further call gives other bits\n",
            r->p->folder, r->number, k);
    r->errors++;
  }
  array_clear(before);
  *before = a;
}

static void check(player *r) {
  const char *why = "";
  array before[MAX_VALUES] = {{0}};
  for (int call = 0; call < CHECKED + REPLAYED; call++) {
    const program *p = r->p;
    poison(r);
    need(r, call < CHECKED ? (tprt_status)p->entry(r->context, r->inputs, r->outputs)
                           : tprt_context_replay(r->context, p->entry, p->n_arguments, r->inputs,
                                                 p->n_results, r->outputs, &why));
    need(r, tprt_context_synchronize(r->context));
    for (int k = 0; k < r->p->n_results; k++)
      check_result(r, k, &before[k]);
  }
  for (int k = 0; k < r->p->n_results; k++)
    array_clear(&before[k]);
  snprintf(r->no_graph, sizeof r->no_graph, "%s", why);
}

/* ---- Measuring ---- */

static double now(void) {
  struct timespec t;
  clock_gettime(CLOCK_MONOTONIC, &t);
  return 1e6 * (double)t.tv_sec + 1e-3 * (double)t.tv_nsec;
}

static void measure(player *r) {
  cuda_event from, to;
  void *stream;
  need(r, tprt_context_stream(r->context, &stream));
  DO(event_create, &from, 0);
  DO(event_create, &to, 0);
  for (int i = -WARM; i < TIMED; i++) {
    float ms;
    need(r, tprt_barrier(r->world, NULL, NULL));
    double start = now();
    DO(event_record, from, stream);
    need(r, (tprt_status)r->p->entry(r->context, r->inputs, r->outputs));
    DO(event_record, to, stream);
    need(r, tprt_context_synchronize(r->context));
    r->call[i < 0 ? 0 : i] = now() - start;
    DO(event_elapsed, &ms, from, to);
    r->kernels[i < 0 ? 0 : i] = 1e3 * (double)ms;
  }
  DO(event_destroy, from);
  DO(event_destroy, to);
}

static int ascending(const void *a, const void *b) {
  double x = *(const double *)a, y = *(const double *)b;
  return (x > y) - (x < y);
}

/* Computes the slowest rank of each call; sorted. */
static void slowest(const player *ranks, int n, bool kernels, double *times) {
  for (int i = 0; i < TIMED; i++) {
    times[i] = 0;
    for (int r = 0; r < n; r++) {
      double t = kernels ? ranks[r].kernels[i] : ranks[r].call[i];
      times[i] = t > times[i] ? t : times[i];
    }
  }
  qsort(times, TIMED, sizeof *times, ascending);
}

/* ---- The whole ---- */

static void *play(void *data) {
  player *r = data;
  tprt_context_config config = {.size = sizeof config, .target = TPRT_TARGET_CUDA};
  DO(context_set, r->gpu); /* all ranks on one GPU */
  need(r, tprt_context_create(r->world, &config, &r->context));
  place(r);
  (r->is_timed ? measure : check)(r);
  /* wait, because another rank may still read this rank's memory */
  need(r, tprt_barrier(r->world, NULL, NULL));
  for (int i = 0; i < r->p->n_arguments; i++)
    tprt_context_free(r->context, r->inputs[i]);
  for (int k = 0; k < r->p->n_results; k++)
    tprt_context_free(r->context, r->outputs[k]);
  tprt_context_destroy(r->context);
  return NULL;
}

static void print_times(const program *p, const char *name, const player *ranks, double gigabytes,
                        double teraflops) {
  double calls[TIMED], kernels[TIMED], bytes = 0;
  slowest(ranks, p->n_ranks, false, calls);
  slowest(ranks, p->n_ranks, true, kernels);
  for (int i = 0; i < p->n_arguments; i++)
    bytes += (double)array_bytes(p->arguments + i);
  for (int k = 0; k < p->n_results; k++)
    bytes += (double)array_bytes(p->results + k);
  double moving = p->n_ranks * bytes / (gigabytes * 1e3),
         computing = p->n_ranks * p->flops / (teraflops * 1e6);
  double bound = moving > computing ? moving : computing;
  printf("{\"test\": \"model-time\", \"ranks\": %d, \"variant\": \"%s\", \"bytes\": %.0f, "
         "\"flops\": %.0f, \"bound_us\": %.1f, "
         "\"least_us\": %.1f, \"median_us\": %.1f, \"kernels_us\": %.1f, \"times_bound\": %.2f}\n",
         p->n_ranks, name, p->n_ranks * bytes, p->n_ranks * p->flops, bound, calls[0],
         calls[TIMED / 2], kernels[TIMED / 2], calls[TIMED / 2] / bound);
}

/* Returns the last part of a path, up to the number of devices. */
static const char *name_of(const char *path, char *name, size_t size) {
  const char *slash = strrchr(path, '/');
  snprintf(name, size, "%s", slash ? slash + 1 : path);
  char *dot = strrchr(name, '.');
  if (dot)
    *dot = 0;
  return name;
}

int main(int argc, char **argv) {
  static program p;
  bool is_timed = argc == 5 && strcmp(argv[1], "time") == 0;
  if (!is_timed && !(argc == 3 && strcmp(argv[1], "check") == 0)) {
    fprintf(stderr, "usage: model check FOLDER | time FOLDER GIGABYTES_PER_SECOND TERAFLOPS\n");
    return 2;
  }
  int status = device_open();
  if (status)
    return status;
  p.folder = argv[2];
  read_description(&p);
  load_library(&p);
  static player ranks[MAX_RANKS];
  tprt_comm *worlds[MAX_RANKS];
  tprt_config config = {.size = sizeof config, .backend = p.n_ranks == 1 ? "self" : "loopback"};
  if (tprt_world_create_threads(p.n_ranks, &config, worlds) != TPRT_OK)
    die("%s", tprt_last_error());
  pthread_t threads[MAX_RANKS];
  cuda_context gpu;
  DO(context_retain, &gpu, 0);
  for (int r = 0; r < p.n_ranks; r++) {
    ranks[r] = (player){.p = &p, .number = r, .world = worlds[r], .gpu = gpu, .is_timed = is_timed};
    if (pthread_create(&threads[r], NULL, play, &ranks[r]) != 0)
      die("rank %d could not be started", r);
  }
  int errors = 0, compared = 0;
  char name[256];
  for (int r = 0; r < p.n_ranks; r++)
    pthread_join(threads[r], NULL);
  for (int r = 0; r < p.n_ranks; r++) {
    errors += ranks[r].errors;
    compared += ranks[r].compared;
    tprt_comm_destroy(worlds[r]);
  }
  if (is_timed)
    print_times(&p, name_of(p.folder, name, sizeof name), ranks, atof(argv[3]), atof(argv[4]));
  else if (compared == 0)
    die("%s has nothing to compare with", p.folder);
  else
    printf("{\"test\": \"model %s\", \"ranks\": %d, \"calls\": %d, \"graph\": \"%s\", "
           "\"compared\": %d, \"errors\": %d}\n",
           name_of(p.folder, name, sizeof name), p.n_ranks, CHECKED + REPLAYED,
           *ranks[0].no_graph ? ranks[0].no_graph : "yes", compared, errors);
  return errors != 0;
}
