/* Validation and geometry of operations. The table below lists what each kind requires. */
#include "comm/op.h"

#include "base/hints.h"

#include <limits.h>
#include <stdio.h>
#include <string.h>

typedef struct kind_info {
  const char *name;
  uint32_t traits;
} kind_info;

enum {
  DATA = TPRT__DATA,
  REDUCES = TPRT__DATA | TPRT__REDUCES,
  IN_PLACE = TPRT__IN_PLACE,
  ALIASES = TPRT__ALIASES,
  DIM = TPRT__DIM,
  SPLIT = TPRT__SPLIT,
  PAIRS = TPRT__PAIRS,
  SCATTERS = TPRT__SCATTERS,
  FROM_ROOT = TPRT__ROOT | TPRT__ROOT_SENDS,
  TO_ROOT = TPRT__ROOT | TPRT__ROOT_RECEIVES,
  SENDS = TPRT__SCATTERS | TPRT__SEND_PIECES,
  RECEIVES = TPRT__RECV_PIECES,
};

static const kind_info kinds[TPRT_N_OP_KINDS] = {
    [TPRT_OP_ALL_REDUCE] = {"all_reduce", REDUCES | IN_PLACE},
    [TPRT_OP_ALL_GATHER] = {"all_gather", DATA | ALIASES | DIM},
    [TPRT_OP_REDUCE_SCATTER] = {"reduce_scatter", REDUCES | ALIASES | DIM | SCATTERS},
    [TPRT_OP_ALL_TO_ALL] = {"all_to_all", DATA | DIM | SPLIT | SCATTERS},
    [TPRT_OP_PERMUTE] = {"permute", DATA | PAIRS},
    [TPRT_OP_BROADCAST] = {"broadcast", DATA | IN_PLACE | FROM_ROOT},
    [TPRT_OP_BARRIER] = {"barrier", 0},
    [TPRT_OP_REDUCE] = {"reduce", REDUCES | IN_PLACE | TO_ROOT},
    [TPRT_OP_GATHER] = {"gather", DATA | ALIASES | DIM | TO_ROOT},
    [TPRT_OP_SCATTER] = {"scatter", DATA | ALIASES | DIM | SCATTERS | FROM_ROOT},
    [TPRT_OP_ALL_GATHER_V] = {"all_gather_v", DATA | ALIASES | RECEIVES},
    [TPRT_OP_REDUCE_SCATTER_V] = {"reduce_scatter_v", REDUCES | ALIASES | SENDS},
    [TPRT_OP_ALL_TO_ALL_V] = {"all_to_all_v", DATA | SENDS | RECEIVES},
    [TPRT_OP_GATHER_V] = {"gather_v", DATA | ALIASES | RECEIVES | TO_ROOT},
    [TPRT_OP_SCATTER_V] = {"scatter_v", DATA | ALIASES | SENDS | FROM_ROOT},
    [TPRT_OP_SEND] = {"send", DATA | TPRT__PEER | TPRT__NO_RECV},
    [TPRT_OP_RECV] = {"recv", DATA | TPRT__PEER | TPRT__NO_SEND},
};

static bool has(const kind_info *info, uint32_t trait) { return (info->traits & trait) != 0; }
static bool in_pieces(const kind_info *info) {
  return has(info, TPRT__SEND_PIECES | TPRT__RECV_PIECES);
}

static const kind_info *kind_get(tprt_op_kind kind) {
  return (size_t)kind < TPRT_N_OP_KINDS && kinds[kind].name ? &kinds[kind] : NULL;
}

const char *tprt_op_kind_name(tprt_op_kind kind) {
  const kind_info *info = kind_get(kind);
  return info ? info->name : NULL;
}

/* Product of a range of dimensions times `unit`; false when it leaves int64. */
static bool product(const tprt_op *op, int begin, int end, int64_t unit, int64_t *result) {
  int64_t value = unit;
  for (int i = begin; i < end; i++) {
    if (__builtin_mul_overflow(value, op->shape[i], &value))
      return false;
  }
  *result = value;
  return true;
}

/* Checks the shape and computes the number of elements of the send tensor. */
static tprt_status check_shape(const tprt_op *op, const kind_info *info, int64_t n_ranks,
                               int64_t *elements) {
  *elements = 0;
  if (!has(info, DATA))
    return TPRT_OK;
  if (op->n_dims < 0 || op->n_dims > TPRT_MAX_RANK) {
    return tprt__fail(TPRT_INVALID_ARGUMENT, "%s: n_dims is %d; it must be from 0 to %d",
                      info->name, op->n_dims, TPRT_MAX_RANK);
  }
  for (int i = 0; i < op->n_dims; i++) {
    if (op->shape[i] < 0) {
      return tprt__fail(TPRT_INVALID_ARGUMENT, "%s: shape[%d] is %lld", info->name, i,
                        (long long)op->shape[i]);
    }
  }
  /* If a dimension is zero, the product may fit only because of the order of the factors. The limit
   * exceeds any memory, and leaves headroom for the size of an element. */
  if (!product(op, 0, op->n_dims, 1, elements) || *elements > (INT64_C(1) << 50) / n_ranks) {
    return tprt__fail(TPRT_INVALID_ARGUMENT,
                      "%s: the tensors of %lld ranks have more than 2^50 elements", info->name,
                      (long long)n_ranks);
  }
  return TPRT_OK;
}

static tprt_status check_dims(const tprt_op *op, const kind_info *info, int n_ranks) {
  if (has(info, DIM) && (op->dim < 0 || op->dim >= op->n_dims)) {
    return tprt__fail(TPRT_INVALID_ARGUMENT, "%s: dim is %d; the tensor has %d dimensions",
                      info->name, op->dim, op->n_dims);
  }
  if (has(info, SPLIT) && (op->split_dim < 0 || op->split_dim >= op->n_dims)) {
    return tprt__fail(TPRT_INVALID_ARGUMENT, "%s: split_dim is %d; the tensor has %d dimensions",
                      info->name, op->split_dim, op->n_dims);
  }
  int cut = has(info, SPLIT) ? op->split_dim : has(info, DIM) && has(info, SCATTERS) ? op->dim : -1;
  if (cut >= 0 && op->shape[cut] % n_ranks) {
    return tprt__fail(TPRT_INVALID_ARGUMENT,
                      "%s: %d ranks do not divide dimension %d (size %lld); pad it", info->name,
                      n_ranks, cut, (long long)op->shape[cut]);
  }
  if (has(info, TPRT__ROOT) && (op->root < 0 || op->root >= n_ranks)) {
    return tprt__fail(TPRT_INVALID_ARGUMENT, "%s: root is %d; there are %d ranks", info->name,
                      op->root, n_ranks);
  }
  return TPRT_OK;
}

static tprt_status check_peer(const tprt_op *op, const kind_info *info, int n_ranks) {
  if (!has(info, TPRT__PEER) || (op->peer >= 0 && op->peer < n_ranks && op->tag >= 0))
    return TPRT_OK;
  if (op->tag < 0)
    return tprt__fail(TPRT_INVALID_ARGUMENT, "%s: tag is %d; it must be >= 0", info->name, op->tag);
  return tprt__fail(TPRT_INVALID_ARGUMENT, "%s: peer is %d; there are %d ranks", info->name,
                    op->peer, n_ranks);
}

static tprt_status check_type(const tprt_op *op, const kind_info *info,
                              const tprt__dtype_info *type) {
  if (has(info, DATA) && !type)
    return tprt__fail(TPRT_INVALID_ARGUMENT, "%s: %d is not a dtype", info->name, (int)op->dtype);
  if (!has(info, TPRT__REDUCES)) {
    if (op->reduction == TPRT_NO_REDUCTION)
      return TPRT_OK;
    return tprt__fail(TPRT_INVALID_ARGUMENT,
                      "%s does not reduce; set reduction to TPRT_NO_REDUCTION", info->name);
  }
  if ((size_t)op->reduction >= TPRT_N_REDUCTIONS || op->reduction == TPRT_NO_REDUCTION) {
    return tprt__fail(TPRT_INVALID_ARGUMENT, "%s: %d is not a reduction", info->name,
                      (int)op->reduction);
  }
  if (!type->combine[op->reduction]) {
    return tprt__fail(TPRT_UNSUPPORTED, "%s: %s is not defined for %s", info->name,
                      tprt_reduction_name(op->reduction), type->name);
  }
  if (op->reduction == TPRT_PREMUL_SUM && !op->scalar)
    return tprt__fail(TPRT_INVALID_ARGUMENT, "%s: premul_sum needs a scalar", info->name);
  return TPRT_OK;
}

static tprt_status check_pairs(const tprt_op *op, const kind_info *info, int n_ranks, int rank,
                               int *source) {
  *source = -1;
  if (!has(info, PAIRS))
    return TPRT_OK;
  if (op->n_pairs > (size_t)n_ranks || (op->n_pairs && !op->pairs)) {
    return tprt__fail(TPRT_INVALID_ARGUMENT,
                      "permute: %zu pairs%s; at most one for each of the %d ranks", op->n_pairs,
                      op->pairs ? "" : " at NULL", n_ranks);
  }
  for (size_t i = 0; i < op->n_pairs; i++) {
    tprt_pair pair = op->pairs[i];
    if (pair.source < 0 || pair.source >= n_ranks || pair.destination < 0 ||
        pair.destination >= n_ranks) {
      return tprt__fail(TPRT_INVALID_ARGUMENT, "permute: pair %zu is (%d, %d); there are %d ranks",
                        i, pair.source, pair.destination, n_ranks);
    }
    for (size_t j = 0; j < i; j++) {
      if (op->pairs[j].destination == pair.destination) {
        return tprt__fail(TPRT_INVALID_ARGUMENT,
                          "permute: pairs %zu and %zu have the same destination %d", j, i,
                          pair.destination);
      }
    }
    if (pair.destination == rank)
      *source = pair.source;
  }
  return TPRT_OK;
}

static void make_maps(const tprt_op *op, int64_t n, tprt__plan *plan, int64_t elements) {
  int64_t size = (int64_t)plan->type->size, bytes = elements * size, inner = 0;
  plan->send_bytes = plan->recv_bytes = plan->piece = bytes;
  plan->send_map = (tprt__map){.run = bytes, .n = 1};
  /* Not a copy of send_map, which would stall until the store of send_map completes. */
  plan->recv_map = (tprt__map){.run = bytes, .n = 1};
  if (!bytes)
    return; /* an empty tensor has no runs, and run lengths must not be 0 */
  switch (op->kind) {
  case TPRT_OP_ALL_GATHER:
  case TPRT_OP_GATHER:
    product(op, op->dim, op->n_dims, size, &inner);
    plan->recv_map = (tprt__map){.run = inner, .n = n};
    plan->recv_bytes = bytes * n;
    break;
  case TPRT_OP_REDUCE_SCATTER:
  case TPRT_OP_SCATTER:
    product(op, op->dim, op->n_dims, size, &inner);
    plan->send_map = (tprt__map){.run = inner / n, .n = n};
    plan->piece = plan->recv_bytes = bytes / n;
    plan->recv_map.run = plan->piece;
    break;
  case TPRT_OP_ALL_TO_ALL:
    product(op, op->split_dim, op->n_dims, size, &inner);
    plan->send_map = (tprt__map){.run = inner / n, .n = n};
    /* If the split dimension is the joined one or inside it, a piece's run is already divided by
     * n. */
    product(op, op->dim, op->n_dims, size, &inner);
    plan->recv_map = (tprt__map){.run = op->split_dim >= op->dim ? inner / n : inner, .n = n};
    plan->piece = bytes / n;
    break;
  default:
    break;
  }
}

bool tprt__overlap(const void *a, int64_t a_bytes, const void *b, int64_t b_bytes) {
  uintptr_t x = (uintptr_t)a, y = (uintptr_t)b;
  return a_bytes && b_bytes && x < y + (uintptr_t)b_bytes && y < x + (uintptr_t)a_bytes;
}

/* True if the smaller buffer of a gather or scatter lies at this rank's position inside the larger
 * one. This in-place form requires that the piece is one run. */
static bool in_own_place(const tprt__plan *plan) {
  bool scatters = plan->traits & SCATTERS;
  const char *larger = scatters ? plan->send : plan->recv,
             *smaller = scatters ? plan->recv : plan->send;
  return (scatters ? plan->send_map : plan->recv_map).run == plan->piece &&
         smaller == larger + plan->rank * plan->piece;
}

tprt_status tprt__plan_buffers(tprt__plan *plan, const void *send, void *recv) {
  const kind_info *info = kind_get(plan->kind);
  bool sends = plan->send_bytes && tprt__plan_sends(plan),
       receives = plan->recv_bytes && tprt__plan_receives(plan);
  if ((sends && !send) || (receives && !recv)) {
    return tprt__fail(TPRT_INVALID_ARGUMENT, "%s: %s is NULL", info->name,
                      sends && !send ? "send" : "recv");
  }
  plan->send = send;
  plan->recv = receives ? recv : NULL;
  if (!sends || !receives || !tprt__overlap(send, plan->send_bytes, recv, plan->recv_bytes))
    return TPRT_OK;
  if ((has(info, IN_PLACE) && send == recv) || (has(info, ALIASES) && in_own_place(plan)))
    return TPRT_OK;
  return tprt__fail(TPRT_INVALID_ARGUMENT, "%s: send and recv overlap; only %s", info->name,
                    has(info, IN_PLACE)  ? "equal pointers are allowed"
                    : has(info, ALIASES) ? "the position of this rank's own piece is allowed"
                                         : "disjoint buffers are allowed");
}

/* Covers exactly the fields that the kind reads; garbage in the others is harmless. */
static void make_signature(const tprt_op *op, const kind_info *info, int64_t elements,
                           tprt__plan *plan) {
  uint64_t dims = ((uint64_t)(has(info, DIM) ? op->dim : 0) << 8) |
                  (uint64_t)(has(info, SPLIT) ? op->split_dim : 0);
  plan->signature[0] = ((uint64_t)op->kind << 48) |
                       (uint64_t)(has(info, DATA) ? op->dtype : 0) << 32 | (uint64_t)op->reduction;
  plan->signature[1] = (uint64_t)(has(info, TPRT__ROOT) ? op->root : 0) << 32 | dims;
  plan->signature[2] = (uint64_t)elements;
  uint64_t hash = 0;
  if (has(info, DATA) && !in_pieces(info))
    hash = tprt__hash((uint64_t)op->n_dims, op->shape, (size_t)op->n_dims * sizeof *op->shape);
  if (has(info, PAIRS) && op->n_pairs)
    hash = tprt__hash(hash, op->pairs, op->n_pairs * sizeof *op->pairs);
  plan->signature[3] = hash;
}

/* Implements tprt_op_bytes. The op is valid except for its counts. `size` is the bytes per
 * element. */
static int64_t traffic(const tprt_op *op, const kind_info *info, int64_t size, int64_t elements,
                       int64_t n) {
  /* share of one rank, of a tensor that the group holds once */
  int64_t chunk = (elements + n - 1) / n * size;
  if (in_pieces(info)) {
    int64_t longest = tprt__longest_count(op, info->traits, (int)n);
    return longest < 0 ? -1 : (op->kind == TPRT_OP_GATHER_V ? 1 : n - 1) * longest * size;
  }
  switch (op->kind) {
  case TPRT_OP_ALL_REDUCE:
    return 2 * (n - 1) * chunk;
  case TPRT_OP_ALL_GATHER:
    return (n - 1) * elements * size; /* the tensor of the group is n times the send tensor */
  case TPRT_OP_REDUCE_SCATTER:
  case TPRT_OP_ALL_TO_ALL:
  case TPRT_OP_SCATTER:
    return (n - 1) * chunk;
  case TPRT_OP_PERMUTE:
  case TPRT_OP_BROADCAST:
  case TPRT_OP_SEND:
  case TPRT_OP_REDUCE:
  case TPRT_OP_GATHER:
    return elements * size;
  default:
    return 0;
  }
}

tprt_status tprt__plan_shape(const tprt_op *op, int n_ranks, int rank, tprt__plan *plan) {
  const kind_info *info = kind_get(op->kind);
  int64_t elements;
  *plan = (tprt__plan){.kind = op->kind,
                       .reduction = op->reduction,
                       .dtype = op->dtype,
                       .n_ranks = n_ranks,
                       .rank = rank,
                       .root = op->root,
                       .peer = op->peer,
                       .tag = op->tag,
                       .stream = op->stream,
                       .timeout_ns = op->timeout_ns};
  if (!info)
    return tprt__fail(TPRT_INVALID_ARGUMENT, "%d is not an operation", (int)op->kind);
  if (op->timeout_ns < 0)
    return tprt__fail(TPRT_INVALID_ARGUMENT, "%s: timeout_ns is %lld; it must be >= 0", info->name,
                      (long long)op->timeout_ns);
  plan->traits = info->traits;
  plan->type = tprt__dtype_info_get((int64_t)op->dtype);
  tprt_status status = check_type(op, info, plan->type);
  if (!status)
    status = check_shape(op, info, n_ranks, &elements);
  if (!status && has(info, DATA))
    status = check_dims(op, info, n_ranks);
  if (!status)
    status = check_pairs(op, info, n_ranks, rank, &plan->source);
  if (!status)
    status = check_peer(op, info, n_ranks);
  if (status)
    return status;
  if (op->reduction == TPRT_PREMUL_SUM)
    memcpy(plan->scale.bytes, op->scalar, plan->type->acc_size);
  if (has(info, DATA) && !in_pieces(info))
    make_maps(op, n_ranks, plan, elements);
  plan->traffic = traffic(op, info, plan->type ? (int64_t)plan->type->size : 0, elements, n_ranks);
  if (TPRT__CHECKS)
    make_signature(op, info, elements, plan);
  return TPRT_OK;
}

tprt_status tprt__plan_destinations(const tprt_op *op, tprt__plan *plan) {
  int n = 0;
  for (size_t i = 0; i < op->n_pairs; i++)
    n += op->pairs[i].source == plan->rank;
  if (!n)
    return TPRT_OK;
  plan->destinations = tprt__alloc((size_t)n * sizeof *plan->destinations);
  if (!plan->destinations)
    return tprt__fail_memory((size_t)n * sizeof *plan->destinations);
  for (size_t i = 0; i < op->n_pairs; i++) {
    if (op->pairs[i].source == plan->rank)
      plan->destinations[plan->n_destinations++] = op->pairs[i].destination;
  }
  return TPRT_OK;
}

static tprt_status read_hints(const tprt_op *op, const char *name, tprt__plan *plan) {
  int64_t numbers[TPRT__N_HINTS];
  uint32_t given = 0;
  tprt_status status =
      tprt__hints_read(op->hints, op->n_hints, name, TPRT__HINT_OF_OP, numbers, &given);
  if (status)
    return status;
  if (given & 1u << TPRT__HINT_TIMEOUT)
    plan->timeout_ns = numbers[TPRT__HINT_TIMEOUT];
  if (given & 1u << TPRT__HINT_DETERMINISTIC)
    plan->deterministic = numbers[TPRT__HINT_DETERMINISTIC];
  if (given & 1u << TPRT__HINT_INDEPENDENT)
    plan->independent = numbers[TPRT__HINT_INDEPENDENT];
  return TPRT_OK;
}

tprt_status tprt__plan_make(const tprt_op *op, int n_ranks, int rank, tprt__plan *plan) {
  tprt_status status = tprt__plan_shape(op, n_ranks, rank, plan);
  if (status)
    return status;
  const kind_info *info = kind_get(op->kind);
  status = read_hints(op, info->name, plan);
  if (status)
    return status;
  if (in_pieces(info))
    return tprt__plan_parts(op, info->name, plan);
  status = tprt__plan_buffers(plan, op->send, op->recv);
  return !status && has(info, PAIRS) ? tprt__plan_destinations(op, plan) : status;
}

void tprt__plan_clear(tprt__plan *plan) {
  tprt__free(plan->parts);
  tprt__free(plan->destinations);
  plan->parts = plan->sends = plan->recvs = NULL;
  plan->destinations = NULL;
}

/* Returns the byte offset of place->at in the tensor, and the number of bytes left in its run. */
static int64_t locate(const tprt__place *place, int64_t *rest) {
  int64_t row = 0, column = place->at;
  if (column >= place->map.run) { /* avoids a division, which costs as much as copying 1 KiB */
    row = place->at / place->map.run;
    column = place->at % place->map.run;
  }
  *rest = place->map.run - column;
  return (row * place->map.n + place->index) * place->map.run + column;
}

void tprt__runs_copy(void *to, tprt__place to_place, const void *from, tprt__place from_place,
                     int64_t bytes, bool stream) {
  while (bytes) {
    int64_t to_rest, from_rest;
    char *target = (char *)to + locate(&to_place, &to_rest);
    const char *source = (const char *)from + locate(&from_place, &from_rest);
    int64_t n = tprt__min(bytes, tprt__min(to_rest, from_rest));
    if (target != source && stream)
      tprt__stream_copy(target, source, (size_t)n);
    else if (target != source)
      memcpy(target, source, (size_t)n);
    to_place.at += n;
    from_place.at += n;
    bytes -= n;
  }
}

/* "all_reduce f32 sum of 8 elements"; only the kind of an operation without data. */
static void describe_signature(const uint64_t *signature, char *text, size_t n) {
  const char *kind = tprt_op_kind_name((tprt_op_kind)(signature[0] >> 48));
  const char *type = tprt_dtype_name((tprt_dtype)((signature[0] >> 32) & 0xffff));
  const char *reduction = tprt_reduction_name((tprt_reduction)(signature[0] & 0xffffffff));
  bool reduces = reduction && strcmp(reduction, tprt_reduction_name(TPRT_NO_REDUCTION)) != 0;
  size_t at = (size_t)snprintf(text, n, "%s", kind ? kind : "?");
  if (type && at < n)
    snprintf(text + at, n - at, " %s%s%s of %llu elements", type, reduces ? " " : "",
             reduces ? reduction : "", (unsigned long long)signature[2]);
}

void tprt__signature_explain(const uint64_t *mine, const uint64_t *other, char *text, size_t n) {
  if (mine[0] != other[0] || mine[2] != other[2]) {
    char here[96], there[96];
    describe_signature(mine, here, sizeof here);
    describe_signature(other, there, sizeof there);
    snprintf(text, n, "%s here, %s there", here, there);
  } else if (mine[1] != other[1]) {
    snprintf(text, n,
             "root %llu, dimensions %llu and %llu here, root %llu, dimensions %llu and %llu there",
             (unsigned long long)(mine[1] >> 32), (unsigned long long)(mine[1] >> 8 & 0xff),
             (unsigned long long)(mine[1] & 0xff), (unsigned long long)(other[1] >> 32),
             (unsigned long long)(other[1] >> 8 & 0xff), (unsigned long long)(other[1] & 0xff));
  } else {
    snprintf(text, n, "the shapes, the pairs or the counts differ");
  }
}

int64_t tprt_op_bytes(const tprt_op *op, int n_ranks) {
  TPRT__NEED_OR(op, -1);
  const kind_info *info = kind_get(op->kind);
  int64_t elements;
  if (!info || n_ranks < 1 || (has(info, DATA) && !tprt_dtype_size(op->dtype)) ||
      check_shape(op, info, n_ranks, &elements))
    return -1;
  return traffic(op, info, (int64_t)tprt_dtype_size(op->dtype), elements, n_ranks);
}
