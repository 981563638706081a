/* Finds the family of an op and reads its rule. */
#include "rules/families.h"
#include "rules/rows.h"
#include "rules/rule.h"

#include "ir/parse_hints.h"

#include <string.h>

static bool has_regions(MlirOperation op) { return mlirOperationGetNumRegions(op) > 0; }

/* Returns advice for frequent unsupported ops. The last row matches all ops. */
static const char *way_out(MlirOperation op) {
  static const struct {
    const char *op, *hint;
  } rows[] = {
      {"scf.forall", "turn it into scf.for before sharding"},
      {"scf.parallel", "turn it into scf.for before sharding"},
      {"scf.execute_region", "inline its body before sharding (--canonicalize)"},
      {"linalg.softmax", "decompose it before sharding (tp-decompose)"},
      {"affine.for", "lower it before sharding (--lower-affine)"},
      {"affine.if", "lower it before sharding (--lower-affine)"},
      {"affine.parallel", "lower it before sharding (--lower-affine)"},
      {"vector.print", "remove it: a compiled program does not print"},
      {"ml_program.global_load", "it reads the state of a program, such as the seed of PyTorch's "
                                 "dropout; export the model in "
                                 "eval mode, or make random numbers arguments"},
      {"tensor.dim", "fold it before sharding (--canonicalize): all shapes are static"},
  };
  for (int i = 0; i < TP_LEN(rows); i++)
    if (tp__op_is(op, rows[i].op))
      return rows[i].hint;
  if (tp__op_has_dialect(op, "gpu"))
    return "programs compute with tensors, on GPUs, too: write the computation with linalg, and "
           "compile it for GPUs (--target=cuda of shard-run)";
  MlirStringRef dialect = tp__op_name(op);
  const char *dot = memchr(dialect.data, '.', dialect.length);
  dialect.length = dot ? (size_t)(dot - dialect.data) : dialect.length;
  const char *foreign = tp__foreign_dialect_hint(dialect);
  if (foreign)
    return foreign;
  return has_regions(op) ? "rewrite it with linalg and tensor ops"
                         : "rewrite it with linalg and tensor ops, or pass unknown-ops=replicate, "
                           "or state its rule with tp.rule";
}

bool tp__is_never_compiled(MlirOperation op) {
  return tp__op_is(op, "vector.print") || tp__op_has_dialect(op, "gpu");
}

/* Reports an op without a rule. Calls of functions that have a body are inlined beforehand. */
static tp_status refuse(MlirOperation op) {
  if (!tp__op_is(op, "func.call"))
    return tp__error(op, TP_UNSUPPORTED, "no sharding rule for this op; %s", way_out(op));
  MlirStringRef callee = mlirFlatSymbolRefAttrGetValue(tp__inherent(op, "callee"));
  return tp__error(op, TP_UNSUPPORTED,
                   "no sharding rule for the call of @%.*s, which has a body; run tp-inline-calls "
                   "first",
                   (int)callee.length, callee.data);
}

/* Forbids sums and products across devices in f8. With 3 bits of mantissa, combining partial
 * results gives a different result. Max and min are exact. */
static void keep_sums_of_f8(tp_rule *rule) {
  bool is_coarse = false;
  for (int i = 0; i < rule->n_results; i++) {
    const tp_value_map *r = &rule->results[i];
    bool is_f8 = r->is_tensor && tp__is_f8(tp__element_type(mlirValueGetType(r->value)));
    is_coarse |= is_f8;
    for (int f = 0; f < rule->n_factors && is_f8 && r->has_combiner &&
                    (r->combiner == TP_SUM || r->combiner == TP_PRODUCT);
         f++)
      if (rule->factors[f].kind == TP_REDUCTION)
        rule->factors[f].kind = TP_FIXED;
  }
  int n = 0;
  for (int i = 0; i < rule->n_variants; i++)
    if (!is_coarse || rule->variants[i].combiner != TP_SUM)
      rule->variants[n++] = rule->variants[i];
  rule->n_variants = n;
}

tp_status tp__rule_of(MlirOperation op, bool unknown_replicate, tp__arena *arena, tp_rule *rule) {
  *rule = (tp_rule){.factors = tp__arena_array(arena, TP_MAX_FACTORS, sizeof *rule->factors),
                    .variants = tp__arena_array(arena, TP_MAX_VARIANTS, sizeof *rule->variants),
                    .rows = tp__arena_alloc(arena, sizeof *rule->rows)};
  if (!rule->factors || !rule->variants || !rule->rows)
    return tp__out_of_memory(op);
  int n;
  const tp_family *const *families = tp__families(&n);
  for (int i = 0; i < n; i++) {
    if (!families[i]->matches(op))
      continue;
    if (families[i] != &tp__user_family && tp__user_family.matches(op))
      return tp__error(op, TP_INVALID_ARGUMENT,
                       "has a built-in rule of family \"%s\", so it needs no other; remove %s",
                       families[i]->name,
                       mlirAttributeIsNull(tp__get(op, "tp.rule")) ? "the registered rule"
                                                                   : "its tp.rule");
    rule->family = families[i];
    TP_TRY(families[i]->rule(op, arena, rule));
    keep_sums_of_f8(rule);
    tp__rule_rows(rule);
    return TP_OK;
  }
  if (unknown_replicate && !has_regions(op) && !tp__is_never_compiled(op))
    return tp__rule_begin(op, arena, rule);
  return refuse(op);
}
