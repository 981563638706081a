/* Decides which names of functions are reserved in compiled programs. */
#include "ir/symbols.h"

#include "tp/compile.h"

#include <string.h>

/* Functions of libm that have variants for other types, such as sin, sinf and sinl. */
static const char math[] =
    " acos acosh acospi asin asinh asinpi atan atan2 atan2pi atanh atanpi cabs cacos cacosh carg"
    " casin casinh catan catanh cbrt ccos ccosh ceil cexp cimag clog clog10 compoundn conj copysign"
    " cos cosh cospi cpow cproj creal csin csinh csqrt ctan ctanh erf erfc exp exp10 exp10m1 exp2"
    " exp2m1 expm1 fabs fdim floor fma fmax fmaximum fmaximum_mag fmaximum_mag_num fmaximum_num"
    " fmin fminimum fminimum_mag fminimum_mag_num fminimum_num fmod frexp fromfp gamma hypot ilogb"
    " j0 j1 jn ldexp lgamma llogb llrint llround log log10 log10p1 log1p log2 log2p1 logb logp1"
    " lrint lround modf nan nearbyint nextafter nextdown nexttoward nextup pow powi pown powr"
    " remainder remquo rint rootn round roundeven rsqrt scalb scalbln scalbn significand sin sincos"
    " sincospi sinh sinpi sqrt tan tanh tanpi tgamma trunc y0 y1 yn ";

/* Other functions that passes or LLVM call. */
static const char others[] =
    " abort aligned_alloc alloca bcmp bcopy bzero calloc drem exit fflush fprintf fputc fputs free"
    " fwrite index malloc memchr memcmp memcpy memmove mempcpy memrefCopy memset memset_pattern16"
    " posix_memalign printf putchar puts realloc sprintf stderr stdout strcat strchr strcmp strcpy"
    " strlen strncmp strncpy finite isinf isnan ffs setjmp longjmp raise ";

/* Names that would make NAME.kernel0 an intrinsic of LLVM. */
static const char parts[] = " llvm nvvm ";

/* Where symbols that the compiler makes from the name of a function go on behind it. */
static const char *const derived[] = {".tprt", ".kernel", ".fused"};

static const char *const prefixes[] = {"tp.",  "tp_",    "tprt_",     "_",     "llvm.",
                                       "mlir", "cblas_", "openblas_", "nvvm.", "pthread_"};

static bool is_word(const char *words, const char *name, size_t length) {
  for (const char *at = words; (at = strchr(at, ' ')) && at[1]; at++)
    if (strncmp(at + 1, name, length) == 0 && at[1 + length] == ' ')
      return true;
  return false;
}

static bool contains(const char *name, size_t length, const char *part) {
  size_t n = strlen(part);
  for (size_t at = 0; at + n <= length; at++)
    if (memcmp(name + at, part, n) == 0)
      return true;
  return false;
}

bool tp__is_reserved_symbol(const char *name, size_t length) {
  static const char *const suffixes[] = {"", "f", "l", "f16", "f32", "f64", "f128", "bf16", "_r"};
  for (size_t i = 0; i < sizeof prefixes / sizeof *prefixes; i++)
    if (length >= strlen(prefixes[i]) && memcmp(name, prefixes[i], strlen(prefixes[i])) == 0)
      return true;
  for (size_t i = 0; i < sizeof suffixes / sizeof *suffixes; i++) {
    size_t cut = strlen(suffixes[i]);
    if (length > cut && memcmp(name + length - cut, suffixes[i], cut) == 0 &&
        is_word(math, name, length - cut))
      return true;
  }
  for (size_t i = 0; i < sizeof derived / sizeof *derived; i++)
    if (contains(name, length, derived[i]))
      return true;
  return length > 0 && (is_word(others, name, length) || is_word(parts, name, length));
}

int tp_is_reserved_symbol(const char *name) { return tp__is_reserved_symbol(name, strlen(name)); }
