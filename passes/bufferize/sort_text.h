/* The loops that sort, as text. */
#ifndef TP_PASSES_BUFFERIZE_SORT_TEXT_H
#define TP_PASSES_BUFFERIZE_SORT_TEXT_H

#include "ir/sort_call.h"
#include "support/support.h"

/* Returns the text of a module. Its first function takes the operands of the sort and returns its
 * results, for rows of at least two elements of which at least one is kept. It calls the
 * comparator. The caller checks `failed`, and frees the text. */
tp__string tp__sort_text(MlirOperation op, const tp_sort *sort);

#endif
