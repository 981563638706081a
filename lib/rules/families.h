/* The rule families, one per file. */
#ifndef TP_RULES_FAMILIES_H
#define TP_RULES_FAMILIES_H

#include <mlir-c/IR.h>
#include <stdbool.h>

struct tp_family;

extern const struct tp_family tp__lookup_family;
extern const struct tp_family tp__ordered_reduction_family;
extern const struct tp_family tp__linalg_family;
extern const struct tp_family tp__elementwise_family;
extern const struct tp_family tp__constant_family;
extern const struct tp_family tp__reshape_family;
extern const struct tp_family tp__barrier_family;
extern const struct tp_family tp__slice_family;
extern const struct tp_family tp__concat_family;
extern const struct tp_family tp__pad_family;
extern const struct tp_family tp__scalar_family;
extern const struct tp_family tp__border_family;
extern const struct tp_family tp__collective_family;
extern const struct tp_family tp__sort_family;
extern const struct tp_family tp__call_family;
extern const struct tp_family tp__user_family;

/* True if the op is a reduction that the family ordered_reduction accepts, provided that its
 * initial values are suitable. */
bool tp__looks_ordered(MlirOperation op);

#endif
