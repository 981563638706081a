/* Ranks must not outlive the launcher that started them: nobody would end them. */
#define _GNU_SOURCE 1
#include "cli.h"

#include <poll.h>
#include <pthread.h>
#include <string.h>
#include <sys/syscall.h>
#include <unistd.h>

/* Waits for the end of the parent. */
static void *await_end(void *argument) {
  struct pollfd parent = {.fd = (int)(intptr_t)argument, .events = POLLIN};
  while (poll(&parent, 1, -1) <= 0)
    ;
  cli_print("%s: error: the launcher of the ranks has ended, and so do they\n", cli_program.name);
  cli_leftovers_end();
  _exit(1);
}

void cli_end_with_launcher(const char *launcher, const char *job, const char *store) {
  /* Without a job, or with variables that a user set, the parent may be a shell that goes on or
   * ends. An inherited store is that of shard-run -n. */
  bool is_held = strcmp(launcher, "tprt") == 0 ? strncmp(store, "fd:", 3) == 0 : *job != 0;
  pid_t parent = getppid();
  int fd = is_held ? (int)syscall(SYS_pidfd_open, parent, 0) : -1;
  pthread_t thread;
  if (fd < 0)
    return;
  if (getppid() != parent || pthread_create(&thread, NULL, await_end, (void *)(intptr_t)fd) != 0)
    close(fd);
  else
    pthread_detach(thread);
}
