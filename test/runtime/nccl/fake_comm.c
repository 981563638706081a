/* NCCL: communicators, groups of calls, operations in streams. */
#define _GNU_SOURCE 1
#include "fake_inside.h"

#include <limits.h>
#include <stdlib.h>
#include <string.h>

#define EXPORT(member, symbol, parameters) extern nccl_result nccl_##member parameters __asm__(symbol) TPRT_API;
NCCL_CALLS(EXPORT)
NCCL_LATER_CALLS(EXPORT)
#undef EXPORT
extern const char *nccl_error_text(nccl_result result) __asm__("ncclGetErrorString") TPRT_API;
extern const char *nccl_last_error(nccl_comm comm) __asm__("ncclGetLastError") TPRT_API;

enum { MOST_RANKS = 64, MOST_FACTORS = 8, FACTOR_BYTES = 8, FIRST_FACTOR = 5 };

#define ENTER(name, hang)                                                                                                      \
  pthread_mutex_lock(&fake_lock);                                                                                              \
  int planned = fake_call(name, true, hang);                                                                                   \
  if (planned)                                                                                                                 \
    return leave(planned);

/* The same for what gives something back, which is done all the same. */
#define ENTER_END(name)                                                                                                        \
  pthread_mutex_lock(&fake_lock);                                                                                              \
  int planned = fake_call(name, true, NULL);

static int leave(int result) {
  pthread_mutex_unlock(&fake_lock);
  return result;
}

/* ---- What there is ---- */

typedef enum op_kind { ALL_REDUCE = 1, REDUCE, REDUCE_SCATTER, ALL_GATHER, BROADCAST, SEND, RECEIVE } op_kind;

typedef struct operation {
  op_kind kind;
  const void *send;
  void *recv;
  size_t count;
  nccl_type type;
  nccl_reduction reduction; /* FIRST_FACTOR: with the factor below */
  unsigned char factor[FACTOR_BYTES];
  int peer;    /* or root */
  long number; /* of the collective on its communicator */
  bool hangs;
  enum { POSTED, MOVING, DONE } state; /* of transfers */
  struct operation *next;              /* in the list of its pair of ranks */
} operation;

/* A collective operation in which ranks meet. */
typedef struct meeting {
  struct meeting *next;
  long number;
  int n_arrived, n_left;
  bool broken, running, done;
  operation *of[MOST_RANKS];
} meeting;

/* The communicators of all ranks that have one id. */
typedef struct clique {
  struct clique *next;
  nccl_id id;
  int n_ranks, n_joined, references;
  nccl_comm members[MOST_RANKS];
  bool joined[MOST_RANKS];
  meeting *meetings;
  operation *sends[MOST_RANKS][MOST_RANKS], *receives[MOST_RANKS][MOST_RANKS]; /* by source and destination, oldest first */
} clique;

/* The operations of one group on one communicator and stream. */
typedef struct launch {
  struct launch *next;
  nccl_comm comm;
  cuda_stream stream;
  int64_t at; /* not before */
  int n;
  operation operations[];
} launch;

struct ncclComm {
  clique *clique;
  int rank, device;
  bool aborted, hangs;
  int64_t ready_at;
  long n_collectives;
  int n_answers; /* polls that still count as calls, since something was begun */
  launch *unlaunched;
  int n_tasks; /* in streams */
  bool has_factor[MOST_FACTORS];
  unsigned char factors[MOST_FACTORS][FACTOR_BYTES];
};

static clique *cliques;
static uint64_t n_ids;

/* ---- Operations in streams ---- */

static bool same(const operation *a, const operation *b) {
  bool rooted = a->kind == REDUCE || a->kind == BROADCAST;
  return a->kind == b->kind && a->count == b->count && a->type == b->type && a->reduction == b->reduction &&
         (!rooted || a->peer == b->peer);
}

/* Without the lock: nobody else touches the memory of an operation that runs. */
static void perform(const clique *group, const meeting *met) {
  const operation *first = met->of[0];
  int n = group->n_ranks;
  size_t bytes = first->count * fake_type_size(first->type);
  const void *from[MOST_RANKS], *factors[MOST_RANKS];
  bool scaled = first->reduction == FIRST_FACTOR;
  if (first->kind == BROADCAST) {
    const void *source = met->of[first->peer]->send;
    for (int i = 0; i < n; i++)
      memmove(met->of[i]->recv, source, bytes);
    return;
  }
  for (int i = 0; i < n; i++)
    factors[i] = met->of[i]->factor;
  unsigned char *result = malloc(bytes * (first->kind == ALL_GATHER || first->kind == REDUCE_SCATTER ? (size_t)n : 1) + 1);
  if (first->kind == ALL_GATHER) {
    for (int i = 0; i < n; i++)
      memcpy(result + (size_t)i * bytes, met->of[i]->send, bytes);
    for (int i = 0; i < n; i++)
      memcpy(met->of[i]->recv, result, bytes * (size_t)n);
  } else {
    size_t pieces = first->kind == REDUCE_SCATTER ? (size_t)n : 1;
    for (int i = 0; i < n; i++)
      from[i] = met->of[i]->send;
    if (!fake_reduce(first->type, first->reduction, result, from, scaled ? factors : NULL, n, first->count * pieces)) {
      pthread_mutex_lock(&fake_lock);
      fake_violation("a reduction %d of type %d that NCCL does not have", first->reduction, first->type);
      pthread_mutex_unlock(&fake_lock);
    }
    for (int i = 0; i < n; i++) {
      if (first->kind == REDUCE_SCATTER)
        memcpy(met->of[i]->recv, result + (size_t)i * bytes, bytes);
      else if (first->kind == ALL_REDUCE || i == first->peer)
        memcpy(met->of[i]->recv, result, bytes);
    }
  }
  free(result);
}

static meeting *find_meeting(clique *group, long number) {
  meeting *found = group->meetings;
  while (found && found->number != number)
    found = found->next;
  if (found)
    return found;
  found = calloc(1, sizeof *found);
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
  free(met);
}

/* With the lock, which it gives up while data moves. What does not match hangs, as NCCL's kernels do. */
static void run_collective(nccl_comm comm, operation *op) {
  clique *group = comm->clique;
  meeting *met = find_meeting(group, op->number);
  met->of[comm->rank] = op;
  met->broken |= op->hangs || comm->aborted;
  if (++met->n_arrived == group->n_ranks) {
    for (int i = 1; i < group->n_ranks && !met->broken; i++) /* of one that gave up nothing is left */
      met->broken = !same(met->of[0], met->of[i]);
    if (!met->broken) {
      met->running = true;
      pthread_mutex_unlock(&fake_lock);
      perform(group, met);
      pthread_mutex_lock(&fake_lock);
      met->running = false;
      met->done = true;
      pthread_cond_broadcast(&fake_changed);
    }
  }
  while (!met->done && (met->running || !comm->aborted))
    pthread_cond_wait(&fake_changed, &fake_lock);
  met->broken |= !met->done;
  leave_meeting(group, met);
}

static operation **list_of(clique *group, int rank, const operation *op) {
  return op->kind == SEND ? &group->sends[rank][op->peer] : &group->receives[op->peer][rank];
}

static void match(clique *group, int source, int destination) {
  operation **sends = &group->sends[source][destination], **receives = &group->receives[source][destination];
  while (*sends && *receives) {
    operation *send = *sends, *receive = *receives;
    if (send->count * fake_type_size(send->type) != receive->count * fake_type_size(receive->type) || send->hangs ||
        receive->hangs)
      return;
    *sends = send->next;
    *receives = receive->next;
    send->state = receive->state = MOVING;
    pthread_mutex_unlock(&fake_lock);
    memcpy(receive->recv, send->send, send->count * fake_type_size(send->type));
    pthread_mutex_lock(&fake_lock);
    send->state = receive->state = DONE;
    pthread_cond_broadcast(&fake_changed);
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
      pthread_cond_wait(&fake_changed, &fake_lock);
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
  clique **at = &cliques;
  while (*at != group)
    at = &(*at)->next;
  *at = group->next;
  while (group->meetings) {
    meeting *met = group->meetings;
    group->meetings = met->next;
    free(met);
  }
  free(group);
}

static void release_comm(nccl_comm comm) {
  if (!comm->aborted || comm->n_tasks)
    return;
  release_clique(comm->clique);
  free(comm);
}

static void run_launch(void *data) {
  launch *own = data;
  nccl_comm comm = own->comm;
  pthread_mutex_lock(&fake_lock);
  bool transfers = own->operations[0].kind >= SEND;
  if (transfers)
    run_transfers(comm, own->operations, own->n);
  for (int i = 0; i < own->n && !transfers; i++)
    run_collective(comm, &own->operations[i]);
  comm->n_tasks--;
  release_comm(comm);
  pthread_mutex_unlock(&fake_lock);
  free(own);
}

/* ---- Groups: of a thread ---- */

static _Thread_local int depth;
static _Thread_local launch *group_head;
static _Thread_local nccl_result group_error;

static int64_t soon(void) { return fake_time() + fake_delay_us() * INT64_C(1000); }

enum { N_ANSWERS = 2 }; /* one right behind the call, one while the device works */

static void put_into_stream(launch *own) {
  own->comm->n_answers = N_ANSWERS;
  own->comm->n_tasks++;
  fake_enqueue(own->stream, run_launch, own);
}

static nccl_result end_group(void) {
  nccl_result result = group_error;
  while (group_head) {
    launch *own = group_head;
    group_head = own->next;
    own->next = NULL;
    if (result && result != NCCL_RESULT_IN_PROGRESS) {
      free(own);
    } else if (fake_now.most_delay_us) { /* it goes on behind the call */
      own->at = soon();
      own->stream->n_unlaunched++;
      own->next = own->comm->unlaunched;
      own->comm->unlaunched = own;
      result = NCCL_RESULT_IN_PROGRESS;
    } else {
      put_into_stream(own);
    }
  }
  group_error = NCCL_RESULT_SUCCESS;
  return result;
}

static pthread_key_t at_exit;

static void check_closed(void *unused) {
  (void)unused;
  pthread_mutex_lock(&fake_lock);
  if (depth)
    fake_violation("a thread ends with a group open");
  pthread_mutex_unlock(&fake_lock);
}

__attribute__((constructor)) static void make_key(void) { pthread_key_create(&at_exit, check_closed); }

nccl_result nccl_group_start(void) {
  ENTER("ncclGroupStart", NULL);
  pthread_setspecific(at_exit, &at_exit);
  depth++;
  return leave(NCCL_RESULT_SUCCESS);
}

/* A failure that is planned ends the group all the same, as NCCL does. */
nccl_result nccl_group_end(void) {
  pthread_mutex_lock(&fake_lock);
  int planned = fake_call("ncclGroupEnd", true, NULL);
  if (!depth) {
    fake_violation("a group is ended that was not started");
    return leave(NCCL_RESULT_INVALID_USAGE);
  }
  if (planned && !group_error)
    group_error = planned;
  return leave(--depth ? NCCL_RESULT_SUCCESS : end_group());
}

/* ---- Calls ---- */

static bool busy(nccl_comm comm) {
  clique *group = comm->clique;
  if (comm->hangs || group->n_joined < group->n_ranks || fake_time() < comm->ready_at)
    return true;
  return comm->unlaunched != NULL;
}

static nccl_result fail(nccl_result result, const char *what) {
  fake_violation("%s", what);
  if (depth)
    group_error = result;
  return leave(result);
}

/* With the lock, which it gives back. */
static nccl_result add(nccl_comm comm, const operation *op, size_t sent, size_t received, cuda_stream stream, bool hang) {
  if (comm->aborted)
    return fail(NCCL_RESULT_INVALID_USAGE, "an operation on a communicator that was aborted");
  if (busy(comm))
    return fail(NCCL_RESULT_INVALID_USAGE, "an operation on a communicator that is busy");
  if (!stream || stream->device != comm->device || fake_device() != comm->device)
    return fail(NCCL_RESULT_INVALID_ARGUMENT, "a stream or a current device that is not the communicator's");
  if (op->peer < 0 || op->peer >= comm->clique->n_ranks || !fake_type_size(op->type))
    return fail(NCCL_RESULT_INVALID_ARGUMENT, "a rank or a type that does not exist");
  if ((sent && !fake_owns(comm->device, op->send, sent, "send of NCCL")) ||
      (received && !fake_owns(comm->device, op->recv, received, "recv of NCCL"))) {
    group_error = depth ? NCCL_RESULT_INVALID_ARGUMENT : NCCL_RESULT_SUCCESS;
    return leave(NCCL_RESULT_INVALID_ARGUMENT);
  }
  launch *own = group_head;
  while (own && (own->comm != comm || own->stream != stream))
    own = own->next;
  launch *grown = realloc(own, sizeof *own + (size_t)(own ? own->n + 1 : 1) * sizeof *op);
  if (!own) {
    *grown = (launch){.comm = comm, .stream = stream, .next = group_head};
    group_head = grown;
  } else {
    launch **at = &group_head;
    while (*at != own)
      at = &(*at)->next;
    *at = grown;
  }
  if (grown->n && (grown->operations[0].kind >= SEND) != (op->kind >= SEND))
    fake_violation("transfers and collectives in one group: this fake cannot do it");
  operation *added = &grown->operations[grown->n++];
  *added = *op;
  added->hangs = hang;
  if (op->kind < SEND)
    added->number = comm->n_collectives++;
  return leave(depth ? NCCL_RESULT_SUCCESS : end_group());
}

/* What a reduction is when it runs: factors may be destroyed by then. */
static bool take_factor(nccl_comm comm, operation *op) {
  int i = op->reduction - FIRST_FACTOR;
  if (i < 0)
    return true;
  if (i >= MOST_FACTORS || !comm->has_factor[i])
    return false;
  memcpy(op->factor, comm->factors[i], FACTOR_BYTES);
  op->reduction = FIRST_FACTOR;
  return true;
}

static nccl_result reduce(const char *name, nccl_comm comm, operation op, size_t sent, size_t received, cuda_stream stream) {
  bool hang;
  ENTER(name, &hang);
  if (!take_factor(comm, &op))
    return fail(NCCL_RESULT_INVALID_ARGUMENT, "a reduction that was not made");
  size_t size = fake_type_size(op.type);
  if (size && ((uintptr_t)op.send % size || (received && (uintptr_t)op.recv % size)))
    return fail(NCCL_RESULT_INVALID_ARGUMENT, "a reduction of elements that are not aligned: kernels would fault");
  return add(comm, &op, sent * size, received * size, stream, hang);
}

nccl_result nccl_all_reduce(const void *send, void *recv, size_t n, nccl_type type, nccl_reduction op, nccl_comm comm,
                            cuda_stream stream) {
  return reduce("ncclAllReduce", comm,
                (operation){.kind = ALL_REDUCE, .send = send, .recv = recv, .count = n, .type = type, .reduction = op}, n, n,
                stream);
}

nccl_result nccl_reduce(const void *send, void *recv, size_t n, nccl_type type, nccl_reduction op, int root, nccl_comm comm,
                        cuda_stream stream) {
  const operation made = {.kind = REDUCE, .send = send, .recv = recv, .count = n, .type = type, .reduction = op, .peer = root};
  return reduce("ncclReduce", comm, made, n, root == comm->rank ? n : 0, stream);
}

nccl_result nccl_reduce_scatter(const void *send, void *recv, size_t n, nccl_type type, nccl_reduction op, nccl_comm comm,
                                cuda_stream stream) {
  const operation made = {.kind = REDUCE_SCATTER, .send = send, .recv = recv, .count = n, .type = type, .reduction = op};
  return reduce("ncclReduceScatter", comm, made, n * (size_t)comm->clique->n_ranks, n, stream);
}

static nccl_result copy(const char *name, nccl_comm comm, const operation *op, size_t sent, size_t received,
                        cuda_stream stream) {
  bool hang;
  ENTER(name, &hang);
  size_t size = fake_type_size(op->type);
  return add(comm, op, sent * size, received * size, stream, hang);
}

nccl_result nccl_all_gather(const void *send, void *recv, size_t n, nccl_type type, nccl_comm comm, cuda_stream stream) {
  const operation op = {.kind = ALL_GATHER, .send = send, .recv = recv, .count = n, .type = type};
  return copy("ncclAllGather", comm, &op, n, n * (size_t)comm->clique->n_ranks, stream);
}

nccl_result nccl_broadcast(const void *send, void *recv, size_t n, nccl_type type, int root, nccl_comm comm,
                           cuda_stream stream) {
  const operation op = {.kind = BROADCAST, .send = send, .recv = recv, .count = n, .type = type, .peer = root};
  return copy("ncclBroadcast", comm, &op, root == comm->rank ? n : 0, n, stream);
}

nccl_result nccl_send(const void *data, size_t n, nccl_type type, int peer, nccl_comm comm, cuda_stream stream) {
  const operation op = {.kind = SEND, .send = data, .count = n, .type = type, .peer = peer};
  return copy("ncclSend", comm, &op, n, 0, stream);
}

nccl_result nccl_recv(void *data, size_t n, nccl_type type, int peer, nccl_comm comm, cuda_stream stream) {
  const operation op = {.kind = RECEIVE, .recv = data, .count = n, .type = type, .peer = peer};
  return copy("ncclRecv", comm, &op, 0, n, stream);
}

nccl_result nccl_premul_create(nccl_reduction *op, void *scalar, nccl_type type, int residence, nccl_comm comm) {
  ENTER("ncclRedOpCreatePreMulSum", NULL);
  if (comm->aborted || busy(comm) || residence != NCCL_SCALAR_ON_HOST || fake_type_size(type) > FACTOR_BYTES)
    return fail(NCCL_RESULT_INVALID_ARGUMENT, "a factor that cannot be made");
  int i = 0;
  while (i < MOST_FACTORS && comm->has_factor[i])
    i++;
  if (i == MOST_FACTORS)
    return fail(NCCL_RESULT_INVALID_USAGE, "factors are made and not destroyed");
  comm->has_factor[i] = true;
  fake_state.n_factors++;
  memcpy(comm->factors[i], scalar, fake_type_size(type));
  *op = FIRST_FACTOR + i;
  return leave(NCCL_RESULT_SUCCESS);
}

static void drop_factor(nccl_comm comm, int i) {
  fake_state.n_factors -= comm->has_factor[i];
  comm->has_factor[i] = false;
}

nccl_result nccl_premul_destroy(nccl_reduction op, nccl_comm comm) {
  ENTER_END("ncclRedOpDestroy");
  if (comm->aborted || op < FIRST_FACTOR || op >= FIRST_FACTOR + MOST_FACTORS || !comm->has_factor[op - FIRST_FACTOR])
    return fail(NCCL_RESULT_INVALID_ARGUMENT, "a factor is destroyed that does not exist");
  drop_factor(comm, op - FIRST_FACTOR);
  return leave(planned);
}

/* ---- Communicators ---- */

nccl_result nccl_get_version(int *version) {
  ENTER("ncclGetVersion", NULL);
  *version = fake_now.nccl_version;
  return leave(NCCL_RESULT_SUCCESS);
}

const char *nccl_error_text(nccl_result result) {
  return result == NCCL_RESULT_REMOTE ? "remote process exited" : "fake error";
}

const char *nccl_last_error(nccl_comm comm) {
  (void)comm;
  return "";
}

nccl_result nccl_get_id(nccl_id *id) {
  ENTER("ncclGetUniqueId", NULL);
  memset(id, 0, sizeof *id);
  n_ids++;
  memcpy(id->bytes, &n_ids, sizeof n_ids);
  return leave(NCCL_RESULT_SUCCESS);
}

static clique *find_clique(const nccl_id *id, int n_ranks) {
  clique *found = cliques;
  while (found && memcmp(&found->id, id, sizeof *id) != 0)
    found = found->next;
  if (found)
    return found;
  found = calloc(1, sizeof *found);
  found->id = *id;
  found->n_ranks = n_ranks;
  found->next = cliques;
  return cliques = found;
}

nccl_result nccl_init(nccl_comm *comm, int n_ranks, nccl_id id, int rank, nccl_config *config) {
  bool hang;
  ENTER("ncclCommInitRankConfig", &hang);
  if (config->magic != 0xcafebeef || config->version != NCCL_LEAST_VERSION || config->blocking || config->max_ctas != INT_MIN)
    return fail(NCCL_RESULT_INVALID_ARGUMENT, "a configuration that is not as it should be");
  if (n_ranks < 1 || n_ranks > MOST_RANKS || rank < 0 || rank >= n_ranks || fake_device() < 0)
    return fail(NCCL_RESULT_INVALID_ARGUMENT, "a rank that does not exist, or no device");
  clique *group = find_clique(&id, n_ranks);
  if (group->n_ranks != n_ranks || group->joined[rank])
    return fail(NCCL_RESULT_INVALID_USAGE, "a rank joins twice, or with another number of ranks");
  nccl_comm made = calloc(1, sizeof *made);
  *made = (struct ncclComm){
      .clique = group, .rank = rank, .device = fake_device(), .hangs = hang, .ready_at = soon(), .n_answers = N_ANSWERS};
  group->members[rank] = made;
  group->joined[rank] = true;
  group->n_joined++;
  group->references++;
  fake_state.n_comms++;
  *comm = made;
  return leave(NCCL_RESULT_IN_PROGRESS);
}

nccl_result nccl_abort(nccl_comm comm) {
  ENTER_END("ncclCommAbort");
  if (comm->aborted) {
    fake_violation("a communicator is aborted twice");
    return leave(NCCL_RESULT_INVALID_USAGE);
  }
  comm->aborted = true;
  while (comm->unlaunched) {
    launch *own = comm->unlaunched;
    comm->unlaunched = own->next;
    own->stream->n_unlaunched--;
    free(own);
  }
  for (int i = 0; i < MOST_FACTORS; i++)
    drop_factor(comm, i);
  fake_state.n_comms--;
  pthread_cond_broadcast(&fake_changed);
  release_comm(comm);
  return leave(planned);
}

nccl_result nccl_async_error(nccl_comm comm, nccl_result *error) {
  pthread_mutex_lock(&fake_lock);
  if (comm->aborted) {
    fake_violation("a communicator is asked that was aborted");
    return leave(NCCL_RESULT_INVALID_USAGE);
  }
  while (comm->unlaunched && comm->unlaunched->at <= fake_time()) { /* there is one */
    launch *own = comm->unlaunched;
    comm->unlaunched = own->next;
    own->stream->n_unlaunched--;
    put_into_stream(own);
  }
  *error = busy(comm) ? NCCL_RESULT_IN_PROGRESS : NCCL_RESULT_SUCCESS;
  bool counts = !*error && comm->n_answers-- > 0;
  return leave(counts ? fake_call("ncclCommGetAsyncError", true, NULL) : NCCL_RESULT_SUCCESS);
}

/* ---- Memory ---- */

nccl_result nccl_memory_alloc(void **memory, size_t bytes) {
  ENTER("ncclMemAlloc", NULL);
  if (fake_device() < 0 || !bytes)
    return fail(NCCL_RESULT_INVALID_ARGUMENT, "memory of no device, or of no bytes");
  *memory = fake_allocate(fake_device(), bytes);
  return leave(NCCL_RESULT_SUCCESS);
}

nccl_result nccl_memory_free(void *memory) {
  int device = -1;
  ENTER_END("ncclMemFree");
  if (fake_release(memory, &device) && fake_device() >= 0 && device != fake_device())
    fake_violation("memory of device %d is freed with device %d current", device, fake_device());
  return leave(planned);
}

nccl_result nccl_register_memory(const nccl_comm comm, void *memory, size_t bytes, void **handle) {
  ENTER("ncclCommRegister", NULL);
  *handle = memory;
  return leave(fake_owns(comm->device, memory, bytes, "ncclCommRegister") ? NCCL_RESULT_SUCCESS : NCCL_RESULT_INVALID_ARGUMENT);
}

nccl_result nccl_deregister_memory(const nccl_comm comm, void *handle) {
  (void)comm;
  (void)handle;
  ENTER("ncclCommDeregister", NULL);
  return leave(NCCL_RESULT_SUCCESS);
}
