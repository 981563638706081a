/* Checks that a rule as text is sound, by itself and for one op. */
#include "rules/rule_text.h"

#include "ir/collectives.h"

#include <stdio.h>

/* ---- the text by itself ---- */

static uint64_t bits(int first, int n) {
  return n == 64 ? UINT64_MAX : ((UINT64_C(1) << n) - 1) << first;
}

/* A factor without a clause is parallel. Every result computed from it must have it; otherwise
 * devices would disagree about that result. */
static tp_status check_parallel(const tp_rule_text *rule, const tp_text_factor *f, char *why,
                                size_t why_size) {
  if (!(f->lists & bits(0, rule->n_operands)))
    return TP_OK;
  for (int i = 0; i < rule->n_results; i++) {
    if (f->lists >> (rule->n_operands + i) & 1)
      continue;
    snprintf(why, why_size,
             "factor '%s' is in an operand, but not in result %d; say reduction={%s} if the op "
             "combines along it, fixed={%s} if it "
             "needs all of it",
             f->name, i, f->name, f->name);
    return TP_INVALID_ARGUMENT;
  }
  return TP_OK;
}

static tp_status check_reduction(const tp_rule_text *rule, const tp_text_factor *f, char *why,
                                 size_t why_size) {
  for (int i = 0; i < rule->n_results; i++) {
    bool in_result = f->lists >> (rule->n_operands + i) & 1,
         scalar = rule->lists[rule->n_operands + i].is_scalar;
    if (!in_result && !scalar)
      continue;
    snprintf(
        why, why_size,
        in_result
            ? "reduction factor '%s' is in result %d; a reduction factor must not occur in a result"
            : "factor '%s' is reduced, but result %d is a scalar, which cannot be partial; "
              "make the factor fixed, or the "
              "result a tensor<1x...>",
        f->name, i);
    return TP_INVALID_ARGUMENT;
  }
  return TP_OK;
}

static tp_status check_factor(const tp_rule_text *rule, const tp_text_factor *f, char *why,
                              size_t why_size) {
  if (f->uneven && f->kind != TP_PARALLEL) {
    snprintf(why, why_size,
             f->kind == TP_FIXED ? "uneven names factor '%s', which is fixed and never split"
                                 : "uneven names the reduction factor '%s'; the op would combine "
                                   "elements of the padding, which cannot be masked",
             f->name);
    return TP_INVALID_ARGUMENT;
  }
  if (f->kind == TP_FIXED)
    return TP_OK;
  return (f->kind == TP_REDUCTION ? check_reduction : check_parallel)(rule, f, why, why_size);
}

static tp_status check_init(const tp_rule_text *rule, int i, char *why, size_t why_size) {
  for (int f = 0; f < rule->n_factors; f++) {
    if (rule->factors[f].kind != TP_REDUCTION || !(rule->factors[f].lists >> i & 1))
      continue;
    snprintf(why, why_size,
             "operand %d is an init and has the reduction factor '%s'; an init has the dimensions "
             "of the result",
             i, rule->factors[f].name);
    return TP_INVALID_ARGUMENT;
  }
  return TP_OK;
}

/* If operands are partial, all results are, so no result may be a scalar. */
static tp_status check_linear(const tp_rule_text *rule, char *why, size_t why_size) {
  for (int i = 0; i < rule->n_results && rule->n_linear; i++) {
    if (!rule->lists[rule->n_operands + i].is_scalar)
      continue;
    snprintf(why, why_size,
             "the op is declared linear, but result %d is a scalar, which cannot be partial", i);
    return TP_INVALID_ARGUMENT;
  }
  for (int v = 1; v < rule->n_linear; v++)
    for (int u = 0; u < v; u++) {
      if (rule->linear[u] != rule->linear[v])
        continue;
      snprintf(why, why_size,
               "clauses %d and %d of linear={...} name the same operands; remove one", u + 1,
               v + 1);
      return TP_INVALID_ARGUMENT;
    }
  return TP_OK;
}

tp_status tp__rule_text_check(const tp_rule_text *rule, char *why, size_t why_size) {
  for (int f = 0; f < rule->n_factors; f++)
    TP_TRY(check_factor(rule, &rule->factors[f], why, why_size));
  for (int i = 0; i < rule->n_operands; i++)
    if (rule->lists[i].is_init)
      TP_TRY(check_init(rule, i, why, why_size));
  return check_linear(rule, why, why_size);
}

/* ---- the text for one op ---- */

static tp_value_map *map_of(const tp_rule_text *text, const tp_rule *rule, int l) {
  return l < text->n_operands ? &rule->operands[l] : &rule->results[l - text->n_operands];
}

static const char *side(const tp_rule_text *text, int l) {
  return l < text->n_operands ? "operand" : "result";
}

static int number(const tp_rule_text *text, int l) {
  return l < text->n_operands ? l : l - text->n_operands;
}

static tp_status fit_list(const tp_rule_text *text, tp_rule *rule, int l) {
  const tp_text_list *list = &text->lists[l];
  const tp_value_map *map = map_of(text, rule, l);
  const char *who = side(text, l);
  int i = number(text, l);
  if (list->is_scalar != !map->is_tensor)
    return tp__error(rule->op, TP_INVALID_ARGUMENT, "%s %d is %s, but its rule has %s for it", who,
                     i, map->is_tensor ? "a tensor" : "not a tensor",
                     list->is_scalar ? "'()'" : "a list; write '()'");
  if (map->is_tensor && list->rank != map->rank)
    return tp__error(rule->op, TP_INVALID_ARGUMENT,
                     "%s %d has %d dimensions, but its list in the rule has %d", who, i, map->rank,
                     list->rank);
  for (int d = 0; d < list->rank; d++)
    if ((list->ones >> d & 1) && map->shape[d] != 1)
      return tp__error(rule->op, TP_INVALID_ARGUMENT,
                       "%s %d: the rule says 1 for dimension %d, whose size is %lld; write '_' for "
                       "a dimension that stays whole",
                       who, i, d, (long long)map->shape[d]);
  return TP_OK;
}

static tp_status fit_shapes(const tp_rule_text *text, tp_rule *rule, int n_operands) {
  if (n_operands != text->n_operands || rule->n_results != text->n_results)
    return tp__error(rule->op, TP_INVALID_ARGUMENT,
                     "has %d operands and %d results, but its rule has %d and %d; a rule needs one "
                     "list for each, '()' for scalars",
                     n_operands, rule->n_results, text->n_operands, text->n_results);
  for (int l = 0; l < text->n_operands + text->n_results; l++)
    TP_TRY(fit_list(text, rule, l));
  return TP_OK;
}

/* The sizes of the factors (0: unknown), and the dimension that determined each. */
typedef struct sizes {
  int64_t size[TP_MAX_FACTORS];
  int list[TP_MAX_FACTORS], dim[TP_MAX_FACTORS];
} sizes;

/* Handles one dimension: computes the size of its only unknown factor, or checks the product of the
 * known ones. */
static tp_status fit_dim(const tp_rule_text *text, tp_rule *rule, sizes *s, int l, int d,
                         bool *changed) {
  const tp_dim *dim = &text->lists[l].dims[d];
  int64_t size = map_of(text, rule, l)->shape[d], known = 1;
  int unknown = -1, n_unknown = 0, last = 0;
  for (int k = 0; k < dim->n_factors; k++) {
    int f = dim->factors[k];
    if (s->size[f] == 0) {
      unknown = f;
      n_unknown++;
    } else {
      known = known > INT64_MAX / s->size[f] ? INT64_MAX : known * s->size[f];
      last = f;
    }
  }
  if (dim->n_factors == 0 || n_unknown > 1)
    return TP_OK;
  if (n_unknown == 1 && size > 0 && size % known == 0) {
    s->size[unknown] = size / known;
    s->list[unknown] = l;
    s->dim[unknown] = d;
    *changed = true;
    return TP_OK;
  }
  if (n_unknown == 0 && known == size)
    return TP_OK;
  if (size == 0)
    return tp__error(rule->op, TP_UNSUPPORTED,
                     "%s %d: dimension %d has size 0, which cannot be split; write '_' for it",
                     side(text, l), number(text, l), d);
  return tp__error(rule->op, TP_INVALID_ARGUMENT,
                   "%s %d: dimension %d has size %lld, but the product of its factors is %lld, "
                   "where '%s' has size %lld according to %s %d, dimension %d",
                   side(text, l), number(text, l), d, (long long)size, (long long)known,
                   text->factors[last].name, (long long)s->size[last], side(text, s->list[last]),
                   number(text, s->list[last]), s->dim[last]);
}

static tp_status fit_sizes(const tp_rule_text *text, tp_rule *rule, sizes *s) {
  bool changed = true;
  while (changed) {
    changed = false;
    for (int l = 0; l < text->n_operands + text->n_results; l++)
      for (int d = 0; d < text->lists[l].rank; d++)
        TP_TRY(fit_dim(text, rule, s, l, d, &changed));
  }
  for (int f = 0; f < text->n_factors; f++)
    if (s->size[f] == 0)
      return tp__error(rule->op, TP_INVALID_ARGUMENT,
                       "cannot infer the size of factor '%s' from the shapes: it occurs only next "
                       "to other unknown factors; merge them into one factor, or write '_'",
                       text->factors[f].name);
  return TP_OK;
}

static bool can_combine(const tp_value_map *map, tp_combiner combiner) {
  return !mlirAttributeIsNull(
      tp__identity_attr(tp__element_type(mlirValueGetType(map->value)), combiner));
}

/* Checks that the combiner has an identity, from which partial values start. Linear ops use sums,
 * and every element type has a zero. */
static tp_status fit_combiner(const tp_rule_text *text, tp_rule *rule) {
  for (int i = 0; i < rule->n_results && text->reduces; i++)
    if (!can_combine(&rule->results[i], text->combiner))
      return tp__error(rule->op, TP_UNSUPPORTED,
                       "result %d: elements of this type cannot be combined by %s; name another "
                       "combiner, or make the factor fixed",
                       i, tp_combiner_name(text->combiner));
  return TP_OK;
}

tp_status tp__rule_text_fit(const tp_rule_text *text, tp_rule *rule) {
  sizes s = {0};
  int n_operands = (int)mlirOperationGetNumOperands(rule->op);
  TP_TRY(fit_shapes(text, rule, n_operands));
  TP_TRY(fit_sizes(text, rule, &s));
  TP_TRY(fit_combiner(text, rule));
  rule->scalar_ops = 1;
  for (int f = 0; f < text->n_factors; f++) {
    int k = tp__rule_factor(rule, s.size[f], text->factors[f].kind);
    /* the library does not know how the op treats padding */
    rule->factors[k].must_divide = !text->factors[f].uneven;
    rule->scalar_ops *= (double)s.size[f];
  }
  for (int v = 0; v < text->n_linear; v++)
    tp__rule_variant(rule, TP_SUM, text->linear[v]);
  for (int l = 0; l < text->n_operands + text->n_results; l++) {
    tp_value_map *map = map_of(text, rule, l);
    for (int d = 0; d < text->lists[l].rank; d++)
      map->dims[d] = text->lists[l].dims[d];
    map->is_init = text->lists[l].is_init;
    map->has_combiner = text->reduces && map->is_tensor && (l >= text->n_operands || map->is_init);
    map->combiner = text->combiner;
  }
  return TP_OK;
}
