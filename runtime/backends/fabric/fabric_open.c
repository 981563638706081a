/* Opens the endpoint of a rank: chooses the provider of libfabric, and exchanges addresses. */
#define _GNU_SOURCE 1
#include "backends/fabric/fabric_endpoint.h"

#include <sodium.h>
#include <stdio.h>
#include <string.h>
#include <sys/epoll.h>

enum { NAME_BYTES = 64, ADDRESS_BYTES = 256, CALLS_VERSION = FI_VERSION(1, 14) };

/* What rank 0 puts into the store for all ranks. */
typedef struct choice {
  char provider[NAME_BYTES];
  uint64_t secret;
} choice;

typedef struct address {
  uint64_t bytes;
  unsigned char data[ADDRESS_BYTES];
} address;

/* ---- provider ---- */

/* Sets *found to what the library offers with tagged messages in send order, best first; NULL if
 * that is nothing. `provider` and `host` (an address of this host) may be NULL. */
static tprt_status query(const char *provider, const char *host, struct fi_info **found) {
  const fabric_library *library = tprt__fabric_library();
  struct fi_info *wanted = library->copy_info(NULL);
  *found = NULL;
  if (!wanted)
    return tprt__fail_memory(sizeof *wanted);
  wanted->caps = FI_TAGGED | FI_DIRECTED_RECV;
  wanted->mode = FI_CONTEXT | FI_CONTEXT2;
  wanted->ep_attr->type = FI_EP_RDM;
  wanted->ep_attr->max_msg_size = WIRE_MAX_BYTES;
  wanted->tx_attr->msg_order = wanted->rx_attr->msg_order = FI_ORDER_SAS;
  wanted->domain_attr->threading = FI_THREAD_SAFE;
  wanted->domain_attr->control_progress = wanted->domain_attr->data_progress = FI_PROGRESS_MANUAL;
  wanted->domain_attr->resource_mgmt = FI_RM_ENABLED;
  /* without FI_MR_LOCAL: the provider registers the memory of messages itself */
  wanted->domain_attr->mr_mode =
      FI_MR_ENDPOINT | FI_MR_ALLOCATED | FI_MR_PROV_KEY | FI_MR_VIRT_ADDR;
  wanted->fabric_attr->prov_name = provider ? strdup(provider) : NULL; /* freed with it */
  int code = library->get_info(CALLS_VERSION, host, NULL, host ? FI_SOURCE : 0, wanted, found);
  library->free_info(wanted);
  if (code && code != -FI_ENODATA)
    return tprt__fabric_fail("fi_getinfo", code);
  return TPRT_OK;
}

/* Providers that reach only ranks of this host. */
static bool is_local(const struct fi_info *info) {
  return strcmp(info->fabric_attr->prov_name, "shm") == 0;
}

/* Rank 0 chooses the provider for all: the given one, else the first that libfabric offers. */
static tprt_status choose(choice *made) {
  struct fi_info *found;
  const char *given = tprt__env_text(TPRT__ENV_FABRIC_PROVIDER);
  tprt_status status = query(given, NULL, &found);
  if (status)
    return status;
  const struct fi_info *at = found;
  while (at && is_local(at))
    at = at->next;
  if (at)
    snprintf(made->provider, sizeof made->provider, "%s", at->fabric_attr->prov_name);
  else if (given)
    status = tprt__fail(TPRT_UNSUPPORTED,
                        "backend fabric: libfabric has no provider \"%s\" with tagged messages "
                        "between hosts (TPRT_FABRIC_PROVIDER); `fi_info -t FI_EP_RDM` lists them",
                        given);
  else
    status = tprt__fail(TPRT_UNSUPPORTED,
                        "backend fabric: libfabric has no provider with tagged messages between "
                        "hosts; use backend tcp");
  tprt__fabric_library()->free_info(found);
  randombytes_buf(&made->secret, sizeof made->secret);
  return status;
}

/* Selects the interface: that of the address at which other hosts reach this one, if the provider
 * has such addresses, else its first. */
static tprt_status select_interface(const tprt__rendezvous *m, const choice *chosen,
                                    fabric_endpoint *end) {
  char host[TPRT__HOST_BYTES];
  tprt_status status = tprt__tcp_own_host(m, &end->near->local, host);
  if (!status)
    status = query(chosen->provider, host, &end->info);
  if (!status && !end->info)
    status = query(chosen->provider, NULL, &end->info);
  if (!status && !end->info)
    status = tprt__fail(TPRT_UNSUPPORTED,
                        "backend fabric: rank 0 chose the provider \"%s\" of libfabric, which the "
                        "host of rank %d does not have; TPRT_FABRIC_PROVIDER names another",
                        chosen->provider, m->rank);
  return status;
}

/* ---- objects ---- */

static void close_object(struct fid *object) {
  if (object)
    fi_close(object);
}

#define CLOSE(object) close_object((object) ? &(object)->fid : NULL)

void tprt__fabric_close_objects(fabric_endpoint *end) {
  CLOSE(end->endpoint);
  CLOSE(end->completions);
  CLOSE(end->addresses);
  CLOSE(end->domain);
  CLOSE(end->fabric);
}

/* Opens the queue of completions. If the provider has a descriptor that tells of them, it also
 * wakes a rank that waits for its connections; else such a rank polls. */
static int open_completions(fabric_endpoint *end) {
  struct fi_cq_attr wanted = {.format = FI_CQ_FORMAT_MSG, .wait_obj = FI_WAIT_FD};
  struct epoll_event readable = {.events = EPOLLIN, .data.u32 = UINT32_MAX};
  int fd, code = fi_cq_open(end->domain, &wanted, &end->completions, NULL);
  if (!code && fi_control(&end->completions->fid, FI_GETWAIT, &fd) == 0) {
    end->wakes = true;
    return epoll_ctl(end->near->changes, EPOLL_CTL_ADD, fd, &readable) == 0 ? 0 : -errno;
  }
  if (!code)
    fi_close(&end->completions->fid);
  end->completions = NULL;
  wanted.wait_obj = FI_WAIT_NONE;
  return fi_cq_open(end->domain, &wanted, &end->completions, NULL);
}

static tprt_status open_objects(fabric_endpoint *end) {
  struct fi_av_attr of_addresses = {.type = end->info->domain_attr->av_type};
  const char *what = "fi_fabric";
  int code = end->library->open_fabric(end->info->fabric_attr, &end->fabric, NULL);
  if (!code) {
    what = "fi_domain";
    code = fi_domain(end->fabric, end->info, &end->domain, NULL);
  }
  if (!code) {
    what = "fi_av_open";
    code = fi_av_open(end->domain, &of_addresses, &end->addresses, NULL);
  }
  if (!code) {
    what = "fi_cq_open";
    code = open_completions(end);
  }
  if (!code) {
    what = "fi_endpoint";
    code = fi_endpoint(end->domain, end->info, &end->endpoint, NULL);
  }
  if (!code) {
    what = "fi_ep_bind";
    code = fi_ep_bind(end->endpoint, &end->addresses->fid, 0);
  }
  if (!code)
    code = fi_ep_bind(end->endpoint, &end->completions->fid, FI_TRANSMIT | FI_RECV);
  if (!code) {
    what = "fi_enable";
    code = fi_enable(end->endpoint);
  }
  return code ? tprt__fabric_fail(what, code) : TPRT_OK;
}

/* ---- addresses ---- */

/* Writes this rank's address; none if it has failed, so that the others do not wait for it. */
static tprt_status publish(const tprt__rendezvous *m, const fabric_endpoint *end,
                           tprt_status status) {
  char key[TPRT_STORE_KEY_BYTES];
  address own = {.bytes = 0};
  size_t bytes = sizeof own.data;
  int code = status ? 0 : fi_getname(&end->endpoint->fid, own.data, &bytes);
  if (!status && !code)
    own.bytes = bytes;
  tprt__rendezvous_key(key, m, "address", m->rank);
  tprt_status written = tprt_store_set(m->store, key, &own, sizeof own);
  return status ? status : code ? tprt__fabric_fail("fi_getname", code) : written;
}

static tprt_status insert(const tprt__rendezvous *m, fabric_endpoint *end, int rank) {
  char key[TPRT_STORE_KEY_BYTES];
  address of_peer;
  tprt__rendezvous_key(key, m, "address", rank);
  tprt_status status = tprt__rendezvous_fetch(m, key, rank, &of_peer, sizeof of_peer);
  if (status)
    return status;
  if (!of_peer.bytes)
    return tprt__fail(
        TPRT_UNSUPPORTED,
        "backend fabric: rank %d has no endpoint of libfabric; its own error says why", rank);
  int n = fi_av_insert(end->addresses, of_peer.data, 1, &end->peers[rank].address, 0, NULL);
  return n == 1 ? TPRT_OK : tprt__fabric_fail("fi_av_insert", n < 0 ? n : -FI_EINVAL);
}

/* ---- entry point ---- */

/* Gets the choice of rank 0; the provider is empty if it has found none. */
static tprt_status agree(const tprt__rendezvous *m, choice *chosen) {
  char key[TPRT_STORE_KEY_BYTES];
  tprt__rendezvous_key(key, m, "provider", 0);
  if (m->rank == 0) {
    tprt_status status = choose(chosen),
                written = tprt_store_set(m->store, key, chosen, sizeof *chosen);
    return status ? status : written;
  }
  tprt_status status = tprt__rendezvous_fetch(m, key, 0, chosen, sizeof *chosen);
  chosen->provider[sizeof chosen->provider - 1] = 0;
  if (!status && !*chosen->provider)
    status = tprt__fail(TPRT_UNSUPPORTED, "backend fabric: rank 0 found no provider of libfabric "
                                          "that can be used; its own error says why");
  return status;
}

/* Sets the secret in those bits of a tag that the provider has: from the highest one of its format
 * down. */
static tprt_status set_tags(const choice *chosen, fabric_endpoint *end) {
  uint64_t format = end->info->ep_attr->mem_tag_format;
  if (format >> FABRIC_TAG_BITS == 0)
    return tprt__fail(TPRT_UNSUPPORTED,
                      "backend fabric: tags of the provider \"%s\" have fewer than %d bits",
                      chosen->provider, FABRIC_TAG_BITS + 1);
  uint64_t tags = UINT64_MAX >> __builtin_clzll(format);
  end->secret = chosen->secret & tags & ~(uint64_t)FABRIC_FAREWELL_TAG;
  return TPRT_OK;
}

static tprt_status meet(const tprt__rendezvous *m, fabric_endpoint *end) {
  choice chosen = {.provider = ""};
  tprt_status status = agree(m, &chosen);
  if (!status)
    status = select_interface(m, &chosen, end);
  if (!status)
    status = set_tags(&chosen, end);
  if (!status)
    status = open_objects(end);
  status = publish(m, end, status);
  for (int rank = 0; rank < m->n_ranks && !status; rank++) {
    if (end->peers[rank].is_far)
      status = insert(m, end, rank);
  }
  return status ? status : tprt__rendezvous_end(m);
}

tprt_status tprt__fabric_open(tcp_endpoint *near, const tprt__settings *settings, void **result,
                              uint32_t *max_tag) {
  size_t n = (size_t)near->n_ranks;
  fabric_endpoint *end = tprt__alloc(sizeof *end + n * sizeof *end->peers);
  if (!end) {
    tprt__tcp_messenger.close(near);
    return tprt__fail_memory(sizeof *end);
  }
  bool has_far = false;
  end->near = near;
  end->library = tprt__fabric_library();
  for (size_t i = 0; i < n; i++) {
    end->peers[i].is_far = near->peers[i].fd >= 0 && !near->peers[i].neighbor;
    has_far |= end->peers[i].is_far;
  }
  tprt_status status = TPRT_OK;
  if (has_far) { /* if one rank has far ranks, all have */
    const tprt__rendezvous meeting = tprt__rendezvous_begin(
        settings->store, "fabric", near->n_ranks, near->rank, tprt__deadline(settings->timeout_ns));
    status = meet(&meeting, end);
  }
  if (!status)
    status = tprt__fabric_begin(end);
  if (status) {
    tprt__fabric_messenger.close(end);
    return status;
  }
  *max_tag = FABRIC_FAREWELL_TAG - 1;
  *result = end;
  return TPRT_OK;
}
