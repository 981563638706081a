/* Waiting for peers: spinning, yielding and sleeping, and the conditions that end a wait. */
#define _GNU_SOURCE 1
#include "backends/shm/shm.h"

#include <limits.h>
#include <linux/futex.h>
#include <sched.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

enum {
  SPINS_PER_CHECK = 256,
  N_YIELDS = 1000,
  SLEEP_NS = 2000000, /* also the interval at which a sleeper checks that its peer lives */
  /* interval of that check for a yielding thread; on a busy machine one yield may take longer */
  CHECK_NS = 1000000,
  MOVE_NS = 1000000, /* least time between two changes of the processor */
};

#if defined(__x86_64__) || defined(__i386__)
static inline void relax(void) { __builtin_ia32_pause(); }
#elif defined(__aarch64__)
static inline void relax(void) { __asm__ volatile("yield"); }
#else
static inline void relax(void) {}
#endif

void tprt__shm_sleep(_Atomic uint32_t *word, uint32_t value, int64_t ns) {
  struct timespec timeout = {.tv_sec = ns / 1000000000, .tv_nsec = ns % 1000000000};
  /* not a private futex: processes share the word */
  syscall(SYS_futex, word, FUTEX_WAIT, value, &timeout, NULL, 0);
}

/* The thread that rings and the thread that sleeps both write their own word before they read the
 * other's, with sequentially consistent operations. So at least one of them sees the other, and no
 * wake-up is lost. */
void tprt__shm_ring(shm_line *line) {
  atomic_fetch_add(&line->bell, 1);
  if (atomic_load(&line->n_listeners))
    syscall(SYS_futex, &line->bell, FUTEX_WAKE, INT_MAX, NULL, NULL, 0);
}

bool tprt__shm_sleeps(const shm_transport *shm, int rounds) {
  return rounds >= shm->n_spins + N_YIELDS;
}

bool tprt__shm_due(const shm_transport *shm, int rounds, int64_t *next) {
  if (rounds < shm->n_spins)
    return rounds % SPINS_PER_CHECK == SPINS_PER_CHECK - 1;
  int64_t now = tprt__now();
  bool first = rounds == shm->n_spins,
       due = !first && (now >= *next || tprt__shm_sleeps(shm, rounds));
  if (first || due)
    *next = now + CHECK_NS;
  return due;
}

void tprt__shm_listen(shm_transport *shm, uint32_t heard, int *rounds) {
  shm_line *line = shm->lines[shm->base.rank];
  int round = (*rounds)++;
  if (round < shm->n_spins) {
    relax();
  } else if (!tprt__shm_sleeps(shm, round)) {
    sched_yield();
  } else {
    atomic_fetch_add(&line->n_listeners, 1);
    tprt__shm_sleep(&line->bell, heard, SLEEP_NS);
    atomic_fetch_sub(&line->n_listeners, 1);
  }
}

static void wake(_Atomic uint32_t *step) {
  syscall(SYS_futex, step, FUTEX_WAKE, INT_MAX, NULL, NULL, 0);
}

void tprt__shm_wake(shm_line *line) {
  wake(&line->halves[0].step);
  wake(&line->halves[1].step);
}

/* Returns the word in which a rank publishes this step. */
static _Atomic uint32_t *step_of(shm_line *line, uint32_t step) {
  return &line->halves[step & 1].step;
}

/* Reads n_waiters without a fence, which would take as long as a short operation. So it may miss a
 * sleeper that registers while the step is still becoming visible. But one system call later the
 * kernel compares the step again before it lets the thread sleep, and a sleep ends after SLEEP_NS
 * in any case. */
void tprt__shm_publish(shm_transport *shm) {
  shm_line *line = shm->lines[shm->base.rank];
  shm->step++;
  _Atomic uint32_t *step = step_of(line, shm->step);
  atomic_store_explicit(&line->halves[shm->step & 1].processor, (uint32_t)(sched_getcpu() + 1),
                        memory_order_relaxed);
  atomic_store_explicit(step, shm->step, memory_order_release);
  if (atomic_load_explicit(&line->n_waiters, memory_order_relaxed))
    wake(step);
}

static bool reached(shm_line *line, uint32_t step) {
  /* steps wrap around */
  return (int32_t)(atomic_load_explicit(step_of(line, step), memory_order_acquire) - step) >= 0;
}

static uint64_t pack(const tprt__fault *fault) {
  return (uint64_t)fault->status << 56 | (uint64_t)fault->kind << 48 |
         (uint64_t)(fault->rank & 0xffff) << 32 | fault->sequence;
}

tprt__fault tprt__shm_fault(const tprt__transport *transport) {
  const shm_transport *shm = (const shm_transport *)transport;
  uint64_t word = atomic_load(&shm->lines[0]->fault);
  return (tprt__fault){.status = (tprt_status)(word >> 56),
                       .kind = (tprt_op_kind)(word >> 48 & 0xff),
                       .rank = (int)(word >> 32 & 0xffff),
                       .sequence = (uint32_t)word};
}

void tprt__shm_abort(tprt__transport *transport, const tprt__fault *fault) {
  shm_transport *shm = (shm_transport *)transport;
  uint64_t none = 0;
  atomic_compare_exchange_strong(&shm->lines[0]->fault, &none, pack(fault));
  for (int i = 0; i < transport->n_ranks; i++) {
    tprt__shm_wake(shm->lines[i]);
    tprt__shm_ring(shm->lines[i]);
  }
}

static bool process_ended(const shm_transport *shm, int peer) {
  return tprt__shm_ended(shm->segment, shm->members[peer]);
}

bool tprt__shm_peer_dead(const shm_transport *shm, int peer) {
  return atomic_load(&shm->lines[peer]->left) || process_ended(shm, peer);
}

tprt_status tprt__shm_record_fault(shm_transport *shm, tprt_status status, int peer,
                                   const shm_wait *wait) {
  tprt__fault fault = {
      .status = status, .kind = wait->kind, .rank = shm->members[peer], .sequence = wait->sequence};
  tprt__shm_abort(&shm->base, &fault);
  fault = tprt__shm_fault(&shm->base);
  return tprt__fault_fail(&fault);
}

/* Checks for reasons to stop waiting for a peer. `thorough` includes the checks that need a system
 * call. A peer may publish a step and then end, so the step is read again after the peer was found
 * dead. */
static tprt_status check(shm_transport *shm, int peer, const shm_wait *wait, bool thorough) {
  shm_line *line = shm->lines[peer];
  if (reached(line, shm->step))
    return TPRT_OK;
  tprt__fault fault = tprt__shm_fault(&shm->base);
  if (fault.status)
    return tprt__fault_fail(&fault);
  if (atomic_load(&line->left) || (thorough && process_ended(shm, peer))) {
    return reached(line, shm->step) ? TPRT_OK
                                    : tprt__shm_record_fault(shm, TPRT_PEER_DEAD, peer, wait);
  }
  return tprt__now() >= wait->deadline ? tprt__shm_record_fault(shm, TPRT_TIMEOUT, peer, wait)
                                       : TPRT_OK;
}

static tprt_status sleep_for(shm_transport *shm, int peer, const shm_wait *wait) {
  shm_line *line = shm->lines[peer];
  tprt_status status = TPRT_OK;
  while (!status && !reached(line, shm->step)) {
    atomic_fetch_add(&line->n_waiters, 1);
    _Atomic uint32_t *step = step_of(line, shm->step);
    uint32_t value = atomic_load(step);
    if ((int32_t)(value - shm->step) < 0) {
      int64_t left = wait->deadline - tprt__now();
      tprt__shm_sleep(step, value, left < 1 ? 1 : tprt__min(left, SLEEP_NS));
    }
    atomic_fetch_sub(&line->n_waiters, 1);
    status = check(shm, peer, wait, true);
  }
  return status;
}

/* Returns 1 + the processor on which a rank published its previous step; 0: unknown. */
static uint32_t processor_of(const shm_transport *shm, int rank) {
  return atomic_load_explicit(&shm->lines[rank]->halves[(shm->step - 1) & 1].processor,
                              memory_order_relaxed);
}

/* If a peer shares this thread's processor, moves the thread to another one, as far as its affinity
 * permits; the affinity remains as it is. Returns false if they still share it.
 *
 * A scheduler may put a woken thread beside its waker and leave it there for seconds, although
 * other processors are idle. Then a rank spins while its peer waits for the processor, and every
 * step takes as long as all the spins. */
static bool part_from(shm_transport *shm, int peer) {
  cpu_set_t all, others;
  uint32_t here = (uint32_t)sched_getcpu() + 1;
  if (!here || processor_of(shm, peer) != here)
    return true;
  int64_t now = tprt__now();
  if (now < shm->next_move || sched_getaffinity(0, sizeof all, &all) != 0)
    return false;
  others = all;
  for (int i = 0; i < shm->base.n_ranks; i++) {
    uint32_t processor = i == shm->base.rank ? here : processor_of(shm, i);
    if (processor && processor <= CPU_SETSIZE)
      CPU_CLR(processor - 1, &others);
  }
  if (!CPU_COUNT(&others) || sched_setaffinity(0, sizeof others, &others) != 0)
    return false;
  sched_setaffinity(0, sizeof all, &all);
  shm->next_move = now + MOVE_NS;
  return true;
}

/* Spins while the peer is probably running, then yields the processor, and only then sleeps: a
 * futex wake-up costs tens of microseconds. */
static tprt_status await_peer(shm_transport *shm, int peer, const shm_wait *wait) {
  shm_line *line = shm->lines[peer];
  for (int i = 1; i <= shm->n_spins; i++) {
    if (reached(line, shm->step))
      return TPRT_OK;
    relax();
    if (i % SPINS_PER_CHECK == 0) {
      tprt_status status = check(shm, peer, wait, false);
      if (status)
        return status;
      if (!part_from(shm, peer))
        break; /* the peer needs the processor */
    }
  }
  int64_t next = 0;
  for (int i = shm->n_spins; !tprt__shm_sleeps(shm, i); i++) {
    if (reached(line, shm->step))
      return TPRT_OK;
    sched_yield();
    bool due = tprt__shm_due(shm, i, &next);
    if (due || i % 16 == 0) {
      tprt_status status = check(shm, peer, wait, due);
      if (status)
        return status;
    }
  }
  return sleep_for(shm, peer, wait);
}

/* Peers often arrive at the same time. A read of a line that a peer is about to write takes the
 * line away from it and delays both ranks (measured: a tenth of a short operation). So the first
 * read waits for a moment. */
tprt_status tprt__shm_await(shm_transport *shm, const shm_wait *wait) {
  if (shm->n_spins)
    relax();
  for (int peer = 0; peer < shm->base.n_ranks; peer++) {
    if (peer == shm->base.rank || reached(shm->lines[peer], shm->step))
      continue;
    tprt_status status = await_peer(shm, peer, wait);
    if (status)
      return status;
  }
  return TPRT_OK;
}

tprt_status tprt__shm_await_counter(tprt__transport *transport, const _Atomic uint64_t *counter,
                                    uint64_t value, int rank, int64_t deadline) {
  shm_transport *shm = (shm_transport *)transport;
  const shm_wait wait = {.deadline = deadline};
  int64_t next = 0;
  for (int rounds = 0;;) {
    uint32_t heard = atomic_load(&shm->lines[transport->rank]->bell);
    bool thorough = tprt__shm_due(shm, rounds, &next);
    /* before reading the counter: signals from before its end count */
    bool peer_dead = thorough && tprt__shm_peer_dead(shm, rank);
    if (atomic_load(counter) >= value)
      return TPRT_OK;
    tprt__fault fault = tprt__shm_fault(transport);
    if (fault.status)
      return tprt__fault_fail(&fault);
    if (peer_dead)
      return tprt__shm_record_fault(shm, TPRT_PEER_DEAD, rank, &wait);
    if (thorough && tprt__now() >= deadline)
      return tprt__shm_record_fault(shm, TPRT_TIMEOUT, rank, &wait);
    tprt__shm_listen(shm, heard, &rounds);
  }
}
