/* shard-oracle: checks the claims of tp-propagate. Plans small random programs (those of the
 * fuzzer), then enumerates all their plans and prices them independently. Checks these claims:
 *
 *   equal    no offered plan costs less than the chosen one, and one costs as much; the bound is
 *            consistent with that
 *   written  the plan in the IR costs no more than that
 *   again    planning the plan in the IR again gives the same cost
 *   parts    planned in parts, as functions with many strategies are, the bound is not above any
 *            plan
 *   edits    pinning any value to any sharding never makes the plan cheaper
 *   limits   within a memory limit no plan exceeds it, and no plan within the limit, by the
 *            planner's estimate, costs less
 *
 * Cheaper plans beyond the offered ones (see space.c) are counted, as a measure of the loss. */
#include "oracle.h"
#include "planned.h"

#include "tp/passes.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static int usage(void) {
  fputs("usage: shard-oracle [--seed N] [--count N] [--steps N] [--edits N] "
        "[--limits N] [--bytes] [--verbose] [FILE.mlir...]\n"
        "Plans N random programs from seed N on, or the FILEs, and tries all "
        "plans of each, at most so many steps.\n"
        "--edits: so many values of each program are pinned to a random layout.\n"
        "--limits: instead, so many memory limits for each program.\n"
        "--bytes: with objective=bytes.\n"
        "--verbose: what is claimed of each program, and why one is refused.\n"
        "Exit code: 0 all agree, 1 a disagreement, 2 wrong usage.\n",
        stderr);
  return 2;
}

static bool read_options(int argc, char **argv, setting *s) {
  int i = 1;
  for (; i < argc && strncmp(argv[i], "--", 2) == 0; i++) {
    if (strcmp(argv[i], "--verbose") == 0) {
      s->verbose = true;
      continue;
    }
    if (strcmp(argv[i], "--bytes") == 0) {
      s->bytes = true;
      continue;
    }
    if (i + 1 == argc)
      return false;
    long long value = atoll(argv[++i]);
    if (strcmp(argv[i - 1], "--seed") == 0)
      s->seed = (uint64_t)value;
    else if (strcmp(argv[i - 1], "--count") == 0)
      s->count = (int)value;
    else if (strcmp(argv[i - 1], "--steps") == 0)
      s->steps = value;
    else if (strcmp(argv[i - 1], "--edits") == 0)
      s->edits = (int)value;
    else if (strcmp(argv[i - 1], "--limits") == 0)
      s->limits = (int)value;
    else
      return false;
  }
  s->n_files = argc - i;
  s->files = argv + i;
  return true;
}

static void print_totals(const totals *t) {
  static const char *const names[N_VERDICTS] = {
      [EQUAL] = "equal, and none beyond what is offered costs less",
      [EQUAL_OFFERED] = "no offered one costs less; beyond what is offered one costs less",
      [EQUAL_NAMED] = "equal, with splits that only an annotation asks for",
      [TOO_MANY] = "too many plans to try",
      [REFUSED] = "refused",
      [CHEAPER] = "DEFECT: an offered plan costs less",
      [UNFOUND] = "DEFECT: no plan costs as little as claimed",
      [OPEN] = "DEFECT: cost and bound differ",
      [WRITTEN] = "DEFECT: the plan as written costs more",
      [AGAIN] = "DEFECT: planned again it costs another sum",
      [PARTS] = "DEFECT: in parts, a plan is cheaper than the bound",
      [EDITED] = "DEFECT: a pin makes it cheaper",
      [EXCEEDED_LIMIT] = "DEFECT: it holds more than its memory limit",
      [LOST] = "DEFECT: one that keeps the memory limit costs less",
  };
  printf("programs: %d\n", t->n);
  for (int v = 0; v < N_VERDICTS; v++)
    if (t->verdicts[v] || v < CHEAPER)
      printf("  %-52s %6d\n", names[v], t->verdicts[v]);
  if (t->limits > 0) {
    printf("  memory limits: %d, refused %d, too many plans to try %d; plans "
           "written %d\n",
           t->limits, t->limits_refused, t->limits_cut, t->limits_written);
    printf("  of those refused: a plan keeps it %d, none of all does %d, unknown %d\n",
           t->limits_kept, t->limits_unkept, t->limits_refused - t->limits_kept - t->limits_unkept);
    printf("  of those planned: more than a tenth dearer than a plan that keeps it %d\n",
           t->limits_dearer);
    printf("  cheaper plans within a limit, counted with more than they hold: "
           "%d\n",
           t->counted_more);
    return;
  }
  printf("  beyond: by the order of axes %d, by splits %d, by parts of axes %d\n", t->beyond[0],
         t->beyond[1], t->beyond[2]);
  printf("  written plans that cost less than counted            %6d\n  pins "
         "tried %d, refused %d\n",
         t->written_less, t->pins, t->pins_refused);
}

int main(int argc, char **argv) {
  setting s = {.seed = 1, .count = 100, .steps = 300000};
  static totals t;
  if (!read_options(argc, argv, &s))
    return usage();
  tp_register_passes();
  MlirContext context = mlirContextCreateWithThreading(false);
  tp_context_prepare(context);
  watch(context);
  for (int i = 0; i < s.n_files; i++)
    check_file(context, &s, s.files[i], &t);
  for (int i = 0; i < s.count && s.n_files == 0; i++)
    check_random(context, &s, s.seed + (uint64_t)i, &t);
  mlirContextDestroy(context);
  print_totals(&t);
  int checked = t.verdicts[EQUAL] + t.verdicts[EQUAL_OFFERED] + t.verdicts[EQUAL_NAMED],
      defects = 0;
  for (int v = CHEAPER; v < N_VERDICTS; v++)
    defects += t.verdicts[v];
  if (2 * checked < t.n)
    printf("DEFECT: fewer than half of the programs were checked\n");
  return defects || 2 * checked < t.n;
}
