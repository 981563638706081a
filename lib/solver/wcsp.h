/* A weighted constraint problem over a graph, in the mutable form that the solver reduces, bounds
 * and searches.
 *
 * Invariants between calls:
 *   every cost lies in [0, TP_COST_FORBIDDEN]; sums saturate there, so a sum is forbidden exactly
 *     when it reaches it;
 *   the cost of a choice is `constant` + the costs of the alive nodes + the tables of the alive
 *     edges;
 *   two alive nodes share at most one edge;
 *   label[k] of a node is the number of its k-th remaining strategy in the graph or problem it was
 *     made from, ascending. A node that is eliminated leaves a record from which tp__wcsp_complete
 *     later recovers its best strategy.
 *
 * "limit": only choices of cost < limit are looked for; a strategy that cannot be part of one may
 * be dropped. */
#ifndef TP_LIB_SOLVER_WCSP_H
#define TP_LIB_SOLVER_WCSP_H

#include "solver/pool.h"
#include "solver/shelf.h"
#include "tp/cost.h"

/* 128 bits: sums of memory over many nodes. */
typedef __int128 tp__wide;

/* What a node uses at the times [first, last), by strategy. See solver/memory.h. */
typedef struct tp__wload {
  int first, last;
  int64_t *usage;
} tp__wload;

enum { TP__MEMORY_RUN = 64 };

typedef struct tp__wmemory {
  int n_times;
  tp__wide *room;  /* by time: left for the loads */
  tp__wide *least; /* by run of TP__MEMORY_RUN times: the least room */
  int64_t *time;   /* as the problem calls it */
  /* what a unit of memory is worth there, in units of cost; a guess to start from */
  double *price;
} tp__wmemory;

typedef struct tp__wnode {
  bool alive;
  int n; /* remaining strategies */
  int n_edges, room_edges;
  int *edges; /* indices of alive edges, ascending */
  tp_cost *cost;
  int *label;
  int n_loads, room_loads;
  tp__wload *loads;
} tp__wnode;

typedef struct tp__wedge {
  int node[2]; /* node[0] is -1 when the edge is gone */
  tp_cost *table;
} tp__wedge;

/* An edge as seen from one of its ends. */
typedef struct tp__wview {
  int other;
  tp_cost *table;
  size_t self, far; /* strides: table[x * self + y * far] */
} tp__wview;

typedef struct tp__wrecord_side {
  int node, n;
  int *label; /* of the neighbour when the record was made */
  const tp_cost *table;
  size_t self, far;
} tp__wrecord_side;

typedef struct tp__wrecord {
  int node, n, n_sides;
  const tp_cost *cost;
  const int *label;
  tp__wrecord_side side[2];
} tp__wrecord;

typedef struct tp__wcsp {
  tp__pool pool;
  int n_nodes, n_alive;
  tp__wnode *nodes;
  int n_edges, room_edges;
  tp__wedge *edges;
  int n_records;
  tp__wrecord *records;
  tp_cost constant;
  tp__wmemory *memory; /* NULL: no limit */
  /* NULL: every array belongs to one node or edge, and may change; else see solver/shelf.h */
  tp__shelf *shelf;
} tp__wcsp;

static inline tp__wview tp__wcsp_view(const tp__wcsp *g, int edge, int node) {
  const tp__wedge *e = &g->edges[edge];
  size_t columns = (size_t)g->nodes[e->node[1]].n;
  return e->node[0] == node ? (tp__wview){e->node[1], e->table, columns, 1}
                            : (tp__wview){e->node[0], e->table, 1, columns};
}

/* An empty graph with room for n_nodes nodes, none alive. NULL when memory runs out. */
tp__wcsp *tp__wcsp_create(int n_nodes);
void tp__wcsp_destroy(tp__wcsp *g);

/* An array of the graph's pool that nothing refers to yet is complete: with a shelf, the one that
 * stands for all that are equal. NULL for NULL, and when memory runs out. */
tp_cost *tp__wcsp_share(tp__wcsp *g, tp_cost *array, size_t n);

/* Brings node `node` to life. `label` NULL means 0, 1, ... */
tp_status tp__wcsp_set_node(tp__wcsp *g, int node, int n, const tp_cost *cost, const int *label);

/* The same with costs of the graph's pool, which the node takes over, and labels 0, 1, ... */
tp_status tp__wcsp_give_node(tp__wcsp *g, int node, int n, tp_cost *cost);

/* Adds a table between a and b: entry (x, y) is table[x * stride_a + y * stride_b]. An existing
 * edge takes it up. */
tp_status tp__wcsp_connect(tp__wcsp *g, int a, int b, const tp_cost *table, size_t stride_a,
                           size_t stride_b);
/* Adds a table[strategies of a][strategies of b] between a < b. It is of the graph's pool, and the
 * graph takes it over. */
tp_status tp__wcsp_give(tp__wcsp *g, int a, int b, tp_cost *table);
/* The same with a table[strategies of b][strategies of a], which stays as it is. */
tp_status tp__wcsp_give_turned(tp__wcsp *g, int a, int b, const tp_cost *table);
void tp__wcsp_remove_edge(tp__wcsp *g, int edge);

/* Takes `node` out of the graph and notes how to recover it: its best strategy given those of the
 * other ends of the `n` <= 2 edges in `edges` (its alive edges or a subset). The edges stay. */
tp_status tp__wcsp_record(tp__wcsp *g, int node, int n, const int *edges);

/* Gives each alive node and edge arrays of its own, and the graph no shelf. */
tp_status tp__wcsp_unshare(tp__wcsp *g);

/* Drops the strategies x with drop[x] and compacts the node, its loads and the tables of its
 * edges. */
tp_status tp__wcsp_drop(tp__wcsp *g, int node, const bool *drop);

/* A graph of the nodes members[0..n): its node i is members[i], its labels are those of `g`, its
 * constant is 0. Edges to other nodes are left out, and so is memory. If `fixed` is a member, it
 * keeps only its strategy `strategy`. NULL when memory runs out. */
tp__wcsp *tp__wcsp_extract(const tp__wcsp *g, const int *members, int n, int fixed, int strategy);

/* The index of the strategy with that label (labels ascend), -1 if the node has lost it. */
int tp__wcsp_find(const tp__wnode *v, int label);

/* The graph of members[0..n), in which all other alive nodes are fixed to `at`: what they mean for
 * a member is added to its costs. *present is what the members, and the tables of their edges, cost
 * at `at`. NULL when memory runs out. */
tp__wcsp *tp__wcsp_condition(const tp__wcsp *g, const int *members, int n, const int *at,
                             tp_cost *present);

/* Cost of the alive part plus the constant; `at` has the index (not the label) of a remaining
 * strategy per alive node. */
tp_cost tp__wcsp_evaluate(const tp__wcsp *g, const int *at);

/* `choices` has labels for the alive nodes; fills in the eliminated ones, best possible given
 * those. */
void tp__wcsp_complete(const tp__wcsp *g, int *choices);

/* Number of entries in the tables of alive edges, and of strategies of alive nodes. */
int64_t tp__wcsp_entries(const tp__wcsp *g);
int64_t tp__wcsp_strategies(const tp__wcsp *g);

#endif
