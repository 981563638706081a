/* What must not be left over when a signal ends the process: processes that it started, and
 * incomplete files. */
#include "cli.h"

#include <errno.h>
#include <signal.h>
#include <sys/wait.h>
#include <unistd.h>

enum { MAX_CHILDREN = 1024, MAX_FILES = 8 };

static volatile pid_t children[MAX_CHILDREN];
static const char *volatile files[MAX_FILES];

void cli_leftover_child(pid_t pid, bool runs) {
  for (int i = 0; i < MAX_CHILDREN; i++)
    if (children[i] == (runs ? 0 : pid)) {
      children[i] = runs ? pid : 0;
      return;
    }
}

void cli_leftover_file(const char *path, bool is_partial) {
  for (int i = 0; i < MAX_FILES; i++)
    if (files[i] == (is_partial ? NULL : path)) {
      files[i] = is_partial ? path : NULL;
      return;
    }
}

void cli_leftovers_end(void) {
  for (int i = 0; i < MAX_CHILDREN; i++)
    if (children[i])
      kill(children[i], SIGKILL);
  for (int i = 0; i < MAX_CHILDREN; i++)
    while (children[i] && waitpid(children[i], NULL, 0) < 0 && errno == EINTR)
      ;
  for (int i = 0; i < MAX_FILES; i++)
    if (files[i])
      unlink(files[i]);
}
