/* Mode 2: runs randomly mutated programs of the repository through the pipelines, which must
 * succeed or report exactly one error.
 *
 * Mutations are chosen so that the result often parses: replace a number, type, axis or op name
 * everywhere or in one place, create a new annotation, delete or duplicate lines. Programs that do
 * not parse are not counted. */
#include "corpus.h"
#include "errors.h"
#include "modes.h"

#include "tp/passes.h"

#include <ctype.h>
#include <mlir-c/IR.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { PER_CHILD = 25 };

/* ---- Mutations of the text ---- */

/* Replaces `from` by `to` at every occurrence as a word, or only at occurrence `only`. Returns the
 * number of occurrences. */
static int replace_word(text *t, const char *from, const char *to, int only) {
  text out = {0};
  size_t n = strlen(from);
  int count = 0;
  for (const char *c = t->chars; *c;) {
    bool starts = c == t->chars || (!isalnum((unsigned char)c[-1]) && c[-1] != '_') || c[-1] == 'x';
    bool here =
        starts && strncmp(c, from, n) == 0 && (!isalnum((unsigned char)c[n]) || c[n] == 'x');
    if (here && (only < 0 || count == only)) {
      text_add(&out, "%s", to);
      c += n;
    } else {
      text_bytes(&out, c++, 1);
    }
    count += here;
  }
  text_clear(t);
  *t = out;
  return count;
}

/* Finds a random number in the text, as a word. */
static bool find_number(rng *r, const text *t, char *word, size_t size) {
  const char *found[512];
  int n = 0;
  for (const char *c = t->chars; *c && n < COUNT(found); c++)
    if (isdigit((unsigned char)*c) &&
        (c == t->chars || !isalnum((unsigned char)c[-1]) || c[-1] == 'x') &&
        (c == t->chars || c[-1] != '%'))
      found[n++] = c;
  if (n == 0)
    return false;
  const char *at = found[rng_below(r, n)];
  size_t length = strspn(at, "0123456789");
  if (length >= size)
    return false;
  memcpy(word, at, length);
  word[length] = 0;
  return true;
}

static const char *const numbers[] = {
    "0", "1",  "2",  "3",  "5",  "6",       "7",
    "8", "-1", "16", "12", "64", "1000000", "9223372036854775807"};

static void change_number(rng *r, text *t) {
  char word[32];
  if (find_number(r, t, word, sizeof word))
    replace_word(t, word, numbers[rng_below(r, rng_chance(r, 90) ? 12 : COUNT(numbers))],
                 rng_chance(r, 65) ? -1 : rng_below(r, 4));
}

static const char *const groups[][16] = {
    {"f32", "f64", "bf16", "f16", "i32", "i64", "i1", "i8", "index", "complex<f32>"},
    {"addf", "mulf", "subf", "maximumf", "minimumf", "maxnumf", "minnumf", "divf"},
    {"addi", "muli", "subi", "maxsi", "minsi", "maxui", "minui", "andi", "ori", "xori", "divsi",
     "remui", "shli"},
    {"sum", "max", "min", "product", "maxnumf", "maxui", "and", "average", "argmax"},
    {"parallel", "reduction", "window"},
    {"tanh", "exp", "sqrt", "absf", "log", "rsqrt"},
    {"d0", "d1", "d2", "d3"},
    {"tensor.extract_slice", "tensor.insert_slice"},
    {"matmul", "batch_matmul", "add", "mul", "max"},
    {"x", "y", "dp", "tp", "z"},
};

static void change_word(rng *r, text *t) {
  const char *const *group = groups[rng_below(r, COUNT(groups))];
  int n = 0;
  while (n < 16 && group[n])
    n++;
  for (int tries = 0; tries < 8; tries++) {
    const char *from = group[rng_below(r, n)];
    if (strstr(t->chars, from)) {
      replace_word(t, from, group[rng_below(r, n)], rng_chance(r, 60) ? -1 : rng_below(r, 5));
      return;
    }
  }
}

static const char *const annotations[] = {
    "[[\"x\"], []]",
    "[[], [\"x\"]]",
    "[[\"x\", \"y\"], []]",
    "[[\"x\", \"x\"], []]",
    "[[\"?\"], [\"?\"]]",
    "[[\"x:(1)2\"], []]",
    "[[\"x\"]]",
    "[]",
    "[[\"dp\"], [\"tp\"]]",
    "{dims = [[], []], partial = {x = \"sum\"}}",
    "[[\"x:(2)2\"], [\"x:(1)2\"]]",
    "{dims = [[\"x\"], []], partial = {y = \"max\"}}",
    "[[\"tp\"], []]",
    "[[\"x:(1)3\"], []]",
    "[[\"nosuch\"], []]",
    "[[\"y\"], [\"x\"]]",
    "{mesh = @mesh, dims = [[\"x\"], [\"y\"]]}",
    "3",
    "\"x\"",
    "[[3]]",
    "{}",
    "[[\"x\"], [\"y\"], []]",
    "[[\"\"], []]",
    "{dims = [[], []], partial = {x = \"sum\", y = \"max\"}}",
    "[[\"x:(0)2\"], []]",
    "[[\"x:(\"], []]",
};

/* Returns the end of an attribute that starts here, at balanced brackets. */
static const char *attribute_end(const char *c) {
  int depth = 0;
  for (; *c; c++) {
    depth += (*c == '[' || *c == '{') - (*c == ']' || *c == '}');
    if (depth < 0 || (depth == 0 && (*c == ',' || *c == ']' || *c == '}')))
      return depth < 0 || *c == ',' ? c : c + 1;
  }
  return c;
}

static const char *const keys[] = {
    "tp.sharding = ",    "tp.sharding = ", "tp.sharding = ", "tp.factors = ",
    "tp.region_args = ", "tp.axes = ",     "tp.pairs = ",    "tp.global = ",
    "grid_axes = ",      "split_axes = ",  "tp.phase = ",    "tp.of = "};

static void change_annotation(rng *r, text *t) {
  const char *key = keys[rng_below(r, COUNT(keys))], *found[64];
  int n = 0;
  for (const char *c = t->chars; (c = strstr(c, key)) && n < COUNT(found); c += strlen(key))
    found[n++] = c + strlen(key);
  if (n == 0)
    return;
  const char *at = found[rng_below(r, n)], *end = attribute_end(at);
  const char *with = annotations[rng_below(r, COUNT(annotations))];
  text other = {0}, out = {0};
  if (rng_chance(r, 40)) { /* copies one from another place of the text */
    const char *from = found[rng_below(r, n)];
    text_bytes(&other, from, (size_t)(attribute_end(from) - from));
    with = other.chars;
  }
  text_bytes(&out, t->chars, (size_t)(at - t->chars));
  text_add(&out, "%s%s", with, end);
  text_clear(&other);
  text_clear(t);
  *t = out;
}

/* Annotates an argument, a result, or an op without attributes. */
static void add_annotation(rng *r, text *t) {
  const char *found[64];
  int n = 0;
  for (const char *c = t->chars; *c && n < COUNT(found); c++)
    if (*c == '>' && (c[1] == ',' || c[1] == ')') && c > t->chars)
      found[n++] = c + 1;
  if (n == 0)
    return;
  const char *at = found[rng_below(r, n)];
  text out = {0};
  text_bytes(&out, t->chars, (size_t)(at - t->chars));
  text_add(&out, " {tp.sharding = %s}%s", annotations[rng_below(r, COUNT(annotations))], at);
  text_clear(t);
  *t = out;
}

static void change_line(rng *r, text *t) {
  const char *lines[512];
  int n = 0;
  for (const char *c = t->chars; c && *c && n < COUNT(lines) - 1;
       c = strchr(c, '\n'), c = c ? c + 1 : NULL)
    lines[n++] = c;
  lines[n] = t->chars + t->length;
  int i = rng_below(r, n);
  text out = {0};
  text_bytes(&out, t->chars, (size_t)(lines[i] - t->chars));
  if (rng_chance(r, 30))
    for (int k = 0; k < 2; k++)
      text_bytes(&out, lines[i], (size_t)(lines[i + 1] - lines[i]));
  text_add(&out, "%s", lines[i + 1]);
  text_clear(t);
  *t = out;
}

static void (*const changes[])(rng *r, text *t) = {
    change_number,     change_number,     change_number,     change_word,    change_word,
    change_annotation, change_annotation, change_annotation, add_annotation, change_line};

/* ---- Running ---- */

static const char *const pipelines[] = {
    "tp-spmd,tp-to-runtime",
    "tp-spmd,tp-to-runtime",
    "tp-spmd{strategy=follow},tp-to-runtime",
    "tp-spmd{mesh=2x2},tp-to-runtime",
    "tp-spmd{mesh=5},tp-to-runtime",
    "tp-spmd{mesh=2x3},tp-to-runtime",
    "tp-spmd{mesh=2x2},tp-to-runtime{overlap=true least=0}",
    "tp-spmd-to-runtime{mesh=4 overlap=true}",
    "tp-spmd-to-runtime{mesh=3 strategy=follow}",
    "tp-import,tp-spmd{mesh=2x3},tp-to-runtime",
    "tp-spmd{mesh=3 strategy=follow}",
    "tp-spmd{unknown-ops=replicate},tp-to-runtime",
    "tp-normalize",
    "tp-inline-calls,tp-raise",
    "tp-partition",
    "tp-partition,tp-simplify-collectives,tp-to-runtime",
    "tp-simplify-collectives",
    "tp-to-runtime",
    "tp-lower-to-runtime",
    "tp-propagate",
};

typedef struct batch {
  const corpus *c;
  uint64_t seed; /* seed of the first */
  int first, n;  /* range of cases to run */
  verdict verdicts[PER_CHILD];
  char messages[PER_CHILD][700];
} batch;

/* Creates the mutated text of a case and returns its pipeline. */
static const char *make_case(const corpus *c, uint64_t seed, text *t) {
  rng r = {seed * UINT64_C(0xD1342543DE82EF95) + 7};
  const char *part = c->parts[rng_below(&r, c->n)];
  text_bytes(t, part, strlen(part));
  for (int n = 1 + rng_below(&r, 3); n > 0; n--)
    changes[rng_below(&r, COUNT(changes))](&r, t);
  return pipelines[rng_below(&r, COUNT(pipelines))];
}

static void run_case(const char *source, const char *pipeline, report *r) {
  MlirContext context = mlirContextCreateWithThreading(false);
  tp_context_prepare(context);
  r->n_errors = 0;
  r->message[0] = 0;
  r->outcome = CRASH;
  watch_errors(r, context.ptr);
  r->parsing = true;
  MlirModule module = mlirModuleCreateParse(context, mlirStringRefCreateFromCString(source));
  r->parsing = false;
  if (mlirModuleIsNull(module)) {
    r->outcome = INVALID;
  } else {
    r->n_errors = 0;
    bool ok = tp_run_pipeline(module, pipeline) == TP_OK;
    r->outcome = ok && r->n_errors == 0 ? VERIFIED : judge_refusal(r, REFUSED);
    mlirModuleDestroy(module);
  }
  mlirContextDestroy(context);
}

static void run_batch(void *data, report *r) {
  batch *b = data;
  for (int i = b->first; i < b->n; i++) {
    text t = {0};
    const char *pipeline = make_case(b->c, b->seed + (uint64_t)i, &t);
    r->progress = i;
    run_case(t.chars, pipeline, r);
    b->verdicts[i] = r->outcome;
    memcpy(b->messages[i], r->message, sizeof r->message);
    text_clear(&t);
  }
  r->progress = b->n;
}

static void run_alone(void *data, report *r) {
  batch *b = data;
  b->n = b->first + 1;
  run_batch(b, r);
}

/* ---- The mode ---- */

typedef struct counts {
  int n, outcomes[N_OUTCOMES];
  tally defects;
} counts;

static void report_defect(const setting *s, const corpus *c, uint64_t seed, const report *r,
                          counts *total) {
  text t = {0}, out = {0};
  const char *pipeline = make_case(c, seed, &t);
  char path[600];
  printf("mutation %llu (%s): %s: %s\n", (unsigned long long)seed, pipeline,
         outcome_names[r->outcome], r->message);
  tally_add(&total->defects, r->message);
  text_add(&out, "// %s: %s\n// RUN: shard-opt %%s --pass-pipeline='builtin.module(%s)'\n%s",
           outcome_names[r->outcome], r->message, pipeline, t.chars);
  snprintf(path, sizeof path, "%s/mutation-%llu.mlir", s->out, (unsigned long long)seed);
  if (!text_write(path, out.chars))
    fprintf(stderr, "shard-fuzz: cannot write '%s'\n", path);
  text_clear(&t);
  text_clear(&out);
  fflush(stdout);
}

/* Runs every case that its batch did not finish, or found wrong, again alone; that verdict
 * counts. */
static void settle(const setting *s, const corpus *c, uint64_t seed, counts *total) {
  batch b = {.c = c, .seed = seed, .first = 0};
  report r = {.outcome = CRASH};
  sandbox_run(run_alone, &b, 60, &r, NULL);
  total->outcomes[r.outcome]++;
  if (r.outcome != INVALID && is_defect(r.outcome))
    report_defect(s, c, seed, &r, total);
}

static void run_from(const setting *s, const corpus *c, uint64_t seed, int n, batch *shared,
                     counts *total) {
  for (int first = 0; first < n;) {
    report r = {.outcome = CRASH};
    *shared = (batch){.c = c, .seed = seed, .first = first, .n = n};
    sandbox_run(run_batch, shared, 120, &r, NULL);
    int done = r.progress;
    for (int i = first; i < done; i++) {
      verdict v = shared->verdicts[i];
      if (v != INVALID && is_defect(v))
        settle(s, c, seed + (uint64_t)i, total);
      else
        total->outcomes[v]++;
      if (s->verbose && v == REFUSED)
        tally_add(&total->defects, shared->messages[i]);
    }
    if (done < n)
      settle(s, c, seed + (uint64_t)done, total);
    first = done < n ? done + 1 : n;
  }
  total->n += n;
}

int fuzz_mutations(const setting *s) {
  static corpus c;
  static counts total;
  double start = now();
  if (!corpus_read(&c, s->n_files, s->files))
    return 1;
  batch *shared = sandbox_memory(sizeof *shared);
  for (int i = 0; may_go_on(s, i, start); i += PER_CHILD) {
    int n = s->count && s->count - i < PER_CHILD ? s->count - i : PER_CHILD;
    run_from(s, &c, s->seed + (uint64_t)i, n, shared, &total);
  }
  int valid = total.n - total.outcomes[INVALID], defects = 0;
  printf("\nmutations: %d of %d modules, %d valid, %.0f s\n", total.n, c.n, valid, now() - start);
  for (int o = 0; o < N_OUTCOMES; o++) {
    if (total.outcomes[o])
      printf("  %-26s %6d\n",
             o == INVALID    ? "no module"
             : o == VERIFIED ? "accepted"
                             : outcome_names[o],
             total.outcomes[o]);
    defects += o != INVALID && is_defect((verdict)o) ? total.outcomes[o] : 0;
  }
  tally_print(&total.defects, s->verbose ? "messages" : "defects", 40);
  return defects;
}
