/* Ways out of errors of MLIR's parser, by the text of the error. */
#include "ir/parse_hints.h"

#include "ir/ir.h"
#include "ir/source_names.h"
#include "support/support.h"

#include <ctype.h>
#include <stdio.h>
#include <string.h>

/* An error that begins with `begin` and has `part` in it, where the source has `source`, perhaps
 * behind blanks; NULL: whatever it has. */
typedef struct error_form {
  const char *begin, *part, *source, *hint;
  /* Writes a hint that depends on the message; NULL: `hint` is it. */
  bool (*write)(const char *message, MlirLocation place, const tp_known_names *known, char *hint);
} error_form;

enum { MAX_NAME = 128, MAX_OPS = 1024 };

#define GRID_SHAPE "sizes have an x in between, as in shard.grid @mesh(shape = 2x4)"
#define TENSOR_HINT "a tensor is written tensor<8x16xf32>"
#define COMMENT_HINT "comments begin with //"
#define OUTS_HINT                                                                                  \
  "give the tensor that the result is written to, as in linalg.matmul ins(%x, %w : ...) "          \
  "outs(%z : tensor<8x32xf32>)"
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

/* True if the source has "NAME =" at the place. `text` receives what stands there. */
static bool is_assigned(MlirLocation place, const char *name, char text[MAX_NAME]) {
  size_t n = strlen(name);
  tp__source_text(place, MAX_NAME, text);
  return strncmp(text, name, n) == 0 && text[n + strspn(text + n, " ")] == '=';
}

/* The op of another dialect that has the same name within its dialect, one on tensors if there is
 * one; NULL: none. */
static const char *op_of_other_dialect(const char *name, const tp_known_names *known) {
  static const char *const of_tensors[] = {"linalg", "tensor", "arith", "math"};
  const char *found = NULL;
  int best = TP_LEN(of_tensors) + 1;
  for (int i = 0; i < known->n_ops; i++) {
    const char *op = known->ops[i], *dot = strchr(op, '.');
    if (!dot || strcmp(dot + 1, name) != 0)
      continue;
    int rank = 0;
    while (rank < TP_LEN(of_tensors) && (strlen(of_tensors[rank]) != (size_t)(dot - op) ||
                                         strncmp(op, of_tensors[rank], (size_t)(dot - op)) != 0))
      rank++;
    found = rank < best ? op : found;
    best = rank < best ? rank : best;
  }
  return found;
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

/* A name of a value without its %, which reads as the name of an op: "y = linalg.matmul ...". */
static bool write_percent(const char *message, MlirLocation place, const tp_known_names *known,
                          char *hint) {
  (void)known;
  char name[MAX_NAME], text[MAX_NAME];
  if (!op_of(message, name) || !is_assigned(place, name, text))
    return false;
  snprintf(hint, TP_PARSE_HINT, "names of values begin with %%: write %%%s = ...", name);
  return true;
}

/* An attribute where the body of a function is read. */
static bool write_attribute_of_result(const char *message, MlirLocation place,
                                      const tp_known_names *known, char *hint) {
  (void)known;
  char name[MAX_NAME], text[MAX_NAME];
  if (!op_of(message, name) || !is_assigned(place, name, text))
    return false;
  snprintf(hint, TP_PARSE_HINT,
           "attributes of a result need parentheses: -> (tensor<8x32xf32> {%s = ...})", name);
  return true;
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
              "output_type=\"stablehlo\" or \"linalg-on-tensors\""},
    {"tm_tensor", "torch-mlir keeps this dialect to itself; its sort, scan and scatter are read in "
                  "generic form, get_asm(print_generic_op_form=True); for other ops import the "
                  "model with output_type=\"stablehlo\""},
    {"onnx", "lower the model to linalg or TOSA first, with onnx-mlir"},
    {"tf", "lower the model to StableHLO or TOSA first"},
    {"tfl", "lower the model to TOSA first"},
    {"mhlo", "mhlo is the old name of StableHLO; convert the program with mlir-hlo-opt "
             "--hlo-legalize-to-stablehlo, and print it in generic form"},
};

const char *tp__foreign_dialect_hint(MlirStringRef dialect) {
  for (int i = 0; i < TP_LEN(foreign); i++)
    if (tp__ref_is(dialect, foreign[i].name))
      return foreign[i].hint;
  return NULL;
}

static bool write_dialect(const char *message, MlirLocation place, const tp_known_names *known,
                          char *hint) {
  (void)place;
  char op[MAX_NAME], name[MAX_NAME];
  if (!op_of(message, op))
    return false;
  size_t length = strcspn(op, ".");
  snprintf(name, sizeof name, "%.*s", (int)length, op);
  const char *way_out = tp__foreign_dialect_hint(tp__ref(name)),
             *closest = tp__closest_word(name, length, known->n_dialects, known->dialects);
  if (way_out)
    snprintf(hint, TP_PARSE_HINT, "%s", way_out);
  else if (closest)
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

/* An op of linalg that has a result, but no tensor to write it to. */
static bool write_outs(const char *message, MlirLocation place, const tp_known_names *known,
                       char *hint) {
  (void)message;
  (void)known;
  char text[TP_PARSE_HINT];
  tp__source_text(place, sizeof text, text);
  snprintf(hint, TP_PARSE_HINT, "%s", OUTS_HINT);
  return strstr(text, "= linalg.") && !strstr(text, " outs(");
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
  else if (!*word || isalnum((unsigned char)*word))
    snprintf(hint, TP_PARSE_HINT,
             "texts have quotation marks, as in tp.sharding = [[\"dp\"], []] and "
             "tp.role = \"param\"");
  else
    snprintf(hint, TP_PARSE_HINT, "a value is missing here");
  return true;
}

/* Quotation marks that MLIR does not read. */
static bool write_quotation_mark(const char *message, MlirLocation place,
                                 const tp_known_names *known, char *hint) {
  static const char *const marks[] = {"'", "`", "\u2018", "\u2019", "\u201c", "\u201d", "\u201e"};
  (void)message;
  (void)known;
  char text[8];
  tp__source_text(place, sizeof text, text);
  snprintf(hint, TP_PARSE_HINT,
           "texts have straight double quotation marks, as in tp.sharding = [[\"dp\"], []]");
  for (int i = 0; i < TP_LEN(marks); i++)
    if (strncmp(text, marks[i], strlen(marks[i])) == 0)
      return true;
  return false;
}

/* Two sizes of one index. The message compares a dimension of an operand with the range that the
 * other operands give to the index. The hint names all operands if the line has them. */
static bool write_sizes(const char *message, MlirLocation place, const tp_known_names *known,
                        char *hint) {
  (void)known;
  int operand, dim;
  long long expected, found;
  char name[MAX_NAME], types[TP_PARSE_HINT / 2];
  const char *at = strstr(message, "operand #");
  if (sscanf(at, "operand #%d has shape's dimension #%d to be %lld, but found %lld", &operand, &dim,
             &expected, &found) != 4)
    return false;
  bool is_named = tp__source_operand(place, operand, sizeof name, name);
  if (is_named && tp__source_operand_types(place, sizeof types, types))
    snprintf(hint, TP_PARSE_HINT,
             "dimension %d of %s has size %lld, and another operand gives it size %lld: %s; "
             "correct one of these types",
             dim, name, found, expected, types);
  else
    snprintf(
        hint, TP_PARSE_HINT,
        "an index of the op has two sizes: %lld in dimension %d of operand %d%s%s%s, and %lld in "
        "another operand; correct one of their types",
        found, dim, operand, is_named ? " (" : "", is_named ? name : "", is_named ? ")" : "",
        expected);
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
    {"custom op '", "' is unknown", NULL, NULL, write_percent},
    {"custom op '", "' is unknown (tried 'builtin.", NULL, NULL, write_dialect_missing},
    {"custom op '", "' is unknown", NULL, NULL, write_closest_op},
    {"Dialect `", "' not found for custom op '", NULL, NULL, write_attribute_of_result},
    {"custom op 'sdy.", "' is in the pretty form", NULL, NULL, write_attribute_of_result},
    {"Dialect `", "' not found for custom op '", NULL, NULL, write_dialect},
    {"use of undeclared SSA value name", "", NULL, NULL, write_closest_value},
    {"use of value '", "' expects different type than prior uses: ", NULL, NULL, write_other_type},
    {"block with no terminator", "", NULL,
     "a function ends with return, as in return %y : tensor<8x32xf32>", NULL},
    {"custom op 'linalg.", "generated region expects", NULL, OUTS_HINT, NULL},
    {"custom op 'linalg.", "'tensor<*x", NULL,
     "tensor<*x...> has no rank; give every tensor its sizes, as in tensor<8x16xf32>", NULL},
    {"cannot name an operation with no results", "", NULL, NULL, write_outs},
    {"'linalg.", "inferred input/output operand #", NULL, NULL, write_sizes},
    {"custom op 'shard.grid' Failed parsing dimension list", "", "-",
     "sizes are at least 1, as in shard.grid @mesh(shape = 2x4)", NULL},
    {"custom op 'shard.grid' Failed parsing dimension list", "", NULL, GRID_SHAPE, NULL},
    {"custom op 'func.func' expected valid '@'-identifier", "", NULL,
     "names of functions begin with @, as in func.func @main(%x: tensor<8x16xf32>)", NULL},
    {"custom op 'shard.grid' expected", "", NULL, GRID_HINT, NULL},
    {"expected '('", "", "{shape", GRID_HINT, NULL},
    {"'func.return' op has ", ") returns 0", NULL,
     "types of results stand behind '->', as in func.func @main(%x: tensor<8x16xf32>) -> "
     "tensor<8x16xf32>",
     NULL},
    {"'func.call' op '", "' does not reference a valid function", NULL,
     "define the function in this module, or correct its name", NULL},
    {"expected ')'", "", "[", TENSOR_HINT, NULL},
    {"expected ')'", "", "tp.",
     "attributes have braces around them, as in %x: tensor<8x16xf32> {tp.role = \"param\"}", NULL},
    {"expected ')'", "", NULL, NULL, write_grid_shape},
    {"expected '}' in attribute dictionary", "", ":",
     "an attribute has '=' behind its name, as in {tp.role = \"param\"}", NULL},
    {"expected operation name in quotes", "", NULL,
     "an op begins with its name, as in linalg.matmul: is a '}' missing, or one too many?", NULL},
    {"expected SSA operand", "", "(",
     "operands have no parentheses, as in %y = math.exp %x : tensor<8x16xf32>", NULL},
    {"expected non-function type", "", "\"",
     "lists have square brackets, as in tp.sharding = [[\"dp\"], []]", NULL},
    {"expected non-function type", "", NULL, NULL, write_type},
    {"invalid attribute name", "", "# ", COMMENT_HINT, NULL},
    {"invalid attribute name", "", "##", COMMENT_HINT, NULL},
    {"unexpected character", "", ";", "lines have no ';' at their end", NULL},
    {"unexpected character", "", NULL, NULL, write_quotation_mark},
    {"expected 'x' in dimension list", "", NULL, TENSOR_HINT, NULL},
    {"expected attribute value", "", NULL, NULL, write_value},
    {"'func.func' op arguments may only have dialect attributes", "", NULL,
     "attributes of arguments begin with tp., as in {tp.sharding = [[\"dp\"], []]}", NULL},
    {"'func.func' op results may only have dialect attributes", "", NULL,
     "attributes of results begin with tp., as in {tp.sharding = [[\"dp\"], []]}", NULL},
    {"bytecode version ", " is newer than the current version", NULL,
     "a newer MLIR wrote the file; write it as text, or with --emit-bytecode-version of the "
     "current version",
     NULL},
    {"unknown attribute code: ", "", NULL,
     "a newer MLIR wrote the bytecode, such as that of torch-mlir; write the module as text", NULL},
    {"attempting to parse ", " remain", NULL, "the file is cut off or damaged; write it again",
     NULL},
};

static bool has_form(const char *message, const error_form *form) {
  return strncmp(message, form->begin, strlen(form->begin)) == 0 && strstr(message, form->part);
}

static bool has_source(MlirLocation place, const error_form *form) {
  char text[16];
  if (!form->source)
    return true;
  tp__source_text(place, sizeof text, text);
  return strncmp(text + strspn(text, " "), form->source, strlen(form->source)) == 0;
}

bool tp__is_parse_error(const char *message) {
  for (int i = 0; i < TP_LEN(forms); i++)
    if (has_form(message, &forms[i]))
      return true;
  return false;
}

/* Several forms may fit: the first one counts that finds its cause in the source. */
bool tp__parse_hint(const char *message, MlirLocation place, const tp_known_names *known,
                    char hint[TP_PARSE_HINT]) {
  for (int i = 0; i < TP_LEN(forms); i++) {
    if (!has_form(message, &forms[i]) || !has_source(place, &forms[i]))
      continue;
    if (!forms[i].write)
      snprintf(hint, TP_PARSE_HINT, "%s", forms[i].hint);
    if (!forms[i].write || forms[i].write(message, place, known, hint))
      return true;
  }
  return false;
}
