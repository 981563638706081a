/* Merges two masks of an attention, as in select(b, select(a, score, hidden), hidden), into
 * select(a and b, score, hidden): kernels have one mask. The merged mask has only the dimensions
 * that a or b has before they are repeated for all scores. */
#include "passes/attention/merge_masks.h"

#include "passes/attention/form.h"
#include "passes/support/from_text.h"

/* An op of the attention that hides scores by a tensor of bools as large as they are. */
typedef struct hiding {
  MlirOperation op;
  int condition, scores; /* operand numbers */
  double hidden;
} hiding;

/* True if the operand is indexed like the result, whole. */
static bool is_like_result(const tp_nest *nest, int operand) {
  MlirType type = mlirValueGetType(mlirOperationGetOperand(nest->op, operand)),
           result = mlirValueGetType(mlirOperationGetResult(nest->op, 0));
  if (!mlirTypeIsARankedTensor(type) ||
      mlirShapedTypeGetRank(type) != mlirShapedTypeGetRank(result))
    return false;
  for (int d = 0; d < mlirShapedTypeGetRank(type); d++)
    if (mlirShapedTypeGetDimSize(type, d) != mlirShapedTypeGetDimSize(result, d) ||
        (nest->is_written &&
         tp__nest_loop(nest, operand, d) != tp__nest_loop(nest, nest->n_inputs, d)))
      return false;
  return true;
}

/* Reads a select between scores and a number by a tensor of bools. */
static bool read_hiding(const tp_attention_op *of, hiding *h) {
  MlirOperation scalar = of->is_nest ? tp__nest_scalar(&of->nest) : (MlirOperation){NULL};
  if (of->role != TP_BEFORE || mlirOperationIsNull(scalar) || !tp__op_is(scalar, "arith.select"))
    return false;
  int number = tp__nest_input(&of->nest, scalar, 2);
  *h = (hiding){.op = of->op,
                .condition = tp__nest_input(&of->nest, scalar, 0),
                .scores = tp__nest_input(&of->nest, scalar, 1)};
  return h->condition >= 0 && h->scores >= 0 && is_like_result(&of->nest, h->condition) &&
         is_like_result(&of->nest, h->scores) &&
         tp__read_number(number >= 0 ? mlirOperationGetOperand(of->op, number)
                                     : mlirOperationGetOperand(scalar, 2),
                         &h->hidden);
}

/* A condition before it is repeated, and the dimension of the scores along which each of its own
 * runs; -1: none, it has one element. */
typedef struct source {
  MlirValue value;
  int rank, along[TP_MAX_RANK];
} source;

static source source_of(MlirValue value) {
  source s = {value, tp__value_rank(value), {0}};
  tp_nest nest;
  for (int d = 0; d < s.rank; d++)
    s.along[d] = d;
  for (MlirOperation op = tp__defining_op(s.value);
       !mlirOperationIsNull(op) && tp__nest_of(op, &nest) && nest.is_written &&
       nest.n_inputs == 1 && tp__nest_copies(&nest) &&
       mlirTypeIsARankedTensor(mlirValueGetType(mlirOperationGetOperand(op, 0)));
       op = tp__defining_op(s.value)) {
    source from = {mlirOperationGetOperand(op, 0), 0, {0}};
    from.rank = tp__value_rank(from.value);
    for (int d = 0; d < from.rank; d++) {
      from.along[d] = -1;
      for (int r = 0; r < s.rank; r++)
        if (tp__nest_loop(&nest, 0, d) != TP_WHOLE_DIM &&
            tp__nest_loop(&nest, 0, d) == tp__nest_loop(&nest, 1, r))
          from.along[d] = s.along[r];
      if (from.along[d] < 0 && mlirShapedTypeGetDimSize(mlirValueGetType(from.value), d) != 1)
        return s; /* the copy reads only the first element of this dimension */
    }
    s = from;
  }
  for (int d = 0; d < s.rank; d++)
    if (mlirShapedTypeGetDimSize(mlirValueGetType(s.value), d) == 1)
      s.along[d] = -1;
  return s;
}

/* Appends the map from n dimensions to those of the source; at[r] is the dimension for dimension r
 * of the scores. */
static void append_map(tp__string *text, int n, const source *s, const int *at) {
  tp__string_append(text, "affine_map<(");
  for (int i = 0; i < n; i++)
    tp__string_printf(text, "%sd%d", i ? ", " : "", i);
  tp__string_append(text, ") -> (");
  for (int d = 0; d < s->rank; d++) {
    tp__string_append(text, d ? ", " : "");
    if (s->along[d] < 0)
      tp__string_append(text, "0");
    else
      tp__string_printf(text, "d%d", at[s->along[d]]);
  }
  tp__string_append(text, ")>");
}

static void append_kinds(tp__string *text, int n) {
  tp__string_append(text, "], iterator_types = [");
  for (int i = 0; i < n; i++)
    tp__string_append(text, i ? ", \"parallel\"" : "\"parallel\"");
  tp__string_append(text, "]} ins(");
}

/* Builds a and b in front of `where`, repeated to the type of the scores' conditions. False after
 * an error. */
static bool build_both(MlirOperation where, const source *a, const source *b, MlirType whole,
                       MlirValue *both) {
  const source *const sources[] = {a, b};
  source merged = {.rank = 0};
  int rank = (int)mlirShapedTypeGetRank(whole), at[TP_MAX_RANK], identity[TP_MAX_RANK];
  int64_t shape[TP_MAX_RANK];
  for (int r = 0; r < rank; r++) {
    bool has = false;
    for (int i = 0; i < 2; i++)
      for (int d = 0; d < sources[i]->rank; d++)
        has |= sources[i]->along[d] == r;
    identity[r] = r;
    at[r] = merged.rank;
    if (!has)
      continue;
    shape[merged.rank] = mlirShapedTypeGetDimSize(whole, r);
    merged.along[merged.rank++] = r;
  }
  source as_whole = {.rank = rank}, as_merged = {.rank = merged.rank};
  for (int r = 0; r < rank; r++)
    as_whole.along[r] = as_merged.along[r] = r;
  MlirType small =
      mlirRankedTensorTypeGet(merged.rank, shape, tp__element_type(whole), (MlirAttribute){NULL});
  tp__string text = {0};
  tp__append_typed(&text, "func.func private @both(%a: ", mlirValueGetType(a->value), ", %b: ");
  tp__append_typed(&text, "", mlirValueGetType(b->value), ") -> ");
  tp__append_typed(&text, "", whole, " {\n  %e = tensor.empty() : ");
  tp__append_typed(&text, "", small, "\n  %m = linalg.generic {indexing_maps = [");
  append_map(&text, merged.rank, a, at);
  tp__string_append(&text, ", ");
  append_map(&text, merged.rank, b, at);
  tp__string_append(&text, ", ");
  append_map(&text, merged.rank, &as_merged, identity);
  append_kinds(&text, merged.rank);
  tp__append_typed(&text, "%a, %b : ", mlirValueGetType(a->value), ", ");
  tp__append_typed(&text, "", mlirValueGetType(b->value), ") outs(%e : ");
  tp__append_typed(&text, "", small, ") {\n  ^bb0(%x: i1, %y: i1, %o: i1):\n");
  tp__append_typed(&text, "    %r = arith.andi %x, %y : i1\n    linalg.yield %r : i1\n  } -> ",
                   small, "\n  %f = tensor.empty() : ");
  tp__append_typed(&text, "", whole, "\n  %w = linalg.generic {indexing_maps = [");
  append_map(&text, rank, &merged, identity);
  tp__string_append(&text, ", ");
  append_map(&text, rank, &as_whole, identity);
  append_kinds(&text, rank);
  tp__append_typed(&text, "%m : ", small, ") outs(%f : ");
  tp__append_typed(&text, "", whole,
                   ") {\n  ^bb0(%x: i1, %o: i1):\n    linalg.yield %x : i1\n  } -> ");
  tp__append_typed(&text, "", whole, "\n  return %w : ");
  tp__append_typed(&text, "", whole, "\n}\n");
  const MlirValue given[] = {a->value, b->value};
  MlirOperation func = tp__parse_function(where, &text);
  bool made = false;
  if (!mlirOperationIsNull(func))
    *both = tp__inline_text(where, func, 2, given, &made);
  return made;
}

static bool is_used_only_by(MlirValue value, MlirOperation op) {
  for (MlirOpOperand use = mlirValueGetFirstUse(value); !mlirOpOperandIsNull(use);
       use = mlirOpOperandGetNextUse(use))
    if (!mlirOperationEqual(mlirOpOperandGetOwner(use), op))
      return false;
  return true;
}

tp_status tp__merge_masks(const tp_attention *attention, tp_op_list *dead) {
  hiding first, second;
  for (int j = 0; j < attention->n_ops; j++) {
    if (!read_hiding(&attention->ops[j], &second))
      continue;
    int i = tp__attention_producer(attention, mlirOperationGetOperand(second.op, second.scores));
    if (i < 0 || !read_hiding(&attention->ops[i], &first) || first.hidden != second.hidden ||
        !is_used_only_by(mlirOperationGetResult(first.op, 0), second.op))
      continue;
    MlirValue conditions[] = {mlirOperationGetOperand(first.op, first.condition),
                              mlirOperationGetOperand(second.op, second.condition)};
    source a = source_of(conditions[0]), b = source_of(conditions[1]);
    MlirValue both;
    if (!build_both(second.op, &a, &b, mlirValueGetType(conditions[1]), &both))
      return TP_NO_MEMORY;
    mlirOperationSetOperand(second.op, second.condition, both);
    /* its scores, and its init, which may be the same tensor */
    for (int o = 0; o < mlirOperationGetNumOperands(second.op); o++)
      if (mlirValueEqual(mlirOperationGetOperand(second.op, o),
                         mlirOperationGetResult(first.op, 0)))
        mlirOperationSetOperand(second.op, o, mlirOperationGetOperand(first.op, first.scores));
    return tp__op_list_add(dead, first.op);
  }
  return TP_OK;
}
