/* Reads a function as a list of items with rules, and numbers its tensor values. */
#include "rules/func_graph.h"

#include "ir/route_call.h"

#include "rules/call.h"
#include "rules/collective.h"
#include "rules/in_place.h"
#include "rules/rule_cache.h"

#include <stdio.h>

/* Classifies an op by its name. Skipped ops have no tensors and vanish when the program is
 * partitioned; among them are the ops that make the sharding of a shard.shard. */
typedef enum op_kind { OP_PLAIN, OP_SKIPPED, OP_RETURN, OP_LAYOUT, OP_CONTROL_FLOW } op_kind;

static const struct flow_row *flow_row_of(MlirStringRef name);

static op_kind kind_of(MlirOperation op) {
  MlirStringRef name = tp__op_name(op);
  if (tp__name_is(name, "func.return"))
    return OP_RETURN;
  if (tp__name_is(name, "shard.shard"))
    return OP_LAYOUT;
  if (flow_row_of(name))
    return OP_CONTROL_FLOW;
  bool skipped = tp__name_is(name, "shard.sharding") || tp__name_is(name, "scf.yield") ||
                 tp__name_is(name, "scf.condition");
  return skipped ? OP_SKIPPED : OP_PLAIN;
}

typedef struct reading {
  tp_func_graph *graph;
  tp_func_graph *before;
  const tp_op_list *order; /* NULL: unknown */
  size_t *n_met;           /* of the ops in `order` */
  int *next_before;        /* the first item of `before` behind those that were met */
  bool unknown_replicate;
  bool is_first; /* no earlier pass has emitted warnings and remarks */
  tp__arena *arena;
  tp_rule_cache *alike;
  MlirAttribute *last_attributes; /* of the item before */
} reading;

static tp_status read_block(const reading *r, MlirBlock block, double trips);

/* ---- numbers of values ---- */

/* Adds a value without entering it into the table. */
static tp_status add_number(tp_func_graph *graph, tp_rule *maker) {
  if (tp__grow((void **)&graph->makers, &graph->maker_capacity, (size_t)graph->n_values + 1,
               sizeof(tp_rule *)) != TP_OK)
    return tp__out_of_memory(graph->func);
  graph->makers[graph->n_values++] = maker;
  return TP_OK;
}

static tp_status number_value(tp_func_graph *graph, MlirValue value, tp_rule *maker) {
  if (!mlirTypeIsARankedTensor(mlirValueGetType(value)))
    return TP_OK;
  if (tp__table_put(&graph->numbers, value.ptr, graph->n_values) != TP_OK)
    return tp__out_of_memory(graph->func);
  return add_number(graph, maker);
}

int tp__func_graph_number(const tp_func_graph *graph, MlirValue value) {
  int number = tp__table_get(&graph->numbers, value.ptr);
  if (number >= 0 || !graph->older)
    return number;
  number = tp__table_get(&graph->older->numbers, value.ptr);
  return number >= 0 ? graph->newer[number] : -1;
}

static tp_status number_args(tp_func_graph *graph, MlirBlock block) {
  for (int i = 0; i < graph->n_args; i++)
    TP_TRY(number_value(graph, mlirBlockGetArgument(block, i), NULL));
  return TP_OK;
}

static tp_status number_carried(tp_func_graph *graph, const tp_item *item) {
  tp_status status = TP_OK;
  for (int k = 0; k < item->n_carried; k++)
    for (int i = 0; i < item->carried[k].n_values && status == TP_OK; i++)
      status = number_value(graph, item->carried[k].values[i], NULL);
  return status;
}

/* Numbers the results of a rule that was taken from the older graph. */
static tp_status renumber_results(tp_func_graph *graph, tp_rule *rule) {
  for (int i = 0; i < rule->n_results; i++) {
    int *number = &rule->results[i].number;
    if (*number < 0)
      continue;
    *number = graph->newer[*number] = graph->n_values;
    TP_TRY(add_number(graph, rule));
  }
  return TP_OK;
}

/* Operands are numbered already; numbers the results. */
static tp_status number_maps(tp_func_graph *graph, tp_rule *rule) {
  for (int i = 0; i < rule->n_operands; i++)
    rule->operands[i].number =
        rule->operands[i].is_tensor ? tp__func_graph_number(graph, rule->operands[i].value) : -1;
  for (int i = 0; i < rule->n_results; i++) {
    bool is_tensor = mlirTypeIsARankedTensor(mlirValueGetType(rule->results[i].value));
    rule->results[i].number = is_tensor ? graph->n_values : -1;
    TP_TRY(number_value(graph, rule->results[i].value, rule));
  }
  return TP_OK;
}

/* ---- values carried through control flow ---- */

static MlirOperation terminator(MlirOperation op, int region) {
  return mlirBlockGetTerminator(mlirRegionGetFirstBlock(mlirOperationGetRegion(op, region)));
}

static MlirValue block_arg(MlirOperation op, int region, int i) {
  return mlirBlockGetArgument(mlirRegionGetFirstBlock(mlirOperationGetRegion(op, region)), i);
}

/* The carried tensors of an op, while they are read. */
typedef struct carrying {
  tp_item *item;
  tp_carried_use *uses; /* the next free one */
} carrying;

static tp_carried *next_carried(carrying *c) {
  tp_carried *next = &c->item->carried[c->item->n_carried++];
  next->uses = c->uses;
  return next;
}

static void carried_value(tp_carried *c, MlirValue value) { c->values[c->n_values++] = value; }

/* Adds a use of the carried tensor that next_carried returned last. */
static void carried_use(carrying *c, MlirOperation op, int operand) {
  c->item->carried[c->item->n_carried - 1].n_uses++;
  *c->uses++ = (tp_carried_use){op, operand};
}

static bool tensor_operand(MlirOperation op, int i) {
  return tp__is_tensor(mlirValueGetType(mlirOperationGetOperand(op, i)));
}

/* scf.for: operands from 3 on are inits, region arguments from 1 on are iteration arguments. */
static void read_for(MlirOperation op, carrying *c) {
  MlirOperation yield = terminator(op, 0);
  for (int j = 0; j < mlirOperationGetNumResults(op); j++) {
    if (!tensor_operand(op, 3 + j))
      continue;
    tp_carried *value = next_carried(c);
    carried_value(value, block_arg(op, 0, 1 + j));
    carried_value(value, mlirOperationGetResult(op, j));
    carried_use(c, op, 3 + j);
    carried_use(c, yield, j);
  }
}

/* scf.while: the arguments of the first region come from the operands and from the second region's
 * yield. The arguments of the second region, and the results, come from scf.condition. */
static void read_while(MlirOperation op, carrying *c) {
  MlirOperation condition = terminator(op, 0), yield = terminator(op, 1);
  for (int j = 0; j < mlirOperationGetNumOperands(op); j++) {
    if (!tensor_operand(op, j))
      continue;
    carried_value(next_carried(c), block_arg(op, 0, j));
    carried_use(c, op, j);
    carried_use(c, yield, j);
  }
  for (int j = 0; j < mlirOperationGetNumResults(op); j++) {
    if (!tensor_operand(condition, 1 + j))
      continue;
    tp_carried *value = next_carried(c);
    carried_value(value, block_arg(op, 1, j));
    carried_value(value, mlirOperationGetResult(op, j));
    carried_use(c, condition, 1 + j);
  }
}

/* scf.if, scf.index_switch: a result comes from the yield of each region. */
static void read_branches(MlirOperation op, carrying *c) {
  for (int j = 0; j < mlirOperationGetNumResults(op); j++) {
    MlirValue result = mlirOperationGetResult(op, j);
    if (!tp__is_tensor(mlirValueGetType(result)))
      continue;
    carried_value(next_carried(c), result);
    for (int r = 0; r < mlirOperationGetNumRegions(op); r++)
      carried_use(c, terminator(op, r), j);
  }
}

/* ---- control flow ---- */

static const struct flow_row {
  const char *name;
  void (*read)(MlirOperation op, carrying *carrying);
  double trips; /* executions of the regions if they cannot be counted */
} flow_rows[] = {
    {"scf.for", read_for, TP_ASSUMED_TRIPS},
    {"scf.while", read_while, TP_ASSUMED_TRIPS},
    {"scf.if", read_branches, 1},
    {"scf.index_switch", read_branches, 1},
};

static const struct flow_row *flow_row_of(MlirStringRef name) {
  for (int i = 0; i < TP_LEN(flow_rows); i++)
    if (tp__name_is(name, flow_rows[i].name))
      return &flow_rows[i];
  return NULL;
}

/* Counts the executions of the regions of control flow. False if the count is unknown and `trips`
 * is an assumption. */
static bool count_trips(MlirOperation op, double *trips) {
  const struct flow_row *row = flow_row_of(tp__op_name(op));
  *trips = row ? row->trips : TP_ASSUMED_TRIPS;
  return tp__loop_trips(op, trips);
}

static double trips_of(MlirOperation op) {
  double trips;
  count_trips(op, &trips);
  return trips;
}

static tp_status read_control_flow(const reading *r, MlirOperation op, double trips) {
  tp_func_graph *graph = r->graph;
  size_t most = (size_t)(mlirOperationGetNumOperands(op) + mlirOperationGetNumResults(op)) + 1;
  intptr_t n_regions = mlirOperationGetNumRegions(op);
  /* sources of a value: init and yield, or the yields of all branches */
  size_t sources = (size_t)(n_regions > 2 ? n_regions : 2);
  tp_item *item = &graph->items[graph->n_items - 1];
  carrying c = {item, tp__arena_array(r->arena, most * sources, sizeof *c.uses)};
  item->kind = TP_ITEM_REGION;
  item->carried = tp__arena_array(r->arena, most, sizeof *item->carried);
  if (!item->carried || !c.uses)
    return tp__out_of_memory(op);
  for (intptr_t i = 0; i < n_regions; i++) {
    MlirBlock block = mlirRegionGetFirstBlock(mlirOperationGetRegion(op, i));
    if (!mlirBlockIsNull(block) && !mlirBlockIsNull(mlirBlockGetNextInRegion(block)))
      return tp__error(op, TP_UNSUPPORTED, "has a region of several blocks");
  }
  flow_row_of(tp__op_name(op))->read(op, &c);
  trips *= trips_of(op);
  TP_TRY(number_carried(graph, item));
  for (intptr_t i = 0; i < n_regions; i++)
    TP_TRY(read_block(r, mlirRegionGetFirstBlock(mlirOperationGetRegion(op, i)), trips));
  return TP_OK;
}

/* ---- items ---- */

static tp_status find_communication(MlirOperation op, void *found) {
  if (tp__op_has_dialect(op, "shard"))
    *(bool *)found |= !tp__op_is(op, "shard.shard") && !tp__op_is(op, "shard.sharding");
  *(bool *)found |= tp__is_permute(op) || tp__is_route(op);
  return TP_OK;
}

/* Looks for communication. Ops that share a rule have equal bodies, so only the first one is
 * searched. */
static void note_communication(tp_func_graph *graph, MlirOperation op, const tp_rule *rule) {
  (void)find_communication(op, &graph->communicates); /* the visitor does not fail */
  if (!rule || !rule->first || mlirOperationEqual(rule->first->op, op))
    (void)tp__walk(op, find_communication, &graph->communicates);
}

/* Returns the rule that an earlier reading has for this op, updated for its current operands. NULL
 * if the rule must be read again, which includes rules that depend on more than the op itself
 * (rule_cache.h). */
static tp_rule *rule_before(const reading *r, MlirOperation op) {
  const tp_func_graph *before = r->before;
  int *next = r->next_before;
  while (before && *next < before->n_items && before->items[*next].kind != TP_ITEM_OP)
    ++*next;
  /* Ops keep their order. Ops that were inserted since then have no item in `before`. */
  if (!before || *next == before->n_items || !mlirOperationEqual(before->items[*next].op, op))
    return NULL;
  tp_rule *rule = before->items[(*next)++].rule;
  if (!rule || !rule->first || mlirOperationGetNumResults(op) == 0 ||
      rule->n_operands != (int)mlirOperationGetNumOperands(op))
    return NULL;
  for (int i = 0; i < rule->n_operands; i++)
    if (!mlirOperationIsNull(rule->operands[i].in_place))
      return NULL;
  for (int i = 0; i < rule->n_operands; i++) {
    tp_value_map *map = &rule->operands[i];
    MlirValue value = mlirOperationGetOperand(op, i);
    bool is_same = r->graph->older && map->number >= 0 && mlirValueEqual(map->value, value);
    map->number = is_same ? r->graph->newer[map->number] : -1;
    map->value = value;
    map->in_blocks = map->in_kernel = false;
    if (map->number < 0 && map->is_tensor)
      map->number = tp__func_graph_number(r->graph, value);
  }
  for (int i = 0; i < rule->n_results; i++)
    rule->results[i].in_blocks = rule->results[i].in_kernel = false;
  rule->n_again = 0;
  rule->ring = (tp_ring){0};
  rule->barred_axes = 0;
  return rule;
}

static tp_status read_rule(const reading *r, MlirOperation op, tp_item *item) {
  item->rule = rule_before(r, op);
  if (item->rule && r->graph->older)
    return renumber_results(r->graph, item->rule);
  if (item->rule)
    return number_maps(r->graph, item->rule);
  item->rule = tp__arena_alloc(r->arena, sizeof *item->rule);
  if (!item->rule)
    return tp__out_of_memory(op);
  TP_TRY(tp__rule_cached(r->alike, op, r->unknown_replicate, r->arena, item->rule));
  note_communication(r->graph, op, item->rule);
  return number_maps(r->graph, item->rule);
}

/* Looks for a ring in the factors of an op. Neighbors mostly have equal attributes, or none. */
static void note_ring(const reading *r, MlirAttribute attributes) {
  if (mlirAttributeEqual(attributes, *r->last_attributes))
    return;
  *r->last_attributes = attributes;
  MlirAttribute factors = mlirDictionaryAttrGetElementByName(attributes, tp__ref("tp.factors"));
  bool is_list = !mlirAttributeIsNull(factors) && mlirAttributeIsADictionary(factors);
  for (intptr_t k = 0; is_list && k < mlirDictionaryAttrGetNumElements(factors); k++)
    r->graph->names_ring |= tp__names_ring(mlirDictionaryAttrGetElement(factors, k).attribute);
}

static tp_status read_item(const reading *r, MlirOperation op, op_kind kind, double trips) {
  tp_func_graph *graph = r->graph;
  if (tp__grow((void **)&graph->items, &graph->item_capacity, (size_t)graph->n_items + 1,
               sizeof *graph->items) != TP_OK)
    return tp__out_of_memory(op);
  MlirAttribute attributes = tp__attributes(op);
  tp_item *item = &graph->items[graph->n_items++];
  *item = (tp_item){
      .op = op, .trips = trips, .is_bare = mlirDictionaryAttrGetNumElements(attributes) == 0};
  note_ring(r, attributes);
  if (kind == OP_RETURN) {
    item->kind = TP_ITEM_RETURN;
    return TP_OK;
  }
  if (kind == OP_LAYOUT) {
    item->kind = TP_ITEM_LAYOUT;
    return number_value(graph, mlirOperationGetResult(op, 0), NULL);
  }
  if (kind == OP_CONTROL_FLOW)
    return read_control_flow(r, op, trips);
  item->kind = TP_ITEM_OP;
  TP_TRY(read_rule(r, op, item));
  if (!item->rule->family && r->is_first)
    tp__remark(op, "no sharding rule: replicated on all devices");
  return TP_OK;
}

enum { FAR = 10, NEAR = 5, NEXT = 3 }; /* ops ahead */

static void prefetch_numbers(const tp_func_graph *graph, MlirOperation op) {
  enum { FEW = 4 };
  intptr_t n_operands = mlirOperationGetNumOperands(op);
  if (mlirOperationGetNumResults(op) > 0)
    tp__table_prefetch(&graph->numbers, mlirOperationGetResult(op, 0).ptr);
  for (intptr_t i = 0; i < n_operands && i < FEW; i++)
    tp__table_prefetch(&graph->numbers, mlirOperationGetOperand(op, i).ptr);
}

static void look_ahead(const reading *r) {
  size_t n = (*r->n_met)++;
  if (r->order && n + FAR < r->order->n) {
    tp__prefetch_op(r->order->items[n + FAR], false);
    tp__prefetch_op(r->order->items[n + NEAR], true);
    prefetch_numbers(r->graph, r->order->items[n + NEXT]);
  }
  if (r->before)
    tp__prefetch_items(r->before, *r->next_before, false);
}

static tp_status read_block(const reading *r, MlirBlock block, double trips) {
  if (mlirBlockIsNull(block))
    return TP_OK;
  for (MlirOperation op = mlirBlockGetFirstOperation(block); !mlirOperationIsNull(op);
       op = mlirOperationGetNextInBlock(op)) {
    look_ahead(r);
    op_kind kind = kind_of(op);
    bool skipped = kind == OP_SKIPPED || ((kind == OP_PLAIN || kind == OP_LAYOUT) &&
                                          !tp__op_has_tensors(op) && !tp__is_never_compiled(op));
    bool in_place = kind == OP_PLAIN && !skipped && tp__is_in_place(op);
    if (kind == OP_PLAIN && r->is_first)
      tp__warn_of_call(op, r->graph->mesh);
    if (skipped || in_place)
      note_communication(r->graph, op, NULL);
    TP_TRY(skipped    ? TP_OK
           : in_place ? tp__check_in_place(op, r->arena)
                      : read_item(r, op, kind, trips));
  }
  return TP_OK;
}

/* Prepares for taking numbers from `before`, which may be NULL. If another graph has taken its
 * rules, these have other numbers than its table. */
static tp_status take_numbers(tp_func_graph *before, tp__arena *arena, tp_func_graph *graph) {
  if (!before || before->is_older)
    return TP_OK;
  graph->newer = tp__arena_array(arena, (size_t)before->n_values + 1, sizeof *graph->newer);
  if (!graph->newer)
    return tp__out_of_memory(graph->func);
  for (int i = 0; i < before->n_values; i++)
    graph->newer[i] = -1;
  graph->older = before;
  before->is_older = true;
  return TP_OK;
}

tp_status tp__func_graph_read(MlirOperation func, const tp_mesh *mesh, bool unknown_replicate,
                              tp_func_graph *before, const tp_op_list *order, tp__arena *arena,
                              tp_func_graph *graph) {
  MlirBlock block = mlirRegionGetFirstBlock(mlirOperationGetRegion(func, 0));
  *graph = (tp_func_graph){.func = func, .mesh = mesh};
  if (!mlirBlockIsNull(mlirBlockGetNextInRegion(block)))
    return tp__error(
        func, TP_UNSUPPORTED,
        "has several blocks; sharding needs structured control flow (scf) or a straight line");
  MlirStringRef name = mlirStringAttrGetValue(tp__inherent(func, "sym_name"));
  if (name.length >= 3 && memcmp(name.data, "tp.", 3) == 0)
    return tp__error(func, TP_INVALID_ARGUMENT,
                     "has a name that begins with 'tp.', which is reserved for the compiler; "
                     "rename the function");
  graph->n_args = (int)mlirFunctionTypeGetNumInputs(tp__func_type(func));
  graph->n_results = (int)mlirFunctionTypeGetNumResults(tp__func_type(func));
  tp_rule_cache alike = {0};
  /* if so, search all ops for communication again */
  bool communicates = before && before->communicates;
  /* with a plan, an earlier pass has read the function */
  bool is_first = mlirAttributeIsNull(tp__get(func, "tp.plan"));
  int next_before = 0;
  size_t n_met = 0;
  MlirAttribute last_attributes = {NULL};
  reading r = {graph,        communicates ? NULL : before,
               order,        &n_met,
               &next_before, unknown_replicate,
               is_first,     arena,
               &alike,       &last_attributes};
  tp_status status = take_numbers(r.before, arena, graph);
  if (status == TP_OK && order &&
      tp__table_reserve(&graph->numbers, order->n + (size_t)graph->n_args) != TP_OK)
    status = tp__out_of_memory(func);
  if (status == TP_OK)
    status = number_args(graph, block);
  if (status == TP_OK)
    status = read_block(&r, block, 1);
  tp__rule_cache_destroy(&alike);
  return status == TP_OK ? tp__mark_divergent(graph) : status;
}

void tp__prefetch_items(const tp_func_graph *graph, int i, bool bodies) {
  if (i + FAR >= graph->n_items)
    return;
  tp__prefetch_op(graph->items[i + FAR].op, false);
  if (bodies)
    tp__prefetch_op(graph->items[i + NEAR].op, true);
}

void tp__func_graph_destroy(tp_func_graph *graph) {
  tp__free(graph->items);
  tp__free(graph->makers);
  tp__table_destroy(&graph->numbers);
}

double tp__func_graph_trips(const tp_func_graph *graph, MlirValue value) {
  MlirBlock block = tp__block_of(value);
  double trips = 1;
  for (MlirOperation op = mlirBlockGetParentOperation(block); !mlirOperationEqual(op, graph->func);
       op = mlirOperationGetParentOperation(op))
    trips *= trips_of(op);
  return trips;
}

bool tp__func_graph_counts(const tp_func_graph *graph, MlirOperation op) {
  double trips;
  for (op = mlirOperationGetParentOperation(op); !mlirOperationEqual(op, graph->func);
       op = mlirOperationGetParentOperation(op))
    if (!count_trips(op, &trips))
      return false;
  return true;
}

/* ---- annotations ---- */

/* Removes axes of size 1, which split nothing, so that equal layouts have equal specs. */
static void drop_trivial_axes(const tp_mesh *mesh, tp_spec *spec) {
  for (int a = 0; a < mesh->n_axes; a++)
    if (mesh->axes[a].size == 1)
      tp_spec_clear(spec, a);
}

static tp_status read_boundary(const tp_func_graph *graph, bool is_arg, int i,
                               tp_annotation *annotation, bool *present) {
  char what[32];
  MlirType type = is_arg ? mlirFunctionTypeGetInput(tp__func_type(graph->func), i)
                         : mlirFunctionTypeGetResult(tp__func_type(graph->func), i);
  MlirAttribute attr = is_arg ? tp__arg_attr(graph->func, i, "tp.sharding")
                              : tp__result_attr(graph->func, i, "tp.sharding");
  *present = !mlirAttributeIsNull(attr);
  if (!*present)
    return TP_OK;
  snprintf(what, sizeof what, "%s %d", is_arg ? "argument" : "result", i);
  int rank;
  int64_t shape[TP_MAX_RANK];
  if (!tp__static_tensor(type, &rank, shape))
    return tp__error(graph->func, TP_INVALID_ARGUMENT,
                     "%s has tp.sharding, but is not a tensor of static shape; remove tp.sharding",
                     what);
  TP_TRY(tp__read_sharding(graph->func, what, attr, graph->mesh, type, annotation));
  for (int a = 0; a < graph->mesh->n_axes; a++) {
    tp_place place = tp_spec_place(annotation->spec, a);
    if (tp_place_is_rows(place))
      return tp__error(
          graph->func, TP_INVALID_ARGUMENT,
          "%s is partial \"%s\" over \"%s\", a layout of values inside of a function "
          "alone: which rows a device has depends on other values; remove the annotation",
          what, tp_combiner_name(place.combiner), graph->mesh->axes[a].name);
  }
  drop_trivial_axes(graph->mesh, &annotation->spec);
  return TP_OK;
}

tp_status tp__func_graph_arg(const tp_func_graph *graph, int i, tp_annotation *annotation,
                             bool *present) {
  return read_boundary(graph, true, i, annotation, present);
}

tp_status tp__func_graph_result(const tp_func_graph *graph, int i, tp_annotation *annotation,
                                bool *present) {
  return read_boundary(graph, false, i, annotation, present);
}

tp_status tp__func_graph_op(const tp_func_graph *graph, MlirOperation op, int i,
                            tp_annotation *annotation, bool *present) {
  TP_TRY(tp__op_sharding(op, i, graph->mesh, annotation, present));
  if (!*present)
    return TP_OK;
  drop_trivial_axes(graph->mesh, &annotation->spec);
  return TP_OK;
}

static tp_status read_region_arg(const tp_func_graph *graph, MlirOperation op, MlirValue arg,
                                 tp_annotation *annotation, bool *present) {
  MlirAttribute lists = tp__get(op, "tp.region_args");
  MlirBlock block = mlirBlockArgumentGetOwner(arg);
  int i = (int)mlirBlockArgumentGetArgNumber(arg);
  *present = false;
  for (intptr_t r = 0; !mlirAttributeIsNull(lists) && r < mlirOperationGetNumRegions(op); r++) {
    if (!mlirBlockEqual(mlirRegionGetFirstBlock(mlirOperationGetRegion(op, r)), block))
      continue;
    char what[64];
    snprintf(what, sizeof what, "region %d, argument %d", (int)r, i);
    *present = true;
    tp_status status =
        tp__read_sharding(op, what, mlirArrayAttrGetElement(mlirArrayAttrGetElement(lists, r), i),
                          graph->mesh, mlirValueGetType(arg), annotation);
    if (status != TP_OK)
      return status;
    drop_trivial_axes(graph->mesh, &annotation->spec);
    return TP_OK;
  }
  return TP_OK;
}

tp_status tp__func_graph_carried(const tp_func_graph *graph, MlirOperation op,
                                 const tp_carried *carried, tp_annotation *annotation,
                                 bool *present) {
  *present = false;
  /* verifies the structure of tp.region_args */
  TP_TRY(tp__check_plan_attributes(op, graph->mesh));
  for (int i = 0; i < carried->n_values && !*present; i++) {
    MlirValue value = carried->values[i];
    if (mlirValueIsABlockArgument(value))
      TP_TRY(read_region_arg(graph, op, value, annotation, present));
    else
      TP_TRY(tp__func_graph_op(graph, op, (int)mlirOpResultGetResultNumber(value), annotation,
                               present));
  }
  return TP_OK;
}
