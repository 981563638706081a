/* Places in the source, as text. */
#ifndef TP_IR_LOCATION_H
#define TP_IR_LOCATION_H

#include "support/support.h"

#include <mlir-c/IR.h>

/* As MLIR prints it, without the loc(...) around it; a place in a file as FILE:LINE:COLUMN. "" when memory runs out. */
const char *tp__location_text(tp__arena *arena, MlirLocation location);

#endif
