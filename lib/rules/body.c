/* Analyzes the scalar body of a linalg op: combiners, linearity, work, identities. */
#include "rules/body.h"

#include <math.h>
#include <string.h>

bool tp__body_of(MlirOperation op, int n_inputs, tp_body *body) {
  if (mlirOperationGetNumRegions(op) != 1)
    return false;
  body->block = mlirRegionGetFirstBlock(mlirOperationGetRegion(op, 0));
  if (mlirBlockIsNull(body->block))
    return false;
  body->n_args = (int)mlirBlockGetNumArguments(body->block);
  body->n_inputs = n_inputs;
  body->yield = mlirBlockGetTerminator(body->block);
  return !mlirOperationIsNull(body->yield) && body->n_args >= n_inputs;
}

bool tp__body_reads(const tp_body *body, int i) {
  return !mlirOpOperandIsNull(mlirValueGetFirstUse(mlirBlockGetArgument(body->block, i)));
}

/* ---- combiners ---- */

static const struct {
  const char *op;
  tp_combiner combiner;
} combiners[] = {
    {"arith.addf", TP_SUM},       {"arith.addi", TP_SUM},      {"arith.mulf", TP_PRODUCT},
    {"arith.muli", TP_PRODUCT},   {"arith.maximumf", TP_MAX},  {"arith.maxsi", TP_MAX},
    {"arith.minimumf", TP_MIN},   {"arith.minsi", TP_MIN},     {"arith.maxnumf", TP_MAXNUM},
    {"arith.minnumf", TP_MINNUM}, {"arith.maxui", TP_MAXU},    {"arith.minui", TP_MINU},
    {"arith.andi", TP_AND},       {"arith.ori", TP_OR},        {"arith.xori", TP_XOR},
    {"complex.add", TP_SUM},      {"complex.mul", TP_PRODUCT},
};

static bool op_combiner(MlirOperation op, tp_combiner *combiner) {
  for (int i = 0; i < TP_LEN(combiners); i++)
    if (tp__op_is(op, combiners[i].op)) {
      *combiner = combiners[i].combiner;
      return true;
    }
  return false;
}

/* The ops that a query has visited, each at most once. A body is a DAG: a chain of `x + x` has
 * exponentially many paths. The limit also bounds the recursion depth. */
enum { MAX_SEEN = 256 };

typedef struct seen_ops {
  int n;
  MlirOperation ops[MAX_SEEN];
} seen_ops;

/* Returns the index of the op; n if it is new. */
static int find_seen(const seen_ops *seen, MlirOperation op) {
  int i = 0;
  while (i < seen->n && !mlirOperationEqual(seen->ops[i], op))
    i++;
  return i;
}

/* A backward search through operands. */
typedef struct search {
  const tp_body *body;
  MlirOperation root;
  uint64_t set;
  bool found;
  seen_ops seen;
} search;

static void search_value(search *s, MlirValue value);

static tp_status search_op(MlirOperation op, void *data) {
  search *s = data;
  for (intptr_t i = 0; i < mlirOperationGetNumOperands(op) && !s->found; i++)
    search_value(s, mlirOperationGetOperand(op, i));
  return TP_OK;
}

static void search_value(search *s, MlirValue value) {
  if (s->found || tp__is_captured(s->root, value))
    return;
  if (mlirValueIsABlockArgument(value)) {
    bool own = mlirBlockEqual(mlirBlockArgumentGetOwner(value), s->body->block);
    /* an argument of a loop inside the body: assume that it depends */
    s->found = !own || (s->set >> mlirBlockArgumentGetArgNumber(value) & 1);
    return;
  }
  MlirOperation op = mlirOpResultGetOwner(value);
  if (find_seen(&s->seen, op) < s->seen.n)
    return;
  s->found = s->seen.n == MAX_SEEN;
  if (s->found)
    return;
  s->seen.ops[s->seen.n++] = op;
  (void)search_op(op, s);
  (void)tp__walk(op, search_op, s); /* the visitor does not fail */
}

bool tp__body_depends(const tp_body *body, MlirValue value, uint64_t set) {
  search s = {.body = body, .root = mlirBlockGetParentOperation(body->block), .set = set};
  search_value(&s, value);
  return s.found;
}

static uint64_t init_bit(const tp_body *body, int k) { return UINT64_C(1) << (body->n_inputs + k); }

/* Reads the condition and the alternatives of a select or a branch. False for other ops. */
static bool read_choice(MlirOperation op, MlirValue result, MlirValue *condition,
                        MlirValue values[2]) {
  bool branches = tp__op_is(op, "scf.if");
  if (!branches && !tp__op_is(op, "arith.select"))
    return false;
  *condition = mlirOperationGetOperand(op, 0);
  for (int i = 0; i < 2; i++) {
    MlirOperation from = op;
    if (branches)
      from = mlirBlockGetTerminator(mlirRegionGetFirstBlock(mlirOperationGetRegion(op, i)));
    values[i] =
        mlirOperationGetOperand(from, branches ? mlirOpResultGetResultNumber(result) : 1 + i);
  }
  return true;
}

/* A chain of ops with one combiner, which its first op determines. */
typedef struct chain_of {
  const tp_body *body;
  int k;
  bool found;
  tp_combiner combiner;
  int budget; /* limits nested selections, which branch on both sides */
} chain_of;

/* True if value == init (+) x. */
static bool chain(chain_of *c, MlirValue value) {
  MlirOperation op = tp__defining_op(value);
  MlirValue condition, values[2];
  tp_combiner combiner;
  if (mlirValueEqual(value, mlirBlockGetArgument(c->body->block, c->body->n_inputs + c->k)))
    return true;
  if (mlirOperationIsNull(op) || c->budget-- == 0)
    return false;
  uint64_t init = init_bit(c->body, c->k);
  if (read_choice(op, value, &condition, values))
    return !tp__body_depends(c->body, condition, init) && chain(c, values[0]) &&
           chain(c, values[1]);
  if (!op_combiner(op, &combiner) || (c->found && combiner != c->combiner))
    return false;
  c->found = true;
  c->combiner = combiner;
  MlirValue a = mlirOperationGetOperand(op, 0), b = mlirOperationGetOperand(op, 1);
  bool in_a = tp__body_depends(c->body, a, init), in_b = tp__body_depends(c->body, b, init);
  return in_a != in_b && chain(c, in_a ? a : b);
}

bool tp__body_combiner(const tp_body *body, int k, tp_combiner *combiner) {
  enum { BUDGET = 100 };
  chain_of c = {.body = body, .k = k, .budget = BUDGET};
  if (!chain(&c, mlirOperationGetOperand(body->yield, k)) || !c.found)
    return false;
  *combiner = c.combiner;
  /* No other output may depend on this init: it would see a partial value. */
  for (intptr_t i = 0; i < mlirOperationGetNumOperands(body->yield); i++)
    if (i != k &&
        tp__body_depends(body, mlirOperationGetOperand(body->yield, i), init_bit(body, k)))
      return false;
  return true;
}

/* ---- linearity ---- */

typedef enum degree { CONSTANT, LINEAR, NONLINEAR } degree;

/* A linearity query for values of the body, in the arguments of the set. */
typedef struct linearity {
  const tp_body *body;
  uint64_t set;
  seen_ops seen;
  degree degrees[MAX_SEEN];
} linearity;

static degree degree_of(linearity *l, MlirValue value);

static degree max_degree(degree a, degree b) { return a > b ? a : b; }

/* The operands in which an op is linear. IN_ALL: in all operands together (x + constant is affine,
 * not linear). IN_EITHER: in one operand, if the other is constant. IN_FIRST: in the first, if all
 * others are constant. IN_CHOSEN: in the two values of a select. Extracting the parts of a complex
 * number, and creating it from parts, is linear part by part. */
typedef enum linear_in { IN_ALL, IN_EITHER, IN_FIRST, IN_CHOSEN } linear_in;

static const struct {
  const char *op;
  linear_in where;
} linear_ops[] = {
    {"arith.addf", IN_ALL},     {"arith.subf", IN_ALL},     {"arith.addi", IN_ALL},
    {"arith.subi", IN_ALL},     {"arith.mulf", IN_EITHER},  {"arith.muli", IN_EITHER},
    {"arith.divf", IN_FIRST},   {"arith.negf", IN_FIRST},   {"arith.extf", IN_FIRST},
    {"arith.truncf", IN_FIRST}, {"arith.trunci", IN_FIRST}, {"arith.select", IN_CHOSEN},
    {"complex.add", IN_ALL},    {"complex.sub", IN_ALL},    {"complex.mul", IN_EITHER},
    {"complex.div", IN_FIRST},  {"complex.neg", IN_FIRST},  {"complex.conj", IN_FIRST},
    {"complex.re", IN_FIRST},   {"complex.im", IN_FIRST},   {"complex.create", IN_ALL},
};

static bool is_linear(MlirOperation op, const degree *d) {
  for (int i = 0; i < TP_LEN(linear_ops); i++) {
    if (!tp__op_is(op, linear_ops[i].op))
      continue;
    switch (linear_ops[i].where) {
    case IN_ALL:
      return d[0] == LINEAR && d[1] == LINEAR;
    case IN_EITHER:
      return d[0] == CONSTANT || d[1] == CONSTANT;
    case IN_FIRST:
      return d[1] == CONSTANT;
    case IN_CHOSEN:
      return d[0] == CONSTANT && d[1] == LINEAR && d[2] == LINEAR;
    }
  }
  return false;
}

static degree combine(linearity *l, MlirOperation op) {
  intptr_t n = mlirOperationGetNumOperands(op);
  degree d[3] = {CONSTANT, CONSTANT, CONSTANT}, all = CONSTANT;
  for (intptr_t i = 0; i < n; i++) {
    degree x = degree_of(l, mlirOperationGetOperand(op, i));
    if (i < 3)
      d[i] = x;
    all = max_degree(all, x);
  }
  return all != LINEAR || is_linear(op, d) ? all : NONLINEAR;
}

static degree degree_of(linearity *l, MlirValue value) {
  if (mlirValueIsABlockArgument(value)) {
    if (!mlirBlockEqual(mlirBlockArgumentGetOwner(value), l->body->block))
      return CONSTANT;
    return l->set >> mlirBlockArgumentGetArgNumber(value) & 1 ? LINEAR : CONSTANT;
  }
  MlirOperation op = tp__defining_op(value);
  if (!mlirBlockEqual(mlirOperationGetBlock(op), l->body->block))
    return CONSTANT;
  int i = find_seen(&l->seen, op);
  if (i < l->seen.n)
    return l->degrees[i];
  if (mlirOperationGetNumRegions(op) > 0 || i == MAX_SEEN)
    return NONLINEAR;
  l->seen.ops[l->seen.n++] = op;
  return l->degrees[i] = combine(l, op);
}

bool tp__body_linear(const tp_body *body, uint64_t set) {
  linearity l = {.body = body, .set = set};
  intptr_t n = mlirOperationGetNumOperands(body->yield);
  for (intptr_t k = 0; k < n; k++)
    if (degree_of(&l, mlirOperationGetOperand(body->yield, k)) != LINEAR)
      return false;
  return n > 0;
}

/* ---- contractions and work ---- */

static MlirValue strip_extension(MlirValue value) {
  MlirOperation op = tp__defining_op(value);
  while (!mlirOperationIsNull(op) &&
         (tp__op_is(op, "arith.extf") || tp__op_is(op, "arith.extsi"))) {
    value = mlirOperationGetOperand(op, 0);
    op = tp__defining_op(value);
  }
  return value;
}

bool tp__body_is_contraction(const tp_body *body) {
  if (mlirOperationGetNumOperands(body->yield) != 1 || body->n_inputs != 2)
    return false;
  MlirOperation add = tp__defining_op(mlirOperationGetOperand(body->yield, 0));
  if (mlirOperationIsNull(add) || !(tp__op_is(add, "arith.addf") || tp__op_is(add, "arith.addi") ||
                                    tp__op_is(add, "complex.add")))
    return false;
  MlirValue init = mlirBlockGetArgument(body->block, 2);
  for (int side = 0; side < 2; side++) {
    MlirOperation mul = tp__defining_op(mlirOperationGetOperand(add, 1 - side));
    if (!mlirValueEqual(mlirOperationGetOperand(add, side), init) || mlirOperationIsNull(mul) ||
        !(tp__op_is(mul, "arith.mulf") || tp__op_is(mul, "arith.muli") ||
          tp__op_is(mul, "complex.mul")))
      continue;
    MlirValue a = strip_extension(mlirOperationGetOperand(mul, 0)),
              b = strip_extension(mlirOperationGetOperand(mul, 1));
    return mlirValueIsABlockArgument(a) && mlirValueIsABlockArgument(b) && !mlirValueEqual(a, b);
  }
  return false;
}

static tp_status add_work(MlirOperation op, void *data) {
  double *work = data;
  if (tp__op_has_dialect(op, "math"))
    *work += 15; /* a transcendental in scalar code costs about as much as that many adds */
  else if (tp__op_is(op, "arith.divf") || tp__op_is(op, "arith.divsi") ||
           tp__op_is(op, "arith.remsi"))
    *work += 4;
  else if (tp__op_has_dialect(op, "complex"))
    *work += 6; /* a multiplication takes 4 real multiplications and 2 additions */
  else if (tp__op_has_dialect(op, "arith") || tp__op_has_dialect(op, "tensor"))
    *work += 1;
  for (intptr_t r = 0; r < mlirOperationGetNumRegions(op); r++)
    *work += 1;
  return TP_OK;
}

double tp__body_work(const tp_body *body) {
  double work = 0.5; /* loads and stores, most of which fusion removes */
  for (MlirOperation op = mlirBlockGetFirstOperation(body->block); !mlirOperationIsNull(op);
       op = mlirOperationGetNextInBlock(op))
    add_work(op, &work);
  return work;
}

/* ---- identities ---- */

static bool float_identity(double v, tp_combiner c) {
  switch (c) {
  case TP_SUM:
    return v == 0;
  case TP_PRODUCT:
    return v == 1;
  case TP_MAX:
  case TP_MAXNUM: /* -infinity replaces a NaN, but every reduction that starts from it does so */
    return (isinf(v) && v < 0) || (isnan(v) && c == TP_MAXNUM);
  case TP_MIN:
  case TP_MINNUM:
    return (isinf(v) && v > 0) || (isnan(v) && c == TP_MINNUM);
  default:
    return false;
  }
}

static bool integer_identity(int64_t v, unsigned width, tp_combiner c) {
  int64_t min = width >= 64 ? INT64_MIN : -((int64_t)1 << (width - 1));
  int64_t max = width >= 64 ? INT64_MAX : ((int64_t)1 << (width - 1)) - 1;
  switch (c) {
  case TP_SUM:
  case TP_OR:
  case TP_XOR:
  case TP_MAXU:
    return v == 0;
  case TP_PRODUCT:
    return v == 1 || (width == 1 && v == -1);
  case TP_AND:
  case TP_MINU:
    return v == -1 || (width == 1 && v == 1);
  case TP_MAX:
    return v == min;
  case TP_MIN:
    return v == max;
  default:
    return false;
  }
}

bool tp__attr_is_identity(MlirAttribute attr, tp_combiner c) {
  if (mlirAttributeIsNull(attr))
    return false;
  if (mlirAttributeIsAFloat(attr))
    return float_identity(mlirFloatAttrGetValueDouble(attr), c);
  if (mlirAttributeIsAInteger(attr)) {
    MlirType type = mlirAttributeGetType(attr);
    unsigned width = mlirTypeIsAInteger(type) ? mlirIntegerTypeGetWidth(type) : 64;
    return integer_identity(mlirIntegerAttrGetValueInt(attr), width, c);
  }
  /* the parts of a complex number */
  if (mlirAttributeIsAArray(attr) && mlirArrayAttrGetNumElements(attr) == 2)
    return c <= TP_PRODUCT && tp__attr_is_identity(mlirArrayAttrGetElement(attr, 0), c) &&
           tp__attr_is_identity(mlirArrayAttrGetElement(attr, 1), TP_SUM);
  return false;
}

bool tp__is_identity(MlirValue scalar, tp_combiner c) {
  MlirOperation op = tp__defining_op(scalar);
  return !mlirOperationIsNull(op) &&
         (tp__op_is(op, "arith.constant") || tp__op_is(op, "complex.constant")) &&
         tp__attr_is_identity(tp__inherent(op, "value"), c);
}

bool tp__is_zero_tensor(MlirValue value) {
  MlirOperation op = tp__defining_op(value);
  if (mlirOperationIsNull(op))
    return false;
  if (tp__op_is(op, "linalg.fill"))
    return tp__is_identity(mlirOperationGetOperand(op, 0), TP_SUM);
  MlirAttribute dense =
      tp__op_is(op, "arith.constant") ? tp__inherent(op, "value") : (MlirAttribute){NULL};
  return !mlirAttributeIsNull(dense) && mlirAttributeIsADenseElements(dense) &&
         mlirDenseElementsAttrIsSplat(dense) &&
         tp__attr_is_identity(mlirDenseElementsAttrGetSplatValue(dense), TP_SUM);
}
