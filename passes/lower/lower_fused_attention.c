/* Lowers calls of fused functions that are attention to TPRT_SITE_FUSED_ATTENTION, and those that
 * are its gradient to TPRT_SITE_FUSED_ATTENTION_GRADIENT. */
#include "passes/lower/lower_fused.h"

#include <stddef.h>
#include <string.h>

static const char *const names[] = {"queries",  "keys",     "values", "mask", "dropout",
                                    "position", "attended", "max",    "sum",  "gradient"};
static const tprt_operand inputs[] = {
    TPRT_IN_QUERIES,  TPRT_IN_KEYS,     TPRT_IN_VALUES, TPRT_IN_MASK, TPRT_IN_DROPOUT,
    TPRT_IN_POSITION, TPRT_IN_ATTENDED, TPRT_IN_MAX,    TPRT_IN_SUM,  TPRT_IN_GRADIENT};
/* bits of the names */
enum {
  TENSORS = 7,
  MASK = 8,
  DROPOUT = 16,
  POSITION = 32,
  ATTENDED = 64,
  OPTIONS = MASK | DROPOUT | POSITION,
  GRADIENT_TENSORS = TENSORS | 15 * ATTENDED
};

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

/* The type of the elements of an operand that is there. `bits`: the operands, `operand`: its bit.
 * */
static int64_t operand_dtype(const tp__fused_call *d, int64_t bits, int64_t operand) {
  int i = tp__n_bits(bits & (operand - 1));
  return tp__runtime_dtype(tp__element_type(mlirValueGetType(mlirOperationGetOperand(d->call, i))));
}

static tp_status read_dropout(const tp__fused_call *d, int64_t bits,
                              tprt_abi_fused_attention *words) {
  static const char *const dropouts[] = {[TPRT_ATTENTION_NO_DROPOUT] = "none",
                                         [TPRT_ATTENTION_KEEP_WEIGHT] = "keep",
                                         [TPRT_ATTENTION_DROP_WEIGHT] = "drop",
                                         [TPRT_ATTENTION_MULTIPLY] = "multiply"};
  TP_TRY(tp__fused_choice(d, "dropout", TP_LEN(dropouts), dropouts, &words->dropout));
  TP_TRY(tp__fused_float(d, "dropout_scale", &words->dropout_scale));
  if ((words->dropout != TPRT_ATTENTION_NO_DROPOUT) != ((bits & DROPOUT) != 0))
    return tp__fused_refuse(d, "dropout");
  MlirAttribute zeroes = tp__fused_entry(d, "zeroes_dropped");
  if (mlirAttributeIsNull(zeroes) || !mlirAttributeIsABool(zeroes))
    return tp__fused_refuse(d, "zeroes_dropped");
  words->zeroes_dropped = mlirBoolAttrGetValue(zeroes);
  if (bits & DROPOUT)
    words->dropout_dtype = operand_dtype(d, bits, DROPOUT);
  return TP_OK;
}

static tp_status read_masks(const tp__fused_call *d, int64_t bits,
                            tprt_abi_fused_attention *words) {
  static const char *const masks[] = {[TPRT_ATTENTION_NO_MASK] = "none",
                                      [TPRT_ATTENTION_KEEP] = "keep",
                                      [TPRT_ATTENTION_HIDE] = "hide",
                                      [TPRT_ATTENTION_ADD] = "add"};
  MlirAttribute causal = tp__fused_entry(d, "causal"), offset = tp__fused_entry(d, "offset");
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
    words->mask_dtype = operand_dtype(d, bits, MASK);
  if (bits & POSITION)
    words->position_dtype = operand_dtype(d, bits, POSITION);
  return read_dropout(d, bits, words);
}

static int64_t result_dtype(const tp__fused_call *d, int i) {
  return tp__runtime_dtype(tp__element_type(mlirValueGetType(mlirOperationGetResult(d->call, i))));
}

/* Reads what an attention and its gradient share. `required`: bits of operands, beside which there
 * may be a mask, a dropout and a position. */
static tp_status read_words(const tp__fused_call *d, int64_t required, int64_t *bits,
                            tprt_abi_fused_attention *words) {
  *words = (tprt_abi_fused_attention){.scale = 0};
  TP_TRY(tp__fused_bits(d, "operands", TP_LEN(names), names, bits));
  if ((*bits & ~OPTIONS) != required || tp__n_bits(*bits) != mlirOperationGetNumOperands(d->call))
    return tp__fused_refuse(d, "operands");
  TP_TRY(read_loops(d, words));
  TP_TRY(tp__fused_float(d, "scale", &words->scale));
  TP_TRY(tp__fused_float(d, "hidden", &words->hidden));
  TP_TRY(tp__fused_float(d, "cap", &words->cap));
  return read_masks(d, *bits, words);
}

static tp_status lower(tp__lowering *l, const tp__fused_call *d, tprt_site_kind kind, int64_t bits,
                       const tprt_abi_fused_attention *words, const tprt_operand *outputs) {
  int64_t extra[sizeof *words / sizeof(int64_t)];
  tprt_abi_site site;
  tprt_operand given[TP_LEN(inputs)];
  TP_TRY(tp__site_begin(d->call, kind, 0, NULL,
                        mlirValueGetType(mlirOperationGetOperand(d->call, 0)), &site));
  tp__fused_operands(bits, TP_LEN(inputs), inputs, given);
  memcpy(extra, words, sizeof *words);
  return tp__fused_replace(l, d, &site, TP_LEN(extra), extra, given, outputs);
}

tp_status tp__lower_fused_attention(tp__lowering *l, const tp__fused_call *d) {
  static const tprt_operand outputs[] = {TPRT_OUT_TENSOR, TPRT_OUT_MAX, TPRT_OUT_SUM};
  tprt_abi_fused_attention words;
  intptr_t n = mlirOperationGetNumResults(d->call);
  int64_t bits;
  TP_TRY(read_words(d, TENSORS, &bits, &words));
  if (n != 1 && n != TP_LEN(outputs))
    return tp__fused_refuse(d, "results");
  MlirAttribute zeroes = tp__fused_entry(d, "zeroes_hidden");
  if (mlirAttributeIsNull(zeroes) || !mlirAttributeIsABool(zeroes))
    return tp__fused_refuse(d, "zeroes_hidden");
  words.zeroes_hidden = mlirBoolAttrGetValue(zeroes);
  words.out_dtype = result_dtype(d, 0);
  return lower(l, d, TPRT_SITE_FUSED_ATTENTION, bits, &words, outputs);
}

tp_status tp__lower_fused_attention_gradient(tp__lowering *l, const tp__fused_call *d) {
  static const tprt_operand outputs[] = {TPRT_OUT_GRADIENT_QUERIES, TPRT_OUT_GRADIENT_KEYS,
                                         TPRT_OUT_GRADIENT_VALUES, TPRT_OUT_WORKSPACE};
  tprt_abi_fused_attention words;
  int64_t bits;
  TP_TRY(read_words(d, GRADIENT_TENSORS, &bits, &words));
  MlirAttribute passes = tp__fused_entry(d, "passes_hidden");
  if (mlirAttributeIsNull(passes) || !mlirAttributeIsABool(passes))
    return tp__fused_refuse(d, "passes_hidden");
  if (mlirOperationGetNumResults(d->call) != TP_LEN(outputs))
    return tp__fused_refuse(d, "results");
  words.passes_hidden = mlirBoolAttrGetValue(passes);
  words.out_dtype = operand_dtype(d, bits, ATTENDED);
  for (int i = 0; i < 3; i++)
    words.gradient_dtypes[i] = result_dtype(d, i);
  return lower(l, d, TPRT_SITE_FUSED_ATTENTION_GRADIENT, bits, &words, outputs);
}
