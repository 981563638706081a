/* Ranks must not outlive the launcher that started them: nobody would end them. */
#define _GNU_SOURCE 1
#include "cli.h"

#include <errno.h>
#include <netdb.h>
#include <poll.h>
#include <pthread.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/syscall.h>
#include <unistd.h>

static _Noreturn void end(void) {
  cli_print("%s: error: the launcher of the ranks has ended, and so do they\n", cli_program.name);
  cli_leftovers_end();
  _exit(1);
}

static void *await_end(void *argument) {
  struct pollfd parent = {.fd = (int)(intptr_t)argument, .events = POLLIN};
  while (poll(&parent, 1, -1) <= 0)
    ;
  end();
}

/* True if the launcher that reads the output of this process has ended. */
static bool is_unread(void) {
  struct pollfd outputs[] = {{.fd = STDOUT_FILENO}, {.fd = STDERR_FILENO}};
  return poll(outputs, 2, 0) > 0 &&
         ((outputs[0].revents | outputs[1].revents) & (POLLERR | POLLHUP));
}

static bool is_refused(const struct addrinfo *address) {
  int fd = socket(address->ai_family, SOCK_STREAM | SOCK_CLOEXEC, 0);
  bool refused =
      fd >= 0 && connect(fd, address->ai_addr, address->ai_addrlen) != 0 && errno == ECONNREFUSED;
  if (fd >= 0)
    close(fd);
  return refused;
}

/* True if the agent of torchrun, which serves a store on this host, has ended. */
static bool is_agent_gone(void) {
  const char *serves = getenv("TORCHELASTIC_USE_AGENT_STORE"), *host = getenv("MASTER_ADDR"),
             *port = getenv("MASTER_PORT"), *here = getenv("LOCAL_WORLD_SIZE"),
             *all = getenv("WORLD_SIZE");
  const struct addrinfo hints = {.ai_socktype = SOCK_STREAM};
  struct addrinfo *found;
  if (!serves || !host || !port || !here || !all || strcmp(serves, "True") != 0 ||
      strcmp(here, all) != 0 || getaddrinfo(host, port, &hints, &found) != 0)
    return false;
  bool gone = true;
  for (const struct addrinfo *one = found; one; one = one->ai_next)
    gone &= is_refused(one);
  freeaddrinfo(found);
  return gone;
}

void cli_end_with_launcher(const char *launcher, const char *job, const char *store) {
  /* Without a job, or with variables that a user set, the parent may be a shell that goes on or
   * ends. An inherited store is that of shard-run -n. */
  bool is_ours = strcmp(launcher, "tprt") == 0,
       is_held = is_ours ? strncmp(store, "fd:", 3) == 0 : *job != 0;
  pid_t parent = getppid();
  int fd = is_held ? (int)syscall(SYS_pidfd_open, parent, 0) : -1;
  pthread_t thread;
  if (fd < 0)
    return;
  /* a launcher that ended before this is the parent no more */
  if (getppid() != parent || (!is_ours && (is_unread() || is_agent_gone())))
    end();
  if (pthread_create(&thread, NULL, await_end, (void *)(intptr_t)fd) != 0)
    close(fd);
  else
    pthread_detach(thread);
}
