/* What the text of a program calls its values. */
#ifndef TP_PASSES_PROPAGATE_SOURCE_TEXT_H
#define TP_PASSES_PROPAGATE_SOURCE_TEXT_H

#include "support/support.h"

#include <mlir-c/IR.h>

/* A file that was read, and where its lines begin. Zero: none yet. */
typedef struct tp_source_text {
  char *path, *text;
  size_t size, n_lines, capacity, *lines;
} tp_source_text;

/* Returns the name of a value in its source, without the %: "wq" for "%wq". NULL: its location
 * names no file that can be read, or the file has no name there. Valid until the next call. */
const char *tp__source_name(tp_source_text *text, MlirValue value, size_t *length);
void tp__source_text_close(tp_source_text *text);

#endif
