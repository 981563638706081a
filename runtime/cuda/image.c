/* The file that the build says, as it is: several hundred kilobytes, which a compiler of C would read number by number. */
#include "cuda/image.h"

__asm__(".pushsection .rodata\n"
        ".balign 64\n"
        ".globl tprt__fused_image\n"
        ".hidden tprt__fused_image\n"
        "tprt__fused_image:\n"
        ".incbin \"" FUSED_IMAGE "\"\n"
        ".byte 0\n"
        ".popsection\n");
