/* Calls of functions without a body. */
#ifndef TP_RULES_CALL_H
#define TP_RULES_CALL_H

#include "ir/collectives.h"
#include "ir/ir.h"

#include "tp/mesh.h"

/* Refuses tp.sharding on a function without a body, where nothing reads it. */
tp_status tp__check_declaration(MlirOperation func);
/* Warns if `op` is a call that all devices of the mesh do because no rule is known. */
void tp__warn_of_call(MlirOperation op, const tp_mesh *mesh);

#endif
