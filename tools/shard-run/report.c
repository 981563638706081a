/* Writes the JSON report; docs/reference/report.md describes the schema. */
#include "run.h"

#include <errno.h>
#include <jansson.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

static json_t *comparison_json(const comparison *c) {
  if (!c->done)
    return json_null();
  json_t *error = isfinite(c->error) ? json_real(c->error) : json_null();
  json_t *json = json_pack("{s:b, s:o, s:f, s:s}", "ok", (int)c->ok, "error", error, "tolerance",
                           c->tolerance, "what", c->what);
  if (c->error_of_one >= 0)
    json_object_set_new(json, "error_of_one_device",
                        isfinite(c->error_of_one) ? json_real(c->error_of_one) : json_null());
  return json;
}

/* The last n_constants values are constants of the program. */
static json_t *values_json(int n, const tp_plan_value *values, int n_constants) {
  json_t *list = json_array();
  for (int i = 0; i < n; i++) {
    json_t *global = json_array(), *local = json_array();
    for (int d = 0; d < values[i].rank; d++) {
      json_array_append_new(global, json_integer(values[i].shape[d]));
      json_array_append_new(local, json_integer(values[i].local[d]));
    }
    json_array_append_new(list,
                          json_pack("{s:s, s:s, s:s, s:o, s:o, s:s, s:b}", "name", values[i].name,
                                    "role", values[i].role, "type", values[i].element, "shape",
                                    global, "local_shape", local, "sharding", values[i].sharding,
                                    "constant", (int)(i >= n - n_constants)));
  }
  return list;
}

/* Returns the time of the slowest rank and its number of calls. */
static void measured(const launch *run, int site, double *seconds, int64_t *calls) {
  *seconds = 0;
  *calls = 0;
  for (int r = 0; r < run->n_ranks; r++) {
    const tprt_site_stats *s = run->ranks[r].sites + site;
    *seconds = fmax(*seconds, s->seconds);
    *calls = s->calls > *calls ? s->calls : *calls;
  }
}

static json_t *collectives_json(const tp_plan *plan, const launch *run) {
  json_t *list = json_array();
  for (int i = 0; i < plan->n_collectives; i++) {
    const tp_plan_collective *c = plan->collectives + i;
    double seconds;
    int64_t calls;
    measured(run, i, &seconds, &calls);
    json_array_append_new(
        list, json_pack("{s:s, s:s, s:s, s:s, s:I, s:I, s:I, s:f, s:f, s:s}", "kind",
                        tp_collective_name(c->kind), "axes", c->axes_text, "tensor", c->tensor,
                        "reduction", c->combiner, "group", (json_int_t)c->group, "count",
                        (json_int_t)calls, "bytes_per_device", (json_int_t)(calls * c->bytes),
                        "modelled_seconds", (double)calls * tp_cost_seconds(c->cost),
                        "measured_seconds", seconds, "location", c->location));
  }
  return list;
}

static json_t *replaced_json(const launch *run) {
  json_t *list = json_array();
  for (int r = 0; r < run->n_ranks; r++)
    if (run->ranks[r].joined > 0)
      json_array_append_new(list,
                            json_pack("{s:i, s:i}", "rank", r, "epoch", run->ranks[r].joined));
  return list;
}

static int64_t bytes_sent(const launch *run) {
  int64_t busiest = 0;
  for (int r = 0; r < run->n_ranks; r++) {
    int64_t bytes = 0;
    for (int s = 0; s < run->n_sites; s++)
      bytes += run->ranks[r].sites[s].bytes;
    busiest = bytes > busiest ? bytes : busiest;
  }
  return busiest;
}

int64_t report_result_bytes(const tp_plan *plan) {
  int64_t bytes = 0;
  for (int i = 0; i < plan->n_results; i++) {
    int64_t n = plan->results[i].element_size;
    for (int d = 0; d < plan->results[i].rank; d++)
      n *= plan->results[i].local[d];
    bytes += n;
  }
  return bytes;
}

static double slowest(const launch *run) {
  double seconds = 0;
  for (int r = 0; r < run->n_ranks; r++)
    seconds = fmax(seconds, run->ranks[r].seconds);
  return seconds;
}

static json_t *memory_json(const build *b, const launch *run) {
  int64_t results = report_result_bytes(b->shape);
  int64_t buffers = run->private_bytes + run->registered_bytes;
  return json_pack(
      "{s:I, s:I, s:I, s:I, s:I, s:I}", "arguments", (json_int_t)b->shape->argument_bytes, "params",
      (json_int_t)b->shape->param_bytes, "results", (json_int_t)results, "buffers",
      (json_int_t)buffers, "constants", (json_int_t)b->shape->constant_bytes, "total",
      (json_int_t)(b->shape->argument_bytes + results + buffers + b->shape->constant_bytes));
}

json_t *report_json(const outcome *out) {
  const tp_plan *shape = out->program->shape;
  json_t *mesh = json_array(), *results = values_json(shape->n_results, shape->results, 0);
  for (int a = 0; a < shape->mesh.n_axes; a++)
    json_array_append_new(mesh, json_pack("{s:s, s:I}", "axis", shape->mesh.axes[a].name, "size",
                                          (json_int_t)shape->mesh.axes[a].size));
  for (int k = 0; k < shape->n_results; k++) {
    json_object_set_new(json_array_get(results, (size_t)k), "against_one_device",
                        comparison_json(out->against_one + k));
    json_object_set_new(json_array_get(results, (size_t)k), "against_expected",
                        comparison_json(out->against_expected + k));
    json_object_set_new(json_array_get(results, (size_t)k), "against_evaluator",
                        comparison_json(out->against_evaluator + k));
  }
  json_t *unsharded = out->reference ? json_real(out->reference->shape->flops) : json_null();
  json_t *memory_one =
      out->reference ? memory_json(out->reference, out->reference_run) : json_null();
  json_t *seconds_one = out->reference ? json_real(slowest(out->reference_run)) : json_null();
  const char *reference = outcome_reference(out);
  json_t *verified = !out->verified                     ? json_false()
                     : reference && out->is_independent ? json_true()
                                                        : json_null();
  return json_pack(
      "{s:i, s:s, s:s, s:s, s:o, s:s?, s:s?, s:o, s:I, s:I, s:f, s:o, s:o, s:o, s:f, s:f, s:o, "
      "s:o, "
      "s:o, s:o, s:s, s:s, s:o, s:o}",
      "schema", 1, "version", tp_version(), "model", out->options->model, "function",
      shape->function, "verified", verified, "reference", reference, "not_evaluated",
      out->not_evaluated, "mesh", mesh, "devices", (json_int_t)shape->n_devices, "bytes_per_device",
      (json_int_t)bytes_sent(out->run), "flops_per_device", shape->flops, "flops_unsharded",
      unsharded, "memory_per_device", memory_json(out->program, out->run), "memory_unsharded",
      memory_one, "modelled_seconds", tp_cost_seconds(out->program->plan->step), "measured_seconds",
      slowest(out->run), "measured_seconds_unsharded", seconds_one, "collectives",
      collectives_json(out->program->plan, out->run), "arguments",
      values_json(shape->n_arguments, shape->arguments, shape->n_constants), "results", results,
      "gemm", out->run->ranks[0].gemm, "attention", out->run->ranks[0].attention, "processors",
      out->options->target == TARGET_CPU ? json_integer(cli_processors()) : json_null(), "replaced",
      replaced_json(out->run));
}

bool report_write(const outcome *out, const char *path) {
  cli_file file;
  json_t *json = report_json(out);
  if (!json) {
    complain("memory ran out for the report");
    return false;
  }
  bool ok = cli_file_open(&file, path);
  if (ok)
    ok = cli_file_close(&file, json_dumpf(json, file.stream, JSON_INDENT(2)) == 0 &&
                                   fputc('\n', file.stream) != EOF);
  if (!ok)
    complain("the report cannot be written to '%s': %s", path, strerror(errno));
  json_decref(json);
  return ok;
}
