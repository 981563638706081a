/* Runs programs for GPUs as CUDA graphs: the stream work of a call is captured once, and launched
 * again as long as the addresses of arguments and results stay the same.
 *
 * The ranks agree on the host what to do, by the number of a capture: either all ranks have that
 * capture and launch it, or all ranks capture. */
#include "cuda/program/gpu_executor.h"

#include <stdio.h>
#include <string.h>

enum { MAX_GRAPHS = 8 /* per program: enough for callers that alternate between buffers */ };

/* Values that a rank sends instead of the number of its capture. */
enum { CAPTURE_NEEDED = 0, CAPTURE_IMPOSSIBLE = -1 };

typedef struct captured {
  struct captured *next;  /* the next less recently used one */
  int64_t number;         /* from 1, the same on all ranks */
  tprt__gpu_graph *graph; /* NULL: rank 0 has the shared graph */
  tprt_site_stats *stats; /* the counters of one call, by site */
  int n_sites;
  size_t n_addresses;
  void *addresses[]; /* of the arguments, then of the results */
} captured;

struct tprt__graphs {
  struct tprt__graphs *next;
  tprt_program_fn *program;
  tprt__bound *bound; /* NULL: the program has not run yet */
  bool is_impossible; /* all ranks know that the program cannot be captured */
  char why[256];      /* why it cannot be captured; "": this rank knows no reason */
  int64_t n_captures;
  captured *last_used;
};

/* ---- Operations that cannot be captured ---- */

void tprt__graph_refuse(tprt_context *context, const char *why) {
  const tprt__gpu_state *gpu = tprt__gpu_of(context);
  struct tprt__graphs *of = gpu ? gpu->calling : NULL;
  if (!of)
    return;
  if (!of->why[0])
    snprintf(of->why, sizeof of->why, "%s", why);
  if (tprt__gpu_of(context)->captures)
    context->status = TPRT_UNSUPPORTED; /* so that further calls of the program do nothing */
}

/* ---- Ranks ---- */

bool tprt__graphs_are_shared(const tprt_context *context) {
  return tprt_comm_size(context->world) > 1 &&
         context->world->transport->backend == &tprt__backend_loopback;
}

/* Sets *common to `mine` if all ranks have the same value; else to CAPTURE_IMPOSSIBLE if a rank has
 * that, else to CAPTURE_NEEDED. */
static tprt_status agree(tprt_context *context, int64_t mine, int64_t *common) {
  int n = tprt_comm_size(context->world);
  *common = mine;
  if (n == 1)
    return TPRT_OK;
  int64_t *all = tprt__alloc((size_t)n * sizeof *all);
  if (!all)
    return tprt__fail_memory((size_t)n * sizeof *all);
  const tprt_op gather = tprt_op_flat(TPRT_OP_ALL_GATHER, &mine, all, 1, TPRT_I64, NULL);
  tprt_status status = tprt__comm_run_internal(context->world, &gather);
  for (int i = 0; i < n && !status; i++)
    *common = all[i] == *common ? *common : tprt__min(CAPTURE_NEEDED, tprt__min(all[i], *common));
  tprt__free(all);
  return status;
}

/* The contribution of one rank to a step of all ranks. Rank 0 receives the graph. */
typedef struct member {
  tprt__gpu *gpu;
  tprt__gpu_graph *graph;
} member;

typedef tprt_status step_fn(tprt__gpu *const *gpus, int n, member *first);

static tprt_status begin(tprt__gpu *const *gpus, int n, member *first) {
  (void)first;
  return tprt__gpu_capture_begin(gpus, n);
}

static tprt_status end(tprt__gpu *const *gpus, int n, member *first) {
  tprt_status status = tprt__gpu_capture_end(gpus, n, &first->graph);
  return status ? status : tprt__gpu_graph_launch(gpus, n, first->graph);
}

static tprt_status abandon(tprt__gpu *const *gpus, int n, member *first) {
  (void)n;
  (void)first;
  tprt__gpu_capture_abandon(gpus[0], 0);
  return TPRT_OK;
}

static tprt_status launch(tprt__gpu *const *gpus, int n, member *first) {
  return tprt__gpu_graph_launch(gpus, n, first->graph);
}

/* Runs a step for n ranks: in the last rank that arrives, or in each rank alone. */
static tprt_status run_step(const void *const *arguments, int n, step_fn *step) {
  tprt__gpu **gpus = tprt__alloc((size_t)n * sizeof(tprt__gpu *));
  if (!gpus)
    return tprt__fail_memory((size_t)n * sizeof(tprt__gpu *));
  for (int i = 0; i < n; i++)
    gpus[i] = ((const member *)arguments[i])->gpu;
  tprt_status status = step(gpus, n, (member *)(uintptr_t)arguments[0]);
  tprt__free(gpus);
  return status;
}

#define SHARED_GPU(step)                                                                           \
  static tprt_status step##_together(const void *const *arguments, int n, void *stream) {          \
    (void)stream;                                                                                  \
    return run_step(arguments, n, step);                                                           \
  }
SHARED_GPU(begin)
SHARED_GPU(end)
SHARED_GPU(abandon)
SHARED_GPU(launch)

static tprt_status all_do(tprt_context *context, tprt_together_fn *step, member *mine) {
  const void *alone[] = {mine};
  return tprt__graphs_are_shared(context) ? tprt__gpu_gather(context, context->world, step, mine)
                                          : step(alone, 1, NULL);
}

/* ---- Kept captures ---- */

static struct tprt__graphs *find_program(tprt_context *context, tprt_program_fn *program) {
  struct tprt__graphs *at = tprt__gpu_of(context)->graphs;
  while (at && at->program != program)
    at = at->next;
  if (at)
    return at;
  at = tprt__alloc(sizeof *at);
  if (!at)
    return NULL;
  *at = (struct tprt__graphs){.next = tprt__gpu_of(context)->graphs, .program = program};
  tprt__gpu_of(context)->graphs = at;
  return at;
}

/* Returns the capture with these addresses and marks it as most recently used; NULL if there is
 * none. */
static captured *find_captured(struct tprt__graphs *of, size_t n, void *const *addresses) {
  for (captured **at = &of->last_used; *at; at = &(*at)->next) {
    captured *found = *at;
    if (found->n_addresses != n || memcmp(found->addresses, addresses, n * sizeof *addresses) != 0)
      continue;
    *at = found->next;
    found->next = of->last_used;
    return of->last_used = found;
  }
  return NULL;
}

static void free_captured(const tprt_context *context, captured *item) {
  tprt__gpu_graph_free(tprt__gpu_of(context)->gpu, item->graph);
  tprt__free(item->stats);
  tprt__free(item);
}

static void keep(const tprt_context *context, struct tprt__graphs *of, captured *item) {
  item->next = of->last_used;
  of->last_used = item;
  for (int i = 1; item && i < MAX_GRAPHS; i++)
    item = item->next;
  while (item && item->next) {
    captured *oldest = item->next;
    item->next = oldest->next;
    free_captured(context, oldest);
  }
}

void tprt__graphs_forget(tprt_context *context) {
  for (struct tprt__graphs *of = tprt__gpu_of(context)->graphs; of; of = of->next)
    while (of->last_used) {
      captured *item = of->last_used;
      of->last_used = item->next;
      free_captured(context, item);
    }
}

void tprt__graphs_end(tprt_context *context) {
  tprt__graphs_forget(context);
  while (tprt__gpu_of(context)->graphs) {
    struct tprt__graphs *of = tprt__gpu_of(context)->graphs;
    tprt__gpu_of(context)->graphs = of->next;
    tprt__free(of);
  }
}

/* ---- Calls ---- */

static tprt_status fail_with(tprt_context *context, tprt_status status) {
  return (tprt_status)tprt__context_fail(context, status, context->world);
}

/* Calls the program directly. */
static tprt_status call(tprt_context *context, struct tprt__graphs *of, void *const *inputs,
                        void *const *outputs) {
  tprt__gpu_of(context)->calling = of;
  tprt_status status = (tprt_status)of->program(context, inputs, outputs);
  tprt__gpu_of(context)->calling = NULL;
  if (!status && !of->bound)
    of->bound = context->current;
  return status;
}

static captured *make_captured(const struct tprt__graphs *of, size_t n, void *const *addresses) {
  captured *made = tprt__alloc(sizeof *made + n * sizeof *addresses);
  int n_sites = of->bound->program.n_sites;
  tprt_site_stats *stats = tprt__alloc((size_t)(n_sites > 0 ? n_sites : 1) * sizeof *stats);
  if (!made || !stats) {
    tprt__free(made);
    tprt__free(stats);
    return NULL;
  }
  *made = (captured){
      .number = of->n_captures + 1, .stats = stats, .n_sites = n_sites, .n_addresses = n};
  memcpy(made->addresses, addresses, n * sizeof *addresses);
  for (int i = 0; i < n_sites; i++)
    made->stats[i] = of->bound->sites[i].stats;
  return made;
}

/* Replaces the counters from before the call by the counters of the call itself, without its
 * time. */
static void note_stats(const struct tprt__graphs *of, captured *item) {
  for (int i = 0; i < item->n_sites; i++) {
    const tprt_site_stats *now = &of->bound->sites[i].stats;
    item->stats[i] = (tprt_site_stats){.calls = now->calls - item->stats[i].calls,
                                       .bytes = now->bytes - item->stats[i].bytes};
  }
}

static void count(const struct tprt__graphs *of, const captured *item) {
  for (int i = 0; i < item->n_sites; i++) {
    of->bound->sites[i].stats.calls += item->stats[i].calls;
    of->bound->sites[i].stats.bytes += item->stats[i].bytes;
  }
}

/* Fails the communicator if launched work misses its deadline: a missing rank must not block the
 * others forever. */
static void fail_overdue(void *user, tprt_status status) {
  if (status)
    tprt__comm_poison(user, status, status == TPRT_TIMEOUT ? TPRT__NO_RANK : tprt_comm_rank(user));
}

static tprt_status watch(tprt_context *context) {
  tprt_comm *world = context->world;
  tprt__transport *transport = world->transport;
  tprt__stream_mark *mark;
  if (!(transport->backend->capabilities & TPRT_CAP_STREAMS))
    return TPRT_OK; /* on such a backend no device waits for another rank */
  tprt_status status = transport->backend->record(
      transport, tprt__gpu_stream(tprt__gpu_of(context)->gpu),
      tprt__deadline(tprt__comm_timeout(world)), fail_overdue, world, &mark);
  if (!status)
    mark->forget(mark);
  return status;
}

/* Runs the program in a capture and launches the graph. *captures: true if all ranks could
 * capture. */
static tprt_status capture(tprt_context *context, struct tprt__graphs *of, captured *item,
                           void *const *inputs, void *const *outputs, bool *captures) {
  member mine = {.gpu = tprt__gpu_of(context)->gpu};
  int64_t common;
  tprt_status status = all_do(context, begin_together, &mine);
  if (status)
    return status;
  tprt__gpu_of(context)->captures = true;
  status = call(context, of, inputs, outputs);
  tprt__gpu_of(context)->captures = false;
  if (of->why[0] && status == TPRT_UNSUPPORTED)
    context->status = status = TPRT_OK; /* the capture was refused; nothing has failed */
  if (!status)
    status = agree(context, of->why[0] ? CAPTURE_IMPOSSIBLE : item->number, &common);
  *captures = !status && common == item->number;
  if (!status)
    status = all_do(context, *captures ? end_together : abandon_together, &mine);
  if (status) {
    status = fail_with(context, status); /* so that all ranks abandon it */
    tprt__gpu_capture_abandon(tprt__gpu_of(context)->gpu, tprt__comm_timeout(context->world));
  }
  item->graph = mine.graph;
  return status;
}

/* Captures a call with new addresses on all ranks and keeps the capture. If a rank cannot capture,
 * all ranks call the program directly, now and later. */
static tprt_status capture_first(tprt_context *context, struct tprt__graphs *of, size_t n,
                                 void *const *addresses, void *const *inputs,
                                 void *const *outputs) {
  bool captures = false;
  captured *item = make_captured(of, n, addresses);
  if (!item)
    return fail_with(context, tprt__fail_memory(sizeof *item + n * sizeof *addresses));
  tprt_status status = capture(context, of, item, inputs, outputs, &captures);
  if (!status && captures) {
    of->n_captures++;
    note_stats(of, item);
    keep(context, of, item);
    status = watch(context);
    return status ? fail_with(context, status) : TPRT_OK;
  }
  for (int i = 0; i < item->n_sites && !status; i++)
    of->bound->sites[i].stats = item->stats[i]; /* the captured work did not run */
  free_captured(context, item);
  if (status)
    return fail_with(context, status);
  of->is_impossible = true;
  return call(context, of, inputs, outputs);
}

/* Launches a capture and adds the counters of its call. */
static tprt_status replay(tprt_context *context, const struct tprt__graphs *of, captured *item) {
  member mine = {.gpu = tprt__gpu_of(context)->gpu, .graph = item->graph};
  tprt_status status = all_do(context, launch_together, &mine);
  if (!status)
    status = watch(context);
  if (status)
    return fail_with(context, status);
  count(of, item);
  return TPRT_OK;
}

/* Replays a call if all ranks have the same capture of it; else captures it, or calls directly. */
static tprt_status call_again(tprt_context *context, struct tprt__graphs *of, size_t n,
                              void *const *addresses, void *const *inputs, void *const *outputs) {
  captured *item = find_captured(of, n, addresses);
  int64_t common;
  tprt_status status = agree(context,
                             of->why[0] ? CAPTURE_IMPOSSIBLE
                             : item     ? item->number
                                        : CAPTURE_NEEDED,
                             &common);
  if (status)
    return fail_with(context, status);
  of->is_impossible = common == CAPTURE_IMPOSSIBLE;
  if (of->is_impossible)
    return call(context, of, inputs, outputs);
  context->current = of->bound;
  return common == CAPTURE_NEEDED ? capture_first(context, of, n, addresses, inputs, outputs)
                                  : replay(context, of, item);
}

/* Runs the first call directly. It binds the program, loads its kernels and copies its constants,
 * none of which can be captured. It also reveals operations on the host that prevent a capture. */
static tprt_status call_first(tprt_context *context, struct tprt__graphs *of, void *const *inputs,
                              void *const *outputs) {
  if (tprt__gpu_graphs_load())
    snprintf(of->why, sizeof of->why, "%s", tprt_last_error());
  return call(context, of, inputs, outputs);
}

tprt_status tprt_context_replay(tprt_context *context, tprt_program_fn *program, int n_inputs,
                                void *const *inputs, int n_outputs, void *const *outputs,
                                const char **why) {
  TPRT__NEED(context);
  TPRT__NEED(program);
  TPRT__NEED(why);
  if (n_inputs > 0)
    TPRT__NEED(inputs);
  if (n_outputs > 0)
    TPRT__NEED(outputs);
  *why = "";
  if (context->status)
    return context->status;
  if (!tprt__gpu_of(context) || n_inputs < 0 || n_outputs < 0)
    return tprt__fail(TPRT_INVALID_ARGUMENT,
                      tprt__gpu_of(context)
                          ? "a negative number of arguments"
                          : "the context was created for the host, which has no graphs");
  struct tprt__graphs *of = find_program(context, program);
  size_t n_in = (size_t)n_inputs, n = n_in + (size_t)n_outputs;
  void **addresses = tprt__alloc((n ? n : 1) * sizeof *addresses);
  if (!of || !addresses) {
    tprt__free(addresses);
    return fail_with(context, tprt__fail_memory(sizeof *of + n * sizeof *addresses));
  }
  for (size_t i = 0; i < n; i++)
    addresses[i] = i < n_in ? inputs[i] : outputs[i - n_in];
  tprt_status status = !of->bound          ? call_first(context, of, inputs, outputs)
                       : of->is_impossible ? call(context, of, inputs, outputs)
                                           : call_again(context, of, n, addresses, inputs, outputs);
  tprt__free(addresses);
  if (of->is_impossible)
    *why = of->why[0] ? of->why : "another rank cannot capture it";
  return status;
}
