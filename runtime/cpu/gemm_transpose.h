/* Transposes a square of LANES x LANES elements in registers. The kernel templates include it; they
 * define VECTOR, LANES, BITS (of an element) and UNROLLED. */

/* Replaces each pair of rows that are `distance` apart by their shuffles with the indices `low` and
 * `high`. */
#define MIX(rows, distance, low, high)                                                             \
  UNROLLED for (int i = 0; i < LANES; i++) {                                                       \
    if (!(i & (distance))) {                                                                       \
      VECTOR upper = rows[i], lower = rows[i + (distance)];                                        \
      rows[i] = __builtin_shufflevector(upper, lower, low);                                        \
      rows[i + (distance)] = __builtin_shufflevector(upper, lower, high);                          \
    }                                                                                              \
  }
#define LIST(...) __VA_ARGS__

/* First shuffles within each 128 bits, then whole 128-bit parts: these shuffles take one
 * instruction and need no index registers. Afterwards column `i` is rows[COLUMN(i)]. */
#if BITS == 32 && LANES == 16
#define TRANSPOSE(rows)                                                                            \
  MIX(rows, 1, LIST(0, 16, 1, 17, 4, 20, 5, 21, 8, 24, 9, 25, 12, 28, 13, 29),                     \
      LIST(2, 18, 3, 19, 6, 22, 7, 23, 10, 26, 11, 27, 14, 30, 15, 31))                            \
  MIX(rows, 2, LIST(0, 1, 16, 17, 4, 5, 20, 21, 8, 9, 24, 25, 12, 13, 28, 29),                     \
      LIST(2, 3, 18, 19, 6, 7, 22, 23, 10, 11, 26, 27, 14, 15, 30, 31))                            \
  MIX(rows, 4, LIST(0, 1, 2, 3, 8, 9, 10, 11, 16, 17, 18, 19, 24, 25, 26, 27),                     \
      LIST(4, 5, 6, 7, 12, 13, 14, 15, 20, 21, 22, 23, 28, 29, 30, 31))                            \
  MIX(rows, 8, LIST(0, 1, 2, 3, 8, 9, 10, 11, 16, 17, 18, 19, 24, 25, 26, 27),                     \
      LIST(4, 5, 6, 7, 12, 13, 14, 15, 20, 21, 22, 23, 28, 29, 30, 31))
#elif BITS == 32 && LANES == 8
#define TRANSPOSE(rows)                                                                            \
  MIX(rows, 1, LIST(0, 8, 1, 9, 4, 12, 5, 13), LIST(2, 10, 3, 11, 6, 14, 7, 15))                   \
  MIX(rows, 2, LIST(0, 1, 8, 9, 4, 5, 12, 13), LIST(2, 3, 10, 11, 6, 7, 14, 15))                   \
  MIX(rows, 4, LIST(0, 1, 2, 3, 8, 9, 10, 11), LIST(4, 5, 6, 7, 12, 13, 14, 15))
#elif BITS == 64 && LANES == 8
#define TRANSPOSE(rows)                                                                            \
  MIX(rows, 1, LIST(0, 8, 2, 10, 4, 12, 6, 14), LIST(1, 9, 3, 11, 5, 13, 7, 15))                   \
  MIX(rows, 2, LIST(0, 1, 4, 5, 8, 9, 12, 13), LIST(2, 3, 6, 7, 10, 11, 14, 15))                   \
  MIX(rows, 4, LIST(0, 1, 4, 5, 8, 9, 12, 13), LIST(2, 3, 6, 7, 10, 11, 14, 15))
#else
#define TRANSPOSE(rows)                                                                            \
  MIX(rows, 1, LIST(0, 4, 2, 6), LIST(1, 5, 3, 7))                                                 \
  MIX(rows, 2, LIST(0, 1, 4, 5), LIST(2, 3, 6, 7))
#endif
#if BITS == 32
#define COLUMN(i) (((i) & ~3) | (((i) & 1) << 1) | (((i) >> 1) & 1))
#else
#define COLUMN(i) (i)
#endif
