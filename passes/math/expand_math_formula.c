/* Translates formulas to ops of arith and math.
 *
 * Operator precedence is that of C. Types follow from the operands; a literal takes the type of the
 * other operand. Integer comparisons are signed; integer division and shru are unsigned. */
#include "passes/math/expand_math.h"

#include <ctype.h>
#include <string.h>

typedef enum kind { LITERAL, I1, I32, I64, F32, F64, N_KINDS } kind;

static const char *const types[] = {"", "i1", "i32", "i64", "f32", "f64"};

typedef struct token {
  const char *text;
  int length;
} token;

typedef struct value {
  kind kind;
  int number; /* number of the defining op */
  token literal;
  bool is_negative;
} value;

enum { MAX_NAMES = 96, MAX_ARGUMENTS = 32, LOWEST = 1, HIGHEST = 9 };

typedef struct formula {
  tp__string *out;
  kind own; /* type of the arguments and of the result */
  bool fuses;
  const char *at; /* position after the current token */
  token token;
  bool failed;
  int n_values, n_names;
  struct {
    token name;
    value value;
  } names[MAX_NAMES];
} formula;

/* ---- tokens ---- */

static bool is_token(const formula *f, const char *text) {
  return (int)strlen(text) == f->token.length && memcmp(f->token.text, text, strlen(text)) == 0;
}

static bool is_same(token a, token b) {
  return a.length == b.length && memcmp(a.text, b.text, (size_t)a.length) == 0;
}

static int number_length(const char *at) {
  int n = 0;
  while (isalnum((unsigned char)at[n]) || at[n] == '.' ||
         ((at[n] == '-' || at[n] == '+') && at[n - 1] == 'e'))
    n++;
  return n;
}

static void next(formula *f) {
  static const char *const doubles[] = {"<<", ">>", "<=", ">=", "==", "!="};
  while (isspace((unsigned char)*f->at))
    f->at++;
  int n = *f->at ? 1 : 0;
  if (isdigit((unsigned char)*f->at))
    n = number_length(f->at);
  else if (isalpha((unsigned char)*f->at))
    while (isalnum((unsigned char)f->at[n]) || f->at[n] == '_')
      n++;
  for (size_t i = 0; i < TP__COUNT(doubles); i++)
    if (strncmp(f->at, doubles[i], 2) == 0)
      n = 2;
  f->token = (token){f->at, n};
  f->at += n;
}

static bool accept(formula *f, const char *text) {
  bool is = is_token(f, text);
  if (is)
    next(f);
  return is;
}

static void expect(formula *f, const char *text) {
  if (!accept(f, text))
    f->failed = true;
}

/* ---- ops ---- */

static bool is_float(kind of) { return of == F32 || of == F64; }

static void append_literal(formula *f, const value *v, kind of) {
  static const struct {
    const char *name, *f32, *f64;
  } ends[] = {{"inf", "0x7F800000", "0x7FF0000000000000"},
              {"nan", "0x7FC00000", "0x7FF8000000000000"}};
  bool is_bits = v->literal.length > 2 && v->literal.text[1] == 'x';
  for (size_t i = 0; i < TP__COUNT(ends); i++)
    if (is_same(v->literal, (token){ends[i].name, (int)strlen(ends[i].name)})) {
      tp__string_append(f->out, of == F32 ? ends[i].f32 : ends[i].f64);
      f->failed |= v->is_negative || !is_float(of);
      return;
    }
  tp__string_printf(f->out, "%s%.*s", v->is_negative ? "-" : "", v->literal.length,
                    v->literal.text);
  if (is_float(of) && !is_bits && !memchr(v->literal.text, '.', (size_t)v->literal.length))
    tp__string_append(f->out, ".0");
}

/* Converts the value to this type: a literal becomes a constant. */
static value as_kind(formula *f, value v, kind of) {
  if (v.kind != LITERAL || of == LITERAL) {
    f->failed |= v.kind != of || of == LITERAL;
    return v;
  }
  tp__string_printf(f->out, "  %%v%d = arith.constant ", f->n_values);
  append_literal(f, &v, of);
  tp__string_printf(f->out, " : %s\n", types[of]);
  return (value){.kind = of, .number = f->n_values++};
}

static kind common_kind(int n, const value *values) {
  for (int i = 0; i < n; i++)
    if (values[i].kind != LITERAL)
      return values[i].kind;
  return LITERAL;
}

/* Writes an op whose operands have one common type. A cast also prints its result type. */
static value emit(formula *f, const char *op, int n, const value *operands, kind result) {
  value as[3];
  kind from = common_kind(n, operands);
  for (int i = 0; i < n; i++)
    as[i] = as_kind(f, operands[i], from);
  tp__string_printf(f->out, "  %%v%d = %s", f->n_values, op);
  for (int i = 0; i < n; i++)
    tp__string_printf(f->out, "%s %%v%d", i ? "," : "", as[i].number);
  tp__string_printf(f->out, " : %s", types[from]);
  if (result != from && result != I1)
    tp__string_printf(f->out, " to %s", types[result]);
  tp__string_append(f->out, "\n");
  return (value){.kind = result, .number = f->n_values++};
}

static value binary(formula *f, const char *op, value a, value b) {
  return emit(f, op, 2, (const value[]){a, b}, common_kind(2, (const value[]){a, b}));
}

/* ---- functions ---- */

/* `result[k]` is the result type for operands of type k; 0 if such operands are not supported. */
typedef struct function {
  const char *name, *op;
  int n_arguments;
  kind result[N_KINDS];
} function;

#define OF_FLOATS {[F32] = F32, [F64] = F64}

static const function functions[] = {
    {"abs", "math.absf", 1, OF_FLOATS},
    {"copysign", "math.copysign", 2, OF_FLOATS},
    {"exp", "math.exp", 1, OF_FLOATS},
    {"floor", "math.floor", 1, OF_FLOATS},
    {"fma", "math.fma", 3, OF_FLOATS},
    {"log", "math.log", 1, OF_FLOATS},
    {"sqrt", "math.sqrt", 1, OF_FLOATS},
    {"trunc", "math.trunc", 1, OF_FLOATS},
    {"acos", "math.acos", 1, OF_FLOATS},
    {"acosh", "math.acosh", 1, OF_FLOATS},
    {"asin", "math.asin", 1, OF_FLOATS},
    {"asinh", "math.asinh", 1, OF_FLOATS},
    {"atan", "math.atan", 1, OF_FLOATS},
    {"atan2", "math.atan2", 2, OF_FLOATS},
    {"atanh", "math.atanh", 1, OF_FLOATS},
    {"cbrt", "math.cbrt", 1, OF_FLOATS},
    {"cosh", "math.cosh", 1, OF_FLOATS},
    {"erfc", "math.erfc", 1, OF_FLOATS},
    {"sinh", "math.sinh", 1, OF_FLOATS},
    {"unordered", "arith.cmpf uno,", 2, {[F32] = I1, [F64] = I1}},
    {"below", "arith.cmpi ult,", 2, {[I32] = I1, [I64] = I1}},
    {"shru", "arith.shrui", 2, {[I32] = I32, [I64] = I64}},
    {"bits", "arith.bitcast", 1, {[F32] = I32, [F64] = I64}},
    {"number", "arith.bitcast", 1, {[I32] = F32, [I64] = F64}},
    {"float", "arith.sitofp", 1, {[I32] = F32, [I64] = F64}},
    {"int", "arith.fptosi", 1, {[F32] = I32, [F64] = I64}},
    {"wide", "arith.extf", 1, {[F32] = F64}},
    {"narrow", "arith.truncf", 1, {[F64] = F32}},
    {"long", "arith.extui", 1, {[I32] = I64}},
};

/* The rounding error of a + b (D. E. Knuth). */
static value sum_error(formula *f, int n, const value *arguments) {
  value a = arguments[0], b = arguments[1];
  (void)n;
  value s = binary(f, "arith.addf", a, b), from_b = binary(f, "arith.subf", s, a);
  value lost_a = binary(f, "arith.subf", a, binary(f, "arith.subf", s, from_b));
  return binary(f, "arith.addf", lost_a, binary(f, "arith.subf", b, from_b));
}

/* The rounding error of a b. */
static value product_error(formula *f, int n, const value *arguments) {
  value a = arguments[0], b = arguments[1], p = binary(f, "arith.mulf", a, b);
  (void)n;
  value minus = emit(f, "arith.negf", 1, &p, p.kind);
  return emit(f, "math.fma", 3, (const value[]){a, b, minus}, p.kind);
}

/* Evaluates a polynomial by Horner's rule. The highest coefficient comes first. */
static value poly(formula *f, int n, const value *arguments) {
  value z = arguments[0], sum = arguments[1];
  for (int i = 2; i < n; i++)
    sum = f->fuses ? emit(f, "math.fma", 3, (const value[]){sum, z, arguments[i]}, z.kind)
                   : binary(f, "arith.addf", binary(f, "arith.mulf", sum, z), arguments[i]);
  return sum;
}

/* The upper half of the product of unsigned numbers. */
static value high(formula *f, int n, const value *arguments) {
  value a = arguments[0], b = as_kind(f, arguments[1], a.kind);
  (void)n;
  int low = f->n_values++;
  tp__string_printf(f->out, "  %%v%d, %%v%d = arith.mului_extended %%v%d, %%v%d : %s\n", low,
                    f->n_values, a.number, b.number, types[a.kind]);
  return (value){.kind = a.kind, .number = f->n_values++};
}

/* Converts a literal to an integer where the context does not determine its type. */
static value i64(formula *f, int n, const value *arguments) {
  (void)n;
  return as_kind(f, arguments[0], I64);
}

static const struct {
  const char *name;
  value (*write)(formula *f, int n, const value *arguments);
  int n_arguments; /* minimum */
} composites[] = {
    {"sum_error", sum_error, 2},
    {"product_error", product_error, 2},
    {"poly", poly, 3},
    {"high", high, 2},
    {"i64", i64, 1},
};

/* ---- expressions ---- */

static value parse(formula *f, int level);

static value call(formula *f, token name) {
  value arguments[MAX_ARGUMENTS];
  int n = 0;
  do
    arguments[n++] = parse(f, 0);
  while (n < MAX_ARGUMENTS && accept(f, ","));
  expect(f, ")");
  for (size_t i = 0; i < TP__COUNT(composites); i++)
    if (is_same(name, (token){composites[i].name, (int)strlen(composites[i].name)}) &&
        n >= composites[i].n_arguments)
      return composites[i].write(f, n, arguments);
  for (size_t i = 0; i < TP__COUNT(functions); i++)
    if (is_same(name, (token){functions[i].name, (int)strlen(functions[i].name)}) &&
        n == functions[i].n_arguments) {
      kind result = functions[i].result[common_kind(n, arguments)];
      f->failed |= result == LITERAL;
      return emit(f, functions[i].op, n, arguments, result);
    }
  f->failed = true;
  return arguments[0];
}

static value find(formula *f, token name) {
  for (int i = 0; i < f->n_names; i++)
    if (is_same(f->names[i].name, name))
      return f->names[i].value;
  bool is_end = is_same(name, (token){"inf", 3}) || is_same(name, (token){"nan", 3});
  f->failed |= !isdigit((unsigned char)*name.text) && !is_end;
  return (value){.kind = LITERAL, .literal = name};
}

static value primary(formula *f) {
  if (accept(f, "(")) {
    value inside = parse(f, 0);
    expect(f, ")");
    return inside;
  }
  if (accept(f, "-")) {
    value v = primary(f);
    if (v.kind != LITERAL)
      return emit(f, "arith.negf", 1, &v, v.kind);
    v.is_negative = !v.is_negative;
    return v;
  }
  token name = f->token;
  next(f);
  return name.length > 0 && isalpha((unsigned char)*name.text) && accept(f, "(") ? call(f, name)
                                                                                 : find(f, name);
}

typedef struct operator_row {
  const char *token;
  int level;
  const char *of_floats, *of_integers;
  bool compares;
} operator_row;

static const operator_row operators[] = {
    {"|", 1, NULL, "arith.ori", false},
    {"^", 2, NULL, "arith.xori", false},
    {"&", 3, NULL, "arith.andi", false},
    {"==", 4, "arith.cmpf oeq,", "arith.cmpi eq,", true},
    {"!=", 4, "arith.cmpf une,", "arith.cmpi ne,", true},
    {"<", 5, "arith.cmpf olt,", "arith.cmpi slt,", true},
    {"<=", 5, "arith.cmpf ole,", "arith.cmpi sle,", true},
    {">", 5, "arith.cmpf ogt,", "arith.cmpi sgt,", true},
    {">=", 5, "arith.cmpf oge,", "arith.cmpi sge,", true},
    {"<<", 6, NULL, "arith.shli", false},
    {">>", 6, NULL, "arith.shrsi", false},
    {"+", 7, "arith.addf", "arith.addi", false},
    {"-", 7, "arith.subf", "arith.subi", false},
    {"*", 8, "arith.mulf", "arith.muli", false},
    {"/", 8, "arith.divf", "arith.divui", false},
};

static const operator_row *operator_at(const formula *f, int level) {
  for (size_t i = 0; i < TP__COUNT(operators); i++)
    if (operators[i].level == level && is_token(f, operators[i].token))
      return operators + i;
  return NULL;
}

static value choice(formula *f) {
  value condition = parse(f, LOWEST);
  if (!accept(f, "?"))
    return condition;
  value yes = parse(f, 0);
  expect(f, ":");
  value no = parse(f, 0);
  kind of = common_kind(2, (const value[]){yes, no});
  if (of == LITERAL)
    of = f->own;
  yes = as_kind(f, yes, of);
  no = as_kind(f, no, of);
  f->failed |= condition.kind != I1;
  tp__string_printf(f->out, "  %%v%d = arith.select %%v%d, %%v%d, %%v%d : %s\n", f->n_values,
                    condition.number, yes.number, no.number, types[of]);
  return (value){.kind = of, .number = f->n_values++};
}

/* Parses operators of this level. Level 0 is the conditional; above the highest level are
 * operands. */
static value parse(formula *f, int level) {
  if (level == 0)
    return choice(f);
  if (level == HIGHEST || f->failed)
    return primary(f);
  value left = parse(f, level + 1);
  for (const operator_row *row; (row = operator_at(f, level)) != NULL && !f->failed;) {
    next(f);
    value both[] = {left, parse(f, level + 1)};
    kind of = common_kind(2, both);
    const char *op = is_float(of) ? row->of_floats : row->of_integers;
    f->failed |= !op;
    if (op)
      left = emit(f, op, 2, both, row->compares ? I1 : of);
  }
  return left;
}

static void assign(formula *f, token name, value v) {
  int i = 0;
  while (i < f->n_names && !is_same(f->names[i].name, name))
    i++;
  if (i == MAX_NAMES) {
    f->failed = true;
    return;
  }
  f->names[i].name = name;
  f->names[i].value = v;
  f->n_names += i == f->n_names;
}

bool tp__write_formula(const char *text, bool is_f32, bool fuses, int n_arguments,
                       tp__string *out) {
  static const char *const arguments[] = {"x", "x1"};
  formula f = {.out = out, .own = is_f32 ? F32 : F64, .fuses = fuses, .at = text};
  value last = {.kind = LITERAL};
  for (int i = 0; i < n_arguments; i++)
    assign(&f, (token){arguments[i], (int)strlen(arguments[i])},
           (value){.kind = f.own, .number = f.n_values++});
  for (next(&f); f.token.length > 0 && !f.failed;) {
    token name = f.token;
    next(&f);
    expect(&f, "=");
    last = parse(&f, 0);
    expect(&f, ";");
    assign(&f, name, last);
  }
  last = as_kind(&f, last, f.own);
  tp__string_printf(out, "  return %%v%d : %s\n", last.number, types[last.kind]);
  return !f.failed && !out->failed;
}
