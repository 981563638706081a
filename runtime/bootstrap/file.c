/* A store in a file: a header, then records that are only appended. Every rank caches the values it
 * has read. A lock on the whole file orders the writers. The next writer overwrites a partial
 * record left by a writer that died. */
#define _GNU_SOURCE 1
#include "base/env.h"
#include "bootstrap/store.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

/* Numbers are stored as they are in memory: all ranks run on machines of one kind. */
typedef struct file_head {
  uint64_t magic;
  uint32_t version;
  int32_t n_ranks, epoch, zero;
  unsigned char job[32];
} file_head;

typedef struct record_head {
  uint32_t n_key, n_value; /* n_value REMOVED: the key is removed */
  uint64_t check;          /* hash of key and value */
} record_head;

static const uint64_t magic = UINT64_C(0x316c696674727074); /* "tprtfil1" */
enum { VERSION = 2 };
#define REMOVED UINT32_MAX

typedef struct file_store {
  tprt_store base;
  int fd, rank;
  off_t end; /* end of the records that are in `values` */
  tprt__values values;
  char *path; /* NULL: opened from a descriptor */
} file_store;

/* ---- records ---- */

static bool read_all(int fd, void *to, size_t n, off_t at) {
  ssize_t got;
  do {
    got = pread(fd, to, n, at);
  } while (got < 0 && errno == EINTR);
  return got == (ssize_t)n;
}

static uint64_t check_of(const char *key, const unsigned char *value, size_t n_value) {
  return tprt__hash(tprt__hash(1, key, strlen(key)), value, n_value);
}

/* Reads the records appended since the last call; stops at an incomplete one. */
static tprt_status catch_up(file_store *f) {
  record_head head;
  char key[TPRT_STORE_KEY_BYTES];
  unsigned char value[TPRT_STORE_VALUE_BYTES];
  while (read_all(f->fd, &head, sizeof head, f->end)) {
    off_t at = f->end + (off_t)sizeof head;
    bool removes = head.n_value == REMOVED;
    size_t n = removes ? 0 : head.n_value;
    if (head.n_key == 0 || head.n_key >= sizeof key || n > sizeof value ||
        !read_all(f->fd, key, head.n_key, at) || !read_all(f->fd, value, n, at + (off_t)head.n_key))
      break;
    key[head.n_key] = 0;
    if (head.check != check_of(key, value, n))
      break;
    tprt_status status = removes ? TPRT_OK : tprt__values_set(&f->values, key, value, n);
    if (status)
      return status;
    if (removes)
      tprt__values_remove(&f->values, key);
    f->end = at + (off_t)(head.n_key + n);
  }
  return TPRT_OK;
}

/* Appends a record; without a value (NULL), one that removes the key. The caller holds the lock. */
static tprt_status append(file_store *f, const char *key, const void *value, size_t bytes) {
  unsigned char record[sizeof(record_head) + TPRT_STORE_KEY_BYTES + TPRT_STORE_VALUE_BYTES];
  record_head head = {.n_key = (uint32_t)strlen(key),
                      .n_value = value ? (uint32_t)bytes : REMOVED,
                      .check = check_of(key, value, bytes)};
  size_t n = sizeof head;
  memcpy(record, &head, sizeof head);
  memcpy(record + n, key, head.n_key);
  n += head.n_key;
  if (bytes)
    memcpy(record + n, value, bytes);
  n += bytes;
  tprt_status status = catch_up(f);
  if (!status && (ftruncate(f->fd, f->end) != 0 || pwrite(f->fd, record, n, f->end) != (ssize_t)n))
    status = tprt__fail_errno("cannot write to the store file");
  return status ? status : catch_up(f);
}

static void pause_a_little(int64_t *ns, int64_t deadline) {
  enum { LONGEST_NS = 20000000 };
  int64_t left = tprt__min(*ns, deadline - tprt__now());
  if (left > 0)
    nanosleep(&(struct timespec){.tv_nsec = (long)left}, NULL);
  *ns = tprt__min(2 * *ns, LONGEST_NS);
}

/* Locks the file for this open file description, not for the process: ranks may be threads. */
static tprt_status lock(const file_store *f, int64_t deadline) {
  struct flock whole = {.l_type = F_WRLCK, .l_whence = SEEK_SET};
  for (int64_t pause = 200000; fcntl(f->fd, F_OFD_SETLK, &whole) != 0;) {
    if (errno != EAGAIN && errno != EACCES && errno != EINTR)
      return tprt__fail_errno("cannot lock the store file");
    if (tprt__now() >= deadline)
      return tprt__fail(TPRT_TIMEOUT, "the store file stayed locked by another rank");
    pause_a_little(&pause, deadline);
  }
  return TPRT_OK;
}

static void unlock(const file_store *f) {
  struct flock whole = {.l_type = F_UNLCK, .l_whence = SEEK_SET};
  (void)fcntl(f->fd, F_OFD_SETLK, &whole);
}

/* ---- store functions ---- */

static tprt_status file_set(tprt_store *store, const char *key, const void *value, size_t bytes,
                            int64_t deadline) {
  file_store *f = (file_store *)store;
  tprt_status status = lock(f, deadline);
  if (status)
    return status;
  status = append(f, key, value ? value : "", bytes);
  unlock(f);
  return status;
}

static tprt_status file_remove(tprt_store *store, const char *key, int64_t deadline) {
  file_store *f = (file_store *)store;
  tprt_status status = lock(f, deadline);
  if (status)
    return status;
  status = catch_up(f);
  if (!status && tprt__values_find(&f->values, key))
    status = append(f, key, NULL, 0);
  unlock(f);
  return status;
}

static tprt_status file_add(tprt_store *store, const char *key, int64_t delta, int64_t *sum,
                            int64_t deadline) {
  file_store *f = (file_store *)store;
  int64_t result;
  tprt_status status = lock(f, deadline);
  if (status)
    return status;
  status = catch_up(f);
  if (!status)
    status = tprt__values_add(&f->values, key, delta, &result);
  const tprt__value *value = status ? NULL : tprt__values_find(&f->values, key);
  if (value)
    status = append(f, key, value->data, value->bytes);
  unlock(f);
  if (!status)
    *sum = result;
  return status;
}

static tprt_status file_get(tprt_store *store, const char *key, void *value, size_t *bytes,
                            int64_t deadline) {
  file_store *f = (file_store *)store;
  for (int64_t pause = 200000;; pause_a_little(&pause, deadline)) {
    bool late = tprt__now() >= deadline; /* checked before the last read */
    tprt_status status = catch_up(f);
    const tprt__value *found = status ? NULL : tprt__values_find(&f->values, key);
    if (found)
      return tprt__value_read(found, value, bytes);
    if (status)
      return status;
    if (late)
      return tprt__fail(TPRT_TIMEOUT, TPRT__NOT_SET " \"%s\" in time", key);
  }
}

/* Removes the file that was opened, but not another one that has taken its name. */
static void remove_file(const file_store *f) {
  struct stat own, named;
  if (fstat(f->fd, &own) == 0 && lstat(f->path, &named) == 0 && own.st_dev == named.st_dev &&
      own.st_ino == named.st_ino)
    unlink(f->path);
}

static void release(file_store *f) {
  if (f->fd >= 0)
    close(f->fd);
  tprt__values_clear(&f->values);
  tprt__free(f->path);
  tprt__free(f);
}

static void file_close(tprt_store *store) {
  file_store *f = (file_store *)store;
  if (f->path && f->rank == 0)
    remove_file(f);
  release(f);
}

/* ---- opening ---- */

static tprt_status open_file(const char *path, int fd, file_store *f) {
  char name[64];
  struct stat info;
  if (path) {
    f->fd = open(path, O_RDWR | O_CREAT | O_CLOEXEC | O_NOFOLLOW | O_NONBLOCK, 0600);
  } else {
    /* Opens it again: locks through one inherited file description would not exclude each other. */
    snprintf(name, sizeof name, "/proc/self/fd/%d", fd);
    f->fd = open(name, O_RDWR | O_CLOEXEC | O_NONBLOCK);
  }
  bool opened = f->fd >= 0 && fstat(f->fd, &info) == 0;
  if (!opened)
    return path ? tprt__fail_errno("the store file:%s", path)
                : tprt__fail_errno("the store fd:%d", fd);
  if (!S_ISREG(info.st_mode) || (path && (info.st_uid != geteuid() || (info.st_mode & 022) != 0)))
    return tprt__fail(TPRT_AUTH, "%s must be a file%s", path ? path : name,
                      path ? " of this user that no other user can write" : "");
  return TPRT_OK;
}

/* The first rank writes the header and the others compare it. The caller holds the lock. */
static tprt_status check_head(file_store *f, const tprt__identity *own) {
  file_head head = {.magic = magic,
                    .version = VERSION,
                    .n_ranks = own->n_ranks,
                    .epoch = own->epoch},
            found;
  struct stat info;
  memcpy(head.job, own->job, sizeof head.job);
  f->end = sizeof head;
  if (fstat(f->fd, &info) != 0)
    return tprt__fail_errno("the file of the store");
  if (info.st_size == 0)
    return pwrite(f->fd, &head, sizeof head, 0) == (ssize_t)sizeof head
               ? TPRT_OK
               : tprt__fail_errno("the file of the store");
  if (!read_all(f->fd, &found, sizeof found, 0) || found.magic != magic || found.version != VERSION)
    return tprt__fail(TPRT_MISMATCH, "the file is not a store of this library version");
  if (memcmp(&found, &head, sizeof head) == 0)
    return TPRT_OK;
  return tprt__fail(TPRT_MISMATCH,
                    "the file belongs to a job of %d ranks in epoch %d, but the job of this rank "
                    "has %d ranks in epoch %d%s",
                    found.n_ranks, found.epoch, own->n_ranks, own->epoch,
                    memcmp(found.job, own->job, sizeof own->job) ? " and another name" : "");
}

static tprt_status join(file_store *f, const tprt__identity *own) {
  char key[32];
  int64_t count;
  tprt_status status = lock(f, tprt__deadline(f->base.timeout_ns));
  if (status)
    return status;
  status = check_head(f, own);
  unlock(f);
  if (!own->n_ranks)
    return status;
  snprintf(key, sizeof key, "tprt/rank/%d", own->rank);
  if (!status)
    status = file_add(&f->base, key, 1, &count, tprt__deadline(f->base.timeout_ns));
  if (!status && count != 1)
    status = tprt__fail(TPRT_INVALID_STATE, "rank %d has already joined %s%s", own->rank,
                        f->path ? f->path : "this store",
                        f->path ? "; a file serves one job only: remove it" : "");
  return status;
}

tprt_status tprt__store_file(const char *path, int fd, const tprt__store_setup *setup,
                             tprt_store **store) {
  static const tprt__store_kind kind = {file_set, file_get, file_add, file_remove, file_close};
  file_store *f = tprt__alloc(sizeof *f);
  if (!f)
    return tprt__fail_memory(sizeof *f);
  f->base = (tprt_store){.kind = &kind, .timeout_ns = setup->timeout_ns};
  f->fd = -1;
  f->rank = setup->identity.rank;
  tprt__values_start(&f->values, setup->identity.n_ranks);
  tprt_status status = TPRT_OK;
  if (path) {
    f->path = tprt__alloc(strlen(path) + 1);
    if (f->path)
      memcpy(f->path, path, strlen(path));
    else
      status = tprt__fail_memory(strlen(path) + 1);
  }
  if (!status)
    status = open_file(path, fd, f);
  if (!status)
    status = join(f, &setup->identity);
  if (status) {
    release(f);
    return status;
  }
  *store = &f->base;
  return TPRT_OK;
}
