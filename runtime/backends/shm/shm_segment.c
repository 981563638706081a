/* The shared segment: layout, creation, mapping, joining and channels. */
#define _GNU_SOURCE 1
#include "backends/shm/shm.h"
#include "base/memfd.h"
#include "base/nontemporal.h"

#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <stdio.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <unistd.h>

static const uint64_t magic = UINT64_C(0x7470727473686d31); /* "tprtshm1" */
enum { VERSION = 7 };

/* Derives the offsets from the independent parameters. Returns false if the parameters are invalid.
 * Applied both to this process's settings and to a segment's header. */
static bool derive(shm_sizes *sizes) {
  const uint64_t limit = UINT64_C(1) << 46;
  if (sizes->n_ranks < 1 || sizes->n_ranks > SHM_MAX_RANKS || sizes->n_channels < 1 ||
      sizes->n_channels > 65536)
    return false;
  if (sizes->slot_bytes < 64 * (uint64_t)sizes->n_ranks || sizes->slot_bytes % SHM_PAGE ||
      sizes->slot_bytes > limit)
    return false;
  if (sizes->arena_bytes % SHM_PAGE || sizes->arena_bytes > limit)
    return false;
  uint64_t n_lines = (uint64_t)sizes->n_ranks * (uint64_t)sizes->n_channels, slots, arenas;
  sizes->lines = tprt__round_up(
      sizeof(shm_header) + (size_t)sizes->n_channels * sizeof(shm_channel), SHM_PAGE);
  sizes->slots = sizes->lines + tprt__round_up(n_lines * sizeof(shm_line), SHM_PAGE);
  if (__builtin_mul_overflow(n_lines * 2, sizes->slot_bytes, &slots))
    return false;
  if (__builtin_mul_overflow((uint64_t)sizes->n_ranks, sizes->arena_bytes, &arenas))
    return false;
  if (slots > limit || arenas > limit)
    return false;
  sizes->pipes = sizes->slots + slots;
  sizes->arenas = sizes->pipes + n_lines * (uint64_t)sizes->n_ranks * sizeof(shm_pipe);
  sizes->total = sizes->arenas + arenas;
  return sizes->total <= limit;
}

tprt_status tprt__shm_sizes_make(int n_ranks, const tprt__settings *settings, shm_sizes *sizes) {
  if (n_ranks < 1 || n_ranks > SHM_MAX_RANKS) {
    return tprt__fail(TPRT_INVALID_ARGUMENT,
                      "invalid number of ranks %d: backend shm supports 1 to %d", n_ranks,
                      SHM_MAX_RANKS);
  }
  size_t least = 64 * (size_t)n_ranks; /* all-to-all divides a slot into one share per peer */
  shm_sizes made = {
      .n_ranks = n_ranks,
      .n_channels = settings->max_comms,
      .slot_bytes =
          tprt__round_up(settings->slot_bytes > least ? settings->slot_bytes : least, SHM_PAGE),
      .arena_bytes = tprt__round_up(settings->arena_bytes, SHM_PAGE),
  };
  if (!derive(&made)) {
    return tprt__fail(TPRT_INVALID_ARGUMENT,
                      "%d ranks with slots of %zu, arenas of %zu bytes and %d communicators do not "
                      "fit an address space; "
                      "lower TPRT_SLOT_BYTES, TPRT_ARENA_BYTES or TPRT_MAX_COMMS",
                      n_ranks, settings->slot_bytes, settings->arena_bytes, settings->max_comms);
  }
  *sizes = made;
  return TPRT_OK;
}

tprt_status tprt__shm_segment_make(const shm_sizes *sizes, int *fd) {
  shm_header header = {
      .magic = magic,
      .version = VERSION,
      .n_ranks = sizes->n_ranks,
      .n_channels = sizes->n_channels,
      .slot_bytes = sizes->slot_bytes,
      .arena_bytes = sizes->arena_bytes,
  };
  return tprt__memfd_make(&header, offsetof(shm_header, n_joined), sizes->total, fd);
}

/* Reads the independent parameters from the file, once, and derives the others. */
static tprt_status read_sizes(int fd, shm_sizes *sizes) {
  shm_header header;
  struct stat info;
  size_t head = offsetof(shm_header, n_joined);
  if (fstat(fd, &info) != 0 || pread(fd, &header, head, 0) != (ssize_t)head) {
    return tprt__fail_errno("segment descriptor %d cannot be read", fd);
  }
  if (!tprt__memfd_is_sealed(fd) || header.magic != magic) {
    return tprt__fail(TPRT_INVALID_ARGUMENT,
                      "descriptor %d is not a segment from tprt_shm_segment_create", fd);
  }
  if (header.version != VERSION) {
    return tprt__fail(TPRT_MISMATCH,
                      "the segment has version %u, but this library needs version %d",
                      header.version, VERSION);
  }
  *sizes = (shm_sizes){.n_ranks = header.n_ranks,
                       .n_channels = header.n_channels,
                       .slot_bytes = header.slot_bytes,
                       .arena_bytes = header.arena_bytes};
  if (!derive(sizes) || (uint64_t)info.st_size != sizes->total) {
    return tprt__fail(TPRT_INVALID_ARGUMENT,
                      "the header of segment descriptor %d does not fit its size", fd);
  }
  return TPRT_OK;
}

tprt_status tprt__shm_segment_map(int fd, shm_segment **result) {
  shm_sizes sizes;
  tprt_status status = read_sizes(fd, &sizes);
  if (status)
    return status;
  size_t n = (size_t)sizes.n_ranks;
  shm_segment *segment = tprt__alloc(sizeof *segment);
  shm_arena *arenas = tprt__alloc(n * sizeof *arenas);
  int *pidfds = tprt__alloc(n * sizeof *pidfds);
  int own = -1;
  void *base = MAP_FAILED;
  if (!segment || !arenas || !pidfds) {
    status = tprt__fail_memory(n * sizeof *arenas);
    goto fail;
  }
  own = fcntl(fd, F_DUPFD_CLOEXEC, 3);
  if (own < 0) {
    status = tprt__fail_errno("segment descriptor");
    goto fail;
  }
  base = mmap(NULL, sizes.total, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_NORESERVE, own, 0);
  if (base == MAP_FAILED) {
    status = tprt__fail_errno("cannot map a segment of %llu bytes; lower TPRT_ARENA_BYTES",
                              (unsigned long long)sizes.total);
    goto fail;
  }
  madvise(base, sizes.total, MADV_DONTDUMP); /* exclude it from core files */
  *segment = (shm_segment){.references = 1,
                           .fd = own,
                           .sizes = sizes,
                           .base = base,
                           .header = base,
                           .arenas = arenas,
                           .pidfds = pidfds,
                           .cache_bytes = tprt__cache_bytes()};
  for (size_t i = 0; i < n; i++) {
    pthread_mutex_init(&arenas[i].lock, NULL);
    pidfds[i] = -1;
  }
  *result = segment;
  return TPRT_OK;
fail:
  if (own >= 0)
    close(own);
  tprt__free(pidfds);
  tprt__free(arenas);
  tprt__free(segment);
  return status;
}

void tprt__shm_segment_release(shm_segment *segment) {
  if (atomic_fetch_sub(&segment->references, 1) != 1)
    return;
  for (int i = 0; i < segment->sizes.n_ranks; i++) {
    if (segment->pidfds[i] >= 0)
      close(segment->pidfds[i]);
    tprt__shm_arena_clear(&segment->arenas[i]);
    pthread_mutex_destroy(&segment->arenas[i].lock);
  }
  munmap(segment->base, segment->sizes.total);
  close(segment->fd);
  tprt__free(segment->pidfds);
  tprt__free(segment->arenas);
  tprt__free(segment);
}

tprt_status tprt__shm_segment_join(shm_segment *segment, int rank) {
  if (rank < 0 || rank >= segment->sizes.n_ranks) {
    return tprt__fail(TPRT_INVALID_ARGUMENT, "rank %d is out of range; the segment has %d ranks",
                      rank, segment->sizes.n_ranks);
  }
  shm_rank *entry = &segment->header->ranks[rank];
  uint32_t absent = 0;
  if (!atomic_compare_exchange_strong(&entry->joined, &absent, 1)) {
    return tprt__fail(TPRT_INVALID_STATE, "rank %d has already joined this world", rank);
  }
  atomic_store(&entry->pid, (int32_t)getpid());
  atomic_fetch_add(&segment->header->n_joined, 1);
  return TPRT_OK;
}

/* Opens a pidfd for a rank's process. If the kernel lacks the system call or forbids it, only
 * deadlines detect a dead peer. */
static tprt_status watch(shm_segment *segment, int rank) {
  int32_t pid = atomic_load(&segment->header->ranks[rank].pid);
  if (pid == (int32_t)getpid())
    return TPRT_OK;
  int fd = (int)syscall(SYS_pidfd_open, pid, 0);
  if (fd < 0 && errno == ESRCH)
    return tprt__fail(TPRT_PEER_DEAD, "rank %d ended while the world was created", rank);
  if (fd < 0 && errno != ENOSYS && errno != EPERM)
    return tprt__fail_errno("the process of rank %d cannot be watched", rank);
  segment->pidfds[rank] = fd;
  return TPRT_OK;
}

tprt_status tprt__shm_segment_await(shm_segment *segment, int64_t deadline) {
  int n = segment->sizes.n_ranks;
  _Atomic uint32_t *n_joined = &segment->header->n_joined;
  for (uint32_t seen; (seen = atomic_load(n_joined)) < (uint32_t)n;) {
    if (tprt__now() >= deadline) {
      int missing = 0;
      while (missing < n - 1 && atomic_load(&segment->header->ranks[missing].joined))
        missing++;
      return tprt__fail(TPRT_TIMEOUT, "%u of %d ranks joined the world in time; rank %d did not",
                        seen, n, missing);
    }
    tprt__shm_sleep(n_joined, seen, 2000000);
  }
  for (int rank = 0; rank < n; rank++) {
    tprt_status status = watch(segment, rank);
    if (status)
      return status;
  }
  return TPRT_OK;
}

bool tprt__shm_ended(const shm_segment *segment, int rank) {
  struct pollfd watched = {.fd = segment->pidfds[rank], .events = POLLIN};
  if (watched.fd < 0)
    return false;
  int n = poll(&watched, 1, 0);
  if (n >= 0 || errno == EINTR)
    return n == 1;
  /* A process that may open no files any more may not poll either. A signal still tells whether the
   * other process exists: it does until its parent has waited for it. */
  return syscall(SYS_pidfd_send_signal, watched.fd, 0, NULL, 0) != 0 && errno == ESRCH;
}

/* Pages that were never touched, or were punched, read as zeros, which is the state of an unused
 * pipe. */
static void clear_pipes(shm_segment *segment, int channel) {
  size_t bytes = (size_t)segment->sizes.n_ranks * (size_t)segment->sizes.n_ranks * sizeof(shm_pipe);
  unsigned char *first = (unsigned char *)tprt__shm_pipe(segment, channel, 0, 0);
  if (fallocate(segment->fd, FALLOC_FL_PUNCH_HOLE | FALLOC_FL_KEEP_SIZE,
                (off_t)(first - segment->base), (off_t)bytes) != 0)
    memset(first, 0, bytes);
}

static void reset_lines(shm_segment *segment, int channel) {
  for (int rank = 0; rank < segment->sizes.n_ranks; rank++) {
    shm_line *line = tprt__shm_line(segment, channel, rank);
    atomic_store(&line->halves[0].step, 0);
    atomic_store(&line->halves[1].step, 0);
    atomic_store(&line->n_waiters, 0);
    atomic_store(&line->left, 0);
    atomic_store(&line->n_accesses, 0);
    atomic_store(&line->use, SHM_UNUSED);
    atomic_store(&line->fault, 0);
    atomic_store(&line->recovering, 0);
    atomic_store(&line->survives, 0);
    atomic_store(&line->decision, 0);
  }
}

static int take_free(shm_segment *segment, int taker, int n_users, const int *users, int parent) {
  for (int i = 0; i < segment->sizes.n_channels; i++) {
    shm_channel *channel = &segment->header->channels[i];
    uint32_t expected = SHM_CHANNEL_FREE;
    if (!atomic_compare_exchange_strong(&channel->n_users, &expected,
                                        SHM_CHANNEL_MAKING + (uint32_t)taker))
      continue;
    reset_lines(segment, i);
    clear_pipes(segment, i);
    atomic_store(&channel->parent, parent);
    for (int u = 0; u < n_users; u++)
      atomic_store(&tprt__shm_line(segment, i, users ? users[u] : u)->use, SHM_RESERVED);
    /* A difference rather than a store, because a user may already have given up its use. */
    atomic_fetch_sub(&channel->n_users, SHM_CHANNEL_MAKING + (uint32_t)taker - (uint32_t)n_users);
    return i;
  }
  return -1;
}

/* Ends all uses of channels by processes that have ended. */
static void reclaim(shm_segment *segment) {
  for (int rank = 0; rank < segment->sizes.n_ranks; rank++) {
    if (!tprt__shm_ended(segment, rank))
      continue;
    for (int i = 0; i < segment->sizes.n_channels; i++) {
      uint32_t making = SHM_CHANNEL_MAKING + (uint32_t)rank;
      if (!atomic_compare_exchange_strong(&segment->header->channels[i].n_users, &making,
                                          SHM_CHANNEL_FREE))
        tprt__shm_channel_drop(segment, i, rank);
    }
  }
}

int tprt__shm_channel_take(shm_segment *segment, int taker, int n_users, const int *users,
                           int parent) {
  int channel = take_free(segment, taker, n_users, users, parent);
  if (channel >= 0)
    return channel;
  reclaim(segment);
  return take_free(segment, taker, n_users, users, parent);
}

void tprt__shm_channel_join(shm_segment *segment, int channel, int rank) {
  atomic_store(&tprt__shm_line(segment, channel, rank)->use, SHM_JOINED);
}

/* Several ranks may try to end the use of a dead rank. Exactly one succeeds, so the count remains
 * correct. */
static void end_use(shm_segment *segment, int channel, int rank, uint32_t use) {
  if (use != SHM_UNUSED && atomic_compare_exchange_strong(
                               &tprt__shm_line(segment, channel, rank)->use, &use, SHM_UNUSED))
    atomic_fetch_sub(&segment->header->channels[channel].n_users, 1);
}

void tprt__shm_channel_drop(shm_segment *segment, int channel, int rank) {
  end_use(segment, channel, rank, atomic_load(&tprt__shm_line(segment, channel, rank)->use));
}

void tprt__shm_channel_forget(shm_segment *segment, int parent, int rank) {
  for (int i = 0; i < segment->sizes.n_channels; i++) {
    /* a channel keeps its parent while a use of it is reserved */
    if (atomic_load(&tprt__shm_line(segment, i, rank)->use) == SHM_RESERVED &&
        atomic_load(&segment->header->channels[i].parent) == parent)
      end_use(segment, i, rank, SHM_RESERVED);
  }
}

static size_t line_index(const shm_segment *segment, int channel, int rank) {
  return (size_t)channel * (size_t)segment->sizes.n_ranks + (size_t)rank;
}

shm_line *tprt__shm_line(const shm_segment *segment, int channel, int rank) {
  void *at =
      segment->base + segment->sizes.lines + line_index(segment, channel, rank) * sizeof(shm_line);
  return at;
}

unsigned char *tprt__shm_slots(const shm_segment *segment, int channel, int rank) {
  return segment->base + segment->sizes.slots +
         line_index(segment, channel, rank) * 2 * segment->sizes.slot_bytes;
}

shm_pipe *tprt__shm_pipe(const shm_segment *segment, int channel, int source, int destination) {
  size_t index =
      line_index(segment, channel, source) * (size_t)segment->sizes.n_ranks + (size_t)destination;
  void *at = segment->base + segment->sizes.pipes + index * sizeof(shm_pipe);
  return at;
}

unsigned char *tprt__shm_arena(const shm_segment *segment, int rank) {
  return segment->base + segment->sizes.arenas + (uint64_t)rank * segment->sizes.arena_bytes;
}
