/* Finds the line of a value in the text of a JSON document, for messages about valid JSON with
 * wrong values. */
#ifndef TP_LIB_SUPPORT_JSON_LINE_H
#define TP_LIB_SUPPORT_JSON_LINE_H

#include <stdbool.h>
#include <stddef.h>

/* One step from a value to a value inside it. */
typedef struct tp__json_step {
  const char *key; /* of an object; NULL: item `index` of an array */
  int index;
} tp__json_step;

/* Returns the line, from 1, where the value at the end of the path starts. If the path does not
 * exist, returns the line of the last existing value on it. `text` (`length` bytes) must be valid
 * JSON. */
int tp__json_line(const char *text, size_t length, int n_steps, const tp__json_step *steps);

#endif
