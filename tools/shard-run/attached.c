/* Runs on ranks that another launcher started: mpirun, torchrun, srun, shard-run -n. Every process
 * is this program with the same arguments. Rank 0 does the work of shard-run; the other ranks wait
 * for its orders, which it sends through the world of all ranks. Programs for GPUs may run in
 * another world, whose backend takes no host memory.
 *
 * - Rank 0 sends the order and the object, then to each rank its sizes and arguments.
 * - The program runs in its own communicator, so that a failure leaves the world intact.
 * - Each rank sends its result, its sites and its outputs to rank 0. For a trace it also sends its
 *   calls, and the two compare clocks.
 * - Ranks wait for rank 0 as long as it plans and compiles, then as long as --timeout says, and
 *   seconds after the program has failed.
 *
 * Rank 0 ends the other ranks with its own exit code.
 *
 * If a rank ends whose launcher starts spares, all others go into the next epoch of the world, in
 * which a spare has its place, and rank 0 sends its order again. A spare that becomes rank 0 begins
 * with the work of shard-run. */
#include "run.h"

#include <stdlib.h>
#include <string.h>

enum { MAX_FUNCTION = 256 };

typedef struct order {
  int32_t run; /* 0: the last order */
  int32_t code;
  int32_t n_inputs, n_outputs, n_sites, repeat, trace, graph;
  int64_t object_bytes;
  double timeout;
  char function[MAX_FUNCTION];
} order;

/* A rank's reply, before its sites and outputs. */
typedef struct answer {
  int32_t status;
  double seconds;
  int64_t n_seen, begin_ns, end_ns;
  char error[512];
} answer;

/* Longer than rank 0 may plan and compile. The others notice at once if it dies. */
static const int64_t planning_ns = INT64_C(1000000000000000);

static bool notify_all(const attachment *ranks, void *data, int64_t bytes) {
  return attached_move(ranks, tprt_op_flat(TPRT_OP_BROADCAST, data, data, bytes, TPRT_U8, NULL));
}

static bool to(const attachment *ranks, int rank, const void *data, int64_t bytes) {
  return attached_move(ranks, tprt_op_send(data, bytes, TPRT_U8, rank, 0));
}

static bool from(const attachment *ranks, int rank, void *data, int64_t bytes) {
  return attached_move(ranks, tprt_op_recv(data, bytes, TPRT_U8, rank, 0));
}

static bool receive_order(const attachment *ranks, order *o) {
  tprt_op op = tprt_op_flat(TPRT_OP_BROADCAST, o, o, sizeof *o, TPRT_U8, NULL);
  op.timeout_ns = planning_ns;
  return attached_move(ranks, op);
}

/* ---- The program, on one rank ---- */

static void run_in_group(attachment *ranks, const order *o, tp_entry entry, bool on_gpu,
                         const array *inputs, array *outputs, rank_result *result) {
  tprt_comm *group;
  char timeout[32];
  result->status = tprt_comm_split(on_gpu ? ranks->programs : ranks->world, 0, 0, &group);
  if (result->status) {
    ranks->has_failed = true;
    snprintf(result->error, sizeof result->error,
             "cannot create a communicator for the program: %s", tprt_last_error());
    return;
  }
  snprintf(timeout, sizeof timeout, "%.9f", o->timeout);
  if (o->timeout > 0)
    (void)tprt_comm_set_hint(group, "timeout", timeout);
  if (entry) {
    rank_work w = {.entry = entry,
                   .on_gpu = on_gpu,
                   .graph = o->graph && on_gpu,
                   .n_inputs = o->n_inputs,
                   .n_outputs = o->n_outputs,
                   .n_sites = o->n_sites,
                   .repeat = o->repeat,
                   .inputs = inputs,
                   .outputs = outputs};
    run_rank(group, &w, result);
  } else { /* the program could not be loaded here */
    result->status = TPRT_SYSTEM;
    snprintf(result->error, sizeof result->error, "the object cannot be loaded");
    (void)tprt_comm_abort(group);
  }
  ranks->has_failed = result->status != TPRT_OK;
  tprt_comm_destroy(group);
}

/* ---- Clocks ---- */

enum { EXCHANGES = 16, CLOCK_ID = 256 };

/* Appends the contents of a file; nothing if it cannot be read. */
static void append_file(const char *path, char id[CLOCK_ID]) {
  size_t used = strlen(id);
  FILE *file = fopen(path, "r");
  if (!file)
    return;
  id[used + fread(id + used, 1, CLOCK_ID - 1 - used, file)] = '\0';
  fclose(file);
}

/* What identifies a clock of CLOCK_MONOTONIC: the start of the host, and the offset of the time
 * namespace. "" if unknown. */
static void clock_id(char id[CLOCK_ID]) {
  memset(id, 0, CLOCK_ID);
  append_file("/proc/sys/kernel/random/boot_id", id);
  if (*id)
    append_file("/proc/self/timens_offsets", id);
}

static int64_t now_ns(void) { return (int64_t)(cli_seconds() * 1e9); }

/* The side of ranks 1 and up. */
static bool tell_clock(const attachment *ranks) {
  char id[CLOCK_ID];
  int64_t asked, now;
  clock_id(id);
  bool ok = to(ranks, 0, id, CLOCK_ID);
  for (int i = 0; i < EXCHANGES && ok; i++) {
    ok = from(ranks, 0, &asked, sizeof asked);
    now = now_ns();
    ok = ok && to(ranks, 0, &now, sizeof now);
  }
  return ok;
}

/* Measures the difference between the clock of a rank and that of rank 0 by several exchanges of
 * messages, and keeps the quickest. The error is at most half of its duration. Ranks of one host
 * share a clock. */
static bool ask_clock(const attachment *ranks, int rank, rank_result *result) {
  char own[CLOCK_ID], theirs[CLOCK_ID];
  clock_id(own);
  bool ok = from(ranks, rank, theirs, CLOCK_ID);
  int64_t best = INT64_MAX, told;
  for (int i = 0; i < EXCHANGES && ok; i++) {
    int64_t begin = now_ns();
    ok = to(ranks, rank, &begin, sizeof begin) && from(ranks, rank, &told, sizeof told);
    int64_t took = now_ns() - begin;
    if (!ok || took >= best)
      continue;
    best = took;
    result->clock_offset_ns = told - (begin + took / 2);
    result->clock_error_ns = took / 2 + 1;
  }
  if (own[0] && memcmp(own, theirs, CLOCK_ID) == 0)
    result->clock_offset_ns = result->clock_error_ns = 0;
  return ok;
}

static int64_t kept_bytes(const rank_result *result) {
  int64_t n = result->n_seen < MAX_TRACED_CALLS ? result->n_seen : MAX_TRACED_CALLS;
  return n * (int64_t)sizeof *result->calls;
}

/* ---- Ranks 1 and up ---- */

/* Allocates arguments and results, as bytes, with the sizes from rank 0. */
static array *make_arrays(const int64_t *sizes, int n) {
  array *arrays = calloc((size_t)n + 1, sizeof *arrays);
  for (int i = 0; arrays && i < n; i++) {
    if (array_create(arrays + i, element_find("i8"), 1, sizes + i))
      continue;
    arrays_clear(arrays, i);
    return NULL;
  }
  return arrays;
}

/* Of a program that failed there is only the answer. */
static bool send_results(const attachment *ranks, const order *o, const int64_t *sizes,
                         const rank_result *result, const array *outputs) {
  answer said = {.status = (int32_t)result->status,
                 .seconds = result->seconds,
                 .n_seen = result->n_seen,
                 .begin_ns = result->begin_ns,
                 .end_ns = result->end_ns};
  memcpy(said.error, result->error, sizeof said.error);
  bool ok = to(ranks, 0, &said, sizeof said);
  if (!ok || result->status)
    return ok;
  ok = to(ranks, 0, result->sites, o->n_sites * (int64_t)sizeof *result->sites);
  for (int i = 0; i < o->n_outputs && ok; i++)
    ok = to(ranks, 0, outputs[i].data, sizes[o->n_inputs + i]);
  if (ok && o->trace)
    ok = to(ranks, 0, result->calls, kept_bytes(result)) && tell_clock(ranks);
  return ok;
}

/* Says how the program failed here, if rank 0 does not answer, which would say it. */
static void say_failure(const attachment *ranks, const rank_result *result) {
  if (ranks->has_failed && tprt_comm_status(ranks->world) == TPRT_TIMEOUT)
    complain("rank %d failed: %s", tprt_comm_rank(ranks->world), result->error);
}

static bool obey_with_data(attachment *ranks, const order *o, tp_entry entry, bool on_gpu,
                           const int64_t *sizes, array *data, rank_result *result) {
  *result = (rank_result){.sites = calloc((size_t)o->n_sites + 1, sizeof *result->sites)};
  if (o->trace)
    result->calls = calloc(MAX_TRACED_CALLS, sizeof *result->calls);
  bool ok = result->sites && (!o->trace || result->calls);
  for (int i = 0; i < o->n_inputs && ok; i++)
    ok = from(ranks, 0, data[i].data, sizes[i]);
  if (ok)
    run_in_group(ranks, o, entry, on_gpu, data, data + o->n_inputs, result);
  ok = ok && send_results(ranks, o, sizes, result, data + o->n_inputs);
  free(result->sites);
  free(result->calls);
  return ok;
}

static bool obey_order(attachment *ranks, const order *o, rank_result *result) {
  char why[400];
  tp_program *program = NULL;
  tp_entry entry = NULL;
  const int64_t *table;
  bool on_gpu = false;
  int n = o->n_inputs + o->n_outputs;
  void *object = malloc((size_t)o->object_bytes);
  int64_t *sizes = calloc((size_t)n + 1, sizeof *sizes);
  bool ok = object && sizes && notify_all(ranks, object, o->object_bytes) &&
            from(ranks, 0, sizes, n * (int64_t)sizeof *sizes);
  array *data = ok ? make_arrays(sizes, n) : NULL;
  if (ok && tp_program_load(object, (size_t)o->object_bytes, why, sizeof why, &program) == TP_OK &&
      tp_program_find(program, o->function, &entry, &table) == TP_OK)
    on_gpu = table[16] == TPRT_TARGET_CUDA;
  ok = ok && data && obey_with_data(ranks, o, entry, on_gpu, sizes, data, result);
  if (program)
    tp_program_unload(program);
  arrays_clear(data, n);
  free(sizes);
  free(object);
  return ok;
}

int attached_obey(attachment *ranks) {
  order o;
  rank_result result = {.status = TPRT_OK};
  do {
    while (receive_order(ranks, &o)) {
      if (!o.run)
        return o.code;
      if (!obey_order(ranks, &o, &result))
        break;
    }
    say_failure(ranks, &result);
  } while (attached_recover(ranks));
  return EXIT_FAILED;
}

/* ---- Rank 0 ---- */

static bool send_work(const attachment *ranks, const launch *l, int rank) {
  int n = l->n_inputs + l->n_outputs;
  int64_t *sizes = calloc((size_t)n + 1, sizeof *sizes);
  bool ok = sizes != NULL;
  for (int i = 0; i < n && ok; i++)
    sizes[i] = (int64_t)array_bytes(i < l->n_inputs ? l->inputs[rank] + i
                                                    : l->outputs[rank] + (i - l->n_inputs));
  ok = ok && to(ranks, rank, sizes, n * (int64_t)sizeof *sizes);
  for (int i = 0; i < l->n_inputs && ok; i++)
    ok = to(ranks, rank, l->inputs[rank][i].data, sizes[i]);
  free(sizes);
  return ok;
}

static bool receive_results(const attachment *ranks, launch *l, int rank) {
  rank_result *result = l->ranks + rank;
  answer said;
  if (!from(ranks, rank, &said, sizeof said))
    return false;
  result->status = (tprt_status)said.status;
  result->seconds = said.seconds;
  result->n_seen = said.n_seen;
  result->begin_ns = said.begin_ns;
  result->end_ns = said.end_ns;
  snprintf(result->error, sizeof result->error, "%s", said.error);
  if (said.status)
    return true;
  bool ok = from(ranks, rank, result->sites, l->n_sites * (int64_t)sizeof *result->sites);
  for (int i = 0; i < l->n_outputs && ok; i++)
    ok = from(ranks, rank, l->outputs[rank][i].data, (int64_t)array_bytes(l->outputs[rank] + i));
  if (ok && l->trace)
    ok = from(ranks, rank, result->calls, kept_bytes(result)) && ask_clock(ranks, rank, result);
  return ok;
}

/* Lets all ranks run the program once. False if one of them has not said how that went. */
static bool run_once(launch *l, attachment *ranks, order *o, tp_entry entry) {
  bool ok = notify_all(ranks, o, sizeof *o) && notify_all(ranks, l->object->data, o->object_bytes);
  for (int r = 1; r < l->n_ranks && ok; r++)
    ok = send_work(ranks, l, r);
  if (ok)
    run_in_group(ranks, o, entry, l->on_gpu, l->inputs[0], l->outputs[0], l->ranks);
  for (int r = 1; r < l->n_ranks && ok; r++)
    ok = receive_results(ranks, l, r);
  return ok;
}

bool launch_attached(launch *l, attachment *ranks) {
  tprt_comm *world = ranks->world;
  tp_program *program = NULL;
  tp_entry entry;
  if (l->n_ranks != tprt_comm_size(world)) {
    complain("the mesh has %d devices, but %d ranks were started; start %d, as in shard-run -n %d "
             "-- shard-run MODEL ..., or give a mesh of %d, as in --mesh %d",
             l->n_ranks, tprt_comm_size(world), l->n_ranks, l->n_ranks, tprt_comm_size(world),
             tprt_comm_size(world));
    return false;
  }
  if (strlen(l->function) >= MAX_FUNCTION) {
    complain("the name of the function has %zu bytes; at most %d are allowed", strlen(l->function),
             MAX_FUNCTION - 1);
    return false;
  }
  if (!launch_load(l, &program, &entry))
    return false;
  order o = {.run = 1,
             .n_inputs = l->n_inputs,
             .n_outputs = l->n_outputs,
             .n_sites = l->n_sites,
             .repeat = l->repeat,
             .trace = l->trace,
             .graph = l->graph,
             .object_bytes = (int64_t)l->object->size,
             .timeout = l->timeout};
  snprintf(o.function, sizeof o.function, "%s", l->function);
  launch_say_path(l, ranks->programs);
  bool ok;
  do
    ok = run_once(l, ranks, &o, entry);
  while (!ok && attached_recover(ranks));
  for (int r = 0; r < l->n_ranks; r++)
    l->ranks[r].joined = tprt_comm_joined(ranks->world, r);
  tp_program_unload(program);
  /* if a rank did not say how it failed, others may have */
  return (ok || ranks->has_failed) && launch_report(l) && ok;
}

void attached_end(attachment *ranks, int code) {
  order o = {.run = 0, .code = code};
  do {
    if (tprt_comm_status(ranks->world) == TPRT_OK && notify_all(ranks, &o, sizeof o))
      break;
  } while (attached_recover(ranks));
}
