/* Sites that multiply: one contraction, a matmul with an epilogue, or several contractions side by
 * side. */
#include "cuda/program/gpu_executor.h"

static tprt_status plan(tprt_context *context, const tprt__gpu_product *product,
                        tprt__gpu_contraction **made) {
  tprt_status status = tprt__gpu_contraction_plan(tprt__gpu_of(context)->gpu, product, made);
  return status ? status : tprt__timed_bind(context, *made);
}

/* ---- contractions ---- */

static tprt_status bind(tprt_context *context, const tprt__site *site, tprt__site_state *state,
                        int i) {
  const tprt__product *p = &site->products[i];
  const tprt__gpu_finish finish = {.function = (uint32_t)p->function, .bias = p->has_bias};
  const tprt__gpu_product product = {.of = &site->contraction[i],
                                     .n_loops = p->n_loops,
                                     .loops = p->loops,
                                     .factors = {site->factors[0], site->factors[1]},
                                     .finish = p->function || p->has_bias ? &finish : NULL,
                                     .tf32 = site->tf32,
                                     .lane = i};
  return plan(context, &product, &tprt__gpu_site_of(state)->products[i]);
}

tprt_status tprt__product_bind(tprt_context *context, const tprt__site *site,
                               tprt__site_state *state) {
  return bind(context, site, state, 0);
}

tprt_status tprt__products_bind(tprt_context *context, const tprt__site *site,
                                tprt__site_state *state) {
  tprt_status status = TPRT_OK;
  for (int i = 0; i < site->n_products && !status; i++)
    status = bind(context, site, state, i);
  return status;
}

tprt_status tprt__products_run(tprt_context *context, const tprt__site *site,
                               const tprt__site_state *state, const void *const *inputs,
                               void *const *outputs, int64_t *traffic) {
  tprt__gpu_operands operands[TPRT_MAX_MATMULS];
  (void)traffic;
  for (int i = 0; i < site->n_products; i++) {
    operands[i] = (tprt__gpu_operands){.a = inputs[0], .b = inputs[1], .out = outputs[i]};
    inputs += 2;
    if (site->products[i].has_bias)
      operands[i].bias = *inputs++;
  }
  return tprt__gpu_contractions_run(tprt__gpu_queue_of(context), site->n_products,
                                    tprt__gpu_site_of(state)->products, operands);
}

/* ---- matmuls with an epilogue ---- */

tprt_status tprt__matmul_bind(tprt_context *context, const tprt__site *site,
                              tprt__site_state *state) {
  const tprt__gpu_finish finish = {.function = (uint32_t)site->matmul.function,
                                   .bias = tprt__site_has(site, TPRT_IN_BIAS)};
  const tprt__gpu_product product = {.of = site->contraction,
                                     .n_loops = TPRT__MATMUL_LOOPS,
                                     .loops = site->matmul.loops,
                                     .finish = &finish,
                                     .tf32 = site->tf32};
  return plan(context, &product, &tprt__gpu_site_of(state)->products[0]);
}

tprt_status tprt__matmul_run(tprt_context *context, const tprt__site *site,
                             const tprt__site_state *state, const void *const *inputs,
                             void *const *outputs, int64_t *traffic) {
  (void)traffic;
  return tprt__gpu_matmul_run(tprt__gpu_queue_of(context), tprt__gpu_site_of(state)->products[0],
                              tprt__site_input(site, inputs, TPRT_IN_A, 0),
                              tprt__site_input(site, inputs, TPRT_IN_B, 0),
                              tprt__site_input(site, inputs, TPRT_IN_BIAS, 0),
                              tprt__site_output(site, outputs, TPRT_OUT_TENSOR, 0));
}
