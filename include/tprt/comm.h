/* Configuration, worlds, communicators, and memory that peers can access. */
#ifndef TPRT_COMM_H
#define TPRT_COMM_H

#include "tprt/bootstrap.h"
#include "tprt/types.h"

#ifdef __cplusplus
extern "C" {
#endif

/* ---- Configuration ---- */

/* A setting of a communicator or of an operation, as text. Keys, the form of their values, and
 * where they may be given: with an operation (O), when a communicator is created (C), or later,
 * with tprt_comm_set_hint (L):
 *   timeout        seconds           O C L  deadline of operations
 *   deterministic  0 or 1            O C L  1: reductions add floats in the order of the ranks, so
 *                                           that the bits depend neither on the backend nor on the
 *                                           placement of ranks. On one host, backends on host
 *                                           memory always do. On several hosts, tcp, fabric
 *                                           and mpi then send more between them; nccl uses own
 *                                           kernels. All ranks have to agree
 *   nan_check      0 or 1              C L  a NaN in the data that this rank sends fails the
 *                                           operation with TPRT_PROGRAM
 *   flight         count               C L  operations that the flight recorder keeps; 0 turns it
 *                                           off                                    (TPRT_FLIGHT)
 *   priority       low, normal, high   C    priority of the stream in which operations run that
 *                                           name none
 *   traffic_class  0 to 255            C    quality of service in the network: the TOS byte of IP
 *                                           packets on tcp; trafficClass of nccl
 *   min_ctas       count               C    least and largest number of thread blocks with which a
 *   max_ctas       count               C    collective occupies the GPU
 *   device         number              C    CUDA device of this rank               (TPRT_DEVICE)
 *   independent    0 or 1            O      1: no other operation of the batch with this hint reads
 *                                           or writes what this one writes, see tprt_submit_batch
 *
 * An unknown key is TPRT_INVALID_ARGUMENT, with the closest known one or all of them in the text.
 * So is a known key in another place. A backend that cannot obey a hint refuses it with
 * TPRT_UNSUPPORTED; tprt_hint_backends tells which ones obey. Of two equal keys the last counts.
 * Both strings are read during the call only. */
typedef struct tprt_hint {
  const char *key, *value;
} tprt_hint;

/* Returns the key of the i-th hint, with the form of its value in *type and its meaning in *help;
 * both may be NULL. NULL past the last. Static storage. */
TPRT_API const char *tprt_hint_key(size_t i, const char **type, const char **help);
/* Writes to `names` (n bytes, truncated) the backends that obey the i-th hint, separated by ", ".
 * "" past the last. */
TPRT_API void tprt_hint_backends(size_t i, char *names, size_t n);

/* What happens when a communicator fails for the first time. */
typedef enum tprt_failure_policy {
  TPRT_FAILURE_INHERIT = 0, /* as the parent; a world: TPRT_ON_FAILURE, else return */
  TPRT_FAILURE_RETURN = 1,  /* calls return the status */
  TPRT_FAILURE_ABORT = 2,   /* prints the reason to stderr and ends the process with abort() */
} tprt_failure_policy;

enum { TPRT_COMM_CONFIG_VERSION = 1 };

/* Configuration of one communicator. Start with
 * `tprt_comm_config config = {.size = sizeof config, .version = TPRT_COMM_CONFIG_VERSION};`. A zero
 * field means: as the parent, or the default for a world. `version` counts changes of meaning; a
 * larger one than the library's is TPRT_UNSUPPORTED. Everything is copied by the call. The flight
 * recorder prints the configuration. */
typedef struct tprt_comm_config {
  size_t size;
  uint32_t version;
  tprt_failure_policy on_failure;
  /* at most 63 bytes; NULL: "world", or "" for a child. Also the name in NCCL's logs and profilers
   * (commName, NCCL 2.27 or later) */
  const char *name;
  /* stream of the operations that name none, with TPRT_CAP_STREAMS only; not inherited. NULL: such
   * operations run in a stream of the library */
  void *stream;
  /* existing directory, into which the flight recorder is written as JSON when the communicator
   * fails; see observe.h                                                        TPRT_FLIGHT_DIR */
  const char *flight_dir;
  const tprt_hint *hints;
  size_t n_hints;
} tprt_comm_config;

/* Configuration of a world. Start with `tprt_config config = {.size = sizeof config};`. A zero
 * field means: take the value of the environment variable, else the default. A size larger than the
 * library knows is accepted as long as the unknown tail is zero, and a smaller one leaves the later
 * fields zero. */
typedef struct tprt_config {
  size_t size;
  /* backend name, case ignored: "shm" (default), "loopback", "tcp", "fabric", "mpi", "nccl",
   * "self"; or the path of a plug-in */
  const char *backend;
  /* timeout of every operation                                   TPRT_TIMEOUT       600 s */
  int64_t timeout_ns;
  /* shm: staging per rank; longer messages are split             TPRT_SLOT_BYTES    512K */
  size_t slot_bytes;
  /* shm: address space for one rank's registered memory          TPRT_ARENA_BYTES   4G */
  size_t arena_bytes;
  /* shm: limit of live communicators, including splits           TPRT_MAX_COMMS     64 */
  int32_t max_comms;
  /* shm, processes: descriptor from tprt_shm_segment_create      TPRT_SEGMENT_FD */
  int32_t segment_fd;
  /* rendezvous of processes that start separately. Borrowed for the duration of the call */
  tprt_store *store;
  /* the communicator of the world; NULL: the defaults. A hint `timeout` has precedence over
   * timeout_ns. `device` and `stream` belong to one rank, so worlds of several threads refuse
   * them */
  const tprt_comm_config *comm;
} tprt_config;

/* An environment variable that the library reads, for documentation. Variables are parsed strictly:
 * the creation of a world is TPRT_INVALID_ARGUMENT if the value of one is malformed, and warns, in
 * rank 0, of variables TPRT_... that do not exist. Set-user-id programs ignore them. */
typedef struct tprt_env_var {
  const char *name, *type, *default_value, *help;
} tprt_env_var;
/* Returns the table of variables and its length in *n. Static storage. */
TPRT_API const tprt_env_var *tprt_env(size_t *n);

/* Returns the name of the i-th backend; NULL past the last. */
TPRT_API const char *tprt_backend_name(size_t i);

/* Functions through which the library takes all of its heap memory. `release` gets pointers that
 * `allocate` returned; the alignment is at least 16. Set the allocator before any other call; NULL
 * restores malloc and free. */
typedef struct tprt_allocator {
  void *(*allocate)(void *user, size_t bytes);
  void (*release)(void *user, void *memory);
  void *user;
} tprt_allocator;
TPRT_API void tprt_set_allocator(const tprt_allocator *allocator);

/* Receives errors that no caller can be given: work that fails while its communicator is being
 * destroyed; and warnings of variables of the environment that do not exist. NULL, the default,
 * drops the errors and prints the warnings on stderr. Called from any thread. */
typedef struct tprt_logger {
  void (*log)(void *user, const char *text);
  void *user;
} tprt_logger;
TPRT_API void tprt_set_logger(const tprt_logger *logger);

/* ---- Communicators ---- */

typedef struct tprt_comm tprt_comm;

/* Creates a world of n ranks inside this process and writes its n handles. Handle r is for the
 * thread that acts as rank r. Backend "shm", "loopback", or "self" when n is 1. `config` may be
 * NULL. */
TPRT_API tprt_status tprt_world_create_threads(int n_ranks, const tprt_config *config,
                                               tprt_comm **comms);

/* For process launchers: creates a shared memory segment for n ranks. The descriptor is
 * close-on-exec; the launcher lets every worker inherit it (or a duplicate) and closes its own. The
 * sizes in `config` apply to all ranks. */
TPRT_API tprt_status tprt_shm_segment_create(int n_ranks, const tprt_config *config, int *fd);

/* Joins a world as one of its ranks and waits, within the timeout, for the others. "shm" needs a
 * segment descriptor, which stays the caller's, or a store, through which rank 0 passes a
 * descriptor to the others. "self" needs n_ranks 1. With n_ranks == 0, the number of ranks and the
 * rank come from the environment as mpirun, torchrun, srun or another launcher set it (see the
 * table in bootstrap.h); so does the descriptor or store if `config` has neither. In a spare that a
 * launcher started (TPRT_MEMBER_KEY in bootstrap.h) it waits for a place, like tprt_comm_join, and
 * joins the epoch in which it has one. */
TPRT_API tprt_status tprt_world_create(int n_ranks, int rank, const tprt_config *config,
                                       tprt_comm **comm);

/* Completes pending work within the timeout and releases the handle. Peers need not do this at the
 * same time; a peer that still waits for this rank gets TPRT_PEER_DEAD. NULL is allowed. */
TPRT_API void tprt_comm_destroy(tprt_comm *comm);

/* Completes pending work within the timeout and ends the communicator. Later calls return
 * TPRT_INVALID_STATE; peers that wait for this rank get TPRT_PEER_DEAD. The handle must still be
 * released with tprt_comm_destroy. */
TPRT_API tprt_status tprt_comm_finalize(tprt_comm *comm);

TPRT_API int tprt_comm_rank(const tprt_comm *comm);
TPRT_API int tprt_comm_size(const tprt_comm *comm);
TPRT_API const char *tprt_comm_backend(const tprt_comm *comm);
/* Returns the number of ranks of the whole world on this host: the divisor for the threads per
 * rank. */
TPRT_API int tprt_comm_host_ranks(const tprt_comm *comm);
/* Returns the world rank of local rank `rank`; -1 if there is none. */
TPRT_API int tprt_comm_world_rank(const tprt_comm *comm, int rank);

/* The inverse: returns the local rank of a world rank; -1 if it is not a member. */
TPRT_API int tprt_comm_local_rank(const tprt_comm *comm, int world_rank);
/* Returns "world", the name given at creation or to tprt_comm_named, or "". Lives as long as
 * `comm`. */
TPRT_API const char *tprt_comm_name(const tprt_comm *comm);

/* Collective over `comm`. Ranks of equal color >= 0 form a new communicator, ordered by key, then
 * by rank. With a negative color, *child becomes NULL, also if the groups of the other ranks could
 * not be created (TPRT_NO_MEMORY). */
TPRT_API tprt_status tprt_comm_split(tprt_comm *comm, int color, int64_t key, tprt_comm **child);
/* The same with a configuration, which may be NULL. Ranks of one group pass equal hints; names and
 * the other fields may differ. If a rank's configuration is invalid, only that rank fails and the
 * others wait for it until their timeout. */
TPRT_API tprt_status tprt_comm_split_with(tprt_comm *comm, int color, int64_t key,
                                          const tprt_comm_config *config, tprt_comm **child);

/* Creates a communicator of these ranks of `comm`, in this order. Collective over the listed ranks.
 * All other ranks get TPRT_OK and NULL without waiting, unless `comm` has failed; and so does a
 * call with an empty list. A rank outside `comm`, or listed twice, is an error. */
TPRT_API tprt_status tprt_comm_split_ranks(tprt_comm *comm, const int *ranks, int n_ranks,
                                           tprt_comm **child);
/* The same with a configuration, as for tprt_comm_split_with. */
TPRT_API tprt_status tprt_comm_split_ranks_with(tprt_comm *comm, const int *ranks, int n_ranks,
                                                const tprt_comm_config *config, tprt_comm **child);

/* Like tprt_comm_split_ranks, with a name of at most 63 bytes. The result is cached and borrowed:
 * it lives as long as `comm`. Using the same name with other ranks is an error. */
TPRT_API tprt_status tprt_comm_named(tprt_comm *comm, const char *name, const int *ranks,
                                     int n_ranks, tprt_comm **child);
/* Returns the communicator that tprt_comm_named created under this name; NULL if there is none or
 * this rank is not a member. Borrowed. */
TPRT_API tprt_comm *tprt_comm_find(tprt_comm *comm, const char *name);

/* Writes the coordinates of device `rank` of a mesh. Devices are numbered row-major. */
TPRT_API tprt_status tprt_mesh_coordinates(int n_axes, const int64_t *sizes, int64_t rank,
                                           int64_t *coordinates);

/* Returns the sub-communicator of this rank along some axes of a mesh: the ranks that differ from
 * this one only in the `n_group` axes listed in `group`. Collective over `comm`, whose ranks form a
 * mesh of `n_axes` axes of these sizes, numbered row-major. The rank in the result counts row-major
 * in the order of `group`. Cached and borrowed: it lives as long as `comm`. */
TPRT_API tprt_status tprt_comm_axes(tprt_comm *comm, int n_axes, const int64_t *sizes, int n_group,
                                    const int32_t *group, tprt_comm **child);

/* All-gathers a tensor that is sharded over a mesh: axis i shards dimension dims[i], or none if
 * that is -1. If several axes shard one dimension, the first is the major-most. `shape` is the
 * shape of this rank's shard. Collective over `comm`; returns when done. send and recv must not
 * overlap. */
TPRT_API tprt_status tprt_gather_all_axes(tprt_comm *comm, int n_axes, const int64_t *sizes,
                                          const int32_t *dims, const void *send, void *recv,
                                          tprt_dtype dtype, int n_dims, const int64_t *shape);

/* Aborts the communicator, from any thread. Pending operations, and the next one of each other
 * rank, end with TPRT_ABORTED; later ones with TPRT_INVALID_STATE. */
TPRT_API tprt_status tprt_comm_abort(tprt_comm *comm);
/* Return the sticky status, and the text of the failure that caused it ("" if none; valid while the
 * communicator lives). */
TPRT_API tprt_status tprt_comm_status(const tprt_comm *comm);
TPRT_API const char *tprt_comm_error(const tprt_comm *comm);

/* Recovers from a failure: creates a communicator of the ranks that call this within timeout_ns (0:
 * the communicator's timeout), in their old order, without ranks that have ended. It returns early
 * once every rank has either called it or ended. A rank that is late is left out and gets
 * TPRT_INVALID_STATE. A communicator that has not failed is aborted first. Can be called once per
 * communicator, which must still be destroyed; the new one shares its world's memory. On mpi this
 * covers ranks that leave, are late or disagree, but not a dead process: MPI launchers end all
 * processes of a job when one dies. */
TPRT_API tprt_status tprt_comm_shrink(tprt_comm *comm, int64_t timeout_ns, tprt_comm **child);
/* Like tprt_comm_shrink, but all ranks must call it: if one is missing, all callers get
 * TPRT_PEER_DEAD with its name. */
TPRT_API tprt_status tprt_comm_rebuild(tprt_comm *comm, int64_t timeout_ns, tprt_comm **child);

/* ---- Communicators whose processes change ----
 *
 * A communicator continues with other processes in its next epoch: spares replace ranks that have
 * ended, more ranks join, or some leave. Spares are processes that wait in a store, in
 * tprt_comm_join. The ranks call tprt_comm_reconfigure with the same store, which should be an open
 * one (see tprt_store_config) that a process other than the ranks serves, since a store ends with
 * its server. One store can serve several communicators with different names. Whoever may enter the
 * store may join: it asks for the job's secret like at the start.
 *
 * An epoch is a new world, with connections or shared memory of its own, so nothing that was sent
 * in an old epoch arrives in it, and its ranks are numbered from 0. Only backends with
 * TPRT_CAP_ELASTIC can do this; others return TPRT_UNSUPPORTED with the reason. */

enum { TPRT_SPARE = -1 };

/* Creates the next epoch of `comm`, which need not have failed. All of its ranks that are left call
 * this with the same places; ranks that have not called it after half of timeout_ns (0: the
 * communicator's timeout) are left out like those that have ended. Spares may come until the end of
 * timeout_ns; the creation of the new world then has another second.
 *
 * ranks[i], for i < n_ranks, says who becomes rank i: a rank of `comm`, or TPRT_SPARE. A spare also
 * takes the place of a rank that has ended or is left out. With `ranks` NULL everyone stays where
 * it is, and n_ranks (0: as many as now) may be larger than now: the additional ranks are spares.
 * So (comm, NULL, 0, ...) replaces what is lost, and (comm, NULL, n + 2, ...) lets two join.
 *
 * `config` is that of the new world, like for tprt_world_create: its store is where spares wait
 * and is borrowed for the call; without it, that in which the launcher lets spares wait, if it does
 * (TPRT_MEMBER_KEY in bootstrap.h). It is not needed if no place is for a spare, but without it two
 * groups of ranks that lose each other may both continue. Without `config->comm`,
 * name, hints, policy and directory are those of `comm`. The backend stays the same; of a rank that
 * becomes rank 0, sizes count.
 *
 * *next is NULL for a rank without a place. If ranks end during the call, it tries again without
 * them. On failure all callers get the same status:
 *   TPRT_TIMEOUT           no spare came; the text names the place
 *   TPRT_INVALID_ARGUMENT  nothing has happened, unless no rank with a place is left
 *   TPRT_INVALID_STATE     this rank was left out, or other ranks have continued without it
 *   TPRT_MISMATCH          the ranks asked for different places
 * After a failure `comm` can be used for nothing but another tprt_comm_reconfigure, or
 * tprt_comm_shrink. In any case it must be destroyed. */
TPRT_API tprt_status tprt_comm_reconfigure(tprt_comm *comm, const int *ranks, int n_ranks,
                                           const tprt_config *config, int64_t timeout_ns,
                                           tprt_comm **next);

/* Waits as a spare in `config->store` until the communicator named `config->comm->name` (default
 * "world") has a place, and takes it. TPRT_TIMEOUT if it has none within timeout_ns (0: that of
 * `config`); TPRT_PEER_DEAD when the store is closed. A spare whose place comes to nothing, because
 * others could not continue, waits on. The store is borrowed for the call. */
TPRT_API tprt_status tprt_comm_join(const tprt_config *config, int64_t timeout_ns,
                                    tprt_comm **comm);

/* Returns the number of the epoch: 0 for a world from tprt_world_create, and larger in each next
 * one. Numbers may be left out. Children have the epoch of their parent. */
TPRT_API int tprt_comm_epoch(const tprt_comm *comm);
/* Returns the epoch in which the process of a rank joined; -1 if there is no such rank. Ranks for
 * which this is less than tprt_comm_epoch have seen the epochs before, and can tell the others the
 * state of the job. */
TPRT_API int tprt_comm_joined(const tprt_comm *comm, int rank);

/* Allocates memory that peers can access: operations whose send and recv lie in such memory on all
 * ranks move data without staging copies. Zeroed, 64-byte aligned, a local call. On shm its pages
 * are populated here if the system supports it (Linux 5.14). Zero bytes give NULL. Free it before
 * the world is destroyed; children of a world share its memory. After an operation has failed,
 * peers may still read and write its buffers until they notice the failure; they do not report
 * success in that case. */
TPRT_API tprt_status tprt_mem_alloc(tprt_comm *comm, size_t bytes, void **memory);
TPRT_API void tprt_mem_free(tprt_comm *comm, void *memory);

#ifdef __cplusplus
}
#endif
#endif
