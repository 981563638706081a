/* Collectives built from messages: arrival, then the data movement of each kind. */
#include "backends/message/message_engine.h"

#include <string.h>

enum {
  /* up to this size every rank reduces everything, which saves a message */
  ONE_SHOT_BYTES = 4 << 10,
  SLICE_BYTES = 1 << 20,  /* of one rank, in one round of a longer reduction */
  PACKED_BYTES = 1 << 20, /* of a piece that is not contiguous, in one round */
};

/* ---- arrival ---- */

static bool has_all_arrived(const wire_transport *wire, int i) {
  return (int32_t)(wire->peers[i].n_arrived - wire->step) >= 0; /* steps wrap around */
}

static tprt_status await_notes(wire_engine *run) {
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
static tprt_status compare(const wire_engine *run, const wire_note *mine) {
  const wire_transport *wire = run->wire;
  for (int i = 0; i < run->plan->n_ranks; i++) {
    const wire_note *other = tprt__wire_note_of(run, i);
    bool is_same = memcmp(other->signature, mine->signature, sizeof mine->signature) == 0 &&
                   other->sequence == mine->sequence;
    if (is_same && other->by_host == mine->by_host)
      continue;
    if (is_same)
      return tprt__fail(TPRT_MISMATCH,
                        "operation %u has hint deterministic on rank %d, but not on rank %d",
                        mine->sequence, wire->peers[mine->by_host ? i : run->plan->rank].world_rank,
                        wire->peers[mine->by_host ? run->plan->rank : i].world_rank);
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
  bool in_parts = tprt__wire_has_host_algorithm(wire, plan);
  wire_note mine = {.kind = WIRE_ARRIVES,
                    .tag = tprt__wire_tags(wire->world, in_parts ? plan->n_ranks : 1),
                    .sequence = sequence,
                    .source = plan->source,
                    .scale = plan->scale,
                    .sent = plan->sent,
                    .expected = plan->expected,
                    .by_host = tprt__wire_adds_by_host(wire, plan)};
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

static tprt_status arrive(wire_engine *run) {
  wire_transport *wire = run->wire;
  const tprt__plan *plan = run->plan;
  bool begun = wire->begun;
  wire->begun = false;
  tprt_status status = begun ? TPRT_OK : send_arrival(wire, plan, run->wait.sequence);
  if (begun && wire->begun_status)
    status = tprt__fail(wire->begun_status,
                        "operation %u: the other ranks could not be notified when it was started",
                        run->wait.sequence);
  run->tag = tprt__wire_note_of(run, plan->rank)->tag;
  run->by_host = tprt__wire_note_of(run, plan->rank)->by_host;
  if (!status)
    status = await_notes(run);
  if (!status)
    status = compare(run, tprt__wire_note_of(run, plan->rank));
  for (int i = 0; i < plan->n_ranks && !status && plan->reduction == TPRT_PREMUL_SUM; i++)
    wire->scales[i] = tprt__wire_note_of(run, i)->scale;
  return status;
}

/* ---- data ---- */

tprt_status tprt__wire_scratch(wire_engine *run, int n, int64_t bytes, int64_t *stride) {
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

int tprt__wire_add_send(wire_engine *run, int peer, const void *at, int64_t bytes, int part) {
  if (!bytes)
    return 0;
  run->moves[run->n_moves] = (wire_move){.peer = peer,
                                         .tag = tprt__wire_note_of(run, peer)->tag + (uint32_t)part,
                                         .sends = true,
                                         .at = (char *)(uintptr_t)at,
                                         .bytes = bytes};
  return ++run->n_moves;
}

void tprt__wire_add_receive(wire_engine *run, int peer, void *at, int64_t bytes, int part) {
  if (bytes)
    run->moves[run->n_moves++] =
        (wire_move){.peer = peer, .tag = run->tag + (uint32_t)part, .at = at, .bytes = bytes};
}

tprt_status tprt__wire_run_moves(wire_engine *run) {
  tprt_status status = tprt__wire_move(run->wire, run->moves, run->n_moves, &run->wait);
  run->n_moves = 0;
  return status;
}

/* Number of the bytes [begin, begin + limit) of a piece of `bytes` bytes. */
static int64_t bytes_in_round(int64_t bytes, int64_t begin, int64_t limit) {
  return bytes <= begin ? 0 : tprt__min(bytes - begin, limit);
}

static bool is_wanted_by(const wire_engine *run, int i) {
  const tprt__plan *plan = run->plan;
  if (plan->traits & TPRT__ROOT_SENDS)
    return plan->rank == plan->root;
  if (plan->traits & TPRT__ROOT_RECEIVES)
    return i == plan->root;
  return plan->kind != TPRT_OP_PERMUTE || tprt__wire_note_of(run, i)->source == plan->rank;
}

/* Moves bytes [begin, begin + bytes) of every piece, packed if they are not contiguous. */
static tprt_status copy_round(wire_engine *run, int64_t begin, int64_t bytes) {
  const tprt__plan *plan = run->plan;
  int n = plan->n_ranks, me = plan->rank;
  bool send_runs = tprt__wire_in_runs(plan->send_map, plan->piece),
       recv_runs = tprt__wire_in_runs(plan->recv_map, plan->piece);
  int64_t stride = 0;
  tprt_status status =
      send_runs && recv_runs ? TPRT_OK : tprt__wire_scratch(run, 2 * n, bytes, &stride);
  if (status)
    return status;
  unsigned char *packed = run->wire->scratch, *received = packed ? packed + n * stride : NULL;
  for (int i = 0; i < n; i++) {
    if (i == me || !tprt__plan_wants(plan, i))
      continue;
    tprt__wire_add_receive(run, i,
                           recv_runs ? tprt__wire_piece_at(plan->recv, plan->recv_map, i, begin)
                                     : (char *)received + i * stride,
                           bytes, 0);
  }
  for (int i = 0; i < n; i++) {
    if (i == me || !is_wanted_by(run, i))
      continue;
    const void *from = tprt__wire_piece_at(plan->send, plan->send_map, i, begin);
    if (!send_runs) {
      tprt__piece_copy(packed + i * stride, tprt__place_flat(), plan->send,
                       tprt__place_in(plan->send_map, i, begin), bytes, false);
      from = packed + i * stride;
    }
    tprt__wire_add_send(run, i, from, bytes, 0);
  }
  status = tprt__wire_run_moves(run);
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

static tprt_status run_copies(wire_engine *run) {
  const tprt__plan *plan = run->plan;
  bool direct = tprt__wire_in_runs(plan->send_map, plan->piece) &&
                tprt__wire_in_runs(plan->recv_map, plan->piece);
  int64_t limit = direct ? plan->piece : PACKED_BYTES;
  tprt_status status = TPRT_OK;
  for (int64_t begin = 0; begin < plan->piece && !status; begin += limit)
    status = copy_round(run, begin, tprt__min(limit, plan->piece - begin));
  if (!status && plan->kind == TPRT_OP_PERMUTE && plan->source < 0 && plan->recv_bytes)
    memset(plan->recv, 0, (size_t)plan->recv_bytes);
  return status;
}

static tprt_status run_part_copies(wire_engine *run) {
  const tprt__plan *plan = run->plan;
  tprt__part whole_send = {(char *)(uintptr_t)plan->send, plan->send_bytes},
             whole_recv = {plan->recv, plan->recv_bytes};
  for (int i = 0; i < plan->n_ranks; i++) {
    tprt__part to = plan->recvs ? plan->recvs[i] : whole_recv;
    if (i != plan->rank && tprt__plan_wants(plan, i))
      tprt__wire_add_receive(run, i, to.at, to.bytes, 0);
  }
  for (int i = 0; i < plan->n_ranks; i++) {
    tprt__part from = plan->sends ? plan->sends[i] : whole_send;
    if (i != plan->rank && is_wanted_by(run, i))
      tprt__wire_add_send(run, i, from.at, from.bytes, 0);
  }
  tprt_status status = tprt__wire_run_moves(run);
  tprt__part to = plan->recvs ? plan->recvs[plan->rank] : whole_recv;
  const char *from = plan->sends ? plan->sends[plan->rank].at : plan->send;
  if (!status && tprt__plan_wants(plan, plan->rank) && to.bytes && to.at != from)
    memcpy(to.at, from, (size_t)to.bytes);
  return status;
}

/* ---- reductions ---- */

/* Reduces the inputs of all ranks into `to`: this rank's at `own`, the others' in the scratch
 * memory. */
static void reduce(wire_engine *run, const void *own, int64_t stride, void *to, int64_t bytes) {
  const tprt__plan *plan = run->plan;
  wire_transport *wire = run->wire;
  for (int i = 0; i < plan->n_ranks; i++)
    wire->sources[i] = i == plan->rank ? own : wire->scratch + i * stride;
  if (bytes && run->by_host)
    tprt__wire_reduce_by_host(run, to, bytes);
  else if (bytes)
    tprt__reduce(plan->type, plan->reduction, &to, 1, wire->sources, plan->n_ranks, wire->scales,
                 bytes / (int64_t)plan->type->size, 0);
}

/* Every receiving rank gets all inputs and reduces them. */
static tprt_status reduce_one_shot(wire_engine *run) {
  const tprt__plan *plan = run->plan;
  int64_t stride;
  bool receives = tprt__plan_receives(plan);
  tprt_status status = tprt__wire_scratch(run, plan->n_ranks, plan->piece, &stride);
  if (status)
    return status;
  for (int i = 0; i < plan->n_ranks && receives; i++) {
    if (i != plan->rank)
      tprt__wire_add_receive(run, i, run->wire->scratch + i * stride, plan->piece, 0);
  }
  for (int i = 0; i < plan->n_ranks; i++) {
    if (i != plan->rank && is_wanted_by(run, i))
      tprt__wire_add_send(run, i, plan->send, plan->piece, 0);
  }
  status = tprt__wire_run_moves(run);
  if (!status && receives)
    reduce(run, plan->send, stride, plan->recv, plan->piece);
  return status;
}

/* Each rank reduces a slice of the `bytes` bytes at `begin`, and sends the result to all
 * receivers. */
static tprt_status reduce_slices(wire_engine *run, int64_t begin, int64_t bytes) {
  const tprt__plan *plan = run->plan;
  int n = plan->n_ranks, me = plan->rank;
  int64_t from = tprt__slice_begin(bytes, n, me), mine = tprt__slice_begin(bytes, n, me + 1) - from,
          stride;
  const char *send = (const char *)plan->send + begin;
  tprt_status status = tprt__wire_scratch(run, n, mine, &stride);
  if (status)
    return status;
  for (int i = 0; i < n; i++) {
    if (i != me)
      tprt__wire_add_receive(run, i, run->wire->scratch + i * stride, mine, 0);
  }
  for (int i = 0; i < n; i++) {
    int64_t at = tprt__slice_begin(bytes, n, i);
    if (i != me)
      tprt__wire_add_send(run, i, send + at, tprt__slice_begin(bytes, n, i + 1) - at, 0);
  }
  status = tprt__wire_run_moves(run);
  if (status)
    return status;
  char *recv = plan->recv ? (char *)plan->recv + begin : NULL;
  char *result = recv ? recv + from : (char *)run->wire->scratch + me * stride;
  reduce(run, send + from, stride, result, mine);
  for (int i = 0; i < n && recv; i++) {
    int64_t at = tprt__slice_begin(bytes, n, i);
    if (i != me)
      tprt__wire_add_receive(run, i, recv + at, tprt__slice_begin(bytes, n, i + 1) - at, 0);
  }
  for (int i = 0; i < n; i++) {
    if (i != me && is_wanted_by(run, i))
      tprt__wire_add_send(run, i, result, mine, 0);
  }
  return tprt__wire_run_moves(run);
}

static tprt_status run_reduction(wire_engine *run) {
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
static tprt_status scatter_round(wire_engine *run, int64_t begin) {
  const tprt__plan *plan = run->plan;
  int n = plan->n_ranks, me = plan->rank;
  bool runs = plan->sends || tprt__wire_in_runs(plan->send_map, plan->piece);
  int64_t mine = bytes_in_round(plan->recv_bytes, begin, SLICE_BYTES), stride;
  tprt_status status = tprt__wire_scratch(run, runs ? n : 2 * n, SLICE_BYTES, &stride);
  if (status)
    return status;
  const char *own = NULL;
  for (int i = 0; i < n; i++) {
    if (i != me)
      tprt__wire_add_receive(run, i, run->wire->scratch + i * stride, mine, 0);
  }
  for (int i = 0; i < n; i++) {
    int64_t bytes =
        bytes_in_round(plan->sends ? plan->sends[i].bytes : plan->piece, begin, SLICE_BYTES);
    const char *from = plan->sends ? plan->sends[i].at + (bytes ? begin : 0)
                                   : tprt__wire_piece_at(plan->send, plan->send_map, i, begin);
    if (!runs) {
      unsigned char *packed = run->wire->scratch + (n + i) * stride;
      tprt__piece_copy(packed, tprt__place_flat(), plan->send,
                       tprt__place_in(plan->send_map, i, begin), bytes, false);
      from = (const char *)packed;
    }
    if (i == me)
      own = from;
    else
      tprt__wire_add_send(run, i, from, bytes, 0);
  }
  status = tprt__wire_run_moves(run);
  if (!status)
    reduce(run, own, stride, (char *)plan->recv + begin, mine);
  return status;
}

static tprt_status run_scatter(wire_engine *run) {
  int64_t longest = run->plan->sends ? run->plan->longest : run->plan->piece;
  tprt_status status = TPRT_OK;
  for (int64_t begin = 0; begin < longest && !status; begin += SLICE_BYTES)
    status = scatter_round(run, begin);
  return status;
}

/* ---- all_to_all_v: finding the ranks that disagree ---- */

static tprt_status explain(wire_engine *run) {
  const tprt__plan *plan = run->plan;
  wire_transport *wire = run->wire;
  int n = plan->n_ranks;
  int64_t words = 2 * n, stride;
  tprt_status status = tprt__wire_scratch(run, n, words * (int64_t)sizeof words, &stride);
  if (status)
    return status;
  int64_t *mine = (int64_t *)(void *)(wire->scratch + plan->rank * stride);
  for (int i = 0; i < n; i++) {
    mine[2 * i] = plan->sends[i].bytes;
    mine[2 * i + 1] = plan->recvs[i].bytes;
    if (i != plan->rank)
      tprt__wire_add_receive(run, i, wire->scratch + i * stride, words * (int64_t)sizeof words, 0);
  }
  for (int i = 0; i < n; i++) {
    if (i != plan->rank)
      tprt__wire_add_send(run, i, mine, words * (int64_t)sizeof words, 0);
  }
  run->wait.comparing = true;
  status = tprt__wire_run_moves(run);
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

static tprt_status check_parts(wire_engine *run) {
  uint64_t sent = 0, expected = 0;
  for (int i = 0; i < run->plan->n_ranks; i++) {
    sent += tprt__wire_note_of(run, i)->sent;
    expected += tprt__wire_note_of(run, i)->expected;
  }
  return sent == expected ? TPRT_OK : explain(run);
}

static tprt_status run_kind(wire_engine *run) {
  const tprt__plan *plan = run->plan;
  if (tprt__wire_has_host_algorithm(run->wire, plan))
    return tprt__wire_run_by_host(run);
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
  size_t n_moves = tprt__wire_has_host_algorithm(wire, plan) ? tprt__wire_host_moves(wire)
                                                             : 2 * (size_t)plan->n_ranks;
  size_t bytes = n_moves * sizeof(wire_move);
  wire_engine run = {.wire = wire,
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
