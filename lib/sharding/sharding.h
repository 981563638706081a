/* Internal helpers for meshes and specs: bytes, sizes, combiners, and reasons of errors. */
#ifndef TP_LIB_SHARDING_SHARDING_H
#define TP_LIB_SHARDING_SHARDING_H

#include "tp/cost.h"

#define TP__PARTIAL_BIT 0x80u
#define TP__PARTIAL_BITS UINT64_C(0x8080808080808080)

static inline unsigned tp__spec_byte(tp_spec spec, int axis) {
  return (unsigned)(spec.bits >> (8 * axis)) & 0xff;
}

static inline void tp__spec_set_byte(tp_spec *spec, int axis, unsigned byte) {
  spec->bits = (spec->bits & ~(UINT64_C(0xff) << (8 * axis))) | (uint64_t)byte << (8 * axis);
}

/* Returns the dimension that a byte of a spec names; -1 for replicated and partial. */
static inline int tp__byte_dim(unsigned byte) {
  return byte & TP__PARTIAL_BIT ? -1 : (int)(byte & 15) - 1;
}

/* As tp_mesh_create; `why` (may be NULL, else why_size bytes) receives the reason of an error. */
tp_status tp__mesh_create(const char *name, int n, const char *const *names, const int64_t *sizes,
                          char *why, size_t why_size, tp_mesh *mesh);

/* True if the partial axes have different combiners. Such a value depends on the order of
 * combination, so no op may produce or use it. Rows and parts of rows go together. */
bool tp__spec_mixes_combiners(tp_spec spec);

/* Product of two sizes >= 0, saturating at INT64_MAX. */
static inline int64_t tp__multiply(int64_t a, int64_t b) {
  return b != 0 && a > INT64_MAX / b ? INT64_MAX : a * b;
}

/* Greatest common divisor with a number of devices; gcd(0, n) == n. */
static inline int64_t tp__gcd(int64_t a, int64_t devices) {
  if ((devices & (devices - 1)) == 0)
    return (a | devices) & -(a | devices); /* a power of two, the most frequent case */
  while (devices) {
    int64_t rest = a % devices;
    a = devices;
    devices = rest;
  }
  return a;
}

/* Returns the number of devices of a group along a set of axes (bit a: axis a). */
static inline int64_t tp__axes_size(const tp_mesh *mesh, unsigned axes) {
  int64_t n = 1;
  for (int a = 0; a < mesh->n_axes; a++)
    n *= axes >> a & 1 ? mesh->axes[a].size : 1;
  return n;
}

/* Nested ceil: the local buffer size of a dimension of `size` that `axes` (n of them, major to
 * minor) split. */
int64_t tp__buffer_size(const tp_mesh *mesh, int n, const int *axes, int64_t size);

/* Converts microseconds to a cost, rounded; TP_COST_FORBIDDEN if they are too many. */
tp_cost tp__from_us(double us);

/* log2(n / base), at least 0, piecewise linear between powers of two. */
double tp__log2(int64_t n, int64_t base);

#endif
