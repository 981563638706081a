/* tp-expand-float8: expands conversions from and to the f8 types to bit operations, because neither
 * LLVM nor CPUs support the type. The algorithm is that of runtime/float8.h: exact arithmetic
 * in f32 without branches, so that loops are vectorized. */
#include "passes/registry.h"
#include "passes/support/from_text.h"
#include "passes/support/lower.h"

#include "ir/diagnostics.h"

#include <stdio.h>
#include <string.h>

/* What differs between the types. Magnitudes are patterns without the sign. */
typedef struct format {
  const char *name;
  int drop;                  /* bits of f32's mantissa that the type lacks */
  unsigned scale;            /* bits of the power of two by which f32's exponents are larger */
  unsigned special;          /* least magnitude that is no finite number */
  unsigned infinity;         /* magnitudes above are NaN */
  unsigned payload;          /* bits of a NaN, in f32, that widening keeps */
  unsigned bias, first;      /* the same power as a difference of f32's bits; least normal number */
  unsigned last;             /* bits of the greatest f32 that rounds to a finite number */
  unsigned beyond;           /* magnitude of what is larger */
  unsigned nan, nan_payload; /* magnitude of NaN, and its bits that narrowing keeps */
  unsigned anchor; /* bits of the power of two whose last place is the type's least number */
} format;

static const format formats[] = {
    {"f8E4M3FN", 20, 0x7b800000, 0x7f, 0x7e, 0, 120u << 23, 121u << 23, 0x43e80000, 0x7f, 0x7f, 0,
     0x46800000},
    {"f8E5M2", 21, 0x77800000, 0x7c, 0x7c, 0x600000, 112u << 23, 113u << 23, 0x476fffff, 0x7c, 0x7e,
     1, 0x43000000},
};

static const format *format_of(MlirType type) {
  return tp__is_f8(type) ? &formats[mlirTypeIsAFloat8E5M2(type)] : NULL;
}

static void constant(tp__string *text, const char *name, unsigned value) {
  char line[128];
  snprintf(line, sizeof line, "  %%%s = arith.constant %u : i32\n", name, value);
  tp__string_append(text, line);
}

/* f8 -> f32: moves exponent and mantissa to their positions in f32 and multiplies by a power of
 * two, because the exponent is too small. */
static void write_widening(const format *f, tp__string *text) {
  char head[128];
  snprintf(head, sizeof head,
           "func.func private @widen(%%x: %s) -> f32 {\n  %%b = arith.bitcast %%x : %s to i8\n",
           f->name, f->name);
  tp__string_append(text, head);
  constant(text, "drop", (unsigned)f->drop);
  constant(text, "scale_bits", f->scale);
  constant(text, "special", f->special);
  constant(text, "infinity", f->infinity);
  constant(text, "payload", f->payload);
  tp__string_append(
      text,
      "  %zero = arith.constant 0 : i32\n  %quiet_bit = arith.constant 4194304 : i32\n"
      "  %ones = arith.constant 2139095040 : i32\n  %sign_bit = arith.constant 128 : i32\n"
      "  %rest = arith.constant 127 : i32\n  %c24 = arith.constant 24 : i32\n"
      "  %scale = arith.bitcast %scale_bits : i32 to f32\n  %w = arith.extui %b : i8 to i32\n"
      "  %s = arith.andi %w, %sign_bit : i32\n  %sign = arith.shli %s, %c24 : i32\n"
      "  %magnitude = arith.andi %w, %rest : i32\n"
      "  %shifted = arith.shli %magnitude, %drop : i32\n"
      "  %small = arith.bitcast %shifted : i32 to f32\n  %f = arith.mulf %small, %scale : f32\n"
      "  %finite = arith.bitcast %f : f32 to i32\n"
      "  %is_nan = arith.cmpi ugt, %magnitude, %infinity : i32\n"
      "  %quiet = arith.select %is_nan, %quiet_bit, %zero : i32\n"
      "  %kept = arith.andi %shifted, %payload : i32\n  %top = arith.ori %kept, %ones : i32\n"
      "  %other = arith.ori %top, %quiet : i32\n"
      "  %is_special = arith.cmpi uge, %magnitude, %special : i32\n"
      "  %m = arith.select %is_special, %other, %finite : i32\n  %r = arith.ori %sign, %m : i32\n"
      "  %y = arith.bitcast %r : i32 to f32\n  return %y : f32\n}\n");
}

/* f32 -> f8: rounds to nearest, ties to even. For a normal result, it adds half a unit of the last
 * place, minus one bit if the result is even, and drops the other mantissa bits. For a subnormal
 * result, it adds the anchor, whose last place in f32 is the unit of f8 subnormals, so that the
 * addition rounds. */
static void write_narrowing(const format *f, tp__string *text) {
  char line[128];
  snprintf(line, sizeof line, "func.func private @narrow(%%x: f32) -> %s {\n", f->name);
  tp__string_append(text, line);
  constant(text, "drop", (unsigned)f->drop);
  constant(text, "half", (1u << (f->drop - 1)) - 1);
  constant(text, "bias", f->bias);
  constant(text, "first", f->first);
  constant(text, "last", f->last);
  constant(text, "beyond", f->beyond);
  constant(text, "nan", f->nan);
  constant(text, "nan_payload", f->nan_payload);
  constant(text, "anchor_bits", f->anchor);
  tp__string_append(
      text,
      "  %rest = arith.constant 2147483647 : i32\n  %sign_bit = arith.constant 128 : i32\n"
      "  %ones = arith.constant 2139095040 : i32\n  %c1 = arith.constant 1 : i32\n"
      "  %c24 = arith.constant 24 : i32\n"
      "  %anchor = arith.bitcast %anchor_bits : i32 to f32\n"
      "  %bits = arith.bitcast %x : f32 to i32\n  %magnitude = arith.andi %bits, %rest : i32\n"
      "  %less = arith.subi %magnitude, %bias : i32\n  %up = arith.addi %less, %half : i32\n"
      "  %moved = arith.shrui %magnitude, %drop : i32\n  %odd = arith.andi %moved, %c1 : i32\n"
      "  %sum = arith.addi %up, %odd : i32\n  %normal = arith.shrui %sum, %drop : i32\n"
      "  %f = arith.bitcast %magnitude : i32 to f32\n  %g = arith.addf %f, %anchor : f32\n"
      "  %h = arith.bitcast %g : f32 to i32\n  %subnormal = arith.subi %h, %anchor_bits : i32\n"
      "  %is_small = arith.cmpi ult, %magnitude, %first : i32\n"
      "  %m = arith.select %is_small, %subnormal, %normal : i32\n"
      "  %is_large = arith.cmpi ugt, %magnitude, %last : i32\n"
      "  %n = arith.select %is_large, %beyond, %m : i32\n"
      "  %kept = arith.andi %moved, %nan_payload : i32\n  %nans = arith.ori %kept, %nan : i32\n"
      "  %is_nan = arith.cmpi ugt, %magnitude, %ones : i32\n"
      "  %o = arith.select %is_nan, %nans, %n : i32\n"
      "  %t = arith.shrui %bits, %c24 : i32\n  %s = arith.andi %t, %sign_bit : i32\n"
      "  %r = arith.ori %s, %o : i32\n  %b = arith.trunci %r : i32 to i8\n");
  snprintf(line, sizeof line, "  %%y = arith.bitcast %%b : i8 to %s\n  return %%y : %s\n}\n",
           f->name, f->name);
  tp__string_append(text, line);
}

static MlirType operand_type(MlirOperation op) {
  return mlirValueGetType(mlirOperationGetOperand(op, 0));
}
static tp_status collect(MlirOperation op, void *data) {
  bool widens = tp__op_is(op, "arith.extf") && tp__is_f8(operand_type(op));
  bool narrows = tp__op_is(op, "arith.truncf") && tp__is_f8(tp__result_type(op));
  return widens || narrows ? tp__op_list_add(data, op) : TP_OK;
}

static MlirValue convert(MlirOperation where, const char *name, MlirValue value, MlirType type) {
  return mlirTypeEqual(mlirValueGetType(value), type)
             ? value
             : mlirOperationGetResult(tp__build(where, name, 1, &value, 1, &type, 0, NULL), 0);
}

/* Expands a conversion by way of f32. f16 and bf16 can represent every f8 value. */
static tp_status expand(MlirOperation op) {
  MlirType f32 = mlirF32TypeGet(mlirOperationGetContext(op)), to = tp__result_type(op);
  bool widens = tp__op_is(op, "arith.extf"), made;
  MlirValue value = mlirOperationGetOperand(op, 0);
  const format *f = format_of(widens ? operand_type(op) : to);
  if (!widens && mlirTypeIsAF64(operand_type(op)))
    return tp__error(op, TP_UNSUPPORTED,
                     "truncates f64 to %s, which would round twice; truncate to f32 first",
                     f->name);
  if (!widens)
    value = convert(op, "arith.extf", value, f32);
  tp__string text = {0};
  if (widens)
    write_widening(f, &text);
  else
    write_narrowing(f, &text);
  MlirOperation func = tp__parse_function(op, &text);
  if (mlirOperationIsNull(func))
    return TP_NO_MEMORY;
  value = tp__inline_text(op, func, 1, &value, &made);
  if (widens)
    value = convert(op, mlirTypeIsAF64(to) ? "arith.extf" : "arith.truncf", value, to);
  tp__replace_op(op, value);
  return TP_OK;
}

static tp_status run(tp_pass *pass) {
  tp_op_list list = {0};
  tp_status status = tp__walk(pass->module, collect, &list);
  for (size_t i = 0; i < list.n && status == TP_OK; i++)
    status = expand(list.items[i]);
  pass->statistics[0] = (int64_t)list.n;
  tp__free(list.items);
  return status;
}

static const tp_statistic_row statistics[] = {{"expanded", "conversions from and to f8"}};

const tp_pass_row tp__expand_float8_row = {
    .name = "tp-expand-float8",
    .summary = "Expand conversions from and to f8E4M3FN and f8E5M2 into bit operations",
    .description =
        "Requires: scalar arithmetic on f8 is done in f32 "
        "(arith-emulate-unsupported-floats). Establishes: no arith.extf "
        "or arith.truncf "
        "of it; rounding is to nearest, ties to even; f8E4M3FN is NaN from 464 on, f8E5M2 "
        "infinite from 61440 on. A truncf of "
        "f64 is refused. Breaks: nothing.",
    .statistics = statistics,
    .n_statistics = TP_LEN(statistics),
    .run = run,
};
