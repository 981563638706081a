/* Adds arguments to functions and erases them: the type, the block and the attributes. */
#include "ir/diagnostics.h"
#include "ir/ir.h"
#include "support/support.h"

/* The inputs of a function: types, and dictionaries of attributes. */
typedef struct inputs {
  int n;
  MlirType *types;
  MlirAttribute *attributes;
} inputs;

static void release(inputs *in) {
  tp__free(in->types);
  tp__free(in->attributes);
}

/* Reads the inputs of a function into arrays with room for `more`. */
static tp_status read_inputs(MlirOperation func, int more, inputs *in) {
  MlirType type = tp__func_type(func);
  MlirAttribute all = tp__inherent(func, "arg_attrs");
  MlirAttribute none = mlirDictionaryAttrGet(mlirOperationGetContext(func), 0, NULL);
  *in = (inputs){.n = (int)mlirFunctionTypeGetNumInputs(type)};
  size_t room = (size_t)(in->n + more) + 1;
  in->types = tp__calloc(room, sizeof *in->types);
  in->attributes = tp__calloc(room, sizeof *in->attributes);
  if (!in->types || !in->attributes) {
    release(in);
    return tp__out_of_memory(func);
  }
  bool has_attributes = !mlirAttributeIsNull(all) && mlirAttributeIsAArray(all) &&
                        mlirArrayAttrGetNumElements(all) == in->n;
  for (int i = 0; i < in->n; i++) {
    in->types[i] = mlirFunctionTypeGetInput(type, i);
    in->attributes[i] = has_attributes ? mlirArrayAttrGetElement(all, i) : none;
  }
  for (int i = in->n; i < in->n + more; i++)
    in->attributes[i] = none;
  return TP_OK;
}

static tp_status write_inputs(MlirOperation func, const inputs *in) {
  MlirContext context = mlirOperationGetContext(func);
  MlirType type = tp__func_type(func);
  intptr_t n_results = mlirFunctionTypeGetNumResults(type);
  MlirType *results = tp__calloc((size_t)n_results + 1, sizeof *results);
  if (!results)
    return tp__out_of_memory(func);
  for (intptr_t i = 0; i < n_results; i++)
    results[i] = mlirFunctionTypeGetResult(type, i);
  mlirOperationSetInherentAttributeByName(
      func, tp__ref("function_type"),
      mlirTypeAttrGet(mlirFunctionTypeGet(context, in->n, in->types, n_results, results)));
  if (in->n > 0)
    mlirOperationSetInherentAttributeByName(func, tp__ref("arg_attrs"),
                                            mlirArrayAttrGet(context, in->n, in->attributes));
  else
    mlirOperationRemoveAttributeByName(func, tp__ref("arg_attrs"));
  tp__free(results);
  return TP_OK;
}

tp_status tp__add_arguments(MlirOperation func, const tp_op_list *like) {
  inputs in;
  TP_TRY(read_inputs(func, (int)like->n, &in));
  for (size_t i = 0; i < like->n; i++)
    in.types[in.n++] = mlirValueGetType(mlirOperationGetResult(like->items[i], 0));
  tp_status status = write_inputs(func, &in);
  for (size_t i = 0; i < like->n && status == TP_OK; i++)
    mlirBlockAddArgument(tp__region_block(func, 0),
                         mlirValueGetType(mlirOperationGetResult(like->items[i], 0)),
                         mlirOperationGetLocation(like->items[i]));
  release(&in);
  return status;
}

tp_status tp__erase_arguments(MlirOperation func, const bool *erased) {
  inputs in;
  TP_TRY(read_inputs(func, 0, &in));
  int n = in.n;
  in.n = 0;
  for (int i = 0; i < n; i++)
    if (!erased[i]) {
      in.types[in.n] = in.types[i];
      in.attributes[in.n++] = in.attributes[i];
    }
  tp_status status = write_inputs(func, &in);
  for (int i = n; i-- > 0 && status == TP_OK;)
    if (erased[i])
      mlirBlockEraseArgument(tp__region_block(func, 0), (unsigned)i);
  release(&in);
  return status;
}
