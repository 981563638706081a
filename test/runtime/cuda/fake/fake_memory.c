/* Memory of the fake device. Allocations are tracked, so accesses of kernels outside of them are
 * detected; until it is written, memory holds NaN of every type. */
#define _GNU_SOURCE 1
#include "fake_stream.h"

#include <pthread.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

/* UNSHARED: a large block, which gets a file when it is exported. */
enum { SMALL = -1, UNSHARED = -3, BLOCK_BYTES = 2 << 20, LARGE_BYTES = 8 << 20, MOST_KEPT = 8 };

static struct {
  pthread_mutex_t lock;
  struct allocation {
    uint64_t begin, end;
    int file; /* SMALL: from the heap; or UNSHARED */
    bool is_exported;
  } *of;
  size_t n;
} allocations = {.lock = PTHREAD_MUTEX_INITIALIZER};

void fake_note_memory(cuda_address memory, uint64_t bytes, int file) {
  pthread_mutex_lock(&allocations.lock);
  allocations.of = realloc(allocations.of, (allocations.n + 1) * sizeof *allocations.of);
  if (!allocations.of)
    abort();
  allocations.of[allocations.n++] = (struct allocation){memory, memory + bytes, file, false};
  pthread_mutex_unlock(&allocations.lock);
}

/* Finds an allocation, with the lock held: NULL if none begins there. */
static struct allocation *find(cuda_address memory) {
  for (size_t i = 0; i < allocations.n; i++)
    if (allocations.of[i].begin == memory)
      return &allocations.of[i];
  return NULL;
}

bool fake_forget_memory(cuda_address memory) {
  pthread_mutex_lock(&allocations.lock);
  struct allocation *found = find(memory);
  if (found)
    *found = allocations.of[--allocations.n];
  pthread_mutex_unlock(&allocations.lock);
  return found != NULL;
}

int fake_file_of(cuda_address memory) {
  pthread_mutex_lock(&allocations.lock);
  const struct allocation *found = find(memory);
  int file = found ? found->file : SMALL;
  pthread_mutex_unlock(&allocations.lock);
  return file;
}

static int make_file(size_t bytes) {
  int file = memfd_create("memory of a device", MFD_CLOEXEC);
  if (file < 0 || ftruncate(file, (off_t)bytes) != 0)
    abort();
  return file;
}

static void map_file(void *at, size_t bytes, int file, int flags) {
  if (mmap(at, bytes, PROT_READ | PROT_WRITE, MAP_FIXED | flags, file, 0) == MAP_FAILED)
    abort();
}

static void write_file(int file, const unsigned char *from, size_t bytes) {
  for (size_t at = 0; at < bytes;) {
    ssize_t n = pwrite(file, from + at, bytes - at, (off_t)at);
    if (n <= 0)
      abort();
    at += (size_t)n;
  }
}

/* Moves an unshared block to a file. Nothing writes to memory while it is exported. */
static void share(struct allocation *block) {
  size_t bytes = block->end - block->begin;
  void *at = (void *)(uintptr_t)block->begin;
  block->file = make_file(bytes);
  write_file(block->file, at, bytes);
  map_file(at, bytes, block->file, MAP_SHARED);
}

int fake_export(cuda_address memory) {
  pthread_mutex_lock(&allocations.lock);
  struct allocation *found = find(memory);
  if (found && found->file == UNSHARED)
    share(found);
  int file = found ? found->file : SMALL;
  if (found)
    found->is_exported = true;
  pthread_mutex_unlock(&allocations.lock);
  return file;
}

static bool is_exported(cuda_address memory) {
  pthread_mutex_lock(&allocations.lock);
  const struct allocation *found = find(memory);
  bool exported = found && found->is_exported;
  pthread_mutex_unlock(&allocations.lock);
  return exported;
}

TPRT_API size_t fake_allocated(void);
size_t fake_allocated(void) {
  pthread_mutex_lock(&allocations.lock);
  size_t n = allocations.n;
  pthread_mutex_unlock(&allocations.lock);
  return n;
}

/* Blocks that were released, which cannot be accessed, for the next allocations of their sizes: to
 * map and touch new pages takes ten times as long as to fill old ones. Those of a process that
 * forked this one are still its own. */
static struct {
  pthread_mutex_t lock;
  struct kept {
    void *at;
    size_t bytes;
    int file;
    pid_t process;
  } of[MOST_KEPT];
} kept = {.lock = PTHREAD_MUTEX_INITIALIZER};

static void unmap(void *block, size_t bytes, int file) {
  munmap(block, bytes);
  if (file != UNSHARED)
    close(file);
}

/* Keeps a block in place of another one. */
static void keep_block(void *block, size_t bytes, int file) {
  static size_t turn;
  if (mprotect(block, bytes, PROT_NONE) != 0)
    abort();
  pthread_mutex_lock(&kept.lock);
  struct kept *to = &kept.of[turn++ % MOST_KEPT], before = *to;
  *to = (struct kept){block, bytes, file, getpid()};
  pthread_mutex_unlock(&kept.lock);
  if (before.at)
    unmap(before.at, before.bytes, before.file);
}

static void *take_kept(size_t bytes, int *file) {
  struct kept found = {0};
  pthread_mutex_lock(&kept.lock);
  for (int i = 0; i < MOST_KEPT && !found.at; i++)
    if (kept.of[i].at && kept.of[i].bytes == bytes && kept.of[i].process == getpid()) {
      found = kept.of[i];
      kept.of[i].at = NULL;
    }
  pthread_mutex_unlock(&kept.lock);
  if (found.at && mprotect(found.at, bytes, PROT_READ | PROT_WRITE) != 0)
    abort();
  *file = found.file;
  return found.at;
}

/* A file of BLOCK_BYTES of NaN. */
static int nan_file;

static void make_nan_file(void) {
  static unsigned char block[BLOCK_BYTES];
  memset(block, 0xff, sizeof block);
  nan_file = make_file(sizeof block);
  write_file(nan_file, block, sizeof block);
}

/* Fills a large block: its pages are those of the file until they are written. Most are never: to
 * touch each one of a workspace of 32 MiB took longer than all else that a small program does. */
static void map_nan(unsigned char *block, size_t bytes) {
  static pthread_once_t once = PTHREAD_ONCE_INIT;
  pthread_once(&once, make_nan_file);
  for (size_t at = 0; at < bytes; at += BLOCK_BYTES)
    map_file(block + at, BLOCK_BYTES, nan_file, MAP_PRIVATE | MAP_NORESERVE);
}

/* Returns a block of NaN. */
static void *make_block(size_t bytes, int *file) {
  void *made = take_kept(bytes, file);
  if (!made) {
    *file = bytes > LARGE_BYTES ? UNSHARED : make_file(bytes);
    made = *file == UNSHARED
               ? mmap(NULL, bytes, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0)
               : mmap(NULL, bytes, PROT_READ | PROT_WRITE, MAP_SHARED, *file, 0);
    if (made == MAP_FAILED)
      abort();
  }
  if (*file == UNSHARED)
    map_nan(made, bytes);
  else
    memset(made, 0xff, bytes);
  return made;
}

static void *make_small(size_t bytes) {
  size_t whole = (bytes + 255) / 256 * 256;
  void *made = aligned_alloc(256, whole);
  return made ? memset(made, 0xff, whole) : NULL;
}

cuda_result fake_allocate(cuda_address *memory, size_t bytes) {
  int file = SMALL;
  if (fake_unsafe())
    return FAKE_CAPTURE_UNSUPPORTED;
  if (fake_mode_is("allocate"))
    return FAKE_OUT_OF_MEMORY;
  void *made = bytes && bytes % BLOCK_BYTES == 0 ? make_block(bytes, &file)
               : bytes                           ? make_small(bytes)
                                                 : NULL;
  if (!made)
    return FAKE_INVALID_VALUE;
  *memory = (cuda_address)(uintptr_t)made;
  fake_note_memory(*memory, bytes, file);
  return CUDA_RESULT_SUCCESS;
}

cuda_result fake_release(cuda_address memory) {
  uint64_t begin, end;
  int file = fake_file_of(memory);
  if (fake_unsafe())
    return FAKE_CAPTURE_UNSUPPORTED;
  if (memory == 0)
    return CUDA_RESULT_SUCCESS;
  fake_finish_device(); /* like the real driver */
  bool exported = is_exported(memory);
  if (file == FAKE_OPENED || !fake_find_memory(NULL, memory, &begin, &end) ||
      !fake_forget_memory(memory))
    return FAKE_INVALID_VALUE;
  if (file == SMALL) {
    free((void *)(uintptr_t)memory);
  } else if (exported) {
    unmap((void *)(uintptr_t)begin, end - begin, file);
  } else {
    keep_block((void *)(uintptr_t)begin, end - begin, file);
  }
  return CUDA_RESULT_SUCCESS;
}

bool fake_find_memory(void *user, uint64_t address, uint64_t *begin, uint64_t *end) {
  bool found = false;
  (void)user;
  pthread_mutex_lock(&allocations.lock);
  for (size_t i = 0; i < allocations.n && !found; i++) {
    *begin = allocations.of[i].begin;
    *end = allocations.of[i].end;
    found = address >= *begin && address < *end;
  }
  pthread_mutex_unlock(&allocations.lock);
  return found;
}

/* ---- Copies and sets in the default stream ---- */

/* A set, or a copy from pageable memory, which has been read already. */
typedef struct write_task {
  void *to;
  size_t bytes;
  bool is_copy;
  unsigned char value;
  char from[];
} write_task;

static cuda_result run_write(void *data) {
  const write_task *w = data;
  if (w->is_copy)
    memcpy(w->to, w->from, w->bytes);
  else
    memset(w->to, w->value, w->bytes);
  return CUDA_RESULT_SUCCESS;
}

/* The real driver may return before the device has written, and streams that were created with
 * CU_STREAM_NON_BLOCKING do not wait for the default stream. So writes are always late here. */
static cuda_result write_late(cuda_address to, const void *from, unsigned char value,
                              size_t bytes) {
  write_task *w = malloc(sizeof *w + (from ? bytes : 0));
  if (!w)
    abort();
  *w = (write_task){
      .to = (void *)(uintptr_t)to, .bytes = bytes, .is_copy = from != NULL, .value = value};
  if (from)
    memcpy(w->from, from, bytes);
  return fake_postpone((fake_task){.run = run_write, .data = w});
}

cuda_result fake_set(cuda_address to, unsigned char value, size_t bytes) {
  return fake_unsafe() ? FAKE_LAUNCH_FAILED : write_late(to, NULL, value, bytes);
}

/* Waits for earlier work of the default stream, as the real driver does for pageable memory. */
cuda_result fake_upload(cuda_address to, const void *from, size_t bytes) {
  return fake_unsafe() || fake_finish(NULL) ? FAKE_LAUNCH_FAILED : write_late(to, from, 0, bytes);
}

cuda_result fake_copy_to_host(void *to, cuda_address from, size_t bytes) {
  if (fake_unsafe() || fake_finish(NULL))
    return FAKE_LAUNCH_FAILED;
  memcpy(to, (const void *)(uintptr_t)from, bytes);
  return fake_fails_at("copy");
}
