/* Lowers calls of the functions that tp-fuse-collectives, tp-fuse-epilogues and tp-fuse-attention
 * create to calls of the runtime. The tp.fused attribute of a function defines its semantics; the
 * pass does not analyze its body. */
#include "passes/lower/lower_fused.h"

#include "ir/annotation.h"
#include "ir/work.h"

#include <string.h>

/* ---- tp.fused ---- */

MlirAttribute tp__fused_entry(const tp__fused_call *d, const char *name) {
  return mlirAttributeIsADictionary(d->fused)
             ? mlirDictionaryAttrGetElementByName(d->fused, tp__ref(name))
             : (MlirAttribute){NULL};
}

/* Kinds that do not communicate, and the pass that makes them. */
static const struct {
  const char *kind, *maker;
} computes[] = {
    {"multiply", "epilogues"}, {"attention", "attention"}, {"attention_gradient", "attention"}};

/* Returns the row of the kind; -1: it communicates. */
static int compute_of(const tp__fused_call *d) {
  for (int i = 0; i < TP_LEN(computes); i++)
    if (tp__attr_which(tp__fused_entry(d, "kind"), 1, &computes[i].kind) == 0)
      return i;
  return -1;
}

tp_status tp__fused_refuse(const tp__fused_call *d, const char *entry) {
  MlirStringRef name = mlirStringAttrGetValue(tp__inherent(d->callee, "sym_name"));
  int kind = compute_of(d);
  return tp__error(d->call, TP_INVALID_ARGUMENT,
                   "the tp.fused of @%.*s was not written by tp-fuse-%s: its %s is invalid",
                   (int)name.length, name.data, kind < 0 ? "collectives" : computes[kind].maker,
                   entry);
}

tp_status tp__fused_choice(const tp__fused_call *d, const char *entry, int n,
                           const char *const *names, int64_t *choice) {
  *choice = tp__attr_which(tp__fused_entry(d, entry), n, names);
  return *choice < 0 ? tp__fused_refuse(d, entry) : TP_OK;
}

tp_status tp__fused_bits(const tp__fused_call *d, const char *entry, int n,
                         const char *const *names, int64_t *bits) {
  MlirAttribute list = tp__fused_entry(d, entry);
  intptr_t n_given = mlirAttributeIsNull(list) || !mlirAttributeIsAArray(list)
                         ? -1
                         : mlirArrayAttrGetNumElements(list);
  int last = -1;
  *bits = 0;
  for (intptr_t i = 0; i < n_given; i++) {
    int found = tp__attr_which(mlirArrayAttrGetElement(list, i), n, names);
    if (found <= last)
      return tp__fused_refuse(d, entry);
    *bits |= INT64_C(1) << found;
    last = found;
  }
  return n_given < 0 ? tp__fused_refuse(d, entry) : TP_OK;
}

tp_status tp__fused_mesh_axes(const tp__fused_call *d, const tp_mesh *mesh, int *n, int *axes) {
  MlirAttribute list = tp__fused_entry(d, "axes");
  *n = mlirAttributeIsNull(list) || !mlirAttributeIsAArray(list)
           ? 0
           : (int)mlirArrayAttrGetNumElements(list);
  for (int i = 0; i < *n; i++) {
    int a = *n > mesh->n_axes ? -1 : tp__axis_named(mesh, mlirArrayAttrGetElement(list, i));
    if (a < 0)
      return tp__fused_refuse(d, "axes");
    axes[i] = a;
  }
  return *n == 0 ? tp__fused_refuse(d, "axes") : TP_OK;
}

tp_status tp__fused_float(const tp__fused_call *d, const char *entry, int64_t *word) {
  MlirAttribute attr = tp__fused_entry(d, entry);
  if (mlirAttributeIsNull(attr) || !mlirAttributeIsAFloat(attr))
    return tp__fused_refuse(d, entry);
  float number = (float)mlirFloatAttrGetValueDouble(attr);
  uint32_t bits;
  memcpy(&bits, &number, sizeof bits);
  *word = bits;
  return TP_OK;
}

int tp__n_bits(int64_t bits) { return __builtin_popcountll((unsigned long long)bits); }

tp_status tp__fused_matmul(const tp__fused_call *d, MlirType *type, int64_t *k,
                           int64_t *transposed) {
  MlirValue a = mlirOperationGetOperand(d->call, 0);
  MlirAttribute turned = tp__fused_entry(d, "transpose_b"), list = tp__fused_entry(d, "shape");
  int64_t shape[TP_MAX_RANK], tokens = 1, n_a = tp__n_elements(mlirValueGetType(a));
  int rank = mlirAttributeIsNull(list) ? -1 : tp__int_list(list, TP_MAX_RANK, shape);
  if (rank < 1)
    return tp__fused_refuse(d, "shape");
  for (int i = 0; i < rank - 1; i++)
    tokens *= shape[i];
  *k = tokens > 0 ? n_a / tokens : 0;
  if (*k < 1 || tokens * *k != n_a ||
      *k * shape[rank - 1] != tp__n_elements(mlirValueGetType(mlirOperationGetOperand(d->call, 1))))
    return tp__fused_refuse(d, "shape");
  if (mlirAttributeIsNull(turned) || !mlirAttributeIsABool(turned))
    return tp__fused_refuse(d, "transpose_b");
  *type = mlirRankedTensorTypeGet(rank, shape, tp__element_type(mlirValueGetType(a)),
                                  (MlirAttribute){NULL});
  *transposed = mlirBoolAttrGetValue(turned);
  return TP_OK;
}

/* ---- calls ---- */

void tp__fused_operands(int64_t bits, int n, const tprt_operand *table, tprt_operand *operands) {
  for (int i = 0; i < n; i++)
    if (bits >> i & 1)
      *operands++ = table[i];
}

void tp__fused_build_site(tp__lowering *l, MlirOperation where, const tprt_abi_site *site,
                          int n_extra, int64_t *extra, const tp__site_operands *o,
                          MlirValue *results) {
  tprt_abi_operands operands = {.n_inputs = o->n_inputs, .n_outputs = o->n_outputs};
  MlirValue given[2 + TPRT_MAX_INPUTS + TPRT_MAX_OUTPUTS] = {l->ctx}, buffers[TPRT_MAX_OUTPUTS];
  char callee[TP_FUSED_NAME];
  for (int i = 0; i < o->n_outputs; i++) {
    operands.outputs[i] = o->output_of[i];
    given[2 + o->n_inputs + i] = tp__site_receive(l, where, o->outputs[i], &buffers[i]);
  }
  for (int i = 0; i < o->n_inputs; i++) {
    operands.inputs[i] = o->input_of[i];
    given[2 + i] = tp__site_send(l, where, o->inputs[i]);
  }
  memcpy(extra, &operands, sizeof operands);
  given[1] = tp__build_int(where, l->i32, tp__lowering_site(l, site, n_extra, extra));
  tp__fused_callee(o->n_inputs, o->n_outputs, callee);
  tp__build_call(l, where, callee, 2 + o->n_inputs + o->n_outputs, given, l->i32);
  for (int i = 0; i < o->n_outputs; i++)
    results[i] = tp__site_value(l, where, o->outputs[i], buffers[i]);
}

tp_status tp__fused_call_site(tp__lowering *l, MlirOperation op, const tprt_abi_site *site,
                              int n_extra, int64_t *extra, const tprt_operand *input_of,
                              const tprt_operand *output_of) {
  tp__site_operands operands = {.n_inputs = (int)mlirOperationGetNumOperands(op),
                                .n_outputs = (int)mlirOperationGetNumResults(op)};
  MlirValue results[TPRT_MAX_OUTPUTS];
  for (int i = 0; i < operands.n_inputs; i++) {
    operands.inputs[i] = mlirOperationGetOperand(op, i);
    operands.input_of[i] = input_of[i];
  }
  for (int i = 0; i < operands.n_outputs; i++) {
    operands.outputs[i] = mlirValueGetType(mlirOperationGetResult(op, i));
    operands.output_of[i] = output_of[i];
  }
  tp__fused_build_site(l, op, site, n_extra, extra, &operands, results);
  for (int i = 0; i < operands.n_outputs; i++)
    mlirValueReplaceAllUsesOfWith(mlirOperationGetResult(op, i), results[i]);
  mlirOperationDestroy(op);
  return TP_OK;
}

tp_status tp__fused_replace(tp__lowering *l, const tp__fused_call *d, const tprt_abi_site *site,
                            int n_extra, int64_t *extra, const tprt_operand *input_of,
                            const tprt_operand *output_of) {
  if (mlirOperationGetNumOperands(d->call) > TPRT_MAX_INPUTS ||
      mlirOperationGetNumResults(d->call) > TPRT_MAX_OUTPUTS)
    return tp__fused_refuse(d, "operands");
  return tp__fused_call_site(l, d->call, site, n_extra, extra, input_of, output_of);
}

/* True if the op calls a function that has tp.fused; fills in *d. */
static bool read_call(MlirOperation module, MlirOperation op, tp__fused_call *d) {
  d->call = op;
  d->callee = tp__op_is(op, "func.call") ? tp__callee(module, op) : (MlirOperation){NULL};
  d->fused =
      mlirOperationIsNull(d->callee) ? (MlirAttribute){NULL} : tp__get(d->callee, "tp.fused");
  return !mlirAttributeIsNull(d->fused);
}

bool tp__is_fused_compute(MlirOperation module, MlirOperation op) {
  tp__fused_call d;
  return read_call(module, op, &d) && compute_of(&d) >= 0;
}

tp_status tp__lower_fused(tp__lowering *l, MlirOperation op, bool *done) {
  tp__fused_call d;
  *done = read_call(l->module, op, &d);
  if (!*done)
    return TP_OK;
  static const struct {
    const char *name;
    tp_status (*lower)(tp__lowering *l, const tp__fused_call *d);
  } others[] = {{"gather_multiply", tp__lower_fused_gather},
                {"softmax_rows", tp__lower_fused_softmax},
                {"attention", tp__lower_fused_attention},
                {"attention_gradient", tp__lower_fused_attention_gradient}};
  for (int i = 0; i < TP_LEN(others); i++)
    if (tp__attr_which(tp__fused_entry(&d, "kind"), 1, &others[i].name) == 0)
      return others[i].lower(l, &d);
  return tp__lower_fused_rows(l, &d);
}

tp_status tp__lower_fused_product(tp__lowering *l, size_t n, MlirOperation *products) {
  static const char *const multiply[] = {"multiply"};
  tp__fused_call calls[TP_PRODUCTS_AHEAD];
  MlirOperation *entries[TP_PRODUCTS_AHEAD];
  int n_calls = 0;
  for (size_t i = 0; i < n && n_calls < TP_PRODUCTS_AHEAD; i++)
    if (!mlirOperationIsNull(products[i]) && read_call(l->module, products[i], &calls[n_calls]) &&
        tp__attr_which(tp__fused_entry(&calls[n_calls], "kind"), 1, multiply) == 0)
      entries[n_calls++] = &products[i];
    else if (i == 0)
      break;
  bool done;
  return n_calls ? tp__lower_fused_epilogue(l, n_calls, calls, entries)
                 : tp__lower_fused(l, products[0], &done);
}
