/* Draws random programs with the fuzzer's generator. */
#include "source.h"

#include "test/fuzz/generate/program.h"

void draw_source(uint64_t seed, text *source) {
  static program p;
  program_generate(&p, seed, false);
  program_print(&p, source);
  program_clear(&p);
}
