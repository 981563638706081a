/* Options of shard-run that exclude or require each other. */
#include "run.h"

#include <string.h>
#include <strings.h>

/* The suffix of a format that is not JSON; NULL: the name has none of these. */
static const char *other_format(const char *path) {
  static const char *const suffixes[] = {".html", ".htm", ".md", ".txt", ".csv", ".pdf"};
  size_t length = path ? strlen(path) : 0;
  for (size_t i = 0; i < sizeof suffixes / sizeof *suffixes; i++) {
    size_t n = strlen(suffixes[i]);
    if (length > n && strcmp(path + length - n, suffixes[i]) == 0)
      return suffixes[i];
  }
  return NULL;
}

static const char *emit_name(const options *o) {
  static const char *const names[] = {
      [EMIT_LIBRARY] = "so", [EMIT_OBJECT] = "obj", [EMIT_LLVM] = "llvm", [EMIT_KERNELS] = "ptx"};
  return names[o->emit];
}

/* Refuses options of runs beside --emit, which runs nothing. Data is used where --shards writes
 * it. */
static int check_emit(const options *o) {
  static const char otherwise[] = "leave one of them out",
                    data[] = "--shards FOLDER writes the data of the ranks beside the program";
  const struct {
    const char *option;
    bool is_given;
    const char *way_out;
  } of_runs[] = {
      {"report", o->report != NULL, otherwise},
      {"trace", o->trace != NULL, otherwise},
      {"output", o->save.n > 0, otherwise},
      {"backend", o->backend != NULL, "the caller of the program chooses its backend"},
      {"input", o->inputs.n > 0 && !o->shards, data},
      {"inputs-from", o->inputs_from != NULL && !o->shards, data},
      {"expected-output", o->expected.n > 0 && !o->shards, data},
      {"reference=evaluator", o->reference == REFERENCE_EVALUATOR, otherwise},
      {"no-graph", o->no_graph, "an emitted program runs as a graph only by tprt_context_replay"},
  };
  if (!o->emit)
    return CLI_GO_ON;
  for (size_t i = 0; i < sizeof of_runs / sizeof *of_runs; i++)
    if (of_runs[i].is_given)
      return cli_usage("--%s requires a run, and --emit=%s runs nothing; %s", of_runs[i].option,
                       emit_name(o), of_runs[i].way_out);
  return CLI_GO_ON;
}

/* Refuses a misspelled backend. The runtime refuses other names, and says what to use instead. */
static int check_backend(const options *o) {
  enum { MAX_NAMES = 16 };
  const char *names[MAX_NAMES];
  cli_suggestion closest;
  char known[128] = "";
  int n = 0;
  for (; n < MAX_NAMES && tprt_backend_name((size_t)n); n++) {
    names[n] = tprt_backend_name((size_t)n);
    snprintf(strchr(known, 0), sizeof known - strlen(known), "%s%s", n ? ", " : "", names[n]);
    if (o->backend && strcasecmp(names[n], o->backend) == 0)
      return CLI_GO_ON;
  }
  if (!o->backend || !*cli_suggest(o->backend, strlen(o->backend), n, names, &closest))
    return CLI_GO_ON;
  return cli_usage("there is no backend '%s'%s; known: %s", o->backend, closest.text, known);
}

int usage_check(const options *o) {
  if (other_format(o->report))
    return cli_usage("--report writes JSON, not %s; name it FILE.json, or write a page of the plan "
                     "with --plan-report",
                     other_format(o->report));
  if (other_format(o->trace))
    return cli_usage("--trace writes JSON for Perfetto, not %s; name it FILE.json",
                     other_format(o->trace));
  if (other_format(o->plan_diff))
    return cli_usage("--plan-diff reads a report in JSON, not %s; write it with --plan-report "
                     "OLD.json",
                     other_format(o->plan_diff));
  if ((o->emit != EMIT_NOTHING) != (o->output != NULL))
    return cli_usage("--emit needs -o FILE, such as -o libm.so, and -o needs --emit");
  if (o->reference != REFERENCE_AUTO && o->no_verify)
    return cli_usage("--reference=%s and --no-verify exclude each other",
                     o->reference == REFERENCE_DEVICE ? "device" : "evaluator");
  int code = check_emit(o);
  if (code != CLI_GO_ON)
    return code;
  if (o->shards && o->emit != EMIT_LIBRARY && o->emit != EMIT_OBJECT)
    return cli_usage("--shards requires --emit=so or --emit=obj");
  if (o->emit == EMIT_KERNELS && o->target != TARGET_CUDA)
    return cli_usage("--emit=ptx requires --target=cuda");
  if (o->no_graph && o->target != TARGET_CUDA)
    return cli_usage("--no-graph requires --target=cuda");
  if (o->tf32 && o->target != TARGET_CUDA)
    return cli_usage("--tf32 requires --target=cuda: processors multiply f32 without rounding it");
  if (o->tf32 && o->emit == EMIT_KERNELS)
    return cli_usage("--tf32 changes no kernel of the program, and --emit=ptx writes only these; "
                     "leave one of them out");
  if (o->target == TARGET_CUDA && o->launch == LAUNCH_PROCESSES)
    return cli_usage("--target=cuda excludes --launch=processes: its ranks are threads, which "
                     "share one GPU or have one each");
  if (o->backend && o->launch == LAUNCH_PROCESSES && strcasecmp(o->backend, "shm") != 0)
    return cli_usage("--launch=processes requires backend shm; with '%s' leave it out, or let a "
                     "launcher start the ranks, such as mpirun or torchrun",
                     o->backend);
  return check_backend(o);
}
