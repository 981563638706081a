/* Collectives of ranks on several hosts, some of which have several ranks. Data crosses between two
 * hosts once, and spreads inside of each over its faster paths.
 *
 * Data is cut into one piece per rank, its owner. On every other host a piece has a relay: a rank
 * of that host, another one for each rank of the owner's host, so that all ranks of a host send and
 * receive their share. Reductions: the relays add the inputs of their hosts and send the sums to
 * the owner, which adds these. Gathers: the owner sends its piece to the relays, which pass it on.
 * An all-reduce is both. Between hosts, n hosts exchange (n - 1) V bytes for a gather or a
 * reduction of V bytes, the least possible. (Sums of 16-bit and 8-bit floats travel as f32, so that
 * results are rounded once.) */
#include "backends/message/message_engine.h"

#include <string.h>

enum {
  DIRECT_BYTES = 4 << 10, /* up to this size the fewest steps count */
  ROUND_BYTES = 4 << 20,  /* of all pieces, in one round */
  LINE = 64,
};

/* ---- which ranks are where ---- */

/* Numbers the hosts of the members, and the members of each host. Returns the number of hosts. */
static int number(const int *first, int n_members, const int *members, wire_hosts *hosts) {
  int n = 0;
  for (int i = 0; i < n_members; i++) {
    int same = 0; /* the first member on the host */
    while (first[members[same]] != first[members[i]])
      same++;
    hosts->host_of[i] = same == i ? n++ : hosts->host_of[same];
    for (int k = same; k < i; k++)
      hosts->index_of[i] += hosts->host_of[k] == hosts->host_of[i];
  }
  return n;
}

static void group(int n_members, wire_hosts *hosts) {
  int at = 0;
  for (int host = 0; host < hosts->n; host++) {
    hosts->begin[host] = at;
    for (int i = 0; i < n_members; i++) {
      if (hosts->host_of[i] == host)
        hosts->members[at++] = i;
    }
    int size = at - hosts->begin[host];
    hosts->n_most = size > hosts->n_most ? size : hosts->n_most;
  }
  hosts->begin[hosts->n] = at;
}

tprt_status tprt__wire_hosts_make(const wire_world *world, int n_members, const int *members,
                                  int index, wire_hosts *hosts) {
  size_t n = (size_t)n_members;
  wire_hosts made = {.n = 0};
  *hosts = made;
  if (!world->first)
    return TPRT_OK;
  made.host_of = tprt__alloc(n * sizeof *made.host_of);
  made.index_of = tprt__alloc(n * sizeof *made.index_of);
  made.members = tprt__alloc(n * sizeof *made.members);
  made.begin = tprt__alloc((n + 1) * sizeof *made.begin);
  made.pieces = tprt__alloc(n * sizeof *made.pieces);
  made.inputs = tprt__alloc(n * sizeof *made.inputs);
  made.sources = tprt__alloc(n * sizeof *made.sources);
  made.scales = tprt__alloc(n * sizeof *made.scales);
  if (!made.host_of || !made.index_of || !made.members || !made.begin || !made.pieces ||
      !made.inputs || !made.sources || !made.scales) {
    tprt__wire_hosts_free(&made);
    return tprt__fail_memory(n * sizeof *made.scales);
  }
  made.n = number(world->first, n_members, members, &made);
  if (made.n == 1 || made.n == n_members) {
    tprt__wire_hosts_free(&made);
    return TPRT_OK;
  }
  group(n_members, &made);
  made.mine = made.host_of[index];
  *hosts = made;
  return TPRT_OK;
}

void tprt__wire_hosts_free(wire_hosts *hosts) {
  void *const all[] = {hosts->host_of, hosts->index_of, hosts->members, hosts->begin,
                       hosts->pieces,  hosts->inputs,   hosts->sources, hosts->scales};
  for (size_t i = 0; i < sizeof all / sizeof *all; i++)
    tprt__free(all[i]);
  hosts->n = 0;
}

static int size_of(const wire_hosts *hosts, int host) {
  return hosts->begin[host + 1] - hosts->begin[host];
}

static int member(const wire_hosts *hosts, int host, int index) {
  return hosts->members[hosts->begin[host] + index];
}

/* Returns the rank of a host that handles the piece of rank `owner` there: itself on its own. */
static int relay(const wire_hosts *hosts, int host, int owner) {
  return member(hosts, host, hosts->index_of[owner] % size_of(hosts, host));
}

/* ---- reductions ---- */

/* Reduces the inputs of the ranks of a host, hosts->sources, into accumulators. */
static void reduce_host(wire_engine *run, int host, void *sums, int64_t bytes) {
  const tprt__plan *plan = run->plan;
  wire_hosts *hosts = &run->wire->hosts;
  int n = size_of(hosts, host);
  for (int j = 0; j < n && plan->reduction == TPRT_PREMUL_SUM; j++)
    hosts->scales[j] = run->wire->scales[member(hosts, host, j)];
  tprt__reduce_group(plan->type, plan->reduction, sums, hosts->sources, n, hosts->scales,
                     bytes / (int64_t)plan->type->size);
}

void tprt__wire_reduce_by_host(wire_engine *run, void *to, int64_t bytes) {
  enum { BLOCK_ELEMENTS = 256, MOST_BYTES = 16 /* of an accumulator */ };
  _Alignas(LINE) unsigned char sums[2][BLOCK_ELEMENTS * MOST_BYTES], next[sizeof sums[0]];
  const tprt__plan *plan = run->plan;
  wire_hosts *hosts = &run->wire->hosts;
  int64_t size = (int64_t)plan->type->size, count = bytes / size, n;
  tprt_reduction combined = plan->reduction == TPRT_AVG || plan->reduction == TPRT_PREMUL_SUM
                                ? TPRT_SUM
                                : plan->reduction;
  for (int64_t begin = 0; begin < count; begin += n) {
    n = tprt__min(BLOCK_ELEMENTS, count - begin);
    for (int host = 0; host < hosts->n; host++) {
      for (int j = 0; j < size_of(hosts, host); j++)
        hosts->sources[j] = (const char *)run->wire->sources[member(hosts, host, j)] + begin * size;
      reduce_host(run, host, host ? next : sums[0], n * size);
      if (host)
        plan->type->combine[combined](sums[host % 2], sums[(host - 1) % 2], next, (size_t)n);
    }
    void *sum = sums[(hosts->n - 1) % 2];
    char *at = (char *)to + begin * size;
    if (plan->reduction == TPRT_AVG)
      plan->type->divide(sum, plan->n_ranks, (size_t)n);
    if (plan->type->narrow)
      plan->type->narrow(at, sum, (size_t)n);
    else
      memcpy(at, sum, (size_t)(n * size));
  }
}

/* The scratch memory of a reduction. Strides are multiples of a cache line. */
typedef struct layout {
  int64_t input, sums; /* strides */
  int n_relayed;       /* number of pieces that this rank handles for its host */
  unsigned char *partial, *incoming, *packed;
} layout;

/* Inputs of the other ranks of the host for the i-th piece that this rank handles. */
static unsigned char *input_at(const wire_engine *run, const layout *in, int i, int local) {
  const wire_hosts *hosts = &run->wire->hosts;
  return run->wire->scratch + (i * size_of(hosts, hosts->mine) + local) * in->input;
}

/* `longest`: bytes of the longest piece of this round. */
static tprt_status lay_out(wire_engine *run, int64_t longest, bool packs, layout *made) {
  const tprt__plan *plan = run->plan;
  const wire_hosts *hosts = &run->wire->hosts;
  int64_t wide = longest / (int64_t)plan->type->size * (int64_t)plan->type->acc_size, stride;
  *made = (layout){.input = (int64_t)tprt__round_up((size_t)longest, LINE),
                   .sums = (int64_t)tprt__round_up((size_t)wide, LINE)};
  for (int r = 0; r < plan->n_ranks; r++)
    made->n_relayed += relay(hosts, hosts->mine, r) == plan->rank;
  int64_t inputs = made->n_relayed * size_of(hosts, hosts->mine) * made->input,
          partial = made->n_relayed * made->sums, incoming = hosts->n * made->sums;
  tprt_status status = tprt__wire_scratch(
      run, 1, inputs + partial + incoming + (packs ? plan->n_ranks * made->input : 0), &stride);
  made->partial = run->wire->scratch + inputs;
  made->incoming = made->partial + partial;
  made->packed = made->incoming + incoming;
  return status;
}

/* Every rank sends its inputs to the ranks of its host that handle the pieces. */
static tprt_status collect(wire_engine *run, const layout *memory) {
  const wire_hosts *hosts = &run->wire->hosts;
  const tprt__part *inputs = hosts->inputs;
  int me = run->plan->rank, n = run->plan->n_ranks, n_here = size_of(hosts, hosts->mine);
  for (int r = 0, i = 0; r < n; r++) {
    if (relay(hosts, hosts->mine, r) != me)
      continue;
    for (int j = 0; j < n_here; j++) {
      if (member(hosts, hosts->mine, j) != me)
        tprt__wire_add_receive(run, member(hosts, hosts->mine, j), input_at(run, memory, i, j),
                               inputs[r].bytes, r);
    }
    i++;
  }
  for (int r = 0; r < n; r++) {
    int to = relay(hosts, hosts->mine, r);
    if (to != me)
      tprt__wire_add_send(run, to, inputs[r].at, inputs[r].bytes, r);
  }
  return tprt__wire_run_moves(run);
}

/* Reduces the inputs of this host, and sends the sums to the owners of the pieces on other
 * hosts. */
static tprt_status exchange_sums(wire_engine *run, const layout *memory) {
  wire_hosts *hosts = &run->wire->hosts;
  const tprt__plan *plan = run->plan;
  const tprt__part *inputs = hosts->inputs;
  int me = plan->rank, n_here = size_of(hosts, hosts->mine);
  int64_t size = (int64_t)plan->type->size, wide = (int64_t)plan->type->acc_size;
  for (int host = 0; host < hosts->n; host++) {
    if (host != hosts->mine)
      tprt__wire_add_receive(run, relay(hosts, host, me), memory->incoming + host * memory->sums,
                             inputs[me].bytes / size * wide, me);
  }
  for (int r = 0, i = 0; r < plan->n_ranks; r++) {
    if (relay(hosts, hosts->mine, r) != me)
      continue;
    unsigned char *sums = r == me ? memory->incoming + hosts->mine * memory->sums
                                  : memory->partial + i * memory->sums;
    for (int j = 0; j < n_here; j++)
      hosts->sources[j] = member(hosts, hosts->mine, j) == me ? (const void *)inputs[r].at
                                                              : input_at(run, memory, i, j);
    reduce_host(run, hosts->mine, sums, inputs[r].bytes);
    if (hosts->host_of[r] != hosts->mine)
      tprt__wire_add_send(run, r, sums, inputs[r].bytes / size * wide, r);
    i++;
  }
  return tprt__wire_run_moves(run);
}

/* Reduces the pieces hosts->inputs of all ranks, and writes this rank's piece to `result`. */
static tprt_status reduce_to_owners(wire_engine *run, const layout *memory, void *result) {
  wire_hosts *hosts = &run->wire->hosts;
  const tprt__plan *plan = run->plan;
  tprt_status status = collect(run, memory);
  if (!status)
    status = exchange_sums(run, memory);
  for (int host = 0; host < hosts->n && !status; host++)
    hosts->sources[host] = memory->incoming + host * memory->sums;
  if (!status)
    tprt__reduce_groups(plan->type, plan->reduction, result, hosts->sources, hosts->n,
                        plan->n_ranks, hosts->inputs[plan->rank].bytes / (int64_t)plan->type->size);
  return status;
}

/* ---- gathers ---- */

/* Receives a piece from its owner, or from the relay of this host. */
static void receive_piece(wire_engine *run, int owner, int from, tprt__part piece) {
  tprt__wire_add_receive(run, from, piece.at, piece.bytes, owner);
}

/* Sends a piece to a rank, when the move `after` is done. */
static void send_piece(wire_engine *run, int owner, int to, tprt__part piece, int after) {
  int move = tprt__wire_add_send(run, to, piece.at, piece.bytes, owner);
  if (move)
    run->moves[move - 1].after = after;
}

static void send_to_host(wire_engine *run, int owner, tprt__part piece, int after) {
  const wire_hosts *hosts = &run->wire->hosts;
  for (int j = 0; j < size_of(hosts, hosts->mine); j++) {
    int to = member(hosts, hosts->mine, j);
    if (to != run->plan->rank && to != owner)
      send_piece(run, owner, to, piece, after);
  }
}

/* Gives every rank the pieces hosts->pieces of all ranks; this rank has its own. */
static tprt_status spread(wire_engine *run) {
  const wire_hosts *hosts = &run->wire->hosts;
  const tprt__part *pieces = hosts->pieces;
  int me = run->plan->rank, n = run->plan->n_ranks;
  for (int r = 0; r < n; r++) {
    int here = relay(hosts, hosts->mine, r);
    if (r != me)
      receive_piece(run, r, here == me ? r : here, pieces[r]);
  }
  int n_receives = run->n_moves;
  send_to_host(run, me, pieces[me], 0);
  for (int host = 0; host < hosts->n; host++) {
    if (host != hosts->mine)
      send_piece(run, me, relay(hosts, host, me), pieces[me], 0);
  }
  for (int i = 0; i < n_receives; i++) {
    int r = (int)(run->moves[i].tag - run->tag);
    if (hosts->host_of[r] != hosts->mine && relay(hosts, hosts->mine, r) == me)
      send_to_host(run, r, pieces[r], i + 1);
  }
  return tprt__wire_run_moves(run);
}

/* ---- operations ---- */

/* Returns the bytes of one piece in a round. */
static int64_t round_of(const tprt__plan *plan) {
  int64_t bytes = ROUND_BYTES / plan->n_ranks / LINE * LINE;
  return bytes > LINE ? bytes : LINE;
}

/* all_reduce and reduce: every rank owns a slice. */
static tprt_status reduce_round(wire_engine *run, int64_t begin, int64_t bytes) {
  const tprt__plan *plan = run->plan;
  wire_hosts *hosts = &run->wire->hosts;
  int n = plan->n_ranks, me = plan->rank;
  layout memory;
  char *recv = plan->recv ? (char *)plan->recv + begin : NULL;
  tprt_status status = lay_out(run, tprt__slice_begin(bytes, n, 1), false, &memory);
  if (status)
    return status;
  for (int r = 0; r < n; r++) {
    int64_t at = tprt__slice_begin(bytes, n, r), end = tprt__slice_begin(bytes, n, r + 1);
    hosts->inputs[r] = (tprt__part){(char *)(uintptr_t)plan->send + begin + at, end - at};
    hosts->pieces[r] = (tprt__part){recv ? recv + at : NULL, end - at};
  }
  tprt__part *own = &hosts->pieces[me];
  if (!recv) /* the sums in the partial results have been sent by then */
    own->at = (char *)memory.partial;
  status = reduce_to_owners(run, &memory, own->at);
  if (status || plan->kind == TPRT_OP_ALL_REDUCE)
    return status ? status : spread(run);
  for (int r = 0; r < n && recv; r++) {
    if (r != me)
      receive_piece(run, r, r, hosts->pieces[r]);
  }
  if (!recv)
    send_piece(run, me, plan->root, *own, 0);
  return tprt__wire_run_moves(run);
}

static tprt_status scatter_round(wire_engine *run, int64_t begin, int64_t bytes) {
  const tprt__plan *plan = run->plan;
  wire_hosts *hosts = &run->wire->hosts;
  bool packs = !tprt__wire_in_runs(plan->send_map, plan->piece);
  layout memory;
  tprt_status status = lay_out(run, bytes, packs, &memory);
  if (status)
    return status;
  for (int r = 0; r < plan->n_ranks; r++) {
    char *from = packs ? (char *)memory.packed + r * memory.input
                       : tprt__wire_piece_at(plan->send, plan->send_map, r, begin);
    if (packs)
      tprt__piece_copy(from, tprt__place_flat(), plan->send,
                       tprt__place_in(plan->send_map, r, begin), bytes, false);
    hosts->inputs[r] = (tprt__part){from, bytes};
  }
  return reduce_to_owners(run, &memory, (char *)plan->recv + begin);
}

static tprt_status gather_round(wire_engine *run, int64_t begin, int64_t bytes) {
  const tprt__plan *plan = run->plan;
  wire_hosts *hosts = &run->wire->hosts;
  bool packs = !tprt__wire_in_runs(plan->recv_map, plan->piece);
  int n = plan->n_ranks, me = plan->rank;
  int64_t stride = 0;
  tprt_status status = packs ? tprt__wire_scratch(run, n, bytes, &stride) : TPRT_OK;
  if (status)
    return status;
  for (int r = 0; r < n; r++)
    hosts->pieces[r] =
        (tprt__part){packs ? (char *)run->wire->scratch + r * stride
                           : tprt__wire_piece_at(plan->recv, plan->recv_map, r, begin),
                     bytes};
  tprt__piece_copy(hosts->pieces[me].at, tprt__place_flat(), plan->send,
                   tprt__place_in(plan->send_map, me, begin), bytes, false);
  status = spread(run);
  for (int r = 0; r < n && packs && !status; r++)
    tprt__piece_copy(plan->recv, tprt__place_in(plan->recv_map, r, begin), hosts->pieces[r].at,
                     tprt__place_flat(), bytes, false);
  return status;
}

/* The bytes of a broadcast are cut into one piece per rank that is not on the root's host. The root
 * sends each piece to its owner, which gives it to the other hosts. */
static tprt_status broadcast_round(wire_engine *run, int64_t begin, int64_t bytes) {
  const tprt__plan *plan = run->plan;
  const wire_hosts *hosts = &run->wire->hosts;
  int n = plan->n_ranks, me = plan->rank, home = hosts->host_of[plan->root];
  int n_owners = n - size_of(hosts, home);
  char *at = (me == plan->root ? (char *)(uintptr_t)plan->send : (char *)plan->recv) + begin;
  tprt__part whole = {at, bytes};
  if (hosts->mine == home && me != plan->root) {
    receive_piece(run, plan->root, plan->root, whole);
    return tprt__wire_run_moves(run);
  }
  for (int r = 0, i = 0; r < n; r++) {
    hosts->pieces[r] = (tprt__part){at, 0};
    if (hosts->host_of[r] == home)
      continue;
    int64_t from = tprt__slice_begin(bytes, n_owners, i),
            to = tprt__slice_begin(bytes, n_owners, ++i);
    hosts->pieces[r] = (tprt__part){at + from, to - from};
    int here = relay(hosts, hosts->mine, r);
    if (me != plan->root)
      receive_piece(run, r, r == me ? plan->root : here == me ? r : here, hosts->pieces[r]);
  }
  int n_receives = run->n_moves;
  if (me == plan->root)
    send_to_host(run, me, whole, 0);
  for (int r = 0; r < n && me == plan->root; r++)
    send_piece(run, r, r, hosts->pieces[r], 0);
  for (int i = 0; i < n_receives; i++) {
    int r = (int)(run->moves[i].tag - run->tag);
    if (relay(hosts, hosts->mine, r) == me)
      send_to_host(run, r, hosts->pieces[r], i + 1);
    for (int host = 0; host < hosts->n && r == me; host++) {
      if (host != hosts->mine && host != home)
        send_piece(run, r, relay(hosts, host, r), hosts->pieces[r], i + 1);
    }
  }
  return tprt__wire_run_moves(run);
}

/* ---- selection ---- */

typedef tprt_status round_fn(wire_engine *run, int64_t begin, int64_t bytes);

/* The operations with an algorithm by host; `is_cut`: a round has bytes of the whole tensor, not of
 * one piece of it. */
static const struct {
  round_fn *round;
  bool is_cut;
} operations[TPRT_N_OP_KINDS] = {
    [TPRT_OP_ALL_REDUCE] = {reduce_round, true},       [TPRT_OP_REDUCE] = {reduce_round, true},
    [TPRT_OP_REDUCE_SCATTER] = {scatter_round, false}, [TPRT_OP_ALL_GATHER] = {gather_round, false},
    [TPRT_OP_BROADCAST] = {broadcast_round, true},
};

bool tprt__wire_has_host_algorithm(const wire_transport *wire, const tprt__plan *plan) {
  return wire->hosts.n && operations[plan->kind].round && plan->piece > DIRECT_BYTES &&
         (!plan->reduction || tprt__wire_adds_by_host(wire, plan));
}

size_t tprt__wire_host_moves(const wire_transport *wire) {
  /* every piece is received once, and sent to every rank of the host and to every other host */
  return (size_t)wire->base.n_ranks * (size_t)(wire->hosts.n_most + 1) + (size_t)wire->hosts.n;
}

tprt_status tprt__wire_run_by_host(wire_engine *run) {
  const tprt__plan *plan = run->plan;
  bool is_cut = operations[plan->kind].is_cut;
  int64_t limit = round_of(plan) * (is_cut ? plan->n_ranks : 1);
  tprt_status status = TPRT_OK;
  for (int64_t begin = 0; begin < plan->piece && !status; begin += limit)
    status = operations[plan->kind].round(run, begin, tprt__min(limit, plan->piece - begin));
  bool is_root = plan->kind == TPRT_OP_BROADCAST && plan->rank == plan->root;
  if (!status && is_root && plan->recv != plan->send)
    memcpy(plan->recv, plan->send, (size_t)plan->piece);
  return status;
}
