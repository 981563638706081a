/* Runs collectives on groups of devices. Each device has its own copy of a value. */
#include "reference/places.h"

#include "ir/ir.h"

#include <mlir-c/BuiltinAttributes.h>
#include <stdio.h>
#include <string.h>

/* ---- parts of tensors ---- */

/* Copies the `size` indices of dimension `dim` from `from_at` on to those from `to_at` on. The
 * other dimensions have the same sizes. */
static void copy_part(const tensor *from, int64_t from_at, tensor *to, int64_t to_at, int64_t dim,
                      int64_t size) {
  int64_t outer = 1, inner = from->kind->parts;
  for (int d = 0; d < from->rank; d++)
    *(d < dim ? &outer : &inner) *= d == dim ? 1 : from->shape[d];
  for (int64_t i = 0; i < outer; i++)
    memcpy(to->numbers + (i * to->shape[dim] + to_at) * inner,
           from->numbers + (i * from->shape[dim] + from_at) * inner,
           (size_t)(size * inner) * sizeof *to->numbers);
}

static tensor *with_size(evaluation *r, const tensor *t, int64_t dim, int64_t size) {
  int64_t shape[TP__EVAL_MAX_RANK];
  memcpy(shape, t->shape, sizeof shape);
  shape[dim] = size;
  return tp__eval_tensor(r, t->kind, t->rank, shape);
}

/* Part i of n of a tensor. */
static tensor *part(evaluation *r, const tensor *t, int64_t dim, int i, int n) {
  int64_t size = t->shape[dim] / n;
  tensor *made = with_size(r, t, dim, size);
  copy_part(t, i * size, made, 0, dim, size);
  return made;
}

static tensor *joined(evaluation *r, int n, const tensor *const *parts, int64_t dim) {
  int64_t size = parts[0]->shape[dim];
  tensor *made = with_size(r, parts[0], dim, n * size);
  for (int i = 0; i < n; i++)
    copy_part(parts[i], 0, made, i * size, dim, size);
  return made;
}

/* The dimension in an attribute. Upstream verifies that the operand has it, and that a group can
 * split it. */
static int64_t read_dim(const node *n, const char *name) {
  return mlirIntegerAttrGetValueInt(tp__inherent(n->op, name));
}

/* ---- reductions ---- */

typedef struct reduction_row {
  const char *name, *floats, *integers, *complexes;
} reduction_row;

static const reduction_row reductions[] = {
    {"sum", "arith.addf", "arith.addi", "complex.add"},
    {"product", "arith.mulf", "arith.muli", "complex.mul"},
    {"max", "arith.maximumf", "arith.maxsi", NULL},
    {"min", "arith.minimumf", "arith.minsi", NULL},
    {"maxnumf", "arith.maxnumf", NULL, NULL},
    {"minnumf", "arith.minnumf", NULL, NULL},
    {"maxui", NULL, "arith.maxui", NULL},
    {"minui", NULL, "arith.minui", NULL},
    {"and", NULL, "arith.andi", NULL},
    {"or", NULL, "arith.ori", NULL},
    {"xor", NULL, "arith.xori", NULL},
    {"bitwise_and", NULL, "arith.andi", NULL},
    {"bitwise_or", NULL, "arith.ori", NULL},
    {"bitwise_xor", NULL, "arith.xori", NULL},
    {"average", "arith.addf", NULL, NULL},
};

static void keep_text(MlirStringRef more, void *data) {
  char *text = data;
  size_t used = strlen(text), n = more.length < 63 - used ? more.length : 63 - used;
  memcpy(text + used, more.data, n);
  text[used + n] = 0;
}

/* Reads the name of a reduction: "max" of tp.combiner, or #shard<partial max>. */
static void read_reduction(MlirOperation op, char name[64]) {
  MlirAttribute ours =
      mlirOperationGetDiscardableAttributeByName(op, mlirStringRefCreateFromCString("tp.combiner"));
  MlirAttribute theirs = tp__eval_attribute(op, "reduction");
  name[0] = 0;
  if (!mlirAttributeIsNull(ours) && mlirAttributeIsAString(ours)) {
    keep_text(mlirStringAttrGetValue(ours), name);
    return;
  }
  if (mlirAttributeIsNull(theirs)) {
    strcpy(name, "sum");
    return;
  }
  char text[64] = "";
  mlirAttributePrint(theirs, keep_text, text);
  const char *start = strstr(text, "partial ");
  if (start)
    snprintf(name, 64, "%.*s", (int)strcspn(start + 8, ">"), start + 8);
}

static void apply(const char *op, const tensor *a, const number *b, int64_t step, tensor *result) {
  const kind *k = a->kind;
  const number *in[] = {a->numbers, b};
  const int64_t steps[] = {k->parts, step};
  tp__scalar_apply_all(tp__scalar_find(mlirStringRefCreateFromCString(op)),
                       &(scalar_types){.of = k, .to = k}, 2, in, steps, a->n, result->numbers);
}

/* Returns NULL with a message if the reduction is unknown. */
static tensor *reduced(evaluation *r, const node *n, int size, const tensor *const *in) {
  const kind *k = in[0]->kind;
  char name[64];
  read_reduction(n->op, name);
  const char *op = NULL;
  for (int i = 0; i < TP_LEN(reductions); i++)
    if (strcmp(name, reductions[i].name) == 0)
      op = k->parts > 1  ? reductions[i].complexes
           : k->is_float ? reductions[i].floats
                         : reductions[i].integers;
  if (!op) {
    (void)tp__eval_unsupported(r, n->op, "has a reduction that the evaluator does not support");
    return NULL;
  }
  tensor *result = tp__tensor_copy(r, in[0]);
  for (int i = 1; i < size; i++) {
    tensor *sum = tp__eval_tensor(r, k, result->rank, result->shape);
    apply(op, result, in[i]->numbers, k->parts, sum);
    result = sum;
  }
  if (strcmp(name, "average") != 0)
    return result;
  tensor *average = tp__eval_tensor(r, k, result->rank, result->shape);
  const number count = tp__real(k, size);
  apply("arith.divf", result, &count, 0, average);
  return average;
}

/* ---- collectives ---- */

/* Computes the results of a group from its operands, both by rank. `root` is the rank of the root
 * of a rooted op. False, with a message, if the op is invalid. */
typedef bool (*group_fn)(evaluation *r, const node *n, int size, int root, const tensor *const *in,
                         tensor **out);

static bool all_reduce(evaluation *r, const node *n, int size, int root, const tensor *const *in,
                       tensor **out) {
  (void)root;
  tensor *sum = reduced(r, n, size, in);
  for (int i = 0; i < size; i++)
    out[i] = sum;
  return sum != NULL;
}

static bool reduce(evaluation *r, const node *n, int size, int root, const tensor *const *in,
                   tensor **out) {
  tensor *sum = reduced(r, n, size, in), *unknown = tp__filled(r, in[0], tp__unknown());
  for (int i = 0; i < size; i++)
    out[i] = i == root ? sum : unknown;
  return sum != NULL;
}

static bool reduce_scatter(evaluation *r, const node *n, int size, int root,
                           const tensor *const *in, tensor **out) {
  (void)root;
  const tensor *sum = reduced(r, n, size, in);
  for (int i = 0; i < size && sum; i++)
    out[i] = part(r, sum, read_dim(n, "scatter_axis"), i, size);
  return sum != NULL;
}

static bool all_gather(evaluation *r, const node *n, int size, int root, const tensor *const *in,
                       tensor **out) {
  (void)root;
  tensor *all = joined(r, size, in, read_dim(n, "gather_axis"));
  for (int i = 0; i < size; i++)
    out[i] = all;
  return true;
}

static bool gather(evaluation *r, const node *n, int size, int root, const tensor *const *in,
                   tensor **out) {
  if (!all_gather(r, n, size, root, in, out))
    return false;
  tensor *unknown = tp__filled(r, out[0], tp__unknown());
  for (int i = 0; i < size; i++)
    out[i] = i == root ? out[i] : unknown;
  return true;
}

static bool scatter(evaluation *r, const node *n, int size, int root, const tensor *const *in,
                    tensor **out) {
  for (int i = 0; i < size; i++)
    out[i] = part(r, in[root], read_dim(n, "scatter_axis"), i, size);
  return true;
}

static bool broadcast(evaluation *r, const node *n, int size, int root, const tensor *const *in,
                      tensor **out) {
  (void)n;
  tensor *one = tp__tensor_copy(r, in[root]);
  for (int i = 0; i < size; i++)
    out[i] = one;
  return true;
}

static bool all_to_all(evaluation *r, const node *n, int size, int root, const tensor *const *in,
                       tensor **out) {
  (void)root;
  int64_t split = read_dim(n, "split_axis"), concat = read_dim(n, "concat_axis");
  const tensor **parts = tp__eval_allocate(r, (size_t)size * sizeof *parts);
  for (int to = 0; to < size; to++) {
    for (int from = 0; from < size; from++)
      parts[from] = part(r, in[from], split, to, size);
    out[to] = joined(r, size, parts, concat);
  }
  return true;
}

static bool has_type(evaluation *r, const node *n, const tensor *t) {
  MlirType type = mlirValueGetType(mlirOperationGetResult(n->op, 0));
  bool ok = n->kinds[0] == t->kind && mlirShapedTypeGetRank(type) == t->rank;
  for (int d = 0; d < t->rank && ok; d++)
    ok = mlirShapedTypeGetDimSize(type, d) == t->shape[d];
  return ok || tp__eval_fail(r, n->op, "has a result of another type");
}

/* Reads the root of a rooted op, which has to be the same on all devices of the group. */
static bool read_root(evaluation *r, const node *n, cell *const *frames, const axes *of, int device,
                      int *root) {
  int named;
  if (mlirAttributeIsNull(tp__eval_attribute(n->op, "root")))
    return *root = 0, true;
  if (!tp__read_device(r, n, frames[device], "root", of, device, &named))
    return false;
  *root = named < 0 ? -1 : tp__group_rank(r, of, named);
  return *root >= 0 || tp__eval_fail(r, n->op, "has a root outside of the grid");
}

/* Runs a collective on all groups, each when its first device comes. Groups with the same operands
 * share their results. */
static bool run_groups(evaluation *r, cell *const *frames, const node *n, const devices *on,
                       group_fn run) {
  axes of = tp__read_axes(n, "grid_axes");
  int size = tp__group_size(r, &of);
  const tensor **in = tp__eval_allocate(r, 2 * (size_t)size * sizeof *in), **last = in + size;
  tensor **out = tp__eval_allocate(r, (size_t)size * sizeof *out);
  int last_root = -1;
  for (int i = 0; i < on->n; i++) {
    int device = on->numbers[i], root, other_root;
    if (tp__group_rank(r, &of, device) > 0) {
      if (!tp__needs(r, n, on, device, tp__group_member(r, &of, device, 0)))
        return false;
      continue;
    }
    if (!read_root(r, n, frames, &of, device, &root))
      return false;
    for (int k = 0; k < size; k++) {
      int other = tp__group_member(r, &of, device, k);
      if (!tp__needs(r, n, on, device, other) || !read_root(r, n, frames, &of, other, &other_root))
        return false;
      if (other_root != root)
        return tp__eval_fail(r, n->op, "has different roots on devices %d and %d", device, other);
      in[k] = tp__value_on(frames, n, other);
    }
    bool is_same = root == last_root && memcmp(in, last, (size_t)size * sizeof *in) == 0;
    if (!is_same && (!run(r, n, size, root, in, out) || !has_type(r, n, out[0])))
      return false;
    memcpy(last, in, (size_t)size * sizeof *in);
    last_root = root;
    for (int k = 0; k < size; k++)
      tp__give(frames, n, tp__group_member(r, &of, device, k), out[k]);
  }
  return tp__finish(r, frames, n, on);
}

static bool run_all_reduce(evaluation *r, cell *const *frames, const node *n, const devices *on) {
  return run_groups(r, frames, n, on, all_reduce);
}
static bool run_reduce(evaluation *r, cell *const *frames, const node *n, const devices *on) {
  return run_groups(r, frames, n, on, reduce);
}
static bool run_reduce_scatter(evaluation *r, cell *const *frames, const node *n,
                               const devices *on) {
  return run_groups(r, frames, n, on, reduce_scatter);
}
static bool run_all_gather(evaluation *r, cell *const *frames, const node *n, const devices *on) {
  return run_groups(r, frames, n, on, all_gather);
}
static bool run_gather(evaluation *r, cell *const *frames, const node *n, const devices *on) {
  return run_groups(r, frames, n, on, gather);
}
static bool run_scatter(evaluation *r, cell *const *frames, const node *n, const devices *on) {
  return run_groups(r, frames, n, on, scatter);
}
static bool run_broadcast(evaluation *r, cell *const *frames, const node *n, const devices *on) {
  return run_groups(r, frames, n, on, broadcast);
}
static bool run_all_to_all(evaluation *r, cell *const *frames, const node *n, const devices *on) {
  return run_groups(r, frames, n, on, all_to_all);
}

/* A device takes its slice alone: it waits for no other. Equal slices of one value are shared. */
static bool run_all_slice(evaluation *r, cell *const *frames, const node *n, const devices *on) {
  axes of = tp__read_axes(n, "grid_axes");
  int size = tp__group_size(r, &of);
  const tensor **from = tp__eval_allocate(r, (size_t)size * sizeof *from); /* by rank */
  tensor **slices = tp__eval_allocate(r, (size_t)size * sizeof *slices);
  for (int i = 0; i < on->n; i++) {
    int device = on->numbers[i], rank = tp__group_rank(r, &of, device);
    const tensor *t = tp__value_on(frames, n, device);
    if (from[rank] != t) {
      from[rank] = t;
      slices[rank] = part(r, t, read_dim(n, "slice_axis"), rank, size);
      if (!has_type(r, n, slices[rank]))
        return false;
    }
    tp__give(frames, n, device, slices[rank]);
  }
  return tp__finish(r, frames, n, on);
}

const op_row tp__collective_rows[] = {
    {"shard.all_reduce", NULL, run_all_reduce}, {"shard.all_gather", NULL, run_all_gather},
    {"shard.all_slice", NULL, run_all_slice},   {"shard.all_to_all", NULL, run_all_to_all},
    {"shard.broadcast", NULL, run_broadcast},   {"shard.gather", NULL, run_gather},
    {"shard.reduce", NULL, run_reduce},         {"shard.reduce_scatter", NULL, run_reduce_scatter},
    {"shard.scatter", NULL, run_scatter},       {NULL, NULL, NULL},
};
