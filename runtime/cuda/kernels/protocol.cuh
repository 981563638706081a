/* How the ranks of a call wait for each other; see fused_signals. */
#ifndef TPRT_RUNTIME_CUDA_PROTOCOL_H
#define TPRT_RUNTIME_CUDA_PROTOCOL_H

/* For tests: delays CTAs by a pause that depends on CTA, call and stage. */
TPRT_INLINE void cta_skew(cta *c, uint32_t stage) {
  if (c->args->skew_ns == 0)
    return;
  uint32_t hash =
      (c->epoch * 2654435761u) ^ (c->rank * 40503u + c->index * 8191u + stage * 131071u);
  hash ^= hash >> 15;
  hash *= 2246822519u;
  hash ^= hash >> 13;
  if (hash % 4 == 0)
    pause_ns(hash / 4 % c->args->skew_ns);
}

TPRT_INLINE void cta_begin(cta *c) {
  c->epoch = c->args->signals[c->rank]->epoch[c->index] + 1;
  cta_skew(c, FUSED_STAGES);
}

/* Stores the epoch in all counters, also in those of CTAs that this call does not use: a call is
 * one epoch for all of them. */
TPRT_INLINE void cta_end(cta *c) {
  cta_sync(c); /* all threads have read their counter */
  EACH_THREAD(c, t)
  for (uint32_t i = c->index + t * c->n_ctas; i < FUSED_CTAS; i += c->n_threads * c->n_ctas)
    c->args->signals[c->rank]->epoch[i] = c->epoch;
}

/* Signals all ranks that this CTA has reached the stage. Data stored before by its threads is
 * visible to CTAs that have waited for the signal. */
TPRT_INLINE void cta_signal(cta *c, uint32_t stage) {
  cta_skew(c, stage);
  cta_sync(c);
  EACH_THREAD(c, t)
  if (t < c->args->n_ranks)
    store_release(&c->args->signals[t]->flag[stage][c->index][c->rank], c->epoch);
}

TPRT_INLINE void await_flag(cta *c, const uint32_t *flag) {
  fused_signals *own = c->args->signals[c->rank];
  uint32_t polls = 0;
  while ((int32_t)(load_acquire(flag) - c->epoch) < 0) {
    pause_spin();
    if (c->args->spin_limit == 0 || ++polls < c->args->spin_limit)
      continue;
    store_release(&own->failure, c->epoch != 0 ? c->epoch : 1);
    return;
  }
}

/* Waits until all ranks have signaled the stage. After spin_limit polls it gives up: the call then
 * ends with wrong results and `failure` set, instead of hanging the device. */
TPRT_INLINE void cta_wait(cta *c, uint32_t stage) {
  EACH_THREAD(c, t)
  if (t < c->args->n_ranks)
    await_flag(c, &c->args->signals[c->rank]->flag[stage][c->index][t]);
  cta_sync(c);
  cta_skew(c, stage);
}

/* Returns the staging slot for data from rank `source` to rank `destination` in this call. */
TPRT_INLINE unsigned char *staging_slot(cta *c, uint32_t destination, uint32_t source) {
  uint32_t turn = c->epoch & 1;
  return c->args->staging[destination] + turn * c->args->turn_bytes + source * c->args->slot_bytes;
}

#endif
