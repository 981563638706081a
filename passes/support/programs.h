/* The functions of a module as tp-propagate has read them, for tp-partition behind it, which need
 * not look at all of every op again. */
#ifndef TP_PASSES_PROGRAMS_H
#define TP_PASSES_PROGRAMS_H

#include "passes/registry.h"
#include "rules/program.h"

typedef struct tp_programs {
  size_t n;
  tp_program *programs; /* tp__free */
  tp__arena arena;      /* of their rules */
} tp_programs;

void tp__programs_destroy(tp_programs *programs);
/* Takes them over, to be left behind by a pass. Its data is NULL, and nothing is taken over, when
 * memory runs out. */
tp_legacy tp__programs_leave(const tp_programs *programs);
/* The program of `func` as a pass has left it, which may be NULL; NULL: it is not there. */
const tp_program *tp__programs_find(const tp_programs *left, MlirOperation func);

#endif
