/* Meetings of ranks in a store: keys, detection of ranks that share a host, and the closing
 * barrier. */
#define _GNU_SOURCE 1
#include "bootstrap/rendezvous.h"
#include "bootstrap/store.h"

#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <sys/random.h>
#include <sys/stat.h>
#include <unistd.h>

/* ---- keys ---- */

tprt__rendezvous tprt__rendezvous_begin(tprt_store *store, const char *backend, int n_ranks,
                                        int rank, int64_t deadline) {
  return (tprt__rendezvous){.store = store,
                            .backend = backend,
                            .number = store->n_rendezvous++,
                            .n_ranks = n_ranks,
                            .rank = rank,
                            .deadline = deadline,
                            .timeout_ns = deadline - tprt__now()};
}

void tprt__rendezvous_key(char key[TPRT_STORE_KEY_BYTES], const tprt__rendezvous *m,
                          const char *what, int rank) {
  snprintf(key, TPRT_STORE_KEY_BYTES, "tprt/%.16s/%u/%s/%d", m->backend, m->number, what, rank);
}

int64_t tprt__rendezvous_time_left(const tprt__rendezvous *m) {
  int64_t left = m->deadline - tprt__now();
  return left > 0 ? left : 1;
}

tprt_status tprt__rendezvous_fetch(const tprt__rendezvous *m, const char *key, int owner,
                                   void *value, size_t size) {
  size_t bytes = size;
  tprt_status status = tprt_store_get(m->store, key, value, &bytes, tprt__rendezvous_time_left(m));
  /* another reason is that the rank which serves the store does not answer */
  if (status == TPRT_TIMEOUT && strstr(tprt_last_error(), TPRT__NOT_SET))
    return tprt__fail(status, "rank %d of %d did not arrive within %.3g s; is it started?", owner,
                      m->n_ranks, (double)m->timeout_ns * 1e-9);
  if (!status && bytes != size)
    status =
        tprt__fail(TPRT_MISMATCH,
                   "\"%s\" has %zu bytes instead of %zu: the ranks run different library versions",
                   key, bytes, size);
  return status;
}

tprt_status tprt__rendezvous_check(const tprt__rendezvous *m) {
  char key[TPRT_STORE_KEY_BYTES];
  tprt__rendezvous_key(key, m, "never", m->rank);
  return tprt_store_wait(m->store, key, 1) == TPRT_PEER_DEAD ? TPRT_PEER_DEAD : TPRT_OK;
}

tprt_status tprt__rendezvous_end(const tprt__rendezvous *m) {
  char key[TPRT_STORE_KEY_BYTES];
  snprintf(key, sizeof key, "tprt/%.16s/%u/end", m->backend, m->number);
  tprt_status status = tprt_store_barrier(m->store, key, m->n_ranks, tprt__rendezvous_time_left(m));
  if (status == TPRT_TIMEOUT)
    return tprt__fail(status, "not all of %d ranks joined the world within %.3g s", m->n_ranks,
                      (double)m->timeout_ns * 1e-9);
  return status;
}

/* ---- what all ranks have in common ---- */

enum { NAME_BYTES = 32 };

/* What rank 0 found when it had read the names of the backends of all others. */
typedef struct verdict {
  uint64_t number;
  int32_t other, unused; /* the first rank with another backend than rank 0; 0: none */
  char first_name[NAME_BYTES], other_name[NAME_BYTES];
} verdict;

/* On rank 0. */
static tprt_status compare_names(const tprt__rendezvous *m, verdict *v) {
  char key[TPRT_STORE_KEY_BYTES];
  tprt_status status =
      getentropy(&v->number, sizeof v->number) == 0 ? TPRT_OK : tprt__fail_errno("getentropy");
  for (int rank = 1; rank < m->n_ranks && !status && !v->other; rank++) {
    tprt__rendezvous_key(key, m, "backend", rank);
    status = tprt__rendezvous_fetch(m, key, rank, v->other_name, sizeof v->other_name);
    if (!status && memcmp(v->other_name, v->first_name, NAME_BYTES) != 0)
      v->other = rank;
  }
  tprt__rendezvous_key(key, m, "verdict", 0);
  return status ? status : tprt_store_set(m->store, key, v, sizeof *v);
}

/* On the others. If rank 0 says nothing, it may wait for a rank that is missing here, too. */
static tprt_status fetch_verdict(const tprt__rendezvous *m, verdict *v) {
  char key[TPRT_STORE_KEY_BYTES], name[NAME_BYTES];
  tprt__rendezvous_key(key, m, "verdict", 0);
  tprt_status status = tprt__rendezvous_fetch(m, key, 0, v, sizeof *v);
  if (status != TPRT_TIMEOUT)
    return status;
  for (int rank = 0; rank < m->n_ranks; rank++) {
    tprt__rendezvous_key(key, m, "backend", rank);
    status = tprt__rendezvous_fetch(m, key, rank, name, sizeof name);
    if (status)
      return status;
  }
  return tprt__fail(TPRT_TIMEOUT, "rank 0 of %d did not answer within %.3g s", m->n_ranks,
                    (double)m->timeout_ns * 1e-9);
}

tprt_status tprt__rendezvous_agree(const tprt__rendezvous *m, const char *backend,
                                   uint64_t *number) {
  char key[TPRT_STORE_KEY_BYTES];
  verdict v = {.other = 0};
  snprintf(v.first_name, sizeof v.first_name, "%s", backend);
  tprt__rendezvous_key(key, m, "backend", m->rank);
  tprt_status status = tprt_store_set(m->store, key, v.first_name, sizeof v.first_name);
  if (!status)
    status = m->rank == 0 ? compare_names(m, &v) : fetch_verdict(m, &v);
  if (!status && v.other)
    status = tprt__fail(TPRT_MISMATCH,
                        "rank 0 uses backend %.31s, but rank %d uses %.31s; choose one for all, by "
                        "TPRT_BACKEND or in the program",
                        v.first_name, v.other, v.other_name);
  *number = v.number;
  return status;
}

/* ---- hosts ---- */

tprt_status tprt__host_describe(tprt__host *own) {
  struct stat pids, nets;
  char boot[40] = "";
  int fd = open("/proc/sys/kernel/random/boot_id", O_RDONLY | O_CLOEXEC);
  ssize_t n = fd < 0 ? -1 : read(fd, boot, sizeof boot - 1);
  if (fd >= 0)
    close(fd);
  if (n <= 0 || stat("/proc/self/ns/pid", &pids) != 0 || stat("/proc/self/ns/net", &nets) != 0)
    return tprt__fail_errno("cannot identify this host from /proc");
  boot[strcspn(boot, "\n")] = 0;
  *own = (tprt__host){.identity = ""};
  snprintf(own->identity, sizeof own->identity, "%.36s/%llx/%llx", boot,
           (unsigned long long)pids.st_ino, (unsigned long long)nets.st_ino);
  if (gethostname(own->name, sizeof own->name) != 0)
    return tprt__fail_errno("gethostname");
  own->name[sizeof own->name - 1] = 0;
  return TPRT_OK;
}

bool tprt__host_is(const tprt__host *a, const tprt__host *b) {
  return memcmp(a->identity, b->identity, sizeof a->identity) == 0;
}

/* What a rank puts into the store. */
typedef struct whereabouts {
  tprt__host host;
  uint64_t trait;
} whereabouts;

/* Compares a rank with the first rank of each host before it. */
static int first_on_host(const whereabouts *all, const int *first, int rank) {
  for (int i = 0; i < rank; i++) {
    if (first[i] == i && tprt__host_is(&all[i].host, &all[rank].host))
      return i;
  }
  return rank;
}

tprt_status tprt__rendezvous_hosts(const tprt__rendezvous *m, uint64_t trait, int *first,
                                   bool *is_common) {
  char key[TPRT_STORE_KEY_BYTES];
  size_t n = (size_t)m->n_ranks;
  whereabouts *all = tprt__alloc(n * sizeof *all);
  if (!all)
    return tprt__fail_memory(n * sizeof *all);
  whereabouts *own = &all[m->rank];
  tprt_status status = tprt__host_describe(&own->host);
  own->trait = trait;
  tprt__rendezvous_key(key, m, "host", m->rank);
  if (!status)
    status = tprt_store_set(m->store, key, own, sizeof *own);
  for (int rank = 0; rank < m->n_ranks && !status; rank++) {
    tprt__rendezvous_key(key, m, "host", rank);
    if (rank != m->rank)
      status = tprt__rendezvous_fetch(m, key, rank, &all[rank], sizeof all[rank]);
    if (!status)
      first[rank] = first_on_host(all, first, rank);
  }
  *is_common = !status;
  for (int rank = 0; rank < m->n_ranks && !status; rank++)
    *is_common &= first[rank] != first[m->rank] || all[rank].trait == trait;
  tprt__free(all);
  return status;
}

tprt__host_rank tprt__host_rank_of(int n_ranks, const int *first, int rank) {
  tprt__host_rank local = {.rank = 0};
  for (int i = 0; i < n_ranks; i++) {
    local.n_ranks += first[i] == first[rank];
    local.rank += first[i] == first[rank] && i < rank;
  }
  return local;
}
