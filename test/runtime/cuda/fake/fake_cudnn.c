/* A fake libcudnn. It checks descriptors, attributes and calls, and computes a graph on the host,
 * when the fake driver reaches the call in the stream. Any thread; one call at a time. */
#define _GNU_SOURCE 1
#include "fake_cudnn_inside.h"

#include <dlfcn.h>
#include <pthread.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

struct cudnnContext {
  cuda_stream stream;
};

extern const char *dnn_text(cudnn_status status) __asm__("cudnnGetErrorString") TPRT_API;
extern void dnn_reason(char *message, size_t n) __asm__("cudnnGetLastErrorString") TPRT_API;
extern size_t dnn_version(void) __asm__("cudnnGetVersion") TPRT_API;
extern TPRT_API fake_cudnn_begin_fn fake_cudnn_begin;
extern TPRT_API fake_cudnn_look_fn fake_cudnn_look;

fake_cudnn_plan fake_cudnn_planned;
fake_cudnn_report fake_cudnn_state;
static __thread char last_reason[128];
static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;

void fake_cudnn_begin(const fake_cudnn_plan *next) {
  long alive = fake_cudnn_state.n_alive;
  fake_cudnn_planned = *next;
  fake_cudnn_state = (fake_cudnn_report){.n_alive = alive};
}

void fake_cudnn_look(fake_cudnn_report *report) { *report = fake_cudnn_state; }

void fake_cudnn_lock(void) { pthread_mutex_lock(&lock); }

void fake_cudnn_unlock(const int *entered) {
  (void)entered;
  pthread_mutex_unlock(&lock);
}

cudnn_status fake_cudnn_called(const char *name) {
  if (++fake_cudnn_state.n_calls != fake_cudnn_planned.fail_at)
    return DNN_SUCCESS;
  snprintf(fake_cudnn_state.failed, sizeof fake_cudnn_state.failed, "%s", name);
  snprintf(last_reason, sizeof last_reason, "injected");
  return fake_cudnn_planned.status;
}

cudnn_status fake_cudnn_violation(const char *format, ...) {
  va_list arguments;
  va_start(arguments, format);
  vsnprintf(last_reason, sizeof last_reason, format, arguments);
  if (fake_cudnn_state.n_violations++ == 0)
    snprintf(fake_cudnn_state.violation, sizeof fake_cudnn_state.violation, "%s", last_reason);
  va_end(arguments);
  return DNN_BAD_PARAMETER;
}

cudnn_status fake_cudnn_refuse(const char *why) {
  snprintf(last_reason, sizeof last_reason, "%s", why);
  return DNN_NOT_SUPPORTED;
}

const char *dnn_text(cudnn_status status) {
  return status == DNN_NOT_SUPPORTED   ? "not supported"
         : status == DNN_BAD_PARAMETER ? "a bad parameter"
                                       : "made up";
}

void dnn_reason(char *message, size_t n) { snprintf(message, n, "%s", last_reason); }

size_t dnn_version(void) { return fake_cudnn_planned.version ? fake_cudnn_planned.version : 91900; }

/* ---- handles and runs ---- */

/* Finds a function of the fake driver. `to` is a pointer to a function pointer. */
static bool find_in_driver(const char *name, void *to) {
  void *driver = dlopen(getenv("TPRT_CUDA_LIBRARY"), RTLD_NOW | RTLD_LOCAL),
       *found = driver ? dlsym(driver, name) : NULL;
  memcpy(to, &found, sizeof found);
  return found;
}

static bool has_context(void) {
  void *context = NULL;
  cuda_result (*current)(void **context);
  return find_in_driver("cuCtxGetCurrent", &current) && !current(&context) && context;
}

typedef struct job {
  struct job *next;
  cudnn_handle handle;
  double ms;
  fake_run run;
} job;

/* Jobs in streams or graphs live until their handle is destroyed. */
static job *jobs;

cudnn_status dnn_create(cudnn_handle *handle) {
  ENTER("cudnnCreate");
  if (!has_context())
    return fake_cudnn_violation("a handle without a current context");
  *handle = calloc(1, sizeof **handle);
  if (!*handle)
    abort();
  fake_cudnn_state.n_alive++;
  return DNN_SUCCESS;
}

cudnn_status dnn_destroy(cudnn_handle handle) {
  HOLD;
  for (job **at = &jobs; *at;) {
    job *found = *at;
    if (found->handle == handle) {
      *at = found->next;
      free(found);
    } else {
      at = &found->next;
    }
  }
  free(handle);
  fake_cudnn_state.n_alive--;
  return fake_cudnn_called("cudnnDestroy");
}

cudnn_status dnn_set_stream(cudnn_handle handle, cuda_stream stream) {
  ENTER("cudnnSetStream");
  handle->stream = stream;
  return DNN_SUCCESS;
}

static void run_job(void *data) {
  const job *w = data;
  void (*pass)(double ms);
  if (find_in_driver("fake_pass_time", &pass))
    pass(w->ms);
  fake_graph_compute(&w->run);
}

/* Finds the memory or the value of a tensor of the graph. */
static cudnn_status place(fake_run *run, int i, const fake_descriptor *pack) {
  const fake_attribute *ids = fake_cudnn_find(pack, DNN_PACK_IDS),
                       *at = fake_cudnn_find(pack, DNN_PACK_POINTERS);
  const fake_tensor *t = &run->graph.tensors[i];
  int64_t found = -1;
  for (int64_t j = 0; j < ids->n; j++)
    if (((const int64_t *)ids->elements)[j] == t->id)
      found = j;
  if (t->is_virtual || found < 0)
    return t->is_virtual && found < 0
               ? DNN_SUCCESS
               : fake_cudnn_violation("address of tensor %lld", (long long)t->id);
  run->at[i] = ((void *const *)at->elements)[found];
  if (!run->at[i] || (!t->is_value && (uintptr_t)run->at[i] % (uintptr_t)t->alignment))
    return fake_cudnn_violation("alignment of tensor %lld", (long long)t->id);
  if (t->is_value)
    memcpy(run->value[i], run->at[i], sizeof run->value[i]);
  return DNN_SUCCESS;
}

/* Checks a call and stores its job. */
static cudnn_status keep_job(cudnn_handle handle, const fake_descriptor *d,
                             const fake_descriptor *pack, job **kept) {
  ENTER("cudnnBackendExecute");
  if (!has_context() || !d->is_final || d->type != DNN_PLAN || !pack->is_final ||
      pack->type != DNN_VARIANT_PACK ||
      ((cudnn_handle *)fake_cudnn_find(d, DNN_PLAN_HANDLE)->elements)[0] != handle)
    return fake_cudnn_violation("an attention without context, plan, pack, or by another handle");
  const fake_attribute *workspace = fake_cudnn_find(pack, DNN_PACK_WORKSPACE);
  if (fake_cudnn_planned.workspace && (!workspace || !((void **)workspace->elements)[0]))
    return fake_cudnn_violation("a workspace");
  job *w = calloc(1, sizeof *w);
  if (!w)
    abort();
  *w = (job){.handle = handle, .ms = fake_cudnn_planned.ms > 0 ? fake_cudnn_planned.ms : 1};
  w->run.graph = fake_cudnn_graph_of(d->graph);
  cudnn_status status = DNN_SUCCESS;
  for (int i = 0; i < w->run.graph.n_tensors && !status; i++)
    status = place(&w->run, i, pack);
  w->next = jobs;
  jobs = *kept = w;
  fake_cudnn_state.n_runs++;
  fake_cudnn_state.n_by[d->engine]++;
  return status;
}

/* Enqueues in the fake driver, which knows whether the stream is being captured. Does not hold the
 * lock, because the stream may first have to run work that waits for other ranks. */
cudnn_status dnn_execute(cudnn_handle handle, cudnn_descriptor of_plan, cudnn_descriptor pack) {
  job *w = NULL;
  cuda_result (*host_call)(cuda_stream, void (*)(void *), void *) = NULL;
  cudnn_status status = keep_job(handle, of_plan, pack, &w);
  if (status)
    return status;
  if (find_in_driver("cuLaunchHostFunc", &host_call) &&
      host_call(handle->stream, run_job, w) == CUDA_RESULT_SUCCESS)
    return DNN_SUCCESS;
  HOLD;
  return fake_cudnn_violation("the stream takes an attention");
}
