/* The cost model: bytes and seconds of collectives, seconds of compute.
 *
 * Time unit: tp_cost, integer picoseconds, so that every sum, bound and comparison is exact and the
 * same everywhere. Bytes: algorithmic bytes sent per device, integers, a property of the operation
 * and not of the algorithm that runs it (n devices in the group, c = ceil(elements/n)*element size
 * of the full tensor of the group):
 *   all_gather, reduce_scatter, all_to_all  (n-1)*c    all_reduce  2*(n-1)*c    permute, broadcast
 *     the local buffer and 0 for every kind when n is 1. The runtime counts the same figures in its
 *     own submit path.
 *
 * A machine is a JSON file (docs/reference/topology.md): a device, and levels of a network,
 * innermost first. Bound to a mesh it is a topology, which gives for each mesh axis lines alpha +
 * bytes/bandwidth, and a roofline for compute. A collective over a set of axes is priced in one go
 * (axes of one level by the lines for a group of that size: tp_joint; over several levels by the
 * largest alpha, each taken at the size of the whole group, tp_link.doubling_us, and the smallest
 * bandwidth) and in stages that tp-stage-collectives can write; the lesser counts (tp_form). The
 * order of the axes and axes of size 1 do not matter.
 *
 * Thread rule: topologies are immutable after creation; all functions are pure. */
#ifndef TP_COST_H
#define TP_COST_H

#include "tp/spec.h"

#ifdef __cplusplus
extern "C" {
#endif

typedef int64_t tp_cost; /* picoseconds */
/* A forbidden choice. Sums saturate at this value (tp_cost_add). */
#define TP_COST_FORBIDDEN (INT64_MAX / 4)

static inline tp_cost tp_cost_add(tp_cost a, tp_cost b) {
  return a >= TP_COST_FORBIDDEN - b || b >= TP_COST_FORBIDDEN ? TP_COST_FORBIDDEN : a + b;
}
static inline double tp_cost_seconds(tp_cost c) { return (double)c * 1e-12; }

/* Kinds of communication, also the vocabulary of reshard steps, reports and the runtime's
 * counters. */
typedef enum tp_collective {
  TP_ALL_GATHER,
  TP_REDUCE_SCATTER,
  TP_ALL_REDUCE,
  TP_ALL_TO_ALL,
  TP_PERMUTE,
  TP_BROADCAST,
  TP_N_COLLECTIVES
} tp_collective;

/* "all_gather", ... as in upstream's shard dialect. */
TP_API const char *tp_collective_name(tp_collective c);

/* One line per kind: seconds = alpha + bytes / bandwidth, bytes as defined above. */
typedef struct tp_line {
  double alpha_us;     /* microseconds */
  double gbytes_per_s; /* 1e9 bytes per second and device */
} tp_line;

typedef struct tp_link { /* one mesh axis */
  tp_line lines[TP_N_COLLECTIVES];
  /* second line for small messages; alpha_us == 0 && gbytes == 0: none */
  tp_line latency_lines[TP_N_COLLECTIVES];
  double
      /* what each doubling of the group beyond this axis adds to alpha, when axes of several levels
       * form one group */
      doubling_us;
  int level; /* of the machine, innermost 0 */
} tp_link;

/* The lines of a group of several axes that lie in one level. */
typedef struct tp_joint {
  int level;
  int64_t n; /* devices of the group */
  tp_link link;
} tp_joint;

enum { TP_MAX_JOINTS = 64 };

/* Classes of element types by the speed at which they are contracted. All types that are not named
 * count as f32. */
/* F16: bf16 too */
typedef enum tp_peak {
  TP_PEAK_F32,
  TP_PEAK_F64,
  TP_PEAK_F16,
  TP_PEAK_F8,
  TP_PEAK_I8,
  TP_N_PEAKS
} tp_peak;

/* "f32", ... as in topology files. */
TP_API const char *tp_peak_name(tp_peak peak);

/* The kernels of a device that reach the memory of the other devices of their level, and so do a
 * collective in one launch with what stands around it (docs/explanation/fused-kernels.md).
 * gbytes_per_s == 0: there are none. */
enum { TP_MAX_LEVELS = 8, TP_MAX_PULLS = 8 };

typedef struct tp_kernels {
  double signal_us;    /* until all devices of a group know that each has come to a point */
  double gbytes_per_s; /* 1e9 bytes per second and device, read from others or written to them */
  /* a tensor of at most this, divided by the devices of the group, goes through staging memory */
  int64_t push_bytes;
  int n_pulls;
  struct {
    /* groups of up to n devices: every device reads all of a tensor of at most `bytes` from the
     * others */
    int64_t n, bytes;
  } pulls[TP_MAX_PULLS]; /* ascending in n; larger groups than the last have no kernels */
} tp_kernels;

typedef struct tp_topology {
  char name[TP_MAX_AXIS_NAME];
  /* peak of contractions per device, 1e9 operations per second; a multiply and an add are two */
  double gflops[TP_N_PEAKS];
  double elementwise_gops; /* scalar operations of generated code per second, 1e9 */
  double memory_gbytes_per_s;
  int64_t memory_bytes; /* capacity of a device; 0: the file does not say */
  double launch_us;     /* floor of one cluster of ops */
  double efficiency;    /* share of the peaks that real code reaches, (0, 1] */
  /* a contraction with a local dimension of d < this reaches d / min_gemm_dim of the peak; 0: any
   * does */
  int64_t min_gemm_dim;
  tp_link links[TP_MAX_AXES];        /* by axis of the mesh, after tp_machine_bind */
  tp_kernels kernels[TP_MAX_LEVELS]; /* by level, tp_link.level */
  /* groups beyond TP_MAX_JOINTS, which need a mesh of thousands of devices, are priced as those
   * over several levels */
  int n_joints;
  /* the prices of these groups; links then price only their single axes */
  tp_joint joints[TP_MAX_JOINTS];
} tp_topology;

/* What a topology file says, of no mesh yet. Opaque; made by the loaders, ended by
 * tp_machine_destroy. */
typedef struct tp_machine tp_machine;

/* Loads a machine by name ("cpu", "h100", ...) or from a file: what holds a '/' or ends in ".json"
 * is the path of one. A name is looked for as NAME.json in the folders of the environment variable
 * TP_TOPOLOGY_PATH (separated by ':'; not looked at in programs with raised privileges), then among
 * the files of share/topology that are built into the library. `why` (may be NULL, else why_size
 * bytes) receives a message on failure, with file, line, key and what was expected. Errors:
 * TP_NOT_FOUND (no such name or file), TP_IO (it cannot be read), TP_INVALID_ARGUMENT (it is not a
 * topology file), TP_NO_MEMORY. */
TP_API tp_status tp_machine_load(const char *name, char *why, size_t why_size,
                                 tp_machine **machine);
/* The same from `length` bytes of text; `label` stands for the file in messages. */
TP_API tp_status tp_machine_parse(const char *label, const char *text, size_t length, char *why,
                                  size_t why_size, tp_machine **machine);
TP_API void tp_machine_destroy(tp_machine *machine); /* NULL is fine */

/* Binds a machine to the axes of `mesh`: an axis belongs to the innermost level whose devices hold
 * its groups (devices are numbered so that a level is a run of them), and latencies depend on its
 * size. The result owns nothing. TP_INVALID_ARGUMENT when the mesh has more devices than the
 * machine. */
TP_API tp_status tp_machine_bind(const tp_machine *machine, const tp_mesh *mesh, char *why,
                                 size_t why_size, tp_topology *topology);

/* tp_machine_load and tp_machine_bind in one; errors are theirs. */
TP_API tp_status tp_topology_load(const char *name, const tp_mesh *mesh, char *why, size_t why_size,
                                  tp_topology *topology);
/* NULL-terminated list of the names built in; the first is the default. Static storage. */
TP_API const char *const *tp_topology_names(void);

/* What prices are about.
 *   time: modelled picoseconds, as said above.
 *   bytes: what a device sends, and what it computes. A byte sent costs TP_BYTE_PS, whatever
 *     carries it; so do TP_BYTE_FLOPS operations of
 *     contractions or TP_BYTE_SCALARS others, without which the fewest bytes were often sent by
 *       doing all work on every device. Of what is equal in that the least
 *     time is taken: a millisecond of it counts as a byte. */
typedef enum tp_objective { TP_OBJECTIVE_TIME, TP_OBJECTIVE_BYTES, TP_N_OBJECTIVES } tp_objective;

enum { TP_BYTE_PS = 10000, TP_BYTE_FLOPS = 20, TP_BYTE_SCALARS = 30 };

TP_API const char *tp_objective_name(tp_objective objective); /* "time", "bytes" */
TP_API bool tp_objective_find(const char *name, tp_objective *objective);

/* Makes a topology that gives times, as tp_machine_bind leaves it, one that gives the prices of
 * TP_OBJECTIVE_BYTES. */
TP_API void tp_topology_count_bytes(tp_topology *topology);

/* Algorithmic bytes sent per device. `elements`: of the full tensor of the group (for all_gather
 * the output, for reduce_scatter and all_reduce the input, for all_to_all and permute the local
 * buffer); n: devices in the group. */
TP_API int64_t tp_cost_bytes(tp_collective kind, int64_t n, int64_t elements, int64_t element_size);

/* How a collective over several axes is done: in one go, or in stages, each a collective over some
 * of the axes.
 *   all_reduce: reduce_scatter over some or all axes, all_reduce of the piece over the others (if
 *     any), all_gather over the first; only
 *     where the scattered axes divide the number of elements
 *   all_gather, reduce_scatter, all_to_all over two axes: one axis after the other, in either
 *     order. All_to_all sends more bytes then,
 *     the others the same. Over three axes or more they are done in one go; reshard paths go axis
 *       by axis too. Stages are faster where axes differ: of an all_gather over a node and a
 *       network, only the node's stage moves the whole tensor. */
typedef struct tp_stage {
  tp_collective kind;
  int n_axes;
  int axes[TP_MAX_AXES]; /* of the mesh, ascending */
  tp_cost cost;
} tp_stage;

enum { TP_MAX_STAGES = 3 };

typedef struct tp_form {
  int n_stages; /* 0 for a group of one device; 1: in one go */
  tp_stage stages[TP_MAX_STAGES];
  tp_cost cost; /* sum */
} tp_form;

/* The form of least modelled time of a collective over the axes `axes` (n_axes of them) of `mesh`;
 * the fewest stages of equal times. `elements` as in tp_cost_bytes. */
TP_API tp_form tp_cost_form(const tp_topology *topology, const tp_mesh *mesh, tp_collective kind,
                            int n_axes, const int *axes, int64_t elements, int64_t element_size);
/* Its time; 0 for a group of one device. */
TP_API tp_cost tp_cost_collective(const tp_topology *topology, const tp_mesh *mesh,
                                  tp_collective kind, int n_axes, const int *axes, int64_t elements,
                                  int64_t element_size);
/* The time of doing it in one go. */
TP_API tp_cost tp_cost_flat(const tp_topology *topology, const tp_mesh *mesh, tp_collective kind,
                            int n_axes, const int *axes, int64_t elements, int64_t element_size);

/* Local work of an op or a cluster of ops. */
typedef struct tp_work {
  tp_peak peak;             /* of the contraction's inputs */
  double contraction_flops; /* a multiply and an add are two */
  /* smallest of the three local dimensions of the contraction; 0: not known. At 1 it is a product
   * with a vector, whose time is that of the memory: not derated */
  int64_t gemm_dim;
  double scalar_ops;
  double memory_bytes;
  bool launch; /* adds the floor */
} tp_work;

/* Modelled time of local compute: max of the time of the arithmetic (contractions plus scalar
 * operations) and of the memory traffic. */
TP_API tp_cost tp_cost_compute(const tp_topology *topology, const tp_work *work);

/* ---- a sum over devices in one kernel with what is done to its rows ---- */

/* How the kernel moves the data (tprt_cuda_algorithm). */
typedef enum tp_fused_algorithm {
  TP_FUSED_NONE,
  TP_FUSED_PUSH,
  TP_FUSED_PULL,
  TP_FUSED_SLICES,
  TP_N_FUSED
} tp_fused_algorithm;

/* "none", "push", "pull", "slices" */
TP_API const char *tp_fused_name(tp_fused_algorithm algorithm);

/* A tensor of `tokens` rows of `hidden` elements, summed over the devices of `axes`. It may be a
 * product: then each device computes a slice of rows for each of the others, stores it there, and
 * reduces what the others have stored; so a slice is sent while the next is computed. */
typedef struct tp_fused_rows {
  int n_axes;
  const int *axes; /* of the mesh */
  int64_t tokens, hidden, element_size;
  bool scattered; /* each device gets a slice of the rows of the sum */
  /* for what is done to the rows of the sum, if it is done separately; 0: nothing is. Each behind
   * the first reads rows that one before stores */
  int n_kernels;
  int n_passed; /* tensors of rows that are stored only to be read so */
  /* tensors of rows beside the sum that are read, of the size of the sum's local part */
  int n_operands;
  int n_results;  /* tensors of rows that are stored, at least 1 without quantisation */
  int n_gathered; /* scattered: so many of them are gathered again */
  int64_t k;      /* the rows are a product [tokens, k] [k, hidden]; 0: they are given */
  tp_peak peak;   /* of it */
  bool
      /* the last thing that is done to the rows makes f8 of them, which are a result, too:
       * separately, it takes another kernel */
      quantised;
  int64_t n_scales;        /* f32 that are stored for each row with them */
  bool quantised_gathered; /* scattered: f8 and scales are gathered again */
} tp_fused_rows;

typedef struct tp_fused_price {
  tp_fused_algorithm algorithm; /* TP_FUSED_NONE: no kernel reaches all devices of the group */
  tp_cost fused,
      /* modelled times: in one kernel; as collectives and kernels for the rows. Of a product: with
       * it in slices; with it as one, and the less of the two for its rows */
      separate;
  const char *
      /* why the model is not to be trusted with a product: what public measurements of such schemes
       * do not cover, or have found slower. NULL: it is */
      unmeasured;
} tp_fused_price;

/* The algorithm and both times: functions of the arguments, so all devices agree. Source:
 * thresholds as tprt_cuda_choose, from the file; of products, as tprt_cuda_choose_slices. */
TP_API tp_fused_price tp_cost_fused_rows(const tp_topology *topology, const tp_mesh *mesh,
                                         const tp_fused_rows *rows);

/* Rows [tokens, width] that are gathered over the devices of `axes`, and products of them by
 * [width, columns] matrices: done in slices, the rows of one device are copied while those of
 * another are multiplied. */
enum { TP_MAX_GATHERED = 4 };
typedef struct tp_gathered_rows {
  int n_axes;
  const int *axes; /* of the mesh */
  int64_t tokens, width, element_size;
  int n; /* products */
  int64_t columns[TP_MAX_GATHERED];
  tp_peak peak;
} tp_gathered_rows;

/* Algorithm TP_FUSED_SLICES, or TP_FUSED_NONE; fused: in slices; separate: an all_gather and then
 * the products. */
TP_API tp_fused_price tp_cost_gathered_rows(const tp_topology *topology, const tp_mesh *mesh,
                                            const tp_gathered_rows *rows);

/* ---- what a softmax needs of rows whose columns are split over devices, in one exchange ---- */

/* A device has [tokens, columns] of them. */
typedef struct tp_fused_softmax {
  int n_axes;
  const int *axes; /* of the mesh, over which the columns are split */
  int64_t tokens, columns, element_size;
  int n_collectives; /* that there are otherwise, of a number of 4 bytes for each row */
} tp_fused_softmax;

/* Modelled times: of a kernel that reads the rows once and an all-gather of 16 bytes a row; of the
 * collectives, with a kernel that reads the rows in front of each of the first two. False where the
 * topology has no kernels for the group. */
TP_API bool tp_cost_fused_softmax(const tp_topology *topology, const tp_mesh *mesh,
                                  const tp_fused_softmax *softmax, tp_cost *fused,
                                  tp_cost *separate);

#ifdef __cplusplus
}
#endif
#endif
