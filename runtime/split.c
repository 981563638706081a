/* Communicators out of communicators: by color and key, and by mesh axes. */
#include "comm.h"

#include <string.h>

/* Ranks of one color by key, then rank: insertion keeps rank order among equal keys. Returns their number. */
static int gather_members(const int64_t *entries, int n, int64_t color, int *members) {
  int count = 0;
  for (int rank = 0; rank < n; rank++) {
    if (entries[2 * rank] != color)
      continue;
    int at = count++;
    for (; at > 0 && entries[2 * members[at - 1] + 1] > entries[2 * rank + 1]; at--)
      members[at] = members[at - 1];
    members[at] = rank;
  }
  return count;
}

/* With the lane held. `entries` (2n) and `members` (n) are scratch. */
static tprt_status split_in_lane(tprt_comm *comm, int color, int64_t key, int64_t *entries, int *members, tprt_comm **child) {
  tprt__transport *transport = comm->transport;
  int n = transport->n_ranks;
  int64_t deadline = tprt__deadline(comm->timeout_ns);
  int64_t mine[2] = {color < 0 ? -1 : color, key};
  tprt_op op = tprt_op_flat(TPRT_OP_ALL_GATHER, mine, entries, 2, TPRT_I64, NULL);
  tprt__plan plan;
  tprt_status status = tprt__plan_make(&op, n, transport->rank, &plan);
  if (!status)
    status = tprt__comm_run(comm, &plan, deadline);
  if (status)
    return status;
  int n_members = color < 0 ? 0 : gather_members(entries, n, color, members);
  int index = -1;
  for (int i = 0; i < n_members; i++) {
    if (members[i] == transport->rank)
      index = i;
  }
  tprt__transport *made = NULL;
  comm->sequence++;
  status = transport->backend->split(transport, n_members, members, index, comm->sequence, deadline, &made);
  if (status == TPRT_NO_MEMORY)
    return status; /* no channel is no fault of this communicator */
  if (status)
    return tprt__comm_fail(comm, status, TPRT_OP_BARRIER);
  *child = NULL;
  if (!made)
    return TPRT_OK;
  for (int i = 0; i < n_members; i++)
    members[i] = comm->world_ranks[members[i]];
  return tprt__comm_wrap(made, members, comm->timeout_ns, child);
}

tprt_status tprt_comm_split(tprt_comm *comm, int color, int64_t key, tprt_comm **child) {
  size_t n = (size_t)comm->transport->n_ranks;
  int64_t *entries = tprt__alloc(2 * n * sizeof *entries);
  int *members = tprt__alloc(n * sizeof *members);
  tprt__lane_enter(comm);
  tprt_status status = tprt__comm_check(comm);
  if (!status && (!entries || !members)) {
    status = tprt__comm_fail(comm, tprt__fail_memory(2 * n * sizeof *entries), TPRT_OP_ALL_GATHER);
  }
  if (!status)
    status = split_in_lane(comm, color, key, entries, members, child);
  tprt__lane_leave(comm);
  tprt__free(members);
  tprt__free(entries);
  return status;
}

/* ---- Mesh axes ---- */

/* A group of one needs no peers. */
static tprt_status make_alone(tprt_comm *comm, tprt_comm **child) {
  int rank = comm->transport->rank;
  tprt__transport *transport;
  tprt_status status = tprt__backend_self.split(comm->transport, 1, &rank, 0, 0, 0, &transport);
  return status ? status : tprt__comm_wrap(transport, &comm->world_ranks[rank], comm->timeout_ns, child);
}

static tprt_status check_axes(const tprt_comm *comm, int n_axes, const int64_t *sizes, int n_group, const int32_t *group) {
  if (n_axes < 0 || n_axes > TPRT_MAX_RANK || n_group < 0 || n_group > n_axes) {
    return tprt__fail(TPRT_INVALID_ARGUMENT, "a group of %d axes out of %d; at most %d axes", n_group, n_axes, TPRT_MAX_RANK);
  }
  int64_t ranks = 1;
  for (int i = 0; i < n_axes; i++) {
    if (sizes[i] < 1 || __builtin_mul_overflow(ranks, sizes[i], &ranks)) {
      return tprt__fail(TPRT_INVALID_ARGUMENT, "mesh axis %d has size %lld", i, (long long)sizes[i]);
    }
  }
  if (ranks != comm->transport->n_ranks) {
    return tprt__fail(TPRT_INVALID_ARGUMENT, "the mesh has %lld devices, the communicator %d ranks", (long long)ranks,
                      comm->transport->n_ranks);
  }
  uint32_t seen = 0;
  for (int i = 0; i < n_group; i++) {
    if (group[i] < 0 || group[i] >= n_axes || seen & 1u << group[i]) {
      return tprt__fail(TPRT_INVALID_ARGUMENT, "group axis %d is %d; it must be a different one of %d mesh axes", i, group[i],
                        n_axes);
    }
    seen |= 1u << group[i];
  }
  return TPRT_OK;
}

static tprt_status make_axes(tprt_comm *comm, tprt__axes_entry *entry) {
  int64_t coordinates[TPRT_MAX_RANK];
  int64_t rest = comm->transport->rank, position = 0, size = 1, color = 0;
  bool in_order = true; /* all axes in mesh order, but for those of size 1: the communicator itself */
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

/* NULL if it was not made before. */
static tprt_comm *find_axes(tprt_comm *comm, int n_axes, const int64_t *sizes, int n_group, const int32_t *group) {
  tprt_comm *child = NULL;
  pthread_mutex_lock(&comm->axes_lock);
  for (tprt__axes_entry *at = comm->axes; at && !child; at = at->next) {
    if (at->n_axes == n_axes && at->n_group == n_group && memcmp(at->sizes, sizes, (size_t)n_axes * sizeof *sizes) == 0 &&
        memcmp(at->group, group, (size_t)n_group * sizeof *group) == 0) {
      child = at->child;
    }
  }
  pthread_mutex_unlock(&comm->axes_lock);
  return child;
}

static tprt_status add_axes(tprt_comm *comm, int n_axes, const int64_t *sizes, int n_group, const int32_t *group,
                            tprt_comm **child) {
  tprt__axes_entry *entry = tprt__alloc(sizeof *entry);
  if (!entry)
    return tprt__comm_fail(comm, tprt__fail_memory(sizeof *entry), TPRT_OP_ALL_GATHER);
  entry->n_axes = n_axes;
  entry->n_group = n_group;
  memcpy(entry->sizes, sizes, (size_t)n_axes * sizeof *sizes);
  memcpy(entry->group, group, (size_t)n_group * sizeof *group);
  tprt_status status = make_axes(comm, entry);
  if (status) {
    tprt__free(entry);
    return status;
  }
  pthread_mutex_lock(&comm->axes_lock);
  entry->next = comm->axes;
  comm->axes = entry;
  pthread_mutex_unlock(&comm->axes_lock);
  /* Whoever aborted the parent meanwhile either finds the entry or set the status before it looked. */
  status = tprt__comm_check(comm);
  if (status && entry->child != comm)
    tprt__comm_poison(entry->child, tprt_comm_status(comm), comm->world_ranks[comm->transport->rank]);
  if (!status)
    *child = entry->child;
  return status;
}

tprt_status tprt_comm_axes(tprt_comm *comm, int n_axes, const int64_t *sizes, int n_group, const int32_t *group,
                           tprt_comm **child) {
  tprt_status status = check_axes(comm, n_axes, sizes, n_group, group);
  if (status)
    return status;
  tprt_comm *found = find_axes(comm, n_axes, sizes, n_group, group);
  if (!found) {
    pthread_mutex_lock(&comm->axes_making); /* and once more, another thread may just have made it */
    found = find_axes(comm, n_axes, sizes, n_group, group);
    if (!found)
      status = add_axes(comm, n_axes, sizes, n_group, group, &found);
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
    if (entry->child != comm)
      tprt_comm_destroy(entry->child);
    tprt__free(entry);
  }
}

void tprt__axes_poison(tprt_comm *comm, tprt_status status, int rank) {
  pthread_mutex_lock(&comm->axes_lock);
  for (tprt__axes_entry *at = comm->axes; at; at = at->next) {
    if (at->child != comm)
      tprt__comm_poison(at->child, status, rank);
  }
  pthread_mutex_unlock(&comm->axes_lock);
}
