/* Passes and pipelines.
 *
 * Every pass runs on a builtin.module and takes textual options: "tp-propagate{mesh=dp=2,tp=4
 * strategy=plan}". The list with all options is printed by `shard-opt --help` and stands in
 * docs/reference/passes.md; both come from one table.
 *
 * Errors: MLIR diagnostics on the context; a failed pass has emitted exactly one error. Thread
 * rule: registration is idempotent and may happen on any thread, before pipelines run; a context is
 * used by one thread at a time, as in MLIR. */
#ifndef TP_PASSES_H
#define TP_PASSES_H

#include "tp/status.h"

#include <mlir-c/IR.h>
#include <mlir-c/Pass.h>

#ifdef __cplusplus
extern "C" {
#endif

/* Registers all passes and pipelines under their names, as mlirRegisterAllPasses does for MLIR's
 * own. */
TP_API void tp_register_passes(void);

/* Loads everything the passes need into `context`: registers MLIR's dialects and loads those that
 * passes build. */
TP_API void tp_context_prepare(MlirContext context);

/* Runs a textual pipeline on `module`, in place: "tp-spmd{mesh=tp=4}", or the form of mlir-opt,
 * "builtin.module(tp-spmd{mesh=tp=4})". Returns TP_INVALID_ARGUMENT when the text does not
 * parse or when a pass refuses the module; diagnostics on the module's context say why. */
TP_API tp_status tp_run_pipeline(MlirModule module, const char *pipeline);

/* One option of a pass or pipeline. All strings are static. */
typedef struct tp_option_row {
  const char *name;
  const char *default_value;
  const char *help;
} tp_option_row;

/* One pass or pipeline, for documentation and tools. */
typedef struct tp_pass_info {
  const char *name;
  const char *summary;
  const char *description; /* what it requires, establishes and breaks */
  const tp_option_row *options;
  int n_options;
  const char *pipeline; /* NULL for a pass; the passes it runs for a pipeline */
} tp_pass_info;

/* Number of passes and pipelines, and the `i`-th of them. */
TP_API int tp_pass_count(void);
TP_API tp_pass_info tp_pass_get(int i);

/* Runs MLIR's opt driver with MLIR's and our passes; what shard-opt's main calls. Returns the exit
 * code. */
TP_API int tp_opt_main(int argc, char **argv);

/* Version of this library, "0.1.0". */
TP_API const char *tp_version(void);

#ifdef __cplusplus
}
#endif
#endif
