/* The mailbox of the examples with a rank that ends when a test says so: it is known to have ended, and nothing comes from it any
 * more. */
#include <stdatomic.h>

#define tprt_messenger_plugin mailbox_plugin
#include "../../examples/runtime/mailbox_backend.c"
#undef tprt_messenger_plugin

TPRT_API _Atomic int mortal_ended; /* number of the rank, counted from 1; 0: none */

static tprt_status mortal_send(void *at, int peer, uint32_t tag, const void *data, size_t bytes, void **result) {
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

static bool mortal_has_ended(void *at, int peer) {
  (void)at;
  return peer + 1 == atomic_load(&mortal_ended);
}

TPRT_API tprt_messenger_plugin_fn tprt_messenger_plugin;
const tprt_messenger *tprt_messenger_plugin(void) {
  static tprt_messenger mortal;
  mortal = *mailbox_plugin();
  mortal.name = "mortal";
  mortal.send = mortal_send;
  mortal.ended = mortal_has_ended;
  return &mortal;
}
