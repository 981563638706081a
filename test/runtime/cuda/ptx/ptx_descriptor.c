/* Matrices in shared memory that products of warpgroups read, as descriptors say: the PTX manual,
 * "Shared Memory Matrix Layout" and "Matrix Descriptor Format".
 *
 * A matrix consists of units of 16 bytes, 8 elements: along its depth (K-major), or along its rows
 * or columns (MN-major, "transposed"). `width` units, 1, 2, 4 or 8, are a row of the atom of its
 * swizzle, which has 8 rows. Where a row of the atom is not 1 unit, as many bits of the address as
 * number a unit in it, from bit 4 on, are xored with those from bit 7 on: bits of the address in
 * shared memory, not of an offset in the matrix. So an atom begins at a multiple of its size,
 * unless the descriptor has a base offset, which is not supported. */
#include "ptx_inside.h"

typedef struct descriptor {
  uint32_t start, leading, stride; /* bytes */
  uint32_t width;                  /* units in a row of the atom */
} descriptor;

/* n: rows or columns of the matrix. */
static bool read_descriptor(ptx_warp *w, uint64_t bits, bool mn_major, uint32_t n, descriptor *d) {
  static const uint32_t widths[] = {1, 8, 4, 2};
  *d = (descriptor){.start = (uint32_t)(bits & 0x3fff) << 4,
                    .leading = (uint32_t)(bits >> 16 & 0x3fff) << 4,
                    .stride = (uint32_t)(bits >> 32 & 0x3fff) << 4,
                    .width = widths[bits >> 62]};
  uint32_t row = d->width * PTX_UNIT, atom = 8 * row, /* bytes */
      in_row =
          mn_major ? (n < d->width * PTX_OF_UNIT ? n : d->width * PTX_OF_UNIT) * 2 : 2 * PTX_UNIT;
  bool swizzles = d->width > 1, leads = mn_major && n > d->width * PTX_OF_UNIT;
  if (bits >> 49 & 7)
    ptx_fail(w, -1, PTX_FAULT, "base offset %u of a descriptor; 0 is supported",
             (uint32_t)(bits >> 49 & 7));
  else if (bits & 0x3ff1c000c000c000)
    ptx_fail(w, -1, PTX_FAULT, "descriptor 0x%llx has bits that mean nothing",
             (unsigned long long)bits);
  else if (swizzles && d->start % row + in_row > row)
    ptx_fail(w, -1, PTX_MISALIGNED, "a matrix at %u does not begin in a row of %u bytes", d->start,
             row);
  else if (swizzles && d->start % atom >= row)
    ptx_fail(w, -1, PTX_MISALIGNED,
             "a matrix at %u, with base offset 0, does not begin in the first row of %u bytes",
             d->start, atom);
  else if (swizzles && (d->stride % atom || (leads && d->leading % atom)))
    ptx_fail(w, -1, PTX_MISALIGNED, "strides of %u and %u bytes, of atoms of %u bytes", d->leading,
             d->stride, atom);
  return !w->cta->result;
}

/* The address of the unit that begins with row or column mn, and depth k: by the table "Canonical
 * Layouts" of the manual. */
static uint32_t unit_address(const descriptor *d, bool mn_major, uint32_t mn, uint32_t k) {
  uint32_t row = d->width * PTX_UNIT, at = d->start;
  if (mn_major) {
    uint32_t across = mn / PTX_OF_UNIT, leading = d->width == 1 ? d->stride : d->leading,
             stride = d->width == 1 ? d->leading : d->stride;
    at += across % d->width * PTX_UNIT + across / d->width * leading + k % 8 * row + k / 8 * stride;
  } else {
    at += mn % 8 * row + mn / 8 * d->stride +
          k / PTX_OF_UNIT * (d->width == 1 ? d->leading : PTX_UNIT);
  }
  return at ^ (at >> 7 & (d->width - 1)) << 4;
}

int ptx_read_matrix(ptx_warp *w, uint64_t bits, bool mn_major, uint32_t first, uint32_t n,
                    uint32_t all, int type, double (*to)[PTX_MOST_ACROSS], uint16_t *units) {
  descriptor d;
  int n_units = 0;
  if (!read_descriptor(w, bits, mn_major, all, &d))
    return 0;
  for (uint32_t u = 0; u < n * PTX_DEPTH / PTX_OF_UNIT; u++) {
    uint32_t across = n / PTX_OF_UNIT, mn = mn_major ? u % across * PTX_OF_UNIT : u / 2,
             k = mn_major ? u / across : u % 2 * PTX_OF_UNIT;
    size_t number;
    const unsigned char *from =
        ptx_reach_unit(w, unit_address(&d, mn_major, first + mn, k), &number);
    uint16_t halves[PTX_OF_UNIT];
    if (!from)
      return 0;
    units[n_units++] = (uint16_t)number;
    memcpy(halves, from, sizeof halves);
    for (uint32_t e = 0; e < PTX_OF_UNIT; e++)
      to[k + (mn_major ? 0 : e)][mn + (mn_major ? e : 0)] = ptx_of_half(type, halves[e]);
  }
  return n_units;
}
