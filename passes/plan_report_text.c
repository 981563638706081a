/* The report to read: the same document as Markdown. */
#include "passes/plan_report.h"

#include <jansson.h>
#include <stdio.h>
#include <string.h>

static const char *text_of(const json_t *object, const char *key) {
  const char *text = json_string_value(json_object_get(object, key));
  return text ? text : "";
}

static long long integer_of(const json_t *object, const char *key) {
  return (long long)json_integer_value(json_object_get(object, key));
}

typedef struct short_text {
  char chars[32];
} short_text;

/* In the unit in which it has a few digits before the point. */
static short_text seconds_text(double seconds, const char *format) {
  double size = seconds < 0 ? -seconds : seconds;
  const char *unit = size < 1e-3 ? "us" : size < 1 ? "ms" : "s";
  short_text text, number;
  snprintf(number.chars, sizeof number.chars, format, size < 1e-3 ? 1e6 * seconds : size < 1 ? 1e3 * seconds : seconds);
  snprintf(text.chars, sizeof text.chars, "%.26s %s", number.chars, unit);
  return text;
}

static short_text time_of(const json_t *object, const char *key) {
  return seconds_text(json_real_value(json_object_get(object, key)), "%.3f");
}

static void print_annotation(tp__string *t, const json_t *pin) {
  const char *place = text_of(pin, "place"), *name = text_of(pin, "name");
  tp__string_printf(t, "`tp.sharding = %s`", text_of(pin, "sharding"));
  if (json_is_string(json_object_get(pin, "factors")))
    tp__string_printf(t, " with `tp.factors = %s`", text_of(pin, "factors"));
  if (json_is_integer(json_object_get(pin, "number")))
    tp__string_printf(t, " on %s %lld", place, integer_of(pin, "number"));
  else
    tp__string_printf(t, " on %s", text_of(pin, "op"));
  if (*text_of(pin, "value"))
    tp__string_printf(t, " (%s%s%s)", text_of(pin, "value"), *name ? ", " : "", name);
  tp__string_printf(t, " at %s", text_of(pin, "location"));
}

/* Was no other plan looked for? */
static bool is_passed_over(const json_t *collective) {
  return strcmp(text_of(collective, "no_alternative"), tp__alternative_not_sought) == 0;
}

static void print_collective(tp__string *t, size_t number, const json_t *c) {
  const json_t *consumer = json_object_get(c, "consumer"), *other = json_object_get(c, "alternative"), *cause;
  size_t i;
  tp__string_printf(t, "%zu. **%s** over %s: %lld bytes, %s", number + 1, text_of(c, "kind"), text_of(c, "axes"),
                    integer_of(c, "bytes_per_device"), time_of(c, "modelled_seconds").chars);
  if (integer_of(c, "count") != 1)
    tp__string_printf(t, ", %lld times", integer_of(c, "count"));
  tp__string_printf(t, ", at %s\n   * ", text_of(c, "location"));
  if (json_is_string(json_object_get(c, "from")))
    tp__string_printf(t, "%s from `%s` to `%s`, for ", text_of(c, "value"), text_of(c, "from"), text_of(c, "to"));
  else
    tp__string_append(t, "inside ");
  tp__string_append(t, text_of(consumer, "op"));
  if (json_is_integer(json_object_get(consumer, "operand")))
    tp__string_printf(t, ", operand %lld", integer_of(consumer, "operand"));
  tp__string_append(t, "\n   * because ");
  json_array_foreach(json_object_get(c, "cause"), i, cause)
      tp__string_printf(t, "%s%s", i ? " -> " : "", json_string_value(cause));
  if (json_is_object(other)) {
    tp__string_printf(t, "\n   * next best: %s (%s in all) with ",
                      seconds_text(json_real_value(json_object_get(other, "extra_seconds")), "%+.3f").chars,
                      time_of(other, "cost_seconds").chars);
    print_annotation(t, json_object_get(other, "annotation"));
  } else if (!is_passed_over(c)) {
    tp__string_printf(t, "\n   * next best: %s", text_of(c, "no_alternative"));
  }
  tp__string_append(t, "\n");
}

static void print_traffic(tp__string *t, const json_t *list) {
  const json_t *row;
  size_t i;
  if (json_array_size(list) == 0)
    return;
  tp__string_append(t, "| collective | axes | count | bytes per device | time |\n|---|---|---|---|---|\n");
  json_array_foreach(list, i, row)
      tp__string_printf(t, "| %s | %s | %lld | %lld | %s |\n", text_of(row, "kind"), text_of(row, "axes"),
                        integer_of(row, "count"), integer_of(row, "bytes_per_device"), time_of(row, "modelled_seconds").chars);
  tp__string_append(t, "\n");
}

static void print_costly(tp__string *t, const json_t *f) {
  const json_t *c;
  size_t i;
  if (json_array_size(json_object_get(f, "costly_annotations")) == 0)
    return;
  tp__string_append(t, "Annotations that cost more than 1 %:\n\n");
  json_array_foreach(json_object_get(f, "costly_annotations"), i, c) {
    tp__string_append(t, "* ");
    print_annotation(t, json_object_get(c, "annotation"));
    tp__string_printf(t, ": without it the step takes %s less\n", time_of(c, "saves_seconds").chars);
  }
  tp__string_append(t, "\n");
}

static void print_memory(tp__string *t, const json_t *memory) {
  const json_t *v;
  size_t i;
  tp__string_printf(t, "A device holds at most %lld bytes, at %s at %s:\n\n| bytes | what | where |\n|---|---|---|\n",
                    integer_of(memory, "peak_bytes"), text_of(memory, "op"), text_of(memory, "location"));
  json_array_foreach(json_object_get(memory, "values"), i, v) {
    const char *name = text_of(v, "name"), *op = text_of(v, "op");
    tp__string_printf(t, "| %lld | %s%s%s%s%s%s | %s%s%s |\n", integer_of(v, "bytes"), text_of(v, "kind"),
                      *text_of(v, "value") ? " " : "", text_of(v, "value"), *name ? " (" : "", name, *name ? ")" : "", op,
                      *op ? " at " : "", text_of(v, "location"));
  }
  if (integer_of(memory, "other_bytes") > 0)
    tp__string_printf(t, "| %lld | others | |\n", integer_of(memory, "other_bytes"));
  tp__string_append(t, "\n");
}

static void print_decisions(tp__string *t, const json_t *list) {
  enum { MOST = 20 };
  const json_t *d;
  size_t i;
  if (json_array_size(list) == 0)
    return;
  tp__string_append(t, "What decisions are worth: to decide this one otherwise costs so much more, at least.\n\n| at least | "
                       "what | where |\n|---|---|---|\n");
  json_array_foreach(list, i, d) {
    bool is_op = strcmp(text_of(d, "kind"), "op") == 0;
    if (i >= MOST)
      break;
    tp__string_printf(t, "| %s | ", time_of(d, "worth_seconds").chars);
    if (is_op)
      tp__string_append(t, text_of(d, "op"));
    else
      tp__string_printf(t, "%s %lld", text_of(d, "kind"), integer_of(d, "number"));
    const char *value = text_of(d, "value"), *name = text_of(d, "name");
    tp__string_printf(t, "%s%s%s%s%s | %s |\n", *value ? " " : "", value, *name ? " (" : "", name, *name ? ")" : "",
                      text_of(d, "location"));
  }
  tp__string_append(t, "\n");
}

static void print_function(tp__string *t, const json_t *f) {
  const json_t *solution = json_object_get(f, "solution"), *step = json_object_get(f, "step"), *c;
  size_t i;
  tp__string_printf(t, "## %s\n\n", text_of(f, "function"));
  tp__string_printf(t, "A step takes %s: %s of compute, %s of collectives, %s of slices.\n", time_of(step, "seconds").chars,
                    time_of(step, "compute_seconds").chars, time_of(step, "collective_seconds").chars,
                    time_of(step, "local_seconds").chars);
  tp__string_printf(t, "%lld bytes are sent per device.\n", integer_of(f, "bytes_per_device"));
  tp__string_printf(t, "The plan costs %s, no plan costs less than %s (gap %.3g %%; %s, %lld decisions, %lld strategies).\n",
                    time_of(solution, "cost_seconds").chars, time_of(solution, "bound_seconds").chars,
                    100 * json_real_value(json_object_get(solution, "gap")), text_of(solution, "method"),
                    integer_of(solution, "decisions"), integer_of(solution, "strategies"));
  if (*text_of(solution, "stopped_by"))
    tp__string_append(t, "The time limit ended the search for it: another run may find another plan.\n");
  if (*text_of(f, "other_plans_stopped_by"))
    tp__string_append(t, "The time limit ended the search for other plans: another run may know more of them, or less.\n");
  tp__string_append(t, "\n");
  print_traffic(t, json_object_get(f, "traffic"));
  print_memory(t, json_object_get(f, "memory"));
  print_costly(t, f);
  bool passed_over = false;
  json_array_foreach(json_object_get(f, "collectives"), i, c) passed_over |= is_passed_over(c);
  if (passed_over)
    tp__string_append(t, "Where no next best plan is given, none was looked for (report-alternatives).\n\n");
  json_array_foreach(json_object_get(f, "collectives"), i, c) print_collective(t, i, c);
  tp__string_append(t, i ? "\n" : "");
  print_decisions(t, json_object_get(f, "decisions"));
}

char *tp__report_print(const json_t *document) {
  tp__string t = {0};
  const json_t *row;
  size_t i;
  tp__string_append(&t, "# Plan\n\nMesh ");
  json_array_foreach(json_object_get(document, "mesh"), i, row)
      tp__string_printf(&t, "%s%s=%lld", i ? "," : "", text_of(row, "axis"), integer_of(row, "size"));
  tp__string_printf(&t, ", topology %s, strategy %s.\n\n", text_of(document, "topology"), text_of(document, "strategy"));
  if (strcmp(text_of(document, "objective"), tp_objective_name(TP_OBJECTIVE_BYTES)) == 0)
    tp__string_printf(
        &t,
        "Objective bytes: what plans and decisions cost is no time. A byte that a device sends costs %g us, and so do %d "
        "operations of contractions or %d others.\n\n",
        TP_BYTE_PS * 1e-6, TP_BYTE_FLOPS, TP_BYTE_SCALARS);
  json_array_foreach(json_object_get(document, "functions"), i, row) print_function(&t, row);
  return tp__string_take(&t);
}
