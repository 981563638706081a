/* Annotations of ops that a pass replaces. */
#ifndef TP_PASSES_IMPORT_KEEP_SHARDINGS_H
#define TP_PASSES_IMPORT_KEEP_SHARDINGS_H

#include "ir/annotation.h"

/* Turns the tp.sharding of each op into shard.shard ops behind it. */
tp_status tp__keep_shardings(MlirOperation module, const tp_op_list *ops, const tp_mesh *mesh);

#endif
