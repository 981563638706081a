/* Messengers: backends of users. A messenger moves bytes between ranks, one message at a time;
 * libtprt makes all of its operations out of such messages, with signatures, deadlines, groups and
 * reductions in the order of the ranks.
 *
 * A plug-in is a shared library that exports `tprt_messenger_plugin`. It is named by its absolute
 * path, in tprt_config.backend or TPRT_BACKEND, and is never unloaded.
 *
 * Calls for one end come one at a time, though from different threads, but for wait. None but open
 * and wait may wait. A function that fails says why with tprt_messenger_fail and returns its
 * status. Messages between the same two ranks with the same tag arrive in the order in which they
 * were sent. There is at most one receive for a source and a tag at a time, but messages that
 * nobody has asked for yet must be kept. */
#ifndef TPRT_MESSENGER_H
#define TPRT_MESSENGER_H

#include "tprt/types.h"

#ifdef __cplusplus
extern "C" {
#endif

enum {
  TPRT_MESSENGER_ABI = 1,
  TPRT_MESSENGER_LEAST_TAG = 1 << 20, /* least value of most_tag */
};

typedef struct tprt_messenger {
  size_t size;  /* sizeof(tprt_messenger) */
  uint32_t abi; /* TPRT_MESSENGER_ABI; another number is refused with both */
  /* Lives as long as the library. What tprt_comm_backend says, and a line about it. */
  const char *name, *summary;
  /* Opens one rank's end of a world of processes, within the timeout. *most_tag becomes the largest
   * tag; *host_ranks the number of ranks on this host. NULL: there are no such worlds. */
  tprt_status (*open)(int n_ranks, int rank, int64_t timeout_ns, void **end, uint32_t *most_tag,
                      int *host_ranks);
  /* The same for n ranks of this process, whose ends it writes. NULL: ranks are processes. */
  tprt_status (*open_threads)(int n_ranks, void **ends, uint32_t *most_tag);
  /* Starts a message of at most 2^30 bytes to or from another rank. The data stays as it is until
   * the request is done or canceled. A receive gets exactly as many bytes as were sent. */
  tprt_status (*send)(void *end, int peer, uint32_t tag, const void *data, size_t bytes,
                      void **request);
  tprt_status (*receive)(void *end, int peer, uint32_t tag, void *data, size_t bytes,
                         void **request);
  /* TPRT_IN_PROGRESS, or the result, with which the request ceases to exist. */
  tprt_status (*test)(void *end, void *request);
  /* Gives a request up, which ceases to exist. False: its data may still be read or written. */
  bool (*cancel)(void *end, void *request);
  /* Whether a rank is known to have ended. */
  bool (*ended)(void *end, int peer);
  /* After all requests are done or canceled. */
  void (*close)(void *end);
  /* Waits until something may have come, or may be sent again, for at most so long. Called by any
   * thread, beside other calls for this end. NULL: the library looks again after a little sleep. */
  void (*wait)(void *end, int64_t timeout_ns);
} tprt_messenger;

/* What a plug-in exports. */
typedef const tprt_messenger *tprt_messenger_plugin_fn(void);

/* Sets the calling thread's error text, and returns the status. */
TPRT_API tprt_status tprt_messenger_fail(tprt_status status, const char *text);

#ifdef __cplusplus
}
#endif
#endif
