/* Parses registers and operands. */
#include "ptx_parser.h"

#include <stdio.h>
#include <stdlib.h>

void ptx_declare_registers(ptx_parser *p) {
  ptx_next(p);
  int type = ptx_type_of(p->token);
  if (type == PTX_NO_TYPE)
    ptx_refuse(p, "registers of type '%s' are not supported", p->token);
  do {
    ptx_next(p);
    p->declared = ptx_grown(p->declared, p->n_declared, sizeof *p->declared);
    ptx_declared *d = &p->declared[p->n_declared++];
    *d = (ptx_declared){.count = -1, .bits = ptx_types[type].bits, .depth = p->depth};
    snprintf(d->prefix, sizeof d->prefix, "%.63s", p->token);
    if (ptx_accept(p, '<')) {
      d->count = (int32_t)ptx_integer(p);
      ptx_expect(p, '>');
    }
    int32_t n = d->count < 0 ? 1 : d->count;
    ptx_kernel *k = p->kernel;
    if (type == PTX_PRED) {
      d->first = k->n_predicates;
      k->n_predicates += n;
      continue;
    }
    d->first = k->n_virtual;
    k->n_virtual += n;
    k->virtual_bits = realloc(k->virtual_bits, (size_t)k->n_virtual);
    if (!k->virtual_bits)
      abort();
    memset(k->virtual_bits + d->first, d->bits, (size_t)n);
  } while (ptx_accept(p, ','));
  ptx_expect(p, ';');
}

static bool special(ptx_parser *p, const char *name, ptx_operand *o) {
  static const char *const names[] = {
#define ROW(constant, name) name,
      PTX_SPECIALS(ROW)
#undef ROW
  };
  ptx_kernel *k = p->kernel;
  for (int s = 0; s < PTX_N_SPECIALS; s++)
    if (strcmp(name, names[s]) == 0) {
      if (k->special[s] == PTX_NONE)
        k->special[s] = ptx_new_register(k, 32);
      o->kind = PTX_REGISTER;
      o->number = k->special[s];
      return true;
    }
  return false;
}

/* Finds the innermost declaration of a name, which is the last one. */
bool ptx_find_register(ptx_parser *p, const char *name, ptx_operand *o) {
  for (int i = p->n_declared - 1; i >= 0; i--) {
    const ptx_declared *d = &p->declared[i];
    size_t n = strlen(d->prefix);
    int32_t which = 0;
    if (d->count < 0) {
      if (strcmp(name, d->prefix) != 0)
        continue;
    } else {
      char *end;
      if (strncmp(name, d->prefix, n) != 0 || name[n] < '0' || name[n] > '9')
        continue;
      which = (int32_t)strtol(name + n, &end, 10);
      if (*end || which >= d->count)
        continue;
    }
    o->kind = d->bits == 1 ? PTX_PREDICATE : PTX_REGISTER;
    o->number = d->first + which;
    return true;
  }
  return special(p, name, o);
}

/* ---- Operands ---- */

static void offset(ptx_parser *p, ptx_operand *o) {
  if (ptx_accept(p, '+'))
    o->bits = (uint64_t)ptx_integer(p);
  else if (ptx_peek(p, '-'))
    o->bits = (uint64_t)ptx_integer(p);
}

static ptx_operand address(ptx_parser *p) {
  ptx_operand o = {.kind = PTX_ADDRESS, .number = PTX_NONE, .paired = PTX_NONE}, base = {0};
  ptx_next(p);
  if (!ptx_find_register(p, p->token, &base) && !ptx_number_of(p->token, &o)) {
    o.symbol = ptx_find_symbol(p, p->token);
    if (!o.symbol)
      ptx_refuse(p, "'%s' is no register and no variable", p->token);
  }
  if (base.kind == PTX_PREDICATE && base.number)
    ptx_refuse(p, "a predicate is no address");
  if (o.kind == PTX_NUMBER || o.symbol)
    base.number = PTX_NONE;
  o.kind = PTX_ADDRESS;
  o.number = base.number;
  if (o.symbol || o.number != PTX_NONE)
    offset(p, &o);
  ptx_expect(p, ']');
  return o;
}

static ptx_operand vector(ptx_parser *p) {
  ptx_operand o = {.kind = PTX_VECTOR, .number = PTX_NONE, .paired = PTX_NONE},
              parts[PTX_MOST_LIST];
  do {
    if (o.n_of_vector == PTX_MOST_LIST)
      ptx_refuse(p, "a vector of more than %d", PTX_MOST_LIST);
    parts[o.n_of_vector++] = ptx_read_operand(p);
  } while (ptx_accept(p, ','));
  ptx_expect(p, '}');
  if (p->n_pool + o.n_of_vector > PTX_POOL)
    ptx_refuse(p, "too many vectors");
  o.of_vector = memcpy(p->pool + p->n_pool, parts, (size_t)o.n_of_vector * sizeof *parts);
  p->n_pool += o.n_of_vector;
  return o;
}

ptx_operand ptx_read_operand(ptx_parser *p) {
  ptx_operand o = {.number = PTX_NONE, .paired = PTX_NONE};
  if (ptx_accept(p, '['))
    return address(p);
  if (ptx_accept(p, '{'))
    return vector(p);
  o.negated = ptx_accept(p, '!');
  bool negative = ptx_accept(p, '-');
  ptx_next(p);
  if (ptx_is(p, "_"))
    o.kind = PTX_SINK;
  else if (ptx_number_of(p->token, &o)) {
    if (negative)
      o.bits = o.is_float ? o.bits ^ UINT64_C(1) << (o.is_f64 ? 63 : 31) : 0 - o.bits;
  } else if (ptx_find_register(p, p->token, &o)) {
    ptx_operand second = {0};
    if (ptx_accept(p, '|')) {
      ptx_next(p);
      if (!ptx_is(p, "_") &&
          (!ptx_find_register(p, p->token, &second) || second.kind != PTX_PREDICATE))
        ptx_refuse(p, "'%s' is no predicate", p->token);
      o.paired = ptx_is(p, "_") ? PTX_NONE : second.number;
    }
  } else if (ptx_find_symbol(p, p->token)) {
    o.kind = PTX_SYMBOL;
    o.symbol = ptx_find_symbol(p, p->token);
    offset(p, &o);
  } else {
    o.kind = PTX_NAME;
    snprintf(o.name, sizeof o.name, "%.63s", p->token);
  }
  return o;
}
