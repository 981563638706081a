/* Memory files that processes of one host map. They have no name, and their size cannot change. */
#ifndef TPRT_RUNTIME_MEMFD_H
#define TPRT_RUNTIME_MEMFD_H

#include "base/base.h"

/* Creates a file of `total` bytes that begins with `n_head` bytes of `head`; the others are zero.
 * The size is sealed, so that no peer can shrink the file under a mapping. Pages are allocated when
 * they are touched. *fd is close-on-exec. */
tprt_status tprt__memfd_make(const void *head, size_t n_head, uint64_t total, int *fd);
/* True if the size of a file is sealed. */
bool tprt__memfd_is_sealed(int fd);

#endif
