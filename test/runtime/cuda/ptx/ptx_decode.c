/* Decodes instructions: finds the table row for an opcode and its operands.
 *
 * The letters of a row's operands:
 *   d D x   results: of the first type, of twice its bits, of 32 bits
 *   r       like d, optionally followed by a predicate: d|p
 *   a A w   values: of the last type, of twice its bits, of 32 bits
 *   o       like w, optional
 *   l m     result of the first and value of the last type, in registers of any width
 *   V v     the same in a vector, or a single one
 *   H h     the parts of a packed value, as a vector
 *   F f g   vectors of 32-bit registers: four results; four values; two values
 *   C c     the accumulators of a product: a vector of 64 or 32 registers of 32 bits
 *   q       value of 64 bits
 *   i       number
 *   *       no operand: the mask of all threads of the warp
 *   P p     predicate that is set; predicate that is read
 *   Q       p|q that are set; with .and, .or, .xor followed by an operand that is read
 *   @       address
 *   L       label, or table of labels */
#define _GNU_SOURCE 1
#include "ptx_parser.h"

#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>

const struct ptx_type_row ptx_types[] = {
#define ROW(constant, name, bits) {name, bits},
    PTX_TYPES(ROW)
#undef ROW
};

static const struct {
  const char *name;
  uint64_t bit;
} modifiers[] = {
#define ROW(constant, name) {name, PTX_M_##constant},
    PTX_MODIFIERS(ROW)
#undef ROW
        {"gl", PTX_M_GPU},
    {"cluster", PTX_M_GPU},
    {"ca", PTX_M_CACHED},
    {"cg", PTX_M_CACHED},
    {"cs", PTX_M_CACHED},
    {"lu", PTX_M_CACHED},
    {"cv", PTX_M_CACHED},
    {"wb", PTX_M_CACHED},
    {"wt", PTX_M_CACHED},
};

static const struct {
  const char *name;
  uint8_t comparison;
} comparisons[] = {
    {"eq", PTX_EQ},
    {"ne", PTX_NE},
    {"lt", PTX_LT},
    {"le", PTX_LE},
    {"gt", PTX_GT},
    {"ge", PTX_GE},
    {"lo", PTX_LT},
    {"ls", PTX_LE},
    {"hi", PTX_GT},
    {"hs", PTX_GE},
    {"equ", PTX_EQ | PTX_UNORDERED},
    {"neu", PTX_NE | PTX_UNORDERED},
    {"ltu", PTX_LT | PTX_UNORDERED},
    {"leu", PTX_LE | PTX_UNORDERED},
    {"gtu", PTX_GT | PTX_UNORDERED},
    {"geu", PTX_GE | PTX_UNORDERED},
    {"num", PTX_NUM},
    {"nan", PTX_NUM | PTX_UNORDERED},
};

typedef struct opcode {
  char name[32];
  int n_types;
  uint8_t types[2];
  uint8_t comparison;
  bool compares;
  uint64_t modifiers;
} opcode;

static bool failed(char error[PTX_TEXT], const char *format, ...)
    __attribute__((format(printf, 2, 3)));
static bool failed(char error[PTX_TEXT], const char *format, ...) {
  va_list arguments;
  va_start(arguments, format);
  vsnprintf(error, PTX_TEXT, format, arguments);
  va_end(arguments);
  return false;
}

/* Most names differ in their first letters: each word is compared with hundreds. */
static bool is_same(const char *a, const char *b) { return a[0] == b[0] && strcmp(a, b) == 0; }

static bool modifier(opcode *o, const char *word) {
  if (strstr(word, "::")) { /* a cache hint */
    o->modifiers |= PTX_M_CACHED;
    return true;
  }
  for (size_t k = 0;
       k < sizeof comparisons / sizeof *comparisons && strcmp(o->name, "setp") == 0 && !o->compares;
       k++)
    if (is_same(word, comparisons[k].name)) {
      o->comparison = comparisons[k].comparison;
      o->compares = true;
      return true;
    }
  for (uint8_t t = 0; t < PTX_NO_TYPE; t++)
    if (is_same(word, ptx_types[t].name)) {
      if (o->n_types == 2)
        return false;
      o->types[o->n_types++] = t;
      return true;
    }
  for (size_t k = 0; k < sizeof modifiers / sizeof *modifiers; k++)
    if (is_same(word, modifiers[k].name)) {
      o->modifiers |= modifiers[k].bit;
      return true;
    }
  return false;
}

static bool read_opcode(const char *text, opcode *o, char error[PTX_TEXT]) {
  char copy[96], *rest = NULL;
  *o = (opcode){.n_types = 0};
  snprintf(copy, sizeof copy, "%s", text);
  char *word = strtok_r(copy, ".", &rest);
  snprintf(o->name, sizeof o->name, "%.31s", word ? word : "");
  while ((word = strtok_r(NULL, ".", &rest)))
    if (!modifier(o, word))
      return failed(error, "'.%s' is not supported", word);
  return true;
}

static bool has_type(const char *types, int type) {
  const char *name = ptx_types[type].name;
  size_t n = strlen(name);
  for (const char *at = types; (at = strstr(at, name)); at += n)
    if ((at == types || at[-1] == ' ') && (at[n] == ' ' || at[n] == 0))
      return true;
  return false;
}

/* Matches the types of a row: one list for all, or "first list>second list". */
static bool types_fit(const char *types, const opcode *o) {
  const char *second = strchr(types, '>');
  char first[128];
  if (!second)
    return o->n_types == 0 ? !types[0] : o->n_types == 1 && has_type(types, o->types[0]);
  snprintf(first, sizeof first, "%.*s", (int)(second - types), types);
  return o->n_types == 2 && has_type(first, o->types[0]) && has_type(second + 1, o->types[1]);
}

/* ---- Operands ---- */

ptx_place ptx_constant(ptx_kernel *k, uint64_t bits, bool wide) {
  size_t words = wide ? 2 * PTX_WARP : PTX_WARP;
  for (size_t at = 0; at + words <= k->n_constants; at += PTX_WARP) {
    /* rows begin at multiples of 32 words */
    uint64_t known = 0;
    memcpy(&known, k->constants + at, wide ? 8 : 4);
    bool same = known == bits && k->constant_wide[at / PTX_WARP] == (wide ? 1 : 0);
    if (same)
      return ~(ptx_place)at;
  }
  size_t at = k->n_constants;
  k->constants = realloc(k->constants, (at + words) * sizeof *k->constants);
  k->constant_wide = realloc(k->constant_wide, (at + words) / PTX_WARP);
  if (!k->constants || !k->constant_wide)
    abort();
  k->n_constants += words;
  k->constant_wide[at / PTX_WARP] = wide;
  if (wide)
    k->constant_wide[at / PTX_WARP + 1] = 2; /* its second half */
  for (int l = 0; l < PTX_WARP; l++)
    if (wide)
      memcpy(k->constants + at + 2 * l, &bits, 8);
    else
      k->constants[at + (size_t)l] = (uint32_t)bits;
  return ~(ptx_place)at;
}

/* Returns the bits of a number as a value of the type. */
static uint64_t literal(const ptx_operand *o, int type) {
  if (!o->is_float)
    return ptx_types[type].bits == 64 ? o->bits
                                      : o->bits & ((UINT64_C(1) << ptx_types[type].bits) - 1);
  uint32_t single = (uint32_t)o->bits;
  float f;
  double d;
  memcpy(&f, &single, sizeof f);
  memcpy(&d, &o->bits, sizeof d);
  if (o->is_f64)
    f = (float)d;
  else
    d = (double)f;
  uint64_t bits = 0;
  if (ptx_types[type].bits == 64)
    memcpy(&bits, &d, sizeof d);
  else
    memcpy(&bits, &f, sizeof f);
  return bits;
}

int32_t ptx_new_register(ptx_kernel *k, int bits) {
  k->virtual_bits = realloc(k->virtual_bits, (size_t)k->n_virtual + 1);
  if (!k->virtual_bits)
    abort();
  k->virtual_bits[k->n_virtual] = (uint8_t)bits;
  return k->n_virtual++;
}

static bool result(ptx_kernel *k, ptx_instruction *i, const ptx_operand *o, int bits,
                   bool any_width) {
  if (o->kind == PTX_SINK) {
    /* a dummy register, wide enough for any handler */
    i->register_bits = 64;
    i->wide |= UINT32_C(1) << i->n_to;
    i->to[i->n_to++] = ptx_new_register(k, 64);
    return true;
  }
  if (o->kind != PTX_REGISTER || (!any_width && (k->virtual_bits[o->number] == 64) != (bits == 64)))
    return false;
  if (i->n_to == 0)
    i->register_bits = k->virtual_bits[o->number];
  i->wide |= (uint32_t)(k->virtual_bits[o->number] == 64) << i->n_to;
  i->to[i->n_to++] = o->number;
  return true;
}

static bool value(ptx_kernel *k, ptx_instruction *i, const ptx_operand *o, int type,
                  bool any_width) {
  bool wide = ptx_types[type].bits == 64;
  if (o->kind == PTX_NUMBER) {
    i->from[i->n_from] = ptx_constant(k, literal(o, type), wide);
  } else if (o->kind == PTX_SYMBOL) {
    i->from[i->n_from] = ptx_constant(k, o->symbol->at + o->bits, wide);
  } else if (o->kind == PTX_REGISTER && (any_width || (k->virtual_bits[o->number] == 64) == wide)) {
    i->from[i->n_from] = o->number;
    wide = k->virtual_bits[o->number] == 64;
  } else {
    return false;
  }
  i->wide |= (uint32_t)wide << (4 + i->n_from);
  i->n_from++;
  return true;
}

static bool predicate(ptx_instruction *i, const ptx_operand *o, int *n) {
  bool number = o->kind == PTX_NUMBER;
  if (o->kind != PTX_PREDICATE && !number)
    return false;
  i->from_p[*n] = number ? 0 : o->number;
  i->from_p_not[(*n)++] = number ? o->bits != 0 : o->negated;
  return true;
}

static bool address(ptx_kernel *k, ptx_instruction *i, const ptx_operand *o) {
  if (o->kind != PTX_ADDRESS)
    return false;
  bool wide = o->number == PTX_NONE || k->virtual_bits[o->number] == 64;
  i->from[i->n_from] = o->number == PTX_NONE ? ptx_constant(k, 0, true) : o->number;
  *(i->n_from == 0 ? &i->offset : &i->second_offset) =
      (int64_t)(o->bits + (o->symbol ? o->symbol->at : 0));
  i->wide |= (uint32_t)wide << (4 + i->n_from);
  i->n_from++;
  return true;
}

/* Returns the type of twice as many bits: PTX_U32 for b16, ... */
static int doubled(int type) { return ptx_types[type].bits == 16 ? PTX_U32 : PTX_U64; }

/* Accumulators, and other registers of products, keep their values until the product is waited for,
 * so they have rows of their own (ptx_registers.c). */
static bool accumulators(ptx_kernel *k, ptx_instruction *i, const ptx_operand *parts, int n) {
  ptx_list *list = malloc(sizeof *list);
  if (!list)
    abort();
  *list = (ptx_list){.n = n};
  k->lists = ptx_grown(k->lists, k->n_lists, sizeof(ptx_list *));
  k->lists[k->n_lists++] = list;
  for (int j = 0; j < n; j++) {
    if (parts[j].kind != PTX_REGISTER || k->virtual_bits[parts[j].number] != 32)
      return false;
    list->of[j] = parts[j].number;
  }
  i->accumulators = list;
  return true;
}

/* Decodes operand `letter`, which may be missing (NULL); false if it does not match. */
static bool take(ptx_kernel *k, ptx_instruction *i, char letter, const ptx_operand *o, int *n_p) {
  int last = i->second_type;
  const ptx_operand *parts = o && o->kind == PTX_VECTOR ? o->of_vector : o;
  int n = o && o->kind == PTX_VECTOR ? o->n_of_vector : 1;
  if (!o)
    return letter == 'o';
  if (letter == 'C' || letter == 'c')
    return n == (letter == 'C' ? 64 : 32) && accumulators(k, i, parts, n);
  if (n > PTX_MOST_TO)
    return false;
  switch (letter) {
  case 'd':
    return result(k, i, o, ptx_types[i->type].bits, false);
  case 'D':
    return result(k, i, o, ptx_types[doubled(i->type)].bits, false);
  case 'x':
    return result(k, i, o, 32, false);
  case 'l':
    return result(k, i, o, 0, true);
  case 'r':
    i->to_p[0] = o->paired;
    return result(k, i, o, ptx_types[i->type].bits, false);
  case 'a':
    return value(k, i, o, last, false);
  case 'A':
    return value(k, i, o, doubled(last), false);
  case 'w':
  case 'o':
    return value(k, i, o, PTX_U32, false);
  case 'q':
    return value(k, i, o, PTX_B64, false);
  case 'i':
    return o->kind == PTX_NUMBER && value(k, i, o, PTX_U32, false);
  case 'm':
    return value(k, i, o, last, true);
  case 'V':
    for (int j = 0; j < n; j++)
      if (!result(k, i, &parts[j], 0, true))
        return false;
    return n == (i->modifiers & PTX_M_V4 ? 4 : i->modifiers & PTX_M_V2 ? 2 : 1);
  case 'v':
    for (int j = 0; j < n; j++)
      if (!value(k, i, &parts[j], last, true))
        return false;
    return n == (i->modifiers & PTX_M_V4 ? 4 : i->modifiers & PTX_M_V2 ? 2 : 1);
  case 'h': /* the parts of a packed value */
  case 'H':
    if (o->kind != PTX_VECTOR || ptx_types[i->type].bits % n)
      return false;
    for (int j = 0, bits = ptx_types[i->type].bits / n; j < n; j++)
      if (letter == 'H' ? !result(k, i, &parts[j], bits, false)
                        : !value(k, i, &parts[j],
                                 bits == 64   ? PTX_B64
                                 : bits == 32 ? PTX_B32
                                              : PTX_B16,
                                 false))
        return false;
    return true;
  case 'F':
  case 'f':
  case 'g':
    for (int j = 0; j < n; j++)
      if (letter == 'F' ? !result(k, i, &parts[j], 32, false)
                        : !value(k, i, &parts[j], PTX_B32, false))
        return false;
    return n == (letter == 'g' ? 2 : 4);
  case 'P':
    i->to_p[0] = o->number;
    return o->kind == PTX_PREDICATE;
  case 'Q':
    i->to_p[0] = o->kind == PTX_SINK ? PTX_NONE : o->number;
    i->to_p[1] = o->paired;
    return o->kind == PTX_PREDICATE || o->kind == PTX_SINK;
  case 'p':
    return predicate(i, o, n_p);
  case '@':
    return address(k, i, o);
  default:
    return o->kind == PTX_NAME;
  }
}

/* Loads and atomic operations with which threads may wait for each other. */
static const uint64_t waits = PTX_M_ACQUIRE | PTX_M_ACQ_REL | PTX_M_VOLATILE | PTX_M_RELAXED |
                              PTX_M_SC | PTX_M_CAS | PTX_M_EXCH;

static bool fits(ptx_kernel *k, const ptx_operation *row, const opcode *o, const ptx_statement *s,
                 ptx_instruction *i) {
  ptx_instruction made = *i;
  int n = 0, n_p = 0;
  made.run = row->run;
  made.kind = (uint8_t)row->kind;
  made.modifiers = o->modifiers;
  made.type = o->n_types ? o->types[0] : PTX_B32;
  made.second_type = o->n_types == 2 ? o->types[1] : made.type;
  made.comparison = o->comparison;
  made.to_p[0] = made.to_p[1] = made.from_p[0] = made.from_p[1] = PTX_NONE;
  for (const char *letter = row->operands; *letter; letter++) {
    if (*letter == '*') {
      made.from[made.n_from++] = ptx_constant(k, UINT32_MAX, false);
      continue;
    }
    if (!take(k, &made, *letter, n < s->n_operands ? &s->operands[n] : NULL, &n_p))
      return false;
    n += n < s->n_operands;
  }
  if (row->operands[0] == 'Q' && o->modifiers & (PTX_M_AND | PTX_M_OR | PTX_M_XOR) &&
      !(n < s->n_operands && predicate(&made, &s->operands[n++], &n_p)))
    return false;
  if (n != s->n_operands)
    return false;
  made.yields = strcmp(row->name, "nanosleep") == 0 ||
                (row->kind == PTX_MEMORY && made.n_to > 0 && (o->modifiers & waits) != 0);
  *i = made;
  return true;
}

bool ptx_decode(ptx_kernel *k, const ptx_statement *s, ptx_instruction *i, char error[PTX_TEXT]) {
  static const struct {
    const ptx_operation *rows;
    const int *n;
  } tables[] = {
#define ROW(name) {ptx_##name##_operations, &ptx_n_##name##_operations},
      PTX_TABLES(ROW)
#undef ROW
  };
  enum { UNKNOWN, OTHER_TYPES, OTHER_MODIFIERS, OTHER_OPERANDS };
  static const char *const reasons[] = {
      "the operation is not supported", "not supported for this type",
      "not supported with these modifiers", "the operands do not fit"};
  opcode o = {.n_types = 0};
  int nearest = UNKNOWN;
  for (size_t t = 0; t < sizeof tables / sizeof *tables; t++)
    for (int r = 0; r < *tables[t].n; r++)
      if (is_same(tables[t].rows[r].name, s->opcode) && strchr(s->opcode, '.')) {
        if (fits(k, &tables[t].rows[r], &o, s, i))
          return true;
        nearest = OTHER_OPERANDS;
      }
  if (nearest == OTHER_OPERANDS)
    return failed(error, "%s", reasons[nearest]);
  if (!read_opcode(s->opcode, &o, error))
    return false;
  for (size_t t = 0; t < sizeof tables / sizeof *tables; t++)
    for (int r = 0; r < *tables[t].n; r++) {
      const ptx_operation *row = &tables[t].rows[r];
      if (!is_same(row->name, o.name))
        continue;
      int how = !types_fit(row->types, &o) ? OTHER_TYPES
                : (o.modifiers & row->required) != row->required ||
                        o.modifiers & ~(row->required | row->allowed)
                    ? OTHER_MODIFIERS
                    : OTHER_OPERANDS;
      if (how == OTHER_OPERANDS && fits(k, row, &o, s, i))
        return true;
      nearest = how > nearest ? how : nearest;
    }
  return failed(error, "%s", reasons[nearest]);
}
