/* Functions of libm as arithmetic: what the files of tp-expand-math share. */
#ifndef TP_PASSES_EXPAND_MATH_H
#define TP_PASSES_EXPAND_MATH_H

#include "ir/ir.h"

typedef struct tp__function_row {
  const char *op, *symbol;
  bool (*is_type)(MlirType type);
  const char *text; /* body; %x is the argument, %x1 a second one, $a their type, $b infinity; the result is %y */
} tp__function_row;

extern const char tp__sin_text[], tp__cos_text[];

/* Those that only GPUs need. */
const tp__function_row *tp__math_for_gpus(int *n);

#endif
