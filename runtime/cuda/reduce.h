/* Included once per type of element: the three reductions over ranks. Each does to the rows of the sum what row.h does. */

/* The row that begins at a vector, in what ends at another; its results are for rank c alone. */
TPRT_INLINE row NAMED(local_row)(cta *c, const fused_rows *rows, uint64_t at, uint64_t end) {
  row r;
  r.at = at;
  r.vectors = end - at < rows->row_vectors ? (uint32_t)(end - at) : rows->row_vectors;
  row_place here = {c->rank, 1, at};
  r.out = r.residual = r.quantised = here;
  return r;
}

/* One shot, of memory that the others cannot reach: every rank sends its input to all, and reduces what it was sent. For small
 * tensors: one round of signals. */
KERNEL(NAMED(tprt_all_reduce_push)) {
  const fused_rows *rows = &c->args->of.rows;
  for (uint64_t at = (uint64_t)c->index * rows->row_vectors; at < rows->n_vectors;
       at += (uint64_t)c->n_ctas * rows->row_vectors) {
    row r = NAMED(local_row)(c, rows, at, rows->n_vectors);
    EACH_THREAD(c, t)
    EACH_ITEM(c, t, j, v, r.vectors) {
      vector sent = load_vector(rows->input[c->rank], r.at + v);
      ROLLED for (uint32_t p = 0; p < c->args->n_ranks; p++) store_vector(staging_slot(c, p, c->rank), r.at + v, sent);
    }
  }
  cta_signal(c, FUSED_ARRIVED);
  cta_wait(c, FUSED_ARRIVED);
  const void *source[FUSED_RANKS];
  UNROLL for (uint32_t p = 0; p < FUSED_RANKS; p++) source[p] = staging_slot(c, c->rank, p);
  for (uint64_t at = (uint64_t)c->index * rows->row_vectors; at < rows->n_vectors;
       at += (uint64_t)c->n_ctas * rows->row_vectors) {
    row r = NAMED(local_row)(c, rows, at, rows->n_vectors);
    NAMED(sum_sources)(c, source, r.at, r.vectors);
    NAMED(finish_row)(c, rows, &r);
  }
}

/* One shot, of symmetric memory: every rank reads the inputs of all. The second round tells that the inputs have been read. */
KERNEL(NAMED(tprt_all_reduce_pull)) {
  const fused_rows *rows = &c->args->of.rows;
  cta_signal(c, FUSED_ARRIVED);
  cta_wait(c, FUSED_ARRIVED);
  for (uint64_t at = (uint64_t)c->index * rows->row_vectors; at < rows->n_vectors;
       at += (uint64_t)c->n_ctas * rows->row_vectors) {
    row r = NAMED(local_row)(c, rows, at, rows->n_vectors);
    NAMED(sum_sources)(c, rows->input, r.at, r.vectors);
    NAMED(finish_row)(c, rows, &r);
  }
  cta_signal(c, FUSED_WRITTEN);
  cta_wait(c, FUSED_WRITTEN);
}

/* Two shots: every rank reduces its slice of the rows and stores the results at all ranks, or, of tensors that stay sharded, at
 * the front of its own memory. With everything sharded this is a reduce-scatter. */
KERNEL(NAMED(tprt_reduce_slices)) {
  const fused_rows *rows = &c->args->of.rows;
  uint64_t first = c->rank * rows->slice_vectors, end = first + rows->slice_vectors;
  end = end < rows->n_vectors ? end : rows->n_vectors;
  cta_signal(c, FUSED_ARRIVED);
  cta_wait(c, FUSED_ARRIVED);
  for (uint64_t at = first + (uint64_t)c->index * rows->row_vectors; at < end; at += (uint64_t)c->n_ctas * rows->row_vectors) {
    row r = NAMED(local_row)(c, rows, at, end);
    row_place everywhere = {0, c->args->n_ranks, at};
    row_place in_slice = {c->rank, 1, at - first};
    r.residual = rows->sharded & FUSED_SHARDED_RESIDUAL ? in_slice : everywhere;
    r.out = r.quantised = rows->sharded & FUSED_SHARDED_OUT ? in_slice : everywhere;
    NAMED(sum_sources)(c, rows->input, r.at, r.vectors);
    NAMED(finish_row)(c, rows, &r);
  }
  cta_signal(c, FUSED_WRITTEN);
  cta_wait(c, FUSED_WRITTEN);
}
