/* Marks attention in a program that is planned: the values that need no memory and must not be
 * resharded. */
#include "ir/diagnostics.h"
#include "rules/attention.h"
#include "rules/attention_backward.h"
#include "rules/attention_loops.h"
#include "rules/func_graph.h"

#include <string.h>

enum { NOWHERE = -1 };

/* True if the value is computed in blocks and used only by such values. A mask with other users is
 * stored. */
static bool is_inner(const tp_attention *a, int i) {
  if (a->ops[i].role != TP_MASK)
    return tp__attention_is_inner(a->ops[i].role);
  MlirOpOperand use = mlirValueGetFirstUse(mlirOperationGetResult(a->ops[i].op, 0));
  for (; !mlirOpOperandIsNull(use); use = mlirOpOperandGetNextUse(use)) {
    int k = 0;
    while (k < a->n_ops && !mlirOperationEqual(a->ops[k].op, mlirOpOperandGetOwner(use)))
      k++;
    if (k == a->n_ops || !is_inner(a, k))
      return false;
  }
  return mlirBlockEqual(mlirOperationGetBlock(a->ops[i].op), mlirOperationGetBlock(a->ops[0].op));
}

/* ---- annotations ---- */

/* Determines the loop that each axis splits in one value. False if the value is partial, or if an
 * axis splits more than one loop. */
static bool split_loops(const tp_attention *a, const tp_mesh *mesh, tp_spec spec,
                        const tp_score_dim *dims, int rank, int *loops) {
  for (int x = 0; x < TP_MAX_AXES; x++)
    loops[x] = NOWHERE;
  if (tp_spec_has_partial(spec))
    return false;
  for (int d = 0; d < rank; d++) {
    int axes[TP_MAX_AXES], n = tp_spec_dim_axes(mesh, spec, d, axes), k = 0;
    int64_t left = dims[d].n > 0 ? a->sizes[dims[d].loops[0]] : 1;
    for (int i = 0; i < n; i++) {
      if (left == 1 && k + 1 < dims[d].n)
        left = a->sizes[dims[d].loops[++k]];
      if (dims[d].n == 0)
        return false;
      loops[axes[i]] = dims[d].loops[k];
      left = left % mesh->axes[axes[i]].size == 0 ? left / mesh->axes[axes[i]].size : 0;
    }
  }
  return true;
}

/* Checks that the shardings annotated on the ops allow values to be computed in blocks. Counts the
 * inner values in *n_inner, and the annotated ones among them in *n. */
static tp_status check_layouts(const tp_func_graph *graph, const tp_attention *a, bool *fits,
                               int *n, int *n_inner) {
  int loops[TP_MAX_AXES], first[TP_MAX_AXES];
  for (int x = 0; x < TP_MAX_AXES; x++)
    first[x] = NOWHERE;
  *fits = true;
  /* round 0 finds the loop that each axis splits, round 1 checks that it splits this loop in all
   * values */
  for (int round = 0; round < 2; round++)
    for (int i = 0; i < a->n_ops && *fits; i++) {
      tp_annotation pin = {0};
      tp_score_dim dims[TP_MAX_RANK];
      bool pinned;
      if (!is_inner(a, i))
        continue;
      TP_TRY(tp__func_graph_op(graph, a->ops[i].op, 0, &pin, &pinned));
      *n_inner += round == 0;
      *n += round == 0 && pinned;
      int rank =
          (int)mlirShapedTypeGetRank(mlirValueGetType(mlirOperationGetResult(a->ops[i].op, 0)));
      tp__attention_result_dims(&a->ops[i], dims);
      if (!pinned)
        continue;
      *fits = split_loops(a, graph->mesh, pin.spec, dims, rank, loops) && pin.open == 0;
      for (int x = 0; x < graph->mesh->n_axes && *fits; x++) {
        if (round == 0 && loops[x] != NOWHERE)
          first[x] = loops[x];
        *fits = round == 0 || loops[x] == first[x] ||
                (loops[x] == NOWHERE && !tp__has_loop(dims, rank, first[x]));
      }
    }
  return TP_OK;
}

/* ---- marks ---- */

static tp_value_map *map_of(tp_rule *rule, int i) {
  return i < rule->n_operands ? &rule->operands[i] : &rule->results[i - rule->n_operands];
}

/* True if the op's result is never stored. Kernels read dropouts as tensors. */
static bool is_made_inside(const tp_attention *a, int op, bool in_kernel) {
  return is_inner(a, op) && !(in_kernel && a->ops[op].is_of_dropout);
}

static void mark(tp_rule *rule, const tp_attention *a, bool in_kernel) {
  for (int i = 0; i < rule->n_operands + rule->n_results; i++) {
    tp_value_map *map = map_of(rule, i);
    int maker = tp__attention_producer(a, map->value);
    map->in_blocks = maker >= 0 && is_made_inside(a, maker, in_kernel);
    map->in_kernel = map->in_blocks && in_kernel;
  }
}

/* ---- rings ---- */

/* Returns the factor of a dimension that consists of a single loop in `loops` (bits). -1 if it is
 * another loop, or read in another way. */
static int factor_of(const tp_value_map *map, int d, tp_score_dim dim, uint32_t loops) {
  const tp_dim *of = &map->dims[d];
  bool is_one = dim.n == 1 && (loops >> dim.loops[0] & 1) && of->n_factors == 1 && !of->window;
  return is_one && mlirOperationIsNull(map->in_place) ? of->factors[0] : -1;
}

/* Allows operand `travelling` of a contraction, the keys or the values, to travel in a ring if an
 * axis splits rows of the other operand. */
static void add_ring(tp_rule *rule, const tp_attention *a, int op, int traveling) {
  tp_score_dim dims[TP_MAX_RANK];
  const tp_value_map *map = &rule->operands[traveling], *other = &rule->operands[1 - traveling];
  tp_ring ring = {.operand = traveling, .dim = -1, .last = a->ops[a->output].op};
  tp__attention_operand_dims(&a->ops[op], traveling, dims);
  for (int d = 0; d < map->rank; d++)
    if (factor_of(map, d, dims[d], UINT32_C(1) << a->column) >= 0)
      ring.dim = d;
  tp__attention_operand_dims(&a->ops[op], 1 - traveling, dims);
  for (int d = 0; d < other->rank && ring.dim >= 0; d++) {
    int f = factor_of(other, d, dims[d], a->rows);
    if (f >= 0)
      ring.factors |= UINT32_C(1) << f;
  }
  rule->ring = ring;
}

/* Returns the operand of an op that is produced outside of the attention and has columns: the keys
 * or the values. -1: none. */
static int keys_of(const tp_attention *a, int op) {
  for (int i = 0; i < 2; i++) {
    tp_score_dim dims[TP_MAX_RANK];
    MlirValue value = mlirOperationGetOperand(a->ops[op].op, i);
    tp__attention_operand_dims(&a->ops[op], i, dims);
    if (tp__attention_producer(a, value) < 0 &&
        tp__has_loop(dims, (int)mlirShapedTypeGetRank(mlirValueGetType(value)), a->column))
      return i;
  }
  return -1;
}

/* Maps each op to its item. */
static tp_status number_items(const tp_func_graph *graph, tp_value_table *numbers) {
  for (int i = 0; i < graph->n_items; i++)
    if (graph->items[i].kind == TP_ITEM_OP &&
        tp__table_put(numbers, graph->items[i].op.ptr, i) != TP_OK)
      return tp__out_of_memory(graph->func);
  return TP_OK;
}

/* True if the output already belongs to a marked attention. Scores that are a sum of two
 * contractions could start from either; the other contraction is then read as an ordinary value. */
static bool is_marked(const tp_func_graph *graph, const tp_attention *a,
                      const tp_value_table *numbers) {
  int item = tp__table_get(numbers, a->ops[a->output].op.ptr);
  for (int i = 0; item >= 0 && i < graph->items[item].rule->n_operands; i++)
    if (graph->items[item].rule->operands[i].in_blocks)
      return true;
  return false;
}

/* ---- gradients ---- */

/* The kernels of a gradient compute scores twice more, and the gradients of weights once more. */
enum { SCORES_AGAIN = 2, SLOPES_AGAIN = 1 };

static void mark_op(const tp_func_graph *graph, const tp_value_table *numbers, MlirOperation op,
                    const tp_attention_backward *b) {
  int item = tp__table_get(numbers, op.ptr);
  if (item < 0)
    return;
  tp_rule *rule = graph->items[item].rule;
  for (int i = 0; i < rule->n_operands + rule->n_results; i++) {
    tp_value_map *map = map_of(rule, i);
    if (tp__table_get(&b->values, map->value.ptr) >= 0)
      map->in_blocks = map->in_kernel = true;
  }
  rule->n_again += mlirOperationEqual(op, b->slopes) ? SLOPES_AGAIN : 0;
}

/* True if no layout of an op of the gradient is given. */
static tp_status check_free(const tp_func_graph *graph, const tp_attention_backward *b,
                            bool *is_free) {
  for (size_t i = 0; i < b->ops.n && *is_free; i++) {
    tp_annotation pin = {0};
    bool pinned;
    TP_TRY(tp__func_graph_op(graph, b->ops.items[i], 0, &pin, &pinned));
    *is_free = !pinned;
  }
  return TP_OK;
}

/* Adds the masks that only ops of the attention and of its gradient read to what kernels do not
 * store. */
static tp_status add_masks(const tp_attention *a, tp_attention_backward *b) {
  for (int k = 0; k < a->n_ops; k++) {
    MlirValue mask = mlirOperationGetResult(a->ops[k].op, 0);
    bool inside = a->ops[k].role == TP_MASK && mlirBlockEqual(mlirOperationGetBlock(a->ops[k].op),
                                                              mlirOperationGetBlock(a->ops[0].op));
    MlirOpOperand use = mlirValueGetFirstUse(mask);
    for (; inside && !mlirOpOperandIsNull(use); use = mlirOpOperandGetNextUse(use))
      inside = tp__table_get(&b->inside, mlirOpOperandGetOwner(use).ptr) >= 0;
    if (inside && tp__table_put(&b->values, mask.ptr, 1) != TP_OK)
      return tp__out_of_memory(a->ops[k].op);
  }
  return TP_OK;
}

/* Marks an attention with its gradient, if kernels compute both. */
static tp_status mark_backward(const tp_func_graph *graph, const tp_attention *a,
                               tp_value_table *numbers) {
  tp_attention_backward b;
  bool fits = false;
  int n = 0, n_inner = 0;
  tp_status status = tp__attention_backward(a, &b, &fits);
  if (status == TP_OK && fits)
    status = check_layouts(graph, a, &fits, &n, &n_inner);
  fits = fits && n == 0;
  if (status == TP_OK && fits)
    status = check_free(graph, &b, &fits);
  if (status == TP_OK && fits)
    status = add_masks(a, &b);
  if (status == TP_OK && fits && numbers->count == 0)
    status = number_items(graph, numbers);
  if (status == TP_OK && fits && !is_marked(graph, a, numbers)) {
    for (int k = 0; k < a->n_ops; k++)
      mark_op(graph, numbers, a->ops[k].op, &b);
    for (size_t k = 0; k < b.ops.n; k++)
      mark_op(graph, numbers, b.ops.items[k], &b);
    int scores = tp__table_get(numbers, a->ops[0].op.ptr);
    if (scores >= 0)
      graph->items[scores].rule->n_again = SCORES_AGAIN;
  }
  tp__attention_backward_destroy(&b);
  return status;
}

static tp_status mark_at(const tp_func_graph *graph, const tp_attention *a, bool in_kernel,
                         tp_value_table *numbers) {
  bool fits;
  int n = 0, n_inner = 0;
  TP_TRY(check_layouts(graph, a, &fits, &n, &n_inner));
  if (!fits || (n > 0 && n < n_inner))
    return TP_OK;
  if (numbers->count == 0)
    TP_TRY(number_items(graph, numbers));
  if (is_marked(graph, a, numbers))
    return TP_OK;
  for (int k = 0; k < a->n_ops; k++) {
    int item = tp__table_get(numbers, a->ops[k].op.ptr);
    if (item < 0)
      continue;
    tp_rule *rule = graph->items[item].rule;
    mark(rule, a, in_kernel);
    int keys = k == 0 || k == a->output ? keys_of(a, k) : -1;
    if (keys >= 0)
      add_ring(rule, a, k, keys);
  }
  return TP_OK;
}

/* ---- candidates for scores ---- */

/* The maximum of an attention depends on its scores through elementwise ops and reshapes only. This
 * backward search from all maxima finds the contractions that can be scores, so that the others
 * need not be examined. */
typedef struct search {
  const tp_func_graph *graph;
  tp_value_table maxima;   /* by shared rule of equal ops: 1 if it computes a maximum, else 0 */
  bool *reaches;           /* by value number: the value can reach a maximum */
  const tp_rule **pending; /* rules whose operands can reach a maximum */
  size_t n, capacity;
  bool failed; /* memory ran out */
} search;

static bool makes_maximum(const tp_rule *rule) {
  tp_nest nest;
  tp_combiner combiner;
  return tp__nest_of(rule->op, &nest) && nest.reduced && nest.n_inputs == 1 &&
         tp__body_combiner(&nest.body, 0, &combiner) &&
         (combiner == TP_MAX || combiner == TP_MAXNUM);
}

static bool is_maximum(search *s, const tp_rule *rule) {
  int known = rule->first ? tp__table_get(&s->maxima, rule->first) : -1;
  if (known >= 0)
    return known;
  bool is = makes_maximum(rule);
  if (rule->first)
    s->failed |= tp__table_put(&s->maxima, rule->first, is) != TP_OK;
  return is;
}

static void push(search *s, const tp_rule *rule) {
  if (tp__grow((void **)&s->pending, &s->capacity, s->n + 1, sizeof(const tp_rule *)) == TP_OK)
    s->pending[s->n++] = rule;
  else
    s->failed = true;
}

/* True for a contraction that reduces. It is not elementwise, so the search ends there. */
static bool ends_path(const tp_rule *rule) {
  bool sums = false;
  for (int f = 0; f < rule->n_factors && rule->contraction_flops > 0; f++)
    sums |= rule->factors[f].kind == TP_REDUCTION;
  return sums;
}

static void go_back(search *s) {
  while (s->n > 0 && !s->failed) {
    const tp_rule *rule = s->pending[--s->n];
    for (int i = 0; i < rule->n_operands; i++) {
      int number = rule->operands[i].number;
      if (number < 0 || s->reaches[number])
        continue;
      s->reaches[number] = true;
      const tp_rule *maker = s->graph->makers[number];
      if (maker && !ends_path(maker))
        push(s, maker);
    }
  }
}

static tp_status find_paths(search *s) {
  const tp_func_graph *graph = s->graph;
  s->reaches = tp__calloc((size_t)graph->n_values + 1, sizeof *s->reaches);
  s->failed = !s->reaches;
  for (int i = 0; i < graph->n_items && !s->failed; i++)
    if (graph->items[i].kind == TP_ITEM_OP && is_maximum(s, graph->items[i].rule)) {
      push(s, graph->items[i].rule);
      go_back(s);
    }
  return s->failed ? tp__out_of_memory(graph->func) : TP_OK;
}

static bool may_be_scores(const search *s, const tp_rule *rule) {
  int number = rule->contraction_flops > 0 ? rule->results[0].number : -1;
  return number >= 0 && s->reaches[number] && !rule->results[0].in_blocks;
}

tp_status tp__mark_attention(tp_func_graph *graph, int64_t kernel_features) {
  tp_value_table numbers = {0};
  tp_attention_reach reach = {0};
  tp_attention a;
  search s = {.graph = graph};
  tp_status status = find_paths(&s);
  for (int i = 0; i < graph->n_items && status == TP_OK; i++) {
    const tp_item *item = &graph->items[i];
    if (item->kind != TP_ITEM_OP || !may_be_scores(&s, item->rule))
      continue;
    if (tp__attention_next(&reach, item->op, &a)) {
      bool in_kernel = tp__attention_fits_kernel(&a, kernel_features);
      status = mark_at(graph, &a, in_kernel, &numbers);
    } else if (kernel_features > 0 && tp__attention_next_shared(&reach, item->op, &a) &&
               tp__attention_fits_kernel(&a, kernel_features)) {
      status = mark_backward(graph, &a, &numbers);
    }
  }
  tp__table_destroy(&s.maxima);
  tp__free(s.pending);
  tp__free(s.reaches);
  tp__table_destroy(&numbers);
  return status;
}
