/* Writes the document as graphs that Model Explorer loads, and what ops take as its node data. An
 * op is a node. */
#include "passes/propagate/report/plan_explorer.h"

#include "passes/propagate/report/plan_namespaces.h"
#include "passes/propagate/report/plan_text.h"

#include <string.h>

/* A function of the document, with what is looked up by op. */
typedef struct explorer {
  const json_t *function, *graph;
  size_t n;
  json_t *sent; /* by op as text: the indices of its collectives */
} explorer;

/* ---- what the document says of an op ---- */

static const json_t *entry_of(const explorer *e, const char *list, const char *table, size_t k) {
  const json_t *index = json_array_get(json_object_get(e->graph, list), k);
  return json_array_get(json_object_get(e->graph, table), (size_t)json_integer_value(index));
}

static const json_t *kind_of(const explorer *e, size_t k) {
  return entry_of(e, "kind", "kinds", k);
}

static const char *text_at(const explorer *e, const char *list, size_t k) {
  return json_string_value(entry_of(e, list, "texts", k));
}

static const json_t *sent_by(const explorer *e, size_t k) {
  char key[24];
  snprintf(key, sizeof key, "%zu", k);
  return json_object_get(e->sent, key);
}

static const json_t *collective(const explorer *e, const json_t *index) {
  return json_array_get(json_object_get(e->function, "collectives"),
                        (size_t)json_integer_value(index));
}

static bool look_up(explorer *e) {
  const json_t *op;
  size_t i;
  e->n = json_array_size(json_object_get(e->graph, "kind"));
  e->sent = json_object();
  if (!e->sent)
    return false;
  json_array_foreach(json_object_get(e->graph, "collectives"), i, op) {
    char key[24];
    snprintf(key, sizeof key, "%lld", (long long)json_integer_value(op));
    if (!json_object_get(e->sent, key))
      json_object_set_new(e->sent, key, json_array());
    json_array_append_new(json_object_get(e->sent, key), json_integer((json_int_t)i));
  }
  return true;
}

/* ---- nodes ---- */

static void add_attr(json_t *list, const char *key, const char *value) {
  if (*value)
    json_array_append_new(list, json_pack("{s:s, s:s}", "key", key, "value", value));
}

static const char *id_of_op(char id[32], int64_t k) {
  snprintf(id, 32, k < 0 ? "argument %lld" : "op %lld", (long long)(k < 0 ? -1 - k : k));
  return id;
}

/* "all_gather tp, reduce_scatter dp" of an op that sends, else "linalg.generic (addf)". */
static json_t *label_of(const explorer *e, size_t k) {
  const json_t *kind = kind_of(e, k), *index;
  const char *body = tp__text_of(kind, "body");
  tp__string text = {0};
  size_t i;
  json_array_foreach(sent_by(e, k), i, index) {
    const json_t *c = collective(e, index);
    tp__string_printf(&text, "%s%s %s", i ? ", " : "", tp__text_of(c, "kind"),
                      tp__text_of(c, "axes"));
  }
  if (!*tp__string_text(&text))
    tp__string_printf(&text, "%s%s%s%s", tp__text_of(kind, "op"), *body ? " (" : "", body,
                      *body ? ")" : "");
  json_t *label = json_string(tp__string_text(&text));
  tp__string_destroy(&text);
  return label;
}

static json_t *attrs_of(const explorer *e, size_t k) {
  const json_t *kind = kind_of(e, k), *index;
  double seconds = tp__seconds_of(kind, "modelled_seconds");
  json_t *list = json_array();
  size_t i;
  add_attr(list, "description", text_at(e, "description", k));
  add_attr(list, "value", text_at(e, "value", k));
  add_attr(list, "type", tp__text_of(kind, "type"));
  add_attr(list, "layout", tp__text_of(kind, "layout"));
  if (*tp__text_of(kind, "layout"))
    add_attr(list, "on a device", tp__bytes_text(tp__integer_of(kind, "bytes_per_device")).chars);
  if (seconds > 0)
    add_attr(list, "computes for", tp__seconds_text(seconds).chars);
  add_attr(list, "source line", text_at(e, "at", k));
  json_array_foreach(sent_by(e, k), i, index) {
    const json_t *c = collective(e, index);
    tp__string text = {0};
    tp__string_printf(&text, "%s over %s: %s sent, %s", tp__text_of(c, "kind"),
                      tp__text_of(c, "axes"),
                      tp__bytes_text(tp__integer_of(c, "bytes_per_device")).chars,
                      tp__seconds_text(tp__seconds_of(c, "modelled_seconds")).chars);
    add_attr(list, "collective", tp__string_text(&text));
    tp__string_destroy(&text);
    const char *cause = json_string_value(json_array_get(json_object_get(c, "cause"), 0));
    add_attr(list, "because", cause ? cause : "");
  }
  return list;
}

static json_t *edges_of(const explorer *e, size_t k) {
  const json_t *makers = json_array_get(json_object_get(e->graph, "operands"), k), *maker;
  json_t *list = json_array();
  size_t i;
  json_array_foreach(makers, i, maker) {
    char id[32], input[24];
    snprintf(input, sizeof input, "%zu", i);
    json_array_append_new(list, json_pack("{s:s, s:s, s:s}", "sourceNodeId",
                                          id_of_op(id, json_integer_value(maker)),
                                          "sourceNodeOutputId", "0", "targetNodeInputId", input));
  }
  return list;
}

/* The viewer knows the keys "__tensor_tag" (a name) and "shape" (beside the edge). */
static json_t *output_json(const char *name, const char *type, const char *layout) {
  json_t *attrs = json_array();
  add_attr(attrs, "__tensor_tag", name);
  add_attr(attrs, "shape", type);
  add_attr(attrs, "layout", layout);
  return json_pack("[{s:s, s:o}]", "id", "0", "attrs", attrs);
}

static json_t *node_json(const explorer *e, size_t k, const char *around) {
  const json_t *kind = kind_of(e, k);
  char id[32];
  json_t *node = json_pack(
      "{s:s, s:o, s:s, s:o, s:o, s:o}", "id", id_of_op(id, (int64_t)k), "label", label_of(e, k),
      "namespace", around, "attrs", attrs_of(e, k), "incomingEdges", edges_of(e, k),
      "outputsMetadata",
      output_json(text_at(e, "value", k), tp__text_of(kind, "type"), tp__text_of(kind, "layout")));
  if (sent_by(e, k))
    json_object_set_new(node, "style", json_pack("{s:s}", "backgroundColor", "#ffd9a8"));
  return node;
}

static json_t *argument_json(const json_t *argument, size_t i) {
  static const char *const keys[] = {"role", "element", "sharding"};
  char id[32], value[32];
  const char *name = tp__text_of(argument, "description");
  json_t *attrs = json_array();
  snprintf(value, sizeof value, "%%arg%zu", i);
  add_attr(attrs, "value", value);
  for (int k = 0; k < (int)TP__COUNT(keys); k++)
    add_attr(attrs, keys[k], tp__text_of(argument, keys[k]));
  return json_pack(
      "{s:s, s:s, s:s, s:o, s:o}", "id", id_of_op(id, -1 - (int64_t)i), "label",
      *name ? name : value, "namespace",
      strcmp(tp__text_of(argument, "role"), "param") == 0 ? "weights" : "arguments", "attrs", attrs,
      "outputsMetadata",
      output_json(value, tp__text_of(argument, "element"), tp__text_of(argument, "sharding")));
}

/* ---- graphs ---- */

static json_t *facts_json(const json_t *function) {
  const json_t *step = json_object_get(function, "step"),
               *memory = json_object_get(function, "memory");
  return json_pack(
      "{s:{s:s, s:s, s:s}}", "", "time of a step, modelled",
      tp__seconds_text(tp__seconds_of(step, "seconds")).chars, "sent by a device in a step",
      tp__bytes_text(tp__integer_of(function, "bytes_per_device")).chars, "memory peak of a device",
      tp__bytes_text(tp__integer_of(memory, "peak_bytes")).chars);
}

static json_t *graph_json(const json_t *function) {
  explorer e = {.function = function, .graph = json_object_get(function, "graph")};
  json_t *nodes = json_array(), *argument;
  char **around = tp__namespaces(e.graph);
  bool ok = around && look_up(&e);
  size_t i;
  json_array_foreach(json_object_get(function, "arguments"), i, argument)
      json_array_append_new(nodes, argument_json(argument, i));
  for (size_t k = 0; ok && k < e.n; k++)
    json_array_append_new(nodes, node_json(&e, k, around[k]));
  tp__namespaces_free(around, e.n);
  json_decref(e.sent);
  if (!ok) {
    json_decref(nodes);
    return NULL;
  }
  return json_pack("{s:s, s:o, s:o, s:[s, s]}", "id", tp__text_of(function, "function"), "nodes",
                   nodes, "groupNodeAttributes", facts_json(function), "nodeLabelsToHide",
                   "shard.sharding", "tensor.empty");
}

/* By node the time of its op: compute, and its collectives. */
static json_t *times_json(const json_t *function) {
  explorer e = {.function = function, .graph = json_object_get(function, "graph")};
  json_t *results = json_object();
  const json_t *index;
  bool ok = look_up(&e);
  size_t i;
  for (size_t k = 0; ok && k < e.n; k++) {
    char id[32];
    double seconds = tp__seconds_of(kind_of(&e, k), "modelled_seconds");
    json_array_foreach(sent_by(&e, k), i, index) seconds +=
        tp__seconds_of(collective(&e, index), "modelled_seconds");
    if (seconds > 0)
      json_object_set_new(results, id_of_op(id, (int64_t)k),
                          json_pack("{s:f}", "value", seconds * 1e6));
  }
  json_decref(e.sent);
  if (!ok) {
    json_decref(results);
    return NULL;
  }
  return json_pack("{s:s, s:o, s:[{s:i, s:s}, {s:i, s:s}]}", "name", "modelled microseconds",
                   "results", results, "gradient", "stop", 0, "bgColor", "#ffffff", "stop", 1,
                   "bgColor", "#d9822b");
}

static char *print(json_t *json) {
  tp__string text = {0};
  int failed = json ? json_dump_callback(json, tp__report_append, &text, JSON_COMPACT) : -1;
  json_decref(json);
  if (!failed)
    return tp__string_take(&text);
  tp__string_destroy(&text);
  return NULL;
}

char *tp__report_explorer(const json_t *document) {
  json_t *graphs = json_array(), *function;
  size_t i;
  json_array_foreach(json_object_get(document, "functions"), i, function)
      json_array_append_new(graphs, graph_json(function));
  return print(json_pack("{s:s, s:o}", "label", "plan", "graphs", graphs));
}

char *tp__report_node_data(const json_t *document) {
  json_t *json = json_object(), *function;
  size_t i;
  json_array_foreach(json_object_get(document, "functions"), i, function)
      json_object_set_new(json, tp__text_of(function, "function"), times_json(function));
  return print(json);
}
