/* Mode: runs programs of files, unmodified, on one device and on their mesh, and compares them with
 * the evaluator. */
#include "corpus.h"
#include "execute.h"
#include "modes.h"

#include <stdio.h>
#include <string.h>

enum { SECONDS = 40 };

typedef struct counts {
  int n, n_judged, outcomes[N_OUTCOMES];
  tally open, refusals;
} counts;

/* Draws numbers that are valid as any index, because they are small, and as divisors. */
static void draw_ranges(job *j) {
  j->n_arguments = MAX_ARRAYS;
  for (int i = 0; i < MAX_ARRAYS; i++) {
    j->arguments[i].low = 0;
    j->arguments[i].high = 2;
  }
}

static void run_text(const setting *s, const corpus *c, int i, uint64_t seed, counts *total) {
  static job j;
  report r = {.outcome = CRASH};
  text captured = {0}, source = {0};
  if (strstr(c->parts[i], "tp.rows = \"own\"")) /* of one device, which has some of the rows */
    return;
  if (!strstr(c->parts[i], "shard.grid"))
    text_add(&source, "shard.grid @mesh(shape = 3) {tp.axes = [\"x\"]}\n");
  text_add(&source, "%s", c->parts[i]);
  j = (job){.source = source.chars, .is_text = true, .seed = seed};
  draw_ranges(&j);
  sandbox_run(execute, &j, SECONDS, &r, &captured);
  bool judged = r.n_numbers > 0;
  /* results may be partial, which a file cannot express */
  bool wrong = judged && is_defect(r.outcome) && r.outcome != RUN_FAILED;
  total->n++;
  total->n_judged += judged;
  total->outcomes[r.outcome] += judged;
  if (r.open[0])
    tally_add(&total->open, r.open);
  if (judged && !wrong && r.outcome != VERIFIED)
    tally_add(&total->refusals, r.message);
  if (wrong || s->verbose)
    printf("%s, part %d: %s: %s\n", c->files[i], i,
           judged ? outcome_names[r.outcome] : "not judged", r.open[0] ? r.open : r.message);
  if (wrong)
    printf("%s\n%.*s\n", c->parts[i], captured.length > 1500 ? 1500 : (int)captured.length,
           captured.chars);
  text_clear(&captured);
  text_clear(&source);
}

int fuzz_texts(const setting *s) {
  static corpus c;
  static counts total;
  double start = now();
  if (!corpus_read(&c, s->n_files, s->files))
    return 1;
  for (int i = 0; may_go_on(s, i, start); i++)
    run_text(s, &c, (int)((s->seed + (uint64_t)i) % (uint64_t)c.n), s->seed + (uint64_t)(i / c.n),
             &total);
  int defects = 0;
  printf("\ntexts: %d, of %d modules, %d judged, %.0f s\n", total.n, c.n, total.n_judged,
         now() - start);
  for (int o = 0; o < N_OUTCOMES; o++) {
    if (total.outcomes[o])
      printf("  %-26s %6d\n", outcome_names[o], total.outcomes[o]);
    defects += is_defect((verdict)o) && o != RUN_FAILED ? total.outcomes[o] : 0;
  }
  if (s->verbose) {
    tally_print(&total.open, "not evaluated", 40);
    tally_print(&total.refusals, "refused", 40);
  }
  return defects;
}
