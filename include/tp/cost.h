/* The cost model: bytes and time of collectives, time of compute.
 *
 * Time unit: tp_cost, integer picoseconds, so that every sum, bound and comparison is exact and
 * reproducible. Bytes: algorithmic bytes sent per device, integers. They are a property of the
 * operation, not of the algorithm that runs it. With n devices in the group and c =
 * ceil(elements/n) * element size of the full tensor of the group:
 *   all_gather, reduce_scatter, all_to_all  (n-1)*c
 *   all_reduce                              2*(n-1)*c
 *   permute, broadcast                      the local buffer
 *   any kind with n = 1                     0
 *
 * The runtime counts the same bytes when operations are submitted.
 *
 * A machine is a JSON file (docs/reference/topology.md): a device, and the levels of a network,
 * innermost first. A machine bound to a mesh is a topology. It has a cost line alpha +
 * bytes/bandwidth for each mesh axis and a roofline for compute. A collective over a set of axes is
 * priced in two ways, and the lower price counts (tp_form):
 * - As one operation. If the axes lie in one level, the price uses the lines for a group of that
 *   size (tp_joint). If they span several levels, it uses the largest alpha, with each alpha taken
 *   at the size of the whole group (tp_link.doubling_us), and the smallest bandwidth.
 * - In stages, as tp-stage-collectives can write them.
 *
 * The order of the axes does not matter, and neither do axes of size 1.
 *
 * Thread rule: topologies are immutable after creation; all functions are pure. */
#ifndef TP_COST_H
#define TP_COST_H

#include "tp/spec.h"

#ifdef __cplusplus
extern "C" {
#endif

typedef int64_t tp_cost; /* picoseconds */
/* The cost of a forbidden choice. Sums saturate at this value (tp_cost_add). */
#define TP_COST_FORBIDDEN (INT64_MAX / 4)

static inline tp_cost tp_cost_add(tp_cost a, tp_cost b) {
  return a >= TP_COST_FORBIDDEN - b || b >= TP_COST_FORBIDDEN ? TP_COST_FORBIDDEN : a + b;
}
static inline double tp_cost_seconds(tp_cost c) { return (double)c * 1e-12; }

/* Kinds of communication. Reshard steps, reports and the runtime's counters use the same kinds. */
typedef enum tp_collective {
  TP_ALL_GATHER,
  TP_REDUCE_SCATTER,
  TP_ALL_REDUCE,
  TP_ALL_TO_ALL,
  TP_PERMUTE,
  TP_BROADCAST,
  TP_N_COLLECTIVES
} tp_collective;

/* Returns "all_gather", ..., the names of the upstream shard dialect. */
TP_API const char *tp_collective_name(tp_collective c);

/* The cost line of one kind: seconds = alpha + bytes / bandwidth, with bytes as defined above. */
typedef struct tp_line {
  double alpha_us;     /* microseconds */
  double gbytes_per_s; /* 1e9 bytes per second per device */
} tp_line;

typedef struct tp_link { /* cost lines of one mesh axis */
  tp_line lines[TP_N_COLLECTIVES];
  /* alternative lines for small messages; alpha_us == 0 && gbytes == 0: none */
  tp_line latency_lines[TP_N_COLLECTIVES];
  /* added to alpha for each doubling of the group size beyond this axis, if axes of several levels
   * form one group */
  double doubling_us;
  int level; /* level of the machine, innermost 0 */
} tp_link;

/* The cost lines of a group of several axes in one level. */
typedef struct tp_joint {
  int level;
  int64_t n; /* number of devices in the group */
  tp_link link;
} tp_joint;

enum { TP_MAX_JOINTS = 64 };

/* Classes of element types by peak contraction speed. F16 includes bf16. Types without a class of
 * their own count as f32. */
typedef enum tp_peak {
  TP_PEAK_F32,
  TP_PEAK_F64,
  TP_PEAK_F16,
  TP_PEAK_F8,
  TP_PEAK_I8,
  TP_N_PEAKS
} tp_peak;

/* Returns "f32", ..., as spelled in topology files. */
TP_API const char *tp_peak_name(tp_peak peak);

/* Cost parameters of peer-to-peer kernels: kernels that access the memory of the other devices of
 * their level, and so fuse a collective with the surrounding row operations in one launch
 * (docs/explanation/fused-kernels.md). gbytes_per_s == 0: the level has no such kernels. */
enum { TP_MAX_LEVELS = 8, TP_MAX_PULLS = 8 };

typedef struct tp_kernels {
  double signal_us; /* time of one barrier among the devices of a group */
  /* 1e9 bytes per second per device, for reads from peers and writes to peers */
  double gbytes_per_s;
  /* tensors of up to push_bytes / (devices of the group) go through staging memory */
  int64_t push_bytes;
  int n_pulls;
  struct {
    /* for groups of up to n devices: max size of a tensor that every device reads from all peers */
    int64_t n, bytes;
  } pulls[TP_MAX_PULLS]; /* ascending in n; there are no kernels for groups larger than the last */
} tp_kernels;

/* The objective that costs measure.
 * - time: modeled picoseconds, as described above.
 * - bytes: the bytes that a device sends, plus a charge for its compute. A sent byte costs
 *   TP_BYTE_PS on any link. TP_BYTE_FLOPS contraction operations or TP_BYTE_SCALARS other
 *   operations cost as much, unless another number is given. Without this charge, the optimum often
 *   replicated all work on every device. Modeled time breaks ties: a millisecond counts as one
 *   byte. */
typedef enum tp_objective { TP_OBJECTIVE_TIME, TP_OBJECTIVE_BYTES, TP_N_OBJECTIVES } tp_objective;

enum { TP_BYTE_PS = 10000, TP_BYTE_FLOPS = 20, TP_BYTE_SCALARS = 30 };

TP_API const char *tp_objective_name(tp_objective objective); /* "time", "bytes" */
TP_API bool tp_objective_find(const char *name, tp_objective *objective);

typedef struct tp_topology {
  char name[TP_MAX_AXIS_NAME];
  tp_objective objective; /* what its costs measure */
  /* peak of contractions per device, 1e9 operations per second; a multiply-add counts as two */
  double gflops[TP_N_PEAKS];
  double elementwise_gops; /* scalar operations per second of generated code, 1e9 */
  double memory_gbytes_per_s;
  int64_t memory_bytes; /* memory capacity of a device; 0: not given in the file */
  double launch_us;     /* minimum time of one cluster of ops */
  double efficiency;    /* fraction of the peaks that real code reaches, (0, 1] */
  /* a contraction whose smallest local dimension is d < min_gemm_dim reaches d / min_gemm_dim of
   * the peak; 0: no derating */
  int64_t min_gemm_dim;
  /* rate of the memory traffic of contractions; 0: memory_gbytes_per_s */
  double contraction_gbytes_per_s;
  /* rate of tp_work.store_bytes; 0: such stores are not counted */
  double store_gbytes_per_s;
  /* fraction of the shorter of arithmetic and memory traffic that the longer does not hide */
  double exposed;
  /* number of devices that work at full speed at the same time; more share them. 0: all do */
  int64_t processors;
  /* attention with at most so many features of queries and of values, and its gradient, are
   * computed by kernels that store no scores; 0: there are no such kernels */
  int64_t attention_features;
  tp_link links[TP_MAX_AXES];        /* by mesh axis, set by tp_machine_bind */
  tp_kernels kernels[TP_MAX_LEVELS]; /* by level (tp_link.level) */
  /* number of joints. Further groups, which need a mesh of thousands of devices, are priced like
   * groups over several levels */
  int n_joints;
  /* cost lines of groups of several axes; `links` has those of single axes */
  tp_joint joints[TP_MAX_JOINTS];
} tp_topology;

/* The contents of a topology file, not yet bound to a mesh. Created by the loaders, freed by
 * tp_machine_destroy. */
typedef struct tp_machine tp_machine;

/* Loads a machine by name ("cpu", "h100", ...) or from a file: a string that contains '/' or ends
 * in ".json" is a path. A name is searched as NAME.json in the folders of the environment variable
 * TP_TOPOLOGY_PATH (separated by ':'; ignored in programs with raised privileges), then among the
 * files of share/topology, which are built into the library. On failure `why` (may be NULL, else
 * why_size bytes) receives a message with file, line, key and what was expected. Errors:
 * TP_NOT_FOUND (no such name or file), TP_IO (the file cannot be read), TP_INVALID_ARGUMENT (not a
 * topology file), TP_NO_MEMORY. */
TP_API tp_status tp_machine_load(const char *name, char *why, size_t why_size,
                                 tp_machine **machine);
/* Like tp_machine_load, from `length` bytes of text; `label` stands for the file in messages. */
TP_API tp_status tp_machine_parse(const char *label, const char *text, size_t length, char *why,
                                  size_t why_size, tp_machine **machine);
TP_API void tp_machine_destroy(tp_machine *machine); /* NULL is allowed */

/* Binds a machine to the axes of `mesh`. Devices are numbered so that a level is a contiguous range
 * of them; an axis belongs to the innermost level that contains its groups. Latencies depend on the
 * size of the axis. The result owns nothing. TP_INVALID_ARGUMENT if the mesh has more devices than
 * the machine. */
TP_API tp_status tp_machine_bind(const tp_machine *machine, const tp_mesh *mesh, char *why,
                                 size_t why_size, tp_topology *topology);

/* Combines tp_machine_load and tp_machine_bind, with their errors. */
TP_API tp_status tp_topology_load(const char *name, const tp_mesh *mesh, char *why, size_t why_size,
                                  tp_topology *topology);
/* Returns the NULL-terminated list of the built-in names; the first is the default. Static
 * storage. */
TP_API const char *const *tp_topology_names(void);

/* Converts a topology that prices time, as tp_machine_bind returns it, to one that prices
 * TP_OBJECTIVE_BYTES. `byte_flops` contraction operations, above 0, cost as much as a sent byte,
 * and TP_BYTE_SCALARS / TP_BYTE_FLOPS times as many others. */
TP_API void tp_topology_count_bytes(tp_topology *topology, double byte_flops);

/* Returns the algorithmic bytes sent per device. `elements` is the size of the full tensor of the
 * group: for all_gather the output, for reduce_scatter and all_reduce the input, for all_to_all and
 * permute the local buffer. n is the number of devices in the group. */
TP_API int64_t tp_cost_bytes(tp_collective kind, int64_t n, int64_t elements, int64_t element_size);

/* One stage of a collective over several axes. Such a collective runs as one operation or in
 * stages, each of which is a collective over some of the axes:
 * - all_reduce: reduce_scatter over some or all axes, all_reduce of the piece over the remaining
 *   axes (if any), all_gather over the scattered axes. Only if the scattered axes divide the number
 *   of elements.
 * - all_gather, reduce_scatter, all_to_all over two axes: one axis after the other, in either
 *   order. In stages, all_to_all sends more bytes; the other kinds send the same. Over three or
 *   more axes they run as one operation; reshard paths can still go axis by axis.
 *
 * Stages are faster if the axes differ in speed: of an all_gather over a node and a network, only
 * the stage in the node moves the whole tensor. */
typedef struct tp_stage {
  tp_collective kind;
  int n_axes;
  int axes[TP_MAX_AXES]; /* mesh axes, ascending */
  tp_cost cost;
} tp_stage;

enum { TP_MAX_STAGES = 3 };

typedef struct tp_form {
  int n_stages; /* 0 for a group of one device; 1: one operation */
  tp_stage stages[TP_MAX_STAGES];
  tp_cost cost; /* sum over the stages */
} tp_form;

/* Returns the cheapest form of a collective over the axes `axes` (n_axes of them) of `mesh`, by
 * modeled time; on ties, the one with the fewest stages. `elements` as in tp_cost_bytes. */
TP_API tp_form tp_cost_form(const tp_topology *topology, const tp_mesh *mesh, tp_collective kind,
                            int n_axes, const int *axes, int64_t elements, int64_t element_size);
/* Returns the modeled time of that form; 0 for a group of one device. */
TP_API tp_cost tp_cost_collective(const tp_topology *topology, const tp_mesh *mesh,
                                  tp_collective kind, int n_axes, const int *axes, int64_t elements,
                                  int64_t element_size);
/* Returns the modeled time of the collective as one operation. */
TP_API tp_cost tp_cost_flat(const tp_topology *topology, const tp_mesh *mesh, tp_collective kind,
                            int n_axes, const int *axes, int64_t elements, int64_t element_size);

/* Local work of an op or of a cluster of ops. */
typedef struct tp_work {
  tp_peak peak;             /* class of the contraction's operands */
  double contraction_flops; /* a multiply-add counts as two */
  /* smallest of the three local dimensions of the contraction; 0: unknown. 1 is a matrix-vector
   * product, which is memory-bound and therefore not derated */
  int64_t gemm_dim;
  double scalar_ops;
  double memory_bytes;
  /* results of elementwise ops that other ops or the caller read, and initial values of
   * contractions */
  double store_bytes;
  bool launch; /* adds launch_us */
} tp_work;

/* Returns the modeled time of local compute: the max of the arithmetic time (contractions plus
 * scalar operations) and the time of the memory traffic, and what the longer of both does not hide
 * of the shorter. */
TP_API tp_cost tp_cost_compute(const tp_topology *topology, const tp_work *work);

/* ---- All-reduce or reduce-scatter fused with its row epilogue, in one kernel ---- */

/* The data movement of the kernel (tprt_cuda_algorithm). */
typedef enum tp_fused_algorithm {
  TP_FUSED_NONE,
  TP_FUSED_PUSH,
  TP_FUSED_PULL,
  TP_FUSED_SLICES,
  TP_N_FUSED
} tp_fused_algorithm;

/* Returns "none", "push", "pull" or "slices". */
TP_API const char *tp_fused_name(tp_fused_algorithm algorithm);

/* A tensor of `tokens` rows of `hidden` elements that is all-reduced or reduce-scattered over the
 * devices of `axes`, with a fused row epilogue. The tensor may be the result of a matmul. Then each
 * device computes one slice of rows for each peer, stores it there, and reduces the slices that the
 * peers stored; a slice is sent while the next one is computed. */
typedef struct tp_fused_rows {
  int n_axes;
  const int *axes; /* mesh axes */
  int64_t tokens, hidden, element_size;
  bool scattered; /* reduce-scatter: each device gets a slice of the rows */
  /* number of kernels of the row epilogue if it is unfused; 0: no epilogue. Each kernel after the
   * first reads rows that an earlier one stores */
  int n_kernels;
  int n_passed; /* row tensors stored only as intermediates between these kernels */
  /* row tensors read besides the reduced one, each of the size of its local part */
  int n_operands;
  int n_results;  /* row tensors stored, at least 1 without quantization */
  int n_gathered; /* scattered: number of results that are all-gathered again */
  int64_t k;      /* the rows are the matmul [tokens, k] x [k, hidden]; 0: they are given */
  tp_peak peak;   /* class of the matmul */
  /* the epilogue ends with a quantization to f8, which is a further result; unfused, it takes one
   * more kernel */
  bool quantized;
  int64_t n_scales;        /* f32 scales stored per row with the quantized rows */
  bool quantized_gathered; /* scattered: the quantized rows and the scales are all-gathered again */
} tp_fused_rows;

typedef struct tp_fused_price {
  tp_fused_algorithm algorithm; /* TP_FUSED_NONE: no kernel supports this group */
  /* modeled times. fused: in one kernel. separate: as collectives and row kernels. With a matmul,
   * fused computes it in slices; separate is the whole matmul plus the lower price of its rows */
  tp_cost fused, separate;
  /* why the model is unreliable for this matmul: published measurements of such schemes do not
   * cover the case, or found it slower. NULL: the model is reliable */
  const char *unmeasured;
} tp_fused_price;

/* Returns the algorithm and both times. They depend only on the arguments, so all devices agree.
 * Source of the thresholds: as in tprt_cuda_choose, with values from the topology file; for
 * matmuls, as in tprt_cuda_choose_slices. */
TP_API tp_fused_price tp_cost_fused_rows(const tp_topology *topology, const tp_mesh *mesh,
                                         const tp_fused_rows *rows);

/* Rows [tokens, width] that are all-gathered over the devices of `axes`, and matmuls of them with
 * [width, columns] matrices. Computed in slices: the rows of one device are copied while those of
 * another are multiplied. */
enum { TP_MAX_GATHERED = 4 };
typedef struct tp_gathered_rows {
  int n_axes;
  const int *axes; /* mesh axes */
  int64_t tokens, width, element_size;
  int n; /* number of matmuls */
  int64_t columns[TP_MAX_GATHERED];
  tp_peak peak;
} tp_gathered_rows;

/* Returns TP_FUSED_SLICES or TP_FUSED_NONE. fused: time in slices; separate: time of an all_gather
 * followed by the matmuls. */
TP_API tp_fused_price tp_cost_gathered_rows(const tp_topology *topology, const tp_mesh *mesh,
                                            const tp_gathered_rows *rows);

/* ---- Softmax statistics of rows whose columns are sharded, in one exchange ---- */

/* Logits of which each device has [tokens, columns]. */
typedef struct tp_fused_softmax {
  int n_axes;
  const int *axes; /* mesh axes over which the columns are sharded */
  int64_t tokens, columns, element_size;
  int n_collectives; /* number of unfused collectives, each of 4 bytes per row */
} tp_fused_softmax;

/* Returns two modeled times. *fused is the time of one kernel that reads the rows, and of an
 * all-gather of 16 bytes per row. *separate is the time of the collectives, and of a kernel that
 * reads the rows before each of the first two. False if the topology has no kernels for the
 * group. */
TP_API bool tp_cost_fused_softmax(const tp_topology *topology, const tp_mesh *mesh,
                                  const tp_fused_softmax *softmax, tp_cost *fused,
                                  tp_cost *separate);

#ifdef __cplusplus
}
#endif
#endif
