/* Lowers calls of fused functions that are attention to TPRT_SITE_FUSED_ATTENTION. */
#include "passes/lower/lower_fused.h"

#include <stddef.h>
#include <string.h>

static const char *const names[] = {"queries", "keys", "values", "mask", "position"};
static const tprt_operand inputs[] = {TPRT_IN_QUERIES, TPRT_IN_KEYS, TPRT_IN_VALUES, TPRT_IN_MASK,
                                      TPRT_IN_POSITION};
enum { TENSORS = 7, MASK = 8, POSITION = 16 /* bits of the names */ };

/* Reads the loops: the words of tprt_abi_fused_attention from `outer` to `value`. */
static tp_status read_loops(const tp__fused_call *d, tprt_abi_fused_attention *words) {
  enum {
    N_WORDS =
        (offsetof(tprt_abi_fused_attention, scale) - offsetof(tprt_abi_fused_attention, outer)) /
        sizeof(int64_t)
  };
  int64_t loops[N_WORDS];
  MlirAttribute list = tp__fused_entry(d, "loops");
  int n = mlirAttributeIsNull(list) ? -1 : tp__int_list(list, N_WORDS, loops);
  if (n != N_WORDS)
    return tp__fused_refuse(d, "loops");
  memcpy(words->outer, loops, sizeof loops);
  return TP_OK;
}

static MlirType operand_element(const tp__fused_call *d, int i) {
  return tp__element_type(mlirValueGetType(mlirOperationGetOperand(d->call, i)));
}

static tp_status read_masks(const tp__fused_call *d, int64_t bits,
                            tprt_abi_fused_attention *words) {
  static const char *const masks[] = {[TPRT_ATTENTION_NO_MASK] = "none",
                                      [TPRT_ATTENTION_KEEP] = "keep",
                                      [TPRT_ATTENTION_HIDE] = "hide",
                                      [TPRT_ATTENTION_ADD] = "add"};
  MlirAttribute causal = tp__fused_entry(d, "causal"), offset = tp__fused_entry(d, "offset");
  int last = (int)mlirOperationGetNumOperands(d->call) - 1;
  TP_TRY(tp__fused_choice(d, "mask", TP_LEN(masks), masks, &words->mask));
  if ((words->mask != TPRT_ATTENTION_NO_MASK) != ((bits & MASK) != 0))
    return tp__fused_refuse(d, "mask");
  if (mlirAttributeIsNull(causal) || !mlirAttributeIsABool(causal))
    return tp__fused_refuse(d, "causal");
  if (mlirAttributeIsNull(offset) || !mlirAttributeIsAInteger(offset))
    return tp__fused_refuse(d, "offset");
  words->causal = mlirBoolAttrGetValue(causal);
  words->offset = mlirIntegerAttrGetValueInt(offset);
  if (bits & MASK)
    words->mask_dtype = tp__runtime_dtype(operand_element(d, 3));
  if (bits & POSITION)
    words->position_dtype = tp__runtime_dtype(operand_element(d, last));
  return TP_OK;
}

tp_status tp__lower_fused_attention(tp__lowering *l, const tp__fused_call *d) {
  static const tprt_operand output = TPRT_OUT_TENSOR;
  tprt_abi_fused_attention words = {.scale = 0};
  int64_t bits, extra[sizeof words / sizeof(int64_t)];
  tprt_abi_site site;
  TP_TRY(tp__fused_bits(d, "operands", TP_LEN(names), names, &bits));
  if ((bits & TENSORS) != TENSORS || tp__n_bits(bits) != mlirOperationGetNumOperands(d->call))
    return tp__fused_refuse(d, "operands");
  TP_TRY(read_loops(d, &words));
  TP_TRY(tp__fused_float(d, "scale", &words.scale));
  TP_TRY(tp__fused_float(d, "hidden", &words.hidden));
  TP_TRY(read_masks(d, bits, &words));
  words.out_dtype =
      tp__runtime_dtype(tp__element_type(mlirValueGetType(mlirOperationGetResult(d->call, 0))));
  TP_TRY(tp__site_begin(d->call, TPRT_SITE_FUSED_ATTENTION, 0, NULL,
                        mlirValueGetType(mlirOperationGetOperand(d->call, 0)), &site));
  tprt_operand given[TP_LEN(inputs)];
  tp__fused_operands(bits, TP_LEN(inputs), inputs, given);
  memcpy(extra, &words, sizeof words);
  return tp__fused_replace(l, d, &site, TP_LEN(extra), extra, given, &output);
}
