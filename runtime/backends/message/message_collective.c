/* Collectives built from messages: arrival, then the data movement of each kind. */
#include "backends/message/message.h"

#include <string.h>

enum {
  /* up to this size every rank reduces everything, which saves a message */
  ONE_SHOT_BYTES = 4 << 10,
  SLICE_BYTES = 1 << 20,  /* of one rank, in one round of a longer reduction */
  PACKED_BYTES = 1 << 20, /* of a piece that is not contiguous, in one round */
};

typedef struct engine {
  wire_transport *wire;
  const tprt__plan *plan;
  wire_wait wait;
  uint32_t tag; /* tag of the data that this rank expects */
  wire_move *moves;
  int n_moves;
} engine;

static const wire_note *note_of(const engine *run, int i) {
  return &run->wire->peers[i].arrived[run->wire->step & 1];
}

/* ---- arrival ---- */

static bool has_all_arrived(const wire_transport *wire, int i) {
  return (int32_t)(wire->peers[i].n_arrived - wire->step) >= 0; /* steps wrap around */
}

static tprt_status await_notes(engine *run) {
  wire_transport *wire = run->wire;
  tprt_status status = TPRT_OK;
  run->wait.comparing = true;
  for (int i = 0; i < wire->base.n_ranks && !status;) {
    if (has_all_arrived(wire, i)) {
      i++;
      continue;
    }
    /* before waiting: notes from before its end still count */
    bool peer_dead = tprt__wire_peer_dead(wire, i);
    status = tprt__wire_poll(wire, &run->wait, false);
    if (status || has_all_arrived(wire, i))
      continue;
    if (peer_dead)
      status = tprt__wire_record_peer_fault(wire, TPRT_PEER_DEAD, i, &run->wait);
    else if (tprt__now() >= run->wait.deadline)
      status = tprt__wire_record_peer_fault(wire, TPRT_TIMEOUT, i, &run->wait);
  }
  if (!status) /* a rank that gave up may have sent its note before */
    status = tprt__wire_check(wire, &run->wait);
  run->wait.comparing = false;
  return status;
}

/* Compares all notes with this rank's own. Either all are equal, or every rank sees one that
 * differs from its own. */
static tprt_status compare(const engine *run, const wire_note *mine) {
  const wire_transport *wire = run->wire;
  for (int i = 0; i < run->plan->n_ranks; i++) {
    const wire_note *other = note_of(run, i);
    if (memcmp(other->signature, mine->signature, sizeof mine->signature) == 0 &&
        other->sequence == mine->sequence)
      continue;
    char difference[192];
    tprt__signature_explain(mine->signature, other->signature, difference, sizeof difference);
    return tprt__fail(TPRT_MISMATCH, "operation %u differs between rank %d and rank %d: %s",
                      mine->sequence, wire->peers[run->plan->rank].world_rank,
                      wire->peers[i].world_rank, difference);
  }
  return TPRT_OK;
}

/* Sends this rank's note to the other ranks. */
static tprt_status send_arrival(wire_transport *wire, const tprt__plan *plan, uint32_t sequence) {
  int me = plan->rank;
  wire_note mine = {.kind = WIRE_ARRIVES,
                    .tag = tprt__wire_tag(wire->world),
                    .sequence = sequence,
                    .source = plan->source,
                    .scale = plan->scale,
                    .sent = plan->sent,
                    .expected = plan->expected};
  memcpy(mine.signature, plan->signature, sizeof mine.signature);
  wire->step++;
  wire->peers[me].n_arrived = wire->step;
  wire->peers[me].arrived[wire->step & 1] = mine;
  tprt_status status = TPRT_OK;
  for (int i = 0; i < plan->n_ranks && !status; i++) {
    if (i != me)
      status = tprt__wire_note(wire, i, &mine);
  }
  return status;
}

static tprt_status arrive(engine *run) {
  wire_transport *wire = run->wire;
  const tprt__plan *plan = run->plan;
  bool begun = wire->begun;
  wire->begun = false;
  tprt_status status = begun ? TPRT_OK : send_arrival(wire, plan, run->wait.sequence);
  if (begun && wire->begun_status)
    status = tprt__fail(wire->begun_status,
                        "operation %u: the other ranks could not be notified when it was started",
                        run->wait.sequence);
  run->tag = note_of(run, plan->rank)->tag;
  if (!status)
    status = await_notes(run);
  if (!status)
    status = compare(run, note_of(run, plan->rank));
  for (int i = 0; i < plan->n_ranks && !status && plan->reduction == TPRT_PREMUL_SUM; i++)
    wire->scales[i] = note_of(run, i)->scale;
  return status;
}

/* ---- data ---- */

/* Ensures that wire->scratch has capacity for n aligned pieces of `bytes` bytes. *stride is the
 * distance between two pieces. */
static tprt_status reserve(engine *run, int n, int64_t bytes, int64_t *stride) {
  wire_transport *wire = run->wire;
  *stride = (int64_t)tprt__round_up((size_t)bytes, 64);
  size_t needed = (size_t)n * (size_t)*stride;
  if (needed <= wire->scratch_bytes)
    return TPRT_OK;
  tprt__free(wire->scratch);
  wire->scratch_bytes = 0;
  wire->scratch = tprt__alloc(needed);
  if (!wire->scratch)
    return tprt__fail_memory(needed);
  wire->scratch_bytes = needed;
  return TPRT_OK;
}

static void add_send(engine *run, int peer, const void *at, int64_t bytes) {
  if (bytes)
    run->moves[run->n_moves++] = (wire_move){.peer = peer,
                                             .tag = note_of(run, peer)->tag,
                                             .sends = true,
                                             .at = (char *)(uintptr_t)at,
                                             .bytes = bytes};
}

static void add_receive(engine *run, int peer, void *at, int64_t bytes) {
  if (bytes)
    run->moves[run->n_moves++] =
        (wire_move){.peer = peer, .tag = run->tag, .at = at, .bytes = bytes};
}

/* Runs the moves. The receives precede the sends in the list, and tprt__wire_move starts the list
 * from its end. */
static tprt_status move(engine *run) {
  tprt_status status = tprt__wire_move(run->wire, run->moves, run->n_moves, &run->wait);
  run->n_moves = 0;
  return status;
}

/* True if every piece of a tensor is contiguous. */
static bool in_runs(tprt__map map, int64_t piece) { return map.n == 1 || map.run == piece; }

static char *piece_at(const void *tensor, tprt__map map, int index, int64_t at) {
  return (char *)(uintptr_t)tensor + (map.n > 1 ? index * map.run : 0) + at;
}

/* Number of the bytes [begin, begin + limit) of a piece of `bytes` bytes. */
static int64_t bytes_in_round(int64_t bytes, int64_t begin, int64_t limit) {
  return bytes <= begin ? 0 : tprt__min(bytes - begin, limit);
}

static bool is_wanted_by(const engine *run, int i) {
  const tprt__plan *plan = run->plan;
  if (plan->traits & TPRT__ROOT_SENDS)
    return plan->rank == plan->root;
  if (plan->traits & TPRT__ROOT_RECEIVES)
    return i == plan->root;
  return plan->kind != TPRT_OP_PERMUTE || note_of(run, i)->source == plan->rank;
}

/* Moves bytes [begin, begin + bytes) of every piece, packed if they are not contiguous. */
static tprt_status copy_round(engine *run, int64_t begin, int64_t bytes) {
  const tprt__plan *plan = run->plan;
  int n = plan->n_ranks, me = plan->rank;
  bool send_runs = in_runs(plan->send_map, plan->piece),
       recv_runs = in_runs(plan->recv_map, plan->piece);
  int64_t stride = 0;
  tprt_status status = send_runs && recv_runs ? TPRT_OK : reserve(run, 2 * n, bytes, &stride);
  if (status)
    return status;
  unsigned char *packed = run->wire->scratch, *received = packed ? packed + n * stride : NULL;
  for (int i = 0; i < n; i++) {
    if (i == me || !tprt__plan_wants(plan, i))
      continue;
    add_receive(run, i,
                recv_runs ? piece_at(plan->recv, plan->recv_map, i, begin)
                          : (char *)received + i * stride,
                bytes);
  }
  for (int i = 0; i < n; i++) {
    if (i == me || !is_wanted_by(run, i))
      continue;
    const void *from = piece_at(plan->send, plan->send_map, i, begin);
    if (!send_runs) {
      tprt__piece_copy(packed + i * stride, tprt__place_flat(), plan->send,
                       tprt__place_in(plan->send_map, i, begin), bytes, false);
      from = packed + i * stride;
    }
    add_send(run, i, from, bytes);
  }
  status = move(run);
  for (int i = 0; i < n && !status; i++) {
    tprt__place to = tprt__place_in(plan->recv_map, i, begin);
    if (!tprt__plan_wants(plan, i))
      continue;
    if (i == me)
      tprt__piece_copy(plan->recv, to, plan->send, tprt__place_in(plan->send_map, me, begin), bytes,
                       false);
    else if (!recv_runs)
      tprt__piece_copy(plan->recv, to, received + i * stride, tprt__place_flat(), bytes, false);
  }
  return status;
}

static tprt_status run_copies(engine *run) {
  const tprt__plan *plan = run->plan;
  bool direct = in_runs(plan->send_map, plan->piece) && in_runs(plan->recv_map, plan->piece);
  int64_t limit = direct ? plan->piece : PACKED_BYTES;
  tprt_status status = TPRT_OK;
  for (int64_t begin = 0; begin < plan->piece && !status; begin += limit)
    status = copy_round(run, begin, tprt__min(limit, plan->piece - begin));
  if (!status && plan->kind == TPRT_OP_PERMUTE && plan->source < 0 && plan->recv_bytes)
    memset(plan->recv, 0, (size_t)plan->recv_bytes);
  return status;
}

static tprt_status run_part_copies(engine *run) {
  const tprt__plan *plan = run->plan;
  tprt__part whole_send = {(char *)(uintptr_t)plan->send, plan->send_bytes},
             whole_recv = {plan->recv, plan->recv_bytes};
  for (int i = 0; i < plan->n_ranks; i++) {
    tprt__part to = plan->recvs ? plan->recvs[i] : whole_recv;
    if (i != plan->rank && tprt__plan_wants(plan, i))
      add_receive(run, i, to.at, to.bytes);
  }
  for (int i = 0; i < plan->n_ranks; i++) {
    tprt__part from = plan->sends ? plan->sends[i] : whole_send;
    if (i != plan->rank && is_wanted_by(run, i))
      add_send(run, i, from.at, from.bytes);
  }
  tprt_status status = move(run);
  tprt__part to = plan->recvs ? plan->recvs[plan->rank] : whole_recv;
  const char *from = plan->sends ? plan->sends[plan->rank].at : plan->send;
  if (!status && tprt__plan_wants(plan, plan->rank) && to.bytes && to.at != from)
    memcpy(to.at, from, (size_t)to.bytes);
  return status;
}

/* ---- reductions ---- */

/* Reduces the inputs of all ranks into `to`: this rank's at `own`, the others' in the scratch
 * memory. */
static void reduce(engine *run, const void *own, int64_t stride, void *to, int64_t bytes) {
  const tprt__plan *plan = run->plan;
  wire_transport *wire = run->wire;
  for (int i = 0; i < plan->n_ranks; i++)
    wire->sources[i] = i == plan->rank ? own : wire->scratch + i * stride;
  if (bytes)
    tprt__reduce(plan->type, plan->reduction, &to, 1, wire->sources, plan->n_ranks, wire->scales,
                 bytes / (int64_t)plan->type->size, 0);
}

/* Every receiving rank gets all inputs and reduces them. */
static tprt_status reduce_one_shot(engine *run) {
  const tprt__plan *plan = run->plan;
  int64_t stride;
  bool receives = tprt__plan_receives(plan);
  tprt_status status = reserve(run, plan->n_ranks, plan->piece, &stride);
  if (status)
    return status;
  for (int i = 0; i < plan->n_ranks && receives; i++) {
    if (i != plan->rank)
      add_receive(run, i, run->wire->scratch + i * stride, plan->piece);
  }
  for (int i = 0; i < plan->n_ranks; i++) {
    if (i != plan->rank && is_wanted_by(run, i))
      add_send(run, i, plan->send, plan->piece);
  }
  status = move(run);
  if (!status && receives)
    reduce(run, plan->send, stride, plan->recv, plan->piece);
  return status;
}

/* Each rank reduces a slice of the `bytes` bytes at `begin`, and sends the result to all
 * receivers. */
static tprt_status reduce_slices(engine *run, int64_t begin, int64_t bytes) {
  const tprt__plan *plan = run->plan;
  int n = plan->n_ranks, me = plan->rank;
  int64_t from = tprt__slice_begin(bytes, n, me), mine = tprt__slice_begin(bytes, n, me + 1) - from,
          stride;
  const char *send = (const char *)plan->send + begin;
  tprt_status status = reserve(run, n, mine, &stride);
  if (status)
    return status;
  for (int i = 0; i < n; i++) {
    if (i != me)
      add_receive(run, i, run->wire->scratch + i * stride, mine);
  }
  for (int i = 0; i < n; i++) {
    int64_t at = tprt__slice_begin(bytes, n, i);
    if (i != me)
      add_send(run, i, send + at, tprt__slice_begin(bytes, n, i + 1) - at);
  }
  status = move(run);
  if (status)
    return status;
  char *recv = plan->recv ? (char *)plan->recv + begin : NULL;
  char *result = recv ? recv + from : (char *)run->wire->scratch + me * stride;
  reduce(run, send + from, stride, result, mine);
  for (int i = 0; i < n && recv; i++) {
    int64_t at = tprt__slice_begin(bytes, n, i);
    if (i != me)
      add_receive(run, i, recv + at, tprt__slice_begin(bytes, n, i + 1) - at);
  }
  for (int i = 0; i < n; i++) {
    if (i != me && is_wanted_by(run, i))
      add_send(run, i, result, mine);
  }
  return move(run);
}

static tprt_status run_reduction(engine *run) {
  const tprt__plan *plan = run->plan;
  int64_t limit = plan->n_ranks * (int64_t)SLICE_BYTES;
  tprt_status status = TPRT_OK;
  if (plan->piece <= ONE_SHOT_BYTES)
    return reduce_one_shot(run);
  for (int64_t begin = 0; begin < plan->piece && !status; begin += limit)
    status = reduce_slices(run, begin, tprt__min(limit, plan->piece - begin));
  return status;
}

/* Reduces the bytes from `begin` on of every rank's piece. Pieces that are not contiguous are
 * packed into the scratch memory, after the received data. */
static tprt_status scatter_round(engine *run, int64_t begin) {
  const tprt__plan *plan = run->plan;
  int n = plan->n_ranks, me = plan->rank;
  bool runs = plan->sends || in_runs(plan->send_map, plan->piece);
  int64_t mine = bytes_in_round(plan->recv_bytes, begin, SLICE_BYTES), stride;
  tprt_status status = reserve(run, runs ? n : 2 * n, SLICE_BYTES, &stride);
  if (status)
    return status;
  const char *own = NULL;
  for (int i = 0; i < n; i++) {
    if (i != me)
      add_receive(run, i, run->wire->scratch + i * stride, mine);
  }
  for (int i = 0; i < n; i++) {
    int64_t bytes =
        bytes_in_round(plan->sends ? plan->sends[i].bytes : plan->piece, begin, SLICE_BYTES);
    const char *from = plan->sends ? plan->sends[i].at + (bytes ? begin : 0)
                                   : piece_at(plan->send, plan->send_map, i, begin);
    if (!runs) {
      unsigned char *packed = run->wire->scratch + (n + i) * stride;
      tprt__piece_copy(packed, tprt__place_flat(), plan->send,
                       tprt__place_in(plan->send_map, i, begin), bytes, false);
      from = (const char *)packed;
    }
    if (i == me)
      own = from;
    else
      add_send(run, i, from, bytes);
  }
  status = move(run);
  if (!status)
    reduce(run, own, stride, (char *)plan->recv + begin, mine);
  return status;
}

static tprt_status run_scatter(engine *run) {
  int64_t longest = run->plan->sends ? run->plan->longest : run->plan->piece;
  tprt_status status = TPRT_OK;
  for (int64_t begin = 0; begin < longest && !status; begin += SLICE_BYTES)
    status = scatter_round(run, begin);
  return status;
}

/* ---- all_to_all_v: finding the ranks that disagree ---- */

static tprt_status explain(engine *run) {
  const tprt__plan *plan = run->plan;
  wire_transport *wire = run->wire;
  int n = plan->n_ranks;
  int64_t words = 2 * n, stride;
  tprt_status status = reserve(run, n, words * (int64_t)sizeof words, &stride);
  if (status)
    return status;
  int64_t *mine = (int64_t *)(void *)(wire->scratch + plan->rank * stride);
  for (int i = 0; i < n; i++) {
    mine[2 * i] = plan->sends[i].bytes;
    mine[2 * i + 1] = plan->recvs[i].bytes;
    if (i != plan->rank)
      add_receive(run, i, wire->scratch + i * stride, words * (int64_t)sizeof words);
  }
  for (int i = 0; i < n; i++) {
    if (i != plan->rank)
      add_send(run, i, mine, words * (int64_t)sizeof words);
  }
  run->wait.comparing = true;
  status = move(run);
  for (int i = 0; i < n && !status; i++) {
    for (int k = 0; k < n && !status; k++) {
      int64_t sent, expected, size = (int64_t)plan->type->size;
      memcpy(&sent, wire->scratch + i * stride + (size_t)(2 * k) * sizeof sent, sizeof sent);
      memcpy(&expected, wire->scratch + k * stride + (size_t)(2 * i + 1) * sizeof sent,
             sizeof expected);
      if (sent != expected)
        status = tprt__fail(TPRT_MISMATCH,
                            "operation %u, all_to_all_v: rank %d sends %lld elements to rank %d, "
                            "which expects %lld",
                            run->wait.sequence, wire->peers[i].world_rank, (long long)(sent / size),
                            wire->peers[k].world_rank, (long long)(expected / size));
    }
  }
  return status ? status
                : tprt__fail(TPRT_INTERNAL, "operation %u: the counts changed while it ran",
                             run->wait.sequence);
}

static tprt_status check_parts(engine *run) {
  uint64_t sent = 0, expected = 0;
  for (int i = 0; i < run->plan->n_ranks; i++) {
    sent += note_of(run, i)->sent;
    expected += note_of(run, i)->expected;
  }
  return sent == expected ? TPRT_OK : explain(run);
}

static tprt_status run_kind(engine *run) {
  const tprt__plan *plan = run->plan;
  if (plan->reduction)
    return plan->traits & TPRT__SCATTERS ? run_scatter(run) : run_reduction(run);
  if (!plan->parts)
    return run_copies(run);
  tprt_status status = plan->kind == TPRT_OP_ALL_TO_ALL_V ? check_parts(run) : TPRT_OK;
  return status ? status : run_part_copies(run);
}

/* Sends only the notes: data movement needs the notes of the peers. */
void tprt__wire_begin_collective(tprt__transport *transport, const tprt__plan *plan,
                                 uint32_t sequence) {
  wire_transport *wire = (wire_transport *)transport;
  pthread_mutex_lock(&wire->world->lock);
  wire->begun = !tprt__wire_begin(wire);
  if (wire->begun)
    wire->begun_status = send_arrival(wire, plan, sequence);
  pthread_mutex_unlock(&wire->world->lock);
}

tprt_status tprt__wire_submit(tprt__transport *transport, const tprt__plan *plan, uint32_t sequence,
                              int64_t deadline) {
  wire_transport *wire = (wire_transport *)transport;
  size_t bytes = 2 * (size_t)plan->n_ranks * sizeof(wire_move);
  engine run = {.wire = wire,
                .plan = plan,
                .wait = {.kind = plan->kind, .sequence = sequence, .deadline = deadline},
                .moves = tprt__alloc(bytes)};
  if (!run.moves)
    return tprt__fail_memory(bytes);
  pthread_mutex_lock(&wire->world->lock);
  tprt_status status = tprt__wire_begin(wire);
  if (!status)
    status = arrive(&run);
  if (!status)
    status = run_kind(&run);
  if (!status)
    wire->finished = sequence;
  pthread_mutex_unlock(&wire->world->lock);
  tprt__free(run.moves);
  return status;
}
