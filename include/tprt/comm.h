/* Configuration, worlds, communicators, memory that peers can reach. */
#ifndef TPRT_COMM_H
#define TPRT_COMM_H

#include "tprt/bootstrap.h"
#include "tprt/types.h"

#ifdef __cplusplus
extern "C" {
#endif

/* ---- Configuration ---- */

/* Start with `tprt_config config = {.size = sizeof config};`. A zero field means: the environment
 * variable, else the default. A larger size than the library knows is accepted while the unknown
 * rest is zero. */
typedef struct tprt_config {
  size_t size;
  /* name, case ignored: "shm" (default), "loopback", "tcp", "mpi", "nccl", "self"; a plug-in's
   * path */
  const char *backend;
  /* of every operation                                          TPRT_TIMEOUT       600 s */
  int64_t timeout_ns;
  /* shm: staging per rank; longer messages go in pieces          TPRT_SLOT_BYTES   512K */
  size_t slot_bytes;
  /* shm: address space for registered memory of one rank         TPRT_ARENA_BYTES  4G */
  size_t arena_bytes;
  /* shm: communicators alive at once, splits included            TPRT_MAX_COMMS    64 */
  int32_t max_comms;
  /* shm, processes: descriptor from tprt_shm_segment_create      TPRT_SEGMENT_FD   */
  int32_t segment_fd;
  /* processes that were started apart: where they meet. Borrowed for the call */
  tprt_store *store;
} tprt_config;

/* The environment variables that the library reads, for documentation. They are parsed strictly (a
 * malformed value is TPRT_INVALID_ARGUMENT where it is needed) and ignored in set-user-id
 * programs. */
typedef struct tprt_env_var {
  const char *name, *type, *default_value, *help;
} tprt_env_var;
/* The table, with its length in *n. Static storage. */
TPRT_API const tprt_env_var *tprt_env(size_t *n);

/* The name of the i-th backend; NULL behind the last. */
TPRT_API const char *tprt_backend_name(size_t i);

/* All memory that the library takes from the heap goes through these. `release` gets what
 * `allocate` returned; alignment is at least 16. Set it before the first other call; NULL restores
 * malloc and free. */
typedef struct tprt_allocator {
  void *(*allocate)(void *user, size_t bytes);
  void (*release)(void *user, void *memory);
  void *user;
} tprt_allocator;
TPRT_API void tprt_set_allocator(const tprt_allocator *allocator);

/* Where what nobody is left to return a status to is told: work that fails while its communicator
 * is destroyed. NULL, the default, drops it. Called from any thread. */
typedef struct tprt_logger {
  void (*log)(void *user, const char *text);
  void *user;
} tprt_logger;
TPRT_API void tprt_set_logger(const tprt_logger *logger);

/* ---- Communicators ---- */

typedef struct tprt_comm tprt_comm;

/* Makes a world of n ranks inside this process and writes its n handles; handle r is for the thread
 * that plays rank r. Backend "shm", "loopback", or "self" when n is 1. `config` may be NULL. */
TPRT_API tprt_status tprt_world_create_threads(int n_ranks, const tprt_config *config,
                                               tprt_comm **comms);

/* For a launcher of processes: a shared memory segment for n ranks. The descriptor is
 * close-on-exec; the launcher lets every worker inherit it (or a duplicate) and closes its own. The
 * sizes in `config` decide for all ranks. */
TPRT_API tprt_status tprt_shm_segment_create(int n_ranks, const tprt_config *config, int *fd);

/* Joins a world as one of its ranks and waits, within the timeout, for the others. "shm" needs a
 * segment descriptor, which stays the caller's, or a store, through which rank 0 gives the others
 * one; "self" needs n_ranks 1. n_ranks == 0 takes number and rank, and without a descriptor or
 * store in `config` also those, from the environment: what mpirun, torchrun, srun or another
 * launcher in the table of bootstrap.h says. */
TPRT_API tprt_status tprt_world_create(int n_ranks, int rank, const tprt_config *config,
                                       tprt_comm **comm);

/* Completes pending work within the timeout and releases the handle. The peers need not do it at
 * the same time; one that still waits for this rank gets TPRT_PEER_DEAD. NULL is allowed. */
TPRT_API void tprt_comm_destroy(tprt_comm *comm);

/* Completes pending work within the timeout and ends the communicator, which every later call finds
 * in TPRT_INVALID_STATE, and peers that wait for this rank as PEER_DEAD. The handle still wants
 * tprt_comm_destroy. */
TPRT_API tprt_status tprt_comm_finalize(tprt_comm *comm);

TPRT_API int tprt_comm_rank(const tprt_comm *comm);
TPRT_API int tprt_comm_size(const tprt_comm *comm);
TPRT_API const char *tprt_comm_backend(const tprt_comm *comm);
/* Ranks of the whole world on this host; what threads of a rank should be divided by. */
TPRT_API int tprt_comm_host_ranks(const tprt_comm *comm);
/* The rank in the world of local rank `rank`; -1 if there is none. */
TPRT_API int tprt_comm_world_rank(const tprt_comm *comm, int rank);

/* The inverse: the local rank of a rank of the world; -1 if it is no member. */
TPRT_API int tprt_comm_local_rank(const tprt_comm *comm, int world_rank);
/* "world", the name given to tprt_comm_named, or "". Lives as long as `comm`. */
TPRT_API const char *tprt_comm_name(const tprt_comm *comm);

/* Collective over `comm`. Ranks of equal color >= 0 form a new communicator, ordered by key, then
 * by rank. A negative color gives NULL. */
TPRT_API tprt_status tprt_comm_split(tprt_comm *comm, int color, int64_t key, tprt_comm **child);

/* A communicator of these ranks of `comm`, in this order. Collective over the ranks in the list;
 * for all others, and with an empty list, the result is NULL without a wait. A rank outside `comm`,
 * or twice in the list, is an error. */
TPRT_API tprt_status tprt_comm_split_ranks(tprt_comm *comm, const int *ranks, int n_ranks,
                                           tprt_comm **child);

/* The same with a name of at most 63 bytes, cached and borrowed: it lives as long as `comm`. The
 * same name with other ranks is an error. */
TPRT_API tprt_status tprt_comm_named(tprt_comm *comm, const char *name, const int *ranks,
                                     int n_ranks, tprt_comm **child);
/* The group that tprt_comm_named made with this name; NULL if there is none or this rank is no
 * member. Borrowed. */
TPRT_API tprt_comm *tprt_comm_find(tprt_comm *comm, const char *name);

/* Where the device `rank` of a mesh stands on each axis; devices count row-major. */
TPRT_API tprt_status tprt_mesh_coordinates(int n_axes, const int64_t *sizes, int64_t rank,
                                           int64_t *coordinates);

/* Collective over `comm`, whose ranks are a mesh of `n_axes` axes of these sizes, numbered
 * row-major: the communicator of the ranks that differ from this one only in the `n_group` axes
 * named by `group`; the rank in it counts row-major in that order. Cached and borrowed: it lives as
 * long as `comm`. */
TPRT_API tprt_status tprt_comm_axes(tprt_comm *comm, int n_axes, const int64_t *sizes, int n_group,
                                    const int32_t *group, tprt_comm **child);

/* Puts a tensor together that is cut over a mesh, on all ranks: axis i cuts dimension dims[i], or
 * none if that is -1; of several axes that cut one dimension the first is the major one. `shape` is
 * that of this rank's piece. Collective over `comm`; returns when it is done. send and recv do not
 * overlap. */
TPRT_API tprt_status tprt_gather_all_axes(tprt_comm *comm, int n_axes, const int64_t *sizes,
                                          const int32_t *dims, const void *send, void *recv,
                                          tprt_dtype dtype, int n_dims, const int64_t *shape);

/* From any thread: every waiting or later operation of all ranks of this communicator ends with
 * TPRT_ABORTED. */
TPRT_API tprt_status tprt_comm_abort(tprt_comm *comm);
/* The sticky status, and the text of the failure that caused it ("" if none; valid while the
 * communicator lives). */
TPRT_API tprt_status tprt_comm_status(const tprt_comm *comm);
TPRT_API const char *tprt_comm_error(const tprt_comm *comm);

/* After a failure: a communicator of the ranks that call this within timeout_ns (0: the
 * communicator's timeout), in their old order, without those that ended. It comes as soon as all
 * others have ended; one that is late is left out and gets TPRT_INVALID_STATE. A communicator that
 * has not failed is aborted first. Once for each communicator, which still wants tprt_comm_destroy;
 * the new one shares its world's memory. On mpi this is for ranks that leave, come late or
 * disagree: launchers of MPI end all processes of a job when one dies. */
TPRT_API tprt_status tprt_comm_shrink(tprt_comm *comm, int64_t timeout_ns, tprt_comm **child);
/* The same with all ranks, or TPRT_PEER_DEAD with the name of one that is missing, on all that
 * came. */
TPRT_API tprt_status tprt_comm_rebuild(tprt_comm *comm, int64_t timeout_ns, tprt_comm **child);

/* Memory that peers can reach: operations whose send and recv lie in it on all ranks move data
 * without staging copies. Zeroed, 64-byte aligned, local call. On shm its pages exist from here on
 * where the system can do that (Linux 5.14). Zero bytes give NULL. Free it before the world is
 * destroyed; children of a world share its memory. After an operation failed, peers may still read
 * and write its buffers until they have noticed; they do not report success then. */
TPRT_API tprt_status tprt_mem_alloc(tprt_comm *comm, size_t bytes, void **memory);
TPRT_API void tprt_mem_free(tprt_comm *comm, void *memory);

#ifdef __cplusplus
}
#endif
#endif
