/* Determines which values of a plan have their own buffer after the per-device program is optimized
 * (storage.h).
 *
 * It mirrors these passes: linalg-fuse-elementwise-ops fuses elementwise ops into their only user,
 * unless that is a contraction, which it cannot reach (tp-name-contractions), or a named op;
 * tp-prepare-fusion turns one-element tensors into scalars; tp-name-contractions reads operands and
 * writes results through transposes, and widens operands to the type of the result; tp-clone-inits
 * lets elementwise ops overwrite an operand. */
#include "passes/propagate/model/storage.h"

#include "passes/support/contraction.h"
#include "rules/attention.h"
#include "rules/border.h"
#include "rules/mask.h"
#include "rules/window.h"

#include <mlir-c/Dialect/Linalg.h>

const tp_rule *tp__planned_rule(const tp_planner *p, MlirOperation op) {
  if (mlirOperationIsNull(op) || mlirOperationGetNumResults(op) == 0)
    return NULL;
  int value = tp__func_graph_number(&p->problem.graph, mlirOperationGetResult(op, 0));
  return value >= 0 ? p->problem.graph.makers[value] : NULL;
}

/* ---- values without a buffer ---- */

/* True if there is one iteration for each element of the result. */
static bool reduces_nothing(const tp_rule *rule) {
  uint32_t in_result = 0;
  for (int d = 0; d < rule->results[0].rank; d++)
    for (int k = 0; k < rule->results[0].dims[d].n_factors; k++)
      in_result |= UINT32_C(1) << rule->results[0].dims[d].factors[k];
  return in_result + 1 == UINT32_C(1) << rule->n_factors;
}

bool tp__is_view(MlirOperation op) {
  static const char *const names[] = {"tensor.expand_shape", "tensor.collapse_shape", "tensor.cast",
                                      "tensor.reshape"};
  for (int i = 0; i < TP_LEN(names); i++)
    if (tp__op_is(op, names[i]))
      return true;
  return tp__is_barrier(op) || tp__border_cuts(op);
}

/* ---- properties of an op alone ---- */

/* Shared by equal ops (rules/alike.h), since computing it inspects bodies and maps. */
typedef struct tp_storage_form {
  bool is_view;
  bool repeats;  /* a generic whose elements are those of its only input, possibly broadcast */
  bool permutes; /* repeats, or a transpose; same rank and element size as its input */
  bool is_contraction;   /* one for which the runtime is called */
  bool goes_elementwise; /* its elements are computed one by one from those of its inputs */
  /* if goes_elementwise, bit i: input i is read at the index that is written; and has the result's
   * type, too */
  uint64_t in_step, aligned;
} tp_storage_form;

/* True if operand i of an elementwise op is a tensor that is indexed like the result. */
static bool is_in_step(const tp_nest *nest, int i, MlirValue result) {
  MlirValue value = mlirOperationGetOperand(nest->op, i);
  int rank = tp__value_rank(result);
  if (!tp__is_tensor(mlirValueGetType(value)) || tp__value_rank(value) != rank)
    return false;
  for (int d = 0; d < rank; d++)
    if (tp__nest_loop(nest, i, d) != tp__nest_loop(nest, nest->n_inputs, d))
      return false;
  return true;
}

static tp_storage_form find_form(const tp_rule *rule) {
  MlirOperation op = rule->op;
  tp__contraction contraction;
  tp_nest nest;
  tp_storage_form f = {.is_view = tp__is_view(op),
                       .is_contraction = tp__match_contraction(op, &contraction)};
  if (!tp__nest_of(op, &nest))
    return f;
  f.repeats = tp__op_is(op, "linalg.generic") && tp__nest_copies(&nest);
  f.permutes = (f.repeats || (tp__op_is(op, "linalg.transpose") && tp__nest_copies(&nest))) &&
               !nest.reduced && rule->operands[0].rank == rule->results[0].rank &&
               rule->operands[0].element_size == rule->results[0].element_size;
  f.goes_elementwise = !nest.reduced && tp__nest_is_elementwise(&nest);
  MlirValue result = mlirOperationGetResult(op, 0);
  for (int i = 0; i < nest.n_inputs && f.goes_elementwise;
       i++) { /* a rule has at most 64 operands */
    MlirType type = mlirValueGetType(mlirOperationGetOperand(op, i));
    bool in_step = is_in_step(&nest, i, result);
    f.in_step |= (uint64_t)in_step << i;
    f.aligned |= (uint64_t)(in_step && mlirTypeEqual(type, mlirValueGetType(result))) << i;
  }
  return f;
}

/* Recomputes the form if there is no memory to cache it. */
static tp_storage_form form_of(tp_planner *p, const tp_timeline *t, int k) {
  tp_timeline_op *m = &t->moments[k];
  if (m->form)
    return *m->form;
  int64_t key = (int64_t)(intptr_t)m->rule->first;
  void **slot = m->rule->first ? tp__memo(&p->forms, p->problem.arena, &key, 1) : NULL;
  tp_storage_form *kept = slot ? *slot : NULL;
  if (!kept) {
    tp_storage_form found = find_form(m->rule);
    kept = slot ? tp__arena_alloc(p->problem.arena, sizeof *kept) : NULL;
    if (!kept)
      return found;
    *slot = kept;
    *kept = found;
  }
  m->form = kept;
  return *kept;
}

/* ---- fused ops ---- */

/* Cached properties of an op, as bits. IN_STEP: its root, and all ops that it is fused into on the
 * way, read it at the index that they write. */
enum { ROOT_KNOWN = 1, IN_STEP = 2, UNSTORED_KNOWN = 4, UNSTORED = 8 };

/* True for an op that fusion reaches: named ops of linalg, such as transposes, stay as they are. */
static bool is_fusible(const tp_timeline_op *m) {
  return m->rule && m->rule->is_elementwise && !m->is_named;
}

/* True if the use is an operand of an elementwise op in the block of op k. */
static bool may_fuse(const tp_timeline *t, int k, int use) {
  const tp_timeline_op *user = &t->moments[t->uses[use].moment];
  return tp__timeline_is_operand(t, use) && is_fusible(user) &&
         user->block == t->moments[k].block && !t->moments[user->root].is_view;
}

static bool reads_in_step(tp_planner *p, const tp_timeline *t, int use) {
  int user = t->uses[use].moment;
  const tp_timeline_op *m = &t->moments[user];
  int operand = use - m->first_use;
  return operand < 64 && (m->root == user || m->known & IN_STEP) &&
         form_of(p, t, user).in_step >> operand & 1;
}

/* Finds the root of op k; those of its users are known. An elementwise op is fused into its only
 * user, also through a view of its result. Several users that are fused into one root end as one
 * user, if they all read the value at the same index. */
static void find_root(tp_planner *p, const tp_timeline *t, int k) {
  tp_timeline_op *m = &t->moments[k];
  m->known |= ROOT_KNOWN;
  m->root = k;
  if (!is_fusible(m) || m->rule->n_results != 1 || m->result < 0 || !reduces_nothing(m->rule))
    return;
  int first = t->values[m->result].first_use, root = -1;
  bool in_step = true;
  for (int use = first; use >= 0; use = t->uses[use].next) {
    int at = t->moments[t->uses[use].moment].root;
    if (!may_fuse(t, k, use) || (root >= 0 && at != root))
      return;
    root = at;
    in_step = in_step && reads_in_step(p, t, use);
  }
  if (root < 0 || (!in_step && !tp__timeline_has_one_use(t, m->result)))
    return;
  m->root = root;
  m->known |= in_step ? IN_STEP : 0;
}

/* Roots are found for all ops at once, users first. */
int tp__fused_root(tp_planner *p, const tp_timeline *t, int k) {
  if (!(t->moments[k].known & ROOT_KNOWN))
    for (size_t i = t->n; i > 0; i--)
      find_root(p, t, (int)i - 1);
  return t->moments[k].root;
}

static bool is_fused(tp_planner *p, const tp_timeline *t, int k) {
  return tp__fused_root(p, t, k) != k;
}

/* True if the input of an op that repeats it is a splat constant. */
static bool is_number(MlirOperation op) {
  MlirOperation maker = tp__defining_op(mlirOperationGetOperand(op, 0));
  if (mlirOperationIsNull(maker) || !tp__op_is(maker, "arith.constant"))
    return false;
  MlirAttribute value = tp__inherent(maker, "value");
  return mlirAttributeIsADenseElements(value) && mlirDenseElementsAttrIsSplat(value);
}

/* True if only contractions read the result of op k, as a left or right operand. */
static bool is_read_through(tp_planner *p, const tp_timeline *t, int k) {
  int first = t->values[t->moments[k].result].first_use;
  for (int use = first; use >= 0; use = t->uses[use].next) {
    int user = t->uses[use].moment;
    if (!t->moments[user].rule || !tp__timeline_is_operand(t, use) ||
        use - t->moments[user].first_use > 1 || !form_of(p, t, user).is_contraction)
      return false;
  }
  return first >= 0;
}

bool tp__is_written_through(tp_planner *p, const tp_timeline *t, int k) {
  if (!t->moments[k].rule || !form_of(p, t, k).permutes)
    return false;
  int product = t->uses[t->moments[k].first_use].value;
  int maker = product >= 0 ? t->values[product].maker : -1;
  const tp_timeline_op *m = maker >= 0 ? &t->moments[maker] : NULL;
  return m && m->rule && m->block == t->moments[k].block && m->n_operands == 3 &&
         tp__timeline_has_one_use(t, product) && form_of(p, t, maker).is_contraction &&
         !mlirOperationIsNull(tp__defined_by(mlirOperationGetOperand(m->op, 2), "linalg.fill"));
}

bool tp__updates_carried(MlirOperation op) {
  if (mlirOperationIsNull(op) || !tp__op_is(op, "tensor.insert_slice"))
    return false;
  MlirValue into = mlirOperationGetOperand(op, 1), result = mlirOperationGetResult(op, 0);
  return mlirValueIsABlockArgument(into) && tp__n_uses(into) == 1 && tp__n_uses(result) == 1 &&
         tp__op_has_dialect(mlirBlockGetParentOperation(mlirOperationGetBlock(op)), "scf") &&
         mlirBlockEqual(mlirBlockArgumentGetOwner(into), mlirOperationGetBlock(op)) &&
         tp__op_is(mlirOpOperandGetOwner(mlirValueGetFirstUse(result)), "scf.yield");
}

bool tp__is_passed_on(MlirOperation loop, intptr_t i) {
  MlirBlock before = mlirRegionGetFirstBlock(mlirOperationGetRegion(loop, 0)),
            after = mlirRegionGetFirstBlock(mlirOperationGetRegion(loop, 1));
  MlirOperation condition = mlirBlockGetTerminator(before), yield = mlirBlockGetTerminator(after);
  MlirValue next = mlirOperationGetOperand(yield, i);
  MlirOperation maker = tp__defining_op(next);
  MlirValue from = tp__updates_carried(maker) ? mlirOperationGetOperand(maker, 1) : next;
  if (!mlirValueIsABlockArgument(from) || !mlirBlockEqual(mlirBlockArgumentGetOwner(from), after))
    return false;
  return mlirValueEqual(mlirOperationGetOperand(condition, 1 + mlirBlockArgumentGetArgNumber(from)),
                        mlirBlockGetArgument(before, i));
}

bool tp__is_carried_in_place(MlirOperation loop, intptr_t i) {
  bool is_for = tp__op_is(loop, "scf.for");
  if (!is_for && !tp__op_is(loop, "scf.while"))
    return false;
  MlirBlock first = tp__region_block(loop, 0), body = is_for ? first : tp__region_block(loop, 1);
  if (!is_for) { /* the condition must pass argument i on as value i */
    MlirOperation condition = mlirBlockGetTerminator(first);
    if (i >= mlirBlockGetNumArguments(first) ||
        !mlirValueEqual(mlirOperationGetOperand(condition, 1 + i), mlirBlockGetArgument(first, i)))
      return false;
  }
  MlirOperation maker = tp__defining_op(mlirOperationGetOperand(mlirBlockGetTerminator(body), i));
  return tp__updates_carried(maker) &&
         mlirValueEqual(mlirOperationGetOperand(maker, 1),
                        mlirBlockGetArgument(body, is_for ? 1 + i : i));
}

static bool finds_unstored(tp_planner *p, const tp_timeline *t, int k) {
  const tp_timeline_op *m = &t->moments[k];
  if (!m->rule)
    return m->is_view || tp__is_in_place(m->op);
  if (m->is_constant && tp__is_stored_constant(m->op))
    return true; /* a slice of the constant, which is counted whole */
  tp_storage_form f = form_of(p, t, k);
  return f.is_view || is_fused(p, t, k) || (f.repeats && is_number(m->op)) ||
         (f.permutes && is_read_through(p, t, k)) || tp__is_written_through(p, t, k) ||
         (m->parent >= 0 && tp__updates_carried(m->op));
}

bool tp__is_unstored(tp_planner *p, const tp_timeline *t, int k) {
  tp_timeline_op *m = &t->moments[k];
  if (!(m->known & UNSTORED_KNOWN))
    m->known |= finds_unstored(p, t, k) ? UNSTORED_KNOWN | UNSTORED : UNSTORED_KNOWN;
  return m->known & UNSTORED;
}

/* ---- overwritten buffers ---- */

/* Maximal number of fused ops that are followed from one op; beyond it a value counts as stored
 * separately. Following a whole chain from each of its ends would take quadratic time and recurse
 * as deep as the chain. */
enum { MAX_FUSED = 256 };

/* True for an op that is a structured op after optimization: elementwise ops of arith and math are,
 * too. */
static bool is_structured(const tp_timeline_op *m) {
  return m->rule && !m->rule->is_free &&
         (tp__op_has_dialect(m->op, "linalg") ||
          (m->rule->is_elementwise && !tp__op_has_dialect(m->op, "tensor")));
}

/* True if the last reader of the value is op `root` or fused into it. Earlier readers are
 * structured ops of the same block, and the value is made by one. */
static bool ends_in(tp_planner *p, const tp_timeline *t, int value, int root) {
  bool is_own = is_structured(&t->moments[t->values[value].maker]);
  for (int use = t->values[value].first_use; use >= 0; use = t->uses[use].next) {
    int last = tp__fused_root(p, t, t->uses[use].moment);
    const tp_timeline_op *reader = &t->moments[last];
    bool is_before =
        is_own && last < root && reader->block == t->moments[root].block && is_structured(reader);
    if (!tp__timeline_is_operand(t, use) || (last != root && !is_before))
      return false;
  }
  return true;
}

/* True if a loop may carry the value in the buffer that a later op overwrites: each iteration
 * changes it in place. Of what an iteration makes anew, by a contraction, the loop has buffers of
 * its own, and so has an scf.while whose condition and body do not share one. */
static bool is_kept_by_loop(MlirOperation loop, MlirValue result) {
  intptr_t i = mlirOpResultGetResultNumber(result);
  if (tp__op_is(loop, "scf.while")) {
    MlirBlock before = tp__region_block(loop, 0);
    MlirValue passed = mlirOperationGetOperand(mlirBlockGetTerminator(before), 1 + i);
    return mlirValueIsABlockArgument(passed) &&
           mlirBlockEqual(mlirBlockArgumentGetOwner(passed), before) &&
           tp__is_passed_on(loop, mlirBlockArgumentGetArgNumber(passed));
  }
  MlirValue next = mlirOperationGetOperand(mlirBlockGetTerminator(tp__region_block(loop, 0)), i);
  MlirOperation maker = tp__defining_op(next);
  tp__contraction contraction;
  return tp__op_is(loop, "scf.for") &&
         (mlirOperationIsNull(maker) || !tp__match_contraction(maker, &contraction));
}

/* True if op `root` may overwrite the value: it is stored, no collective made it, and it has no
 * later readers. */
static bool may_be_overwritten(tp_planner *p, const tp_timeline *t, int value, int root) {
  int maker = value >= 0 ? t->values[value].maker : -1;
  if (maker < 0 || t->moments[maker].block != t->moments[root].block)
    return false;
  const tp_timeline_op *m = &t->moments[maker];
  bool is_stored = m->rule ? !m->rule->is_free && !tp__is_unstored(p, t, maker)
                           : m->is_control && is_kept_by_loop(m->op, tp__timeline_value(t, value));
  return is_stored && ends_in(p, t, value, root);
}

/* The value that op k, which is `root` or fused into it, reads and `root` may overwrite; -1:
 * none. */
static int overwritten_in(tp_planner *p, const tp_timeline *t, int k, int root, int depth) {
  tp_timeline_op *m = &t->moments[k];
  tp_storage_form f = form_of(p, t, k);
  if (depth > MAX_FUSED || m->search == t->n_searches || !f.goes_elementwise)
    return -1;
  m->search = t->n_searches; /* several ops may read the same one */
  for (int i = 0; i < m->rule->n_operands; i++) {
    if (!(f.aligned >> i & 1))
      continue;
    int value = t->uses[m->first_use + i].value;
    if (may_be_overwritten(p, t, value, root))
      return value;
    int maker = value >= 0 ? t->values[value].maker : -1;
    if (maker >= 0 && tp__is_written_through(p, t, maker) && ends_in(p, t, value, root)) {
      int product = t->uses[t->moments[maker].first_use].value;
      if (may_be_overwritten(p, t, product, root))
        return product;
    }
    if (maker < 0 || !is_fused(p, t, maker))
      continue;
    value = overwritten_in(p, t, maker, root, depth + 1);
    if (value >= 0)
      return value;
  }
  return -1;
}

/* The initial value of a reduction, if the reduction is its only reader; -1: none. */
static int start_of(tp_planner *p, const tp_timeline *t, int k) {
  const tp_rule *rule = t->moments[k].rule;
  for (int i = 0; i < rule->n_operands; i++) {
    int value =
        rule->operands[i].is_init && !rule->operands[i].is_unused ? rule->operands[i].number : -1;
    if (value >= 0 && tp__timeline_has_one_use(t, value) && may_be_overwritten(p, t, value, k))
      return value;
  }
  return -1;
}

int tp__overwritten(tp_planner *p, tp_timeline *t, int k) {
  const tp_rule *rule = t->moments[k].rule;
  if (!rule || rule->is_free || rule->n_results != 1 || tp__is_unstored(p, t, k))
    return -1;
  int start = start_of(p, t, k);
  t->n_searches++;
  return start >= 0 ? start : overwritten_in(p, t, k, k, 0);
}

/* ---- scratch of running ops ---- */

static int64_t local_elements(const tp_planner *p, const tp_value_map *map, tp_spec spec) {
  return tp_spec_local_elements(p->problem.mesh, spec, map->rank, map->shape);
}

int64_t tp__carried_bytes(const tp_planner *p, const tp_rule *rule, const tp_strategy *s) {
  const tp_value_map *result = &rule->results[0];
  bool tiled = false;
  for (int i = 0; i < rule->n_operands; i++)
    if (rule->operands[i].in_blocks && !result->in_blocks)
      tiled |= local_elements(p, &rule->operands[i],
                              tp__strategy_operand(rule, p->problem.mesh, s, i)) > TP_BLOCK_SCORES;
  return tiled && result->element_size < 4
             ? 4 * local_elements(p, result, tp__strategy_result(rule, p->problem.mesh, s, 0))
             : 0;
}

/* True if the strategy splits a contracted dimension into uneven shards. The operands are then
 * masked copies. */
static bool masks_operands(const tp_planner *p, const tp_rule *rule, const tp_strategy *s) {
  const tp_local local = {.rule = rule, .mesh = p->problem.mesh, .strategy = s};
  uint32_t uneven = rule->contraction_flops > 0 ? tp__uneven_factors(&local) : 0;
  bool masks = false;
  for (int f = 0; f < rule->n_factors; f++)
    masks |= uneven >> f & 1 && rule->factors[f].kind == TP_REDUCTION;
  return masks;
}

/* True if the mask of a value is fused into the op that makes it. */
static bool is_masked_in_place(MlirValue value) {
  MlirOperation maker = tp__defining_op(value);
  tp_nest nest;
  return !mlirOperationIsNull(maker) && tp__is_used_once(value) && tp__nest_of(maker, &nest) &&
         !nest.reduced && tp__nest_is_elementwise(&nest);
}

int64_t tp__workspace(const tp_planner *p, const tp_rule *rule, const tp_strategy *s) {
  int64_t bytes = 0;
  /* what the rule says excludes most ops; reading the op itself would often miss the cache */
  if (rule->n_results != 1 || (rule->contraction_flops == 0 && !tp__rule_has_window(rule)) ||
      !tp__op_has_dialect(rule->op, "linalg"))
    return 0;
  bool masks = masks_operands(p, rule, s);
  for (int i = 0; i < rule->n_operands; i++) {
    const tp_value_map *map = &rule->operands[i];
    bytes += tp__window_bytes(rule, p->problem.mesh, s, i);
    bool is_factor = rule->contraction_flops > 0 && i < 2 && map->is_tensor;
    bool is_copy = map->element_size < rule->results[0].element_size ||
                   (masks && !is_masked_in_place(mlirOperationGetOperand(rule->op, i)));
    if (is_factor && !map->in_blocks && is_copy)
      bytes += rule->results[0].element_size *
               local_elements(p, map, tp__strategy_operand(rule, p->problem.mesh, s, i));
  }
  return rule->contraction_flops > 0 ? bytes + tp__carried_bytes(p, rule, s) : bytes;
}

int64_t tp__ring_bytes(const tp_planner *p, const tp_rule *rule, const tp_strategy *s) {
  int64_t parts = tp__ring_parts(p->problem.mesh, s);
  int operand = rule->ring.operand;
  if (parts == 1)
    return 0;
  const tp_value_map *map = &rule->operands[operand];
  return (parts > 2 ? 2 : 1) * map->element_size *
         local_elements(p, map, tp__strategy_operand(rule, p->problem.mesh, s, operand));
}
