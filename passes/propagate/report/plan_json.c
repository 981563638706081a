/* Builds the report as a JSON document; its schema is docs/reference/plan-report.md. */
#include "passes/propagate/report/plan_graph.h"
#include "passes/propagate/report/plan_text.h"

#include "ir/annotation.h"
#include "ir/location.h"

#include <jansson.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { MAX_DECISIONS = 200 };

/* ---- values ---- */

json_t *tp__report_string(const char *text) {
  json_t *json = json_string(text);
  if (json)
    return json;
  char *plain = tp__strdup(text);
  for (char *c = plain; c && *c; c++)
    if ((unsigned char)*c >= 0x80)
      *c = '?';
  json = plain ? json_string(plain) : NULL;
  tp__free(plain);
  return json;
}

static json_t *seconds_json(tp_cost cost) { return json_real(tp_cost_seconds(cost)); }
static json_t *integer_json(int64_t value) { return json_integer((json_int_t)value); }

/* The option for which a search was ended early or left out, or null. */
static json_t *stopped_json(bool is_cut_short, bool is_in_parts) {
  return is_cut_short  ? json_string(tp__clock_ender())
         : is_in_parts ? json_string("entries")
                       : json_null();
}

void tp__json_put(json_t *object, const char *key, json_t *value) {
  if (json_object_set_new(object, key, value) != 0)
    json_object_clear(object);
}

static const char *op_name(tp_report *r, MlirOperation op) {
  MlirStringRef name = tp__op_name(op);
  return tp__report_text(r, "%.*s", (int)name.length, name.data);
}

void tp__json_put_op(tp_report *r, json_t *json, MlirOperation op, MlirOperation place) {
  bool is_none = mlirOperationIsNull(op);
  tp__json_put(json, "op", is_none ? json_null() : tp__report_string(op_name(r, op)));
  tp__json_put(json, "body", tp__report_string(is_none ? "" : tp__report_body(r, op)));
  tp__json_put(json, "location", tp__report_string(tp__report_location(r, place)));
  tp__json_put(json, "at", tp__report_string(tp__report_at(r, place)));
}

void tp__json_put_value(tp_report *r, const tp_planner *p, json_t *json, MlirValue value) {
  tp__json_put(json, "value", tp__report_string(tp__report_name(r, value)));
  tp__json_put(json, "name", tp__report_string(tp__report_arg_name(r, p, value)));
  tp__json_put(json, "description", tp__report_string(tp__report_description(r, value)));
}

const char *tp__report_change(tp_report *r, MlirOperation op) {
  const tp_function_report *f = &r->function;
  size_t i = 0;
  while (i < f->n_changes && (f->changes[i].node >= 0 || !mlirOperationEqual(f->changes[i].op, op)))
    i++;
  return mlirOperationIsNull(op) || i == f->n_changes ? ""
                                                      : tp__report_change_text(r, &f->changes[i]);
}

const char *tp__report_change_text(tp_report *r, const tp_report_communication *c) {
  const char *does = "", *of = tp__report_description(r, c->value->value);
  for (size_t k = 0; k < c->n_collectives; k++)
    if (k == 0 || c->collectives[k].kind != c->collectives[k - 1].kind)
      does = tp__report_text(r, "%s%s%s", does, *does ? " and " : "",
                             tp_collective_name(c->collectives[k].kind));
  if (!*does)
    does = c->local > 0 ? "slice" : "new layout";
  return tp__report_text(r, "%s of %s", does, *of ? of : "a value made in place");
}

/* ---- annotations and alternatives ---- */

static json_t *pin_json(tp_report *r, const tp_planner *p, const tp_pin *pin) {
  static const char *const places[] = {
      [TP_PIN_ARG] = "argument", [TP_PIN_RESULT] = "result", [TP_PIN_OP] = "op"};
  json_t *json = json_object();
  tp__json_put(json, "place", json_string(places[pin->place]));
  tp__json_put(json, "number", pin->number < 0 ? json_null() : integer_json(pin->number));
  tp__json_put_op(r, json, pin->op, pin->op);
  tp__json_put_value(r, p, json, pin->value);
  tp__json_put(json, "sharding", tp__report_string(tp__report_attr(r, pin->sharding)));
  tp__json_put(json, "factors",
               mlirAttributeIsNull(pin->factors)
                   ? json_null()
                   : tp__report_string(tp__report_attr(r, pin->factors)));
  return json;
}

/* The plan's layout at the position of the annotation. */
static const char *layout_at(tp_report *r, const tp_planner *p, const tp_pin *pin) {
  const tp_planned_value *v = mlirValueIsNull(pin->value) ? NULL : tp__planned_value(p, pin->value);
  if (v)
    return tp__report_spec(r, tp__plan_produced(p, v), v->rank);
  for (size_t i = 0; pin->place == TP_PIN_RESULT && i < p->problem.n_nodes; i++) {
    const tp_node *node = &p->problem.nodes[i];
    MlirType type = tp__func_type(p->problem.graph.func);
    if (node->kind == TP_NODE_RESULT && node->index == pin->number)
      return tp__report_spec(
          r, node->in[node->chosen * node->n_in],
          (int)mlirShapedTypeGetRank(mlirFunctionTypeGetResult(type, node->index)));
  }
  return "";
}

static json_t *unmoved_json(const tp_planner *p, const tp_price *price) {
  if (!price->found)
    return json_null();
  json_t *json = json_object();
  tp__json_put(json, "cost_seconds", seconds_json(price->cost));
  tp__json_put(json, "bound_seconds", seconds_json(price->bound));
  tp__json_put(json, "extra_seconds", seconds_json(price->cost - p->result.cost));
  return json;
}

static json_t *alternative_json(tp_report *r, const tp_planner *p, const tp_alternative *a) {
  if (!a->price.found)
    return json_null();
  json_t *json = json_object();
  tp__json_put(json, "annotation", pin_json(r, p, &a->pin));
  tp__json_put(json, "instead_of", tp__report_string(layout_at(r, p, &a->pin)));
  tp__json_put(json, "cost_seconds", seconds_json(a->price.cost));
  tp__json_put(json, "bound_seconds", seconds_json(a->price.bound));
  tp__json_put(json, "extra_seconds", seconds_json(a->price.cost - p->result.cost));
  tp__json_put(json, "exact", json_boolean(a->price.exact));
  return json;
}

/* What is known of plans without annotations. */
static void put_without(json_t *json, const tp_planner *p, bool is_examined,
                        const tp_price *price) {
  bool found = is_examined && price->found;
  tp__json_put(json, "cost_without_seconds", found ? seconds_json(price->cost) : json_null());
  tp__json_put(json, "bound_without_seconds",
               is_examined ? seconds_json(price->bound) : json_null());
  tp__json_put(json, "saves_seconds",
               found ? seconds_json(p->result.cost - price->cost) : json_null());
}

static json_t *annotation_groups_json(tp_report *r, const tp_planner *p) {
  const tp_function_report *f = &r->function;
  json_t *list = json_array();
  for (int i = 0; i < f->n_pin_groups; i++) {
    const tp_pin_group *group = &f->pin_groups[i];
    json_t *json = json_object(), *numbers = json_array();
    for (size_t k = (size_t)group->first; k < f->n_pins; k++)
      if (f->pins[k].group == i && f->pins[k].number >= 0)
        json_array_append_new(numbers, integer_json(f->pins[k].number));
    tp__json_put(json, "annotation", pin_json(r, p, &f->pins[group->first]));
    tp__json_put(json, "count", integer_json(group->n));
    tp__json_put(json, "numbers", numbers);
    put_without(json, p, group->is_examined, &group->price);
    json_array_append_new(list, json);
  }
  return list;
}

static json_t *without_json(const tp_report *r, const tp_planner *p) {
  json_t *json = json_object();
  put_without(json, p, r->function.is_without_all_known, &r->function.without_all);
  return json;
}

/* The groups of the annotations that are among the causes, each once. */
static json_t *pinned_by_json(const tp_report *r, const tp_report_communication *c) {
  json_t *list = json_array();
  for (int i = 0; i < c->n_pins; i++) {
    bool is_new = true;
    for (int k = 0; k < i; k++)
      is_new &= r->function.pins[c->pins[k]].group != r->function.pins[c->pins[i]].group;
    if (is_new)
      json_array_append_new(list, integer_json(r->function.pins[c->pins[i]].group));
  }
  return list;
}

/* ---- collectives ---- */

static json_t *consumer_json(tp_report *r, const tp_report_communication *c) {
  const tp_use *use = c->node < 0 ? &c->value->uses[c->use < 0 ? 0 : c->use] : NULL;
  MlirOperation op = use ? use->op : c->op;
  json_t *json = json_object();
  tp__json_put_op(r, json, op, op);
  tp__json_put(json, "operand",
               !use || use->operand < 0 ? json_null() : integer_json(use->operand));
  return json;
}

static json_t *texts_json(int n, const char *const *texts) {
  json_t *list = json_array();
  for (int i = 0; i < n; i++)
    json_array_append_new(list, tp__report_string(texts[i]));
  return list;
}

/* The index of the first collective of a change among all. */
static int64_t first_collective(const tp_report *r, const tp_report_communication *change) {
  int64_t n = 0;
  for (const tp_report_communication *c = r->function.changes; c < change; c++)
    n += (int64_t)c->n_collectives;
  return n;
}

static json_t *collective_json(tp_report *r, const tp_planner *p, const tp_report_communication *c,
                               const tp_report_collective *o) {
  const tp_planned_value *v = c->value;
  json_t *json = json_object();
  tp__json_put(json, "kind", json_string(tp_collective_name(o->kind)));
  tp__json_put(json, "axes", json_string(o->over));
  tp__json_put(json, "group", integer_json(o->group));
  tp__json_put(json, "tensor", o->tensor ? tp__report_string(o->tensor) : json_null());
  tp__json_put(json, "reduction", json_string(o->reduction));
  tp__json_put(json, "count", integer_json((int64_t)c->trips));
  tp__json_put(json, "count_is_known",
               json_boolean(tp__func_graph_counts(&p->problem.graph, c->op)));
  tp__json_put(json, "bytes_per_device", integer_json((int64_t)((double)o->bytes * c->trips)));
  tp__json_put(json, "modelled_seconds", seconds_json(tp__cost_times(o->cost, c->trips)));
  tp__json_put(json, "location", tp__report_string(tp__report_location(r, c->op)));
  tp__json_put(json, "at", tp__report_string(tp__report_at(r, c->op)));
  tp__json_put_value(r, p, json, v ? v->value : (MlirValue){NULL});
  tp__json_put(json, "from",
               v ? tp__report_string(tp__report_spec(r, c->from, v->rank)) : json_null());
  tp__json_put(json, "to", v ? tp__report_string(tp__report_spec(r, c->to, v->rank)) : json_null());
  tp__json_put(json, "consumer", consumer_json(r, c));
  tp__json_put(json, "consumers", integer_json(c->n_consumers));
  tp__json_put(json, "cause", texts_json(c->n_causes, c->causes));
  tp__json_put(json, "pinned_by", pinned_by_json(r, c));
  tp__json_put(json, "alternative", alternative_json(r, p, &c->alternative));
  tp__json_put(json, "no_alternative",
               c->alternative.missing ? json_string(c->alternative.missing) : json_null());
  tp__json_put(json, "unmoved", unmoved_json(p, &c->unmoved));
  tp__json_put(json, "alternative_at",
               c->priced ? integer_json(first_collective(r, c->priced)) : json_null());
  return json;
}

static json_t *collectives_json(tp_report *r, const tp_planner *p) {
  json_t *list = json_array();
  for (size_t i = 0; i < r->function.n_changes; i++) {
    const tp_report_communication *c = &r->function.changes[i];
    for (size_t k = 0; k < c->n_collectives; k++)
      json_array_append_new(list, collective_json(r, p, c, &c->collectives[k]));
  }
  return list;
}

/* Adds `value` to a number of the object. */
static void add_integer(json_t *object, const char *key, int64_t value) {
  tp__json_put(object, key, integer_json(json_integer_value(json_object_get(object, key)) + value));
}

/* The entry of a kind of collective over these axes, which is added if there is none. */
static json_t *traffic_of(json_t *list, const char *kind, const char *axes) {
  json_t *t;
  size_t i;
  json_array_foreach(list, i, t) if (strcmp(tp__text_of(t, "kind"), kind) == 0 &&
                                     strcmp(tp__text_of(t, "axes"), axes) == 0) return t;
  t = json_pack("{s:s, s:s, s:i, s:i, s:f}", "kind", kind, "axes", axes, "count", 0,
                "bytes_per_device", 0, "modelled_seconds", 0.0);
  json_array_append_new(list, t);
  return t;
}

json_t *tp__report_traffic(const tp_report *r) {
  json_t *list = json_array();
  for (size_t i = 0; i < r->function.n_changes; i++) {
    const tp_report_communication *c = &r->function.changes[i];
    for (size_t k = 0; k < c->n_collectives; k++) {
      const tp_report_collective *o = &c->collectives[k];
      json_t *sums = traffic_of(list, tp_collective_name(o->kind), o->over);
      add_integer(sums, "count", (int64_t)c->trips);
      add_integer(sums, "bytes_per_device", (int64_t)((double)o->bytes * c->trips));
      tp__json_put(sums, "modelled_seconds",
                   json_real(json_real_value(json_object_get(sums, "modelled_seconds")) +
                             tp_cost_seconds(tp__cost_times(o->cost, c->trips))));
    }
  }
  return list;
}

/* ---- decisions ---- */

static json_t *decision_json(tp_report *r, const tp_planner *p, const tp_decision *d) {
  static const char *const kinds[] = {
      [TP_NODE_ARG] = "argument", [TP_NODE_RESULT] = "result", [TP_NODE_OP] = "op"};
  const tp_node *node = &p->problem.nodes[d->node];
  bool is_op = node->kind == TP_NODE_OP;
  MlirOperation op = is_op ? p->problem.graph.items[node->index].op : p->problem.graph.func;
  MlirValue value = {NULL};
  if (node->kind == TP_NODE_ARG)
    value =
        mlirBlockGetArgument(mlirRegionGetFirstBlock(mlirOperationGetRegion(op, 0)), node->index);
  else if (is_op && mlirOperationGetNumResults(op) > 0)
    value = mlirOperationGetResult(op, 0);
  json_t *json = json_object();
  tp__json_put(json, "kind", json_string(kinds[node->kind]));
  tp__json_put(json, "number", is_op ? json_null() : integer_json(node->index));
  tp__json_put_op(r, json, op, op);
  tp__json_put_value(r, p, json, value);
  tp__json_put(json, "strategies", integer_json(node->n));
  tp__json_put(json, "worth_seconds", seconds_json(d->worth));
  return json;
}

static json_t *decisions_json(tp_report *r, const tp_planner *p) {
  json_t *list = json_array();
  for (int i = 0; i < r->function.n_decisions && i < MAX_DECISIONS; i++)
    json_array_append_new(list, decision_json(r, p, &r->function.decisions[i]));
  return list;
}

/* ---- arguments and results ---- */

/* Converts an attribute of arrays, dictionaries and strings to JSON. */
static json_t *attr_json(MlirAttribute attr) {
  if (mlirAttributeIsAArray(attr)) {
    json_t *list = json_array();
    for (intptr_t i = 0; i < mlirArrayAttrGetNumElements(attr); i++)
      json_array_append_new(list, attr_json(mlirArrayAttrGetElement(attr, i)));
    return list;
  }
  json_t *json = json_object();
  if (mlirAttributeIsADictionary(attr))
    for (intptr_t i = 0; i < mlirDictionaryAttrGetNumElements(attr); i++) {
      MlirNamedAttribute entry = mlirDictionaryAttrGetElement(attr, i);
      MlirStringRef key = mlirIdentifierStr(entry.name);
      json_object_setn_new(json, key.data, key.length, attr_json(entry.attribute));
    }
  if (!mlirAttributeIsAString(attr))
    return json;
  json_decref(json);
  MlirStringRef text = mlirStringAttrGetValue(attr);
  return json_stringn(text.data, text.length);
}

json_t *tp__json_attr_text(MlirAttribute attr) {
  if (mlirAttributeIsNull(attr) || !mlirAttributeIsAString(attr))
    return json_string("");
  char text[1024];
  MlirStringRef value = mlirStringAttrGetValue(attr);
  snprintf(text, sizeof text, "%.*s", (int)value.length, value.data);
  return tp__report_string(text);
}

static json_t *number_json(MlirAttribute attr) {
  return mlirAttributeIsNull(attr) ? json_null() : integer_json(mlirIntegerAttrGetValueInt(attr));
}

/* The layout as written, and the shape of the buffer of one device. */
static tp_status put_layout(tp_report *r, const tp_planner *p, json_t *json, MlirType type,
                            MlirAttribute sharding) {
  const tp_mesh *mesh = p->problem.mesh;
  int64_t shape[TP_MAX_RANK], local[TP_MAX_RANK];
  int rank = 0;
  tp_annotation layout = {0};
  if (tp__static_tensor(type, &rank, shape)) {
    TP_TRY(tp__read_sharding(p->problem.graph.func, "the plan", sharding, mesh, type, &layout));
    tp_spec_local_shape(mesh, layout.spec, rank, shape, local);
  }
  json_t *sizes = json_array(), *global = json_array();
  for (int d = 0; d < rank; d++) {
    json_array_append_new(global, integer_json(shape[d]));
    json_array_append_new(sizes, integer_json(local[d]));
  }
  bool is_full = !mlirAttributeIsNull(sharding) && mlirAttributeIsADictionary(sharding);
  MlirAttribute dims =
      is_full ? mlirDictionaryAttrGetElementByName(sharding, tp__ref("dims")) : sharding;
  tp__json_put(json, "shape", global);
  tp__json_put(json, "local_shape", sizes);
  tp__json_put(
      json, "sharding",
      tp__report_string(mlirAttributeIsNull(sharding) ? "[]" : tp__report_attr(r, sharding)));
  tp__json_put(json, "dims", mlirAttributeIsNull(dims) ? json_array() : attr_json(dims));
  tp__json_put(json, "is_partial", json_boolean(is_full));
  return TP_OK;
}

/* Adds what the program says of an argument, and where. */
static void put_source(tp_report *r, const tp_planner *p, json_t *json, MlirValue value) {
  MlirLocation place = mlirValueGetLocation(value);
  char type[512];
  tp__type_text(mlirValueGetType(value), sizeof type, type);
  tp__json_put(json, "type", tp__report_string(type));
  tp__json_put(json, "attributes", tp__attributes_json(p->problem.graph.func, value));
  tp__json_put(json, "location", tp__report_string(tp__location_shared(&r->arena, place)));
  tp__json_put(json, "at", tp__report_string(tp__location_short(&r->arena, place)));
}

static json_t *boundary_json(tp_report *r, const tp_planner *p, bool is_args) {
  MlirOperation func = p->problem.graph.func;
  MlirBlock entry = tp__region_block(func, 0);
  MlirType type = tp__func_type(func);
  MlirAttribute (*attr)(MlirOperation, int, const char *) =
      is_args ? tp__arg_attr : tp__result_attr;
  intptr_t n = is_args ? mlirFunctionTypeGetNumInputs(type) : mlirFunctionTypeGetNumResults(type);
  json_t *list = json_array();
  for (int i = 0; i < n; i++) {
    json_t *json = json_object();
    MlirType own = is_args ? mlirFunctionTypeGetInput(type, i) : mlirFunctionTypeGetResult(type, i);
    char element[64];
    tp__type_text(tp__number_type(own), sizeof element, element);
    tp__json_put(json, "name", tp__json_attr_text(attr(func, i, "tp.name")));
    if (is_args)
      tp__json_put(json, "value",
                   tp__report_string(tp__report_name(r, mlirBlockGetArgument(entry, i))));
    tp__json_put(json, "description",
                 tp__report_string(is_args
                                       ? tp__report_description(r, mlirBlockGetArgument(entry, i))
                                       : tp__report_result(r, i)));
    tp__json_put(json, is_args ? "role" : "updates",
                 is_args ? tp__json_attr_text(attr(func, i, "tp.role"))
                         : number_json(attr(func, i, "tp.updates")));
    tp__json_put(json, is_args ? "gradient_at" : "gradient_of",
                 number_json(attr(func, i, "tp.gradient")));
    tp__json_put(json, "element", tp__report_string(element));
    if (put_layout(r, p, json, own, attr(func, i, "tp.sharding")) != TP_OK)
      json_object_clear(json);
    if (is_args)
      put_source(r, p, json, mlirBlockGetArgument(entry, i));
    json_array_append_new(list, json);
  }
  return list;
}

/* ---- functions ---- */

static json_t *step_json(const tp_report *r, const tp_planner *p) {
  const tp_function_report *f = &r->function;
  tp_cost all = f->compute + f->communication + f->local;
  json_t *json = json_object();
  tp__json_put(json, "seconds", seconds_json(all));
  tp__json_put(json, "compute_seconds", seconds_json(f->compute));
  tp__json_put(json, "collective_seconds", seconds_json(f->communication));
  tp__json_put(json, "local_seconds", seconds_json(f->local));
  tp__json_put(json, "shared_seconds", seconds_json(p->result.cost - f->price));
  tp__json_put(json, "overlapped_seconds",
               p->problem.overlaps ? seconds_json(p->result.overlapped) : json_null());
  return json;
}

/* Relative to the bound, as the option `gap`. The bound must not be 0, unless the cost is 0 too. */
static double gap_of(const tp_planner *p) {
  double cost = (double)p->result.cost, bound = (double)p->result.bound;
  return cost > bound ? (cost - bound) / bound : 0;
}

static json_t *solution_json(const tp_planner *p) {
  int64_t strategies = p->n_cut;
  for (size_t i = 0; i < p->problem.n_nodes; i++)
    strategies += p->problem.nodes[i].n;
  json_t *json = json_object();
  tp__json_put(json, "cost_seconds", seconds_json(p->result.cost));
  tp__json_put(json, "bound_seconds", seconds_json(p->result.bound));
  tp__json_put(json, "gap",
               p->result.bound || !p->result.cost ? json_real(gap_of(p)) : json_null());
  tp__json_put(json, "method", json_string(p->result.method));
  tp__json_put(json, "decisions", integer_json((int64_t)p->problem.n_nodes));
  tp__json_put(json, "strategies", integer_json(strategies));
  tp__json_put(json, "work", integer_json(p->result.work));
  tp__json_put(json, "stopped_by", stopped_json(p->result.is_cut_short, false));
  return json;
}

json_t *tp__report_function(tp_report *r, const tp_planner *p, const tp_memory_peak *peak) {
  const tp_propagate_options *given = r->pass->options;
  MlirStringRef name = mlirStringAttrGetValue(tp__inherent(p->problem.graph.func, "sym_name"));
  json_t *json = json_object(), *collectives = collectives_json(r, p);
  tp__json_put(json, "function",
               tp__report_string(tp__report_text(r, "%.*s", (int)name.length, name.data)));
  tp__json_put(json, "location", tp__report_string(tp__report_location(r, p->problem.graph.func)));
  tp__json_put(json, "arguments", boundary_json(r, p, true));
  tp__json_put(json, "results", boundary_json(r, p, false));
  tp__json_put(json, "solution", solution_json(p));
  tp__json_put(json, "step", step_json(r, p));
  tp__json_put(json, "bytes_per_device", integer_json(r->function.bytes));
  tp__json_put(json, "traffic", tp__report_traffic(r));
  tp__json_put(json, "memory", tp__report_memory(r, p, peak));
  tp__json_put(json, "annotations", integer_json((int64_t)r->function.n_pins));
  tp__json_put(json, "annotation_groups", annotation_groups_json(r, p));
  tp__json_put(json, "without_annotations", without_json(r, p));
  tp__json_put(json, "other_plans_stopped_by",
               stopped_json(r->function.is_cut_short, r->function.is_in_parts));
  tp__json_put(json, "collectives", collectives);
  tp__json_put(json, "decisions", decisions_json(r, p));
  tp__json_put(json, "other_decisions",
               integer_json(r->function.n_decisions < MAX_DECISIONS
                                ? 0
                                : r->function.n_decisions - MAX_DECISIONS));
  if (given->has_graph)
    tp__json_put(json, "graph", tp__report_graph(r, p));
  tp__json_put(json, "frontier", tp__report_frontier(r, p, json));
  return json;
}

json_t *tp__report_document(const tp_report *r) {
  const tp_propagate_options *given = r->pass->options;
  json_t *json = json_object(), *mesh = json_array();
  for (int a = 0; a < r->mesh->n_axes; a++) {
    char name[2 * TP_MAX_AXIS_NAME];
    tp_mesh_axis_text(r->mesh, a, 1, name, sizeof name);
    const tp_link *link = &r->topology->links[a];
    json_array_append_new(mesh, json_pack("{s:s, s:I, s:i, s:o}", "axis", name, "size",
                                          (json_int_t)r->mesh->axes[a].size, "level", link->level,
                                          "lines", tp__report_lines(link)));
  }
  tp__json_put(json, "schema", json_string(TP_REPORT_SCHEMA));
  tp__json_put(json, "version", json_string(tp_version()));
  tp__json_put(json, "mesh", mesh);
  tp__json_put(json, "devices", integer_json(tp_mesh_size(r->mesh)));
  tp__json_put(json, "topology", tp__report_string(r->topology->name));
  tp__json_put(json, "strategy",
               tp__report_string(given->strategy == TP_STRATEGY_FOLLOW ? "follow" : "plan"));
  tp__json_put(json, "objective", tp__report_string(tp_objective_name(given->objective)));
  if (given->objective == TP_OBJECTIVE_BYTES)
    tp__json_put(json, "byte_flops", integer_json(given->byte_flops));
  tp__json_put(json, "functions", json_array());
  return json;
}

/* ---- output ---- */

int tp__report_append(const char *bytes, size_t n, void *text) {
  return tp__string_append_bytes(text, bytes, n) == TP_OK ? 0 : -1;
}

/* 15 digits represent every number of picoseconds below 1000 seconds exactly, without rounding
 * noise. */
char *tp__report_json(const json_t *document) {
  tp__string text = {0};
  int failed = json_dump_callback(document, tp__report_append, &text,
                                  JSON_INDENT(2) | JSON_REAL_PRECISION(15));
  if (failed || tp__string_append(&text, "\n") != TP_OK) {
    tp__string_destroy(&text);
    return NULL;
  }
  return tp__string_take(&text);
}
