/* Decomposes tensor.gather and tensor.scatter. A gather becomes a linalg.generic that looks up one
 * element per point, in the form whose rows can be sharded. A scatter becomes a loop that writes
 * one slice per iteration. */
#include "passes/prepare/decompose/decompose.h"

/* Addressing of a gather or scatter. Both ops address points of a tensor by coordinates. The last
 * dimension of the indices holds one coordinate for each entry of `dims`. */
typedef struct addressing {
  /* rank of the addressed tensor; number of index dimensions before the last; number of
   * coordinates */
  int rank, n_batch, n_dims;
  int64_t shape[TP_MAX_RANK], batch[TP_MAX_RANK], dims[TP_MAX_RANK];
  bool full; /* slices keep the addressed dimensions, with size 1 */
  MlirType indices;
} addressing;

static const char *coordinate(const addressing *a) {
  return mlirTypeIsAIndex(tp__element_type(a->indices)) ? "%k" : "%p";
}

static bool is_addressed(const addressing *a, int d) {
  for (int c = 0; c < a->n_dims; c++)
    if (a->dims[c] == d)
      return true;
  return false;
}

static addressing read_addressing(MlirOperation op, MlirType tensor, MlirType slices,
                                  MlirValue indices, const char *dims) {
  addressing a = {.indices = mlirValueGetType(indices)};
  int rank;
  int64_t shape[TP_MAX_RANK];
  tp__static_tensor(tensor, &a.rank, a.shape);
  tp__static_tensor(a.indices, &rank, a.batch);
  a.n_batch = rank - 1;
  a.n_dims = tp__int_list(tp__inherent(op, dims), TP_MAX_RANK, a.dims);
  tp__static_tensor(slices, &rank, shape);
  a.full = rank == a.n_batch + a.rank;
  return a;
}

/* Appends the position of an access, one entry per dimension of the tensor: the coordinate if the
 * dimension is addressed, else `other` followed by the number of the dimension, or 0 if `other` is
 * NULL. */
static void append_places(tp__string *text, const addressing *a, const char *other) {
  for (int d = 0; d < a->rank; d++) {
    int c = 0;
    while (c < a->n_dims && a->dims[c] != d)
      c++;
    tp__string_append(text, d ? ", " : "");
    if (c < a->n_dims)
      tp__string_printf(text, "%s%d", coordinate(a), c);
    else if (other)
      tp__string_printf(text, "%s%d", other, d);
    else
      tp__string_append(text, "0");
  }
}

/* Appends a cast of coordinate %k<c> to index %p<c>, unless the coordinates are of index type. */
static void append_cast(tp__string *text, const addressing *a, int c) {
  MlirType type = tp__element_type(a->indices);
  if (mlirTypeIsAIndex(type))
    return;
  tp__string_printf(text, "    %%p%d = arith.index_cast %%k%d : ", c, c);
  tp__append_type(text, type);
  tp__string_append(text, " to index\n");
}

/* ---- gather ---- */

/* $a: source, $b: indices, $c: result, $d: identity map, $e: maps of the coordinates, $f:
 * iterators, $g: one operand per coordinate, $h: types of these operands, $i: body arguments, $j:
 * index computations in the body, $k: position of the read, $l: element type. */
static const char lookup[] = "func.func private @gather(%x: $a, %at: $b) -> $c {\n"
                             "  %e = tensor.empty() : $c\n"
                             "  %r = linalg.generic {indexing_maps = [$e$d], iterator_types = "
                             "[$f]} ins($g : $h) outs(%e : $c) {\n"
                             "  ^bb0($i%o: $l):\n"
                             "$j"
                             "    %v = tensor.extract %x[$k] : $a\n"
                             "    linalg.yield %v : $l\n"
                             "  } -> $c\n"
                             "  return %r : $c\n"
                             "}\n";

static void append_coordinate_map(tp__string *text, const addressing *a, int rank, int c) {
  tp__string_append(text, "affine_map<(");
  for (int d = 0; d < rank; d++)
    tp__string_printf(text, "%sd%d", d ? ", " : "", d);
  tp__string_append(text, ") -> (");
  for (int d = 0; d < a->n_batch; d++)
    tp__string_printf(text, "d%d, ", d);
  tp__string_printf(text, "%d)>, ", c);
}

static void append_lookup_body(tp__string *text, const addressing *a) {
  for (int c = 0; c < a->n_dims; c++)
    append_cast(text, a, c);
  for (int d = 0, loop = a->n_batch; d < a->rank; d++) {
    if (!is_addressed(a, d))
      tp__string_printf(text, "    %%i%d = linalg.index %d : index\n", d, loop);
    loop += a->full || !is_addressed(a, d);
  }
}

tp_status tp__decompose_gather(MlirOperation op) {
  MlirValue values[] = {mlirOperationGetOperand(op, 0), mlirOperationGetOperand(op, 1)};
  MlirType source = mlirValueGetType(values[0]),
           result = mlirValueGetType(mlirOperationGetResult(op, 0));
  addressing a = read_addressing(op, source, result, values[1], "gather_dims");
  int rank = (int)mlirShapedTypeGetRank(result);
  tp__parts parts = {0};
  tp__part_type(&parts, source);
  tp__part_type(&parts, a.indices);
  tp__part_type(&parts, result);
  tp__append_map(tp__part(&parts), rank, -1);
  tp__string *maps = tp__part(&parts);
  tp__append_iterators(tp__part(&parts), rank, -1);
  tp__string *operands = tp__part(&parts), *types = tp__part(&parts), *arguments = tp__part(&parts);
  for (int c = 0; c < a.n_dims; c++) {
    append_coordinate_map(maps, &a, rank, c);
    tp__string_append(operands, c ? ", %at" : "%at");
    tp__string_append(types, c ? ", " : "");
    tp__append_type(types, a.indices);
    tp__string_printf(arguments, "%%k%d: ", c);
    tp__append_type(arguments, tp__element_type(a.indices));
    tp__string_append(arguments, ", ");
  }
  append_lookup_body(tp__part(&parts), &a);
  append_places(tp__part(&parts), &a, "%i");
  tp__part_type(&parts, tp__element_type(source));
  return tp__decompose_by(op, lookup, &parts, TP_LEN(values), values);
}

/* ---- scatter ---- */

/* $a: slices, $b: destination, $c: indices, $d: indices flattened to n points, $e: slices flattened
 * to n points, $f: the flattening ops, $g: n, $h: coordinates, $i: slice of one point, $j: offsets,
 * sizes and strides of the read from the slices, $k: the same for the write to the destination. */
static const char loop[] =
    "func.func private @scatter(%x: $a, %to: $b, %at: $c) -> $b {\n"
    "$f"
    "  %zero = arith.constant 0 : index\n"
    "  %one = arith.constant 1 : index\n"
    "  %n = arith.constant $g : index\n"
    "  %r = scf.for %i = %zero to %n step %one iter_args(%t = %to) -> ($b) {\n"
    "$h"
    "    %s = tensor.extract_slice %points$j : $e to $i\n"
    "    %u = tensor.insert_slice %s into %t$k : $i into $b\n"
    "    scf.yield %u : $b\n"
    "  }\n"
    "  return %r : $b\n"
    "}\n";

/* Appends an op that defines `to` as `from` with its first n_batch dimensions flattened to one of
 * size n. Returns the type of `to`. */
static MlirType append_flattening(tp__string *text, const char *to, const char *from, MlirType type,
                                  int n_batch, int64_t n) {
  int rank, flat_rank = 1;
  int64_t shape[TP_MAX_RANK], sizes[TP_MAX_RANK + 1] = {n};
  tp__static_tensor(type, &rank, shape);
  for (int d = n_batch; d < rank; d++)
    sizes[flat_rank++] = shape[d];
  MlirType flat = tp__tensor_like(type, flat_rank, sizes);
  if (n_batch == 1) {
    tp__string_printf(text, "  %s = tensor.cast %s : ", to, from);
  } else {
    bool joins = n_batch > 1;
    int longer = joins ? rank : flat_rank, first = joins ? n_batch : rank > 0 ? 2 : 1;
    tp__string_printf(text, "  %s = tensor.%s %s [", to, joins ? "collapse_shape" : "expand_shape",
                      from);
    for (int d = 0; d < longer && (joins || rank > 0); d++)
      tp__string_printf(text, "%s%d", d == 0 ? "[" : d < first ? ", " : "], [", d);
    tp__string_append(text, joins || rank > 0 ? "]] " : "] ");
    if (!joins) {
      tp__string_append(text, "output_shape ");
      tp__append_list(text, flat_rank, sizes);
    }
    tp__string_append(text, " : ");
  }
  tp__append_type(text, type);
  tp__string_append(text, n_batch == 1 ? " to " : " into ");
  tp__append_type(text, flat);
  tp__string_append(text, "\n");
  return flat;
}

static void append_coordinates(tp__string *text, const addressing *a, MlirType flat) {
  for (int c = 0; c < a->n_dims; c++) {
    tp__string_printf(
        text,
        "    %%c%d = arith.constant %d : index\n    %%k%d = tensor.extract %%table[%%i, %%c%d] : ",
        c, c, c, c);
    tp__append_type(text, flat);
    tp__string_append(text, "\n");
    append_cast(text, a, c);
  }
}

/* Appends the sizes of the slice of one point. With `all`, addressed dimensions are included, with
 * size 1. */
static void append_sizes(tp__string *text, const addressing *a, bool all) {
  for (int d = 0, n = 0; d < a->rank; d++)
    if (all || !is_addressed(a, d))
      tp__string_printf(text, "%s%lld", n++ ? ", " : "",
                        is_addressed(a, d) ? 1LL : (long long)a->shape[d]);
}

static void append_ones(tp__string *text, int n) {
  for (int d = 0; d < n; d++)
    tp__string_append(text, d ? ", 1" : "1");
}

tp_status tp__decompose_scatter(MlirOperation op) {
  MlirValue values[] = {mlirOperationGetOperand(op, 0), mlirOperationGetOperand(op, 1),
                        mlirOperationGetOperand(op, 2)};
  MlirType slices = mlirValueGetType(values[0]), tensor = mlirValueGetType(values[1]);
  addressing a = read_addressing(op, tensor, slices, values[2], "scatter_dims");
  int64_t n = 1, one_slice[TP_MAX_RANK];
  int n_kept = 0;
  for (int d = 0; d < a.n_batch; d++)
    n *= a.batch[d];
  for (int d = 0; d < a.rank; d++)
    if (!is_addressed(&a, d))
      one_slice[n_kept++] = a.shape[d];
  int n_slice = a.full ? a.rank : n_kept;
  tp__string flattening = {0};
  MlirType flat_indices = append_flattening(&flattening, "%table", "%at", a.indices, a.n_batch, n);
  MlirType flat_slices = append_flattening(&flattening, "%points", "%x", slices, a.n_batch, n);
  tp__parts parts = {0};
  tp__part_type(&parts, slices);
  tp__part_type(&parts, tensor);
  tp__part_type(&parts, a.indices);
  tp__part_type(&parts, flat_indices);
  tp__part_type(&parts, flat_slices);
  *tp__part(&parts) = flattening;
  tp__string_printf(tp__part(&parts), "%lld", (long long)n);
  append_coordinates(tp__part(&parts), &a, flat_indices);
  tp__part_tensor(&parts, tensor, n_kept, one_slice);
  tp__string *reads = tp__part(&parts), *writes = tp__part(&parts);
  tp__string_append(reads, "[%i");
  for (int d = 0; d < n_slice; d++)
    tp__string_append(reads, ", 0");
  tp__string_append(reads, n_slice ? "] [1, " : "] [1");
  append_sizes(reads, &a, a.full);
  tp__string_append(reads, "] [");
  append_ones(reads, 1 + n_slice);
  tp__string_append(reads, "]");
  tp__string_append(writes, "[");
  append_places(writes, &a, NULL);
  tp__string_append(writes, "] [");
  append_sizes(writes, &a, true);
  tp__string_append(writes, "] [");
  append_ones(writes, a.rank);
  tp__string_append(writes, "]");
  return tp__decompose_by(op, loop, &parts, TP_LEN(values), values);
}
