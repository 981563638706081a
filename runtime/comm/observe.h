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
  uint64_t n_seen, kept_from; /* operations before this one are not in the ring */
};

/* Returns the communicator's observer, and creates it if there is none. NULL if memory is
 * exhausted. */
tprt__observer *tprt__observer_get(tprt_comm *comm);
void tprt__observer_clear(tprt_comm *comm);
/* Sets the capacity of the flight recorder; 0 turns it off. */
tprt_status tprt__observe_flight(tprt_comm *comm, size_t capacity);
/* Turns the NaN check on or off. The caller holds the lane, or the communicator is new. */
tprt_status tprt__observe_nan_check(tprt_comm *comm, bool on);
/* n operations that run concurrently, between their begin and their end. */
typedef struct tprt__observation {
  tprt_comm *comm;
  uint64_t first; /* number of the first operation in the flight recorder */
  int64_t begin_ns;
  bool started; /* the hook `start` was called */
  size_t n;
  tprt_op_info *ops; /* &one, or allocated */
  tprt_op_info one;
} tprt__observation;

/* Called before n operations run, with the lane held. If it fails, the operations fail. Call the
 * next three in either case. `seen` must not move. */
tprt_status tprt__observe_begin(tprt_comm *comm, const tprt__plan *plans, size_t n,
                                tprt__observation *seen);
/* Called after the operations have run, or have been enqueued. The caller holds the lane. */
void tprt__observe_post(const tprt__observation *seen, tprt_status status);
/* Called when the operations have ended. From any thread. */
void tprt__observe_end(const tprt__observation *seen, tprt_status status);
/* Frees what `begin` has allocated. */
void tprt__observe_clear(tprt__observation *seen);
/* Called before a schedule runs. */
void tprt__observe_replay(tprt_comm *comm, uint64_t hash, uint64_t run);
/* Reports that the communicator has failed, with the error text stored in it, and writes the flight
 * recorder to its directory. */
void tprt__observe_failure(tprt_comm *comm, tprt_status status);

/* ---- flight.c ---- */
tprt_status tprt__flight_resize(tprt__observer *observer, size_t capacity);
/* Writes the flight recorder to the communicator's directory, if it has one. */
void tprt__flight_save(tprt_comm *comm);

#endif
