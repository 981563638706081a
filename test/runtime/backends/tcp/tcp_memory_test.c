/* Tests the rings in the memory of a host: two endpoints of this process share it. The handoff of
 * its descriptor is replaced; the connection is a pair of sockets. */
#define _GNU_SOURCE 1
#include "backends/tcp/tcp.h"

#include "test/runtime/harness/harness.h"

#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

enum { N = 2 };

static int shared = -1; /* the descriptor that rank 0 made */

tprt_status tprt__rendezvous_share_fd(const tprt__rendezvous *meeting, int n_members,
                                      const int *members, int segment, int *received) {
  assert_int_equal(n_members, N);
  assert_int_equal(members[0], 0);
  if (meeting->rank == 0)
    shared = fcntl(segment, F_DUPFD_CLOEXEC, 0);
  else
    *received = shared;
  return TPRT_OK;
}

typedef struct pair {
  tcp_endpoint *ends[N];
} pair;

static pair pair_make(void) {
  pair made;
  int fds[N];
  assert_int_equal(socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, fds), 0);
  for (int i = 0; i < N; i++) {
    const tprt__rendezvous meeting = {.n_ranks = N, .rank = i};
    tcp_endpoint *end = calloc(1, sizeof *end + N * sizeof *end->peers);
    end->n_ranks = N;
    end->rank = i;
    end->first = calloc(N, sizeof *end->first);
    end->local = (tprt__host_rank){i, N};
    end->peers[i].fd = -1;
    end->peers[1 - i].fd = fds[i];
    assert_int_equal(tprt__tcp_memory_open(&meeting, end), TPRT_OK);
    made.ends[i] = end;
  }
  return made;
}

static tcp_peer *peer(const pair *p, int rank) { return &p->ends[rank]->peers[1 - rank]; }

static void pair_free(pair *p) {
  for (int i = 0; i < N; i++) {
    close(peer(p, i)->fd);
    tprt__tcp_memory_close(p->ends[i]);
    free(p->ends[i]->first);
    free(p->ends[i]);
  }
}

static unsigned char byte_of(size_t i) { return (unsigned char)(i * 7 + i / 251); }

/* More bytes than a ring holds, in parts of odd lengths, arrive unchanged and in order. */
static void test_stream(void **state) {
  (void)state;
  enum { BYTES = 3 * TCP_RING_BYTES + 12345, STEP = 70001 };
  pair p = pair_make();
  unsigned char *from = malloc(BYTES), *to = calloc(1, BYTES);
  size_t n_sent = 0, n_read = 0;
  for (size_t i = 0; i < BYTES; i++)
    from[i] = byte_of(i);
  while (n_read < BYTES) {
    size_t left = BYTES - n_sent, want = BYTES - n_read;
    bool wrote = tprt__tcp_memory_write(peer(&p, 0), from + n_sent, left, &n_sent);
    assert_true(n_sent - n_read <= TCP_RING_BYTES);
    assert_true(wrote || n_sent == BYTES || n_sent - n_read == TCP_RING_BYTES);
    assert_true(
        tprt__tcp_memory_read(peer(&p, 1), to + n_read, want < STEP ? want : STEP, &n_read));
  }
  assert_memory_equal(from, to, BYTES);
  assert_false(tprt__tcp_memory_read(peer(&p, 1), to, 1, &n_read));
  free(from);
  free(to);
  pair_free(&p);
}

/* A rank that sleeps gets one byte for what changes in its rings; one that is awake gets none. */
static void test_waking(void **state) {
  (void)state;
  pair p = pair_make();
  char bytes[8];
  size_t n = 0;
  assert_true(tprt__tcp_memory_write(peer(&p, 0), "abc", 3, &n));
  assert_true(tprt__tcp_memory_is_waiting(p.ends[1]));
  assert_int_equal(recv(peer(&p, 1)->fd, bytes, sizeof bytes, MSG_DONTWAIT), -1);
  atomic_store(&p.ends[1]->neighbor->sleeps, 1);
  assert_true(tprt__tcp_memory_write(peer(&p, 0), "de", 2, &n));
  assert_true(tprt__tcp_memory_write(peer(&p, 0), "f", 1, &n));
  assert_int_equal(recv(peer(&p, 1)->fd, bytes, sizeof bytes, MSG_DONTWAIT), 1);
  n = 0;
  atomic_store(&p.ends[0]->neighbor->sleeps, 1); /* waits for room */
  assert_true(tprt__tcp_memory_read(peer(&p, 1), bytes, 6, &n));
  assert_memory_equal(bytes, "abcdef", 6);
  assert_int_equal(recv(peer(&p, 0)->fd, bytes, sizeof bytes, MSG_DONTWAIT), 1);
  assert_false(tprt__tcp_memory_is_waiting(p.ends[1]));
  pair_free(&p);
}

/* A sender that found the ring full is waiting as soon as there is room. */
static void test_room(void **state) {
  (void)state;
  pair p = pair_make();
  char *data = calloc(1, TCP_RING_BYTES);
  size_t n_sent = 0, n_read = 0;
  assert_true(tprt__tcp_memory_write(peer(&p, 0), data, TCP_RING_BYTES, &n_sent));
  assert_false(tprt__tcp_memory_write(peer(&p, 0), data, 1, &n_sent));
  assert_false(tprt__tcp_memory_is_waiting(p.ends[0]));
  assert_true(tprt__tcp_memory_read(peer(&p, 1), data, 1, &n_read));
  assert_true(tprt__tcp_memory_is_waiting(p.ends[0]));
  free(data);
  pair_free(&p);
}

/* A position that no correct peer writes ends the peer; nothing outside of the ring is touched. */
static void test_positions(void **state) {
  (void)state;
  static const uint64_t wrong[] = {TCP_RING_BYTES + 1, UINT64_MAX, (uint64_t)1 << 63};
  for (size_t i = 0; i < sizeof wrong / sizeof *wrong; i++) {
    pair p = pair_make();
    char byte;
    size_t n = 0;
    atomic_store(&peer(&p, 1)->in->written, wrong[i]);
    assert_false(tprt__tcp_memory_read(peer(&p, 1), &byte, 1, &n));
    assert_true(peer(&p, 1)->ended);
    atomic_store(&peer(&p, 1)->out->read, wrong[i]);
    peer(&p, 1)->ended = false;
    if (wrong[i] != UINT64_MAX) /* which is one byte that is still to be read */
      assert_false(tprt__tcp_memory_write(peer(&p, 1), &byte, 1, &n));
    assert_int_equal(peer(&p, 1)->ended, wrong[i] != UINT64_MAX);
    pair_free(&p);
  }
}

/* The end of a connection is noticed only after an event, and only once. */
static void test_end(void **state) {
  (void)state;
  pair p = pair_make();
  char byte = 0;
  size_t n = 0;
  assert_true(tprt__tcp_memory_write(peer(&p, 0), "x", 1, &n));
  shutdown(peer(&p, 0)->fd, SHUT_RDWR);
  tprt__tcp_memory_attend(peer(&p, 1));
  assert_false(peer(&p, 1)->hung_up);
  atomic_store(&peer(&p, 1)->has_event, true);
  tprt__tcp_memory_attend(peer(&p, 1));
  assert_true(peer(&p, 1)->hung_up);
  n = 0;
  assert_true(tprt__tcp_memory_read(peer(&p, 1), &byte, 1, &n)); /* what was sent before counts */
  assert_int_equal(byte, 'x');
  pair_free(&p);
}

/* Memory of another size or version is refused. */
static void test_layout(void **state) {
  (void)state;
  const tprt__rendezvous meeting = {.n_ranks = N, .rank = 1};
  pair p = pair_make();
  tcp_endpoint *end = p.ends[1];
  shared = open("/dev/zero", O_RDONLY | O_CLOEXEC);
  void *kept = end->memory;
  assert_int_equal(tprt__tcp_memory_open(&meeting, end), TPRT_MISMATCH);
  assert_non_null(strstr(tprt_last_error(), "the memory of this host has another layout"));
  assert_ptr_equal(end->memory, kept);
  pair_free(&p);
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(test_stream), cmocka_unit_test(test_waking),
      cmocka_unit_test(test_room),   cmocka_unit_test(test_positions),
      cmocka_unit_test(test_end),    cmocka_unit_test(test_layout)};
  return cmocka_run_group_tests(tests, NULL, NULL);
}
