/* tp-decompose: what its rewrites share. A rewrite is one file decompose_<what>.c with one entry point, below. */
#ifndef TP_PASSES_DECOMPOSE_H
#define TP_PASSES_DECOMPOSE_H

#include "passes/table.h"

#include "ir/ir.h"

/* Statistics of the pass. */
enum { TP_DECOMPOSED };

/* A visitor; its data is the tp_pass. */
tp_status tp__decompose_slice(MlirOperation op, void *pass);

#endif
