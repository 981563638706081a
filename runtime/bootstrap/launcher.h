/* Opens the store that a launcher provides. */
#ifndef TPRT_BOOTSTRAP_LAUNCHER_H
#define TPRT_BOOTSTRAP_LAUNCHER_H

#include "base/base.h"
#include "tprt/bootstrap.h"

/* Opens the store in which the ranks of a launch meet, and the one in which their spares wait. */
tprt_status tprt__launch_store(const tprt_launch *launch, int64_t timeout_ns, tprt_store **store);
tprt_status tprt__launch_spares(const tprt_launch *launch, int64_t timeout_ns, tprt_store **store);
/* Says in the store of spares that this process has become a rank. */
tprt_status tprt__launch_enrol(tprt_store *spares);

#endif
