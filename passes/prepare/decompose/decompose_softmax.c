/* Decomposes linalg.softmax with the same steps as upstream: max (a number wins over NaN), exp of
 * the difference, sum, quotient. */
#include "passes/prepare/decompose/decompose.h"

/* $a: type, $b: reduced type, $c: element type, $d: -infinity, $e: identity map, $f: map of the
 * reduced tensor, $g and $h: iterators without and with the reduction. */
static const char steps[] = "func.func private @softmax(%x: $a) -> $a {\n"
                            "  %e = tensor.empty() : $a\n"
                            "  %r = tensor.empty() : $b\n"
                            "  %least = arith.constant $d : $c\n"
                            "  %zero = arith.constant 0.0 : $c\n"
                            "  %from = linalg.fill ins(%least : $c) outs(%r : $b) -> $b\n"
                            "  %max = linalg.generic {indexing_maps = [$e, $f], iterator_types = "
                            "[$h]} ins(%x : $a) outs(%from : $b) {\n"
                            "  ^bb0(%i: $c, %o: $c):\n"
                            "    %v = arith.maxnumf %o, %i : $c\n"
                            "    linalg.yield %v : $c\n"
                            "  } -> $b\n"
                            "  %exp = linalg.generic {indexing_maps = [$e, $f, $e], iterator_types "
                            "= [$g]} ins(%x, %max : $a, $b) outs(%e : $a) {\n"
                            "  ^bb0(%i: $c, %m: $c, %o: $c):\n"
                            "    %d = arith.subf %i, %m : $c\n"
                            "    %v = math.exp %d : $c\n"
                            "    linalg.yield %v : $c\n"
                            "  } -> $a\n"
                            "  %none = linalg.fill ins(%zero : $c) outs(%r : $b) -> $b\n"
                            "  %sum = linalg.generic {indexing_maps = [$e, $f], iterator_types = "
                            "[$h]} ins(%exp : $a) outs(%none : $b) {\n"
                            "  ^bb0(%i: $c, %o: $c):\n"
                            "    %v = arith.addf %o, %i : $c\n"
                            "    linalg.yield %v : $c\n"
                            "  } -> $b\n"
                            "  %q = linalg.generic {indexing_maps = [$e, $f, $e], iterator_types = "
                            "[$g]} ins(%exp, %sum : $a, $b) outs(%e : $a) {\n"
                            "  ^bb0(%i: $c, %s: $c, %o: $c):\n"
                            "    %v = arith.divf %i, %s : $c\n"
                            "    linalg.yield %v : $c\n"
                            "  } -> $a\n"
                            "  return %q : $a\n"
                            "}\n";

tp_status tp__decompose_softmax(MlirOperation op) {
  MlirValue x = mlirOperationGetOperand(op, 0);
  MlirType type = mlirValueGetType(x), element = tp__element_type(type);
  int rank, dim = (int)mlirIntegerAttrGetValueInt(tp__inherent(op, "dimension"));
  int64_t shape[TP_MAX_RANK], reduced[TP_MAX_RANK];
  tp__static_tensor(type, &rank, shape);
  if (!tp__minus_infinity(element)) {
    char text[64];
    tp__type_text(element, sizeof text, text);
    return tp__error(op, TP_UNSUPPORTED,
                     "has unsupported element type %s; convert to f16, bf16, f32 or f64", text);
  }
  for (int d = 0, n = 0; d < rank; d++)
    if (d != dim)
      reduced[n++] = shape[d];
  tp__parts parts = {0};
  tp__part_type(&parts, type);
  tp__part_tensor(&parts, type, rank - 1, reduced);
  tp__part_type(&parts, element);
  tp__string_append(tp__part(&parts), tp__minus_infinity(element));
  tp__append_map(tp__part(&parts), rank, -1);
  tp__append_map(tp__part(&parts), rank, dim);
  tp__append_iterators(tp__part(&parts), rank, -1);
  tp__append_iterators(tp__part(&parts), rank, dim);
  return tp__decompose_by(op, steps, &parts, 1, &x);
}
