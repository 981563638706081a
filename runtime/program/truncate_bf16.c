/* The conversion of f32 to bf16 that LLVM calls on processors without one. Compiler runtimes have
 * it since GCC 13; a compiled program needs no other library than this one. */
#include "tprt/abi.h"

#include <string.h>

/* Rounds to nearest, ties to even. NaN keeps its sign and highest bits, and becomes quiet. */
__attribute__((weak)) float __truncsfbf2(float value) {
  uint32_t bits;
  memcpy(&bits, &value, sizeof bits);
  uint32_t high = bits >> 16;
  if ((bits & 0x7FFFFFFFu) > 0x7F800000u)
    high |= 0x40u;
  else
    high = (bits + 0x7FFFu + (high & 1u)) >> 16;
  memcpy(&value, &high, sizeof value);
  return value;
}
