/* Model Explorer places all nodes of a namespace at once, in a time that grows faster than their
 * number; with 1,300 it seems to hang. Where no layers are found, long lists of ops are therefore
 * cut into parts where few values are alive, and each part is a namespace. */
#include "passes/propagate/report/plan_namespaces.h"

#include "passes/propagate/report/plan_text.h"

/* ops of a part; the last one of a list may have fewer */
enum { LEAST = 40, MOST = 80 };

typedef struct place {
  int parent; /* the op that it is nested in; -1: the function */
  /* which run of equal layers it is in, and which layer of that run; 0: none */
  int layer, section;
  int alive; /* values that are made up to it and read behind it */
  /* A list has the ops of one region and layer that follow each other. */
  int list;        /* the first op of its list */
  int length;      /* of the list that begins with it */
  int next;        /* the op behind it in the list; -1: none */
  int first, last; /* ops of its part; last is 0 if the list is not cut */
} place;

static void look_up_parents(const json_t *graph, size_t n, place *places) {
  const json_t *pair;
  size_t i;
  for (size_t k = 0; k < n; k++)
    places[k].parent = places[k].next = -1;
  json_array_foreach(json_object_get(graph, "nested"), i, pair) {
    int64_t k = json_integer_value(json_array_get(pair, 0));
    places[k].parent = (int)json_integer_value(json_array_get(pair, 1));
  }
}

static void look_up_layers(const json_t *graph, place *places) {
  const json_t *run;
  size_t i;
  json_array_foreach(json_object_get(graph, "layers"), i, run) {
    const json_t *first = json_object_get(run, "first");
    size_t n = json_array_size(first), section = 0;
    int64_t k = json_integer_value(json_array_get(first, 0)), last = tp__integer_of(run, "last");
    for (; k <= last; k++) {
      while (section < n && k >= json_integer_value(json_array_get(first, section)))
        section++;
      places[k].layer = (int)i + 1;
      places[k].section = (int)section;
    }
  }
}

/* A value is alive from its op to the last one that reads it. Those of arguments always are. */
static bool count_alive(const json_t *graph, size_t n, place *places) {
  const json_t *makers, *maker;
  size_t k, i;
  int *last_reader = tp__calloc(n + 1, sizeof *last_reader), alive = 0;
  if (!last_reader)
    return false;
  json_array_foreach(json_object_get(graph, "operands"), k, makers)
      json_array_foreach(makers, i, maker) if (json_integer_value(maker) >= 0)
          last_reader[json_integer_value(maker)] = (int)k;
  for (k = 0; k < n; k++) {
    if (last_reader[k] > (int)k) {
      places[k].alive++;
      places[last_reader[k]].alive--;
    }
    alive += places[k].alive;
    places[k].alive = alive;
  }
  tp__free(last_reader);
  return true;
}

static bool find_lists(size_t n, place *places) {
  int *newest = tp__calloc(n + 1, sizeof *newest); /* by parent, from -1 on: its newest op + 1 */
  if (!newest)
    return false;
  for (size_t k = 0; k < n; k++) {
    place *own = places + k, *before = places + newest[own->parent + 1] - 1;
    bool goes_on = newest[own->parent + 1] > 0 && before->layer == own->layer &&
                   before->section == own->section;
    newest[own->parent + 1] = (int)k + 1;
    own->list = goes_on ? before->list : (int)k;
    places[own->list].length++;
    if (goes_on)
      before->next = (int)k;
  }
  tp__free(newest);
  return true;
}

/* The number of ops of the part that begins with `first`, of `left` that are not in parts. */
static int length_of_part(const place *places, int first, int left) {
  int best = 0, fewest = 0, length = 1;
  for (int k = first; length <= MOST && length <= left; length++, k = places[k].next) {
    int alive = places[k].next < 0 ? 0 : places[places[k].next - 1].alive; /* behind its regions */
    bool may_end = (length >= LEAST && left - length >= LEAST) || length == left;
    if (!may_end || (best && alive > fewest))
      continue;
    best = length;
    fewest = alive;
  }
  return best;
}

static void cut_list(place *places, int list) {
  int first = list;
  for (int left = places[list].length, length; left > 0; left -= length) {
    int k = first, last = first;
    length = length_of_part(places, first, left);
    for (int i = 1; i < length; i++)
      last = places[last].next;
    for (int i = 0; i < length; i++, k = places[k].next) {
      places[k].first = first;
      places[k].last = last;
    }
    first = k;
  }
}

/* ---- texts ---- */

static void print_step(tp__string *text, const char *what, int number, int last) {
  tp__string_printf(text, "%s%s %d", *tp__string_text(text) ? "/" : "", what, number);
  if (last)
    tp__string_printf(text, "-%d", last);
}

static const char *op_name(const json_t *graph, int k) {
  const json_t *kind = json_array_get(json_object_get(graph, "kind"), (size_t)k);
  return tp__text_of(
      json_array_get(json_object_get(graph, "kinds"), (size_t)json_integer_value(kind)), "op");
}

static char *name_of(const json_t *graph, const place *places, int k) {
  tp__string text = {0};
  int around[64], n = 0;
  if (places[k].layer) {
    const json_t *run =
        json_array_get(json_object_get(graph, "layers"), (size_t)places[k].layer - 1);
    tp__string_printf(&text, "layers %d x %zu/layer %04d", places[k].layer,
                      json_array_size(json_object_get(run, "first")), places[k].section - 1);
  }
  for (int p = places[k].parent; p >= 0 && n < (int)TP__COUNT(around); p = places[p].parent)
    around[n++] = p;
  while (n-- > 0) {
    const place *outer = places + around[n];
    if (outer->last)
      print_step(&text, "ops", outer->first, outer->last);
    print_step(&text, op_name(graph, around[n]), around[n], 0);
  }
  if (places[k].last)
    print_step(&text, "ops", places[k].first, places[k].last);
  return tp__string_take(&text);
}

char **tp__namespaces(const json_t *graph) {
  size_t n = json_array_size(json_object_get(graph, "kind"));
  place *places = tp__calloc(n + 1, sizeof *places);
  char **names = tp__calloc(n + 1, sizeof *names);
  bool ok = places && names;
  if (ok) {
    look_up_parents(graph, n, places);
    look_up_layers(graph, places);
    ok = count_alive(graph, n, places) && find_lists(n, places);
  }
  for (size_t k = 0; ok && k < n; k++)
    if (places[k].length > MOST)
      cut_list(places, (int)k);
  for (size_t k = 0; ok && k < n; k++)
    ok = (names[k] = name_of(graph, places, (int)k)) != NULL;
  tp__free(places);
  if (ok)
    return names;
  tp__namespaces_free(names, n);
  return NULL;
}

void tp__namespaces_free(char **names, size_t n) {
  for (size_t k = 0; names && k < n; k++)
    tp__free(names[k]);
  tp__free(names);
}
