/* Stores: argument checks shared by all kinds, opening by address, and stores made of callbacks. */
#include "bootstrap/store.h"
#include "base/env.h"

#include <limits.h>
#include <sodium.h>
#include <stdio.h>
#include <string.h>

_Static_assert((int)TPRT__MAX_KEY == TPRT_STORE_KEY_BYTES - 1 &&
                   (int)TPRT__MAX_VALUE == TPRT_STORE_VALUE_BYTES &&
                   (int)TPRT__KEY_BYTES == TPRT_SECRET_BYTES,
               "limits of the protocol");

static tprt_status check_key(const char *key) {
  size_t n = strlen(key);
  if (n >= 1 && n <= TPRT__MAX_KEY)
    return TPRT_OK;
  return tprt__fail(TPRT_INVALID_ARGUMENT, "invalid key of %zu bytes; it must have 1 to %d", n,
                    TPRT__MAX_KEY);
}

static tprt_status choose_deadline(const tprt_store *store, int64_t timeout_ns, int64_t *deadline) {
  if (timeout_ns < 0)
    return tprt__fail(TPRT_INVALID_ARGUMENT, "timeout_ns is %lld; it must be >= 0",
                      (long long)timeout_ns);
  *deadline = tprt__deadline(timeout_ns ? timeout_ns : store->timeout_ns);
  return TPRT_OK;
}

tprt_status tprt_store_set(tprt_store *store, const char *key, const void *value, size_t bytes) {
  TPRT__NEED(store);
  TPRT__NEED(key);
  tprt_status status = check_key(key);
  if (!status && (bytes > TPRT_STORE_VALUE_BYTES || (bytes && !value)))
    status =
        tprt__fail(TPRT_INVALID_ARGUMENT, "invalid value of %zu bytes%s; it may have at most %d",
                   bytes, value ? "" : " at NULL", TPRT_STORE_VALUE_BYTES);
  return status ? status
                : store->kind->set(store, key, value, bytes, tprt__deadline(store->timeout_ns));
}

tprt_status tprt_store_get(tprt_store *store, const char *key, void *value, size_t *bytes,
                           int64_t timeout_ns) {
  TPRT__NEED(store);
  TPRT__NEED(key);
  TPRT__NEED(bytes);
  if (*bytes)
    TPRT__NEED(value);
  int64_t deadline = 0;
  tprt_status status = check_key(key);
  if (!status)
    status = choose_deadline(store, timeout_ns, &deadline);
  return status ? status : store->kind->get(store, key, value, bytes, deadline);
}

tprt_status tprt_store_wait(tprt_store *store, const char *key, int64_t timeout_ns) {
  TPRT__NEED(store);
  TPRT__NEED(key);
  unsigned char unused[TPRT_STORE_VALUE_BYTES];
  size_t bytes = sizeof unused;
  return tprt_store_get(store, key, unused, &bytes, timeout_ns);
}

tprt_status tprt_store_add(tprt_store *store, const char *key, int64_t delta, int64_t *sum) {
  TPRT__NEED(store);
  TPRT__NEED(key);
  TPRT__NEED(sum);
  tprt_status status = check_key(key);
  return status ? status
                : store->kind->add(store, key, delta, sum, tprt__deadline(store->timeout_ns));
}

tprt_status tprt_store_remove(tprt_store *store, const char *key) {
  TPRT__NEED(store);
  TPRT__NEED(key);
  tprt_status status = check_key(key);
  return status ? status : store->kind->remove(store, key, tprt__deadline(store->timeout_ns));
}

tprt_status tprt_store_barrier(tprt_store *store, const char *name, int n, int64_t timeout_ns) {
  TPRT__NEED(store);
  TPRT__NEED(name);
  char key[TPRT_STORE_KEY_BYTES];
  int64_t n_here;
  tprt_status status = check_key(name);
  if (!status && (n < 1 || snprintf(key, sizeof key, "tprt/open/%s", name) >= (int)sizeof key))
    status = tprt__fail(TPRT_INVALID_ARGUMENT, "invalid barrier of %d ranks with the name \"%s\"",
                        n, name);
  if (!status)
    status = tprt_store_add(store, name, 1, &n_here);
  if (!status && n_here > n)
    status = tprt__fail(TPRT_INVALID_STATE,
                        "more ranks than expected (%lld of %d) arrived at the barrier \"%s\"",
                        (long long)n_here, n, name);
  if (!status && n_here == n)
    return tprt_store_set(store, key, "", 0);
  status = status ? status : tprt_store_wait(store, key, timeout_ns);
  if (status == TPRT_TIMEOUT)
    tprt__fail(status, "not all of %d ranks arrived at the barrier \"%s\" in time", n, name);
  return status;
}

void tprt_store_destroy(tprt_store *store) {
  if (!store)
    return;
  tprt__wipe(store->secret, sizeof store->secret);
  store->kind->close(store);
}

/* ---- opening by address ---- */

static tprt_status make_setup(const tprt_store_config *config, tprt__store_setup *setup) {
  tprt_store_config own = {.size = sizeof own};
  int64_t timeout, insecure;
  const char *job = "";
  tprt_status status = tprt__struct_copy(&own, sizeof own, config, "tprt_store_config");
  int end = own.n_ranks ? own.n_ranks : 2; /* of an open store: the server, and all others */
  if (!status &&
      (own.n_ranks < 0 || own.rank < 0 || own.rank >= end || own.epoch < 0 || own.timeout_ns < 0))
    status = tprt__fail(TPRT_INVALID_ARGUMENT,
                        "invalid tprt_store_config: rank %d of %d, epoch %d, timeout_ns %lld",
                        own.rank, own.n_ranks, own.epoch, (long long)own.timeout_ns);
  if (!status && own.job && strlen(own.job) >= sizeof((tprt_launch *)0)->job)
    status =
        tprt__fail(TPRT_INVALID_ARGUMENT,
                   "the name of the job has %zu bytes; at most 127 are allowed", strlen(own.job));
  if (!status)
    status = tprt__env_number(TPRT__ENV_TIMEOUT, 0, &timeout);
  if (!status)
    status = tprt__env_number(TPRT__ENV_INSECURE, 0, &insecure);
  if (!status && sodium_init() < 0)
    status = tprt__fail(TPRT_SYSTEM, "libsodium cannot be initialized");
  if (status)
    return status;
  job = own.job ? own.job : job;
  *setup = (tprt__store_setup){
      .identity = {.n_ranks = own.n_ranks, .rank = own.rank, .epoch = own.epoch},
      .timeout_ns = own.timeout_ns ? own.timeout_ns : timeout,
  };
  tprt__job_digest(job, setup->identity.job);
  status = tprt__secret_find(own.secret, setup->identity.secret, &setup->identity.has_secret);
  setup->open = setup->identity.has_secret || insecure;
  return status;
}

/* Copies the job's properties that the store provides besides its values. */
static void trust(tprt_store *store, const tprt__store_setup *setup) {
  store->open = setup->open;
  store->has_secret = setup->identity.has_secret;
  if (store->has_secret)
    memcpy(store->secret, setup->identity.secret, sizeof store->secret);
}

static tprt_status open_descriptor(const char *number, const tprt__store_setup *setup,
                                   tprt_store **store) {
  int64_t fd;
  tprt_status status = tprt__parse("int", "", "the descriptor of a store", number, &fd);
  return status ? status : tprt__store_file(NULL, (int)fd, setup, store);
}

tprt_status tprt_store_open(const char *address, const tprt_store_config *config,
                            tprt_store **store) {
  TPRT__NEED(address);
  TPRT__NEED(config);
  TPRT__NEED(store);
  tprt__store_setup setup;
  tprt__address parsed;
  tprt_status status = make_setup(config, &setup);
  if (status)
    return status;
  if (strncmp(address, "file:", 5) == 0) {
    status = tprt__store_file(address + 5, -1, &setup, store);
  } else if (strncmp(address, "fd:", 3) == 0) {
    status = open_descriptor(address + 3, &setup, store);
  } else {
    status = tprt__address_parse(address, &parsed);
    if (!status)
      status = setup.identity.rank == 0 ? tprt__store_serve(&parsed, &setup, NULL, store)
                                        : tprt__store_connect(&parsed, &setup, store);
  }
  if (!status)
    trust(*store, &setup);
  tprt__wipe(&setup, sizeof setup);
  return status;
}

/* ---- callbacks ---- */

typedef struct callback_store {
  tprt_store base;
  tprt_store_callbacks calls;
} callback_store;

static int64_t time_left(int64_t deadline) {
  int64_t left = deadline - tprt__now();
  return left > 0 ? left : 1;
}

/* Sets an error text, because a callback cannot. */
static tprt_status check_callback(tprt_status status, const char *what, const char *key) {
  return status ? tprt__fail(status, "the store's callback %s failed for \"%s\"", what, key)
                : TPRT_OK;
}

static tprt_status callback_set(tprt_store *store, const char *key, const void *value, size_t bytes,
                                int64_t deadline) {
  const tprt_store_callbacks *calls = &((callback_store *)store)->calls;
  return check_callback(calls->set(calls->user, key, value, bytes, time_left(deadline)), "set",
                        key);
}

static tprt_status callback_get(tprt_store *store, const char *key, void *value, size_t *bytes,
                                int64_t deadline) {
  const tprt_store_callbacks *calls = &((callback_store *)store)->calls;
  size_t room = *bytes;
  tprt_status status =
      check_callback(calls->get(calls->user, key, value, bytes, time_left(deadline)), "get", key);
  if (!status && *bytes > room)
    status =
        tprt__fail(TPRT_INVALID_ARGUMENT,
                   "the store's callback get returned %zu bytes for \"%s\"; the buffer has %zu",
                   *bytes, key, room);
  return status;
}

static tprt_status callback_add(tprt_store *store, const char *key, int64_t delta, int64_t *sum,
                                int64_t deadline) {
  const tprt_store_callbacks *calls = &((callback_store *)store)->calls;
  return check_callback(calls->add(calls->user, key, delta, sum, time_left(deadline)), "add", key);
}

static tprt_status callback_remove(tprt_store *store, const char *key, int64_t deadline) {
  const tprt_store_callbacks *calls = &((callback_store *)store)->calls;
  if (!calls->remove)
    return tprt__fail(TPRT_UNSUPPORTED, "the store has no callback remove, so \"%s\" stays", key);
  return check_callback(calls->remove(calls->user, key, time_left(deadline)), "remove", key);
}

static void callback_close(tprt_store *store) { tprt__free(store); }

tprt_status tprt_store_create(const tprt_store_callbacks *callbacks, tprt_store **store) {
  TPRT__NEED(callbacks);
  TPRT__NEED(store);
  static const tprt__store_kind kind = {callback_set, callback_get, callback_add, callback_remove,
                                        callback_close};
  tprt_store_callbacks own;
  int64_t timeout;
  tprt_status status = tprt__struct_copy(&own, sizeof own, callbacks, "tprt_store_callbacks");
  if (!status && (!own.set || !own.get || !own.add || own.timeout_ns < 0))
    status = tprt__fail(TPRT_INVALID_ARGUMENT,
                        "tprt_store_callbacks needs set, get and add, and no negative timeout");
  if (!status)
    status = tprt__env_number(TPRT__ENV_TIMEOUT, 0, &timeout);
  if (status)
    return status;
  callback_store *made = tprt__alloc(sizeof *made);
  if (!made)
    return tprt__fail_memory(sizeof *made);
  made->base = (tprt_store){.kind = &kind, .timeout_ns = own.timeout_ns ? own.timeout_ns : timeout};
  made->calls = own;
  *store = &made->base;
  return TPRT_OK;
}
