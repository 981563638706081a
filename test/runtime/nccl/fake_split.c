/* NCCL: communicators that are split. All ranks of the parent take part; the parent is busy meanwhile. What is aborted meanwhile leaves a
 * child that is good for nothing but to be aborted, as NCCL's does. */
#define _GNU_SOURCE 1
#include "fake_operation.h"

#include <stdlib.h>
#include <string.h>

static partition *find_partition(clique *group, long number) {
  partition *found = group->partitions;
  while (found && found->number != number)
    found = found->next;
  if (found)
    return found;
  found = fake_take(sizeof *found);
  found->number = number;
  found->next = group->partitions;
  return group->partitions = found;
}

static void leave(nccl_comm comm) {
  clique *group = comm->clique;
  partition *left = comm->splitting;
  comm->splitting = NULL;
  if (++left->n_left < group->n_ranks)
    return;
  partition **at = &group->partitions;
  while (*at != left)
    at = &(*at)->next;
  *at = left->next;
  fake_give(left);
}

nccl_result nccl_split(nccl_comm comm, int color, int key, nccl_comm *child, nccl_config *config) {
  bool hang;
  FAKE_CALL("ncclCommSplit", true, &hang);
  if (comm->aborted || fake_is_busy(comm) || comm->n_tasks)
    return fake_fail(NCCL_RESULT_INVALID_USAGE, "a communicator is split that is aborted, or has something on its way");
  if (color < NCCL_SPLIT_NO_COLOR || !child || *child || config)
    return fake_fail(NCCL_RESULT_INVALID_ARGUMENT, "a split with a color, a child or a configuration that it should not have");
  partition *made = find_partition(comm->clique, comm->n_splits++);
  made->colors[comm->rank] = color;
  made->keys[comm->rank] = key;
  if (++made->n_called == comm->clique->n_ranks) {
    uint64_t *n_ids = &fake_common_part()->n_ids;
    made->first_id = *n_ids + 1;
    *n_ids += (uint64_t)comm->clique->n_ranks; /* colors of this library are ranks */
  }
  comm->splitting = made;
  comm->split_hangs = hang;
  comm->split_at = fake_soon();
  comm->split_to = child;
  comm->n_answers = FAKE_N_ANSWERS;
  fake_wake();
  return fake_leave(NCCL_RESULT_IN_PROGRESS);
}

static nccl_comm make_child(nccl_comm comm, const partition *split) {
  int color = split->colors[comm->rank], key = split->keys[comm->rank], n = 0, rank = 0;
  nccl_id id = {{0}};
  uint64_t number = split->first_id + (uint64_t)color;
  memcpy(id.bytes, &number, sizeof number);
  for (int i = 0; i < comm->clique->n_ranks; i++) {
    bool before = split->keys[i] < key || (split->keys[i] == key && i < comm->rank);
    n += split->colors[i] == color;
    rank += split->colors[i] == color && before;
  }
  fake_state.n_by_split++;
  return fake_make_comm(&id, n, rank, comm->device);
}

void fake_try_split(nccl_comm comm) {
  const partition *split = comm->splitting;
  if (!split || !split->first_id || comm->split_hangs || fake_time() < comm->split_at)
    return;
  if (split->colors[comm->rank] >= 0)
    *comm->split_to = make_child(comm, split);
  leave(comm);
}

void fake_break_split(nccl_comm comm) {
  if (!comm->splitting)
    return;
  if (comm->splitting->colors[comm->rank] >= 0) {
    nccl_comm broken = calloc(1, sizeof *broken);
    broken->device = comm->device;
    fake_state.n_comms++;
    *comm->split_to = broken;
  }
  leave(comm);
}
