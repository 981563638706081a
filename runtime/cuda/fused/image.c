/* Embeds the compiled kernels with .incbin. As arrays in C, several hundred kilobytes would be slow
 * to compile. */
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
IMAGE("tprt__attention_image", ATTENTION_IMAGE);
IMAGE("tprt__gradient_image", GRADIENT_IMAGE);
IMAGE("tprt__parts_image", PARTS_IMAGE);
IMAGE("tprt__hopper_image", HOPPER_IMAGE);
