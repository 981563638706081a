/* Two modes: runs random programs on all ranks and on one device; and the same within random memory
 * limits. */
#include "coverage.h"
#include "modes.h"
#include "shrink.h"

#include <stdio.h>
#include <string.h>

typedef struct totals {
  int n, with_collectives, with_fused, outcomes[N_OUTCOMES];
  /* limits below the peak of the unlimited plan: planned, refused */
  int n_tighter, n_limit_refused, n_counted_more;
  coverage seen;
  tally refusals, gaps, open; /* open: only one device determines the results */
  long n_numbers, n_judged;
} totals;

static void write_minimal(const setting *s, const program *p, const report *r) {
  text out = {0};
  char path[600], limit[40] = "";
  if (p->limited)
    snprintf(limit, sizeof limit, " --memory-limit %lld", (long long)r->limit);
  text_add(&out,
           "// %s: %s\n// RUN: shard-run %%s%s%s%s%s%s\n// Found as: shard-fuzz %s%s%s --seed %llu "
           "--count 1\n\n",
           outcome_names[r->outcome], r->message, p->follow ? " --strategy follow" : "",
           p->processes ? " --launch processes" : "", limit, p->on_gpu ? " --target=cuda" : "",
           p->fused ? " --fuse always --topology h100" : "", p->limited ? "limits" : "programs",
           p->on_gpu ? " --target cuda" : "", p->fused ? " --fuse always" : "",
           (unsigned long long)p->seed);
  program_print(p, &out);
  snprintf(path, sizeof path, "%s/seed-%llu.mlir", s->out, (unsigned long long)p->seed);
  if (!text_write(path, out.chars))
    fprintf(stderr, "shard-fuzz: cannot write '%s'\n", path);
  printf("---- %s\n%s", path, out.chars);
  text_clear(&out);
}

static void report_defect(const setting *s, program *p, report *r, const text *captured) {
  printf("seed %llu: %s: %s\n", (unsigned long long)p->seed, outcome_names[r->outcome], r->message);
  if (captured->length)
    printf("%.*s\n", captured->length > 1500 ? 1500 : (int)captured->length, captured->chars);
  program_shrink(p, r, 150);
  write_minimal(s, p, r);
  fflush(stdout);
}

static void run_one(const setting *s, uint64_t seed, bool limited, totals *t) {
  static program p;
  report r;
  text captured = {0};
  program_generate(&p, seed, s->fused);
  p.limited = limited;
  p.on_gpu = s->on_gpu;
  p.fused = s->fused;
  p.processes &= !s->on_gpu; /* ranks on a GPU are threads */
  program_run(&p, &r, &captured);
  t->n++;
  t->outcomes[r.outcome]++;
  t->n_counted_more += r.counted_more;
  t->n_numbers += r.n_numbers;
  t->n_judged += r.n_judged;
  if (r.open[0])
    tally_add(&t->open, r.open);
  if (r.outcome == VERIFIED) {
    coverage_add(&t->seen, &r);
    t->with_collectives += r.n_collectives > 0;
    t->with_fused += r.n_fused > 0;
    t->n_tighter += r.limit < r.free_peak;
  } else if (r.outcome == REFUSED) {
    t->n_limit_refused += r.limit < r.free_peak;
    tally_add(&t->refusals, r.message);
  } else if (r.outcome == UNLOWERED) {
    tally_add(&t->gaps, r.message);
  }
  if (s->verbose)
    printf("seed %llu: %s%s%s%s\n", (unsigned long long)seed, outcome_names[r.outcome],
           r.counted_more ? ", counts more" : "", r.outcome ? ": " : "",
           r.outcome ? r.message : "");
  if (is_defect(r.outcome))
    report_defect(s, &p, &r, &captured);
  text_clear(&captured);
  program_clear(&p);
}

enum { LEAST_ACCEPTED = 90, LEAST_WITH_COLLECTIVE = 50 }; /* of --require, in percent */

static double percent(int part, int whole) { return whole ? 100.0 * part / whole : 0; }

/* Returns the number of --require conditions that are not met. A fuzzer whose programs are refused,
 * or need no communication, tests little. */
static int missed(const totals *t) {
  double accepted = percent(t->outcomes[VERIFIED], t->n),
         moving = percent(t->with_collectives, t->outcomes[VERIFIED]);
  if (accepted < LEAST_ACCEPTED)
    printf("REQUIRED: %d %% accepted, these are %.1f %%\n", LEAST_ACCEPTED, accepted);
  if (moving < LEAST_WITH_COLLECTIVE)
    printf("REQUIRED: %d %% with a collective, these are %.1f %%\n", LEAST_WITH_COLLECTIVE, moving);
  return (accepted < LEAST_ACCEPTED) + (moving < LEAST_WITH_COLLECTIVE);
}

static int fuzz(const setting *s, bool limited) {
  static totals t;
  double start = now();
  int defects = 0;
  for (int i = 0; may_go_on(s, i, start); i++)
    run_one(s, s->seed + (uint64_t)i, limited, &t);
  printf("\nprograms: %d, seeds %llu..%llu, %.0f s\n", t.n, (unsigned long long)s->seed,
         (unsigned long long)(s->seed + (uint64_t)t.n - 1), now() - start);
  for (int o = 0; o < N_OUTCOMES; o++) {
    if (t.outcomes[o] || o < MISMATCH)
      printf("  %-26s %6d  %5.1f %%\n", outcome_names[o], t.outcomes[o],
             percent(t.outcomes[o], t.n));
    defects += is_defect((verdict)o) ? t.outcomes[o] : 0;
  }
  printf("  with a collective: %.1f %% of the verified\n",
         percent(t.with_collectives, t.outcomes[VERIFIED]));
  printf("  of the numbers of their results, %.1f %% are judged by the evaluator\n",
         t.n_numbers ? 100.0 * (double)t.n_judged / (double)t.n_numbers : 0);
  if (s->fused)
    printf("  with a sum that is fused: %.1f %% of the verified\n",
           percent(t.with_fused, t.outcomes[VERIFIED]));
  if (limited)
    printf("  limits below what the plan without one holds: %d verified, %d refused\n  counted "
           "with more than is held: %d\n",
           t.n_tighter, t.n_limit_refused, t.n_counted_more);
  tally_print(&t.open, "not evaluated to the end", 12);
  tally_print(&t.gaps, "planned, but not lowered", 12);
  coverage_print(&t.seen, t.n >= 1000, stdout);
  return defects + (s->require && t.n ? missed(&t) : 0);
}

int fuzz_programs(const setting *s) { return fuzz(s, false); }

int fuzz_limits(const setting *s) { return fuzz(s, true); }
