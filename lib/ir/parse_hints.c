/* Ways out of errors of MLIR's parser, by the text of the error. */
#include "ir/parse_hints.h"

#include "ir/ir.h"
#include "ir/source_names.h"
#include "support/support.h"

#include <stdio.h>
#include <string.h>

/* An error that begins with `begin` and has `part` in it. */
typedef struct error_form {
  const char *begin, *part, *hint;
  /* Writes a hint that depends on the message; NULL: `hint` is it. */
  bool (*write)(const char *message, MlirLocation place, const tp_known_names *known, char *hint);
} error_form;

enum { MAX_NAME = 128 };

/* Copies the name of the op of an error "... custom op 'NAME' ...". False if it is too long. */
static bool op_of(const char *message, char name[MAX_NAME]) {
  static const char before[] = "custom op '";
  const char *at = strstr(message, before) + sizeof before - 1;
  size_t n = strcspn(at, "'");
  if (n >= MAX_NAME)
    return false;
  memcpy(name, at, n);
  name[n] = 0;
  return true;
}

static bool write_closest_op(const char *message, MlirLocation place, const tp_known_names *known,
                             char *hint) {
  (void)place;
  char name[MAX_NAME];
  if (!op_of(message, name))
    return false;
  const char *closest = tp__closest_word(name, strlen(name), known->n_ops, known->ops);
  if (closest)
    snprintf(hint, TP_PARSE_HINT, "did you mean '%s'?", closest);
  return closest;
}

/* Dialects of other projects from which models come, and how they are read. */
static const struct {
  const char *name, *hint;
} foreign[] = {
    {"mesh", "MLIR now calls this dialect shard; write shard.grid @mesh(shape = 2x4) "
             "{tp.axes = [\"dp\", \"tp\"]}"},
    {"torch", "this is a program of torch-mlir before its lowering; import the model with "
              "output_type=\"linalg-on-tensors\""},
    {"onnx", "lower the model to linalg or TOSA first, with onnx-mlir"},
    {"tf", "lower the model to StableHLO or TOSA first"},
    {"tfl", "lower the model to TOSA first"},
    {"mhlo", "convert the program to StableHLO first, with mlir-hlo-opt --hlo-legalize-to-"
             "stablehlo, and print it in generic form"},
};

static bool write_dialect(const char *message, MlirLocation place, const tp_known_names *known,
                          char *hint) {
  (void)place;
  char op[MAX_NAME], name[MAX_NAME];
  if (!op_of(message, op))
    return false;
  size_t length = strcspn(op, ".");
  snprintf(name, sizeof name, "%.*s", (int)length, op);
  for (int i = 0; i < TP_LEN(foreign); i++)
    if (strcmp(name, foreign[i].name) == 0) {
      snprintf(hint, TP_PARSE_HINT, "%s", foreign[i].hint);
      return true;
    }
  const char *closest = tp__closest_word(name, length, known->n_dialects, known->dialects);
  if (closest)
    snprintf(hint, TP_PARSE_HINT, "did you mean '%s%s'?", closest, op + length);
  else
    snprintf(hint, TP_PARSE_HINT,
             "MLIR reads ops of other dialects in generic form, \"%s\"(...); an op without a rule "
             "needs tp.rule or unknown-ops=replicate (docs/how-to/write-a-rule.md)",
             op);
  return true;
}

static bool write_closest_value(const char *message, MlirLocation place,
                                const tp_known_names *known, char *hint) {
  (void)message;
  (void)known;
  char name[MAX_NAME], closest[MAX_NAME];
  if (!tp__source_similar_value(place, MAX_NAME, name, closest))
    return false;
  if (*closest)
    snprintf(hint, TP_PARSE_HINT, "no op or argument above defines %s; did you mean %s?", name,
             closest);
  else
    snprintf(hint, TP_PARSE_HINT, "no op or argument above defines %s", name);
  return true;
}

static const error_form forms[] = {
    {"custom op '", "' is unknown (tried 'builtin.",
     "outside of a func.func the name of an op begins with its dialect: is a '{' missing above, or "
     "a '}' too many?",
     NULL},
    {"custom op '", "' is unknown", NULL, write_closest_op},
    {"Dialect `", "' not found for custom op '", NULL, write_dialect},
    {"use of undeclared SSA value name", "", NULL, write_closest_value},
    {"use of value '", "' expects different type than prior uses",
     "write the type that its definition has; the first one is written here", NULL},
    {"expected operation name in quotes", "",
     "an op begins with its name, as in linalg.matmul: is a '}' missing, or one too many?", NULL},
    {"expected non-function type", "",
     "a tensor is written tensor<8x16xf32>; its elements are f32, bf16, f16, f64, i1, i8, i32, i64 "
     "or index",
     NULL},
    {"expected 'x' in dimension list", "", "a tensor is written tensor<8x16xf32>", NULL},
    {"expected attribute value", "",
     "texts have quotation marks, as in tp.sharding = [[\"dp\"], []]", NULL},
    {"bytecode version ", " is newer than the current version",
     "a newer MLIR wrote the file; write it as text, or with --emit-bytecode-version of the "
     "current version",
     NULL},
    {"attempting to parse ", " remain", "the file is cut off or damaged; write it again", NULL},
};

/* Returns the first form that fits; NULL: none. */
static const error_form *find_form(const char *message) {
  for (int i = 0; i < TP_LEN(forms); i++)
    if (strncmp(message, forms[i].begin, strlen(forms[i].begin)) == 0 &&
        strstr(message, forms[i].part))
      return &forms[i];
  return NULL;
}

bool tp__is_parse_error(const char *message) { return find_form(message); }

bool tp__parse_hint(const char *message, MlirLocation place, const tp_known_names *known,
                    char hint[TP_PARSE_HINT]) {
  const error_form *form = find_form(message);
  if (form && form->write)
    return form->write(message, place, known, hint);
  if (form)
    snprintf(hint, TP_PARSE_HINT, "%s", form->hint);
  return form;
}
