/* The files that the build says, as they are: several hundred kilobytes, which a compiler of C
 * would read number by number. */
#include "cuda/fused/image.h"

#define IMAGE(name, path)                                                                          \
  __asm__(".pushsection .rodata\n"                                                                 \
          ".balign 64\n"                                                                           \
          ".globl " name "\n"                                                                      \
          ".hidden " name "\n" name ":\n"                                                          \
          ".incbin \"" path "\"\n"                                                                 \
          ".byte 0\n"                                                                              \
          ".popsection\n")

IMAGE("tprt__fused_image", FUSED_IMAGE);
IMAGE("tprt__site_image", SITE_IMAGE);
