/* Reads topology files, which docs/reference/topology.md describes. */
#include "sharding/topology.h"
#include "sharding/topology_json.h"

#include <stdio.h>
#include <string.h>

const char *tp_peak_name(tp_peak peak) {
  static const char *const names[TP_N_PEAKS] = {
      [TP_PEAK_F32] = "f32", [TP_PEAK_F64] = "f64", [TP_PEAK_F16] = "f16",
      [TP_PEAK_F8] = "f8",   [TP_PEAK_I8] = "i8",
  };
  return (unsigned)peak < TP_N_PEAKS ? names[peak] : "unknown";
}

/* ---- the device ---- */

static tp_status read_peaks(tp__json_reader *r, json_t *peaks, void *to) {
  double *gflops = to;
  tp__json_field fields[TP_N_PEAKS];
  /* Defaults for missing classes: wider numbers are slower, and narrower ones are not faster. */
  static const struct {
    tp_peak of, from;
    double share;
  } defaults[] = {
      {TP_PEAK_F64, TP_PEAK_F32, 0.5}, {TP_PEAK_F8, TP_PEAK_F16, 1}, {TP_PEAK_I8, TP_PEAK_F16, 1}};
  for (int i = 0; i < TP_N_PEAKS; i++)
    fields[i] = (tp__json_field){.key = tp_peak_name((tp_peak)i),
                                 .optional = i != TP_PEAK_F32 && i != TP_PEAK_F16,
                                 .number = &gflops[i],
                                 .range = TP__JSON_POSITIVE};
  tp_status status =
      tp__json_object(r, peaks, "an object with a number for f32, f16, ...", TP_N_PEAKS, fields);
  for (size_t i = 0; i < TP__COUNT(defaults); i++)
    if (gflops[defaults[i].of] == 0)
      gflops[defaults[i].of] = defaults[i].share * gflops[defaults[i].from];
  return status;
}

static tp_status read_device(tp__json_reader *r, json_t *device, void *to) {
  tp_topology *t = to;
  double memory_bytes = 0, min_gemm_dim = 0, processors = 0, attention_features = 0;
  const tp__json_field fields[] = {
      {.key = "gflops", .read = read_peaks, .to = t->gflops},
      {.key = "elementwise_gops", .number = &t->elementwise_gops, .range = TP__JSON_POSITIVE},
      {.key = "memory_gbytes_per_s", .number = &t->memory_gbytes_per_s, .range = TP__JSON_POSITIVE},
      {.key = "memory_bytes", .number = &memory_bytes, .range = TP__JSON_COUNT, .optional = true},
      {.key = "launch_us", .number = &t->launch_us, .range = TP__JSON_NOT_NEGATIVE},
      {.key = "efficiency", .number = &t->efficiency, .range = TP__JSON_SHARE},
      {.key = "min_gemm_dim", .number = &min_gemm_dim, .range = TP__JSON_COUNT, .optional = true},
      {.key = "contraction_gbytes_per_s",
       .number = &t->contraction_gbytes_per_s,
       .range = TP__JSON_POSITIVE,
       .optional = true},
      {.key = "store_gbytes_per_s",
       .number = &t->store_gbytes_per_s,
       .range = TP__JSON_POSITIVE,
       .optional = true},
      {.key = "exposed", .number = &t->exposed, .range = TP__JSON_PART, .optional = true},
      {.key = "processors", .number = &processors, .range = TP__JSON_COUNT, .optional = true},
      {.key = "attention_features",
       .number = &attention_features,
       .range = TP__JSON_COUNT,
       .optional = true},
  };
  tp_status status =
      tp__json_object(r, device, "an object with the keys of a device", TP__COUNT(fields), fields);
  t->memory_bytes = (int64_t)memory_bytes;
  t->min_gemm_dim = (int64_t)min_gemm_dim;
  t->processors = (int64_t)processors;
  t->attention_features = (int64_t)attention_features;
  return status;
}

/* ---- lines ---- */

/* A line, and the level to which it is added for each of its kinds. */
typedef struct new_line {
  tp__level *level;
  double n;
  tp_line line, latency;
} new_line;

static bool kind_of(const char *name, int *kind) {
  for (*kind = 0; *kind < TP_N_COLLECTIVES; ++*kind)
    if (strcmp(name, tp_collective_name((tp_collective)*kind)) == 0)
      return true;
  return false;
}

static tp_status add_row(const tp__json_reader *r, const new_line *line, int kind) {
  tp__level *level = line->level;
  const tp__line_row row = {
      .n = (int64_t)line->n, .line = line->line, .latency_line = line->latency};
  int n = level->n_rows[kind];
  if (n == TP__MAX_ROWS)
    return tp__json_wrong(r, "there are more than %d lines of %s", TP__MAX_ROWS,
                          tp_collective_name((tp_collective)kind));
  if (n > 0 && level->rows[kind][n - 1].n >= row.n)
    return tp__json_wrong(r,
                          "n is %lld, but an earlier line of %s has n %lld; lines of one kind must "
                          "be in ascending order of n",
                          (long long)row.n, tp_collective_name((tp_collective)kind),
                          (long long)level->rows[kind][n - 1].n);
  level->rows[kind][n] = row;
  level->n_rows[kind]++;
  return TP_OK;
}

#define KINDS "all_gather, reduce_scatter, all_reduce, all_to_all, permute, broadcast"

static tp_status read_kind(tp__json_reader *r, json_t *name, void *to) {
  int kind;
  if (!json_is_string(name))
    return tp__json_wrong(r, "expected the name of a collective, found %s", tp__json_type(name));
  if (!kind_of(json_string_value(name), &kind))
    return tp__json_wrong(r, "expected one of " KINDS ", found \"%.40s\"", json_string_value(name));
  return add_row(r, to, kind);
}

static tp_status read_kinds(tp__json_reader *r, json_t *kinds, void *to) {
  if (json_is_array(kinds) && json_array_size(kinds) == 0)
    return tp__json_wrong(r, "expected a list of " KINDS ", found an empty list");
  return tp__json_list(r, kinds, "a list of " KINDS, read_kind, to);
}

static tp_status read_latency(tp__json_reader *r, json_t *latency, void *to) {
  tp_line *line = to;
  const tp__json_field fields[] = {
      {.key = "alpha_us", .number = &line->alpha_us, .range = TP__JSON_NOT_NEGATIVE},
      {.key = "gbytes_per_s", .number = &line->gbytes_per_s, .range = TP__JSON_POSITIVE},
  };
  return tp__json_object(r, latency, "an object with alpha_us and gbytes_per_s", TP__COUNT(fields),
                         fields);
}

static tp_status read_line(tp__json_reader *r, json_t *object, void *to) {
  new_line line = {.level = to};
  const tp__json_field fields[] = {
      {.key = "n", .number = &line.n, .range = TP__JSON_GROUP},
      {.key = "alpha_us", .number = &line.line.alpha_us, .range = TP__JSON_NOT_NEGATIVE},
      {.key = "gbytes_per_s", .number = &line.line.gbytes_per_s, .range = TP__JSON_POSITIVE},
      {.key = "latency", .read = read_latency, .to = &line.latency, .optional = true},
      {.key = "kinds", .read = read_kinds, .to = &line}, /* must be last: it adds the line */
  };
  return tp__json_object(r, object, "an object with kinds, n, alpha_us and gbytes_per_s",
                         TP__COUNT(fields), fields);
}

static tp_status read_lines(tp__json_reader *r, json_t *lines, void *to) {
  const tp__level *level = to;
  TP_TRY(tp__json_list(r, lines, "a list of lines", read_line, to));
  for (int kind = 0; kind < TP_N_COLLECTIVES; kind++)
    if (level->n_rows[kind] == 0)
      return tp__json_wrong(r, "there is no line of %s", tp_collective_name((tp_collective)kind));
  return TP_OK;
}

/* ---- kernels that access other devices ---- */

static tp_status read_pull(tp__json_reader *r, json_t *object, void *to) {
  tp_kernels *kernels = to;
  double n = 0, bytes = 0;
  const tp__json_field fields[] = {
      {.key = "n", .number = &n, .range = TP__JSON_GROUP},
      {.key = "bytes", .number = &bytes, .range = TP__JSON_NOT_NEGATIVE},
  };
  tp_status status =
      tp__json_object(r, object, "an object with n and bytes", TP__COUNT(fields), fields);
  if (status != TP_OK)
    return status;
  if (kernels->n_pulls > 0 && kernels->pulls[kernels->n_pulls - 1].n >= (int64_t)n)
    return tp__json_wrong(
        r, "n is %lld, but an earlier one is %lld; entries must be in ascending order of n",
        (long long)n, (long long)kernels->pulls[kernels->n_pulls - 1].n);
  kernels->pulls[kernels->n_pulls].n = (int64_t)n;
  kernels->pulls[kernels->n_pulls++].bytes = (int64_t)bytes;
  return TP_OK;
}

static tp_status read_pulls(tp__json_reader *r, json_t *pulls, void *to) {
  return tp__json_short_list(r, pulls, "a list of objects with n and bytes", TP_MAX_PULLS,
                             "objects", read_pull, to);
}

static tp_status read_kernels(tp__json_reader *r, json_t *object, void *to) {
  tp_kernels *kernels = to;
  double push_bytes = 0;
  const tp__json_field fields[] = {
      {.key = "signal_us", .number = &kernels->signal_us, .range = TP__JSON_NOT_NEGATIVE},
      {.key = "gbytes_per_s", .number = &kernels->gbytes_per_s, .range = TP__JSON_POSITIVE},
      {.key = "push_bytes", .number = &push_bytes, .range = TP__JSON_NOT_NEGATIVE},
      {.key = "pulls", .read = read_pulls, .to = kernels},
  };
  tp_status status =
      tp__json_object(r, object, "an object with signal_us, gbytes_per_s, push_bytes and pulls",
                      TP__COUNT(fields), fields);
  kernels->push_bytes = (int64_t)push_bytes;
  return status;
}

/* ---- levels ---- */

/* Checks that a level holds more devices than the one inside it. Only the outermost level may omit
 * its number. */
static tp_status check_order(const tp__json_reader *r, const tp_machine *machine,
                             const tp__level *level) {
  const tp__level *inner = level - 1;
  if (level == machine->levels)
    return TP_OK;
  if (inner->devices == 0)
    return tp__json_wrong(r, "an earlier level has no \"devices\" and so spans all devices; only "
                             "the last level may omit it");
  if (level->devices != 0 && level->devices <= inner->devices)
    return tp__json_wrong(r,
                          "it has %lld devices, but the level inside it has %lld; list levels from "
                          "the innermost to the outermost",
                          (long long)level->devices, (long long)inner->devices);
  return TP_OK;
}

static tp_status read_text(tp__json_reader *r, json_t *text, void *to) {
  (void)to;
  return json_is_string(text) ? TP_OK
                              : tp__json_wrong(r, "expected a text, found %s", tp__json_type(text));
}

static tp_status read_level(tp__json_reader *r, json_t *object, void *to) {
  tp_machine *machine = to;
  tp__level *level = &machine->levels[machine->n_levels++];
  double devices = 0;
  const tp__json_field fields[] = {
      {.key = "name", .read = read_text, .optional = true},
      {.key = "devices", .number = &devices, .range = TP__JSON_GROUP, .optional = true},
      {.key = "doubling_us", .number = &level->doubling_us, .range = TP__JSON_NOT_NEGATIVE},
      {.key = "lines", .read = read_lines, .to = level},
      {.key = "kernels", .read = read_kernels, .to = &level->kernels, .optional = true},
  };
  tp_status status = tp__json_object(r, object, "an object with devices, doubling_us and lines",
                                     TP__COUNT(fields), fields);
  level->devices = (int64_t)devices;
  return status ? status : check_order(r, machine, level);
}

static tp_status read_levels(tp__json_reader *r, json_t *levels, void *to) {
  return tp__json_short_list(r, levels, "a list of levels", TP_MAX_LEVELS, "levels", read_level,
                             to);
}

/* ---- the file ---- */

#define SCHEMA "tpshard.topology/1"

static tp_status read_schema(tp__json_reader *r, json_t *text, void *to) {
  static const char schema[] = SCHEMA;
  TP_TRY(read_text(r, text, to));
  if (strcmp(json_string_value(text), schema) != 0)
    return tp__json_wrong(r, "expected \"%s\", found \"%.40s\"", schema, json_string_value(text));
  return TP_OK;
}

static tp_status read_name(tp__json_reader *r, json_t *name, void *to) {
  tp_status status = read_text(r, name, NULL);
  size_t length = json_string_length(name);
  if (status == TP_OK && (length == 0 || length >= TP_MAX_AXIS_NAME))
    status = tp__json_wrong(r, "expected a name of 1 to %d bytes, found one of %zu",
                            TP_MAX_AXIS_NAME - 1, length);
  if (status == TP_OK)
    snprintf(to, TP_MAX_AXIS_NAME, "%s", json_string_value(name));
  return status;
}

static tp_status read_root(tp__json_reader *r, json_t *root, tp_machine *machine) {
  const tp__json_field fields[] = {
      {.key = "schema", .read = read_schema},
      {.key = "name", .read = read_name, .to = machine->device.name},
      {.key = "description", .read = read_text, .optional = true},
      {.key = "source", .read = read_text, .optional = true},
      {.key = "certainty", .read = read_text, .optional = true},
      {.key = "device", .read = read_device, .to = &machine->device},
      {.key = "levels", .read = read_levels, .to = machine},
  };
  if (json_is_object(root) && !json_object_get(root, "schema"))
    return tp__json_wrong(r, "the key \"schema\" is missing; a topology begins with {\"schema\": "
                             "\"" SCHEMA "\", \"name\": ...");
  /* Checks the schema before the other keys, which it defines. */
  tp_status status = json_is_object(root) ? tp__json_member(r, root, &fields[0]) : TP_OK;
  return status ? status
                : tp__json_object(r, root, "an object with the keys of a topology",
                                  TP__COUNT(fields), fields);
}

/* Reports the position where the text stops being JSON. */
static tp_status not_json(const tp__json_reader *r, const json_error_t *error) {
  if (r->why)
    snprintf(r->why, r->why_size, "%s:%d: invalid JSON: %s", r->label, error->line, error->text);
  return json_error_code(error) == json_error_out_of_memory ? TP_NO_MEMORY : TP_INVALID_ARGUMENT;
}

tp_status tp_machine_parse(const char *label, const char *text, size_t length, char *why,
                           size_t why_size, tp_machine **machine) {
  json_error_t error;
  tp__json_reader r = {
      .label = label, .text = text, .length = length, .why = why, .why_size = why_size};
  tp_machine *made = tp__calloc(1, sizeof *made);
  if (!made) {
    if (why)
      snprintf(why, why_size, "out of memory while reading \"%s\"", label);
    return TP_NO_MEMORY;
  }
  json_t *root = json_loadb(text, length, JSON_REJECT_DUPLICATES | JSON_DECODE_INT_AS_REAL, &error);
  tp_status status = root ? read_root(&r, root, made) : not_json(&r, &error);
  json_decref(root);
  if (status == TP_OK)
    *machine = made;
  else
    tp__free(made);
  return status;
}
