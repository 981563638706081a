/* Builds the tasks of a block and the dependences between them.
 *
 * Memory dependences use alias classes (memory_classes.h). A reader of a class waits for its last
 * writer; a writer also waits for all readers since then. An op with unknown effects is a barrier:
 * it stays in place, and no op moves across it. */
#include "passes/bufferize/schedule/schedule.h"

#include "passes/gpu/outline.h"

#include "ir/diagnostics.h"

typedef struct edge {
  int from, to;
} edge;

/* Last uses of a class. */
typedef struct usage {
  int writer; /* -1: none in this block */
  int reader; /* latest entry of a list of readers since then; -1: none */
} usage;

typedef struct reader {
  int task, next;
} reader;

typedef struct builder {
  MlirOperation module;
  tp__memory_classes *classes;
  tp__value_map tasks_of_values; /* results of the block's ops -> task */
  edge *edges;
  size_t n_edges, edge_capacity;
  usage *usages; /* by class; one more entry for assertions */
  size_t n_classes;
  reader *readers;
  size_t n_readers, reader_capacity;
  int barrier; /* last op with unknown effects; -1: none */
  int task;    /* the task being added */
  bool touches, is_barrier, no_memory;
} builder;

/* ---- effects of ops ---- */

typedef enum effect {
  NOTHING,  /* no effect of its own; nested ops are visited separately */
  READS,    /* reads the memory of its operands */
  ACCESSES, /* reads and writes the memory of its operands */
  COPIES,
  STRUCTURED,
  RUNTIME,
  ASSERTS,
  UNKNOWN,
} effect;

static effect effect_of(MlirOperation op) {
  static const struct {
    const char *name;
    effect effect;
  } ops[] = {
      {"memref.alloc", NOTHING},
      {"memref.get_global", NOTHING},
      {"memref.cast", NOTHING},
      {"memref.subview", NOTHING},
      {"memref.view", NOTHING},
      {"memref.reinterpret_cast", NOTHING},
      {"memref.expand_shape", NOTHING},
      {"memref.collapse_shape", NOTHING},
      {"memref.transpose", NOTHING},
      {"memref.dim", NOTHING},
      {"memref.extract_strided_metadata", NOTHING},
      {"memref.extract_aligned_pointer_as_index", NOTHING},
      {"memref.load", READS},
      {"memref.store", ACCESSES},
      {"memref.copy", COPIES},
      {"llvm.inttoptr", NOTHING},
      {"linalg.index", NOTHING},
      {"linalg.yield", NOTHING},
      {"func.call", RUNTIME},
      {"cf.assert", ASSERTS},
  };
  static const struct {
    const char *name;
    effect effect;
  } dialects[] = {{"arith", NOTHING},   {"math", NOTHING},     {"complex", NOTHING},
                  {"index", NOTHING},   {"ub", NOTHING},       {"scf", READS},
                  {"affine", ACCESSES}, {"linalg", STRUCTURED}};
  for (int i = 0; i < TP_LEN(ops); i++)
    if (tp__op_is(op, ops[i].name))
      return ops[i].effect;
  for (int i = 0; i < TP_LEN(dialects); i++)
    if (tp__op_has_dialect(op, dialects[i].name))
      return dialects[i].effect;
  return UNKNOWN;
}

/* ---- effects of kernels ---- */

typedef struct kernel {
  tp__memory_classes classes; /* alias classes in its function */
  MlirBlock body;
  bool writes[TP_OUTLINE_INPUTS]; /* by argument */
} kernel;

static void note_writes(kernel *k, MlirOperation op, intptr_t first, intptr_t end) {
  for (intptr_t i = first; i < end; i++) {
    int64_t number = tp__memory_class(&k->classes, mlirOperationGetOperand(op, i));
    for (intptr_t a = 0; a < mlirBlockGetNumArguments(k->body) && number >= 0; a++)
      k->writes[a] |= tp__memory_class(&k->classes, mlirBlockGetArgument(k->body, a)) == number;
  }
}

static tp_status find_writes(MlirOperation op, void *data) {
  kernel *k = data;
  int64_t segments[2] = {0};
  intptr_t n = mlirOperationGetNumOperands(op);
  effect does = effect_of(op);
  if (does == COPIES)
    note_writes(k, op, 1, n);
  else if (does == STRUCTURED &&
           tp__int_list(tp__inherent(op, "operandSegmentSizes"), 2, segments) == 2)
    note_writes(k, op, segments[0], n);
  else if (does != NOTHING && does != READS && does != ASSERTS)
    note_writes(k, op, 0, n);
  return TP_OK;
}

/* Which of its arguments a function writes that tp-fuse-nests made; the others it reads. False: it
 * has too many to be one, or memory ran out. */
static bool read_kernel(MlirOperation func, kernel *k) {
  *k = (kernel){.body = mlirRegionGetFirstBlock(mlirOperationGetRegion(func, 0))};
  bool fits = mlirBlockGetNumArguments(k->body) <= TP_OUTLINE_INPUTS;
  for (intptr_t a = 0; a < mlirBlockGetNumArguments(k->body) && fits; a++)
    if (mlirTypeIsAMemRef(mlirValueGetType(mlirBlockGetArgument(k->body, a))))
      (void)tp__memory_node(&k->classes, mlirBlockGetArgument(k->body, a));
  if (fits) {
    (void)tp__walk(func, tp__memory_classes_visit, &k->classes); /* the visitors do not fail */
    (void)tp__walk(func, find_writes, k);
  }
  bool known = fits && !k->classes.no_memory;
  tp__memory_classes_destroy(&k->classes);
  return known;
}

/* ---- dependences ---- */

static void add_edge(builder *b, int from) {
  if (from < 0 || from == b->task || b->no_memory)
    return;
  if (b->n_edges > 0 && b->edges[b->n_edges - 1].from == from &&
      b->edges[b->n_edges - 1].to == b->task)
    return;
  if (tp__grow((void **)&b->edges, &b->edge_capacity, b->n_edges + 1, sizeof *b->edges) != TP_OK)
    b->no_memory = true;
  else
    b->edges[b->n_edges++] = (edge){from, b->task};
}

static void read_class(builder *b, size_t number) {
  usage *u = &b->usages[number];
  add_edge(b, u->writer);
  b->touches = true;
  if (u->reader >= 0 && b->readers[u->reader].task == b->task)
    return;
  if (tp__grow((void **)&b->readers, &b->reader_capacity, b->n_readers + 1, sizeof *b->readers) !=
      TP_OK) {
    b->no_memory = true;
    return;
  }
  b->readers[b->n_readers] = (reader){b->task, u->reader};
  u->reader = (int)b->n_readers++;
}

static void write_class(builder *b, size_t number) {
  usage *u = &b->usages[number];
  add_edge(b, u->writer);
  for (int r = u->reader; r >= 0; r = b->readers[r].next)
    add_edge(b, b->readers[r].task);
  b->touches = true;
  *u = (usage){b->task, -1};
}

static void use_operand(builder *b, MlirOperation op, intptr_t i, bool writes) {
  int64_t number = tp__memory_class(b->classes, mlirOperationGetOperand(op, i));
  if (number < 0)
    return;
  (writes ? write_class : read_class)(b, (size_t)number);
}

static void use_operands(builder *b, MlirOperation op, intptr_t first, intptr_t n_read,
                         intptr_t n_written) {
  for (intptr_t i = 0; i < n_read + n_written; i++)
    use_operand(b, op, first + i, i >= n_read);
}

/* Adds inputs as reads and outputs as writes. Outputs may also be read, but a write waits for
 * everything that a read waits for. */
static void use_structured(builder *b, MlirOperation op) {
  int64_t segments[2];
  bool known = tp__int_list(tp__inherent(op, "operandSegmentSizes"), 2, segments) == 2 &&
               mlirOperationGetNumResults(op) == 0;
  if (known)
    use_operands(b, op, 0, segments[0], segments[1]);
  else
    b->is_barrier = true;
}

static void use_kernel(builder *b, MlirOperation op, MlirOperation func) {
  kernel k;
  if (!read_kernel(func, &k)) {
    b->is_barrier = true;
    return;
  }
  for (int writes = 0; writes < 2; writes++)
    for (intptr_t i = 0; i < mlirOperationGetNumOperands(op); i++)
      if (k.writes[i] == writes)
        use_operand(b, op, i, writes);
}

static void use_call(builder *b, MlirOperation op) {
  MlirOperation func = tp__callee(b->module, op);
  if (!mlirOperationIsNull(func)) {
    use_kernel(b, op, func);
    return;
  }
  switch (tp__runtime_call(op)) {
  case TP_CALL_COLLECTIVE: /* context, site, send, receive */
    use_operands(b, op, 2, 1, 1);
    break;
  case TP_CALL_CONTRACT: /* context, site, a, b, c */
    use_operands(b, op, 2, 2, 1);
    break;
  case TP_CALL_FUSED: /* context, site, operands, results */
    use_operands(b, op, 2, mlirOperationGetNumOperands(op) - 2 - tp__fused_outputs(op),
                 tp__fused_outputs(op));
    break;
  case TP_CALL_QUERY:
    break;
  default:
    b->is_barrier = true;
  }
}

static tp_status add_effects(MlirOperation op, void *data) {
  builder *b = data;
  intptr_t n = mlirOperationGetNumOperands(op);
  switch (effect_of(op)) {
  case NOTHING:
    break;
  case READS:
    use_operands(b, op, 0, n, 0);
    break;
  case ACCESSES:
    use_operands(b, op, 0, 0, n);
    break;
  case COPIES:
    use_operands(b, op, 0, 1, 1);
    break;
  case STRUCTURED:
    use_structured(b, op);
    break;
  case RUNTIME:
    use_call(b, op);
    break;
  case ASSERTS:
    write_class(b, b->n_classes);
    break;
  case UNKNOWN:
    b->is_barrier = true;
  }
  for (intptr_t i = 0; i < n; i++) {
    const int64_t *task = tp__value_find(&b->tasks_of_values, mlirOperationGetOperand(op, i));
    if (task)
      add_edge(b, (int)*task);
  }
  return TP_OK;
}

/* ---- tasks ---- */

static tp__task_kind kind_of(const builder *b, MlirOperation op) {
  int64_t site;
  if (tp__op_is(op, "func.call") &&
      tp__ref_is(mlirFlatSymbolRefAttrGetValue(tp__inherent(op, "callee")),
                 "tprt_abi_collective") &&
      tp__call_site(op, &site))
    return TP_TASK_COLLECTIVE;
  return b->touches || b->is_barrier || mlirOperationGetNumRegions(op) > 0 ? TP_TASK_COMPUTE
                                                                           : TP_TASK_FREE;
}

static void add_task(builder *b, MlirOperation op, tp__task *task) {
  b->touches = b->is_barrier = false;
  add_edge(b, b->barrier);
  (void)add_effects(op, b);
  (void)tp__walk(op, add_effects, b);
  if (b->is_barrier) {
    for (int i = b->barrier + 1; i < b->task; i++)
      add_edge(b, i);
    b->barrier = b->task;
  }
  for (intptr_t r = 0; r < mlirOperationGetNumResults(op); r++) {
    int64_t *place = tp__value_add(&b->tasks_of_values, mlirOperationGetResult(op, r), b->task);
    b->no_memory |= !place;
  }
  task->kind = kind_of(b, op);
  /* other tasks may rely on an assertion, for example on an index or a divisor */
  if (task->kind != TP_TASK_COLLECTIVE)
    add_edge(b, b->usages[b->n_classes].writer);
}

/* Builds both directions of the edges, as lists per task. */
static tp_status list_edges(const builder *b, tp__arena *arena, tp__tasks *tasks) {
  int *before = tp__arena_array(arena, b->n_edges + 1, sizeof *before);
  int *after = tp__arena_array(arena, b->n_edges + 1, sizeof *after);
  int **ends = tp__arena_array(arena, 2 * (size_t)tasks->n + 1, sizeof *ends);
  if (!before || !after || !ends)
    return TP_NO_MEMORY;
  for (size_t e = 0; e < b->n_edges; e++) {
    tasks->items[b->edges[e].to].n_before++;
    tasks->items[b->edges[e].from].n_after++;
  }
  for (int i = 0; i < tasks->n; i++) {
    tp__task *t = &tasks->items[i];
    t->before = ends[2 * i] = before;
    t->after = ends[2 * i + 1] = after;
    before += t->n_before;
    after += t->n_after;
  }
  for (size_t e = 0; e < b->n_edges; e++) {
    *ends[2 * b->edges[e].to]++ = b->edges[e].from;
    *ends[2 * b->edges[e].from + 1]++ = b->edges[e].to;
  }
  return TP_OK;
}

static tp_status build_tasks(builder *b, MlirBlock block, const tp__op_pricing *prices,
                             tp__arena *arena, tp__tasks *tasks) {
  MlirOperation end = mlirBlockGetTerminator(block);
  *tasks = (tp__tasks){0};
  for (MlirOperation op = mlirBlockGetFirstOperation(block); !mlirOperationEqual(op, end);
       op = mlirOperationGetNextInBlock(op))
    tasks->n++;
  tasks->items = tp__arena_array(arena, (size_t)tasks->n + 1, sizeof *tasks->items);
  tasks->ops = tp__arena_array(arena, (size_t)tasks->n + 1, sizeof *tasks->ops);
  b->n_classes = b->classes->n_nodes;
  b->usages = tp__arena_array(arena, b->n_classes + 1, sizeof *b->usages);
  if (!tasks->items || !tasks->ops || !b->usages)
    return TP_NO_MEMORY;
  for (size_t i = 0; i <= b->n_classes; i++)
    b->usages[i] = (usage){-1, -1};
  b->barrier = -1;
  MlirOperation op = mlirBlockGetFirstOperation(block);
  for (b->task = 0; b->task < tasks->n && !b->no_memory;
       b->task++, op = mlirOperationGetNextInBlock(op)) {
    tp__task *task = &tasks->items[b->task];
    tasks->ops[b->task] = op;
    add_task(b, op, task);
    task->cost = task->kind == TP_TASK_FREE ? 0 : tp__price_op(prices, op);
  }
  return b->no_memory ? TP_NO_MEMORY : list_edges(b, arena, tasks);
}

tp_status tp__block_tasks(MlirBlock block, tp__memory_classes *classes,
                          const tp__op_pricing *prices, tp__arena *arena, tp__tasks *tasks) {
  builder b = {.module = prices->module, .classes = classes};
  tp_status status = build_tasks(&b, block, prices, arena, tasks);
  tp__free(b.edges);
  tp__free(b.readers);
  tp__value_map_destroy(&b.tasks_of_values);
  return status;
}
