/* Groups the collectives of equal layers for the human-readable report, and prints each group once
 * with its total. */
#include "passes/propagate/report/plan_report.h"
#include "passes/propagate/report/plan_text.h"

#include <ctype.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

typedef struct group {
  const json_t *first;
  const json_t *alternative; /* the cheapest alternative of its members, or NULL */
  const json_t *unmoved;     /* of that member */
  const char *missing;       /* why a member has none although it was searched for, or NULL */
  size_t at, n;              /* index of the first member in the list; number of members */
  int64_t bytes;
  int64_t ps;
  tp__string places; /* locations of the other members */
  const char *last;  /* the last of these */
} group;

/* ---- grouping ---- */

/* True if the texts differ only in numbers, such as values and lines of another layer. */
static bool alike_texts(const char *a, const char *b) {
  while (*a && *b) {
    if (isdigit((unsigned char)*a) && isdigit((unsigned char)*b)) {
      a += strspn(a, "0123456789");
      b += strspn(b, "0123456789");
    } else if (*a++ != *b++) {
      return false;
    }
  }
  return *a == *b;
}

static bool same(const json_t *a, const json_t *b, const char *key) {
  return json_equal(json_object_get(a, key), json_object_get(b, key));
}

/* True if both collectives belong to one group. Uses in func.return may have different operand
 * numbers, as those of equal layers have; uses in other ops may not. */
static bool are_alike(const json_t *a, const json_t *b) {
  static const char *const keys[] = {"kind", "axes", "tensor", "reduction", "count", "from", "to"};
  const json_t *user = json_object_get(a, "consumer"), *other_user = json_object_get(b, "consumer");
  const json_t *causes = json_object_get(a, "cause"), *others = json_object_get(b, "cause"), *cause;
  bool returned = strcmp(tp__text_of(user, "op"), "func.return") == 0;
  bool alike = same(user, other_user, "op") && same(user, other_user, "body") &&
               (returned || same(user, other_user, "operand")) &&
               json_array_size(causes) == json_array_size(others);
  size_t i;
  for (size_t k = 0; k < TP__COUNT(keys) && alike; k++)
    alike = same(a, b, keys[k]);
  json_array_foreach(causes, i, cause) alike =
      alike && alike_texts(json_string_value(cause), json_string_value(json_array_get(others, i)));
  return alike;
}

/* True if no other plan was searched for. */
static bool is_passed_over(const json_t *collective) {
  const char *missing = tp__text_of(collective, "no_alternative");
  return strcmp(missing, tp__alternative_not_sought) == 0 ||
         strcmp(missing, tp__alternative_of_equal) == 0;
}

/* "model.mlir:12, 20, 31, other.mlir:7" */
static void add_place(group *g, const char *at) {
  const char *line = strrchr(at, ':');
  size_t n = line ? (size_t)(line - at) + 1 : 0;
  bool same_file = n > 0 && g->last && strncmp(g->last, at, n) == 0;
  tp__string_printf(&g->places, "%s%s", g->last ? ", " : "", same_file ? line + 1 : at);
  g->last = at;
}

static void add(group *g, const json_t *c) {
  enum { MAX_PLACES = 12 };
  const json_t *other = json_object_get(c, "alternative");
  if (g->n > 0 && g->n <= MAX_PLACES)
    add_place(g, tp__text_of(c, "at"));
  else if (g->n == MAX_PLACES + 1)
    tp__string_append(&g->places, ", ...");
  if (json_is_object(other) &&
      (!g->alternative ||
       tp__seconds_of(other, "extra_seconds") < tp__seconds_of(g->alternative, "extra_seconds"))) {
    g->alternative = other;
    g->unmoved = json_object_get(c, "unmoved");
  }
  if (!g->missing && !json_is_object(other) && !is_passed_over(c))
    g->missing = tp__text_of(c, "no_alternative");
  g->n++;
  g->bytes += tp__integer_of(c, "bytes_per_device");
  g->ps += llround(1e12 * tp__seconds_of(c, "modelled_seconds"));
}

static size_t make_groups(const json_t *list, group *groups) {
  const json_t *c;
  size_t i, n = 0;
  json_array_foreach(list, i, c) {
    size_t k = 0;
    while (k < n && !are_alike(groups[k].first, c))
      k++;
    if (k == n)
      groups[n++] = (group){.first = c, .at = i};
    add(&groups[k], c);
  }
  return n;
}

/* The most expensive first. */
static int compare_groups(const void *a, const void *b) {
  const group *x = a, *y = b;
  return x->ps != y->ps ? (x->ps > y->ps ? -1 : 1) : x->at < y->at ? -1 : 1;
}

/* ---- texts ---- */

/* What another plan costs more: "costs as much", "1.2 us to 3.4 us more", "at most +3.4 us (+1.00
 * %)". */
static void print_price(tp__string *t, const json_t *other, double cost) {
  double extra = tp__seconds_of(other, "extra_seconds");
  double unproven = tp__seconds_of(other, "cost_seconds") - tp__seconds_of(other, "bound_seconds");
  double least = extra > unproven ? extra - unproven : 0;
  bool is_range = strcmp(tp__seconds_text(least).chars, tp__seconds_text(extra).chars) != 0;
  if (extra == 0)
    tp__string_append(t, "costs as much");
  else if (extra > 0 && is_range)
    tp__string_printf(t, "%s to %s more", tp__seconds_text(least).chars,
                      tp__seconds_text(extra).chars);
  else
    tp__string_printf(t, "%s%s%s (%+.2f %%)",
                      json_is_true(json_object_get(other, "exact")) ? "" : "at most ",
                      extra > 0 ? "+" : "", tp__seconds_text(extra).chars, 100 * extra / cost);
}

static void print_alternative(tp__string *t, const json_t *other, double cost) {
  const json_t *pin = json_object_get(other, "annotation");
  const char *factors = tp__text_of(pin, "factors"), *now = tp__text_of(other, "instead_of");
  print_price(t, other, cost);
  tp__string_append(t, ": ");
  tp__print_place(t, pin);
  tp__string_printf(t, " with `tp.sharding = %s`", tp__text_of(pin, "sharding"));
  if (*factors)
    tp__string_printf(t, " and `tp.factors = %s`", factors);
  if (*now && strcmp(now, tp__text_of(pin, "sharding")) != 0)
    tp__string_printf(t, " instead of `%s`", now);
}

static void print_change(tp__string *t, const json_t *c) {
  const json_t *consumer = json_object_get(c, "consumer");
  if (json_is_string(json_object_get(c, "from"))) {
    tp__string_append(t, "takes ");
    if (*tp__text_of(c, "value"))
      tp__print_value(t, c);
    else
      tp__string_append(t, "a value made in place");
    tp__string_printf(t, " from `%s` to `%s` for ", tp__text_of(c, "from"), tp__text_of(c, "to"));
  } else {
    tp__string_append(t, "inside ");
  }
  tp__print_place(t, consumer);
  if (json_is_integer(json_object_get(consumer, "operand")))
    tp__string_printf(t, ", operand %lld", (long long)tp__integer_of(consumer, "operand"));
  tp__string_append(t, "\n");
}

static void print_group(tp__string *t, size_t number, const group *g, const json_t *f) {
  const json_t *c = g->first, *cause, *step = json_object_get(f, "step");
  double all = tp__seconds_of(step, "seconds"),
         cost = tp__seconds_of(json_object_get(f, "solution"), "cost_seconds");
  double seconds = 1e-12 * (double)g->ps;
  size_t i;
  tp__string_printf(t, "%zu. **%s** over %s", number, tp__text_of(c, "kind"),
                    tp__text_of(c, "axes"));
  if (g->n > 1)
    tp__string_printf(t, " x%zu", g->n);
  tp__string_printf(t, ": %s, %s (%.1f %%)", tp__bytes_text(g->bytes).chars,
                    tp__seconds_text(seconds).chars, all > 0 ? 100 * seconds / all : 0);
  bool is_known = json_is_true(json_object_get(c, "count_is_known"));
  if (tp__integer_of(c, "count") != 1)
    tp__string_printf(t, ", %lld runs%s", (long long)tp__integer_of(c, "count"),
                      is_known ? "" : " (assumed)");
  else if (!is_known)
    tp__string_append(t, ", if it runs");
  tp__string_append(t, "\n   * ");
  print_change(t, c);
  tp__string_append(t, "   * because\n");
  json_array_foreach(json_object_get(c, "cause"), i, cause)
      tp__string_printf(t, "     %zu. %s\n", i + 1, json_string_value(cause));
  if (g->n > 1)
    tp__string_printf(t, "   * alike, each %s and %s: %s\n",
                      tp__bytes_text(tp__integer_of(c, "bytes_per_device")).chars,
                      tp__seconds_text(tp__seconds_of(c, "modelled_seconds")).chars,
                      tp__string_text(&g->places));
  if (!g->alternative && !g->missing)
    return;
  tp__string_append(t, "   * next best: ");
  if (g->alternative)
    print_alternative(t, g->alternative, cost);
  else
    tp__string_append(t, g->missing);
  tp__string_append(t, "\n");
  if (json_is_object(g->unmoved)) {
    tp__string_append(t, "   * without it, all uses take the value as it is: ");
    print_price(t, g->unmoved, cost);
    tp__string_append(t, "\n");
  }
}

void tp__print_collectives(tp__string *t, const json_t *f) {
  const json_t *list = json_object_get(f, "collectives");
  group *groups = tp__calloc(json_array_size(list) + 1, sizeof *groups);
  size_t n = groups ? make_groups(list, groups) : 0;
  bool passed_over = false;
  t->failed |= !groups;
  if (n > 0)
    qsort(groups, n, sizeof *groups, compare_groups);
  if (n > 0)
    tp__string_append(t, "### Collectives, the most expensive first\n\n");
  for (size_t i = 0; i < n; i++)
    passed_over |= !groups[i].alternative && !groups[i].missing;
  if (passed_over)
    tp__string_append(
        t, "Where no next best plan is given, none was looked for (report-alternatives).\n\n");
  for (size_t i = 0; i < n; i++) {
    print_group(t, i + 1, &groups[i], f);
    tp__string_destroy(&groups[i].places);
  }
  tp__string_append(t, n > 0 ? "\n" : "");
  tp__free(groups);
}
