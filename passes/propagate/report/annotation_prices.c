/* What annotations cost: the program is planned again without them. Those of equal layers are taken
 * away together, since a user writes them together, and one layer alone saves next to nothing. */
#include "passes/propagate/limits/reduced_planner.h"
#include "passes/propagate/report/plan_report.h"

enum {
  COSTLY_PERCENT = 1, /* of the cost; annotations that cost less are not priced */
  /* plans made to price annotations, for each alternative that may be reported ... */
  PLANS_PER_ALTERNATIVE = 8,
  /* ... but at least one, and no more than have this many nodes in total: reading a program again
   * takes time that grows with it */
  NODES_PER_ALTERNATIVE = 40000,
  PLANS_WITH_OVERLAP = 1, /* instead of 8: each is made anew, and takes as long as the plan */
  /* plans made anew of small problems, up to so many nodes in total */
  NODES_ANEW = 1000,
};

/* ---- groups of equal annotations ---- */

static MlirType pinned_type(const tp_pin *pin) {
  return pin->place == TP_PIN_RESULT
             ? mlirFunctionTypeGetResult(tp__func_type(pin->op), pin->number)
             : mlirValueGetType(pin->value);
}

/* What has the annotation, in words; "" if it has no name but a number. */
static const char *pinned_name(const tp_report *r, const tp_pin *pin) {
  return pin->place == TP_PIN_RESULT ? r->function.results[pin->number]
                                     : tp__report_description(r, pin->value);
}

/* The name with '#' for each number, as an attribute since there is one of each text. */
static MlirAttribute name_without_numbers(const tp_report *r, const char *name) {
  tp__string text = {0};
  tp__string_append_without_numbers(&text, name, '#');
  MlirAttribute attr =
      mlirStringAttrGet(r->pass->context, mlirStringRefCreateFromCString(tp__string_text(&text)));
  tp__string_destroy(&text);
  return attr;
}

tp_status tp__report_group_pins(tp_report *r, const tp_planner *p) {
  tp_function_report *f = &r->function;
  tp_memo groups = {0};
  f->pin_groups = tp__arena_array(p->problem.arena, f->n_pins + 1, sizeof *f->pin_groups);
  tp_status status = f->pin_groups ? TP_OK : TP_NO_MEMORY;
  for (size_t i = 0; i < f->n_pins && status == TP_OK; i++) {
    tp_pin *pin = &f->pins[i];
    const char *name = pinned_name(r, pin);
    enum { KEYS = 6 };
    int64_t key[KEYS] = {pin->place,
                         (int64_t)(intptr_t)pin->sharding.ptr,
                         (int64_t)(intptr_t)pin->factors.ptr,
                         (int64_t)(intptr_t)pinned_type(pin).ptr,
                         (int64_t)(intptr_t)name_without_numbers(r, name).ptr,
                         *name ? -1 : (int64_t)i};
    void **slot = tp__memo(&groups, p->problem.arena, key, KEYS);
    if (!slot) {
      status = TP_NO_MEMORY;
    } else if (!*slot) {
      f->pin_groups[f->n_pin_groups] = (tp_pin_group){.first = (int)i};
      *slot = (void *)(intptr_t)++f->n_pin_groups;
    }
    if (status == TP_OK) {
      pin->group = (int)(intptr_t)*slot - 1;
      f->pin_groups[pin->group].n++;
    }
  }
  tp__memo_destroy(&groups);
  return status == TP_OK ? TP_OK : tp__report_no_memory(r);
}

/* ---- plans without them ---- */

void tp__report_drop(const tp_report *r, int first, int n, bool back) {
  const tp_function_report *f = &r->function;
  for (size_t i = 0; i < f->n_pins; i++) {
    const tp_pin *pin = &f->pins[i];
    if (pin->group >= first && pin->group < first + n)
      tp__other_annotate(r, pin, back ? pin->sharding : tp__other_open(r, pin),
                         back ? pin->factors : (MlirAttribute){NULL});
  }
}

typedef struct dropping {
  tp_report *r;
  const tp_planner *p;
  tp_space *space;
  int plans;     /* number of plans that may still be made */
  tp_cost limit; /* plans that cost as much are not looked for */
} dropping;

/* Prices the problem that the space has selected: a bound on any plan, and, if `is_wanted` and the
 * bound leaves room for one, the cheapest plan below the limit. */
static bool price_selected(const dropping *d, bool is_wanted, tp_price *price) {
  tp_solution solution;
  *price = (tp_price){.exact = true};
  if (tp__space_bound(d->space, d->limit, &price->bound) != TP_OK)
    return false;
  if (!is_wanted || price->bound >= d->limit)
    return true;
  tp_status status = tp__space_solve(d->space, d->limit, &solution);
  if (status != TP_OK && status != TP_INFEASIBLE)
    return false;
  d->r->function.is_cut_short |= solution.stopped;
  price->found = status == TP_OK;
  price->cost = solution.cost;
  if (solution.lower_bound > price->bound)
    price->bound = solution.lower_bound;
  tp_solution_clear(&solution);
  return true;
}

/* Prices the program without n groups of annotations. */
static bool price_without(dropping *d, int first, int n, bool is_wanted, tp_price *price) {
  tp_replan again;
  bool covers = false;
  if (d->plans == 0 || tp__report_out_of_time(d->r, d->p))
    return false;
  d->plans--;
  tp__report_drop(d->r, first, n, false);
  bool known = tp__other_read(d->r, d->p, false, &again);
  bool is_near = known && tp__other_is_near(d->p, d->space, &again, &covers) && covers;
  if (is_near)
    known = price_selected(d, is_wanted, price);
  /* the search near the plan may end without knowing */
  if (known && (!is_near || (is_wanted && !price->found && price->bound < d->limit)))
    known = tp__other_solve(d->r, &again, price);
  tp__replan_close(&again);
  tp__report_drop(d->r, first, n, true);
  return known;
}

/* Examines n groups. If the program without all of them costs about the same, none of them is
 * costly; else both halves are examined. */
static void examine(dropping *d, int first, int n) {
  tp_function_report *f = &d->r->function;
  tp_price price = {0};
  bool is_all = n == f->n_pin_groups;
  if (n == 0 || !price_without(d, first, n, n == 1 || is_all, &price))
    return;
  price.found = price.found && price.cost < d->limit;
  if (is_all) {
    f->is_without_all_known = true;
    f->without_all = price;
  }
  if (n == 1 || price.bound >= d->limit) {
    for (int i = first; i < first + n; i++) {
      f->pin_groups[i].is_examined = true;
      f->pin_groups[i].price = price;
    }
    return;
  }
  examine(d, first, n / 2);
  examine(d, first + n / 2, n - n / 2);
}

void tp__report_price_annotations(tp_report *r, const tp_planner *p, tp_space *space) {
  size_t plans = NODES_PER_ALTERNATIVE / (p->problem.n_nodes + 1);
  size_t most = p->problem.overlaps ? PLANS_WITH_OVERLAP : PLANS_PER_ALTERNATIVE;
  plans = plans < most ? plans : most;
  plans = plans * (size_t)r->n_alternatives;
  size_t anew = 1 + NODES_ANEW / p->problem.n_nodes;
  if (p->kept && plans > anew) /* each is made anew, and from more strategies than the plan */
    plans = anew;
  dropping d = {r, p, space, plans > 0 ? (int)plans : 1,
                p->result.cost - p->result.cost / 100 * COSTLY_PERCENT};
  examine(&d, 0, r->function.n_pin_groups);
}
