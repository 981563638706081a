/* Ring attention: keys and values rotate around a ring while attention is computed (Liu, Zaharia
 * and Abbeel 2023). tp-partition writes each of them as an all_gather marked tp.ring. In a group of
 * n devices, device r starts with its own part. In step s it works on part (r + s) mod n, and sends
 * that part to device r - 1 before it computes, so that the runtime may overlap both. A device
 * holds at most three parts: its own, the current one and the incoming one. */
#include "passes/attention/tile.h"

#include "ir/collectives.h"
#include "ir/diagnostics.h"
#include "ir/place.h"

static MlirOperation ring_of(MlirValue value) {
  MlirOperation op = tp__defining_op(value);
  bool is_ring = !mlirOperationIsNull(op) && tp__op_is(op, "shard.all_gather") &&
                 !mlirAttributeIsNull(tp__get(op, "tp.ring"));
  return is_ring ? op : (MlirOperation){NULL};
}

bool tp__is_ring(MlirOperation op) {
  return mlirOperationGetNumResults(op) == 1 &&
         !mlirOperationIsNull(ring_of(mlirOperationGetResult(op, 0)));
}

static bool same_group(const tp_tile_ring *ring, int n, const int *axes) {
  bool same = n == ring->n_axes;
  for (int i = 0; i < n && same; i++)
    same = axes[i] == ring->axes[i];
  return same;
}

/* Adds operand `operand` of op `k` if it is gathered along its columns, by the same group of
 * devices as the operands found before. */
static tp_status add_operand(tp_tiler *t, int k, int operand, tp_tile_ring *ring) {
  const tp_attention_op *op = &t->a->ops[k];
  MlirOperation gather = ring_of(mlirOperationGetOperand(op->op, operand));
  tp_score_dim dims[TP_MAX_RANK];
  tp__axis_runs runs;
  int axes[TP_MAX_AXES];
  if (mlirOperationIsNull(gather))
    return TP_OK;
  int dim = (int)mlirIntegerAttrGetValueInt(tp__inherent(gather, "gather_axis"));
  tp__attention_operand_dims(op, operand, dims);
  if (dims[dim].n != 1 || dims[dim].loops[0] != t->a->column)
    return TP_OK;
  TP_TRY(tp__read_axis_runs(gather, "grid_axes", &ring->mesh, &runs));
  int n_axes = tp__axes_of_runs(&runs, axes);
  MlirValue part = mlirOperationGetOperand(gather, 0), whole = mlirOperationGetResult(gather, 0);
  /* keys and values are the same tensor */
  if (t->n_ring_values == 1 && mlirValueEqual(t->ring_values[0].whole, whole))
    return TP_OK;
  if (t->n_ring_values == 0) {
    ring->n_axes = n_axes;
    for (int i = 0; i < n_axes; i++)
      ring->axes[i] = axes[i];
    ring->columns = tp__value_size(part, dim);
    ring->parts = tp__value_size(whole, dim) / ring->columns;
  } else if (!same_group(ring, n_axes, axes)) {
    return TP_OK; /* another ring would have other parts, so this operand stays gathered */
  }
  t->ring_values[t->n_ring_values++] = (tp_ring_value){whole, part};
  return TP_OK;
}

tp_status tp__find_ring(MlirOperation module, tp_tiler *t, tp_tile_ring *ring) {
  int with_keys[] = {0, t->a->output};
  bool any = false;
  *ring = (tp_tile_ring){.module = module, .parts = 1, .columns = t->a->sizes[t->a->column]};
  for (int i = 0; i < 4; i++)
    any |= !mlirOperationIsNull(
        ring_of(mlirOperationGetOperand(t->a->ops[with_keys[i / 2]].op, i % 2)));
  if (any)
    TP_TRY(tp__module_mesh(module, NULL, &ring->mesh));
  for (int i = 0; i < 4 && any; i++)
    TP_TRY(add_operand(t, with_keys[i / 2], i % 2, ring));
  return TP_OK;
}

/* The rank of a device in its group. */
static int64_t rank_of(const tp_tile_ring *ring, int64_t device) {
  int64_t rank = 0;
  for (int i = 0; i < ring->n_axes; i++)
    rank = rank * ring->mesh.axes[ring->axes[i]].size +
           tp_mesh_coordinate(&ring->mesh, device, ring->axes[i]);
  return rank;
}

/* The device with rank `rank` in the group of `device`. */
static int64_t device_with(const tp_tile_ring *ring, int64_t device, int64_t rank) {
  for (int i = ring->n_axes - 1; i >= 0; i--) {
    int axis = ring->axes[i];
    device += (rank % ring->mesh.axes[axis].size - tp_mesh_coordinate(&ring->mesh, device, axis)) *
              tp_mesh_stride(&ring->mesh, axis);
    rank /= ring->mesh.axes[axis].size;
  }
  return device;
}

void tp__ring_send(tp_tiler *t, const tp_tile_ring *ring, MlirValue *next) {
  int64_t devices = tp_mesh_size(&ring->mesh),
          (*pairs)[2] = tp__calloc((size_t)devices, sizeof *pairs);
  for (int64_t d = 0; pairs && d < devices; d++) {
    pairs[d][0] = d;
    pairs[d][1] = device_with(ring, d, (rank_of(ring, d) + ring->parts - 1) % ring->parts);
  }
  for (int i = 0; i < t->n_ring_values; i++) {
    next[i] = pairs ? tp__build_permute(t->where, ring->module, t->ring_values[i].part, devices,
                                        (const int64_t (*)[2])pairs)
                    : (MlirValue){NULL};
    if (mlirValueIsNull(next[i])) {
      t->status = tp__out_of_memory(t->where);
      next[i] = t->ring_values[i].part;
    }
  }
  tp__free(pairs);
}

MlirValue tp__ring_first(tp_tiler *t, const tp_tile_ring *ring, int64_t step) {
  MlirValue number = tp__build_group_index(t->where, &ring->mesh, ring->n_axes, ring->axes);
  if (step > 0) {
    number = tp__binary(t->where, "arith.addi", number, tp__index_constant(t->where, step));
    number = tp__binary(t->where, "arith.remui", number, tp__index_constant(t->where, ring->parts));
  }
  return tp__binary(t->where, "arith.muli", number, tp__index_constant(t->where, ring->columns));
}
