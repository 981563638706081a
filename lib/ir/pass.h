/* The pass table, and the data that a running pass sees. The rows are C; lib/ir/shim.cpp registers
 * each row as an MLIR pass. */
#ifndef TP_IR_PASS_H
#define TP_IR_PASS_H

#include "tp/passes.h"

#ifdef __cplusplus
extern "C" {
#endif

enum { TP_MAX_OPTIONS = 16, TP_MAX_STATISTICS = 16 };

typedef struct tp_statistic_row {
  const char *name;
  const char *help;
} tp_statistic_row;

/* Data that a pass leaves for the next one. It describes the current state of the module, so MLIR
 * drops it as soon as any other pass has run on the module. */
typedef struct tp_legacy {
  void *data; /* NULL: no data */
  void (*drop)(void *data);
} tp_legacy;

/* A running pass. */
typedef struct tp_pass {
  MlirOperation module;
  MlirContext context;
  const char *name;
  const tp_option_row *option_rows;
  int n_options;
  const char *options[TP_MAX_OPTIONS];   /* values, in the order of the row's options */
  int64_t statistics[TP_MAX_STATISTICS]; /* added to MLIR's statistics when the pass ends */
  /* Data left by the previous pass, or NULL. Valid while this pass runs. */
  const void *inherited;
  /* Data for the next pass, if this pass succeeds. The adapter owns the data and drops it in any
   * case. */
  tp_legacy left;
} tp_pass;

typedef struct tp_pass_row {
  const char *name;
  const char *summary;
  const char *description;
  const tp_option_row *options;
  int n_options;
  const tp_statistic_row *statistics;
  int n_statistics;
  tp_status (*run)(tp_pass *pass);
} tp_pass_row;

/* A pipeline. In its text, {name} expands to name=value if that option was given. */
typedef struct tp_pipeline_row {
  const char *name;
  const char *summary;
  const tp_option_row *options;
  int n_options;
  const char *text;
} tp_pipeline_row;

/* The tables (passes/registry.c, passes/pipelines.c). */
const tp_pass_row *const *tp__pass_rows(int *n);
const tp_pipeline_row *tp__pipeline_rows(int *n);

/* Returns the value of option `name` of the running pass. The name must exist. */
const char *tp__pass_option(const tp_pass *pass, const char *name);

#ifdef __cplusplus
}
#endif
#endif
