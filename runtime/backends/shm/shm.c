/* Backend "shm": creation of worlds of threads or processes, splitting, and the backend table. */
#define _GNU_SOURCE 1
#include "backends/shm/shm.h"
#include "bootstrap/rendezvous.h"

#include <fcntl.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

static tprt_status shm_probe(void) {
  int fd = memfd_create("tprt-probe", MFD_CLOEXEC);
  if (fd < 0)
    return tprt__fail_errno("backend shm needs memfd_create");
  close(fd);
  return TPRT_OK;
}

static void close_endpoint(shm_transport *shm) {
  tprt__free(shm->members);
  tprt__free(shm->lines);
  tprt__free(shm->slots);
  tprt__free(shm->sources);
  tprt__free(shm->sources_at);
  tprt__free(shm->destinations);
  tprt__free(shm->destinations_at);
  tprt__free(shm->scales);
  tprt__free(shm);
}

/* Opens a rank's endpoint of a channel. On failure the caller still owns segment and channel.
 * `members` are ranks of the world. */
static tprt_status open_endpoint(shm_segment *segment, int channel, int n_members,
                                 const int *members, int index, tprt__transport **transport) {
  size_t n = (size_t)n_members;
  shm_transport *shm = tprt__alloc(sizeof *shm);
  if (!shm)
    return tprt__fail_memory(sizeof *shm);
  shm->members = tprt__alloc(n * sizeof *shm->members);
  shm->lines = tprt__alloc(n * sizeof *shm->lines);
  shm->slots = tprt__alloc(n * sizeof *shm->slots);
  shm->sources = tprt__alloc(n * sizeof *shm->sources);
  shm->sources_at = tprt__alloc(n * sizeof *shm->sources_at);
  shm->destinations = tprt__alloc(n * sizeof *shm->destinations);
  shm->destinations_at = tprt__alloc(n * sizeof *shm->destinations_at);
  shm->scales = tprt__alloc(n * sizeof *shm->scales);
  if (!shm->members || !shm->lines || !shm->slots || !shm->sources || !shm->sources_at ||
      !shm->destinations || !shm->destinations_at || !shm->scales) {
    close_endpoint(shm);
    return tprt__fail_memory(n * sizeof *shm->lines);
  }
  int host_ranks = segment->sizes.n_ranks;
  shm->base = (tprt__transport){
      .backend = &tprt__backend_shm, .rank = index, .n_ranks = n_members, .host_ranks = host_ranks};
  shm->segment = segment;
  shm->channel = channel;
  shm->world_rank = members[index];
  shm->n_spins = host_ranks <= tprt__cores() ? 1000 : 0;
  for (int i = 0; i < n_members; i++) {
    shm->members[i] = members[i];
    shm->lines[i] = tprt__shm_line(segment, channel, members[i]);
    shm->slots[i] = tprt__shm_slots(segment, channel, members[i]);
  }
  *transport = &shm->base;
  return TPRT_OK;
}

static void mark_left(shm_line *line) {
  atomic_store(&line->left, 1);
  tprt__shm_wake(line);
}

/* Notifies peers that this rank will not participate any more. */
static void leave(shm_segment *segment, int channel, int world_rank) {
  mark_left(tprt__shm_line(segment, channel, world_rank));
  tprt__shm_channel_drop(segment, channel, world_rank);
}

static bool shm_is_peer_dead(const tprt__transport *transport, int rank) {
  return tprt__shm_peer_dead((const shm_transport *)transport, rank);
}

static void shm_leave(tprt__transport *transport) {
  mark_left(((shm_transport *)transport)->lines[transport->rank]);
}

static void shm_destroy(tprt__transport *transport) {
  shm_transport *shm = (shm_transport *)transport;
  shm_segment *segment = shm->segment;
  /* a group may be reserved for this rank without its knowledge */
  if (tprt__shm_fault(transport).status)
    tprt__shm_channel_forget(segment, shm->channel, shm->world_rank);
  leave(segment, shm->channel, shm->world_rank);
  close_endpoint(shm);
  tprt__shm_segment_release(segment);
}

/* Channel 0 of a new segment belongs to the world. All its bytes are zero, which is the state of an
 * unused line. */
static tprt_status open_world(shm_segment *segment, int rank, tprt__transport **transport) {
  int n = segment->sizes.n_ranks;
  int *members = tprt__alloc((size_t)n * sizeof *members);
  if (!members)
    return tprt__fail_memory((size_t)n * sizeof *members);
  for (int i = 0; i < n; i++)
    members[i] = i;
  tprt_status status = open_endpoint(segment, 0, n, members, rank, transport);
  tprt__free(members);
  if (status)
    leave(segment, 0, rank);
  else
    tprt__shm_channel_join(segment, 0, rank);
  return status;
}

/* Creates a segment with channel 0 taken for the world. */
static tprt_status make_segment(int n_ranks, const tprt__settings *settings, int *fd) {
  shm_sizes sizes;
  shm_segment *segment;
  int made;
  tprt_status status = tprt__shm_sizes_make(n_ranks, settings, &sizes);
  if (!status)
    status = tprt__shm_segment_make(&sizes, &made);
  if (status)
    return status;
  status = tprt__shm_segment_map(made, &segment);
  if (status) {
    close(made);
    return status;
  }
  tprt__shm_channel_take(segment, 0, n_ranks, NULL, -1);
  tprt__shm_segment_release(segment);
  *fd = made;
  return TPRT_OK;
}

/* Joins the world of a segment. `meeting` is the rendezvous of separately started ranks; its store
 * detects ranks that end before they have joined. If it is NULL, only the deadline detects them. */
static tprt_status join_segment(int fd, int n_ranks, int rank, const tprt__rendezvous *meeting,
                                int64_t deadline, tprt__transport **transport) {
  shm_segment *segment;
  tprt_status status = tprt__shm_segment_map(fd, &segment);
  if (status)
    return status;
  if (segment->sizes.n_ranks != n_ranks) {
    status = tprt__fail(TPRT_INVALID_ARGUMENT, "%d ranks were requested, but the segment has %d",
                        n_ranks, segment->sizes.n_ranks);
  }
  if (!status)
    status = tprt__shm_segment_join(segment, rank);
  if (!status) {
    status = meeting ? tprt__rendezvous_end(meeting) : TPRT_OK;
    if (!status)
      status = tprt__shm_segment_await(segment, deadline);
    if (status)
      leave(segment, 0, rank); /* peers that are still to come count this rank as joined */
  }
  if (!status)
    status = open_world(segment, rank, transport);
  if (status)
    tprt__shm_segment_release(segment);
  return status;
}

/* Joins a world whose rank 0 creates a segment and shares it through the store. */
static tprt_status join_rendezvous(const tprt__rendezvous *meeting, const tprt__settings *settings,
                                   tprt__transport **transport) {
  int fd = -1;
  tprt_status status = meeting->rank == 0 ? make_segment(meeting->n_ranks, settings, &fd) : TPRT_OK;
  if (!status)
    status = tprt__rendezvous_share_fd(meeting, meeting->n_ranks, NULL, fd, &fd);
  if (!status)
    status =
        join_segment(fd, meeting->n_ranks, meeting->rank, meeting, meeting->deadline, transport);
  if (fd >= 0)
    close(fd);
  return status;
}

static tprt_status join_alone(const tprt__settings *settings, int64_t deadline,
                              tprt__transport **transport) {
  int fd;
  tprt_status status = make_segment(1, settings, &fd);
  if (status)
    return status;
  status = join_segment(fd, 1, 0, NULL, deadline, transport);
  close(fd);
  return status;
}

static tprt_status shm_create(int n_ranks, int rank, const tprt__settings *settings,
                              tprt__transport **transport) {
  int64_t deadline = tprt__deadline(settings->timeout_ns);
  if (settings->segment_fd >= 0)
    return join_segment(settings->segment_fd, n_ranks, rank, NULL, deadline, transport);
  if (n_ranks == 1)
    return join_alone(settings, deadline, transport);
  if (!settings->store) {
    return tprt__fail(TPRT_INVALID_ARGUMENT,
                      "backend shm joins processes through a segment or a store: set segment_fd or "
                      "TPRT_SEGMENT_FD to a descriptor from tprt_shm_segment_create, or store");
  }
  const tprt__rendezvous meeting =
      tprt__rendezvous_begin(settings->store, "shm", n_ranks, rank, deadline);
  return join_rendezvous(&meeting, settings, transport);
}

static tprt_status shm_create_threads(int n_ranks, const tprt__settings *settings,
                                      tprt__transport **transports) {
  shm_segment *segment;
  int fd;
  tprt_status status = make_segment(n_ranks, settings, &fd);
  if (status)
    return status;
  status = tprt__shm_segment_map(fd, &segment);
  close(fd);
  if (status)
    return status;
  segment->one_process = true;
  int n_open = 0;
  while (!status && n_open < n_ranks) {
    status = tprt__shm_segment_join(segment, n_open);
    if (!status)
      status = open_world(segment, n_open, &transports[n_open]);
    if (status)
      break;
    atomic_fetch_add(&segment->references, 1);
    n_open++;
  }
  if (status) {
    while (n_open-- > 0)
      shm_destroy(transports[n_open]);
  }
  tprt__shm_segment_release(segment);
  return status;
}

tprt_status tprt_shm_segment_create(int n_ranks, const tprt_config *config, int *fd) {
  TPRT__NEED(fd);
  tprt__settings settings;
  tprt_status status = tprt__settings_resolve(config, &settings);
  if (status)
    return status;
  tprt__env_warn_of_names();
  return make_segment(n_ranks, &settings, fd);
}

/* One channel serves all groups of a split. The groups are disjoint, and lines and pipes are
 * indexed by ranks of the world. */
static tprt_status shm_reserve(tprt__transport *parent, int n_users, const int *users,
                               tprt__token *token) {
  shm_transport *shm = (shm_transport *)parent;
  shm_segment *segment = shm->segment;
  int *world = tprt__alloc((size_t)n_users * sizeof *world);
  if (!world)
    return tprt__fail_memory((size_t)n_users * sizeof *world);
  for (int i = 0; i < n_users; i++)
    world[i] = shm->members[users ? users[i] : i];
  int32_t channel = tprt__shm_channel_take(segment, shm->world_rank, n_users, world, shm->channel);
  tprt__free(world);
  if (channel < 0) {
    return tprt__fail(TPRT_NO_MEMORY, "all %d communicators are in use; raise TPRT_MAX_COMMS",
                      segment->sizes.n_channels);
  }
  *token = (tprt__token){{0}};
  memcpy(token->bytes, &channel, sizeof channel);
  return TPRT_OK;
}

static tprt_status shm_join(tprt__transport *parent, const tprt__token *token, int n_members,
                            const int *members, int index, const tprt__comm_settings *settings,
                            tprt__transport **child) {
  shm_transport *shm = (shm_transport *)parent;
  shm_segment *segment = shm->segment;
  int32_t channel;
  (void)settings;
  memcpy(&channel, token->bytes, sizeof channel);
  if (channel < 0 || channel >= segment->sizes.n_channels)
    return tprt__fail(TPRT_INTERNAL, "communicator %d of %d", channel, segment->sizes.n_channels);
  if (index < 0) {
    tprt__shm_channel_drop(segment, channel, shm->world_rank);
    *child = NULL;
    return TPRT_OK;
  }
  tprt__shm_channel_join(segment, channel, shm->world_rank);
  int *world = tprt__alloc((size_t)n_members * sizeof *world);
  if (!world) {
    leave(segment, channel, shm->world_rank);
    return tprt__fail_memory((size_t)n_members * sizeof *world);
  }
  for (int i = 0; i < n_members; i++)
    world[i] = shm->members[members[i]];
  tprt_status status = open_endpoint(segment, channel, n_members, world, index, child);
  tprt__free(world);
  if (status) {
    leave(segment, channel, shm->world_rank);
  } else {
    atomic_fetch_add(&segment->references, 1);
  }
  return status;
}

const tprt__backend tprt__backend_shm = {
    .size = sizeof(tprt__backend),
    .abi = TPRT__BACKEND_ABI,
    .capabilities = TPRT_CAP_THREADS | TPRT_CAP_PROCESSES | TPRT_CAP_REGISTERED |
                    TPRT_CAP_COLLECTIVES | TPRT_CAP_PIECES | TPRT_CAP_TRANSFERS | TPRT_CAP_TAGS |
                    TPRT_CAP_WINDOWS | TPRT_CAP_MAPPED | TPRT_CAP_RECOVERY | TPRT_CAP_HOST_MEMORY |
                    TPRT_CAP_ELASTIC,
    .needs_store = true,
    .name = "shm",
    .summary = "threads or processes of one host, through shared memory",
    .lacks = {TPRT__LACK(TPRT_CAP_USER_MEMORY) = "peers can map only memory from tprt_mem_alloc",
              TPRT__LACKS_STREAMS, TPRT__LACKS_GPU_PROGRAMS},
    .probe = shm_probe,
    .create = shm_create,
    .create_threads = shm_create_threads,
    .reserve = shm_reserve,
    .join = shm_join,
    .begin = tprt__shm_begin,
    .quiesce = tprt__shm_quiesce,
    TPRT__NO_STREAMS,
    .submit = tprt__shm_submit,
    .exchange = tprt__shm_exchange,
    .abort = tprt__shm_abort,
    .fault = tprt__shm_fault,
    .peer_dead = shm_is_peer_dead,
    .alloc = tprt__shm_alloc,
    .free = tprt__shm_free,
    .offset = tprt__shm_offset,
    .register_memory = tprt__shm_register_memory,
    .deregister_memory = tprt__shm_deregister_memory,
    .register_memory_all = tprt__register_memory_each,
    .reach = tprt__shm_reach,
    .put = tprt__shm_put,
    .get = tprt__shm_get,
    .signal = tprt__shm_signal,
    .await = tprt__shm_await_counter,
    .recover = tprt__shm_recover,
    .constants = tprt__shm_constants,
    .cost = tprt__shm_cost,
    .leave = shm_leave,
    .destroy = shm_destroy,
};
