/* The mailbox plug-in of the examples with a rank that dies on request: it is known to have ended,
 * and no more messages come from it. Or with a rank that ends after its last message: both become
 * visible at once, between two polls. */
#include <stdatomic.h>

#define tprt_messenger_plugin mailbox_plugin
#include "examples/runtime/mailbox_backend.c"
#undef tprt_messenger_plugin

/* Ranks, counted from 1; 0: none. */
TPRT_API _Atomic int mortal_ended;
TPRT_API _Atomic int mortal_last; /* ends after a message of at least LAST_BYTES */
enum { LAST_BYTES = 10000, LAST_LOOKS = 2 };
static _Atomic int n_looks; /* polls of the last message */

static tprt_status mortal_send(void *at, int peer, uint32_t tag, const void *data, size_t bytes,
                               void **result) {
  const end *from = at;
  if (from->rank + 1 != atomic_load(&mortal_ended))
    return start_send(at, peer, tag, data, bytes, result);
  request *lost = calloc(1, sizeof *lost);
  if (!lost)
    return tprt_messenger_fail(TPRT_NO_MEMORY, "mortal: no memory for a request");
  lost->is_send = 1;
  *result = lost;
  return TPRT_OK;
}

static bool is_there(end *to, const request *wanted) {
  pthread_mutex_lock(&to->office->lock);
  const message *at = to->office->first;
  while (at && (at->to != to->rank || at->from != wanted->from || at->tag != wanted->tag))
    at = at->next;
  pthread_mutex_unlock(&to->office->lock);
  return at != NULL;
}

static tprt_status mortal_test(void *at, void *asked) {
  const request *r = asked;
  bool last = !r->is_send && r->from + 1 == atomic_load(&mortal_last) && r->bytes >= LAST_BYTES;
  if (last && is_there(at, r) && atomic_fetch_add(&n_looks, 1) < LAST_LOOKS)
    return TPRT_IN_PROGRESS; /* it arrives right after the last of these polls */
  return test(at, asked);
}

static bool mortal_has_ended(void *at, int peer) {
  (void)at;
  return peer + 1 == atomic_load(&mortal_ended) ||
         (peer + 1 == atomic_load(&mortal_last) && atomic_load(&n_looks) >= LAST_LOOKS);
}

TPRT_API tprt_messenger_plugin_fn tprt_messenger_plugin;
const tprt_messenger *tprt_messenger_plugin(void) {
  static tprt_messenger mortal;
  mortal = *mailbox_plugin();
  mortal.name = "mortal";
  mortal.send = mortal_send;
  mortal.test = mortal_test;
  mortal.ended = mortal_has_ended;
  return &mortal;
}
