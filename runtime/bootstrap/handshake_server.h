/* Handshakes over sockets: those who have connected and not proven anything yet, and how one gets
 * in.
 *
 * Who has not proven anything takes little: a place out of 4 per rank, for a second at most, with
 * room for one message of the handshake. When all places are taken, the oldest that has said
 * nothing goes, so silent clients delay nobody. */
#ifndef TPRT_BOOTSTRAP_DOOR_H
#define TPRT_BOOTSTRAP_DOOR_H

#include "bootstrap/store.h"

#include <poll.h>

/* A connection in its handshake. */
typedef struct tprt__guest {
  int fd; /* -1: free */
  int64_t deadline;
  tprt__gate gate;
  size_t n_in;
  unsigned char in[TPRT__HELLO_BYTES];
} tprt__guest;

typedef struct tprt__door {
  const tprt__identity *own;
  int listener;         /* -1: closed */
  bool check_user;      /* unix */
  int64_t accept_after; /* there were no descriptors left */
  tprt__guest *guests;
  int n_guests;
} tprt__door;

/* A door without a listener, which it closes when it has got one. `own` lives as long as it. */
tprt_status tprt__door_make(tprt__door *door, const tprt__identity *own);
void tprt__door_clear(tprt__door *door);

/* Descriptors that it has to listen to, which prepare fills in; and until when. */
static inline size_t tprt__door_size(const tprt__door *door) { return 1 + (size_t)door->n_guests; }
int64_t tprt__door_prepare(const tprt__door *door, struct pollfd *watched);
/* A guest that has proven which rank it is (gate.rank); true: its descriptor is taken over. Else it
 * is closed. */
typedef bool tprt__admit_fn(void *user, const tprt__guest *guest);
/* What poll has found. */
void tprt__door_handle(tprt__door *door, const struct pollfd *watched, tprt__admit_fn *admit,
                       void *user);
/* The last message of the handshake: a status, TPRT_OK for one that is admitted. */
void tprt__guest_tell(const tprt__guest *guest, tprt_status status);

/* ---- The other side ---- */

/* What became of it. */
typedef struct tprt__welcome {
  tprt__refusal refusal;
  tprt__challenge stated;
  bool changed;       /* the last message was changed on its way */
  tprt_status status; /* that of tprt__guest_tell */
} tprt__welcome;

/* Asks to be let in. LATE and BROKEN: nobody had time, or the place went to another; it should be
 * tried again. */
tprt__transfer tprt__greet(int fd, const tprt__identity *own, int64_t deadline,
                           tprt__session *session, tprt__welcome *welcome);

#endif
