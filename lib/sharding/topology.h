/* A machine as described by its topology file. topology_read.c creates it, topology.c binds it to a
 * mesh. */
#ifndef TP_LIB_SHARDING_TOPOLOGY_H
#define TP_LIB_SHARDING_TOPOLOGY_H

#include "tp/cost.h"

enum { TP__MAX_ROWS = 32 };

typedef struct tp__line_row {
  int64_t n; /* for groups of at least n devices; the rows of a kind are ascending */
  tp_line line, latency_line;
} tp__line_row;

typedef struct tp__level {
  int64_t devices; /* consecutive devices in one unit of this level; 0: all. Levels are ascending */
  double doubling_us;
  tp_kernels kernels; /* gbytes_per_s == 0: none */
  int n_rows[TP_N_COLLECTIVES];
  tp__line_row rows[TP_N_COLLECTIVES][TP__MAX_ROWS];
} tp__level;

struct tp_machine {
  tp_topology device; /* name and roofline; no links */
  int n_levels;
  tp__level levels[TP_MAX_LEVELS];
};

/* A file of share/topology, built into the library. */
typedef struct tp__topology_text {
  const char *name;
  const unsigned char *text;
  size_t length;
} tp__topology_text;

/* Generated from the files. Both lists end with a NULL name. */
extern const tp__topology_text tp__topology_texts[];
extern const char *const tp__topology_names[];

#endif
