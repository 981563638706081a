/* Groups of ranks that run fused kernels: creation, loading and launching. */
#include "cuda/fused/fused_group.h"

#include "comm/comm.h"
#include "cuda/fused/image.h"
#include "cuda/fused/launch.h"
#include "cuda/fused/symmetric.h"

#include <stddef.h>

static struct {
  const tprt__cuda *driver;
#define MEMBER(member, symbol, parameters) cuda_result(*member) parameters;
  LAUNCH_CALLS(MEMBER)
#undef MEMBER
} cuda;

struct tprt_cuda_group {
  fused_group plan;
  cuda_module module;
  cuda_function functions[FUSED_N_KERNELS];
  tprt_cuda_symmetric *memory; /* of an attached group: its signals and staging; else NULL */
};

static tprt_status load_launch_calls(void) {
  static const tprt__symbol symbols[] = {
#define ROW(member, symbol, parameters) {symbol, &cuda.member},
      LAUNCH_CALLS(ROW)
#undef ROW
          {NULL, NULL}};
  return tprt__cuda_find(&cuda.driver, symbols);
}

static tprt_status find_driver(void) {
  static tprt__once once = TPRT__ONCE;
  return tprt__load_once(&once, load_launch_calls);
}

static tprt_status check(cuda_result result, const char *what) {
  return tprt__cuda_check(cuda.driver, result, what);
}

/* ---- creation ---- */

typedef struct device_facts {
  int multiprocessors, major, minor, cooperative;
} device_facts;

/* Queries the device of the current context, and checks that it can run the kernels. */
static tprt_status learn_device(const tprt_cuda_group_config *config, device_facts *facts) {
  cuda_context context = NULL;
  int device = 0;
  tprt_status status = check(cuda.context_current(&context), "current context");
  if (!status && !context)
    return tprt__fail(TPRT_INVALID_STATE,
                      "CUDA: the thread has no current context, which a group needs");
  if (!status)
    status = check(cuda.context_device(&device), "device of the context");
  const struct {
    int attribute, *value;
  } wanted[] = {{CUDA_MULTIPROCESSORS, &facts->multiprocessors},
                {CUDA_CAPABILITY_MAJOR, &facts->major},
                {CUDA_CAPABILITY_MINOR, &facts->minor},
                {CUDA_COOPERATIVE, &facts->cooperative}};
  for (size_t i = 0; i < sizeof wanted / sizeof *wanted && !status; i++)
    status = check(cuda.device_attribute(wanted[i].value, wanted[i].attribute, device),
                   "attributes of the device");
  if (status)
    return status;
  if (facts->major < 8)
    return tprt__fail(TPRT_UNSUPPORTED,
                      "CUDA: fused kernels need compute capability 8.0; the device has %d.%d",
                      facts->major, facts->minor);
  if (config->rank == TPRT_CUDA_ALL_RANKS && !facts->cooperative)
    return tprt__fail(
        TPRT_UNSUPPORTED,
        "CUDA: virtual ranks need cooperative launches, which the device does not have");
  return TPRT_OK;
}

/* Computes the number of CTAs of a rank that run concurrently. They wait for CTAs of other ranks,
 * so none of them may have to wait until another one ends. */
static tprt_status count_ctas(tprt_cuda_group *group, int kernel, const device_facts *facts) {
  const tprt_cuda_group_config *config = &group->plan.config;
  int each = 0, ranks_here = config->rank == TPRT_CUDA_ALL_RANKS ? config->n_ranks : 1;
  tprt_status status = check(cuda.occupancy(&each, group->functions[kernel], FUSED_THREADS, 0),
                             "occupancy of a kernel");
  if (status)
    return status;
  int fit = each * facts->multiprocessors / ranks_here,
      wanted = config->max_ctas ? config->max_ctas : 1;
  if (fit < wanted)
    return tprt__fail(
        TPRT_UNSUPPORTED,
        "CUDA: %d thread blocks of %d ranks must run concurrently; the device can run %d of %s",
        wanted, ranks_here, each * facts->multiprocessors, tprt__fused_names[kernel]);
  group->plan.n_ctas[kernel] = tprt__fused_ctas(config, fit);
  return TPRT_OK;
}

/* Loads all kernels now. A later lazy load would wait for the device, where a peer's kernel may be
 * waiting for ours. The occupancy query forces the load. */
static tprt_status load_kernels(tprt_cuda_group *group, const device_facts *facts) {
  tprt_status status =
      check(cuda.module_load(&group->module, tprt__fused_image), "loading the fused kernels");
  for (int k = 0; k < FUSED_N_KERNELS && !status; k++) {
    status = check(cuda.module_function(&group->functions[k], group->module, tprt__fused_names[k]),
                   tprt__fused_names[k]);
    if (!status)
      status = count_ctas(group, k, facts);
  }
  return status;
}

tprt_status tprt_cuda_group_create(const tprt_cuda_group_config *config, tprt_cuda_group **group) {
  TPRT__NEED(config);
  TPRT__NEED(group);
  tprt_cuda_group *made = tprt__alloc(sizeof *made);
  if (!made)
    return tprt__fail_memory(sizeof *made);
  device_facts facts = {0};
  tprt_status status = tprt__struct_copy(&made->plan.config, sizeof made->plan.config, config,
                                         "tprt_cuda_group_config");
  if (!status)
    status = tprt__fused_check_config(&made->plan.config);
  if (!status)
    status = find_driver();
  if (!status)
    status = learn_device(&made->plan.config, &facts);
  if (!status)
    status = load_kernels(made, &facts);
  if (status) {
    tprt_cuda_group_destroy(made);
    return status;
  }
  *group = made;
  return TPRT_OK;
}

void tprt_cuda_group_destroy(tprt_cuda_group *group) {
  if (group && group->module)
    cuda.module_unload(group->module);
  if (group)
    (void)tprt_cuda_symmetric_destroy(group->memory);
  tprt__free(group);
}

/* ---- attaching ---- */

/* Checks that the fields are 0 that come from the communicator and from symmetric memory. */
static tprt_status check_attached(const tprt_cuda_group_config *config) {
  bool is_given = config->n_ranks || config->rank;
  for (int r = 0; r < TPRT_CUDA_MAX_RANKS; r++)
    is_given |= config->signals[r] || config->staging[r];
  return is_given ? tprt__fail(TPRT_INVALID_ARGUMENT,
                               "an attached group takes its ranks from the communicator and "
                               "provides its own signals and staging; leave these fields 0")
                  : TPRT_OK;
}

static tprt_status check_devices(const tprt_comm *comm, const tprt_cuda_symmetric *memory) {
  int a, b;
  if (!tprt__cuda_symmetric_same_device(memory, &a, &b))
    return TPRT_OK;
  return tprt__fail(TPRT_UNSUPPORTED,
                    "ranks %d and %d share a GPU, which may not run their kernels concurrently; "
                    "for ranks of one GPU, use a group with TPRT_CUDA_ALL_RANKS",
                    tprt_comm_world_rank(comm, a), tprt_comm_world_rank(comm, b));
}

/* Different GPUs may run different numbers of CTAs; all ranks use the minimum. */
static tprt_status agree_on_ctas(tprt_comm *comm, tprt_cuda_group *group) {
  int32_t least[FUSED_N_KERNELS];
  for (int k = 0; k < FUSED_N_KERNELS; k++)
    least[k] = group->plan.n_ctas[k];
  tprt_op op = tprt_op_flat(TPRT_OP_ALL_REDUCE, least, least, FUSED_N_KERNELS, TPRT_I32, NULL);
  op.reduction = TPRT_MIN;
  tprt_status status = tprt__comm_run_internal(comm, &op);
  for (int k = 0; k < FUSED_N_KERNELS && !status; k++)
    group->plan.n_ctas[k] = least[k];
  return status;
}

/* Creates this rank's group on symmetric memory. */
static tprt_status create_on(tprt_comm *comm, const tprt_cuda_symmetric *memory,
                             tprt_cuda_group_config *config, size_t signal_bytes,
                             tprt_cuda_group **group) {
  void *const *at = tprt_cuda_symmetric_addresses(memory);
  config->n_ranks = tprt_comm_size(comm);
  config->rank = tprt_comm_rank(comm);
  for (int r = 0; r < config->n_ranks; r++) {
    config->signals[r] = at[r];
    config->staging[r] = config->staging_bytes ? (char *)at[r] + signal_bytes : NULL;
  }
  tprt_status status = check_devices(comm, memory);
  if (!status)
    status = tprt_cuda_group_create(config, group);
  status = tprt__cuda_agree(comm, status);
  return status ? status : agree_on_ctas(comm, *group);
}

tprt_status tprt_cuda_group_attach(tprt_comm *comm, const tprt_cuda_group_config *config,
                                   tprt_cuda_group **group) {
  TPRT__NEED(comm);
  TPRT__NEED(config);
  TPRT__NEED(group);
  tprt_cuda_group_config own = {0};
  tprt_cuda_symmetric *memory;
  tprt_cuda_group *made = NULL;
  size_t signal_bytes = (tprt_cuda_signal_bytes() + 255) / 256 * 256;
  tprt_status status = tprt__struct_copy(&own, sizeof own, config, "tprt_cuda_group_config");
  if (!status)
    status = check_attached(&own);
  status = tprt__cuda_symmetric_make(comm, signal_bytes + own.staging_bytes, status, &memory);
  if (status)
    return status;
  status = create_on(comm, memory, &own, signal_bytes, &made);
  if (status) {
    tprt__cuda_symmetric_give_up(memory, status);
    tprt_cuda_group_destroy(made);
    return status;
  }
  made->memory = memory;
  *group = made;
  return TPRT_OK;
}

tprt_status tprt_cuda_group_check(tprt_cuda_group *group, tprt_cuda_stream stream) {
  TPRT__NEED(group);
  const tprt_cuda_group_config *config = &group->plan.config;
  tprt_status status = check(cuda.stream_synchronize(stream), "waiting for the stream");
  for (int r = 0; r < config->n_ranks && !status; r++) {
    uint32_t failure = 0;
    if (config->rank != TPRT_CUDA_ALL_RANKS && config->rank != r)
      continue;
    cuda_address at =
        (cuda_address)(uintptr_t)config->signals[r] + offsetof(fused_signals, failure);
    status = check(cuda.copy_to_host(&failure, at, sizeof failure), "reading the signals");
    if (!status && failure)
      return tprt__fail(TPRT_TIMEOUT,
                        "CUDA: rank %d gave up waiting for the others in fused call %u", r,
                        failure);
  }
  return status;
}

const tprt_cuda_group_config *tprt__cuda_group_config(const tprt_cuda_group *group) {
  return &group->plan.config;
}

tprt_status tprt__cuda_pointers(const tprt_cuda_group *group, const char *what,
                                const void *const *pointers, fused_reach reach, const void **out) {
  return tprt__fused_pointers(&group->plan, what, pointers, reach, false, out);
}

/* ---- calls ---- */

/* Only enqueues the kernel. */
static tprt_status launch(tprt_cuda_group *group, fused_launch *plan, tprt_cuda_stream stream) {
  if (plan->n_ctas == 0)
    return TPRT_OK;
  cuda_function function = group->functions[plan->kernel];
  void *parameters[] = {&plan->args};
  const tprt_cuda_group_config *config = &group->plan.config;
  cuda_result result =
      config->rank == TPRT_CUDA_ALL_RANKS
          ? cuda.cooperative_kernel(function, plan->n_ctas, (unsigned)config->n_ranks, 1,
                                    plan->n_threads, 1, 1, 0, stream, parameters)
          : cuda.kernel(function, plan->n_ctas, 1, 1, plan->n_threads, 1, 1, 0, stream, parameters,
                        NULL);
  return check(result, tprt__fused_names[plan->kernel]);
}

tprt_status tprt__cuda_barrier(tprt_cuda_group *group, tprt_cuda_stream stream) {
  fused_launch plan;
  tprt__fused_plan_barrier(&group->plan, &plan);
  return launch(group, &plan, stream);
}

tprt_status tprt_cuda_reduce_rows(tprt_cuda_group *group, const tprt_cuda_rows *rows,
                                  tprt_cuda_stream stream) {
  TPRT__NEED(group);
  TPRT__NEED(rows);
  fused_launch plan;
  tprt_status status = tprt__fused_plan_rows(&group->plan, rows, &plan);
  return status ? status : launch(group, &plan, stream);
}

tprt_status tprt__cuda_check_rows(const tprt_cuda_group *group, const tprt_cuda_rows *rows) {
  fused_launch plan;
  return tprt__fused_plan_rows(&group->plan, rows, &plan);
}

tprt_status tprt_cuda_all_gather(tprt_cuda_group *group, tprt_dtype dtype, int n_dims,
                                 const int64_t *shape, int dim, const void *const *send,
                                 void *const *recv, tprt_cuda_stream stream) {
  TPRT__NEED(group);
  TPRT__NEED(send);
  TPRT__NEED(recv);
  if (n_dims > 0)
    TPRT__NEED(shape);
  fused_launch plan;
  tprt_status status =
      tprt__fused_plan_all_gather(&group->plan, dtype, n_dims, shape, dim, send, recv, &plan);
  return status ? status : launch(group, &plan, stream);
}

tprt_status tprt_cuda_all_to_all(tprt_cuda_group *group, tprt_dtype dtype, int n_dims,
                                 const int64_t *shape, int split_dim, int concat_dim,
                                 const void *const *send, void *const *recv,
                                 tprt_cuda_stream stream) {
  TPRT__NEED(group);
  TPRT__NEED(send);
  TPRT__NEED(recv);
  if (n_dims > 0)
    TPRT__NEED(shape);
  fused_launch plan;
  tprt_status status = tprt__fused_plan_all_to_all(&group->plan, dtype, n_dims, shape, split_dim,
                                                   concat_dim, send, recv, &plan);
  return status ? status : launch(group, &plan, stream);
}

tprt_status tprt_cuda_cross_entropy(tprt_cuda_group *group, const tprt_cuda_entropy *entropy,
                                    tprt_cuda_stream stream) {
  TPRT__NEED(group);
  TPRT__NEED(entropy);
  fused_launch plan;
  tprt_status status = tprt__fused_plan_entropy(&group->plan, entropy, &plan);
  return status ? status : launch(group, &plan, stream);
}
