/* Source locations as text. */
#ifndef TP_IR_LOCATION_H
#define TP_IR_LOCATION_H

#include "support/support.h"

#include <mlir-c/IR.h>

/* Finds the innermost place in a file. The callee of a call site comes first; it may have names
 * alone, then the place of the call counts. False if there is none. */
bool tp__location_file(MlirLocation location, MlirLocation *file);
/* Returns the location as MLIR prints it, without the enclosing loc(...). A file location has the
 * form FILE:LINE:COLUMN. "" if memory runs out. */
const char *tp__location_text(tp__arena *arena, MlirLocation location);
/* The same without the folders of absolute paths, which differ between machines and users: for
 * texts that are given to others. Names stay as they are, also those that look like paths. */
const char *tp__location_shared(tp__arena *arena, MlirLocation location);
/* Returns a short text for one source position: FILE:LINE without the directories. A named location
 * puts its name first, without what a framework puts around it: "dot_general (model.py:12)" for
 * "jit(step)/dot_general", "params/layers/0/wq" for the same. A call site gives its
 * callee, with the place of the call if the callee has none; a fused location its first informative
 * part. "" if the location is unknown or memory runs
 * out. */
const char *tp__location_short(tp__arena *arena, MlirLocation location);

#endif
