/* All-gather and all-to-all: every rank stores its pieces directly at the destination ranks. A
 * block transpose, as between heads and tokens, costs nothing extra: the steps describe it. */
#ifndef TPRT_RUNTIME_CUDA_EXCHANGE_H
#define TPRT_RUNTIME_CUDA_EXCHANGE_H

TPRT_INLINE void exchange_vector(cta *c, const fused_exchange *e, uint64_t from, uint64_t to) {
  uint32_t n = c->args->n_ranks;
  const void *send = e->send[c->rank];
  vector same = load_vector(send, from + c->rank * e->piece);
  for (uint32_t i = 0; i < n; i++) {
    uint32_t p = (c->rank + i) % n; /* avoids that all ranks store to the same rank at once */
    vector v = e->piece == 0 || i == 0 ? same : load_vector(send, from + p * e->piece);
    store_vector(e->recv[p], to + c->rank * e->place, v);
  }
}

KERNEL(tprt_exchange) {
  const fused_exchange *e = &c->args->of.exchange;
  uint64_t n_lines = (uint64_t)e->extent[0] * e->extent[1], n_vectors = n_lines * e->extent[2];
  cta_signal(c, FUSED_ARRIVED);
  cta_wait(c, FUSED_ARRIVED);
  EACH_THREAD(c, t)
  for (uint64_t i = (uint64_t)c->index * c->n_threads + t; i < n_vectors;
       i += (uint64_t)c->n_ctas * c->n_threads) {
    /* fits 32 bits: there are at most 2^32 vectors */
    uint32_t line = (uint32_t)i / e->extent[2], in_line = (uint32_t)i % e->extent[2];
    uint64_t outer = line / e->extent[1], middle = line % e->extent[1];
    exchange_vector(c, e, outer * e->send_step[0] + middle * e->send_step[1] + in_line,
                    outer * e->recv_step[0] + middle * e->recv_step[1] + in_line);
  }
  cta_signal(c, FUSED_WRITTEN);
  cta_wait(c, FUSED_WRITTEN);
}

#endif
