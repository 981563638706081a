/* Finds the new values of arguments among the results of a function, and the gradients from which
 * they are computed. */
#include "passes/propagate/report/describer.h"

#include <string.h>

enum { MAX_LEAVES = 2, MAX_NODES = 200 };

/* How the new value of an argument is computed, element by element. */
typedef struct update {
  int value;  /* the new one */
  int target; /* the argument; -1: not tp_described */
  int n_leaves;
  int leaves[MAX_LEAVES]; /* tensors of its shape that other ops make */
  size_t n_nodes, capacity;
  int *nodes; /* the values on the way */
} update;

static void add_leaf(update *u, int number) {
  for (int i = 0; i < u->n_leaves && i < MAX_LEAVES; i++)
    if (u->leaves[i] == number)
      return;
  if (u->n_leaves < MAX_LEAVES)
    u->leaves[u->n_leaves] = number;
  u->n_leaves++;
}

static bool is_constant(const tp_rule *rule) {
  return rule->is_free || tp__op_is(rule->op, "arith.constant");
}

/* True if each element is computed from those at the same place. */
static bool keeps_places(const tp_rule *rule) {
  bool found = false;
  for (int k = 0; k < rule->n_operands; k++)
    found |= tp__described_reads(&rule->operands[k]) &&
             tp__described_same_shape(&rule->operands[k], &rule->results[0]);
  return found && rule->is_elementwise;
}

/* Looks at an operand of the update: an argument, a constant, a value on the way, or a leaf. An
 * argument that is a weight is the target, unless another one is. */
static void look_at(tp_describer *d, update *u, int number, int *n_weights) {
  const tp_rule *maker = tp__described_maker(d, number);
  const tp_described *v = &d->values[number];
  bool is_view = v->viewed >= 0;
  if (tp__described_is_argument(d, number)) {
    if (v->is_weight && u->target != number) {
      ++*n_weights;
      u->target = u->target < 0 ? number : u->target;
    }
    return;
  }
  if ((maker && is_constant(maker)) || (is_view && maker && tp__described_is_broadcast(maker)))
    return;
  bool is_leaf =
      !maker || v->stack.is_gradient || (is_view ? !d->has_stacks : !keeps_places(maker));
  for (size_t i = 0; i < u->n_nodes; i++)
    if (u->nodes[i] == number)
      return;
  if (is_leaf)
    add_leaf(u, number);
  else if (tp__grow((void **)&u->nodes, &u->capacity, u->n_nodes + 1, sizeof *u->nodes) == TP_OK)
    u->nodes[u->n_nodes++] = number;
  else
    d->failed = true;
}

/* The update of a result. Walks back from it. `target` is stated by tp.updates, or -1. */
static update find_update(tp_describer *d, int value, int target) {
  update u = {.value = value, .target = target};
  int n_weights = 0;
  bool is_stated = target >= 0;
  look_at(d, &u, value, &n_weights);
  for (size_t i = 0; i < u.n_nodes && u.n_nodes < MAX_NODES; i++) {
    const tp_rule *rule = tp__described_maker(d, u.nodes[i]);
    for (int k = 0; k < rule->n_operands; k++)
      if (tp__described_reads(&rule->operands[k]) &&
          tp__described_same_shape(&rule->operands[k], &rule->results[0]))
        look_at(d, &u, rule->operands[k].number, &n_weights);
  }
  if (u.n_nodes >= MAX_NODES)
    u.n_leaves = MAX_LEAVES; /* there may be more */
  if (!is_stated && (n_weights != 1 || !d->has_roles))
    u.target = -1;
  return u;
}

/* True if an op reads the argument for something else than to compute its new value. */
static bool *arguments_in_use(tp_describer *d) {
  bool *used = tp__arena_array(d->p->problem.arena, (size_t)d->n + 1, sizeof *used);
  d->failed |= !used;
  for (int i = 0; i < d->graph->n_items && used; i++) {
    const tp_item *item = &d->graph->items[i];
    for (int k = 0; item->rule && k < item->rule->n_operands; k++) {
      const tp_value_map *o = &item->rule->operands[k];
      used[tp__described_reads(o) ? o->number : d->n] |=
          !item->rule->is_elementwise || !tp__described_same_shape(o, &item->rule->results[0]);
    }
    for (int k = 0; k < item->n_carried; k++)
      for (int j = 0; j < item->carried[k].n_uses; j++) {
        const tp_carried_use *use = &item->carried[k].uses[j];
        int number =
            tp__func_graph_number(d->graph, mlirOperationGetOperand(use->op, use->operand));
        used[number >= 0 ? number : d->n] = true;
      }
  }
  return used;
}

/* The first contraction of the weight with this tensor; -1: none. */
static int use_with(const tp_describer *d, int weight, int other) {
  int use = d->values[weight].first_use;
  while (use >= 0 && tp__described_base(d, d->uses[use].input) != tp__described_base(d, other))
    use = d->uses[use].next;
  return use;
}

/* The gradient of a weight is a contraction of what was multiplied with the weight, and of the
 * gradient at the output; and that is contracted with the weight, too. The former contraction
 * stands first, because the gradient depends on it. */
static void describe_around(tp_describer *d, int gradient, int weight) {
  const tp_rule *made = tp__described_maker(d, gradient);
  int operands[2], uses[2], n = 0;
  for (int k = 0; tp__described_is_contraction(made) && k < made->n_operands; k++)
    if (tp__described_reads(&made->operands[k]) && n++ < 2)
      operands[n - 1] = made->operands[k].number;
  if (n != 2)
    return;
  for (int k = 0; k < 2; k++)
    uses[k] = use_with(d, weight, operands[k]);
  if (uses[0] == uses[1])
    return;
  int back = uses[0] < 0 || (uses[1] >= 0 && uses[1] < uses[0]) ? 0 : 1;
  const char *text = tp__report_text(d->r, "gradient at the output of %s", d->values[weight].text);
  tp__describe_as(d, operands[back], text);
  tp__describe_as(d, tp__described_base(d, operands[back]), text);
  if (uses[back] >= 0)
    tp__describe_as(d, d->uses[uses[back]].rule->results[0].number,
                    tp__report_text(d->r, "gradient through %s", d->values[weight].text));
}

static void describe_gradient(tp_describer *d, int gradient, int argument) {
  const char *weight = d->values[argument].text;
  tp__describe_as(d, gradient, tp__report_text(d->r, "gradient of %s", weight));
  for (int from; (from = d->values[gradient].viewed) >= 0; gradient = from)
    tp__describe_as(d, from,
                    tp__report_text(d->r, "gradient of %s before the %s", weight,
                                    tp__described_view(tp__described_maker(d, gradient))));
  describe_around(d, gradient, argument);
}

/* The number of the argument that an attribute of a result names, or -1. */
static int stated_argument(const tp_describer *d, int result, const char *attr) {
  MlirAttribute number = tp__result_attr(d->graph->func, result, attr);
  if (mlirAttributeIsNull(number))
    return -1;
  MlirBlock entry = tp__region_block(d->graph->func, 0);
  return tp__func_graph_number(
      d->graph, mlirBlockGetArgument(entry, (intptr_t)mlirIntegerAttrGetValueInt(number)));
}

/* Results that are said to be gradients. */
static void describe_stated_gradients(tp_describer *d) {
  MlirOperation end = tp__described_return(d);
  for (int i = 0; i < d->graph->n_results && !d->failed; i++) {
    int number = tp__func_graph_number(d->graph, mlirOperationGetOperand(end, i));
    int argument = stated_argument(d, i, "tp.gradient");
    if (number < 0 || argument < 0)
      continue;
    if (!*d->results[i])
      d->results[i] = tp__report_text(d->r, "gradient of %s", d->values[argument].text);
    if (!tp__described_is_argument(d, number))
      describe_gradient(d, number, argument);
  }
}

/* True if it follows that the only leaf of the update is the gradient of the target. */
static bool has_gradient(const tp_describer *d, const update *u, bool is_used) {
  if (u->target < 0 || u->n_leaves != 1 || d->values[u->leaves[0]].is_named)
    return false;
  return is_used && (d->has_stacks ? d->values[u->leaves[0]].stack.is_gradient
                                   : d->has_roles && d->values[u->target].is_weight);
}

/* Results, and what leads from gradients to them. Weights go first: the state of an optimizer is
 * computed from the same gradients. */
void tp__describe_updates(tp_describer *d) {
  describe_stated_gradients(d);
  MlirOperation end = tp__described_return(d);
  bool *used = arguments_in_use(d);
  update *updates =
      tp__arena_array(d->p->problem.arena, (size_t)d->graph->n_results + 1, sizeof *updates);
  d->failed |= !updates;
  for (int i = 0; i < d->graph->n_results && !d->failed; i++) {
    int number = tp__func_graph_number(d->graph, mlirOperationGetOperand(end, i));
    int target = stated_argument(d, i, "tp.updates");
    updates[i] = (update){.target = target};
    if (number < 0)
      continue;
    if (!tp__described_is_argument(d, number))
      updates[i] = find_update(d, number, target);
    bool is_new = target >= 0 ||
                  has_gradient(d, &updates[i], updates[i].target >= 0 && used[updates[i].target]);
    if (!is_new)
      updates[i].target = -1;
    const char *text =
        is_new ? tp__report_text(d->r, "new %s", d->values[updates[i].target].text) : "";
    if (is_new && (target >= 0 || !*d->results[i]))
      d->results[i] = text;
    if (is_new && !tp__described_is_argument(d, number))
      tp__describe_as(d, number, text);
  }
  for (int weights = 1; weights >= 0 && !d->failed; weights--)
    for (int i = 0; i < d->graph->n_results; i++) {
      const update *u = &updates[i];
      if (u->target < 0 || d->values[u->target].is_weight != weights)
        continue;
      if (has_gradient(d, u, used[u->target]))
        describe_gradient(d, u->leaves[0], u->target);
      for (size_t k = 0; k < u->n_nodes; k++)
        if (!d->values[u->nodes[k]].text)
          tp__describe_as(d, u->nodes[k],
                          tp__report_text(d->r, "update of %s: %s", d->values[u->target].text,
                                          tp__described_op(d, u->nodes[k])));
    }
  for (int i = 0; i < d->graph->n_results && updates; i++)
    tp__free(updates[i].nodes);
}
