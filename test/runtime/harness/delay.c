/* delay DELAY-MS REORDERED-PERCENT HOST...: a network between hosts that takes time. The hosts are
 * network name spaces, and get an interface `eth` each, whose packets come to this program. It
 * hands each on to the host of its address, 198.51.100.(number of the host + 1), after the delay;
 * some packets take twice as long, so that others overtake them. Prints "ready" when the interfaces
 * exist, and runs until it is ended. For kernels without netem. */
#define _GNU_SOURCE 1
#include <errno.h>
#include <fcntl.h>
#include <linux/if_tun.h>
#include <net/if.h>
#include <poll.h>
#include <sched.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <time.h>
#include <unistd.h>

enum { MOST_HOSTS = 16, MOST_BYTES = 1500, MOST_PACKETS = 8192, LAST_BYTE_OF_TARGET = 19 };

typedef struct packet {
  struct packet *next;
  int64_t due;
  int to;
  ssize_t bytes;
  unsigned char data[MOST_BYTES];
} packet;

/* Packets on their way, by their times. What comes when all packets are used up is lost. */
static packet packets[MOST_PACKETS], *unused, *first;
static struct pollfd hosts[MOST_HOSTS];
static int n_hosts;

static int64_t now_ns(void) {
  struct timespec now;
  clock_gettime(CLOCK_MONOTONIC, &now);
  return now.tv_sec * INT64_C(1000000000) + now.tv_nsec;
}

static void fail(const char *what, const char *name) {
  fprintf(stderr, "delay: %s: %s: %s\n", what, name, strerror(errno));
  exit(1);
}

/* Creates the interface of a host. The descriptor remains valid outside of its name space. */
static int open_host(const char *name) {
  char path[128];
  struct ifreq wanted = {.ifr_flags = IFF_TUN | IFF_NO_PI, .ifr_name = "eth"};
  snprintf(path, sizeof path, "/run/netns/%s", name);
  int space = open(path, O_RDONLY | O_CLOEXEC);
  if (space < 0 || setns(space, CLONE_NEWNET) != 0)
    fail("cannot enter the name space", name);
  close(space);
  int fd = open("/dev/net/tun", O_RDWR | O_NONBLOCK | O_CLOEXEC);
  if (fd < 0 || ioctl(fd, TUNSETIFF, &wanted) != 0)
    fail("cannot create an interface", name);
  return fd;
}

static void enqueue(packet *made) {
  packet **at = &first;
  while (*at && (*at)->due <= made->due)
    at = &(*at)->next;
  made->next = *at;
  *at = made;
}

static void take_in(int from, int64_t delay_ns, int reordered) {
  for (packet *made; (made = unused) != NULL; enqueue(made)) {
    do
      made->bytes = read(hosts[from].fd, made->data, sizeof made->data);
    while (made->bytes >= 0 &&
           (made->bytes <= LAST_BYTE_OF_TARGET || made->data[0] >> 4 != 4 ||
            (made->to = made->data[LAST_BYTE_OF_TARGET] - 1) < 0 || made->to >= n_hosts));
    if (made->bytes < 0)
      return;
    unused = made->next;
    made->due = now_ns() + delay_ns * (rand() % 100 < reordered ? 2 : 1);
  }
}

static void hand_on(void) {
  while (first && first->due <= now_ns()) {
    packet *done = first;
    first = done->next;
    (void)!write(hosts[done->to].fd, done->data, (size_t)done->bytes);
    done->next = unused;
    unused = done;
  }
}

int main(int argc, char **argv) {
  if (argc < 4 || argc - 3 > MOST_HOSTS) {
    fprintf(stderr, "usage: delay DELAY-MS REORDERED-PERCENT HOST...\n");
    return 2;
  }
  int64_t delay_ns = atoi(argv[1]) * INT64_C(1000000);
  for (int i = 3; i < argc; i++)
    hosts[n_hosts++] = (struct pollfd){.fd = open_host(argv[i]), .events = POLLIN};
  for (int i = 0; i < MOST_PACKETS; i++)
    packets[i].next = i + 1 < MOST_PACKETS ? &packets[i + 1] : NULL;
  unused = packets;
  puts("ready");
  fflush(stdout);
  for (;;) {
    int64_t left = first ? first->due - now_ns() : INT64_C(1000000000);
    const struct timespec time = {.tv_sec = left > 0 ? left / 1000000000 : 0,
                                  .tv_nsec = left > 0 ? left % 1000000000 : 0};
    if (ppoll(hosts, (nfds_t)n_hosts, &time, NULL) < 0 && errno != EINTR)
      fail("poll", "all hosts");
    for (int i = 0; i < n_hosts; i++)
      take_in(i, delay_ns, atoi(argv[2]));
    hand_on();
  }
}
