/* Built-in topologies, as tables.
 *
 * Sources of the GPU rows: published fits of NCCL on NVSwitch, its tuner tables for InfiniBand, derated data sheets for
 * A100 and PCIe. The CPU rows stand for ranks of one host that talk through shared memory. All of them are defaults:
 * what counts is measured on the machine at hand. */
#include "tp/cost.h"

#include "sharding/sharding.h"
#include "support/support.h"

#include <stdio.h>
#include <string.h>

/* Where the devices of a group stand: in one node, or across nodes. */
typedef enum scope { IN_NODE, ACROSS } scope;

typedef struct machine_row {
  const char *name;
  double gflops, elementwise_gops, memory_gbytes_per_s, launch_us, efficiency;
  int64_t node;          /* devices of a node; 0: all */
  double doubling_us[2]; /* by scope */
} machine_row;

/* clang-format off */
static const machine_row machines[] = {
    /* name    gflops    gops  memory  launch  eff   node  doubling */
    {"cpu",     20,        3,     8,   0.3,   1.00,  0,   {0.7, 0.7}},
    {"h100",    990e3, 30000,  3350,   4.0,   0.65,  8,   {10.0, 20.0}},
    {"a100",    312e3,  9700,  2039,   4.0,   0.65,  8,   {8.0, 20.0}},
    {"pcie4",   312e3,  9700,  1555,   5.0,   0.65,  8,   {8.0, 20.0}},
};
/* clang-format on */

#define GATHER (1u << TP_ALL_GATHER | 1u << TP_REDUCE_SCATTER)
#define REDUCE (1u << TP_ALL_REDUCE)
#define TO_ALL (1u << TP_ALL_TO_ALL)
#define COPY (1u << TP_PERMUTE | 1u << TP_BROADCAST)

typedef struct line_row {
  const char *topology;
  scope where;
  unsigned kinds; /* bit set of tp_collective */
  int64_t n;      /* for groups of at least n devices; rows of one kind ascend */
  tp_line line, latency_line;
} line_row;

/* clang-format off */
static const line_row lines[] = {
    /* topology  scope   kinds    n   line           line for small messages */
    {"cpu",   IN_NODE, GATHER,  2, {1.0, 3.0},    {0, 0}},
    {"cpu",   IN_NODE, REDUCE,  2, {1.5, 3.0},    {0, 0}},
    {"cpu",   IN_NODE, TO_ALL,  2, {1.0, 2.5},    {0, 0}},
    {"cpu",   IN_NODE, COPY,    2, {0.9, 3.0},    {0, 0}},

    {"h100",  IN_NODE, GATHER,  2, {8.0, 350.0},  {0, 0}},
    {"h100",  IN_NODE, GATHER,  4, {17.0, 350.0}, {11.0, 141.0}},
    {"h100",  IN_NODE, GATHER,  8, {28.0, 350.0}, {11.0, 141.0}},
    {"h100",  IN_NODE, REDUCE,  2, {25.0, 360.0}, {15.0, 141.0}},
    {"h100",  IN_NODE, REDUCE,  8, {25.0, 460.0}, {15.0, 141.0}},
    {"h100",  IN_NODE, TO_ALL,  2, {50.0, 330.0}, {0, 0}},
    {"h100",  IN_NODE, COPY,    2, {8.0, 350.0},  {0, 0}},
    {"h100",  ACROSS,  GATHER,  2, {20.0, 48.0},  {0, 0}},
    {"h100",  ACROSS,  GATHER,  4, {40.0, 48.0},  {0, 0}},
    {"h100",  ACROSS,  GATHER,  8, {80.0, 48.0},  {0, 0}},
    {"h100",  ACROSS,  GATHER, 16, {160.0, 48.0}, {0, 0}},
    {"h100",  ACROSS,  GATHER, 32, {320.0, 48.0}, {0, 0}},
    {"h100",  ACROSS,  REDUCE,  2, {40.0, 48.0},  {0, 0}},
    {"h100",  ACROSS,  REDUCE,  4, {80.0, 48.0},  {0, 0}},
    {"h100",  ACROSS,  REDUCE,  8, {100.0, 48.0}, {0, 0}},
    {"h100",  ACROSS,  TO_ALL,  2, {37.0, 39.0},  {0, 0}},
    {"h100",  ACROSS,  TO_ALL,  4, {42.0, 44.5},  {0, 0}},
    {"h100",  ACROSS,  TO_ALL,  8, {60.0, 47.2},  {0, 0}},
    {"h100",  ACROSS,  TO_ALL, 16, {98.0, 48.6},  {0, 0}},
    {"h100",  ACROSS,  TO_ALL, 32, {290.0, 49.3}, {0, 0}},
    {"h100",  ACROSS,  COPY,    2, {20.0, 48.0},  {0, 0}},

    {"a100",  IN_NODE, GATHER,  2, {12.0, 230.0}, {0, 0}},
    {"a100",  IN_NODE, GATHER,  8, {25.0, 230.0}, {0, 0}},
    {"a100",  IN_NODE, REDUCE,  2, {45.0, 230.0}, {0, 0}},
    {"a100",  IN_NODE, TO_ALL,  2, {40.0, 160.0}, {0, 0}},
    {"a100",  IN_NODE, COPY,    2, {12.0, 230.0}, {0, 0}},
    {"a100",  ACROSS,  GATHER,  2, {20.0, 24.0},  {0, 0}},
    {"a100",  ACROSS,  REDUCE,  2, {40.0, 24.0},  {0, 0}},
    {"a100",  ACROSS,  TO_ALL,  2, {40.0, 22.0},  {0, 0}},
    {"a100",  ACROSS,  COPY,    2, {20.0, 24.0},  {0, 0}},

    {"pcie4", IN_NODE, GATHER,  2, {20.0, 16.0},  {0, 0}},
    {"pcie4", IN_NODE, REDUCE,  2, {40.0, 14.0},  {0, 0}},
    {"pcie4", IN_NODE, TO_ALL,  2, {30.0, 8.0},   {0, 0}},
    {"pcie4", IN_NODE, COPY,    2, {20.0, 16.0},  {0, 0}},
    {"pcie4", ACROSS,  GATHER,  2, {20.0, 12.0},  {0, 0}},
    {"pcie4", ACROSS,  REDUCE,  2, {40.0, 12.0},  {0, 0}},
    {"pcie4", ACROSS,  TO_ALL,  2, {40.0, 8.0},   {0, 0}},
    {"pcie4", ACROSS,  COPY,    2, {20.0, 12.0},  {0, 0}},
};
/* clang-format on */

const char *const *tp_topology_names(void) {
  static const char *const names[] = {"cpu", "h100", "a100", "pcie4", NULL};
  return names;
}

/* The last row of this kind whose n the group reaches; a group of one device gets the first row. */
static const line_row *find_line(const char *topology, scope where, tp_collective kind, int64_t n) {
  const line_row *found = NULL;
  for (size_t i = 0; i < TP__COUNT(lines); i++) {
    const line_row *row = &lines[i];
    if (row->where != where || !(row->kinds >> kind & 1) || strcmp(row->topology, topology) != 0)
      continue;
    if (!found || row->n <= n)
      found = row;
  }
  return found;
}

static void bind_link(const machine_row *machine, const tp_mesh *mesh, int axis, tp_link *link) {
  int64_t n = mesh->axes[axis].size;
  scope where = machine->node && tp_mesh_stride(mesh, axis) * n > machine->node ? ACROSS : IN_NODE;
  link->doubling_us = machine->doubling_us[where];
  for (int kind = 0; kind < TP_N_COLLECTIVES; kind++) {
    const line_row *row = find_line(machine->name, where, (tp_collective)kind, n);
    double growth = link->doubling_us * tp__log2(n, row->n);
    link->lines[kind] = row->line;
    link->latency_lines[kind] = row->latency_line;
    link->lines[kind].alpha_us += growth;
    if (row->latency_line.gbytes_per_s > 0)
      link->latency_lines[kind].alpha_us += growth;
  }
}

tp_status tp_topology_bind(const char *name, const tp_mesh *mesh, tp_topology *topology) {
  for (size_t i = 0; i < TP__COUNT(machines); i++) {
    const machine_row *machine = &machines[i];
    if (strcmp(machine->name, name) != 0)
      continue;
    tp_topology bound = {.gflops = machine->gflops,
                         .elementwise_gops = machine->elementwise_gops,
                         .memory_gbytes_per_s = machine->memory_gbytes_per_s,
                         .launch_us = machine->launch_us,
                         .efficiency = machine->efficiency};
    snprintf(bound.name, sizeof bound.name, "%s", machine->name);
    for (int a = 0; a < mesh->n_axes; a++)
      bind_link(machine, mesh, a, &bound.links[a]);
    *topology = bound;
    return TP_OK;
  }
  return TP_NOT_FOUND;
}
