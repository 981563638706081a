/* Builds ops and runtime calls, and maps types and reductions, for the lowering passes. */
#include "passes/support/lower.h"

#include "ir/symbols.h"
#include "support/support.h"

#include <mlir-c/Dialect/LLVM.h>
#include <stdio.h>
#include <string.h>

static void append_words(tp__lowering *l, tp__words *words, int64_t n, const int64_t *items) {
  if (l->no_memory || n <= 0)
    return;
  if (tp__grow((void **)&words->items, &words->capacity, words->n + (size_t)n, sizeof *items) !=
      TP_OK) {
    l->no_memory = true;
    return;
  }
  memcpy(words->items + words->n, items, (size_t)n * sizeof *items);
  words->n += (size_t)n;
}

static void read_words(tp__lowering *l, const char *name, tp__words *words) {
  MlirAttribute attr = tp__get(l->func, name);
  if (mlirAttributeIsNull(attr) || !mlirAttributeIsADenseI64Array(attr))
    return;
  for (intptr_t i = 0; i < mlirDenseArrayGetNumElements(attr); i++) {
    int64_t word = mlirDenseI64ArrayGetElement(attr, i);
    append_words(l, words, 1, &word);
  }
}

void tp__lowering_begin(tp__lowering *l, MlirOperation module, MlirOperation func) {
  MlirContext context = mlirOperationGetContext(module);
  *l = (tp__lowering){.module = module,
                      .func = func,
                      .context = context,
                      .ptr = mlirLLVMPointerTypeGet(context, 0),
                      .i32 = mlirIntegerTypeGet(context, 32),
                      .i64 = mlirIntegerTypeGet(context, 64),
                      .index = mlirIndexTypeGet(context)};
  MlirBlock entry = mlirRegionGetFirstBlock(mlirOperationGetRegion(func, 0));
  if (mlirBlockGetNumArguments(entry) > 0) {
    MlirValue first = mlirBlockGetArgument(entry, 0);
    if (mlirTypeIsALLVMPointerType(mlirValueGetType(first)))
      l->ctx = first;
  }
  read_words(l, "tp.sites", &l->sites);
  read_words(l, "tp.extra", &l->extra);
}

tp_status tp__lowering_end(tp__lowering *l) {
  if (!l->no_memory) {
    tp__set(l->func, "tp.sites", tp__attr_i64s(l->context, (int)l->sites.n, l->sites.items));
    tp__set(l->func, "tp.extra", tp__attr_i64s(l->context, (int)l->extra.n, l->extra.items));
  }
  tp__free(l->sites.items);
  tp__free(l->extra.items);
  return l->no_memory ? tp__out_of_memory(l->func) : TP_OK;
}

int tp__lowering_site(tp__lowering *l, const tprt_abi_site *site, int n_extra,
                      const int64_t *extra) {
  tprt_abi_site placed = *site;
  int64_t words[TPRT_SITE_WORDS];
  placed.extra = n_extra > 0 ? (int64_t)l->extra.n : 0;
  placed.n_extra = n_extra;
  memcpy(words, &placed, sizeof words);
  int number = (int)(l->sites.n / TPRT_SITE_WORDS);
  append_words(l, &l->sites, TPRT_SITE_WORDS, words);
  append_words(l, &l->extra, n_extra, extra);
  return number;
}

MlirOperation tp__build(MlirOperation where, const char *name, int n_operands,
                        const MlirValue *operands, int n_results, const MlirType *results,
                        int n_attributes, const MlirNamedAttribute *attributes) {
  MlirOperation op = tp__create(&(tp_build){.name = name,
                                            .location = mlirOperationGetLocation(where),
                                            .n_operands = n_operands,
                                            .operands = operands,
                                            .n_results = n_results,
                                            .results = results,
                                            .n_attributes = n_attributes,
                                            .attributes = attributes});
  tp__insert_before(where, op);
  return op;
}

MlirValue tp__build_one(MlirOperation where, const char *name, int n_operands,
                        const MlirValue *operands, MlirType result) {
  return mlirOperationGetResult(tp__build(where, name, n_operands, operands, 1, &result, 0, NULL),
                                0);
}

MlirValue tp__build_int(MlirOperation where, MlirType type, int64_t value) {
  MlirNamedAttribute attr =
      tp__named(mlirOperationGetContext(where), "value", mlirIntegerAttrGet(type, value));
  return mlirOperationGetResult(tp__build(where, "arith.constant", 0, NULL, 1, &type, 1, &attr), 0);
}

/* Adds a private declaration of `callee` to the module, unless there is one. */
static void declare(tp__lowering *l, const char *callee, MlirType type) {
  MlirBlock body = mlirModuleGetBody(mlirModuleFromOperation(l->module));
  for (MlirOperation op = mlirBlockGetFirstOperation(body); !mlirOperationIsNull(op);
       op = mlirOperationGetNextInBlock(op)) {
    MlirAttribute name =
        tp__op_is(op, "func.func") ? tp__inherent(op, "sym_name") : (MlirAttribute){NULL};
    if (!mlirAttributeIsNull(name) && tp__ref_is(mlirStringAttrGetValue(name), callee))
      return;
  }
  mlirBlockInsertOwnedOperation(
      body, 0, tp__create_private_func(mlirOperationGetLocation(l->module), callee, type));
}

MlirValue tp__build_call(tp__lowering *l, MlirOperation where, const char *callee, int n_operands,
                         const MlirValue *operands, MlirType result) {
  enum { MAX_OPERANDS = 2 + TPRT_MAX_INPUTS + TPRT_MAX_OUTPUTS };
  MlirType types[MAX_OPERANDS];
  for (int i = 0; i < n_operands && i < MAX_OPERANDS; i++)
    types[i] = mlirValueGetType(operands[i]);
  int n_results = mlirTypeIsNull(result) ? 0 : 1;
  declare(l, callee, mlirFunctionTypeGet(l->context, n_operands, types, n_results, &result));
  MlirNamedAttribute attr =
      tp__named(l->context, "callee", mlirFlatSymbolRefAttrGet(l->context, tp__ref(callee)));
  MlirOperation call =
      tp__build(where, "func.call", n_operands, operands, n_results, &result, 1, &attr);
  return n_results ? mlirOperationGetResult(call, 0) : (MlirValue){NULL};
}

MlirValue tp__build_pointer(tp__lowering *l, MlirOperation where, MlirValue memref) {
  MlirValue address =
      tp__build_one(where, "memref.extract_aligned_pointer_as_index", 1, &memref, l->index);
  MlirType type = mlirValueGetType(memref);
  int64_t strides[64], offset = 0;
  if (mlirShapedTypeGetRank(type) <= 64)
    (void)mlirMemRefTypeGetStridesAndOffset(type, strides, &offset);
  if (offset != 0) {
    int rank = (int)mlirShapedTypeGetRank(type);
    MlirType results[2 + 2 * 64];
    results[0] = mlirMemRefTypeContiguousGet(tp__element_type(type), 0, NULL,
                                             mlirMemRefTypeGetMemorySpace(type));
    for (int i = 1; i < 2 + 2 * rank; i++)
      results[i] = l->index;
    MlirOperation metadata = tp__build(where, "memref.extract_strided_metadata", 1, &memref,
                                       2 + 2 * rank, results, 0, NULL);
    MlirValue size = tp__index_constant(where, tp__element_size(tp__element_type(type)));
    MlirValue bytes = tp__binary(where, "arith.muli", mlirOperationGetResult(metadata, 1), size);
    address = tp__binary(where, "arith.addi", address, bytes);
  }
  MlirValue word = tp__build_one(where, "arith.index_cast", 1, &address, l->i64);
  return tp__build_one(where, "llvm.inttoptr", 1, &word, l->ptr);
}

MlirValue tp__build_device(tp__lowering *l, MlirOperation where) {
  if (mlirValueIsNull(l->device)) {
    /* At the start of the function, so that the value dominates all uses. */
    where = mlirBlockGetFirstOperation(mlirRegionGetFirstBlock(mlirOperationGetRegion(l->func, 0)));
    MlirValue number = tp__build_call(l, where, "tprt_abi_device", 1, &l->ctx, l->i64);
    l->device = tp__build_one(where, "arith.index_cast", 1, &number, l->index);
  }
  return l->device;
}

MlirValue tp__build_group_rank(tp__lowering *l, MlirOperation where, int n_axes, const int *axes) {
  MlirValue rank = {NULL};
  for (int i = 0; i < n_axes; i++) {
    int64_t size = l->mesh.axes[axes[i]].size, stride = tp_mesh_stride(&l->mesh, axes[i]);
    if (size == 1)
      continue;
    MlirValue c = tp__build_device(l, where);
    if (stride != 1)
      c = tp__binary(where, "arith.divui", c, tp__index_constant(where, stride));
    if (stride * size != tp_mesh_size(&l->mesh))
      c = tp__binary(where, "arith.remui", c, tp__index_constant(where, size));
    if (!mlirValueIsNull(rank))
      c = tp__binary(where, "arith.addi",
                     tp__binary(where, "arith.muli", rank, tp__index_constant(where, size)), c);
    rank = c;
  }
  return mlirValueIsNull(rank) ? tp__index_constant(where, 0) : rank;
}

MlirValue tp__build_parts(MlirOperation where, MlirValue memref, int dim, int64_t n_parts) {
  MlirContext context = mlirOperationGetContext(where);
  MlirType type = mlirValueGetType(memref), i64 = mlirIntegerTypeGet(context, 64);
  int rank = (int)mlirShapedTypeGetRank(type), n = 0;
  int64_t sizes[TP_MAX_RANK], strides[TP_MAX_RANK], of[TP_MAX_RANK], base;
  MlirAttribute groups[TP_MAX_RANK];
  if (dim < 0)
    return memref;
  (void)mlirMemRefTypeGetStridesAndOffset(type, of, &base);
  for (int d = 0; d < rank; d++) {
    MlirAttribute group[2];
    int64_t size = mlirShapedTypeGetDimSize(type, d), inside = d == dim ? size / n_parts : size;
    int first = n;
    if (d == dim) {
      sizes[n] = n_parts;
      strides[n++] = of[d] * inside;
    }
    sizes[n] = inside;
    strides[n++] = of[d];
    for (int i = first; i < n; i++)
      group[i - first] = mlirIntegerAttrGet(i64, i);
    groups[d] = mlirArrayAttrGet(context, n - first, group);
  }
  MlirAttribute layout = mlirAffineMapIsIdentity(mlirMemRefTypeGetAffineMap(type))
                             ? mlirAffineMapAttrGet(mlirAffineMapMultiDimIdentityGet(context, n))
                             : mlirStridedLayoutAttrGet(context, base, n, strides);
  MlirType expanded = mlirMemRefTypeGet(tp__element_type(type), n, sizes, layout,
                                        mlirMemRefTypeGetMemorySpace(type));
  MlirNamedAttribute attrs[] = {
      tp__named(context, "reassociation", mlirArrayAttrGet(context, rank, groups)),
      tp__named(context, "static_output_shape", tp__attr_i64s(context, n, sizes)),
  };
  return mlirOperationGetResult(
      tp__build(where, "memref.expand_shape", 1, &memref, 1, &expanded, TP_LEN(attrs), attrs), 0);
}

void tp__replace_op(MlirOperation op, MlirValue with) {
  mlirValueReplaceAllUsesOfWith(mlirOperationGetResult(op, 0), with);
  mlirOperationDestroy(op);
}

tp__call tp__runtime_call(MlirOperation op) {
  static const struct {
    const char *callee;
    tp__call call;
  } rows[] = {{"tprt_abi_collective", TP_CALL_COLLECTIVE}, {"tprt_abi_start", TP_CALL_COLLECTIVE},
              {"tprt_abi_wait", TP_CALL_COLLECTIVE},       {"tprt_abi_contract", TP_CALL_CONTRACT},
              {"tprt_abi_fused", TP_CALL_FUSED},           {"tprt_abi_enter", TP_CALL_ENTER},
              {"tprt_abi_device", TP_CALL_QUERY},          {"tprt_abi_kernels", TP_CALL_DEVICE},
              {"tprt_abi_launch", TP_CALL_DEVICE},         {"tprt_abi_copy", TP_CALL_DEVICE},
              {"tprt_abi_read", TP_CALL_DEVICE},           {"tprt_abi_write", TP_CALL_DEVICE}};
  if (!tp__op_is(op, "func.call"))
    return TP_CALL_NONE;
  MlirStringRef callee = mlirFlatSymbolRefAttrGetValue(tp__inherent(op, "callee"));
  for (int i = 0; i < TP_LEN(rows); i++)
    if (tp__ref_is(callee, rows[i].callee))
      return rows[i].call;
  int n_inputs, n_outputs;
  return tp__fused_counts(callee, &n_inputs, &n_outputs) ? TP_CALL_FUSED : TP_CALL_NONE;
}

void tp__fused_callee(int n_inputs, int n_outputs, char name[TP_FUSED_NAME]) {
  snprintf(name, TP_FUSED_NAME, "tprt_abi_fused.%d.%d", n_inputs, n_outputs);
}

bool tp__fused_counts(MlirStringRef callee, int *n_inputs, int *n_outputs) {
  char name[TP_FUSED_NAME], again[TP_FUSED_NAME];
  if (callee.length >= TP_FUSED_NAME)
    return false;
  memcpy(name, callee.data, callee.length);
  name[callee.length] = 0;
  if (sscanf(name, "tprt_abi_fused.%d.%d", n_inputs, n_outputs) != 2)
    return false;
  tp__fused_callee(*n_inputs, *n_outputs, again);
  return strcmp(name, again) == 0;
}

int tp__fused_outputs(MlirOperation call) {
  int n_inputs = 0, n_outputs = 0;
  (void)tp__fused_counts(mlirFlatSymbolRefAttrGetValue(tp__inherent(call, "callee")), &n_inputs,
                         &n_outputs);
  return n_outputs;
}

bool tp__call_site(MlirOperation call, int64_t *site) {
  MlirOperation op = tp__defining_op(mlirOperationGetOperand(call, 1));
  MlirAttribute value = mlirOperationIsNull(op) ? (MlirAttribute){NULL} : tp__inherent(op, "value");
  if (mlirAttributeIsNull(value) || !mlirAttributeIsAInteger(value))
    return false;
  *site = mlirIntegerAttrGetValueInt(value);
  return true;
}

/* ---- sites on tensors ---- */

tp_status tp__site_begin(MlirOperation op, tprt_site_kind kind, int n_axes, const int *axes,
                         MlirType input, tprt_abi_site *site) {
  int rank;
  int64_t shape[TP_MAX_RANK];
  TP_TRY(tp__check_tensor(op, "operand", 0, input));
  tp__static_tensor(input, &rank, shape);
  *site = (tprt_abi_site){.kind = kind,
                          .dtype = tp__runtime_dtype(tp__element_type(input)),
                          .n_axes = n_axes,
                          .rank = rank};
  for (int i = 0; i < n_axes; i++)
    site->axes[i] = axes[i];
  for (int d = 0; d < rank; d++)
    site->shape[d] = shape[d];
  return TP_OK;
}

static MlirType buffer_type(MlirType tensor) {
  int rank;
  int64_t shape[TP_MAX_RANK];
  tp__static_tensor(tensor, &rank, shape);
  return mlirMemRefTypeContiguousGet(tp__element_type(tensor), rank, shape, (MlirAttribute){NULL});
}

MlirValue tp__site_send(tp__lowering *l, MlirOperation op, MlirValue input) {
  MlirType type = buffer_type(mlirValueGetType(input));
  MlirNamedAttribute read_only = tp__named(l->context, "read_only", mlirUnitAttrGet(l->context));
  MlirOperation buffer =
      tp__build(op, "bufferization.to_buffer", 1, &input, 1, &type, 1, &read_only);
  return tp__build_pointer(l, op, mlirOperationGetResult(buffer, 0));
}

MlirValue tp__site_receive(tp__lowering *l, MlirOperation op, MlirType result, MlirValue *buffer) {
  MlirType type = buffer_type(result);
  MlirNamedAttribute segments =
      tp__named(l->context, "operandSegmentSizes",
                mlirDenseI32ArrayGet(l->context, 2, (const int32_t[]){0, 0}));
  *buffer =
      mlirOperationGetResult(tp__build(op, "memref.alloc", 0, NULL, 1, &type, 1, &segments), 0);
  return tp__build_pointer(l, op, *buffer);
}

MlirValue tp__site_value(tp__lowering *l, MlirOperation op, MlirType result, MlirValue buffer) {
  MlirAttribute unit = mlirUnitAttrGet(l->context);
  MlirNamedAttribute flags[] = {tp__named(l->context, "restrict", unit),
                                tp__named(l->context, "writable", unit)};
  return mlirOperationGetResult(
      tp__build(op, "bufferization.to_tensor", 1, &buffer, 1, &result, TP_LEN(flags), flags), 0);
}

MlirValue tp__site_call(tp__lowering *l, MlirOperation op, const tprt_abi_site *site, int n_extra,
                        const int64_t *extra, MlirValue input, MlirType result) {
  MlirValue buffer, receive = tp__site_receive(l, op, result, &buffer),
                    send = tp__site_send(l, op, input);
  MlirValue number = tp__build_int(op, l->i32, tp__lowering_site(l, site, n_extra, extra));
  MlirValue operands[] = {l->ctx, number, send, receive};
  tp__build_call(l, op, "tprt_abi_collective", TP_LEN(operands), operands, l->i32);
  return tp__site_value(l, op, result, buffer);
}

/* ---- tables ---- */

tprt_dtype tp__runtime_dtype(MlirType element) {
  static const struct {
    int width;
    tprt_dtype as_signed, as_unsigned;
  } integers[] = {{1, TPRT_BOOL, TPRT_BOOL},
                  {8, TPRT_I8, TPRT_U8},
                  {16, TPRT_I16, TPRT_U16},
                  {32, TPRT_I32, TPRT_U32},
                  {64, TPRT_I64, TPRT_U64}};
  if (mlirTypeIsAF32(element))
    return TPRT_F32;
  if (mlirTypeIsAF64(element))
    return TPRT_F64;
  if (mlirTypeIsAF16(element))
    return TPRT_F16;
  if (mlirTypeIsABF16(element))
    return TPRT_BF16;
  if (mlirTypeIsAFloat8E4M3FN(element))
    return TPRT_F8E4M3;
  if (mlirTypeIsAFloat8E5M2(element))
    return TPRT_F8E5M2;
  if (mlirTypeIsAIndex(element))
    return TPRT_I64;
  if (mlirTypeIsAComplex(element))
    return mlirTypeIsAF32(mlirComplexTypeGetElementType(element))   ? TPRT_C64
           : mlirTypeIsAF64(mlirComplexTypeGetElementType(element)) ? TPRT_C128
                                                                    : (tprt_dtype)0;
  if (mlirTypeIsAInteger(element))
    for (int i = 0; i < TP_LEN(integers); i++)
      if ((int)mlirIntegerTypeGetWidth(element) == integers[i].width)
        return mlirIntegerTypeIsUnsigned(element) ? integers[i].as_unsigned : integers[i].as_signed;
  return (tprt_dtype)0;
}

tprt_reduction tp__runtime_reduction(tp_combiner combiner, tprt_dtype dtype) {
  /* i1 is a one-bit two's complement number: addi is xor, and true is -1, so signed max is
   * "and". */
  static const struct {
    tprt_reduction floats, integers, unsigneds, booleans, complexes;
  } table[TP_N_COMBINERS] = {
      [TP_SUM] = {TPRT_SUM, TPRT_SUM, TPRT_SUM, TPRT_BXOR, TPRT_SUM},
      [TP_PRODUCT] = {TPRT_PRODUCT, TPRT_PRODUCT, TPRT_PRODUCT, TPRT_BAND, TPRT_PRODUCT},
      [TP_MAX] = {TPRT_MAX, TPRT_MAX, TPRT_MAX, TPRT_BAND},
      [TP_MIN] = {TPRT_MIN, TPRT_MIN, TPRT_MIN, TPRT_BOR},
      [TP_MAXNUM] = {TPRT_MAXNUM, 0, 0, 0},
      [TP_MINNUM] = {TPRT_MINNUM, 0, 0, 0},
      [TP_MAXU] = {0, TPRT_UMAX, TPRT_UMAX, TPRT_BOR},
      [TP_MINU] = {0, TPRT_UMIN, TPRT_UMIN, TPRT_BAND},
      [TP_AND] = {0, TPRT_BAND, TPRT_BAND, TPRT_BAND},
      [TP_OR] = {0, TPRT_BOR, TPRT_BOR, TPRT_BOR},
      [TP_XOR] = {0, TPRT_BXOR, TPRT_BXOR, TPRT_BXOR},
      [TP_AVERAGE] = {TPRT_AVG, TPRT_AVG, TPRT_AVG, 0, TPRT_AVG},
  };
  if (combiner >= TP_N_COMBINERS)
    return TPRT_NO_REDUCTION;
  if (dtype == TPRT_BOOL)
    return table[combiner].booleans;
  if (dtype == TPRT_F8E4M3 || dtype == TPRT_F8E5M2)
    return table[combiner].floats;
  if (dtype >= TPRT_C64)
    return table[combiner].complexes;
  if (dtype >= TPRT_U8)
    return table[combiner].unsigneds;
  return dtype >= TPRT_I8 ? table[combiner].integers : table[combiner].floats;
}

MlirStringRef tp__entry_name(MlirOperation func) {
  MlirStringRef name = mlirStringAttrGetValue(tp__inherent(func, "sym_name"));
  size_t skipped = strlen(TP_ENTRY_PREFIX);
  return name.length > skipped && memcmp(name.data, TP_ENTRY_PREFIX, skipped) == 0
             ? mlirStringRefCreate(name.data + skipped, name.length - skipped)
             : name;
}

tp_status tp__each_entry(MlirOperation module, tp_status (*visit)(MlirOperation func, void *data),
                         void *data) {
  MlirOperation next;
  for (MlirOperation op =
           mlirBlockGetFirstOperation(mlirModuleGetBody(mlirModuleFromOperation(module)));
       !mlirOperationIsNull(op); op = next) {
    next = mlirOperationGetNextInBlock(op);
    if (!tp__op_is(op, "func.func") ||
        mlirBlockIsNull(mlirRegionGetFirstBlock(mlirOperationGetRegion(op, 0))))
      continue;
    MlirAttribute visibility = tp__inherent(op, "sym_visibility");
    if (mlirAttributeIsNull(visibility) || tp__ref_is(mlirStringAttrGetValue(visibility), "public"))
      TP_TRY(visit(op, data));
  }
  return TP_OK;
}
