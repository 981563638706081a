/* Streams, events and graphs of the fake driver; see fake_stream.h. */
#define _GNU_SOURCE 1
#include "fake_stream.h"

#include <limits.h>
#include <pthread.h>
#include <stdatomic.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

/* Functions that no table of the tests has: name here, symbol, parameters. */
#define CALLS(X)                                                                                   \
  X(event_await, "cuStreamWaitEvent", (cuda_stream stream, cuda_event event, unsigned flags))      \
  X(event_query, "cuEventQuery", (cuda_event event))                                               \
  X(capturing, "cuStreamIsCapturing", (cuda_stream stream, int *status))
#define EXPORT_STREAM(name, symbol, parameters)                                                    \
  extern cuda_result stream_##name parameters __asm__(symbol) TPRT_API;
CALLS(EXPORT_STREAM)

/* Guards streams, events and captures: threads may make any calls at the same time, like those of
 * the driver. */
static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static pthread_cond_t changed = PTHREAD_COND_INITIALIZER;

/* An entry of a stream: a task, or a wait until another stream has completed a number of tasks. */
typedef struct entry {
  struct entry *next;
  fake_task task;
  cuda_stream of; /* a wait */
  long until;
} entry;

struct CUstream_st {
  struct CUstream_st *next; /* list of all streams ever created, because events outlive streams */
  entry *head, **tail;
  long n_put, n_done;
  int kind; /* bit of FAKE_LATE */
  int device;
  uint64_t number; /* creation number within its kind */
  bool busy, destroyed;
  cuda_graph graph;    /* the graph that captures it */
  int member;          /* its member of the graph */
  long n_put_in_graph; /* number of its entries in the graph */
};

struct CUevent_st {
  cuda_stream stream; /* NULL: never recorded */
  bool is_timed;
  long until;
  int n_queries;    /* since it was recorded */
  cuda_graph graph; /* the graph that was being captured at the record */
  double at;        /* ms */
};

/* What work adds to the clock of events, in ms. Looked up with dlsym as fake_pass_time. */
TPRT_API void fake_pass_time(double ms);
static double passed;

TPRT_API fake_streams_of_thread_fn fake_streams_of_thread;
__thread fake_stream_plan fake_streams;
fake_stream_plan *fake_streams_of_thread(void) { return &fake_streams; }

TPRT_API fake_waits_of_all_fn fake_waits_of_all;
static fake_wait_plan waits;
fake_wait_plan *fake_waits_of_all(void) { return &waits; }

/* ---- Streams ---- */

static cuda_stream streams;
static uint64_t n_made[3]; /* by kind */
static __thread cuda_stream of_thread;

static cuda_stream make_stream(int kind) {
  cuda_stream made = calloc(1, sizeof *made);
  if (!made)
    abort();
  made->kind = kind;
  made->device = fake_current_device();
  made->tail = &made->head;
  pthread_mutex_lock(&lock);
  made->next = streams;
  made->number = n_made[kind]++;
  streams = made;
  pthread_mutex_unlock(&lock);
  return made;
}

static cuda_stream find(cuda_stream stream) {
  if (!stream && !of_thread)
    of_thread = make_stream(1);
  return stream ? stream : of_thread;
}

/* Runs tasks of a stream. The lock is held, but released while a task runs. The tasks of a stream
 * run one after the other, in any threads. */
static cuda_result run_until(cuda_stream s, long until) {
  cuda_result result = CUDA_RESULT_SUCCESS;
  while (s->n_done < until) {
    if (s->busy) {
      pthread_cond_wait(&changed, &lock);
      continue;
    }
    entry *e = s->head;
    s->busy = true;
    cuda_result got = e->of ? run_until(e->of, e->until) : CUDA_RESULT_SUCCESS;
    if (!e->of) {
      pthread_mutex_unlock(&lock);
      got = e->task.run(e->task.data);
      (e->task.release ? e->task.release : free)(e->task.data);
      pthread_mutex_lock(&lock);
    }
    result = result ? result : got;
    s->head = e->next;
    if (!s->head)
      s->tail = &s->head;
    free(e);
    s->n_done++;
    s->busy = false;
    pthread_cond_broadcast(&changed);
  }
  return result;
}

/* Returns a random bit for a stream and a position in it (splitmix64). */
static bool draw(uint64_t number, uint64_t place) {
  uint64_t x = (number << 32 | place) + 0x9e3779b97f4a7c15u;
  x = (x ^ x >> 30) * 0xbf58476d1ce4e5b9u;
  x = (x ^ x >> 27) * 0x94d049bb133111ebu;
  return (x ^ x >> 31) & 1;
}

static bool is_late(const struct CUstream_st *s) {
  const char *late = getenv("FAKE_LATE"), *order = getenv("FAKE_ORDER");
  if (s->kind == 2 && order && *order) {
    char way = order[s->number % strlen(order)];
    return way == '?' ? draw(s->number, (uint64_t)s->n_put) : way == '1';
  }
  return late && atoi(late) & s->kind;
}

static void append(cuda_stream s, entry e) {
  entry *made = malloc(sizeof *made);
  if (!made)
    abort();
  *made = e;
  *s->tail = made;
  s->tail = &made->next;
  s->n_put++;
}

static cuda_result put(cuda_stream s, entry e) {
  append(s, e);
  return is_late(s) ? CUDA_RESULT_SUCCESS : run_until(s, s->n_put);
}

/* With the lock held. */
static cuda_result finish(cuda_stream s) {
  return s->graph || s->destroyed ? FAKE_INVALID_VALUE : run_until(s, s->n_put);
}

cuda_result fake_finish(cuda_stream stream) {
  cuda_stream s = find(stream);
  pthread_mutex_lock(&lock);
  cuda_result result = finish(s);
  pthread_mutex_unlock(&lock);
  return result;
}

void fake_finish_device(void) {
  pthread_mutex_lock(&lock);
  for (cuda_stream s = streams; s; s = s->next)
    if (s->device == fake_current_device())
      (void)run_until(s, s->n_put);
  pthread_mutex_unlock(&lock);
}

cuda_result fake_stream_create(cuda_stream *stream, unsigned flags) {
  if (flags != CUDA_STREAM_NON_BLOCKING)
    return FAKE_INVALID_VALUE;
  *stream = make_stream(2);
  return fake_fails_at("stream");
}

cuda_result fake_stream_destroy(cuda_stream stream) {
  if (!stream)
    return FAKE_INVALID_VALUE;
  pthread_mutex_lock(&lock);
  cuda_result result = finish(stream);
  stream->destroyed |= !result;
  pthread_mutex_unlock(&lock);
  return result ? FAKE_INVALID_VALUE : CUDA_RESULT_SUCCESS;
}

cuda_result fake_stream_synchronize(cuda_stream stream) {
  cuda_result result = fake_unsafe();
  if (!result)
    result = fake_finish(stream);
  return result ? result : fake_fails_at("synchronize");
}

cuda_result stream_capturing(cuda_stream stream, int *status) {
  const struct CUstream_st *s = find(stream);
  pthread_mutex_lock(&lock);
  *status = s->graph ? 1 : CUDA_CAPTURE_NONE;
  pthread_mutex_unlock(&lock);
  return CUDA_RESULT_SUCCESS;
}

/* ---- Graphs: captured entries, in capture order ---- */

enum { MOST_MEMBERS = 256 };

/* A task of a member, or its wait until another member has reached a position. */
typedef struct captured {
  int member, of;
  long until;
  fake_task task; /* run is NULL: a wait */
} captured;

struct CUgraph_st {
  bool broken; /* while it is captured */
  size_t n;
  captured *items;
  cuda_stream
      /* captured streams, the first is where the capture began; for a program its own streams, in
       * which it runs */
      members[MOST_MEMBERS];
  int n_members;
};
struct CUgraphExec_st {
  struct CUgraph_st graph;
};

static bool join(cuda_stream s, cuda_graph graph) {
  if (graph->n_members == MOST_MEMBERS)
    return false;
  s->member = graph->n_members;
  graph->members[graph->n_members++] = s;
  s->graph = graph;
  s->n_put_in_graph = 0;
  return true;
}

static void capture(cuda_stream s, captured item) {
  cuda_graph graph = s->graph;
  graph->items = realloc(graph->items, (graph->n + 1) * sizeof item);
  if (!graph->items)
    abort();
  item.member = s->member;
  graph->items[graph->n++] = item;
  s->n_put_in_graph++;
}

cuda_result fake_capture_begin(cuda_stream stream, int mode) {
  cuda_stream s = find(stream);
  cuda_graph graph = calloc(1, sizeof *graph);
  pthread_mutex_lock(&lock);
  bool begins = graph && !s->graph && !fake_fails_at("capture begin") && join(s, graph) &&
                fake_mode_begin(mode, &graph->broken);
  pthread_mutex_unlock(&lock);
  if (!begins)
    free(graph);
  return begins ? CUDA_RESULT_SUCCESS : FAKE_INVALID_VALUE;
}

/* Returns true if the first stream waits, directly or indirectly, for all tasks of all streams.
 * Waits refer to entries captured before them, so one pass from the end is enough. */
static bool is_joined(const struct CUgraph_st *graph) {
  long reached[MOST_MEMBERS] = {LONG_MAX}, at[MOST_MEMBERS];
  bool joined = true;
  for (int m = 0; m < graph->n_members; m++)
    at[m] = graph->members[m]->n_put_in_graph;
  for (size_t i = graph->n; i > 0; i--) {
    const captured *item = &graph->items[i - 1];
    bool counts = at[item->member]-- <= reached[item->member];
    if (item->task.run)
      joined &= counts;
    else if (counts && reached[item->of] < item->until)
      reached[item->of] = item->until;
  }
  return joined;
}

cuda_result fake_capture_end(cuda_stream stream, cuda_graph *graph) {
  const struct CUstream_st *s = find(stream);
  pthread_mutex_lock(&lock);
  cuda_graph ended = s->graph;
  if (!ended || ended->members[0] != s) {
    pthread_mutex_unlock(&lock);
    return FAKE_INVALID_VALUE;
  }
  fake_mode_end(&ended->broken);
  cuda_result result = ended->broken      ? FAKE_CAPTURE_INVALID
                       : is_joined(ended) ? fake_fails_at("capture end")
                                          : FAKE_UNJOINED;
  for (int i = 0; i < ended->n_members; i++)
    ended->members[i]->graph = NULL;
  pthread_mutex_unlock(&lock);
  *graph = result ? NULL : ended;
  if (result)
    fake_graph_destroy(ended);
  return result;
}

cuda_result fake_enqueue(cuda_stream stream, fake_task task) {
  cuda_stream s = find(stream);
  cuda_result result = CUDA_RESULT_SUCCESS;
  pthread_mutex_lock(&lock);
  if (s->graph)
    capture(s, (captured){.task = task});
  else
    result = put(s, (entry){.task = task});
  pthread_mutex_unlock(&lock);
  return result;
}

cuda_result fake_postpone(fake_task task) {
  cuda_stream s = find(NULL);
  pthread_mutex_lock(&lock);
  cuda_result result = s->graph ? FAKE_INVALID_VALUE : CUDA_RESULT_SUCCESS;
  if (!result)
    append(s, (entry){.task = task});
  pthread_mutex_unlock(&lock);
  return result;
}

cuda_result fake_instantiate(cuda_program *program, cuda_graph graph, unsigned long long flags) {
  (void)flags;
  if (fake_fails_at("instantiate"))
    return FAKE_OUT_OF_MEMORY;
  *program = malloc(sizeof **program);
  (*program)->graph = *graph;
  for (int m = 0; m < graph->n_members; m++)
    (*program)->graph.members[m] = make_stream(2);
  *graph = (struct CUgraph_st){0};
  return CUDA_RESULT_SUCCESS;
}

static void keep(void *data) { (void)data; }

/* Enqueues a graph, with the lock held. Captured entries are ordered only by captured waits, and
 * the whole graph by the stream. */
static cuda_result put_graph(const struct CUgraph_st *graph, cuda_stream stream) {
  long base[MOST_MEMBERS], begin = stream->n_put;
  cuda_result result = CUDA_RESULT_SUCCESS, got;
  for (int m = 0; m < graph->n_members; m++) {
    got = put(graph->members[m], (entry){.of = stream, .until = begin});
    result = result ? result : got;
    base[m] = graph->members[m]->n_put;
  }
  for (size_t i = 0; i < graph->n; i++) {
    const captured *item = &graph->items[i];
    entry e = {.task = {.run = item->task.run, .release = keep, .data = item->task.data}};
    if (!item->task.run)
      e = (entry){.of = graph->members[item->of], .until = base[item->of] + item->until};
    got = put(graph->members[item->member], e);
    result = result ? result : got;
  }
  for (int m = 0; m < graph->n_members; m++) {
    got = put(stream, (entry){.of = graph->members[m], .until = graph->members[m]->n_put});
    result = result ? result : got;
  }
  return result;
}

cuda_result fake_replay(cuda_program program, cuda_stream stream) {
  cuda_stream s = find(stream);
  if (fake_fails_at("graph launch"))
    return FAKE_LAUNCH_FAILED;
  pthread_mutex_lock(&lock);
  cuda_result result = s->graph ? FAKE_INVALID_VALUE : put_graph(&program->graph, s);
  pthread_mutex_unlock(&lock);
  fake_streams.n_replays += !result;
  return result;
}

static void free_items(cuda_graph graph) {
  for (size_t i = 0; i < graph->n; i++)
    if (graph->items[i].task.run)
      (graph->items[i].task.release ? graph->items[i].task.release
                                    : free)(graph->items[i].task.data);
  free(graph->items);
}

/* Completes its work in streams first. */
cuda_result fake_program_destroy(cuda_program program) {
  for (int m = 0; m < program->graph.n_members; m++)
    (void)fake_finish(program->graph.members[m]);
  free_items(&program->graph);
  free(program);
  return CUDA_RESULT_SUCCESS;
}

cuda_result fake_graph_destroy(cuda_graph graph) {
  free_items(graph);
  free(graph);
  return CUDA_RESULT_SUCCESS;
}

/* ---- Events ---- */

/* With the lock held. */
static double now(void) {
  struct timespec at;
  clock_gettime(CLOCK_MONOTONIC, &at);
  return (double)at.tv_sec * 1e3 + (double)at.tv_nsec * 1e-6 + passed;
}

void fake_pass_time(double ms) {
  pthread_mutex_lock(&lock);
  passed += ms;
  pthread_mutex_unlock(&lock);
}

cuda_result fake_event_create(cuda_event *event, unsigned flags) {
  *event = calloc(1, sizeof **event);
  if (*event)
    (*event)->is_timed = !(flags & CUDA_EVENT_DISABLE_TIMING);
  return fake_fails_at("event");
}

cuda_result fake_event_destroy(cuda_event event) {
  free(event);
  return event ? CUDA_RESULT_SUCCESS : FAKE_INVALID_VALUE;
}

cuda_result fake_event_record(cuda_event event, cuda_stream stream) {
  cuda_stream s = find(stream);
  if (!event)
    return FAKE_INVALID_VALUE;
  pthread_mutex_lock(&lock);
  cuda_result result = s->destroyed ? FAKE_INVALID_VALUE : fake_fails_at("record");
  if (!s->destroyed) {
    *event = (struct CUevent_st){.stream = s,
                                 .is_timed = event->is_timed,
                                 .until = s->graph ? s->n_put_in_graph : s->n_put,
                                 .graph = s->graph};
    event->at = now();
  }
  pthread_mutex_unlock(&lock);
  return result;
}

/* A stream that waits for an event of a capture joins the capture; a captured stream must not wait
 * for anything else. */
static cuda_result wait_in_capture(cuda_stream s, cuda_event event) {
  if (!event->graph || event->stream->graph != event->graph ||
      (s->graph && s->graph != event->graph))
    return FAKE_ISOLATION;
  if (!s->graph && !join(s, event->graph))
    return FAKE_INVALID_VALUE;
  capture(s, (captured){.of = event->stream->member, .until = event->until});
  return CUDA_RESULT_SUCCESS;
}

cuda_result stream_event_await(cuda_stream stream, cuda_event event, unsigned flags) {
  cuda_stream s = find(stream);
  cuda_result result = CUDA_RESULT_SUCCESS;
  if (!event || flags)
    return FAKE_INVALID_VALUE;
  if (++fake_streams.n_waits == fake_streams.lose_wait ||
      atomic_fetch_add(&waits.n, 1) + 1 == atomic_load(&waits.lose))
    return CUDA_RESULT_SUCCESS;
  pthread_mutex_lock(&lock);
  if (s->destroyed)
    result = FAKE_INVALID_VALUE;
  else if (event->stream && (event->graph || s->graph))
    result = wait_in_capture(s, event);
  else if (event->stream)
    result = put(s, (entry){.of = event->stream, .until = event->until});
  pthread_mutex_unlock(&lock);
  return result ? result : fake_fails_at("wait");
}

/* With the lock held. */
static cuda_result finish_event(cuda_event event) {
  if (event->graph)
    return FAKE_INVALID_VALUE;
  return event->stream ? run_until(event->stream, event->until) : CUDA_RESULT_SUCCESS;
}

cuda_result fake_event_wait(cuda_event event) {
  cuda_result result = fake_unsafe();
  if (result || !event)
    return result ? result : FAKE_INVALID_VALUE;
  pthread_mutex_lock(&lock);
  result = finish_event(event);
  pthread_mutex_unlock(&lock);
  return result;
}

/* An event that has not been reached is completed after some queries, so that polling ends. */
cuda_result stream_event_query(cuda_event event) {
  enum { MOST_QUERIES = 3 };
  cuda_result result = fake_unsafe();
  if (result || !event)
    return result ? result : FAKE_INVALID_VALUE;
  pthread_mutex_lock(&lock);
  bool is_waiting = !event->graph && event->stream && event->stream->n_done < event->until;
  result =
      is_waiting && event->n_queries++ < MOST_QUERIES ? CUDA_RESULT_NOT_READY : finish_event(event);
  pthread_mutex_unlock(&lock);
  return result;
}

cuda_result fake_event_elapsed(float *ms, cuda_event from, cuda_event to) {
  if (!from->stream || !to->stream || !from->is_timed || !to->is_timed)
    return FAKE_INVALID_VALUE;
  *ms = (float)(to->at - from->at);
  return CUDA_RESULT_SUCCESS;
}
