/* Runs a body of scalar ops for many points of one loop at a time: each op runs for N_LANES points
 * before the next op starts.
 *
 * Every result has a dimension that this loop alone indexes, so no two lanes write the same
 * element. Points that do write the same element keep their order. */
#include "reference/eval_structured.h"

#include <mlir-c/BuiltinAttributes.h>
#include <string.h>

enum { N_LANES = 64, MAX_INDICES = TP__EVAL_MAX_RANK };

/* The source of an operand's numbers. */
typedef struct source {
  enum { OF_NODE, OF_ARGUMENT, OF_FRAME } from;
  /* OF_NODE, OF_ARGUMENT: the index of the step or of the body's argument. OF_FRAME: a slot. */
  int index;
} source;

typedef struct step {
  const node *n;
  enum { APPLY, INDEX, EXTRACT, CONSTANT } what;
  int n_operands;
  source *operands;
  int dim; /* of INDEX */
  int parts;
  number *numbers; /* N_LANES * parts */
} step;

struct lanes {
  int loop, n_steps;
  step *steps;
  source *results;
  /* Copies of N_LANES elements of each result, because steps still read the old values after the
   * results are written. */
  number **inits;
};

/* ---- the plan ---- */

/* Returns the longest loop that indexes exactly one dimension of every result. The other dimensions
 * of the results must be distinct loops too. -1: none. */
static int find_loop(const node *n, const structured *s) {
  int best = -1;
  for (int l = 0; l < s->n_loops; l++) {
    bool fits = true;
    for (int k = 0; k < n->n_results; k++) {
      const access *a = s->accesses + s->n_inputs + k;
      int uses = 0;
      uint64_t seen = 0;
      for (int d = 0; d < a->n; d++) {
        fits &= a->dims[d] >= 0 && !(seen >> a->dims[d] & 1);
        seen |= a->dims[d] >= 0 ? UINT64_C(1) << a->dims[d] : 0;
        uses += a->dims[d] == l;
      }
      fits &= uses == 1;
    }
    if (fits && (best < 0 || s->sizes[l] > s->sizes[best]))
      best = l;
  }
  return best;
}

static source source_of(const node *n, const lanes *l, int slot) {
  const block *body = n->blocks;
  for (int i = 0; i < l->n_steps; i++)
    if (l->steps[i].n->results[0] == slot)
      return (source){OF_NODE, i};
  for (int i = 0; i < body->n_arguments; i++)
    if (body->arguments[i] == slot)
      return (source){OF_ARGUMENT, i};
  return (source){OF_FRAME, slot};
}

static bool is_op(const node *n, const char *name) {
  MlirStringRef own = mlirIdentifierStr(mlirOperationGetName(n->op));
  return strlen(name) == own.length && memcmp(name, own.data, own.length) == 0;
}

static bool plan_step(evaluation *r, const node *n, lanes *l, const node *from, step *to) {
  bool is_index = is_op(from, "linalg.index"), is_extract = is_op(from, "tensor.extract");
  bool is_constant = is_op(from, "arith.constant");
  if ((!from->scalar && !is_index && !is_extract && !is_constant) || from->n_results != 1 ||
      !from->kinds[0])
    return false;
  *to = (step){.n = from,
               .what = from->scalar ? APPLY
                       : is_index   ? INDEX
                       : is_extract ? EXTRACT
                                    : CONSTANT,
               .n_operands = from->n_operands,
               .parts = from->kinds[0]->parts};
  to->numbers = tp__eval_allocate(r, (size_t)(N_LANES * to->parts) * sizeof *to->numbers);
  to->operands = tp__eval_allocate(r, (size_t)to->n_operands * sizeof *to->operands);
  for (int i = 0; i < to->n_operands; i++)
    to->operands[i] = source_of(n, l, from->operands[i]);
  number one[2];
  if (is_constant && !tp__numbers_of(from->kinds[0], tp__eval_attribute(from->op, "value"), one))
    return false;
  for (int i = 0; is_constant && i < N_LANES; i++)
    memcpy(to->numbers + i * to->parts, one, (size_t)to->parts * sizeof *one);
  if (is_index)
    to->dim = (int)mlirIntegerAttrGetValueInt(tp__eval_attribute(from->op, "dim"));
  return !is_extract || to->operands[0].from == OF_FRAME;
}

lanes *tp__lanes_plan(evaluation *r, const node *n, const structured *s) {
  const block *body = n->blocks;
  int loop = find_loop(n, s);
  bool fits = loop >= 0 && body->n_arguments == s->n_operands;
  for (int i = 0; i < s->n_operands; i++)
    fits &= !s->accesses[i].is_tensor || s->accesses[i].is_linear;
  if (!fits)
    return NULL;
  lanes *l = tp__eval_allocate(r, sizeof *l);
  l->loop = loop;
  l->steps = tp__eval_allocate(r, (size_t)body->n_nodes * sizeof *l->steps);
  for (const node *from = body->nodes; from < terminator(body); from++) {
    step to;
    if (!plan_step(r, n, l, from, &to))
      return NULL;
    l->steps[l->n_steps++] = to;
  }
  l->results = tp__eval_allocate(r, (size_t)n->n_results * sizeof *l->results);
  l->inits = tp__eval_allocate(r, (size_t)n->n_results * sizeof *l->inits);
  for (int k = 0; k < n->n_results; k++) {
    l->results[k] = source_of(n, l, terminator(body)->operands[k]);
    l->inits[k] = tp__eval_allocate(r, (size_t)(N_LANES * n->kinds[k]->parts) * sizeof **l->inits);
  }
  return l;
}

/* ---- running ---- */

typedef struct walk {
  const cell *frame;
  const node *n;
  const structured *s;
  tensor *const *made;
  int64_t point[TP__EVAL_MAX_LOOPS]; /* of the first lane */
  int64_t count;
} walk;

/* Returns the numbers of the first lane. *stride receives the distance between consecutive lanes,
 * in numbers. */
static const number *numbers_of(const walk *w, source from, int64_t *stride) {
  const structured *s = w->s;
  const lanes *l = s->lanes;
  *stride = 0;
  if (from.from == OF_FRAME)
    return w->frame[from.index].scalar;
  if (from.from == OF_NODE) {
    *stride = l->steps[from.index].parts;
    return l->steps[from.index].numbers;
  }
  if (from.index >= s->n_inputs) {
    *stride = w->made[from.index - s->n_inputs]->kind->parts;
    return l->inits[from.index - s->n_inputs];
  }
  const cell *c = w->frame + w->n->operands[from.index];
  if (!c->tensor)
    return c->scalar;
  const access *a = s->accesses + from.index;
  *stride = a->strides[l->loop] * c->tensor->kind->parts;
  return c->tensor->numbers + tp__access_at(a, s->n_loops, w->point) * c->tensor->kind->parts;
}

static bool run_extract(evaluation *r, const walk *w, const step *to) {
  const tensor *from = w->frame[to->operands[0].index].tensor;
  const number *at[MAX_INDICES];
  int64_t strides[MAX_INDICES], place[MAX_INDICES];
  for (int d = 0; d < from->rank; d++)
    at[d] = numbers_of(w, to->operands[1 + d], strides + d);
  for (int64_t i = 0; i < w->count; i++) {
    for (int d = 0; d < from->rank; d++) {
      const number *index = at[d] + i * strides[d];
      if (!is_certain(index))
        return tp__eval_fail(r, to->n->op, "its effect depends on rounding");
      place[d] = index->integer;
    }
    int64_t element = tp__linear_index(from, place);
    if (element < 0)
      return tp__eval_fail(r, to->n->op, "is outside of the tensor");
    memcpy(to->numbers + i * to->parts, from->numbers + element * to->parts,
           (size_t)to->parts * sizeof(number));
  }
  return true;
}

static bool run_step(evaluation *r, const walk *w, const step *to) {
  switch (to->what) {
  case APPLY: {
    const number *in[3];
    int64_t strides[3];
    for (int i = 0; i < to->n_operands; i++)
      in[i] = numbers_of(w, to->operands[i], strides + i);
    tp__scalar_apply_all(to->n->scalar, &to->n->types, to->n_operands, in, strides, w->count,
                         to->numbers);
    return true;
  }
  case INDEX:
    for (int64_t i = 0; i < w->count; i++)
      to->numbers[i] =
          (number){.integer = w->point[to->dim] + (to->dim == w->s->lanes->loop ? i : 0)};
    return true;
  case CONSTANT:
    return true;
  case EXTRACT:
    return run_extract(r, w, to);
  }
  return false;
}

static bool run_lanes(evaluation *r, const walk *w) {
  const structured *s = w->s;
  const lanes *l = s->lanes;
  int64_t first[128];
  for (int k = 0; k < w->n->n_results; k++) {
    const access *a = s->accesses + s->n_inputs + k;
    int parts = w->made[k]->kind->parts;
    first[k] = tp__access_at(a, s->n_loops, w->point);
    for (int64_t i = 0; i < w->count; i++)
      memcpy(l->inits[k] + i * parts,
             w->made[k]->numbers + (first[k] + i * a->strides[l->loop]) * parts,
             (size_t)parts * sizeof(number));
  }
  for (int i = 0; i < l->n_steps; i++)
    if (!run_step(r, w, l->steps + i))
      return false;
  for (int k = 0; k < w->n->n_results; k++) {
    const access *a = s->accesses + s->n_inputs + k;
    int parts = w->made[k]->kind->parts;
    int64_t stride;
    const number *from = numbers_of(w, l->results[k], &stride);
    for (int64_t i = 0; i < w->count; i++)
      memcpy(w->made[k]->numbers + (first[k] + i * a->strides[l->loop]) * parts, from + i * stride,
             (size_t)parts * sizeof(number));
  }
  return true;
}

bool tp__lanes_run(evaluation *r, cell *frame, const node *n, const structured *s,
                   tensor *const *made) {
  walk w = {.frame = frame, .n = n, .s = s, .made = made};
  int64_t outer[TP__EVAL_MAX_LOOPS];
  int loop = s->lanes->loop;
  memcpy(outer, s->sizes, sizeof outer);
  outer[loop] = 1;
  do {
    for (w.point[loop] = 0; w.point[loop] < s->sizes[loop]; w.point[loop] += N_LANES) {
      w.count = s->sizes[loop] - w.point[loop] < N_LANES ? s->sizes[loop] - w.point[loop] : N_LANES;
      if (!run_lanes(r, &w) || !tp__eval_count(r, n, (double)(w.count * s->lanes->n_steps)))
        return false;
    }
    w.point[loop] = 0;
  } while (tp__next_index(s->n_loops, outer, w.point));
  return true;
}
