/* Files of jax.export, of which the Python package tpshard makes MLIR. */
#include "cli.h"

#include <errno.h>
#include <fcntl.h>
#include <spawn.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

static char written[4096]; /* the file with the MLIR; empty: none yet */

static void remove_written(void) {
  (void)unlink(written);
  cli_leftover_file(written, false);
}

/* Creates an empty file that is named after `path` and removed at exit. Returns its descriptor, or
 * -1. */
static int create_file(const char *path) {
  if (written[0]) /* of a second program, which the tool is going to refuse */
    remove_written();
  const char *slash = strrchr(path, '/'), *stem = slash ? slash + 1 : path,
             *folder = getenv("TMPDIR");
  int length = (int)(strlen(stem) - strlen(CLI_JAX_EXPORT));
  int n = snprintf(written, sizeof written, "%s/%.*s-XXXXXX.mlir",
                   folder && *folder ? folder : "/tmp", length, stem);
  int file = -1;
  errno = ENAMETOOLONG;
  if (n < (int)sizeof written)
    file = mkostemps(written, (int)strlen(".mlir"), O_CLOEXEC);
  if (file < 0) {
    written[0] = 0;
    return -1;
  }
  cli_leftover_file(written, true);
  atexit(remove_written);
  return file;
}

/* Runs the package, which writes to `file`. Returns true if it succeeded; its messages go to
 * stderr. */
static bool run_python(const char *path, int file) {
  char python[] = "python3", m[] = "-m", package[] = "tpshard.jax";
  char *copy = strdup(path), *arguments[] = {python, m, package, copy, NULL};
  posix_spawn_file_actions_t actions;
  pid_t child;
  int status = 1;
  if (copy && posix_spawn_file_actions_init(&actions) == 0) {
    if (posix_spawn_file_actions_adddup2(&actions, file, STDOUT_FILENO) == 0 &&
        posix_spawnp(&child, python, &actions, NULL, arguments, environ) == 0) {
      cli_leftover_child(child, true);
      while (waitpid(child, &status, 0) < 0 && errno == EINTR)
        ;
      cli_leftover_child(child, false);
    }
    posix_spawn_file_actions_destroy(&actions);
  }
  free(copy);
  return status == 0;
}

const char *cli_read_jax_export(const char *path) {
  int file = create_file(path);
  if (file < 0) {
    complain("cannot create a file for the program of '%s': %s; set TMPDIR to a folder that can be "
             "written",
             path, strerror(errno));
    return NULL;
  }
  bool ok = run_python(path, file);
  close(file);
  if (!ok)
    complain("'%s' is a file of jax.export, and was not read; MLIR is made of it by python3 -m "
             "tpshard.jax, which needs the packages tpshard and jax in the python3 of PATH",
             path);
  return ok ? written : NULL;
}
