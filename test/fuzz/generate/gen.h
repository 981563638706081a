/* Shared parts of the generators of random ops. A generator adds one op to the program, or returns
 * false if its random choices do not fit; then nothing is kept. Helper values inside an op's text
 * are named %h<op>..., which no other op uses. */
#ifndef FUZZ_GEN_H
#define FUZZ_GEN_H

#include "program.h"

#include <math.h>

/* Known properties of the elements of a value. */
typedef struct range {
  double low, high;
  bool integral;
  double scale;
} range;

typedef struct gen {
  program *p;
  rng r;
  int n_sizes;
  int64_t sizes[6]; /* possible dimension sizes: few, so that shapes match often */
  bool norms;       /* also generate row norms */
  op *op;           /* under construction */
  int id;           /* its number */
  int serial;       /* makes the names of helper values unique */
} gen;

typedef bool (*generator)(gen *g);

/* ---- Values ---- */

type random_type(gen *g, int min_rank, int max_rank);
int64_t random_size(gen *g);
int new_argument(gen *g, const type *t, double low, double high);
/* Returns an existing value, or a new argument; -1 if there is no value with min_rank <= rank <=
 * max_rank and no space for an argument. */
int pick(gen *g, int min_rank, int max_rank);
/* Returns a value of exactly this type. */
int pick_typed(gen *g, const type *t);
/* Records that the op reads v. */
int use(gen *g, int v);
range range_of(const gen *g, int v);
range range_join(range a, range b);
/* Adds a result of the op under construction; returns N of its name %vN. */
int add_result(gen *g, const type *t, range r);
bool fits(const type *t); /* small enough to be computed often */
/* Adjusts a range to another element type: whole numbers stay exact until they must be rounded.
 * False if the range exceeds all bounds. */
bool range_settle(element_kind e, range *r);

/* ---- Scalar expressions, also on whole tensors of one type ---- */

enum { MAX_NAME = 40 };
typedef struct scalar {
  char name[MAX_NAME];
  range r;
} scalar;
/* Appends lines that compute a random function of `n` operands of type `on` with elements e (`bit`:
 * the i1 type of the same shape). The last line defines `result`, with this name if it is not
 * NULL. */
bool random_expression(gen *g, text *out, element_kind e, const char *on, const char *bit, int n,
                       const scalar *operands, int n_ops, const char *name, scalar *result);
/* Returns a constant in MLIR syntax. */
const char *number(element_kind e, double x);

/* A combiner of a reduction. */
typedef struct combiner {
  const char *op;
  bool is_float;
  double number; /* the identity, for combiners other than MAX and MIN */
  enum { COMBINE_SUM, COMBINE_PRODUCT, COMBINE_MAX, COMBINE_MIN, COMBINE_BITS } kind;
} combiner;
const combiner *random_combiner(gen *g, element_kind e);
const combiner *combiner_of(element_kind e, int kind);
const char *combiner_identity(const combiner *c, element_kind e);
/* Computes the range of `n` values in r that are combined with a start value in init. */
bool combine_range(const combiner *c, element_kind e, int64_t n, range r, range init,
                   range *result);

/* Returns the init of a reduction with c: its identity, a constant, or a value of the program. */
const char *combiner_init(gen *g, const combiner *c, const type *t, const char *label, range *r);
/* Returns the init of a sum: zeros, another constant, or a value of the program. */
const char *sum_init(gen *g, const type *t, range *r);
/* Computes the range of a sum of k products; false if it exceeds all bounds. */
bool contract_range(element_kind e, range a, range b, int64_t k, range init, range *r);

/* Appends "%hID_NAME = tensor.empty()..." and, with `fill`, a fill with this constant; returns the
 * name of the value. */
const char *make_init(gen *g, const type *t, const char *name, const char *fill);
/* Appends `result` = tensor.pad `operand` with x; both are names. */
void print_pad(gen *g, const char *result, const char *operand, const type *in, const int64_t *low,
               const int64_t *high, double x, const type *t);
/* Appends affine_map<(d0, d1) -> (d1, 0)>; expressions >= 0 are dims, -1-c is the constant c. */
void print_map(text *out, int n_loops, int n, const int *expressions);
void print_iterators(text *out, int n_loops, unsigned reduced);
void shuffle(gen *g, int n, int *list);

/* ---- Generators of the op families ---- */

bool gen_elementwise(gen *g);
bool gen_parallel(gen *g);
bool gen_maps(gen *g);
bool gen_contraction(gen *g);
bool gen_product(gen *g);
bool gen_convolution(gen *g);
bool gen_pooling(gen *g);
bool gen_stencil(gen *g);
bool gen_reduction(gen *g);
bool gen_arg_reduction(gen *g);
bool gen_max_sum(gen *g);
bool gen_transpose(gen *g);
bool gen_broadcast(gen *g);
bool gen_reduce(gen *g);
bool gen_lookup(gen *g);
bool gen_mask(gen *g);
bool gen_generate(gen *g);
bool gen_gather(gen *g);
bool gen_scatter(gen *g);
bool gen_complex(gen *g);
bool gen_constant(gen *g);
bool gen_expand(gen *g);
bool gen_collapse(gen *g);
bool gen_extract_slice(gen *g);
bool gen_insert_slice(gen *g);
bool gen_concat(gen *g);
bool gen_pad(gen *g);
bool gen_scalar(gen *g);
bool gen_for(gen *g);
bool gen_while(gen *g);
bool gen_if(gen *g);
bool gen_nest(gen *g);
bool gen_call(gen *g);
bool gen_layout(gen *g);
bool gen_norm(gen *g);

/* Writes a random tp.sharding of a tensor on the program's mesh; `partial`: may have partial
 * axes. */
void random_sharding(gen *g, const type *t, bool partial, char *text, size_t size);

#endif
