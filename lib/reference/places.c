/* Places in the grid, the operands and results of its devices, and ops that ask for places. */
#include "reference/places.h"

#include "ir/ir.h"

#include <mlir-c/BuiltinAttributes.h>

static int64_t stride_of(const evaluation *r, int64_t axis) {
  int64_t stride = 1;
  for (int a = r->grid->n_axes - 1; a > axis; a--)
    stride *= r->grid->sizes[a];
  return stride;
}

int64_t tp__coordinate(const evaluation *r, int device, int64_t axis) {
  return device / stride_of(r, axis) % r->grid->sizes[axis];
}

int tp__moved(const evaluation *r, int device, int64_t axis, int64_t to) {
  return device + (int)((to - tp__coordinate(r, device, axis)) * stride_of(r, axis));
}

int tp__group_size(const evaluation *r, const axes *of) {
  int size = 1;
  for (int i = 0; i < of->n; i++)
    size *= (int)r->grid->sizes[of->list[i]];
  return size;
}

int tp__group_rank(const evaluation *r, const axes *of, int device) {
  int rank = 0;
  for (int i = 0; i < of->n; i++)
    rank = rank * (int)r->grid->sizes[of->list[i]] + (int)tp__coordinate(r, device, of->list[i]);
  return rank;
}

int tp__group_member(const evaluation *r, const axes *of, int device, int rank) {
  for (int i = of->n - 1; i >= 0; i--) {
    int64_t size = r->grid->sizes[of->list[i]];
    device = tp__moved(r, device, of->list[i], rank % size);
    rank /= (int)size;
  }
  return device;
}

axes tp__read_axes(const node *n, const char *name) {
  axes of;
  of.n = tp__int_list(tp__inherent(n->op, name), TP__EVAL_MAX_RANK, of.list);
  of.n = of.n < 0 ? 0 : of.n;
  return of;
}

/* The axes that an op asks for: all of the grid if it names none. */
static axes read_axes_or_all(const evaluation *r, const node *n) {
  axes of = tp__read_axes(n, "axes");
  if (of.n == 0)
    for (; of.n < r->grid->n_axes; of.n++)
      of.list[of.n] = of.n;
  return of;
}

bool tp__read_device(evaluation *r, const node *n, const cell *frame, const char *name,
                     const axes *of, int at, int *device) {
  int64_t list[TP__EVAL_MAX_RANK];
  int count = tp__eval_integers(n->op, name, TP__EVAL_MAX_RANK, list), first = 1;
  *device = at;
  bool is_inside = true;
  for (int i = 0; i < count; i++) {
    if (list[i] == INT64_MIN) /* ShapedType::kDynamic */
      if (!tp__integer_in(r, n, frame + n->operands[first++], list + i))
        return false;
    is_inside &= list[i] >= 0 && list[i] < r->grid->sizes[of->list[i]];
    *device = is_inside ? tp__moved(r, *device, of->list[i], list[i]) : -1;
  }
  return true;
}

bool tp__needs(evaluation *r, const node *n, const devices *on, int device, int other) {
  return tp__has_device(on, other) ||
         tp__eval_fail(r, n->op, "runs on device %d, but not on device %d, which it waits for",
                       device, other);
}

/* ---- operands and results ---- */

const tensor *tp__value_on(cell *const *frames, const node *n, int device) {
  return frames[device][n->operands[0]].tensor;
}

void tp__give(cell *const *frames, const node *n, int device, tensor *t) {
  frames[device][n->results[0]] = (cell){.tensor = t};
}

bool tp__finish(evaluation *r, cell *const *frames, const node *n, const devices *on) {
  double unit = 0;
  for (int i = 0; i < on->n; i++)
    unit = fmax(unit, frames[on->numbers[i]][n->operands[0]].unit);
  for (int i = 0; i < on->n; i++)
    frames[on->numbers[i]][n->results[0]].unit = unit;
  return tp__eval_count(r, n, (double)on->n * (double)tp__value_on(frames, n, on->numbers[0])->n);
}

tensor *tp__filled(evaluation *r, const tensor *like, number with) {
  tensor *t = tp__eval_tensor(r, like->kind, like->rank, like->shape);
  for (int64_t i = 0; i < t->n * t->kind->parts; i++)
    t->numbers[i] = with;
  return t;
}

/* ---- indices ---- */

static void give_index(cell *const *frames, const node *n, int device, int k, int64_t value) {
  frames[device][n->results[k]] = (cell){.scalar = {{.integer = value}}};
}

static bool run_multi_index(evaluation *r, cell *const *frames, const node *n, const devices *on) {
  axes of = read_axes_or_all(r, n);
  for (int i = 0; i < on->n; i++)
    for (int k = 0; k < of.n && k < n->n_results; k++)
      give_index(frames, n, on->numbers[i], k, tp__coordinate(r, on->numbers[i], of.list[k]));
  return true;
}

static bool run_linear_index(evaluation *r, cell *const *frames, const node *n, const devices *on) {
  (void)r;
  for (int i = 0; i < on->n; i++)
    give_index(frames, n, on->numbers[i], 0, on->numbers[i]);
  return true;
}

static bool run_grid_shape(evaluation *r, cell *const *frames, const node *n, const devices *on) {
  axes of = read_axes_or_all(r, n);
  for (int i = 0; i < on->n; i++)
    for (int k = 0; k < of.n && k < n->n_results; k++)
      give_index(frames, n, on->numbers[i], k, r->grid->sizes[of.list[k]]);
  return true;
}

/* The neighbors, along one axis, of the device with given coordinates; -1 beyond the border. */
static bool run_neighbors(evaluation *r, cell *const *frames, const node *n, const devices *on) {
  axes of = tp__read_axes(n, "split_axes");
  if (of.n != 1 || n->n_operands != r->grid->n_axes)
    return tp__eval_unsupported(r, n->op, "has several axes, or coordinates for some axes only");
  for (int i = 0; i < on->n; i++) {
    int64_t device = 0, at = 0;
    for (int a = 0; a < n->n_operands; a++) {
      int64_t place;
      if (!tp__integer_in(r, n, frames[on->numbers[i]] + n->operands[a], &place))
        return false;
      device = device * r->grid->sizes[a] + place;
      at = a == of.list[0] ? place : at;
    }
    int64_t stride = stride_of(r, of.list[0]), last = r->grid->sizes[of.list[0]] - 1;
    give_index(frames, n, on->numbers[i], 0, at <= 0 ? -1 : device - stride);
    give_index(frames, n, on->numbers[i], 1, at >= last ? -1 : device + stride);
  }
  return true;
}

const op_row tp__place_rows[] = {
    {"shard.process_multi_index", NULL, run_multi_index},
    {"shard.process_linear_index", NULL, run_linear_index},
    {"shard.neighbors_linear_indices", NULL, run_neighbors},
    {"shard.grid_shape", NULL, run_grid_shape},
    {NULL, NULL, NULL},
};
