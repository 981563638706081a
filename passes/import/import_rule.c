/* sdy.sharding_rule of custom calls: to tp.rule.
 *
 * A factor of Shardy may be split if the op computes slices of its results from slices of its
 * operands, when only its types change. This holds for factors that occur in an operand and in
 * every result, and for reduction factors, whose partial results are added up. Others, such as the
 * rows and columns of a matrix that LAPACK factorizes, occur in rules for propagation alone; they
 * stay whole here. */
#include "passes/import/import.h"

#include "support/support.h"

static const char what[] = "sdy.sharding_rule";

typedef struct reading {
  MlirOperation op;
  const tp_sdy_rule *rule;
  uint64_t whole;  /* factors that are not split */
  uint64_t joined; /* factors whose size cannot be read off a dimension of their own */
  uint64_t fixed;  /* whole factors that share a dimension with one that is split */
} reading;

static MlirType type_of(const reading *r, int i) {
  int n = r->rule->n_operands;
  return mlirValueGetType(i < n ? mlirOperationGetOperand(r->op, i)
                                : mlirOperationGetResult(r->op, i - n));
}

static const char *side(const reading *r, int i) {
  return i < r->rule->n_operands ? "operand" : "result";
}

static int number(const reading *r, int i) {
  return i < r->rule->n_operands ? i : i - r->rule->n_operands;
}

/* The name of a factor in Shardy's text. */
static void append_name(tp__string *text, int factor) {
  int z = 'z' - 'i';
  if (factor <= z)
    tp__string_printf(text, "%c", 'i' + factor);
  else
    tp__string_printf(text, "z_%d", factor - z);
}

static void append_names(tp__string *text, uint64_t set) {
  for (int f = 0, n = 0; f < TP_SDY_MAX_FACTORS; f++)
    if (set >> f & 1) {
      tp__string_append(text, n++ ? "," : "");
      append_name(text, f);
    }
}

static tp_status refuse(const reading *r, uint64_t set, const char *why) {
  tp__string names = {0};
  append_names(&names, set);
  tp_status status =
      tp__error(r->op, TP_UNSUPPORTED, "%s: %s {%s}%s", what,
                (set & (set - 1)) ? "factors" : "factor", tp__string_text(&names), why);
  tp__string_destroy(&names);
  return status;
}

/* ---- checks ---- */

static tp_status check_numbers(const reading *r) {
  const tp_sdy_rule *rule = r->rule;
  int n = (int)mlirOperationGetNumOperands(r->op),
      n_results = (int)mlirOperationGetNumResults(r->op);
  if (rule->n_operands != n || rule->n_results != n_results)
    return tp__error(r->op, TP_INVALID_ARGUMENT,
                     "%s is for %d operands and %d results, but the op has %d and %d", what,
                     rule->n_operands, rule->n_results, n, n_results);
  for (int i = 0; i < n + n_results; i++) {
    MlirType type = type_of(r, i);
    int rank = mlirTypeIsARankedTensor(type) ? (int)mlirShapedTypeGetRank(type) : 0;
    if (rule->values[i].rank != rank)
      return tp__error(r->op, TP_INVALID_ARGUMENT, "%s has %d dimensions for %s %d, which has %d",
                       what, rule->values[i].rank, side(r, i), number(r, i), rank);
  }
  return TP_OK;
}

/* ---- which factors are split ---- */

static uint64_t factors_in(const tp_sdy_rule_value *value, int d) {
  uint64_t set = 0;
  for (int k = 0; k < value->n[d]; k++)
    set |= UINT64_C(1) << value->factors[d][k];
  return set;
}

static uint64_t factors_of(const tp_sdy_rule_value *value) {
  uint64_t set = 0;
  for (int d = 0; d < value->rank; d++)
    set |= factors_in(value, d);
  return set;
}

/* True if the sizes of the factors of a dimension make up its size, which is not 0. The rule of an
 * op that shifts or cuts a dimension has the size of the smaller of two. */
static bool is_exact(const reading *r, int i, int d) {
  const tp_sdy_rule_value *value = &r->rule->values[i];
  int64_t size = mlirShapedTypeGetDimSize(type_of(r, i), d), product = 1;
  for (int k = 0; k < value->n[d] && product <= size; k++)
    product *= r->rule->sizes[value->factors[d][k]]; /* of at most nine digits */
  return product == size && size > 0;
}

static void find_whole(reading *r) {
  const tp_sdy_rule *rule = r->rule;
  uint64_t in_operands = 0, in_results = UINT64_MAX, alone = 0, all = 0;
  r->whole = rule->need_replication | rule->permutation;
  for (int i = 0; i < rule->n_operands + rule->n_results; i++) {
    const tp_sdy_rule_value *value = &rule->values[i];
    uint64_t set = factors_of(value);
    all |= set;
    if (i < rule->n_operands)
      in_operands |= set;
    else
      in_results &= set;
    for (int d = 0; d < value->rank; d++)
      if (!is_exact(r, i, d))
        r->whole |= factors_in(value, d);
      else if (value->n[d] == 1)
        alone |= factors_in(value, d);
  }
  r->whole |= all & ~in_operands;
  r->whole |= all & ~in_results & ~rule->reduction;
  r->joined = all & ~alone;
}

static void find_fixed(reading *r) {
  for (int i = 0; i < r->rule->n_operands + r->rule->n_results; i++)
    for (int d = 0; d < r->rule->values[i].rank; d++) {
      uint64_t set = factors_in(&r->rule->values[i], d);
      if (set & ~r->whole)
        r->fixed |= set & r->whole;
    }
}

static tp_status check_reductions(const reading *r) {
  for (int i = r->rule->n_operands; i < r->rule->n_operands + r->rule->n_results; i++) {
    uint64_t both = factors_of(&r->rule->values[i]) & r->rule->reduction;
    if (both)
      return refuse(r, both,
                    ": a reduction factor must not be in a result; split the call into one that "
                    "reduces and one that does not");
  }
  return TP_OK;
}

/* tp.rule has no sizes: all but one of the factors that share a dimension must also stand alone. */
static tp_status check_joined(const reading *r, const tp_sdy_rule_value *value, int d) {
  uint64_t set = factors_in(value, d), unknown = set & r->joined;
  return (unknown & (unknown - 1)) && (set & ~r->whole)
             ? refuse(r, unknown,
                      " share every dimension that they are in, so their sizes cannot be kept; "
                      "make them one factor, or list them in need_replication")
             : TP_OK;
}

/* ---- the text ---- */

static void append_dim(const reading *r, tp__string *text, int i, int d) {
  const tp_sdy_rule_value *value = &r->rule->values[i];
  uint64_t set = factors_in(value, d);
  bool is_fixed = !(set & ~r->fixed) && is_exact(r, i, d);
  if (!(set & ~r->whole) && !is_fixed) {
    tp__string_append(text, "_");
    return;
  }
  tp__string_append(text, value->n[d] > 1 ? "(" : "");
  for (int k = 0; k < value->n[d]; k++) {
    tp__string_append(text, k ? " " : "");
    append_name(text, value->factors[d][k]);
  }
  tp__string_append(text, value->n[d] > 1 ? ")" : "");
}

static void append_clause(tp__string *text, const char *name, uint64_t set) {
  if (set == 0)
    return;
  tp__string_printf(text, " %s={", name);
  append_names(text, set);
  tp__string_append(text, "}");
}

static tp_status write_rule(const reading *r, tp__string *text) {
  const tp_sdy_rule *rule = r->rule;
  tp__string_append(text, "(");
  for (int i = 0; i < rule->n_operands + rule->n_results; i++) {
    tp__string_append(text, i == rule->n_operands ? ")->(" : i ? "," : "");
    tp__string_append(text, "[");
    for (int d = 0; d < rule->values[i].rank; d++) {
      TP_TRY(check_joined(r, &rule->values[i], d));
      tp__string_append(text, d ? "," : "");
      append_dim(r, text, i, d);
    }
    tp__string_append(text, "]");
  }
  tp__string_append(text, rule->n_results ? ")" : ")->()");
  append_clause(text, "reduction", rule->reduction & ~r->whole);
  append_clause(text, "fixed", r->fixed);
  return text->failed ? tp__out_of_memory(r->op) : TP_OK;
}

static void remark_permutations(const reading *r) {
  tp__string names = {0};
  append_names(&names, r->rule->permutation);
  if (r->rule->permutation)
    tp__remark(r->op,
               "%s: permutation={%s} stays whole, because the call would need elements of its "
               "neighbors",
               what, tp__string_text(&names));
  tp__string_destroy(&names);
}

tp_status tp__sdy_import_rule(tp_importer *im, MlirOperation op) {
  MlirAttribute attr = tp__get(op, what);
  tp_sdy_rule rule;
  reading r = {.op = op, .rule = &rule};
  tp__string text = {0};
  if (mlirAttributeIsNull(attr))
    return TP_OK;
  if (!mlirAttributeIsNull(tp__get(op, "tp.rule")))
    return tp__error(op, TP_INVALID_ARGUMENT, "has %s and also tp.rule; keep one", what);
  TP_TRY(tp__sdy_read_rule(op, what, attr, &rule));
  tp__remove(op, what);
  /* the rule of another op follows from the op */
  if (!tp__op_is(op, "stablehlo.custom_call"))
    return TP_OK;
  TP_TRY(check_numbers(&r));
  TP_TRY(check_reductions(&r));
  find_whole(&r);
  find_fixed(&r);
  tp_status status = write_rule(&r, &text);
  if (status == TP_OK) {
    tp__set(op, "tp.rule", tp__attr_string(im->pass->context, text.text));
    remark_permutations(&r);
    im->pass->statistics[TP_IMPORT_RULES]++;
  }
  tp__string_destroy(&text);
  return status;
}
