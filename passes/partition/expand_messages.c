/* tp-expand-messages: turns shard.send, shard.recv, shard.shift and shard.update_halo of the
 * per-device program into permutes.
 *
 * Every device runs both a send and a recv. A pair of them determines for each device its
 * destination and its source. A recv is paired with the first unpaired send before it in the block
 * that has the same type and groups, because messages between two devices do not overtake each
 * other. A device receives the data of its source if that source sends to it. It receives zeros if
 * the source sends elsewhere or is outside of the group; upstream leaves this result undefined.
 * Data that no device receives is dropped. */
#include "passes/partition/expand.h"

#include "ir/collectives.h"
#include "support/support.h"

enum { NOBODY = -1, UNKNOWN = -2 };

/* Returns the device that attribute `attr` of `op` names in the group of `device`. Its coordinates
 * along grid_axes are constant or computed. */
static int64_t named_device(const tp__expansion *e, MlirOperation op, const char *attr,
                            const tp__axis_runs *runs, int64_t device) {
  int64_t named = device;
  for (int i = 0; i < runs->n; i++) {
    int64_t coordinate;
    if (!tp__coordinate_on_device(op, attr, i, e->mesh, device, &coordinate))
      return UNKNOWN;
    if (coordinate < 0 || coordinate >= tp__run_size(e->mesh, runs, i))
      return NOBODY;
    named = tp__run_move(e->mesh, runs, i, named, coordinate);
  }
  return named;
}

static tp_status refuse_unknown(MlirOperation op, const char *attr) {
  return tp__error(op, TP_UNSUPPORTED,
                   "its %s is known only at run time; compute it from constants and the device's "
                   "indices by integer arithmetic, "
                   "or gather over the group and take a slice",
                   attr);
}

static MlirValue sent(MlirOperation send) { return mlirOperationGetOperand(send, 0); }

/* Fills source_of for `recv` from destination_of of its send. */
static tp_status match(tp__expansion *e, MlirOperation recv, const tp__axis_runs *runs) {
  bool any = mlirAttributeIsNull(tp__inherent(recv, "source")), matched = false;
  for (int64_t d = 0; d < tp_mesh_size(e->mesh); d++) {
    int64_t to = e->destination_of[d];
    if (to < 0)
      continue;
    int64_t from = any ? d : named_device(e, recv, "source", runs, to);
    if (from == UNKNOWN)
      return refuse_unknown(recv, "source");
    if (any && e->source_of[to] >= 0)
      return tp__error(recv, TP_UNSUPPORTED,
                       "devices %lld and %lld both send to device %lld, and the recv has no "
                       "source; specify a source",
                       (long long)e->source_of[to], (long long)d, (long long)to);
    if (from == d)
      e->source_of[to] = d;
    matched |= from == d;
  }
  return matched ? TP_OK
                 : tp__error(recv, TP_INVALID_ARGUMENT,
                             "no device receives what was sent to it: its source sends to another "
                             "device, so all devices would wait forever; make the destination of "
                             "the send and the source of the recv match");
}

static tp_status expand_pair(tp__expansion *e, MlirOperation send, MlirOperation recv) {
  tp__axis_runs runs;
  MlirValue result;
  TP_TRY(tp__read_axis_runs(send, "grid_axes", e->mesh, &runs));
  for (int64_t d = 0; d < tp_mesh_size(e->mesh); d++) {
    e->source_of[d] = NOBODY;
    e->destination_of[d] = named_device(e, send, "destination", &runs, d);
    if (e->destination_of[d] == UNKNOWN)
      TP_TRY(refuse_unknown(send, "destination"));
  }
  TP_TRY(match(e, recv, &runs));
  TP_TRY(tp__expansion_permute(e, recv, sent(send), &result));
  mlirValueReplaceAllUsesOfWith(mlirOperationGetResult(recv, 0), result);
  mlirValueReplaceAllUsesOfWith(mlirOperationGetResult(send, 0), sent(send));
  mlirOperationDestroy(recv);
  mlirOperationDestroy(send);
  return TP_OK;
}

static bool is_pair(MlirOperation send, MlirOperation recv) {
  return mlirBlockEqual(mlirOperationGetBlock(send), mlirOperationGetBlock(recv)) &&
         mlirAttributeEqual(tp__inherent(send, "grid"), tp__inherent(recv, "grid")) &&
         tp__inherent(send, "grid_axes").ptr == tp__inherent(recv, "grid_axes").ptr &&
         mlirTypeEqual(mlirValueGetType(sent(send)),
                       mlirValueGetType(mlirOperationGetResult(recv, 0)));
}

/* Returns the index of the first send before `end` that can be paired with the recv at `end`, or
 * `end` if there is none. */
static size_t find_send(const tp_op_list *ops, size_t end) {
  size_t i = 0;
  while (i < end &&
         (mlirOperationIsNull(ops->items[i]) || !tp__op_is(ops->items[i], "shard.send") ||
          !is_pair(ops->items[i], ops->items[end])))
    i++;
  return i;
}

/* Expands a shift along an axis of the grid. Data shifted beyond the border is dropped unless the
 * shift rotates. */
static tp_status expand_shift(tp__expansion *e, MlirOperation op) {
  tp__axis_runs all;
  int64_t axis = mlirIntegerAttrGetValueInt(tp__inherent(op, "shift_axis"));
  int64_t offset = mlirIntegerAttrGetValueInt(tp__inherent(op, "offset"));
  bool rotate = !mlirAttributeIsNull(tp__inherent(op, "rotate"));
  MlirValue result;
  tp_status status = tp__all_axis_runs(op, e->mesh, &all);
  if (status == TP_OK && (axis < 0 || axis >= all.n))
    status = tp__error(op, TP_INVALID_ARGUMENT,
                       "shift_axis %lld is not an axis of the grid, which has %d axes",
                       (long long)axis, all.n);
  if (status != TP_OK)
    return status;
  int64_t size = tp__run_size(e->mesh, &all, (int)axis), step = offset % size;
  bool all_lost = !rotate && (offset >= size || offset <= -size);
  for (int64_t d = 0; d < tp_mesh_size(e->mesh); d++) {
    int64_t from = tp__run_coordinate(e->mesh, &all, (int)axis, d) - step;
    bool lost = all_lost || (!rotate && (from < 0 || from >= size));
    e->source_of[d] =
        lost ? NOBODY : tp__run_move(e->mesh, &all, (int)axis, d, (from + size) % size);
  }
  TP_TRY(tp__expansion_permute(e, op, mlirOperationGetOperand(op, 0), &result));
  mlirValueReplaceAllUsesOfWith(mlirOperationGetResult(op, 0), result);
  mlirOperationDestroy(op);
  return TP_OK;
}

static tp_status expand_op(tp__expansion *e, tp_op_list *ops, size_t i) {
  MlirOperation op = ops->items[i];
  if (tp__op_is(op, "shard.shift"))
    return expand_shift(e, op);
  if (tp__op_is(op, "shard.update_halo"))
    return tp__expand_halo(e, op);
  if (!tp__op_is(op, "shard.recv"))
    return TP_OK;
  size_t send = find_send(ops, i);
  if (send == i)
    return tp__error(op, TP_UNSUPPORTED,
                     "has no matching shard.send (same type and grid_axes) before it in its block; "
                     "put the send there, because all devices run both");
  tp_status status = expand_pair(e, ops->items[send], op);
  ops->items[send] = (MlirOperation){NULL};
  return status;
}

static tp_status collect(MlirOperation op, void *data) {
  static const char *const names[] = {"shard.send", "shard.recv", "shard.shift",
                                      "shard.update_halo"};
  for (int i = 0; i < TP_LEN(names); i++)
    if (tp__op_is(op, names[i]))
      return tp__op_list_add(data, op);
  return TP_OK;
}

static tp_status expand(tp__expansion *e, tp_op_list *ops) {
  tp_status status = TP_OK;
  for (size_t i = 0; i < ops->n && status == TP_OK; i++) {
    bool is_send = tp__op_is(ops->items[i], "shard.send");
    status = expand_op(e, ops, i);
    if (!is_send)
      ops->items[i] = (MlirOperation){NULL};
  }
  for (size_t i = 0; i < ops->n && status == TP_OK; i++)
    if (!mlirOperationIsNull(ops->items[i]))
      status = tp__error(ops->items[i], TP_UNSUPPORTED,
                         "has no matching shard.recv (same type and grid_axes) after it in its "
                         "block; add the recv, or remove the send");
  return status;
}

/* Builds an i1 before `where`: does this device keep its own value? */
static MlirValue keeps_own(const tp__expansion *e, MlirOperation where) {
  MlirContext context = mlirOperationGetContext(where);
  MlirType index = mlirIndexTypeGet(context), bit = mlirIntegerTypeGet(context, 1);
  int64_t n = tp_mesh_size(e->mesh);
  MlirType list = mlirRankedTensorTypeGet(1, &n, bit, (MlirAttribute){NULL});
  for (int64_t d = 0; d < n; d++)
    e->flags[d] = e->source_of[d] == d;
  MlirNamedAttribute grid =
      tp__named(context, "grid", mlirFlatSymbolRefAttrGet(context, tp__ref(e->mesh->name)));
  MlirOperation number = tp__create(&(tp_build){.name = "shard.process_linear_index",
                                                .location = mlirOperationGetLocation(where),
                                                .n_results = 1,
                                                .results = &index,
                                                .n_attributes = 1,
                                                .attributes = &grid});
  tp__insert_before(where, number);
  MlirValue operands[] = {
      tp__constant(where, list, mlirDenseElementsAttrBoolGet(list, (intptr_t)n, e->flags)),
      mlirOperationGetResult(number, 0)};
  MlirOperation flag = tp__create(&(tp_build){.name = "tensor.extract",
                                              .location = mlirOperationGetLocation(where),
                                              .n_operands = 2,
                                              .operands = operands,
                                              .n_results = 1,
                                              .results = &bit});
  tp__insert_before(where, flag);
  return mlirOperationGetResult(flag, 0);
}

tp_status tp__expansion_permute(tp__expansion *e, MlirOperation where, MlirValue value,
                                MlirValue *result) {
  int64_t n_pairs = 0, n_own = 0, n = tp_mesh_size(e->mesh);
  MlirAttribute zero = tp__identity_attr(tp__element_type(mlirValueGetType(value)), TP_SUM);
  for (int64_t d = 0; d < n; d++) {
    n_own += e->source_of[d] == d;
    if (e->source_of[d] >= 0) {
      e->pairs[n_pairs][0] = e->source_of[d];
      e->pairs[n_pairs++][1] = d;
    }
  }
  *result = value;
  if (n_own == n)
    return TP_OK;
  /* no data moves, so no device has to wait */
  if (n_own == n_pairs && !mlirAttributeIsNull(zero)) {
    MlirType type = mlirValueGetType(value);
    *result = tp__constant(where, type, mlirDenseElementsAttrSplatGet(type, zero));
    if (n_own > 0)
      *result = tp__select(where, keeps_own(e, where), value, *result);
    return TP_OK;
  }
  *result =
      tp__build_permute(where, e->pass->module, value, n_pairs, (const int64_t (*)[2])e->pairs);
  if (mlirValueIsNull(*result))
    return tp__out_of_memory(where);
  e->pass->statistics[0]++;
  return TP_OK;
}

static tp_status run(tp_pass *pass) {
  tp_op_list ops = {0};
  tp_mesh mesh;
  tp_status status = tp__is_local(pass->module) ? tp__walk(pass->module, collect, &ops) : TP_OK;
  if (status == TP_OK && ops.n > 0)
    status = tp__module_mesh(pass->module, NULL, &mesh);
  if (status == TP_OK && ops.n > 0) {
    size_t n = (size_t)tp_mesh_size(&mesh);
    tp__expansion e = {.pass = pass, .mesh = &mesh};
    e.source_of = tp__calloc(n, sizeof *e.source_of);
    e.destination_of = tp__calloc(n, sizeof *e.destination_of);
    e.pairs = tp__calloc(n, sizeof *e.pairs);
    e.flags = tp__calloc(n, sizeof *e.flags);
    bool ok = e.source_of && e.destination_of && e.pairs && e.flags;
    status = ok ? expand(&e, &ops) : tp__out_of_memory(pass->module);
    tp__free(e.source_of);
    tp__free(e.destination_of);
    tp__free(e.pairs);
    tp__free(e.flags);
  }
  tp__free(ops.items);
  return status;
}

static const tp_statistic_row statistics[] = {{"permutes", "permutes made"}};

const tp_pass_row tp__expand_messages_row = {
    .name = "tp-expand-messages",
    .summary = "Turn send, recv, shift and update_halo of the per-device program into permutes",
    .description =
        "Requires: calls inlined; does nothing in a module without tp.phase = \"local\". "
        "Establishes: no shard.send, shard.recv or shard.update_halo is left: a send and the recv "
        "after it in its block are one permute, a halo is one permute for each side of each split "
        "dimension. Destinations, sources and halo sizes are constants or computed from the "
        "position of the device. Breaks: nothing.",
    .statistics = statistics,
    .n_statistics = TP_LEN(statistics),
    .run = run,
};
