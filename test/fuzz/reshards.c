/* Mode 3: runs random reshards through the real passes, on all ranks.
 *
 * The program is the identity through a chain of shardings: the argument in one, shard.shard to
 * others (partial ones too), the result in the last. The result must always equal the argument. In
 * addition to each chain, pairs of shardings of a small tensor are drawn: no path may cost more
 * than the cheapest one of an exhaustive search (reshard_pairs.h). */
#include "coverage.h"
#include "execute.h"
#include "generate/gen.h"
#include "modes.h"
#include "reshard_pairs.h"

#include <stdio.h>
#include <string.h>

typedef struct chain {
  program p; /* its mesh */
  type t;
  int n; /* number of shardings: argument, intermediate ones, result */
  bool partial;
  char layouts[6][200];
} chain;

static const mesh meshes[] = {{1, {2}},       {1, {4}},    {1, {6}},    {1, {8}},
                              {2, {2, 2}},    {2, {2, 3}}, {2, {4, 2}}, {2, {3, 2}},
                              {3, {2, 2, 2}}, {2, {2, 4}}, {1, {3}},    {3, {2, 1, 3}}};

static void draw(chain *c, uint64_t seed) {
  static const int64_t even[] = {4, 8, 12, 16, 24}, odd[] = {1, 2, 3, 5, 6, 7, 9, 10, 13};
  gen g = {.p = &c->p, .r = {seed * UINT64_C(0xD1342543DE82EF95) + 5}};
  *c = (chain){.p = {.seed = seed, .mesh = meshes[rng_below(&g.r, COUNT(meshes))]}};
  static const element_kind kinds[] = {F32, F32, I32, F64, I64};
  c->t = (type){.element = kinds[rng_below(&g.r, COUNT(kinds))], .rank = 1 + rng_below(&g.r, 3)};
  bool is_even = rng_chance(&g.r, 60);
  for (int d = 0; d < c->t.rank; d++)
    c->t.shape[d] = is_even ? even[rng_below(&g.r, COUNT(even))] : odd[rng_below(&g.r, COUNT(odd))];
  c->p.processes = rng_chance(&g.r, 10);
  c->p.follow = rng_chance(&g.r, 50);
  c->n = 2 + rng_below(&g.r, 4);
  for (int i = 0; i < c->n; i++) {
    random_sharding(&g, &c->t, i > 0 && i < c->n - 1, c->layouts[i], sizeof c->layouts[i]);
    c->partial |= strstr(c->layouts[i], "partial") != NULL;
  }
}

static void print(const chain *c, text *out) {
  const char *t = type_text(&c->t);
  text grid = {0};
  program_print_grid(&c->p, &grid);
  text_add(out, "%sfunc.func @main(%%v0: %s {tp.sharding = %s}) -> (%s {tp.sharding = %s}) {\n",
           grid.chars, t, c->layouts[0], t, c->layouts[c->n - 1]);
  for (int i = 1; i < c->n - 1; i++) {
    text_add(out, "  %%s%d = shard.sharding @mesh split_axes = [", i);
    for (int d = 0; d < c->t.rank; d++)
      text_add(out, d ? ", []" : "[]");
    text_add(out,
             "] : !shard.sharding\n  %%v%d = shard.shard %%v%d to %%s%d {tp.sharding = %s} : %s\n",
             i, i - 1, i, c->layouts[i], t);
  }
  text_add(out, "  return %%v%d : %s\n}\n", c->n - 2, t);
  text_clear(&grid);
}

static void run(const chain *c, report *r) {
  text source = {0};
  print(c, &source);
  job j = {.source = source.chars,
           .follow = c->p.follow,
           .processes = c->p.processes,
           .is_identity = true,
           .n_arguments = 1};
  j.results[0].exact = true;
  *r = (report){.outcome = CRASH};
  sandbox_run(execute, &j, 120, r, NULL);
  text_clear(&source);
}

/* Removes intermediate shardings while the chain still fails. */
static void shrink(chain *c, report *r) {
  for (int i = c->n - 2; i > 0; i--) {
    chain less = *c;
    report again;
    less.n--;
    memmove(less.layouts[i], less.layouts[i + 1], (size_t)(less.n - i) * sizeof less.layouts[0]);
    run(&less, &again);
    if (again.outcome == r->outcome) {
      *c = less;
      *r = again;
    }
  }
}

static void report_defect(const setting *s, chain *c, report *r) {
  text out = {0};
  char path[600];
  shrink(c, r);
  text_add(&out, "// %s: %s\n// RUN: shard-run %%s%s%s\n", outcome_names[r->outcome], r->message,
           c->p.follow ? " --strategy follow" : "", c->p.processes ? " --launch processes" : "");
  print(c, &out);
  snprintf(path, sizeof path, "%s/reshard-%llu.mlir", s->out, (unsigned long long)c->p.seed);
  if (!text_write(path, out.chars))
    fprintf(stderr, "shard-fuzz: cannot write '%s'\n", path);
  printf("---- %s\n%s", path, out.chars);
  text_clear(&out);
  fflush(stdout);
}

enum { PAIRS_OF_A_TENSOR = 500 };

/* Returns the number of defects. */
static int run_pairs(uint64_t seed, long *n) {
  pairs p = {seed, PAIRS_OF_A_TENSOR};
  report r = {.outcome = CRASH};
  sandbox_run(check_pairs, &p, 60, &r, NULL);
  *n += r.progress;
  if (r.outcome == VERIFIED)
    return 0;
  printf("---- pairs of seed %llu: %s: %s\n", (unsigned long long)seed, outcome_names[r.outcome],
         r.message);
  return 1;
}

int fuzz_reshards(const setting *s) {
  int n = 0, steps = 0, partial = 0, communicating = 0, outcomes[N_OUTCOMES] = {0}, defects = 0;
  long n_pairs = 0;
  static tally refusals;
  double start = now();
  for (int i = 0; may_go_on(s, i, start); i++, n++) {
    static chain c;
    report r;
    draw(&c, s->seed + (uint64_t)i);
    run(&c, &r);
    outcomes[r.outcome]++;
    if (r.outcome == VERIFIED) {
      steps += c.n - 1;
      partial += c.partial;
      communicating += r.n_collectives > 0;
    } else if (is_defect(r.outcome)) {
      defects++;
      report_defect(s, &c, &r);
    } else {
      tally_add(&refusals, r.message);
    }
    defects += run_pairs(s->seed + (uint64_t)i, &n_pairs);
  }
  printf("\nchains of layouts: %d, %d changes executed, %d chains with partials, %d with a "
         "collective, %.0f s\n",
         n, steps, partial, communicating, now() - start);
  for (int o = 0; o < N_OUTCOMES; o++)
    if (outcomes[o])
      printf("  %-26s %6d\n", outcome_names[o], outcomes[o]);
  tally_print(&refusals, "refused", 8);
  printf("pairs of layouts: %ld, compared with a search over all paths\n", n_pairs);
  return defects;
}
