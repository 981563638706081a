/* Lower bounds on the cost of plans, and reduced costs of all strategies, without tables of
 * reshards. many_strategies.c uses them for functions whose tables would not fit into memory.
 *
 * This is sequential tree-reweighted message passing (Kolmogorov 2006), as in lib/solver/dual.c.
 * The cost of an edge is the distance between two layouts. So a message is computed by spreading
 * the costs of one node's layouts over those of the other (layout_tensor.h). Layouts are fewer than
 * strategies, and tensors of one shape share their distances. */
#ifndef TP_PASSES_PROPAGATE_LAYOUT_MESSAGES_H
#define TP_PASSES_PROPAGATE_LAYOUT_MESSAGES_H

#include "passes/propagate/limits/layout_tensor.h"

typedef struct tp_layout_edge {
  int node[2]; /* producer and user */
  const tp_layout_column *column[2];
  const tp_layout_tensor *tensor;
  bool keeps_layout;   /* both ends have the same layout */
  const int *place[2]; /* by layout: its place in the tensor's distances */
  tp_cost *moved[2];   /* by layout: part of the edge's cost that is charged to the node */
} tp_layout_edge;

typedef struct tp_layout_messages {
  tp_planner *p;
  tp__arena arena;
  int n_edges;
  tp_layout_edge *edges;
  tp_cost *moved; /* of all edges */
  size_t n_moved;
  int *of_node; /* the edges of node 0, then those of node 1, ... */
  int *first;   /* the edges of node i are of_node[first[i]] to of_node[first[i + 1] - 1] */
  /* reparametrized costs: a strategy's own cost plus the parts of edge costs charged to it; those
   * of node i begin at cost[offset[i]] */
  tp_cost *cost;
  size_t *offset;
  tp_layout_tensors tensors;
  tp_cost *near, *far, *given;    /* scratch: by layout and strategy */
  struct tp_known_message *known; /* a cache of messages, by their hash */
  tp_cost bound;                  /* certified: no plan costs less */
} tp_layout_messages;

/* `planner` must have nodes and no routes. Must be closed also when it fails. */
tp_status tp__messages_open(tp_planner *planner, tp_layout_messages *messages);
void tp__messages_close(tp_layout_messages *messages);
/* Passes messages along the nodes, once up and once down, which improves the bound. */
void tp__messages_pass(tp_layout_messages *messages);
/* Computes the costs of all strategies anew, with what the edges have moved, and a bound of 0. This
 * is valid whatever is moved: after a whole pass the bound is, too. */
void tp__messages_charge(tp_layout_messages *messages);
/* Computes for each strategy s of the node: no plan with this strategy costs less than the bound
 * plus reduced[s]. TP_COST_FORBIDDEN: there is no such plan. */
void tp__messages_reduced_costs(const tp_layout_messages *messages, int node, tp_cost *reduced);
/* Computes for each strategy of the node its cost with the reshards from and to the strategies
 * that the other nodes have in a plan. choices[i]: of node i. */
void tp__messages_costs_beside(const tp_layout_messages *messages, int node, const int *choices,
                               tp_cost *costs);
/* Chooses a strategy for each node in their order: the one with the least reduced cost beside those
 * chosen before. Where all are impossible it chooses the first. */
void tp__messages_decode(const tp_layout_messages *messages, int *choices);

/* Passes of messages with momentum: where the last passes have moved costs steadily, the next one
 * begins further on (Polyak 1964). Where this lowers the bound, it is undone, and momentum is lost
 * (adaptive restart, O'Donoghue and Candes 2015). */
typedef struct tp_momentum {
  tp_layout_messages *messages;
  tp_cost *before; /* what was moved before the last pass */
  tp_cost *kept,
      *charged; /* what is moved and charged, for the case that the next pass is undone */
  int n_passes, sixteenths; /* share of the last movement that is repeated */
} tp_momentum;

/* The memory belongs to the messages. */
tp_status tp__momentum_open(tp_layout_messages *messages, tp_momentum *momentum);
/* Passes messages once, or twice if the first time is undone. The bound does not fall. */
void tp__momentum_pass(tp_momentum *momentum);

/* Prices the reshards of a value from one layout to n others, all of them layouts of its nodes: a
 * lower bound, which is mostly exact. False: no bound is near. */
bool tp__messages_price(tp_layout_messages *messages, const tp_planned_value *value, tp_spec from,
                        int n, const tp_spec *to, tp_cost *costs);

#endif
