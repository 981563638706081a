/* Compiles hot loops for several vector instruction sets. */
#ifndef TP_LIB_SUPPORT_VECTORS_H
#define TP_LIB_SUPPORT_VECTORS_H

/* The inner loops over tables dominate the solver's time. If the compiler supports a choice by
 * processor at load time, these loops are also compiled for vector units with a 64-bit minimum or
 * compare, which baseline x86-64 lacks. They use integers, so all versions give the same result.
 * Not under sanitizers, which start before the choice can be made.
 *
 * VECTORS_OF_DOUBLES is for loops that convert integers to doubles, and add and subtract these
 * element by element, which gives the same result everywhere too. */
#if defined(__x86_64__) && defined(__ELF__) && defined(__GNUC__) && !defined(__clang__) &&         \
    !defined(__SANITIZE_ADDRESS__) && !defined(__SANITIZE_THREAD__)
#define VECTORS __attribute__((target_clones("avx512f", "avx2", "default")))
#else
#define VECTORS
#endif
#if defined(__x86_64__) && defined(__ELF__) && defined(__GNUC__) && __GNUC__ >= 12 &&              \
    !defined(__clang__) && !defined(__SANITIZE_ADDRESS__) && !defined(__SANITIZE_THREAD__)
#define VECTORS_OF_DOUBLES __attribute__((target_clones("arch=x86-64-v4", "default")))
#else
#define VECTORS_OF_DOUBLES
#endif

#endif
