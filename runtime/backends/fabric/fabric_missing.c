/* In place of the files that call libfabric, where its headers were not found. */
#include "backends/fabric/fabric.h"

tprt_status tprt__fabric_load(void) {
  return tprt__fail(TPRT_UNSUPPORTED,
                    "backend fabric: this tprt was built without the headers of libfabric; install "
                    "them (Debian: libfabric-dev) and build again, or use backend tcp");
}

tprt_status tprt__fabric_open(tcp_endpoint *near, const tprt__settings *settings, void **end,
                              uint32_t *max_tag) {
  (void)settings;
  (void)end;
  (void)max_tag;
  tprt__tcp_messenger.close(near);
  return tprt__fabric_load();
}

const tprt_messenger tprt__fabric_messenger;
