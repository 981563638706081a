/* The endpoint of backend fabric, for the files that call libfabric. */
#ifndef TPRT_RUNTIME_FABRIC_ENDPOINT_H
#define TPRT_RUNTIME_FABRIC_ENDPOINT_H

#include "backends/fabric/fabric.h"

#include <rdma/fabric.h>
#include <rdma/fi_cm.h>
#include <rdma/fi_domain.h>
#include <rdma/fi_endpoint.h>
#include <rdma/fi_errno.h>
#include <rdma/fi_tagged.h>

/* The functions that the library exports. All others are called through its objects. */
typedef struct fabric_library {
  int (*get_info)(uint32_t version, const char *node, const char *service, uint64_t flags,
                  const struct fi_info *hints, struct fi_info **info);
  void (*free_info)(struct fi_info *info);
  struct fi_info *(*copy_info)(const struct fi_info *info);
  int (*open_fabric)(struct fi_fabric_attr *attributes, struct fid_fabric **fabric, void *context);
  const char *(*error_text)(int code);
} fabric_library;

enum {
  FABRIC_TAG_BITS = 28, /* of the tags of messages; the rest of a tag is the secret of the world */
  FABRIC_FAREWELL_TAG = (1 << FABRIC_TAG_BITS) - 1,
};

typedef struct fabric_request fabric_request;
typedef struct fabric_list {
  fabric_request *first, *last;
} fabric_list;

/* A message to or from a far rank. Requests for other ranks are those of tcp, which have the same
 * first member, and are told apart by their peer. */
struct fabric_request {
  tcp_request base;           /* without its `next` and `done` */
  struct fi_context2 context; /* the library's, while it has the message */
  fabric_list *list;          /* the one of the endpoint that it is in; NULL: none */
  fabric_request *next, *previous;
  bool abandoned; /* nobody waits for it; it is freed when it leaves its list */
  int error;      /* of the library; 0: none */
  int64_t error_time;
};

typedef struct fabric_peer {
  bool is_far;
  bool departed;    /* it has sent its farewell */
  bool answered;    /* it has received that of this rank */
  bool ended;       /* nothing arrives any more */
  int64_t end_time; /* when its connection ended; 0: it has not */
  fi_addr_t address;
  fabric_request *farewell; /* the receive */
  /* receives and sends in the list `waiting`; and the last pass over it in which the library took
   * none of them */
  int n_waiting[2];
  uint64_t blocked[2];
} fabric_peer;

typedef struct fabric_endpoint {
  tcp_endpoint *near;
  const fabric_library *library;
  struct fi_info *info;
  struct fid_fabric *fabric;
  struct fid_domain *domain;
  struct fid_av *addresses;
  struct fid_cq *completions;
  struct fid_ep *endpoint;
  bool wakes;          /* the library's descriptor is one of those that near->wait waits for */
  uint64_t secret;     /* the upper bits of all tags */
  fabric_list taken;   /* requests that the library has */
  fabric_list waiting; /* those that it has not taken yet, oldest first */
  uint64_t pass;       /* number of passes over `waiting` */
  int64_t next_look;
  fabric_peer peers[];
} fabric_endpoint;

/* ---- fabric_library.c ---- */
/* Returns the loaded library. */
const fabric_library *tprt__fabric_library(void);
/* Fails with the text of an error of the library, a negative number. */
tprt_status tprt__fabric_fail(const char *what, long code);

/* ---- fabric_open.c ---- */
/* Closes the objects of the library that are open. */
void tprt__fabric_close_objects(fabric_endpoint *end);

/* ---- fabric_messages.c ---- */
/* Starts to receive the farewells. */
tprt_status tprt__fabric_begin(fabric_endpoint *end);

#endif
