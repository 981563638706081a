/* Fake NCCL: communicators, and calls, single or in groups. */
#define _GNU_SOURCE 1
#include "fake_operation.h"

#include <limits.h>
#include <signal.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

extern const char *nccl_error_text(nccl_result result) __asm__("ncclGetErrorString") TPRT_API;
extern const char *nccl_last_error(nccl_comm comm) __asm__("ncclGetLastError") TPRT_API;

/* ---- Groups, per thread ---- */

static _Thread_local int depth;
static _Thread_local launch *group_head;
static _Thread_local nccl_result group_error;

int64_t fake_soon(void) { return fake_time() + fake_delay_us() * INT64_C(1000); }

static void put_into_stream(launch *own) {
  own->comm->n_answers = FAKE_N_ANSWERS;
  own->comm->n_tasks++;
  own->captured = own->stream->capture;
  own->comm->n_captured_alive += own->captured;
  fake_enqueue(own->stream, fake_run_launch, fake_end_launch, own);
}

/* ---- Connections, which the first operations make ---- */

static void connect(const launch *own) {
  clique *group = own->comm->clique;
  for (int i = 0; i < own->n; i++) {
    if (own->operations[i].kind < SEND)
      group->met[own->comm->rank] = true;
    else
      group->talked[own->comm->rank][own->operations[i].peer] = true;
  }
}

static bool is_connected(const launch *own) {
  const clique *group = own->comm->clique;
  bool connected = true;
  for (int i = 0; i < own->n; i++) {
    for (int k = 0; k < group->n_ranks && own->operations[i].kind < SEND; k++)
      connected &= group->met[k];
    connected &=
        own->operations[i].kind < SEND || group->talked[own->operations[i].peer][own->comm->rank];
  }
  return connected;
}

/* Puts a group into its streams. What has a delay, or is not connected, continues in the
 * background. */
static nccl_result end_group(void) {
  nccl_result result = group_error;
  fake_state.n_groups += group_head != NULL;
  while (group_head) {
    launch *own = group_head;
    group_head = own->next;
    own->next = NULL;
    if (result && result != NCCL_RESULT_IN_PROGRESS) {
      fake_give(own);
      continue;
    }
    connect(own);
    if (!fake_now.most_delay_us && is_connected(own)) {
      put_into_stream(own);
      continue;
    }
    own->at = fake_soon();
    own->stream->n_unlaunched++;
    own->next = own->comm->unlaunched;
    own->comm->unlaunched = own;
    result = NCCL_RESULT_IN_PROGRESS;
  }
  group_error = NCCL_RESULT_SUCCESS;
  return result;
}

static pthread_key_t at_exit;

static void check_closed(void *unused) {
  (void)unused;
  fake_enter();
  if (depth)
    fake_violation("a thread ends with a group open");
  fake_exit();
}

__attribute__((constructor)) static void make_key(void) {
  pthread_key_create(&at_exit, check_closed);
}

nccl_result nccl_group_start(void) {
  FAKE_CALL("ncclGroupStart", true, NULL);
  pthread_setspecific(at_exit, &at_exit);
  depth++;
  return fake_leave(NCCL_RESULT_SUCCESS);
}

/* A planned failure also ends the group, as in NCCL. */
nccl_result nccl_group_end(void) {
  fake_enter();
  int planned = fake_call("ncclGroupEnd", true, NULL);
  if (!depth) {
    fake_violation("a group is ended that was not started");
    return fake_leave(NCCL_RESULT_INVALID_USAGE);
  }
  if (planned && !group_error)
    group_error = planned;
  return fake_leave(--depth ? NCCL_RESULT_SUCCESS : end_group());
}

/* ---- Calls ---- */

bool fake_is_busy(nccl_comm comm) {
  clique *group = comm->clique;
  if (comm->hangs || group->n_joined < group->n_ranks || fake_time() < comm->ready_at)
    return true;
  return comm->unlaunched || comm->gathers;
}

nccl_result fake_fail(nccl_result result, const char *what) {
  fake_violation("%s", what);
  if (depth)
    group_error = result;
  return fake_leave(result);
}

/* Grows a launch by one operation; NULL: creates one. */
static launch *grow(launch *old) {
  launch *made =
      fake_take(sizeof *made + (size_t)(old ? old->n + 1 : 1) * sizeof *made->operations);
  if (old) {
    memcpy(made, old, sizeof *old + (size_t)old->n * sizeof *old->operations);
    fake_give(old);
  }
  return made;
}

/* Called with the lock held; releases it. */
static nccl_result add(nccl_comm comm, const operation *op, size_t sent, size_t received,
                       cuda_stream stream, bool hang) {
  if (comm->aborted || comm->finalized)
    return fake_fail(NCCL_RESULT_INVALID_USAGE,
                     "an operation on a communicator that was aborted or finalized");
  if (fake_is_busy(comm))
    return fake_fail(NCCL_RESULT_INVALID_USAGE, "an operation on a communicator that is busy");
  stream = fake_stream_of(stream);
  if (!stream || stream->device != comm->device || fake_device() != comm->device)
    return fake_fail(NCCL_RESULT_INVALID_ARGUMENT,
                     "a stream or a current device that is not the communicator's");
  if (op->peer < 0 || op->peer >= comm->clique->n_ranks || !fake_type_size(op->type))
    return fake_fail(NCCL_RESULT_INVALID_ARGUMENT, "a rank or a type that does not exist");
  if ((sent && !fake_owns(comm->device, op->send, sent, "send of NCCL")) ||
      (received && !fake_owns(comm->device, op->recv, received, "recv of NCCL"))) {
    group_error = depth ? NCCL_RESULT_INVALID_ARGUMENT : NCCL_RESULT_SUCCESS;
    return fake_leave(NCCL_RESULT_INVALID_ARGUMENT);
  }
  launch *own = group_head;
  while (own && (own->comm != comm || own->stream != stream))
    own = own->next;
  launch **at = &group_head;
  while (own && *at != own)
    at = &(*at)->next;
  launch *grown = grow(own);
  if (!own)
    *grown = (launch){.comm = comm, .stream = stream, .next = group_head};
  *at = grown; /* new, at the head */
  operation *added = &grown->operations[grown->n++];
  *added = *op;
  added->hangs = hang;
  if (op->kind < SEND)
    added->number = comm->n_collectives++;
  return fake_leave(depth ? NCCL_RESULT_SUCCESS : end_group());
}

/* Resolves a reduction with a factor now, because the factor may be destroyed before the operation
 * runs. */
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

static nccl_result reduce(const char *name, nccl_comm comm, operation op, size_t sent,
                          size_t received, cuda_stream stream) {
  bool hang;
  FAKE_CALL(name, true, &hang);
  if (!take_factor(comm, &op))
    return fake_fail(NCCL_RESULT_INVALID_ARGUMENT, "a reduction that was not made");
  size_t size = fake_type_size(op.type);
  if (size && ((uintptr_t)op.send % size || (received && (uintptr_t)op.recv % size)))
    return fake_fail(NCCL_RESULT_INVALID_ARGUMENT,
                     "a reduction of elements that are not aligned: kernels would fault");
  return add(comm, &op, sent * size, received * size, stream, hang);
}

nccl_result nccl_all_reduce(const void *send, void *recv, size_t n, nccl_type type,
                            nccl_reduction op, nccl_comm comm, cuda_stream stream) {
  return reduce("ncclAllReduce", comm,
                (operation){.kind = ALL_REDUCE,
                            .send = send,
                            .recv = recv,
                            .count = n,
                            .type = type,
                            .reduction = op},
                n, n, stream);
}

nccl_result nccl_reduce(const void *send, void *recv, size_t n, nccl_type type, nccl_reduction op,
                        int root, nccl_comm comm, cuda_stream stream) {
  const operation made = {.kind = REDUCE,
                          .send = send,
                          .recv = recv,
                          .count = n,
                          .type = type,
                          .reduction = op,
                          .peer = root};
  return reduce("ncclReduce", comm, made, n, root == comm->rank ? n : 0, stream);
}

nccl_result nccl_reduce_scatter(const void *send, void *recv, size_t n, nccl_type type,
                                nccl_reduction op, nccl_comm comm, cuda_stream stream) {
  const operation made = {.kind = REDUCE_SCATTER,
                          .send = send,
                          .recv = recv,
                          .count = n,
                          .type = type,
                          .reduction = op};
  return reduce("ncclReduceScatter", comm, made, n * (size_t)comm->clique->n_ranks, n, stream);
}

static nccl_result copy(const char *name, nccl_comm comm, const operation *op, size_t sent,
                        size_t received, cuda_stream stream) {
  bool hang;
  FAKE_CALL(name, true, &hang);
  size_t size = fake_type_size(op->type);
  return add(comm, op, sent * size, received * size, stream, hang);
}

nccl_result nccl_all_gather(const void *send, void *recv, size_t n, nccl_type type, nccl_comm comm,
                            cuda_stream stream) {
  const operation op = {.kind = ALL_GATHER, .send = send, .recv = recv, .count = n, .type = type};
  return copy("ncclAllGather", comm, &op, n, n * (size_t)comm->clique->n_ranks, stream);
}

nccl_result nccl_all_to_all(const void *send, void *recv, size_t n, nccl_type type, nccl_comm comm,
                            cuda_stream stream) {
  const operation op = {.kind = ALL_TO_ALL, .send = send, .recv = recv, .count = n, .type = type};
  size_t all = n * (size_t)comm->clique->n_ranks;
  return copy("ncclAlltoAll", comm, &op, all, all, stream);
}

nccl_result nccl_gather(const void *send, void *recv, size_t n, nccl_type type, int root,
                        nccl_comm comm, cuda_stream stream) {
  const operation op = {
      .kind = GATHER, .send = send, .recv = recv, .count = n, .type = type, .peer = root};
  return copy("ncclGather", comm, &op, n,
              root == comm->rank ? n * (size_t)comm->clique->n_ranks : 0, stream);
}

nccl_result nccl_scatter(const void *send, void *recv, size_t n, nccl_type type, int root,
                         nccl_comm comm, cuda_stream stream) {
  const operation op = {
      .kind = SCATTER, .send = send, .recv = recv, .count = n, .type = type, .peer = root};
  return copy("ncclScatter", comm, &op, root == comm->rank ? n * (size_t)comm->clique->n_ranks : 0,
              n, stream);
}

nccl_result nccl_broadcast(const void *send, void *recv, size_t n, nccl_type type, int root,
                           nccl_comm comm, cuda_stream stream) {
  const operation op = {
      .kind = BROADCAST, .send = send, .recv = recv, .count = n, .type = type, .peer = root};
  return copy("ncclBroadcast", comm, &op, root == comm->rank ? n : 0, n, stream);
}

nccl_result nccl_send(const void *data, size_t n, nccl_type type, int peer, nccl_comm comm,
                      cuda_stream stream) {
  const operation op = {.kind = SEND, .send = data, .count = n, .type = type, .peer = peer};
  return copy("ncclSend", comm, &op, n, 0, stream);
}

nccl_result nccl_recv(void *data, size_t n, nccl_type type, int peer, nccl_comm comm,
                      cuda_stream stream) {
  const operation op = {.kind = RECEIVE, .recv = data, .count = n, .type = type, .peer = peer};
  return copy("ncclRecv", comm, &op, 0, n, stream);
}

nccl_result nccl_premul_create(nccl_reduction *op, void *scalar, nccl_type type, int residence,
                               nccl_comm comm) {
  FAKE_CALL("ncclRedOpCreatePreMulSum", true, NULL);
  if (comm->aborted || fake_is_busy(comm) || residence != NCCL_SCALAR_ON_HOST ||
      fake_type_size(type) > FACTOR_BYTES)
    return fake_fail(NCCL_RESULT_INVALID_ARGUMENT, "a factor that cannot be made");
  int i = 0;
  while (i < MOST_FACTORS && comm->has_factor[i])
    i++;
  if (i == MOST_FACTORS)
    return fake_fail(NCCL_RESULT_INVALID_USAGE, "factors are made and not destroyed");
  comm->has_factor[i] = true;
  fake_state.n_factors++;
  memcpy(comm->factors[i], scalar, fake_type_size(type));
  *op = FIRST_FACTOR + i;
  return fake_leave(NCCL_RESULT_SUCCESS);
}

static void drop_factor(nccl_comm comm, int i) {
  fake_state.n_factors -= comm->has_factor[i];
  comm->has_factor[i] = false;
}

nccl_result nccl_premul_destroy(nccl_reduction op, nccl_comm comm) {
  FAKE_END_CALL("ncclRedOpDestroy", true);
  if (comm->aborted || op < FIRST_FACTOR || op >= FIRST_FACTOR + MOST_FACTORS ||
      !comm->has_factor[op - FIRST_FACTOR])
    return fake_fail(NCCL_RESULT_INVALID_ARGUMENT, "a factor is destroyed that does not exist");
  drop_factor(comm, op - FIRST_FACTOR);
  return fake_leave(planned);
}

/* ---- Communicators ---- */

nccl_result nccl_get_version(int *version) {
  FAKE_CALL("ncclGetVersion", true, NULL);
  *version = fake_now.nccl_version;
  return fake_leave(NCCL_RESULT_SUCCESS);
}

const char *nccl_error_text(nccl_result result) {
  return result == NCCL_RESULT_REMOTE ? "remote process exited" : "fake error";
}

const char *nccl_last_error(nccl_comm comm) {
  (void)comm;
  return "";
}

nccl_result nccl_get_id(nccl_id *id) {
  FAKE_CALL("ncclGetUniqueId", true, NULL);
  memset(id, 0, sizeof *id);
  uint64_t number = ++fake_common_part()->n_ids;
  memcpy(id->bytes, &number, sizeof number);
  return fake_leave(NCCL_RESULT_SUCCESS);
}

static clique *find_clique(const nccl_id *id, int n_ranks) {
  fake_common *common = fake_common_part();
  clique *found = common->cliques;
  while (found && memcmp(&found->id, id, sizeof *id) != 0)
    found = found->next;
  if (found)
    return found;
  found = fake_take(sizeof *found);
  found->id = *id;
  found->n_ranks = n_ranks;
  found->next = common->cliques;
  return common->cliques = found;
}

nccl_comm fake_make_comm(const nccl_id *id, int n_ranks, int rank, int device) {
  clique *group = find_clique(id, n_ranks);
  nccl_comm made = calloc(1, sizeof *made);
  *made = (struct ncclComm){
      .clique = group, .rank = rank, .device = device, .n_answers = FAKE_N_ANSWERS};
  group->joined[rank] = true;
  group->process[rank] = getpid();
  group->n_joined++;
  group->references++;
  fake_state.n_comms++;
  return made;
}

static size_t config_size(int version) {
  return version < 22500   ? offsetof(nccl_config, traffic_class)
         : version < 22700 ? offsetof(nccl_config, comm_name)
                           : sizeof(nccl_config);
}

/* A configuration has the size of this version, or that of the version that it states. */
bool fake_take_config(const nccl_config *config) {
  int version = fake_now.nccl_version;
  bool fits =
      config->size == config_size(version) || config->size == config_size((int)config->version);
  if (config->magic != 0xcafebeef || !fits || (int)config->version > version || config->blocking ||
      config->net_name || config->cga_cluster_size != INT_MIN)
    return false;
  bool has_class = config->size > offsetof(nccl_config, traffic_class) && config->version >= 22500;
  bool has_name = config->size > offsetof(nccl_config, comm_name) && config->comm_name;
  fake_state.min_ctas = config->min_ctas;
  fake_state.max_ctas = config->max_ctas;
  fake_state.traffic_class = has_class ? config->traffic_class : INT_MIN;
  snprintf(fake_state.comm_name, sizeof fake_state.comm_name, "%s",
           has_name ? config->comm_name : "");
  return true;
}

nccl_result nccl_init(nccl_comm *comm, int n_ranks, nccl_id id, int rank, nccl_config *config) {
  bool hang;
  FAKE_CALL("ncclCommInitRankConfig", true, &hang);
  if (!fake_take_config(config))
    return fake_fail(NCCL_RESULT_INVALID_ARGUMENT, "a configuration that is not as it should be");
  if (n_ranks < 1 || n_ranks > MOST_RANKS || rank < 0 || rank >= n_ranks || fake_device() < 0)
    return fake_fail(NCCL_RESULT_INVALID_ARGUMENT, "a rank that does not exist, or no device");
  const clique *group = find_clique(&id, n_ranks);
  if (group->n_ranks != n_ranks || group->joined[rank])
    return fake_fail(NCCL_RESULT_INVALID_USAGE,
                     "a rank joins twice, or with another number of ranks");
  nccl_comm made = fake_make_comm(&id, n_ranks, rank, fake_device());
  fake_state.n_by_id++;
  made->hangs = hang;
  made->ready_at = fake_soon();
  *comm = made;
  return fake_leave(NCCL_RESULT_IN_PROGRESS);
}

/* Completes the call that ends a communicator. */
static nccl_result end_comm(nccl_comm comm, int planned) {
  for (int i = 0; i < MOST_FACTORS; i++)
    drop_factor(comm, i);
  fake_state.n_comms--;
  comm->ended = true;
  fake_wake();
  fake_release_comm(comm);
  return fake_leave(planned);
}

/* Ends everything that is under way, then waits until graphs that hold operations of the
 * communicator are gone. Data that is on its way is lost. */
nccl_result nccl_abort(nccl_comm comm) {
  FAKE_END_CALL("ncclCommAbort", true);
  if (fake_unsafe())
    fake_violation("a communicator is aborted by a thread that may not do so during a capture");
  if (comm->aborted || comm->ended) {
    fake_violation("a communicator is aborted that has ended already");
    return fake_leave(NCCL_RESULT_INVALID_USAGE);
  }
  comm->aborted = true;
  while (comm->unlaunched) {
    launch *own = comm->unlaunched;
    comm->unlaunched = own->next;
    own->stream->n_unlaunched--;
    fake_give(own);
  }
  if (comm->clique)
    fake_lose_data(comm);
  if (comm->clique)
    comm->clique->ended[comm->rank] = true;
  fake_break_gathering(comm);
  fake_wake();
  while (comm->n_captured_alive)
    fake_wait();
  return end_comm(comm, planned);
}

/* Until it is complete, the communicator is in progress: operations run, data is on its way, or
 * graphs hold its operations. */
static bool is_finalizing(nccl_comm comm) {
  return comm->finalized && (comm->n_tasks || comm->clique->n_sent[comm->rank]);
}

nccl_result nccl_finalize(nccl_comm comm) {
  bool hang;
  FAKE_CALL("ncclCommFinalize", true, &hang);
  if (comm->aborted || comm->finalized || fake_is_busy(comm))
    return fake_fail(NCCL_RESULT_INVALID_ARGUMENT,
                     "a communicator is finalized that has ended, or is busy");
  if (fake_unsafe())
    fake_violation("a communicator is finalized by a thread that may not do so during a capture");
  comm->finalized = true;
  comm->hangs = hang;
  comm->n_answers = FAKE_N_ANSWERS;
  comm->clique->ended[comm->rank] = true;
  fake_wake();
  return fake_leave(NCCL_RESULT_IN_PROGRESS);
}

/* True if the rank of another living process has not ended. */
static bool is_used_by_others(const clique *group) {
  for (int i = 0; i < group->n_ranks; i++)
    if (group->process[i] && group->process[i] != getpid() && !group->ended[i] &&
        kill(group->process[i], 0) == 0)
      return true;
  return false;
}

/* Waits for the other ranks of the host to end theirs, too, unless they are threads of one process:
 * the last of those frees everything. */
nccl_result nccl_destroy(nccl_comm comm) {
  FAKE_END_CALL("ncclCommDestroy", true);
  if (fake_unsafe())
    fake_violation("a communicator is destroyed by a thread that may not do so during a capture");
  if (comm->aborted || comm->ended || !comm->finalized || is_finalizing(comm))
    return fake_fail(NCCL_RESULT_INVALID_USAGE,
                     "a communicator is destroyed before it is finalized: this may block");
  while (is_used_by_others(comm->clique))
    fake_wait();
  comm->aborted = true; /* no call on it may follow */
  return end_comm(comm, planned);
}

nccl_result nccl_async_error(nccl_comm comm, nccl_result *error) {
  fake_enter();
  if (comm->aborted) {
    fake_violation("a communicator is asked that was aborted");
    return fake_leave(NCCL_RESULT_INVALID_USAGE);
  }
  for (launch **at = &comm->unlaunched; *at;) { /* the operations that are due */
    launch *own = *at;
    if (own->at > fake_time() || !is_connected(own)) {
      at = &own->next;
      continue;
    }
    *at = own->next;
    own->stream->n_unlaunched--;
    put_into_stream(own);
  }
  fake_try_gathering(comm);
  *error =
      fake_is_busy(comm) || is_finalizing(comm) ? NCCL_RESULT_IN_PROGRESS : NCCL_RESULT_SUCCESS;
  bool counts = !*error && comm->n_answers-- > 0;
  return fake_leave(counts ? fake_call("ncclCommGetAsyncError", true, NULL) : NCCL_RESULT_SUCCESS);
}

/* ---- Memory ---- */

nccl_result nccl_memory_alloc(void **memory, size_t bytes) {
  FAKE_UNSAFE_CALL("ncclMemAlloc", true, 1);
  if (fake_device() < 0 || !bytes)
    return fake_fail(NCCL_RESULT_INVALID_ARGUMENT, "memory of no device, or of no bytes");
  *memory = fake_allocate(fake_device(), bytes);
  fake_note_nccls(*memory);
  return fake_leave(NCCL_RESULT_SUCCESS);
}

nccl_result nccl_memory_free(void *memory) {
  int device = -1;
  FAKE_END_CALL("ncclMemFree", true);
  if (fake_unsafe())
    return fake_leave(1);
  if (fake_release(memory, &device) && fake_device() >= 0 && device != fake_device())
    fake_violation("memory of device %d is freed with device %d current", device, fake_device());
  return fake_leave(planned);
}

nccl_result nccl_register_memory(const nccl_comm comm, void *memory, size_t bytes, void **handle) {
  FAKE_CALL("ncclCommRegister", true, NULL);
  *handle = memory;
  return fake_leave(fake_owns(comm->device, memory, bytes, "ncclCommRegister")
                        ? NCCL_RESULT_SUCCESS
                        : NCCL_RESULT_INVALID_ARGUMENT);
}

nccl_result nccl_deregister_memory(const nccl_comm comm, void *handle) {
  (void)comm;
  (void)handle;
  FAKE_CALL("ncclCommDeregister", true, NULL);
  return fake_leave(NCCL_RESULT_SUCCESS);
}
