/* Reads arguments and expected results from files, draws arguments from a seed, and creates their
 * shards. */
#include "run.h"

#include <ctype.h>
#include <glob.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

static uint64_t next_random(uint64_t *state) { /* splitmix64 */
  uint64_t z = (*state += UINT64_C(0x9E3779B97F4A7C15));
  z = (z ^ z >> 30) * UINT64_C(0xBF58476D1CE4E5B9);
  z = (z ^ z >> 27) * UINT64_C(0x94D049BB133111EB);
  return z ^ z >> 31;
}

/* Upper bound for integers of unknown use: small enough to index most dimensions. */
enum { HIGHEST_INTEGER = 3 };

/* Fills an array with random values. Floats are normal, with the deviation that suits their use.
 * Integers are uniform from 0 to the limit of their use as indices; booleans are uniform. The
 * values depend on the seed, the argument and its range; integers of unknown use depend only on the
 * seed and the argument. */
static void draw(array *a, uint64_t seed, int argument, const tp_input_range *range) {
  uint64_t state = seed * UINT64_C(0xD1342543DE82EF95) + (uint64_t)argument + 1;
  int64_t n = array_numbers(a), high = range->high < 0 ? HIGHEST_INTEGER : range->high;
  if (a->type->kind == 'i' && a->type->size == 1 && high > 127)
    high = 127;
  for (int64_t i = 0; i < n; i++) {
    uint64_t bits = next_random(&state);
    double value = (double)((bits >> 32) * (uint64_t)(high + 1) >> 32); /* uses the upper bits */
    if (high >= INT64_C(1) << 31)
      value = (double)(bits % (uint64_t)(high + 1));
    if (a->type->kind == 'b')
      value = (double)(bits >> 63);
    if (a->type->kind == 'f') { /* Box-Muller */
      double u = ((double)(bits >> 11) + 1) * 0x1p-53,
             v = (double)(next_random(&state) >> 11) * 0x1p-53;
      value = range->deviation * sqrt(-2 * log(u)) * cos(6.283185307179586 * v);
      value = range->is_positive ? fabs(value) : value;
    }
    array_set(a, i, value);
  }
}

/* "argument 2 (w1)" */
static const char *label(const tp_plan_value *value, const char *what, int i, char text[256]) {
  bool is_named = *value->name != 0;
  snprintf(text, 256, "%s %d%s%s%s", what, i, is_named ? " (" : "", value->name,
           is_named ? ")" : "");
  return text;
}

static bool describe(const tp_plan_value *value, const char *what, int i, array *a) {
  *a = (array){.type = element_find(value->element), .rank = value->rank};
  memcpy(a->shape, value->shape, sizeof a->shape);
  char text[256];
  if (!a->type)
    complain("%s has elements of type %s, which files and comparisons do not support",
             label(value, what, i, text), value->element);
  return a->type != NULL;
}

/* Returns the file of value `i`: from the list, else PREFIX.in.K.npy if it exists; NULL: none. */
static const char *find_file(const options *o, const text_list *list, const char *kind, int i,
                             char *path, size_t size) {
  if (i < list->n)
    return list->items[i];
  if (!o->inputs_from ||
      snprintf(path, size, "%s.%s.%d.npy", o->inputs_from, kind, i) >= (int)size ||
      access(path, F_OK) != 0)
    return NULL;
  return path;
}

/* Checks that there are not more files than values; otherwise it says what the values are. */
static bool check_count(int n_files, int n, const char *what, const tp_plan_value *values) {
  enum { MOST = 8 };
  char all[1024] = "", text[256];
  if (n_files <= n)
    return true;
  for (int i = 0; i < n && i < MOST; i++)
    snprintf(strchr(all, 0), sizeof all - strlen(all), "%s%.80s", i ? ", " : ": ",
             label(values + i, what, i, text));
  complain("%d files are given for %d %s%s%s%s; give one for each, in this order", n_files, n, what,
           n == 1 ? "" : "s", all, n > MOST ? ", ..." : "");
  return false;
}

bool outputs_fit(const options *o, const tp_plan *plan) {
  return check_count(o->save.n, plan->n_results, "result", plan->results);
}

static bool load(const options *o, const text_list *list, const char *kind, const char *what, int n,
                 const tp_plan_value *values, const tp_input_range *ranges, array **arrays) {
  if (!check_count(list->n, n, what, values))
    return false;
  array *made = calloc((size_t)n + 1, sizeof *made);
  bool ok = made != NULL;
  for (int i = 0; i < n && ok; i++) {
    char path[4096], why[4400], text[256], wanted[400];
    cli_suggestion closest;
    const char *file = find_file(o, list, kind, i, path, sizeof path);
    ok = describe(values + i, what, i, made + i);
    if (ok && file) {
      ok = npy_read(file, made + i, why, sizeof why);
      if (!ok && access(file, F_OK) == 0)
        complain("%s: %s", label(values + i, what, i, text), why);
      else if (!ok)
        complain("%s: %s%s; give %s", label(values + i, what, i, text), why,
                 cli_suggest_file(file, &closest), npy_describe(made + i, wanted));
    } else if (ok && ranges) {
      ok = array_create(made + i, made[i].type, made[i].rank, made[i].shape);
      if (ok)
        draw(made + i, o->seed, i, ranges + i);
      else
        complain("memory ran out");
    }
  }
  if (ok)
    *arrays = made;
  else if (made)
    arrays_clear(made, n);
  return ok;
}

/* Warns of files PREFIX.KIND.K.npy that belong to no value. */
static void warn_of_others(const options *o, const char *kind, const char *what, int n) {
  char pattern[4096], begin[4096];
  char numbers[64] = "";
  glob_t files;
  if (n > 0)
    snprintf(numbers, sizeof numbers, n > 1 ? ", with the numbers 0 to %d" : ", with the number %d",
             n - 1);
  if (snprintf(begin, sizeof begin, "%s.%s.", o->inputs_from, kind) >= (int)sizeof begin ||
      snprintf(pattern, sizeof pattern, "%s*.npy", begin) >= (int)sizeof pattern)
    return;
  if (glob(pattern, 0, NULL, &files) != 0)
    return;
  for (size_t i = 0; i < files.gl_pathc; i++) {
    const char *number = files.gl_pathv[i] + strlen(begin);
    char *end;
    long k = strtol(number, &end, 10);
    if (isdigit((unsigned char)*number) && strcmp(end, ".npy") == 0 && k >= n)
      cli_print("shard-run: warning: %s belongs to no %s; the program has %d%s\n",
                files.gl_pathv[i], what, n, numbers);
  }
  globfree(&files);
}

/* Says which arguments have random values although files are given for others. */
static void note_random(const options *o, int n, const tp_plan_value *values) {
  enum { MOST = 8 };
  char all[1024] = "", text[256], path[4096];
  int n_random = 0;
  for (int i = 0; i < n; i++)
    if (!find_file(o, &o->inputs, "in", i, path, sizeof path) && n_random++ < MOST)
      snprintf(strchr(all, 0), sizeof all - strlen(all), "%s%.80s", n_random > 1 ? ", " : "",
               label(values + i, "argument", i, text));
  if (n_random > 0 && n_random < n)
    cli_print("shard-run: note: no file is given for %s%s: random values from --seed %llu\n", all,
              n_random > MOST ? ", ..." : "", (unsigned long long)o->seed);
}

/* Refuses a prefix that no file has. The message says if it is a folder, or the name of a file. */
static void refuse_prefix(const char *prefix) {
  struct stat info;
  const char *kind = strstr(prefix, ".in.");
  bool exists = stat(prefix, &info) == 0;
  if (exists && S_ISREG(info.st_mode) && kind)
    complain("'%s' is a file, and --inputs-from takes what precedes .in.K.npy in its name; write "
             "--inputs-from %.*s",
             prefix, (int)(kind - prefix), prefix);
  else if (exists && S_ISREG(info.st_mode))
    complain("'%s' is a file, and --inputs-from takes a prefix of files; write --input @%s to read "
             "the first argument from it",
             prefix, prefix);
  else if (exists && S_ISDIR(info.st_mode))
    complain("'%s' is a folder, and --inputs-from takes a prefix of files: argument K is read from "
             "PREFIX.in.K.npy, such as %s/x.in.0.npy with --inputs-from %s/x",
             prefix, prefix, prefix);
  else
    complain("there is no file '%s.in.0.npy', and none for another argument; --inputs-from PREFIX "
             "reads argument K from PREFIX.in.K.npy",
             prefix);
}

/* Returns true if any file has the prefix. A prefix without files is a user error that random
 * arguments would hide. */
static bool prefix_exists(const options *o, const tp_plan *plan) {
  char path[4096];
  for (int i = 0; i < plan->n_arguments - plan->n_constants; i++)
    if (find_file(o, &(text_list){0}, "in", i, path, sizeof path))
      return true;
  refuse_prefix(o->inputs_from);
  return false;
}

bool inputs_load(const options *o, MlirModule module, const tp_plan *plan, array **inputs) {
  int n = plan->n_arguments - plan->n_constants;
  if (o->inputs_from && n > 0 && !prefix_exists(o, plan))
    return false;
  if (o->inputs_from) {
    warn_of_others(o, "in", "argument", n);
    warn_of_others(o, "out", "result", plan->n_results);
  }
  tp_input_range *ranges = calloc((size_t)plan->n_arguments + 1, sizeof *ranges);
  if (!ranges)
    complain("memory ran out");
  bool ok = ranges && tp_input_ranges(module, plan->function, ranges) == TP_OK &&
            load(o, &o->inputs, "in", "argument", n, plan->arguments, ranges, inputs);
  if (ok)
    note_random(o, n, plan->arguments);
  for (int i = 0; i < n && ok; i++) {
    char text[256], first[256];
    int64_t n_nan = array_count_nan(*inputs + i, first, sizeof first);
    if (n_nan > 0)
      cli_print(
          "shard-run: warning: %s has %lld NaN, the first at [%s]; what is computed from it is "
          "NaN, too\n",
          label(plan->arguments + i, "argument", i, text), (long long)n_nan, first);
  }
  free(ranges);
  return ok;
}

bool expected_load(const options *o, const tp_plan *plan, array **expected) {
  return load(o, &o->expected, "out", "result", plan->n_results, plan->results, NULL, expected);
}

array *constants_load(MlirModule module, const tp_plan *plan) {
  int first = plan->n_arguments - plan->n_constants;
  array *made = calloc((size_t)plan->n_constants + 1, sizeof *made);
  bool ok = made != NULL;
  for (int i = 0; i < plan->n_constants && ok; i++) {
    ok = describe(plan->arguments + first + i, "argument", first + i, made + i);
    if (ok && !array_create(made + i, made[i].type, made[i].rank, made[i].shape)) {
      complain("memory ran out for the constants of the program");
      ok = false;
    }
    ok = ok &&
         tp_plan_constant(module, plan, first + i, array_bytes(made + i), made[i].data) == TP_OK;
  }
  if (!ok && made) {
    arrays_clear(made, plan->n_constants);
    made = NULL;
  }
  return made;
}

void arrays_clear(array *arrays, int n) {
  for (int i = 0; arrays && i < n; i++)
    array_clear(arrays + i);
  free(arrays);
}

/* ---- Shards ---- */

/* Fills a shard with values that reveal any use of padding, whose contents are unspecified: NaN,
 * and -1, which is not a valid index. Booleans stay valid booleans. */
static void spoil(array *shard) {
  if (shard->type->kind != 'b')
    memset(shard->data, 0xff, array_bytes(shard));
}

static bool create_shard(const tp_plan *plan, const tp_plan_value *value, const array *whole,
                         int rank, array *shard) {
  int64_t from[TP_MAX_RANK] = {0}, to[TP_MAX_RANK] = {0}, size[TP_MAX_RANK];
  if (!array_create(shard, element_find(value->element), value->rank, value->local))
    return false;
  for (int d = 0; d < value->rank; d++)
    tp_spec_shard(&plan->mesh, value->spec, d, value->shape[d], rank, &from[d], &size[d]);
  spoil(shard);
  if (whole && whole->data)
    array_copy_box(whole, from, shard, to, size);
  return true;
}

static bool check_values(const char *what, int n, const tp_plan_value *values) {
  for (int i = 0; i < n; i++)
    if (tp_spec_has_partial(values[i].spec)) {
      complain("%s %d is partial (%s): it has no single global value to run with", what, i,
               values[i].sharding);
      return false;
    } else if (!element_find(values[i].element)) {
      complain("%s %d has elements of type %s, which shard-run does not support", what, i,
               values[i].element);
      return false;
    }
  return true;
}

/* The whole value of argument `i`; NULL: it is not given. */
static const array *whole_argument(const build *b, const array *inputs, int i) {
  int first = b->shape->n_arguments - b->shape->n_constants;
  return i >= first ? b->constants + (i - first) : inputs ? inputs + i : NULL;
}

/* Returns how many devices have no part of dimension `d`; 0 if the value is empty on all, or if the
 * dimension has an element for each shard: 9 elements on 8 devices are 2, 2, 2, 2 and 1, and no
 * other split has less on a device. */
static int64_t count_idle(const tp_plan *plan, const tp_plan_value *value, int d) {
  int64_t n_idle = 0, begin, size;
  if (value->shape[d] >= tp_spec_dim_shards(&plan->mesh, value->spec, d))
    return 0;
  for (int64_t device = 0; device < plan->n_devices; device++) {
    tp_spec_shard(&plan->mesh, value->spec, d, value->shape[d], device, &begin, &size);
    n_idle += size == 0;
  }
  return value->shape[d] > 0 ? n_idle : 0;
}

/* Writes the axes that split dimension `d`, with their sizes: "dp=2,tp=4". */
static void axes_of(const tp_mesh *mesh, tp_spec spec, int d, char *text, size_t size) {
  int axes[TP_MAX_AXES], n = tp_spec_dim_axes(mesh, spec, d, axes);
  char name[TP_MAX_AXIS_NAME + 32];
  size_t end = 0;
  text[0] = 0;
  for (int i = 0; i < n && end < size; i++) {
    (void)tp_mesh_axis_text(mesh, axes[i], 1, name, sizeof name);
    end += (size_t)snprintf(text + end, size - end, "%s%s=%lld", i ? "," : "", name,
                            (long long)mesh->axes[axes[i]].size);
  }
}

/* Warns of the first dimension that is split over more devices than it has elements. */
static bool warn_of_idle_of(const tp_plan *plan, const char *what, int n,
                            const tp_plan_value *values) {
  char text[256], axes[256];
  for (int i = 0; i < n; i++)
    for (int d = 0; d < values[i].rank; d++) {
      int64_t n_idle = count_idle(plan, values + i, d);
      if (n_idle == 0)
        continue;
      axes_of(&plan->mesh, values[i].spec, d, axes, sizeof axes);
      cli_print("shard-run: warning: %lld of %lld devices have no part of %s: dimension %d of size "
                "%lld is "
                "split over %s; leave these devices idle, or split it less\n",
                (long long)n_idle, (long long)plan->n_devices, label(values + i, what, i, text), d,
                (long long)values[i].shape[d], axes);
      return true;
    }
  return false;
}

void shards_warn_of_idle(const tp_plan *plan) {
  if (!warn_of_idle_of(plan, "argument", plan->n_arguments, plan->arguments))
    (void)warn_of_idle_of(plan, "result", plan->n_results, plan->results);
}

bool shards_create(const build *b, const array *inputs, launch *l) {
  const tp_plan *plan = b->shape;
  if (!check_values("argument", plan->n_arguments, plan->arguments) ||
      !check_values("result", plan->n_results, plan->results))
    return false;
  l->n_ranks = (int)plan->n_devices;
  l->n_inputs = plan->n_arguments;
  l->n_outputs = plan->n_results;
  l->inputs = calloc((size_t)l->n_ranks, sizeof *l->inputs);
  l->outputs = calloc((size_t)l->n_ranks, sizeof *l->outputs);
  l->ranks = calloc((size_t)l->n_ranks, sizeof *l->ranks);
  bool ok = l->inputs && l->outputs && l->ranks;
  for (int r = 0; r < l->n_ranks && ok; r++) {
    l->inputs[r] = calloc((size_t)l->n_inputs + 1, sizeof **l->inputs);
    l->outputs[r] = calloc((size_t)l->n_outputs + 1, sizeof **l->outputs);
    ok = l->inputs[r] && l->outputs[r];
    for (int i = 0; i < l->n_inputs && ok; i++)
      ok = create_shard(plan, plan->arguments + i, whole_argument(b, inputs, i), r,
                        l->inputs[r] + i);
    for (int i = 0; i < l->n_outputs && ok; i++)
      ok = create_shard(plan, plan->results + i, NULL, r, l->outputs[r] + i);
  }
  if (!ok)
    complain("memory ran out for the data of %d ranks", l->n_ranks);
  return ok;
}

void launch_clear(launch *l) {
  for (int r = 0; r < l->n_ranks; r++) {
    if (l->inputs)
      arrays_clear(l->inputs[r], l->n_inputs);
    if (l->outputs)
      arrays_clear(l->outputs[r], l->n_outputs);
    if (l->ranks) {
      free(l->ranks[r].sites);
      free(l->ranks[r].calls);
    }
  }
  free(l->inputs);
  free(l->outputs);
  free(l->ranks);
  *l = (launch){0};
}
