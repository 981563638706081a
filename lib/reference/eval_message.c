/* Runs messages between devices: permutes, shifts, pairs of send and recv, and halos. */
#include "reference/places.h"

#include "ir/ir.h"
#include "ir/place.h"

#include <mlir-c/BuiltinAttributes.h>
#include <string.h>

/* ---- messages ---- */

/* Gives each device the operand of its source; -1: zeros. */
static bool deliver(evaluation *r, cell *const *frames, const node *n, const devices *on,
                    const int *sources, tensor *const *sent) {
  const tensor *like = sent[on->numbers[0]];
  const kind *k = like->kind;
  tensor *zeros = tp__filled(r, like, k->is_float ? tp__real(k, 0) : tp__whole(k, 0));
  for (int i = 0; i < on->n; i++) {
    int device = on->numbers[i], from = sources[device];
    if (from >= 0 && !tp__needs(r, n, on, device, from))
      return false;
    tp__give(frames, n, device, from >= 0 ? sent[from] : zeros);
  }
  return true;
}

static tensor **operands_of(evaluation *r, cell *const *frames, const node *n, const devices *on) {
  tensor **sent = tp__eval_allocate(r, (size_t)r->n_devices * sizeof(tensor *));
  for (int i = 0; i < on->n; i++)
    sent[on->numbers[i]] = frames[on->numbers[i]][n->operands[0]].tensor;
  return sent;
}

static int *no_sources(evaluation *r) {
  int *sources = tp__eval_allocate(r, (size_t)r->n_devices * sizeof *sources);
  for (int d = 0; d < r->n_devices; d++)
    sources[d] = -1;
  return sources;
}

/* A call with tp.pairs: [source, destination] of devices. */
bool tp__run_permute_on(evaluation *r, cell *const *frames, const node *n, const devices *on) {
  MlirAttribute pairs =
      mlirOperationGetDiscardableAttributeByName(n->op, mlirStringRefCreateFromCString("tp.pairs"));
  int *sources = no_sources(r);
  for (intptr_t i = 0; i < mlirArrayAttrGetNumElements(pairs); i++) {
    int64_t pair[2];
    if (tp__int_list(mlirArrayAttrGetElement(pairs, i), 2, pair) != 2 || pair[0] < 0 ||
        pair[0] >= r->n_devices || pair[1] < 0 || pair[1] >= r->n_devices)
      return tp__eval_fail(r, n->op, "has a pair of devices that are not in the grid");
    sources[pair[1]] = (int)pair[0];
  }
  return deliver(r, frames, n, on, sources, operands_of(r, frames, n, on)) &&
         tp__finish(r, frames, n, on);
}

/* What is shifted beyond the border is lost, unless the shift rotates. */
static bool run_shift(evaluation *r, cell *const *frames, const node *n, const devices *on) {
  int64_t axis = mlirIntegerAttrGetValueInt(tp__inherent(n->op, "shift_axis"));
  int64_t offset = mlirIntegerAttrGetValueInt(tp__inherent(n->op, "offset"));
  bool rotates = !mlirAttributeIsNull(tp__inherent(n->op, "rotate"));
  int *sources = no_sources(r);
  if (axis < 0 || axis >= r->grid->n_axes)
    return tp__eval_fail(r, n->op, "shifts along an axis that is not in the grid");
  int64_t size = r->grid->sizes[axis];
  for (int i = 0; i < on->n; i++) {
    int device = on->numbers[i];
    int64_t from;
    if (__builtin_sub_overflow(tp__coordinate(r, device, axis), offset, &from))
      continue;
    if (rotates)
      from = (from % size + size) % size;
    if (from >= 0 && from < size)
      sources[device] = tp__moved(r, device, axis, from);
  }
  return deliver(r, frames, n, on, sources, operands_of(r, frames, n, on)) &&
         tp__finish(r, frames, n, on);
}

typedef struct message {
  struct message *older;
  const node *send;
  tensor **sent;     /* by device */
  int *destinations; /* by device; -1: nobody */
} message;

/* The operands stay alive until they are received: nothing is collected meanwhile. */
static bool run_send(evaluation *r, cell *const *frames, const node *n, const devices *on) {
  axes of = tp__read_axes(n, "grid_axes");
  message *m = tp__eval_allocate(r, sizeof *m);
  *m = (message){r->messages, n, operands_of(r, frames, n, on), no_sources(r)};
  for (int i = 0; i < on->n; i++) {
    int device = on->numbers[i];
    if (!tp__read_device(r, n, frames[device], "destination", &of, device,
                         m->destinations + device))
      return false;
    frames[device][n->results[0]] = frames[device][n->operands[0]];
  }
  r->messages = m;
  r->n_in_flight++;
  return true;
}

static bool is_pair(const node *send, const node *recv) {
  return mlirBlockEqual(mlirOperationGetBlock(send->op), mlirOperationGetBlock(recv->op)) &&
         mlirAttributeEqual(tp__inherent(send->op, "grid_axes"),
                            tp__inherent(recv->op, "grid_axes")) &&
         mlirTypeEqual(mlirValueGetType(mlirOperationGetOperand(send->op, 0)),
                       mlirValueGetType(mlirOperationGetResult(recv->op, 0)));
}

/* Receives the oldest message of the block that has the same type and groups. A device whose source
 * sends to another one gets zeros. */
static bool run_recv(evaluation *r, cell *const *frames, const node *n, const devices *on) {
  message **oldest = NULL;
  for (message **at = &r->messages; *at; at = &(*at)->older)
    if (is_pair((*at)->send, n))
      oldest = at;
  if (!oldest)
    return tp__eval_fail(r, n->op, "has no send before it in its block");
  const message *m = *oldest;
  *oldest = m->older;
  r->n_in_flight--;
  bool is_any = mlirAttributeIsNull(tp__eval_attribute(n->op, "source"));
  int *sources = no_sources(r);
  axes of = tp__read_axes(n, "grid_axes");
  for (int i = 0; i < on->n; i++) {
    int device = on->numbers[i], to = m->destinations[device], from = device;
    if (to < 0)
      continue;
    if (!tp__needs(r, n, on, device, to) ||
        (!is_any && !tp__read_device(r, n, frames[to], "source", &of, to, &from)))
      return false;
    if (is_any && sources[to] >= 0)
      return tp__eval_fail(r, n->op, "has two sources");
    if (from == device)
      sources[to] = device;
  }
  if (!deliver(r, frames, n, on, sources, m->sent))
    return false;
  double unit = 0; /* what is received is computed in the types of what was sent */
  for (int i = 0; i < on->n; i++)
    unit = fmax(unit, frames[on->numbers[i]][m->send->results[0]].unit);
  for (int i = 0; i < on->n; i++)
    frames[on->numbers[i]][n->results[0]].unit = unit;
  return true;
}

/* ---- halos ---- */

typedef struct halo {
  int n_dims;
  axes of[TP__EVAL_MAX_RANK];
  int64_t low[TP__EVAL_MAX_RANK], high[TP__EVAL_MAX_RANK];
} halo;

static bool read_halo(evaluation *r, cell *const *frames, const node *n, const devices *on,
                      halo *h) {
  int counts[TP_MAX_RANK], next = 0, operand = 1;
  int64_t lists[TP_MAX_RANK][TP_MAX_AXES], sizes[2 * TP_MAX_RANK];
  int n_sizes = tp__eval_integers(n->op, "static_halo_sizes", 2 * TP_MAX_RANK, sizes);
  *h = (halo){0};
  if (!tp__axis_lists(tp__inherent(n->op, "split_axes"), &h->n_dims, counts, lists))
    return tp__eval_unsupported(r, n->op, "splits too many dimensions");
  for (int d = 0; d < h->n_dims; d++) {
    h->of[d].n = counts[d];
    for (int i = 0; i < counts[d]; i++) {
      h->of[d].list[i] = lists[d][i];
      if (lists[d][i] < 0 || lists[d][i] >= r->grid->n_axes)
        return tp__eval_fail(r, n->op, "has an axis that is not in the grid");
    }
    for (int side = 0; side < 2 && counts[d] > 0 && n_sizes > 0; side++) {
      int64_t *size = side ? h->high + d : h->low + d;
      *size = next < n_sizes ? sizes[next++] : 0;
      if (*size != INT64_MIN) /* ShapedType::kDynamic */
        continue;
      int slot = n->operands[operand++];
      for (int i = on->n - 1; i >= 0; i--) {
        int64_t last = *size;
        if (!tp__integer_in(r, n, frames[on->numbers[i]] + slot, size))
          return false;
        if (i < on->n - 1 && last != *size)
          return tp__eval_fail(r, n->op, "has halos whose sizes differ between devices");
      }
    }
  }
  return true;
}

/* Copies the elements of dimension d from index from_at on to those from to_at on. Of dimensions
 * before d, which are exchanged later, only the own elements are copied. */
static void copy_halo(const halo *h, const tensor *from, tensor *to, int d, int64_t from_at,
                      int64_t to_at, int64_t width) {
  int64_t first[TP__EVAL_MAX_RANK], sizes[TP__EVAL_MAX_RANK], at[TP__EVAL_MAX_RANK] = {0};
  int64_t n = 1;
  for (int i = 0; i < to->rank; i++) {
    first[i] = i < d ? h->low[i] : 0;
    sizes[i] = i == d ? width : to->shape[i] - (i < d ? h->low[i] + h->high[i] : 0);
    n *= sizes[i];
  }
  int parts = to->kind->parts;
  for (int64_t e = 0; e < n; e++, tp__next_index(to->rank, sizes, at)) {
    int64_t source[TP__EVAL_MAX_RANK], target[TP__EVAL_MAX_RANK];
    for (int i = 0; i < to->rank; i++) {
      source[i] = at[i] + (i == d ? from_at : first[i]);
      target[i] = at[i] + (i == d ? to_at : first[i]);
    }
    memcpy(to->numbers + tp__linear_index(to, target) * parts,
           from->numbers + tp__linear_index(from, source) * parts,
           (size_t)parts * sizeof *to->numbers);
  }
}

/* Halos become what the neighbors own, from the last dimension to the first, corners with them. At
 * the border of the grid they stay as they are. */
static bool run_update_halo(evaluation *r, cell *const *frames, const node *n, const devices *on) {
  halo h;
  if (!read_halo(r, frames, n, on, &h))
    return false;
  tensor **values = operands_of(r, frames, n, on);
  tensor **next = tp__eval_allocate(r, (size_t)r->n_devices * sizeof(tensor *));
  for (int d = h.n_dims - 1; d >= 0; d--)
    for (int step = -1; step <= 1; step += 2) {
      for (int i = 0; i < on->n; i++) {
        int device = on->numbers[i], to = tp__group_rank(r, h.of + d, device) + step;
        tensor *t = next[device] = tp__tensor_copy(r, values[device]);
        int64_t size = t->shape[d], width = step < 0 ? h.low[d] : h.high[d];
        int64_t own = size - h.low[d] - h.high[d];
        if (h.low[d] < 0 || h.high[d] < 0 || own < width)
          return tp__eval_fail(r, n->op, "has halos larger than what a device owns");
        if (width == 0 || to < 0 || to >= tp__group_size(r, h.of + d))
          continue;
        int neighbor = tp__group_member(r, h.of + d, device, to);
        if (!tp__needs(r, n, on, device, neighbor))
          return false;
        copy_halo(&h, values[neighbor], t, d, step < 0 ? size - h.high[d] - width : h.low[d],
                  step < 0 ? 0 : size - width, width);
      }
      for (int i = 0; i < on->n; i++)
        values[on->numbers[i]] = next[on->numbers[i]];
    }
  for (int i = 0; i < on->n; i++)
    tp__give(frames, n, on->numbers[i], values[on->numbers[i]]);
  return tp__finish(r, frames, n, on);
}

const op_row tp__message_rows[] = {
    {"shard.shift", NULL, run_shift},
    {"shard.send", NULL, run_send},
    {"shard.recv", NULL, run_recv},
    {"shard.update_halo", NULL, run_update_halo},
    {NULL, NULL, NULL},
};
