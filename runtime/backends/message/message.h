/* Operations out of messages: the backends mpi, tcp and plug-ins, which have no memory in common.
 *
 * Ranks tell each other by notes, small messages of one size, what they are about to do; data
 * follows with a tag that its receiver chose and named in a note. So nothing arrives that nobody
 * waits for, except what a failure leaves behind, and a receiver knows what it gets before memory
 * is touched.
 *
 * A collective operation: every rank sends every other its note with the signature (arrival), all
 * compare, then data goes straight between the ranks that have and need it. Reductions are in the
 * order of the ranks: each rank reduces a slice. Transfers: the receiver asks, the sender answers
 * the first question with its tag. Windows: a rank asks for an access; whoever looks after the
 * owner's messages serves it, without the owner's doing anything.
 *
 * So that ranks that compute serve as well, every world has an attendant, a thread that looks now
 * and then what has come.
 *
 * All communicators of a rank share its end of the messenger, the world; notes carry the number of
 * theirs, the context. */
#ifndef TPRT_RUNTIME_WIRE_H
#define TPRT_RUNTIME_WIRE_H

#include "comm/backend.h"
#include "tprt/messenger.h"

#include <pthread.h>

enum {
  WIRE_NOTE_TAG = 0,
  WIRE_FIRST_TAG = 1,        /* of data */
  WIRE_MOST_BYTES = 1 << 30, /* of one message */
  WIRE_MAX_RANKS = 0xffff,
};

typedef enum wire_note_kind {
  WIRE_ARRIVES = 1,
  WIRE_ASKS,
  WIRE_FAILED,
  WIRE_LEAVES,
  WIRE_PUTS, /* wants to write memory of the rank that it tells */
  WIRE_GETS,
  WIRE_READY, /* for the data of a put, with this tag */
  WIRE_SERVED,
  WIRE_SIGNALS,
  WIRE_RECOVERS, /* wants to go on after a failure */
  WIRE_DECIDES,  /* who goes on */
} wire_note_kind;

/* Equal in size and layout on all ranks, which run the same architecture. */
typedef struct wire_note {
  uint64_t context;
  uint32_t kind;
  uint32_t tag; /* ARRIVES, ASKS, GETS, READY: of the data that its sender expects */
  /* ARRIVES, FAILED; number of the access: PUTS, GETS, READY, SERVED; of the block: DECIDES */
  uint32_t sequence;
  int32_t source;        /* ARRIVES, of permute: from whom its sender wants data */
  uint64_t signature[4]; /* DECIDES: a bit a rank */
  tprt__scale scale;
  uint64_t sent, expected; /* all_to_all_v, as in the plan */
  /* PUTS, GETS, SIGNALS: an address of the rank that is told; DECIDES: the new context */
  uint64_t place;
  int64_t elements;        /* ASKS; PUTS, GETS: bytes */
  int32_t user_tag, dtype; /* ASKS */
  /* FAILED, SERVED; RECOVERS: not TPRT_OK when its sender waits no longer for others */
  int32_t status;
  int32_t op, rank, unused; /* FAILED */
} wire_note;

/* A note that waits: to be sent, for a communicator that does not exist here yet, or for a send
 * that answers it. */
typedef struct wire_letter {
  struct wire_letter *next;
  void *request;
  int peer;    /* in the world */
  bool unread; /* inbox: it came, and waits for memory */
  wire_note note;
} wire_letter;

/* Memory that peers may reach. */
typedef struct wire_region {
  struct wire_region *next;
  unsigned char *memory;
  uint64_t bytes;
} wire_region;

/* A put or get of this rank, while it waits. */
typedef struct wire_access {
  struct wire_access *next;
  uint32_t number, tag; /* tag of the data; 0: not known yet */
  tprt_status status;   /* TPRT_IN_PROGRESS: the owner has not answered */
} wire_access;

/* One of a peer, in memory of this rank. */
typedef struct wire_service wire_service;

/* What a rank knows of a member of its communicator. */
typedef struct wire_peer {
  int world_rank;
  bool left;
  bool recovers, due, survives; /* after a failure: wants to go on, at once; does */
  uint32_t n_arrived;           /* operations for which its note is here; it is at most one ahead */
  wire_note arrived[2];         /* by the number of the operation */
  wire_letter *asks, **last_ask;
} wire_peer;

typedef struct wire_world wire_world;

typedef struct wire_transport {
  tprt__transport base;
  wire_world *world;
  struct wire_transport *next; /* of the world */
  uint64_t context;
  bool closed; /* destroyed; kept until no member can send a note any more */
  uint32_t step;
  uint32_t finished; /* number of the last collective operation that this rank has completed */
  bool begun;        /* the notes of the next are sent, but for a failure that it has to report */
  tprt_status begun_status;
  tprt__fault fault;
  char text[256]; /* of the fault, if this rank found it */
  wire_region *regions;
  wire_access *accesses;
  wire_service *services;
  uint32_t last_access;
  bool recovering, decided; /* by this rank; of all */
  uint64_t next_context;    /* of those that go on */
  int n_blocks;             /* of the decision that are here */
  unsigned char *scratch;
  size_t scratch_bytes;
  const void **sources; /* one a rank, as the next */
  tprt__scale *scales;
  wire_peer peers[];
} wire_transport;

struct wire_world {
  pthread_mutex_t lock; /* of everything here and in the transports, and of the messenger */
  const tprt_messenger *messenger;
  void *end;
  const tprt__backend *backend;
  int n_ranks, rank, host_ranks;
  uint32_t most_tag, next_tag;
  uint64_t next_context;
  int references; /* transports that are not closed */
  bool broken;    /* the messenger failed */
  bool lively;    /* something has come since the attendant looked */
  int n_regions;  /* of all transports */
  bool has_attendant, closing;
  pthread_t attendant;
  pthread_cond_t ended; /* of the attendant's time */
  wire_letter *inbox;   /* one a peer */
  wire_letter *outbox;  /* notes that are being sent */
  wire_letter *early;   /* oldest first */
  wire_transport *transports;
};

/* What a wait belongs to. */
typedef struct wire_wait {
  tprt_op_kind kind;
  uint32_t sequence;
  int64_t deadline;
  int rounds;
  /* of operations: goes on although another rank has seen already that they differ */
  bool comparing;
} wire_wait;

/* ---- message.c: worlds and groups; rows of a backend ---- */
tprt_status tprt__wire_open(const tprt_messenger *messenger, const tprt__backend *backend,
                            int n_ranks, int rank, int64_t timeout_ns, tprt__transport **transport);
/* The same with an end of the messenger that is open already; takes it over in any case. */
tprt_status tprt__wire_take(const tprt_messenger *messenger, const tprt__backend *backend,
                            void *end, uint32_t most_tag, int n_ranks, int rank, int host_ranks,
                            tprt__transport **transport);
tprt_status tprt__wire_open_threads(const tprt_messenger *messenger, const tprt__backend *backend,
                                    int n_ranks, tprt__transport **transports);
/* What all backends over a messenger have. */
enum {
  WIRE_CAPABILITIES = TPRT_CAP_REGISTERED | TPRT_CAP_COLLECTIVES | TPRT_CAP_PIECES |
                      TPRT_CAP_TRANSFERS | TPRT_CAP_TAGS | TPRT_CAP_WINDOWS | TPRT_CAP_USER_MEMORY |
                      TPRT_CAP_RECOVERY | TPRT_CAP_HOST_MEMORY,
};
#define WIRE_LACKS                                                                                 \
  TPRT__LACK(TPRT_CAP_MAPPED) = "the ranks have no memory in common", TPRT__LACKS_STREAMS,         \
  TPRT__LACKS_GPU_PROGRAMS
#define WIRE_ROWS                                                                                  \
  .size = sizeof(tprt__backend), .abi = TPRT__BACKEND_ABI, .reserve = tprt__wire_reserve,          \
  .join = tprt__wire_join, .abort = tprt__wire_abort, .fault = tprt__wire_fault, TPRT__NO_STREAMS, \
  .gone = tprt__wire_has_gone, .alloc = tprt__wire_alloc, .free = tprt__wire_free,                 \
  .offset = tprt__wire_offset, .expose = tprt__wire_expose, .withdraw = tprt__wire_withdraw,       \
  .expose_all = tprt__expose_each, .reach = tprt__wire_reach, .put = tprt__wire_put,               \
  .get = tprt__wire_get, .signal = tprt__wire_signal, .await = tprt__wire_await,                   \
  .recover = tprt__wire_recover, .constants = tprt__wire_constants, .cost = tprt__wire_cost,       \
  .leave = tprt__wire_leave, .destroy = tprt__wire_destroy, .begin = tprt__wire_begin_collective,  \
  .submit = tprt__wire_submit, .exchange = tprt__wire_exchange
tprt_status tprt__wire_reserve(tprt__transport *parent, int n_users, const int *users,
                               tprt__token *token);
tprt_status tprt__wire_join(tprt__transport *parent, const tprt__token *token, int n_members,
                            const int *members, int index, tprt__transport **child);
void tprt__wire_abort(tprt__transport *transport, const tprt__fault *fault);
tprt__fault tprt__wire_fault(const tprt__transport *transport);
bool tprt__wire_has_gone(const tprt__transport *transport, int rank);
tprt_status tprt__wire_alloc(tprt__transport *transport, size_t bytes, void **memory);
void tprt__wire_free(tprt__transport *transport, void *memory);
uint64_t tprt__wire_offset(const tprt__transport *transport, const void *memory);
void tprt__wire_constants(const tprt__transport *transport, int64_t *alpha_ps,
                          int64_t *beta_ps_per_kb);
void tprt__wire_cost(const tprt__transport *transport, const tprt__plan *plan, tprt__cost *cost);
void tprt__wire_leave(tprt__transport *transport);
void tprt__wire_destroy(tprt__transport *transport);

/* Ends a transport that is closed and to which nobody can send a note any more; the lock is
 * held. */
void tprt__wire_reap(wire_transport *wire);

uint64_t tprt__wire_new_context(wire_world *world);

/* ---- message_notes.c; the lock is held ---- */
/* Takes in what has come and lets go what was sent. */
tprt_status tprt__wire_progress(wire_world *world);
/* To one member. */
tprt_status tprt__wire_note(wire_transport *wire, int peer, const wire_note *note);
/* To all others; a failure to do so is this rank's alone. */
void tprt__wire_tell(wire_transport *wire, const wire_note *note);
/* To the members, ranks of the parent, of a group that this rank cannot join. */
void tprt__wire_decline(wire_transport *parent, uint64_t context, int n_members,
                        const int *members);
/* What came for a communicator before it was opened. */
void tprt__wire_take_early(wire_transport *wire);
/* Waits until notes are sent, a little while at most. */
void tprt__wire_flush(wire_world *world);
uint32_t tprt__wire_tag(wire_world *world);
/* Without the lock. */
tprt_status tprt__wire_attend(wire_world *world);
void tprt__wire_dismiss(wire_world *world);

/* ---- message_wait.c; the lock is held ---- */
tprt_status tprt__wire_fail(const wire_transport *wire);
/* Records a fault with this thread's error text, tells the members, and ends with whichever fault
 * was first. */
tprt_status tprt__wire_blame(wire_transport *wire, const tprt__fault *fault);
/* The same for a member that does not come. */
tprt_status tprt__wire_blame_peer(wire_transport *wire, tprt_status status, int peer,
                                  const wire_wait *wait);
/* What has come before an operation begins; a fault that is known by then. */
tprt_status tprt__wire_begin(wire_transport *wire);
/* A rest without the lock, if nothing has come (`moved`: something has), then a look at what
 * has. */
tprt_status tprt__wire_rest(wire_world *world, wire_wait *wait, bool moved);
/* Whether there is a fault that ends this wait. */
tprt_status tprt__wire_check(const wire_transport *wire, const wire_wait *wait);
/* The same; a fault or the messenger's failure ends it. */
tprt_status tprt__wire_turn(wire_transport *wire, wire_wait *wait, bool moved);
/* Whether a member will send nothing any more. */
bool tprt__wire_gone(const wire_transport *wire, int peer);

/* ---- message_moves.c: data; the lock is held ---- */
typedef struct wire_move {
  int peer;
  uint32_t tag;
  bool sends;
  char *at;
  int64_t bytes, started; /* of which requests exist or are done */
  void *request;          /* of the last message; NULL: none is under way */
  bool done;
} wire_move;

/* Runs them all at once to their end; those that are not done when it fails are given up. */
tprt_status tprt__wire_move(wire_transport *wire, wire_move *moves, int n, wire_wait *wait);
/* One step of a move; *moved is set if something happened. */
tprt_status tprt__wire_push(wire_transport *wire, wire_move *move, bool *moved);
void tprt__wire_give_up(wire_transport *wire, wire_move *moves, size_t n);

/* ---- message_collective.c ---- */
void tprt__wire_begin_collective(tprt__transport *transport, const tprt__plan *plan,
                                 uint32_t sequence);
tprt_status tprt__wire_submit(tprt__transport *transport, const tprt__plan *plan, uint32_t sequence,
                              int64_t deadline);

/* ---- message_window.c ---- */
tprt_status tprt__wire_expose(tprt__transport *transport, void *memory, uint64_t bytes,
                              uint64_t *place);
tprt_status tprt__wire_withdraw(tprt__transport *transport, void *memory);
tprt_status tprt__wire_reach(const tprt__transport *transport, int rank, uint64_t place,
                             uint64_t bytes, void **memory);
tprt_status tprt__wire_put(tprt__transport *transport, int rank, uint64_t place, const void *from,
                           uint64_t bytes, int64_t deadline);
tprt_status tprt__wire_get(tprt__transport *transport, int rank, uint64_t place, void *to,
                           uint64_t bytes, int64_t deadline);
tprt_status tprt__wire_signal(tprt__transport *transport, int rank, uint64_t place);
tprt_status tprt__wire_await(tprt__transport *transport, const _Atomic uint64_t *counter,
                             uint64_t value, int rank, int64_t deadline);
/* What a note of a member is about: PUTS to SIGNALS. The lock is held, as for the next two. */
tprt_status tprt__wire_take_access(wire_transport *wire, int from, const wire_note *note);
/* A step of all accesses of peers. */
tprt_status tprt__wire_serve(wire_transport *wire);
/* Gives up those of peers, and forgets all memory. */
void tprt__wire_close_windows(wire_transport *wire);

/* ---- message_recover.c ---- */
tprt_status tprt__wire_recover(tprt__transport *transport, int64_t deadline, tprt__token *token,
                               int *members, int *n_members);
/* What a note of a member is about: RECOVERS and DECIDES. The lock is held, as for the next one. */
void tprt__wire_take_recovery(wire_transport *wire, int from, const wire_note *note);
/* Decides who goes on, if it is this rank's turn and time. */
void tprt__wire_settle(wire_transport *wire);

/* ---- message_transfer.c ---- */
tprt_status tprt__wire_exchange(tprt__transport *transport, const tprt__plan *plans, size_t n,
                                uint32_t sequence, int64_t deadline);

#endif
