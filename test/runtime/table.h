/* Program tables like those a compiler generates. */
#ifndef TPRT_TEST_TABLE_H
#define TPRT_TEST_TABLE_H

#include "tprt/abi.h"

typedef struct test_table {
  int64_t *words;
  size_t n_words;
} test_table;

/* Creates a program without sites. */
test_table table_make(int n_axes, const int64_t *sizes);
/* Appends a site and returns it, to be completed by the caller; its extra data are copied to the
 * end. Sites come before extra data in memory, so appending moves existing data. */
int64_t *table_site(test_table *table, tprt_site_kind kind, tprt_dtype dtype,
                    tprt_reduction reduction, int n_axes, const int64_t *axes, int n_dims,
                    const int64_t *shape, const int64_t *extra, size_t n_extra);
int64_t *table_contract(test_table *table, tprt_dtype dtype, int n_loops, const int64_t *words);
void table_free(test_table *table);

/* Returns true if a valid table with `value` at `word` is rejected with the message `text`. Else
 * false, and the actual message is on stderr. */
bool table_refused(test_table *table, size_t word, int64_t value, const char *text);

#endif
