/* Which tp.* attributes there are, and where they may stand. A misspelled attribute would otherwise
 * be ignored, and the program planned without what its author asked for. Attributes of other
 * dialects that seem to ask for a sharding get a warning. */
#include "ir/annotation.h"
#include "ir/diagnostics.h"
#include "ir/ir.h"

#include "support/support.h"

#include <mlir-c/BuiltinAttributes.h>
#include <stdio.h>

typedef enum place { MODULE, GRID, FUNC, ARGUMENT, RESULT, OP, PLACES } place;

static const char *const place_texts[PLACES] = {[MODULE] = "a module",  [GRID] = "a shard.grid",
                                                [FUNC] = "a func.func", [ARGUMENT] = "an argument",
                                                [RESULT] = "a result",  [OP] = "another op"};

#define AT(p) (1u << (p))

typedef enum form { ANY, TEXT, NUMBER } form;

static const struct {
  const char *text;
  bool (*holds)(MlirAttribute attr);
} forms[] = {[TEXT] = {"a string", mlirAttributeIsAString},
             [NUMBER] = {"an integer", mlirAttributeIsAInteger}};

/* clang-format off */
static const struct row {
  const char *name;
  unsigned places;
  form value;     /* ANY: those that read it check it */
  const char *on; /* the only op that may have it; NULL: any in these places */
} rows[] = {
    {"tp.axes", AT(GRID), ANY, NULL},
    {"tp.blocks", AT(OP), ANY, NULL},
    {"tp.combiner", AT(OP), ANY, NULL},
    {"tp.comparator", AT(FUNC), ANY, NULL},
    {"tp.constant", AT(ARGUMENT), ANY, NULL},
    {"tp.copy", AT(OP), NUMBER, "shard.shard"},
    {"tp.factors", AT(OP), ANY, NULL},
    {"tp.fused", AT(FUNC), ANY, NULL},
    {"tp.global", AT(ARGUMENT) | AT(RESULT) | AT(OP), ANY, NULL},
    {"tp.gradient", AT(ARGUMENT) | AT(RESULT), ANY, NULL},
    {"tp.groups", AT(OP), NUMBER, NULL},
    {"tp.in_place", AT(OP), ANY, NULL},
    {"tp.n_groups", AT(OP), NUMBER, NULL},
    {"tp.name", AT(ARGUMENT) | AT(RESULT), TEXT, NULL},
    {"tp.of", AT(GRID), ANY, NULL},
    {"tp.original", AT(MODULE), ANY, NULL},
    {"tp.own", AT(OP), TEXT, NULL},
    {"tp.pairs", AT(OP), ANY, "func.call"},
    {"tp.phase", AT(MODULE), TEXT, NULL},
    {"tp.plan", AT(FUNC), ANY, NULL},
    {"tp.precision", AT(MODULE), ANY, NULL},
    {"tp.region_args", AT(OP), ANY, NULL},
    {"tp.regions", AT(OP), ANY, NULL},
    {"tp.ring", AT(OP), ANY, NULL},
    {"tp.role", AT(ARGUMENT), ANY, NULL},
    {"tp.route", AT(OP), ANY, "func.call"},
    {"tp.rows", AT(OP), TEXT, NULL},
    {"tp.rule", AT(FUNC) | AT(OP), ANY, NULL},
    {"tp.sharding", AT(ARGUMENT) | AT(RESULT) | AT(OP), ANY, NULL},
    {"tp.sort", AT(OP), ANY, "func.call"},
    {"tp.unsigned", AT(ARGUMENT) | AT(RESULT) | AT(OP), ANY, NULL},
    {"tp.updates", AT(RESULT), ANY, NULL},
    {"tp.whole_axes", AT(MODULE), ANY, NULL},
};
/* clang-format on */

static const struct row *find(MlirStringRef name) {
  for (int i = 0; i < TP_LEN(rows); i++)
    if (tp__ref_is(name, rows[i].name))
      return &rows[i];
  return NULL;
}

/* The attribute that was probably meant: one that may stand here and begins with what was written,
 * else the most similar one that may stand here, else of all. NULL: none. */
static const char *meant(MlirStringRef name, place here) {
  const char *names[TP_LEN(rows)];
  int n = 0;
  for (int i = 0; i < TP_LEN(rows); i++)
    if (rows[i].places & AT(here))
      names[n++] = rows[i].name;
  for (int i = 0; i < n; i++)
    if (name.length > strlen("tp.") && strncmp(names[i], name.data, name.length) == 0)
      return names[i];
  const char *closest = tp__closest_word(name.data, name.length, n, names);
  for (int i = 0; i < TP_LEN(rows); i++)
    names[i] = rows[i].name;
  return closest ? closest : tp__closest_word(name.data, name.length, TP_LEN(rows), names);
}

/* Refuses an attribute that no pass reads. `where` names the argument or result, or is "". */
static tp_status refuse_unknown(MlirOperation op, const char *where, MlirStringRef name,
                                place here) {
  static const char *const roles[] = {"tp.param", "tp.state"};
  if (here == MODULE && tp__ref_is(name, "tp.mesh"))
    return tp__error(op, TP_INVALID_ARGUMENT,
                     "unknown attribute tp.mesh; write the mesh as shard.grid @mesh(shape = 2x4) "
                     "{tp.axes = [\"dp\", \"tp\"]}");
  for (int i = 0; i < TP_LEN(roles); i++)
    if (here == ARGUMENT && tp__ref_is(name, roles[i]))
      return tp__error(op, TP_INVALID_ARGUMENT, "%sunknown attribute %s; write tp.role = \"%s\"",
                       where, roles[i], roles[i] + strlen("tp."));
  const char *closest = meant(name, here);
  return tp__error(op, TP_INVALID_ARGUMENT, "%sunknown attribute %.*s; %s%s%sremove it", where,
                   (int)name.length, name.data, closest ? "rename it to " : "",
                   closest ? closest : "", closest ? ", or " : "");
}

static tp_status refuse_place(MlirOperation op, const char *where, const struct row *row,
                              place here) {
  tp__string places = {0};
  for (int p = 0, n = 0; p < PLACES; p++)
    if (row->places & AT(p))
      tp__string_printf(&places, "%s%s", n++ ? " or " : "", place_texts[p]);
  tp_status status =
      tp__error(op, TP_INVALID_ARGUMENT, "%s%s is an attribute of %s, not of %s", where, row->name,
                places.failed ? "others" : places.text, place_texts[here]);
  tp__string_destroy(&places);
  return status;
}

static tp_status check_role(MlirOperation op, const char *where, MlirAttribute role) {
  static const char *const roles[] = {"param", "state"};
  bool is_text = mlirAttributeIsAString(role);
  MlirStringRef text = is_text ? mlirStringAttrGetValue(role) : tp__ref("");
  for (int i = 0; i < TP_LEN(roles); i++)
    if (is_text && tp__ref_is(text, roles[i]))
      return TP_OK;
  return tp__error(
      op, TP_INVALID_ARGUMENT, "%stp.role is %s%.*s%s; it must be \"param\" or \"state\"", where,
      is_text ? "\"" : "not a string", (int)text.length, text.data, is_text ? "\"" : "");
}

tp_status tp__check_rule_place(MlirOperation op) {
  bool is_call = tp__op_is(op, "func.call");
  MlirOperation callee =
      is_call ? tp__callee(mlirOperationGetParentOperation(tp__enclosing_func(op)), op) : op;
  if (mlirAttributeIsNull(tp__get(op, "tp.rule")) || mlirOperationIsNull(callee) ||
      !tp__op_is(callee, "func.func") || !tp__is_defined_func(callee))
    return TP_OK;
  return tp__error(op, TP_INVALID_ARGUMENT,
                   is_call ? "calls a function with a body, which replaces the call, and also has "
                             "tp.rule; remove one of them"
                           : "has a body, which replaces its calls, and also tp.rule; remove one "
                             "of them");
}

/* Attributes that an author may mean by a similar name of another dialect. */
static const char *const asked_for[] = {"tp.factors",       "tp.role",    "tp.rule",
                                        "tp.sharding",      "tp.updates", "sdy.sharding",
                                        "sdy.sharding_rule"};

/* Warns of an attribute that no pass reads although it seems to ask for a sharding. */
static void warn_of_foreign(MlirOperation op, const char *where, MlirStringRef name,
                            bool has_sharding) {
  enum { MOST_EDITS = 1 };
  char text[32];
  if (tp__ref_is(name, "mhlo.sharding") && !has_sharding)
    tp__warning(op,
                "%smhlo.sharding, an annotation of GSPMD, is not read; export the model with "
                "Shardy (jax_use_shardy_partitioner), or write tp.sharding",
                where);
  if (name.length >= sizeof text)
    return;
  snprintf(text, sizeof text, "%.*s", (int)name.length, name.data);
  for (int i = 0; i < TP_LEN(asked_for); i++) {
    int edits = tp__word_distance(text, asked_for[i]);
    if (edits > 0 && edits <= MOST_EDITS)
      tp__warning(op, "%s%s is not read; did you mean %s?", where, text, asked_for[i]);
  }
}

/* `has_sharding`: tp.sharding stands beside the attribute. */
static tp_status check(MlirOperation op, const char *where, MlirNamedAttribute attr, place here,
                       bool has_sharding) {
  MlirStringRef name = mlirIdentifierStr(attr.name);
  if (name.length < 3 || memcmp(name.data, "tp.", 3) != 0) {
    warn_of_foreign(op, where, name, has_sharding);
    return TP_OK;
  }
  const struct row *row = find(name);
  if (!row)
    return refuse_unknown(op, where, name, here);
  if (!(row->places & AT(here)))
    return refuse_place(op, where, row, here);
  if (tp__ref_is(name, "tp.sharding") && tp__op_is(op, "func.return"))
    return tp__error(op, TP_INVALID_ARGUMENT,
                     "tp.sharding of a result belongs in the type of the function: "
                     "-> (tensor<8x32xf32> {tp.sharding = ...})");
  if (row->on && !tp__op_is(op, row->on))
    return tp__error(op, TP_INVALID_ARGUMENT, "%s is an attribute of %s only; remove it", row->name,
                     row->on);
  if (row->value != ANY && !forms[row->value].holds(attr.attribute))
    return tp__error(op, TP_INVALID_ARGUMENT, "%s%s must be %s", where, row->name,
                     forms[row->value].text);
  return tp__ref_is(name, "tp.role") ? check_role(op, where, attr.attribute) : TP_OK;
}

/* Checks the attributes of all arguments, or of all results. */
static tp_status check_boundary(MlirOperation func, const char *list, const char *what,
                                place here) {
  MlirAttribute dictionaries = tp__inherent(func, list);
  if (mlirAttributeIsNull(dictionaries) || !mlirAttributeIsAArray(dictionaries))
    return TP_OK;
  for (intptr_t i = 0; i < mlirArrayAttrGetNumElements(dictionaries); i++) {
    MlirAttribute dictionary = mlirArrayAttrGetElement(dictionaries, i);
    char where[40];
    snprintf(where, sizeof where, "%s %d: ", what, (int)i);
    bool has_sharding = !mlirAttributeIsNull(
        mlirDictionaryAttrGetElementByName(dictionary, tp__ref("tp.sharding")));
    for (intptr_t k = 0; k < mlirDictionaryAttrGetNumElements(dictionary); k++)
      TP_TRY(check(func, where, mlirDictionaryAttrGetElement(dictionary, k), here, has_sharding));
  }
  return TP_OK;
}

static tp_status check_op(MlirOperation op, void *data) {
  (void)data;
  place here = tp__op_is(op, "func.func")        ? FUNC
               : tp__op_is(op, "shard.grid")     ? GRID
               : tp__op_is(op, "builtin.module") ? MODULE
                                                 : OP;
  intptr_t n = mlirOperationGetNumDiscardableAttributes(op);
  bool has_sharding = n > 1 && !mlirAttributeIsNull(tp__get(op, "tp.sharding"));
  for (intptr_t i = 0; i < n; i++)
    TP_TRY(check(op, "", mlirOperationGetDiscardableAttribute(op, i), here, has_sharding));
  if (here != FUNC)
    return TP_OK;
  TP_TRY(check_boundary(op, "arg_attrs", "argument", ARGUMENT));
  return check_boundary(op, "res_attrs", "result", RESULT);
}

tp_status tp__check_attribute_names(MlirOperation module) {
  TP_TRY(check_op(module, NULL));
  return tp__walk_some(module, TP_WALK_ANNOTATED, check_op, NULL);
}
