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
          (kind == GATHER && to != recv->peer) || !recv->recv)
        continue;
      memmove((char *)recv->recv + (joins ? (size_t)from * bytes : 0),
              (const char *)send->send + (splits ? (size_t)to * bytes : 0), bytes);
    }
  }
}

/* Returns the number of elements that NCCL's kernel for one rank writes. It multiplies by a factor;
 * before 2.29.7, the share of a block is rounded down, and the last elements are left out. */
static size_t count_alone(const operation *op) {
  enum { BLOCK_BYTES = 16384, MOST_BLOCKS = 32, PACK_BYTES = 16, RIGHT_SINCE = 22907 };
  bool multiplies = op->reduction == FIRST_FACTOR ||
                    (op->reduction == NCCL_REDUCE_AVG && op->type >= NCCL_TYPE_F16);
  size_t size = fake_type_size(op->type), pack = PACK_BYTES / size,
         n_blocks = (op->count * size + BLOCK_BYTES - 1) / BLOCK_BYTES;
  if (!multiplies || !n_blocks || fake_now.nccl_version >= RIGHT_SINCE)
    return op->count;
  n_blocks = n_blocks < MOST_BLOCKS ? n_blocks : MOST_BLOCKS;
  size_t reached = (op->count / n_blocks + pack - 1) / pack * pack * n_blocks;
  return reached < op->count ? reached : op->count;
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
  if (n == 1)
    bytes = count_alone(first) * fake_type_size(first->type);
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

static void free_copy(operation *op) {
  if (!op || !op->is_copy)
    return;
  fake_give((void *)(uintptr_t)op->send);
  fake_give(op);
}

static void free_meeting(const clique *group, meeting *met) {
  for (int i = 0; i < group->n_ranks; i++)
    free_copy(met->of[i]);
  fake_give(met);
}

/* `left`: what stays of the rank's operation. */
static void leave_meeting(nccl_comm comm, meeting *met, operation *left) {
  clique *group = comm->clique;
  met->of[comm->rank] = left;
  if (++met->n_left < group->n_ranks)
    return;
  meeting **at = &group->meetings;
  while (*at != met)
    at = &(*at)->next;
  *at = met->next;
  free_meeting(group, met);
}

/* The bytes that this rank sends, if it is done when they are on their way; else 0. */
static size_t eager_bytes(const clique *group, int rank, const operation *op) {
  size_t bytes = op->count * fake_type_size(op->type);
  bool is_root = op->peer == rank;
  switch (op->kind) {
  case SEND:
    return bytes;
  case REDUCE:
  case GATHER:
    return is_root ? 0 : bytes;
  case BROADCAST:
    return is_root ? bytes : 0;
  case SCATTER:
    return is_root ? bytes * (size_t)group->n_ranks : 0;
  default:
    return 0;
  }
}

/* Copies an operation and the data that it sends, and completes what this rank receives of itself:
 * it is done. */
static operation *copy_sent(nccl_comm comm, const operation *op) {
  size_t bytes = eager_bytes(comm->clique, comm->rank, op),
         own = op->count * fake_type_size(op->type);
  operation *made = fake_take(sizeof *made);
  char *data = fake_take(bytes);
  memcpy(data, op->send, bytes);
  if (op->kind == BROADCAST || op->kind == SCATTER)
    memcpy(op->recv, data + (op->kind == SCATTER ? (size_t)comm->rank * own : 0), own);
  *made = *op;
  made->send = data;
  made->recv = NULL;
  made->is_copy = true;
  made->next = NULL;
  comm->clique->n_sent[comm->rank]++;
  return made;
}

static void arrived(clique *group, int source) {
  group->n_sent[source] -= group->n_sent[source] > 0; /* 0: it was aborted */
}

void fake_lose_data(nccl_comm comm) {
  clique *group = comm->clique;
  for (meeting *met = group->meetings; met; met = met->next) {
    const operation *op = met->of[comm->rank];
    met->broken |= op && op->is_copy && !met->done && !met->running;
  }
  for (int to = 0; to < group->n_ranks; to++) {
    for (operation **at = &group->sends[comm->rank][to]; *at;) {
      operation *op = *at;
      if (!op->is_copy) {
        at = &op->next;
        continue;
      }
      *at = op->next;
      free_copy(op);
    }
  }
  group->n_sent[comm->rank] = 0;
}

static void end_meeting(clique *group, meeting *met) {
  for (int i = 0; i < group->n_ranks; i++)
    if (met->of[i]->is_copy)
      arrived(group, i);
  met->done = true;
  fake_wake();
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
      end_meeting(group, met);
    }
  } else if (!met->broken && eager_bytes(group, comm->rank, op)) {
    leave_meeting(comm, met, copy_sent(comm, op));
    return;
  }
  while (!met->done && (met->running || !comm->aborted))
    fake_wait();
  met->broken |= !met->done;
  leave_meeting(comm, met, NULL);
}

/* ---- Transfers ---- */

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
    if (send->is_copy)
      arrived(group, source);
    free_copy(send);
    fake_wake();
  }
}

static void post(nccl_comm comm, operation *op) {
  operation **at = list_of(comm->clique, comm->rank, op);
  while (*at)
    at = &(*at)->next;
  bool is_eager = op->kind == SEND && !op->hangs && !comm->aborted &&
                  !comm->clique->receives[comm->rank][op->peer];
  if (is_eager) {
    *at = copy_sent(comm, op);
    op->state = DONE;
  } else {
    *at = op;
  }
}

static void await_transfer(nccl_comm comm, operation *op) {
  while (op->state == MOVING || (op->state == POSTED && !comm->aborted))
    fake_wait();
  operation **at = list_of(comm->clique, comm->rank, op);
  while (op->state == POSTED && *at && *at != op)
    at = &(*at)->next;
  if (op->state == POSTED && *at)
    *at = op->next;
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
    free_meeting(group, met);
  }
  while (group->gatherings) {
    gathering *left = group->gatherings;
    group->gatherings = left->next;
    fake_give(left);
  }
  fake_give(group);
}

void fake_release_comm(nccl_comm comm) {
  if (!comm->ended || comm->n_tasks)
    return;
  if (comm->clique)
    release_clique(comm->clique);
  free(comm);
}

/* Transfers of a group wait for no collective of it, and the other way round. */
void fake_run_launch(void *data) {
  launch *own = data;
  nccl_comm comm = own->comm;
  fake_enter();
  for (int i = 0; i < own->n; i++) {
    operation *op = &own->operations[i];
    op->state = POSTED;
    op->next = NULL;
    if (own->captured && op->kind < SEND)
      op->number = -++comm->n_captured;
    if (op->kind >= SEND)
      post(comm, op);
  }
  for (int i = 0; i < own->n; i++) {
    const operation *op = &own->operations[i];
    if (op->kind == SEND)
      match(comm->clique, comm->rank, op->peer);
    else if (op->kind == RECEIVE)
      match(comm->clique, op->peer, comm->rank);
  }
  for (int i = 0; i < own->n; i++)
    if (own->operations[i].kind < SEND)
      run_collective(comm, &own->operations[i]);
  for (int i = 0; i < own->n; i++)
    if (own->operations[i].kind >= SEND)
      await_transfer(comm, &own->operations[i]);
  fake_exit();
}

void fake_end_launch(void *data) {
  launch *own = data;
  own->comm->n_tasks--;
  own->comm->n_captured_alive -= own->captured;
  fake_wake();
  fake_release_comm(own->comm);
  fake_give(own);
}
