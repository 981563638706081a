/* Internal interface of the evaluator. A function becomes a list of nodes that read and write
 * numbered slots, which makes loop bodies fast to run. */
#ifndef TP_REFERENCE_EVALUATOR_H
#define TP_REFERENCE_EVALUATOR_H

#include "reference/scalar.h"

#include "tp/reference.h"

#include <setjmp.h>

enum { TP__EVAL_MAX_RANK = 16 };

/* A value: a tensor, or a scalar (rank 0). */
typedef struct tensor {
  struct tensor *next; /* in the list of all tensors of the evaluation */
  bool reached;        /* mark bit of the collector */
  const kind *kind;
  int rank;
  int64_t shape[TP__EVAL_MAX_RANK];
  /* Number of elements. */
  int64_t n;
  /* n * kind->parts numbers in row-major order. */
  number numbers[];
} tensor;

typedef struct evaluation evaluation;
typedef struct node node;

/* The content of a slot: a tensor, or a scalar of one or two numbers. */
typedef struct cell {
  tensor *tensor; /* NULL for a scalar */
  number scalar[2];
  /* The largest unit roundoff of the floats that were computed to get this value. */
  double unit;
} cell;

typedef struct block {
  int n_arguments, n_nodes;
  int *arguments; /* slots */
  node *nodes;    /* the last one is the terminator */
} block;

/* Runs a node. On failure, returns false with r->why and r->status set. */
typedef bool (*run_fn)(evaluation *r, cell *frame, const node *n);
/* The same on several devices in step (devices.h). frames[d] is the frame of device d. */
typedef struct devices devices;
typedef bool (*run_on_fn)(evaluation *r, cell *const *frames, const node *n, const devices *on);

struct node {
  run_fn run;       /* NULL for communication */
  run_on_fn run_on; /* NULL for ops that do not communicate, and have no ops that do */
  MlirOperation op;
  const scalar_op *scalar;
  scalar_types types;
  int n_operands, n_results, n_blocks;
  /* The largest unit roundoff of the floats that the op computes, including nested ops. */
  double unit;
  /* Slots. */
  int *operands, *results;
  /* Element kinds of the results; NULL for types without a kind. */
  const kind **kinds;
  /* One per region; empty regions give empty blocks. Their own values have slots from `first_inner`
   * on. */
  block *blocks;
  int first_inner;
  /* Slots of tensors whose last use is this node. */
  int n_dead, *dead;
  /* A cache that `run` keeps between runs, if it needs one, such as the plan of a structured op or
   * a buffer for the operands of a loop or call. */
  void **kept;
};

/* A translated function. */
struct function {
  struct function *next;
  MlirOperation op;
  block body;
  int n_slots;
};

typedef struct op_row {
  const char *name;
  run_fn run;
  run_on_fn run_on; /* with communication; NULL where that is not supported */
} op_row;
/* Each table ends with a NULL name. */
extern const op_row tp__flow_rows[], tp__control_rows[], tp__tensor_rows[], tp__linalg_rows[],
    tp__collective_rows[], tp__message_rows[], tp__place_rows[];
const op_row *tp__row_find(MlirStringRef name); /* NULL: none has this name */
run_fn tp__linalg_find(MlirOperation op);

/* The loop indices of the structured op that is running, for linalg.index. */
typedef struct loops {
  int n;
  int64_t at[32];
  const struct loops *outer;
} loops;

/* The frame of a running function: its slots. */
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
  /* The number of scalar operations run so far, and the count at which progress is reported
   * next. */
  double steps, next_progress;
  /* The number of running ops that hold tensors outside of any frame. Nothing is collected
   * meanwhile. */
  int n_in_flight;
  jmp_buf no_memory; /* target of a failed allocation */
  struct memory *memory;
  void *scratch;
  size_t scratch_size;
  tensor *tensors;
  size_t tensor_bytes, collect_at;
  struct function *functions;
  /* The devices of the grid if the program communicates, otherwise 0. */
  int n_devices;
  struct grid *grid;
  struct message *messages; /* sent and not yet received, newest first */
};

/* Returns zeroed memory that lives as long as r. A failed allocation ends the evaluation. */
void *tp__eval_allocate(evaluation *r, size_t size);
/* Returns uninitialized memory that is valid until the next call. */
void *tp__eval_scratch(evaluation *r, size_t size);
/* Returns a tensor of zeros. The collector frees it once no slot of an active function holds it. */
tensor *tp__eval_tensor(evaluation *r, const kind *k, int rank, const int64_t *shape);
/* Frees the tensors that no frame holds, if enough memory was allocated since the last
 * collection. */
void tp__eval_collect(evaluation *r);
void tp__eval_clear(evaluation *r);

/* Both set the message and the status, and return false. tp__eval_fail: the behavior of the program
 * is undefined or depends on rounding. tp__eval_unsupported: the evaluator does not support the
 * program. */
bool tp__eval_fail(evaluation *r, MlirOperation op, const char *format, ...)
    __attribute__((format(printf, 3, 4)));
bool tp__eval_unsupported(evaluation *r, MlirOperation op, const char *what);
/* Counts scalar operations. False if the limit is exceeded, or if the progress callback stops the
 * evaluation. */
bool tp__eval_count(evaluation *r, const node *n, double steps);
bool tp__run_block(evaluation *r, cell *frame, const block *b);
bool tp__run_call(evaluation *r, cell *frame, const node *n); /* func.call */
struct function *tp__eval_function(evaluation *r, MlirOperation at, MlirStringRef name);
bool tp__run_function(evaluation *r, const struct function *f, int n, const cell *arguments,
                      cell *results);
/* Notes in the results of a node the largest unit roundoff on the way to them. A result of a region
 * or call may have that of the value that it was copied from already. */
void tp__propagate_unit(cell *frame, const node *n);
static inline const node *terminator(const block *b) { return b->nodes + b->n_nodes - 1; }

/* A function that runs many times may do so in one frame. */
cell *tp__eval_frame(evaluation *r, const struct function *f);
bool tp__run_in_frame(evaluation *r, const struct function *f, cell *frame, int n,
                      const cell *arguments, cell *results);

/* Returns a zeroed tensor of a type. NULL, with a message, unless the type is a static ranked
 * tensor of a known kind. */
tensor *tp__tensor_of(evaluation *r, MlirOperation op, MlirType type);
tensor *tp__tensor_copy(evaluation *r, const tensor *t);
/* Returns the kind of a scalar type, or of the elements of a shaped type. NULL for other types. */
const kind *tp__kind_of(const evaluation *r, MlirType type);
bool tp__numbers_of(const kind *k, MlirAttribute attribute, number *numbers);

/* Advances to the next index in row-major order. False after the last one. */
bool tp__next_index(int rank, const int64_t *shape, int64_t *at);
/* the linear index of an element; -1: out of bounds */
int64_t tp__linear_index(const tensor *t, const int64_t *at);
/* Reads an integer whose value must be certain. */
bool tp__integer_in(evaluation *r, const node *n, const cell *c, int64_t *value);
MlirAttribute tp__eval_attribute(MlirOperation op, const char *name);
/* Reads the elements of a dense attribute of `op` into a tensor of their type. */
bool tp__eval_elements(evaluation *r, MlirOperation op, MlirAttribute value, tensor *to);
/* Copies at most `most` entries of a DenseI64ArrayAttr into `list`. Returns the number of entries
 * of the attribute. */
int tp__eval_integers(MlirOperation op, const char *name, int most, int64_t *list);
void tp__cell_get(const tensor *t, int64_t i, cell *c);
void tp__cell_put(tensor *t, int64_t i, const cell *c);

/* Returns the bytes of one element of k in memory. */
size_t tp__kind_bytes(const kind *k);

/* eval_structured.c: runs the body of a linalg op at every point of its iteration space. */
bool tp__run_structured(evaluation *r, cell *frame, const node *n);
/* eval_sort.c: the attribute tp.sort, with which a call is a sort; null: it has none. */
MlirAttribute tp__sort_attribute(MlirOperation op);
bool tp__run_sort(evaluation *r, cell *frame, const node *n);
/* softmax.c */
bool tp__run_softmax(evaluation *r, cell *frame, const node *n);

#endif
