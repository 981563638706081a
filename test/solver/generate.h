/* Random problems for the solver's tests, the same on every machine. */
#ifndef TP_TEST_SOLVER_GENERATE_H
#define TP_TEST_SOLVER_GENERATE_H

#include "tp/solver.h"

typedef struct rng {
  uint64_t state;
} rng;

/* Uniform in [0, n), n >= 1. */
int rng_below(rng *r, int n);

typedef enum shape {
  SHAPE_TREE,
  SHAPE_CYCLE,
  SHAPE_GRID,
  SHAPE_CLIQUE,
  SHAPE_SPARSE,
  SHAPE_PARALLEL,
  N_SHAPES
} shape;

typedef struct recipe {
  shape shape;
  int n_nodes;        /* SHAPE_GRID: rounded down to full rows of `columns` */
  int columns;        /* SHAPE_GRID */
  int max_strategies; /* each node has 1 to so many */
  int max_cost;       /* entries are in [0, max_cost] */
  int forbidden;      /* per cent of entries */
  /* per cent of edges that are permutations of forbidden and free entries, where sizes agree */
  int equalities;
  bool feasible; /* strategy 0 everywhere is allowed; not together with equalities */
} recipe;

tp_problem *generate(rng *r, const recipe *recipe);

/* The numbers of strategies that `generate` draws from `r`. */
void find_sizes(const recipe *recipe, rng r, int *sizes);

/* Gives every node a life and usages, and the problem a limit that strategy 0 everywhere mostly
 * keeps to. No node has more than `max_strategies` <= 8. */
void add_memory(tp_problem *problem, rng *r, int max_strategies);

/* Nodes in a ring that all live at time 0, of strategies that are the cheaper the more they use, so
 * that hardly any is dominated; the limit is 40 % of the most. usages[v * n_strategies + x]
 * receives what strategy x of v uses. */
tp_problem *generate_tradeoffs(rng *r, int n_nodes, int n_strategies, int64_t *usages);

/* Layers of a transformer: residual stream, shared inputs with several consumers, forward and
 * backward pass coupled. */
tp_problem *generate_layers(rng *r, int n_layers, int n_strategies);

#endif
