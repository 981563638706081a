/* Custom calls that call back into Python. */
#ifndef TP_PASSES_IMPORT_PYTHON_CALL_H
#define TP_PASSES_IMPORT_PYTHON_CALL_H

#include "ir/ir.h"

/* True for the custom calls of jax.debug.print, jax.pure_callback, io_callback and
 * custom_partitioning. */
bool tp__is_python_call(MlirOperation op);
/* Emits the error for such a call. */
tp_status tp__refuse_python_call(MlirOperation op);

#endif
