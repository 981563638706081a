/* The line of an op as IR, with places where the names of values belong. Ops that differ only in
 * these names have equal lines, so that the document has each of them once. */
#include "passes/propagate/report/plan_graph.h"

#include <ctype.h>
#include <stdlib.h>
#include <string.h>

enum { MAX_LINE = 600, LARGE_ELEMENTS = 8 };

tp_line_printer tp__line_printer_create(MlirOperation func) {
  MlirOpPrintingFlags flags = mlirOpPrintingFlagsCreate();
  mlirOpPrintingFlagsAssumeVerified(flags);
  mlirOpPrintingFlagsSkipRegions(flags);
  mlirOpPrintingFlagsUseLocalScope(flags); /* maps in place, not as names of the module */
  mlirOpPrintingFlagsElideLargeElementsAttrs(flags, LARGE_ELEMENTS);
  mlirOpPrintingFlagsElideLargeResourceString(flags, LARGE_ELEMENTS);
  return (tp_line_printer){flags, mlirAsmStateCreateForOperation(func, flags)};
}

void tp__line_printer_destroy(tp_line_printer *p) {
  mlirAsmStateDestroy(p->state);
  mlirOpPrintingFlagsDestroy(p->flags);
}

/* A line in the making: a list of texts and places. */
typedef struct line {
  const tp_line_printer *printer;
  MlirOperation op;
  int n_places;
  const MlirValue *places;
  json_t *parts;
  tp__string text; /* since the last place */
} line;

static bool is_name_char(char c) {
  return isalnum((unsigned char)c) || c == '_' || c == '.' || c == '-' || c == '$';
}

/* True if the value is printed under this name, which is without the number of a result. */
static bool has_name(const line *l, MlirValue value, const char *name, size_t n) {
  tp__string text = {0};
  mlirValuePrintAsOperand(value, l->printer->state, tp__append_part, &text);
  const char *own = tp__string_text(&text);
  bool same = strncmp(own, name, n) == 0 && !is_name_char(own[n]);
  tp__string_destroy(&text);
  return same;
}

static void end_text(line *l) {
  if (*tp__string_text(&l->text))
    json_array_append_new(l->parts, tp__report_string(tp__string_text(&l->text)));
  tp__string_clear(&l->text);
}

static void add_place(line *l, json_t *place) {
  end_text(l);
  json_array_append_new(l->parts, place);
}

/* A scalar constant is shown as its value, other scalars without a name. */
static void add_scalar(line *l, MlirValue value) {
  MlirOperation maker = tp__defining_op(value);
  bool is_constant = !mlirOperationIsNull(maker) && tp__op_is(maker, "arith.constant");
  if (is_constant)
    mlirAttributePrint(tp__inherent(maker, "value"), tp__append_part, &l->text);
  else
    (void)tp__string_append(&l->text, "%_"); /* a failure is sticky */
}

static void add_name(line *l, const char *name, size_t n) {
  for (intptr_t i = 0; i < mlirOperationGetNumResults(l->op); i++)
    if (has_name(l, mlirOperationGetResult(l->op, i), name, n)) {
      add_place(l, json_null());
      return;
    }
  for (int i = 0; i < l->n_places; i++)
    if (has_name(l, l->places[i], name, n)) {
      add_place(l, json_integer(i));
      return;
    }
  for (intptr_t i = 0; i < mlirOperationGetNumOperands(l->op); i++) {
    MlirValue value = mlirOperationGetOperand(l->op, i);
    if (!has_name(l, value, name, n))
      continue;
    if (tp__is_tensor(mlirValueGetType(value)))
      break;
    add_scalar(l, value);
    return;
  }
  (void)tp__string_append_bytes(&l->text, name, n);
}

/* The length of a string literal, or of the rest. */
static size_t literal_length(const char *from) {
  size_t n = 1;
  while (from[n] && from[n] != '"')
    n += from[n] == '\\' && from[n + 1] ? 2 : 1;
  return from[n] ? n + 1 : n;
}

/* How many of n bytes may be added, so that no character is cut. */
static size_t room_for(const char *text, size_t n, size_t room) {
  if (n <= room)
    return n;
  while (room > 0 && ((unsigned char)text[room] & 0xc0) == 0x80)
    room--;
  return room;
}

json_t *tp__line_json(const tp_line_printer *p, MlirOperation op, int n_places,
                      const MlirValue *places) {
  line l = {.printer = p, .op = op, .n_places = n_places, .places = places, .parts = json_array()};
  tp__string printed = {0};
  mlirOperationPrintWithState(op, p->state, tp__append_part, &printed);
  char *text = tp__string_take(&printed);
  size_t length = 0; /* without names, in which equal ops differ */
  const char *at = text;
  while (at && *at && length < MAX_LINE) {
    size_t n = 1;
    if (*at == '%') {
      while (is_name_char(at[n]))
        n++;
      add_name(&l, at, n);
    } else {
      n = room_for(at, *at == '"' ? literal_length(at) : 1, MAX_LINE - length);
      (void)tp__string_append_bytes(&l.text, at, n);
      length += n;
    }
    at += n;
    if (n == 0)
      break;
  }
  if (at && *at)
    (void)tp__string_append(&l.text, " ...");
  end_text(&l);
  tp__string_destroy(&l.text);
  tp__free(text);
  return l.parts;
}

json_t *tp__attributes_json(MlirOperation func, MlirValue argument) {
  MlirAttribute all = tp__inherent(func, "arg_attrs");
  tp__string printed = {0};
  if (!mlirAttributeIsNull(all)) {
    MlirAttribute own = mlirArrayAttrGetElement(all, mlirBlockArgumentGetArgNumber(argument));
    if (mlirDictionaryAttrGetNumElements(own) > 0)
      mlirAttributePrint(own, tp__append_part, &printed);
  }
  const char *text = tp__string_text(&printed);
  size_t length = strlen(text), kept = room_for(text, length, MAX_LINE);
  tp__string cut = {0};
  (void)tp__string_append_bytes(&cut, text, kept); /* a failure is sticky */
  (void)tp__string_append(&cut, kept < length ? " ..." : "");
  json_t *json = cut.failed || printed.failed ? NULL : tp__report_string(tp__string_text(&cut));
  tp__string_destroy(&cut);
  tp__string_destroy(&printed);
  return json;
}
