/* Table of the environment variables, from which they are parsed, printed and documented. */
#define _GNU_SOURCE 1
#include "base/env.h"

#include "base/closest.h"

#include <errno.h>
#include <limits.h>
#include <math.h>
#include <stdatomic.h>
#include <stdlib.h>
#include <string.h>
#include <sys/auxv.h>
#include <unistd.h>

static const tprt_env_var table[TPRT__N_ENV] = {
    [TPRT__ENV_BACKEND] = {"TPRT_BACKEND", "name", "shm",
                           "backend, if the configuration of the world does not name one"},
    [TPRT__ENV_SIZE] = {"TPRT_SIZE", "count", NULL, "ranks of the world, set by the launcher"},
    [TPRT__ENV_RANK] = {"TPRT_RANK", "int", NULL, "this process's rank, set by the launcher"},
    [TPRT__ENV_SEGMENT_FD] = {"TPRT_SEGMENT_FD", "int", NULL,
                              "inherited descriptor of the shared segment, set by the launcher"},
    [TPRT__ENV_STORE] = {"TPRT_STORE", "address", NULL,
                         "rendezvous address of the ranks: `tcp://HOST:PORT` of rank 0, "
                         "`unix:NAME`, `file:PATH` or `fd:NUMBER`"},
    [TPRT__ENV_SPARES] = {"TPRT_SPARES", "address", NULL,
                          "address of the open store in which spares wait, set by the launcher"},
    [TPRT__ENV_SPARE] = {"TPRT_SPARE", "switch", "0",
                         "1: this process is a spare, which takes the place of a rank that has "
                         "ended, set by the launcher"},
    [TPRT__ENV_END_WITH_LAUNCHER] =
        {"TPRT_END_WITH_LAUNCHER", "switch", "0",
         "1: a rank that a launcher started is killed when the process that started it ends"},
    [TPRT__ENV_JOB] = {"TPRT_JOB", "name", NULL,
                       "name of the job; a store admits only ranks of the same job"},
    [TPRT__ENV_EPOCH] = {"TPRT_EPOCH", "int", "0", "number of times the job was restarted"},
    [TPRT__ENV_SECRET_FILE] =
        {"TPRT_SECRET_FILE", "path", NULL,
         "file of mode 0600 with the job's secret: 32 bytes or 64 hexadecimal digits"},
    [TPRT__ENV_SECRET_FD] = {"TPRT_SECRET_FD", "int", NULL,
                             "inherited descriptor from which the job's secret is read; takes "
                             "precedence over TPRT_SECRET_FILE"},
    [TPRT__ENV_INSECURE] = {"TPRT_INSECURE", "switch", "0",
                            "1: a store may be reached from other machines without a secret"},
    [TPRT__ENV_ADDRESS] = {"TPRT_ADDRESS", "address", NULL,
                           "address of this host to which ranks of other hosts connect; default: "
                           "the address known to the store"},
    [TPRT__ENV_TCP_MEMORY] = {"TPRT_TCP_MEMORY", "switch", "1",
                              "0: ranks of backends tcp and fabric that are on one host exchange "
                              "messages as between hosts, not through shared memory"},
    [TPRT__ENV_TIMEOUT] = {"TPRT_TIMEOUT", "seconds", "600",
                           "deadline of every operation, counted from submission"},
    [TPRT__ENV_SLOT_BYTES] = {"TPRT_SLOT_BYTES", "bytes", "512K",
                              "size of each of the two staging buffers per rank and communicator"},
    [TPRT__ENV_ARENA_BYTES] = {"TPRT_ARENA_BYTES", "bytes", "4G",
                               "address space for registered memory of one rank; a page uses "
                               "memory only after it is touched"},
    [TPRT__ENV_MAX_COMMS] =
        {"TPRT_MAX_COMMS", "count", "64",
         "maximum number of communicators of a world that exist at the same time"},
    [TPRT__ENV_ON_FAILURE] =
        {"TPRT_ON_FAILURE", "policy", "return",
         "abort: when a communicator fails, print the reason and end the process"},
    [TPRT__ENV_FLIGHT] =
        {"TPRT_FLIGHT", "int", NULL,
         "number of operations that the flight recorder of each communicator keeps; default with "
         "TPRT_FLIGHT_DIR: 256"},
    [TPRT__ENV_FLIGHT_DIR] =
        {"TPRT_FLIGHT_DIR", "path", NULL,
         "existing directory, into which a communicator that fails writes its flight recorder, for "
         "`shard-run flight`"},
    [TPRT__ENV_TRACE] = {"TPRT_TRACE", "path", NULL,
                         "compiled programs write a trace of their calls for Perfetto to "
                         "`PATH-RANK-of-RANKS.json`"},
    [TPRT__ENV_PROGRESS] = {"TPRT_PROGRESS", "switch", NULL,
                            "1: asynchronous collectives of a compiled program run in a separate "
                            "thread; 0: they run in the program's thread when it waits for them; "
                            "default: 1 if each rank of this host has two processors"},
    [TPRT__ENV_FABRIC_LIBRARY] = {"TPRT_FABRIC_LIBRARY", "path", "libfabric.so.1",
                                  "libfabric library of backend fabric"},
    [TPRT__ENV_FABRIC_PROVIDER] = {"TPRT_FABRIC_PROVIDER", "name", NULL,
                                   "provider of libfabric for backend fabric, such as "
                                   "`verbs;ofi_rxm`; default: the first that libfabric offers; "
                                   "rank 0 decides"},
    [TPRT__ENV_MPI_LIBRARY] = {"TPRT_MPI_LIBRARY", "path", NULL,
                               "MPI library of backend mpi; default: that of the launcher"},
    [TPRT__ENV_CUDA_LIBRARY] = {"TPRT_CUDA_LIBRARY", "path", "libcuda.so.1",
                                "CUDA driver library, for programs on GPUs"},
    [TPRT__ENV_BLASLT_LIBRARY] =
        {"TPRT_BLASLT_LIBRARY", "path", NULL,
         "cuBLASLt library, for matmuls on GPUs; default: that of CUDA 13, 12 or 11"},
    [TPRT__ENV_TIMED_GEMM] =
        {"TPRT_TIMED_GEMM", "switch", "0",
         "1: matmuls on GPUs use the fastest of the first 8 algorithms of cuBLASLt, which rank 0 "
         "measures when a program is bound and caches under ${XDG_CACHE_HOME:-$HOME/.cache}"
         "/tpshard; 0: the first one"},
    [TPRT__ENV_HOPPER_ATTENTION] = {"TPRT_HOPPER_ATTENTION", "switch", "0",
                                    "1: attention of 16-bit types on GPUs of compute capability "
                                    "9.0 uses kernels that have not run on a GPU yet "
                                    "(experimental)"},
    [TPRT__ENV_ATTENTION] =
        {"TPRT_ATTENTION", "attention", "own",
         "what runs attention on GPUs: `own`, the kernels of this library; `cudnn`, cuDNN where it "
         "supports it; `timed`, which of both is faster, as rank 0 measures when a program is "
         "bound "
         "and caches under ${XDG_CACHE_HOME:-$HOME/.cache}/tpshard"},
    [TPRT__ENV_CUDNN_LIBRARY] = {"TPRT_CUDNN_LIBRARY", "path", "libcudnn.so.9",
                                 "cuDNN library, for attention on GPUs; 9.10.2 or newer"},
    [TPRT__ENV_NCCL_LIBRARY] = {"TPRT_NCCL_LIBRARY", "path", "libnccl.so.2",
                                "NCCL library of backend nccl"},
    [TPRT__ENV_NCCL_CHECK] =
        {"TPRT_NCCL_CHECK", "switch", "0",
         "1: the ranks of backend nccl compare every operation before data moves"},
    [TPRT__ENV_NCCL_RELAXED] = {"TPRT_NCCL_RELAXED", "switch", "0",
                                "1: backend nccl leaves reductions to NCCL although it treats NaN, "
                                "zeros, overflow or factors differently from tprt: faster"},
    [TPRT__ENV_DEVICE] =
        {"TPRT_DEVICE", "int", NULL,
         "CUDA device of this rank; default: the current device, else the only one, else the "
         "local rank on the host"},
    [TPRT__ENV_GEMM] = {"TPRT_GEMM", "gemm", "auto",
                        "GEMM implementation on CPUs: `built-in`, `openblas`, or `auto`, which "
                        "measures once per host and caches the result under "
                        "${XDG_CACHE_HOME:-$HOME/.cache}/tpshard; rank 0 decides"},
    [TPRT__ENV_BLAS_LIBRARY] =
        {"TPRT_BLAS_LIBRARY", "path", NULL,
         "library with the cblas functions for 32-bit sizes; default: libopenblas.so.0, if it is "
         "installed and the address space is not limited (ulimit -v)"},
    [TPRT__ENV_BLAS_THREADS] =
        {"TPRT_BLAS_THREADS", "count", NULL,
         "threads of one contraction; default: processors / ranks of this host"},
};

const tprt_env_var *tprt_env(size_t *n) {
  TPRT__NEED_OR(n, NULL);
  *n = TPRT__N_ENV;
  return table;
}

/* ---- Names ---- */

static const char prefix[] = "TPRT_";

/* Returns the variable whose name is most like that of the entry "NAME=VALUE"; NULL if none is. */
static const char *most_like(const char *entry, size_t n) {
  enum { LONGEST_NAME = 64, PREFIX = sizeof prefix - 1 };
  char word[LONGEST_NAME + 1];
  const char *words[TPRT__N_ENV]; /* without the prefix, which is no likeness */
  if (n > LONGEST_NAME)
    return NULL;
  memcpy(word, entry + PREFIX, n - PREFIX);
  word[n - PREFIX] = 0;
  for (size_t i = 0; i < TPRT__N_ENV; i++)
    words[i] = table[i].name + PREFIX;
  const char *like = tprt__closest_word(word, words, TPRT__N_ENV);
  return like ? like - PREFIX : NULL;
}

/* Returns true if the name of n characters is in the table. */
static bool is_known(const char *name, size_t n) {
  for (size_t i = 0; i < TPRT__N_ENV; i++)
    if (strlen(table[i].name) == n && memcmp(table[i].name, name, n) == 0)
      return true;
  return false;
}

void tprt__env_warn_of_names(void) {
  static atomic_flag is_done = ATOMIC_FLAG_INIT;
  if (getauxval(AT_SECURE) || atomic_flag_test_and_set(&is_done))
    return;
  for (char **entry = environ; entry && *entry; entry++) {
    size_t n = strcspn(*entry, "=");
    if (strncmp(*entry, prefix, sizeof prefix - 1) != 0 || is_known(*entry, n))
      continue;
    const char *like = most_like(*entry, n);
    tprt__warn("the environment sets %.*s, which is not a variable of tprt; %s%s%s", (int)n, *entry,
               like ? "did you mean " : "docs/reference/environment.md lists them",
               like ? like : "", like ? "?" : "");
  }
}

/* ---- Values ---- */

const char *tprt__env_text(tprt__env_id id) {
  const char *text = secure_getenv(table[id].name);
  return text && *text ? text : table[id].default_value;
}

static bool parse_integer(const char *text, int64_t low, int64_t high, int64_t *value) {
  if (!((*text >= '0' && *text <= '9') || *text == '-'))
    return false; /* strtoll would also accept leading blanks and a plus sign */
  char *end;
  errno = 0;
  long long number = strtoll(text, &end, 10);
  if (end == text || errno || number < low || number > high)
    return false;
  static const struct {
    char suffix;
    int shift;
  } units[] = {{'K', 10}, {'M', 20}, {'G', 30}};
  int shift = 0;
  for (size_t i = 0; i < sizeof units / sizeof *units && *end; i++) {
    if (*end == units[i].suffix) {
      shift = units[i].shift;
      end++;
      break;
    }
  }
  if (*end || number > (high >> shift))
    return false;
  *value = (int64_t)number * ((int64_t)1 << shift);
  return true;
}

static bool parse_plain(const char *text, int64_t low, int64_t high, int64_t *value) {
  size_t n = strlen(text);
  if (n && strchr("KMG", text[n - 1]))
    return false;
  return parse_integer(text, low, high, value);
}

static bool parse_int(const char *text, int64_t *value) {
  return parse_plain(text, 0, INT_MAX, value);
}
static bool parse_count(const char *text, int64_t *value) {
  return parse_plain(text, 1, INT_MAX, value);
}
static bool parse_switch(const char *text, int64_t *value) {
  return parse_plain(text, 0, 1, value);
}
static bool parse_bytes(const char *text, int64_t *value) {
  return parse_integer(text, 1, INT64_C(1) << 46, value);
}
static bool parse_seconds(const char *text, int64_t *value) {
  char *end;
  if (!(*text >= '0' && *text <= '9'))
    return false;
  double seconds = strtod(text, &end);
  if (*end || !isfinite(seconds) || seconds < 1e-6 || seconds > 1e9)
    return false;
  *value = (int64_t)(seconds * 1e9);
  return true;
}

static bool parse_policy(const char *text, int64_t *value) {
  *value = strcmp(text, "abort") == 0;
  return *value || strcmp(text, "return") == 0;
}

static bool parse_class(const char *text, int64_t *value) {
  return parse_plain(text, 0, 255, value);
}

/* Finds a text in a list of names; its index is the value. */
static bool parse_name(const char *text, const char *const *names, size_t n, int64_t *value) {
  for (size_t i = 0; i < n; i++) {
    if (strcmp(text, names[i]) == 0) {
      *value = (int64_t)i;
      return true;
    }
  }
  return false;
}

static bool parse_priority(const char *text, int64_t *value) {
  static const char *const names[] = {
      [TPRT__LOW] = "low", [TPRT__NORMAL] = "normal", [TPRT__HIGH] = "high"};
  return parse_name(text, names, sizeof names / sizeof *names, value);
}

static bool parse_gemm(const char *text, int64_t *value) {
  static const char *const names[] = {[TPRT__GEMM_AUTO] = "auto",
                                      [TPRT__GEMM_BUILT_IN] = "built-in",
                                      [TPRT__GEMM_OPENBLAS] = "openblas"};
  return parse_name(text, names, sizeof names / sizeof *names, value);
}

static bool parse_attention(const char *text, int64_t *value) {
  static const char *const names[] = {[TPRT__ATTENTION_OWN] = "own",
                                      [TPRT__ATTENTION_CUDNN] = "cudnn",
                                      [TPRT__ATTENTION_TIMED] = "timed"};
  return parse_name(text, names, sizeof names / sizeof *names, value);
}

static const struct {
  const char *type, *expects;
  bool (*parse)(const char *text, int64_t *value);
} types[] = {
    {"int", "an integer >= 0", parse_int},
    {"count", "an integer >= 1", parse_count},
    {"bytes", "a number of bytes, with an optional suffix K, M or G", parse_bytes},
    {"seconds", "a number of seconds from 1e-6 to 1e9", parse_seconds},
    {"switch", "0 or 1", parse_switch},
    {"policy", "return or abort", parse_policy},
    {"gemm", "auto, built-in or openblas", parse_gemm},
    {"attention", "own, cudnn or timed", parse_attention},
    {"priority", "low, normal or high", parse_priority},
    {"class", "an integer from 0 to 255", parse_class},
};

/* Returns the index of a type; -1: its values are texts. */
static int find_type(const char *type) {
  for (size_t i = 0; i < sizeof types / sizeof *types; i++)
    if (strcmp(types[i].type, type) == 0)
      return (int)i;
  return -1;
}

tprt_status tprt__parse(const char *type, const char *what, const char *name, const char *text,
                        int64_t *value) {
  int i = find_type(type);
  if (i < 0)
    return tprt__fail(TPRT_INTERNAL, "%s has no number", name);
  if (types[i].parse(text, value))
    return TPRT_OK;
  return tprt__fail(TPRT_INVALID_ARGUMENT, "%s%s%s is \"%s\"; it must be %s", what,
                    *what ? " " : "", name, text, types[i].expects);
}

tprt_status tprt__env_number(tprt__env_id id, int64_t absent, int64_t *value) {
  const char *text = tprt__env_text(id);
  if (!text) {
    *value = absent;
    return TPRT_OK;
  }
  return tprt__parse(table[id].type, "", table[id].name, text, value);
}

/* Parses all variables that are set, also those that are read later or whose errors would be
 * dropped. */
static tprt_status check_values(void) {
  tprt_status status = TPRT_OK;
  int64_t value;
  for (tprt__env_id id = 0; id < TPRT__N_ENV && !status; id++)
    if (find_type(table[id].type) >= 0)
      status = tprt__env_number(id, 0, &value);
  return status;
}

/* Returns `given` if it is not 0, else the value of the variable. */
static tprt_status choose(int64_t given, tprt__env_id id, int64_t absent, int64_t *value) {
  if (given < 0) {
    return tprt__fail(TPRT_INVALID_ARGUMENT, "the field of tprt_config for %s is negative (%lld)",
                      table[id].name, (long long)given);
  }
  *value = given;
  return given ? TPRT_OK : tprt__env_number(id, absent, value);
}

/* Resolves the settings of the world's communicator: the configuration, else the environment. */
static tprt_status resolve_comm(const tprt_comm_config *config, int64_t timeout_ns,
                                tprt__comm_settings *settings) {
  enum { DEFAULT_FLIGHT = 256 }; /* if the recorder is written to a directory */
  const char *directory = tprt__env_text(TPRT__ENV_FLIGHT_DIR);
  int64_t aborts, flight;
  *settings = (tprt__comm_settings){.aborts = false};
  for (int i = 0; i < TPRT__N_HINTS; i++)
    settings->hints[i] = TPRT__UNSET;
  settings->hints[TPRT__HINT_TIMEOUT] = timeout_ns;
  tprt_status status = tprt__env_number(TPRT__ENV_ON_FAILURE, 0, &aborts);
  if (!status)
    status = tprt__env_number(TPRT__ENV_FLIGHT, TPRT__UNSET, &flight);
  if (status)
    return status;
  if (directory && strlen(directory) >= sizeof settings->flight_dir)
    return tprt__fail(TPRT_INVALID_ARGUMENT, "TPRT_FLIGHT_DIR has more than %d bytes",
                      TPRT__PATH_BYTES - 1);
  settings->aborts = aborts;
  settings->hints[TPRT__HINT_FLIGHT] = flight;
  if (directory)
    strcpy(settings->flight_dir, directory);
  status = directory ? tprt__flight_dir_check("TPRT_FLIGHT_DIR", directory) : TPRT_OK;
  if (status)
    return status;
  status = tprt__comm_settings_apply(config, "world", settings);
  if (settings->hints[TPRT__HINT_FLIGHT] == TPRT__UNSET)
    settings->hints[TPRT__HINT_FLIGHT] = *settings->flight_dir ? DEFAULT_FLIGHT : 0;
  return status;
}

tprt_status tprt__settings_resolve(const tprt_config *config, tprt__settings *settings) {
  tprt_config own = {.size = sizeof own};
  int64_t timeout, slot, arena, comms, fd;
  tprt__comm_settings of_comm;
  tprt_status status =
      config ? tprt__struct_copy(&own, sizeof own, config, "tprt_config") : TPRT_OK;
  if (!status)
    status = check_values();
  if (!status)
    status = choose(own.timeout_ns, TPRT__ENV_TIMEOUT, 0, &timeout);
  if (!status)
    status = choose((int64_t)own.slot_bytes, TPRT__ENV_SLOT_BYTES, 0, &slot);
  if (!status)
    status = choose((int64_t)own.arena_bytes, TPRT__ENV_ARENA_BYTES, 0, &arena);
  if (!status)
    status = choose(own.max_comms, TPRT__ENV_MAX_COMMS, 0, &comms);
  if (!status)
    status = choose(own.segment_fd, TPRT__ENV_SEGMENT_FD, -1, &fd);
  if (!status)
    status = resolve_comm(own.comm, timeout, &of_comm);
  if (status)
    return status;
  *settings = (tprt__settings){
      .backend = own.backend ? own.backend : tprt__env_text(TPRT__ENV_BACKEND),
      .timeout_ns = of_comm.hints[TPRT__HINT_TIMEOUT],
      .slot_bytes = (size_t)slot,
      .arena_bytes = (size_t)arena,
      .max_comms = (int)comms,
      .comm = of_comm,
      .segment_fd = (int)fd,
      .store = own.store,
  };
  return TPRT_OK;
}
