/* What a written plan holds: every value's bytes on one device while it is in use, and the moment
 * when that is most.
 *
 * The caller owns the memory of arguments and results; it is there from the start to the end. A
 * value that is returned as it is made is made in the result's memory. Other values live from the
 * op that makes them to their last use; one from outside a loop that is used in it lives until the
 * loop ends, and what a loop carries lives from its start to the last use of the result. No memory
 * is held by values that the compiler of the local program never stores: those that are made from
 * nothing (empty, fill, splat), unless their layout changes, and those between two elementwise ops
 * that become one loop nest. They only extend the life of what they are made from, as do other
 * names of the same data (reshapes, changes of layout that change nothing). What attention makes in
 * blocks (attention.h) does that too, and holds a block. */
#include "passes/propagate/model/memory_model.h"
#include "passes/propagate/model/storage.h"

enum { RETURNED = 1, IN_RESULT = 2 };

typedef struct peak_finder {
  tp_planner *planner;
  tp_timeline timeline; /* with the changes of layout that were written */
  int *last;            /* by moment: until when what it reads is needed */
  int64_t *delta;       /* by moment: bytes that begin there, minus those that ended just before */
  /* by value: is it returned by the function; does its memory become that of a result of the
   * function? */
  uint8_t *places;
  /* by value: the moment at which its memory becomes that of another value; -1: at none */
  int *overwritten;
  tp_spec *others; /* layouts of the values that the planner does not have */
  tp_memo layouts; /* of changes of layout, by annotation and type */
  tp_memo steps;   /* what their steps hold, by both layouts and type */
  size_t n_held, capacity;
  tp_held *held; /* everything that is ever held */
  bool failed;   /* memory ran out */
} peak_finder;

/* What a change of layout says that it makes. Deep programs say it in few ways; reading it anew
 * takes longer than all else that is done for it. */
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

/* Of values that the planner does not have: as a change of layout that was put in says. */
static void read_others(peak_finder *f) {
  const tp_timeline *t = &f->timeline;
  for (size_t i = 0; i < t->n_others; i++) {
    int maker = t->values[f->planner->n_values + i].maker;
    f->others[i] = maker >= 0 && t->moments[maker].is_change ? changed_to(f, t->moments[maker].op)
                                                             : tp_spec_replicated();
  }
}

static const tp_planned_value *planned(const peak_finder *f, int value) {
  return (size_t)value < f->planner->n_values ? &f->planner->values[value] : NULL;
}

/* The layout of a value of the written plan. */
static tp_spec layout_of(const peak_finder *f, int value) {
  const tp_planned_value *v = planned(f, value);
  return v ? tp__plan_produced(f->planner, v) : f->others[(size_t)value - f->planner->n_values];
}

static int64_t bytes_in(const tp_planner *p, MlirType type, tp_spec spec) {
  int rank;
  int64_t shape[TP_MAX_RANK];
  if (tp__static_tensor(type, &rank, shape))
    return tp__local_bytes(p->mesh, spec, rank, shape, tp__element_size(tp__element_type(type)));
  return tp__is_tensor(type) ? 0 : tp__element_size(type);
}

/* Of a value whose layout is chosen or changed: of one in blocks, a block. */
static int64_t bytes_of(const peak_finder *f, int value) {
  const tp_planner *p = f->planner;
  const tp_planned_value *v = planned(f, value);
  if (!v)
    return bytes_in(p, mlirValueGetType(tp__timeline_value(&f->timeline, value)),
                    layout_of(f, value));
  int64_t bytes =
      tp__local_bytes(p->mesh, tp__plan_produced(p, v), v->rank, v->shape, v->element_size);
  return v->in_blocks ? tp__block_bytes(bytes, v->element_size) : bytes;
}

/* Is the value more than a block? What fits into one is stored as it is. */
static bool in_blocks(const peak_finder *f, int value) {
  const tp_planner *p = f->planner;
  const tp_planned_value *v = planned(f, value);
  return v && v->in_blocks &&
         bytes_of(f, value) <
             tp__local_bytes(p->mesh, tp__plan_produced(p, v), v->rank, v->shape, v->element_size);
}

static int operand_of(const peak_finder *f, int k, int i) {
  return f->timeline.uses[f->timeline.moments[k].first_use + i].value;
}

static bool changes_nothing(const peak_finder *f, int k) {
  return f->timeline.moments[k].is_change &&
         tp_spec_equal(layout_of(f, operand_of(f, k, 0)),
                       layout_of(f, f->timeline.moments[k].result));
}

/* Does the layout of the value change on the way to a user? Then also what is made from nothing is
 * stored. */
static bool is_changed(const peak_finder *f, int value) {
  const tp_timeline *t = &f->timeline;
  bool changed = false;
  for (int use = t->values[value].first_use; use >= 0; use = t->uses[use].next) {
    int user = t->uses[use].moment;
    changed |= t->moments[user].is_change && !changes_nothing(f, user);
  }
  return changed;
}

/* Is what op k makes returned by the function as it is made, not by way of control flow? */
static bool is_returned(const peak_finder *f, int k, int value) {
  const tp_moment *m = &f->timeline.moments[k];
  return m->parent < 0 && f->places[value] & RETURNED && !m->is_control;
}

/* Is the use one that reads no element, but says only where a result might be made? The local
 * program makes it elsewhere. */
static bool is_unread(const tp_timeline *t, int use) {
  const tp_moment *m = &t->moments[t->uses[use].moment];
  int i = use - m->first_use;
  return m->rule && i < m->n_operands && i < m->rule->n_operands && m->rule->operands[i].is_unused;
}

/* Until when what op k makes is needed, from moment `at` on. What a loop starts from is needed no
 * longer than to start it. */
static int last_use(const peak_finder *f, int k, int value, int at) {
  const tp_timeline *t = &f->timeline;
  int last = at, place = t->moments[k].parent;
  for (int use = t->values[value].first_use; use >= 0; use = t->uses[use].next) {
    if (is_unread(t, use))
      continue;
    int user = t->uses[use].moment, around = tp__timeline_around(t, place, user);
    bool starts = around == user && t->moments[user].is_control && tp__timed_directly(t, use);
    int until = starts ? around : f->last[around];
    last = until > last ? until : last;
  }
  return last;
}

static void hold(peak_finder *f, tp_held held) {
  f->delta[held.from] += held.bytes;
  f->delta[held.to + 1] -= held.bytes;
  if (held.bytes == 0)
    return;
  if (tp__grow((void **)&f->held, &f->capacity, f->n_held + 1, sizeof *f->held) == TP_OK)
    f->held[f->n_held++] = held;
  else
    f->failed = true;
}

static void hold_value(peak_finder *f, int value, int from, int to) {
  hold(f, (tp_held){TP_HELD_VALUE, tp__timeline_value(&f->timeline, value), bytes_of(f, value),
                    from, to});
}

/* Bytes that the steps of a change of layout hold, which are neither its start nor its end. */
static tp_status steps_bytes(peak_finder *f, tp_spec from, tp_spec to, MlirType type,
                             int64_t *bytes) {
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
      steps_bytes(f, layout_of(f, operand_of(f, k, 0)), layout_of(f, f->timeline.moments[k].result),
                  mlirValueGetType(result), &bytes);
  if (status == TP_OK && bytes > 0)
    hold(f, (tp_held){TP_HELD_STEPS, result, bytes, k, k});
  return status == TP_NO_MEMORY ? tp__error(op, status, "out of memory") : TP_OK;
}

/* Is what op k makes in the memory of a result of the function? It may be overwritten by what
 * is. */
static bool lies_in_result(const peak_finder *f, int k, int value) {
  return f->places[value] & IN_RESULT || is_returned(f, k, value);
}

/* From moment k on, at which it is made, until it is last used or overwritten. */
static void hold_result(peak_finder *f, int k, int value, int last) {
  int taken_over = f->overwritten[value];
  hold_value(f, value, k, taken_over >= 0 ? taken_over - 1 : last);
}

/* What a region carries lives outside of its block. Numbers take no memory worth counting. */
static void hold_carried(peak_finder *f, int k) {
  const tp_timeline *t = &f->timeline;
  MlirOperation op = t->moments[k].op;
  for (intptr_t i = 0; i < mlirOperationGetNumResults(op); i++) {
    int value = tp__timeline_find(t, mlirOperationGetResult(op, i));
    if (value >= 0 && !lies_in_result(f, k, value))
      hold_result(f, k, value, last_use(f, k, value, t->moments[k].end));
  }
  if (!tp__op_is(op, "scf.while")) /* whose condition passes other values on */
    return;
  MlirBlock before = mlirRegionGetFirstBlock(mlirOperationGetRegion(op, 0));
  for (intptr_t i = 0; i < mlirBlockGetNumArguments(before); i++) {
    int value = tp__timeline_find(t, mlirBlockGetArgument(before, i));
    if (value >= 0 && !tp__is_passed_on(op, i))
      hold_value(f, value, k, t->moments[k].end);
  }
}

static void hold_workspace(peak_finder *f, int k) {
  const tp_planner *p = f->planner;
  const tp_rule *rule = f->timeline.moments[k].rule;
  const tp_planned_value *v = planned(f, f->timeline.moments[k].result);
  const tp_node *node = &p->nodes[v->node];
  int64_t bytes = tp__workspace(p, rule, &node->strategies[node->chosen]);
  int64_t travelling = tp__ring_bytes(p, rule, &node->strategies[node->chosen]);
  if (bytes > 0)
    hold(f, (tp_held){TP_HELD_WORKSPACE, v->value, bytes, k, k});
  if (travelling > 0)
    hold(f, (tp_held){TP_HELD_WORKSPACE, v->value, travelling, k,
                      tp__timeline_number(&f->timeline, rule->ring.last)});
}

/* One of the results of op k: `overwritten` is the value whose memory they take over; -1: none. */
static void hold_made(peak_finder *f, int k, int value, bool stored, int overwritten) {
  int last = last_use(f, k, value, k);
  bool in_result = lies_in_result(f, k, value);
  /* blocks are made where the last of them is used */
  if ((!stored && !in_result) || in_blocks(f, value))
    f->last[k] = last > f->last[k] ? last : f->last[k];
  if (!stored) {
    if (is_returned(f, k, value) && tp__is_view(f->timeline.moments[k].op))
      f->places[operand_of(f, k, 0)] |= IN_RESULT;
    return;
  }
  if (!in_result)
    hold_result(f, k, value, last);
  if (overwritten < 0)
    return;
  f->overwritten[overwritten] = k;
  if (in_result)
    f->places[overwritten] |= IN_RESULT;
}

static tp_status hold_op(peak_finder *f, int k) {
  const tp_moment *m = &f->timeline.moments[k];
  f->last[k] = m->end;
  if (m->is_control) {
    hold_carried(f, k);
    return TP_OK;
  }
  if (m->result < 0)
    return TP_OK;
  bool stored = m->rule && m->rule->is_free
                    ? is_changed(f, m->result)
                    : !tp__is_unstored(f->planner, &f->timeline, k) && !changes_nothing(f, k);
  if (!stored && m->n_operands == 0) /* nothing is needed for its sake */
    return TP_OK;
  int overwritten = stored ? tp__overwritten(f->planner, &f->timeline, k) : -1;
  hold_made(f, k, m->result, stored, overwritten);
  for (int i = 1; m->rule && i < m->rule->n_results; i++)
    if (m->rule->results[i].number >= 0)
      hold_made(f, k, m->rule->results[i].number, stored, overwritten);
  if (m->rule)
    hold_workspace(f, k);
  return m->is_change ? hold_steps(f, k) : TP_OK;
}

static void note_returned(peak_finder *f) {
  const tp_moment *end = &f->timeline.moments[f->timeline.n - 1];
  for (int i = 0; i < end->n_operands; i++) {
    int value = f->timeline.uses[end->first_use + i].value;
    if (value >= 0)
      f->places[value] |= RETURNED;
  }
}

/* Of what the function is given or returns: all of it, and numbers too. */
static int64_t bytes_at(const peak_finder *f, MlirValue value) {
  int number = tp__timeline_find(&f->timeline, value);
  return bytes_in(f->planner, mlirValueGetType(value),
                  number >= 0 ? layout_of(f, number) : tp_spec_replicated());
}

static void hold_boundary(peak_finder *f) {
  MlirBlock block = mlirRegionGetFirstBlock(mlirOperationGetRegion(f->planner->program.func, 0));
  MlirOperation end = mlirBlockGetTerminator(block);
  int last = (int)f->timeline.n - 1;
  for (intptr_t i = 0; i < mlirBlockGetNumArguments(block); i++) {
    MlirValue arg = mlirBlockGetArgument(block, i);
    hold(f, (tp_held){TP_HELD_ARGUMENT, arg, bytes_at(f, arg), 0, last});
  }
  for (intptr_t i = 0; i < mlirOperationGetNumOperands(end); i++) {
    /* it is returned in the layout of the result */
    MlirValue value = mlirOperationGetOperand(end, i);
    hold(f, (tp_held){TP_HELD_RESULT, value, bytes_at(f, value), 0, last});
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
    if (f->held[i].from <= at && at <= f->held[i].to)
      f->held[peak->n++] = f->held[i];
  peak->held = f->held;
}

static bool allocate(peak_finder *f) {
  const tp_timeline *t = &f->timeline;
  f->last = tp__calloc(t->n + 1, sizeof *f->last);
  f->delta = tp__calloc(t->n + 1, sizeof *f->delta);
  f->places = tp__calloc(t->n_values + 1, sizeof *f->places);
  f->overwritten = tp__calloc(t->n_values + 1, sizeof *f->overwritten);
  f->others = tp__calloc(t->n_others + 1, sizeof *f->others);
  if (!f->last || !f->delta || !f->places || !f->overwritten || !f->others)
    return false;
  for (size_t i = 0; i < t->n_values; i++)
    f->overwritten[i] = -1;
  return true;
}

static tp_status hold_all(peak_finder *f) {
  tp_status status = TP_OK;
  read_others(f);
  note_returned(f);
  /* backwards: users are known */
  for (size_t k = f->timeline.n; k > 0 && status == TP_OK && !f->failed; k--)
    status = hold_op(f, (int)k - 1);
  if (status == TP_OK && !f->failed)
    hold_boundary(f);
  return status;
}

tp_status tp__plan_peak(tp_planner *p, tp_memory_peak *peak) {
  peak_finder f = {.planner = p};
  *peak = (tp_memory_peak){0};
  tp_status status = tp__timeline_build(p, &f.timeline);
  f.failed = status == TP_OK && !allocate(&f);
  if (status == TP_OK && !f.failed)
    status = hold_all(&f);
  if (status == TP_OK && f.failed)
    status = tp__error(p->program.func, TP_NO_MEMORY, "out of memory");
  if (status == TP_OK)
    find_peak(&f, peak);
  else
    tp__free(f.held);
  tp__memo_destroy(&f.layouts);
  tp__memo_destroy(&f.steps);
  tp__free(f.others);
  tp__free(f.overwritten);
  tp__free(f.places);
  tp__free(f.delta);
  tp__free(f.last);
  tp__timeline_destroy(&f.timeline);
  return status;
}
