/* Exchanges the GEMM choice between ranks, and prints it for reports. */
#include "cpu/gemm_choice.h"

#include <stdarg.h>
#include <stdio.h>

void tprt__gemm_encode(const tprt__gemm_choice *choice, uint64_t library,
                       uint64_t words[TPRT__GEMM_WORDS]) {
  words[0] = library;
  words[1] = choice->library | (uint64_t)choice->changes << 8 | (uint64_t)choice->why << 16;
  words[2] = 0;
  for (int i = 0; i < TPRT__GEMM_CLASSES; i++)
    words[2] |= (uint64_t)choice->percent[i] << 16 * i;
}

tprt__gemm_choice tprt__gemm_agree(int n_ranks, const uint64_t *words) {
  tprt__gemm_choice choice = {.library = words[1] & TPRT__GEMM_ALL,
                              .changes = words[1] >> 8 & TPRT__GEMM_ALL,
                              .why = (tprt__gemm_reason)(words[1] >> 16 & 255)};
  for (int i = 0; i < TPRT__GEMM_CLASSES; i++)
    choice.percent[i] = (uint16_t)(words[2] >> 16 * i);
  for (int r = 1; r < n_ranks && choice.library; r++) {
    if (words[r * TPRT__GEMM_WORDS] != words[0])
      choice = (tprt__gemm_choice){.why = TPRT__GEMM_NOT_SHARED};
  }
  return choice;
}

/* ---- text ---- */

static const char *const classes[TPRT__GEMM_CLASSES] = {"f32, k <= 128", "f32", "f64, k <= 128",
                                                        "f64"};

typedef struct line {
  char *text;
  size_t size, n;
} line;

/* Truncates at the end of the buffer. */
__attribute__((format(printf, 2, 3))) static void append(line *to, const char *format, ...) {
  va_list arguments;
  va_start(arguments, format);
  int n = vsnprintf(to->text + to->n, to->size - to->n, format, arguments);
  va_end(arguments);
  if (n > 0)
    to->n += (size_t)tprt__min(n, (int64_t)(to->size - to->n) - 1);
}

static void append_name(line *to, uint32_t library) {
  if (library == 0 || library == TPRT__GEMM_ALL) {
    append(to, "%s", library ? "openblas" : "built-in");
    return;
  }
  append(to, "openblas for");
  const char *between = " ";
  for (int i = 0; i < TPRT__GEMM_CLASSES; i++) {
    if (library >> i & 1) {
      append(to, "%s%s", between, classes[i]);
      between = "; ";
    }
  }
  append(to, ", else built-in");
}

void tprt__gemm_describe(const tprt__gemm_choice *choice, char *text, size_t size) {
  static const char *const whys[TPRT__N_GEMM_REASONS] = {
      [TPRT__GEMM_MEASURED] = "measured, time of openblas relative to built-in",
      [TPRT__GEMM_PINNED] = "pinned by TPRT_GEMM",
      [TPRT__GEMM_NO_LIBRARY] = "default, openblas is not available",
      [TPRT__GEMM_NO_CACHE] = "default, there is no cache directory to store a measurement",
      [TPRT__GEMM_NOT_SHARED] = "default, the ranks use different libraries"};
  line to = {.text = text, .size = size};
  append_name(&to, choice->library);
  append(&to, " (%s", whys[choice->why]);
  for (int i = 0; i < TPRT__GEMM_CLASSES && choice->why == TPRT__GEMM_MEASURED; i++)
    append(&to, "%s %.2f%s (%s)", i ? "," : "", choice->percent[i] / 100.0,
           choice->changes >> i & 1 ? "*" : "", classes[i]);
  if (choice->changes)
    append(&to, "; *: openblas results change bitwise if a GEMM is split");
  append(&to, ")");
}
