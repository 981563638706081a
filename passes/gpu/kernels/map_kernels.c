/* tp-map-kernels: turns outlined loop nests into GPU kernels in a module of their own. The
 * remaining function runs on the host. */
#include "passes/gpu/kernels/map_group.h"
#include "passes/gpu/kernels/map_host.h"
#include "passes/gpu/outline.h"
#include "passes/registry.h"

#include "ir/diagnostics.h"
#include "support/support.h"

#include <mlir-c/Dialect/LLVM.h>
#include <stdio.h>

enum { STAT_KERNELS, STAT_BLOCKS };

typedef struct mapping {
  tp_pass *pass;
  MlirBlock device; /* block of the kernel module, created with the first kernel */
  tp__map_kernels kernels;
  tp__map_asserts asserts;
  int n_mapped;
} mapping;

/* ---- the function of a kernel ---- */

static MlirBlock device_block(mapping *m) {
  if (!mlirBlockIsNull(m->device))
    return m->device;
  MlirContext context = m->pass->context;
  MlirNamedAttribute name = tp__named(context, "sym_name", tp__attr_string(context, "tp_kernels"));
  MlirOperation module =
      tp__create(&(tp_build){.name = "builtin.module",
                             .location = mlirOperationGetLocation(m->pass->module),
                             .n_attributes = 1,
                             .attributes = &name,
                             .n_regions = 1});
  m->device = mlirBlockCreate(0, NULL, NULL);
  mlirRegionAppendOwnedBlock(mlirOperationGetRegion(module, 0), m->device);
  mlirBlockAppendOwnedOperation(mlirRegionGetFirstBlock(mlirOperationGetRegion(m->pass->module, 0)),
                                module);
  return m->device;
}

/* Returns the type of the kernel argument for an argument of this type. */
static MlirType argument_type(MlirContext context, MlirType type) {
  if (mlirTypeIsAMemRef(type))
    return mlirLLVMPointerTypeGet(context, 0);
  if (mlirTypeIsAIndex(type))
    return mlirIntegerTypeGet(context, 64);
  return mlirTypeIsAInteger(type) && mlirIntegerTypeGetWidth(type) < 8
             ? mlirIntegerTypeGet(context, 8)
             : type;
}

/* Returns the type with the same layout and offset 0. */
static MlirType at_offset_zero(MlirType type) {
  int64_t strides[TP_MAX_RANK], sizes[TP_MAX_RANK], offset;
  int rank = (int)mlirShapedTypeGetRank(type);
  if (rank > TP_MAX_RANK ||
      mlirLogicalResultIsFailure(mlirMemRefTypeGetStridesAndOffset(type, strides, &offset)) ||
      offset == 0)
    return type;
  for (int d = 0; d < rank; d++)
    sizes[d] = mlirShapedTypeGetDimSize(type, d);
  MlirAttribute layout = mlirStridedLayoutAttrGet(mlirTypeGetContext(type), 0, rank, strides);
  return mlirMemRefTypeGet(tp__element_type(type), rank, sizes, layout,
                           mlirMemRefTypeGetMemorySpace(type));
}

static MlirOperation create_function(mapping *m, MlirOperation func, int n, const MlirType *types) {
  MlirContext context = m->pass->context;
  MlirLocation location = mlirOperationGetLocation(func), locations[TP_MAP_OPERANDS];
  char name[32];
  snprintf(name, sizeof name, "tp_kernel%d", m->n_mapped);
  for (int i = 0; i < n; i++)
    locations[i] = location;
  MlirType type = mlirLLVMFunctionTypeGet(mlirLLVMVoidTypeGet(context), n, types, false);
  MlirNamedAttribute attrs[] = {
      tp__named(context, "sym_name", tp__attr_string(context, name)),
      tp__named(context, "function_type", mlirTypeAttrGet(type)),
      tp__named(context, "linkage", tp__parse_attr(context, "#llvm.linkage<external>")),
      tp__named(context, "nvvm.kernel", mlirUnitAttrGet(context)),
  };
  MlirOperation kernel = tp__create(&(tp_build){.name = "llvm.func",
                                                .location = location,
                                                .n_attributes = TP_LEN(attrs),
                                                .attributes = attrs,
                                                .n_regions = 1});
  MlirBlock block = mlirBlockCreate(n, types, locations);
  mlirRegionAppendOwnedBlock(mlirOperationGetRegion(kernel, 0), block);
  mlirBlockAppendOwnedOperation(
      block, tp__create(&(tp_build){.name = "llvm.return", .location = location}));
  mlirBlockAppendOwnedOperation(device_block(m), kernel);
  return kernel;
}

/* Moves the body of `func` into the kernel. `values` receives the values of its arguments there.
 * Dynamic strides are the arguments after them. */
static void fill_function(MlirOperation func, MlirOperation kernel, MlirValue *values) {
  MlirBlock from = mlirRegionGetFirstBlock(mlirOperationGetRegion(func, 0));
  MlirBlock to = mlirRegionGetFirstBlock(mlirOperationGetRegion(kernel, 0));
  MlirOperation end = mlirBlockGetTerminator(to), from_end = mlirBlockGetTerminator(from), next;
  int n = (int)mlirBlockGetNumArguments(from), n_strides = 0;
  for (int i = 0; i < n; i++) {
    MlirValue outside = mlirBlockGetArgument(from, i), inside = mlirBlockGetArgument(to, i),
              strides[TP_MAX_RANK];
    MlirType type = mlirValueGetType(outside);
    int dims[TP_MAX_RANK], n_open = tp__map_open_strides(type, dims);
    for (int s = 0; s < n_open; s++)
      strides[s] = mlirBlockGetArgument(to, n + n_strides++);
    inside = mlirTypeIsAMemRef(type) ? tp__map_memref(end, inside, at_offset_zero(type), strides)
                                     : tp__map_cast(end, inside, type);
    mlirValueReplaceAllUsesOfWith(outside, inside);
    values[i] = inside;
  }
  for (MlirOperation op = mlirBlockGetFirstOperation(from); !mlirOperationEqual(op, from_end);
       op = next) {
    next = mlirOperationGetNextInBlock(op);
    mlirOperationMoveBefore(op, end);
  }
}

/* Finds the address of each of the nest's buffers: the kernel argument from which the value in
 * `values` was built. */
static void find_pointers(MlirOperation kernel, int n, const MlirValue *values,
                          tp__map_nest *nest) {
  MlirBlock block = mlirRegionGetFirstBlock(mlirOperationGetRegion(kernel, 0));
  nest->is_inside = true;
  for (int i = 0; i < nest->n_operands; i++)
    for (int k = 0; k < n; k++)
      if (mlirValueEqual(nest->operands[i].memref, values[k]))
        nest->operands[i].pointer = mlirBlockGetArgument(block, k);
}

/* ---- mapping ---- */

/* The nests of a function that is to become a kernel, read before or after they move into the
 * kernel. */
typedef struct reading {
  int n;
  MlirOperation ops[TP_GROUP_NESTS];
  tp__map_nest *nests; /* one per op; free with tp__free */
  int64_t iterations;  /* total over all nests */
} reading;

static tp_status find_nests(MlirOperation func, reading *r) {
  MlirBlock block = mlirRegionGetFirstBlock(mlirOperationGetRegion(func, 0));
  *r = (reading){.n = 0};
  for (MlirOperation op = mlirBlockGetFirstOperation(block); !mlirOperationIsNull(op);
       op = mlirOperationGetNextInBlock(op)) {
    if (!tp__op_has_dialect(op, "linalg"))
      continue;
    if (r->n == TP_GROUP_NESTS)
      return tp__error(op, TP_UNSUPPORTED, "exceeds the limit of %d loop nests in one kernel",
                       r->n);
    r->ops[r->n++] = op;
  }
  if (r->n == 0)
    return tp__error(func, TP_UNSUPPORTED,
                     "is called on buffers but has no loop nest; run tp-outline-kernels first");
  if (r->n > 1 && mlirAttributeIsNull(tp__get(func, TP_ATTR_KERNEL)))
    return tp__error(func, TP_UNSUPPORTED,
                     "has %d loop nests, but tp-fuse-nests did not mark it as one kernel", r->n);
  r->nests = tp__calloc((size_t)r->n, sizeof *r->nests);
  return r->nests ? TP_OK : tp__out_of_memory(func);
}

static tp_status read_nests(reading *r, int max_lanes) {
  tp_status status = TP_OK;
  r->iterations = 0;
  for (int i = 0; i < r->n && status == TP_OK; i++) {
    status = tp__map_read(r->ops[i], r->nests + i);
    r->nests[i].max_lanes = max_lanes;
    r->iterations += status == TP_OK ? tp__map_iterations(r->nests + i, false) : 0;
  }
  return status;
}

static bool has_asserts(const reading *r) {
  for (int i = 0; i < r->n; i++)
    if (tp__map_asserts_in(r->ops[i]))
      return true;
  return false;
}

static tp_status guard_nests(mapping *m, const reading *r, MlirValue word) {
  for (int i = 0; i < r->n; i++)
    TP_TRY(tp__map_guard(&m->asserts, r->ops[i], word));
  return TP_OK;
}

static void set_threads(MlirOperation kernel, const tp__map_launch *launch) {
  MlirContext context = mlirOperationGetContext(kernel);
  int32_t n = launch->n_threads;
  mlirOperationSetDiscardableAttributeByName(kernel, tp__ref("nvvm.reqntid"),
                                             mlirDenseI32ArrayGet(context, 1, &n));
  tp__set(kernel, "tp.blocks", tp__attr_i64(context, launch->n_blocks));
}

static void align(tp__map_kernel *kernel, const tp__map_nest *nest, int loop, int lanes, int n,
                  const MlirValue *values) {
  for (int i = 0; i < nest->n_operands; i++)
    for (int k = 0; k < n; k++) {
      int64_t alignment = mlirValueEqual(nest->operands[i].memref, values[k])
                              ? tp__map_alignment(nest, i, loop, lanes)
                              : 1;
      if (alignment > kernel->alignment[k])
        kernel->alignment[k] = alignment;
    }
}

static bool has_reduction(const tp__map_nest *nest) {
  for (int l = 0; l < nest->n_loops; l++)
    if (nest->is_reduction[l])
      return true;
  return false;
}

/* Builds the body of the kernel `made` from the nests. `values` are its n arguments as buffers. */
static tp_status map_nests(tp__map_kernel *kernel, const reading *r, MlirOperation made, int n,
                           const MlirValue *values) {
  MlirOperation end =
      mlirBlockGetTerminator(mlirRegionGetFirstBlock(mlirOperationGetRegion(made, 0)));
  tp__map_launch *launch = kernel->launch + kernel->n_variants;
  tp__map_group group = {.n_nests = r->n};
  for (int i = 0; i < r->n; i++)
    group.nests[i] = r->nests + i;
  bool is_first = kernel->n_variants == 0;
  bool has_loops = tp__group_loops(&group);
  bool is_begun = tp__group_is_begun(&group) && !(has_loops && tp__group_has_kernel(&group));
  if (r->n == 1 || is_begun) {
    const tp__map_nest *nest = r->nests + r->n - 1;
    tp__map_tiles tiles;
    tp_status status =
        has_reduction(nest) ? tp__map_reduction(nest, is_begun ? r->nests : NULL, made, end, launch)
        : tp__map_find_transpose(nest, &tiles) ? tp__map_transpose(nest, &tiles, made, end, launch)
                                               : tp__map_elementwise(nest, end, launch);
    if (is_first)
      align(kernel, nest, launch->loop, launch->lanes, n, values);
    return status;
  }
  if (!has_loops)
    return tp__error(
        r->ops[1], TP_UNSUPPORTED,
        "does not iterate over the loops of the preceding nest, which has to share its kernel");
  tp_status status = tp__map_group_kernel(&group, made, end, launch);
  for (int i = 0; i < r->n && is_first && status == TP_OK; i++) {
    int loop, lanes = tp__group_nest_lanes(&group, r->nests + i, launch->lanes, &loop);
    align(kernel, r->nests + i, loop, lanes, n, values);
  }
  return status;
}

/* Erases the nests from the kernel, and buffers that only they used. */
static void erase_nests(const reading *r) {
  MlirBlock block = mlirOperationGetBlock(r->ops[0]);
  MlirOperation next;
  for (int i = 0; i < r->n; i++)
    mlirOperationDestroy(r->ops[i]);
  for (MlirOperation op = mlirBlockGetFirstOperation(block); !mlirOperationIsNull(op); op = next) {
    next = mlirOperationGetNextInBlock(op);
    if (tp__op_is(op, "memref.alloca"))
      mlirOperationDestroy(op);
  }
}

static int count_strides(MlirBlock block) {
  int n = 0, dims[TP_MAX_RANK];
  for (int i = 0; i < mlirBlockGetNumArguments(block); i++)
    n += tp__map_open_strides(mlirValueGetType(mlirBlockGetArgument(block, i)), dims);
  return n;
}

/* Adds a variant of the kernel with at most `most_lanes` lanes per vector. `func`, the function or
 * a copy of it, loses its body. */
static tp_status map_variant(mapping *m, tp__map_kernel *kernel, MlirOperation func, int max_lanes,
                             reading *r) {
  MlirBlock block = mlirRegionGetFirstBlock(mlirOperationGetRegion(func, 0));
  MlirType types[TP_MAP_OPERANDS + 1];
  MlirValue values[TP_MAP_OPERANDS];
  int n = (int)mlirBlockGetNumArguments(block);
  kernel->asserts = has_asserts(r);
  kernel->n_strides = count_strides(block);
  int n_all = n + kernel->n_strides + kernel->asserts;
  if (n_all > TP_MAP_OPERANDS)
    return tp__error(r->ops[0], TP_UNSUPPORTED, "uses %d values; a kernel takes at most %d", n_all,
                     TP_MAP_OPERANDS);
  TP_TRY(read_nests(r, max_lanes));
  if (r->iterations == 0)
    return TP_OK;
  for (int i = 0; i < n; i++)
    types[i] = argument_type(m->pass->context, mlirValueGetType(mlirBlockGetArgument(block, i)));
  for (int i = 0; i < kernel->n_strides; i++)
    types[n + i] = mlirIntegerTypeGet(m->pass->context, 64);
  types[n + kernel->n_strides] = mlirLLVMPointerTypeGet(m->pass->context, 0);
  MlirOperation made = create_function(m, func, n_all, types);
  fill_function(func, made, values);
  if (kernel->asserts)
    TP_TRY(guard_nests(
        m, r,
        mlirBlockGetArgument(mlirRegionGetFirstBlock(mlirOperationGetRegion(made, 0)), n_all - 1)));
  TP_TRY(read_nests(r, max_lanes)); /* read again, now with the buffers of the kernel */
  for (int i = 0; i < r->n; i++)
    find_pointers(made, n, values, r->nests + i);
  tp_status status = map_nests(kernel, r, made, n, values);
  erase_nests(r);
  set_threads(made, kernel->launch + kernel->n_variants);
  m->pass->statistics[STAT_BLOCKS] += kernel->launch[kernel->n_variants].n_blocks;
  kernel->number[kernel->n_variants++] = m->n_mapped++;
  return status;
}

static tp_status read_and_map(mapping *m, tp__map_kernel *kernel, MlirOperation func,
                              int max_lanes) {
  reading r;
  tp_status status = find_nests(func, &r);
  if (status == TP_OK)
    status = map_variant(m, kernel, func, max_lanes, &r);
  tp__free(r.nests);
  return status;
}

static tp_status map_kernel(mapping *m, tp__map_kernel *kernel) {
  MlirOperation copy = mlirOperationClone(kernel->func);
  tp_status status = read_and_map(m, kernel, kernel->func, TP_MAP_LANES);
  if (status == TP_OK && kernel->n_variants > 0 && kernel->launch[0].lanes > 1)
    status = read_and_map(m, kernel, copy, 1);
  mlirOperationDestroy(copy);
  m->pass->statistics[STAT_KERNELS] += kernel->n_variants > 0;
  return status;
}

/* ---- the pass ---- */

/* True for private functions with a body. tp-outline-kernels created them; all others have been
 * inlined. */
static bool is_kernel(MlirOperation op) {
  MlirAttribute visibility =
      tp__op_is(op, "func.func") ? tp__inherent(op, "sym_visibility") : (MlirAttribute){NULL};
  return !mlirAttributeIsNull(visibility) &&
         tp__ref_is(mlirStringAttrGetValue(visibility), "private") &&
         !mlirBlockIsNull(mlirRegionGetFirstBlock(mlirOperationGetRegion(op, 0)));
}

static tp_status find_kernels(mapping *m) {
  MlirBlock block = mlirRegionGetFirstBlock(mlirOperationGetRegion(m->pass->module, 0));
  for (MlirOperation op = mlirBlockGetFirstOperation(block); !mlirOperationIsNull(op);
       op = mlirOperationGetNextInBlock(op)) {
    if (!is_kernel(op))
      continue;
    if (tp__grow((void **)&m->kernels.items, &m->kernels.capacity, m->kernels.n + 1,
                 sizeof *m->kernels.items) != TP_OK)
      return tp__out_of_memory(op);
    m->kernels.items[m->kernels.n++] = (tp__map_kernel){.func = op};
  }
  return TP_OK;
}

static tp_status map_entry(MlirOperation func, void *data) {
  mapping *m = data;
  return tp__map_host(m->pass->module, func, &m->kernels, &m->asserts);
}

static tp_status run(tp_pass *pass) {
  mapping m = {.pass = pass};
  tp_status status = find_kernels(&m);
  for (size_t i = 0; i < m.kernels.n && status == TP_OK; i++)
    status = map_kernel(&m, m.kernels.items + i);
  if (status == TP_OK)
    status = tp__each_entry(pass->module, map_entry, &m);
  for (size_t i = 0; i < m.kernels.n && status == TP_OK; i++)
    mlirOperationDestroy(m.kernels.items[i].func);
  tp__free(m.kernels.items);
  tp__free(m.asserts.messages);
  return status;
}

static const tp_statistic_row statistics[] = {
    {"kernels", "loop nests that became kernels"},
    {"blocks", "thread blocks of these kernels, in one launch of each"},
};

const tp_pass_row tp__map_kernels_row = {
    .name = "tp-map-kernels",
    .summary = "Turn outlined loop nests into GPU kernels, and the rest into a host program that "
               "launches them",
    .description =
        "Requires: tp-assign-buffers{target=cuda}, linalg-generalize-named-ops, "
        "tp-outline-kernels. Establishes: each nest is one or two llvm.func in the module "
        "@tp_kernels, in terms of arith, scf and memref, with nvvm.reqntid threads in each of "
        "tp.blocks blocks. Elementwise nests have one thread per 16 bytes, transposes one block "
        "per tile, reductions several threads per element of the result. In the remaining "
        "functions all memory is device memory: launches, copies, reads, writes and constants are "
        "runtime calls. Breaks: nothing; a nest is rejected if it has no static sizes, or if one "
        "of its loops rewrites the same elements of one output while it writes separate elements "
        "of another.",
    .statistics = statistics,
    .n_statistics = TP_LEN(statistics),
    .run = run,
};
