/* Shared memory between the ranks of a host: rings instead of connections.
 *
 * The lowest rank of a host creates the memory, and passes it to the others over UNIX sockets, each
 * of which checks that its peer belongs to the same user. The memory contains no pointers. A
 * position that a peer wrote is copied once and checked.
 *
 * A rank that goes to sleep says so in the memory first, and then looks at its rings once more. A
 * rank that changes a ring first changes it, and then looks whether its peer sleeps. So one of the
 * two sees the other. */
#define _GNU_SOURCE 1
#include "backends/tcp/tcp.h"
#include "base/memfd.h"
#include "base/ring.h"

#include <errno.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <unistd.h>

enum { PAGE = 4096, PART_BYTES = 32 << 10 /* moved before the peer is told */ };

/* The first bytes of the memory. */
typedef struct head {
  uint64_t magic;
  uint32_t n_ranks, ring_bytes;
} head;
static const uint64_t magic = UINT64_C(0x7470727474637031); /* "tprttcp1" */

/* ---- layout: the head, one neighbor per rank, one ring per pair and direction ---- */

static size_t neighbors_at(void) { return tprt__round_up(sizeof(head), sizeof(tcp_neighbor)); }
static size_t rings_at(int n) {
  return tprt__round_up(neighbors_at() + (size_t)n * sizeof(tcp_neighbor), PAGE);
}
static size_t total(int n) { return rings_at(n) + (size_t)n * (size_t)n * sizeof(tcp_ring); }

static tcp_neighbor *neighbor(void *memory, int i) {
  return (tcp_neighbor *)(void *)((char *)memory + neighbors_at()) + i;
}
static tcp_ring *ring(void *memory, int n, int from, int to) {
  return (tcp_ring *)(void *)((char *)memory + rings_at(n)) + from * n + to;
}

/* ---- opening ---- */

static tprt_status map(tcp_endpoint *end, int fd) {
  const head expected = {magic, (uint32_t)end->local.n_ranks, TCP_RING_BYTES};
  size_t bytes = total(end->local.n_ranks);
  head found;
  struct stat info;
  if (fstat(fd, &info) != 0 || pread(fd, &found, sizeof found, 0) != (ssize_t)sizeof found)
    return tprt__fail_errno("backend tcp: the memory of this host cannot be read");
  if (!tprt__memfd_is_sealed(fd) || info.st_size != (off_t)bytes ||
      memcmp(&found, &expected, sizeof found) != 0)
    return tprt__fail(TPRT_MISMATCH, "backend tcp: the memory of this host has another layout: "
                                     "the ranks run different library versions");
  void *memory = mmap(NULL, bytes, PROT_READ | PROT_WRITE, MAP_SHARED, fd, 0);
  if (memory == MAP_FAILED)
    return tprt__fail_errno("backend tcp: cannot map %zu bytes that the ranks of this host share; "
                            "TPRT_TCP_MEMORY=0 does without them",
                            bytes);
  end->memory = memory;
  end->memory_bytes = bytes;
  return TPRT_OK;
}

static void set_rings(tcp_endpoint *end) {
  int n = end->local.n_ranks, me = end->local.rank, host = end->first[end->rank];
  end->neighbor = neighbor(end->memory, me);
  for (int rank = host, i = 0; rank < end->n_ranks; rank++) {
    if (end->first[rank] != host)
      continue;
    if (i != me) {
      end->peers[rank].in = ring(end->memory, n, i, me);
      end->peers[rank].out = ring(end->memory, n, me, i);
      end->peers[rank].neighbor = neighbor(end->memory, i);
    }
    i++;
  }
}

tprt_status tprt__tcp_memory_open(const tprt__rendezvous *m, tcp_endpoint *end) {
  const head made = {magic, (uint32_t)end->local.n_ranks, TCP_RING_BYTES};
  size_t n = (size_t)end->local.n_ranks;
  int fd = -1, n_members = 0, *members = tprt__alloc(n * sizeof *members);
  if (!members)
    return tprt__fail_memory(n * sizeof *members);
  for (int rank = 0; rank < end->n_ranks; rank++) {
    if (end->first[rank] == end->first[end->rank])
      members[n_members++] = rank;
  }
  tprt_status status =
      end->local.rank == 0 ? tprt__memfd_make(&made, sizeof made, total(n_members), &fd) : TPRT_OK;
  if (!status)
    status = tprt__rendezvous_share_fd(m, n_members, members, fd, &fd);
  if (!status)
    status = map(end, fd);
  if (!status)
    set_rings(end);
  if (fd >= 0)
    close(fd);
  tprt__free(members);
  return status;
}

void tprt__tcp_memory_close(tcp_endpoint *end) {
  if (end->memory)
    munmap(end->memory, end->memory_bytes);
}

/* ---- moving bytes ---- */

/* Wakes a peer that sleeps. */
static void wake(const tcp_peer *peer) {
  atomic_thread_fence(memory_order_seq_cst);
  if (atomic_load_explicit(&peer->neighbor->sleeps, memory_order_relaxed) &&
      atomic_exchange(&peer->neighbor->sleeps, 0))
    (void)!send(peer->fd, "", 1, MSG_NOSIGNAL | MSG_DONTWAIT);
}

bool tprt__tcp_memory_write(tcp_peer *peer, const void *from, size_t bytes, size_t *n) {
  tcp_ring *ring = peer->out;
  uint64_t written = atomic_load_explicit(&ring->written, memory_order_relaxed);
  size_t done = 0;
  while (done < bytes) {
    uint64_t used = written - atomic_load_explicit(&ring->read, memory_order_acquire);
    if (used > TCP_RING_BYTES) {
      peer->ended = true;
      break;
    }
    atomic_store_explicit(&peer->is_full, used == TCP_RING_BYTES, memory_order_relaxed);
    if (used == TCP_RING_BYTES)
      break;
    size_t room = TCP_RING_BYTES - (size_t)used, part = bytes - done < room ? bytes - done : room;
    part = part < PART_BYTES ? part : PART_BYTES;
    tprt__ring_copy(ring->stream, TCP_RING_BYTES, written, (char *)(uintptr_t)from + done, part,
                    false);
    written += part;
    done += part;
    atomic_store_explicit(&ring->written, written, memory_order_release);
    wake(peer);
  }
  *n += done;
  return done > 0;
}

bool tprt__tcp_memory_read(tcp_peer *peer, void *to, size_t bytes, size_t *n) {
  tcp_ring *ring = peer->in;
  uint64_t read = atomic_load_explicit(&ring->read, memory_order_relaxed);
  size_t done = 0;
  while (done < bytes) {
    uint64_t there = atomic_load_explicit(&ring->written, memory_order_acquire) - read;
    if (there > TCP_RING_BYTES)
      peer->ended = true;
    if (there == 0 || there > TCP_RING_BYTES)
      break;
    size_t part = bytes - done < there ? bytes - done : (size_t)there;
    part = part < PART_BYTES ? part : PART_BYTES;
    tprt__ring_copy(ring->stream, TCP_RING_BYTES, read, (char *)to + done, part, true);
    read += part;
    done += part;
    atomic_store_explicit(&ring->read, read, memory_order_release);
    wake(peer);
  }
  *n += done;
  return done > 0;
}

/* ---- sleeping and ending ---- */

void tprt__tcp_memory_attend(tcp_peer *peer) {
  char bytes[64];
  ssize_t got;
  if (!atomic_load_explicit(&peer->has_event, memory_order_relaxed) ||
      !atomic_exchange(&peer->has_event, false) || peer->hung_up)
    return;
  do
    got = recv(peer->fd, bytes, sizeof bytes, MSG_DONTWAIT);
  while (got > 0 || (got < 0 && errno == EINTR));
  peer->hung_up = got == 0 || errno != EAGAIN;
}

bool tprt__tcp_memory_is_waiting(const tcp_endpoint *end) {
  bool found = false;
  for (int i = 0; i < end->n_ranks && !found; i++) {
    const tcp_peer *peer = &end->peers[i];
    if (!peer->neighbor)
      continue;
    found = atomic_load(&peer->in->written) != atomic_load(&peer->in->read) ||
            (atomic_load(&peer->is_full) &&
             atomic_load(&peer->out->written) - atomic_load(&peer->out->read) != TCP_RING_BYTES);
  }
  return found;
}
