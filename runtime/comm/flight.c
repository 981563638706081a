/* The flight recorder: prints the last operations of a communicator as JSON or as a trace. */
#include "comm/observe.h"

#include <errno.h>
#include <inttypes.h>
#include <stdarg.h>
#include <stdatomic.h>
#include <stdio.h>
#include <string.h>
#include <sys/random.h>

tprt_status tprt__flight_resize(tprt__observer *observer, size_t capacity) {
  enum { MAX_CAPACITY = 1 << 20 };
  if (capacity > MAX_CAPACITY)
    return tprt__fail(TPRT_INVALID_ARGUMENT,
                      "invalid flight recorder size of %zu operations; at most %d are allowed",
                      capacity, MAX_CAPACITY);
  tprt__flight_entry *ring = capacity ? tprt__alloc(capacity * sizeof *ring) : NULL;
  if (capacity && !ring)
    return tprt__fail_memory(capacity * sizeof *ring);
  pthread_mutex_lock(&observer->lock);
  tprt__flight_entry *old = observer->ring;
  observer->ring = ring;
  observer->capacity = capacity;
  observer->kept_from = observer->n_seen;
  pthread_mutex_unlock(&observer->lock);
  tprt__free(old);
  return TPRT_OK;
}

typedef struct output {
  void (*write)(void *user, const char *text, size_t n);
  void *user;
} output;

static void print(const output *out, const char *format, ...) __attribute__((format(printf, 2, 3)));
static void print(const output *out, const char *format, ...) {
  char text[512];
  va_list arguments;
  va_start(arguments, format);
  int n = vsnprintf(text, sizeof text, format, arguments);
  va_end(arguments);
  out->write(out->user, text, n < (int)sizeof text ? (size_t)n : sizeof text - 1);
}

/* Prints a JSON string. */
static void print_string(const output *out, const char *text) {
  print(out, "\"");
  for (const unsigned char *at = (const unsigned char *)text; *at; at++) {
    if (*at < ' ' || *at == '"' || *at == '\\')
      print(out, "\\u%04x", *at);
    else
      print(out, "%c", *at);
  }
  print(out, "\"");
}

static void print_fields(const output *out, const tprt__flight_entry *entry) {
  const char *dtype = tprt_dtype_name(entry->op.dtype);
  print(out, "\"sequence\": %u, \"dtype\": \"%s\", \"reduction\": \"%s\", \"bytes\": %" PRId64,
        entry->op.sequence, dtype ? dtype : "none", tprt_reduction_name(entry->op.reduction),
        entry->op.bytes);
  if (entry->op.kind == TPRT_OP_SEND || entry->op.kind == TPRT_OP_RECV)
    print(out, ", \"peer\": %d, \"tag\": %d", entry->op.peer, entry->op.tag);
  print(out, ", \"timeout_ns\": %" PRId64, entry->op.timeout_ns);
  if (entry->op.deterministic)
    print(out, ", \"deterministic\": true");
  if (entry->op.stream)
    print(out, ", \"stream\": \"%p\"", entry->op.stream);
  print(out, ", \"status\": \"%s\"", tprt_status_name(entry->status));
}

/* Prints the configuration: the policy, and the hints that have a value, as they are given. */
static void print_config(const output *out, const tprt_comm *comm) {
  print(out, "\"config\": {\"on_failure\": \"%s\"", comm->aborts ? "abort" : "return");
  if (comm->stream)
    print(out, ", \"stream\": \"%p\"", comm->stream);
  print(out, ", \"hints\": {");
  for (int i = 0, n = 0; i < TPRT__N_HINTS; i++) {
    int64_t value = atomic_load(&comm->hints[i]);
    char text[32];
    if (value == TPRT__UNSET)
      continue;
    tprt__hint_print((tprt__hint)i, value, text, sizeof text);
    print(out, "%s\"%s\": \"%s\"", n++ ? ", " : "", tprt_hint_key((size_t)i, NULL, NULL), text);
  }
  print(out, "}}");
}

/* Prints the failure that all ranks know, if there is one: who caused it, and in which operation.
 * */
static void print_fault(const output *out, const tprt_comm *comm) {
  const tprt__fault fault = comm->transport->backend->fault(comm->transport);
  const char *kind = tprt_op_kind_name(fault.kind);
  if (!fault.status)
    return;
  print(out,
        "\"fault\": {\"status\": \"%s\", \"rank\": %d, \"sequence\": %u, \"kind\": \"%s\"},\n ",
        tprt_status_name(fault.status), fault.rank == TPRT__NO_RANK ? -1 : fault.rank,
        fault.sequence, kind ? kind : "none");
}

/* Returns a number that no other process has. */
static uint64_t process_number(void) {
  static _Atomic uint64_t number;
  uint64_t own = atomic_load(&number), drawn = 0;
  if (own || getentropy(&drawn, sizeof drawn) != 0)
    return own;
  return atomic_compare_exchange_strong(&number, &own, drawn) ? drawn : own;
}

static void write_json(const output *out, const tprt_comm *comm, const tprt__flight_entry *entries,
                       size_t n) {
  print(out, "{\"comm\": ");
  print_string(out, comm->name);
  print(out, ", \"rank\": %d, \"size\": %d, \"backend\": \"%s\", \"status\": \"%s\", \"error\": ",
        tprt_comm_rank(comm), tprt_comm_size(comm), tprt_comm_backend(comm),
        tprt_status_name(tprt_comm_status(comm)));
  print_string(out, tprt_comm_error(comm));
  print(out,
        ", \"world_rank\": %d, \"world\": \"%016" PRIx64 "\", \"process\": \"%016" PRIx64
        "\", \"time_ns\": %" PRId64 ",\n \"ranks\": [",
        comm->world_ranks[tprt_comm_rank(comm)], comm->world, process_number(), tprt__now());
  for (int i = 0; i < tprt_comm_size(comm); i++)
    print(out, "%s%d", i ? ", " : "", comm->world_ranks[i]);
  print(out, "],\n ");
  print_fault(out, comm);
  print_config(out, comm);
  print(out, ",\n \"ops\": [");
  for (size_t i = 0; i < n; i++) {
    print(out, "%s\n  {\"kind\": \"%s\", ", i ? "," : "", tprt_op_kind_name(entries[i].op.kind));
    print_fields(out, &entries[i]);
    print(out, ", \"begin_ns\": %" PRId64 ", \"end_ns\": %" PRId64 "}", entries[i].begin_ns,
          entries[i].end_ns);
  }
  print(out, "]}\n");
}

/* Prints complete events ("X") in microseconds; a running operation is a begin event ("B") without
 * an end. */
static void write_trace(const output *out, const tprt_comm *comm, const tprt__flight_entry *entries,
                        size_t n) {
  int rank = comm->world_ranks[tprt_comm_rank(comm)];
  print(out,
        "{\"displayTimeUnit\": \"ns\", \"traceEvents\": [\n  {\"ph\": \"M\", \"name\": "
        "\"thread_name\", \"pid\": 0, \"tid\": "
        "%d, \"args\": {\"name\": \"rank %d\"}}",
        rank, rank);
  for (size_t i = 0; i < n; i++) {
    const tprt__flight_entry *entry = &entries[i];
    bool ended = entry->status != TPRT_IN_PROGRESS;
    print(out, ",\n  {\"ph\": \"%s\", \"name\": \"%s\", \"cat\": ", ended ? "X" : "B",
          tprt_op_kind_name(entry->op.kind));
    print_string(out, *comm->name ? comm->name : "group");
    print(out, ", \"pid\": 0, \"tid\": %d, \"ts\": %" PRId64 ".%03d", rank, entry->begin_ns / 1000,
          (int)(entry->begin_ns % 1000));
    if (ended) {
      int64_t ns = entry->end_ns - entry->begin_ns;
      print(out, ", \"dur\": %" PRId64 ".%03d", ns / 1000, (int)(ns % 1000));
    }
    print(out, ", \"args\": {");
    print_fields(out, entry);
    print(out, "}}");
  }
  print(out, "]}\n");
}

tprt_status tprt_comm_flight(tprt_comm *comm, tprt_flight_format format,
                             void (*write)(void *user, const char *text, size_t n), void *user) {
  TPRT__NEED(comm);
  TPRT__NEED(write);
  static void (*const writers[])(const output *out, const tprt_comm *comm,
                                 const tprt__flight_entry *entries, size_t n) = {
      [TPRT_FLIGHT_JSON] = write_json, [TPRT_FLIGHT_TRACE] = write_trace};
  if ((size_t)format >= sizeof writers / sizeof *writers || !writers[format])
    return tprt__fail(TPRT_INVALID_ARGUMENT, "%d is not a format of the flight recorder",
                      (int)format);
  tprt__observer *observer = atomic_load(&comm->observer);
  if (!observer || !observer->capacity) {
    return tprt__fail(
        TPRT_INVALID_STATE,
        "the flight recorder is off; set the hint flight, or TPRT_FLIGHT, to the number of "
        "operations that it should keep");
  }
  /* Prints a copy, oldest first, so that `write` does not block the communicator. */
  pthread_mutex_lock(&observer->lock);
  size_t capacity = observer->capacity, n = (size_t)(observer->n_seen - observer->kept_from);
  n = n < capacity ? n : capacity;
  tprt__flight_entry *entries = tprt__alloc((n ? n : 1) * sizeof *entries);
  for (size_t i = 0; i < n && entries; i++)
    entries[i] = observer->ring[(observer->n_seen - n + i) % capacity];
  pthread_mutex_unlock(&observer->lock);
  if (!entries)
    return tprt__fail_memory(n * sizeof *entries);
  output out = {write, user};
  writers[format](&out, comm, entries, n);
  tprt__free(entries);
  return TPRT_OK;
}

/* ---- files ---- */

static void write_to_file(void *user, const char *text, size_t n) {
  (void)fwrite(text, 1, n, user);
}

/* Writes the file under another name first, so that readers never see a part of it. */
static bool save_as(tprt_comm *comm, const char *path) {
  char part[TPRT__PATH_BYTES + 80];
  snprintf(part, sizeof part, "%s.part", path);
  FILE *file = fopen(part, "we");
  if (!file)
    return false;
  bool ok = tprt_comm_flight(comm, TPRT_FLIGHT_JSON, write_to_file, file) == TPRT_OK;
  ok &= !ferror(file);
  ok &= fclose(file) == 0;
  if (ok && rename(part, path) == 0)
    return true;
  remove(part);
  return false;
}

void tprt__flight_save(tprt_comm *comm) {
  char path[TPRT__PATH_BYTES + 64], text[512];
  const tprt__observer *observer = atomic_load(&comm->observer);
  if (!*comm->flight_dir || !observer || !observer->capacity)
    return;
  snprintf(path, sizeof path, "%s/rank-%d-comm-%u.json", comm->flight_dir,
           comm->world_ranks[tprt_comm_rank(comm)], comm->number);
  snprintf(text, sizeof text, "%s", tprt_last_error());
  if (!save_as(comm, path))
    tprt__log("the flight recorder cannot be written to %s: %s", path, strerror(errno));
  tprt__fail(tprt_comm_status(comm), "%s", text); /* the text of the failure, for the caller */
}
