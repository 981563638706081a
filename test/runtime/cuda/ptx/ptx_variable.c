/* Parses variables in all memory spaces, and parameters. */
#include "ptx_parser.h"

#include <stdlib.h>

static size_t rounded_up(size_t n, size_t unit) { return (n + unit - 1) / unit * unit; }

/* Parses {1, 2, ...}, ignoring nested braces, or a single value. */
static void initialize(ptx_parser *p, unsigned char *to, size_t bytes, int type) {
  size_t size = (size_t)ptx_types[type].bits / 8, n = 0;
  int depth = 0;
  do {
    if (ptx_accept(p, '{')) {
      depth++;
      continue;
    }
    if (ptx_accept(p, '}')) {
      depth--;
      continue;
    }
    bool negative = ptx_accept(p, '-');
    ptx_operand o = {0};
    ptx_next(p);
    if (ptx_is(p, ","))
      continue;
    if (!ptx_number_of(p->token, &o))
      ptx_refuse(p, "initial values are numbers; '%s' is not supported", p->token);
    if (n + size > bytes)
      ptx_refuse(p, "more initial values than the variable has room for");
    uint64_t value = negative ? 0 - o.bits : o.bits;
    memcpy(to + n, &value, size);
    n += size;
  } while (depth > 0);
}

static ptx_symbol *add_symbol(ptx_symbol **symbols, int *n, const char *name) {
  *symbols = ptx_grown(*symbols, *n, sizeof **symbols);
  ptx_symbol *s = &(*symbols)[(*n)++];
  *s = (ptx_symbol){.name = ptx_copied(name)};
  return s;
}

void ptx_declare_variable(ptx_parser *p, ptx_space space, bool external, size_t *cursor,
                          ptx_symbol **symbols, int *n_symbols) {
  size_t align = 0;
  int type = PTX_NO_TYPE;
  bool pointer = false; /* attributes after .ptr describe the target of a parameter */
  for (ptx_next(p); p->token[0] == '.'; ptx_next(p)) {
    if (ptx_is(p, ".align") && pointer)
      ptx_integer(p);
    else if (ptx_is(p, ".align"))
      align = (size_t)ptx_integer(p);
    else if (ptx_type_of(p->token) != PTX_NO_TYPE)
      type = ptx_type_of(p->token);
    else if (ptx_is(p, ".ptr"))
      pointer = true;
    else if (!pointer || (!ptx_is(p, ".global") && !ptx_is(p, ".shared") && !ptx_is(p, ".const") &&
                          !ptx_is(p, ".local")))
      ptx_refuse(p, "'%s' of a variable is not supported", p->token);
  }
  if (type == PTX_NO_TYPE)
    ptx_refuse(p, "the variable '%s' has no type", p->token);
  ptx_symbol *s = add_symbol(symbols, n_symbols, p->token);
  size_t count = 1, size = (size_t)ptx_types[type].bits / 8;
  bool open = false;
  while (ptx_accept(p, '[')) {
    open = ptx_peek(p, ']');
    count *= open ? 0 : (size_t)ptx_integer(p);
    ptx_expect(p, ']');
  }
  s->space = space;
  s->bytes = count * size;
  align = align > size ? align : size;
  if (space == PTX_SHARED && external) {
    if (align > PTX_MOST_ALIGN)
      ptx_refuse(p, "'%s' is aligned to %zu bytes; at most %d are supported", s->name, align,
                 PTX_MOST_ALIGN);
    s->at = PTX_DYNAMIC_SHARED;
  } else if (cursor) {
    s->at = *cursor = rounded_up(*cursor, align);
    *cursor += s->bytes;
  } else {
    if (external || open)
      ptx_refuse(p, "'%s' of another module is not supported", s->name);
    void *memory = aligned_alloc(256, rounded_up(s->bytes, 256));
    if (!memory)
      abort();
    s->at = (uint64_t)(uintptr_t)memset(memory, 0, rounded_up(s->bytes, 256));
  }
  if (ptx_accept(p, '=')) {
    if (space != PTX_GLOBAL)
      ptx_refuse(p, "initial values of '%s', which is not in global memory", s->name);
    initialize(p, (unsigned char *)(uintptr_t)s->at, s->bytes, type);
  }
}

static const ptx_symbol *find_in(const ptx_symbol *symbols, int n, const char *name) {
  for (int i = 0; i < n; i++)
    if (strcmp(symbols[i].name, name) == 0)
      return &symbols[i];
  return NULL;
}

const ptx_symbol *ptx_find_symbol(const ptx_parser *p, const char *name) {
  const ptx_symbol *found = find_in(p->kernel->parameters, p->kernel->n_parameters, name);
  if (!found)
    found = find_in(p->kernel->symbols, p->kernel->n_symbols, name);
  return found ? found : find_in(p->module->symbols, p->module->n_symbols, name);
}

void ptx_free_symbols(ptx_symbol *symbols, int n) {
  for (int i = 0; i < n; i++) {
    if (symbols[i].space == PTX_GLOBAL)
      free((void *)(uintptr_t)symbols[i].at);
    free(symbols[i].name);
  }
  free(symbols);
}

/* ---- Module variables, in global memory ---- */

uint64_t ptx_variable(const ptx_module *m, const char *name, size_t *bytes) {
  const ptx_symbol *s = find_in(m->symbols, m->n_symbols, name);
  if (!s || s->space != PTX_GLOBAL)
    return 0;
  *bytes = s->bytes;
  return s->at;
}

bool ptx_in_module(const ptx_module *m, uint64_t address, uint64_t *begin, uint64_t *end) {
  for (int i = 0; i < m->n_symbols; i++) {
    const ptx_symbol *s = &m->symbols[i];
    if (s->space == PTX_GLOBAL && address >= s->at && address < s->at + s->bytes) {
      *begin = s->at;
      *end = s->at + s->bytes;
      return true;
    }
  }
  return false;
}
