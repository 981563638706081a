/* The options of pipelines, the public table of passes and pipelines, and execution of a
 * pipeline. */
#include "ir/pass.h"

#include "ir/diagnostics.h"
#include "ir/ir.h"
#include "support/support.h"

#include <assert.h>
#include <ctype.h>
#include <mlir-c/Diagnostics.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

const char *tp_version(void) { return "0.1.0"; }

/* ---- what every pass requires ---- */

/* True if the last op of the block is that which ends bodies of StableHLO. */
static bool ends_as_body(MlirBlock block) {
  MlirOperation last = tp__last_op(block);
  return !mlirOperationIsNull(last) && tp__op_is(last, "stablehlo.return");
}

bool tp__ends_as_body(MlirOperation func) {
  MlirBlock block = mlirRegionGetFirstBlock(mlirOperationGetRegion(func, 0));
  return !mlirBlockIsNull(block) && mlirBlockIsNull(mlirBlockGetNextInRegion(block)) &&
         ends_as_body(block);
}

/* MLIR accepts a function that ends in an op of a dialect that it does not know, since that might
 * be a return. */
tp_status tp__check_ends(MlirOperation module, bool takes_comparators) {
  for (MlirOperation func =
           mlirBlockGetFirstOperation(mlirModuleGetBody(mlirModuleFromOperation(module)));
       !mlirOperationIsNull(func); func = mlirOperationGetNextInBlock(func)) {
    MlirBlock block = {NULL};
    if (tp__op_is(func, "func.func"))
      block = mlirRegionGetFirstBlock(mlirOperationGetRegion(func, 0));
    if (!mlirBlockIsNull(block) && takes_comparators && tp__ends_as_body(func))
      continue;
    for (; !mlirBlockIsNull(block); block = mlirBlockGetNextInRegion(block))
      if (mlirOperationIsNull(mlirBlockGetTerminator(block)))
        return ends_as_body(block)
                   ? tp__error(func, TP_UNSUPPORTED,
                               "is the comparator of an approximate top-k (lax.approx_max_k and "
                               "approx_min_k of JAX); run tp-import-stablehlo first")
                   : tp__error(func, TP_INVALID_ARGUMENT,
                               "does not end in a return; add func.return with its results");
  }
  return TP_OK;
}

/* ---- the options of pipelines ---- */

int tp__pipeline_option_count(const tp_pipeline_row *row) {
  int n = 0;
  for (int i = 0; i < row->n_exposed; i++)
    n += row->exposed[i].name ? 1 : row->exposed[i].pass->n_options;
  return n;
}

static const tp_option_row *find_option(const tp_pass_row *pass, const char *name) {
  for (int i = 0; i < pass->n_options; i++)
    if (strcmp(pass->options[i].name, name) == 0)
      return &pass->options[i];
  return NULL;
}

tp_option_row tp__pipeline_option(const tp_pipeline_row *row, int i) {
  const tp_exposed_row *exposed = row->exposed;
  int n;
  for (; i >= (n = exposed->name ? 1 : exposed->pass->n_options); exposed++)
    i -= n;
  const tp_option_row *option =
      exposed->name ? find_option(exposed->pass, exposed->name) : &exposed->pass->options[i];
  assert(option); /* a pipeline has no option that its pass does not have */
  tp_option_row found = *option;
  if (exposed->default_value)
    found.default_value = exposed->default_value;
  return found;
}

static bool has_option(const char *pass, size_t n, const char *option) {
  for (int i = 0; i < tp_pass_count(); i++) {
    tp_pass_info info = tp_pass_get(i);
    if (strlen(info.name) != n || strncmp(info.name, pass, n) != 0)
      continue;
    for (int k = 0; k < info.n_options; k++)
      if (strcmp(tp_pass_option(i, k).name, option) == 0)
        return true;
  }
  return false;
}

/* Appends the options of a pipeline that are not empty and that the pass at the end of `text`
 * has. */
static void append_options(tp__string *out, const tp_pipeline_row *row, const char *const *values,
                           const char *text, const char *end) {
  const char *name = end, *between = "";
  while (name > text && (name[-1] == '-' || isalnum((unsigned char)name[-1])))
    name--;
  for (int i = 0; i < tp__pipeline_option_count(row); i++) {
    const char *option = tp__pipeline_option(row, i).name;
    if (!*values[i] || !has_option(name, (size_t)(end - name), option))
      continue;
    tp__string_printf(out, "%s%s='%s'", between, option, values[i]);
    between = " ";
  }
}

char *tp__pipeline_text(const tp_pipeline_row *row, const char *const *values) {
  static const char mark[] = "*}"; /* after '{', or after other options and a blank */
  tp__string out = {0};
  const char *at = row->text, *found;
  for (; (found = strstr(at, mark)); at = found + strlen(mark)) {
    const char *begin = found;
    while (*begin != '{')
      begin--;
    tp__string_append_bytes(&out, at, (size_t)(found - at));
    append_options(&out, row, values, at, begin);
    tp__string_append(&out, "}");
  }
  tp__string_append(&out, at);
  return tp__string_take(&out);
}

/* ---- the public table ---- */

int tp_pass_count(void) {
  int n_passes = 0, n_pipelines = 0;
  tp__pass_rows(&n_passes);
  tp__pipeline_rows(&n_pipelines);
  return n_passes + n_pipelines;
}

/* Finds the `i`-th pass or pipeline; the other one is NULL. */
static void find_row(int i, const tp_pass_row **pass, const tp_pipeline_row **pipeline) {
  int n_passes = 0, n_pipelines = 0;
  const tp_pass_row *const *passes = tp__pass_rows(&n_passes);
  const tp_pipeline_row *pipelines = tp__pipeline_rows(&n_pipelines);
  *pass = i >= 0 && i < n_passes ? passes[i] : NULL;
  *pipeline = i >= n_passes && i < n_passes + n_pipelines ? &pipelines[i - n_passes] : NULL;
}

tp_pass_info tp_pass_get(int i) {
  const tp_pass_row *pass;
  const tp_pipeline_row *pipeline;
  find_row(i, &pass, &pipeline);
  if (pass)
    return (tp_pass_info){pass->name, pass->summary, pass->description, pass->n_options, NULL};
  if (pipeline)
    return (tp_pass_info){pipeline->name, pipeline->summary, "",
                          tp__pipeline_option_count(pipeline), pipeline->text};
  return (tp_pass_info){0};
}

/* Finds an option of the `i`-th pass or pipeline. False if there is none. */
static bool find_option_row(int i, int option, tp_option_row *row) {
  const tp_pass_row *pass;
  const tp_pipeline_row *pipeline;
  find_row(i, &pass, &pipeline);
  if (option < 0 || option >= tp_pass_get(i).n_options)
    return false;
  *row = pass ? pass->options[option] : tp__pipeline_option(pipeline, option);
  return true;
}

tp_option_info tp_pass_option(int i, int option) {
  tp_option_row row;
  if (!find_option_row(i, option, &row))
    return (tp_option_info){0};
  return (tp_option_info){row.name, row.type, row.values, row.default_value, row.help};
}

tp_status tp_pass_option_check(int i, int option, const char *value, size_t why_size, char *why) {
  tp_option_row row;
  if (why_size > 0)
    why[0] = 0;
  return find_option_row(i, option, &row) ? tp__check_option(&row, value, why_size, why)
                                          : TP_NOT_FOUND;
}

/* ---- running ---- */

static void keep_message(MlirStringRef text, void *message) {
  size_t n = strlen(message);
  snprintf((char *)message + n, 1024 - n, "%.*s", (int)text.length, text.data);
}

static const char *closest_pass(const char *name, size_t length) {
  enum { MAX_PASSES = 128 };
  const char *names[MAX_PASSES];
  int n = tp_pass_count() < MAX_PASSES ? tp_pass_count() : MAX_PASSES;
  for (int i = 0; i < n; i++)
    names[i] = tp_pass_get(i).name;
  return tp__closest_word(name, length, n, names);
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
  int errors_before = tp__error_count();
  tp__alloc_forget_failure();
  /* "builtin.module(...)" replaces the manager's pass list. Adding it to the list would run it on
   * modules nested in this one. */
  bool anchored = strncmp(pipeline + strspn(pipeline, " \n\t"), anchor, sizeof anchor - 1) == 0;
  MlirLogicalResult ok = anchored
                             ? mlirParsePassPipeline(passes, text, keep_message, message)
                             : mlirOpPassManagerAddPipeline(passes, text, keep_message, message);
  if (mlirLogicalResultIsFailure(ok) && tp__alloc_failed()) {
    tp__out_of_memory(op);
  } else if (mlirLogicalResultIsFailure(ok)) {
    char error[2048];
    size_t n = strcspn(pipeline, "{(, ");
    const char *closest =
        strstr(message, "does not refer to a registered") ? closest_pass(pipeline, n) : NULL;
    if (closest)
      snprintf(error, sizeof error, "there is no pass or pipeline '%.*s'; did you mean '%s'?",
               (int)n, pipeline, closest);
    else
      snprintf(error, sizeof error, "cannot parse the pipeline '%s': %s", pipeline, message);
    mlirEmitError(mlirOperationGetLocation(op), error);
  } else {
    /* once instead of after each pass: in a plan of 26,000 ops verifying is a fifth of the time */
    mlirPassManagerEnableVerifier(manager, false);
    ok = mlirPassManagerRunOnOp(manager, op);
    if (mlirLogicalResultIsSuccess(ok) && !mlirOperationVerify(op))
      ok = mlirLogicalResultFailure();
  }
  mlirPassManagerDestroy(manager);
  if (mlirLogicalResultIsSuccess(ok))
    return TP_OK;
  bool no_memory = tp__error_count() > errors_before && tp__error_status() == TP_NO_MEMORY;
  return no_memory ? TP_NO_MEMORY : TP_INVALID_ARGUMENT;
}
