/* --shards: writes the data that a launcher needs to run a library of --emit=so without the
 * compiler. */
#include "run.h"

#include <errno.h>
#include <string.h>
#include <sys/stat.h>

typedef struct folder {
  const char *path;
  const tp_plan *plan;
} folder;

static bool in_folder(const folder *f, const char *name, char *path, size_t size) {
  if (snprintf(path, size, "%s/%s", f->path, name) < (int)size)
    return true;
  complain("the name of the folder of --shards is too long: %s", f->path);
  return false;
}

/* ---- The description ---- */

static void print_values(FILE *file, const char *what, int n, const tp_plan_value *values) {
  for (int i = 0; i < n; i++) {
    fprintf(file, "%s %s %d", what, values[i].element, values[i].rank);
    for (int d = 0; d < values[i].rank; d++)
      fprintf(file, " %lld", (long long)values[i].local[d]);
    fprintf(file, "\n");
  }
}

static bool write_description(const folder *f, const char *program) {
  char path[4096];
  if (!in_folder(f, "program.txt", path, sizeof path))
    return false;
  cli_file file;
  bool ok = cli_file_open(&file, path);
  if (ok) {
    fprintf(file.stream, "program %s\ndevices %lld\nflops %.17g\n", program,
            (long long)f->plan->n_devices, f->plan->flops);
    print_values(file.stream, "argument", f->plan->n_arguments, f->plan->arguments);
    print_values(file.stream, "result", f->plan->n_results, f->plan->results);
    ok = cli_file_close(&file, true);
  }
  if (!ok)
    complain_of_write(path);
  return ok;
}

/* ---- Shards ---- */

bool output_write(const char *path, const array *a) {
  cli_file file;
  bool ok = cli_file_open(&file, path) && cli_file_close(&file, npy_write(file.stream, a));
  if (!ok)
    complain_of_write(path);
  return ok;
}

static bool write_array(const folder *f, const char *kind, int value, int rank, const array *a) {
  char name[64], path[4096];
  snprintf(name, sizeof name, "%s.%d.%d.npy", kind, value, rank);
  return in_folder(f, name, path, sizeof path) && output_write(path, a);
}

/* Writes argument buffers as the program takes them, with padding that reveals any use (see
 * inputs.c). Without `inputs` only those of constants. */
static bool write_arguments(const folder *f, const build *b, const array *inputs) {
  launch l = {0};
  int first = inputs ? 0 : b->shape->n_arguments - b->shape->n_constants;
  bool ok = shards_create(b, inputs, &l);
  for (int r = 0; r < l.n_ranks && ok; r++)
    for (int i = first; i < l.n_inputs && ok; i++)
      ok = write_array(f, "in", i, r, l.inputs[r] + i);
  launch_clear(&l);
  return ok;
}

/* Writes a result shard without padding, because padding is not compared. */
static bool write_result(const folder *f, const char *kind, int k, int rank, const array *whole) {
  const tp_plan_value *value = f->plan->results + k;
  int64_t from[TP_MAX_RANK] = {0}, to[TP_MAX_RANK] = {0}, size[TP_MAX_RANK] = {0};
  array part;
  for (int d = 0; d < value->rank; d++)
    tp_spec_shard(&f->plan->mesh, value->spec, d, value->shape[d], rank, &from[d], &size[d]);
  bool ok = array_create(&part, whole->type, value->rank, size);
  if (ok)
    array_copy_box(whole, from, &part, to, size);
  else
    complain("memory ran out");
  ok = ok && write_array(f, kind, k, rank, &part);
  array_clear(&part);
  return ok;
}

static bool write_results(const folder *f, const char *kind, const array *wholes) {
  bool ok = true;
  for (int k = 0; wholes && k < f->plan->n_results && ok; k++)
    for (int r = 0; wholes[k].data && r < f->plan->n_devices && ok; r++)
      ok = write_result(f, kind, k, r, wholes + k);
  return ok;
}

bool shards_write(const options *o, const build *b, const char *program, const array *inputs,
                  const array *expected, const array *one) {
  const folder f = {o->shards, b->shape};
  bool has_data = inputs || b->shape->n_constants > 0;
  if (mkdir(o->shards, 0777) != 0 && errno != EEXIST) {
    complain("cannot make the folder '%s': %s", o->shards, strerror(errno));
    return false;
  }
  return write_description(&f, program) && (!has_data || write_arguments(&f, b, inputs)) &&
         write_results(&f, "out", expected) && write_results(&f, "one", one);
}
