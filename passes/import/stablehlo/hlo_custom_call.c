/* Custom calls: some targets only pass a value on; the others are refused by name. */
#include "passes/import/stablehlo/hlo.h"

#include <stdio.h>

typedef struct target {
  const char *name;
  const char *refused; /* NULL: the value is passed on */
} target;

static const char factorization[] =
    "a factorization, which no rule can shard; compute it outside of the program";

/* Prefixes of names. */
static const target targets[] = {
    {"annotate_device_placement", NULL},
    {"MoveToHost", NULL},
    {"MoveToDevice", NULL},
    {"xla.sdy.",
     "an annotation of another partitioner; export the program before XLA partitions it"},
    {"Sharding", "an annotation of GSPMD; export with Shardy (jax_use_shardy_partitioner)"},
    {"SPMDFullToShardShape", "an annotation of GSPMD; export with Shardy"},
    {"SPMDShardToFullShape", "an annotation of GSPMD; export with Shardy"},
    {"lapack_", factorization},
    {"cusolver", factorization},
    {"Qr", factorization},
    {"ProductOfElementaryHouseholderReflectors", factorization},
    {"Eigh", factorization},
    {"LuDecomposition", factorization},
    {"xla_ffi_python_cpu_callback", "a callback into Python; move it out of the function"},
    {"xla_python_cpu_callback", "a callback into Python; move it out of the function"},
    {"ducc_fft", "a Fourier transform, which has no implementation here; compute it outside"},
};

static tp_status pass_on(tp_hlo *hlo, MlirOperation op) {
  if (mlirOperationGetNumOperands(op) != 1 || mlirOperationGetNumResults(op) != 1 ||
      !mlirTypeEqual(tp__hlo_operand_type(op, 0), tp__result_type(op)))
    return tp__error(op, TP_INVALID_ARGUMENT, "needs one operand and one result of one type");
  return tp__hlo_replace(hlo, op, tp__hlo_operand(hlo, op, 0));
}

static tp_status custom_call(tp_hlo *hlo, MlirOperation op, const tp_hlo_row *row) {
  (void)row;
  MlirAttribute attr = tp__property(op, "call_target_name");
  if (mlirAttributeIsNull(attr) || !mlirAttributeIsAString(attr))
    return tp__error(op, TP_INVALID_ARGUMENT, "attribute 'call_target_name' is not a string");
  MlirStringRef name = mlirStringAttrGetValue(attr);
  for (int i = 0; i < TP_LEN(targets); i++) {
    size_t n = strlen(targets[i].name);
    if (name.length < n || memcmp(name.data, targets[i].name, n) != 0)
      continue;
    return targets[i].refused ? tp__error(op, TP_UNSUPPORTED, "calls '%.*s', %s", (int)name.length,
                                          name.data, targets[i].refused)
                              : pass_on(hlo, op);
  }
  return tp__error(op, TP_UNSUPPORTED,
                   "calls '%.*s', about which nothing is known; give it a rule in tp.rule (then it "
                   "stays, and you lower it), or compute it outside of the program",
                   (int)name.length, name.data);
}

const tp_hlo_row tp__hlo_custom_rows[] = {
    {"stablehlo.custom_call", TP_HLO_ANY, TP_HLO_ANY, TP_HLO_ANY, custom_call, NULL,
     "nothing, where the target passes its operand on; other targets are refused by name, those "
     "with "
     "a tp.rule stay"},
    {NULL},
};
