/* What is done around operations when somebody looks. */
#ifndef TPRT_RUNTIME_OBSERVE_H
#define TPRT_RUNTIME_OBSERVE_H

#include "comm/comm.h"
#include "tprt/observe.h"

/* An operation that the flight recorder has seen. */
typedef struct tprt__flight_entry {
  tprt_op_info op;
  tprt_status status; /* IN_PROGRESS while it runs */
  int64_t begin_ns, end_ns;
} tprt__flight_entry;

/* Of a communicator that is looked at; belongs to the lane and, for what others read, to the lock
 * as well: whoever changes it holds both. */
struct tprt__observer {
  pthread_mutex_t lock;
  tprt_hooks hooks;
  bool check_nan;
  tprt__flight_entry *ring;
  size_t capacity;
  uint64_t n_seen;
};

/* The communicator's observer, made when it has none; NULL: no memory. */
tprt__observer *tprt__observer_get(tprt_comm *comm);
void tprt__observer_clear(tprt_comm *comm);
/* Starts the flight recorder of a new communicator, unless `capacity` is 0. */
tprt_status tprt__observe_from(tprt_comm *comm, size_t capacity);
/* What a group of this communicator's should start with. */
size_t tprt__observe_capacity(const tprt_comm *comm);
/* Before and after n operations that run at once; `first` is what `begin` gave. A failure of
 * `begin` is theirs. */
tprt_status tprt__observe_begin(tprt_comm *comm, const tprt__plan *plans, size_t n, uint64_t *first,
                                int64_t *begin_ns);
void tprt__observe_end(tprt_comm *comm, const tprt__plan *plans, size_t n, uint64_t first,
                       int64_t begin_ns, tprt_status status);
/* The communicator has failed, with this text. */
void tprt__observe_failure(tprt_comm *comm, tprt_status status);

/* ---- flight.c ---- */
tprt_status tprt__flight_resize(tprt__observer *observer, size_t capacity);

#endif
