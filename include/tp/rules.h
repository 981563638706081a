/* Which ops can be sharded, and how: the families of op rules, for documentation and tools.
 *
 * An op that belongs to no family is refused, or replicated with unknown-ops=replicate.
 *
 * Ownership: all strings are static. Thread rule: safe everywhere. */
#ifndef TP_RULES_H
#define TP_RULES_H

#include "tp/status.h"

#ifdef __cplusplus
extern "C" {
#endif

typedef struct tp_family_info {
  const char *name;    /* "reshape" */
  const char *ops;     /* the ops it knows */
  const char *summary; /* which of their dimensions can be sharded */
} tp_family_info;

/* Number of families, and the `i`-th of them; all NULL when i is out of range. Of several that know an op the first counts. */
TP_API int tp_family_count(void);
TP_API tp_family_info tp_family_get(int i);

#ifdef __cplusplus
}
#endif
#endif
