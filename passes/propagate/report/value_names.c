/* Lists the names of a value that a user may know: from its source, from attributes, from
 * locations, and from the printed program. */
#include "passes/propagate/report/plan_report.h"

#include <string.h>

/* Adds a name once; without the % that values have in text. */
static void add(tp_report *r, tp_value_names *names, const char *text, size_t length) {
  if (length > 0 && *text == '%') {
    text++;
    length--;
  }
  const char *copy = length > 0 && names->n < TP_MAX_VALUE_NAMES
                         ? tp__arena_strndup(&r->arena, text, length)
                         : NULL;
  for (int i = 0; copy && i < names->n; i++)
    if (strcmp(names->items[i], copy) == 0)
      return;
  if (copy)
    names->items[names->n++] = copy;
}

static void add_attribute(tp_report *r, tp_value_names *names, MlirAttribute name) {
  if (mlirAttributeIsNull(name) || !mlirAttributeIsAString(name))
    return;
  MlirStringRef text = mlirStringAttrGetValue(name);
  add(r, names, text.data, text.length);
}

/* A value that the function returns has the names of the result: its attributes, or, with
 * `numbers`, its number, as the tools print it. */
static void add_results(tp_report *r, const tp_planner *p, const tp_planned_value *v, bool numbers,
                        tp_value_names *names) {
  MlirOperation func = p->problem.graph.func;
  for (int u = 0; u < v->n_uses; u++) {
    const tp_use *use = &v->uses[u];
    if (p->problem.nodes[use->node].kind != TP_NODE_RESULT || use->operand < 0)
      continue;
    if (numbers) {
      const char *number = tp__report_text(r, "result %d", use->operand);
      add(r, names, number, strlen(number));
    } else {
      add_attribute(r, names, tp__result_attr(func, use->operand, "tp.name"));
      add_attribute(r, names, tp__result_attr(func, use->operand, "jax.result_info"));
    }
  }
}

/* Adds the names of a location, as frameworks give them: "jit(step)/dot_general", and its last
 * part. */
static void add_location(tp_report *r, MlirLocation location, int depth, tp_value_names *names) {
  if (depth == 0)
    return;
  if (mlirLocationIsACallSite(location))
    add_location(r, mlirLocationCallSiteGetCallee(location), depth - 1, names);
  if (!mlirLocationIsAName(location))
    return;
  MlirStringRef name = mlirIdentifierStr(mlirLocationNameGetName(location));
  size_t from = name.length;
  while (from > 0 && name.data[from - 1] != '/')
    from--;
  add(r, names, name.data, name.length);
  add(r, names, name.data + from, name.length - from);
  add_location(r, mlirLocationNameGetChildLoc(location), depth - 1, names);
}

void tp__report_value_names(tp_report *r, const tp_planner *p, const tp_planned_value *v,
                            tp_value_names *names) {
  enum { MAX_DEPTH = 8 };
  const char *name = tp__report_name(r, v->value), *own = tp__report_arg_name(r, p, v->value);
  const char *printed = tp__report_printed_name(r, v->value);
  names->n = 0;
  if (!*name)
    return;
  add(r, names, name, strlen(name));
  add(r, names, own, strlen(own));
  add_results(r, p, v, false, names);
  add_location(r, mlirValueGetLocation(v->value), MAX_DEPTH, names);
  add_results(r, p, v, true, names);
  add(r, names, printed, strlen(printed));
}
