/* The rows of all passes, one per file of this folder. */
#ifndef TP_PASSES_TABLE_H
#define TP_PASSES_TABLE_H

#include "ir/pass.h"

extern const tp_pass_row tp__normalize_row;
extern const tp_pass_row tp__partition_row;
extern const tp_pass_row tp__propagate_row;

#endif
