/* Sends and recvs of the shm backend. All transfers of a batch progress concurrently, so that no
 * order of them can deadlock.
 *
 * A receiver posts requests in a table of the pipe from its peer, in the order of its recvs. For
 * each of its sends in turn, the sender answers the oldest request with the same tag. The data
 * moves through the ring of the pipe or, if the receiver's buffer is in an arena, is written
 * directly into that buffer. Every change rings the peer's bell. */
#include "backends/shm/shm.h"
#include "base/ring.h"

#include <string.h>

enum { REQUEST_FREE, REQUEST_POSTED, REQUEST_TAKEN };
enum { DIRECT_BYTES = 4096, FEW = 16 };

#define NO_REQUEST UINT32_MAX

/* Header of each message in a stream. Messages are padded to a multiple of its size. */
typedef struct frame {
  uint32_t request;
  uint32_t direct; /* the data is already in the receiver's buffer */
} frame;

typedef enum progress { WAITING, MOVING, DONE } progress;

typedef struct transfer {
  const tprt__plan *plan;
  shm_pipe *pipe;
  progress state;
  uint32_t request;
  int64_t at; /* number of bytes moved */
} transfer;

typedef struct exchange {
  shm_transport *shm;
  transfer *transfers;
  size_t n;
  shm_wait wait;
  bool moved; /* some transfer progressed in this round */
} exchange;

static int64_t elements(const tprt__plan *plan) { return (int64_t)plan->signature[2]; }
static int32_t dtype(const tprt__plan *plan) {
  return (int32_t)(plan->signature[0] >> 32 & 0xffff);
}
static uint64_t padded(uint64_t bytes) {
  return (bytes + sizeof(frame) - 1) / sizeof(frame) * sizeof(frame);
}

/* Copies between memory and the ring at stream position `at`. */
static void ring_copy(shm_pipe *pipe, uint64_t at, void *memory, size_t bytes, bool out) {
  tprt__ring_copy(pipe->stream, SHM_PIPE_BYTES, at, memory, bytes, out);
}

/* Returns the transfer of this batch that is in the middle of this pipe's stream; NULL if none. */
static const transfer *moving(const exchange *run, const shm_pipe *pipe) {
  for (size_t i = 0; i < run->n; i++) {
    if (run->transfers[i].pipe == pipe && run->transfers[i].state == MOVING)
      return &run->transfers[i];
  }
  return NULL;
}

/* Notifies the peer if a transfer has progressed. */
static void notify_progress(exchange *run, const transfer *t, const transfer *before) {
  if (t->state == before->state && t->at == before->at)
    return;
  run->moved = true;
  tprt__shm_ring(run->shm->lines[t->plan->peer]);
}

/* ---- sending ---- */

/* Returns the oldest request with this tag that one scan of the table finds; SHM_PIPE_REQUESTS if
 * there is none. */
static uint32_t find_oldest_request(shm_pipe *pipe, int32_t tag) {
  uint32_t found = SHM_PIPE_REQUESTS;
  for (uint32_t i = 0; i < SHM_PIPE_REQUESTS; i++) {
    shm_request *request = &pipe->requests[i];
    if (atomic_load_explicit(&request->state, memory_order_acquire) != REQUEST_POSTED ||
        request->tag != tag)
      continue;
    if (found == SHM_PIPE_REQUESTS || (int32_t)(request->serial - pipe->requests[found].serial) < 0)
      found = i;
  }
  return found;
}

/* Returns the oldest request with this tag. One scan is not enough: it may pass an entry before the
 * oldest request is posted there, and then find a younger one. But all requests older than one that
 * was found were posted before it, so a second scan sees them. */
static uint32_t find_request(shm_pipe *pipe, int32_t tag) {
  return find_oldest_request(pipe, tag) == SHM_PIPE_REQUESTS ? SHM_PIPE_REQUESTS
                                                             : find_oldest_request(pipe, tag);
}

static tprt_status check_request(const exchange *run, const tprt__plan *plan,
                                 const shm_request *request) {
  if (request->dtype == dtype(plan) && request->elements == elements(plan))
    return TPRT_OK;
  const char *theirs = tprt_dtype_name((tprt_dtype)request->dtype);
  return tprt__fail(TPRT_MISMATCH,
                    "rank %d sends %lld %s to rank %d with tag %d, which expects %lld %s",
                    run->shm->world_rank, (long long)elements(plan), plan->type->name,
                    run->shm->members[plan->peer], plan->tag, (long long)request->elements,
                    theirs ? theirs : "?");
}

/* Copies the data directly into the receiver's arena, at the offset it has posted. Returns false
 * for short messages and invalid offsets. */
static bool send_direct(const exchange *run, const tprt__plan *plan, uint64_t offset) {
  const shm_segment *segment = run->shm->segment;
  uint64_t arena = segment->sizes.arena_bytes, bytes = (uint64_t)plan->send_bytes;
  if (bytes < DIRECT_BYTES || bytes > arena || offset > arena - bytes)
    return false;
  memcpy(tprt__shm_arena(segment, run->shm->members[plan->peer]) + offset, plan->send,
         (size_t)bytes);
  return true;
}

/* True if an earlier transfer of the same pipe still waits for its turn. For a send, only transfers
 * with the same tag count. */
static bool has_earlier(const exchange *run, size_t index) {
  const transfer *t = &run->transfers[index];
  for (size_t i = 0; i < index; i++) {
    const transfer *other = &run->transfers[i];
    bool sends = t->plan->kind == TPRT_OP_SEND;
    if (other->pipe == t->pipe && other->state == WAITING && other->request == NO_REQUEST &&
        (!sends || other->plan->tag == t->plan->tag))
      return true;
  }
  return false;
}

static tprt_status begin_send(exchange *run, size_t index) {
  transfer *t = &run->transfers[index];
  shm_pipe *pipe = t->pipe;
  uint64_t written = atomic_load_explicit(&pipe->written, memory_order_relaxed);
  if (moving(run, pipe) || has_earlier(run, index) ||
      written - atomic_load(&pipe->read) > SHM_PIPE_BYTES - sizeof(frame))
    return TPRT_OK;
  uint32_t found = find_request(pipe, t->plan->tag);
  if (found == SHM_PIPE_REQUESTS)
    return TPRT_OK;
  /* the peer may change its memory, so every word is read once */
  const shm_request *request = &pipe->requests[found];
  shm_request asked = {
      .dtype = request->dtype, .elements = request->elements, .offset = request->offset};
  tprt_status status = check_request(run, t->plan, &asked);
  if (status)
    return status;
  frame head = {.request = found, .direct = send_direct(run, t->plan, asked.offset)};
  /* the receiver frees the entry */
  atomic_store_explicit(&pipe->requests[found].state, REQUEST_TAKEN, memory_order_relaxed);
  ring_copy(pipe, written, &head, sizeof head, false);
  atomic_store(&pipe->written, written + sizeof head);
  t->state = MOVING;
  t->at = head.direct ? t->plan->send_bytes : 0;
  return TPRT_OK;
}

static tprt_status push(exchange *run, size_t index) {
  transfer *t = &run->transfers[index];
  const transfer before = *t;
  if (t->state == WAITING) {
    tprt_status status = begin_send(run, index);
    if (status || t->state == WAITING)
      return status;
  }
  uint64_t written = atomic_load_explicit(&t->pipe->written, memory_order_relaxed);
  uint64_t room = SHM_PIPE_BYTES - (written - atomic_load(&t->pipe->read));
  uint64_t left = (uint64_t)(t->plan->send_bytes - t->at),
           bytes = left < room ? left : room / sizeof(frame) * sizeof(frame);
  if (bytes > SHM_PIPE_BYTES)
    return tprt__fail(TPRT_INTERNAL, "rank %d read more than was sent to it",
                      run->shm->members[t->plan->peer]);
  if (bytes && padded(bytes) <= room) {
    ring_copy(t->pipe, written, (char *)(uintptr_t)t->plan->send + t->at, (size_t)bytes, false);
    atomic_store(&t->pipe->written, written + padded(bytes));
    t->at += (int64_t)bytes;
  }
  if (t->at == t->plan->send_bytes)
    t->state = DONE;
  notify_progress(run, t, &before);
  return TPRT_OK;
}

/* ---- receiving ---- */

/* Posts the request of a recv. Recvs of one pipe are posted in their order. */
static void post(exchange *run, size_t index) {
  transfer *t = &run->transfers[index];
  if (has_earlier(run, index))
    return;
  for (uint32_t i = 0; i < SHM_PIPE_REQUESTS; i++) {
    shm_request *request = &t->pipe->requests[i];
    if (atomic_load(&request->state) != REQUEST_FREE)
      continue;
    request->serial = t->pipe->n_posted++;
    request->tag = t->plan->tag;
    request->dtype = dtype(t->plan);
    request->elements = elements(t->plan);
    if (!tprt__shm_arena_offset(run->shm, t->plan->recv, t->plan->recv_bytes, &request->offset))
      request->offset = UINT64_MAX;
    atomic_store(&request->state, REQUEST_POSTED);
    t->request = i;
    run->moved = true;
    tprt__shm_ring(run->shm->lines[t->plan->peer]);
    return;
  }
}

/* Reads the header of the next message in a pipe, and finds the recv that it belongs to. */
static tprt_status begin_recv(exchange *run, shm_pipe *pipe, int peer) {
  uint64_t read = atomic_load_explicit(&pipe->read, memory_order_relaxed);
  frame head;
  if (moving(run, pipe) || atomic_load(&pipe->written) == read)
    return TPRT_OK;
  ring_copy(pipe, read, &head, sizeof head, true);
  for (size_t i = 0; i < run->n; i++) {
    transfer *t = &run->transfers[i];
    if (t->pipe != pipe || t->state != WAITING || t->request != head.request)
      continue;
    t->state = MOVING;
    t->at = head.direct ? t->plan->recv_bytes : 0;
    atomic_store(&pipe->read, read + sizeof head);
    return TPRT_OK;
  }
  return tprt__fail(TPRT_INTERNAL, "rank %d answers request %u, which was not made",
                    run->shm->members[peer], head.request);
}

static tprt_status pull(exchange *run, size_t index) {
  transfer *t = &run->transfers[index];
  const transfer before = *t;
  if (t->state == WAITING && t->request == NO_REQUEST)
    post(run, index);
  if (t->state == WAITING) {
    tprt_status status = begin_recv(run, t->pipe, t->plan->peer);
    if (status || t->state == WAITING)
      return status;
    run->moved = true; /* the message may be empty and another one may follow it */
  }
  uint64_t read = atomic_load_explicit(&t->pipe->read, memory_order_relaxed);
  uint64_t there = atomic_load(&t->pipe->written) - read,
           left = (uint64_t)(t->plan->recv_bytes - t->at);
  if (there > SHM_PIPE_BYTES)
    return tprt__fail(TPRT_INTERNAL, "rank %d wrote more than a pipe holds",
                      run->shm->members[t->plan->peer]);
  uint64_t bytes = left < there ? left : there;
  if (bytes) {
    ring_copy(t->pipe, read, (char *)t->plan->recv + t->at, (size_t)bytes, true);
    atomic_store(&t->pipe->read, read + padded(bytes));
    t->at += (int64_t)bytes;
  }
  if (t->at == t->plan->recv_bytes) {
    t->state = DONE;
    atomic_store(&t->pipe->requests[t->request].state, REQUEST_FREE);
  }
  notify_progress(run, t, &before);
  return TPRT_OK;
}

/* ---- both directions ---- */

/* Tries to advance every transfer once. *left is the first unfinished one, or n if all are done. */
static tprt_status run_round(exchange *run, size_t *left) {
  *left = run->n;
  run->moved = false;
  for (size_t i = 0; i < run->n; i++) {
    transfer *t = &run->transfers[i];
    if (t->state == DONE)
      continue;
    tprt_status status = t->plan->kind == TPRT_OP_SEND ? push(run, i) : pull(run, i);
    if (status)
      return status;
    if (t->state != DONE && *left == run->n)
      *left = i;
  }
  return TPRT_OK;
}

/* Checks for reasons to stop, after a round without progress. `suspect` is a peer that was gone
 * before the round; -1: none. */
static tprt_status check(exchange *run, size_t left, int suspect) {
  shm_transport *shm = run->shm;
  tprt__fault fault = tprt__shm_fault(&shm->base);
  if (fault.status)
    return tprt__fault_fail(&fault);
  for (size_t i = left; i < run->n && suspect >= 0; i++) {
    if (run->transfers[i].state != DONE && run->transfers[i].plan->peer == suspect)
      return tprt__shm_record_fault(shm, TPRT_PEER_DEAD, suspect, &run->wait);
  }
  if (tprt__now() < run->wait.deadline)
    return TPRT_OK;
  return tprt__shm_record_fault(shm, TPRT_TIMEOUT, run->transfers[left].plan->peer, &run->wait);
}

static tprt_status run_all(exchange *run) {
  shm_transport *shm = run->shm;
  shm_line *own = shm->lines[shm->base.rank];
  int rounds = 0;
  int64_t next = 0;
  size_t left = 0;
  for (size_t n_checks = 0;;) {
    uint32_t heard = atomic_load(&own->bell);
    bool thorough = tprt__shm_due(shm, rounds, &next);
    int suspect = -1;
    /* Before the round, because data that a peer sent before it ended counts; one peer per check,
     * in turn. */
    if (thorough) {
      int peer = run->transfers[n_checks++ % run->n].plan->peer;
      suspect = tprt__shm_peer_dead(shm, peer) ? peer : -1;
    }
    tprt_status status = run_round(run, &left);
    if (status || left == run->n)
      return status;
    if (run->moved) {
      rounds = 0;
      continue;
    }
    status = thorough ? check(run, left, suspect) : TPRT_OK;
    if (status)
      return status;
    tprt__shm_listen(shm, heard, &rounds);
  }
}

tprt_status tprt__shm_exchange(tprt__transport *transport, const tprt__plan *plans, size_t n,
                               uint32_t sequence, int64_t deadline) {
  shm_transport *shm = (shm_transport *)transport;
  transfer few[FEW], *transfers = n > FEW ? tprt__alloc(n * sizeof *transfers) : few;
  if (!transfers)
    return tprt__fail_memory(n * sizeof *transfers);
  exchange run = {
      .shm = shm, .transfers = transfers, .wait = {.sequence = sequence, .deadline = deadline}};
  for (size_t i = 0; i < n; i++) {
    const tprt__plan *plan = &plans[i];
    if (plan->peer == transport->rank)
      continue;
    int own = shm->world_rank, peer = shm->members[plan->peer];
    bool sends = plan->kind == TPRT_OP_SEND;
    transfers[run.n++] = (transfer){
        .plan = plan,
        .pipe = tprt__shm_pipe(shm->segment, shm->channel, sends ? own : peer, sends ? peer : own),
        .request = NO_REQUEST};
    run.wait.kind = plan->kind;
  }
  tprt__fault fault = tprt__shm_fault(transport);
  tprt_status status = fault.status ? tprt__fault_fail(&fault) : run.n ? run_all(&run) : TPRT_OK;
  if (transfers != few)
    tprt__free(transfers);
  return status;
}
