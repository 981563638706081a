/* The best plan that the searches have found so far (search.h). */
#include "passes/propagate/limits/search.h"

tp_cost tp__plan_worth(const tp_planner *p) {
  return p->problem.overlaps ? p->result.overlapped : p->result.cost;
}

void tp__found_keep(tp_search *s, tp_planner *planner) {
  tp__planner_drop(&s->best.planner);
  s->best = (tp_found){
      .cost = tp__plan_worth(planner), .planner = *planner, .method = planner->result.method};
  tp__clock_show(s->best.planner.result.cost, s->priced.bound);
  if (s->best.planner.routes)
    tp__routes_move(s->best.planner.routes, &s->best.planner);
  *planner = (tp_planner){0};
}

void tp__found_keep_unrouted(tp_search *s, const int *choices, tp_cost cost, const char *method) {
  tp__planner_drop(&s->best.planner);
  s->best = (tp_found){.cost = cost, .unrouted = choices, .method = method};
  tp__clock_show(cost, s->priced.bound);
}

bool tp__found_exceeds(const tp_search *s, double gap) {
  tp_cost bound = s->priced.bound;
  return s->best.cost >= TP_COST_FORBIDDEN || (double)(s->best.cost - bound) > gap * (double)bound;
}

bool tp__search_is_open(const tp_search *s) {
  return tp__found_exceeds(s, s->p->limits.gap) && s->priced.bound < s->best.cost &&
         !(s->p->limits.is_other && s->priced.left <= 0) && !tp__clock_is_over(s->p->limits.clock);
}
