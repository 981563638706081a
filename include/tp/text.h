/* Programs as text: runs a pipeline on the text of a program, and gives the new text, the report of
 * the plan and the diagnostics as data. No type of MLIR occurs, so that bindings of other languages
 * need only this header.
 *
 *     const char *options[] = {"mesh=dp=2,tp=4", "topology=h100"};
 *     tp_text_request request = {.size = sizeof request, .program = text, .pipeline = "tp-plan",
 *                                .options = options, .n_options = 2, .wants_report = 1};
 *     tp_text_result *result;
 *     tp_status status = tp_text_run(&request, &result);
 *     ...
 *     tp_text_result_destroy(result);
 *
 * Ownership: the result owns everything it points to. The request is only read during the call.
 *
 * Thread rule: any number of threads may call tp_text_run at once; each call has an MLIR context of
 * its own. A result is read-only. */
#ifndef TP_TEXT_H
#define TP_TEXT_H

#include "tp/layout.h"

#include <stddef.h>
#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

typedef enum tp_severity { TP_ERROR, TP_WARNING, TP_REMARK, TP_NOTE } tp_severity;

/* One diagnostic. Texts are never NULL; "" and 0 mean that it is unknown. */
typedef struct tp_diagnostic {
  tp_severity severity;
  const char *op;      /* the op that the message is about: "stablehlo.fft" */
  const char *message; /* without the name of the op */
  /* The innermost place in a file: of a call site that of the callee, if it has one. */
  const char *file;
  int32_t line, column;
  const char *location; /* the whole location, as MLIR prints it */
  int32_t n_notes;
  const struct tp_diagnostic *notes;
} tp_diagnostic;

typedef struct tp_text_request {
  size_t size;         /* sizeof(tp_text_request), set by the caller; zeroed fields mean defaults */
  const char *program; /* MLIR text or bytecode; ops of unknown dialects may be in generic form */
  size_t program_size; /* in bytes; 0: the program is text that ends with a zero */
  /* A pipeline as for tp_run_pipeline, or with options the name of one pass or pipeline. */
  const char *pipeline;
  const char *const *options; /* "name=value"; a value has no quotes and no braces */
  int32_t n_options;
  int32_t wants_report;    /* 1: the report of the plan, docs/reference/plan-report.md */
  int32_t wants_locations; /* 1: the new text has the locations of its ops */
  /* Called on the calling thread before each pass of this library, with its name. If it returns
   * another value than 0, the run ends with TP_CANCELLED. May be NULL. */
  int (*progress)(void *data, const char *pass);
  void *data;
  /* Called on the calling thread before each pass of this library, and about 20 times per second
   * while tp-propagate plans. If it returns another value than 0, the run ends with TP_CANCELLED.
   * As long as it returns 0, plans do not depend on it. May be NULL. */
  int (*cancelled)(void *data);
  int32_t wants_layouts; /* 1: the layouts that tp-propagate chose, tp/layout.h */
} tp_text_request;

typedef struct tp_text_result {
  const char *program; /* the new text; "" after a failure */
  size_t program_size;
  const char *report; /* JSON; "" if it was not asked for, or no plan was made */
  size_t report_size;
  int32_t n_diagnostics;
  const tp_diagnostic *diagnostics; /* in the order in which they were emitted */
  const tp_layouts
      *layouts; /* NULL if they were not asked for, no plan was made, or after a failure */
} tp_text_result;

/* Parses the program, runs the pipeline and prints the program. On failure the diagnostics say why,
 * and the status is that of the last error: TP_UNSUPPORTED for an op that is refused,
 * TP_INFEASIBLE if no plan satisfies the pins and limits, TP_INVALID_ARGUMENT if the program or the
 * pipeline does not parse. *result is set whatever the status, except for TP_NO_MEMORY: then it is
 * NULL, and for a request that is NULL. */
TP_API tp_status tp_text_run(const tp_text_request *request, tp_text_result **result);
/* NULL is allowed. */
TP_API void tp_text_result_destroy(tp_text_result *result);

#ifdef __cplusplus
}
#endif
#endif
