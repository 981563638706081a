/* One operation on one rank: fills the buffers, runs the operation, compares every element of the
 * result. */
#ifndef TPRT_TEST_SCENARIO_H
#define TPRT_TEST_SCENARIO_H

#include "tprt/tprt.h"

/* Memory layout of the pieces of the kinds ..._V. */
typedef enum piece_style { PACKED, AT_OFFSETS, IN_LIST, N_PIECE_STYLES } piece_style;

typedef struct scenario {
  tprt_op_kind kind;
  tprt_dtype dtype;
  tprt_reduction reduction;
  /* shape of the send tensor; the operation works on dim 1. The kinds ..._V: pieces of about
   * `width` */
  int64_t outer, width, inner;
  int root;
  piece_style style;
  bool in_place, misaligned, registered;
} scenario;

/* Properties of a kind. */
bool scenario_is_collective(tprt_op_kind kind); /* has data */
bool scenario_reduces(tprt_op_kind kind);
bool scenario_cuts(tprt_op_kind kind); /* the ranks must divide width */
bool scenario_in_pieces(tprt_op_kind kind);
bool scenario_has_root(tprt_op_kind kind);
bool scenario_in_place(tprt_op_kind kind); /* send == recv is allowed */

/* For backends that do not use host memory; set before worlds are created. */
typedef struct scenario_place {
  void *(*take)(tprt_comm *comm, size_t bytes);
  void (*give)(tprt_comm *comm, void *block);
  /* Copies between the host and memory from `take` or tprt_mem_alloc; `bytes` may be 0. */
  void (*write)(tprt_comm *comm, void *to, const void *from, size_t bytes);
  void (*read)(tprt_comm *comm, void *to, const void *from, size_t bytes);
} scenario_place;
void scenario_set_place(const scenario_place *place);

/* The host of each rank of the world, where the backend adds the ranks of a host first; NULL, as at
 * the start: it adds all in their order. The array is kept. */
void scenario_set_hosts(const int *hosts);

/* Runs and counts one case; returns its errors. */
int scenario_run(tprt_comm *comm, const scenario *s);

/* Returns the number of cases that rank 0 of all worlds has run, including processes. */
long scenario_count(void);

/* Allocates registered or private memory, 1 byte off if misaligned; *block is for scenario_give. */
void *scenario_take(tprt_comm *comm, const scenario *s, size_t bytes, void **block);
void scenario_give(tprt_comm *comm, const scenario *s, void *block);

#endif
