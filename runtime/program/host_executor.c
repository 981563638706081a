/* Runs compiled programs on the host: collectives in the calling thread or in a worker thread,
 * contractions with the GEMM of runtime/cpu. */
#include "program/executor.h"
#include "program/route.h"

#include "base/env.h"
#include "cpu/gemm_choice.h"

typedef struct host_executor {
  tprt__gemm_settings gemm;
  tprt__gemm_choice choice; /* of this rank; common to all ranks once a program is bound */
  char text[512];           /* the choice in words; "" until a program is bound */
  size_t scratch_bytes;     /* size of gemm.scratch */
  tprt__route_memory route; /* for rows that routes send and receive */
  bool on_demand;           /* no worker thread: the thread that waits for a collective runs it */
} host_executor;

static tprt_status choose_threads(const tprt_context_config *config, const tprt_comm *world,
                                  int *threads) {
  tprt_status status = TPRT_OK;
  int share = tprt__cores() / tprt_comm_host_ranks(world);
  int64_t n = config->blas_threads;
  if (n == 0)
    status = tprt__env_number(TPRT__ENV_BLAS_THREADS, share > 0 ? share : 1, &n);
  if (!status)
    *threads = (int)n;
  return status;
}

static tprt_status create(tprt_context *context, const tprt_context_config *config) {
  tprt_comm *world = context->world;
  int threads;
  int64_t progress;
  if (world->transport->host)
    return tprt__fail(
        TPRT_UNSUPPORTED,
        "programs for the host need host memory; backend %s operates on device memory",
        tprt_comm_backend(world));
  tprt_status status = choose_threads(config, world, &threads);
  if (!status)
    status = tprt__env_number(TPRT__ENV_PROGRESS, tprt__cores() >= 2 * tprt_comm_host_ranks(world),
                              &progress);
  if (!status)
    status = tprt__blas_start();
  if (status)
    return status;
  host_executor *host = tprt__alloc(sizeof *host);
  if (!host)
    return tprt__fail_memory(sizeof *host);
  host->gemm.threads = threads;
  host->on_demand = !progress;
  if (tprt_comm_rank(world) == 0)
    host->choice = tprt__gemm_choose(threads);
  context->own = host;
  return TPRT_OK;
}

static void destroy(tprt_context *context) {
  host_executor *host = context->own;
  tprt__free_aligned(host->gemm.scratch);
  tprt__route_memory_free(&host->route);
  tprt__free(host);
}

/* Makes all ranks use rank 0's choice of a GEMM, because another GEMM would give other bits. */
static tprt_status prepare(tprt_context *context) {
  host_executor *host = context->own;
  if (*host->text)
    return TPRT_OK;
  int n = tprt_comm_size(context->world);
  uint64_t mine[TPRT__GEMM_WORDS], *all = tprt__alloc((size_t)n * sizeof mine);
  if (!all)
    return tprt__fail_memory((size_t)n * sizeof mine);
  tprt__gemm_encode(&host->choice, tprt__gemm_library(), mine);
  const tprt_op gather =
      tprt_op_flat(TPRT_OP_ALL_GATHER, mine, all, TPRT__GEMM_WORDS, TPRT_U64, NULL);
  tprt_status status = tprt__comm_run_internal(context->world, &gather);
  if (!status) {
    host->choice = tprt__gemm_agree(n, all);
    host->gemm.library = host->choice.library;
    tprt__gemm_describe(&host->choice, host->text, sizeof host->text);
  }
  tprt__free(all);
  return status;
}

static const char *gemm(const tprt_context *context) {
  return ((const host_executor *)context->own)->text;
}

/* Programs on the host have no fused attention. */
static const char *attention(const tprt_context *context) {
  (void)context;
  return "";
}

/* Grows the scratch buffer for a contraction. All contractions of a context share one buffer,
 * because they run one at a time. */
static tprt_status bind_site(tprt_context *context, const tprt__site *site,
                             tprt__site_state *state) {
  (void)state;
  host_executor *host = context->own;
  size_t bytes = site->contraction ? tprt__contraction_scratch(site->contraction) : 0;
  if (bytes <= host->scratch_bytes)
    return TPRT_OK;
  void *scratch;
  tprt_status status = tprt__alloc_aligned(bytes, &scratch);
  if (status)
    return status;
  tprt__free_aligned(host->gemm.scratch);
  host->gemm.scratch = scratch;
  host->scratch_bytes = bytes;
  return TPRT_OK;
}

/* state->own is the work handle of a started collective; wait and abandon free it. */
static void unbind_site(tprt_context *context, tprt__site_state *state) {
  (void)context;
  (void)state;
}

static tprt_status allocate(tprt_context *context, tprt__bound *program) {
  size_t bytes = program->program.private_bytes;
  if (bytes) {
    tprt_status status = tprt__alloc_aligned(bytes, &program->private_block);
    if (status)
      return status;
  }
  tprt_status status =
      tprt_mem_alloc(context->world, program->program.registered_bytes, &program->registered);
  if (status || !program->registered)
    return status;
  const tprt__transport *transport = context->world->transport;
  uint64_t offset = transport->backend->offset(transport, program->registered);
  return tprt__compare_words(
      context, offset,
      "have registered memory at different offsets; allocate it in the same order on all ranks");
}

static void release(tprt_context *context, tprt__bound *program) {
  tprt_mem_free(context->world, program->registered);
  tprt__free_aligned(program->private_block);
}

/* ---- Calls ---- */

static tprt_status collective(tprt_context *context, tprt__site_state *state, const void *send,
                              void *recv) {
  (void)context;
  return tprt__site_collective(state, send, recv);
}

static tprt_status start(tprt_context *context, tprt__site_state *state, const void *send,
                         void *recv) {
  const host_executor *host = context->own;
  tprt__plan plan = state->plan;
  tprt_work *work;
  tprt_status status = tprt__plan_buffers(&plan, send, recv);
  if (!status)
    status = tprt__comm_start(state->comm, &plan, tprt__deadline(tprt__comm_timeout(state->comm)),
                              host->on_demand, &work);
  if (!status)
    state->own = work;
  return status;
}

static tprt_status wait(tprt_context *context, tprt__site_state *state, tprt_call *call) {
  (void)context;
  tprt_work *work = state->own;
  state->own = NULL;
  tprt_status status = tprt_work_wait(work, 0);
  tprt__work_times(work, &call->ran_ns, &call->ended_ns);
  tprt_work_destroy(work);
  return status;
}

static void abandon(tprt__site_state *state) {
  tprt_work *work = state->own;
  state->own = NULL;
  if (work) {
    (void)tprt_work_wait(work, 0);
    tprt_work_destroy(work);
  }
}

static tprt_status contract(tprt_context *context, const tprt__site *site,
                            const tprt__site_state *state, const void *a, const void *b, void *c) {
  (void)state;
  const host_executor *host = context->own;
  tprt__contraction_run(site->contraction, &host->gemm, a, b, c);
  return TPRT_OK;
}

static tprt_status fused(tprt_context *context, const tprt__site *site, tprt__site_state *state,
                         const void *const *inputs, void *const *outputs, int64_t *traffic) {
  host_executor *host = context->own;
  if (site->kind != TPRT_SITE_ROUTE)
    return tprt__fail(TPRT_INVALID_ARGUMENT, "fused sites run on GPUs only");
  const tprt__route_tensors tensors = {tprt__site_input(site, inputs, TPRT_IN_TENSOR, 0),
                                       tprt__site_input(site, inputs, TPRT_IN_POSITION, 0),
                                       tprt__site_input(site, inputs, TPRT_IN_STARTS, 0),
                                       tprt__site_input(site, inputs, TPRT_IN_ENDS, 0),
                                       tprt__site_input(site, inputs, TPRT_IN_INIT, 0),
                                       tprt__site_output(site, outputs, TPRT_OUT_TENSOR, 0)};
  return tprt__route_run(state->comm, site, &tensors, &host->route, traffic);
}

const tprt__executor tprt__host_executor = {
    .target = TPRT_TARGET_HOST,
    .name = "the host",
    .create = create,
    .destroy = destroy,
    .prepare = prepare,
    .gemm = gemm,
    .attention = attention,
    .bind_site = bind_site,
    .unbind_site = unbind_site,
    .allocate = allocate,
    .release = release,
    .collective = collective,
    .start = start,
    .wait = wait,
    .abandon = abandon,
    .contract = contract,
    .fused = fused,
};
