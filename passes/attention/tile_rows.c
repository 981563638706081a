/* The row operations of online softmax: linalg.generic ops over single loops, generated as text. */
#include "passes/attention/tile.h"
#include "passes/support/from_text.h"

#include <stdio.h>
#include <string.h>

enum { MAX_INPUTS = 12 };

/* Describes a linalg.generic op. In its body %c0, %c1, ... are the input elements, in the type in
 * which the op computes; $C stands for that type, $E for the exponential, $I for -infinity. The
 * body defines its result as %r. It does not read its init: when upstream fuses two such ops of
 * different loops, the init of the inner one would be read again after it was written.
 * tp-clone-inits lets the op overwrite an input. */
typedef struct row_op {
  tp_loop_list loops;
  MlirType result, compute;
  int n;
  const tp_row_operand *inputs;
  const char *body;
} row_op;

MlirType tp__wide_type(MlirType element) {
  MlirContext context = mlirTypeGetContext(element);
  return mlirTypeIsAF64(element) ? element : mlirF32TypeGet(context);
}

static int width_of(MlirType element) { return (int)mlirFloatTypeGetWidth(element); }

static void append_map(tp__string *text, const tp_loop_list *all, const tp_loop_list *of) {
  tp__string_append(text, "affine_map<(");
  for (int i = 0; i < all->n; i++)
    tp__string_printf(text, "%sd%d", i ? ", " : "", all->loops[i]);
  tp__string_append(text, ") -> (");
  for (int i = 0; i < of->n; i++)
    tp__string_printf(text, "%sd%d", i ? ", " : "", of->loops[i]);
  tp__string_append(text, ")>");
}

static void append_list_of(tp__string *text, const row_op *r, bool names, bool types) {
  for (int i = 0; i < r->n; i++) {
    tp__string_append(text, i ? ", " : "");
    if (names)
      tp__string_printf(text, "%%v%d%s", i, types ? ": " : "");
    if (types)
      tp__append_type(text, mlirValueGetType(r->inputs[i].value));
  }
}

/* Appends a conversion between float types: `to` = `from`. */
static void append_conversion(tp__string *text, const char *to, MlirType to_type, const char *from,
                              MlirType from_type) {
  tp__string_printf(text, "    %s = arith.%s %s : ", to,
                    width_of(to_type) > width_of(from_type) ? "extf" : "truncf", from);
  tp__append_type(text, from_type);
  tp__append_typed(text, " to ", to_type, "\n");
}

/* Booleans are not converted. */
static bool is_widened(const row_op *r, MlirType element) {
  return !mlirTypeEqual(element, r->compute) && !mlirTypeIsAInteger(element);
}

static void append_argument(tp__string *text, const row_op *r, const char *name, MlirType element) {
  tp__string_printf(text, "%%%s%s: ", is_widened(r, element) ? "n" : "", name);
  tp__append_type(text, element);
}

static void append_widened(tp__string *text, const row_op *r, const char *name, MlirType element) {
  char to[24], from[24];
  if (!is_widened(r, element))
    return;
  snprintf(to, sizeof to, "%%%s", name);
  snprintf(from, sizeof from, "%%n%s", name);
  append_conversion(text, to, r->compute, from, element);
}

static void append_body(tp__string *text, const row_op *r, const char *exp) {
  char name[16];
  tp__string_append(text, "  ^bb0(");
  for (int i = 0; i < r->n; i++) {
    snprintf(name, sizeof name, "c%d", i);
    append_argument(text, r, name, tp__element_type(mlirValueGetType(r->inputs[i].value)));
    tp__string_append(text, ", ");
  }
  tp__append_typed(text, "%overwritten: ", r->result, "):\n");
  for (int i = 0; i < r->n; i++) {
    snprintf(name, sizeof name, "c%d", i);
    append_widened(text, r, name, tp__element_type(mlirValueGetType(r->inputs[i].value)));
  }
  for (const char *at = r->body; *at;) {
    size_t plain = strcspn(at, "$");
    tp__string_append_bytes(text, at, plain);
    at += plain;
    if (!*at)
      break;
    if (at[1] == 'C')
      tp__append_type(text, r->compute);
    else
      tp__string_append(text, at[1] == 'E' ? exp : tp__minus_infinity(r->compute));
    at += 2;
  }
  if (!mlirTypeEqual(r->result, r->compute))
    append_conversion(text, "%nr", r->result, "%r", r->compute);
  tp__append_typed(text,
                   mlirTypeEqual(r->result, r->compute) ? "    linalg.yield %r : "
                                                        : "    linalg.yield %nr : ",
                   r->result, "\n");
}

/* Builds the op over all iterations (`whole`) or over those of the block. */
static MlirValue build(tp_tiler *t, const row_op *r, bool whole) {
  MlirType type = tp__loops_type(t, &r->loops, r->result, whole);
  MlirValue values[MAX_INPUTS];
  tp__string text = {0};
  tp__string_append(&text, "func.func private @rows(");
  append_list_of(&text, r, true, true);
  tp__append_typed(&text, ") -> ", type, " {\n");
  tp__append_typed(&text, "  %o = tensor.empty() : ", type, "\n");
  tp__string_append(&text, "  %g = linalg.generic {indexing_maps = [");
  for (int i = 0; i < r->n; i++) {
    append_map(&text, &r->loops, &r->inputs[i].loops);
    tp__string_append(&text, ", ");
  }
  append_map(&text, &r->loops, &r->loops);
  tp__string_append(&text, "], iterator_types = [");
  for (int i = 0; i < r->loops.n; i++)
    tp__string_append(&text, i ? ", \"parallel\"" : "\"parallel\"");
  tp__string_append(&text, "]} ins(");
  append_list_of(&text, r, true, false);
  tp__string_append(&text, " : ");
  append_list_of(&text, r, false, true);
  tp__append_typed(&text, ") outs(%o : ", type, ") {\n");
  append_body(&text, r, t->a->exp);
  tp__append_typed(&text, "  } -> ", type, "\n");
  tp__append_typed(&text, "  return %g : ", type, "\n}\n");
  for (int i = 0; i < r->n; i++)
    values[i] = r->inputs[i].value;
  return tp__tile_text(t, &text, r->n, values, type);
}

MlirValue tp__row_exponential(tp_tiler *t, const tp_loop_list *loops, tp_row_operand x,
                              tp_row_operand m, MlirType wide) {
  MlirType element = mlirTypeIsNull(wide) ? tp__element_type(mlirValueGetType(x.value)) : wide;
  tp_row_operand inputs[] = {x, m};
  row_op r = {.loops = *loops,
              .result = element,
              .compute = element,
              .n = 2,
              .inputs = inputs,
              .body = "    %least = arith.constant $I : $C\n"
                      "    %zero = arith.constant 0.0 : $C\n"
                      "    %none = arith.cmpf oeq, %c1, %least : $C\n"
                      "    %from = arith.select %none, %zero, %c1 : $C\n"
                      "    %d = arith.subf %c0, %from : $C\n"
                      "    %r = $E %d : $C\n"};
  return build(t, &r, false);
}

MlirValue tp__row_add(tp_tiler *t, tp_row_operand sum, tp_row_operand factor, tp_row_operand part) {
  MlirType element = tp__element_type(mlirValueGetType(sum.value));
  tp_row_operand inputs[] = {sum, factor, part};
  row_op r = {.loops = sum.loops,
              .result = element,
              .compute = element,
              .n = 3,
              .inputs = inputs,
              .body = "    %old = arith.mulf %c0, %c1 : $C\n"
                      "    %r = arith.addf %old, %c2 : $C\n"};
  return build(t, &r, false);
}

/* Appends value `to`: value %s`s` with rows %c`c` applied. */
static void append_scale(tp__string *body, tp_row_scale kind, const char *to, int s, int c) {
  switch (kind) {
  case TP_SCALE_MULTIPLY:
  case TP_SCALE_DIVIDE:
    tp__string_printf(body, "    %%%s = arith.%s %%s%d, %%c%d : $C\n", to,
                      kind == TP_SCALE_DIVIDE ? "divf" : "mulf", s, c);
    return;
  case TP_SCALE_ZERO_IF:
    tp__string_printf(body, "    %%%s = arith.select %%c%d, %%zero, %%s%d : $C\n", to, c, s);
    return;
  case TP_SCALE_ZERO_UNLESS:
    tp__string_printf(body, "    %%%s = arith.select %%c%d, %%s%d, %%zero : $C\n", to, c, s);
    return;
  }
}

MlirValue tp__row_finish(tp_tiler *t, tp_row_operand sum, tp_row_operand from, tp_row_operand to,
                         int n, const tp_row_operand *scales, const tp_row_scale *kinds,
                         MlirType element) {
  tp_row_operand inputs[MAX_INPUTS] = {sum, from, to};
  tp__string body = {0};
  tp__string_append(&body, "    %zero = arith.constant 0.0 : $C\n"
                           "    %d = arith.subf %c1, %c2 : $C\n"
                           "    %e = $E %d : $C\n");
  tp__string_printf(&body, "    %s = arith.mulf %%c0, %%e : $C\n", n == 0 ? "%r" : "%s0");
  for (int i = 0; i < n && i + 3 < MAX_INPUTS; i++) {
    inputs[3 + i] = scales[i];
    char name[16] = "r";
    if (i < n - 1)
      snprintf(name, sizeof name, "s%d", i + 1);
    append_scale(&body, kinds[i], name, i, 3 + i);
  }
  row_op r = {.loops = sum.loops,
              .result = element,
              .compute = tp__element_type(mlirValueGetType(sum.value)),
              .n = 3 + n,
              .inputs = inputs,
              .body = tp__string_text(&body)};
  MlirValue value = build(t, &r, true);
  if (body.failed)
    t->status = TP_NO_MEMORY;
  tp__string_destroy(&body);
  return value;
}

/* Sums up in bytes, which LLVM vectorizes, unlike bools. */
tp_row_operand tp__row_any(tp_tiler *t, tp_row_operand x, bool inverted) {
  tp_row_operand any = {.loops = {0}};
  MlirType from = mlirValueGetType(x.value), i8 = mlirIntegerTypeGet(mlirTypeGetContext(from), 8);
  for (int i = 0; i < x.loops.n; i++)
    if (x.loops.loops[i] != t->a->column)
      any.loops.loops[any.loops.n++] = x.loops.loops[i];
  MlirType to = tp__loops_type(t, &any.loops, tp__element_type(from), true),
           bytes = tp__loops_type(t, &any.loops, i8, true);
  tp__string text = {0};
  tp__append_typed(&text, "func.func private @rows(%x: ", from, ") -> ");
  tp__append_typed(&text, "", to,
                   " {\n  %zero = arith.constant 0 : i8\n  %true = arith.constant true\n");
  tp__append_typed(&text, "  %o = tensor.empty() : ", bytes, "\n");
  tp__append_typed(&text, "  %f = linalg.fill ins(%zero : i8) outs(%o : ", bytes, ") -> ");
  tp__append_typed(&text, "", bytes, "\n  %g = linalg.generic {indexing_maps = [");
  append_map(&text, &x.loops, &x.loops);
  tp__string_append(&text, ", ");
  append_map(&text, &x.loops, &any.loops);
  tp__string_append(&text, "], iterator_types = [");
  for (int i = 0; i < x.loops.n; i++)
    tp__string_printf(&text, "%s\"%s\"", i ? ", " : "",
                      x.loops.loops[i] == t->a->column ? "reduction" : "parallel");
  tp__append_typed(&text, "]} ins(%x : ", from, ") outs(%f : ");
  tp__append_typed(&text, "", bytes, ") {\n  ^bb0(%c: i1, %before: i8):\n");
  if (inverted)
    tp__string_append(&text, "    %k = arith.xori %c, %true : i1\n");
  tp__string_printf(
      &text, "    %%w = arith.extui %%%s : i1 to i8\n    %%r = arith.ori %%before, %%w : i8\n",
      inverted ? "k" : "c");
  tp__append_typed(&text, "    linalg.yield %r : i8\n  } -> ", bytes, "\n");
  tp__append_typed(&text, "  %e = tensor.empty() : ", to,
                   "\n  %h = linalg.generic {indexing_maps = [");
  append_map(&text, &any.loops, &any.loops);
  tp__string_append(&text, ", ");
  append_map(&text, &any.loops, &any.loops);
  tp__string_append(&text, "], iterator_types = [");
  for (int i = 0; i < any.loops.n; i++)
    tp__string_append(&text, i ? ", \"parallel\"" : "\"parallel\"");
  tp__append_typed(&text, "]} ins(%g : ", bytes, ") outs(%e : ");
  tp__append_typed(&text, "", to, ") {\n  ^bb0(%c: i8, %before: i1):\n");
  tp__string_append(&text, "    %r = arith.cmpi ne, %c, %zero : i8\n");
  tp__append_typed(&text, "    linalg.yield %r : i1\n  } -> ", to, "\n  return %h : ");
  tp__append_typed(&text, "", to, "\n}\n");
  any.value = tp__tile_text(t, &text, 1, &x.value, to);
  return any;
}
