/* Output files that are written under a temporary name and renamed when they are complete. */
#include "cli.h"

#include <errno.h>
#include <fcntl.h>
#include <stdint.h>
#include <string.h>
#include <sys/random.h>
#include <sys/stat.h>
#include <unistd.h>

static bool is_replaced(const char *path) {
  struct stat state;
  return lstat(path, &state) != 0 || S_ISREG(state.st_mode);
}

/* Creates a file that no other process writes. Returns its descriptor, or -1 with errno set. */
static int create_partial(cli_file *file) {
  uint32_t number;
  if (getentropy(&number, sizeof number) != 0)
    return -1;
  snprintf(file->partial, sizeof file->partial, "%s.%08x.partial", file->path, (unsigned)number);
  return open(file->partial, O_WRONLY | O_CREAT | O_EXCL, 0666);
}

bool cli_file_open(cli_file *file, const char *path) {
  *file = (cli_file){.path = path};
  if (strlen(path) + sizeof ".01234567.partial" > sizeof file->partial) {
    errno = ENAMETOOLONG;
    return false;
  }
  if (!is_replaced(path)) {
    snprintf(file->partial, sizeof file->partial, "%s", path);
    file->stream = fopen(path, "w");
    return file->stream != NULL;
  }
  int created = create_partial(file);
  file->stream = created < 0 ? NULL : fdopen(created, "w");
  if (file->stream)
    cli_leftover_file(file->partial, true);
  return file->stream != NULL;
}

bool cli_file_close(cli_file *file, bool ok) {
  bool is_partial = strcmp(file->partial, file->path) != 0;
  ok = ok && fflush(file->stream) == 0 && !ferror(file->stream);
  int error = errno; /* that of the first failure; later calls may overwrite errno */
  if (fclose(file->stream) != 0 && ok) {
    ok = false;
    error = errno;
  }
  if (ok && is_partial && rename(file->partial, file->path) != 0) {
    ok = false;
    error = errno;
  }
  if (is_partial)
    cli_leftover_file(file->partial, false);
  if (!ok && is_partial)
    unlink(file->partial);
  errno = error;
  return ok;
}
