/* shard-run. Modules: cli (options), diagnostics, reached and build (compilation), library and
 * shards (ahead-of-time outputs), host_topology, inputs, launch and worker (execution), outputs
 * (joining shards), compare and evaluate (verification), report (JSON), trace, page (the plan's),
 * table (text), flight (flight recorders). */
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

/* The main of shard-run. With TP_STATIC it is a part of libtpshard, which does not export the C API
 * of MLIR. */
TP_API int tp__shard_run(int argc, char **argv);

/* ---- Options ---- */

typedef struct text_list {
  const char **items;
  int n;
} text_list;

typedef enum launch_kind {
  LAUNCH_DEFAULT, /* attached to the launcher's world if there is one, else threads */
  LAUNCH_THREADS,
  LAUNCH_PROCESSES,
  LAUNCH_ATTACHED,
} launch_kind;

typedef enum run_target { TARGET_CPU, TARGET_CUDA } run_target;

typedef enum emit_form {
  EMIT_NOTHING,
  EMIT_LIBRARY,
  EMIT_OBJECT,
  EMIT_LLVM,
  EMIT_KERNELS
} emit_form;

/* What results are compared with. */
typedef enum reference_kind {
  REFERENCE_AUTO,      /* one device, and the evaluator if that is quick */
  REFERENCE_DEVICE,    /* one device; the evaluator only if the results differ */
  REFERENCE_EVALUATOR, /* the evaluator; one device only if the results differ */
} reference_kind;

typedef enum overlap_mode { OVERLAP_NO, OVERLAP_RUN, OVERLAP_PLAN } overlap_mode;

typedef struct options {
  int argc; /* of the command line */
  char **argv;
  const char *model, *function, *inputs_from, *report, *trace, *output, *shards, *worker, *backend,
      *flight; /* directory with flight recorders; NULL: this is a run */
  /* values of options of pipelines; NULL: their defaults */
  const char *mesh, *strategy, *objective, *byte_flops, *topology, *unknown_ops, *memory_limit,
      *fuse, *plan_report, *plan_diff, *frontier, *shard_constants, *explain;
  emit_form emit;
  overlap_mode overlap;
  text_list inputs, expected, save;
  launch_kind launch;
  run_target target;
  bool no_verify, generic, no_graph, tf32;
  reference_kind reference;
  int n_copies;   /* number of copies of `command` to start; 0: this is a run of a model */
  int n_spares;   /* processes that may take the place of copies that were killed */
  char **command; /* ends with NULL */
  double timeout; /* seconds; 0: the runtime's default */
  uint64_t seed;
  int repeat, opt_level;
} options;

/* Returns CLI_GO_ON, or the exit code. */
int cli_parse(int argc, char **argv, options *o);
/* Checks that no options of a model's run exclude or lack each other. Returns CLI_GO_ON, or the
 * exit code after a message. */
int usage_check(const options *o);

/* ---- Flight recorders ---- */

/* Prints which rank is missing in which operation, from the files of a directory. Returns the exit
 * code. */
int flight_print(const char *directory);
/* Prints a message of the compiler, in which options of pipelines ("unknown-ops=replicate") become
 * those of shard-run ("--unknown-ops replicate"). */
void cli_respell(const char *message, FILE *out);
/* Writes the text of a pipeline with those of its options that `o` has values for. False, with a
 * message, if a value cannot be passed on. */
bool cli_pipeline(const options *o, const char *pipeline, bool overlap, char *text, size_t size);

/* Prints the compiler's diagnostics from now on. */
void diagnostics_attach(MlirContext context);

/* ---- This host ---- */

/* Replaces --topology=host by the path of this host's file, which is measured if there is none.
 * False, with a message, if that fails. */
bool host_topology(options *o);

/* ---- Programs ---- */

typedef struct build {
  MlirModule module;
  tp_plan *shape;   /* before optimization: signature and arithmetic */
  tp_plan *plan;    /* of the compiled program: its collectives */
  array *constants; /* whole values of the last arguments, shape->n_constants */
  tp_bytes object;
} build;

typedef enum build_kind {
  BUILD_AS_IS,   /* already partitioned */
  BUILD_ALONE,   /* for one device, without shardings */
  BUILD_SHARDED, /* partitioned by tp-spmd */
  BUILD_WHOLE,   /* for all devices of the mesh, with every value replicated */
} build_kind;

/* Erases the functions that this one does not reach. False, with a message, if memory is short. */
bool reached_only(MlirModule module, const char *function);
/* Builds the per-device program, on tensors. */
bool build_partition(const options *o, MlirModule source, build_kind kind, build *b);
/* Returns true if the source contains communication or device indices written by the user. Such a
 * program has no meaning on one device. */
bool build_communicates(MlirModule source);
/* Compiles the program, as a second step, to the form of --emit; EMIT_NOTHING: to an object that is
 * run here. */
bool build_object(const options *o, run_target target, emit_form form, build *b);
void build_clear(build *b);

/* ---- Shared libraries, --emit=so ---- */

/* True if an object may export a function of this name; else prints why not. */
bool library_can_export(const char *name);
/* Returns the function name for libNAME.so; false, with a message, if it is not a valid C name. */
bool library_name(const char *path, char *name, size_t size);
/* Renames the function; called before code generation. */
bool library_rename(build *b, const char *name);
/* Links the object to the file of -o, and writes NAME.h next to it. */
bool library_write(const options *o, const build *b, const char *name);

/* ---- Execution ---- */

typedef struct rank_result {
  tprt_status status;
  char error[512];
  double seconds;      /* best time of one timed execution */
  char no_graph[256];  /* why executions did not use a graph; "" otherwise */
  char gemm[512];      /* the GEMM implementation, see tprt_context_gemm */
  char attention[512]; /* who computes attentions, see tprt_context_attention */
  /* statistics of each site, from the execution whose time is reported; if it ran as a graph, from
   * one more execution without the graph. Owned by the launch */
  tprt_site_stats *sites;
  /* with --trace, the first MAX_TRACED_CALLS of the n_seen calls of the last execution, else NULL;
   * owned by the launch */
  tprt_call *calls;
  int64_t n_seen, begin_ns, end_ns;
  /* the rank's clock minus that of rank 0, and how wrong that may be; 0 on the same host */
  int64_t clock_offset_ns, clock_error_ns;
  /* the epoch in which its process became this rank; 0: at the start; more: it is a spare */
  int joined;
} rank_result;

enum { MAX_TRACED_CALLS = 1 << 15 }; /* per rank */

typedef struct launch {
  int n_ranks, n_inputs, n_outputs, n_sites, repeat;
  const char *function, *backend; /* backend: of the ranks; NULL: the runtime's default */
  const tp_bytes *object;
  double timeout;
  array **inputs;  /* [rank][input] */
  array **outputs; /* [rank][output], allocated by the caller */
  rank_result *ranks;
  int64_t private_bytes, registered_bytes;
  bool on_gpu;     /* the program's target is a GPU */
  bool checks_gpu; /* so is the target of the program for which this one is a reference */
  bool graph;      /* execute by launching a captured graph, if possible */
  bool trace;      /* record calls */
  /* called on a thread of rank 0 when so many of all executions are done; NULL: not wanted */
  void (*on_step)(int done, int all);
} launch;

/* Run the program on all ranks. False, with a message, if it did not succeed on all of them. */
bool launch_threads(launch *l);
bool launch_processes(launch *l);
/* Ranks that a launcher started as processes. */
typedef struct attachment {
  tprt_store *store;   /* where two worlds meet; NULL: each world opens its own */
  tprt_comm *world;    /* for orders and data, in host memory; NULL: no launcher */
  tprt_comm *programs; /* for programs: `world`, or a world on a backend of GPUs */
  bool has_failed;     /* this rank: in the program; so the others end or have ended, too */
} attachment;
/* Runs it on these ranks, of which this is rank 0. */
bool launch_attached(launch *l, attachment *ranks);
/* Loads the program and reads its table: the number of sites and the block sizes. */
bool launch_load(launch *l, tp_program **program, tp_entry *entry);
/* Like launch_load, but unloads the program. */
bool launch_describe(launch *l);
/* Says so if collectives of a program for GPUs go through host memory. */
void launch_say_path(const launch *l, const tprt_comm *world);
/* Prints the messages of failed ranks, each text once (usually one rank fails, and the others
 * report its failure); ranks without a text have nothing to add. True if no rank failed. */
bool launch_report(const launch *l);
/* The work of one rank, for threads and processes. */
typedef struct rank_work {
  tp_entry entry;
  bool on_gpu; /* if set, the arrays have their shapes; otherwise only their data is used */
  bool graph;
  int n_inputs, n_outputs, n_sites, repeat;
  void (*on_step)(int done, int all);
  const array *inputs;
  array *outputs;
} rank_work;
void run_rank(tprt_comm *world, const rank_work *work, rank_result *result);
/* Returns the rank whose program this thread is executing; -1: none. Async-signal-safe. */
int launch_rank_in_program(void);
/* Installs handlers: if the program divides by 0 or accesses memory out of bounds, the process ends
 * with a message and code 1. */
void faults_catch(void);
/* Joins the world of processes that a launcher started, if there is one. Programs for GPUs use NCCL
 * if all ranks have it and a GPU each, unless a backend is chosen. False, with a message, if that
 * fails. */
bool attached_join(const options *o, attachment *ranks);
/* Executes the orders of rank 0 on the other ranks until rank 0 ends; returns the exit code. */
int attached_obey(attachment *ranks);
/* To be called when communication with the other ranks has failed. If a rank has ended, a spare
 * takes its place: true. False if the launcher starts no spares or no rank has ended, and, with a
 * message, if no spare could take the place. */
bool attached_recover(attachment *ranks);
/* Ends the other ranks with this exit code. Called by rank 0. */
void attached_end(attachment *ranks, int code);
void attached_leave(const attachment *ranks);
/* Runs an operation on bytes in the world. Once the program has failed here, the others have only
 * seconds. A failure is printed unless there are spares, or the failure of the program is its
 * reason. */
bool attached_move(const attachment *ranks, tprt_op op);

/* Starts a program n times and waits for all; starts up to n_spares more in place of those that a
 * signal killed. Returns the exit code. */
int start_program(int n, int n_spares, char **command);

enum { SIGNAL_TEXT = 256 };
/* Writes "signal 9 (Killed)" and what to do about it. Returns `text`. */
const char *signal_text(int number, char *text, size_t size);
/* Main function of a worker process: `text` is the value of --worker. */
int worker_main(const char *text);

/* ---- Data ---- */

/* Creates one array per argument: from files, or random from the seed. */
bool inputs_load(const options *o, MlirModule module, const tp_plan *plan, array **inputs);
/* Reads one array per result for which a file is given; the others have data NULL. */
bool expected_load(const options *o, const tp_plan *plan, array **expected);
/* Checks that there are not more files of --output than results. False after a message. */
bool outputs_fit(const options *o, const tp_plan *plan);
/* Reads the constants that are arguments; NULL on failure, with a message. */
array *constants_load(MlirModule module, const tp_plan *plan);
/* Warns if devices have no part of an argument or result that is split. */
void shards_warn_of_idle(const tp_plan *plan);
/* Creates the shards of the arguments for all ranks, and the buffers for their results. `inputs`
 * has the arguments that are no constants; NULL: their shards have no data. */
bool shards_create(const build *b, const array *inputs, launch *l);
void launch_clear(launch *l);
/* --shards: writes a description of the program for launchers, and each rank's shard of constants
 * that are arguments and of every array that is not NULL. `program` is the name of its function.
 * False, with a message, if a file cannot be written. */
bool shards_write(const options *o, const build *b, const char *program, const array *inputs,
                  const array *expected, const array *one);
/* Writes an npy file. False after a message. */
bool output_write(const char *path, const array *a);
/* Joins the result shards; false, with a message, if replicas are not bitwise equal. */
bool outputs_join(const tp_plan *plan, const launch *l, array **whole);
void arrays_clear(array *arrays, int n);

/* ---- Verification ---- */

typedef enum evaluation_mode {
  EVALUATE_EXACT,   /* nothing rounds */
  EVALUATE_BOUNDED, /* identifies values that depend on rounding */
  /* estimates how much rounding may change; TP_NOISES values from here on are estimates */
  EVALUATE_NOISY,
} evaluation_mode;

/* Evaluates the function of a module that is not partitioned. max_steps: as in
 * tp_reference_options. On failure NULL, with the reason in `why`. */
tp_reference *evaluate(MlirModule module, const char *function, const tp_plan *plan,
                       const array *inputs, evaluation_mode mode, double max_steps, size_t why_size,
                       char *why);
/* Compares result `k`, and the same result as one device computed it (NULL: unknown), with the
 * evaluator, whose precision is higher. A value is wrong if its error exceeds both the tolerance
 * for one device and several times the error of one device, which has the same inputs and rounding.
 * If even one device has a large error, the program is ill-conditioned and not verified, unless
 * `noisy`, a noisy evaluation (NULL: none), shows that rounding explains no error of that order:
 * then both are wrong. Numbers that depend on rounding must equal those of one device, except
 * integers. The tolerance of floats is at least `least`. What is left of an exact 0 is right if
 * rounding of numbers up to `largest`, the largest of the program, explains it. */
comparison compare_with_evaluator(const array *value, const array *one,
                                  const tp_reference *reference, const tp_reference *noisy, int k,
                                  double least, double largest);
/* Returns the largest change of a number of result `k` that the noise of a noisy evaluation makes.
 * Numbers that the noise makes infinite or undefined count as infinitely changed. */
double change_by_noise(const tp_reference *reference, const tp_reference *noisy, int k);
/* Judges a result with rounding_tolerance again: it is ok if its error is at most several times the
 * largest change by noise that several noisy evaluations show. */
void compare_with_rounding(comparison *c, double change);
/* Judge result `k`, which differs from what was expected, again. Who made the expected values, such
 * as PyTorch, rounds elsewhere, so what rounding explains is no fault.
 *
 * A float is judged by `change`, the largest change by noise, and the types that the evaluator has
 * met. It is ill-conditioned if rounding explains the order of magnitude of its error alone. */
void compare_expected_floats(const array *value, const tp_reference *reference, double change,
                             double largest, int k, comparison *c);
/* Integers that depend on rounding may differ, but the result is ill-conditioned if they are more
 * than half. `bounded` is an evaluation that knows them. */
void compare_expected_integers(const array *expected, const tp_reference *bounded, int k,
                               comparison *c);

typedef struct outcome {
  const options *options;
  const build *program, *reference; /* reference may be NULL */
  /* describe the reference: "against one device", "on one device" */
  const char *against, *where;
  const launch *run, *reference_run;
  /* One per result. */
  comparison *against_one, *against_expected, *against_evaluator;
  /* why the program was not evaluated; NULL: it was, or was not to be */
  const char *not_evaluated;
  bool verified; /* no comparison failed */
  /* every result was compared with the evaluator or with given values; one device goes through the
   * same passes as N, so it is no independent judge */
  bool is_independent;
} outcome;

/* What the results were compared with: "evaluator", "expected", "one device", or NULL. */
const char *outcome_reference(const outcome *out);

void table_print(const outcome *out, FILE *file);
/* The report as JSON; NULL when memory runs out. */
struct json_t *report_json(const outcome *out);
/* Returns the bytes of the results on one device. */
int64_t report_result_bytes(const tp_plan *plan);
bool report_write(const outcome *out, const char *path);
/* Writes the trace of all ranks. */
bool trace_write(const outcome *out, const char *path);
/* Puts the times into the page that the plan was written to; does nothing for other formats. */
bool page_add_run(const outcome *out, const char *path);

#endif
