/* Program tables as a compiler would write them. */
#ifndef TPRT_TEST_TABLE_H
#define TPRT_TEST_TABLE_H

#include "tprt/abi.h"

typedef struct test_table {
  int64_t *words;
  size_t n_words;
} test_table;

/* A program without sites. */
test_table table_make(int n_axes, const int64_t *sizes);
/* Appends a site and returns it, to be filled in further; extra data are copied behind it. Sites
 * come before extra data in memory, so that appending moves what is there. */
int64_t *table_site(test_table *table, tprt_site_kind kind, tprt_dtype dtype,
                    tprt_reduction reduction, int n_axes, const int64_t *axes, int n_dims,
                    const int64_t *shape, const int64_t *extra, size_t n_extra);
int64_t *table_contract(test_table *table, tprt_dtype dtype, int n_loops, const int64_t *words);
void table_free(test_table *table);

/* The checks of tables refuse a right one with `value` at `word`, and say `text`. Else false, with
 * what they say on stderr. */
bool table_refused(test_table *table, size_t word, int64_t value, const char *text);

#endif
