/* Prints the human-readable report: a summary, costly annotations, collectives with their causes,
 * peak memory, and the value of decisions. */
#include "passes/propagate/report/plan_text.h"

#include "tp/cost.h"

#include <string.h>

const char *tp__text_of(const json_t *object, const char *key) {
  const char *text = json_string_value(json_object_get(object, key));
  return text ? text : "";
}

int64_t tp__integer_of(const json_t *object, const char *key) {
  return json_integer_value(json_object_get(object, key));
}

double tp__seconds_of(const json_t *object, const char *key) {
  return json_real_value(json_object_get(object, key));
}

static tp__short_text bytes_of(const json_t *object, const char *key) {
  return tp__bytes_text(tp__integer_of(object, key));
}

static tp__short_text time_of(const json_t *object, const char *key) {
  return tp__seconds_text(tp__seconds_of(object, key));
}

/* What a value is, and its name in the program, "gradient of wq" and "%12"; the former is "" if
 * both are the same, as in "h" and "%h". */
typedef struct value_texts {
  const char *description, *value;
} value_texts;

static value_texts texts_of_value(const json_t *object) {
  value_texts v = {tp__text_of(object, "description"), tp__text_of(object, "value")};
  if (*v.value == '%' && strcmp(v.value + 1, v.description) == 0)
    v.description = "";
  return v;
}

void tp__print_value(tp__string *t, const json_t *object) {
  value_texts v = texts_of_value(object);
  if (*v.description && *v.value)
    tp__string_printf(t, "%s (%s)", v.description, v.value);
  else
    tp__string_append(t, *v.description ? v.description : v.value);
}

static void print_op(tp__string *t, const json_t *object) {
  const char *body = tp__text_of(object, "body"), *at = tp__text_of(object, "at");
  tp__string_printf(t, "%s%s%s%s%s%s", tp__text_of(object, "op"), *body ? " (" : "", body,
                    *body ? ")" : "", *at ? " at " : "", at);
}

void tp__print_place(tp__string *t, const json_t *object) {
  if (json_is_integer(json_object_get(object, "number"))) {
    /* its location is that of the function */
    const char *kind = tp__text_of(object, "place");
    tp__string_printf(t, "%s %lld", *kind ? kind : tp__text_of(object, "kind"),
                      (long long)tp__integer_of(object, "number"));
  } else {
    print_op(t, object);
  }
  value_texts v = texts_of_value(object);
  if (*v.value)
    tp__string_printf(t, " (%s%s%s)", v.description, *v.description ? ", " : "", v.value);
}

/* ---- the summary ---- */

static double share(double part, double whole) { return whole > 0 ? 100 * part / whole : 0; }

static void add_part(tp_sheet *parts, const char *what, double seconds, double all) {
  tp__sheet_cell(parts, "%s", what);
  tp__sheet_cell(parts, "%s", tp__seconds_text(seconds).chars);
  tp__sheet_cell(parts, "%.1f %%", share(seconds, all));
}

static void add_traffic(tp_sheet *parts, int64_t bytes, int64_t count) {
  tp__sheet_cell(parts, "%s", tp__bytes_text(bytes).chars);
  tp__sheet_cell(parts, "%lld", (long long)count);
}

static void print_parts(tp__string *t, const json_t *f) {
  const json_t *step = json_object_get(f, "step"), *row;
  double all = tp__seconds_of(step, "seconds"), slices = tp__seconds_of(step, "local_seconds");
  tp_sheet parts = {.align = "lrrrr"};
  static const char *const titles[] = {"part", "time", "share", "sent", "runs"};
  int64_t runs = 0;
  size_t i;
  for (size_t k = 0; k < TP__COUNT(titles); k++)
    tp__sheet_cell(&parts, "%s", titles[k]);
  add_part(&parts, "compute", tp__seconds_of(step, "compute_seconds"), all);
  tp__sheet_cell(&parts, "%s", "");
  tp__sheet_cell(&parts, "%s", "");
  json_array_foreach(json_object_get(f, "traffic"), i, row) {
    tp__string what = {0};
    tp__string_printf(&what, "%s over %s", tp__text_of(row, "kind"), tp__text_of(row, "axes"));
    add_part(&parts, tp__string_text(&what), tp__seconds_of(row, "modelled_seconds"), all);
    add_traffic(&parts, tp__integer_of(row, "bytes_per_device"), tp__integer_of(row, "count"));
    runs += tp__integer_of(row, "count");
    tp__string_destroy(&what);
  }
  if (slices > 0) {
    add_part(&parts, "slices and masks", slices, all);
    tp__sheet_cell(&parts, "%s", "");
    tp__sheet_cell(&parts, "%s", "");
  }
  add_part(&parts, "step", all, all);
  add_traffic(&parts, tp__integer_of(f, "bytes_per_device"), runs);
  tp__sheet_print(&parts, t);
}

/* What ended a search, as a subject. */
static const char *ender(const char *stopped_by) {
  return strcmp(stopped_by, "interrupt") == 0 ? "An interrupt" : "The time limit";
}

static void print_proof(tp__string *t, const json_t *f, bool is_time) {
  const json_t *solution = json_object_get(f, "solution"), *step = json_object_get(f, "step");
  double cost = tp__seconds_of(solution, "cost_seconds"),
         bound = tp__seconds_of(solution, "bound_seconds");
  if (!is_time)
    tp__string_printf(t, "It costs %s by the objective. ", tp__seconds_text(cost).chars);
  bool is_annotated = tp__integer_of(f, "annotations") > 0;
  if (bound >= cost)
    tp__string_printf(t, "Proven: no plan%s costs less",
                      is_annotated ? " with these annotations" : "");
  else
    tp__string_printf(t, "No plan costs less than %s, this one costs %s",
                      tp__seconds_text(bound).chars, tp__seconds_text(cost).chars);
  if (bound > 0 && bound < cost)
    tp__string_printf(t, " (gap %.2g %%)", 100 * json_real_value(json_object_get(solution, "gap")));
  tp__string_printf(t, " (%s; %lld decisions, %lld strategies).\n", tp__text_of(solution, "method"),
                    (long long)tp__integer_of(solution, "decisions"),
                    (long long)tp__integer_of(solution, "strategies"));
  if (tp__seconds_of(step, "shared_seconds") > 0)
    tp__string_printf(t,
                      "The planner counted %s: a layout that several ops need was counted once per "
                      "op, but is made only once%s.\n",
                      tp__seconds_text(cost).chars,
                      is_time ? ""
                              : ", or the path of a reshard sends less than one over whole axes");
  if (*tp__text_of(solution, "stopped_by"))
    tp__string_printf(t, "%s ended the search for it: another run may find another plan.\n",
                      ender(tp__text_of(solution, "stopped_by")));
  if (strcmp(tp__text_of(f, "other_plans_stopped_by"), "entries") == 0)
    tp__string_append(t, "The function has so many strategies that it was planned in parts, and no "
                         "other plans were sought (entries).\n");
  else if (*tp__text_of(f, "other_plans_stopped_by"))
    tp__string_printf(t,
                      "%s ended the search for other plans: another run may know more of them, or "
                      "less.\n",
                      ender(tp__text_of(f, "other_plans_stopped_by")));
}

static void print_summary(tp__string *t, const json_t *f, bool is_time) {
  static const struct {
    const char *key, *what;
  } parts[] = {{"compute_seconds", "compute"},
               {"collective_seconds", "collectives"},
               {"local_seconds", "slices and masks"}};
  const json_t *step = json_object_get(f, "step"), *memory = json_object_get(f, "memory");
  double all = tp__seconds_of(step, "seconds");
  const char *between = ": ";
  tp__string_printf(t, "A step takes %s in the model", time_of(step, "seconds").chars);
  for (size_t k = 0; k < TP__COUNT(parts); k++)
    if (tp__seconds_of(step, parts[k].key) > 0) {
      tp__string_printf(t, "%s%.1f %% %s", between, share(tp__seconds_of(step, parts[k].key), all),
                        parts[k].what);
      between = ", ";
    }
  tp__string_printf(
      t, ".\nA device sends %s and holds at most %s.\n",
      tp__integer_of(f, "bytes_per_device") > 0 ? bytes_of(f, "bytes_per_device").chars : "nothing",
      bytes_of(memory, "peak_bytes").chars);
  print_proof(t, f, is_time);
  tp__string_append(t, "\n");
  print_parts(t, f);
}

/* ---- grouped rows ---- */

/* True if the rows print equal text except for the location. */
static bool are_alike(const json_t *a, const json_t *b, size_t n_keys, const char *const *keys) {
  bool alike = true;
  for (size_t k = 0; k < n_keys && alike; k++)
    alike = json_equal(json_object_get(a, keys[k]), json_object_get(b, keys[k]));
  return alike;
}

static void add_count(tp_sheet *sheet, size_t alike) {
  if (alike > 1)
    tp__sheet_cell(sheet, "x%zu", alike);
  else
    tp__sheet_cell(sheet, "%s", "");
}

/* ---- memory ---- */

/* " 3 (loss, %9)" of a result, else " gradient of wq (%3)", " all_gather of wq"; "" if it has no
 * name. */
static void print_held_name(tp__string *t, const json_t *held) {
  const json_t *result = json_object_get(held, "result");
  value_texts v = texts_of_value(held);
  if (json_is_integer(result)) {
    tp__string_printf(t, " %lld (%s%s%s)", (long long)json_integer_value(result), v.description,
                      *v.description && *v.value ? ", " : "", v.value);
  } else if (*v.description || *v.value) {
    tp__string_append(t, " ");
    tp__print_value(t, held);
  }
}

/* Prints `alike` entries of the list, starting at `from`: "argument x (%arg0), w (%arg1), b
 * (%arg2), ...", "value all_gather of w" */
static void print_held(tp_sheet *sheet, const json_t *list, size_t from, size_t alike) {
  enum { MAX_NAMES = 3 };
  tp__string what = {0}, maker = {0};
  const json_t *first = json_array_get(list, from);
  tp__string_append(&what, tp__text_of(first, "kind"));
  for (size_t i = 0; i < alike && i < MAX_NAMES; i++) {
    tp__string_append(&what, i ? "," : "");
    print_held_name(&what, json_array_get(list, from + i));
  }
  tp__string_append(&what, alike > MAX_NAMES ? ", ..." : "");
  if (json_is_string(json_object_get(first, "op")))
    print_op(&maker, first);
  tp__sheet_cell(sheet, "%s", bytes_of(first, "bytes").chars);
  add_count(sheet, alike);
  tp__sheet_cell(sheet, "%s", tp__string_text(&what));
  tp__sheet_cell(sheet, "%s", tp__string_text(&maker));
  tp__string_destroy(&what);
  tp__string_destroy(&maker);
}

static void print_memory(tp__string *t, const json_t *memory) {
  enum { MAX_ROWS = 12 };
  static const char *const kinds[][2] = {{"argument", "arguments"},
                                         {"result", "results"},
                                         {"value", "values"},
                                         {"steps", "steps of reshards"},
                                         {"workspace", "workspaces of ops"}};
  const json_t *sums = json_object_get(memory, "by_kind"),
               *list = json_object_get(memory, "values");
  static const char *const titles[] = {"each", "alike", "what", "made by"}, *const keys[] = {
                                                                                "bytes", "kind",
                                                                                "op", "body"};
  tp_sheet sheet = {.align = "rrll"};
  const char *between = ": ";
  int64_t others = tp__integer_of(memory, "other_bytes");
  tp__string_printf(t, "### Memory\n\nAt most %s on a device, at ",
                    bytes_of(memory, "peak_bytes").chars);
  tp__print_place(t, memory);
  for (size_t k = 0; k < TP__COUNT(kinds); k++)
    if (tp__integer_of(sums, kinds[k][0]) > 0) {
      tp__string_printf(t, "%s%s %s", between, kinds[k][1], bytes_of(sums, kinds[k][0]).chars);
      between = ", ";
    }
  tp__string_append(t, ".\n\n");
  for (size_t k = 0; k < TP__COUNT(titles); k++)
    tp__sheet_cell(&sheet, "%s", titles[k]);
  for (size_t i = 0, rows = 0, alike; i < json_array_size(list); i += alike, rows++) {
    const json_t *v = json_array_get(list, i);
    for (alike = 1; are_alike(v, json_array_get(list, i + alike), TP__COUNT(keys), keys);)
      alike++;
    if (rows < MAX_ROWS)
      print_held(&sheet, list, i, alike);
    else
      others += (int64_t)alike * tp__integer_of(v, "bytes");
  }
  if (others > 0) {
    tp__sheet_cell(&sheet, "%s", tp__bytes_text(others).chars);
    tp__sheet_cell(&sheet, "%s", "");
    tp__sheet_cell(&sheet, "all others");
    tp__sheet_cell(&sheet, "%s", "");
  }
  tp__sheet_print(&sheet, t);
}

/* ---- annotations and decisions ---- */

/* What the plan costs more than the best one without annotations: "1.2 us", "at most 30 ns"; "-" if
 * that is not known. */
static tp__short_text saved_without(const json_t *f, const json_t *without) {
  double cost = tp__seconds_of(json_object_get(f, "solution"), "cost_seconds"),
         saved = cost - tp__seconds_of(without, "bound_without_seconds");
  tp__short_text text = {"-"};
  if (!json_is_null(json_object_get(without, "saves_seconds")))
    return time_of(without, "saves_seconds");
  if (!json_is_null(json_object_get(without, "bound_without_seconds")))
    snprintf(text.chars, sizeof text.chars, saved > 0 ? "at most %s" : "nothing",
             tp__seconds_text(saved).chars);
  return text;
}

static void print_annotation(tp_sheet *sheet, const json_t *f, const json_t *group) {
  const json_t *pin = json_object_get(group, "annotation");
  tp__string place = {0};
  tp__print_place(&place, pin);
  tp__sheet_cell(sheet, "%s", saved_without(f, group).chars);
  add_count(sheet, (size_t)tp__integer_of(group, "count"));
  tp__sheet_cell(sheet, "%s", tp__text_of(pin, "sharding"));
  tp__sheet_cell(sheet, "%s", tp__string_text(&place));
  tp__string_destroy(&place);
}

/* Those that are known to cost something first. */
static void print_annotations(tp__string *t, const json_t *f) {
  enum { MAX_ROWS = 20 };
  static const char *const titles[] = {"costs", "alike", "layout", "annotation of"};
  const json_t *groups = json_object_get(f, "annotation_groups");
  size_t n = json_array_size(groups), rows = 0;
  tp_sheet sheet = {.align = "rrll"};
  bool is_known = false;
  for (size_t i = 0; i < n; i++)
    is_known |= !json_is_null(json_object_get(json_array_get(groups, i), "bound_without_seconds"));
  if (!is_known)
    return;
  tp__string_append(t, "### What annotations cost\n\n"
                       "So much less would the best plan cost without them.\n\n");
  for (size_t k = 0; k < TP__COUNT(titles); k++)
    tp__sheet_cell(&sheet, "%s", titles[k]);
  if (n > 1) {
    const json_t *without = json_object_get(f, "without_annotations");
    tp__sheet_cell(&sheet, "%s", saved_without(f, without).chars);
    add_count(&sheet, (size_t)tp__integer_of(f, "annotations"));
    tp__sheet_cell(&sheet, "%s", "");
    tp__sheet_cell(&sheet, "%s", "all together");
  }
  for (int costly = 1; costly >= 0; costly--)
    for (size_t i = 0; i < n; i++) {
      const json_t *group = json_array_get(groups, i);
      bool is_costly = !json_is_null(json_object_get(group, "saves_seconds"));
      if (is_costly == costly && rows++ < MAX_ROWS)
        print_annotation(&sheet, f, group);
    }
  tp__sheet_print(&sheet, t);
  if (rows > MAX_ROWS)
    tp__string_printf(t, "%zu more are in the report as JSON.\n\n", rows - MAX_ROWS);
}

static void print_decisions(tp__string *t, const json_t *list) {
  enum { MAX_ROWS = 10 };
  static const char *const titles[] = {"at least", "alike", "what"}, *const keys[] = {"kind", "op",
                                                                                      "body"};
  tp_sheet sheet = {.align = "rrl"};
  if (json_array_size(list) == 0)
    return;
  tp__string_append(
      t,
      "### What decisions are worth\n\nA different choice here costs at least this much more.\n\n");
  for (size_t k = 0; k < TP__COUNT(titles); k++)
    tp__sheet_cell(&sheet, "%s", titles[k]);
  for (size_t i = 0, rows = 0, alike; i < json_array_size(list) && rows < MAX_ROWS;
       i += alike, rows++) {
    const json_t *d = json_array_get(list, i), *next;
    tp__short_text worth = time_of(d, "worth_seconds");
    tp__string what = {0};
    for (alike = 1; (next = json_array_get(list, i + alike)) &&
                    are_alike(d, next, TP__COUNT(keys), keys) &&
                    strcmp(worth.chars, time_of(next, "worth_seconds").chars) == 0;)
      alike++;
    tp__print_place(&what, d);
    tp__sheet_cell(&sheet, "%s", worth.chars);
    add_count(&sheet, alike);
    tp__sheet_cell(&sheet, "%s", tp__string_text(&what));
    tp__string_destroy(&what);
  }
  tp__sheet_print(&sheet, t);
}

/* ---- other plans ---- */

static void print_frontier(tp__string *t, const json_t *frontier) {
  static const char *const titles[] = {"limit", "peak", "cost", "against this plan",
                                       "against the next row"};
  tp_sheet sheet = {.align = "rrrll"};
  const json_t *point;
  size_t i;
  if (json_array_size(frontier) == 0)
    return;
  tp__string_append(t, "### Plans within memory limits\n\n");
  for (size_t k = 0; k < TP__COUNT(titles); k++)
    tp__sheet_cell(&sheet, "%s", titles[k]);
  json_array_foreach(frontier, i, point) {
    bool is_own = json_is_null(json_object_get(point, "limit_bytes")),
         is_found = json_is_integer(json_object_get(point, "peak_bytes"));
    tp__sheet_cell(&sheet, "%s", is_own ? "this plan" : bytes_of(point, "limit_bytes").chars);
    tp__sheet_cell(&sheet, "%s", is_found ? bytes_of(point, "peak_bytes").chars : "");
    tp__sheet_cell(&sheet, "%s",
                   is_found ? time_of(point, "cost_seconds").chars : "no plan was found");
    tp__sheet_cell(&sheet, "%s", tp__text_of(point, "changes_from_this"));
    tp__sheet_cell(&sheet, "%s", tp__text_of(point, "changes"));
  }
  tp__sheet_print(&sheet, t);
}

static void print_against(tp__string *t, const json_t *f) {
  if (!json_is_object(json_object_get(f, "against")))
    return;
  tp__string_append(t, "### Against the older plan\n\nNow ");
  tp__print_difference(t, f);
  tp__string_append(t, "\n\n");
}

static void print_function(tp__string *t, const json_t *f, bool is_time) {
  tp__string_printf(t, "## %s\n\n", tp__text_of(f, "function"));
  print_summary(t, f, is_time);
  print_against(t, f);
  print_frontier(t, json_object_get(f, "frontier"));
  print_annotations(t, f);
  tp__print_collectives(t, f);
  print_memory(t, json_object_get(f, "memory"));
  print_decisions(t, json_object_get(f, "decisions"));
}

/* A copy of the document without graphs, in which characters that are not seen are escapes. NULL
 * when memory runs out. */
static json_t *shown_json(const json_t *json) {
  const char *key;
  json_t *copy = NULL, *part;
  size_t i;
  if (json_is_string(json)) {
    const char *text = json_string_value(json);
    size_t length = tp__visible(text, "", 0, NULL);
    char *shown = tp__malloc(length + 1);
    if (shown) {
      tp__visible(text, "", length + 1, shown);
      copy = json_string(shown);
    }
    tp__free(shown);
  } else if (json_is_array(json)) {
    copy = json_array();
    json_array_foreach(json, i, part) json_array_append_new(copy, shown_json(part));
  } else if (json_is_object(json)) {
    copy = json_object();
    json_object_foreach((json_t *)json, key, part) if (strcmp(key, "graph") != 0)
        json_object_set_new(copy, key, shown_json(part));
  } else {
    copy = json_incref((json_t *)json);
  }
  return copy;
}

static void print_document(tp__string *t, const json_t *document) {
  const json_t *row;
  bool is_time =
      strcmp(tp__text_of(document, "objective"), tp_objective_name(TP_OBJECTIVE_BYTES)) != 0;
  long long byte_flops = tp__integer_of(document, "byte_flops");
  size_t i;
  tp__string_printf(t, "# Plan for %lld devices\n\nMesh ",
                    (long long)tp__integer_of(document, "devices"));
  json_array_foreach(json_object_get(document, "mesh"), i, row)
      tp__string_printf(t, "%s%s=%lld", i ? "," : "", tp__text_of(row, "axis"),
                        (long long)tp__integer_of(row, "size"));
  tp__string_printf(t,
                    ", topology %s, strategy %s. Times are modeled; all numbers are for one device "
                    "and one execution.\n",
                    tp__text_of(document, "topology"), tp__text_of(document, "strategy"));
  if (!is_time)
    tp__string_printf(
        t,
        "Objective bytes: costs of plans and decisions are not times. A byte that a device sends "
        "costs %g us, and so do %lld operations of contractions or %lld others.\n",
        TP_BYTE_PS * 1e-6, byte_flops, byte_flops * TP_BYTE_SCALARS / TP_BYTE_FLOPS);
  tp__string_append(t, "\n");
  json_array_foreach(json_object_get(document, "functions"), i, row)
      print_function(t, row, is_time);
}

char *tp__report_print(const json_t *document) {
  tp__string t = {0};
  json_t *shown = shown_json(document);
  print_document(&t, shown);
  json_decref(shown);
  return tp__string_take(&t);
}
