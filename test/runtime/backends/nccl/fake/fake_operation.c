/* Fake NCCL: operations in streams. Ranks synchronize, and the last one to arrive moves the data of
 * all. */
#define _GNU_SOURCE 1
#include "fake_operation.h"

#include <stdlib.h>
#include <string.h>

static bool same(const operation *a, const operation *b) {
  bool rooted =
      a->kind == REDUCE || a->kind == BROADCAST || a->kind == GATHER || a->kind == SCATTER;
  return a->kind == b->kind && a->count == b->count && a->type == b->type &&
         a->reduction == b->reduction && (!rooted || a->peer == b->peer);
}

/* Copies each rank's pieces to each rank. In place, a piece stays where it is. */
static void copy_pieces(const clique *group, const meeting *met, size_t bytes) {
  op_kind kind = met->of[0]->kind;
  bool splits = kind == ALL_TO_ALL || kind == SCATTER,
       joins = kind == ALL_GATHER || kind == ALL_TO_ALL || kind == GATHER;
  for (int from = 0; from < group->n_ranks; from++) {
    for (int to = 0; to < group->n_ranks; to++) {
      const operation *send = met->of[from], *recv = met->of[to];
      if (((kind == SCATTER || kind == BROADCAST) && from != send->peer) ||
          (kind == GATHER && to != recv->peer))
        continue;
      memmove((char *)recv->recv + (joins ? (size_t)from * bytes : 0),
              (const char *)send->send + (splits ? (size_t)to * bytes : 0), bytes);
    }
  }
}

static void reduce(const clique *group, const meeting *met, size_t bytes) {
  const operation *first = met->of[0];
  int n = group->n_ranks;
  size_t pieces = first->kind == REDUCE_SCATTER ? (size_t)n : 1;
  const void *from[MOST_RANKS], *factors[MOST_RANKS];
  unsigned char *result = malloc(bytes * pieces + 1);
  for (int i = 0; i < n; i++) {
    factors[i] = met->of[i]->factor;
    from[i] = met->of[i]->send;
  }
  if (!fake_reduce(first->type, first->reduction, result, from,
                   first->reduction == FIRST_FACTOR ? factors : NULL, n, first->count * pieces)) {
    fake_enter();
    fake_violation("a reduction %d of type %d that NCCL does not have", first->reduction,
                   first->type);
    fake_exit();
  }
  for (int i = 0; i < n; i++) {
    if (first->kind == REDUCE_SCATTER)
      memcpy(met->of[i]->recv, result + (size_t)i * bytes, bytes);
    else if (first->kind == ALL_REDUCE || i == first->peer)
      memcpy(met->of[i]->recv, result, bytes);
  }
  free(result);
}

/* Executes an operation without the lock: no other thread accesses its memory. */
static void perform(const clique *group, const meeting *met) {
  const operation *first = met->of[0];
  size_t bytes = first->count * fake_type_size(first->type);
  (first->kind <= REDUCE_SCATTER ? reduce : copy_pieces)(group, met, bytes);
}

static meeting *find_meeting(clique *group, long number) {
  meeting *found = group->meetings;
  while (found && found->number != number)
    found = found->next;
  if (found)
    return found;
  found = fake_take(sizeof *found);
  found->number = number;
  found->next = group->meetings;
  return group->meetings = found;
}

static void leave_meeting(clique *group, meeting *met) {
  if (++met->n_left < group->n_ranks)
    return;
  meeting **at = &group->meetings;
  while (*at != met)
    at = &(*at)->next;
  *at = met->next;
  fake_give(met);
}

/* Called with the lock held; releases it while data moves. Mismatched operations hang, as in NCCL's
 * kernels. */
static void run_collective(nccl_comm comm, operation *op) {
  clique *group = comm->clique;
  meeting *met = find_meeting(group, op->number);
  met->of[comm->rank] = op;
  met->broken |= op->hangs || comm->aborted;
  if (++met->n_arrived == group->n_ranks) {
    /* a rank that gave up has left no data */
    for (int i = 1; i < group->n_ranks && !met->broken; i++)
      met->broken = !same(met->of[0], met->of[i]);
    if (!met->broken) {
      met->running = true;
      fake_exit();
      perform(group, met);
      fake_enter();
      met->running = false;
      met->done = true;
      fake_wake();
    }
  }
  while (!met->done && (met->running || !comm->aborted))
    fake_wait();
  met->broken |= !met->done;
  leave_meeting(group, met);
}

static operation **list_of(clique *group, int rank, const operation *op) {
  return op->kind == SEND ? &group->sends[rank][op->peer] : &group->receives[op->peer][rank];
}

static void match(clique *group, int source, int destination) {
  operation **sends = &group->sends[source][destination],
            **receives = &group->receives[source][destination];
  while (*sends && *receives) {
    operation *send = *sends, *receive = *receives;
    if (send->count * fake_type_size(send->type) !=
            receive->count * fake_type_size(receive->type) ||
        send->hangs || receive->hangs)
      return;
    *sends = send->next;
    *receives = receive->next;
    send->state = receive->state = MOVING;
    fake_exit();
    memcpy(receive->recv, send->send, send->count * fake_type_size(send->type));
    fake_enter();
    send->state = receive->state = DONE;
    fake_wake();
  }
}

static void run_transfers(nccl_comm comm, operation *operations, int n) {
  clique *group = comm->clique;
  for (int i = 0; i < n; i++) {
    operation **at = list_of(group, comm->rank, &operations[i]);
    while (*at)
      at = &(*at)->next;
    *at = &operations[i];
  }
  for (int i = 0; i < n; i++) {
    bool sends = operations[i].kind == SEND;
    match(group, sends ? comm->rank : operations[i].peer, sends ? operations[i].peer : comm->rank);
  }
  for (int i = 0; i < n; i++) {
    operation *op = &operations[i];
    while (op->state == MOVING || (op->state == POSTED && !comm->aborted))
      fake_wait();
    operation **at = list_of(group, comm->rank, op);
    while (op->state == POSTED && *at && *at != op)
      at = &(*at)->next;
    if (op->state == POSTED && *at)
      *at = op->next;
  }
}

static void release_clique(clique *group) {
  if (--group->references)
    return;
  clique **at = &fake_common_part()->cliques;
  while (*at != group)
    at = &(*at)->next;
  *at = group->next;
  while (group->meetings) {
    meeting *met = group->meetings;
    group->meetings = met->next;
    fake_give(met);
  }
  while (group->gatherings) {
    gathering *left = group->gatherings;
    group->gatherings = left->next;
    fake_give(left);
  }
  fake_give(group);
}

void fake_release_comm(nccl_comm comm) {
  if (!comm->aborted || comm->n_tasks)
    return;
  if (comm->clique)
    release_clique(comm->clique);
  free(comm);
}

void fake_run_launch(void *data) {
  launch *own = data;
  nccl_comm comm = own->comm;
  fake_enter();
  bool transfers = own->operations[0].kind >= SEND;
  for (int i = 0; i < own->n; i++) {
    own->operations[i].state = POSTED;
    own->operations[i].next = NULL;
    if (own->captured && !transfers)
      own->operations[i].number = -++comm->n_captured;
  }
  if (transfers)
    run_transfers(comm, own->operations, own->n);
  for (int i = 0; i < own->n && !transfers; i++)
    run_collective(comm, &own->operations[i]);
  fake_exit();
}

void fake_end_launch(void *data) {
  launch *own = data;
  own->comm->n_tasks--;
  fake_release_comm(own->comm);
  fake_give(own);
}
