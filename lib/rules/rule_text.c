/* Parses rules as text: recursive descent that stops at the first violation. */
#include "rules/rule_text.h"

#include <ctype.h>
#include <stdio.h>
#include <string.h>

typedef struct reader {
  const char *text, *at;
  tp_rule_text *rule;
  uint8_t clauses; /* bit i: clause i was read */
  char *why;
  size_t why_size;
} reader;

static tp_status refuse(const reader *r, const char *expected) {
  char found[8];
  snprintf(found, sizeof found, "'%c'", *r->at);
  snprintf(r->why, r->why_size,
           "column %d: expected %s, found %s; a rule is written as in ([i,k],[k,j])->([i,j])",
           (int)(r->at - r->text) + 1, expected,
           !*r->at                          ? "the end"
           : isprint((unsigned char)*r->at) ? found
                                            : "a character that is not printable ASCII");
  return TP_INVALID_ARGUMENT;
}

static void skip_space(reader *r) {
  while (*r->at == ' ')
    r->at++;
}

static bool take(reader *r, const char *token) {
  skip_space(r);
  size_t n = strlen(token);
  if (strncmp(r->at, token, n) != 0)
    return false;
  r->at += n;
  return true;
}

static tp_status take_name(reader *r, const char *expected, char name[TP_MAX_FACTOR_NAME]) {
  skip_space(r);
  const char *start = r->at;
  if (!isalpha((unsigned char)*r->at))
    return refuse(r, expected);
  while (isalnum((unsigned char)*r->at) || *r->at == '_')
    r->at++;
  size_t n = (size_t)(r->at - start);
  if (n < TP_MAX_FACTOR_NAME) {
    memcpy(name, start, n);
    name[n] = 0;
    return TP_OK;
  }
  snprintf(r->why, r->why_size, "column %d: a name has at most %d characters, this one has %zu",
           (int)(start - r->text) + 1, TP_MAX_FACTOR_NAME - 1, n);
  return TP_INVALID_ARGUMENT;
}

static int find_factor(const tp_rule_text *rule, const char *name) {
  for (int f = 0; f < rule->n_factors; f++)
    if (strcmp(rule->factors[f].name, name) == 0)
      return f;
  return -1;
}

/* ---- lists ---- */

static tp_status add_factor(reader *r, int l, tp_dim *dim) {
  char name[TP_MAX_FACTOR_NAME];
  tp_rule_text *rule = r->rule;
  TP_TRY(take_name(r, "the name of a factor, '(', '1' or '_'", name));
  int f = find_factor(rule, name);
  if (f < 0 && rule->n_factors == TP_MAX_FACTORS) {
    snprintf(r->why, r->why_size,
             "factor '%s' is one too many: a rule has at most %d; write '_' for dimensions that "
             "stay whole",
             name, TP_MAX_FACTORS);
    return TP_INVALID_ARGUMENT;
  }
  if (f < 0) {
    f = rule->n_factors++;
    memcpy(rule->factors[f].name, name, sizeof name);
  }
  if (rule->factors[f].lists >> l & 1) {
    snprintf(r->why, r->why_size,
             "factor '%s' occurs twice in one list; an axis can split only one dimension of a "
             "tensor, so write '_' for both",
             name);
    return TP_INVALID_ARGUMENT;
  }
  if (dim->n_factors == TP_MAX_DIM_FACTORS) {
    snprintf(r->why, r->why_size,
             "factor '%s' is one too many in its dimension: at most %d can be joined", name,
             TP_MAX_DIM_FACTORS);
    return TP_INVALID_ARGUMENT;
  }
  rule->factors[f].lists |= UINT64_C(1) << l;
  dim->factors[dim->n_factors++] = (uint8_t)f;
  return TP_OK;
}

static tp_status read_dim(reader *r, int l) {
  tp_text_list *list = &r->rule->lists[l];
  if (list->rank == TP_MAX_RANK) {
    snprintf(r->why, r->why_size, "column %d: a list has at most %d dimensions",
             (int)(r->at - r->text) + 1, TP_MAX_RANK);
    return TP_INVALID_ARGUMENT;
  }
  int d = list->rank++;
  if (take(r, "_"))
    return TP_OK;
  if (take(r, "1")) {
    list->ones |= 1u << d;
    return TP_OK;
  }
  if (!take(r, "("))
    return add_factor(r, l, &list->dims[d]);
  tp_status status = TP_OK;
  do
    status = add_factor(r, l, &list->dims[d]);
  while (status == TP_OK && !take(r, ")"));
  return status;
}

static tp_status read_list(reader *r, int l) {
  if (take(r, "()")) {
    r->rule->lists[l].is_scalar = true;
    return TP_OK;
  }
  if (!take(r, "["))
    return refuse(r, "'[' (a tensor) or '()' (a scalar)");
  if (take(r, "]"))
    return TP_OK;
  tp_status status;
  do
    status = read_dim(r, l);
  while (status == TP_OK && take(r, ","));
  if (status == TP_OK && !take(r, "]"))
    return refuse(r, "',' or ']'");
  return status;
}

static tp_status read_lists(reader *r, int first, int *n) {
  *n = 0;
  if (!take(r, "("))
    return refuse(r, "'('");
  if (take(r, ")"))
    return TP_OK;
  tp_status status;
  do {
    if (first + *n == TP_MAX_LISTS) {
      snprintf(r->why, r->why_size, "more than %d operands and results", TP_MAX_LISTS);
      return TP_INVALID_ARGUMENT;
    }
    status = read_list(r, first + (*n)++);
  } while (status == TP_OK && take(r, ","));
  if (status == TP_OK && !take(r, ")"))
    return refuse(r, "',' or ')'");
  return status;
}

/* ---- clauses ---- */

/* Reads the next factor that a clause names. */
static tp_status named_factor(reader *r, const char *clause, tp_factor_kind kind, int *factor) {
  char name[TP_MAX_FACTOR_NAME];
  TP_TRY(take_name(r, "the name of a factor", name));
  int f = find_factor(r->rule, name);
  if (f < 0 || r->rule->factors[f].named) {
    snprintf(r->why, r->why_size,
             f < 0 ? "%s names factor '%s', which occurs in no list"
                   : "%s names factor '%s', which an earlier clause already names",
             clause, name);
    return TP_INVALID_ARGUMENT;
  }
  r->rule->factors[f].kind = kind;
  r->rule->factors[f].named = true;
  *factor = f;
  return TP_OK;
}

static tp_status read_reduction(reader *r) {
  int f;
  tp_combiner combiner = TP_SUM;
  tp_status status = named_factor(r, "reduction", TP_REDUCTION, &f);
  if (status != TP_OK)
    return status;
  if (take(r, ":")) {
    char name[TP_MAX_FACTOR_NAME];
    if ((status = take_name(r, "the name of a combiner", name)) != TP_OK)
      return status;
    if (!tp_combiner_parse(name, &combiner) || combiner == TP_AVERAGE) {
      snprintf(r->why, r->why_size,
               "'%s' is not a combiner of partial results; use sum, product, max, min, maxnumf, "
               "minnumf, maxui, minui, and, or, xor",
               name);
      return TP_INVALID_ARGUMENT;
    }
  }
  if (r->rule->reduces && r->rule->combiner != combiner) {
    snprintf(r->why, r->why_size,
             "factor '%s' is combined by %s, but an earlier factor by %s; partial results need a "
             "single combiner, so make one of the factors fixed",
             r->rule->factors[f].name, tp_combiner_name(combiner),
             tp_combiner_name(r->rule->combiner));
    return TP_INVALID_ARGUMENT;
  }
  r->rule->reduces = true;
  r->rule->combiner = combiner;
  return TP_OK;
}

static tp_status read_fixed(reader *r) {
  int f;
  return named_factor(r, "fixed", TP_FIXED, &f);
}

/* Reads the next operand that a clause names. It must be a tensor. */
static tp_status named_operand(reader *r, const char *clause, int *operand) {
  int i = 0;
  skip_space(r);
  if (!isdigit((unsigned char)*r->at))
    return refuse(r, "the number of an operand");
  while (isdigit((unsigned char)*r->at) && i < TP_MAX_LISTS)
    i = 10 * i + (*r->at++ - '0');
  if (i >= r->rule->n_operands || r->rule->lists[i].is_scalar) {
    snprintf(r->why, r->why_size,
             "%s names operand %d, which is not a tensor among the %d operands", clause, i,
             r->rule->n_operands);
    return TP_INVALID_ARGUMENT;
  }
  *operand = i;
  return TP_OK;
}

static tp_status read_init(reader *r) {
  int i;
  TP_TRY(named_operand(r, "init", &i));
  r->rule->lists[i].is_init = true;
  return TP_OK;
}

static tp_status read_linear(reader *r) {
  int i;
  TP_TRY(named_operand(r, "linear", &i));
  r->rule->linear[r->rule->n_linear - 1] |= UINT64_C(1) << i;
  return TP_OK;
}

static tp_status begin_linear(reader *r) {
  if (r->rule->n_linear == TP_MAX_VARIANTS) {
    snprintf(r->why, r->why_size, "more than %d clauses linear={...}", TP_MAX_VARIANTS);
    return TP_INVALID_ARGUMENT;
  }
  r->rule->n_linear++;
  return TP_OK;
}

static tp_status read_uneven(reader *r) {
  char name[TP_MAX_FACTOR_NAME];
  TP_TRY(take_name(r, "the name of a factor", name));
  int f = find_factor(r->rule, name);
  if (f < 0) {
    snprintf(r->why, r->why_size, "uneven names factor '%s', which occurs in no list", name);
    return TP_INVALID_ARGUMENT;
  }
  r->rule->factors[f].uneven = true;
  return TP_OK;
}

static tp_status read_clause(reader *r) {
  static const struct {
    const char *name;
    tp_status (*read)(reader *r); /* reads one entry in the braces */
    /* starts a clause that may occur several times, each with its own meaning; NULL: it occurs
     * once */
    tp_status (*begin)(reader *r);
  } clauses[] = {{"reduction", read_reduction, NULL},
                 {"fixed", read_fixed, NULL},
                 {"init", read_init, NULL},
                 {"linear", read_linear, begin_linear},
                 {"uneven", read_uneven, NULL}};
  for (int i = 0; i < TP_LEN(clauses); i++) {
    if (!take(r, clauses[i].name))
      continue;
    tp_status status = clauses[i].begin ? clauses[i].begin(r) : TP_OK;
    if (status != TP_OK)
      return status;
    if (!clauses[i].begin && (r->clauses >> i & 1)) {
      snprintf(r->why, r->why_size, "clause %s occurs twice", clauses[i].name);
      return TP_INVALID_ARGUMENT;
    }
    r->clauses |= (uint8_t)(1u << i);
    if (!take(r, "=") || !take(r, "{"))
      return refuse(r, "'={'");
    do
      status = clauses[i].read(r);
    while (status == TP_OK && take(r, ","));
    if (status == TP_OK && !take(r, "}"))
      return refuse(r, "',' or '}'");
    return status;
  }
  return refuse(
      r, "the end, or one of reduction={...}, fixed={...}, init={...}, linear={...}, uneven={...}");
}

tp_status tp__rule_text_parse(const char *text, tp_rule_text *rule, char *why, size_t why_size) {
  reader r = {.text = text, .at = text, .rule = rule, .why = why, .why_size = why_size};
  memset(rule, 0, sizeof *rule);
  tp_status status = read_lists(&r, 0, &rule->n_operands);
  if (status == TP_OK && !take(&r, "->"))
    return refuse(&r, "'->'");
  if (status == TP_OK)
    status = read_lists(&r, rule->n_operands, &rule->n_results);
  for (skip_space(&r); status == TP_OK && *r.at; skip_space(&r))
    status = read_clause(&r);
  return status == TP_OK ? tp__rule_text_check(rule, why, why_size) : status;
}
