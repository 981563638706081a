/* Opens the store that a launcher provides. */
#ifndef TPRT_BOOTSTRAP_LAUNCHER_H
#define TPRT_BOOTSTRAP_LAUNCHER_H

#include "base/base.h"
#include "tprt/bootstrap.h"

tprt_status tprt__launch_store(const tprt_launch *launch, int64_t timeout_ns, tprt_store **store);

#endif
