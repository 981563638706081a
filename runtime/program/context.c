/* Contexts of compiled programs, and how a program is bound to one. */
#include "program/context.h"

#include <stdio.h>
#include <string.h>

/* ---- Failure ---- */

void tprt__end_started(tprt__bound *program) {
  for (int i = 0; i < program->program.n_sites && program->sites; i++) {
    tprt__site_state *state = &program->sites[i];
    if (state->work) {
      (void)tprt_work_wait(state->work, 0);
      tprt_work_destroy(state->work);
    }
    state->work = NULL;
    state->started = false;
  }
}

int32_t tprt__context_fail(tprt_context *context, tprt_status status, const tprt_comm *comm) {
  if (context->status)
    return (int32_t)context->status;
  if (comm && tprt_comm_status(comm))
    status = tprt_comm_status(comm); /* an abort, where the call said "invalid state" */
  context->status = status;
  snprintf(context->error, sizeof context->error, "%s", tprt_last_error());
  int rank = tprt_comm_rank(context->world);
  if (comm) {
    tprt__fault fault = comm->transport->backend->fault(comm->transport);
    if (fault.status == status && comm->transport->backend == context->world->transport->backend)
      rank = fault.rank;
  }
  tprt__comm_poison(context->world, status, rank);
  for (tprt__bound *program = context->programs; program; program = program->next)
    tprt__end_started(program);
  return (int32_t)status;
}

int32_t tprt_abi_fail(tprt_context *context, int32_t status, const char *message) {
  bool known = status > TPRT_IN_PROGRESS && status <= TPRT_PROGRAM;
  tprt_status code = known ? (tprt_status)status : TPRT_PROGRAM;
  tprt__fail(code, "rank %d: %s", tprt_comm_rank(context->world),
             message ? message : "the program failed");
  return tprt__context_fail(context, code, NULL);
}

int32_t tprt_abi_status(tprt_context *context) { return (int32_t)context->status; }
const char *tprt_context_error(const tprt_context *context) { return context->error; }

/* ---- Contexts ---- */

static tprt_status read_config(const tprt_context_config *config, tprt_context_config *own) {
  *own = (tprt_context_config){.size = sizeof *own};
  tprt_status status =
      config ? tprt__struct_copy(own, sizeof *own, config, "tprt_context_config") : TPRT_OK;
  if (!status && own->blas_threads < 0)
    status = tprt__fail(TPRT_INVALID_ARGUMENT, "tprt_context_config.blas_threads is %d",
                        own->blas_threads);
  if (!status && own->target != TPRT_TARGET_HOST && own->target != TPRT_TARGET_CUDA)
    status = tprt__fail(TPRT_INVALID_ARGUMENT, "tprt_context_config.target is %d, which is none",
                        (int)own->target);
  return status;
}

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

tprt_status tprt_context_create(tprt_comm *world, const tprt_context_config *config,
                                tprt_context **result) {
  int threads;
  int64_t progress;
  tprt_context_config own;
  tprt_status status = read_config(config, &own);
  if (!status && world->transport->host && own.target == TPRT_TARGET_HOST)
    status = tprt__fail(TPRT_UNSUPPORTED,
                        "programs for the host work on its memory; backend %s has that of a device",
                        tprt_comm_backend(world));
  if (!status)
    status = choose_threads(&own, world, &threads);
  if (!status)
    status = tprt__env_number(TPRT__ENV_PROGRESS, tprt__cores() >= 2 * tprt_comm_host_ranks(world),
                              &progress);
  if (!status)
    status = tprt__blas_start();
  if (status)
    return status;
  tprt_context *context = tprt__alloc(sizeof *context);
  if (!context)
    return tprt__fail_memory(sizeof *context);
  context->world = world;
  context->gemm.threads = threads;
  if (own.target == TPRT_TARGET_HOST && tprt_comm_rank(world) == 0)
    context->gemm_choice = tprt__gemm_choose(threads);
  context->on_demand = !progress;
  if (own.target == TPRT_TARGET_CUDA)
    status = tprt__gpu_create(tprt_comm_rank(world), world->transport->device, &context->gpu);
  if (!status)
    status = tprt__trace_begin(&context->trace);
  if (status) {
    tprt__gpu_destroy(context->gpu);
    tprt__free(context);
    return status;
  }
  *result = context;
  return TPRT_OK;
}

static void unbind(tprt_context *context, tprt__bound *program) {
  tprt__end_started(program);
  if (context->gpu) {
    tprt__gpu_kernels_free(context->gpu, program->kernels);
    tprt__gpu_free(context->gpu, program->registered);
    tprt__gpu_free(context->gpu, program->private_base);
  } else {
    tprt_mem_free(context->world, program->registered);
    tprt__free(program->private_base);
  }
  for (int i = 0; i < program->program.n_sites && program->sites; i++) {
    tprt__plan_clear(&program->sites[i].plan);
    tprt__gpu_contraction_free(program->sites[i].contraction);
    if (context->gpu)
      tprt__gpu_mark_free(context->gpu, program->sites[i].ended);
    tprt__rows_unbind(&program->sites[i]);
    tprt__gather_unbind(&program->sites[i]);
  }
  tprt__free(program->sites);
  tprt__program_clear(&program->program);
  tprt__free(program);
}

void tprt_context_destroy(tprt_context *context) {
  if (!context)
    return;
  tprt__graphs_end(context);
  while (context->programs) {
    tprt__bound *program = context->programs;
    context->programs = program->next;
    unbind(context, program);
  }
  tprt__trace_end(&context->trace, tprt_comm_rank(context->world), tprt_comm_size(context->world));
  tprt__free_aligned(context->gemm.scratch);
  tprt__free(context->staging);
  tprt__rows_end(context);
  if (context->gpu) {
    tprt__gpu_free(context->gpu, context->assert_word);
    tprt__gpu_destroy(context->gpu);
  }
  tprt__free(context);
}

/* ---- Binding ---- */

/* All ranks have to run the same program, otherwise they would wait for each other at different
 * sites. */
static tprt_status compare_words(tprt_context *context, uint64_t word, const char *what) {
  int n = tprt_comm_size(context->world);
  uint64_t *all = tprt__alloc((size_t)n * sizeof *all);
  if (!all)
    return tprt__fail_memory((size_t)n * sizeof *all);
  const tprt_op gather = tprt_op_flat(TPRT_OP_ALL_GATHER, &word, all, 1, TPRT_U64, NULL);
  tprt_status status = tprt__comm_tell(context->world, &gather);
  int other = 0;
  while (!status && other < n && all[other] == word)
    other++;
  tprt__free(all);
  if (status || other == n)
    return status;
  /* All see it. Nobody fails, and so aborts the world, before all have heard of it. */
  const tprt_op barrier = {.size = sizeof barrier, .kind = TPRT_OP_BARRIER};
  (void)tprt__comm_tell(context->world, &barrier);
  return tprt__fail(TPRT_MISMATCH, "rank %d and rank %d %s", tprt_comm_rank(context->world), other,
                    what);
}

/* The choice of rank 0 holds for all, since they would have other bits than one that has all. */
static tprt_status agree_on_gemm(tprt_context *context) {
  int n = tprt_comm_size(context->world);
  uint64_t mine[TPRT__GEMM_WORDS], *all = tprt__alloc((size_t)n * sizeof mine);
  if (!all)
    return tprt__fail_memory((size_t)n * sizeof mine);
  tprt__gemm_tell(&context->gemm_choice, tprt__gemm_library(), mine);
  const tprt_op gather =
      tprt_op_flat(TPRT_OP_ALL_GATHER, mine, all, TPRT__GEMM_WORDS, TPRT_U64, NULL);
  tprt_status status = tprt__comm_tell(context->world, &gather);
  if (!status) {
    context->gemm_choice = tprt__gemm_agree(n, all);
    context->gemm.library = context->gemm_choice.library;
    tprt__gemm_describe(&context->gemm_choice, context->gemm_text, sizeof context->gemm_text);
  }
  tprt__free(all);
  return status;
}

const char *tprt_context_gemm(const tprt_context *context) { return context->gemm_text; }

tprt_status tprt__bind_to_gpu(const tprt_context *context, tprt__site_state *state) {
  const tprt__transport *transport = state->comm->transport;
  tprt__plan without = state->plan;
  without.gpu = context->gpu;
  without.send_bytes = without.recv_bytes = 0;
  bool takes = transport->n_ranks > 1 && transport->backend->capabilities & TPRT_CAP_GPU_PROGRAMS;
  return takes ? transport->backend->accept(transport, &without, false) : TPRT_OK;
}

static tprt_status bind_group(tprt_context *context, const tprt__program *program,
                              const tprt__site *site, tprt__site_state *state) {
  if (site->kind == TPRT_SITE_PERMUTE && site->n_axes == 0) {
    state->comm = context->world;
    return TPRT_OK;
  }
  return tprt_comm_axes(context->world, program->n_axes, program->sizes, site->n_axes, site->axes,
                        &state->comm);
}

/* The plan of a permute, for the pairs of this rank's group. */
static tprt_status bind_permute(tprt_context *context, const tprt__program *program,
                                const tprt__site *site, tprt__site_state *state) {
  int n = tprt_comm_size(state->comm), rank = tprt_comm_rank(state->comm);
  tprt_pair *pairs = tprt__alloc((size_t)n * sizeof *pairs);
  if (!pairs)
    return tprt__fail_memory((size_t)n * sizeof *pairs);
  int64_t group, unused;
  tprt__site_position(program, site, tprt_comm_rank(context->world), &group, &unused);
  tprt_op op = site->op;
  op.pairs = pairs;
  op.n_pairs = tprt__site_pairs(program, site, group, pairs);
  tprt_status status = tprt__plan_shape(&op, n, rank, &state->plan);
  /* what is started on the host owns nothing, and looks at the source only */
  if (!status && context->gpu)
    status = tprt__plan_destinations(&op, &state->plan);
  tprt__free(pairs);
  return status;
}

static tprt_status bind_site(tprt_context *context, const tprt__program *program,
                             const tprt__site *site, tprt__site_state *state) {
  bool contracts = site->kind == TPRT_SITE_CONTRACT;
  if (contracts && context->gpu)
    return tprt__gpu_contraction_plan(context->gpu, site->contraction, site->extra[0],
                                      site->extra + 1, NULL, &state->contraction);
  if (site->kind == TPRT_SITE_MULTIPLY) {
    const tprt__gpu_finish finish = {.function = (uint32_t)site->finish.function,
                                     .bias = site->finish.bias};
    return tprt__gpu_contraction_plan(context->gpu, site->contraction, 3, site->finish.words,
                                      &finish, &state->contraction);
  }
  if (contracts) {
    size_t bytes = tprt__contraction_scratch(site->contraction);
    if (bytes <= context->scratch_bytes)
      return TPRT_OK;
    void *scratch;
    tprt_status status = tprt__alloc_aligned(bytes, &scratch);
    if (status)
      return status;
    tprt__free_aligned(context->gemm.scratch);
    context->gemm.scratch = scratch;
    context->scratch_bytes = bytes;
    return TPRT_OK;
  }
  tprt_status status = bind_group(context, program, site, state);
  if (!status)
    status = site->kind == TPRT_SITE_PERMUTE
                 ? bind_permute(context, program, site, state)
                 : tprt__plan_shape(&site->op, tprt_comm_size(state->comm),
                                    tprt_comm_rank(state->comm), &state->plan);
  if (!status && context->gpu)
    status = tprt__bind_to_gpu(context, state);
  if (!status && tprt__site_has_rows(site->kind))
    status = tprt__rows_bind(context, site, state);
  if (!status && site->kind == TPRT_SITE_GATHER_MULTIPLY)
    status = tprt__gather_bind(context, site, state);
  if (!status && site->kind == TPRT_SITE_SOFTMAX_ROWS)
    status = tprt__softmax_bind(context, state);
  return status;
}

/* Both on the GPU, whose allocations are aligned; what collectives reach there is the runtime's
 * affair. */
static tprt_status allocate_on_gpu(tprt_context *context, tprt__bound *made) {
  tprt_status status = TPRT_OK;
  if (made->program.private_bytes)
    status = tprt__gpu_alloc(context->gpu, made->program.private_bytes, &made->private_base);
  made->private_block = made->private_base;
  if (!status && made->program.registered_bytes)
    status = tprt__gpu_alloc(context->gpu, made->program.registered_bytes, &made->registered);
  return status;
}

static tprt_status allocate_blocks(tprt_context *context, tprt__bound *made) {
  size_t bytes = made->program.private_bytes;
  if (context->gpu)
    return allocate_on_gpu(context, made);
  if (bytes) {
    made->private_base = tprt__alloc(bytes + 63);
    if (!made->private_base)
      return tprt__fail_memory(bytes);
    made->private_block =
        (unsigned char *)made->private_base + (64 - (uintptr_t)made->private_base % 64) % 64;
  }
  tprt_status status =
      tprt_mem_alloc(context->world, made->program.registered_bytes, &made->registered);
  if (status || !made->registered)
    return status;
  uint64_t offset =
      context->world->transport->backend->offset(context->world->transport, made->registered);
  return compare_words(
      context, offset,
      "have registered memory at different offsets; allocate it in the same order on all ranks");
}

static tprt_status bind_steps(tprt_context *context, const int64_t *table, tprt__bound *made) {
  size_t n_words;
  tprt_status status = tprt__program_words(table, &n_words);
  if (!status)
    status = tprt__program_read(table, n_words, &made->program);
  if (status)
    return status;
  status = compare_words(context, tprt__hash(n_words, table, n_words * sizeof *table),
                         "run different programs");
  if (status)
    return status;
  if (made->program.n_devices != tprt_comm_size(context->world)) {
    return tprt__fail(TPRT_INVALID_ARGUMENT,
                      "the program is for %lld devices, the world has %d ranks",
                      (long long)made->program.n_devices, tprt_comm_size(context->world));
  }
  static const char *const names[] = {[TPRT_TARGET_HOST] = "the host",
                                      [TPRT_TARGET_CUDA] = "a CUDA GPU"};
  tprt_target target = context->gpu ? TPRT_TARGET_CUDA : TPRT_TARGET_HOST;
  if (made->program.target != target) {
    return tprt__fail(TPRT_INVALID_ARGUMENT,
                      "the program was compiled for %s, the context was created for %s",
                      names[made->program.target], names[target]);
  }
  if (!context->gpu && !*context->gemm_text)
    status = agree_on_gemm(context);
  if (status)
    return status;
  made->sites = tprt__alloc((size_t)made->program.n_sites * sizeof *made->sites);
  if (!made->sites)
    return tprt__fail_memory((size_t)made->program.n_sites * sizeof *made->sites);
  for (int i = 0; i < made->program.n_sites && !status; i++) {
    status = bind_site(context, &made->program, &made->program.sites[i], &made->sites[i]);
  }
  return status ? status : allocate_blocks(context, made);
}

static int32_t bind(tprt_context *context, const int64_t *table) {
  tprt__bound *made = tprt__alloc(sizeof *made);
  if (!made)
    return tprt__context_fail(context, tprt__fail_memory(sizeof *made), NULL);
  tprt_status status = bind_steps(context, table, made);
  if (status) {
    tprt__context_fail(context, status, context->world);
    unbind(context, made);
    return (int32_t)context->status;
  }
  made->next = context->programs;
  context->programs = context->current = made;
  return TPRT_OK;
}

int32_t tprt_abi_enter(tprt_context *context, const int64_t *program) {
  if (context->status)
    return (int32_t)context->status;
  for (tprt__bound *at = context->programs; at; at = at->next) {
    if (at->program.table != program)
      continue;
    context->current = at;
    return TPRT_OK;
  }
  return bind(context, program);
}
