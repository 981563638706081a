/* Backend "shm": ranks of one host, threads and processes alike, meet in one shared segment.
 *
 * The segment is a memfd with fixed size: a header, then channels, then one arena per rank. A
 * channel serves one communicator, or several with disjoint ranks (all groups of one split): every
 * rank of the world has a line (flags) and two staging slots in it. Nothing in the segment is a
 * pointer, and whatever a peer wrote there is copied once and checked before it is used as an
 * offset.
 *
 * The protocol is one counter per rank and channel, the step. A rank writes data to its slot number
 * (step & 1), then publishes the step; it reads slots of peers after all of them published that
 * step. A slot may be written again two steps later, because then all peers have published the step
 * between, hence finished reading. So an operation costs one flag exchange per chunk and no closing
 * barrier. */
#ifndef TPRT_RUNTIME_SHM_H
#define TPRT_RUNTIME_SHM_H

#include "comm/backend.h"

#include <pthread.h>
#include <stdatomic.h>

enum { SHM_MAX_RANKS = 1024, SHM_CACHE_LINE = 64, SHM_PAGE = 4096 };

/* What a rank says about its current operation. */
typedef struct shm_notice {
  uint64_t signature[4];
  uint32_t sequence;
  /* 1: the data stays in the arena, nothing was put in the slot */
  uint32_t registered;
  uint64_t send_offset, recv_offset; /* in this rank's arena, if registered */
} shm_notice;

/* A step that was published, with the notice of the operation that begins with it: one line, so
 * that who sees the step has the notice. */
typedef struct shm_half {
  _Alignas(SHM_CACHE_LINE) shm_notice notice;
  _Atomic uint32_t step; /* also the futex that waiters sleep on */
} shm_half;
_Static_assert(sizeof(shm_half) == SHM_CACHE_LINE, "what is read after a step is there with it");

/* What few operations say beside the notice. */
typedef struct shm_extra {
  tprt__scale scale;       /* premul_sum */
  uint64_t sent, expected; /* all_to_all_v, as in the plan */
  int64_t longest;
} shm_extra;

/* A rank's use of a channel. */
typedef enum shm_use { SHM_UNUSED = 0, SHM_RESERVED = 1, SHM_JOINED = 2 } shm_use;

typedef struct shm_line {
  shm_half halves[2]; /* by step & 1, like the slots */
  /* Not beside a step, whose cache line is on its way to a peer when the rank looks here. */
  _Alignas(SHM_CACHE_LINE) _Atomic uint32_t n_waiters;
  _Atomic uint32_t left; /* the rank destroyed its end */
  /* shm_use: whether the rank has, or will have, this channel */
  _Atomic uint32_t use;
  /* counts what peers did in pipes of this rank; the futex for it */
  _Alignas(SHM_CACHE_LINE) _Atomic uint32_t bell;
  _Atomic uint32_t n_listeners;
  _Atomic uint32_t n_accesses; /* of this rank to windows of others, under way */
  /* After a failure: this rank wants to go on; it was decided that it does; the decision, of the
   * group whose rank 0 this line belongs to (RECOVERY_OPEN, 1 + the rank that decides,
   * RECOVERY_DECIDED), and the channel that it chose. */
  _Alignas(SHM_CACHE_LINE) _Atomic uint32_t recovering;
  _Atomic uint32_t survives;
  _Atomic uint32_t decision;
  _Atomic int32_t next_channel;
  _Alignas(SHM_CACHE_LINE) shm_extra extra[2];
  /* of the group whose rank 0 this line belongs to */
  _Alignas(SHM_CACHE_LINE) _Atomic uint64_t fault;
} shm_line;

/* What the receiver of a pipe asks for. */
typedef struct shm_request {
  _Atomic uint32_t state; /* REQUEST_FREE, or _POSTED */
  uint32_t serial;        /* of the pipe: in which order they were posted */
  int32_t tag, dtype;
  int64_t elements;
  uint64_t offset; /* of the buffer in the receiver's arena; UINT64_MAX: it does not lie there */
} shm_request;

/* One direction between two ranks of a channel. The receiver posts what it waits for; the sender
 * picks the request that its message answers and streams it, one message at a time, each behind the
 * number of its request. */
enum { SHM_PIPE_REQUESTS = 32, SHM_PIPE_BYTES = 16 << 10 };
typedef struct shm_pipe {
  shm_request requests[SHM_PIPE_REQUESTS];
  _Alignas(SHM_CACHE_LINE) uint32_t n_posted; /* receiver's */
  /* bytes of the stream that the receiver took */
  _Atomic uint64_t read;
  _Alignas(SHM_CACHE_LINE) _Atomic uint64_t written; /* bytes that the sender put */
  _Alignas(SHM_PAGE) unsigned char stream[SHM_PIPE_BYTES];
} shm_pipe;

typedef struct shm_rank {
  _Alignas(SHM_CACHE_LINE) _Atomic uint32_t joined;
  _Atomic int32_t pid;
} shm_rank;

typedef struct shm_sizes {
  int32_t n_ranks, n_channels;
  uint64_t slot_bytes, arena_bytes;
  uint64_t lines, slots, pipes, arenas, total; /* offsets and size of the segment, derived */
} shm_sizes;

/* Who has a channel is said by `use` of its lines; the count of them decides, atomically, when it
 * is free. */
enum { SHM_CHANNEL_FREE = 0, SHM_CHANNEL_MAKING = 1 << 30 /* + the rank that prepares it */ };
typedef struct shm_channel {
  _Atomic uint32_t n_users;
  _Atomic int32_t parent; /* the channel whose ranks are told of it; -1: none */
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
  uint64_t offset, bytes;
  bool pinned; /* a peer may still write it: it is not used again */
} shm_block;

/* Registered memory of one rank: the blocks in use, by offset. */
typedef struct shm_arena {
  pthread_mutex_t lock;
  shm_block *blocks;
} shm_arena;

/* This process's view of a segment, shared by the ranks that live in it. */
typedef struct shm_segment {
  _Atomic int references;
  int fd; /* to give pages of freed memory back */
  shm_sizes sizes;
  unsigned char *base;
  shm_header *header;
  shm_arena *arenas; /* n_ranks */
  int64_t cache_bytes;
  int *pidfds; /* n_ranks, -1 for ranks of this process and where the system has no such thing */
} shm_segment;

typedef struct shm_transport {
  tprt__transport base;
  shm_segment *segment;
  int channel;
  int world_rank;
  uint32_t step;
  int n_spins;  /* before yielding; 0 when there are more ranks than processors */
  int *members; /* world ranks */
  shm_line **lines;
  unsigned char **slots; /* two of slot_bytes each */
  const void **sources;  /* scratch of an operation */
  void **destinations;
  tprt__scale *scales;
  bool has_come; /* the operation that is submitted next has been begun, with this notice */
  shm_notice notice;
} shm_transport;

/* ---- shm_segment.c ---- */
tprt_status tprt__shm_sizes_make(int n_ranks, const tprt__settings *settings, shm_sizes *sizes);
/* A new segment with a free channel table; *fd is close-on-exec. */
tprt_status tprt__shm_segment_make(const shm_sizes *sizes, int *fd);
/* Maps and checks a segment; dups the descriptor. */
tprt_status tprt__shm_segment_map(int fd, shm_segment **segment);
void tprt__shm_segment_release(shm_segment *segment);
/* Registers a rank with this process; INVALID_STATE if it is taken. */
tprt_status tprt__shm_segment_join(shm_segment *segment, int rank);
/* Waits until all ranks have joined, then opens handles that tell when their processes end. */
tprt_status tprt__shm_segment_await(shm_segment *segment, int64_t deadline);
/* Takes a free channel for these ranks of the world (NULL: 0, 1, ...) and resets its lines; -1 when
 * there is none, also after those were freed that only ended processes have. `taker` is this
 * rank. */
int tprt__shm_channel_take(shm_segment *segment, int taker, int n_users, const int *users,
                           int parent);
void tprt__shm_channel_join(shm_segment *segment, int channel, int rank);
/* Ends a rank's use of a channel, if it has one. */
void tprt__shm_channel_drop(shm_segment *segment, int channel, int rank);
/* Ends the uses that were reserved for a rank under `parent`, but of which it was never told. */
void tprt__shm_channel_forget(shm_segment *segment, int parent, int rank);
/* Whether the process of a rank has ended. */
bool tprt__shm_ended(const shm_segment *segment, int rank);
shm_line *tprt__shm_line(const shm_segment *segment, int channel, int rank);
unsigned char *tprt__shm_slots(const shm_segment *segment, int channel, int rank);
/* From rank `source` to rank `destination` of the world. */
shm_pipe *tprt__shm_pipe(const shm_segment *segment, int channel, int source, int destination);
unsigned char *tprt__shm_arena(const shm_segment *segment, int rank);

/* ---- shm_arena.c ---- */
tprt_status tprt__shm_alloc(tprt__transport *transport, size_t bytes, void **memory);
void tprt__shm_free(tprt__transport *transport, void *memory);
uint64_t tprt__shm_offset(const tprt__transport *transport, const void *memory);
void tprt__shm_arena_clear(shm_arena *arena);

/* The block at this offset of an arena is not given out again, even when it is freed. */
void tprt__shm_pin(shm_segment *segment, int world_rank, uint64_t offset);

/* ---- shm_window.c ---- */
tprt_status tprt__shm_expose(tprt__transport *transport, void *memory, uint64_t bytes,
                             uint64_t *place);
tprt_status tprt__shm_withdraw(tprt__transport *transport, void *memory);
tprt_status tprt__shm_reach(const tprt__transport *transport, int rank, uint64_t place,
                            uint64_t bytes, void **memory);
tprt_status tprt__shm_put(tprt__transport *transport, int rank, uint64_t place, const void *from,
                          uint64_t bytes, int64_t deadline);
tprt_status tprt__shm_get(tprt__transport *transport, int rank, uint64_t place, void *to,
                          uint64_t bytes, int64_t deadline);
tprt_status tprt__shm_signal(tprt__transport *transport, int rank, uint64_t place);

/* ---- shm_wait.c ---- */
/* What a wait belongs to. */
typedef struct shm_wait {
  tprt_op_kind kind;
  uint32_t sequence;
  int64_t deadline;
} shm_wait;

/* Publishes the next step. Data and notices of step s lie in half (s & 1). */
void tprt__shm_publish(shm_transport *shm);
/* Waits until all peers published the current step. */
tprt_status tprt__shm_await(shm_transport *shm, const shm_wait *wait);
tprt_status tprt__shm_await_counter(tprt__transport *transport, const _Atomic uint64_t *counter,
                                    uint64_t value, int rank, int64_t deadline);
void tprt__shm_abort(tprt__transport *transport, const tprt__fault *fault);
tprt__fault tprt__shm_fault(const tprt__transport *transport);
/* Wakes all that wait for a step of this rank. */
void tprt__shm_wake(shm_line *line);
/* Tells a rank that something happened which it may listen for. */
void tprt__shm_ring(shm_line *line);
/* Waits until the own bell is no longer at `heard`, a little while at most; *rounds counts calls
 * without success. */
void tprt__shm_listen(shm_transport *shm, uint32_t heard, int *rounds);
/* Whether a listener with so many rounds sleeps. */
bool tprt__shm_sleeps(const shm_transport *shm, int rounds);
/* Whether a listener should look if its peer lives and how late it is; *next is its own, 0 at
 * first. */
bool tprt__shm_due(const shm_transport *shm, int rounds, int64_t *next);
/* Whether a peer, in this communicator, can do nothing any more: read before looking at what it
 * did. */
bool tprt__shm_gone(const shm_transport *shm, int peer);
/* Records a fault of a peer for all ranks of the communicator and ends with whichever was first. */
tprt_status tprt__shm_blame(shm_transport *shm, tprt_status status, int peer, const shm_wait *wait);
/* Sleeps while *word == value, at most `ns`. */
void tprt__shm_sleep(_Atomic uint32_t *word, uint32_t value, int64_t ns);

/* ---- shm_collective.c ---- */
typedef struct shm_engine {
  shm_transport *shm;
  const tprt__plan *plan;
  shm_wait wait;
  int64_t capacity; /* bytes of a piece that one chunk carries */
  bool two_phase;
  bool stream; /* what is received is too large for the cache, and is not where it was sent from */
} shm_engine;

/* The engine that an operation would run on. */
shm_engine tprt__shm_engine(shm_transport *shm, const tprt__plan *plan, const shm_wait *wait);
/* Whether this rank's buffers can be used where they are. */
bool tprt__shm_register(const shm_engine *run, shm_notice *notice);

void tprt__shm_begin(tprt__transport *transport, const tprt__plan *plan, uint32_t sequence);
tprt_status tprt__shm_submit(tprt__transport *transport, const tprt__plan *plan, uint32_t sequence,
                             int64_t deadline);
/* Publishes this rank's notice, waits for the others' and compares signatures. */
tprt_status tprt__shm_arrive(const shm_engine *run, const shm_notice *mine);

/* Own slot of the step that is about to be published, and a peer's of the one that was. */
static inline unsigned char *tprt__shm_next_slot(const shm_transport *shm) {
  return shm->slots[shm->base.rank] + ((shm->step + 1) & 1) * shm->segment->sizes.slot_bytes;
}
static inline unsigned char *tprt__shm_peer_slot(const shm_transport *shm, int peer) {
  return shm->slots[peer] + (shm->step & 1) * shm->segment->sizes.slot_bytes;
}

/* ---- shm_pipe.c ---- */
tprt_status tprt__shm_exchange(tprt__transport *transport, const tprt__plan *plans, size_t n,
                               uint32_t sequence, int64_t deadline);

/* Offset of a buffer in this rank's arena; false if it does not lie there. */
bool tprt__shm_arena_offset(const shm_transport *shm, const void *buffer, int64_t bytes,
                            uint64_t *offset);

/* ---- shm_recover.c ---- */
tprt_status tprt__shm_recover(tprt__transport *transport, int64_t deadline, tprt__token *token,
                              int *members, int *n_members);

/* ---- shm_cost.c ---- */
void tprt__shm_constants(const tprt__transport *transport, int64_t *alpha_ps,
                         int64_t *beta_ps_per_kb);
void tprt__shm_cost(const tprt__transport *transport, const tprt__plan *plan, tprt__cost *cost);

/* ---- shm_parts.c ---- */
/* The kinds ..._V. */
tprt_status tprt__shm_submit_parts(const shm_engine *run);

#endif
