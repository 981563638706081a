/* Hooks, the NaN check and hints. */
#include "comm/observe.h"

#include <stdio.h>
#include <string.h>

tprt__observer *tprt__observer_get(tprt_comm *comm) {
  tprt__observer *observer = atomic_load(&comm->observer), *none = NULL;
  if (observer)
    return observer;
  observer = tprt__alloc(sizeof *observer);
  if (!observer)
    return NULL;
  pthread_mutex_init(&observer->lock, NULL);
  if (atomic_compare_exchange_strong(&comm->observer, &none, observer))
    return observer;
  pthread_mutex_destroy(&observer->lock);
  tprt__free(observer);
  return none;
}

void tprt__observer_clear(tprt_comm *comm) {
  tprt__observer *observer = atomic_load(&comm->observer);
  if (!observer)
    return;
  pthread_mutex_destroy(&observer->lock);
  tprt__free(observer->ring);
  tprt__free(observer);
}

tprt_status tprt__observe_flight(tprt_comm *comm, size_t capacity) {
  if (!capacity && !atomic_load(&comm->observer))
    return TPRT_OK;
  tprt__observer *observer = tprt__observer_get(comm);
  return observer ? tprt__flight_resize(observer, capacity) : tprt__fail_memory(sizeof *observer);
}

tprt_status tprt__observe_nan_check(tprt_comm *comm, bool on) {
  if (on && comm->transport->host)
    return tprt__fail(TPRT_UNSUPPORTED,
                      "hint nan_check: the host cannot read the memory of backend %s",
                      comm->transport->backend->name);
  tprt__observer *observer = tprt__observer_get(comm);
  if (!observer)
    return tprt__fail_memory(sizeof *observer);
  observer->check_nan = on;
  return TPRT_OK;
}

static tprt_dtype dtype_of(const tprt__plan *plan) {
  return (tprt_dtype)(plan->signature[0] >> 32 & 0xffff);
}

static tprt_op_info describe(const tprt_comm *comm, const tprt__plan *plan) {
  int64_t bytes = plan->kind == TPRT_OP_RECV ? plan->recv_bytes : plan->send_bytes;
  for (int i = 0; plan->sends && i < plan->n_ranks; i++)
    bytes += plan->sends[i].bytes;
  return (tprt_op_info){.kind = plan->kind,
                        .dtype = dtype_of(plan),
                        .reduction = plan->reduction,
                        .sequence = comm->sequence,
                        .root = plan->root,
                        .peer = plan->peer,
                        .tag = plan->tag,
                        .bytes = bytes,
                        .timeout_ns =
                            plan->timeout_ns ? plan->timeout_ns : tprt__comm_timeout(comm),
                        .deterministic = plan->deterministic,
                        .stream = plan->stream};
}

/* ---- NaN check ---- */

/* Returns the index of the first element that is NaN; -1 if there is none. */
static int64_t find_nan(const tprt__plan *plan, const void *data, int64_t bytes) {
  enum { BLOCK = 256 };
  const tprt__dtype_info *type = plan->type;
  tprt_dtype t = dtype_of(plan);
  bool wide = t == TPRT_F64 || t == TPRT_C128;
  if (!data || (!type->widen && !wide && t != TPRT_F32 && t != TPRT_C64))
    return -1;
  int64_t size = type->widen ? (int64_t)type->size : wide ? 8 : 4, count = bytes / size;
  for (int64_t begin = 0; begin < count; begin += BLOCK) {
    size_t n = (size_t)tprt__min(BLOCK, count - begin);
    const char *from = (const char *)data + begin * size;
    union {
      float f[BLOCK];
      double d[BLOCK];
    } block;
    if (type->widen)
      type->widen(block.f, from, n);
    else
      memcpy(&block, from, n * (size_t)size);
    for (size_t i = 0; i < n; i++) {
      if (wide ? block.d[i] != block.d[i] : block.f[i] != block.f[i])
        return (begin + (int64_t)i) * size / (int64_t)type->size;
    }
  }
  return -1;
}

static tprt_status check_nan(const tprt_comm *comm, const tprt__plan *plan) {
  if (!(plan->traits & TPRT__DATA) || !tprt__plan_sends(plan))
    return TPRT_OK;
  int64_t at = plan->sends ? -1 : find_nan(plan, plan->send, plan->send_bytes);
  int piece = 0;
  for (int i = 0; plan->sends && i < plan->n_ranks && at < 0; i++) {
    at = find_nan(plan, plan->sends[i].at, plan->sends[i].bytes);
    piece = i;
  }
  if (at < 0)
    return TPRT_OK;
  char what[32] = "the tensor";
  if (plan->sends)
    snprintf(what, sizeof what, "piece %d", piece);
  return tprt__fail(TPRT_PROGRAM,
                    "nan_check: element %lld of %s of rank %d is NaN (operation %u, %s %s)",
                    (long long)at, what, comm->world_ranks[plan->rank], comm->sequence,
                    tprt_op_kind_name(plan->kind), plan->type->name);
}

/* ---- before and after operations ---- */

/* Enters an operation into the flight recorder. */
static void enter(tprt__observer *observer, const tprt_op_info *op, int64_t begin_ns) {
  pthread_mutex_lock(&observer->lock);
  if (observer->capacity) {
    observer->ring[observer->n_seen % observer->capacity] =
        (tprt__flight_entry){.op = *op, .status = TPRT_IN_PROGRESS, .begin_ns = begin_ns};
  }
  observer->n_seen++;
  pthread_mutex_unlock(&observer->lock);
}

tprt_status tprt__observe_begin(tprt_comm *comm, const tprt__plan *plans, size_t n,
                                tprt__observation *seen) {
  tprt__observer *observer = atomic_load(&comm->observer);
  tprt_status status = TPRT_OK;
  seen->comm = comm;
  seen->begin_ns = tprt__now();
  seen->first = observer->n_seen;
  seen->started = false;
  seen->n = n;
  seen->ops = n == 1 ? &seen->one : tprt__alloc(n * sizeof *seen->ops);
  if (!seen->ops) {
    seen->n = 0;
    return tprt__fail_memory(n * sizeof *seen->ops);
  }
  for (size_t i = 0; i < n; i++) {
    seen->ops[i] = describe(comm, &plans[i]);
    enter(observer, &seen->ops[i], seen->begin_ns);
    if (observer->hooks.pre)
      observer->hooks.pre(observer->hooks.user, comm, &seen->ops[i]);
    if (observer->check_nan && !status)
      status = check_nan(comm, &plans[i]);
  }
  seen->started = !status;
  for (size_t i = 0; i < n && !status && observer->hooks.start; i++)
    observer->hooks.start(observer->hooks.user, comm, &seen->ops[i]);
  return status;
}

void tprt__observe_post(const tprt__observation *seen, tprt_status status) {
  const tprt_hooks *hooks = &atomic_load(&seen->comm->observer)->hooks;
  int64_t ns = tprt__now() - seen->begin_ns;
  for (size_t i = 0; i < seen->n && hooks->post; i++)
    hooks->post(hooks->user, seen->comm, &seen->ops[i], status, ns);
}

void tprt__observe_end(const tprt__observation *seen, tprt_status status) {
  tprt__observer *observer = atomic_load(&seen->comm->observer);
  int64_t end = tprt__now();
  pthread_mutex_lock(&observer->lock);
  for (uint64_t at = seen->first; at < seen->first + seen->n; at++) {
    if (at < observer->kept_from || observer->n_seen - at > observer->capacity)
      continue; /* overwritten */
    tprt__flight_entry *entry = &observer->ring[at % observer->capacity];
    entry->status = status;
    entry->end_ns = end;
  }
  tprt_hooks hooks = observer->hooks;
  pthread_mutex_unlock(&observer->lock);
  for (size_t i = 0; i < seen->n && seen->started && hooks.end; i++)
    hooks.end(hooks.user, seen->comm, &seen->ops[i], status, end - seen->begin_ns);
}

void tprt__observe_clear(tprt__observation *seen) {
  if (seen->ops != &seen->one)
    tprt__free(seen->ops);
}

static tprt_hooks current_hooks(tprt__observer *observer) {
  pthread_mutex_lock(&observer->lock);
  tprt_hooks hooks = observer->hooks;
  pthread_mutex_unlock(&observer->lock);
  return hooks;
}

void tprt__observe_replay(tprt_comm *comm, uint64_t hash, uint64_t run) {
  tprt__observer *observer = atomic_load(&comm->observer);
  if (!observer)
    return;
  tprt_hooks hooks = current_hooks(observer);
  if (hooks.replay)
    hooks.replay(hooks.user, comm, hash, run);
}

void tprt__observe_failure(tprt_comm *comm, tprt_status status) {
  tprt__observer *observer = atomic_load(&comm->observer);
  if (!observer)
    return;
  tprt_hooks hooks = current_hooks(observer);
  if (hooks.abort && status == TPRT_ABORTED)
    hooks.abort(hooks.user, comm, comm->transport->backend->fault(comm->transport).rank);
  if (hooks.failed)
    hooks.failed(hooks.user, comm, status, comm->error);
  if (status != TPRT_INVALID_STATE) /* it was not finalized */
    tprt__flight_save(comm);
}

tprt_status tprt_comm_set_hooks(tprt_comm *comm, const tprt_hooks *hooks) {
  TPRT__NEED(comm);
  tprt_hooks own = {.size = sizeof own};
  tprt_status status = hooks ? tprt__struct_copy(&own, sizeof own, hooks, "tprt_hooks") : TPRT_OK;
  tprt__observer *observer = status ? NULL : tprt__observer_get(comm);
  if (!observer)
    return status ? status : tprt__fail_memory(sizeof *observer);
  tprt__lane_enter(comm);
  comm->transport->backend->settle(comm->transport);
  pthread_mutex_lock(&observer->lock);
  observer->hooks = own;
  pthread_mutex_unlock(&observer->lock);
  tprt__lane_leave(comm);
  return TPRT_OK;
}

/* ---- hints ---- */

tprt_status tprt_comm_set_hint(tprt_comm *comm, const char *key, const char *value) {
  TPRT__NEED(comm);
  TPRT__NEED(key);
  TPRT__NEED(value);
  tprt__hint hint;
  int64_t number;
  tprt_status status = tprt__hint_read(key, value, TPRT__HINT_LATER, &hint, &number);
  if (status)
    return status;
  tprt__lane_enter(comm);
  if (hint == TPRT__HINT_NAN_CHECK)
    status = tprt__observe_nan_check(comm, number);
  else if (hint == TPRT__HINT_FLIGHT)
    status = tprt__observe_flight(comm, (size_t)number);
  if (!status)
    atomic_store(&comm->hints[hint], number);
  tprt__lane_leave(comm);
  return status;
}
