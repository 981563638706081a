/* The pass table, and the data that a running pass sees. The rows are C; lib/ir/shim.cpp registers
 * each row as an MLIR pass. */
#ifndef TP_IR_PASS_H
#define TP_IR_PASS_H

#include "ir/options.h"

#include <mlir-c/Pass.h>

#ifdef __cplusplus
extern "C" {
#endif

enum { TP_MAX_STATISTICS = 16 };

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
  const void *options;                   /* the options struct of the pass */
  int64_t statistics[TP_MAX_STATISTICS]; /* added to MLIR's statistics when the pass ends */
  /* Data left by the previous pass, or NULL. Valid while this pass runs. */
  const void *inherited;
  /* Data for the next pass, if this pass succeeds. The adapter owns the data and drops it in any
   * case. */
  tp_legacy left;
  void *adapter; /* the MLIR pass around this one, for tp__run_nested */
} tp_pass;

/* Runs a pipeline of other passes, upstream's or ours, on a function of the module of a running
 * pass. False if it fails; its passes emit the diagnostics. The text must be a valid pipeline for a
 * func.func. Implemented in shim.cpp. */
bool tp__run_nested(const tp_pass *pass, MlirOperation func, const char *pipeline);

typedef struct tp_pass_row {
  const char *name;
  const char *summary;
  const char *description;
  const tp_option_row *options;
  int n_options;
  size_t options_size; /* of the struct that the rows fill */
  const tp_statistic_row *statistics;
  int n_statistics;
  bool takes_comparators; /* functions that end in stablehlo.return, see tp__check_ends */
  tp_status (*run)(tp_pass *pass);
} tp_pass_row;

/* Options of a pass that a pipeline has, too: their rows are those of the pass. */
typedef struct tp_exposed_row {
  const tp_pass_row *pass;
  const char *name;          /* NULL: all options of the pass */
  const char *default_value; /* NULL: that of the pass */
} tp_exposed_row;

/* A pipeline. In its text, NAME{*} passes on the options of the pipeline that the pass or pipeline
 * NAME has. */
typedef struct tp_pipeline_row {
  const char *name;
  const char *summary;
  const tp_exposed_row *exposed;
  int n_exposed;
  const char *text;
} tp_pipeline_row;

/* Creates the pass that a row describes. The public constructors tp_create_NAME call it.
 * Implemented in shim.cpp. */
MlirPass tp__create_pass(const tp_pass_row *row, MlirContext context, const char *options);

/* The tables (passes/registry.c, passes/pipelines.c). */
const tp_pass_row *const *tp__pass_rows(int *n);
const tp_pipeline_row *tp__pipeline_rows(int *n);

/* True for a function that ends as bodies of StableHLO do. JAX writes comparators of approximate
 * top-k so. */
bool tp__ends_as_body(MlirOperation func);
/* Checks before every pass that functions end in returns, or in branches. A pass that takes
 * comparators may also get functions that end as bodies. */
tp_status tp__check_ends(MlirOperation module, bool takes_comparators);

int tp__pipeline_option_count(const tp_pipeline_row *row);
tp_option_row tp__pipeline_option(const tp_pipeline_row *row, int i);
/* Returns the text of the pipeline with the values of its options, in the order of its options
 * (tp__free); NULL when memory runs out. */
char *tp__pipeline_text(const tp_pipeline_row *row, const char *const *values);

#ifdef __cplusplus
}
#endif
#endif
