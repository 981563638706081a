/* Reads the job's secret, and checks that no other user can read its file. */
#define _GNU_SOURCE 1
#include "base/env.h"
#include "bootstrap/store.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

enum {
  HEX_BYTES = 2 * TPRT_SECRET_BYTES,
  MAX_BYTES = HEX_BYTES + 2 /* a newline, and one more byte to detect longer files */
};

static int digit(unsigned char c) {
  if (c >= '0' && c <= '9')
    return c - '0';
  c |= 0x20;
  return c >= 'a' && c <= 'f' ? c - 'a' + 10 : -1;
}

/* Parses 32 bytes, or 64 hexadecimal digits with an optional newline. */
static tprt_status parse(const char *source, const unsigned char *text, size_t n,
                         unsigned char secret[TPRT_SECRET_BYTES]) {
  if (n == TPRT_SECRET_BYTES) {
    memcpy(secret, text, TPRT_SECRET_BYTES);
    return TPRT_OK;
  }
  bool ok = n == HEX_BYTES || (n == HEX_BYTES + 1 && text[HEX_BYTES] == '\n');
  for (size_t i = 0; ok && i < TPRT_SECRET_BYTES; i++) {
    int high = digit(text[2 * i]), low = digit(text[2 * i + 1]);
    ok = high >= 0 && low >= 0;
    secret[i] = (unsigned char)(ok ? high << 4 | low : 0);
  }
  return ok ? TPRT_OK
            : tprt__fail(TPRT_INVALID_ARGUMENT,
                         "%s has no secret: it must hold 32 bytes or 64 hexadecimal digits",
                         source);
}

/* Reads from the start of the file if possible, because several ranks may share one inherited
 * descriptor. */
static tprt_status read_secret(const char *source, int fd,
                               unsigned char secret[TPRT_SECRET_BYTES]) {
  unsigned char text[MAX_BYTES];
  size_t n = 0;
  for (ssize_t got = 1; got > 0 && n < sizeof text;) {
    got = pread(fd, text + n, sizeof text - n, (off_t)n);
    if (got < 0 && errno == ESPIPE)
      got = read(fd, text + n, sizeof text - n);
    if (got < 0 && errno == EINTR) {
      got = 1;
      continue;
    }
    if (got < 0)
      return tprt__fail_errno("%s cannot be read", source);
    n += (size_t)got;
  }
  tprt_status status = parse(source, text, n, secret);
  tprt__wipe(text, sizeof text);
  return status;
}

static tprt_status read_file(const char *path, unsigned char secret[TPRT_SECRET_BYTES]) {
  struct stat info;
  char source[256];
  tprt_status status;
  snprintf(source, sizeof source, "TPRT_SECRET_FILE \"%s\"", path);
  /* O_NONBLOCK: opening a pipe would wait for a writer */
  int fd = open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK);
  if (fd < 0)
    return tprt__fail_errno("%s cannot be opened", source);
  if (fstat(fd, &info) != 0)
    status = tprt__fail_errno("%s cannot be read", source);
  else if (!S_ISREG(info.st_mode) || info.st_uid != geteuid() || (info.st_mode & 077) != 0)
    status = tprt__fail(
        TPRT_AUTH, "%s must be a file of this user that no other user can read: chmod 600", source);
  else
    status = read_secret(source, fd, secret);
  close(fd);
  return status;
}

tprt_status tprt__secret_find(const void *given, unsigned char secret[TPRT_SECRET_BYTES],
                              bool *has) {
  int64_t fd;
  const char *path = tprt__env_text(TPRT__ENV_SECRET_FILE);
  tprt_status status = tprt__env_number(TPRT__ENV_SECRET_FD, -1, &fd);
  memset(secret, 0, TPRT_SECRET_BYTES);
  *has = given || fd >= 0 || path;
  if (given)
    memcpy(secret, given, TPRT_SECRET_BYTES);
  else if (!status && fd >= 0)
    status = read_secret("TPRT_SECRET_FD", (int)fd, secret);
  else if (!status && path)
    status = read_file(path, secret);
  return status;
}
