/* Memory of the caller that NCCL moves without staging copies. A rank registers it for itself, or
 * all ranks register it as a window, which the kernels of all ranks can access. */
#include "backends/nccl/nccl.h"

/* The caller holds the lock. */
static void keep(nccl_transport *nccl, nccl_registration *made) {
  nccl_registration **first = tprt__nccl_registrations(nccl);
  made->next = *first;
  *first = made;
}

tprt_status tprt__nccl_register_memory(tprt__transport *transport, void *memory, uint64_t bytes,
                                       uint64_t *place) {
  nccl_transport *nccl = (nccl_transport *)transport;
  const nccl_library *library = nccl->library;
  if (!library->register_memory || !library->deregister_memory)
    return tprt__fail(TPRT_UNSUPPORTED,
                      "backend nccl: memory is registered from NCCL 2.19 on; this is %d.%d",
                      library->version / 10000, library->version / 100 % 100);
  tprt_status status = tprt__nccl_check_memory(nccl, "registration", "memory", memory);
  if (status)
    return status;
  nccl_registration *made = tprt__alloc(sizeof *made);
  if (!made)
    return tprt__fail_memory(sizeof *made);
  made->memory = memory;
  pthread_mutex_lock(&nccl->lock);
  status =
      nccl->comm
          ? tprt__nccl_check(library, nccl->comm,
                             library->register_memory(nccl->comm, memory, bytes, &made->handle),
                             "ncclCommRegister")
          : tprt__nccl_fail_ended();
  if (!status)
    keep(nccl, made);
  pthread_mutex_unlock(&nccl->lock);
  if (status)
    tprt__free(made);
  else
    *place = 0;
  return status;
}

/* ---- collective registration ---- */

/* Takes ownership of `made`. */
static tprt_status register_window(nccl_transport *nccl, void *memory, uint64_t bytes,
                                   nccl_registration *made, nccl_wait *wait) {
  const nccl_library *library = nccl->library;
  tprt_status status = tprt__nccl_enter_device(nccl);
  if (status) {
    tprt__free(made);
    return status;
  }
  pthread_mutex_lock(&nccl->lock);
  keep(nccl, made); /* NCCL may write the window until the call is complete or aborted */
  status = nccl->comm
               ? tprt__nccl_check(library, nccl->comm,
                                  library->register_window(nccl->comm, memory, bytes, &made->window,
                                                           NCCL_WINDOW_SYMMETRIC),
                                  "ncclCommWindowRegister")
               : tprt__nccl_fail_ended();
  pthread_mutex_unlock(&nccl->lock);
  if (!status)
    status = tprt__nccl_ready(nccl, wait);
  tprt__nccl_leave_device(nccl);
  return status;
}

/* Determines whether all ranks can register a window. Otherwise a rank that cannot would leave the
 * others waiting in NCCL. */
static tprt_status agree(nccl_transport *nccl, bool mine, bool *all_can, const nccl_wait *wait) {
  size_t n = (size_t)nccl->base.n_ranks;
  unsigned char own = mine, *all = tprt__alloc(n);
  if (!all)
    return tprt__fail_memory(n);
  tprt_status status = tprt__nccl_host_all_gather(nccl, &own, all, 1, wait->deadline);
  *all_can = !status;
  for (size_t i = 0; i < n; i++)
    *all_can &= all[i];
  tprt__free(all);
  return status;
}

tprt_status tprt__nccl_register_memory_all(tprt__transport *transport, void *memory, uint64_t bytes,
                                           int64_t deadline) {
  nccl_transport *nccl = (nccl_transport *)transport;
  const nccl_library *library = nccl->library;
  nccl_wait wait = {.deadline = deadline};
  bool has_windows = tprt__nccl_since(library, NCCL_SINCE_WINDOWS) && library->register_window &&
                     library->deregister_window;
  bool all_can = false;
  nccl_registration *made = tprt__alloc(sizeof *made);
  tprt_status status =
      made ? agree(nccl, has_windows && tprt__nccl_can_window(memory, bytes), &all_can, &wait)
           : tprt__fail_memory(sizeof *made);
  if (status || !all_can) {
    uint64_t unused;
    tprt__free(made);
    return status ? tprt__nccl_fail(nccl, status, &wait)
                  : tprt__nccl_register_memory(transport, memory, bytes, &unused);
  }
  made->memory = memory;
  made->is_window = true;
  status = register_window(nccl, memory, bytes, made, &wait);
  return status ? tprt__nccl_fail(nccl, status, &wait) : TPRT_OK;
}

/* ---- deregistration ---- */

/* The caller holds the lock. */
static tprt_status end(const nccl_transport *nccl, const nccl_registration *found) {
  const nccl_library *library = nccl->library;
  return found->is_window ? tprt__nccl_check(library, nccl->comm,
                                             library->deregister_window(nccl->comm, found->window),
                                             "ncclCommWindowDeregister")
                          : tprt__nccl_check(library, nccl->comm,
                                             library->deregister_memory(nccl->comm, found->handle),
                                             "ncclCommDeregister");
}

/* Removes a registration, with the lock held. If the communicator is ending, NCCL may still write
 * the window; then the end frees the registration. */
static tprt_status remove_at(nccl_transport *nccl, nccl_registration **at) {
  nccl_registration *found = *at;
  if (!nccl->comm)
    return TPRT_OK;
  *at = found->next;
  tprt_status status = end(nccl, found);
  tprt__free(found);
  return status;
}

tprt_status tprt__nccl_deregister_memory(tprt__transport *transport, void *memory) {
  nccl_transport *nccl = (nccl_transport *)transport;
  pthread_mutex_lock(&nccl->lock);
  nccl_registration **at = tprt__nccl_registrations(nccl);
  while (*at && (*at)->memory != memory)
    at = &(*at)->next;
  tprt_status status = *at ? remove_at(nccl, at)
                           : tprt__fail(TPRT_INVALID_ARGUMENT, "this memory is not registered");
  pthread_mutex_unlock(&nccl->lock);
  return status;
}

void tprt__nccl_deregister_all(nccl_transport *nccl) {
  pthread_mutex_lock(&nccl->lock);
  while (nccl->comm && *tprt__nccl_registrations(nccl))
    (void)remove_at(nccl, tprt__nccl_registrations(nccl));
  pthread_mutex_unlock(&nccl->lock);
}
