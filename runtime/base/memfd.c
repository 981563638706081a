/* Memory files of sealed size. */
#define _GNU_SOURCE 1
#include "base/memfd.h"

#include <fcntl.h>
#include <sys/mman.h>
#include <unistd.h>

tprt_status tprt__memfd_make(const void *head, size_t n_head, uint64_t total, int *fd) {
  int made = memfd_create("tprt", MFD_CLOEXEC | MFD_ALLOW_SEALING);
  if (made < 0)
    return tprt__fail_errno("memfd_create");
  if (ftruncate(made, (off_t)total) != 0 || pwrite(made, head, n_head, 0) != (ssize_t)n_head ||
      fcntl(made, F_ADD_SEALS, F_SEAL_SHRINK | F_SEAL_GROW | F_SEAL_SEAL) != 0) {
    tprt_status status =
        tprt__fail_errno("cannot create a shared segment of %llu bytes", (unsigned long long)total);
    close(made);
    return status;
  }
  *fd = made;
  return TPRT_OK;
}

bool tprt__memfd_is_sealed(int fd) {
  const int size = F_SEAL_SHRINK | F_SEAL_GROW;
  int seals = fcntl(fd, F_GET_SEALS);
  return seals >= 0 && (seals & size) == size;
}
