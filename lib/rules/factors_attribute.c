/* Reads and writes tp.factors, the attribute that says which factor of an op each axis splits. */
#include "rules/rule.h"

#include <stdio.h>
#include <string.h>

MlirAttribute tp__write_factors(MlirContext context, const tp_mesh *mesh, const tp_strategy *s) {
  MlirNamedAttribute entries[TP_MAX_AXES];
  int n = 0;
  for (int a = 0; a < mesh->n_axes; a++) {
    char name[2 * TP_MAX_AXIS_NAME], text[32];
    if (s->choices[a].kind == TP_CHOOSE_NONE)
      continue;
    tp_mesh_axis_text(mesh, a, 1, name, sizeof name);
    tp_choice c = s->choices[a];
    snprintf(text, sizeof text, "%s %d",
             c.ring                   ? "ring"
             : c.rows == TP_BY_GROUPS ? "rows"
             : c.rows == TP_BY_PARTS  ? "row_parts"
                                      : "linear",
             c.index);
    bool is_number = c.kind == TP_CHOOSE_FACTOR && !c.ring && !c.rows;
    entries[n++] = tp__named(
        context, name, is_number ? tp__attr_i64(context, c.index) : tp__attr_string(context, text));
  }
  return mlirDictionaryAttrGet(context, n, entries);
}

bool tp__names_ring(MlirAttribute choice) {
  char text[32];
  int factor;
  return mlirAttributeIsAString(choice) &&
         tp__ref_copy(mlirStringAttrGetValue(choice), text, sizeof text) &&
         sscanf(text, "ring %d", &factor) == 1;
}

static bool read_choice(const tp_rule *rule, MlirAttribute attr, tp_choice *choice) {
  int index;
  if (mlirAttributeIsAInteger(attr)) {
    int64_t f = mlirIntegerAttrGetValueInt(attr);
    *choice = (tp_choice){.kind = TP_CHOOSE_FACTOR, .index = (uint8_t)f};
    return f >= 0 && f < rule->n_factors;
  }
  char text[32];
  if (!mlirAttributeIsAString(attr) ||
      !tp__ref_copy(mlirStringAttrGetValue(attr), text, sizeof text))
    return false;
  if (sscanf(text, "ring %d", &index) == 1) {
    *choice = (tp_choice){.kind = TP_CHOOSE_FACTOR, .index = (uint8_t)index, .ring = true};
    return index >= 0 && index < rule->n_factors && (rule->ring.factors >> index & 1);
  }
  bool by_groups = sscanf(text, "rows %d", &index) == 1;
  if (by_groups || sscanf(text, "row_parts %d", &index) == 1) {
    *choice = (tp_choice){.kind = TP_CHOOSE_FACTOR,
                          .index = (uint8_t)index,
                          .rows = by_groups ? TP_BY_GROUPS : TP_BY_PARTS};
    return index >= 0 && index < rule->n_factors && (rule->rows->factors >> index & 1);
  }
  if (sscanf(text, "linear %d", &index) != 1)
    return false;
  *choice = (tp_choice){.kind = TP_CHOOSE_VARIANT, .index = (uint8_t)index};
  return index >= 0 && index < rule->n_variants;
}

/* "0 (parallel, size 8), 1 (reduction, size 16); or ..." */
static const char *factors_text(const tp_rule *rule, size_t size, char *text) {
  static const char *const kinds[] = {[TP_PARALLEL] = "parallel",
                                      [TP_REDUCTION] = "reduction",
                                      [TP_ORDERED] = "ordered",
                                      [TP_FIXED] = "not to be split"};
  size_t n = 0;
  for (int f = 0; f < rule->n_factors; f++)
    tp__text_printf(text, size, &n, "%s%d (%s, size %lld)", f ? ", " : "", f,
                    kinds[rule->factors[f].kind], (long long)rule->factors[f].size);
  if (rule->n_variants > 0)
    tp__text_printf(text, size, &n,
                    "; or \"linear k\", k below %d, to pass on partial sums of operand k",
                    rule->n_variants);
  return text;
}

tp_status tp__read_factors(const tp_rule *rule, MlirAttribute attr, const tp_mesh *mesh,
                           tp_strategy *strategy) {
  tp_strategy s = {0};
  tp__identity_order(&s);
  if (!mlirAttributeIsADictionary(attr))
    return tp__error(rule->op, TP_INVALID_ARGUMENT,
                     "tp.factors has to be a dictionary, as in {tp = 2}");
  for (intptr_t i = 0; i < mlirDictionaryAttrGetNumElements(attr); i++) {
    MlirNamedAttribute entry = mlirDictionaryAttrGetElement(attr, i);
    MlirStringRef token = mlirIdentifierStr(entry.name);
    char name[TP_MAX_AXIS_NAME];
    int64_t pre, size;
    int first, n = 0;
    tp_choice choice;
    if (tp__axis_token(token, name, &pre, &size))
      n = tp_mesh_find(mesh, name, pre, size, &first);
    if (n == 0)
      return tp__error(
          rule->op, TP_NOT_FOUND,
          "tp.factors names axis \"%.*s\", which mesh @%s does not have; name one of its "
          "axes, such as \"%s\"",
          (int)token.length, token.data, mesh->name, mesh->axes[0].name);
    bool fits = read_choice(rule, entry.attribute, &choice);
    if (!fits && tp__names_ring(entry.attribute))
      return tp__error(
          rule->op, TP_INVALID_ARGUMENT,
          "tp.factors: \"%.*s\" names a ring, but no operand of this op can be passed around a "
          "ring; only keys and values of attention can, if rows of the queries are split",
          (int)token.length, token.data);
    if (!fits) {
      char factors[512];
      tp__string given = {0};
      if (mlirAttributeIsAInteger(entry.attribute))
        tp__string_printf(&given, "%lld", (long long)mlirIntegerAttrGetValueInt(entry.attribute));
      else
        mlirAttributePrint(entry.attribute, tp__append_part, &given);
      tp_status status =
          tp__error(rule->op, TP_INVALID_ARGUMENT,
                    "tp.factors gives \"%.*s\" %s, which is no factor of this op; give one of %s",
                    (int)token.length, token.data, tp__string_text(&given),
                    factors_text(rule, sizeof factors, factors));
      tp__string_destroy(&given);
      return status;
    }
    for (int k = 0; k < n; k++)
      s.choices[first + k] = choice;
  }
  *strategy = s;
  return TP_OK;
}
