/* Included once per type of element: the reduction of rows over the ranks, in one shot or two. */

/* One shot, of memory that the others cannot reach: every rank sends its input to all, and reduces what it was sent. */
TPRT_INLINE void NAMED(send_rows)(cta *c, const fused_rows *rows) {
  const uint64_t step = (uint64_t)c->n_ctas * rows->row_vectors;
  for (uint64_t at = (uint64_t)c->index * rows->row_vectors; at < rows->n_vectors; at += step) {
    EACH_THREAD(c, t)
    EACH_ITEM(c, t, j, v, rows->row_vectors)
    if (at + v < rows->n_vectors) {
      vector sent = load_vector(rows->input[c->rank], at + v);
      ROLLED for (uint32_t p = 0; p < c->args->n_ranks; p++) store_vector(staging_slot(c, p, c->rank), at + v, sent);
    }
  }
}

/* The row that begins at a vector, of those that this rank reduces: where its results go. */
TPRT_INLINE row NAMED(row_at)(cta *c, const fused_rows *rows, uint64_t at, uint64_t first, uint64_t end) {
  row_place here = {c->rank, 1, at}, in_slice = {c->rank, 1, at - first}, everywhere = {0, c->args->n_ranks, at};
  bool slices = rows->algorithm == FUSED_SLICES;
  row r;
  r.at = at;
  r.vectors = end - at < rows->row_vectors ? (uint32_t)(end - at) : rows->row_vectors;
  r.residual = !slices ? here : rows->sharded & FUSED_SHARDED_RESIDUAL ? in_slice : everywhere;
  r.out = !slices ? here : rows->sharded & FUSED_SHARDED_OUT ? in_slice : everywhere;
  return r;
}

/* One shot: every rank reduces all rows, for itself, of staging or of the inputs of all. Two shots: every rank reduces its slice and
 * stores the results at all ranks, or, of tensors that stay sharded, at the front of its own memory; with everything sharded this
 * is a reduce-scatter. Inputs that others read are free, and results that others write are there, when all ranks have said so in
 * a second round of signals. */
KERNEL(NAMED(tprt_reduce_rows)) {
  const fused_rows *rows = &c->args->of.rows;
  bool push = rows->algorithm == FUSED_PUSH;
  uint64_t first = rows->algorithm == FUSED_SLICES ? c->rank * rows->slice_vectors : 0, end = first + rows->slice_vectors;
  end = end < rows->n_vectors ? end : rows->n_vectors;
  const void *source[FUSED_RANKS];
  UNROLL for (uint32_t p = 0; p < FUSED_RANKS; p++) source[p] = push ? staging_slot(c, c->rank, p) : rows->input[p];
  if (push)
    NAMED(send_rows)(c, rows);
  cta_signal(c, FUSED_ARRIVED);
  cta_wait(c, FUSED_ARRIVED);
  const uint64_t step = (uint64_t)c->n_ctas * rows->row_vectors;
  for (uint64_t at = first + (uint64_t)c->index * rows->row_vectors; at < end; at += step) {
    row r = NAMED(row_at)(c, rows, at, first, end);
    NAMED(sum_sources)(c, source, r.at, r.vectors);
    NAMED(finish_row)(c, rows, &r);
  }
  if (push)
    return;
  cta_signal(c, FUSED_WRITTEN);
  cta_wait(c, FUSED_WRITTEN);
}
