/* A backend as a plug-in: messages between the threads of one process, through queues. It is as
 * simple as a messenger can be, and all operations of libtprt run on it.
 *
 *     cc -std=c11 -shared -fPIC -o mailbox_backend.so mailbox_backend.c $(pkg-config --cflags
 *       --libs tprt)
 *     TPRT_BACKEND=$PWD/mailbox_backend.so ./sum
 *
 * where sum is the program of docs/runtime.md, or any other whose ranks are threads.
 * See tprt/messenger.h for what each function has to do. */
#include <tprt/messenger.h>

#include <pthread.h>
#include <stdlib.h>
#include <string.h>

/* A message in the office: it is there until its receiver takes it. */
typedef struct message {
  struct message *next;
  int from, to;
  uint32_t tag;
  size_t bytes;
  unsigned char data[];
} message;

typedef struct office {
  pthread_mutex_t lock;
  message *first, **last;
  int n_ends; /* not closed yet */
} office;

typedef struct end {
  office *office;
  int rank;
} end;

/* A receive; sends are done at once and have none of what follows `is_send`. */
typedef struct request {
  int is_send, from;
  uint32_t tag;
  size_t bytes;
  void *data;
} request;

static tprt_status open_threads(int n_ranks, void **ends, uint32_t *max_tag) {
  office *made = calloc(1, sizeof *made);
  int n_made = 0;
  for (; made && n_made < n_ranks; n_made++) {
    end *one = calloc(1, sizeof *one);
    if (!one)
      break;
    *one = (end){made, n_made};
    ends[n_made] = one;
  }
  if (!made || n_made < n_ranks) {
    while (n_made > 0)
      free(ends[--n_made]);
    free(made);
    return tprt_messenger_fail(TPRT_NO_MEMORY, "mailbox: no memory for a world");
  }
  pthread_mutex_init(&made->lock, NULL);
  made->last = &made->first;
  made->n_ends = n_ranks;
  *max_tag = UINT32_MAX;
  return TPRT_OK;
}

static tprt_status start_send(void *at, int peer, uint32_t tag, const void *data, size_t bytes,
                              void **result) {
  end *from = at;
  message *made = malloc(sizeof *made + bytes);
  request *done = calloc(1, sizeof *done);
  if (!made || !done) {
    free(made);
    free(done);
    return tprt_messenger_fail(TPRT_NO_MEMORY, "mailbox: no memory for a message");
  }
  *made = (message){NULL, from->rank, peer, tag, bytes};
  if (bytes)
    memcpy(made->data, data, bytes);
  done->is_send = 1;
  pthread_mutex_lock(&from->office->lock);
  *from->office->last = made;
  from->office->last = &made->next;
  pthread_mutex_unlock(&from->office->lock);
  *result = done;
  return TPRT_OK;
}

static tprt_status start_receive(void *at, int peer, uint32_t tag, void *data, size_t bytes,
                                 void **result) {
  (void)at;
  request *made = calloc(1, sizeof *made);
  if (!made)
    return tprt_messenger_fail(TPRT_NO_MEMORY, "mailbox: no memory for a request");
  *made = (request){0, peer, tag, bytes, data};
  *result = made;
  return TPRT_OK;
}

/* Takes the oldest message for this receive out of the office. */
static message *take(end *to, const request *wanted) {
  office *at_hand = to->office;
  message *found;
  pthread_mutex_lock(&at_hand->lock);
  message **at = &at_hand->first;
  while (*at && ((*at)->to != to->rank || (*at)->from != wanted->from || (*at)->tag != wanted->tag))
    at = &(*at)->next;
  found = *at;
  if (found) {
    *at = found->next;
    if (at_hand->last == &found->next)
      at_hand->last = at;
  }
  pthread_mutex_unlock(&at_hand->lock);
  return found;
}

static tprt_status test(void *at, void *asked) {
  request *r = asked;
  message *found = r->is_send ? NULL : take(at, r);
  if (!r->is_send && !found)
    return TPRT_IN_PROGRESS;
  tprt_status status = TPRT_OK;
  if (found && found->bytes != r->bytes)
    status = tprt_messenger_fail(TPRT_INTERNAL,
                                 "mailbox: a message is not as long as its receiver expects");
  else if (found && found->bytes)
    memcpy(r->data, found->data, found->bytes);
  free(found);
  free(r);
  return status;
}

static bool cancel(void *at, void *asked) {
  (void)at;
  free(asked);
  return true;
}

static bool ended(void *at, int peer) {
  (void)at;
  (void)peer;
  return false; /* threads do not end without their process */
}

static void close_end(void *at) {
  end *closed = at;
  office *left = closed->office;
  pthread_mutex_lock(&left->lock);
  int last = --left->n_ends == 0;
  pthread_mutex_unlock(&left->lock);
  free(closed);
  if (!last)
    return;
  while (left->first) {
    message *next = left->first->next;
    free(left->first);
    left->first = next;
  }
  pthread_mutex_destroy(&left->lock);
  free(left);
}

TPRT_API tprt_messenger_plugin_fn tprt_messenger_plugin;
const tprt_messenger *tprt_messenger_plugin(void) {
  static const tprt_messenger mailbox = {
      .size = sizeof mailbox,
      .abi = TPRT_MESSENGER_ABI,
      .name = "mailbox",
      .summary = "threads of one process, through queues of messages",
      .open_threads = open_threads,
      .send = start_send,
      .receive = start_receive,
      .test = test,
      .cancel = cancel,
      .ended = ended,
      .close = close_end,
  };
  return &mailbox;
}
