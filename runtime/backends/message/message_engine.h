/* A collective that runs over messages: what the files of collectives share. The caller holds the
 * lock of the world in all functions. */
#ifndef TPRT_RUNTIME_WIRE_ENGINE_H
#define TPRT_RUNTIME_WIRE_ENGINE_H

#include "backends/message/message.h"

typedef struct wire_engine {
  wire_transport *wire;
  const tprt__plan *plan;
  wire_wait wait;
  uint32_t tag; /* first tag of the data that this rank expects */
  /* a reduction that adds the ranks of each host first, and then the hosts */
  bool by_host;
  wire_move *moves;
  int n_moves;
} wire_engine;

/* ---- message_collective.c ---- */
static inline const wire_note *tprt__wire_note_of(const wire_engine *run, int i) {
  return &run->wire->peers[i].arrived[run->wire->step & 1];
}

/* Ensures that wire->scratch has capacity for n aligned pieces of `bytes` bytes. *stride is the
 * distance between two pieces. */
tprt_status tprt__wire_scratch(wire_engine *run, int n, int64_t bytes, int64_t *stride);

/* Add a message; none if it has no bytes. Messages of an operation between the same ranks that are
 * pending at the same time differ in `part`. add_send returns the index of the move plus 1; 0:
 * none. */
int tprt__wire_add_send(wire_engine *run, int peer, const void *at, int64_t bytes, int part);
void tprt__wire_add_receive(wire_engine *run, int peer, void *at, int64_t bytes, int part);

/* Runs the moves, and empties the list. Receives have to precede sends in the list: it is started
 * from its end. */
tprt_status tprt__wire_run_moves(wire_engine *run);

/* True if every piece of a tensor is contiguous. */
static inline bool tprt__wire_in_runs(tprt__map map, int64_t piece) {
  return map.n == 1 || map.run == piece;
}
/* Returns byte `at` of a contiguous piece. */
static inline char *tprt__wire_piece_at(const void *tensor, tprt__map map, int index, int64_t at) {
  return (char *)(uintptr_t)tensor + (map.n > 1 ? index * map.run : 0) + at;
}

/* ---- message_hosts.c ---- */
/* True if a reduction adds the ranks of each host first. The order matters where sums are rounded;
 * then hint deterministic selects the order of the ranks. */
static inline bool tprt__wire_adds_by_host(const wire_transport *wire, const tprt__plan *plan) {
  return wire->hosts.n && plan->reduction && !(plan->deterministic && tprt__plan_rounds(plan));
}
/* True if this operation has an algorithm by host that saves bytes between hosts. Equal on all
 * ranks. */
bool tprt__wire_has_host_algorithm(const wire_transport *wire, const tprt__plan *plan);
/* Returns the capacity that run->moves needs for it. */
size_t tprt__wire_host_moves(const wire_transport *wire);
tprt_status tprt__wire_run_by_host(wire_engine *run);
/* Reduces the inputs of all ranks, wire->sources, into `to`: those of each host, and then the sums
 * of the hosts. */
void tprt__wire_reduce_by_host(wire_engine *run, void *to, int64_t bytes);

#endif
