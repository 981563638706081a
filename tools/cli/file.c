/* Output files that are written under a temporary name and renamed when they are complete. */
#include "cli.h"

#include <errno.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

static bool is_replaced(const char *path) {
  struct stat state;
  return lstat(path, &state) != 0 || S_ISREG(state.st_mode);
}

bool cli_file_open(cli_file *file, const char *path) {
  *file = (cli_file){.path = path};
  if (strlen(path) + sizeof ".partial" > sizeof file->partial) {
    errno = ENAMETOOLONG;
    return false;
  }
  snprintf(file->partial, sizeof file->partial, is_replaced(path) ? "%s.partial" : "%s", path);
  file->stream = fopen(file->partial, "w");
  if (file->stream && strcmp(file->partial, path) != 0)
    cli_leftover_file(file->partial, true);
  return file->stream != NULL;
}

bool cli_file_close(cli_file *file, bool ok) {
  bool is_partial = strcmp(file->partial, file->path) != 0;
  ok = fflush(file->stream) == 0 && !ferror(file->stream) && ok;
  ok = fclose(file->stream) == 0 && ok;
  ok = ok && (!is_partial || rename(file->partial, file->path) == 0);
  if (is_partial)
    cli_leftover_file(file->partial, false);
  if (!ok && is_partial) {
    int error = errno;
    unlink(file->partial);
    errno = error;
  }
  return ok;
}
