/* Passes and pipelines.
 *
 * Every pass runs on a builtin.module and takes textual options: "tp-propagate{mesh=dp=2,tp=4
 * strategy=plan}". `shard-opt --help` and docs/reference/passes.md list all options; both are
 * generated from one table.
 *
 * Errors: MLIR diagnostics on the context; a failed pass has emitted exactly one error. Thread
 * rule: registration is idempotent and may happen on any thread, before pipelines run. A context is
 * used by one thread at a time, as in MLIR. */
#ifndef TP_PASSES_H
#define TP_PASSES_H

#include "tp/pass_list.h"
#include "tp/status.h"

#include <mlir-c/IR.h>
#include <mlir-c/Pass.h>

#ifdef __cplusplus
extern "C" {
#endif

/* Registers all passes and pipelines under their names, as mlirRegisterAllPasses does for MLIR's
 * own. */
TP_API void tp_register_passes(void);

/* Prepares `context` for the passes: registers MLIR's dialects and loads those whose ops the passes
 * create. Errors of MLIR's parser get a note with the way out, where one is known; it is in what
 * handlers of diagnostics receive that were attached before. */
TP_API void tp_context_prepare(MlirContext context);

/* Runs a textual pipeline on `module`, in place: "tp-spmd{mesh=tp=4}", or the form of mlir-opt,
 * "builtin.module(tp-spmd{mesh=tp=4})". TP_INVALID_ARGUMENT if the text does not parse or a pass
 * rejects the module, or if the result does not verify; TP_NO_MEMORY if memory runs out.
 * Diagnostics on the module's context give the reason. After a failure the module can only be
 * destroyed. */
TP_API tp_status tp_run_pipeline(MlirModule module, const char *pipeline);

/* A constructor for each pass of tp/pass_list.h: tp_create_propagate creates tp-propagate, for
 * mlirOpPassManagerAddOwnedPass. `options` has the form of pipelines without braces, "mesh=tp=4
 * strategy=plan"; NULL: defaults. Values are checked when the pass runs. Returns a null pass, and
 * emits an error on `context`, if the pass has no such option. */
#define TP_DECLARE_CREATE(name)                                                                    \
  TP_API MlirPass tp_create_##name(MlirContext context, const char *options);
TP_PASS_LIST(TP_DECLARE_CREATE)
#undef TP_DECLARE_CREATE

typedef enum tp_option_type {
  TP_OPTION_TEXT,   /* any text, such as a name or a path */
  TP_OPTION_BOOL,   /* true or false */
  TP_OPTION_CHOICE, /* one of several names */
  TP_OPTION_INT,    /* a whole number */
  TP_OPTION_NUMBER, /* a number */
  TP_OPTION_BYTES,  /* a number of bytes, with or without a unit: 512MiB, 80GB */
} tp_option_type;

/* One option of a pass or pipeline. All strings are static. */
typedef struct tp_option_info {
  const char *name;
  tp_option_type type;
  /* The allowed values: "time|bytes", "0..1000", "0<..10000" (above 0), "0..<1" (below 1),
   * "BYTES|none". Words in capitals stand for texts of that kind. */
  const char *values;
  const char *default_value; /* "": no value */
  const char *help;
} tp_option_info;

/* One pass or pipeline, for documentation and tools. */
typedef struct tp_pass_info {
  const char *name;
  const char *summary;
  const char *description; /* what the pass requires, establishes and invalidates */
  int n_options;
  /* For a pipeline, the passes it runs, where {*} stands for the options of the pipeline that the
   * pass has; NULL for a pass. */
  const char *pipeline;
} tp_pass_info;

/* Return the number of passes and pipelines, and the `i`-th of them. */
TP_API int tp_pass_count(void);
TP_API tp_pass_info tp_pass_get(int i);
/* Returns option `option` of the `i`-th pass or pipeline. */
TP_API tp_option_info tp_pass_option(int i, int option);
/* Checks a value of that option, as a run of the pass does first. On failure `why`, of why_size
 * bytes, receives a message that names the option. Errors: TP_INVALID_ARGUMENT
 * (the value is not allowed), TP_NOT_FOUND (no such option; `why` is ""). Of texts, such as names
 * of topologies, nothing is checked. */
TP_API tp_status tp_pass_option_check(int i, int option, const char *value, size_t why_size,
                                      char *why);

/* Runs MLIR's opt driver with the passes of MLIR and of this library; the body of shard-opt's main.
 * Returns the exit code. */
TP_API int tp_opt_main(int argc, char **argv);

/* Returns the version of this library, "0.1.0". */
TP_API const char *tp_version(void);

#ifdef __cplusplus
}
#endif
#endif
