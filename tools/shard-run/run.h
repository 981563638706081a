/* shard-run, its parts: cli (options), diagnostics, build (compiling), library and shards (what is
 * compiled ahead of time), inputs, launch and worker (running), outputs (putting shards together),
 * compare and evaluate (judging), report (JSON), table (text). */
#ifndef SHARD_RUN_RUN_H
#define SHARD_RUN_RUN_H

#include "array.h"
#include "compare.h"
#include "tools/cli/cli.h"

#include "tp/compile.h"
#include "tp/inputs.h"
#include "tp/passes.h"
#include "tp/plan.h"
#include "tp/reference.h"
#include "tprt/abi.h"

#include <stdio.h>

enum { EXIT_VERIFIED = 0, EXIT_FAILED = 1 };

/* ---- options ---- */

typedef struct text_list {
  const char **items;
  int n;
} text_list;

typedef enum launch_kind {
  LAUNCH_DEFAULT, /* attached to what a launcher started, else threads */
  LAUNCH_THREADS,
  LAUNCH_PROCESSES,
  LAUNCH_ATTACHED,
} launch_kind;

typedef enum run_target { TARGET_CPU, TARGET_CUDA } run_target;

typedef struct options {
  const char *model, *mesh, *strategy, *objective, *topology, *function, *inputs_from, *report,
      *plan_report, *emit, *output, *shards, *worker, *unknown_ops, *memory_limit, *backend,
      *overlap, *fuse;
  text_list inputs, expected, save;
  launch_kind launch;
  run_target target;
  bool verify, generic, graph;
  /* results are compared with the evaluation of the program's text, not with one device */
  bool by_evaluator;
  int n_copies;   /* of `command`; 0: this is a run of a model */
  char **command; /* ends with NULL */
  double timeout; /* seconds; 0: the runtime's */
  uint64_t seed;
  int repeat, opt_level;
} options;

/* Returns CLI_GO_ON, or the exit code. */
int cli_parse(int argc, char **argv, options *o);
double seconds_now(void);

/* Prints the compiler's diagnostics from now on. */
void diagnostics_attach(MlirContext context);

/* ---- programs ---- */

typedef struct build {
  MlirModule module;
  tp_plan *shape; /* before optimization: signature and arithmetic */
  tp_plan *plan;  /* as compiled: the collectives */
  tp_bytes object;
} build;

typedef enum build_kind {
  BUILD_ALONE,   /* as it is: for one device, or already partitioned */
  BUILD_SHARDED, /* by tp-spmd */
  BUILD_WHOLE,   /* for all devices of the mesh, every value whole on each */
} build_kind;

/* The program of one device, on tensors. */
bool build_partition(const options *o, MlirModule source, build_kind kind, build *b);
/* Has it communication or device indices that its user wrote? Then it has no meaning on one
 * device. */
bool build_communicates(MlirModule source);
/* Then its code, in the form of --emit; NULL: an object to be run here. */
bool build_object(const options *o, run_target target, const char *form, build *b);
void build_clear(build *b);

/* ---- shared libraries, --emit=so ---- */

/* The name of the function of libNAME.so; false, with a message, where that is no name for C. */
bool library_name(const char *path, char *name, size_t size);
/* Gives the function that name; before code is made. */
bool library_rename(build *b, const char *name);
/* Links the object to the file of -o, and writes NAME.h beside it. */
bool library_write(const options *o, const build *b, const char *name);

/* ---- running ---- */

typedef struct rank_result {
  tprt_status status;
  char error[512];
  double seconds;         /* of one execution, the best of those timed */
  char no_graph[256];     /* why executions were none of a graph; "" otherwise */
  char gemm[512];         /* who multiplied matrices; "" on a GPU */
  tprt_site_stats *sites; /* per site, over the timed executions; owned by the launch */
} rank_result;

typedef struct launch {
  int n_ranks, n_inputs, n_outputs, n_sites, repeat;
  const char *function, *backend; /* backend: of the ranks; NULL: the runtime's choice */
  const tp_bytes *object;
  double timeout;
  array **inputs;  /* [rank][input] */
  array **outputs; /* [rank][output], made by the caller */
  rank_result *ranks;
  int64_t private_bytes, registered_bytes;
  bool on_gpu; /* the program's target */
  bool graph;  /* executions are launches of a graph, where that can be */
} launch;

/* Runs the program on all ranks. False, with a message printed, when it did not succeed
 * everywhere. */
bool launch_threads(launch *l);
bool launch_processes(launch *l);
/* On the ranks of `world`, of which this is rank 0. */
bool launch_attached(launch *l, tprt_comm *world);
/* Loads the program and reads its table: number of sites, sizes of the blocks. */
bool launch_load(launch *l, tp_program **program, tp_entry *entry);
/* The same, and unloads it. */
bool launch_describe(launch *l);
/* Prints what the ranks that failed say, each text once (one rank fails by itself, the others hear
 * of it); true when none did. */
bool launch_report(const launch *l);
/* What one rank does, in either form. */
typedef struct rank_work {
  tp_entry entry;
  bool on_gpu; /* then the arrays have their shapes; otherwise data alone is used */
  bool graph;
  int n_inputs, n_outputs, n_sites, repeat;
  const array *inputs;
  array *outputs;
} rank_work;
void run_rank(tprt_comm *world, const rank_work *work, rank_result *result);
/* The rank whose program this thread is in; -1: none. May be called in a handler of signals. */
int launch_rank_in_program(void);
/* From now on a program that divides by 0 or reaches memory out of bounds ends the process with a
 * message, and code 1. */
void faults_catch(void);
/* Joins the world of processes that a launcher started, if there is one. False, with a message,
 * when that fails. */
bool attached_join(const options *o, bool *attached, tprt_comm **world);
/* What ranks other than 0 do until rank 0 ends; returns the exit code. */
int attached_obey(tprt_comm *world);
/* Rank 0 lets the others go, with this exit code. */
void attached_end(tprt_comm *world, int code);

/* Starts a program n times and waits; returns the exit code. */
int start_program(int n, char **command);
/* The worker process: `text` is the value of --worker. */
int worker_main(const char *text);

/* ---- data ---- */

/* One array per argument: from files, or drawn from the seed. */
bool inputs_load(const options *o, MlirModule module, const tp_plan *plan, array **inputs);
/* One array per result where a file is given; others have data NULL. */
bool expected_load(const options *o, const tp_plan *plan, array **expected);
/* Shards of the arguments for all ranks, and room for their results. */
bool shards_create(const tp_plan *plan, const array *whole, launch *l);
void launch_clear(launch *l);
/* --shards: what describes the program to a launcher, and of each value that is not NULL the part
 * of each rank. `program` is the name of its function. False, with a message, when a file cannot be
 * written. */
bool shards_write(const options *o, const tp_plan *plan, const char *program, const array *inputs,
                  const array *expected, const array *one);
/* Puts the results together; false, with a message, when replicas differ in a bit. */
bool outputs_join(const tp_plan *plan, const launch *l, array **whole);
void arrays_clear(array *arrays, int n);

/* ---- verdict ---- */

/* Evaluates the function of a module that is not partitioned, as if nothing rounded; or
 * `with_bounds`, which tell what rounding decides. NULL, and `why` says why not. */
tp_reference *evaluate(MlirModule module, const char *function, const tp_plan *plan,
                       const array *inputs, bool with_bounds, size_t why_size, char *why);
/* Of result `k` as the evaluator has it, and as one device computed it (NULL: unknown). Both are
 * judged by the evaluator, whose precision is higher: a value is wrong when its error is above the
 * tolerance against one device, and above several times the error of one device, whose inputs and
 * rounding are the same. A program of which even one device is far off is not verified. Numbers
 * that rounding decides have to be those of one device, integers apart. */
comparison compare_with_evaluator(const array *value, const array *one,
                                  const tp_reference *reference, int k);

typedef struct outcome {
  const options *options;
  const build *program, *reference; /* reference may be NULL */
  const char *against, *where;      /* of the reference: "against one device", "on one device" */
  const launch *run, *reference_run;
  /* One per result. */
  comparison *against_one, *against_expected, *against_evaluator;
  /* The evaluator was wanted, and does not know the program; NULL: nothing of the kind. */
  const char *not_evaluated;
  bool verified;
} outcome;

void table_print(const outcome *out, FILE *file);
bool report_write(const outcome *out, const char *path);

#endif
