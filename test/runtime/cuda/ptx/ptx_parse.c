/* Parses PTX text to modules. Skips directives without effect on execution (.loc, .pragma,
 * .section), and functions; a call of a function is rejected. */
#define _GNU_SOURCE 1
#include "ptx_parser.h"

#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>

static void skip_braces(ptx_parser *p) {
  int depth = 0;
  do {
    ptx_next(p);
    if (!p->token[0])
      ptx_refuse(p, "'}' is missing");
    depth += ptx_is(p, "{") ? 1 : ptx_is(p, "}") ? -1 : 0;
  } while (depth > 0);
}

static void skip_line(ptx_parser *p) { p->at += strcspn(p->at, "\n"); }

/* ---- Labels and instructions ---- */

static int32_t label_number(ptx_parser *p, const char *name) {
  for (int i = 0; i < p->n_labels; i++)
    if (strcmp(p->labels[i].name, name) == 0)
      return i;
  p->labels = ptx_grown(p->labels, p->n_labels, sizeof *p->labels);
  p->labels[p->n_labels] = (ptx_label){.at = -1, .line = p->line};
  snprintf(p->labels[p->n_labels].name, sizeof p->labels->name, "%.63s", name);
  return p->n_labels++;
}

/* name: .branchtargets a, b, ...; stored as a table, which brx.idx refers to by the label. */
static void branch_targets(ptx_parser *p, int32_t name) {
  ptx_kernel *k = p->kernel;
  int32_t *table = NULL;
  int n = 0;
  do {
    ptx_next(p);
    table = ptx_grown(table, n, sizeof *table);
    table[n++] = label_number(p, p->token);
  } while (ptx_accept(p, ','));
  ptx_expect(p, ';');
  k->tables = ptx_grown(k->tables, k->n_tables, sizeof *k->tables);
  k->tables[k->n_tables++] = (ptx_table){.label = name, .n = n, .targets = table};
}

static void instruction(ptx_parser *p) {
  ptx_kernel *k = p->kernel;
  ptx_statement s = {.n_operands = 0};
  ptx_instruction i = {.guard = PTX_NONE, .line = p->line, .text = p->token_at};
  char error[PTX_TEXT];
  p->n_pool = 0;
  if (ptx_is(p, "@")) {
    ptx_operand guard = {0};
    i.guard_not = ptx_accept(p, '!');
    if (!ptx_find_register(p, ptx_next(p), &guard) || guard.kind != PTX_PREDICATE)
      ptx_refuse(p, "'%s' is no predicate", p->token);
    i.guard = guard.number;
    ptx_next(p);
  }
  snprintf(s.opcode, sizeof s.opcode, "%.95s", p->token);
  if (ptx_peek(p, '('))
    ptx_refuse(p, "`%s`: calls are not supported; let the compiler inline the function", s.opcode);
  while (!ptx_peek(p, ';')) {
    if (s.n_operands == PTX_MOST_OPERANDS)
      ptx_refuse(p, "`%s` has more than %d operands", s.opcode, PTX_MOST_OPERANDS);
    s.operands[s.n_operands++] = ptx_read_operand(p);
    if (!ptx_accept(p, ','))
      break;
  }
  if (!ptx_peek(p, ';'))
    ptx_refuse(p, "`%s`: ';' expected, not '%s'", s.opcode, ptx_next(p));
  if (!ptx_decode(k, &s, &i, error))
    ptx_refuse(p, "`%.*s`: %s", (int)(p->at - i.text), i.text, error);
  if (i.kind == PTX_BRANCH || i.kind == PTX_CHOOSE)
    i.target = label_number(p, s.operands[s.n_operands - 1].name);
  ptx_expect(p, ';');
  k->code = ptx_grown(k->code, k->n_code, sizeof *k->code);
  k->code[k->n_code++] = i;
}

static int32_t target_of(ptx_parser *p, int32_t label_of, int line) {
  if (p->labels[label_of].at < 0) {
    p->line = line;
    ptx_refuse(p, "there is no label '%s'", p->labels[label_of].name);
  }
  return p->labels[label_of].at;
}

static void resolve(ptx_parser *p) {
  ptx_kernel *k = p->kernel;
  for (int t = 0; t < k->n_tables; t++)
    for (int i = 0; i < k->tables[t].n; i++)
      k->tables[t].targets[i] = target_of(p, k->tables[t].targets[i], p->line);
  for (int i = 0; i < k->n_code; i++) {
    ptx_instruction *c = &k->code[i];
    if (c->kind == PTX_BRANCH)
      c->target = target_of(p, c->target, c->line);
    for (int t = 0; t < k->n_tables && c->kind == PTX_CHOOSE && !c->table; t++)
      if (k->tables[t].label == c->target)
        c->table = &k->tables[t];
    if (c->kind == PTX_CHOOSE && !c->table) {
      p->line = c->line;
      ptx_refuse(p, "'%s' is no list of branch targets", p->labels[c->target].name);
    }
  }
}

/* ---- Kernels ---- */

/* Parses a label: a word followed by ':'. */
static bool place(ptx_parser *p) {
  if (!ptx_peek(p, ':'))
    return false;
  int32_t name = label_number(p, p->token);
  ptx_expect(p, ':');
  if (ptx_peek(p, '.') && strncmp(p->at, ".branchtargets", 14) == 0) {
    ptx_next(p);
    branch_targets(p, name);
    return true;
  }
  if (p->labels[name].at >= 0)
    ptx_refuse(p, "the label '%s' stands there twice", p->labels[name].name);
  p->labels[name].at = p->kernel->n_code;
  return true;
}

static void statement(ptx_parser *p) {
  ptx_kernel *k = p->kernel;
  if (ptx_is(p, ".reg")) {
    ptx_declare_registers(p);
  } else if (ptx_is(p, ".shared") || ptx_is(p, ".local")) {
    bool shared = ptx_is(p, ".shared");
    ptx_declare_variable(p, shared ? PTX_SHARED : PTX_LOCAL, false,
                         shared ? &k->shared_bytes : &k->local_bytes, &k->symbols, &k->n_symbols);
    ptx_expect(p, ';');
  } else if (ptx_is(p, ".loc") || ptx_is(p, ".file")) {
    skip_line(p);
  } else if (ptx_is(p, ".pragma")) {
    ptx_next(p);
    ptx_expect(p, ';');
  } else if (p->token[0] == '.') {
    ptx_refuse(p, "the directive '%s' is not supported", p->token);
  } else if (!place(p)) {
    instruction(p);
  }
}

static void body(ptx_parser *p) {
  ptx_expect(p, '{');
  p->depth = 1;
  while (p->depth > 0) {
    ptx_next(p);
    if (ptx_is(p, "{")) {
      p->depth++;
    } else if (ptx_is(p, "}")) {
      p->depth--;
      while (p->n_declared > 0 && p->declared[p->n_declared - 1].depth > p->depth)
        p->n_declared--;
    } else if (!p->token[0]) {
      ptx_refuse(p, "'}' is missing");
    } else {
      statement(p);
    }
  }
}

/* Moves behind the body of a kernel, whose braces are those of its blocks. */
static void skip_body(ptx_parser *p) {
  int depth = 0;
  do {
    p->at += strcspn(p->at, "{}\n/\"");
    if (!*p->at)
      ptx_refuse(p, "'}' is missing");
    if (*p->at == '/' || *p->at == '"' || *p->at == '\n') { /* comments and strings */
      const char *at = p->at;
      if (ptx_peek(p, '"') || (p->at == at && *p->at == '/'))
        ptx_next(p);
      continue;
    }
    depth += *p->at++ == '{' ? 1 : -1;
  } while (depth > 0);
}

static void limits(ptx_parser *p) {
  ptx_kernel *k = p->kernel;
  while (ptx_peek(p, '.')) {
    ptx_next(p);
    bool required = ptx_is(p, ".reqntid"), most = ptx_is(p, ".maxntid");
    uint32_t n[3] = {1, 1, 1};
    int i = 0;
    bool ctas = ptx_is(p, ".minnctapersm"), registers = ptx_is(p, ".maxnreg");
    if (!required && !most && !ctas && !registers && !ptx_is(p, ".maxnctapersm"))
      ptx_refuse(p, "the directive '%s' is not supported", p->token);
    do
      n[i++] = (uint32_t)ptx_integer(p);
    while (i < 3 && ptx_accept(p, ','));
    if (required)
      memcpy(k->required, n, sizeof n);
    if (most)
      k->most_threads = n[0] * n[1] * n[2];
    if (ctas)
      k->least_ctas = n[0];
    if (registers)
      k->most_registers = n[0];
  }
}

static void read_body(ptx_parser *p) {
  p->n_declared = p->n_labels = 0;
  body(p);
  resolve(p);
  ptx_pack_registers(p->kernel);
}

static void kernel(ptx_parser *p) {
  ptx_module *m = p->module;
  m->kernels = ptx_grown(m->kernels, m->n_kernels, sizeof *m->kernels);
  ptx_kernel *k = p->kernel = m->kernels[m->n_kernels++] = calloc(1, sizeof *k);
  if (!k)
    abort();
  *k = (ptx_kernel){.name = ptx_copied(ptx_next(p)),
                    .module = m,
                    .n_predicates = 1,
                    .shared_bytes = m->shared_bytes};
  for (int s = 0; s < PTX_N_SPECIALS; s++)
    k->special[s] = PTX_NONE;
  if (ptx_accept(p, '(') && !ptx_accept(p, ')'))
    do {
      ptx_next(p);
      if (!ptx_is(p, ".param"))
        ptx_refuse(p, "'.param' expected, not '%s'", p->token);
      ptx_declare_variable(p, PTX_PARAM, false, &k->parameter_bytes, &k->parameters,
                           &k->n_parameters);
    } while (!ptx_accept(p, ')') && ptx_accept(p, ','));
  limits(p);
  if (!p->leaves_bodies) {
    read_body(p);
    return;
  }
  if (!ptx_peek(p, '{'))
    ptx_expect(p, '{');
  k->unread = p->at;
  k->unread_line = p->line;
  skip_body(p);
}

static void module(ptx_parser *p) {
  ptx_module *m = p->module;
  bool external = false;
  while (ptx_next(p), p->token[0]) {
    if (ptx_is(p, ".version") || ptx_is(p, ".target") || ptx_is(p, ".address_size") ||
        ptx_is(p, ".file")) {
      skip_line(p);
    } else if (ptx_is(p, ".visible") || ptx_is(p, ".weak") || ptx_is(p, ".common")) {
      continue;
    } else if (ptx_is(p, ".extern")) {
      external = true;
      continue;
    } else if (ptx_is(p, ".entry")) {
      kernel(p);
    } else if (ptx_is(p, ".func")) {
      while (!ptx_peek(p, ';') && !ptx_peek(p, '{') && *p->at)
        ptx_next(p);
      if (ptx_peek(p, '{'))
        skip_braces(p);
      else
        ptx_expect(p, ';');
    } else if (ptx_is(p, ".section")) {
      ptx_next(p);
      skip_braces(p);
    } else if (ptx_is(p, ".shared")) {
      ptx_declare_variable(p, PTX_SHARED, external, &m->shared_bytes, &m->symbols, &m->n_symbols);
      ptx_expect(p, ';');
    } else if (ptx_is(p, ".global") || ptx_is(p, ".const")) {
      ptx_declare_variable(p, PTX_GLOBAL, external, NULL, &m->symbols, &m->n_symbols);
      ptx_expect(p, ';');
    } else {
      ptx_refuse(p, "'%s' is not supported", p->token);
    }
    external = false;
  }
}

/* Runs a part of the parser. False, with p->error, if it refuses the text. Frees the parser. */
static bool parse(ptx_parser *p, void (*part)(ptx_parser *p)) {
  volatile bool ok = false;
  if (setjmp(p->failed) == 0) {
    part(p);
    ok = true;
  }
  free(p->declared);
  free(p->labels);
  free(p);
  return ok;
}

static ptx_parser *parser_of(ptx_parser from) {
  ptx_parser *p = calloc(1, sizeof *p);
  if (!p)
    abort();
  *p = from;
  return p;
}

static ptx_module *load(const char *text, bool leaves_bodies, char error[PTX_TEXT]) {
  ptx_module *made = calloc(1, sizeof *made);
  if (!made)
    abort();
  made->text = ptx_copied(text);
  if (parse(parser_of((ptx_parser){.at = made->text,
                                   .line = 1,
                                   .leaves_bodies = leaves_bodies,
                                   .module = made,
                                   .error = error}),
            module))
    return made;
  ptx_unload(made);
  return NULL;
}

ptx_module *ptx_load(const char *text, char error[PTX_TEXT]) { return load(text, false, error); }

ptx_module *ptx_open(const char *text, char error[PTX_TEXT]) { return load(text, true, error); }

bool ptx_read_kernel(ptx_kernel *k, char error[PTX_TEXT]) {
  static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
  pthread_mutex_lock(&lock);
  if (k->unread && !parse(parser_of((ptx_parser){.at = k->unread,
                                                 .line = k->unread_line,
                                                 .module = k->module,
                                                 .kernel = k,
                                                 .error = error}),
                          read_body))
    k->wrong = ptx_copied(error);
  k->unread = NULL;
  bool ok = !k->wrong;
  if (!ok)
    snprintf(error, PTX_TEXT, "%s", k->wrong);
  pthread_mutex_unlock(&lock);
  return ok;
}

void ptx_unload(ptx_module *m) {
  for (int i = 0; m && i < m->n_kernels; i++) {
    ptx_kernel *k = m->kernels[i];
    for (int t = 0; t < k->n_tables; t++)
      free(k->tables[t].targets);
    free(k->tables);
    for (int j = 0; j < k->n_lists; j++)
      free(k->lists[j]);
    free(k->lists);
    ptx_free_symbols(k->parameters, k->n_parameters);
    ptx_free_symbols(k->symbols, k->n_symbols);
    free(k->code);
    free(k->virtual_bits);
    free(k->constants);
    free(k->constant_wide);
    free(k->name);
    free(k->wrong);
    free(k);
  }
  if (m) {
    ptx_free_symbols(m->symbols, m->n_symbols);
    free(m->kernels);
    free(m->text);
  }
  free(m);
}

/* ---- Contents of a module ---- */

const ptx_kernel *ptx_find(const ptx_module *m, const char *name) {
  for (int i = 0; i < m->n_kernels; i++)
    if (strcmp(m->kernels[i]->name, name) == 0)
      return m->kernels[i];
  return NULL;
}

int ptx_n_parameters(const ptx_kernel *k) { return k->n_parameters; }

size_t ptx_parameter(const ptx_kernel *k, int number, size_t *bytes) {
  *bytes = k->parameters[number].bytes;
  return k->parameters[number].at;
}

size_t ptx_parameter_bytes(const ptx_kernel *k) { return k->parameter_bytes; }
