/* Records the calls of compiled programs and writes them as a trace for Chrome and Perfetto. Each
 * rank is a process of the trace. One of its threads shows the calls, another shows when the
 * started collectives ran. Between two calls the program itself computes. */
#include "base/env.h"
#include "program/context.h"

#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <string.h>

enum { N_CALLS = 1 << 16 }; /* capacity of the ring buffer, which keeps the last calls */

tprt_status tprt__trace_begin(tprt__trace *trace) {
  trace->path = tprt__env_text(TPRT__ENV_TRACE);
  if (!trace->path)
    return TPRT_OK;
  trace->ring = tprt__alloc(N_CALLS * sizeof *trace->ring);
  return trace->ring ? TPRT_OK : tprt__fail_memory(N_CALLS * sizeof *trace->ring);
}

void tprt__trace_add(tprt__trace *trace, const tprt_call *call) {
  if (trace->ring)
    trace->ring[trace->n_seen++ % N_CALLS] = *call;
  if (trace->kept && trace->n_kept++ < trace->capacity)
    trace->kept[trace->n_kept - 1] = *call;
}

void tprt_context_record(tprt_context *context, tprt_call *calls, int64_t n) {
  if (!context)
    return;
  context->trace.kept = calls;
  context->trace.capacity = n;
  if (calls)
    context->trace.n_kept = 0;
}

int64_t tprt_context_recorded(const tprt_context *context) {
  TPRT__NEED_OR(context, -1);
  return context->trace.n_kept;
}

/* Names of the kinds of sites. */
static const char *const names[] = {
    [TPRT_SITE_ALL_REDUCE] = "all_reduce",
    [TPRT_SITE_ALL_GATHER] = "all_gather",
    [TPRT_SITE_REDUCE_SCATTER] = "reduce_scatter",
    [TPRT_SITE_ALL_TO_ALL] = "all_to_all",
    [TPRT_SITE_PERMUTE] = "permute",
    [TPRT_SITE_BROADCAST] = "broadcast",
    [TPRT_SITE_CONTRACT] = "contract",
    [TPRT_SITE_FUSED_REDUCE] = "fused_reduce",
    [TPRT_SITE_FUSED_GATHER] = "fused_gather",
    [TPRT_SITE_FUSED_SOFTMAX] = "fused_softmax",
    [TPRT_SITE_FUSED_MATMUL] = "fused_matmul",
    [TPRT_SITE_FUSED_CONTRACTIONS] = "fused_contractions",
    [TPRT_SITE_FUSED_ATTENTION] = "fused_attention",
    [TPRT_SITE_FUSED_ATTENTION_GRADIENT] = "fused_attention_gradient",
    [TPRT_SITE_ROUTE] = "route",
};

enum { THREAD_CALLS, THREAD_COLLECTIVES };

static void write_event(FILE *file, const tprt_call *call, const char *what, int rank, int thread,
                        int64_t begin, int64_t end) {
  fprintf(file,
          ",\n  {\"ph\": \"X\", \"name\": \"%s%s\", \"cat\": \"site\", \"pid\": %d, \"tid\": %d, "
          "\"ts\": %" PRId64 ".%03d, \"dur\": %" PRId64 ".%03d, \"args\": {\"site\": %d}}",
          what, names[call->what], rank, thread, begin / 1000, (int)(begin % 1000),
          (end - begin) / 1000, (int)((end - begin) % 1000), call->site);
}

static void write_call(FILE *file, const tprt_call *call, int rank) {
  static const char *const parts[] = {
      [TPRT_CALL_RUN] = "", [TPRT_CALL_START] = "start ", [TPRT_CALL_WAIT] = "wait "};
  write_event(file, call, parts[call->kind], rank, THREAD_CALLS, call->begin_ns, call->end_ns);
  if (call->kind == TPRT_CALL_WAIT)
    write_event(file, call, "", rank, THREAD_COLLECTIVES, call->ran_ns, call->ended_ns);
}

static void write_name(FILE *file, const char *what, int rank, int thread, const char *name) {
  fprintf(file,
          "%s\n  {\"ph\": \"M\", \"name\": \"%s\", \"pid\": %d, \"tid\": %d, \"args\": {\"name\": "
          "\"%s\"}}",
          strcmp(what, "process_name") == 0 ? "" : ",", what, rank, thread, name);
}

void tprt__trace_end(tprt__trace *trace, int rank, int n_ranks) {
  char path[4096], process[32];
  if (!trace->ring)
    return;
  int n = snprintf(path, sizeof path, "%s-%d-of-%d.json", trace->path, rank, n_ranks);
  FILE *file = n < (int)sizeof path ? fopen(path, "we") : NULL;
  if (!file) {
    tprt__log("TPRT_TRACE: the file %s-%d-of-%d.json cannot be written: %s", trace->path, rank,
              n_ranks, strerror(n < (int)sizeof path ? errno : ENAMETOOLONG));
  } else {
    uint64_t first = trace->n_seen > N_CALLS ? trace->n_seen - N_CALLS : 0;
    snprintf(process, sizeof process, "rank %d", rank);
    fprintf(file, "{\"displayTimeUnit\": \"ns\", \"traceEvents\": [");
    write_name(file, "process_name", rank, THREAD_CALLS, process);
    write_name(file, "thread_name", rank, THREAD_CALLS, "calls");
    write_name(file, "thread_name", rank, THREAD_COLLECTIVES, "asynchronous collectives");
    for (uint64_t i = first; i < trace->n_seen; i++)
      write_call(file, &trace->ring[i % N_CALLS], rank);
    fprintf(file, "]}\n");
    if (fflush(file) != 0 || ferror(file))
      tprt__log("TPRT_TRACE: the file %s is incomplete: %s", path, strerror(errno));
    fclose(file);
  }
  tprt__free(trace->ring);
}
