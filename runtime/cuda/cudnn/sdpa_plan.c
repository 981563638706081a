/* Plans attentions with the kernels of cuDNN, and runs them. */
#include "cuda/cudnn/sdpa.h"

#include <math.h>

/* Called for what may find nothing: an unsupported graph is no failure. */
static void accept_unsupported(tprt__sdpa_graph *graph, bool *found) {
  *found = graph->status == TPRT_OK;
  if (graph->status == TPRT_UNSUPPORTED)
    graph->status = TPRT_OK;
}

/* Reads an attribute that is a list. Returns the number of its elements. */
static int64_t get(tprt__sdpa_graph *graph, cudnn_descriptor descriptor, int attribute, int type,
                   int64_t most, void *elements) {
  int64_t n = 0;
  if (graph->status)
    return 0;
  graph->status = tprt__cudnn_check(
      graph->cudnn, graph->cudnn->get(descriptor, attribute, type, most, &n, elements),
      "the value of an attribute");
  return graph->status ? 0 : n;
}

/* ---- engines ---- */

/* True if a kernel gives other bits from run to run, as those with atomic sums do. */
static bool varies(tprt__sdpa_graph *graph, cudnn_descriptor config) {
  enum { MOST_NOTES = 32 };
  int notes[MOST_NOTES] = {0};
  cudnn_descriptor engine = tprt__sdpa_create(graph, DNN_ENGINE);
  get(graph, config, DNN_CONFIG_ENGINE, DNN_OF_DESCRIPTOR, 1, &engine);
  int64_t n =
      get(graph, engine, DNN_ENGINE_NUMERICAL_NOTES, DNN_OF_NUMERICAL_NOTE, MOST_NOTES, notes);
  bool does = false;
  for (int64_t i = 0; i < n && i < MOST_NOTES; i++)
    does |= notes[i] == DNN_NOTE_NONDETERMINISTIC;
  return does;
}

/* Adds the engines of one of the heuristics. */
static void add_engines(tprt__sdpa_graph *graph, cudnn_descriptor device, int mode, int most,
                        cudnn_descriptor *configs, int *n) {
  cudnn_descriptor found[SDPA_MOST_ENGINES] = {NULL},
                   heuristic = tprt__sdpa_create(graph, DNN_HEURISTIC);
  bool finds = false;
  tprt__sdpa_set(graph, heuristic, DNN_HEURISTIC_GRAPH, DNN_OF_DESCRIPTOR, 1, &graph->graph);
  tprt__sdpa_set(graph, heuristic, DNN_HEURISTIC_MODE, DNN_OF_HEURISTIC, 1, &mode);
  if (device)
    tprt__sdpa_set(graph, heuristic, DNN_HEURISTIC_DEVICE, DNN_OF_DESCRIPTOR, 1, &device);
  tprt__sdpa_finalize(graph, heuristic);
  int64_t n_found = get(graph, heuristic, DNN_HEURISTIC_RESULTS, DNN_OF_DESCRIPTOR, 0, NULL);
  n_found = n_found < most ? n_found : most;
  for (int64_t i = 0; i < n_found; i++)
    found[i] = tprt__sdpa_create(graph, DNN_ENGINE_CONFIG);
  if (n_found > 0) /* of which those that support the graph remain */
    n_found = get(graph, heuristic, DNN_HEURISTIC_RESULTS, DNN_OF_DESCRIPTOR, n_found, found);
  accept_unsupported(graph, &finds);
  for (int64_t i = 0; i < n_found && i < most && finds; i++)
    if (*n < most && !varies(graph, found[i]))
      configs[(*n)++] = found[i];
}

tprt_status tprt__sdpa_engines(tprt__sdpa_graph *graph, cudnn_descriptor device, int most,
                               cudnn_descriptor *configs, int *n) {
  *n = 0;
  add_engines(graph, device, DNN_HEURISTIC_A, most, configs, n);
  add_engines(graph, device, DNN_HEURISTIC_FALLBACK, most, configs, n);
  return graph->status;
}

/* ---- plans ---- */

/* Tries an engine, which may turn out not to support the graph. */
static void try_engine(tprt__sdpa_plan *plan, cudnn_handle handle, cudnn_descriptor config) {
  tprt__sdpa_graph *graph = &plan->graph;
  bool supports = false;
  cudnn_descriptor made = tprt__sdpa_create(graph, DNN_PLAN);
  tprt__sdpa_set(graph, made, DNN_PLAN_HANDLE, DNN_OF_HANDLE, 1, &handle);
  tprt__sdpa_set(graph, made, DNN_PLAN_CONFIG, DNN_OF_DESCRIPTOR, 1, &config);
  tprt__sdpa_finalize(graph, made);
  get(graph, made, DNN_PLAN_WORKSPACE, DNN_OF_I64, 1, &plan->workspace_bytes);
  accept_unsupported(graph, &supports);
  plan->plan = supports ? made : NULL;
}

static tprt_status plan_graph(tprt__sdpa_plan *plan, cudnn_handle handle) {
  cudnn_descriptor configs[SDPA_MOST_ENGINES];
  int n = 0;
  tprt_status status = tprt__sdpa_engines(&plan->graph, NULL, SDPA_MOST_ENGINES, configs, &n);
  for (int i = 0; i < n && !plan->plan && !plan->graph.status; i++)
    try_engine(plan, handle, configs[i]);
  if (status || plan->graph.status)
    return plan->graph.status;
  return plan->plan ? TPRT_OK
                    : tprt__fail(TPRT_UNSUPPORTED, "cuDNN: it has no kernel for an attention");
}

tprt_status tprt__sdpa_plan_make(const tprt__cudnn *cudnn, cudnn_handle handle,
                                 const tprt__sdpa *sdpa, tprt__sdpa_plan *plan) {
  *plan = (tprt__sdpa_plan){.of = *sdpa};
  tprt_status status = tprt__sdpa_graph_make(cudnn, handle, sdpa, &plan->graph);
  if (!status)
    status = plan_graph(plan, handle);
  if (status)
    tprt__sdpa_plan_free(plan);
  return status;
}

void tprt__sdpa_plan_free(tprt__sdpa_plan *plan) { tprt__sdpa_graph_free(&plan->graph); }

/* ---- runs ---- */

/* Lists the tensors of the graph, and where they are. */
typedef struct sdpa_pack {
  int64_t ids[SDPA_N_TENSORS];
  void *at[SDPA_N_TENSORS];
  int n;
  float scale, hidden;
  int32_t added, subtracted;
} sdpa_pack;

static void add_tensor(sdpa_pack *pack, int64_t id, void *at) {
  pack->ids[pack->n] = id;
  pack->at[pack->n++] = at;
}

static void fill_pack(const tprt__sdpa *of, void *const memory[SDPA_N_MEMORY], sdpa_pack *pack) {
  bool ends = tprt__sdpa_ends_with_columns(of);
  *pack = (sdpa_pack){.scale = of->scale,
                      .hidden = -INFINITY,
                      .added = (int32_t)(ends ? of->columns : of->offset),
                      .subtracted = (int32_t)of->rows};
  for (int x = 0; x < (of->has_statistics ? SDPA_N_MEMORY : SDPA_MAX); x++)
    add_tensor(pack, x, memory[x]);
  add_tensor(pack, SDPA_SCALE, &pack->scale);
  if (of->causal)
    add_tensor(pack, SDPA_HIDDEN, &pack->hidden);
  if (of->causal && of->offset != 0)
    add_tensor(pack, SDPA_ADDED, &pack->added);
  if (ends)
    add_tensor(pack, SDPA_SUBTRACTED, &pack->subtracted);
}

tprt_status tprt__sdpa_plan_run(cudnn_handle handle, const tprt__sdpa_plan *plan,
                                void *const memory[SDPA_N_MEMORY], void *workspace) {
  tprt__sdpa_graph parts = {.cudnn = plan->graph.cudnn}; /* of this call */
  sdpa_pack pack;
  fill_pack(&plan->of, memory, &pack);
  cudnn_descriptor list = tprt__sdpa_create(&parts, DNN_VARIANT_PACK);
  tprt__sdpa_set(&parts, list, DNN_PACK_IDS, DNN_OF_I64, pack.n, pack.ids);
  tprt__sdpa_set(&parts, list, DNN_PACK_POINTERS, DNN_OF_POINTER, pack.n, pack.at);
  tprt__sdpa_set(&parts, list, DNN_PACK_WORKSPACE, DNN_OF_POINTER, 1, &workspace);
  tprt__sdpa_finalize(&parts, list);
  tprt_status status = parts.status;
  if (!status)
    status = tprt__cudnn_check(parts.cudnn, parts.cudnn->execute(handle, plan->plan, list),
                               "an attention");
  tprt__sdpa_graph_free(&parts);
  return status;
}
