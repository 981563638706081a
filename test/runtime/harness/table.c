/* Builds program tables for tests, and calls fused sites with them. */
#include "table.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

test_table table_make(int n_axes, const int64_t *sizes) {
  test_table made = {.words = calloc(TPRT_ABI_HEADER_WORDS, sizeof(int64_t)),
                     .n_words = TPRT_ABI_HEADER_WORDS};
  tprt_abi_header *header = table_header(&made);
  *header = (tprt_abi_header){.magic = TPRT_ABI_MAGIC,
                              .version = TPRT_ABI_VERSION,
                              .n_words = TPRT_ABI_HEADER_WORDS,
                              .n_axes = n_axes,
                              .first_site = TPRT_ABI_HEADER_WORDS};
  for (int i = 0; i < TPRT_MAX_AXES; i++)
    header->sizes[i] = i < n_axes ? sizes[i] : 1;
  return made;
}

tprt_abi_header *table_header(const test_table *table) { return (void *)table->words; }

tprt_abi_site *table_site(test_table *table, tprt_site_kind kind, tprt_dtype dtype,
                          tprt_reduction reduction, int n_axes, const int64_t *axes, int n_dims,
                          const int64_t *shape, const void *extra, size_t n_extra) {
  int64_t n_sites = table_header(table)->n_sites;
  size_t end_of_sites = TPRT_ABI_HEADER_WORDS + (size_t)n_sites * TPRT_SITE_WORDS;
  size_t n_words = table->n_words + TPRT_SITE_WORDS + n_extra;
  test_table made = {.words = calloc(n_words, sizeof *made.words), .n_words = n_words};
  memcpy(made.words, table->words, end_of_sites * sizeof *made.words);
  memcpy(made.words + end_of_sites + TPRT_SITE_WORDS, table->words + end_of_sites,
         (table->n_words - end_of_sites) * sizeof *made.words);
  tprt_abi_site *sites = (void *)(made.words + TPRT_ABI_HEADER_WORDS), *site = &sites[n_sites];
  for (int64_t i = 0; i < n_sites; i++)
    sites[i].extra += sites[i].extra ? TPRT_SITE_WORDS : 0;
  *site = (tprt_abi_site){
      .kind = kind, .dtype = dtype, .reduction = reduction, .n_axes = n_axes, .rank = n_dims};
  for (int i = 0; i < n_axes; i++)
    site->axes[i] = axes[i];
  for (int i = 0; i < n_dims; i++)
    site->shape[i] = shape[i];
  if (n_extra) {
    site->extra = (int64_t)(n_words - n_extra);
    site->n_extra = (int64_t)n_extra;
    memcpy(made.words + site->extra, extra, n_extra * sizeof *made.words);
  }
  table_header(&made)->n_sites++;
  table_header(&made)->n_words = (int64_t)n_words;
  free(table->words);
  *table = made;
  return site;
}

tprt_abi_site *table_contract(test_table *table, tprt_dtype dtype, int n_loops,
                              const int64_t *words) {
  int64_t extra[64] = {[TPRT_CONTRACT_N_LOOPS] = n_loops};
  memcpy(extra + TPRT_CONTRACT_LOOPS, words, (size_t)n_loops * sizeof(tprt_abi_loop));
  return table_site(table, TPRT_SITE_CONTRACT, dtype, TPRT_NO_REDUCTION, 0, NULL, 0, NULL, extra,
                    TPRT_CONTRACT_LOOPS + (size_t)n_loops * TPRT_LOOP_WORDS);
}

void add_input(tprt_abi_operands *operands, tprt_operand input) {
  operands->inputs[operands->n_inputs++] = input;
}

void add_output(tprt_abi_operands *operands, tprt_operand output) {
  operands->outputs[operands->n_outputs++] = output;
}

int32_t call_fused(tprt_context *context, int32_t site, const tprt_abi_operands *operands,
                   const fused_pointers *pointers) {
  const void *inputs[TPRT_MAX_INPUTS] = {NULL};
  void *outputs[TPRT_MAX_OUTPUTS] = {NULL};
  int seen[TPRT_N_OPERANDS] = {0};
  for (int64_t i = 0; i < operands->n_inputs; i++)
    inputs[i] = pointers->of[operands->inputs[i]][seen[operands->inputs[i]]++];
  for (int64_t i = 0; i < operands->n_outputs; i++)
    outputs[i] = pointers->of[operands->outputs[i]][seen[operands->outputs[i]]++];
  return tprt_abi_fused(context, site, inputs, outputs);
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
