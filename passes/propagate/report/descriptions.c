/* Says in the words of the program what values without a name are: by the weights that they are
 * multiplied with, that they are the gradient of, or that came last before them, and by the scopes
 * of the framework that wrote the program. Only what follows from the program is said:
 *
 *   new wq             the result that replaces the argument (tp.updates), or that is computed,
 *                      element by element, from the one weight of its type and from its gradient
 *   gradient of wq     what the new value of the weight is computed from, besides arguments and
 *                      constants: the only such tensor. In the name stacks of JAX it is in the
 *                      transposed part; without these the argument is a weight (tp.role = "param")
 *                      that the rest of the program reads
 *   gradient at the output of wq      that gradient is a contraction of an input and this
 *   gradient through wq               what comes of that when it is contracted with the weight
 *   update of wq: mulf                between the gradient and the new value
 *   input of wq, wk    contracted with these weights
 *   mlp: dot_general with wq          an op that reads the weight
 *   attention: exp after wk           no operand has a name; of the weights on which the value
 *                                     depends, this is read last in the program */
#include "passes/propagate/report/describer.h"

#include <string.h>

enum { MAX_OPERANDS = 2, MAX_WEIGHTS = 3 };

/* "params/layers/0/wq, wk": a name as it stands behind another one of the same folder. */
static const char *behind(const char *first, const char *name) {
  const char *folder = strrchr(first, '/');
  size_t n = folder ? (size_t)(folder - first) + 1 : 0;
  return n > 0 && strncmp(first, name, n) == 0 ? name + n : name;
}

/* "embed and tokens": the operands that have names. "" if none has. */
static const char *operands_text(const tp_describer *d, const tp_rule *rule) {
  const char *names[MAX_OPERANDS];
  int n = 0;
  for (int k = 0; rule && k < rule->n_operands && n < MAX_OPERANDS; k++) {
    if (!tp__described_reads(&rule->operands[k]))
      continue;
    int number = tp__described_base(d, rule->operands[k].number);
    if (d->values[number].is_named && (n == 0 || strcmp(names[0], d->values[number].text) != 0))
      names[n++] = d->values[number].text;
  }
  return n == 0   ? ""
         : n == 1 ? tp__report_text(d->r, "%s", names[0])
                  : tp__report_text(d->r, "%s and %s", names[0], behind(names[0], names[1]));
}

static const char *described(const tp_describer *d, int number) {
  const tp_described *v = &d->values[number];
  const tp_rule *rule = tp__described_maker(d, number);
  const char *operands = operands_text(d, rule), *scope = d->has_stacks ? v->stack.scope : "";
  const char *gradient = !v->stack.is_gradient ? "" : *scope ? "gradient through " : "gradient";
  const char *again = v->stack.is_recomputed ? "recomputed " : "";
  const char *text = tp__report_text(d->r, "%s%s%s%s%s", again, gradient, scope,
                                     *gradient || *scope ? ": " : "", tp__described_op(d, number));
  if (*operands)
    return tp__report_text(d->r, "%s %s %s", text, tp__described_only_operand(rule) ? "of" : "with",
                           operands);
  if (v->after >= 0)
    return tp__report_text(d->r, "%s after %s", text, d->values[v->after].text);
  return text;
}

/* The weights that come last before each value. */
static void find_last_weights(tp_describer *d) {
  for (int i = 0; i < d->graph->n_items; i++) {
    const tp_item *item = &d->graph->items[i];
    const tp_rule *rule = item->rule;
    tp_described last = {.after = -1, .after_place = -1};
    for (int k = 0; rule && k < rule->n_operands; k++) {
      if (!tp__described_reads(&rule->operands[k]))
        continue;
      int number = rule->operands[k].number;
      const tp_described *o = &d->values[number];
      if (o->is_weight)
        last = (tp_described){.after = number, .after_place = i};
      else if (o->after >= 0 && o->after_place > last.after_place)
        last = *o;
    }
    for (int k = 0; rule && k < rule->n_results; k++)
      if (rule->results[k].number >= 0) {
        d->values[rule->results[k].number].after = last.after;
        d->values[rule->results[k].number].after_place = last.after_place;
      }
  }
}

/* Lists the contractions with weights. */
static void find_weight_uses(tp_describer *d) {
  d->uses = tp__arena_array(d->p->problem.arena, (size_t)d->graph->n_items + 1, sizeof *d->uses);
  d->failed |= !d->uses;
  for (int i = 0; i < d->graph->n_items && d->uses; i++) {
    const tp_rule *rule = d->graph->items[i].rule;
    tp_weight_use use = {rule, -1, -1, -1};
    for (int k = 0; tp__described_is_contraction(rule) && k < rule->n_operands; k++) {
      if (!tp__described_reads(&rule->operands[k]))
        continue;
      int base = tp__described_base(d, rule->operands[k].number);
      *(d->values[base].is_weight ? &use.weight : &use.input) =
          d->values[base].is_weight ? base : rule->operands[k].number;
    }
    if (use.weight < 0 || use.input < 0)
      continue;
    tp_described *weight = &d->values[use.weight];
    *(weight->last_use < 0 ? &weight->first_use : &d->uses[weight->last_use].next) = d->n_uses;
    weight->last_use = d->n_uses;
    d->uses[d->n_uses++] = use;
  }
}

/* "input of wq, wk, wv": what is contracted with weights. In the transposed part of a program the
 * result of the contraction is a gradient; without name stacks only the first contraction with a
 * weight is known to be none. */
static void describe_inputs(tp_describer *d) {
  static const char start[] = "input of ";
  for (int i = 0; i < d->n_uses; i++) {
    const tp_weight_use *use = &d->uses[i];
    const tp_described *weight = &d->values[use->weight];
    tp_described *input = &d->values[use->input],
                 *result = &d->values[use->rule->results[0].number];
    if (result->stack.is_gradient)
      tp__describe_as(d, use->rule->results[0].number,
                      tp__report_text(d->r, "gradient through %s", weight->text));
    if (result->stack.is_gradient || input->stack.is_gradient ||
        (!d->has_stacks && i != weight->first_use))
      continue;
    if (!input->text)
      input->text = tp__report_text(d->r, "%s%s", start, weight->text);
    else if (input->n_inputs > 0 && input->n_inputs < MAX_WEIGHTS)
      input->text = tp__report_text(d->r, "%s, %s", input->text,
                                    behind(input->text + strlen(start), weight->text));
    else if (input->n_inputs == MAX_WEIGHTS)
      input->text = tp__report_text(d->r, "%s, ...", input->text);
    else
      continue;
    input->n_inputs++;
  }
}

/* What loops carry, by what they begin with: "x in a loop", "x after the loop". */
static void describe_carried(tp_describer *d) {
  for (int i = 0; i < d->graph->n_items; i++)
    for (int k = 0; k < d->graph->items[i].n_carried; k++) {
      const tp_carried *carried = &d->graph->items[i].carried[k];
      const tp_carried_use *first = &carried->uses[0];
      int from =
          carried->n_uses > 0
              ? tp__func_graph_number(d->graph, mlirOperationGetOperand(first->op, first->operand))
              : -1;
      if (from < 0 || !d->values[tp__described_base(d, from)].text)
        continue;
      const char *text = d->values[tp__described_base(d, from)].text;
      for (int j = 0; j < carried->n_values; j++) {
        int number = tp__func_graph_number(d->graph, carried->values[j]);
        bool is_inside = mlirValueIsABlockArgument(carried->values[j]);
        if (number >= 0)
          tp__describe_as(
              d, number,
              tp__report_text(d->r, is_inside ? "%s in a loop" : "%s after the loop", text));
      }
    }
}

/* ---- all ---- */

/* Keeps the texts with the names of the report. */
static void keep_texts(tp_describer *d) {
  for (int k = 0; k < d->n; k++) {
    int i = tp__table_get(&d->r->name_of, tp__described_value(d, k).ptr);
    if (i >= 0)
      d->r->names[i].description = d->values[k].text;
  }
  for (int i = 0; i < d->graph->n_results; i++) {
    int number =
        tp__func_graph_number(d->graph, mlirOperationGetOperand(tp__described_return(d), i));
    if (!*d->results[i] && number >= 0)
      d->results[i] = d->values[number].text;
  }
  d->r->function.results = d->results;
}

tp_status tp__report_describe(tp_report *r, const tp_planner *p) {
  tp_describer d = {.r = r, .p = p, .graph = &p->problem.graph, .n = (int)p->problem.n_values};
  d.values = tp__arena_array(p->problem.arena, (size_t)d.n + 1, sizeof *d.values);
  d.results = tp__arena_array(&r->arena, (size_t)d.graph->n_results + 1, sizeof *d.results);
  if (!d.values || !d.results)
    return tp__report_no_memory(r);
  tp__describe_stacks(&d);
  tp__describe_views(&d);
  tp__describe_arguments(&d);
  tp__describe_results(&d);
  tp__describe_named(&d);
  find_weight_uses(&d);
  if (!d.failed)
    tp__describe_updates(&d);
  describe_inputs(&d);
  describe_carried(&d);
  find_last_weights(&d);
  for (int k = 0; k < d.n; k++)
    if (!d.values[k].text)
      d.values[k].text = described(&d, k);
  keep_texts(&d);
  return d.failed ? tp__report_no_memory(r) : TP_OK;
}
