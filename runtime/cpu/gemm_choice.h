/* The choice between OpenBLAS and the built-in GEMM kernels. It is measured once per host, and rank
 * 0 decides for all ranks. */
#ifndef TPRT_RUNTIME_GEMM_CHOICE_H
#define TPRT_RUNTIME_GEMM_CHOICE_H

#include "base/cache_file.h"
#include "cpu/blas.h"

typedef enum tprt__gemm_reason {
  TPRT__GEMM_MEASURED,
  TPRT__GEMM_PINNED,     /* set by TPRT_GEMM */
  TPRT__GEMM_NO_LIBRARY, /* OpenBLAS is not installed */
  /* no writable cache: a new measurement could change bits from run to run */
  TPRT__GEMM_NO_CACHE,
  TPRT__GEMM_NOT_SHARED, /* the ranks have different libraries */
  TPRT__N_GEMM_REASONS
} tprt__gemm_reason;

typedef struct tprt__gemm_choice {
  /* One bit per tprt__gemm_class: OpenBLAS computes this class. */
  uint32_t library;
  /* One bit per class: with OpenBLAS, splitting a GEMM along m or n changes bits. */
  uint32_t changes;
  tprt__gemm_reason why;
  /* Per class: OpenBLAS's time in percent of the built-in kernels' time; 0: not measured. */
  uint16_t percent[TPRT__GEMM_CLASSES];
} tprt__gemm_choice;

/* This rank's choice for GEMMs on `threads` threads. Call after tprt__blas_start. */
tprt__gemm_choice tprt__gemm_choose(int threads);

/* A hash of OpenBLAS's version and kernels, to be compared between ranks; 0: no library. */
uint64_t tprt__gemm_library(void);

/* The words that ranks exchange: a choice and a library hash. All ranks take rank 0's choice, or
 * the built-in kernels if it needs a library that another rank does not have. */
enum { TPRT__GEMM_WORDS = 3, TPRT__GEMM_ALL = (1 << TPRT__GEMM_CLASSES) - 1 };
void tprt__gemm_encode(const tprt__gemm_choice *choice, uint64_t library,
                       uint64_t words[TPRT__GEMM_WORDS]);
tprt__gemm_choice tprt__gemm_agree(int n_ranks, const uint64_t *words);

/* Writes the choice as one line for reports. */
void tprt__gemm_describe(const tprt__gemm_choice *choice, char *text, size_t size);

/* ---- gemm_measure.c ---- */
/* Fills `changes`, and `percent` if `times` is set. Returns false when memory runs out. */
bool tprt__gemm_measure(int threads, bool times, tprt__gemm_choice *choice);

/* ---- gemm_cache.c ---- */
/* Finds the cache file of a choice. False if there is no cache folder. */
bool tprt__gemm_cache_find(int threads, tprt__cache *cache);
/* A tprt__cache_parse_fn for a tprt__gemm_choice. */
bool tprt__gemm_cache_parse(const char *text, void *value);
/* Writes a choice; see tprt__cache_end. */
bool tprt__gemm_cache_end(const tprt__cache *cache, int file, const char *temporary,
                          tprt__gemm_choice *choice);

#endif
