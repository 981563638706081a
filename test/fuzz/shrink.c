/* Shrinks failing programs. */
#include "shrink.h"

#include "execute.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

void program_run(const program *p, report *r, text *captured) {
  static job j;
  int arguments[MAX_VALUES];
  text source = {0};
  program_print(p, &source);
  j = (job){.source = source.chars,
            .follow = p->follow,
            .processes = p->processes,
            .limited = p->limited,
            .on_gpu = p->on_gpu,
            .fused = p->fused,
            .seed = p->seed};
  j.n_arguments = program_arguments(p, arguments);
  for (int i = 0; i < j.n_arguments; i++) {
    j.arguments[i].low = p->values[arguments[i]].low;
    j.arguments[i].high = p->values[arguments[i]].high;
  }
  for (int k = 0; k < p->n_results; k++) {
    j.results[k].exact = p->values[p->results[k]].integral;
    j.results[k].scale = p->values[p->results[k]].scale;
  }
  *r = (report){.outcome = CRASH};
  sandbox_run(execute, &j, 120, r, captured);
  text_clear(&source);
}

typedef struct shrink {
  program *p;
  report *r;
  int tries;
} shrink;

/* Keeps `candidate` if it still fails in the same way; takes ownership of it. */
static bool keep(shrink *s, program *candidate) {
  report r;
  bool same = false;
  if (s->tries > 0) {
    s->tries--;
    program_run(candidate, &r, NULL);
    same = r.outcome == s->r->outcome;
  }
  if (same) {
    program_clear(s->p);
    memcpy(s->p, candidate, sizeof *candidate);
    *s->r = r;
  } else {
    program_clear(candidate);
  }
  free(candidate);
  return same;
}

static program *copy(const program *p) {
  program *made = malloc(sizeof *made);
  if (!made)
    abort();
  program_copy(made, p);
  return made;
}

static bool drop_results(shrink *s) {
  bool any = false;
  for (int i = s->p->n_results - 1; i >= 0 && s->p->n_results > 1; i--) {
    program *c = copy(s->p);
    c->n_results--;
    for (int k = i; k < c->n_results; k++) {
      c->results[k] = c->results[k + 1];
      memcpy(c->result_shardings[k], c->result_shardings[k + 1], sizeof c->result_shardings[k]);
    }
    any |= keep(s, c);
  }
  return any;
}

/* Removes ops without readers. The results of other removed ops become arguments, or aliases of an
 * operand of the same type. */
static bool drop_ops(shrink *s) {
  bool any = false;
  for (int o = s->p->n_ops - 1; o >= 0; o--) {
    if (s->p->ops[o].dropped)
      continue;
    program *c = copy(s->p);
    c->ops[o].dropped = true;
    if (keep(s, c)) {
      any = true;
      continue;
    }
    const op *x = s->p->ops + o;
    for (int i = 0; i < x->n_uses && x->n_results == 1; i++) {
      int from = program_root(s->p, x->uses[i]), to = x->results[0];
      if (!type_equal(&s->p->values[from].type, &s->p->values[to].type))
        continue;
      c = copy(s->p);
      c->ops[o].dropped = true;
      c->values[to].alias = from;
      if (keep(s, c)) {
        any = true;
        break;
      }
    }
  }
  return any;
}

static bool drop_annotations(shrink *s) {
  bool any = false;
  for (int v = 0; v < s->p->n_values; v++)
    if (s->p->values[v].sharding[0]) {
      program *c = copy(s->p);
      c->values[v].sharding[0] = 0;
      any |= keep(s, c);
    }
  for (int i = 0; i < s->p->n_results; i++)
    if (s->p->result_shardings[i][0]) {
      program *c = copy(s->p);
      c->result_shardings[i][0] = 0;
      any |= keep(s, c);
    }
  return any;
}

/* Runs ranks as threads instead of processes. */
static bool simplify_setting(shrink *s) {
  if (!s->p->processes)
    return false;
  program *c = copy(s->p);
  c->processes = false;
  return keep(s, c);
}

void program_shrink(program *p, report *r, int tries) {
  shrink s = {p, r, tries};
  simplify_setting(&s);
  for (bool any = true; any && s.tries > 0;) {
    any = drop_results(&s);
    any |= drop_ops(&s);
    any |= drop_annotations(&s);
  }
}
