/* Chooses the mesh of a module that has several: the one that its ops and annotations name. */
#include "ir/annotation.h"
#include "ir/location.h"

#include <string.h>

/* ---- names of meshes in attributes ---- */

static bool in_symbol(char c) {
  return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') ||
         (c != 0 && strchr("_$.-", c) != NULL);
}

/* True if the text of an attribute contains @symbol or @"symbol". MLIR provides attributes of
 * Shardy as text. */
static bool text_names(MlirStringRef text, MlirStringRef symbol) {
  for (size_t i = 0; i + symbol.length < text.length; i++) {
    size_t at = i + 1, quotes = text.data[at] == '"';
    at += quotes;
    size_t end = at + symbol.length;
    if (text.data[i] != '@' || end + quotes > text.length ||
        memcmp(text.data + at, symbol.data, symbol.length) != 0)
      continue;
    if (quotes ? text.data[end] == '"' : end == text.length || !in_symbol(text.data[end]))
      return true;
  }
  return false;
}

typedef struct name_search {
  MlirStringRef symbol;
  bool found;
} name_search;

/* `symbols`: a symbol reference names a mesh. So does the entry {mesh = @mesh} of a tp.sharding. */
static void search_attr(name_search *s, MlirAttribute attr, bool symbols) {
  if (mlirAttributeIsAOpaque(attr)) {
    s->found |= tp__ref_is(mlirOpaqueAttrGetDialectNamespace(attr), "sdy") &&
                text_names(mlirOpaqueAttrGetData(attr), s->symbol);
  } else if (symbols && mlirAttributeIsAFlatSymbolRef(attr)) {
    s->found |= mlirStringRefEqual(mlirFlatSymbolRefAttrGetValue(attr), s->symbol);
  } else if (mlirAttributeIsAArray(attr)) {
    for (intptr_t i = 0; i < mlirArrayAttrGetNumElements(attr) && !s->found; i++)
      search_attr(s, mlirArrayAttrGetElement(attr, i), symbols);
  } else if (mlirAttributeIsADictionary(attr)) {
    for (intptr_t i = 0; i < mlirDictionaryAttrGetNumElements(attr) && !s->found; i++) {
      MlirNamedAttribute entry = mlirDictionaryAttrGetElement(attr, i);
      search_attr(s, entry.attribute, symbols || tp__ref_is(mlirIdentifierStr(entry.name), "mesh"));
    }
  }
}

/* The ops of the shard dialect name a grid by a symbol reference. */
static tp_status search_op(MlirOperation op, void *data) {
  name_search *s = data;
  bool symbols = tp__op_has_dialect(op, "shard");
  for (intptr_t i = 0; i < mlirOperationGetNumAttributes(op) && !s->found; i++)
    search_attr(s, mlirOperationGetAttribute(op, i).attribute, symbols);
  return TP_OK;
}

static bool is_named(MlirOperation module, MlirStringRef symbol) {
  name_search s = {.symbol = symbol};
  (void)tp__walk(module, search_op, &s); /* the visitor does not fail */
  return s.found;
}

/* ---- the choice ---- */

typedef struct candidate {
  MlirOperation op;
  MlirStringRef symbol;
} candidate;

static tp_status refuse(const candidate *first, const candidate *second, bool are_named) {
  tp__arena arena = {0};
  tp_status status = tp__error(
      second->op, TP_UNSUPPORTED,
      "@%.*s is a second mesh besides @%.*s (at %s); a program has one mesh, and %s",
      (int)second->symbol.length, second->symbol.data, (int)first->symbol.length,
      first->symbol.data, tp__location_short(&arena, mlirOperationGetLocation(first->op)),
      are_named
          ? "shardings name both: write all of them with the axes of one mesh, and remove the "
            "other"
          : "no sharding names either by its symbol: remove the one that is not meant");
  tp__arena_destroy(&arena);
  return status;
}

static MlirOperation next_in(MlirOperation op, tp__mesh_reader is_mesh, candidate *next) {
  while (!mlirOperationIsNull(op) && !is_mesh(op, &next->symbol))
    op = mlirOperationGetNextInBlock(op);
  return next->op = op;
}

tp_status tp__choose_mesh(MlirOperation module, tp__mesh_reader is_mesh, MlirOperation *chosen) {
  candidate first, second, named = {.op = {NULL}}, next;
  MlirOperation op = mlirBlockGetFirstOperation(tp__region_block(module, 0));
  *chosen = next_in(op, is_mesh, &first);
  if (mlirOperationIsNull(first.op) ||
      mlirOperationIsNull(next_in(mlirOperationGetNextInBlock(first.op), is_mesh, &second)))
    return TP_OK;
  for (op = first.op; !mlirOperationIsNull(next_in(op, is_mesh, &next));
       op = mlirOperationGetNextInBlock(next.op)) {
    if (!is_named(module, next.symbol))
      continue;
    if (!mlirOperationIsNull(named.op))
      return refuse(&named, &next, true);
    named = next;
  }
  *chosen = named.op;
  return mlirOperationIsNull(named.op) ? refuse(&first, &second, false) : TP_OK;
}
