/* tp_text_run: a pipeline on the text of a program, with diagnostics as data. */
#include "tp/text.h"

#include "ir/diagnostics.h"
#include "ir/ir.h"
#include "ir/location.h"
#include "ir/run_hooks.h"
#include "ir/source_names.h"
#include "support/support.h"

#include "tp/passes.h"

#include <mlir-c/Diagnostics.h>
#include <stdio.h>

/* A result with what owns it. `result` stands first, so that a pointer to it is one to this. */
typedef struct owner {
  tp_text_result result;
  tp__arena arena;
  tp_layouts *layouts;
  tp_diagnostic *diagnostics;
  size_t n, capacity;
  bool failed; /* memory ran out */
} owner;

/* ---- diagnostics ---- */

/* Takes over a text that is printed. "" if memory ran out. */
static const char *keep(owner *o, tp__string *text) {
  const char *copy = tp__arena_strndup(&o->arena, tp__string_text(text), text->length);
  o->failed |= text->failed || !copy;
  tp__string_destroy(text);
  return copy ? copy : "";
}

static void place(owner *o, MlirLocation location, tp_diagnostic *d) {
  tp__string text = {0};
  MlirLocation at;
  mlirLocationPrint(location, tp__append_part, &text);
  d->location = keep(o, &text);
  d->file = "";
  if (!tp__location_file(location, &at))
    return;
  MlirStringRef file = mlirIdentifierStr(mlirLocationFileLineColRangeGetFilename(at));
  text = (tp__string){0};
  tp__string_append_bytes(&text, file.data, file.length);
  d->file = keep(o, &text);
  d->line = mlirLocationFileLineColRangeGetStartLine(at);
  d->column = mlirLocationFileLineColRangeGetStartColumn(at);
}

/* Takes the name of the op from the begin of the message, "'linalg.add': ..." or of MLIR's own,
 * "'linalg.add' op ...". */
static void split_message(owner *o, char *text, tp_diagnostic *d) {
  char *end = *text == '\'' ? strchr(text + 1, '\'') : NULL;
  d->op = "";
  d->message = text;
  if (!end || (strncmp(end, "': ", 3) != 0 && strncmp(end, "' op ", 5) != 0))
    return;
  const char *op = tp__arena_strndup(&o->arena, text + 1, (size_t)(end - text - 1));
  o->failed |= !op;
  d->op = op ? op : "";
  d->message = end + (end[1] == ':' ? 3 : 5);
}

/* The begin of a note with the text of an op, which may be as long as the program. */
static const char op_text[] = "see current operation: ";

static void fill(owner *o, MlirDiagnostic from, tp_diagnostic *d) {
  static const tp_severity severities[] = {[MlirDiagnosticError] = TP_ERROR,
                                           [MlirDiagnosticWarning] = TP_WARNING,
                                           [MlirDiagnosticNote] = TP_NOTE,
                                           [MlirDiagnosticRemark] = TP_REMARK};
  tp__string text = {0};
  intptr_t n = mlirDiagnosticGetNumNotes(from);
  tp_diagnostic *notes = tp__arena_array(&o->arena, (size_t)n, sizeof *notes);
  *d = (tp_diagnostic){.severity = severities[mlirDiagnosticGetSeverity(from)], .notes = notes};
  mlirDiagnosticPrint(from, tp__append_part, &text);
  split_message(o, (char *)keep(o, &text), d);
  place(o, mlirDiagnosticGetLocation(from), d);
  o->failed |= !notes;
  for (intptr_t i = 0; notes && i < n; i++) {
    tp_diagnostic *note = &notes[d->n_notes];
    fill(o, mlirDiagnosticGetNote(from, i), note);
    d->n_notes += strncmp(note->message, op_text, strlen(op_text)) != 0;
  }
}

static tp_diagnostic *add(owner *o) {
  if (tp__grow((void **)&o->diagnostics, &o->capacity, o->n + 1, sizeof *o->diagnostics) == TP_OK)
    return &o->diagnostics[o->n++];
  o->failed = true;
  return NULL;
}

static MlirLogicalResult receive(MlirDiagnostic diagnostic, void *data) {
  owner *o = data;
  tp_diagnostic filled, *d;
  fill(o, diagnostic, &filled);
  d = add(o);
  if (d)
    *d = filled;
  return mlirLogicalResultSuccess();
}

/* An error of the request itself, which has no place in the program. */
static tp_status refuse(owner *o, const char *message) {
  tp_diagnostic *d = add(o);
  if (d)
    *d = (tp_diagnostic){
        .op = "", .message = message ? message : "", .file = "", .location = "", .notes = NULL};
  o->failed |= !message;
  return TP_INVALID_ARGUMENT;
}

/* ---- the run ---- */

/* Refuses an option that the pass or pipeline does not have, before the parser does so at
 * length. */
static tp_status check_option(owner *o, const char *pipeline, const char *name, size_t length) {
  enum { MAX_NAMES = 128 };
  const char *names[MAX_NAMES];
  int n = 0, pass = 0;
  while (pass < tp_pass_count() && strcmp(tp_pass_get(pass).name, pipeline) != 0)
    pass++;
  if (pass == tp_pass_count()) /* of MLIR */
    return TP_OK;
  for (int i = 0; i < tp_pass_get(pass).n_options; i++) {
    const char *known = tp_pass_option(pass, i).name;
    if (strlen(known) == length && strncmp(known, name, length) == 0)
      return TP_OK;
    if (n < MAX_NAMES)
      names[n++] = known;
  }
  const char *near = tp__closest_word(name, length, n, names);
  return refuse(o, tp__arena_printf(&o->arena,
                                    "%s has no option '%.*s'%s%s%s; docs/reference/"
                                    "passes.md lists its options",
                                    pipeline, (int)length, name, near ? " (did you mean '" : "",
                                    near ? near : "", near ? "'?)" : ""));
}

/* NAME{option='value' ...}, or the pipeline as it is. */
static tp_status pipeline_text(owner *o, const tp_text_request *r, tp__string *text) {
  tp__string_append(text, r->pipeline);
  for (int i = 0; i < r->n_options; i++) {
    const char *option = r->options[i], *equals = strchr(option, '=');
    if (equals)
      TP_TRY(check_option(o, r->pipeline, option, (size_t)(equals - option)));
    if (!equals || strpbrk(option, "'\"{}"))
      return refuse(o, tp__arena_printf(&o->arena,
                                        "option %d, \"%s\", is not NAME=VALUE without quotes and "
                                        "braces; give other values in the text of the pipeline",
                                        i, option));
    tp__string_printf(text, "%s%.*s='%s'", i ? " " : "{", (int)(equals - option), option,
                      equals + 1);
  }
  if (r->n_options > 0)
    tp__string_append(text, "}");
  return text->failed ? TP_NO_MEMORY : TP_OK;
}

static void print(owner *o, const tp_text_request *r, MlirModule module) {
  tp__string text = {0};
  MlirOpPrintingFlags flags = mlirOpPrintingFlagsCreate();
  mlirOpPrintingFlagsAssumeVerified(flags); /* it was, after the last pass */
  if (r->wants_locations)
    mlirOpPrintingFlagsEnableDebugInfo(flags, true, false);
  mlirOperationPrintWithFlags(mlirModuleGetOperation(module), flags, tp__append_part, &text);
  mlirOpPrintingFlagsDestroy(flags);
  o->result.program_size = text.length;
  o->result.program = keep(o, &text);
}

static size_t program_size(const tp_text_request *r) {
  return r->program_size ? r->program_size : strlen(r->program);
}

static tp_status run_module(owner *o, const tp_text_request *r, const char *pipeline,
                            MlirModule module) {
  tp_run_hooks hooks = {.wants_report = r->wants_report != 0,
                        .wants_layouts = r->wants_layouts != 0,
                        .progress = r->progress,
                        .cancelled = r->cancelled,
                        .data = r->data};
  int errors_before = tp__error_count();
  tp__run_hooks_set(&hooks);
  tp_status status = tp_run_pipeline(module, pipeline);
  tp__run_hooks_set(NULL);
  if (status != TP_OK && tp__error_count() > errors_before)
    status = tp__error_status();
  if (status != TP_OK && hooks.is_cancelled)
    status = TP_CANCELLED;
  if (hooks.report && status == TP_OK) {
    tp__string text = {0};
    tp__string_append(&text, hooks.report);
    o->result.report_size = text.length;
    o->result.report = keep(o, &text);
  }
  tp__free(hooks.report);
  if (status == TP_OK)
    o->result.layouts = o->layouts = hooks.layouts;
  else
    tp_layouts_destroy(hooks.layouts);
  if (status == TP_OK)
    print(o, r, module);
  return status;
}

static tp_status run(owner *o, const tp_text_request *r, const char *pipeline) {
  size_t n = program_size(r);
  MlirContext context = mlirContextCreateWithThreading(false);
  tp_status status = TP_INVALID_ARGUMENT; /* if the program does not parse */
  (void)mlirContextAttachDiagnosticHandler(context, receive, o, NULL);
  tp_context_prepare(context);
  mlirContextSetAllowUnregisteredDialects(context, true);
  tp__source_text_set(r->program, n);
  MlirModule module = mlirModuleCreateParse(context, mlirStringRefCreate(r->program, n));
  if (!mlirModuleIsNull(module)) {
    status = run_module(o, r, pipeline, module);
    mlirModuleDestroy(module);
  }
  tp__source_text_set(NULL, 0);
  mlirContextDestroy(context);
  return status;
}

tp_status tp_text_run(const tp_text_request *request, tp_text_result **result) {
  tp_text_request r = {0};
  tp__string pipeline = {0};
  tp__alloc_forget_failure();
  if (result)
    *result = NULL;
  if (!request || !result)
    return TP_INVALID_ARGUMENT;
  owner *o = tp__calloc(1, sizeof *o);
  if (!o)
    return TP_NO_MEMORY;
  memcpy(&r, request, request->size < sizeof r ? request->size : sizeof r);
  o->result.program = o->result.report = "";
  tp_status status = TP_OK;
  if (request->size == 0)
    status = refuse(o, "the size of the request is 0; set it to sizeof(tp_text_request)");
  else if (!r.program || !r.pipeline)
    status = refuse(o, r.program ? "the request has no pipeline" : "the request has no program");
  tp_register_passes();
  if (status == TP_OK)
    status = pipeline_text(o, &r, &pipeline);
  if (status == TP_OK)
    status = run(o, &r, tp__string_text(&pipeline));
  tp__string_destroy(&pipeline);
  o->result.diagnostics = o->diagnostics;
  o->result.n_diagnostics = (int32_t)o->n;
  /* the latter: also where a diagnostic lacks its place for that reason */
  if (status == TP_NO_MEMORY || o->failed || tp__alloc_failed()) {
    tp_text_result_destroy(&o->result);
    return TP_NO_MEMORY;
  }
  *result = &o->result;
  return status;
}

void tp_text_result_destroy(tp_text_result *result) {
  owner *o = (owner *)result;
  if (!o)
    return;
  tp__arena_destroy(&o->arena);
  tp_layouts_destroy(o->layouts);
  tp__free(o->diagnostics);
  tp__free(o);
}
