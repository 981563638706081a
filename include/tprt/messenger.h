/* Messengers: backends that users implement. A messenger moves bytes between ranks, one message at
 * a time. libtprt builds all of its operations from such messages, with signatures, deadlines,
 * groups and reductions in rank order.
 *
 * A plug-in is a shared library that exports `tprt_messenger_plugin`. It is selected by its
 * absolute path, in tprt_config.backend or TPRT_BACKEND, and is never unloaded.
 *
 * Calls on one endpoint are serialized, though they come from different threads; `wait` is the
 * exception. Only `open` and `wait` may block. A function that fails reports the reason with
 * tprt_messenger_fail and returns its status. Messages between the same two ranks with the same tag
 * arrive in send order. For a source and a tag there is at most one pending receive, but the
 * messenger must buffer messages that have no receive yet. */
#ifndef TPRT_MESSENGER_H
#define TPRT_MESSENGER_H

#include "tprt/types.h"

#ifdef __cplusplus
extern "C" {
#endif

enum {
  TPRT_MESSENGER_ABI = 1,
  TPRT_MESSENGER_LEAST_TAG = 1 << 20, /* lower bound of most_tag */
};

typedef struct tprt_messenger {
  size_t size; /* sizeof(tprt_messenger) */
  /* TPRT_MESSENGER_ABI; if it differs, the plug-in is refused and the error names both numbers */
  uint32_t abi;
  /* Lives as long as the library: the name that tprt_comm_backend returns, and a one-line
   * summary. */
  const char *name, *summary;
  /* Opens the endpoint of one rank in a world of processes, within the timeout. Sets *most_tag to
   * the largest tag and *host_ranks to the number of ranks on this host. NULL: worlds of processes
   * are not supported. */
  tprt_status (*open)(int n_ranks, int rank, int64_t timeout_ns, void **end, uint32_t *max_tag,
                      int *host_ranks);
  /* The same for n ranks of this process; writes their n endpoints. NULL: ranks must be
   * processes. */
  tprt_status (*open_threads)(int n_ranks, void **ends, uint32_t *max_tag);
  /* Start a message of at most 2^30 bytes to or from another rank. The caller keeps the data
   * unchanged until the request is done or canceled. A receive gets exactly as many bytes as were
   * sent. */
  tprt_status (*send)(void *end, int peer, uint32_t tag, const void *data, size_t bytes,
                      void **request);
  tprt_status (*receive)(void *end, int peer, uint32_t tag, void *data, size_t bytes,
                         void **request);
  /* Returns TPRT_IN_PROGRESS, or the result; a result also releases the request. */
  tprt_status (*test)(void *end, void *request);
  /* Cancels and releases a request. False: its data may still be read or written. */
  bool (*cancel)(void *end, void *request);
  /* Returns true if a rank is known to have ended. */
  bool (*ended)(void *end, int peer);
  /* Closes an endpoint. Called after all requests are done or canceled. */
  void (*close)(void *end);
  /* Waits at most timeout_ns until a message may have arrived or a send may make progress. Called
   * by any thread, concurrently with other calls on this endpoint. NULL: the library polls, with
   * short sleeps. */
  void (*wait)(void *end, int64_t timeout_ns);
} tprt_messenger;

/* The function that a plug-in exports. */
typedef const tprt_messenger *tprt_messenger_plugin_fn(void);

/* Sets the calling thread's error text (NULL: the name of the status) and returns `status`. */
TPRT_API tprt_status tprt_messenger_fail(tprt_status status, const char *text);

#ifdef __cplusplus
}
#endif
#endif
