/* Stores the functions that tp-propagate has read until tp-partition uses them. */
#include "passes/support/programs.h"

void tp__programs_destroy(tp_programs *p) {
  for (size_t i = 0; i < p->n; i++)
    tp__program_destroy(&p->programs[i]);
  tp__free(p->programs);
  tp__arena_destroy(&p->arena);
}

static void drop(void *data) {
  tp__programs_destroy(data);
  tp__free(data);
}

tp_legacy tp__programs_leave(const tp_programs *programs) {
  tp_programs *left = tp__malloc(sizeof *left);
  if (!left)
    return (tp_legacy){0};
  *left = *programs;
  return (tp_legacy){left, drop};
}

const tp_program *tp__programs_find(const tp_programs *left, MlirOperation func) {
  for (size_t i = 0; left && i < left->n; i++)
    if (mlirOperationEqual(left->programs[i].func, func))
      return &left->programs[i];
  return NULL;
}
