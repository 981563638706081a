/* Input files that a tool cannot read itself. */
#include "cli.h"

#include <string.h>

bool cli_is_jax_export(const char *path) {
  static const char suffix[] = ".jaxexport";
  size_t length = strlen(path), n = sizeof suffix - 1;
  if (length < n || strcmp(path + length - n, suffix) != 0)
    return false;
  complain("'%s' is a file of jax.export, which JAX reads; make MLIR of it: "
           "python3 -m tpshard.jax %s > %.*s.mlir",
           path, path, (int)(length - n), path);
  return true;
}
