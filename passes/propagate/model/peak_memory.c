/* Computes the peak memory of a written plan: the bytes of every value on one device while it is
 * live, and the op at which their sum is largest.
 *
 * The caller owns the memory of arguments and results, which lives from start to end, as do the
 * constants of the program, whole on every device. A value that is returned as produced is
 * produced in the result's memory. Other values live from their op to their last use. A value
 * defined outside a loop and used in it lives until the loop ends. A carried value lives from the
 * start of the loop to the last use of the loop's result; what a loop updates in place and the
 * function returns is produced in the result's memory, too. Values that the compiler of the local
 * program never stores hold no memory: those made from no input (empty, fill, splat), unless their
 * layout changes, and those between two elementwise ops that are fused into one loop nest. They
 * only extend the live ranges of their operands, as do views (reshapes, reshards that change
 * nothing). Attention values computed in blocks (attention.h) do the same and hold one block. */
#include "passes/propagate/model/memory_model.h"
#include "passes/propagate/model/storage.h"

enum { RETURNED = 1, IN_RESULT = 2 };

typedef struct peak_finder {
  tp_planner *planner;
  tp_timeline timeline; /* with the written reshards */
  int *last;            /* by op: the last op that needs what it reads */
  int64_t *delta;       /* by op: bytes allocated there, minus those freed just before */
  /* by value, as flags: the function returns it; its buffer becomes that of a function result */
  uint8_t *places;
  /* by value: the op at which its buffer becomes that of another value; -1: none */
  int *overwritten;
  tp_spec *others; /* layouts of the values unknown to the planner */
  tp_memo layouts; /* of reshards, by annotation and type */
  tp_memo steps;   /* bytes of reshard steps, by source layout, result layout and type */
  size_t n_held, capacity;
  tp_live_buffer *held; /* all live ranges */
  bool failed;          /* memory ran out */
} peak_finder;

/* The layout that a reshard makes. Cached, because deep programs have few distinct annotations, and
 * parsing them dominates the time of this file. */
static tp_spec resharded_spec(peak_finder *f, MlirOperation op) {
  int64_t key[] = {(int64_t)(intptr_t)tp__get(op, "tp.sharding").ptr,
                   (int64_t)(intptr_t)mlirValueGetType(mlirOperationGetResult(op, 0)).ptr};
  void **slot = tp__memo(&f->layouts, f->planner->problem.arena, key, TP_LEN(key));
  if (slot && *slot)
    return *(const tp_spec *)*slot;
  tp_annotation annotation = {0};
  bool present;
  (void)tp__func_graph_op(&f->planner->problem.graph, op, 0, &annotation, &present);
  tp_spec *kept = slot ? tp__arena_alloc(f->planner->problem.arena, sizeof *kept) : NULL;
  if (kept)
    *kept = annotation.spec;
  if (slot)
    *slot = kept;
  return annotation.spec;
}

/* Sets the layouts of values unknown to the planner: those of inserted reshards. */
static void read_others(peak_finder *f) {
  const tp_timeline *t = &f->timeline;
  for (size_t i = 0; i < t->n_others; i++) {
    int maker = t->values[f->planner->problem.n_values + i].maker;
    f->others[i] = maker >= 0 && t->moments[maker].is_change
                       ? resharded_spec(f, t->moments[maker].op)
                       : tp_spec_replicated();
  }
}

static const tp_planned_value *planned(const peak_finder *f, int value) {
  return (size_t)value < f->planner->problem.n_values ? &f->planner->problem.values[value] : NULL;
}

/* The layout of a value in the written plan. */
static tp_spec layout_of(const peak_finder *f, int value) {
  const tp_planned_value *v = planned(f, value);
  return v ? tp__plan_produced(f->planner, v)
           : f->others[(size_t)value - f->planner->problem.n_values];
}

static int64_t bytes_in(const tp_planner *p, MlirType type, tp_spec spec) {
  int rank;
  int64_t shape[TP_MAX_RANK];
  if (tp__static_tensor(type, &rank, shape))
    return tp__local_bytes(p->problem.mesh, spec, rank, shape,
                           tp__element_size(tp__element_type(type)));
  return tp__is_tensor(type) ? 0 : tp__element_size(type);
}

/* Bytes of a value in its layout; the bytes of one block if it is computed in blocks. */
static int64_t bytes_of(const peak_finder *f, int value) {
  const tp_planner *p = f->planner;
  const tp_planned_value *v = planned(f, value);
  if (!v)
    return bytes_in(p, mlirValueGetType(tp__timeline_value(&f->timeline, value)),
                    layout_of(f, value));
  int64_t bytes = tp__value_bytes(p, v, tp__plan_produced(p, v));
  return v->in_blocks ? tp__block_bytes(v, bytes) : bytes;
}

/* True if the value is larger than a block. A value that fits into one is stored whole. */
static bool in_blocks(const peak_finder *f, int value) {
  const tp_planner *p = f->planner;
  const tp_planned_value *v = planned(f, value);
  return v && v->in_blocks && bytes_of(f, value) < tp__value_bytes(p, v, tp__plan_produced(p, v));
}

static int operand_of(const peak_finder *f, int k, int i) {
  return f->timeline.uses[f->timeline.moments[k].first_use + i].value;
}

static bool is_noop_reshard(const peak_finder *f, int k) {
  return f->timeline.moments[k].is_change &&
         tp_spec_equal(layout_of(f, operand_of(f, k, 0)),
                       layout_of(f, f->timeline.moments[k].result));
}

/* True if a reshard of the value changes its layout. Then even a fill or splat is stored. */
static bool is_resharded(const peak_finder *f, int value) {
  const tp_timeline *t = &f->timeline;
  bool changed = false;
  for (int use = t->values[value].first_use; use >= 0; use = t->uses[use].next) {
    int user = t->uses[use].moment;
    changed |= t->moments[user].is_change && !is_noop_reshard(f, user);
  }
  return changed;
}

/* True if the function returns the result of op k unchanged, and k is no control flow, or a loop
 * that updates the value in place. */
static bool is_returned(const peak_finder *f, int k, int value) {
  const tp_timeline_op *m = &f->timeline.moments[k];
  if (m->parent >= 0 || !(f->places[value] & RETURNED))
    return false;
  return !m->is_control ||
         tp__is_carried_in_place(
             m->op, mlirOpResultGetResultNumber(tp__timeline_value(&f->timeline, value)));
}

/* True if the use reads no element but only names a place for a result (an unread init). The local
 * program allocates the result elsewhere. */
static bool is_unread(const tp_timeline *t, int use) {
  const tp_timeline_op *m = &t->moments[t->uses[use].moment];
  int i = use - m->first_use;
  return m->rule && i < m->n_operands && i < m->rule->n_operands && m->rule->operands[i].is_unused;
}

/* The last op, `at` or later, that needs the result of op k. The initial value of a loop is needed
 * only until the loop starts. */
static int last_use(const peak_finder *f, int k, int value, int at) {
  const tp_timeline *t = &f->timeline;
  int last = at, place = t->moments[k].parent;
  for (int use = t->values[value].first_use; use >= 0; use = t->uses[use].next) {
    if (is_unread(t, use))
      continue;
    int user = t->uses[use].moment, around = tp__timeline_around(t, place, user);
    bool starts = around == user && t->moments[user].is_control && tp__timeline_is_operand(t, use);
    int until = starts ? around : f->last[around];
    last = until > last ? until : last;
  }
  return last;
}

static tp_live_buffer buffer(tp_live_buffer_kind kind, MlirValue value, int64_t bytes, int from,
                             int to) {
  return (tp_live_buffer){.kind = kind,
                          .value = value,
                          .bytes = bytes,
                          .from = from,
                          .to = to,
                          .of = from,
                          .result = -1};
}

/* The same for a value of the timeline, held from an op on. The maker is set here, because finding
 * the number of a value again misses the cache. */
static tp_live_buffer made_buffer(const peak_finder *f, tp_live_buffer_kind kind, int value,
                                  int64_t bytes, int from, int to) {
  tp_live_buffer made = buffer(kind, tp__timeline_value(&f->timeline, value), bytes, from, to);
  int maker = f->timeline.values[value].maker;
  made.of = maker < 0 ? from : maker;
  return made;
}

static void hold(peak_finder *f, tp_live_buffer held) {
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
  hold(f, made_buffer(f, TP_LIVE_VALUE, value, bytes_of(f, value), from, to));
}

/* Bytes of the intermediate buffers of a reshard, besides its source and result. */
static tp_status steps_bytes(peak_finder *f, tp_spec from, tp_spec to, MlirType type,
                             int64_t *bytes) {
  tp_planner *p = f->planner;
  int64_t key[] = {(int64_t)from.bits, (int64_t)to.bits, (int64_t)(intptr_t)type.ptr};
  void **slot = tp__memo(&f->steps, p->problem.arena, key, TP_LEN(key));
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
  tp_status status = tp_reshard_path(p->problem.reshards, from, to, rank, shape, size, &path);
  if (status != TP_OK)
    return status;
  *bytes = tp__reshard_excess(&path, rank, shape, size);
  int64_t *kept = slot ? tp__arena_alloc(p->problem.arena, sizeof *kept) : NULL;
  if (kept)
    *kept = *bytes;
  if (slot)
    *slot = kept;
  return TP_OK;
}

static tp_status hold_steps(peak_finder *f, int k) {
  MlirOperation op = f->timeline.moments[k].op;
  int result = f->timeline.moments[k].result;
  int64_t bytes;
  tp_status status = steps_bytes(f, layout_of(f, operand_of(f, k, 0)), layout_of(f, result),
                                 mlirValueGetType(mlirOperationGetResult(op, 0)), &bytes);
  if (status == TP_OK && bytes > 0)
    hold(f, made_buffer(f, TP_LIVE_RESHARD_STEPS, result, bytes, k, k));
  return status == TP_NO_MEMORY ? tp__out_of_memory(op) : TP_OK;
}

/* True if op k makes its result in the memory of a function result, also because a later op
 * overwrites it there. */
static bool lies_in_result(const peak_finder *f, int k, int value) {
  return f->places[value] & IN_RESULT || is_returned(f, k, value);
}

/* Holds the value from op k, which makes it, until its last use or until it is overwritten. */
static void hold_result(peak_finder *f, int k, int value, int last) {
  int taken_over = f->overwritten[value];
  hold_value(f, value, k, taken_over >= 0 ? taken_over - 1 : last);
}

/* Holds the values that a control-flow op carries; they live outside of its block. Scalars take no
 * memory worth counting. */
static void hold_carried(peak_finder *f, int k) {
  const tp_timeline *t = &f->timeline;
  MlirOperation op = t->moments[k].op;
  for (intptr_t i = 0; i < mlirOperationGetNumResults(op); i++) {
    int value = tp__timeline_find(t, mlirOperationGetResult(op, i));
    if (value >= 0 && !lies_in_result(f, k, value))
      hold_result(f, k, value, last_use(f, k, value, t->moments[k].end));
  }
  if (!tp__op_is(op, "scf.while")) /* its condition may pass on other values than it gets */
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
  int result = f->timeline.moments[k].result;
  const tp_node *node = &p->problem.nodes[planned(f, result)->node];
  int64_t bytes = tp__workspace(p, rule, &node->strategies[node->chosen]);
  int64_t traveling = tp__ring_bytes(p, rule, &node->strategies[node->chosen]);
  if (bytes > 0)
    hold(f, made_buffer(f, TP_LIVE_WORKSPACE, result, bytes, k, k));
  if (traveling > 0)
    hold(f, made_buffer(f, TP_LIVE_WORKSPACE, result, traveling, k,
                        tp__timeline_number(&f->timeline, rule->ring.last)));
}

/* Accounts for one result of op k. `overwritten` is the value whose buffer it reuses; -1: none. */
static void hold_made(peak_finder *f, int k, int value, bool stored, int overwritten) {
  int last = last_use(f, k, value, k);
  bool in_result = lies_in_result(f, k, value);
  /* blocks are computed until the last use, so operands stay live until then */
  if ((!stored && !in_result) || in_blocks(f, value))
    f->last[k] = last > f->last[k] ? last : f->last[k];
  if (!stored) {
    if (in_result && (tp__is_view(f->timeline.moments[k].op) ||
                      tp__is_written_through(f->planner, &f->timeline, k)))
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

/* True if op k cuts a slice from memory that stays, along dimensions that are whole on a device:
 * the slice is a view. Such memory is that of arguments, constants and values from outside of the
 * loop; of other values a slice is copied (own_slices.c). */
static bool shows_slice(const peak_finder *f, int k) {
  const tp_timeline_op *m = &f->timeline.moments[k];
  int from = m->rule && tp__op_is(m->op, "tensor.extract_slice") ? operand_of(f, k, 0) : -1, rank;
  int64_t shape[TP_MAX_RANK], sizes[TP_MAX_RANK];
  if (from < 0 || is_resharded(f, m->result) ||
      !tp__static_tensor(mlirValueGetType(tp__timeline_value(&f->timeline, from)), &rank, shape) ||
      tp__int_list(tp__inherent(m->op, "static_sizes"), TP_MAX_RANK, sizes) != rank)
    return false;
  int maker = f->timeline.values[from].maker;
  bool stays = maker < 0 || f->timeline.moments[maker].block != m->block ||
               tp__is_stored_constant(f->timeline.moments[maker].op);
  for (int d = 0; d < rank && stays; d++)
    stays = sizes[d] == shape[d] ||
            tp_spec_dim_shards(f->planner->problem.mesh, layout_of(f, from), d) == 1;
  return stays;
}

static tp_status hold_op(peak_finder *f, int k) {
  const tp_timeline_op *m = &f->timeline.moments[k];
  f->last[k] = m->end;
  if (m->is_control) {
    hold_carried(f, k);
    return TP_OK;
  }
  if (m->result < 0)
    return TP_OK;
  bool stored = m->rule && m->rule->is_free ? is_resharded(f, m->result)
                                            : !tp__is_unstored(f->planner, &f->timeline, k) &&
                                                  !is_noop_reshard(f, k) && !shows_slice(f, k);
  if (!stored && m->n_operands == 0) /* it keeps no operand live */
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
  const tp_timeline_op *end = &f->timeline.moments[f->timeline.n - 1];
  for (int i = 0; i < end->n_operands; i++) {
    int value = f->timeline.uses[end->first_use + i].value;
    if (value >= 0)
      f->places[value] |= RETURNED;
  }
}

/* Bytes of a function argument or result: the whole tensor, scalars too. `number` is that of the
 * value in the timeline; -1: none. */
static int64_t bytes_at(const peak_finder *f, MlirValue value, int number) {
  return bytes_in(f->planner, mlirValueGetType(value),
                  number >= 0 ? layout_of(f, number) : tp_spec_replicated());
}

/* Bytes of the constants of the function. Ops that share a rule have equal bodies, so only the body
 * of the first one is searched. */
static tp_status constant_bytes(const peak_finder *f, int64_t *bytes) {
  tp__constants c = {0};
  tp_status status = TP_OK;
  for (size_t k = 0; k < f->timeline.n && status == TP_OK; k++) {
    const tp_timeline_op *m = &f->timeline.moments[k];
    const tp_rule *first = m->rule ? m->rule->first : NULL;
    bool is_repeated = first && !mlirOperationEqual(first->op, m->op);
    status = m->is_constant ? tp__constants_add(m->op, &c) : TP_OK;
    if (status == TP_OK && !m->is_control && !is_repeated)
      status = tp__walk(m->op, tp__constants_add, &c);
  }
  *bytes = tp__constants_end(&c);
  return status;
}

static tp_status hold_boundary(peak_finder *f) {
  MlirOperation func = f->planner->problem.graph.func;
  MlirBlock block = mlirRegionGetFirstBlock(mlirOperationGetRegion(func, 0));
  MlirOperation end = mlirBlockGetTerminator(block);
  int last = (int)f->timeline.n - 1;
  for (intptr_t i = 0; i < mlirBlockGetNumArguments(block); i++) {
    MlirValue arg = mlirBlockGetArgument(block, i);
    int number = tp__timeline_find(&f->timeline, arg);
    tp_live_buffer held = buffer(TP_LIVE_ARGUMENT, arg, bytes_at(f, arg, number), 0, last);
    held.of = -1 - (int)i;
    hold(f, held);
  }
  for (intptr_t i = 0; i < mlirOperationGetNumOperands(end); i++) {
    /* it is returned in the layout of the result */
    MlirValue value = mlirOperationGetOperand(end, i);
    int number = tp__timeline_find(&f->timeline, value);
    tp_live_buffer held =
        number < 0 ? buffer(TP_LIVE_RESULT, value, bytes_at(f, value, number), 0, last)
                   : made_buffer(f, TP_LIVE_RESULT, number, bytes_at(f, value, number), 0, last);
    held.result = (int)i;
    if (mlirValueIsABlockArgument(value))
      held.of = -1 - (int)mlirBlockArgumentGetArgNumber(value);
    hold(f, held);
  }
  int64_t constants;
  TP_TRY(constant_bytes(f, &constants));
  hold(f, buffer(TP_LIVE_CONSTANTS, (MlirValue){NULL}, constants, 0, last));
  return TP_OK;
}

/* Finds the op with the highest memory use, and the buffers held then. Turns the differences into
 * the bytes held at each op. */
static void find_peak(peak_finder *f, tp_memory_peak *peak) {
  int64_t held = 0;
  int at = 0;
  peak->bytes = -1;
  for (size_t k = 0; k < f->timeline.n; k++) {
    held += f->delta[k];
    f->delta[k] = held;
    if (held <= peak->bytes)
      continue;
    peak->bytes = held;
    peak->op = f->timeline.moments[k].op;
    at = (int)k;
  }
  for (size_t i = 0; i < f->n_held; i++) {
    tp_live_buffer own = f->held[i];
    if (own.from > at || at > own.to)
      continue;
    f->held[i] = f->held[peak->n];
    f->held[peak->n++] = own;
  }
  peak->n_all = f->n_held;
  peak->held = f->held;
  peak->n_ops = f->timeline.n;
  peak->over_time = f->delta;
  f->held = NULL;
  f->delta = NULL;
}

void tp__memory_peak_destroy(tp_memory_peak *peak) {
  tp__free(peak->held);
  tp__free(peak->over_time);
  *peak = (tp_memory_peak){0};
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

/* True if the op converts what it has accumulated when it no longer reads its operands, and this
 * result is not larger than what is then no longer held. */
static bool is_made_late(const peak_finder *f, const tp_live_buffer *result) {
  const tp_planner *p = f->planner;
  int k = result->from;
  const tp_rule *rule = f->timeline.moments[k].rule;
  if (result->kind != TP_LIVE_VALUE || !rule || rule->contraction_flops == 0 || result->of != k ||
      result->to == k)
    return false;
  const tp_planned_value *v = planned(f, f->timeline.moments[k].result);
  const tp_node *node = &p->problem.nodes[v->node];
  if (tp__carried_bytes(p, rule, &node->strategies[node->chosen]) == 0)
    return false;
  int64_t freed = 0;
  for (size_t i = 0; i < f->n_held; i++)
    freed += f->held[i].kind == TP_LIVE_VALUE && f->held[i].from < k && f->held[i].to == k
                 ? f->held[i].bytes
                 : 0;
  return freed >= result->bytes;
}

/* Holds such results only from the next op on. */
static void delay_results(peak_finder *f) {
  for (size_t i = 0; i < f->n_held; i++)
    if (is_made_late(f, &f->held[i])) {
      f->delta[f->held[i].from] -= f->held[i].bytes;
      f->held[i].from++;
      f->delta[f->held[i].from] += f->held[i].bytes;
    }
}

static tp_status hold_all(peak_finder *f) {
  tp_status status = TP_OK;
  read_others(f);
  note_returned(f);
  /* backwards, so that users are known */
  for (size_t k = f->timeline.n; k > 0 && status == TP_OK && !f->failed; k--)
    status = hold_op(f, (int)k - 1);
  if (status == TP_OK && !f->failed)
    delay_results(f);
  if (status == TP_OK && !f->failed)
    status = hold_boundary(f);
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
    status = tp__out_of_memory(p->problem.graph.func);
  if (status == TP_OK)
    find_peak(&f, peak);
  tp__memo_destroy(&f.layouts);
  tp__memo_destroy(&f.steps);
  tp__free(f.others);
  tp__free(f.overwritten);
  tp__free(f.places);
  tp__free(f.held);
  tp__free(f.delta);
  tp__free(f.last);
  tp__timeline_destroy(&f.timeline);
  return status;
}
