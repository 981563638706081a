/* Host side of GPU programs: replaces calls of kernels, copies, element accesses and constants by
 * runtime calls. */
#include "passes/gpu/kernels/map_host.h"

#include "passes/bufferize/assign.h"

#include "ir/diagnostics.h"
#include "support/support.h"

typedef struct host {
  tp__lowering l;
  const tp__map_kernels *kernels;
  MlirOperation head; /* marker at the start of the function; stack memory is allocated there */
  MlirValue slots;    /* launch arguments, one per slot */
  int n_slots;
} host;

/* ---- launches ---- */

static MlirValue slot_address(host *h, MlirOperation where, int i) {
  int32_t position = i;
  MlirNamedAttribute attrs[] = {
      tp__named(h->l.context, "elem_type", mlirTypeAttrGet(h->l.i64)),
      tp__named(h->l.context, "rawConstantIndices",
                mlirDenseI32ArrayGet(h->l.context, 1, &position)),
      tp__named(h->l.context, "noWrapFlags", mlirIntegerAttrGet(h->l.i32, 0)),
  };
  return mlirOperationGetResult(
      tp__build(where, "llvm.getelementptr", 1, &h->slots, 1, &h->l.ptr, TP_LEN(attrs), attrs), 0);
}

/* Converts a value to a kernel argument: an address, or the value in the low bytes of 64 bits. */
static MlirValue argument(host *h, MlirOperation where, MlirValue value) {
  MlirType type = mlirValueGetType(value);
  if (mlirTypeIsAMemRef(type))
    return tp__build_pointer(&h->l, where, value);
  if (mlirTypeIsAIndex(type))
    return tp__build_one(where, "arith.index_cast", 1, &value, h->l.i64);
  if (mlirTypeIsAInteger(type) && mlirIntegerTypeGetWidth(type) < 8)
    return tp__map_cast(where, value, mlirIntegerTypeGet(h->l.context, 8));
  return value;
}

/* Computes the strides of a buffer at run time, in elements as i64, for the dimensions `dims`. */
static void build_strides(host *h, MlirOperation where, MlirValue memref, int n, const int *dims,
                          MlirValue *strides) {
  MlirType type = mlirValueGetType(memref), index = mlirIndexTypeGet(h->l.context),
           types[2 + 2 * TP_MAX_RANK];
  int rank = (int)mlirShapedTypeGetRank(type);
  types[0] = mlirMemRefTypeContiguousGet(tp__element_type(type), 0, NULL,
                                         mlirMemRefTypeGetMemorySpace(type));
  for (int i = 0; i < 1 + 2 * rank; i++)
    types[1 + i] = index;
  MlirOperation parts =
      tp__build(where, "memref.extract_strided_metadata", 1, &memref, 2 + 2 * rank, types, 0, NULL);
  for (int i = 0; i < n; i++) {
    MlirValue stride = mlirOperationGetResult(parts, 2 + rank + dims[i]);
    strides[i] = tp__build_one(where, "arith.index_cast", 1, &stride, h->l.i64);
  }
}

static void put_argument(host *h, MlirOperation call, MlirValue value, int slot) {
  MlirNamedAttribute ordering =
      tp__named(h->l.context, "ordering", mlirIntegerAttrGet(h->l.i64, 0));
  MlirValue operands[] = {value, slot_address(h, call, slot)};
  tp__build(call, "llvm.store", 2, operands, 0, NULL, 1, &ordering);
}

/* Builds an i1: is the address of any argument too little aligned for vectors? Null if no argument
 * needs alignment. */
static MlirValue is_misaligned(host *h, MlirOperation call, const tp__map_kernel *kernel,
                               const MlirValue *arguments) {
  MlirValue bits = {NULL};
  for (int i = 0; i < mlirOperationGetNumOperands(call); i++) {
    if (kernel->alignment[i] <= 1)
      continue;
    MlirValue address = tp__build_one(call, "llvm.ptrtoint", 1, &arguments[i], h->l.i64);
    MlirValue low = tp__binary(call, "arith.andi", address,
                               tp__build_int(call, h->l.i64, kernel->alignment[i] - 1));
    bits = mlirValueIsNull(bits) ? low : tp__binary(call, "arith.ori", bits, low);
  }
  return mlirValueIsNull(bits) ? bits
                               : tp__compare(call, TP_NE, bits, tp__build_int(call, h->l.i64, 0));
}

static MlirValue choose(MlirOperation call, MlirValue second, MlirType type, int64_t a, int64_t b) {
  MlirValue first = tp__build_int(call, type, a);
  return mlirValueIsNull(second) || a == b
             ? first
             : tp__select(call, second, tp__build_int(call, type, b), first);
}

static void launch(host *h, MlirOperation call, const tp__map_kernel *kernel) {
  int n = (int)mlirOperationGetNumOperands(call);
  const tp__map_launch *a = &kernel->launch[0], *b = &kernel->launch[1];
  MlirValue arguments[TP_MAP_OPERANDS];
  int slot = n;
  for (int i = 0; i < n; i++) {
    MlirValue value = mlirOperationGetOperand(call, i), strides[TP_MAX_RANK];
    arguments[i] = argument(h, call, value);
    put_argument(h, call, arguments[i], i);
    int dims[TP_MAX_RANK], n_open = tp__map_open_strides(mlirValueGetType(value), dims);
    if (n_open > 0)
      build_strides(h, call, value, n_open, dims, strides);
    for (int s = 0; s < n_open; s++)
      put_argument(h, call, strides[s], slot++);
  }
  if (kernel->asserts)
    put_argument(h, call,
                 tp__build_call(&h->l, call, "tprt_abi_assert_word", 1, &h->l.ctx, h->l.ptr),
                 slot++);
  MlirValue second =
      kernel->n_variants > 1 ? is_misaligned(h, call, kernel, arguments) : (MlirValue){NULL};
  MlirValue operands[] = {h->l.ctx,
                          choose(call, second, h->l.i32, kernel->number[0], kernel->number[1]),
                          choose(call, second, h->l.i64, a->n_blocks, b->n_blocks),
                          choose(call, second, h->l.i32, a->n_threads, b->n_threads),
                          h->slots,
                          tp__build_int(call, h->l.i32, slot)};
  tp__build_call(&h->l, call, "tprt_abi_launch", TP_LEN(operands), operands, h->l.i32);
}

const tp__map_kernel *tp__map_called(const tp__map_kernels *kernels, MlirOperation call) {
  MlirStringRef callee = mlirFlatSymbolRefAttrGetValue(tp__inherent(call, "callee"));
  for (size_t i = 0; i < kernels->n; i++)
    if (mlirStringRefEqual(mlirStringAttrGetValue(tp__inherent(kernels->items[i].func, "sym_name")),
                           callee))
      return kernels->items + i;
  return NULL;
}

/* ---- memory ---- */

static void copy(host *h, MlirOperation op) {
  MlirValue from = mlirOperationGetOperand(op, 0), to = mlirOperationGetOperand(op, 1);
  MlirValue operands[] = {h->l.ctx, tp__build_pointer(&h->l, op, from),
                          tp__build_pointer(&h->l, op, to),
                          tp__build_int(op, h->l.i64, tp__memref_bytes(mlirValueGetType(from)))};
  tp__build_call(&h->l, op, "tprt_abi_copy", TP_LEN(operands), operands, h->l.i32);
}

/* Allocates one element in host memory. */
static MlirValue build_cell(host *h, MlirType element) {
  MlirType type = mlirMemRefTypeContiguousGet(element, 0, NULL, (MlirAttribute){NULL});
  MlirNamedAttribute segments =
      tp__named(h->l.context, "operandSegmentSizes",
                mlirDenseI32ArrayGet(h->l.context, 2, (const int32_t[]){0, 0}));
  return mlirOperationGetResult(
      tp__build(h->head, "memref.alloca", 0, NULL, 1, &type, 1, &segments), 0);
}

/* Computes the device address of an element of a memref. */
static MlirValue element_address(host *h, MlirOperation op, int memref) {
  MlirValue buffer = mlirOperationGetOperand(op, memref), word = tp__build_int(op, h->l.i64, 0);
  MlirType type = mlirValueGetType(buffer);
  int dims[TP_MAX_RANK], n_open = tp__map_open_strides(type, dims), next = 0;
  int64_t strides[TP_MAX_RANK], unused;
  MlirValue open[TP_MAX_RANK];
  (void)mlirMemRefTypeGetStridesAndOffset(type, strides, &unused);
  if (n_open > 0)
    build_strides(h, op, buffer, n_open, dims, open);
  for (int d = 0; d < mlirShapedTypeGetRank(type); d++) {
    MlirValue at = mlirOperationGetOperand(op, memref + 1 + d);
    at = tp__build_one(op, "arith.index_cast", 1, &at, h->l.i64);
    MlirValue stride =
        next < n_open && dims[next] == d ? open[next++] : tp__build_int(op, h->l.i64, strides[d]);
    word = tp__binary(op, "arith.addi", word, tp__binary(op, "arith.muli", at, stride));
  }
  MlirValue base = tp__build_pointer(&h->l, op, buffer);
  base = tp__build_one(op, "llvm.ptrtoint", 1, &base, h->l.i64);
  word = tp__binary(op, "arith.muli", word,
                    tp__build_int(op, h->l.i64, tp__element_size(tp__element_type(type))));
  word = tp__binary(op, "arith.addi", base, word);
  return tp__build_one(op, "llvm.inttoptr", 1, &word, h->l.ptr);
}

static void transfer(host *h, MlirOperation op, const char *callee, MlirValue device,
                     MlirValue cell) {
  MlirValue operands[] = {h->l.ctx, device, tp__build_pointer(&h->l, op, cell),
                          tp__build_int(op, h->l.i64, tp__memref_bytes(mlirValueGetType(cell)))};
  tp__build_call(&h->l, op, callee, TP_LEN(operands), operands, h->l.i32);
}

static void read_element(host *h, MlirOperation op) {
  MlirType element = mlirValueGetType(mlirOperationGetResult(op, 0));
  MlirValue cell = build_cell(h, element);
  transfer(h, op, "tprt_abi_read", element_address(h, op, 0), cell);
  mlirValueReplaceAllUsesOfWith(mlirOperationGetResult(op, 0),
                                tp__build_one(op, "memref.load", 1, &cell, element));
}

static void write_element(host *h, MlirOperation op) {
  MlirValue value = mlirOperationGetOperand(op, 0), cell = build_cell(h, mlirValueGetType(value));
  MlirValue operands[] = {value, cell};
  tp__build(op, "memref.store", 2, operands, 0, NULL, 0, NULL);
  transfer(h, op, "tprt_abi_write", element_address(h, op, 1), cell);
}

/* Replaces a constant by the device copy that the runtime keeps. */
static void constant(host *h, MlirOperation op) {
  MlirOperation again = mlirOperationClone(op);
  tp__insert_before(op, again);
  MlirType type = mlirValueGetType(mlirOperationGetResult(op, 0));
  int64_t bytes = tp__memref_bytes(type);
  MlirValue operands[] = {h->l.ctx, tp__build_pointer(&h->l, op, mlirOperationGetResult(again, 0)),
                          tp__build_int(op, h->l.i64, bytes)};
  MlirValue address =
      tp__build_call(&h->l, op, "tprt_abi_constant", TP_LEN(operands), operands, h->l.ptr);
  MlirValue view = tp__build_view(&h->l, op, tp__build_block(&h->l, op, address, bytes), 0, type);
  mlirValueReplaceAllUsesOfWith(mlirOperationGetResult(op, 0), view);
}

static tp_status refuse(host *h, MlirOperation op) {
  (void)h;
  return tp__error(op, TP_UNSUPPORTED,
                   "does not run on GPUs yet in this form: it is not a kernel, and the host cannot "
                   "access GPU memory");
}

/* ---- the function ---- */

typedef struct memory_row {
  const char *op;
  void (*replace)(host *h, MlirOperation op);
} memory_row;

static const memory_row memory_rows[] = {{"memref.copy", copy},
                                         {"memref.load", read_element},
                                         {"memref.store", write_element},
                                         {"memref.get_global", constant}};

static const memory_row *find_row(MlirOperation op) {
  for (int i = 0; i < TP_LEN(memory_rows); i++)
    if (tp__op_is(op, memory_rows[i].op))
      return memory_rows + i;
  return NULL;
}

static tp_status collect(MlirOperation op, void *data) {
  bool touches = find_row(op) || tp__op_is(op, "func.call") || tp__op_has_dialect(op, "linalg");
  return touches ? tp__op_list_add(data, op) : TP_OK;
}

static tp_status replace(host *h, MlirOperation op) {
  const memory_row *row = find_row(op);
  if (tp__op_has_dialect(op, "linalg"))
    return tp__op_is(op, "linalg.yield") || tp__op_is(op, "linalg.index") ? TP_OK : refuse(h, op);
  const tp__map_kernel *kernel = row ? NULL : tp__map_called(h->kernels, op);
  if (row)
    row->replace(h, op);
  else if (kernel && kernel->n_variants > 0)
    launch(h, op, kernel);
  if (row || kernel)
    mlirOperationDestroy(op);
  return TP_OK;
}

static int max_arguments(const host *h, const tp_op_list *list) {
  int most = 0;
  for (size_t i = 0; i < list->n; i++) {
    const tp__map_kernel *kernel =
        tp__op_is(list->items[i], "func.call") ? tp__map_called(h->kernels, list->items[i]) : NULL;
    int n = kernel ? (int)mlirOperationGetNumOperands(list->items[i]) + kernel->n_strides +
                         kernel->asserts
                   : 0;
    most = n > most ? n : most;
  }
  return most;
}

tp_status tp__map_host(MlirOperation module, MlirOperation func, const tp__map_kernels *kernels,
                       const tp__map_asserts *asserts) {
  host h = {.kernels = kernels};
  tp_op_list list = {0};
  tp__lowering_begin(&h.l, module, func);
  tp_status status =
      mlirValueIsNull(h.l.ctx)
          ? tp__error(func, TP_INVALID_ARGUMENT,
                      "is not lowered to the runtime yet; run tp-assign-buffers first")
          : tp__walk(func, collect, &list);
  /* a marker, because the first op may be replaced */
  h.head = tp__build(
      mlirBlockGetFirstOperation(mlirRegionGetFirstBlock(mlirOperationGetRegion(func, 0))),
      "llvm.mlir.zero", 0, NULL, 1, &h.l.ptr, 0, NULL);
  int most = status == TP_OK ? max_arguments(&h, &list) : 0;
  if (most > 0) {
    MlirValue n = tp__build_int(h.head, h.l.i64, most);
    MlirNamedAttribute type = tp__named(h.l.context, "elem_type", mlirTypeAttrGet(h.l.i64));
    h.slots =
        mlirOperationGetResult(tp__build(h.head, "llvm.alloca", 1, &n, 1, &h.l.ptr, 1, &type), 0);
  }
  for (size_t i = 0; i < list.n && status == TP_OK; i++)
    status = replace(&h, list.items[i]);
  if (status == TP_OK)
    tp__map_check(&h.l, asserts);
  mlirOperationDestroy(h.head);
  tp__free(list.items);
  tp__free(h.l.sites.items);
  tp__free(h.l.extra.items);
  return status;
}
