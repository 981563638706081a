/* A weighted constraint satisfaction problem over a graph, in the mutable form that the solver
 * reduces, bounds and searches.
 *
 * Invariants between calls:
 *   - Every cost is in [0, TP_COST_FORBIDDEN]. Sums saturate there, so a sum is forbidden exactly
 *     if it reaches that value.
 *   - The cost of an assignment is `constant` + the costs of the alive nodes + the table entries of
 *     the alive edges.
 *   - Two alive nodes share at most one edge.
 *   - label[k] of a node is the number of its k-th remaining strategy in the graph or problem that
 *     it was made from, ascending. An eliminated node leaves a record, from which tp__wcsp_complete
 *     later recovers its best strategy.
 *
 * "limit": only assignments of cost < limit are searched for; a strategy that cannot be part of one
 * may be dropped. */
#ifndef TP_LIB_SOLVER_WCSP_H
#define TP_LIB_SOLVER_WCSP_H

#include "solver/hash_cons.h"
#include "solver/pool.h"
#include "tp/cost.h"

/* 128 bits, for sums of memory over many nodes. */
typedef __int128 tp__int128;

/* The usage of a node at the times [first, last), by strategy. See solver/memory.h. */
typedef struct tp__live_usage {
  int first, last;
  int64_t *usage;
} tp__live_usage;

enum { TP__MEMORY_RUN = 64 };

typedef struct tp__wmemory {
  int n_times;
  tp__int128 *capacity; /* by time: capacity left for the loads */
  tp__int128 *least;    /* by run of TP__MEMORY_RUN times: the minimum capacity */
  int64_t *time;        /* the time as numbered in the problem */
  /* by time: the price of a unit of memory, in units of cost; an initial estimate */
  double *price;
} tp__wmemory;

typedef struct tp__wnode {
  bool alive;
  int n; /* remaining strategies */
  int n_edges, edge_capacity;
  int *edges; /* indices of alive edges, ascending */
  tp_cost *cost;
  int *label;
  int n_loads, load_capacity;
  tp__live_usage *loads;
} tp__wnode;

typedef struct tp__wedge {
  int node[2]; /* node[0] is -1 for a removed edge */
  tp_cost *table;
} tp__wedge;

/* An edge as seen from one of its endpoints. */
typedef struct tp__wview {
  int other;
  tp_cost *table;
  size_t self, far; /* strides: table[x * self + y * far] */
} tp__wview;

/* A neighbor of an eliminated node, and the table between them. */
typedef struct tp__wrecord_side {
  int *label; /* of the neighbor when the record was made */
  const tp_cost *table;
  int node;
  unsigned n : 31,  /* strategies of the neighbor */
      is_inner : 1; /* they are the columns of the table */
} tp__wrecord_side;

typedef struct tp__wrecord {
  const tp_cost *cost;
  const int *label;
  int node;
  unsigned n : 30, n_sides : 2;
} tp__wrecord;

typedef struct tp__wcsp {
  tp__pool pool;
  int n_nodes, n_alive;
  tp__wnode *nodes;
  int n_edges, edge_capacity;
  tp__wedge *edges;
  int n_records, n_record_sides;
  tp__wrecord *records;
  tp__wrecord_side *record_sides; /* of all records, in their order */
  tp_cost constant;
  tp__wmemory *memory; /* NULL: no limit */
  /* NULL: every array belongs to one node or edge and may change; otherwise see solver/shelf.h */
  tp__hash_cons *cache;
} tp__wcsp;

static inline tp__wview tp__wcsp_view(const tp__wcsp *g, int edge, int node) {
  const tp__wedge *e = &g->edges[edge];
  size_t columns = (size_t)g->nodes[e->node[1]].n;
  return e->node[0] == node ? (tp__wview){e->node[1], e->table, columns, 1}
                            : (tp__wview){e->node[0], e->table, 1, columns};
}

/* Creates a graph with a capacity of n_nodes nodes, none alive. NULL if memory runs out. */
tp__wcsp *tp__wcsp_create(int n_nodes);
void tp__wcsp_destroy(tp__wcsp *g);

/* Reserves memory for `n_edges` edges in all and degree[v] at each node, and for those that
 * eliminations add, before there are any. */
tp_status tp__wcsp_reserve_edges(tp__wcsp *g, const int *degree, int n_edges);

/* Declares that an array of the graph's pool, to which nothing refers yet, is complete. With a
 * shelf, returns the canonical equal array. NULL for NULL, or if memory runs out. */
tp_cost *tp__wcsp_share(tp__wcsp *g, tp_cost *array, size_t n);

/* Makes node `node` alive. `label` NULL means 0, 1, ... */
tp_status tp__wcsp_set_node(tp__wcsp *g, int node, int n, const tp_cost *cost, const int *label);

/* The same with costs allocated in the graph's pool, which the node takes over, and with labels 0,
 * 1, ... */
tp_status tp__wcsp_adopt_node(tp__wcsp *g, int node, int n, tp_cost *cost);

/* Adds a table between a and b: entry (x, y) is table[x * stride_a + y * stride_b]. If the edge
 * exists, adds to its table. */
tp_status tp__wcsp_connect(tp__wcsp *g, int a, int b, const tp_cost *table, size_t stride_a,
                           size_t stride_b);
/* Adds a table[strategies of a][strategies of b] between a < b. The table is in the graph's pool,
 * and the graph takes it over. */
tp_status tp__wcsp_adopt_edge(tp__wcsp *g, int a, int b, tp_cost *table);
/* The same with a table[strategies of b][strategies of a], which is not modified. */
tp_status tp__wcsp_add_transposed(tp__wcsp *g, int a, int b, const tp_cost *table);
void tp__wcsp_remove_edge(tp__wcsp *g, int edge);

/* Removes `node` from the graph and records how to recover it: its best strategy, given those of
 * the other endpoints of the `n` <= 2 edges in `edges` (all or some of its alive edges). The edges
 * stay. */
tp_status tp__wcsp_record(tp__wcsp *g, int node, int n, const int *edges);

/* The same for a node without edges whose strategy is known: strategy `x`. */
void tp__wcsp_record_choice(tp__wcsp *g, int node, int x);

/* Gives each alive node and edge arrays of its own, and removes the shelf. */
tp_status tp__wcsp_unshare(tp__wcsp *g);

/* Drops the strategies x with drop[x], and compacts the node, its loads and the tables of its
 * edges. */
tp_status tp__wcsp_drop(tp__wcsp *g, int node, const bool *drop);

/* Returns the labels that this leaves. For a graph with a shelf. NULL if memory runs out. */
int *tp__wcsp_drop_labels(tp__wcsp *g, const tp__wnode *v, const bool *drop);

/* Extracts the nodes members[0..n) as a graph: its node i is members[i], its labels are those of
 * `g`, its constant is 0. Edges to other nodes and memory are left out. If `fixed` is a member, it
 * keeps only its strategy `strategy`. NULL if memory runs out. */
tp__wcsp *tp__wcsp_extract(const tp__wcsp *g, const int *members, int n, int fixed, int strategy);

/* Returns the index of the strategy with that label (labels ascend); -1 if the node has lost it. */
int tp__wcsp_find(const tp__wnode *v, int label);

/* Extracts the graph of members[0..n) with all other alive nodes fixed to `at`: the tables to them
 * are added to the members' costs. *present is the cost of the members and of their tables at `at`.
 * NULL if memory runs out. */
tp__wcsp *tp__wcsp_condition(const tp__wcsp *g, const int *members, int n, const int *at,
                             tp_cost *present);

/* Returns the cost of the alive part plus the constant. `at` has the index (not the label) of a
 * remaining strategy per alive node. */
tp_cost tp__wcsp_evaluate(const tp__wcsp *g, const int *at);

/* Fills in the best labels of the eliminated nodes, given the labels of the alive nodes in
 * `choices`. */
void tp__wcsp_complete(const tp__wcsp *g, int *choices);

/* Return the number of entries in the tables of alive edges, and of strategies of alive nodes. */
int64_t tp__wcsp_entries(const tp__wcsp *g);
int64_t tp__wcsp_strategies(const tp__wcsp *g);

#endif
