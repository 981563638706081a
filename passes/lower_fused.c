/* Calls of functions that tp-fuse-collectives and tp-fuse-epilogues wrote -> calls of the runtime. What they do is read off tp.fused, not off their bodies. */
#include "passes/fuse.h"
#include "passes/lower.h"

#include "tprt/cuda_gemm.h"

#include <string.h>

/* ---- tp.fused ---- */

typedef struct description {
  MlirOperation call, callee;
  MlirAttribute fused;
} description;

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

static bool is_product(const description *d) {
  static const char *const kind = "multiply";
  return find_text(entry_of(d, "kind"), 1, &kind) == 0;
}

static tp_status refuse(const description *d, const char *entry) {
  MlirStringRef name = mlirStringAttrGetValue(tp__inherent(d->callee, "sym_name"));
  return tp__error(d->call, TP_INVALID_ARGUMENT, "the tp.fused of @%.*s is not what tp-fuse-%s writes: its %s is not",
                   (int)name.length, name.data, is_product(d) ? "epilogues" : "collectives", entry);
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
static const char *const operand_names[TP_FUSED_OPERANDS] = {"input", "a",     "b",    "residual",
                                                             "bias",  "gamma", "beta", "static_scale"};
static const char *const result_names[TP_FUSED_RESULTS] = {"residual_out", "out", "quantised", "scale"};
enum { N_ROW_OPERANDS = 3 }; /* input, a, b: the rows; others may be missing */

/* The kinds of functions. */
static const struct {
  tprt_site_kind kind;
  const char *callee;
  int n_words;
  int64_t operands;          /* of the rows, as bits */
  int n_operands, n_results; /* that the call has */
} kinds[] = {
    {TPRT_SITE_REDUCE_ROWS, "tprt_abi_reduce_rows", TPRT_ROWS_WORDS, 1, 7, 2},
    {TPRT_SITE_MULTIPLY_ROWS, "tprt_abi_multiply_rows", TPRT_MULTIPLY_WORDS, 6, 7, 2},
    {TPRT_SITE_QUANTISE_ROWS, "tprt_abi_quantise_rows", TPRT_QUANTISE_WORDS, 1, 8, 4},
};

/* The bits of an f32 that is no less than 0. */
static tp_status read_float(const description *d, const char *entry, int64_t *word) {
  MlirAttribute attr = entry_of(d, entry);
  if (mlirAttributeIsNull(attr) || !mlirAttributeIsAFloat(attr))
    return refuse(d, entry);
  float number = (float)mlirFloatAttrGetValueDouble(attr);
  uint32_t bits;
  memcpy(&bits, &number, sizeof bits);
  *word = bits;
  return TP_OK;
}

static tp_status read_quantisation(const description *d, int64_t operands, int64_t results, int64_t *extra) {
  static const char *const names[] = {"static", "per_token", "per_group"}; /* from TPRT_CUDA_STATIC on */
  int64_t kind = 0;
  tp_status status = read_choice(d, "quantise", TP_LEN(names), names, &kind);
  if (status == TP_OK)
    status = read_float(d, "least_largest", &extra[TPRT_QUANTISE_LEAST_LARGEST]);
  if (status == TP_OK)
    status = read_float(d, "least_scale", &extra[TPRT_QUANTISE_LEAST_SCALE]);
  extra[TPRT_QUANTISE_KIND] = TPRT_CUDA_STATIC + kind;
  extra[TPRT_QUANTISE_DIVIDES] = 1;
  bool is_static = kind == 0, has_scale = operands >> (TP_FUSED_OPERANDS - 1) & 1, makes_scale = results & 8;
  if (status == TP_OK && is_static != has_scale)
    status = refuse(d, "operands");
  if (status == TP_OK && (is_static == makes_scale || !(results & 4)))
    status = refuse(d, "results");
  return status;
}

static tp_status read_extra(const description *d, int64_t *extra, int64_t *kind, int64_t *operands, int64_t *results) {
  static const char *const kind_names[TP_LEN(kinds)] = {"reduce_rows", "multiply_rows", "quantise_rows"};
  static const char *const algorithms[] = {
      [TPRT_CUDA_AUTO] = "auto", [TPRT_CUDA_PUSH] = "push", [TPRT_CUDA_PULL] = "pull", [TPRT_CUDA_SLICES] = "slices"};
  static const char *const norms[] = {
      [TPRT_CUDA_NO_NORM] = "none", [TPRT_CUDA_RMS_NORM] = "rms_norm", [TPRT_CUDA_LAYER_NORM] = "layer_norm"};
  static const char *const layouts[] = {
      [TPRT_ROWS_WHOLE] = "whole", [TPRT_ROWS_SCATTERED] = "scattered", [TPRT_ROWS_GATHERED] = "gathered"};
  tp_status status = read_choice(d, "kind", TP_LEN(kind_names), kind_names, kind);
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
  return read_float(d, "epsilon", &extra[TPRT_ROWS_EPSILON]);
}

static int n_bits(int64_t bits) { return __builtin_popcountll((unsigned long long)bits); }

static int64_t n_elements(MlirValue tensor) {
  int rank;
  int64_t shape[TP_MAX_RANK], n = 1;
  tp__static_tensor(mlirValueGetType(tensor), &rank, shape);
  for (int d = 0; d < rank; d++)
    n *= shape[d];
  return n;
}

/* The type of the rows that are summed, and of a product its words of extra data. */
static tp_status read_rows(const description *d, MlirType *type, int64_t *extra) {
  MlirValue a = mlirOperationGetOperand(d->call, 0);
  MlirAttribute transposed = entry_of(d, "transpose_b"), list = entry_of(d, "shape");
  int64_t shape[TP_MAX_RANK], tokens = 1;
  int rank = mlirAttributeIsNull(list) ? -1 : tp__int_list(list, TP_MAX_RANK, shape);
  if (rank < 1)
    return refuse(d, "shape");
  for (int i = 0; i < rank - 1; i++)
    tokens *= shape[i];
  int64_t k = tokens > 0 ? n_elements(a) / tokens : 0;
  if (k < 1 || tokens * k != n_elements(a) || k * shape[rank - 1] != n_elements(mlirOperationGetOperand(d->call, 1)))
    return refuse(d, "shape");
  if (mlirAttributeIsNull(transposed) || !mlirAttributeIsABool(transposed))
    return refuse(d, "transpose_b");
  *type = mlirRankedTensorTypeGet(rank, shape, tp__element_type(mlirValueGetType(a)), (MlirAttribute){NULL});
  extra[TPRT_MULTIPLY_K] = k;
  extra[TPRT_MULTIPLY_TRANSPOSED] = mlirBoolAttrGetValue(transposed);
  return TP_OK;
}

static tp_status lower_rows(tp__lowering *l, const description *d) {
  MlirOperation op = d->call;
  int64_t site[TPRT_SITE_WORDS], extra[TPRT_QUANTISE_WORDS] = {0}, kind, operands, results;
  int n_axes, axes[TP_MAX_AXES], at = 0;
  MlirAttribute dim = entry_of(d, "dim");
  MlirType rows = {NULL};
  tp_status status = read_extra(d, extra, &kind, &operands, &results);
  if (status == TP_OK &&
      (n_bits(operands) != mlirOperationGetNumOperands(op) || (operands & ((1 << N_ROW_OPERANDS) - 1)) != kinds[kind].operands))
    status = refuse(d, "operands");
  bool quantises = status == TP_OK && kinds[kind].kind == TPRT_SITE_QUANTISE_ROWS;
  if (status == TP_OK && (n_bits(results) != mlirOperationGetNumResults(op) || results >> kinds[kind].n_results ||
                          !(results & (quantises ? 4 : 2))))
    status = refuse(d, "results");
  if (status == TP_OK && operands >> kinds[kind].n_operands)
    status = refuse(d, "operands");
  if (quantises && status == TP_OK)
    status = read_quantisation(d, operands, results, extra);
  if (status == TP_OK && (mlirAttributeIsNull(dim) || !mlirAttributeIsAInteger(dim)))
    status = refuse(d, "dim");
  if (status == TP_OK)
    status = read_axes(d, &l->mesh, &n_axes, axes);
  if (status == TP_OK && kinds[kind].kind == TPRT_SITE_MULTIPLY_ROWS)
    status = read_rows(d, &rows, extra);
  else if (status == TP_OK)
    rows = mlirValueGetType(mlirOperationGetOperand(op, 0));
  if (status == TP_OK)
    status = tp__site_begin(op, kinds[kind].kind, n_axes, axes, rows, site);
  if (status != TP_OK)
    return status;
  site[2] = TPRT_SUM;
  site[27] = mlirIntegerAttrGetValueInt(dim);
  extra[TPRT_ROWS_OPERANDS] = (operands >> N_ROW_OPERANDS & (TPRT_ROWS_RESIDUAL_OUT - 1)) |
                              (results & 1 ? TPRT_ROWS_RESIDUAL_OUT : 0) | (quantises && results & 2 ? TPRT_ROWS_OUT : 0);
  MlirValue none = tp__build_one(op, "llvm.mlir.zero", 0, NULL, l->ptr), buffers[TP_FUSED_RESULTS], received[TP_FUSED_RESULTS];
  MlirValue given[2 + TP_FUSED_OPERANDS + TP_FUSED_RESULTS] = {l->ctx};
  int n_given = 2, n_results = kinds[kind].n_results;
  for (int i = 0; i < n_results; i++)
    received[i] =
        results >> i & 1 ? tp__site_receive(l, op, mlirValueGetType(mlirOperationGetResult(op, at++)), &buffers[i]) : none;
  at = 0;
  for (int i = 0; i < kinds[kind].n_operands; i++)
    if (operands >> i & 1)
      given[n_given++] = tp__site_send(l, op, mlirOperationGetOperand(op, at++));
    else if (i >= N_ROW_OPERANDS)
      given[n_given++] = none;
  for (int i = 0; i < n_results; i++)
    given[n_given++] = received[i];
  given[1] = tp__build_int(op, l->i32, tp__lowering_site(l, site, kinds[kind].n_words, extra));
  tp__build_call(l, op, kinds[kind].callee, n_given, given, l->i32);
  at = 0;
  for (int i = 0; i < n_results; i++) {
    if (!(results >> i & 1))
      continue;
    MlirValue result = mlirOperationGetResult(op, at++);
    mlirValueReplaceAllUsesOfWith(result, tp__site_value(l, op, mlirValueGetType(result), buffers[i]));
  }
  mlirOperationDestroy(op);
  return TP_OK;
}

/* ---- rows that are gathered ---- */

enum { N_GATHER_OPERANDS = 1 + TPRT_GATHER_MOST, N_GATHER_RESULTS = 1 + TPRT_GATHER_MOST };

/* The words of the products, of which there are n: a factor and a result each. */
static tp_status read_gathering(const description *d, int n, MlirType gathered, int64_t *extra) {
  MlirAttribute transposed = entry_of(d, "transposed");
  int rank;
  int64_t shape[TP_MAX_RANK];
  tp__static_tensor(gathered, &rank, shape);
  if (mlirAttributeIsNull(transposed) || !mlirAttributeIsAArray(transposed) || mlirArrayAttrGetNumElements(transposed) != n)
    return refuse(d, "transposed");
  extra[TPRT_GATHER_N] = n;
  for (int i = 0; i < n; i++) {
    MlirAttribute turned = mlirArrayAttrGetElement(transposed, i);
    int64_t elements = n_elements(mlirOperationGetOperand(d->call, 1 + i));
    if (!mlirAttributeIsABool(turned) || elements % shape[rank - 1] != 0)
      return refuse(d, "transposed");
    extra[TPRT_GATHER_COLUMNS + 2 * i] = elements / shape[rank - 1];
    extra[TPRT_GATHER_TRANSPOSED + 2 * i] = mlirBoolAttrGetValue(turned);
  }
  return TP_OK;
}

static tp_status lower_gathering(tp__lowering *l, const description *d) {
  static const char *const operands_of[N_GATHER_OPERANDS] = {"input", "b0", "b1", "b2", "b3"};
  static const char *const results_of[N_GATHER_RESULTS] = {"gathered", "out0", "out1", "out2", "out3"};
  MlirOperation op = d->call;
  int64_t site[TPRT_SITE_WORDS], extra[1 + 2 * TPRT_GATHER_MOST] = {0}, operands, results;
  int n_axes, axes[TP_MAX_AXES], at = 0, n = (int)mlirOperationGetNumOperands(op) - 1;
  MlirAttribute dim = entry_of(d, "dim");
  tp_status status = read_names(d, "operands", N_GATHER_OPERANDS, operands_of, &operands);
  if (status == TP_OK)
    status = read_names(d, "results", N_GATHER_RESULTS, results_of, &results);
  if (status == TP_OK && (n < 1 || operands != (2 << n) - 1))
    status = refuse(d, "operands");
  if (status == TP_OK && (n_bits(results) != mlirOperationGetNumResults(op) || (results | 1) != operands))
    status = refuse(d, "results");
  if (status == TP_OK && (mlirAttributeIsNull(dim) || !mlirAttributeIsAInteger(dim)))
    status = refuse(d, "dim");
  if (status == TP_OK)
    status = read_axes(d, &l->mesh, &n_axes, axes);
  MlirType input = status == TP_OK ? mlirValueGetType(mlirOperationGetOperand(op, 0)) : (MlirType){NULL};
  if (status == TP_OK)
    status = tp__site_begin(op, TPRT_SITE_GATHER_MULTIPLY, n_axes, axes, input, site);
  if (status == TP_OK)
    status = read_gathering(d, n, input, extra);
  if (status != TP_OK)
    return status;
  site[27] = mlirIntegerAttrGetValueInt(dim);
  MlirValue none = tp__build_one(op, "llvm.mlir.zero", 0, NULL, l->ptr), buffers[N_GATHER_RESULTS];
  MlirValue given[2 + N_GATHER_OPERANDS + N_GATHER_RESULTS] = {l->ctx}, *received = given + 2 + N_GATHER_OPERANDS;
  for (int i = 0; i < N_GATHER_RESULTS; i++)
    received[i] =
        results >> i & 1 ? tp__site_receive(l, op, mlirValueGetType(mlirOperationGetResult(op, at++)), &buffers[i]) : none;
  for (int i = 0; i < N_GATHER_OPERANDS; i++)
    given[2 + i] = i <= n ? tp__site_send(l, op, mlirOperationGetOperand(op, i)) : none;
  given[1] = tp__build_int(op, l->i32, tp__lowering_site(l, site, 1 + 2 * n, extra));
  tp__build_call(l, op, "tprt_abi_gather_multiply", TP_LEN(given), given, l->i32);
  at = 0;
  for (int i = 0; i < N_GATHER_RESULTS; i++) {
    if (!(results >> i & 1))
      continue;
    MlirValue result = mlirOperationGetResult(op, at++);
    mlirValueReplaceAllUsesOfWith(result, tp__site_value(l, op, mlirValueGetType(result), buffers[i]));
  }
  mlirOperationDestroy(op);
  return TP_OK;
}

/* ---- softmaxes ---- */

static const char *const softmax_operands[] = {"logits", "target"};
static const char *const softmax_results[] = {"largest", "sum", "picked"};

static tp_status read_softmax(const description *d, int64_t *extra, int64_t *operands) {
  static const char *const infinite[] = {"nan", "zero"}, *const picks_of[] = {"group", "device"};
  static const char *const picks[] = {
      [TPRT_CUDA_LOGIT] = "logit", [TPRT_CUDA_LESS_LARGEST] = "less_largest", [TPRT_CUDA_LOG_PROBABILITY] = "log_probability"};
  int n_operands = (int)mlirOperationGetNumOperands(d->call);
  tp_status status = read_names(d, "operands", TP_LEN(softmax_operands), softmax_operands, operands);
  if (status == TP_OK && (n_bits(*operands) != n_operands || !(*operands & 1)))
    status = refuse(d, "operands");
  if (status == TP_OK)
    status = read_names(d, "results", TP_LEN(softmax_results), softmax_results, &extra[TPRT_SOFTMAX_RESULTS]);
  bool picks_any = extra[TPRT_SOFTMAX_RESULTS] & TPRT_SOFTMAX_PICKED;
  if (status == TP_OK && (n_bits(extra[TPRT_SOFTMAX_RESULTS]) != mlirOperationGetNumResults(d->call) ||
                          extra[TPRT_SOFTMAX_RESULTS] == 0 || picks_any != (n_operands == 2)))
    status = refuse(d, "results");
  if (status == TP_OK)
    status = read_choice(d, "infinite", TP_LEN(infinite), infinite, &extra[TPRT_SOFTMAX_FINITE]);
  if (status != TP_OK || !picks_any)
    return status;
  extra[TPRT_SOFTMAX_TARGET] = tp__runtime_dtype(tp__element_type(mlirValueGetType(mlirOperationGetOperand(d->call, 1))));
  status = read_choice(d, "pick", TP_LEN(picks), picks, &extra[TPRT_SOFTMAX_PICK]);
  return status == TP_OK ? read_choice(d, "picks_of", TP_LEN(picks_of), picks_of, &extra[TPRT_SOFTMAX_OWN]) : status;
}

static tp_status lower_softmax(tp__lowering *l, const description *d) {
  enum { FIRST_RESULT = 2 + TP_LEN(softmax_operands), N = FIRST_RESULT + TP_LEN(softmax_results) };
  MlirOperation op = d->call;
  int64_t site[TPRT_SITE_WORDS], extra[TPRT_SOFTMAX_WORDS] = {0}, operands;
  int n_axes, axes[TP_MAX_AXES], at = 0;
  tp_status status = read_softmax(d, extra, &operands);
  if (status == TP_OK)
    status = read_axes(d, &l->mesh, &n_axes, axes);
  if (status == TP_OK)
    status = tp__site_begin(op, TPRT_SITE_SOFTMAX_ROWS, n_axes, axes, mlirValueGetType(mlirOperationGetOperand(op, 0)), site);
  if (status != TP_OK)
    return status;
  MlirValue none = tp__build_one(op, "llvm.mlir.zero", 0, NULL, l->ptr), buffers[TP_LEN(softmax_results)], given[N] = {l->ctx};
  for (int i = 0; i < TP_LEN(softmax_results); i++)
    given[FIRST_RESULT + i] = extra[TPRT_SOFTMAX_RESULTS] >> i & 1
                                  ? tp__site_receive(l, op, mlirValueGetType(mlirOperationGetResult(op, at++)), &buffers[i])
                                  : none;
  at = 0;
  for (int i = 0; i < TP_LEN(softmax_operands); i++)
    given[2 + i] = operands >> i & 1 ? tp__site_send(l, op, mlirOperationGetOperand(op, at++)) : none;
  given[1] = tp__build_int(op, l->i32, tp__lowering_site(l, site, TPRT_SOFTMAX_WORDS, extra));
  tp__build_call(l, op, "tprt_abi_softmax_rows", TP_LEN(given), given, l->i32);
  at = 0;
  for (int i = 0; i < TP_LEN(softmax_results); i++) {
    if (!(extra[TPRT_SOFTMAX_RESULTS] >> i & 1))
      continue;
    MlirValue result = mlirOperationGetResult(op, at++);
    mlirValueReplaceAllUsesOfWith(result, tp__site_value(l, op, mlirValueGetType(result), buffers[i]));
  }
  mlirOperationDestroy(op);
  return TP_OK;
}

/* ---- products with what is done to their elements ---- */

static tp_status lower_product(tp__lowering *l, const description *d) {
  static const char *const functions[] = {[TPRT_CUDA_NOTHING] = "none", [TPRT_CUDA_RELU] = "relu", [TPRT_CUDA_GELU] = "gelu"};
  static const char *const operands_of[] = {"a", "b", "bias"};
  MlirOperation op = d->call;
  int64_t site[TPRT_SITE_WORDS], words[TPRT_MULTIPLY_WORDS], extra[TPRT_FINISH_WORDS], operands;
  MlirType product;
  tp_status status = read_names(d, "operands", TP_LEN(operands_of), operands_of, &operands);
  if (status == TP_OK && ((operands & 3) != 3 || n_bits(operands) != mlirOperationGetNumOperands(op)))
    status = refuse(d, "operands");
  if (status == TP_OK)
    status = read_choice(d, "function", TP_LEN(functions), functions, &extra[TPRT_FINISH_FUNCTION]);
  if (status == TP_OK)
    status = read_rows(d, &product, words);
  if (status == TP_OK)
    status = tp__site_begin(op, TPRT_SITE_MULTIPLY, 0, NULL, product, site);
  if (status != TP_OK)
    return status;
  extra[TPRT_FINISH_K] = words[TPRT_MULTIPLY_K];
  extra[TPRT_FINISH_TRANSPOSED] = words[TPRT_MULTIPLY_TRANSPOSED];
  extra[TPRT_FINISH_BIAS] = operands >> 2 & 1;
  MlirType type = mlirValueGetType(mlirOperationGetResult(op, 0));
  MlirValue given[6] = {l->ctx}, buffer;
  given[5] = tp__site_receive(l, op, type, &buffer);
  for (int i = 0; i < 3; i++)
    given[2 + i] = operands >> i & 1 ? tp__site_send(l, op, mlirOperationGetOperand(op, i))
                                     : tp__build_one(op, "llvm.mlir.zero", 0, NULL, l->ptr);
  given[1] = tp__build_int(op, l->i32, tp__lowering_site(l, site, TPRT_FINISH_WORDS, extra));
  tp__build_call(l, op, "tprt_abi_multiply", TP_LEN(given), given, l->i32);
  tp__replace_op(op, tp__site_value(l, op, type, buffer));
  return TP_OK;
}

/* Is it the call of a function with a description? */
static bool read_call(MlirOperation module, MlirOperation op, description *d) {
  d->call = op;
  d->callee = tp__op_is(op, "func.call") ? tp__callee(module, op) : (MlirOperation){NULL};
  d->fused = mlirOperationIsNull(d->callee) ? (MlirAttribute){NULL} : tp__get(d->callee, "tp.fused");
  return !mlirAttributeIsNull(d->fused);
}

bool tp__is_fused_product(MlirOperation module, MlirOperation op) {
  description d;
  return read_call(module, op, &d) && is_product(&d);
}

tp_status tp__lower_fused(tp__lowering *l, MlirOperation op, bool *done) {
  description d;
  *done = read_call(l->module, op, &d);
  if (!*done)
    return TP_OK;
  static const struct {
    const char *name;
    tp_status (*lower)(tp__lowering *l, const description *d);
  } others[] = {{"gather_multiply", lower_gathering}, {"softmax_rows", lower_softmax}, {"multiply", lower_product}};
  for (int i = 0; i < TP_LEN(others); i++)
    if (find_text(entry_of(&d, "kind"), 1, &others[i].name) == 0)
      return others[i].lower(l, &d);
  return lower_rows(l, &d);
}
