/* Program tables for tests, like those that the compiler generates. */
#ifndef TPRT_TEST_TABLE_H
#define TPRT_TEST_TABLE_H

#include "tprt/abi.h"

#include <stddef.h>

typedef struct test_table {
  int64_t *words;
  size_t n_words;
} test_table;

/* Word offsets in the table of a program with one site. */
#define TABLE_WORD(type, member) (offsetof(type, member) / sizeof(int64_t))
#define HEADER_WORD(member) TABLE_WORD(tprt_abi_header, member)
#define SITE_WORD(member) (TPRT_ABI_HEADER_WORDS + TABLE_WORD(tprt_abi_site, member))
#define EXTRA_WORD(type, member) (SITE_WORD(kind) + TPRT_SITE_WORDS + TABLE_WORD(type, member))
#define N_WORDS_OF(type) (sizeof(type) / sizeof(int64_t))

/* Creates the table of a program without sites. Free it with table_free. */
test_table table_make(int n_axes, const int64_t *sizes);
tprt_abi_header *table_header(const test_table *table);
/* Appends a site and returns it, so that the caller can fill in more members. The extra data are
 * copied behind all sites. Appending moves the table: pointers to its sites become invalid. */
tprt_abi_site *table_site(test_table *table, tprt_site_kind kind, tprt_dtype dtype,
                          tprt_reduction reduction, int n_axes, const int64_t *axes, int n_dims,
                          const int64_t *shape, const void *extra, size_t n_extra);
tprt_abi_site *table_contract(test_table *table, tprt_dtype dtype, int n_loops,
                              const int64_t *words);
void table_free(test_table *table);

/* Returns true if the valid table is rejected with the message `text` when word `word` is set to
 * `value`. Otherwise returns false and prints the actual message to stderr. The table is
 * restored. */
bool table_refused(test_table *table, size_t word, int64_t value, const char *text);

/* Appends an operand to a list. */
void add_input(tprt_abi_operands *operands, tprt_operand input);
void add_output(tprt_abi_operands *operands, tprt_operand output);

/* Pointers by operand role. The second index counts operands that a site has more than once. */
typedef struct fused_pointers {
  void *of[TPRT_N_OPERANDS][TPRT_MAX_MATMULS];
} fused_pointers;

/* Calls a fused site with the pointers of its operands, in the site's order. */
int32_t call_fused(tprt_context *context, int32_t site, const tprt_abi_operands *operands,
                   const fused_pointers *pointers);

#endif
