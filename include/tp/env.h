/* The environment variables of the compiler, its tools and the Python package. Those of the runtime
 * are in tprt/comm.h.
 *
 * Thread rule: no thread may change the environment meanwhile. */
#ifndef TP_ENV_H
#define TP_ENV_H

#include "tp/status.h"

#include <stdbool.h>
#include <stddef.h>

#ifdef __cplusplus
extern "C" {
#endif

typedef struct tp_env_var {
  const char *name, *help;
} tp_env_var;

/* Returns the table of variables and its length in *n. Static storage. */
TP_API const tp_env_var *tp_env(size_t *n);

/* Writes the i-th warning of the environment to `warning`, cut to `size` bytes. Returns false if
 * there are not more than i. They are about folders of TP_TOPOLOGY_PATH that do not exist, and
 * about variables that are not in the table, but were probably meant for it: all TPSHARD_..., and
 * those TP_... whose name is like one in the table (other programs use TP_..., too). */
TP_API bool tp_env_warning(size_t i, size_t size, char *warning);

#ifdef __cplusplus
}
#endif
#endif
