/* Inside of the evaluator: functions as nodes over numbered slots, so that bodies of loops are quick. */
#ifndef REFERENCE_MACHINE_H
#define REFERENCE_MACHINE_H

#include "reference.h"
#include "scalar.h"

typedef struct node node;

/* What a slot holds: a tensor, or a scalar of one or two numbers. */
typedef struct cell {
  tensor *tensor; /* NULL: a scalar */
  number scalar[2];
} cell;

typedef struct block {
  int n_arguments, n_nodes;
  int *arguments; /* slots */
  node *nodes;    /* the last one is the terminator */
} block;

/* False, with r's message set, when the evaluation cannot go on. */
typedef bool (*run_fn)(reference *r, cell *frame, const node *n);

struct node {
  run_fn run;
  MlirOperation op;
  const scalar_op *scalar;
  scalar_types types;
  int n_operands, n_results, n_blocks;
  int *operands, *results; /* slots */
  const kind **kinds;      /* of the results; NULL entries for what is no number */
  block *blocks;           /* one of each region */
  const void *callee;      /* func.call: a function */
};

typedef struct op_row {
  const char *name;
  run_fn run;
} op_row;
extern const op_row linalg_rows[], tensor_rows[], flow_rows[]; /* each ends with a NULL name */
run_fn linalg_find(MlirOperation op);

/* The loops of the structured op that is evaluated, for linalg.index. */
typedef struct loops {
  int n;
  int64_t at[32];
  const struct loops *outer;
} loops;

struct reference {
  MlirModule module;
  char *why;
  size_t why_size;
  const loops *loops;
  long steps; /* nodes that were run */
  bool lacks; /* what the program needs */
  struct memory *memory;
  struct function *functions;
};

void *reference_allocate(reference *r, size_t size); /* zeroed; lives as long as r */
/* The program does what is undefined, or depends on rounding; or it has what is not evaluated here. Both false. */
bool fail(reference *r, MlirOperation op, const char *format, ...) __attribute__((format(printf, 3, 4)));
bool lack(reference *r, MlirOperation op, const char *what);
bool run_block(reference *r, cell *frame, const block *b);
bool run_call(reference *r, cell *frame, const node *n); /* func.call */
bool run_function(reference *r, const struct function *f, int n, const cell *arguments, cell *results);
static inline const node *terminator(const block *b) { return b->nodes + b->n_nodes - 1; }

/* A tensor of the type of a value. NULL, and a message, where that is no static tensor of known elements. */
tensor *tensor_of(reference *r, MlirOperation op, MlirType type);
tensor *tensor_copy(reference *r, const tensor *t);
const kind *kind_of(MlirType type); /* of a scalar or of a tensor's elements; NULL for others */
bool numbers_of(const kind *k, MlirAttribute attribute, number *numbers);

/* The next place in rows-first order; false after the last. */
bool next_place(int rank, const int64_t *shape, int64_t *at);
int64_t place_in(const tensor *t, const int64_t *at); /* -1: outside */
/* An integer that must be known. */
bool integer_in(reference *r, const node *n, const cell *c, int64_t *value);
MlirAttribute attribute_of(MlirOperation op, const char *name);
/* Entries of a DenseI64ArrayAttr; their number. */
int integers_of(MlirOperation op, const char *name, int most, int64_t *list);
void cell_get(const tensor *t, int64_t i, cell *c);
void cell_put(tensor *t, int64_t i, const cell *c);

#endif
