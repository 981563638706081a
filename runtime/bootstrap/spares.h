/* Spares: processes that wait in a store until a communicator needs them. */
#ifndef TPRT_BOOTSTRAP_SPARES_H
#define TPRT_BOOTSTRAP_SPARES_H

#include "base/base.h"
#include "tprt/bootstrap.h"

enum { TPRT__TICKET_BYTES = 32, TPRT__MOST_CLAIMS = 8 };

/* What a process needs to enter the next epoch of a communicator. Its processes meet in a store of
 * their own, which only they can enter: its secret is the ticket, mixed with the secret of the
 * job. */
typedef struct tprt__invitation {
  char backend[16];
  char address[128]; /* of the store of the epoch */
  unsigned char ticket[TPRT__TICKET_BYTES];
  int64_t claim; /* identifies the epoch, among all of all communicators */
  int32_t epoch, n_ranks, rank;
  int32_t server;     /* the rank that serves the store of the epoch */
  int64_t timeout_ns; /* until all places must be taken */
} tprt__invitation;

/* ---- for spares ---- */

/* Waits until the communicator of this name has a place. TPRT_TIMEOUT if none has by the
 * deadline. */
tprt_status tprt__spares_wait(tprt_store *store, const char *name, int64_t deadline,
                              tprt__invitation *invitation);

/* ---- for the communicator; one rank at a time ---- */

/* Takes the spare that has waited longest, or waits for one. Returns its number. */
tprt_status tprt__spares_take(tprt_store *store, const char *name, int64_t deadline,
                              int64_t *number);
tprt_status tprt__spares_invite(tprt_store *store, const char *name, int64_t number,
                                const tprt__invitation *invitation);
/* Withdraws an invitation that was not accepted. */
void tprt__spares_withdraw(tprt_store *store, const char *name, int64_t number);

/* Epochs form a chain in the store: each claim follows another one, and only one claim can follow
 * it. So of two groups of a communicator that lost each other, only one continues. */

/* Returns a number for a claim. */
int64_t tprt__epoch_draw_claim(void);
/* Enters `claim` after `last`, or after those of the n `known` claims which already follow it: they
 * are of ranks of this group that ended meanwhile. TPRT_INVALID_STATE if another claim follows. */
tprt_status tprt__epoch_claim(tprt_store *store, int64_t last, const int64_t *known, size_t n,
                              int64_t claim);

/* ---- the store of an epoch ---- */

/* From where the processes of an epoch come. */
typedef enum tprt__epoch_reach {
  TPRT__FROM_HERE,       /* this host */
  TPRT__FROM_ANYWHERE,   /* other hosts, if an address of this one is known */
  TPRT__FROM_OTHER_HOSTS /* other hosts */
} tprt__epoch_reach;

/* Chooses the address and the ticket of an invitation, and serves the store. `job` is the store in
 * which the spares wait; NULL: there is none. */
tprt_status tprt__epoch_serve(tprt__invitation *invitation, const tprt_store *job,
                              tprt__epoch_reach reach, int64_t deadline, tprt_store **store);
/* Enters the store of an epoch. TPRT_PEER_DEAD if its server has closed it or ended; TPRT_TIMEOUT
 * if it does not answer within `patience_ns`. */
tprt_status tprt__epoch_enter(const tprt__invitation *invitation, const tprt_store *job,
                              int64_t patience_ns, int64_t deadline, tprt_store **store);
/* Says in the store of an epoch that this rank has entered it, and waits until a rank has. */
tprt_status tprt__epoch_report(tprt_store *store, int rank);
tprt_status tprt__epoch_await(tprt_store *store, int rank, int64_t timeout_ns);
/* Leaves it. The server waits for the others only for a moment, since they may hang; `at_once`: not
 * at all, so that they wait no longer. */
void tprt__epoch_leave(tprt_store *store, bool at_once);

#endif
