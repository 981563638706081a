/* Expands shard.update_halo to one permute per side of each split dimension.
 *
 * Along a split dimension the tensor consists of a lower halo, the device's own elements, and an
 * upper halo. The lower halo receives the last own elements of the previous device, the upper halo
 * the first ones of the next device. At the border of the mesh, halos keep their contents.
 * Dimensions are exchanged from last to first; each exchange includes the halos of later
 * dimensions, so that corners are transferred too. This is the order of upstream's lowering to
 * MPI. */
#include "passes/partition/expand.h"

#include "ir/collectives.h"

typedef struct halo {
  MlirOperation op;
  int rank, n_dims;
  int64_t shape[TP_MAX_RANK], low[TP_MAX_RANK], high[TP_MAX_RANK];
  tp__axis_runs runs[TP_MAX_RANK];
} halo;

static tp_status read_size(const tp__expansion *e, MlirOperation op, int i, int64_t *size) {
  if (!tp__coordinate_on_device(op, "static_halo_sizes", i, e->mesh, 0, size))
    return tp__error(op, TP_UNSUPPORTED,
                     "halo size %d is missing or known only at run time; give two constants for "
                     "each split dimension",
                     i);
  for (int64_t device = 1; device < tp_mesh_size(e->mesh); device++) {
    int64_t other;
    if (!tp__coordinate_on_device(op, "static_halo_sizes", i, e->mesh, device, &other) ||
        other != *size)
      return tp__error(op, TP_UNSUPPORTED,
                       "halo size %d differs between devices; it has to be the same on all", i);
  }
  return TP_OK;
}

static tp_status read_dim(const tp__expansion *e, halo *h, int d, int first_size) {
  TP_TRY(read_size(e, h->op, first_size, &h->low[d]));
  TP_TRY(read_size(e, h->op, first_size + 1, &h->high[d]));
  int64_t low = h->low[d], high = h->high[d], most = low > high ? low : high;
  if (low >= 0 && high >= 0 && low <= h->shape[d] && high <= h->shape[d] &&
      h->shape[d] - low - high >= most)
    return TP_OK;
  return tp__error(h->op, TP_INVALID_ARGUMENT,
                   "dimension %d of size %lld has halos of %lld and %lld; it must have at least as "
                   "many elements of its own, which neighbors copy, as the larger halo",
                   d, (long long)h->shape[d], (long long)low, (long long)high);
}

static tp_status read_halo(const tp__expansion *e, MlirOperation op, halo *h) {
  int64_t sizes[2 * TP_MAX_RANK];
  int n_sizes = tp__int_list(tp__inherent(op, "static_halo_sizes"), TP_LEN(sizes), sizes), next = 0;
  *h = (halo){.op = op};
  if (!tp__static_tensor(mlirValueGetType(mlirOperationGetResult(op, 0)), &h->rank, h->shape))
    return tp__error(op, TP_UNSUPPORTED, "works on tensors of static shape, before bufferization");
  tp_status status = tp__read_split_runs(op, e->mesh, &h->n_dims, h->runs);
  if (status == TP_OK && h->n_dims > h->rank)
    return tp__error(op, TP_INVALID_ARGUMENT, "split_axes has %d dimensions, the tensor %d",
                     h->n_dims, h->rank);
  for (int d = 0; d < h->n_dims && status == TP_OK && n_sizes > 0; d++) {
    if (h->runs[d].n == 0)
      continue;
    status = read_dim(e, h, d, next);
    next += 2;
  }
  if (status == TP_OK && n_sizes > 0 && n_sizes != next)
    return tp__error(op, TP_INVALID_ARGUMENT,
                     "has %d halo sizes for %d split dimensions; each split dimension needs two",
                     n_sizes, next / 2);
  return status;
}

/* Returns the device `step` away in the shard order of a dimension, or -1 beyond the border. */
static int64_t neighbor(const tp_mesh *mesh, const tp__axis_runs *runs, int64_t device, int step) {
  for (int i = runs->n - 1; i >= 0; i--) {
    int64_t size = tp__run_size(mesh, runs, i),
            to = tp__run_coordinate(mesh, runs, i, device) + step;
    device = tp__run_move(mesh, runs, i, device, (to + size) % size);
    if (to >= 0 && to < size)
      return device;
  }
  return -1;
}

static int64_t n_shards(const tp__expansion *e, const halo *h, int d) {
  int64_t n = 1;
  for (int i = 0; i < h->runs[d].n; i++)
    n *= tp__run_size(e->mesh, &h->runs[d], i);
  return n;
}

/* Builds an i1 before the op: is this device the first (`step` -1) or last (`step` 1) along the
 * dimension? */
static MlirValue is_border(tp__expansion *e, const halo *h, int d, int step) {
  int axes[TP_MAX_AXES], n = tp__axes_of_runs(&h->runs[d], axes);
  MlirValue rank = tp__build_group_index(h->op, e->mesh, n, axes);
  return tp__compare(h->op, TP_EQ, rank,
                     tp__index_constant(h->op, step < 0 ? 0 : n_shards(e, h, d) - 1));
}

/* Fills the lower (`step` -1) or upper (`step` 1) halo of dimension `d` of *value. */
static tp_status exchange(tp__expansion *e, const halo *h, int d, int step, MlirValue *value) {
  int64_t from[TP_MAX_RANK], to[TP_MAX_RANK], sizes[TP_MAX_RANK],
      width = step < 0 ? h->low[d] : h->high[d];
  for (int i = 0; i < h->rank; i++) {
    /* dimensions before d are exchanged later and leave out their halos */
    from[i] = i < d ? h->low[i] : 0;
    sizes[i] = h->shape[i] - (i < d ? h->low[i] + h->high[i] : 0);
    to[i] = from[i];
  }
  sizes[d] = width;
  to[d] = step < 0 ? 0 : h->shape[d] - width;
  from[d] = step < 0 ? h->shape[d] - h->high[d] - width : h->low[d];
  if (width == 0 || n_shards(e, h, d) == 1)
    return TP_OK;
  for (int64_t device = 0; device < tp_mesh_size(e->mesh); device++)
    e->source_of[device] = neighbor(e->mesh, &h->runs[d], device, step);
  MlirValue received, own = tp__extract_slice(h->op, *value, from, sizes);
  TP_TRY(tp__expansion_permute(e, h->op, own, &received));
  MlirValue kept = tp__extract_slice(h->op, *value, to, sizes);
  received = tp__select(h->op, is_border(e, h, d, step), kept, received);
  *value = tp__insert_slice(h->op, received, *value, to);
  return TP_OK;
}

tp_status tp__expand_halo(tp__expansion *e, MlirOperation op) {
  halo h;
  MlirValue value = mlirOperationGetOperand(op, 0);
  TP_TRY(read_halo(e, op, &h));
  for (int d = h.n_dims - 1; d >= 0; d--) {
    TP_TRY(exchange(e, &h, d, -1, &value));
    TP_TRY(exchange(e, &h, d, 1, &value));
  }
  mlirValueReplaceAllUsesOfWith(mlirOperationGetResult(op, 0), value);
  mlirOperationDestroy(op);
  return TP_OK;
}
