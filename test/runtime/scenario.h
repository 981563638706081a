/* One operation on one rank: buffers are filled, the operation runs, every element of the result is
 * compared. */
#ifndef TPRT_TEST_SCENARIO_H
#define TPRT_TEST_SCENARIO_H

#include "tprt/tprt.h"

/* How the pieces of the kinds ..._V lie in memory. */
typedef enum piece_style { PACKED, AT_OFFSETS, IN_LIST, N_PIECE_STYLES } piece_style;

typedef struct scenario {
  tprt_op_kind kind;
  tprt_dtype dtype;
  tprt_reduction reduction;
  /* shape of the send tensor; dim 1 is worked on. The kinds ..._V: pieces of about width */
  int64_t outer, width, inner;
  int root;
  piece_style style;
  bool in_place, misaligned, registered;
} scenario;

/* What a kind can vary. */
bool scenario_is_collective(tprt_op_kind kind); /* with data */
bool scenario_reduces(tprt_op_kind kind);
bool scenario_cuts(tprt_op_kind kind); /* the ranks have to divide width */
bool scenario_in_pieces(tprt_op_kind kind);
bool scenario_has_root(tprt_op_kind kind);
bool scenario_in_place(tprt_op_kind kind); /* send == recv is allowed */

/* For a backend that does not work on memory of the host, or refuses reductions; to be set before
 * worlds are made. */
typedef struct scenario_place {
  void *(*take)(tprt_comm *comm, size_t bytes);
  void (*give)(tprt_comm *comm, void *block);
  /* Between the host and what `take` or tprt_mem_alloc gave; `bytes` may be 0. */
  void (*write)(tprt_comm *comm, void *to, const void *from, size_t bytes);
  void (*read)(tprt_comm *comm, void *to, const void *from, size_t bytes);
  bool (*refuses)(const scenario *s);
} scenario_place;
void scenario_set_place(const scenario_place *place);

/* Counts one case and the errors in it. */
int scenario_run(tprt_comm *comm, const scenario *s);

/* Cases that rank 0 of all worlds ran so far, processes included. */
long scenario_count(void);

/* Registered or private memory, 1 byte off if misaligned; *block is for scenario_give. */
void *scenario_take(tprt_comm *comm, const scenario *s, size_t bytes, void **block);
void scenario_give(tprt_comm *comm, const scenario *s, void *block);

#endif
