/* Matrices that the threads of a warp hold together: products on tensor cores (mma.sync) and loads
 * from shared memory (ldmatrix). The place of an element follows the PTX manual, "Matrix Fragments
 * for mma.m16n8k16" and "ldmatrix". With g = lane / 4 and t = lane % 4:
 *   A, 16 x 16: register r has columns 2t + 8 (r / 2) and the next of row g + 8 (r % 2)
 *   B, 16 x 8:  register r has rows 2t + 8 r and the next of column g
 *   C, 16 x 8:  register r has column 2t + r % 2 of row g + 8 (r / 2)
 * The lower half of a register has the element of the lower index. */
#include "ptx_inside.h"

enum { ROWS = 16, COLUMNS = 8, DEPTH = 16, MATRIX = 8 };

/* Converts one half of each thread's register. */
static void halves(int type, const uint32_t *row, int part, double to[PTX_WARP]) {
  PTX_EACH_LANE(UINT32_MAX, l, { to[l] = ptx_of_half(type, row[l] >> (16 * part) & 0xffff); })
}

/* The sum is exact but for the rounding of f64 sums, and rounded once. */
static void multiply(ptx_warp *w, const ptx_instruction *i, uint32_t mask, int type) {
  double a[ROWS][DEPTH], b[DEPTH][COLUMNS], of_lane[PTX_WARP];
  uint32_t c[4][PTX_WARP];
  if (!ptx_has_all(w, mask))
    return;
  for (int part = 0; part < 2; part++) {
    for (int r = 0; r < 4; r++) {
      halves(type, ptx_from32(w, i, r), part, of_lane);
      for (int l = 0; l < PTX_WARP; l++)
        a[l / 4 + 8 * (r % 2)][2 * (l % 4) + 8 * (r / 2) + part] = of_lane[l];
    }
    for (int r = 0; r < 2; r++) {
      halves(type, ptx_from32(w, i, 4 + r), part, of_lane);
      for (int l = 0; l < PTX_WARP; l++)
        b[2 * (l % 4) + 8 * r + part][l / 4] = of_lane[l];
    }
  }
  for (int row = 0; row < ROWS; row++) {
    double sum[COLUMNS] = {0}; /* all columns at once, which vectorizes */
    for (int k = 0; k < DEPTH; k++)
      for (int column = 0; column < COLUMNS; column++)
        sum[column] += a[row][k] * b[k][column];
    for (int column = 0; column < COLUMNS; column++) {
      int r = row / 8 * 2 + column % 2, l = row % 8 * 4 + column / 2;
      float rounded = (float)(sum[column] + (double)float_of(ptx_from32(w, i, 6 + r)[l]));
      memcpy(&c[r][l], &rounded, sizeof rounded);
      if (rounded != rounded)
        c[r][l] = 0x7fffffff;
    }
  }
  for (int r = 0; r < 4; r++)
    memcpy(ptx_to32(w, i, r), c[r], sizeof c[r]);
}

static void multiply_f16(ptx_warp *w, const ptx_instruction *i, uint32_t mask) {
  multiply(w, i, mask, PTX_F16);
}
static void multiply_bf16(ptx_warp *w, const ptx_instruction *i, uint32_t mask) {
  multiply(w, i, mask, PTX_BF16);
}

/* Loads four 8 x 8 matrices; lane 8m + r gives the address of row r of matrix m. */
static void load(ptx_warp *w, const ptx_instruction *i, uint32_t mask, bool transposed) {
  uint16_t of[4][MATRIX][MATRIX];
  uint64_t address[PTX_WARP];
  const unsigned char *from[PTX_WARP];
  if (!ptx_has_all(w, mask))
    return;
  for (int l = 0; l < PTX_WARP; l++) {
    address[l] = (uint32_t)(ptx_read(w, i, 0, l) + (uint64_t)i->offset);
    if (address[l] % sizeof of[0][0]) {
      ptx_fail(w, l, PTX_MISALIGNED, "address 0x%llx is no multiple of %zu",
               (unsigned long long)address[l], sizeof of[0][0]);
      return;
    }
  }
  if (!ptx_read_shared(w, mask, address, sizeof of[0][0], from))
    return;
  for (int l = 0; l < PTX_WARP; l++)
    memcpy(of[l / MATRIX][l % MATRIX], from[l], sizeof of[0][0]);
  for (int m = 0; m < 4; m++)
    for (int l = 0; l < PTX_WARP; l++) {
      int g = l / 4, t = 2 * (l % 4);
      uint32_t low = transposed ? of[m][t][g] : of[m][g][t],
               high = transposed ? of[m][t + 1][g] : of[m][g][t + 1];
      ptx_to32(w, i, m)[l] = low | high << 16;
    }
}

static void load_rows(ptx_warp *w, const ptx_instruction *i, uint32_t mask) {
  load(w, i, mask, false);
}
static void load_columns(ptx_warp *w, const ptx_instruction *i, uint32_t mask) {
  load(w, i, mask, true);
}

#define MMA(type, run)                                                                             \
  {"mma.sync.aligned.m16n8k16.row.col.f32." type "." type ".f32",                                  \
   "",                                                                                             \
   0,                                                                                              \
   0,                                                                                              \
   "Ffgf*",                                                                                        \
   run,                                                                                            \
   PTX_TOGETHER}
/* clang-format off */
PTX_TABLE(matrix,
  MMA("f16", multiply_f16), MMA("bf16", multiply_bf16),
  {"ldmatrix.sync.aligned.m8n8.x4.shared.b16", "", 0, 0, "F@*", load_rows, PTX_TOGETHER},
  {"ldmatrix.sync.aligned.m8n8.x4.trans.shared.b16", "", 0, 0, "F@*", load_columns, PTX_TOGETHER})
/* clang-format on */
