/* Generates a whole program: a mesh, some sizes, random ops from the table below, results. */
#include "gen.h"

#include <stdio.h>
#include <string.h>

static const struct {
  const char *family;
  int weight;
  generator generate;
} families[] = {
    {"elementwise", 5, gen_elementwise},
    {"generic", 8, gen_parallel},
    {"maps", 4, gen_maps},
    {"product", 7, gen_product},
    {"convolution", 3, gen_convolution},
    {"pooling", 2, gen_pooling},
    {"stencil", 2, gen_stencil},
    {"contraction", 7, gen_contraction},
    {"reduction", 8, gen_reduction},
    {"arg", 2, gen_arg_reduction},
    {"max and sum", 2, gen_max_sum},
    {"transpose", 3, gen_transpose},
    {"broadcast", 2, gen_broadcast},
    {"reduce", 3, gen_reduce},
    {"lookup", 3, gen_lookup},
    {"mask", 2, gen_mask},
    {"generate", 2, gen_generate},
    {"gather", 2, gen_gather},
    {"scatter", 1, gen_scatter},
    {"complex", 1, gen_complex},
    {"constant", 3, gen_constant},
    {"expand", 4, gen_expand},
    {"collapse", 4, gen_collapse},
    {"extract_slice", 4, gen_extract_slice},
    {"insert_slice", 3, gen_insert_slice},
    {"concat", 3, gen_concat},
    {"pad", 3, gen_pad},
    {"scalar", 2, gen_scalar},
    {"for", 2, gen_for},
    {"while", 1, gen_while},
    {"if", 2, gen_if},
    {"nest", 2, gen_nest},
    {"call", 2, gen_call},
    {"layout", 5, gen_layout},
    {"norm", 0, gen_norm},
};
enum { NORM_WEIGHT = 60 }; /* weight of the last family, if norms are requested */

static const mesh meshes[] = {
    {1, {2}},       {1, {3}},    {1, {4}},    {1, {5}},       {1, {8}},    {2, {2, 2}},
    {2, {2, 2}},    {2, {2, 3}}, {2, {3, 2}}, {2, {4, 2}},    {2, {2, 4}}, {2, {1, 4}},
    {3, {2, 2, 2}}, {1, {6}},    {1, {7}},    {3, {2, 1, 3}},
};

static const int64_t even_sizes[] = {4, 8, 16, 12, 24, 8},
                     odd_sizes[] = {1, 2, 3, 5, 6, 7, 9, 10, 11, 4, 8};

static void draw_sizes(gen *g) {
  bool even = rng_chance(&g->r, 60);
  g->n_sizes = 2 + rng_below(&g->r, 3);
  for (int i = 0; i < g->n_sizes; i++)
    g->sizes[i] = even ? even_sizes[rng_below(&g->r, COUNT(even_sizes))]
                       : odd_sizes[rng_below(&g->r, COUNT(odd_sizes))];
}

static int draw_family(gen *g) {
  int sum = g->norms ? NORM_WEIGHT : 0;
  for (int i = 0; i < COUNT(families); i++)
    sum += families[i].weight;
  int dice = rng_below(&g->r, sum), i = 0;
  for (; i < COUNT(families) - 1 && dice >= families[i].weight; i++)
    dice -= families[i].weight;
  return i;
}

static void add_op(gen *g) {
  program *p = g->p;
  int family = draw_family(g), n_values = p->n_values;
  g->id = p->n_ops;
  g->op = p->ops + g->id;
  *g->op = (op){.family = families[family].family};
  bool ok = families[family].generate(g);
  for (int i = 0; i < g->op->n_uses; i++)
    ok &= g->op->uses[i] >= 0;
  if (ok) {
    p->n_ops++;
    return;
  }
  text_clear(&g->op->body);
  text_clear(&g->op->functions);
  p->n_values = n_values;
}

static bool is_read(const program *p, int v) {
  for (int o = 0; o < p->n_ops; o++)
    for (int i = 0; i < p->ops[o].n_uses; i++)
      if (p->ops[o].uses[i] == v)
        return true;
  return false;
}

static void choose_results(gen *g) {
  program *p = g->p;
  for (int v = p->n_values - 1; v >= 0 && p->n_results < MAX_RESULTS; v--)
    if (p->values[v].op >= 0 && (!is_read(p, v) || rng_chance(&g->r, 10)))
      p->results[p->n_results++] = v;
  int most = p->n_results;
  for (int i = 0; i < most && p->n_results < MAX_RESULTS; i++)
    if (rng_chance(&g->r, 6)) /* a repeated result, or an argument */
      p->results[p->n_results++] =
          rng_chance(&g->r, 50) ? p->results[i] : rng_below(&g->r, p->n_values);
  for (int i = 0; i < p->n_results; i++)
    if (rng_chance(&g->r, 50))
      random_sharding(g, &p->values[p->results[i]].type, false, p->result_shardings[i],
                      sizeof p->result_shardings[i]);
}

void program_generate(program *p, uint64_t seed, bool norms) {
  gen g = {.p = p, .norms = norms, .r = {seed * UINT64_C(0xD1342543DE82EF95) + 1}};
  *p = (program){.seed = seed, .mesh = meshes[rng_below(&g.r, COUNT(meshes))]};
  p->follow = rng_chance(&g.r, 35);
  p->processes = rng_chance(&g.r, 15);
  draw_sizes(&g);
  int n = 1 + rng_below(&g.r, rng_chance(&g.r, 50) ? 4 : rng_chance(&g.r, 80) ? 12 : 24);
  for (int tries = 0; (p->n_ops < n && tries < 4 * n) || p->n_ops == 0; tries++)
    if (p->n_values < MAX_VALUES - 12)
      add_op(&g);
  choose_results(&g);
}
