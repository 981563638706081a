/* Creates contexts, binds programs to them, and records the first failure of a context. */
#include "program/executor.h"

#include <stdio.h>
#include <string.h>

/* ---- Failure ---- */

/* Ends all started operations. Afterwards their buffers belong to the caller again. */
static void end_started(const tprt_context *context, tprt__bound *program) {
  for (int i = 0; i < program->program.n_sites && program->sites; i++) {
    context->executor->abandon(&program->sites[i]);
    program->sites[i].started = false;
  }
}

int32_t tprt__context_fail(tprt_context *context, tprt_status status, const tprt_comm *comm) {
  if (context->status)
    return (int32_t)context->status;
  if (comm && tprt_comm_status(comm))
    /* after an abort, the call itself only reports "invalid state" */
    status = tprt_comm_status(comm);
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
    end_started(context, program);
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

const char *tprt_context_error(const tprt_context *context) {
  TPRT__NEED_OR(context, "");
  return context->error;
}

/* ---- Contexts ---- */

static const tprt__executor *const executors[] = {[TPRT_TARGET_HOST] = &tprt__host_executor,
                                                  [TPRT_TARGET_CUDA] = &tprt__gpu_executor};

static tprt_status read_config(const tprt_context_config *config, tprt_context_config *own) {
  *own = (tprt_context_config){.size = sizeof *own};
  tprt_status status =
      config ? tprt__struct_copy(own, sizeof *own, config, "tprt_context_config") : TPRT_OK;
  if (!status && own->blas_threads < 0)
    status =
        tprt__fail(TPRT_INVALID_ARGUMENT, "tprt_context_config.blas_threads is %d; it must be >= 0",
                   own->blas_threads);
  if (!status && own->target != TPRT_TARGET_HOST && own->target != TPRT_TARGET_CUDA)
    status =
        tprt__fail(TPRT_INVALID_ARGUMENT, "tprt_context_config.target is %d, which is not a target",
                   (int)own->target);
  return status;
}

tprt_status tprt_context_create(tprt_comm *world, const tprt_context_config *config,
                                tprt_context **context) {
  TPRT__NEED(world);
  TPRT__NEED(context);
  tprt_context_config own;
  tprt_status status = read_config(config, &own);
  if (status)
    return status;
  tprt_context *made = tprt__alloc(sizeof *made);
  if (!made)
    return tprt__fail_memory(sizeof *made);
  made->world = world;
  made->executor = executors[own.target];
  status = made->executor->create(made, &own);
  if (!status) {
    status = tprt__trace_begin(&made->trace);
    if (status)
      made->executor->destroy(made);
  }
  if (status) {
    tprt__free(made);
    return status;
  }
  *context = made;
  return TPRT_OK;
}

static void unbind(tprt_context *context, tprt__bound *program) {
  end_started(context, program);
  context->executor->release(context, program);
  for (int i = 0; i < program->program.n_sites && program->sites; i++) {
    context->executor->unbind_site(context, &program->sites[i]);
    tprt__plan_clear(&program->sites[i].plan);
  }
  tprt__free(program->sites);
  tprt__program_clear(&program->program);
  tprt__free(program);
}

const char *tprt_context_gemm(const tprt_context *context) {
  TPRT__NEED_OR(context, "");
  return context->executor->gemm(context);
}

const char *tprt_context_attention(const tprt_context *context) {
  TPRT__NEED_OR(context, "");
  return context->executor->attention(context);
}

void tprt_context_destroy(tprt_context *context) {
  if (!context)
    return;
  while (context->programs) {
    tprt__bound *program = context->programs;
    context->programs = program->next;
    unbind(context, program);
  }
  tprt__trace_end(&context->trace, tprt_comm_rank(context->world), tprt_comm_size(context->world));
  context->executor->destroy(context);
  tprt__free(context);
}

/* ---- Binding ---- */

tprt_status tprt__compare_words(tprt_context *context, uint64_t word, const char *what) {
  int n = tprt_comm_size(context->world);
  uint64_t *all = tprt__alloc((size_t)n * sizeof *all);
  if (!all)
    return tprt__fail_memory((size_t)n * sizeof *all);
  const tprt_op gather = tprt_op_flat(TPRT_OP_ALL_GATHER, &word, all, 1, TPRT_U64, NULL);
  tprt_status status = tprt__comm_run_internal(context->world, &gather);
  int other = 0;
  while (!status && other < n && all[other] == word)
    other++;
  tprt__free(all);
  if (status || other == n)
    return status;
  /* All ranks detect the mismatch. A failure aborts the world, so wait until all ranks have
   * received the words. */
  const tprt_op barrier = {.size = sizeof barrier, .kind = TPRT_OP_BARRIER};
  (void)tprt__comm_run_internal(context->world, &barrier);
  return tprt__fail(TPRT_MISMATCH, "rank %d and rank %d %s", tprt_comm_rank(context->world), other,
                    what);
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

/* Plans a permute with the pairs of this rank's group. */
static tprt_status plan_permute(const tprt_context *context, const tprt__program *program,
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
  if (!status && context->executor->is_asynchronous)
    status = tprt__plan_destinations(&op, &state->plan);
  tprt__free(pairs);
  return status;
}

static tprt_status bind_site(tprt_context *context, const tprt__program *program,
                             const tprt__site *site, tprt__site_state *state) {
  tprt_status status = TPRT_OK;
  if (site->op.kind) {
    status = bind_group(context, program, site, state);
    if (!status)
      status = site->kind == TPRT_SITE_PERMUTE
                   ? plan_permute(context, program, site, state)
                   : tprt__plan_shape(&site->op, tprt_comm_size(state->comm),
                                      tprt_comm_rank(state->comm), &state->plan);
  }
  return status ? status : context->executor->bind_site(context, site, state);
}

/* Reads the table. Checks that all ranks have the same table and that it fits the context. */
static tprt_status read_table(tprt_context *context, const int64_t *table, tprt__program *program) {
  size_t n_words;
  tprt_status status = tprt__program_words(table, &n_words);
  if (!status)
    status = tprt__program_read(table, n_words, program);
  if (status)
    return status;
  status = tprt__compare_words(context, tprt__hash(n_words, table, n_words * sizeof *table),
                               "run different programs");
  if (status)
    return status;
  if (program->n_devices != tprt_comm_size(context->world)) {
    return tprt__fail(TPRT_INVALID_ARGUMENT,
                      "the program is for %lld devices, the world has %d ranks",
                      (long long)program->n_devices, tprt_comm_size(context->world));
  }
  if (program->target != context->executor->target) {
    return tprt__fail(TPRT_INVALID_ARGUMENT,
                      "the program was compiled for %s, the context was created for %s",
                      executors[program->target]->name, context->executor->name);
  }
  return TPRT_OK;
}

static tprt_status bind_steps(tprt_context *context, const int64_t *table, tprt__bound *made) {
  tprt_status status = read_table(context, table, &made->program);
  if (!status)
    status = context->executor->prepare(context);
  if (status)
    return status;
  made->sites = tprt__alloc((size_t)made->program.n_sites * sizeof *made->sites);
  if (!made->sites)
    return tprt__fail_memory((size_t)made->program.n_sites * sizeof *made->sites);
  for (int i = 0; i < made->program.n_sites && !status; i++)
    status = bind_site(context, &made->program, &made->program.sites[i], &made->sites[i]);
  return status ? status : context->executor->allocate(context, made);
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
  TPRT__NEED(context);
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
