/* Fake NCCL: calls that synchronize all ranks of a communicator, which is busy meanwhile: splits
 * and windows. An aborted split leaves a child that can only be aborted, as in NCCL. */
#define _GNU_SOURCE 1
#include "fake_operation.h"

#include <stdlib.h>
#include <string.h>

static gathering *find_gathering(clique *group, long number, bool is_window) {
  gathering *found = group->gatherings;
  while (found && found->number != number)
    found = found->next;
  if (found)
    return found;
  found = fake_take(sizeof *found);
  found->number = number;
  found->is_window = is_window;
  found->next = group->gatherings;
  return group->gatherings = found;
}

static void leave(nccl_comm comm) {
  clique *group = comm->clique;
  gathering *left = comm->gathers;
  comm->gathers = NULL;
  if (++left->n_left < group->n_ranks)
    return;
  gathering **at = &group->gatherings;
  while (*at != left)
    at = &(*at)->next;
  *at = left->next;
  fake_give(left);
}

static gathering *come(nccl_comm comm, bool is_window, void *to, bool hang) {
  gathering *found = find_gathering(comm->clique, comm->n_gatherings++, is_window);
  if (found->is_window != is_window)
    fake_violation("one rank splits a communicator, another registers a window");
  found->n_called++;
  comm->gathers = found;
  comm->gathering_hangs = hang;
  comm->gathered_at = fake_soon();
  comm->gathered_to = to;
  comm->n_answers = FAKE_N_ANSWERS;
  fake_wake();
  return found;
}

/* ---- Splits ---- */

nccl_result nccl_split(nccl_comm comm, int color, int key, nccl_comm *child, nccl_config *config) {
  bool hang;
  FAKE_CALL("ncclCommSplit", true, &hang);
  if (comm->aborted || fake_is_busy(comm) || comm->n_tasks)
    return fake_fail(NCCL_RESULT_INVALID_USAGE,
                     "a communicator is split that is aborted, or has something on its way");
  if (color < NCCL_SPLIT_NO_COLOR || !child || *child || (config && !fake_take_config(config)))
    return fake_fail(NCCL_RESULT_INVALID_ARGUMENT,
                     "a split with a color, a child or a configuration that it should not have");
  gathering *split = come(comm, false, child, hang);
  split->colors[comm->rank] = color;
  split->keys[comm->rank] = key;
  if (split->n_called == comm->clique->n_ranks) {
    uint64_t *n_ids = &fake_common_part()->n_ids;
    split->first_id = *n_ids + 1;
    *n_ids += (uint64_t)comm->clique->n_ranks; /* the library uses ranks as colors */
  }
  return fake_leave(NCCL_RESULT_IN_PROGRESS);
}

static nccl_comm make_child(nccl_comm comm, const gathering *split) {
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

/* ---- Windows ---- */

nccl_result nccl_register_window(nccl_comm comm, void *memory, size_t bytes, nccl_window *window,
                                 int flags) {
  bool hang;
  FAKE_CALL("ncclCommWindowRegister", true, &hang);
  if (comm->aborted || fake_is_busy(comm))
    return fake_fail(NCCL_RESULT_INVALID_USAGE,
                     "a window of a communicator that is aborted or busy");
  if (!window || *window || flags != NCCL_WINDOW_SYMMETRIC)
    return fake_fail(NCCL_RESULT_INVALID_ARGUMENT,
                     "a window with flags or a place that it should not have");
  if (!fake_owns(comm->device, memory, bytes, "ncclCommWindowRegister") || !fake_is_nccls(memory))
    return fake_fail(
        NCCL_RESULT_INVALID_ARGUMENT,
        "a window on memory that is not from ncclMemAlloc, or not where one may begin");
  gathering *made = come(comm, true, window, hang);
  if (made->n_called > 1 && made->bytes != bytes)
    fake_violation("a window of %zu bytes on one rank, of %zu on another", made->bytes, bytes);
  made->bytes = bytes;
  comm->window = memory;
  return fake_leave(NCCL_RESULT_IN_PROGRESS);
}

static void add_window(nccl_comm comm, nccl_window *to) {
  fake_window *made = calloc(1, sizeof *made);
  *made = (fake_window){comm->windows, comm->window};
  comm->windows = made;
  fake_state.n_windows++;
  *to = (nccl_window)(void *)made;
}

static bool drop_window(nccl_comm comm, const void *window) {
  fake_window **at = &comm->windows;
  while (*at && *at != window)
    at = &(*at)->next;
  fake_window *found = *at;
  if (!found)
    return false;
  *at = found->next;
  free(found);
  fake_state.n_windows--;
  return true;
}

nccl_result nccl_deregister_window(nccl_comm comm, nccl_window window) {
  FAKE_END_CALL("ncclCommWindowDeregister", true);
  if (comm->aborted || !drop_window(comm, window))
    return fake_fail(NCCL_RESULT_INVALID_ARGUMENT, "a window is deregistered that does not exist");
  return fake_leave(planned);
}

/* ---- Completion ---- */

void fake_try_gathering(nccl_comm comm) {
  const gathering *what = comm->gathers;
  if (!what || what->n_called < comm->clique->n_ranks || comm->gathering_hangs ||
      fake_time() < comm->gathered_at)
    return;
  if (what->is_window)
    add_window(comm, comm->gathered_to);
  else if (what->colors[comm->rank] >= 0)
    *(nccl_comm *)comm->gathered_to = make_child(comm, what);
  leave(comm);
}

void fake_break_gathering(nccl_comm comm) {
  while (comm->windows)
    drop_window(comm, comm->windows);
  if (!comm->gathers)
    return;
  if (!comm->gathers->is_window && comm->gathers->colors[comm->rank] >= 0) {
    nccl_comm broken = calloc(1, sizeof *broken);
    broken->device = comm->device;
    fake_state.n_comms++;
    *(nccl_comm *)comm->gathered_to = broken;
  }
  leave(comm);
}
