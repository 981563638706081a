#define _GNU_SOURCE 1
#include "fake_stream.h"

#include <pthread.h>
#include <stdlib.h>
#include <time.h>

/* What no table of the tests has: name here, symbol, parameters. */
#define CALLS(X)                                                                                                               \
  X(event_await, "cuStreamWaitEvent", (cuda_stream stream, cuda_event event, unsigned flags))                                  \
  X(event_query, "cuEventQuery", (cuda_event event))                                                                           \
  X(capturing, "cuStreamIsCapturing", (cuda_stream stream, int *status))
#define EXPORT_STREAM(name, symbol, parameters) extern cuda_result stream_##name parameters __asm__(symbol) TPRT_API;
CALLS(EXPORT_STREAM)

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static pthread_cond_t changed = PTHREAD_COND_INITIALIZER;

/* What stands in a stream: a task, or a wait until another stream has done so many of its own. */
typedef struct entry {
  struct entry *next;
  fake_task task;
  cuda_stream of; /* a wait */
  long until;
} entry;

struct CUstream_st {
  struct CUstream_st *next; /* of all that ever were: events outlive streams */
  entry *head, **tail;
  long n_put, n_done;
  int kind; /* bit of FAKE_LATE */
  bool busy, destroyed;
  cuda_graph graph;    /* into which it is captured */
  long n_put_in_graph; /* its own share of the graph */
  long n_joined;       /* of these, what the first stream of the capture has waited for */
};

struct CUevent_st {
  cuda_stream stream; /* NULL: never recorded */
  long until;
  cuda_graph graph; /* recorded while that was captured */
  struct timespec at;
};

TPRT_API fake_streams_of_thread_fn fake_streams_of_thread;
__thread fake_stream_plan fake_streams;
fake_stream_plan *fake_streams_of_thread(void) { return &fake_streams; }

/* ---- Streams ---- */

static cuda_stream streams;
static __thread cuda_stream of_thread;

static cuda_stream make_stream(int kind) {
  cuda_stream made = calloc(1, sizeof *made);
  if (!made)
    abort();
  made->kind = kind;
  made->tail = &made->head;
  pthread_mutex_lock(&lock);
  made->next = streams;
  streams = made;
  pthread_mutex_unlock(&lock);
  return made;
}

static cuda_stream find(cuda_stream stream) {
  if (!stream && !of_thread)
    of_thread = make_stream(1);
  return stream ? stream : of_thread;
}

/* With the lock, which is given away while a task runs. Tasks of a stream run one after the other, by whatever threads. */
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

static cuda_result put(cuda_stream s, entry e) {
  const char *late = getenv("FAKE_LATE");
  entry *made = malloc(sizeof *made);
  if (!made)
    abort();
  *made = e;
  *s->tail = made;
  s->tail = &made->next;
  s->n_put++;
  return late && (atoi(late) & s->kind) ? CUDA_RESULT_SUCCESS : run_until(s, s->n_put);
}

cuda_result fake_finish(cuda_stream stream) {
  cuda_stream s = find(stream);
  pthread_mutex_lock(&lock);
  cuda_result result = s->graph || s->destroyed ? FAKE_INVALID_VALUE : run_until(s, s->n_put);
  pthread_mutex_unlock(&lock);
  return result;
}

cuda_result fake_stream_create(cuda_stream *stream, unsigned flags) {
  if (flags != CUDA_STREAM_NON_BLOCKING)
    return FAKE_INVALID_VALUE;
  *stream = make_stream(2);
  return fake_fails_at("stream");
}

cuda_result fake_stream_destroy(cuda_stream stream) {
  if (!stream || fake_finish(stream))
    return FAKE_INVALID_VALUE;
  stream->destroyed = true;
  return CUDA_RESULT_SUCCESS;
}

cuda_result fake_stream_synchronize(cuda_stream stream) {
  cuda_result result = fake_finish(stream);
  return result ? result : fake_fails_at("synchronize");
}

cuda_result stream_capturing(cuda_stream stream, int *status) {
  *status = find(stream)->graph ? 1 : CUDA_CAPTURE_NONE;
  return CUDA_RESULT_SUCCESS;
}

/* ---- Graphs: tasks in the order in which they were captured ---- */

enum { MOST_MEMBERS = 8 };

struct CUgraph_st {
  size_t n;
  fake_task *tasks;
  cuda_stream members[MOST_MEMBERS]; /* while it is captured; the first is where that began */
  int n_members;
};
struct CUgraphExec_st {
  struct CUgraph_st graph;
};

static bool join(cuda_stream s, cuda_graph graph) {
  if (graph->n_members == MOST_MEMBERS)
    return false;
  graph->members[graph->n_members++] = s;
  s->graph = graph;
  s->n_put_in_graph = s->n_joined = 0;
  return true;
}

cuda_result fake_capture_begin(cuda_stream stream, int mode) {
  cuda_stream s = find(stream);
  (void)mode;
  if (s->graph)
    return FAKE_INVALID_VALUE;
  cuda_graph graph = calloc(1, sizeof *graph);
  return graph && join(s, graph) ? CUDA_RESULT_SUCCESS : FAKE_INVALID_VALUE;
}

cuda_result fake_capture_end(cuda_stream stream, cuda_graph *graph) {
  cuda_graph captured = find(stream)->graph;
  cuda_result result = CUDA_RESULT_SUCCESS;
  if (!captured || captured->members[0] != find(stream))
    return FAKE_INVALID_VALUE;
  for (int i = 0; i < captured->n_members; i++) {
    cuda_stream member = captured->members[i];
    if (i > 0 && member->n_joined < member->n_put_in_graph)
      result = FAKE_UNJOINED;
    member->graph = NULL;
  }
  *graph = captured;
  if (result)
    fake_graph_destroy(captured);
  return result;
}

cuda_result fake_enqueue(cuda_stream stream, fake_task task) {
  cuda_stream s = find(stream);
  cuda_result result = CUDA_RESULT_SUCCESS;
  pthread_mutex_lock(&lock);
  if (s->graph) {
    cuda_graph graph = s->graph;
    graph->tasks = realloc(graph->tasks, (graph->n + 1) * sizeof task);
    if (!graph->tasks)
      abort();
    graph->tasks[graph->n++] = task;
    s->n_put_in_graph++;
  } else {
    result = put(s, (entry){.task = task});
  }
  pthread_mutex_unlock(&lock);
  return result;
}

cuda_result fake_instantiate(cuda_program *program, cuda_graph graph, unsigned long long flags) {
  (void)flags;
  *program = malloc(sizeof **program);
  (*program)->graph = *graph;
  *graph = (struct CUgraph_st){0};
  return CUDA_RESULT_SUCCESS;
}

static cuda_result run_graph(void *data) {
  const struct CUgraph_st *graph = data;
  cuda_result result = CUDA_RESULT_SUCCESS;
  for (size_t i = 0; i < graph->n && !result; i++)
    result = graph->tasks[i].run(graph->tasks[i].data);
  return result;
}

static void keep(void *data) { (void)data; }

cuda_result fake_replay(cuda_program program, cuda_stream stream) {
  return fake_enqueue(stream, (fake_task){.run = run_graph, .release = keep, .data = &program->graph});
}

static void free_tasks(cuda_graph graph) {
  for (size_t i = 0; i < graph->n; i++)
    (graph->tasks[i].release ? graph->tasks[i].release : free)(graph->tasks[i].data);
  free(graph->tasks);
}

cuda_result fake_program_destroy(cuda_program program) {
  free_tasks(&program->graph);
  free(program);
  return CUDA_RESULT_SUCCESS;
}

cuda_result fake_graph_destroy(cuda_graph graph) {
  free_tasks(graph);
  free(graph);
  return CUDA_RESULT_SUCCESS;
}

/* ---- Events ---- */

cuda_result fake_event_create(cuda_event *event, unsigned flags) {
  (void)flags;
  *event = calloc(1, sizeof **event);
  return fake_fails_at("event");
}

cuda_result fake_event_destroy(cuda_event event) {
  free(event);
  return event ? CUDA_RESULT_SUCCESS : FAKE_INVALID_VALUE;
}

cuda_result fake_event_record(cuda_event event, cuda_stream stream) {
  cuda_stream s = find(stream);
  if (!event || s->destroyed)
    return FAKE_INVALID_VALUE;
  pthread_mutex_lock(&lock);
  *event = (struct CUevent_st){.stream = s, .until = s->graph ? s->n_put_in_graph : s->n_put, .graph = s->graph};
  clock_gettime(CLOCK_MONOTONIC, &event->at);
  pthread_mutex_unlock(&lock);
  return fake_fails_at("record");
}

/* A stream that waits for what is being captured is captured, too; one that is may not wait for anything else. */
static cuda_result wait_in_capture(cuda_stream s, cuda_event event) {
  if (!event->graph || event->stream->graph != event->graph || (s->graph && s->graph != event->graph))
    return FAKE_ISOLATION;
  if (!s->graph && !join(s, event->graph))
    return FAKE_INVALID_VALUE;
  s->n_put_in_graph++;
  if (event->stream->n_joined < event->until)
    event->stream->n_joined = event->until;
  return CUDA_RESULT_SUCCESS;
}

cuda_result stream_event_await(cuda_stream stream, cuda_event event, unsigned flags) {
  cuda_stream s = find(stream);
  cuda_result result = CUDA_RESULT_SUCCESS;
  if (!event || flags || s->destroyed)
    return FAKE_INVALID_VALUE;
  if (++fake_streams.n_waits == fake_streams.lose_wait)
    return CUDA_RESULT_SUCCESS;
  pthread_mutex_lock(&lock);
  if (event->stream && (event->graph || s->graph))
    result = wait_in_capture(s, event);
  else if (event->stream)
    result = put(s, (entry){.of = event->stream, .until = event->until});
  pthread_mutex_unlock(&lock);
  return result ? result : fake_fails_at("wait");
}

static cuda_result finish_event(cuda_event event) {
  if (!event || event->graph)
    return FAKE_INVALID_VALUE;
  pthread_mutex_lock(&lock);
  cuda_result result = event->stream ? run_until(event->stream, event->until) : CUDA_RESULT_SUCCESS;
  pthread_mutex_unlock(&lock);
  return result;
}

cuda_result fake_event_wait(cuda_event event) { return finish_event(event); }

/* Who asks and asks again is not kept waiting. */
cuda_result stream_event_query(cuda_event event) { return finish_event(event); }

cuda_result fake_event_elapsed(float *ms, cuda_event from, cuda_event to) {
  *ms = (float)((double)(to->at.tv_sec - from->at.tv_sec) * 1e3 + (double)(to->at.tv_nsec - from->at.tv_nsec) * 1e-6);
  return CUDA_RESULT_SUCCESS;
}
