/* One program: planned, and all its plans tried. */
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
  int limits;          /* of memory, for each program; nothing else is checked then */
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
  CHEAPER, /* from here on: defects */
  UNFOUND,
  OPEN,
  WRITTEN,
  AGAIN,
  EDITED,
  EXCEEDED_LIMIT,
  LOST,
  N_VERDICTS
} verdict;

typedef struct totals {
  int n, verdicts[N_VERDICTS], beyond[3], written_less, pins, pins_refused;
  /* counted_more: with more than is held */
  int limits, limits_refused, limits_cut, limits_written, counted_more;
  int limits_kept, limits_unkept; /* of those that are refused: a plan keeps it, none does */
  /* of those that are planned: a plan that keeps it costs much less */
  int limits_dearer;
} totals;

/* Swallows the diagnostics of the context; the last one is printed with a
 * disagreement. */
void watch(MlirContext context);
void check_random(MlirContext context, const setting *s, uint64_t seed, totals *t);
void check_file(MlirContext context, const setting *s, const char *path, totals *t);

#endif
