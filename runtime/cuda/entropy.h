/* Included once per type of element: softmax cross entropy of rows whose columns are split over the ranks. Each rank has, of its
 * columns, the largest logit, the sum of exponentials relative to it, and the target's logit if it is one of them. These three
 * numbers of each row go to all ranks, which put them together in rank order: the same bits everywhere. */
#ifndef TPRT_RUNTIME_CUDA_ENTROPY_H
#define TPRT_RUNTIME_CUDA_ENTROPY_H
/* A sum of exponentials relative to `largest`, made relative to a larger one. Where they are equal, the difference may be NaN. */
TPRT_INLINE float rescaled(float sum, float largest, float to) { return largest == to ? sum : sum * expf(largest - to); }

/* What a rank knows of a row, as it is sent: bits of floats in a vector. */
typedef struct row_part {
  float largest, sum, target;
} row_part;
#endif

/* One pass: each thread keeps the largest of its logits (`kept`) and the sum relative to it (`partial`). */
TPRT_INLINE void NAMED(part_of_row)(cta *c, const fused_entropy *e, uint64_t r, row_part *part) {
  EACH_THREAD(c, t) {
    float largest = -INFINITY, sum = 0;
    for (uint32_t v = t; v < e->row_vectors; v += c->n_threads) {
      float x[LANES], most = largest;
      NAMED(widen)(x, load_vector(e->logits[c->rank], r * e->row_vectors + v));
      UNROLL for (int i = 0; i < LANES; i++) most = larger(most, x[i]);
      sum = rescaled(sum, largest, most);
      UNROLL for (int i = 0; i < LANES; i++) sum += expf(x[i] - most);
      largest = most;
    }
    THREAD(c, t)->kept = THREAD(c, t)->partial = largest;
    THREAD(c, t)->value[0] = sum;
  }
  part->largest = cta_largest(c);
  EACH_THREAD(c, t)
  THREAD(c, t)->partial = rescaled(THREAD(c, t)->value[0], THREAD(c, t)->kept, part->largest);
  part->sum = cta_sum(c);
  int64_t column = e->target[c->rank][r] - (int64_t)c->rank * e->row_vectors * LANES;
  part->target = 0;
  if (column >= 0 && column < (int64_t)e->row_vectors * LANES) {
    float x[LANES];
    NAMED(widen)(x, load_vector(e->logits[c->rank], r * e->row_vectors + (uint64_t)column / LANES));
    UNROLL for (int i = 0; i < LANES; i++) part->target = i == column % LANES ? x[i] : part->target;
  }
}

TPRT_INLINE void NAMED(finish_entropy)(cta *c, const fused_entropy *e, uint64_t r) {
  row_part part[FUSED_RANKS]; /* of ranks that are not there: nothing */
  float largest = -INFINITY, sum = 0, target = 0;
  UNROLL for (uint32_t p = 0; p < FUSED_RANKS; p++) {
    part[p].largest = -INFINITY;
    part[p].sum = part[p].target = 0;
    if (p < c->args->n_ranks) {
      vector v = load_vector(staging_slot(c, c->rank, p), r);
      part[p].largest = float_of(v.word[0]);
      part[p].sum = float_of(v.word[1]);
      part[p].target = float_of(v.word[2]);
    }
    target += part[p].target; /* all but one are 0 */
    largest = larger(largest, part[p].largest);
  }
  UNROLL for (uint32_t p = 0; p < FUSED_RANKS; p++) sum += rescaled(part[p].sum, part[p].largest, largest);
  float log_sum = logf(sum) + largest;
  int64_t column = e->target[c->rank][r], n_columns = (int64_t)c->args->n_ranks * e->row_vectors * LANES;
  float loss = column >= 0 && column < n_columns ? log_sum - target : NAN;
  e->loss[c->rank][r] = column == e->ignored ? 0 : loss;
  if (e->log_sum[c->rank])
    e->log_sum[c->rank][r] = log_sum;
}

KERNEL(NAMED(tprt_cross_entropy)) {
  const fused_entropy *e = &c->args->of.entropy;
  for (uint64_t r = c->index; r < e->n_rows; r += c->n_ctas) {
    row_part part;
    NAMED(part_of_row)(c, e, r, &part);
    vector sent = {{bits_of(part.largest), bits_of(part.sum), bits_of(part.target), 0}};
    EACH_THREAD(c, t)
    if (t < c->args->n_ranks)
      store_vector(staging_slot(c, t, c->rank), r, sent);
  }
  cta_signal(c, FUSED_ARRIVED);
  cta_wait(c, FUSED_ARRIVED);
  EACH_THREAD(c, t)
  for (uint64_t r = c->index + (uint64_t)t * c->n_ctas; r < e->n_rows; r += (uint64_t)c->n_threads * c->n_ctas)
    NAMED(finish_entropy)(c, e, r);
}
