/* Reads and builds sorts. */
#include "ir/sort_call.h"

#include "ir/diagnostics.h"
#include "support/support.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

static const char prefix[] = "tp.sort";

bool tp__is_sort(MlirOperation op) {
  return tp__op_is(op, "func.call") && !mlirAttributeIsNull(tp__get(op, prefix)) &&
         !mlirOperationIsNull(tp__declaration(op));
}

tp_status tp__collect_sort(MlirOperation op, void *list) {
  return tp__is_sort(op) ? tp__op_list_add(list, op) : TP_OK;
}

/* ---- reading ---- */

static MlirOperation symbol(MlirOperation module, MlirStringRef name) {
  for (MlirOperation op = mlirBlockGetFirstOperation(tp__region_block(module, 0));
       !mlirOperationIsNull(op); op = mlirOperationGetNextInBlock(op)) {
    MlirAttribute own = tp__inherent(op, "sym_name");
    if (!mlirAttributeIsNull(own) && mlirStringRefEqual(mlirStringAttrGetValue(own), name))
      return op;
  }
  return (MlirOperation){NULL};
}

static MlirOperation module_of(MlirOperation op) {
  return mlirOperationGetParentOperation(tp__enclosing_func(op));
}

static MlirAttribute field(MlirOperation op, const char *name) {
  MlirAttribute attr = tp__get(op, prefix);
  return mlirAttributeIsADictionary(attr) ? mlirDictionaryAttrGetElementByName(attr, tp__ref(name))
                                          : (MlirAttribute){NULL};
}

MlirOperation tp__sort_comparator(MlirOperation op) {
  return symbol(module_of(op), mlirFlatSymbolRefAttrGetValue(field(op, "less")));
}

static tp_status read_attribute(MlirOperation op, tp_sort *sort) {
  MlirAttribute dim = field(op, "dim"), less = field(op, "less");
  if (mlirAttributeIsNull(dim) || !mlirAttributeIsAInteger(dim) || mlirAttributeIsNull(less) ||
      !mlirAttributeIsAFlatSymbolRef(less))
    return tp__error(op, TP_INVALID_ARGUMENT,
                     "tp.sort must be a dictionary such as {dim = 1, less = @less}");
  int64_t value = mlirIntegerAttrGetValueInt(dim);
  if (value < 0 || value >= sort->rank)
    return tp__error(op, TP_INVALID_ARGUMENT, "tp.sort: dim is %lld, but the operands have rank %d",
                     (long long)value, sort->rank);
  sort->dim = (int)value;
  sort->less = tp__sort_comparator(op);
  return TP_OK;
}

static bool is_comparator(MlirOperation op) {
  return tp__is_defined_func(op) && !tp__is_planned_func(op);
}

static tp_status check_less(MlirOperation op, const tp_sort *sort) {
  MlirStringRef name = mlirFlatSymbolRefAttrGetValue(tp__sort_less(op));
  bool ok = !mlirOperationIsNull(sort->less) && is_comparator(sort->less) &&
            mlirBlockIsNull(mlirBlockGetNextInRegion(tp__region_block(sort->less, 0)));
  MlirType type = ok ? tp__func_type(sort->less) : (MlirType){NULL};
  ok = ok && mlirFunctionTypeGetNumInputs(type) == 2 * sort->n &&
       mlirFunctionTypeGetNumResults(type) == 1 &&
       mlirTypeEqual(mlirFunctionTypeGetResult(type, 0),
                     mlirIntegerTypeGet(mlirOperationGetContext(op), 1));
  for (int i = 0; ok && i < 2 * sort->n; i++)
    ok = mlirTypeEqual(mlirFunctionTypeGetInput(type, i),
                       tp__element_type(mlirValueGetType(mlirOperationGetOperand(op, i / 2))));
  return ok ? TP_OK
            : tp__error(op, TP_INVALID_ARGUMENT,
                        "its comparator @%.*s must be a function of one block, with tp.comparator, "
                        "that takes two numbers of each operand's type, in order, and returns i1",
                        (int)name.length, name.data);
}

/* Checks a type against that of operand 0: a result may have fewer elements along the sorted
 * dimension. */
static bool fits(const tp_sort *sort, const int64_t *wanted, MlirType type, int64_t *along) {
  int rank;
  int64_t shape[TP_MAX_RANK];
  if (!tp__static_tensor(type, &rank, shape) || rank != sort->rank)
    return false;
  *along = shape[sort->dim];
  shape[sort->dim] = wanted[sort->dim];
  return memcmp(shape, wanted, (size_t)rank * sizeof *shape) == 0;
}

static tp_status check_types(MlirOperation op, tp_sort *sort, const int64_t *wanted) {
  sort->size = wanted[sort->dim];
  for (int i = 0; i < sort->n; i++) {
    MlirType from = mlirValueGetType(mlirOperationGetOperand(op, i)),
             to = mlirValueGetType(mlirOperationGetResult(op, i));
    int64_t n, kept;
    bool ok = fits(sort, wanted, from, &n) && fits(sort, wanted, to, &kept) && n == sort->size &&
              kept <= n && (i == 0 || kept == sort->kept) &&
              mlirTypeEqual(tp__element_type(from), tp__element_type(to));
    if (!ok)
      return tp__error(
          op, TP_INVALID_ARGUMENT,
          "operand %d and result %d do not fit: the operands of a sort have one shape, "
          "and the results that shape or one with fewer elements along dimension %d",
          i, i, sort->dim);
    sort->kept = kept;
  }
  return TP_OK;
}

tp_status tp__sort_read(MlirOperation op, tp_sort *sort) {
  int64_t shape[TP_MAX_RANK];
  *sort = (tp_sort){.n = (int)mlirOperationGetNumOperands(op)};
  if (sort->n < 1 || sort->n > TP_MAX_SORTED || mlirOperationGetNumResults(op) != sort->n)
    return tp__error(op, TP_INVALID_ARGUMENT,
                     "has %d operands and %d results; a sort has as many results as operands, and "
                     "1 to %d",
                     sort->n, (int)mlirOperationGetNumResults(op), TP_MAX_SORTED);
  if (!tp__static_tensor(mlirValueGetType(mlirOperationGetOperand(op, 0)), &sort->rank, shape))
    return tp__error(op, TP_INVALID_ARGUMENT, "a sort takes tensors of static shape");
  TP_TRY(read_attribute(op, sort));
  TP_TRY(check_types(op, sort, shape));
  return check_less(op, sort);
}

int tp__sort_dim(MlirOperation op) { return (int)mlirIntegerAttrGetValueInt(field(op, "dim")); }

MlirAttribute tp__sort_less(MlirOperation op) { return field(op, "less"); }

bool tp__sort_is_key(const tp_sort *sort, int i) {
  MlirBlock block = tp__region_block(sort->less, 0);
  return tp__is_used(mlirBlockGetArgument(block, 2 * i)) ||
         tp__is_used(mlirBlockGetArgument(block, 2 * i + 1));
}

static bool op_may_trap(MlirOperation op) {
  static const char *const divisions[] = {"arith.divsi",     "arith.divui",     "arith.remsi",
                                          "arith.remui",     "arith.ceildivsi", "arith.ceildivui",
                                          "arith.floordivsi"};
  bool is_plain = tp__op_has_dialect(op, "arith") || tp__op_has_dialect(op, "math") ||
                  tp__op_has_dialect(op, "complex") || tp__op_is(op, "func.return");
  return !is_plain || tp__op_is_any(op, TP_LEN(divisions), divisions);
}

bool tp__sort_may_trap(const tp_sort *sort) {
  MlirBlock block = tp__region_block(sort->less, 0);
  for (MlirOperation op = mlirBlockGetFirstOperation(block); !mlirOperationIsNull(op);
       op = mlirOperationGetNextInBlock(op))
    if (op_may_trap(op))
      return true;
  return false;
}

/* ---- work ---- */

int tp__sort_merges(int64_t n) {
  int merges = 0;
  for (int64_t width = 1; width < n; width *= 2)
    merges++;
  return merges;
}

/* Steps per row of n elements in random order, of which k are kept. After the first 2k elements,
 * about k * ln(n / 2k) more enter the buffer of candidates. It is sorted after every k of them, and
 * once at the end. */
static double select_steps(double n, double k, int n_merges) {
  return n + 2 * k * n_merges * (2 + log(n / (2 * k)));
}

/* A selection compares an element with places of the buffer that are not written yet. */
bool tp__sort_selects(const tp_sort *sort) {
  if (sort->kept < 1 || sort->kept > sort->size / 4 || tp__sort_may_trap(sort))
    return false;
  double n = (double)sort->size;
  return select_steps(n, (double)sort->kept, tp__sort_merges(2 * sort->kept)) <
         n * tp__sort_merges(sort->size);
}

double tp__sort_work(MlirOperation op, const tp_sort *sort) {
  int64_t shape[TP_MAX_RANK];
  int rank;
  double rows = 1, n = (double)sort->size;
  if (n < 2 || !tp__static_tensor(mlirValueGetType(mlirOperationGetOperand(op, 0)), &rank, shape))
    return 0;
  for (int d = 0; d < rank; d++)
    rows *= d == sort->dim ? 1 : (double)shape[d];
  double steps = tp__sort_selects(sort)
                     ? select_steps(n, (double)sort->kept, tp__sort_merges(2 * sort->kept))
                     : n * tp__sort_merges(sort->size);
  return rows * steps * (tp__n_ops(sort->less) + 2 * sort->n);
}

/* ---- building ---- */

/* Writes a symbol that no op of the module has: `wanted`, wanted.1, wanted.2, ... */
static void unused_symbol(MlirOperation module, const char *wanted, size_t size, char *name) {
  snprintf(name, size, "%s", wanted);
  for (int i = 1; !mlirOperationIsNull(symbol(module, tp__ref(name))); i++)
    snprintf(name, size, "%s.%d", wanted, i);
}

tp_comparator tp__comparator_build(MlirOperation module, MlirLocation location, int n,
                                   const MlirType *elements) {
  MlirContext context = mlirOperationGetContext(module);
  tp_comparator made;
  char name[64];
  MlirType inputs[2 * TP_MAX_SORTED], i1 = mlirIntegerTypeGet(context, 1);
  MlirLocation locations[2 * TP_MAX_SORTED];
  for (int i = 0; i < 2 * n; i++) {
    inputs[i] = elements[i / 2];
    locations[i] = location;
  }
  unused_symbol(module, "tp.less", sizeof name, name);
  MlirBlock block = mlirBlockCreate(2 * n, inputs, locations);
  for (int i = 0; i < 2 * n; i++)
    made.arguments[i] = mlirBlockGetArgument(block, i);
  made.symbol = mlirFlatSymbolRefAttrGet(context, tp__ref(name));
  made.end = tp__create(&(tp_build){.name = "func.return", .location = location});
  mlirBlockAppendOwnedOperation(block, made.end);
  made.func =
      tp__create_private_func(location, name, mlirFunctionTypeGet(context, 2 * n, inputs, 1, &i1));
  tp__set(made.func, "tp.comparator", mlirUnitAttrGet(context));
  mlirRegionAppendOwnedBlock(mlirOperationGetRegion(made.func, 0), block);
  mlirBlockAppendOwnedOperation(tp__region_block(module, 0), made.func);
  return made;
}

MlirValue tp__comparator_inline(MlirOperation less, MlirOperation where,
                                const MlirValue *arguments) {
  MlirOperation copy = mlirOperationClone(less), next;
  MlirBlock body = tp__region_block(copy, 0);
  for (intptr_t i = 0; i < mlirBlockGetNumArguments(body); i++)
    mlirValueReplaceAllUsesOfWith(mlirBlockGetArgument(body, i), arguments[i]);
  MlirOperation end = mlirBlockGetTerminator(body);
  for (MlirOperation op = mlirBlockGetFirstOperation(body); !mlirOperationEqual(op, end);
       op = next) {
    next = mlirOperationGetNextInBlock(op);
    mlirOperationMoveBefore(op, where);
  }
  MlirValue result = mlirOperationGetOperand(end, 0);
  mlirOperationDestroy(copy);
  return result;
}

static bool is_declaration(MlirOperation op) {
  if (!tp__op_is(op, "func.func") || tp__is_defined_func(op) ||
      !mlirAttributeIsNull(tp__get(op, "tp.rule")))
    return false;
  MlirStringRef name = mlirStringAttrGetValue(tp__inherent(op, "sym_name"));
  size_t n = sizeof prefix - 1;
  return name.length >= n && memcmp(name.data, prefix, n) == 0 &&
         (name.length == n || name.data[n] == '.');
}

bool tp__is_sort_symbol(MlirOperation op) { return is_declaration(op) || is_comparator(op); }

/* The symbol of a declaration of this type, which is added to the module if there is none. */
static MlirAttribute declare(MlirOperation module, MlirLocation location, MlirType type) {
  MlirContext context = mlirOperationGetContext(module);
  MlirBlock block = tp__region_block(module, 0);
  char name[64];
  for (MlirOperation op = mlirBlockGetFirstOperation(block); !mlirOperationIsNull(op);
       op = mlirOperationGetNextInBlock(op))
    if (is_declaration(op) && mlirTypeEqual(tp__func_type(op), type))
      return mlirFlatSymbolRefAttrGet(context,
                                      mlirStringAttrGetValue(tp__inherent(op, "sym_name")));
  unused_symbol(module, prefix, sizeof name, name);
  mlirBlockAppendOwnedOperation(block, tp__create_private_func(location, name, type));
  return mlirFlatSymbolRefAttrGet(context, tp__ref(name));
}

static MlirType type_of(MlirContext context, int n, const MlirType *from, const MlirType *to) {
  return mlirFunctionTypeGet(context, n, from, n, to);
}

MlirOperation tp__sort_build(MlirOperation where, MlirLocation location, MlirOperation module,
                             int n, const MlirValue *operands, int dim, int64_t kept,
                             MlirAttribute less) {
  MlirContext context = mlirOperationGetContext(module);
  MlirType from[TP_MAX_SORTED], to[TP_MAX_SORTED];
  int rank;
  int64_t shape[TP_MAX_RANK];
  for (int i = 0; i < n; i++) {
    from[i] = mlirValueGetType(operands[i]);
    tp__static_tensor(from[i], &rank, shape);
    shape[dim] = kept;
    to[i] = tp__tensor_like(from[i], rank, shape);
  }
  MlirNamedAttribute fields[] = {
      tp__named(context, "dim", tp__attr_i64(context, dim)),
      tp__named(context, "less", less),
  };
  MlirNamedAttribute attrs[] = {
      tp__named(context, "callee", declare(module, location, type_of(context, n, from, to))),
      tp__named(context, prefix, mlirDictionaryAttrGet(context, TP_LEN(fields), fields)),
  };
  MlirOperation op = tp__create(&(tp_build){.name = "func.call",
                                            .location = location,
                                            .n_operands = n,
                                            .operands = operands,
                                            .n_results = n,
                                            .results = to,
                                            .n_attributes = TP_LEN(attrs),
                                            .attributes = attrs});
  tp__insert_before(where, op);
  return op;
}

void tp__sort_redeclare(MlirOperation module, MlirOperation op) {
  MlirType from[TP_MAX_SORTED], to[TP_MAX_SORTED];
  int n = (int)mlirOperationGetNumOperands(op);
  for (int i = 0; i < n; i++) {
    from[i] = mlirValueGetType(mlirOperationGetOperand(op, i));
    to[i] = mlirValueGetType(mlirOperationGetResult(op, i));
  }
  MlirType type = type_of(mlirOperationGetContext(op), n, from, to);
  mlirOperationSetInherentAttributeByName(op, tp__ref("callee"),
                                          declare(module, mlirOperationGetLocation(op), type));
}
