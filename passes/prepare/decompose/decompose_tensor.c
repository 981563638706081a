/* Decomposes ops of the tensor dialect that have an equivalent in linalg, arith or reshapes:
 * generate, pad, dim, rank, bitcast, reshape. */
#include "passes/prepare/decompose/decompose.h"

#include "rules/padding.h"

/* ---- tensor.generate: a linalg.generic without inputs that uses the loop indices ---- */

/* $a: type, $b: element type, $c: identity map, $d: iterators, $e: the index ops. */
#define GENERATED                                                                                  \
  "  %e = tensor.empty() : $a\n"                                                                   \
  "  %r = linalg.generic {indexing_maps = [$c], iterator_types = [$d]} outs(%e : $a) {\n"          \
  "  ^bb0(%o: $b):\n"                                                                              \
  "$e"                                                                                             \
  "    linalg.yield %o : $b\n"                                                                     \
  "  } -> $a\n"

static void append_generated(tp__parts *parts, MlirType type) {
  int rank = (int)mlirShapedTypeGetRank(type);
  tp__part_type(parts, type);
  tp__part_type(parts, tp__element_type(type));
  tp__append_map(tp__part(parts), rank, -1);
  tp__append_iterators(tp__part(parts), rank, -1);
  tp__string *indices = tp__part(parts);
  for (int d = 0; d < rank; d++)
    tp__string_printf(indices, "    %%i%d = linalg.index %d : index\n", d, d);
}

/* Moves the body of `op`, whose arguments are indices, into the linalg.generic of GENERATED, with
 * which `func` begins. */
static void move_body(MlirOperation op, MlirOperation func) {
  MlirOperation empty = mlirBlockGetFirstOperation(tp__region_block(func, 0));
  MlirOperation loops = mlirOperationGetNextInBlock(empty);
  MlirBlock from = mlirRegionGetFirstBlock(mlirOperationGetRegion(op, 0));
  MlirBlock to = mlirRegionGetFirstBlock(mlirOperationGetRegion(loops, 0));
  MlirOperation yield = mlirBlockGetTerminator(to), old_yield = mlirBlockGetTerminator(from), next;
  MlirOperation index = mlirBlockGetFirstOperation(to);
  intptr_t rank = mlirBlockGetNumArguments(from);
  for (intptr_t d = 0; d < rank; d++, index = mlirOperationGetNextInBlock(index))
    mlirValueReplaceAllUsesOfWith(mlirBlockGetArgument(from, d), mlirOperationGetResult(index, 0));
  for (MlirOperation inner = mlirBlockGetFirstOperation(from);
       !mlirOperationEqual(inner, old_yield); inner = next) {
    next = mlirOperationGetNextInBlock(inner);
    mlirOperationMoveBefore(inner, yield);
  }
  mlirOperationSetOperand(yield, 0, mlirOperationGetOperand(old_yield, 0));
}

tp_status tp__decompose_generate(MlirOperation op) {
  tp__parts parts = {0};
  append_generated(&parts, mlirValueGetType(mlirOperationGetResult(op, 0)));
  MlirOperation func =
      tp__decomposition(op,
                        "func.func private @generate() -> $a {\n" GENERATED "  return %r : $a\n"
                        "}\n",
                        &parts);
  if (mlirOperationIsNull(func))
    return TP_NO_MEMORY;
  move_body(op, func);
  tp__decompose_into(op, func, 0, NULL);
  return TP_OK;
}

/* ---- tensor.pad: the operand, or what negative padding leaves of it, inserted into what the body
 * generates ---- */

/* Finds the part of the operand that stays, by its place in the operand and in the result. False if
 * the padding is not static, or removes more than there is. */
static bool find_kept(MlirOperation op, tp_padding *p, int64_t *from, int64_t *sizes, int64_t *to) {
  if (!tp__padding_of(op, p))
    return false;
  for (int d = 0; d < p->rank; d++) {
    if (!tp__padding_is_known(p, d) || p->low[d] < -TP_MAX_ELEMENTS ||
        p->high[d] < -TP_MAX_ELEMENTS)
      return false;
    from[d] = p->low[d] < 0 ? -p->low[d] : 0;
    to[d] = p->low[d] > 0 ? p->low[d] : 0;
    sizes[d] = tp__value_size(mlirOperationGetOperand(op, 0), d) - from[d] +
               (p->high[d] < 0 ? p->high[d] : 0);
    if (sizes[d] < 0)
      return false;
  }
  return true;
}

bool tp__is_odd_pad(MlirOperation op) {
  tp_padding p;
  int64_t from[TP_MAX_RANK], sizes[TP_MAX_RANK], to[TP_MAX_RANK];
  MlirValue operand = mlirOperationGetOperand(op, 0);
  int rank;
  if (!tp__static_tensor(mlirValueGetType(operand), &rank, sizes) ||
      !find_kept(op, &p, from, sizes, to))
    return false;
  bool crops = false;
  for (int d = 0; d < p.rank; d++)
    crops |= p.low[d] < 0 || p.high[d] < 0;
  return crops || tp__padding_moves(op);
}

/* $f: type of the operand, $g: of what stays of it, $h: where that is in the operand, $i: in the
 * result, $j: its sizes, $k: strides. */
static const char pad[] = "func.func private @pad(%x: $f) -> $a {\n" GENERATED
                          "  %k = tensor.extract_slice %x$h$j$k : $f to $g\n"
                          "  %p = tensor.insert_slice %k into %r$i$j$k : $g into $a\n"
                          "  return %p : $a\n"
                          "}\n";
/* Nothing stays. Upstream's verifier refuses slices at the end of a dimension. */
static const char pad_only[] =
    "func.func private @pad(%x: $f) -> $a {\n" GENERATED "  return %r : $a\n"
    "}\n";

tp_status tp__decompose_pad(MlirOperation op) {
  tp_padding p;
  int64_t from[TP_MAX_RANK], sizes[TP_MAX_RANK], to[TP_MAX_RANK], ones[TP_MAX_RANK];
  MlirValue x = mlirOperationGetOperand(op, 0);
  MlirType type = mlirValueGetType(x);
  bool is_empty = false;
  find_kept(op, &p, from, sizes, to);
  for (int d = 0; d < p.rank; d++) {
    ones[d] = 1;
    is_empty |= sizes[d] == 0;
  }
  tp__parts parts = {0};
  append_generated(&parts, mlirValueGetType(mlirOperationGetResult(op, 0)));
  tp__part_type(&parts, type);
  tp__part_tensor(&parts, type, p.rank, sizes);
  const int64_t *const lists[] = {from, to, sizes, ones};
  for (int i = 0; i < TP_LEN(lists); i++)
    tp__append_list(tp__part(&parts), p.rank, lists[i]);
  MlirOperation func = tp__decomposition(op, is_empty ? pad_only : pad, &parts);
  if (mlirOperationIsNull(func))
    return TP_NO_MEMORY;
  move_body(op, func);
  tp__decompose_into(op, func, 1, &x);
  return TP_OK;
}

/* ---- tensor.dim, tensor.rank: constants ---- */

tp_status tp__decompose_rank(MlirOperation op) {
  tp__parts parts = {0};
  tp__string_printf(tp__part(&parts), "%d",
                    (int)mlirShapedTypeGetRank(mlirValueGetType(mlirOperationGetOperand(op, 0))));
  return tp__decompose_by(op,
                          "func.func private @rank() -> index {\n"
                          "  %r = arith.constant $a : index\n"
                          "  return %r : index\n"
                          "}\n",
                          &parts, 0, NULL);
}

/* Reads the size from a constant table of all sizes, because the dimension may be dynamic. */
tp_status tp__decompose_dim(MlirOperation op) {
  MlirValue d = mlirOperationGetOperand(op, 1);
  int rank;
  int64_t shape[TP_MAX_RANK];
  tp__static_tensor(mlirValueGetType(mlirOperationGetOperand(op, 0)), &rank, shape);
  tp__parts parts = {0};
  tp__append_list(tp__part(&parts), rank, shape);
  tp__string_printf(tp__part(&parts), "tensor<%dxindex>", rank);
  return tp__decompose_by(op,
                          "func.func private @dim(%d: index) -> index {\n"
                          "  %sizes = arith.constant dense<$a> : $b\n"
                          "  %r = tensor.extract %sizes[%d] : $b\n"
                          "  return %r : index\n"
                          "}\n",
                          &parts, 1, &d);
}

/* ---- tensor.bitcast ---- */

static bool has_sign(MlirType type) {
  return mlirTypeIsAInteger(type) && !mlirIntegerTypeIsSignless(type);
}

tp_status tp__decompose_bitcast(MlirOperation op) {
  MlirValue x = mlirOperationGetOperand(op, 0);
  MlirType from = mlirValueGetType(x), to = mlirValueGetType(mlirOperationGetResult(op, 0));
  if (has_sign(tp__element_type(from)) || has_sign(tp__element_type(to))) {
    char a[64], b[64];
    tp__type_text(tp__element_type(from), sizeof a, a);
    tp__type_text(tp__element_type(to), sizeof b, b);
    return tp__error(op, TP_UNSUPPORTED,
                     "casts %s to %s: signed and unsigned integer types cannot be compiled; use "
                     "the signless i8, i16, i32, i64",
                     a, b);
  }
  tp__parts parts = {0};
  tp__part_type(&parts, from);
  tp__part_type(&parts, to);
  return tp__decompose_by(op,
                          "func.func private @bitcast(%x: $a) -> $b {\n"
                          "  %r = arith.bitcast %x : $a to $b\n"
                          "  return %r : $b\n"
                          "}\n",
                          &parts, 1, &x);
}

/* ---- tensor.reshape: collapses to the finest shape that divides both shapes, then expands ---- */

typedef struct grouping {
  int n;                      /* number of groups */
  int64_t sizes[TP_MAX_RANK]; /* sizes of the groups */
  int from[TP_MAX_RANK + 1],
      /* group g: source dimensions from[g] .. from[g + 1], result dimensions to[g] .. to[g + 1] */
      to[TP_MAX_RANK + 1];
} grouping;

/* Groups the dimensions of both shapes: a group ends where the products of the sizes are equal.
 * Trailing sizes of 1 join the last group. A tensor without elements has a single group. */
static grouping group(int rank_from, const int64_t *from, int rank_to, const int64_t *to,
                      int64_t elements) {
  grouping g = {0};
  int i = 0, j = 0;
  while (i < rank_from || j < rank_to) {
    int64_t a = i < rank_from ? from[i++] : 1, b = j < rank_to ? to[j++] : 1;
    while (elements > 0 && a != b)
      if (a < b)
        a *= from[i++];
      else
        b *= to[j++];
    bool ones = true;
    for (int k = i; k < rank_from; k++)
      ones &= from[k] == 1;
    for (int k = j; k < rank_to; k++)
      ones &= to[k] == 1;
    if (ones || elements == 0) {
      i = rank_from;
      j = rank_to;
    }
    g.sizes[g.n++] = a;
    g.from[g.n] = i;
    g.to[g.n] = j;
  }
  return g;
}

static void append_groups(tp__string *text, int n, const int *at) {
  tp__string_append(text, "[");
  for (int g = 0; g < n; g++) {
    tp__string_append(text, g ? ", [" : "[");
    for (int d = at[g]; d < at[g + 1]; d++)
      tp__string_printf(text, "%s%d", d > at[g] ? ", " : "", d);
    tp__string_append(text, "]");
  }
  tp__string_append(text, "]");
}

tp_status tp__decompose_reshape(MlirOperation op) {
  MlirValue x = mlirOperationGetOperand(op, 0);
  MlirType source = mlirValueGetType(x), result = mlirValueGetType(mlirOperationGetResult(op, 0));
  int rank_from, rank_to;
  int64_t from[TP_MAX_RANK], to[TP_MAX_RANK], elements = 1;
  tp__static_tensor(source, &rank_from, from);
  tp__static_tensor(result, &rank_to, to);
  for (int d = 0; d < rank_from; d++)
    elements *= from[d];
  grouping g = group(rank_from, from, rank_to, to, elements);
  if (elements == 0)
    g.sizes[0] = 0;
  if (rank_from == 0 || rank_to == 0) /* a tensor of rank 0 has no dimension to group */
    g.n = 0;
  tp__parts parts = {0};
  tp__part_type(&parts, source);
  tp__part_type(&parts, result);
  tp__part_tensor(&parts, source, g.n, g.sizes);
  append_groups(tp__part(&parts), g.n, g.from);
  append_groups(tp__part(&parts), g.n, g.to);
  tp__append_list(tp__part(&parts), rank_to, to);
  bool collapses = rank_from > g.n, expands = rank_to > g.n;
  const char *format = collapses && expands
                           ? "func.func private @reshape(%x: $a) -> $b {\n"
                             "  %m = tensor.collapse_shape %x $d : $a into $c\n"
                             "  %r = tensor.expand_shape %m $e output_shape $f : $c into $b\n"
                             "  return %r : $b\n"
                             "}\n"
                       : collapses ? "func.func private @reshape(%x: $a) -> $b {\n"
                                     "  %r = tensor.collapse_shape %x $d : $a into $b\n"
                                     "  return %r : $b\n"
                                     "}\n"
                       : expands ? "func.func private @reshape(%x: $a) -> $b {\n"
                                   "  %r = tensor.expand_shape %x $e output_shape $f : $a into $b\n"
                                   "  return %r : $b\n"
                                   "}\n"
                                 : "func.func private @reshape(%x: $a) -> $a {\n"
                                   "  return %x : $a\n"
                                   "}\n";
  return tp__decompose_by(op, format, &parts, 1, &x);
}

/* ---- concatenations ---- */

static bool adds_elements(MlirOperation op, intptr_t i) {
  return tp__value_size(mlirOperationGetOperand(op, i),
                        (int)mlirIntegerAttrGetValueInt(tp__inherent(op, "dim"))) != 0;
}

bool tp__concats_nothing(MlirOperation op) {
  intptr_t n_adding = 0, n = mlirOperationGetNumOperands(op);
  for (intptr_t i = 0; i < n; i++)
    n_adding += adds_elements(op, i);
  return n_adding < n;
}

tp_status tp__decompose_concat(MlirOperation op) {
  intptr_t n_all = mlirOperationGetNumOperands(op);
  MlirValue *kept = tp__calloc((size_t)n_all, sizeof *kept);
  if (!kept)
    return tp__out_of_memory(op);
  int n = 0;
  for (intptr_t i = 0; i < n_all; i++)
    if (adds_elements(op, i))
      kept[n++] = mlirOperationGetOperand(op, i);
  MlirType type = mlirValueGetType(mlirOperationGetResult(op, 0));
  MlirAttribute sharding = tp__get(op, "tp.sharding");
  MlirNamedAttribute dim = tp__named(mlirOperationGetContext(op), "dim", tp__inherent(op, "dim"));
  MlirOperation concat = tp__create(&(tp_build){.name = n > 0 ? "tensor.concat" : "tensor.empty",
                                                .location = mlirOperationGetLocation(op),
                                                .n_operands = n,
                                                .operands = kept,
                                                .n_results = 1,
                                                .results = &type,
                                                .n_attributes = n > 0,
                                                .attributes = &dim});
  tp__free(kept);
  if (!mlirAttributeIsNull(sharding))
    tp__set(concat, "tp.sharding", sharding);
  tp__insert_before(op, concat);
  mlirValueReplaceAllUsesOfWith(mlirOperationGetResult(op, 0), mlirOperationGetResult(concat, 0));
  mlirOperationDestroy(op);
  return TP_OK;
}
