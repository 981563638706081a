/* Meshes: communicators over mesh axes, cached in their parent; device coordinates; gathering a
 * tensor over all axes. */
#include "comm/comm.h"

#include <string.h>

/* Creates a communicator of this rank alone with backend self; it needs no peers. */
static tprt_status make_alone(tprt_comm *comm, tprt_comm **child) {
  int rank = comm->transport->rank;
  tprt__transport *transport;
  tprt__comm_settings settings;
  tprt_status status = tprt__comm_child_settings(comm, NULL, &settings);
  if (!status)
    status = tprt__backend_self.join(comm->transport, NULL, 1, &rank, 0, &settings, &transport);
  return status ? status : tprt__comm_wrap(transport, &comm->world_ranks[rank], &settings, child);
}

static tprt_status check_axes(const tprt_comm *comm, int n_axes, const int64_t *sizes, int n_group,
                              const int32_t *group) {
  if (n_axes < 0 || n_axes > TPRT_MAX_RANK || n_group < 0 || n_group > n_axes) {
    return tprt__fail(TPRT_INVALID_ARGUMENT,
                      "invalid group of %d axes out of %d; at most %d axes are supported", n_group,
                      n_axes, TPRT_MAX_RANK);
  }
  int64_t ranks = 1;
  for (int i = 0; i < n_axes; i++) {
    if (sizes[i] < 1 || __builtin_mul_overflow(ranks, sizes[i], &ranks)) {
      return tprt__fail(TPRT_INVALID_ARGUMENT, "mesh axis %d has size %lld", i,
                        (long long)sizes[i]);
    }
  }
  if (ranks != comm->transport->n_ranks) {
    return tprt__fail(TPRT_INVALID_ARGUMENT, "the mesh has %lld devices, the communicator %d ranks",
                      (long long)ranks, comm->transport->n_ranks);
  }
  uint32_t seen = 0;
  for (int i = 0; i < n_group; i++) {
    if (group[i] < 0 || group[i] >= n_axes || seen & 1u << group[i]) {
      return tprt__fail(TPRT_INVALID_ARGUMENT,
                        "group axis %d is %d; group axes must be distinct axes of the %d mesh axes",
                        i, group[i], n_axes);
    }
    seen |= 1u << group[i];
  }
  return TPRT_OK;
}

/* Creates the communicator of an entry. Ranks with equal coordinates on all other axes share a
 * color. */
static tprt_status make_axes(tprt_comm *comm, tprt__axes_entry *entry) {
  int64_t coordinates[TPRT_MAX_RANK];
  int64_t rest = comm->transport->rank, position = 0, size = 1, color = 0;
  /* The group consists of all axes in mesh order, ignoring axes of size 1, so that the child is the
   * communicator itself. */
  bool in_order = true;
  for (int i = entry->n_axes - 1; i >= 0; i--) {
    coordinates[i] = rest % entry->sizes[i];
    rest /= entry->sizes[i];
  }
  for (int i = 0; i < entry->n_group; i++) {
    position = position * entry->sizes[entry->group[i]] + coordinates[entry->group[i]];
    size *= entry->sizes[entry->group[i]];
  }
  for (int i = 0; i < entry->n_axes; i++) {
    bool member = false;
    for (int j = 0; j < entry->n_group; j++)
      member |= entry->group[j] == i;
    if (!member)
      color = color * entry->sizes[i] + coordinates[i];
  }
  for (int i = 0, last = -1; i < entry->n_group; i++) {
    int axis = entry->group[i];
    if (entry->sizes[axis] == 1)
      continue;
    in_order &= axis > last;
    last = axis;
  }
  if (size == 1)
    return make_alone(comm, &entry->child);
  if (in_order && size == comm->transport->n_ranks) {
    entry->child = comm;
    return TPRT_OK;
  }
  return tprt_comm_split(comm, (int)color, position, &entry->child);
}

bool tprt__axes_find(tprt_comm *comm, bool (*same)(const tprt__axes_entry *entry, const void *key),
                     const void *key, tprt_comm **child) {
  bool found = false;
  pthread_mutex_lock(&comm->axes_lock);
  for (tprt__axes_entry *at = comm->axes; at && !found; at = at->next) {
    found = same(at, key);
    if (found)
      *child = at->child;
  }
  pthread_mutex_unlock(&comm->axes_lock);
  return found;
}

tprt_status tprt__axes_insert(tprt_comm *comm, tprt__axes_entry *entry) {
  pthread_mutex_lock(&comm->axes_lock);
  entry->next = comm->axes;
  comm->axes = entry;
  pthread_mutex_unlock(&comm->axes_lock);
  /* A concurrent abort of the parent either finds this entry in the list, or has set the status
   * before it searched the list; the check below catches the second case. */
  tprt_status status = tprt__comm_check(comm);
  if (status && entry->child && entry->child != comm)
    tprt__comm_poison(entry->child, tprt_comm_status(comm),
                      comm->world_ranks[comm->transport->rank]);
  return status;
}

static bool same_axes(const tprt__axes_entry *entry, const void *key) {
  const tprt__axes_entry *wanted = key;
  return !entry->name && entry->n_axes == wanted->n_axes && entry->n_group == wanted->n_group &&
         memcmp(entry->sizes, wanted->sizes, (size_t)wanted->n_axes * sizeof *wanted->sizes) == 0 &&
         memcmp(entry->group, wanted->group, (size_t)wanted->n_group * sizeof *wanted->group) == 0;
}

static tprt_status add_axes(tprt_comm *comm, const tprt__axes_entry *wanted, tprt_comm **child) {
  tprt__axes_entry *entry = tprt__alloc(sizeof *entry);
  if (!entry)
    return tprt__comm_fail(comm, tprt__fail_memory(sizeof *entry), TPRT_OP_ALL_GATHER);
  *entry = *wanted;
  tprt_status status = make_axes(comm, entry);
  if (status) {
    tprt__free(entry);
    return status;
  }
  status = tprt__axes_insert(comm, entry);
  if (!status)
    *child = entry->child;
  return status;
}

tprt_status tprt_comm_axes(tprt_comm *comm, int n_axes, const int64_t *sizes, int n_group,
                           const int32_t *group, tprt_comm **child) {
  TPRT__NEED(comm);
  TPRT__NEED(child);
  if (n_axes > 0)
    TPRT__NEED(sizes);
  if (n_group > 0)
    TPRT__NEED(group);
  tprt_status status = check_axes(comm, n_axes, sizes, n_group, group);
  if (status)
    return status;
  tprt__axes_entry wanted = {.n_axes = n_axes, .n_group = n_group};
  for (int i = 0; i < n_axes; i++)
    wanted.sizes[i] = sizes[i];
  for (int i = 0; i < n_group; i++) /* `group` may be NULL if it is empty */
    wanted.group[i] = group[i];
  tprt_comm *found = NULL;
  if (!tprt__axes_find(comm, same_axes, &wanted, &found)) {
    /* Search again: another thread may have created it meanwhile. */
    pthread_mutex_lock(&comm->axes_making);
    if (!tprt__axes_find(comm, same_axes, &wanted, &found))
      status = add_axes(comm, &wanted, &found);
    pthread_mutex_unlock(&comm->axes_making);
  }
  if (!status)
    *child = found;
  return status;
}

void tprt__axes_clear(tprt_comm *comm) {
  while (comm->axes) {
    tprt__axes_entry *entry = comm->axes;
    comm->axes = entry->next;
    if (entry->child != comm) /* tprt_comm_destroy accepts NULL */
      tprt_comm_destroy(entry->child);
    tprt__free(entry);
  }
}

void tprt__axes_poison(tprt_comm *comm, tprt_status status, int rank) {
  pthread_mutex_lock(&comm->axes_lock);
  for (tprt__axes_entry *at = comm->axes; at; at = at->next) {
    if (at->child && at->child != comm)
      tprt__comm_poison(at->child, status, rank);
  }
  pthread_mutex_unlock(&comm->axes_lock);
}

/* ---- coordinates ---- */

tprt_status tprt_mesh_coordinates(int n_axes, const int64_t *sizes, int64_t rank,
                                  int64_t *coordinates) {
  if (n_axes > 0) {
    TPRT__NEED(sizes);
    TPRT__NEED(coordinates);
  }
  int64_t ranks = 1;
  if (n_axes < 0 || n_axes > TPRT_MAX_RANK)
    return tprt__fail(TPRT_INVALID_ARGUMENT, "invalid mesh of %d axes; at most %d are supported",
                      n_axes, TPRT_MAX_RANK);
  for (int i = 0; i < n_axes; i++) {
    if (sizes[i] < 1 || __builtin_mul_overflow(ranks, sizes[i], &ranks))
      return tprt__fail(TPRT_INVALID_ARGUMENT, "mesh axis %d has size %lld", i,
                        (long long)sizes[i]);
  }
  if (rank < 0 || rank >= ranks)
    return tprt__fail(TPRT_INVALID_ARGUMENT, "rank %lld is out of range; the mesh has %lld devices",
                      (long long)rank, (long long)ranks);
  for (int i = n_axes - 1; i >= 0; i--) {
    coordinates[i] = rank % sizes[i];
    rank /= sizes[i];
  }
  return TPRT_OK;
}

/* ---- gathering over all axes ---- */

/* Gathers one dimension over the mesh axes that shard it, in mesh order. op->shape is this rank's
 * shape before the call and the gathered shape after it. */
static tprt_status gather_dim(tprt_comm *comm, int n_axes, const int64_t *sizes,
                              const int32_t *dims, tprt_op *op) {
  int32_t group[TPRT_MAX_RANK];
  int n_group = 0;
  for (int i = 0; i < n_axes; i++) {
    if (dims[i] == op->dim)
      group[n_group++] = i;
  }
  tprt_comm *child;
  tprt_status status = tprt_comm_axes(comm, n_axes, sizes, n_group, group, &child);
  if (!status)
    status = tprt_submit(child, op, NULL);
  op->shape[op->dim] *= status ? 1 : tprt_comm_size(child);
  return status;
}

static tprt_status check_gather(const tprt_comm *comm, int n_axes, const int64_t *sizes,
                                const int32_t *dims, tprt_dtype dtype, int n_dims,
                                const int64_t *shape) {
  tprt_status status = check_axes(comm, n_axes, sizes, 0, NULL);
  tprt_op op = tprt_op_flat(TPRT_OP_BROADCAST, NULL, NULL, 0, dtype, NULL);
  tprt__plan unused;
  op.n_dims = n_dims;
  if (!status && n_dims >= 0 && n_dims <= TPRT_MAX_RANK)
    memcpy(op.shape, shape, (size_t)n_dims * sizeof *shape);
  if (!status)
    status = tprt__plan_shape(&op, comm->transport->n_ranks, comm->transport->rank, &unused);
  for (int i = 0; i < n_axes && !status; i++) {
    if (dims[i] < -1 || dims[i] >= n_dims)
      status = tprt__fail(TPRT_INVALID_ARGUMENT,
                          "mesh axis %d splits dimension %d; the tensor has %d dimensions", i,
                          dims[i], n_dims);
  }
  return status;
}

tprt_status tprt_gather_all_axes(tprt_comm *comm, int n_axes, const int64_t *sizes,
                                 const int32_t *dims, const void *send, void *recv,
                                 tprt_dtype dtype, int n_dims, const int64_t *shape) {
  TPRT__NEED(comm);
  if (n_axes > 0) {
    TPRT__NEED(sizes);
    TPRT__NEED(dims);
  }
  if (n_dims > 0)
    TPRT__NEED(shape);
  tprt_status status = check_gather(comm, n_axes, sizes, dims, dtype, n_dims, shape);
  if (status)
    return status;
  tprt_op op = tprt_op_flat(TPRT_OP_ALL_GATHER, send, recv, 0, dtype, NULL);
  size_t bytes = tprt_dtype_size(dtype);
  uint32_t cut = 0;
  op.n_dims = n_dims;
  for (int i = 0; i < n_dims; i++)
    bytes *= (size_t)(op.shape[i] = shape[i]);
  for (int i = 0; i < n_axes; i++) {
    /* cannot overflow: at most n_ranks times a size of at most 2^50 elements */
    bytes *= dims[i] >= 0 ? (size_t)sizes[i] : 1;
    cut |= dims[i] >= 0 ? 1u << dims[i] : 0;
  }
  if (!cut) {
    op.kind = TPRT_OP_PERMUTE; /* a copy that goes through the checks of an operation */
    op.n_dims = 1;
    op.shape[0] = (int64_t)bytes;
    op.dtype = TPRT_U8;
    tprt_comm *alone;
    tprt_pair own = {0, 0};
    op.pairs = &own;
    op.n_pairs = 1;
    status = tprt_comm_axes(comm, n_axes, sizes, 0, NULL, &alone);
    return status ? status : tprt_submit(alone, &op, NULL);
  }
  void *between = NULL; /* results of all dimensions but the last, in two alternating halves */
  if (cut & (cut - 1))
    status = tprt__comm_memory(comm, 2 * bytes, &between);
  if (status)
    return status;
  for (int turn = 0; cut && !status; turn++) {
    op.dim = __builtin_ctz(cut);
    cut &= cut - 1;
    op.recv = cut ? (char *)between + (turn % 2 ? bytes : 0) : recv;
    status = gather_dim(comm, n_axes, sizes, dims, &op);
    op.send = op.recv;
  }
  tprt__comm_memory_free(comm, between);
  return status;
}
