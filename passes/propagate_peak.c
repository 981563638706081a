/* What a written plan holds: every value's bytes on one device while it is in use, and the moment when that is most.
 *
 * The caller owns the memory of arguments and results; it is there from the start to the end. A value that is returned as it is made is
 * made in the result's memory. Other values live from the op that makes them to their last use; one from outside a loop that is used in it
 * lives until the loop ends, and what a loop carries lives from its start to the last use of the result.
 * No memory is held by values that the compiler of the local program never stores: those that are made from nothing (empty, fill, splat), unless
 * their layout changes, and those between two elementwise ops that become one loop nest. They only extend the life of what they are made from, as
 * do other names of the same data (reshapes, changes of layout that change nothing). What attention makes in blocks (attention.h) does that too,
 * and holds a block. */
#include "passes/propagate_memory.h"
#include "passes/propagate_storage.h"

typedef struct peak_finder {
  tp_planner *planner;
  tp_timeline timeline;
  const tp_rule **rules;      /* by moment, of those that were looked at; NULL: it has none */
  int *last;                  /* by moment: until when what it reads is needed */
  tp_value_table returned;    /* values that the function returns */
  tp_value_table overwritten; /* value -> the moment at which its memory becomes that of another value */
  tp_value_table in_results;  /* values whose memory becomes that of a result of the function */
  tp_memo layouts;            /* of changes of layout, by annotation and type */
  tp_memo steps;              /* what their steps hold, by both layouts and type */
  int64_t *delta;             /* by moment: bytes that begin there, minus those that ended just before */
  size_t n_held, capacity;
  tp_held *held; /* everything that is ever held */
  bool failed;   /* memory ran out */
} peak_finder;

/* What a change of layout says that it makes. Deep programs say it in few ways; reading it anew takes longer than all else that is done for it. */
static tp_spec changed_to(peak_finder *f, MlirOperation op) {
  int64_t key[] = {(int64_t)(intptr_t)tp__get(op, "tp.sharding").ptr,
                   (int64_t)(intptr_t)mlirValueGetType(mlirOperationGetResult(op, 0)).ptr};
  void **slot = tp__memo(&f->layouts, f->planner->arena, key, TP_LEN(key));
  if (slot && *slot)
    return *(const tp_spec *)*slot;
  tp_annotation annotation = {0};
  bool present;
  (void)tp__program_op(&f->planner->program, op, 0, &annotation, &present);
  tp_spec *kept = slot ? tp__arena_alloc(f->planner->arena, sizeof *kept) : NULL;
  if (kept)
    *kept = annotation.spec;
  if (slot)
    *slot = kept;
  return annotation.spec;
}

/* The layout of a value of the written plan: as it was chosen, or as a change of layout that was put in says. */
static tp_spec layout_of(peak_finder *f, MlirValue value) {
  const tp_planned_value *v = tp__planned_value(f->planner, value);
  if (v)
    return tp__plan_produced(f->planner, v);
  MlirOperation op = tp__defining_op(value);
  return !mlirOperationIsNull(op) && tp__op_is(op, "shard.shard") ? changed_to(f, op) : tp_spec_replicated();
}

static int64_t bytes_in(const tp_planner *p, MlirType type, tp_spec spec) {
  int rank;
  int64_t shape[TP_MAX_RANK];
  if (tp__static_tensor(type, &rank, shape))
    return tp__local_bytes(p->mesh, spec, rank, shape, tp__element_size(tp__element_type(type)));
  return tp__is_tensor(type) ? 0 : tp__element_size(type);
}

/* Of a value whose layout is chosen or changed: of one in blocks, a block. */
static int64_t bytes_of(peak_finder *f, MlirValue value) {
  const tp_planner *p = f->planner;
  const tp_planned_value *v = tp__planned_value(p, value);
  if (!v) /* an element that is read, or a change of layout that was put in */
    return tp__is_tensor(mlirValueGetType(value)) ? bytes_in(p, mlirValueGetType(value), layout_of(f, value)) : 0;
  int64_t bytes = tp__local_bytes(p->mesh, tp__plan_produced(p, v), v->rank, v->shape, v->element_size);
  return v->in_blocks ? tp__block_bytes(bytes, v->element_size) : bytes;
}

/* Is the value more than a block? What fits into one is stored as it is. */
static bool in_blocks(peak_finder *f, MlirValue value) {
  const tp_planner *p = f->planner;
  const tp_planned_value *v = tp__planned_value(p, value);
  return v && v->in_blocks &&
         bytes_of(f, value) < tp__local_bytes(p->mesh, tp__plan_produced(p, v), v->rank, v->shape, v->element_size);
}

static bool changes_nothing(peak_finder *f, MlirOperation op) {
  return tp__op_is(op, "shard.shard") &&
         tp_spec_equal(layout_of(f, mlirOperationGetOperand(op, 0)), layout_of(f, mlirOperationGetResult(op, 0)));
}

/* Does the layout of the value change on the way to a user? Then also what is made from nothing is stored. */
static bool is_changed(peak_finder *f, MlirValue value) {
  bool changed = false;
  for (MlirOpOperand use = mlirValueGetFirstUse(value); !mlirOpOperandIsNull(use); use = mlirOpOperandGetNextUse(use)) {
    MlirOperation user = mlirOpOperandGetOwner(use);
    changed |= tp__op_is(user, "shard.shard") && !changes_nothing(f, user);
  }
  return changed;
}

/* Is what the op makes returned by the function as it is made, not by way of control flow? */
static bool is_returned(const peak_finder *f, int k, MlirValue value) {
  return f->timeline.moments[k].parent < 0 && tp__table_get(&f->returned, value.ptr) >= 0 &&
         !tp__op_has_dialect(f->timeline.moments[k].op, "scf");
}

/* Is the use one that reads no element, but says only where a result might be made? The local program makes it elsewhere. `user` is the moment of
 * the user, or of the op around it. */
static bool is_unread(const peak_finder *f, MlirOpOperand use, int user) {
  const tp_rule *rule = f->rules[user];
  int i = (int)mlirOpOperandGetOperandNumber(use);
  return rule && i < rule->n_operands && rule->operands[i].is_unused &&
         mlirOperationEqual(f->timeline.moments[user].op, mlirOpOperandGetOwner(use));
}

/* Until when what op k makes is needed, from moment `at` on. What a loop starts from is needed no longer than to start it. */
static int last_use(const peak_finder *f, int k, MlirValue value, int at) {
  int last = at, place = f->timeline.moments[k].parent;
  for (MlirOpOperand use = mlirValueGetFirstUse(value); !mlirOpOperandIsNull(use); use = mlirOpOperandGetNextUse(use)) {
    MlirOperation op = mlirOpOperandGetOwner(use);
    int user = tp__timeline_number(&f->timeline, op);
    if (is_unread(f, use, user))
      continue;
    int around = tp__timeline_around(&f->timeline, place, user);
    bool starts = around == user && tp__op_has_dialect(op, "scf") && mlirOperationEqual(op, f->timeline.moments[user].op);
    int until = starts ? around : f->last[around];
    last = until > last ? until : last;
  }
  return last;
}

static void hold(peak_finder *f, tp_held held) {
  f->delta[held.from] += held.bytes;
  f->delta[held.to + 1] -= held.bytes;
  if (tp__grow((void **)&f->held, &f->capacity, f->n_held + 1, sizeof *f->held) == TP_OK)
    f->held[f->n_held++] = held;
  else
    f->failed = true;
}

static void hold_value(peak_finder *f, MlirValue value, int from, int to) {
  hold(f, (tp_held){TP_HELD_VALUE, value, bytes_of(f, value), from, to});
}

/* Bytes that the steps of a change of layout hold, which are neither its start nor its end. */
static tp_status steps_bytes(peak_finder *f, tp_spec from, tp_spec to, MlirType type, int64_t *bytes) {
  tp_planner *p = f->planner;
  int64_t key[] = {(int64_t)from.bits, (int64_t)to.bits, (int64_t)(intptr_t)type.ptr};
  void **slot = tp__memo(&f->steps, p->arena, key, TP_LEN(key));
  if (slot && *slot) {
    *bytes = *(const int64_t *)*slot;
    return TP_OK;
  }
  int rank;
  int64_t shape[TP_MAX_RANK], size = tp__element_size(tp__element_type(type));
  tp_reshard path;
  *bytes = 0;
  if (!tp__static_tensor(type, &rank, shape))
    return TP_OK;
  tp_status status = tp_reshard_path(p->reshards, from, to, rank, shape, size, &path);
  if (status != TP_OK)
    return status;
  *bytes = tp__change_excess(p->mesh, &path, rank, shape, size);
  int64_t *kept = slot ? tp__arena_alloc(p->arena, sizeof *kept) : NULL;
  if (kept)
    *kept = *bytes;
  if (slot)
    *slot = kept;
  return TP_OK;
}

static tp_status hold_steps(peak_finder *f, int k) {
  MlirOperation op = f->timeline.moments[k].op;
  MlirValue result = mlirOperationGetResult(op, 0);
  int64_t bytes;
  tp_status status =
      steps_bytes(f, layout_of(f, mlirOperationGetOperand(op, 0)), layout_of(f, result), mlirValueGetType(result), &bytes);
  if (status == TP_OK && bytes > 0)
    hold(f, (tp_held){TP_HELD_STEPS, result, bytes, k, k});
  return status == TP_NO_MEMORY ? tp__error(op, status, "out of memory") : TP_OK;
}

/* Is the value made in the memory of a result of the function? It may be overwritten by what is. */
static bool lies_in_result(const peak_finder *f, int k, MlirValue value) {
  return is_returned(f, k, value) || tp__table_get(&f->in_results, value.ptr) >= 0;
}

/* From moment k on, at which it is made, until it is last used or overwritten. */
static void hold_result(peak_finder *f, int k, MlirValue value, int last) {
  int taken_over = tp__table_get(&f->overwritten, value.ptr);
  hold_value(f, value, k, taken_over >= 0 ? taken_over - 1 : last);
}

/* What a region carries lives outside of its block. */
static void hold_carried(peak_finder *f, int k) {
  MlirOperation op = f->timeline.moments[k].op;
  for (intptr_t i = 0; i < mlirOperationGetNumResults(op); i++) {
    MlirValue value = mlirOperationGetResult(op, i);
    if (!lies_in_result(f, k, value))
      hold_result(f, k, value, last_use(f, k, value, f->timeline.moments[k].end));
  }
  if (!tp__op_is(op, "scf.while")) /* whose condition passes other values on */
    return;
  MlirBlock before = mlirRegionGetFirstBlock(mlirOperationGetRegion(op, 0));
  for (intptr_t i = 0; i < mlirBlockGetNumArguments(before); i++)
    if (!tp__is_passed_on(op, i))
      hold_value(f, mlirBlockGetArgument(before, i), k, f->timeline.moments[k].end);
}

static void hold_workspace(peak_finder *f, int k, const tp_rule *rule) {
  const tp_planner *p = f->planner;
  MlirValue value = mlirOperationGetResult(rule->op, 0);
  const tp_node *node = &p->nodes[tp__planned_value(p, value)->node];
  int64_t bytes = tp__workspace(p, rule, &node->strategies[node->chosen]);
  int64_t travelling = tp__ring_bytes(p, rule, &node->strategies[node->chosen]);
  if (bytes > 0)
    hold(f, (tp_held){TP_HELD_WORKSPACE, value, bytes, k, k});
  if (travelling > 0)
    hold(f, (tp_held){TP_HELD_WORKSPACE, value, travelling, k, tp__timeline_number(&f->timeline, rule->ring.last)});
}

/* What op k makes of its one or several results: `overwritten` is the value whose memory they take over. */
static void hold_made(peak_finder *f, int k, MlirValue value, bool stored, MlirValue overwritten) {
  int last = last_use(f, k, value, k);
  bool in_result = lies_in_result(f, k, value);
  if ((!stored && !in_result) || in_blocks(f, value)) /* blocks are made where the last of them is used */
    f->last[k] = last > f->last[k] ? last : f->last[k];
  MlirOperation op = f->timeline.moments[k].op;
  if (!stored && tp__is_view(op) && is_returned(f, k, value))
    f->failed |= tp__table_put(&f->in_results, mlirOperationGetOperand(op, 0).ptr, k) != TP_OK;
  if (!stored)
    return;
  if (!in_result)
    hold_result(f, k, value, last);
  if (!mlirValueIsNull(overwritten))
    f->failed |= tp__table_put(&f->overwritten, overwritten.ptr, k) != TP_OK ||
                 (in_result && tp__table_put(&f->in_results, overwritten.ptr, k) != TP_OK);
}

static tp_status hold_op(peak_finder *f, int k) {
  MlirOperation op = f->timeline.moments[k].op;
  const tp_rule *rule = f->rules[k] = tp__planned_rule(f->planner, op);
  f->last[k] = f->timeline.moments[k].end;
  if (tp__op_has_dialect(op, "scf")) {
    hold_carried(f, k);
    return TP_OK;
  }
  bool stored = rule && rule->is_free ? is_changed(f, mlirOperationGetResult(op, 0))
                                      : !tp__is_unstored(f->planner, op, rule) && !changes_nothing(f, op);
  if (!stored && mlirOperationGetNumOperands(op) == 0) /* nothing is needed for its sake */
    return TP_OK;
  MlirValue overwritten = stored ? tp__overwritten(f->planner, rule) : (MlirValue){NULL};
  for (intptr_t i = 0; i < mlirOperationGetNumResults(op); i++)
    hold_made(f, k, mlirOperationGetResult(op, i), stored, overwritten);
  if (rule)
    hold_workspace(f, k, rule);
  return tp__op_is(op, "shard.shard") ? hold_steps(f, k) : TP_OK;
}

/* What the function returns, by value. */
static void note_returned(peak_finder *f) {
  MlirOperation end = mlirBlockGetTerminator(mlirRegionGetFirstBlock(mlirOperationGetRegion(f->planner->program.func, 0)));
  for (int i = 0; i < (int)mlirOperationGetNumOperands(end); i++)
    f->failed |= tp__table_put(&f->returned, mlirOperationGetOperand(end, i).ptr, i) != TP_OK;
}

static void hold_boundary(peak_finder *f) {
  tp_planner *p = f->planner;
  MlirBlock block = mlirRegionGetFirstBlock(mlirOperationGetRegion(p->program.func, 0));
  MlirOperation end = mlirBlockGetTerminator(block);
  int last = (int)f->timeline.n - 1;
  for (intptr_t i = 0; i < mlirBlockGetNumArguments(block); i++) {
    MlirValue arg = mlirBlockGetArgument(block, i);
    hold(f, (tp_held){TP_HELD_ARGUMENT, arg, bytes_in(p, mlirValueGetType(arg), layout_of(f, arg)), 0, last});
  }
  for (intptr_t i = 0; i < mlirOperationGetNumOperands(end); i++) { /* it is returned in the layout of the result */
    MlirValue value = mlirOperationGetOperand(end, i);
    hold(f, (tp_held){TP_HELD_RESULT, value, bytes_in(p, mlirValueGetType(value), layout_of(f, value)), 0, last});
  }
}

/* The tightest moment, and what is held then. */
static void find_peak(peak_finder *f, tp_memory_peak *peak) {
  int64_t held = 0;
  int at = 0;
  peak->bytes = -1;
  for (size_t k = 0; k < f->timeline.n; k++) {
    held += f->delta[k];
    if (held <= peak->bytes)
      continue;
    peak->bytes = held;
    peak->op = f->timeline.moments[k].op;
    at = (int)k;
  }
  for (size_t i = 0; i < f->n_held; i++)
    if (f->held[i].from <= at && at <= f->held[i].to && f->held[i].bytes > 0)
      f->held[peak->n++] = f->held[i];
  peak->held = f->held;
}

tp_status tp__plan_peak(tp_planner *p, tp_memory_peak *peak) {
  peak_finder f = {.planner = p};
  *peak = (tp_memory_peak){0};
  tp_status status = tp__timeline_build(p->program.func, &f.timeline);
  size_t n = f.timeline.n;
  f.rules = tp__calloc(n + 1, sizeof(const tp_rule *));
  f.last = tp__calloc(n + 1, sizeof *f.last);
  f.delta = tp__calloc(n + 1, sizeof *f.delta);
  p->storage = tp__calloc(p->n_values + 1, sizeof *p->storage);
  f.failed = !f.rules || !f.last || !f.delta || !p->storage;
  note_returned(&f);
  for (size_t k = n; k > 0 && status == TP_OK && !f.failed; k--) /* backwards: users are known */
    status = hold_op(&f, (int)k - 1);
  if (status == TP_OK && !f.failed)
    hold_boundary(&f);
  if (status == TP_OK && f.failed)
    status = tp__error(p->program.func, TP_NO_MEMORY, "out of memory");
  if (status == TP_OK)
    find_peak(&f, peak);
  else
    tp__free(f.held);
  tp__table_destroy(&f.returned);
  tp__table_destroy(&f.overwritten);
  tp__table_destroy(&f.in_results);
  tp__memo_destroy(&f.layouts);
  tp__memo_destroy(&f.steps);
  tp__free(p->storage);
  p->storage = NULL;
  tp__free(f.delta);
  tp__free(f.last);
  tp__free(f.rules);
  tp__timeline_destroy(&f.timeline);
  return status;
}
