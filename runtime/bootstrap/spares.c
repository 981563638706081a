/* Spares draw numbers. Number k announces itself with the key "spare/k", and gets its invitation
 * under "place/k". The counter "seen" is the last number that a communicator has looked at: a spare
 * with this or a lower number that has no invitation was passed over, for example because its
 * communicator's leader ended, and draws another number. */
#include "bootstrap/spares.h"
#include "base/env.h"
#include "bootstrap/store.h"

#include <sodium.h>
#include <stdio.h>
#include <string.h>

enum {
  /* how often a spare checks that it was not passed over */
  CHECK_NS = 1000000000,
  /* between drawing a number and the announcement, and between being seen and the invitation */
  GAP_NS = 20000000,
  INVITATION_NS = 500000000,
};

/* Names have at most 63 bytes, so keys fit. */
static void make_key(char key[TPRT_STORE_KEY_BYTES], const char *name, const char *what,
                     int64_t number) {
  snprintf(key, TPRT_STORE_KEY_BYTES, "tprt/spares/%.63s/%.8s/%lld", name, what, (long long)number);
}

static tprt_status count(tprt_store *store, const char *name, const char *what, int64_t delta,
                         int64_t *sum) {
  char key[TPRT_STORE_KEY_BYTES];
  make_key(key, name, what, 0);
  return tprt_store_add(store, key, delta, sum);
}

static int64_t time_left(int64_t deadline) { return tprt__max(deadline - tprt__now(), 1); }

/* ---- for spares ---- */

static tprt_status announce(tprt_store *store, const char *name, int64_t *number) {
  char key[TPRT_STORE_KEY_BYTES];
  tprt_status status = count(store, name, "drawn", 1, number);
  make_key(key, name, "spare", *number);
  return status ? status : tprt_store_set(store, key, "", 0);
}

static tprt_status read_invitation(tprt_store *store, const char *name, int64_t number,
                                   int64_t timeout_ns, tprt__invitation *invitation) {
  char key[TPRT_STORE_KEY_BYTES];
  size_t bytes = sizeof *invitation;
  make_key(key, name, "place", number);
  tprt_status status = tprt_store_get(store, key, invitation, &bytes, timeout_ns);
  if (!status && bytes != sizeof *invitation)
    status =
        tprt__fail(TPRT_MISMATCH, "the invitation to \"%s\" is from another library version", name);
  if (!status)
    (void)tprt_store_remove(store, key);
  return status;
}

/* TPRT_IN_PROGRESS: the spare was passed over. */
static tprt_status wait_with_number(tprt_store *store, const char *name, int64_t number,
                                    int64_t deadline, tprt__invitation *invitation) {
  for (;;) {
    int64_t seen;
    tprt_status status =
        read_invitation(store, name, number, tprt__min(time_left(deadline), CHECK_NS), invitation);
    if (status != TPRT_TIMEOUT)
      return status;
    status = count(store, name, "seen", 0, &seen);
    if (!status && seen >= number) {
      status = read_invitation(store, name, number, INVITATION_NS, invitation);
      return status == TPRT_TIMEOUT ? TPRT_IN_PROGRESS : status;
    }
    if (status || tprt__now() >= deadline)
      return status ? status : TPRT_TIMEOUT;
  }
}

tprt_status tprt__spares_wait(tprt_store *store, const char *name, int64_t deadline,
                              tprt__invitation *invitation) {
  char key[TPRT_STORE_KEY_BYTES];
  tprt_status status;
  do {
    int64_t number;
    status = announce(store, name, &number);
    if (!status)
      status = wait_with_number(store, name, number, deadline, invitation);
    make_key(key, name, "spare", number);
    if (status == TPRT_TIMEOUT)
      (void)tprt_store_remove(store, key);
  } while (status == TPRT_IN_PROGRESS && tprt__now() < deadline);
  if (status == TPRT_TIMEOUT || status == TPRT_IN_PROGRESS)
    return tprt__fail(TPRT_TIMEOUT, "communicator \"%s\" had no place for this spare in time",
                      name);
  return status;
}

/* ---- for the communicator ---- */

tprt_status tprt__spares_take(tprt_store *store, const char *name, int64_t deadline,
                              int64_t *number) {
  char key[TPRT_STORE_KEY_BYTES];
  int64_t seen = 0, drawn = 0, sum;
  tprt_status status = count(store, name, "seen", 0, &seen);
  if (!status)
    status = count(store, name, "drawn", 0, &drawn);
  if (status)
    return status;
  for (int64_t k = seen + 1;; k++) {
    unsigned char unused[1];
    size_t bytes = sizeof unused;
    make_key(key, name, "spare", k);
    status = tprt_store_get(store, key, unused, &bytes, k > drawn ? time_left(deadline) : GAP_NS);
    bool is_gone = status == TPRT_TIMEOUT && k <= drawn;
    if (is_gone)
      continue;
    tprt_status moved = count(store, name, "seen", (status ? k - 1 : k) - seen, &sum);
    if (!status)
      (void)tprt_store_remove(store, key);
    *number = k;
    return status ? status : moved;
  }
}

tprt_status tprt__spares_invite(tprt_store *store, const char *name, int64_t number,
                                const tprt__invitation *invitation) {
  char key[TPRT_STORE_KEY_BYTES];
  make_key(key, name, "place", number);
  return tprt_store_set(store, key, invitation, sizeof *invitation);
}

void tprt__spares_withdraw(tprt_store *store, const char *name, int64_t number) {
  char key[TPRT_STORE_KEY_BYTES];
  make_key(key, name, "place", number);
  (void)tprt_store_remove(store, key);
}

/* ---- claims ---- */

/* Numbers small enough that the sum of several does not overflow. */
int64_t tprt__epoch_draw_claim(void) {
  int64_t drawn;
  randombytes_buf(&drawn, sizeof drawn);
  return (int64_t)((uint64_t)drawn >> 8) | 1;
}

/* The counter of a claim is 0 or the claim that follows it. A claim is added, which shows what was
 * there before, and subtracted if it was not the first. */
tprt_status tprt__epoch_claim(tprt_store *store, int64_t last, const int64_t *known, size_t n,
                              int64_t claim) {
  for (;;) {
    char key[TPRT_STORE_KEY_BYTES];
    int64_t sum, unused;
    snprintf(key, sizeof key, "tprt/epoch/%lld", (long long)last);
    tprt_status status = tprt_store_add(store, key, claim, &sum);
    if (status || sum == claim)
      return status;
    status = tprt_store_add(store, key, -claim, &unused);
    size_t i = 0;
    while (i < n && known[i] != sum - claim)
      i++;
    if (status)
      return status;
    if (i == n)
      return tprt__fail(TPRT_INVALID_STATE,
                        "other ranks of this communicator have continued without this one; it can "
                        "come back as a spare, with tprt_comm_join");
    last = known[i];
  }
}

/* ---- the store of an epoch ---- */

static tprt__store_setup make_setup(const tprt__invitation *invitation, const tprt_store *job,
                                    int64_t deadline) {
  bool has_secret = job && job->has_secret;
  tprt__store_setup setup = {.identity = {.n_ranks = invitation->n_ranks,
                                          .rank = invitation->rank,
                                          .epoch = invitation->epoch,
                                          .has_secret = true},
                             .server = invitation->server,
                             .is_up = true,
                             .timeout_ns = time_left(deadline),
                             .open = job && job->open};
  crypto_generichash(setup.identity.secret, sizeof setup.identity.secret, invitation->ticket,
                     sizeof invitation->ticket, has_secret ? job->secret : NULL,
                     has_secret ? sizeof job->secret : 0);
  memcpy(setup.identity.job, &invitation->claim, sizeof invitation->claim);
  return setup;
}

/* Later connections of the ranks need as much trust as those of the job. */
static void inherit_trust(tprt_store *store, const tprt__store_setup *setup) {
  store->open = setup->open;
  store->has_secret = true;
  memcpy(store->secret, setup->identity.secret, sizeof store->secret);
}

static const char *find_host(const tprt_store *job) {
  const char *given = tprt__env_text(TPRT__ENV_ADDRESS);
  return given ? given : job ? job->host : "";
}

tprt_status tprt__epoch_serve(tprt__invitation *invitation, const tprt_store *job,
                              tprt__epoch_reach reach, int64_t deadline, tprt_store **store) {
  unsigned char name[16];
  char hex[2 * sizeof name + 1];
  const char *host = reach == TPRT__FROM_HERE ? "" : find_host(job);
  tprt__address address = {.is_unix = !*host, .port = "0"};
  int port = 0;
  if (sodium_init() < 0)
    return tprt__fail(TPRT_SYSTEM, "libsodium cannot be initialized");
  if ((reach == TPRT__FROM_OTHER_HOSTS && !*host) || strlen(host) > 100)
    return tprt__fail(
        TPRT_INVALID_ARGUMENT,
        "the store has no address at which processes of other hosts can reach rank %d: "
        "set TPRT_ADDRESS to an address of this host",
        invitation->rank);
  randombytes_buf(invitation->ticket, sizeof invitation->ticket);
  randombytes_buf(name, sizeof name);
  sodium_bin2hex(hex, sizeof hex, name, sizeof name);
  if (*host)
    snprintf(address.host, sizeof address.host, "%s", host);
  else
    snprintf(address.name, sizeof address.name, "tprt-%s", hex);
  snprintf(address.text, sizeof address.text, "the store of epoch %d", invitation->epoch);
  tprt__store_setup setup = make_setup(invitation, job, deadline);
  tprt_status status = tprt__store_serve(&address, &setup, &port, store);
  if (!status)
    inherit_trust(*store, &setup);
  tprt__wipe(&setup, sizeof setup);
  if (!*host)
    snprintf(invitation->address, sizeof invitation->address, "unix:%s", address.name);
  else
    snprintf(invitation->address, sizeof invitation->address,
             strchr(host, ':') ? "tcp://[%.100s]:%d" : "tcp://%.100s:%d", host, port);
  return status;
}

tprt_status tprt__epoch_enter(const tprt__invitation *invitation, const tprt_store *job,
                              int64_t patience_ns, int64_t deadline, tprt_store **store) {
  tprt__address address;
  tprt_status status = tprt__address_parse(invitation->address, &address);
  if (status)
    return status;
  tprt__store_setup setup =
      make_setup(invitation, job, tprt__min(deadline, tprt__deadline(patience_ns)));
  status = tprt__store_connect(&address, &setup, store);
  if (!status) {
    inherit_trust(*store, &setup);
    (*store)->timeout_ns = time_left(deadline);
  }
  tprt__wipe(&setup, sizeof setup);
  return status;
}

static void entered_key(char key[TPRT_STORE_KEY_BYTES], int rank) {
  snprintf(key, TPRT_STORE_KEY_BYTES, "tprt/entered/%d", rank);
}

tprt_status tprt__epoch_report(tprt_store *store, int rank) {
  char key[TPRT_STORE_KEY_BYTES];
  entered_key(key, rank);
  return tprt_store_set(store, key, "", 0);
}

tprt_status tprt__epoch_await(tprt_store *store, int rank, int64_t timeout_ns) {
  char key[TPRT_STORE_KEY_BYTES];
  entered_key(key, rank);
  return tprt_store_wait(store, key, timeout_ns);
}

void tprt__epoch_leave(tprt_store *store, bool at_once) {
  enum { LEAVE_NS = 2000000000 };
  if (store)
    store->timeout_ns = at_once ? 1 : LEAVE_NS;
  tprt_store_destroy(store);
}
