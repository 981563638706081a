/* What the files that lower calls of functions with tp.fused share: reading of the description. All
 * refuse what tp-fuse-... does not write. */
#ifndef TP_PASSES_LOWER_FUSED_H
#define TP_PASSES_LOWER_FUSED_H

#include "passes/support/lower.h"

typedef struct tp__fused_call {
  MlirOperation call, callee;
  MlirAttribute fused;
} tp__fused_call;

/* An entry of the description; null: it has none. */
MlirAttribute tp__fused_entry(const tp__fused_call *d, const char *name);
/* Which of the names an attribute is; -1: none. */
int tp__fused_text(MlirAttribute attr, int n, const char *const *names);
/* The error of an entry that is wrong. */
tp_status tp__fused_refuse(const tp__fused_call *d, const char *entry);
/* The number of the text that an entry is. */
tp_status tp__fused_choice(const tp__fused_call *d, const char *entry, int n,
                           const char *const *names, int64_t *choice);
/* Which of `names` a list has, in this order, as bits. */
tp_status tp__fused_bits(const tp__fused_call *d, const char *entry, int n,
                         const char *const *names, int64_t *bits);
int tp__n_bits(int64_t bits);
/* The bits of an f32 that is no less than 0. */
tp_status tp__fused_float(const tp__fused_call *d, const char *entry, int64_t *word);
/* Of the mesh. */
tp_status tp__fused_mesh_axes(const tp__fused_call *d, const tp_mesh *mesh, int *n, int *axes);
/* Of a product of operands 0 and 1: the type of its rows, k, and whether the right factor is stored
 * the other way round. */
tp_status tp__fused_product(const tp__fused_call *d, MlirType *type, int64_t *k,
                            int64_t *transposed);

/* Replaces the call by one of the runtime, to fused site `site` with n_extra words of extra data.
 * These begin with tprt_abi_operands, which this fills in: input_of and output_of say what each
 * operand and result of the call is. */
tp_status tp__fused_replace(tp__lowering *l, const tp__fused_call *d, const tprt_abi_site *site,
                            int n_extra, int64_t *extra, const tprt_operand *input_of,
                            const tprt_operand *output_of);
/* The kinds of operands that `bits` has, of a table by bit. */
void tp__fused_operands(int64_t bits, int n, const tprt_operand *table, tprt_operand *operands);

/* Each replaces the call by one of the runtime. */
tp_status tp__lower_fused_rows(tp__lowering *l, const tp__fused_call *d);
tp_status tp__lower_fused_gather(tp__lowering *l, const tp__fused_call *d);
tp_status tp__lower_fused_softmax(tp__lowering *l, const tp__fused_call *d);
tp_status tp__lower_fused_epilogue(tp__lowering *l, const tp__fused_call *d);

#endif
