/* The lifetime of a report: it collects value names and copies the module at the start, adds a
 * section for each function, and writes a file at the end. */
#include "passes/propagate/report/plan_report.h"

#include "ir/location.h"
#include "ir/run_hooks.h"
#include "ir/source_names.h"
#include "passes/propagate/report/plan_diff.h"
#include "passes/propagate/report/plan_explorer.h"
#include "passes/propagate/report/plan_page.h"
#include "passes/propagate/report/plan_text.h"

#include "tp/plan.h"

#include <errno.h>
#include <fcntl.h>
#include <jansson.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <sys/random.h>
#include <sys/stat.h>
#include <unistd.h>

tp_status tp__report_no_memory(const tp_report *r) { return tp__out_of_memory(r->pass->module); }

/* ---- names ---- */

typedef struct naming {
  tp_report *report;
  MlirAsmState state;
  tp_source source;
} naming;

static tp_status name_value(naming *n, MlirValue value) {
  tp_report *r = n->report;
  tp__string text = {0};
  char own[128];
  mlirValuePrintAsOperand(value, n->state, tp__append_part, &text);
  tp_value_name name = {.printed = tp__arena_strdup(&r->arena, tp__string_text(&text))};
  tp__string_destroy(&text);
  bool is_known = tp__source_name(&n->source, value, sizeof own, own);
  name.own = is_known ? tp__arena_strdup(&r->arena, own) : name.printed;
  if (!name.printed || !name.own ||
      tp__grow((void **)&r->names, &r->name_capacity, r->n_names + 1, sizeof *r->names) != TP_OK ||
      tp__table_put(&r->name_of, value.ptr, (int)r->n_names) != TP_OK)
    return tp__report_no_memory(r);
  r->names[r->n_names++] = name;
  return TP_OK;
}

static tp_status name_op(MlirOperation op, void *data) {
  tp_status status = TP_OK;
  for (intptr_t i = 0; i < mlirOperationGetNumResults(op) && status == TP_OK; i++)
    status = name_value(data, mlirOperationGetResult(op, i));
  for (intptr_t r = 0; r < mlirOperationGetNumRegions(op); r++)
    for (MlirBlock block = mlirRegionGetFirstBlock(mlirOperationGetRegion(op, r));
         !mlirBlockIsNull(block); block = mlirBlockGetNextInRegion(block))
      for (intptr_t i = 0; i < mlirBlockGetNumArguments(block) && status == TP_OK; i++)
        status = name_value(data, mlirBlockGetArgument(block, i));
  return status;
}

tp_status tp__report_name_values(tp_report *r) {
  MlirOpPrintingFlags flags = mlirOpPrintingFlagsCreate();
  mlirOpPrintingFlagsAssumeVerified(flags); /* verifying again takes longer than naming */
  naming n = {.report = r, .state = mlirAsmStateCreateForOperation(r->pass->module, flags)};
  tp_status status = tp__walk(r->pass->module, name_op, &n);
  mlirAsmStateDestroy(n.state);
  tp__source_close(&n.source);
  mlirOpPrintingFlagsDestroy(flags);
  return status;
}

void tp__report_forget_names(tp_report *r) {
  tp__free(r->names);
  tp__table_destroy(&r->name_of);
}

const char *tp__report_name(const tp_report *r, MlirValue value) {
  int i = mlirValueIsNull(value) ? -1 : tp__table_get(&r->name_of, value.ptr);
  return i < 0 ? "" : r->names[i].own;
}

const char *tp__report_printed_name(const tp_report *r, MlirValue value) {
  int i = mlirValueIsNull(value) ? -1 : tp__table_get(&r->name_of, value.ptr);
  return i < 0 ? "" : r->names[i].printed;
}

const char *tp__report_description(const tp_report *r, MlirValue value) {
  int i = mlirValueIsNull(value) ? -1 : tp__table_get(&r->name_of, value.ptr);
  return i < 0 || !r->names[i].description ? "" : r->names[i].description;
}

const char *tp__report_result(const tp_report *r, int i) {
  return r->function.results ? r->function.results[i] : "";
}

const char *tp__report_arg_name(tp_report *r, const tp_planner *p, MlirValue value) {
  MlirBlock entry = mlirRegionGetFirstBlock(mlirOperationGetRegion(p->problem.graph.func, 0));
  if (mlirValueIsNull(value) || !mlirValueIsABlockArgument(value) ||
      !mlirBlockEqual(mlirBlockArgumentGetOwner(value), entry))
    return "";
  MlirAttribute name =
      tp__arg_attr(p->problem.graph.func, (int)mlirBlockArgumentGetArgNumber(value), "tp.name");
  if (mlirAttributeIsNull(name) || !mlirAttributeIsAString(name))
    return "";
  MlirStringRef text = mlirStringAttrGetValue(name);
  const char *copy = tp__arena_strndup(&r->arena, text.data, text.length);
  return copy ? copy : "";
}

const char *tp__report_label_with(tp_report *r, MlirValue value, const char *more) {
  const char *name = tp__report_name(r, value), *text = tp__report_description(r, value);
  if (*text && (*name != '%' || strcmp(name + 1, text) != 0))
    return tp__report_text(r, "%s (%s%s%s)", text, name, *more ? ", " : "", more);
  if (!*name)
    return "a value made in place";
  return *more ? tp__report_text(r, "%s (%s)", name, more) : name;
}

const char *tp__report_label(tp_report *r, MlirValue value) {
  return tp__report_label_with(r, value, "");
}

/* ---- texts ---- */

const char *tp__report_text(tp_report *r, const char *format, ...) {
  tp__string text = {0};
  va_list args;
  va_start(args, format);
  tp__string_vprintf(&text, format, args);
  va_end(args);
  const char *copy = tp__arena_strdup(&r->arena, tp__string_text(&text));
  tp__string_destroy(&text);
  return copy ? copy : "";
}

const char *tp__report_spec(tp_report *r, tp_spec spec, int rank) {
  char text[512];
  tp_spec_text(r->mesh, spec, rank, text, sizeof text);
  return tp__report_text(r, "%s", text);
}

const char *tp__report_axes(tp_report *r, const tp_mesh *mesh, int n, const int *axes) {
  char text[TP_MAX_AXES * 2 * TP_MAX_AXIS_NAME] = "";
  size_t used = 0;
  for (int i = 0; i < n;) {
    char name[2 * TP_MAX_AXIS_NAME];
    int run = tp__ordered_axes(mesh, n - i, axes + i);
    tp_mesh_axis_text(mesh, axes[i], run, name, sizeof name);
    used += (size_t)snprintf(text + used, sizeof text - used, "%s%s", i ? "," : "", name);
    i += run;
  }
  return tp__report_text(r, "%s", text);
}

const char *tp__report_attr(tp_report *r, MlirAttribute attr) {
  tp__string text = {0};
  mlirAttributePrint(attr, tp__append_part, &text);
  const char *copy = tp__arena_strdup(&r->arena, tp__string_text(&text));
  tp__string_destroy(&text);
  return copy ? copy : "";
}

const char *tp__report_location(tp_report *r, MlirOperation op) {
  return tp__location_shared(&r->arena, mlirOperationGetLocation(op));
}

const char *tp__report_at(tp_report *r, MlirOperation op) {
  return tp__location_short(&r->arena, mlirOperationGetLocation(op));
}

enum { MAX_IN_BODY = 4 };

typedef struct body {
  int n;
  MlirStringRef names[MAX_IN_BODY + 1];
} body;

static tp_status list_name(MlirOperation op, void *data) {
  body *b = data;
  MlirStringRef name = tp__op_name(op);
  for (size_t i = name.length; i > 0; i--)
    if (name.data[i - 1] == '.') {
      name = (MlirStringRef){name.data + i, name.length - i};
      break;
    }
  bool seen = b->n > MAX_IN_BODY || tp__ref_is(name, "yield") || tp__op_is(op, "linalg.generic");
  for (int i = 0; i < b->n && !seen; i++)
    seen = mlirStringRefEqual(name, b->names[i]);
  if (!seen)
    b->names[b->n++] = name;
  return TP_OK;
}

const char *tp__report_body(tp_report *r, MlirOperation op) {
  body b = {0};
  if (!tp__op_is(op, "linalg.generic"))
    return "";
  (void)tp__walk(op, list_name, &b); /* list_name never fails */
  tp__string text = {0};
  for (int i = 0; i < b.n && i < MAX_IN_BODY; i++)
    tp__string_printf(&text, "%s%.*s", i ? ", " : "", (int)b.names[i].length, b.names[i].data);
  if (b.n > MAX_IN_BODY)
    tp__string_append(&text, ", ...");
  const char *copy = tp__arena_strdup(&r->arena, b.n ? tp__string_text(&text) : "copy");
  tp__string_destroy(&text);
  return copy ? copy : "";
}

const char *tp__report_op(tp_report *r, MlirOperation op) {
  MlirStringRef name = tp__op_name(op);
  const char *does = tp__report_body(r, op), *at = tp__report_at(r, op);
  return tp__report_text(r, "%.*s%s%s%s%s%s", (int)name.length, name.data, *does ? " (" : "", does,
                         *does ? ")" : "", *at ? " at " : "", at);
}

/* ---- lifetime ---- */

/* True if the file is written under a temporary name and then renamed. A device, a pipe or a link
 * is written directly, also in a folder in which the user may not create files. */
static bool is_replaced(const char *path) {
  struct stat state;
  return lstat(path, &state) != 0 || S_ISREG(state.st_mode);
}

/* Fails before the plan is made, not after it. */
static tp_status check_writable(tp_report *r) {
  const char *slash = strrchr(r->file, '/');
  /* "folder/." or "." */
  const char *folder = tp__report_text(r, "%.*s.", slash ? (int)(slash - r->file) + 1 : 0, r->file);
  struct stat info;
  bool exists = stat(r->file, &info) == 0, is_folder = exists && S_ISDIR(info.st_mode);
  if (is_folder)
    errno = EISDIR;
  if (!is_folder && access(exists && !is_replaced(r->file) ? r->file : folder, W_OK) == 0)
    return TP_OK;
  return tp__error(r->pass->module, TP_INVALID_ARGUMENT,
                   "the report cannot be written to '%s': %s%s", r->file, strerror(errno),
                   errno == ENOENT ? "; make its folder first" : "");
}

/* The format that the end of a file's name chooses; the first that fits. */
typedef struct format {
  const char *suffix;
  char *(*print)(const json_t *document);
  bool shows_graph;
} format;

static const format formats[] = {{".model-explorer.json", tp__report_explorer, true},
                                 {".node-data.json", tp__report_node_data, true},
                                 {".json", tp__report_json, false},
                                 {".html", tp__report_page, true},
                                 {".md", tp__report_print, false},
                                 {".txt", tp__report_print, false}};

static bool ends_in(const char *text, const char *end) {
  size_t n = strlen(text), m = strlen(end);
  return n >= m && strcmp(text + n - m, end) == 0;
}

static const char *suffix_of(const char *file) {
  const char *slash = strrchr(file, '/');
  return strrchr(slash ? slash : file, '.');
}

/* A name without a suffix, such as that of a device or of a pipe, is JSON. NULL: a suffix that is
 * not known. */
static const format *format_of(const char *file) {
  const char *name = suffix_of(file) ? file : ".json";
  for (int i = 0; i < TP_LEN(formats); i++)
    if (ends_in(name, formats[i].suffix))
      return &formats[i];
  return NULL;
}

static tp_status check_format(const tp_report *r) {
  const tp_propagate_options *given = r->pass->options;
  const format *chosen = format_of(r->file);
  if (chosen && chosen->shows_graph && !given->has_graph)
    return tp__error(
        r->pass->module, TP_INVALID_ARGUMENT,
        "the report '%s' shows the graph that report-graph=false leaves out; leave out "
        "report-graph, or name the report .json, .md or .txt",
        r->file);
  if (chosen)
    return TP_OK;
  return tp__error(r->pass->module, TP_INVALID_ARGUMENT,
                   "the report '%s' ends in '%s', which is no format of reports; name it .html for "
                   "a page, .json, .md or .txt for text, or .model-explorer.json or "
                   ".node-data.json for Model Explorer",
                   r->file, suffix_of(r->file));
}

/* Reads the older plan, before this one is made. */
static tp_status read_older(tp_report *r, const char *file) {
  const tp_propagate_options *given = r->pass->options;
  json_error_t error;
  if (!given->has_graph)
    return tp__error(r->pass->module, TP_INVALID_ARGUMENT,
                     "report-against compares the graphs of two plans, which report-graph=false "
                     "leaves out; give one of them");
  struct stat info;
  bool exists = stat(file, &info) == 0;
  const char *what = exists && S_ISDIR(info.st_mode)                        ? "is a folder"
                     : exists && S_ISREG(info.st_mode) && info.st_size == 0 ? "is empty"
                                                                            : NULL;
  if (what)
    return tp__error(r->pass->module, TP_INVALID_ARGUMENT,
                     "report-against: '%s' %s; give a report, which report=FILE.json writes", file,
                     what);
  r->before_document = json_load_file(file, 0, &error);
  if (!r->before_document)
    return tp__error(r->pass->module, TP_INVALID_ARGUMENT,
                     "report-against: '%s' cannot be read: %s", file, error.text);
  const char *schema = json_string_value(json_object_get(r->before_document, "schema"));
  if (schema && strcmp(schema, TP_REPORT_SCHEMA) == 0)
    return TP_OK;
  return tp__error(r->pass->module, TP_INVALID_ARGUMENT,
                   "report-against: '%s' is no report of a plan: its schema is '%s', not '%s'; "
                   "write one with report=FILE.json",
                   file, schema ? schema : "", TP_REPORT_SCHEMA);
}

tp_status tp__report_open(tp_pass *pass, tp_report **report) {
  const tp_propagate_options *given = pass->options;
  const char *file = given->report, *explain = given->explain;
  const tp_run_hooks *hooks = tp__run_hooks();
  bool is_full = *file || (hooks && hooks->wants_report) || *given->against || given->n_frontier;
  if (!is_full && !*explain)
    return TP_OK;
  tp_report *r = tp__calloc(1, sizeof *r);
  if (!r)
    return tp__out_of_memory(pass->module);
  *r = (tp_report){.pass = pass,
                   .file = file,
                   .is_full = is_full,
                   .explain = explain,
                   .n_alternatives = (int)given->n_alternatives};
  *report = r;
  if (*file) {
    TP_TRY(check_writable(r));
    TP_TRY(check_format(r));
  }
  if (*given->against)
    TP_TRY(read_older(r, given->against));
  return tp__report_name_values(r);
}

bool tp__report_makes_plans(const tp_report *r) {
  return r && (*r->explain || (r->is_full && r->n_alternatives > 0));
}

static tp_status list_op(MlirOperation op, void *list) { return tp__op_list_add(list, op); }

/* The copy has the same ops in the same order, so an op and its copy have the same index. */
static tp_status copy_module(tp_report *r) {
  tp_op_list list = {0};
  r->before = mlirModuleFromOperation(mlirOperationClone(r->pass->module));
  tp_status status = tp__walk(r->pass->module, list_op, &list);
  for (size_t i = 0; i < list.n && status == TP_OK; i++)
    if (tp__table_put(&r->op_place, list.items[i].ptr, (int)i) != TP_OK)
      status = tp__report_no_memory(r);
  tp__free(list.items);
  return status == TP_OK ? tp__walk(mlirModuleGetOperation(r->before), list_op, &r->ops) : status;
}

tp_status tp__report_start(tp_report *r, const tp_mesh *mesh, const tp_topology *topology) {
  r->mesh = mesh;
  r->topology = topology;
  r->document = tp__report_document(r);
  if (!r->document)
    return tp__report_no_memory(r);
  return r->is_full ? copy_module(r) : TP_OK;
}

tp_status tp__report_begin(const tp_planner *p) {
  tp_report *r = p->report;
  r->function = (tp_function_report){0};
  TP_TRY(tp__report_describe(r, p));
  TP_TRY(tp__report_pins(r, p));
  return tp__report_group_pins(r, p);
}

void tp__report_forget(tp_report *r) {
  for (size_t i = 0; i < r->function.n_changes; i++)
    tp__free(r->function.changes[i].collectives);
  tp__free(r->function.changes);
  tp__free(r->function.pins);
  tp__free(r->function.decisions);
  r->function = (tp_function_report){0};
}

/* Tells what differs from the older plan, and leaves it in the document. */
static bool compare(const tp_report *r, const tp_planner *p, json_t *function) {
  if (!r->before_document)
    return json_object_set_new(function, "against", json_null()) == 0;
  json_t *difference = tp__report_difference(r->before_document, function);
  if (!difference || json_object_set_new(function, "against", difference) != 0)
    return false;
  const tp_propagate_options *given = r->pass->options;
  tp__string text = {0};
  tp__print_difference(&text, function);
  if (json_is_null(difference))
    tp__remark(p->problem.graph.func, "'%s' has no function of this name", given->against);
  else
    tp__remark(p->problem.graph.func, "against '%s' %s", given->against, tp__string_text(&text));
  tp__string_destroy(&text);
  return true;
}

static tp_status add_function(tp_report *r, const tp_planner *p, const tp_memory_peak *peak) {
  TP_TRY(tp__report_alternatives(r, p));
  json_t *function = tp__report_function(r, p, peak);
  bool added = function && compare(r, p, function) &&
               json_array_append_new(json_object_get(r->document, "functions"), function) == 0;
  return added ? TP_OK : tp__report_no_memory(r);
}

tp_status tp__report_end(const tp_planner *p, const tp_memory_peak *peak) {
  tp_report *r = p->report;
  tp_status status = tp__report_measure(r, p);
  if (status == TP_OK)
    status = tp__report_causes(r, p);
  if (status == TP_OK && *r->explain)
    status = tp__report_explain(r, p);
  if (status == TP_OK && r->is_full)
    status = add_function(r, p, peak);
  tp__report_forget(r);
  return status;
}

/* Returns a new file beside `path`, which no other process writes; NULL with errno set on
 * failure. */
static FILE *create_beside(const char *path, size_t size, char *temporary) {
  uint32_t number;
  if (getentropy(&number, sizeof number) != 0)
    return NULL;
  if (snprintf(temporary, size, "%s.%08x.partial", path, (unsigned)number) >= (int)size) {
    errno = ENAMETOOLONG;
    return NULL;
  }
  int created = open(temporary, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0666);
  return created < 0 ? NULL : fdopen(created, "w");
}

/* Writes the whole file or nothing of it. */
static bool write_file(const char *path, const char *text) {
  bool by_renaming = is_replaced(path);
  char temporary[4096];
  FILE *file = by_renaming ? create_beside(path, sizeof temporary, temporary) : fopen(path, "w");
  if (!file)
    return false;
  bool ok = fputs(text, file) != EOF && fflush(file) == 0;
  int error = errno; /* of the first failure */
  ok = fclose(file) == 0 && ok;
  if (ok && by_renaming && rename(temporary, path) != 0) {
    ok = false;
    error = errno;
  }
  if (by_renaming && !ok)
    unlink(temporary);
  errno = error;
  return ok;
}

/* Hands the report to the caller of tp_text_run. */
static tp_status hand_over(const tp_report *r) {
  tp_run_hooks *hooks = tp__run_hooks();
  if (!hooks || !hooks->wants_report)
    return TP_OK;
  tp__free(hooks->report);
  hooks->report = tp__report_json(r->document);
  return hooks->report ? TP_OK : tp__report_no_memory(r);
}

tp_status tp__report_write(tp_report *r) {
  if (*r->explain)
    TP_TRY(tp__report_explained(r));
  TP_TRY(hand_over(r));
  if (!*r->file)
    return TP_OK;
  char *text = format_of(r->file)->print(r->document);
  if (!text)
    return tp__report_no_memory(r);
  bool ok = write_file(r->file, text);
  tp__free(text);
  return ok ? TP_OK
            : tp__error(r->pass->module, TP_INVALID_ARGUMENT,
                        "the report cannot be written to '%s': %s", r->file, strerror(errno));
}

void tp__report_close(tp_report *r) {
  if (!r)
    return;
  tp__report_forget(r);
  json_decref(r->document);
  json_decref(r->before_document);
  if (!mlirModuleIsNull(r->before))
    mlirModuleDestroy(r->before);
  tp__free(r->ops.items);
  tp__report_forget_names(r);
  tp__free(r->known);
  tp__table_destroy(&r->op_place);
  tp__arena_destroy(&r->arena);
  tp__free(r);
}

tp_status tp__report_layouts(MlirOperation module) {
  tp_run_hooks *hooks = tp__run_hooks();
  if (!hooks || !hooks->wants_layouts)
    return TP_OK;
  tp_layouts_destroy(hooks->layouts);
  hooks->layouts = NULL;
  return tp_layouts_read(mlirModuleFromOperation(module), &hooks->layouts);
}
