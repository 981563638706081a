/* Erases the functions of a module that the function to run does not call, so that they are not
 * planned and compiled. */
#include "run.h"

#include <mlir-c/BuiltinAttributes.h>
#include <stdlib.h>

typedef struct reached {
  MlirOperation *functions; /* of the module */
  bool *is_reached;
  int n;
  int *pending, n_pending; /* reached functions whose bodies were not read yet */
} reached;

static MlirStringRef symbol_of(MlirOperation function) {
  return mlirStringAttrGetValue(
      mlirOperationGetInherentAttributeByName(function, mlirSymbolTableGetSymbolAttributeName()));
}

static void reach(reached *r, MlirStringRef name) {
  for (int i = 0; i < r->n; i++)
    if (!r->is_reached[i] && mlirStringRefEqual(symbol_of(r->functions[i]), name)) {
      r->is_reached[i] = true;
      r->pending[r->n_pending++] = i;
    }
}

/* Reaches the functions that an attribute names, at any depth. */
static void reach_attribute(reached *r, MlirAttribute attribute) {
  if (mlirAttributeIsAFlatSymbolRef(attribute))
    reach(r, mlirFlatSymbolRefAttrGetValue(attribute));
  for (intptr_t i = 0;
       mlirAttributeIsAArray(attribute) && i < mlirArrayAttrGetNumElements(attribute); i++)
    reach_attribute(r, mlirArrayAttrGetElement(attribute, i));
  for (intptr_t i = 0;
       mlirAttributeIsADictionary(attribute) && i < mlirDictionaryAttrGetNumElements(attribute);
       i++)
    reach_attribute(r, mlirDictionaryAttrGetElement(attribute, i).attribute);
}

static MlirWalkResult reach_uses(MlirOperation op, void *list) {
  for (intptr_t i = 0; i < mlirOperationGetNumAttributes(op); i++)
    reach_attribute(list, mlirOperationGetAttribute(op, i).attribute);
  return MlirWalkResultAdvance;
}

static bool is_function(MlirOperation op) {
  return mlirStringRefEqual(mlirIdentifierStr(mlirOperationGetName(op)),
                            mlirStringRefCreateFromCString("func.func"));
}

/* Lists the functions of the module. False if memory is short. */
static bool list_functions(reached *r, MlirBlock module) {
  size_t n_ops = 1;
  for (MlirOperation op = mlirBlockGetFirstOperation(module); !mlirOperationIsNull(op);
       op = mlirOperationGetNextInBlock(op))
    n_ops++;
  r->functions = calloc(n_ops, sizeof *r->functions);
  r->is_reached = calloc(n_ops, sizeof *r->is_reached);
  r->pending = calloc(n_ops, sizeof *r->pending);
  if (!r->functions || !r->is_reached || !r->pending)
    return false;
  for (MlirOperation op = mlirBlockGetFirstOperation(module); !mlirOperationIsNull(op);
       op = mlirOperationGetNextInBlock(op))
    if (is_function(op))
      r->functions[r->n++] = op;
  return true;
}

bool reached_only(MlirModule module, const char *function) {
  reached r = {0};
  MlirBlock body = mlirModuleGetBody(module);
  bool ok = list_functions(&r, body);
  if (ok) {
    reach(&r, mlirStringRefCreateFromCString(function));
    for (MlirOperation op = mlirBlockGetFirstOperation(body); !mlirOperationIsNull(op);
         op = mlirOperationGetNextInBlock(op))
      if (!is_function(op))
        mlirOperationWalk(op, reach_uses, &r, MlirWalkPreOrder);
    while (r.n_pending > 0)
      mlirOperationWalk(r.functions[r.pending[--r.n_pending]], reach_uses, &r, MlirWalkPreOrder);
    for (int i = 0; i < r.n; i++)
      if (!r.is_reached[i])
        mlirOperationDestroy(r.functions[i]);
  } else {
    complain("out of memory");
  }
  free(r.functions);
  free(r.is_reached);
  free(r.pending);
  return ok;
}
