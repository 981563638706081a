/* libfabric with faults: passes everything on to the library of the system, but changes completions
 * of receives while the environment variable FAULTY_FABRIC is set. "size": another number of bytes
 * has arrived than did; "error": the message has failed. "busy": takes no messages to send. */
#define _GNU_SOURCE 1
#include <dlfcn.h>
#include <rdma/fabric.h>
#include <rdma/fi_domain.h>
#include <rdma/fi_endpoint.h>
#include <rdma/fi_eq.h>
#include <rdma/fi_errno.h>
#include <rdma/fi_tagged.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* The tables of functions of the objects, with those that are replaced. One object of each kind. */
static struct fi_ops_fabric of_fabric, *old_of_fabric;
static struct fi_ops_domain of_domain, *old_of_domain;
static struct fi_ops_cq of_queue, *old_of_queue;
static struct fi_ops_tagged of_endpoint, *old_of_endpoint;
static void *failed; /* the message that is said to have failed; NULL: none */

static void *find(const char *name) {
  static void *library;
  if (!library)
    library = dlopen("libfabric.so.1", RTLD_NOW | RTLD_LOCAL);
  void *symbol = library ? dlsym(library, name) : NULL;
  if (!symbol) {
    fprintf(stderr, "%s was not found in libfabric.so.1\n", name);
    abort();
  }
  return symbol;
}

#define CALL(name, ...) ((__typeof__(&name))find(#name))(__VA_ARGS__)

static bool has_fault(const char *name) {
  const char *fault = getenv("FAULTY_FABRIC");
  return fault && strcmp(fault, name) == 0;
}

static ssize_t read_one(struct fid_cq *queue, void *to, size_t count) {
  struct fi_cq_msg_entry *entry = to;
  ssize_t n = failed ? -FI_EAVAIL : old_of_queue->read(queue, to, count ? 1 : 0);
  if (n != 1 || !(entry->flags & FI_RECV))
    return n;
  if (has_fault("size"))
    entry->len++;
  if (!has_fault("error"))
    return n;
  failed = entry->op_context;
  return -FI_EAVAIL;
}

static ssize_t read_error(struct fid_cq *queue, struct fi_cq_err_entry *entry, uint64_t flags) {
  if (!failed)
    return old_of_queue->readerr(queue, entry, flags);
  *entry = (struct fi_cq_err_entry){.op_context = failed, .flags = FI_RECV, .err = FI_EIO};
  failed = NULL;
  return 1;
}

static int open_queue(struct fid_domain *domain, struct fi_cq_attr *wanted, struct fid_cq **queue,
                      void *context) {
  int code = old_of_domain->cq_open(domain, wanted, queue, context);
  if (code)
    return code;
  old_of_queue = (*queue)->ops;
  of_queue = *old_of_queue;
  of_queue.read = read_one;
  of_queue.readerr = read_error;
  (*queue)->ops = &of_queue;
  return 0;
}

static ssize_t send_tagged(struct fid_ep *endpoint, const void *data, size_t bytes, void *key,
                           fi_addr_t to, uint64_t tag, void *context) {
  return has_fault("busy") ? -FI_EAGAIN
                           : old_of_endpoint->send(endpoint, data, bytes, key, to, tag, context);
}

static int open_endpoint(struct fid_domain *domain, struct fi_info *info, struct fid_ep **endpoint,
                         void *context) {
  int code = old_of_domain->endpoint(domain, info, endpoint, context);
  if (code)
    return code;
  old_of_endpoint = (*endpoint)->tagged;
  of_endpoint = *old_of_endpoint;
  of_endpoint.send = send_tagged;
  (*endpoint)->tagged = &of_endpoint;
  return 0;
}

static int open_domain(struct fid_fabric *fabric, struct fi_info *info, struct fid_domain **domain,
                       void *context) {
  int code = old_of_fabric->domain(fabric, info, domain, context);
  if (code)
    return code;
  old_of_domain = (*domain)->ops;
  of_domain = *old_of_domain;
  of_domain.cq_open = open_queue;
  of_domain.endpoint = open_endpoint;
  (*domain)->ops = &of_domain;
  return 0;
}

#define EXPORT __attribute__((visibility("default")))

EXPORT int fi_fabric(struct fi_fabric_attr *attributes, struct fid_fabric **fabric, void *context) {
  int code = CALL(fi_fabric, attributes, fabric, context);
  if (code)
    return code;
  old_of_fabric = (*fabric)->ops;
  of_fabric = *old_of_fabric;
  of_fabric.domain = open_domain;
  (*fabric)->ops = &of_fabric;
  return 0;
}

EXPORT int fi_getinfo(uint32_t version, const char *node, const char *service, uint64_t flags,
                      const struct fi_info *hints, struct fi_info **info) {
  return CALL(fi_getinfo, version, node, service, flags, hints, info);
}

EXPORT void fi_freeinfo(struct fi_info *info) { CALL(fi_freeinfo, info); }

EXPORT struct fi_info *fi_dupinfo(const struct fi_info *info) { return CALL(fi_dupinfo, info); }

EXPORT const char *fi_strerror(int code) { return CALL(fi_strerror, code); }
