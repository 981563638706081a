#define _GNU_SOURCE 1
#include "stores.h"

#include <arpa/inet.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <unistd.h>

int store_free_port(void) {
  struct sockaddr_in at = {.sin_family = AF_INET, .sin_addr.s_addr = htonl(INADDR_LOOPBACK)};
  socklen_t size = sizeof at;
  int fd = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);
  if (bind(fd, (struct sockaddr *)&at, size) != 0 || getsockname(fd, (struct sockaddr *)&at, &size) != 0)
    abort();
  close(fd);
  return ntohs(at.sin_port);
}

void store_make_address(int kind, char *text, size_t room) {
  static int serial;
  serial++;
  if (kind == STORE_TCP)
    snprintf(text, room, "tcp://127.0.0.1:%d", store_free_port());
  else if (kind == STORE_UNIX)
    snprintf(text, room, "unix:tprt-test-%d-%d", (int)getpid(), serial);
  else if (kind == STORE_FILE)
    snprintf(text, room, "file:/tmp/tprt-test-%d-%d", (int)getpid(), serial);
  else
    snprintf(text, room, "fd:%d", memfd_create("tprt-test", MFD_CLOEXEC));
}

void store_drop_address(const char *text) {
  if (strncmp(text, "fd:", 3) == 0)
    close(atoi(text + 3));
}

tprt_store_config store_config_of(int n, int rank, const unsigned char *secret) {
  return (tprt_store_config){.size = sizeof(tprt_store_config),
                             .n_ranks = n,
                             .rank = rank,
                             .job = "job",
                             .timeout_ns = 5 * store_second,
                             .secret = secret};
}

void store_write_file(const char *path, const char *text, size_t n, mode_t mode) {
  int fd = open(path, O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, mode);
  assert_true(fd >= 0 && write(fd, text, n) == (ssize_t)n && fchmod(fd, mode) == 0);
  close(fd);
}
