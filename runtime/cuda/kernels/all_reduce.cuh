/* The reduction of rows over the ranks, in one shot or two. Included by reduce_rows.cuh. */

/* One shot without access to inputs of other ranks: every rank sends its input to all ranks, and
 * later reduces the received inputs. */
TPRT_INLINE void ROWS(send)(cta *c, const fused_rows *rows) {
  const uint64_t step = (uint64_t)c->n_ctas * rows->row_vectors;
  for (uint64_t at = (uint64_t)c->index * rows->row_vectors; at < rows->n_vectors; at += step) {
    EACH_THREAD(c, t)
    EACH_ITEM(c, t, j, v, rows->row_vectors)
    if (at + v < rows->n_vectors) {
      vector sent = load_vector(rows->input[c->rank], at + v);
      ROLLED for (uint32_t p = 0; p < c->args->n_ranks; p++)
          store_vector(staging_slot(c, p, c->rank), at + v, sent);
    }
  }
}

/* Describes the row that begins at vector `mine` of the vectors that this rank reduces: its
 * position, and the places of its results. If the end of the block cuts a slice short, rows beyond
 * it have 0 vectors. */
TPRT_INLINE row ROWS(place)(cta *c, const fused_rows *rows, uint64_t mine) {
  bool slices = rows->algorithm == FUSED_SLICES;
  uint64_t block = mine / rows->slice_vectors, in_slice = mine - block * rows->slice_vectors;
  uint64_t in_block = (slices ? c->rank * rows->slice_vectors : 0) + in_slice;
  uint64_t left = in_block < rows->block_vectors ? rows->block_vectors - in_block : 0;
  left = left < rows->slice_vectors - in_slice ? left : rows->slice_vectors - in_slice;
  row r;
  r.at = block * rows->block_vectors + in_block;
  r.vectors = left < rows->row_vectors ? (uint32_t)left : rows->row_vectors;
  row_place here = {c->rank, 1, r.at}, at_front = {c->rank, 1, mine},
            everywhere = {0, c->args->n_ranks, r.at};
  r.residual = !slices ? here : rows->sharded & FUSED_SHARDED_RESIDUAL ? at_front : everywhere;
  r.out = !slices ? here : rows->sharded & FUSED_SHARDED_OUT ? at_front : everywhere;
  return r;
}

/* One shot: every rank reduces all rows for itself, from staging or from the inputs of all ranks.
 * Two shots: every rank reduces its slice. It stores the results at all ranks or, for tensors that
 * stay sharded, at the start of its own memory; if all tensors are sharded this is a
 * reduce-scatter. After all ranks have signaled in a second round, inputs that other ranks read may
 * be reused, and results that other ranks write are complete. */
KERNEL_OF_CTAS(ROWS(tprt_reduce), CTAS_AT_ONCE) {
  const fused_rows *rows = &c->args->of.rows;
  bool push = rows->algorithm == FUSED_PUSH, sent = rows->sharded & FUSED_SENT_INPUT;
  const uint64_t n_mine =
      rows->n_vectors ? rows->n_vectors / rows->block_vectors * rows->slice_vectors : 0;
  const unsigned char *slots = push   ? staging_slot(c, c->rank, 0)
                               : sent ? (const unsigned char *)rows->input[c->rank]
                                      : NULL;
  const row_sources from = {slots, push ? c->args->slot_bytes : 16 * n_mine, rows->input};
  if (push)
    ROWS(send)(c, rows);
  cta_signal(c, FUSED_ARRIVED);
  cta_wait(c, FUSED_ARRIVED);
  const uint64_t step = (uint64_t)c->n_ctas * rows->row_vectors;
  for (uint64_t mine = (uint64_t)c->index * rows->row_vectors; mine < n_mine; mine += step) {
    row r = ROWS(place)(c, rows, mine);
    if (r.vectors == 0)
      continue;
    ROWS(sum_sources)(c, &from, sent ? mine : r.at, r.vectors);
    ROWS(finish)(c, rows, &r);
  }
  if (push)
    return;
  cta_signal(c, FUSED_WRITTEN);
  cta_wait(c, FUSED_WRITTEN);
}
