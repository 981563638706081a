/* Pass options, the public table of passes and pipelines, and execution of a pipeline. */
#include "ir/pass.h"

#include <assert.h>
#include <mlir-c/Diagnostics.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

const char *tp_version(void) { return "0.1.0"; }

const char *tp__pass_option(const tp_pass *pass, const char *name) {
  for (int i = 0; i < pass->n_options; i++)
    if (strcmp(pass->option_rows[i].name, name) == 0)
      return pass->options[i];
  assert(!"a pass asks for an option that its row does not have");
  return "";
}

int tp_pass_count(void) {
  int n_passes = 0, n_pipelines = 0;
  tp__pass_rows(&n_passes);
  tp__pipeline_rows(&n_pipelines);
  return n_passes + n_pipelines;
}

tp_pass_info tp_pass_get(int i) {
  int n_passes = 0, n_pipelines = 0;
  const tp_pass_row *const *passes = tp__pass_rows(&n_passes);
  const tp_pipeline_row *pipelines = tp__pipeline_rows(&n_pipelines);
  if (i >= 0 && i < n_passes) {
    const tp_pass_row *row = passes[i];
    return (tp_pass_info){row->name,    row->summary,   row->description,
                          row->options, row->n_options, NULL};
  }
  if (i >= n_passes && i < n_passes + n_pipelines) {
    const tp_pipeline_row *row = pipelines + (i - n_passes);
    return (tp_pass_info){row->name, row->summary, "", row->options, row->n_options, row->text};
  }
  return (tp_pass_info){0};
}

static void keep_message(MlirStringRef text, void *message) {
  size_t n = strlen(message);
  snprintf((char *)message + n, 1024 - n, "%.*s", (int)text.length, text.data);
}

tp_status tp_run_pipeline(MlirModule module, const char *pipeline) {
  static const char anchor[] = "builtin.module";
  MlirContext context = mlirModuleGetContext(module);
  MlirOperation op = mlirModuleGetOperation(module);
  MlirStringRef text = mlirStringRefCreateFromCString(pipeline);
  MlirPassManager manager =
      mlirPassManagerCreateOnOperation(context, mlirStringRefCreateFromCString(anchor));
  MlirOpPassManager passes = mlirPassManagerGetAsOpPassManager(manager);
  char message[1024] = "";
  /* "builtin.module(...)" replaces the manager's pass list. Adding it to the list would run it on
   * modules nested in this one. */
  bool anchored = strncmp(pipeline + strspn(pipeline, " \n\t"), anchor, sizeof anchor - 1) == 0;
  MlirLogicalResult ok = anchored
                             ? mlirParsePassPipeline(passes, text, keep_message, message)
                             : mlirOpPassManagerAddPipeline(passes, text, keep_message, message);
  if (mlirLogicalResultIsFailure(ok)) {
    char error[2048];
    snprintf(error, sizeof error, "cannot parse the pipeline '%s': %s", pipeline, message);
    mlirEmitError(mlirOperationGetLocation(op), error);
  } else {
    ok = mlirPassManagerRunOnOp(manager, op);
  }
  mlirPassManagerDestroy(manager);
  return mlirLogicalResultIsSuccess(ok) ? TP_OK : TP_INVALID_ARGUMENT;
}
