/* Decomposes linalg.pack and linalg.unpack. A pack pads, splits each tiled dimension into (tiles,
 * tile elements), and transposes. An unpack does the reverse. */
#include "passes/prepare/decompose/decompose.h"

typedef struct packing {
  MlirType plain, packed;
  int rank, n_tiled;              /* rank of the plain tensor; number of tiled dimensions */
  int64_t shape[TP_MAX_RANK];     /* plain shape */
  int64_t padded[TP_MAX_RANK];    /* plain shape, rounded up to multiples of the tiles */
  int64_t split[2 * TP_MAX_RANK]; /* padded shape with each tiled dimension as (tiles, elements) */
  int64_t place[TP_MAX_RANK + 1]; /* index in `split` where plain dimension d begins */
  /* dimension i of the packed tensor is dimension order[i] of `split` */
  int64_t order[2 * TP_MAX_RANK];
  int64_t back[2 * TP_MAX_RANK]; /* inverse of `order` */
} packing;

static tp_status read_packing(MlirOperation op, MlirType plain, MlirType packed, packing *p) {
  int64_t tiles[TP_MAX_RANK], tiled[TP_MAX_RANK], outer[TP_MAX_RANK], tile_of[TP_MAX_RANK] = {0};
  *p = (packing){.plain = plain, .packed = packed};
  tp__static_tensor(plain, &p->rank, p->shape);
  p->n_tiled = tp__int_list(tp__inherent(op, "inner_dims_pos"), TP_MAX_RANK, tiled);
  tp__int_list(tp__inherent(op, "static_inner_tiles"), TP_MAX_RANK, tiles);
  int n_outer = tp__int_list(tp__inherent(op, "outer_dims_perm"), TP_MAX_RANK, outer);
  int packed_rank = p->rank + p->n_tiled;
  int64_t sizes[TP_MAX_RANK];
  tp__static_tensor(packed, &packed_rank, sizes);
  for (int i = 0; i < p->n_tiled; i++)
    /* take the tile size from the packed type, because an operand may give it */
    tile_of[tiled[i]] = sizes[p->rank + i];
  int n = 0;
  for (int d = 0; d < p->rank; d++) {
    int64_t tile = tile_of[d] ? tile_of[d] : 1, tiles_of = (p->shape[d] + tile - 1) / tile;
    p->padded[d] = tiles_of * tile;
    p->place[d] = n;
    p->split[n++] = tiles_of;
    if (tile_of[d])
      p->split[n++] = tile;
  }
  p->place[p->rank] = n;
  for (int d = 0; d < p->rank; d++)
    p->order[d] = p->place[n_outer > 0 ? outer[d] : d];
  for (int i = 0; i < p->n_tiled; i++)
    p->order[p->rank + i] = p->place[tiled[i]] + 1;
  for (int i = 0; i < packed_rank; i++)
    p->back[p->order[i]] = i;
  return TP_OK;
}

/* Appends the reassociation of plain dimensions into split ones, such as [[0], [1, 2]]. */
static void append_groups(tp__string *text, const packing *p) {
  tp__string_append(text, "[");
  for (int d = 0; d < p->rank; d++) {
    tp__string_printf(text, d ? ", [%lld" : "[%lld", (long long)p->place[d]);
    for (int64_t k = p->place[d] + 1; k < p->place[d + 1]; k++)
      tp__string_printf(text, ", %lld", (long long)k);
    tp__string_append(text, "]");
  }
  tp__string_append(text, "]");
}

static bool is_padded(const packing *p) {
  bool padded = false;
  for (int d = 0; d < p->rank; d++)
    padded |= p->padded[d] != p->shape[d];
  return padded;
}

/* $a: plain, $b: packed, $c: padded, $d: split, $e: groups, $f: sizes of split, $g: permutation,
 * $h: the padding op, $i: element type, $j: the value to split. */
static const char pack[] = "func.func private @pack(%x: $a, %pad: $i) -> $b {\n"
                           "$h"
                           "  %s = tensor.expand_shape $j $e output_shape $f : $c into $d\n"
                           "  %e = tensor.empty() : $b\n"
                           "  %r = linalg.transpose ins(%s : $d) outs(%e : $b) permutation = $g\n"
                           "  return %r : $b\n"
                           "}\n";

static void append_padding(tp__string *text, const packing *p) {
  tp__string_append(text, "  %p = tensor.pad %x low[");
  for (int d = 0; d < p->rank; d++)
    tp__string_append(text, d ? ", 0" : "0");
  tp__string_append(text, "] high[");
  for (int d = 0; d < p->rank; d++)
    tp__string_printf(text, "%s%lld", d ? ", " : "", (long long)(p->padded[d] - p->shape[d]));
  tp__string_append(text, "] {\n  ^bb0(");
  for (int d = 0; d < p->rank; d++)
    tp__string_printf(text, "%s%%i%d: index", d ? ", " : "", d);
  tp__string_append(text, "):\n    tensor.yield %pad : ");
  tp__append_type(text, tp__element_type(p->plain));
  tp__string_append(text, "\n  } : ");
  tp__append_type(text, p->plain);
  tp__string_append(text, " to ");
  tp__append_type(text, tp__tensor_like(p->plain, p->rank, p->padded));
  tp__string_append(text, "\n");
}

static void begin_parts(tp__parts *parts, const packing *p) {
  tp__part_type(parts, p->plain);
  tp__part_type(parts, p->packed);
  tp__part_tensor(parts, p->plain, p->rank, p->padded);
  tp__part_tensor(parts, p->plain, p->rank + p->n_tiled, p->split);
  append_groups(tp__part(parts), p);
}

/* Replaces a pack or unpack of rank 0 by its source. Upstream's verifier crashes on a transpose of
 * rank 0. */
static tp_status decompose_scalar(MlirOperation op, const packing *p) {
  MlirValue source = mlirOperationGetOperand(op, 0);
  tp__parts parts = {0};
  tp__part_type(&parts, p->plain);
  return tp__decompose_by(op,
                          "func.func private @scalar(%x: $a) -> $a {\n"
                          "  return %x : $a\n"
                          "}\n",
                          &parts, 1, &source);
}

tp_status tp__decompose_pack(MlirOperation op) {
  packing p;
  MlirValue source = mlirOperationGetOperand(op, 0), result = mlirOperationGetResult(op, 0);
  TP_TRY(read_packing(op, mlirValueGetType(source), mlirValueGetType(result), &p));
  if (p.rank == 0)
    return decompose_scalar(op, &p);
  tp__parts parts = {0};
  begin_parts(&parts, &p);
  tp__append_list(tp__part(&parts), p.rank + p.n_tiled, p.split);
  tp__append_list(tp__part(&parts), p.rank + p.n_tiled, p.order);
  tp__string *padding = tp__part(&parts);
  if (is_padded(&p))
    append_padding(padding, &p);
  tp__part_type(&parts, tp__element_type(p.plain));
  tp__string_append(tp__part(&parts), is_padded(&p) ? "%p" : "%x");
  /* The padding value is the operand after source and destination. Without padding this operand may
   * be absent and is not used. */
  MlirValue values[] = {source, mlirOperationGetOperand(op, is_padded(&p) ? 2 : 0)};
  return tp__decompose_by(op, pack, &parts, is_padded(&p) ? 2 : 1, values);
}

/* $a: plain, $b: packed, $c: padded, $d: split, $e: groups, $f: permutation, $g: the final slice
 * that removes the padding. */
static const char unpack[] = "func.func private @unpack(%x: $b) -> $a {\n"
                             "  %e = tensor.empty() : $d\n"
                             "  %s = linalg.transpose ins(%x : $b) outs(%e : $d) permutation = $f\n"
                             "  %r = tensor.collapse_shape %s $e : $d into $c\n"
                             "$g"
                             "}\n";

static void append_cut(tp__string *text, const packing *p) {
  if (!is_padded(p)) {
    tp__string_append(text, "  return %r : ");
  } else {
    tp__string_append(text, "  %c = tensor.extract_slice %r[");
    for (int d = 0; d < p->rank; d++)
      tp__string_append(text, d ? ", 0" : "0");
    tp__string_append(text, "] ");
    tp__append_list(text, p->rank, p->shape);
    tp__string_append(text, " [");
    for (int d = 0; d < p->rank; d++)
      tp__string_append(text, d ? ", 1" : "1");
    tp__string_append(text, "] : ");
    tp__append_type(text, tp__tensor_like(p->plain, p->rank, p->padded));
    tp__string_append(text, " to ");
    tp__append_type(text, p->plain);
    tp__string_append(text, "\n  return %c : ");
  }
  tp__append_type(text, p->plain);
  tp__string_append(text, "\n");
}

tp_status tp__decompose_unpack(MlirOperation op) {
  packing p;
  MlirValue source = mlirOperationGetOperand(op, 0), result = mlirOperationGetResult(op, 0);
  TP_TRY(read_packing(op, mlirValueGetType(result), mlirValueGetType(source), &p));
  if (p.rank == 0)
    return decompose_scalar(op, &p);
  tp__parts parts = {0};
  begin_parts(&parts, &p);
  tp__append_list(tp__part(&parts), p.rank + p.n_tiled, p.back);
  append_cut(tp__part(&parts), &p);
  return tp__decompose_by(op, unpack, &parts, 1, &source);
}
