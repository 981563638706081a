/* Builds program tables. */
#include "table.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

test_table table_make(int n_axes, const int64_t *sizes) {
  test_table made = {.words = calloc(TPRT_ABI_HEADER_WORDS, sizeof(int64_t)),
                     .n_words = TPRT_ABI_HEADER_WORDS};
  made.words[0] = TPRT_ABI_MAGIC;
  made.words[1] = TPRT_ABI_VERSION;
  made.words[2] = TPRT_ABI_HEADER_WORDS;
  made.words[3] = n_axes;
  for (int i = 0; i < TPRT_MAX_AXES; i++)
    made.words[4 + i] = i < n_axes ? sizes[i] : 1;
  made.words[15] = TPRT_ABI_HEADER_WORDS;
  return made;
}

int64_t *table_site(test_table *table, tprt_site_kind kind, tprt_dtype dtype,
                    tprt_reduction reduction, int n_axes, const int64_t *axes, int n_dims,
                    const int64_t *shape, const int64_t *extra, size_t n_extra) {
  size_t end_of_sites = TPRT_ABI_HEADER_WORDS + (size_t)table->words[14] * TPRT_SITE_WORDS;
  size_t n_words = table->n_words + TPRT_SITE_WORDS + n_extra;
  int64_t *words = calloc(n_words, sizeof *words);
  memcpy(words, table->words, end_of_sites * sizeof *words);
  memcpy(words + end_of_sites + TPRT_SITE_WORDS, table->words + end_of_sites,
         (table->n_words - end_of_sites) * sizeof *words);
  for (int64_t i = 0; i < words[14]; i++) {
    int64_t *offset = words + TPRT_ABI_HEADER_WORDS + i * TPRT_SITE_WORDS + 30;
    if (*offset)
      *offset += TPRT_SITE_WORDS;
  }
  int64_t *site = words + end_of_sites;
  site[0] = kind;
  site[1] = dtype;
  site[2] = reduction;
  site[3] = n_axes;
  for (int i = 0; i < n_axes; i++)
    site[4 + i] = axes[i];
  site[12] = n_dims;
  for (int i = 0; i < n_dims; i++)
    site[13 + i] = shape[i];
  if (n_extra) {
    size_t at = n_words - n_extra;
    memcpy(words + at, extra, n_extra * sizeof *words);
    site[30] = (int64_t)at;
    site[31] = (int64_t)n_extra;
  }
  words[14]++;
  words[2] = (int64_t)n_words;
  free(table->words);
  table->words = words;
  table->n_words = n_words;
  return site;
}

int64_t *table_contract(test_table *table, tprt_dtype dtype, int n_loops, const int64_t *words) {
  int64_t extra[64] = {n_loops};
  memcpy(extra + 1, words, (size_t)n_loops * 4 * sizeof *extra);
  return table_site(table, TPRT_SITE_CONTRACT, dtype, TPRT_NO_REDUCTION, 0, NULL, 0, NULL, extra,
                    1 + 4 * (size_t)n_loops);
}

void table_free(test_table *table) { free(table->words); }

bool table_refused(test_table *table, size_t word, int64_t value, const char *text) {
  int64_t right = table->words[word];
  bool is_right = tprt_abi_check(table->words, table->n_words) == TPRT_OK;
  table->words[word] = value;
  bool refused = is_right &&
                 tprt_abi_check(table->words, table->n_words) == TPRT_INVALID_ARGUMENT &&
                 strstr(tprt_last_error(), text);
  table->words[word] = right;
  if (!refused)
    fprintf(stderr, "word %zu: \"%s\" does not say \"%s\"\n", word,
            is_right ? tprt_last_error() : "the table is not right", text);
  return refused;
}
