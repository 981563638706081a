/* Custom calls: some targets only pass a value on; the others are refused by name. */
#include "passes/import/python_call.h"
#include "passes/import/stablehlo/hlo.h"

typedef enum fate { PASSED_ON, TOP_K, REFUSED, KEPT } fate;

/* KEPT: refused, unless unknown ops are kept. */
typedef struct target {
  const char *name;
  fate fate;
  const char *why;
} target;

static const char factorization[] =
    "a factorization, which has no implementation here; compute it outside of the program";

/* Prefixes of names. The last row matches all names. */
static const target targets[] = {
    {"annotate_device_placement", PASSED_ON, NULL},
    {"MoveToHost", PASSED_ON, NULL},
    {"MoveToDevice", PASSED_ON, NULL},
    {"ApproxTopK", TOP_K, NULL},
    {"xla.sdy.", REFUSED,
     "an annotation of another partitioner; export the program before XLA partitions it"},
    {"Sharding", REFUSED,
     "an annotation of GSPMD; export with Shardy (jax_use_shardy_partitioner)"},
    {"SPMDFullToShardShape", REFUSED, "an annotation of GSPMD; export with Shardy"},
    {"SPMDShardToFullShape", REFUSED, "an annotation of GSPMD; export with Shardy"},
    {"lapack_", KEPT, factorization},
    {"cusolver", KEPT, factorization},
    {"Qr", KEPT, factorization},
    {"ProductOfElementaryHouseholderReflectors", KEPT, factorization},
    {"Eigh", KEPT, factorization},
    {"LuDecomposition", KEPT, factorization},
    {"ducc_fft", KEPT, "a Fourier transform, which has no implementation here; compute it outside"},
    {"", KEPT,
     "about which nothing is known; give it a rule, by sdy.sharding_rule or tp.rule, or compute it "
     "outside of the program"},
};

static tp_status find_target(MlirOperation op, MlirStringRef *name, const target **found) {
  MlirAttribute attr = tp__property(op, "call_target_name");
  if (mlirAttributeIsNull(attr) || !mlirAttributeIsAString(attr))
    return tp__error(op, TP_INVALID_ARGUMENT, "attribute 'call_target_name' is not a string");
  if (tp__is_python_call(op))
    return tp__refuse_python_call(op);
  *name = mlirStringAttrGetValue(attr);
  for (*found = targets;; (*found)++) {
    size_t n = strlen((*found)->name);
    if (name->length >= n && memcmp(name->data, (*found)->name, n) == 0)
      return TP_OK;
  }
}

static tp_status pass_on(tp_hlo *hlo, MlirOperation op) {
  if (mlirOperationGetNumOperands(op) != 1 || mlirOperationGetNumResults(op) != 1 ||
      !mlirTypeEqual(tp__hlo_operand_type(op, 0), tp__result_type(op)))
    return tp__error(op, TP_INVALID_ARGUMENT, "needs one operand and one result of one type");
  return tp__hlo_replace(hlo, op, tp__hlo_operand(hlo, op, 0));
}

static tp_status refuse(MlirOperation op, MlirStringRef name, const target *found) {
  return tp__error(op, TP_UNSUPPORTED, "calls '%.*s', %s%s", (int)name.length, name.data,
                   found->why, found->fate == KEPT ? TP_HLO_OR_KEEP : "");
}

static tp_status custom_call(tp_hlo *hlo, MlirOperation op, const tp_hlo_row *row) {
  MlirStringRef name;
  const target *found;
  (void)row;
  TP_TRY(find_target(op, &name, &found));
  if (found->fate == TOP_K)
    return tp__hlo_approximate_top_k(hlo, op);
  return found->fate == PASSED_ON ? pass_on(hlo, op) : refuse(op, name, found);
}

tp_status tp__hlo_check_custom_call(MlirOperation op, bool *is_kept) {
  MlirStringRef name;
  const target *found;
  TP_TRY(find_target(op, &name, &found));
  *is_kept = found->fate == KEPT;
  return found->fate == REFUSED ? refuse(op, name, found) : TP_OK;
}

const tp_hlo_row tp__hlo_custom_rows[] = {
    {"stablehlo.custom_call", TP_HLO_ANY, TP_HLO_ANY, TP_HLO_ANY, custom_call, NULL,
     "nothing, where the target passes its operand on; func.call with tp.sort for ApproxTopK, "
     "whose "
     "results are exact; stays where it has an sdy.sharding_rule or "
     "a tp.rule; other targets are refused by name"},
    {NULL},
};
