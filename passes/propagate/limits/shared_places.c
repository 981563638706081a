/* Under a memory limit: finds values that share the buffer of another value while no layout changes
 * in between (storage.h).
 *
 * The buffer of a value that an op overwrites becomes that of the op's result. If the function
 * returns that result, the whole chain lies in the memory of the function result, which the caller
 * holds all the time; so do views of returned values. The condition and the body of an scf.while
 * share one buffer for values that each passes on to the other. If a layout changes on such a path,
 * both endpoints have buffers of their own, and the station that reshards holds the extra one
 * (routes.c). */
#include "passes/propagate/limits/route_stations.h"
#include "passes/propagate/model/storage.h"

/* Index among the values of the planner; -1: none. */
static int number_of(const tp_planner *p, MlirValue value) {
  const tp_planned_value *v = tp__planned_value(p, value);
  return v ? (int)(v - p->problem.values) : -1;
}

/* ---- while loops ---- */

bool tp__carried_is_passed_on(const tp_item *item, int slot) {
  MlirValue value = item->carried[slot].values[0];
  return tp__op_is(item->op, "scf.while") && mlirValueIsABlockArgument(value) &&
         mlirBlockEqual(mlirBlockArgumentGetOwner(value), tp__region_block(item->op, 0)) &&
         tp__is_passed_on(item->op, mlirBlockArgumentGetArgNumber(value));
}

int tp__passing_loop(const struct tp_routes *r, const tp_use *use) {
  MlirOperation op = use->op, loop = mlirOperationGetParentOperation(op);
  int i = use->operand;
  if (!tp__op_is(loop, "scf.while"))
    return -1;
  if (tp__updates_carried(op) && i == 1) { /* the loop yields its result */
    MlirOpOperand next = mlirValueGetFirstUse(mlirOperationGetResult(op, 0));
    op = mlirOpOperandGetOwner(next);
    i = (int)mlirOpOperandGetOperandNumber(next);
  }
  bool passes = tp__op_is(op, "scf.yield") && tp__is_passed_on(loop, i);
  if (tp__op_is(op, "scf.condition")) {
    MlirValue value = mlirOperationGetOperand(op, i);
    passes = mlirValueIsABlockArgument(value) &&
             mlirBlockEqual(mlirBlockArgumentGetOwner(value), tp__region_block(loop, 0)) &&
             tp__is_passed_on(loop, mlirBlockArgumentGetArgNumber(value));
  }
  return passes ? tp__timeline_number(&r->timeline, loop) : -1;
}

/* ---- overwritten and returned values ---- */

/* True if a use of a value is on the way to op k, which overwrites the value. Other uses read the
 * value before. */
static bool leads_to(const struct tp_routes *r, MlirOpOperand use, int k) {
  int user = tp__timeline_number(&r->timeline, mlirOpOperandGetOwner(use));
  return tp__fused_root(r->p, &r->timeline, user) == k;
}

/* Calls `visit` for the results of all ops on the path from a value that `root` overwrites to
 * `root`. */
static tp_status
for_each_between(struct tp_routes *r, MlirValue value, MlirOperation root,
                 tp_status (*visit)(struct tp_routes *r, MlirValue value, int number), int number) {
  tp_status status = TP_OK;
  int k = tp__timeline_number(&r->timeline, root);
  for (MlirOpOperand use = mlirValueGetFirstUse(value); !mlirOpOperandIsNull(use);
       use = mlirOpOperandGetNextUse(use))
    for (MlirOperation at = mlirOpOperandGetOwner(use);
         leads_to(r, use, k) && !mlirOperationEqual(at, root) && status == TP_OK;
         at = mlirOpOperandGetOwner(mlirValueGetFirstUse(mlirOperationGetResult(at, 0))))
      status = visit(r, mlirOperationGetResult(at, 0), number);
  return status;
}

static tp_status note_end(struct tp_routes *r, MlirValue value, int moment) {
  return tp__table_put(&r->ends, value.ptr, moment);
}

static tp_status note_since(struct tp_routes *r, MlirValue value, int since) {
  int number = number_of(r->p, value);
  if (number >= 0)
    r->since[number] = since;
  return TP_OK;
}

bool tp__is_returned(const tp_planner *p, const tp_planned_value *v) {
  tp_node_kind kind = p->problem.nodes[v->node].kind;
  bool in_place = kind == TP_NODE_CARRIED && mlirValueIsAOpResult(v->value) &&
                  tp__is_carried_in_place(mlirOpResultGetOwner(v->value),
                                          mlirOpResultGetResultNumber(v->value));
  for (int u = 0; u < v->n_uses && (kind == TP_NODE_OP || kind == TP_NODE_LAYOUT || in_place); u++)
    if (p->problem.nodes[v->uses[u].node].kind == TP_NODE_RESULT)
      return true;
  return false;
}

static bool reads_init(const tp_rule *rule) {
  bool reads = false;
  for (int i = 0; i < rule->n_operands; i++)
    reads |= rule->operands[i].is_init && !rule->operands[i].is_unused;
  return reads;
}

/* True if the first op on the path from `value` to `root` would also overwrite the value if the
 * layout changed behind that op. Then the memory that the reshard holds covers both. */
static bool is_taken_over_alone(const struct tp_routes *r, MlirValue value, MlirOperation root) {
  int k = tp__timeline_number(&r->timeline, root);
  bool direct = true, once = tp__is_used_once(value);
  for (MlirOpOperand use = mlirValueGetFirstUse(value); !mlirOpOperandIsNull(use);
       use = mlirOpOperandGetNextUse(use))
    for (MlirOperation at = mlirOpOperandGetOwner(use);
         leads_to(r, use, k) && !mlirOperationEqual(at, root);
         at = mlirOpOperandGetOwner(mlirValueGetFirstUse(mlirOperationGetResult(at, 0)))) {
      const tp_rule *rule = tp__planned_rule(r->p, at);
      direct = false;
      once &= rule && !reads_init(rule);
    }
  return direct || once;
}

/* The value whose buffer becomes that of the result of op k, which lies in a function result: the
 * value it overwrites or is a view of. Null: none. */
static MlirValue source_of(const struct tp_routes *r, MlirOperation op,
                           const MlirValue *overwritten) {
  const tp_planner *p = r->p;
  const tp_planned_value *v = tp__planned_value(p, mlirOperationGetResult(op, 0));
  MlirValue source = *overwritten;
  if (tp__is_view(op) && v && tp__is_returned(p, v) &&
      tp__is_used_once(mlirOperationGetOperand(op, 0)))
    source = mlirOperationGetOperand(op, 0);
  else if (!mlirValueIsNull(source) && !is_taken_over_alone(r, source, op))
    source = (MlirValue){NULL};
  return source;
}

/* Marks the values whose buffer becomes that of a function result. Runs backwards, because it needs
 * the buffers of later values. Then find_since runs forwards and finds the op from which on each
 * lies there. */
static void find_in_results(struct tp_routes *r, const MlirValue *overwritten) {
  const tp_planner *p = r->p;
  for (size_t k = 0; k < p->problem.n_values; k++)
    r->since[k] = tp__is_returned(p, &p->problem.values[k]) ? 0 : -1;
  for (size_t k = r->timeline.n; k-- > 0;) {
    MlirOperation op = r->timeline.moments[k].op;
    int number =
        mlirOperationGetNumResults(op) > 0 ? number_of(p, mlirOperationGetResult(op, 0)) : -1;
    if (number < 0 || r->since[number] < 0 || tp__op_has_dialect(op, "scf"))
      continue;
    MlirValue source = source_of(r, op, &overwritten[k]);
    int before = mlirValueIsNull(source) || mlirOperationIsNull(tp__defining_op(source))
                     ? -1
                     : number_of(p, source);
    if (before >= 0)
      r->since[before] = 0;
  }
}

static tp_status find_since(struct tp_routes *r, const MlirValue *overwritten) {
  const tp_planner *p = r->p;
  tp_status status = TP_OK;
  for (size_t k = 0; k < r->timeline.n && status == TP_OK; k++) {
    MlirOperation op = r->timeline.moments[k].op;
    for (intptr_t i = 0; i < mlirOperationGetNumResults(op) && status == TP_OK; i++) {
      int number = number_of(p, mlirOperationGetResult(op, i));
      if (number < 0 || r->since[number] < 0)
        continue;
      MlirValue source =
          tp__op_has_dialect(op, "scf") ? (MlirValue){NULL} : source_of(r, op, &overwritten[k]);
      int before = mlirValueIsNull(source) ? -1 : number_of(p, source);
      r->since[number] = before >= 0 && r->since[before] >= 0 ? r->since[before] : (int)k;
      if (before >= 0 && r->since[before] >= 0 && mlirValueEqual(source, overwritten[k]))
        status = for_each_between(r, source, op, note_since, r->since[before]);
    }
  }
  return status;
}

tp_status tp__routes_places(struct tp_routes *r) {
  tp_planner *p = r->p;
  MlirValue *overwritten = tp__calloc(r->timeline.n + 1, sizeof *overwritten);
  r->since = tp__arena_array(p->problem.arena, p->problem.n_values + 1, sizeof *r->since);
  tp_status status = overwritten && r->since ? TP_OK : TP_NO_MEMORY;
  for (size_t k = 0; k < r->timeline.n && status == TP_OK; k++) {
    MlirOperation root = r->timeline.moments[k].op;
    int value = tp__overwritten(p, &r->timeline, (int)k);
    if (value < 0)
      continue;
    overwritten[k] = tp__timeline_value(&r->timeline, value);
    status = note_end(r, overwritten[k], (int)k);
    if (status == TP_OK)
      status = for_each_between(r, overwritten[k], root, note_end, (int)k);
  }
  if (status == TP_OK) {
    find_in_results(r, overwritten);
    status = find_since(r, overwritten);
  }
  tp__free(overwritten);
  return status == TP_OK ? TP_OK : tp__plan_no_memory(p);
}
