/* shard-run-faulty: shard-run that injects one fault into the multi-device run. faults.py checks
 * that verification detects each fault.
 *
 *   FAULT=tile        one element of one rank's part of each result is wrong
 *   FAULT=both        the same, and one element of each result of one device is wrong, too
 *   FAULT=combiner:N  the N-th reducing collective uses another combiner
 *   FAULT=group:N     the N-th collective uses another group, or none
 *   FAULT=offset:N    the N-th device index is 0 on all devices
 *
 * The exit code is 77 if the fault does not apply to the program. The reference run has no fault,
 * except with `both`. */
#include "tools/shard-run/run.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

enum { NO_PLACE = 77 };

static const build *sharded; /* the program for all devices */

bool __real_build_partition(const options *o, MlirModule source, build_kind kind, build *b);
bool __wrap_build_partition(const options *o, MlirModule source, build_kind kind, build *b);
bool __real_build_object(const options *o, run_target target, emit_form form, build *b);
bool __wrap_build_object(const options *o, run_target target, emit_form form, build *b);
bool __real_outputs_join(const tp_plan *plan, const launch *l, array **whole);
bool __wrap_outputs_join(const tp_plan *plan, const launch *l, array **whole);

static bool wants(const char *kind, int *n) {
  const char *fault = getenv("FAULT");
  size_t length = strlen(kind);
  if (!fault || strncmp(fault, kind, length) != 0 || (fault[length] && fault[length] != ':'))
    return false;
  *n = fault[length] ? atoi(fault + length + 1) : 0;
  return true;
}

static void no_place(void) {
  fflush(NULL);
  _Exit(NO_PLACE);
}

/* ---- Program text ---- */

typedef struct text {
  char *chars;
  size_t n, capacity;
} text;

static void add(text *t, const char *from, size_t n) {
  if (t->n + n + 1 > t->capacity) {
    t->capacity = 2 * (t->n + n + 1);
    t->chars = realloc(t->chars, t->capacity);
    if (!t->chars)
      abort();
  }
  memcpy(t->chars + t->n, from, n);
  t->n += n;
  t->chars[t->n] = 0;
}

static void add_ref(MlirStringRef part, void *data) { add(data, part.data, part.length); }

/* Changes ' reduction = KIND' after the axes; it is absent for a sum. */
static bool change_combiner(const char *line, text *to) {
  const char *end = strchr(line, ']'), *said = strstr(line, " reduction = ");
  if ((!strstr(line, "shard.all_reduce ") && !strstr(line, "shard.reduce_scatter ")) || !end ||
      strstr(line, "tp.combiner"))
    return false;
  const char *rest = said ? said + strlen(" reduction = ") : end + 1;
  const char *other = said ? " reduction = sum" : " reduction = max";
  if (said)
    rest += strspn(rest, "abcdefghijklmnopqrstuvwxyz_");
  add(to, line, (size_t)((said ? said : end + 1) - line));
  add(to, other, strlen(other));
  add(to, rest, strlen(rest));
  return true;
}

/* Changes the axes [i] to another axis; with a single axis, to none. */
static bool change_group(const char *line, int n_axes, text *to) {
  const char *axes = strstr(line, "grid_axes = [");
  if (!axes)
    return false;
  char *end, other[16] = "";
  long axis = strtol(axes + strlen("grid_axes = ["), &end, 10);
  if (*end != ']' || (n_axes < 2 && !strstr(line, "shard.all_reduce ")))
    return false;
  if (n_axes > 1)
    snprintf(other, sizeof other, "%ld", (axis + 1) % n_axes);
  add(to, line, (size_t)(axes - line) + strlen("grid_axes = ["));
  add(to, other, strlen(other));
  add(to, end, strlen(end));
  return true;
}

/* Replaces %a, %b = shard.process_multi_index ... by one constant each. */
static bool change_offset(const char *line, text *to) {
  const char *op = strstr(line, " = shard.process_"), *name = strchr(line, '%');
  if (!op || !name || strchr(line, ':') < op) /* %a:2 */
    return false;
  for (; name && name < op; name = strchr(name, '%')) {
    size_t n = 1 + strcspn(name + 1, ", =");
    add(to, name, n);
    add(to, " = arith.constant 0 : index\n", strlen(" = arith.constant 0 : index\n"));
    name += n;
  }
  return true;
}

static bool change_line(const char *kind, const char *line, int n_axes, text *to) {
  return strcmp(kind, "combiner") == 0 ? change_combiner(line, to)
         : strcmp(kind, "group") == 0  ? change_group(line, n_axes, to)
                                       : change_offset(line, to);
}

static MlirModule change_program(MlirModule module, const char *kind, int place, int n_axes) {
  text old = {0}, made = {0};
  mlirOperationPrint(mlirModuleGetOperation(module), add_ref, &old);
  bool done = false;
  for (char *line = strtok(old.chars, "\n"); line; line = strtok(NULL, "\n")) {
    size_t kept = made.n;
    if (!done && change_line(kind, line, n_axes, &made)) {
      done = place-- == 0;
      if (!done)
        made.n = kept;
    }
    if (made.n == kept)
      add(&made, line, strlen(line));
    add(&made, "\n", 1);
  }
  if (!done)
    no_place();
  MlirModule changed = mlirModuleCreateParse(mlirModuleGetContext(module),
                                             mlirStringRefCreateFromCString(made.chars));
  free(old.chars);
  free(made.chars);
  if (mlirModuleIsNull(changed)) /* types do not match: the fault does not apply here */
    no_place();
  return changed;
}

/* ---- Wrapped functions ---- */

bool __wrap_build_partition(const options *o, MlirModule source, build_kind kind, build *b) {
  if (kind == BUILD_SHARDED)
    sharded = b;
  return __real_build_partition(o, source, kind, b);
}

bool __wrap_build_object(const options *o, run_target target, emit_form form, build *b) {
  static const char *const kinds[] = {"combiner", "group", "offset"};
  int place;
  for (int i = 0; i < 3 && b == sharded; i++)
    if (wants(kinds[i], &place)) {
      MlirModule changed = change_program(b->module, kinds[i], place, b->shape->mesh.n_axes);
      mlirModuleDestroy(b->module);
      b->module = changed;
    }
  return __real_build_object(o, target, form, b);
}

/* Adds an error to result k: 1e-3 of the largest element; for types of lower precision, more than
 * their tolerance; for integers 1. False for an empty result. */
static bool spoil(const tp_plan *plan, const launch *l, int k) {
  const array *first = l->outputs[0] + k;
  double largest = 0, error = fmax(1e-3, 1.5 * compare_tolerance(first->type, false));
  int64_t from, size, at = 0;
  for (int r = 0; r < l->n_ranks; r++)
    for (int64_t i = 0; i < array_numbers(l->outputs[r] + k); i++) {
      double x = fabs(array_get(l->outputs[r] + k, i));
      largest = isfinite(x) ? fmax(largest, x) : largest;
    }
  /* the last rank with valid elements: the middle of those */
  int rank = l->n_ranks - 1;
  bool is_empty = true;
  for (; rank >= 0 && is_empty; rank -= is_empty) {
    is_empty = false;
    at = 0;
    for (int d = 0; d < first->rank; d++) {
      tp_spec_shard(&plan->mesh, plan->results[k].spec, d, plan->results[k].shape[d], rank, &from,
                    &size);
      is_empty |= size <= 0;
      at = at * first->shape[d] + size / 2;
    }
  }
  if (rank < 0)
    return false;
  array *part = l->outputs[rank] + k;
  at *= part->type->parts;
  for (int64_t n = array_numbers(part), i = 0; i < n && at < n && !isfinite(array_get(part, at));
       i++)
    at = (at + 1) % n; /* an infinity would hide a small error */
  if (at >= array_numbers(part))
    return false;
  double x = array_get(part, at);
  array_set(part, at,
            part->type->kind == 'f'   ? x + error * (largest > 0 ? largest : 1)
            : part->type->kind == 'b' ? x == 0
                                      : x + 1);
  return true;
}

bool __wrap_outputs_join(const tp_plan *plan, const launch *l, array **whole) {
  int place;
  bool both = wants("both", &place);
  if (both || (sharded && plan == sharded->shape && wants("tile", &place))) {
    bool done = false;
    for (int k = 0; k < l->n_outputs && (both || l->n_ranks > 1); k++)
      done |= spoil(plan, l, k);
    if (!done) /* there are no results */
      no_place();
  }
  return __real_outputs_join(plan, l, whole);
}
