/* Evaluates device coordinates, and integer expressions of them, on a given device. */
#include "ir/place.h"

#include <stdlib.h>
#include <string.h>

/* ---- axes ---- */

typedef struct text {
  char data[1024];
  size_t n;
  bool fits;
} text;

static void append(MlirStringRef part, void *data) {
  text *t = data;
  t->fits &= t->n + part.length < sizeof t->data;
  if (t->fits) {
    memcpy(t->data + t->n, part.data, part.length);
    t->n += part.length;
    t->data[t->n] = 0;
  }
}

/* Parses the printed attribute, because the C API has no accessor for #shard<axisarray[[0, 1],
 * []]>. axes[d] receives the numbers of list `d`. */
bool tp__axis_lists(MlirAttribute attr, int *n_dims, int counts[TP_MAX_RANK],
                    int64_t axes[TP_MAX_RANK][TP_MAX_AXES]) {
  text t = {.fits = true};
  mlirAttributePrint(attr, append, &t);
  const char *at = t.fits ? strchr(t.data, '[') : NULL;
  *n_dims = 0;
  for (at = at ? strchr(at + 1, '[') : NULL; at; at = strchr(at, '[')) {
    int d = (*n_dims)++;
    if (d == TP_MAX_RANK)
      return false;
    counts[d] = 0;
    for (at++; *at && *at != ']';) {
      char *end;
      int64_t axis = strtoll(at, &end, 10);
      if (end == at || counts[d] == TP_MAX_AXES)
        return false;
      axes[d][counts[d]++] = axis;
      at = end + strspn(end, ", ");
    }
  }
  return t.fits;
}

/* Maps axes of the op's grid to runs of axes of the refined mesh. A module has one grid, and
 * possibly its refinement. */
static tp_status runs_of(MlirOperation op, const tp_mesh *mesh, int n, const int64_t *list,
                         tp__axis_runs *runs) {
  MlirStringRef grid = mlirFlatSymbolRefAttrGetValue(tp__inherent(op, "grid"));
  bool refined = !tp__ref_is(grid, mesh->name);
  int n_grid = refined ? mesh->n_axes : mesh->n_parents;
  *runs = (tp__axis_runs){.n = n};
  for (int i = 0; i < n; i++) {
    if (list[i] < 0 || list[i] >= n_grid)
      return tp__error(op, TP_INVALID_ARGUMENT,
                       "grid axis %lld is out of range for @%.*s, which has %d", (long long)list[i],
                       (int)grid.length, grid.data, n_grid);
    int first = refined ? (int)list[i] : 0;
    while (!refined && mesh->axes[first].parent != list[i])
      first++;
    int end = first + 1;
    while (!refined && end < mesh->n_axes && mesh->axes[end].parent == list[i])
      end++;
    runs->first[i] = first;
    runs->count[i] = end - first;
  }
  return TP_OK;
}

tp_status tp__read_axis_runs(MlirOperation op, const char *attr, const tp_mesh *mesh,
                             tp__axis_runs *runs) {
  int64_t list[TP_MAX_AXES];
  int n = tp__int_list(tp__inherent(op, attr), TP_MAX_AXES, list);
  return runs_of(op, mesh, n < 0 ? 0 : n, list, runs);
}

tp_status tp__all_axis_runs(MlirOperation op, const tp_mesh *mesh, tp__axis_runs *runs) {
  int64_t list[TP_MAX_AXES];
  bool refined = !tp__ref_is(mlirFlatSymbolRefAttrGetValue(tp__inherent(op, "grid")), mesh->name);
  int n = refined ? mesh->n_axes : mesh->n_parents;
  for (int i = 0; i < n; i++)
    list[i] = i;
  return runs_of(op, mesh, n, list, runs);
}

tp_status tp__read_split_runs(MlirOperation op, const tp_mesh *mesh, int *n_dims,
                              tp__axis_runs runs[TP_MAX_RANK]) {
  int counts[TP_MAX_RANK];
  int64_t axes[TP_MAX_RANK][TP_MAX_AXES];
  if (!tp__axis_lists(tp__inherent(op, "split_axes"), n_dims, counts, axes))
    return tp__error(op, TP_UNSUPPORTED,
                     "split_axes: at most %d dimensions with %d axes each are supported",
                     TP_MAX_RANK, TP_MAX_AXES);
  for (int d = 0; d < *n_dims; d++)
    TP_TRY(runs_of(op, mesh, counts[d], axes[d], &runs[d]));
  return TP_OK;
}

int64_t tp__run_size(const tp_mesh *mesh, const tp__axis_runs *runs, int i) {
  int64_t size = 1;
  for (int k = 0; k < runs->count[i]; k++)
    size *= mesh->axes[runs->first[i] + k].size;
  return size;
}

/* The axes of a run are adjacent, so they behave like one axis with the stride of the last. */
static int64_t run_stride(const tp_mesh *mesh, const tp__axis_runs *runs, int i) {
  return tp_mesh_stride(mesh, runs->first[i] + runs->count[i] - 1);
}

int64_t tp__run_coordinate(const tp_mesh *mesh, const tp__axis_runs *runs, int i, int64_t device) {
  return device / run_stride(mesh, runs, i) % tp__run_size(mesh, runs, i);
}

int64_t tp__run_move(const tp_mesh *mesh, const tp__axis_runs *runs, int i, int64_t device,
                     int64_t to) {
  return device + (to - tp__run_coordinate(mesh, runs, i, device)) * run_stride(mesh, runs, i);
}

int tp__axes_of_runs(const tp__axis_runs *runs, int axes[TP_MAX_AXES]) {
  int n = 0;
  for (int i = 0; i < runs->n; i++)
    for (int k = 0; k < runs->count[i] && n < TP_MAX_AXES; k++)
      axes[n++] = runs->first[i] + k;
  return n;
}

uint32_t tp__run_bits(const tp_mesh *mesh, const tp__axis_runs *runs) {
  uint32_t bits = 0;
  for (int i = 0; i < runs->n; i++)
    for (int a = runs->first[i]; a < runs->first[i] + runs->count[i]; a++)
      bits |= mesh->axes[a].size > 1 ? 1u << a : 0;
  return bits;
}

/* ---- values ---- */

typedef struct evaluation {
  const tp_mesh *mesh;
  int64_t device;
  /* The remaining number of ops to visit. The expression is evaluated as a tree, although the IR is
   * a DAG. */
  int budget;
} evaluation;

enum { BUDGET = 4096 };

static bool evaluate(evaluation *e, MlirValue value, int64_t *number);

static bool add(int64_t a, int64_t b, int64_t *r) { return !__builtin_add_overflow(a, b, r); }
static bool subtract(int64_t a, int64_t b, int64_t *r) { return !__builtin_sub_overflow(a, b, r); }
static bool multiply(int64_t a, int64_t b, int64_t *r) { return !__builtin_mul_overflow(a, b, r); }
static bool bit_and(int64_t a, int64_t b, int64_t *r) { return *r = a & b, true; }
static bool bit_or(int64_t a, int64_t b, int64_t *r) { return *r = a | b, true; }
static bool bit_xor(int64_t a, int64_t b, int64_t *r) { return *r = a ^ b, true; }
static bool min_i64(int64_t a, int64_t b, int64_t *r) { return *r = a < b ? a : b, true; }
static bool max_i64(int64_t a, int64_t b, int64_t *r) { return *r = a > b ? a : b, true; }
static bool divide(int64_t a, int64_t b, int64_t *r) { return b > 0 && (*r = a / b, true); }
static bool remainder_of(int64_t a, int64_t b, int64_t *r) { return b > 0 && (*r = a % b, true); }
static bool floor_divide(int64_t a, int64_t b, int64_t *r) {
  return b > 0 && (*r = a / b - (a % b < 0), true);
}
static bool ceil_divide(int64_t a, int64_t b, int64_t *r) {
  return b > 0 && (*r = a / b + (a % b > 0), true);
}

typedef struct binary_row {
  const char *name;
  bool (*apply)(int64_t a, int64_t b, int64_t *r);
  /* An unsigned op, which is evaluated with signed arithmetic and therefore only for non-negative
   * operands. */
  bool is_unsigned;
} binary_row;

static const binary_row binaries[] = {
    {"arith.addi", add, false},
    {"arith.subi", subtract, false},
    {"arith.muli", multiply, false},
    {"arith.andi", bit_and, false},
    {"arith.ori", bit_or, false},
    {"arith.xori", bit_xor, false},
    {"arith.minsi", min_i64, false},
    {"arith.maxsi", max_i64, false},
    {"arith.minui", min_i64, true},
    {"arith.maxui", max_i64, true},
    {"arith.divsi", divide, false},
    {"arith.divui", divide, true},
    {"arith.remsi", remainder_of, false},
    {"arith.remui", remainder_of, true},
    {"arith.floordivsi", floor_divide, false},
    {"arith.ceildivsi", ceil_divide, false},
    {"arith.ceildivui", ceil_divide, true},
};

static bool compare(int64_t predicate, int64_t a, int64_t b, int64_t *r) {
  const bool results[] = {a == b, a != b, a<b, a <= b, a> b, a >= b, a<b, a <= b, a> b, a >= b};
  if (predicate < 0 || predicate >= TP_LEN(results) || (predicate >= TP_ULT && (a < 0 || b < 0)))
    return false;
  *r = results[predicate];
  return true;
}

static bool evaluate_place(evaluation *e, MlirOperation op, int result, int64_t *number) {
  tp__axis_runs runs;
  bool shape = tp__op_is(op, "shard.grid_shape");
  *number = e->device;
  if (tp__op_is(op, "shard.process_linear_index"))
    return true;
  if ((!shape && !tp__op_is(op, "shard.process_multi_index")) ||
      tp__read_axis_runs(op, "axes", e->mesh, &runs) != TP_OK)
    return false;
  if (runs.n == 0 && tp__all_axis_runs(op, e->mesh, &runs) != TP_OK)
    return false;
  *number = shape ? tp__run_size(e->mesh, &runs, result)
                  : tp__run_coordinate(e->mesh, &runs, result, e->device);
  return true;
}

/* Computes shard.neighbors_linear_indices exactly as lower_neighbors of the lowering does. */
static bool evaluate_neighbor(evaluation *e, MlirOperation op, int result, int64_t *number) {
  tp__axis_runs all, split;
  if (tp__all_axis_runs(op, e->mesh, &all) != TP_OK ||
      tp__read_axis_runs(op, "split_axes", e->mesh, &split) != TP_OK || split.n != 1 ||
      mlirOperationGetNumOperands(op) != all.n)
    return false;
  int64_t device = 0, step = result == 0 ? -1 : 1;
  for (int i = 0; i < all.n; i++) {
    int64_t at, size = tp__run_size(e->mesh, &all, i);
    if (!evaluate(e, mlirOperationGetOperand(op, i), &at) || at < 0 || at >= size)
      return false;
    device = tp__run_move(e->mesh, &all, i, device, at);
  }
  int64_t to = tp__run_coordinate(e->mesh, &split, 0, device) + step;
  *number = to < 0 || to >= tp__run_size(e->mesh, &split, 0)
                ? -1
                : tp__run_move(e->mesh, &split, 0, device, to);
  return true;
}

static bool evaluate_binary(const binary_row *row, int64_t a, int64_t b, int64_t *number) {
  return (!row->is_unsigned || (a >= 0 && b >= 0)) && row->apply(a, b, number);
}

static bool is_cast(MlirOperation op) {
  static const char *const casts[] = {"arith.index_cast", "arith.index_castui", "arith.extsi",
                                      "arith.extui", "arith.trunci"};
  for (int i = 0; i < TP_LEN(casts); i++)
    if (tp__op_is(op, casts[i]))
      return true;
  return false;
}

/* Ops whose result, or every element of it, is operand 0, or is an element of operand 0. */
static bool passes_on(MlirOperation op) {
  static const char *const names[] = {"tensor.extract", "tensor.expand_shape",
                                      "tensor.collapse_shape", "linalg.fill"};
  return tp__op_is_any(op, TP_LEN(names), names) ||
         (tp__op_is(op, "tensor.from_elements") && mlirOperationGetNumOperands(op) == 1);
}

static bool evaluate_constant(MlirOperation op, int64_t *number) {
  MlirAttribute attr = tp__inherent(op, "value");
  if (mlirAttributeIsADenseElements(attr) && mlirDenseElementsAttrIsSplat(attr))
    attr = mlirDenseElementsAttrGetSplatValue(attr);
  bool is_integer = mlirAttributeIsAInteger(attr);
  *number = is_integer ? mlirIntegerAttrGetValueInt(attr) : 0;
  return is_integer;
}

static bool evaluate_op(evaluation *e, MlirOperation op, int result, int64_t *number) {
  int64_t in[3];
  int n = (int)mlirOperationGetNumOperands(op);
  if (tp__op_is(op, "arith.constant"))
    return evaluate_constant(op, number);
  if (passes_on(op))
    return evaluate(e, mlirOperationGetOperand(op, 0), number);
  if (tp__op_is(op, "shard.neighbors_linear_indices"))
    return evaluate_neighbor(e, op, result, number);
  if (tp__op_has_dialect(op, "shard"))
    return evaluate_place(e, op, result, number);
  if (!tp__op_has_dialect(op, "arith") || n < 1 || n > TP_LEN(in))
    return false;
  for (int i = 0; i < n; i++)
    if (!evaluate(e, mlirOperationGetOperand(op, i), &in[i]))
      return false;
  *number = n == 3 && in[0] ? in[1] : in[n - 1];
  /* the extension of a negative value may be signed or unsigned */
  if (tp__op_is(op, "arith.select") || (is_cast(op) && in[0] >= 0))
    return true;
  if (tp__op_is(op, "arith.cmpi"))
    return compare(mlirIntegerAttrGetValueInt(tp__inherent(op, "predicate")), in[0], in[1], number);
  for (int i = 0; i < TP_LEN(binaries) && n == 2; i++)
    if (tp__op_is(op, binaries[i].name))
      return evaluate_binary(&binaries[i], in[0], in[1], number);
  return false;
}

static bool has_64_bits(MlirType type) {
  return mlirTypeIsAIndex(type) ||
         (mlirTypeIsAInteger(type) && mlirIntegerTypeGetWidth(type) <= 64);
}

/* True if the type can hold the number. The arithmetic uses 64 bits; a narrower type would have
 * wrapped. */
static bool fits(MlirType type, int64_t *number) {
  int width = mlirTypeIsAIndex(type) ? 64 : (int)mlirIntegerTypeGetWidth(type);
  if (width == 1)
    *number &= 1; /* MLIR stores true as -1 */
  return width == 1 || width >= 64 ||
         (*number < (INT64_C(1) << (width - 1)) && *number >= -(INT64_C(1) << (width - 1)));
}

static bool evaluate(evaluation *e, MlirValue value, int64_t *number) {
  MlirOperation op = tp__defining_op(value);
  MlirType type = tp__number_type(mlirValueGetType(value));
  if (mlirOperationIsNull(op) || e->budget-- <= 0 || !has_64_bits(type))
    return false;
  return evaluate_op(e, op, (int)mlirOpResultGetResultNumber(value), number) && fits(type, number);
}

bool tp__value_on_device(MlirValue value, const tp_mesh *mesh, int64_t device, int64_t *number) {
  evaluation e = {.mesh = mesh, .device = device, .budget = BUDGET};
  return evaluate(&e, value, number);
}

bool tp__coordinate_on_device(MlirOperation op, const char *attr, int i, const tp_mesh *mesh,
                              int64_t device, int64_t *number) {
  enum { MAX_ENTRIES = 2 * TP_MAX_RANK };
  int64_t list[MAX_ENTRIES];
  int n = tp__int_list(tp__inherent(op, attr), MAX_ENTRIES, list), operand = 1;
  if (i >= n)
    return false;
  for (int k = 0; k < i; k++)
    operand += list[k] == INT64_MIN;
  *number = list[i];
  return list[i] != INT64_MIN ||
         tp__value_on_device(mlirOperationGetOperand(op, operand), mesh, device, number);
}
