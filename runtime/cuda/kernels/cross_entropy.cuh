/* Softmax cross-entropy of rows whose columns are split over the ranks. Included once per element
 * type.
 *
 * From its own columns each rank computes the largest logit, the sum of exponentials relative to
 * it, and the target's logit if it has that column. These numbers of each row go to all ranks,
 * which combine them in rank order: the same bits on all ranks. */
#ifndef TPRT_RUNTIME_CUDA_ENTROPY_H
#define TPRT_RUNTIME_CUDA_ENTROPY_H
/* Converts a sum of exponentials relative to `largest` into one relative to `to`, which is not
 * smaller. The case of equality is separate, because the difference may be NaN. */
TPRT_INLINE float rescaled(float sum, float largest, float to) {
  return largest == to ? sum : sum * expf(largest - to);
}

/* A rank's partial result of a row; sent as bits in a vector. */
typedef struct row_part {
  float largest, sum, target;
  uint32_t has_target;
} row_part;

TPRT_INLINE vector vector_of_part(row_part part) {
  vector v = {{bits_of(part.largest), bits_of(part.sum), bits_of(part.target), part.has_target}};
  return v;
}

/* Returns the partial result of row r from part p of the columns. */
TPRT_INLINE row_part sent_part(cta *c, const fused_entropy *e, uint32_t p, uint64_t r) {
  vector v = e->step == FUSED_FROM_PARTS
                 ? load_vector(e->parts[c->rank], (uint64_t)p * e->n_rows + r)
                 : load_vector(staging_slot(c, c->rank, p), r);
  row_part part = {float_of(v.word[0]), float_of(v.word[1]), float_of(v.word[2]), v.word[3]};
  return part;
}

TPRT_INLINE int64_t target_of(cta *c, const fused_entropy *e, uint64_t r) {
  const void *target = e->target[c->rank];
  return e->wide_target ? ((const int64_t *)target)[r] : ((const int32_t *)target)[r];
}

/* Combines the partial results of a row and stores the results of this rank. If the largest logit
 * is infinite, the sum relative to it is NaN, because infinite differences are NaN. Relative to 0
 * (`finite`) it is the plain sum of exponentials. */
TPRT_INLINE void finish_row_of_parts(cta *c, const fused_entropy *e, uint64_t r) {
  row_part all = {-INFINITY, 0, 0, 0};
  uint32_t own = e->first_part + c->rank, holder = own; /* the part that has the target */
  ROLLED for (uint32_t p = 0; p < e->n_parts; p++) all.largest =
      larger(all.largest, sent_part(c, e, p, r).largest);
  ROLLED for (uint32_t p = 0; p < e->n_parts; p++) {
    row_part part = sent_part(c, e, p, r);
    all.sum += rescaled(part.sum, part.largest, all.largest);
    if (part.has_target) {
      all.target = part.target;
      all.has_target = 1;
      holder = p;
    }
  }
  uint32_t infinite = all.largest == INFINITY || all.largest == -INFINITY;
  float log_sum = infinite ? all.largest : logf(all.sum) + all.largest;
  if (infinite)
    all.sum = !e->finite ? NAN : all.largest > 0 ? INFINITY : 0;
  if (e->loss[c->rank])
    e->loss[c->rank][r] = target_of(c, e, r) == e->ignored ? 0
                          : all.has_target                 ? log_sum - all.target
                                                           : NAN;
  if (e->log_sum[c->rank])
    e->log_sum[c->rank][r] = log_sum;
  if (e->largest[c->rank])
    e->largest[c->rank][r] = all.largest;
  if (e->sum[c->rank])
    e->sum[c->rank][r] = all.sum;
  if (e->picked[c->rank]) {
    float shift = e->finite && infinite ? 0 : all.largest, picked = all.target;
    if (e->pick != FUSED_LOGIT)
      picked -= shift;
    if (e->pick == FUSED_LOG_PROBABILITY)
      picked -= logf(all.sum);
    e->picked[c->rank][r] = all.has_target && (!e->own || holder == own) ? picked : 0;
  }
}
#endif

/* Computes a rank's partial result of a row in one pass. Each thread keeps the largest of its
 * logits (`kept`) and the sum relative to it (`partial`). A logit equal to the largest adds 1, even
 * if both are infinite. */
TPRT_INLINE void NAMED(part_of_row)(cta *c, const fused_entropy *e, uint64_t r, row_part *part) {
  EACH_THREAD(c, t) {
    float largest = -INFINITY, sum = 0;
    for (uint32_t v = t; v < e->row_vectors; v += c->n_threads) {
      float x[LANES], most = largest;
      NAMED(widen)(x, load_vector(e->logits[c->rank], r * e->row_vectors + v));
      UNROLL for (int i = 0; i < LANES; i++) most = larger(most, x[i]);
      sum = rescaled(sum, largest, most);
      UNROLL for (int i = 0; i < LANES; i++) sum += x[i] == most ? 1.0f : expf(x[i] - most);
      largest = most;
    }
    THREAD(c, t)->kept = THREAD(c, t)->partial = largest;
    THREAD(c, t)->value[0] = sum;
  }
  part->largest = cta_largest(c);
  EACH_THREAD(c, t)
  THREAD(c, t)->partial = rescaled(THREAD(c, t)->value[0], THREAD(c, t)->kept, part->largest);
  part->sum = cta_sum(c);
  part->target = 0;
  part->has_target = 0;
  if (!e->target[c->rank])
    return;
  int64_t n_columns = (int64_t)e->row_vectors * LANES,
          column = target_of(c, e, r) - (e->first_part + c->rank) * n_columns;
  if (column >= 0 && column < n_columns) {
    float x[LANES];
    NAMED(widen)(x, load_vector(e->logits[c->rank], r * e->row_vectors + (uint64_t)column / LANES));
    UNROLL for (int i = 0; i < LANES; i++) part->target = i == column % LANES ? x[i] : part->target;
    part->has_target = 1;
  }
}

KERNEL(NAMED(tprt_cross_entropy)) {
  const fused_entropy *e = &c->args->of.entropy;
  for (uint64_t r = c->index; r < e->n_rows && e->step != FUSED_FROM_PARTS; r += c->n_ctas) {
    row_part part;
    NAMED(part_of_row)(c, e, r, &part);
    vector sent = vector_of_part(part);
    EACH_THREAD(c, t) {
      if (e->step == FUSED_PARTS && t == 0)
        store_vector(e->parts[c->rank], r, sent);
      if (e->step == FUSED_ALL_STEPS && t < c->args->n_ranks)
        store_vector(staging_slot(c, t, c->rank), r, sent);
    }
  }
  if (e->step == FUSED_PARTS)
    return;
  if (e->step == FUSED_ALL_STEPS) {
    cta_signal(c, FUSED_ARRIVED);
    cta_wait(c, FUSED_ARRIVED);
  }
  EACH_THREAD(c, t)
  for (uint64_t r = c->index + (uint64_t)t * c->n_ctas; r < e->n_rows;
       r += (uint64_t)c->n_threads * c->n_ctas)
    finish_row_of_parts(c, e, r);
}
