/* Detects the launcher of this process: one table of the variables that launchers set. */
#define _GNU_SOURCE 1
#include "bootstrap/launcher.h"
#include "base/env.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

/* Inner launchers precede the launchers that run them: torchrun and mpirun run inside a SLURM
 * allocation. SLURM sets the variables of the step only under srun; the variables of the job also
 * exist in a batch script, which is not a rank. PMIx does not provide the number of ranks, so the
 * user sets it. */
// clang-format off
static const tprt_launcher launchers[] = {
    {.name = "tprt", .rank = "TPRT_RANK", .n_ranks = "TPRT_SIZE", .epoch = "TPRT_EPOCH", .job = {"TPRT_JOB"}},
    {.name = "torchrun", .rank = "RANK", .n_ranks = "WORLD_SIZE", .local_rank = "LOCAL_RANK", .local_ranks = "LOCAL_WORLD_SIZE",
     .epoch = "TORCHELASTIC_RESTART_COUNT", .job = {"TORCHELASTIC_RUN_ID"}},
    {.name = "openmpi", .rank = "OMPI_COMM_WORLD_RANK", .n_ranks = "OMPI_COMM_WORLD_SIZE", .local_rank = "OMPI_COMM_WORLD_LOCAL_RANK",
     .local_ranks = "OMPI_COMM_WORLD_LOCAL_SIZE", .job = {"PMIX_NAMESPACE"}},
    {.name = "pmi", .rank = "PMI_RANK", .n_ranks = "PMI_SIZE", .local_rank = "MPI_LOCALRANKID", .local_ranks = "MPI_LOCALNRANKS",
     .job = {"PMI_JOBID"}},
    {.name = "slurm", .rank = "SLURM_PROCID", .n_ranks = "SLURM_STEP_NUM_TASKS", .local_rank = "SLURM_LOCALID",
     .n_hosts = "SLURM_STEP_NUM_NODES", .epoch = "SLURM_RESTART_COUNT", .job = {"SLURM_JOB_ID", "SLURM_STEP_ID"}},
    {.name = "pmix", .rank = "PMIX_RANK", .n_ranks = "TPRT_SIZE", .job = {"PMIX_NAMESPACE"}},
};
// clang-format on
enum { N_LAUNCHERS = sizeof launchers / sizeof *launchers };

const tprt_launcher *tprt_launchers(size_t *n) {
  TPRT__NEED_OR(n, NULL);
  *n = N_LAUNCHERS;
  return launchers;
}

/* Returns NULL if the variable is not set, or if the launcher has no such variable. */
static const char *text_of(const char *name) {
  const char *text = name ? secure_getenv(name) : NULL;
  return text && *text ? text : NULL;
}

static tprt_status number_of(const char *name, const char *type, int64_t absent, int64_t *value) {
  const char *text = text_of(name);
  *value = absent;
  return text ? tprt__parse(type, "", name, text, value) : TPRT_OK;
}

static tprt_status read_ranks(const tprt_launcher *row, tprt_launch *launch) {
  int64_t rank, n_ranks, local_rank, local_ranks, n_hosts, epoch;
  tprt_status status = number_of(row->n_ranks, "count", 0, &n_ranks);
  if (!status)
    status = number_of(row->rank, "int", 0, &rank);
  if (!status && rank >= n_ranks)
    status = tprt__fail(TPRT_INVALID_ARGUMENT, "%s is %lld; it must be below %s, which is %lld",
                        row->rank, (long long)rank, row->n_ranks, (long long)n_ranks);
  if (!status)
    status = number_of(row->local_rank, "int", -1, &local_rank);
  if (!status)
    status = number_of(row->local_ranks, "count", 0, &local_ranks);
  if (!status)
    status = number_of(row->n_hosts, "count", 0, &n_hosts);
  if (!status && n_hosts == 1)
    local_ranks = n_ranks;
  if (!status && (local_ranks > n_ranks || (local_ranks && local_rank >= local_ranks)))
    status = tprt__fail(TPRT_INVALID_ARGUMENT,
                        "%s is %lld, but there are %lld ranks on this host and %lld in total",
                        row->local_rank, (long long)local_rank, (long long)local_ranks,
                        (long long)n_ranks);
  if (!status)
    status = number_of(row->epoch, "int", 0, &epoch);
  if (status)
    return status;
  launch->rank = (int32_t)rank;
  launch->n_ranks = (int32_t)n_ranks;
  launch->local_rank = (int32_t)local_rank;
  launch->local_ranks = (int32_t)local_ranks;
  launch->epoch = (int32_t)epoch;
  return TPRT_OK;
}

static tprt_status read_job(const tprt_launcher *row, tprt_launch *launch) {
  const char *first = text_of(row->job[0]), *second = text_of(row->job[1]);
  int n = snprintf(launch->job, sizeof launch->job, "%s%s%s", first ? first : "",
                   first && second ? "." : "", first && second ? second : "");
  if (n < 0 || (size_t)n >= sizeof launch->job)
    return tprt__fail(TPRT_INVALID_ARGUMENT, "%s has %d bytes; at most %zu are allowed",
                      row->job[0], n, sizeof launch->job - 1);
  return TPRT_OK;
}

/* torchrun's agent may serve a store of its own at MASTER_PORT, and sets a variable if it does; our
 * store then uses the next port. */
static tprt_status read_master(tprt_launch *launch) {
  const char *host = text_of("MASTER_ADDR"), *agent = text_of("TORCHELASTIC_USE_AGENT_STORE");
  int64_t port;
  tprt_status status = number_of("MASTER_PORT", "count", 0, &port);
  if (!status && (host != NULL) != (port != 0))
    status = tprt__fail(TPRT_INVALID_ARGUMENT, "%s is set without %s",
                        host ? "MASTER_ADDR" : "MASTER_PORT", host ? "MASTER_PORT" : "MASTER_ADDR");
  if (status || !host)
    return status;
  port += agent && strcmp(agent, "True") == 0;
  if (port > 65535)
    return tprt__fail(
        TPRT_INVALID_ARGUMENT,
        "MASTER_PORT is \"%s\"; it must be below 65536, or below 65535 if torchrun's agent uses it",
        text_of("MASTER_PORT"));
  bool bare = strchr(host, ':') && host[0] != '['; /* an IPv6 address */
  int n = snprintf(launch->store, sizeof launch->store, "tcp://%s%s%s:%lld", bare ? "[" : "", host,
                   bare ? "]" : "", (long long)port);
  return n > 0 && (size_t)n < sizeof launch->store
             ? TPRT_OK
             : tprt__fail(TPRT_INVALID_ARGUMENT, "MASTER_ADDR has %d bytes", n);
}

/* Determines where the ranks meet: the address set by the user, else the master's address, else, if
 * all ranks run on this host, a socket named after the job. */
static tprt_status read_store(tprt_launch *launch) {
  const char *given = tprt__env_text(TPRT__ENV_STORE);
  if (given && strlen(given) >= sizeof launch->store)
    return tprt__fail(TPRT_INVALID_ARGUMENT, "TPRT_STORE has %zu bytes; at most %zu are allowed",
                      strlen(given), sizeof launch->store - 1);
  if (given) {
    snprintf(launch->store, sizeof launch->store, "%s", given);
    return TPRT_OK;
  }
  tprt_status status = read_master(launch);
  if (!status && !*launch->store && *launch->job && launch->local_ranks == launch->n_ranks)
    snprintf(launch->store, sizeof launch->store, "unix:tprt-%u-%s-%.48s-%d", (unsigned)geteuid(),
             launch->launcher, launch->job, launch->epoch);
  return status;
}

static tprt_status fail_absent(void) {
  for (size_t i = 0; i < N_LAUNCHERS; i++) {
    bool rank = text_of(launchers[i].rank) != NULL;
    /* the user sets ours, so one that is missing was forgotten */
    if (rank != (text_of(launchers[i].n_ranks) != NULL))
      return tprt__fail(i == 0 ? TPRT_INVALID_ARGUMENT : TPRT_INVALID_STATE,
                        "no launcher started this process: %s is set without %s",
                        rank ? launchers[i].rank : launchers[i].n_ranks,
                        rank ? launchers[i].n_ranks : launchers[i].rank);
  }
  return tprt__fail(TPRT_INVALID_STATE,
                    "no launcher started this process: neither TPRT_RANK and TPRT_SIZE nor the "
                    "variables of torchrun, mpirun or srun are set");
}

static tprt_status read_spares(tprt_launch *launch) {
  const char *given = tprt__env_text(TPRT__ENV_SPARES);
  int64_t is_spare;
  tprt_status status = tprt__env_number(TPRT__ENV_SPARE, 0, &is_spare);
  if (!status && is_spare && !given)
    status = tprt__fail(TPRT_INVALID_ARGUMENT, "TPRT_SPARE is set without TPRT_SPARES");
  if (!status && given && strlen(given) >= sizeof launch->spares)
    status = tprt__fail(TPRT_INVALID_ARGUMENT, "TPRT_SPARES has %zu bytes; at most %zu are allowed",
                        strlen(given), sizeof launch->spares - 1);
  if (status || !given)
    return status;
  snprintf(launch->spares, sizeof launch->spares, "%s", given);
  launch->is_spare = (int32_t)is_spare;
  return TPRT_OK;
}

tprt_status tprt_launch_find(tprt_launch *launch) {
  TPRT__NEED(launch);
  tprt_launch found = {.size = sizeof found};
  const tprt_launcher *row = launchers;
  /* validates its size */
  tprt_status status = tprt__struct_copy(&found, sizeof found, launch, "tprt_launch");
  if (status)
    return status;
  size_t size = found.size < sizeof found ? found.size : sizeof found;
  while (row < launchers + N_LAUNCHERS && !(text_of(row->rank) && text_of(row->n_ranks)))
    row++;
  if (row == launchers + N_LAUNCHERS)
    return fail_absent();
  found = (tprt_launch){.size = found.size};
  snprintf(found.launcher, sizeof found.launcher, "%s", row->name);
  status = read_ranks(row, &found);
  if (!status)
    status = read_job(row, &found);
  if (!status)
    status = read_store(&found);
  if (!status)
    status = read_spares(&found);
  if (!status)
    memcpy(launch, &found, size);
  return status;
}

tprt_status tprt__launch_store(const tprt_launch *launch, int64_t timeout_ns, tprt_store **store) {
  const tprt_store_config config = {.size = sizeof config,
                                    .n_ranks = launch->n_ranks,
                                    .rank = launch->rank,
                                    .job = launch->job,
                                    .epoch = launch->epoch,
                                    .timeout_ns = timeout_ns};
  if (*launch->store)
    return tprt_store_open(launch->store, &config, store);
  return tprt__fail(TPRT_INVALID_ARGUMENT,
                    "launcher %s provides no rendezvous address for its %d ranks: set TPRT_STORE "
                    "to an address, e.g. tcp://HOST:PORT of rank 0, or MASTER_ADDR and MASTER_PORT",
                    launch->launcher, launch->n_ranks);
}

tprt_status tprt__launch_spares(const tprt_launch *launch, int64_t timeout_ns, tprt_store **store) {
  const tprt_store_config config = {.size = sizeof config, .rank = 1, .timeout_ns = timeout_ns};
  return tprt_store_open(launch->spares, &config, store);
}

tprt_status tprt__launch_enrol(tprt_store *spares) {
  char key[TPRT_STORE_KEY_BYTES];
  snprintf(key, sizeof key, TPRT_MEMBER_KEY, (int)getpid());
  return tprt_store_set(spares, key, "", 0);
}
