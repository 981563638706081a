/* tp-assign-buffers: assigns static memory and gives functions the calling convention of programs.
 *
 * A program has the signature int32_t NAME(context, void *const *inputs, void *const *outputs).
 * Each argument and result, scalars included, is one pointer to dense row-major data. Results that
 * the program allocates itself are computed in the caller's memory. */
#include "passes/bufferize/assign.h"
#include "passes/registry.h"

#include "support/support.h"

#include <mlir-c/AffineMap.h>
#include <mlir-c/Dialect/Linalg.h>
#include <stdio.h>
#include <string.h>

/* ---- builders ---- */

int64_t tp__memref_bytes(MlirType type) {
  int64_t bytes = tp__element_size(tp__element_type(type));
  for (int64_t d = 0; d < mlirShapedTypeGetRank(type); d++)
    bytes *= mlirShapedTypeGetDimSize(type, d);
  return bytes;
}

MlirValue tp__build_alloc(MlirOperation where, MlirType type) {
  MlirContext context = mlirOperationGetContext(where);
  MlirNamedAttribute segments = tp__named(
      context, "operandSegmentSizes", mlirDenseI32ArrayGet(context, 2, (const int32_t[]){0, 0}));
  return mlirOperationGetResult(tp__build(where, "memref.alloc", 0, NULL, 1, &type, 1, &segments),
                                0);
}

static bool is_dense(MlirType type) {
  return mlirAffineMapIsIdentity(mlirMemRefTypeGetAffineMap(type));
}

void tp__build_copy(MlirOperation where, MlirValue from, MlirValue to) {
  MlirValue operands[] = {from, to};
  if (is_dense(mlirValueGetType(from)) && is_dense(mlirValueGetType(to))) {
    tp__build(where, "memref.copy", 2, operands, 0, NULL, 0, NULL);
    return;
  }
  MlirContext context = mlirOperationGetContext(where);
  MlirNamedAttribute segments = tp__named(
      context, "operandSegmentSizes", mlirDenseI32ArrayGet(context, 2, (const int32_t[]){1, 1}));
  MlirOperation copy = tp__create(&(tp_build){.name = "linalg.copy",
                                              .location = mlirOperationGetLocation(where),
                                              .n_operands = 2,
                                              .operands = operands,
                                              .n_attributes = 1,
                                              .attributes = &segments,
                                              .n_regions = 1});
  mlirLinalgFillBuiltinNamedOpRegion(copy);
  tp__insert_before(where, copy);
}

/* Builds the memref descriptor field by field. */
MlirValue tp__build_block(tp__lowering *l, MlirOperation where, MlirValue pointer, int64_t bytes) {
  MlirType type = mlirTypeParseGet(
      l->context, tp__ref("!llvm.struct<(ptr, ptr, i64, array<1 x i64>, array<1 x i64>)>"));
  MlirValue zero = tp__build_int(where, l->i64, 0), one = tp__build_int(where, l->i64, 1);
  MlirValue size = tp__build_int(where, l->i64, bytes),
            value = tp__build_one(where, "llvm.mlir.poison", 0, NULL, type);
  const struct {
    MlirValue field;
    int n;
    int64_t position[2];
  } fields[] = {
      {pointer, 1, {0}}, {pointer, 1, {1}}, {zero, 1, {2}}, {size, 2, {3, 0}}, {one, 2, {4, 0}}};
  for (int i = 0; i < TP_LEN(fields); i++) {
    MlirNamedAttribute position = tp__named(
        l->context, "position", tp__attr_i64s(l->context, fields[i].n, fields[i].position));
    MlirValue operands[] = {value, fields[i].field};
    value = mlirOperationGetResult(
        tp__build(where, "llvm.insertvalue", 2, operands, 1, &type, 1, &position), 0);
  }
  MlirType memref = mlirMemRefTypeContiguousGet(mlirIntegerTypeGet(l->context, 8), 1, &bytes,
                                                (MlirAttribute){NULL});
  return tp__build_one(where, "builtin.unrealized_conversion_cast", 1, &value, memref);
}

MlirValue tp__build_view(tp__lowering *l, MlirOperation where, MlirValue block, int64_t offset,
                         MlirType type) {
  MlirValue operands[] = {block, tp__build_int(where, l->index, offset)};
  return tp__build_one(where, "memref.view", 2, operands, type);
}

/* Loads entry `i` of an array of pointers. */
static MlirValue load_pointer(tp__lowering *l, MlirOperation where, MlirValue array, int i) {
  int32_t position = i;
  MlirNamedAttribute gep[] = {
      tp__named(l->context, "elem_type", mlirTypeAttrGet(l->ptr)),
      tp__named(l->context, "rawConstantIndices", mlirDenseI32ArrayGet(l->context, 1, &position)),
      tp__named(l->context, "noWrapFlags", mlirIntegerAttrGet(l->i32, 0)),
  };
  MlirValue address = mlirOperationGetResult(
      tp__build(where, "llvm.getelementptr", 1, &array, 1, &l->ptr, TP_LEN(gep), gep), 0);
  MlirNamedAttribute ordering = tp__named(l->context, "ordering", mlirIntegerAttrGet(l->i64, 0));
  return mlirOperationGetResult(
      tp__build(where, "llvm.load", 1, &address, 1, &l->ptr, 1, &ordering), 0);
}

/* Returns the caller's memory for a value of `type` as a memref, 0-d for a scalar. */
static MlirValue caller_memref(tp__lowering *l, MlirOperation where, MlirValue array, int i,
                               MlirType type) {
  if (!mlirTypeIsAMemRef(type))
    type = mlirMemRefTypeContiguousGet(type, 0, NULL, (MlirAttribute){NULL});
  return tp__build_view(
      l, where, tp__build_block(l, where, load_pointer(l, where, array, i), tp__memref_bytes(type)),
      0, type);
}

/* ---- the program table ---- */

static void build_table(tp__lowering *l, const char *name, const int64_t bytes[2],
                        tprt_target target, bool tf32) {
  tp__words table = {0};
  size_t n = TPRT_ABI_HEADER_WORDS + l->sites.n + l->extra.n;
  tprt_abi_header header = {.magic = TPRT_ABI_MAGIC,
                            .version = TPRT_ABI_VERSION,
                            .n_words = (int64_t)n,
                            .private_bytes = bytes[0],
                            .registered_bytes = bytes[1],
                            .n_sites = (int64_t)(l->sites.n / TPRT_SITE_WORDS),
                            .first_site = TPRT_ABI_HEADER_WORDS,
                            .target = target,
                            .tf32 = tf32};
  header.n_axes = tp__int_list(tp__get(l->func, "tp.mesh"), TPRT_MAX_AXES, header.sizes);
  for (int64_t a = header.n_axes; a < TPRT_MAX_AXES; a++)
    header.sizes[a] = 1;
  if (tp__grow((void **)&table.items, &table.capacity, n, sizeof *table.items) != TP_OK) {
    l->no_memory = true;
    return;
  }
  int64_t *at = table.items, offset = TPRT_ABI_HEADER_WORDS + (int64_t)l->sites.n;
  memcpy(at, &header, sizeof header);
  at += TPRT_ABI_HEADER_WORDS;
  for (size_t i = 0; i < l->sites.n; i += TPRT_SITE_WORDS, at += TPRT_SITE_WORDS) {
    tprt_abi_site site;
    memcpy(&site, l->sites.items + i, sizeof site);
    site.extra += site.n_extra > 0 ? offset : 0; /* from the start of the table */
    memcpy(at, &site, sizeof site);
  }
  if (l->extra.n)
    memcpy(at, l->extra.items, l->extra.n * sizeof *at);
  char type[64];
  snprintf(type, sizeof type, "!llvm.array<%zu x i64>", n);
  int64_t shape = (int64_t)n;
  MlirType tensor = mlirRankedTensorTypeGet(1, &shape, l->i64, (MlirAttribute){NULL});
  MlirNamedAttribute attrs[] = {
      tp__named(l->context, "sym_name", tp__attr_string(l->context, name)),
      tp__named(l->context, "global_type",
                mlirTypeAttrGet(mlirTypeParseGet(l->context, tp__ref(type)))),
      tp__named(l->context, "linkage", tp__parse_attr(l->context, "#llvm.linkage<external>")),
      tp__named(l->context, "constant", mlirUnitAttrGet(l->context)),
      tp__named(l->context, "value", mlirDenseElementsAttrInt64Get(tensor, shape, table.items)),
      tp__named(l->context, "addr_space", mlirIntegerAttrGet(l->i32, 0)),
  };
  MlirOperation global = tp__create(&(tp_build){.name = "llvm.mlir.global",
                                                .location = mlirOperationGetLocation(l->func),
                                                .n_attributes = TP_LEN(attrs),
                                                .attributes = attrs,
                                                .n_regions = 1});
  tp__insert_before(l->func, global);
  tp__free(table.items);
}

/* ---- rewriting the function ---- */

/* Looks through reshapes and casts that keep the whole buffer, and returns their source. */
static MlirValue through_views(MlirValue value) {
  static const char *const views[] = {"memref.expand_shape", "memref.collapse_shape",
                                      "memref.cast"};
  for (MlirOperation op = tp__defining_op(value); !mlirOperationIsNull(op);
       op = tp__defining_op(value)) {
    bool is_view = false;
    for (int i = 0; i < TP_LEN(views); i++)
      is_view |= tp__op_is(op, views[i]);
    if (!is_view)
      break;
    value = mlirOperationGetOperand(op, 0);
  }
  return value;
}

/* Marks returned allocations of the function's top-level block as outputs; they are placed in the
 * caller's memory. */
static void find_outputs(MlirOperation end, tp__buffers *buffers) {
  for (size_t b = 0; b < buffers->n; b++) {
    tp__buffer *buffer = buffers->items + b;
    if (!mlirBlockEqual(mlirOperationGetBlock(buffer->alloc), mlirOperationGetBlock(end)))
      continue;
    for (int k = 0; k < mlirOperationGetNumOperands(end) && !buffer->is_output; k++)
      if (mlirValueEqual(through_views(mlirOperationGetOperand(end, k)),
                         mlirOperationGetResult(buffer->alloc, 0))) {
        buffer->is_output = true;
        buffer->output = k;
      }
  }
}

static void replace_buffers(tp__lowering *l, MlirOperation where, MlirValue outputs,
                            const tp__buffers *buffers, const int64_t bytes[2]) {
  static const char *const names[] = {"tprt_abi_private", "tprt_abi_registered"};
  MlirValue blocks[2] = {{NULL}, {NULL}};
  for (int i = 0; i < 2; i++)
    if (bytes[i] > 0)
      blocks[i] = tp__build_block(l, where, tp__build_call(l, where, names[i], 1, &l->ctx, l->ptr),
                                  bytes[i]);
  for (size_t b = 0; b < buffers->n; b++) {
    const tp__buffer *buffer = buffers->items + b;
    MlirType type = mlirValueGetType(mlirOperationGetResult(buffer->alloc, 0));
    MlirValue block = blocks[buffer->registered ? 1 : 0];
    MlirValue memref;
    if (buffer->is_output)
      memref = caller_memref(l, where, outputs, buffer->output, type);
    else if (mlirValueIsNull(block)) /* only buffers of zero bytes */
      memref = tp__build_view(
          l, where,
          tp__build_block(l, where, tp__build_one(where, "llvm.mlir.zero", 0, NULL, l->ptr), 0), 0,
          type);
    else
      memref = tp__build_view(l, buffer->alloc, block, buffer->offset, type);
    tp__replace_op(buffer->alloc, memref);
  }
}

static void return_results(tp__lowering *l, MlirOperation head, MlirOperation end,
                           MlirValue outputs, const tp__buffers *buffers) {
  int n = (int)mlirOperationGetNumOperands(end);
  for (int k = 0; k < n; k++) {
    bool placed = false;
    for (size_t b = 0; b < buffers->n; b++)
      placed |= buffers->items[b].is_output && buffers->items[b].output == k;
    if (placed)
      continue;
    MlirValue value = mlirOperationGetOperand(end, k);
    MlirValue memref = caller_memref(l, head, outputs, k, mlirValueGetType(value));
    if (mlirTypeIsAMemRef(mlirValueGetType(value))) {
      tp__build_copy(end, value, memref);
    } else {
      MlirValue operands[] = {value, memref};
      tp__build(end, "memref.store", 2, operands, 0, NULL, 0, NULL);
    }
  }
  MlirValue ok = tp__build_int(end, l->i32, TPRT_OK);
  tp__build(end, "func.return", 1, &ok, 0, NULL, 0, NULL);
  mlirOperationDestroy(end);
}

static void replace_arguments(tp__lowering *l, MlirOperation head, MlirBlock entry, int n,
                              MlirValue inputs) {
  for (int i = 0; i < n; i++) {
    MlirValue argument = mlirBlockGetArgument(entry, 1 + i);
    MlirValue value = caller_memref(l, head, inputs, i, mlirValueGetType(argument));
    if (!mlirTypeIsAMemRef(mlirValueGetType(argument)))
      value = tp__build_one(head, "memref.load", 1, &value, mlirValueGetType(argument));
    mlirValueReplaceAllUsesOfWith(argument, value);
  }
  for (int i = n; i >= 1; i--)
    mlirBlockEraseArgument(entry, (unsigned)i);
}

static void rewrite_entry(tp__lowering *l, tp__buffers *buffers, const char *table,
                          const int64_t bytes[2]) {
  MlirBlock entry = mlirRegionGetFirstBlock(mlirOperationGetRegion(l->func, 0));
  MlirLocation location = mlirOperationGetLocation(l->func);
  MlirOperation head = mlirBlockGetFirstOperation(entry), end = mlirBlockGetTerminator(entry);
  int n = (int)mlirBlockGetNumArguments(entry) - 1;
  MlirValue inputs = mlirBlockAddArgument(entry, l->ptr, location);
  MlirValue outputs = mlirBlockAddArgument(entry, l->ptr, location);
  MlirNamedAttribute name =
      tp__named(l->context, "global_name", mlirFlatSymbolRefAttrGet(l->context, tp__ref(table)));
  MlirValue address = mlirOperationGetResult(
      tp__build(head, "llvm.mlir.addressof", 0, NULL, 1, &l->ptr, 1, &name), 0);
  tp__build_call(l, head, "tprt_abi_enter", 2, (MlirValue[]){l->ctx, address}, l->i32);
  /* `head` may be an allocation or the return, which get erased; the marker is a stable insertion
   * point */
  MlirOperation marker = tp__build(head, "llvm.mlir.zero", 0, NULL, 1, &l->ptr, 0, NULL);
  replace_arguments(l, marker, entry, n, inputs);
  replace_buffers(l, marker, outputs, buffers, bytes);
  return_results(l, marker, end, outputs, buffers);
  mlirOperationDestroy(marker);
  MlirType types[] = {l->ptr, l->ptr, l->ptr};
  mlirOperationSetInherentAttributeByName(
      l->func, tp__ref("function_type"),
      mlirTypeAttrGet(mlirFunctionTypeGet(l->context, 3, types, 1, &l->i32)));
  static const char *const dropped[] = {"arg_attrs", "res_attrs"}, *const done[] = {"tp.sites",
                                                                                    "tp.extra",
                                                                                    "tp.mesh"};
  for (int i = 0; i < TP_LEN(dropped); i++)
    mlirOperationRemoveAttributeByName(l->func, tp__ref(dropped[i]));
  for (int i = 0; i < TP_LEN(done); i++)
    tp__remove(l->func, done[i]);
}

/* Collects copies between strided buffers. memref.copy would call a generic routine that copies
 * element by element. */
static tp_status collect_strided_copy(MlirOperation op, void *data) {
  if (!tp__op_is(op, "memref.copy") ||
      (is_dense(mlirValueGetType(mlirOperationGetOperand(op, 0))) &&
       is_dense(mlirValueGetType(mlirOperationGetOperand(op, 1)))))
    return TP_OK;
  return tp__op_list_add(data, op);
}

static tp_status expand_copies(MlirOperation func) {
  tp_op_list list = {0};
  tp_status status = tp__walk(func, collect_strided_copy, &list);
  for (size_t i = 0; i < list.n && status == TP_OK; i++) {
    tp__build_copy(list.items[i], mlirOperationGetOperand(list.items[i], 0),
                   mlirOperationGetOperand(list.items[i], 1));
    mlirOperationDestroy(list.items[i]);
  }
  tp__free(list.items);
  return status;
}

/* Rewrites loop-carried buffers, then collects all buffers and packs them. */
static tp_status place_buffers(MlirOperation func, tp__buffers *buffers, int64_t bytes[2]) {
  TP_TRY(tp__carry_loops(func));
  TP_TRY(tp__find_buffers(func, buffers));
  find_outputs(mlirBlockGetTerminator(mlirRegionGetFirstBlock(mlirOperationGetRegion(func, 0))),
               buffers);
  return tp__pack_buffers(func, buffers, &bytes[0], &bytes[1]);
}

tp_status tp__measure_buffers(MlirOperation func, int64_t *bytes) {
  tp__buffers buffers = {0};
  int64_t blocks[2] = {0, 0};
  MlirOperation copy = mlirOperationClone(func);
  tp_status status = place_buffers(copy, &buffers, blocks);
  *bytes = blocks[0] + blocks[1];
  tp__free(buffers.items);
  mlirOperationDestroy(copy);
  return status;
}

typedef struct settings {
  enum { FOR_HOST, FOR_CUDA } target;
  bool tf32;
} settings;

/* True if matmuls may round their operands to TF32: the option allows it, and the program asks for
 * no other precision. */
static bool uses_tf32(MlirOperation module, const settings *given) {
  return given->tf32 && mlirAttributeIsNull(tp__get(module, "tp.precision"));
}

static tp_status assign(MlirOperation func, void *data) {
  tp_pass *pass = data;
  const settings *given = pass->options;
  tp__lowering l;
  tp__lowering_begin(&l, pass->module, func);
  if (mlirValueIsNull(l.ctx) || mlirAttributeIsNull(tp__get(func, "tp.mesh")))
    return tp__error(func, TP_INVALID_ARGUMENT,
                     "is not lowered to the runtime yet; run tp-lower-to-runtime first");
  tp__buffers buffers = {0};
  int64_t bytes[2] = {0, 0};
  MlirStringRef name = tp__entry_name(func);
  char *table = tp__malloc(name.length + sizeof ".tprt");
  tp_status status = table ? place_buffers(func, &buffers, bytes) : tp__out_of_memory(func);
  if (status == TP_OK)
    status = expand_copies(func);
  if (status == TP_OK && l.no_memory)
    status = tp__out_of_memory(func);
  else if (status == TP_OK && l.sites.n % TPRT_SITE_WORDS != 0)
    status = tp__error(func, TP_INVALID_ARGUMENT,
                       "attribute tp.sites has %zu words, but a site has %d; only "
                       "tp-lower-to-runtime writes it",
                       l.sites.n, (int)TPRT_SITE_WORDS);
  if (status == TP_OK) {
    sprintf(table, "%.*s.tprt", (int)name.length, name.data);
    build_table(&l, table, bytes, given->target == FOR_CUDA ? TPRT_TARGET_CUDA : TPRT_TARGET_HOST,
                uses_tf32(pass->module, given));
    rewrite_entry(&l, &buffers, table, bytes);
  }
  pass->statistics[0] += (int64_t)buffers.n;
  pass->statistics[1] += bytes[0];
  pass->statistics[2] += bytes[1];
  tp__free(table);
  tp__free(buffers.items);
  tp__free(l.sites.items);
  tp__free(l.extra.items);
  return status == TP_OK && l.no_memory ? tp__out_of_memory(func) : status;
}

static tp_status run(tp_pass *pass) {
  const settings *given = pass->options;
  if (given->tf32 && given->target != FOR_CUDA)
    return tp__error(pass->module, TP_INVALID_ARGUMENT,
                     "option tf32 requires target=cuda; processors multiply f32 without rounding "
                     "it");
  if (given->tf32 && !uses_tf32(pass->module, given)) {
    MlirAttribute asked = tp__get(pass->module, "tp.precision");
    MlirStringRef text =
        mlirAttributeIsAString(asked) ? mlirStringAttrGetValue(asked) : tp__ref("HIGHEST");
    tp__warning(pass->module,
                "option tf32 has no effect: a matmul of the program asks for precision %.*s, so "
                "all matmuls of f32 stay f32",
                (int)text.length, text.data);
  }
  return tp__each_entry(pass->module, assign, pass);
}

static const tp_option_row options[] = {
    {"target", "host", "what runs the program, as its table says",
     TP_CHOICE(settings, target, "host|cuda")},
    {"tf32", "false",
     "true: matmuls of f32 round their operands to TF32 on a GPU, 11 bits of mantissa, and are "
     "several times as fast; not if the StableHLO program asks for precision HIGH or HIGHEST",
     TP_BOOL(settings, tf32)},
};

static const tp_statistic_row statistics[] = {
    {"buffers", "static allocations"},
    {"private bytes", "size of the private blocks"},
    {"registered bytes", "size of the blocks that peers can access"},
};

const tp_pass_row tp__assign_buffers_row = {
    .name = "tp-assign-buffers",
    .summary = "Place every buffer in one of two static memory blocks and give the program its "
               "final signature",
    .description =
        "Requires: tp-lower-to-runtime, bufferization, structured control flow. Establishes: every "
        "static memref.alloc is an offset in the private block of the context, or in the "
        "registered block if its address reaches a collective; offsets are packed by lifetime. A "
        "public function NAME is int32_t NAME(context, inputs, outputs) with one pointer to dense "
        "data per argument and result (inputs and outputs must not overlap), and NAME.tprt is its "
        "constant program table. Breaks: nothing; a buffer of dynamic size is rejected.",
    .options = options,
    .n_options = TP_LEN(options),
    .options_size = sizeof(settings),
    .statistics = statistics,
    .n_statistics = TP_LEN(statistics),
    .run = run,
};
