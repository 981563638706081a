/* Operations built from messages, for the backends without shared memory: mpi, tcp, fabric and
 * plug-ins.
 *
 * Ranks announce their actions with notes, which are small messages of fixed size. Data follows
 * with a tag that the receiver chose and named in a note. So every message that arrives is
 * expected, except after a failure, and a receiver knows what it gets before memory is written.
 *
 * Collectives: every rank sends its note with the signature to every other rank (arrival). All
 * ranks compare the notes. Then the data goes directly between the ranks that have it and need it.
 * For a reduction each rank reduces a slice, in the order of the ranks. If some of the hosts have
 * several ranks, longer data crosses between two hosts once, and not once per rank
 * (message_hosts.c). Transfers: the receiver
 * sends a request and the sender answers the first request with its tag. Windows: a rank sends a
 * request for an access. The thread that handles the owner's messages serves it, without any action
 * of the owner.
 *
 * Every world has an attendant thread, which polls for messages at intervals, so that ranks serve
 * requests while they compute.
 *
 * All communicators of a rank share one endpoint of the messenger, the world. Notes carry the
 * number of their communicator, the context. */
#ifndef TPRT_RUNTIME_WIRE_H
#define TPRT_RUNTIME_WIRE_H

#include "comm/backend.h"
#include "tprt/messenger.h"

#include <pthread.h>

enum {
  WIRE_NOTE_TAG = 0,
  WIRE_FIRST_TAG = 1,       /* first tag of data */
  WIRE_MAX_BYTES = 1 << 30, /* largest message */
  WIRE_MAX_RANKS = 0xffff,
};

typedef enum wire_note_kind {
  WIRE_ARRIVES = 1,
  WIRE_ASKS,
  WIRE_FAILED,
  WIRE_LEAVES,
  WIRE_PUTS, /* requests a write to memory of the receiving rank */
  WIRE_GETS,
  WIRE_READY, /* tells the tag to which the data of a put may now be sent */
  WIRE_SERVED,
  WIRE_SIGNALS,
  WIRE_RECOVERS, /* wants to continue after a failure */
  WIRE_DECIDES,  /* announces which ranks continue */
  WIRE_PINGS,    /* asks for an answer, which the world gives at once */
  WIRE_ANSWERS,
} wire_note_kind;

/* Has the same size and layout on all ranks, because they run the same architecture. */
typedef struct wire_note {
  uint64_t context;
  uint32_t kind;
  uint32_t tag; /* ARRIVES, ASKS, GETS, READY: tag of the data that the sender expects */
  /* ARRIVES, FAILED: of the operation. PUTS, GETS, READY, SERVED: number of the access. DECIDES:
   * number of the block */
  uint32_t sequence;
  int32_t source;        /* ARRIVES of a permute: the rank from which the sender wants data */
  uint64_t signature[4]; /* DECIDES: one bit per rank */
  tprt__scale scale;
  uint64_t sent, expected; /* all_to_all_v, as in the plan */
  /* PUTS, GETS, SIGNALS: an address in the receiving rank; DECIDES: the new context */
  uint64_t place;
  int64_t elements;        /* ASKS: elements; PUTS, GETS: bytes */
  int32_t user_tag, dtype; /* ASKS */
  /* FAILED, SERVED: the status. RECOVERS: not TPRT_OK if the sender waits no longer for other
   * ranks */
  int32_t status;
  int32_t op, rank; /* FAILED */
  /* ARRIVES: whether a reduction adds the ranks of each host first */
  int32_t by_host;
} wire_note;

/* A pending note: one to be sent, one for a communicator that does not exist here yet, or a request
 * that waits for its send. */
typedef struct wire_pending_note {
  struct wire_pending_note *next;
  void *request;
  int peer;    /* rank of the world */
  bool unread; /* inbox: the note has arrived, and waits for memory */
  wire_note note;
} wire_pending_note;

/* Memory that is registered for access by peers. */
typedef struct wire_region {
  struct wire_region *next;
  unsigned char *memory;
  uint64_t bytes;
} wire_region;

/* A pending put or get of this rank. */
typedef struct wire_access {
  struct wire_access *next;
  uint32_t number, tag; /* tag: of the data; 0: not known yet */
  tprt_status status;   /* TPRT_IN_PROGRESS: the owner has not answered */
} wire_access;

/* A pending access of a peer to memory of this rank. */
typedef struct wire_service wire_service;

/* State of a member of the communicator, as known to this rank. */
typedef struct wire_peer {
  int world_rank;
  bool left;
  bool answered; /* the last WIRE_PINGS */
  /* recovery: wants to continue; waits no longer for others; does continue */
  bool recovers, due, survives;
  /* number of operations whose note has arrived; at most one ahead of this rank */
  uint32_t n_arrived;
  wire_note arrived[2]; /* indexed by the number of the operation & 1 */
  wire_pending_note *asks, **last_ask;
} wire_peer;

typedef struct wire_world wire_world;

/* The members of a communicator by host. Hosts are in the order of their lowest members. */
typedef struct wire_hosts {
  int n; /* 0: the members are on one host, or each on another, or it is not known */
  int mine;
  int *host_of, *index_of;     /* of each member: its host, and its number there */
  int *members, *begin;        /* those of host h: members[begin[h]] to members[begin[h + 1]] */
  int n_most;                  /* the largest number of members on a host */
  tprt__part *pieces, *inputs; /* scratch, one per member */
  const void **sources;
  tprt__scale *scales;
} wire_hosts;

typedef struct wire_transport {
  tprt__transport base;
  wire_world *world;
  struct wire_transport *next; /* in the world's list */
  uint64_t context;
  bool closed; /* destroyed, but kept until no member can send a note any more */
  uint32_t step;
  uint32_t finished; /* number of the last collective that this rank has completed */
  bool begun;        /* the notes of the next collective are sent, or begun_status tells why not */
  tprt_status begun_status;
  tprt__fault fault;
  char text[256]; /* of the fault, if this rank detected it */
  wire_region *regions;
  wire_access *accesses;
  wire_service *services;
  uint32_t last_access;
  bool recovering, decided; /* this rank has called recover; the decision is complete */
  uint64_t next_context;    /* of the ranks that continue */
  int n_blocks;             /* number of blocks of the decision that have arrived */
  unsigned char *scratch;
  size_t scratch_bytes;
  const void **sources; /* one per rank, like the next */
  tprt__scale *scales;
  wire_hosts hosts;
  wire_peer peers[];
} wire_transport;

struct wire_world {
  /* guards everything here and in the transports, and serializes calls of the messenger */
  pthread_mutex_t lock;
  const tprt_messenger *messenger;
  void *end;
  const tprt__backend *backend;
  int n_ranks, rank, host_ranks;
  int *first; /* for each rank, the lowest rank on its host; NULL: not known */
  uint32_t max_tag, next_tag;
  uint64_t next_context;
  int references;          /* number of transports that are not closed */
  tprt_status broken;      /* how the messenger has failed; TPRT_OK: it has not */
  char broken_reason[256]; /* the text of that */
  bool lively;             /* a note has arrived since the attendant last checked */
  int n_regions;           /* of all transports */
  bool has_progress_thread, closing;
  pthread_t attendant;
  pthread_cond_t ended;      /* wakes the attendant when the world closes */
  wire_pending_note *inbox;  /* one per peer */
  wire_pending_note *outbox; /* notes being sent */
  wire_pending_note *early;  /* notes for communicators that do not exist here yet, oldest first */
  wire_transport *transports;
};

/* The operation for which a rank waits. */
typedef struct wire_wait {
  tprt_op_kind kind;
  uint32_t sequence;
  int64_t deadline;
  int rounds;               /* since something has moved */
  int64_t since, waited_ns; /* from one of the first of them on */
  /* the operation continues although another rank has already found that signatures differ */
  bool comparing;
} wire_wait;

/* ---- message.c: worlds and groups; backend functions ---- */
tprt_status tprt__wire_open(const tprt_messenger *messenger, const tprt__backend *backend,
                            int n_ranks, int rank, int64_t timeout_ns, tprt__transport **transport);
/* Like tprt__wire_open, with an endpoint of the messenger that is already open. Takes ownership of
 * it, also on failure. first[r] is the lowest rank on the host of rank r; NULL: not known. */
tprt_status tprt__wire_open_endpoint(const tprt_messenger *messenger, const tprt__backend *backend,
                                     void *end, uint32_t max_tag, int n_ranks, int rank,
                                     int host_ranks, const int *first, tprt__transport **transport);
tprt_status tprt__wire_open_threads(const tprt_messenger *messenger, const tprt__backend *backend,
                                    int n_ranks, tprt__transport **transports);
/* Capabilities that all backends over a messenger have. */
enum {
  WIRE_CAPABILITIES = TPRT_CAP_REGISTERED | TPRT_CAP_COLLECTIVES | TPRT_CAP_PIECES |
                      TPRT_CAP_TRANSFERS | TPRT_CAP_TAGS | TPRT_CAP_WINDOWS | TPRT_CAP_USER_MEMORY |
                      TPRT_CAP_RECOVERY | TPRT_CAP_HOST_MEMORY,
};
#define WIRE_LACKS                                                                                 \
  TPRT__LACK(TPRT_CAP_MAPPED) = "the ranks share no memory", TPRT__LACKS_STREAMS,                  \
  TPRT__LACKS_GPU_PROGRAMS
#define WIRE_ROWS                                                                                  \
  .size = sizeof(tprt__backend), .abi = TPRT__BACKEND_ABI, .reserve = tprt__wire_reserve,          \
  .join = tprt__wire_join, .abort = tprt__wire_abort, .fault = tprt__wire_fault, TPRT__NO_STREAMS, \
  .peer_dead = tprt__wire_is_peer_dead, .alloc = tprt__heap_alloc, .free = tprt__heap_free,        \
  .offset = tprt__no_offset, .register_memory = tprt__wire_register_memory,                        \
  .deregister_memory = tprt__wire_deregister_memory,                                               \
  .register_memory_all = tprt__register_memory_each, .reach = tprt__wire_reach,                    \
  .put = tprt__wire_put, .get = tprt__wire_get, .signal = tprt__wire_signal,                       \
  .await = tprt__wire_await, .recover = tprt__wire_recover, .constants = tprt__wire_constants,     \
  .cost = tprt__wire_cost, .leave = tprt__wire_leave, .destroy = tprt__wire_destroy,               \
  .begin = tprt__wire_begin_collective, .quiesce = tprt__quiesce_noop,                             \
  .submit = tprt__wire_submit, .exchange = tprt__wire_exchange
tprt_status tprt__wire_reserve(tprt__transport *parent, int n_users, const int *users,
                               tprt__token *token);
tprt_status tprt__wire_join(tprt__transport *parent, const tprt__token *token, int n_members,
                            const int *members, int index, const tprt__comm_settings *settings,
                            tprt__transport **child);
void tprt__wire_abort(tprt__transport *transport, const tprt__fault *fault);
tprt__fault tprt__wire_fault(const tprt__transport *transport);
bool tprt__wire_is_peer_dead(const tprt__transport *transport, int rank);
void tprt__wire_constants(const tprt__transport *transport, int64_t *alpha_ps,
                          int64_t *beta_ps_per_kb);
void tprt__wire_cost(const tprt__transport *transport, const tprt__plan *plan, tprt__cost *cost);
void tprt__wire_leave(tprt__transport *transport);
void tprt__wire_destroy(tprt__transport *transport);

/* Frees a transport if it is closed and no member can send it a note any more. The caller holds the
 * lock. */
void tprt__wire_reap(wire_transport *wire);

/* Returns a context number that no other communicator of the world has. */
uint64_t tprt__wire_new_context(wire_world *world);

/* ---- message_notes.c; the caller holds the lock ---- */
/* Handles the notes that have arrived, serves peers, and frees the notes that are sent. */
tprt_status tprt__wire_progress(wire_world *world);
/* Sends a note to one member. */
tprt_status tprt__wire_note(wire_transport *wire, int peer, const wire_note *note);
/* Sends a note to all other members. Failures are ignored here. */
void tprt__wire_notify_all(wire_transport *wire, const wire_note *note);
/* Tells the members of a new group, which are ranks of the parent, that this rank cannot join
 * it. */
void tprt__wire_decline(wire_transport *parent, uint64_t context, int n_members,
                        const int *members);
/* Delivers notes that arrived before the communicator was opened. */
void tprt__wire_deliver_early(wire_transport *wire);
/* Waits, for a short time at most, until all notes are sent. */
void tprt__wire_flush(wire_world *world);
/* Returns the first of n consecutive tags for data; tags are reused only after all others. */
uint32_t tprt__wire_tags(wire_world *world, int n);
/* Starts and stops the attendant. The caller does not hold the lock. */
tprt_status tprt__wire_start_progress_thread(wire_world *world);
void tprt__wire_stop_progress_thread(wire_world *world);

/* ---- message_wait.c; the caller holds the lock ---- */
tprt_status tprt__wire_fail(const wire_transport *wire);
/* Records a fault with this thread's error text, notifies the members, and fails with the first
 * recorded fault. */
tprt_status tprt__wire_record_fault(wire_transport *wire, const tprt__fault *fault);
/* Like tprt__wire_record_fault, for a member that did not arrive in time or has ended. A late
 * member may itself wait for another one, which is lost. So after a timeout all members are asked
 * for an answer, and the fault is that of one that gives none, if there is one. */
tprt_status tprt__wire_record_peer_fault(wire_transport *wire, tprt_status status, int peer,
                                         const wire_wait *wait);
/* Handles the notes that arrived before an operation begins. Fails if a fault is known by then. */
tprt_status tprt__wire_begin(wire_transport *wire);
/* Handles arrived notes; before that it rests without the lock unless there was progress
 * (`moved`). */
tprt_status tprt__wire_idle(wire_world *world, wire_wait *wait, bool moved);
/* Returns the failure if a fault ends this wait. */
tprt_status tprt__wire_check(const wire_transport *wire, const wire_wait *wait);
/* tprt__wire_idle, then tprt__wire_check. */
tprt_status tprt__wire_poll(wire_transport *wire, wire_wait *wait, bool moved);
/* True if a member will send nothing any more. */
bool tprt__wire_peer_dead(const wire_transport *wire, int peer);

/* ---- message_hosts.c ---- */
/* Groups the members of a communicator, ranks of the world, by host. Leaves hosts->n at 0 if that
 * saves nothing. */
tprt_status tprt__wire_hosts_make(const wire_world *world, int n_members, const int *members,
                                  int index, wire_hosts *hosts);
void tprt__wire_hosts_free(wire_hosts *hosts);

/* ---- message_moves.c: data; the caller holds the lock ---- */
typedef struct wire_move {
  int peer;
  uint32_t tag;
  bool sends;
  char *at;
  int64_t bytes, started; /* `started` bytes have a request or are done */
  void *request;          /* of the last message; NULL: none is pending */
  int after;              /* 1 + the index of the move that has to be done first; 0: none */
  bool done;
} wire_move;

/* Runs all moves concurrently to their end. On failure, unfinished moves are given up. */
tprt_status tprt__wire_move(wire_transport *wire, wire_move *moves, int n, wire_wait *wait);
/* Advances one move. Sets *moved if there was progress. */
tprt_status tprt__wire_push(wire_transport *wire, wire_move *move, bool *moved);
void tprt__wire_give_up(wire_transport *wire, wire_move *moves, size_t n);

/* ---- message_collective.c ---- */
void tprt__wire_begin_collective(tprt__transport *transport, const tprt__plan *plan,
                                 uint32_t sequence);
tprt_status tprt__wire_submit(tprt__transport *transport, const tprt__plan *plan, uint32_t sequence,
                              int64_t deadline);

/* ---- message_window.c ---- */
tprt_status tprt__wire_register_memory(tprt__transport *transport, void *memory, uint64_t bytes,
                                       uint64_t *place);
tprt_status tprt__wire_deregister_memory(tprt__transport *transport, void *memory);
tprt_status tprt__wire_reach(const tprt__transport *transport, int rank, uint64_t place,
                             uint64_t bytes, void **memory);
tprt_status tprt__wire_put(tprt__transport *transport, int rank, uint64_t place, const void *from,
                           uint64_t bytes, int64_t deadline);
tprt_status tprt__wire_get(tprt__transport *transport, int rank, uint64_t place, void *to,
                           uint64_t bytes, int64_t deadline);
tprt_status tprt__wire_signal(tprt__transport *transport, int rank, uint64_t place);
tprt_status tprt__wire_await(tprt__transport *transport, const _Atomic uint64_t *counter,
                             uint64_t value, int rank, int64_t deadline);
/* Handles a note about an access: PUTS to SIGNALS. The caller holds the lock, also for the next
 * two. */
tprt_status tprt__wire_take_access(wire_transport *wire, int from, const wire_note *note);
/* Advances all accesses of peers. */
tprt_status tprt__wire_serve(wire_transport *wire);
/* Gives up the accesses of peers and deregisters all memory. */
void tprt__wire_close_windows(wire_transport *wire);

/* ---- message_recover.c ---- */
tprt_status tprt__wire_recover(tprt__transport *transport, int64_t deadline, tprt__token *token,
                               int *members, int *n_members);
/* Handles a note about recovery: RECOVERS and DECIDES. The caller holds the lock, also for the
 * next. */
void tprt__wire_take_recovery(wire_transport *wire, int from, const wire_note *note);
/* Decides which ranks continue, if it is this rank's turn and the decision is due. */
void tprt__wire_settle(wire_transport *wire);

/* ---- message_transfer.c ---- */
tprt_status tprt__wire_exchange(tprt__transport *transport, const tprt__plan *plans, size_t n,
                                uint32_t sequence, int64_t deadline);

#endif
