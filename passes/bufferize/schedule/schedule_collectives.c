/* tp-schedule-collectives: overlaps collectives with computation that does not depend on them.
 *
 * The pass works on buffers. On tensors, a collective cannot express that its operand is still
 * being read until the wait, so bufferization would reuse its memory. Each block is scheduled
 * separately (schedule_order.c); nested loops and branches are single tasks. All ranks run the same
 * program, so they start their collectives in the same order. */
#include "passes/bufferize/assign.h"
#include "passes/bufferize/schedule/schedule.h"
#include "passes/registry.h"

#include <mlir-c/BuiltinTypes.h>
#include <stdlib.h>
#include <string.h>

enum { STAT_SPLIT, STAT_MOVED };

typedef struct settings {
  bool overlap;
  int64_t window, in_flight, least_us;
  int64_t memory_limit; /* bytes; TP_NO_VALUE, TP_LIMIT_OF_TOPOLOGY */
  const char *topology;
} settings;

/* How much a schedule may change, from most to least. */
typedef enum freedom { FREE_URGENT, FREE_WINDOW, FREE_WAITS, FREE_NOTHING } freedom;

typedef struct scheduler {
  tp_pass *pass;
  const settings *settings;
  int64_t memory_limit; /* bytes; -1: none */
  tp__lowering lowering;
  tp_mesh mesh;
  tp_topology topology;
  tp__memory_classes classes;
  tp_op_list holders; /* one collective of each block that has any */
  int64_t n_split, n_moved;
} scheduler;

/* ---- one block ---- */

/* Builds the same call to another function before `where`. */
static MlirOperation build_part(scheduler *s, MlirOperation call, const char *callee,
                                MlirOperation where) {
  MlirValue operands[4];
  for (int i = 0; i < TP_LEN(operands); i++)
    operands[i] = mlirOperationGetOperand(call, i);
  MlirValue status =
      tp__build_call(&s->lowering, call, callee, TP_LEN(operands), operands, s->lowering.i32);
  MlirOperation part = mlirOpResultGetOwner(status);
  mlirOperationMoveBefore(part, where);
  return part;
}

static void apply(scheduler *s, MlirBlock block, const tp__tasks *tasks, const tp__steps *steps) {
  MlirOperation end = mlirBlockGetTerminator(block);
  int last = -1;
  for (int i = 0; i < steps->n; i++) {
    const tp__step *step = &steps->items[i];
    MlirOperation op = tasks->ops[step->task];
    if (step->kind == TP_STEP_RUN)
      mlirOperationMoveBefore(op, end);
    else
      (void)build_part(s, op, step->kind == TP_STEP_START ? "tprt_abi_start" : "tprt_abi_wait",
                       end);
    if (step->kind == TP_STEP_WAIT) {
      mlirOperationDestroy(op);
      s->n_split++;
      continue;
    }
    s->n_moved += tasks->items[step->task].kind == TP_TASK_COMPUTE && step->task < last;
    last = step->task > last ? step->task : last;
  }
}

/* Chooses the schedule with the least time; among equals, the one that changes least. */
static tp_status choose(const scheduler *s, const tp__tasks *tasks, freedom most, tp__arena *arena,
                        tp__steps *best, bool *changes) {
  static const bool moves[] = {[FREE_URGENT] = true, [FREE_WINDOW] = true, [FREE_WAITS] = false};
  *changes = false;
  TP_TRY(tp__program_order(tasks, arena, best));
  for (int f = FREE_WAITS; f >= (int)most; f--) {
    tp__order_options options = {.window = moves[f] ? (int)s->settings->window : 0,
                                 .urgent = f == FREE_URGENT,
                                 .in_flight = (int)s->settings->in_flight,
                                 .least = (tp_cost)s->settings->least_us * 1000000};
    tp__steps steps;
    TP_TRY(tp__order_tasks(tasks, &options, arena, &steps));
    if (tp__steps_precede(&steps, best)) {
      *best = steps;
      *changes = true;
    }
  }
  return TP_OK;
}

static tp_status schedule_block(scheduler *s, MlirBlock block, freedom most) {
  tp__arena arena = {0};
  tp__op_pricing prices = {s->pass->module, &s->topology, &s->mesh, &s->lowering.sites,
                           &s->lowering.extra};
  tp__tasks tasks;
  tp__steps steps;
  bool changes = false;
  tp_status status = tp__block_tasks(block, &s->classes, &prices, &arena, &tasks);
  if (status == TP_OK)
    status = choose(s, &tasks, most, &arena, &steps, &changes);
  if (status == TP_OK && changes)
    apply(s, block, &tasks, &steps);
  tp__arena_destroy(&arena);
  return status == TP_OK ? TP_OK : tp__out_of_memory(s->lowering.func);
}

/* ---- one function ---- */

static tp_status inspect_op(MlirOperation op, void *data) {
  scheduler *s = data;
  tp__memory_classes_add(&s->classes, op);
  for (intptr_t i = 0; i < mlirOperationGetNumOperands(op); i++)
    if (mlirTypeIsAMemRef(mlirValueGetType(mlirOperationGetOperand(op, i))))
      (void)tp__memory_node(&s->classes, mlirOperationGetOperand(op, i));
  if (tp__runtime_call(op) != TP_CALL_COLLECTIVE)
    return TP_OK;
  for (size_t i = 0; i < s->holders.n; i++)
    if (mlirBlockEqual(mlirOperationGetBlock(s->holders.items[i]), mlirOperationGetBlock(op)))
      return TP_OK;
  return tp__op_list_add(&s->holders, op);
}

static tp_status schedule_body(scheduler *s, freedom most) {
  TP_TRY(tp__walk(s->lowering.func, inspect_op, s));
  for (size_t i = 0; i < s->holders.n; i++)
    TP_TRY(schedule_block(s, mlirOperationGetBlock(s->holders.items[i]), most));
  return TP_OK;
}

static void end_scheduler(scheduler *s) {
  tp__memory_classes_destroy(&s->classes);
  tp__free(s->holders.items);
  tp__free(s->lowering.sites.items);
  tp__free(s->lowering.extra.items);
}

/* Schedules `func` with at most the freedom `most`. */
static tp_status schedule(scheduler *s, MlirOperation func, freedom most) {
  *s = (scheduler){.pass = s->pass,
                   .settings = s->settings,
                   .memory_limit = s->memory_limit,
                   .mesh = s->mesh,
                   .topology = s->topology};
  tp__lowering_begin(&s->lowering, s->pass->module, func);
  tp_status status = schedule_body(s, most);
  if (status == TP_OK && (s->classes.no_memory || s->lowering.no_memory))
    status = tp__out_of_memory(func);
  end_scheduler(s);
  return status;
}

static tp_status count_collective(MlirOperation op, void *data) {
  *(int *)data += tp__runtime_call(op) == TP_CALL_COLLECTIVE;
  return TP_OK;
}

/* Returns the memory of a device in bytes: arguments, results and both blocks. */
static tp_status measure(MlirOperation func, int64_t *bytes) {
  MlirType type = tp__func_type(func);
  tp_status status = tp__measure_buffers(func, bytes);
  for (intptr_t i = 0; i < mlirFunctionTypeGetNumInputs(type); i++)
    if (mlirTypeIsAMemRef(mlirFunctionTypeGetInput(type, i)))
      *bytes += tp__memref_bytes(mlirFunctionTypeGetInput(type, i));
  for (intptr_t i = 0; i < mlirFunctionTypeGetNumResults(type); i++)
    if (mlirTypeIsAMemRef(mlirFunctionTypeGetResult(type, i)))
      *bytes += tp__memref_bytes(mlirFunctionTypeGetResult(type, i));
  return status;
}

/* Schedules copies with decreasing freedom until one is within the memory limit. If none is, the
 * function stays unchanged. */
static tp_status schedule_within(scheduler *s, MlirOperation func) {
  for (freedom most = FREE_URGENT; most < FREE_NOTHING; most++) {
    int64_t bytes = 0;
    MlirOperation copy = mlirOperationClone(func);
    tp__insert_after(func, copy);
    tp_status status = schedule(s, copy, most);
    if (status == TP_OK)
      status = measure(copy, &bytes);
    bool keeps = status == TP_OK && bytes <= s->memory_limit;
    mlirOperationDestroy(keeps ? func : copy);
    if (keeps || status != TP_OK)
      return status;
  }
  s->n_split = s->n_moved = 0;
  return TP_OK;
}

static tp_status set_machine(scheduler *s, MlirOperation func) {
  static const char *const names[TP_MAX_AXES] = {"a", "b", "c", "d", "e", "f", "g", "h"};
  int64_t sizes[TP_MAX_AXES];
  int n = tp__int_list(tp__get(func, "tp.mesh"), TP_MAX_AXES, sizes);
  if (n < 1)
    return tp__error(func, TP_INVALID_ARGUMENT,
                     "is not lowered to the runtime yet; run tp-lower-to-runtime first");
  tp_status status = tp_mesh_create("mesh", n, names, sizes, &s->mesh);
  if (status != TP_OK)
    return tp__error(func, status, "tp.mesh is not a valid list of mesh sizes");
  status = tp__load_topology(s->pass->module, s->settings->topology, &s->mesh, &s->topology);
  return status == TP_OK
             ? tp__memory_limit(func, s->settings->memory_limit, &s->topology, &s->memory_limit)
             : status;
}

static tp_status schedule_entry(MlirOperation func, void *data) {
  scheduler *s = data;
  int n = 0;
  tp_status status = tp__walk(func, count_collective, &n);
  if (status != TP_OK || n == 0)
    return status;
  TP_TRY(set_machine(s, func));
  status = s->memory_limit < 0 ? schedule(s, func, FREE_URGENT) : schedule_within(s, func);
  s->pass->statistics[STAT_SPLIT] += s->n_split;
  s->pass->statistics[STAT_MOVED] += s->n_moved;
  return status;
}

/* ---- the pass ---- */

static tp_status run(tp_pass *pass) {
  scheduler s = {.pass = pass, .settings = pass->options};
  return s.settings->overlap ? tp__each_entry(pass->module, schedule_entry, &s) : TP_OK;
}

static const tp_option_row options[] = {
    {"overlap", "true", "true: collectives run beside compute; false: everything stays as it is",
     TP_BOOL(settings, overlap)},
    {"window", "64", "number of earlier ops that an op may overtake; 0: only starts and waits move",
     TP_INT(settings, window, 0, 1048576)},
    {"in-flight", "4", "maximum number of collectives between start and wait",
     TP_INT(settings, in_flight, 1, 1048576)},
    {"least", "20",
     "minimum microseconds of a collective that overlap must hide by the cost model; collectives "
     "that hide less are not split",
     TP_INT(settings, least_us, 0, 1048576)},
    {"memory-limit", "",
     "maximum bytes that a device may hold, arguments and results included: 512MiB, 80GB, ...; "
     "schedules that need more are not used; topology: the value of the topology file",
     TP_BYTES_OR(settings, memory_limit, "topology", TP_LIMIT_OF_TOPOLOGY)},
    {"topology", "cpu", "cost model, see tp-propagate", TP_TEXT(settings, topology, "NAME|FILE")},
};

static const tp_statistic_row statistics[] = {
    [STAT_SPLIT] = {"split", "collectives split into a start and a wait"},
    [STAT_MOVED] = {"moved", "ops that moved behind a later op"},
};

const tp_pass_row tp__schedule_collectives_row = {
    .name = "tp-schedule-collectives",
    .summary = "Start collectives early, wait for them late, and compute meanwhile",
    .description =
        "Requires: tp-lower-to-runtime and bufferization; before tp-assign-buffers. Establishes: "
        "where the cost model predicts a gain, a collective is split into two calls. One starts it "
        "as soon as its operand is ready; the other waits for it before the first op that uses its "
        "result or overwrites its operand. Independent ops run in between. Memory that the two "
        "calls use lives until the wait. Breaks: nothing; without a gain nothing changes.",
    .options = options,
    .n_options = TP_LEN(options),
    .options_size = sizeof(settings),
    .statistics = statistics,
    .n_statistics = TP_LEN(statistics),
    .run = run,
};
