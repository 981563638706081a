/* Loads machines by name, and binds them to the axes of a mesh. */
#include "sharding/topology.h"

#include "sharding/sharding.h"
#include "support/support.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

/* ---- names and files ---- */

/* A topology file has a few thousand bytes. */
enum { MAX_FILE_BYTES = 1 << 20, MAX_PATH_BYTES = 4096 };

const char *const *tp_topology_names(void) { return tp__topology_names; }

static tp_status fail(char *why, size_t why_size, tp_status status, const char *format,
                      const char *name, const char *detail) {
  if (why)
    snprintf(why, why_size, format, name, detail);
  return status;
}

/* Reads a descriptor, at most one byte more than allowed. Negative on error. */
static ssize_t read_all(int fd, char *text, size_t size) {
  size_t length = 0;
  while (length < size) {
    ssize_t n = read(fd, text + length, size - length);
    if (n < 0 && errno == EINTR)
      continue;
    if (n < 0)
      return -1;
    if (n == 0)
      break;
    length += (size_t)n;
  }
  return (ssize_t)length;
}

static tp_status load_open_file(const char *path, int fd, char *why, size_t why_size,
                                tp_machine **machine) {
  struct stat info;
  if (fstat(fd, &info) != 0)
    return fail(why, why_size, TP_IO, "cannot read \"%s\": %s", path, strerror(errno));
  if (!S_ISREG(info.st_mode))
    return fail(why, why_size, TP_IO, "cannot read \"%s\": %s", path, "it is not a regular file");
  char *text = tp__malloc(MAX_FILE_BYTES + 1);
  if (!text)
    return fail(why, why_size, TP_NO_MEMORY, "out of memory while reading \"%s\"%s", path, "");
  ssize_t length = read_all(fd, text, MAX_FILE_BYTES + 1);
  tp_status status;
  if (length < 0)
    status = fail(why, why_size, TP_IO, "cannot read \"%s\": %s", path, strerror(errno));
  else if (length > MAX_FILE_BYTES)
    status = fail(why, why_size, TP_INVALID_ARGUMENT,
                  "\"%s\" is larger than 1 MiB, the limit of topology files%s", path, "");
  else
    status = tp_machine_parse(path, text, (size_t)length, why, why_size, machine);
  tp__free(text);
  return status;
}

/* Loads a file. TP_NOT_FOUND if it does not exist; other errors are final. */
static tp_status load_file(const char *path, char *why, size_t why_size, tp_machine **machine) {
  /* O_NONBLOCK, so that a pipe without a writer does not hang */
  int fd = open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK);
  if (fd < 0)
    return fail(why, why_size, errno == ENOENT || errno == ENOTDIR ? TP_NOT_FOUND : TP_IO,
                "cannot open topology file \"%s\": %s", path, strerror(errno));
  tp_status status = load_open_file(path, fd, why, why_size, machine);
  close(fd);
  return status;
}

static tp_status load_from_folders(const char *name, char *why, size_t why_size,
                                   tp_machine **machine) {
  const char *folders = secure_getenv("TP_TOPOLOGY_PATH");
  while (folders && *folders) {
    char path[MAX_PATH_BYTES];
    int length = (int)strcspn(folders, ":");
    int n = snprintf(path, sizeof path, "%.*s/%s.json", length, folders, name);
    if (length > 0 && n < (int)sizeof path) {
      tp_status status = load_file(path, why, why_size, machine);
      if (status != TP_NOT_FOUND)
        return status;
    }
    folders += length + (folders[length] == ':');
  }
  return TP_NOT_FOUND;
}

static tp_status unknown_name(const char *name, char *why, size_t why_size) {
  size_t length = 0;
  int n = 0;
  if (!why)
    return TP_NOT_FOUND;
  while (tp_topology_names()[n])
    n++;
  const char *closest = tp__closest_word(name, strlen(name), n, tp_topology_names());
  tp__text_printf(why, why_size, &length, "unknown topology \"%s\"", name);
  if (closest)
    tp__text_printf(why, why_size, &length, " (did you mean \"%s\"?)", closest);
  tp__text_printf(why, why_size, &length, "; known are ");
  for (const char *const *known = tp_topology_names(); *known; known++)
    tp__text_printf(why, why_size, &length, "%s, ", *known);
  tp__text_printf(why, why_size, &length,
                  "those in the folders of TP_TOPOLOGY_PATH, and files (a path that contains / or "
                  "ends in .json)");
  return TP_NOT_FOUND;
}

tp_status tp_machine_load(const char *name, char *why, size_t why_size, tp_machine **machine) {
  size_t length = strlen(name);
  if (strchr(name, '/') || (length > 5 && strcmp(name + length - 5, ".json") == 0))
    return load_file(name, why, why_size, machine);
  tp_status status = length > 0 ? load_from_folders(name, why, why_size, machine) : TP_NOT_FOUND;
  if (status != TP_NOT_FOUND)
    return status;
  for (const tp__topology_text *row = tp__topology_texts; row->name; row++)
    if (strcmp(row->name, name) == 0)
      return tp_machine_parse(name, (const char *)row->text, row->length, why, why_size, machine);
  return unknown_name(name, why, why_size);
}

void tp_machine_destroy(tp_machine *machine) { tp__free(machine); }

/* ---- binding ---- */

/* Returns the last row whose n is at most the size of the group; a group of one device gets the
 * first row. */
static const tp__line_row *find_row(const tp__level *level, int kind, int64_t n) {
  const tp__line_row *found = &level->rows[kind][0];
  for (int i = 1; i < level->n_rows[kind] && level->rows[kind][i].n <= n; i++)
    found = &level->rows[kind][i];
  return found;
}

static void bind_link(const tp__level *level, int64_t n, tp_link *link) {
  link->doubling_us = level->doubling_us;
  for (int kind = 0; kind < TP_N_COLLECTIVES; kind++) {
    const tp__line_row *row = find_row(level, kind, n);
    double growth = link->doubling_us * tp__log2(n, row->n);
    link->lines[kind] = row->line;
    link->latency_lines[kind] = row->latency_line;
    link->lines[kind].alpha_us += growth;
    if (row->latency_line.gbytes_per_s > 0)
      link->latency_lines[kind].alpha_us += growth;
  }
}

static bool has_joint(const tp_topology *topology, int level, int64_t n) {
  for (int i = 0; i < topology->n_joints; i++)
    if (topology->joints[i].level == level && topology->joints[i].n == n)
      return true;
  return false;
}

/* Computes the lines of all groups that several axes of one level form. */
static void bind_joints(const tp_machine *machine, const tp_mesh *mesh, tp_topology *topology) {
  for (unsigned set = 1; set < 1u << mesh->n_axes; set++) {
    int n_axes = 0, level = 0;
    int64_t n = 1;
    bool one_level = true;
    for (int a = 0; a < mesh->n_axes; a++) {
      if (!(set >> a & 1) || mesh->axes[a].size == 1)
        continue;
      one_level &= n_axes++ == 0 || topology->links[a].level == level;
      level = topology->links[a].level;
      n *= mesh->axes[a].size;
    }
    if (n_axes < 2 || !one_level || topology->n_joints == TP_MAX_JOINTS ||
        has_joint(topology, level, n))
      continue;
    tp_joint *joint = &topology->joints[topology->n_joints++];
    *joint = (tp_joint){.level = level, .n = n, .link = {.level = level}};
    bind_link(&machine->levels[level], n, &joint->link);
  }
}

/* Returns the innermost level that holds `span` consecutive devices; NULL if the machine is
 * smaller. */
static const tp__level *find_level(const tp_machine *machine, int64_t span) {
  for (int i = 0; i < machine->n_levels; i++)
    if (machine->levels[i].devices == 0 || span <= machine->levels[i].devices)
      return &machine->levels[i];
  return NULL;
}

/* Divides the rates of a device by the number of devices that share a processor. */
static void share_processors(int64_t n_devices, tp_topology *t) {
  if (t->processors == 0 || n_devices <= t->processors)
    return;
  double share = (double)t->processors / (double)n_devices;
  double *const rates[] = {&t->elementwise_gops, &t->memory_gbytes_per_s,
                           &t->contraction_gbytes_per_s, &t->store_gbytes_per_s};
  for (int i = 0; i < TP_N_PEAKS; i++)
    t->gflops[i] *= share;
  for (size_t i = 0; i < TP__COUNT(rates); i++)
    *rates[i] *= share;
  t->launch_us /= share;
}

tp_status tp_machine_bind(const tp_machine *machine, const tp_mesh *mesh, char *why,
                          size_t why_size, tp_topology *topology) {
  tp_topology bound = machine->device;
  if (!find_level(machine, tp_mesh_size(mesh))) {
    if (why)
      snprintf(why, why_size,
               "topology \"%s\" has %lld devices, but the mesh has %lld; use a smaller mesh or a "
               "larger topology",
               bound.name, (long long)machine->levels[machine->n_levels - 1].devices,
               (long long)tp_mesh_size(mesh));
    return TP_INVALID_ARGUMENT;
  }
  for (int a = 0; a < mesh->n_axes; a++) {
    int64_t n = mesh->axes[a].size;
    const tp__level *level = find_level(machine, tp_mesh_stride(mesh, a) * n);
    bind_link(level, n, &bound.links[a]);
    bound.links[a].level = (int)(level - machine->levels);
  }
  for (int i = 0; i < machine->n_levels; i++)
    bound.kernels[i] = machine->levels[i].kernels;
  bind_joints(machine, mesh, &bound);
  share_processors(tp_mesh_size(mesh), &bound);
  *topology = bound;
  return TP_OK;
}

tp_status tp_topology_load(const char *name, const tp_mesh *mesh, char *why, size_t why_size,
                           tp_topology *topology) {
  tp_machine *machine;
  TP_TRY(tp_machine_load(name, why, why_size, &machine));
  tp_status status = tp_machine_bind(machine, mesh, why, why_size, topology);
  tp_machine_destroy(machine);
  return status;
}
