/* Masks of attention that are merged into one. */
#ifndef TP_PASSES_ATTENTION_MERGE_MASKS_H
#define TP_PASSES_ATTENTION_MERGE_MASKS_H

#include "rules/attention.h"

/* Merges two selects that hide scores by tensors of bools, one behind the other and with the same
 * number. Adds the first select, which is then dead, to the list, or nothing if no two masks are of
 * this form. An attention with a merged mask must be read again. TP_NO_MEMORY with a diagnostic. */
tp_status tp__merge_masks(const tp_attention *attention, tp_op_list *dead);

#endif
