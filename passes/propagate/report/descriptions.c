/* Says in the words of the program what values without a name are: by the weights that they are
 * multiplied with, that they are the gradient of, or that came last before them, and by the scopes
 * of the framework that wrote the program. Only what follows from the program is said:
 *
 *   new wq             the result that replaces the argument (tp.updates), or that is computed, element
 *                      by element, from the one weight of its type and from its gradient
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
#include "ir/location.h"
#include "ir/source_names.h"
#include "passes/propagate/report/name_stack.h"
#include "passes/propagate/report/plan_report.h"

#include <ctype.h>
#include <string.h>

enum { MAX_OPERANDS = 2, MAX_WEIGHTS = 3, MAX_LEAVES = 2 };

/* A contraction with a weight. */
typedef struct weight_use {
  const tp_rule *rule;
  int weight, input; /* by number: the weight, and the other operand */
  int next;          /* of the same weight, in program order; -1: none */
} weight_use;

/* What is known of a value, by its number. */
typedef struct known {
  const char *text; /* its name, or what is said of it; NULL: nothing yet */
  bool is_named;    /* the text is a name of the program, which others may be called by */
  bool is_weight;   /* an argument that is a weight */
  int viewed;       /* what it arranges, repeats or converts, by number; -1: it does not */
  int first_use, last_use; /* of a weight: indices of uses; -1: none */
  int n_inputs;            /* the weights that its text lists: "input of wq, wk" */
  int after;        /* the weight that was read last before it, by number; -1: none */
  int after_place;  /* where that is read */
  tp_name_stack stack;
} known;

typedef struct describer {
  tp_report *r;
  const tp_planner *p;
  const tp_func_graph *graph;
  int n;
  known *values;
  int n_uses;
  weight_use *uses;
  const char **results; /* by result of the function; "": what is said of the value */
  bool has_stacks; /* some op has a name stack */
  bool has_roles;  /* some argument is said to be a weight */
  bool failed;     /* memory ran out */
} describer;

static MlirValue value_at(const describer *d, int number) {
  return d->p->problem.values[number].value;
}

static const tp_rule *maker_of(const describer *d, int number) { return d->graph->makers[number]; }

static bool is_argument(const describer *d, int number) {
  MlirValue value = value_at(d, number);
  return mlirValueIsABlockArgument(value) &&
         mlirBlockEqual(mlirBlockArgumentGetOwner(value), tp__region_block(d->graph->func, 0));
}

static void say(describer *d, int number, const char *text) {
  if (!d->values[number].text)
    d->values[number].text = text;
}

static MlirOperation return_of(const describer *d) {
  return mlirBlockGetTerminator(tp__region_block(d->graph->func, 0));
}

/* ---- operands ---- */

static bool is_read(const tp_value_map *operand) {
  return operand->is_tensor && operand->number >= 0 && !operand->is_init && !operand->is_unused;
}

/* What the rule reads, if it reads one tensor; else NULL. */
static const tp_value_map *only_operand(const tp_rule *rule) {
  const tp_value_map *found = NULL;
  for (int i = 0; i < rule->n_operands; i++) {
    if (!is_read(&rule->operands[i]))
      continue;
    if (found)
      return NULL;
    found = &rule->operands[i];
  }
  return found;
}

static bool is_contraction(const tp_rule *rule) { return rule && rule->contraction_flops > 0; }

/* What an op reads that only arranges, repeats or converts the elements of one tensor; else NULL. */
static const tp_value_map *operand_of_view(tp_report *r, const tp_rule *rule) {
  static const char *const views[] = {"linalg.transpose",    "linalg.broadcast",
                                      "tensor.expand_shape", "tensor.collapse_shape",
                                      "tensor.reshape",      "tensor.cast",
                                      "arith.extf",          "arith.truncf"};
  static const char *const bodies[] = {"copy", "extf", "truncf"};
  const tp_value_map *only = rule && rule->n_results == 1 ? only_operand(rule) : NULL;
  if (!only)
    return NULL;
  bool is_view = tp__op_is_any(rule->op, TP_LEN(views), views);
  if (tp__op_is(rule->op, "linalg.generic")) {
    const char *body = tp__report_body(r, rule->op);
    for (int i = 0; i < TP_LEN(bodies); i++)
      is_view |= strcmp(body, bodies[i]) == 0;
  }
  return is_view ? only : NULL;
}

/* The tensor whose elements a value has. Stops at names. */
static int base_of(const describer *d, int number) {
  while (!d->values[number].is_named && d->values[number].viewed >= 0)
    number = d->values[number].viewed;
  return number;
}

static int64_t elements(const tp_value_map *map) {
  int64_t n = 1;
  for (int i = 0; i < map->rank; i++)
    n *= map->shape[i];
  return n;
}

static bool is_broadcast(const tp_rule *view) {
  return elements(only_operand(view)) < elements(&view->results[0]);
}

static bool same_shape(const tp_value_map *a, const tp_value_map *b) {
  return a->rank == b->rank &&
         (a->rank == 0 || memcmp(a->shape, b->shape, (size_t)a->rank * sizeof *a->shape) == 0);
}

/* ---- names that the program has ---- */

/* True if `own` is what MLIR calls values of this op by itself, such as %expanded_12. */
static bool is_from_mlir(const char *own, const char *printed) {
  size_t n = strlen(own), m = strlen(printed);
  while (n > 0 && (isdigit((unsigned char)own[n - 1]) || own[n - 1] == '_'))
    n--;
  while (m > 0 && (isdigit((unsigned char)printed[m - 1]) || printed[m - 1] == '_'))
    m--;
  return n == m && strncmp(own, printed, n) == 0;
}

/* The name in the source, without %; NULL if it has none there. */
static const char *source_name(const describer *d, MlirValue value) {
  const char *own = tp__report_name(d->r, value);
  return *own == '%' && !is_from_mlir(own, tp__report_printed_name(d->r, value)) ? own + 1 : NULL;
}

static void name_value(describer *d, int number, const char *name) {
  known *v = &d->values[number];
  if (!name || !*name || v->text)
    return;
  v->text = name;
  v->is_named = true;
}

static const char *attribute_text(tp_report *r, MlirAttribute attr) {
  if (mlirAttributeIsNull(attr) || !mlirAttributeIsAString(attr))
    return "";
  MlirStringRef text = mlirStringAttrGetValue(attr);
  return tp__report_text(r, "%.*s", (int)text.length, text.data);
}

/* Weights are the arguments with this role; in a program without roles, all arguments. */
static void name_arguments(describer *d) {
  MlirBlock entry = tp__region_block(d->graph->func, 0);
  for (int i = 0; i < d->graph->n_args; i++)
    d->has_roles |= strcmp(attribute_text(d->r, tp__arg_attr(d->graph->func, i, "tp.role")), "param") == 0;
  for (int i = 0; i < d->graph->n_args; i++) {
    MlirValue value = mlirBlockGetArgument(entry, i);
    int number = tp__func_graph_number(d->graph, value);
    if (number < 0)
      continue;
    const char *role = attribute_text(d->r, tp__arg_attr(d->graph->func, i, "tp.role"));
    d->values[number].is_weight = !d->has_roles || strcmp(role, "param") == 0;
    name_value(d, number, tp__report_arg_name(d->r, d->p, value));
    name_value(d, number, source_name(d, value));
    name_value(d, number, tp__report_text(d->r, "argument %d", i));
  }
}

/* Names of results. That of a new value of an argument says less than that of the argument. */
static void name_results(describer *d) {
  MlirOperation end = return_of(d);
  for (int i = 0; i < d->graph->n_results; i++) {
    int number = tp__func_graph_number(d->graph, mlirOperationGetOperand(end, i));
    d->results[i] = attribute_text(d->r, tp__result_attr(d->graph->func, i, "tp.name"));
    if (number >= 0 && mlirAttributeIsNull(tp__result_attr(d->graph->func, i, "tp.updates")))
      name_value(d, number, d->results[i]);
  }
}

/* Names of the source, and of locations that one op has alone. */
static void name_values(describer *d) {
  tp_value_table seen = {0};
  for (int k = 0; k < d->n; k++) {
    const tp_name_stack *stack = &d->values[k].stack;
    name_value(d, k, source_name(d, value_at(d, k)));
    if (d->has_stacks || !*stack->op)
      continue;
    MlirAttribute key = mlirStringAttrGet(mlirOperationGetContext(d->graph->func), tp__ref(stack->op));
    int other = tp__table_get(&seen, key.ptr);
    d->failed |= tp__table_put(&seen, key.ptr, other < 0 ? 1 : other + 1) != TP_OK;
  }
  for (int k = 0; k < d->n && !d->has_stacks; k++) {
    const tp_name_stack *stack = &d->values[k].stack;
    MlirAttribute key = mlirStringAttrGet(mlirOperationGetContext(d->graph->func), tp__ref(stack->op));
    if (*stack->op && tp__table_get(&seen, key.ptr) == 1)
      name_value(d, k, stack->op);
  }
  tp__table_destroy(&seen);
}

/* ---- new values of arguments, and gradients ---- */

/* How the new value of an argument is computed, element by element. */
typedef struct update {
  int value;  /* the new one */
  int target; /* the argument; -1: not known */
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
    found |= is_read(&rule->operands[k]) && same_shape(&rule->operands[k], &rule->results[0]);
  return found && rule->is_elementwise;
}

/* Looks at an operand of the update: an argument, a constant, a value on the way, or a leaf. An
 * argument that is a weight is the target, unless another one is. */
static void look_at(describer *d, update *u, int number, int *n_weights) {
  const tp_rule *maker = maker_of(d, number);
  const known *v = &d->values[number];
  bool is_view = v->viewed >= 0;
  if (is_argument(d, number)) {
    if (v->is_weight && u->target != number) {
      ++*n_weights;
      u->target = u->target < 0 ? number : u->target;
    }
    return;
  }
  if ((maker && is_constant(maker)) || (is_view && maker && is_broadcast(maker)))
    return;
  bool is_leaf = !maker || v->stack.is_gradient ||
                 (is_view ? !d->has_stacks : !keeps_places(maker));
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
static update find_update(describer *d, int value, int target) {
  enum { MAX_NODES = 200 };
  update u = {.value = value, .target = target};
  int n_weights = 0;
  bool is_stated = target >= 0;
  look_at(d, &u, value, &n_weights);
  for (size_t i = 0; i < u.n_nodes && u.n_nodes < MAX_NODES; i++) {
    const tp_rule *rule = maker_of(d, u.nodes[i]);
    for (int k = 0; k < rule->n_operands; k++)
      if (is_read(&rule->operands[k]) && same_shape(&rule->operands[k], &rule->results[0]))
        look_at(d, &u, rule->operands[k].number, &n_weights);
  }
  if (!is_stated && (n_weights != 1 || !d->has_roles))
    u.target = -1;
  return u;
}

/* True if an op reads the argument for something else than to compute its new value. */
static bool *arguments_in_use(describer *d) {
  bool *used = tp__arena_array(d->p->problem.arena, (size_t)d->n + 1, sizeof *used);
  d->failed |= !used;
  for (int i = 0; i < d->graph->n_items && used; i++) {
    const tp_item *item = &d->graph->items[i];
    for (int k = 0; item->rule && k < item->rule->n_operands; k++) {
      const tp_value_map *o = &item->rule->operands[k];
      used[is_read(o) ? o->number : d->n] |= !item->rule->is_elementwise ||
                                             !same_shape(o, &item->rule->results[0]);
    }
    for (int k = 0; k < item->n_carried; k++)
      for (int j = 0; j < item->carried[k].n_uses; j++) {
        const tp_carried_use *use = &item->carried[k].uses[j];
        int number = tp__func_graph_number(d->graph, mlirOperationGetOperand(use->op, use->operand));
        used[number >= 0 ? number : d->n] = true;
      }
  }
  return used;
}

/* What op a view is, in a word. */
static const char *view_text(const tp_rule *rule) {
  if (!rule)
    return "change of layout";
  const tp_value_map *from = only_operand(rule), *to = &rule->results[0];
  if (tp__op_is(rule->op, "tensor.expand_shape") || tp__op_is(rule->op, "tensor.collapse_shape"))
    return "reshape";
  bool is_moved = false;
  for (int i = 0; i < to->rank && from->rank == to->rank; i++)
    is_moved |= from->dims[i].n_factors != to->dims[i].n_factors ||
                (to->dims[i].n_factors && from->dims[i].factors[0] != to->dims[i].factors[0]);
  if (from->element_size != to->element_size)
    return "conversion";
  return is_broadcast(rule) ? "broadcast" : is_moved ? "transpose" : "copy";
}

/* The first contraction of the weight with this tensor; -1: none. */
static int use_with(const describer *d, int weight, int other) {
  int use = d->values[weight].first_use;
  while (use >= 0 && base_of(d, d->uses[use].input) != base_of(d, other))
    use = d->uses[use].next;
  return use;
}

/* The gradient of a weight is a contraction of what was multiplied with the weight, and of the
 * gradient at the output; and that is contracted with the weight, too. The former contraction
 * stands first, because the gradient depends on it. */
static void describe_around(describer *d, int gradient, int weight) {
  const tp_rule *made = maker_of(d, gradient);
  int operands[2], uses[2], n = 0;
  for (int k = 0; is_contraction(made) && k < made->n_operands; k++)
    if (is_read(&made->operands[k]) && n++ < 2)
      operands[n - 1] = made->operands[k].number;
  if (n != 2)
    return;
  for (int k = 0; k < 2; k++)
    uses[k] = use_with(d, weight, operands[k]);
  if (uses[0] == uses[1])
    return;
  int back = uses[0] < 0 || (uses[1] >= 0 && uses[1] < uses[0]) ? 0 : 1;
  const char *text = tp__report_text(d->r, "gradient at the output of %s", d->values[weight].text);
  say(d, operands[back], text);
  say(d, base_of(d, operands[back]), text);
  if (uses[back] >= 0)
    say(d, d->uses[uses[back]].rule->results[0].number,
        tp__report_text(d->r, "gradient through %s", d->values[weight].text));
}

static void describe_gradient(describer *d, int gradient, int argument) {
  const char *weight = d->values[argument].text;
  say(d, gradient, tp__report_text(d->r, "gradient of %s", weight));
  for (int from; (from = d->values[gradient].viewed) >= 0; gradient = from)
    say(d, from,
        tp__report_text(d->r, "gradient of %s before the %s", weight,
                        view_text(maker_of(d, gradient))));
  describe_around(d, gradient, argument);
}

/* True if it follows that the only leaf of the update is the gradient of the target. */
static bool has_gradient(const describer *d, const update *u, bool is_used) {
  if (u->target < 0 || u->n_leaves != 1 || d->values[u->leaves[0]].is_named)
    return false;
  return is_used && (d->has_stacks ? d->values[u->leaves[0]].stack.is_gradient
                                   : d->has_roles && d->values[u->target].is_weight);
}

static const char *op_text(const describer *d, int number);

/* Results, and what leads from gradients to them. Weights go first: the state of an optimizer is
 * computed from the same gradients. */
static void describe_updates(describer *d) {
  MlirOperation end = return_of(d);
  MlirBlock entry = tp__region_block(d->graph->func, 0);
  bool *used = arguments_in_use(d);
  update *updates = tp__arena_array(d->p->problem.arena, (size_t)d->graph->n_results + 1, sizeof *updates);
  d->failed |= !updates;
  for (int i = 0; i < d->graph->n_results && !d->failed; i++) {
    int number = tp__func_graph_number(d->graph, mlirOperationGetOperand(end, i)), target = -1;
    MlirAttribute stated = tp__result_attr(d->graph->func, i, "tp.updates");
    if (!mlirAttributeIsNull(stated))
      target = tp__func_graph_number(
          d->graph, mlirBlockGetArgument(entry, (intptr_t)mlirIntegerAttrGetValueInt(stated)));
    updates[i] = (update){.target = target};
    if (number < 0)
      continue;
    if (!is_argument(d, number))
      updates[i] = find_update(d, number, target);
    bool is_new = target >= 0 || has_gradient(d, &updates[i], updates[i].target >= 0 &&
                                                                  used[updates[i].target]);
    if (!is_new)
      updates[i].target = -1;
    const char *text =
        is_new ? tp__report_text(d->r, "new %s", d->values[updates[i].target].text) : "";
    if (is_new && (target >= 0 || !*d->results[i]))
      d->results[i] = text;
    if (is_new && !is_argument(d, number))
      say(d, number, text);
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
          say(d, u->nodes[k],
              tp__report_text(d->r, "update of %s: %s", d->values[u->target].text,
                              op_text(d, u->nodes[k])));
    }
  for (int i = 0; i < d->graph->n_results && updates; i++)
    tp__free(updates[i].nodes);
}

/* ---- other values ---- */

/* What an op does, in a word: as its framework calls it, else "matmul", "sum", "exp". */
static const char *op_text(const describer *d, int number) {
  const tp_rule *rule = maker_of(d, number);
  const tp_name_stack *stack = &d->values[number].stack;
  MlirOperation op = tp__defining_op(value_at(d, number));
  if (d->values[number].viewed >= 0)
    return view_text(rule);
  if (*stack->op && d->has_stacks)
    return stack->op;
  if (mlirOperationIsNull(op))
    return tp__report_text(d->r, "value %d of the loop",
                           (int)mlirBlockArgumentGetArgNumber(value_at(d, number)));
  if (is_contraction(rule))
    return "matmul";
  if (rule && rule->n_results == 1 && rule->results[0].has_combiner)
    return tp_combiner_name(rule->results[0].combiner);
  const char *body = tp__report_body(d->r, op);
  if (*body)
    return body;
  MlirStringRef name = tp__op_name(op);
  const char *text = tp__report_text(d->r, "%.*s", (int)name.length, name.data);
  const char *dot = strrchr(text, '.');
  text = dot ? dot + 1 : text;
  return mlirOperationGetNumResults(op) == 1
             ? text
             : tp__report_text(d->r, "value %d of %s",
                               (int)mlirOpResultGetResultNumber(value_at(d, number)), text);
}

/* "params/layers/0/wq, wk": a name as it stands behind another one of the same folder. */
static const char *behind(const char *first, const char *name) {
  const char *folder = strrchr(first, '/');
  size_t n = folder ? (size_t)(folder - first) + 1 : 0;
  return n > 0 && strncmp(first, name, n) == 0 ? name + n : name;
}

/* " with embed and tokens": the operands that have names. "" if none has. */
static const char *operands_text(const describer *d, const tp_rule *rule) {
  const char *names[MAX_OPERANDS];
  int n = 0;
  for (int k = 0; rule && k < rule->n_operands && n < MAX_OPERANDS; k++) {
    if (!is_read(&rule->operands[k]))
      continue;
    int number = base_of(d, rule->operands[k].number);
    if (d->values[number].is_named && (n == 0 || strcmp(names[0], d->values[number].text) != 0))
      names[n++] = d->values[number].text;
  }
  return n == 0   ? ""
         : n == 1 ? tp__report_text(d->r, "%s", names[0])
                  : tp__report_text(d->r, "%s and %s", names[0], behind(names[0], names[1]));
}

static const char *described(const describer *d, int number) {
  const known *v = &d->values[number];
  const tp_rule *rule = maker_of(d, number);
  const char *operands = operands_text(d, rule), *scope = d->has_stacks ? v->stack.scope : "";
  const char *gradient = !v->stack.is_gradient ? "" : *scope ? "gradient through " : "gradient";
  const char *again = v->stack.is_recomputed ? "recomputed " : "";
  const char *text = tp__report_text(d->r, "%s%s%s%s%s", again, gradient, scope,
                                     *gradient || *scope ? ": " : "", op_text(d, number));
  if (*operands)
    return tp__report_text(d->r, "%s %s %s", text, rule->n_operands > 1 ? "with" : "of", operands);
  if (v->after >= 0)
    return tp__report_text(d->r, "%s after %s", text, d->values[v->after].text);
  return text;
}

/* The weights that come last before each value. */
static void find_last_weights(describer *d) {
  for (int i = 0; i < d->graph->n_items; i++) {
    const tp_item *item = &d->graph->items[i];
    const tp_rule *rule = item->rule;
    known last = {.after = -1, .after_place = -1};
    for (int k = 0; rule && k < rule->n_operands; k++) {
      if (!is_read(&rule->operands[k]))
        continue;
      int number = rule->operands[k].number;
      const known *o = &d->values[number];
      if (o->is_weight)
        last = (known){.after = number, .after_place = i};
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
static void find_weight_uses(describer *d) {
  d->uses = tp__arena_array(d->p->problem.arena, (size_t)d->graph->n_items + 1, sizeof *d->uses);
  d->failed |= !d->uses;
  for (int i = 0; i < d->graph->n_items && d->uses; i++) {
    const tp_rule *rule = d->graph->items[i].rule;
    weight_use use = {rule, -1, -1, -1};
    for (int k = 0; is_contraction(rule) && k < rule->n_operands; k++) {
      if (!is_read(&rule->operands[k]))
        continue;
      int base = base_of(d, rule->operands[k].number);
      *(d->values[base].is_weight ? &use.weight : &use.input) =
          d->values[base].is_weight ? base : rule->operands[k].number;
    }
    if (use.weight < 0 || use.input < 0)
      continue;
    known *weight = &d->values[use.weight];
    *(weight->last_use < 0 ? &weight->first_use : &d->uses[weight->last_use].next) = d->n_uses;
    weight->last_use = d->n_uses;
    d->uses[d->n_uses++] = use;
  }
}

/* "input of wq, wk, wv": what is contracted with weights. In the transposed part of a program the
 * result of the contraction is a gradient; without name stacks only the first contraction with a
 * weight is known to be none. */
static void describe_inputs(describer *d) {
  static const char start[] = "input of ";
  for (int i = 0; i < d->n_uses; i++) {
    const weight_use *use = &d->uses[i];
    const known *weight = &d->values[use->weight];
    known *input = &d->values[use->input], *result = &d->values[use->rule->results[0].number];
    if (result->stack.is_gradient)
      say(d, use->rule->results[0].number,
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
static void describe_carried(describer *d) {
  for (int i = 0; i < d->graph->n_items; i++)
    for (int k = 0; k < d->graph->items[i].n_carried; k++) {
      const tp_carried *carried = &d->graph->items[i].carried[k];
      const tp_carried_use *first = &carried->uses[0];
      int from = carried->n_uses > 0 ? tp__func_graph_number(d->graph, mlirOperationGetOperand(first->op, first->operand)) : -1;
      if (from < 0 || !d->values[base_of(d, from)].text)
        continue;
      const char *text = d->values[base_of(d, from)].text;
      for (int j = 0; j < carried->n_values; j++) {
        int number = tp__func_graph_number(d->graph, carried->values[j]);
        bool is_inside = mlirValueIsABlockArgument(carried->values[j]);
        if (number >= 0)
          say(d, number, tp__report_text(d->r, is_inside ? "%s in a loop" : "%s after the loop", text));
      }
    }
}

/* ---- all ---- */

static void read_stacks(describer *d) {
  for (int k = 0; k < d->n; k++) {
    known *v = &d->values[k];
    MlirValue value = value_at(d, k);
    MlirOperation op = tp__defining_op(value);
    v->after = v->after_place = v->viewed = v->first_use = v->last_use = -1;
    d->failed |= !tp__name_stack_read(
        &d->r->arena, mlirOperationIsNull(op) ? mlirValueGetLocation(value) : mlirOperationGetLocation(op),
        &v->stack);
    d->has_stacks |= !mlirOperationIsNull(op) && v->stack.is_stack;
  }
}

static void find_views(describer *d) {
  for (int k = 0; k < d->n; k++) {
    MlirOperation op = tp__defining_op(value_at(d, k));
    const tp_value_map *from = operand_of_view(d->r, maker_of(d, k));
    if (from)
      d->values[k].viewed = from->number;
    else if (!mlirOperationIsNull(op) && tp__op_is(op, "shard.shard"))
      d->values[k].viewed = tp__func_graph_number(d->graph, mlirOperationGetOperand(op, 0));
  }
}

/* Keeps the texts with the names of the report. */
static void keep_texts(describer *d) {
  for (int k = 0; k < d->n; k++) {
    int i = tp__table_get(&d->r->name_of, value_at(d, k).ptr);
    if (i >= 0)
      d->r->names[i].description = d->values[k].text;
  }
  for (int i = 0; i < d->graph->n_results; i++) {
    int number = tp__func_graph_number(d->graph, mlirOperationGetOperand(return_of(d), i));
    if (!*d->results[i] && number >= 0)
      d->results[i] = d->values[number].text;
  }
  d->r->function.results = d->results;
}

tp_status tp__report_describe(tp_report *r, const tp_planner *p) {
  describer d = {.r = r, .p = p, .graph = &p->problem.graph, .n = (int)p->problem.n_values};
  d.values = tp__arena_array(p->problem.arena, (size_t)d.n + 1, sizeof *d.values);
  d.results = tp__arena_array(&r->arena, (size_t)d.graph->n_results + 1, sizeof *d.results);
  if (!d.values || !d.results)
    return tp__report_no_memory(r);
  read_stacks(&d);
  find_views(&d);
  name_arguments(&d);
  name_results(&d);
  name_values(&d);
  find_weight_uses(&d);
  if (!d.failed)
    describe_updates(&d);
  describe_inputs(&d);
  describe_carried(&d);
  find_last_weights(&d);
  for (int k = 0; k < d.n; k++)
    if (!d.values[k].text)
      d.values[k].text = described(&d, k);
  keep_texts(&d);
  return d.failed ? tp__report_no_memory(r) : TP_OK;
}
