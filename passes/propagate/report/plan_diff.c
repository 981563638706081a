/* What differs between a plan and an older one, from the documents of both. */
#include "passes/propagate/report/plan_diff.h"

#include "passes/propagate/report/plan_text.h"

#include <stdlib.h>
#include <string.h>

enum { MAX_VALUES = 200, MAX_OPS = 50, MAX_PRINTED = 10 };

static const json_t *function_of(const json_t *document, const char *name) {
  const json_t *function;
  size_t i;
  json_array_foreach(json_object_get(document, "functions"), i,
                     function) if (strcmp(tp__text_of(function, "function"), name) ==
                                   0) return function;
  return NULL;
}

/* ---- arguments and results ---- */

static void add_tensors(json_t *list, const char *kind, const json_t *before, const json_t *now) {
  const json_t *tensor;
  size_t i;
  json_array_foreach(now, i, tensor) {
    const json_t *old = json_array_get(before, i);
    if (!old || strcmp(tp__text_of(old, "sharding"), tp__text_of(tensor, "sharding")) == 0)
      continue;
    json_array_append_new(list, json_pack("{s:s, s:I, s:O, s:O, s:O}", "kind", kind, "number",
                                          (json_int_t)i, "name", json_object_get(tensor, "name"),
                                          "before", json_object_get(old, "sharding"), "now",
                                          json_object_get(tensor, "sharding")));
  }
}

/* ---- collectives ---- */

static const json_t *traffic_like(const json_t *list, const json_t *wanted) {
  const json_t *t;
  size_t i;
  json_array_foreach(
      list, i,
      t) if (json_equal(json_object_get(t, "kind"), json_object_get(wanted, "kind")) &&
             json_equal(json_object_get(t, "axes"), json_object_get(wanted, "axes"))) return t;
  return NULL;
}

/* Compares what the two plans send by one kind of collective over one group of axes. `before` or
 * `now` is NULL if that plan does not have it. */
static json_t *traffic_json(const json_t *before, const json_t *now) {
  const json_t *any = now ? now : before;
  return json_pack("{s:O, s:O, s:I, s:I, s:I, s:I, s:f, s:f}", "kind", json_object_get(any, "kind"),
                   "axes", json_object_get(any, "axes"), "count_before",
                   (json_int_t)tp__integer_of(before, "count"), "count",
                   (json_int_t)tp__integer_of(now, "count"), "bytes_before",
                   (json_int_t)tp__integer_of(before, "bytes_per_device"), "bytes_per_device",
                   (json_int_t)tp__integer_of(now, "bytes_per_device"), "seconds_before",
                   tp__seconds_of(before, "modelled_seconds"), "modelled_seconds",
                   tp__seconds_of(now, "modelled_seconds"));
}

/* True if both plans send as much as often. Equal sums in another order differ in the last bits. */
static bool same_traffic(const json_t *a, const json_t *b) {
  double x = tp__seconds_of(a, "modelled_seconds"), y = tp__seconds_of(b, "modelled_seconds");
  return json_equal(json_object_get(a, "count"), json_object_get(b, "count")) &&
         json_equal(json_object_get(a, "bytes_per_device"),
                    json_object_get(b, "bytes_per_device")) &&
         (x > y ? x - y : y - x) <= 1e-9 * x;
}

static json_t *all_traffic(const json_t *before, const json_t *now) {
  json_t *list = json_array();
  const json_t *t;
  size_t i;
  json_array_foreach(now, i, t) {
    const json_t *old = traffic_like(before, t);
    if (!old || !same_traffic(old, t))
      json_array_append_new(list, traffic_json(old, t));
  }
  json_array_foreach(before, i, t) if (!traffic_like(now, t))
      json_array_append_new(list, traffic_json(t, NULL));
  return list;
}

/* ---- what moves ---- */

/* A description with '*' for numbers, "gradient of l*_wq": what moves in equal layers. */
static json_t *without_numbers(const char *description) {
  tp__string text = {0};
  tp__string_append_without_numbers(&text, description, '*');
  json_t *json = json_string(tp__string_text(&text));
  tp__string_destroy(&text);
  return json;
}

/* The entry of a kind of collective, axes and what moves; it is added if there is none. `like` is
 * that without numbers. */
static json_t *move_of(json_t *moves, const json_t *collective, json_t *like) {
  static const char *const keys[] = {"kind", "axes"};
  json_t *move;
  size_t i;
  json_array_foreach(moves, i, move) {
    bool same = json_equal(json_object_get(move, "like"), like);
    for (size_t k = 0; k < TP__COUNT(keys); k++)
      same &= json_equal(json_object_get(move, keys[k]), json_object_get(collective, keys[k]));
    if (same)
      return move;
  }
  move = json_pack("{s:O, s:O, s:O, s:O, s:i, s:i, s:i, s:i}", "kind",
                   json_object_get(collective, "kind"), "axes", json_object_get(collective, "axes"),
                   "of", json_object_get(collective, "description"), "like", like, "count_before",
                   0, "count", 0, "bytes_before", 0, "bytes_per_device", 0);
  json_array_append_new(moves, move);
  return move;
}

/* Adds what a collective counts and sends, as what it was before or is now. */
static void add_move(json_t *moves, const json_t *collective, const char *count,
                     const char *bytes) {
  const char *const sums[][2] = {{count, "count"}, {bytes, "bytes_per_device"}};
  json_t *like = without_numbers(tp__text_of(collective, "description"));
  json_t *move = move_of(moves, collective, like);
  if (!json_equal(json_object_get(move, "of"), json_object_get(collective, "description")))
    json_object_set(move, "of", like);
  for (size_t k = 0; k < TP__COUNT(sums); k++)
    json_object_set_new(move, sums[k][0],
                        json_integer((json_int_t)(tp__integer_of(move, sums[k][0]) +
                                                  tp__integer_of(collective, sums[k][1]))));
  json_decref(like);
}

/* What one plan moves more often than the other, by kind of collective, axes and what moves. */
static json_t *all_moves(const json_t *before, const json_t *now) {
  json_t *moves = json_array(), *changed = json_array(), *m;
  const json_t *collective;
  size_t i;
  json_array_foreach(now, i, collective) add_move(moves, collective, "count", "bytes_per_device");
  json_array_foreach(before, i, collective)
      add_move(moves, collective, "count_before", "bytes_before");
  json_array_foreach(moves, i, m) {
    json_object_del(m, "like");
    if (tp__integer_of(m, "count") != tp__integer_of(m, "count_before"))
      json_array_append(changed, m);
  }
  json_decref(moves);
  return changed;
}

/* ---- values ---- */

static const json_t *entry(const json_t *graph, const char *list, const char *table, size_t k) {
  const json_t *index = json_array_get(json_object_get(graph, list), k);
  return json_array_get(json_object_get(graph, table), (size_t)json_integer_value(index));
}

/* The layouts of the values that have names, by name. */
static json_t *layouts_of(const json_t *graph) {
  json_t *layouts = json_object();
  size_t n = json_array_size(json_object_get(graph, "kind"));
  for (size_t k = 0; k < n; k++) {
    const char *name = json_string_value(entry(graph, "value", "texts", k));
    if (name && *name)
      json_object_set(layouts, name, json_object_get(entry(graph, "kind", "kinds", k), "layout"));
  }
  return layouts;
}

static int64_t add_values(json_t *list, const json_t *before, const json_t *now) {
  json_t *layouts = layouts_of(before);
  size_t n = json_array_size(json_object_get(now, "kind"));
  int64_t left_out = 0;
  for (size_t k = 0; k < n; k++) {
    const json_t *kind = entry(now, "kind", "kinds", k);
    const char *name = json_string_value(entry(now, "value", "texts", k));
    const json_t *old = json_object_get(layouts, name ? name : ""),
                 *layout = json_object_get(kind, "layout");
    if (!old || json_equal(old, layout) || json_is_true(json_object_get(kind, "filler")))
      continue;
    if (json_array_size(list) == MAX_VALUES)
      left_out++;
    else
      json_array_append_new(
          list, json_pack("{s:s, s:O, s:O, s:O, s:O, s:O, s:O}", "value", name, "description",
                          entry(now, "description", "texts", k), "op", json_object_get(kind, "op"),
                          "body", json_object_get(kind, "body"), "at", entry(now, "at", "texts", k),
                          "before", old, "now", layout));
  }
  json_decref(layouts);
  return left_out;
}

/* ---- ops ---- */

/* The entry of a kind of op and of what it makes; it is added if there is none. */
static json_t *op_of(json_t *ops, const json_t *kind, const char *description) {
  json_t *like = without_numbers(description);
  tp__string key = {0};
  tp__string_printf(&key, "%s %s %s", tp__text_of(kind, "op"), tp__text_of(kind, "body"),
                    json_string_value(like));
  json_t *op = json_object_get(ops, tp__string_text(&key));
  if (!op) {
    op = json_pack("{s:O, s:O, s:s, s:i, s:i, s:f, s:f}", "op", json_object_get(kind, "op"), "body",
                   json_object_get(kind, "body"), "of", description, "count_before", 0, "count", 0,
                   "seconds_before", 0.0, "modelled_seconds", 0.0);
    json_object_set_new(ops, tp__string_text(&key), op);
  }
  if (strcmp(tp__text_of(op, "of"), description) != 0)
    json_object_set(op, "of", like);
  tp__string_destroy(&key);
  json_decref(like);
  return op;
}

/* Adds what the ops of a plan count and take. Collectives are left out, since what moves is listed
 * by itself, and so are ops that only say what a value starts with. */
static tp_status add_ops(json_t *ops, const json_t *graph, const char *count, const char *seconds) {
  size_t n = json_array_size(json_object_get(graph, "kind")), i;
  bool *moves = tp__calloc(n + 1, sizeof *moves);
  const json_t *place;
  if (!moves)
    return TP_NO_MEMORY;
  json_array_foreach(json_object_get(graph, "collectives"), i, place) {
    json_int_t k = json_integer_value(place);
    if (k >= 0 && k < (json_int_t)n) /* the older report may be anything */
      moves[k] = true;
  }
  for (size_t k = 0; k < n; k++) {
    const json_t *kind = entry(graph, "kind", "kinds", k);
    if (moves[k] || json_is_true(json_object_get(kind, "filler")))
      continue;
    json_t *op = op_of(ops, kind, json_string_value(entry(graph, "description", "texts", k)));
    json_object_set_new(op, count, json_integer((json_int_t)(tp__integer_of(op, count) + 1)));
    json_object_set_new(
        op, seconds,
        json_real(tp__seconds_of(op, seconds) + tp__seconds_of(kind, "modelled_seconds")));
  }
  tp__free(moves);
  return TP_OK;
}

static double gain_of(const json_t *op) {
  double more = tp__seconds_of(op, "modelled_seconds") - tp__seconds_of(op, "seconds_before");
  return more < 0 ? -more : more;
}

static int by_gain(const void *a, const void *b) {
  double x = gain_of(*(json_t *const *)a), y = gain_of(*(json_t *const *)b);
  return x == y ? 0 : x > y ? -1 : 1;
}

/* The kinds of ops that one plan has more of, or on which it spends more time, the largest
 * difference of time first. */
static json_t *all_ops(const json_t *before, const json_t *now, int64_t *left_out) {
  json_t *ops = json_object(), *list = json_array(), *op;
  const char *key;
  size_t n = 0;
  json_t **changed = add_ops(ops, now, "count", "modelled_seconds") == TP_OK &&
                             add_ops(ops, before, "count_before", "seconds_before") == TP_OK
                         ? tp__calloc(json_object_size(ops) + 1, sizeof(json_t *))
                         : NULL;
  json_object_foreach(ops, key,
                      op) if (changed &&
                              (tp__integer_of(op, "count") != tp__integer_of(op, "count_before") ||
                               gain_of(op) > 1e-9 * tp__seconds_of(op, "modelled_seconds")))
      changed[n++] = op;
  if (n > 0)
    qsort(changed, n, sizeof(json_t *), by_gain);
  *left_out = n > MAX_OPS ? (int64_t)n - MAX_OPS : 0;
  for (size_t i = 0; i < n && i < MAX_OPS; i++)
    json_array_append(list, changed[i]);
  tp__free(changed);
  json_decref(ops);
  return list;
}

/* ---- the difference ---- */

static double step_of(const json_t *function, const char *part) {
  return tp__seconds_of(json_object_get(function, "step"), part);
}

static int64_t peak_of(const json_t *function) {
  return tp__integer_of(json_object_get(function, "memory"), "peak_bytes");
}

json_t *tp__report_difference(const json_t *before, const json_t *function) {
  const json_t *old = function_of(before, tp__text_of(function, "function"));
  return old ? tp__report_difference_of(old, function) : json_null();
}

json_t *tp__report_difference_of(const json_t *old, const json_t *function) {
  json_t *tensors = json_array(), *values = json_array();
  add_tensors(tensors, "argument", json_object_get(old, "arguments"),
              json_object_get(function, "arguments"));
  add_tensors(tensors, "result", json_object_get(old, "results"),
              json_object_get(function, "results"));
  const json_t *was = json_object_get(old, "graph"), *graph = json_object_get(function, "graph");
  int64_t others = add_values(values, was, graph), other_ops;
  json_t *ops = all_ops(was, graph, &other_ops);
  return json_pack(
      "{s:f, s:f, s:f, s:f, s:f, s:f, s:I, s:I, s:I, s:I, s:o, s:o, s:o, s:o, s:I, s:o, s:I}",
      "seconds_before", step_of(old, "seconds"), "seconds", step_of(function, "seconds"),
      "compute_before", step_of(old, "compute_seconds"), "compute_seconds",
      step_of(function, "compute_seconds"), "local_before", step_of(old, "local_seconds"),
      "local_seconds", step_of(function, "local_seconds"), "peak_before", (json_int_t)peak_of(old),
      "peak_bytes", (json_int_t)peak_of(function), "bytes_before",
      (json_int_t)tp__integer_of(old, "bytes_per_device"), "bytes_per_device",
      (json_int_t)tp__integer_of(function, "bytes_per_device"), "tensors", tensors, "traffic",
      all_traffic(json_object_get(old, "traffic"), json_object_get(function, "traffic")), "moves",
      all_moves(json_object_get(old, "collectives"), json_object_get(function, "collectives")),
      "values", values, "other_values", (json_int_t)others, "ops", ops, "other_ops",
      (json_int_t)other_ops);
}

/* ---- as text ---- */

/* "3.100 ms less", "as long" */
static void print_seconds(tp__string *t, double before, double now) {
  if (before == now)
    tp__string_append(t, "as long");
  else
    tp__string_printf(t, "%s %s",
                      tp__seconds_text(now > before ? now - before : before - now).chars,
                      now > before ? "more" : "less");
}

static void print_bytes(tp__string *t, const char *what, int64_t before, int64_t now) {
  if (before != now)
    tp__string_printf(t, "; %s %s %s", what,
                      tp__bytes_text(now > before ? now - before : before - now).chars,
                      now > before ? "more" : "less");
}

/* "as many (4), ", "2 more, " */
static void print_count(tp__string *t, int64_t before, int64_t now) {
  if (before == now)
    tp__string_printf(t, "as many (%lld), ", (long long)now);
  else
    tp__string_printf(t, "%lld %s, ", (long long)(now > before ? now - before : before - now),
                      now > before ? "more" : "less");
}

static void print_traffic(tp__string *t, const json_t *traffic) {
  tp__string_printf(t, "\n* %s over %s: ", tp__text_of(traffic, "kind"),
                    tp__text_of(traffic, "axes"));
  print_count(t, tp__integer_of(traffic, "count_before"), tp__integer_of(traffic, "count"));
  print_seconds(t, tp__seconds_of(traffic, "seconds_before"),
                tp__seconds_of(traffic, "modelled_seconds"));
  print_bytes(t, "sends", tp__integer_of(traffic, "bytes_before"),
              tp__integer_of(traffic, "bytes_per_device"));
}

static void print_ops(tp__string *t, const json_t *list) {
  const json_t *op;
  size_t i;
  json_array_foreach(list, i, op) {
    const char *of = tp__text_of(op, "of");
    if (i == MAX_PRINTED)
      break;
    tp__string_printf(t, "\n* %s (%s): ", *of ? of : "values without a name",
                      tp__text_of(op, "op"));
    print_count(t, tp__integer_of(op, "count_before"), tp__integer_of(op, "count"));
    print_seconds(t, tp__seconds_of(op, "seconds_before"), tp__seconds_of(op, "modelled_seconds"));
  }
  if (json_array_size(list) > i)
    tp__string_printf(t, "\n* and %zu more kinds of ops", json_array_size(list) - i);
}

static void print_layouts(tp__string *t, const json_t *list, int64_t others) {
  const json_t *change;
  size_t i;
  json_array_foreach(list, i, change) {
    if (i == MAX_PRINTED)
      break;
    tp__string_append(t, "\n* ");
    tp__print_place(t, change);
    const char *name = tp__text_of(change, "name");
    tp__string_printf(t, "%s%s%s: `%s` -> `%s`", *name ? " (" : "", name, *name ? ")" : "",
                      tp__text_of(change, "before"), tp__text_of(change, "now"));
  }
  others += (int64_t)json_array_size(list) - (int64_t)i;
  if (others > 0)
    tp__string_printf(t, "\n* and %lld more", (long long)others);
}

void tp__print_difference(tp__string *t, const json_t *function) {
  const json_t *against = json_object_get(function, "against"), *traffic, *list;
  size_t i;
  if (!json_is_object(against))
    return;
  double before = tp__seconds_of(against, "seconds_before"),
         now = tp__seconds_of(against, "seconds");
  tp__string_append(t, "a step takes ");
  print_seconds(t, before, now);
  tp__string_printf(t, " (%s -> %s)", tp__seconds_text(before).chars, tp__seconds_text(now).chars);
  print_bytes(t, "a device sends", tp__integer_of(against, "bytes_before"),
              tp__integer_of(against, "bytes_per_device"));
  print_bytes(t, "it holds", tp__integer_of(against, "peak_before"),
              tp__integer_of(against, "peak_bytes"));
  list = json_object_get(against, "traffic");
  json_array_foreach(list, i, traffic) print_traffic(t, traffic);
  print_ops(t, json_object_get(against, "ops"));
  print_layouts(t, json_object_get(against, "tensors"), 0);
  print_layouts(t, json_object_get(against, "values"), tp__integer_of(against, "other_values"));
}

/* ---- in a line ---- */

/* "whole", "split over tp", with `places` "dimension 1 over tp"; as it is written if it has partial
 * sums. */
static void print_layout(tp__string *t, const char *layout, bool places) {
  json_t *dims = json_loads(layout, 0, NULL), *axes, *axis;
  size_t d, i, n = 0;
  if (!json_is_array(dims)) {
    tp__string_append(t, layout);
    json_decref(dims);
    return;
  }
  json_array_foreach(dims, d, axes) {
    if (json_array_size(axes) > 0 && (n == 0 || places))
      tp__string_printf(t, n == 0 && !places ? "split over " : "%sdimension %zu over ",
                        n > 0 ? ", " : "", d);
    else if (json_array_size(axes) > 0)
      tp__string_append(t, ",");
    json_array_foreach(axes, i, axis)
        tp__string_printf(t, "%s%s", i ? "," : "", json_string_value(axis));
    n += json_array_size(axes);
  }
  if (n == 0)
    tp__string_append(t, "whole");
  json_decref(dims);
}

static bool same_change(const json_t *a, const json_t *b) {
  return strcmp(tp__text_of(a, "before"), tp__text_of(b, "before")) == 0 &&
         strcmp(tp__text_of(a, "now"), tp__text_of(b, "now")) == 0;
}

/* "wq, wk and 30 more: whole -> split over tp": all tensors that change as number `first` does. */
static void print_tensors(tp__string *t, const json_t *tensors, size_t first) {
  enum { MAX_NAMED = 2 };
  const json_t *change = json_array_get(tensors, first), *other;
  tp__string before = {0}, now = {0};
  size_t i, n = 0;
  json_array_foreach(tensors, i, other) {
    const char *name = tp__text_of(other, "name");
    if (!same_change(change, other) || n++ >= MAX_NAMED)
      continue;
    tp__string_append(t, n > 1 ? ", " : "");
    if (*name)
      tp__string_append(t, name);
    else
      tp__string_printf(t, "%s %lld", tp__text_of(other, "kind"),
                        (long long)tp__integer_of(other, "number"));
  }
  if (n > MAX_NAMED)
    tp__string_printf(t, " and %zu more", n - MAX_NAMED);
  for (int places = 0; places < 2; places++) {
    tp__string_clear(&before);
    tp__string_clear(&now);
    print_layout(&before, tp__text_of(change, "before"), places);
    print_layout(&now, tp__text_of(change, "now"), places);
    if (strcmp(tp__string_text(&before), tp__string_text(&now)) != 0)
      break;
  }
  tp__string_printf(t, ": %s -> %s", tp__string_text(&before), tp__string_text(&now));
  tp__string_destroy(&before);
  tp__string_destroy(&now);
}

/* "wq / wo / 3 others": what the collectives move that one plan has more of, or less. Returns how
 * many of these there are. */
static int64_t print_moved(tp__string *t, const json_t *moves, const json_t *traffic, int sign) {
  enum { MAX_NAMED = 3 };
  const json_t *m;
  size_t i, n = 0;
  int64_t moved = 0;
  json_array_foreach(moves, i, m) {
    int64_t more = sign * (tp__integer_of(m, "count") - tp__integer_of(m, "count_before"));
    const char *of = tp__text_of(m, "of");
    if (more <= 0 || !json_equal(json_object_get(m, "kind"), json_object_get(traffic, "kind")) ||
        !json_equal(json_object_get(m, "axes"), json_object_get(traffic, "axes")))
      continue;
    moved += more;
    if (n++ < MAX_NAMED)
      tp__string_printf(t, "%s%s", n == 1 ? "" : " / ", *of ? of : "a value without a name");
  }
  if (n > MAX_NAMED)
    tp__string_printf(t, " / %zu other%s", n - MAX_NAMED, n == MAX_NAMED + 1 ? "" : "s");
  return moved;
}

/* "2 all_gathers over tp more (wq / wo)"; what makes up for some of them is named, too: "1
 * all_gather over tp more (2 more: wq / wo; 1 less: gate)". */
static void print_kind(tp__string *t, const json_t *moves, const json_t *traffic, int64_t more) {
  tp__string gained = {0}, lost = {0};
  int64_t n = more < 0 ? -more : more, n_gained = print_moved(&gained, moves, traffic, 1),
          n_lost = print_moved(&lost, moves, traffic, -1);
  tp__string_printf(t, "%lld %s%s over %s %s", (long long)n, tp__text_of(traffic, "kind"),
                    n == 1 ? "" : "s", tp__text_of(traffic, "axes"), more < 0 ? "less" : "more");
  if (n_gained > 0 && n_lost > 0)
    tp__string_printf(t, " (%lld more: %s; %lld less: %s)", (long long)n_gained,
                      tp__string_text(&gained), (long long)n_lost, tp__string_text(&lost));
  else if (n_gained + n_lost > 0)
    tp__string_printf(t, " (%s)", tp__string_text(n_gained > 0 ? &gained : &lost));
  tp__string_destroy(&gained);
  tp__string_destroy(&lost);
}

/* True if an earlier tensor changes in the same way. */
static bool is_listed(const json_t *tensors, size_t number) {
  bool found = false;
  for (size_t i = 0; i < number; i++)
    found |= same_change(json_array_get(tensors, i), json_array_get(tensors, number));
  return found;
}

void tp__print_changes(void *text, const json_t *difference) {
  enum { MAX_CHANGES = 3, MAX_KINDS = 4 };
  tp__string *t = text;
  const json_t *tensors = json_object_get(difference, "tensors"), *traffic;
  const char *between = "";
  size_t i, listed = 0;
  for (i = 0; i < json_array_size(tensors); i++) {
    if (is_listed(tensors, i))
      continue;
    if (listed++ < MAX_CHANGES) {
      tp__string_append(t, between);
      print_tensors(t, tensors, i);
    }
    between = "; ";
  }
  if (listed > MAX_CHANGES)
    tp__string_printf(t, "; %zu more change%s of layout", listed - MAX_CHANGES,
                      listed == MAX_CHANGES + 1 ? "" : "s");
  if (listed == 0 && json_array_size(json_object_get(difference, "traffic")) > 0) {
    tp__string_append(t, "arguments and results as they are");
    between = "; ";
  }
  listed = 0;
  json_array_foreach(json_object_get(difference, "traffic"), i, traffic) {
    int64_t more = tp__integer_of(traffic, "count") - tp__integer_of(traffic, "count_before");
    if (more == 0 || listed++ >= MAX_KINDS)
      continue;
    tp__string_append(t, between);
    print_kind(t, json_object_get(difference, "moves"), traffic, more);
    between = ", ";
  }
  if (listed > MAX_KINDS)
    tp__string_append(t, ", and other collectives");
}
