/* Places in the source, as text. */
#ifndef TP_IR_LOCATION_H
#define TP_IR_LOCATION_H

#include "support/support.h"

#include <mlir-c/IR.h>

/* As MLIR prints it, without the loc(...) around it; a place in a file as FILE:LINE:COLUMN. "" when
 * memory runs out. */
const char *tp__location_text(tp__arena *arena, MlirLocation location);
/* One place of it in short, to read: FILE:LINE with the last part of the path, behind the last part
 * of a name if it has one: "dot_general (model.py:12)". Of a call what is called, of a fusion its
 * first place that says something. "" where nothing is known, and when memory runs out. */
const char *tp__location_short(tp__arena *arena, MlirLocation location);

#endif
