/* Parses #sdy.mesh, #sdy.sharding, #sdy.sharding_per_value and #sdy.op_sharding_rule. MLIR provides
 * attributes of an unknown dialect as text. */
#include "passes/import/import.h"

#include <stdio.h>
#include <string.h>

/* A position in the text of one attribute. */
typedef struct cursor {
  MlirOperation op;
  const char *what;
  MlirStringRef text;
  size_t at;
} cursor;

static tp_status expected(const cursor *c, const char *wanted) {
  size_t rest = c->text.length - c->at;
  int shown = rest > 24 ? 24 : (int)rest;
  return tp__error(c->op, TP_INVALID_ARGUMENT,
                   "%s: #sdy.%.*s cannot be read: expected %s at %s%.*s%s", c->what,
                   c->text.length > 200 ? 200 : (int)c->text.length, c->text.data, wanted,
                   rest ? "'" : "the end", shown, c->text.data + c->at, rest ? "'" : "");
}

static void skip_space(cursor *c) {
  while (c->at < c->text.length && strchr(" \t\r\n", c->text.data[c->at]) != NULL)
    c->at++;
}

static bool accept(cursor *c, const char *token) {
  size_t n = strlen(token);
  skip_space(c);
  if (c->text.length - c->at < n || memcmp(c->text.data + c->at, token, n) != 0)
    return false;
  c->at += n;
  return true;
}

static tp_status expect(cursor *c, const char *token) {
  char wanted[32];
  if (accept(c, token))
    return TP_OK;
  snprintf(wanted, sizeof wanted, "'%s'", token);
  return expected(c, wanted);
}

static tp_status open_attribute(MlirOperation op, const char *what, MlirAttribute attr,
                                const char *mnemonic, cursor *c) {
  *c = (cursor){.op = op, .what = what};
  if (mlirAttributeIsNull(attr) || !mlirAttributeIsAOpaque(attr) ||
      !tp__ref_is(mlirOpaqueAttrGetDialectNamespace(attr), "sdy"))
    return tp__error(op, TP_INVALID_ARGUMENT, "%s is not a #sdy.%s<...>", what, mnemonic);
  c->text = mlirOpaqueAttrGetData(attr);
  TP_TRY(expect(c, mnemonic));
  return expect(c, "<");
}

static tp_status close_attribute(cursor *c) {
  TP_TRY(expect(c, ">"));
  skip_space(c);
  return c->at == c->text.length ? TP_OK : expected(c, "the end");
}

/* Reads a number of at most nine digits, so that the product of two stays far from overflow. */
static tp_status number(cursor *c, int64_t *value) {
  skip_space(c);
  size_t first = c->at;
  *value = 0;
  for (; c->at < c->text.length && c->text.data[c->at] >= '0' && c->text.data[c->at] <= '9' &&
         c->at - first < 10;
       c->at++)
    *value = *value * 10 + (c->text.data[c->at] - '0');
  if (c->at > first && c->at - first < 10)
    return TP_OK;
  c->at = first;
  return expected(c, "a number of at most nine digits");
}

/* Reads "text", without escapes. */
static tp_status string(cursor *c, MlirStringRef *text) {
  TP_TRY(expect(c, "\""));
  size_t first = c->at;
  while (c->at < c->text.length && c->text.data[c->at] != '"' && c->text.data[c->at] != '\\')
    c->at++;
  *text = mlirStringRefCreate(c->text.data + first, c->at - first);
  return expect(c, "\"");
}

static bool in_symbol(char c) {
  return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') || c == '_' ||
         c == '$' || c == '.' || c == '-';
}

static tp_status mesh_symbol(cursor *c, MlirStringRef *symbol) {
  skip_space(c);
  if (c->text.length - c->at >= 5 && memcmp(c->text.data + c->at, "mesh<", 5) == 0)
    return tp__error(c->op, TP_UNSUPPORTED,
                     "%s: a mesh inside of #sdy.sharding is not supported; name it in an sdy.mesh "
                     "op, as in @mesh",
                     c->what);
  TP_TRY(expect(c, "@"));
  if (c->at < c->text.length && c->text.data[c->at] == '"')
    return string(c, symbol);
  size_t first = c->at;
  while (c->at < c->text.length && in_symbol(c->text.data[c->at]))
    c->at++;
  *symbol = mlirStringRefCreate(c->text.data + first, c->at - first);
  return c->at > first ? TP_OK : expected(c, "the name of a mesh");
}

/* ---- shardings ---- */

static tp_status axis(cursor *c, int place, tp_sdy_sharding *sharding) {
  if (sharding->n_axes == TP_SDY_MAX_AXES)
    return tp__error(c->op, TP_UNSUPPORTED, "%s: sdy.sharding has more than %d axes", c->what,
                     TP_SDY_MAX_AXES);
  tp_sdy_axis *next = &sharding->axes[sharding->n_axes++];
  *next = (tp_sdy_axis){.place = place};
  TP_TRY(string(c, &next->name));
  if (!accept(c, ":"))
    return TP_OK;
  TP_TRY(expect(c, "("));
  TP_TRY(number(c, &next->pre));
  TP_TRY(expect(c, ")"));
  TP_TRY(number(c, &next->size));
  if (next->pre < 1 || next->size < 2)
    return tp__error(
        c->op, TP_INVALID_ARGUMENT,
        "%s: sub-axis \"%.*s\":(%lld)%lld; the pre-size must be at least 1, the size at least 2",
        c->what, (int)next->name.length, next->name.data, (long long)next->pre,
        (long long)next->size);
  return TP_OK;
}

/* Reads {"x", "y":(1)2, ?}p1 */
static tp_status dimension(cursor *c, tp_sdy_sharding *sharding) {
  int d = sharding->rank;
  int64_t priority;
  TP_TRY(expect(c, "{"));
  if (d == TP_MAX_RANK)
    return tp__error(c->op, TP_UNSUPPORTED, "%s: sdy.sharding has more than %d dimensions", c->what,
                     TP_MAX_RANK);
  sharding->rank++;
  bool more = !accept(c, "}"); /* axes, or "?", which must be last */
  while (more) {
    if (accept(c, "?")) {
      sharding->open |= 1u << d;
      more = false;
    } else {
      TP_TRY(axis(c, d, sharding));
      more = accept(c, ",");
    }
    if (!more)
      TP_TRY(expect(c, "}"));
  }
  if (!accept(c, "p"))
    return TP_OK;
  sharding->has_priority = true;
  return number(c, &priority);
}

static tp_status axis_set(cursor *c, int place, tp_sdy_sharding *sharding) {
  TP_TRY(expect(c, "="));
  TP_TRY(expect(c, "{"));
  if (accept(c, "}"))
    return TP_OK;
  do
    TP_TRY(axis(c, place, sharding));
  while (accept(c, ","));
  return expect(c, "}");
}

/* Reads @mesh, [{...}, {...}], replicated={...}, unreduced={...} */
static tp_status sharding_body(cursor *c, tp_sdy_sharding *sharding) {
  *sharding = (tp_sdy_sharding){0};
  TP_TRY(mesh_symbol(c, &sharding->mesh));
  TP_TRY(expect(c, ","));
  TP_TRY(expect(c, "["));
  if (!accept(c, "]")) {
    do
      TP_TRY(dimension(c, sharding));
    while (accept(c, ","));
    TP_TRY(expect(c, "]"));
  }
  while (accept(c, ",")) {
    if (accept(c, "replicated"))
      TP_TRY(axis_set(c, TP_SDY_REPLICATED, sharding));
    else if (accept(c, "unreduced"))
      TP_TRY(axis_set(c, TP_SDY_UNREDUCED, sharding));
    else
      return expected(c, "replicated={...} or unreduced={...}");
  }
  return TP_OK;
}

tp_status tp__sdy_read_sharding(MlirOperation at, const char *what, MlirAttribute attr,
                                tp_sdy_sharding *sharding) {
  cursor c;
  TP_TRY(open_attribute(at, what, attr, "sharding", &c));
  TP_TRY(sharding_body(&c, sharding));
  return close_attribute(&c);
}

tp_status tp__sdy_read_list(MlirOperation at, const char *what, MlirAttribute attr, int n,
                            const char *values, tp_sdy_sharding *shardings) {
  cursor c;
  int count = 0;
  TP_TRY(open_attribute(at, what, attr, "sharding_per_value", &c));
  TP_TRY(expect(&c, "["));
  while (!accept(&c, "]")) {
    tp_sdy_sharding extra;
    if (count > 0)
      TP_TRY(expect(&c, ","));
    TP_TRY(expect(&c, "<"));
    TP_TRY(sharding_body(&c, count < n ? &shardings[count] : &extra));
    TP_TRY(expect(&c, ">"));
    count++;
  }
  TP_TRY(close_attribute(&c));
  if (count != n)
    return tp__error(at, TP_INVALID_ARGUMENT, "%s has %d entries, but the op has %d %s", what,
                     count, n, values);
  return TP_OK;
}

tp_status tp__sdy_read_manual_axes(MlirOperation at, MlirAttribute attr, int *n,
                                   MlirStringRef names[TP_MAX_AXES]) {
  cursor c = {.op = at, .what = "manual_axes"};
  *n = 0;
  if (mlirAttributeIsNull(attr) || !mlirAttributeIsAOpaque(attr) ||
      !tp__ref_is(mlirOpaqueAttrGetDialectNamespace(attr), "sdy"))
    return tp__error(at, TP_INVALID_ARGUMENT, "manual_axes is not a #sdy<manual_axes{...}>");
  c.text = mlirOpaqueAttrGetData(attr);
  TP_TRY(expect(&c, "manual_axes"));
  TP_TRY(expect(&c, "{"));
  bool more = !accept(&c, "}");
  while (more) {
    if (*n == TP_MAX_AXES)
      return tp__error(at, TP_UNSUPPORTED, "manual_axes has more than %d axes", TP_MAX_AXES);
    TP_TRY(string(&c, &names[(*n)++]));
    more = accept(&c, ",");
    if (!more)
      TP_TRY(expect(&c, "}"));
  }
  skip_space(&c);
  return c.at == c.text.length ? TP_OK : expected(&c, "the end");
}

/* ---- meshes ---- */

static tp_status mesh_axis(cursor *c, tp_sdy_mesh *mesh) {
  MlirStringRef name;
  TP_TRY(string(c, &name));
  if (mesh->n == TP_MAX_AXES)
    return tp__error(c->op, TP_UNSUPPORTED, "the mesh has more than %d axes", TP_MAX_AXES);
  if (!tp__ref_copy(name, mesh->names[mesh->n], sizeof mesh->names[mesh->n]))
    return tp__error(c->op, TP_UNSUPPORTED, "the name of axis %d is longer than %d bytes", mesh->n,
                     TP_MAX_AXIS_NAME - 1);
  TP_TRY(expect(c, "="));
  return number(c, &mesh->sizes[mesh->n++]);
}

static tp_status device_ids(cursor *c, tp_sdy_mesh *mesh) {
  TP_TRY(expect(c, "device_ids"));
  TP_TRY(expect(c, "="));
  TP_TRY(expect(c, "["));
  for (;;) {
    int64_t id;
    TP_TRY(number(c, &id));
    if (id != mesh->n_devices && mesh->wrong < 0) {
      mesh->wrong = mesh->n_devices;
      mesh->wrong_id = id;
    }
    mesh->n_devices++;
    if (!accept(c, ","))
      return expect(c, "]");
  }
}

tp_status tp__sdy_read_mesh(MlirOperation at, MlirAttribute attr, tp_sdy_mesh *mesh) {
  cursor c;
  *mesh = (tp_sdy_mesh){.wrong = -1};
  TP_TRY(open_attribute(at, "mesh", attr, "mesh", &c));
  TP_TRY(expect(&c, "["));
  if (!accept(&c, "]")) {
    do
      TP_TRY(mesh_axis(&c, mesh));
    while (accept(&c, ","));
    TP_TRY(expect(&c, "]"));
  }
  if (accept(&c, ","))
    TP_TRY(device_ids(&c, mesh));
  return close_attribute(&c);
}

/* ---- rules ---- */

static bool is_digit(const cursor *c) {
  return c->at < c->text.length && c->text.data[c->at] >= '0' && c->text.data[c->at] <= '9';
}

/* Reads i, j, ..., z, z_1, z_2, ... as 0, 1, ... False if there is none. */
static bool factor(cursor *c, int *index) {
  skip_space(c);
  if (c->at == c->text.length || c->text.data[c->at] < 'i' || c->text.data[c->at] > 'z')
    return false;
  *index = c->text.data[c->at++] - 'i';
  if (*index == 'z' - 'i' && accept(c, "_")) {
    int more = 0;
    for (; is_digit(c) && more < TP_SDY_MAX_FACTORS; c->at++)
      more = 10 * more + (c->text.data[c->at] - '0');
    *index += more;
    return more > 0 && *index < TP_SDY_MAX_FACTORS;
  }
  return true;
}

static tp_status expected_factor(const cursor *c) {
  return expected(c, "a factor, one of i, j, ..., z, z_1, z_2, ...");
}

/* Reads [ij, k] */
static tp_status rule_value(cursor *c, tp_sdy_rule_value *value) {
  TP_TRY(expect(c, "["));
  if (accept(c, "]"))
    return TP_OK;
  do {
    int index;
    if (value->rank == TP_MAX_RANK)
      return tp__error(c->op, TP_UNSUPPORTED, "%s has more than %d dimensions", c->what,
                       TP_MAX_RANK);
    int d = value->rank++;
    while (factor(c, &index)) {
      if (value->n[d] == TP_SDY_MAX_JOINED)
        return tp__error(c->op, TP_UNSUPPORTED, "%s joins more than %d factors in a dimension",
                         c->what, TP_SDY_MAX_JOINED);
      value->factors[d][value->n[d]++] = (uint8_t)index;
    }
    if (value->n[d] == 0)
      return expected_factor(c);
  } while (accept(c, ","));
  return expect(c, "]");
}

static tp_status rule_values(cursor *c, tp_sdy_rule *rule, int *n) {
  int first = rule->n_operands;
  TP_TRY(expect(c, "("));
  for (*n = 0; !accept(c, ")"); (*n)++) {
    if (*n > 0)
      TP_TRY(expect(c, ","));
    if (first + *n == TP_SDY_MAX_VALUES)
      return tp__error(c->op, TP_UNSUPPORTED, "%s has more than %d operands and results", c->what,
                       TP_SDY_MAX_VALUES);
    TP_TRY(rule_value(c, &rule->values[first + *n]));
  }
  return TP_OK;
}

/* Reads {i, j} as a set, or with `sizes` {i=4, j=2}. */
static tp_status factor_set(cursor *c, uint64_t *set, int64_t *sizes) {
  TP_TRY(expect(c, "{"));
  bool more = !accept(c, "}");
  while (more) {
    int index;
    if (!factor(c, &index))
      return expected_factor(c);
    *set |= UINT64_C(1) << index;
    if (sizes) {
      TP_TRY(expect(c, "="));
      TP_TRY(number(c, &sizes[index]));
    }
    more = accept(c, ",");
    if (!more)
      TP_TRY(expect(c, "}"));
  }
  return TP_OK;
}

static tp_status rule_clauses(cursor *c, tp_sdy_rule *rule) {
  struct {
    const char *name;
    uint64_t *set;
  } clauses[] = {{"reduction=", &rule->reduction},
                 {"need_replication=", &rule->need_replication},
                 {"permutation=", &rule->permutation},
                 {"blocked_propagation=", &rule->blocked_propagation}};
  for (int i = 0; i < TP_LEN(clauses); i++)
    if (accept(c, clauses[i].name)) {
      TP_TRY(factor_set(c, clauses[i].set, NULL));
      i = -1;
    }
  if (accept(c, ","))
    TP_TRY(expect(c, "custom"));
  return TP_OK;
}

tp_status tp__sdy_read_rule(MlirOperation at, const char *what, MlirAttribute attr,
                            tp_sdy_rule *rule) {
  cursor c;
  uint64_t known = 0;
  *rule = (tp_sdy_rule){0};
  TP_TRY(open_attribute(at, what, attr, "op_sharding_rule", &c));
  TP_TRY(rule_values(&c, rule, &rule->n_operands));
  TP_TRY(expect(&c, "->"));
  TP_TRY(rule_values(&c, rule, &rule->n_results));
  TP_TRY(factor_set(&c, &known, rule->sizes));
  TP_TRY(rule_clauses(&c, rule));
  return close_attribute(&c);
}
