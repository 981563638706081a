/* Hands the functions of a module as read by tp-propagate to tp-partition, which then need not read
 * them again. */
#ifndef TP_PASSES_PROGRAMS_H
#define TP_PASSES_PROGRAMS_H

#include "passes/registry.h"
#include "rules/program.h"

typedef struct tp_programs {
  size_t n;
  tp_program *programs; /* release with tp__free */
  tp__arena arena;      /* holds their rules */
} tp_programs;

void tp__programs_destroy(tp_programs *programs);
/* Moves the programs into data that a pass leaves behind. If memory runs out, the data is NULL and
 * nothing is moved. */
tp_legacy tp__programs_leave(const tp_programs *programs);
/* The program of `func` in `left`, which may be NULL; NULL if there is none. */
const tp_program *tp__programs_find(const tp_programs *left, MlirOperation func);

#endif
