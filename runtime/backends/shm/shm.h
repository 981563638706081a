/* Backend "shm": the ranks of one host, threads or processes, communicate through one shared
 * segment.
 *
 * The segment is a memfd of fixed size: a header, the channels, and one arena per rank for
 * registered memory. A channel serves one communicator, or several with disjoint ranks (all groups
 * of one split). In each channel every rank of the world has a line (its flags) and two staging
 * slots. The segment contains no pointers. A value that a peer wrote is copied once and checked
 * before it is used as an offset.
 *
 * The protocol uses one counter per rank and channel, the step. A rank writes data to its slot
 * number (step & 1) and then publishes the step. It reads the slots of its peers after all of them
 * have published the same step. A slot may be overwritten two steps later: by then all peers have
 * published the step in between, so they have finished reading. An operation therefore costs one
 * flag exchange per chunk and needs no closing barrier. */
#ifndef TPRT_RUNTIME_SHM_H
#define TPRT_RUNTIME_SHM_H

#include "comm/backend.h"

#include <pthread.h>
#include <stdatomic.h>

enum { SHM_MAX_RANKS = 1024, SHM_CACHE_LINE = 64, SHM_PAGE = 4096 };

/* A rank's description of its current operation. */
typedef struct shm_notice {
  uint64_t signature[4];
  uint32_t sequence;
  /* a shm_access; with SHM_ADDRESS, the process is in the bits above it */
  uint32_t access;
  uint64_t send, recv; /* offsets or addresses of the buffers */
} shm_notice;

/* How peers access the buffers of a rank. */
enum shm_access {
  SHM_STAGED = 0,  /* not at all: the data is in the slot */
  SHM_ARENA = 1,   /* by their offsets in the rank's arena */
  SHM_ADDRESS = 2, /* by their addresses: all ranks are threads of this process */
  SHM_ACCESS_BITS = 2,
};

/* A published step with the notice of the operation that begins with it. Both share a cache line,
 * so that a rank that sees the step also has the notice. */
typedef struct shm_half {
  _Alignas(SHM_CACHE_LINE) shm_notice notice;
  _Atomic uint32_t step; /* also the futex on which waiters sleep */
  /* 1 + the processor on which the rank published the step; 0: unknown */
  _Atomic uint32_t processor;
} shm_half;
_Static_assert(sizeof(shm_half) == SHM_CACHE_LINE, "what is read after a step is there with it");

/* Additional data that only a few operations need. */
typedef struct shm_extra {
  tprt__scale scale;       /* premul_sum */
  uint64_t sent, expected; /* all_to_all_v, as in the plan */
  int64_t longest;
} shm_extra;

/* State of a rank's use of a channel. */
typedef enum shm_use { SHM_UNUSED = 0, SHM_RESERVED = 1, SHM_JOINED = 2 } shm_use;

typedef struct shm_line {
  shm_half halves[2]; /* indexed by step & 1, like the slots */
  /* On another cache line than the steps: when the rank reads n_waiters, the line of the step is
   * being transferred to a peer. */
  _Alignas(SHM_CACHE_LINE) _Atomic uint32_t n_waiters;
  _Atomic uint32_t left; /* the rank has destroyed its endpoint */
  /* a shm_use: whether the rank uses, or will use, this channel */
  _Atomic uint32_t use;
  /* counts events caused by peers, such as progress in pipes of this rank; also their futex */
  _Alignas(SHM_CACHE_LINE) _Atomic uint32_t bell;
  _Atomic uint32_t n_listeners;
  _Atomic uint32_t n_accesses; /* running accesses of this rank to memory of others */
  /* For recovery: `recovering` if this rank wants to continue, `survives` if it was decided that it
   * does. The other two are valid in the line of rank 0 of the group: the state of the decision
   * (RECOVERY_OPEN, 1 + the deciding rank, or RECOVERY_DECIDED), and the chosen channel. */
  _Alignas(SHM_CACHE_LINE) _Atomic uint32_t recovering;
  _Atomic uint32_t survives;
  _Atomic uint32_t decision;
  _Atomic int32_t next_channel;
  _Alignas(SHM_CACHE_LINE) shm_extra extra[2];
  /* of the group; valid in the line of its rank 0 */
  _Alignas(SHM_CACHE_LINE) _Atomic uint64_t fault;
} shm_line;

/* A request posted by the receiver of a pipe. */
typedef struct shm_request {
  _Atomic uint32_t state; /* REQUEST_FREE, _POSTED or _TAKEN */
  uint32_t serial;        /* order in which the requests of the pipe were posted */
  int32_t tag, dtype;
  int64_t elements;
  uint64_t offset; /* of the buffer in the receiver's arena; UINT64_MAX: not in the arena */
} shm_request;

/* One direction between two ranks of a channel. The receiver posts a request for each expected
 * message. The sender selects the request that its message answers, and streams one message at a
 * time, each preceded by the number of its request. */
enum { SHM_PIPE_REQUESTS = 32, SHM_PIPE_BYTES = 16 << 10 };
typedef struct shm_pipe {
  shm_request requests[SHM_PIPE_REQUESTS];
  _Alignas(SHM_CACHE_LINE) uint32_t n_posted; /* used by the receiver only */
  /* number of stream bytes that the receiver has consumed */
  _Atomic uint64_t read;
  /* number of stream bytes that the sender has written */
  _Alignas(SHM_CACHE_LINE) _Atomic uint64_t written;
  _Alignas(SHM_PAGE) unsigned char stream[SHM_PIPE_BYTES];
} shm_pipe;

typedef struct shm_rank {
  _Alignas(SHM_CACHE_LINE) _Atomic uint32_t joined;
  _Atomic int32_t pid;
} shm_rank;

typedef struct shm_sizes {
  int32_t n_ranks, n_channels;
  uint64_t slot_bytes, arena_bytes;
  uint64_t lines, slots, pipes, arenas, total; /* derived: offsets and size of the segment */
} shm_sizes;

/* `use` in the lines of a channel tells which ranks use it. The atomic number of users determines
 * when the channel is free. */
enum { SHM_CHANNEL_FREE = 0, SHM_CHANNEL_MAKING = 1 << 30 /* plus the rank that prepares it */ };
typedef struct shm_channel {
  _Atomic uint32_t n_users;
  _Atomic int32_t parent; /* the channel through whose ranks users learn of this one; -1: none */
} shm_channel;

typedef struct shm_header {
  uint64_t magic;
  uint32_t version;
  int32_t n_ranks, n_channels;
  uint64_t slot_bytes, arena_bytes;
  _Alignas(SHM_CACHE_LINE) _Atomic uint32_t n_joined;
  shm_rank ranks[SHM_MAX_RANKS];
  shm_channel channels[];
} shm_header;

typedef struct shm_block {
  struct shm_block *next;
  uint64_t offset, bytes; /* whole pages */
  uint64_t wanted;        /* by the caller */
  bool pinned;            /* a peer may still write to it, so it is never reused */
} shm_block;

/* Registered memory of one rank: a list of the used blocks, ordered by offset. */
typedef struct shm_arena {
  pthread_mutex_t lock;
  shm_block *blocks;
} shm_arena;

/* A process's view of a segment, shared by its ranks. */
typedef struct shm_segment {
  _Atomic int references;
  int fd; /* for returning the pages of freed memory */
  shm_sizes sizes;
  unsigned char *base;
  shm_header *header;
  shm_arena *arenas; /* n_ranks */
  int64_t cache_bytes;
  bool one_process; /* all ranks are threads of the process that maps it */
  int *pidfds;      /* n_ranks; -1 for ranks of this process, and if the system has no pidfds */
} shm_segment;

typedef struct shm_transport {
  tprt__transport base;
  shm_segment *segment;
  int channel;
  int world_rank;
  uint32_t step;
  int n_spins; /* number of spins before yielding; 0 if there are more ranks than processors */
  int64_t next_move; /* earliest time at which this rank changes the processor again */
  int *members;      /* ranks of the world */
  shm_line **lines;
  unsigned char **slots;              /* for each rank, two slots of slot_bytes */
  const void **sources, **sources_at; /* scratch for an operation */
  void **destinations, **destinations_at;
  tprt__scale *scales;
  bool has_begun; /* the next operation to be submitted has already begun, with `notice` */
  shm_notice notice;
} shm_transport;

/* ---- shm_segment.c ---- */
tprt_status tprt__shm_sizes_make(int n_ranks, const tprt__settings *settings, shm_sizes *sizes);
/* Creates a segment whose channels are all free. *fd is close-on-exec. */
tprt_status tprt__shm_segment_make(const shm_sizes *sizes, int *fd);
/* Maps and validates a segment. Duplicates the descriptor. */
tprt_status tprt__shm_segment_map(int fd, shm_segment **segment);
void tprt__shm_segment_release(shm_segment *segment);
/* Registers a rank as living in this process. TPRT_INVALID_STATE if the rank is taken. */
tprt_status tprt__shm_segment_join(shm_segment *segment, int rank);
/* Waits until all ranks have joined, then opens pidfds that report the end of their processes. */
tprt_status tprt__shm_segment_await(shm_segment *segment, int64_t deadline);
/* Takes a free channel for these ranks of the world (NULL: 0, 1, ...) and resets its lines. If none
 * is free, it first reclaims channels used only by ended processes. Returns -1 if there is still
 * none. `taker` is this rank. */
int tprt__shm_channel_take(shm_segment *segment, int taker, int n_users, const int *users,
                           int parent);
void tprt__shm_channel_join(shm_segment *segment, int channel, int rank);
/* Ends a rank's use of a channel, if any. */
void tprt__shm_channel_drop(shm_segment *segment, int channel, int rank);
/* Ends the uses that are reserved for a rank under `parent`, but of which it was never notified. */
void tprt__shm_channel_forget(shm_segment *segment, int parent, int rank);
/* True if the process of a rank has ended. */
bool tprt__shm_ended(const shm_segment *segment, int rank);
shm_line *tprt__shm_line(const shm_segment *segment, int channel, int rank);
unsigned char *tprt__shm_slots(const shm_segment *segment, int channel, int rank);
/* The pipe from rank `source` to rank `destination` of the world. */
shm_pipe *tprt__shm_pipe(const shm_segment *segment, int channel, int source, int destination);
unsigned char *tprt__shm_arena(const shm_segment *segment, int rank);

/* ---- shm_arena.c ---- */
tprt_status tprt__shm_alloc(tprt__transport *transport, size_t bytes, void **memory);
void tprt__shm_free(tprt__transport *transport, void *memory);
uint64_t tprt__shm_offset(const tprt__transport *transport, const void *memory);
void tprt__shm_arena_clear(shm_arena *arena);

/* Excludes the block at this offset of an arena from reuse, even after it is freed. */
void tprt__shm_pin(shm_segment *segment, int world_rank, uint64_t offset);

/* ---- shm_window.c ---- */
tprt_status tprt__shm_register_memory(tprt__transport *transport, void *memory, uint64_t bytes,
                                      uint64_t *place);
tprt_status tprt__shm_deregister_memory(tprt__transport *transport, void *memory);
tprt_status tprt__shm_reach(const tprt__transport *transport, int rank, uint64_t place,
                            uint64_t bytes, void **memory);
tprt_status tprt__shm_put(tprt__transport *transport, int rank, uint64_t place, const void *from,
                          uint64_t bytes, int64_t deadline);
tprt_status tprt__shm_get(tprt__transport *transport, int rank, uint64_t place, void *to,
                          uint64_t bytes, int64_t deadline);
tprt_status tprt__shm_signal(tprt__transport *transport, int rank, uint64_t place);
/* Every access to memory of others is between these two. The first returns the fault that forbids
 * it, if there is one; then nothing is to be ended. */
tprt__fault tprt__shm_access_begin(const shm_transport *shm);
void tprt__shm_access_end(const shm_transport *shm);

/* ---- shm_wait.c ---- */
/* The operation for which a rank waits. */
typedef struct shm_wait {
  tprt_op_kind kind;
  uint32_t sequence;
  int64_t deadline;
} shm_wait;

/* Publishes the next step. The data and notice of step s are in half (s & 1). */
void tprt__shm_publish(shm_transport *shm);
/* Waits until all peers have published the current step. */
tprt_status tprt__shm_await(shm_transport *shm, const shm_wait *wait);
tprt_status tprt__shm_await_counter(tprt__transport *transport, const _Atomic uint64_t *counter,
                                    uint64_t value, int rank, int64_t deadline);
void tprt__shm_abort(tprt__transport *transport, const tprt__fault *fault);
tprt__fault tprt__shm_fault(const tprt__transport *transport);
/* Wakes all threads that wait for a step of this rank. */
void tprt__shm_wake(shm_line *line);
/* Rings the bell of a rank: an event has occurred for which it may be listening. */
void tprt__shm_ring(shm_line *line);
/* Waits, for a short time at most, until the own bell differs from `heard`. *rounds counts calls
 * without success; it selects between spinning, yielding and sleeping. */
void tprt__shm_listen(shm_transport *shm, uint32_t heard, int *rounds);
/* True if a listener sleeps in this round. */
bool tprt__shm_sleeps(const shm_transport *shm, int rounds);
/* True if a listener should now check whether its peer lives and whether the deadline has passed.
 * *next belongs to the function and starts at 0. */
bool tprt__shm_due(const shm_transport *shm, int rounds, int64_t *next);
/* True if a peer has left this communicator or its process has ended. Call this before reading the
 * peer's results, because results from before its end still count. */
bool tprt__shm_peer_dead(const shm_transport *shm, int peer);
/* Records a fault of a peer for all ranks of the communicator, and fails with the first recorded
 * fault. */
tprt_status tprt__shm_record_fault(shm_transport *shm, tprt_status status, int peer,
                                   const shm_wait *wait);
/* Sleeps while *word == value, for at most `ns` nanoseconds. */
void tprt__shm_sleep(_Atomic uint32_t *word, uint32_t value, int64_t ns);

/* ---- shm_collective.c ---- */
typedef struct shm_engine {
  shm_transport *shm;
  const tprt__plan *plan;
  shm_wait wait;
  int64_t capacity; /* bytes of a piece in one chunk */
  bool two_phase;
  /* use non-temporal stores: the data exceeds the cache, and the operation is not in place */
  bool stream;
} shm_engine;

/* Returns the engine that would run an operation. */
shm_engine tprt__shm_engine(shm_transport *shm, const tprt__plan *plan, const shm_wait *wait);
/* Sets in the notice how peers access this rank's buffers. */
void tprt__shm_locate(const shm_engine *run, shm_notice *notice);

void tprt__shm_begin(tprt__transport *transport, const tprt__plan *plan, uint32_t sequence);
tprt_status tprt__shm_submit(tprt__transport *transport, const tprt__plan *plan, uint32_t sequence,
                             int64_t deadline);
/* Waits until no peer accesses this rank's buffers, after a fault. */
void tprt__shm_quiesce(tprt__transport *transport);
/* Publishes this rank's notice, waits for those of the others and compares the signatures. */
tprt_status tprt__shm_arrive(const shm_engine *run, const shm_notice *mine);

/* This rank's slot for the step that is published next, and a peer's slot of the current step. */
static inline unsigned char *tprt__shm_next_slot(const shm_transport *shm) {
  return shm->slots[shm->base.rank] + ((shm->step + 1) & 1) * shm->segment->sizes.slot_bytes;
}
static inline unsigned char *tprt__shm_peer_slot(const shm_transport *shm, int peer) {
  return shm->slots[peer] + (shm->step & 1) * shm->segment->sizes.slot_bytes;
}

/* ---- shm_pipe.c ---- */
tprt_status tprt__shm_exchange(tprt__transport *transport, const tprt__plan *plans, size_t n,
                               uint32_t sequence, int64_t deadline);

/* Computes the offset of a buffer in this rank's arena. Returns false if it is not in the arena. */
bool tprt__shm_arena_offset(const shm_transport *shm, const void *buffer, int64_t bytes,
                            uint64_t *offset);

/* True if the bytes at this offset of this rank's arena are from one allocation. */
bool tprt__shm_is_allocated(const shm_transport *shm, uint64_t offset, uint64_t bytes);

/* ---- shm_recover.c ---- */
tprt_status tprt__shm_recover(tprt__transport *transport, int64_t deadline, tprt__token *token,
                              int *members, int *n_members);

/* ---- shm_cost.c ---- */
void tprt__shm_constants(const tprt__transport *transport, int64_t *alpha_ps,
                         int64_t *beta_ps_per_kb);
void tprt__shm_cost(const tprt__transport *transport, const tprt__plan *plan, tprt__cost *cost);

/* ---- shm_parts.c ---- */
/* Runs the ..._V kinds. */
tprt_status tprt__shm_submit_parts(const shm_engine *run);

#endif
