/* Topology files: JSON, checked key by key. docs/reference/topology.md describes them. */
#include "sharding/topology.h"

#include "support/json_line.h"
#include "support/support.h"

#include <jansson.h>
#include <math.h>
#include <stdio.h>
#include <string.h>

static const char schema[] = "tpshard.topology/1";

const char *tp_peak_name(tp_peak peak) {
  static const char *const names[TP_N_PEAKS] = {
      [TP_PEAK_F32] = "f32", [TP_PEAK_F64] = "f64", [TP_PEAK_F16] = "f16", [TP_PEAK_F8] = "f8", [TP_PEAK_I8] = "i8",
  };
  return (unsigned)peak < TP_N_PEAKS ? names[peak] : "unknown";
}

enum { MAX_STEPS = 8, MAX_PATH_TEXT = 160 };

typedef struct reader {
  const char *label, *text;
  size_t length;
  char *why; /* may be NULL */
  size_t why_size;
  int n_steps;
  tp__json_step steps[MAX_STEPS]; /* to the value at hand */
  tp_machine *machine;
} reader;

/* ---- messages ---- */

static void print_path(const reader *r, char *text, size_t size) {
  size_t length = 0;
  for (int i = 0; i < r->n_steps; i++) {
    if (r->steps[i].key)
      tp__text_printf(text, size, &length, "%s%.40s", i ? "." : "", r->steps[i].key);
    else
      tp__text_printf(text, size, &length, "[%d]", r->steps[i].index);
  }
  if (r->n_steps == 0)
    snprintf(text, size, "the file");
}

TP__PRINTF(2, 3) static tp_status wrong(const reader *r, const char *format, ...) {
  char path[MAX_PATH_TEXT];
  size_t length = 0;
  va_list args;
  if (!r->why || r->why_size == 0)
    return TP_INVALID_ARGUMENT;
  print_path(r, path, sizeof path);
  tp__text_printf(r->why, r->why_size, &length, "%s:%d: %s: ", r->label,
                  tp__json_line(r->text, r->length, r->n_steps, r->steps), path);
  va_start(args, format);
  if (length < r->why_size)
    vsnprintf(r->why + length, r->why_size - length, format, args);
  va_end(args);
  return TP_INVALID_ARGUMENT;
}

static const char *type_name(const json_t *value) {
  switch (json_typeof(value)) {
  case JSON_OBJECT:
    return "an object";
  case JSON_ARRAY:
    return "a list";
  case JSON_STRING:
    return "a text";
  case JSON_NULL:
    return "null";
  case JSON_TRUE:
  case JSON_FALSE:
    return "a truth value";
  default:
    return "a number";
  }
}

/* ---- steps ---- */

static void step_in(reader *r, const char *key, int index) { r->steps[r->n_steps++] = (tp__json_step){key, index}; }
static void step_out(reader *r) { r->n_steps--; }

/* `value` is an object, list, ... as the table of its owner says. */
static tp_status check_type(const reader *r, const json_t *value, json_type type, const char *what) {
  return json_typeof(value) == type ? TP_OK : wrong(r, "expected %s, found %s", what, type_name(value));
}

/* The member `key` of `object`, which has to be there. */
static tp_status member(const reader *r, const json_t *object, const char *key, json_t **value) {
  *value = json_object_get(object, key);
  return *value ? TP_OK : wrong(r, "the key \"%s\" is missing", key);
}

/* Every key of `object` is one of the n `keys`. */
static tp_status check_keys(reader *r, json_t *object, int n, const char *const *keys) {
  const char *key;
  json_t *value;
  json_object_foreach(object, key, value) {
    bool known = false;
    for (int i = 0; i < n; i++)
      known |= strcmp(key, keys[i]) == 0;
    if (known)
      continue;
    char list[256] = "";
    size_t length = 0;
    for (int i = 0; i < n; i++)
      tp__text_printf(list, sizeof list, &length, "%s%s", i ? ", " : "", keys[i]);
    step_in(r, key, 0);
    return wrong(r, "there is no such key here; there are %s", list);
  }
  return TP_OK;
}

/* ---- numbers ---- */

#define MAX_NUMBER 1e15

/* What a number may be. */
typedef enum range { POSITIVE, NOT_NEGATIVE, SHARE, COUNT, GROUP } range;

static const struct {
  const char *text;
  double least, most;
  bool open, whole; /* open: `least` itself is not allowed */
} ranges[] = {
    [POSITIVE] = {"a number above 0 and at most 1e15", 0, MAX_NUMBER, true, false},
    [NOT_NEGATIVE] = {"a number from 0 to 1e15", 0, MAX_NUMBER, false, false},
    [SHARE] = {"a number above 0 and at most 1", 0, 1, true, false},
    [COUNT] = {"a whole number from 1 to 1e15", 1, MAX_NUMBER, false, true},
    [GROUP] = {"a whole number of devices, from 2 to 2147483647", 2, 2147483647, false, true},
};

static tp_status number(const reader *r, const json_t *value, range kind, double *out) {
  if (!json_is_number(value))
    return wrong(r, "expected %s, found %s", ranges[kind].text, type_name(value));
  double x = json_number_value(value);
  if (!(x >= ranges[kind].least && x <= ranges[kind].most) || (ranges[kind].open && x == ranges[kind].least) ||
      (ranges[kind].whole && x != floor(x)))
    return wrong(r, "expected %s, found %.9g", ranges[kind].text, x);
  *out = x;
  return TP_OK;
}

static tp_status number_at(reader *r, const json_t *object, const char *key, range kind, double *out) {
  json_t *value;
  tp_status status = member(r, object, key, &value);
  if (status != TP_OK)
    return status;
  step_in(r, key, 0);
  status = number(r, value, kind, out);
  step_out(r);
  return status;
}

/* As number_at, but the key may be missing: then *out stays. */
static tp_status optional_at(reader *r, const json_t *object, const char *key, range kind, double *out) {
  return json_object_get(object, key) ? number_at(r, object, key, kind, out) : TP_OK;
}

/* ---- the device ---- */

static tp_status read_peaks(reader *r, json_t *peaks, double *gflops) {
  const char *names[TP_N_PEAKS];
  /* Where a class is missing: slower hardware for wider numbers, no faster one for narrower ones. */
  static const struct {
    tp_peak of, from;
    double share;
  } defaults[] = {{TP_PEAK_F64, TP_PEAK_F32, 0.5}, {TP_PEAK_F8, TP_PEAK_F16, 1}, {TP_PEAK_I8, TP_PEAK_F16, 1}};
  for (int i = 0; i < TP_N_PEAKS; i++)
    names[i] = tp_peak_name((tp_peak)i);
  tp_status status = check_type(r, peaks, JSON_OBJECT, "an object with a number for f32, f16, ...");
  if (status == TP_OK)
    status = check_keys(r, peaks, TP_N_PEAKS, names);
  for (int i = 0; i < TP_N_PEAKS && status == TP_OK; i++)
    status = (i == TP_PEAK_F32 || i == TP_PEAK_F16) ? number_at(r, peaks, names[i], POSITIVE, &gflops[i])
                                                    : optional_at(r, peaks, names[i], POSITIVE, &gflops[i]);
  for (size_t i = 0; i < TP__COUNT(defaults); i++)
    if (gflops[defaults[i].of] == 0)
      gflops[defaults[i].of] = defaults[i].share * gflops[defaults[i].from];
  return status;
}

static tp_status read_device(reader *r, json_t *device) {
  static const char *const keys[] = {"gflops",    "elementwise_gops", "memory_gbytes_per_s", "memory_bytes",
                                     "launch_us", "efficiency",       "min_gemm_dim"};
  tp_topology *t = &r->machine->device;
  json_t *peaks = NULL;
  double memory_bytes = 0, min_gemm_dim = 0;
  tp_status status = check_type(r, device, JSON_OBJECT, "an object with the keys of a device");
  if (status == TP_OK)
    status = check_keys(r, device, TP__COUNT(keys), keys);
  if (status == TP_OK)
    status = member(r, device, "gflops", &peaks);
  if (status != TP_OK)
    return status;
  step_in(r, "gflops", 0);
  status = read_peaks(r, peaks, t->gflops);
  step_out(r);
  struct {
    const char *key;
    range kind;
    bool optional;
    double *to;
  } const fields[] = {
      {"elementwise_gops", POSITIVE, false, &t->elementwise_gops},
      {"memory_gbytes_per_s", POSITIVE, false, &t->memory_gbytes_per_s},
      {"memory_bytes", COUNT, true, &memory_bytes},
      {"launch_us", NOT_NEGATIVE, false, &t->launch_us},
      {"efficiency", SHARE, false, &t->efficiency},
      {"min_gemm_dim", COUNT, true, &min_gemm_dim},
  };
  for (size_t i = 0; i < TP__COUNT(fields) && status == TP_OK; i++)
    status = fields[i].optional ? optional_at(r, device, fields[i].key, fields[i].kind, fields[i].to)
                                : number_at(r, device, fields[i].key, fields[i].kind, fields[i].to);
  t->memory_bytes = (int64_t)memory_bytes;
  t->min_gemm_dim = (int64_t)min_gemm_dim;
  return status;
}

/* ---- lines ---- */

static bool kind_of(const char *name, int *kind) {
  for (*kind = 0; *kind < TP_N_COLLECTIVES; ++*kind)
    if (strcmp(name, tp_collective_name((tp_collective)*kind)) == 0)
      return true;
  return false;
}

static tp_status add_row(const reader *r, tp__level *level, int kind, const tp__line_row *row) {
  int n = level->n_rows[kind];
  if (n == TP__MAX_ROWS)
    return wrong(r, "there are more than %d lines of %s", TP__MAX_ROWS, tp_collective_name((tp_collective)kind));
  if (n > 0 && level->rows[kind][n - 1].n >= row->n)
    return wrong(r, "n is %lld, but an earlier line of %s has n %lld; lines of one kind ascend", (long long)row->n,
                 tp_collective_name((tp_collective)kind), (long long)level->rows[kind][n - 1].n);
  level->rows[kind][n] = *row;
  level->n_rows[kind]++;
  return TP_OK;
}

static tp_status add_kinds(reader *r, const json_t *kinds, tp__level *level, const tp__line_row *row) {
  static const char what[] = "a list of all_gather, reduce_scatter, all_reduce, all_to_all, permute, broadcast";
  tp_status status = check_type(r, kinds, JSON_ARRAY, what);
  if (status == TP_OK && json_array_size(kinds) == 0)
    status = wrong(r, "expected %s, found nothing", what);
  for (size_t i = 0; i < json_array_size(kinds) && status == TP_OK; i++) {
    const json_t *name = json_array_get(kinds, i);
    int kind;
    step_in(r, NULL, (int)i);
    if (!json_is_string(name))
      status = wrong(r, "expected the name of a collective, found %s", type_name(name));
    else if (!kind_of(json_string_value(name), &kind))
      status = wrong(r, "expected one of %s, found \"%.40s\"", what + strlen("a list of "), json_string_value(name));
    else
      status = add_row(r, level, kind, row);
    step_out(r);
  }
  return status;
}

static tp_status read_latency(reader *r, json_t *latency, tp_line *line) {
  static const char *const keys[] = {"alpha_us", "gbytes_per_s"};
  tp_status status = check_type(r, latency, JSON_OBJECT, "an object with alpha_us and gbytes_per_s");
  if (status == TP_OK)
    status = check_keys(r, latency, TP__COUNT(keys), keys);
  if (status == TP_OK)
    status = number_at(r, latency, "alpha_us", NOT_NEGATIVE, &line->alpha_us);
  if (status == TP_OK)
    status = number_at(r, latency, "gbytes_per_s", POSITIVE, &line->gbytes_per_s);
  return status;
}

static tp_status read_line(reader *r, json_t *object, tp__level *level) {
  static const char *const keys[] = {"kinds", "n", "alpha_us", "gbytes_per_s", "latency"};
  tp__line_row row = {0};
  double n = 0;
  json_t *kinds = NULL, *latency;
  tp_status status = check_type(r, object, JSON_OBJECT, "an object with kinds, n, alpha_us and gbytes_per_s");
  if (status == TP_OK)
    status = check_keys(r, object, TP__COUNT(keys), keys);
  if (status == TP_OK)
    status = number_at(r, object, "n", GROUP, &n);
  if (status == TP_OK)
    status = number_at(r, object, "alpha_us", NOT_NEGATIVE, &row.line.alpha_us);
  if (status == TP_OK)
    status = number_at(r, object, "gbytes_per_s", POSITIVE, &row.line.gbytes_per_s);
  if (status == TP_OK && (latency = json_object_get(object, "latency"))) {
    step_in(r, "latency", 0);
    status = read_latency(r, latency, &row.latency_line);
    step_out(r);
  }
  if (status == TP_OK)
    status = member(r, object, "kinds", &kinds);
  if (status != TP_OK)
    return status;
  row.n = (int64_t)n;
  step_in(r, "kinds", 0);
  status = add_kinds(r, kinds, level, &row);
  step_out(r);
  return status;
}

static tp_status read_lines(reader *r, const json_t *lines, tp__level *level) {
  tp_status status = check_type(r, lines, JSON_ARRAY, "a list of lines");
  for (size_t i = 0; i < json_array_size(lines) && status == TP_OK; i++) {
    step_in(r, NULL, (int)i);
    status = read_line(r, json_array_get(lines, i), level);
    step_out(r);
  }
  for (int kind = 0; kind < TP_N_COLLECTIVES && status == TP_OK; kind++)
    if (level->n_rows[kind] == 0)
      status = wrong(r, "there is no line of %s", tp_collective_name((tp_collective)kind));
  return status;
}

/* ---- kernels that reach other devices ---- */

static tp_status read_pull(reader *r, json_t *object, tp_kernels *kernels) {
  static const char *const keys[] = {"n", "bytes"};
  double n = 0, bytes = 0;
  tp_status status = check_type(r, object, JSON_OBJECT, "an object with n and bytes");
  if (status == TP_OK)
    status = check_keys(r, object, TP__COUNT(keys), keys);
  if (status == TP_OK)
    status = number_at(r, object, "n", GROUP, &n);
  if (status == TP_OK)
    status = number_at(r, object, "bytes", NOT_NEGATIVE, &bytes);
  if (status != TP_OK)
    return status;
  if (kernels->n_pulls > 0 && kernels->pulls[kernels->n_pulls - 1].n >= (int64_t)n)
    return wrong(r, "n is %lld, but an earlier one is %lld; they ascend", (long long)n,
                 (long long)kernels->pulls[kernels->n_pulls - 1].n);
  kernels->pulls[kernels->n_pulls].n = (int64_t)n;
  kernels->pulls[kernels->n_pulls++].bytes = (int64_t)bytes;
  return TP_OK;
}

static tp_status read_pulls(reader *r, const json_t *pulls, tp_kernels *kernels) {
  size_t n = json_array_size(pulls);
  tp_status status = check_type(r, pulls, JSON_ARRAY, "a list of objects with n and bytes");
  if (status == TP_OK && (n == 0 || n > TP_MAX_PULLS))
    status = wrong(r, "expected 1 to %d objects, found %zu", TP_MAX_PULLS, n);
  for (size_t i = 0; i < n && status == TP_OK; i++) {
    step_in(r, NULL, (int)i);
    status = read_pull(r, json_array_get(pulls, i), kernels);
    step_out(r);
  }
  return status;
}

static tp_status read_kernels(reader *r, json_t *object, tp_kernels *kernels) {
  static const char *const keys[] = {"signal_us", "gbytes_per_s", "push_bytes", "pulls"};
  double push_bytes = 0;
  json_t *pulls = NULL;
  tp_status status = check_type(r, object, JSON_OBJECT, "an object with signal_us, gbytes_per_s, push_bytes and pulls");
  if (status == TP_OK)
    status = check_keys(r, object, TP__COUNT(keys), keys);
  if (status == TP_OK)
    status = number_at(r, object, "signal_us", NOT_NEGATIVE, &kernels->signal_us);
  if (status == TP_OK)
    status = number_at(r, object, "gbytes_per_s", POSITIVE, &kernels->gbytes_per_s);
  if (status == TP_OK)
    status = number_at(r, object, "push_bytes", NOT_NEGATIVE, &push_bytes);
  if (status == TP_OK)
    status = member(r, object, "pulls", &pulls);
  if (status != TP_OK)
    return status;
  kernels->push_bytes = (int64_t)push_bytes;
  step_in(r, "pulls", 0);
  status = read_pulls(r, pulls, kernels);
  step_out(r);
  return status;
}

/* ---- levels ---- */

static tp_status read_level(reader *r, json_t *object, tp__level *level) {
  static const char *const keys[] = {"name", "devices", "doubling_us", "lines", "kernels"};
  double devices = 0;
  json_t *lines = NULL, *kernels;
  tp_status status = check_type(r, object, JSON_OBJECT, "an object with devices, doubling_us and lines");
  if (status == TP_OK)
    status = check_keys(r, object, TP__COUNT(keys), keys);
  if (status == TP_OK)
    status = optional_at(r, object, "devices", GROUP, &devices);
  if (status == TP_OK)
    status = number_at(r, object, "doubling_us", NOT_NEGATIVE, &level->doubling_us);
  if (status == TP_OK)
    status = member(r, object, "lines", &lines);
  if (status != TP_OK)
    return status;
  level->devices = (int64_t)devices;
  step_in(r, "lines", 0);
  status = read_lines(r, lines, level);
  step_out(r);
  if (status == TP_OK && (kernels = json_object_get(object, "kernels"))) {
    step_in(r, "kernels", 0);
    status = read_kernels(r, kernels, &level->kernels);
    step_out(r);
  }
  return status;
}

/* A level holds more devices than the one inside it; only the outermost may leave their number open. */
static tp_status check_order(const reader *r, int i) {
  const tp__level *level = &r->machine->levels[i], *inner = level - 1;
  if (i > 0 && inner->devices == 0)
    return wrong(r, "a level in front of it has no \"devices\" and so holds all; only the last may leave them out");
  if (i > 0 && level->devices != 0 && level->devices <= inner->devices)
    return wrong(r, "it has %lld devices, the level inside it has %lld; levels go from the innermost to the outermost",
                 (long long)level->devices, (long long)inner->devices);
  return TP_OK;
}

static tp_status read_levels(reader *r, const json_t *levels) {
  size_t n = json_array_size(levels);
  tp_status status = check_type(r, levels, JSON_ARRAY, "a list of levels");
  if (status == TP_OK && (n == 0 || n > TP_MAX_LEVELS))
    status = wrong(r, "expected 1 to %d levels, found %zu", TP_MAX_LEVELS, n);
  for (size_t i = 0; i < n && status == TP_OK; i++) {
    step_in(r, NULL, (int)i);
    status = read_level(r, json_array_get(levels, i), &r->machine->levels[i]);
    if (status == TP_OK)
      status = check_order(r, (int)i);
    step_out(r);
  }
  r->machine->n_levels = (int)n;
  return status;
}

/* ---- the file ---- */

static tp_status read_texts(reader *r, const json_t *root) {
  static const char *const keys[] = {"schema", "name", "description", "source", "certainty"};
  static const int n_required = 2;
  tp_status status = TP_OK;
  for (int i = 0; i < (int)TP__COUNT(keys) && status == TP_OK; i++) {
    const json_t *text = json_object_get(root, keys[i]);
    if (!text && i < n_required)
      return wrong(r, "the key \"%s\" is missing", keys[i]);
    step_in(r, keys[i], 0);
    if (text)
      status = check_type(r, text, JSON_STRING, "a text");
    if (status == TP_OK && i == 0 && strcmp(json_string_value(text), schema) != 0)
      status = wrong(r, "expected \"%s\", found \"%.40s\"", schema, json_string_value(text));
    step_out(r);
  }
  return status;
}

static tp_status read_name(reader *r, const json_t *root) {
  const json_t *name = json_object_get(root, "name");
  size_t length = json_string_length(name);
  step_in(r, "name", 0);
  if (length == 0 || length >= TP_MAX_AXIS_NAME)
    return wrong(r, "expected a name of 1 to %d bytes, found one of %zu", TP_MAX_AXIS_NAME - 1, length);
  snprintf(r->machine->device.name, TP_MAX_AXIS_NAME, "%s", json_string_value(name));
  step_out(r);
  return TP_OK;
}

static tp_status read_root(reader *r, json_t *root) {
  static const char *const keys[] = {"schema", "name", "description", "source", "certainty", "device", "levels"};
  json_t *part = NULL;
  tp_status status = check_type(r, root, JSON_OBJECT, "an object with the keys of a topology");
  if (status == TP_OK)
    status = read_texts(r, root); /* before the other keys: they are those of this schema */
  if (status == TP_OK)
    status = check_keys(r, root, TP__COUNT(keys), keys);
  if (status == TP_OK)
    status = read_name(r, root);
  if (status == TP_OK)
    status = member(r, root, "device", &part);
  if (status != TP_OK)
    return status;
  step_in(r, "device", 0);
  status = read_device(r, part);
  step_out(r);
  if (status == TP_OK)
    status = member(r, root, "levels", &part);
  if (status != TP_OK)
    return status;
  step_in(r, "levels", 0);
  status = read_levels(r, part);
  step_out(r);
  return status;
}

/* jansson says where the text stops being JSON. */
static tp_status not_json(const reader *r, const json_error_t *error) {
  if (r->why)
    snprintf(r->why, r->why_size, "%s:%d: this is not JSON: %s", r->label, error->line, error->text);
  return json_error_code(error) == json_error_out_of_memory ? TP_NO_MEMORY : TP_INVALID_ARGUMENT;
}

tp_status tp_machine_parse(const char *label, const char *text, size_t length, char *why, size_t why_size,
                           tp_machine **machine) {
  json_error_t error;
  reader r = {.label = label, .text = text, .length = length, .why = why, .why_size = why_size};
  r.machine = tp__calloc(1, sizeof *r.machine);
  if (!r.machine) {
    if (why)
      snprintf(why, why_size, "no memory to read \"%s\"", label);
    return TP_NO_MEMORY;
  }
  json_t *root = json_loadb(text, length, JSON_REJECT_DUPLICATES | JSON_DECODE_INT_AS_REAL, &error);
  tp_status status = root ? read_root(&r, root) : not_json(&r, &error);
  json_decref(root);
  if (status == TP_OK)
    *machine = r.machine;
  else
    tp__free(r.machine);
  return status;
}
