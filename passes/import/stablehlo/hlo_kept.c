/* Ops that stay: those with a rule, and, if the user asks for it, those without a translation.
 * tp-export-stablehlo writes them as they were. */
#include "passes/import/stablehlo/hlo.h"

#include "ir/diagnostics.h"
#include "support/support.h"

/* ---- regions ---- */

/* True if `value` is made in a region of `op`. */
static bool is_inside(MlirOperation op, MlirValue value) {
  MlirOperation around = mlirBlockGetParentOperation(tp__block_of(value));
  for (; !mlirOperationIsNull(around); around = mlirOperationGetParentOperation(around))
    if (mlirOperationEqual(around, op))
      return true;
  return false;
}

static tp_status check_inside(MlirOperation inner, void *data) {
  MlirOperation op = *(MlirOperation *)data;
  for (intptr_t i = 0; i < mlirOperationGetNumOperands(inner); i++)
    if (!is_inside(op, mlirOperationGetOperand(inner, i)))
      return tp__error(op, TP_UNSUPPORTED,
                       "cannot stay as it is: its region uses a value from outside; pass the value "
                       "as an operand");
  return TP_OK;
}

/* Moves the regions into the text tp.regions, so that no pass converts or splits what is in them.
 * They stay as empty regions. */
static tp_status set_aside_regions(tp_hlo *hlo, MlirOperation op) {
  int n = (int)mlirOperationGetNumRegions(op);
  tp__string text = {0};
  if (n == 0)
    return TP_OK;
  TP_TRY(tp__walk(op, check_inside, &op));
  MlirOperation holder = tp__create(
      &(tp_build){.name = "tp.regions", .location = mlirOperationGetLocation(op), .n_regions = n});
  for (int r = 0; r < n; r++)
    mlirRegionTakeBody(mlirOperationGetRegion(holder, r), mlirOperationGetRegion(op, r));
  MlirOpPrintingFlags flags = mlirOpPrintingFlagsCreate();
  mlirOpPrintingFlagsPrintGenericOpForm(flags);
  mlirOpPrintingFlagsUseLocalScope(flags);
  mlirOperationPrintWithFlags(holder, flags, tp__append_part, &text);
  mlirOpPrintingFlagsDestroy(flags);
  mlirOperationDestroy(holder);
  tp_status status = text.failed ? tp__out_of_memory(op) : TP_OK;
  if (status == TP_OK)
    tp__set(op, "tp.regions", tp__attr_string(hlo->context, text.text));
  tp__string_destroy(&text);
  return status;
}

/* ---- types and rules ---- */

static MlirType type_of(MlirOperation op, int i) {
  int n = (int)mlirOperationGetNumOperands(op);
  return i < n ? tp__hlo_operand_type(op, i) : mlirValueGetType(mlirOperationGetResult(op, i - n));
}

static int n_values(MlirOperation op) {
  return (int)(mlirOperationGetNumOperands(op) + mlirOperationGetNumResults(op));
}

/* Numbers the operands and results of unsigned types, which become types without sign. */
static tp_status note_unsigned(tp_hlo *hlo, MlirOperation op) {
  tp_hlo plain = {0};
  int n = 0;
  int64_t *numbers = tp__calloc((size_t)n_values(op) + 1, sizeof *numbers);
  if (!numbers)
    return tp__out_of_memory(op);
  for (int i = 0; i < n_values(op); i++)
    if (!mlirTypeEqual(tp__hlo_type(&plain, type_of(op, i)), type_of(op, i)))
      numbers[n++] = i;
  if (n > 0)
    tp__set(op, "tp.unsigned", tp__attr_i64s(hlo->context, n, numbers));
  tp__free(numbers);
  return TP_OK;
}

/* The number of leading dimensions of all operands and results that are a batch. Its members are
 * computed independently, whatever they are, so that padding does no harm. */
static tp_status batch_dims(MlirOperation op, int *n) {
  int64_t lengths[TP_MAX_RANK];
  int n_lengths;
  *n = 0;
  if (mlirOperationGetNumOperands(op) == 0)
    return TP_OK;
  tp_hlo_shape shape = tp__hlo_shape(tp__hlo_operand_type(op, 0));
  if (tp__hlo_elements(&shape) == 0)
    return TP_OK;
  if (tp__op_is(op, "stablehlo.cholesky") || tp__op_is(op, "stablehlo.triangular_solve"))
    *n = shape.rank - 2;
  if (!tp__op_is(op, "stablehlo.fft"))
    return TP_OK;
  TP_TRY(tp__hlo_int_list(op, "fft_length", TP_MAX_RANK, &n_lengths, lengths));
  *n = n_lengths > 0 ? shape.rank - n_lengths : 0;
  return TP_OK;
}

/* A rule that splits the first n_batch dimensions and no others. */
static tp_status set_rule(tp_hlo *hlo, MlirOperation op, int n_batch) {
  tp__string text = {0};
  int n = (int)mlirOperationGetNumOperands(op);
  tp__string_append(&text, n == 0 ? "()->(" : "(");
  for (int i = 0; i < n_values(op); i++) {
    tp__string_append(&text, i == 0 ? "[" : i == n ? ")->([" : ",[");
    for (int d = 0; d < tp__hlo_shape(type_of(op, i)).rank; d++)
      tp__string_printf(&text, "%s%c", d ? "," : "", d < n_batch ? 'i' + d : '_');
    tp__string_append(&text, "]");
  }
  tp__string_append(&text, n > 0 && n == n_values(op) ? ")->()" : ")");
  for (int d = 0; d < n_batch; d++)
    tp__string_printf(&text, "%s%c%s", d ? "," : " uneven={", 'i' + d, d + 1 < n_batch ? "" : "}");
  tp_status status = text.failed ? tp__out_of_memory(op) : TP_OK;
  if (status == TP_OK)
    tp__set(op, "tp.rule", tp__attr_string(hlo->context, text.text));
  tp__string_destroy(&text);
  return status;
}

/* ---- the decision ---- */

/* Only ops that are refused, or unknown, have no translation. That of a Fourier transform is not
 * wanted in an export, as XLA has a faster one. */
static tp_status is_unknown(MlirOperation op, bool *unknown) {
  const tp_hlo_row *row = tp__hlo_row(op);
  *unknown = !row || (!row->convert && row->detail) || tp__op_is(op, "stablehlo.fft");
  return tp__op_is(op, "stablehlo.custom_call") ? tp__hlo_check_custom_call(op, unknown) : TP_OK;
}

static tp_status keep_unknown(tp_hlo *hlo, MlirOperation op) {
  int n_batch;
  TP_TRY(tp__hlo_not_in_body(hlo, op));
  TP_TRY(tp__hlo_check_values(op));
  TP_TRY(batch_dims(op, &n_batch));
  TP_TRY(set_aside_regions(hlo, op));
  const char *why = tp__op_is(op, "stablehlo.fft") ? "" : "has no translation and ";
  if (n_batch > 0)
    tp__remark(op,
               "%sstays as it is: it can be split along its batch alone (%d dimension%s), and only "
               "an export to StableHLO can contain it",
               why, n_batch, n_batch > 1 ? "s" : "");
  else
    tp__remark(op,
               "%sstays as it is: every device runs it on whole tensors, and only an export to "
               "StableHLO can contain it",
               why);
  return set_rule(hlo, op, n_batch);
}

tp_status tp__hlo_keep(tp_hlo *hlo, MlirOperation op, bool *stays) {
  bool has_rule = !mlirAttributeIsNull(tp__get(op, "tp.rule")), unknown = false;
  *stays = has_rule;
  if (has_rule || hlo->keeps_unknown)
    TP_TRY(is_unknown(op, &unknown));
  if (!has_rule && hlo->keeps_unknown && unknown) {
    TP_TRY(keep_unknown(hlo, op));
    *stays = true;
  }
  return *stays ? note_unsigned(hlo, op) : TP_OK;
}
