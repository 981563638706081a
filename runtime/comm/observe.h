/* Observation of operations: hooks, the NaN check and the flight recorder. */
#ifndef TPRT_RUNTIME_OBSERVE_H
#define TPRT_RUNTIME_OBSERVE_H

#include "comm/comm.h"
#include "tprt/observe.h"

/* An operation in the flight recorder. */
typedef struct tprt__flight_entry {
  tprt_op_info op;
  tprt_status status; /* TPRT_IN_PROGRESS while it runs */
  int64_t begin_ns, end_ns;
} tprt__flight_entry;

/* State of an observed communicator. Fields that other threads read are written only by a thread
 * that holds both the lane and `lock`; the lane alone guards the rest. */
struct tprt__observer {
  pthread_mutex_t lock;
  tprt_hooks hooks;
  bool check_nan;
  tprt__flight_entry *ring;
  size_t capacity;
  uint64_t n_seen;
};

/* Returns the communicator's observer, and creates it if there is none. NULL if memory is
 * exhausted. */
tprt__observer *tprt__observer_get(tprt_comm *comm);
void tprt__observer_clear(tprt_comm *comm);
/* Sets the capacity of the flight recorder; 0 turns it off. */
tprt_status tprt__observe_flight(tprt_comm *comm, size_t capacity);
/* Turns the NaN check on or off. The caller holds the lane, or the communicator is new. */
tprt_status tprt__observe_nan_check(tprt_comm *comm, bool on);
/* Called before and after n operations that run concurrently. `begin` sets *first, which is passed
 * to `end`. If `begin` fails, the operations fail. */
tprt_status tprt__observe_begin(tprt_comm *comm, const tprt__plan *plans, size_t n, uint64_t *first,
                                int64_t *begin_ns);
void tprt__observe_end(tprt_comm *comm, const tprt__plan *plans, size_t n, uint64_t first,
                       int64_t begin_ns, tprt_status status);
/* Reports that the communicator has failed, with the error text stored in it. */
void tprt__observe_failure(tprt_comm *comm, tprt_status status);

/* ---- flight.c ---- */
tprt_status tprt__flight_resize(tprt__observer *observer, size_t capacity);

#endif
