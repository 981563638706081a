/* Test cases that tables of operations and shapes do not cover. */
#ifndef TPRT_TEST_PATHS_H
#define TPRT_TEST_PATHS_H

#include "tprt/tprt.h"

/* Each is the function of a rank; all ranks of a communicator call it. */
int path_mixed_placement(tprt_comm *comm, void *argument);
int path_own_place(tprt_comm *comm, void *argument);
int path_odd_permutes(tprt_comm *comm, void *argument);
int path_all_to_all_dims(tprt_comm *comm, void *argument);
int path_capabilities(tprt_comm *comm, void *argument);

/* transfers.c: sends and recvs. */
int path_random_transfers(tprt_comm *comm, void *argument);
int path_tags(tprt_comm *comm, void *argument);
int path_same_tag(tprt_comm *comm, void *argument);

/* coalesced.c: batches of independent collectives. */
int path_coalesced(tprt_comm *comm, void *argument);

/* windows.c */
int path_windows(tprt_comm *comm, void *argument);

/* accesses.c */
int path_accesses(tprt_comm *comm, void *argument);

#endif
