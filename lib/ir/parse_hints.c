/* Ways out of errors of MLIR's parser, by the text of the error. */
#include "ir/parse_hints.h"

#include "ir/ir.h"
#include "ir/source_names.h"
#include "support/support.h"

#include <ctype.h>
#include <stdio.h>
#include <string.h>

/* An error that begins with `begin` and has `part` in it. */
typedef struct error_form {
  const char *begin, *part, *hint;
  /* Writes a hint that depends on the message; NULL: `hint` is it. */
  bool (*write)(const char *message, MlirLocation place, const tp_known_names *known, char *hint);
} error_form;

enum { MAX_NAME = 128, MAX_OPS = 1024 };

#define GRID_SHAPE "sizes have an x in between, as in shard.grid @mesh(shape = 2x4)"
#define GRID_HINT "write shard.grid @mesh(shape = 2x4) {tp.axes = [\"dp\", \"tp\"]}"

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

/* The op of another dialect that has the same name within its dialect; NULL: none. */
static const char *op_of_other_dialect(const char *name, const tp_known_names *known) {
  for (int i = 0; i < known->n_ops; i++) {
    const char *dot = strchr(known->ops[i], '.');
    if (dot && strcmp(dot + 1, name) == 0)
      return known->ops[i];
  }
  return NULL;
}

/* The op of the same dialect whose name is closest; NULL: none. */
static const char *closest_op_of_dialect(const char *op, const char *name,
                                         const tp_known_names *known) {
  const char *names[MAX_OPS];
  int n = 0;
  for (int i = 0; i < known->n_ops && n < MAX_OPS; i++)
    if (strncmp(known->ops[i], op, (size_t)(name - op)) == 0)
      names[n++] = known->ops[i] + (name - op);
  const char *closest = tp__closest_word(name, strlen(name), n, names);
  return closest ? closest - (name - op) : NULL;
}

static bool write_closest_op(const char *message, MlirLocation place, const tp_known_names *known,
                             char *hint) {
  (void)place;
  char op[MAX_NAME];
  if (!op_of(message, op))
    return false;
  if (strcmp(op, "shard.mesh") == 0) {
    snprintf(hint, TP_PARSE_HINT, GRID_HINT);
    return true;
  }
  const char *dot = strchr(op, '.'), *name = dot ? dot + 1 : op;
  const char *closest = closest_op_of_dialect(op, name, known);
  if (!closest)
    closest = op_of_other_dialect(name, known);
  if (closest)
    snprintf(hint, TP_PARSE_HINT, "did you mean '%s'?", closest);
  return closest;
}

/* An op without a dialect, outside of a function. */
static bool write_dialect_missing(const char *message, MlirLocation place,
                                  const tp_known_names *known, char *hint) {
  (void)place;
  (void)known;
  char op[MAX_NAME];
  if (!op_of(message, op))
    return false;
  if (strcmp(op, "func") == 0)
    snprintf(hint, TP_PARSE_HINT, "a function begins with func.func");
  else
    snprintf(hint, TP_PARSE_HINT,
             "outside of a func.func the name of an op begins with its dialect: is a '{' missing "
             "above, or a '}' too many?");
  return true;
}

/* Dialects of other projects from which models come, and how they are read. */
static const struct {
  const char *name, *hint;
} foreign[] = {
    {"mesh", "MLIR now calls this dialect shard; " GRID_HINT},
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

/* True if the source has a word at the place, or cannot be read again. */
static bool is_word(MlirLocation place) {
  char text[2];
  tp__source_text(place, sizeof text, text);
  return !text[0] || isalnum((unsigned char)text[0]);
}

/* What stands in place of a type may be anything: only of a word is it known what is wrong. */
static bool write_type(const char *message, MlirLocation place, const tp_known_names *known,
                       char *hint) {
  (void)message;
  (void)known;
  if (is_word(place))
    snprintf(hint, TP_PARSE_HINT,
             "a tensor is written tensor<8x16xf32>; its elements are f32, bf16, f16, f64, i1, i8, "
             "i32, i64 or index");
  return is_word(place);
}

static bool write_value(const char *message, MlirLocation place, const tp_known_names *known,
                        char *hint) {
  (void)message;
  (void)known;
  char text[16];
  tp__source_text(place, sizeof text, text);
  const char *word = text + strspn(text, " ");
  if (strncmp(word, "null", 4) == 0 || strncmp(word, "None", 4) == 0)
    snprintf(hint, TP_PARSE_HINT,
             "a dimension that is not split is written [], as in "
             "tp.sharding = [[\"dp\"], []]");
  else if (is_word(place))
    snprintf(hint, TP_PARSE_HINT, "texts have quotation marks, as in tp.sharding = [[\"dp\"], []]");
  else
    snprintf(hint, TP_PARSE_HINT, "a value is missing here");
  return true;
}

static bool write_other_type(const char *message, MlirLocation place, const tp_known_names *known,
                             char *hint) {
  (void)place;
  (void)known;
  if (strstr(message, "'memref<"))
    snprintf(hint, TP_PARSE_HINT, "programs compute with tensors: write tensor<8x16xf32>");
  else
    snprintf(hint, TP_PARSE_HINT,
             "write the type that its definition has; the first one is written here");
  return true;
}

/* The sizes of a grid with commas. */
static bool write_grid_shape(const char *message, MlirLocation place, const tp_known_names *known,
                             char *hint) {
  (void)message;
  (void)known;
  char text[8];
  tp__source_text(place, sizeof text, text);
  size_t n = text[0] == ',' ? 1 + strspn(text + 1, " ") : 0;
  snprintf(hint, TP_PARSE_HINT, GRID_SHAPE);
  return n > 0 && isdigit((unsigned char)text[n]);
}

static const error_form forms[] = {
    {"custom op '", "' is unknown (tried 'builtin.", NULL, write_dialect_missing},
    {"custom op '", "' is unknown", NULL, write_closest_op},
    {"Dialect `", "' not found for custom op '", NULL, write_dialect},
    {"use of undeclared SSA value name", "", NULL, write_closest_value},
    {"use of value '", "' expects different type than prior uses: ", NULL, write_other_type},
    {"block with no terminator", "",
     "a function ends with return, as in return %y : tensor<8x32xf32>", NULL},
    {"custom op 'linalg.", "generated region expects",
     "give the tensor that the result is written to, as in linalg.matmul ins(%x, %w : ...) "
     "outs(%z : tensor<8x32xf32>)",
     NULL},
    {"custom op 'shard.grid' Failed parsing dimension list", "", GRID_SHAPE, NULL},
    {"expected ')'", "", NULL, write_grid_shape},
    {"expected operation name in quotes", "",
     "an op begins with its name, as in linalg.matmul: is a '}' missing, or one too many?", NULL},
    {"expected non-function type", "", NULL, write_type},
    {"expected 'x' in dimension list", "", "a tensor is written tensor<8x16xf32>", NULL},
    {"expected attribute value", "", NULL, write_value},
    {"'func.func' op arguments may only have dialect attributes", "",
     "attributes of arguments begin with tp., as in {tp.sharding = [[\"dp\"], []]}", NULL},
    {"'func.func' op results may only have dialect attributes", "",
     "attributes of results begin with tp., as in {tp.sharding = [[\"dp\"], []]}", NULL},
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
