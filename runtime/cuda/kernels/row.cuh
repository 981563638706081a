/* One row of a sum over the ranks, from its inputs to normalized and quantized outputs. Included
 * by reduce_rows.cuh. The threads of a CTA hold the row in registers: THREAD(c, t)->value. */
#ifndef TPRT_RUNTIME_CUDA_ROW_H
#define TPRT_RUNTIME_CUDA_ROW_H
typedef struct row {
  uint64_t at;        /* its first vector in the whole tensor */
  uint32_t vectors;   /* its length */
  row_place out;      /* also for quantized values */
  row_place residual; /* the rank reads its own old residual at residual.at */
} row;

/* What a row is the sum of: slots of memory of this rank, or the inputs of all ranks. */
typedef struct row_sources {
  const unsigned char *slots; /* NULL: the inputs */
  uint64_t slot_bytes;
  const void *const *inputs;
} row_sources;

enum { SOURCES_AT_ONCE = 4 }; /* loads of a thread under way at once */

TPRT_INLINE const void *source_of(const row_sources *from, uint32_t rank) {
  return from->slots ? from->slots + rank * from->slot_bytes : from->inputs[rank];
}

TPRT_INLINE void store_scale(const fused_rows *rows, row_place to, uint64_t at, float scale) {
  EACH_PLACE(to, p) rows->scale[p][at] = scale;
}

/* Returns the scale that maps the largest magnitude to 448, the maximum of f8e4m3, or a larger
 * scale if there are lower bounds. A row of zeros stays zero; a row with a NaN becomes NaN. */
TPRT_INLINE float scale_for(const fused_rows *rows, float largest) {
  float scale = larger(larger(largest, rows->least_largest) / 448.0f, rows->least_scale);
  return largest == 0 && scale == 0 ? 1.0f : scale;
}
#endif

/* Loops over the vectors v of the row (v < n) that the thread holds as its items j. */
#define EACH_ITEM(c, t, j, v, n)                                                                   \
  UNROLL for (uint32_t j = 0, v = t; j < ITEMS; j++, v += (c)->n_threads) if (v < (n))

#define LANE_VALUES(c, t, j) (THREAD(c, t)->value + (j) * LANES)

/* Sums the sources in rank order, for the row that begins at vector `at` of each source. */
TPRT_INLINE void ROWS(sum_sources)(cta *c, const row_sources *from, uint64_t at, uint32_t vectors) {
  uint32_t n = c->args->n_ranks;
  EACH_THREAD(c, t)
  EACH_ITEM(c, t, j, v, vectors) {
    float *sum = LANE_VALUES(c, t, j);
    UNROLL for (uint32_t first = 0; first < FUSED_RANKS; first += SOURCES_AT_ONCE) if (first < n) {
      /* issues all loads before the first is used */
      vector loaded[SOURCES_AT_ONCE], none = {{0, 0, 0, 0}};
      UNROLL for (uint32_t i = 0; i < SOURCES_AT_ONCE; i++) loaded[i] =
          first + i < n ? load_vector(source_of(from, first + i), at + v) : none;
      UNROLL for (uint32_t i = 0; i < SOURCES_AT_ONCE; i++) if (first + i < n) {
        float x[LANES];
        NAMED(widen)(x, loaded[i]);
        UNROLL for (int k = 0; k < LANES; k++) sum[k] = first + i == 0 ? x[k] : sum[k] + x[k];
      }
    }
  }
}

TPRT_INLINE void ROWS(store)(cta *c, void *const *memory, row_place to, uint32_t vectors) {
  EACH_THREAD(c, t)
  EACH_ITEM(c, t, j, v, vectors) {
    vector stored = NAMED(narrow)(LANE_VALUES(c, t, j));
    EACH_PLACE(to, p) store_vector(memory[p], to.at + v, stored);
  }
}

/* Adds bias and residual, and rounds. The final rounding happens even if nothing is stored: the
 * norm is that of the stored value. */
TPRT_INLINE void ROWS(add_to)(cta *c, const fused_rows *rows, const row *r) {
  const void *residual = rows->residual[c->rank];
  EACH_THREAD(c, t)
  EACH_ITEM(c, t, j, v, r->vectors) {
    float *value = LANE_VALUES(c, t, j), x[LANES];
    if (rows->match_unfused)
      NAMED(round_lanes)(value);
    if (rows->bias) {
      NAMED(widen)(x, load_vector(rows->bias, v));
      UNROLL for (int i = 0; i < LANES; i++) value[i] += x[i];
      if (rows->match_unfused)
        NAMED(round_lanes)(value);
    }
    if (residual) {
      NAMED(widen)(x, load_vector(residual, r->residual.at + v));
      UNROLL for (int i = 0; i < LANES; i++) value[i] += x[i];
    }
    NAMED(round_lanes)(value);
  }
}

/* Returns the sum over the row of the values, or of the squares of their differences from
 * `mean`. */
TPRT_INLINE float ROWS(sum)(cta *c, uint32_t vectors, bool squares, float mean) {
  EACH_THREAD(c, t) {
    float sum = 0;
    EACH_ITEM(c, t, j, v, vectors) UNROLL for (int i = 0; i < LANES; i++) {
      float x = LANE_VALUES(c, t, j)[i];
      sum += squares ? (x - mean) * (x - mean) : x;
    }
    THREAD(c, t)->partial = sum;
  }
  return cta_sum(c);
}

TPRT_INLINE void ROWS(normalize)(cta *c, const fused_rows *rows, uint32_t vectors) {
  float size = (float)(vectors * LANES), mean = 0;
  if (rows->norm == FUSED_LAYER_NORM)
    mean = ROWS(sum)(c, vectors, false, 0) / size;
  float variance = ROWS(sum)(c, vectors, true, mean) / size;
  float factor = 1.0f / sqrtf(variance + rows->epsilon);
  EACH_THREAD(c, t)
  EACH_ITEM(c, t, j, v, vectors) {
    float *value = LANE_VALUES(c, t, j), x[LANES];
    NAMED(widen)(x, load_vector(rows->gamma, v));
    UNROLL for (int i = 0; i < LANES; i++) value[i] = (value[i] - mean) * factor * x[i];
    if (rows->beta) {
      NAMED(widen)(x, load_vector(rows->beta, v));
      UNROLL for (int i = 0; i < LANES; i++) value[i] += x[i];
    }
    NAMED(round_lanes)(value);
  }
}

/* Sets `partial` of each thread to the scale of its vector j. The first thread of a group stores
 * it. */
TPRT_INLINE void ROWS(scale_groups)(cta *c, const fused_rows *rows, const row *r, uint32_t j) {
  const uint32_t members = FUSED_GROUP / LANES; /* number of threads whose vectors form a group */
  EACH_THREAD(c, t)
  THREAD(c, t)->partial =
      t + j * c->n_threads < r->vectors ? NAMED(largest_lane)(LANE_VALUES(c, t, j)) : 0;
  largest_of_neighbors(c, members);
  EACH_THREAD(c, t) {
    uint32_t v = t + j * c->n_threads;
    THREAD(c, t)->partial = scale_for(rows, THREAD(c, t)->partial);
    if (v < r->vectors && v % members == 0)
      store_scale(rows, r->out, (r->out.at + v) / members, THREAD(c, t)->partial);
  }
}

TPRT_INLINE float ROWS(scale)(cta *c, const fused_rows *rows, const row *r) {
  EACH_THREAD(c, t) {
    THREAD(c, t)->partial = 0;
    EACH_ITEM(c, t, j, v, r->vectors)
    THREAD(c, t)->partial =
        larger(THREAD(c, t)->partial, NAMED(largest_lane)(LANE_VALUES(c, t, j)));
  }
  float scale = scale_for(rows, cta_largest(c));
  EACH_THREAD(c, t)
  if (t == 0)
    store_scale(rows, r->out, r->out.at / r->vectors, scale);
  return scale;
}

TPRT_INLINE void ROWS(quantize)(cta *c, const fused_rows *rows, const row *r) {
  float scale = rows->quantize == FUSED_STATIC ? *rows->static_scale : 1;
  if (rows->quantize == FUSED_PER_TOKEN)
    scale = ROWS(scale)(c, rows, r);
  UNROLL for (uint32_t j = 0; j < ITEMS; j++) {
    if (rows->quantize == FUSED_PER_GROUP)
      ROWS(scale_groups)(c, rows, r, j);
    EACH_THREAD(c, t) {
      uint32_t v = t + j * c->n_threads;
      float used = rows->quantize == FUSED_PER_GROUP ? THREAD(c, t)->partial : scale;
      if (v < r->vectors)
        NAMED(store_quantized)(rows, r->out, v, LANE_VALUES(c, t, j), used);
    }
  }
}

/* Applies all steps to a row, from the sum on. */
TPRT_INLINE void ROWS(finish)(cta *c, const fused_rows *rows, const row *r) {
  ROWS(add_to)(c, rows, r);
  if (rows->residual_out[c->rank])
    ROWS(store)(c, rows->residual_out, r->residual, r->vectors);
  if (rows->norm != FUSED_NO_NORM)
    ROWS(normalize)(c, rows, r->vectors);
  if (rows->out[c->rank])
    ROWS(store)(c, rows->out, r->out, r->vectors);
  if (rows->quantize != FUSED_NO_QUANTIZE)
    ROWS(quantize)(c, rows, r);
}
