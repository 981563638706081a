/* The namespaces in which Model Explorer shows ops: layers, loops, and parts of long lists. */
#ifndef TP_PASSES_PLAN_NAMESPACES_H
#define TP_PASSES_PLAN_NAMESPACES_H

#include "support/support.h"

#include <jansson.h>

/* By op of the document's graph its namespace: "layers 1 x 80/layer 0007", "ops 64-127/scf.while
 * 70". Release with tp__namespaces_free; NULL when memory runs out. */
char **tp__namespaces(const json_t *graph);
void tp__namespaces_free(char **names, size_t n);

#endif
