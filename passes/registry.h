/* Declares the table rows of all passes. */
#ifndef TP_PASSES_REGISTRY_H
#define TP_PASSES_REGISTRY_H

#include "ir/pass.h"

#include "tp/pass_list.h"

#define TP_DECLARE_ROW(name) extern const tp_pass_row tp__##name##_row;
TP_PASS_LIST(TP_DECLARE_ROW)
#undef TP_DECLARE_ROW

#endif
