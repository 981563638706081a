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
  int max_strategies; /* each node has 1 to this many */
  int max_cost;       /* entries are in [0, max_cost] */
  int forbidden;      /* percent of entries */
  /* percent of edges that are permutations of forbidden and free entries, if sizes agree */
  int equalities;
  bool feasible; /* strategy 0 everywhere is allowed; not with equalities */
} recipe;

tp_problem *generate(rng *r, const recipe *recipe);

/* Computes the numbers of strategies that `generate` will draw from `r`. */
void find_sizes(const recipe *recipe, rng r, int *sizes);

/* Gives every node a live range and usages, and the problem a limit that strategy 0 everywhere
 * mostly satisfies. No node has more than `max_strategies` <= 8. */
void add_memory(tp_problem *problem, rng *r, int max_strategies);

/* Creates a ring of nodes that are all live at time 0. Strategies are cheaper the more memory they
 * use, so hardly any is dominated; the limit is 40 % of the maximum. usages[v * n_strategies + x]
 * receives the usage of strategy x of v. */
tp_problem *generate_tradeoffs(rng *r, int n_nodes, int n_strategies, int64_t *usages);

/* Creates the layers of a transformer: residual stream, shared inputs with several uses, coupled
 * forward and backward pass. */
tp_problem *generate_layers(rng *r, int n_layers, int n_strategies);

#endif
