/* Generates scalar expressions, in bodies and on whole tensors, from one table of ops with their
 * effect on ranges. */
#include "gen.h"

#include <stdio.h>
#include <string.h>

typedef enum effect {
  ADD,
  SUB,
  MUL,
  HIGHER,
  LOWER,
  NEGATE,
  MAGNITUDE,
  SQUASH, /* tanh: -1 .. 1, rounds */
  DIVIDE, /* needs a divisor >= 1 */
  RATIO,  /* 6 / x for x in 1 .. 3: whole; infinite for zeros from padding */
  CHOOSE, /* a < b ? a : b - a, on whole numbers */
  BITS,
} effect;

static const struct {
  const char *op;
  bool is_float;
  int arity;
  effect effect;
} table[] = {
    {"arith.addf", true, 2, ADD},       {"arith.subf", true, 2, SUB},
    {"arith.mulf", true, 2, MUL},       {"arith.maximumf", true, 2, HIGHER},
    {"arith.minimumf", true, 2, LOWER}, {"arith.maxnumf", true, 2, HIGHER},
    {"arith.negf", true, 1, NEGATE},    {"math.absf", true, 1, MAGNITUDE},
    {"math.tanh", true, 1, SQUASH},     {"arith.divf", true, 2, DIVIDE},
    {"arith.divf", true, 1, RATIO},     {"arith.cmpf", true, 2, CHOOSE},
    {"arith.addi", false, 2, ADD},      {"arith.subi", false, 2, SUB},
    {"arith.muli", false, 2, MUL},      {"arith.maxsi", false, 2, HIGHER},
    {"arith.minsi", false, 2, LOWER},   {"arith.xori", false, 2, BITS},
    {"arith.andi", false, 2, BITS},     {"arith.ori", false, 2, BITS},
    {"arith.divsi", false, 2, DIVIDE},  {"arith.cmpi", false, 2, CHOOSE},
    {"arith.maxui", false, 2, BITS},    {"arith.divsi", false, 2, DIVIDE},
    {"arith.remsi", false, 2, DIVIDE},  {"arith.divf", true, 1, RATIO},
};

/* Bounds of whole numbers. Integers: one more than the largest; I64 stays below. Floats: smaller
 * whole numbers are exact, with one spare bit. */
static const double limits[N_ELEMENTS] = {[F32] = 0x1p23, [F64] = 0x1p50, [F16] = 0x1p10,
                                          [BF16] = 0x1p7, [I32] = 0x1p31, [I64] = 0x1p62,
                                          [I8] = 0x1p7,   [I1] = 1};

bool range_settle(element_kind e, range *r) {
  double most = fmax(fabs(r->low), fabs(r->high)), limit = limits[e];
  if (!is_float(e)) {
    if (r->low < -limit || r->high > limit - 1) {
      r->low = -limit;
      r->high = limit - 1;
    }
    return true;
  }
  r->scale = fmax(r->scale, most);
  r->integral = r->integral && most < limit;
  return r->scale < (e == F16 ? 2e4 : 1e9);
}

range range_join(range a, range b) {
  return (range){fmin(a.low, b.low), fmax(a.high, b.high), a.integral && b.integral,
                 fmax(a.scale, b.scale)};
}

static double least(double a, double b, double c, double d) { return fmin(fmin(a, b), fmin(c, d)); }
static double most(double a, double b, double c, double d) { return fmax(fmax(a, b), fmax(c, d)); }

static bool apply(effect what, element_kind e, range a, range b, range *r) {
  *r = range_join(a, b);
  double full = limits[e];
  switch (what) {
  case ADD:
    r->low = a.low + b.low, r->high = a.high + b.high;
    break;
  case SUB:
    r->low = a.low - b.high, r->high = a.high - b.low;
    break;
  case MUL:
    r->low = least(a.low * b.low, a.low * b.high, a.high * b.low, a.high * b.high);
    r->high = most(a.low * b.low, a.low * b.high, a.high * b.low, a.high * b.high);
    r->scale = fmax(r->scale, a.scale * b.scale);
    break;
  case HIGHER:
    r->low = fmax(a.low, b.low);
    break;
  case LOWER:
    r->high = fmin(a.high, b.high);
    break;
  case NEGATE:
    r->low = -a.high, r->high = -a.low;
    break;
  case MAGNITUDE:
    r->high = fmax(fabs(a.low), fabs(a.high)), r->low = 0;
    break;
  case SQUASH:
    *r = (range){-1, 1, false, a.scale};
    break;
  case DIVIDE:
    if (b.low < 1)
      return false;
    r->low = fmin(a.low, 0), r->high = fmax(a.high, 0), r->integral = !is_float(e);
    break;
  case RATIO:
    if (a.low < 1 || a.high > 3 || !a.integral)
      return false;
    *r = (range){2, 6, true, 6};
    break;
  case CHOOSE:
    if (!a.integral || !b.integral)
      return false;
    r->low = fmin(a.low, b.low - a.high), r->high = fmax(a.high, b.high - a.low);
    break;
  case BITS:
    r->low = -full, r->high = full - 1;
    break;
  }
  return range_settle(e, r);
}

static void print_op(text *out, int i, element_kind e, const char *on, const char *bit,
                     const scalar *a, const scalar *b, const char *name) {
  const char *opcode = table[i].op;
  if (table[i].effect == CHOOSE) {
    text_add(out, "  %s_lt = %s %s, %s, %s : %s\n", name, opcode, is_float(e) ? "olt" : "slt",
             a->name, b->name, on);
    text_add(out, "  %s_d = %s %s, %s : %s\n", name, is_float(e) ? "arith.subf" : "arith.subi",
             b->name, a->name, on);
    text_add(out, "  %s = arith.select %s_lt, %s, %s_d : %s, %s\n", name, name, a->name, name, bit,
             on);
  } else if (table[i].effect == RATIO) {
    if (strncmp(on, "tensor", 6) == 0)
      text_add(out, "  %s_six = arith.constant dense<6.0> : %s\n", name, on);
    else
      text_add(out, "  %s_six = arith.constant 6.0 : %s\n", name, on);
    text_add(out, "  %s = arith.divf %s_six, %s : %s\n", name, name, a->name, on);
  } else if (table[i].arity == 1) {
    text_add(out, "  %s = %s %s : %s\n", name, opcode, a->name, on);
  } else {
    text_add(out, "  %s = %s %s, %s : %s\n", name, opcode, a->name, b->name, on);
  }
}

bool random_expression(gen *g, text *out, element_kind e, const char *on, const char *bit, int n,
                       const scalar *operands, int n_ops, const char *name, scalar *result) {
  scalar known[16];
  int count = n < 8 ? n : 8;
  memcpy(known, operands, (size_t)count * sizeof *known);
  if (count == 0)
    return false;
  for (int made = 0, tries = 0; made < n_ops && tries < 60; tries++) {
    int i = rng_below(&g->r, COUNT(table));
    /* the first ops read the operands in order, so that each is read */
    const scalar *a = made < count ? known + made : known + rng_below(&g->r, count + made);
    const scalar *b = made == 0 ? known + rng_below(&g->r, count) : known + count + made - 1;
    if (rng_chance(&g->r, 50)) {
      const scalar *t = a;
      a = b;
      b = t;
    }
    scalar *next = known + count + made;
    if (table[i].is_float != is_float(e) || !apply(table[i].effect, e, a->r, b->r, &next->r))
      continue;
    snprintf(next->name, sizeof next->name, "%%h%d_e%d", g->id, ++g->serial);
    if (name && made == n_ops - 1)
      snprintf(next->name, sizeof next->name, "%s", name);
    print_op(out, i, e, on, bit, a, b, next->name);
    *result = *next;
    made++;
    if (made == n_ops || count + made >= COUNT(known))
      return true;
  }
  return false;
}

const char *number(element_kind e, double x) {
  static char ring[8][40];
  static unsigned next;
  char *at = ring[next++ % 8];
  if (e == I1)
    x = x != 0 ? -1 : 0;
  snprintf(at, 40, is_float(e) ? "%.1f" : "%.0f", x);
  return at;
}

/* ---- combiners ---- */

static const combiner combiners[] = {
    {"arith.addf", true, 0, COMBINE_SUM},     {"arith.mulf", true, 1, COMBINE_PRODUCT},
    {"arith.maximumf", true, 0, COMBINE_MAX}, {"arith.minimumf", true, 0, COMBINE_MIN},
    {"arith.maxnumf", true, 0, COMBINE_MAX},  {"arith.minnumf", true, 0, COMBINE_MIN},
    {"arith.addi", false, 0, COMBINE_SUM},    {"arith.muli", false, 1, COMBINE_PRODUCT},
    {"arith.maxsi", false, 0, COMBINE_MAX},   {"arith.minsi", false, 0, COMBINE_MIN},
    {"arith.maxui", false, 0, COMBINE_BITS},  {"arith.minui", false, -1, COMBINE_BITS},
    {"arith.andi", false, -1, COMBINE_BITS},  {"arith.ori", false, 0, COMBINE_BITS},
    {"arith.xori", false, 0, COMBINE_BITS},
};

const combiner *random_combiner(gen *g, element_kind e) {
  int i = rng_below(&g->r, COUNT(combiners));
  while (combiners[i].is_float != is_float(e))
    i = (i + 1) % COUNT(combiners);
  return combiners + i;
}

const combiner *combiner_of(element_kind e, int kind) {
  int i = 0;
  while (combiners[i].is_float != is_float(e) || (int)combiners[i].kind != kind)
    i++;
  return combiners + i;
}

const char *combiner_identity(const combiner *c, element_kind e) {
  static const char *const most[N_ELEMENTS] = {
      [F32] = "0x7F800000", [F64] = "0x7FF0000000000000",  [F16] = "0x7C00", [BF16] = "0x7F80",
      [I32] = "2147483647", [I64] = "9223372036854775807", [I8] = "127",     [I1] = "0"};
  static const char *const least[N_ELEMENTS] = {
      [F32] = "0xFF800000",  [F64] = "0xFFF0000000000000",   [F16] = "0xFC00", [BF16] = "0xFF80",
      [I32] = "-2147483648", [I64] = "-9223372036854775808", [I8] = "-128",    [I1] = "-1"};
  if (c->kind == COMBINE_MAX || c->kind == COMBINE_MIN)
    return (c->kind == COMBINE_MAX ? least : most)[e];
  return number(e, c->number);
}

bool combine_range(const combiner *c, element_kind e, int64_t n, range r, range init,
                   range *result) {
  double count = (double)n;
  *result = range_join(r, init);
  if (c->kind == COMBINE_SUM) {
    result->low = init.low + count * r.low, result->high = init.high + count * r.high;
    result->scale = init.scale + count * r.scale;
  } else if (c->kind == COMBINE_PRODUCT) {
    double m = pow(fmax(1, fmax(fabs(r.low), fabs(r.high))), count) *
               fmax(1, fmax(fabs(init.low), fabs(init.high)));
    result->low = -m, result->high = m;
  } else if (c->kind == COMBINE_BITS) {
    result->low = -0x1p62, result->high = 0x1p62;
  }
  return range_settle(e, result);
}
