/* The choice of rank 0 holds for all ranks; how it is told in reports. */
#include "gemm_choice.h"

#include <stdio.h>

void tprt__gemm_tell(const tprt__gemm_choice *choice, uint64_t library, uint64_t words[TPRT__GEMM_WORDS]) {
  words[0] = library;
  words[1] = choice->library | (uint64_t)choice->changes << 8 | (uint64_t)choice->why << 16;
  words[2] = 0;
  for (int i = 0; i < TPRT__GEMM_CLASSES; i++)
    words[2] |= (uint64_t)choice->percent[i] << 16 * i;
}

tprt__gemm_choice tprt__gemm_agree(int n_ranks, const uint64_t *words) {
  tprt__gemm_choice choice = {.library = words[1] & TPRT__GEMM_ALL,
                              .changes = words[1] >> 8 & TPRT__GEMM_ALL,
                              .why = (tprt__gemm_why)(words[1] >> 16 & 255)};
  for (int i = 0; i < TPRT__GEMM_CLASSES; i++)
    choice.percent[i] = (uint16_t)(words[2] >> 16 * i);
  for (int r = 1; r < n_ranks && choice.library; r++) {
    if (words[r * TPRT__GEMM_WORDS] != words[0])
      choice = (tprt__gemm_choice){.why = TPRT__GEMM_NOT_SHARED};
  }
  return choice;
}

/* ---- text ---- */

static const char *const classes[TPRT__GEMM_CLASSES] = {"f32, k <= 128", "f32", "f64, k <= 128", "f64"};

/* "built-in", "openblas", or what of it. */
static int name(const tprt__gemm_choice *choice, char *text, size_t size) {
  if (choice->library == 0 || choice->library == TPRT__GEMM_ALL)
    return snprintf(text, size, "%s", choice->library ? "openblas" : "built-in");
  int n = snprintf(text, size, "openblas for");
  const char *comma = " ";
  for (int i = 0; i < TPRT__GEMM_CLASSES; i++) {
    if (choice->library >> i & 1 && (size_t)n < size) {
      n += snprintf(text + n, size - (size_t)n, "%s%s", comma, classes[i]);
      comma = "; ";
    }
  }
  return (size_t)n < size ? n + snprintf(text + n, size - (size_t)n, ", else built-in") : n;
}

void tprt__gemm_describe(const tprt__gemm_choice *choice, char *text, size_t size) {
  static const char *const whys[TPRT__N_GEMM_WHYS] = {[TPRT__GEMM_MEASURED] = "measured, openblas takes",
                                                      [TPRT__GEMM_PINNED] = "pinned by TPRT_GEMM",
                                                      [TPRT__GEMM_ALONE] = "default, openblas is not there",
                                                      [TPRT__GEMM_NOT_KEPT] =
                                                          "default, there is no cache where a measurement could be kept",
                                                      [TPRT__GEMM_NOT_SHARED] = "default, the ranks have different libraries"};
  size_t n = (size_t)name(choice, text, size);
  if (n < size)
    n += (size_t)snprintf(text + n, size - n, " (%s", whys[choice->why]);
  for (int i = 0; i < TPRT__GEMM_CLASSES && choice->why == TPRT__GEMM_MEASURED && n < size; i++)
    n += (size_t)snprintf(text + n, size - n, "%s %.2f times as long (%s)%s", i ? "," : "", choice->percent[i] / 100.0,
                          classes[i], choice->changes >> i & 1 ? " but changes bits where a GEMM is cut" : "");
  if (n < size)
    snprintf(text + n, size - n, ")");
}
