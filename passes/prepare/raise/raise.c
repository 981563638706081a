/* tp-raise: rewrites ops that hide structure from the planner into forms that show it.
 *
 * The first sweep is in program order, so that producers are raised before consumers: fills, names
 * of loops, concatenations, iota operands, captured reads with the index arithmetic that depends on
 * them, and lookups; then sums of pads, and ops on joined dimensions. The next sweeps are in
 * reverse order, so that consumers are gone before producers: unused results and unused inits. The
 * last sweeps add ops: results that let the parts of a reduction be combined, and slices for single
 * elements that are read or written. At the end, sorts are made to return only the elements that
 * are used. */
#include "passes/prepare/raise/raise.h"
#include "passes/registry.h"

#include "ir/annotation.h"
#include "ir/diagnostics.h"
#include "support/support.h"

/* Collects linalg ops on tensors, except those inside the body of another linalg op. */
static tp_status collect(MlirOperation op, void *data) {
  tp_op_list *list = data;
  if (!tp__op_has_dialect(op, "linalg") || mlirOperationGetNumRegions(op) != 1 ||
      mlirOperationGetNumResults(op) == 0)
    return TP_OK;
  for (MlirOperation up = mlirOperationGetParentOperation(op); !mlirOperationIsNull(up);
       up = mlirOperationGetParentOperation(up))
    if (tp__op_has_dialect(up, "linalg"))
      return TP_OK;
  return tp__op_list_add(list, op);
}

static void raise_values(tp__raise *raise, MlirOperation op) {
  tp__generic generic;
  if (tp__raise_fill(raise, op) || !tp__generic_read(op, &generic))
    return;
  tp__raise_loops(raise, &generic);
  if (tp__raise_concat(raise, &generic))
    return;
  bool changed = true;
  while (changed) {
    /* each round removes an operand or an op of the body, or turns a read into an operand */
    changed = tp__raise_iota(raise, &generic);
    changed |= tp__raise_fold(raise, &generic);
    changed |= tp__raise_reads(raise, &generic);
    changed |= tp__raise_lookups(raise, &generic);
  }
}

/* Collects ops on tensors of linalg, arith and math, except those inside of bodies. */
static tp_status collect_all(MlirOperation op, void *data) {
  bool is_map = (tp__op_has_dialect(op, "arith") || tp__op_has_dialect(op, "math")) &&
                mlirOperationGetNumResults(op) == 1 &&
                tp__is_tensor(mlirValueGetType(mlirOperationGetResult(op, 0)));
  return is_map ? tp__op_list_add(data, op) : collect(op, data);
}

/* Loads an op ahead of the visit. It may be gone by then, so its body is not loaded. */
static void prefetch(const tp_op_list *list, size_t i, bool backward) {
  enum { FAR = 10 };
  if (i + FAR < list->n)
    tp__prefetch_op(list->items[backward ? list->n - 1 - (i + FAR) : i + FAR], false);
}

/* Runs `visit` on the collected ops in program order, or in reverse order if `backward`. */
static tp_status for_all(tp_pass *pass, tp__raise *raise, tp_visit of, bool backward,
                         void (*visit)(tp__raise *, MlirOperation)) {
  tp_op_list list = {0};
  tp_status status = tp__walk(pass->module, of, &list);
  for (size_t i = 0; i < list.n && status == TP_OK; i++) {
    MlirOperation op = list.items[backward ? list.n - 1 - i : i];
    prefetch(&list, i, backward);
    if (tp__table_get(&raise->gone, op.ptr) < 0)
      visit(raise, op);
    status = raise->status;
  }
  tp__free(list.items);
  tp__table_destroy(&raise->gone); /* ops created later may reuse these addresses */
  raise->gone = (tp_value_table){0};
  tp__table_destroy(&raise->joined);
  return status;
}

static void raise_results(tp__raise *raise, MlirOperation op) {
  tp__generic generic;
  if (tp__generic_read(op, &generic))
    tp__raise_results(raise, &generic);
}

static void raise_picks(tp__raise *raise, MlirOperation op) {
  tp__generic generic;
  if (tp__generic_read(op, &generic))
    tp__raise_arg_reductions(raise, &generic);
}

static tp_status run(tp_pass *pass) {
  tp__raise raise = {.statistics = pass->statistics,
                     .parallel = tp__parse_attr(pass->context, "#linalg.iterator_type<parallel>"),
                     .reduction =
                         tp__parse_attr(pass->context, "#linalg.iterator_type<reduction>")};
  tp_status status = for_all(pass, &raise, collect, false, raise_values);
  if (status == TP_OK)
    status = for_all(pass, &raise, collect_all, false, tp__raise_padded_sum);
  /* a per-device program has its layouts, and collectives where they were planned */
  if (status == TP_OK && !tp__is_local(pass->module))
    status = for_all(pass, &raise, collect_all, false, tp__raise_joined);
  if (status == TP_OK)
    status = for_all(pass, &raise, collect, true, raise_results);
  if (status == TP_OK)
    status = for_all(pass, &raise, collect, true, tp__raise_inits);
  if (status == TP_OK)
    status = for_all(pass, &raise, collect, true, raise_picks);
  if (status != TP_OK)
    return tp__out_of_memory(pass->module);
  TP_TRY(tp__raise_elements(&raise, pass->module));
  return tp__raise_sorts(&raise, pass->module);
}

static const tp_statistic_row statistics[] = {
    [TP_RAISED_LOOP] = {"loops", "parallel loops that became reductions"},
    [TP_RAISED_CONCAT] = {"concats", "generics that became a tensor.concat"},
    [TP_RAISED_READ] = {"reads", "reads of captured tensors that became operands"},
    [TP_RAISED_LOOKUP] = {"lookups",
                          "reads at computed indices that became a generic of their own"},
    [TP_RAISED_IOTA] = {"iotas", "iota operands that became the index of a loop"},
    [TP_RAISED_FOLD] = {"folds",
                        "selects, clamps, comparisons and asserts decided by the range of a loop"},
    [TP_RAISED_RESULT] = {"results", "unused results dropped"},
    [TP_RAISED_PICK] =
        {"picks", "max reductions with index that got a third result, the value at the index"},
    [TP_RAISED_INIT] = {"inits", "inits that nobody reads replaced by tensor.empty"},
    [TP_RAISED_ELEMENT] = {"elements", "single elements read or written that became slices"},
    [TP_RAISED_SORT] = {"sorts", "sorts that keep only the first elements of each row, as used"},
    [TP_RAISED_FILL] = {"fills", "copies of a constant number that became a linalg.fill"},
    [TP_RAISED_PADDED_SUM] = {"padded-sums", "sums of two padded slices that became a concat"},
    [TP_RAISED_JOINED] = {"joined", "ops on joined dimensions that got them apart"},
};

const tp_pass_row tp__raise_row = {
    .name = "tp-raise",
    .summary = "Rewrite concatenations, captured reads, iota operands and unused results into "
               "forms that can be planned",
    .description =
        "Requires: tensors, and no plan yet (new ops have no tp.sharding). Establishes: a parallel "
        "loop on which a result of a linalg.generic does not depend is a reduction. A "
        "linalg.generic that selects captured tensors by a loop index is a tensor.concat. What a "
        "body reads of a captured tensor at loop indices is an operand. What it reads at computed "
        "indices is an operand too: the result of a generic that yields only the read (a lookup), "
        "if the tensor of all reads is not larger than the existing ones. An operand that counts "
        "along a dimension is a linalg.index. Generics have no result that neither the program nor "
        "their other results read, except the value at the index where a max with index needs it "
        "to be split. An init that the body does not read is a tensor.empty. A tensor.extract or "
        "tensor.insert outside of bodies is a slice of one element. A sort whose results are used "
        "up to the k-th element of each row has results of k elements. An op that writes one "
        "constant number everywhere is a linalg.fill. A sum of two slices of one tensor that zeros "
        "pad to complementary parts is their tensor.concat. A product, and an elementwise op, on a "
        "dimension that was joined for it and is taken apart behind it has the dimensions apart. "
        "Values stay equal bit for bit, "
        "and what is not proven stays as it is: reads in branches keep their captured tensor. "
        "Breaks: nothing.",
    .statistics = statistics,
    .n_statistics = TP_LEN(statistics),
    .run = run,
};
