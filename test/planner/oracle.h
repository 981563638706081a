/* Checks one program: plans it and tries all its plans. */
#ifndef PLANNER_ORACLE_H
#define PLANNER_ORACLE_H

#include <mlir-c/IR.h>
#include <stdbool.h>
#include <stdint.h>

typedef struct setting {
  uint64_t seed;
  int count;
  int64_t steps;
  int edits;
  int limits;          /* number of memory limits per program; if set, nothing else is checked */
  bool verbose, bytes; /* bytes: the objective */
  int n_files;
  char **files;
} setting;

typedef enum verdict {
  EQUAL,
  EQUAL_OFFERED,
  EQUAL_NAMED,
  TOO_MANY,
  REFUSED,
  CHEAPER, /* defects from here on */
  UNFOUND,
  OPEN,
  WRITTEN,
  AGAIN,
  PARTS,
  EDITED,
  EXCEEDED_LIMIT,
  LOST,
  N_VERDICTS
} verdict;

typedef struct totals {
  int n, verdicts[N_VERDICTS], beyond[3], written_less, pins, pins_refused;
  /* counted_more: the planner overestimates memory */
  int limits, limits_refused, limits_cut, limits_written, counted_more;
  int limits_kept, limits_unkept; /* of the refused limits: a plan satisfies it, none does */
  /* of the planned limits: a plan within the limit costs much less */
  int limits_dearer;
} totals;

void check_random(MlirContext context, const setting *s, uint64_t seed, totals *t);
void check_file(MlirContext context, const setting *s, const char *path, totals *t);

#endif
