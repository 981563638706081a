/* A plan while it is measured. */
#ifndef TP_IR_PLAN_MEASURE_H
#define TP_IR_PLAN_MEASURE_H

#include "tp/plan.h"

#include "ir/source_names.h"
#include "sharding/sharding.h"
#include "support/support.h"

enum { TP__MAX_CALL_DEPTH = 1000 };

typedef struct tp_measure {
  tp_plan plan; /* must be first: the public part of this struct */
  tp__arena arena;
  MlirOperation module, func;
  tp_source source;
  tp_topology topology;
  tp_plan_collective *collectives;
  size_t capacity;
  /* Nesting depth around the current op: calls, loops, and loops over blocks that stay in the cache
   * (tp.blocks). */
  int depth, loops, blocks;
  MlirOperation called[TP__MAX_CALL_DEPTH]; /* the functions whose bodies are being measured */
  double times;         /* the number of executions of the current op, as far as known */
  int64_t n_called_ops; /* ops visited inside of called functions */
} tp_measure;

/* Finds a public function with a body: by name, or for NULL @main or the only one. TP_NOT_FOUND
 * with a diagnostic if there is none. */
tp_status tp__choose_function(MlirOperation module, const char *name, MlirOperation *func);

/* ---- plan_measure.c: texts, which the arena of the plan keeps ---- */

/* Takes the string. "" when memory runs out. */
const char *tp__measure_keep(tp_measure *m, tp__string *string);
const char *tp__measure_type_text(tp_measure *m, MlirType type);
/* "" if the attribute is none or no string. */
const char *tp__measure_string_attr(tp_measure *m, MlirAttribute attr);

/* ---- plan_signature.c ---- */

tp_status tp__measure_signature(tp_measure *m);

/* ---- plan_collectives.c ---- */

/* Adds an op that communicates; nothing for others. */
tp_status tp__measure_collective(tp_measure *m, MlirOperation op);
/* Merges the collectives from `first` on, those of a fused function, into one, because one call of
 * the runtime executes them all. */
void tp__measure_join(tp_measure *m, int first);
/* A fused softmax communicates by one all-gather of 16 bytes per row, not by the collectives from
 * `first` on, which the program has in its place: replaces these. */
void tp__measure_gather_parts(tp_measure *m, MlirOperation call, int first);

/* ---- plan_ops.c ---- */

/* Measures the ops in the regions of an op, and of the functions that they call. */
tp_status tp__measure_ops(tp_measure *m, MlirOperation parent);

#endif
