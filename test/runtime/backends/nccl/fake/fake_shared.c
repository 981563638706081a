/* State that all ranks share. Ranks that are threads share it directly. With FAKE_NCCL_SHARED, the
 * path of a file, ranks may be processes: the file is mapped at the same address in all of them, so
 * pointers into it are valid everywhere, and a rank can move the data of another. A process may die
 * with the lock held. */
#define _GNU_SOURCE 1
#include "fake_inside.h"

#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <sys/file.h>
#include <sys/mman.h>
#include <unistd.h>

enum { N_SIZES = 40, LEAST_SHIFT = 8, NAP_US = 20 };
static const size_t shared_bytes = (size_t)1 << 32; /* pages take memory only when touched */

/* A free block of a power-of-two size; in an allocated one, the data follows. */
typedef struct piece {
  struct piece *next;
  int shift;
} piece;
/* Of a piece, before its data. The driver aligns memory to 256 bytes, and so does this. */
enum { PIECE_BYTES = 256 };

typedef struct shared {
  bool ready;
  pthread_mutex_t lock;
  fake_common common;
  size_t used;
  piece *free[N_SIZES];
} shared;

static shared own;
static pthread_cond_t changed = PTHREAD_COND_INITIALIZER; /* for threads; processes poll */
static shared *all = &own;

static void start_lock(void) {
  pthread_mutexattr_t attributes;
  pthread_mutexattr_init(&attributes);
  if (all != &own) {
    pthread_mutexattr_setpshared(&attributes, PTHREAD_PROCESS_SHARED);
    pthread_mutexattr_setrobust(&attributes, PTHREAD_MUTEX_ROBUST);
  }
  pthread_mutex_init(&all->lock, &attributes);
  pthread_mutexattr_destroy(&attributes);
  all->used = (sizeof *all + PIECE_BYTES - 1) / PIECE_BYTES * PIECE_BYTES;
  all->ready = true;
}

__attribute__((constructor)) static void open_shared(void) {
  const char *path = getenv("FAKE_NCCL_SHARED");
  void *const where = (void *)0x200000000000;
  if (!path) {
    start_lock();
    return;
  }
  int fd = open(path, O_RDWR | O_CREAT | O_CLOEXEC, 0600);
  if (fd < 0 || flock(fd, LOCK_EX) != 0 || ftruncate(fd, (off_t)shared_bytes) != 0)
    abort();
  all = mmap(where, shared_bytes, PROT_READ | PROT_WRITE,
             MAP_SHARED | MAP_FIXED_NOREPLACE | MAP_NORESERVE, fd, 0);
  if (all != where)
    abort();
  if (!all->ready)
    start_lock();
  flock(fd, LOCK_UN); /* the mapping would keep the lock */
  close(fd);
}

fake_common *fake_common_part(void) { return &all->common; }

void fake_enter(void) {
  if (pthread_mutex_lock(&all->lock) == EOWNERDEAD)
    pthread_mutex_consistent(&all->lock);
}

void fake_exit(void) { pthread_mutex_unlock(&all->lock); }

void fake_wait(void) {
  if (all == &own) {
    pthread_cond_wait(&changed, &all->lock);
    return;
  }
  fake_exit();
  fake_sleep_us(NAP_US);
  fake_enter();
}

void fake_wake(void) {
  if (all == &own)
    pthread_cond_broadcast(&changed);
}

void *fake_take(size_t bytes) {
  if (all == &own) { /* aligned to 256, like the driver's */
    size_t whole = (bytes + 255) / 256 * 256 + (bytes == 0) * 256;
    void *made = aligned_alloc(256, whole);
    return made ? memset(made, 0, whole) : NULL;
  }
  int shift = LEAST_SHIFT;
  while (((size_t)1 << shift) < bytes)
    shift++;
  piece *taken = all->free[shift];
  if (taken) {
    all->free[shift] = taken->next;
  } else {
    if (shared_bytes - all->used < PIECE_BYTES + ((size_t)1 << shift))
      abort();
    taken = (piece *)((char *)all + all->used);
    all->used += PIECE_BYTES + ((size_t)1 << shift);
  }
  taken->shift = shift;
  return memset((char *)taken + PIECE_BYTES, 0, bytes);
}

void fake_give(void *memory) {
  if (all == &own) {
    free(memory);
    return;
  }
  piece *given = (piece *)((char *)memory - PIECE_BYTES);
  given->next = all->free[given->shift];
  all->free[given->shift] = given;
}
