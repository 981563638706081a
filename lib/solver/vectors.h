/* Loops for vectors. */
#ifndef TP_LIB_SOLVER_VECTORS_H
#define TP_LIB_SOLVER_VECTORS_H

/* The inner loops over tables are most of the solver's time. Where the compiler can choose by
 * processor at load time they also exist for vectors with a 64-bit minimum or compare, which the
 * baseline of x86-64 lacks; integers, so all versions give the same. Sanitizers run before such a
 * choice can be made. */
#if defined(__x86_64__) && defined(__ELF__) && defined(__GNUC__) && !defined(__clang__) &&         \
    !defined(__SANITIZE_ADDRESS__) && !defined(__SANITIZE_THREAD__)
#define VECTORS __attribute__((target_clones("avx512f", "avx2", "default")))
#else
#define VECTORS
#endif

#endif
