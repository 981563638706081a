/* What the caller of tp_text_run wants of the passes of this library. The hooks belong to the
 * thread that runs the pipeline. */
#ifndef TP_IR_RUN_HOOKS_H
#define TP_IR_RUN_HOOKS_H

#include "tp/layout.h"

#include <mlir-c/IR.h>
#include <stdbool.h>

#ifdef __cplusplus
extern "C" {
#endif

typedef struct tp_run_hooks {
  bool wants_report;
  char *report;                                  /* the last one, owned (tp__free); NULL: none */
  int (*progress)(void *data, const char *pass); /* may be NULL */
  int (*cancelled)(void *data);                  /* may be NULL */
  void *data;
  bool wants_layouts;
  tp_layouts *layouts; /* the last ones, owned; NULL: none */
  bool is_cancelled;
  int64_t next; /* when `cancelled` is asked again */
} tp_run_hooks;

/* Returns the hooks of this thread; NULL outside of tp_text_run. */
tp_run_hooks *tp__run_hooks(void);
/* Sets the hooks of this thread; NULL: none. */
void tp__run_hooks_set(tp_run_hooks *hooks);
/* Reports that the pass begins, and asks whether the run is cancelled. */
bool tp__run_hooks_cancel(const char *pass);
/* True if the caller may cancel the run while a pass runs. */
bool tp__run_may_be_cancelled(void);
/* True if the caller has cancelled the run. Asks the caller about 20 times per second, so it may be
 * called often. Only on the thread of the run; on others never true. */
bool tp__run_is_cancelled(void);
/* The same as a status, with the error at `op`. */
tp_status tp__heed_cancel(MlirOperation op);

/* The monotonic clock. */
int64_t tp__run_now_ns(void);

#ifdef __cplusplus
}
#endif
#endif
