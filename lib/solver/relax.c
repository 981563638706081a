/* Solves a problem without its memory limit, and checks whether the result fits. */
#include "solver/relax.h"

tp_status tp__relax(tp__search *s, const tp_problem *problem, const tp__code *code, int64_t work,
                    tp__answer *answer, bool *fits) {
  tp__wcsp *g = tp__encode(problem, code, false);
  tp_status status = g ? TP_OK : TP_NO_MEMORY;
  *fits = false;
  if (status == TP_OK) {
    s->work_limit = s->work + work;
    s->nested++; /* costs without the limit must not be reported yet */
    status = tp__wcsp_search(s, g, TP_COST_FORBIDDEN, 0, answer);
    s->nested--;
  }
  tp__wcsp_destroy(g);
  if (status == TP_OK && answer->cost < TP_COST_FORBIDDEN) {
    int64_t time;
    unsigned __int128 peak;
    status = tp__problem_peak(problem, answer->choices, &time, &peak);
    *fits = status == TP_OK && peak <= (unsigned __int128)problem->limit;
  }
  return status;
}
