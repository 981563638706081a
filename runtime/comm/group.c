/* Named communicators, and the mapping from ranks of the world to local ranks. */
#include "comm/comm.h"

#include <stdio.h>
#include <string.h>

const char *tprt_comm_name(const tprt_comm *comm) {
  TPRT__NEED_OR(comm, "");
  return comm->name;
}

int tprt_comm_local_rank(const tprt_comm *comm, int world_rank) {
  TPRT__NEED_OR(comm, -1);
  for (int i = 0; i < comm->transport->n_ranks; i++) {
    if (comm->world_ranks[i] == world_rank)
      return i;
  }
  return -1;
}

/* Key for same_name. The comparison sets `differs`. */
typedef struct name_key {
  const char *name;
  uint64_t ranks;
  bool differs; /* a group with this name but other ranks exists */
} name_key;

static bool same_name(const tprt__axes_entry *entry, const void *key) {
  name_key *wanted = (name_key *)(uintptr_t)key;
  bool same = entry->name && strcmp(entry->name, wanted->name) == 0;
  wanted->differs |= same && entry->ranks != wanted->ranks;
  return same;
}

tprt_comm *tprt_comm_find(tprt_comm *comm, const char *name) {
  TPRT__NEED_OR(comm, NULL);
  TPRT__NEED_OR(name, NULL);
  name_key key = {.name = name};
  tprt_comm *child = NULL;
  return tprt__axes_find(comm, same_name, &key, &child) ? child : NULL;
}

static tprt_status add_named(tprt_comm *comm, const name_key *key, const int *ranks, int n_ranks,
                             tprt_comm **child) {
  size_t length = strlen(key->name) + 1;
  tprt__axes_entry *entry = tprt__alloc(sizeof *entry + length);
  if (!entry)
    return tprt__fail_memory(sizeof *entry + length);
  memcpy(entry + 1, key->name, length);
  entry->name = (const char *)(entry + 1);
  entry->ranks = key->ranks;
  const tprt_comm_config config = {
      .size = sizeof config, .version = TPRT_COMM_CONFIG_VERSION, .name = key->name};
  tprt_status status = tprt_comm_split_ranks_with(comm, ranks, n_ranks, &config, &entry->child);
  if (status) {
    tprt__free(entry);
    return status;
  }
  status = tprt__axes_insert(comm, entry);
  if (!status)
    *child = entry->child;
  return status;
}

tprt_status tprt_comm_named(tprt_comm *comm, const char *name, const int *ranks, int n_ranks,
                            tprt_comm **child) {
  TPRT__NEED(comm);
  TPRT__NEED(name);
  TPRT__NEED(child);
  if (!*name || strlen(name) >= TPRT__NAME_BYTES) {
    return tprt__fail(TPRT_INVALID_ARGUMENT, "the name of a group must have 1 to %d bytes, not %zu",
                      TPRT__NAME_BYTES - 1, strlen(name));
  }
  name_key key = {
      .name = name,
      .ranks = n_ranks > 0 && ranks ? tprt__hash(1, ranks, (size_t)n_ranks * sizeof *ranks) : 0};
  tprt_status status = TPRT_OK;
  tprt_comm *found = NULL;
  pthread_mutex_lock(&comm->axes_making);
  if (!tprt__axes_find(comm, same_name, &key, &found))
    status = add_named(comm, &key, ranks, n_ranks, &found);
  pthread_mutex_unlock(&comm->axes_making);
  if (!status && key.differs)
    status =
        tprt__fail(TPRT_INVALID_ARGUMENT, "a group \"%s\" of different ranks already exists", name);
  if (!status)
    *child = found;
  return status;
}
