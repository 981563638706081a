/* Calls of functions that tp-fuse-collectives wrote -> calls of tprt_abi_reduce_rows. What they do is read off tp.fused, not off their bodies. */
#include "passes/fuse.h"
#include "passes/lower.h"

#include "tprt/cuda.h"

#include <string.h>

/* ---- tp.fused ---- */

typedef struct description {
  MlirOperation call, callee;
  MlirAttribute fused;
} description;

static tp_status refuse(const description *d, const char *entry) {
  MlirStringRef name = mlirStringAttrGetValue(tp__inherent(d->callee, "sym_name"));
  return tp__error(d->call, TP_INVALID_ARGUMENT, "the tp.fused of @%.*s is not what tp-fuse-collectives writes: its %s is not",
                   (int)name.length, name.data, entry);
}

static MlirAttribute entry_of(const description *d, const char *name) {
  return mlirAttributeIsADictionary(d->fused) ? mlirDictionaryAttrGetElementByName(d->fused, tp__ref(name))
                                              : (MlirAttribute){NULL};
}

static int find_text(MlirAttribute attr, int n, const char *const *names) {
  for (int i = 0; i < n && !mlirAttributeIsNull(attr) && mlirAttributeIsAString(attr); i++)
    if (tp__ref_is(mlirStringAttrGetValue(attr), names[i]))
      return i;
  return -1;
}

/* The number of the text that an entry is. */
static tp_status read_choice(const description *d, const char *entry, int n, const char *const *names, int64_t *choice) {
  *choice = find_text(entry_of(d, entry), n, names);
  return *choice < 0 ? refuse(d, entry) : TP_OK;
}

/* Which of `names` a list has, in this order, as bits. */
static tp_status read_names(const description *d, const char *entry, int n, const char *const *names, int64_t *bits) {
  MlirAttribute list = entry_of(d, entry);
  intptr_t n_given = mlirAttributeIsNull(list) || !mlirAttributeIsAArray(list) ? -1 : mlirArrayAttrGetNumElements(list);
  int last = -1;
  *bits = 0;
  for (intptr_t i = 0; i < n_given; i++) {
    int found = find_text(mlirArrayAttrGetElement(list, i), n, names);
    if (found <= last)
      return refuse(d, entry);
    *bits |= INT64_C(1) << found;
    last = found;
  }
  return n_given < 0 ? refuse(d, entry) : TP_OK;
}

static tp_status read_axes(const description *d, const tp_mesh *mesh, int *n, int *axes) {
  MlirAttribute list = entry_of(d, "axes");
  *n = mlirAttributeIsNull(list) || !mlirAttributeIsAArray(list) ? 0 : (int)mlirArrayAttrGetNumElements(list);
  for (int i = 0; i < *n; i++) {
    int a = *n > mesh->n_axes ? mesh->n_axes : 0;
    for (; a < mesh->n_axes; a++) {
      char text[2 * TP_MAX_AXIS_NAME];
      const char *const name = text;
      tp_mesh_axis_text(mesh, a, 1, text, sizeof text);
      if (find_text(mlirArrayAttrGetElement(list, i), 1, &name) == 0)
        break;
    }
    if (a == mesh->n_axes)
      return refuse(d, "axes");
    axes[i] = a;
  }
  return *n == 0 ? refuse(d, "axes") : TP_OK;
}

/* ---- sites ---- */

/* The names of operands and results, in the order of their bits. */
static const char *const operand_names[TP_FUSED_OPERANDS] = {"input", "residual", "bias", "gamma", "beta"};
static const char *const result_names[2] = {"residual_out", "out"};

static tp_status read_extra(const description *d, int64_t *extra, int64_t *operands, int64_t *results) {
  static const char *const kinds[] = {"reduce_rows"};
  static const char *const algorithms[] = {
      [TPRT_CUDA_AUTO] = "auto", [TPRT_CUDA_PUSH] = "push", [TPRT_CUDA_PULL] = "pull", [TPRT_CUDA_SLICES] = "slices"};
  static const char *const norms[] = {
      [TPRT_CUDA_NO_NORM] = "none", [TPRT_CUDA_RMS_NORM] = "rms_norm", [TPRT_CUDA_LAYER_NORM] = "layer_norm"};
  static const char *const layouts[] = {
      [TPRT_ROWS_WHOLE] = "whole", [TPRT_ROWS_SCATTERED] = "scattered", [TPRT_ROWS_GATHERED] = "gathered"};
  int64_t kind;
  tp_status status = read_choice(d, "kind", TP_LEN(kinds), kinds, &kind);
  if (status == TP_OK)
    status = read_choice(d, "layout", TP_LEN(layouts), layouts, &extra[TPRT_ROWS_LAYOUT]);
  if (status == TP_OK)
    status = read_choice(d, "algorithm", TP_LEN(algorithms), algorithms, &extra[TPRT_ROWS_ALGORITHM]);
  if (status == TP_OK)
    status = read_choice(d, "norm", TP_LEN(norms), norms, &extra[TPRT_ROWS_NORM]);
  if (status == TP_OK)
    status = read_names(d, "operands", TP_LEN(operand_names), operand_names, operands);
  if (status == TP_OK)
    status = read_names(d, "results", TP_LEN(result_names), result_names, results);
  if (status != TP_OK || extra[TPRT_ROWS_NORM] == TPRT_CUDA_NO_NORM)
    return status;
  MlirAttribute epsilon = entry_of(d, "epsilon");
  if (mlirAttributeIsNull(epsilon) || !mlirAttributeIsAFloat(epsilon))
    return refuse(d, "epsilon");
  float number = (float)mlirFloatAttrGetValueDouble(epsilon);
  uint32_t bits;
  memcpy(&bits, &number, sizeof bits);
  extra[TPRT_ROWS_EPSILON] = bits;
  return TP_OK;
}

static int n_bits(int64_t bits) { return __builtin_popcountll((unsigned long long)bits); }

static tp_status lower_rows(tp__lowering *l, const description *d) {
  MlirOperation op = d->call;
  int64_t site[TPRT_SITE_WORDS], extra[TPRT_ROWS_WORDS] = {0}, operands, results;
  int n_axes, axes[TP_MAX_AXES], at = 0;
  MlirAttribute dim = entry_of(d, "dim");
  tp_status status = read_extra(d, extra, &operands, &results);
  if (status == TP_OK && (n_bits(operands) != mlirOperationGetNumOperands(op) || !(operands & 1)))
    status = refuse(d, "operands");
  if (status == TP_OK && (n_bits(results) != mlirOperationGetNumResults(op) || !(results & 2)))
    status = refuse(d, "results");
  if (status == TP_OK && (mlirAttributeIsNull(dim) || !mlirAttributeIsAInteger(dim)))
    status = refuse(d, "dim");
  if (status == TP_OK)
    status = read_axes(d, &l->mesh, &n_axes, axes);
  if (status == TP_OK)
    status = tp__site_begin(op, TPRT_SITE_REDUCE_ROWS, n_axes, axes, mlirOperationGetOperand(op, 0), site);
  if (status != TP_OK)
    return status;
  site[2] = TPRT_SUM;
  site[27] = mlirIntegerAttrGetValueInt(dim);
  extra[TPRT_ROWS_OPERANDS] = operands >> 1 | (results & 1) << (TP_FUSED_OPERANDS - 1);
  MlirValue none = tp__build_one(op, "llvm.mlir.zero", 0, NULL, l->ptr), buffers[2];
  MlirValue given[2 + TP_FUSED_OPERANDS + 2] = {l->ctx};
  MlirValue *received = given + 2 + TP_FUSED_OPERANDS;
  for (int i = 0; i < 2; i++)
    received[i] =
        results >> i & 1 ? tp__site_receive(l, op, mlirValueGetType(mlirOperationGetResult(op, at++)), &buffers[i]) : none;
  at = 0;
  for (int i = 0; i < TP_FUSED_OPERANDS; i++)
    given[2 + i] = operands >> i & 1 ? tp__site_send(l, op, mlirOperationGetOperand(op, at++)) : none;
  given[1] = tp__build_int(op, l->i32, tp__lowering_site(l, site, TPRT_ROWS_WORDS, extra));
  tp__build_call(l, op, "tprt_abi_reduce_rows", TP_LEN(given), given, l->i32);
  at = 0;
  for (int i = 0; i < 2; i++) {
    if (!(results >> i & 1))
      continue;
    MlirValue result = mlirOperationGetResult(op, at++);
    mlirValueReplaceAllUsesOfWith(result, tp__site_value(l, op, mlirValueGetType(result), buffers[i]));
  }
  mlirOperationDestroy(op);
  return TP_OK;
}

tp_status tp__lower_fused(tp__lowering *l, MlirOperation op, bool *done) {
  description d = {.call = op};
  *done = false;
  if (!tp__op_is(op, "func.call"))
    return TP_OK;
  d.callee = tp__callee(l->module, op);
  if (mlirOperationIsNull(d.callee))
    return TP_OK;
  d.fused = tp__get(d.callee, "tp.fused");
  *done = !mlirAttributeIsNull(d.fused);
  return *done ? lower_rows(l, &d) : TP_OK;
}
