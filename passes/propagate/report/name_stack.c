/* Reads name stacks. JAX writes "jit(step)/transpose(jvp(layer))/while/body/mlp/mul" for a `mul` in
 * scope `mlp`, which is in a loop in scope `layer`, whose gradient this is: the name of a
 * transformation encloses the scope, and regions of control flow are named between scopes. */
#include "passes/propagate/report/name_stack.h"

#include "ir/ir.h"

#include <string.h>

enum { MAX_DEPTH = 16, MAX_SCOPE = 60 };

/* Parts of a stack that no user wrote. */
static const char *const framework_parts[] = {"while", "body",       "cond",        "scan",
                                              "remat", "checkpoint", "closed_call", "pjit"};

typedef struct part {
  const char *text;
  size_t length;
} part;

static bool is_text(part p, const char *text) {
  return strlen(text) == p.length && memcmp(p.text, text, p.length) == 0;
}

/* Takes the first part of a stack; "/" in parentheses does not end it. */
static part take_part(part *rest) {
  size_t n = 0;
  for (int depth = 0; n < rest->length && (depth > 0 || rest->text[n] != '/'); n++)
    depth += (rest->text[n] == '(') - (rest->text[n] == ')');
  part first = {rest->text, n};
  n += n < rest->length;
  *rest = (part){rest->text + n, rest->length - n};
  return first;
}

/* Takes "jvp(" and ")" away from "jvp(scope)". False if nothing stands around the scope. */
static bool unwrap(part *p, part *around) {
  const char *open = memchr(p->text, '(', p->length);
  if (!open || p->length == 0 || p->text[p->length - 1] != ')')
    return false;
  *around = (part){p->text, (size_t)(open - p->text)};
  *p = (part){open + 1, p->length - around->length - 2};
  return true;
}

static bool is_of_framework(part p) {
  bool found = p.length == 0;
  for (size_t i = 0; i < TP__COUNT(framework_parts) && !found; i++)
    found = is_text(p, framework_parts[i]);
  return found;
}

static void add_scope(tp_name_stack *stack, part p, bool is_outermost, tp__string *scope) {
  part around;
  bool is_function = false;
  for (int i = 0; i < MAX_DEPTH && unwrap(&p, &around); i++) {
    stack->is_gradient |= is_text(around, "transpose");
    is_function |= is_text(around, "jit");
  }
  stack->is_recomputed |= is_text(p, "rematted_computation");
  if (is_of_framework(p) || is_text(p, "rematted_computation") || (is_function && is_outermost))
    return;
  tp__string_printf(scope, "%s%.*s", *tp__string_text(scope) ? "/" : "", (int)p.length, p.text);
}

/* The inner end of a long scope. */
static const char *shortened(const char *scope) {
  size_t n = strlen(scope);
  if (n <= MAX_SCOPE)
    return scope;
  const char *end = strchr(scope + n - MAX_SCOPE, '/');
  return end ? end + 1 : scope + n - MAX_SCOPE;
}

/* The outermost name of a location; the callee of a call site comes first. False: there is none. */
static bool find_name(MlirLocation location, MlirLocation *name) {
  for (int i = 0; i < MAX_DEPTH && mlirLocationIsACallSite(location); i++)
    location = mlirLocationCallSiteGetCallee(location);
  *name = location;
  return mlirLocationIsAName(location);
}

/* "norm" of the innermost function "norm.<locals>.<lambda>" below the name; "" if none is known. */
static part function_of(MlirLocation name) {
  MlirLocation below = mlirLocationNameGetChildLoc(name);
  if (!mlirLocationIsACallSite(below) || !find_name(below, &below))
    return (part){"", 0};
  MlirStringRef text = mlirIdentifierStr(mlirLocationNameGetName(below));
  part rest = {text.data, text.length};
  for (size_t n = 0; n < rest.length; n++)
    if (rest.text[n] == '<') {
      rest.length = n > 0 ? n - 1 : 0;
      break;
    }
  return rest;
}

bool tp__name_stack_read(tp__arena *arena, MlirLocation location, tp_name_stack *stack) {
  MlirLocation name;
  *stack = (tp_name_stack){.scope = "", .op = ""};
  if (!find_name(location, &name))
    return true;
  MlirStringRef text = mlirIdentifierStr(mlirLocationNameGetName(name));
  part rest = {text.data, text.length}, last = take_part(&rest), own;
  tp__string scope = {0};
  part outermost = last, around;
  stack->is_stack = rest.length > 0 && unwrap(&outermost, &around);
  if (!stack->is_stack) {
    last = (part){text.data, text.length};
    rest.length = 0;
  }
  for (bool is_outermost = true; rest.length > 0; is_outermost = false) {
    add_scope(stack, last, is_outermost, &scope);
    last = take_part(&rest);
  }
  own = function_of(name);
  if (!*tp__string_text(&scope))
    tp__string_append_bytes(&scope, own.text, own.length);
  stack->scope = tp__arena_strdup(arena, shortened(tp__string_text(&scope)));
  stack->op = tp__arena_strndup(arena, last.text, last.length);
  bool ok = stack->scope && stack->op && !scope.failed;
  tp__string_destroy(&scope);
  return ok;
}
