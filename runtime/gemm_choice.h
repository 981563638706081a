/* Which GEMMs are computed by OpenBLAS: chosen by rank 0, by measuring, once a host. */
#ifndef TPRT_RUNTIME_GEMM_CHOICE_H
#define TPRT_RUNTIME_GEMM_CHOICE_H

#include "blas.h"

typedef enum tprt__gemm_why {
  TPRT__GEMM_MEASURED,
  TPRT__GEMM_PINNED,     /* TPRT_GEMM */
  TPRT__GEMM_ALONE,      /* there is no library */
  TPRT__GEMM_NOT_KEPT,   /* what is measured could not be kept, and would change from run to run */
  TPRT__GEMM_NOT_SHARED, /* ranks have different libraries */
  TPRT__N_GEMM_WHYS
} tprt__gemm_why;

typedef struct tprt__gemm_choice {
  uint32_t library; /* bits by tprt__gemm_class, as in tprt__gemm_how */
  uint32_t changes; /* the same: where the library changes bits of a GEMM that is cut */
  tprt__gemm_why why;
  uint16_t percent[TPRT__GEMM_CLASSES]; /* time of the library, of that of the built-in kernels; 0: not measured */
} tprt__gemm_choice;

/* What this rank would choose for GEMMs on so many threads; after tprt__blas_start. */
tprt__gemm_choice tprt__gemm_choose(int threads);

/* The library and its kernels, which must be the same where all use it; 0: none. */
uint64_t tprt__gemm_library(void);

/* What ranks tell each other: a choice, which counts of rank 0 alone, and what their library is.
 * Then all choose the same. */
enum { TPRT__GEMM_WORDS = 3, TPRT__GEMM_ALL = (1 << TPRT__GEMM_CLASSES) - 1 };
void tprt__gemm_tell(const tprt__gemm_choice *choice, uint64_t library, uint64_t words[TPRT__GEMM_WORDS]);
tprt__gemm_choice tprt__gemm_agree(int n_ranks, const uint64_t *words);

/* One line for reports. Both in gemm_agree.c. */
void tprt__gemm_describe(const tprt__gemm_choice *choice, char *text, size_t size);

/* ---- gemm_measure.c ---- */
/* Fills `changes`, and with `times` also `percent`. False without memory. */
bool tprt__gemm_measure(int threads, bool times, tprt__gemm_choice *choice);

/* ---- gemm_cache.c ---- */
/* A place for a choice: a file below the user's cache that is named by the key. */
typedef struct tprt__gemm_cache {
  char key[1024], path[512];
} tprt__gemm_cache;

/* False if the user has no cache, or must not have one: secure execution. */
bool tprt__gemm_cache_find(int threads, tprt__gemm_cache *cache);
/* False if there is none that can be trusted: whole, of this key, and of this user. */
bool tprt__gemm_cache_read(const tprt__gemm_cache *cache, tprt__gemm_choice *choice);
/* An open file beside the path, to be renamed; -1 if none can be written. To be called before
 * anything is measured. */
int tprt__gemm_cache_begin(const tprt__gemm_cache *cache, char *temporary, size_t size);
/* Writes and closes it. Of several processes that come at once the first wins, and `choice`
 * becomes what it wrote. */
bool tprt__gemm_cache_end(const tprt__gemm_cache *cache, int file, const char *temporary, tprt__gemm_choice *choice);

#endif
