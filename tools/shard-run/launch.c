/* Runs ranks as threads of this process. */
#include "run.h"

#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>

static void **pointers(int n, const array *arrays) {
  void **list = calloc((size_t)n + 1, sizeof *list);
  for (int i = 0; list && i < n; i++)
    list[i] = arrays[i].data;
  return list;
}

static _Thread_local int rank_in_program = -1;

int launch_rank_in_program(void) { return rank_in_program; }

/* Executes the program once and waits for completion. */
static tprt_status call(tprt_context *context, const rank_work *w, int rank, void **in, void **out,
                        rank_result *result) {
  const char *why = "";
  rank_in_program = rank;
  tprt_status status = w->graph ? tprt_context_replay(context, (tprt_program_fn *)w->entry,
                                                      w->n_inputs, in, w->n_outputs, out, &why)
                                : (tprt_status)w->entry(context, in, out);
  rank_in_program = -1;
  if (w->graph)
    snprintf(result->no_graph, sizeof result->no_graph, "%s", why);
  return status == TPRT_OK && w->on_gpu ? tprt_context_synchronize(context) : status;
}

/* Keeps what was counted at the sites, of the last execution. */
static void keep_sites(const tprt_context *context, const rank_work *w, rank_result *result) {
  for (int s = 0; s < w->n_sites; s++)
    (void)tprt_context_site_stats(context, s, result->sites + s);
}

/* Executes once and takes the time, of calls too if it is the last time. Returns the seconds. */
static double measure(tprt_context *context, const rank_work *w, int rank, void **in, void **out,
                      bool is_last, rank_result *result, tprt_status *status) {
  if (result->calls && is_last)
    tprt_context_record(context, result->calls, MAX_TRACED_CALLS);
  tprt_context_reset_stats(context);
  double start = cli_seconds();
  *status = call(context, w, rank, in, out, result);
  double end = cli_seconds();
  result->begin_ns = (int64_t)(start * 1e9);
  result->end_ns = (int64_t)(end * 1e9);
  return end - start;
}

static tprt_status execute(tprt_context *context, const rank_work *w, int rank, void **in,
                           void **out, rank_result *result) {
  /* binds the program, touches the memory */
  tprt_status status = call(context, w, rank, in, out, result);
  if (status == TPRT_OK && w->graph)
    status = call(context, w, rank, in, out, result); /* captures the graph */
  for (int i = 0; i < w->repeat && status == TPRT_OK; i++) {
    if (w->on_step)
      w->on_step(1 + i, 1 + w->repeat);
    double took =
        measure(context, w, rank, in, out, !w->graph && i == w->repeat - 1, result, &status);
    if (i > 0 && took >= result->seconds)
      continue;
    result->seconds = took;
    keep_sites(context, w, result);
  }
  /* a graph does not tell the times of its calls; ranks without one do the same */
  if (status == TPRT_OK && w->graph) {
    rank_work eager = *w;
    eager.graph = false;
    (void)measure(context, &eager, rank, in, out, true, result, &status);
    keep_sites(context, w, result);
  }
  tprt_context_record(context, NULL, 0);
  result->n_seen = tprt_context_recorded(context);
  return status;
}

/* Allocates GPU buffers for `arrays` and stores their addresses in `list`; copies the arrays there
 * if `filled`. */
static tprt_status move_to_gpu(tprt_context *context, int n, const array *arrays, bool filled,
                               void **list) {
  tprt_status status = TPRT_OK;
  for (int i = 0; i < n; i++)
    list[i] = NULL;
  for (int i = 0; i < n && status == TPRT_OK; i++) {
    status = tprt_context_alloc(context, array_bytes(arrays + i), &list[i]);
    if (status == TPRT_OK && filled)
      status = tprt_context_upload(context, list[i], arrays[i].data, array_bytes(arrays + i));
  }
  return status;
}

static tprt_status run_on_gpu(tprt_context *context, const rank_work *w, int rank, void **in,
                              void **out, rank_result *result) {
  tprt_status status = move_to_gpu(context, w->n_inputs, w->inputs, true, in);
  tprt_status room = move_to_gpu(context, w->n_outputs, w->outputs, false, out);
  status = status == TPRT_OK ? room : status;
  if (status == TPRT_OK)
    status = execute(context, w, rank, in, out, result);
  for (int i = 0; i < w->n_outputs && status == TPRT_OK; i++)
    status =
        tprt_context_download(context, w->outputs[i].data, out[i], array_bytes(w->outputs + i));
  for (int i = 0; i < w->n_inputs; i++)
    tprt_context_free(context, in[i]);
  for (int i = 0; i < w->n_outputs; i++)
    tprt_context_free(context, out[i]);
  return status;
}

/* Prints why fused sites of a GPU program do not run as one kernel for all ranks, once per
 * reason. */
static void explain_rows(const tprt_context *context, int n_sites) {
  const char *told = "";
  for (int s = 0; s < n_sites; s++) {
    const char *why, *way = tprt_context_rows(context, s, &why);
    if (!way || !*why || strcmp(why, told) == 0)
      continue;
    cli_print("shard-run: note: fused ops run as %s: %s\n", way, why);
    told = why;
  }
}

void run_rank(tprt_comm *world, const rank_work *w, rank_result *result) {
  tprt_context *context = NULL;
  tprt_context_config config = {.size = sizeof config,
                                .target = w->on_gpu ? TPRT_TARGET_CUDA : TPRT_TARGET_HOST};
  void **in = pointers(w->n_inputs, w->inputs), **out = pointers(w->n_outputs, w->outputs);
  result->status = in && out ? tprt_context_create(world, &config, &context) : TPRT_NO_MEMORY;
  if (result->status == TPRT_OK)
    result->status =
        (w->on_gpu ? run_on_gpu : execute)(context, w, tprt_comm_rank(world), in, out, result);
  bool is_done = result->status == TPRT_OK;
  if (is_done) /* wait, because another rank may still read this rank's memory */
    result->status = tprt_barrier(world, NULL, NULL);
  if (result->status != TPRT_OK) {
    const char *text = context ? tprt_context_error(context) : tprt_last_error();
    text = *text ? text : tprt_last_error();
    snprintf(result->error, sizeof result->error, "%s%s%s", tprt_status_name(result->status),
             *text ? ": " : "", text);
  }
  if (!is_done && (!context || !*tprt_context_error(context)))
    (void)tprt_comm_abort(world); /* the program has not notified the other ranks */
  if (result->status == TPRT_OK) {
    snprintf(result->gemm, sizeof result->gemm, "%s", tprt_context_gemm(context));
    snprintf(result->attention, sizeof result->attention, "%s", tprt_context_attention(context));
  }
  if (result->status == TPRT_OK && tprt_comm_rank(world) == 0)
    explain_rows(context, w->n_sites);
  if (context)
    tprt_context_destroy(context);
  free(in);
  free(out);
}

typedef struct rank_thread {
  pthread_t thread;
  bool started;
  launch *l;
  int rank;
  tprt_comm *world;
  tp_entry entry;
} rank_thread;

static void *thread_main(void *data) {
  rank_thread *t = data;
  launch *l = t->l;
  rank_work w = {.entry = t->entry,
                 .on_gpu = l->on_gpu,
                 .graph = l->graph && l->on_gpu,
                 .n_inputs = l->n_inputs,
                 .n_outputs = l->n_outputs,
                 .n_sites = l->n_sites,
                 .repeat = l->repeat,
                 .on_step = t->rank == 0 ? l->on_step : NULL,
                 .inputs = l->inputs[t->rank],
                 .outputs = l->outputs[t->rank]};
  run_rank(t->world, &w, l->ranks + t->rank);
  return NULL;
}

bool launch_report(const launch *l) {
  enum { MAX_LINES = 8 };
  int n_lines = 0, n_failed = 0;
  for (int r = 0; r < l->n_ranks; r++) {
    bool ok = l->ranks[r].status == TPRT_OK, said = ok || !*l->ranks[r].error;
    n_failed += !ok;
    for (int q = 0; q < r && !said; q++)
      said = l->ranks[q].status != TPRT_OK && strcmp(l->ranks[q].error, l->ranks[r].error) == 0;
    if (!said && n_lines++ < MAX_LINES)
      complain("rank %d failed: %s", r, l->ranks[r].error);
  }
  return n_failed == 0;
}

bool launch_load(launch *l, tp_program **program, tp_entry *entry) {
  char why[1024] = "";
  const int64_t *table;
  if (tp_program_load(l->object->data, l->object->size, why, sizeof why, program) != TP_OK) {
    complain("the compiled program cannot be loaded: %s", why);
    return false;
  }
  if (tp_program_find(*program, l->function, entry, &table) != TP_OK) {
    complain("the compiled program has no function '%s', or one of its symbols is missing",
             l->function);
    tp_program_unload(*program);
    return false;
  }
  l->n_sites = (int)table[14];
  l->private_bytes = table[12];
  l->registered_bytes = table[13];
  l->on_gpu = table[16] == TPRT_TARGET_CUDA;
  for (int r = 0; r < l->n_ranks; r++)
    l->ranks[r].sites = calloc((size_t)l->n_sites + 1, sizeof *l->ranks[r].sites);
  for (int r = 0; r < l->n_ranks && l->trace; r++)
    l->ranks[r].calls = calloc(MAX_TRACED_CALLS, sizeof *l->ranks[r].calls);
  return true;
}

static bool run_threads(launch *l, tp_entry entry, tprt_comm **worlds) {
  rank_thread *threads = calloc((size_t)l->n_ranks, sizeof *threads);
  bool ok = threads != NULL;
  for (int r = 0; r < l->n_ranks && ok; r++) {
    threads[r] = (rank_thread){.l = l, .rank = r, .world = worlds[r], .entry = entry};
    int error = pthread_create(&threads[r].thread, NULL, thread_main, threads + r);
    threads[r].started = !error;
    if (error) {
      complain("thread %d of %d could not be started: %s", r, l->n_ranks, strerror(error));
      (void)tprt_comm_abort(worlds[r]);
      ok = false;
    }
  }
  for (int r = 0; threads && r < l->n_ranks; r++)
    if (threads[r].started)
      pthread_join(threads[r].thread, NULL);
  free(threads);
  return launch_report(l) && ok;
}

bool launch_describe(launch *l) {
  tp_program *program = NULL;
  tp_entry entry;
  bool ok = launch_load(l, &program, &entry);
  if (ok)
    tp_program_unload(program);
  return ok;
}

/* Returns the backend to use. A single rank uses "self", unless it runs on a GPU and the user chose
 * a backend. GPU ranks default to loopback, which supports GPU programs. The backend that the user
 * chose for GPUs may not take host memory, so their references do not use it. */
static const char *backend_of(const launch *l) {
  if (l->checks_gpu && !l->on_gpu)
    return l->n_ranks == 1 ? "self" : "loopback";
  if (l->n_ranks == 1 && !(l->on_gpu && l->backend))
    return "self";
  return l->on_gpu && !l->backend && !getenv("TPRT_BACKEND") ? "loopback" : l->backend;
}

void launch_say_path(const launch *l, const tprt_comm *world) {
  if (!l->on_gpu || tprt_comm_capabilities(world) & TPRT_CAP_GPU_PROGRAMS)
    return;
  const char *name = tprt_comm_backend(world), *reason = NULL;
  for (size_t i = 0; tprt_backend_name(i); i++)
    if (strcmp(tprt_backend_name(i), name) == 0)
      reason = tprt_backend_lack(i, __builtin_ctz(TPRT_CAP_GPU_PROGRAMS));
  printf("collectives go through host memory: backend %s%s%s\n", name, reason ? ": " : "",
         reason ? reason : "");
}

/* Says why there is no world of threads, and what to do about backends that have none here. */
static void refuse_world(const launch *l, const char *why) {
  static const struct {
    const char *backend, *launcher;
  } of_processes[] = {
      {"mpi", "mpirun -n N shard-run"},
      {"tcp", "shard-run -n N -- shard-run"},
      {"fabric", "shard-run -n N -- shard-run"},
  };
  const char *backend = l->backend ? l->backend : getenv("TPRT_BACKEND");
  char way_out[96] = "";
  if (backend && strcasecmp(backend, "nccl") == 0 && !l->on_gpu)
    snprintf(way_out, sizeof way_out, "; --backend shm works on CPUs");
  for (size_t i = 0; backend && i < sizeof of_processes / sizeof *of_processes; i++)
    if (strcasecmp(backend, of_processes[i].backend) == 0)
      snprintf(way_out, sizeof way_out, "; processes start with %s MODEL --backend %s ...",
               of_processes[i].launcher, of_processes[i].backend);
  complain("cannot create a world of %d rank%s: %s%s", l->n_ranks, l->n_ranks == 1 ? "" : "s", why,
           way_out);
}

bool launch_threads(launch *l) {
  tp_program *program = NULL;
  tp_entry entry;
  tprt_config config = {.size = sizeof config, .timeout_ns = (int64_t)(l->timeout * 1e9)};
  tprt_comm **worlds = calloc((size_t)l->n_ranks, sizeof *worlds);
  if (!worlds || !launch_load(l, &program, &entry)) {
    free(worlds);
    return false;
  }
  config.backend = backend_of(l);
  bool ok = tprt_world_create_threads(l->n_ranks, &config, worlds) == TPRT_OK;
  if (!ok)
    refuse_world(l, tprt_last_error());
  if (ok)
    launch_say_path(l, worlds[0]);
  ok = ok && run_threads(l, entry, worlds);
  for (int r = 0; r < l->n_ranks; r++)
    tprt_comm_destroy(worlds[r]);
  free(worlds);
  tp_program_unload(program);
  return ok;
}
