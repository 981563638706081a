/* Inside of the evaluator: functions as nodes over numbered slots, so that bodies of loops are
 * quick. */
#ifndef TP_REFERENCE_EVALUATOR_H
#define TP_REFERENCE_EVALUATOR_H

#include "reference/scalar.h"

#include "tp/reference.h"

#include <setjmp.h>

enum { TP__EVAL_MAX_RANK = 16 };

/* A value: a tensor, or a scalar, which has no dimensions. */
typedef struct tensor {
  struct tensor *next; /* of all tensors of the evaluation */
  bool reached;        /* by the collector */
  const kind *kind;
  int rank;
  int64_t shape[TP__EVAL_MAX_RANK];
  /* Elements. */
  int64_t n;
  /* n * kind->parts, rows first. */
  number numbers[];
} tensor;

typedef struct evaluation evaluation;
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
typedef bool (*run_fn)(evaluation *r, cell *frame, const node *n);

struct node {
  run_fn run;
  MlirOperation op;
  const scalar_op *scalar;
  scalar_types types;
  int n_operands, n_results, n_blocks;
  /* Slots. */
  int *operands, *results;
  /* Of the results; NULL entries for what is no number. */
  const kind **kinds;
  /* One of each region. */
  block *blocks;
  /* Slots of tensors that nothing reads any more behind this node. */
  int n_dead, *dead;
  /* What run keeps from one run to the next, if anything: the plan of a structured op, the value of
   * a constant. */
  void **kept;
};

typedef struct op_row {
  const char *name;
  run_fn run;
} op_row;
/* Each ends with a NULL name. */
extern const op_row tp__linalg_rows[], tp__tensor_rows[], tp__flow_rows[];
run_fn tp__linalg_find(MlirOperation op);

/* The loops of the structured op that is evaluated, for linalg.index. */
typedef struct loops {
  int n;
  int64_t at[32];
  const struct loops *outer;
} loops;

/* The slots of a function that runs. */
typedef struct active {
  cell *cells;
  int n;
  struct active *outer;
} active;

struct evaluation {
  MlirModule module;
  tp_reference_options options;
  char *why;
  size_t why_size;
  tp_status status;
  const loops *loops;
  active *frames; /* innermost first */
  /* Scalar operations that were run, and at which the caller is told next. */
  double steps, next_progress;
  /* Ops that run and hold tensors which no frame has: nothing is collected meanwhile. */
  int n_in_flight;
  jmp_buf no_memory; /* where an allocation that fails goes */
  struct memory *memory;
  void *scratch;
  size_t scratch_size;
  tensor *tensors;
  size_t tensor_bytes, collect_at;
  struct function *functions;
};

/* Zeroed; lives as long as r. An allocation that fails ends the evaluation. */
void *tp__eval_allocate(evaluation *r, size_t size);
/* Not zeroed; valid until the next call. */
void *tp__eval_scratch(evaluation *r, size_t size);
/* A tensor of zeros. The collector frees it when no slot of an active function holds it. */
tensor *tp__eval_tensor(evaluation *r, const kind *k, int rank, const int64_t *shape);
/* Frees tensors that no frame reaches, where enough were made since the last time. */
void tp__eval_collect(evaluation *r);
void tp__eval_clear(evaluation *r);

/* The program does what is undefined, or depends on rounding; or it has what is not evaluated here.
 * Both false. */
bool tp__eval_fail(evaluation *r, MlirOperation op, const char *format, ...)
    __attribute__((format(printf, 3, 4)));
bool tp__eval_lack(evaluation *r, MlirOperation op, const char *what);
/* Counts scalar operations; false where there were too many. */
bool tp__eval_count(evaluation *r, const node *n, double steps);
bool tp__run_block(evaluation *r, cell *frame, const block *b);
bool tp__run_call(evaluation *r, cell *frame, const node *n); /* func.call */
struct function *tp__eval_function(evaluation *r, MlirOperation at, MlirStringRef name);
MlirOperation tp__eval_function_op(const struct function *f);
bool tp__run_function(evaluation *r, const struct function *f, int n, const cell *arguments,
                      cell *results);
static inline const node *terminator(const block *b) { return b->nodes + b->n_nodes - 1; }

/* A tensor of the type of a value. NULL, and a message, where that is no static tensor of known
 * elements. */
tensor *tp__tensor_of(evaluation *r, MlirOperation op, MlirType type);
tensor *tp__tensor_copy(evaluation *r, const tensor *t);
/* Of a scalar or of a tensor's elements; NULL for others. */
const kind *tp__kind_of(const evaluation *r, MlirType type);
bool tp__numbers_of(const kind *k, MlirAttribute attribute, number *numbers);

/* The next place in rows-first order; false after the last. */
bool tp__next_place(int rank, const int64_t *shape, int64_t *at);
int64_t tp__place_in(const tensor *t, const int64_t *at); /* -1: outside */
/* An integer that must be known. */
bool tp__integer_in(evaluation *r, const node *n, const cell *c, int64_t *value);
MlirAttribute tp__eval_attribute(MlirOperation op, const char *name);
/* Entries of a DenseI64ArrayAttr; their number. */
int tp__eval_integers(MlirOperation op, const char *name, int most, int64_t *list);
void tp__cell_get(const tensor *t, int64_t i, cell *c);
void tp__cell_put(tensor *t, int64_t i, const cell *c);

/* The bytes of an element of this kind in memory, and number `i` of dense data. */
size_t tp__kind_bytes(const kind *k);
number tp__number_read(const kind *k, const void *data, int64_t i);

/* eval_structured.c: what an op of linalg does at every point of its loops. */
bool tp__run_structured(evaluation *r, cell *frame, const node *n);
/* softmax.c */
bool tp__run_softmax(evaluation *r, cell *frame, const node *n);

#endif
