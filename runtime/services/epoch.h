/* The world of the next epoch, for the ranks that continue (reconfigure.c) and for the spares that
 * come (spare.c). */
#ifndef TPRT_SERVICES_EPOCH_H
#define TPRT_SERVICES_EPOCH_H

#include "comm/comm.h"

/* The time that the creation of the world has at least, also if the last spare comes when the time
 * of the call is almost over. */
enum { TPRT__EPOCH_NS = 1000000000 };

/* Checks that a backend can take in processes. */
tprt_status tprt__epoch_check(const tprt__backend *backend);
/* Creates the world of an epoch, whose ranks meet in the store `meeting`. `own` is the place of
 * this process, which has been a rank since epoch `joined`. */
tprt_status tprt__epoch_world(const tprt__invitation *own, const tprt__settings *settings,
                              int joined, tprt_store *meeting, int64_t deadline, tprt_comm **next);
/* Called by all ranks of a new world: each learns since which epoch every other has been a rank. */
tprt_status tprt__epoch_exchange(tprt_comm *next);

#endif
