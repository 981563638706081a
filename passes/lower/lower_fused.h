/* Functions shared by the files that lower calls of functions with tp.fused: they read the tp.fused
 * dictionary. All of them reject contents that tp-fuse-collectives and tp-fuse-epilogues do not
 * write. */
#ifndef TP_PASSES_LOWER_FUSED_H
#define TP_PASSES_LOWER_FUSED_H

#include "passes/support/lower.h"

typedef struct tp__fused_call {
  MlirOperation call, callee;
  MlirAttribute fused;
} tp__fused_call;

/* Returns an entry of the tp.fused dictionary; null if it is missing. */
MlirAttribute tp__fused_entry(const tp__fused_call *d, const char *name);
/* Reports an invalid entry; returns the error. */
tp_status tp__fused_refuse(const tp__fused_call *d, const char *entry);
/* Reads a string entry as its index in `names`. */
tp_status tp__fused_choice(const tp__fused_call *d, const char *entry, int n,
                           const char *const *names, int64_t *choice);
/* Reads a list of strings as a bit set: bit i stands for names[i]. The list must be ordered like
 * `names`. */
tp_status tp__fused_bits(const tp__fused_call *d, const char *entry, int n,
                         const char *const *names, int64_t *bits);
int tp__n_bits(int64_t bits);
/* Reads a float entry as the bits of an f32. The sign is not checked here. */
tp_status tp__fused_float(const tp__fused_call *d, const char *entry, int64_t *word);
/* Reads the entry "axes" as indices of mesh axes. */
tp_status tp__fused_mesh_axes(const tp__fused_call *d, const tp_mesh *mesh, int *n, int *axes);
/* Reads a matmul of operands 0 and 1: the type of its result, k, and whether the right factor is
 * transposed. */
tp_status tp__fused_matmul(const tp__fused_call *d, MlirType *type, int64_t *k,
                           int64_t *transposed);

/* As tp__fused_call_site; refuses a call with too many operands or results. */
tp_status tp__fused_replace(tp__lowering *l, const tp__fused_call *d, const tprt_abi_site *site,
                            int n_extra, int64_t *extra, const tprt_operand *input_of,
                            const tprt_operand *output_of);
/* Expands a bit set to a list of operand roles: bit i stands for table[i]. */
void tp__fused_operands(int64_t bits, int n, const tprt_operand *table, tprt_operand *operands);

/* Each function replaces the call by a runtime call. */
tp_status tp__lower_fused_rows(tp__lowering *l, const tp__fused_call *d);
tp_status tp__lower_fused_gather(tp__lowering *l, const tp__fused_call *d);
tp_status tp__lower_fused_softmax(tp__lowering *l, const tp__fused_call *d);
/* Products with an epilogue: the first of n calls, at most TP_PRODUCTS_AHEAD, and those of the
 * others that may run beside it, whose entries become null. */
enum { TP_PRODUCTS_AHEAD = 16 };
tp_status tp__lower_fused_epilogue(tp__lowering *l, int n, const tp__fused_call *calls,
                                   MlirOperation *const *entries);
tp_status tp__lower_fused_attention(tp__lowering *l, const tp__fused_call *d);
tp_status tp__lower_fused_attention_gradient(tp__lowering *l, const tp__fused_call *d);

#endif
