/* Writes one trace of all ranks in the trace event format of Chrome and Perfetto: what each rank
 * did in the last timed execution, and beside it the same calls as the model prices them. */
#include "run.h"

#include <errno.h>
#include <jansson.h>
#include <stdlib.h>
#include <string.h>

enum { THREAD_CALLS, THREAD_COLLECTIVES };

/* A call with what is known from the calls of the other ranks. */
typedef struct traced {
  const tprt_call *call;
  int64_t turn;      /* how often the rank has called this site before */
  int64_t all_there; /* when the last device of the group came; 0 for calls that do not meet */
} traced;

typedef struct tracer {
  const tp_plan *plan;
  const launch *run;
  int64_t zero; /* the first begin of an execution */
  int64_t *n;   /* by rank: calls that are kept */
  traced **calls;
  json_t *events;
} tracer;

/* ---- times of all ranks ---- */

/* A time of a rank's clock in that of rank 0. */
static int64_t aligned(const tracer *t, int rank, int64_t ns) {
  return ns - t->run->ranks[rank].clock_offset_ns;
}

static double microseconds(const tracer *t, int rank, int64_t ns) {
  return (double)(aligned(t, rank, ns) - t->zero) * 1e-3;
}

static const tp_plan_collective *collective_of(const tracer *t, const tprt_call *call) {
  return call->site < t->plan->n_collectives ? &t->plan->collectives[call->site] : NULL;
}

/* True if two ranks are in one group of the collective: they differ along its axes only. A
 * collective without axes is over the whole mesh. */
static bool is_peer(const tracer *t, const tp_plan_collective *c, int a, int b) {
  const tp_mesh *mesh = &t->plan->mesh;
  for (int axis = mesh->n_axes - 1; axis >= 0; axis--) {
    int size = (int)mesh->axes[axis].size;
    bool is_own = c->n_axes == 0;
    for (int i = 0; i < c->n_axes; i++)
      is_own |= c->axes[i] == axis;
    if (!is_own && a % size != b % size)
      return false;
    a /= size;
    b /= size;
  }
  return true;
}

static bool meets(const tracer *t, const tprt_call *call) {
  return call->kind == TPRT_CALL_RUN && collective_of(t, call);
}

/* Numbers the calls of each site. */
static bool number_calls(tracer *t) {
  int64_t *turns = calloc((size_t)t->run->n_sites + 1, sizeof *turns);
  for (int r = 0; r < t->run->n_ranks && turns; r++) {
    memset(turns, 0, ((size_t)t->run->n_sites + 1) * sizeof *turns);
    t->calls[r] = calloc((size_t)t->n[r] + 1, sizeof *t->calls[r]);
    if (!t->calls[r])
      return false;
    for (int64_t i = 0; i < t->n[r]; i++) {
      const tprt_call *call = &t->run->ranks[r].calls[i];
      t->calls[r][i] = (traced){.call = call, .turn = turns[call->site]};
      turns[call->site] += call->kind != TPRT_CALL_START;
    }
  }
  bool ok = turns != NULL;
  free(turns);
  return ok;
}

/* Finds when the last device of each group came. All ranks make the same calls in the same order,
 * unless the trace is cut. */
static void find_meetings(tracer *t) {
  for (int r = 0; r < t->run->n_ranks; r++)
    for (int64_t i = 0; i < t->n[r]; i++) {
      traced *own = &t->calls[r][i];
      if (!meets(t, own->call))
        continue;
      for (int q = 0; q < t->run->n_ranks; q++) {
        const traced *other = i < t->n[q] ? &t->calls[q][i] : NULL;
        if (!other || other->call->site != own->call->site || other->turn != own->turn ||
            !is_peer(t, collective_of(t, own->call), r, q))
          continue;
        int64_t came = aligned(t, q, other->call->begin_ns);
        own->all_there = came > own->all_there ? came : own->all_there;
      }
    }
}

/* ---- events ---- */

static void add_event(tracer *t, const char *name, int process, int thread, double begin,
                      double duration, json_t *args) {
  json_array_append_new(t->events, json_pack("{s:s, s:s, s:i, s:i, s:f, s:f, s:o}", "ph", "X",
                                             "name", name, "pid", process, "tid", thread, "ts",
                                             begin, "dur", duration > 0 ? duration : 0, "args",
                                             args ? args : json_object()));
}

static void add_name(tracer *t, const char *what, int process, int thread, const char *name) {
  json_array_append_new(t->events,
                        json_pack("{s:s, s:s, s:i, s:i, s:{s:s}}", "ph", "M", "name", what, "pid",
                                  process, "tid", thread, "args", "name", name));
}

static void add_process(tracer *t, int process, const char *name, const char *calls) {
  add_name(t, "process_name", process, THREAD_CALLS, name);
  add_name(t, "thread_name", process, THREAD_CALLS, calls);
  add_name(t, "thread_name", process, THREAD_COLLECTIVES, "asynchronous collectives");
}

/* "all_gather tp", "contract" */
static void call_name(const tracer *t, const tprt_call *call, const char *part, size_t size,
                      char *name) {
  const tp_plan_collective *c = collective_of(t, call);
  snprintf(name, size, "%s%s%s%s", part,
           c                                  ? tp_collective_name(c->kind)
           : call->what == TPRT_SITE_CONTRACT ? "contract"
                                              : "fused op",
           c ? " " : "", c ? c->axes_text : "");
}

static json_t *peers_json(const tracer *t, const tp_plan_collective *c, int rank) {
  json_t *list = json_array();
  for (int q = 0; q < t->run->n_ranks; q++)
    if (q != rank && is_peer(t, c, rank, q))
      json_array_append_new(list, json_integer(q));
  return list;
}

static json_t *call_args(const tracer *t, const traced *own, int rank) {
  const tp_plan_collective *c = collective_of(t, own->call);
  json_t *args =
      json_pack("{s:i, s:I}", "site", (int)own->call->site, "turn", (json_int_t)own->turn);
  if (!c)
    return args;
  json_object_set_new(args, "bytes", json_integer((json_int_t)c->bytes));
  json_object_set_new(args, "tensor", json_string(c->tensor));
  json_object_set_new(args, "peers", peers_json(t, c, rank));
  json_object_set_new(args, "modelled_us", json_real(tp_cost_seconds(c->cost) * 1e6));
  return args;
}

/* A collective, and within it the wait for its peers and the transfer. */
static void add_meeting(tracer *t, const traced *own, int rank, const char *name) {
  double begin = microseconds(t, rank, own->call->begin_ns),
         end = microseconds(t, rank, own->call->end_ns);
  double there = (double)(own->all_there - t->zero) * 1e-3;
  there = there < begin ? begin : there > end ? end : there;
  json_t *args = call_args(t, own, rank);
  json_object_set_new(args, "waited_us", json_real(there - begin));
  json_object_set_new(args, "transferred_us", json_real(end - there));
  add_event(t, name, rank, THREAD_CALLS, begin, end - begin, args);
  add_event(t, "wait for peers", rank, THREAD_CALLS, begin, there - begin, NULL);
  add_event(t, "transfer", rank, THREAD_CALLS, there, end - there, NULL);
}

static void add_call(tracer *t, const traced *own, int rank) {
  static const char *const parts[] = {
      [TPRT_CALL_RUN] = "", [TPRT_CALL_START] = "start ", [TPRT_CALL_WAIT] = "wait "};
  const tprt_call *call = own->call;
  char name[128];
  call_name(t, call, parts[call->kind], sizeof name, name);
  if (meets(t, call)) {
    add_meeting(t, own, rank, name);
    return;
  }
  double begin = microseconds(t, rank, call->begin_ns);
  add_event(t, name, rank, THREAD_CALLS, begin, microseconds(t, rank, call->end_ns) - begin,
            call_args(t, own, rank));
  if (call->kind != TPRT_CALL_WAIT)
    return;
  begin = microseconds(t, rank, call->ran_ns);
  call_name(t, call, "", sizeof name, name);
  add_event(t, name, rank, THREAD_COLLECTIVES, begin, microseconds(t, rank, call->ended_ns) - begin,
            call_args(t, own, rank));
}

/* The calls of a rank, and between them what the program computes by itself. */
static void add_rank(tracer *t, int rank) {
  const rank_result *result = t->run->ranks + rank;
  char name[64], since[32] = "";
  if (result->joined)
    snprintf(since, sizeof since, ", a spare since epoch %d", result->joined);
  snprintf(name, sizeof name, "rank %d%s", rank, since);
  add_process(t, rank, name, "execution");
  double at = microseconds(t, rank, result->begin_ns);
  for (int64_t i = 0; i < t->n[rank]; i++) {
    const traced *own = &t->calls[rank][i];
    double begin = microseconds(t, rank, own->call->begin_ns);
    if (begin > at)
      add_event(t, "compute", rank, THREAD_CALLS, at, begin - at, NULL);
    add_call(t, own, rank);
    at = microseconds(t, rank, own->call->end_ns);
  }
  double end = microseconds(t, rank, result->end_ns);
  if (end > at && t->n[rank] == result->n_seen)
    add_event(t, "compute", rank, THREAD_CALLS, at, end - at, NULL);
}

/* ---- the model ---- */

static bool is_sent(const tracer *t, const tprt_call *call) {
  return collective_of(t, call) && call->kind != TPRT_CALL_WAIT;
}

/* Compute of the model over that of rank 0, whose calls the track of the model follows. */
static double compute_scale(const tracer *t) {
  const rank_result *first = t->run->ranks;
  double modelled = tp_cost_seconds(t->plan->step) * 1e9,
         measured = (double)(first->end_ns - first->begin_ns);
  for (int64_t i = 0; i < t->n[0]; i++) {
    const tprt_call *call = t->calls[0][i].call;
    if (is_sent(t, call))
      modelled -= tp_cost_seconds(collective_of(t, call)->cost) * 1e9;
    if (collective_of(t, call))
      measured -= (double)(call->end_ns - call->begin_ns);
  }
  return measured > 0 && modelled > 0 ? modelled / measured : 0;
}

static void add_model(tracer *t) {
  int process = t->run->n_ranks;
  double at = 0, scale = compute_scale(t), last = (double)t->run->ranks[0].begin_ns;
  add_process(t, process, "model", "calls of rank 0 as modelled");
  for (int64_t i = 0; i <= t->n[0]; i++) {
    const traced *own = i < t->n[0] ? &t->calls[0][i] : NULL;
    const tprt_call *call = own ? own->call : NULL;
    if (call && !collective_of(t, call))
      continue; /* a contraction is compute */
    double until = (double)(call ? call->begin_ns : t->run->ranks[0].end_ns);
    double computed = (until - last) * scale * 1e-3;
    if (computed > 0)
      add_event(t, "compute", process, THREAD_CALLS, at, computed, NULL);
    at += computed > 0 ? computed : 0;
    if (!call)
      break;
    last = (double)call->end_ns;
    if (!is_sent(t, call))
      continue;
    char name[128];
    double took = tp_cost_seconds(collective_of(t, call)->cost) * 1e6;
    call_name(t, call, "", sizeof name, name);
    add_event(t, name, process, THREAD_CALLS, at, took, call_args(t, own, 0));
    at += took;
  }
}

/* ---- the file ---- */

static json_t *clocks_json(const launch *run) {
  json_t *list = json_array();
  for (int r = 0; r < run->n_ranks; r++)
    json_array_append_new(list, json_pack("{s:i, s:I, s:I}", "rank", r, "offset_ns",
                                          (json_int_t)run->ranks[r].clock_offset_ns, "error_ns",
                                          (json_int_t)run->ranks[r].clock_error_ns));
  return list;
}

static json_t *trace_json(tracer *t) {
  int64_t lost = 0;
  for (int r = 0; r < t->run->n_ranks; r++)
    lost += t->run->ranks[r].n_seen - t->n[r];
  return json_pack("{s:s, s:O, s:{s:s, s:o, s:I}}", "displayTimeUnit", "ns", "traceEvents",
                   t->events, "otherData", "version", tp_version(), "clocks", clocks_json(t->run),
                   "lost_calls", (json_int_t)lost);
}

static bool prepare(tracer *t) {
  const launch *run = t->run;
  t->n = calloc((size_t)run->n_ranks, sizeof *t->n);
  t->calls = calloc((size_t)run->n_ranks, sizeof *t->calls);
  t->events = json_array();
  if (!t->n || !t->calls || !t->events)
    return false;
  for (int r = 0; r < run->n_ranks; r++) {
    const rank_result *result = run->ranks + r;
    int64_t begin = aligned(t, r, result->begin_ns);
    t->n[r] = result->n_seen < MAX_TRACED_CALLS ? result->n_seen : MAX_TRACED_CALLS;
    t->zero = r == 0 || begin < t->zero ? begin : t->zero;
  }
  return number_calls(t);
}

static void forget(tracer *t) {
  for (int r = 0; r < t->run->n_ranks && t->calls; r++)
    free(t->calls[r]);
  free(t->calls);
  free(t->n);
  json_decref(t->events);
}

bool trace_write(const outcome *out, const char *path) {
  tracer t = {.plan = out->program->plan, .run = out->run};
  cli_file file;
  json_t *json = NULL;
  if (prepare(&t)) {
    find_meetings(&t);
    for (int r = 0; r < t.run->n_ranks; r++)
      add_rank(&t, r);
    add_model(&t);
    json = trace_json(&t);
  }
  forget(&t);
  if (!json) {
    complain("memory ran out for the trace");
    return false;
  }
  bool ok = cli_file_open(&file, path) &&
            cli_file_close(
                &file, json_dumpf(json, file.stream, JSON_COMPACT | JSON_REAL_PRECISION(12)) == 0 &&
                           fputc('\n', file.stream) != EOF);
  if (!ok)
    complain("the trace cannot be written to '%s': %s", path, strerror(errno));
  json_decref(json);
  return ok;
}
