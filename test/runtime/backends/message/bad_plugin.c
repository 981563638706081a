/* Plug-ins that must be rejected: one of another version, and, with BAD_INCOMPLETE, one without
 * functions. */
#include "tprt/messenger.h"

TPRT_API tprt_messenger_plugin_fn tprt_messenger_plugin;
const tprt_messenger *tprt_messenger_plugin(void) {
  static const tprt_messenger bad = {
      .size = sizeof bad,
#ifdef BAD_INCOMPLETE
      .abi = TPRT_MESSENGER_ABI,
#else
      .abi = 77,
#endif
      .name = "bad",
      .summary = "refused",
  };
  return &bad;
}
