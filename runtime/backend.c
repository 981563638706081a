/* The registry of backends, and the wording of faults. */
#include "backend.h"

#include <stdio.h>
#include <string.h>
#include <strings.h>

static const tprt__backend *const backends[] = {&tprt__backend_shm, &tprt__backend_self};
enum { N_BACKENDS = sizeof backends / sizeof *backends };

const char *tprt_backend_name(size_t i) { return i < N_BACKENDS ? backends[i]->name : NULL; }

tprt_status tprt__backend_find(const char *name, const tprt__backend **backend) {
  char known[128] = "";
  for (size_t i = 0; i < N_BACKENDS; i++) {
    if (strcasecmp(name, backends[i]->name) == 0) {
      *backend = backends[i];
      return backends[i]->probe();
    }
    size_t n = strlen(known);
    snprintf(known + n, sizeof known - n, "%s%s", i ? ", " : "", backends[i]->name);
  }
  return tprt__fail(TPRT_INVALID_ARGUMENT, "there is no backend \"%s\"; known: %s", name, known);
}

tprt_status tprt__fault_fail(const tprt__fault *fault) {
  static const char *const did[] = {
      [TPRT_MISMATCH] = "submitted another operation",          [TPRT_TIMEOUT] = "did not come in time",
      [TPRT_PEER_DEAD] = "ended or destroyed its communicator", [TPRT_ABORTED] = "aborted the communicator",
      [TPRT_PROGRAM] = "failed an assertion of the program",
  };
  size_t i = (size_t)fault->status;
  const char *text = i < sizeof did / sizeof *did && did[i] ? did[i] : "failed";
  const char *kind = tprt_op_kind_name(fault->kind);
  if (!kind)
    return tprt__fail(fault->status, "rank %d %s", fault->rank, text);
  return tprt__fail(fault->status, "rank %d %s (operation %u, %s)", fault->rank, text, fault->sequence, kind);
}
